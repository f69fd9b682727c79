//! How often the expensive things happened: decodes, hashes, payload copies.
//!
//! The promises of this crate (one decode, one hash, no copy) are tested with these counts. They
//! are kept only with the feature `counters`; without it the functions that count are empty.
//!
//! Counts are kept per thread, and summed for the process. A test takes the difference of
//! `thread()` before and after, so that it stays exact while other tests run beside it; work that
//! spans threads is the sum of each thread's difference.

#[cfg(feature = "counters")]
pub use enabled::{Counts, process, thread};

/// Counts one decoded frame of `len` bytes, whether it was accepted or not.
#[inline(always)]
pub(crate) fn decode(len: usize) {
    count(Event::Decode, len);
}

/// Counts one message hash or event id over `len` bytes.
#[inline(always)]
pub(crate) fn hash(len: usize) {
    count(Event::Hash, len);
}

/// Counts one gossip id over `len` bytes.
#[inline(always)]
pub(crate) fn gossip_id(len: usize) {
    count(Event::GossipId, len);
}

/// Counts one copy of a frame or payload of `len` bytes.
#[inline(always)]
pub(crate) fn copy(len: usize) {
    count(Event::Copy, len);
}

#[derive(Clone, Copy)]
enum Event {
    Decode,
    Hash,
    GossipId,
    Copy,
}

#[cfg(not(feature = "counters"))]
#[inline(always)]
fn count(_event: Event, _len: usize) {}

#[cfg(feature = "counters")]
use enabled::count;

#[cfg(feature = "counters")]
mod enabled {
    use std::cell::Cell;
    use std::ops::Sub;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::Event;

    /// What was counted, on one thread or in the whole process.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Counts {
        /// Frames decoded, bad ones included.
        pub decodes: u64,
        /// Bytes of the frames decoded.
        pub decoded_bytes: u64,
        /// Message hashes and event ids computed.
        pub hashes: u64,
        /// Bytes hashed for them.
        pub hashed_bytes: u64,
        /// Gossip ids computed.
        pub gossip_ids: u64,
        /// Bytes hashed for them.
        pub gossip_id_bytes: u64,
        /// Frames and payloads copied.
        pub copies: u64,
        /// Bytes copied with them.
        pub copied_bytes: u64,
    }

    impl Sub for Counts {
        type Output = Self;

        fn sub(self, earlier: Self) -> Self {
            Self {
                decodes: self.decodes - earlier.decodes,
                decoded_bytes: self.decoded_bytes - earlier.decoded_bytes,
                hashes: self.hashes - earlier.hashes,
                hashed_bytes: self.hashed_bytes - earlier.hashed_bytes,
                gossip_ids: self.gossip_ids - earlier.gossip_ids,
                gossip_id_bytes: self.gossip_id_bytes - earlier.gossip_id_bytes,
                copies: self.copies - earlier.copies,
                copied_bytes: self.copied_bytes - earlier.copied_bytes,
            }
        }
    }

    /// The counts of the calling thread.
    pub fn thread() -> Counts {
        THREAD.with(Cell::get)
    }

    /// The counts of all threads of the process, those that have ended included.
    pub fn process() -> Counts {
        let load = |event: Event| {
            let [times, bytes] = &PROCESS[event as usize];
            (times.load(Relaxed), bytes.load(Relaxed))
        };
        let (decodes, decoded_bytes) = load(Event::Decode);
        let (hashes, hashed_bytes) = load(Event::Hash);
        let (gossip_ids, gossip_id_bytes) = load(Event::GossipId);
        let (copies, copied_bytes) = load(Event::Copy);
        Counts {
            decodes,
            decoded_bytes,
            hashes,
            hashed_bytes,
            gossip_ids,
            gossip_id_bytes,
            copies,
            copied_bytes,
        }
    }

    pub(super) fn count(event: Event, len: usize) {
        THREAD.with(|cell| {
            let mut counts = cell.get();
            let (times, bytes) = match event {
                Event::Decode => (&mut counts.decodes, &mut counts.decoded_bytes),
                Event::Hash => (&mut counts.hashes, &mut counts.hashed_bytes),
                Event::GossipId => (&mut counts.gossip_ids, &mut counts.gossip_id_bytes),
                Event::Copy => (&mut counts.copies, &mut counts.copied_bytes),
            };
            *times += 1;
            *bytes += len as u64;
            cell.set(counts);
        });
        let [times, bytes] = &PROCESS[event as usize];
        times.fetch_add(1, Relaxed);
        bytes.fetch_add(len as u64, Relaxed);
    }

    thread_local! {
        static THREAD: Cell<Counts> = const { Cell::new(Counts {
            decodes: 0,
            decoded_bytes: 0,
            hashes: 0,
            hashed_bytes: 0,
            gossip_ids: 0,
            gossip_id_bytes: 0,
            copies: 0,
            copied_bytes: 0,
        }) };
    }

    /// Times and bytes of each event.
    static PROCESS: [[AtomicU64; 2]; 4] = [const { [const { AtomicU64::new(0) }; 2] }; 4];

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn threads_count_apart_and_the_process_counts_all() {
            let before = process();
            let threads: Vec<_> = (1..=8_u64)
                .map(|times| {
                    std::thread::spawn(move || {
                        let before = thread();
                        (0..times).for_each(|_| count(Event::Copy, 3));
                        let counted = thread() - before;
                        assert_eq!((counted.copies, counted.copied_bytes), (times, 3 * times));
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert!((process() - before).copies >= 36);
        }
    }
}
