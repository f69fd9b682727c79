//! A Nostr frame that carries negentropy, and the message inside.

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::negentropy::MessageView;
use borrowire::nostr::neg::{NegView, is_portable_sub_id};
use serde::Serialize;
use serde_json::Value;

use super::negentropy::{self, MessageJson};
use super::{InspectArgs, Shown, row, show_bytes};
use crate::cli::input::Frame;
use crate::cli::report::ErrorJson;

pub(super) fn inspect(args: &InspectArgs, frame: &Frame) -> Result<Shown, Error> {
    let rules = args.input.rules.rules();
    let view = NegView::parse_with(&frame.bytes[..], rules)?;
    let mut binary = Vec::new();
    view.decode_message(&mut binary);
    let message = view.message().map(|_| MessageView::parse_with(&binary[..], rules));
    let is_good = message.as_ref().is_none_or(Result::is_ok);
    let sub = view.sub().to_cow();
    let portable = is_portable_sub_id(&sub);
    if args.input.json {
        let json = NegJson {
            ok: true,
            format: frame.format.name(),
            len: frame.bytes.len(),
            label: view.kind().label(),
            sub: &sub,
            sub_is_portable: portable,
            filter: view.filter().and_then(|filter| serde_json::from_str(filter.as_str()).ok()),
            id_size: view.id_size(),
            reason: view.reason().map(|reason| reason.to_cow().into_owned()),
            max_records: view.max_records(),
            message_len: view.message().map(|_| binary.len()),
            message_hex: view.message().map(|_| Hex(args.start_of(&binary)).to_string()),
            negentropy: message.as_ref().map(|message| match message {
                Ok(message) => InsideJson::Good { ok: true, message: message.into() },
                Err(error) => InsideJson::Bad { ok: false, error: (*error).into() },
            }),
        };
        return Ok(Shown { is_good, ..Shown::json(&json) });
    }
    let not_portable = if portable { "" } else { "  (some relays refuse it)" };
    let mut rows = vec![row("sub", format!("{sub:?}{not_portable}"))];
    rows.extend(view.filter().map(|filter| row("filter", filter.as_str())));
    rows.extend(view.id_size().map(|size| row("id_size", size)));
    rows.extend(view.reason().map(|reason| row("reason", format!("{:?}", reason.to_cow()))));
    rows.extend(view.max_records().map(|most| row("max_records", most)));
    match message {
        Some(Ok(message)) => {
            rows.push(row("message", show_bytes(args, &binary)));
            rows.extend(negentropy::rows(args, &message));
        }
        Some(Err(error)) => {
            rows.push(row("message", show_bytes(args, &binary)));
            rows.push(row("bad message", error));
        }
        None => {}
    }
    Ok(Shown { is_good, ..Shown::listing(frame, view.kind().label(), &rows) })
}

#[derive(Serialize)]
struct NegJson<'a> {
    ok: bool,
    format: &'static str,
    len: usize,
    label: &'static str,
    sub: &'a str,
    sub_is_portable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_len: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    negentropy: Option<InsideJson>,
}

/// The message inside, or why it is none.
#[derive(Serialize)]
#[serde(untagged)]
enum InsideJson {
    Bad {
        ok: bool,
        error: ErrorJson,
    },
    Good {
        ok: bool,
        #[serde(flatten)]
        message: MessageJson,
    },
}
