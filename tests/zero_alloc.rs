//! Reading allocates nothing: the allocator of this binary counts.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use borrowire::Envelope;
use borrowire::json::read::Reader;
use borrowire::json::string::JsonStr;
use borrowire::negentropy::{
    self, Bound, MessageBuilder as NegentropyBuilder, Payload, fingerprint,
};
use borrowire::rules::Rules;
use borrowire::waku::{ContentTopic, HashRule, MessageBuilder, MessageView, message_hash};
use bytes::Bytes;

#[test]
fn a_message_is_read_without_allocating() {
    for len in [0, 1, 100, 150_000] {
        let frame = frame(len);
        assert_eq!(allocations(|| read(MessageView::parse(&frame[..]).unwrap())), 0);
        let shared = promoted(&frame);
        assert_eq!(allocations(|| read(MessageView::parse(shared.clone()).unwrap())), 0);
        let view = MessageView::parse(shared).unwrap();
        assert_eq!(allocations(|| read(view.clone())), 0);
        assert_eq!(allocations(|| drop(black_box(view.payload_bytes()))), 0);
    }
}

#[test]
fn a_bad_message_is_refused_without_allocating() {
    let frame = frame(1000);
    let allocated = allocations(|| {
        for len in 0..frame.len() {
            for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
                let _ = black_box(MessageView::parse_with(&frame[..len], &rules));
            }
        }
    });
    assert_eq!(allocated, 0);
}

#[test]
fn hash_and_gossip_id_allocate_nothing() {
    let message = MessageView::parse(promoted(&frame(150_000))).unwrap();
    let envelope = Envelope::new("/waku/2/rs/0/0", message);
    let allocated = allocations(|| {
        black_box((envelope.hash(), envelope.gossip_id()));
        black_box(envelope.hash_with(HashRule::OmitZero));
        black_box(message_hash("t", envelope.message(), HashRule::OmitZero));
    });
    assert_eq!(allocated, 0);
}

#[test]
fn a_topic_is_read_without_allocating() {
    let allocated = allocations(|| {
        let topic = ContentTopic::parse(black_box("/toychat/2/huilong/proto")).unwrap();
        black_box(topic.shard(1, 8.try_into().unwrap()).unwrap());
    });
    assert_eq!(allocated, 0);
}

#[test]
fn json_is_read_without_allocating() {
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let frame = format!(r#"["EVENT", "a\nb", {{"x": [1.5e9, true, {{"\u0041": null}}]}}, {deep}"#);
    let allocated = allocations(|| {
        for len in 0..=frame.len() {
            let mut reader = Reader::new(&frame.as_bytes()[..len], &Rules::STRICT, "x").unwrap();
            assert!(reader.skip("x").unwrap_err().kind().name() != "");
        }
        let text = JsonStr::from_raw(r"a\u00e9\ud83d\ude00\n").unwrap();
        assert!(text.eq_str("aé😀\n") && text.chars().count() == 4);
        let same = JsonStr::from_raw(r"\u0061é😀\n").unwrap();
        assert!(text == same);
    });
    assert_eq!(allocated, 0);
}

#[test]
fn negentropy_is_read_without_allocating() {
    let mut message = Vec::with_capacity(40_000);
    let ids = [[7; 32]; 1000];
    let allocated = allocations(|| {
        let mut builder = NegentropyBuilder::new(&mut message);
        for timestamp in 0..100 {
            let upper = Bound::At { timestamp, prefix: &ids[0][..timestamp as usize % 33] };
            builder.push(upper, Payload::Fingerprint(&[1; 16])).unwrap();
        }
        builder.push(Bound::Infinity, Payload::IdList(&ids)).unwrap();
        black_box(fingerprint(&ids));
    });
    assert_eq!(allocated, 0);
    let allocated = allocations(|| {
        let view = negentropy::MessageView::parse(&message[..]).unwrap();
        assert_eq!(view.ranges().len(), 101);
        assert_eq!(black_box(view.ranges().count()), 101);
        assert!(view == view.clone());
        for len in 0..message.len() {
            let _ = black_box(negentropy::MessageView::parse(&message[..len]));
        }
        // A count that promises more than there is reserves nothing.
        let promise = &b"\x61\x00\x00\x02\xff\xff\xff\x7f"[..];
        assert!(negentropy::MessageView::parse(promise).is_err());
    });
    assert_eq!(allocated, 0);
}

#[test]
fn a_buffer_with_room_is_written_without_allocating() {
    let mut out = Vec::with_capacity(200_000);
    let payload = vec![7; 150_000];
    let builder = MessageBuilder::new("/a/1/b/proto", &payload).timestamp(1).always_present();
    assert_eq!(allocations(|| builder.encode(&mut out)), 0);
    assert_eq!(out.len(), builder.encoded_len());
}

#[test]
fn the_count_can_rise() {
    assert_eq!(allocations(|| drop(black_box(vec![1_u8; 10]))), 1);
    let message = MessageView::parse(promoted(&frame(10))).unwrap();
    assert!(allocations(|| drop(black_box(message.detach()))) > 0);
}

fn read<B: borrowire::buffer::Buffer>(view: MessageView<B>) {
    black_box((view.payload(), view.content_topic(), view.version(), view.timestamp()));
    black_box((view.meta(), view.rate_limit_proof(), view.ephemeral(), view.raw()));
    black_box(view.unknown_fields().count());
    black_box(view.as_borrowed() == view);
}

fn frame(payload_len: usize) -> Vec<u8> {
    let payload = vec![1; payload_len];
    let builder = MessageBuilder::new("/waku/2/default-content/proto", &payload);
    [builder.timestamp(1).meta(b"meta").to_vec(), b"\xa2\x06\x02zz".to_vec()].concat()
}

/// A shared buffer. The first clone of a `Bytes` that was made from a `Vec` allocates its count.
fn promoted(frame: &[u8]) -> Bytes {
    let bytes = Bytes::copy_from_slice(frame);
    drop(bytes.clone());
    bytes
}

/// How many times `work` allocated on this thread.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: `ptr` came from `System` with this layout, and the caller keeps the contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
