//! Laws of Nostr events. The oracles are serde_json, the `hex` crate and SHA-256 of the text that
//! serde_json writes.

use std::fmt;

use borrowire::buffer::{Buffer, Text};
use borrowire::nostr::event::{Dialect, EventView, event_ids, peek_event_id};
use borrowire::rules::{Limits, Rules};
use borrowire::{Error, ErrorKind, error::Expected};
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
            prefixes_are_incomplete(view.raw(), |prefix| EventView::parse(prefix));
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

const KNOWN: [&str; 7] = ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"];

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
    if bytes.iter().find(|byte| !b" \t\n\r".contains(byte)) == Some(&b'{') {
        same(&framed, read);
    }
    same(&EventView::parse_frame(shared.clone(), strict), &framed);
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

/// Without the whitespace that JSON knows around it; ASCII knows more.
fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..]
    | [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] = bytes
    {
        bytes = rest;
    }
    bytes
}

/// Where the peek answers and the parser accepts, they agree; and it answers for what is accepted
/// without an escape.
fn peek_is_right(frame: &[u8]) {
    let peeked = peek_event_id(frame);
    let Ok(view) = EventView::parse_frame(frame, &Rules::STRICT) else { return };
    match peeked {
        Some(id) => assert_eq!(&id, view.id()),
        // Of the frames with an event, those that authenticate are nobody's duplicates.
        None => assert!(frame.contains(&b'\\') || frame.starts_with(b"[") && is_auth(frame)),
    }
}

fn is_auth(frame: &[u8]) -> bool {
    frame[1..].trim_ascii_start().starts_with(b"\"AUTH\"")
}

/// Lenient rules take all that strict ones take, and read it alike; beyond it they take uppercase
/// digits, which are the event that it is in lowercase.
fn lenient_takes_more(bytes: &[u8], read: &Result<EventView<&[u8]>, Error>) {
    let lenient = EventView::parse_with(bytes, &Rules::LENIENT);
    let (lenient, strict_error) = match (&lenient, read) {
        (Ok(lenient), Ok(view)) => {
            assert_eq!(lenient, view);
            let shouted = with_digits(view, str::to_ascii_uppercase);
            let strict = EventView::parse(shouted.as_bytes());
            let lenient = EventView::parse_with(shouted.as_bytes(), &Rules::LENIENT).unwrap();
            assert_eq!(&lenient, view);
            assert_eq!(lenient.computed_id(), view.computed_id());
            assert_eq!(strict.is_ok(), shouted == view.raw());
            return;
        }
        (Ok(lenient), Err(error)) => (lenient, error),
        (Err(error), Ok(view)) => panic!("{error}: {view:?}"),
        (Err(_), Err(_)) => return,
    };
    let ErrorKind::HexDigit { found: b'A'..=b'F' } = strict_error.kind() else {
        panic!("{strict_error}: {lenient:?}");
    };
    let lowercase = with_digits(lenient, str::to_ascii_lowercase);
    let strict = EventView::parse(lowercase.as_bytes()).unwrap();
    assert_eq!(lenient, &strict);
    assert_eq!(lenient.computed_id(), strict.computed_id());
}

/// The event with other digits in its three hex fields.
fn with_digits(view: &EventView<&[u8]>, spell: impl Fn(&str) -> String) -> String {
    let mut text = view.raw().to_owned();
    for digits in [view.id_hex(), view.pubkey_hex(), view.sig_hex()] {
        let at = digits.as_ptr().addr() - view.raw().as_ptr().addr();
        text.replace_range(at..at + digits.len(), &spell(digits));
    }
    text
}

/// Views share the bytes, and give them back as they are.
fn view_is_whole(bytes: &[u8], view: &EventView<&[u8]>) {
    assert_eq!(view.raw().as_bytes(), trim(bytes));
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

/// The same event with whitespace wherever it may stand, and with any of its keys escaped, is read
/// by another parser, but is the same.
fn spelled_otherwise_it_is_the_same(view: &EventView<&[u8]>) {
    let raw = view.raw();
    if raw.len() > 10_000 {
        return;
    }
    let one_key_escaped = KNOWN.map(|known| respelled(raw, false, |key| key == known));
    let others = [respelled(raw, true, |_| false), respelled(raw, true, |_| true)];
    for text in one_key_escaped.iter().chain(&others) {
        let other = EventView::parse(text.as_bytes()).unwrap();
        assert_eq!(other.computed_id(), view.computed_id(), "{text}");
        assert_eq!(&other, view);
        assert_eq!(other.raw().as_bytes(), trim(text.as_bytes()));
    }
}

/// An event with whitespace around its brackets, commas and colons, if it is to be spaced, and with
/// an escape for the first letter of the keys that `is_escaped` says.
fn respelled(event: &str, is_spaced: bool, is_escaped: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let (mut depth, mut is_key) = (0, false);
    let mut rest = event;
    while let Some(first) = rest.chars().next() {
        let len = if first == '"' { string_len(rest) } else { first.len_utf8() };
        let token;
        (token, rest) = rest.split_at(len);
        match first {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        match first {
            '"' if is_key && is_escaped(&token[1..len - 1]) && token.as_bytes()[1] != b'\\' => {
                let letter = token[1..].chars().next().unwrap();
                match letter.is_ascii_alphabetic() {
                    true => text.extend([&format!("\"\\u{:04x}", letter as u32), &token[2..]]),
                    false => text.push_str(token),
                }
            }
            '{' | '}' | '[' | ']' | ',' | ':' if is_spaced => text.extend([" ", token, "\n\t\r"]),
            _ => text.push_str(token),
        }
        // A string of the event itself is a key unless a colon precedes it.
        if !matches!(first, ' ' | '\t' | '\n' | '\r') {
            is_key = depth == 1 && matches!(first, '{' | ',');
        }
    }
    text
}

/// The length of the string that `text` begins with, with its quotes.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    let is_end = |(at, byte): (usize, u8)| {
        let is_quote = at > 0 && byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_quote.then_some(at + 1)
    };
    text.bytes().enumerate().find_map(is_end).unwrap()
}

/// Without its last bytes an event or a frame has only not ended yet.
fn prefixes_are_incomplete(text: &str, parse: impl Fn(&[u8]) -> Result<EventView<&[u8]>, Error>) {
    let ends = (0..text.len()).filter(|end| text.len() < 2000 || end % 97 == 0);
    for end in ends.chain([text.len() - 1]) {
        let error = parse(&text.as_bytes()[..end]).unwrap_err();
        assert!(error.is_incomplete(), "{error} after {end} bytes of {text}");
    }
}

/// In a frame the event is the same, and an error is the same and where it was.
fn frames_hold_it(bytes: &[u8]) {
    // The frame is one level more.
    let mut limits = Limits::DEFAULT;
    limits.json_depth -= 1;
    let alone = EventView::parse_with(bytes, &Rules::STRICT.with_limits(limits));
    for head in [&b"[\"EVENT\","[..], b"[\"EVENT\",\"s\\\"\",", b" [ \"EVENT\" , "] {
        let frame = [head, bytes, b"]"].concat();
        let framed = EventView::parse_frame(&frame[..], &Rules::STRICT);
        peek_is_right(&frame);
        entries_agree(&frame, &EventView::parse(&frame));
        if let Err(error) = framed {
            error_is_where_it_says(&frame, error);
        }
        match (&alone, framed) {
            (Ok(alone), framed) => {
                let framed = framed.unwrap();
                assert_eq!(framed.raw(), alone.raw());
                assert_eq!(framed.computed_id(), alone.computed_id());
                let whole = str::from_utf8(&frame).unwrap();
                prefixes_are_incomplete(whole, |prefix| {
                    EventView::parse_frame(prefix, &Rules::STRICT)
                });
            }
            // A subscription id is none of an event.
            (Err(_), _) if bytes.first() != Some(&b'{') => {}
            // Of an event that has not ended, the bracket of the frame is a part.
            (Err(error), framed) if error.is_incomplete() => assert!(framed.is_err()),
            // So it is of a character, and bytes that are not UTF-8 are told first.
            (Err(_), framed) if ends_in_a_character(bytes) => assert!(framed.is_err()),
            (Err(error), framed) => match (error.kind(), framed) {
                // What follows an event is the frame's.
                (ErrorKind::Unexpected { expected: Expected::End, .. }, framed) => {
                    assert!(
                        framed.is_ok_and(|view| bytes.starts_with(view.raw().as_bytes()))
                            || framed_error_is_behind(&frame, head.len() + error.offset())
                    );
                }
                (kind, framed) => {
                    let framed = framed.unwrap_err();
                    assert_eq!(framed.offset(), head.len() + error.offset(), "{framed}, {error}");
                    assert_eq!(framed.context(), error.context());
                    assert_eq!(framed.kind().name(), kind.name());
                }
            },
        }
    }
}

fn ends_in_a_character(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn framed_error_is_behind(frame: &[u8], place: usize) -> bool {
    EventView::parse_frame(frame, &Rules::STRICT).is_err_and(|error| error.offset() >= place)
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

    /// Only whole numbers in plain digits are numbers of an event, and only those that fit.
    #[test]
    fn numbers_of_every_spelling() {
        let spelled = [
            "0",
            "1",
            "00",
            "01",
            "-0",
            "-1",
            "1.0",
            "1e0",
            "1E2",
            "0.5",
            "65535",
            "65536",
            "4294967297",
            "9999999999999999999",
            "10000000000000000000",
            "18446744073709551615",
            "18446744073709551616",
            "100000000000000000000",
            "1e999",
            "+1",
            ".5",
            "1.",
            "0x1",
            "\"1\"",
            "null",
            "true",
            "[1]",
            "{}",
            "",
        ];
        let plain = event(&json!([["t", "x"]]), "x");
        let mut accepted = 0;
        for number in spelled {
            for (key, before) in [("created_at", "1700000000"), ("kind", "1")] {
                let other =
                    plain.replace(&format!("\"{key}\":{before},"), &format!("\"{key}\":{number},"));
                any_event(other.as_bytes());
                any_event(respelled(&other, true, |_| false).as_bytes());
                accepted += usize::from(EventView::parse(other.as_bytes()).is_ok());
            }
        }
        // Of these, eight fit in 64 bits and three of them in 16.
        assert_eq!(accepted, 8 + 3);
    }

    #[test]
    fn nesting_is_as_deep_as_serde_json_takes_it() {
        let plain = event(&json!([]), "x");
        for depth in 120..135 {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let other = plain.replacen('{', &format!("{{\"x\":{nested},"), 1);
            any_event(other.as_bytes());
            assert_eq!(EventView::parse(other.as_bytes()).is_ok(), depth < 127, "{depth}");
        }
    }

    #[test]
    fn known_keys_come_once() {
        let plain = event(&json!([["t", "x"]]), "x");
        let fields: Value = serde_json::from_str(&plain).unwrap();
        for key in KNOWN {
            let letter = u32::from(key.as_bytes()[0]);
            for spelled in [key.to_owned(), format!("\\u{letter:04x}{}", &key[1..])] {
                let again = format!("{{\"{spelled}\":{},{}", fields[key], &plain[1..]);
                any_event(again.as_bytes());
                let error = EventView::parse(again.as_bytes()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Repeated, "{again}");
            }
            let without = plain.replace(&format!("\"{key}\""), &format!("\"_{key}\""));
            any_event(without.as_bytes());
            let error = EventView::parse(without.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Missing, "{without}");
        }
    }

    #[test]
    fn uppercase_and_escaped_digits() {
        let plain = event(&json!([]), "x");
        let view = EventView::parse(plain.as_bytes()).unwrap();
        any_event(with_digits(&view, str::to_ascii_uppercase).as_bytes());
        for digits in [view.id_hex(), view.pubkey_hex(), view.sig_hex()] {
            let escaped = format!("\\u{:04x}{}", u32::from(digits.as_bytes()[0]), &digits[1..]);
            let [short, long] = [&digits[1..], &format!("{digits}0")].map(str::to_owned);
            let loud = digits.replace('a', "A").replace('b', "B");
            for other in [escaped, short, long, loud] {
                any_event(plain.replace(digits, &other).as_bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn any_tags_and_content(
            tags in vec(vec(text(), 0..4), 0..5),
            long in prop_oneof![9 => Just(0), 1 => 1..3000_usize],
            content in text(),
            kind: u16,
            created_at: u64,
            is_spaced: bool,
            order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
            by_ascii in any::<bool>(),
            damage in (any::<prop::sample::Index>(), any::<u8>()),
        ) {
            let mut tags = tags;
            if long > 0 {
                tags.push(vec!["x".repeat(long)]);
                tags.extend(vec![vec!["t".to_owned(); 2]; long / 20]);
            }
            let event = event_of(kind, created_at, &json!(tags), &content);
            let event: Value = serde_json::from_str(&event).unwrap();
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
            if is_spaced {
                text = respelled(&text, true, |_| by_ascii);
            }
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
        event_of(1, 1_700_000_000, tags, content)
    }

    fn event_of(kind: u16, created_at: u64, tags: &Value, content: &str) -> String {
        let pubkey = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        let hashed = json!([0, pubkey, created_at, kind, tags, content]).to_string();
        let (id, sig) = (hex::encode(Sha256::digest(hashed)), "ab".repeat(64));
        format!(
            r#"{{"id":"{id}","pubkey":"{pubkey}","created_at":{created_at},"kind":{kind},"tags":{tags},"content":{},"sig":"{sig}"}}"#,
            json!(content)
        )
    }
}
