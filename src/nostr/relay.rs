//! The frames that a relay sends. Source: NIP-01, NIP-42 (AUTH), NIP-45 (COUNT), NIP-77, and nips
//! pull request 1434 (LIMITS, a draft).
//!
//! ```text
//! ["EVENT", sub, event]
//! ["OK", id, accepted, message]
//! ["EOSE", sub]
//! ["CLOSED", sub, message]
//! ["NOTICE", message]
//! ["AUTH", challenge]
//! ["COUNT", sub, {"count": n, "approximate": bool, "hll": hex}]    but for count, none need be there
//! ["LIMITS", object]
//! ["NEG-MSG", …]  ["NEG-ERR", …]    see `neg`
//!
//! sub       string, 1 to 64 characters (NIP-01)
//! id        string, 64 lowercase hex digits; strfry sends `?` where it saw no id
//! accepted  bool
//! message   string, which may begin with a word for machines: see `Reason`
//! hll       string, 512 lowercase hex digits: 256 registers of a HyperLogLog
//! ```
//!
//! [`RelayFrame`] reads any of them in place; [`Event`], [`OkReply`], [`Eose`], [`Closed`],
//! [`Notice`], [`Auth`], [`Count`] and [`Limits`] write them, and those of [`neg`](super::neg) the
//! others. [`EventFanout`](super::fanout::EventFanout) writes one event to many subscriptions.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Source, Text};
use crate::error::{Error, ErrorKind};
use crate::hex::{self, Case};
use crate::json::read::Reader;
use crate::json::string::Escapes;
use crate::json::{
    AnyText, CleanStr, Elements, FrameWriter, HexStr, HexText, JsonStr, Member, Object, RawJson,
};
use crate::nostr::event::EventView;
use crate::nostr::frame::{Kind, RawElements, Record, frame_view, frame_writer};
use crate::nostr::neg::{NegKind, NegView};
use crate::nostr::reason::Reason;
use crate::output::Output;
use crate::rules::Rules;

/// A frame from a relay, read where it lies.
///
/// Over [`Bytes`], the default, the view owns a share of the received buffer and crosses tasks and
/// threads; see [`detach`](Self::detach). [`message`](Self::message) says what the frame is:
///
/// ```
/// use borrowire::nostr::Prefix;
/// use borrowire::nostr::relay::{RelayFrame, RelayMessage};
///
/// let frame = RelayFrame::parse(&br#"["OK", "?", false, "invalid: no id"]"#[..])?;
/// match frame.message() {
///     RelayMessage::Ok { id, accepted, message } => {
///         assert!(!accepted && id.text() == "?" && id.bytes().is_err());
///         assert_eq!(message.prefix(), Some(Prefix::Invalid));
///         assert_eq!(message.rest(), "no id");
///     }
///     other => panic!("{other:?}"),
/// }
///
/// // Elements that no specification names are no error.
/// let frame = RelayFrame::parse(&br#"["EOSE","s",{"debug":1}]"#[..])?;
/// assert_eq!(frame.sub().unwrap(), "s");
/// assert_eq!(frame.extra().next().unwrap().as_str(), r#"{"debug":1}"#);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct RelayFrame<B: Buffer = Bytes> {
    record: Record<B>,
}

/// What a frame from a relay is, and what it holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RelayMessage<'a, B: Buffer = Bytes> {
    /// EVENT: an event that a subscription asked for.
    Event {
        /// The subscription id.
        sub: JsonStr<'a>,
        /// The event, or why it is none.
        event: Result<&'a EventView<B>, Error>,
    },
    /// OK: what became of an event that was sent.
    Ok {
        /// The id of the event.
        id: OkId<'a>,
        /// Whether the relay has the event now.
        accepted: bool,
        /// Why, or why not; may be empty.
        message: Reason<'a>,
    },
    /// EOSE: all stored events were sent.
    Eose {
        /// The subscription id.
        sub: JsonStr<'a>,
    },
    /// CLOSED: the relay has ended a subscription, or refused it.
    Closed {
        /// The subscription id.
        sub: JsonStr<'a>,
        /// Why.
        message: Reason<'a>,
    },
    /// NOTICE: words for people.
    Notice {
        /// The words.
        message: Reason<'a>,
    },
    /// AUTH: the client may say who it is.
    Auth {
        /// What the client's event must repeat.
        challenge: JsonStr<'a>,
    },
    /// COUNT: how many events there are.
    Count {
        /// The subscription id.
        sub: JsonStr<'a>,
        /// The answer, or why it is none.
        count: Result<Counted<'a>, Error>,
    },
    /// LIMITS: what the relay takes.
    Limits {
        /// Any JSON value; the draft says an object.
        limits: RawJson<'a>,
    },
    /// NEG-MSG or NEG-ERR.
    Neg(&'a NegView<B>),
    /// Another label.
    Other {
        /// The label.
        label: JsonStr<'a>,
        /// What follows it.
        elements: RawElements<'a>,
    },
}

impl<B: Buffer> RelayFrame<B> {
    /// What the frame is, and what it holds.
    pub fn message(&self) -> RelayMessage<'_, B> {
        let record = &self.record;
        let sub = record.first_string();
        let message = || Reason::from(record.text());
        match (record.kind(), record.event(), record.neg()) {
            (_, Some(event), _) => RelayMessage::Event { sub, event },
            (_, _, Some(neg)) => RelayMessage::Neg(neg),
            (Kind::Ok, ..) => {
                let id =
                    OkId { text: sub, offset: record.first_string_start(), case: record.case() };
                RelayMessage::Ok { id, accepted: record.accepted(), message: message() }
            }
            (Kind::Eose, ..) => RelayMessage::Eose { sub },
            (Kind::Closed, ..) => RelayMessage::Closed { sub, message: message() },
            (Kind::Notice, ..) => RelayMessage::Notice { message: message() },
            (Kind::Challenge, ..) => RelayMessage::Auth { challenge: record.text() },
            (Kind::Counted, ..) => {
                let (object, offset) = record.value();
                let count = Counted::read(object).map_err(|error| error.offset_by(offset));
                RelayMessage::Count { sub, count }
            }
            (Kind::Limits, ..) => RelayMessage::Limits { limits: record.value().0 },
            _ => RelayMessage::Other { label: record.label(), elements: record.extra() },
        }
    }
}

frame_view!(RelayFrame, kind_of, NEGS);

impl<B: Buffer> fmt::Display for RelayFrame<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            RelayMessage::Event { sub, event: Ok(event) } => write!(f, "EVENT on {sub:?}: {event}"),
            RelayMessage::Event { sub, event: Err(error) } => {
                write!(f, "EVENT on {sub:?}: a bad event: {error}")
            }
            RelayMessage::Ok { id, accepted, message } => {
                let verdict = if accepted { "accepted" } else { "refused" };
                write!(f, "OK of {id:?}: {verdict}, {message:?}")
            }
            RelayMessage::Eose { sub } => write!(f, "EOSE on {sub:?}"),
            RelayMessage::Closed { sub, message } => write!(f, "CLOSED on {sub:?}: {message:?}"),
            RelayMessage::Notice { message } => write!(f, "NOTICE: {message:?}"),
            RelayMessage::Auth { challenge } => write!(f, "AUTH, challenge {challenge:?}"),
            RelayMessage::Count { sub, count: Ok(count) } => {
                write!(f, "COUNT on {sub:?}: {}", count.count())
            }
            RelayMessage::Count { sub, count: Err(error) } => {
                write!(f, "COUNT on {sub:?}: a bad answer: {error}")
            }
            RelayMessage::Limits { limits } => write!(f, "LIMITS, {} bytes", limits.as_str().len()),
            RelayMessage::Neg(neg) => fmt::Display::fmt(neg, f),
            RelayMessage::Other { label, .. } => write!(f, "unknown label {label:?}"),
        }
    }
}

/// The id that an OK answers: any string. strfry sends `?` where it saw no id.
#[derive(Clone, Copy)]
pub struct OkId<'a> {
    text: JsonStr<'a>,
    offset: usize,
    case: Case,
}

impl<'a> OkId<'a> {
    /// The string.
    pub const fn text(&self) -> JsonStr<'a> {
        self.text
    }

    /// The id's bytes, if the string is 64 lowercase hex digits, spelled as they are; under
    /// [`Rules::LENIENT`] uppercase ones too.
    pub fn bytes(&self) -> Result<[u8; 32], Error> {
        let raw = self.text.raw();
        let error = |kind, at| Error::new(kind, self.offset + at, "ok.id");
        if let (Some(at), false) = (raw.find('\\'), self.text.escapes() == Escapes::None) {
            return Err(error(ErrorKind::HexEscape, at));
        }
        if raw.len() != 64 {
            return Err(error(ErrorKind::wrong_length(64, raw.len()), 0));
        }
        let mut bytes = [0; 32];
        hex::decode(raw.as_bytes(), &mut bytes, self.case, "ok.id")
            .map_err(|error| error.offset_by(self.offset))?;
        Ok(bytes)
    }
}

impl Eq for OkId<'_> {}

impl PartialEq for OkId<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for OkId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text, f)
    }
}

/// The token of the wire.
impl fmt::Debug for OkId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// The answer to a COUNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<'a> {
    raw: RawJson<'a>,
    count: u64,
    approximate: Option<bool>,
    hll: Option<HexStr<'a>>,
}

impl<'a> Counted<'a> {
    /// How many events.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the number is a guess, where the relay says.
    pub const fn approximate(&self) -> Option<bool> {
        self.approximate
    }

    /// The 256 registers of a HyperLogLog, a byte each, to be merged with those of other relays.
    /// Source: NIP-45.
    pub const fn hll(&self) -> Option<HexStr<'a>> {
        self.hll
    }

    /// The object exactly as it was received, other keys included; strfry sends `limited`.
    pub const fn raw(&self) -> RawJson<'a> {
        self.raw
    }

    /// Reads the object; offsets are those in it.
    fn read(raw: RawJson<'a>) -> Result<Self, Error> {
        let mut reader = Reader::from_text(raw.as_str(), &Rules::ANY, "count")?;
        let mut object = reader.object("count")?;
        let mut count = None;
        let mut counted = Self { raw, count: 0, approximate: None, hll: None };
        while let Some(key) = object.next(&mut reader, "count")? {
            let known = ["count", "approximate", "hll"].into_iter().position(|known| key == known);
            let context = match known {
                Some(0) => "count.count",
                Some(1) => "count.approximate",
                Some(_) => "count.hll",
                None => {
                    reader.skip("count")?;
                    continue;
                }
            };
            reader.peek(context)?;
            let start = reader.position();
            let is_new = match known {
                Some(0) => count.replace(reader.u64(context)?).is_none(),
                Some(1) => counted.approximate.replace(reader.bool(context)?).is_none(),
                _ => counted.hll.replace(read_hll(&mut reader)?).is_none(),
            };
            if !is_new {
                return Err(Error::new(ErrorKind::Repeated, start, context));
            }
        }
        let missing = Error::new(ErrorKind::Missing, reader.position() - 1, "count.count");
        Ok(Self { count: count.ok_or(missing)?, ..counted })
    }
}

fn read_hll<'a>(reader: &mut Reader<'a>) -> Result<HexStr<'a>, Error> {
    let (span, escapes) = reader.string_span("count.hll")?;
    let (start, digits) = (span.range().start, reader.slice(span));
    if escapes != Escapes::None {
        let at = start + digits.find('\\').unwrap_or_default();
        return Err(Error::new(ErrorKind::HexEscape, at, "count.hll"));
    }
    if digits.len() != HLL_DIGITS {
        let kind = ErrorKind::wrong_length(HLL_DIGITS, digits.len());
        return Err(Error::new(kind, start, "count.hll"));
    }
    HexStr::new(digits, "count.hll").map_err(|error| error.offset_by(start))
}

/// `["EVENT", sub, event]`: an event that a subscription asked for. To write one event to many, see
/// [`EventFanout`](super::fanout::EventFanout).
///
/// ```
/// use borrowire::json::RawJson;
/// use borrowire::nostr::relay::Event;
///
/// // Of an event that was received, `EventView::raw_json`.
/// let event = RawJson::new(r#"{"kind":1}"#, "event")?;
/// let mut out = Vec::new();
/// Event { sub: "sub", event }.write(&mut out);
/// assert_eq!(out, br#"["EVENT","sub",{"kind":1}]"#);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The event, as it is to be sent.
    pub event: RawJson<'a>,
}

frame_writer!(Event, |this| (EVENT, this.sub, this.event));

/// `["OK", id, accepted, message]`: what became of an event that was sent.
///
/// ```
/// use borrowire::nostr::relay::OkReply;
///
/// let mut out = Vec::new();
/// let id = [0xab; 32];
/// OkReply { id: (&id).into(), accepted: true, message: "" }.write(&mut out);
/// assert_eq!(out, format!(r#"["OK","{}",true,""]"#, "ab".repeat(32)).as_bytes());
///
/// out.clear();
/// let message = "invalid: no id";
/// OkReply { id: "\"?\"".into(), accepted: false, message }.write(&mut out);
/// assert_eq!(out, br#"["OK","\"?\"",false,"invalid: no id"]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OkReply<'a> {
    /// The id of the event, or what stood in its place.
    pub id: AnyText<'a>,
    /// Whether the relay has the event now.
    pub accepted: bool,
    /// Why, or why not; may be empty.
    pub message: &'a str,
}

frame_writer!(OkReply, |this| (OK, this.id, this.accepted, this.message));

/// `["EOSE", sub]`: all stored events were sent.
#[derive(Clone, Copy, Debug)]
pub struct Eose<'a> {
    /// The subscription id.
    pub sub: &'a str,
}

frame_writer!(Eose, |this| (EOSE, this.sub));

/// `["CLOSED", sub, message]`: the relay has ended a subscription, or refuses it.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// Why: a word for machines, a colon, and words for people.
    pub message: &'a str,
}

frame_writer!(Closed, |this| (CLOSED, this.sub, this.message));

/// `["NOTICE", message]`: words for people.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    /// The words.
    pub message: &'a str,
}

frame_writer!(Notice, |this| (NOTICE, this.message));

/// `["AUTH", challenge]`: the client may say who it is.
#[derive(Clone, Copy, Debug)]
pub struct Auth<'a> {
    /// What the client's event must repeat.
    pub challenge: &'a str,
}

frame_writer!(Auth, |this| (AUTH, this.challenge));

/// `["COUNT", sub, {"count": n, …}]`: how many events there are.
///
/// ```
/// use borrowire::nostr::relay::Count;
///
/// let mut out = Vec::new();
/// Count { sub: "sub", count: 3, approximate: Some(true), hll: None }.write(&mut out);
/// assert_eq!(out, br#"["COUNT","sub",{"count":3,"approximate":true}]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Count<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// How many events.
    pub count: u64,
    /// Whether the number is a guess; `None` leaves it unsaid.
    pub approximate: Option<bool>,
    /// The 256 registers of a HyperLogLog.
    pub hll: Option<HexText<'a>>,
}

frame_writer!(Count, |this| {
    let count = Member::new("count", Some(this.count));
    let approximate = Member::new("approximate", this.approximate);
    let hll = Member::new("hll", this.hll);
    (COUNT, this.sub, Object((count, approximate, hll)))
});

/// `["LIMITS", object]`: what the relay takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The object.
    pub limits: RawJson<'a>,
}

frame_writer!(Limits, |this| (LIMITS, this.limits));

/// The labels of frames from a relay, but for those of negentropy.
fn kind_of(label: &str) -> Kind {
    match label {
        "EVENT" => Kind::Event,
        "OK" => Kind::Ok,
        "EOSE" => Kind::Eose,
        "CLOSED" => Kind::Closed,
        "NOTICE" => Kind::Notice,
        "AUTH" => Kind::Challenge,
        "COUNT" => Kind::Counted,
        "LIMITS" => Kind::Limits,
        _ => Kind::Other,
    }
}

/// Those of negentropy.
const NEGS: [NegKind; 2] = [NegKind::Msg, NegKind::Err];

/// Two a register.
const HLL_DIGITS: usize = 512;

const EVENT: CleanStr<'static> = CleanStr::from_static("EVENT");
const OK: CleanStr<'static> = CleanStr::from_static("OK");
const EOSE: CleanStr<'static> = CleanStr::from_static("EOSE");
const CLOSED: CleanStr<'static> = CleanStr::from_static("CLOSED");
const NOTICE: CleanStr<'static> = CleanStr::from_static("NOTICE");
const AUTH: CleanStr<'static> = CleanStr::from_static("AUTH");
const COUNT: CleanStr<'static> = CleanStr::from_static("COUNT");
const LIMITS: CleanStr<'static> = CleanStr::from_static("LIMITS");
