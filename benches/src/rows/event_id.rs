//! Row 7: the id of an event whose text is spelled as it is hashed.

use std::hint::black_box;

use borrowire::nostr::event::{EventView, event_ids};
use borrowire::rules::Rules;
use borrowire_benches::event::Feed;
use borrowire_benches::interleaved::{Group, ratio};
use nostr::event::Event;
use sha2::{Digest, Sha256};

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let feeds = Feed::all();
    let frames = &feeds[0].frames;
    let parse = |frame: &'static str| EventView::parse_str(frame, &Rules::STRICT).unwrap();
    let frames = frames.iter().map(|frame| &*frame.clone().leak());
    let views: Vec<EventView<&[u8]>> = frames.map(parse).collect();
    let events: Vec<Event> =
        views.iter().map(|view| Event::from_json(view.raw()).unwrap()).collect();
    let ready: Vec<String> = views.iter().map(canonical).collect();
    for ((view, event), ready) in views.iter().zip(&events).zip(&ready) {
        let digest: [u8; 32] = Sha256::digest(ready).into();
        assert_eq!((view.computed_id(), event.id.as_bytes()), (&digest, &digest));
    }
    // Cells that hold no id yet: one for every call.
    let fresh = |views: &[EventView<&'static [u8]>]| -> Vec<EventView<&'static [u8]>> {
        views.iter().map(|view| parse(std::str::from_utf8(view.buffer()).unwrap())).collect()
    };
    let unhashed = fresh(&views);

    let mut kept = unhashed.clone();
    let bytes = ready.iter().map(String::len).sum();
    let mut group = Group::new("7: ids of small notes".to_owned()).of_bytes(bytes);
    group
        .add("borrowire computed_id", || {
            for view in &unhashed {
                black_box(view.clone().computed_id());
            }
        })
        .add("borrowire event_ids, two lanes", || {
            kept.clone_from(&unhashed);
            event_ids(&kept, |_, id| {
                black_box(id);
            });
        })
        .add("sha2 over ready bytes", || {
            for ready in &ready {
                black_box(Sha256::digest(ready));
            }
        })
        .add("nostr", || {
            for event in &events {
                black_box(event.verify_id());
            }
        });
    let figures = group.run(ROUNDS);
    assert_eq!(figures[0].allocations, 0.0);
    vec![
        Verdict {
            row: "7",
            claim: "ids from the wire against sha2 over ready bytes".to_owned(),
            target: 0.95,
            measured: ratio(&figures[0], &figures[2]),
        },
        Verdict {
            row: "7",
            claim: "ids in two lanes against sha2 one by one".to_owned(),
            target: 1.6,
            measured: ratio(&figures[1], &figures[2]),
        },
    ]
}

/// What is hashed, all in one piece.
fn canonical(view: &EventView<&[u8]>) -> String {
    serde_json::to_string(&(
        0,
        view.pubkey_hex(),
        view.created_at(),
        view.kind(),
        view.tags().collect::<Vec<_>>(),
        view.content(),
    ))
    .unwrap()
}
