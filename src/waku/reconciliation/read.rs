//! A payload as it is read.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Frame, Marks, Span, check_utf8};
use crate::counters;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::rules::Rules;
use crate::waku::reconciliation::range::{Bound, Range, read_count, read_range};
use crate::waku::reconciliation::{
    CLUSTER, CONTENT_TOPICS, EMPTY, Layout, PAYLOAD, PUBSUB_TOPICS, SHARDS, TIMESTAMP,
};

/// A RangesData payload read where it lies.
///
/// ```
/// use borrowire::waku::reconciliation::{Content, Layout, RangesDataView};
///
/// let payload = &b"\x01\x0e/waku/2/rs/1/0\x00\xe8\x07\xe8\x07\x00"[..];
/// let view = RangesDataView::parse(payload, Layout::Nwaku)?;
/// assert!(view.pubsub_topics().eq([Some("/waku/2/rs/1/0")]));
/// let range = view.ranges().next().unwrap();
/// assert_eq!((range.lower.timestamp, range.upper.timestamp), (1000, 2000));
/// assert_eq!(range.content, Content::Skip);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct RangesDataView<B: Buffer = Bytes> {
    frame: Frame<B, 3>,
    head: Head,
}

impl<B: Buffer> RangesDataView<B> {
    /// Reads a payload under [`Rules::STRICT`].
    pub fn parse(payload: B, layout: Layout) -> Result<Self, Error> {
        Self::parse_with(payload, layout, &Rules::STRICT)
    }

    /// Reads a payload in one pass that allocates nothing: however many topics, ranges or items it
    /// announces, nothing is reserved for them, and more than its bytes can hold is
    /// [`ErrorKind::Truncated`].
    ///
    /// Errs at a varint that the `rules` refuse, at topics that are not UTF-8 unless they let them
    /// pass, at a prefix of more than 32 bytes, at an unknown type of range, at a `reconciled` that
    /// is not 0 or 1, at a range that ends before it began or an item that is older than the one in
    /// front of it ([`ErrorKind::Descending`]), and at bytes that are left over. Ranges that are
    /// empty pass: nwaku cuts bounds of the same time so that they can become equal.
    pub fn parse_with(payload: B, layout: Layout, rules: &Rules) -> Result<Self, Error> {
        let mut head = Head { layout, cluster: None, first: 0, counts: [0; 3] };
        let frame = Frame::parse(payload, |marks| read(marks, &mut head, rules))?;
        Ok(Self { frame, head })
    }

    /// The layout that the payload was read in.
    pub fn layout(&self) -> Layout {
        self.head.layout
    }

    /// The pubsub topics that the peer syncs; `None` for one that is not UTF-8. Those of nwaku's
    /// layout.
    pub fn pubsub_topics(&self) -> impl ExactSizeIterator<Item = Option<&str>> + Clone {
        self.topics(PUBSUB)
    }

    /// The content topics that the peer syncs; `None` for one that is not UTF-8. Those of nwaku's
    /// layout.
    pub fn content_topics(&self) -> impl ExactSizeIterator<Item = Option<&str>> + Clone {
        self.topics(CONTENT)
    }

    /// The cluster of the peer. `None` in nwaku's layout, and in the payload without ranges.
    pub fn cluster(&self) -> Option<u64> {
        self.head.cluster
    }

    /// The shards that the peer syncs. Those of the specification's layout.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = u64> + Clone {
        let left = self.head.count(Layout::Specification, SHARD);
        Shards { cursor: Cursor::new(self.frame.bytes(SHARD)), left }
    }

    /// The ranges, in their order.
    pub fn ranges(&self) -> Ranges<'_> {
        Ranges {
            cursor: Cursor::new(self.frame.bytes(RANGES)),
            lower: Bound { timestamp: self.head.first, prefix: &[] },
            left: self.head.counts[RANGES] as usize,
        }
    }

    /// The payload, exactly as it was received.
    pub fn raw(&self) -> &[u8] {
        self.frame.buffer().as_ref()
    }

    /// The payload's buffer.
    pub fn buffer(&self) -> &B {
        self.frame.buffer()
    }

    /// The same payload in a buffer of its own, copied.
    #[must_use]
    pub fn detach(&self) -> RangesDataView {
        counters::copy(self.raw().len());
        RangesDataView { frame: self.frame.detach(), head: self.head }
    }

    /// The same payload, borrowed from this view.
    pub fn as_borrowed(&self) -> RangesDataView<&[u8]> {
        RangesDataView { frame: self.frame.borrowed(), head: self.head }
    }

    fn topics(&self, i: usize) -> Topics<'_> {
        let left = self.head.count(Layout::Nwaku, i);
        Topics { cursor: Cursor::new(self.frame.bytes(i)), left }
    }
}

impl<B: Buffer> Eq for RangesDataView<B> {}

/// Equal if all values are, whatever the lengths of varints; payloads of different layouts are not.
impl<A: Buffer, B: Buffer> PartialEq<RangesDataView<B>> for RangesDataView<A> {
    fn eq(&self, other: &RangesDataView<B>) -> bool {
        self.head == other.head
            && self.topics(PUBSUB).eq_bytes(other.topics(PUBSUB))
            && self.topics(CONTENT).eq_bytes(other.topics(CONTENT))
            && self.shards().eq(other.shards())
            && self.ranges().eq(other.ranges())
    }
}

impl<B: Buffer> fmt::Display for RangesDataView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reconciliation of {} ranges", self.ranges().len())
    }
}

impl<B: Buffer> fmt::Debug for RangesDataView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RangesDataView");
        match self.head.layout {
            Layout::Nwaku => {
                out.field("pubsub_topics", &format_args!("{} of them", self.pubsub_topics().len()));
                let count = self.content_topics().len();
                out.field("content_topics", &format_args!("{count} of them"));
            }
            Layout::Specification => {
                out.field("cluster", &self.cluster());
                out.field("shards", &format_args!("{} of them", self.shards().len()));
            }
        }
        out.field("ranges", &format_args!("{} of them", self.ranges().len())).finish()
    }
}

/// Iterator over the ranges of a payload.
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    cursor: Cursor<'a>,
    lower: Bound<'a>,
    left: usize,
}

impl<'a> Iterator for Ranges<'a> {
    type Item = Range<'a>;

    fn next(&mut self) -> Option<Range<'a>> {
        self.left = self.left.checked_sub(1)?;
        // The payload was accepted, so no range of it errs.
        let range = read_range(&mut self.cursor, self.lower, &Rules::ANY).ok()?;
        self.lower = range.upper;
        Some(range)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Ranges<'_> {}
impl std::iter::FusedIterator for Ranges<'_> {}

/// Iterator over shards.
#[derive(Clone)]
struct Shards<'a> {
    cursor: Cursor<'a>,
    left: usize,
}

impl Iterator for Shards<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.cursor.varint(&Rules::ANY, SHARDS).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Shards<'_> {}

/// Iterator over topics.
#[derive(Clone)]
struct Topics<'a> {
    cursor: Cursor<'a>,
    left: usize,
}

impl<'a> Topics<'a> {
    fn next_bytes(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let len = self.cursor.varint(&Rules::ANY, PUBSUB_TOPICS).ok()?;
        self.cursor.take(len, PUBSUB_TOPICS).ok()
    }

    fn eq_bytes(mut self, mut other: Topics<'_>) -> bool {
        self.left == other.left
            && std::iter::from_fn(|| self.next_bytes())
                .eq(std::iter::from_fn(|| other.next_bytes()))
    }
}

impl<'a> Iterator for Topics<'a> {
    type Item = Option<&'a str>;

    fn next(&mut self) -> Option<Option<&'a str>> {
        self.next_bytes().map(|topic| std::str::from_utf8(topic).ok())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Topics<'_> {}

/// What a payload has beside its lists.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    layout: Layout,
    cluster: Option<u64>,
    /// The timestamp at which the first range begins.
    first: i64,
    /// How many there are in each list.
    counts: [u32; 3],
}

impl Head {
    /// How many there are in list `i` of a layout: none in the other one.
    fn count(&self, layout: Layout, i: usize) -> usize {
        if self.layout == layout { self.counts[i] as usize } else { 0 }
    }
}

fn read(marks: &mut Marks<'_, 3>, head: &mut Head, rules: &Rules) -> Result<(), Error> {
    let payload = marks.bytes();
    if payload.len() > rules.limits().frame as usize {
        let limit = rules.limits().frame;
        return Err(Error::new(ErrorKind::too_long(payload.len(), limit), limit as usize, PAYLOAD));
    }
    if payload == EMPTY {
        return Ok(());
    }
    let mut cursor = Cursor::new(payload);
    match head.layout {
        Layout::Nwaku => {
            for (i, context) in [(PUBSUB, PUBSUB_TOPICS), (CONTENT, CONTENT_TOPICS)] {
                head.counts[i] = read_list(&mut cursor, marks, i, rules, context, |cursor| {
                    read_topic(cursor, rules, context)
                })?;
            }
            head.first = cursor.varint(rules, TIMESTAMP)? as i64;
        }
        Layout::Specification => {
            head.cluster = Some(cursor.varint(rules, CLUSTER)?);
            head.counts[SHARD] = read_list(&mut cursor, marks, SHARD, rules, SHARDS, |cursor| {
                cursor.varint(rules, SHARDS).map(drop)
            })?;
        }
    }
    let start = cursor.position();
    let mut lower = Bound { timestamp: head.first, prefix: &[] };
    while !cursor.is_empty() {
        lower = read_range(&mut cursor, lower, rules)?.upper;
        head.counts[RANGES] += 1;
    }
    marks.set(RANGES, span(start, payload.len()));
    Ok(())
}

/// Reads a count and that many items of one byte or more each, and marks them; gives back the count.
fn read_list(
    cursor: &mut Cursor<'_>,
    marks: &mut Marks<'_, 3>,
    i: usize,
    rules: &Rules,
    context: &'static str,
    mut read_item: impl FnMut(&mut Cursor<'_>) -> Result<(), Error>,
) -> Result<u32, Error> {
    let count = read_count(cursor, rules, 1, context)?;
    let start = cursor.position();
    for _ in 0..count {
        read_item(cursor)?;
    }
    marks.set(i, span(start, cursor.position()));
    Ok(count)
}

fn read_topic(cursor: &mut Cursor<'_>, rules: &Rules, context: &'static str) -> Result<(), Error> {
    let len = cursor.varint(rules, context)?;
    let start = cursor.position();
    let topic = cursor.take(len, context)?;
    if rules.utf8 {
        let bad = |valid| Error::new(ErrorKind::Utf8, start + valid, context);
        check_utf8(topic).map_err(bad)?;
    }
    Ok(())
}

const fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, (end - start) as u32)
}

// The places of the lists.
const PUBSUB: usize = 0;
const CONTENT: usize = 1;
const RANGES: usize = 2;
/// Shards stand where the other layout has pubsub topics.
const SHARD: usize = PUBSUB;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waku::hash::MessageHash;
    use crate::waku::reconciliation::{Content, ITEMS};
    use Layout::{Nwaku, Specification};

    /// nwaku writes both and cannot read them: it wants nine bytes where one or two are.
    #[test]
    fn short_payloads_are_read() {
        let view = nwaku(b"\x01\x0e/waku/2/rs/1/0\x00\xe8\x07\xe8\x07\x00").unwrap();
        assert!(view.pubsub_topics().eq([Some("/waku/2/rs/1/0")]));
        assert_eq!((view.content_topics().len(), view.cluster()), (0, None));
        assert_eq!(bounds(&view), [(at(1000, &[]), at(2000, &[]))]);

        let view = nwaku(b"\x00\x00\x00\x05\x00").unwrap();
        assert_eq!(bounds(&view), [(at(0, &[]), at(5, &[]))]);
        assert_eq!(view.ranges().next().unwrap().content, Content::Skip);
    }

    /// nwaku's own arithmetic overflows there, which ends the process.
    #[test]
    fn a_topic_longer_than_the_address_space_is_truncated() {
        let payload = b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00";
        let error = nwaku(payload).unwrap_err();
        assert_eq!(
            error.to_string(),
            "reconciliation.pubsub_topics: truncated, 4294967295 or more bytes needed, 3 left, \
             at byte 10"
        );
    }

    /// nwaku reads a varint of ten bytes as 0 and stays where it is.
    #[test]
    fn ten_bytes_are_a_negative_time() {
        let minus_1 = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let view = [&b"\x00\x00"[..], minus_1, b"\x02\x00"].concat();
        assert_eq!(bounds(&nwaku(&view).unwrap()), [(at(-1, &[]), at(1, &[]))]);

        let back = [&b"\x00\x00\x05"[..], minus_1, b"\x00"].concat();
        let error = nwaku(&back).unwrap_err();
        let text = "reconciliation.range: ends before the range in front of it, at byte 3";
        assert_eq!(error.to_string(), text);

        let hash = [7; 32];
        let items = [&b"\x00\x00\x00\x05\x02\x02\x05"[..], &hash, minus_1, &hash, b"\x00"].concat();
        let error = nwaku(&items).unwrap_err();
        assert_eq!((error.kind(), error.context()), (ErrorKind::Descending, ITEMS));
        assert_eq!(error.offset(), 39);
    }

    /// nwaku's reader resets the lower bound to hash 0.
    #[test]
    fn a_lower_bound_keeps_its_prefix() {
        let view = nwaku(b"\x00\x00\x05\x00\x01\xaa\x00\x00\x02\xab\xcd\x00\x01\x00").unwrap();
        assert_eq!(
            bounds(&view),
            [
                (at(5, &[]), at(5, &[0xaa])),
                (at(5, &[0xaa]), at(5, &[0xab, 0xcd])),
                (at(5, &[0xab, 0xcd]), at(6, &[])),
            ]
        );
        let mut hash = [0; 32];
        hash[..2].copy_from_slice(&[0xab, 0xcd]);
        assert_eq!(view.ranges().last().unwrap().lower.hash(), MessageHash(hash));
    }

    /// nwaku stops one byte before the end.
    #[test]
    fn a_byte_that_is_left_over_is_an_error() {
        let error = nwaku(b"\x00\x00\x00\x05\x00\x07").unwrap_err();
        assert_eq!(
            error.to_string(),
            "reconciliation.range_type: truncated, 1 bytes needed, 0 left, at byte 6"
        );
    }

    #[test]
    fn counts_that_the_bytes_cannot_hold_are_truncated() {
        let many = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
        for (start, layout, context) in [
            (&b""[..], Nwaku, PUBSUB_TOPICS),
            (b"\x00", Nwaku, CONTENT_TOPICS),
            (b"\x00\x00\x00\x05\x02", Nwaku, ITEMS),
            (b"\x01", Specification, SHARDS),
        ] {
            let payload = [start, many, &[1; 100]].concat();
            let error = RangesDataView::parse(&payload[..], layout).unwrap_err();
            let kind = ErrorKind::Truncated { needed: u32::MAX, remaining: 100 };
            assert_eq!((error.kind(), error.context()), (kind, context));
        }
        // One item more than there is room for.
        let payload = [&b"\x00\x00\x00\x05\x02\x02"[..], &[0; 65]].concat();
        let kind = nwaku(&payload).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::Truncated { needed: 66, remaining: 65 });
    }

    #[test]
    fn what_is_no_payload_is_refused_by_name() {
        let long = [&b"\x00\x00\x00\x00\x21"[..], &[1; 40]].concat();
        for (payload, text) in [
            (
                &b""[..],
                "reconciliation.pubsub_topics: truncated, 1 bytes needed, 0 left, at byte 0",
            ),
            (b"\x05", "reconciliation.pubsub_topics: truncated, 5 bytes needed, 0 left, at byte 1"),
            (b"\x00\x00", "reconciliation.timestamp: truncated, 1 bytes needed, 0 left, at byte 2"),
            (b"\x01\x01\xff\x00\x00", "reconciliation.pubsub_topics: not UTF-8, at byte 2"),
            (
                b"\x00\x00\x00\x01\x03",
                "reconciliation.range_type: out of range, at most 2 fits, at byte 4",
            ),
            (
                b"\x00\x00\x00\x01\x02\x00\x02",
                "reconciliation.reconciled: out of range, at most 1 fits, at byte 6",
            ),
            (&long, "reconciliation.prefix: 33 bytes, at most 32 allowed, at byte 4"),
            (
                b"\x00\x00\x00\x01\x01\x00",
                "reconciliation.fingerprint: truncated, 32 bytes needed, 1 left, at byte 5",
            ),
            (
                b"\x00\x00\x80\x00\x05\x00",
                "reconciliation.timestamp: varint is not in its shortest form, at byte 2",
            ),
        ] {
            assert_eq!(nwaku(payload).unwrap_err().to_string(), text);
        }
        let loose = &b"\x00\x00\x80\x00\x05\x00"[..];
        assert!(RangesDataView::parse_with(loose, Nwaku, &Rules::PROTO3).is_ok());
        let topic = &b"\x01\x01\xff\x00\x00"[..];
        let view = RangesDataView::parse_with(topic, Nwaku, &Rules::NWAKU).unwrap();
        assert!(view.pubsub_topics().eq([None]));
    }

    #[test]
    fn cluster_and_shards_are_the_specifications() {
        let payload = [&b"\x10\x02\x00\xac\x02\x05\x01"[..], &[9; 32]].concat();
        let view = RangesDataView::parse(&payload[..], Specification).unwrap();
        assert_eq!(view.cluster(), Some(16));
        assert!(view.shards().eq([0, 300]));
        assert_eq!((view.pubsub_topics().len(), view.content_topics().len()), (0, 0));
        assert_eq!(bounds(&view), [(at(0, &[]), at(5, &[]))]);
        let range = view.ranges().next().unwrap();
        assert_eq!(range.content, Content::Fingerprint(&[9; 32]));
        assert_eq!(view.detach().as_borrowed(), view);
    }

    #[test]
    fn a_zero_alone_is_empty_in_both_layouts() {
        for layout in [Nwaku, Specification] {
            let view = RangesDataView::parse(&EMPTY[..], layout).unwrap();
            assert_eq!((view.ranges().len(), view.cluster()), (0, None));
        }
        assert_eq!(Layout::detect(&EMPTY, &Rules::STRICT), None);
    }

    #[test]
    fn the_layout_is_told_where_only_one_fits() {
        let detect = |payload: &[u8]| Layout::detect(payload, &Rules::STRICT);
        assert_eq!(detect(b"\x01\x0e/waku/2/rs/1/0\x00\xe8\x07\xe8\x07\x00"), Some(Nwaku));
        assert_eq!(detect(b"\x01\x02\x00\xac\x02\xd0\x0f\x00"), Some(Specification));
        assert_eq!(detect(b"\x07\x07"), None);
        // From 1 on, one range of prefix 0; or cluster 0, and ranges to 1, to 7, to 7, to 7.
        assert_eq!(detect(b"\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00\x00"), None);
    }

    fn nwaku(payload: &[u8]) -> Result<RangesDataView<&[u8]>, Error> {
        RangesDataView::parse(payload, Nwaku)
    }

    fn bounds<'a>(view: &'a RangesDataView<&[u8]>) -> Vec<(Bound<'a>, Bound<'a>)> {
        view.ranges().map(|range| (range.lower, range.upper)).collect()
    }

    fn at(timestamp: i64, prefix: &[u8]) -> Bound<'_> {
        Bound { timestamp, prefix }
    }
}
