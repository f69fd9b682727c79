//! `borrowire hash`: the message hash or gossip id of WakuMessages.

use std::io::Write;

use borrowire::Error;
use borrowire::waku::{HashRule, MessageView, gossip_id, message_hash};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::input::{Format, Frame, for_each_frame};
use super::report::{show_bad, write_bad_json, write_json, write_text};
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
    for_each_frame(&args.input, |mut frame| {
        // Whatever it looks like: only a WakuMessage has these hashes.
        frame.format = Format::Waku;
        let hash = match frame.error {
            Some(error) => Err(error),
            None => hash_frame(args, &frame),
        };
        match hash {
            Ok(hash) if args.input.json => {
                let (format, len) = (frame.format.name(), frame.bytes.len());
                write_json(&HashJson { ok: true, format, len, hash }, out)
            }
            Ok(hash) => write_text(&format!("{hash}\n"), out),
            Err(error) => {
                all_good = false;
                if args.input.json {
                    return write_bad_json(&frame, error, out);
                }
                eprint!("{}", show_bad(&frame, error));
                Ok(())
            }
        }
    })?;
    Ok(all_good)
}

fn hash_frame(args: &HashArgs, frame: &Frame) -> Result<String, Error> {
    let message = MessageView::parse_with(&frame.bytes[..], args.input.rules.rules())?;
    Ok(match &args.topic {
        Some(topic) => message_hash(topic, &message, args.rule.into()).to_string(),
        None => gossip_id(message.raw()).to_string(),
    })
}

#[derive(Serialize)]
struct HashJson {
    ok: bool,
    format: &'static str,
    len: usize,
    hash: String,
}
