//! A Nostr event, bare or in an EVENT frame.

use borrowire::Error;
use borrowire::buffer::Buffer;
use borrowire::hex::Hex;
use borrowire::nostr::event::EventView;
use serde::Serialize;
use serde_json::{Value, json};

use super::{InspectArgs, Shown, row};
use crate::cli::input::Frame;
use crate::cli::report::ErrorJson;

pub(super) fn inspect(args: &InspectArgs, frame: &Frame) -> Result<Shown, Error> {
    let view = EventView::parse_frame(&frame.bytes[..], args.input.rules.rules())?;
    if args.input.json {
        let (format, len) = (frame.format.name(), frame.bytes.len());
        return Ok(Shown::json(&FrameJson { ok: true, format, len, event: Ok(&view).into() }));
    }
    Ok(Shown::listing(frame, "event", &rows(args, &view)))
}

/// The fields as people read them.
pub(super) fn rows<B: Buffer>(args: &InspectArgs, view: &EventView<B>) -> Vec<(String, String)> {
    let check = view.check_id();
    let verdict = match check.dialect {
        _ if check.is_match() => "matches".to_owned(),
        Some(dialect) => {
            format!("{}, not the claimed one, which is {dialect}'s", Hex(&check.computed))
        }
        None => format!("{}, not the claimed one", Hex(&check.computed)),
    };
    let mut rows = vec![
        row("id", view.id_hex()),
        row("computed id", verdict),
        row("pubkey", view.pubkey_hex()),
        row("created_at", view.created_at()),
        row("kind", view.kind()),
    ];
    let shown = if args.full { usize::MAX } else { SHOWN_TAGS };
    rows.extend(view.tags().take(shown).map(|tag| row("tag", format!("{tag:?}"))));
    let left = view.tags().len().saturating_sub(shown);
    if left > 0 {
        rows.push(row("", format!("… and {left} more tags (--full prints all)")));
    }
    rows.extend(view.unknown_keys().map(|(key, value)| row(&key.to_cow(), value.as_str())));
    let content = view.content().to_cow();
    let start: String = content.chars().take(SHOWN_CHARS).collect();
    let cut = !args.full && start.len() < content.len();
    rows.push(match cut {
        true => row("content", format!("{start:?}… (--full prints all)")),
        false => row("content", format!("{content:?}")),
    });
    rows.push(row("sig", view.sig_hex()));
    rows
}

/// A bare event.
#[derive(Serialize)]
struct FrameJson {
    ok: bool,
    format: &'static str,
    len: usize,
    event: EventJson,
}

/// The object under `event` of a frame, or why there is none.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum EventJson {
    Good(Value),
    Bad { ok: bool, error: ErrorJson },
}

impl<B: Buffer> From<Result<&EventView<B>, Error>> for EventJson {
    fn from(event: Result<&EventView<B>, Error>) -> Self {
        let event = match event {
            Ok(event) => event,
            Err(error) => return Self::Bad { ok: false, error: error.into() },
        };
        Self::Good(json!({
            "id": event.id_hex(),
            "pubkey": event.pubkey_hex(),
            "created_at": event.created_at(),
            "kind": event.kind(),
            "tags": event.tags(),
            "content": event.content(),
            "sig": event.sig_hex(),
            "computed_id": Hex(event.computed_id()).to_string(),
            "id_matches": event.computed_id() == event.id(),
        }))
    }
}

/// Tags and characters that are printed without `--full`.
const SHOWN_TAGS: usize = 10;
const SHOWN_CHARS: usize = 200;
