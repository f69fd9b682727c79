//! Laws of the frames that carry negentropy (NIP-77). The oracles are serde_json and the `hex` crate.

use borrowire::json::{CleanStr, HexStr, HexText, RawJson};
use borrowire::nostr::neg::{
    NegClose, NegErr, NegKind, NegMsg, NegOpen, NegView, decode_msg, is_portable_sub_id,
};
use borrowire::output::Output;
use borrowire::{Error, ErrorKind};
use bytes::{Bytes, BytesMut};
use serde_json::Value;

use super::error_is_where_it_says;

/// All laws of a NEG frame, for bytes that may be anything.
pub fn any_frame(frame: &[u8]) {
    let read = NegView::parse(frame);
    read_as_serde_json_reads_it(frame, &read);
    decode_msg_is_the_long_way(frame, &read);
    match read {
        Ok(view) => {
            view_is_whole(frame, &view);
            what_is_read_can_be_written(&view);
            prefixes_are_incomplete(frame);
        }
        Err(error) => error_is_where_it_says(frame, error),
    }
}

/// The four frames of these parts are what serde_json writes, and are read back.
pub fn written_is_read_back(parts: &Parts) {
    let Parts { sub, filter, number, message, reason } = parts;
    let (sub, filter_text, digits) = (&**sub, filter.to_string(), hex::encode(message));
    let filter_json = RawJson::new(&filter_text, "filter").unwrap();
    let by_digits = HexStr::new(&digits, "digits").unwrap();
    for message in [HexText::from(&**message), by_digits.into()] {
        let open = NegOpen { sub, filter: filter_json, id_size: *number, message };
        match number {
            Some(number) => written(&open, &("NEG-OPEN", sub, filter, number, &digits), parts),
            None => written(&open, &("NEG-OPEN", sub, filter, &digits), parts),
        }
        written(&NegMsg { sub, message }, &("NEG-MSG", sub, &digits), parts);
    }
    written(&NegClose { sub }, &("NEG-CLOSE", sub), parts);
    let err = NegErr { sub, reason, max_records: *number };
    match number {
        Some(number) => written(&err, &("NEG-ERR", sub, reason, number), parts),
        None => written(&err, &("NEG-ERR", sub, reason), parts),
    }
}

/// A wrong digit is named with its byte, and so is an odd number of digits.
pub fn hex_faults_are_named(sub: &str, message: &[u8], place: usize, wrong: char) {
    let mut frame = String::from_utf8(bytes_of(&NegMsg { sub, message: message.into() })).unwrap();
    let end = frame.len() - "\"]".len();
    let start = end - 2 * message.len();
    let check = |frame: &str, kind, at| {
        let error = NegView::parse(frame.as_bytes()).unwrap_err();
        assert_eq!((error.kind(), error.offset(), error.context()), (kind, at, "neg.message"));
        any_frame(frame.as_bytes());
    };
    if message.is_empty() {
        return;
    }
    let mut odd = frame.clone();
    odd.remove(end - 1);
    let found = 2 * message.len() as u32 - 1;
    check(&odd, ErrorKind::HexOddLength { found }, end - 1);

    let at = start + place % (end - start);
    let spelled = serde_json::to_string(&wrong).unwrap();
    let spelled = spelled.trim_matches('"').to_owned();
    match wrong {
        '0'..='9' | 'a'..='f' | '"' => {}
        _ => {
            let found = spelled.as_bytes()[0];
            let kind = match found {
                b'\\' => ErrorKind::HexEscape,
                found => ErrorKind::HexDigit { found },
            };
            frame.replace_range(at..=at, &spelled);
            check(&frame, kind, at);
        }
    }
}

/// What every relay takes goes out as it is, and reads as it is.
pub fn portable_sub_ids_are_spelled_as_they_are(sub: &str) {
    let is_plain = |char| matches!(char, ' '..='~') && !['"', '\\'].contains(&char);
    let is_portable = (1..=64).contains(&sub.chars().count()) && sub.chars().all(is_plain);
    assert_eq!(is_portable_sub_id(sub), is_portable);
    if is_portable {
        assert!(CleanStr::new(sub).is_some());
        let frame = bytes_of(&NegClose { sub });
        assert_eq!(frame, format!("[\"NEG-CLOSE\",\"{sub}\"]").as_bytes());
        assert_eq!(NegView::parse(&frame[..]).unwrap().sub().as_plain(), Some(sub));
    }
}

/// What the four frames are made of.
#[derive(Clone, Debug)]
pub struct Parts {
    pub sub: String,
    /// An object, nested at most 126 deep: the frame around it is one level more.
    pub filter: Value,
    pub number: Option<u64>,
    pub message: Vec<u8>,
    pub reason: String,
}

/// What a frame holds, as serde_json and the `hex` crate say.
#[derive(Debug, PartialEq)]
struct Elements {
    kind: NegKind,
    sub: String,
    filter: Option<Value>,
    reason: Option<String>,
    message: Option<Vec<u8>>,
    number: Option<u64>,
}

impl Elements {
    fn of_value(frame: &Value) -> Option<Self> {
        let element = |i| frame.as_array()?.get(i);
        let text = |i| element(i).and_then(Value::as_str);
        let kind = match text(0)? {
            "NEG-OPEN" => NegKind::Open,
            "NEG-MSG" => NegKind::Msg,
            "NEG-CLOSE" => NegKind::Close,
            "NEG-ERR" => NegKind::Err,
            _ => return None,
        };
        let sub = text(1)?.to_owned();
        let mut elements =
            Self { kind, sub, filter: None, reason: None, message: None, number: None };
        match kind {
            NegKind::Open => {
                elements.filter = Some(element(2).filter(|filter| filter.is_object())?.clone());
                elements.number = element(3).and_then(Value::as_u64);
                let message = if elements.number.is_some() { text(4) } else { text(3) };
                elements.message = Some(lowercase_hex(message?)?);
            }
            NegKind::Msg => elements.message = Some(lowercase_hex(text(2)?)?),
            NegKind::Close => {}
            NegKind::Err => {
                elements.reason = Some(text(2)?.to_owned());
                elements.number = element(3).and_then(Value::as_u64);
            }
        }
        Some(elements)
    }

    fn of_view(view: &NegView<&[u8]>) -> Self {
        let mut message = Vec::new();
        view.decode_message(&mut message);
        assert!(view.message().is_some() || message.is_empty());
        assert!(view.id_size().is_none() || view.max_records().is_none());
        let filter = view.filter().map(|filter| serde_json::from_str(filter.as_str()).unwrap());
        Self {
            kind: view.kind(),
            sub: view.sub().to_string(),
            filter,
            reason: view.reason().map(|reason| reason.to_string()),
            message: view.message().map(|_| message),
            number: view.id_size().or(view.max_records()),
        }
    }
}

fn lowercase_hex(text: &str) -> Option<Vec<u8>> {
    let has_uppercase = text.contains(|char: char| char.is_ascii_uppercase());
    hex::decode(text).ok().filter(|_| !has_uppercase)
}

/// A frame is accepted if serde_json reads an array of the right shape with lowercase hex in it, and
/// it then holds the same. Two exceptions: serde_json alone refuses numbers beyond f64, so such
/// frames are left out; and hex that is spelled with escapes is refused by that name.
fn read_as_serde_json_reads_it(frame: &[u8], read: &Result<NegView<&[u8]>, Error>) {
    let value = serde_json::from_slice::<Value>(frame);
    if let Err(error) = &value
        && error.to_string().starts_with("number out of range")
    {
        return;
    }
    let expected = value.as_ref().ok().and_then(Elements::of_value);
    match (read, expected) {
        (Ok(view), expected) => assert_eq!(Some(Elements::of_view(view)), expected),
        (Err(error), _) if error.kind() == ErrorKind::HexEscape => {
            assert_eq!(error.context(), "neg.message");
        }
        (Err(error), Some(expected)) => panic!("{error}, but serde_json reads {expected:?}"),
        (Err(error), None) => {
            let is_text = std::str::from_utf8(frame).is_ok();
            let is_cut = value.is_err_and(|error| error.is_eof());
            assert!(!error.is_incomplete() || is_cut || !is_text, "{error}");
        }
    }
}

/// The short way to the binary of a NEG-MSG gives the answer of the long one.
fn decode_msg_is_the_long_way(frame: &[u8], read: &Result<NegView<&[u8]>, Error>) {
    let mut out = b"before".to_vec();
    let mut shared = BytesMut::from(&out[..]);
    let decoded = decode_msg(frame, &mut out);
    let decoded_again = decode_msg(frame, &mut shared);
    assert_eq!(out, shared);
    assert_eq!(decoded, decoded_again);
    let mut expected = b"before".to_vec();
    match (read, decoded) {
        (Ok(view), Ok(sub)) => {
            assert_eq!(view.kind(), NegKind::Msg);
            assert_eq!((sub.raw(), sub.escapes()), (view.sub().raw(), view.sub().escapes()));
            view.decode_message(&mut expected);
        }
        (Ok(view), Err(error)) => {
            assert_ne!(view.kind(), NegKind::Msg);
            assert!(matches!(error.kind(), ErrorKind::Unexpected { .. }), "{error}");
            assert_eq!(error.context(), "neg.label");
            assert_eq!(frame[error.offset() - 1], b'"');
            error_is_where_it_says(frame, error);
        }
        (Err(error), Err(other)) => assert_eq!(*error, other),
        (Err(error), Ok(_)) => panic!("decoded what the view refuses: {error}"),
    }
    assert_eq!(out, expected);
}

/// A view gives the frame back, and a copy of it is equal and lies elsewhere.
fn view_is_whole(frame: &[u8], view: &NegView<&[u8]>) {
    assert_eq!(view.raw(), frame);
    assert_eq!(view.buffer().as_ptr(), frame.as_ptr());
    let detached = view.detach();
    assert_eq!(detached, *view);
    assert_eq!(*view, detached);
    assert_eq!(detached.raw(), frame);
    assert_ne!(detached.raw().as_ptr(), frame.as_ptr());
    assert_eq!(NegView::try_from(Bytes::copy_from_slice(frame)).as_ref(), Ok(&detached));
    assert!(view.to_string().starts_with(view.kind().label()));
    assert_eq!(format!("{view:?}"), format!("{detached:?}"));
}

/// The frame that is written from a view is equal to it, and in the spelling that stays.
fn what_is_read_can_be_written(view: &NegView<&[u8]>) {
    let first = written_anew(view);
    let again = NegView::parse(&first[..]).unwrap();
    assert_eq!(again, *view);
    assert_eq!(written_anew(&again), first);
}

fn written_anew(view: &NegView<&[u8]>) -> Vec<u8> {
    let (sub, reason) = (view.sub().to_cow(), view.reason().map(|reason| reason.to_cow()));
    let (sub, message) = (&*sub, view.message().map(HexText::from));
    match (view.kind(), view.filter(), message, reason) {
        (NegKind::Open, Some(filter), Some(message), None) => {
            bytes_of(&NegOpen { sub, filter, id_size: view.id_size(), message })
        }
        (NegKind::Msg, None, Some(message), None) => bytes_of(&NegMsg { sub, message }),
        (NegKind::Close, None, None, None) => bytes_of(&NegClose { sub }),
        (NegKind::Err, None, None, Some(reason)) => {
            bytes_of(&NegErr { sub, reason: &reason, max_records: view.max_records() })
        }
        parts => panic!("a frame of the wrong parts: {parts:?}"),
    }
}

/// A frame that ends before its closing bracket is incomplete: all prefixes of a short frame, some of
/// a long one.
fn prefixes_are_incomplete(frame: &[u8]) {
    let end = frame.iter().rposition(|byte| *byte == b']').unwrap();
    let step = 1 + end / 48;
    for len in (0..end).step_by(step).chain([end]) {
        let error = NegView::parse(&frame[..len]).unwrap_err();
        assert!(error.is_incomplete(), "{len} bytes of {}: {error}", frame.escape_ascii());
        assert!(error.offset() <= len);
        let mut out = Vec::new();
        assert_eq!(decode_msg(&frame[..len], &mut out), Err(error));
        assert!(out.is_empty());
    }
    assert!(NegView::parse(&frame[..=end]).is_ok());
}

/// A frame is serde_json's tuple, byte for byte, however much room there is; is as long as it says;
/// and is read back.
fn written(frame: &impl WriteFrame, twin: &impl serde::Serialize, parts: &Parts) {
    let twin = serde_json::to_vec(twin).unwrap();
    assert_eq!(bytes_of(frame), twin);
    assert_eq!(frame.encoded_len(), twin.len());
    let mut out = BytesMut::from(&b"before"[..]);
    frame.write(&mut out);
    assert_eq!(out[6..], twin);

    let key = [0x37, 0xfa, 0x21, 0x3d];
    let mut masked = b"before".to_vec();
    frame.write_masked(&mut masked, key);
    let keys = key.iter().cycle();
    assert!(masked[6..].iter().zip(keys).map(|(byte, key)| byte ^ key).eq(twin.iter().copied()));

    let view = NegView::parse(&twin[..]).unwrap();
    assert!(view.sub().eq_str(&parts.sub));
    let filter = parts.filter.to_string();
    assert!(view.filter().is_none_or(|found| found.as_str() == filter));
    let digits = hex::encode(&parts.message);
    assert!(view.message().is_none_or(|found| found.as_str() == digits));
    assert!(view.reason().is_none_or(|reason| reason.eq_str(&parts.reason)));
    let has_number = matches!(view.kind(), NegKind::Open | NegKind::Err);
    assert_eq!(view.id_size().or(view.max_records()), parts.number.filter(|_| has_number));
    any_frame(&twin);
}

fn bytes_of(frame: &impl WriteFrame) -> Vec<u8> {
    let mut out = Vec::new();
    frame.write(&mut out);
    out
}

/// The methods that the four writers share.
trait WriteFrame {
    fn encoded_len(&self) -> usize;
    fn write<O: Output>(&self, out: &mut O);
    fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]);
}

macro_rules! write_frame {
    ($($frame:ident)*) => {$(
        impl WriteFrame for $frame<'_> {
            fn encoded_len(&self) -> usize {
                self.encoded_len()
            }

            fn write<O: Output>(&self, out: &mut O) {
                self.write(out);
            }

            fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
                self.write_masked(out, key);
            }
        }
    )*};
}

write_frame!(NegOpen NegMsg NegClose NegErr);

#[cfg(test)]
mod driven {
    use borrowire::rules::Rules;
    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn the_fixtures() {
        let mut kinds = Vec::new();
        for case in fixtures() {
            let frame = case["frame"].as_str().unwrap().as_bytes();
            any_frame(frame);
            let read = NegView::parse(frame);
            match &case["error"] {
                Value::Null => {
                    let view = read.unwrap();
                    let hex = |hex: HexStr<'_>| hex.as_str().to_owned();
                    assert_eq!(view.kind().label(), case["label"], "{case}");
                    assert!(view.sub().eq_str(case["sub"].as_str().unwrap()), "{case}");
                    assert_eq!(json!(view.message().map(hex)), case["message"], "{case}");
                    let filter = view.filter().map(|filter| filter.as_str().to_owned());
                    assert_eq!(json!(filter), case["filter"], "{case}");
                    assert_eq!(json!(view.id_size()), case["id_size"], "{case}");
                    let reason = view.reason().map(|reason| reason.to_string());
                    assert_eq!(json!(reason), case["reason"], "{case}");
                    assert_eq!(json!(view.max_records()), case["max_records"], "{case}");
                    kinds.push(view.kind().label());
                }
                error => {
                    let found = read.expect_err(&case.to_string());
                    let found = json!([found.kind().name(), found.context(), found.offset()]);
                    assert_eq!(found, *error, "{case}");
                }
            }
        }
        for kind in ["NEG-OPEN", "NEG-MSG", "NEG-CLOSE", "NEG-ERR"] {
            assert!(kinds.contains(&kind), "no fixture of {kind}");
        }
    }

    #[test]
    fn damaged_fixtures() {
        for case in fixtures() {
            let frame = case["frame"].as_str().unwrap();
            if frame.len() < 60 {
                every_damage(frame.as_bytes(), any_frame);
            }
        }
    }

    #[test]
    fn the_committed_corpus() {
        corpus("neg_frame").iter().for_each(|frame| any_frame(frame));
    }

    /// The first ten are the battery of Quartz (`NegMsgSerializationBenchmark.kt`); the others are
    /// the edges that it leaves out.
    #[test]
    fn sub_ids_at_the_edges() {
        let (long, longer) = ("a".repeat(64), "a".repeat(65));
        let portable = ["bench-sync", "sub_123", &*long, " ", "~", "/", "<&>'", "[]{},:"];
        let others = [
            "",
            "with\"quote",
            "with\\backslash",
            "tab\there",
            "new\nline",
            "unicode-é中",
            "ctrl\u{1}char",
            "\u{7f}",
            "\u{1f}",
            "\u{b}",
            "nul\0",
            "\u{2028}\u{2029}",
            "\u{ffff}",
            "\u{feff}bom",
            "🦊 日本",
            "\",\"x",
            "\"],[\"NEG-MSG\",\"",
            "\\u0061",
            "\r\u{8}\u{c}",
            &longer,
            &"é".repeat(33),
        ];
        for sub in portable {
            assert!(is_portable_sub_id(sub), "{sub}");
            portable_sub_ids_are_spelled_as_they_are(sub);
        }
        for sub in others {
            assert!(!is_portable_sub_id(sub), "{sub}");
            portable_sub_ids_are_spelled_as_they_are(sub);
        }
        for sub in portable.into_iter().chain(others) {
            for len in [0, 1, 15, 16, 17, 31, 32, 33, 1024] {
                written_is_read_back(&Parts {
                    sub: sub.to_owned(),
                    filter: json!({ "kinds": [1], "#e": ["\u{1f}\"é"] }),
                    number: (len % 2 == 0).then_some(u64::MAX >> len.min(63)),
                    message: noise(len),
                    reason: format!("blocked: {sub}"),
                });
            }
            for wrong in ['G', 'A', 'F', ' ', '/', ':', '`', 'g', '\u{7f}', 'é', '\n', '\\', '\0']
            {
                hex_faults_are_named(sub, &noise(33), wrong as usize, wrong);
            }
        }
    }

    #[test]
    fn a_frame_of_half_a_million_bytes() {
        // The most that strfry and geode put into one message.
        let message = noise(500_000);
        let digits = hex::encode(&message);
        let twin = serde_json::to_vec(&("NEG-MSG", "bench-sync", &digits)).unwrap();
        let frame = NegMsg { sub: "bench-sync", message: (&*message).into() };
        assert!(bytes_of(&frame) == twin);
        assert_eq!(frame.encoded_len(), twin.len());
        let mut decoded = Vec::new();
        assert!(decode_msg(&twin, &mut decoded).unwrap().eq_str("bench-sync"));
        assert!(decoded == message);
        let view = NegView::parse(&twin[..]).unwrap();
        assert!(view.message().unwrap().as_str() == digits);
        for at in [25, 500_000, twin.len() - 3] {
            let mut damaged = twin.clone();
            damaged[at] = b'x';
            let error = NegView::parse(&damaged[..]).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::HexDigit { found: b'x' }, at));
            assert_eq!(decode_msg(&damaged, &mut decoded), Err(error));
        }
        assert!(decoded == message);
    }

    #[test]
    fn a_filter_may_be_nested_until_the_frame_is_too_deep() {
        for depth in 124..128 {
            let filter = format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
            let filter = RawJson::new(&filter, "filter").unwrap();
            let frame =
                bytes_of(&NegOpen { sub: "s", filter, id_size: None, message: HexText::EMPTY });
            any_frame(&frame);
            let read = NegView::parse(&frame[..]).map(drop).map_err(|error| error.kind());
            let too_deep = Err(ErrorKind::TooDeep { limit: 127 });
            assert_eq!(read, if depth < 127 { Ok(()) } else { too_deep });
        }
    }

    #[test]
    fn limits_are_kept() {
        let mut limits = *Rules::STRICT.limits();
        limits.frame = 20;
        limits.json_depth = 1;
        let rules = Rules::STRICT.with_limits(limits);
        let error =
            |frame: &str| NegView::parse_with(frame.as_bytes(), &rules).unwrap_err().to_string();
        assert!(NegView::parse_with(&br#"["NEG-MSG","s","61"]"#[..], &rules).is_ok());
        let long = error(r#"["NEG-MSG","s","6100"]"#);
        assert_eq!(long, "neg: 22 bytes, at most 20 allowed, at byte 0");
        assert_eq!(error(r#"["NEG-CLOSE","",[]]"#), "neg: nested deeper than 1, at byte 16");
    }

    #[test]
    fn frames_are_equal_by_meaning() {
        let view = |frame: &'static str| NegView::parse(frame.as_bytes()).unwrap();
        let msg = view(r#"["NEG-MSG","s","61"]"#);
        assert_eq!(msg, view("[ \"NEG-MSG\" , \"s\" , \"61\" ]\n"));
        assert_eq!(msg, view(r#"["NEG\u002dMSG","\u0073","61",{"more":[1]},null]"#));
        assert_ne!(msg, view(r#"["NEG-MSG","t","61"]"#));
        assert_ne!(msg, view(r#"["NEG-MSG","s","62"]"#));
        assert_ne!(view(r#"["NEG-CLOSE","s"]"#), view(r#"["NEG-ERR","s",""]"#));
        assert_ne!(view(r#"["NEG-ERR","s","a"]"#), view(r#"["NEG-ERR","s","a",0]"#));
        assert_ne!(view(r#"["NEG-ERR","s","a"]"#), view(r#"["NEG-ERR","s","b"]"#));
        assert_eq!(view(r#"["NEG-ERR","s","a"]"#), view(r#"["NEG-ERR","s","\u0061",-1]"#));
        let open = view(r#"["NEG-OPEN","s",{},"61"]"#);
        assert_ne!(open, view(r#"["NEG-OPEN","s",{},16,"61"]"#));
        assert_ne!(open, view(r#"["NEG-OPEN","s",{ },"61"]"#));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn frames_of_any_parts(parts in parts()) {
            written_is_read_back(&parts);
        }

        #[test]
        fn any_sub_id(sub in prop_oneof![any::<String>(), "[ -~]{0,70}"]) {
            portable_sub_ids_are_spelled_as_they_are(&sub);
        }

        #[test]
        fn hex_faults(
            sub in any::<String>(),
            message in vec(any::<u8>(), 0..100),
            place: usize,
            wrong: char,
            ascii in b' '..=b'~',
        ) {
            hex_faults_are_named(&sub, &message, place, wrong);
            hex_faults_are_named(&sub, &message, place, char::from(ascii));
        }

        /// Elements that are right more often than not, in any order and number, with whitespace.
        #[test]
        fn loose_frames(
            label in label(),
            elements in vec(element(), 0..6),
            spaces in vec(prop::sample::select(vec!["", "", "", " ", "\n", "\t\r "]), 1..8),
            end in prop::sample::select(vec!["]", "]", "]", "]", "", "]]", ",]", "] x"]),
        ) {
            let mut frame = String::from("[");
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
            bytes in vec(any::<u8>(), 0..20),
            at in 0..FRAME.len(),
            cut in 0..4_usize,
        ) {
            let mut frame = FRAME.to_vec();
            frame.splice(at..(at + cut).min(FRAME.len()), bytes);
            any_frame(&frame);
        }
    }

    fn parts() -> impl Strategy<Value = Parts> {
        let filter = btree_map(any::<String>(), filter_value(), 0..4);
        let number = prop_oneof![Just(0), 0..100_u64, any::<u64>()];
        let message = prop_oneof![3 => vec(any::<u8>(), 0..70), 1 => vec(any::<u8>(), 0..2000)];
        (any::<String>(), filter, option::of(number), message, any::<String>()).prop_map(
            |(sub, filter, number, message, reason)| {
                let filter = filter.into_iter().collect();
                Parts { sub, filter: Value::Object(filter), number, message, reason }
            },
        )
    }

    fn filter_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            vec(0..40_000_u32, 0..3).prop_map(Value::from),
            vec("[0-9a-f]{64}", 0..3).prop_map(Value::from),
            Just(json!({ "deeper": [[{}]], "none": null })),
        ]
    }

    fn label() -> impl Strategy<Value = String> {
        let labels = [
            "\"NEG-OPEN\"",
            "\"NEG-MSG\"",
            "\"NEG-CLOSE\"",
            "\"NEG-ERR\"",
            "\"N\\u0045G-MSG\"",
            "\"NEG-OPE\"",
            "\"EVENT\"",
            "1",
        ];
        prop::sample::select(labels.to_vec()).prop_map(str::to_owned)
    }

    fn element() -> impl Strategy<Value = String> {
        prop_oneof![
            3 => "\"([0-9a-f]{2}){0,20}\"",
            1 => "\"[0-9a-fA-F]{0,8}\"",
            1 => any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            1 => r#""(\\u00[0-9a-f]{2}|\\[nt"/]|6)*""#,
            2 => r#"\{("kinds":\[[0-9]{1,3}\])?\}"#,
            1 => "-?(0|[1-9][0-9]{0,22})(\\.[0-9])?(e[0-9]{1,3})?",
            1 => "(null|true|\\[\\]|\\[1,\\{\\}\\]|tru|01|\\{|)",
        ]
    }

    fn fixtures() -> Vec<Value> {
        let lines = include_str!("../../fixtures/nostr/neg-frames.ndjson").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Bytes of SplitMix64.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 14_u64;
        let next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    const FRAME: &[u8] = br#"["NEG-OPEN","s\u00e9",{"kinds":[1]},16,"6100000200",null]"#;
}
