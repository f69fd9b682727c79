//! The loops under the writers: each over 32-byte vectors where the CPU has AVX2, and its slow twin.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::output::Mask;
use crate::scan::{first_escape_by_byte, word_has_escape};

/// Fills `room` with `bytes` under `mask`. Both are of one length.
pub(super) fn copy(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
    debug_assert_eq!(bytes.len(), room.len());
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::copy(bytes, room, mask) };
    }
    copy_by_word(bytes, room, mask);
}

/// Copies up to the first byte that needs an escape, and returns how many bytes those are.
#[inline]
pub(super) fn copy_scanned(bytes: &[u8], room: &mut [MaybeUninit<u8>]) -> usize {
    debug_assert_eq!(bytes.len(), room.len());
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::copy_scanned(bytes, room) };
    }
    copy_scanned_by_word(bytes, room)
}

/// Fills `room` with `bytes` as lowercase hex, under `mask`. It is twice as long as `bytes`.
pub(super) fn encode_hex(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
    debug_assert_eq!(2 * bytes.len(), room.len());
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::encode_hex(bytes, room, mask) };
    }
    encode_hex_by_word(bytes, room, mask);
}

/// Fills `room` with the bytes that `hex` stands for, or returns that it is not lowercase hex. It
/// is half as long as `hex`.
pub(super) fn decode_hex(hex: &[u8], room: &mut [MaybeUninit<u8>]) -> bool {
    debug_assert_eq!(hex.len(), 2 * room.len());
    #[cfg(target_arch = "x86_64")]
    if hex.len() >= 64 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::decode_hex(hex, room) };
    }
    decode_hex_by_pair(hex, room)
}

/// The fast twins, in rows of 32 bytes. The first row goes where the room begins, the last one ends
/// flush, and the rows between begin at multiples of 32, where no store crosses a cache line. Some
/// bytes are written twice.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use crate::output::Mask;
    use crate::scan::avx2::{
        any, any_escapes, escapes, hex_digits, hex_values, load, load_all, non_hex, or,
    };
    use crate::scan::first_escape;

    #[target_feature(enable = "avx2")]
    pub(super) fn copy(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return super::copy_by_word(bytes, room, mask);
        };
        // A mask of zeros, too, is laid over: a plain loop the compiler would make a `memcpy`.
        if let Some(room) = room.first_chunk_mut() {
            store(xor(load(first), load(&mask.bytes())), room);
        }
        let skip = to_boundary(room);
        let key = load(&mask.after(skip).bytes());
        let (rows, _) = bytes[skip..].as_chunks::<32>();
        let (blocks, rest) = rows.as_chunks::<4>();
        let (room_rows, _) = room[skip..].as_chunks_mut::<32>();
        let (room_blocks, room_rest) = room_rows.as_chunks_mut::<4>();
        for (block, room) in blocks.iter().zip(room_blocks) {
            store_all(load_all(block).map(|row| xor(row, key)), room);
        }
        for (row, room) in rest.iter().zip(room_rest) {
            store(xor(load(row), key), room);
        }
        if let Some(room) = room.last_chunk_mut() {
            let key = load(&mask.after(bytes.len() - 32).bytes());
            store(xor(load(last), key), room);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn copy_scanned(bytes: &[u8], room: &mut [MaybeUninit<u8>]) -> usize {
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return super::copy_scanned_by_word(bytes, room);
        };
        let mut done = 0;
        if bytes.len() >= LONG {
            done = to_boundary(room);
            if let (1.., Some(room)) = (done, room.first_chunk_mut())
                && any(copy_row(first, room))
            {
                return escape_in(first);
            }
        }
        let (blocks, _) = bytes[done..].as_chunks::<256>();
        let (room_blocks, _) = room[done..].as_chunks_mut::<256>();
        for (block, room) in blocks.iter().zip(room_blocks) {
            if any(copy_block(block, room)) {
                return done + escape_in(block);
            }
            done += 256;
        }
        let (rows, _) = bytes[done..].as_chunks::<32>();
        let (room_rows, _) = room[done..].as_chunks_mut::<32>();
        for (row, room) in rows.iter().zip(room_rows) {
            if any(copy_row(row, room)) {
                return done + escape_in(row);
            }
            done += 32;
        }
        if let (true, Some(room)) = (done < bytes.len(), room.last_chunk_mut())
            && any(copy_row(last, room))
        {
            return bytes.len() - 32 + escape_in(last);
        }
        bytes.len()
    }

    /// [`first_escape`] where there is one, out of the way of the loops.
    #[cold]
    #[inline(never)]
    fn escape_in(bytes: &[u8]) -> usize {
        first_escape(bytes)
    }

    /// Copies a block, and returns bits if a byte of it needs an escape. Four rows at a time: the
    /// compiler would make one `memcpy` of the stores of eight.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn copy_block(block: &[u8; 256], room: &mut [MaybeUninit<u8>; 256]) -> __m256i {
        let (halves, _) = block.as_chunks::<128>();
        let (room_halves, _) = room.as_chunks_mut::<128>();
        let mut found = _mm256_setzero_si256();
        for (half, room) in halves.iter().zip(room_halves) {
            let (rows, _) = half.as_chunks();
            let rows = [0, 1, 2, 3].map(|i| load(&rows[i]));
            store_all(rows, room.as_chunks_mut().0);
            found = or(found, any_escapes(rows));
        }
        found
    }

    /// Copies a row, and returns which of its bytes need an escape.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn copy_row(row: &[u8; 32], room: &mut [MaybeUninit<u8>; 32]) -> __m256i {
        let row = load(row);
        store(row, room);
        escapes(row)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn encode_hex(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
        // A mask of zeros would cost a tenth of the time: the vector units are busy here.
        if mask == Mask::NONE {
            encode_hex_under(bytes, room, mask, |row, _| row);
        } else {
            encode_hex_under(bytes, room, mask, |row, key| xor(row, key));
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn encode_hex_under(
        bytes: &[u8],
        room: &mut [MaybeUninit<u8>],
        mask: Mask,
        masked: impl Fn(__m256i, __m256i) -> __m256i + Copy,
    ) {
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return super::encode_hex_by_word(bytes, room, mask);
        };
        let store_digits = |row, mask: Mask, room: &mut [MaybeUninit<u8>; 64]| {
            let key = load(&mask.bytes());
            store_all(digits_of(row).map(|row| masked(row, key)), room.as_chunks_mut().0);
        };
        if let Some(room) = room.first_chunk_mut() {
            store_digits(first, mask, room);
        }
        // A boundary between the two digits of a byte is out of reach.
        let skip = to_boundary(room);
        let skip = if skip.is_multiple_of(2) { skip } else { 0 };
        let (rows, _) = bytes[skip / 2..].as_chunks();
        let (room_pairs, _) = room[skip..].as_chunks_mut();
        for (row, room) in rows.iter().zip(room_pairs) {
            store_digits(row, mask.after(skip), room);
        }
        if let Some(room) = room.last_chunk_mut() {
            store_digits(last, mask.after(2 * (bytes.len() - 32)), room);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn decode_hex(hex: &[u8], room: &mut [MaybeUninit<u8>]) -> bool {
        let (Some(first), Some(last)) = (hex.first_chunk(), hex.last_chunk()) else {
            return super::decode_hex_by_pair(hex, room);
        };
        let mut bad = _mm256_setzero_si256();
        if let Some(room) = room.first_chunk_mut() {
            store(bytes_of(first, &mut bad), room);
        }
        let skip = to_boundary(room);
        let (pairs, _) = hex[2 * skip..].as_chunks::<64>();
        let (room_rows, _) = room[skip..].as_chunks_mut::<32>();
        for (pair, room) in pairs.iter().zip(room_rows) {
            store(bytes_of(pair, &mut bad), room);
        }
        if let Some(room) = room.last_chunk_mut() {
            store(bytes_of(last, &mut bad), room);
        }
        !any(bad)
    }

    /// How many bytes after its start the room, which has 32 or more, reaches a multiple of 32.
    #[inline(always)]
    fn to_boundary(room: &[MaybeUninit<u8>]) -> usize {
        room.as_ptr().align_offset(32).min(room.len())
    }

    /// The 64 digits of 32 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn digits_of(bytes: &[u8; 32]) -> [__m256i; 2] {
        // Unpacking works in each half apart, so the quarters it takes first go to the fronts.
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(load(bytes));
        let nibble = _mm256_set1_epi8(15);
        let high = hex_digits(_mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble));
        let low = hex_digits(_mm256_and_si256(bytes, nibble));
        [_mm256_unpacklo_epi8(high, low), _mm256_unpackhi_epi8(high, low)]
    }

    /// The 32 bytes of 64 digits. Sets bits of `bad` if one is none.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn bytes_of(digits: &[u8; 64], bad: &mut __m256i) -> __m256i {
        let mut rows = [*bad; 2];
        for (value, digits) in rows.iter_mut().zip(digits.as_chunks::<32>().0) {
            let digits = load(digits);
            let values = hex_values(digits);
            *bad = or(*bad, non_hex(digits, values));
            // High digits times 16, low ones times 1, added in pairs.
            *value = _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0110));
        }
        _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(rows[0], rows[1]))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store_all<const N: usize>(rows: [__m256i; N], room: &mut [[MaybeUninit<u8>; 32]]) {
        for (row, room) in rows.into_iter().zip(room) {
            store(row, room);
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store(row: __m256i, room: &mut [MaybeUninit<u8>; 32]) {
        // SAFETY: the reference is to room for 32 bytes, and the store may be unaligned.
        unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), row) };
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn xor(a: __m256i, b: __m256i) -> __m256i {
        _mm256_xor_si256(a, b)
    }

    /// From how many bytes on stores that cross no cache line pay for the row they cost.
    const LONG: usize = 256;
}

/// The slow twin of `copy`.
#[inline]
fn copy_by_word(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
    let key = mask.bytes::<8>();
    let (words, tail) = bytes.as_chunks::<8>();
    let (room_words, room_tail) = room.as_chunks_mut::<8>();
    for (word, room) in words.iter().zip(room_words) {
        let masked = u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(key);
        *room = masked.to_ne_bytes().map(MaybeUninit::new);
    }
    for ((byte, room), key) in tail.iter().zip(room_tail).zip(key) {
        room.write(byte ^ key);
    }
}

/// The slow twin of `copy_scanned`. The last word ends flush: it goes over some bytes twice.
#[inline(never)]
fn copy_scanned_by_word(bytes: &[u8], room: &mut [MaybeUninit<u8>]) -> usize {
    let (Some(last), Some(_)) = (bytes.last_chunk::<8>(), room.last_chunk::<8>()) else {
        let clean = first_escape_by_byte(bytes);
        for (byte, room) in bytes[..clean].iter().zip(room) {
            room.write(*byte);
        }
        return clean;
    };
    let words = bytes.as_chunks::<8>().0;
    for (i, (word, room)) in words.iter().zip(room.as_chunks_mut::<8>().0).enumerate() {
        *room = word.map(MaybeUninit::new);
        if word_has_escape(u64::from_ne_bytes(*word)) {
            return i * 8 + first_escape_by_byte(word);
        }
    }
    if let Some(room) = room.last_chunk_mut() {
        *room = last.map(MaybeUninit::new);
    }
    if word_has_escape(u64::from_ne_bytes(*last)) {
        return bytes.len() - 8 + first_escape_by_byte(last);
    }
    bytes.len()
}

/// The slow twin of `encode_hex`.
#[inline]
fn encode_hex_by_word(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
    let key = u64::from_le_bytes(mask.bytes());
    let (words, tail) = bytes.as_chunks::<4>();
    let (room_words, room_tail) = room.as_chunks_mut::<8>();
    for (word, room) in words.iter().zip(room_words) {
        let digits = hex_word(*word) ^ key;
        *room = digits.to_le_bytes().map(MaybeUninit::new);
    }
    let key = key.to_le_bytes();
    let (pairs, _) = room_tail.as_chunks_mut::<2>();
    for (i, (byte, pair)) in tail.iter().zip(pairs).enumerate() {
        pair[0].write(hex_digit(byte >> 4) ^ key[2 * i]);
        pair[1].write(hex_digit(byte & 15) ^ key[2 * i + 1]);
    }
}

/// The digits of four bytes, the first lowest.
#[inline(always)]
const fn hex_word(bytes: [u8; 4]) -> u64 {
    let word = u32::from_le_bytes(bytes) as u64;
    let word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    let word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    let values = (word >> 4 | word << 8) & 0x0f0f_0f0f_0f0f_0f0f;
    // 6 more carry the values from 10 on into bit 4.
    let letters = (values + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    values + 0x3030_3030_3030_3030 + letters * (b'a' - 10 - b'0') as u64
}

/// The slow twin of `decode_hex`.
#[inline(never)]
fn decode_hex_by_pair(hex: &[u8], room: &mut [MaybeUninit<u8>]) -> bool {
    let mut all = 0;
    for (pair, room) in hex.as_chunks::<2>().0.iter().zip(room) {
        let [high, low] = pair.map(hex_value);
        all |= high | low;
        room.write(high << 4 | low);
    }
    all < 16
}

/// The lowercase digit of a value below 16.
#[inline(always)]
const fn hex_digit(value: u8) -> u8 {
    value + if value > 9 { b'a' - 10 } else { b'0' }
}

/// The value of a lowercase digit, and 255 of any other byte.
#[inline(always)]
const fn hex_value(digit: u8) -> u8 {
    let decimal = digit.wrapping_sub(b'0');
    let letter = digit.wrapping_sub(b'a');
    let value = if letter < 6 { letter + 10 } else { 255 };
    if decimal < 10 { decimal } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{append, tests::noise};

    #[test]
    fn fast_and_slow_agree_at_every_length_and_alignment() {
        let source = noise(300 + 64);
        for len in 0..=300 {
            // All lengths at some place of source and room; below, all places at some lengths.
            assert_twins(&source[len % 61..][..len], len % 64);
        }
        for len in [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300] {
            for place in 0..64 {
                assert_twins(&source[place..][..len], 0);
                assert_twins(&source[..len], place);
            }
        }
    }

    #[test]
    fn scanned_copies_stop_before_every_escape_at_every_place() {
        for len in [1, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 160, 200, 300] {
            let mut bytes = vec![b'a'; len];
            for at in 0..len {
                for byte in [0, 0x1f, b'"', b'\\'] {
                    bytes[at] = byte;
                    assert_scanned(&bytes, &bytes[..at], 0);
                }
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn every_byte_is_a_digit_or_not() {
        for len in [2, 62, 64, 66, 128, 190] {
            for at in [0, 1, len / 2, len - 1] {
                for byte in 0..=255 {
                    let mut hex = vec![b'0'; len];
                    hex[at] = byte;
                    let is_digit = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                    let mut room = vec![MaybeUninit::uninit(); len / 2];
                    assert_eq!(decode_hex(&hex, &mut room), is_digit, "{byte:#x} at {at}");
                    assert_eq!(decode_hex_by_pair(&hex, &mut room), is_digit);
                }
            }
        }
    }

    /// Every loop and its twin against the plain way, in a room that begins at byte `place` of a
    /// cache line.
    #[track_caller]
    fn assert_twins(bytes: &[u8], place: usize) {
        let hex = const_hex::encode(bytes).into_bytes();
        for phase in 0..4 {
            let key = [0x37, 0xfa, 0x21, 0x3d];
            let mask = Mask::new(key).after(phase);
            let masked = |bytes: &[u8]| -> Vec<u8> {
                let keys = key.iter().cycle().skip(phase);
                bytes.iter().zip(keys).map(|(byte, key)| byte ^ key).collect()
            };
            for copy in [copy, copy_by_word] {
                let copied = filled(bytes.len(), place, |room| copy(bytes, room, mask));
                assert_eq!(copied, masked(bytes));
            }
            for encode_hex in [encode_hex, encode_hex_by_word] {
                let encoded = filled(hex.len(), place, |room| encode_hex(bytes, room, mask));
                assert_eq!(encoded, masked(&hex));
            }
        }
        for decode_hex in [decode_hex, decode_hex_by_pair] {
            let decoded = filled(bytes.len(), place, |room| assert!(decode_hex(&hex, room)));
            assert_eq!(decoded, bytes);
        }
        let dirty = |byte: &u8| matches!(byte, ..0x20 | b'"' | b'\\');
        let clean = bytes.iter().position(dirty).unwrap_or(bytes.len());
        assert_scanned(bytes, &bytes[..clean], place);
    }

    #[track_caller]
    fn assert_scanned(bytes: &[u8], clean: &[u8], place: usize) {
        for copy_scanned in [copy_scanned, copy_scanned_by_word] {
            // What lies behind the escape may be written or not.
            let copied = filled(bytes.len(), place, |room| {
                room.fill(MaybeUninit::new(0));
                assert_eq!(copy_scanned(bytes, room), clean.len());
            });
            assert_eq!(&copied[..clean.len()], clean);
        }
    }

    /// The `len` bytes that `fill` fills a room with, `place` bytes after the start of a line.
    fn filled(len: usize, place: usize, fill: impl FnOnce(&mut [MaybeUninit<u8>])) -> Vec<u8> {
        let mut out = Vec::<u8>::with_capacity(len + 128);
        let before = out.as_ptr().align_offset(64) + place;
        out.resize(before, 0);
        let filled = append(&mut out, Mask::NONE, |room| {
            fill(room.next(len)?);
            room.filled += len;
            Ok(())
        });
        assert_eq!(filled, Ok(()));
        out.split_off(before)
    }
}
