//! The stations of a receiving node, the same for every arm. What differs is what an arm stores and
//! what it does to get there.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, Sub};
use std::time::{Duration, Instant};

use crate::counters::Counts;
use crate::message_path::Options;
use crate::message_path::report::PathCounts;

/// A node that hands messages `R` to archive and listeners, keeps frames `C` in its message cache,
/// and pushes `P` to filter peers. Its tables have room for the whole run, so that growing them is charged to no arm.
pub(super) struct Node<R, C, P> {
    pub(super) tally: Tally,
    seen: HashSet<[u8; 32]>,
    gross_bytes: u64,
    traced: HashMap<usize, u64>,
    archive: HashMap<[u8; 32], R>,
    sync_ids: Vec<(i64, [u8; 32])>,
    events: Vec<R>,
    inbox: Vec<R>,
    applied: u64,
    cache: Vec<C>,
    outbox: Vec<P>,
    filter_peers: usize,
    has_cache: bool,
    /// Where the buffer lies that the current frame was received in.
    received: Range<usize>,
}

/// What an arm did. Arms over borrowire take these from [`counters`](crate::counters) instead of
/// counting for themselves, but for the times and sightings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) decodes: u64,
    pub(super) decoded_bytes: u64,
    pub(super) hashes: u64,
    pub(super) hashed_bytes: u64,
    pub(super) gossip_ids: u64,
    pub(super) copies: u64,
    /// Time spent in SHA-256, message hashes and gossip ids.
    pub(super) hash_time: Duration,
    /// Stations that were shown a payload outside of the receive buffer.
    pub(super) foreign_payloads: u64,
}

impl Tally {
    /// Does some hashing, on the clock.
    pub(super) fn time_hash<T>(&mut self, hash: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let hashed = hash();
        self.hash_time += start.elapsed();
        hashed
    }

    /// The counts alone.
    pub(super) fn counts(&self) -> PathCounts {
        PathCounts {
            decodes: self.decodes,
            decoded_bytes: self.decoded_bytes,
            hashes: self.hashes,
            hashed_bytes: self.hashed_bytes,
            gossip_ids: self.gossip_ids,
            payload_copies: self.copies,
            foreign_payloads: self.foreign_payloads,
        }
    }

    /// Adds what borrowire counted.
    pub(super) fn add(&mut self, counts: Counts) {
        self.decodes += counts.decodes;
        self.decoded_bytes += counts.decoded_bytes;
        self.hashes += counts.hashes;
        self.hashed_bytes += counts.hashed_bytes;
        self.gossip_ids += counts.gossip_ids;
        self.copies += counts.copies;
    }
}

impl Sub for Tally {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            decodes: self.decodes - earlier.decodes,
            decoded_bytes: self.decoded_bytes - earlier.decoded_bytes,
            hashes: self.hashes - earlier.hashes,
            hashed_bytes: self.hashed_bytes - earlier.hashed_bytes,
            gossip_ids: self.gossip_ids - earlier.gossip_ids,
            copies: self.copies - earlier.copies,
            hash_time: self.hash_time - earlier.hash_time,
            foreign_payloads: self.foreign_payloads - earlier.foreign_payloads,
        }
    }
}

impl<R, C, P> Node<R, C, P> {
    pub(super) fn new(options: &Options) -> Self {
        let messages = options.messages + options.warm_up;
        Self {
            tally: Tally::default(),
            seen: HashSet::with_capacity(messages),
            gross_bytes: 0,
            traced: HashMap::with_capacity(16),
            archive: HashMap::with_capacity(messages),
            sync_ids: Vec::with_capacity(messages),
            events: Vec::with_capacity(CHANNEL),
            inbox: Vec::with_capacity(CHANNEL),
            applied: 0,
            cache: Vec::with_capacity(if options.message_cache { messages } else { 0 }),
            outbox: Vec::with_capacity(options.filter_peers),
            filter_peers: options.filter_peers,
            has_cache: options.message_cache,
            received: 0..0,
        }
    }

    /// A frame has come in.
    pub(super) fn arrive(&mut self, frame: &[u8]) {
        let start = frame.as_ptr() as usize;
        self.received = start..start + frame.len();
    }

    /// Whether a frame with this gossip id came in before.
    pub(super) fn is_duplicate(&mut self, gossip_id: [u8; 32]) -> bool {
        !self.seen.insert(gossip_id)
    }

    /// Observer: counts what comes in, duplicates included.
    pub(super) fn observe(&mut self, frame: &[u8]) {
        self.gross_bytes += frame.len() as u64;
    }

    /// Validator: what 14/WAKU2-MESSAGE and 64/WAKU2-NETWORK ask of every message.
    pub(super) fn validate(
        &mut self,
        payload: &[u8],
        content_topic: &str,
        meta: Option<&[u8]>,
    ) -> bool {
        self.sight(payload);
        (1..=MAX_PAYLOAD).contains(&payload.len())
            && !content_topic.is_empty()
            && meta.is_none_or(|meta| meta.len() <= MAX_META)
    }

    /// Trace: sizes of payloads.
    pub(super) fn trace(&mut self, payload: &[u8]) {
        self.sight(payload);
        *self.traced.entry(payload.len() / 10_000).or_default() += 1;
    }

    /// Filter: hands one push frame to every peer.
    pub(super) fn push(&mut self, push: impl FnOnce() -> P, copy: impl Fn(&P) -> P) {
        if self.filter_peers == 0 {
            return;
        }
        let push = push();
        for _ in 1..self.filter_peers {
            self.outbox.push(copy(&push));
        }
        self.outbox.push(push);
        // The peers have read it.
        self.outbox.clear();
    }

    /// Archive: one row a message.
    pub(super) fn archive(&mut self, hash: [u8; 32], row: R) {
        let replaced = self.archive.insert(hash, row);
        assert!(replaced.is_none(), "messages of one run have keys of their own");
    }

    /// Store-sync: the set of ids, by time.
    pub(super) fn sync(&mut self, timestamp: i64, hash: [u8; 32]) {
        let id = (timestamp, hash);
        if let Err(at) = self.sync_ids.binary_search(&id) {
            self.sync_ids.insert(at, id);
        }
    }

    /// Event: tells who listens that a message was seen. The listener drains its channel when that
    /// is full.
    pub(super) fn event(&mut self, message: R) {
        self.events.push(message);
        if self.events.len() == CHANNEL {
            self.events.clear();
        }
    }

    /// Application: reads the payload, here its first bytes. It too sits behind a channel.
    pub(super) fn apply(&mut self, message: R, payload: impl Fn(&R) -> &[u8]) {
        self.sight(payload(&message));
        self.inbox.push(message);
        if self.inbox.len() == CHANNEL {
            for message in self.inbox.drain(..) {
                let start = payload(&message).iter().take(8);
                self.applied += start.map(|byte| u64::from(*byte)).sum::<u64>();
            }
        }
    }

    /// Message cache: keeps the frame for peers that ask for it. A run is shorter than its history.
    pub(super) fn cache(&mut self, frame: impl FnOnce(&mut Tally) -> C) {
        if self.has_cache {
            let frame = frame(&mut self.tally);
            self.cache.push(frame);
        }
    }

    /// A station was shown this payload: does it lie where it was received?
    pub(super) fn sight(&mut self, payload: &[u8]) {
        let start = payload.as_ptr() as usize;
        let is_inside = self.received.start <= start && start + payload.len() <= self.received.end;
        self.tally.foreign_payloads += u64::from(!is_inside);
    }
}

const MAX_PAYLOAD: usize = 153_600;
const MAX_META: usize = 64;
/// Messages that wait for a listener at most. In the original, copies waited for the collector, which
/// ran 7 to 8 times in 1,000 messages.
const CHANNEL: usize = 128;
