//! Laws of negentropy messages. The oracle is the `negentropy` crate, which shows its reading to the
//! storage that it asks.

use std::cell::RefCell;

use borrowire::ErrorKind;
use borrowire::buffer::Buffer;
use borrowire::negentropy::{
    Accumulator, Bound, ID_LEN, MessageBuilder, MessageView, Payload, Range, fingerprint,
};
use negentropy::{Id, Item, Negentropy, NegentropyStorageBase, NegentropyStorageVector, Storage};

use super::error_is_where_it_says;

/// All laws of a negentropy message, for bytes that may be anything.
pub fn any_message(message: &[u8]) {
    match MessageView::parse(message) {
        Ok(view) => {
            assert_eq!(view.raw(), message);
            assert_eq!(view.detach(), view);
            read_as_the_crate_reads_it(message);
            prefixes_are_whole_or_truncated(message);
        }
        Err(error) => {
            error_is_where_it_says(message, error);
            assert!(!error.is_incomplete(), "{error}: a message has no framing of its own");
        }
    }
}

/// An accepted message that is cut between two ranges is accepted, and is refused as truncated
/// anywhere else.
fn prefixes_are_whole_or_truncated(message: &[u8]) {
    let mut whole = 0;
    let step = 1 + message.len() / 64;
    for len in (1..message.len()).step_by(step) {
        match MessageView::parse(&message[..len]) {
            Ok(_) => whole += 1,
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}"),
        }
    }
    let ranges = MessageView::parse(message).unwrap().ranges().len();
    assert!(whole <= ranges);
    assert!(step > 1 || whole == ranges);
}

/// The fingerprint of a set is that of the crate, however it is summed.
pub fn fingerprint_is_that_of_the_crate(ids: &[[u8; ID_LEN]]) {
    let mut storage = NegentropyStorageVector::new();
    let mut sum = Accumulator::default();
    for (timestamp, id) in (0..).zip(ids) {
        storage.insert(timestamp, Id::from_byte_array(*id)).unwrap();
        sum.add(id);
    }
    storage.seal().unwrap();
    let theirs = storage.fingerprint(0, ids.len()).unwrap().to_bytes();
    assert_eq!(sum.fingerprint(), theirs);
    assert_eq!(fingerprint(ids), theirs);
}

/// What a peer wrote is minimal, and our builder writes the same.
pub fn written_by_a_peer(message: &[u8]) {
    let view = MessageView::parse(message).unwrap();
    assert!(view.is_minimal());
    assert_eq!(rebuilt(&view), message);
    read_as_the_crate_reads_it(message);
}

/// What is accepted can be written again, and the crate reads it alike, bound by bound: it shows
/// its reading to the storage that it asks, and to the list of ids that it needs.
pub fn read_as_the_crate_reads_it(message: &[u8]) {
    let Ok(view) = MessageView::parse(message) else {
        return;
    };
    let again = rebuilt(&view);
    let read_again = MessageView::parse(&again[..]).unwrap();
    assert_eq!(read_again, view);
    assert!(read_again.is_minimal());
    assert_eq!(again == message, view.is_minimal());

    let spy = Spy::default();
    let mut client = Negentropy::new(Storage::Borrowed(&spy), 0).unwrap();
    client.set_initiator();
    let mut needed = Vec::new();
    client.reconcile_with_ids(message, &mut Vec::new(), &mut needed).unwrap();
    let bounds: Vec<_> = view.ranges().map(|range| bound(range.upper)).collect();
    assert_eq!(spy.bounds.into_inner(), bounds);
    let mut ids: Vec<_> = view.ranges().flat_map(ids_of).copied().collect();
    // The crate gives the ids of a list without repeats, in any order.
    let mut needed: Vec<_> = needed.into_iter().map(Id::to_bytes).collect();
    ids.sort();
    ids.dedup();
    needed.sort();
    needed.dedup();
    assert_eq!(needed, ids);
}

/// An empty storage that writes down which bounds it is asked for.
#[derive(Default)]
struct Spy {
    bounds: RefCell<Vec<(u64, Vec<u8>)>>,
}

impl NegentropyStorageBase for Spy {
    fn size(&self) -> Result<usize, negentropy::Error> {
        Ok(0)
    }

    fn get_item(&self, _: usize) -> Result<Option<Item>, negentropy::Error> {
        Ok(None)
    }

    fn iterate(
        &self,
        _: usize,
        _: usize,
        _: &mut dyn FnMut(Item, usize) -> Result<bool, negentropy::Error>,
    ) -> Result<(), negentropy::Error> {
        Ok(())
    }

    fn find_lower_bound(&self, first: usize, _: usize, value: &negentropy::Bound) -> usize {
        let prefix = value.item.id.as_bytes()[..value.id_len].to_vec();
        self.bounds.borrow_mut().push((value.item.timestamp, prefix));
        first
    }
}

fn bound(bound: Bound<'_>) -> (u64, Vec<u8>) {
    match bound {
        Bound::At { timestamp, prefix } => (timestamp, prefix.to_vec()),
        Bound::Infinity => (u64::MAX, Vec::new()),
    }
}

fn ids_of(range: Range<'_>) -> &[[u8; ID_LEN]] {
    match range.payload {
        Payload::IdList(ids) => ids,
        _ => &[],
    }
}

fn rebuilt(view: &MessageView<impl Buffer>) -> Vec<u8> {
    let mut message = Vec::new();
    let mut builder = MessageBuilder::new(&mut message);
    for range in view.ranges() {
        builder.push(range.upper, range.payload).unwrap();
    }
    message
}

#[cfg(test)]
mod driven {
    use borrowire::hex::{self, Hex};
    use borrowire::negentropy::VERSION;
    use borrowire::rules::Rules;
    use bytes::{Bytes, BytesMut};
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn the_committed_corpus() {
        corpus("negentropy").iter().for_each(|message| any_message(message));
    }

    #[test]
    fn damaged_recorded_messages() {
        for message in list(&recorded()["messages"]) {
            let message = decode(&message["hex"]);
            if message.len() < 100 {
                every_damage(&message, any_message);
            }
        }
    }

    #[test]
    fn recorded_messages_are_read_and_written_alike() {
        for message in list(&recorded()["messages"]) {
            let bytes = decode(&message["hex"]);
            let view = MessageView::parse(Bytes::from(bytes.clone())).unwrap();
            let ranges: Vec<Value> = view.ranges().map(spelled).collect();
            assert_eq!(Value::from(ranges), message["ranges"]);
            assert_eq!(rebuilt(&view), bytes);
            assert!(view.is_minimal());
        }
    }

    #[test]
    fn recorded_faults_are_refused() {
        for fault in list(&recorded()["reject"]) {
            let bytes = decode(&fault["hex"]);
            let error = MessageView::parse(&bytes[..]).unwrap_err();
            let is_right = |kind| match fault["why"].as_str().unwrap() {
                "empty" => kind == ErrorKind::Missing,
                "varint over 64 bits" => kind == ErrorKind::VarintOverflow,
                "prefix longer than 32" => kind == ErrorKind::TooLong { len: 33, limit: 32 },
                "unknown mode" => kind == ErrorKind::OutOfRange { max: 2 },
                why if why.starts_with("truncated") | why.starts_with("id count larger") => {
                    matches!(kind, ErrorKind::Truncated { .. })
                }
                why if why.starts_with("unknown version") => {
                    kind == ErrorKind::Version { expected: VERSION, found: bytes[0] }
                }
                why => panic!("{why}"),
            };
            assert!(is_right(error.kind()), "{fault}: {error}");
        }
    }

    #[test]
    fn recorded_varints_are_read_and_written() {
        for pair in list(&recorded()["varints"]) {
            let (number, varint) = (pair[0].as_u64().unwrap(), decode(&pair[1]));
            let Some(timestamp) = number.checked_sub(1) else {
                continue;
            };
            let mut message = vec![VERSION];
            message.extend(varint);
            message.extend([0, 0]);
            let view = MessageView::parse(&message[..]).unwrap();
            let upper = Bound::At { timestamp, prefix: &[] };
            assert!(view.ranges().eq([Range { upper, payload: Payload::Skip }]));
            assert_eq!(rebuilt(&view), message);
        }
    }

    #[test]
    fn recorded_fingerprints() {
        for set in list(&recorded()["fingerprints"]) {
            let ids: Vec<_> = list(&set["ids"]).iter().map(id).collect();
            assert_eq!(fingerprint(&ids)[..], decode(&set["fingerprint"]));
        }
    }

    #[test]
    fn errors_name_the_part_and_the_byte() {
        for (message, expected) in [
            (&b""[..], "negentropy.version: missing, at byte 0"),
            (b"\x60", "negentropy.version: version 0x60, 0x61 expected, at byte 0"),
            (
                b"\x70",
                "negentropy.version: a version byte from 0x60 to 0x6f expected, found `p`, at byte 0",
            ),
            (b"\x61\x80", "negentropy.timestamp: truncated, 2 bytes needed, 1 left, at byte 1"),
            (b"\x61\x01", "negentropy.prefix: truncated, 1 bytes needed, 0 left, at byte 2"),
            (b"\x61\x01\x21", "negentropy.prefix: 33 bytes, at most 32 allowed, at byte 2"),
            (b"\x61\x00\x01\xff\x00", "negentropy.prefix: 1 bytes, at most 0 allowed, at byte 2"),
            (b"\x61\x01\x02a", "negentropy.prefix: truncated, 2 bytes needed, 1 left, at byte 3"),
            (b"\x61\x01\x00", "negentropy.mode: truncated, 1 bytes needed, 0 left, at byte 3"),
            (b"\x61\x00\x00\x03", "negentropy.mode: out of range, at most 2 fits, at byte 3"),
            (
                b"\x61\x00\x00\x01fifteen bytes..",
                "negentropy.fingerprint: truncated, 16 bytes needed, 15 left, at byte 4",
            ),
            (b"\x61\x00\x00\x02", "negentropy.ids: truncated, 1 bytes needed, 0 left, at byte 4"),
            (
                b"\x61\x00\x00\x02\x02 one id in thirty-two bytes ....",
                "negentropy.ids: truncated, 64 bytes needed, 32 left, at byte 5",
            ),
            // A count whose bytes, counted in 64 bits, would be none.
            (
                b"\x61\x00\x00\x02\x88\x80\x80\x80\x80\x80\x80\x80\x00",
                "negentropy.ids: truncated, 4294967295 or more bytes needed, 0 left, at byte 13",
            ),
            (
                b"\x61\x00\x00\x02\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                "negentropy.ids: truncated, 4294967295 or more bytes needed, 0 left, at byte 14",
            ),
            (
                b"\x61\x82\x80\x80\x80\x80\x80\x80\x80\x80\x00\x00\x00",
                "negentropy.timestamp: varint does not fit 64 bits, at byte 1",
            ),
            (
                b"\x61\x00\x00\x00\x00\x00\x00",
                "negentropy.range: follows a range that ends at infinity, at byte 4",
            ),
            (
                b"\x61\x01\x02ab\x00\x01\x02aa\x00",
                "negentropy.range: ends before the range in front of it, at byte 6",
            ),
        ] {
            let error = MessageView::parse(message).unwrap_err();
            assert_eq!(error.to_string(), expected, "{}", Hex(message));
            assert!(!error.is_incomplete());
        }
    }

    #[test]
    fn limits_are_kept() {
        let mut limits = *Rules::STRICT.limits();
        limits.negentropy_ranges = 2;
        limits.negentropy_ids = 3;
        let parse = |counts: &[usize]| {
            let mut message = Vec::new();
            let mut builder = MessageBuilder::new(&mut message);
            for (timestamp, &count) in (0..).zip(counts) {
                let upper = Bound::At { timestamp, prefix: &[] };
                builder.push_ids(upper, vec![&[7; ID_LEN]; count].into_iter()).unwrap();
            }
            MessageView::parse_with(Bytes::from(message), &Rules::STRICT.with_limits(limits))
                .map(|message| message.id_count())
                .map_err(|error| error.to_string())
        };
        assert_eq!(parse(&[1, 2]), Ok(3));
        let ids = "negentropy.ids: 4, at most 3 allowed, at byte 37";
        assert_eq!(parse(&[1, 3]), Err(ids.into()));
        let ranges = "negentropy.range: 3, at most 2 allowed, at byte 9";
        assert_eq!(parse(&[0, 0, 0]), Err(ranges.into()));
        limits.frame = 4;
        let error = MessageView::parse_with(
            &b"\x61\x00\x00\x02\x00"[..],
            &Rules::STRICT.with_limits(limits),
        );
        let expected = "negentropy: 5 bytes, at most 4 allowed, at byte 0";
        assert_eq!(error.unwrap_err().to_string(), expected);
    }

    #[test]
    fn views_cross_threads_and_need_no_more_than_their_buffer() {
        fn is_shared<T: Clone + Send + Sync + 'static>(_: &T) {}
        let buffer = Bytes::from_static(b"\x61\x00\x00\x02\x00");
        let view = MessageView::try_from(buffer.clone()).unwrap();
        is_shared(&view);
        assert_eq!(view.buffer().as_ptr(), buffer.as_ptr());
        let detached = view.detach();
        assert_ne!(detached.buffer().as_ptr(), buffer.as_ptr());
        assert_eq!((detached.raw(), detached.is_minimal()), (view.raw(), true));
        assert_eq!(MessageView::try_from(view.raw()).unwrap(), detached);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn what_is_written_is_read(ranges in proptest::collection::vec(owned_range(), 0..12)) {
            let ranges = in_order(ranges);
            let mut message = BytesMut::from(&b"before"[..]);
            let mut builder = MessageBuilder::new(&mut message);
            for range in &ranges {
                let Range { upper, payload } = range.borrowed();
                let expected = builder.len() + builder.encoded_len(upper, payload);
                match payload {
                    Payload::IdList(ids) if ids.len() % 2 == 0 => builder.push_ids(upper, ids.iter()),
                    payload => builder.push(upper, payload),
                }
                .unwrap();
                prop_assert_eq!(builder.len(), expected);
            }
            let message = message.split_off(6).freeze();
            let view = MessageView::parse(message.clone()).unwrap();
            prop_assert!(view.is_minimal());
            prop_assert_eq!(view.ranges().len(), ranges.len());
            prop_assert!(view.ranges().eq(ranges.iter().map(OwnedRange::borrowed)));
            for (read, written) in view.ranges().zip(&ranges) {
                // Equal bounds may be spelled with more or fewer zeros.
                prop_assert_eq!(read.upper.to_string(), written.borrowed().upper.to_string());
            }
            let ids: usize = ranges.iter().map(|range| range.ids().len()).sum();
            prop_assert_eq!(view.id_count(), ids);
            prop_assert_eq!(rebuilt(&view), &message[..]);
            any_message(&message);
            for len in 1..message.len() {
                read_as_the_crate_reads_it(&message[..len]);
            }
        }

        #[test]
        fn noise_is_read_as_the_crate_reads_it(noise in message_noise()) {
            any_message(&noise);
        }

        #[test]
        fn whole_syncs_are_read_and_written(
            items in proptest::collection::vec((0..40_u64, any::<[u8; 32]>(), 0..3_u8), 0..200),
            frame_limit in prop_oneof![Just(0), Just(4096_u64)],
        ) {
            let storage = |other| {
                let mut storage = NegentropyStorageVector::new();
                for (timestamp, id, owner) in &items {
                    if *owner != other {
                        storage.insert(*timestamp, Id::from_byte_array(*id)).unwrap();
                    }
                }
                storage.seal().unwrap();
                storage
            };
            let mut client = Negentropy::owned(storage(0), frame_limit).unwrap();
            let mut server = Negentropy::owned(storage(1), frame_limit).unwrap();
            let mut message = client.initiate().unwrap();
            for _ in 0..100 {
                written_by_a_peer(&message);
                let answer = server.reconcile(&message).unwrap();
                written_by_a_peer(&answer);
                let next = client.reconcile_with_ids(&answer, &mut Vec::new(), &mut Vec::new());
                message = match next.unwrap() {
                    Some(next) => next,
                    None => break,
                };
            }
        }

        #[test]
        fn fingerprints_are_those_of_the_crate(ids in proptest::collection::vec(carrying_id(), 0..40)) {
            fingerprint_is_that_of_the_crate(&ids);
        }
    }

    #[derive(Clone, Debug)]
    struct OwnedRange {
        /// No timestamp is infinity.
        timestamp: Option<u64>,
        prefix: Vec<u8>,
        payload: OwnedPayload,
    }

    #[derive(Clone, Debug)]
    enum OwnedPayload {
        Skip,
        Fingerprint([u8; 16]),
        IdList(Vec<[u8; ID_LEN]>),
    }

    impl OwnedRange {
        fn borrowed(&self) -> Range<'_> {
            let upper = match self.timestamp {
                Some(timestamp) => Bound::At { timestamp, prefix: &self.prefix },
                None => Bound::Infinity,
            };
            let payload = match &self.payload {
                OwnedPayload::Skip => Payload::Skip,
                OwnedPayload::Fingerprint(fingerprint) => Payload::Fingerprint(fingerprint),
                OwnedPayload::IdList(ids) => Payload::IdList(ids),
            };
            Range { upper, payload }
        }

        fn ids(&self) -> &[[u8; ID_LEN]] {
            ids_of(self.borrowed())
        }
    }

    fn owned_range() -> impl Strategy<Value = OwnedRange> {
        let timestamp = prop_oneof![
            1 => Just(None),
            4 => (0..3_u64).prop_map(Some),
            3 => (0..u64::MAX).prop_map(Some),
            1 => Just(Some(u64::MAX - 1)),
        ];
        let prefix = proptest::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..=32);
        let payload = prop_oneof![
            Just(OwnedPayload::Skip),
            any::<[u8; 16]>().prop_map(OwnedPayload::Fingerprint),
            proptest::collection::vec(any::<[u8; 32]>(), 0..4).prop_map(OwnedPayload::IdList),
        ];
        (timestamp, prefix, payload).prop_map(|(timestamp, prefix, payload)| OwnedRange {
            timestamp,
            prefix,
            payload,
        })
    }

    /// Sorts ranges by their bounds, and leaves one at infinity.
    fn in_order(mut ranges: Vec<OwnedRange>) -> Vec<OwnedRange> {
        ranges.sort_by(|left, right| left.borrowed().upper.cmp(&right.borrowed().upper));
        let finite = ranges.iter().take_while(|range| range.timestamp.is_some()).count();
        ranges.truncate(finite + 1);
        ranges
    }

    /// Bytes in which small numbers, long varints and whole ranges are likely.
    fn message_noise() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => (0..6_u8).prop_map(|byte| vec![byte]),
            1 => Just(vec![0x80]),
            1 => any::<u8>().prop_map(|byte| vec![byte]),
            2 => any::<[u8; 16]>().prop_map(|bytes| [&[2, 0, 1][..], &bytes].concat()),
            2 => any::<[u8; 32]>().prop_map(|bytes| [&[0x80, 2, 0, 2, 1][..], &bytes].concat()),
            1 => (1..6_u8, any::<u8>()).prop_map(|(delta, prefix)| vec![delta, 1, prefix, 0]),
        ];
        proptest::collection::vec(piece, 0..16)
            .prop_map(|pieces| [&[VERSION][..], &pieces.concat()].concat())
    }

    /// Ids whose sums carry far.
    fn carrying_id() -> impl Strategy<Value = [u8; ID_LEN]> {
        prop_oneof![
            Just([0xff; 32]),
            any::<[u8; 32]>(),
            (0..32_usize).prop_map(|at| {
                let mut id = [0; 32];
                id[at] = 1;
                id
            }),
        ]
    }

    fn recorded() -> Value {
        serde_json::from_str(include_str!("../../fixtures/negentropy/v1.json")).unwrap()
    }

    fn list(value: &Value) -> &[Value] {
        value.as_array().unwrap()
    }

    fn decode(text: &Value) -> Vec<u8> {
        let text = text.as_str().unwrap();
        let mut bytes = vec![0; text.len() / 2];
        hex::decode(text.as_bytes(), &mut bytes, hex::Case::Lower, "hex").unwrap();
        bytes
    }

    fn id(text: &Value) -> [u8; ID_LEN] {
        decode(text).try_into().unwrap()
    }

    /// A range as the recorded answers spell it.
    fn spelled(range: Range<'_>) -> Value {
        let hex = |bytes: &[u8]| Value::from(Hex(bytes).to_string());
        let upper = match range.upper {
            Bound::Infinity => Value::from("infinity"),
            Bound::At { timestamp, prefix } => {
                serde_json::json!({ "timestamp": timestamp, "prefix": hex(prefix) })
            }
        };
        match range.payload {
            Payload::Skip => serde_json::json!({ "upper": upper, "skip": true }),
            Payload::Fingerprint(bytes) => {
                serde_json::json!({ "upper": upper, "fingerprint": hex(bytes) })
            }
            Payload::IdList(ids) => {
                let ids: Vec<_> = ids.iter().map(|id| hex(id)).collect();
                serde_json::json!({ "upper": upper, "id_list": ids })
            }
        }
    }
}
