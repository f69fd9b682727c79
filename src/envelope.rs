//! A received message with its topic and its identities, shared by all who handle it.

use std::sync::{Arc, OnceLock};

use crate::buffer::Text;
use crate::counters;
use crate::sha256::{self, Part};
use crate::waku::{
    GossipId, HashRule, MessageHash, MessageView, gossip_id, hash_parts, message_hash,
};

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

    /// Computes the hashes of all `envelopes` that have none, two at a time: for messages that wait
    /// in a queue anyway. On processors with SHA extensions this takes little more than half of the
    /// time that one [`hash`](Self::hash) after the other does.
    ///
    /// A hash that another thread is computing at the same moment is computed here too; the first
    /// one is kept.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use borrowire::Envelope;
    /// use borrowire::waku::MessageBuilder;
    ///
    /// let queue: Vec<_> = (0..4)
    ///     .map(|i| MessageBuilder::new("/a/1/b/proto", &[i]).build())
    ///     .map(|message| Ok(Arc::new(Envelope::new("/waku/2/rs/0/0", message?))))
    ///     .collect::<Result<_, borrowire::Error>>()?;
    /// Envelope::hash_all(&queue);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    pub fn hash_all(envelopes: &[Arc<Self>]) {
        let messages = envelopes.iter().map(|envelope| match envelope.hash.get() {
            // Keeps the numbers in step, for the price of one block.
            Some(_) => [Part::Slice(&[]); 5],
            None => envelope.hash_parts(),
        });
        sha256::digest_many(messages, |i, digest| {
            // Kept only where there is none yet.
            let _ = envelopes[i].hash.set(MessageHash(digest));
        });
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

    /// The message hash and the gossip id, computed side by side where neither is known: for little
    /// more than the price of one.
    pub fn identities(&self) -> (&MessageHash, &GossipId) {
        if self.hash.get().is_none() && self.gossip_id.get().is_none() {
            let parts = self.hash_parts();
            let frame = self.message.raw();
            let [hash, id] = sha256::digest_pair(&parts.each_ref().map(Part::as_ref), &[frame]);
            counters::gossip_id(frame.len());
            let _ = self.hash.set(MessageHash(hash));
            let _ = self.gossip_id.set(GossipId(id));
        }
        (self.hash(), self.gossip_id())
    }

    /// The message hash by another rule; computed at every call.
    pub fn hash_with(&self, rule: HashRule) -> MessageHash {
        message_hash(&self.pubsub_topic, &self.message, rule)
    }

    /// The gossipsub message id, computed at the first call if it was not given.
    pub fn gossip_id(&self) -> &GossipId {
        self.gossip_id.get_or_init(|| gossip_id(self.message.raw()))
    }

    fn hash_parts(&self) -> [Part<'_>; 5] {
        hash_parts(&self.pubsub_topic, &self.message, self.rule)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::waku::MessageBuilder;

    #[test]
    fn many_are_hashed_as_one_is() {
        let envelope = |i: u32, len: usize| {
            let payload = vec![i as u8; len];
            let message = MessageBuilder::new("/a/1/b/proto", &payload).timestamp(i.into());
            Arc::new(Envelope::new("t", message.build().unwrap()))
        };
        for count in 0..9 {
            let queue: Vec<_> = (0..count).map(|i| envelope(i, 97 * i as usize)).collect();
            let single: Vec<_> = queue.iter().map(|e| e.hash_with(e.rule())).collect();
            if let Some(hashed) = queue.get(3) {
                hashed.hash();
            }
            Envelope::hash_all(&queue);
            let all: Vec<_> = queue.iter().map(|e| *e.hash.get().unwrap()).collect();
            assert_eq!(all, single);
            for envelope in &queue {
                let id = gossip_id(envelope.message().raw());
                let fresh = Envelope::new("t", envelope.message().clone());
                assert_eq!(fresh.identities(), (envelope.hash(), &id));
                assert_eq!(fresh.identities(), (envelope.hash(), &id));
            }
        }
    }

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
