//! Waku (Logos Messaging): protobuf messages over libp2p.
//!
//! One kind of message a file, all of one shape: the picture of the wire, the view, its accessors,
//! the builder. Names are those of the specifications (14/WAKU2-MESSAGE and on). The messages
//! that carry a WakuMessage or talk about them share one reader, in `kind.rs`.

pub mod control;
pub mod filter;
pub mod gossip;
pub mod hash;
mod kind;
pub mod lightpush;
pub mod message;
pub mod metadata;
pub mod peer_exchange;
mod put;
pub mod rate_limit_proof;
pub mod reconciliation;
pub mod rendezvous;
#[cfg(feature = "rest")]
#[cfg_attr(docsrs, doc(cfg(feature = "rest")))]
pub mod rest;
pub mod sds;
pub mod store;
pub mod topic;
pub mod transfer;

pub(crate) use hash::hash_parts;
pub use hash::{GossipId, HashRule, MessageHash, gossip_id, gossip_ids, message_hash};
pub use message::{MessageBuilder, MessageView};
pub use topic::{ContentTopic, Shard};
