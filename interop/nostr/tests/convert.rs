//! Conversions, on the committed feed and on filters of any shape.

use borrowire::nostr::event::EventView;
use borrowire::nostr::filter::{CompiledFilter, FilterView};
use borrowire::rules::Rules;
use borrowire_nostr::{event_from_nostr, event_to_nostr, filter_from_nostr, filter_to_nostr};
use nostr::event::Event;
use nostr::filter::{Filter, MatchEventOptions};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

#[test]
fn every_event_of_the_feed_goes_there_and_back() {
    let mut count = 0;
    for line in FEED.lines() {
        let view = EventView::parse_str(line, &Rules::STRICT).unwrap();
        let event = event_to_nostr(&view).unwrap();
        assert_eq!(event, Event::from_json(line).unwrap());
        event.verify().unwrap();
        let back = event_from_nostr(&event).unwrap();
        assert_eq!(back, view);
        assert_eq!(back.raw(), line);
        count += 1;
    }
    assert_eq!(count, 256);
}

#[test]
fn what_the_other_side_cannot_hold_is_an_error_by_name() {
    let line = FEED.lines().next().unwrap();
    let mut value: Value = serde_json::from_str(line).unwrap();
    value["tags"] = json!([["t"], []]);
    let text = value.to_string();
    let view = EventView::parse_str(&text, &Rules::STRICT).unwrap();
    assert_eq!(event_to_nostr(&view).unwrap_err().to_string(), "tag 1");

    value["tags"] = json!([["t"]]);
    let text = value.to_string();
    let event = event_to_nostr(&EventView::parse_str(&text, &Rules::STRICT).unwrap()).unwrap();
    let error = event_from_nostr(&event).unwrap_err().to_string();
    assert!(error.starts_with("the event claims an id"), "{error}");
}

proptest! {
    /// The same filter, there and back, and the same events match on both sides.
    #[test]
    fn filters_go_there_and_back(filter in filter()) {
        let text = filter.to_string();
        let view = FilterView::parse_str(&text, &Rules::STRICT).unwrap();
        let theirs = filter_to_nostr(&view).unwrap();
        prop_assert_eq!(&theirs, &Filter::from_json(&text).unwrap());
        let back = filter_from_nostr(&theirs).unwrap();
        prop_assert_eq!(&theirs, &filter_to_nostr(&back).unwrap());
        // No order is lost where the lists were in order.
        prop_assert_eq!(serde_json::from_str::<Value>(back.raw()).unwrap(), filter);

        let [compiled, again] = [CompiledFilter::from(&view), CompiledFilter::from(&back)];
        // `search` is left to the application by borrowire.
        let all_but_search = MatchEventOptions { nip50: false, ..MatchEventOptions::new() };
        for line in FEED.lines() {
            let event = EventView::parse_str(line, &Rules::STRICT).unwrap();
            let matches = compiled.matches(&event);
            prop_assert_eq!(matches, again.matches(&event));
            let event = event_to_nostr(&event).unwrap();
            prop_assert_eq!(matches, theirs.match_event(&event, all_but_search), "{}", line);
        }
    }
}

/// A filter whose lists are in order, made of values that the feed has.
fn filter() -> impl Strategy<Value = Value> {
    let events: Vec<Value> = FEED.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |key: &str| {
        let text = |event: &Value| event[key].as_str().unwrap().to_owned();
        let values: Vec<_> = events.iter().map(text).collect();
        option::of(btree_set(prop::sample::select(values), 1..4))
    };
    let (ids, authors) = (of("id"), of("pubkey"));
    let kinds = option::of(btree_set(
        prop::sample::select(vec![0_u16, 1, 3, 6, 7, 9735, 30_023, u16::MAX]),
        1..4,
    ));
    let times: Vec<_> = events.iter().map(|event| event["created_at"].as_u64().unwrap()).collect();
    let time = option::of(prop::sample::select(times));
    let tag_values: Vec<String> = events
        .iter()
        .flat_map(|event| event["tags"].as_array().unwrap())
        .filter_map(|tag| tag.get(1)?.as_str())
        .map(str::to_owned)
        .collect();
    let value = prop_oneof![3 => prop::sample::select(tag_values), 1 => ".{0,8}"];
    let tags = vec(("[eptaEP]", btree_set(value, 1..4)), 0..3);
    let rest = (option::of(0_u32..1000), option::of(".{0,12}"), time.clone(), time);
    (ids, authors, kinds, tags, rest).prop_map(
        |(ids, authors, kinds, tags, (limit, search, since, until))| {
            let mut filter = Map::new();
            let mut set = |key: &str, value: Option<Value>| {
                value.map(|value| filter.insert(key.to_owned(), value));
            };
            set("ids", ids.map(|ids| json!(ids)));
            set("authors", authors.map(|authors| json!(authors)));
            set("kinds", kinds.map(|kinds| json!(kinds)));
            for (letter, values) in tags {
                set(&format!("#{letter}"), Some(json!(values)));
            }
            set("since", since.map(|since| json!(since)));
            set("until", until.map(|until| json!(until)));
            set("limit", limit.map(|limit| json!(limit)));
            set("search", search.map(|search| json!(search)));
            Value::Object(filter)
        },
    )
}

const FEED: &str = include_str!("../../../fixtures/nostr/feed.ndjson");
