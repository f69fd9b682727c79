//! Events: what everything on Nostr is. Source: NIP-01.

mod builder;
#[cfg(feature = "verify")]
#[cfg_attr(docsrs, doc(cfg(feature = "verify")))]
mod signature;

pub use builder::{EventBuilder, TagElements};
#[cfg(feature = "verify")]
pub use signature::{Author, Keys, Signed, verify_all, verify_signature};
