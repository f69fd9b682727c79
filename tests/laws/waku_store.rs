//! Laws of store and store sync. The oracle of protobuf is prost, that of reconciliation a reader
//! in this file that is slow and obvious.

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::rules::Rules;
use borrowire::waku::reconciliation::{
    Bound, Content, ItemSet, Layout, RangesDataBuilder, RangesDataView, SyncId, fingerprint,
};
use borrowire::waku::store::{
    ContentFilter, KeyValue, KeyValueView, QueryRequestBuilder, QueryRequestView,
    QueryResponseBuilder, QueryResponseView, key_value,
};
use borrowire::waku::transfer::{FieldOrder, TransferBuilder, TransferView, transfer};
use borrowire::waku::{MessageHash, MessageView};
use prost::Message;

use super::error_is_where_it_says;
use super::waku::any_message;
use super::waku_frames::{View, read, view};

/// All laws, for bytes that may be any of these messages.
pub fn any_frame(frame: &[u8]) {
    any_query_request(frame);
    any_query_response(frame);
    any_key_value(frame);
    any_transfer(frame);
    any_payload(frame);
}

pub fn any_query_request(frame: &[u8]) {
    let Some(view) = read::<QueryRequestView<&[u8]>>(frame) else { return };
    let topics: Vec<_> = view.content_topics().map(Option::unwrap).collect();
    let hashes: Vec<_> = view.message_hashes().collect();
    let id = view.request_id().unwrap();
    let is_by_content = !topics.is_empty()
        || view.pubsub_topic().is_some()
        || view.time_start().or(view.time_end()).is_some();
    // What nobody may ask for cannot be built.
    let mut built = match (is_by_content, view.pubsub_topic()) {
        (true, _) if !hashes.is_empty() => return,
        (true, None) if !topics.is_empty() => return,
        (true, topic) => {
            let mut filter =
                topic.map_or(ContentFilter::all(), |topic| ContentFilter::on(topic, &topics));
            if let Some(time) = view.time_start() {
                filter = filter.time_start(time);
            }
            if let Some(time) = view.time_end() {
                filter = filter.time_end(time);
            }
            QueryRequestBuilder::by_content(id, filter)
        }
        (false, _) => QueryRequestBuilder::by_hashes(id, &hashes),
    };
    built = built.include_data(view.include_data());
    if let Some(cursor) = view.pagination_cursor() {
        built = built.pagination_cursor(cursor);
    }
    if let Some(forward) = view.pagination_forward() {
        built = built.pagination_forward(forward);
    }
    if let Some(limit) = view.pagination_limit() {
        built = built.pagination_limit(limit);
    }
    let again = built.build().unwrap();
    assert_eq!(again.raw().len(), built.encoded_len());
    assert_eq!(again.pagination_forward(), view.pagination_forward());
    // A truth value above 1 is written as 1, and equal to it.
    assert_eq!(again, view);
}

pub fn any_query_response(frame: &[u8]) {
    let Some(view) = read::<QueryResponseView<&[u8]>>(frame) else { return };
    let items: Vec<_> = view.messages().collect();
    assert_eq!(items.len(), view.messages().len());
    for item in items.iter().flatten() {
        any_key_value(item.raw());
    }
    for error in items.iter().filter_map(|item| item.as_ref().err()) {
        error_is_where_it_says(frame, *error);
    }
    // A page that says nothing a builder cannot say is built again, and spliced.
    let messages: Vec<_> = items
        .iter()
        .map(|item| item.as_ref().ok()?.message()?.ok().map(|message| message.detach()))
        .collect();
    let page = items.iter().zip(&messages).map(|(item, message)| rebuilt(item, message.as_ref()));
    let Some(page) = page.collect::<Option<Vec<_>>>() else { return };
    let id = view.request_id().unwrap();
    let desc = view.status_desc().unwrap();
    let mut built = QueryResponseBuilder::new(id, view.status_code(), desc).messages(&page);
    if let Some(cursor) = view.pagination_cursor() {
        built = built.pagination_cursor(cursor);
    }
    let bytes = built.to_vec();
    assert_eq!(bytes.len(), built.encoded_len());
    assert_eq!(QueryResponseView::parse_with(&bytes[..], &Rules::PROTO3).unwrap(), view);
    let splices = built.splices();
    assert_eq!(splices.to_vec(), bytes);
    let bodies = splices.bodies().map(|body| body.as_ptr());
    assert!(bodies.eq(messages.iter().flatten().map(|message| message.raw().as_ptr())));
}

/// What builds a key value again, if a builder can say it.
fn rebuilt<'a>(
    item: &'a Result<KeyValueView<&[u8]>, Error>,
    message: Option<&'a MessageView>,
) -> Option<KeyValue<'a>> {
    let item = item.as_ref().ok()?;
    let hash = item.message_hash()?;
    match (item.message_bytes(), item.pubsub_topic()) {
        (None, None) => Some(KeyValue::hash_alone(hash)),
        (Some(_), Some(topic)) => Some(KeyValue::around(hash, topic, message?)),
        _ => None,
    }
}

pub fn any_key_value(frame: &[u8]) {
    let Some(view) = read::<KeyValueView<&[u8]>>(frame) else { return };
    if let Some(message) = view.message_bytes() {
        any_message(message);
    }
    let (Some(hash), Some(Ok(message)), Some(topic)) =
        (view.message_hash(), view.message(), view.pubsub_topic())
    else {
        return;
    };
    let built = KeyValue::new(hash, topic, message.raw()).to_vec();
    assert_eq!(KeyValueView::parse_with(&built[..], &Rules::PROTO3).unwrap(), view);
    let message = message.detach();
    let spliced = key_value(hash, topic, &message);
    assert_eq!(spliced.to_vec(), built);
    assert_eq!(spliced.body().as_ptr(), message.raw().as_ptr());
    assert_eq!(KeyValue::around(hash, topic, &message).to_vec(), built);
}

pub fn any_transfer(frame: &[u8]) {
    let topic_first = read::<TopicFirst<'_>>(frame).map(|read| read.0);
    let message_first = read::<MessageFirst<'_>>(frame).map(|read| read.0);
    for view in [&topic_first, &message_first].into_iter().flatten() {
        any_message(view.message_bytes());
        let Ok(message) = view.message() else { continue };
        let topic = view.pubsub_topic().unwrap();
        for order in [FieldOrder::TopicFirst, FieldOrder::MessageFirst] {
            let built = TransferBuilder::new(order, topic, message.raw()).to_vec();
            assert_eq!(transfer(order, topic, &message.detach()).to_vec(), built);
            let again = TransferView::parse_with(&built[..], order, &Rules::PROTO3).unwrap();
            assert_eq!(again, *view);
            let detected = FieldOrder::detect(&built, &Rules::PROTO3);
            assert!(detected.is_none_or(|detected| detected == order));
        }
    }
    for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
        let fits = [FieldOrder::TopicFirst, FieldOrder::MessageFirst].map(|order| {
            let view = TransferView::parse_with(frame, order, &rules);
            view.is_ok_and(|view| view.pubsub_topic().is_some() && view.message().is_ok())
        });
        let only = [FieldOrder::TopicFirst, FieldOrder::MessageFirst]
            .into_iter()
            .zip(fits)
            .filter(|(_, fits)| *fits);
        let expected = if fits[0] == fits[1] { None } else { only.map(|(order, _)| order).next() };
        assert_eq!(FieldOrder::detect(frame, &rules), expected);
    }
}

/// A payload of reconciliation reads as the slow reader reads it, and is written again to the byte.
pub fn any_payload(payload: &[u8]) {
    for layout in [Layout::Nwaku, Layout::Specification] {
        let slow = slow_payload(payload, layout);
        let views = [Rules::STRICT, Rules::PROTO3, Rules::NWAKU]
            .map(|rules| RangesDataView::parse_with(payload, layout, &rules));
        for error in views.iter().filter_map(|view| view.as_ref().err()) {
            error_is_where_it_says(payload, *error);
            assert!(!error.is_incomplete(), "{error}");
        }
        let [strict, proto3, nwaku] = views;
        match (&strict, &slow) {
            (Ok(view), Some(slow)) => assert_eq!(slow_view(view), *slow),
            (Err(_), None) => {}
            (view, slow) => panic!("{view:?}, but {slow:?}"),
        }
        let Ok(loose) = proto3 else {
            assert!(strict.is_err());
            continue;
        };
        assert_eq!(loose.raw(), payload);
        assert_eq!(loose.detach(), loose);
        let Ok(view) = strict else {
            if let Ok(nwaku) = nwaku {
                assert!(nwaku.pubsub_topics().chain(nwaku.content_topics()).any(|t| t.is_none()));
            }
            continue;
        };
        assert!(view == loose && nwaku.unwrap() == view);
        if payload != [0] {
            assert_eq!(Hex(&written_again(&view)).to_string(), Hex(payload).to_string());
        }
        let detected = Layout::detect(payload, &Rules::STRICT);
        assert!(detected.is_none_or(|detected| detected == layout));
    }
}

fn written_again(view: &RangesDataView<&[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    let pubsub: Vec<_> = view.pubsub_topics().map(Option::unwrap).collect();
    let content: Vec<_> = view.content_topics().map(Option::unwrap).collect();
    let shards: Vec<_> = view.shards().collect();
    let first = view.ranges().next().map_or(0, |range| range.lower.timestamp);
    let first = SyncId { timestamp: first, hash: MessageHash([0; 32]) };
    let mut builder = match view.layout() {
        Layout::Nwaku => RangesDataBuilder::nwaku(&mut out, &pubsub, &content, first),
        Layout::Specification => {
            RangesDataBuilder::specification(&mut out, view.cluster().unwrap(), &shards)
        }
    };
    let mut last = None;
    for range in view.ranges() {
        assert!(range.lower <= range.upper);
        assert!(last.is_none_or(|last| last == range.lower));
        last = Some(range.upper);
        builder.push_bound(range.upper, range.content).unwrap();
    }
    // Without a range nobody can know where the first would begin.
    if view.ranges().len() == 0 { view.raw().to_vec() } else { out }
}

/// A payload as plain values: topics or shards, where the first range begins, and the ranges.
#[derive(Debug, PartialEq)]
struct Slow {
    topics: [Vec<String>; 2],
    cluster: Option<u64>,
    shards: Vec<u64>,
    ranges: Vec<SlowRange>,
}

#[derive(Debug, PartialEq)]
struct SlowRange {
    lower: (i64, [u8; 32]),
    upper: (i64, [u8; 32]),
    content: SlowContent,
}

#[derive(Debug, PartialEq)]
enum SlowContent {
    Skip,
    Fingerprint(Vec<u8>),
    Items(Vec<(i64, Vec<u8>)>, bool),
}

fn slow_view(view: &RangesDataView<&[u8]>) -> Slow {
    let id = |bound: Bound<'_>| (bound.timestamp, bound.hash().0);
    let topics = |topics: &mut dyn Iterator<Item = Option<&str>>| {
        topics.map(|topic| topic.unwrap().to_owned()).collect()
    };
    Slow {
        topics: [topics(&mut view.pubsub_topics()), topics(&mut view.content_topics())],
        cluster: view.cluster(),
        shards: view.shards().collect(),
        ranges: view
            .ranges()
            .map(|range| SlowRange {
                lower: id(range.lower),
                upper: id(range.upper),
                content: match range.content {
                    Content::Skip => SlowContent::Skip,
                    Content::Fingerprint(sum) => SlowContent::Fingerprint(sum.to_vec()),
                    Content::ItemSet(set) => {
                        assert_eq!(set.items().len(), set.items().count());
                        let items = set.items().map(|id| (id.timestamp, id.hash.0.to_vec()));
                        SlowContent::Items(items.collect(), set.reconciled())
                    }
                },
            })
            .collect(),
    }
}

/// Reads a payload one byte after the other; `None` if it is not right to the last.
fn slow_payload(payload: &[u8], layout: Layout) -> Option<Slow> {
    let mut slow = Slow { topics: [vec![], vec![]], cluster: None, shards: vec![], ranges: vec![] };
    if payload == [0] {
        return Some(slow);
    }
    let mut bytes = payload.iter().copied();
    let mut time = match layout {
        Layout::Nwaku => {
            for list in &mut slow.topics {
                for _ in 0..slow_varint(&mut bytes)? {
                    let len = slow_varint(&mut bytes)?;
                    list.push(String::from_utf8(slow_take(&mut bytes, len)?).ok()?);
                }
            }
            i128::from(slow_varint(&mut bytes)? as i64)
        }
        Layout::Specification => {
            slow.cluster = Some(slow_varint(&mut bytes)?);
            for _ in 0..slow_varint(&mut bytes)? {
                slow.shards.push(slow_varint(&mut bytes)?);
            }
            0
        }
    };
    let mut lower = (time as i64, [0; 32]);
    while bytes.len() > 0 {
        let difference = slow_varint(&mut bytes)?;
        time += i128::from(difference);
        let mut upper = (i64::try_from(time).ok()?, [0; 32]);
        if difference == 0 {
            let len = bytes.next()?;
            let prefix = slow_take(&mut bytes, len.into())?;
            upper.1.get_mut(..prefix.len())?.copy_from_slice(&prefix);
        }
        if upper < lower {
            return None;
        }
        let content = match bytes.next()? {
            0 => SlowContent::Skip,
            1 => SlowContent::Fingerprint(slow_take(&mut bytes, 32)?),
            2 => {
                let mut items = Vec::new();
                let mut time = 0_i64;
                for _ in 0..slow_varint(&mut bytes)? {
                    time = time.wrapping_add(slow_varint(&mut bytes)? as i64);
                    items.push((time, slow_take(&mut bytes, 32)?));
                }
                if !items.is_sorted() {
                    return None;
                }
                let reconciled = bytes.next()?;
                if reconciled > 1 {
                    return None;
                }
                SlowContent::Items(items, reconciled == 1)
            }
            _ => return None,
        };
        slow.ranges.push(SlowRange { lower, upper, content });
        lower = upper;
    }
    Some(slow)
}

/// A varint in its shortest form.
fn slow_varint(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut value = 0_u128;
    for i in 0..10 {
        let byte = bytes.next()?;
        value |= u128::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            let is_shortest = byte != 0 || i == 0;
            return u64::try_from(value).ok().filter(|_| is_shortest);
        }
    }
    None
}

fn slow_take(bytes: &mut impl ExactSizeIterator<Item = u8>, len: u64) -> Option<Vec<u8>> {
    (len <= bytes.len() as u64).then(|| bytes.take(len as usize).collect())
}

/// Ranges between these ids, in both layouts: what was pushed is what is read, but for what the
/// wire leaves out.
pub fn ids_are_reconciled(ids: &[SyncId], topics: &[&str]) {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    let Some((first, uppers)) = ids.split_first() else { return };
    let sum = fingerprint(ids.iter().map(|id| id.hash));
    let set = ItemSet::new(&ids, ids.len() % 2 == 1);
    let contents = [Content::Skip, Content::Fingerprint(&sum), Content::ItemSet(set)];
    for layout in [Layout::Nwaku, Layout::Specification] {
        let mut payload = Vec::new();
        let mut builder = match layout {
            Layout::Nwaku => RangesDataBuilder::nwaku(&mut payload, topics, topics, *first),
            Layout::Specification => RangesDataBuilder::specification(&mut payload, 1, &[2, 3]),
        };
        let mut pushed = Vec::new();
        for (upper, content) in uppers.iter().zip(contents.iter().cycle()) {
            // The specification begins at 0.
            if builder.push(*upper, *content).is_ok() {
                pushed.push((*upper, *content));
            } else {
                assert!(layout == Layout::Specification && upper.timestamp < 0);
            }
        }
        assert_eq!(builder.len(), payload.len());
        let view = RangesDataView::parse(&payload[..], layout).unwrap();
        assert_eq!(view.ranges().len(), pushed.len());
        for (range, (upper, content)) in view.ranges().zip(&pushed) {
            assert_eq!((range.upper.timestamp, range.content), (upper.timestamp, *content));
            assert!(upper.hash.0.starts_with(range.upper.prefix));
        }
        any_payload(&payload);
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct ProstQueryRequest {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(bool, tag = "2")]
    pub include_data: bool,
    #[prost(string, optional, tag = "10")]
    pub pubsub_topic: Option<String>,
    #[prost(string, repeated, tag = "11")]
    pub content_topics: Vec<String>,
    #[prost(sint64, optional, tag = "12")]
    pub time_start: Option<i64>,
    #[prost(sint64, optional, tag = "13")]
    pub time_end: Option<i64>,
    #[prost(bytes = "vec", repeated, tag = "20")]
    pub message_hashes: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "51")]
    pub pagination_cursor: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "52")]
    pub pagination_forward: Option<bool>,
    #[prost(uint64, optional, tag = "53")]
    pub pagination_limit: Option<u64>,
}

view!(
    QueryRequestView, ProstQueryRequest, known [1, 2, 10, 11, 12, 13, 20, 51, 52, 53], single [],
    hashes [20, 51],
    |view, prost| {
        assert_eq!(view.request_id(), Some(&*prost.request_id));
        assert_eq!(view.include_data(), prost.include_data);
        assert_eq!(view.pubsub_topic(), prost.pubsub_topic.as_deref());
        assert!(view.content_topics().eq(prost.content_topics.iter().map(|topic| Some(&**topic))));
        assert_eq!(view.time_start(), prost.time_start);
        assert_eq!(view.time_end(), prost.time_end);
        assert_eq!(view.message_hashes().len(), prost.message_hashes.len());
        let mut hashes = view.message_hashes().zip(&prost.message_hashes);
        assert!(hashes.all(|(hash, prost)| hash.0 == prost[..]));
        let cursor = view.pagination_cursor();
        assert_eq!(cursor.as_ref().map(AsRef::as_ref), prost.pagination_cursor.as_deref());
        assert_eq!(view.pagination_forward(), prost.pagination_forward);
        assert_eq!(view.pagination_limit(), prost.pagination_limit);
    }
);

#[derive(Clone, PartialEq, Message)]
pub struct ProstQueryResponse {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(uint32, tag = "10")]
    pub status_code: u32,
    #[prost(string, tag = "11")]
    pub status_desc: String,
    #[prost(bytes = "vec", repeated, tag = "20")]
    pub messages: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "51")]
    pub pagination_cursor: Option<Vec<u8>>,
}

view!(
    QueryResponseView, ProstQueryResponse, known [1, 10, 11, 20, 51], single [], hashes [51],
    |view, prost| {
        assert_eq!(view.request_id(), Some(&*prost.request_id));
        assert_eq!(view.status_code(), prost.status_code);
        assert_eq!(view.status_desc(), Some(&*prost.status_desc));
        assert_eq!(view.messages().len(), prost.messages.len());
        for (item, prost) in view.messages().zip(&prost.messages) {
            assert!(item.is_err() || item.unwrap().raw() == prost);
        }
        let cursor = view.pagination_cursor();
        assert_eq!(cursor.as_ref().map(AsRef::as_ref), prost.pagination_cursor.as_deref());
    }
);

#[derive(Clone, PartialEq, Message)]
pub struct ProstKeyValue {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub message_hash: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub message: Option<Vec<u8>>,
    #[prost(string, optional, tag = "3")]
    pub pubsub_topic: Option<String>,
}

view!(
    KeyValueView, ProstKeyValue, known [1, 2, 3], single [2], hashes [1],
    |view, prost| {
        let hash = view.message_hash();
        assert_eq!(hash.as_ref().map(AsRef::as_ref), prost.message_hash.as_deref());
        assert_eq!(view.message_bytes(), prost.message.as_deref());
        assert_eq!(view.message().is_some(), prost.message.is_some());
        assert_eq!(view.pubsub_topic(), prost.pubsub_topic.as_deref());
    }
);

macro_rules! transfer {
    ($transfer:ident, $prost:ident, topic $topic:literal, message $message:literal) => {
        #[derive(Clone, PartialEq, Message)]
        pub struct $prost {
            #[prost(string, tag = $topic)]
            pub pubsub_topic: String,
            #[prost(bytes = "vec", optional, tag = $message)]
            pub message: Option<Vec<u8>>,
        }

        #[derive(PartialEq)]
        struct $transfer<'a>(TransferView<&'a [u8]>);

        impl<'a> View<'a> for $transfer<'a> {
            type Prost = $prost;

            const KNOWN: &'static [u64] = &[1, 2];
            const SINGLE_MESSAGES: &'static [u64] = &[1, 2];

            fn read(frame: &'a [u8], rules: &Rules) -> Result<Self, Error> {
                TransferView::parse_with(frame, FieldOrder::$transfer, rules).map(Self)
            }

            fn frame(&self) -> &[u8] {
                self.0.raw()
            }

            fn unknown(&self) -> Vec<u64> {
                self.0.unknown_fields().map(|field| field.number).collect()
            }

            fn is_detached_alike(&self) -> bool {
                let detached = self.0.detach();
                detached == self.0
                    && self.0 == self.0.as_borrowed()
                    && detached.raw() == self.0.raw()
                    && format!("{detached} {detached:?}") == format!("{0} {0:?}", self.0)
            }

            fn is(&self, prost: &$prost) {
                assert_eq!(self.0.pubsub_topic(), Some(&*prost.pubsub_topic));
                assert_eq!(self.0.message_bytes(), prost.message());
                let number = FieldOrder::$transfer.message();
                assert_eq!(self.0.has(number), prost.message.is_some());
            }
        }
    };
}

transfer!(TopicFirst, ProstTopicFirst, topic "1", message "2");
transfer!(MessageFirst, ProstMessageFirst, topic "2", message "1");

#[cfg(test)]
mod driven {
    use std::fs;

    use borrowire::hex::{self, Case};
    use borrowire::proto;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn by_the_fixtures() {
        fixture_frames().iter().for_each(|frame| any_frame(frame));
    }

    #[test]
    fn by_damaged_fixtures() {
        fixture_frames().iter().for_each(|frame| every_damage(frame, any_frame));
    }

    #[test]
    fn by_the_committed_corpus() {
        corpus("waku_store").iter().for_each(|frame| any_frame(frame));
    }

    proptest! {
        #[test]
        fn by_noise(bytes in vec(any::<u8>(), 0..100)) {
            any_frame(&bytes);
        }

        /// Noise that looks like fields, with such noise in them, gets further than noise.
        #[test]
        fn by_fields(fields in vec(noisy_field(3), 0..8)) {
            any_frame(&fields.concat());
        }

        #[test]
        fn by_key_values(fields in vec(noisy_field(1), 0..4), more in vec(noisy_field(1), 0..4)) {
            let mut frame = Vec::new();
            proto::put_len(&mut frame, 20, &fields.concat());
            proto::put_len(&mut frame, 20, &more.concat());
            any_query_response(&frame);
        }

        #[test]
        fn by_payloads(payload in noisy_payload()) {
            any_payload(&payload);
        }

        #[test]
        fn by_ids(
            ids in vec((prop_oneof![0_i64..4, any::<i64>()], vec(0_u8..3, 0..33)), 0..12),
            topics in vec(".{0,20}", 0..3),
        ) {
            let id = |(timestamp, start): &(i64, Vec<u8>)| {
                Bound { timestamp: *timestamp, prefix: start }.id()
            };
            let ids: Vec<_> = ids.iter().map(id).collect();
            let topics: Vec<_> = topics.iter().map(|topic| &**topic).collect();
            ids_are_reconciled(&ids, &topics);
        }
    }

    /// A field of a number that matters; those of hashes have 32 bytes more often than not.
    fn noisy_field(depth: u32) -> impl Strategy<Value = Vec<u8>> {
        let numbers = vec![1_u64, 1, 2, 2, 3, 10, 11, 12, 13, 20, 20, 51, 52, 53, 99];
        let number = prop::sample::select(numbers);
        let leaf = prop_oneof![
            vec(any::<u8>(), 0..4),
            vec(any::<u8>(), 32),
            vec(any::<u8>(), 32),
            "[a-z/]{0,10}".prop_map(String::into_bytes),
            Just(b"\x0a\x01\x01\x12\x01a".to_vec()),
        ];
        let varint =
            (number.clone(), any::<u64>(), 0_u32..64).prop_map(|(number, value, shift)| {
                let mut out = Vec::new();
                proto::put_varint(&mut out, number << 3);
                proto::put_varint(&mut out, value >> shift);
                out
            });
        let len = move |value: BoxedStrategy<Vec<u8>>| {
            (number.clone(), value).prop_map(|(number, value)| {
                let mut out = Vec::new();
                proto::put_len(&mut out, number as u32, &value);
                out
            })
        };
        let field = prop_oneof![1 => varint.clone(), 3 => len(leaf.boxed())].boxed();
        field.prop_recursive(depth, 32, 5, move |inner| {
            let inside = vec(inner, 0..5).prop_map(|fields| fields.concat());
            prop_oneof![1 => varint.clone(), 4 => len(inside.boxed())]
        })
    }

    /// Parts of a payload in an order that is right for one layout or nearly so.
    fn noisy_payload() -> impl Strategy<Value = Vec<u8>> {
        let varint = prop_oneof![0_u64..3, any::<u64>(), Just(1_700_000_000_000_000_000)].prop_map(
            |value| {
                let mut out = Vec::new();
                proto::put_varint(&mut out, value);
                out
            },
        );
        let item = (varint.clone(), vec(any::<u8>(), 32)).prop_map(|(a, b)| [a, b].concat());
        let content = prop_oneof![
            Just(vec![0]),
            vec(any::<u8>(), 32).prop_map(|sum| [vec![1], sum].concat()),
            (vec(item, 0..4), 0_u8..3).prop_map(|(items, reconciled)| {
                [vec![2, items.len() as u8], items.concat(), vec![reconciled]].concat()
            }),
            vec(any::<u8>(), 0..4),
        ];
        let upper = prop_oneof![
            varint.clone(),
            vec(any::<u8>(), 0..34).prop_map(|start| [vec![0, start.len() as u8], start].concat()),
        ];
        let range = (upper, content).prop_map(|(upper, content)| [upper, content].concat());
        let topics = vec("[a-z]{0,4}", 0..3).prop_map(|topics| {
            let mut out = vec![topics.len() as u8];
            for topic in topics {
                out.push(topic.len() as u8);
                out.extend_from_slice(topic.as_bytes());
            }
            out
        });
        let head = prop_oneof![
            (topics.clone(), topics, varint.clone()).prop_map(|(a, b, c)| [a, b, c].concat()),
            vec(varint, 0..4)
                .prop_map(|numbers| { [vec![7, numbers.len() as u8], numbers.concat()].concat() }),
        ];
        (head, vec(range, 0..4)).prop_map(|(head, ranges)| [head, ranges.concat()].concat())
    }

    fn fixture_frames() -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        for name in ["store.json", "reconciliation.json"] {
            let path = format!("{}/fixtures/waku/{name}", env!("CARGO_MANIFEST_DIR"));
            let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            for case in cases["cases"].as_array().unwrap() {
                let hex = case["hex"].as_str().unwrap();
                let mut bytes = vec![0; hex.len() / 2];
                hex::decode(hex.as_bytes(), &mut bytes, Case::Lower, "fixture").unwrap();
                frames.push(bytes);
            }
        }
        frames
    }
}
