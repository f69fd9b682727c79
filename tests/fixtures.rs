//! Every fixture gives its right answer.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use borrowire::Error;
use borrowire::hex::{self, Case, Hex};
use borrowire::nostr::event::{Dialect, EventBuilder, EventView};
use borrowire::rules::Rules;
use borrowire::waku::{
    ContentTopic, HashRule, MessageBuilder, MessageView, control, filter, gossip, gossip_id,
    lightpush, message_hash,
};
use serde_json::{Value, json};

#[path = "fixtures/store.rs"]
mod store;

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
    let cases = fixture_json("waku/decode.json");
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
fn nostr_events_are_read_as_the_network_must() {
    let fixture = fixture_json("nostr/events.json");
    let cases = fixture["cases"].as_array().unwrap();
    assert!(cases.len() > 90);
    let plain = cases.iter().find(|case| case["name"] == "plain").unwrap();
    let plain = STANDARD.decode(plain["event_base64"].as_str().unwrap()).unwrap();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let event = match (name, case["event_base64"].as_str()) {
            (_, Some(base64)) => STANDARD.decode(base64).unwrap(),
            ("tags_big_70k", None) => big_tag(&plain, case["id"].as_str().unwrap()),
            ("deep_unknown_100k", None) => deep_key(&plain, 100_000),
            _ => panic!("{name}: {}", case["build"]),
        };
        let read = EventView::parse(&event[..]);
        match case["default"].as_str().unwrap() {
            "accept" => {
                let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
                let check = read.check_id();
                assert_eq!(Hex(&check.computed).to_string(), case["id"], "{name}");
                assert_eq!(check.is_match(), case["id_matches"], "{name}");
                let dialect = case["claimed_id_rule"].as_str().unwrap_or("json");
                assert_eq!(check.dialect.map(Dialect::name), Some(dialect), "{name}");
            }
            "reject" => assert!(!read.unwrap_err().is_incomplete(), "{name}"),
            "incomplete" => assert!(read.unwrap_err().is_incomplete(), "{name}"),
            other => panic!("{name}: {other}"),
        }
    }
}

/// The event `plain` with a tag of 70,000 bytes and the id that it then has.
fn big_tag(plain: &[u8], id: &str) -> Vec<u8> {
    let mut event: Value = serde_json::from_slice(plain).unwrap();
    event["tags"] = serde_json::json!([["x", "y".repeat(70_000)]]);
    event["id"] = id.into();
    serde_json::to_vec(&event).unwrap()
}

/// The event `plain` with a last key that nests `depth` arrays.
fn deep_key(plain: &[u8], depth: usize) -> Vec<u8> {
    let body = plain.strip_suffix(b"}").unwrap();
    [body, b",\"x\":", &b"[".repeat(depth), &b"]".repeat(depth), b"}"].concat()
}

#[test]
fn waku_hashes_are_those_published() {
    let vectors = fixture_json("waku/hash.json");
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

/// Every golden frame and every trap of the messages that carry a WakuMessage.
#[test]
fn waku_protocol_frames_are_read_as_each_preset_must() {
    let cases = fixture_json("waku/frames.json");
    let cases = cases["cases"].as_array().unwrap();
    assert!(cases.len() > 50);
    for case in cases {
        let (kind, frame) = (case["kind"].as_str().unwrap(), unhex(&case["hex"]));
        for (preset, rules) in
            [("strict", Rules::STRICT), ("proto3", Rules::PROTO3), ("nwaku", Rules::NWAKU)]
        {
            let read = read_protocol_frame(kind, &frame, &rules).unwrap_or_else(error_json);
            assert_eq!(read, case[preset], "{}, {preset}", case["name"]);
        }
    }
}

/// What other encoders wrote is written again from the values alone.
#[test]
fn waku_protocol_frames_are_built_byte_for_byte() {
    let cases = fixture_json("waku/frames.json");
    let cases = cases["cases"].as_array().unwrap().iter().filter(|case| case["rebuilt"] == true);
    let mut count = 0;
    for case in cases {
        let built = build_protocol_frame(case["kind"].as_str().unwrap(), case);
        assert_eq!(Hex(&built).to_string(), case["hex"], "{}", case["name"]);
        count += 1;
    }
    assert!(count > 12);
}

fn read_protocol_frame(kind: &str, frame: &[u8], rules: &Rules) -> Result<Value, Error> {
    Ok(match kind {
        "filter-subscribe" => {
            let view = filter::SubscribeRequestView::parse_with(frame, rules)?;
            json!({
                "request_id": view.request_id(),
                "filter_subscribe_type": view.filter_subscribe_type().0,
                "pubsub_topic": view.pubsub_topic(),
                "content_topics": view.content_topics().collect::<Vec<_>>(),
            })
        }
        "filter-response" => {
            let view = filter::SubscribeResponseView::parse_with(frame, rules)?;
            json!({
                "request_id": view.request_id(),
                "status_code": view.status_code(),
                "status_desc": view.status_desc(),
            })
        }
        "filter-push" => {
            let view = filter::PushView::parse_with(frame, rules)?;
            json!({
                "pubsub_topic": view.pubsub_topic(),
                "waku_message": message_json(view.waku_message()),
            })
        }
        "lightpush" => {
            let view = lightpush::RequestView::parse_with(frame, rules)?;
            json!({
                "request_id": view.request_id(),
                "pubsub_topic": view.pubsub_topic(),
                "message": message_json(view.message()),
            })
        }
        "lightpush-response" => {
            let view = lightpush::ResponseView::parse_with(frame, rules)?;
            json!({
                "request_id": view.request_id(),
                "status_code": view.status_code().0,
                "status_desc": view.status_desc(),
                "relay_peer_count": view.relay_peer_count(),
            })
        }
        "lightpush-v2" => {
            let view = lightpush::RpcView::parse_with(frame, rules)?;
            let request = view.request().map(|request| match request {
                Ok(request) => json!({
                    "pubsub_topic": request.pubsub_topic(),
                    "message": message_json(request.message()),
                }),
                Err(error) => error_json(error),
            });
            let response = view.response().map(|response| match response {
                Ok(response) => json!({
                    "is_success": response.is_success(),
                    "info": response.info(),
                }),
                Err(error) => error_json(error),
            });
            json!({ "request_id": view.request_id(), "request": request, "response": response })
        }
        "gossip" => {
            let view = gossip::RpcView::parse_with(frame, rules)?;
            let subscriptions = view.subscriptions().map(|item| match item {
                Ok(item) => json!({
                    "subscribe": item.subscribe(),
                    "topic_id": item.topic_id(),
                }),
                Err(error) => error_json(error),
            });
            let publish = view.publish().map(|item| match item {
                Ok(item) => json!({
                    "topic": item.topic(),
                    "data_hex": Hex(item.data()).to_string(),
                    "message": message_json(item.waku_message()),
                    "anonymous": item.is_anonymous(),
                }),
                Err(error) => error_json(error),
            });
            let control = view.control().map(|control| match control {
                Ok(control) => json!({
                    "ihave": control.ihave().len(),
                    "iwant": control.iwant().len(),
                    "graft": control.graft().len(),
                    "prune": control.prune().len(),
                    "idontwant": control.idontwant().len(),
                }),
                Err(error) => error_json(error),
            });
            json!({
                "subscriptions": subscriptions.collect::<Vec<_>>(),
                "publish": publish.collect::<Vec<_>>(),
                "control": control,
            })
        }
        other => panic!("unknown kind {other}"),
    })
}

fn build_protocol_frame(kind: &str, case: &Value) -> Vec<u8> {
    let values = &case["strict"];
    let text = |name: &str| values[name].as_str();
    let id = text("request_id").unwrap_or_default();
    let topic = text("pubsub_topic");
    match kind {
        "filter-subscribe" => {
            let topics = values["content_topics"].as_array().unwrap();
            let topics: Vec<_> = topics.iter().map(|topic| topic.as_str().unwrap()).collect();
            match values["filter_subscribe_type"].as_u64() {
                Some(0) => filter::SubscribeRequestBuilder::ping(id),
                Some(1) => filter::SubscribeRequestBuilder::subscribe(id, topic, &topics),
                other => panic!("{other:?}"),
            }
            .to_vec()
        }
        "filter-response" => filter::SubscribeResponseBuilder::new(id, number(values))
            .status_desc(text("status_desc").unwrap())
            .to_vec(),
        "filter-push" => {
            let message = nwaku_message(&values["waku_message"]);
            let spliced = filter::push(topic.unwrap(), &message).to_vec();
            assert_eq!(filter::PushBuilder::new(topic.unwrap(), message.raw()).to_vec(), spliced);
            spliced
        }
        "lightpush" => {
            let message = nwaku_message(&values["message"]);
            lightpush::request(id, topic, &message).to_vec()
        }
        "lightpush-response" => match number(values) {
            200 => {
                let peers = values["relay_peer_count"].as_u64().unwrap() as u32;
                lightpush::ResponseBuilder::success(id, peers).to_vec()
            }
            code => {
                let (code, desc) = (lightpush::StatusCode(code), text("status_desc").unwrap());
                lightpush::ResponseBuilder::failure(id, code, desc).to_vec()
            }
        },
        "lightpush-v2" => match (&values["request"], &values["response"]) {
            (request, Value::Null) => {
                let message = nwaku_message(&request["message"]);
                let topic = request["pubsub_topic"].as_str().unwrap();
                lightpush::request_v2(id, topic, &message).to_vec()
            }
            (_, response) => {
                let success = response["is_success"].as_bool().unwrap();
                lightpush::RpcBuilder::response(id, success, response["info"].as_str()).to_vec()
            }
        },
        "gossip" => {
            let list = |name: &str| values[name].as_array().unwrap();
            let subscriptions: Vec<_> = list("subscriptions")
                .iter()
                .map(|item| gossip::Subscription {
                    topic_id: item["topic_id"].as_str().unwrap(),
                    subscribe: item["subscribe"].as_bool().unwrap(),
                })
                .collect();
            let data: Vec<_> =
                list("publish").iter().map(|item| unhex(&item["data_hex"])).collect();
            let publish: Vec<_> = std::iter::zip(list("publish"), &data)
                .map(|(item, data)| gossip::Publish {
                    topic: item["topic"].as_str().unwrap(),
                    data,
                })
                .collect();
            gossip::RpcBuilder::new().subscriptions(&subscriptions).publish(&publish).to_vec()
        }
        other => panic!("unknown kind {other}"),
    }
}

/// A control message with an entry of every kind, by the names of the fixture.
#[test]
fn a_control_message_is_built_byte_for_byte() {
    let cases = fixture_json("waku/frames.json");
    let case = |case: &&Value| case["name"] == "control of every kind";
    let frame = unhex(&cases["cases"].as_array().unwrap().iter().find(case).unwrap()["hex"]);
    let ids = [&b"id"[..]];
    assert_eq!(
        gossip::RpcBuilder::new()
            .control(
                control::ControlBuilder::new()
                    .ihave(&[control::IHave { topic_id: "t", message_ids: &ids }])
                    .iwant(&[control::MessageIds(&ids)])
                    .graft(&["t"])
                    .prune(&[control::Prune { topic_id: "t", peers: &[], backoff: Some(60) }])
                    .idontwant(&[control::MessageIds(&ids)])
            )
            .to_vec(),
        frame
    );
}

/// A message as nwaku writes it.
fn nwaku_message(values: &Value) -> MessageView {
    let payload = unhex(&values["payload_hex"]);
    MessageBuilder::new(values["content_topic"].as_str().unwrap(), &payload)
        .timestamp(values["timestamp_ns"].as_i64().unwrap())
        .always_present()
        .build()
        .unwrap()
}

fn message_json(message: Result<MessageView<&[u8]>, Error>) -> Value {
    match message {
        Ok(message) => json!({
            "payload_hex": Hex(message.payload()).to_string(),
            "content_topic": message.content_topic(),
            "timestamp_ns": message.timestamp(),
        }),
        Err(error) => error_json(error),
    }
}

fn error_json(error: Error) -> Value {
    json!({ "error": error.to_string() })
}

fn number(values: &Value) -> u32 {
    values["status_code"].as_u64().unwrap() as u32
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn fixture_json(name: &str) -> Value {
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
