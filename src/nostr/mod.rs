//! The messages of Nostr, one kind or family a file. Each is one JSON array in one WebSocket text
//! message. Source: NIP-01, NIP-77.

pub mod event;
pub mod filter;
pub mod neg;
pub mod seen;
