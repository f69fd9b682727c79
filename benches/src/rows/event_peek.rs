//! Row 6: the id of an event, before it is parsed.

use std::hint::black_box;

use borrowire::nostr::event::{EventView, peek_event_id};
use borrowire::rules::Rules;
use borrowire_benches::event::Feed;
use borrowire_benches::interleaved::{Group, ratio};
use nostr::message::RelayMessage;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let feeds = Feed::all();
    let notes = &feeds[0].frames;
    let late: Vec<String> = notes.iter().map(|frame| with_id_last(frame)).collect();
    let mut verdicts = Vec::new();
    for (place, frames, target) in [("first", notes, 35.0), ("last", &late, 8.0)] {
        let bytes = frames.iter().map(String::len).sum();
        let mut group = Group::new(format!("6: small notes, the id {place}")).of_bytes(bytes);
        for frame in frames {
            let id = peek_event_id(frame.as_bytes()).unwrap();
            let RelayMessage::Event { event, .. } = RelayMessage::from_json(frame).unwrap() else {
                panic!("no event: {frame}");
            };
            assert_eq!(event.id.as_bytes(), &id);
        }
        group
            .add("borrowire peek_event_id", || {
                for frame in frames {
                    black_box(peek_event_id(frame.as_bytes()).unwrap());
                }
            })
            .add("borrowire EventView", || {
                for frame in frames {
                    let view = EventView::parse_frame(frame.as_bytes(), &Rules::STRICT);
                    black_box(view.unwrap());
                }
            })
            .add("nostr", || {
                for frame in frames {
                    black_box(RelayMessage::from_json(frame).unwrap());
                }
            });
        let figures = group.run(ROUNDS);
        assert_eq!(figures[0].allocations, 0.0);
        verdicts.push(Verdict {
            row: "6",
            claim: format!("id peeked against a parse by nostr, the id {place}"),
            target,
            measured: ratio(&figures[0], &figures[2]),
        });
    }
    verdicts
}

/// The same event with its id behind all other keys.
fn with_id_last(frame: &str) -> String {
    let id = frame.find(r#""id":"#).unwrap();
    let len = r#""id":"","#.len() + 64;
    let (field, body) = (&frame[id..id + len - 1], &frame[id + len..]);
    let body = body.strip_suffix("}]").unwrap();
    format!("{}{body},{field}}}]", &frame[..id])
}
