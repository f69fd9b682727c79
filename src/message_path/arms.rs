//! The arms: the same work at the same stations, by different means.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use sha2::{Digest, Sha256};

use crate::buffer::Text;
use crate::counters;
use crate::envelope::Envelope;
use crate::message_path::Options;
use crate::message_path::node::{Node, Tally};
use crate::message_path::report::PathCounts;
use crate::message_path::rivals::{BytesMessage, VecMessage};
use crate::message_path::workload::PUBSUB_TOPIC;
use crate::proto;
use crate::sha256;
use crate::splice::Splice;
use crate::waku::filter::{field, push};
use crate::waku::{GossipId, MessageView, gossip_ids};

/// One way of handling received messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arm {
    /// One SHA-256 of each frame and nothing else: what no arm with one lane can be faster than.
    Sha256Only,
    /// As the Nim node did: 4 decodes with prost into `Vec`, 7 clones, 3 hashes, a copy of the
    /// frame for the message cache, a copy of the push frame for each peer; and with gossip ids two
    /// of them and a decode for every frame, duplicates included.
    Owned,
    /// The fair rival: prost over `Bytes`, decoded once, hashed once, shared in an `Arc`.
    ProstBytes,
    /// borrowire, each message as it comes.
    Borrowire,
    /// borrowire, this many waiting messages at a time, hashed in two lanes.
    Queue(usize),
}

impl Arm {
    /// The arms of the report, in its order.
    pub const ALL: [Self; 6] = [
        Self::Sha256Only,
        Self::Owned,
        Self::ProstBytes,
        Self::Borrowire,
        Self::Queue(4),
        Self::Queue(16),
    ];

    /// The arm's name in tables, CSV and JSON.
    pub fn name(self) -> String {
        match self {
            Self::Sha256Only => "sha256-only".to_owned(),
            Self::Owned => "owned".to_owned(),
            Self::ProstBytes => "prost-bytes".to_owned(),
            Self::Borrowire => "borrowire".to_owned(),
            Self::Queue(len) => format!("borrowire-queue-{len}"),
        }
    }

    /// How many frames the arm takes at a time.
    pub(super) fn batch(self) -> usize {
        match self {
            Self::Queue(len) => len.max(1),
            _ => 1,
        }
    }

    pub(super) fn start(self, options: &Options) -> Box<dyn Receiver> {
        let options = *options;
        match self {
            Self::Sha256Only => Box::new(Sha256Only(Tally::default())),
            Self::Owned => Box::new(Owned { node: Node::new(&options), options }),
            Self::ProstBytes => Box::new(ProstBytes { node: Node::new(&options), options }),
            Self::Borrowire | Self::Queue(_) => Box::new(Borrowire::new(options)),
        }
    }
}

/// A node of one arm that gets its frames from elsewhere, one at a time: from a gossip library, which
/// identifies and deduplicates them and has a message cache.
///
/// ```
/// use borrowire::message_path::workload::Workload;
/// use borrowire::message_path::{Arm, ArmNode, Options};
/// use borrowire::waku::gossip_id;
///
/// let frame = Workload::new(1, 42, 0).frame(0);
/// let id = gossip_id(&frame);
/// let mut node = ArmNode::new(Arm::Borrowire, &Options::default());
/// assert!(node.receive(frame, id));
/// let counts = node.counts();
/// assert_eq!((counts.decodes, counts.hashes, counts.gossip_ids), (1, 1, 0));
/// assert_eq!((counts.payload_copies, counts.foreign_payloads), (0, 0));
/// ```
pub struct ArmNode(Box<dyn Receiver>);

impl ArmNode {
    /// A node without a message cache of its own.
    pub fn new(arm: Arm, options: &Options) -> Self {
        Self(arm.start(&Options { gossip_id: false, message_cache: false, ..*options }))
    }

    /// Handles a frame. False if the validator refuses it.
    pub fn receive(&mut self, frame: Bytes, id: GossipId) -> bool {
        self.0.receive_identified(frame, id)
    }

    /// What the node did so far. Gossip ids are the library's and not among it.
    pub fn counts(&self) -> PathCounts {
        self.0.tally().counts()
    }

    /// Time spent on message hashes so far.
    pub fn hash_time(&self) -> Duration {
        self.0.tally().hash_time
    }
}

/// An arm at work.
pub(super) trait Receiver {
    /// Handles frames that wait; leaves the queue empty.
    fn receive(&mut self, frames: &mut Vec<Bytes>);

    /// Handles a frame that was identified and deduplicated before; false if it is refused.
    fn receive_identified(&mut self, frame: Bytes, id: GossipId) -> bool;

    fn tally(&self) -> &Tally;
}

struct Sha256Only(Tally);

impl Receiver for Sha256Only {
    fn receive(&mut self, frames: &mut Vec<Bytes>) {
        for frame in frames.drain(..) {
            self.0.hashes += 1;
            self.0.hashed_bytes += frame.len() as u64;
            black_box(self.0.time_hash(|| sha256::digest(&[&frame])));
        }
    }

    fn receive_identified(&mut self, frame: Bytes, _: GossipId) -> bool {
        self.receive(&mut vec![frame]);
        true
    }

    fn tally(&self) -> &Tally {
        &self.0
    }
}

/// A message as a closure of the Nim node captures it.
#[derive(Clone)]
struct OwnedMessage {
    pubsub_topic: String,
    message: VecMessage,
}

struct Owned {
    node: Node<OwnedMessage, Vec<u8>, Vec<u8>>,
    options: Options,
}

impl Owned {
    fn receive_one(&mut self, frame: &Bytes) -> bool {
        self.node.arrive(frame);
        black_box(self.decode(frame));
        self.node.observe(frame);
        if self.options.gossip_id {
            black_box(hash_frame(&mut self.node.tally, frame));
            let id = hash_frame(&mut self.node.tally, frame);
            if self.node.is_duplicate(id) {
                return false;
            }
        }
        let VecMessage { payload, content_topic, meta, .. } = self.decode(frame);
        if !self.node.validate(&payload, &content_topic, meta.as_deref()) {
            return false;
        }
        self.node.cache(|tally| {
            tally.copies += 1;
            frame.to_vec()
        });
        let validated = self.decode(frame);
        black_box(self.hash(&validated));

        let message = self.decode(frame);
        let received = OwnedMessage { pubsub_topic: PUBSUB_TOPIC.to_owned(), message };
        let handled = self.clone_message(&received);
        let traced = self.clone_message(&handled);
        self.node.trace(&traced.message.payload);
        let filtered = self.clone_message(&handled);
        self.node.sight(&filtered.message.payload);
        self.node.tally.copies += self.options.filter_peers as u64;
        self.node.push(|| encode_push(&filtered), Vec::clone);
        let archived = self.clone_message(&handled);
        let hash = self.hash(&archived.message);
        self.node.sight(&archived.message.payload);
        self.node.archive(hash, archived);
        let synced = self.clone_message(&handled);
        let hash = self.hash(&synced.message);
        self.node.sync(synced.message.timestamp(), hash);
        let told = self.clone_message(&handled);
        self.node.sight(&told.message.payload);
        self.node.event(told);
        let applied = self.clone_message(&handled);
        self.node.apply(applied, |applied| &applied.message.payload);
        true
    }

    fn decode(&mut self, frame: &[u8]) -> VecMessage {
        let tally = &mut self.node.tally;
        tally.decodes += 1;
        tally.decoded_bytes += frame.len() as u64;
        // From a slice, prost 0.14 copies into a `Bytes` first and from there into the `Vec`.
        tally.copies += 2;
        VecMessage::decode(frame).expect("a message of the workload")
    }

    fn clone_message(&mut self, message: &OwnedMessage) -> OwnedMessage {
        self.node.tally.copies += 1;
        message.clone()
    }

    fn hash(&mut self, message: &VecMessage) -> [u8; 32] {
        let VecMessage { payload, content_topic, meta, .. } = message;
        let meta = meta.as_deref().unwrap_or_default();
        hash_fields(&mut self.node.tally, payload, content_topic, meta, message.timestamp())
    }
}

impl Receiver for Owned {
    fn receive(&mut self, frames: &mut Vec<Bytes>) {
        for frame in frames.drain(..) {
            self.receive_one(&frame);
        }
    }

    fn receive_identified(&mut self, frame: Bytes, _: GossipId) -> bool {
        self.receive_one(&frame)
    }

    fn tally(&self) -> &Tally {
        &self.node.tally
    }
}

fn encode_push(OwnedMessage { pubsub_topic, message }: &OwnedMessage) -> Vec<u8> {
    let mut push = Vec::new();
    proto::put_len(&mut push, field::PUSH_WAKU_MESSAGE, &message.encode_to_vec());
    proto::put_len(&mut push, field::PUSH_PUBSUB_TOPIC, pubsub_topic.as_bytes());
    push
}

/// What the fair rival shares: everything once.
struct SharedMessage {
    message: BytesMessage,
    hash: [u8; 32],
}

struct ProstBytes {
    node: Node<Arc<SharedMessage>, Bytes, Bytes>,
    options: Options,
}

impl ProstBytes {
    fn receive_one(&mut self, frame: Bytes) -> bool {
        self.node.arrive(&frame);
        self.node.observe(&frame);
        if self.options.gossip_id {
            let id = hash_frame(&mut self.node.tally, &frame);
            if self.node.is_duplicate(id) {
                return false;
            }
        }
        let tally = &mut self.node.tally;
        tally.decodes += 1;
        tally.decoded_bytes += frame.len() as u64;
        let message = BytesMessage::decode(frame.clone()).expect("a message of the workload");
        let BytesMessage { payload, content_topic, meta, .. } = &message;
        if !self.node.validate(payload, content_topic, meta.as_deref()) {
            return false;
        }
        self.node.cache(|_| frame.clone());
        let meta = meta.as_deref().unwrap_or_default();
        let timestamp = message.timestamp();
        let hash = hash_fields(&mut self.node.tally, payload, content_topic, meta, timestamp);
        let shared = Arc::new(SharedMessage { message, hash });
        let payload = &shared.message.payload;
        self.node.trace(payload);
        self.node.sight(payload);
        self.node.tally.copies += u64::from(self.options.filter_peers > 0);
        self.node.push(
            || {
                let mut push = Vec::with_capacity(frame.len() + 64);
                proto::put_len(&mut push, field::PUSH_WAKU_MESSAGE, &frame);
                proto::put_len(&mut push, field::PUSH_PUBSUB_TOPIC, PUBSUB_TOPIC.as_bytes());
                push.into()
            },
            Bytes::clone,
        );
        self.node.sight(payload);
        self.node.archive(shared.hash, Arc::clone(&shared));
        self.node.sync(timestamp, shared.hash);
        self.node.sight(payload);
        self.node.event(Arc::clone(&shared));
        self.node.apply(shared, |shared| &shared.message.payload);
        true
    }
}

impl Receiver for ProstBytes {
    fn receive(&mut self, frames: &mut Vec<Bytes>) {
        for frame in frames.drain(..) {
            self.receive_one(frame);
        }
    }

    fn receive_identified(&mut self, frame: Bytes, _: GossipId) -> bool {
        self.receive_one(frame)
    }

    fn tally(&self) -> &Tally {
        &self.node.tally
    }
}

/// borrowire, with frames alone or in a queue.
struct Borrowire {
    node: Node<Arc<Envelope>, Bytes, Splice>,
    options: Options,
    pubsub_topic: Text,
    /// Messages of the queue that passed the validator.
    waiting: Vec<Arc<Envelope>>,
}

impl Borrowire {
    fn new(options: Options) -> Self {
        Self {
            node: Node::new(&options),
            options,
            pubsub_topic: Text::from_static(PUBSUB_TOPIC),
            waiting: Vec::new(),
        }
    }

    /// Observer, dedupe, decode, validator.
    fn accept(&mut self, frame: Bytes, id: Option<GossipId>) -> Option<Arc<Envelope>> {
        self.node.arrive(&frame);
        self.node.observe(&frame);
        if id.is_some_and(|id| self.node.is_duplicate(id.0)) {
            return None;
        }
        let message = MessageView::parse(frame).expect("a message of the workload");
        let topic = message.content_topic().unwrap_or_default();
        if !self.node.validate(message.payload(), topic, Some(message.meta())) {
            return None;
        }
        let envelope = Envelope::new(self.pubsub_topic.clone(), message);
        Some(Arc::new(match id {
            Some(id) => envelope.with_gossip_id(id),
            None => envelope,
        }))
    }

    /// All stations after the validator.
    fn handle(&mut self, envelope: Arc<Envelope>) {
        let message = envelope.message();
        let payload = message.payload();
        self.node.arrive(message.raw());
        self.node.cache(|_| message.buffer().clone());
        let hash = self.node.tally.time_hash(|| envelope.hash().0);
        self.node.trace(payload);
        self.node.sight(payload);
        self.node.push(|| push(PUBSUB_TOPIC, message), Splice::clone);
        self.node.sight(payload);
        self.node.archive(hash, Arc::clone(&envelope));
        self.node.sync(message.timestamp(), hash);
        self.node.sight(payload);
        self.node.event(Arc::clone(&envelope));
        self.node.apply(envelope, |envelope| envelope.message().payload());
    }
}

impl Receiver for Borrowire {
    fn receive(&mut self, frames: &mut Vec<Bytes>) {
        let before = counters::thread();
        let mut ids = vec![None; frames.len()];
        if self.options.gossip_id {
            let frames = frames.iter().map(|frame| &frame[..]);
            self.node.tally.time_hash(|| gossip_ids(frames, |i, id| ids[i] = Some(id)));
        }
        for (frame, id) in frames.drain(..).zip(ids) {
            if let Some(envelope) = self.accept(frame, id) {
                self.waiting.push(envelope);
            }
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        self.node.tally.time_hash(|| Envelope::hash_all(&waiting));
        waiting.drain(..).for_each(|envelope| self.handle(envelope));
        self.waiting = waiting;
        self.node.tally.add(counters::thread() - before);
    }

    fn receive_identified(&mut self, frame: Bytes, id: GossipId) -> bool {
        let before = counters::thread();
        let accepted = self.accept(frame, Some(id));
        let is_accepted = accepted.is_some();
        accepted.into_iter().for_each(|envelope| self.handle(envelope));
        self.node.tally.add(counters::thread() - before);
        is_accepted
    }

    fn tally(&self) -> &Tally {
        &self.node.tally
    }
}

/// The gossip id of a frame by the rivals' means.
fn hash_frame(tally: &mut Tally, frame: &[u8]) -> [u8; 32] {
    tally.gossip_ids += 1;
    tally.time_hash(|| Sha256::digest(frame).into())
}

/// The message hash by the rivals' means; nothing is concatenated.
fn hash_fields(
    tally: &mut Tally,
    payload: &[u8],
    content_topic: &str,
    meta: &[u8],
    timestamp: i64,
) -> [u8; 32] {
    let timestamp = timestamp.to_be_bytes();
    let parts = [PUBSUB_TOPIC.as_bytes(), payload, content_topic.as_bytes(), meta, &timestamp];
    tally.hashes += 1;
    tally.hashed_bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>();
    tally.time_hash(|| {
        let mut hasher = Sha256::new();
        parts.iter().for_each(|part| hasher.update(part));
        hasher.finalize().into()
    })
}
