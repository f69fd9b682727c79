//! Which event ids were seen lately, so that a duplicate costs neither parsing nor a signature
//! check. A client of several relays gets 14 to 57 % of its events more than once.
//!
//! ```text
//! id, 4 words ── secret hash ──┬─ set      1 of n
//!                              └─ tag      1 byte, 0 and 1 are none
//!
//! set    16 tags in one word, compared at once; where a tag agrees, the whole id is compared
//!        16 ids of 32 bytes; the next to go is the oldest
//! ```

use std::array;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::iter;

/// The ids of the events that were seen last. Its memory is fixed and allocated once.
///
/// An id that was not inserted is never reported as seen: whole ids are compared. An id that was
/// inserted is forgotten when 16 younger ones of its set have come, on average after
/// [`capacity`](Self::capacity) others, and hardly ever before a third of that. Which ids share a
/// set is a secret of the instance, so nobody can make an id whose arrival drives out another.
///
/// Ask before parsing, but insert only what was found right. Otherwise a peer could send rubbish
/// under the id of an event that is still to come, and the event would be taken for a duplicate.
///
/// ```
/// use borrowire::nostr::seen::SeenIds;
///
/// let mut seen = SeenIds::with_capacity(8192); // 265 KiB
/// let mut delivered = 0;
/// for (id, is_right) in [([7; 32], false), ([7; 32], true), ([7; 32], true), ([8; 32], true)] {
///     if seen.contains(&id) {
///         continue; // before the event is parsed
///     }
///     if is_right && seen.insert(&id) {
///         delivered += 1;
///     }
/// }
/// assert_eq!(delivered, 2);
/// ```
///
/// How large? Of the duplicates among 150,000 frames of a real client, half came within 1,430
/// events, and four of five within 8,192 (Amethyst's measurements).
#[derive(Clone)]
pub struct SeenIds {
    key: SetKey,
    /// Of each set, the tags of its ids, 0 where there is none yet.
    tags: Box<[[u8; WAYS]]>,
    /// Of each set, the place that is written next.
    next: Box<[u8]>,
    ids: Box<[[[u8; 32]; WAYS]]>,
    len: usize,
}

impl SeenIds {
    /// Remembers about `capacity` ids; at least that many, rounded up to a multiple of 16. An id
    /// takes 33 bytes and a sixteenth.
    ///
    /// # Panics
    /// If that is more than memory can hold.
    pub fn with_capacity(capacity: usize) -> Self {
        let sets = capacity.div_ceil(WAYS).max(1);
        Self {
            key: SetKey::random(),
            tags: vec![[0; WAYS]; sets].into_boxed_slice(),
            next: vec![0; sets].into_boxed_slice(),
            ids: vec![[[0; 32]; WAYS]; sets].into_boxed_slice(),
            len: 0,
        }
    }

    /// Remembers `id`. True if it was new. One that is known keeps its age.
    #[inline]
    pub fn insert(&mut self, id: &[u8; 32]) -> bool {
        let (set, tag) = self.place(id);
        if self.is_in(set, tag, id) {
            return false;
        }
        let way = usize::from(self.next[set]) % WAYS;
        self.len += usize::from(self.tags[set][way] == 0);
        self.tags[set][way] = tag;
        self.ids[set][way] = *id;
        self.next[set] = (way as u8 + 1) % WAYS as u8;
        true
    }

    /// Whether `id` was inserted, and not forgotten since.
    #[inline]
    pub fn contains(&self, id: &[u8; 32]) -> bool {
        let (set, tag) = self.place(id);
        self.is_in(set, tag, id)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.tags.fill([0; WAYS]);
        self.next.fill(0);
        self.len = 0;
    }

    /// How many ids it remembers now.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it remembers none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many ids it remembers when every set is full.
    pub const fn capacity(&self) -> usize {
        self.ids.len() * WAYS
    }

    #[inline(always)]
    fn place(&self, id: &[u8; 32]) -> (usize, u8) {
        let hash = self.key.hash(id);
        // The upper bits choose the set, the lower ones the tag.
        let set = (u128::from(hash) * self.tags.len() as u128) >> 64;
        (set as usize, (hash as u8).max(FIRST_TAG))
    }

    #[inline(always)]
    fn is_in(&self, set: usize, tag: u8, id: &[u8; 32]) -> bool {
        candidates(&self.tags[set], tag).any(|way| self.ids[set][way] == *id)
    }
}

/// Without the secret, and without the ids.
impl fmt::Debug for SeenIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenIds")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

/// The key of a hash whose upper bits put any two ids, chosen by somebody who does not know it,
/// into the same of `n` sets with a probability of one in `n`: multiply-shift over vectors, 64-bit
/// words and 128-bit arithmetic. Source: Thorup, High Speed Hashing for Integers and Strings, 3.1.
#[derive(Clone)]
struct SetKey {
    added: u128,
    factors: [u128; 4],
}

impl SetKey {
    fn random() -> Self {
        let random = RandomState::new();
        let mut words = (0_u64..).map(|i| random.hash_one(i));
        let mut word = || u128::from(words.next().unwrap_or_default());
        let mut number = || word() << 64 | word();
        Self { added: number(), factors: array::from_fn(|_| number()) }
    }

    #[inline(always)]
    fn hash(&self, id: &[u8; 32]) -> u64 {
        let (words, _) = id.as_chunks::<8>();
        let sum = self.factors.iter().zip(words).fold(self.added, |sum, (factor, word)| {
            let word = u128::from(u64::from_le_bytes(*word));
            sum.wrapping_add(factor.wrapping_mul(word))
        });
        // The sum is linear in the words, so that ids in equal steps fall at equal distances, by
        // some keys all on a few sets. A bijection that is not linear scatters them, and any two
        // ids still fall together with the same probability. Source: SplitMix64, its finalizer.
        let mut hash = (sum >> 64) as u64;
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ hash >> 31
    }
}

/// The places of `tag` among `tags`, and now and then one of the tag that differs from it in the
/// last bit alone: the caller compares the whole id.
#[inline(always)]
fn candidates(tags: &[u8; WAYS], tag: u8) -> impl Iterator<Item = usize> {
    // A byte that is zero borrows from its high bit, and may take along a 1 above it.
    let zeros = |word: u64| word.wrapping_sub(EACH_BYTE) & !word & (EACH_BYTE << 7);
    let (words, _) = tags.as_chunks::<8>();
    let equal = |i: usize| zeros(u64::from_le_bytes(words[i]) ^ (EACH_BYTE * u64::from(tag)));
    // Bit 0 of each byte is for the first eight tags, bit 1 for the others.
    let mut bits = equal(0) >> 7 | equal(1) >> 6;
    iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(8 * (bit % 8) + bit / 8)
    })
}

const EACH_BYTE: u64 = u64::MAX / 255;

/// 0 is the tag of an empty place, whose id is none. 1 differs from it in the last bit alone, and so
/// could be found there.
const FIRST_TAG: u8 = 2;

/// How many ids share a set.
const WAYS: usize = 16;

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_set_is_a_queue() {
        let mut seen = SeenIds::with_capacity(0);
        assert_eq!((seen.capacity(), seen.len(), seen.is_empty()), (16, 0, true));
        let mut queue = VecDeque::new();
        for i in (0..100_u8).chain(0..100) {
            let id = [i % 23; 32];
            assert_eq!(seen.contains(&id), queue.contains(&id));
            let is_new = !queue.contains(&id);
            assert_eq!(seen.insert(&id), is_new);
            if is_new {
                queue.push_back(id);
                queue.drain(..queue.len().saturating_sub(16));
            }
            assert_eq!(seen.len(), queue.len());
            assert!(queue.iter().all(|id| seen.contains(id)));
        }
        seen.clear();
        assert!(seen.is_empty() && !queue.iter().any(|id| seen.contains(id)));
        assert!(seen.insert(&[0; 32]) && !seen.insert(&[0; 32]));
    }

    #[test]
    fn ids_that_differ_in_one_bit_are_told_apart() {
        for _ in 0..50 {
            let mut seen = SeenIds::with_capacity(16);
            let id = [0x5a; 32];
            assert!(seen.insert(&id));
            for bit in 0..256 {
                let mut other = id;
                other[bit / 8] ^= 1 << (bit % 8);
                assert!(!seen.contains(&other));
            }
            assert!(!seen.contains(&[0; 32]));
        }
    }

    #[test]
    fn whatever_ids_are_chosen_sets_fill_evenly() {
        // Ids as an attacker would make them: all alike but for a few bits at one end.
        let with_end = |i: u64| {
            let mut id = [0; 32];
            id[24..].copy_from_slice(&(i << 40).to_le_bytes());
            id
        };
        let with_start = |i: u64| {
            let mut id = [0xff; 32];
            id[..8].copy_from_slice(&i.to_be_bytes());
            id
        };
        let ids: [&dyn Fn(u64) -> [u8; 32]; 2] = [&with_end, &with_start];
        // By many keys: a hash that is linear in the ids fails for one in ten.
        for id in ids.into_iter().cycle().take(60) {
            let mut seen = SeenIds::with_capacity(8192);
            (0..8192).for_each(|i| assert!(seen.insert(&id(i))));
            // A quarter of the capacity ago: gone only where 16 fell on a set that expects 4.
            let forgotten = (8192 - 2048..8192).filter(|&i| !seen.contains(&id(i))).count();
            assert!(forgotten < 20, "{forgotten}");
            let remembered = (0..8192).filter(|&i| seen.contains(&id(i))).count();
            assert_eq!(remembered, seen.len());
            assert!(remembered > 6500, "{remembered}");
        }
    }

    #[test]
    fn instances_have_keys_of_their_own() {
        let sets = || {
            let seen = SeenIds::with_capacity(1 << 16);
            (0..64).map(|i| seen.place(&[i; 32]).0).collect::<Vec<_>>()
        };
        assert_ne!(sets(), sets());
    }

    #[test]
    fn every_place_of_a_tag_is_found() {
        for (tag, other) in [(1, 0), (1, 2), (0x7f, 0xff), (0x80, 0), (0xff, 0xfe), (2, 3)] {
            for bits in 0..1_u32 << WAYS {
                let tags = array::from_fn(|i| if bits >> i & 1 == 1 { tag } else { other });
                let found = candidates(&tags, tag).fold(0, |found, way| found | 1 << way);
                assert_eq!(found & bits, bits);
                // Only what differs in the last bit may be taken along.
                assert!(found == bits || tag ^ other == 1);
            }
        }
    }

    /// What lies in an empty place, zeros or an id that was forgotten, was not seen.
    #[test]
    fn empty_places_are_never_found() {
        for tag in FIRST_TAG..=0xff {
            for filled in 0..1_u32 << WAYS {
                let tags = array::from_fn(|i| if filled >> i & 1 == 1 { tag } else { 0 });
                assert!(candidates(&tags, tag).all(|way| filled >> way & 1 == 1));
            }
        }
        for _ in 0..2000 {
            let mut seen = SeenIds::with_capacity(16);
            let ids = [1, 2, 3].map(|byte| [byte; 32]);
            assert!(ids.iter().all(|id| seen.insert(id)) && !seen.contains(&[0; 32]));
            seen.clear();
            assert!(seen.insert(&[4; 32]) && !ids.iter().any(|id| seen.contains(id)));
        }
    }

    proptest! {
        #[test]
        fn nothing_is_seen_that_was_not(ids in proptest::collection::vec(0_u16..600, 0..2000)) {
            let mut seen = SeenIds::with_capacity(128);
            let mut all = HashSet::new();
            for id in ids {
                let id: [u8; 32] = array::from_fn(|i| id.to_le_bytes()[i % 2]);
                let was_seen = seen.contains(&id);
                prop_assert!(!was_seen || all.contains(&id));
                prop_assert_eq!(seen.insert(&id), !was_seen);
                prop_assert!(seen.contains(&id));
                all.insert(id);
                prop_assert!(seen.len() <= seen.capacity().min(all.len()));
            }
        }
    }
}
