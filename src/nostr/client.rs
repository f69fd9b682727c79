//! The frames that a client sends. Source: NIP-01, NIP-42 (AUTH), NIP-45 (COUNT), NIP-77.
//!
//! ```text
//! ["EVENT", event]
//! ["REQ", sub, filter, …]        one filter or more
//! ["CLOSE", sub]
//! ["AUTH", event]                an event of kind 22242
//! ["COUNT", sub, filter, …]      one filter or more
//! ["NEG-OPEN", …]  ["NEG-MSG", …]  ["NEG-CLOSE", …]    see `neg`
//!
//! sub      string, 1 to 64 characters (NIP-01)
//! filter   object
//! ```
//!
//! [`ClientFrame`] reads any of them in place; [`Event`], [`Req`], [`Close`], [`Auth`] and [`Count`]
//! write them, and those of [`neg`](super::neg) the others.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Source, Text};
use crate::error::Error;
use crate::json::{CleanStr, Elements, FrameWriter, JsonStr, RawJson, Rest};
use crate::nostr::event::EventView;
use crate::nostr::frame::{Kind, RawElements, RawFilters, Record, frame_view, frame_writer};
use crate::nostr::neg::{NegKind, NegView};
use crate::output::Output;
use crate::rules::Rules;

/// A frame from a client, read where it lies.
///
/// Over [`Bytes`], the default, the view owns a share of the received buffer and crosses tasks and
/// threads; see [`detach`](Self::detach). [`message`](Self::message) says what the frame is:
///
/// ```
/// use borrowire::nostr::client::{ClientFrame, ClientMessage};
///
/// let frame = ClientFrame::parse(&br#"["REQ", "sub", {"kinds": [1]}, {"limit": 0}]"#[..])?;
/// match frame.message() {
///     ClientMessage::Req { sub, filters } => {
///         assert_eq!((sub.as_plain(), filters.len()), (Some("sub"), 2));
///         for filter in filters {
///             let filter = filter.parse()?; // a `FilterView`, or an error with its place in the frame
///             assert!(filter.kinds().is_some() != filter.limit().is_some());
///         }
///     }
///     other => panic!("{other:?}"),
/// }
///
/// // What is around a bad event stays readable, and the error says where in the frame it is.
/// let frame = ClientFrame::parse(&br#"["EVENT",{"id":"abc"}]"#[..])?;
/// let ClientMessage::Event(Err(error)) = frame.message() else { panic!() };
/// assert_eq!(error.to_string(), "event.id: 3 bytes, 64 expected, at byte 16");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct ClientFrame<B: Buffer = Bytes> {
    record: Record<B>,
}

/// What a frame from a client is, and what it holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClientMessage<'a, B: Buffer = Bytes> {
    /// EVENT: an event to be kept and passed on, or why it is none.
    Event(Result<&'a EventView<B>, Error>),
    /// REQ: a subscription. One with the same id takes its place.
    Req {
        /// The subscription id.
        sub: JsonStr<'a>,
        /// What it asks for, one filter or more.
        filters: RawFilters<'a, B>,
    },
    /// CLOSE: the end of a subscription.
    Close {
        /// The subscription id.
        sub: JsonStr<'a>,
    },
    /// AUTH: an event of kind 22242 that says who the client is, or why it is none.
    Auth(Result<&'a EventView<B>, Error>),
    /// COUNT: how many events are there?
    Count {
        /// The subscription id.
        sub: JsonStr<'a>,
        /// What is counted, one filter or more.
        filters: RawFilters<'a, B>,
    },
    /// NEG-OPEN, NEG-MSG or NEG-CLOSE.
    Neg(&'a NegView<B>),
    /// Another label.
    Other {
        /// The label.
        label: JsonStr<'a>,
        /// What follows it.
        elements: RawElements<'a>,
    },
}

impl<B: Buffer> ClientFrame<B> {
    /// What the frame is, and what it holds.
    pub fn message(&self) -> ClientMessage<'_, B> {
        let record = &self.record;
        let sub = record.first_string();
        match (record.kind(), record.event(), record.neg()) {
            (Kind::Auth, Some(event), _) => ClientMessage::Auth(event),
            (_, Some(event), _) => ClientMessage::Event(event),
            (_, _, Some(neg)) => ClientMessage::Neg(neg),
            (Kind::Req, ..) => ClientMessage::Req { sub, filters: record.filters() },
            (Kind::Count, ..) => ClientMessage::Count { sub, filters: record.filters() },
            (Kind::Close, ..) => ClientMessage::Close { sub },
            _ => ClientMessage::Other { label: record.label(), elements: record.extra() },
        }
    }
}

frame_view!(ClientFrame, kind_of, NEGS);

impl<B: Buffer> fmt::Display for ClientFrame<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            ClientMessage::Event(event) | ClientMessage::Auth(event) => match event {
                Ok(event) => write!(f, "{} of {event}", self.label()),
                Err(error) => write!(f, "{} of a bad event: {error}", self.label()),
            },
            ClientMessage::Req { sub, filters } | ClientMessage::Count { sub, filters } => {
                write!(f, "{} on {sub:?} of {} filters", self.label(), filters.len())
            }
            ClientMessage::Close { sub } => write!(f, "CLOSE on {sub:?}"),
            ClientMessage::Neg(neg) => fmt::Display::fmt(neg, f),
            ClientMessage::Other { label, .. } => write!(f, "unknown label {label:?}"),
        }
    }
}

/// `["EVENT", event]`: a client publishes an event.
///
/// ```
/// use borrowire::json::RawJson;
/// use borrowire::nostr::client::Event;
///
/// // Of an event that was received, `EventView::raw_json`.
/// let event = RawJson::new(r#"{"kind":1}"#, "event")?;
/// let mut out = Vec::new();
/// Event { event }.write(&mut out);
/// assert_eq!(out, br#"["EVENT",{"kind":1}]"#);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The event, as it is to be sent.
    pub event: RawJson<'a>,
}

frame_writer!(Event, |this| (EVENT, this.event));

/// `["REQ", sub, filter, …]`: a client subscribes.
///
/// ```
/// use borrowire::json::RawJson;
/// use borrowire::nostr::client::Req;
///
/// let filters = [RawJson::new(r#"{"kinds":[1]}"#, "filter")?];
/// let mut out = Vec::new();
/// Req { sub: "sub", filters: &filters }.write(&mut out);
/// assert_eq!(out, br#"["REQ","sub",{"kinds":[1]}]"#);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Req<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The filters. NIP-01 asks for one or more.
    pub filters: &'a [RawJson<'a>],
}

frame_writer!(Req, |this| (REQ, this.sub, Rest(this.filters)));

/// `["CLOSE", sub]`: a client ends a subscription.
#[derive(Clone, Copy, Debug)]
pub struct Close<'a> {
    /// The subscription id.
    pub sub: &'a str,
}

frame_writer!(Close, |this| (CLOSE, this.sub));

/// `["AUTH", event]`: a client says who it is.
#[derive(Clone, Copy, Debug)]
pub struct Auth<'a> {
    /// An event of kind 22242 with the tags `relay` and `challenge`, as it is to be sent.
    pub event: RawJson<'a>,
}

frame_writer!(Auth, |this| (AUTH, this.event));

/// `["COUNT", sub, filter, …]`: a client asks how many events there are.
#[derive(Clone, Copy, Debug)]
pub struct Count<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The filters. NIP-45 asks for one or more.
    pub filters: &'a [RawJson<'a>],
}

frame_writer!(Count, |this| (COUNT, this.sub, Rest(this.filters)));

/// The labels of frames from a client, but for those of negentropy.
fn kind_of(label: &str) -> Kind {
    match label {
        "EVENT" => Kind::Publish,
        "REQ" => Kind::Req,
        "CLOSE" => Kind::Close,
        "AUTH" => Kind::Auth,
        "COUNT" => Kind::Count,
        _ => Kind::Other,
    }
}

/// Those of negentropy.
const NEGS: [NegKind; 3] = [NegKind::Msg, NegKind::Open, NegKind::Close];

const EVENT: CleanStr<'static> = CleanStr::from_static("EVENT");
const REQ: CleanStr<'static> = CleanStr::from_static("REQ");
const CLOSE: CleanStr<'static> = CleanStr::from_static("CLOSE");
const AUTH: CleanStr<'static> = CleanStr::from_static("AUTH");
const COUNT: CleanStr<'static> = CleanStr::from_static("COUNT");
