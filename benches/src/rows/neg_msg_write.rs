//! Rows 1 and 2: a NEG-MSG frame written from binary, and from hex that is text already.

use std::hint::black_box;

use borrowire::json::{CleanStr, HexStr, write_array};
use borrowire::nostr::neg::NegMsg;
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::memory::{PAGE, Placed, SOURCE, TARGET, with_fresh_pages};
use borrowire_benches::neg::{
    SUB, binary, const_hex_format, fill_const_hex, mask, nostr, nostr_from_binary,
    write_const_hex_format, write_const_hex_sonic, write_hex_serde, write_hex_slice_serde,
    write_serde, write_sonic,
};
use nostr::message::SubscriptionId;

use super::{MESSAGES, ROUNDS, Verdict};

/// Row 1.
pub(crate) fn run_binary() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (len, size) in MESSAGES {
        let binary = Placed::copy(&binary(len), SOURCE);
        let binary = binary.bytes();
        verdicts.extend(reused(binary, size));
        masked(binary, size);
        verdicts.extend(fresh(binary, &format!("{size}, fresh buffer")));
        with_fresh_pages(|| verdicts.extend(fresh(binary, &format!("{size}, fresh pages"))));
    }
    verdicts
}

/// Row 2.
pub(crate) fn run_digits() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (len, size) in MESSAGES {
        let digits = Placed::copy(const_hex::encode(binary(len)).as_bytes(), SOURCE);
        let digits = std::str::from_utf8(digits.bytes()).unwrap();
        let proven = HexStr::new(digits, "message").unwrap();
        let frame = serde_json::to_vec(&("NEG-MSG", SUB, digits)).unwrap();
        let limit = Placed::copy(&frame, SOURCE);
        let mut group = Group::new(format!("2: NEG-MSG from text, {size}")).of_bytes(frame.len());
        add_writer(&mut group, "borrowire", &frame, |out| {
            NegMsg { sub: SUB, message: proven.into() }.write(out);
        });
        add_writer(&mut group, "borrowire, digits checked each time", &frame, |out| {
            let message = HexStr::new(digits, "message").unwrap().into();
            NegMsg { sub: SUB, message }.write(out);
        });
        add_writer(&mut group, "borrowire, any text", &frame, |out| {
            write_array(out, (CleanStr::from_static("NEG-MSG"), SUB, digits));
        });
        add_writer(&mut group, "sonic-rs", &frame, |out| write_sonic(digits, out));
        add_writer(&mut group, "serde_json", &frame, |out| write_serde(digits, out));
        add_writer(&mut group, "memcpy of the frame", &frame, |out| {
            out.extend_from_slice(limit.bytes());
        });
        let sub = SubscriptionId::new(SUB);
        assert_eq!(nostr(&sub, digits).as_bytes(), frame);
        group.add("nostr, fresh buffer", move || nostr(&sub, digits));
        let figures = group.run(ROUNDS);
        for (rival, target) in [(3, 2.5), (4, 25.0), (5, 0.9)] {
            verdicts.push(Verdict {
                row: "2",
                claim: format!("text written against {}, {size}", figures[rival].name),
                target,
                measured: ratio(&figures[0], &figures[rival]),
            });
        }
    }
    verdicts
}

fn reused(binary: &[u8], size: &str) -> Vec<Verdict> {
    let frame = const_hex_format(binary).into_bytes();
    let limit = Placed::copy(&frame, SOURCE);
    let mut group = Group::new(format!("1: NEG-MSG from binary, {size}")).of_bytes(frame.len());
    add_writer(&mut group, "borrowire", &frame, |out| {
        NegMsg { sub: SUB, message: binary.into() }.write(out);
    });
    let mut digits = vec![0; 2 * binary.len()];
    add_writer(&mut group, "const-hex + sonic-rs", &frame, move |out| {
        write_const_hex_sonic(binary, &mut digits, out);
    });
    add_writer(&mut group, "hex + serde_json", &frame, |out| write_hex_serde(binary, out));
    let sub = SubscriptionId::new(SUB);
    assert_eq!(nostr_from_binary(&sub, binary).as_bytes(), frame);
    group.add("const-hex + nostr, fresh buffer", move || nostr_from_binary(&sub, binary));
    add_writer(&mut group, "memcpy of the frame", &frame, |out| {
        out.extend_from_slice(limit.bytes());
    });
    let mut digits = vec![0; 2 * binary.len()];
    add_writer(&mut group, "const-hex + write!, nothing escaped", &frame, move |out| {
        write_const_hex_format(binary, &mut digits, out);
    });
    let mut digits = vec![0; 2 * binary.len()];
    add_writer(&mut group, "hex into a reused buffer + serde_json", &frame, move |out| {
        write_hex_slice_serde(binary, &mut digits, out);
    });
    let mut room = Placed::copy(&vec![0; frame.len()], TARGET);
    fill_const_hex(binary, room.bytes_mut());
    assert_eq!(room.bytes(), frame);
    group.add("const-hex into a frame of the right length", move || {
        fill_const_hex(binary, room.bytes_mut());
        black_box(room.bytes());
    });
    let figures = group.run(ROUNDS);
    assert_eq!(figures[0].allocations, 0.0);
    let of_memcpy = if binary.len() < 64 << 10 { 0.75 } else { 0.9 };
    [(1, 3.5), (2, 45.0), (3, 20.0), (4, of_memcpy)]
        .map(|(rival, target)| Verdict {
            row: "1",
            claim: format!("binary written against {}, {size}", figures[rival].name),
            target,
            measured: ratio(&figures[0], &figures[rival]),
        })
        .into()
}

fn masked(binary: &[u8], size: &str) {
    let message = NegMsg { sub: SUB, message: binary.into() };
    let plain = const_hex_format(binary).into_bytes();
    let mut frame = plain.clone();
    mask(&mut frame, KEY);
    let limit = Placed::copy(&frame, SOURCE);
    let title = format!("1: NEG-MSG from binary, masked, {size}");
    let mut group = Group::new(title).of_bytes(frame.len());
    add_writer(&mut group, "borrowire, masked while written", &frame, |out| {
        message.write_masked(out, KEY);
    });
    add_writer(&mut group, "borrowire, then masked", &frame, |out| {
        let start = out.len();
        message.write(out);
        mask(&mut out[start..], KEY);
    });
    let mut digits = vec![0; 2 * binary.len()];
    add_writer(&mut group, "const-hex + sonic-rs, then masked", &frame, move |out| {
        let start = out.len();
        write_const_hex_sonic(binary, &mut digits, out);
        mask(&mut out[start..], KEY);
    });
    let mut out = Placed::copy(&plain, TARGET);
    group.add("the mask alone", move || {
        mask(out.bytes_mut(), KEY);
        black_box(out.bytes());
    });
    add_writer(&mut group, "memcpy of the frame", &frame, |out| {
        out.extend_from_slice(limit.bytes());
    });
    group.run(ROUNDS);
}

/// Every call makes a buffer and drops it.
fn fresh(binary: &[u8], size: &str) -> Vec<Verdict> {
    let frame = const_hex_format(binary);
    let limit = Placed::copy(frame.as_bytes(), SOURCE);
    let sub = SubscriptionId::new(SUB);
    let write = || {
        let mut out = Vec::new();
        NegMsg { sub: SUB, message: binary.into() }.write(&mut out);
        out
    };
    let sonic = || sonic_rs::to_vec(&("NEG-MSG", SUB, const_hex::encode(binary))).unwrap();
    let serde = || serde_json::to_vec(&("NEG-MSG", SUB, hex::encode(binary))).unwrap();
    assert!(write() == frame.as_bytes() && sonic() == write() && serde() == write());
    let mut group = Group::new(format!("1: NEG-MSG from binary, {size}")).of_bytes(frame.len());
    group
        .add("borrowire", write)
        .add("const-hex + format!, nothing escaped", || const_hex_format(binary))
        .add("const-hex + sonic-rs", sonic)
        .add("hex + serde_json", serde)
        .add("const-hex + nostr", || nostr_from_binary(&sub, binary))
        .add("memcpy of the frame", || limit.bytes().to_vec());
    let figures = group.run(ROUNDS);
    vec![Verdict {
        row: "1",
        claim: format!("binary written against {}, {size}", figures[1].name),
        target: 2.0,
        measured: ratio(&figures[0], &figures[1]),
    }]
}

/// A contender that writes `frame` into a reused buffer.
fn add_writer<'a>(
    group: &mut Group<'a>,
    name: &str,
    frame: &[u8],
    mut write: impl FnMut(&mut Vec<u8>) + 'a,
) {
    // sonic-rs asks for the room of a text that is all escapes.
    let mut out = Placed::room(8 * frame.len(), TARGET);
    write(out.refill());
    assert!(out.bytes() == frame, "{name} writes another frame");
    assert_eq!(out.bytes().as_ptr() as usize % PAGE, TARGET, "{name} moved the buffer");
    group.add(name, move || {
        write(out.refill());
        black_box(out.bytes());
    });
}

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
