//! Reads and writes the wire frames of two message networks, [Waku] (Logos Messaging; protobuf
//! over libp2p) and [Nostr] (JSON over WebSocket), without copying them.
//!
//! [Waku]: https://lip.logos.co
//! [Nostr]: https://github.com/nostr-protocol/nips

#![cfg_attr(docsrs, feature(doc_cfg))]

// The house: each block of `mod` lines below is a floor. A file uses lower floors only, never its
// own or a higher one; a folder is one room. `tests/floors.rs` reads these blocks and holds us to
// it. Files that may hold `unsafe` say so in their first lines: buffer, scan, output, sha256, map,
// archive, lmdb.

// -- ground: knows nothing of any format
pub mod counters;
pub mod error;

// -- rules: what the parsers of every format agree to check
pub mod rules;

// -- bytes: reading slices
pub mod buffer;
pub mod cursor;
pub mod hex;

// -- byte classes: where in a slice a byte of a kind is; below the writers, which copy up to there
pub mod scan;

// -- bytes out: writing and digesting slices
pub mod output;
pub mod sha256;

// -- grammars: what is written and read in every message
pub mod json;

// -- messages: one kind of message a file
pub mod nostr;

pub use error::{Error, ErrorKind};
