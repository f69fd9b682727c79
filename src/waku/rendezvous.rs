//! Rendezvous: the record that a Waku node registers for others to find it by.
//!
//! ```text
//! WakuPeerRecord   number  type            absent reads as
//! peer_id               1  bytes           refused, or empty
//! seq_no                2  uint64          refused, or 0
//! addresses             3  repeated bytes  refused, or none
//! mix_key               4  string          refused, or empty
//! ```
//!
//! An address is a multiaddr by itself, in binary; in libp2p's own PeerRecord it lies in an
//! AddressInfo. The record travels in libp2p's signed envelope, of the [`DOMAIN`] and
//! [`PAYLOAD_TYPE`] given here, which is libp2p's to open and to check.
//!
//! Source: logos-delivery `waku_rendezvous/waku_peer_record.nim`.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, view};
use crate::waku::put::{Encode, Put, builder};

/// The domain of the signature on a record.
pub const DOMAIN: &str = "libp2p-custom-peer-record";

/// The payload type of a record's signed envelope.
pub const PAYLOAD_TYPE: [u8; 3] = [0x30, 0, 0];

/// The numbers of the fields.
pub mod field {
    /// `bytes peer_id`.
    pub const PEER_ID: u32 = 1;
    /// `uint64 seq_no`.
    pub const SEQ_NO: u32 = 2;
    /// `repeated bytes addresses`.
    pub const ADDRESSES: u32 = 3;
    /// `string mix_key`.
    pub const MIX_KEY: u32 = 4;
}

view! {
    /// A WakuPeerRecord read where it lies.
    ///
    /// ```
    /// use borrowire::waku::rendezvous::WakuPeerRecordView;
    ///
    /// let frame = &b"\x0a\x02\x00\x01\x10\x07\x1a\x08\x04\x7f\x00\x00\x01\x06\xea\x60\x22\x02ab"[..];
    /// let record = WakuPeerRecordView::parse(frame)?;
    /// assert_eq!((record.peer_id(), record.seq_no()), (&[0, 1][..], 7));
    /// assert_eq!(record.addresses().next().unwrap(), b"\x04\x7f\x00\x00\x01\x06\xea\x60");
    /// assert_eq!(record.mix_key(), Some("ab"));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    WakuPeerRecordView, RECORD, 4
}

impl<B: Buffer> WakuPeerRecordView<B> {
    /// The peer id, in binary.
    pub fn peer_id(&self) -> &[u8] {
        self.record.bytes(PEER_ID)
    }

    /// Which of a peer's records is newer: the greater number is.
    pub fn seq_no(&self) -> u64 {
        self.record.uint(SEQ_NO)
    }

    /// The peer's addresses, each a multiaddr in binary.
    pub fn addresses(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.record.repeated_bytes(&RECORD, ADDRESSES)
    }

    /// The peer's key for the mix protocol, in hex; empty if it has none. `None` only where the
    /// rules let through what is not UTF-8.
    pub fn mix_key(&self) -> Option<&str> {
        self.record.text(MIX_KEY)
    }

    /// The key's bytes as they are in the record, UTF-8 or not.
    pub fn mix_key_bytes(&self) -> &[u8] {
        self.record.bytes(MIX_KEY)
    }
}

impl<B: Buffer> fmt::Display for WakuPeerRecordView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer record {} of {} addresses", self.seq_no(), self.addresses().len())
    }
}

/// Writes a WakuPeerRecord.
///
/// ```
/// use borrowire::waku::rendezvous::WakuPeerRecordBuilder;
///
/// let record = WakuPeerRecordBuilder::new(&[0, 1], 7, &[b"\x04\x7f\x00\x00\x01"]).mix_key("ab");
/// assert_eq!(record.to_vec(), b"\x0a\x02\x00\x01\x10\x07\x1a\x05\x04\x7f\x00\x00\x01\x22\x02ab");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct WakuPeerRecordBuilder<'a> {
    peer_id: &'a [u8],
    seq_no: u64,
    addresses: &'a [&'a [u8]],
    mix_key: &'a str,
}

impl<'a> WakuPeerRecordBuilder<'a> {
    /// A record without a mix key. nwaku refuses records without an address.
    pub const fn new(peer_id: &'a [u8], seq_no: u64, addresses: &'a [&'a [u8]]) -> Self {
        Self { peer_id, seq_no, addresses, mix_key: "" }
    }

    /// Sets the key for the mix protocol.
    pub const fn mix_key(mut self, mix_key: &'a str) -> Self {
        self.mix_key = mix_key;
        self
    }
}

impl Encode for WakuPeerRecordBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::PEER_ID, self.peer_id);
        out.uint(field::SEQ_NO, self.seq_no);
        for address in self.addresses {
            out.bytes(field::ADDRESSES, address);
        }
        out.bytes(field::MIX_KEY, self.mix_key.as_bytes());
    }
}

builder!(WakuPeerRecordBuilder, WakuPeerRecordView);

static RECORD: Kind<4> = Kind {
    name: "WakuPeerRecord",
    context: "peer_record",
    fields: [
        Field::new(field::PEER_ID, "peer_record.peer_id", Shape::Bytes).required(),
        Field::new(field::SEQ_NO, "peer_record.seq_no", Shape::Uint64).required(),
        Field::new(field::ADDRESSES, "peer_record.addresses", Shape::Bytes).required().repeated(),
        Field::new(field::MIX_KEY, "peer_record.mix_key", Shape::Text).required(),
    ],
};

// The places of the fields in the table.
const PEER_ID: usize = 0;
const SEQ_NO: usize = 1;
const ADDRESSES: usize = 2;
const MIX_KEY: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_what_went_in() {
        let builder = WakuPeerRecordBuilder::new(b"id", u64::MAX, &[b"a", b"", b"b"]);
        let view = builder.build().unwrap();
        assert_eq!((view.peer_id(), view.seq_no()), (&b"id"[..], u64::MAX));
        assert!(view.addresses().eq([&b"a"[..], b"", b"b"]));
        assert_eq!((view.mix_key(), view.has(field::MIX_KEY)), (Some(""), true));
        assert_eq!(builder.mix_key("key").build().unwrap().mix_key(), Some("key"));
    }

    #[test]
    fn every_field_is_missed_by_name() {
        for (frame, field) in [
            (&b"\x10\x01\x1a\x01a\x22\x00"[..], "peer_id"),
            (b"\x0a\x00\x1a\x01a\x22\x00", "seq_no"),
            (b"\x0a\x00\x10\x01\x22\x00", "addresses"),
            (b"\x0a\x00\x10\x01\x1a\x01a", "mix_key"),
        ] {
            let error = WakuPeerRecordView::parse(frame).unwrap_err();
            let expected = format!("peer_record.{field}: missing, at byte {}", frame.len());
            assert_eq!(error.to_string(), expected);
            assert!(WakuPeerRecordView::parse_with(frame, &Rules::PROTO3).is_ok());
        }
    }
}
