//! Row 5: an EVENT frame read, by what the event is. All are given text, whose UTF-8 the WebSocket has
//! checked.

use std::hint::black_box;

use borrowire::nostr::event::EventView;
use borrowire::rules::Rules;
use borrowire_benches::event::{Feed, SerdeFrame, SonicFrame};
use borrowire_benches::interleaved::{Figures, Group, Ratio, ratio};
use nostr::message::RelayMessage;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for feed in Feed::all() {
        let frames = &feed.frames;
        frames.iter().for_each(|frame| assert_alike(frame));
        let mean = feed.bytes() / frames.len();
        let title = format!("5: {}, {} frames of {mean} bytes", feed.name, frames.len());
        let mut group = Group::new(title).of_bytes(feed.bytes());
        let mut scratch = Vec::new();
        group
            .add("borrowire", || {
                for frame in frames {
                    black_box(EventView::parse_str(frame, &Rules::STRICT).unwrap());
                }
            })
            .add("borrowire, of bytes", || {
                for frame in frames {
                    let view = EventView::parse_frame(frame.as_bytes(), &Rules::STRICT);
                    black_box(view.unwrap());
                }
            })
            .add("nostr", || {
                for frame in frames {
                    black_box(RelayMessage::from_json(frame).unwrap());
                }
            })
            .add("serde_json, borrowed and RawValue", || {
                for frame in frames {
                    black_box(serde_json::from_str::<SerdeFrame>(frame).unwrap());
                }
            })
            .add("sonic-rs, lazy", || {
                for frame in frames {
                    black_box(sonic_rs::from_str::<SonicFrame>(frame).unwrap());
                }
            })
            .add("simd-json, tape", move || {
                for frame in frames {
                    // It writes into what it reads.
                    scratch.clear();
                    scratch.extend_from_slice(frame.as_bytes());
                    black_box(simd_json::to_tape(&mut scratch).unwrap());
                }
            });
        let figures = group.run(ROUNDS);
        assert_eq!(figures[0].allocations, 0.0);
        let lazy = best(&figures[0], &figures[3..]);
        for (rival, measured, target) in [
            ("nostr", ratio(&figures[0], &figures[2]), target(feed.name).0),
            ("the best lazy rival", lazy, target(feed.name).1),
        ] {
            verdicts.push(Verdict {
                row: "5",
                claim: format!("{} read against {rival}", feed.name),
                target,
                measured,
            });
        }
    }
    verdicts
}

/// How many times faster `ours` is than the fastest of `rivals`.
fn best(ours: &Figures, rivals: &[Figures]) -> Ratio {
    let fastest = rivals.iter().min_by(|a, b| a.ns.total_cmp(&b.ns)).unwrap();
    ratio(ours, fastest)
}

/// Against nostr, and against the best lazy rival.
fn target(name: &str) -> (f64, f64) {
    match name {
        "contact lists of 1,000 tags" => (14.0, 2.0),
        "long articles" => (17.0, 4.0),
        _ => (8.0, 3.0),
    }
}

/// All contenders read the same, or the times mean nothing.
fn assert_alike(frame: &str) {
    let view = EventView::parse_frame(frame.as_bytes(), &Rules::STRICT).unwrap();
    let SerdeFrame(label, _, serde) = serde_json::from_str(frame).unwrap();
    assert_eq!(label, "EVENT");
    assert_eq!(
        (serde.id, serde.pubkey, serde.sig),
        (view.id_hex(), view.pubkey_hex(), view.sig_hex())
    );
    assert_eq!((serde.created_at, serde.kind), (view.created_at(), view.kind()));
    assert_eq!(serde.tags.get(), view.raw_tags());
    assert_eq!(serde.content.get(), format!("{:?}", view.content()));
    let SonicFrame(_, _, sonic) = sonic_rs::from_str(frame).unwrap();
    assert_eq!((sonic.id, sonic.created_at, sonic.kind), (serde.id, serde.created_at, serde.kind));
    let RelayMessage::Event { event, .. } = RelayMessage::from_json(frame).unwrap() else {
        panic!("no event: {frame}");
    };
    assert_eq!(event.id.as_bytes(), view.id());
    assert_eq!(event.content, view.content().to_cow());
    assert_eq!(event.tags.len(), view.tags().len());
}
