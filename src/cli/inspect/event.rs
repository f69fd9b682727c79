//! An event, as it is shown alone and inside of frames.

use borrowire::Error;
use borrowire::buffer::Buffer;
use borrowire::hex::Hex;
use borrowire::nostr::event::EventView;
use serde::Serialize;
use serde_json::{Value, json};

use super::row;
use crate::cli::report::ErrorJson;

/// The object under `event`.
pub(super) fn event_object<B: Buffer>(event: &EventView<B>) -> Value {
    let check = event.check_id();
    json!({
        "id": event.id_hex(),
        "pubkey": event.pubkey_hex(),
        "created_at": event.created_at(),
        "kind": event.kind(),
        "tags": event.tags(),
        "content": event.content(),
        "sig": event.sig_hex(),
        "computed_id": Hex(&check.computed).to_string(),
        "id_matches": check.is_match(),
    })
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
        match event {
            Ok(event) => Self::Good(event_object(event)),
            Err(error) => Self::Bad { ok: false, error: error.into() },
        }
    }
}

/// The rows of an event.
pub(super) fn event_rows<B: Buffer>(event: &EventView<B>) -> Vec<(String, String)> {
    let check = event.check_id();
    let id = match (check.is_match(), check.dialect) {
        (true, _) => "right".to_owned(),
        (false, Some(dialect)) => {
            format!(
                "{} is right; the other one is that of {}",
                Hex(&check.computed),
                dialect.name()
            )
        }
        (false, None) => format!("wrong, {} is right", Hex(&check.computed)),
    };
    let mut rows = vec![
        row("id", format!("{}  {id}", event.id_hex())),
        row("pubkey", event.pubkey_hex()),
        row("created_at", event.created_at()),
        row("kind", event.kind()),
    ];
    for tag in event.tags() {
        let elements: Vec<_> = tag.map(|element| format!("{:?}", element.to_cow())).collect();
        rows.push(row("tag", format!("[{}]", elements.join(", "))));
    }
    rows.push(row("content", format!("{:?}", event.content().to_cow())));
    rows.push(row("sig", event.sig_hex()));
    rows
}
