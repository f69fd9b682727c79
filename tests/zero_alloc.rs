//! Reading allocates nothing: the allocator of this binary counts.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use borrowire::Envelope;
use borrowire::json::read::Reader;
use borrowire::json::string::JsonStr;
use borrowire::json::{AnyText, HexStr, HexText, RawJson};
use borrowire::negentropy::{
    self, Bound, MessageBuilder as NegentropyBuilder, Payload, fingerprint,
};
use borrowire::nostr::event::{Dialect, EventBuilder, EventView, event_ids, peek_event_id};
use borrowire::nostr::fanout::{EventFanout, EventFrames};
use borrowire::nostr::filter::{CompiledFilter, Filter, FilterSet, FilterView, Visited};
use borrowire::nostr::frame::{peek_label, peek_sub_id};
use borrowire::nostr::neg::{NegClose, NegErr, NegMsg, NegOpen, NegView, decode_msg};
use borrowire::nostr::seen::SeenIds;
use borrowire::nostr::{ClientFrame, ClientMessage, RelayFrame, RelayMessage, client, relay};
use borrowire::rules::Rules;
use borrowire::waku::{ContentTopic, HashRule, MessageBuilder, MessageView, message_hash};
use bytes::Bytes;

#[path = "zero_alloc/store.rs"]
mod store;

#[test]
fn a_message_is_read_without_allocating() {
    for len in [0, 1, 100, 150_000] {
        let frame = frame(len);
        assert_eq!(allocations(|| read(MessageView::parse(&frame[..]).unwrap())), 0);
        let shared = promoted(&frame);
        assert_eq!(allocations(|| read(MessageView::parse(shared.clone()).unwrap())), 0);
        let view = MessageView::parse(shared).unwrap();
        assert_eq!(allocations(|| read(view.clone())), 0);
        assert_eq!(allocations(|| drop(black_box(view.payload_bytes()))), 0);
    }
}

#[test]
fn a_bad_message_is_refused_without_allocating() {
    let frame = frame(1000);
    let allocated = allocations(|| {
        for len in 0..frame.len() {
            for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
                let _ = black_box(MessageView::parse_with(&frame[..len], &rules));
            }
        }
    });
    assert_eq!(allocated, 0);
}

#[test]
fn hash_and_gossip_id_allocate_nothing() {
    let message = MessageView::parse(promoted(&frame(150_000))).unwrap();
    let envelope = Envelope::new("/waku/2/rs/0/0", message);
    let allocated = allocations(|| {
        black_box((envelope.hash(), envelope.gossip_id()));
        black_box(envelope.hash_with(HashRule::OmitZero));
        black_box(message_hash("t", envelope.message(), HashRule::OmitZero));
    });
    assert_eq!(allocated, 0);
}

#[test]
fn events_are_read_hashed_and_peeked_at_without_allocating() {
    let feed = include_str!("../fixtures/nostr/feed.ndjson");
    let mut dialects = 0;
    for event in feed.lines().take(64) {
        let value: serde_json::Value = serde_json::from_str(event).unwrap();
        let content = &value["content"];
        // Compact, spelled with whitespace, and with escapes that are not hashed as they are, or
        // in a key.
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let units = content.as_str().unwrap().encode_utf16();
        let units: String = units.map(|unit| format!("\\u{unit:04x}")).collect();
        let spelled = format!("\"content\":{content}");
        assert!(event.contains(&spelled), "{event}");
        let escaped = event.replace(&spelled, &format!("\"content\":\"\\u0001{units}\""));
        let escaped_key = event.replace("\"id\":", "\"\\u0069d\":");
        for text in [event, &pretty, &escaped, &escaped_key] {
            let frame = format!("[\"EVENT\",\"s\",{text}]");
            let shared = promoted(text.as_bytes());
            let allocated = allocations(|| {
                let _ = black_box(peek_event_id(frame.as_bytes()));
                read_event(EventView::parse(text.as_bytes()).unwrap());
                read_event(EventView::parse(shared.clone()).unwrap());
                for rules in [Rules::STRICT, Rules::LENIENT] {
                    read_event(EventView::parse_frame(frame.as_bytes(), &rules).unwrap());
                }
            });
            assert_eq!(allocated, 0, "{text}");
            let view = EventView::parse(text.as_bytes()).unwrap();
            let is_changed = text == escaped;
            assert_eq!(view.check_id().is_match(), !is_changed, "{text}");
            dialects += usize::from(is_changed);
            assert_eq!(peek_event_id(text.as_bytes()).is_some(), text != escaped_key);
        }
    }
    assert_eq!(dialects, 64);
}

#[test]
fn a_bad_event_is_refused_without_allocating() {
    let feed = include_str!("../fixtures/nostr/feed.ndjson");
    let event = feed.lines().find(|event| event.len() < 1000).unwrap();
    let spaced = event.replace("\",\"", "\" , \"");
    for text in [event, &spaced] {
        let mut damaged = text.as_bytes().to_vec();
        let allocated = allocations(|| {
            for at in 0..text.len() {
                assert!(EventView::parse(&text.as_bytes()[..at]).is_err());
                damaged[at] ^= 0x20;
                let _ = black_box((EventView::parse(&damaged[..]), peek_event_id(&damaged)));
                damaged[at] ^= 0x20;
            }
        });
        assert_eq!(allocated, 0);
    }
}

#[test]
fn a_topic_is_read_without_allocating() {
    let allocated = allocations(|| {
        let topic = ContentTopic::parse(black_box("/toychat/2/huilong/proto")).unwrap();
        black_box(topic.shard(1, 8.try_into().unwrap()).unwrap());
    });
    assert_eq!(allocated, 0);
}

#[test]
fn json_is_read_without_allocating() {
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let frame = format!(r#"["EVENT", "a\nb", {{"x": [1.5e9, true, {{"\u0041": null}}]}}, {deep}"#);
    let allocated = allocations(|| {
        for len in 0..=frame.len() {
            let mut reader = Reader::new(&frame.as_bytes()[..len], &Rules::STRICT, "x").unwrap();
            assert!(reader.skip("x").unwrap_err().kind().name() != "");
        }
        let text = JsonStr::from_raw(r"a\u00e9\ud83d\ude00\n").unwrap();
        assert!(text.eq_str("aé😀\n") && text.chars().count() == 4);
        let same = JsonStr::from_raw(r"\u0061é😀\n").unwrap();
        assert!(text == same);
    });
    assert_eq!(allocated, 0);
}

#[test]
fn negentropy_is_read_without_allocating() {
    let mut message = Vec::with_capacity(40_000);
    let ids = [[7; 32]; 1000];
    let allocated = allocations(|| {
        let mut builder = NegentropyBuilder::new(&mut message);
        for timestamp in 0..100 {
            let upper = Bound::At { timestamp, prefix: &ids[0][..timestamp as usize % 33] };
            builder.push(upper, Payload::Fingerprint(&[1; 16])).unwrap();
        }
        builder.push(Bound::Infinity, Payload::IdList(&ids)).unwrap();
        black_box(fingerprint(&ids));
    });
    assert_eq!(allocated, 0);
    let allocated = allocations(|| {
        let view = negentropy::MessageView::parse(&message[..]).unwrap();
        assert_eq!(view.ranges().len(), 101);
        assert_eq!(black_box(view.ranges().count()), 101);
        assert!(view == view.clone());
        for len in 0..message.len() {
            let _ = black_box(negentropy::MessageView::parse(&message[..len]));
        }
        // A count that promises more than there is reserves nothing.
        let promise = &b"\x61\x00\x00\x02\xff\xff\xff\x7f"[..];
        assert!(negentropy::MessageView::parse(promise).is_err());
    });
    assert_eq!(allocated, 0);
}

#[test]
fn neg_frames_are_written_into_room_without_allocating() {
    let message = vec![7; 50_000];
    let filter = RawJson::new(r#"{"kinds":[1]}"#, "filter").unwrap();
    let mut out = Vec::with_capacity(220_000);
    for sub in ["sync", "tab\there", "日本"] {
        for message in [HexText::from(&message[..]), HexText::EMPTY] {
            let open = NegOpen { sub, filter, id_size: Some(16), message };
            let msg = NegMsg { sub, message };
            let err = NegErr { sub, reason: "blocked: \"big\"", max_records: Some(u64::MAX) };
            let allocated = allocations(|| {
                for key in [[0; 4], [0x37, 0xfa, 0x21, 0x3d]] {
                    out.clear();
                    open.write_masked(&mut out, key);
                    assert_eq!(out.len(), open.encoded_len());
                    out.clear();
                    msg.write_masked(&mut out, key);
                    NegClose { sub }.write_masked(&mut out, key);
                    err.write_masked(&mut out, key);
                }
                out.clear();
                msg.write(&mut out);
                assert_eq!(out.len(), msg.encoded_len());
                NegClose { sub }.write(&mut out);
                err.write(&mut out);
                black_box(NegMsg::max_payload(131_072, sub));
            });
            assert_eq!(allocated, 0, "{sub}");
        }
    }
}

#[test]
fn an_event_is_written_into_room_without_allocating() {
    let tags = [vec!["p"; 1000], vec![], vec!["description", "{\"kind\":9734}\n"]];
    let event = EventBuilder::new(1, 1).tags(&tags).content("tab\there, \u{1f600}, NUL\0");
    let mut out = Vec::with_capacity(event.encoded_len());
    let allocated = allocations(|| {
        let id = event.write(&mut out, &[1; 32], |_| [2; 64]);
        assert_eq!(id, black_box(&event).id(&[1; 32]));
    });
    assert_eq!(allocated, 0);
}

#[test]
fn ids_are_remembered_without_allocating() {
    let mut seen = SeenIds::with_capacity(1000);
    let allocated = allocations(|| {
        for i in 0..10_000_u32 {
            let mut id = [0; 32];
            id[..4].copy_from_slice(&(i % 3000).to_le_bytes());
            black_box((seen.contains(&id), seen.insert(&id)));
        }
        assert!(seen.len() > 900);
        seen.clear();
    });
    assert_eq!(allocated, 0);
}

#[cfg(feature = "verify")]
#[test]
fn signatures_are_made_and_checked_without_allocating() {
    use borrowire::nostr::event::{Keys, verify_signature};

    // The first use on a thread makes a context.
    let keys = Keys::from_secret(&[7; 32]).unwrap();
    let allocated = allocations(|| {
        let sig = keys.sign(&[1; 32]);
        assert!(verify_signature(&[1; 32], keys.public_key(), &sig).is_ok());
        assert!(verify_signature(&[2; 32], keys.public_key(), &sig).is_err());
    });
    assert_eq!(allocated, 0);
}

#[test]
fn neg_frames_without_escapes_fit_their_own_length_and_grow_a_buffer_once() {
    let msg = NegMsg { sub: "sync", message: [7; 1000].as_slice().into() };
    let mut exact = Vec::with_capacity(msg.encoded_len());
    assert_eq!(allocations(|| msg.write(&mut exact)), 0);
    let mut empty = Vec::new();
    assert_eq!(allocations(|| msg.write(&mut empty)), 1);
}

#[test]
fn neg_frames_are_read_without_allocating() {
    let digits = "61".repeat(10_000);
    let frames = [
        format!(r#"["NEG-MSG","sync","{digits}"]"#),
        format!(r#"[ "NEG-MSG" , "s\u0079nc", "{digits}", {{"more": [1]}} ]"#),
        format!(r#"["NEG-OPEN","sync",{{"kinds":[1]}},16,"{digits}"]"#),
        r#"["NEG-CLOSE","sync"]"#.to_owned(),
        r#"["NEG-ERR","sync","blocked: \u0022big\u0022",1000000]"#.to_owned(),
    ];
    let mut out = Vec::with_capacity(digits.len());
    for frame in &frames {
        let frame = frame.as_bytes();
        assert_eq!(allocations(|| read_neg(NegView::parse(frame).unwrap(), &mut out)), 0);
        let shared = promoted(frame);
        assert_eq!(allocations(|| read_neg(NegView::parse(shared.clone()).unwrap(), &mut out)), 0);
        let view = NegView::parse(shared).unwrap();
        assert_eq!(allocations(|| read_neg(view.clone(), &mut out)), 0);
        let allocated = allocations(|| {
            for len in (0..frame.len()).step_by(1 + frame.len() / 100) {
                out.clear();
                assert!(NegView::parse(&frame[..len]).is_err());
                assert!(decode_msg(&frame[..len], &mut out).is_err());
                let _ = black_box(decode_msg(frame, &mut out));
            }
        });
        assert_eq!(allocated, 0);
    }
    assert_eq!(allocations(|| assert!(HexStr::new(&digits, "x").is_ok())), 0);
}

#[test]
fn nostr_frames_are_read_without_allocating() {
    let cases = include_str!("../fixtures/nostr/frames.ndjson").lines();
    let frames = cases.map(|case| {
        let case: serde_json::Value = serde_json::from_str(case).unwrap();
        case["frame"].as_str().unwrap().to_owned()
    });
    for frame in frames {
        let bytes = frame.as_bytes();
        // Not promoted: reading counts no reference either.
        let [client, relay] = [(); 2].map(|()| Bytes::from(frame.clone()));
        let allocated = allocations(|| {
            for rules in [Rules::STRICT, Rules::LENIENT] {
                read_client(ClientFrame::parse_with(bytes, &rules));
                read_relay(RelayFrame::parse_with(bytes, &rules));
            }
            read_client(ClientFrame::parse(client));
            read_relay(RelayFrame::parse(relay));
            black_box((peek_label(bytes), peek_sub_id(bytes)));
        });
        assert_eq!(allocated, 0, "{frame}");
        let shared = promoted(bytes);
        let allocated = allocations(|| {
            if let Ok(view) = ClientFrame::parse(shared.clone()) {
                assert!(view.clone() == view);
                if let ClientMessage::Req { filters, .. } = view.message() {
                    filters.for_each(|filter| drop(black_box((filter.share(), filter.parse()))));
                }
            }
        });
        assert_eq!(allocated, 0, "{frame}");
    }
}

#[test]
fn nostr_frames_are_written_into_room_without_allocating() {
    let event = RawJson::new(r#"{"kind":1}"#, "event").unwrap();
    let filters = [event; 3];
    let hll = [7; 256];
    let mut out = Vec::with_capacity(10_000);
    for text in ["sync", "tab\there", "日本"] {
        let sub = text;
        let allocated = allocations(|| {
            for key in [[0; 4], [0x37, 0xfa, 0x21, 0x3d]] {
                out.clear();
                client::Event { event }.write_masked(&mut out, key);
                client::Req { sub, filters: &filters }.write_masked(&mut out, key);
                client::Count { sub, filters: &filters }.write_masked(&mut out, key);
                client::Close { sub }.write_masked(&mut out, key);
                client::Auth { event }.write_masked(&mut out, key);
            }
            for id in [AnyText::from(&[7; 32]), "?".into()] {
                relay::OkReply { id, accepted: true, message: text }.write(&mut out);
            }
            relay::Event { sub, event }.write(&mut out);
            relay::Eose { sub }.write(&mut out);
            relay::Closed { sub, message: text }.write(&mut out);
            relay::Notice { message: text }.write(&mut out);
            relay::Auth { challenge: text }.write(&mut out);
            let hll = Some(hll.as_slice().into());
            relay::Count { sub, count: 1, approximate: Some(true), hll }.write(&mut out);
            relay::Limits { limits: event }.write(&mut out);
        });
        assert_eq!(allocated, 0, "{text}");
    }
}

#[test]
fn a_fan_out_allocates_nothing_for_a_head() {
    let feed = include_str!("../fixtures/nostr/feed.ndjson");
    let event = promoted(feed.lines().next().unwrap().as_bytes());
    let view = EventView::parse(event).unwrap();
    let fanout = EventFanout::new(&view);
    let mut frames = EventFrames::new(&view);
    let longest = "a".repeat(66);
    for sub in ["", "sub", "one\"two", "日本\u{1}", &longest] {
        assert_eq!(allocations(|| drop(black_box(fanout.splice(sub)))), 0, "{sub}");
        assert_eq!(allocations(|| _ = black_box(frames.frame(sub).len())), 0, "{sub}");
        assert_eq!(allocations(|| frames.set_event(&view)), 0, "{sub}");
        let mut out = Vec::with_capacity(fanout.encoded_len(sub));
        assert_eq!(allocations(|| fanout.write(sub, &mut out)), 0, "{sub}");
    }
}

/// A buffer of many frames allocates once, to count who shares it.
#[cfg(feature = "codec")]
#[test]
fn frames_are_taken_off_a_buffer_without_allocating() {
    use borrowire::codec::{Framing, JsonLines, LengthPrefixed};
    use bytes::BytesMut;

    let mut lengths = BytesMut::from(&[&b"\x03abc"[..]; 1000].concat()[..]);
    let mut lines = BytesMut::from(&[&b"{\"a\":1}\r\n\n"[..]; 1000].concat()[..]);
    let mut frames = 0;
    let allocated = allocations(|| {
        let mut codec = LengthPrefixed::new(3);
        for _ in 0..1000 {
            frames += codec.take(&mut lengths).unwrap().unwrap().len();
        }
    });
    assert_eq!((allocated, frames), (1, 3000));
    let allocated = allocations(|| {
        let mut codec = JsonLines::new(7);
        for _ in 0..1000 {
            frames += codec.take(&mut lines).unwrap().unwrap().len();
        }
    });
    assert_eq!((allocated, frames), (1, 10_000));
    let mut hostile = BytesMut::from(&b"\xff\xff\xff\xff\x0f"[..]);
    assert_eq!(allocations(|| assert!(LengthPrefixed::new(9).take(&mut hostile).is_err())), 0);
}

#[test]
fn a_buffer_with_room_is_written_without_allocating() {
    let mut out = Vec::with_capacity(200_000);
    let payload = vec![7; 150_000];
    let builder = MessageBuilder::new("/a/1/b/proto", &payload).timestamp(1).always_present();
    assert_eq!(allocations(|| builder.encode(&mut out)), 0);
    assert_eq!(out.len(), builder.encoded_len());
}

#[test]
fn the_count_can_rise() {
    assert_eq!(allocations(|| drop(black_box(vec![1_u8; 10]))), 1);
    let message = MessageView::parse(promoted(&frame(10))).unwrap();
    assert!(allocations(|| drop(black_box(message.detach()))) > 0);
}

fn read<B: borrowire::buffer::Buffer>(view: MessageView<B>) {
    black_box((view.payload(), view.content_topic(), view.version(), view.timestamp()));
    black_box((view.meta(), view.rate_limit_proof(), view.ephemeral(), view.raw()));
    black_box(view.unknown_fields().count());
    black_box(view.as_borrowed() == view);
}

fn read_event<B: borrowire::buffer::Buffer>(view: EventView<B>) {
    for element in view.tags().flatten() {
        black_box((element.chars().count(), element.eq_str("t")));
    }
    black_box((view.content().chars().count(), view.sig(), view.unknown_keys().count()));
    black_box(view.content().eq_str("x"));
    for dialect in Dialect::ALL {
        black_box(view.computed_id_by(dialect));
    }
    let views = [view.clone(), view];
    event_ids(&views, |_, id| _ = black_box(id));
    black_box((views[0].computed_id(), views[0].check_id(), views[0] == views[1]));
    black_box(views[1].as_borrowed());
}

fn read_client<B: borrowire::buffer::Buffer>(frame: Result<ClientFrame<B>, borrowire::Error>) {
    let Ok(view) = frame else { return };
    black_box((view.label(), view.sub(), view.raw(), view.extra().count()));
    black_box(view.as_borrowed() == view);
    match view.message() {
        ClientMessage::Req { filters, .. } | ClientMessage::Count { filters, .. } => {
            filters.for_each(|filter| _ = black_box((filter.raw(), filter.offset())));
        }
        message => drop(black_box(message)),
    }
    drop(black_box(view.into_event()));
}

fn read_relay<B: borrowire::buffer::Buffer>(frame: Result<RelayFrame<B>, borrowire::Error>) {
    let Ok(view) = frame else { return };
    black_box((view.label(), view.sub(), view.raw(), view.elements().count()));
    black_box(view.as_borrowed() == view);
    match view.message() {
        RelayMessage::Ok { id, message, .. } => {
            _ = black_box((id.bytes(), message.prefix(), message.rest()));
        }
        message => drop(black_box(message)),
    }
}

fn read_neg<B: borrowire::buffer::Buffer>(view: NegView<B>, out: &mut Vec<u8>) {
    black_box((view.kind(), view.filter(), view.id_size(), view.message()));
    black_box((view.max_records(), view.raw(), view.buffer().as_ref()));
    assert!(view.sub().eq_str("sync"));
    assert!(view.reason().is_none_or(|reason| reason.eq_str("blocked: \"big\"")));
    out.clear();
    view.decode_message(out);
    black_box(view.clone() == view);
}

fn frame(payload_len: usize) -> Vec<u8> {
    let payload = vec![1; payload_len];
    let builder = MessageBuilder::new("/waku/2/default-content/proto", &payload);
    [builder.timestamp(1).meta(b"meta").to_vec(), b"\xa2\x06\x02zz".to_vec()].concat()
}

/// A shared buffer. The first clone of a `Bytes` that was made from a `Vec` allocates its count.
fn promoted(frame: &[u8]) -> Bytes {
    let bytes = Bytes::copy_from_slice(frame);
    drop(bytes.clone());
    bytes
}

/// How many times `work` allocated on this thread.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: `ptr` came from `System` with this layout, and the caller keeps the contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[test]
fn filters_are_read_without_allocating() {
    let [id, author] = ["5c".repeat(32), "0f".repeat(32)];
    let filter = format!(
        r##" {{"ids":["{id}"], "authors":["{author}","{id}"],"kinds":[1,7],"#t":["a\u0062","é"],"since":1,
            "until":2,"limit":3,"search":"x","&t":["a"],"\u0023Z":["{id}"]}} "##
    );
    let shared = promoted(filter.as_bytes());
    let allocated = allocations(|| {
        read_filter(FilterView::parse(filter.as_bytes()).unwrap());
        read_filter(FilterView::parse(shared.clone()).unwrap());
        for len in 0..filter.len() {
            let _ = black_box(FilterView::parse(&filter.as_bytes()[..len]));
        }
    });
    assert_eq!(allocated, 0);
}

#[test]
fn a_filter_is_written_into_room_without_allocating() {
    let mut out = Vec::with_capacity(1000);
    let filter = Filter::new().authors(&[[1; 32]]).kinds(&[1, 7]).tag('t', &["\n"]).search("\"x\"");
    assert_eq!(allocations(|| filter.write(&mut out)), 0);
    assert_eq!(out.len(), filter.encoded_len());
}

#[test]
fn events_are_matched_without_allocating() {
    let id = |byte: u8| format!("{byte:02x}").repeat(32);
    let filters: Vec<_> = (0..=u8::MAX)
        .map(|i| {
            let (id, other) = (id(i), id(i / 2));
            match i % 8 {
                0 => format!(r#"{{"ids":["{id}"]}}"#),
                1 => format!(r#"{{"authors":["{id}","{other}"],"kinds":[1,7]}}"#),
                2 => format!(r##"{{"#p":["{id}","{other}"]}}"##),
                3 => format!(r##"{{"#e":["{id}"],"#t":["a","b","\\"],"kinds":[1,2,3]}}"##),
                4 => r##"{"#t":["a\\b","c"]}"##.to_owned(),
                5 => r#"{"kinds":[1]}"#.to_owned(),
                6 => r#"{"since":1}"#.to_owned(),
                _ => r##"{"#t":["\ud83e\udda9","x"],"authors":[]}"##.to_owned(),
            }
        })
        .map(|filter| CompiledFilter::from(&FilterView::parse(filter.as_bytes()).unwrap()))
        .collect();
    let events: Vec<_> = (0..=u8::MAX)
        .map(|i| {
            let id = id(i);
            let (kind, sig) = (i % 9, "0".repeat(128));
            format!(
                r#"{{"id":"{id}","pubkey":"{id}","created_at":1,"kind":{kind},"tags":[["p","{id}"],["e","{id}"],
                    ["t","\\"],["t","a\\b"],["\u0074","\u0063"],["-"],[]],"content":"","sig":"{sig}"}}"#
            )
        })
        .collect();
    let events: Vec<_> =
        events.iter().map(|event| EventView::parse(event.as_bytes()).unwrap()).collect();

    let mut alone = 0;
    let allocated = allocations(|| {
        for event in &events {
            alone += filters.iter().filter(|filter| filter.matches(event)).count();
        }
    });
    assert_eq!(allocated, 0);
    assert!(alone > 1000, "{alone}");

    let mut set = FilterSet::new();
    for (key, filter) in filters.into_iter().enumerate() {
        set.insert(key, [filter]);
    }
    let (mut visited, mut found) = (Visited::new(), Vec::new());
    let mut tell_all = || {
        let mut told = 0;
        for event in &events {
            found.clear();
            set.matches(event, &mut visited, &mut found);
            told += found.len();
        }
        told
    };
    assert_eq!(tell_all(), alone);
    assert_eq!(allocations(|| assert_eq!(tell_all(), alone)), 0);
}

fn read_filter<B: borrowire::buffer::Buffer>(view: FilterView<B>) {
    black_box((view.ids().unwrap().count(), view.authors().unwrap().count(), view.raw()));
    assert!(view.kinds().unwrap().eq([1, 7]));
    assert!(view.tag('t').unwrap().eq(["ab", "é"]));
    assert_eq!(view.tags().map(|(_, values)| values.count()).sum::<usize>(), 3);
    assert_eq!((view.since(), view.until(), view.limit()), (Some(1), Some(2), Some(3)));
    assert!(view.search().unwrap().eq_str("x") && view.unknown_keys().count() == 1);
    black_box(view.clone() == view);
}
