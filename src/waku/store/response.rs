//! StoreQueryResponse, and the WakuMessageKeyValue that it is made of.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::splice::{Splice, Splices};
use crate::waku::hash::MessageHash;
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::message::MessageView;
use crate::waku::put::{Encode, Put, builder, splice, splices};
use crate::waku::store::{HASH_LEN, field};

view! {
    /// A StoreQueryResponse read where it lies. Messages are not entered: walking over a page reads
    /// the hashes alone, and each message when it is asked for.
    ///
    /// ```
    /// use borrowire::waku::MessageHash;
    /// use borrowire::waku::store::{KeyValue, QueryResponseBuilder, QueryResponseView};
    ///
    /// let message = b"\x0a\x01\x01\x12\x01a";
    /// let page = [KeyValue::new(MessageHash([7; 32]), "t", message)];
    /// let frame = QueryResponseBuilder::new("r", 200, "OK").messages(&page).to_vec();
    ///
    /// let response = QueryResponseView::parse(&frame[..])?;
    /// for key_value in response.messages() {
    ///     let key_value = key_value?;
    ///     assert_eq!(key_value.message_hash(), Some(MessageHash([7; 32])));
    ///     assert_eq!(key_value.message().unwrap()?.payload(), [1]);
    /// }
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    QueryResponseView, RESPONSE, 5
}

impl<B: Buffer> QueryResponseView<B> {
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

    /// The status in words; empty if absent. `None` only where the rules let through what is not
    /// UTF-8.
    pub fn status_desc(&self) -> Option<&str> {
        self.record.text(STATUS_DESC)
    }

    /// The status in words, UTF-8 or not; empty if absent.
    pub fn status_desc_bytes(&self) -> &[u8] {
        self.record.bytes(STATUS_DESC)
    }

    /// The page. A bad key value is an error in its place and leaves the others.
    pub fn messages(
        &self,
    ) -> impl ExactSizeIterator<Item = Result<KeyValueView<B>, Error>> + Clone {
        self.record.repeated_messages(&RESPONSE, MESSAGES, KeyValueView::parse_with)
    }

    /// What to ask for the next page with. `None` if absent: this was the last.
    pub fn pagination_cursor(&self) -> Option<MessageHash> {
        self.record.fixed(PAGINATION_CURSOR).copied().map(MessageHash)
    }
}

impl<B: Buffer> fmt::Display for QueryResponseView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        let messages = self.messages().len();
        write!(f, "store response {id}: {}, {messages} messages", self.status_code())
    }
}

view! {
    /// A WakuMessageKeyValue read where it lies: a message's hash and, if they were asked for, the
    /// message and its pubsub topic.
    ///
    /// 13/WAKU2-STORE wants both or neither. nwaku drops the one that is alone and does not even
    /// read it; here it stays readable, and it is for the caller to say what a message without a
    /// topic is worth. The hash is what the peer claims:
    /// [`message_hash`](crate::waku::message_hash) computes it.
    KeyValueView, KEY_VALUE, 3
}

impl<B: Buffer> KeyValueView<B> {
    /// The message's hash, as the peer says. `None` only where the rules let it be absent, as
    /// [`Rules::PROTO3`] does.
    pub fn message_hash(&self) -> Option<MessageHash> {
        self.record.fixed(MESSAGE_HASH).copied().map(MessageHash)
    }

    /// The message, as a view that shares this frame's buffer. `None` if absent; errs by the rules
    /// that the response was read by.
    pub fn message(&self) -> Option<Result<MessageView<B>, Error>> {
        self.record.optional_message(MESSAGE, MessageView::parse_with)
    }

    /// The bytes of the message, good or bad; `None` if absent.
    pub fn message_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(MESSAGE)
    }

    /// The pubsub topic. `None` if absent, or not UTF-8.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.optional_text(PUBSUB_TOPIC)
    }

    /// The pubsub topic's bytes, UTF-8 or not; `None` if absent.
    pub fn pubsub_topic_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(PUBSUB_TOPIC)
    }
}

impl<B: Buffer> fmt::Display for KeyValueView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message_hash() {
            Some(hash) => write!(f, "{hash}")?,
            None => f.write_str("no hash")?,
        }
        match self.message_bytes() {
            Some(message) => write!(f, ", message of {} bytes", message.len()),
            None => Ok(()),
        }
    }
}

/// Writes a StoreQueryResponse.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct QueryResponseBuilder<'a> {
    request_id: &'a str,
    status_code: u32,
    status_desc: &'a str,
    messages: &'a [KeyValue<'a>],
    pagination_cursor: Option<MessageHash>,
}

impl<'a> QueryResponseBuilder<'a> {
    /// A response to the request with this id, with no messages. The status in words is always
    /// written: nwaku refuses a response without.
    pub const fn new(request_id: &'a str, status_code: u32, status_desc: &'a str) -> Self {
        Self { request_id, status_code, status_desc, messages: &[], pagination_cursor: None }
    }

    /// Sets the page.
    pub const fn messages(mut self, messages: &'a [KeyValue<'a>]) -> Self {
        self.messages = messages;
        self
    }

    /// Sets what to ask for the next page with: the hash of the last message of this one.
    pub const fn pagination_cursor(mut self, cursor: MessageHash) -> Self {
        self.pagination_cursor = Some(cursor);
        self
    }

    /// The response around the received messages of its page (those of [`KeyValue::around`]):
    /// encoded once, for any number of peers. Nothing of them is copied.
    pub fn splices(&self) -> Splices {
        splices(self, self.messages.iter().filter_map(|item| item.stored?.buffer))
    }
}

impl Encode for QueryResponseBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        out.uint(field::STATUS_CODE, self.status_code.into());
        out.bytes(field::STATUS_DESC, self.status_desc.as_bytes());
        self.messages.iter().for_each(|item| out.message(field::MESSAGES, item));
        if let Some(cursor) = self.pagination_cursor {
            out.bytes(field::PAGINATION_CURSOR, &cursor.0);
        }
    }
}

builder!(QueryResponseBuilder, QueryResponseView);

/// A WakuMessageKeyValue, to be written: a hash alone, or with message and topic.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct KeyValue<'a> {
    message_hash: MessageHash,
    stored: Option<Stored<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Stored<'a> {
    pubsub_topic: &'a str,
    message: &'a [u8],
    /// The message once more, if it can be shared.
    buffer: Option<&'a Bytes>,
}

impl<'a> KeyValue<'a> {
    /// A message, as the bytes of an encoded WakuMessage, and the pubsub topic that it was sent on.
    pub const fn new(message_hash: MessageHash, pubsub_topic: &'a str, message: &'a [u8]) -> Self {
        Self { message_hash, stored: Some(Stored { pubsub_topic, message, buffer: None }) }
    }

    /// A received message and the pubsub topic that it was sent on. A splice shares its buffer.
    pub fn around(
        message_hash: MessageHash,
        pubsub_topic: &'a str,
        message: &'a MessageView,
    ) -> Self {
        let buffer = Some(message.buffer());
        let stored = Stored { pubsub_topic, message: message.raw(), buffer };
        Self { message_hash, stored: Some(stored) }
    }

    /// The hash of a message, for those who have not asked for more.
    pub const fn hash_alone(message_hash: MessageHash) -> Self {
        Self { message_hash, stored: None }
    }
}

impl Encode for KeyValue<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::MESSAGE_HASH, &self.message_hash.0);
        if let Some(Stored { pubsub_topic, message, buffer }) = self.stored {
            match buffer {
                Some(_) => out.body(field::MESSAGE, message),
                None => out.bytes(field::MESSAGE, message),
            }
            out.bytes(field::MESSAGE_PUBSUB_TOPIC, pubsub_topic.as_bytes());
        }
    }
}

builder!(KeyValue, KeyValueView);

/// A WakuMessageKeyValue around a received message, none of which is copied.
pub fn key_value(message_hash: MessageHash, pubsub_topic: &str, message: &MessageView) -> Splice {
    let key_value = KeyValue::around(message_hash, pubsub_topic, message);
    splice(&key_value, message.buffer().clone())
}

static RESPONSE: Kind<5> = Kind {
    name: "StoreQueryResponse",
    context: "store_response",
    fields: [
        Field::new(field::REQUEST_ID, "store_response.request_id", Shape::Text).required(),
        Field::new(field::STATUS_CODE, "store_response.status_code", Shape::Uint32).required(),
        Field::new(field::STATUS_DESC, "store_response.status_desc", Shape::Text).required(),
        Field::new(field::MESSAGES, "store_response.messages", Shape::Message(same!(KeyValueView)))
            .repeated(),
        Field::new(
            field::PAGINATION_CURSOR,
            "store_response.pagination_cursor",
            Shape::Fixed(HASH_LEN),
        )
        .optional(),
    ],
};

static KEY_VALUE: Kind<3> = Kind {
    name: "WakuMessageKeyValue",
    context: "key_value",
    fields: [
        Field::new(field::MESSAGE_HASH, "key_value.message_hash", Shape::Fixed(HASH_LEN))
            .required(),
        Field::new(field::MESSAGE, "key_value.message", Shape::Message(same!(MessageView))),
        Field::new(field::MESSAGE_PUBSUB_TOPIC, "key_value.pubsub_topic", Shape::Text).optional(),
    ],
};

// The places of the fields in their tables.
const REQUEST_ID: usize = 0;
const STATUS_CODE: usize = 1;
const STATUS_DESC: usize = 2;
const MESSAGES: usize = 3;
const PAGINATION_CURSOR: usize = 4;
const MESSAGE_HASH: usize = 0;
const MESSAGE: usize = 1;
const PUBSUB_TOPIC: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_key_value_is_the_golden_frame() {
        let hash = MessageHash(std::array::from_fn(|i| i as u8));
        let view = KeyValue::new(hash, "t", SMALL).build().unwrap();
        assert_eq!(
            view.raw(),
            [b"\x0a\x20", &hash.0[..], b"\x12\x12", SMALL, b"\x1a\x01t"].concat()
        );
        assert_eq!((view.message_hash(), view.pubsub_topic()), (Some(hash), Some("t")));
        let message = view.message().unwrap().unwrap();
        assert_eq!(message.raw().as_ptr(), view.raw()[36..].as_ptr());
        let spliced = key_value(hash, "t", &message);
        assert_eq!(spliced.to_vec(), view.raw());
        assert_eq!(spliced.body().as_ptr(), view.raw()[36..].as_ptr());
    }

    #[test]
    fn a_bad_message_leaves_its_neighbours() {
        let hash = MessageHash([7; 32]);
        let page = [
            KeyValue::new(hash, "t", SMALL),
            KeyValue::new(hash, "t", b"\x0a\x01\x01"),
            KeyValue::hash_alone(hash),
        ];
        let response = QueryResponseBuilder::new("r", 200, "OK").messages(&page);
        let view = response.pagination_cursor(hash).build().unwrap();
        assert_eq!((view.request_id(), view.status_code()), (Some("r"), 200));
        assert_eq!((view.status_desc(), view.pagination_cursor()), (Some("OK"), Some(hash)));
        assert_eq!(view.messages().len(), 3);
        let read: Vec<_> = view.messages().map(Result::unwrap).collect();
        assert!(read[0].message().unwrap().is_ok());
        let error = read[1].message().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "waku.content_topic: missing, at byte 39");
        assert!(read[2].message().is_none() && read[2].pubsub_topic().is_none());
    }

    #[test]
    fn a_response_is_spliced_around_received_messages() {
        let received = Bytes::from([SMALL, SMALL].concat());
        let messages = [received.slice(..18), received.slice(18..)];
        let messages = messages.map(|message| MessageView::parse(message).unwrap());
        let hash = MessageHash([7; 32]);
        let page = [
            KeyValue::around(hash, "t", &messages[0]),
            KeyValue::new(hash, "copied", SMALL),
            KeyValue::hash_alone(hash),
            KeyValue::around(hash, "u", &messages[1]),
        ];
        let response = QueryResponseBuilder::new("r", 200, "OK").messages(&page);
        let response = response.pagination_cursor(hash);
        let splices = response.splices();
        assert_eq!(splices.to_vec(), response.build().unwrap().raw());
        assert_eq!(splices.len(), response.encoded_len());
        let bodies: Vec<_> = splices.bodies().map(|body| body.as_ptr()).collect();
        assert_eq!(bodies, [received.as_ptr(), received[18..].as_ptr()]);
        assert_eq!(QueryResponseBuilder::new("r", 200, "").splices().bodies().len(), 0);
    }

    #[test]
    fn one_without_the_other_stays_readable() {
        let hash = [&b"\x0a\x20"[..], &[7; 32]].concat();
        let message = [&hash[..], b"\x12\x06\x0a\x01\x01\x12\x01a"].concat();
        let topic = [&hash[..], b"\x1a\x01t"].concat();
        for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
            let view = KeyValueView::parse_with(&message[..], &rules).unwrap();
            assert_eq!(view.message().unwrap().unwrap().payload(), [1]);
            assert_eq!(view.pubsub_topic(), None);
            let view = KeyValueView::parse_with(&topic[..], &rules).unwrap();
            assert!(view.message().is_none() && view.pubsub_topic() == Some("t"));
        }
    }

    /// One message in two parts: protobuf merges them, nwaku takes the last.
    #[test]
    fn the_merge_probe_is_refused_or_its_last_part_counts() {
        let parts = b"\x12\x03\x0a\x01\x01\x12\x03\x12\x01a\x1a\x01t";
        let probe = [&b"\x0a\x20"[..], &[0xaa; 32], parts].concat();
        for rules in [Rules::STRICT, Rules::PROTO3] {
            let error = KeyValueView::parse_with(&probe[..], &rules).unwrap_err();
            assert_eq!(
                error.to_string(),
                "key_value.message: given twice, once allowed, at byte 39"
            );
        }
        let view = KeyValueView::parse_with(&probe[..], &Rules::NWAKU).unwrap();
        let error = view.message().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "waku.payload: missing, at byte 44");
    }

    #[test]
    fn what_a_response_must_have() {
        for (frame, name) in [
            (&b"\x50\xc8\x01\x5a\x00"[..], "store_response.request_id"),
            (b"\x0a\x01r\x5a\x00", "store_response.status_code"),
            (b"\x0a\x01r\x50\xc8\x01", "store_response.status_desc"),
        ] {
            for rules in [Rules::STRICT, Rules::NWAKU] {
                let error = QueryResponseView::parse_with(frame, &rules).unwrap_err();
                assert_eq!((error.kind(), error.context()), (ErrorKind::Missing, name));
            }
            assert!(QueryResponseView::parse_with(frame, &Rules::PROTO3).is_ok());
        }
    }

    const SMALL: &[u8] = b"\x0a\x01\x01\x12\x01a\x18\x00\x50\x02\x5a\x00\xaa\x01\x00\xf8\x01\x00";
}
