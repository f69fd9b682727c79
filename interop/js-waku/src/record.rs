//! The lines that `record.mjs` prints.

use std::ops::Deref;

use borrowire::hex::{self, Case};
use borrowire::waku::MessageView;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Line {
    Difference(Recorded),
    Message(Message),
}

/// A random message and the frame that js-waku wrote.
#[derive(Deserialize)]
pub struct Message {
    pub frame_hex: Octets,
    #[serde(flatten)]
    pub fields: Fields,
}

/// A frame on which borrowire differs from js-waku, and the message that js-waku wrote into it or
/// read from it; `None` if js-waku refuses it.
#[derive(Deserialize)]
pub struct Recorded {
    pub difference: String,
    pub frame_hex: Octets,
    pub js: Option<Fields>,
}

/// The fields of a message, and the hash that js-waku gives it under `pubsub_topic`.
#[derive(Deserialize)]
pub struct Fields {
    pub pubsub_topic: String,
    pub payload_hex: Octets,
    pub content_topic: String,
    pub version: Option<u32>,
    pub timestamp_ns: Option<Decimal>,
    pub meta_hex: Option<Octets>,
    pub ephemeral: Option<bool>,
    pub rate_limit_proof_hex: Option<Octets>,
    pub hash_hex: Octets,
}

impl Fields {
    /// The names of the fields that `view` has otherwise. An absent one reads as its default.
    pub fn differing(&self, view: &MessageView) -> Vec<&'static str> {
        let timestamp = self.timestamp_ns.map_or(0, |decimal| decimal.0);
        let bytes = |field: &Option<Octets>, read: &[u8]| field.as_deref().unwrap_or(&[]) != read;
        let differs = [
            ("payload", *self.payload_hex != *view.payload()),
            ("content topic", self.content_topic.as_bytes() != view.content_topic_bytes()),
            ("version", self.version.unwrap_or(0) != view.version()),
            ("timestamp", timestamp != view.timestamp()),
            ("meta", bytes(&self.meta_hex, view.meta())),
            ("proof", bytes(&self.rate_limit_proof_hex, view.rate_limit_proof())),
            ("ephemeral", self.ephemeral.unwrap_or(false) != view.ephemeral()),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

/// Bytes, from a string of lowercase hex.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub struct Octets(Vec<u8>);

impl Deref for Octets {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<String> for Octets {
    type Error = borrowire::Error;

    fn try_from(digits: String) -> Result<Self, Self::Error> {
        let mut bytes = vec![0; digits.len() / 2];
        hex::decode(digits.as_bytes(), &mut bytes, Case::Lower, "record")?;
        Ok(Self(bytes))
    }
}

/// A 64-bit number, from a string: JSON's numbers are exact up to 2^53 only.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub struct Decimal(pub i64);

impl TryFrom<String> for Decimal {
    type Error = std::num::ParseIntError;

    fn try_from(digits: String) -> Result<Self, Self::Error> {
        digits.parse().map(Self)
    }
}
