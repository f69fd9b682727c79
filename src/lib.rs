//! Reads and writes the wire frames of two message networks, [Waku] (Logos Messaging; protobuf
//! over libp2p) and [Nostr] (JSON over WebSocket), without copying them.
//!
//! [Waku]: https://lip.logos.co
//! [Nostr]: https://github.com/nostr-protocol/nips

#![cfg_attr(docsrs, feature(doc_cfg))]

// The house: each block of `mod` lines below is a floor. A file uses lower floors only, never its
// own or a higher one; a folder is one room. `tests/floors.rs` reads these blocks and holds us to
// it. Files that may hold `unsafe` say so in their first lines: buffer, scan, output, sha256, map,
// archive, lmdb, heap.

// -- ground: knows nothing of any format
pub mod counters;
pub mod error;
#[cfg(feature = "harness")]
pub mod heap;

// -- rules: what the parsers of every format agree to check
pub mod rules;

// -- bytes: reading slices
pub mod buffer;
pub mod cursor;
pub mod hex;

// -- byte classes: where in a slice a byte of a kind is; below the writers, which copy up to there
pub mod scan;

// -- bytes out: writing and digesting slices, and whole files as one
#[cfg(feature = "map")]
#[cfg_attr(docsrs, doc(cfg(feature = "map")))]
pub mod map;
pub mod output;
pub mod sha256;

// -- grammars: what frames are made of
pub mod json;
pub mod proto;
pub mod splice;

// -- binary messages: spelled in bytes alone
pub mod negentropy;

// -- messages: the frames of each network
pub mod nostr;
pub mod waku;

// -- meaning: what a message is to those who handle it
pub mod envelope;

// -- ways in and out: frames in streams of bytes
#[cfg(feature = "codec")]
#[cfg_attr(docsrs, doc(cfg(feature = "codec")))]
pub mod codec;
pub mod ndjson;

// -- the whole way: what a node does with a message, measured
#[cfg(feature = "harness")]
pub mod message_path;

pub use envelope::Envelope;
pub use error::{Error, ErrorKind};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeCode;
