//! Where filters are found by a value of theirs.
//!
//! ```text
//! id, author, kind, tags ── secret hash ── table ── posting ── places
//!
//! table    hash of a key, 64 bits -> the first posting with that hash; four of them
//! posting  a key (an author, a tag with its value, …) and the filters that ask for it
//! place    a filter, and which of its values this is
//! ```
//!
//! A filter is entered under every value of one condition of its own. It remembers where, so that
//! taking it out costs as much as it has values, however many others ask for the same.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use crate::nostr::filter::compiled::{Condition, Values};
use crate::nostr::filter::letter::Letter;

/// The postings of many filters.
#[derive(Clone)]
pub(super) struct Index {
    secret: Secret,
    /// By kinds of keys, so that those looked up most, the values of tags, lie close together.
    tables: [HashMap<u64, u32, BuildHasherDefault<SameHash>>; 4],
    postings: Vec<Posting>,
    /// Postings that hold no place, to be used again.
    free: Vec<u32>,
    /// How many postings there are for each letter, and for ids, authors and kinds behind them: what
    /// nobody asks for need not be looked up.
    asked: [u32; 55],
    letters: u64,
}

impl Index {
    pub(super) fn new() -> Self {
        Self {
            secret: Secret::random(),
            tables: Default::default(),
            postings: Vec::new(),
            free: Vec::new(),
            asked: [0; 55],
            letters: 0,
        }
    }

    /// Enters `filter` under each of the values of a condition; says under which postings, and where
    /// in them.
    pub(super) fn enter(
        &mut self,
        filter: u32,
        condition: Condition,
        values: Values<'_>,
    ) -> Box<[Entry]> {
        let mut entries = Vec::with_capacity(values.len());
        for (value, key) in keys(condition, values).enumerate() {
            let posting = self.posting(key);
            let places = &mut self.postings[posting as usize].places;
            entries.push(Entry { posting, at: places.len() as u32 });
            places.push(Place { filter, value: value as u32 });
        }
        entries.into()
    }

    /// Takes one entry out. The place that was the last of its posting is then where this one was:
    /// returns that place, if it is another.
    pub(super) fn take_out(&mut self, entry: Entry) -> Option<Place> {
        let posting = &mut self.postings[entry.posting as usize];
        posting.places.swap_remove(entry.at as usize);
        if posting.places.is_empty() {
            self.free_posting(entry.posting);
            return None;
        }
        posting.places.get(entry.at as usize).copied()
    }

    /// The letters that are asked for.
    #[inline(always)]
    pub(super) const fn letters(&self) -> u64 {
        self.letters
    }

    /// The posting of `key`, if any filter is entered under it.
    #[inline(always)]
    pub(super) fn find(&self, key: Key<'_>) -> Option<u32> {
        if self.asked[key.class()] == 0 {
            return None;
        }
        let mut next = *self.tables[key.table()].get(&self.secret.hash(key))?;
        // Hardly ever more than one.
        while next != NONE {
            let posting = &self.postings[next as usize];
            if posting.key.as_ref() == key {
                return Some(next);
            }
            next = posting.next;
        }
        None
    }

    /// The filters of a posting.
    #[inline(always)]
    pub(super) fn places(&self, posting: u32) -> &[Place] {
        &self.postings[posting as usize].places
    }

    /// How many postings there are, free ones included.
    pub(super) const fn len(&self) -> usize {
        self.postings.len()
    }

    /// The posting of `key`, made if need be.
    fn posting(&mut self, key: Key<'_>) -> u32 {
        if let Some(posting) = self.find(key) {
            return posting;
        }
        let (hash, class) = (self.secret.hash(key), key.class());
        self.asked[class] += 1;
        self.note_letter(class);
        let first = self.tables[key.table()].entry(hash).or_insert(NONE);
        let posting = Posting { key: key.to_owned(), next: *first, places: Vec::new() };
        let i = match self.free.pop() {
            Some(i) => {
                self.postings[i as usize] = posting;
                i
            }
            None => {
                self.postings.push(posting);
                // Fewer than 2^32: each has a value of a filter, of 20,000 at most by default, and
                // takes some 100 bytes.
                u32::try_from(self.postings.len() - 1).expect("fewer than 2^32 values")
            }
        };
        *first = i;
        i
    }

    fn free_posting(&mut self, i: u32) {
        let posting = &mut self.postings[i as usize];
        let (key, next) = (posting.key.as_ref(), posting.next);
        let (hash, class) = (self.secret.hash(key), key.class());
        let table = key.table();
        posting.places = Vec::new();
        posting.key = OwnedKey::Kind(0);
        self.free.push(i);
        self.asked[class] -= 1;
        self.note_letter(class);
        let table = &mut self.tables[table];
        let first = table[&hash];
        if first != i {
            let mut before = first;
            while self.postings[before as usize].next != i {
                before = self.postings[before as usize].next;
            }
            self.postings[before as usize].next = next;
        } else if next == NONE {
            table.remove(&hash);
        } else {
            table.insert(hash, next);
        }
    }

    fn note_letter(&mut self, class: usize) {
        if class < LETTERS {
            let bit = 1 << class;
            self.letters = match self.asked[class] {
                0 => self.letters & !bit,
                _ => self.letters | bit,
            };
        }
    }
}

/// What filters are found by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key<'a> {
    Id(&'a [u8; 32]),
    Author(&'a [u8; 32]),
    Kind(u16),
    Tag(Letter, &'a str),
}

impl Key<'_> {
    const fn class(self) -> usize {
        match self {
            Self::Tag(letter, _) => letter.index() as usize,
            Self::Id(_) => LETTERS,
            Self::Author(_) => LETTERS + 1,
            Self::Kind(_) => LETTERS + 2,
        }
    }

    const fn table(self) -> usize {
        self.class().saturating_sub(LETTERS - 1)
    }

    fn to_owned(self) -> OwnedKey {
        match self {
            Self::Id(id) => OwnedKey::Id(*id),
            Self::Author(author) => OwnedKey::Author(*author),
            Self::Kind(kind) => OwnedKey::Kind(kind),
            Self::Tag(letter, value) => OwnedKey::Tag(letter, value.into()),
        }
    }
}

/// A filter under a key: which of its values the key is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) filter: u32,
    pub(super) value: u32,
}

/// Where a value of a filter was entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    posting: u32,
    pub(super) at: u32,
}

#[derive(Clone)]
struct Posting {
    key: OwnedKey,
    /// The next posting whose key has the same hash, or `NONE`.
    next: u32,
    places: Vec<Place>,
}

#[derive(Clone)]
enum OwnedKey {
    Id([u8; 32]),
    Author([u8; 32]),
    Kind(u16),
    Tag(Letter, Box<str>),
}

impl OwnedKey {
    #[inline(always)]
    fn as_ref(&self) -> Key<'_> {
        match self {
            Self::Id(id) => Key::Id(id),
            Self::Author(author) => Key::Author(author),
            Self::Kind(kind) => Key::Kind(*kind),
            Self::Tag(letter, value) => Key::Tag(*letter, value),
        }
    }
}

/// The hash of keys, that nobody else can compute. Keys of 32 bytes and tag values of 64, which
/// nearly all are, are hashed by multiply-shift over vectors: any two collide with a probability of
/// 2^-64. Source: Thorup, High Speed Hashing for Integers and Strings, 3.1. Others by SipHash.
#[derive(Clone)]
struct Secret {
    added: u128,
    factors: [u128; 9],
    other: RandomState,
}

impl Secret {
    fn random() -> Self {
        let other = RandomState::new();
        let mut words = (0_u64..).map(|i| other.hash_one(i));
        let mut word = || u128::from(words.next().unwrap_or_default());
        let mut number = || word() << 64 | word();
        Self { added: number(), factors: std::array::from_fn(|_| number()), other }
    }

    #[inline(always)]
    fn hash(&self, key: Key<'_>) -> u64 {
        let class = key.class() as u64;
        match key {
            Key::Id(id) | Key::Author(id) => self.hash_words(class, id.as_chunks().0),
            Key::Kind(kind) => self.hash_words(class, &[u64::from(kind).to_le_bytes()]),
            Key::Tag(_, value) => match value.as_bytes().as_chunks() {
                (words, []) if words.len() == 8 => self.hash_words(class, words),
                _ => self.other.hash_one((class, value)),
            },
        }
    }

    /// The hash of at most eight words.
    #[inline(always)]
    fn hash_words(&self, class: u64, words: &[[u8; 8]]) -> u64 {
        let [first, factors @ ..] = &self.factors;
        let start = self.added.wrapping_add(first.wrapping_mul(class.into()));
        let sum = factors.iter().zip(words).fold(start, |sum, (factor, word)| {
            sum.wrapping_add(factor.wrapping_mul(u64::from_le_bytes(*word).into()))
        });
        (sum >> 64) as u64
    }
}

/// Passes a hash on.
#[derive(Clone, Copy, Default)]
struct SameHash(u64);

impl Hasher for SameHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    #[inline(always)]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The keys of a list.
fn keys<'a>(condition: Condition, values: Values<'a>) -> impl Iterator<Item = Key<'a>> {
    (0..values.len()).filter_map(move |i| {
        Some(match (condition, values) {
            (Condition::Ids, Values::Ids(ids)) => Key::Id(&ids[i]),
            (Condition::Authors, Values::Ids(ids)) => Key::Author(&ids[i]),
            (Condition::Kinds, Values::Kinds(kinds)) => Key::Kind(kinds[i]),
            (Condition::Tag(letter), Values::Texts(texts)) => Key::Tag(letter, &texts[i]),
            _ => return None,
        })
    })
}

const LETTERS: usize = 52;
/// No posting.
const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys whose hashes collide are told apart, in whatever order they come and go.
    #[test]
    fn keys_of_one_hash_share_a_chain() {
        let mut index = Index::new();
        index.secret.factors = [0; 9];
        let ids = [[1; 32], [2; 32], [3; 32]];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut entries = [0, 1, 2].map(|filter| {
                let id = &ids[filter..=filter];
                index.enter(filter as u32, Condition::Ids, Values::Ids(id))
            });
            let more = index.enter(3, Condition::Ids, Values::Ids(&ids[1..]));
            assert_eq!((index.tables[1].len(), index.len()), (1, 3));
            let found = |index: &Index, id: usize| -> Vec<u32> {
                let posting = index.find(Key::Id(&ids[id]));
                posting.map_or(vec![], |p| index.places(p).iter().map(|p| p.filter).collect())
            };
            assert_eq!([0, 1, 2].map(|id| found(&index, id)), [vec![0], vec![1, 3], vec![2, 3]]);
            assert_eq!(index.find(Key::Author(&ids[0])), None);
            // The last place of a posting takes that of one that goes.
            let moved = index.take_out(entries[1][0]).unwrap();
            assert_eq!((moved.filter, moved.value), (3, 0));
            assert_eq!(found(&index, 1), [3]);
            assert!(index.take_out(Entry { at: 0, ..more[0] }).is_none());
            assert!(index.take_out(more[1]).is_none());
            assert_eq!([0, 1, 2].map(|id| found(&index, id)), [vec![0], vec![], vec![2]]);
            entries[1] = index.enter(1, Condition::Ids, Values::Ids(&ids[1..2]));
            for (gone, id) in order.into_iter().enumerate() {
                assert!(index.take_out(entries[id][0]).is_none());
                for left in 0..3 {
                    let is_left = !order[..=gone].contains(&left);
                    assert_eq!(found(&index, left), [left as u32][..usize::from(is_left)]);
                }
            }
            assert!(index.tables.iter().all(HashMap::is_empty));
            assert_eq!((index.asked, index.letters()), ([0; 55], 0));
        }
    }

    #[test]
    fn keys_of_other_classes_hash_otherwise() {
        let secret = Secret::random();
        let letter = |letter| Letter::new(letter).unwrap();
        let text = "00".repeat(32);
        let keys = [
            Key::Id(&[0; 32]),
            Key::Author(&[0; 32]),
            Key::Kind(0),
            Key::Tag(letter('e'), &text),
            Key::Tag(letter('p'), &text),
            Key::Tag(letter('e'), ""),
            Key::Tag(letter('p'), ""),
        ];
        let mut hashes = keys.map(|key| secret.hash(key)).to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), keys.len());
        let other = Secret::random();
        assert!(keys.iter().all(|key| secret.hash(*key) != other.hash(*key)));
    }
}
