//! The letters that name the tags a filter can ask for.

/// A letter, `a` to `z` or `A` to `Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Letter(u8);

impl Letter {
    pub(super) fn new(letter: char) -> Option<Self> {
        u8::try_from(letter).ok().and_then(Self::of_byte)
    }

    pub(super) const fn of_byte(byte: u8) -> Option<Self> {
        match byte.is_ascii_alphabetic() {
            true => Some(Self(byte)),
            false => None,
        }
    }

    pub(super) const fn as_byte(self) -> u8 {
        self.0
    }

    pub(super) const fn as_char(self) -> char {
        self.0 as char
    }

    /// 0 to 51, in the order of ASCII.
    pub(super) const fn index(self) -> u32 {
        match self.0 {
            upper @ b'A'..=b'Z' => (upper - b'A') as u32,
            lower => 26 + (lower - b'a') as u32,
        }
    }

    /// The bit of this letter in a set of letters.
    #[inline(always)]
    pub(super) const fn bit(self) -> u64 {
        1 << self.index()
    }

    /// The name of the key in errors.
    pub(super) fn context(self) -> &'static str {
        let start = self.index() as usize * CONTEXT_LEN;
        &CONTEXTS[start..start + CONTEXT_LEN]
    }
}

const CONTEXT_LEN: usize = "filter.#A".len();

const CONTEXTS: &str = "filter.#Afilter.#Bfilter.#Cfilter.#Dfilter.#Efilter.#Ffilter.#Gfilter.#H\
    filter.#Ifilter.#Jfilter.#Kfilter.#Lfilter.#Mfilter.#Nfilter.#Ofilter.#Pfilter.#Qfilter.#R\
    filter.#Sfilter.#Tfilter.#Ufilter.#Vfilter.#Wfilter.#Xfilter.#Yfilter.#Zfilter.#afilter.#b\
    filter.#cfilter.#dfilter.#efilter.#ffilter.#gfilter.#hfilter.#ifilter.#jfilter.#kfilter.#l\
    filter.#mfilter.#nfilter.#ofilter.#pfilter.#qfilter.#rfilter.#sfilter.#tfilter.#ufilter.#v\
    filter.#wfilter.#xfilter.#yfilter.#z";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_a_bit_and_a_name() {
        let mut all = 0;
        for byte in 0..=u8::MAX {
            let Some(letter) = Letter::of_byte(byte) else {
                assert!(!byte.is_ascii_alphabetic());
                continue;
            };
            assert_eq!(all & letter.bit(), 0);
            all |= letter.bit();
            assert_eq!(letter.context(), format!("filter.#{}", letter.as_char()));
            assert_eq!(Letter::new(byte.into()), Some(letter));
        }
        assert_eq!(all, (1 << 52) - 1);
        assert!(['1', 'é', '🦩', '\u{161}'].map(Letter::new).iter().all(Option::is_none));
    }
}
