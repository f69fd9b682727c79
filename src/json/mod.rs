//! JSON as Nostr frames are spelled in it (RFC 8259): read where it lies.

pub mod read;
pub mod string;
