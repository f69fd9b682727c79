//! The quotes of a JSON text, many at a look.

/// The quotes that open and close the strings of a JSON text, one after the other.
///
/// For a text of many short strings: a window of some blocks is looked at by one call, and what it
/// holds is kept as one bit a byte. Escaped quotes are none. What a string holds is not checked, but
/// [`may_be_odd`](Self::may_be_odd) tells where there is nothing to check.
#[derive(Clone)]
pub(crate) struct Quotes<'a> {
    text: &'a [u8],
    /// Where the window at hand begins, and where the next does.
    start: usize,
    ahead: usize,
    /// Whether the byte there is escaped.
    is_escaped: bool,
    /// The quotes of the window, a word for each block of 64 bytes.
    words: [u64; BLOCKS],
    /// The block at hand, and which of its quotes are to come.
    block: usize,
    bits: u64,
    /// Where the last window ends that has escapes.
    escapes_end: usize,
    /// Where the last window ends that has what is odd.
    odd_end: usize,
}

impl<'a> Quotes<'a> {
    /// Quotes from `start` on, which must not lie within a string.
    #[inline(always)]
    pub(crate) const fn new(text: &'a [u8], start: usize) -> Self {
        Self {
            text,
            start,
            ahead: start,
            is_escaped: false,
            words: [0; BLOCKS],
            block: BLOCKS,
            bits: 0,
            escapes_end: 0,
            odd_end: 0,
        }
    }

    /// The place of the next quote; the length of the text, or more, if there is none.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        while self.bits == 0 {
            self.block += 1;
            if self.block >= BLOCKS {
                if self.ahead >= self.text.len() {
                    return self.text.len();
                }
                self.fill();
            }
            self.bits = self.words[self.block];
        }
        let place = self.start + 64 * self.block + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        place
    }

    /// Goes to `place`, which is not behind the quotes that were taken and not within a string. What
    /// is passed over need not be looked at.
    #[inline(always)]
    pub(crate) fn skip_to(&mut self, place: usize) {
        let block = place.wrapping_sub(self.start) / 64;
        if place >= self.ahead {
            self.ahead = place;
            self.is_escaped = false;
            self.block = BLOCKS;
            self.bits = 0;
        } else if let Some(word) = self.words.get(block) {
            self.block = block;
            self.bits = word & u64::MAX << ((place - self.start) % 64);
        }
    }

    /// Whether there may be an escape in a string that begins at `start` and ends before the quote
    /// that was taken last.
    #[inline(always)]
    pub(crate) const fn may_have_escapes(&self, start: usize) -> bool {
        start < self.escapes_end
    }

    /// Whether there may be anything in such a string but plain characters and the escapes
    /// `\" \\ \b \f \n \r \t`: other escapes, right or wrong, and control characters.
    #[inline(always)]
    pub(crate) const fn may_be_odd(&self, start: usize) -> bool {
        start < self.odd_end
    }

    /// Looks at the next window.
    #[inline(never)]
    fn fill(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has AVX2, it was asked in the line above.
            return unsafe { avx2::fill(self) };
        }
        self.fill_by_word();
    }

    /// The slower twin of [`avx2::fill`], and the only one where there are no such vectors.
    fn fill_by_word(&mut self) {
        let mut controls = 0;
        let marks = |block: &[u8; 64]| {
            let (mut quotes, mut backslashes) = (0, 0);
            for (i, word) in block.as_chunks().0.iter().enumerate() {
                let word = u64::from_le_bytes(*word);
                quotes |= equal(word, b'"') << (8 * i);
                backslashes |= equal(word, b'\\') << (8 * i);
                // A byte below 0x20 has none of these bits.
                controls |= equal(word & repeat(0xe0), 0);
            }
            (quotes, backslashes)
        };
        self.fill_by(marks, simple_escapes);
        if controls != 0 {
            self.odd_end = self.ahead;
        }
    }

    /// Finds the quotes of the next window, which begins with the next block that has one. `marks`
    /// gives the quotes and the backslashes of a block, one bit a byte, the lowest for the first;
    /// `simple` the bytes that make a simple escape behind a backslash. Control characters are left
    /// to the caller.
    #[inline(always)]
    fn fill_by(
        &mut self,
        mut marks: impl FnMut(&[u8; 64]) -> (u64, u64),
        simple: impl Fn(&[u8; 64]) -> u64,
    ) {
        let mut escapes = Escapes { next: u64::from(self.is_escaped), seen: 0, odd: 0 };
        let (blocks, tail) = self.text[self.ahead..].as_chunks::<64>();
        let mut first = 0;
        let mut quotes = 0;
        for block in blocks {
            quotes = escapes.remove(block, marks(block), &simple);
            if quotes != 0 {
                break;
            }
            first += 1;
        }
        let blocks = &blocks[first..];
        self.start = self.ahead + 64 * first;
        self.block = 0;
        self.words = [0; BLOCKS];
        self.words[0] = quotes;
        for (word, block) in self.words.iter_mut().zip(blocks).skip(1) {
            *word = escapes.remove(block, marks(block), &simple);
        }
        self.ahead = self.start + 64 * blocks.len().min(BLOCKS);
        if blocks.len() < BLOCKS && !tail.is_empty() {
            let mut block = [b' '; 64];
            block[..tail.len()].copy_from_slice(tail);
            self.words[blocks.len()] = escapes.remove(&block, marks(&block), &simple);
            self.ahead = self.text.len();
        }
        self.is_escaped = escapes.next != 0;
        if escapes.seen != 0 {
            self.escapes_end = self.ahead;
        }
        if escapes.odd != 0 {
            self.odd_end = self.ahead;
        }
    }
}

/// Escapes on the way through blocks.
struct Escapes {
    /// One bit: whether the first byte of the next block is escaped.
    next: u64,
    /// Bits, if there were any, and if any was not simple.
    seen: u64,
    odd: u64,
}

impl Escapes {
    /// The quotes of a block that are not escaped.
    #[inline(always)]
    fn remove(
        &mut self,
        block: &[u8; 64],
        (quotes, backslashes): (u64, u64),
        simple: impl Fn(&[u8; 64]) -> u64,
    ) -> u64 {
        if backslashes | self.next == 0 {
            return quotes;
        }
        let escaped = self.pass(backslashes);
        self.seen |= backslashes;
        self.odd |= escaped & !simple(block);
        quotes & !escaped
    }

    /// The bytes of a block behind an odd number of backslashes.
    #[inline(always)]
    fn pass(&mut self, backslashes: u64) -> u64 {
        let first = self.next;
        let slashes = backslashes & !first;
        if slashes & slashes << 1 == 0 {
            self.next = slashes >> 63;
            return first | slashes << 1;
        }
        // Added to a run, its first bit runs through it to the bit behind it. A run that begins at
        // an even place and ends before an odd one is of odd length, and the other way round.
        let starts = slashes & !(slashes << 1);
        let even = slashes.wrapping_add(starts & EVEN);
        let (odd, runs_out) = slashes.overflowing_add(starts & !EVEN);
        self.next = u64::from(runs_out);
        first | even & !slashes & !EVEN | odd & !slashes & EVEN
    }
}

/// One bit for each byte of `word` that is `byte`.
const fn equal(word: u64, byte: u8) -> u64 {
    let low = repeat(0x7f);
    let other = word ^ repeat(byte);
    // The high bit of each byte: clear if any of its bits is set, and no carry leaves a byte.
    let zero = !((other & low).wrapping_add(low) | other | low);
    // The high bits, gathered in the highest byte: each is shifted to a place of its own.
    (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The bytes that make a simple escape behind a backslash.
fn simple_escapes(block: &[u8; 64]) -> u64 {
    let bit = |(i, byte): (usize, &u8)| {
        u64::from(matches!(byte, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')) << i
    };
    block.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Quotes;
    use crate::scan::avx2::{any, controls, load, or};

    #[target_feature(enable = "avx2")]
    pub(super) fn fill(quotes: &mut Quotes<'_>) {
        let mut least = _mm256_set1_epi8(-1);
        let marks = |block: &[u8; 64]| {
            let rows = rows(block);
            least = _mm256_min_epu8(least, _mm256_min_epu8(rows[0], rows[1]));
            (bits(rows.map(|row| equal(row, b'"'))), bits(rows.map(|row| equal(row, b'\\'))))
        };
        quotes.fill_by(marks, |block| simple_escapes(block));
        if any(controls(least)) {
            quotes.odd_end = quotes.ahead;
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn simple_escapes(block: &[u8; 64]) -> u64 {
        // Looked up by their low nibbles, which three of the seven share: those two are asked for.
        let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0x7f, 0, 0x62, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0x5c, 0, 0x6e, 0,
        ));
        bits(rows(block).map(|row| {
            let found = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, row), row);
            or(found, or(equal(row, b'"'), equal(row, b'r')))
        }))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn rows(block: &[u8; 64]) -> [__m256i; 2] {
        let (rows, _) = block.as_chunks();
        [load(&rows[0]), load(&rows[1])]
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn equal(row: __m256i, byte: u8) -> __m256i {
        _mm256_cmpeq_epi8(row, _mm256_set1_epi8(byte as i8))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn bits([low, high]: [__m256i; 2]) -> u64 {
        let [low, high] = [low, high].map(|row| u64::from(_mm256_movemask_epi8(row) as u32));
        low | high << 32
    }
}

/// Blocks of a window.
const BLOCKS: usize = 8;

const EVEN: u64 = 0x5555_5555_5555_5555;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_that_no_backslash_precedes() {
        // Backslashes in runs of every length at every place of a block, before a quote.
        for at in 0..=140 {
            for run in 0..=130 {
                let text = "a".repeat(at) + &"\\".repeat(run) + "\"\n\"";
                assert_quotes(text.as_bytes());
            }
        }
    }

    #[test]
    fn quotes_come_from_all_windows() {
        for len in (0..200).chain([511, 512, 513, 1023, 1024, 1025, 2000]) {
            assert_quotes("\"".repeat(len).as_bytes());
            assert_quotes(("a".repeat(len) + "\"").as_bytes());
            assert_quotes(("\\".repeat(len) + "\"").as_bytes());
            assert_quotes(("\"\\\"".repeat(len) + "\"").as_bytes());
        }
    }

    #[test]
    fn every_byte_is_told_from_the_others() {
        let mut block = [b'a'; 64];
        for at in 0..64 {
            for byte in 0..=255 {
                block[at] = byte;
                assert_quotes(&block);
            }
            block[at] = [b'"', b'\\', b'n', 0x1f, 0xe0][at % 5];
        }
    }

    /// The quotes, and what is said of the strings between them, are those of a walk from byte to
    /// byte; with and without vectors, and passed over in any number.
    #[track_caller]
    fn assert_quotes(text: &[u8]) {
        let expected: Vec<usize> = quotes_by_byte(text).collect();
        let mut quotes = Quotes::new(text, 0);
        let mut start = 0;
        for &place in expected.iter().chain([&text.len()]) {
            assert_eq!(quotes.next(), place, "from {start}");
            let string = &text[start..place];
            assert!(quotes.may_have_escapes(start) || !string.contains(&b'\\'));
            assert!(quotes.may_be_odd(start) || is_simple(string), "from {start}");
            start = place + 1;
        }
        for every in [2, 3, 8, 100] {
            let mut quotes = Quotes::new(text, 0);
            for place in expected.iter().step_by(every) {
                quotes.skip_to(*place);
                assert_eq!(quotes.next(), *place, "every {every}th");
            }
        }
        let mut by_word = Quotes::new(text, 0);
        let mut by_vector = by_word.clone();
        while by_word.ahead < text.len() {
            by_word.fill_by_word();
            by_vector.fill();
            let found = |quotes: &Quotes<'_>| {
                (quotes.words, quotes.is_escaped, quotes.escapes_end, quotes.odd_end)
            };
            assert_eq!(found(&by_word), found(&by_vector));
        }
    }

    /// The slow twin.
    fn quotes_by_byte(text: &[u8]) -> impl Iterator<Item = usize> {
        let mut is_escaped = false;
        text.iter().enumerate().filter_map(move |(at, byte)| {
            let is_quote = !is_escaped && *byte == b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            is_quote.then_some(at)
        })
    }

    fn is_simple(string: &[u8]) -> bool {
        let mut bytes = string.iter();
        while let Some(byte) = bytes.next() {
            let is_fine = match byte {
                // The text may end behind a backslash.
                b'\\' => bytes.next().is_none_or(|next| b"\"\\bfnrt".contains(next)),
                byte => *byte >= 0x20,
            };
            if !is_fine {
                return false;
            }
        }
        true
    }
}
