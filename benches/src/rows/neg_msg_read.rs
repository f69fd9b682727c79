//! Row 4: a NEG-MSG frame read to binary.

use std::hint::black_box;

use borrowire::nostr::neg::{NegView, decode_msg};
use borrowire::output::decode_hex;
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::memory::{PAGE, Placed, SOURCE, TARGET};
use borrowire_benches::neg::{
    END, HEADER, SUB, binary, const_hex_format, decode_const_hex, read_nostr, read_serde,
    read_sonic,
};

use super::{MESSAGES, ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (len, size) in MESSAGES {
        let binary = binary(len);
        let frame = Placed::copy(const_hex_format(&binary).as_bytes(), SOURCE);
        let frame = frame.bytes();
        let digits = &frame[HEADER.len()..frame.len() - END.len()];
        let mut group = Group::new(format!("4: NEG-MSG to binary, {size}")).of_bytes(frame.len());
        add_reader(&mut group, "borrowire decode_msg", &binary, |out| {
            let sub = decode_msg(frame, out).unwrap();
            assert!(sub.eq_str(SUB));
        });
        add_reader(&mut group, "borrowire NegView", &binary, |out| {
            NegView::parse(frame).unwrap().decode_message(out);
        });
        add_reader(&mut group, "borrowire decode_hex of the digits", &binary, |out| {
            decode_hex(digits, out, "digits").unwrap();
        });
        for (name, read, text) in [
            ("const-hex of the digits", decode_const_hex as fn(&[u8], &mut Vec<u8>), digits),
            ("sonic-rs + const-hex", read_sonic, frame),
            ("serde_json + const-hex", read_serde, frame),
            ("nostr + const-hex", read_nostr, frame),
        ] {
            // Their buffer keeps its length, which const-hex asks for.
            let mut out = Vec::new();
            read(text, &mut out);
            assert!(out == binary, "{name} reads other bytes");
            group.add(name, move || {
                read(text, &mut out);
                black_box(&out[..]);
            });
        }
        let figures = group.run(ROUNDS);
        assert_eq!(figures[0].allocations, 0.0);
        for (rival, target) in [(2, 0.95), (3, 0.95), (4, 3.9)] {
            verdicts.push(Verdict {
                row: "4",
                claim: format!("read against {}, {size}", figures[rival].name),
                target,
                measured: ratio(&figures[0], &figures[rival]),
            });
        }
    }
    verdicts
}

/// A contender that reads `binary` into a reused buffer.
fn add_reader<'a>(
    group: &mut Group<'a>,
    name: &str,
    binary: &[u8],
    mut read: impl FnMut(&mut Vec<u8>) + 'a,
) {
    let mut out = Placed::room(binary.len(), TARGET);
    read(out.refill());
    assert!(out.bytes() == binary, "{name} reads other bytes");
    assert_eq!(out.bytes().as_ptr() as usize % PAGE, TARGET, "{name} moved the buffer");
    group.add(name, move || {
        read(out.refill());
        black_box(out.bytes());
    });
}
