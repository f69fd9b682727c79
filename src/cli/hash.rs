//! `borrowire hash`: the message hash or gossip id of WakuMessages.

use std::io::Write;

use borrowire::waku::{HashRule, MessageView, gossip_id, message_hash};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::input::{Frame, for_each_frame};
use super::report::{BadFrameJson, Caret};
use super::{Failure, InputArgs};

#[derive(Args)]
pub(crate) struct HashArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The pubsub topic that the messages came on
    #[arg(long, required_unless_present = "gossip")]
    topic: Option<String>,
    /// How a timestamp of zero is hashed
    #[arg(long, value_enum, default_value_t)]
    rule: Rule,
    /// Print gossip ids (SHA-256 of the frame) instead
    #[arg(long, conflicts_with_all = ["topic", "rule"])]
    gossip: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// As eight zero bytes: nwaku, go-waku
    #[default]
    ZeroTimestamp,
    /// Not at all: js-waku
    OmitZero,
}

impl From<Rule> for HashRule {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::ZeroTimestamp => Self::ZeroTimestamp,
            Rule::OmitZero => Self::OmitZero,
        }
    }
}

/// Prints the hash of every frame; says whether all were good. Bad frames are told on stderr.
pub(crate) fn run(args: &HashArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let mut all_good = true;
    for_each_frame(&args.input, |frame| {
        let hash = match frame.error {
            Some(error) => Err(error),
            None => hash_frame(args, &frame),
        };
        let (format, len) = (frame.format.name(), frame.bytes.len());
        let written = match (hash, args.input.json) {
            (Ok(hash), false) => writeln!(out, "{hash}"),
            (Ok(hash), true) => write_json(&HashJson { ok: true, format, len, hash }, out),
            (Err(error), true) => {
                all_good = false;
                write_json(&BadFrameJson { ok: false, format, len, error: error.into() }, out)
            }
            (Err(error), false) => {
                all_good = false;
                let caret = Caret { bytes: &frame.bytes, offset: error.offset() };
                eprint!("{}: {format}, {len} bytes, bad\n  {error}\n{caret}", frame.name);
                Ok(())
            }
        };
        written.map_err(Failure::Output)
    })?;
    Ok(all_good)
}
