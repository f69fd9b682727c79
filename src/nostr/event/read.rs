//! Where the fields of an event lie: one pass over its text.

use crate::buffer::Span;
use crate::error::{Error, ErrorKind};
use crate::hex::{self, Case};
use crate::json::JsonStr;
use crate::json::read::Reader;
use crate::json::string::{Escapes, scan};
use crate::rules::Rules;
use crate::scan::{Quotes, Stops, decode_id};

/// The fields of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fields {
    pub(super) spans: Spans,
    pub(super) values: Values,
}

/// Where the fields of an event lie in the text that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spans {
    /// The event, from `{` to `}`.
    pub(super) event: Span,
    pub(super) id: Span,
    pub(super) pubkey: Span,
    pub(super) created_at: Span,
    pub(super) kind: Span,
    /// The array, with its brackets.
    pub(super) tags: Span,
    /// The string, without its quotes.
    pub(super) content: Span,
    pub(super) sig: Span,
}

/// What was learned of an event on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) id: [u8; 32],
    pub(super) pubkey: [u8; 32],
    pub(super) created_at: u64,
    pub(super) kind: u16,
    pub(super) tag_count: u32,
    pub(super) content_escapes: Escapes,
    /// Whether the tags are spelled as they are hashed: without whitespace, and escaped as
    /// serde_json escapes.
    pub(super) canonical_tags: bool,
    /// Whether there are keys that are not of NIP-01.
    pub(super) unknown_keys: bool,
}

impl Default for Fields {
    #[inline(always)]
    fn default() -> Self {
        let values = Values {
            id: [0; 32],
            pubkey: [0; 32],
            created_at: 0,
            kind: 0,
            tag_count: 0,
            content_escapes: Escapes::None,
            canonical_tags: true,
            unknown_keys: false,
        };
        Self { spans: Spans::default(), values }
    }
}

impl Fields {
    /// Reads the event that begins at the next token of `reader`.
    #[inline(always)]
    pub(super) fn read(reader: &mut Reader<'_>, rules: &Rules) -> Result<Self, Error> {
        reader.peek("event")?;
        if reader.is_deep_enough(EVENT_DEPTH) {
            let compact = Compact::new(reader.text().as_bytes(), reader.position());
            if let Some((fields, end)) = compact.read() {
                reader.advance_to(end);
                return Ok(fields);
            }
        }
        Self::read_any(reader, rules)
    }

    /// Reads an event spelled in any way; the slow twin of [`Compact::read`].
    #[inline(never)]
    fn read_any(reader: &mut Reader<'_>, rules: &Rules) -> Result<Self, Error> {
        reader.peek("event")?;
        let event_start = reader.position();
        let mut object = reader.object("event")?;
        let mut fields = Self::default();
        let Self { spans, values } = &mut fields;
        let mut seen = Seen(0);
        while let Some(key) = object.next(reader, "event")? {
            let Some(key) = Key::of(&key) else {
                values.unknown_keys = true;
                reader.skip("event")?;
                continue;
            };
            let context = key.context();
            reader.peek(context)?;
            let start = reader.position();
            if !seen.insert(key) {
                return Err(Error::new(ErrorKind::Repeated, start, context));
            }
            match key {
                Key::Id => (spans.id, values.id) = read_id(reader, rules, context)?,
                Key::Pubkey => (spans.pubkey, values.pubkey) = read_id(reader, rules, context)?,
                Key::CreatedAt => {
                    values.created_at = reader.u64(context)?;
                    spans.created_at = between(start, reader.position());
                }
                Key::Kind => {
                    values.kind = reader.u16(context)?;
                    spans.kind = between(start, reader.position());
                }
                Key::Tags => spans.tags = values.read_tags(reader)?,
                Key::Content => {
                    (spans.content, values.content_escapes) = reader.string_span(context)?;
                }
                Key::Sig => spans.sig = read_hex(reader, 128, rules, context)?,
            }
        }
        let end = reader.position();
        if let Some(key) = Key::ALL.into_iter().find(|key| !seen.contains(*key)) {
            return Err(Error::new(ErrorKind::Missing, end - 1, key.context()));
        }
        spans.event = between(event_start, end);
        Ok(fields)
    }
}

impl Values {
    fn read_tags(&mut self, reader: &mut Reader<'_>) -> Result<Span, Error> {
        let context = Key::Tags.context();
        let start = reader.position();
        let mut tags = reader.array(context)?;
        // As many bytes as the array has if nothing in it is whitespace.
        let mut compact = 2;
        while tags.next(reader, context)? {
            compact += 2 + usize::from(self.tag_count > 0);
            self.tag_count += 1;
            let mut tag = reader.array(context)?;
            let mut elements = 0;
            while tag.next(reader, context)? {
                let (element, escapes) = reader.string_span(context)?;
                compact += element.len() + 2 + usize::from(elements > 0);
                elements += 1;
                self.canonical_tags &= escapes <= Escapes::Canonical;
            }
        }
        let span = between(start, reader.position());
        self.canonical_tags &= span.len() == compact;
        Ok(span)
    }
}

/// A reader of events that are spelled without whitespace, with the keys of NIP-01 alone, as nearly
/// all are. It errs on nothing: what it does not know, it leaves to [`Fields::read_any`].
pub(super) struct Compact<'a> {
    text: &'a [u8],
    /// Where the event begins.
    start: usize,
    quotes: Quotes<'a>,
}

impl<'a> Compact<'a> {
    #[inline(always)]
    pub(super) const fn new(text: &'a [u8], start: usize) -> Self {
        Self { text, start, quotes: Quotes::new(text, start) }
    }

    /// The event, and where it ends.
    #[inline(always)]
    fn read(mut self) -> Option<(Fields, usize)> {
        let mut fields = Fields::default();
        let Fields { spans, values } = &mut fields;
        let mut seen = Seen(0);
        let mut at = self.start;
        if *self.text.get(at)? != b'{' {
            return None;
        }
        loop {
            at += 1;
            let (key, value) = self.key(at)?;
            if !seen.insert(key) {
                return None;
            }
            match key {
                Key::Id => (spans.id, values.id, at) = self.id(value)?,
                Key::Pubkey => (spans.pubkey, values.pubkey, at) = self.id(value)?,
                Key::CreatedAt => {
                    (values.created_at, at) = self.number(value)?;
                    spans.created_at = between(value, at);
                }
                Key::Kind => {
                    let kind;
                    (kind, at) = self.number(value)?;
                    values.kind = kind.try_into().ok()?;
                    spans.kind = between(value, at);
                }
                Key::Tags => {
                    self.quotes.skip_to(value);
                    let escapes;
                    (values.tag_count, escapes, at) = self.tags(value)?;
                    values.canonical_tags = escapes <= Escapes::Canonical;
                    spans.tags = between(value, at);
                }
                Key::Content => {
                    self.quotes.skip_to(value);
                    at = self.string(value, &mut values.content_escapes)?;
                    spans.content = between(value, at - 1);
                }
                Key::Sig => {
                    at = self.sig(value)?;
                    spans.sig = between(value, at - 1);
                }
            }
            match *self.text.get(at)? {
                b',' => {}
                b'}' if seen.is_full() => break,
                _ => return None,
            }
        }
        spans.event = between(self.start, at + 1);
        Some((fields, at + 1))
    }

    /// The id that the event claims. What follows it is not looked at.
    #[inline(always)]
    pub(super) fn peek_id(mut self) -> Option<[u8; 32]> {
        let mut at = self.start;
        if *self.text.get(at)? != b'{' {
            return None;
        }
        loop {
            at += 1;
            let (key, value) = self.key(at)?;
            at = match key {
                Key::Id => return self.id(value).map(|(_, id, _)| id),
                Key::Pubkey => self.id(value)?.2,
                Key::CreatedAt | Key::Kind => self.number(value)?.1,
                Key::Tags => {
                    self.quotes.skip_to(value);
                    self.tags(value)?.2
                }
                Key::Content => {
                    self.quotes.skip_to(value);
                    self.quotes.next() + 1
                }
                Key::Sig => self.sig(value)?,
            };
            if *self.text.get(at)? != b',' {
                return None;
            }
        }
    }

    /// The key at `at`, and where its value begins: that of a string behind the quote.
    #[inline(always)]
    fn key(&self, at: usize) -> Option<(Key, usize)> {
        let rest = self.text.get(at..)?;
        // Compared with texts whose lengths the compiler knows.
        let key =
            |key, spelled: &[u8], len| (rest.get(..len)? == spelled).then_some((key, at + len));
        match rest.get(1)? {
            b'i' => key(Key::Id, b"\"id\":\"", 6),
            b'p' => key(Key::Pubkey, b"\"pubkey\":\"", 10),
            b'k' => key(Key::Kind, b"\"kind\":", 7),
            b't' => key(Key::Tags, b"\"tags\":", 7),
            b's' => key(Key::Sig, b"\"sig\":\"", 7),
            b'c' if *rest.get(2)? == b'r' => key(Key::CreatedAt, b"\"created_at\":", 13),
            b'c' => key(Key::Content, b"\"content\":\"", 11),
            _ => None,
        }
    }

    /// The 64 digits at `start`, their bytes, and what follows the quote behind them.
    #[inline(always)]
    fn id(&self, start: usize) -> Option<(Span, [u8; 32], usize)> {
        let digits = self.text.get(start..)?.first_chunk()?;
        let end = self.quote(start + 64)?;
        Some((between(start, start + 64), decode_id(digits)?, end))
    }

    /// The 128 digits at `start`: what follows the quote behind them.
    #[inline(always)]
    fn sig(&self, start: usize) -> Option<usize> {
        let (high, low) = self.text.get(start..start + 128)?.split_at(64);
        decode_id(high.try_into().ok()?)?;
        decode_id(low.try_into().ok()?)?;
        self.quote(start + 128)
    }

    /// Goes over the quote at `at`.
    #[inline(always)]
    fn quote(&self, at: usize) -> Option<usize> {
        (*self.text.get(at)? == b'"').then_some(at + 1)
    }

    /// A whole number in plain digits.
    #[inline(always)]
    fn number(&self, start: usize) -> Option<(u64, usize)> {
        let mut number = 0_u64;
        let mut at = start;
        while let digit @ b'0'..=b'9' = *self.text.get(at)? {
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit & 15));
            at += 1;
        }
        // Nineteen digits fit. What follows is a comma or a brace, or not for us.
        let is_plain = match at - start {
            0 => false,
            1 => true,
            len => len < 20 && self.text[start] != b'0',
        };
        is_plain.then_some((number, at))
    }

    /// The array of tags at `start`: how many there are, how they are escaped, where it ends.
    #[inline(always)]
    fn tags(&mut self, start: usize) -> Option<(u32, Escapes, usize)> {
        let mut escapes = Escapes::None;
        let mut at = start;
        let mut count = 0;
        match self.text.get(at..at + 2)? {
            b"[]" => return Some((0, escapes, at + 2)),
            b"[[" => at += 1,
            _ => return None,
        }
        loop {
            // At the bracket of a tag.
            count += 1;
            at += 1;
            if *self.text.get(at)? == b']' {
                at += 1;
            } else {
                loop {
                    if self.quotes.next() != at {
                        return None;
                    }
                    at = self.string(at + 1, &mut escapes)?;
                    match *self.text.get(at)? {
                        b',' => at += 1,
                        b']' => break,
                        _ => return None,
                    }
                }
                at += 1;
            }
            match self.text.get(at..at + 2)? {
                b",[" => at += 1,
                [b']', _] => break,
                _ => return None,
            }
        }
        Some((count, escapes, at + 1))
    }

    /// The string whose first byte behind the quote is `start`; what follows its other quote.
    #[inline(always)]
    fn string(&mut self, start: usize, escapes: &mut Escapes) -> Option<usize> {
        let end = self.quotes.next();
        if self.quotes.may_have_escapes(start) || self.quotes.may_be_odd(start) {
            *escapes = self.escapes(start, end)?.max(*escapes);
        }
        Some(end + 1)
    }

    /// How the string from `start` to `end` is escaped.
    #[inline(never)]
    fn escapes(&self, start: usize, end: usize) -> Option<Escapes> {
        if self.quotes.may_be_odd(start) {
            let (_, escapes) = scan(self.text, &mut Stops::new(self.text), start, "event").ok()?;
            return Some(escapes);
        }
        let string = self.text.get(start..end)?;
        let has_escapes = memchr::memchr(b'\\', string).is_some();
        Some(if has_escapes { Escapes::Canonical } else { Escapes::None })
    }
}

/// The keys of an event, in the order of NIP-01.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Key {
    Id,
    Pubkey,
    CreatedAt,
    Kind,
    Tags,
    Content,
    Sig,
}

impl Key {
    const ALL: [Self; 7] =
        [Self::Id, Self::Pubkey, Self::CreatedAt, Self::Kind, Self::Tags, Self::Content, Self::Sig];

    /// The key that `key` spells, with escapes or without.
    pub(super) fn of(key: &JsonStr<'_>) -> Option<Self> {
        Self::ALL.into_iter().find(|known| key.eq_str(known.name()))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Pubkey => "pubkey",
            Self::CreatedAt => "created_at",
            Self::Kind => "kind",
            Self::Tags => "tags",
            Self::Content => "content",
            Self::Sig => "sig",
        }
    }

    /// The name of the field in errors.
    const fn context(self) -> &'static str {
        match self {
            Self::Id => "event.id",
            Self::Pubkey => "event.pubkey",
            Self::CreatedAt => "event.created_at",
            Self::Kind => "event.kind",
            Self::Tags => "event.tags",
            Self::Content => "event.content",
            Self::Sig => "event.sig",
        }
    }
}

/// Which keys were there.
struct Seen(u8);

impl Seen {
    /// Notes a key; says whether it is new.
    fn insert(&mut self, key: Key) -> bool {
        let is_new = !self.contains(key);
        self.0 |= 1 << key as u8;
        is_new
    }

    const fn is_full(&self) -> bool {
        self.0 == (1 << Key::ALL.len()) - 1
    }

    const fn contains(&self, key: Key) -> bool {
        self.0 & 1 << key as u8 != 0
    }
}

/// The reader takes no text that is longer than 32 bits can count, so none is lost here.
#[inline(always)]
const fn between(start: usize, end: usize) -> Span {
    Span::new(start as u32, (end - start) as u32)
}

/// Takes a string of 64 hex digits; says where they lie and what their bytes are.
fn read_id(
    reader: &mut Reader<'_>,
    rules: &Rules,
    context: &'static str,
) -> Result<(Span, [u8; 32]), Error> {
    let span = read_hex(reader, 64, rules, context)?;
    let mut id = [0; 32];
    hex::decode(reader.slice(span).as_bytes(), &mut id, Case::Any, context)?;
    Ok((span, id))
}

/// Takes a string of exactly `len` hex digits, spelled as they are.
pub(in crate::nostr) fn read_hex(
    reader: &mut Reader<'_>,
    len: usize,
    rules: &Rules,
    context: &'static str,
) -> Result<Span, Error> {
    let (span, escapes) = reader.string_span(context)?;
    let (start, digits) = (span.range().start, reader.slice(span));
    if escapes != Escapes::None {
        let at = start + digits.find('\\').unwrap_or_default();
        return Err(Error::new(ErrorKind::HexEscape, at, context));
    }
    if digits.len() != len {
        return Err(Error::new(ErrorKind::wrong_length(len, digits.len()), start, context));
    }
    let case = if rules.uppercase_hex { Case::Any } else { Case::Lower };
    hex::check_digits(digits.as_bytes(), case, context).map_err(|error| error.offset_by(start))?;
    Ok(span)
}

/// How deep an event nests: itself, its tags, a tag.
const EVENT_DEPTH: u32 = 3;

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn both_readers_agree_on_the_fixtures() {
        let cases = include_str!("../../../fixtures/nostr/events.json");
        let cases: Value = serde_json::from_str(cases).unwrap();
        let mut compact = 0;
        for case in cases["cases"].as_array().unwrap() {
            let Some(event) = case["event_base64"].as_str() else { continue };
            let event = STANDARD.decode(event).unwrap();
            compact += usize::from(assert_agree(&event));
            if event.len() < 1000 {
                assert_agree_when_damaged(&event, b"\"\\,");
            }
        }
        assert!(compact > 30, "{compact}");
    }

    #[test]
    fn both_readers_agree_on_the_feed() {
        for (i, event) in include_str!("../../../fixtures/nostr/feed.ndjson").lines().enumerate() {
            assert!(assert_agree(event.as_bytes()), "{event}");
            if i < 12 && event.len() < 2000 {
                assert_agree_when_damaged(event.as_bytes(), &DAMAGE);
            }
        }
    }

    /// Strings that end or are escaped at the edges of blocks and windows, wherever these lie.
    #[test]
    fn both_readers_agree_at_the_edges() {
        let ends = ["", "\"", "\\", "\\\"", "\n", "\u{1}", "\u{7f}", "é", "🦩"];
        for len in (0..=130).chain(500..=520).chain([575, 576, 577, 1023, 1024, 1025]) {
            let plain = "a".repeat(len);
            for end in ends {
                let text = format!("{plain}{end}");
                assert!(assert_agree(&event(&json!([]), &text)));
                assert!(assert_agree(&event(&json!([[text], [], [end, plain]]), end)));
                // Escapes that nobody need make, which are hashed otherwise.
                let spelled = json!(text).to_string();
                for escape in
                    [r"\u0041", r"\/", r"\u00e9", r"\ud83e\udda9", r"\u", r"\ud800", r"\x"]
                {
                    let other = spelled.replace("\"a", &format!("\"{escape}a"));
                    let other = if len % 2 == 0 {
                        other
                    } else {
                        format!("{}{escape}\"", &spelled[..spelled.len() - 1])
                    };
                    assert_agree(&with_spelled_content(&other));
                }
            }
        }
    }

    #[test]
    fn both_readers_agree_on_damage_at_the_edges() {
        for len in [63, 64, 65, 127, 128, 511, 512, 513] {
            let plain = "a".repeat(len);
            let event = event(&json!([["t", "\"\u{1f}"], [], ["\\"]]), &format!("{plain}\"\\\n"));
            assert!(assert_agree(&event));
            assert_agree_when_damaged(&event, &DAMAGE);
        }
    }

    /// Every prefix, and every byte changed.
    fn assert_agree_when_damaged(event: &[u8], bytes: &[u8]) {
        let mut damaged = event.to_vec();
        for at in 0..event.len() {
            assert_agree(&event[..at]);
            for byte in bytes.iter().copied().chain([event[at] ^ 1, event[at] ^ 0x20]) {
                damaged[at] = byte;
                assert_agree(&damaged);
            }
            damaged[at] = event[at];
        }
    }

    /// Where the compact reader answers, the other one gives the same; says whether it answered.
    #[track_caller]
    fn assert_agree(event: &[u8]) -> bool {
        // Text that is not UTF-8 reaches neither.
        let Ok(mut reader) = Reader::new(event, &Rules::STRICT, "event") else { return false };
        let Ok(_) = reader.peek("event") else { return false };
        let compact = Compact::new(reader.text().as_bytes(), reader.position());
        let (twin, compact) = (Fields::read_any(&mut reader, &Rules::STRICT), compact.read());
        if let Some((fields, end)) = compact {
            let text = String::from_utf8_lossy(event);
            assert_eq!((Ok(fields), end), (twin, reader.position()), "{text}");
        }
        compact.is_some()
    }

    fn event(tags: &Value, content: &str) -> Vec<u8> {
        spelled_event(&tags.to_string(), &json!(content).to_string())
    }

    fn with_spelled_content(content: &str) -> Vec<u8> {
        spelled_event(r#"[["t","x"]]"#, content)
    }

    fn spelled_event(tags: &str, content: &str) -> Vec<u8> {
        let (id, sig) = ("5c".repeat(32), "ab".repeat(64));
        format!(
            r#"{{"content":{content},"id":"{id}","created_at":17,"pubkey":"{id}","tags":{tags},"kind":1,"sig":"{sig}"}}"#
        )
        .into_bytes()
    }

    /// What the grammar turns on.
    const DAMAGE: [u8; 20] = *b"\"\\,:[]{}0aAnu/ \n\x00\x1f\x7f\xff";
}
