//! Negentropy messages, version 1: what two peers send each other to find the records that only
//! one of them has (NIP-77; there in hex, in `NEG-OPEN` and `NEG-MSG`).
//!
//! ```text
//! message = 0x61 range*
//! range   = upper-bound mode payload
//! bound   = timestamp prefix-length prefix          0 for infinity, else 1 + seconds since the
//!                                                   bound before it; 0 to 32 bytes of an id
//! payload = (mode 0, skip)
//!         | fingerprint                             (mode 1) 16 bytes
//!         | count id*                               (mode 2, id list) 32 bytes each
//! ```
//!
//! Numbers are varints in base 128, the most significant group first. A range begins where the one
//! in front of it ended, the first at timestamp 0; what lies beyond the last one is skipped.
//!
//! Source: NIP-77, "Negentropy Protocol V1"; `negentropy-protocol-v1.md` of hoytech/negentropy.

pub mod builder;
pub mod fingerprint;
pub mod message;
mod varint;

pub use builder::MessageBuilder;
pub use fingerprint::{Accumulator, fingerprint};
pub use message::{Bound, MessageView, Payload, Range, Ranges};

/// The version byte of the messages that are read and written here.
///
/// 0x60 to 0x6f are versions of the protocol. A peer that is asked in another one answers with this
/// byte alone: do so at [`ErrorKind::Version`](crate::ErrorKind::Version).
pub const VERSION: u8 = 0x61;
/// Bytes of an id.
pub const ID_LEN: usize = 32;
/// Bytes of a fingerprint.
pub const FINGERPRINT_LEN: usize = 16;

// Modes of a range. Source: NIP-77.
const SKIP: u8 = 0;
const FINGERPRINT: u8 = 1;
const ID_LIST: u8 = 2;

// The names of the parts, for errors.
const MESSAGE: &str = "negentropy";
const VERSION_BYTE: &str = "negentropy.version";
const RANGE: &str = "negentropy.range";
const TIMESTAMP: &str = "negentropy.timestamp";
const PREFIX: &str = "negentropy.prefix";
const MODE: &str = "negentropy.mode";
const FINGERPRINT_BYTES: &str = "negentropy.fingerprint";
const IDS: &str = "negentropy.ids";
