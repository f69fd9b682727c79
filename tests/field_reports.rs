//! What went wrong for users of other libraries of Nostr, one test a report: the input that showed
//! it, and the right answer.

use borrowire::ErrorKind;
use borrowire::hex::Hex;
use borrowire::negentropy::{self, MessageView};
use borrowire::nostr::event::{Dialect, EventBuilder, EventView, peek_event_id};
use borrowire::nostr::fanout::EventFanout;
use borrowire::nostr::frame::peek_sub_id;
use borrowire::nostr::neg::{NegClose, NegMsg, NegView, is_portable_sub_id};
use borrowire::nostr::{
    ClientFrame, ClientMessage, Prefix, RelayFrame, RelayMessage, client, relay,
};
use bytes::Bytes;
use serde_json::{Value, json};

/// nips 354 and 1403: ids of events with control characters differ between libraries.
#[test]
fn report_12_an_id_of_another_dialect_is_told_with_its_name() {
    for (content, dialect) in [
        ("\u{1}", Dialect::Nip01Literal),
        ("\u{1f}", Dialect::Nip01Literal),
        ("\u{1f}", Dialect::Jackson),
        ("\u{7f}", Dialect::Tao),
    ] {
        let right = event(content, &json!([]));
        let view = EventView::parse(right.as_bytes()).unwrap();
        assert!(view.check_id().is_match());
        let other = view.computed_id_by(dialect);
        assert_ne!(&other, view.id());
        let claimed = right.replace(view.id_hex(), &Hex(&other).to_string());
        let check = EventView::parse(claimed.as_bytes()).unwrap().check_id();
        assert_eq!((check.is_match(), check.dialect), (false, Some(dialect)));
        assert_eq!(&check.computed, view.id());
    }
}

/// nips 1193, rust-nostr 411: a valid event with an empty tag was refused.
#[test]
fn report_13_an_empty_tag_is_read_and_hashed_as_it_stands() {
    let text = event("", &json!([[]]));
    assert!(text.contains(r#""tags":[[]]"#));
    let frame = format!(r#"["EVENT",{text}]"#);
    let view = ClientFrame::parse(frame.as_bytes()).unwrap();
    let event = view.event().unwrap().unwrap();
    assert_eq!(event.tags().map(Iterator::count).collect::<Vec<_>>(), [0]);
    assert!(event.check_id().is_match());
}

/// go-nostr 202: a parser took 64 bytes unchecked and panicked.
#[test]
fn report_14_a_frame_that_ends_within_an_id_is_incomplete() {
    let cut = br#"["EVENT",{"id":"ab"#;
    let error = ClientFrame::parse(&cut[..]).unwrap_err();
    assert_eq!(error.to_string(), "event.id: incomplete, more bytes are needed, at byte 18");
    assert!(error.is_incomplete());
    assert_eq!(peek_event_id(cut), None);
    // A frame that ends there on purpose is not.
    let frame = ClientFrame::parse(&br#"["EVENT",{"id":"ab"}]"#[..]).unwrap();
    assert!(!frame.event().unwrap().unwrap_err().is_incomplete());
}

/// nostr-php 6 and 23: `\/` and `\u` written into the canonical form changed the id.
#[test]
fn report_15_a_slash_and_letters_are_hashed_unescaped() {
    let plain = event("https://a/b é", &json!([]));
    let spelled = plain.replace("https://a/b é", r"https:\/\/a\/b \u00e9");
    assert_ne!(plain, spelled);
    for text in [&plain, &spelled] {
        let event = EventView::parse(text.as_bytes()).unwrap();
        assert_eq!(event.content(), "https://a/b é");
        assert!(event.check_id().is_match(), "{text}");
    }
    assert!(plain.contains("https://a/b é"), "what we write has no such escapes");
}

/// grain 6: `&`, `<`, `>` escaped by an HTML-safe encoder changed the id.
#[test]
fn report_16_what_html_escapes_is_written_and_hashed_as_it_is() {
    let plain = event("a&b<c>", &json!([["t", "<&>"]]));
    assert!(plain.contains("a&b<c>") && plain.contains("<&>"));
    let spelled = plain.replace("a&b<c>", r"a\u0026b\u003cc\u003e");
    for text in [&plain, &spelled] {
        assert!(EventView::parse(text.as_bytes()).unwrap().check_id().is_match(), "{text}");
    }
}

/// relayer 3: `null` in a tag was turned into text.
#[test]
fn report_17_null_in_a_tag_is_refused_and_the_tag_named() {
    let text = event("", &json!([["e", "x"]])).replace(r#"["e","x"]"#, r#"["e",null]"#);
    let frame = format!(r#"["EVENT","s",{text}]"#);
    let view = RelayFrame::parse(frame.as_bytes()).unwrap();
    let error = view.event().unwrap().unwrap_err();
    assert_eq!((error.context(), error.offset()), ("event.tags", frame.find("null").unwrap()));
    assert_eq!(view.sub().unwrap(), "s", "what is around it stays readable");
}

/// rust-nostr 147: an object as content.
#[test]
fn report_18_content_that_is_no_string_is_refused_by_name() {
    let text = event("x", &json!([])).replace(r#""content":"x""#, r#""content":{}"#);
    let frame = format!(r#"["EVENT",{text}]"#);
    let view = ClientFrame::parse(frame.as_bytes()).unwrap();
    let error = view.event().unwrap().unwrap_err();
    assert_eq!((error.context(), error.offset()), ("event.content", frame.find("{}").unwrap()));
    assert!(error.to_string().starts_with("event.content: a string expected, found `{`"));
}

/// rust-nostr 235, go-nostr 110: a third element in EOSE killed the connection.
#[test]
fn report_19_elements_behind_those_known_are_readable_and_not_fatal() {
    let view = RelayFrame::parse(&br#"["EOSE","s",{"debug":1}]"#[..]).unwrap();
    assert!(matches!(view.message(), RelayMessage::Eose { sub } if sub == "s"));
    assert!(view.extra().map(|extra| extra.as_str()).eq([r#"{"debug":1}"#]));
}

/// nostcat 4: pretty-printed frames and trailing newlines.
#[test]
fn report_20_whitespace_may_stand_anywhere() {
    let view = RelayFrame::parse(&b"[ \"EOSE\" ,\n \"s\" ]\n"[..]).unwrap();
    assert!(matches!(view.message(), RelayMessage::Eose { sub } if sub == "s"));
    let pretty: Value = serde_json::from_str(&event("é", &json!([["t", "x"]]))).unwrap();
    let pretty = serde_json::to_string_pretty(&("EVENT", pretty)).unwrap() + "\r\n";
    let view = ClientFrame::parse(pretty.as_bytes()).unwrap();
    assert!(view.event().unwrap().unwrap().check_id().is_match());
}

/// gnost-relay 4: an empty line panicked.
#[test]
fn report_21_no_bytes_at_all_are_an_error() {
    for empty in ["", "\n", " \r\n"] {
        let client = ClientFrame::parse(empty.as_bytes()).unwrap_err();
        let relay = RelayFrame::parse(empty.as_bytes()).unwrap_err();
        assert_eq!(client, relay);
        assert_eq!((client.context(), client.offset()), ("frame", empty.len()));
        assert_eq!(peek_sub_id(empty.as_bytes()), None);
        assert!(EventView::parse(empty.as_bytes()).is_err());
        assert!(NegView::parse(empty.as_bytes()).is_err());
    }
}

/// nostrclient 39: a subscription id was spliced into JSON unescaped.
#[test]
fn report_22_every_writer_escapes_a_subscription_id() {
    let sub = "one\"two";
    let event = event("", &json!([]));
    let view = EventView::parse(Bytes::from(event)).unwrap();
    let fanout = EventFanout::new(&view);
    let mut frames = Vec::new();
    let mut written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = Vec::new();
        write(&mut frame);
        frames.push(frame);
    };
    let filters = [view.raw_json()];
    written(&|out| client::Req { sub, filters: &filters }.write(out));
    written(&|out| client::Count { sub, filters: &filters }.write(out));
    written(&|out| client::Close { sub }.write(out));
    written(&|out| relay::Event { sub, event: view.raw_json() }.write(out));
    written(&|out| relay::Eose { sub }.write(out));
    written(&|out| relay::Closed { sub, message: "" }.write(out));
    written(&|out| NegClose { sub }.write(out));
    written(&|out| out.extend(fanout.splice(sub).to_vec()));
    for frame in frames {
        let value: Value = serde_json::from_slice(&frame).unwrap();
        assert_eq!(value[1], sub);
        assert_eq!(peek_sub_id(&frame).unwrap(), sub);
    }
}

/// strfry 42: a relay refused a Japanese subscription id.
#[test]
fn report_23_any_subscription_id_is_read_and_whether_all_take_it_can_be_asked() {
    let sub = "日本";
    for frame in ["[\"REQ\",\"日本\",{}]", r#"["REQ","\u65e5\u672c",{}]"#] {
        let view = ClientFrame::parse(frame.as_bytes()).unwrap();
        assert!(matches!(view.message(), ClientMessage::Req { sub: read, .. } if read == sub));
        assert!(!is_portable_sub_id(&view.sub().unwrap().to_cow()));
    }
}

/// strfry 165: reply frames larger than what the peer takes.
#[test]
fn report_24_a_message_is_made_to_the_measure_of_the_peer() {
    let (sub, budget) = ("sync", 131_072);
    let fits = NegMsg::max_payload(budget, sub).unwrap();
    let len = |payload: usize| NegMsg { sub, message: vec![0; payload][..].into() }.encoded_len();
    assert!(len(fits) <= budget && len(fits + 1) > budget);
}

/// libnostr-z 6: overflowing or truncated varints.
#[test]
fn report_25_varints_are_checked() {
    let error = |message: &[u8]| MessageView::parse(message).unwrap_err().kind();
    assert!(matches!(error(&[0x61, 0x80]), ErrorKind::Truncated { .. }));
    assert_eq!(error(&[&[0x61][..], &[0xff; 11]].concat()), ErrorKind::VarintOverflow);
    assert!(negentropy::MessageView::parse(&[0x61][..]).is_ok());
}

/// Uppercase hex digits in the escapes of control characters, by one large client.
#[test]
fn report_26_an_escape_in_uppercase_is_read_and_hashed_in_lowercase() {
    let lower = event("a\u{1f}b", &json!([["t", "\u{b}"]]));
    let upper = lower.replace(r"\u001f", r"\u001F").replace(r"\u000b", r"\u000B");
    assert_ne!(lower, upper);
    let view = EventView::parse(upper.as_bytes()).unwrap();
    assert_eq!(view.content(), "a\u{1f}b");
    assert!(view.check_id().is_match());
}

/// strfry answers `["OK","?",false,…]`, and rust-nostr cannot parse it.
#[test]
fn report_27_the_id_of_an_ok_is_any_string() {
    let frame = br#"["OK","?",false,"invalid: event.id is not a string"]"#;
    let view = RelayFrame::parse(&frame[..]).unwrap();
    let RelayMessage::Ok { id, accepted, message } = view.message() else { panic!("{view}") };
    assert_eq!((id.text().as_plain(), accepted), (Some("?"), false));
    assert_eq!(id.bytes().unwrap_err().to_string(), "ok.id: 1 bytes, 64 expected, at byte 7");
    assert_eq!(message.prefix(), Some(Prefix::Invalid));
    let right = frame.strip_prefix(br#"["OK","?""#).unwrap();
    let right = [&br#"["OK",""#[..], "ab".repeat(32).as_bytes(), b"\"", right].concat();
    let view = RelayFrame::parse(&right[..]).unwrap();
    let RelayMessage::Ok { id, .. } = view.message() else { panic!("{view}") };
    assert_eq!(id.bytes(), Ok([0xab; 32]));
}

/// A scan for the first `"id":"` found the id of a nested object.
#[test]
fn report_28_the_id_is_that_of_the_event_itself() {
    let plain = event("", &json!([]));
    let nested = format!(r#"{{"meta":{{"id":"{}"}},{}"#, "00".repeat(32), &plain[1..]);
    let id = *EventView::parse(plain.as_bytes()).unwrap().id();
    let frame = format!(r#"["EVENT","id",{nested}]"#);
    assert_eq!(peek_event_id(frame.as_bytes()), Some(id));
    let view = RelayFrame::parse(frame.as_bytes()).unwrap();
    let event = view.event().unwrap().unwrap();
    assert_eq!(event.id(), &id);
    assert!(event.check_id().is_match());
}

/// An event as we write it, with its right id.
fn event(content: &str, tags: &Value) -> String {
    let texts: Vec<Vec<&str>> = tags
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect())
        .collect();
    let mut out = Vec::new();
    let builder = EventBuilder::new(1, 1_700_000_000).tags(&texts).content(content);
    builder.write(&mut out, &[2; 32], |_| [3; 64]);
    String::from_utf8(out).unwrap()
}
