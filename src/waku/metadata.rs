//! Metadata (66/WAKU2-METADATA): two nodes tell each other, right after they connect, which cluster
//! and shards they serve. Request and response are the same message.
//!
//! ```text
//! WakuMetadataRequest, WakuMetadataResponse   number  type             absent reads as
//! cluster_id                                       1  uint32           absent
//! shards (deprecated)                              2  repeated uint32  none
//! shards                                           3  repeated uint32  none
//! ```
//!
//! nwaku and go-waku write field 2 number by number, the specification and js-waku packed; nwaku
//! writes field 3 too, which the specification does not have. Here both are read in either form.
//!
//! nwaku cuts a cluster of more than 32 bits, which makes 2^32 the cluster 0; here that is an error
//! under [`Rules::NWAKU`] as it is under [`Rules::STRICT`], for it is another cluster. Under
//! [`Rules::PROTO3`] it is cut, as protobuf says.
//!
//! Source: 66/WAKU2-METADATA; logos-delivery `waku_metadata/rpc.nim`.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::proto;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, view};
use crate::waku::put::{Encode, Put, builder};

/// The numbers of the fields.
pub mod field {
    /// `uint32 cluster_id`.
    pub const CLUSTER_ID: u32 = 1;
    /// `repeated uint32 shards`, deprecated, and all that go-waku and js-waku know.
    pub const DEPRECATED_SHARDS: u32 = 2;
    /// `repeated uint32 shards`.
    pub const SHARDS: u32 = 3;
}

view! {
    /// A WakuMetadataRequest or WakuMetadataResponse read where it lies.
    ///
    /// ```
    /// use borrowire::waku::metadata::MetadataView;
    ///
    /// // The shards 0 and 1 of cluster 1, as nwaku, go-waku and js-waku write them.
    /// for frame in [
    ///     &b"\x08\x01\x10\x00\x10\x01\x1a\x02\x00\x01"[..],
    ///     b"\x08\x01\x10\x00\x10\x01",
    ///     b"\x08\x01\x12\x02\x00\x01",
    /// ] {
    ///     let metadata = MetadataView::parse(frame)?;
    ///     assert_eq!(metadata.cluster_id(), Some(1));
    ///     assert!(metadata.shards().eq([0, 1]));
    /// }
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    MetadataView, METADATA, 3
}

impl<B: Buffer> MetadataView<B> {
    /// The cluster; `None` if absent.
    pub fn cluster_id(&self) -> Option<u32> {
        self.record.optional_uint(CLUSTER_ID).map(|cluster| cluster as u32)
    }

    /// The shards: those of field 3, or those of the deprecated field 2 if there are none.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = u32> + Clone {
        let place = if self.record.count(SHARDS) > 0 { SHARDS } else { DEPRECATED_SHARDS };
        self.record.repeated_uint32(&METADATA, place)
    }

    /// The shards of the deprecated field 2 alone.
    pub fn deprecated_shards(&self) -> impl ExactSizeIterator<Item = u32> + Clone {
        self.record.repeated_uint32(&METADATA, DEPRECATED_SHARDS)
    }
}

impl<B: Buffer> fmt::Display for MetadataView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cluster_id() {
            Some(cluster) => write!(f, "metadata of cluster {cluster}")?,
            None => f.write_str("metadata of no cluster")?,
        }
        write!(f, ", {} shards", self.shards().len())
    }
}

/// Writes a WakuMetadataRequest or WakuMetadataResponse as nwaku does: the shards in both fields, so
/// that every node finds them.
///
/// ```
/// use borrowire::waku::metadata::MetadataBuilder;
///
/// let metadata = MetadataBuilder::new(1, &[0, 1]);
/// assert_eq!(metadata.to_vec(), b"\x08\x01\x10\x00\x10\x01\x1a\x02\x00\x01");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct MetadataBuilder<'a> {
    cluster_id: u32,
    shards: &'a [u32],
}

impl<'a> MetadataBuilder<'a> {
    /// A node that serves these shards of the cluster.
    pub const fn new(cluster_id: u32, shards: &'a [u32]) -> Self {
        Self { cluster_id, shards }
    }
}

impl Encode for MetadataBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        let shards = || self.shards.iter().map(|shard| u64::from(*shard));
        out.uint(field::CLUSTER_ID, self.cluster_id.into());
        shards().for_each(|shard| out.uint(field::DEPRECATED_SHARDS, shard));
        out.head(field::SHARDS, shards().map(proto::varint_len).sum());
        shards().for_each(|shard| out.varint(shard));
    }
}

builder!(MetadataBuilder, MetadataView);

static METADATA: Kind<3> = Kind {
    name: "WakuMetadata",
    context: "metadata",
    fields: [
        Field::new(field::CLUSTER_ID, "metadata.cluster_id", Shape::Uint32).optional(),
        Field::new(field::DEPRECATED_SHARDS, "metadata.deprecated_shards", Shape::Uint32)
            .repeated(),
        Field::new(field::SHARDS, "metadata.shards", Shape::Uint32).repeated(),
    ],
};

// The places of the fields in the table.
const CLUSTER_ID: usize = 0;
const DEPRECATED_SHARDS: usize = 1;
const SHARDS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_the_golden_frames() {
        let view = MetadataBuilder::new(1, &[0, 1]).build().unwrap();
        assert_eq!(view.raw(), b"\x08\x01\x10\x00\x10\x01\x1a\x02\x00\x01");
        assert_eq!(view.cluster_id(), Some(1));
        assert!(view.shards().eq([0, 1]) && view.deprecated_shards().eq([0, 1]));
        let view = MetadataBuilder::new(1, &[]).build().unwrap();
        assert_eq!(view.raw(), b"\x08\x01\x1a\x00");
        assert_eq!(view.shards().len(), 0);
    }

    #[test]
    fn shards_are_read_in_every_form() {
        for frame in [
            &b"\x10\x05\x10\x80\x02"[..],
            b"\x12\x03\x05\x80\x02",
            b"\x12\x01\x05\x10\x80\x02",
            b"\x18\x05\x18\x80\x02",
            b"\x1a\x03\x05\x80\x02",
            b"\x10\x07\x1a\x03\x05\x80\x02",
            b"\x1a\x00\x12\x03\x05\x80\x02",
        ] {
            let view = MetadataView::parse(frame).unwrap();
            assert!(view.shards().eq([5, 256]), "{frame:?}");
            assert_eq!(view.cluster_id(), None);
        }
    }

    #[test]
    fn a_cluster_of_33_bits_is_another_cluster() {
        let frame = &b"\x08\x80\x80\x80\x80\x10"[..];
        for rules in [Rules::STRICT, Rules::NWAKU] {
            let error = MetadataView::parse_with(frame, &rules).unwrap_err();
            let text = "metadata.cluster_id: out of range, at most 4294967295 fits, at byte 1";
            assert_eq!(error.to_string(), text);
        }
        let view = MetadataView::parse_with(frame, &Rules::PROTO3).unwrap();
        assert_eq!(view.cluster_id(), Some(0));
    }
}
