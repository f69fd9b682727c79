//! How long the frames of each Waku protocol may be.

/// A Waku protocol over libp2p, and the longest frames it is read with.
///
/// | protocol | request | response | nwaku |
/// |---|---:|---:|---|
/// | [`RELAY`](Self::RELAY) | 153,600 | | the same |
/// | [`STORE_QUERY`](Self::STORE_QUERY) | 65,536 | 15,425,536 | no limit |
/// | [`FILTER_SUBSCRIBE`](Self::FILTER_SUBSCRIBE) | 1,601,536 | 65,536 | the same |
/// | [`FILTER_PUSH`](Self::FILTER_PUSH) | 1,601,536 | | the same |
/// | [`LIGHTPUSH`](Self::LIGHTPUSH), [`LIGHTPUSH_V2`](Self::LIGHTPUSH_V2) | 219,136 | 65,536 | no limit |
/// | [`RECONCILIATION`](Self::RECONCILIATION) | 4,194,304 | 4,194,304 | no limit |
/// | [`TRANSFER`](Self::TRANSFER) | 153,600 | | the same, the topic's bytes not allowed for |
/// | [`METADATA`](Self::METADATA) | 1,024 | 1,024 | the same |
/// | [`PEER_EXCHANGE`](Self::PEER_EXCHANGE) | 1,601,536 | 1,601,536 | the same |
/// | [`RENDEZVOUS`](Self::RENDEZVOUS) | 4,096 | 4,096 | the same |
///
/// Bytes, the prefix not counted. Where nwaku has no limit, these are large enough for all that
/// the protocol's other limits let through: a message of 150 KiB, 64 KiB around it, pages of 100
/// messages, and for reconciliation some 100,000 ids.
///
/// Source: logos-delivery `waku_core/codecs.nim` for the ids, and each protocol's `rpc_codec.nim`
/// or `protocol.nim` for the limits; `waku_core/message/default_values.nim` for 150 KiB and 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protocol {
    /// The libp2p protocol id.
    pub id: &'static str,
    /// The longest frame from the side that opened the stream.
    pub max_request: u32,
    /// The longest frame from the other side; 0 where it sends none.
    pub max_response: u32,
}

impl Protocol {
    /// Gossipsub's RPC (11/WAKU2-RELAY). The limit is that of the whole RPC, so the longest message
    /// is shorter. Source: nim-libp2p `pubsubpeer.nim`.
    pub const RELAY: Self = Self::new("/vac/waku/relay/2.0.0", MESSAGE, 0);
    /// Store (13/WAKU2-STORE), version 3.
    pub const STORE_QUERY: Self =
        Self::new("/vac/waku/store-query/3.0.0", BESIDE, 100 * MESSAGE + BESIDE);
    /// Filter (12/WAKU2-FILTER), from the light node.
    pub const FILTER_SUBSCRIBE: Self =
        Self::new("/vac/waku/filter-subscribe/2.0.0-beta1", TEN_MESSAGES, BESIDE);
    /// Filter (12/WAKU2-FILTER), to the light node.
    pub const FILTER_PUSH: Self = Self::new("/vac/waku/filter-push/2.0.0-beta1", TEN_MESSAGES, 0);
    /// Lightpush (19/WAKU2-LIGHTPUSH), version 3.
    pub const LIGHTPUSH: Self = Self::new("/vac/waku/lightpush/3.0.0", MESSAGE + BESIDE, BESIDE);
    /// Lightpush, version 2.
    pub const LIGHTPUSH_V2: Self =
        Self::new("/vac/waku/lightpush/2.0.0-beta1", MESSAGE + BESIDE, BESIDE);
    /// Store-sync's comparison of ids.
    pub const RECONCILIATION: Self =
        Self::new("/vac/waku/reconciliation/1.0.0", RECONCILED, RECONCILED);
    /// Store-sync's messages.
    pub const TRANSFER: Self = Self::new("/vac/waku/transfer/1.0.0", MESSAGE, 0);
    /// Metadata (66/WAKU2-METADATA).
    pub const METADATA: Self = Self::new("/vac/waku/metadata/1.0.0", 1024, 1024);
    /// Peer exchange (34/WAKU2-PEER-EXCHANGE).
    pub const PEER_EXCHANGE: Self =
        Self::new("/vac/waku/peer-exchange/2.0.0-alpha1", TEN_MESSAGES, TEN_MESSAGES);
    /// Rendezvous.
    pub const RENDEZVOUS: Self = Self::new("/vac/waku/rendezvous/1.0.0", 4096, 4096);

    const fn new(id: &'static str, max_request: u32, max_response: u32) -> Self {
        Self { id, max_request, max_response }
    }
}

/// nwaku's `DefaultMaxWakuMessageSize`, 150 KiB.
const MESSAGE: u32 = 150 * 1024;
/// nwaku's `DefaultSafetyBufferProtocolOverhead`, 64 KiB.
const BESIDE: u32 = 64 * 1024;
/// nwaku's `DefaultMaxRpcSize` of filter and peer exchange.
const TEN_MESSAGES: u32 = 10 * MESSAGE + BESIDE;
/// An id takes 32 bytes and its time mostly less than ten.
const RECONCILED: u32 = 4 * 1024 * 1024;
