//! A position in a slice, and the two varints.
//!
//! Both networks write numbers in base 128 with the high bit on all bytes but the last: protobuf
//! with the least significant group first, negentropy with the most significant first.

use crate::error::{Error, ErrorKind};
use crate::rules::Rules;

/// Reads a slice from front to back. What it reads borrows from the slice.
///
/// ```
/// use borrowire::cursor::Cursor;
/// use borrowire::rules::Rules;
///
/// let mut cursor = Cursor::new(&[0x96, 0x01, b'a', b'b']);
/// assert_eq!(cursor.varint(&Rules::STRICT, "length")?, 150);
/// assert_eq!(cursor.take(2, "text")?, b"ab");
/// assert!(cursor.is_empty());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte.
    #[inline(always)]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Takes `len` bytes, or errs with [`ErrorKind::Truncated`] and stays where it is.
    #[inline(always)]
    pub fn take(&mut self, len: u64, context: &'static str) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        if len > rest.len() as u64 {
            return Err(self.truncated(len, context));
        }
        self.position += len as usize;
        Ok(&rest[..len as usize])
    }

    /// Takes `N` bytes.
    #[inline(always)]
    pub fn take_array<const N: usize>(&mut self, context: &'static str) -> Result<[u8; N], Error> {
        let Some(bytes) = self.rest().first_chunk::<N>() else {
            return Err(self.truncated(N as u64, context));
        };
        self.position += N;
        Ok(*bytes)
    }

    /// Takes a protobuf varint: least significant group first, at most 64 bits in ten bytes.
    ///
    /// Errs with [`ErrorKind::VarintOverflow`] at an eleventh byte or a tenth above 1, with
    /// [`ErrorKind::VarintNotMinimal`] if `rules` want the shortest form, and with
    /// [`ErrorKind::Truncated`] at the end. Source: protobuf.dev, "Encoding".
    #[inline(always)]
    pub fn varint(&mut self, rules: &Rules, context: &'static str) -> Result<u64, Error> {
        let rest = self.rest();
        let (value, len) = match rest {
            [byte, ..] if *byte < 0x80 => (u64::from(*byte), 1),
            _ => match rest.first_chunk::<MAX_VARINT_LEN>() {
                Some(window) => varint_in_word(window),
                None => varint_by_byte(rest),
            },
        };
        if len == 0 {
            return Err(self.bad_varint(context));
        }
        if rules.minimal_varints && len > 1 && rest[len - 1] == 0 {
            return Err(self.padded_varint(context));
        }
        self.position += len;
        Ok(value)
    }

    /// Takes a negentropy varint: most significant group first, at most 64 bits.
    ///
    /// Every deployed peer reads leading zero groups (`80`), so they are read and reported, not
    /// refused. Source: NIP-77, "Varint".
    #[inline]
    pub fn varint_msb(&mut self, context: &'static str) -> Result<MsbVarint, Error> {
        let start = self.position;
        let mut value = 0_u64;
        loop {
            let Some(&byte) = self.bytes.get(self.position) else {
                self.position = start;
                return Err(self.truncated_varint(context));
            };
            if value > u64::MAX >> 7 {
                self.position = start;
                return Err(Error::new(ErrorKind::VarintOverflow, start, context));
            }
            value = value << 7 | u64::from(byte & 0x7f);
            self.position += 1;
            if byte < 0x80 {
                let is_minimal = self.bytes[start] != 0x80;
                return Ok(MsbVarint { value, is_minimal });
            }
        }
    }

    /// How many bytes were taken.
    #[inline(always)]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    #[inline(always)]
    pub const fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Whether no bytes are left.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.position >= self.bytes.len()
    }

    /// The next byte, not taken.
    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// The bytes that are left.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// All bytes from the first, those taken included.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    // The cold ends take the cursor by value: a reference would keep it in memory, not registers.

    #[cold]
    #[inline(never)]
    fn bad_varint(self, context: &'static str) -> Error {
        let is_cut = self.remaining() < MAX_VARINT_LEN && self.rest().iter().all(|b| *b >= 0x80);
        if is_cut {
            return self.truncated_varint(context);
        }
        Error::new(ErrorKind::VarintOverflow, self.position, context)
    }

    #[cold]
    #[inline(never)]
    fn padded_varint(self, context: &'static str) -> Error {
        Error::new(ErrorKind::VarintNotMinimal, self.position, context)
    }

    /// A varint that ends with the input: one byte more than is left is the least it needs.
    #[cold]
    fn truncated_varint(self, context: &'static str) -> Error {
        self.truncated(self.remaining() as u64 + 1, context)
    }

    #[cold]
    #[inline(never)]
    fn truncated(self, needed: u64, context: &'static str) -> Error {
        Error::new(ErrorKind::truncated(needed, self.remaining()), self.position, context)
    }
}

/// A negentropy varint as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsbVarint {
    /// The number.
    pub value: u64,
    /// Whether it was written in its shortest form.
    pub is_minimal: bool,
}

/// The value and length of the varint at the start of `window`; length 0 if it does not fit 64
/// bits. The fast twin of [`varint_by_byte`].
#[inline(always)]
fn varint_in_word(window: &[u8; MAX_VARINT_LEN]) -> (u64, usize) {
    let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9] = *window;
    let word = u64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7]);
    let ends = !word & 0x8080_8080_8080_8080;
    if ends != 0 {
        // Keep the bytes up to and with the first that has no high bit.
        let kept = word & (ends ^ (ends - 1));
        return (pack_groups(kept), ends.trailing_zeros() as usize / 8 + 1);
    }
    let low = pack_groups(word);
    match (b8, b9) {
        (0..0x80, _) => (low | u64::from(b8) << 56, 9),
        (_, 0..=1) => (low | u64::from(b8 & 0x7f) << 56 | u64::from(b9) << 63, 10),
        _ => (0, 0),
    }
}

/// Eight groups of seven bits, one a byte, pushed together into 56 bits.
#[inline(always)]
fn pack_groups(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
    word & 0x0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// The value and length of the varint at the start of `bytes`; length 0 if it does not end in
/// them or does not fit 64 bits.
#[inline(never)]
fn varint_by_byte(bytes: &[u8]) -> (u64, usize) {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(MAX_VARINT_LEN).enumerate() {
        if i == MAX_VARINT_LEN - 1 && byte > 1 {
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return (value, i + 1);
        }
    }
    (0, 0)
}

/// Bytes of the longest varint: 64 bits in groups of seven.
const MAX_VARINT_LEN: usize = 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn negentropy_varints_of_the_protocol() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x7f], 127),
            (&[0x81, 0x00], 128),
            (&[0x81, 0x80, 0x00], 16384),
            (&[0x90, 0x80, 0x80, 0x80, 0x00], 1 << 32),
            (&[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], u64::MAX),
        ] {
            let read = Cursor::new(bytes).varint_msb("x");
            assert_eq!(read, Ok(MsbVarint { value, is_minimal: true }));
        }
        let padded = Cursor::new(&[0x80, 0x01]).varint_msb("x").unwrap();
        assert_eq!(padded, MsbVarint { value: 1, is_minimal: false });
    }

    #[test]
    fn negentropy_varints_that_are_refused() {
        let error = |bytes| Cursor::new(bytes).varint_msb("x").unwrap_err().kind();
        assert_eq!(error(&[0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), OVERFLOW);
        assert_eq!(error(&[0xff; 11]), OVERFLOW);
        assert_eq!(error(&[0x80]), ErrorKind::Truncated { needed: 2, remaining: 1 });
        assert_eq!(error(&[]), ErrorKind::Truncated { needed: 1, remaining: 0 });
    }

    #[test]
    fn protobuf_varints_that_are_refused() {
        let error = |bytes| Cursor::new(bytes).varint(&Rules::STRICT, "x").unwrap_err().kind();
        assert_eq!(error(&[0xff; 11]), OVERFLOW);
        let mut tenth = [0xff; 10];
        tenth[9] = 2;
        assert_eq!(error(&tenth), OVERFLOW);
        assert_eq!(error(&[0x82, 0x00]), ErrorKind::VarintNotMinimal);
        assert_eq!(error(&[0xff; 9]), ErrorKind::Truncated { needed: 10, remaining: 9 });
        assert_eq!(error(&[]), ErrorKind::Truncated { needed: 1, remaining: 0 });
        assert_eq!(Cursor::new(&[0x82, 0x00]).varint(&Rules::PROTO3, "x"), Ok(2));
    }

    #[test]
    fn a_refused_read_moves_nothing() {
        let mut cursor = Cursor::new(&[0xff]);
        assert!(cursor.varint(&Rules::STRICT, "x").is_err());
        assert!(cursor.varint_msb("x").is_err());
        assert!(cursor.take(2, "x").is_err());
        assert!(cursor.take(u64::MAX, "x").is_err());
        assert!(cursor.take_array::<2>("x").is_err());
        assert_eq!(cursor.position(), 0);
    }

    proptest! {
        #[test]
        fn the_word_agrees_with_the_bytes(mut window: [u8; 10], len in 1_usize..=10) {
            window[..len - 1].iter_mut().for_each(|byte| *byte |= 0x80);
            prop_assert_eq!(varint_in_word(&window), varint_by_byte(&window));
            window[len - 1] &= 0x7f;
            prop_assert_eq!(varint_in_word(&window), varint_by_byte(&window));
        }
    }

    const OVERFLOW: ErrorKind = ErrorKind::VarintOverflow;
}
