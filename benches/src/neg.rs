//! NEG-MSG in the hands of the rivals: from binary, from hex that is text already, and back.

use std::borrow::Cow;
use std::io::Write;

use nostr::message::{ClientMessage, SubscriptionId};

/// Bytes that look like a negentropy message: noise.
pub fn binary(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]
    };
    (0..len).map(|_| byte()).collect()
}

/// hex and serde_json, the usual way.
pub fn write_hex_serde(binary: &[u8], out: &mut Vec<u8>) {
    serde_json::to_writer(out, &(LABEL, SUB, hex::encode(binary))).unwrap();
}

/// hex and serde_json, with a reused buffer for the digits, twice as long as `binary`.
pub fn write_hex_slice_serde(binary: &[u8], digits: &mut [u8], out: &mut Vec<u8>) {
    hex::encode_to_slice(binary, digits).unwrap();
    write_serde(std::str::from_utf8(digits).unwrap(), out);
}

/// const-hex and sonic-rs; `digits` is a reused buffer, twice as long as `binary`.
pub fn write_const_hex_sonic(binary: &[u8], digits: &mut [u8], out: &mut Vec<u8>) {
    let digits = const_hex::encode_to_str(binary, digits).unwrap();
    write_sonic(digits, out);
}

/// const-hex and `write!`, which escapes nothing.
pub fn write_const_hex_format(binary: &[u8], digits: &mut [u8], out: &mut Vec<u8>) {
    let digits = const_hex::encode_to_str(binary, digits).unwrap();
    write!(out, r#"["NEG-MSG","{SUB}","{digits}"]"#).unwrap();
}

/// const-hex and `format!`, which escapes nothing.
pub fn const_hex_format(binary: &[u8]) -> String {
    format!(r#"["NEG-MSG","{SUB}","{}"]"#, const_hex::encode(binary))
}

/// const-hex into the middle of a frame that has the right length already: what is left when
/// nothing is checked, escaped, or grown.
pub fn fill_const_hex(binary: &[u8], frame: &mut [u8]) {
    let (header, rest) = frame.split_at_mut(HEADER.len());
    let (digits, end) = rest.split_at_mut(2 * binary.len());
    header.copy_from_slice(HEADER);
    const_hex::encode_to_slice(binary, digits).unwrap();
    end.copy_from_slice(END);
}

/// const-hex and the nostr crate, which has the digits as text and makes a new string.
pub fn nostr_from_binary(sub: &SubscriptionId, binary: &[u8]) -> String {
    nostr(sub, &const_hex::encode(binary))
}

/// The nostr crate.
pub fn nostr(sub: &SubscriptionId, digits: &str) -> String {
    let (subscription_id, message) = (Cow::Borrowed(sub), Cow::Borrowed(digits));
    ClientMessage::NegMsg { subscription_id, message }.as_json()
}

pub fn write_serde(digits: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &(LABEL, SUB, digits)).unwrap();
}

pub fn write_sonic(digits: &str, out: &mut Vec<u8>) {
    sonic_rs::to_writer(out, &(LABEL, SUB, digits)).unwrap();
}

/// Lays a WebSocket mask over a frame that has been written, word by word, as tungstenite does.
pub fn mask(frame: &mut [u8], key: [u8; 4]) {
    let (words, tail) = frame.as_chunks_mut::<4>();
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ u32::from_ne_bytes(key)).to_ne_bytes();
    }
    for (byte, key) in tail.iter_mut().zip(key) {
        *byte ^= key;
    }
}

/// serde_json, borrowing, and const-hex.
pub fn read_serde(frame: &[u8], out: &mut Vec<u8>) {
    let (label, _sub, digits): (&str, &str, &str) = serde_json::from_slice(frame).unwrap();
    assert_eq!(label, LABEL);
    decode_const_hex(digits.as_bytes(), out);
}

/// sonic-rs, borrowing, and const-hex.
pub fn read_sonic(frame: &[u8], out: &mut Vec<u8>) {
    let (label, _sub, digits): (&str, &str, &str) = sonic_rs::from_slice(frame).unwrap();
    assert_eq!(label, LABEL);
    decode_const_hex(digits.as_bytes(), out);
}

/// The nostr crate, whose message is text, and const-hex.
pub fn read_nostr(frame: &[u8], out: &mut Vec<u8>) {
    let Ok(ClientMessage::NegMsg { message, .. }) = ClientMessage::from_json(frame) else {
        panic!("not a NEG-MSG");
    };
    decode_const_hex(message.as_bytes(), out);
}

/// const-hex alone. `out` is filled only if it has another length.
pub fn decode_const_hex(digits: &[u8], out: &mut Vec<u8>) {
    out.resize(digits.len() / 2, 0);
    const_hex::decode_to_slice(digits, out).unwrap();
}

pub const SUB: &str = "bench-sync";

/// What stands before and behind the digits.
pub const HEADER: &[u8] = br#"["NEG-MSG","bench-sync",""#;
pub const END: &[u8] = br#""]"#;

const LABEL: &str = "NEG-MSG";
