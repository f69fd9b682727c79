//! `borrowire inspect`: the fields of frames.

use std::io::Write;
use std::num::NonZeroU16;

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::waku::{ContentTopic, HashRule, MessageView, gossip_id, message_hash};
use clap::Args;
use serde::Serialize;

use super::input::{Format, Frame, for_each_frame};
use super::report::{show_bad, write_bad_json, write_json, write_text};
use super::{Failure, InputArgs};

#[derive(Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Print payloads whole, not their first 32 bytes
    #[arg(long)]
    full: bool,
    /// The pubsub topic for the message hash [default: the shard of the content topic on The Waku
    /// Network]
    #[arg(long)]
    topic: Option<String>,
}

/// Prints every frame; says whether all were good.
pub(crate) fn run(args: &InspectArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let mut all_good = true;
    for_each_frame(&args.input, |frame| {
        let printed = match (frame.error, frame.format) {
            (Some(error), _) => Err(error),
            (None, Format::Waku) => inspect_waku(args, &frame, out)?,
        };
        let Err(error) = printed else { return Ok(()) };
        all_good = false;
        if args.input.json {
            return write_bad_json(&frame, error, out);
        }
        write_text(&show_bad(&frame, error), out)
    })?;
    Ok(all_good)
}

fn inspect_waku(
    args: &InspectArgs,
    frame: &Frame,
    out: &mut impl Write,
) -> Result<Result<(), Error>, Failure> {
    let message = match MessageView::parse_with(&frame.bytes[..], args.input.rules.rules()) {
        Ok(message) => message,
        Err(error) => return Ok(Err(error)),
    };
    let payload = message.payload();
    let shown = if args.full { payload } else { &payload[..payload.len().min(32)] };
    if args.input.json {
        let json = WakuJson {
            ok: true,
            format: Format::Waku.name(),
            len: frame.bytes.len(),
            payload_len: payload.len(),
            payload_hex: Hex(shown).to_string(),
            content_topic: message.content_topic(),
            content_topic_hex: Hex(message.content_topic_bytes()).to_string(),
            version: message.version(),
            timestamp_ns: message.timestamp(),
            meta_hex: Hex(message.meta()).to_string(),
            ephemeral: message.ephemeral(),
            proof_len: message.rate_limit_proof().len(),
            gossip_id: gossip_id(&frame.bytes).to_string(),
            message_hash: args
                .topic
                .as_deref()
                .map(|topic| message_hash(topic, &message, HashRule::ZeroTimestamp).to_string()),
        };
        return write_json(&json, out).map(Ok);
    }
    let cut = if shown.len() < payload.len() { "… (--full prints all)" } else { "" };
    let topic = match message.content_topic() {
        Some(topic) => format!("{topic:?}"),
        None => format!("not UTF-8: {}", Hex(message.content_topic_bytes())),
    };
    let mut rows = vec![
        ("payload", format!("{} bytes  {}{cut}", payload.len(), Hex(shown))),
        ("content_topic", topic),
        ("version", message.version().to_string()),
        ("timestamp", show_timestamp(message.timestamp())),
        ("meta", format!("{} bytes  {}", message.meta().len(), Hex(message.meta()))),
        ("rate_limit_proof", format!("{} bytes", message.rate_limit_proof().len())),
        ("ephemeral", message.ephemeral().to_string()),
    ];
    for field in message.unknown_fields() {
        rows.push(("unknown", format!("field {}, {}", field.number, show_len(field.raw))));
    }
    rows.push(("gossip_id", gossip_id(&frame.bytes).to_string()));
    rows.push(("message_hash", show_message_hash(args.topic.as_deref(), &message)));
    let head = format!("{}: waku, {} bytes\n", frame.name, frame.bytes.len());
    let rows = rows.iter().map(|(name, value)| format!("  {name:<17} {}\n", value.trim_end()));
    write_text(&rows.fold(head, |text, row| text + &row), out).map(Ok)
}

fn show_len(bytes: &[u8]) -> String {
    match bytes.len() {
        1 => "1 byte".to_owned(),
        len => format!("{len} bytes"),
    }
}

fn show_message_hash(topic: Option<&str>, message: &MessageView<&[u8]>) -> String {
    let hash = |topic| message_hash(topic, message, HashRule::ZeroTimestamp);
    if let Some(topic) = topic {
        return format!("{} on {topic}", hash(topic));
    }
    let shard = message
        .content_topic()
        .and_then(|topic| ContentTopic::parse(topic).ok())
        .and_then(|topic| topic.shard(WAKU_NETWORK_CLUSTER, WAKU_NETWORK_SHARDS).ok());
    match shard {
        Some(shard) => {
            let topic = shard.to_string();
            format!("{} on {topic} (the content topic's shard; or --topic)", hash(&topic))
        }
        None => "needs the pubsub topic: --topic".to_owned(),
    }
}

fn show_timestamp(nanoseconds: i64) -> String {
    match jiff::Timestamp::from_nanosecond(nanoseconds.into()) {
        Ok(time) if nanoseconds != 0 => format!("{nanoseconds} ns  {time}"),
        _ => format!("{nanoseconds} ns"),
    }
}

#[derive(Serialize)]
struct WakuJson<'a> {
    ok: bool,
    format: &'static str,
    len: usize,
    payload_len: usize,
    payload_hex: String,
    content_topic: Option<&'a str>,
    content_topic_hex: String,
    version: u32,
    timestamp_ns: i64,
    meta_hex: String,
    ephemeral: bool,
    proof_len: usize,
    gossip_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_hash: Option<String>,
}

// The Waku Network: cluster 1 with eight shards. Source: 64/WAKU2-NETWORK.
const WAKU_NETWORK_CLUSTER: u16 = 1;
const WAKU_NETWORK_SHARDS: NonZeroU16 = NonZeroU16::new(8).unwrap();
