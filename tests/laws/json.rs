//! Laws of JSON text: what the reader accepts, and what it makes of strings. The oracle is serde_json.

use borrowire::hex::Hex;
use borrowire::json::read::Reader;
use borrowire::json::string::{Escapes, JsonStr};
use borrowire::json::{FrameWriter, RawJson, is_clean};
use borrowire::rules::Rules;
use borrowire::{Error, ErrorKind};
use bytes::BytesMut;
use serde_json::Value;

use super::error_is_where_it_says;

/// All laws of JSON, for bytes that may be anything.
pub fn any_text(bytes: &[u8]) {
    acceptance(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        whole_number(text);
        strings(text);
        written(text);
    }
}

/// The reader and serde_json agree on what is JSON, and on which text has only not ended yet.
/// serde_json alone refuses numbers beyond f64, and it looks for four digits after `\u` before it
/// looks at them, so that it calls `"\uxx"` unfinished.
pub fn acceptance(bytes: &[u8]) {
    let found = read(bytes);
    if let Err(error) = found {
        error_is_where_it_says(bytes, error);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(found.is_err());
        return;
    };
    assert_eq!(walk(text), found, "{text}");
    let raw = RawJson::new(text, "x");
    assert_eq!(raw.map(RawJson::as_str), found.map(|()| text));
    match (serde_json::from_str::<Value>(text), found) {
        (Ok(_), found) => assert_eq!(found, Ok(()), "{text}"),
        (Err(error), _) if error.to_string().starts_with("number out of range") => {}
        (Err(error), Ok(())) => panic!("{text}: {error}"),
        (Err(error), Err(found)) if found.is_incomplete() => {
            assert!(error.is_eof(), "{text}: {found}, but {error}");
        }
        (Err(error), Err(found)) => {
            let is_short_escape = matches!(found.kind(), ErrorKind::HexDigit { .. });
            assert!(!error.is_eof() || is_short_escape, "{text}: {found}, but {error}");
        }
    }
}

/// What stands between quotes is a string as serde_json says, and means the same.
pub fn strings(raw: &str) {
    let token = format!("\"{raw}\"");
    let read = JsonStr::from_raw(raw);
    let Ok(meant) = serde_json::from_str::<String>(&token) else {
        assert!(read.is_err(), "{token}");
        return;
    };
    let read = read.unwrap();
    assert_eq!(reader(&token).string("x").unwrap().escapes(), read.escapes());
    assert_eq!(read.raw(), raw);
    assert_eq!(read.to_string(), meant);
    assert_eq!(read.to_cow(), meant);
    assert_eq!(read.chars().collect::<String>(), meant);
    assert_eq!(read.as_plain(), (!raw.contains('\\')).then_some(raw));
    let mut appended = String::from("before");
    read.unescape_into(&mut appended);
    assert_eq!(appended, format!("before{meant}"));
    assert!(read.eq_str(&meant));
    assert!(!read.eq_str(&format!("{meant}x")));
    let canonical = serde_json::to_string(&meant).unwrap();
    assert_eq!(read.escapes() <= Escapes::Canonical, canonical == token, "{token}");
    let again = JsonStr::from_raw(&canonical[1..canonical.len() - 1]).unwrap();
    assert_eq!(again, read);
}

/// What the reader takes for a whole number, serde_json reads as a `u64`, and nothing else.
pub fn whole_number(text: &str) {
    let expected = serde_json::from_str::<u64>(text).ok();
    let mut reader = reader(text);
    let found = reader.u64("x").ok().filter(|_| reader.finish("x").is_ok());
    assert_eq!(found, expected, "{text}");
}

/// Any text, bytes and numbers are written as serde_json writes them, masked and not, whether there
/// is room for them or not.
pub fn written(text: &str) {
    let (bytes, key) = (text.as_bytes(), [0x37, 0xfa, 0x21, 0x3d]);
    let number = bytes.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let twin = (text, hex::encode(bytes), number, number as i64, number % 2 == 0);
    let twin = serde_json::to_vec(&twin).unwrap();
    let frame = FrameWriter::new((text, Hex(bytes), number, number as i64, number % 2 == 0));
    assert_eq!(frame.encoded_len(), twin.len());
    for room in [0, twin.len(), twin.len() + 64] {
        let mut out = Vec::with_capacity(room);
        frame.write(&mut out);
        assert_eq!(out, twin);
        let mut masked = BytesMut::with_capacity(room);
        frame.write_masked(&mut masked, key);
        let keys = key.iter().cycle();
        assert!(masked.iter().zip(keys).map(|(byte, key)| byte ^ key).eq(out));
    }
    assert_eq!(is_clean(text), text.len() + 2 == serde_json::to_string(text).unwrap().len());
}

fn reader(text: &str) -> Reader<'_> {
    Reader::new(text.as_bytes(), &Rules::STRICT, "x").unwrap()
}

/// Reads one value by skipping it.
fn read(bytes: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(bytes, &Rules::STRICT, "x")?;
    let span = reader.skip("x")?;
    assert_eq!(span.range().end, reader.position());
    reader.finish("x")
}

/// Reads one value by walking into every container.
fn walk(text: &str) -> Result<(), Error> {
    fn value(reader: &mut Reader<'_>) -> Result<(), Error> {
        match reader.peek("x")? {
            b'[' => {
                let mut array = reader.array("x")?;
                while array.next(reader, "x")? {
                    value(reader)?;
                }
                Ok(())
            }
            b'{' => {
                let mut object = reader.object("x")?;
                while object.next(reader, "x")?.is_some() {
                    value(reader)?;
                }
                Ok(())
            }
            b'"' => reader.string("x").map(drop),
            b'-' | b'0'..=b'9' => reader.number("x").map(drop),
            b't' | b'f' => reader.bool("x").map(drop),
            _ => reader.skip("x").map(drop),
        }
    }
    let mut reader = Reader::from_text(text, &Rules::STRICT, "x")?;
    value(&mut reader)?;
    reader.finish("x")
}

#[cfg(test)]
mod driven {
    use borrowire::rules::Limits;
    use proptest::prelude::*;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn the_committed_corpus() {
        corpus("json").iter().for_each(|text| any_text(text));
    }

    #[test]
    fn damaged_frames() {
        for frame in FRAMES {
            every_damage(frame.as_bytes(), acceptance);
        }
    }

    #[test]
    fn texts_of_the_grammar() {
        for text in ACCEPTED {
            acceptance(text.as_bytes());
            assert_eq!(read(text.as_bytes()), Ok(()), "{text}");
            assert_eq!(walk(text), Ok(()), "{text}");
        }
        for text in REFUSED {
            acceptance(text.as_bytes());
            let error = read(text.as_bytes()).expect_err(text);
            assert!(!error.is_incomplete(), "{text}: {error}");
            assert_eq!(walk(text), Err(error), "{text}");
        }
    }

    #[test]
    fn nesting_is_as_deep_as_serde_json_takes_it() {
        for (open, close) in [("[", "]"), ("{\"\":", "}"), ("[{\"\":[", "]}]")] {
            for count in [1, 41, 42, 43, 126, 127, 128, 129, 100_000] {
                let inner = if open.ends_with(':') { "0" } else { "" };
                let text = format!("{}{inner}{}", open.repeat(count), close.repeat(count));
                acceptance(text.as_bytes());
                let depth = count * close.len();
                match read(text.as_bytes()) {
                    Ok(()) => assert!(depth <= 127, "{depth}"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::TooDeep { limit: 127 });
                        assert!(depth > 127, "{depth}");
                    }
                }
            }
        }
        let siblings = format!("[{}0]", "[[]],{},".repeat(1000));
        assert_eq!(read(siblings.as_bytes()), Ok(()));
        assert_eq!(walk(&siblings), Ok(()));
    }

    #[test]
    fn limits_are_kept() {
        let mut limits = Limits::DEFAULT;
        limits.json_depth = 2;
        limits.frame = 8;
        let read = |text: &str| {
            let mut reader = Reader::new(text.as_bytes(), &Rules::STRICT.with_limits(limits), "x")?;
            reader.skip("x").map(drop)
        };
        assert_eq!(read("[[],{}]"), Ok(()));
        assert_eq!(read("[[[]]]").unwrap_err().to_string(), "x: nested deeper than 2, at byte 2");
        let long = read("\"1234567\"").unwrap_err();
        assert_eq!(long.to_string(), "x: 9 bytes, at most 8 allowed, at byte 0");

        limits.json_depth = u32::MAX;
        limits.frame = u32::MAX;
        let rules = Rules::STRICT.with_limits(limits);
        let deep = "[".repeat(1000);
        let error = Reader::new(deep.as_bytes(), &rules, "x").unwrap().skip("x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooDeep { limit: 127 });
        assert_eq!(error.offset(), 127);
    }

    #[test]
    fn every_prefix_of_a_frame_is_incomplete() {
        for frame in FRAMES {
            assert_eq!(read(frame.as_bytes()), Ok(()), "{frame}");
            for len in 0..frame.len() {
                let error = read(&frame.as_bytes()[..len]).unwrap_err();
                assert!(error.is_incomplete(), "{len} bytes of {frame}: {error}");
                acceptance(&frame.as_bytes()[..len]);
            }
            for after in ["x", "[]", ",", "\0", "\u{feff}"] {
                let error = read(format!("{frame} {after}").as_bytes()).unwrap_err();
                assert_eq!(error.offset(), frame.len() + 1);
                assert!(error.to_string().contains("the end expected"), "{error}");
            }
            assert_eq!(read(format!("\t{frame}\r\n").as_bytes()), Ok(()));
        }
    }

    #[test]
    fn what_no_more_bytes_can_mend_is_not_incomplete() {
        for cut in [r#"["\udc00"#, r#"["\ud83d\u0041"#, r#"["\x"#, "[01", "[1,,", "{\"a\",", "[trx"]
        {
            let error = read(cut.as_bytes()).unwrap_err();
            assert!(!error.is_incomplete(), "{cut}: {error}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8() {
        for (bytes, at) in [(&b"[\"\xff\"]"[..], 2), (b"[\"\xed\xa0\x80\"]", 2), (b"[]\xc0\xaf", 2)]
        {
            let error = read(bytes).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Utf8, at));
        }
        // A character that the end cuts in two is right inside of a string, and nowhere else.
        let error = |bytes| read(bytes).unwrap_err().to_string();
        assert!(read(b"[\"\xf0\x9f\x98").unwrap_err().is_incomplete());
        assert_eq!(error(b"[] \xc3"), "x: the end expected, found 0xc3, at byte 3");
        assert_eq!(error(b"x\xc3"), "x: a value expected, found `x`, at byte 0");
    }

    #[test]
    fn whole_numbers() {
        for (text, value) in [("0", 0), ("7", 7), ("1700000000", 1_700_000_000), (MAX, u64::MAX)] {
            for after in ["", " ", ",", "]", "}"] {
                let text = format!(" {text}{after}");
                assert_eq!(reader(&text).u64("x"), Ok(value), "{text}");
            }
        }
        let error = |text: &str| reader(text).u64("x").unwrap_err().to_string();
        for text in ["18446744073709551616", "99999999999999999999", "100000000000000000000000000"]
        {
            assert_eq!(error(text), "x: number does not fit 64 bits, at byte 0");
        }
        let decimal = "x: a whole number in digits alone expected, found";
        assert_eq!(error("-1"), format!("{decimal} `-`, at byte 0"));
        assert_eq!(error("1.0"), format!("{decimal} `.`, at byte 1"));
        assert_eq!(error("17e8"), format!("{decimal} `e`, at byte 2"));
        assert_eq!(error(" \"1\""), format!("{decimal} `\"`, at byte 1"));
        assert!(reader(" ").u64("x").unwrap_err().is_incomplete());
        let mut zero = reader("017");
        assert_eq!(zero.u64("x"), Ok(0));
        assert!(zero.finish("x").is_err());

        assert_eq!(reader("65535").u16("x"), Ok(u16::MAX));
        for text in ["65536", "4294967297", "100000000000000000000"] {
            let error = reader(text).u16("x").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutOfRange { max: 65535 });
        }
    }

    #[test]
    fn booleans() {
        assert_eq!(reader(" true").bool("x"), Ok(true));
        assert_eq!(reader("false").bool("x"), Ok(false));
        assert!(reader("fals").bool("x").unwrap_err().is_incomplete());
        let error = |text| reader(text).bool("x").unwrap_err().to_string();
        assert_eq!(error("null"), "x: `true` or `false` expected, found `n`, at byte 0");
        assert_eq!(error("trux"), "x: `true`, `false` or `null` expected, found `x`, at byte 3");
    }

    #[test]
    fn containers_are_walked_to_their_end_and_no_further() {
        let mut reader = reader(r#"{"k\u0065y": [1, 2], "tags": []} "#);
        let mut object = reader.object("x").unwrap();
        let key = object.next(&mut reader, "x").unwrap().unwrap();
        assert_eq!((key, key.raw()), (JsonStr::from_raw("key").unwrap(), r"k\u0065y"));
        let span = reader.skip("x").unwrap();
        assert_eq!(reader.slice(span), "[1, 2]");
        assert_eq!(object.next(&mut reader, "x").unwrap().unwrap(), "tags");
        let mut array = reader.array("x").unwrap();
        for _ in 0..2 {
            assert_eq!(array.next(&mut reader, "x"), Ok(false));
        }
        for _ in 0..2 {
            assert_eq!(object.next(&mut reader, "x"), Ok(None));
        }
        assert_eq!(reader.finish("x"), Ok(()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_reader_accepts_what_serde_json_accepts(value in json_value(), indent: bool) {
            let text = match indent {
                true => serde_json::to_string_pretty(&value).unwrap(),
                false => value.to_string(),
            };
            prop_assert_eq!(read(text.as_bytes()), Ok(()));
            prop_assert_eq!(walk(&text), Ok(()));
            if text.starts_with(['[', '{']) {
                for len in (0..text.len()).step_by(1 + text.len() / 64) {
                    prop_assert!(read(&text.as_bytes()[..len]).unwrap_err().is_incomplete());
                }
            }
        }

        #[test]
        fn changed_texts(value in json_value(), changes in changes()) {
            acceptance(&changed(value.to_string().as_bytes(), &changes));
        }

        #[test]
        fn changed_frames(frame in 0..FRAMES.len(), changes in changes()) {
            acceptance(&changed(FRAMES[frame].as_bytes(), &changes));
        }

        #[test]
        fn texts_of_the_right_letters(text in r#"[\[\]{},:"\\ \n0-9a-fu.eE+\-/]{0,24}"#) {
            acceptance(text.as_bytes());
            strings(&text);
        }

        #[test]
        fn noise(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            any_text(&bytes);
        }

        #[test]
        fn numbers(text in "-?[0-9]{0,22}(\\.[0-9]{0,3})?([eE][+-]?[0-9]{0,2})?") {
            acceptance(text.as_bytes());
            acceptance(format!("[{text}]").as_bytes());
            whole_number(&text);
            whole_number(&format!(" {text}\n"));
        }

        #[test]
        fn strings_of_pieces(pieces in proptest::collection::vec(string_piece(), 0..20)) {
            let text = pieces.concat();
            strings(&text);
            written(&text);
        }

        #[test]
        fn written_strings_are_canonical(text in any::<String>()) {
            let token = serde_json::to_string(&text).unwrap();
            let read = reader(&token).string("x").unwrap();
            prop_assert!(read.eq_str(&text));
            prop_assert!(read.escapes() <= Escapes::Canonical);
            written(&text);
        }
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-f0-9]{64}".prop_map(Value::from),
        ];
        scalar.prop_recursive(6, 48, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    /// Places, and what is done there: 0 cuts a byte out, 1 puts one in, 2 changes one, 3 cuts the
    /// rest off.
    fn changes() -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
        let letter = prop_oneof![
            4 => proptest::sample::select(b"[]{},:\"\\ \n\t019-+.eEutfnx\x00\x1f\x7f".as_slice()),
            1 => any::<u8>(),
        ];
        proptest::collection::vec((any::<usize>(), 0..4_u8, letter), 1..4)
    }

    fn changed(text: &[u8], changes: &[(usize, u8, u8)]) -> Vec<u8> {
        let mut text = text.to_vec();
        for &(place, change, letter) in changes {
            let at = place % text.len().max(1);
            match (change, text.get_mut(at)) {
                (1, _) | (_, None) => text.insert(at.min(text.len()), letter),
                (0, _) => drop(text.remove(at)),
                (2, Some(byte)) => *byte = letter,
                (_, _) => text.truncate(at),
            }
        }
        text
    }

    fn string_piece() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => "[ -~]{0,12}".prop_map(|text| text.replace(['"', '\\'], "")),
            4 => any::<char>().prop_map(|char| char.to_string().replace(['"', '\\'], "")),
            4 => r#"\\["\\/bfnrt]"#,
            2 => r"\\u00[0-9a-fA-F]{2}",
            2 => r"\\u[0-9a-fA-F]{4}",
            2 => r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}",
            1 => r"\\ud[89ab][0-9a-f]{2}",
            1 => r#"\\.|["\x00-\x1f]"#,
        ]
    }

    const MAX: &str = "18446744073709551615";

    const FRAMES: [&str; 7] = [
        r#"["EOSE","sub"]"#,
        r#"[ "NOTICE" , "caf\u00e9 \ud83d\ude00 é😀 \"\\\/\b\f\n\r\t" ]"#,
        r#"["OK","b1a649ebe8b435ec71d3784793f3bbf4b93e64e17568a741aecd4c7ddeafce30",true,""]"#,
        r#"["EVENT","s",{"kind":1,"tags":[["e","5c83da77"],["-"],[]],"content":"","x":{"y":[null]}}]"#,
        r#"["COUNT","q",{"count":93412452,"approximate":false,"ratio":-1.5e+10,"none":null}]"#,
        r##"["REQ","s",{"kinds":[0,1,30023],"#e":[],"since":0},{}]"##,
        r#"{"":[{},[],[[]],{"a":{}}]}"#,
    ];

    const ACCEPTED: [&str; 22] = [
        "[]",
        "{}",
        " [ ] ",
        "\t{\r\n}",
        "null",
        "true",
        "false",
        "\"\"",
        "0",
        "-0",
        "12",
        "-1.5",
        "1e5",
        "1E+5",
        "1.25e-5",
        "0e0",
        "[1,2 , 3]",
        r#"{"a":1 , "a" : 2}"#,
        r#"["\u0000"]"#,
        "[\"\u{7f}\u{2028}\u{ffff}\"]",
        r#"["\ud83d\ude00"]"#,
        "[[],{},\"\",0,null]",
    ];

    const REFUSED: [&str; 45] = [
        "[,]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,,2]",
        "{,}",
        "{1:2}",
        "{\"a\"}",
        "{\"a\",1}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{'a':1}",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "]",
        "}",
        "[]]",
        "[] []",
        "nul1",
        "True",
        "NaN",
        "[-]",
        "[+1]",
        "[01]",
        "[-01]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[1e+]",
        "[0x1]",
        "[1.e1]",
        "[\"\n\"]",
        "[\"\t\"]",
        "[\"\0\"]",
        r#"["\x"]"#,
        r#"["\u12g4"]"#,
        r#"["\ud800"]"#,
        r#"["\udc00\ud800"]"#,
        "\u{feff}[]",
        "\u{a0}[]",
        "/**/[]",
    ];
}
