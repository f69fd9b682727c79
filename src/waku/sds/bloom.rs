//! The bloom filter of nim-sds.

use std::fmt;

use bytes::Bytes;

use super::field;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, view};
use crate::waku::put::{Encode, Put, builder};

view! {
    /// What nim-sds has in [`MessageView::bloom_filter`](super::MessageView::bloom_filter), read where it lies.
    ///
    /// ```
    /// use borrowire::waku::sds::{BloomFilterBuilder, BloomFilterView};
    ///
    /// let filter = BloomFilterBuilder {
    ///     bits: &[1, 0, 0, 0, 0, 0, 0, 0x80], capacity: 10_000, error_rate: 1_000, k_hashes: 10, m_bits: 64,
    /// };
    /// let frame = filter.to_vec();
    /// let view = BloomFilterView::parse(&frame[..])?;
    /// assert!(view.words().eq([0x8000_0000_0000_0001]));
    /// assert_eq!((view.error_rate(), view.k_hashes()), (1_000, 10));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    BloomFilterView, BLOOM, 5
}

impl<B: Buffer> BloomFilterView<B> {
    /// The bits, as bytes.
    pub fn bits(&self) -> &[u8] {
        self.record.bytes(BLOOM_BITS)
    }

    /// The bits, as words of 64 in little-endian order; bytes beyond the last whole word are not
    /// among them.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> + Clone {
        self.bits().as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// How many messages the filter is made for.
    pub fn capacity(&self) -> u64 {
        self.record.uint(BLOOM_CAPACITY)
    }

    /// How many of a million messages that are not in the filter seem to be.
    pub fn error_rate(&self) -> u64 {
        self.record.uint(BLOOM_ERROR_RATE)
    }

    /// How many hashes a message has.
    pub fn k_hashes(&self) -> u64 {
        self.record.uint(BLOOM_K_HASHES)
    }

    /// How many bits the filter has.
    pub fn m_bits(&self) -> u64 {
        self.record.uint(BLOOM_M_BITS)
    }
}

impl<B: Buffer> fmt::Display for BloomFilterView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bloom filter of {} bits for {} messages", self.m_bits(), self.capacity())
    }
}

/// Writes what nim-sds has in [`MessageView::bloom_filter`](super::MessageView::bloom_filter). All of it must be there, so it is given
/// by name.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[allow(clippy::exhaustive_structs)]
pub struct BloomFilterBuilder<'a> {
    /// The bits, words of 64 in little-endian order.
    pub bits: &'a [u8],
    /// How many messages the filter is made for.
    pub capacity: u64,
    /// How many of a million messages that are not in the filter seem to be.
    pub error_rate: u64,
    /// How many hashes a message has.
    pub k_hashes: u64,
    /// How many bits the filter has.
    pub m_bits: u64,
}

impl Encode for BloomFilterBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::BLOOM_BITS, self.bits);
        out.uint(field::BLOOM_CAPACITY, self.capacity);
        out.uint(field::BLOOM_ERROR_RATE, self.error_rate);
        out.uint(field::BLOOM_K_HASHES, self.k_hashes);
        out.uint(field::BLOOM_M_BITS, self.m_bits);
    }
}

builder!(BloomFilterBuilder, BloomFilterView);

static BLOOM: Kind<5> = Kind {
    name: "BloomFilter",
    context: "bloom_filter",
    fields: [
        Field::new(field::BLOOM_BITS, "bloom_filter.bits", Shape::Bytes),
        Field::new(field::BLOOM_CAPACITY, "bloom_filter.capacity", Shape::Uint64),
        Field::new(field::BLOOM_ERROR_RATE, "bloom_filter.error_rate", Shape::Uint64),
        Field::new(field::BLOOM_K_HASHES, "bloom_filter.k_hashes", Shape::Uint64),
        Field::new(field::BLOOM_M_BITS, "bloom_filter.m_bits", Shape::Uint64),
    ],
};

// The places of the fields in the table.
const BLOOM_BITS: usize = 0;
const BLOOM_CAPACITY: usize = 1;
const BLOOM_ERROR_RATE: usize = 2;
const BLOOM_K_HASHES: usize = 3;
const BLOOM_M_BITS: usize = 4;
