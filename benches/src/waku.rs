//! WakuMessage in the hands of the rivals.

use std::borrow::Cow;

use borrowire::waku::MessageBuilder;
use bytes::Bytes;

/// The workload message `i` of the message path, with a payload of `len` bytes.
pub fn frame(i: u64, len: usize) -> Bytes {
    let mut payload: Vec<u8> = (0..len as u64).map(|j| (177 * j + i) as u8).collect();
    for (byte, index) in payload.iter_mut().zip(i.to_le_bytes()) {
        *byte = index;
    }
    MessageBuilder::new(CONTENT_TOPIC, &payload)
        .version(2)
        .timestamp(1_780_000_000_000_000_000 + i as i64)
        .to_vec()
        .into()
}

pub const CONTENT_TOPIC: &str = "/waku/2/default-content/proto";

/// prost as it generates code by default.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProstVec {
    #[prost(bytes = "vec", tag = "1")]
    pub payload: Vec<u8>,
    #[prost(string, tag = "2")]
    pub content_topic: String,
    #[prost(uint32, optional, tag = "3")]
    pub version: Option<u32>,
    #[prost(sint64, optional, tag = "10")]
    pub timestamp: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "11")]
    pub meta: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "21")]
    pub rate_limit_proof: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "31")]
    pub ephemeral: Option<bool>,
}

/// prost with its option for shared bytes: it slices the payload and allocates the topic.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProstBytes {
    #[prost(bytes = "bytes", tag = "1")]
    pub payload: Bytes,
    #[prost(string, tag = "2")]
    pub content_topic: String,
    #[prost(uint32, optional, tag = "3")]
    pub version: Option<u32>,
    #[prost(sint64, optional, tag = "10")]
    pub timestamp: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "11")]
    pub meta: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "21")]
    pub rate_limit_proof: Option<Bytes>,
    #[prost(bool, optional, tag = "31")]
    pub ephemeral: Option<bool>,
}

/// quick-protobuf, as its generator writes a message.
#[derive(Default)]
pub struct QuickProtobuf<'a> {
    pub payload: Cow<'a, [u8]>,
    pub content_topic: Cow<'a, str>,
    pub version: Option<u32>,
    pub timestamp: Option<i64>,
    pub meta: Option<Cow<'a, [u8]>>,
    pub rate_limit_proof: Option<Cow<'a, [u8]>>,
    pub ephemeral: Option<bool>,
}

impl<'a> QuickProtobuf<'a> {
    pub fn decode(frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        let mut reader = quick_protobuf::BytesReader::from_bytes(frame);
        let mut message = Self::default();
        while !reader.is_eof() {
            match reader.next_tag(frame)? {
                10 => message.payload = Cow::Borrowed(reader.read_bytes(frame)?),
                18 => message.content_topic = Cow::Borrowed(reader.read_string(frame)?),
                24 => message.version = Some(reader.read_uint32(frame)?),
                80 => message.timestamp = Some(reader.read_sint64(frame)?),
                90 => message.meta = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                170 => message.rate_limit_proof = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                248 => message.ephemeral = Some(reader.read_bool(frame)?),
                tag => reader.read_unknown(frame, tag)?,
            }
        }
        Ok(message)
    }
}

pub use buffa_code::waku::__buffa::view::{
    WakuMessageOwnedView as BuffaOwnedView, WakuMessageView as BuffaView,
};

#[allow(clippy::all, dead_code, unused)]
pub(crate) mod buffa_code {
    include!(concat!(env!("OUT_DIR"), "/buffa_waku.rs"));
}
