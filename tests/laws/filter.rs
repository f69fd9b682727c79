//! Laws of filters (NIP-01). The oracles are serde_json and a matcher over its values that is as
//! plain as can be.

use std::collections::BTreeMap;
use std::fmt;

use borrowire::nostr::event::EventView;
use borrowire::nostr::filter::{CompiledFilter, Filter, FilterSet, FilterView, Visited};
use borrowire::rules::Rules;
use borrowire::{Error, ErrorKind};
use bytes::{Bytes, BytesMut};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::error_is_where_it_says;

/// All laws of bytes that may be anything: of a filter, or of several in lines.
pub fn any_filters(text: &[u8]) {
    any_filter(text);
    let lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
    if lines.len() > 1 {
        a_set_answers_as_each_filter_alone(&lines);
    }
}

/// All laws of one filter.
pub fn any_filter(filter: &[u8]) {
    let read = FilterView::parse(filter);
    let lenient = FilterView::parse_with(filter, &Rules::LENIENT);
    read_as_serde_json_reads_it(filter, &read, false);
    read_as_serde_json_reads_it(filter, &lenient, true);
    match lenient {
        Ok(view) => {
            assert!(read.is_err() || read.as_ref() == Ok(&view));
            view_is_whole(filter, &view);
            what_is_read_can_be_written(&view);
            prefixes_are_incomplete(filter);
            let parts = Parts::of_view(&view);
            for event in events_near(&parts) {
                compiled_matches_as_the_plain_matcher(&view, &parts, &event);
            }
        }
        Err(error) => error_is_where_it_says(filter, error),
    }
}

/// A filter that is made ready matches what the plain matcher does.
pub fn compiled_matches_as_the_plain_matcher(view: &FilterView<&[u8]>, parts: &Parts, event: &str) {
    let compiled = CompiledFilter::from(view);
    assert_eq!((compiled.limit(), compiled.search()), (parts.limit, parts.search.as_deref()));
    let view = EventView::parse(event.as_bytes()).unwrap();
    let plain = parts.matches(&serde_json::from_str(event).unwrap());
    assert_eq!(compiled.matches(&view), plain, "{parts:?}\n{event}");
}

/// Lines are handed to a set, one after the other: `lines[i]` is a filter of subscription `i % 5`,
/// beside the one that it had if `i` is a multiple of 3, in its place if not. A line that is no
/// filter takes the subscription out. The set then tells of every event what its filters tell, each
/// alone.
pub fn a_set_answers_as_each_filter_alone(lines: &[&[u8]]) {
    let mut set = FilterSet::new();
    let mut twin = BTreeMap::<usize, Vec<CompiledFilter>>::new();
    let mut events = Vec::new();
    let mut visited = Visited::new();
    for (i, line) in lines.iter().enumerate() {
        let key = i % 5;
        match FilterView::parse(*line) {
            Ok(view) => {
                let was_there = twin.contains_key(&key);
                let filters = twin.entry(key).or_default();
                filters.truncate(if i % 3 == 0 { 1 } else { 0 });
                filters.push(CompiledFilter::from(&view));
                let replaced = set.insert(key, filters.iter().cloned());
                assert_eq!(replaced, was_there);
                let parts = Parts::of_view(&view);
                events.extend(events_near(&parts).into_iter().take(6));
                events.drain(..events.len().saturating_sub(24));
            }
            Err(_) => assert_eq!(set.remove(&key), twin.remove(&key).is_some()),
        }
        assert_eq!((set.len(), set.is_empty()), (twin.len(), twin.is_empty()));
        assert_eq!(set.contains(&key), twin.contains_key(&key));
        for event in &events {
            set_tells(&set, &twin, &mut visited, event);
        }
    }
    for key in 0..5 {
        assert_eq!(set.remove(&key), twin.remove(&key).is_some());
        for event in &events {
            set_tells(&set, &twin, &mut visited, event);
        }
    }
    assert!(set.is_empty() && !set.remove(&0));
}

/// What the set tells of one event.
pub fn set_tells(
    set: &FilterSet<usize>,
    twin: &BTreeMap<usize, Vec<CompiledFilter>>,
    visited: &mut Visited,
    event: &str,
) {
    let view = EventView::parse(event.as_bytes()).unwrap();
    let alone = twin.iter().filter(|(_, filters)| filters.iter().any(|f| f.matches(&view)));
    let alone: Vec<_> = alone.map(|(key, _)| *key).collect();
    let mut found = vec![usize::MAX];
    set.matches(&view, visited, &mut found);
    assert_eq!(found.remove(0), usize::MAX);
    found.sort_unstable();
    assert_eq!(found, alone, "{event}");
}

/// The filter of these parts is what serde_json writes of them, and is read back.
pub fn written_is_read_back(parts: &Parts) {
    let twin = serde_json::to_vec(parts).unwrap();
    let written = written(parts);
    assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&twin));
    let view = FilterView::parse(&twin[..]).unwrap();
    assert_eq!(Parts::of_view(&view), *parts);
    any_filter(&twin);
}

/// What a filter holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    pub ids: Option<Vec<[u8; 32]>>,
    pub authors: Option<Vec<[u8; 32]>>,
    pub kinds: Option<Vec<u16>>,
    pub tags: BTreeMap<char, Vec<String>>,
    pub since: Option<u64>,
    pub until: Option<u64>,
    pub limit: Option<u64>,
    pub search: Option<String>,
    pub unknown: Vec<(String, Value)>,
}

impl Parts {
    /// Whether an event matches, a value of serde_json.
    pub fn matches(&self, event: &Value) -> bool {
        let is_in = |list: &Option<Vec<[u8; 32]>>, key: &str| {
            list.as_ref().is_none_or(|list| list.iter().any(|id| hex::encode(id) == event[key]))
        };
        let created_at = event["created_at"].as_u64().unwrap();
        let tags = event["tags"].as_array().unwrap();
        is_in(&self.ids, "id")
            && is_in(&self.authors, "pubkey")
            && self.kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|k| *k == event["kind"]))
            && self.since.is_none_or(|since| since <= created_at)
            && self.until.is_none_or(|until| created_at <= until)
            && self.tags.iter().all(|(letter, values)| {
                values.iter().any(|value| {
                    let asked = [letter.to_string(), value.clone()];
                    tags.iter().any(|tag| {
                        tag.as_array().unwrap().get(..2).is_some_and(|start| start == asked)
                    })
                })
            })
    }

    /// What serde_json makes of a filter, if that is one.
    pub fn of_entries(entries: &Entries, uppercase: bool) -> Option<Self> {
        let mut parts = Self::default();
        let mut seen = Vec::new();
        let ids = |value: &Value| -> Option<Vec<_>> {
            let id = |value: &Value| {
                let digits = value.as_str()?;
                let is_lower = !digits.contains(|char: char| char.is_ascii_uppercase());
                let id: [u8; 32] = hex::decode(digits).ok()?.try_into().ok()?;
                (is_lower || uppercase).then_some(id)
            };
            value.as_array()?.iter().map(id).collect()
        };
        for (key, value) in &entries.0 {
            let chars: Vec<_> = key.chars().collect();
            match (&**key, &*chars) {
                ("ids", _) => parts.ids = Some(ids(value)?),
                ("authors", _) => parts.authors = Some(ids(value)?),
                ("kinds", _) => {
                    let kind = |kind: &Value| kind.as_u64()?.try_into().ok();
                    let kinds: Option<_> = value.as_array()?.iter().map(kind).collect();
                    parts.kinds = Some(kinds?);
                }
                ("since", _) => parts.since = Some(value.as_u64()?),
                ("until", _) => parts.until = Some(value.as_u64()?),
                ("limit", _) => parts.limit = Some(value.as_u64()?),
                ("search", _) => parts.search = Some(value.as_str()?.to_owned()),
                (_, ['#', letter]) if letter.is_ascii_alphabetic() => {
                    let text = |value: &Value| value.as_str().map(str::to_owned);
                    let values: Option<_> = value.as_array()?.iter().map(text).collect();
                    parts.tags.insert(*letter, values?);
                }
                _ => {
                    parts.unknown.push((key.clone(), value.clone()));
                    continue;
                }
            }
            if seen.contains(&key) {
                return None;
            }
            seen.push(key);
        }
        Some(parts)
    }

    pub fn of_view(view: &FilterView<&[u8]>) -> Self {
        let tags: Vec<_> = view.tags().collect();
        for (letter, values) in &tags {
            assert!(view.tag(*letter).unwrap().eq(values.clone()));
        }
        assert!(view.tag('1').is_none() && view.tag('é').is_none() && view.tag('🦩').is_none());
        assert_eq!(view.ids().map(|ids| ids.len()), view.ids().map(Iterator::count));
        assert_eq!(view.kinds().map(|kinds| kinds.len()), view.kinds().map(Iterator::count));
        let text = |text: borrowire::json::JsonStr<'_>| text.to_string();
        let unknown = view.unknown_keys().map(|(key, value)| {
            (key.to_string(), serde_json::from_str(value.as_str()).unwrap_or(Value::Null))
        });
        Self {
            ids: view.ids().map(Iterator::collect),
            authors: view.authors().map(Iterator::collect),
            kinds: view.kinds().map(Iterator::collect),
            tags: tags.into_iter().map(|(letter, v)| (letter, v.map(text).collect())).collect(),
            since: view.since(),
            until: view.until(),
            limit: view.limit(),
            search: view.search().map(text),
            unknown: unknown.collect(),
        }
    }
}

/// In the order that the builder writes; without the unknown keys.
impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hex = |ids: &Vec<[u8; 32]>| ids.iter().map(hex::encode).collect::<Vec<_>>();
        let mut map = serializer.serialize_map(None)?;
        for (key, ids) in [("ids", &self.ids), ("authors", &self.authors)] {
            if let Some(ids) = ids {
                map.serialize_entry(key, &hex(ids))?;
            }
        }
        if let Some(kinds) = &self.kinds {
            map.serialize_entry("kinds", kinds)?;
        }
        for (letter, values) in &self.tags {
            map.serialize_entry(&format!("#{letter}"), values)?;
        }
        for (key, number) in [("since", self.since), ("until", self.until), ("limit", self.limit)] {
            if let Some(number) = number {
                map.serialize_entry(key, &number)?;
            }
        }
        if let Some(search) = &self.search {
            map.serialize_entry("search", search)?;
        }
        map.end()
    }
}

/// The keys of an object with their values, in the order of the text, doubles included.
#[derive(Debug)]
pub struct Entries(pub Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

/// Events that meet a filter, or nearly so: each of its conditions is met by most of them. Spelled
/// with escapes here and there.
pub fn events_near(parts: &Parts) -> Vec<String> {
    let mut dice = Dice(1);
    let mut pick = |list: Option<&Vec<[u8; 32]>>| {
        let roll = dice.roll();
        let pick = list.filter(|list| !list.is_empty() && !roll.is_multiple_of(8));
        hex::encode(pick.map_or([roll as u8; 32], |list| list[roll as usize / 8 % list.len()]))
    };
    let ids: Vec<_> =
        (0..16).map(|_| (pick(parts.ids.as_ref()), pick(parts.authors.as_ref()))).collect();
    let event = |(id, pubkey): (String, String)| {
        let kinds = parts.kinds.as_deref().filter(|kinds| !kinds.is_empty());
        let kind = match (kinds, dice.roll() as usize) {
            (Some(kinds), roll) if roll % 8 != 0 => kinds[roll / 8 % kinds.len()],
            (_, roll) => roll as u16,
        };
        let (since, until) = (parts.since.unwrap_or(0), parts.until.unwrap_or(u64::MAX));
        let created_at = match dice.roll() % 8 {
            0 => since.saturating_sub(1),
            1 => until.saturating_add(1),
            2 | 3 => since,
            4 | 5 => until,
            _ => since / 2 + until / 2,
        };
        let mut tags: Vec<Vec<String>> =
            vec![vec![], vec!["-".into()], vec!["xx".into(), "xx".into()]];
        for (letter, values) in &parts.tags {
            let roll = dice.roll() as usize;
            let name = letter.to_string();
            let other_case = match letter.is_ascii_lowercase() {
                true => letter.to_ascii_uppercase(),
                false => letter.to_ascii_lowercase(),
            };
            if values.is_empty() {
                tags.push(vec![name]);
                continue;
            }
            let value = values[roll / 8 % values.len()].clone();
            tags.extend(match roll % 12 {
                0 => vec![vec![name]],
                1 => vec![vec![name, "x".into(), value]],
                2 => vec![vec![other_case.to_string(), value]],
                3 => vec![vec![format!("{name}{name}"), value]],
                4 => vec![vec![name, format!("{value} ")]],
                5 => vec![vec![name.clone(), value.clone()], vec![name, value]],
                _ => vec![vec![name.clone(), "x".into()], vec![name, value, "more".into()]],
            });
        }
        let tags: Vec<_> = tags
            .iter()
            .map(|tag| {
                let elements: Vec<_> =
                    tag.iter().map(|text| spelled(text, dice.roll().is_multiple_of(4))).collect();
                format!("[{}]", elements.join(","))
            })
            .collect();
        format!(
            r#"{{"id":"{id}","pubkey":"{pubkey}","created_at":{created_at},"kind":{kind},"tags":[{}],"content":"","sig":"{}"}}"#,
            tags.join(","),
            "0".repeat(128),
        )
    };
    ids.into_iter().map(event).collect()
}

/// A JSON string, with its first character escaped though it need not be.
fn spelled(text: &str, escaped: bool) -> String {
    match text.chars().next() {
        Some(first) if escaped && first.is_ascii() => {
            let rest = serde_json::to_string(&text[1..]).unwrap();
            format!("\"\\u{:04X}{}", first as u32, &rest[1..])
        }
        _ => serde_json::to_string(text).unwrap(),
    }
}

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }
}

/// A filter is accepted if serde_json reads an object with the right values under the known keys,
/// each once, and it then holds the same. Exceptions: serde_json alone refuses numbers beyond f64, so
/// such filters are left out; digits that are spelled with escapes are refused by that name; and
/// there is a limit to the number of values.
fn read_as_serde_json_reads_it(
    filter: &[u8],
    read: &Result<FilterView<&[u8]>, Error>,
    uppercase: bool,
) {
    let entries = serde_json::from_slice::<Entries>(filter);
    if let Err(error) = &entries
        && error.to_string().starts_with("number out of range")
    {
        return;
    }
    let expected = entries.as_ref().ok().and_then(|e| Parts::of_entries(e, uppercase));
    match (read, expected) {
        (Ok(view), expected) => assert_eq!(Some(Parts::of_view(view)), expected),
        (Err(error), _) if error.kind() == ErrorKind::HexEscape => {
            assert!(["filter.ids", "filter.authors"].contains(&error.context()));
        }
        (Err(error), _) if matches!(error.kind(), ErrorKind::TooMany { .. }) => {
            assert!(filter.len() > 20_000, "{error}");
        }
        (Err(error), Some(expected)) => panic!("{error}, but serde_json reads {expected:?}"),
        (Err(error), None) => {
            let is_text = std::str::from_utf8(filter).is_ok();
            let is_cut = entries.is_err_and(|error| error.is_eof());
            assert!(!error.is_incomplete() || is_cut || !is_text, "{error}");
        }
    }
}

/// A view gives the filter back, and a copy of it is equal and lies elsewhere.
fn view_is_whole(filter: &[u8], view: &FilterView<&[u8]>) {
    let trimmed = std::str::from_utf8(filter).unwrap().trim_matches([' ', '\n', '\r', '\t']);
    assert_eq!(view.raw(), trimmed);
    assert_eq!(view.raw_json().as_str(), trimmed);
    assert_eq!(view.buffer().as_ptr(), filter.as_ptr());
    let detached = view.detach();
    assert_eq!(detached, *view);
    assert_eq!(*view, detached);
    assert_eq!((detached.raw(), detached.buffer().len()), (trimmed, trimmed.len()));
    assert_ne!(detached.raw().as_ptr(), view.raw().as_ptr());
    assert_eq!(format!("{view:?}{view}"), format!("{detached:?}{detached}"));
    let again = FilterView::parse_with(Bytes::copy_from_slice(filter), &Rules::LENIENT).unwrap();
    assert_eq!(again, detached);
    let text = std::str::from_utf8(filter).unwrap();
    assert_eq!(FilterView::parse_str(text, &Rules::LENIENT).unwrap(), *view);
    assert_eq!(FilterView::parse_text(text.into(), &Rules::LENIENT).unwrap(), *view);
    assert_eq!(FilterView::try_from(filter).ok(), FilterView::parse(filter).ok());
}

/// The filter that is written from a view is equal to it, is the one that serde_json writes, and
/// matches the same.
fn what_is_read_can_be_written(view: &FilterView<&[u8]>) {
    let parts = Parts::of_view(view);
    let first = written(&parts);
    assert_eq!(first, serde_json::to_vec(&parts).unwrap());
    let again = FilterView::parse(&first[..]).unwrap();
    assert_eq!(again, *view);
    assert_eq!(*view, again);
    assert_eq!(CompiledFilter::from(&again), CompiledFilter::from(view));
    let serialized = serde_json::to_vec(view).unwrap();
    assert_eq!(FilterView::parse(&serialized[..]).unwrap(), *view);
    assert_eq!(serialized.len(), first.len());
}

/// What the builder writes, into whatever room there is.
fn written(parts: &Parts) -> Vec<u8> {
    let tags: Vec<_> = parts
        .tags
        .iter()
        .map(|(letter, values)| (*letter, values.iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    let ids: Vec<_> = tags
        .iter()
        .map(|(letter, values)| {
            let id = |value: &&str| {
                let id: Option<[u8; 32]> = hex::decode(value).ok()?.try_into().ok();
                id.filter(|id| hex::encode(id) == *value)
            };
            (*letter, values.iter().map(id).collect::<Option<Vec<_>>>())
        })
        .collect();
    let mut filter = Filter::new();
    if let Some(ids) = &parts.ids {
        filter = filter.ids(ids);
    }
    if let Some(authors) = &parts.authors {
        filter = filter.authors(authors);
    }
    if let Some(kinds) = &parts.kinds {
        filter = filter.kinds(kinds);
    }
    // In any order, and the last of each letter counts.
    for ((letter, values), (_, ids)) in tags.iter().zip(&ids).rev() {
        filter = filter.tag(*letter, &["another"]);
        filter = match ids {
            Some(ids) => filter.tag_ids(*letter, ids),
            None => filter.tag(*letter, values),
        };
    }
    if let Some(since) = parts.since {
        filter = filter.since(since);
    }
    if let Some(until) = parts.until {
        filter = filter.until(until);
    }
    if let Some(limit) = parts.limit {
        filter = filter.limit(limit);
    }
    if let Some(search) = &parts.search {
        filter = filter.search(search);
    }
    let (mut vec, mut bytes) = (b"before".to_vec(), BytesMut::from(&b"before"[..]));
    filter.write(&mut vec);
    filter.write(&mut bytes);
    assert_eq!(vec, bytes);
    assert_eq!(vec.len(), 6 + filter.encoded_len());
    assert_eq!(filter.to_json().as_bytes(), &vec[6..]);
    vec.split_off(6)
}

/// A filter that ends before its closing brace is incomplete: all prefixes of a short one, some of a
/// long one.
fn prefixes_are_incomplete(filter: &[u8]) {
    let end = filter.iter().rposition(|byte| *byte == b'}').unwrap();
    let step = 1 + end / 48;
    for len in (0..end).step_by(step).chain([end]) {
        let error = FilterView::parse_with(&filter[..len], &Rules::LENIENT).unwrap_err();
        assert!(error.is_incomplete(), "{len} bytes of {}: {error}", filter.escape_ascii());
        assert!(error.offset() <= len);
    }
}

#[cfg(test)]
mod driven {
    use std::fs;

    use borrowire::rules::Limits;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use proptest::{option, sample};
    use serde_json::json;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn the_fixtures_are_read() {
        for case in &fixtures().read {
            let filter = case["filter"].as_str().unwrap();
            any_filter(filter.as_bytes());
            let view = FilterView::parse(filter.as_bytes()).expect(filter);
            let parts = Parts::of_view(&view);
            let hex = |ids: &Option<Vec<[u8; 32]>>| {
                json!(ids.as_ref().map(|ids| ids.iter().map(hex::encode).collect::<Vec<_>>()))
            };
            assert_eq!(hex(&parts.ids), case["ids"], "{filter}");
            assert_eq!(hex(&parts.authors), case["authors"], "{filter}");
            assert_eq!(json!(parts.kinds), case["kinds"], "{filter}");
            assert_eq!(json!(parts.tags), case["tags"], "{filter}");
            assert_eq!(json!(parts.since), case["since"], "{filter}");
            assert_eq!(json!(parts.until), case["until"], "{filter}");
            assert_eq!(json!(parts.limit), case["limit"], "{filter}");
            assert_eq!(json!(parts.search), case["search"], "{filter}");
            let mut unknown: Vec<_> = parts.unknown.iter().map(|(key, _)| key).collect();
            unknown.dedup();
            assert_eq!(json!(unknown), case["unknown"], "{filter}");
        }
    }

    #[test]
    fn the_fixtures_are_refused() {
        for case in &fixtures().refused {
            let filter = case["filter"].as_str().unwrap();
            any_filter(filter.as_bytes());
            let error = FilterView::parse(filter.as_bytes()).expect_err(filter);
            let found = json!([error.kind().name(), error.context(), error.offset()]);
            assert_eq!(found, case["error"], "{case}");
        }
    }

    #[test]
    fn the_fixtures_match_the_feed() {
        let (cases, feed) = (fixtures().matches, feed());
        let (mut set, mut twin) = (FilterSet::new(), BTreeMap::new());
        for (key, case) in cases.iter().enumerate() {
            let filter = case["filter"].to_string();
            any_filter(filter.as_bytes());
            let view = FilterView::parse(filter.as_bytes()).unwrap();
            let (parts, compiled) = (Parts::of_view(&view), CompiledFilter::from(&view));
            let mut lines = Vec::new();
            for (line, event) in feed.iter().enumerate() {
                compiled_matches_as_the_plain_matcher(&view, &parts, event);
                let event = EventView::parse(event.as_bytes()).unwrap();
                lines.extend(compiled.matches(&event).then_some(line));
            }
            assert_eq!(json!(lines), case["lines"], "{case}");
            assert!(!set.insert(key, [compiled.clone()]));
            twin.insert(key, vec![compiled]);
        }
        let mut visited = Visited::new();
        feed.iter().for_each(|event| set_tells(&set, &twin, &mut visited, event));
    }

    #[test]
    fn damaged_fixtures() {
        for case in &fixtures().read {
            let filter = case["filter"].as_str().unwrap();
            if filter.len() < 130 {
                every_damage(filter.as_bytes(), any_filter);
            }
        }
    }

    #[test]
    fn the_committed_corpus() {
        corpus("nostr_filter").iter().for_each(|filters| any_filters(filters));
    }

    #[test]
    fn limits_are_kept() {
        let kinds =
            |count: usize| format!("{{\"#a\":[\"\"],\"kinds\":[0{}]}}", ",1".repeat(count - 2));
        assert!(FilterView::parse(kinds(20_000).as_bytes()).is_ok());
        let error = FilterView::parse(kinds(20_001).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "filter.kinds: 20001, at most 20000 allowed, at byte 40018");
        any_filter(kinds(20_001).as_bytes());
        let mut limits = Limits::DEFAULT;
        limits.filter_values = 2;
        let rules = Rules::STRICT.with_limits(limits);
        assert!(FilterView::parse_with(kinds(2).as_bytes(), &rules).is_ok());
        assert!(FilterView::parse_with(kinds(3).as_bytes(), &rules).is_err());
        limits.json_depth = 1;
        let rules = Rules::STRICT.with_limits(limits);
        assert!(FilterView::parse_with(&b"{}"[..], &rules).is_ok());
        assert!(FilterView::parse_with(&br#"{"ids":[]}"#[..], &rules).is_err());
    }

    /// Many subscriptions over the feed's own values, replaced and taken out in turn.
    #[test]
    fn a_large_set_over_the_feed() {
        let feed = feed();
        let values: Vec<Value> =
            feed.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
        let (mut set, mut twin) = (FilterSet::new(), BTreeMap::new());
        let mut visited = Visited::new();
        let mut dice = Dice(7);
        for round in 0..2000 {
            let key = dice.roll() as usize % 300;
            if dice.roll().is_multiple_of(3) {
                assert_eq!(set.remove(&key), twin.remove(&key).is_some());
            } else {
                let filters: Vec<_> = (0..dice.roll() % 4)
                    .map(|_| {
                        let filter = parts_from_the_feed(&values, || dice.roll() as usize);
                        let filter = written(&filter);
                        CompiledFilter::from(&FilterView::parse(&filter[..]).unwrap())
                    })
                    .collect();
                let replaced = set.insert(key, filters.iter().cloned());
                assert_eq!(replaced, twin.insert(key, filters).is_some());
            }
            if round % 40 == 0 {
                feed.iter().for_each(|event| set_tells(&set, &twin, &mut visited, event));
                feed.iter().for_each(|event| set_tells(&set.clone(), &twin, &mut visited, event));
            }
        }
    }

    /// Filters that ask for parts of events that are there, each part now and then.
    fn parts_from_the_feed(feed: &[Value], mut roll: impl FnMut() -> usize) -> Parts {
        let mut parts = Parts::default();
        let event = |roll: usize| &feed[roll % 20];
        let id = |event: &Value, key: &str| {
            hex::decode(event[key].as_str().unwrap()).unwrap().try_into().unwrap()
        };
        if roll().is_multiple_of(8) {
            parts.ids = Some((0..roll() % 4).map(|_| id(event(roll()), "id")).collect());
        }
        if roll().is_multiple_of(4) {
            parts.authors = Some((0..roll() % 4).map(|_| id(event(roll()), "pubkey")).collect());
        }
        if roll().is_multiple_of(2) {
            let kind = |event: &Value| event["kind"].as_u64().unwrap() as u16;
            parts.kinds = Some((0..roll() % 4).map(|_| kind(event(roll()))).collect());
        }
        for _ in 0..roll() % 3 {
            let tags = event(roll())["tags"].as_array().unwrap();
            let names = tags.iter().map(|tag| tag[0].as_str().unwrap());
            for (i, name) in names.enumerate().filter(|(_, name)| name.len() == 1).take(2) {
                if let (Some(letter), Some(value)) = (name.chars().next(), tags[i][1].as_str())
                    && letter.is_ascii_alphabetic()
                {
                    parts.tags.entry(letter).or_default().push(value.to_owned());
                }
            }
        }
        if roll().is_multiple_of(8) {
            parts.since = event(roll())["created_at"].as_u64();
        }
        parts
    }

    proptest! {
        #[test]
        fn filters_of_any_parts(
            parts in parts(),
            changes in vec((any::<sample::Index>(), any::<u8>()), 0..3),
        ) {
            written_is_read_back(&parts);
            let mut damaged = written(&parts);
            for (at, byte) in changes {
                let at = at.index(damaged.len());
                damaged[at] = byte;
            }
            any_filter(&damaged);
        }

        #[test]
        fn sets_of_any_filters(filters in vec(option::weighted(0.8, parts()), 0..20)) {
            let filters: Vec<_> =
                filters.iter().map(|parts| parts.as_ref().map(written).unwrap_or_default()).collect();
            let lines: Vec<_> = filters.iter().map(Vec::as_slice).collect();
            a_set_answers_as_each_filter_alone(&lines);
        }
    }

    /// Few values, so that filters and events have some in common.
    fn parts() -> impl Strategy<Value = Parts> {
        let ids = || option::weighted(0.3, vec((0_u8..4).prop_map(|byte| [byte; 32]), 0..4));
        let kinds = option::weighted(0.4, vec(prop_oneof![0_u16..3, Just(u16::MAX)], 0..4));
        let text = prop_oneof![
            "[ab]{0,2}",
            "[a\"\\\\\u{0}-\u{20}é🦩]{0,6}",
            (0_u8..3).prop_map(|byte| hex::encode([byte; 32])),
        ];
        let tags = btree_map(sample::select(vec!['e', 'p', 'P', 'z']), vec(text, 0..4), 0..3);
        let time = || option::weighted(0.2, prop_oneof![0_u64..5, any::<u64>()]);
        let search = option::weighted(0.2, any::<String>());
        (ids(), ids(), kinds, tags, time(), time(), time(), search).prop_map(
            |(ids, authors, kinds, tags, since, until, limit, search)| Parts {
                ids,
                authors,
                kinds,
                tags,
                since,
                until,
                limit,
                search,
                unknown: Vec::new(),
            },
        )
    }

    struct Fixtures {
        read: Vec<Value>,
        refused: Vec<Value>,
        matches: Vec<Value>,
    }

    fn fixtures() -> Fixtures {
        let mut all: Value = serde_json::from_str(&fixture("filters.json")).unwrap();
        let [read, refused, matches] = ["read", "refused", "match"].map(|kind| {
            let Value::Array(cases) = all[kind].take() else { panic!("no {kind}") };
            assert!(cases.len() > 20);
            cases
        });
        Fixtures { read, refused, matches }
    }

    fn feed() -> Vec<String> {
        fixture("feed.ndjson").lines().map(str::to_owned).collect()
    }

    fn fixture(name: &str) -> String {
        let path = format!("{}/fixtures/nostr/{name}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(path).unwrap()
    }
}
