//! Appends to the spare room of a `Vec<u8>` or a [`BytesMut`]: bytes, hex, text that is scanned
//! while it is copied; as they are, or under a WebSocket mask.
//!
//! Loops over 32-byte vectors where the CPU has AVX2, which it is asked at run time, and plain ones
//! elsewhere.
//!
//! Large copies use such a loop instead of `memcpy`. From 4 KiB up to the size of the L2 cache,
//! glibc 2.36 copies with `rep movsb`, which on AMD Zen 3 falls from 27 GB/s to 3 when the target
//! begins 1 to 31 bytes after the source modulo the page size. A frame with a short header in front
//! of a large payload is just that case.
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

mod loops;

use std::io;
use std::mem::MaybeUninit;

use bytes::BytesMut;

use crate::error::{Error, ErrorKind};
use crate::output::loops::{copy, copy_scanned, encode_hex};
use crate::scan::{first_escape, first_non_hex};

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
        if loops::decode_hex(hex, room.next(hex.len() / 2)?) {
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
    let mut room = Room { spare: out.spare(), filled: 0, mask };
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

    /// What was written, as it lies there: under the mask, if there is one.
    ///
    /// ```
    /// use borrowire::output::{Mask, append};
    ///
    /// let mut out = Vec::with_capacity(8);
    /// append(&mut out, Mask::NONE, |room| {
    ///     room.put_slice(b"? bytes")?;
    ///     room.written_mut()[0] = b'0' + room.filled() as u8;
    ///     Ok(())
    /// }).unwrap();
    /// assert_eq!(out, b"7 bytes");
    /// ```
    #[inline]
    pub fn written(&self) -> &[u8] {
        let written: *const [MaybeUninit<u8>] = &self.spare[..self.filled];
        // SAFETY: the first `filled` bytes were written, and `MaybeUninit<u8>` has the layout of
        // `u8`.
        unsafe { &*(written as *const [u8]) }
    }

    /// What was written, to be changed in place, such as a field that is known only at the end.
    #[inline]
    pub fn written_mut(&mut self) -> &mut [u8] {
        let written: *mut [MaybeUninit<u8>] = &mut self.spare[..self.filled];
        // SAFETY: the first `filled` bytes were written, and `MaybeUninit<u8>` has the layout of
        // `u8`. What is written through it is written still.
        unsafe { &mut *(written as *mut [u8]) }
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
        Self { word: u32::from_le_bytes(key) }
    }

    /// The mask once `len` more bytes have passed under it.
    #[inline(always)]
    #[must_use]
    pub const fn after(self, len: usize) -> Self {
        Self { word: self.word.rotate_right(8 * (len % 4) as u32) }
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

#[inline(always)]
const fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    let bytes: *const [u8] = bytes;
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and nothing is written through it.
    unsafe { &*(bytes as *const [MaybeUninit<u8>]) }
}

/// From here on `memcpy` may be the slow one; see above.
const WIDE_COPY: usize = 4096;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn large_copies_are_right_at_every_offset_in_a_page() {
        // Long enough to be copied in blocks, however it lies: with `WIDE_COPY` and a tail.
        const LEN: usize = WIDE_COPY + 75;
        let source = noise(LEN + 4096);
        let clean: Vec<u8> = source.iter().map(|byte| byte | 0x80).collect();
        let mut target = Vec::with_capacity(2 * LEN);
        for offset in 0..4096 {
            let bytes = &source[offset..][..LEN];
            target.clear();
            put_slice(&mut target, bytes);
            assert!(target == bytes, "{offset}");

            target.clear();
            let bytes = &clean[offset..][..LEN];
            assert_eq!(put_scanned(&mut target, bytes), LEN);
            assert!(target == bytes, "{offset}");

            target.clear();
            put_hex(&mut target, &source[offset..][..LEN / 2]);
            let hex = const_hex::encode(&source[offset..][..LEN / 2]);
            assert!(target == hex.as_bytes(), "{offset}");

            target.clear();
            decode_hex(hex.as_bytes(), &mut target, "x").unwrap();
            assert!(target == source[offset..][..LEN / 2], "{offset}");
        }
    }

    #[test]
    fn every_byte_is_a_digit_or_refused_where_it_is() {
        for len in [2, 30, 62, 64, 66, 126, 128, 190, 300] {
            for at in [0, 1, len / 2, len - 2, len - 1] {
                for byte in 0..=255 {
                    let mut hex = vec![b'0'; len];
                    hex[at] = byte;
                    let mut out = b"before".to_vec();
                    let decoded = decode_hex(&hex, &mut out, "x");
                    if matches!(byte, b'0'..=b'9' | b'a'..=b'f') {
                        assert_eq!(decoded, Ok(()));
                        assert_eq!(out[6..], const_hex::decode(&hex).unwrap());
                        continue;
                    }
                    let kind = ErrorKind::HexDigit { found: byte };
                    assert_eq!(decoded, Err(Error::new(kind, at, "x")));
                    assert_eq!(out, b"before");
                }
            }
        }
    }

    #[test]
    fn a_mask_goes_on_where_it_stopped() {
        let bytes = noise(300);
        let key = [0x37, 0xfa, 0x21, 0x3d];
        for split in 0..=bytes.len() {
            let (mut out, mut mask) = (BytesMut::new(), Mask::new(key));
            put_slice_masked(&mut out, &bytes[..split], &mut mask);
            put_hex_masked(&mut out, &bytes[split..], &mut mask);
            let hex = const_hex::encode(&bytes[split..]);
            let plain = [&bytes[..split], hex.as_bytes()].concat();
            let keys = key.iter().cycle();
            assert!(out.iter().zip(keys).map(|(byte, key)| byte ^ key).eq(plain));
        }
    }

    #[test]
    fn scanned_text_is_masked_as_well() {
        let mut out = Vec::with_capacity(8);
        let clean = append(&mut out, Mask::new([1, 2, 3, 4]), |room| room.put_scanned(b"ab\"c"));
        assert_eq!((clean, &*out), (Ok(2), &[b'a' ^ 1, b'b' ^ 2][..]));
    }

    #[test]
    fn an_odd_number_of_digits_is_refused_after_a_wrong_one() {
        let error = |hex: &str| decode_hex(hex.as_bytes(), &mut Vec::new(), "x").unwrap_err();
        let odd = error(&"0".repeat(101)).to_string();
        assert_eq!(odd, "x: 101 hex digits, an even number expected, at byte 101");
        let wrong = error("0F0").to_string();
        assert_eq!(wrong, "x: lowercase hex digit expected, found `F`, at byte 1");
    }

    #[test]
    fn a_room_keeps_to_its_bounds() {
        let mut out = Vec::with_capacity(8);
        let room = out.capacity();
        let full = append(&mut out, Mask::NONE, |room| {
            room.put_slice(b"123")?;
            let left = room.spare.len() - 3;
            assert_eq!(room.put_slice(&vec![0; left + 1]), Err(Full));
            assert_eq!(room.put_scanned(&vec![b'a'; left + 1]), Err(Full));
            assert_eq!(room.put_hex(&vec![0; left / 2 + 1]), Err(Full));
            assert_eq!(room.filled(), 3);
            room.put_slice(&vec![b'a'; left])?;
            room.put_byte(0)
        });
        assert_eq!(full, Err(Full));
        assert!(out.is_empty());

        let rewound = append(&mut out, Mask::new([1, 2, 3, 4]), |room| {
            room.put_slice(b"abc")?;
            room.rewind(1);
            room.put_hex(&[0xbc])
        });
        assert_eq!(rewound, Ok(()));
        assert_eq!(out, [b'a' ^ 1, b'b' ^ 2, b'c' ^ 3]);
        assert_eq!(out.capacity(), room);
    }

    #[test]
    fn a_room_is_a_writer_of_whole_slices() {
        let mut out = BytesMut::with_capacity(8);
        let written = append(&mut out, Mask::NONE, |room| {
            let left = room.spare.len();
            assert!(io::Write::write_all(room, &vec![0; left + 1]).is_err());
            io::Write::write_all(room, b"abc").map_err(|_| Full)
        });
        assert_eq!(written, Ok(()));
        assert_eq!(out[..], b"abc"[..]);
    }

    pub(crate) fn noise(len: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..len).map(|_| next()).collect()
    }
}
