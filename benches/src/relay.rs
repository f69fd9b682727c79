//! Gossipsub's RPC and the filter's push in the hands of the rivals.

use std::borrow::Cow;

use bytes::Bytes;
use quick_protobuf::{BytesReader, MessageRead, Writer};

use crate::waku::{ProstBytes, ProstVec, QuickProtobuf};

pub const PUBSUB_TOPIC: &str = "/waku/2/rs/0/0";

macro_rules! prost_relay {
    ($rpc:ident, $published:ident, $push:ident, $message:ident, $bytes:ty, $kind:tt) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $rpc {
            #[prost(message, repeated, tag = "1")]
            pub subscriptions: Vec<ProstSubOpts>,
            #[prost(message, repeated, tag = "2")]
            pub publish: Vec<$published>,
            #[prost(bytes = $kind, optional, tag = "3")]
            pub control: Option<$bytes>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $published {
            #[prost(bytes = $kind, optional, tag = "1")]
            pub from: Option<$bytes>,
            #[prost(bytes = $kind, optional, tag = "2")]
            pub data: Option<$bytes>,
            #[prost(bytes = $kind, optional, tag = "3")]
            pub seqno: Option<$bytes>,
            #[prost(string, tag = "4")]
            pub topic: String,
            #[prost(bytes = $kind, optional, tag = "5")]
            pub signature: Option<$bytes>,
            #[prost(bytes = $kind, optional, tag = "6")]
            pub key: Option<$bytes>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $push {
            #[prost(message, optional, tag = "1")]
            pub waku_message: Option<$message>,
            #[prost(string, tag = "2")]
            pub pubsub_topic: String,
        }
    };
}

prost_relay!(ProstVecRpc, ProstVecPublished, ProstVecPush, ProstVec, Vec<u8>, "vec");
prost_relay!(ProstBytesRpc, ProstBytesPublished, ProstBytesPush, ProstBytes, Bytes, "bytes");

#[derive(Clone, PartialEq, prost::Message)]
pub struct ProstSubOpts {
    #[prost(bool, optional, tag = "1")]
    pub subscribe: Option<bool>,
    #[prost(string, optional, tag = "2")]
    pub topicid: Option<String>,
}

/// quick-protobuf, as its generator writes the RPC.
#[derive(Default)]
pub struct QuickRpc<'a> {
    pub publish: Vec<QuickPublished<'a>>,
    pub control: Option<Cow<'a, [u8]>>,
}

#[derive(Default)]
pub struct QuickPublished<'a> {
    pub from: Option<Cow<'a, [u8]>>,
    pub data: Option<Cow<'a, [u8]>>,
    pub seqno: Option<Cow<'a, [u8]>>,
    pub topic: Cow<'a, str>,
    pub signature: Option<Cow<'a, [u8]>>,
    pub key: Option<Cow<'a, [u8]>>,
}

impl<'a> QuickRpc<'a> {
    pub fn decode(frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        Self::from_reader(&mut BytesReader::from_bytes(frame), frame)
    }
}

impl<'a> MessageRead<'a> for QuickRpc<'a> {
    fn from_reader(reader: &mut BytesReader, frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        let mut rpc = Self::default();
        while !reader.is_eof() {
            match reader.next_tag(frame)? {
                18 => rpc.publish.push(reader.read_message(frame)?),
                26 => rpc.control = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                tag => reader.read_unknown(frame, tag)?,
            }
        }
        Ok(rpc)
    }
}

impl<'a> MessageRead<'a> for QuickPublished<'a> {
    fn from_reader(reader: &mut BytesReader, frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        let mut published = Self::default();
        while !reader.is_eof() {
            match reader.next_tag(frame)? {
                10 => published.from = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                18 => published.data = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                26 => published.seqno = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                34 => published.topic = Cow::Borrowed(reader.read_string(frame)?),
                42 => published.signature = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                50 => published.key = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                tag => reader.read_unknown(frame, tag)?,
            }
        }
        Ok(published)
    }
}

/// A push read by quick-protobuf.
#[derive(Default)]
pub struct QuickPush<'a> {
    pub waku_message: Option<QuickProtobuf<'a>>,
    pub pubsub_topic: Cow<'a, str>,
}

impl<'a> QuickPush<'a> {
    pub fn decode(frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        let mut reader = BytesReader::from_bytes(frame);
        let mut push = Self::default();
        while !reader.is_eof() {
            match reader.next_tag(frame)? {
                10 => push.waku_message = Some(QuickProtobuf::decode(reader.read_bytes(frame)?)?),
                18 => push.pubsub_topic = Cow::Borrowed(reader.read_string(frame)?),
                tag => reader.read_unknown(frame, tag)?,
            }
        }
        Ok(push)
    }
}

/// A push written by quick-protobuf around the bytes of a message.
pub fn quick_push(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 64);
    let mut writer = Writer::new(&mut out);
    writer.write_with_tag(10, |writer| writer.write_bytes(message)).unwrap();
    writer.write_with_tag(18, |writer| writer.write_string(PUBSUB_TOPIC)).unwrap();
    out
}

pub use crate::waku::buffa_code::waku::__buffa::view::{
    MessagePushOwnedView as BuffaOwnedPush, MessagePushView as BuffaPush,
    RpcOwnedView as BuffaOwnedRpc, RpcView as BuffaRpc,
};
