//! A negentropy message in binary.

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::negentropy::{Bound, MessageView, Payload, Range};
use serde::Serialize;

use super::{InspectArgs, Shown, row};
use crate::cli::input::Frame;

pub(super) fn inspect(args: &InspectArgs, frame: &Frame) -> Result<Shown, Error> {
    let message = MessageView::parse_with(&frame.bytes[..], args.input.rules.rules())?;
    if args.input.json {
        return Ok(Shown::json(&NegentropyJson {
            ok: true,
            format: frame.format.name(),
            len: frame.bytes.len(),
            message: MessageJson::from(&message),
        }));
    }
    Ok(Shown::listing(frame, "negentropy", &rows(args, &message)))
}

/// The rows of a message.
pub(super) fn rows(args: &InspectArgs, message: &MessageView<&[u8]>) -> Vec<(String, String)> {
    let mut rows = vec![row("ranges", message.ranges().len())];
    if !message.is_minimal() {
        rows.push(row("varints", "not all in their shortest form"));
    }
    for (i, range) in message.ranges().enumerate() {
        let upper = match range.upper {
            Bound::Infinity => "to infinity".to_owned(),
            Bound::At { timestamp, prefix: [] } => format!("to {timestamp}"),
            Bound::At { timestamp, prefix } => format!("to {timestamp}, id {}…", Hex(prefix)),
        };
        let payload = match range.payload {
            Payload::Skip => "skip".to_owned(),
            Payload::Fingerprint(fingerprint) => format!("fingerprint {}", Hex(fingerprint)),
            Payload::IdList(ids) => format!("{} ids", ids.len()),
        };
        rows.push(row(&format!("range {i}"), format!("{upper}: {payload}")));
        if let Payload::IdList(ids) = range.payload {
            let shown = if args.full { ids } else { &ids[..ids.len().min(SHOWN_IDS)] };
            rows.extend(shown.iter().map(|id| row("", Hex(id))));
            if shown.len() < ids.len() {
                rows.push(row("", "… (--full prints all)"));
            }
        }
    }
    rows
}

#[derive(Serialize)]
struct NegentropyJson {
    ok: bool,
    format: &'static str,
    len: usize,
    #[serde(flatten)]
    message: MessageJson,
}

/// A message as JSON.
#[derive(Serialize)]
pub(super) struct MessageJson {
    minimal: bool,
    ranges: Vec<RangeJson>,
}

impl From<&MessageView<&[u8]>> for MessageJson {
    fn from(message: &MessageView<&[u8]>) -> Self {
        let ranges = message.ranges().map(RangeJson::from).collect();
        Self { minimal: message.is_minimal(), ranges }
    }
}

#[derive(Serialize)]
struct RangeJson {
    upper: UpperJson,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<String>>,
}

impl From<Range<'_>> for RangeJson {
    fn from(range: Range<'_>) -> Self {
        let upper = match range.upper {
            Bound::Infinity => UpperJson::Infinity("infinity"),
            Bound::At { timestamp, prefix } => {
                UpperJson::At { timestamp, prefix_hex: Hex(prefix).to_string() }
            }
        };
        let (mode, fingerprint_hex, ids) = match range.payload {
            Payload::Skip => ("skip", None, None),
            Payload::Fingerprint(fingerprint) => {
                ("fingerprint", Some(Hex(fingerprint).to_string()), None)
            }
            Payload::IdList(ids) => {
                ("id-list", None, Some(ids.iter().map(|id| Hex(id).to_string()).collect()))
            }
        };
        Self { upper, mode, fingerprint_hex, ids }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum UpperJson {
    At { timestamp: u64, prefix_hex: String },
    Infinity(&'static str),
}

/// Ids of a list that are printed without `--full`.
const SHOWN_IDS: usize = 4;
