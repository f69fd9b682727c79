//! A message as it is read: its ranges, where they lie.

use std::cmp::Ordering;
use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::counters;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Expected};
use crate::hex::Hex;
use crate::negentropy::{
    FINGERPRINT, FINGERPRINT_BYTES, FINGERPRINT_LEN, ID_LEN, ID_LIST, IDS, MESSAGE, MODE, PREFIX,
    RANGE, SKIP, TIMESTAMP, VERSION, VERSION_BYTE,
};
use crate::rules::Rules;

/// A message where it lies: checked once, from its first byte to its last.
///
/// Beyond the protocol's own text, these are refused, which deployed peers read in different ways:
/// varints over 64 bits, timestamps that sum up beyond 2^64 - 2, bounds that descend, an id prefix
/// at infinity, and ranges after infinity. Varints that are longer than need be are read, as every
/// peer does, and reported by [`is_minimal`](Self::is_minimal).
///
/// Equal messages hold the same ranges, however their numbers are spelled.
///
/// ```
/// use borrowire::negentropy::{Bound, MessageView, Payload};
///
/// let message = MessageView::parse(&b"\x61\x06\x01\xaa\x00\x00\x00\x02\x00"[..])?;
/// let mut ranges = message.ranges();
/// let first = ranges.next().unwrap();
/// assert_eq!(first.upper, Bound::At { timestamp: 5, prefix: &[0xaa] });
/// assert_eq!(first.payload, Payload::Skip);
/// let last = ranges.next().unwrap();
/// assert_eq!((last.upper, last.payload), (Bound::Infinity, Payload::IdList(&[])));
/// assert!(ranges.next().is_none());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct MessageView<B: Buffer = Bytes> {
    buffer: B,
    range_count: u32,
    id_count: u32,
    is_minimal: bool,
}

impl<B: Buffer> MessageView<B> {
    /// Reads a message under [`Rules::STRICT`].
    pub fn parse(buffer: B) -> Result<Self, Error> {
        Self::parse_with(buffer, &Rules::STRICT)
    }

    /// Reads a message. Of `rules` only the limits `frame`, `negentropy_ranges` and
    /// `negentropy_ids` matter here.
    pub fn parse_with(buffer: B, rules: &Rules) -> Result<Self, Error> {
        let bytes = buffer.as_ref();
        counters::decode(bytes.len());
        let limits = rules.limits();
        if bytes.len() as u64 > limits.frame.into() {
            return Err(Error::new(ErrorKind::too_long(bytes.len(), limits.frame), 0, MESSAGE));
        }
        check_version(bytes)?;
        let mut walk = Walk::new(bytes);
        let (mut range_count, mut id_count) = (0, 0);
        while !walk.cursor.is_empty() {
            let start = walk.cursor.position();
            let too_many = |count, limit, context| {
                Err(Error::new(ErrorKind::too_many(count, limit), start, context))
            };
            let range = walk.take_range()?;
            range_count += 1;
            if range_count > u64::from(limits.negentropy_ranges) {
                return too_many(range_count, limits.negentropy_ranges, RANGE);
            }
            if let Payload::IdList(ids) = range.payload {
                id_count += ids.len() as u64;
            }
            if id_count > u64::from(limits.negentropy_ids) {
                return too_many(id_count, limits.negentropy_ids, IDS);
            }
        }
        let is_minimal = walk.is_minimal;
        // Both counts are within limits of 32 bits.
        Ok(Self { buffer, range_count: range_count as u32, id_count: id_count as u32, is_minimal })
    }

    /// The ranges, in ascending order. Allocates nothing.
    pub fn ranges(&self) -> Ranges<'_> {
        Ranges { walk: Walk::new(self.raw()), left: self.range_count as usize }
    }

    /// How many ids its lists hold, all together.
    pub const fn id_count(&self) -> usize {
        self.id_count as usize
    }

    /// Whether every number is in its shortest form, as every known peer writes it. Such a message
    /// is what [`MessageBuilder`](crate::negentropy::MessageBuilder) makes of its ranges, byte for byte.
    pub const fn is_minimal(&self) -> bool {
        self.is_minimal
    }

    /// The message itself.
    pub fn raw(&self) -> &[u8] {
        self.buffer.as_ref()
    }

    /// The buffer that holds the message.
    pub const fn buffer(&self) -> &B {
        &self.buffer
    }

    /// The same message in a buffer of its own, which keeps no larger one alive.
    pub fn detach(&self) -> MessageView {
        counters::copy(self.raw().len());
        MessageView {
            buffer: Bytes::copy_from_slice(self.raw()),
            range_count: self.range_count,
            id_count: self.id_count,
            is_minimal: self.is_minimal,
        }
    }
}

impl TryFrom<Bytes> for MessageView {
    type Error = Error;

    fn try_from(bytes: Bytes) -> Result<Self, Error> {
        Self::parse(bytes)
    }
}

impl<'a> TryFrom<&'a [u8]> for MessageView<&'a [u8]> {
    type Error = Error;

    fn try_from(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::parse(bytes)
    }
}

impl<B: Buffer> Eq for MessageView<B> {}

impl<A: Buffer, B: Buffer> PartialEq<MessageView<B>> for MessageView<A> {
    fn eq(&self, other: &MessageView<B>) -> bool {
        self.raw() == other.raw() || self.ranges().eq(other.ranges())
    }
}

impl<B: Buffer> fmt::Display for MessageView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ranges, ids, bytes) = (self.range_count, self.id_count, self.raw().len());
        write!(f, "negentropy message, {ranges} ranges, {ids} ids, {bytes} bytes")
    }
}

impl<B: Buffer> fmt::Debug for MessageView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageView")
            .field("ranges", &self.ranges())
            .field("is_minimal", &self.is_minimal)
            .finish()
    }
}

/// The ranges of a [`MessageView`].
#[derive(Clone)]
pub struct Ranges<'a> {
    walk: Walk<'a>,
    left: usize,
}

impl<'a> Iterator for Ranges<'a> {
    type Item = Range<'a>;

    #[inline]
    fn next(&mut self) -> Option<Range<'a>> {
        self.left = self.left.checked_sub(1)?;
        // `parse` took the same ranges from the same bytes.
        self.walk.take_range().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Ranges<'_> {}
impl std::iter::FusedIterator for Ranges<'_> {}

impl fmt::Debug for Ranges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// A stretch of records in the order of (timestamp, id), and what the sender says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<'a> {
    /// Where it ends: the first record that it does not hold. It begins where the range in front
    /// of it ended.
    pub upper: Bound<'a>,
    /// What the sender says of its records.
    pub payload: Payload<'a>,
}

/// A place between records.
///
/// Bounds are ordered, and equal, by the place they mean: a prefix stands for the id that it
/// begins and zeros fill.
#[derive(Clone, Copy)]
pub enum Bound<'a> {
    /// In front of the first record of this timestamp whose id is `prefix` or above.
    At {
        /// Seconds since 1970, decoded: not the difference on the wire. At most 2^64 - 2.
        timestamp: u64,
        /// The first 0 to 32 bytes of an id.
        prefix: &'a [u8],
    },
    /// Behind every record.
    Infinity,
}

impl Eq for Bound<'_> {}

impl PartialEq for Bound<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl PartialOrd for Bound<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bound<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (Self::Infinity, Self::Infinity) => Ordering::Equal,
            (Self::Infinity, Self::At { .. }) => Ordering::Greater,
            (Self::At { .. }, Self::Infinity) => Ordering::Less,
            (
                Self::At { timestamp, prefix },
                Self::At { timestamp: other_timestamp, prefix: other_prefix },
            ) => {
                timestamp.cmp(&other_timestamp).then_with(|| compare_prefixes(prefix, other_prefix))
            }
        }
    }
}

impl fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `1700000000`, `1700000000/a0b1` or `infinity`.
impl fmt::Display for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::At { timestamp, prefix: &[] } => write!(f, "{timestamp}"),
            Self::At { timestamp, prefix } => write!(f, "{timestamp}/{}", Hex(prefix)),
            Self::Infinity => f.write_str("infinity"),
        }
    }
}

/// What the sender says of the records of a range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Nothing: the range needs no more work.
    Skip,
    /// That they have this [`fingerprint`](crate::negentropy::fingerprint()).
    Fingerprint(&'a [u8; FINGERPRINT_LEN]),
    /// That these are their ids, in any order.
    IdList(&'a [[u8; ID_LEN]]),
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Skip => f.write_str("Skip"),
            Self::Fingerprint(fingerprint) => write!(f, "Fingerprint({})", Hex(fingerprint)),
            Self::IdList(ids) => {
                f.write_str("IdList")?;
                f.debug_list().entries(ids.iter().map(|id| Hex(id))).finish()
            }
        }
    }
}

/// Takes ranges from a message, one after the other, and checks each against the one in front.
#[derive(Clone)]
struct Walk<'a> {
    cursor: Cursor<'a>,
    lower: Bound<'a>,
    is_minimal: bool,
}

impl<'a> Walk<'a> {
    /// From the first range, behind the version byte.
    fn new(message: &'a [u8]) -> Self {
        let mut cursor = Cursor::new(message);
        // An empty message was refused already.
        let _ = cursor.take(1, VERSION_BYTE);
        let lower = Bound::At { timestamp: 0, prefix: &[] };
        Self { cursor, lower, is_minimal: true }
    }

    #[inline]
    fn take_range(&mut self) -> Result<Range<'a>, Error> {
        let upper = self.take_bound()?;
        self.lower = upper;
        let start = self.cursor.position();
        let payload = match self.take_number(MODE)? {
            mode if mode == u64::from(SKIP) => Payload::Skip,
            mode if mode == u64::from(FINGERPRINT) => {
                let bytes = self.cursor.take(FINGERPRINT_LEN as u64, FINGERPRINT_BYTES)?;
                Payload::Fingerprint(&bytes.as_chunks().0[0])
            }
            mode if mode == u64::from(ID_LIST) => {
                let count = self.take_number(IDS)?;
                let bytes = self.cursor.take(count.saturating_mul(ID_LEN as u64), IDS)?;
                Payload::IdList(bytes.as_chunks().0)
            }
            _ => {
                let kind = ErrorKind::OutOfRange { max: ID_LIST.into() };
                return Err(Error::new(kind, start, MODE));
            }
        };
        Ok(Range { upper, payload })
    }

    #[inline]
    fn take_bound(&mut self) -> Result<Bound<'a>, Error> {
        let start = self.cursor.position();
        let Bound::At { timestamp: lower, .. } = self.lower else {
            return Err(Error::new(ErrorKind::AfterInfinity, start, RANGE));
        };
        let encoded = self.take_number(TIMESTAMP)?;
        let prefix = self.take_prefix(encoded == 0)?;
        if encoded == 0 {
            return Ok(Bound::Infinity);
        }
        let timestamp = match lower.checked_add(encoded - 1) {
            None | Some(u64::MAX) => {
                return Err(Error::new(ErrorKind::TimestampOverflow, start, TIMESTAMP));
            }
            Some(timestamp) => timestamp,
        };
        let upper = Bound::At { timestamp, prefix };
        if upper < self.lower {
            return Err(Error::new(ErrorKind::Descending, start, RANGE));
        }
        Ok(upper)
    }

    #[inline]
    fn take_prefix(&mut self, is_infinity: bool) -> Result<&'a [u8], Error> {
        let start = self.cursor.position();
        let len = self.take_number(PREFIX)?;
        let limit = if is_infinity && len <= ID_LEN as u64 { 0 } else { ID_LEN as u32 };
        if len > limit.into() {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            return Err(Error::new(ErrorKind::too_long(len, limit), start, PREFIX));
        }
        self.cursor.take(len, PREFIX)
    }

    #[inline]
    fn take_number(&mut self, context: &'static str) -> Result<u64, Error> {
        // Nearly all are one byte: lengths, modes, small differences.
        if let Some(byte @ 0..0x80) = self.cursor.peek() {
            self.cursor.take(1, context)?;
            return Ok(byte.into());
        }
        let number = self.cursor.varint_msb(context)?;
        self.is_minimal &= number.is_minimal;
        Ok(number.value)
    }
}

fn check_version(message: &[u8]) -> Result<(), Error> {
    let kind = match message.first() {
        Some(&VERSION) => return Ok(()),
        Some(&found @ 0x60..=0x6f) => ErrorKind::Version { expected: VERSION, found },
        Some(&found) => {
            ErrorKind::Unexpected { expected: Expected::NegentropyVersion, found: Some(found) }
        }
        None => ErrorKind::Missing,
    };
    Err(Error::new(kind, 0, VERSION_BYTE))
}

/// Compares the ids that the prefixes begin and zeros fill.
#[inline]
fn compare_prefixes(left: &[u8], right: &[u8]) -> Ordering {
    let shared = left.len().min(right.len());
    let is_above = |rest: &[u8]| rest.iter().any(|byte| *byte != 0);
    left[..shared]
        .cmp(&right[..shared])
        .then_with(|| is_above(&left[shared..]).cmp(&is_above(&right[shared..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negentropy::{MessageBuilder, varint};

    #[test]
    fn timestamps_go_up_to_the_last_before_infinity() {
        let with_delta = |delta: u64| {
            let mut message = Vec::new();
            let mut builder = MessageBuilder::new(&mut message);
            builder.push(Bound::At { timestamp: 9, prefix: b"z" }, Payload::Skip).unwrap();
            let (groups, start) = varint::encode(delta + 1);
            message.extend_from_slice(&groups[start..]);
            message.extend([0, SKIP]);
            MessageView::parse(Bytes::from(message))
        };
        let last = with_delta(u64::MAX - 10).unwrap();
        let expected = Bound::At { timestamp: u64::MAX - 1, prefix: &[] };
        assert_eq!(last.ranges().nth(1).unwrap().upper, expected);
        for delta in [u64::MAX - 9, u64::MAX - 8, u64::MAX - 1] {
            let error = with_delta(delta).unwrap_err();
            let expected = "negentropy.timestamp: timestamp beyond 2^64 - 2, at byte 5";
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn bounds_are_ordered_by_the_place_they_mean() {
        let at = |timestamp, prefix| Bound::At { timestamp, prefix };
        let ascending = [
            at(0, &[]),
            at(0, &[0, 1]),
            at(0, &[1]),
            at(0, &[1, 0, 1]),
            at(0, &[0xff; 32]),
            at(1, &[]),
            at(u64::MAX - 1, &[]),
            Bound::Infinity,
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(left.cmp(right), i.cmp(&j), "{left} {right}");
            }
        }
        assert_eq!(at(7, &[]), at(7, &[0; 32]));
        assert_eq!(at(7, &[1, 0]), at(7, &[1]));
        assert_eq!(at(7, &[1, 0xab]).to_string(), "7/01ab");
    }

    #[test]
    fn long_numbers_are_read_and_reported() {
        let long = &b"\x61\x80\x06\x80\x80\x01\xaa\x80\x00\x80\x00\x80\x00\x80\x02\x80\x00"[..];
        let short = &b"\x61\x06\x01\xaa\x00\x00\x00\x02\x00"[..];
        let (long, short) = (MessageView::parse(long).unwrap(), MessageView::parse(short).unwrap());
        assert!(!long.is_minimal());
        assert!(short.is_minimal());
        assert_eq!(long, short);
        assert_eq!(long.detach(), short);
        assert_eq!(short.to_string(), "negentropy message, 2 ranges, 0 ids, 9 bytes");
        let shown = "MessageView { ranges: [Range { upper: 5/aa, payload: Skip }, \
            Range { upper: infinity, payload: IdList[] }], is_minimal: true }";
        assert_eq!(format!("{short:?}"), shown);
    }
}
