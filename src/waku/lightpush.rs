//! Lightpush (19/WAKU2-LIGHTPUSH): a light node hands a message to a relay node. Versions 3 and 2
//! are different protocols with different messages.
//!
//! ```text
//! LightPushRequest (version 3)   number  type         absent reads as
//! request_id                          1  string       refused, or empty
//! pubsub_topic                       20  string       absent (autosharding)
//! message                            21  WakuMessage  refused
//!
//! LightPushResponse (version 3)
//! request_id                          1  string       refused, or empty
//! status_code                        10  uint32       refused, or 0
//! status_desc                        11  string       absent
//! relay_peer_count                   12  uint32       absent
//!
//! PushRPC (version 2)
//! request_id                          1  string       refused, or empty
//! request                             2  PushRequest  absent
//! response                            3  PushResponse absent
//!
//! PushRequest (version 2)
//! pubsub_topic                        1  string       refused, or empty
//! message                             2  WakuMessage  refused
//!
//! PushResponse (version 2)
//! is_success                          1  bool         refused, or false
//! info                                2  string       absent
//! ```
//!
//! An encoder of proto3 leaves out an `is_success` that is false, and nwaku refuses that response;
//! so does [`Rules::STRICT`]. Read responses of other nodes under [`Rules::PROTO3`].
//!
//! Source: 19/WAKU2-LIGHTPUSH, and for what may be absent logos-delivery
//! `waku_lightpush/rpc_codec.nim` and `waku_lightpush_legacy/rpc_codec.nim`.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::splice::Splice;
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::message::MessageView;
use crate::waku::put::{Encode, Put, builder, splice};

/// The numbers of the fields.
pub mod field {
    /// `string request_id`, of requests and responses of version 3 and of PushRPC.
    pub const REQUEST_ID: u32 = 1;
    /// `string pubsub_topic`, of a request of version 3.
    pub const PUBSUB_TOPIC: u32 = 20;
    /// `WakuMessage message`, of a request of version 3.
    pub const MESSAGE: u32 = 21;
    /// `uint32 status_code`, of a response of version 3.
    pub const STATUS_CODE: u32 = 10;
    /// `string status_desc`, of a response of version 3.
    pub const STATUS_DESC: u32 = 11;
    /// `uint32 relay_peer_count`, of a response of version 3.
    pub const RELAY_PEER_COUNT: u32 = 12;
    /// `PushRequest request`, of PushRPC.
    pub const V2_REQUEST: u32 = 2;
    /// `PushResponse response`, of PushRPC.
    pub const V2_RESPONSE: u32 = 3;
    /// `string pubsub_topic`, of a request of version 2.
    pub const V2_PUBSUB_TOPIC: u32 = 1;
    /// `WakuMessage message`, of a request of version 2.
    pub const V2_MESSAGE: u32 = 2;
    /// `bool is_success`, of a response of version 2.
    pub const V2_IS_SUCCESS: u32 = 1;
    /// `string info`, of a response of version 2.
    pub const V2_INFO: u32 = 2;
}

/// The outcome of a push in version 3. A number that no specification names is a value too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusCode(pub u32);

impl StatusCode {
    /// The message was relayed.
    pub const SUCCESS: Self = Self(200);
    /// The request could not be read.
    pub const BAD_REQUEST: Self = Self(400);
    /// The message is too large.
    pub const PAYLOAD_TOO_LARGE: Self = Self(413);
    /// The message failed validation.
    pub const INVALID_MESSAGE: Self = Self(420);
    /// The node does not serve the pubsub topic.
    pub const UNSUPPORTED_PUBSUB_TOPIC: Self = Self(421);
    /// Too many requests.
    pub const TOO_MANY_REQUESTS: Self = Self(429);
    /// The node failed.
    pub const INTERNAL_SERVER_ERROR: Self = Self(500);
    /// The node does not relay.
    pub const SERVICE_NOT_AVAILABLE: Self = Self(503);
    /// The node could not make a proof of the rate limit.
    pub const OUT_OF_RLN_PROOF: Self = Self(504);
    /// The node has no peers to relay to. Source: logos-delivery; the specification says 503.
    pub const NO_PEERS_TO_RELAY: Self = Self(505);

    /// The name of the constant.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::SUCCESS => "SUCCESS",
            Self::BAD_REQUEST => "BAD_REQUEST",
            Self::PAYLOAD_TOO_LARGE => "PAYLOAD_TOO_LARGE",
            Self::INVALID_MESSAGE => "INVALID_MESSAGE",
            Self::UNSUPPORTED_PUBSUB_TOPIC => "UNSUPPORTED_PUBSUB_TOPIC",
            Self::TOO_MANY_REQUESTS => "TOO_MANY_REQUESTS",
            Self::INTERNAL_SERVER_ERROR => "INTERNAL_SERVER_ERROR",
            Self::SERVICE_NOT_AVAILABLE => "SERVICE_NOT_AVAILABLE",
            Self::OUT_OF_RLN_PROOF => "OUT_OF_RLN_PROOF",
            Self::NO_PEERS_TO_RELAY => "NO_PEERS_TO_RELAY",
            _ => return None,
        })
    }
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} {name}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

view! {
    /// A LightPushRequest of version 3 read where it lies.
    ///
    /// ```
    /// use borrowire::waku::lightpush::RequestView;
    ///
    /// // A message without content topic: the request stays readable and can be answered.
    /// let request = RequestView::parse(&b"\x0a\x01r\xa2\x01\x01t\xaa\x01\x03\x0a\x01\x01"[..])?;
    /// assert_eq!((request.request_id(), request.pubsub_topic()), (Some("r"), Some("t")));
    /// let error = request.message().unwrap_err();
    /// assert_eq!(error.to_string(), "waku.content_topic: missing, at byte 13");
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    RequestView, REQUEST, 3
}

impl<B: Buffer> RequestView<B> {
    /// The id that the response will carry. `None` only where the rules let through what is not
    /// UTF-8, as [`Rules::NWAKU`] does.
    pub fn request_id(&self) -> Option<&str> {
        self.record.text(REQUEST_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn request_id_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_ID)
    }

    /// The pubsub topic. `None` if absent, which leaves it to autosharding, or not UTF-8.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.optional_text(REQUEST_PUBSUB_TOPIC)
    }

    /// The pubsub topic's bytes, UTF-8 or not; `None` if absent.
    pub fn pubsub_topic_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(REQUEST_PUBSUB_TOPIC)
    }

    /// The message, as a view that shares this frame's buffer. Errs if it is absent, or by the rules
    /// that the request was read by.
    pub fn message(&self) -> Result<MessageView<B>, Error> {
        self.record.message(&REQUEST, REQUEST_MESSAGE, MessageView::parse_with)
    }

    /// The bytes of the message, good or bad.
    pub fn message_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_MESSAGE)
    }
}

impl<B: Buffer> fmt::Display for RequestView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        write!(f, "lightpush request {id} of {} bytes", self.message_bytes().len())
    }
}

/// Writes a LightPushRequest of version 3 around the bytes of a message.
///
/// ```
/// use borrowire::waku::lightpush::RequestBuilder;
///
/// let request = RequestBuilder::new("r", b"\x0a\x01\x01\x12\x01a").pubsub_topic("t");
/// assert_eq!(
///     request.to_vec(),
///     b"\x0a\x01r\xa2\x01\x01t\xaa\x01\x06\x0a\x01\x01\x12\x01a",
/// );
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RequestBuilder<'a> {
    request_id: &'a str,
    pubsub_topic: Option<&'a str>,
    message: &'a [u8],
}

impl<'a> RequestBuilder<'a> {
    /// A request to push `message`, the bytes of an encoded WakuMessage (its view's `raw()`), on the
    /// pubsub topic that autosharding gives.
    pub const fn new(request_id: &'a str, message: &'a [u8]) -> Self {
        Self { request_id, pubsub_topic: None, message }
    }

    /// Sets the pubsub topic.
    pub const fn pubsub_topic(mut self, pubsub_topic: &'a str) -> Self {
        self.pubsub_topic = Some(pubsub_topic);
        self
    }
}

impl Encode for RequestBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        if let Some(topic) = self.pubsub_topic {
            out.bytes(field::PUBSUB_TOPIC, topic.as_bytes());
        }
        out.body(field::MESSAGE, self.message);
    }
}

builder!(RequestBuilder, RequestView);

/// A LightPushRequest of version 3 around a message, none of which is copied.
pub fn request(request_id: &str, pubsub_topic: Option<&str>, message: &MessageView) -> Splice {
    let mut builder = RequestBuilder::new(request_id, message.raw());
    builder.pubsub_topic = pubsub_topic;
    splice(&builder, message.buffer().clone())
}

view! {
    /// A LightPushResponse of version 3 read where it lies.
    ResponseView, RESPONSE, 4
}

impl<B: Buffer> ResponseView<B> {
    /// The id of the request, or `N/A` where nwaku could not read that. `None` only where the rules
    /// let through what is not UTF-8.
    pub fn request_id(&self) -> Option<&str> {
        self.record.text(REQUEST_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn request_id_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_ID)
    }

    /// The outcome.
    pub fn status_code(&self) -> StatusCode {
        StatusCode(self.record.uint(STATUS_CODE) as u32)
    }

    /// The outcome in words. `None` if absent, or not UTF-8.
    pub fn status_desc(&self) -> Option<&str> {
        self.record.optional_text(STATUS_DESC)
    }

    /// The outcome in words, UTF-8 or not; `None` if absent.
    pub fn status_desc_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(STATUS_DESC)
    }

    /// How many peers the message was relayed to; `None` if absent.
    pub fn relay_peer_count(&self) -> Option<u32> {
        self.record.optional_uint(RELAY_PEER_COUNT).map(|count| count as u32)
    }
}

impl<B: Buffer> fmt::Display for ResponseView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        write!(f, "lightpush response {id}: {}", self.status_code())
    }
}

/// Writes a LightPushResponse of version 3: made as a success, which says how many peers got the
/// message, or as a failure, which says why none did.
///
/// ```
/// use borrowire::waku::lightpush::{ResponseBuilder, StatusCode};
///
/// let success = ResponseBuilder::success("r", 3);
/// assert_eq!(success.to_vec(), b"\x0a\x01r\x50\xc8\x01\x60\x03");
/// let failure = ResponseBuilder::failure("r", StatusCode::BAD_REQUEST, "bad");
/// assert_eq!(failure.to_vec(), b"\x0a\x01r\x50\x90\x03\x5a\x03bad");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ResponseBuilder<'a> {
    request_id: &'a str,
    outcome: Outcome<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Outcome<'a> {
    Failure { status_code: StatusCode, status_desc: &'a str },
    Success { relay_peer_count: u32 },
}

impl<'a> ResponseBuilder<'a> {
    /// The message went to this many peers.
    pub const fn success(request_id: &'a str, relay_peer_count: u32) -> Self {
        Self { request_id, outcome: Outcome::Success { relay_peer_count } }
    }

    /// The message was not relayed.
    pub const fn failure(
        request_id: &'a str,
        status_code: StatusCode,
        status_desc: &'a str,
    ) -> Self {
        Self { request_id, outcome: Outcome::Failure { status_code, status_desc } }
    }
}

impl Encode for ResponseBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        match self.outcome {
            Outcome::Failure { status_code, status_desc } => {
                out.uint(field::STATUS_CODE, status_code.0.into());
                out.bytes(field::STATUS_DESC, status_desc.as_bytes());
            }
            Outcome::Success { relay_peer_count } => {
                out.uint(field::STATUS_CODE, StatusCode::SUCCESS.0.into());
                out.uint(field::RELAY_PEER_COUNT, relay_peer_count.into());
            }
        }
    }
}

builder!(ResponseBuilder, ResponseView);

view! {
    /// A PushRPC, the one frame of version 2, read where it lies.
    ///
    /// ```
    /// use borrowire::waku::lightpush::RpcView;
    ///
    /// let rpc = RpcView::parse(&b"\x0a\x01r\x1a\x06\x08\x01\x12\x02OK"[..])?;
    /// assert!(rpc.request().is_none());
    /// let response = rpc.response().unwrap()?;
    /// assert_eq!((response.is_success(), response.info()), (true, Some("OK")));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    RpcView, RPC, 3
}

impl<B: Buffer> RpcView<B> {
    /// The id of request and response. `None` only where the rules let through what is not UTF-8.
    pub fn request_id(&self) -> Option<&str> {
        self.record.text(REQUEST_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn request_id_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_ID)
    }

    /// The request, if this is one.
    pub fn request(&self) -> Option<Result<PushRequestView<B>, Error>> {
        self.record.optional_message(RPC_REQUEST, PushRequestView::parse_with)
    }

    /// The response, if this is one.
    pub fn response(&self) -> Option<Result<PushResponseView<B>, Error>> {
        self.record.optional_message(RPC_RESPONSE, PushResponseView::parse_with)
    }
}

impl<B: Buffer> fmt::Display for RpcView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        let has = |number, name| if self.has(number) { name } else { "" };
        let request = has(field::V2_REQUEST, ", request");
        let response = has(field::V2_RESPONSE, ", response");
        write!(f, "lightpush (version 2) {id}{request}{response}")
    }
}

/// Writes a PushRPC: a request or a response, not both.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RpcBuilder<'a> {
    request_id: &'a str,
    content: RpcContent<'a>,
}

#[derive(Clone, Copy, Debug)]
enum RpcContent<'a> {
    Request(PushRequest<'a>),
    Response(PushResponse<'a>),
}

impl<'a> RpcBuilder<'a> {
    /// A request to push `message`, the bytes of an encoded WakuMessage.
    pub const fn request(request_id: &'a str, pubsub_topic: &'a str, message: &'a [u8]) -> Self {
        let request = PushRequest { pubsub_topic, message };
        Self { request_id, content: RpcContent::Request(request) }
    }

    /// A response. `is_success` is written, false too.
    pub const fn response(request_id: &'a str, is_success: bool, info: Option<&'a str>) -> Self {
        let response = PushResponse { is_success, info };
        Self { request_id, content: RpcContent::Response(response) }
    }
}

impl Encode for RpcBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        match &self.content {
            RpcContent::Request(request) => out.message(field::V2_REQUEST, request),
            RpcContent::Response(response) => out.message(field::V2_RESPONSE, response),
        }
    }
}

builder!(RpcBuilder, RpcView);

/// A PushRPC of version 2 with a request around a message, none of which is copied.
pub fn request_v2(request_id: &str, pubsub_topic: &str, message: &MessageView) -> Splice {
    let builder = RpcBuilder::request(request_id, pubsub_topic, message.raw());
    splice(&builder, message.buffer().clone())
}

view! {
    /// The PushRequest in a PushRPC of version 2.
    PushRequestView, V2_REQUEST, 2
}

impl<B: Buffer> PushRequestView<B> {
    /// The pubsub topic. `None` only where the rules let through what is not UTF-8.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.text(V2_PUBSUB_TOPIC)
    }

    /// The pubsub topic's bytes, UTF-8 or not.
    pub fn pubsub_topic_bytes(&self) -> &[u8] {
        self.record.bytes(V2_PUBSUB_TOPIC)
    }

    /// The message, as a view that shares this frame's buffer. Errs if it is absent, or by the rules
    /// that the request was read by.
    pub fn message(&self) -> Result<MessageView<B>, Error> {
        self.record.message(&V2_REQUEST, V2_MESSAGE, MessageView::parse_with)
    }

    /// The bytes of the message, good or bad.
    pub fn message_bytes(&self) -> &[u8] {
        self.record.bytes(V2_MESSAGE)
    }
}

impl<B: Buffer> fmt::Display for PushRequestView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topic = self.pubsub_topic_bytes().escape_ascii();
        write!(f, "request on {topic} of {} bytes", self.message_bytes().len())
    }
}

view! {
    /// The PushResponse in a PushRPC of version 2.
    PushResponseView, V2_RESPONSE, 2
}

impl<B: Buffer> PushResponseView<B> {
    /// Whether the message was relayed.
    pub fn is_success(&self) -> bool {
        self.record.uint(V2_IS_SUCCESS) != 0
    }

    /// More about it. `None` if absent, or not UTF-8.
    pub fn info(&self) -> Option<&str> {
        self.record.optional_text(V2_INFO)
    }

    /// More about it, UTF-8 or not; `None` if absent.
    pub fn info_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(V2_INFO)
    }
}

impl<B: Buffer> fmt::Display for PushResponseView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_success() { "success" } else { "failure" })
    }
}

#[derive(Clone, Copy, Debug)]
struct PushRequest<'a> {
    pubsub_topic: &'a str,
    message: &'a [u8],
}

impl Encode for PushRequest<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::V2_PUBSUB_TOPIC, self.pubsub_topic.as_bytes());
        out.body(field::V2_MESSAGE, self.message);
    }
}

#[derive(Clone, Copy, Debug)]
struct PushResponse<'a> {
    is_success: bool,
    info: Option<&'a str>,
}

impl Encode for PushResponse<'_> {
    fn put(&self, out: &mut impl Put) {
        out.uint(field::V2_IS_SUCCESS, self.is_success.into());
        if let Some(info) = self.info {
            out.bytes(field::V2_INFO, info.as_bytes());
        }
    }
}

static REQUEST: Kind<3> = Kind {
    name: "LightPushRequest",
    context: "lightpush",
    fields: [
        Field::new(field::REQUEST_ID, "lightpush.request_id", Shape::Text).required(),
        Field::new(field::PUBSUB_TOPIC, "lightpush.pubsub_topic", Shape::Text).optional(),
        Field::new(field::MESSAGE, "lightpush.message", Shape::Message(same!(MessageView)))
            .required(),
    ],
};

static RESPONSE: Kind<4> = Kind {
    name: "LightPushResponse",
    context: "lightpush_response",
    fields: [
        Field::new(field::REQUEST_ID, "lightpush_response.request_id", Shape::Text).required(),
        Field::new(field::STATUS_CODE, "lightpush_response.status_code", Shape::Uint32).required(),
        Field::new(field::STATUS_DESC, "lightpush_response.status_desc", Shape::Text).optional(),
        Field::new(field::RELAY_PEER_COUNT, "lightpush_response.relay_peer_count", Shape::Uint32)
            .optional(),
    ],
};

static RPC: Kind<3> = Kind {
    name: "PushRpc",
    context: "lightpush_v2",
    fields: [
        Field::new(field::REQUEST_ID, "lightpush_v2.request_id", Shape::Text).required(),
        Field::new(
            field::V2_REQUEST,
            "lightpush_v2.request",
            Shape::Message(same!(PushRequestView)),
        ),
        Field::new(
            field::V2_RESPONSE,
            "lightpush_v2.response",
            Shape::Message(same!(PushResponseView)),
        ),
    ],
};

static V2_REQUEST: Kind<2> = Kind {
    name: "PushRequest",
    context: "lightpush_v2.request",
    fields: [
        Field::new(field::V2_PUBSUB_TOPIC, "lightpush_v2.pubsub_topic", Shape::Text).required(),
        Field::new(field::V2_MESSAGE, "lightpush_v2.message", Shape::Message(same!(MessageView)))
            .required(),
    ],
};

static V2_RESPONSE: Kind<2> = Kind {
    name: "PushResponse",
    context: "lightpush_v2.response",
    fields: [
        Field::new(field::V2_IS_SUCCESS, "lightpush_v2.is_success", Shape::Bool).required(),
        Field::new(field::V2_INFO, "lightpush_v2.info", Shape::Text).optional(),
    ],
};

// The places of the fields in their tables.
const REQUEST_ID: usize = 0;
const REQUEST_PUBSUB_TOPIC: usize = 1;
const REQUEST_MESSAGE: usize = 2;
const STATUS_CODE: usize = 1;
const STATUS_DESC: usize = 2;
const RELAY_PEER_COUNT: usize = 3;
const RPC_REQUEST: usize = 1;
const RPC_RESPONSE: usize = 2;
const V2_PUBSUB_TOPIC: usize = 0;
const V2_MESSAGE: usize = 1;
const V2_IS_SUCCESS: usize = 0;
const V2_INFO: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn requests_are_the_golden_frames() {
        let message = MessageView::parse(Bytes::from_static(MESSAGE)).unwrap();
        let golden = [&b"\x0a\x01r\xa2\x01\x01t\xaa\x01\x12"[..], MESSAGE].concat();
        let view = RequestBuilder::new("r", MESSAGE).pubsub_topic("t").build().unwrap();
        assert_eq!(view.raw(), golden);
        assert_eq!(view.message().unwrap(), message);
        assert_eq!(request("r", Some("t"), &message).to_vec(), golden);
        let without = request("r", None, &message).to_vec();
        assert_eq!(RequestView::parse(&without[..]).unwrap().pubsub_topic(), None);

        let golden = [&b"\x0a\x01r\x12\x17\x0a\x01t\x12\x12"[..], MESSAGE].concat();
        let view = RpcBuilder::request("r", "t", MESSAGE).build().unwrap();
        assert_eq!(view.raw(), golden);
        let inner = view.request().unwrap().unwrap();
        assert_eq!((inner.pubsub_topic(), inner.message()), (Some("t"), Ok(message.clone())));
        assert!(view.response().is_none());
        assert_eq!(request_v2("r", "t", &message).to_vec(), golden);
    }

    #[test]
    fn responses_are_the_golden_frames() {
        let view = ResponseBuilder::success("r", 3).build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x01r\x50\xc8\x01\x60\x03");
        assert_eq!(view.status_code(), StatusCode::SUCCESS);
        assert_eq!((view.status_desc(), view.relay_peer_count()), (None, Some(3)));

        let view = RpcBuilder::response("r", true, Some("OK")).build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x01r\x1a\x06\x08\x01\x12\x02OK");
        let inner = view.response().unwrap().unwrap();
        assert_eq!((inner.is_success(), inner.info()), (true, Some("OK")));
    }

    #[test]
    fn a_failure_that_is_left_out_is_refused_or_false() {
        let frame = &b"\x0a\x01r\x1a\x04\x12\x02no"[..];
        let view = RpcView::parse(frame).unwrap();
        let error = view.response().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "lightpush_v2.is_success: missing, at byte 9");
        let view = RpcView::parse_with(frame, &Rules::PROTO3).unwrap();
        assert!(!view.response().unwrap().unwrap().is_success());
    }

    #[test]
    fn what_a_request_must_have() {
        for (frame, name) in [
            (&b"\xaa\x01\x06\x0a\x01\x01\x12\x01a"[..], "lightpush.request_id"),
            (&b"\x0a\x01r"[..], "lightpush.message"),
        ] {
            let error = RequestView::parse(frame).unwrap_err();
            assert_eq!((error.kind(), error.context()), (ErrorKind::Missing, name));
        }
    }

    const MESSAGE: &[u8] = b"\x0a\x01\x01\x12\x01a\x18\x00\x50\x02\x5a\x00\xaa\x01\x00\xf8\x01\x00";
}
