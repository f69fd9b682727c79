//! Byte classes: which bytes of a text JSON must escape, which are hex digits.
//!
//! A search answers with a place; `Stops` and `Quotes` with one after the other, which they take
//! from one look at each block.
//!
//! With AVX2, which the CPU is asked for at run time, a search looks at 128 bytes between two
//! branches; without, at the 64 that the compiler puts into the target's own vectors.

#![allow(unsafe_code)]

mod id;
mod quotes;
mod stops;

pub(crate) use id::decode_id;
pub(crate) use quotes::Quotes;
pub(crate) use stops::Stops;

/// The first byte that a JSON string must escape: a control character below 0x20, `"` or `\`.
/// The length of `bytes` if there is none.
///
/// These are the bytes serde_json escapes. All others, DEL and U+2028 among them, it writes as
/// they are. Source: RFC 8259, section 7; serde_json 1.0, `ser.rs`.
///
/// ```
/// use borrowire::scan::first_escape;
///
/// assert_eq!(first_escape("caf\u{e9}\u{7f}".as_bytes()), 6);
/// assert_eq!(first_escape(b"tab\there"), 3);
/// ```
#[inline]
pub fn first_escape(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::first_escape(bytes) };
    }
    first_escape_by_block(bytes)
}

/// How many bytes longer `bytes` become as the inside of a JSON string: 1 for `"`, `\` and the
/// control characters with a short escape (`\b\t\n\f\r`), 5 for the others (`\u001f`).
///
/// ```
/// assert_eq!(borrowire::scan::escaped_extra(b"tab\t, \"quotes\", NUL\0"), 1 + 2 + 5);
/// ```
pub fn escaped_extra(bytes: &[u8]) -> usize {
    let clean = first_escape(bytes);
    if clean == bytes.len() {
        return 0;
    }
    let bytes = &bytes[clean..];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::escaped_extra(bytes) };
    }
    escaped_extra_by_block(bytes)
}

/// The first byte that is not a lowercase hex digit, `0-9a-f`. The length of `bytes` if there is
/// none.
///
/// ```
/// assert_eq!(borrowire::scan::first_non_hex(b"00fF"), 3);
/// ```
pub fn first_non_hex(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::first_non_hex(bytes) };
    }
    first_non_hex_by_block(bytes)
}

/// Whether serde_json escapes any byte of the block. Without branches, so that it becomes vectors.
#[inline(always)]
fn has_escape<const N: usize>(block: &[u8; N]) -> bool {
    block.iter().fold(0, |any, byte| any | u8::from(is_escape(*byte))) != 0
}

/// Whether serde_json escapes any byte of a word of eight.
#[inline(always)]
pub(crate) const fn word_has_escape(word: u64) -> bool {
    // A byte below n borrows from its high bit; bytes with a high bit of their own are neither
    // below 0x20 nor equal to an ASCII character. A borrow can reach the next byte only out of a
    // byte that is itself a hit, so whether there is a hit at all is exact.
    let quotes = word ^ repeat(b'"');
    let backslashes = word ^ repeat(b'\\');
    let below = word.wrapping_sub(repeat(0x20)) & !word;
    let quote = quotes.wrapping_sub(repeat(1)) & !quotes;
    let backslash = backslashes.wrapping_sub(repeat(1)) & !backslashes;
    (below | quote | backslash) & repeat(0x80) != 0
}

/// The searches in vectors of 32 bytes, and what the writers need to look at such vectors.
///
/// Safe functions, which the compiler lets no one call who has not AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn first_escape(bytes: &[u8]) -> usize {
        first(bytes, |rows| any(any_escapes(rows)), |row| escapes(row), super::first_escape_by_word)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn first_non_hex(bytes: &[u8]) -> usize {
        let non_hex = |row| non_hex(row, hex_values(row));
        first(
            bytes,
            |[a, b, c, d]| any(or(or(non_hex(a), non_hex(b)), or(non_hex(c), non_hex(d)))),
            non_hex,
            super::first_non_hex_by_byte,
        )
    }

    /// The plain loop again, in wider vectors.
    #[target_feature(enable = "avx2")]
    pub(super) fn escaped_extra(bytes: &[u8]) -> usize {
        super::escaped_extra_by_block(bytes)
    }

    /// The first byte for which `hits` sets a bit. Fewer than 32 bytes are left to `short`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn first(
        bytes: &[u8],
        any_hit: impl Fn([__m256i; 4]) -> bool,
        hits: impl Fn(__m256i) -> __m256i,
        short: impl Fn(&[u8]) -> usize,
    ) -> usize {
        let Some(last) = bytes.last_chunk::<32>() else {
            return short(bytes);
        };
        let (rows, _) = bytes.as_chunks::<32>();
        let (blocks, rest) = rows.as_chunks::<4>();
        let dirty = blocks.iter().position(|block| any_hit(load_all(block)));
        let (clean, rest) = match dirty {
            Some(at) => (128 * at, &blocks[at][..]),
            None => (128 * blocks.len(), rest),
        };
        for (i, row) in rest.iter().enumerate() {
            let row = hits(load(row));
            if any(row) {
                return clean + 32 * i + first_in(row);
            }
        }
        if bytes.len().is_multiple_of(32) {
            return bytes.len();
        }
        // The bytes read again are clean.
        let row = hits(load(last));
        if any(row) {
            return bytes.len() - 32 + first_in(row);
        }
        bytes.len()
    }

    /// Bits, if a JSON string needs an escape anywhere in four rows.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn any_escapes(rows: [__m256i; 4]) -> __m256i {
        let [a, b, c, d] = rows;
        let marks = or(or(marks(a), marks(b)), or(marks(c), marks(d)));
        // The least of four bytes is a control character if one of them is.
        let least = _mm256_min_epu8(_mm256_min_epu8(a, b), _mm256_min_epu8(c, d));
        or(marks, controls(least))
    }

    /// Bytes of ones where a JSON string needs an escape.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn escapes(row: __m256i) -> __m256i {
        or(marks(row), controls(row))
    }

    /// Bytes of ones for quotes and backslashes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn marks(row: __m256i) -> __m256i {
        // Looked up by its low nibble (2, 12), each of the two finds itself. No other byte does,
        // and those with a high bit find a zero.
        let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x5c, 0, 0, 0,
        ));
        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, row), row)
    }

    /// Bytes of ones for control characters.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn controls(row: __m256i) -> __m256i {
        _mm256_cmpeq_epi8(_mm256_min_epu8(row, _mm256_set1_epi8(0x1f)), row)
    }

    /// The values of lowercase hex digits, and other bytes for other bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn hex_values(digits: __m256i) -> __m256i {
        let decimal = _mm256_subs_epu8(digits, _mm256_set1_epi8(b'0' as i8));
        let letter = _mm256_sub_epi8(digits, _mm256_set1_epi8(b'a' as i8 - 10));
        _mm256_min_epu8(decimal, letter)
    }

    /// Zero for bytes that are the lowercase digits of their `hex_values`: bits where they are not.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn non_hex(digits: __m256i, values: __m256i) -> __m256i {
        _mm256_xor_si256(hex_digits(values), digits)
    }

    /// The lowercase digits of values below 16. No digit gives back a byte that is none.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn hex_digits(values: __m256i) -> __m256i {
        let digits = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, //
            0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66,
        ));
        _mm256_shuffle_epi8(digits, values)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn load(row: &[u8; 32]) -> __m256i {
        // SAFETY: the reference is to 32 bytes, and the load may be unaligned.
        unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn load_all<const N: usize>(rows: &[[u8; 32]; N]) -> [__m256i; N] {
        rows.each_ref().map(|row| load(row))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn or(a: __m256i, b: __m256i) -> __m256i {
        _mm256_or_si256(a, b)
    }

    /// Whether any bit is set.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn any(row: __m256i) -> bool {
        _mm256_testz_si256(row, row) == 0
    }

    /// The first byte that is not zero, of which there is one.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn first_in(row: __m256i) -> usize {
        let zeros = _mm256_cmpeq_epi8(row, _mm256_setzero_si256());
        (!_mm256_movemask_epi8(zeros)).trailing_zeros() as usize
    }
}

#[inline(always)]
fn first_escape_by_block(bytes: &[u8]) -> usize {
    let (blocks, tail) = bytes.as_chunks::<BLOCK>();
    for (i, block) in blocks.iter().enumerate() {
        if has_escape(block) {
            return i * BLOCK + first_escape_by_byte(block);
        }
    }
    blocks.len() * BLOCK + first_escape_by_word(tail)
}

#[inline(always)]
fn escaped_extra_by_block(bytes: &[u8]) -> usize {
    let (blocks, tail) = bytes.as_chunks::<32>();
    let extra: usize = blocks
        .iter()
        .map(|block| {
            // 32 escapes of 5 bytes each still fit a `u8`.
            block.iter().fold(0, |sum, byte| sum + extra(*byte)) as usize
        })
        .sum();
    extra + escaped_extra_by_byte(tail)
}

#[inline(always)]
fn first_non_hex_by_block(bytes: &[u8]) -> usize {
    let (blocks, tail) = bytes.as_chunks::<BLOCK>();
    for (i, block) in blocks.iter().enumerate() {
        let bad = block.iter().fold(0, |any, byte| any | u8::from(!is_hex(*byte)));
        if bad != 0 {
            return i * BLOCK + first_non_hex_by_byte(block);
        }
    }
    blocks.len() * BLOCK + first_non_hex_by_byte(tail)
}

#[inline(never)]
fn first_escape_by_word(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        if word_has_escape(u64::from_ne_bytes(*word)) {
            return i * 8 + first_escape_by_byte(word);
        }
    }
    words.len() * 8 + first_escape_by_byte(tail)
}

/// The slow twin of [`first_escape`].
pub(crate) fn first_escape_by_byte(bytes: &[u8]) -> usize {
    let escape = bytes.iter().position(|byte| is_escape(*byte));
    escape.unwrap_or(bytes.len())
}

/// The slow twin of [`escaped_extra`].
fn escaped_extra_by_byte(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(extra(*byte))).sum()
}

/// The slow twin of [`first_non_hex`].
#[inline(never)]
fn first_non_hex_by_byte(bytes: &[u8]) -> usize {
    let other = bytes.iter().position(|byte| !is_hex(*byte));
    other.unwrap_or(bytes.len())
}

#[inline(always)]
const fn is_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[inline(always)]
const fn is_hex(byte: u8) -> bool {
    (byte.wrapping_sub(b'0') < 10) | (byte.wrapping_sub(b'a') < 6)
}

/// The bytes that the escape of `byte` has more than one.
#[inline(always)]
const fn extra(byte: u8) -> u8 {
    // 8 to 13 without 11, the vertical tab, which has no letter.
    let letter = (byte.wrapping_sub(8) < 6) & (byte != 11);
    if (byte < 0x20) & !letter { 5 } else { is_escape(byte) as u8 }
}

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Bytes looked at between two branches: one cache line.
const BLOCK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_serde_json() {
        for byte in 0..0x80 {
            let text = char::from(byte).to_string();
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(extra(byte) as usize, json.len() - 3, "{byte:#04x}");
            assert_eq!(is_escape(byte), json.len() > 3, "{byte:#04x}");
        }
        for byte in 0x80..=0xff {
            assert!(!is_escape(byte) && extra(byte) == 0);
        }
    }

    #[test]
    fn fast_and_slow_agree_at_every_length_place_and_byte() {
        let mut bytes = [b'a'; 300];
        for len in 0..=bytes.len() {
            assert_twins(&bytes[..len]);
        }
        for len in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 200] {
            for at in 0..len {
                for byte in [0, 0x1f, b' ', b'!', b'"', b'#', b'[', b'\\', 0x7f, 0x80, 0xff] {
                    bytes[at] = byte;
                    assert_twins(&bytes[..len]);
                }
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn fast_and_slow_agree_at_every_alignment() {
        for start in 0..64 {
            for byte in 0..=255 {
                let mut bytes = [b'0'; 200];
                bytes[start + 100] = byte;
                assert_twins(&bytes[start..]);
            }
        }
    }

    #[test]
    fn a_borrow_between_bytes_of_a_word_makes_no_hit() {
        for byte in 0..=255 {
            for next in 0..=255 {
                let word = [byte, next, b'a', b'a', b'a', b'a', byte, next];
                assert_eq!(
                    word_has_escape(u64::from_ne_bytes(word)),
                    word.into_iter().any(is_escape),
                    "{word:x?}"
                );
            }
        }
    }

    #[test]
    fn escapes_without_end_are_counted() {
        for byte in [0, b'\n', b'"'] {
            assert_twins(&[byte; 300]);
        }
    }

    #[track_caller]
    fn assert_twins(bytes: &[u8]) {
        let first = first_escape_by_byte(bytes);
        assert_eq!(first_escape(bytes), first);
        assert_eq!(first_escape_by_word(bytes), first);
        assert_eq!(first_escape_by_block(bytes), first);
        assert_eq!(escaped_extra(bytes), escaped_extra_by_byte(bytes));
        assert_eq!(escaped_extra_by_block(bytes), escaped_extra_by_byte(bytes));
        assert_eq!(first_non_hex(bytes), first_non_hex_by_byte(bytes));
        assert_eq!(first_non_hex_by_block(bytes), first_non_hex_by_byte(bytes));
    }
}
