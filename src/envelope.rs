//! A received message with its topic and its identities, shared by all who handle it.

use std::sync::{Arc, OnceLock};

use crate::buffer::Text;
use crate::waku::{GossipId, HashRule, MessageHash, MessageView, gossip_id, message_hash};

/// A message, the pubsub topic that it came on, and its hash and gossip id, each computed when it
/// is first asked for and at most once.
///
/// Share it as an `Arc<Envelope>`: validator, archive, store-sync, filter and application then read
/// one decode and one hash. Threads that ask at the same moment wait for one computation. A clone
/// keeps what was computed before it, and computes the rest for itself.
///
/// Topic, message and hash rule are fixed when the envelope is made; there is no setter, so no
/// holder can change the hash under another. To send a changed message, build it with
/// [`MessageBuilder::from_view`](crate::waku::MessageBuilder::from_view) and make a new envelope.
///
/// ```
/// use std::sync::Arc;
/// use borrowire::Envelope;
/// use borrowire::waku::MessageView;
/// use bytes::Bytes;
///
/// let frame = Bytes::from_static(b"\x0a\x01\x01\x12\x01a\x50\x02");
/// let envelope = Arc::new(Envelope::new("t", MessageView::parse(frame)?));
/// let archive = Arc::clone(&envelope);
/// assert!(std::ptr::eq(archive.hash(), envelope.hash())); // one hash, one place
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Envelope {
    pubsub_topic: Text,
    message: MessageView,
    rule: HashRule,
    hash: OnceLock<MessageHash>,
    gossip_id: OnceLock<GossipId>,
}

impl Envelope {
    /// An envelope that hashes as nwaku and go-waku do ([`HashRule::ZeroTimestamp`]).
    pub fn new(pubsub_topic: impl Into<Text>, message: MessageView) -> Self {
        Self::with_rule(pubsub_topic, message, HashRule::ZeroTimestamp)
    }

    /// An envelope that hashes by `rule`.
    pub fn with_rule(pubsub_topic: impl Into<Text>, message: MessageView, rule: HashRule) -> Self {
        Self {
            pubsub_topic: pubsub_topic.into(),
            message,
            rule,
            hash: OnceLock::new(),
            gossip_id: OnceLock::new(),
        }
    }

    /// The same envelope with a gossip id that the caller has computed already, as libp2p's
    /// message-id function does.
    #[must_use]
    pub fn with_gossip_id(mut self, id: GossipId) -> Self {
        self.gossip_id = OnceLock::from(id);
        self
    }

    /// Computes the hashes of all `envelopes` that have none yet.
    pub fn hash_all(envelopes: &[Arc<Self>]) {
        for envelope in envelopes {
            envelope.hash();
        }
    }

    /// The pubsub topic that the message came on.
    pub fn pubsub_topic(&self) -> &str {
        &self.pubsub_topic
    }

    /// The message.
    pub fn message(&self) -> &MessageView {
        &self.message
    }

    /// How the message is hashed.
    pub fn rule(&self) -> HashRule {
        self.rule
    }

    /// The message hash by the envelope's rule, computed at the first call.
    pub fn hash(&self) -> &MessageHash {
        self.hash.get_or_init(|| self.hash_with(self.rule))
    }

    /// The message hash by another rule; computed at every call.
    pub fn hash_with(&self, rule: HashRule) -> MessageHash {
        message_hash(&self.pubsub_topic, &self.message, rule)
    }

    /// The gossipsub message id, computed at the first call if it was not given.
    pub fn gossip_id(&self) -> &GossipId {
        self.gossip_id.get_or_init(|| gossip_id(self.message.raw()))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_clone_carries_the_hash_and_a_given_id_is_kept() {
        let message = MessageView::parse(Bytes::from_static(b"\x0a\x00\x12\x00")).unwrap();
        let given = GossipId([7; 32]);
        let envelope = Envelope::new("t", message).with_gossip_id(given);
        assert_eq!(*envelope.gossip_id(), given);
        assert!(envelope.hash.get().is_none());
        let hash = *envelope.hash();
        assert_eq!(envelope.clone().hash.get(), Some(&hash));
        assert_ne!(envelope.hash_with(HashRule::OmitZero), hash);
    }
}
