//! A WakuMessage.

use std::num::NonZeroU16;

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::waku::{ContentTopic, HashRule, MessageView, gossip_id, message_hash};
use serde::Serialize;

use super::{InspectArgs, Shown, row, show_bytes, show_len};
use crate::cli::input::Frame;

pub(super) fn inspect(args: &InspectArgs, frame: &Frame) -> Result<Shown, Error> {
    let message = MessageView::parse_with(&frame.bytes[..], args.input.rules.rules())?;
    if args.input.json {
        return Ok(Shown::json(&WakuJson {
            ok: true,
            format: frame.format.name(),
            len: frame.bytes.len(),
            payload_len: message.payload().len(),
            payload_hex: Hex(args.start_of(message.payload())).to_string(),
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
        }));
    }
    let topic = match message.content_topic() {
        Some(topic) => format!("{topic:?}"),
        None => format!("not UTF-8: {}", Hex(message.content_topic_bytes())),
    };
    let mut rows = vec![
        row("payload", show_bytes(args, message.payload())),
        row("content_topic", topic),
        row("version", message.version()),
        row("timestamp", show_timestamp(message.timestamp())),
        row("meta", format!("{}  {}", show_len(message.meta()), Hex(message.meta()))),
        row("rate_limit_proof", show_len(message.rate_limit_proof())),
        row("ephemeral", message.ephemeral()),
    ];
    for field in message.unknown_fields() {
        rows.push(row("unknown", format!("field {}, {}", field.number, show_len(field.raw))));
    }
    rows.push(row("gossip_id", gossip_id(&frame.bytes)));
    rows.push(row("message_hash", show_message_hash(args.topic.as_deref(), &message)));
    Ok(Shown::listing(frame, "waku", &rows))
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
