//! Fingerprints: 16 bytes that stand for a set of ids.

use std::ops::{AddAssign, SubAssign};

use crate::negentropy::{FINGERPRINT_LEN, ID_LEN, varint};
use crate::sha256;

/// The fingerprint of a set of ids: the first 16 bytes of the SHA-256 of their sum and number.
///
/// ```
/// use borrowire::negentropy::fingerprint;
///
/// let ids = [[0xaa; 32], [0xbb; 32]];
/// assert_eq!(fingerprint(&ids)[..4], [0x2e, 0x77, 0xf5, 0x98]);
/// assert_eq!(fingerprint(&ids), fingerprint(ids.iter().rev()));
/// ```
pub fn fingerprint<'a>(ids: impl IntoIterator<Item = &'a [u8; ID_LEN]>) -> [u8; FINGERPRINT_LEN] {
    let mut sum = Accumulator::default();
    ids.into_iter().for_each(|id| sum.add(id));
    sum.fingerprint()
}

/// The sum of a set of ids, from which its fingerprint comes.
///
/// Sums can be taken from each other: of the sums of all prefixes of a sorted set, two give the
/// fingerprint of any range between them, without its ids.
///
/// ```
/// use borrowire::negentropy::{Accumulator, fingerprint};
///
/// let ids = [[0xff; 32], [0x01; 32], [0x80; 32]];
/// let mut all = Accumulator::default();
/// ids.iter().for_each(|id| all.add(id));
/// let mut first = Accumulator::default();
/// first.add(&ids[0]);
/// all -= first;
/// assert_eq!(all.fingerprint(), fingerprint(&ids[1..]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accumulator {
    /// Of the ids as little-endian numbers, modulo 2^256: the low half, the high half.
    sum: [u128; 2],
    count: u64,
}

impl Accumulator {
    /// Puts an id in.
    #[inline]
    pub fn add(&mut self, id: &[u8; ID_LEN]) {
        *self += Self { sum: halves(id), count: 1 };
    }

    /// Takes an id out that was put in.
    #[inline]
    pub fn remove(&mut self, id: &[u8; ID_LEN]) {
        *self -= Self { sum: halves(id), count: 1 };
    }

    /// How many ids are in.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The fingerprint of the ids that are in.
    pub fn fingerprint(&self) -> [u8; FINGERPRINT_LEN] {
        let [low, high] = self.sum.map(u128::to_le_bytes);
        let (groups, start) = varint::encode(self.count);
        let digest = sha256::digest(&[&low, &high, &groups[start..]]);
        *digest.first_chunk().expect("16 of 32 bytes")
    }
}

/// Puts in all that is in another set.
impl AddAssign for Accumulator {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        let (low, carry) = self.sum[0].overflowing_add(other.sum[0]);
        let high = self.sum[1].wrapping_add(other.sum[1]).wrapping_add(carry.into());
        self.sum = [low, high];
        self.count = self.count.wrapping_add(other.count);
    }
}

/// Takes out all that is in another set, which this one must hold.
impl SubAssign for Accumulator {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        let (low, borrow) = self.sum[0].overflowing_sub(other.sum[0]);
        let high = self.sum[1].wrapping_sub(other.sum[1]).wrapping_sub(borrow.into());
        self.sum = [low, high];
        self.count = self.count.wrapping_sub(other.count);
    }
}

#[inline]
fn halves(id: &[u8; ID_LEN]) -> [u128; 2] {
    let (halves, _) = id.as_chunks();
    [u128::from_le_bytes(halves[0]), u128::from_le_bytes(halves[1])]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_accumulator_gives_back_what_it_took(ids: Vec<[u8; 32]>, gone: Vec<[u8; 32]>) {
            let mut sum = Accumulator::default();
            ids.iter().chain(&gone).for_each(|id| sum.add(id));
            gone.iter().for_each(|id| sum.remove(id));
            prop_assert_eq!(sum.count(), ids.len() as u64);
            prop_assert_eq!(sum.fingerprint(), fingerprint(&ids));
        }
    }
}
