//! The messages of Nostr, one kind or family a file. Each is one JSON array in one WebSocket text
//! message. Source: NIP-01, NIP-77.

pub mod client;
pub mod event;
pub mod fanout;
pub mod filter;
pub mod frame;
pub mod neg;
pub mod reason;
pub mod relay;
pub mod seen;

pub use client::{ClientFrame, ClientMessage};
pub use reason::{Prefix, Reason};
pub use relay::{RelayFrame, RelayMessage};
