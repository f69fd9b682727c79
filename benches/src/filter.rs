//! Filters and the events that they are held against, and the rivals that match them.

use nostr::event::Event;
use nostr::filter::{Filter, MatchEventOptions};
use serde_json::Value;

/// The committed feed: one event a line. See fixtures/nostr/README.md.
pub fn feed() -> Vec<&'static str> {
    include_str!("../../fixtures/nostr/feed.ndjson").lines().collect()
}

/// Filters of live subscriptions, `count` of them, in a mix that a relay might hold: follow lists,
/// notifications of a person, threads, profiles, events by id, hashtags, and one in a thousand that
/// asks for every note. People come from a population of 20,000, among them those of the feed, and
/// events that are asked for from 20,000, among them the feed's.
pub fn subscriptions(count: usize) -> Vec<String> {
    let feed: Vec<Value> =
        feed().iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let of_feed = |key: &str| -> Vec<String> {
        feed.iter().map(|event| event[key].as_str().unwrap().to_owned()).collect()
    };
    let (mut people, events) = (of_feed("pubkey"), of_feed("id"));
    people.sort();
    people.dedup();
    let mut dice = Dice(16);
    (0..count)
        .map(|i| {
            let kind = i % 1000;
            if kind == 999 {
                return r#"{"kinds":[1]}"#.to_owned();
            }
            let mut list = |of: &[String], len: usize| {
                let values: Vec<_> = (0..len).map(|_| dice.one_of(of)).collect();
                values.join(r#"",""#)
            };
            match kind % 20 {
                0..5 => format!(r#"{{"authors":["{}"],"kinds":[1,6]}}"#, list(&people, 50)),
                5..11 => {
                    format!(r##"{{"#p":["{}"],"kinds":[1,6,7,9735]}}"##, list(&people, 1))
                }
                11..15 => format!(r##"{{"#e":["{}"],"kinds":[1,6,7]}}"##, list(&events, 1)),
                15..17 => format!(r#"{{"authors":["{}"],"kinds":[0]}}"#, list(&people, 20)),
                17 => format!(r#"{{"ids":["{}"]}}"#, list(&events, 3)),
                18 => format!(r##"{{"#t":["topic{i}","nostr{i}"],"kinds":[1]}}"##),
                _ => format!(
                    r##"{{"kinds":[1],"#e":["{}"],"#p":["{}"],"since":1}}"##,
                    list(&events, 1),
                    list(&people, 1)
                ),
            }
        })
        .collect()
}

/// What `nostr` matches by; the content of events is not searched.
pub fn nostr_options() -> MatchEventOptions {
    MatchEventOptions { nip50: false, ..MatchEventOptions::new() }
}

/// A filter as `nostr` reads it.
pub fn nostr_filter(json: &str) -> Filter {
    Filter::from_json(json).unwrap()
}

/// An event as `nostr` reads it.
pub fn nostr_event(json: &str) -> Event {
    Event::from_json(json).unwrap()
}

/// A matcher over serde_json's values, as one writes it in an afternoon.
pub fn value_matches(filter: &Value, event: &Value) -> bool {
    let has = |list: &Value, value: &Value| list.as_array().is_some_and(|l| l.contains(value));
    filter.as_object().unwrap().iter().all(|(key, wanted)| match &**key {
        "ids" => has(wanted, &event["id"]),
        "authors" => has(wanted, &event["pubkey"]),
        "kinds" => has(wanted, &event["kind"]),
        "since" => wanted.as_u64() <= event["created_at"].as_u64(),
        "until" => wanted.as_u64() >= event["created_at"].as_u64(),
        _ => {
            let letter = &key[1..];
            let tags = event["tags"].as_array().unwrap();
            tags.iter().any(|tag| tag[0] == letter && has(wanted, &tag[1]))
        }
    })
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// One of 20,000, of which the first are `known`.
    fn one_of(&mut self, known: &[String]) -> String {
        let i = self.roll() % 20_000;
        match known.get(i as usize) {
            Some(known) => known.clone(),
            // Numbers of a population that nobody of the feed belongs to.
            None => {
                format!("{:064x}", u128::from(i + 1) * 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            }
        }
    }
}
