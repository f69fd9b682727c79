//! An event, read where it lies.

use std::fmt;
use std::sync::OnceLock;

use bytes::Bytes;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::buffer::{Buffer, Frame, Marks, Source, Span, Text};
use crate::counters;
use crate::error::{Error, ErrorKind, Expected};
use crate::hex::{self, Case, Hex};
use crate::json::read::{Array, Object, Reader};
use crate::json::string::Escapes;
use crate::json::{JsonStr, RawJson};
use crate::nostr::event::id::{self, Dialect, IdCheck};
use crate::nostr::event::read::{Fields, Key, Values};
use crate::nostr::event::tags::{LetterTags, Tags};
use crate::rules::Rules;

/// An event read where it lies.
///
/// Over [`Bytes`], the default, the view owns a share of the received buffer: cloning it counts a
/// reference, and it crosses tasks and threads. It keeps the whole buffer alive; see
/// [`detach`](Self::detach). Over `&[u8]` it borrows.
///
/// ```
/// use borrowire::nostr::event::EventView;
///
/// let text = r#"{
///     "id": "0a4871457938a4e16b3ff178ef8c70ac644a1a2708fd542a8c64374c6f1dd91d",
///     "pubkey": "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
///     "created_at": 1700000000, "kind": 1, "tags": [["t", "nostr"], ["-"]],
///     "content": "Hello,\n\u0077orld",
///     "sig": "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
/// }"#;
/// let event = EventView::parse(text.as_bytes())?;
/// assert_eq!((event.kind(), event.created_at()), (1, 1_700_000_000));
/// assert_eq!(event.content(), "Hello,\nworld");
/// assert_eq!(event.tags().len(), 2);
/// assert_eq!(event.id()[..2], [0x0a, 0x48]);
/// assert!(!event.check_id().is_match());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct EventView<B: Buffer = Bytes> {
    frame: Frame<B, SPANS>,
    values: Values,
    computed_id: OnceLock<[u8; 32]>,
}

impl<B: Buffer> EventView<B> {
    /// Reads an event under [`Rules::STRICT`].
    pub fn parse(event: B) -> Result<Self, Error> {
        Self::parse_with(event, &Rules::STRICT)
    }

    /// Reads an event: one JSON object, whole, with the seven keys of NIP-01, each once. Allocates
    /// nothing. Keeps the limits `frame` and `json_depth` of `rules`.
    ///
    /// Whitespace may stand around the event; any other byte is refused. Text that ends before the
    /// closing brace is [`ErrorKind::Incomplete`]; every other error is final.
    pub fn parse_with(event: B, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(event), rules, |_| Ok(()), |_, ()| Ok(()))
    }

    /// Reads the event of an EVENT frame of either direction, `["EVENT",event]` or
    /// `["EVENT",sub,event]`, or of an AUTH frame of a client, or a bare event. [`raw`](Self::raw)
    /// is the event alone.
    ///
    /// ```
    /// use borrowire::nostr::event::EventView;
    /// use borrowire::rules::Rules;
    ///
    /// # let event = format!(
    /// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"content":"","sig":"{0}{0}","tags":[]}}"#,
    /// #     "0".repeat(64)
    /// # );
    /// let frame = format!(r#"["EVENT","sub",{event}]"#);
    /// let view = EventView::parse_frame(frame.as_bytes(), &Rules::STRICT)?;
    /// assert_eq!(view.raw(), event);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    pub fn parse_frame(frame: B, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(frame), rules, enter_frame, leave_frame)
    }

    /// Reads the event that `source` holds between what `enter` and `leave` take from the reader.
    #[inline(always)]
    pub(in crate::nostr) fn read<T>(
        source: Source<B>,
        rules: &Rules,
        enter: impl FnOnce(&mut Reader<'_>) -> Result<T, Error>,
        leave: impl FnOnce(&mut Reader<'_>, T) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut read = None;
        let frame = Frame::parse(source, |marks: &mut Marks<'_, SPANS>| {
            counters::decode(marks.bytes().len());
            let mut reader = match marks.text() {
                Some(text) => Reader::from_text(text, rules, "event")?,
                None => Reader::new(marks.bytes(), rules, "event")?,
            };
            let entered = enter(&mut reader)?;
            let mut spans = [Span::default(); SPANS];
            let found = Found::read(&mut reader, rules, &mut spans)?;
            leave(&mut reader, entered)?;
            let text = reader.text();
            reader.finish("event")?;
            let not_text = |at| Error::new(ErrorKind::Utf8, at, "event");
            marks.set_texts(text, spans).map_err(not_text)?;
            read = Some(found);
            Ok(())
        })?;
        let found = read.ok_or(Error::new(ErrorKind::Missing, 0, "event"))?;
        Ok(Self::of_frame(frame, found))
    }

    /// The event that was found in a frame.
    #[inline(always)]
    pub(in crate::nostr) const fn of_frame(frame: Frame<B, SPANS>, found: Found) -> Self {
        Self { frame, values: found.0, computed_id: OnceLock::new() }
    }

    /// The id that the event claims to have. See [`check_id`](Self::check_id).
    #[inline]
    pub const fn id(&self) -> &[u8; 32] {
        &self.values.id
    }

    /// The public key of who made it.
    #[inline]
    pub const fn pubkey(&self) -> &[u8; 32] {
        &self.values.pubkey
    }

    /// When it was made by its own account: seconds since the Unix epoch.
    #[inline]
    pub const fn created_at(&self) -> u64 {
        self.values.created_at
    }

    /// The kind.
    #[inline]
    pub const fn kind(&self) -> u16 {
        self.values.kind
    }

    /// The tags.
    #[inline]
    pub fn tags(&self) -> Tags<'_> {
        Tags::checked(self.raw_tags(), self.values.tag_count)
    }

    /// The content.
    #[inline]
    pub fn content(&self) -> JsonStr<'_> {
        JsonStr::scanned(self.text(CONTENT), self.values.content_escapes)
    }

    /// The signature.
    pub fn sig(&self) -> [u8; 64] {
        decode(self.frame.bytes(SIG))
    }

    /// The digits of the id; lowercase, but for [`Rules::LENIENT`].
    #[inline]
    pub fn id_hex(&self) -> &str {
        self.text(ID)
    }

    /// The digits of the public key; lowercase, but for [`Rules::LENIENT`].
    #[inline]
    pub fn pubkey_hex(&self) -> &str {
        self.text(PUBKEY)
    }

    /// The digits of the signature; lowercase, but for [`Rules::LENIENT`].
    #[inline]
    pub fn sig_hex(&self) -> &str {
        self.text(SIG)
    }

    /// The event exactly as it was received, from `{` to `}`, other keys and whitespace included.
    #[inline]
    pub fn raw(&self) -> &str {
        self.text(EVENT)
    }

    /// The event as a value for the writers of frames.
    pub fn raw_json(&self) -> RawJson<'_> {
        RawJson::checked(self.raw())
    }

    /// The array of the tags, exactly as it was received.
    #[inline]
    pub fn raw_tags(&self) -> &str {
        self.text(TAGS)
    }

    /// The keys that are not of NIP-01, with their values, in the order of the wire. A key may be
    /// there more than once.
    pub fn unknown_keys(&self) -> UnknownKeys<'_> {
        let object = || {
            let mut reader = Reader::from_text(self.raw(), &Rules::ANY, "event").ok()?;
            let object = reader.object("event").ok()?;
            Some((reader, object))
        };
        UnknownKeys { rest: self.values.unknown_keys.then(object).flatten() }
    }

    /// The buffer that the event was read from: the whole frame.
    pub fn buffer(&self) -> &B {
        self.frame.buffer()
    }

    /// The id that the event's text has, as the network computes it: computed at the first call,
    /// once, and kept. A clone keeps what was computed before it.
    ///
    /// Hashed from the bytes of the wire if they are spelled as they are hashed, which those of
    /// nearly all events are. Allocates nothing.
    pub fn computed_id(&self) -> &[u8; 32] {
        self.computed_id.get_or_init(|| match self.is_canonical() {
            true => id::of_canonical(self),
            false => id::by_dialect(self, Dialect::Json),
        })
    }

    /// The id that the event's text has in a dialect of JSON; computed at every call.
    pub fn computed_id_by(&self, dialect: Dialect) -> [u8; 32] {
        id::by_dialect(self, dialect)
    }

    /// Compares the id that the event claims with the one it has. Where they differ, tries the
    /// other dialects that are spoken, so that the answer can say why.
    ///
    /// ```
    /// use borrowire::nostr::event::{Dialect, EventView};
    ///
    /// // U+0001 hashed as it is, as NIP-01 says, but no relay does.
    /// let event = EventView::parse(r#"{
    ///     "id": "1de696096cbd038f2259db62d16fdb84e0c1ca2887e3a0cb581443bdc6130819",
    ///     "pubkey": "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
    ///     "created_at": 1700000000, "kind": 1, "tags": [], "content": "a\u0001b",
    ///     "sig": "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    /// }"#.as_bytes())?;
    /// let check = event.check_id();
    /// assert!(!check.is_match());
    /// assert_eq!(check.dialect, Some(Dialect::Nip01Literal));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    pub fn check_id(&self) -> IdCheck {
        let (claimed, computed) = (*self.id(), *self.computed_id());
        let dialect = match claimed == computed {
            true => Some(Dialect::Json),
            false => Dialect::ALL[1..]
                .iter()
                .copied()
                .find(|dialect| self.computed_id_by(*dialect) == claimed),
        };
        IdCheck { claimed, computed, dialect }
    }

    /// The event alone in a buffer of its own, copied: a view keeps its whole buffer alive, which
    /// may be the read buffer of a connection.
    #[must_use]
    pub fn detach(&self) -> EventView {
        counters::copy(self.raw().len());
        EventView {
            frame: self.frame.detach_span(EVENT),
            values: self.values,
            computed_id: self.computed_id.clone(),
        }
    }

    /// The same event, borrowed.
    pub fn as_borrowed(&self) -> EventView<&[u8]> {
        EventView {
            frame: self.frame.borrowed(),
            values: self.values,
            computed_id: self.computed_id.clone(),
        }
    }

    /// The same event in a copy of the whole frame.
    pub(in crate::nostr) fn detach_frame(&self) -> EventView {
        EventView {
            frame: self.frame.detach(),
            values: self.values,
            computed_id: self.computed_id.clone(),
        }
    }

    /// What the frame puts before the event in span [`SUB`].
    #[inline(always)]
    pub(in crate::nostr) fn raw_sub(&self) -> &str {
        self.text(SUB)
    }

    /// The tags that filters can ask for: a letter and a value.
    #[inline]
    pub(in crate::nostr) fn letter_tags(&self) -> LetterTags<'_> {
        LetterTags::checked(self.raw_tags(), self.values.tag_count)
    }

    /// Whether the text is spelled as it is hashed.
    #[inline]
    pub(super) fn is_canonical(&self) -> bool {
        self.values.canonical_tags && self.values.content_escapes <= Escapes::Canonical
    }

    /// How many bytes are hashed, if the text is spelled as it is hashed.
    pub(super) fn hashed_len(&self) -> usize {
        let (created_at, kind) = self.raw_numbers();
        let strings = self.text(PUBKEY).len() + self.text(CONTENT).len();
        r#"[0,"",,,,""]"#.len() + strings + created_at.len() + kind.len() + self.raw_tags().len()
    }

    /// The digits of `created_at` and `kind`.
    pub(super) fn raw_numbers(&self) -> (&str, &str) {
        (self.text(CREATED_AT), self.text(KIND))
    }

    /// The computed id, if it is known.
    pub(super) fn known_id(&self) -> Option<&[u8; 32]> {
        self.computed_id.get()
    }

    /// Keeps the computed id, if none is known.
    pub(super) fn keep_id(&self, id: [u8; 32]) {
        let _ = self.computed_id.set(id);
    }

    #[inline(always)]
    fn text(&self, i: usize) -> &str {
        // Parsing marked every span as text.
        self.frame.text(i).unwrap_or_default()
    }
}

impl EventView {
    /// [`parse_frame`](Self::parse_frame) of text that was checked to be UTF-8 before, as WebSocket
    /// libraries do: the check is not made again.
    pub fn parse_text(frame: Text, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(frame), rules, enter_frame, leave_frame)
    }

    /// The event exactly as it was received, as a share of the buffer that it was read from.
    pub fn raw_bytes(&self) -> Bytes {
        self.frame.part(self.frame.span(EVENT))
    }
}

impl<'a> EventView<&'a [u8]> {
    /// [`parse_frame`](Self::parse_frame) of a `str`, which is UTF-8: the check is not made again.
    pub fn parse_str(frame: &'a str, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(frame), rules, enter_frame, leave_frame)
    }
}

impl TryFrom<Bytes> for EventView {
    type Error = Error;

    fn try_from(event: Bytes) -> Result<Self, Error> {
        Self::parse(event)
    }
}

impl<'a> TryFrom<&'a [u8]> for EventView<&'a [u8]> {
    type Error = Error;

    fn try_from(event: &'a [u8]) -> Result<Self, Error> {
        Self::parse(event)
    }
}

impl<B: Buffer> Eq for EventView<B> {}

/// Events are equal if their seven fields mean the same, however they are spelled; other keys do
/// not count.
impl<B: Buffer, C: Buffer> PartialEq<EventView<C>> for EventView<B> {
    fn eq(&self, other: &EventView<C>) -> bool {
        let same_tags = || {
            let (a, b) = (self.tags(), other.tags());
            self.raw_tags() == other.raw_tags()
                || a.len() == b.len() && a.zip(b).all(|(a, b)| a.eq(b))
        };
        self.id() == other.id()
            && self.pubkey() == other.pubkey()
            && self.created_at() == other.created_at()
            && self.kind() == other.kind()
            && self.content() == other.content()
            && self.sig() == other.sig()
            && same_tags()
    }
}

impl<B: Buffer> fmt::Display for EventView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, len) = (self.kind(), self.raw().len());
        write!(f, "event {} of kind {kind}, {len} bytes", Hex(self.id()))
    }
}

impl<B: Buffer> fmt::Debug for EventView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventView")
            .field("id", &Hex(self.id()))
            .field("pubkey", &Hex(self.pubkey()))
            .field("created_at", &self.created_at())
            .field("kind", &self.kind())
            .field("tags", &self.tags())
            .field("content", &self.content())
            .field("sig", &Hex(&self.sig()))
            .finish()
    }
}

/// The seven fields, in the order of NIP-01; other keys are left out. To pass an event on as it
/// came, write [`raw`](EventView::raw).
impl<B: Buffer> Serialize for EventView<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_struct("Event", 7)?;
        event.serialize_field("id", self.id_hex())?;
        event.serialize_field("pubkey", self.pubkey_hex())?;
        event.serialize_field("created_at", &self.created_at())?;
        event.serialize_field("kind", &self.kind())?;
        event.serialize_field("tags", &self.tags())?;
        event.serialize_field("content", &self.content())?;
        event.serialize_field("sig", self.sig_hex())?;
        event.end()
    }
}

/// The keys of an event that are not of NIP-01, with their values. See
/// [`EventView::unknown_keys`].
#[derive(Debug)]
pub struct UnknownKeys<'a> {
    rest: Option<(Reader<'a>, Object)>,
}

impl<'a> Iterator for UnknownKeys<'a> {
    type Item = (JsonStr<'a>, RawJson<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (reader, object) = self.rest.as_mut()?;
        // It was read once without an error.
        while let Some(key) = object.next(reader, "event").ok()? {
            let value = reader.skip("event").ok()?;
            if Key::of(&key).is_none() {
                return Some((key, RawJson::checked(reader.slice(value))));
            }
        }
        None
    }
}

/// What was learned of an event that was found in a text.
#[derive(Clone, Copy)]
pub(in crate::nostr) struct Found(Values);

impl Found {
    /// Reads the event at the next token of `reader`, and points all spans but [`SUB`] at its parts.
    #[inline(always)]
    pub(in crate::nostr) fn read(
        reader: &mut Reader<'_>,
        rules: &Rules,
        spans: &mut [Span; SPANS],
    ) -> Result<Self, Error> {
        let Fields { spans: found, values } = Fields::read(reader, rules)?;
        spans[EVENT] = found.event;
        spans[ID] = found.id;
        spans[PUBKEY] = found.pubkey;
        spans[CREATED_AT] = found.created_at;
        spans[KIND] = found.kind;
        spans[TAGS] = found.tags;
        spans[CONTENT] = found.content;
        spans[SIG] = found.sig;
        Ok(Self(values))
    }
}

/// Goes to the event of a frame, or to an event that is in none.
fn enter_frame(reader: &mut Reader<'_>) -> Result<Option<Array>, Error> {
    if reader.peek("frame")? == b'{' {
        return Ok(None);
    }
    let mut array = reader.array("frame")?;
    expect_element(&mut array, reader, "frame.label")?;
    let start = reader.position();
    let label = reader.string("frame.label")?;
    if !["EVENT", "AUTH"].iter().any(|known| label.eq_str(known)) {
        let found = reader.text().as_bytes().get(start).copied();
        let kind = ErrorKind::Unexpected { expected: Expected::EventLabel, found };
        return Err(Error::new(kind, start, "frame.label"));
    }
    expect_element(&mut array, reader, "frame.event")?;
    if reader.peek("frame.sub")? == b'"' {
        reader.string("frame.sub")?;
        expect_element(&mut array, reader, "frame.event")?;
    }
    Ok(Some(array))
}

/// Takes what follows the event of a frame.
fn leave_frame(reader: &mut Reader<'_>, array: Option<Array>) -> Result<(), Error> {
    if let Some(mut array) = array {
        while array.next(reader, "frame")? {
            reader.skip("frame")?;
        }
    }
    Ok(())
}

/// Goes to an element that must be there.
fn expect_element(
    array: &mut Array,
    reader: &mut Reader<'_>,
    context: &'static str,
) -> Result<(), Error> {
    match array.next(reader, context)? {
        true => Ok(()),
        // The bracket that ends the array too early is where the element is missing.
        false => Err(Error::new(ErrorKind::Missing, reader.position() - 1, context)),
    }
}

/// The bytes of digits that the parser has checked.
#[inline]
fn decode<const N: usize>(digits: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let decoded = hex::decode(digits, &mut bytes, Case::Any, "event");
    decoded.expect("digits that parsing has checked");
    bytes
}

// The spans of the frame.
const EVENT: usize = 0;
const ID: usize = 1;
const PUBKEY: usize = 2;
const CREATED_AT: usize = 3;
const KIND: usize = 4;
const TAGS: usize = 5;
const CONTENT: usize = 6;
const SIG: usize = 7;
/// For the reader of a frame: the subscription id before the event.
pub(in crate::nostr) const SUB: usize = 8;
/// How many spans there are.
pub(in crate::nostr) const SPANS: usize = 9;
