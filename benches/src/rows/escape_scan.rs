//! Row 11: text copied up to the first byte that JSON must escape. There is none, so all is copied.

use std::hint::black_box;

use borrowire::output::put_scanned;
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::memory::{Placed, SOURCE, TARGET};

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for kib in [1, 4, 16, 64, 512] {
        let text = TEXT.chars().cycle().take(kib << 10).collect::<String>();
        let text = Placed::copy(text.as_bytes(), SOURCE);
        let text = std::str::from_utf8(text.bytes()).unwrap();
        let title = format!("11: text without escapes, {kib} KiB");
        let mut group = Group::new(title).of_bytes(text.len());
        add_copier(&mut group, "borrowire put_scanned", text, 0, |out| {
            assert_eq!(put_scanned(out, text.as_bytes()), text.len());
        });
        add_copier(&mut group, "memcpy", text, 0, |out| out.extend_from_slice(text.as_bytes()));
        add_copier(&mut group, "serde_json", text, QUOTE, |out| {
            serde_json::to_writer(out, text).unwrap();
        });
        add_copier(&mut group, "sonic-rs", text, QUOTE, |out| {
            sonic_rs::to_writer(out, text).unwrap();
        });
        let figures = group.run(ROUNDS);
        verdicts.push(Verdict {
            row: "11",
            claim: format!("text scanned and copied against memcpy, {kib} KiB"),
            target: if kib > 64 { 0.85 } else { 0.6 },
            measured: ratio(&figures[0], &figures[1]),
        });
    }
    verdicts
}

/// A contender that copies `text`, and puts quotes of `quote` bytes around it.
fn add_copier<'a>(
    group: &mut Group<'a>,
    name: &str,
    text: &str,
    quote: usize,
    mut copy: impl FnMut(&mut Vec<u8>) + 'a,
) {
    // sonic-rs asks for the room of a text that is all escapes.
    let mut out = Placed::room(8 * text.len(), TARGET);
    copy(out.refill());
    let copied = out.bytes();
    assert_eq!(&copied[quote..copied.len() - quote], text.as_bytes(), "{name}");
    group.add(name, move || {
        copy(out.refill());
        black_box(out.bytes());
    });
}

const TEXT: &str = "Plain words, as people write them; 42 of them, or more. ";

const QUOTE: usize = 1;
