//! What users can rely on beside behaviour: sizes, threads, the texts of errors.

use std::sync::{Arc, Barrier};
use std::thread;

use borrowire::buffer::Text;
use borrowire::json::{HexText, JsonStr, RawJson};
use borrowire::nostr::event::{EventBuilder, EventView};
use borrowire::nostr::fanout::{EventFanout, EventFrames};
use borrowire::nostr::filter::{CompiledFilter, Filter, FilterSet, FilterView, Visited};
use borrowire::nostr::neg::{NegMsg, NegOpen, NegView, decode_msg};
use borrowire::nostr::seen::SeenIds;
use borrowire::nostr::{ClientFrame, Reason, RelayFrame};
use borrowire::rules::{Limits, Rules};
use borrowire::waku::{GossipId, MessageHash, MessageView};
use borrowire::{Envelope, Error, ErrorKind, waku};
use bytes::Bytes;

#[test]
fn sizes() {
    assert_eq!(size_of::<FilterView>(), 128);
    assert_eq!(size_of::<FilterView<&[u8]>>(), 112);
    assert_eq!(size_of::<Error>(), 32);
    assert_eq!(size_of::<Result<(), Error>>(), 32);
    assert_eq!(size_of::<MessageView>(), 88);
    assert_eq!(size_of::<MessageView<&[u8]>>(), 72);
    assert_eq!(size_of::<Envelope>(), 200);
    assert_eq!(size_of::<NegView>(), 88);
    assert_eq!(size_of::<NegView<&[u8]>>(), 72);
    assert_eq!(size_of::<JsonStr<'_>>(), 24);
    assert_eq!(size_of::<NegMsg<'_>>(), 40);
    assert_eq!(size_of::<NegOpen<'_>>(), 72);
    assert_eq!(size_of::<EventView>(), 240);
    assert_eq!(size_of::<ClientFrame>(), 256);
    assert_eq!(size_of::<RelayFrame<&[u8]>>(), 240);
}

#[test]
fn what_crosses_threads() {
    fn crosses<T: Send + Sync + Clone + 'static>() {}
    crosses::<FilterView>();
    crosses::<FilterView<&'static [u8]>>();
    crosses::<Filter<'static>>();
    crosses::<CompiledFilter>();
    crosses::<FilterSet<u64>>();
    crosses::<Visited>();
    crosses::<MessageView>();
    crosses::<MessageView<&'static [u8]>>();
    crosses::<waku::store::QueryRequestView>();
    crosses::<waku::store::QueryResponseView>();
    crosses::<waku::store::KeyValueView>();
    crosses::<waku::transfer::TransferView>();
    crosses::<waku::reconciliation::RangesDataView>();
    crosses::<borrowire::splice::Splices>();
    crosses::<Envelope>();
    crosses::<NegView>();
    crosses::<NegView<&'static [u8]>>();
    crosses::<ClientFrame>();
    crosses::<ClientFrame<&'static [u8]>>();
    crosses::<RelayFrame>();
    crosses::<RelayFrame<&'static [u8]>>();
    crosses::<EventFanout>();
    crosses::<EventFrames>();
    crosses::<Reason<'static>>();
    crosses::<JsonStr<'static>>();
    crosses::<RawJson<'static>>();
    crosses::<HexText<'static>>();
    crosses::<Text>();
    crosses::<EventBuilder<'static>>();
    crosses::<SeenIds>();
    crosses::<Error>();
    crosses::<Rules>();
    crosses::<MessageHash>();
    crosses::<GossipId>();
}

#[test]
fn error_texts() {
    let strict = |frame: &[u8]| MessageView::parse(frame).unwrap_err().to_string();
    for (frame, text) in [
        (&b""[..], "waku.payload: missing, at byte 0"),
        (b"\x0a\x01\x01", "waku.content_topic: missing, at byte 3"),
        (b"\x0a\x05\x01", "waku.payload: truncated, 5 bytes needed, 1 left, at byte 2"),
        (b"\x0a", "waku.payload: truncated, 1 bytes needed, 0 left, at byte 1"),
        (b"\x12\x03ab\xff", "waku.content_topic: not UTF-8, at byte 4"),
        (b"\x0a\x82\x00ab", "waku.payload: varint is not in its shortest form, at byte 1"),
        (
            b"\x18\x80\x80\x80\x80\x10",
            "waku.version: out of range, at most 4294967295 fits, at byte 1",
        ),
        (b"\x08\x01", "waku.payload: wire type 0, 2 expected, at byte 0"),
        (b"\x00\x01", "proto.tag: field number out of range, 1 to 536870911 expected, at byte 0"),
        (b"\x2b\x2c", "proto.tag: wire type 3 (group) is refused by these rules, at byte 0"),
        (b"\x2f", "proto.tag: wire type 7 does not exist, at byte 0"),
        (&[0xff; 11], "waku.tag: varint does not fit 64 bits, at byte 0"),
        (
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "waku.payload: truncated, 4294967295 or more bytes needed, 0 left, at byte 11",
        ),
    ] {
        assert_eq!(strict(frame), text);
    }
    let long_meta = [&b"\x0a\x01\x01\x12\x01a\x5a\x41"[..], &[b'x'; 65]].concat();
    assert_eq!(strict(&long_meta), "waku.meta: 65 bytes, at most 64 allowed, at byte 8");
    let mut limits = Limits::DEFAULT;
    limits.meta = 65;
    assert!(MessageView::parse_with(&long_meta[..], &Rules::STRICT.with_limits(limits)).is_ok());
    assert_eq!(ErrorKind::VarintNotMinimal.name(), "varint-not-minimal");
}

#[test]
fn error_texts_of_neg_frames() {
    let labels = "`NEG-OPEN`, `NEG-MSG`, `NEG-CLOSE` or `NEG-ERR` expected";
    for (frame, text) in [
        ("", "neg: incomplete, more bytes are needed, at byte 0"),
        (r#"["NEG-MSG","s","61"#, "neg.message: incomplete, more bytes are needed, at byte 18"),
        (r#"["NEG-MSG","s","61""#, "neg: incomplete, more bytes are needed, at byte 19"),
        (r#"["NEG-MSG","s","6g"]"#, "neg.message: hex digit expected, found `g`, at byte 17"),
        (
            r#"["NEG-MSG","s","6A"]"#,
            "neg.message: lowercase hex digit expected, found `A`, at byte 17",
        ),
        (
            r#"["NEG-MSG","s","6\u0031"]"#,
            "neg.message: hex digit expected, found an escape, at byte 17",
        ),
        (
            r#"["NEG-MSG","s","611"]"#,
            "neg.message: 3 hex digits, an even number expected, at byte 19",
        ),
        (r#"["NEG-MSG","s"]"#, "neg.message: missing, at byte 14"),
        (r#"["NEG-OPEN","s",{}]"#, "neg.message: missing, at byte 18"),
        (r#"["NEG-ERR","s"]"#, "neg.reason: missing, at byte 14"),
        (r#"["NEG-CLOSE"]"#, "neg.sub: missing, at byte 12"),
        ("[]", "neg.label: missing, at byte 1"),
        (r#"["EVENT",{}]"#, &format!("neg.label: {labels}, found `E`, at byte 2")),
        (r#"["",0]"#, &format!("neg.label: {labels}, found `\"`, at byte 2")),
        (r#"["NEG-MSG",1,"61"]"#, "neg.sub: a string expected, found `1`, at byte 11"),
        (
            r#"["NEG-OPEN","s",[{}],"61"]"#,
            "neg.filter: a filter object expected, found `[`, at byte 16",
        ),
        (r#"["NEG-CLOSE","s"] x"#, "neg: the end expected, found `x`, at byte 18"),
    ] {
        let error = NegView::parse(frame.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(decode_msg(frame.as_bytes(), &mut Vec::new()), Err(error));
    }
    let error = decode_msg(br#"["NEG-CLOSE","s"]"#, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "neg.label: `NEG-MSG` expected, found `N`, at byte 2");
    assert_eq!(ErrorKind::HexEscape.name(), "hex-escape");
}

#[test]
fn a_hash_that_many_ask_for_at_once_is_computed_once() {
    let frame = Bytes::from_static(b"\x0a\x01\x01\x12\x01a\x50\x02");
    let envelope = Arc::new(Envelope::new("t", MessageView::parse(frame).unwrap()));
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (envelope, barrier) = (Arc::clone(&envelope), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                #[cfg(feature = "counters")]
                let before = borrowire::counters::thread();
                let seen = (*envelope.hash(), *envelope.gossip_id());
                #[cfg(feature = "counters")]
                let counted = borrowire::counters::thread() - before;
                #[cfg(not(feature = "counters"))]
                let counted = ();
                (seen, counted)
            })
        })
        .collect();
    let seen: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(seen.iter().all(|(hashes, _)| *hashes == seen[0].0));
    #[cfg(feature = "counters")]
    {
        let hashes: u64 = seen.iter().map(|(_, counted)| counted.hashes).sum();
        let gossip_ids: u64 = seen.iter().map(|(_, counted)| counted.gossip_ids).sum();
        assert_eq!((hashes, gossip_ids), (1, 1));
    }
}

#[test]
fn error_texts_of_filters() {
    for (filter, text) in [
        ("", "filter: incomplete, more bytes are needed, at byte 0"),
        (r#"{"kinds":[1"#, "filter.kinds: incomplete, more bytes are needed, at byte 11"),
        ("[]", "filter: a filter object expected, found `[`, at byte 0"),
        (r#"{"ids":["5c"]}"#, "filter.ids: 2 bytes, 64 expected, at byte 9"),
        (r#"{"authors":{}}"#, "filter.authors: `[` expected, found `{`, at byte 11"),
        (r#"{"kinds":[65536]}"#, "filter.kinds: out of range, at most 65535 fits, at byte 10"),
        (r##"{"#e":[1]}"##, "filter.#e: a string expected, found `1`, at byte 7"),
        (r##"{"#Z":[],"#Z":[]}"##, "filter.#Z: given twice, once allowed, at byte 14"),
        (
            r#"{"since":-1}"#,
            "filter.since: a whole number in digits alone expected, found `-`, at byte 9",
        ),
        (
            r#"{"limit":"1"}"#,
            "filter.limit: a whole number in digits alone expected, found `\"`, at byte 9",
        ),
    ] {
        assert_eq!(FilterView::parse(filter.as_bytes()).unwrap_err().to_string(), text);
    }
    for letter in ['1', '#', 'é', '🦩'] {
        assert!(std::panic::catch_unwind(|| Filter::new().tag(letter, &[])).is_err());
    }
}
