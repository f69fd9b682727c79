//! Row 4: a NEG-MSG frame read to its binary.

use borrowire::nostr::neg::{NegView, decode_msg};
use borrowire::output::decode_hex;
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::neg::{
    HEX_SIZES, binary, decode_const_hex, frame, read_nostr, read_serde_json, read_sonic,
};

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    HEX_SIZES.iter().flat_map(|(name, len)| run_of(name, *len)).collect()
}

fn run_of(name: &str, hex_len: usize) -> Vec<Verdict> {
    let binary = &binary(hex_len / 2);
    let frame = &frame(binary);
    let text = &const_hex::encode(binary);
    let ours = |out: &mut Vec<u8>| {
        out.clear();
        decode_msg(frame, out).expect("a good frame");
    };
    let view = |out: &mut Vec<u8>| {
        out.clear();
        NegView::parse(&frame[..]).expect("a good frame").decode_message(out);
    };
    let alone = |out: &mut Vec<u8>| {
        out.clear();
        decode_hex(text.as_bytes(), out, "bench").expect("good digits");
    };
    let mut out = [(); 7].map(|()| Vec::with_capacity(binary.len()));
    let [a, b, c, d, e, f, g] = &mut out;
    ours(a);
    view(b);
    read_serde_json(frame, c);
    read_sonic(frame, d);
    read_nostr(frame, e);
    alone(f);
    decode_const_hex(text, g);
    for read in [&*a, b, c, d, e, f, g] {
        assert_eq!(read, binary);
    }
    let mut group = Group::new(format!("4: NEG-MSG of {name} of hex, to binary, reused buffer"));
    group
        .add("borrowire, decode_msg", || ours(a))
        .add("borrowire, NegView", || view(b))
        .add("serde_json borrowed + const-hex", || read_serde_json(frame, c))
        .add("sonic-rs borrowed + const-hex", || read_sonic(frame, d))
        .add("nostr + const-hex", || read_nostr(frame, e))
        .add("hex decode alone (ours)", || alone(f))
        .add("hex decode alone (const-hex)", || decode_const_hex(text, g));
    let figures = group.run(ROUNDS);
    let claim = |what: &str, target, rival: usize| Verdict {
        row: "4",
        claim: format!("{what}, {name}"),
        target,
        measured: ratio(&figures[0], &figures[rival]),
    };
    vec![
        claim("against our hex decode alone", 0.95, 5),
        claim("against const-hex decode alone", 0.95, 6),
        claim("against sonic-rs + const-hex", 3.9, 3),
        claim("against serde_json + const-hex", 1.0, 2),
        claim("against nostr + const-hex", 1.0, 4),
    ]
}
