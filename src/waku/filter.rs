//! Filter (12/WAKU2-FILTER, version 2): a light node subscribes to content topics and is pushed
//! messages.
//!
//! ```text
//! FilterSubscribeRequest         number  type    absent reads as
//! request_id                          1  string  refused, or empty
//! filter_subscribe_type               2  enum    PING
//! pubsub_topic                       10  string  absent
//! content_topics                     11  string  repeated
//!
//! FilterSubscribeResponse
//! request_id                          1  string  refused, or empty
//! status_code                        10  uint32  refused, or 0
//! status_desc                        11  string  absent
//!
//! MessagePush
//! waku_message                        1  WakuMessage  refused
//! pubsub_topic                        2  string       refused, or empty
//! ```
//!
//! Source: 12/WAKU2-FILTER, and for what may be absent logos-delivery `waku_filter_v2/rpc_codec.nim`.

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
    /// `string request_id`, of requests and responses.
    pub const REQUEST_ID: u32 = 1;
    /// `FilterSubscribeType filter_subscribe_type`, of a request.
    pub const FILTER_SUBSCRIBE_TYPE: u32 = 2;
    /// `string pubsub_topic`, of a request.
    pub const PUBSUB_TOPIC: u32 = 10;
    /// `repeated string content_topics`, of a request.
    pub const CONTENT_TOPICS: u32 = 11;
    /// `uint32 status_code`, of a response.
    pub const STATUS_CODE: u32 = 10;
    /// `string status_desc`, of a response.
    pub const STATUS_DESC: u32 = 11;
    /// `WakuMessage waku_message`, of a push.
    pub const PUSH_WAKU_MESSAGE: u32 = 1;
    /// `string pubsub_topic`, of a push.
    pub const PUSH_PUBSUB_TOPIC: u32 = 2;
}

/// What a subscribe request asks for. A number that no specification names is a value too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterSubscribeType(pub u32);

impl FilterSubscribeType {
    /// Whether there is a subscription at all.
    pub const SUBSCRIBER_PING: Self = Self(0);
    /// Add content topics.
    pub const SUBSCRIBE: Self = Self(1);
    /// Remove content topics.
    pub const UNSUBSCRIBE: Self = Self(2);
    /// Remove all content topics.
    pub const UNSUBSCRIBE_ALL: Self = Self(3);

    /// The name that the specification gives it.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::SUBSCRIBER_PING => "SUBSCRIBER_PING",
            Self::SUBSCRIBE => "SUBSCRIBE",
            Self::UNSUBSCRIBE => "UNSUBSCRIBE",
            Self::UNSUBSCRIBE_ALL => "UNSUBSCRIBE_ALL",
            _ => return None,
        })
    }
}

impl fmt::Display for FilterSubscribeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "type {}", self.0),
        }
    }
}

view! {
    /// A FilterSubscribeRequest read where it lies.
    ///
    /// ```
    /// use borrowire::waku::filter::{FilterSubscribeType, SubscribeRequestView};
    ///
    /// let frame = &b"\x0a\x01r\x10\x01\x52\x01t\x5a\x01a\x5a\x01b"[..];
    /// let request = SubscribeRequestView::parse(frame)?;
    /// assert_eq!(request.filter_subscribe_type(), FilterSubscribeType::SUBSCRIBE);
    /// assert!(request.content_topics().eq([Some("a"), Some("b")]));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    SubscribeRequestView, REQUEST, 4
}

impl<B: Buffer> SubscribeRequestView<B> {
    /// The id that the response will carry. `None` only where the rules let through what is not
    /// UTF-8, as [`Rules::NWAKU`] does.
    pub fn request_id(&self) -> Option<&str> {
        self.record.text(REQUEST_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn request_id_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_ID)
    }

    /// What is asked for; a ping if absent.
    pub fn filter_subscribe_type(&self) -> FilterSubscribeType {
        FilterSubscribeType(self.record.uint(REQUEST_TYPE) as u32)
    }

    /// The pubsub topic. `None` if absent, which leaves it to autosharding, or not UTF-8.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.optional_text(REQUEST_PUBSUB_TOPIC)
    }

    /// The pubsub topic's bytes, UTF-8 or not; `None` if absent.
    pub fn pubsub_topic_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(REQUEST_PUBSUB_TOPIC)
    }

    /// The content topics; `None` for one that is not UTF-8. Nodes take 100 at most.
    pub fn content_topics(&self) -> impl ExactSizeIterator<Item = Option<&str>> + Clone {
        self.record.repeated_text(&REQUEST, REQUEST_CONTENT_TOPICS)
    }

    /// The content topics' bytes, UTF-8 or not.
    pub fn content_topics_bytes(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.record.repeated_bytes(&REQUEST, REQUEST_CONTENT_TOPICS)
    }
}

impl<B: Buffer> fmt::Display for SubscribeRequestView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        let topics = self.content_topics_bytes().len();
        write!(
            f,
            "filter request {id}: {} of {topics} content topics",
            self.filter_subscribe_type()
        )
    }
}

/// Writes a FilterSubscribeRequest. Each kind of request is made with what belongs to it: there is
/// no ping with topics. The type is always written, zero too, as nwaku does.
///
/// ```
/// use borrowire::waku::filter::SubscribeRequestBuilder;
///
/// let request = SubscribeRequestBuilder::subscribe("r", Some("t"), &["a", "b"]);
/// assert_eq!(request.to_vec(), b"\x0a\x01r\x10\x01\x52\x01t\x5a\x01a\x5a\x01b");
/// assert_eq!(SubscribeRequestBuilder::ping("r").to_vec(), b"\x0a\x01r\x10\x00");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SubscribeRequestBuilder<'a> {
    request_id: &'a str,
    filter_subscribe_type: FilterSubscribeType,
    pubsub_topic: Option<&'a str>,
    content_topics: &'a [&'a str],
}

impl<'a> SubscribeRequestBuilder<'a> {
    /// Asks whether there is a subscription.
    pub const fn ping(request_id: &'a str) -> Self {
        Self::with(request_id, FilterSubscribeType::SUBSCRIBER_PING, None, &[])
    }

    /// Adds content topics on a pubsub topic, or on those that autosharding gives.
    pub const fn subscribe(
        request_id: &'a str,
        pubsub_topic: Option<&'a str>,
        content_topics: &'a [&'a str],
    ) -> Self {
        Self::with(request_id, FilterSubscribeType::SUBSCRIBE, pubsub_topic, content_topics)
    }

    /// Removes content topics.
    pub const fn unsubscribe(
        request_id: &'a str,
        pubsub_topic: Option<&'a str>,
        content_topics: &'a [&'a str],
    ) -> Self {
        Self::with(request_id, FilterSubscribeType::UNSUBSCRIBE, pubsub_topic, content_topics)
    }

    /// Removes all content topics.
    pub const fn unsubscribe_all(request_id: &'a str) -> Self {
        Self::with(request_id, FilterSubscribeType::UNSUBSCRIBE_ALL, None, &[])
    }

    const fn with(
        request_id: &'a str,
        filter_subscribe_type: FilterSubscribeType,
        pubsub_topic: Option<&'a str>,
        content_topics: &'a [&'a str],
    ) -> Self {
        Self { request_id, filter_subscribe_type, pubsub_topic, content_topics }
    }
}

impl Encode for SubscribeRequestBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        out.uint(field::FILTER_SUBSCRIBE_TYPE, self.filter_subscribe_type.0.into());
        if let Some(topic) = self.pubsub_topic {
            out.bytes(field::PUBSUB_TOPIC, topic.as_bytes());
        }
        for topic in self.content_topics {
            out.bytes(field::CONTENT_TOPICS, topic.as_bytes());
        }
    }
}

builder!(SubscribeRequestBuilder, SubscribeRequestView);

view! {
    /// A FilterSubscribeResponse read where it lies.
    SubscribeResponseView, RESPONSE, 3
}

impl<B: Buffer> SubscribeResponseView<B> {
    /// The id of the request. `None` only where the rules let through what is not UTF-8.
    pub fn request_id(&self) -> Option<&str> {
        self.record.text(REQUEST_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn request_id_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_ID)
    }

    /// The status, as in HTTP: 200 is good.
    pub fn status_code(&self) -> u32 {
        self.record.uint(STATUS_CODE) as u32
    }

    /// The status in words. `None` if absent, or not UTF-8.
    pub fn status_desc(&self) -> Option<&str> {
        self.record.optional_text(STATUS_DESC)
    }

    /// The status in words, UTF-8 or not; `None` if absent.
    pub fn status_desc_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(STATUS_DESC)
    }
}

impl<B: Buffer> fmt::Display for SubscribeResponseView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        write!(f, "filter response {id}: {}", self.status_code())
    }
}

/// Writes a FilterSubscribeResponse.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SubscribeResponseBuilder<'a> {
    request_id: &'a str,
    status_code: u32,
    status_desc: Option<&'a str>,
}

impl<'a> SubscribeResponseBuilder<'a> {
    /// A response to the request with this id.
    pub const fn new(request_id: &'a str, status_code: u32) -> Self {
        Self { request_id, status_code, status_desc: None }
    }

    /// Adds the status in words.
    pub const fn status_desc(mut self, status_desc: &'a str) -> Self {
        self.status_desc = Some(status_desc);
        self
    }
}

impl Encode for SubscribeResponseBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        out.uint(field::STATUS_CODE, self.status_code.into());
        if let Some(desc) = self.status_desc {
            out.bytes(field::STATUS_DESC, desc.as_bytes());
        }
    }
}

builder!(SubscribeResponseBuilder, SubscribeResponseView);

view! {
    /// A MessagePush read where it lies.
    ///
    /// ```
    /// use borrowire::waku::filter::PushView;
    ///
    /// let push = PushView::parse(&b"\x0a\x06\x0a\x01\x01\x12\x01a\x12\x01t"[..])?;
    /// assert_eq!(push.pubsub_topic(), Some("t"));
    /// assert_eq!(push.waku_message()?.payload(), [1]);
    ///
    /// // What is around a bad message stays readable, and the error says where in the push it is.
    /// let push = PushView::parse(&b"\x0a\x03\x0a\x01\x01\x12\x01t"[..])?;
    /// assert_eq!(push.pubsub_topic(), Some("t"));
    /// let error = push.waku_message().unwrap_err();
    /// assert_eq!(error.to_string(), "waku.content_topic: missing, at byte 5");
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    PushView, PUSH, 2
}

impl<B: Buffer> PushView<B> {
    /// The message, as a view that shares this frame's buffer. Errs if it is absent, or by the rules
    /// that the push was read by.
    pub fn waku_message(&self) -> Result<MessageView<B>, Error> {
        self.record.message(&PUSH, PUSH_WAKU_MESSAGE, MessageView::parse_with)
    }

    /// The bytes of the message, good or bad.
    pub fn waku_message_bytes(&self) -> &[u8] {
        self.record.bytes(PUSH_WAKU_MESSAGE)
    }

    /// The pubsub topic. `None` only where the rules let through what is not UTF-8.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.text(PUSH_PUBSUB_TOPIC)
    }

    /// The pubsub topic's bytes, UTF-8 or not.
    pub fn pubsub_topic_bytes(&self) -> &[u8] {
        self.record.bytes(PUSH_PUBSUB_TOPIC)
    }
}

impl<B: Buffer> fmt::Display for PushView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topic = self.pubsub_topic_bytes().escape_ascii();
        write!(f, "push on {topic} of {} bytes", self.waku_message_bytes().len())
    }
}

/// Writes a MessagePush around the bytes of a message.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PushBuilder<'a> {
    waku_message: &'a [u8],
    pubsub_topic: &'a str,
}

impl<'a> PushBuilder<'a> {
    /// A push of `waku_message`, the bytes of an encoded WakuMessage (its view's `raw()`).
    pub const fn new(pubsub_topic: &'a str, waku_message: &'a [u8]) -> Self {
        Self { waku_message, pubsub_topic }
    }
}

impl Encode for PushBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.body(field::PUSH_WAKU_MESSAGE, self.waku_message);
        out.bytes(field::PUSH_PUBSUB_TOPIC, self.pubsub_topic.as_bytes());
    }
}

builder!(PushBuilder, PushView);

/// A MessagePush around a received message: encoded once, for any number of peers. Nothing of the
/// message is copied.
///
/// ```
/// use borrowire::waku::MessageView;
/// use borrowire::waku::filter::push;
/// use bytes::Bytes;
///
/// let message = MessageView::parse(Bytes::from_static(b"\x0a\x01\x01\x12\x01a"))?;
/// let frame = push("t", &message);
/// assert_eq!(frame.to_vec(), b"\x0a\x06\x0a\x01\x01\x12\x01a\x12\x01t");
/// assert_eq!(frame.body().as_ptr(), message.raw().as_ptr());
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn push(pubsub_topic: &str, message: &MessageView) -> Splice {
    splice(&PushBuilder::new(pubsub_topic, message.raw()), message.buffer().clone())
}

static REQUEST: Kind<4> = Kind {
    name: "FilterSubscribeRequest",
    context: "filter_subscribe",
    fields: [
        Field::new(field::REQUEST_ID, "filter_subscribe.request_id", Shape::Text).required(),
        Field::new(
            field::FILTER_SUBSCRIBE_TYPE,
            "filter_subscribe.filter_subscribe_type",
            Shape::Uint32,
        ),
        Field::new(field::PUBSUB_TOPIC, "filter_subscribe.pubsub_topic", Shape::Text).optional(),
        Field::new(field::CONTENT_TOPICS, "filter_subscribe.content_topics", Shape::Text)
            .repeated(),
    ],
};

static RESPONSE: Kind<3> = Kind {
    name: "FilterSubscribeResponse",
    context: "filter_response",
    fields: [
        Field::new(field::REQUEST_ID, "filter_response.request_id", Shape::Text).required(),
        Field::new(field::STATUS_CODE, "filter_response.status_code", Shape::Uint32).required(),
        Field::new(field::STATUS_DESC, "filter_response.status_desc", Shape::Text).optional(),
    ],
};

static PUSH: Kind<2> = Kind {
    name: "MessagePush",
    context: "filter_push",
    fields: [
        Field::new(
            field::PUSH_WAKU_MESSAGE,
            "filter_push.waku_message",
            Shape::Message(same!(MessageView)),
        )
        .required(),
        Field::new(field::PUSH_PUBSUB_TOPIC, "filter_push.pubsub_topic", Shape::Text).required(),
    ],
};

// The places of the fields in their tables.
const REQUEST_ID: usize = 0;
const REQUEST_TYPE: usize = 1;
const REQUEST_PUBSUB_TOPIC: usize = 2;
const REQUEST_CONTENT_TOPICS: usize = 3;
const STATUS_CODE: usize = 1;
const STATUS_DESC: usize = 2;
const PUSH_WAKU_MESSAGE: usize = 0;
const PUSH_PUBSUB_TOPIC: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn requests_are_the_golden_frames() {
        let subscribe = SubscribeRequestBuilder::subscribe("r", Some("t"), &["a", "b"]);
        let view = subscribe.build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x01r\x10\x01\x52\x01t\x5a\x01a\x5a\x01b");
        assert_eq!(subscribe.encoded_len(), view.raw().len());
        assert_eq!(view.request_id(), Some("r"));
        assert_eq!(view.filter_subscribe_type(), FilterSubscribeType::SUBSCRIBE);
        assert_eq!(view.pubsub_topic(), Some("t"));
        assert!(view.content_topics().eq([Some("a"), Some("b")]));
        let ping = SubscribeRequestBuilder::ping("r").build().unwrap();
        assert_eq!(ping.raw(), b"\x0a\x01r\x10\x00");
        assert_eq!((ping.pubsub_topic(), ping.content_topics().len()), (None, 0));
    }

    #[test]
    fn an_unknown_type_is_a_value() {
        let view = SubscribeRequestView::parse(&b"\x0a\x01a\x10\x04"[..]).unwrap();
        assert_eq!(view.filter_subscribe_type(), FilterSubscribeType(4));
        assert_eq!(view.filter_subscribe_type().name(), None);
    }

    #[test]
    fn responses_are_the_golden_frame() {
        let view = SubscribeResponseBuilder::new("r", 200).status_desc("OK").build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x01r\x50\xc8\x01\x5a\x02OK");
        assert_eq!((view.request_id(), view.status_code()), (Some("r"), 200));
        assert_eq!(view.status_desc(), Some("OK"));
    }

    #[test]
    fn a_push_is_the_golden_frame() {
        let message = &b"\x0a\x01\x01\x12\x01a\x18\x00\x50\x02\x5a\x00\xaa\x01\x00\xf8\x01\x00"[..];
        let view = PushBuilder::new("t", message).build().unwrap();
        assert_eq!(view.raw(), [b"\x0a\x12", message, b"\x12\x01t"].concat());
        let inner = view.waku_message().unwrap();
        assert_eq!(inner.raw(), message);
        assert_eq!(inner.payload().as_ptr(), view.raw()[4..].as_ptr());
        assert_eq!(push("t", &inner).to_vec(), view.raw());
    }

    #[test]
    fn a_push_says_what_is_missing() {
        let error = PushView::parse(&b"\x12\x01t"[..]).unwrap_err();
        assert_eq!(error.to_string(), "filter_push.waku_message: missing, at byte 3");
        let view = PushView::parse_with(&b"\x12\x01t"[..], &Rules::PROTO3).unwrap();
        assert_eq!(view.waku_message().unwrap_err().kind(), ErrorKind::Missing);
    }

    #[test]
    fn a_second_message_is_refused_or_counts() {
        let frame = &b"\x0a\x06\x0a\x01\x01\x12\x01a\x0a\x06\x0a\x01\x02\x12\x01a\x12\x01t"[..];
        for rules in [Rules::STRICT, Rules::PROTO3] {
            let error = PushView::parse_with(frame, &rules).unwrap_err();
            assert_eq!(
                error.to_string(),
                "filter_push.waku_message: given twice, once allowed, at byte 8"
            );
        }
        let view = PushView::parse_with(frame, &Rules::NWAKU).unwrap();
        assert_eq!(view.waku_message().unwrap().payload(), [2]);
    }
}
