//! From borrowire to the [`nostr`] crate and back, for programs that have both: borrowire where frames
//! are read, matched and sent, the nostr crate where events are kept and worked on.
//!
//! Copy what you need; each function stands alone. What the other side cannot say is an error that
//! names it, never a silent loss; [`filter_to_nostr`] says the one exception.

mod event;
mod filter;

pub use event::{event_from_nostr, event_to_nostr};
pub use filter::{filter_from_nostr, filter_to_nostr};
