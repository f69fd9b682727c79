//! Every fixture gives its right answer.

use std::fs;

use borrowire::hex::{self, Case, Hex};
use borrowire::nostr::event::EventBuilder;
use borrowire::rules::Rules;
use borrowire::waku::{
    ContentTopic, HashRule, MessageBuilder, MessageView, gossip_id, message_hash,
};
use serde_json::Value;

#[test]
fn the_feed_is_written_again_byte_for_byte() {
    let feed = fs::read_to_string(fixture("nostr/feed.ndjson")).unwrap();
    assert_eq!(feed.lines().count(), 256);
    for line in feed.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let tags: Vec<Vec<&str>> = event["tags"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tag| tag.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect())
            .collect();
        let kind = event["kind"].as_u64().unwrap().try_into().unwrap();
        let builder = EventBuilder::new(kind, event["created_at"].as_u64().unwrap())
            .tags(&tags)
            .content(event["content"].as_str().unwrap());
        let pubkey = unhex(&event["pubkey"]).try_into().unwrap();
        let sig = unhex(&event["sig"]).try_into().unwrap();
        let mut out = Vec::new();
        let id = builder.write(&mut out, &pubkey, |_| sig);
        assert_eq!(String::from_utf8(out).unwrap(), line);
        assert_eq!(Hex(&id).to_string(), event["id"]);
    }
}

#[test]
fn waku_frames_are_read_as_each_preset_must() {
    let cases = json("waku/decode.json");
    let cases = cases["cases"].as_array().unwrap();
    assert!(cases.len() > 40);
    for case in cases {
        let frame = unhex(&case["hex"]);
        for (preset, rules) in
            [("strict", Rules::STRICT), ("proto3", Rules::PROTO3), ("nwaku", Rules::NWAKU)]
        {
            let name = format!("{}, {preset}", case["name"]);
            let expected = &case[preset];
            let read = MessageView::parse_with(&frame[..], &rules);
            if expected.get("error").is_some() {
                assert!(read.is_err(), "{name}: {read:?}");
                continue;
            }
            let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(Hex(read.payload()).to_string(), expected["payload"], "{name}");
            let topic = Hex(read.content_topic_bytes()).to_string();
            assert_eq!(topic, expected["content_topic_hex"], "{name}");
            assert_eq!(read.version(), expected["version"], "{name}");
            assert_eq!(read.timestamp(), expected["timestamp"], "{name}");
            assert_eq!(read.ephemeral(), expected["ephemeral"], "{name}");
            assert_eq!(read.meta().len() as u64, expected["meta_len"], "{name}");
        }
    }
}

#[test]
fn waku_hashes_are_those_published() {
    let vectors = json("waku/hash.json");
    for case in vectors["cases"].as_array().unwrap() {
        let (payload, meta) = (unhex(&case["payload_hex"]), unhex(&case["meta_hex"]));
        let content_topic = case["content_topic"].as_str().unwrap();
        let mut builder = MessageBuilder::new(content_topic, &payload).meta(&meta);
        if let Some(timestamp) = case["timestamp_ns"].as_i64() {
            builder = builder.timestamp(timestamp);
        }
        let rule = match case["rule"].as_str().unwrap() {
            "zero-timestamp" => HashRule::ZeroTimestamp,
            "omit-zero" => HashRule::OmitZero,
            other => panic!("unknown rule {other}"),
        };
        let topic = case["pubsub_topic"].as_str().unwrap();
        let hash = message_hash(topic, &builder.build().unwrap(), rule);
        assert_eq!(hash.to_string(), case["hash"], "{case}");
        assert_eq!(case["hash"].as_str().unwrap().parse(), Ok(hash));
    }
    for case in vectors["gossip_message_id"].as_array().unwrap() {
        let id = gossip_id(case["data_utf8"].as_str().unwrap().as_bytes());
        assert_eq!(id.to_string(), case["id"]);
    }
}

/// Report: an archive wrote default fields out, and the id changed. The message hash must not.
#[test]
fn a_message_written_otherwise_keeps_its_hash_and_gets_another_gossip_id() {
    let short = unhex_str("0a01011201615002");
    let long = unhex_str("0a0101120161180050025a00aa0100f80100");
    for frame in [&short, &long] {
        let hash = message_hash("t", &MessageView::parse(&frame[..]).unwrap(), HashRule::default());
        let expected = "92370dad4ca4c6ee51dbdbba57c21d8cb1ffcd73f79d810cb841d0a1e2ad9d80";
        assert_eq!(hash.to_string(), expected);
    }
    assert_ne!(gossip_id(&short), gossip_id(&long));
}

/// Report: timestamps were read in seconds or from the retired field 4.
#[test]
fn timestamps_keep_all_digits_and_field_4_is_not_one() {
    let frame = unhex_str("0a01011201611800508290fca3f4efc4d72e5a00aa0100f80100");
    let message = MessageView::parse(&frame[..]).unwrap();
    assert_eq!(message.timestamp(), 1_681_964_442_000_000_001);
    let retired = [&b"\x0a\x01\x01\x12\x01a\x21"[..], &1.5e9_f64.to_le_bytes()].concat();
    let message = MessageView::parse(&retired[..]).unwrap();
    assert_eq!(message.timestamp(), 0);
    assert_eq!(message.unknown_fields().map(|field| field.number).collect::<Vec<_>>(), [4]);
}

/// Report: nodes that did not know a proof field dropped it when forwarding.
#[test]
fn fields_that_are_not_known_survive_forwarding() {
    let frame = [unhex_str("0a0101120161aa01223a20"), vec![0xbb; 32]].concat();
    let message = MessageView::parse(&frame[..]).unwrap();
    assert_eq!(message.raw(), frame);
    assert_eq!(message.rate_limit_proof(), &frame[9..]);
}

#[test]
fn js_waku_writes_and_hashes_as_we_do() {
    let recorded = fs::read_to_string(fixture("waku/js-waku.ndjson")).unwrap();
    assert!(recorded.lines().count() > 100);
    for line in recorded.lines() {
        let js: Value = serde_json::from_str(line).unwrap();
        let [payload, meta, proof] =
            ["payload_hex", "meta_hex", "rate_limit_proof_hex"].map(|key| unhex(&js[key]));
        let mut builder = MessageBuilder::new(js["content_topic"].as_str().unwrap(), &payload);
        if let Some(version) = js["version"].as_u64() {
            builder = builder.version(version as u32);
        }
        if let Some(timestamp) = js["timestamp_ns"].as_str() {
            builder = builder.timestamp(timestamp.parse().unwrap());
        }
        if !js["meta_hex"].is_null() {
            builder = builder.meta(&meta);
        }
        if !js["rate_limit_proof_hex"].is_null() {
            builder = builder.rate_limit_proof(&proof);
        }
        if let Some(ephemeral) = js["ephemeral"].as_bool() {
            builder = builder.ephemeral(ephemeral);
        }
        let frame = builder.omit_empty().to_vec();
        assert_eq!(Hex(&frame).to_string(), js["frame_hex"], "{line}");
        let view = MessageView::parse_with(&frame[..], &Rules::PROTO3).unwrap();
        let topic = js["pubsub_topic"].as_str().unwrap();
        let hash = message_hash(topic, &view, HashRule::OmitZero);
        assert_eq!(hash.to_string(), js["hash_hex"], "{line}");
    }
}

#[test]
fn content_topics_belong_to_the_shards_published() {
    let shards = 8.try_into().unwrap();
    for (topic, index) in [
        ("/toychat/2/huilong/proto", 3),
        ("/0/toychat/2/huilong/proto", 3),
        ("/toychat2/2/huilong/proto", 6),
        ("/toychat/4/huilong/proto2", 7),
    ] {
        let shard = ContentTopic::parse(topic).unwrap().shard(1, shards).unwrap();
        assert_eq!(shard.index, index, "{topic}");
        assert_eq!(ContentTopic::parse(topic).unwrap().to_string(), topic);
    }
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

/// The bytes of a hex value; none for `null`.
fn unhex(value: &Value) -> Vec<u8> {
    value.as_str().map(unhex_str).unwrap_or_default()
}

fn unhex_str(hex: &str) -> Vec<u8> {
    let mut bytes = vec![0; hex.len() / 2];
    hex::decode(hex.as_bytes(), &mut bytes, Case::Lower, "fixture").unwrap();
    bytes
}
