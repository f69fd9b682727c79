//! Rows 1 and 2: a NEG-MSG frame written, from binary and from hex that is text already.

use borrowire::json::HexStr;
use borrowire::nostr::neg::NegMsg;
use borrowire_benches::interleaved::{Figures, Group, ratio};
use borrowire_benches::neg::{
    HEX_SIZES, Offsets, SUB, binary, format_const_hex, frame, hex_serde_json, mask, nostr_as_json,
    serde_json_text, sonic_text,
};
use nostr::message::SubscriptionId;

use super::{ROUNDS, Verdict};

/// Row 1.
pub(crate) fn from_binary() -> Vec<Verdict> {
    HEX_SIZES.iter().flat_map(|(name, len)| from_binary_of(name, *len)).collect()
}

fn from_binary_of(name: &str, hex_len: usize) -> Vec<Verdict> {
    let binary = &binary(hex_len / 2);
    let expected = &frame(binary);
    let sub = &SubscriptionId::new(SUB);
    let ours = |out: &mut Vec<u8>| {
        out.clear();
        NegMsg { sub: SUB, message: binary.as_slice().into() }.write(out);
    };
    let sonic = |out: &mut Vec<u8>| sonic_text(&const_hex::encode(binary), out);
    let masked = |out: &mut Vec<u8>| {
        out.clear();
        NegMsg { sub: SUB, message: binary.as_slice().into() }.write_masked(out, KEY);
    };
    let [mut a, mut b, mut c, mut d, mut e] = [(); 5].map(|()| Vec::with_capacity(expected.len()));
    ours(&mut a);
    hex_serde_json(binary, &mut b);
    sonic(&mut c);
    masked(&mut d);
    mask(&mut d, KEY);
    for frame in [&a, &b, &c, &d] {
        assert_eq!(frame, expected);
    }
    assert_eq!(nostr_as_json(sub, binary).as_bytes(), expected);
    assert_eq!(format_const_hex(binary).as_bytes(), expected);

    let mut copies = Offsets::new(expected);
    let mut group = Group::new(format!("1: NEG-MSG of {name} of hex, from binary, reused buffer"));
    group
        .add("borrowire", || ours(&mut a))
        .add("hex + serde_json", || hex_serde_json(binary, &mut b))
        .add("nostr as_json (const-hex)", || nostr_as_json(sub, binary))
        .add("const-hex + sonic-rs", || sonic(&mut c))
        .add("memcpy of the frame", || copies.copy(GOOD, |from, to| to.extend_from_slice(from)))
        .add("borrowire, masked", || masked(&mut d))
        .add("borrowire, then masked", || {
            ours(&mut e);
            mask(&mut e, KEY);
        });
    let figures = group.run(ROUNDS);
    let mut group = Group::new(format!("1: NEG-MSG of {name} of hex, from binary, fresh buffer"));
    group
        .add("borrowire", || {
            let mut out = Vec::new();
            ours(&mut out);
            out
        })
        .add("format! + const-hex", || format_const_hex(binary))
        .add("hex + serde_json", || {
            let mut out = Vec::new();
            hex_serde_json(binary, &mut out);
            out
        });
    let fresh = group.run(ROUNDS);

    let of_memcpy = if hex_len < 100_000 { 0.75 } else { 0.9 };
    let claim = |what: &str, target, figures: &[Figures], rival: usize| Verdict {
        row: "1",
        claim: format!("{what}, {name}"),
        target,
        measured: ratio(&figures[0], &figures[rival]),
    };
    if hex_len > LARGEST_WITH_TARGET {
        return Vec::new();
    }
    vec![
        claim("against hex + serde_json", 45.0, &figures, 1),
        claim("against nostr", 20.0, &figures, 2),
        claim("against const-hex + sonic-rs", 3.5, &figures, 3),
        claim("against memcpy", of_memcpy, &figures, 4),
        claim("fresh buffer against format! + const-hex", 2.0, &fresh, 1),
        Verdict {
            row: "1",
            claim: format!("masked in the same pass against masked after, {name}"),
            target: 1.0,
            measured: ratio(&figures[5], &figures[6]),
        },
    ]
}

/// Row 2.
pub(crate) fn from_text() -> Vec<Verdict> {
    HEX_SIZES.iter().flat_map(|(name, len)| from_text_of(name, *len)).collect()
}

fn from_text_of(name: &str, hex_len: usize) -> Vec<Verdict> {
    let binary = binary(hex_len / 2);
    let expected = &frame(&binary);
    let text = &const_hex::encode(&binary);
    let digits = HexStr::new(text, "bench").expect("hex");
    let ours = |out: &mut Vec<u8>| {
        out.clear();
        NegMsg { sub: SUB, message: digits.into() }.write(out);
    };
    let [mut a, mut b, mut c] = [(); 3].map(|()| Vec::with_capacity(expected.len()));
    ours(&mut a);
    serde_json_text(text, &mut b);
    sonic_text(text, &mut c);
    for frame in [&a, &b, &c] {
        assert_eq!(frame, expected);
    }
    let mut copies = Offsets::new(expected);
    let mut group = Group::new(format!("2: NEG-MSG of {name} of hex, from text, reused buffer"));
    group
        .add("borrowire", || ours(&mut a))
        .add("serde_json", || serde_json_text(text, &mut b))
        .add("sonic-rs", || sonic_text(text, &mut c))
        .add("memcpy of the frame", || copies.copy(GOOD, |from, to| to.extend_from_slice(from)));
    let figures = group.run(ROUNDS);
    let claim = |what: &str, target, rival: usize| Verdict {
        row: "2",
        claim: format!("{what}, {name}"),
        target,
        measured: ratio(&figures[0], &figures[rival]),
    };
    if hex_len > LARGEST_WITH_TARGET {
        return Vec::new();
    }
    vec![
        claim("against serde_json", 25.0, 1),
        claim("against sonic-rs", 2.5, 2),
        claim("against memcpy", 0.9, 3),
    ]
}

/// The targets hold up to 512 KB of hex; the larger frame is shown beside them.
const LARGEST_WITH_TARGET: usize = 512_000;
/// A distance at which glibc's memcpy is fast.
const GOOD: usize = 2048;
const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
