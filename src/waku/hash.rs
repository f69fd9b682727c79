//! The two identities of a message: its hash, which every node computes alike, and its gossip id,
//! which depends on how it was encoded. Do not mix them.

use std::fmt;
use std::str::FromStr;

use crate::buffer::Buffer;
use crate::counters;
use crate::error::Error;
use crate::hex::{self, Case, Hex};
use crate::sha256::{self, Part};
use crate::waku::message::MessageView;

/// The deterministic message hash of `message` on `pubsub_topic`.
///
/// ```text
/// SHA-256(pubsub topic ‖ payload ‖ content topic ‖ meta ‖ timestamp)
/// ```
///
/// The timestamp is eight bytes, big-endian two's complement; `version`, `ephemeral` and
/// `rate_limit_proof` are not hashed. The slices are hashed where they lie. There are no lengths
/// between them: bytes that move from one field to its neighbour leave the hash as it was, so the
/// hash does not prove where fields end.
///
/// Source: 14/WAKU2-MESSAGE, "Deterministic message hashing", and for the timestamp the
/// implementations; see [`HashRule`].
///
/// ```
/// use borrowire::waku::{HashRule, MessageView, message_hash};
///
/// let message = MessageView::parse(&b"\x0a\x01\x01\x12\x01a\x50\x02"[..])?;
/// let hash = message_hash("t", &message, HashRule::ZeroTimestamp);
/// assert!(hash.to_string().starts_with("92370dad4ca4c6ee"));
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn message_hash<B: Buffer>(
    pubsub_topic: &str,
    message: &MessageView<B>,
    rule: HashRule,
) -> MessageHash {
    let parts = hash_parts(pubsub_topic, message, rule);
    MessageHash(sha256::digest(&parts.each_ref().map(Part::as_ref)))
}

/// The gossipsub message id of `frame`, the bytes of a WakuMessage as they were received.
///
/// Source: 11/WAKU2-RELAY, "Message identification".
///
/// ```
/// let id = borrowire::waku::gossip_id(b"Hello, world!");
/// assert!(id.to_string().starts_with("315f5bdb76d078c4"));
/// ```
pub fn gossip_id(frame: &[u8]) -> GossipId {
    counters::gossip_id(frame.len());
    GossipId(sha256::digest(&[frame]))
}

/// The gossipsub message ids of many frames, two at a time; see [`digest_many`](sha256::digest_many).
/// `deliver` gets each id with the number of its frame, not always in order.
///
/// ```
/// use borrowire::waku::{gossip_id, gossip_ids};
///
/// let frames = [&b"Hello, world!"[..], b""];
/// gossip_ids(frames, |i, id| assert_eq!(id, gossip_id(frames[i])));
/// ```
pub fn gossip_ids<'a>(
    frames: impl IntoIterator<Item = &'a [u8]>,
    mut deliver: impl FnMut(usize, GossipId),
) {
    let messages = frames.into_iter().map(|frame| {
        counters::gossip_id(frame.len());
        [frame]
    });
    sha256::digest_many(messages, |i, digest| deliver(i, GossipId(digest)));
}

/// What is hashed for the message hash, in order; counts as one hash.
pub(crate) fn hash_parts<'a, B: Buffer>(
    pubsub_topic: &'a str,
    message: &'a MessageView<B>,
    rule: HashRule,
) -> [Part<'a>; 5] {
    let timestamp = match (rule, message.timestamp()) {
        (HashRule::OmitZero, 0) => Part::Slice(&[]),
        (_, timestamp) => Part::Word(timestamp.to_be_bytes()),
    };
    let parts = [
        Part::Slice(pubsub_topic.as_bytes()),
        Part::Slice(message.payload()),
        Part::Slice(message.content_topic_bytes()),
        Part::Slice(message.meta()),
        timestamp,
    ];
    counters::hash(parts.iter().map(|part| part.as_ref().len()).sum());
    parts
}

/// How a timestamp of zero, or none, enters the message hash. Deployed nodes disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HashRule {
    /// Eight zero bytes, as nwaku and go-waku hash it. Source: logos-delivery
    /// `waku_core/message/digest.nim`, go-waku `pb/utils.go`.
    #[default]
    ZeroTimestamp,
    /// No bytes, as js-waku hashes it. Source: js-waku `message_hash.ts`.
    OmitZero,
}

macro_rules! digest_type {
    ($(#[$doc:meta])* $name:ident, $context:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 32]);

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Reads 64 hex digits of either case.
            fn from_str(hex: &str) -> Result<Self, Error> {
                let mut bytes = [0; 32];
                hex::decode(hex.as_bytes(), &mut bytes, Case::Any, $context)?;
                Ok(Self(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Hex(&self.0).fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

digest_type! {
    /// The deterministic message hash: 32 bytes, the same wherever and however the message was
    /// encoded. Printed as 64 lowercase hex digits.
    MessageHash, "waku.message_hash"
}

digest_type! {
    /// The gossipsub message id: 32 bytes, the SHA-256 of the frame. Printed as 64 lowercase hex
    /// digits.
    GossipId, "waku.gossip_id"
}
