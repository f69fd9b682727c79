//! What drives the laws of frames: fixtures, damage to them, the committed corpus, proptest.

use std::collections::BTreeSet;

use borrowire::nostr::Reason;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::super::{corpus, every_damage};
use super::*;

#[test]
fn the_fixtures() {
    let mut labels = BTreeSet::new();
    for case in fixtures() {
        let frame = case["frame"].as_str().unwrap().as_bytes();
        any_frame(frame);
        let rules = match case["rules"].as_str() {
            None => Rules::STRICT,
            Some("lenient") => Rules::LENIENT,
            Some(other) => panic!("{other}"),
        };
        let read = match case["direction"].as_str().unwrap() {
            "client" => ClientFrame::parse_with(frame, &rules).map(|view| client_answer(&view)),
            "relay" => RelayFrame::parse_with(frame, &rules).map(|view| relay_answer(&view)),
            other => panic!("{other}"),
        };
        match (&case["error"], read) {
            (Value::Null, Ok(read)) => {
                labels.insert((case["direction"].to_string(), read["label"].to_string()));
                assert_eq!(read, case["read"], "{case}");
            }
            (error, Err(read)) => {
                let answer = json!({
                    "kind": read.kind().name(),
                    "context": read.context(),
                    "at": read.offset(),
                });
                assert_eq!(&answer, error, "{case}");
            }
            (error, Ok(read)) => panic!("{error} expected, {read} read: {case}"),
        }
    }
    let known = |direction: &str| {
        let is_known = |label: &&(String, String)| {
            describe_has_place(direction == "client", label.1.trim_matches('"'))
        };
        let of = labels.iter().filter(|label| label.0 == format!("{direction:?}"));
        of.filter(is_known).count()
    };
    assert_eq!((known("client"), known("relay")), (5, 8));
}

#[test]
fn the_committed_corpus() {
    corpus("nostr_frame").iter().for_each(|frame| any_frame(frame));
}

#[test]
fn damaged_fixtures() {
    for case in fixtures() {
        let frame = case["frame"].as_str().unwrap();
        if frame.len() < 80 {
            every_damage(frame.as_bytes(), any_frame);
        }
    }
}

/// What a view says, in the words of the fixture.
fn client_answer(view: &ClientFrame<&[u8]>) -> Value {
    let mut answer = json!({ "label": view.label(), "extra": values(view.extra()) });
    if let Some(sub) = view.sub() {
        answer["sub"] = json!(sub);
    }
    if let Some(event) = view.event() {
        answer["event"] = event.map_or_else(|error| error.to_string(), |_| "good".into()).into();
    }
    if let ClientMessage::Req { filters, .. } | ClientMessage::Count { filters, .. } =
        view.message()
    {
        answer["filters"] = filters.map(|filter| value_of(filter.raw())).collect();
    }
    answer
}

fn relay_answer(view: &RelayFrame<&[u8]>) -> Value {
    let mut answer = json!({ "label": view.label(), "extra": values(view.extra()) });
    if let Some(sub) = view.sub() {
        answer["sub"] = json!(sub);
    }
    if let Some(event) = view.event() {
        answer["event"] = event.map_or_else(|error| error.to_string(), |_| "good".into()).into();
    }
    let reason = match view.message() {
        RelayMessage::Ok { id, accepted, message } => {
            answer["id"] = json!(id.text());
            answer["id_hex"] = json!(id.bytes().ok().map(hex::encode));
            answer["accepted"] = accepted.into();
            Some(message)
        }
        RelayMessage::Closed { message, .. } | RelayMessage::Notice { message } => Some(message),
        RelayMessage::Neg(neg) => neg.reason().map(Reason::from),
        RelayMessage::Auth { challenge } => {
            answer["challenge"] = json!(challenge);
            None
        }
        RelayMessage::Count { count, .. } => {
            answer["count"] = match count {
                Ok(count) => json!({
                    "count": count.count(),
                    "approximate": count.approximate(),
                    "hll": count.hll().map(|hll| hll.as_str()),
                }),
                Err(error) => error.to_string().into(),
            };
            None
        }
        RelayMessage::Limits { limits } => {
            answer["limits"] = value_of(limits);
            None
        }
        _ => None,
    };
    if let Some(reason) = reason {
        answer["message"] = json!(reason.text());
        answer["prefix"] = json!(reason.prefix().map(|prefix| prefix.name()));
        answer["rest"] = json!(reason.rest());
    }
    answer
}

fn fixtures() -> Vec<Value> {
    let lines = include_str!("../../fixtures/nostr/frames.ndjson").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn frames_of_every_label_and_every_damage_to_them() {
    let event = feed().remove(0);
    for frame in SHAPES {
        let frame = frame.replace("@", &event);
        any_frame(frame.as_bytes());
    }
    for frame in SHAPES {
        let frame = frame.replace("@", r#"{"id":"é\u00e9"}"#);
        every_damage(frame.as_bytes(), any_frame);
    }
}

#[test]
fn every_event_of_the_feed_in_a_frame() {
    for event in feed() {
        any_frame(format!(r#"["EVENT",{event}]"#).as_bytes());
        any_frame(format!("[ \"EVENT\" , \"s\", {event} , null ]\n").as_bytes());
    }
}

#[test]
fn what_is_inside_may_be_nested_until_the_frame_is_too_deep() {
    for depth in 124..129 {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for front in ["[\"X\",", "[\"EVENT\",", "[\"REQ\",\"s\",", "[\"COUNT\",\"s\","] {
            let frame = format!("{front}{deep}]");
            any_frame(frame.as_bytes());
            let read = ClientFrame::parse(frame.as_bytes()).map_err(|error| error.kind());
            assert_eq!(read.is_ok(), depth < 127, "{depth}: {read:?}");
        }
    }
}

#[test]
fn limits_are_kept() {
    let mut limits = *Rules::STRICT.limits();
    limits.frame = 20;
    limits.json_depth = 2;
    let rules = Rules::STRICT.with_limits(limits);
    let error = |frame: &str| {
        let client = ClientFrame::parse_with(frame.as_bytes(), &rules).unwrap_err();
        let relay = RelayFrame::parse_with(frame.as_bytes(), &rules).unwrap_err();
        assert_eq!(client, relay);
        client.to_string()
    };
    assert!(RelayFrame::parse_with(&br#"["EOSE","s",[],{ }] "#[..], &rules).is_ok());
    let long = error(r#"["EOSE","sub",[1],{ }] "#);
    assert_eq!(long, "frame: 23 bytes, at most 20 allowed, at byte 0");
    assert_eq!(error(r#"["X",[[]]]"#), "frame: nested deeper than 2, at byte 6");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn frames_of_any_parts(parts in parts()) {
        written_is_read_back(&parts);
    }

    /// Elements that are right more often than not, in any order and number, with whitespace.
    #[test]
    fn loose_frames(
        label in prop::sample::select(LABELS),
        elements in vec(element(), 0..6),
        spaces in vec(prop::sample::select(vec!["", "", "", " ", "\n", "\t\r "]), 1..8),
        end in prop::sample::select(vec!["]", "]", "]", "]", "", "]]", ",]", "] x"]),
    ) {
        let mut frame = String::from("[");
        let label = label.to_owned();
        for (i, element) in std::iter::once(&label).chain(&elements).enumerate() {
            frame += if i == 0 { "" } else { "," };
            frame += spaces[i % spaces.len()];
            frame += element;
            frame += spaces[(i + 1) % spaces.len()];
        }
        frame += end;
        any_frame(frame.as_bytes());
    }

    #[test]
    fn noise_in_place_of_a_frame(bytes in vec(any::<u8>(), 0..100)) {
        any_frame(&bytes);
    }

    #[test]
    fn noise_within_a_frame(
        shape in prop::sample::select(SHAPES),
        bytes in vec(any::<u8>(), 0..20),
        at: prop::sample::Index,
        cut in 0..4_usize,
    ) {
        let mut frame = shape.replace("@", "{}").into_bytes();
        let at = at.index(frame.len());
        frame.splice(at..(at + cut).min(frame.len()), bytes);
        any_frame(&frame);
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let strings = (any::<String>(), reason());
    let values = (vec(value(), 0..4), value());
    let count = prop_oneof![Just(0), 0..100_u64, any::<u64>()];
    let hll = option::of(prop_oneof![vec(any::<u8>(), 256), vec(any::<u8>(), 0..300)]);
    let counted = (count, any::<Option<bool>>(), hll);
    (strings, values, any::<[u8; 32]>(), counted, any::<bool>()).prop_map(
        |((sub, text), (filters, event), id, (count, approximate, hll), flag)| Parts {
            sub,
            text,
            filters,
            event,
            id,
            count,
            approximate,
            hll,
            flag,
        },
    )
}

fn reason() -> impl Strategy<Value = String> {
    let words = ["", "pow", "error", "auth-required", "ERROR", "closed", "word"];
    let colons = ["", ":", ": ", " : ", ":  "];
    let front = (prop::sample::select(words.to_vec()), prop::sample::select(colons.to_vec()));
    (front, any::<String>()).prop_map(|((word, colon), rest)| format!("{word}{colon}{rest}"))
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        vec(0..40_000_u32, 0..3).prop_map(|kinds| json!({ "kinds": kinds })),
        vec("[0-9a-f]{64}", 0..3).prop_map(|ids| json!({ "ids": ids, "#t": ["é\u{1f}"] })),
        prop::sample::select(feed()).prop_map(|event| serde_json::from_str(&event).unwrap()),
        Just(json!([[{}], null, true])),
    ]
}

fn element() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("\"sub\"".to_owned()),
        2 => any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        1 => r#""(\\u00[0-9a-f]{2}|\\[nt"/]|6)*""#,
        1 => "\"[0-9a-fA-F]{64}\"",
        2 => prop::sample::select(vec!["true", "false", "null", "[]", "tru", "{", ""])
            .prop_map(str::to_owned),
        2 => value().prop_map(|value| value.to_string()),
        2 => prop::sample::select(feed()),
        1 => (prop::sample::select(feed()), any::<prop::sample::Index>(), any::<char>()).prop_map(
            |(mut event, at, char)| {
                let at = at.index(event.len());
                if event.is_char_boundary(at) {
                    event.insert(at, char);
                }
                event
            },
        ),
        2 => count(),
    ]
}

fn count() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        3 => any::<u64>().prop_map(|count| format!("\"count\":{count}")),
        1 => any::<bool>().prop_map(|flag| format!("\"approximate\":{flag}")),
        1 => "\"(hll|h\\\\u006cl)\":\"[0-9a-f]{512}\"",
        1 => "\"hll\":\"[0-9a-fA-F]{510,514}\"",
        1 => "\"(count|approximate|limited)\":(-1|1.5|null|true|\"\\}\")",
    ];
    vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(", ")))
}

fn feed() -> Vec<String> {
    let lines = include_str!("../../fixtures/nostr/feed.ndjson").lines();
    lines.filter(|line| line.len() < 1500).take(40).map(str::to_owned).collect()
}

/// With an event in the place of `@`.
const SHAPES: &[&str] = &[
    r#"["EVENT",@]"#,
    r#"["REQ","s",{"kinds":[1]},{"t":["x"]}]"#,
    r#"["CLOSE","s"]"#,
    r#"["AUTH",@]"#,
    r#"["COUNT","s",{"limit":0}]"#,
    r#"["NEG-OPEN","s",{"kinds":[1]},"6100000200"]"#,
    r#"["NEG-MSG","s","6100000200"]"#,
    r#"["NEG-CLOSE","s"]"#,
    r#"["EVENT","s",@]"#,
    r#"["OK","?",false,"invalid: \u00e9"]"#,
    r#"["EOSE","s",{"debug":1}]"#,
    r#"["CLOSED","s","auth-required: "]"#,
    r#"["NOTICE","ERROR: bad req"]"#,
    r#"["AUTH","challenge"]"#,
    r#"["COUNT","s",{"count":3,"approximate":true,"limited":true}]"#,
    r#"["NEG-ERR","s","blocked: x",1000]"#,
    r#"["LIMITS",{"a":[1]}]"#,
    r#"["NOTIFY",1,{"x":[]},"é"]"#,
    r#" [ "\u0045OSE" , "s" ] "#,
];

const LABELS: &[&str] = &[
    "\"EVENT\"",
    "\"REQ\"",
    "\"CLOSE\"",
    "\"AUTH\"",
    "\"COUNT\"",
    "\"OK\"",
    "\"EOSE\"",
    "\"CLOSED\"",
    "\"NOTICE\"",
    "\"LIMITS\"",
    "\"NEG-MSG\"",
    "\"NEG-ERR\"",
    "\"\\u0045VENT\"",
    "\"\"",
    "\"REQU\"",
    "1",
];
