//! Row 15: the frames between clients and relays, read and written, and one event to many
//! subscriptions.

use std::borrow::Cow;
use std::hint::black_box;
use std::io::IoSlice;

use borrowire::json::RawJson;
use borrowire::nostr::event::EventView;
use borrowire::nostr::fanout::{EventFanout, EventFrames};
use borrowire::nostr::frame::RawElements;
use borrowire::nostr::{ClientFrame, RelayFrame, client, relay};
use borrowire_benches::event::Feed;
use borrowire_benches::interleaved::{Group, ratio};
use bytes::{Buf, Bytes};
use nostr::event::{Event, EventId};
use nostr::filter::Filter;
use nostr::message::{ClientMessage, RelayMessage, SubscriptionId};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let event = small_note();
    let mut verdicts = Vec::new();
    read(&event, &mut verdicts);
    written(&event, &mut verdicts);
    for count in [1, 10, 1000] {
        fanned_out(&event, count, &mut verdicts);
    }
    verdicts
}

/// A frame to be read, and how the rivals read it.
struct Case {
    name: &'static str,
    frame: String,
    ours: fn(&[u8]),
    nostr: fn(&str),
    serde: fn(&str),
}

fn read(event: &str, verdicts: &mut Vec<Verdict>) {
    let (id, other) = ("ab".repeat(32), "cd".repeat(32));
    let client = |frame: &[u8]| drop(black_box(ClientFrame::parse(frame).unwrap()));
    let relay = |frame: &[u8]| drop(black_box(RelayFrame::parse(frame).unwrap()));
    let nostr_client = |frame: &str| drop(black_box(ClientMessage::from_json(frame).unwrap()));
    let nostr_relay = |frame: &str| drop(black_box(RelayMessage::from_json(frame).unwrap()));
    let cases = [
        Case {
            name: "EVENT from a relay",
            frame: format!(r#"["EVENT","{SUB}",{event}]"#),
            ours: relay,
            nostr: nostr_relay,
            serde: |frame| {
                type Frame<'a> = (&'a str, &'a str, borrowire_benches::event::SerdeEvent<'a>);
                let _ = black_box(serde_json::from_str::<Frame<'_>>(frame).unwrap());
            },
        },
        Case {
            name: "EVENT from a client",
            frame: format!(r#"["EVENT",{event}]"#),
            ours: client,
            nostr: nostr_client,
            serde: |frame| {
                type Frame<'a> = (&'a str, borrowire_benches::event::SerdeEvent<'a>);
                let _ = black_box(serde_json::from_str::<Frame<'_>>(frame).unwrap());
            },
        },
        Case {
            name: "REQ of two filters",
            frame: format!(
                r##"["REQ","{SUB}",{{"kinds":[1,6],"authors":["{id}","{other}"],"limit":100}},{{"kinds":[7],"#e":["{id}"]}}]"##
            ),
            ours: client,
            nostr: nostr_client,
            serde: |frame| {
                let elements = serde_json::from_str::<Vec<&RawValue>>(frame).unwrap();
                assert_eq!(black_box(elements).len(), 4);
            },
        },
        Case {
            name: "OK",
            frame: format!(r#"["OK","{id}",true,"duplicate: already have this event"]"#),
            ours: relay,
            nostr: nostr_relay,
            serde: |frame| {
                type Frame<'a> = (&'a str, Cow<'a, str>, bool, Cow<'a, str>);
                let _ = black_box(serde_json::from_str::<Frame<'_>>(frame).unwrap());
            },
        },
        Case {
            name: "EOSE",
            frame: format!(r#"["EOSE","{SUB}"]"#),
            ours: relay,
            nostr: nostr_relay,
            serde: |frame| {
                drop(black_box(serde_json::from_str::<(&str, Cow<'_, str>)>(frame).unwrap()));
            },
        },
    ];
    for Case { name, frame, ours, nostr, serde } in &cases {
        assert_alike(frame);
        let title = format!("15: {name} of {} bytes, read", frame.len());
        let mut group = Group::new(title).of_bytes(frame.len());
        group
            .add("borrowire", || ours(frame.as_bytes()))
            .add("nostr", || nostr(frame))
            .add("serde_json, borrowed and RawValue", || serde(frame));
        let figures = group.run(ROUNDS);
        assert_eq!(figures[0].allocations, 0.0);
        for (rival, target) in [(1, 3.0), (2, 1.0)] {
            verdicts.push(Verdict {
                row: "15",
                claim: format!("{name} read against {}", figures[rival].name),
                target,
                measured: ratio(&figures[0], &figures[rival]),
            });
        }
    }
}

/// All contenders read the same elements, or the times mean nothing.
fn assert_alike(frame: &str) {
    let value: Vec<Value> = serde_json::from_str(frame).unwrap();
    let elements: Vec<Value> = match RelayMessage::from_json(frame) {
        Ok(message) => {
            assert_eq!(serde_json::from_str::<Vec<Value>>(&message.as_json()).unwrap(), value);
            elements(RelayFrame::parse(frame.as_bytes()).unwrap().elements())
        }
        Err(_) => {
            let message = ClientMessage::from_json(frame).unwrap();
            assert_eq!(serde_json::from_str::<Vec<Value>>(&message.as_json()).unwrap(), value);
            elements(ClientFrame::parse(frame.as_bytes()).unwrap().elements())
        }
    };
    assert_eq!(elements, value);
}

fn elements(elements: RawElements<'_>) -> Vec<Value> {
    elements.map(|element| serde_json::from_str(element.as_str()).unwrap()).collect()
}

fn written(event: &str, verdicts: &mut Vec<Verdict>) {
    let raw = RawJson::new(event, "event").unwrap();
    let raw_value = serde_json::from_str::<&RawValue>(event).unwrap();
    let nostr_event = Event::from_json(event).unwrap();
    let filter_text = r##"{"kinds":[1,6],"limit":100}"##;
    let filters = [RawJson::new(filter_text, "filter").unwrap()];
    let raw_filter = serde_json::from_str::<&RawValue>(filter_text).unwrap();
    let nostr_filter = Filter::from_json(filter_text).unwrap();
    let sub = || Cow::Owned(SubscriptionId::new(SUB));
    let id = [0xab; 32];
    let hex_id = "ab".repeat(32);
    let message = "auth-required: we only serve members";

    let ours = |out: &mut Vec<u8>| relay::Event { sub: SUB, event: raw }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("EVENT", SUB, raw_value)).unwrap();
    let nostr = RelayMessage::Event { subscription_id: sub(), event: Cow::Borrowed(&nostr_event) };
    write_group("EVENT to a client", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| client::Event { event: raw }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("EVENT", raw_value)).unwrap();
    let nostr = ClientMessage::Event(Cow::Borrowed(&nostr_event));
    write_group("EVENT to a relay", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| client::Req { sub: SUB, filters: &filters }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("REQ", SUB, raw_filter)).unwrap();
    let filters = vec![Cow::Borrowed(&nostr_filter)];
    let nostr = ClientMessage::Req { subscription_id: sub(), filters };
    write_group("REQ", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| client::Close { sub: SUB }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("CLOSE", SUB)).unwrap();
    let nostr = ClientMessage::Close(sub());
    write_group("CLOSE", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| {
        relay::OkReply { id: (&id).into(), accepted: false, message }.write(out);
    };
    let serde = |out: &mut Vec<u8>| {
        serde_json::to_writer(out, &("OK", const_hex::encode(id), false, message)).unwrap();
    };
    let event_id = EventId::from_hex(&hex_id).unwrap();
    let nostr = RelayMessage::Ok { event_id, status: false, message: message.into() };
    write_group("OK", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| relay::Eose { sub: SUB }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("EOSE", SUB)).unwrap();
    let nostr = RelayMessage::EndOfStoredEvents(sub());
    write_group("EOSE", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| relay::Closed { sub: SUB, message }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("CLOSED", SUB, message)).unwrap();
    let nostr = RelayMessage::Closed { subscription_id: sub(), message: message.into() };
    write_group("CLOSED", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| relay::Notice { message }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("NOTICE", message)).unwrap();
    let nostr = RelayMessage::Notice(message.into());
    write_group("NOTICE", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| relay::Auth { challenge: &hex_id }.write(out);
    let serde = |out: &mut Vec<u8>| serde_json::to_writer(out, &("AUTH", &hex_id)).unwrap();
    let nostr = RelayMessage::Auth { challenge: (&*hex_id).into() };
    write_group("AUTH", &ours, &serde, &|| nostr.as_json(), verdicts);

    let ours = |out: &mut Vec<u8>| {
        relay::Count { sub: SUB, count: 238, approximate: None, hll: None }.write(out);
    };
    let serde = |out: &mut Vec<u8>| {
        let count = std::collections::BTreeMap::from([("count", 238)]);
        serde_json::to_writer(out, &("COUNT", SUB, count)).unwrap();
    };
    let nostr = RelayMessage::Count { subscription_id: sub(), count: 238 };
    write_group("COUNT", &ours, &serde, &|| nostr.as_json(), verdicts);
}

/// A frame written into a reused buffer; by nostr into a fresh string, as it does.
fn write_group(
    name: &str,
    ours: &dyn Fn(&mut Vec<u8>),
    serde: &dyn Fn(&mut Vec<u8>),
    nostr: &dyn Fn() -> String,
    verdicts: &mut Vec<Verdict>,
) {
    let (mut frame, mut twin) = (Vec::new(), Vec::new());
    ours(&mut frame);
    serde(&mut twin);
    assert_eq!(String::from_utf8_lossy(&frame), String::from_utf8_lossy(&twin));
    assert_eq!(nostr().as_bytes(), frame, "{name}");
    let len = frame.len();
    let mut group = Group::new(format!("15: {name} of {len} bytes, written")).of_bytes(len);
    for (name, write) in [("borrowire", ours), ("serde_json, RawValue", serde)] {
        let mut out = Vec::with_capacity(len + 64);
        group.add(name, move || {
            out.clear();
            write(&mut out);
            black_box(&out[..]);
        });
    }
    group.add("nostr, fresh string", nostr);
    let figures = group.run(ROUNDS);
    assert_eq!(figures[0].allocations, 0.0);
    for (rival, target) in [(1, 1.5), (2, 3.0)] {
        verdicts.push(Verdict {
            row: "15",
            claim: format!("{name} written against {}", figures[rival].name),
            target,
            measured: ratio(&figures[0], &figures[rival]),
        });
    }
}

/// One event, received, to so many subscriptions.
fn fanned_out(event: &str, count: usize, verdicts: &mut Vec<Verdict>) {
    let subs: Vec<String> = (0..count).map(|i| format!("sub-{i}:feed")).collect();
    let subs = &subs[..];
    let received = Bytes::from(event.to_owned());
    drop(received.clone());
    let view = &EventView::parse(received).unwrap();
    let raw_value = serde_json::from_str::<&RawValue>(event).unwrap();
    let nostr_event = &Event::from_json(event).unwrap();
    let nostr_frame = |sub: &str| {
        let subscription_id = Cow::Owned(SubscriptionId::new(sub));
        RelayMessage::Event { subscription_id, event: Cow::Borrowed(nostr_event) }.as_json()
    };
    for sub in subs {
        let twin = serde_json::to_vec(&("EVENT", sub, raw_value)).unwrap();
        assert_eq!(EventFanout::new(view).splice(sub).to_vec(), twin);
        assert_eq!(EventFanout::new(view).to_bytes(sub), twin);
        assert_eq!(EventFrames::new(view).frame(sub), twin);
        assert_eq!(nostr_frame(sub).as_bytes(), twin);
    }
    let frame_len = EventFanout::new(view).encoded_len(&subs[0]);
    let title = format!("15: an event of {} bytes to {count} subscriptions", event.len());
    let mut group = Group::new(title).of_bytes(frame_len * count);
    let mut frames = EventFrames::new(view);
    let mut out = Vec::with_capacity(2 * frame_len);
    group
        .add("borrowire, contiguous", move || {
            frames.set_event(view);
            for sub in subs {
                black_box(frames.frame(sub));
            }
        })
        .add("borrowire, spliced", || {
            let fanout = EventFanout::new(view);
            for sub in subs {
                send(fanout.splice(sub));
            }
        })
        .add("borrowire, owned", || {
            let fanout = EventFanout::new(view);
            for sub in subs {
                black_box(fanout.to_bytes(sub));
            }
        })
        .add("serde_json, RawValue, into one buffer", move || {
            for sub in subs {
                out.clear();
                serde_json::to_writer(&mut out, &("EVENT", sub, raw_value)).unwrap();
                black_box(&out[..]);
            }
        })
        .add("serde_json, RawValue, owned", || {
            for sub in subs {
                black_box(serde_json::to_vec(&("EVENT", sub, raw_value)).unwrap());
            }
        })
        .add("nostr, owned", || {
            for sub in subs {
                black_box(nostr_frame(sub));
            }
        });
    let figures = group.run(ROUNDS);
    assert_eq!((figures[0].allocations, figures[1].allocations), (0.0, 0.0));
    let many = count > 1;
    for (ours, rival, target) in [
        (0, 3, if many { 2.0 } else { 1.0 }),
        (1, 4, if many { 2.0 } else { 1.0 }),
        (2, 4, 1.0),
        (0, 5, 10.0),
    ] {
        let (ours, rival) = (&figures[ours], &figures[rival]);
        let claim = format!("{}, {count} subscriptions, against {}", ours.name, rival.name);
        verdicts.push(Verdict { row: "15", claim, target, measured: ratio(ours, rival) });
    }
}

/// What a socket does with a frame, but for the call of the system.
fn send(mut frame: impl Buf) {
    while frame.has_remaining() {
        let mut slices = [IoSlice::new(&[]); 4];
        let count = frame.chunks_vectored(&mut slices);
        let sent = black_box(&slices[..count]).iter().map(|slice| slice.len()).sum();
        frame.advance(sent);
    }
}

/// The note of middle length.
fn small_note() -> String {
    let mut frames = Feed::all().swap_remove(0).frames;
    frames.sort_by_key(String::len);
    let frame = frames.swap_remove(frames.len() / 2);
    let view = EventView::parse_frame(frame.as_bytes(), &borrowire::rules::Rules::STRICT);
    view.unwrap().raw().to_owned()
}

const SUB: &str = "feed:home:1";
