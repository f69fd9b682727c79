//! A frame between a Nostr client and a relay, and the event inside.

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::json::{JsonStr, RawJson};
use borrowire::nostr::event::EventView;
use borrowire::nostr::neg::is_portable_sub_id;
use borrowire::nostr::{ClientFrame, ClientMessage, Reason, RelayFrame, RelayMessage};
use serde::Serialize;
use serde_json::Value;

use super::event::{self, EventJson};
use super::{InspectArgs, Shown, neg, row};
use crate::cli::input::Frame;
use crate::cli::report::ErrorJson;

/// A frame from a client.
pub(super) fn inspect_client(args: &InspectArgs, frame: &Frame) -> Result<Shown, Error> {
    let view = ClientFrame::parse_with(&frame.bytes[..], args.input.rules.rules())?;
    let mut found = Found::of(frame, view.label(), view.sub());
    found.extra(view.extra());
    match view.message() {
        ClientMessage::Neg(_) => return neg::inspect(args, frame),
        ClientMessage::Event(event) | ClientMessage::Auth(event) => found.event(args, event),
        ClientMessage::Req { filters, .. } | ClientMessage::Count { filters, .. } => {
            for filter in filters {
                found.rows.push(row("filter", filter.raw().as_str()));
                found.json.filters.get_or_insert_default().push(value(filter.raw()));
            }
        }
        // What there is to see of the others is the label, the id and the elements.
        _ => {}
    }
    Ok(found.shown(args, frame))
}

/// A frame from a relay.
pub(super) fn inspect_relay(args: &InspectArgs, frame: &Frame) -> Result<Shown, Error> {
    let view = RelayFrame::parse_with(&frame.bytes[..], args.input.rules.rules())?;
    let mut found = Found::of(frame, view.label(), view.sub());
    found.extra(view.extra());
    match view.message() {
        RelayMessage::Neg(_) => return neg::inspect(args, frame),
        RelayMessage::Event { event, .. } => found.event(args, event),
        RelayMessage::Ok { id, accepted, message } => {
            let bytes = id.bytes();
            let is_id = if bytes.is_ok() { "" } else { "  (not 32 bytes of hex)" };
            found.rows.push(row("id", format!("{:?}{is_id}", id.text().to_cow())));
            found.rows.push(row("accepted", accepted));
            found.json.id = Some(id.to_string());
            found.json.id_hex = bytes.ok().map(|id| Hex(&id).to_string());
            found.json.accepted = Some(accepted);
            found.reason(message);
        }
        RelayMessage::Closed { message, .. } | RelayMessage::Notice { message } => {
            found.reason(message);
        }
        RelayMessage::Auth { challenge } => {
            found.rows.push(row("challenge", format!("{:?}", challenge.to_cow())));
            found.json.challenge = Some(challenge.to_string());
        }
        RelayMessage::Count { count: Ok(counted), .. } => {
            let is_guess = if counted.approximate() == Some(true) { "  (approximate)" } else { "" };
            found.rows.push(row("count", format!("{}{is_guess}", counted.count())));
            found.rows.extend(counted.hll().map(|hll| row("hll", hll.as_str())));
            found.json.count = Some(CountJson::Good(counted.count()));
            found.json.approximate = counted.approximate();
            found.json.hll = counted.hll().map(|hll| hll.as_str().to_owned());
        }
        RelayMessage::Count { count: Err(error), .. } => {
            found.rows.push(row("bad count", error));
            found.json.count = Some(CountJson::Bad { ok: false, error: error.into() });
            found.is_good = false;
        }
        RelayMessage::Limits { limits } => {
            found.rows.push(row("limits", limits.as_str()));
            found.json.limits = Some(value(limits));
        }
        _ => {}
    }
    Ok(found.shown(args, frame))
}

/// What was found in a frame, for machines and for people.
struct Found {
    json: FrameJson,
    rows: Vec<(String, String)>,
    is_good: bool,
}

impl Found {
    fn of(frame: &Frame, label: JsonStr<'_>, sub: Option<JsonStr<'_>>) -> Self {
        let sub = sub.map(|sub| sub.to_cow().into_owned());
        let json = FrameJson {
            ok: true,
            format: frame.format.name(),
            len: frame.bytes.len(),
            label: label.to_string(),
            sub_is_portable: sub.as_deref().map(is_portable_sub_id),
            sub,
            ..FrameJson::default()
        };
        let not_portable = match json.sub_is_portable {
            Some(false) => "  (some relays refuse it)",
            _ => "",
        };
        let rows = json.sub.iter().map(|sub| row("sub", format!("{sub:?}{not_portable}")));
        Self { rows: rows.collect(), json, is_good: true }
    }

    fn event(&mut self, args: &InspectArgs, event: Result<&EventView<&[u8]>, Error>) {
        match event {
            Ok(event) => self.rows.extend(event::rows(args, event)),
            Err(error) => {
                self.rows.push(row("bad event", error));
                self.is_good = false;
            }
        }
        self.json.event = Some(event.into());
    }

    fn reason(&mut self, reason: Reason<'_>) {
        self.rows.push(row("message", format!("{:?}", reason.text().to_cow())));
        self.json.message = Some(reason.to_string());
        self.json.prefix = reason.prefix().map(|prefix| prefix.name());
    }

    fn extra<'a>(&mut self, extra: impl Iterator<Item = RawJson<'a>>) {
        for element in extra {
            self.rows.push(row("extra", element.as_str()));
            self.json.extra.get_or_insert_default().push(value(element));
        }
    }

    fn shown(self, args: &InspectArgs, frame: &Frame) -> Shown {
        let is_good = self.is_good;
        let shown = match args.input.json {
            true => Shown::json(&self.json),
            // Rows of the elements that no label asks for stand last.
            false => {
                let (extra, rows): (Vec<_>, Vec<_>) =
                    self.rows.into_iter().partition(|(name, _)| name == "extra");
                let heading = format!("{} ({})", self.json.label, frame.format.name());
                Shown::listing(frame, &heading, &[rows, extra].concat())
            }
        };
        Shown { is_good, ..shown }
    }
}

/// Of an element that was read without an error; `null` for a number beyond f64.
fn value(element: RawJson<'_>) -> Value {
    serde_json::from_str(element.as_str()).unwrap_or_default()
}

#[derive(Default, Serialize)]
struct FrameJson {
    ok: bool,
    format: &'static str,
    len: usize,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub_is_portable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filters: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<EventJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<CountJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approximate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hll: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Vec<Value>>,
}

/// The number, or why there is none.
#[derive(Serialize)]
#[serde(untagged)]
enum CountJson {
    Good(u64),
    Bad { ok: bool, error: ErrorJson },
}
