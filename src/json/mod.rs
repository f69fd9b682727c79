//! JSON as Nostr sends it: one array of few elements a WebSocket message. Source: RFC 8259; NIP-01.

mod proof;
mod write;

pub use proof::{CleanStr, HexStr, HexText, RawJson};
pub use write::{Element, Elements, FrameWriter, Rest, encoded_len, is_clean, write_array};
