//! Events: what everything on Nostr is. Source: NIP-01.
//!
//! ```text
//! {"id":"…","pubkey":"…","created_at":1,"kind":1,"tags":[["t","x"]],"content":"…","sig":"…"}
//!
//! id          64 lowercase hex digits, the SHA-256 of the event
//! pubkey      64 lowercase hex digits
//! created_at  whole number, seconds since the Unix epoch, 64 bits
//! kind        whole number, 0 to 65535
//! tags        array of arrays of strings; a tag may be empty
//! content     string
//! sig         128 lowercase hex digits, a BIP-340 signature of the id
//! ```
//!
//! Keys come in any order, each once; other keys are passed over. [`EventView`] reads one in place,
//! [`EventBuilder`] writes one.

mod builder;
mod id;
mod peek;
mod read;
#[cfg(feature = "verify")]
#[cfg_attr(docsrs, doc(cfg(feature = "verify")))]
mod signature;
mod tags;
mod view;

pub use builder::{EventBuilder, TagElements};
pub use id::{Dialect, IdCheck, event_ids};
pub(in crate::nostr) use peek::Walk;
pub use peek::peek_event_id;
pub(in crate::nostr) use read::read_hex;
#[cfg(feature = "verify")]
pub use signature::{Author, Keys, Signed, verify_all, verify_signature};
pub use tags::{Tag, Tags};
pub use view::{EventView, UnknownKeys};
pub(in crate::nostr) use view::{Found, SPANS, SUB};
