//! Store (13/WAKU2-STORE, version 3): a light node asks for messages that were sent before.
//!
//! ```text
//! StoreQueryRequest     number  type                 absent reads as
//! request_id                 1  string               refused, or empty
//! include_data               2  bool                 false
//! pubsub_topic              10  string               absent
//! content_topics            11  string               repeated
//! time_start                12  sint64               absent (nanoseconds since the Unix epoch)
//! time_end                  13  sint64               absent
//! message_hashes            20  bytes (32)           repeated
//! pagination_cursor         51  bytes (32)           absent
//! pagination_forward        52  bool                 absent (nwaku: backward)
//! pagination_limit          53  uint64               absent (nwaku: 20, and 100 at most)
//!
//! StoreQueryResponse
//! request_id                 1  string               refused, or empty
//! status_code               10  uint32               refused, or 0
//! status_desc               11  string               refused, or empty
//! messages                  20  WakuMessageKeyValue  repeated
//! pagination_cursor         51  bytes (32)           absent
//!
//! WakuMessageKeyValue
//! message_hash               1  bytes (32)           refused, or absent
//! message                    2  WakuMessage          absent
//! pubsub_topic               3  string               absent
//! ```
//!
//! A hash and a cursor have 32 bytes under all rules. nwaku fills a short one with zeros and cuts a
//! long one, in silence, which asks for another message than the one that was meant.
//!
//! 13/WAKU2-STORE lets a key value have both message and topic or neither, and says what cannot be
//! asked for at once. Readers here keep whatever is there and readable; only the builders hold to
//! it, by their types.
//!
//! Source: 13/WAKU2-STORE, and for what may be absent logos-delivery `waku_store/rpc_codec.nim`.

mod request;
mod response;

pub use request::{ContentFilter, QueryRequestBuilder, QueryRequestView};
pub use response::{KeyValue, KeyValueView, QueryResponseBuilder, QueryResponseView, key_value};

/// The numbers of the fields.
pub mod field {
    /// `string request_id`, of requests and responses.
    pub const REQUEST_ID: u32 = 1;
    /// `bool include_data`, of a request.
    pub const INCLUDE_DATA: u32 = 2;
    /// `string pubsub_topic`, of a request.
    pub const PUBSUB_TOPIC: u32 = 10;
    /// `repeated string content_topics`, of a request.
    pub const CONTENT_TOPICS: u32 = 11;
    /// `sint64 time_start`, of a request.
    pub const TIME_START: u32 = 12;
    /// `sint64 time_end`, of a request.
    pub const TIME_END: u32 = 13;
    /// `repeated bytes message_hashes`, of a request.
    pub const MESSAGE_HASHES: u32 = 20;
    /// `bytes pagination_cursor`, of requests and responses.
    pub const PAGINATION_CURSOR: u32 = 51;
    /// `bool pagination_forward`, of a request.
    pub const PAGINATION_FORWARD: u32 = 52;
    /// `uint64 pagination_limit`, of a request.
    pub const PAGINATION_LIMIT: u32 = 53;
    /// `uint32 status_code`, of a response.
    pub const STATUS_CODE: u32 = 10;
    /// `string status_desc`, of a response.
    pub const STATUS_DESC: u32 = 11;
    /// `repeated WakuMessageKeyValue messages`, of a response.
    pub const MESSAGES: u32 = 20;
    /// `bytes message_hash`, of a key value.
    pub const MESSAGE_HASH: u32 = 1;
    /// `WakuMessage message`, of a key value.
    pub const MESSAGE: u32 = 2;
    /// `string pubsub_topic`, of a key value.
    pub const MESSAGE_PUBSUB_TOPIC: u32 = 3;
}

/// Bytes of a message hash and of a cursor.
const HASH_LEN: u32 = 32;
