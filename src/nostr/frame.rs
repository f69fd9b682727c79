//! What the frames of both directions share: the label in front, the elements behind it, and the
//! peeks that look no further than they must.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Frame, Marks, Source, Span};
use crate::counters;
use crate::error::{Error, ErrorKind};
use crate::hex::Case;
use crate::json::read::{Array, Reader};
use crate::json::string::Escapes;
use crate::json::{JsonStr, RawJson};
use crate::nostr::event::{EventView, Found, SPANS, SUB, Walk};
use crate::nostr::neg::{NegKind, NegView};
use crate::rules::Rules;

/// The label of a frame, found without reading the rest: to send a frame on to where its kind is
/// handled, or to drop it, before it costs anything.
///
/// `None` if the frame does not begin as one. What follows the label is not looked at. Where
/// [`ClientFrame`](super::ClientFrame) or [`RelayFrame`](super::RelayFrame) accepts the frame, they
/// see the same label. Allocates nothing.
///
/// ```
/// use borrowire::nostr::frame::peek_label;
///
/// assert_eq!(peek_label(br#"["EVENT","sub",{"kind"#).unwrap(), "EVENT");
/// assert_eq!(peek_label(b"{}"), None);
/// ```
pub fn peek_label(frame: &[u8]) -> Option<JsonStr<'_>> {
    let mut walk = Walk::new(frame);
    walk.take(b'[')?;
    walk.text()
}

/// The subscription id of a frame of either direction, found without reading the rest: to answer a
/// frame that is refused, or to find out whose it is.
///
/// Looks into those that have one: REQ, COUNT, CLOSE, EOSE, CLOSED, the four of negentropy, and
/// EVENT from a relay. `None` for all others and for what does not begin as a frame. What follows
/// the id is not looked at. Where this answers and [`ClientFrame`](super::ClientFrame) or
/// [`RelayFrame`](super::RelayFrame), whichever knows the label, accepts the frame, they agree.
/// Allocates nothing.
///
/// ```
/// use borrowire::nostr::frame::peek_sub_id;
///
/// assert_eq!(peek_sub_id(br#"["REQ","sub",{"ids":["bad"#).unwrap(), "sub");
/// assert_eq!(peek_sub_id(br#"["NOTICE","text"]"#), None);
/// ```
pub fn peek_sub_id(frame: &[u8]) -> Option<JsonStr<'_>> {
    let mut walk = Walk::new(frame);
    walk.take(b'[')?;
    let label = walk.text()?;
    if !WITH_SUB.iter().any(|known| label.eq_str(known)) {
        return None;
    }
    walk.take(b',')?;
    walk.text()
}

/// Elements of a frame, each the text of one JSON value.
#[derive(Clone, Debug)]
pub struct RawElements<'a> {
    rest: Option<(Reader<'a>, Array)>,
}

impl<'a> RawElements<'a> {
    /// The elements of a frame that was read once without an error.
    fn enter(reader: Result<Reader<'a>, Error>) -> Self {
        let enter = |mut reader: Reader<'a>| {
            let array = reader.array("frame")?;
            Ok((reader, array))
        };
        Self { rest: reader.and_then(enter).ok() }
    }

    /// The next element, and where it lies.
    fn next_span(&mut self) -> Option<(Span, RawJson<'a>)> {
        let (reader, array) = self.rest.as_mut()?;
        if !array.next(reader, "frame").ok()? {
            return None;
        }
        let span = reader.skip("frame").ok()?;
        Some((span, RawJson::checked(reader.slice(span))))
    }
}

impl<'a> Iterator for RawElements<'a> {
    type Item = RawJson<'a>;

    fn next(&mut self) -> Option<RawJson<'a>> {
        self.next_span().map(|(_, element)| element)
    }
}

/// The filters of a REQ or COUNT, as they stand in the frame.
#[derive(Clone)]
pub struct RawFilters<'a, B: Buffer = Bytes> {
    elements: RawElements<'a>,
    frame: &'a Frame<B, SPANS>,
    left: u32,
}

impl<'a, B: Buffer> Iterator for RawFilters<'a, B> {
    type Item = RawFilter<'a, B>;

    fn next(&mut self) -> Option<Self::Item> {
        let (span, text) = self.elements.next_span()?;
        self.left -= 1;
        Some(RawFilter { text, span, frame: self.frame })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<B: Buffer> ExactSizeIterator for RawFilters<'_, B> {}

impl<B: Buffer> fmt::Debug for RawFilters<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone().map(|filter| filter.raw())).finish()
    }
}

/// One filter of a frame, not yet read: any JSON value.
#[derive(Clone, Copy)]
pub struct RawFilter<'a, B: Buffer = Bytes> {
    text: RawJson<'a>,
    span: Span,
    frame: &'a Frame<B, SPANS>,
}

impl<'a, B: Buffer> RawFilter<'a, B> {
    /// The filter's text.
    pub const fn raw(&self) -> RawJson<'a> {
        self.text
    }

    /// The filter's bytes as a buffer of their own: a share of the frame's, or the same borrow.
    pub fn share(&self) -> B {
        self.frame.part(self.span)
    }

    /// Where in the frame the filter begins, for [`Error::offset_by`].
    pub const fn offset(&self) -> usize {
        self.span.range().start
    }
}

impl<B: Buffer> fmt::Debug for RawFilter<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_str())
    }
}

/// A frame of either direction, of which the views show what belongs to theirs.
#[derive(Clone)]
pub(super) struct Record<B: Buffer> {
    body: Body<B>,
    kind: Kind,
    facts: Facts,
}

impl<B: Buffer> Record<B> {
    /// Reads a frame of the direction whose kinds and negentropy frames are given.
    #[inline(always)]
    pub(super) fn read(
        source: Source<B>,
        rules: &Rules,
        kinds: &[Kind],
        negs: &[NegKind],
    ) -> Result<Self, Error> {
        if let Some(label) = peek_label(source.bytes())
            && negs.iter().any(|neg| label.eq_str(neg.label()))
        {
            return Self::read_neg(source, rules);
        }
        let mut read = None;
        let frame = Frame::parse(source, |marks: &mut Marks<'_, SPANS>| {
            counters::decode(marks.bytes().len());
            let reader = match marks.text() {
                Some(text) => Reader::from_text(text, rules, "frame")?,
                None => Reader::new(marks.bytes(), rules, "frame")?,
            };
            let text = reader.text();
            let parts = Elements::read_all(reader, rules, kinds)?;
            let spans = parts.spans;
            marks.set_texts(text, spans).map_err(|at| Error::new(ErrorKind::Utf8, at, "frame"))?;
            read = Some(parts);
            Ok(())
        })?;
        let parts = read.ok_or(Error::new(ErrorKind::Missing, 0, "frame"))?;
        let Parts { kind, facts, found, bad_event, .. } = parts;
        let body = match found {
            Some(found) => Body::Event(EventView::of_frame(frame, found)),
            None => Body::Plain(frame, bad_event),
        };
        Ok(Self { body, kind, facts })
    }

    #[inline(never)]
    fn read_neg(source: Source<B>, rules: &Rules) -> Result<Self, Error> {
        let neg = NegView::read(source, rules)?;
        let known = match neg.kind() {
            NegKind::Open => 4 + u32::from(neg.id_size().is_some()),
            NegKind::Msg => 3,
            NegKind::Close => 2,
            NegKind::Err => 3 + u32::from(neg.max_records().is_some()),
        };
        let facts = Facts { known, ..Facts::new(rules) };
        Ok(Self { body: Body::Neg(neg), kind: Kind::Neg, facts })
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn label(&self) -> JsonStr<'_> {
        match (&self.body, self.kind.label()) {
            (Body::Neg(neg), _) => JsonStr::scanned(neg.kind().label(), Escapes::None),
            (_, Some(label)) => JsonStr::scanned(label, Escapes::None),
            (_, None) => self.text(),
        }
    }

    pub(super) fn sub(&self) -> Option<JsonStr<'_>> {
        match &self.body {
            Body::Neg(neg) => Some(neg.sub()),
            _ => self.kind.has_sub().then(|| self.first_string()),
        }
    }

    /// The string behind the label: a subscription id, or the id of an OK.
    pub(super) fn first_string(&self) -> JsonStr<'_> {
        let raw = match &self.body {
            Body::Event(event) => event.raw_sub(),
            Body::Plain(frame, _) => text(frame, SUB),
            Body::Neg(neg) => return neg.sub(),
        };
        JsonStr::scanned(raw, self.facts.sub_escapes)
    }

    /// Where the string behind the label begins in the frame.
    pub(super) fn first_string_start(&self) -> usize {
        match &self.body {
            Body::Plain(frame, _) => frame.span(SUB).range().start,
            _ => 0,
        }
    }

    /// The event, where the kind has one.
    pub(super) const fn event(&self) -> Option<Result<&EventView<B>, Error>> {
        match &self.body {
            Body::Event(event) => Some(Ok(event)),
            Body::Plain(_, Some(error)) => Some(Err(*error)),
            Body::Plain(_, None) | Body::Neg(_) => None,
        }
    }

    pub(super) fn into_event(self) -> Option<Result<EventView<B>, Error>> {
        match self.body {
            Body::Event(event) => Some(Ok(event)),
            Body::Plain(_, error) => error.map(Err),
            Body::Neg(_) => None,
        }
    }

    pub(super) const fn neg(&self) -> Option<&NegView<B>> {
        match &self.body {
            Body::Neg(neg) => Some(neg),
            _ => None,
        }
    }

    /// The words of OK, CLOSED and NOTICE, the challenge, the label that is not known.
    pub(super) fn text(&self) -> JsonStr<'_> {
        JsonStr::scanned(self.plain(TEXT), self.facts.text_escapes)
    }

    /// What COUNT of a relay and LIMITS say, and where in the frame.
    pub(super) fn value(&self) -> (RawJson<'_>, usize) {
        let start = match &self.body {
            Body::Plain(frame, _) => frame.span(VALUE).range().start,
            _ => 0,
        };
        (RawJson::checked(self.plain(VALUE)), start)
    }

    pub(super) const fn accepted(&self) -> bool {
        self.facts.accepted
    }

    /// The case of hex digits that the rules take.
    pub(super) const fn case(&self) -> Case {
        if self.facts.uppercase_hex { Case::Any } else { Case::Lower }
    }

    /// The filters of REQ and COUNT; of other kinds none.
    pub(super) fn filters(&self) -> RawFilters<'_, B> {
        let Body::Plain(frame, _) = &self.body else {
            unreachable!("only a frame with filters is asked for them");
        };
        let mut elements = self.elements();
        let before = elements.by_ref().take(BEFORE_FILTERS as usize).count() as u32;
        RawFilters { elements, frame, left: self.facts.known - before }
    }

    /// All elements, the label first.
    pub(super) fn elements(&self) -> RawElements<'_> {
        // Text that was read once needs no second check; of the others this is not kept.
        let reader = match &self.body {
            Body::Plain(frame, _) => Reader::from_text(text(frame, WHOLE), &Rules::ANY, "frame"),
            Body::Event(_) | Body::Neg(_) => Reader::new(self.raw(), &Rules::ANY, "frame"),
        };
        RawElements::enter(reader)
    }

    /// The elements that the kind has no place for.
    pub(super) fn extra(&self) -> RawElements<'_> {
        let mut elements = self.elements();
        elements.by_ref().take(self.facts.known as usize).for_each(drop);
        elements
    }

    pub(super) fn raw(&self) -> &[u8] {
        self.buffer().as_ref()
    }

    pub(super) fn buffer(&self) -> &B {
        match &self.body {
            Body::Event(event) => event.buffer(),
            Body::Neg(neg) => neg.buffer(),
            Body::Plain(frame, _) => frame.buffer(),
        }
    }

    pub(super) fn detach(&self) -> Record<Bytes> {
        let body = match &self.body {
            Body::Event(event) => Body::Event(event.detach_frame()),
            // It counts the copy itself.
            Body::Neg(neg) => {
                return Record {
                    body: Body::Neg(neg.detach()),
                    kind: self.kind,
                    facts: self.facts,
                };
            }
            Body::Plain(frame, bad_event) => Body::Plain(frame.detach(), *bad_event),
        };
        counters::copy(self.raw().len());
        Record { body, kind: self.kind, facts: self.facts }
    }

    pub(super) fn borrowed(&self) -> Record<&[u8]> {
        let body = match &self.body {
            Body::Event(event) => Body::Event(event.as_borrowed()),
            Body::Neg(neg) => Body::Neg(neg.as_borrowed()),
            Body::Plain(frame, bad_event) => Body::Plain(frame.borrowed(), *bad_event),
        };
        Record { body, kind: self.kind, facts: self.facts }
    }

    /// Whether the elements that both kinds have a place for mean the same. Values that are not
    /// read here, filters and bad events among them, are compared as text.
    pub(super) fn same<C: Buffer>(&self, other: &Record<C>) -> bool {
        if self.kind != other.kind || self.sub() != other.sub() {
            return false;
        }
        let known = |element: u32| (self.facts.known.max(other.facts.known) - element) as usize;
        match (&self.body, &other.body) {
            (Body::Event(a), Body::Event(b)) => a == b,
            (Body::Neg(a), Body::Neg(b)) => a == b,
            _ => match self.kind {
                Kind::Ok => {
                    self.first_string() == other.first_string()
                        && self.accepted() == other.accepted()
                        && self.text() == other.text()
                }
                Kind::Closed | Kind::Notice | Kind::Challenge => self.text() == other.text(),
                Kind::Close | Kind::Eose => true,
                Kind::Counted | Kind::Limits => self.value().0 == other.value().0,
                Kind::Other => {
                    self.label() == other.label()
                        && self.elements().skip(1).eq(other.elements().skip(1))
                }
                // Filters, and events of which one at least is bad.
                _ => {
                    let (a, b) = (self.elements(), other.elements());
                    let before = 1 + u32::from(self.kind.has_sub());
                    let (skipped, taken) = (before as usize, known(before));
                    self.facts.known == other.facts.known
                        && a.skip(skipped).take(taken).eq(b.skip(skipped).take(taken))
                }
            },
        }
    }

    fn plain(&self, i: usize) -> &str {
        match &self.body {
            Body::Plain(frame, _) => text(frame, i),
            Body::Event(_) | Body::Neg(_) => "",
        }
    }
}

/// What holds the buffer. Nothing else does, so reading a frame counts no reference to it.
#[derive(Clone)]
// An event is what most frames hold, and a box would be an allocation.
#[allow(clippy::large_enum_variant)]
enum Body<B: Buffer> {
    Event(EventView<B>),
    Neg(NegView<B>),
    /// Also why the event is none, where the kind asks for one.
    Plain(Frame<B, SPANS>, Option<Error>),
}

/// What was learned of a frame on the way.
#[derive(Clone, Copy)]
struct Facts {
    /// Of the string in [`SUB`].
    sub_escapes: Escapes,
    /// Of the string in [`TEXT`].
    text_escapes: Escapes,
    accepted: bool,
    /// Whether the rules take uppercase hex.
    uppercase_hex: bool,
    /// How many elements the kind has a place for, the label among them.
    known: u32,
}

impl Facts {
    const fn new(rules: &Rules) -> Self {
        Self {
            sub_escapes: Escapes::None,
            text_escapes: Escapes::None,
            accepted: false,
            uppercase_hex: rules.uppercase_hex,
            known: 0,
        }
    }
}

/// The kinds of frames of both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// EVENT from a client.
    Publish,
    Req,
    /// COUNT from a client.
    Count,
    Close,
    /// AUTH from a client.
    Auth,
    /// EVENT from a relay.
    Event,
    Ok,
    Eose,
    Closed,
    Notice,
    /// AUTH from a relay.
    Challenge,
    /// COUNT from a relay.
    Counted,
    Limits,
    Neg,
    Other,
}

impl Kind {
    const fn label(self) -> Option<&'static str> {
        Some(match self {
            Self::Publish | Self::Event => "EVENT",
            Self::Req => "REQ",
            Self::Count | Self::Counted => "COUNT",
            Self::Close => "CLOSE",
            Self::Auth | Self::Challenge => "AUTH",
            Self::Ok => "OK",
            Self::Eose => "EOSE",
            Self::Closed => "CLOSED",
            Self::Notice => "NOTICE",
            Self::Limits => "LIMITS",
            Self::Neg | Self::Other => return None,
        })
    }

    /// Whether a subscription id follows the label.
    const fn has_sub(self) -> bool {
        matches!(
            self,
            Self::Req
                | Self::Count
                | Self::Close
                | Self::Event
                | Self::Eose
                | Self::Closed
                | Self::Counted
        )
    }
}

/// What a frame is made of.
struct Parts {
    kind: Kind,
    facts: Facts,
    found: Option<Found>,
    bad_event: Option<Error>,
    spans: [Span; SPANS],
}

/// The elements of a frame while they are read.
struct Elements<'r, 'a> {
    reader: Reader<'a>,
    array: Array,
    rules: &'r Rules,
    facts: Facts,
    bad_event: Option<Error>,
    spans: [Span; SPANS],
}

impl<'r, 'a> Elements<'r, 'a> {
    /// Reads the whole frame.
    #[inline(always)]
    fn read_all(mut reader: Reader<'a>, rules: &'r Rules, kinds: &[Kind]) -> Result<Parts, Error> {
        let whole = Span::new(0, reader.text().len() as u32);
        let array = reader.array("frame")?;
        let (facts, spans) = (Facts::new(rules), [Span::default(); SPANS]);
        let mut elements = Elements { reader, array, rules, facts, bad_event: None, spans };
        let (kind, found) = elements.read_known(kinds)?;
        let Elements { mut reader, mut array, facts, bad_event, mut spans, .. } = elements;
        while array.next(&mut reader, "frame")? {
            reader.skip("frame")?;
        }
        reader.finish("frame")?;
        match &found {
            Some(found) => spans = found.with_sub(spans[SUB]),
            None => spans[WHOLE] = whole,
        }
        Ok(Parts { kind, facts, found, bad_event, spans })
    }

    /// Reads the elements that the kind of frame has a place for.
    #[inline(always)]
    fn read_known(&mut self, kinds: &[Kind]) -> Result<(Kind, Option<Found>), Error> {
        self.next("frame.label")?;
        let (label, escapes) = self.reader.string_span("frame.label")?;
        let text = JsonStr::scanned(self.reader.slice(label), escapes);
        let is_it = |kind: &Kind| kind.label().is_some_and(|known| text.eq_str(known));
        let kind = kinds.iter().copied().find(is_it).unwrap_or(Kind::Other);
        if kind.has_sub() {
            self.first_string("frame.sub")?;
        }
        match kind {
            Kind::Publish | Kind::Auth | Kind::Event => return Ok((kind, self.event()?)),
            Kind::Req | Kind::Count => self.filters()?,
            Kind::Ok => {
                self.first_string("ok.id")?;
                self.next("ok.accepted")?;
                self.facts.accepted = self.reader.bool("ok.accepted")?;
                self.message("ok.message")?;
            }
            Kind::Closed => self.message("closed.message")?,
            Kind::Notice => self.text("notice.message")?,
            Kind::Challenge => self.text("auth.challenge")?,
            Kind::Counted => self.value("count.object")?,
            Kind::Limits => self.value("limits.object")?,
            Kind::Close | Kind::Eose => {}
            Kind::Neg | Kind::Other => {
                (self.spans[TEXT], self.facts.text_escapes) = (label, escapes);
            }
        }
        Ok((kind, None))
    }

    /// Goes to an element that must be there.
    #[inline(always)]
    fn next(&mut self, context: &'static str) -> Result<(), Error> {
        match self.array.next(&mut self.reader, context)? {
            true => {
                self.facts.known += 1;
                Ok(())
            }
            // The bracket that ends the array too early is where the element is missing.
            false => Err(Error::new(ErrorKind::Missing, self.reader.position() - 1, context)),
        }
    }

    #[inline(always)]
    fn first_string(&mut self, context: &'static str) -> Result<(), Error> {
        self.next(context)?;
        (self.spans[SUB], self.facts.sub_escapes) = self.reader.string_span(context)?;
        Ok(())
    }

    /// The words of OK and CLOSED.
    #[inline(always)]
    fn message(&mut self, context: &'static str) -> Result<(), Error> {
        match self.text(context) {
            Err(error) if self.rules.omitted_message && error.kind() == ErrorKind::Missing => {
                Ok(())
            }
            read => read,
        }
    }

    #[inline(always)]
    fn text(&mut self, context: &'static str) -> Result<(), Error> {
        self.next(context)?;
        (self.spans[TEXT], self.facts.text_escapes) = self.reader.string_span(context)?;
        Ok(())
    }

    /// An object, whose members are read when they are asked for.
    fn value(&mut self, context: &'static str) -> Result<(), Error> {
        self.next(context)?;
        self.spans[VALUE] = self.reader.skip(context)?;
        Ok(())
    }

    /// One filter or more; they are read when they are asked for.
    fn filters(&mut self) -> Result<(), Error> {
        self.next("frame.filter")?;
        self.reader.skip("frame.filter")?;
        while self.array.next(&mut self.reader, "frame.filter")? {
            self.facts.known += 1;
            self.reader.skip("frame.filter")?;
        }
        Ok(())
    }

    /// An event, or a value that is none: what is around it stays readable.
    #[inline(always)]
    fn event(&mut self) -> Result<Option<Found>, Error> {
        self.next("frame.event")?;
        let before = self.reader.clone();
        match Found::read(&mut self.reader, self.rules) {
            Ok(found) => Ok(Some(found)),
            Err(error) => {
                self.reader = before;
                self.pass_bad_event(error).map(|()| None)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_bad_event(&mut self, error: Error) -> Result<(), Error> {
        match self.reader.skip("frame.event") {
            Ok(_) => {
                self.bad_event = Some(error);
                Ok(())
            }
            // What the event's reader stumbled over as well, it has the better name for.
            Err(fatal) if fatal.kind() == error.kind() && fatal.offset() == error.offset() => {
                Err(error)
            }
            Err(fatal) => Err(fatal),
        }
    }
}

/// The text of a span that parsing has marked as such.
fn text<B: Buffer>(frame: &Frame<B, SPANS>, i: usize) -> &str {
    frame.text(i).unwrap_or_default()
}

// The spans of a frame without an event that can be read; SUB is that of an event.
const WHOLE: usize = 0;
const TEXT: usize = 1;
const VALUE: usize = 2;

/// The label and the subscription id.
const BEFORE_FILTERS: u32 = 2;

/// The labels of frames in which a subscription id may follow.
const WITH_SUB: [&str; 10] = [
    "EVENT",
    "REQ",
    "EOSE",
    "CLOSE",
    "CLOSED",
    "COUNT",
    "NEG-MSG",
    "NEG-OPEN",
    "NEG-CLOSE",
    "NEG-ERR",
];

/// What the views of both directions share.
macro_rules! frame_view {
    ($View:ident, $KINDS:ident, $NEGS:ident) => {
        impl<B: Buffer> $View<B> {
            /// Reads a frame under [`Rules::STRICT`].
            pub fn parse(frame: B) -> Result<Self, Error> {
                Self::parse_with(frame, &Rules::STRICT)
            }

            /// Reads a frame: one JSON array, whole, with the elements that its label asks for.
            /// Elements behind them are passed over, and readable as [`extra`](Self::extra). Another
            /// label than those known is no error. Allocates nothing. Keeps the limits `frame` and
            /// `json_depth` of `rules`.
            ///
            /// Whitespace may stand anywhere between tokens; behind the frame any other byte is
            /// refused. Text that ends before the closing bracket, no byte at all included, is
            /// [`ErrorKind::Incomplete`](crate::ErrorKind::Incomplete); every other error is final.
            pub fn parse_with(frame: B, rules: &Rules) -> Result<Self, Error> {
                let record = Record::read(Source::from(frame), rules, &$KINDS, &$NEGS)?;
                Ok(Self { record })
            }

            /// The label: the first element.
            pub fn label(&self) -> JsonStr<'_> {
                self.record.label()
            }

            /// The subscription id, where the kind has one: any string. Ask
            /// [`is_portable_sub_id`](crate::nostr::neg::is_portable_sub_id) before it goes to
            /// another relay.
            pub fn sub(&self) -> Option<JsonStr<'_>> {
                self.record.sub()
            }

            /// The event of EVENT and AUTH, read while the frame was; `None` where the kind has
            /// none. Errs if it is not an event; offsets are those in the frame.
            pub const fn event(&self) -> Option<Result<&EventView<B>, Error>> {
                self.record.event()
            }

            /// The event of EVENT and AUTH, and with it the frame's buffer.
            pub fn into_event(self) -> Option<Result<EventView<B>, Error>> {
                self.record.into_event()
            }

            /// All elements, the label first.
            pub fn elements(&self) -> RawElements<'_> {
                self.record.elements()
            }

            /// The elements behind those that the label asks for.
            pub fn extra(&self) -> RawElements<'_> {
                self.record.extra()
            }

            /// The frame, exactly as it was received.
            pub fn raw(&self) -> &[u8] {
                self.record.raw()
            }

            /// The frame's buffer.
            pub fn buffer(&self) -> &B {
                self.record.buffer()
            }

            /// The same frame in a buffer of its own, copied.
            #[must_use]
            pub fn detach(&self) -> $View {
                $View { record: self.record.detach() }
            }

            /// The same frame, borrowed.
            pub fn as_borrowed(&self) -> $View<&[u8]> {
                $View { record: self.record.borrowed() }
            }
        }

        impl $View {
            /// Reads a frame that was checked to be UTF-8 before, as WebSocket libraries do: the
            /// check is not made again.
            pub fn parse_text(frame: Text, rules: &Rules) -> Result<Self, Error> {
                let record = Record::read(Source::from(frame), rules, &$KINDS, &$NEGS)?;
                Ok(Self { record })
            }
        }

        impl<'a> $View<&'a [u8]> {
            /// Reads a frame from a `str`, which is UTF-8: the check is not made again.
            pub fn parse_str(frame: &'a str, rules: &Rules) -> Result<Self, Error> {
                let record = Record::read(Source::from(frame), rules, &$KINDS, &$NEGS)?;
                Ok(Self { record })
            }
        }

        impl TryFrom<Bytes> for $View {
            type Error = Error;

            fn try_from(frame: Bytes) -> Result<Self, Error> {
                Self::parse(frame)
            }
        }

        impl<'a> TryFrom<&'a [u8]> for $View<&'a [u8]> {
            type Error = Error;

            fn try_from(frame: &'a [u8]) -> Result<Self, Error> {
                Self::parse(frame)
            }
        }

        impl<B: Buffer> Eq for $View<B> {}

        /// Frames are equal if the elements that their label asks for are, however they are spelled;
        /// filters, bad events and the objects of COUNT and LIMITS are compared as text.
        impl<B: Buffer, C: Buffer> PartialEq<$View<C>> for $View<B> {
            fn eq(&self, other: &$View<C>) -> bool {
                self.record.same(&other.record)
            }
        }

        impl<B: Buffer> fmt::Debug for $View<B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.message(), f)
            }
        }
    };
}
pub(super) use frame_view;

/// What the writers of both directions share.
macro_rules! frame_writer {
    ($Frame:ident, |$this:ident| $elements:expr) => {
        impl $Frame<'_> {
            /// The exact length of the frame in bytes.
            pub fn encoded_len(&self) -> usize {
                self.frame().encoded_len()
            }

            /// Appends the frame to `out`.
            pub fn write<O: Output>(&self, out: &mut O) {
                self.frame().write(out);
            }

            /// Appends the frame to `out` under a masking key, as clients send it over WebSocket.
            pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
                self.frame().write_masked(out, key);
            }

            #[inline(always)]
            fn frame(&self) -> FrameWriter<impl Elements> {
                let $this = self;
                FrameWriter::new($elements)
            }
        }
    };
}
pub(super) use frame_writer;
