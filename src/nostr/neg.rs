//! The frames that carry negentropy between two peers. Source: NIP-77.
//!
//! ```text
//! ["NEG-OPEN", sub, filter, message]            client to relay
//! ["NEG-OPEN", sub, filter, id-size, message]   client to relay, the old form
//! ["NEG-MSG", sub, message]                     both ways
//! ["NEG-CLOSE", sub]                            client to relay
//! ["NEG-ERR", sub, reason]                      relay to client
//! ["NEG-ERR", sub, reason, max-records]         relay to client
//!
//! sub      string, 1 to 64 characters (NIP-01); strfry: bytes 0x20 to 0x7e without `"` and `\`
//! filter   object, one filter of NIP-01
//! message  string, lowercase hex of a negentropy message
//! ```
//!
//! Writers take what they are given: a subscription id of any length, escaped if it must be.
//!
//! Relays differ in how much they take at once (strfry 131,072 bytes of frame, though it sends
//! 500,000 bytes of message, a frame of a megabyte), so a message should be made to measure:
//! `max_payload` says how much binary fits. What a client sends goes under a WebSocket mask (RFC
//! 6455): `write_masked` lays it on while it writes.
//!
//! Readers take whitespace anywhere and elements behind those that they know, as relays send them.
//! [`NegView`] reads any of the four in place; [`decode_msg`] is the short way from a NEG-MSG frame
//! to its binary. Text that ends before the closing bracket is
//! [`ErrorKind::Incomplete`]; every other error is final.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Frame, Marks, Source, Span, Text};
use crate::counters;
use crate::error::{Error, ErrorKind, Expected};
use crate::json::read::Reader;
use crate::json::string::Escapes;
use crate::json::{CleanStr, Elements, FrameWriter, HexStr, HexText, JsonStr, RawJson, Rest};
use crate::output::{Output, decode_hex};
use crate::rules::Rules;

/// `["NEG-OPEN", sub, filter, message]`: a client begins to reconcile what `filter` matches.
///
/// ```
/// use borrowire::json::RawJson;
/// use borrowire::nostr::neg::NegOpen;
///
/// let open = NegOpen {
///     sub: "sync",
///     filter: RawJson::new(r#"{"kinds":[1]}"#, "neg-open.filter")?,
///     id_size: None,
///     message: [0x61, 0x00, 0x00, 0x02, 0x00].as_slice().into(),
/// };
/// let mut out = Vec::new();
/// open.write(&mut out);
/// assert_eq!(out, br#"["NEG-OPEN","sync",{"kinds":[1]},"6100000200"]"#);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NegOpen<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The filter.
    pub filter: RawJson<'a>,
    /// The size of ids in bytes, in the old form; `None` in today's, which has four elements.
    pub id_size: Option<u64>,
    /// The first negentropy message.
    pub message: HexText<'a>,
}

impl<'a> NegOpen<'a> {
    /// How many bytes of message fit a frame of `frame_budget` bytes, in the form of four
    /// elements. `None` if not even an empty message does.
    pub fn max_payload(frame_budget: usize, sub: &'a str, filter: RawJson<'a>) -> Option<usize> {
        let empty = NegOpen { sub, filter, id_size: None, message: HexText::EMPTY };
        bytes_in(frame_budget, empty.encoded_len())
    }

    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        let id_size = Rest(self.id_size.as_slice());
        FrameWriter::new((OPEN, self.sub, self.filter, id_size, self.message))
    }
}

/// `["NEG-MSG", sub, message]`: one peer answers the other.
///
/// ```
/// use borrowire::json::HexStr;
/// use borrowire::nostr::neg::NegMsg;
///
/// let binary = NegMsg { sub: "sync", message: [0x61, 0x00].as_slice().into() };
/// let mut out = Vec::new();
/// binary.write(&mut out);
/// assert_eq!(out, br#"["NEG-MSG","sync","6100"]"#);
///
/// // Hex that another library made is checked, and then copied.
/// let hex = HexStr::new("6100", "neg-msg.message")?;
/// assert_eq!(NegMsg { sub: "sync", message: hex.into() }.encoded_len(), out.len());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NegMsg<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The negentropy message.
    pub message: HexText<'a>,
}

impl<'a> NegMsg<'a> {
    /// How many bytes of message fit a frame of `frame_budget` bytes. `None` if not even an empty
    /// message does. The header that WebSocket puts before a frame is not counted.
    ///
    /// ```
    /// use borrowire::nostr::neg::NegMsg;
    ///
    /// // strfry takes frames of 131,072 bytes.
    /// assert_eq!(NegMsg::max_payload(131_072, "sync"), Some(65_525));
    /// assert_eq!(NegMsg::max_payload(10, "sync"), None);
    /// ```
    pub fn max_payload(frame_budget: usize, sub: &'a str) -> Option<usize> {
        let empty = NegMsg { sub, message: HexText::EMPTY };
        bytes_in(frame_budget, empty.encoded_len())
    }

    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        FrameWriter::new((MSG, self.sub, self.message))
    }
}

/// `["NEG-CLOSE", sub]`: the client is done.
#[derive(Clone, Copy, Debug)]
pub struct NegClose<'a> {
    /// The subscription id.
    pub sub: &'a str,
}

impl NegClose<'_> {
    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        FrameWriter::new((CLOSE, self.sub))
    }
}

/// `["NEG-ERR", sub, reason]`: the relay gives up.
///
/// ```
/// use borrowire::nostr::neg::NegErr;
///
/// let too_big = NegErr {
///     sub: "sync",
///     reason: "blocked: this query is too big",
///     max_records: Some(1_000_000),
/// };
/// let mut out = Vec::new();
/// too_big.write(&mut out);
/// assert_eq!(out, br#"["NEG-ERR","sync","blocked: this query is too big",1000000]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NegErr<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// Why: a word for machines (`blocked`, `closed`), a colon, and words for people.
    pub reason: &'a str,
    /// The most records that the relay reconciles at once, where that is the reason.
    pub max_records: Option<u64>,
}

impl NegErr<'_> {
    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under a masking key. Only clients mask, and only relays send
    /// this frame; it is here for tests of relays and for proxies.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        let max_records = Rest(self.max_records.as_slice());
        FrameWriter::new((ERR, self.sub, self.reason, max_records))
    }
}

/// One of the four frames, read where it lies.
///
/// ```
/// use borrowire::nostr::neg::{NegKind, NegView};
///
/// let frame = br#"["NEG-MSG", "sync", "6100000200"]"#;
/// let view = NegView::parse(&frame[..])?;
/// assert_eq!((view.kind(), view.sub().as_plain()), (NegKind::Msg, Some("sync")));
/// assert_eq!(view.message().unwrap().as_str(), "6100000200");
///
/// let mut binary = Vec::new(); // reuse it for the next frame
/// view.decode_message(&mut binary);
/// assert_eq!(binary, [0x61, 0, 0, 2, 0]);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct NegView<B: Buffer = Bytes> {
    frame: Frame<B, 3>,
    kind: NegKind,
    sub_escapes: Escapes,
    reason_escapes: Escapes,
    /// `id-size` of NEG-OPEN, `max-records` of NEG-ERR.
    number: Option<u64>,
}

impl<B: Buffer> NegView<B> {
    /// Reads a frame under [`Rules::STRICT`].
    pub fn parse(frame: B) -> Result<Self, Error> {
        Self::parse_with(frame, &Rules::STRICT)
    }

    /// Reads a frame: one JSON array, whole, with a label of the four, the elements that it asks
    /// for, and a message of lowercase hex. Allocates nothing. Keeps the limits `frame` and
    /// `json_depth` of `rules`.
    pub fn parse_with(frame: B, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(frame), rules)
    }

    pub(in crate::nostr) fn read(source: Source<B>, rules: &Rules) -> Result<Self, Error> {
        let mut read_fields = None;
        let frame = Frame::parse(source, |marks: &mut Marks<'_, 3>| {
            let (text, fields) = Fields::of(marks.bytes(), marks.text(), rules)?;
            let spans = [fields.sub, fields.body, fields.message.unwrap_or_default()];
            marks.set_texts(text, spans).map_err(|at| Error::new(ErrorKind::Utf8, at, "neg"))?;
            read_fields = Some(fields);
            Ok(())
        })?;
        let Some(Fields { kind, sub_escapes, reason_escapes, number, .. }) = read_fields else {
            return Err(Error::new(ErrorKind::Missing, 0, "neg"));
        };
        Ok(Self { frame, kind, sub_escapes, reason_escapes, number })
    }

    /// Appends the bytes of the message to `out`: nothing for NEG-CLOSE and NEG-ERR.
    pub fn decode_message<O: Output>(&self, out: &mut O) {
        let decoded = decode_hex(self.frame.bytes(MESSAGE), out, "neg.message");
        decoded.expect("digits that parsing has checked");
    }

    /// Which of the four it is.
    pub fn kind(&self) -> NegKind {
        self.kind
    }

    /// The subscription id: any string. Ask [`is_portable_sub_id`] before it goes to another relay.
    pub fn sub(&self) -> JsonStr<'_> {
        JsonStr::scanned(self.text(SUB), self.sub_escapes)
    }

    /// The filter of NEG-OPEN: the text of a JSON object.
    pub fn filter(&self) -> Option<RawJson<'_>> {
        (self.kind == NegKind::Open).then(|| RawJson::checked(self.text(BODY)))
    }

    /// The size of ids in a NEG-OPEN of the old form.
    pub fn id_size(&self) -> Option<u64> {
        self.number.filter(|_| self.kind == NegKind::Open)
    }

    /// The digits of the message of NEG-OPEN and NEG-MSG.
    pub fn message(&self) -> Option<HexStr<'_>> {
        let has_message = matches!(self.kind, NegKind::Open | NegKind::Msg);
        has_message.then(|| HexStr::checked(self.text(MESSAGE)))
    }

    /// The reason of NEG-ERR. [`Reason`](crate::nostr::Reason) knows its first word.
    pub fn reason(&self) -> Option<JsonStr<'_>> {
        let reason = || JsonStr::scanned(self.text(BODY), self.reason_escapes);
        (self.kind == NegKind::Err).then(reason)
    }

    /// The most records that the relay reconciles, where NEG-ERR says so.
    pub fn max_records(&self) -> Option<u64> {
        self.number.filter(|_| self.kind == NegKind::Err)
    }

    /// The frame, exactly as it was received.
    pub fn raw(&self) -> &[u8] {
        self.frame.buffer().as_ref()
    }

    /// The frame's buffer.
    pub fn buffer(&self) -> &B {
        self.frame.buffer()
    }

    /// The same frame in a buffer of its own, copied.
    #[must_use]
    pub fn detach(&self) -> NegView {
        let Self { kind, sub_escapes, reason_escapes, number, .. } = *self;
        counters::copy(self.raw().len());
        NegView { frame: self.frame.detach(), kind, sub_escapes, reason_escapes, number }
    }

    /// The same frame, borrowed.
    pub fn as_borrowed(&self) -> NegView<&[u8]> {
        let Self { kind, sub_escapes, reason_escapes, number, .. } = *self;
        NegView { frame: self.frame.borrowed(), kind, sub_escapes, reason_escapes, number }
    }

    fn text(&self, i: usize) -> &str {
        // Parsing marked every span as text.
        self.frame.text(i).unwrap_or_default()
    }
}

impl NegView {
    /// Reads a frame that was checked to be UTF-8 before, as WebSocket libraries do: the check is
    /// not made again.
    pub fn parse_text(frame: Text, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(frame), rules)
    }
}

impl<'a> NegView<&'a [u8]> {
    /// Reads a frame from a `str`, which is UTF-8: the check is not made again.
    pub fn parse_str(frame: &'a str, rules: &Rules) -> Result<Self, Error> {
        Self::read(Source::from(frame), rules)
    }
}

impl TryFrom<Bytes> for NegView {
    type Error = Error;

    fn try_from(frame: Bytes) -> Result<Self, Error> {
        Self::parse(frame)
    }
}

impl<'a> TryFrom<&'a [u8]> for NegView<&'a [u8]> {
    type Error = Error;

    fn try_from(frame: &'a [u8]) -> Result<Self, Error> {
        Self::parse(frame)
    }
}

impl<B: Buffer> Eq for NegView<B> {}

/// Frames are equal if their elements are, however they are spelled; the filter is compared as
/// text.
impl<B: Buffer, C: Buffer> PartialEq<NegView<C>> for NegView<B> {
    fn eq(&self, other: &NegView<C>) -> bool {
        self.kind() == other.kind()
            && self.sub() == other.sub()
            && self.filter() == other.filter()
            && self.reason() == other.reason()
            && self.message() == other.message()
            && self.number == other.number
    }
}

impl<B: Buffer> fmt::Display for NegView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {:?}", self.kind.label(), self.sub())?;
        match (self.message(), self.reason()) {
            (Some(message), _) => write!(f, " of {} bytes", message.as_str().len() / 2),
            (None, Some(reason)) => write!(f, ": {reason}"),
            (None, None) => Ok(()),
        }
    }
}

impl<B: Buffer> fmt::Debug for NegView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("NegView");
        debug.field("kind", &self.kind).field("sub", &self.sub());
        if let Some(message) = self.message() {
            debug.field("message_len", &(message.as_str().len() / 2));
        }
        debug
            .field("filter", &self.filter())
            .field("reason", &self.reason())
            .field("number", &self.number)
            .finish()
    }
}

/// The kinds of frames that carry negentropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum NegKind {
    /// `NEG-OPEN`
    Open,
    /// `NEG-MSG`
    Msg,
    /// `NEG-CLOSE`
    Close,
    /// `NEG-ERR`
    Err,
}

impl NegKind {
    /// The frame's first element.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Open => OPEN.as_str(),
            Self::Msg => MSG.as_str(),
            Self::Close => CLOSE.as_str(),
            Self::Err => ERR.as_str(),
        }
    }

    fn of(label: &JsonStr<'_>) -> Option<Self> {
        [Self::Msg, Self::Open, Self::Close, Self::Err]
            .into_iter()
            .find(|kind| label.eq_str(kind.label()))
    }
}

/// Reads a NEG-MSG frame and appends the bytes of its message to `out`; returns the subscription
/// id. On an error `out` is as it was.
///
/// A frame that is spelled as all peers spell it is read at the speed of the hex decoder, which
/// proves the digits while it decodes them; any other by [`NegView`]. The answers are the same.
///
/// ```
/// use borrowire::nostr::neg::decode_msg;
///
/// let mut binary = Vec::new();
/// let sub = decode_msg(br#"["NEG-MSG","sync","6100"]"#, &mut binary)?;
/// assert!(sub.eq_str("sync"));
/// assert_eq!(binary, [0x61, 0x00]);
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn decode_msg<'a, O: Output>(frame: &'a [u8], out: &mut O) -> Result<JsonStr<'a>, Error> {
    if let Some((sub, digits)) = split_msg(frame)
        && decode_hex(digits, out, "neg.message").is_ok()
    {
        counters::decode(frame.len());
        return Ok(sub);
    }
    decode_any_msg(frame, out)
}

/// Whether every relay that we know takes `sub` as a subscription id and gives it back unharmed: 1
/// to 64 bytes from 0x20 to 0x7e without `"` and `\`. Source: strfry `Subscription.h`; NIP-01 sets
/// 64 characters of any kind.
///
/// ```
/// use borrowire::nostr::neg::is_portable_sub_id;
///
/// assert!(is_portable_sub_id("sync"));
/// assert!(!is_portable_sub_id("") && !is_portable_sub_id("日本") && !is_portable_sub_id("\""));
/// ```
pub fn is_portable_sub_id(sub: &str) -> bool {
    let is_portable = |byte| matches!(byte, 0x20..=0x7e) && byte != b'"' && byte != b'\\';
    (1..=MAX_SUB_ID_LEN).contains(&sub.len()) && sub.bytes().all(is_portable)
}

/// The elements of a frame, as spans of it.
struct Fields {
    kind: NegKind,
    sub: Span,
    sub_escapes: Escapes,
    /// The filter of NEG-OPEN, the reason of NEG-ERR.
    body: Span,
    reason_escapes: Escapes,
    message: Option<Span>,
    number: Option<u64>,
}

impl Fields {
    /// The text of a whole frame, and its elements.
    fn of<'a>(
        frame: &'a [u8],
        text: Option<&'a str>,
        rules: &Rules,
    ) -> Result<(&'a str, Self), Error> {
        counters::decode(frame.len());
        let mut reader = match text {
            Some(text) => Reader::from_text(text, rules, "neg")?,
            None => Reader::new(frame, rules, "neg")?,
        };
        let text = reader.text();
        let fields = Self::read(&mut reader)?;
        reader.finish("neg")?;
        Ok((text, fields))
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut array = reader.array("neg")?;
        let mut next = |reader: &mut Reader<'_>, context| {
            // The bracket that ends the array too early is where the element is missing.
            match array.next(reader, context)? {
                true => Ok(()),
                false => Err(Error::new(ErrorKind::Missing, reader.position() - 1, context)),
            }
        };
        next(reader, "neg.label")?;
        let kind = read_label(reader)?;
        next(reader, "neg.sub")?;
        let (sub, sub_escapes) = reader.string_span("neg.sub")?;
        let mut fields = Self {
            kind,
            sub,
            sub_escapes,
            body: Span::default(),
            reason_escapes: Escapes::None,
            message: None,
            number: None,
        };
        match kind {
            NegKind::Open => {
                next(reader, "neg.filter")?;
                fields.body = read_filter(reader)?;
                next(reader, "neg.message")?;
                if reader.peek("neg.message")?.is_ascii_digit() {
                    fields.number = Some(reader.u64("neg.id_size")?);
                    next(reader, "neg.message")?;
                }
                fields.message = Some(read_hex(reader)?);
            }
            NegKind::Msg => {
                next(reader, "neg.message")?;
                fields.message = Some(read_hex(reader)?);
            }
            NegKind::Close => {}
            NegKind::Err => {
                next(reader, "neg.reason")?;
                (fields.body, fields.reason_escapes) = reader.string_span("neg.reason")?;
                if array.next(reader, "neg.max_records")? {
                    fields.number = read_max_records(reader)?;
                } else {
                    return Ok(fields);
                }
            }
        }
        while array.next(reader, "neg")? {
            reader.skip("neg")?;
        }
        Ok(fields)
    }
}

fn read_label(reader: &mut Reader<'_>) -> Result<NegKind, Error> {
    let label = reader.string("neg.label")?;
    NegKind::of(&label).ok_or_else(|| {
        let start = reader.position() - 1 - label.raw().len();
        // Of an empty label, its closing quote.
        let found = reader.text().as_bytes().get(start).copied();
        Error::new(
            ErrorKind::Unexpected { expected: Expected::NegLabel, found },
            start,
            "neg.label",
        )
    })
}

fn read_filter(reader: &mut Reader<'_>) -> Result<Span, Error> {
    let first = reader.peek("neg.filter")?;
    if first != b'{' {
        let kind = ErrorKind::Unexpected { expected: Expected::Filter, found: Some(first) };
        return Err(Error::new(kind, reader.position(), "neg.filter"));
    }
    reader.skip("neg.filter")
}

/// A number, or any other value, which is then one of the elements that we do not know.
fn read_max_records(reader: &mut Reader<'_>) -> Result<Option<u64>, Error> {
    let mut ahead = reader.clone();
    match ahead.u64("neg.max_records") {
        Ok(number) => {
            *reader = ahead;
            Ok(Some(number))
        }
        Err(_) => reader.skip("neg.max_records").map(|_| None),
    }
}

/// A string of lowercase hex digits, spelled as they are.
fn read_hex(reader: &mut Reader<'_>) -> Result<Span, Error> {
    let (span, escapes) = reader.string_span("neg.message")?;
    let (start, digits) = (span.range().start, reader.slice(span));
    if escapes != Escapes::None {
        let at = start + digits.find('\\').unwrap_or_default();
        return Err(Error::new(ErrorKind::HexEscape, at, "neg.message"));
    }
    HexStr::new(digits, "neg.message").map_err(|error| error.offset_by(start))?;
    Ok(span)
}

/// The subscription id of a NEG-MSG frame without whitespace, and what lies where its digits must
/// be, not yet checked. The fast twin of [`Fields::read`].
#[inline]
fn split_msg(frame: &[u8]) -> Option<(JsonStr<'_>, &[u8])> {
    let rest = frame.strip_prefix(b"[\"NEG-MSG\",\"")?;
    let sub = &rest[..memchr::memchr2(b'"', b'\\', rest)?];
    let digits = rest[sub.len()..].strip_prefix(b"\",\"")?.strip_suffix(b"\"]")?;
    let sub = JsonStr::from_raw(std::str::from_utf8(sub).ok()?).ok()?;
    (frame.len() <= Rules::STRICT.limits().frame as usize).then_some((sub, digits))
}

/// The slow, obvious twin of [`decode_msg`].
#[cold]
#[inline(never)]
fn decode_any_msg<'a, O: Output>(frame: &'a [u8], out: &mut O) -> Result<JsonStr<'a>, Error> {
    let (text, fields) = Fields::of(frame, None, &Rules::STRICT)?;
    let (NegKind::Msg, Some(message)) = (fields.kind, fields.message) else {
        let at = text.find('"').unwrap_or_default() + 1;
        let found = text.as_bytes().get(at).copied();
        let kind = ErrorKind::Unexpected { expected: Expected::NegMsgLabel, found };
        return Err(Error::new(kind, at, "neg.label"));
    };
    decode_hex(&frame[message.range()], out, "neg.message")?;
    Ok(JsonStr::scanned(&text[fields.sub.range()], fields.sub_escapes))
}

fn bytes_in(frame_budget: usize, empty_len: usize) -> Option<usize> {
    Some(frame_budget.checked_sub(empty_len)? / 2)
}

// The spans of a view.
const SUB: usize = 0;
const BODY: usize = 1;
const MESSAGE: usize = 2;

/// Bytes of the longest subscription id that strfry takes.
const MAX_SUB_ID_LEN: usize = 64;

const OPEN: CleanStr<'static> = CleanStr::from_static("NEG-OPEN");
const MSG: CleanStr<'static> = CleanStr::from_static("NEG-MSG");
const CLOSE: CleanStr<'static> = CleanStr::from_static("NEG-CLOSE");
const ERR: CleanStr<'static> = CleanStr::from_static("NEG-ERR");

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::HexStr;

    #[test]
    fn frames_are_those_of_serde_json() {
        for sub in ["sync", "", "a\"b\\c\u{1}", "\u{e9}\u{1f98a}\u{2028}"] {
            let filter = RawJson::new(r#"{"kinds":[1]}"#, "x").unwrap();
            for len in [0, 1, 31, 32, 33, 1000] {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
                let hex = const_hex::encode(&bytes);
                for message in [(&*bytes).into(), HexStr::new(&hex, "x").unwrap().into()] {
                    let filter_twin = json!({ "kinds": [1] });
                    let mut open = NegOpen { sub, filter, id_size: None, message };
                    let twin = json!(["NEG-OPEN", sub, filter_twin, hex]);
                    assert_frame!(open, twin);
                    open.id_size = Some(16);
                    assert_frame!(open, json!(["NEG-OPEN", sub, filter_twin, 16, hex]));
                    assert_frame!(NegMsg { sub, message }, json!(["NEG-MSG", sub, hex]));
                }
            }
            assert_frame!(NegClose { sub }, json!(["NEG-CLOSE", sub]));
            let reason = "blocked: \"too\" big";
            let mut err = NegErr { sub, reason, max_records: None };
            assert_frame!(err, json!(["NEG-ERR", sub, reason]));
            err.max_records = Some(1_000_000);
            assert_frame!(err, json!(["NEG-ERR", sub, reason, 1_000_000]));
        }
    }

    #[test]
    fn the_frame_of_quartz_and_its_bytes() {
        // Source: Amethyst, NegMsgSerializationBenchmark.kt: the digits of its payload.
        let mut x = 0x9E37_79B9_u32;
        let mut digit = || {
            x = x.wrapping_mul(1_103_515_245).wrapping_add(12345);
            char::from_digit(x >> 16 & 0xf, 16).unwrap()
        };
        let hex: String = (0..2048).map(|_| digit()).collect();
        let bytes = const_hex::decode(&hex).unwrap();
        let sub = "bench-sync";
        assert_frame!(NegMsg { sub, message: (&*bytes).into() }, json!(["NEG-MSG", sub, hex]));
    }

    #[test]
    fn the_largest_payload_fits_and_one_byte_more_does_not() {
        let filter = RawJson::new("{}", "x").unwrap();
        for sub in ["", "sync", "\"\u{1}"] {
            for budget in 0..300 {
                let msg = |len| NegMsg { sub, message: [7; 300][..len].into() }.encoded_len();
                assert_fits(budget, NegMsg::max_payload(budget, sub), msg);
                let open = |len| {
                    let message = [7; 300][..len].into();
                    NegOpen { sub, filter, id_size: None, message }.encoded_len()
                };
                assert_fits(budget, NegOpen::max_payload(budget, sub, filter), open);
            }
        }
        assert!(NegMsg::max_payload(usize::MAX, "sync").is_some());
    }

    #[track_caller]
    fn assert_fits(budget: usize, max: Option<usize>, len: impl Fn(usize) -> usize) {
        match max {
            Some(max) => assert!(len(max) <= budget && len(max + 1) > budget),
            None => assert!(len(0) > budget),
        }
    }

    macro_rules! assert_frame {
        ($frame:expr, $twin:expr) => {{
            let (frame, twin) = ($frame, serde_json::to_vec(&$twin).unwrap());
            let mut out = Vec::new();
            frame.write(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&twin));
            assert_eq!(frame.encoded_len(), twin.len());
            out.clear();
            frame.write_masked(&mut out, KEY);
            out.iter_mut().zip(KEY.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
            assert_eq!(out, twin);
        }};
    }
    use assert_frame;

    const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
}
