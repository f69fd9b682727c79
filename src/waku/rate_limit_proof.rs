//! RateLimitProof (17/WAKU2-RLN-RELAY): what field 21 of a WakuMessage holds where the network limits
//! its publishers.
//!
//! ```text
//! RateLimitProof   number  bytes, absent reads as none
//! proof                 1    128
//! merkle_root           2     32
//! epoch                 3     32
//! share_x               4     32
//! share_y               5     32
//! nullifier             6     32
//! rln_identifier        7     32
//! ```
//!
//! A value of another length is an error under all rules. nwaku cuts it or pads it with zeros
//! without a word, which makes another proof of it.
//!
//! Source: 17/WAKU2-RLN-RELAY; logos-delivery `rln/protocol_types.nim`.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, view};
use crate::waku::put::{Encode, Put, builder};

/// Bytes of a proof, a compressed Groth16 proof.
pub const PROOF_LEN: usize = 128;

/// Bytes of every other value, an element of the field of BN254 but for the epoch.
pub const VALUE_LEN: usize = 32;

/// The numbers of the fields.
pub mod field {
    /// `bytes proof`.
    pub const PROOF: u32 = 1;
    /// `bytes merkle_root`.
    pub const MERKLE_ROOT: u32 = 2;
    /// `bytes epoch`.
    pub const EPOCH: u32 = 3;
    /// `bytes share_x`.
    pub const SHARE_X: u32 = 4;
    /// `bytes share_y`.
    pub const SHARE_Y: u32 = 5;
    /// `bytes nullifier`.
    pub const NULLIFIER: u32 = 6;
    /// `bytes rln_identifier`.
    pub const RLN_IDENTIFIER: u32 = 7;
}

view! {
    /// A RateLimitProof read where it lies.
    ///
    /// ```
    /// use borrowire::waku::MessageBuilder;
    /// use borrowire::waku::rate_limit_proof::{RateLimitProofBuilder, RateLimitProofView};
    ///
    /// let proof = RateLimitProofBuilder { proof: &[1; 128], merkle_root: &[2; 32], epoch: &[3; 32],
    ///     share_x: &[4; 32], share_y: &[5; 32], nullifier: &[6; 32], rln_identifier: &[7; 32] };
    /// let message = MessageBuilder::new("topic", b"payload").rate_limit_proof(&proof.to_vec()).build()?;
    ///
    /// let read = RateLimitProofView::parse(message.rate_limit_proof())?;
    /// assert_eq!(read.epoch(), Some(&[3; 32]));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    RateLimitProofView, PROOF_KIND, 7
}

impl<B: Buffer> RateLimitProofView<B> {
    /// The zero-knowledge proof; `None` if absent.
    pub fn proof(&self) -> Option<&[u8; PROOF_LEN]> {
        self.record.fixed(PROOF)
    }

    /// The root of the tree of members that the proof is against; `None` if absent.
    pub fn merkle_root(&self) -> Option<&[u8; VALUE_LEN]> {
        self.record.fixed(MERKLE_ROOT)
    }

    /// The time that the publisher's limit counts for; `None` if absent.
    pub fn epoch(&self) -> Option<&[u8; VALUE_LEN]> {
        self.record.fixed(EPOCH)
    }

    /// Where the publisher's line is given away: two points of one epoch tell its key; `None` if
    /// absent.
    pub fn share_x(&self) -> Option<&[u8; VALUE_LEN]> {
        self.record.fixed(SHARE_X)
    }

    /// The line's value at [`share_x`](Self::share_x); `None` if absent.
    pub fn share_y(&self) -> Option<&[u8; VALUE_LEN]> {
        self.record.fixed(SHARE_Y)
    }

    /// The same for every message of a publisher in one epoch; `None` if absent.
    pub fn nullifier(&self) -> Option<&[u8; VALUE_LEN]> {
        self.record.fixed(NULLIFIER)
    }

    /// The application that the limit is for; `None` if absent.
    pub fn rln_identifier(&self) -> Option<&[u8; VALUE_LEN]> {
        self.record.fixed(RLN_IDENTIFIER)
    }
}

impl<B: Buffer> fmt::Display for RateLimitProofView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rate limit proof of {} bytes", self.raw().len())
    }
}

/// Writes a RateLimitProof, 335 bytes. All of its fields must be there, so they are given by name.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[allow(clippy::exhaustive_structs)]
pub struct RateLimitProofBuilder<'a> {
    /// The zero-knowledge proof.
    pub proof: &'a [u8; PROOF_LEN],
    /// The root of the tree of members.
    pub merkle_root: &'a [u8; VALUE_LEN],
    /// The time that the limit counts for.
    pub epoch: &'a [u8; VALUE_LEN],
    /// Where the line is given away.
    pub share_x: &'a [u8; VALUE_LEN],
    /// The line's value there.
    pub share_y: &'a [u8; VALUE_LEN],
    /// The same for every message of an epoch.
    pub nullifier: &'a [u8; VALUE_LEN],
    /// The application.
    pub rln_identifier: &'a [u8; VALUE_LEN],
}

impl Encode for RateLimitProofBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::PROOF, self.proof);
        for (number, value) in [
            (field::MERKLE_ROOT, self.merkle_root),
            (field::EPOCH, self.epoch),
            (field::SHARE_X, self.share_x),
            (field::SHARE_Y, self.share_y),
            (field::NULLIFIER, self.nullifier),
            (field::RLN_IDENTIFIER, self.rln_identifier),
        ] {
            out.bytes(number, value);
        }
    }
}

builder!(RateLimitProofBuilder, RateLimitProofView);

static PROOF_KIND: Kind<7> = Kind {
    name: "RateLimitProof",
    context: "rate_limit_proof",
    fields: [
        Field::new(field::PROOF, "rate_limit_proof.proof", Shape::Fixed(PROOF_LEN as u32))
            .optional(),
        value(field::MERKLE_ROOT, "rate_limit_proof.merkle_root"),
        value(field::EPOCH, "rate_limit_proof.epoch"),
        value(field::SHARE_X, "rate_limit_proof.share_x"),
        value(field::SHARE_Y, "rate_limit_proof.share_y"),
        value(field::NULLIFIER, "rate_limit_proof.nullifier"),
        value(field::RLN_IDENTIFIER, "rate_limit_proof.rln_identifier"),
    ],
};

const fn value(number: u32, name: &'static str) -> Field {
    Field::new(number, name, Shape::Fixed(VALUE_LEN as u32)).optional()
}

// The places of the fields in the table.
const PROOF: usize = 0;
const MERKLE_ROOT: usize = 1;
const EPOCH: usize = 2;
const SHARE_X: usize = 3;
const SHARE_Y: usize = 4;
const NULLIFIER: usize = 5;
const RLN_IDENTIFIER: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_335_bytes_in_the_order_of_the_numbers() {
        let view = WHOLE.build().unwrap();
        assert_eq!(view.raw().len(), 335);
        assert_eq!(view.raw()[..4], [0x0a, 0x80, 0x01, 1]);
        assert_eq!(view.proof(), Some(&[1; 128]));
        let values = [
            view.merkle_root(),
            view.epoch(),
            view.share_x(),
            view.share_y(),
            view.nullifier(),
            view.rln_identifier(),
        ];
        assert_eq!(values.map(|value| value.unwrap()[0]), [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_value_of_another_length_is_an_error_under_all_rules() {
        let frame = [&[0x12, 31][..], &[2; 31]].concat();
        for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
            let error = RateLimitProofView::parse_with(&frame[..], &rules).unwrap_err();
            let text = "rate_limit_proof.merkle_root: 31 bytes, 32 expected, at byte 2";
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn every_value_may_be_absent() {
        let view = RateLimitProofView::parse(&[][..]).unwrap();
        assert_eq!((view.proof(), view.merkle_root(), view.epoch()), (None, None, None));
    }

    const WHOLE: RateLimitProofBuilder<'static> = RateLimitProofBuilder {
        proof: &[1; PROOF_LEN],
        merkle_root: &[2; VALUE_LEN],
        epoch: &[3; VALUE_LEN],
        share_x: &[4; VALUE_LEN],
        share_y: &[5; VALUE_LEN],
        nullifier: &[6; VALUE_LEN],
        rln_identifier: &[7; VALUE_LEN],
    };
}
