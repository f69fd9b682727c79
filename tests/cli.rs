//! The command line keeps its contract.

#![cfg(feature = "cli")]

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use borrowire::waku::MessageBuilder;
use serde_json::Value;

#[test]
fn inspect_answers_every_case_under_every_preset() {
    let cases = fixture_json("waku/decode.json");
    let cases = cases["cases"].as_array().unwrap();
    let lines: String =
        cases.iter().map(|case| case["hex"].as_str().unwrap().to_owned() + "\n").collect();
    for preset in ["strict", "proto3", "nwaku"] {
        let args =
            ["inspect", "--json", "--full", "--from", "hex", "--as", "waku", "--rules", preset];
        let output = borrowire(&args, lines.as_bytes());
        assert_eq!(output.status.code(), Some(1), "some frames are bad");
        let answers = json_lines(&output);
        assert_eq!(answers.len(), cases.len());
        for (case, answer) in cases.iter().zip(&answers) {
            let (name, expected) = (&case["name"], &case[preset]);
            assert_eq!(answer["ok"], expected.get("error").is_none(), "{name}, {preset}");
            assert_eq!(answer["format"], "waku");
            assert_eq!(answer["len"], case["hex"].as_str().unwrap().len() / 2);
            if expected.get("error").is_some() {
                let error = &answer["error"];
                assert!(error["kind"].is_string() && error["offset"].is_u64(), "{name}");
                assert!(error["context"].is_string() && error["message"].is_string(), "{name}");
                continue;
            }
            assert_eq!(answer["payload_hex"], expected["payload"], "{name}");
            assert_eq!(answer["content_topic_hex"], expected["content_topic_hex"], "{name}");
            assert_eq!(answer["version"], expected["version"], "{name}");
            assert_eq!(answer["timestamp_ns"], expected["timestamp"], "{name}");
            assert_eq!(answer["ephemeral"], expected["ephemeral"], "{name}");
            let meta_len = answer["meta_hex"].as_str().unwrap().len() / 2;
            assert_eq!(meta_len, expected["meta_len"].as_u64().unwrap() as usize, "{name}");
        }
    }
}

#[test]
fn hash_gives_every_published_hash() {
    let vectors = fixture_json("waku/hash.json");
    for case in vectors["cases"].as_array().unwrap() {
        let (payload, meta) = (unhex(&case["payload_hex"]), unhex(&case["meta_hex"]));
        let content_topic = case["content_topic"].as_str().unwrap();
        let mut builder = MessageBuilder::new(content_topic, &payload).meta(&meta);
        if let Some(timestamp) = case["timestamp_ns"].as_i64() {
            builder = builder.timestamp(timestamp);
        }
        let topic = case["pubsub_topic"].as_str().unwrap();
        let rule = case["rule"].as_str().unwrap();
        let output = borrowire(&["hash", "--topic", topic, "--rule", rule], &builder.to_vec());
        assert_eq!(stdout(&output), format!("{}\n", case["hash"].as_str().unwrap()));
        assert!(output.status.success());
    }
}

#[test]
fn frames_come_in_four_encodings() {
    let frame = b"\x12\x01a\x12\x01b";
    let id = "--gossip";
    for (from, input) in [
        ("bytes", &frame[..]),
        ("hex", b"120161120162\n"),
        ("hex", b"120161120162"),
        ("base64", b"EgFhEgFi\n"),
        ("base64", b"EgFhEgFi\r\n"),
        ("lines", b"\x12\x01a\x12\x01b\n"),
    ] {
        let args = ["hash", id, "--rules", "proto3", "--from", from];
        let output = borrowire(&args, input);
        let expected = borrowire::waku::gossip_id(frame);
        assert_eq!(stdout(&output), format!("{expected}\n"), "{from}: {}", stderr(&output));
    }
}

#[test]
fn an_empty_line_is_a_frame_of_no_bytes() {
    for from in ["hex", "base64"] {
        let args = ["inspect", "--json", "--rules", "proto3", "--from", from];
        let answers = json_lines(&borrowire(&args, b"\n\n"));
        assert_eq!(answers.len(), 2);
        assert!(answers.iter().all(|answer| answer["ok"] == true && answer["len"] == 0));
        assert!(json_lines(&borrowire(&args, b"")).is_empty());
    }
}

#[test]
fn people_see_the_bytes_around_an_error_with_a_caret() {
    let meta = "78".repeat(65);
    let output =
        borrowire(&["inspect", "--from", "hex"], format!("0a01011201615a41{meta}").as_bytes());
    let expected = "\
-:1: waku, 73 bytes, bad
  waku.meta: 65 bytes, at most 64 allowed, at byte 8
  00000000  0a 01 01 12 01 61 5a 41 78 78 78 78 78 78 78 78  .....aZAxxxxxxxx
                                    ^^
";
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_caret_stands_after_the_last_byte_too() {
    let topic = "61".repeat(14);
    let output = borrowire(&["inspect", "--from", "hex"], format!("120e{topic}").as_bytes());
    let dump = stdout(&output);
    let rows: Vec<_> = dump.lines().skip(2).collect();
    assert_eq!(
        rows[0],
        "  00000000  12 0e 61 61 61 61 61 61 61 61 61 61 61 61 61 61  ..aaaaaaaaaaaaaa"
    );
    assert_eq!((rows[1].trim_end(), rows[2]), ("  00000010", "            ^^"));
}

#[test]
fn people_see_the_fields_and_the_hash() {
    let frame = fixture("waku/rfc14-meta.bin");
    let output = borrowire(&["inspect", "--topic", "/waku/2/default-waku/proto", &frame], b"");
    let text = stdout(&output);
    for row in [
        "content_topic     \"/waku/2/default-content/proto\"",
        "timestamp         1681964442000000000 ns  2023-04-20T04:20:42Z",
        "message_hash      64cce733fed134e83da02b02c6f689814872b1a0ac97ea56b76095c3c72bfe05",
    ] {
        assert!(text.contains(row), "{row} is not in\n{text}");
    }
    let of_the_shard = stdout(&borrowire(&["inspect", &frame], b""));
    assert!(of_the_shard.contains("on /waku/2/rs/1/"), "{of_the_shard}");
}

#[test]
fn a_bad_line_is_told_and_the_others_are_done() {
    let args = ["hash", "--topic", "t", "--from", "hex"];
    let output = borrowire(&args, b"0a01011201615002\nzz\n0a0\n0A01011201615002\n");
    let hash = "92370dad4ca4c6ee51dbdbba57c21d8cb1ffcd73f79d810cb841d0a1e2ad9d80\n";
    assert_eq!(stdout(&output), hash.repeat(2));
    let told = stderr(&output);
    assert!(
        told.contains("-:2: ") && told.contains("hex: hex digit expected, found `z`"),
        "{told}"
    );
    assert!(told.contains("-:3: ") && told.contains("hex: 3 hex digits"), "{told}");
    assert_eq!(output.status.code(), Some(1));
    let bad = borrowire(&["hash", "--gossip", "--json", "--from", "base64"], b"EgF\x00\n");
    assert_eq!(json_lines(&bad)[0]["error"]["offset"], 3);
}

#[test]
fn a_frame_and_its_binary_are_inverse() {
    let long = "a".repeat(64);
    let subs = [
        "bench-sync",
        "sub_123",
        &long,
        "",
        "with\"quote",
        "with\\backslash",
        "tab\there",
        "new\nline",
        "unicode-é中",
        "ctrl\u{1}char",
    ];
    for (i, sub) in subs.iter().enumerate() {
        for len in [0, 1, 31, 64, 1000 + i, 100_000 * i] {
            let binary: Vec<u8> = (0..len).map(|j| (j * 31 + i) as u8).collect();
            let frame = borrowire(&["frame", "neg-msg", "--sub", sub], &binary).stdout;
            let hex = borrowire::hex::Hex(&binary).to_string();
            assert_eq!(frame, serde_json::to_vec(&("NEG-MSG", sub, &hex)).unwrap());
            let back = borrowire(&["frame", "neg-msg", "--decode", "--sub", sub], &frame);
            assert_eq!((back.stdout, back.status.code()), (binary.clone(), Some(0)));
            let filter = r#"{"kinds":[1]}"#;
            let args = ["frame", "neg-open", "--sub", sub, "--filter", filter];
            let open = borrowire(&args, &binary).stdout;
            let back = borrowire(&["frame", "neg-open", "--decode"], &open);
            assert_eq!((back.stdout, back.status.code()), (binary, Some(0)));
        }
    }
}

#[test]
fn a_frame_of_another_subscription_or_kind_is_refused() {
    let frame = br#"["NEG-MSG","s","6100"]"#;
    for (args, told) in [
        (&["frame", "neg-msg", "--decode", "--sub", "t"][..], "\"t\" expected, found \"s\""),
        (&["frame", "neg-open", "--decode"], "NEG-OPEN expected, found NEG-MSG"),
    ] {
        let output = borrowire(args, frame);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty() && stderr(&output).contains(told), "{}", stderr(&output));
    }
    let damaged = borrowire(&["frame", "neg-msg", "--decode"], br#"["NEG-MSG","s","6G"]"#);
    assert!(stderr(&damaged).contains("found `G`, at byte 17"), "{}", stderr(&damaged));
    assert!(damaged.stdout.is_empty());
    let usage = borrowire(&["frame", "neg-msg"], b"");
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn inspect_answers_every_negentropy_message() {
    let vectors = fixture_json("negentropy/v1.json");
    let args = ["inspect", "--json", "--as", "negentropy", "--from", "hex"];
    let ask = |case: &Value| {
        let line = format!("{}\n", case["hex"].as_str().unwrap());
        json_lines(&borrowire(&args, line.as_bytes())).remove(0)
    };
    for case in vectors["messages"].as_array().unwrap() {
        let answer = ask(case);
        assert_eq!(answer["ok"], true, "{case}");
        let (ranges, expected) =
            (answer["ranges"].as_array().unwrap(), case["ranges"].as_array().unwrap());
        assert_eq!(ranges.len(), expected.len());
        for (range, expected) in ranges.iter().zip(expected) {
            let (upper, expected_upper) = (&range["upper"], &expected["upper"]);
            if expected_upper.is_string() {
                assert_eq!(upper, expected_upper, "{case}");
            } else {
                assert_eq!(upper["timestamp"], expected_upper["timestamp"], "{case}");
                assert_eq!(upper["prefix_hex"], expected_upper["prefix"], "{case}");
            }
            match range["mode"].as_str().unwrap() {
                "id-list" => assert_eq!(range["ids"], expected["id_list"]),
                "fingerprint" => assert_eq!(range["fingerprint_hex"], expected["fingerprint"]),
                _ => assert_eq!(range["mode"], "skip"),
            }
        }
    }
    for case in vectors["reject"].as_array().unwrap() {
        assert_eq!(ask(case)["ok"], false, "{case}");
    }
}

#[test]
fn a_frame_is_shown_with_the_message_inside() {
    let input = b"[\"NEG-MSG\",\"s\",\"6100000200\"]\n[\"NEG-MSG\",\"s\",\"62\"]\n";
    let output = borrowire(&["inspect", "--json"], input);
    let [good, bad] = &json_lines(&output)[..] else { panic!("two lines") };
    assert_eq!((&good["format"], &good["label"]), (&"neg".into(), &"NEG-MSG".into()));
    assert_eq!(good["negentropy"]["ranges"][0]["upper"], "infinity");
    assert_eq!(
        (&bad["ok"], &bad["sub"]),
        (&true.into(), &"s".into()),
        "outer fields stay readable"
    );
    assert_eq!(bad["negentropy"]["error"]["kind"], "version");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn inspect_answers_every_nostr_frame() {
    let cases = fs::read_to_string(fixture("nostr/frames.ndjson")).unwrap();
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_neg = |case: &Value| case["read"]["label"].as_str().unwrap_or("").starts_with("NEG-");
    for (direction, rules) in [("client", "strict"), ("relay", "strict"), ("relay", "lenient")] {
        let cases = cases.iter().filter(|case| {
            let frame = case["frame"].as_str().unwrap();
            case["direction"] == direction
                && case["rules"].as_str().unwrap_or("strict") == rules
                && !frame.contains('\n')
        });
        let cases: Vec<_> = cases.collect();
        assert!(cases.len() > 2);
        let lines: String =
            cases.iter().map(|case| case["frame"].as_str().unwrap().to_owned() + "\n").collect();
        let args = ["inspect", "--json", "--as", direction, "--rules", rules];
        let output = borrowire(&args, lines.as_bytes());
        let answers = json_lines(&output);
        assert_eq!(answers.len(), cases.len());
        for (case, answer) in cases.iter().zip(&answers) {
            assert_eq!(answer["format"], direction, "{case}");
            assert_eq!(answer["len"], case["frame"].as_str().unwrap().len(), "{case}");
            if !case["error"].is_null() {
                let error = &answer["error"];
                assert_eq!(answer["ok"], false, "{case}");
                assert_eq!(error["kind"], case["error"]["kind"], "{case}");
                assert_eq!(error["context"], case["error"]["context"], "{case}");
                assert_eq!(error["offset"], case["error"]["at"], "{case}");
                continue;
            }
            let read = &case["read"];
            assert_eq!((&answer["ok"], &answer["label"]), (&true.into(), &read["label"]), "{case}");
            let keys = ["sub", "filters", "id", "id_hex", "accepted", "challenge", "limits"];
            keys.iter().for_each(|key| assert_eq!(answer[key], read[key], "{key} of {case}"));
            if is_neg(case) {
                continue;
            }
            for key in ["message", "prefix"] {
                assert_eq!(answer[key], read[key], "{key} of {case}");
            }
            if let Some(extra) = answer.get("extra") {
                assert_eq!(extra, &read["extra"], "{case}");
            }
            match &read["count"] {
                Value::Object(count) => {
                    assert_eq!(answer["count"], count["count"], "{case}");
                    assert_eq!(answer["approximate"], count["approximate"], "{case}");
                    assert_eq!(answer["hll"], count["hll"], "{case}");
                }
                count => assert_eq!(&answer["count"]["error"]["message"], count, "{case}"),
            }
            match read["event"].as_str() {
                Some("good") => {
                    let event = &answer["event"];
                    assert_eq!(event["id_matches"], true, "{case}");
                    assert_eq!(event["id"], event["computed_id"], "{case}");
                    let frame: Value =
                        serde_json::from_str(case["frame"].as_str().unwrap()).unwrap();
                    let sent = &frame[if direction == "client" { 1 } else { 2 }];
                    for key in ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"] {
                        assert_eq!(event[key], sent[key], "{case}");
                    }
                }
                Some(error) => assert_eq!(answer["event"]["error"]["message"], error, "{case}"),
                None => assert!(answer.get("event").is_none(), "{case}"),
            }
        }
    }
}

#[test]
fn what_a_nostr_frame_is_taken_for() {
    let format = |frame: &str| {
        let output = borrowire(&["inspect", "--json"], frame.as_bytes());
        json_lines(&output)[0]["format"].as_str().unwrap().to_owned()
    };
    for (frame, expected) in [
        (r#"["REQ","s",{}]"#, "client"),
        (r#"["CLOSE","s"]"#, "client"),
        (r#"["EVENT",{"id":"x"}]"#, "client"),
        (r#"["EVENT","s",{"id":"x"}]"#, "relay"),
        (r#"["EVENT","s",{"id""#, "relay"),
        (r#"["AUTH","challenge"]"#, "relay"),
        (r#"["AUTH",{}]"#, "client"),
        (r#"["COUNT","s",{"count":1}]"#, "relay"),
        (r#"["COUNT","s",{"kinds":[1]}]"#, "client"),
        (r#"["OK","?",false,""]"#, "relay"),
        (r#"["EOSE","s"]"#, "relay"),
        (r#"["NOTICE","x"]"#, "relay"),
        (r#"["NEG-ERR","s","x"]"#, "neg"),
        (r#"["NEG-CLOSE","s"]"#, "neg"),
        (r#"["X"]"#, "client"),
        ("[", "client"),
    ] {
        assert_eq!(format(frame), expected, "{frame}");
    }
}

#[test]
fn people_see_the_event_inside_of_a_frame() {
    let event = fs::read_to_string(fixture("nostr/feed.ndjson")).unwrap();
    let frame = format!("[\"EVENT\",\"日本\",{},1]", event.lines().next().unwrap());
    let text = stdout(&borrowire(&["inspect"], frame.as_bytes()));
    for row in [
        "EVENT (relay), ",
        "sub         \"日本\"  (some relays refuse it)",
        "computed id  matches",
        "kind        1",
    ] {
        assert!(text.contains(row), "{row} is not in\n{text}");
    }
    assert!(text.lines().last().unwrap().starts_with("  extra "), "{text}");
    let bad = borrowire(&["inspect"], br#"["EVENT",{"id":"x"}]"#);
    assert!(stdout(&bad).contains("bad event  event.id: 1 bytes, 64 expected, at byte 16"));
    assert_eq!(bad.status.code(), Some(1));
}

#[test]
fn the_path_prints_its_arms() {
    let csv = std::env::temp_dir().join(format!("borrowire-path-{}.csv", std::process::id()));
    let file = csv.to_str().unwrap();
    let output = borrowire(&["path", "--messages", "4", "--json", "--csv", file], b"");
    assert!(output.status.success(), "{}", stderr(&output));
    let arms = json_lines(&output);
    assert_eq!(arms.len(), 7 * 6, "seven tables of six arms");
    assert_eq!(arms[1]["decodes_per_message"], 4.0);
    assert_eq!(arms[3]["hashes_per_message"], 1.0);
    let text = fs::read_to_string(&csv).unwrap();
    fs::remove_file(&csv).unwrap();
    assert!(text.starts_with("scenario,msgs,payload_profile,wall_ms,"));
    let columns = |line: &str| line.split(',').count();
    assert!(text.lines().all(|line| columns(line) == columns(text.lines().next().unwrap())));
    assert_eq!(text.lines().count(), 1 + 7 * 6);
}

#[test]
fn wrong_usage_and_unreadable_files_exit_with_2() {
    for args in [
        &["hash"][..],
        &["hash", "--gossip", "--topic", "t"],
        &["inspect", "--from", "morse"],
        &["inspect", "no such file"],
        &[],
    ] {
        let output = borrowire(args, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn inspect_answers_every_event() {
    let cases = fixture_json("nostr/events.json");
    let cases: Vec<_> = cases["cases"].as_array().unwrap().iter().collect();
    let cases: Vec<_> = cases.into_iter().filter(|c| c["event_base64"].is_string()).collect();
    let lines: String =
        cases.iter().map(|case| case["event_base64"].as_str().unwrap().to_owned() + "\n").collect();
    for rules in ["strict", "lenient"] {
        let args = ["inspect", "--json", "--full", "--as", "event", "--from", "base64"];
        let args = [&args[..], &["--rules", rules]].concat();
        let answers = json_lines(&borrowire(&args, lines.as_bytes()));
        assert_eq!(answers.len(), cases.len());
        for (case, answer) in cases.iter().zip(&answers) {
            let (name, event) = (&case["name"], &answer["event"]);
            let is_accepted = case["default"] == "accept";
            // Lenient rules take more, and read what strict ones take alike.
            assert!(answer["ok"] == is_accepted || rules == "lenient" && answer["ok"] == true);
            if is_accepted {
                assert_eq!(event["computed_id"], case["id"], "{name}");
                assert_eq!(event["id_matches"], case["id_matches"], "{name}");
                assert!(event["content"].is_string() && event["tags"].is_array(), "{name}");
            } else if answer["ok"] == false {
                let is_incomplete = answer["error"]["kind"] == "incomplete";
                assert_eq!(is_incomplete, case["default"] == "incomplete", "{name}");
            }
        }
    }
}

#[test]
fn verify_names_every_bad_line() {
    let feed = fs::read_to_string(fixture("nostr/feed.ndjson")).unwrap();
    let mut lines: Vec<String> = feed.lines().map(str::to_owned).collect();
    let count = lines.len();
    lines[10] = lines[10].replace("\"content\":\"", "\"content\":\"!");
    lines[20] = format!("[\"EVENT\",\"sub\",{}]", lines[20]);
    let sig = lines[30].find("\"sig\":\"").unwrap() + 7;
    let digit = if lines[30].as_bytes()[sig] == b'0' { "1" } else { "0" };
    lines[30].replace_range(sig..=sig, digit);
    lines[40] = "{\"id\":1}".to_owned();
    lines.push(String::new());
    let text = lines.join("\n");
    for threads in ["1", "2", "3"] {
        let args = ["verify", "--signatures", "--json", "--threads", threads];
        let output = borrowire(&args, text.as_bytes());
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stderr(&output), "");
        let answers = json_lines(&output);
        let found: Vec<_> =
            answers.iter().map(|a| (a["line"].as_u64(), a["fault"].as_str())).collect();
        let expected = [(Some(11), Some("id")), (Some(31), Some("signature"))];
        assert_eq!(found[..2], expected);
        assert_eq!(found[2..], [(Some(41), Some("unreadable")), (None, None)]);
        let totals = &answers[3];
        assert_eq!(
            (&totals["events"], &totals["signatures"]),
            (&(count - 1).into(), &(count - 2).into())
        );
        assert_eq!(totals["bytes"], text.len());
        let of = |key: &str| totals[key].as_u64().unwrap();
        assert_eq!((of("bad_ids"), of("bad_signatures"), of("unreadable")), (1, 1, 1));
    }
    let output = borrowire(&["verify"], feed.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).starts_with(&format!("{count} events: 0 bad ids, 0 lines")));
}

#[test]
fn verify_says_which_dialect_would_match() {
    let cases = fixture_json("nostr/events.json");
    let by_the_letter = |case: &&Value| case["claimed_id_rule"] == "nip01-literal";
    let cases: Vec<_> = cases["cases"].as_array().unwrap().iter().filter(by_the_letter).collect();
    assert!(!cases.is_empty());
    for case in cases {
        let line = case["event_base64"].as_str().unwrap();
        let event = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, line);
        let output = borrowire(&["verify", "--json"], &event.unwrap());
        let answer = &json_lines(&output)[0];
        assert_eq!(answer["computed_id"], case["id"]);
        assert_eq!(answer["dialect"], "nip01-literal");
    }
}

fn borrowire(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_borrowire"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments closes its input at once.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn fixture_json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

fn unhex(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap_or_default();
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn match_prints_the_lines_of_the_fixture_verbatim() {
    let feed = fs::read(fixture("nostr/feed.ndjson")).unwrap();
    let lines: Vec<_> = feed.split_inclusive(|byte| *byte == b'\n').collect();
    for case in fixture_json("nostr/filters.json")["match"].as_array().unwrap() {
        let filter = case["filter"].to_string();
        let output = borrowire(&["match", "--filter", &filter, &fixture("nostr/feed.ndjson")], b"");
        let expected: Vec<_> = case["lines"].as_array().unwrap().iter().collect();
        let expected: Vec<_> =
            expected.iter().map(|line| lines[line.as_u64().unwrap() as usize]).collect();
        assert!(output.stdout == expected.concat(), "{case}");
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    }
}

#[test]
fn match_says_which_filters_match() {
    let event = |kind: u16| {
        let [id, sig] = ["5c".repeat(32), "0f".repeat(64)];
        format!(
            r#"{{"id":"{id}","pubkey":"{id}","created_at":1,"kind":{kind},"tags":[],"content":"","sig":"{sig}"}}"#
        )
    };
    let input = [
        format!(r#"["EVENT", "sub", {}]"#, event(1)) + "\r\n",
        "\n".to_owned(),
        event(2) + "\n",
        event(3) + " \t\n",
        "[\"EOSE\",\"sub\"]\n".to_owned(),
        event(1).replace("5c", "5C") + "\n",
        format!(" {}", event(1)),
    ];
    let args = ["match", "--filter", r#"{"kinds":[1,3]}"#, "--filter", r#"{"kinds":[1]}"#];
    let output = borrowire(&args, input.concat().as_bytes());
    assert_eq!(stdout(&output), input[0].clone() + &input[3] + &input[6] + "\n");
    assert_eq!(output.status.code(), Some(1), "two lines are bad");
    let told = stderr(&output);
    assert!(
        told.starts_with("-:5: event, 14 bytes, bad\n  frame.label: `EVENT` or `AUTH` expected"),
        "{told}"
    );
    assert!(
        told.contains("-:6: event, ") && told.contains("lowercase hex digit expected"),
        "{told}"
    );

    let answers =
        json_lines(&borrowire(&[&args[..], &["--json"]].concat(), input.concat().as_bytes()));
    let id = "5c".repeat(32);
    let expected = [(1, &[0, 1][..]), (4, &[0]), (7, &[0, 1])];
    let expected: Vec<_> = expected
        .map(|(line, matches)| serde_json::json!({ "line": line, "id": id, "matches": matches }))
        .into();
    assert_eq!(answers, expected);

    let lenient = borrowire(&[&args[..], &["--rules", "lenient"]].concat(), input[5].as_bytes());
    assert_eq!((stdout(&lenient), lenient.status.code()), (input[5].clone(), Some(0)));

    let file = std::env::temp_dir().join(format!("borrowire-match-{}", std::process::id()));
    fs::write(&file, event(1)).unwrap();
    let name = file.to_str().unwrap();
    let args = ["match", "--json", "--filter", "{}", name, "-"];
    let answers = json_lines(&borrowire(&args, event(2).as_bytes()));
    fs::remove_file(&file).unwrap();
    let files: Vec<_> = answers.iter().map(|answer| &answer["file"]).collect();
    assert_eq!(files, [name, "-"]);
}

#[test]
fn match_keeps_the_order_of_many_lines() {
    // Several times what a thread takes at once.
    let feed = fs::read_to_string(fixture("nostr/feed.ndjson")).unwrap();
    let input = feed.repeat(20) + "no event\n" + &feed;
    let notes = |line: &&str| line.contains(r#","kind":1,"#);
    let file = std::env::temp_dir().join(format!("borrowire-lines-{}", std::process::id()));
    fs::write(&file, &input).unwrap();
    let name = file.to_str().unwrap();
    let args = ["match", "--filter", r#"{"kinds":[1]}"#, name];
    let output = borrowire(&args, b"");
    assert!(
        output.stdout == input.split_inclusive('\n').filter(notes).collect::<String>().as_bytes()
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with(&format!("{name}:{}: event, 8 bytes, bad\n", 20 * 256 + 1))
    );
    let answers = json_lines(&borrowire(&[&args[..], &["--json"]].concat(), b""));
    fs::remove_file(&file).unwrap();
    let numbers: Vec<_> = answers.iter().map(|answer| answer["line"].as_u64().unwrap()).collect();
    let expected =
        (1..).zip(input.lines()).filter(|(_, line)| notes(line)).map(|(number, _)| number);
    assert_eq!(numbers, expected.collect::<Vec<u64>>());
}

#[test]
fn a_bad_filter_is_shown_with_a_caret() {
    let output = borrowire(&["match", "--filter", "{}", "--filter", r#"{"kinds":["1"]}"#], b"{}");
    let expected = "\
borrowire: --filter: filter, 15 bytes, bad
  filter.kinds: a whole number in digits alone expected, found `\"`, at byte 10
  00000000  7b 22 6b 69 6e 64 73 22 3a 5b 22 31 22 5d 7d     {\"kinds\":[\"1\"]}
                                          ^^
";
    assert_eq!(stderr(&output), expected);
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert_eq!(borrowire(&["match"], b"").status.code(), Some(2));
}
