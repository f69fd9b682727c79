//! What gossipsub routers tell each other besides messages.
//!
//! ```text
//! ControlMessage  number  type         absent reads as
//! ihave                1  ControlIHave      repeated
//! iwant                2  ControlIWant      repeated
//! graft                3  ControlGraft      repeated
//! prune                4  ControlPrune      repeated
//! idontwant            5  ControlIDontWant  repeated
//!
//! ControlIHave                              ControlIWant, ControlIDontWant
//! topicID              1  string  absent    messageIDs       1  bytes  repeated
//! messageIDs           2  bytes   repeated
//!                                           ControlGraft
//! ControlPrune                              topicID          1  string absent
//! topicID              1  string  absent
//! peers                2  PeerInfo repeated PeerInfo
//! backoff              3  uint64  absent    peerID           1  bytes  absent
//!                                           signedPeerRecord 2  bytes  absent
//! ```
//!
//! A control message holds lists in lists, and peers choose their lengths. Here they are walked
//! where they lie: whoever reads them decides how many to take, and nothing is reserved.
//!
//! Source: libp2p specs, gossipsub v1.0 to v1.2.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::put::{Encode, Put, builder};

/// The numbers of the fields.
pub mod field {
    /// `repeated ControlIHave ihave`.
    pub const IHAVE: u32 = 1;
    /// `repeated ControlIWant iwant`.
    pub const IWANT: u32 = 2;
    /// `repeated ControlGraft graft`.
    pub const GRAFT: u32 = 3;
    /// `repeated ControlPrune prune`.
    pub const PRUNE: u32 = 4;
    /// `repeated ControlIDontWant idontwant`.
    pub const IDONTWANT: u32 = 5;
    /// `string topicID`, of ihave, graft and prune.
    pub const TOPIC_ID: u32 = 1;
    /// `repeated bytes messageIDs`, of ihave.
    pub const IHAVE_MESSAGE_IDS: u32 = 2;
    /// `repeated bytes messageIDs`, of iwant and idontwant.
    pub const MESSAGE_IDS: u32 = 1;
    /// `repeated PeerInfo peers`, of prune.
    pub const PEERS: u32 = 2;
    /// `uint64 backoff`, of prune.
    pub const BACKOFF: u32 = 3;
    /// `bytes peerID`, of a peer.
    pub const PEER_ID: u32 = 1;
    /// `bytes signedPeerRecord`, of a peer.
    pub const SIGNED_PEER_RECORD: u32 = 2;
}

view! {
    /// A ControlMessage read where it lies.
    ///
    /// ```
    /// use borrowire::waku::control::ControlView;
    ///
    /// let control = ControlView::parse(&b"\x0a\x07\x0a\x01t\x12\x02id\x1a\x03\x0a\x01t"[..])?;
    /// for ihave in control.ihave() {
    ///     let ihave = ihave?;
    ///     assert_eq!(ihave.topic_id(), Some("t"));
    ///     assert!(ihave.message_ids().eq([b"id"]));
    /// }
    /// assert_eq!(control.graft().len(), 1);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    ControlView, CONTROL, 5
}

impl<B: Buffer> ControlView<B> {
    /// The ids that the peer has, by topic.
    pub fn ihave(&self) -> impl ExactSizeIterator<Item = Result<IHaveView<B>, Error>> + Clone {
        self.record.repeated_messages(&CONTROL, IHAVE, IHaveView::parse_with)
    }

    /// The ids of messages that the peer asks for.
    pub fn iwant(&self) -> impl ExactSizeIterator<Item = Result<MessageIdsView<B>, Error>> + Clone {
        self.record.repeated_messages(&CONTROL, IWANT, MessageIdsView::parse_with)
    }

    /// The topics in whose mesh the peer takes this node.
    pub fn graft(&self) -> impl ExactSizeIterator<Item = Result<GraftView<B>, Error>> + Clone {
        self.record.repeated_messages(&CONTROL, GRAFT, GraftView::parse_with)
    }

    /// The topics from whose mesh the peer drops this node.
    pub fn prune(&self) -> impl ExactSizeIterator<Item = Result<PruneView<B>, Error>> + Clone {
        self.record.repeated_messages(&CONTROL, PRUNE, PruneView::parse_with)
    }

    /// The ids of messages that the peer does not want to be sent.
    pub fn idontwant(
        &self,
    ) -> impl ExactSizeIterator<Item = Result<MessageIdsView<B>, Error>> + Clone {
        self.record.repeated_messages(&CONTROL, IDONTWANT, MessageIdsView::parse_with)
    }
}

impl<B: Buffer> fmt::Display for ControlView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "control of {} ihave, {} iwant, {} graft, {} prune, {} idontwant",
            self.record.count(IHAVE),
            self.record.count(IWANT),
            self.record.count(GRAFT),
            self.record.count(PRUNE),
            self.record.count(IDONTWANT),
        )
    }
}

view! {
    /// A ControlIHave: message ids that a peer has on a topic.
    IHaveView, IHAVE_KIND, 2
}

impl<B: Buffer> IHaveView<B> {
    /// The topic. `None` if absent, or not UTF-8.
    pub fn topic_id(&self) -> Option<&str> {
        self.record.optional_text(TOPIC_ID)
    }

    /// The topic's bytes, UTF-8 or not; `None` if absent.
    pub fn topic_id_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(TOPIC_ID)
    }

    /// The message ids, of any length: on Waku 32 bytes, the gossip id.
    pub fn message_ids(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.record.repeated_bytes(&IHAVE_KIND, IHAVE_MESSAGE_IDS)
    }
}

impl<B: Buffer> fmt::Display for IHaveView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ihave of {} ids", self.record.count(IHAVE_MESSAGE_IDS))
    }
}

view! {
    /// A ControlIWant or a ControlIDontWant, which are alike on the wire: message ids.
    MessageIdsView, MESSAGE_IDS_KIND, 1
}

impl<B: Buffer> MessageIdsView<B> {
    /// The message ids, of any length: on Waku 32 bytes, the gossip id.
    pub fn message_ids(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.record.repeated_bytes(&MESSAGE_IDS_KIND, MESSAGE_IDS)
    }
}

impl<B: Buffer> fmt::Display for MessageIdsView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} message ids", self.record.count(MESSAGE_IDS))
    }
}

view! {
    /// A ControlGraft: a peer takes this node into the mesh of a topic.
    GraftView, GRAFT_KIND, 1
}

impl<B: Buffer> GraftView<B> {
    /// The topic. `None` if absent, or not UTF-8.
    pub fn topic_id(&self) -> Option<&str> {
        self.record.optional_text(TOPIC_ID)
    }

    /// The topic's bytes, UTF-8 or not; `None` if absent.
    pub fn topic_id_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(TOPIC_ID)
    }
}

impl<B: Buffer> fmt::Display for GraftView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graft on {}", self.topic_id_bytes().unwrap_or_default().escape_ascii())
    }
}

view! {
    /// A ControlPrune: a peer drops this node from the mesh of a topic.
    PruneView, PRUNE_KIND, 3
}

impl<B: Buffer> PruneView<B> {
    /// The topic. `None` if absent, or not UTF-8.
    pub fn topic_id(&self) -> Option<&str> {
        self.record.optional_text(TOPIC_ID)
    }

    /// The topic's bytes, UTF-8 or not; `None` if absent.
    pub fn topic_id_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(TOPIC_ID)
    }

    /// Other peers of the topic to try instead.
    pub fn peers(&self) -> impl ExactSizeIterator<Item = Result<PeerInfoView<B>, Error>> + Clone {
        self.record.repeated_messages(&PRUNE_KIND, PEERS, PeerInfoView::parse_with)
    }

    /// Seconds to wait before the next graft; `None` if absent.
    pub fn backoff(&self) -> Option<u64> {
        self.record.optional_uint(BACKOFF)
    }
}

impl<B: Buffer> fmt::Display for PruneView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prune on {}", self.topic_id_bytes().unwrap_or_default().escape_ascii())
    }
}

view! {
    /// A peer that a prune names.
    PeerInfoView, PEER_INFO, 2
}

impl<B: Buffer> PeerInfoView<B> {
    /// The peer id, not interpreted; `None` if absent.
    pub fn peer_id(&self) -> Option<&[u8]> {
        self.record.optional_bytes(PEER_ID)
    }

    /// The signed record of its addresses, not interpreted; `None` if absent.
    pub fn signed_peer_record(&self) -> Option<&[u8]> {
        self.record.optional_bytes(SIGNED_PEER_RECORD)
    }
}

impl<B: Buffer> fmt::Display for PeerInfoView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", crate::hex::Hex(self.peer_id().unwrap_or_default()))
    }
}

/// Writes a ControlMessage from the lists that it is given; see
/// [`RpcBuilder`](crate::waku::gossip::RpcBuilder).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct ControlBuilder<'a> {
    ihave: &'a [IHave<'a>],
    iwant: &'a [MessageIds<'a>],
    graft: &'a [&'a str],
    prune: &'a [Prune<'a>],
    idontwant: &'a [MessageIds<'a>],
}

impl<'a> ControlBuilder<'a> {
    /// A control message that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the ids that this node has, by topic.
    pub const fn ihave(mut self, ihave: &'a [IHave<'a>]) -> Self {
        self.ihave = ihave;
        self
    }

    /// Sets the ids that this node asks for.
    pub const fn iwant(mut self, iwant: &'a [MessageIds<'a>]) -> Self {
        self.iwant = iwant;
        self
    }

    /// Sets the topics in whose mesh the peer is taken.
    pub const fn graft(mut self, topic_ids: &'a [&'a str]) -> Self {
        self.graft = topic_ids;
        self
    }

    /// Sets the topics from whose mesh the peer is dropped.
    pub const fn prune(mut self, prune: &'a [Prune<'a>]) -> Self {
        self.prune = prune;
        self
    }

    /// Sets the ids that this node does not want to be sent.
    pub const fn idontwant(mut self, idontwant: &'a [MessageIds<'a>]) -> Self {
        self.idontwant = idontwant;
        self
    }
}

impl Encode for ControlBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        self.ihave.iter().for_each(|ihave| out.message(field::IHAVE, ihave));
        self.iwant.iter().for_each(|iwant| out.message(field::IWANT, iwant));
        self.graft.iter().for_each(|topic_id| out.message(field::GRAFT, &Graft { topic_id }));
        self.prune.iter().for_each(|prune| out.message(field::PRUNE, prune));
        self.idontwant.iter().for_each(|idontwant| out.message(field::IDONTWANT, idontwant));
    }
}

builder!(ControlBuilder, ControlView);

/// Message ids on a topic, to be written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct IHave<'a> {
    /// The topic.
    pub topic_id: &'a str,
    /// The ids.
    pub message_ids: &'a [&'a [u8]],
}

impl Encode for IHave<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::TOPIC_ID, self.topic_id.as_bytes());
        self.message_ids.iter().for_each(|id| out.bytes(field::IHAVE_MESSAGE_IDS, id));
    }
}

/// Message ids, to be written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct MessageIds<'a>(pub &'a [&'a [u8]]);

impl Encode for MessageIds<'_> {
    fn put(&self, out: &mut impl Put) {
        self.0.iter().for_each(|id| out.bytes(field::MESSAGE_IDS, id));
    }
}

/// A prune, to be written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Prune<'a> {
    /// The topic.
    pub topic_id: &'a str,
    /// Peers to try instead.
    pub peers: &'a [PeerInfo<'a>],
    /// Seconds to wait before the next graft.
    pub backoff: Option<u64>,
}

impl Encode for Prune<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::TOPIC_ID, self.topic_id.as_bytes());
        self.peers.iter().for_each(|peer| out.message(field::PEERS, peer));
        if let Some(backoff) = self.backoff {
            out.uint(field::BACKOFF, backoff);
        }
    }
}

/// A peer, to be written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct PeerInfo<'a> {
    /// The peer id.
    pub peer_id: &'a [u8],
    /// The signed record of its addresses.
    pub signed_peer_record: Option<&'a [u8]>,
}

impl Encode for PeerInfo<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::PEER_ID, self.peer_id);
        if let Some(record) = self.signed_peer_record {
            out.bytes(field::SIGNED_PEER_RECORD, record);
        }
    }
}

struct Graft<'a> {
    topic_id: &'a str,
}

impl Encode for Graft<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::TOPIC_ID, self.topic_id.as_bytes());
    }
}

static CONTROL: Kind<5> = Kind {
    name: "ControlMessage",
    context: "gossip.control",
    fields: [
        Field::new(field::IHAVE, "control.ihave", Shape::Message(same!(IHaveView))).repeated(),
        Field::new(field::IWANT, "control.iwant", Shape::Message(same!(MessageIdsView))).repeated(),
        Field::new(field::GRAFT, "control.graft", Shape::Message(same!(GraftView))).repeated(),
        Field::new(field::PRUNE, "control.prune", Shape::Message(same!(PruneView))).repeated(),
        Field::new(field::IDONTWANT, "control.idontwant", Shape::Message(same!(MessageIdsView)))
            .repeated(),
    ],
};

static IHAVE_KIND: Kind<2> = Kind {
    name: "ControlIHave",
    context: "control.ihave",
    fields: [
        Field::new(field::TOPIC_ID, "control.ihave.topic_id", Shape::Text).optional(),
        Field::new(field::IHAVE_MESSAGE_IDS, "control.ihave.message_ids", Shape::Bytes).repeated(),
    ],
};

static MESSAGE_IDS_KIND: Kind<1> = Kind {
    name: "MessageIds",
    context: "control.message_ids",
    fields: [Field::new(field::MESSAGE_IDS, "control.message_ids", Shape::Bytes).repeated()],
};

static GRAFT_KIND: Kind<1> = Kind {
    name: "ControlGraft",
    context: "control.graft",
    fields: [Field::new(field::TOPIC_ID, "control.graft.topic_id", Shape::Text).optional()],
};

static PRUNE_KIND: Kind<3> = Kind {
    name: "ControlPrune",
    context: "control.prune",
    fields: [
        Field::new(field::TOPIC_ID, "control.prune.topic_id", Shape::Text).optional(),
        Field::new(field::PEERS, "control.prune.peers", Shape::Message(same!(PeerInfoView)))
            .repeated(),
        Field::new(field::BACKOFF, "control.prune.backoff", Shape::Uint64).optional(),
    ],
};

static PEER_INFO: Kind<2> = Kind {
    name: "PeerInfo",
    context: "control.peer",
    fields: [
        Field::new(field::PEER_ID, "control.peer.peer_id", Shape::Bytes).optional(),
        Field::new(field::SIGNED_PEER_RECORD, "control.peer.signed_peer_record", Shape::Bytes)
            .optional(),
    ],
};

// The places of the fields in their tables.
const IHAVE: usize = 0;
const IWANT: usize = 1;
const GRAFT: usize = 2;
const PRUNE: usize = 3;
const IDONTWANT: usize = 4;
const TOPIC_ID: usize = 0;
const IHAVE_MESSAGE_IDS: usize = 1;
const MESSAGE_IDS: usize = 0;
const PEERS: usize = 1;
const BACKOFF: usize = 2;
const PEER_ID: usize = 0;
const SIGNED_PEER_RECORD: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ids = [&b"one"[..], b"two"];
        let peers = [PeerInfo { peer_id: b"p", signed_peer_record: Some(b"record") }];
        let view = ControlBuilder::new()
            .ihave(&[IHave { topic_id: "t", message_ids: &ids }])
            .iwant(&[MessageIds(&ids), MessageIds(&[])])
            .graft(&["a", "b"])
            .prune(&[Prune { topic_id: "c", peers: &peers, backoff: Some(60) }])
            .idontwant(&[MessageIds(&ids[..1])])
            .build()
            .unwrap();
        let ihave = view.ihave().next().unwrap().unwrap();
        assert_eq!(ihave.topic_id(), Some("t"));
        assert!(ihave.message_ids().eq(ids));
        let iwant: Vec<_> = view.iwant().map(|iwant| iwant.unwrap().message_ids().len()).collect();
        assert_eq!(iwant, [2, 0]);
        let graft: Vec<_> = view.graft().map(Result::unwrap).collect();
        assert_eq!(graft[1].topic_id(), Some("b"));
        let prune = view.prune().next().unwrap().unwrap();
        assert_eq!((prune.topic_id(), prune.backoff()), (Some("c"), Some(60)));
        let peer = prune.peers().next().unwrap().unwrap();
        assert_eq!(
            (peer.peer_id(), peer.signed_peer_record()),
            (Some(&b"p"[..]), Some(&b"record"[..]))
        );
        assert_eq!(view.idontwant().len(), 1);
        assert_eq!(view.to_string(), "control of 1 ihave, 2 iwant, 2 graft, 1 prune, 1 idontwant");
    }

    #[test]
    fn one_bad_list_leaves_the_others() {
        // A graft whose topic runs past its end, between two that are good.
        let frame = &b"\x1a\x03\x0a\x01a\x1a\x03\x0a\x02b\x1a\x03\x0a\x01c"[..];
        let view = ControlView::parse(frame).unwrap();
        let graft: Vec<_> = view.graft().collect();
        assert_eq!(graft.len(), 3);
        let error = graft[1].as_ref().unwrap_err();
        assert_eq!((error.context(), error.offset()), ("control.graft.topic_id", 9));
        assert_eq!(graft[2].as_ref().unwrap().topic_id(), Some("c"));
    }
}
