//! One stop of a JSON string after the other.

use crate::scan::first_escape;
#[cfg(any(test, not(target_arch = "x86_64")))]
use crate::scan::is_escape;

/// The places of a text where a JSON string stops being plain: quotes, backslashes and control
/// characters, the class of [`first_escape`].
///
/// For strings that follow each other closely: each block of 64 bytes is looked at once, and what it
/// holds is kept as one bit a byte.
#[derive(Clone, Debug)]
pub(crate) struct Stops<'a> {
    text: &'a [u8],
    /// Where the block begins that `bits` are of; a multiple of 64.
    block: usize,
    bits: u64,
}

impl<'a> Stops<'a> {
    /// Stops of `text`, of which no block is looked at yet.
    #[inline(always)]
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        // No block begins there, so the first search loads its own.
        Self { text, block: usize::MAX - 63, bits: 0 }
    }

    /// The first stop at `from` or behind it; the length of the text, or a place beyond it, if there
    /// is none. Cheapest where `from` grows.
    #[inline(always)]
    pub(crate) fn next(&mut self, from: usize) -> usize {
        if from.wrapping_sub(self.block) >= 64 {
            self.load(from & !63);
        }
        let mut bits = self.bits & u64::MAX << (from % 64);
        for _ in 0..3 {
            if bits != 0 {
                return self.block + bits.trailing_zeros() as usize;
            }
            self.load(self.block + 64);
            bits = self.bits;
        }
        self.next_far()
    }

    /// [`next`](Self::next) from the start of the block, for long strings.
    #[inline(never)]
    fn next_far(&mut self) -> usize {
        let rest = self.text.get(self.block..).unwrap_or_default();
        let stop = self.block + first_escape(rest);
        self.load(stop & !63);
        stop
    }

    #[inline(always)]
    fn load(&mut self, block: usize) {
        self.block = block;
        self.bits = match self.text.get(block..).and_then(|rest| rest.first_chunk()) {
            Some(block) => stops_in(block),
            None => self.stops_in_tail(),
        };
    }

    /// The stops of a block that the end of the text cuts off; behind the end, all are.
    #[inline(never)]
    fn stops_in_tail(&self) -> u64 {
        let tail = self.text.get(self.block..).unwrap_or_default();
        let mut block = [b'"'; 64];
        block[..tail.len()].copy_from_slice(tail);
        stops_in(&block)
    }
}

/// One bit for each byte that JSON must escape, the lowest for the first.
#[inline(always)]
fn stops_in(block: &[u8; 64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of every x86-64.
    return unsafe { sse2::stops_in(block) };
    #[cfg(not(target_arch = "x86_64"))]
    stops_in_by_byte(block)
}

/// The slow twin of [`stops_in`].
#[cfg(any(test, not(target_arch = "x86_64")))]
fn stops_in_by_byte(block: &[u8; 64]) -> u64 {
    let bit = |(i, byte): (usize, &u8)| u64::from(is_escape(*byte)) << i;
    block.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

/// What every x86-64 has.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn stops_in(block: &[u8; 64]) -> u64 {
        let (rows, _) = block.as_chunks::<16>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| u64::from(row_stops(&rows[i])));
        a | b << 16 | c << 32 | d << 48
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    fn row_stops(row: &[u8; 16]) -> u16 {
        // SAFETY: the reference is to 16 bytes, and the load may be unaligned.
        let row = unsafe { _mm_loadu_si128(row.as_ptr().cast()) };
        let quotes = _mm_cmpeq_epi8(row, _mm_set1_epi8(b'"' as i8));
        let backslashes = _mm_cmpeq_epi8(row, _mm_set1_epi8(b'\\' as i8));
        let controls = _mm_cmpeq_epi8(_mm_min_epu8(row, _mm_set1_epi8(0x1f)), row);
        let stops = _mm_or_si128(_mm_or_si128(quotes, backslashes), controls);
        _mm_movemask_epi8(stops) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::first_escape_by_byte;

    #[test]
    fn vectors_and_bytes_agree() {
        let mut block = [b'a'; 64];
        for at in 0..64 {
            for byte in 0..=255 {
                block[at] = byte;
                assert_eq!(stops_in(&block), stops_in_by_byte(&block));
            }
            block[at] = b'"';
        }
    }

    #[test]
    fn stops_come_in_order_at_every_place() {
        let mut text = [b'a'; 700];
        for at in 0..text.len() {
            for byte in [0, 0x1f, b'"', b'\\'] {
                text[at] = byte;
                text[text.len() - 1 - at] = b'"';
                for len in [at + 1, text.len() - 1, text.len()] {
                    assert_stops(&text[..len]);
                }
                text[text.len() - 1 - at] = [b' ', b'!', b'[', 0x7f, 0x80, 0xff, 0xa2][at % 7];
                text[at] = b'a';
            }
        }
        assert_stops(b"");
    }

    #[track_caller]
    fn assert_stops(text: &[u8]) {
        let mut stops = Stops::new(text);
        let mut from = 0;
        while from < text.len() {
            let expected = from + first_escape_by_byte(&text[from..]);
            let found = stops.next(from);
            assert_eq!(found.min(text.len()), expected, "from {from}");
            assert_eq!(stops.next(from).min(text.len()), expected, "asked again");
            from = found + 1;
        }
        assert!(stops.next(text.len()) >= text.len());
    }
}
