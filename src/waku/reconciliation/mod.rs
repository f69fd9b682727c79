//! Reconciliation (WAKU-SYNC): two store nodes find the messages that only one of them has.
//!
//! The payload is not protobuf, and nwaku and the specification lay it out differently under the
//! same protocol id; see [`Layout`].
//!
//! ```text
//! nwaku         = 00 | topics topics first range*     pubsub topics, content topics
//! specification = 00 | cluster count shard* range*
//! topics        = count (length bytes)*
//! first         = where the first range begins        timestamp; in the specification at 0
//! range         = upper type content
//! upper         = difference                          to the timestamp of the bound before it
//!                 (length prefix)                     if that is 0: one byte, 0 to 32 of the hash
//! content       =                                     (type 0, skip)
//!               | fingerprint                         (type 1) 32 bytes
//!               | count (difference hash)* reconciled (type 2, item set) timestamps, from 0 on;
//!                                                     32 bytes each; one byte, 0 or 1
//! ```
//!
//! Numbers are protobuf's varints; types are one byte. `00` alone is the payload without ranges. A
//! range begins where the one in front of it ended.
//!
//! What nwaku reads differs from what it means in four ways, none of which is copied here:
//!
//! - It wants nine bytes from the start of each timestamp and each topic's length on, which those
//!   of our days have. It cannot read `0000000500`, or other short payloads that it writes.
//! - A varint of ten bytes, which it writes for a negative timestamp, it reads as 0.
//! - The lower bound of a range loses its prefix. Here it is the upper bound of the range before.
//! - It ignores a byte that is left over.
//!
//! Source: WAKU-SYNC, "Reconciliation"; logos-delivery `waku_store_sync/codec.nim`.

use crate::waku::hash::MessageHash;

mod range;
mod read;
mod write;

pub use range::{Bound, Content, ItemSet, Items, Range};
pub use read::{Ranges, RangesDataView};
pub use write::RangesDataBuilder;

/// How a payload begins, and what the prefixes of its bounds were cut by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Layout {
    /// Topics and an explicit first timestamp. A prefix is as long as it takes to differ from the
    /// hash at which the first range begins.
    Nwaku,
    /// Cluster and shards; the first range begins at 0. A prefix is as long as it takes to differ
    /// from the hash of the bound before.
    Specification,
}

impl Layout {
    /// The layout in which a payload can be read, by the `rules` that it will be read by. `None` if
    /// it can be read in neither, or in both, as `00` can: this never guesses.
    pub fn detect(payload: &[u8], rules: &crate::rules::Rules) -> Option<Self> {
        let fits = |layout| RangesDataView::parse_with(payload, layout, rules).is_ok();
        match (fits(Self::Nwaku), fits(Self::Specification)) {
            (true, false) => Some(Self::Nwaku),
            (false, true) => Some(Self::Specification),
            _ => None,
        }
    }
}

/// What a message is known by: its timestamp, in nanoseconds since the Unix epoch, and its hash.
/// Ordered by time first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_structs)]
pub struct SyncId {
    /// When the message was made.
    pub timestamp: i64,
    /// Its message hash.
    pub hash: MessageHash,
}

/// The fingerprint of a range: the hashes of all messages in it, one xor the other.
///
/// ```
/// use borrowire::waku::MessageHash;
/// use borrowire::waku::reconciliation::fingerprint;
///
/// assert_eq!(fingerprint([MessageHash([1; 32]), MessageHash([3; 32])]), [2; 32]);
/// ```
pub fn fingerprint(hashes: impl IntoIterator<Item = MessageHash>) -> [u8; 32] {
    hashes.into_iter().fold([0; 32], |mut sum, hash| {
        sum.iter_mut().zip(hash.0).for_each(|(sum, byte)| *sum ^= byte);
        sum
    })
}

/// The payload without ranges, in both layouts: there is nothing left to compare.
pub const EMPTY: [u8; 1] = [0];

/// Bytes of a message hash and of a fingerprint.
const HASH_LEN: usize = 32;

// Types of a range. Source: WAKU-SYNC, "RangeType".
const SKIP: u8 = 0;
const FINGERPRINT: u8 = 1;
const ITEM_SET: u8 = 2;

// The names of the parts, for errors.
const PAYLOAD: &str = "reconciliation";
const PUBSUB_TOPICS: &str = "reconciliation.pubsub_topics";
const CONTENT_TOPICS: &str = "reconciliation.content_topics";
const CLUSTER: &str = "reconciliation.cluster";
const SHARDS: &str = "reconciliation.shards";
const TIMESTAMP: &str = "reconciliation.timestamp";
const PREFIX: &str = "reconciliation.prefix";
const RANGE: &str = "reconciliation.range";
const RANGE_TYPE: &str = "reconciliation.range_type";
const FINGERPRINT_BYTES: &str = "reconciliation.fingerprint";
const ITEMS: &str = "reconciliation.items";
const RECONCILED: &str = "reconciliation.reconciled";
