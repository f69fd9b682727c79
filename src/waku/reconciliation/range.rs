//! One range of a payload: its bounds and what is said of it.

use std::cmp::Ordering;
use std::fmt;

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::hex::Hex;
use crate::rules::Rules;
use crate::waku::hash::MessageHash;
use crate::waku::reconciliation::{
    FINGERPRINT, FINGERPRINT_BYTES, HASH_LEN, ITEM_SET, ITEMS, PREFIX, RANGE, RANGE_TYPE,
    RECONCILED, SKIP, SyncId, TIMESTAMP,
};

/// A range of messages, and what the peer says of those that it has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct Range<'a> {
    /// Where it begins: the first that is in it.
    pub lower: Bound<'a>,
    /// Where it ends: the first that is no longer in it.
    pub upper: Bound<'a>,
    /// What the peer says of it.
    pub content: Content<'a>,
}

/// Where a range begins or ends. Ordered as if the prefix were filled up with zeros.
#[derive(Clone, Copy)]
#[allow(clippy::exhaustive_structs)]
pub struct Bound<'a> {
    /// Nanoseconds since the Unix epoch.
    pub timestamp: i64,
    /// The first bytes of a message hash, at most 32. The wire has them only where the timestamp is
    /// that of the bound before.
    pub prefix: &'a [u8],
}

impl Bound<'_> {
    /// The prefix, filled up with zeros.
    pub fn hash(&self) -> MessageHash {
        let mut hash = [0; HASH_LEN];
        let len = self.prefix.len().min(HASH_LEN);
        hash[..len].copy_from_slice(&self.prefix[..len]);
        MessageHash(hash)
    }

    /// The bound as an id.
    pub fn id(&self) -> SyncId {
        SyncId { timestamp: self.timestamp, hash: self.hash() }
    }
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
        self.id().cmp(&other.id())
    }
}

impl fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.timestamp, Hex(self.prefix))
    }
}

/// What a node says of the messages that it has in a range.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Content<'a> {
    /// Nothing: the range is done with.
    Skip,
    /// The fingerprint of them all; see [`fingerprint`](super::fingerprint).
    Fingerprint(&'a [u8; HASH_LEN]),
    /// Each of them.
    ItemSet(ItemSet<'a>),
}

impl fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skip => f.write_str("Skip"),
            Self::Fingerprint(fingerprint) => write!(f, "Fingerprint({})", Hex(*fingerprint)),
            Self::ItemSet(set) => set.fmt(f),
        }
    }
}

/// All messages that a peer has in a range: where they lie in a payload, or in a slice, to be
/// written.
#[derive(Clone, Copy)]
pub struct ItemSet<'a> {
    list: List<'a>,
    reconciled: bool,
}

#[derive(Clone, Copy)]
enum List<'a> {
    Slice(&'a [SyncId]),
    /// From the first difference to the last hash.
    Wire {
        bytes: &'a [u8],
        count: usize,
    },
}

impl<'a> ItemSet<'a> {
    /// The messages that we have in a range, from old to new, and whether we have seen the peer's
    /// of that range already.
    pub const fn new(items: &'a [SyncId], reconciled: bool) -> Self {
        Self { list: List::Slice(items), reconciled }
    }

    /// The messages, from old to new.
    pub fn items(&self) -> Items<'a> {
        Items(match self.list {
            List::Slice(items) => Walk::Slice(items.iter()),
            List::Wire { bytes, count } => {
                Walk::Wire { cursor: Cursor::new(bytes), timestamp: 0, left: count }
            }
        })
    }

    /// Whether the sender has seen the receiver's messages of this range already, and wants no
    /// answer.
    pub const fn reconciled(&self) -> bool {
        self.reconciled
    }
}

impl Eq for ItemSet<'_> {}

impl PartialEq for ItemSet<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.reconciled == other.reconciled && self.items().eq(other.items())
    }
}

impl fmt::Debug for ItemSet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemSet")
            .field("items", &format_args!("{} of them", self.items().len()))
            .field("reconciled", &self.reconciled)
            .finish()
    }
}

/// Iterator over the messages of an [`ItemSet`].
#[derive(Clone, Debug)]
pub struct Items<'a>(Walk<'a>);

#[derive(Clone, Debug)]
enum Walk<'a> {
    Slice(std::slice::Iter<'a, SyncId>),
    Wire { cursor: Cursor<'a>, timestamp: i64, left: usize },
}

impl Iterator for Items<'_> {
    type Item = SyncId;

    fn next(&mut self) -> Option<SyncId> {
        match &mut self.0 {
            Walk::Slice(items) => items.next().copied(),
            Walk::Wire { cursor, timestamp, left } => {
                *left = left.checked_sub(1)?;
                // The payload was accepted, so no item of it errs.
                let id = read_item(cursor, *timestamp, &Rules::ANY).ok()?;
                *timestamp = id.timestamp;
                Some(id)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.0 {
            Walk::Slice(items) => items.len(),
            Walk::Wire { left, .. } => *left,
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Items<'_> {}
impl std::iter::FusedIterator for Items<'_> {}

/// Reads how many things of `least` bytes or more each follow. More than there is room for is
/// refused here, before anyone counts them.
pub(super) fn read_count(
    cursor: &mut Cursor<'_>,
    rules: &Rules,
    least: u64,
    context: &'static str,
) -> Result<u32, Error> {
    let count = cursor.varint(rules, context)?;
    let needed = count.saturating_mul(least);
    if needed > cursor.remaining() as u64 {
        let kind = ErrorKind::truncated(needed, cursor.remaining());
        return Err(Error::new(kind, cursor.position(), context));
    }
    // A payload is no longer than `u32::MAX`.
    Ok(count as u32)
}

pub(super) fn read_range<'a>(
    cursor: &mut Cursor<'a>,
    lower: Bound<'a>,
    rules: &Rules,
) -> Result<Range<'a>, Error> {
    let start = cursor.position();
    let difference = cursor.varint(rules, TIMESTAMP)?;
    let Some(timestamp) = lower.timestamp.checked_add_unsigned(difference) else {
        return Err(Error::new(ErrorKind::Descending, start, RANGE));
    };
    let mut prefix = &[][..];
    if difference == 0 {
        let at = cursor.position();
        let [len] = cursor.take_array(PREFIX)?;
        if usize::from(len) > HASH_LEN {
            let kind = ErrorKind::too_long(len.into(), HASH_LEN as u32);
            return Err(Error::new(kind, at, PREFIX));
        }
        prefix = cursor.take(len.into(), PREFIX)?;
    }
    let upper = Bound { timestamp, prefix };
    // Later is later, whatever the prefixes.
    if difference == 0 && upper < lower {
        return Err(Error::new(ErrorKind::Descending, start, RANGE));
    }
    let at = cursor.position();
    let [range_type] = cursor.take_array(RANGE_TYPE)?;
    let content = match range_type {
        SKIP => Content::Skip,
        FINGERPRINT => {
            let bytes = cursor.take(HASH_LEN as u64, FINGERPRINT_BYTES)?;
            Content::Fingerprint(bytes.first_chunk().unwrap_or(&[0; HASH_LEN]))
        }
        ITEM_SET => Content::ItemSet(read_item_set(cursor, rules)?),
        _ => {
            let kind = ErrorKind::OutOfRange { max: ITEM_SET.into() };
            return Err(Error::new(kind, at, RANGE_TYPE));
        }
    };
    Ok(Range { lower, upper, content })
}

fn read_item_set<'a>(cursor: &mut Cursor<'a>, rules: &Rules) -> Result<ItemSet<'a>, Error> {
    // A difference has one byte at least.
    let count = read_count(cursor, rules, 1 + HASH_LEN as u64, ITEMS)?;
    let start = cursor.position();
    let mut last = None;
    for _ in 0..count {
        let at = cursor.position();
        let id = read_item(cursor, last.map_or(0, |last: SyncId| last.timestamp), rules)?;
        if last.is_some_and(|last| id < last) {
            return Err(Error::new(ErrorKind::Descending, at, ITEMS));
        }
        last = Some(id);
    }
    let bytes = &cursor.bytes()[start..cursor.position()];
    let at = cursor.position();
    let [reconciled] = cursor.take_array(RECONCILED)?;
    if reconciled > 1 {
        return Err(Error::new(ErrorKind::OutOfRange { max: 1 }, at, RECONCILED));
    }
    let list = List::Wire { bytes, count: count as usize };
    Ok(ItemSet { list, reconciled: reconciled == 1 })
}

fn read_item(cursor: &mut Cursor<'_>, last: i64, rules: &Rules) -> Result<SyncId, Error> {
    let difference = cursor.varint(rules, TIMESTAMP)?;
    // As nwaku casts it: what would be above the largest timestamp is a negative one.
    let timestamp = last.wrapping_add(difference as i64);
    let hash = MessageHash(cursor.take_array(ITEMS)?);
    Ok(SyncId { timestamp, hash })
}
