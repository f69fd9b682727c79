//! The messages that every arm receives.

use bytes::Bytes;

use crate::proto::{self, WireType};
use crate::waku::message::field;

/// The topic that all messages come on.
pub const PUBSUB_TOPIC: &str = "/waku/2/rs/0/0";
/// The content topic of all messages.
pub const CONTENT_TOPIC: &str = "/waku/2/default-content/proto";
/// What the sizes are called in the CSV.
pub const PAYLOAD_PROFILE: &str = "10/50/150kB@25/50/25";

/// Messages of 10,000, 50,000 and 150,000 bytes of payload (a quarter, half, a quarter of them) in
/// an order that the seed decides.
///
/// Byte `j` of message `i` is `(177 j + i) mod 256`, and the first eight bytes are `i`,
/// little-endian. Version 2, timestamps a nanosecond apart, every field written, as nwaku does.
#[derive(Clone, Debug)]
pub struct Workload {
    sizes: Vec<usize>,
    /// The index of the first message. Runs of one process start at different ones, so that no two
    /// messages are equal.
    first: u64,
}

impl Workload {
    /// `messages` messages whose indices start at `first`.
    pub fn new(messages: usize, seed: u64, first: u64) -> Self {
        let quarter = messages / 4;
        let mut sizes = vec![10_000; quarter];
        sizes.resize(messages - quarter, 50_000);
        sizes.resize(messages, 150_000);
        let mut random = SplitMix64(seed);
        for i in (1..sizes.len()).rev() {
            let j = random.next() % (i as u64 + 1);
            sizes.swap(i, j as usize);
        }
        Self { sizes, first }
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The frame of message `i`, in a receive buffer of its own.
    pub fn frame(&self, i: usize) -> Bytes {
        let (index, len) = (self.first + i as u64, self.sizes[i]);
        let mut frame = Vec::with_capacity(len + ROOM_BESIDE_PAYLOAD);
        // The payload is made where it belongs: the heap is to show one buffer a frame.
        proto::put_tag(&mut frame, field::PAYLOAD, WireType::Len);
        proto::put_varint(&mut frame, len as u64);
        frame.extend(index.to_le_bytes());
        frame.extend((8..len as u64).map(|j| (177 * j + index) as u8));
        proto::put_len(&mut frame, field::CONTENT_TOPIC, CONTENT_TOPIC.as_bytes());
        proto::put_uint(&mut frame, field::VERSION, 2);
        proto::put_sint(&mut frame, field::TIMESTAMP, FIRST_TIMESTAMP + index as i64);
        proto::put_len(&mut frame, field::META, &[]);
        proto::put_len(&mut frame, field::RATE_LIMIT_PROOF, &[]);
        proto::put_uint(&mut frame, field::EPHEMERAL, 0);
        Bytes::from(frame)
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the order of the sizes, the same on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// All fields but the payload take 55 bytes at most.
const ROOM_BESIDE_PAYLOAD: usize = 55;
const FIRST_TIMESTAMP: i64 = 1_780_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waku::{MessageBuilder, MessageView};

    #[test]
    fn sizes_are_mixed_and_messages_differ() {
        let workload = Workload::new(1000, 42, 7);
        let count = |size| workload.sizes.iter().filter(|s| **s == size).count();
        assert_eq!((count(10_000), count(50_000), count(150_000)), (250, 500, 250));
        assert_ne!(workload.sizes, Workload::new(1000, 43, 7).sizes);
        let view = MessageView::parse(workload.frame(3)).unwrap();
        assert_eq!(view.payload()[..9], [10, 0, 0, 0, 0, 0, 0, 0, (177 * 8 + 10) as u8]);
        assert_eq!(view.timestamp(), FIRST_TIMESTAMP + 10);
        let beside = view.raw().len() - view.payload().len();
        assert!((54..=ROOM_BESIDE_PAYLOAD).contains(&beside));
        let as_nwaku = MessageBuilder::from_view(&view).always_present();
        assert_eq!(as_nwaku.to_vec(), view.raw());
    }
}
