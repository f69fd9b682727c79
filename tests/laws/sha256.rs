//! Laws of SHA-256 over slices: many at once, and however it is cut, a message has one digest.

use borrowire::sha256::{Part, digest, digest_many, digest_pair};
use sha2::{Digest, Sha256};

/// Cuts `input` into messages of up to four parts, where bytes of its own say, and digests them in
/// every way.
pub fn digests(input: &[u8]) {
    let messages = cut(input);
    let expected: Vec<[u8; 32]> =
        messages.iter().map(|parts| Sha256::digest(parts.concat()).into()).collect();
    let mut delivered = vec![None; messages.len()];
    digest_many(messages.iter().copied(), |i, digest| {
        assert_eq!(delivered[i].replace(digest), None, "message {i} was delivered twice");
    });
    assert!(delivered.into_iter().map(Option::unwrap).eq(expected.iter().copied()));
    let words = messages.iter().map(|parts| parts.map(as_word));
    digest_many(words, |i, digest| assert_eq!(digest, expected[i]));
    for (i, parts) in messages.iter().enumerate() {
        assert_eq!(digest(parts), expected[i]);
        let other = messages.len() - 1 - i;
        assert_eq!(digest_pair(parts, &messages[other]), [expected[i], expected[other]]);
    }
}

/// Each message begins with a byte for each of its parts, their lengths; where the byte is large,
/// the part is several times as long.
fn cut(mut input: &[u8]) -> Vec<[&[u8]; 4]> {
    let mut messages = Vec::new();
    while let Some((lens, mut rest)) = input.split_first_chunk::<4>() {
        let parts = lens.map(|len| {
            let len = usize::from(len) * if len > 200 { 9 } else { 1 };
            let (part, after) = rest.split_at(len.min(rest.len()));
            rest = after;
            part
        });
        messages.push(parts);
        input = rest;
    }
    messages
}

/// A part of eight bytes, as timestamps are given.
fn as_word(part: &[u8]) -> Part<'_> {
    match part.try_into() {
        Ok(word) => Part::Word(word),
        Err(_) => Part::Slice(part),
    }
}

#[cfg(test)]
mod driven {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::corpus;

    #[test]
    fn by_every_length_to_a_thousand() {
        let bytes: Vec<u8> = (0..1_000_u32).map(|i| (i * 31) as u8).collect();
        let all = || (0..=bytes.len()).map(|len| [&bytes[..len]]);
        digest_many(all(), |i, digest| {
            assert_eq!(digest, <[u8; 32]>::from(Sha256::digest(&bytes[..i])), "{i} bytes");
        });
        // The other way round: short messages overtake long ones.
        digest_many(all().rev(), |i, digest| {
            let len = bytes.len() - i;
            assert_eq!(digest, <[u8; 32]>::from(Sha256::digest(&bytes[..len])), "{len} bytes");
        });
    }

    #[test]
    fn by_the_committed_corpus() {
        corpus("sha256").iter().for_each(|input| digests(input));
    }

    proptest! {
        #[test]
        fn by_noise(input in vec(any::<u8>(), 0..6_000)) {
            digests(&input);
        }

        #[test]
        fn by_short_parts(input in vec(0_u8..80, 0..3_000)) {
            digests(&input);
        }
    }
}
