//! Gossipsub's RPC (11/WAKU2-RELAY): the one frame in which relay nodes send messages, their
//! subscriptions, and what routers tell each other.
//!
//! ```text
//! RPC                      number  type            absent reads as
//! subscriptions                 1  SubOpts         repeated
//! publish                       2  Message         repeated
//! control                       3  ControlMessage  absent
//!
//! SubOpts
//! subscribe                     1  bool            absent
//! topicid                       2  string          absent
//! requestsPartial               3  bool            absent
//! supportsSendingPartial        4  bool            absent
//!
//! Message
//! from                          1  bytes           absent (and must be: StrictNoSign)
//! data                          2  bytes           absent (an encoded WakuMessage)
//! seqno                         3  bytes           absent (and must be)
//! topic                         4  string          refused, or empty
//! signature                     5  bytes           absent (and must be)
//! key                           6  bytes           absent (and must be)
//! ```
//!
//! Parsing an RPC counts what is in it and reserves nothing, however much that is: check the counts
//! ([`RpcView::sizes`]) before anything is kept. Source: libp2p specs, pubsub and gossipsub;
//! 11/WAKU2-RELAY.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::proto;
use crate::rules::Rules;
use crate::splice::Splice;
use crate::waku::control::{ControlBuilder, ControlView};
use crate::waku::hash::{GossipId, gossip_id};
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::message::{self, MessageBuilder, MessageView};
use crate::waku::put::{Encode, Put, builder, splice};

/// The numbers of the fields.
pub mod field {
    /// `repeated SubOpts subscriptions`, of an RPC.
    pub const SUBSCRIPTIONS: u32 = 1;
    /// `repeated Message publish`, of an RPC.
    pub const PUBLISH: u32 = 2;
    /// `ControlMessage control`, of an RPC.
    pub const CONTROL: u32 = 3;
    /// `bool subscribe`, of a subscription.
    pub const SUBSCRIBE: u32 = 1;
    /// `string topicid`, of a subscription.
    pub const TOPIC_ID: u32 = 2;
    /// `bool requestsPartial`, of a subscription.
    pub const REQUESTS_PARTIAL: u32 = 3;
    /// `bool supportsSendingPartial`, of a subscription.
    pub const SUPPORTS_SENDING_PARTIAL: u32 = 4;
    /// `bytes from`, of a message.
    pub const FROM: u32 = 1;
    /// `bytes data`, of a message.
    pub const DATA: u32 = 2;
    /// `bytes seqno`, of a message.
    pub const SEQNO: u32 = 3;
    /// `string topic`, of a message.
    pub const TOPIC: u32 = 4;
    /// `bytes signature`, of a message.
    pub const SIGNATURE: u32 = 5;
    /// `bytes key`, of a message.
    pub const KEY: u32 = 6;
}

view! {
    /// An RPC read where it lies.
    ///
    /// ```
    /// use borrowire::waku::gossip::RpcView;
    /// use bytes::Bytes;
    ///
    /// let frame = Bytes::from_static(b"\x12\x0b\x12\x06\x0a\x01\x01\x12\x01a\x22\x01t");
    /// let rpc = RpcView::parse(frame.clone())?;
    /// for published in rpc.publish() {
    ///     let published = published?;
    ///     assert_eq!(published.topic(), Some("t"));
    ///     let message = published.waku_message()?;
    ///     assert_eq!(message.payload().as_ptr(), frame[6..].as_ptr()); // nothing was copied
    /// }
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    RpcView, RPC, 3
}

impl<B: Buffer> RpcView<B> {
    /// What the peer subscribes to and unsubscribes from.
    pub fn subscriptions(
        &self,
    ) -> impl ExactSizeIterator<Item = Result<SubscriptionView<B>, Error>> + Clone {
        self.record.repeated_messages(&RPC, SUBSCRIPTIONS, SubscriptionView::parse_with)
    }

    /// The messages. A bad one is an error in its place and leaves the others; nwaku drops the
    /// whole RPC then.
    pub fn publish(&self) -> impl ExactSizeIterator<Item = Result<PublishView<B>, Error>> + Clone {
        self.record.repeated_messages(&RPC, PUBLISH, PublishView::parse_with)
    }

    /// What the peer's router says; `None` if absent.
    pub fn control(&self) -> Option<Result<ControlView<B>, Error>> {
        self.record.optional_message(CONTROL, ControlView::parse_with)
    }

    /// How much of everything there is, counted by one walk that allocates nothing. Errs where a
    /// control message is bad; messages and subscriptions are not entered.
    pub fn sizes(&self) -> Result<RpcSizes, Error> {
        let mut sizes = RpcSizes {
            subscriptions: self.record.count(SUBSCRIPTIONS),
            messages: self.record.count(PUBLISH),
            ..RpcSizes::default()
        };
        for message in self.record.repeated_bytes(&RPC, PUBLISH) {
            sizes.message_bytes += message.len();
            sizes.largest_message = sizes.largest_message.max(message.len());
        }
        let borrowed = self.as_borrowed();
        let Some(control) = borrowed.control() else { return Ok(sizes) };
        let control = control?;
        let in_rpc = |error: Error| error.offset_by(self.record.start(CONTROL));
        sizes.control_bytes = control.raw().len();
        sizes.control_messages = control.ihave().len()
            + control.iwant().len()
            + control.graft().len()
            + control.prune().len()
            + control.idontwant().len();
        for ihave in control.ihave() {
            sizes.message_ids += ihave.map_err(in_rpc)?.message_ids().len();
        }
        for ids in control.iwant().chain(control.idontwant()) {
            sizes.message_ids += ids.map_err(in_rpc)?.message_ids().len();
        }
        for prune in control.prune() {
            sizes.peers += prune.map_err(in_rpc)?.peers().len();
        }
        Ok(sizes)
    }
}

impl<B: Buffer> fmt::Display for RpcView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let control = if self.has(field::CONTROL) { ", control" } else { "" };
        write!(
            f,
            "RPC of {} subscriptions, {} messages{control}",
            self.record.count(SUBSCRIPTIONS),
            self.record.count(PUBLISH),
        )
    }
}

/// How much of everything an RPC holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RpcSizes {
    /// Subscriptions.
    pub subscriptions: usize,
    /// Messages.
    pub messages: usize,
    /// Bytes of all messages with their topics.
    pub message_bytes: usize,
    /// Bytes of the largest message with its topic.
    pub largest_message: usize,
    /// Bytes of the control message.
    pub control_bytes: usize,
    /// Entries of all lists of the control message: ihave, iwant, graft, prune, idontwant.
    pub control_messages: usize,
    /// Message ids in these entries.
    pub message_ids: usize,
    /// Peers in the prunes.
    pub peers: usize,
}

view! {
    /// A SubOpts: one topic that a peer subscribes to or unsubscribes from.
    SubscriptionView, SUBSCRIPTION, 4
}

impl<B: Buffer> SubscriptionView<B> {
    /// Whether the peer subscribes (or unsubscribes, also if absent).
    pub fn subscribe(&self) -> bool {
        self.record.uint(SUBSCRIBE) != 0
    }

    /// The topic. `None` if absent, or not UTF-8.
    pub fn topic_id(&self) -> Option<&str> {
        self.record.optional_text(SUBSCRIPTION_TOPIC)
    }

    /// The topic's bytes, UTF-8 or not; `None` if absent.
    pub fn topic_id_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(SUBSCRIPTION_TOPIC)
    }

    /// Whether the peer asks for partial messages; `None` if absent.
    pub fn requests_partial(&self) -> Option<bool> {
        self.record.optional_uint(REQUESTS_PARTIAL).map(|value| value != 0)
    }

    /// Whether the peer can send partial messages; `None` if absent.
    pub fn supports_sending_partial(&self) -> Option<bool> {
        self.record.optional_uint(SUPPORTS_SENDING_PARTIAL).map(|value| value != 0)
    }
}

impl<B: Buffer> fmt::Display for SubscriptionView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.subscribe() { "subscribe to" } else { "unsubscribe from" };
        write!(f, "{verb} {}", self.topic_id_bytes().unwrap_or_default().escape_ascii())
    }
}

view! {
    /// A Message as gossipsub publishes it: a topic, and data that is an encoded WakuMessage.
    PublishView, PUBLISH_KIND, 6
}

impl<B: Buffer> PublishView<B> {
    /// The pubsub topic; the last, where an old node names several. `None` only where the rules
    /// let through what is not UTF-8, as [`Rules::NWAKU`] does.
    pub fn topic(&self) -> Option<&str> {
        self.record.text(TOPIC)
    }

    /// The topic's bytes, UTF-8 or not.
    pub fn topic_bytes(&self) -> &[u8] {
        self.record.bytes(TOPIC)
    }

    /// The data: the bytes of the WakuMessage, good or bad; empty if absent.
    pub fn data(&self) -> &[u8] {
        self.record.bytes(DATA)
    }

    /// The data as a WakuMessage that shares this frame's buffer. Errs if it is absent, or by the
    /// rules that the RPC was read by.
    pub fn waku_message(&self) -> Result<MessageView<B>, Error> {
        self.record.message(&PUBLISH_KIND, DATA, MessageView::parse_with)
    }

    /// The gossip id of the data, computed at every call; an
    /// [`Envelope`](crate::envelope::Envelope) keeps it.
    pub fn gossip_id(&self) -> GossipId {
        gossip_id(self.data())
    }

    /// Who sent it, a peer id; `None` as it should be.
    pub fn from(&self) -> Option<&[u8]> {
        self.record.optional_bytes(FROM)
    }

    /// The sender's count; `None` as it should be.
    pub fn seqno(&self) -> Option<&[u8]> {
        self.record.optional_bytes(SEQNO)
    }

    /// The sender's signature; `None` as it should be.
    pub fn signature(&self) -> Option<&[u8]> {
        self.record.optional_bytes(SIGNATURE)
    }

    /// The sender's key; `None` as it should be.
    pub fn key(&self) -> Option<&[u8]> {
        self.record.optional_bytes(KEY)
    }

    /// Whether the message tells nothing of its sender: none of `from`, `seqno`, `signature`, `key`
    /// is there, be it empty. 11/WAKU2-RELAY asks for that.
    pub fn is_anonymous(&self) -> bool {
        [FROM, SEQNO, SIGNATURE, KEY].iter().all(|i| !self.record.is_present(*i))
    }
}

impl PublishView<Bytes> {
    /// The data as a share of the received buffer. Counts a reference, copies nothing.
    pub fn data_bytes(&self) -> Bytes {
        self.record.part(DATA)
    }
}

impl<B: Buffer> fmt::Display for PublishView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message on {} of {} bytes", self.topic_bytes().escape_ascii(), self.data().len())
    }
}

/// Writes an RPC from the lists that it is given.
///
/// Messages are anonymous: nothing here writes who sent them.
///
/// ```
/// use borrowire::waku::gossip::{Publish, RpcBuilder, Subscription};
///
/// let rpc = RpcBuilder::new()
///     .subscriptions(&[Subscription { topic_id: "t", subscribe: true }])
///     .publish(&[Publish { topic: "t", data: b"\x0a\x01\x01\x12\x01a" }]);
/// assert_eq!(
///     rpc.to_vec(),
///     b"\x0a\x05\x08\x01\x12\x01t\x12\x0b\x12\x06\x0a\x01\x01\x12\x01a\x22\x01t",
/// );
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct RpcBuilder<'a> {
    subscriptions: &'a [Subscription<'a>],
    publish: &'a [Publish<'a>],
    control: Option<ControlBuilder<'a>>,
}

impl<'a> RpcBuilder<'a> {
    /// An RPC that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what this node subscribes to and unsubscribes from.
    pub const fn subscriptions(mut self, subscriptions: &'a [Subscription<'a>]) -> Self {
        self.subscriptions = subscriptions;
        self
    }

    /// Sets the messages.
    pub const fn publish(mut self, publish: &'a [Publish<'a>]) -> Self {
        self.publish = publish;
        self
    }

    /// Sets what this node's router says.
    pub const fn control(mut self, control: ControlBuilder<'a>) -> Self {
        self.control = Some(control);
        self
    }
}

impl Encode for RpcBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        self.subscriptions.iter().for_each(|item| out.message(field::SUBSCRIPTIONS, item));
        self.publish.iter().for_each(|item| out.message(field::PUBLISH, item));
        if let Some(control) = &self.control {
            out.message(field::CONTROL, control);
        }
    }
}

builder!(RpcBuilder, RpcView);

/// A subscription, to be written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Subscription<'a> {
    /// The topic.
    pub topic_id: &'a str,
    /// Whether to subscribe, not unsubscribe.
    pub subscribe: bool,
}

impl Encode for Subscription<'_> {
    fn put(&self, out: &mut impl Put) {
        out.uint(field::SUBSCRIBE, self.subscribe.into());
        out.bytes(field::TOPIC_ID, self.topic_id.as_bytes());
    }
}

/// A message, to be written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Publish<'a> {
    /// The pubsub topic.
    pub topic: &'a str,
    /// The bytes of an encoded WakuMessage (its view's `raw()`).
    pub data: &'a [u8],
}

impl Encode for Publish<'_> {
    fn put(&self, out: &mut impl Put) {
        out.body(field::DATA, self.data);
        out.bytes(field::TOPIC, self.topic.as_bytes());
    }
}

/// An RPC with one message around the bytes that were received: encoded once, for any number of
/// peers. Nothing of the message is copied.
///
/// ```
/// use borrowire::waku::MessageView;
/// use borrowire::waku::gossip::{RpcView, publish};
/// use bytes::Bytes;
///
/// let message = MessageView::parse(Bytes::from_static(b"\x0a\x01\x01\x12\x01a"))?;
/// let frame = publish("t", &message);
/// assert_eq!(frame.to_vec(), b"\x12\x0b\x12\x06\x0a\x01\x01\x12\x01a\x22\x01t");
/// assert_eq!(frame.body().as_ptr(), message.raw().as_ptr());
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn publish(topic: &str, message: &MessageView) -> Splice {
    let publish = [Publish { topic, data: message.raw() }];
    splice(&RpcBuilder::new().publish(&publish), message.buffer().clone())
}

/// How many bytes an RPC takes that carries one message of `message_len` bytes and nothing else,
/// the length prefix of the stream not counted. Nodes hold this, not the message, to their limit.
///
/// ```
/// assert_eq!(borrowire::waku::gossip::rpc_len("t", 6), 13);
/// ```
pub const fn rpc_len(topic: &str, message_len: usize) -> usize {
    let publish = proto::len_field_len(field::DATA, message_len)
        + proto::len_field_len(field::TOPIC, topic.len());
    proto::len_field_len(field::PUBLISH, publish)
}

/// How long the payload of `message` may be so that an RPC that carries nothing else has at most
/// `limit` bytes; `None` if not even an empty one fits. The payload that `message` has does not
/// count; its content topic, meta, proof, timestamp and style do.
///
/// nwaku's limit is [`MAX_RPC_LEN`]. A message over it passes validation, and is dropped in silence
/// on its way out.
///
/// ```
/// use borrowire::waku::MessageBuilder;
/// use borrowire::waku::gossip::{MAX_RPC_LEN, max_payload, rpc_len};
///
/// let message = MessageBuilder::new("/app/1/chat/proto", b"").timestamp(1_700_000_000_000_000_000);
/// let longest = vec![0; max_payload("/waku/2/rs/1/0", &message, MAX_RPC_LEN).unwrap()];
/// let message = message.payload(&longest);
/// assert_eq!(rpc_len("/waku/2/rs/1/0", message.encoded_len()), MAX_RPC_LEN);
/// ```
pub fn max_payload(topic: &str, message: &MessageBuilder<'_>, limit: usize) -> Option<usize> {
    // A payload of one byte is written in every style.
    let one = message.clone().payload(&[0]).encoded_len();
    let rest = one - proto::len_field_len(message::field::PAYLOAD, 1);
    let frame_len = |payload_len| {
        rpc_len(topic, rest + proto::len_field_len(message::field::PAYLOAD, payload_len))
    };
    let limit = limit.min(LONGEST_FRAME);
    let overhead = frame_len(limit) - limit;
    // The overhead of a shorter payload is smaller by the few bytes of its lengths, if at all.
    if let Some(len) = limit.checked_sub(overhead).filter(|len| *len > 0) {
        let longer = (len + 1..).take_while(|longer| frame_len(*longer) <= limit).last();
        return Some(longer.unwrap_or(len));
    }
    if let Some(len) = (1..=limit).take_while(|len| frame_len(*len) <= limit).last() {
        return Some(len);
    }
    let empty = message.clone().payload(&[]).encoded_len();
    (rpc_len(topic, empty) <= limit).then_some(0)
}

/// The longest RPC that nwaku sends and takes, in bytes. Source: logos-delivery
/// `message/default_values.nim` (150 KiB), kept by nim-libp2p `pubsubpeer.nim`.
pub const MAX_RPC_LEN: usize = 153_600;

/// Frames have 32-bit offsets, and slices at most `isize::MAX` bytes.
const LONGEST_FRAME: usize = i32::MAX as usize;

static RPC: Kind<3> = Kind {
    name: "Rpc",
    context: "gossip",
    fields: [
        Field::new(
            field::SUBSCRIPTIONS,
            "gossip.subscriptions",
            Shape::Message(same!(SubscriptionView)),
        )
        .repeated(),
        Field::new(field::PUBLISH, "gossip.publish", Shape::Message(same!(PublishView))).repeated(),
        Field::new(field::CONTROL, "gossip.control", Shape::Message(same!(ControlView))),
    ],
};

static SUBSCRIPTION: Kind<4> = Kind {
    name: "SubOpts",
    context: "gossip.subscription",
    fields: [
        Field::new(field::SUBSCRIBE, "gossip.subscription.subscribe", Shape::Bool),
        Field::new(field::TOPIC_ID, "gossip.subscription.topic_id", Shape::Text).optional(),
        Field::new(field::REQUESTS_PARTIAL, "gossip.subscription.requests_partial", Shape::Bool)
            .optional(),
        Field::new(
            field::SUPPORTS_SENDING_PARTIAL,
            "gossip.subscription.supports_sending_partial",
            Shape::Bool,
        )
        .optional(),
    ],
};

static PUBLISH_KIND: Kind<6> = Kind {
    name: "Message",
    context: "gossip.publish",
    fields: [
        Field::new(field::FROM, "gossip.publish.from", Shape::Bytes).optional(),
        Field::new(field::DATA, "gossip.publish.data", Shape::Bytes),
        Field::new(field::SEQNO, "gossip.publish.seqno", Shape::Bytes).optional(),
        Field::new(field::TOPIC, "gossip.publish.topic", Shape::Text).required(),
        Field::new(field::SIGNATURE, "gossip.publish.signature", Shape::Bytes).optional(),
        Field::new(field::KEY, "gossip.publish.key", Shape::Bytes).optional(),
    ],
};

// The places of the fields in their tables.
const SUBSCRIPTIONS: usize = 0;
const PUBLISH: usize = 1;
const CONTROL: usize = 2;
const SUBSCRIBE: usize = 0;
const SUBSCRIPTION_TOPIC: usize = 1;
const REQUESTS_PARTIAL: usize = 2;
const SUPPORTS_SENDING_PARTIAL: usize = 3;
const FROM: usize = 0;
const DATA: usize = 1;
const SEQNO: usize = 2;
const TOPIC: usize = 3;
const SIGNATURE: usize = 4;
const KEY: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waku::control::{IHave, MessageIds, PeerInfo, Prune};

    #[test]
    fn an_rpc_is_counted_before_it_is_decoded() {
        let message = &b"\x0a\x01\x01\x12\x01a"[..];
        let ids = [&[7; 32][..]; 3];
        let peers = [PeerInfo { peer_id: b"p", signed_peer_record: None }; 2];
        let view = RpcBuilder::new()
            .subscriptions(&[Subscription { topic_id: "t", subscribe: true }; 4])
            .publish(&[
                Publish { topic: "t", data: message },
                Publish { topic: "tt", data: message },
            ])
            .control(
                ControlBuilder::new()
                    .ihave(&[IHave { topic_id: "t", message_ids: &ids }])
                    .iwant(&[MessageIds(&ids[..2]), MessageIds(&[])])
                    .graft(&["t"])
                    .prune(&[Prune { topic_id: "t", peers: &peers, backoff: None }])
                    .idontwant(&[MessageIds(&ids[..1])]),
            )
            .build()
            .unwrap();
        let sizes = view.sizes().unwrap();
        assert_eq!((sizes.subscriptions, sizes.messages, sizes.control_messages), (4, 2, 6));
        assert_eq!((sizes.message_bytes, sizes.largest_message), (23, 12));
        assert_eq!((sizes.message_ids, sizes.peers), (6, 2));
        let control = view.control().unwrap().unwrap();
        assert_eq!(sizes.control_bytes, control.raw().len());
        assert_eq!(RpcView::parse(&b""[..]).unwrap().sizes(), Ok(RpcSizes::default()));
    }

    #[test]
    fn a_bad_list_is_where_the_sizes_say() {
        let bad = &b"\x08\x01\x1a\x04\x0a\x02\x12\x05"[..];
        let rpc = [&b"\x12\x03\x22\x01t"[..], &bad[2..]].concat();
        let view = RpcView::parse(&rpc[..]).unwrap();
        let error = view.sizes().unwrap_err();
        assert_eq!((error.context(), error.offset()), ("control.ihave.message_ids", 11));
    }

    #[test]
    fn a_message_says_whether_it_is_anonymous() {
        let parse = |frame| PublishView::parse(frame).unwrap();
        assert!(parse(&b"\x12\x01x\x22\x01t"[..]).is_anonymous());
        for forbidden in [
            &b"\x0a\x00\x22\x01t"[..],
            b"\x1a\x00\x22\x01t",
            b"\x22\x01t\x2a\x00",
            b"\x22\x01t\x32\x00",
        ] {
            assert!(!parse(forbidden).is_anonymous());
        }
    }

    #[test]
    fn a_topic_is_needed_and_the_last_counts() {
        let error = PublishView::parse(&b"\x12\x01x"[..]).unwrap_err();
        assert_eq!(error.to_string(), "gossip.publish.topic: missing, at byte 3");
        assert_eq!(PublishView::parse(&b"\x22\x01a\x22\x01b"[..]).unwrap().topic(), Some("b"));
        // One bad message leaves the others.
        let rpc = RpcView::parse(&b"\x12\x03\x12\x01x\x12\x03\x22\x01t"[..]).unwrap();
        let messages: Vec<_> = rpc.publish().collect();
        assert_eq!(messages[0].as_ref().unwrap_err().offset(), 5);
        assert_eq!(messages[1].as_ref().unwrap().topic(), Some("t"));
    }

    #[test]
    fn the_longest_payload_of_the_nim_node() {
        let topic = "/waku/2/rs/0/0";
        let message =
            MessageBuilder::new("/waku/2/default-content/proto", &[]).timestamp(7).always_present();
        let empty = message.encoded_len();
        let longest = max_payload(topic, &message, MAX_RPC_LEN);
        assert_eq!(longest, Some(MAX_RPC_LEN - empty - 26));
        let payload = vec![0; MAX_RPC_LEN - empty - 25];
        let too_long = message.clone().payload(&payload);
        let data = too_long.to_vec();
        let rpc = RpcBuilder::new().publish(&[Publish { topic, data: &data }]).to_vec();
        assert_eq!(rpc.len(), MAX_RPC_LEN + 1);
        assert_eq!(rpc_len(topic, data.len()), rpc.len());
    }

    #[test]
    fn the_longest_payload_at_every_limit() {
        for message in [MessageBuilder::new("a", &[]), MessageBuilder::new("a", &[]).omit_empty()] {
            for limit in (0..300).chain(16_380..16_420) {
                let fits = |len: usize| {
                    let payload = vec![0; len];
                    rpc_len("t", message.clone().payload(&payload).encoded_len()) <= limit
                };
                match max_payload("t", &message, limit) {
                    Some(len) => assert!(fits(len) && !fits(len + 1), "{limit}: {len}"),
                    None => assert!(!fits(0), "{limit}"),
                }
            }
        }
        assert!(max_payload("t", &MessageBuilder::new("a", &[]), usize::MAX).is_some());
    }
}
