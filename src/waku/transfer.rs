//! Transfer (WAKU-SYNC): a node hands a message that its peer lacks to it.
//!
//! ```text
//! WakuMessageAndTopic   nwaku  specification  type         absent reads as
//! pubsub_topic              1              2  string       refused, or empty
//! message                   2              1  WakuMessage  refused
//! ```
//!
//! Specification and nwaku number the fields the other way round, under the same protocol id, so
//! readers and writers are told which [`FieldOrder`] to go by; [`FieldOrder::detect`] tells it from
//! a frame.
//!
//! Source: WAKU-SYNC, "Transfer Protocol"; logos-delivery `waku_store_sync/codec.nim`.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::splice::Splice;
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::message::MessageView;
use crate::waku::put::{Encode, Put, builder, splice};

/// Which numbers the fields of a transfer have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum FieldOrder {
    /// The topic is field 1, the message field 2, as nwaku has it.
    TopicFirst,
    /// The message is field 1, the topic field 2, as the specification has it.
    MessageFirst,
}

impl FieldOrder {
    /// The order in which a frame can be read, by the `rules` that it will be read by: the field
    /// of the message is a WakuMessage, and that of the topic is text. `None` if it can be read in
    /// neither order, or in both: this never guesses.
    ///
    /// Both is possible, but not with a topic as they are: a shard's begins with `/`, which no
    /// WakuMessage does. It takes a topic that is itself a WakuMessage (or empty, under
    /// [`Rules::PROTO3`]), and a message that is text.
    ///
    /// ```
    /// use borrowire::rules::Rules;
    /// use borrowire::waku::transfer::FieldOrder;
    ///
    /// let detect = |frame: &[u8]| FieldOrder::detect(frame, &Rules::STRICT);
    /// let nwaku = b"\x0a\x01t\x12\x06\x0a\x01\x01\x12\x01a";
    /// let specification = b"\x0a\x06\x0a\x01\x01\x12\x01a\x12\x01t";
    /// assert_eq!(detect(nwaku), Some(FieldOrder::TopicFirst));
    /// assert_eq!(detect(specification), Some(FieldOrder::MessageFirst));
    /// ```
    pub fn detect(frame: &[u8], rules: &Rules) -> Option<Self> {
        let fits = |order| {
            TransferView::parse_with(frame, order, rules)
                .is_ok_and(|view| view.pubsub_topic().is_some() && view.message().is_ok())
        };
        match (fits(Self::TopicFirst), fits(Self::MessageFirst)) {
            (true, false) => Some(Self::TopicFirst),
            (false, true) => Some(Self::MessageFirst),
            _ => None,
        }
    }

    /// The number of `string pubsub_topic`.
    pub const fn pubsub_topic(self) -> u32 {
        match self {
            Self::TopicFirst => 1,
            Self::MessageFirst => 2,
        }
    }

    /// The number of `WakuMessage message`.
    pub const fn message(self) -> u32 {
        match self {
            Self::TopicFirst => 2,
            Self::MessageFirst => 1,
        }
    }

    const fn kind(self) -> &'static Kind<2> {
        match self {
            Self::TopicFirst => &TOPIC_FIRST,
            Self::MessageFirst => &MESSAGE_FIRST,
        }
    }

    /// The place of the topic in the table.
    const fn topic_place(self) -> usize {
        self.pubsub_topic() as usize - 1
    }

    /// The place of the message in the table.
    const fn message_place(self) -> usize {
        self.message() as usize - 1
    }
}

view! {
    /// A WakuMessageAndTopic read where it lies.
    ///
    /// ```
    /// use borrowire::waku::transfer::{FieldOrder, TransferView};
    ///
    /// let frame = &b"\x0a\x01t\x12\x06\x0a\x01\x01\x12\x01a"[..];
    /// let transfer = TransferView::parse(frame, FieldOrder::TopicFirst)?;
    /// assert_eq!(transfer.pubsub_topic(), Some("t"));
    /// assert_eq!(transfer.message()?.payload(), [1]);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    TransferView, 2, order: FieldOrder
}

impl<B: Buffer> TransferView<B> {
    /// The pubsub topic. `None` only where the rules let through what is not UTF-8, as
    /// [`Rules::NWAKU`] does.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.text(self.order.topic_place())
    }

    /// The pubsub topic's bytes, UTF-8 or not.
    pub fn pubsub_topic_bytes(&self) -> &[u8] {
        self.record.bytes(self.order.topic_place())
    }

    /// The message, as a view that shares this frame's buffer. Errs if it is absent, or by the rules
    /// that the transfer was read by.
    pub fn message(&self) -> Result<MessageView<B>, Error> {
        let place = self.order.message_place();
        self.record.message(self.order.kind(), place, MessageView::parse_with)
    }

    /// The bytes of the message, good or bad.
    pub fn message_bytes(&self) -> &[u8] {
        self.record.bytes(self.order.message_place())
    }
}

impl<B: Buffer> Eq for TransferView<B> {}

/// Equal if topic and message are, whatever their order. Unknown fields do not count.
impl<B: Buffer, C: Buffer> PartialEq<TransferView<C>> for TransferView<B> {
    fn eq(&self, other: &TransferView<C>) -> bool {
        self.pubsub_topic_bytes() == other.pubsub_topic_bytes()
            && self.has(self.order.message()) == other.has(other.order.message())
            && match (self.message(), other.message()) {
                (Ok(message), Ok(other)) => message == other,
                _ => self.message_bytes() == other.message_bytes(),
            }
    }
}

impl<B: Buffer> fmt::Display for TransferView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topic = self.pubsub_topic_bytes().escape_ascii();
        write!(f, "transfer on {topic} of {} bytes", self.message_bytes().len())
    }
}

/// Writes a WakuMessageAndTopic around the bytes of a message.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct TransferBuilder<'a> {
    order: FieldOrder,
    pubsub_topic: &'a str,
    message: &'a [u8],
}

impl<'a> TransferBuilder<'a> {
    /// A transfer of `message`, the bytes of an encoded WakuMessage (its view's `raw()`).
    pub const fn new(order: FieldOrder, pubsub_topic: &'a str, message: &'a [u8]) -> Self {
        Self { order, pubsub_topic, message }
    }

    /// Writes the message and reads it back under [`Rules::STRICT`], so that what is built is what
    /// every node of this order takes. The WakuMessage is taken as it is.
    pub fn build(&self) -> Result<TransferView, Error> {
        TransferView::parse(self.to_vec().into(), self.order)
    }
}

impl Encode for TransferBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        let topic = self.pubsub_topic.as_bytes();
        match self.order {
            FieldOrder::TopicFirst => {
                out.bytes(self.order.pubsub_topic(), topic);
                out.body(self.order.message(), self.message);
            }
            FieldOrder::MessageFirst => {
                out.body(self.order.message(), self.message);
                out.bytes(self.order.pubsub_topic(), topic);
            }
        }
    }
}

builder!(TransferBuilder);

/// A WakuMessageAndTopic around a received message: encoded once, for any number of peers. Nothing
/// of the message is copied.
///
/// ```
/// use borrowire::waku::MessageView;
/// use borrowire::waku::transfer::{FieldOrder, transfer};
/// use bytes::Bytes;
///
/// let message = MessageView::parse(Bytes::from_static(b"\x0a\x01\x01\x12\x01a"))?;
/// let frame = transfer(FieldOrder::TopicFirst, "t", &message);
/// assert_eq!(frame.to_vec(), b"\x0a\x01t\x12\x06\x0a\x01\x01\x12\x01a");
/// assert_eq!(frame.body().as_ptr(), message.raw().as_ptr());
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn transfer(order: FieldOrder, pubsub_topic: &str, message: &MessageView) -> Splice {
    let transfer = TransferBuilder::new(order, pubsub_topic, message.raw());
    splice(&transfer, message.buffer().clone())
}

static TOPIC_FIRST: Kind<2> =
    kind([topic_field(FieldOrder::TopicFirst), message_field(FieldOrder::TopicFirst)]);

static MESSAGE_FIRST: Kind<2> =
    kind([message_field(FieldOrder::MessageFirst), topic_field(FieldOrder::MessageFirst)]);

const fn kind(fields: [Field; 2]) -> Kind<2> {
    Kind { name: "WakuMessageAndTopic", context: "transfer", fields }
}

const fn topic_field(order: FieldOrder) -> Field {
    Field::new(order.pubsub_topic(), "transfer.pubsub_topic", Shape::Text).required()
}

const fn message_field(order: FieldOrder) -> Field {
    Field::new(order.message(), "transfer.message", Shape::Message(same!(MessageView))).required()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_the_golden_frame() {
        let golden = [b"\x0a\x01t\x12\x12", SMALL].concat();
        let view = TransferBuilder::new(TopicFirst, "t", SMALL).build().unwrap();
        assert_eq!(view.raw(), golden);
        assert_eq!((view.pubsub_topic(), view.order()), (Some("t"), TopicFirst));
        let message = view.message().unwrap();
        assert_eq!(message.raw().as_ptr(), view.raw()[5..].as_ptr());
        assert_eq!(transfer(TopicFirst, "t", &message).to_vec(), golden);

        let other = TransferBuilder::new(MessageFirst, "t", SMALL).build().unwrap();
        assert_eq!(other.raw(), [b"\x0a\x12", SMALL, b"\x12\x01t"].concat());
        let spliced = transfer(MessageFirst, "t", &message);
        assert_eq!(spliced.to_vec(), other.raw());
        assert_eq!(spliced.body().as_ptr(), view.raw()[5..].as_ptr());
        assert_eq!(view, other);
    }

    #[test]
    fn the_order_is_told_from_topics_as_they_are() {
        let message = MessageView::parse(Bytes::from_static(SMALL)).unwrap();
        for topic in ["/waku/2/rs/0/0", "/waku/2/default-waku/proto", "t"] {
            for order in [TopicFirst, MessageFirst] {
                let frame = transfer(order, topic, &message).to_vec();
                for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
                    assert_eq!(FieldOrder::detect(&frame, &rules), Some(order));
                }
            }
        }
    }

    #[test]
    fn the_order_is_never_guessed() {
        let text = "\x0a\x01\x01\x12\x01a";
        let both = TransferBuilder::new(TopicFirst, text, text.as_bytes()).to_vec();
        let neither = TransferBuilder::new(TopicFirst, "t", b"t").to_vec();
        for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
            assert_eq!(FieldOrder::detect(&both, &rules), None);
            assert_eq!(FieldOrder::detect(&neither, &rules), None);
        }
        let empty_topic = TransferBuilder::new(MessageFirst, "", text.as_bytes()).to_vec();
        assert_eq!(FieldOrder::detect(&empty_topic, &Rules::STRICT), Some(MessageFirst));
        assert_eq!(FieldOrder::detect(&empty_topic, &Rules::PROTO3), None);
    }

    #[test]
    fn a_transfer_read_in_the_other_order_is_an_error_by_name() {
        let frame = transfer(
            TopicFirst,
            "/waku/2/rs/0/0",
            &MessageView::parse(Bytes::from_static(b"\x0a\x01\xff\x12\x01a")).unwrap(),
        );
        let frame = &frame.to_vec()[..];
        let error = TransferView::parse(frame, MessageFirst).unwrap_err();
        assert_eq!(error.to_string(), "transfer.pubsub_topic: not UTF-8, at byte 20");
        let error = TransferView::parse_with(frame, MessageFirst, &Rules::NWAKU).unwrap();
        let error = error.message().unwrap_err();
        assert_eq!(error.to_string(), "proto.tag: wire type 7 does not exist, at byte 2");
    }

    #[test]
    fn what_a_transfer_must_have() {
        for (frame, text) in [
            (&b"\x12\x06\x0a\x01\x01\x12\x01a"[..], "transfer.pubsub_topic: missing, at byte 8"),
            (b"\x0a\x01t", "transfer.message: missing, at byte 3"),
        ] {
            let error = TransferView::parse(frame, TopicFirst).unwrap_err();
            assert_eq!(error.to_string(), text);
            assert!(TransferView::parse_with(frame, TopicFirst, &Rules::PROTO3).is_ok());
        }
    }

    use FieldOrder::{MessageFirst, TopicFirst};

    const SMALL: &[u8] = b"\x0a\x01\x01\x12\x01a\x18\x00\x50\x02\x5a\x00\xaa\x01\x00\xf8\x01\x00";
}
