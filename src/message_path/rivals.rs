//! A WakuMessage as prost generates it: what Rust programs would otherwise use.

use bytes::Bytes;

/// prost's default: every field owned, the payload copied.
#[derive(Clone, PartialEq, prost::Message)]
pub struct VecMessage {
    /// Field 1.
    #[prost(bytes = "vec", tag = "1")]
    pub payload: Vec<u8>,
    /// Field 2.
    #[prost(string, tag = "2")]
    pub content_topic: String,
    /// Field 3.
    #[prost(uint32, optional, tag = "3")]
    pub version: Option<u32>,
    /// Field 10.
    #[prost(sint64, optional, tag = "10")]
    pub timestamp: Option<i64>,
    /// Field 11.
    #[prost(bytes = "vec", optional, tag = "11")]
    pub meta: Option<Vec<u8>>,
    /// Field 21.
    #[prost(bytes = "vec", optional, tag = "21")]
    pub rate_limit_proof: Option<Vec<u8>>,
    /// Field 31.
    #[prost(bool, optional, tag = "31")]
    pub ephemeral: Option<bool>,
}

/// prost's option for shared bytes: the payload is a slice of the frame, the topic is copied.
#[derive(Clone, PartialEq, prost::Message)]
pub struct BytesMessage {
    /// Field 1.
    #[prost(bytes = "bytes", tag = "1")]
    pub payload: Bytes,
    /// Field 2.
    #[prost(string, tag = "2")]
    pub content_topic: String,
    /// Field 3.
    #[prost(uint32, optional, tag = "3")]
    pub version: Option<u32>,
    /// Field 10.
    #[prost(sint64, optional, tag = "10")]
    pub timestamp: Option<i64>,
    /// Field 11.
    #[prost(bytes = "bytes", optional, tag = "11")]
    pub meta: Option<Bytes>,
    /// Field 21.
    #[prost(bytes = "bytes", optional, tag = "21")]
    pub rate_limit_proof: Option<Bytes>,
    /// Field 31.
    #[prost(bool, optional, tag = "31")]
    pub ephemeral: Option<bool>,
}
