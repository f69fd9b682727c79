//! Appends to the spare room of a `Vec<u8>` or a [`BytesMut`]: bytes, hex, text that is scanned
//! while it is copied; as they are, or under a WebSocket mask.
//!
//! Loops over 32-byte vectors where the CPU has AVX2, which it is asked at run time, and plain ones
//! elsewhere.
//!
//! Large copies use such a loop instead of `memcpy`. From 4 KiB on, glibc copies with `rep movsb`,
//! which on AMD Zen 3 falls from 40 GB/s to 2 when the target begins 1 to 31 bytes after the source
//! modulo the page size. A frame with a short header in front of a large payload is just that case.
//!
//! ```
//! use borrowire::output::{put_hex, put_slice};
//!
//! let mut out = Vec::new();
//! put_slice(&mut out, b"id: ");
//! put_hex(&mut out, &[0x0a, 0xff]);
//! assert_eq!(out, b"id: 0aff");
//! ```

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;

use bytes::BytesMut;

use crate::error::{Error, ErrorKind};
use crate::scan::{first_escape, first_escape_by_byte, first_non_hex, word_has_escape};

/// What writers append to: `Vec<u8>` and [`BytesMut`].
///
/// Sealed: writers fill the spare room first and commit its length afterwards, and trust the two
/// to belong together.
pub trait Output: sealed::Sealed {
    /// Makes room for `additional` bytes or more.
    fn reserve(&mut self, additional: usize);

    /// The room behind the bytes that are there.
    fn spare(&mut self) -> &mut [MaybeUninit<u8>];
}

impl Output for Vec<u8> {
    #[inline]
    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }

    #[inline(always)]
    fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
        self.spare_capacity_mut()
    }
}

impl Output for BytesMut {
    #[inline]
    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }

    #[inline(always)]
    fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
        self.spare_capacity_mut()
    }
}

mod sealed {
    use bytes::BytesMut;

    pub trait Sealed {
        /// Counts the first `len` bytes of the spare room among the bytes that are there.
        ///
        /// # Safety
        /// They are within the spare room, and were written since the last change of `self`.
        unsafe fn commit(&mut self, len: usize);
    }

    impl Sealed for Vec<u8> {
        #[inline(always)]
        unsafe fn commit(&mut self, len: usize) {
            let len = self.len() + len;
            // SAFETY: the caller wrote the bytes up to there, which are within the capacity.
            unsafe { self.set_len(len) };
        }
    }

    impl Sealed for BytesMut {
        #[inline(always)]
        unsafe fn commit(&mut self, len: usize) {
            let len = self.len() + len;
            // SAFETY: the caller wrote the bytes up to there, which are within the capacity.
            unsafe { self.set_len(len) };
        }
    }
}

/// Appends `bytes`.
pub fn put_slice<O: Output>(out: &mut O, bytes: &[u8]) {
    with_room(out, bytes.len(), Mask::NONE, |room| room.put_slice(bytes));
}

/// Appends `bytes` under `mask`, and moves the mask on.
pub fn put_slice_masked<O: Output>(out: &mut O, bytes: &[u8], mask: &mut Mask) {
    with_room(out, bytes.len(), *mask, |room| room.put_slice(bytes));
    *mask = mask.after(bytes.len());
}

/// Appends `bytes` up to the first that a JSON string must escape, and returns how many those are.
pub fn put_scanned<O: Output>(out: &mut O, bytes: &[u8]) -> usize {
    with_room(out, bytes.len(), Mask::NONE, |room| room.put_scanned(bytes))
}

/// Appends `bytes` as lowercase hex, two characters a byte.
pub fn put_hex<O: Output>(out: &mut O, bytes: &[u8]) {
    with_room(out, hex_len(bytes), Mask::NONE, |room| room.put_hex(bytes));
}

/// Appends `bytes` as lowercase hex under `mask`, and moves the mask on.
pub fn put_hex_masked<O: Output>(out: &mut O, bytes: &[u8], mask: &mut Mask) {
    with_room(out, hex_len(bytes), *mask, |room| room.put_hex(bytes));
    *mask = mask.after(hex_len(bytes));
}

/// Appends the bytes that `hex` stands for. Reads lowercase only, as Nostr asks for (NIP-01).
///
/// Errs with the offset of the first byte that is not a lowercase digit, or with
/// [`ErrorKind::HexOddLength`]; `out` is then as it was.
///
/// ```
/// use borrowire::output::decode_hex;
///
/// let mut out = Vec::new();
/// decode_hex(b"0aff", &mut out, "nostr.id")?;
/// assert_eq!(out, [0x0a, 0xff]);
///
/// let error = decode_hex(b"0aFF", &mut out, "nostr.id").unwrap_err();
/// assert_eq!(error.to_string(), "nostr.id: lowercase hex digit expected, found `F`, at byte 2");
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn decode_hex<O: Output>(hex: &[u8], out: &mut O, context: &'static str) -> Result<(), Error> {
    if !hex.len().is_multiple_of(2) {
        return Err(bad_hex(hex, context));
    }
    out.reserve(hex.len() / 2);
    let decoded = append(out, Mask::NONE, |room| {
        if decode_hex_into(hex, room.next(hex.len() / 2)?) {
            room.filled += hex.len() / 2;
            return Ok(());
        }
        Err(Full)
    });
    decoded.map_err(|Full| bad_hex(hex, context))
}

/// Lets `write` fill the spare room of `out`, and appends what it wrote, unless it found the room
/// too small. `out` is then as it was.
///
/// `mask` goes over the whole room, its first key byte over the first byte written.
#[inline(always)]
pub fn append<O: Output, T>(
    out: &mut O,
    mask: Mask,
    write: impl FnOnce(&mut Room<'_>) -> Result<T, Full>,
) -> Result<T, Full> {
    let mut room = Room {
        spare: out.spare(),
        filled: 0,
        mask,
    };
    let value = write(&mut room)?;
    let filled = room.filled;
    // SAFETY: `Room` counts as filled only what it has written, from the front of the spare room.
    // It is the room of `out`: `write` takes a room of any lifetime and cannot hold another one of
    // the same lifetime to put in its place.
    unsafe { out.commit(filled) };
    Ok(value)
}

/// The spare room of an [`Output`], filled from the front. See [`append`].
#[derive(Debug)]
pub struct Room<'a> {
    spare: &'a mut [MaybeUninit<u8>],
    /// The first so many bytes of `spare` were written.
    filled: usize,
    mask: Mask,
}

impl Room<'_> {
    /// How many bytes were written.
    #[inline(always)]
    pub const fn filled(&self) -> usize {
        self.filled
    }

    /// Takes back all but the first `filled` bytes.
    ///
    /// # Panics
    /// If fewer were written.
    #[inline]
    pub const fn rewind(&mut self, filled: usize) {
        assert!(filled <= self.filled);
        self.filled = filled;
    }

    /// Writes one byte.
    #[inline(always)]
    pub fn put_byte(&mut self, byte: u8) -> Result<(), Full> {
        let [key] = self.mask_here().bytes();
        self.next(1)?[0].write(byte ^ key);
        self.filled += 1;
        Ok(())
    }

    /// Writes `bytes`.
    #[inline(always)]
    pub fn put_slice(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let mask = self.mask_here();
        let room = self.next(bytes.len())?;
        if mask == Mask::NONE && bytes.len() < WIDE_COPY {
            room.copy_from_slice(as_uninit(bytes));
        } else {
            copy(bytes, room, mask);
        }
        self.filled += bytes.len();
        Ok(())
    }

    /// Writes `bytes` up to the first that a JSON string must escape, and returns how many those
    /// are. Asks for room for all of them.
    #[inline]
    pub fn put_scanned(&mut self, bytes: &[u8]) -> Result<usize, Full> {
        if self.mask != Mask::NONE {
            self.check(bytes.len())?;
            let clean = first_escape(bytes);
            self.put_slice(&bytes[..clean])?;
            return Ok(clean);
        }
        let room = self.next(bytes.len())?;
        let clean = copy_scanned(bytes, room);
        self.filled += clean;
        Ok(clean)
    }

    /// Writes `bytes` as lowercase hex.
    #[inline]
    pub fn put_hex(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let mask = self.mask_here();
        let room = self.next(hex_len(bytes))?;
        encode_hex(bytes, room, mask);
        self.filled += hex_len(bytes);
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self, len: usize) -> Result<&mut [MaybeUninit<u8>], Full> {
        self.check(len)?;
        Ok(&mut self.spare[self.filled..][..len])
    }

    #[inline(always)]
    fn check(&self, len: usize) -> Result<(), Full> {
        if len > self.spare.len() - self.filled {
            return Err(Full);
        }
        Ok(())
    }

    #[inline(always)]
    const fn mask_here(&self) -> Mask {
        self.mask.after(self.filled)
    }
}

/// For serde_json. Writes whole slices or errs with [`io::ErrorKind::WriteZero`].
impl io::Write for Room<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.put_slice(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(Full) => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// There is too little room; nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A WebSocket masking key and how far it has been used: byte `i` of a client's payload is sent
/// exclusive-or byte `i % 4` of the key. Source: RFC 6455, section 5.3.
///
/// ```
/// use borrowire::output::{Mask, put_slice_masked};
///
/// let mut out = Vec::new();
/// let mut mask = Mask::new([0x37, 0xfa, 0x21, 0x3d]);
/// put_slice_masked(&mut out, b"Hel", &mut mask);
/// put_slice_masked(&mut out, b"lo", &mut mask);
/// assert_eq!(out, [0x7f, 0x9f, 0x4d, 0x51, 0x58]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The next four bytes of the key, the next one lowest.
    word: u32,
}

impl Mask {
    /// The mask of zeros, which changes nothing.
    pub const NONE: Self = Self::new([0; 4]);

    /// A mask at the start of its key.
    #[inline]
    pub const fn new(key: [u8; 4]) -> Self {
        Self {
            word: u32::from_le_bytes(key),
        }
    }

    /// The mask once `len` more bytes have passed under it.
    #[inline(always)]
    #[must_use]
    pub const fn after(self, len: usize) -> Self {
        Self {
            word: self.word.rotate_right(8 * (len % 4) as u32),
        }
    }

    /// The key bytes over the next `N` bytes.
    #[inline(always)]
    fn bytes<const N: usize>(self) -> [u8; N] {
        let key = self.word.to_le_bytes();
        std::array::from_fn(|i| key[i % 4])
    }
}

#[inline(always)]
fn with_room<O: Output, T>(
    out: &mut O,
    len: usize,
    mask: Mask,
    write: impl FnOnce(&mut Room<'_>) -> Result<T, Full>,
) -> T {
    out.reserve(len);
    append(out, mask, write).expect("the room that was reserved")
}

#[inline(always)]
fn hex_len(bytes: &[u8]) -> usize {
    // A slice is at most `isize::MAX` bytes long.
    2 * bytes.len()
}

#[cold]
fn bad_hex(hex: &[u8], context: &'static str) -> Error {
    let at = first_non_hex(hex);
    let kind = match hex.get(at) {
        Some(&found) => ErrorKind::HexDigit { found },
        None => ErrorKind::hex_odd_length(hex.len()),
    };
    Error::new(kind, at, context)
}

/// Fills `room` with `bytes` under `mask`. Both are of one length.
fn copy(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::copy(bytes, room, mask) };
    }
    copy_by_word(bytes, room, mask);
}

/// Copies up to the first byte that needs an escape, and returns how many bytes those are.
#[inline]
fn copy_scanned(bytes: &[u8], room: &mut [MaybeUninit<u8>]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::copy_scanned(bytes, room) };
    }
    copy_scanned_by_word(bytes, room)
}

/// Fills `room` with `bytes` as lowercase hex, under `mask`. It is twice as long as `bytes`.
fn encode_hex(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::encode_hex(bytes, room, mask) };
    }
    encode_hex_by_word(bytes, room, mask);
}

/// Fills `room` with the bytes that `hex` stands for, or returns that it is not lowercase hex. It
/// is half as long as `hex`.
fn decode_hex_into(hex: &[u8], room: &mut [MaybeUninit<u8>]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if hex.len() >= 64 && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::decode_hex(hex, room) };
    }
    decode_hex_by_pair(hex, room)
}

/// The fast twins, in rows of 32 bytes. The last row ends flush: it goes over some bytes twice.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use super::Mask;
    use crate::scan::avx2::{
        any, any_escape, escapes, first_in, hex_digits, hex_values, load, load_all, non_hex, or,
    };
    use crate::scan::first_escape;

    #[target_feature(enable = "avx2")]
    pub(super) fn copy(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
        let Some(last) = bytes.last_chunk() else {
            return super::copy_by_word(bytes, room, mask);
        };
        // A mask of zeros, too, is laid over: a plain loop the compiler would make a `memcpy`.
        let key = load(&mask.bytes());
        let (rows, _) = bytes.as_chunks::<32>();
        let (blocks, rest) = rows.as_chunks::<4>();
        let (room_rows, _) = room.as_chunks_mut::<32>();
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
        let Some(last) = bytes.last_chunk() else {
            return super::copy_scanned_by_word(bytes, room);
        };
        let (rows, _) = bytes.as_chunks::<32>();
        let (blocks, rest) = rows.as_chunks::<4>();
        let (room_rows, _) = room.as_chunks_mut::<32>();
        let (room_blocks, room_rest) = room_rows.as_chunks_mut::<4>();
        for (i, (block, room)) in blocks.iter().zip(room_blocks).enumerate() {
            let rows = load_all(block);
            store_all(rows, room);
            if any_escape(rows) {
                return 128 * i + first_escape(block.as_flattened());
            }
        }
        for (i, (row, room)) in rest.iter().zip(room_rest).enumerate() {
            let row = load(row);
            store(row, room);
            let escapes = escapes(row);
            if any(escapes) {
                return 128 * blocks.len() + 32 * i + first_in(escapes);
            }
        }
        if bytes.len().is_multiple_of(32) {
            return bytes.len();
        }
        if let Some(room) = room.last_chunk_mut() {
            let row = load(last);
            store(row, room);
            let escapes = escapes(row);
            if any(escapes) {
                return bytes.len() - 32 + first_in(escapes);
            }
        }
        bytes.len()
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn encode_hex(bytes: &[u8], room: &mut [MaybeUninit<u8>], mask: Mask) {
        let Some(last) = bytes.last_chunk() else {
            return super::encode_hex_by_word(bytes, room, mask);
        };
        let key = load(&mask.bytes());
        let (rows, _) = bytes.as_chunks::<32>();
        let (room_rows, _) = room.as_chunks_mut::<32>();
        let (room_pairs, _) = room_rows.as_chunks_mut::<2>();
        for (row, room) in rows.iter().zip(room_pairs) {
            store_all(hex_of(load(row)).map(|row| xor(row, key)), room);
        }
        if let Some(room) = room.last_chunk_mut::<64>() {
            let key = load(&mask.after(2 * (bytes.len() - 32)).bytes());
            let (pair, _) = room.as_chunks_mut::<32>();
            for (row, room) in hex_of(load(last)).into_iter().zip(pair) {
                store(xor(row, key), room);
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn decode_hex(hex: &[u8], room: &mut [MaybeUninit<u8>]) -> bool {
        let Some(last) = hex.last_chunk::<64>() else {
            return super::decode_hex_by_pair(hex, room);
        };
        let mut bad = _mm256_setzero_si256();
        let (pairs, _) = hex.as_chunks::<64>();
        let (room_rows, _) = room.as_chunks_mut::<32>();
        for (pair, room) in pairs.iter().zip(room_rows) {
            store(bytes_of(pair, &mut bad), room);
        }
        if let Some(room) = room.last_chunk_mut() {
            store(bytes_of(last, &mut bad), room);
        }
        !any(bad)
    }

    /// The 64 digits of 32 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn hex_of(bytes: __m256i) -> [__m256i; 2] {
        // Unpacking works in each half apart, so the quarters it takes first go to the fronts.
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
        let nibble = _mm256_set1_epi8(15);
        let high = hex_digits(_mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble));
        let low = hex_digits(_mm256_and_si256(bytes, nibble));
        [
            _mm256_unpacklo_epi8(high, low),
            _mm256_unpackhi_epi8(high, low),
        ]
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
    fn store_all<const N: usize>(rows: [__m256i; N], room: &mut [[MaybeUninit<u8>; 32]; N]) {
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
#[inline]
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

/// The slow twin of `decode_hex_into`.
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

#[inline(always)]
const fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    let bytes: *const [u8] = bytes;
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and nothing is written through it.
    unsafe { &*(bytes as *const [MaybeUninit<u8>]) }
}

/// From here on `memcpy` may be the slow one; see above.
const WIDE_COPY: usize = 4096;
