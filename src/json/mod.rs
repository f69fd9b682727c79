//! JSON as Nostr frames are spelled in it: one array of few elements a WebSocket message, read where
//! it lies and written at the speed of memory. Source: RFC 8259; NIP-01.

mod proof;
pub mod read;
pub mod string;
mod write;

pub use proof::{AnyText, CleanStr, HexStr, HexText, RawJson};
pub use string::JsonStr;
pub use write::{
    Element, Elements, FrameWriter, Member, Object, Rest, encoded_len, is_clean, write_array,
};
pub(crate) use write::{put_value, value_len};
