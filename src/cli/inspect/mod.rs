//! `borrowire inspect`: the fields of frames, one format a file.

mod event;
mod neg;
mod negentropy;
mod nostr;
mod waku;

use std::io::Write;

use borrowire::hex::Hex;
use clap::Args;
use serde::Serialize;

use super::input::{Format, Frame, for_each_frame};
use super::report::{show_bad, write_bad_json, write_text};
use super::{Failure, InputArgs};

#[derive(Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Print payloads and ids whole, not the first of them
    #[arg(long)]
    full: bool,
    /// The pubsub topic for the message hash of a WakuMessage [default: the shard of the content
    /// topic on The Waku Network]
    #[arg(long)]
    topic: Option<String>,
}

/// Prints every frame; says whether all were good.
pub(crate) fn run(args: &InspectArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let mut all_good = true;
    for_each_frame(&args.input, |frame| {
        let shown = match (frame.error, frame.format) {
            (Some(error), _) => Err(error),
            (None, Format::Event) => event::inspect(args, &frame),
            (None, Format::Client) => nostr::inspect_client(args, &frame),
            (None, Format::Relay) => nostr::inspect_relay(args, &frame),
            (None, Format::Neg) => neg::inspect(args, &frame),
            (None, Format::Negentropy) => negentropy::inspect(args, &frame),
            (None, Format::Waku) => waku::inspect(args, &frame),
        };
        match shown {
            Ok(Shown { text, is_good }) => {
                all_good &= is_good;
                write_text(&text, out)
            }
            Err(error) => {
                all_good = false;
                match args.input.json {
                    true => write_bad_json(&frame, error, out),
                    false => write_text(&show_bad(&frame, error), out),
                }
            }
        }
    })?;
    Ok(all_good)
}

/// A frame as it is printed.
struct Shown {
    text: String,
    /// Whether the frame is good all through, what it carries included.
    is_good: bool,
}

impl Shown {
    fn json(json: &impl Serialize) -> Self {
        // Text, numbers and lists of them: nothing that could fail.
        let text = serde_json::to_string(json).unwrap_or_default() + "\n";
        Self { text, is_good: true }
    }

    /// An aligned listing under a heading.
    fn listing(frame: &Frame, format: &str, rows: &[(String, String)]) -> Self {
        let mut text = format!("{}: {format}, {}\n", frame.name, show_len(&frame.bytes));
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, value) in rows {
            let row = format!("  {name:<width$}  {value}");
            text += row.trim_end();
            text.push('\n');
        }
        Self { text, is_good: true }
    }
}

fn row(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

fn show_len(bytes: &[u8]) -> String {
    match bytes.len() {
        1 => "1 byte".to_owned(),
        len => format!("{len} bytes"),
    }
}

/// The length of `bytes`, and as many of them as the arguments ask for.
fn show_bytes(args: &InspectArgs, bytes: &[u8]) -> String {
    let start = args.start_of(bytes);
    let cut = if start.len() < bytes.len() { "… (--full prints all)" } else { "" };
    format!("{}  {}{cut}", show_len(bytes), Hex(start))
}

impl InspectArgs {
    /// The part of a payload that is printed.
    fn start_of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.full { bytes } else { &bytes[..bytes.len().min(SHOWN_BYTES)] }
    }
}

/// Bytes of a payload that are printed without `--full`.
const SHOWN_BYTES: usize = 32;
