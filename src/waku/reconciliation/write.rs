//! A payload as it is written.

use bytes::BufMut;

use crate::error::{Error, ErrorKind};
use crate::proto;
use crate::waku::hash::MessageHash;
use crate::waku::reconciliation::{
    Bound, Content, FINGERPRINT, HASH_LEN, ITEM_SET, ITEMS, Layout, PREFIX, RANGE, SKIP, SyncId,
};

/// Appends a payload to a buffer, range by range. What it has written is a whole payload at any
/// time; a payload without ranges is [`EMPTY`](super::EMPTY), though.
///
/// ```
/// use borrowire::waku::MessageHash;
/// use borrowire::waku::reconciliation::{Content, ItemSet, RangesDataBuilder, SyncId};
///
/// let at = |timestamp, byte| SyncId { timestamp, hash: MessageHash([byte; 32]) };
/// let mut payload = Vec::new();
/// let mut builder =
///     RangesDataBuilder::nwaku(&mut payload, &["/waku/2/rs/1/0"], &[], at(1000, 0));
/// builder.push(at(2000, 0), Content::Skip)?;
/// assert_eq!(payload, b"\x01\x0e/waku/2/rs/1/0\x00\xe8\x07\xe8\x07\x00");
///
/// let mut payload = Vec::new();
/// let mut builder = RangesDataBuilder::specification(&mut payload, 1, &[0, 300]);
/// builder.push(at(2000, 0x11), Content::Skip)?;
/// builder.push(at(2000, 0x22), Content::ItemSet(ItemSet::new(&[], true)))?;
/// assert_eq!(payload, b"\x01\x02\x00\xac\x02\xd0\x0f\x00\x00\x01\x22\x02\x00\x01");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Debug)]
pub struct RangesDataBuilder<'o, O: BufMut> {
    out: &'o mut O,
    layout: Layout,
    written: usize,
    /// Where the range before ended.
    lower: SyncId,
    /// The hash that the next prefix is to differ from.
    reference: [u8; HASH_LEN],
}

impl<'o, O: BufMut> RangesDataBuilder<'o, O> {
    /// Begins a payload of nwaku's layout at the end of `out`, with ranges from `first` on.
    ///
    /// A negative timestamp is written as nwaku does, in ten bytes, which nwaku cannot read.
    ///
    /// # Panics
    /// If `out` cannot grow and has no room; `Vec<u8>` and `BytesMut` grow.
    pub fn nwaku(
        out: &'o mut O,
        pubsub_topics: &[&str],
        content_topics: &[&str],
        first: SyncId,
    ) -> Self {
        let mut new = Self::new(out, Layout::Nwaku, first);
        for topics in [pubsub_topics, content_topics] {
            new.put_varint(topics.len() as u64);
            for topic in topics {
                new.put_varint(topic.len() as u64);
                new.put(topic.as_bytes());
            }
        }
        new.put_varint(first.timestamp as u64);
        new
    }

    /// Begins a payload of the specification's layout at the end of `out`, with ranges from 0 on.
    ///
    /// # Panics
    /// If `out` cannot grow and has no room; `Vec<u8>` and `BytesMut` grow.
    pub fn specification(out: &'o mut O, cluster: u64, shards: &[u64]) -> Self {
        let zero = SyncId { timestamp: 0, hash: MessageHash([0; HASH_LEN]) };
        let mut new = Self::new(out, Layout::Specification, zero);
        new.put_varint(cluster);
        new.put_varint(shards.len() as u64);
        shards.iter().for_each(|shard| new.put_varint(*shard));
        new
    }

    /// Appends a range that ends at `upper`. Of its hash is written what the layout wants: nothing
    /// unless the bound before has the same timestamp.
    ///
    /// Errs, and appends nothing, at a bound below the last one and at items that are not in order.
    ///
    /// # Panics
    /// If the buffer cannot grow and has no room.
    pub fn push(&mut self, upper: SyncId, content: Content<'_>) -> Result<(), Error> {
        let len = differing_len(&self.reference, &upper.hash.0);
        self.put_range(upper, &upper.hash.0[..len], content)
    }

    /// Appends a range that ends at `upper`, with the prefix as it is: for ranges that were read.
    ///
    /// Errs, and appends nothing, as [`push`](Self::push) does, and at a prefix of more than 32
    /// bytes.
    ///
    /// # Panics
    /// If the buffer cannot grow and has no room.
    pub fn push_bound(&mut self, upper: Bound<'_>, content: Content<'_>) -> Result<(), Error> {
        if upper.prefix.len() > HASH_LEN {
            let kind = ErrorKind::too_long(upper.prefix.len(), HASH_LEN as u32);
            return Err(Error::new(kind, self.written, PREFIX));
        }
        self.put_range(upper.id(), upper.prefix, content)
    }

    /// How many bytes the payload has so far.
    #[expect(clippy::len_without_is_empty, reason = "a payload is never empty")]
    pub const fn len(&self) -> usize {
        self.written
    }

    fn new(out: &'o mut O, layout: Layout, lower: SyncId) -> Self {
        Self { out, layout, written: 0, lower, reference: lower.hash.0 }
    }

    fn put_range(
        &mut self,
        upper: SyncId,
        prefix: &[u8],
        content: Content<'_>,
    ) -> Result<(), Error> {
        if upper < self.lower {
            return Err(Error::new(ErrorKind::Descending, self.written, RANGE));
        }
        if let Content::ItemSet(set) = content
            && !set.items().is_sorted()
        {
            return Err(Error::new(ErrorKind::Descending, self.written, ITEMS));
        }
        // As nwaku casts it. The bounds ascend, so the difference fits.
        let difference = upper.timestamp.wrapping_sub(self.lower.timestamp) as u64;
        self.put_varint(difference);
        if difference == 0 {
            self.put(&[prefix.len() as u8]);
            self.put(prefix);
        }
        match content {
            Content::Skip => self.put(&[SKIP]),
            Content::Fingerprint(fingerprint) => {
                self.put(&[FINGERPRINT]);
                self.put(fingerprint);
            }
            Content::ItemSet(set) => {
                self.put(&[ITEM_SET]);
                self.put_varint(set.items().len() as u64);
                let mut last = 0_i64;
                for item in set.items() {
                    self.put_varint(item.timestamp.wrapping_sub(last) as u64);
                    self.put(&item.hash.0);
                    last = item.timestamp;
                }
                self.put(&[set.reconciled().into()]);
            }
        }
        self.lower = upper;
        if self.layout == Layout::Specification {
            self.reference = upper.hash.0;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out.put_slice(bytes);
        self.written += bytes.len();
    }

    fn put_varint(&mut self, value: u64) {
        proto::put_varint(self.out, value);
        self.written += proto::varint_len(value);
    }
}

/// How many bytes of `hash` it takes to differ from `reference`: all, if they are equal.
fn differing_len(reference: &[u8; HASH_LEN], hash: &[u8; HASH_LEN]) -> usize {
    let same = reference.iter().zip(hash).take_while(|(a, b)| a == b).count();
    (same + 1).min(HASH_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waku::reconciliation::{ItemSet, RangesDataView};

    /// The table of WAKU-SYNC, "Delta encoding for sequential SyncIDs".
    #[test]
    fn bounds_are_cut_as_the_specification_shows() {
        let mut payload = Vec::new();
        let mut builder = RangesDataBuilder::specification(&mut payload, 0, &[]);
        for (timestamp, start) in [
            (1000, [0x4a, 0x8a, 0x76, 0x9a]),
            (1002, [0x35, 0x1c, 0x5e, 0x86]),
            (1002, [0x35, 0x60, 0xd9, 0xc4]),
            (1003, [0xbe, 0xab, 0xef, 0x25]),
        ] {
            builder.push(id(timestamp, &start), Content::Skip).unwrap();
        }
        assert_eq!(payload, b"\x00\x00\xe8\x07\x00\x02\x00\x00\x02\x35\x60\x00\x01\x00");
    }

    /// nwaku compares all bounds of the same time with the first, the specification each with the
    /// one before.
    #[test]
    fn the_layouts_cut_prefixes_by_different_hashes() {
        let bounds = [id(9, &[1, 1]), id(9, &[1, 2, 1]), id(9, &[1, 2, 2])];
        let mut nwaku = Vec::new();
        let mut builder = RangesDataBuilder::nwaku(&mut nwaku, &[], &[], id(9, &[1, 0, 7]));
        bounds.iter().for_each(|bound| builder.push(*bound, Content::Skip).unwrap());
        assert_eq!(builder.len(), nwaku.len());
        assert_eq!(nwaku[..3], [0, 0, 9]);
        assert_eq!(nwaku[3..8], [0, 2, 1, 1, 0]);
        assert_eq!(nwaku[8..13], [0, 2, 1, 2, 0]);
        assert_eq!(nwaku[13..], [0, 2, 1, 2, 0]);
        let view = RangesDataView::parse(&nwaku[..], Layout::Nwaku).unwrap();
        let last = view.ranges().last().unwrap();
        assert_eq!(last.lower, last.upper);

        let mut spec = Vec::new();
        let mut builder = RangesDataBuilder::specification(&mut spec, 0, &[]);
        builder.push(id(9, &[1, 0, 7]), Content::Skip).unwrap();
        bounds.iter().for_each(|bound| builder.push(*bound, Content::Skip).unwrap());
        assert_eq!(spec[4..9], [0, 2, 1, 1, 0]);
        assert_eq!(spec[9..14], [0, 2, 1, 2, 0]);
        assert_eq!(spec[14..], [0, 3, 1, 2, 2, 0]);
    }

    #[test]
    fn what_is_out_of_order_is_refused_and_not_written() {
        let mut payload = Vec::new();
        let mut builder = RangesDataBuilder::nwaku(&mut payload, &[], &[], id(5, &[5]));
        let mut push = |upper, items: &[SyncId]| {
            let before = builder.len();
            let pushed = builder.push(upper, Content::ItemSet(ItemSet::new(items, false)));
            let grown = builder.len() > before;
            assert_eq!(pushed.is_ok(), grown);
            pushed.map_err(|error| (error.kind(), error.context()))
        };
        assert_eq!(push(id(4, &[9]), &[]), Err((ErrorKind::Descending, RANGE)));
        assert_eq!(push(id(5, &[4]), &[]), Err((ErrorKind::Descending, RANGE)));
        assert_eq!(push(id(5, &[5]), &[]), Ok(()));
        let items = [id(2, &[0]), id(1, &[0])];
        assert_eq!(push(id(6, &[0]), &items), Err((ErrorKind::Descending, ITEMS)));
        let items = [id(1, &[1]), id(1, &[0])];
        assert_eq!(push(id(6, &[0]), &items), Err((ErrorKind::Descending, ITEMS)));
        assert_eq!(push(id(i64::MAX, &[0]), &[id(1, &[0]), id(1, &[0])]), Ok(()));
        let bound = Bound { timestamp: i64::MAX, prefix: &[1; 33] };
        let error = builder.push_bound(bound, Content::Skip).unwrap_err();
        assert_eq!(error.context(), PREFIX);
        assert!(RangesDataView::parse(&payload[..], Layout::Nwaku).is_ok());
    }

    #[test]
    fn any_time_comes_back() {
        let times = [i64::MIN, -1, 0, 1, i64::MAX];
        let items = times.map(|timestamp| id(timestamp, &[7]));
        let mut payload = Vec::new();
        let mut builder = RangesDataBuilder::nwaku(&mut payload, &["t"], &["a"], items[0]);
        for upper in items {
            builder.push(upper, Content::ItemSet(ItemSet::new(&items, true))).unwrap();
        }
        let view = RangesDataView::parse(&payload[..], Layout::Nwaku).unwrap();
        assert!(view.ranges().map(|range| range.upper.timestamp).eq(times));
        for range in view.ranges() {
            let Content::ItemSet(set) = range.content else { panic!("{range:?}") };
            assert!(set.items().eq(items) && set.reconciled());
            assert_eq!(set, ItemSet::new(&items, true));
        }
    }

    fn id(timestamp: i64, start: &[u8]) -> SyncId {
        Bound { timestamp, prefix: start }.id()
    }
}
