//! A filter, read where it lies.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;

use bytes::Bytes;
use memchr::memchr;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::buffer::{Buffer, Frame, Marks, Source, Text};
use crate::counters;
use crate::error::{Error, ErrorKind};
use crate::hex::{self, Case, Hex};
use crate::json::read::{Object, Reader};
use crate::json::{JsonStr, RawJson};
use crate::nostr::event::Tag;
use crate::nostr::filter::letter::Letter;
use crate::nostr::filter::read::{Fields, Key, Values};
use crate::rules::Rules;

/// A filter read where it lies.
///
/// Over [`Bytes`], the default, the view owns a share of the received buffer, and keeps all of it
/// alive; see [`detach`](Self::detach). Over `&[u8]` it borrows. To match events, make a
/// [`CompiledFilter`](super::CompiledFilter) of it.
///
/// ```
/// use borrowire::nostr::filter::FilterView;
///
/// let filter = FilterView::parse(&br##"{"kinds": [1, 7], "#t": ["a\u0062c", "x"], "since": 5, "#tt": 0}"##[..])?;
/// assert!(filter.kinds().unwrap().eq([1, 7]));
/// assert!(filter.tag('t').unwrap().eq(["abc", "x"]));
/// assert_eq!((filter.since(), filter.until()), (Some(5), None));
/// assert!(filter.ids().is_none());
/// assert_eq!(filter.unknown_keys().count(), 1);
///
/// let error = FilterView::parse(&br#"{"ids":["5c"]}"#[..]).unwrap_err();
/// assert_eq!(error.to_string(), "filter.ids: 2 bytes, 64 expected, at byte 9");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct FilterView<B: Buffer = Bytes> {
    frame: Frame<B, 5>,
    values: Values,
}

impl<B: Buffer> FilterView<B> {
    /// Reads a filter under [`Rules::STRICT`].
    pub fn parse(filter: B) -> Result<Self, Error> {
        Self::parse_with(filter, &Rules::STRICT)
    }

    /// Reads a filter: one JSON object, whole, with each known key at most once. Allocates nothing.
    /// Keeps the limits `frame`, `json_depth` and `filter_values` of `rules`.
    ///
    /// Whitespace may stand around the filter; any other byte is refused. Text that ends before the
    /// closing brace is [`ErrorKind::Incomplete`]; every other error is final. Errors name the key,
    /// as `filter.ids` or `filter.#e`.
    pub fn parse_with(filter: B, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(filter), rules)
    }

    fn read(source: Source<B>, rules: &Rules) -> Result<Self, Error> {
        let mut read = None;
        let frame = Frame::parse(source, |marks: &mut Marks<'_, 5>| {
            counters::decode(marks.bytes().len());
            let mut reader = match marks.text() {
                Some(text) => Reader::from_text(text, rules, "filter")?,
                None => Reader::new(marks.bytes(), rules, "filter")?,
            };
            let fields = Fields::read(&mut reader, rules)?;
            let text = reader.text();
            reader.finish("filter")?;
            let spans = [fields.filter, fields.ids, fields.authors, fields.kinds, fields.search];
            marks.set_texts(text, spans).map_err(|at| Error::new(ErrorKind::Utf8, at, "filter"))?;
            read = Some(fields.values);
            Ok(())
        })?;
        let values = read.ok_or(Error::new(ErrorKind::Missing, 0, "filter"))?;
        Ok(Self { frame, values })
    }

    /// The ids, if there is such a list. An empty list matches nothing, none matches all: so for
    /// every list.
    pub fn ids(&self) -> Option<Ids<'_>> {
        self.of(Key::Ids, || Ids::checked(self.text(IDS), self.values.id_count))
    }

    /// The public keys of authors.
    pub fn authors(&self) -> Option<Ids<'_>> {
        self.of(Key::Authors, || Ids::checked(self.text(AUTHORS), self.values.author_count))
    }

    /// The kinds.
    pub fn kinds(&self) -> Option<Kinds<'_>> {
        let kinds = || Kinds { rest: self.text(KINDS), left: self.values.kind_count };
        self.of(Key::Kinds, kinds)
    }

    /// The lists `#a` to `#z` and `#A` to `#Z`, in the order of the wire: each letter with its
    /// values. Walks the whole filter.
    pub fn tags(&self) -> FilterTags<'_> {
        FilterTags { rest: self.values.keys.has_tags().then(|| self.walk()).flatten() }
    }

    /// The values of `#letter`, found by a walk over the filter.
    pub fn tag(&self, letter: char) -> Option<TagValues<'_>> {
        let key = Key::Tag(Letter::new(letter)?);
        if !self.values.keys.contains(key) {
            return None;
        }
        self.tags().find(|(found, _)| *found == letter).map(|(_, values)| values)
    }

    /// The first `created_at` that matches, in seconds since the Unix epoch.
    pub fn since(&self) -> Option<u64> {
        self.of(Key::Since, || self.values.since)
    }

    /// The last `created_at` that matches, in seconds since the Unix epoch.
    pub fn until(&self) -> Option<u64> {
        self.of(Key::Until, || self.values.until)
    }

    /// How many stored events to send at most, newest first.
    pub fn limit(&self) -> Option<u64> {
        self.of(Key::Limit, || self.values.limit)
    }

    /// The words to search for (NIP-50).
    pub fn search(&self) -> Option<JsonStr<'_>> {
        self.of(Key::Search, || JsonStr::scanned(self.text(SEARCH), self.values.search_escapes))
    }

    /// The keys that are not known, with their values, in the order of the wire: `&t`, `#tt`, and
    /// whatever else there is. A key may be there more than once.
    pub fn unknown_keys(&self) -> UnknownKeys<'_> {
        UnknownKeys { rest: self.values.unknown_keys.then(|| self.walk()).flatten() }
    }

    /// The filter exactly as it was received, from `{` to `}`, other keys and whitespace included.
    pub fn raw(&self) -> &str {
        self.text(FILTER)
    }

    /// The filter as a value for the writers of frames.
    pub fn raw_json(&self) -> RawJson<'_> {
        RawJson::checked(self.raw())
    }

    /// The buffer that the filter was read from.
    pub fn buffer(&self) -> &B {
        self.frame.buffer()
    }

    /// The filter alone in a buffer of its own, copied.
    #[must_use]
    pub fn detach(&self) -> FilterView {
        counters::copy(self.raw().len());
        FilterView { frame: self.frame.detach_span(FILTER), values: self.values }
    }

    fn of<T>(&self, key: Key, value: impl FnOnce() -> T) -> Option<T> {
        self.values.keys.contains(key).then(value)
    }

    fn walk(&self) -> Option<(Reader<'_>, Object)> {
        let mut reader = Reader::from_text(self.raw(), &Rules::ANY, "filter").ok()?;
        let object = reader.object("filter").ok()?;
        Some((reader, object))
    }

    fn text(&self, i: usize) -> &str {
        // Parsing marked every span as text.
        self.frame.text(i).unwrap_or_default()
    }
}

impl FilterView {
    /// [`parse_with`](Self::parse_with) of text that was checked to be UTF-8 before: the check is
    /// not made again.
    pub fn parse_text(filter: Text, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(filter), rules)
    }
}

impl<'a> FilterView<&'a [u8]> {
    /// [`parse_with`](Self::parse_with) of a `str`, which is UTF-8: the check is not made again.
    pub fn parse_str(filter: &'a str, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(filter), rules)
    }
}

impl TryFrom<Bytes> for FilterView {
    type Error = Error;

    fn try_from(filter: Bytes) -> Result<Self, Error> {
        Self::parse(filter)
    }
}

impl<'a> TryFrom<&'a [u8]> for FilterView<&'a [u8]> {
    type Error = Error;

    fn try_from(filter: &'a [u8]) -> Result<Self, Error> {
        Self::parse(filter)
    }
}

impl<B: Buffer> Eq for FilterView<B> {}

/// Filters are equal if their known keys mean the same, however they are spelled and in whatever
/// order they come; lists, if they hold the same values in the same order. To compare lists as sets,
/// compare [`CompiledFilter`](super::CompiledFilter)s.
impl<B: Buffer, C: Buffer> PartialEq<FilterView<C>> for FilterView<B> {
    fn eq(&self, other: &FilterView<C>) -> bool {
        let same_tags =
            || self.tags().all(|(letter, values)| other.tag(letter).is_some_and(|o| values.eq(o)));
        self.values.keys == other.values.keys
            && self.since() == other.since()
            && self.until() == other.until()
            && self.limit() == other.limit()
            && self.search() == other.search()
            && same_list(self.kinds(), other.kinds())
            && same_list(self.ids(), other.ids())
            && same_list(self.authors(), other.authors())
            && same_tags()
    }
}

impl<B: Buffer> fmt::Display for FilterView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (keys, len) = (self.values.keys.len(), self.raw().len());
        write!(f, "filter of {keys} known keys, {len} bytes")
    }
}

impl<B: Buffer> fmt::Debug for FilterView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterView")
            .field("ids", &self.ids())
            .field("authors", &self.authors())
            .field("kinds", &self.kinds())
            .field("tags", &self.tags())
            .field("since", &self.since())
            .field("until", &self.until())
            .field("limit", &self.limit())
            .field("search", &self.search())
            .finish()
    }
}

/// The known keys, in the order of [`Filter`](super::Filter), but tags as they came; other keys are
/// left out. To pass a filter on as it came, write [`raw`](FilterView::raw).
impl<B: Buffer> Serialize for FilterView<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.keys.len() as usize))?;
        if let Some(ids) = self.ids() {
            map.serialize_entry("ids", &ids)?;
        }
        if let Some(authors) = self.authors() {
            map.serialize_entry("authors", &authors)?;
        }
        if let Some(kinds) = self.kinds() {
            map.serialize_entry("kinds", &kinds)?;
        }
        for (letter, values) in self.tags() {
            let mut key = [b'#', 0, 0, 0, 0];
            let end = 1 + letter.encode_utf8(&mut key[1..]).len();
            map.serialize_entry(std::str::from_utf8(&key[..end]).unwrap_or_default(), &values)?;
        }
        for (key, value) in
            [("since", self.since()), ("until", self.until()), ("limit", self.limit())]
        {
            if let Some(value) = value {
                map.serialize_entry(key, &value)?;
            }
        }
        if let Some(search) = self.search() {
            map.serialize_entry("search", &search)?;
        }
        map.end()
    }
}

/// Ids or public keys of a filter, in the order of the wire.
#[derive(Clone)]
pub struct Ids<'a> {
    rest: &'a str,
    left: u32,
}

impl<'a> Ids<'a> {
    /// The ids of an array that a parser has gone over, which found `count` of them.
    const fn checked(array: &'a str, count: u32) -> Self {
        Self { rest: array, left: count }
    }
}

impl Iterator for Ids<'_> {
    type Item = [u8; 32];

    fn next(&mut self) -> Option<[u8; 32]> {
        self.left = self.left.checked_sub(1)?;
        // The parser found exactly 64 digits in each pair of quotes, and no escape.
        let start = memchr(b'"', self.rest.as_bytes())? + 1;
        let mut id = [0; 32];
        let digits = self.rest.as_bytes().get(start..start + 64)?;
        hex::decode(digits, &mut id, Case::Any, "filter").ok()?;
        self.rest = self.rest.get(start + 65..)?;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Ids<'_> {}

impl FusedIterator for Ids<'_> {}

impl fmt::Debug for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for id in self.clone() {
            list.entry(&Hex(&id));
        }
        list.finish()
    }
}

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.clone().map(HexText))
    }
}

/// The kinds of a filter, in the order of the wire.
#[derive(Clone)]
pub struct Kinds<'a> {
    rest: &'a str,
    left: u32,
}

impl Iterator for Kinds<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        self.left = self.left.checked_sub(1)?;
        let Range { start, end } = digits(self.rest)?;
        let kind = self.rest[start..end].parse().ok()?;
        self.rest = &self.rest[end..];
        Some(kind)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Kinds<'_> {}

impl FusedIterator for Kinds<'_> {}

impl fmt::Debug for Kinds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl Serialize for Kinds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.clone())
    }
}

/// The tag conditions of a filter: letters with their values. See [`FilterView::tags`].
#[derive(Clone)]
pub struct FilterTags<'a> {
    rest: Option<(Reader<'a>, Object)>,
}

impl<'a> Iterator for FilterTags<'a> {
    type Item = (char, TagValues<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (reader, object) = self.rest.as_mut()?;
        // It was read once without an error.
        while let Some(key) = object.next(reader, "filter").ok()? {
            reader.peek("filter").ok()?;
            let value = reader.skip("filter").ok()?;
            if let Some(Key::Tag(letter)) = Key::of(&key) {
                let array = reader.slice(value);
                return Some((letter.as_char(), TagValues { elements: Tag::of_array(array) }));
            }
        }
        None
    }
}

impl fmt::Debug for FilterTags<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

/// The values that a filter asks for of one tag, in the order of the wire.
#[derive(Clone)]
pub struct TagValues<'a> {
    elements: Tag<'a>,
}

impl<'a> Iterator for TagValues<'a> {
    type Item = JsonStr<'a>;

    fn next(&mut self) -> Option<JsonStr<'a>> {
        self.elements.next()
    }
}

impl FusedIterator for TagValues<'_> {}

impl fmt::Debug for TagValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements.fmt(f)
    }
}

impl Serialize for TagValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.elements.serialize(serializer)
    }
}

/// The keys of a filter that are not known, with their values. See [`FilterView::unknown_keys`].
#[derive(Clone, Debug)]
pub struct UnknownKeys<'a> {
    rest: Option<(Reader<'a>, Object)>,
}

impl<'a> Iterator for UnknownKeys<'a> {
    type Item = (JsonStr<'a>, RawJson<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (reader, object) = self.rest.as_mut()?;
        // It was read once without an error.
        while let Some(key) = object.next(reader, "filter").ok()? {
            let value = reader.skip("filter").ok()?;
            if Key::of(&key).is_none() {
                return Some((key, RawJson::checked(reader.slice(value))));
            }
        }
        None
    }
}

/// An id as serde shall see it.
struct HexText([u8; 32]);

impl Serialize for HexText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Hex(&self.0))
    }
}

fn same_list<T: PartialEq>(
    a: Option<impl Iterator<Item = T>>,
    b: Option<impl Iterator<Item = T>>,
) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.eq(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Where the first number of `text` lies.
fn digits(text: &str) -> Option<Range<usize>> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let start = text.as_bytes().iter().position(is_digit)?;
    let rest = &text.as_bytes()[start..];
    let len = rest.iter().position(|byte| !is_digit(byte)).unwrap_or(rest.len());
    Some(start..start + len)
}

// The spans of the frame.
const FILTER: usize = 0;
const IDS: usize = 1;
const AUTHORS: usize = 2;
const KINDS: usize = 3;
const SEARCH: usize = 4;
