//! Events: what everything on Nostr is. Source: NIP-01.

mod builder;

pub use builder::{EventBuilder, TagElements};
