//! The quotes of a JSON text, many at a look.

/// The quotes that open and close the strings of a JSON text, one after the other.
///
/// For a text of many short strings, where a branch for each of their ends would be guessed wrong:
/// the places of all quotes in a window of 512 bytes are found first, without one. Escaped quotes are
/// none. What a string holds is not checked, but [`may_be_odd`](Self::may_be_odd) tells where there
/// is nothing to check.
#[derive(Clone)]
pub(crate) struct Quotes<'a> {
    text: &'a [u8],
    /// Where the next window begins.
    ahead: usize,
    /// Whether the byte there is escaped.
    is_escaped: bool,
    /// The window at hand: where it begins, the places of its quotes, counted from there, how many
    /// they are, and which is the next.
    start: usize,
    places: [u16; WINDOW + STEP],
    len: usize,
    next: usize,
    /// Where the last window ends that has escapes.
    escapes_end: usize,
    /// Where the last window ends that has what is odd.
    odd_end: usize,
}

/// What a block of 64 bytes holds, one bit a byte, the lowest for the first.
struct Marks {
    quotes: u64,
    backslashes: u64,
    controls: u64,
}

impl<'a> Quotes<'a> {
    /// Quotes from `start` on, which must not lie within a string.
    #[inline(always)]
    pub(crate) const fn new(text: &'a [u8], start: usize) -> Self {
        Self {
            text,
            ahead: start,
            is_escaped: false,
            start: 0,
            places: [0; WINDOW + STEP],
            len: 0,
            next: 0,
            escapes_end: 0,
            odd_end: 0,
        }
    }

    /// The place of the next quote; the length of the text if there is none.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        while self.next >= self.len {
            if self.ahead >= self.text.len() {
                return self.text.len();
            }
            self.fill_from(0);
        }
        let place = usize::from(self.places[self.next]);
        self.next += 1;
        self.start + place
    }

    /// Goes over `count` quotes that are known to be there.
    #[inline(always)]
    pub(crate) fn pass(&mut self, count: usize) {
        self.next += count;
        while self.next > self.len && self.ahead < self.text.len() {
            self.next -= self.len;
            self.fill_from(self.next);
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

    /// Looks at the next window, of whose quotes `next` are passed over.
    #[inline(never)]
    fn fill_from(&mut self, next: usize) {
        self.next = next;
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the CPU has all three, it was asked in the lines above.
            return unsafe { avx2::fill(self) };
        }
        self.fill_by(marks_by_word, simple_escapes_by_byte);
    }

    /// Finds the quotes of the next window. `simple` gives the bytes that make a simple escape
    /// behind a backslash.
    #[inline(always)]
    fn fill_by(&mut self, marks: impl Fn(&[u8; 64]) -> Marks, simple: impl Fn(&[u8; 64]) -> u64) {
        let rest = &self.text[self.ahead..];
        let window = &rest[..rest.len().min(WINDOW)];
        self.start = self.ahead;
        self.ahead += window.len();
        self.len = 0;
        let (blocks, tail) = window.as_chunks::<64>();
        for (i, block) in blocks.iter().enumerate() {
            self.look(64 * i as u16, block, marks(block), &simple);
        }
        if !tail.is_empty() {
            let mut block = [b' '; 64];
            block[..tail.len()].copy_from_slice(tail);
            self.look(64 * blocks.len() as u16, &block, marks(&block), &simple);
        }
    }

    /// Takes what is to be known of a block.
    #[inline(always)]
    fn look(
        &mut self,
        base: u16,
        block: &[u8; 64],
        marks: Marks,
        simple: impl Fn(&[u8; 64]) -> u64,
    ) {
        let Marks { mut quotes, backslashes, controls } = marks;
        let mut odd = controls;
        if backslashes != 0 || self.is_escaped {
            let escaped = self.escaped(backslashes);
            quotes &= !escaped;
            odd |= escaped & !simple(block);
            self.escapes_end = self.ahead;
        }
        if odd != 0 {
            self.odd_end = self.ahead;
        }
        self.keep(base, quotes);
    }

    /// The bytes of a block behind an odd number of backslashes.
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let first = u64::from(self.is_escaped);
        let slashes = backslashes & !first;
        // Added to a run, its first bit runs through it to the bit behind it. A run that begins at
        // an even place and ends before an odd one is of odd length, and the other way round.
        let starts = slashes & !(slashes << 1);
        let even = slashes.wrapping_add(starts & EVEN);
        let (odd, runs_out) = slashes.overflowing_add(starts & !EVEN);
        self.is_escaped = runs_out;
        first | even & !slashes & !EVEN | odd & !slashes & EVEN
    }

    /// Writes down the places of a block's quotes.
    #[inline(always)]
    fn keep(&mut self, base: u16, quotes: u64) {
        let mut left = quotes;
        let mut places = &mut self.places[self.len..];
        self.len += quotes.count_ones() as usize;
        // More than there are does no harm, and asks for no branch.
        while let Some((step, rest)) = places.split_first_chunk_mut::<STEP>() {
            for place in step {
                *place = base + left.trailing_zeros() as u16;
                left &= left.wrapping_sub(1);
            }
            if left == 0 {
                return;
            }
            places = rest;
        }
    }
}

/// What a block holds, by words of eight bytes.
fn marks_by_word(block: &[u8; 64]) -> Marks {
    let mut marks = Marks { quotes: 0, backslashes: 0, controls: 0 };
    for (i, word) in block.as_chunks().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        marks.quotes |= equal(word, b'"') << (8 * i);
        marks.backslashes |= equal(word, b'\\') << (8 * i);
        // A byte below 0x20 has none of these bits.
        marks.controls |= equal(word & repeat(0xe0), 0) << (8 * i);
    }
    marks
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
fn simple_escapes_by_byte(block: &[u8; 64]) -> u64 {
    bits(block, |byte| matches!(byte, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't'))
}

fn bits(block: &[u8; 64], is_hit: impl Fn(u8) -> bool) -> u64 {
    let bit = |(i, byte): (usize, &u8)| u64::from(is_hit(*byte)) << i;
    block.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Marks, Quotes};
    use crate::scan::avx2::{controls, load, or};

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn fill(quotes: &mut Quotes<'_>) {
        quotes.fill_by(|block| marks(block), |block| simple_escapes(block));
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    #[inline]
    fn marks(block: &[u8; 64]) -> Marks {
        let rows = rows(block);
        Marks {
            quotes: bits(rows.map(|row| equal(row, b'"'))),
            backslashes: bits(rows.map(|row| equal(row, b'\\'))),
            controls: bits(rows.map(|row| controls(row))),
        }
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
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

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    #[inline]
    fn rows(block: &[u8; 64]) -> [__m256i; 2] {
        let (rows, _) = block.as_chunks();
        [load(&rows[0]), load(&rows[1])]
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    #[inline]
    fn equal(row: __m256i, byte: u8) -> __m256i {
        _mm256_cmpeq_epi8(row, _mm256_set1_epi8(byte as i8))
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    #[inline]
    fn bits([low, high]: [__m256i; 2]) -> u64 {
        let [low, high] = [low, high].map(|row| u64::from(_mm256_movemask_epi8(row) as u32));
        low | high << 32
    }
}

/// Bytes looked at before any of their quotes is asked for.
const WINDOW: usize = 512;

/// Places written down between two branches.
const STEP: usize = 4;

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
    fn vectors_words_and_bytes_agree() {
        let mut block = [b'a'; 64];
        for at in 0..64 {
            for byte in 0..=255 {
                block[at] = byte;
                let Marks { quotes, backslashes, controls } = marks_by_word(&block);
                assert_eq!(quotes, bits(&block, |byte| byte == b'"'));
                assert_eq!(backslashes, bits(&block, |byte| byte == b'\\'));
                assert_eq!(controls, bits(&block, |byte| byte < 0x20));
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
        let mut by_word = Quotes::new(text, 0);
        let mut start = 0;
        for &place in expected.iter().chain([&text.len()]) {
            while by_word.next >= by_word.len && by_word.ahead < text.len() {
                by_word.next = 0;
                by_word.fill_by(marks_by_word, simple_escapes_by_byte);
            }
            assert_eq!((quotes.next(), by_word.next()), (place, place), "from {start}");
            let string = &text[start..place];
            for quotes in [&quotes, &by_word] {
                assert!(quotes.may_have_escapes(start) || !string.contains(&b'\\'));
                assert!(quotes.may_be_odd(start) || is_simple(string), "from {start}");
            }
            start = place + 1;
        }
        for count in [1, 2, 7, 600] {
            let mut quotes = Quotes::new(text, 0);
            for place in expected.iter().skip(count).step_by(count + 1) {
                quotes.pass(count);
                assert_eq!(quotes.next(), *place, "past {count}");
            }
            quotes.pass(count);
            assert_eq!(quotes.next(), text.len());
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
