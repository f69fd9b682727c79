//! The figures of an arm, as CSV, as JSON, and for tables.

use std::time::Duration;

use serde_json::{Value, json};

use crate::heap::Heap;
use crate::message_path::node::Tally;
use crate::message_path::workload::PAYLOAD_PROFILE;
use crate::message_path::{Arm, Options};

/// What one arm did in one run.
#[derive(Clone, Debug)]
pub struct ArmReport {
    /// The arm.
    pub arm: Arm,
    /// What was measured.
    pub options: Options,
    /// How far the two runs differed, as a part of the faster one.
    pub difference: f64,
    /// How often the two runs were tried.
    pub attempts: usize,
    /// Decodes, hashes and the like.
    pub counts: PathCounts,
    /// Time spent in SHA-256.
    pub hash_time: Duration,
    /// Allocations and bytes allocated, receive buffers included.
    pub heap: Heap,
    /// The most bytes that the arm held at once, its receive buffers included.
    pub peak_bytes: i64,
    /// Bytes that the arm still held at the end: archive and message cache keep what they got.
    pub retained_bytes: i64,
    /// Bytes held after every 50 messages, the warm-up counted.
    pub heap_samples: Vec<i64>,
    /// How long each message took, duplicates included; in a queue, its part of the batch.
    pub latencies: Vec<Duration>,
    warm_up_left: usize,
}

/// How often an arm did the expensive things, over all messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathCounts {
    /// Frames decoded.
    pub decodes: u64,
    /// Bytes of those frames.
    pub decoded_bytes: u64,
    /// Message hashes.
    pub hashes: u64,
    /// Bytes hashed for them.
    pub hashed_bytes: u64,
    /// Gossip ids.
    pub gossip_ids: u64,
    /// Copies of a payload: by a decode, a clone or an encode.
    pub payload_copies: u64,
    /// Times that a station was shown a payload outside of the buffer that it was received in.
    pub foreign_payloads: u64,
}

impl ArmReport {
    pub(super) fn new(arm: Arm, options: &Options) -> Self {
        Self {
            arm,
            options: *options,
            difference: 0.0,
            attempts: 1,
            counts: PathCounts::default(),
            hash_time: Duration::ZERO,
            heap: Heap::default(),
            peak_bytes: 0,
            retained_bytes: 0,
            // Room for all, so that the report's own growth is charged to no arm.
            heap_samples: Vec::with_capacity((options.messages + options.warm_up) / 50 + 1),
            latencies: Vec::with_capacity(options.messages),
            warm_up_left: options.warm_up,
        }
    }

    /// Messages a second, by the time that the stations took.
    pub fn messages_per_second(&self) -> f64 {
        self.options.messages as f64 / self.wall().as_secs_f64()
    }

    /// The time that all messages took.
    pub fn wall(&self) -> Duration {
        self.latencies.iter().sum()
    }

    /// The latency that `percent` of the messages keep: `d[n × percent / 100]` of the sorted
    /// latencies, as in the original.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).copied().unwrap_or_default()
    }

    /// A count for each message.
    pub fn per_message(&self, count: u64) -> f64 {
        count as f64 / self.options.messages as f64
    }

    /// The names of [`csv_row`](Self::csv_row)'s columns: those of the original first.
    pub const CSV_HEADER: &str = "scenario,msgs,payload_profile,wall_ms,msg_per_s,\
        ns_per_msg_p50,ns_per_msg_p99,decodes_per_msg,hashes_per_msg,hashed_MB,decoded_MB,\
        occupied_mem_delta_MB,gc_collections,filter_peers,duplicates,gossip_ids_per_msg,\
        payload_copies_per_msg,foreign_payloads_per_msg,hash_ms,rest_ms,allocations_per_msg,\
        allocated_MB,peak_live_MB,retained_MB,run_difference_percent,attempts,heap_every_50_MB";

    /// The figures as one row of CSV. A MB is 1,000,000 bytes; the heap samples are separated by
    /// semicolons.
    pub fn csv_row(&self) -> String {
        let samples: Vec<_> =
            self.heap_samples.iter().map(|bytes| format!("{:.2}", mb(*bytes as f64))).collect();
        let Self { counts, options, .. } = self;
        format!(
            "{},{},{PAYLOAD_PROFILE},{:.3},{:.1},{},{},{:.3},{:.3},{:.2},{:.2},{:.2},0,\
             {},{},{:.3},{:.3},{:.3},{:.3},{:.3},{:.2},{:.2},{:.2},{:.2},{:.2},{},{}",
            self.arm.name(),
            options.messages,
            ms(self.wall()),
            self.messages_per_second(),
            self.percentile(50).as_nanos(),
            self.percentile(99).as_nanos(),
            self.per_message(counts.decodes),
            self.per_message(counts.hashes),
            mb(counts.hashed_bytes as f64),
            mb(counts.decoded_bytes as f64),
            mb(self.retained_bytes as f64),
            options.filter_peers,
            options.duplicates,
            self.per_message(counts.gossip_ids),
            self.per_message(counts.payload_copies),
            self.per_message(counts.foreign_payloads),
            ms(self.hash_time),
            ms(self.wall().saturating_sub(self.hash_time)),
            self.per_message(self.heap.allocations),
            mb(self.heap.allocated_bytes as f64),
            mb(self.peak_bytes as f64),
            mb(self.retained_bytes as f64),
            100.0 * self.difference,
            self.attempts,
            samples.join(";"),
        )
    }

    /// The figures as one JSON object.
    pub fn to_json(&self) -> Value {
        let Self { counts, options, .. } = self;
        json!({
            "arm": self.arm.name(),
            "messages": options.messages,
            "seed": options.seed,
            "gossip_id": options.gossip_id,
            "filter_peers": options.filter_peers,
            "duplicates": options.duplicates,
            "wall_ms": ms(self.wall()),
            "messages_per_second": self.messages_per_second(),
            "p50_ns": self.percentile(50).as_nanos() as u64,
            "p99_ns": self.percentile(99).as_nanos() as u64,
            "decodes_per_message": self.per_message(counts.decodes),
            "hashes_per_message": self.per_message(counts.hashes),
            "gossip_ids_per_message": self.per_message(counts.gossip_ids),
            "payload_copies_per_message": self.per_message(counts.payload_copies),
            "foreign_payloads_per_message": self.per_message(counts.foreign_payloads),
            "hashed_mb": mb(counts.hashed_bytes as f64),
            "decoded_mb": mb(counts.decoded_bytes as f64),
            "hash_ms": ms(self.hash_time),
            "rest_ms": ms(self.wall().saturating_sub(self.hash_time)),
            "allocations_per_message": self.per_message(self.heap.allocations),
            "allocated_mb": mb(self.heap.allocated_bytes as f64),
            "peak_live_mb": mb(self.peak_bytes as f64),
            "retained_mb": mb(self.retained_bytes as f64),
            "heap_every_50_mb":
                self.heap_samples.iter().map(|bytes| mb(*bytes as f64)).collect::<Vec<_>>(),
            "run_difference_percent": 100.0 * self.difference,
            "attempts": self.attempts,
        })
    }

    pub(super) fn record(&mut self, latency: Duration, messages: usize) {
        let cold = messages.min(self.warm_up_left);
        self.warm_up_left -= cold;
        self.latencies.extend(std::iter::repeat_n(latency, messages - cold));
    }

    /// Takes note of the heap, `more` bytes above where the slice began.
    pub(super) fn sample_heap(&mut self, more: i64) {
        self.heap_samples.push(self.retained_bytes + more);
    }

    pub(super) fn warmed_up(&mut self, live: i64) {
        self.retained_bytes += live;
    }

    pub(super) fn add(&mut self, tally: Tally, heap: Heap, peak: i64) {
        let (counts, more) = (&mut self.counts, tally.counts());
        counts.decodes += more.decodes;
        counts.decoded_bytes += more.decoded_bytes;
        counts.hashes += more.hashes;
        counts.hashed_bytes += more.hashed_bytes;
        counts.gossip_ids += more.gossip_ids;
        counts.payload_copies += more.payload_copies;
        counts.foreign_payloads += more.foreign_payloads;
        self.hash_time += tally.hash_time;
        self.peak_bytes = self.peak_bytes.max(self.retained_bytes + peak);
        self.retained_bytes += heap.live_bytes();
        self.heap.allocations += heap.allocations;
        self.heap.allocated_bytes += heap.allocated_bytes;
        self.heap.freed_bytes += heap.freed_bytes;
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn mb(bytes: f64) -> f64 {
    bytes / 1e6
}
