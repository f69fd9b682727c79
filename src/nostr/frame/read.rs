//! One pass over the text of a frame: what it is, and where its elements lie.

use crate::buffer::Span;
use crate::error::{Error, ErrorKind};
use crate::json::JsonStr;
use crate::json::read::{Array, Reader};
use crate::json::string::Escapes;
use crate::nostr::event::{Found, SPANS, SUB};
use crate::rules::Rules;

/// What a frame is made of.
pub(super) struct Parts {
    pub(super) kind: Kind,
    pub(super) facts: Facts,
    /// The event, if there is one that can be read.
    pub(super) found: Option<Found>,
    /// Why the event is none, if there must be one.
    pub(super) bad_event: Option<Error>,
    pub(super) spans: [Span; SPANS],
}

impl Parts {
    /// Reads a whole frame, of one of `kinds` or of another.
    #[inline(always)]
    pub(super) fn read(
        mut reader: Reader<'_>,
        rules: &Rules,
        kinds: &[Kind],
    ) -> Result<Self, Error> {
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
        Ok(Self { kind, facts, found, bad_event, spans })
    }
}

/// The kinds of frames of both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nostr) enum Kind {
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
    pub(super) const fn label(self) -> Option<&'static str> {
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
    pub(super) const fn has_sub(self) -> bool {
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

/// What was learned of a frame on the way.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// Of the string in [`SUB`].
    pub(super) sub_escapes: Escapes,
    /// Of the string in [`TEXT`].
    pub(super) text_escapes: Escapes,
    pub(super) accepted: bool,
    /// Whether the rules take uppercase hex.
    pub(super) uppercase_hex: bool,
    /// How many elements the kind has a place for, the label among them.
    pub(super) known: u32,
}

impl Facts {
    pub(super) const fn new(rules: &Rules) -> Self {
        Self {
            sub_escapes: Escapes::None,
            text_escapes: Escapes::None,
            accepted: false,
            uppercase_hex: rules.uppercase_hex,
            known: 0,
        }
    }
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

impl Elements<'_, '_> {
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

// The spans of a frame without an event that can be read; SUB is that of an event.
pub(super) const WHOLE: usize = 0;
pub(super) const TEXT: usize = 1;
pub(super) const VALUE: usize = 2;
