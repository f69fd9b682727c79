//! Store and store sync.

use std::hint::black_box;

use borrowire::rules::Rules;
use borrowire::waku::reconciliation::{
    Content, ItemSet, Layout, RangesDataBuilder, RangesDataView, SyncId, fingerprint,
};
use borrowire::waku::store::{
    ContentFilter, KeyValue, QueryRequestBuilder, QueryRequestView, QueryResponseBuilder,
    QueryResponseView, key_value,
};
use borrowire::waku::transfer::{FieldOrder, TransferView, transfer};
use borrowire::waku::{HashRule, MessageHash, MessageView, message_hash};
use bytes::Bytes;

use super::{allocations, frame, promoted};

/// A page of 100 messages of 50 kB: nothing is allocated, no payload is copied, and all of them lie
/// in the buffer that was received.
#[test]
fn a_page_of_messages_is_read_and_hashed_where_it_lies() {
    let messages: Vec<_> = (0..100).map(|_| frame(50_000)).collect();
    let hash = |message: &Vec<u8>| {
        let view = MessageView::parse(&message[..]).unwrap();
        message_hash(TOPIC, &view, HashRule::ZeroTimestamp)
    };
    let page: Vec<_> =
        messages.iter().map(|message| KeyValue::new(hash(message), TOPIC, message)).collect();
    let response = QueryResponseBuilder::new("r", 200, "OK").messages(&page).to_vec();
    let received = promoted(&response);
    #[cfg(feature = "counters")]
    let before = borrowire::counters::thread();
    let allocated = allocations(|| {
        let borrowed = QueryResponseView::parse(&received[..]).unwrap();
        assert_eq!(borrowed.messages().map(check_key_value).sum::<usize>(), 100 * 50_000);
        let owned = QueryResponseView::parse(received.clone()).unwrap();
        assert_eq!(owned.messages().map(check_key_value).sum::<usize>(), 100 * 50_000);
        let range = received.as_ptr_range();
        let lies_there = |message: MessageView| range.contains(&message.payload_bytes().as_ptr());
        assert!(owned.messages().all(|item| lies_there(item.unwrap().message().unwrap().unwrap())));
        // Walking over the hashes does not read the messages.
        assert_eq!(owned.messages().flatten().filter_map(|item| item.message_hash()).count(), 100);
        black_box(owned.clone() == owned.as_borrowed());
    });
    assert_eq!(allocated, 0);
    #[cfg(feature = "counters")]
    {
        let counted = borrowire::counters::thread() - before;
        assert_eq!((counted.copies, counted.copied_bytes, counted.hashes), (0, 0, 200));
    }
}

fn check_key_value<B: borrowire::buffer::Buffer>(
    item: Result<borrowire::waku::store::KeyValueView<B>, borrowire::Error>,
) -> usize {
    let item = item.unwrap();
    let message = item.message().unwrap().unwrap();
    let hash = message_hash(item.pubsub_topic().unwrap(), &message, HashRule::ZeroTimestamp);
    assert_eq!(item.message_hash(), Some(hash));
    message.payload().len()
}

#[test]
fn bad_store_frames_are_refused_without_allocating() {
    let page = [KeyValue::new(HASH, TOPIC, b"\x0a\x01\x01\x12\x01a"); 3];
    let response = QueryResponseBuilder::new("r", 200, "OK").messages(&page).to_vec();
    let filter = ContentFilter::on(TOPIC, &["a", "b"]).time_start(1);
    let request = QueryRequestBuilder::by_content("r", filter).pagination_cursor(HASH).to_vec();
    let message = MessageView::parse(Bytes::from_static(b"\x0a\x01\x01\x12\x01a")).unwrap();
    let transfer = transfer(FieldOrder::TopicFirst, TOPIC, &message).to_vec();
    let allocated = allocations(|| {
        for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
            for len in 0..=response.len() {
                let _ = black_box(QueryResponseView::parse_with(&response[..len], &rules));
            }
            for len in 0..=request.len() {
                let _ = black_box(QueryRequestView::parse_with(&request[..len], &rules));
            }
            for len in 0..=transfer.len() {
                let _ = black_box(FieldOrder::detect(&transfer[..len], &rules));
                let order = FieldOrder::MessageFirst;
                let _ = black_box(TransferView::parse_with(&transfer[..len], order, &rules));
            }
        }
    });
    assert_eq!(allocated, 0);
}

/// One message is spliced without allocating, a page with four allocations however long it is.
#[test]
fn received_messages_are_spliced() {
    let received = promoted(&frame(50_000));
    let message = MessageView::parse(received.clone()).unwrap();
    let page = vec![KeyValue::around(HASH, TOPIC, &message); 100];
    let response = QueryResponseBuilder::new("r", 200, "OK").messages(&page);
    #[cfg(feature = "counters")]
    let before = borrowire::counters::thread();
    let allocated = allocations(|| {
        let spliced = key_value(HASH, TOPIC, &message);
        assert_eq!(spliced.body().as_ptr(), received.as_ptr());
        let spliced = transfer(FieldOrder::TopicFirst, TOPIC, &message);
        assert_eq!(spliced.body().as_ptr(), received.as_ptr());
    });
    assert_eq!(allocated, 0);
    let allocated = allocations(|| {
        let splices = response.splices();
        assert!(splices.bodies().all(|body| body.as_ptr() == received.as_ptr()));
        black_box([splices.clone(), splices.clone()]);
    });
    assert_eq!(allocated, 4);
    #[cfg(feature = "counters")]
    assert_eq!((borrowire::counters::thread() - before).copies, 0);
}

#[test]
fn reconciliation_is_read_and_written_without_allocating() {
    let ids: Vec<_> =
        (0..1000).map(|i| SyncId { timestamp: (1 << 60) | (i / 3), hash: hash(i) }).collect();
    let mut nwaku = Vec::with_capacity(100_000);
    let mut specification = Vec::with_capacity(100_000);
    let topics = ["/waku/2/rs/1/0", "/waku/2/rs/1/1"];
    let allocated = allocations(|| {
        let sum = fingerprint(ids.iter().map(|id| id.hash));
        let mut builder = RangesDataBuilder::nwaku(&mut nwaku, &topics, &["a"], ids[0]);
        ids.iter().for_each(|id| builder.push(*id, Content::Fingerprint(&sum)).unwrap());
        let set = Content::ItemSet(ItemSet::new(&ids, true));
        builder.push(SyncId { timestamp: i64::MAX, hash: HASH }, set).unwrap();
        let mut builder = RangesDataBuilder::specification(&mut specification, 1, &[0, 1]);
        ids.iter().for_each(|id| builder.push(*id, Content::Skip).unwrap());
        builder.push(SyncId { timestamp: i64::MAX, hash: HASH }, set).unwrap();
    });
    assert_eq!(allocated, 0);
    for (payload, layout) in [(&nwaku, Layout::Nwaku), (&specification, Layout::Specification)] {
        let shared = promoted(payload);
        let allocated = allocations(|| {
            let view = RangesDataView::parse(shared.clone(), layout).unwrap();
            assert_eq!(view.ranges().count(), 1001);
            let Content::ItemSet(set) = view.ranges().last().unwrap().content else { panic!() };
            assert!(set.items().eq(ids.iter().copied()));
            black_box((view.pubsub_topics().count(), view.shards().count()));
            assert!(view.as_borrowed() == view.clone());
            for len in (0..payload.len()).step_by(97) {
                let _ = black_box(RangesDataView::parse(&payload[..len], layout));
                let _ = black_box(Layout::detect(&payload[..len], &Rules::STRICT));
            }
            // A count that promises more than there is reserves nothing.
            let promise = &b"\x00\x00\x00\x05\x02\xff\xff\xff\xff\xff\xff\xff\x7f"[..];
            assert!(RangesDataView::parse(promise, layout).is_err());
        });
        assert_eq!(allocated, 0);
    }
}

/// The bytes of 0, 1, 2 and so on: in their order.
fn hash(i: i64) -> MessageHash {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&i.to_be_bytes());
    MessageHash(hash)
}

const TOPIC: &str = "/waku/2/rs/0/0";
const HASH: MessageHash = MessageHash([7; 32]);
