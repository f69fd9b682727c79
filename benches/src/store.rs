//! A store response in the hands of the rivals.

use std::borrow::Cow;

use bytes::Bytes;
use quick_protobuf::{BytesReader, MessageRead};

use crate::waku::{ProstBytes, ProstVec, QuickProtobuf};

macro_rules! prost_store {
    ($response:ident, $key_value:ident, $message:ident, $bytes:ty, $kind:tt) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $response {
            #[prost(string, tag = "1")]
            pub request_id: String,
            #[prost(uint32, optional, tag = "10")]
            pub status_code: Option<u32>,
            #[prost(string, optional, tag = "11")]
            pub status_desc: Option<String>,
            #[prost(message, repeated, tag = "20")]
            pub messages: Vec<$key_value>,
            #[prost(bytes = $kind, optional, tag = "51")]
            pub pagination_cursor: Option<$bytes>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $key_value {
            #[prost(bytes = $kind, optional, tag = "1")]
            pub message_hash: Option<$bytes>,
            #[prost(message, optional, tag = "2")]
            pub message: Option<$message>,
            #[prost(string, optional, tag = "3")]
            pub pubsub_topic: Option<String>,
        }
    };
}

prost_store!(ProstVecResponse, ProstVecKeyValue, ProstVec, Vec<u8>, "vec");
prost_store!(ProstBytesResponse, ProstBytesKeyValue, ProstBytes, Bytes, "bytes");

/// quick-protobuf, as its generator writes the response.
#[derive(Default)]
pub struct QuickResponse<'a> {
    pub request_id: Cow<'a, str>,
    pub status_code: Option<u32>,
    pub status_desc: Option<Cow<'a, str>>,
    pub messages: Vec<QuickKeyValue<'a>>,
    pub pagination_cursor: Option<Cow<'a, [u8]>>,
}

#[derive(Default)]
pub struct QuickKeyValue<'a> {
    pub message_hash: Option<Cow<'a, [u8]>>,
    pub message: Option<QuickProtobuf<'a>>,
    pub pubsub_topic: Option<Cow<'a, str>>,
}

impl<'a> QuickResponse<'a> {
    pub fn decode(frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        let mut reader = BytesReader::from_bytes(frame);
        let mut response = Self::default();
        while !reader.is_eof() {
            match reader.next_tag(frame)? {
                10 => response.request_id = Cow::Borrowed(reader.read_string(frame)?),
                80 => response.status_code = Some(reader.read_uint32(frame)?),
                90 => response.status_desc = Some(Cow::Borrowed(reader.read_string(frame)?)),
                162 => response.messages.push(reader.read_message(frame)?),
                410 => response.pagination_cursor = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                tag => reader.read_unknown(frame, tag)?,
            }
        }
        Ok(response)
    }
}

impl<'a> MessageRead<'a> for QuickKeyValue<'a> {
    fn from_reader(reader: &mut BytesReader, frame: &'a [u8]) -> quick_protobuf::Result<Self> {
        let mut key_value = Self::default();
        while !reader.is_eof() {
            match reader.next_tag(frame)? {
                10 => key_value.message_hash = Some(Cow::Borrowed(reader.read_bytes(frame)?)),
                18 => {
                    let message = QuickProtobuf::decode(reader.read_bytes(frame)?)?;
                    key_value.message = Some(message);
                }
                26 => key_value.pubsub_topic = Some(Cow::Borrowed(reader.read_string(frame)?)),
                tag => reader.read_unknown(frame, tag)?,
            }
        }
        Ok(key_value)
    }
}

pub use crate::waku::buffa_code::waku::__buffa::view::{
    StoreQueryResponseOwnedView as BuffaOwnedResponse, StoreQueryResponseView as BuffaResponse,
};
pub use crate::waku::buffa_code::waku::StoreQueryResponseLazyView as BuffaLazyResponse;
