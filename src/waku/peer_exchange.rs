//! Peer exchange (34/WAKU2-PEER-EXCHANGE): a node asks another for peers that it knows.
//!
//! ```text
//! PeerExchangeRPC        number  type                   absent reads as
//! query                       1  PeerExchangeQuery      absent
//! response                    2  PeerExchangeResponse   absent
//!
//! PeerExchangeQuery
//! num_peers                   1  uint64                 0
//!
//! PeerExchangeResponse
//! peer_infos                  1  repeated PeerInfo      none
//! status_code                10  uint32                 200 if there are peers, 503 if none
//! status_desc                11  string                 absent
//!
//! PeerInfo
//! enr                         1  bytes                  empty
//! ```
//!
//! The specification has neither `status_code` nor `status_desc`. go-waku answers without a query,
//! which nwaku refuses ("missing request"); nwaku asks with an empty response of status 0, and it
//! has refused queries without one. A view reads all of them, and the builder writes what nwaku
//! does, which every node takes.
//!
//! Source: 34/WAKU2-PEER-EXCHANGE; logos-delivery `waku_peer_exchange/rpc.nim`, `rpc_codec.nim`.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::put::{Encode, Put, builder};

/// The numbers of the fields.
pub mod field {
    /// `PeerExchangeQuery query`.
    pub const QUERY: u32 = 1;
    /// `PeerExchangeResponse response`.
    pub const RESPONSE: u32 = 2;
    /// `uint64 num_peers`, of a query.
    pub const NUM_PEERS: u32 = 1;
    /// `repeated PeerInfo peer_infos`, of a response.
    pub const PEER_INFOS: u32 = 1;
    /// `uint32 status_code`, of a response.
    pub const STATUS_CODE: u32 = 10;
    /// `string status_desc`, of a response.
    pub const STATUS_DESC: u32 = 11;
    /// `bytes enr`, of a peer info.
    pub const ENR: u32 = 1;
}

/// The outcome of a query. A number that no node names is a value too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusCode(pub u32);

impl StatusCode {
    /// What nwaku puts into the response that it sends with a query.
    pub const UNKNOWN: Self = Self(0);
    /// Here are peers.
    pub const SUCCESS: Self = Self(200);
    /// The query could not be read.
    pub const BAD_REQUEST: Self = Self(400);
    /// Too many queries.
    pub const TOO_MANY_REQUESTS: Self = Self(429);
    /// The node knows no peers.
    pub const SERVICE_UNAVAILABLE: Self = Self(503);

    /// The name of the constant.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::UNKNOWN => "UNKNOWN",
            Self::SUCCESS => "SUCCESS",
            Self::BAD_REQUEST => "BAD_REQUEST",
            Self::TOO_MANY_REQUESTS => "TOO_MANY_REQUESTS",
            Self::SERVICE_UNAVAILABLE => "SERVICE_UNAVAILABLE",
            _ => return None,
        })
    }
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} {name}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

view! {
    /// A PeerExchangeRPC, the one frame of the protocol, read where it lies.
    ///
    /// ```
    /// use borrowire::waku::peer_exchange::{RpcView, StatusCode};
    ///
    /// // A response of go-waku: no query, no status.
    /// let rpc = RpcView::parse(&b"\x12\x05\x0a\x03\x0a\x01\xaa"[..])?;
    /// assert!(rpc.query().is_none());
    /// let response = rpc.response().unwrap()?;
    /// assert_eq!(response.status_code(), StatusCode::SUCCESS);
    /// assert_eq!(response.peer_infos().next().unwrap()?.enr(), [0xaa]);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    RpcView, RPC, 2
}

impl<B: Buffer> RpcView<B> {
    /// The query, if there is one. nwaku sends one with each response, too.
    pub fn query(&self) -> Option<Result<QueryView<B>, Error>> {
        self.record.optional_message(QUERY, QueryView::parse_with)
    }

    /// The response, if there is one. nwaku sends one with each query, too.
    pub fn response(&self) -> Option<Result<ResponseView<B>, Error>> {
        self.record.optional_message(RESPONSE, ResponseView::parse_with)
    }
}

impl<B: Buffer> fmt::Display for RpcView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |number, name| if self.has(number) { name } else { "" };
        let query = has(field::QUERY, ", query");
        let response = has(field::RESPONSE, ", response");
        write!(f, "peer exchange{query}{response}")
    }
}

/// Writes a PeerExchangeRPC: a query, or a response.
///
/// ```
/// use borrowire::waku::peer_exchange::RpcBuilder;
///
/// assert_eq!(RpcBuilder::query(5).to_vec(), b"\x0a\x02\x08\x05\x12\x02\x50\x00");
/// let response = RpcBuilder::peers(&[b"\xaa"]);
/// assert_eq!(response.to_vec(), b"\x0a\x02\x08\x00\x12\x08\x0a\x03\x0a\x01\xaa\x50\xc8\x01");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RpcBuilder<'a> {
    query: Query,
    response: Response<'a>,
}

impl<'a> RpcBuilder<'a> {
    /// A query for at most this many peers.
    pub const fn query(num_peers: u64) -> Self {
        let response = Response { enrs: &[], status_code: StatusCode::UNKNOWN, status_desc: None };
        Self { query: Query { num_peers }, response }
    }

    /// A response with the records (EIP-778, in RLP) of these peers.
    pub const fn peers(enrs: &'a [&'a [u8]]) -> Self {
        let response = Response { enrs, status_code: StatusCode::SUCCESS, status_desc: None };
        Self { query: Query { num_peers: 0 }, response }
    }

    /// A response that says why there are no peers.
    pub const fn failure(status_code: StatusCode, status_desc: &'a str) -> Self {
        let response = Response { enrs: &[], status_code, status_desc: Some(status_desc) };
        Self { query: Query { num_peers: 0 }, response }
    }
}

impl Encode for RpcBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.message(field::QUERY, &self.query);
        out.message(field::RESPONSE, &self.response);
    }
}

builder!(RpcBuilder, RpcView);

#[derive(Clone, Copy, Debug)]
struct Query {
    num_peers: u64,
}

impl Encode for Query {
    fn put(&self, out: &mut impl Put) {
        out.uint(field::NUM_PEERS, self.num_peers);
    }
}

#[derive(Clone, Copy, Debug)]
struct Response<'a> {
    enrs: &'a [&'a [u8]],
    status_code: StatusCode,
    status_desc: Option<&'a str>,
}

impl Encode for Response<'_> {
    fn put(&self, out: &mut impl Put) {
        for enr in self.enrs {
            out.message(field::PEER_INFOS, &PeerInfo { enr });
        }
        out.uint(field::STATUS_CODE, self.status_code.0.into());
        if let Some(desc) = self.status_desc {
            out.bytes(field::STATUS_DESC, desc.as_bytes());
        }
    }
}

struct PeerInfo<'a> {
    enr: &'a [u8],
}

impl Encode for PeerInfo<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::ENR, self.enr);
    }
}

view! {
    /// A PeerExchangeQuery read where it lies.
    QueryView, QUERY_KIND, 1
}

impl<B: Buffer> QueryView<B> {
    /// How many peers are asked for at most.
    pub fn num_peers(&self) -> u64 {
        self.record.uint(NUM_PEERS)
    }
}

impl<B: Buffer> fmt::Display for QueryView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "query for {} peers", self.num_peers())
    }
}

view! {
    /// A PeerExchangeResponse read where it lies.
    ResponseView, RESPONSE_KIND, 3
}

impl<B: Buffer> ResponseView<B> {
    /// The peers, each read when it is its turn.
    pub fn peer_infos(
        &self,
    ) -> impl ExactSizeIterator<Item = Result<PeerInfoView<B>, Error>> + Clone {
        self.record.repeated_messages(&RESPONSE_KIND, PEER_INFOS, PeerInfoView::parse_with)
    }

    /// The outcome. Where it is absent, as in responses of go-waku, it is that there are peers or
    /// that there are none; [`has`](Self::has) tells.
    pub fn status_code(&self) -> StatusCode {
        match self.record.optional_uint(STATUS_CODE) {
            Some(code) => StatusCode(code as u32),
            None if self.record.count(PEER_INFOS) > 0 => StatusCode::SUCCESS,
            None => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The outcome in words. `None` if absent, or not UTF-8.
    pub fn status_desc(&self) -> Option<&str> {
        self.record.optional_text(STATUS_DESC)
    }

    /// The outcome in words, UTF-8 or not; `None` if absent.
    pub fn status_desc_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(STATUS_DESC)
    }
}

impl<B: Buffer> fmt::Display for ResponseView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "response of {} peers: {}", self.peer_infos().len(), self.status_code())
    }
}

view! {
    /// A PeerInfo read where it lies.
    PeerInfoView, PEER_INFO, 1
}

impl<B: Buffer> PeerInfoView<B> {
    /// The peer's record (EIP-778, in RLP).
    pub fn enr(&self) -> &[u8] {
        self.record.bytes(ENR)
    }
}

impl<B: Buffer> fmt::Display for PeerInfoView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer, a record of {} bytes", self.enr().len())
    }
}

static RPC: Kind<2> = Kind {
    name: "PeerExchangeRPC",
    context: "peer_exchange",
    fields: [
        Field::new(field::QUERY, "peer_exchange.query", Shape::Message(same!(QueryView)))
            .optional(),
        Field::new(field::RESPONSE, "peer_exchange.response", Shape::Message(same!(ResponseView)))
            .optional(),
    ],
};

static QUERY_KIND: Kind<1> = Kind {
    name: "PeerExchangeQuery",
    context: "peer_exchange_query",
    fields: [Field::new(field::NUM_PEERS, "peer_exchange_query.num_peers", Shape::Uint64)],
};

static RESPONSE_KIND: Kind<3> = Kind {
    name: "PeerExchangeResponse",
    context: "peer_exchange_response",
    fields: [
        Field::new(
            field::PEER_INFOS,
            "peer_exchange_response.peer_infos",
            Shape::Message(same!(PeerInfoView)),
        )
        .repeated(),
        Field::new(field::STATUS_CODE, "peer_exchange_response.status_code", Shape::Uint32)
            .optional(),
        Field::new(field::STATUS_DESC, "peer_exchange_response.status_desc", Shape::Text)
            .optional(),
    ],
};

static PEER_INFO: Kind<1> = Kind {
    name: "PeerInfo",
    context: "peer_info",
    fields: [Field::new(field::ENR, "peer_info.enr", Shape::Bytes)],
};

// The places of the fields in their tables.
const QUERY: usize = 0;
const RESPONSE: usize = 1;
const NUM_PEERS: usize = 0;
const PEER_INFOS: usize = 0;
const STATUS_CODE: usize = 1;
const STATUS_DESC: usize = 2;
const ENR: usize = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_the_golden_frame() {
        let view = RpcBuilder::query(5).build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x02\x08\x05\x12\x02\x50\x00");
        assert_eq!(view.query().unwrap().unwrap().num_peers(), 5);
        let response = view.response().unwrap().unwrap();
        assert_eq!(response.status_code(), StatusCode::UNKNOWN);
        assert_eq!((response.peer_infos().len(), response.status_desc()), (0, None));
    }

    #[test]
    fn responses_come_with_a_query_for_nwaku() {
        let view = RpcBuilder::peers(&[b"\xaa", b""]).build().unwrap();
        assert_eq!(view.query().unwrap().unwrap().num_peers(), 0);
        let response = view.response().unwrap().unwrap();
        let enrs: Vec<_> = response.peer_infos().map(|peer| peer.unwrap().enr().to_vec()).collect();
        assert_eq!(enrs, [vec![0xaa], vec![]]);
        assert_eq!(response.status_code(), StatusCode::SUCCESS);

        let view = RpcBuilder::failure(StatusCode::TOO_MANY_REQUESTS, "wait").build().unwrap();
        let response = view.response().unwrap().unwrap();
        assert_eq!(response.status_code(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.status_desc(), Some("wait"));
    }

    #[test]
    fn either_side_may_be_absent() {
        let query = RpcView::parse(&b"\x0a\x02\x08\x05"[..]).unwrap();
        assert_eq!(query.query().unwrap().unwrap().num_peers(), 5);
        assert!(query.response().is_none());
        let empty = RpcView::parse(&b"\x12\x00"[..]).unwrap().response().unwrap().unwrap();
        assert_eq!(empty.status_code(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(!empty.has(field::STATUS_CODE));
    }
}
