//! The laws: what holds for every input. Each is stated once, as a function that panics where it
//! is broken, and driven by the fixtures, by seeded noise, by proptest and the committed corpus
//! (`driven` in each file), and by the fuzzers in `fuzz/`, which include this file.

#![allow(missing_docs, dead_code)]

use borrowire::{Error, ErrorKind};

#[cfg(feature = "codec")]
#[path = "laws/codec.rs"]
pub mod codec;
#[path = "laws/event.rs"]
pub mod event;
#[path = "laws/filter.rs"]
pub mod filter;
#[path = "laws/frames.rs"]
pub mod frames;
#[path = "laws/json.rs"]
pub mod json;
#[path = "laws/neg.rs"]
pub mod neg;
#[path = "laws/negentropy.rs"]
pub mod negentropy;
#[path = "laws/sha256.rs"]
pub mod sha256;
#[path = "laws/waku.rs"]
pub mod waku;
#[path = "laws/waku_frames.rs"]
pub mod waku_frames;
#[path = "laws/waku_store.rs"]
pub mod waku_store;

/// An error lies within the bytes that were read, and the byte that it says it found is there.
pub fn error_is_where_it_says(input: &[u8], error: Error) {
    assert!(error.offset() <= input.len(), "{error} lies outside of {} bytes", input.len());
    let here = input.get(error.offset()).copied();
    match error.kind() {
        ErrorKind::Unexpected { found, .. } => assert_eq!(found, here, "{error}"),
        ErrorKind::HexDigit { found }
        | ErrorKind::ControlCharacter { found }
        | ErrorKind::Version { found, .. } => assert_eq!(Some(found), here, "{error}"),
        ErrorKind::HexEscape => assert_eq!(here, Some(b'\\'), "{error}"),
        _ => {}
    }
}

/// Every prefix of `input`, and `input` with each byte changed in turn (all bytes of the first
/// 4 KiB, one in 251 after), handed to `law`.
pub fn every_damage(input: &[u8], law: impl Fn(&[u8])) {
    let mut places = (0..input.len()).filter(|i| *i < 4096 || i % 251 == 0).collect::<Vec<_>>();
    places.push(input.len());
    let mut damaged = input.to_vec();
    for at in places {
        law(&input[..at]);
        for change in [0x01, 0x07, 0x80, 0xff] {
            let Some(byte) = damaged.get_mut(at) else {
                break;
            };
            *byte ^= change;
            law(&damaged);
            damaged[at] = input[at];
        }
    }
}

/// The inputs in `fuzz/corpus` for a target.
#[cfg(test)]
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).unwrap();
    let inputs: Vec<_> =
        entries.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(inputs.len() >= 20, "{target} has only {} inputs", inputs.len());
    inputs
}
