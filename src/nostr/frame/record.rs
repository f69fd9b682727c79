//! A frame that was read: what holds its buffer, and what was learned of it.

use bytes::Bytes;

use crate::buffer::{Buffer, Frame, Marks, Source, Span};
use crate::counters;
use crate::error::{Error, ErrorKind};
use crate::hex::Case;
use crate::json::read::Reader;
use crate::json::string::Escapes;
use crate::json::{JsonStr, RawJson};
use crate::nostr::event::{EventView, SPANS, SUB};
use crate::nostr::frame::elements::{RawElements, RawFilters};
use crate::nostr::frame::peek::peek_label;
use crate::nostr::frame::read::{Facts, Kind, Parts, TEXT, VALUE, WHOLE};
use crate::nostr::neg::{NegKind, NegView};
use crate::rules::Rules;

/// A frame of either direction, of which the views show what belongs to theirs.
#[derive(Clone)]
pub(in crate::nostr) struct Record<B: Buffer> {
    body: Body<B>,
    kind: Kind,
    facts: Facts,
}

impl<B: Buffer> Record<B> {
    /// Reads a frame of the direction whose labels `kind_of` knows, and whose negentropy frames are
    /// given.
    #[inline(always)]
    pub(in crate::nostr) fn read(
        source: Source<B>,
        rules: &Rules,
        kind_of: fn(&str) -> Kind,
        negs: &[NegKind],
    ) -> Result<Self, Error> {
        if is_neg(source.bytes(), negs) {
            return Self::read_neg(source, rules);
        }
        let mut parts = Parts::new(rules);
        let frame = Frame::parse(source, |marks: &mut Marks<'_, SPANS>| {
            counters::decode(marks.bytes().len());
            let mut reader = match marks.text() {
                Some(text) => Reader::from_text(text, rules, "frame")?,
                None => Reader::new(marks.bytes(), rules, "frame")?,
            };
            let text = reader.text();
            let mut spans = [Span::default(); SPANS];
            parts.read(&mut reader, rules, kind_of, &mut spans)?;
            reader.finish("frame")?;
            marks.set_texts(text, spans).map_err(|at| Error::new(ErrorKind::Utf8, at, "frame"))
        })?;
        let Parts { kind, facts, found, bad_event } = parts;
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

    pub(in crate::nostr) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(in crate::nostr) fn label(&self) -> JsonStr<'_> {
        match (&self.body, self.kind.label()) {
            (Body::Neg(neg), _) => JsonStr::scanned(neg.kind().label(), Escapes::None),
            (_, Some(label)) => JsonStr::scanned(label, Escapes::None),
            (_, None) => self.text(),
        }
    }

    pub(in crate::nostr) fn sub(&self) -> Option<JsonStr<'_>> {
        match &self.body {
            Body::Neg(neg) => Some(neg.sub()),
            _ => self.kind.has_sub().then(|| self.first_string()),
        }
    }

    /// The string behind the label: a subscription id, or the id of an OK.
    pub(in crate::nostr) fn first_string(&self) -> JsonStr<'_> {
        let raw = match &self.body {
            Body::Event(event) => event.raw_sub(),
            Body::Plain(frame, _) => text(frame, SUB),
            Body::Neg(neg) => return neg.sub(),
        };
        JsonStr::scanned(raw, self.facts.sub_escapes)
    }

    /// Where the string behind the label begins in the frame.
    pub(in crate::nostr) fn first_string_start(&self) -> usize {
        match &self.body {
            Body::Plain(frame, _) => frame.span(SUB).range().start,
            _ => 0,
        }
    }

    /// The event, where the kind has one.
    pub(in crate::nostr) const fn event(&self) -> Option<Result<&EventView<B>, Error>> {
        match &self.body {
            Body::Event(event) => Some(Ok(event)),
            Body::Plain(_, Some(error)) => Some(Err(*error)),
            Body::Plain(_, None) | Body::Neg(_) => None,
        }
    }

    pub(in crate::nostr) fn into_event(self) -> Option<Result<EventView<B>, Error>> {
        match self.body {
            Body::Event(event) => Some(Ok(event)),
            Body::Plain(_, error) => error.map(Err),
            Body::Neg(_) => None,
        }
    }

    pub(in crate::nostr) const fn neg(&self) -> Option<&NegView<B>> {
        match &self.body {
            Body::Neg(neg) => Some(neg),
            _ => None,
        }
    }

    /// The words of OK, CLOSED and NOTICE, the challenge, the label that is not known.
    pub(in crate::nostr) fn text(&self) -> JsonStr<'_> {
        JsonStr::scanned(self.plain(TEXT), self.facts.text_escapes)
    }

    /// What COUNT of a relay and LIMITS say, and where in the frame.
    pub(in crate::nostr) fn value(&self) -> (RawJson<'_>, usize) {
        let start = match &self.body {
            Body::Plain(frame, _) => frame.span(VALUE).range().start,
            _ => 0,
        };
        (RawJson::checked(self.plain(VALUE)), start)
    }

    pub(in crate::nostr) const fn accepted(&self) -> bool {
        self.facts.accepted
    }

    /// The case of hex digits that the rules take.
    pub(in crate::nostr) const fn case(&self) -> Case {
        if self.facts.uppercase_hex { Case::Any } else { Case::Lower }
    }

    /// The filters of REQ and COUNT; of other kinds none.
    pub(in crate::nostr) fn filters(&self) -> RawFilters<'_, B> {
        let Body::Plain(frame, _) = &self.body else {
            unreachable!("only a frame with filters is asked for them");
        };
        let mut elements = self.elements();
        let before = elements.by_ref().take(BEFORE_FILTERS as usize).count() as u32;
        RawFilters { elements, frame, left: self.facts.known - before }
    }

    /// All elements, the label first.
    pub(in crate::nostr) fn elements(&self) -> RawElements<'_> {
        // Text that was read once needs no second check; of the others this is not kept.
        let reader = match &self.body {
            Body::Plain(frame, _) => Reader::from_text(text(frame, WHOLE), &Rules::ANY, "frame"),
            Body::Event(_) | Body::Neg(_) => Reader::new(self.raw(), &Rules::ANY, "frame"),
        };
        RawElements::enter(reader)
    }

    /// The elements that the kind has no place for.
    pub(in crate::nostr) fn extra(&self) -> RawElements<'_> {
        let mut elements = self.elements();
        elements.by_ref().take(self.facts.known as usize).for_each(drop);
        elements
    }

    pub(in crate::nostr) fn raw(&self) -> &[u8] {
        self.buffer().as_ref()
    }

    pub(in crate::nostr) fn buffer(&self) -> &B {
        match &self.body {
            Body::Event(event) => event.buffer(),
            Body::Neg(neg) => neg.buffer(),
            Body::Plain(frame, _) => frame.buffer(),
        }
    }

    pub(in crate::nostr) fn detach(&self) -> Record<Bytes> {
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

    pub(in crate::nostr) fn borrowed(&self) -> Record<&[u8]> {
        let body = match &self.body {
            Body::Event(event) => Body::Event(event.as_borrowed()),
            Body::Neg(neg) => Body::Neg(neg.as_borrowed()),
            Body::Plain(frame, bad_event) => Body::Plain(frame.borrowed(), *bad_event),
        };
        Record { body, kind: self.kind, facts: self.facts }
    }

    /// Whether the elements that both kinds have a place for mean the same. Values that are not
    /// read here, filters and bad events among them, are compared as text.
    pub(in crate::nostr) fn same<C: Buffer>(&self, other: &Record<C>) -> bool {
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

/// Whether the label is of one of these. Nearly all others are told by the first letter.
#[inline(always)]
fn is_neg(frame: &[u8], negs: &[NegKind]) -> bool {
    match frame {
        [b'[', b'"', b'A'..=b'M' | b'O'..=b'Z', ..] => false,
        _ => is_neg_label(frame, negs),
    }
}

#[inline(never)]
fn is_neg_label(frame: &[u8], negs: &[NegKind]) -> bool {
    peek_label(frame).is_some_and(|label| negs.iter().any(|neg| label.eq_str(neg.label())))
}

/// The text of a span that parsing has marked as such.
fn text<B: Buffer>(frame: &Frame<B, SPANS>, i: usize) -> &str {
    frame.text(i).unwrap_or_default()
}

/// The label and the subscription id.
const BEFORE_FILTERS: u32 = 2;
