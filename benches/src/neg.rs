//! NEG-MSG frames in the hands of the rivals.

use std::borrow::Cow;

use nostr::message::{RelayMessage, SubscriptionId};

/// The subscription id of all frames.
pub const SUB: &str = "bench-sync";

/// Sizes of a frame's hex that are measured, with their names. A reply of 500 KiB of binary, which
/// strfry and geode send, is the last.
pub const HEX_SIZES: [(&str, usize); 4] = [
    ("64 KiB", 64 << 10),
    ("250 KiB", 250 << 10),
    ("500 KiB", 500 << 10),
    ("1000 KiB", 1000 << 10),
];

/// `len` bytes that repeat only after a long while.
pub fn binary(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The frame as serde_json writes it: what all contenders must give.
pub fn frame(binary: &[u8]) -> Vec<u8> {
    serde_json::to_vec(&("NEG-MSG", SUB, hex::encode(binary))).expect("text can be written")
}

/// The obvious way: the hex crate, then serde_json.
pub fn hex_serde_json(binary: &[u8], out: &mut Vec<u8>) {
    serde_json_text(&hex::encode(binary), out);
}

/// serde_json, of hex that is text already.
pub fn serde_json_text(hex: &str, out: &mut Vec<u8>) {
    out.clear();
    serde_json::to_writer(out, &("NEG-MSG", SUB, hex)).expect("a vector takes all");
}

/// sonic-rs, of hex that is text already.
pub fn sonic_text(hex: &str, out: &mut Vec<u8>) {
    out.clear();
    sonic_rs::to_writer(out, &("NEG-MSG", SUB, hex)).expect("a vector takes all");
}

/// The nostr crate, hex included.
pub fn nostr_as_json(sub: &SubscriptionId, binary: &[u8]) -> String {
    let message = Cow::Owned(const_hex::encode(binary));
    RelayMessage::NegMsg { subscription_id: Cow::Borrowed(sub), message }.as_json()
}

/// The fastest hex there is, spliced by `format!`: right only while nothing needs an escape.
pub fn format_const_hex(binary: &[u8]) -> String {
    format!("[\"NEG-MSG\",\"{SUB}\",\"{}\"]", const_hex::encode(binary))
}

/// Under a WebSocket mask, four bytes at a time, as libraries lay it on.
pub fn mask(frame: &mut [u8], key: [u8; 4]) {
    let word = u32::from_ne_bytes(key);
    let (chunks, rest) = frame.as_chunks_mut::<4>();
    for chunk in chunks {
        *chunk = (u32::from_ne_bytes(*chunk) ^ word).to_ne_bytes();
    }
    rest.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
}

/// serde_json reading borrowed text, then const-hex.
pub fn read_serde_json(frame: &[u8], out: &mut Vec<u8>) {
    let (_, _, hex): (&str, &str, &str) = serde_json::from_slice(frame).expect("a good frame");
    decode_const_hex(hex, out);
}

/// sonic-rs reading borrowed text, then const-hex.
pub fn read_sonic(frame: &[u8], out: &mut Vec<u8>) {
    let (_, _, hex): (&str, &str, &str) = sonic_rs::from_slice(frame).expect("a good frame");
    decode_const_hex(hex, out);
}

/// The nostr crate, then const-hex.
pub fn read_nostr(frame: &[u8], out: &mut Vec<u8>) {
    match RelayMessage::from_json(frame).expect("a good frame") {
        RelayMessage::NegMsg { message, .. } => decode_const_hex(&message, out),
        _ => unreachable!("a NEG-MSG frame"),
    }
}

/// const-hex alone, into a reused buffer.
pub fn decode_const_hex(hex: &str, out: &mut Vec<u8>) {
    out.resize(hex.len() / 2, 0);
    const_hex::decode_to_slice(hex, out).expect("good digits");
}

/// Room to copy between at a chosen distance modulo the size of a page.
pub struct Offsets {
    source: Vec<u8>,
    target: Vec<u8>,
    len: usize,
}

impl Offsets {
    pub fn new(bytes: &[u8]) -> Self {
        let mut source = vec![1; bytes.len() + PAGE];
        source[..bytes.len()].copy_from_slice(bytes);
        Self { source, target: Vec::with_capacity(bytes.len() + 2 * PAGE), len: bytes.len() }
    }

    /// Copies by `copy` so that (target - source) mod 4096 is `distance`.
    pub fn copy(&mut self, distance: usize, copy: impl Fn(&[u8], &mut Vec<u8>)) {
        let source = &self.source[..self.len];
        let apart = (self.target.as_ptr() as usize).wrapping_sub(source.as_ptr() as usize) % PAGE;
        let skip = (distance + PAGE - apart) % PAGE;
        if self.target.len() > skip {
            self.target.truncate(skip);
        }
        self.target.resize(skip, 0);
        copy(source, &mut self.target);
        assert_eq!(self.target.len(), skip + self.len);
    }
}

/// Bytes of a page.
pub const PAGE: usize = 4096;
