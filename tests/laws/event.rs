//! Laws of Nostr events. The oracles are serde_json, the `hex` crate and SHA-256 of the text that
//! serde_json writes.

use std::fmt;

use borrowire::buffer::{Buffer, Text};
use borrowire::nostr::event::{Dialect, EventView, event_ids, peek_event_id};
use borrowire::rules::Rules;
use borrowire::{Error, ErrorKind};
use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use super::error_is_where_it_says;

/// All laws of an event, for bytes that may be anything: alone, and in frames of both directions.
pub fn any_event(bytes: &[u8]) {
    let read = EventView::parse(bytes);
    read_as_serde_json_reads_it(bytes, &read);
    entries_agree(bytes, &read);
    peek_is_right(bytes);
    lenient_takes_more(bytes, &read);
    match read {
        Ok(view) => {
            view_is_whole(bytes, &view);
            id_is_that_of_the_canonical_text(&view);
            spelled_otherwise_it_is_the_same(&view);
            prefixes_are_incomplete(view.raw());
        }
        Err(error) => error_is_where_it_says(bytes, error),
    }
    frames_hold_it(bytes);
}

/// An event as serde_json reads it: every key with its value, in order.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Any)
    }
}

/// The fields of an event that the rules accept.
#[derive(Debug, PartialEq)]
struct Fields {
    id: [u8; 32],
    pubkey: [u8; 32],
    created_at: u64,
    kind: u16,
    tags: Vec<Vec<String>>,
    content: String,
    sig: [u8; 64],
    unknown: Vec<(String, Value)>,
}

impl Fields {
    /// What NIP-01 and the default rules make of an object.
    fn of(pairs: Vec<(String, Value)>) -> Option<Self> {
        const KNOWN: [&str; 7] = ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"];
        let (known, unknown): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(key, _)| KNOWN.contains(&&**key));
        let one = |key| {
            let mut values = known.iter().filter(|(known, _)| known == key).map(|(_, value)| value);
            values.next().filter(|_| values.next().is_none())
        };
        let number = |key| one(key)?.as_number().and_then(Number::as_u64);
        let tags = one("tags")?.as_array()?.iter().map(|tag| {
            tag.as_array()?.iter().map(|element| Some(element.as_str()?.to_owned())).collect()
        });
        Some(Self {
            id: lowercase_hex(one("id")?.as_str()?)?,
            pubkey: lowercase_hex(one("pubkey")?.as_str()?)?,
            created_at: number("created_at")?,
            kind: number("kind")?.try_into().ok()?,
            tags: tags.collect::<Option<_>>()?,
            content: one("content")?.as_str()?.to_owned(),
            sig: lowercase_hex(one("sig")?.as_str()?)?,
            unknown,
        })
    }

    fn of_view(view: &EventView<&[u8]>) -> Self {
        let tags = view.tags().map(|tag| tag.map(|element| element.to_string()).collect());
        let unknown = view.unknown_keys();
        let unknown = unknown.map(|(key, value)| {
            (key.to_string(), serde_json::from_str(value.as_str()).unwrap_or(Value::Null))
        });
        Self {
            id: *view.id(),
            pubkey: *view.pubkey(),
            created_at: view.created_at(),
            kind: view.kind(),
            tags: tags.collect(),
            content: view.content().to_string(),
            sig: view.sig(),
            unknown: unknown.collect(),
        }
    }
}

fn lowercase_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_lowercase = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    hex::decode(text).ok().filter(|_| is_lowercase)?.try_into().ok()
}

/// Accepted is what serde_json reads and the rules allow; and every field is as it reads it. Two
/// things serde_json cannot see: escapes in a hex field, which are refused, and numbers beyond f64
/// under unknown keys, which it refuses.
fn read_as_serde_json_reads_it(bytes: &[u8], read: &Result<EventView<&[u8]>, Error>) {
    let pairs = serde_json::from_slice::<Pairs>(bytes);
    let expected = match pairs {
        Ok(Pairs(pairs)) => Fields::of(pairs),
        Err(error) if error.to_string().starts_with("number out of range") => return,
        Err(_) => None,
    };
    match (read, expected) {
        (Ok(view), Some(expected)) => assert_eq!(Fields::of_view(view), expected),
        (Err(error), Some(_)) => assert_eq!(error.kind(), ErrorKind::HexEscape, "{error}"),
        (Err(_), None) => {}
        (Ok(view), None) => panic!("accepted: {view:?}"),
    }
}

/// All entries say the same: borrowed and owned bytes, and text that is checked already.
fn entries_agree(bytes: &[u8], read: &Result<EventView<&[u8]>, Error>) {
    let strict = &Rules::STRICT;
    let shared = Bytes::copy_from_slice(bytes);
    same(&EventView::parse(shared.clone()), read);
    let framed = EventView::parse_frame(bytes, strict);
    if bytes.trim_ascii_start().first() == Some(&b'{') {
        same(&framed, read);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    same(&EventView::parse_str(text, strict), &framed);
    let owned = EventView::parse_text(Text::try_from(shared).unwrap(), strict);
    same(&owned, &framed);
    if let Ok(owned) = owned {
        assert_eq!(owned.detach().raw(), owned.raw());
        same(&Ok(owned.detach()), &framed);
    }
}

#[track_caller]
fn same<B: Buffer, C: Buffer>(a: &Result<EventView<B>, Error>, b: &Result<EventView<C>, Error>) {
    match (a, b) {
        (Ok(a), Ok(b)) => assert!(a == b && a.raw() == b.raw(), "{a:?}, {b:?}"),
        (Err(a), Err(b)) => assert_eq!(a, b),
        _ => panic!("{a:?}, {b:?}"),
    }
}

/// Where the peek answers and the parser accepts, they agree.
fn peek_is_right(frame: &[u8]) {
    let peeked = peek_event_id(frame);
    if let (Some(id), Ok(view)) = (peeked, EventView::parse_frame(frame, &Rules::STRICT)) {
        assert_eq!(&id, view.id());
    }
}

/// Lenient rules take all that strict ones take, and read it alike.
fn lenient_takes_more(bytes: &[u8], read: &Result<EventView<&[u8]>, Error>) {
    let lenient = EventView::parse_with(bytes, &Rules::LENIENT);
    if let Ok(view) = read {
        assert_eq!(lenient.as_ref(), Ok(view));
        let shouted = view.raw().replace(view.pubkey_hex(), &view.pubkey_hex().to_uppercase());
        let lenient = EventView::parse_with(shouted.as_bytes(), &Rules::LENIENT).unwrap();
        assert_eq!(lenient.pubkey(), view.pubkey());
        if !view.raw_tags().contains(view.pubkey_hex()) && view.content().as_plain().is_some() {
            let is_elsewhere = view.content().raw().contains(view.pubkey_hex());
            assert!(is_elsewhere || lenient.computed_id() == view.computed_id());
        }
    }
}

/// Views share the bytes, and give them back as they are.
fn view_is_whole(bytes: &[u8], view: &EventView<&[u8]>) {
    assert_eq!(view.raw().as_bytes(), bytes.trim_ascii());
    assert!(bytes.as_ptr_range().contains(&view.raw().as_ptr()));
    assert_eq!(view, &view.clone());
    let again = serde_json::to_vec(view).unwrap();
    assert_eq!(EventView::parse(&again[..]).as_ref(), Ok(view));
}

/// The id is SHA-256 of the array that serde_json writes; in two lanes as well.
fn id_is_that_of_the_canonical_text(view: &EventView<&[u8]>) {
    let Fields { created_at, kind, tags, content, .. } = Fields::of_view(view);
    let pubkey = hex::encode(view.pubkey());
    let text = serde_json::to_string(&(0, pubkey, created_at, kind, tags, content)).unwrap();
    let id: [u8; 32] = Sha256::digest(text).into();
    assert_eq!(view.computed_id_by(Dialect::Json), id);
    event_ids(&[view.clone(), view.clone()], |_, found| assert_eq!(found, &id));
    assert_eq!(view.computed_id(), &id);
    let check = view.check_id();
    assert_eq!(check.is_match(), view.id() == &id);
    assert_eq!(check.is_match(), check.dialect == Some(Dialect::Json));
}

/// The same event with whitespace wherever it may stand, and with escaped keys, is read by another
/// parser, but is the same.
fn spelled_otherwise_it_is_the_same(view: &EventView<&[u8]>) {
    let raw = view.raw();
    if raw.len() > 10_000 {
        return;
    }
    let mut spaced = String::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for char in raw.chars() {
        let is_structure = !in_string && "{}[],:".contains(char);
        in_string ^= char == '"' && !is_escaped;
        is_escaped = in_string && char == '\\' && !is_escaped;
        match is_structure {
            true => spaced.extend([' ', char, '\n', '\t']),
            false => spaced.push(char),
        }
    }
    let escaped = raw.replacen("\"id\"", "\"\\u0069d\"", 1).replacen("\"sig\"", "\"s\\u0069g\"", 1);
    for text in [&spaced, &escaped] {
        let other = EventView::parse(text.as_bytes()).unwrap();
        assert_eq!(other.computed_id(), view.computed_id(), "{text}");
        assert_eq!(&other, view);
        assert_eq!(other.raw(), text.trim());
    }
}

/// Without its last bytes an event has only not ended yet.
fn prefixes_are_incomplete(raw: &str) {
    let ends = (0..raw.len()).filter(|end| raw.len() < 2000 || end % 97 == 0);
    for end in ends.chain([raw.len() - 1]) {
        let error = EventView::parse(&raw.as_bytes()[..end]).unwrap_err();
        assert!(error.is_incomplete(), "{error} after {end} bytes of {raw}");
    }
}

/// In a frame the event is the same, and an error is where it was.
fn frames_hold_it(bytes: &[u8]) {
    let alone = EventView::parse(bytes);
    for head in [&b"[\"EVENT\","[..], b"[\"EVENT\",\"s\\\"\",", b" [ \"EVENT\" , "] {
        let frame = [head, bytes, b"]"].concat();
        let framed = EventView::parse_frame(&frame[..], &Rules::STRICT);
        peek_is_right(&frame);
        match (&alone, framed) {
            (Ok(alone), Ok(framed)) => {
                assert_eq!(
                    (framed.raw(), framed.computed_id()),
                    (alone.raw(), alone.computed_id())
                );
            }
            // Of an event that has not ended, the bracket of the frame is a part.
            (Err(error), Err(framed)) if error.is_incomplete() => {
                assert!(framed.offset() <= frame.len());
            }
            (Err(error), Err(framed)) if bytes.first() == Some(&b'{') => {
                // What follows an event is the frame's.
                let is_behind = framed.offset() >= head.len() && framed.kind() != error.kind()
                    || matches!(framed.kind(), ErrorKind::TooDeep { .. });
                assert!(is_behind || framed.offset() == head.len() + error.offset(), "{framed}");
            }
            (Err(_), _) => {}
            // The frame is one level more, so it is too deep one level earlier.
            (Ok(_), Err(error)) => {
                assert!(matches!(error.kind(), ErrorKind::TooDeep { .. }), "{error}");
            }
        }
    }
}

#[cfg(test)]
mod driven {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn the_fixtures() {
        let cases = include_str!("../../fixtures/nostr/events.json");
        let cases: Value = serde_json::from_str(cases).unwrap();
        let mut seen = 0;
        for case in cases["cases"].as_array().unwrap() {
            let Some(event) = case["event_base64"].as_str() else { continue };
            use base64::Engine;
            let event = base64::engine::general_purpose::STANDARD.decode(event).unwrap();
            any_event(&event);
            seen += 1;
        }
        assert!(seen > 90);
    }

    #[test]
    fn the_feed() {
        include_str!("../../fixtures/nostr/feed.ndjson").lines().for_each(|event| {
            if event.len() < 20_000 {
                any_event(event.as_bytes());
            }
        });
    }

    #[test]
    fn damaged_events() {
        for (tags, content) in
            [(json!([]), "a\n\"b\"\\"), (json!([[], ["e", "é\u{1f}"], ["-"]]), "🦩 \u{7f}\u{2028}")]
        {
            every_damage(event(&tags, content).as_bytes(), any_event);
        }
    }

    #[test]
    fn the_committed_corpus() {
        corpus("nostr_event").iter().for_each(|event| any_event(event));
    }

    /// The edges of the blocks that are looked at at once, at all places.
    #[test]
    fn escapes_at_every_place() {
        for len in 0..300 {
            let plain = "a".repeat(len);
            for end in ["\"", "\\", "\n", "\u{1}", "\\\\\"", "é"] {
                let event = event(&json!([[plain, end]]), &format!("{plain}{end}{plain}"));
                let view = EventView::parse(event.as_bytes()).unwrap();
                read_as_serde_json_reads_it(event.as_bytes(), &Ok(view.clone()));
                id_is_that_of_the_canonical_text(&view);
            }
        }
    }

    proptest! {
        #[test]
        fn any_tags_and_content(
            tags in vec(vec(text(), 0..4), 0..5),
            content in text(),
            order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
            by_ascii in any::<bool>(),
            damage in (any::<prop::sample::Index>(), any::<u8>()),
        ) {
            let event: Value = serde_json::from_str(&event(&json!(tags), &content)).unwrap();
            let mut pairs: Vec<String> = event
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| format!("{}:{value}", json!(key)))
                .collect();
            pairs.push(format!("{}:{}", json!(content), json!({ "id": tags })));
            let ordered: Vec<_> = order.iter().map(|i| pairs[*i].clone()).collect();
            let mut text = format!("{{{}}}", ordered.join(","));
            if by_ascii {
                let units = |char: char| -> String {
                    char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                };
                text = text.chars().map(|c| if c.is_ascii() { c.into() } else { units(c) }).collect();
            }
            any_event(text.as_bytes());
            let mut damaged = text.into_bytes();
            let at = damage.0.index(damaged.len());
            damaged[at] = damage.1;
            any_event(&damaged);
        }
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{0,80}",
            "[a-z \"\\\\\n\u{0}\u{1}\u{1f}\u{7f}é中🦩/]{0,200}",
            Just("id".to_owned()),
            Just("\",\"id\":\"".to_owned()),
        ]
    }

    fn event(tags: &Value, content: &str) -> String {
        let pubkey = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        let hashed = json!([0, pubkey, 1_700_000_000, 1, tags, content]).to_string();
        let (id, sig) = (hex::encode(Sha256::digest(hashed)), "ab".repeat(64));
        format!(
            r#"{{"id":"{id}","pubkey":"{pubkey}","created_at":1700000000,"kind":1,"tags":{tags},"content":{},"sig":"{sig}"}}"#,
            json!(content)
        )
    }
}
