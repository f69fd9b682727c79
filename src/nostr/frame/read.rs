//! One pass over the text of a frame: what it is, and where its elements lie.

use crate::buffer::Span;
use crate::error::{Error, ErrorKind};
use crate::json::JsonStr;
use crate::json::read::{Array, Reader};
use crate::json::string::Escapes;
use crate::nostr::event::{Found, SPANS, SUB};
use crate::rules::Rules;

/// What is learned of a frame while it is read, but for where its parts lie.
pub(super) struct Parts {
    pub(super) kind: Kind,
    pub(super) facts: Facts,
    /// The event, if there is one that can be read.
    pub(super) found: Option<Found>,
    /// Why the event is none, if there must be one.
    pub(super) bad_event: Option<Error>,
}

impl Parts {
    pub(super) const fn new(rules: &Rules) -> Self {
        Self { kind: Kind::Other, facts: Facts::new(rules), found: None, bad_event: None }
    }

    /// Reads a whole frame, of which `kind_of` knows the label or not, and points the spans at its
    /// parts.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        reader: &mut Reader<'_>,
        rules: &Rules,
        kind_of: fn(&str) -> Kind,
        spans: &mut [Span; SPANS],
    ) -> Result<(), Error> {
        let array = reader.array("frame")?;
        let mut elements = Elements { reader, array, rules, parts: self, spans };
        elements.read_known(kind_of)?;
        while elements.array.next(elements.reader, "frame")? {
            elements.reader.skip("frame")?;
        }
        if self.found.is_none() {
            spans[WHOLE] = Span::new(0, reader.text().len() as u32);
        }
        Ok(())
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
    reader: &'r mut Reader<'a>,
    array: Array,
    rules: &'r Rules,
    parts: &'r mut Parts,
    spans: &'r mut [Span; SPANS],
}

impl Elements<'_, '_> {
    /// Reads the elements that the kind of frame has a place for.
    #[inline(always)]
    fn read_known(&mut self, kind_of: fn(&str) -> Kind) -> Result<(), Error> {
        self.next("frame.label")?;
        let (label, escapes) = self.reader.string_span("frame.label")?;
        let kind = match escapes {
            Escapes::None => kind_of(self.reader.slice(label)),
            _ => kind_of_escaped(JsonStr::scanned(self.reader.slice(label), escapes), kind_of),
        };
        self.parts.kind = kind;
        if kind.has_sub() {
            self.first_string("frame.sub")?;
        }
        match kind {
            Kind::Publish | Kind::Auth | Kind::Event => self.event(),
            Kind::Req | Kind::Count => self.filters(),
            Kind::Ok => {
                self.first_string("ok.id")?;
                self.next("ok.accepted")?;
                self.parts.facts.accepted = self.reader.bool("ok.accepted")?;
                self.message("ok.message")
            }
            Kind::Closed => self.message("closed.message"),
            Kind::Notice => self.text("notice.message"),
            Kind::Challenge => self.text("auth.challenge"),
            Kind::Counted => self.value("count.object"),
            Kind::Limits => self.value("limits.object"),
            Kind::Close | Kind::Eose => Ok(()),
            Kind::Neg | Kind::Other => {
                (self.spans[TEXT], self.parts.facts.text_escapes) = (label, escapes);
                Ok(())
            }
        }
    }

    /// Goes to an element that must be there.
    #[inline(always)]
    fn next(&mut self, context: &'static str) -> Result<(), Error> {
        match self.array.next(self.reader, context)? {
            true => {
                self.parts.facts.known += 1;
                Ok(())
            }
            // The bracket that ends the array too early is where the element is missing.
            false => Err(Error::new(ErrorKind::Missing, self.reader.position() - 1, context)),
        }
    }

    #[inline(always)]
    fn first_string(&mut self, context: &'static str) -> Result<(), Error> {
        self.next(context)?;
        (self.spans[SUB], self.parts.facts.sub_escapes) = self.reader.string_span(context)?;
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
        (self.spans[TEXT], self.parts.facts.text_escapes) = self.reader.string_span(context)?;
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
        while self.array.next(self.reader, "frame.filter")? {
            self.parts.facts.known += 1;
            self.reader.skip("frame.filter")?;
        }
        Ok(())
    }

    /// An event, or a value that is none: what is around it stays readable.
    #[inline(always)]
    fn event(&mut self) -> Result<(), Error> {
        self.next("frame.event")?;
        let before = self.reader.place();
        match Found::read(self.reader, self.rules, self.spans) {
            Ok(found) => {
                self.parts.found = Some(found);
                Ok(())
            }
            Err(error) => {
                self.reader.go_back_to(before);
                self.pass_bad_event(error)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_bad_event(&mut self, error: Error) -> Result<(), Error> {
        match self.reader.skip("frame.event") {
            Ok(_) => {
                self.parts.bad_event = Some(error);
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

/// The kind of a label that is spelled with escapes.
#[cold]
fn kind_of_escaped(label: JsonStr<'_>, kind_of: fn(&str) -> Kind) -> Kind {
    let known = LABELS.into_iter().find(|known| label.eq_str(known));
    known.map_or(Kind::Other, kind_of)
}

// The spans of a frame without an event that can be read; SUB is that of an event.
pub(super) const WHOLE: usize = 0;
pub(super) const TEXT: usize = 1;
pub(super) const VALUE: usize = 2;

/// The labels of both directions, but for negentropy.
const LABELS: [&str; 10] =
    ["EVENT", "REQ", "COUNT", "CLOSE", "AUTH", "OK", "EOSE", "CLOSED", "NOTICE", "LIMITS"];
