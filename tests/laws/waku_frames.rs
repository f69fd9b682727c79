//! Laws of the messages that carry a WakuMessage: filter, lightpush, gossipsub. The oracle is prost,
//! for which sub-messages are bytes: each is then under the law of its own kind.

use borrowire::proto;
use borrowire::rules::Rules;
use borrowire::waku::control::{
    ControlBuilder, ControlView, GraftView, IHave, IHaveView, MessageIds, MessageIdsView, PeerInfo,
    PeerInfoView, Prune, PruneView,
};
use borrowire::waku::filter::{
    FilterSubscribeType, PushBuilder, PushView, SubscribeRequestBuilder, SubscribeRequestView,
    SubscribeResponseBuilder, SubscribeResponseView, push,
};
use borrowire::waku::gossip::{
    Publish, PublishView, RpcBuilder, RpcView, Subscription, SubscriptionView, max_payload,
    publish, rpc_len,
};
use borrowire::waku::lightpush::{
    self, PushRequestView, PushResponseView, RequestBuilder, RequestView, ResponseView,
};
use borrowire::waku::{MessageBuilder, MessageView, gossip_id};
use borrowire::{Error, ErrorKind};
use bytes::Bytes;
use prost::Message;

use super::error_is_where_it_says;
use super::waku::any_message;

/// All laws, for bytes that may be any of these messages.
pub fn any_frame(frame: &[u8]) {
    any_subscribe_request(frame);
    any_subscribe_response(frame);
    any_push(frame);
    any_lightpush_request(frame);
    any_lightpush_response(frame);
    any_lightpush_v2(frame);
    any_rpc(frame);
}

/// What the laws ask of every view.
pub(super) trait View<'a>: Sized + PartialEq {
    type Prost: Message + Default;

    /// The fields that the kind has, and which of them are sub-messages that may be there once.
    const KNOWN: &'static [u64];
    const SINGLE_MESSAGES: &'static [u64];

    /// The fields whose values have 32 bytes.
    const HASHES: &'static [u64] = &[];

    fn read(frame: &'a [u8], rules: &Rules) -> Result<Self, Error>;
    fn frame(&self) -> &[u8];
    fn unknown(&self) -> Vec<u64>;
    fn is_detached_alike(&self) -> bool;

    /// Whether prost read the same.
    fn is(&self, prost: &Self::Prost);
}

/// The laws of every kind; gives back what was read under PROTO3, for the laws of one kind.
pub(super) fn read<'a, V: View<'a>>(frame: &'a [u8]) -> Option<V> {
    let read = [Rules::STRICT, Rules::PROTO3, Rules::NWAKU].map(|rules| V::read(frame, &rules));
    for view in read.iter().flatten() {
        assert_eq!(view.frame(), frame);
        assert!(view.is_detached_alike());
        let _ = view.unknown();
    }
    for error in read.iter().filter_map(|read| read.as_ref().err()) {
        error_is_where_it_says(frame, *error);
        assert!(!error.is_incomplete(), "{error}: these messages have no framing of their own");
    }
    let [strict, proto3, nwaku] = read;
    if let Ok(strict) = &strict {
        assert!(proto3.as_ref() == Ok(strict) && nwaku.as_ref() == Ok(strict));
    }
    match (&proto3, V::Prost::decode(frame)) {
        (Ok(view), Ok(prost)) => view.is(&prost),
        // A known field of another wire type, which a conforming parser skips and prost refuses.
        (Ok(view), Err(error)) => {
            assert!(view.unknown().iter().any(|number| V::KNOWN.contains(number)), "{error}");
        }
        // Prost does not know that a hash has a length.
        (Err(error), Ok(_)) if matches!(error.kind(), ErrorKind::WrongLength { .. }) => {
            let is_cut = |field: proto::Field<'_>| {
                V::HASHES.contains(&field.number)
                    && matches!(field.value, proto::Value::Len(hash) if hash.len() != 32)
            };
            let mut fields = proto::fields(frame, &Rules::PROTO3).map_while(Result::ok);
            assert!(fields.any(is_cut), "{error}");
        }
        // Prost merges what is refused here.
        (Err(error), Ok(_)) => {
            assert_eq!(error.kind(), ErrorKind::Repeated, "{error}");
            assert!(!V::SINGLE_MESSAGES.is_empty(), "{error}");
        }
        (Err(_), Err(_)) => {}
    }
    proto3.ok()
}

macro_rules! view {
    (
        $view:ident, $prost:ident, known $known:expr, single $single:expr,
        hashes $hashes:expr, $is:expr
    ) => {
        impl<'a> View<'a> for $view<&'a [u8]> {
            type Prost = $prost;

            const KNOWN: &'static [u64] = &$known;
            const SINGLE_MESSAGES: &'static [u64] = &$single;
            const HASHES: &'static [u64] = &$hashes;

            fn read(frame: &'a [u8], rules: &Rules) -> Result<Self, Error> {
                Self::parse_with(frame, rules)
            }

            fn frame(&self) -> &[u8] {
                self.raw()
            }

            fn unknown(&self) -> Vec<u64> {
                self.unknown_fields().map(|field| field.number).collect()
            }

            fn is_detached_alike(&self) -> bool {
                let detached = self.detach();
                detached == *self
                    && *self == self.as_borrowed()
                    && detached.raw() == self.raw()
                    && format!("{detached} {detached:?}") == format!("{self} {self:?}")
            }

            fn is(&self, prost: &$prost) {
                let is: fn(&Self, &$prost) = $is;
                is(self, prost);
            }
        }
    };
    ($view:ident, $prost:ident, known $known:expr, single $single:expr, $is:expr) => {
        view!($view, $prost, known $known, single $single, hashes [], $is);
    };
}

pub(super) use view;

pub fn any_subscribe_request(frame: &[u8]) {
    let Some(view) = read::<SubscribeRequestView<&[u8]>>(frame) else { return };
    let topics: Vec<_> = view.content_topics().map(Option::unwrap).collect();
    let (id, topic) = (view.request_id().unwrap(), view.pubsub_topic());
    let built = match view.filter_subscribe_type() {
        FilterSubscribeType::SUBSCRIBE => SubscribeRequestBuilder::subscribe(id, topic, &topics),
        FilterSubscribeType::UNSUBSCRIBE => {
            SubscribeRequestBuilder::unsubscribe(id, topic, &topics)
        }
        _ => return,
    };
    assert_eq!(built.to_vec().len(), built.encoded_len());
    assert_eq!(built.build().unwrap(), view);
}

pub fn any_subscribe_response(frame: &[u8]) {
    let Some(view) = read::<SubscribeResponseView<&[u8]>>(frame) else { return };
    let mut built = SubscribeResponseBuilder::new(view.request_id().unwrap(), view.status_code());
    if let Some(desc) = view.status_desc() {
        built = built.status_desc(desc);
    }
    assert_eq!(built.to_vec().len(), built.encoded_len());
    assert_eq!(built.build().unwrap(), view);
}

pub fn any_push(frame: &[u8]) {
    let Some(view) = read::<PushView<&[u8]>>(frame) else { return };
    any_message(view.waku_message_bytes());
    let Ok(message) = view.waku_message() else { return };
    let topic = view.pubsub_topic().unwrap();
    let built = PushBuilder::new(topic, message.raw());
    assert_eq!(built.to_vec().len(), built.encoded_len());
    assert_eq!(push(topic, &message.detach()).to_vec(), built.to_vec());
    assert_eq!(PushView::parse_with(&built.to_vec()[..], &Rules::PROTO3).unwrap(), view);
}

pub fn any_lightpush_request(frame: &[u8]) {
    let Some(view) = read::<RequestView<&[u8]>>(frame) else { return };
    any_message(view.message_bytes());
    let Ok(message) = view.message() else { return };
    let id = view.request_id().unwrap();
    let mut built = RequestBuilder::new(id, message.raw());
    if let Some(topic) = view.pubsub_topic() {
        built = built.pubsub_topic(topic);
    }
    let spliced = lightpush::request(id, view.pubsub_topic(), &message.detach()).to_vec();
    assert_eq!(spliced, built.to_vec());
    assert_eq!(RequestView::parse_with(&spliced[..], &Rules::PROTO3).unwrap(), view);
}

pub fn any_lightpush_response(frame: &[u8]) {
    let Some(view) = read::<ResponseView<&[u8]>>(frame) else { return };
    let id = view.request_id().unwrap();
    let built = match (view.status_code(), view.status_desc(), view.relay_peer_count()) {
        (lightpush::StatusCode::SUCCESS, None, Some(peers)) => {
            lightpush::ResponseBuilder::success(id, peers)
        }
        (code, Some(desc), None) => lightpush::ResponseBuilder::failure(id, code, desc),
        _ => return,
    };
    assert_eq!(built.build().unwrap(), view);
}

pub fn any_lightpush_v2(frame: &[u8]) {
    let Some(view) = read::<lightpush::RpcView<&[u8]>>(frame) else { return };
    let id = view.request_id().unwrap();
    if let Some(Ok(request)) = view.request() {
        read::<PushRequestView<&[u8]>>(request.raw());
        any_message(request.message_bytes());
        if let Ok(message) = request.message() {
            let topic = request.pubsub_topic().unwrap();
            let spliced = lightpush::request_v2(id, topic, &message.detach()).to_vec();
            let built = lightpush::RpcBuilder::request(id, topic, message.raw());
            assert_eq!(spliced, built.to_vec());
            let again = lightpush::RpcView::parse_with(&spliced[..], &Rules::PROTO3).unwrap();
            assert_eq!(again.request().unwrap().unwrap(), request);
        }
    }
    if let Some(Ok(response)) = view.response() {
        read::<PushResponseView<&[u8]>>(response.raw());
        let built = lightpush::RpcBuilder::response(id, response.is_success(), response.info());
        let again = built.build().unwrap();
        assert_eq!(again.response().unwrap().unwrap(), response);
    }
}

pub fn any_rpc(frame: &[u8]) {
    let Some(view) = read::<RpcView<&[u8]>>(frame) else { return };
    for subscription in view.subscriptions().flatten() {
        read::<SubscriptionView<&[u8]>>(subscription.raw());
    }
    for published in view.publish().flatten() {
        read::<PublishView<&[u8]>>(published.raw());
        any_message(published.data());
        assert_eq!(published.gossip_id(), gossip_id(published.data()));
        if let Ok(message) = published.waku_message() {
            splice_is_built(published.topic().unwrap(), &message.detach());
        }
    }
    let control = view.control().and_then(Result::ok);
    if let Some(control) = &control {
        any_control(control.raw());
    }
    if let Ok(sizes) = view.sizes() {
        let counted: usize = view.publish().flatten().map(|item| item.raw().len()).sum();
        assert!(counted <= sizes.message_bytes && sizes.message_bytes <= frame.len());
        assert!(sizes.message_ids + sizes.peers + sizes.control_messages <= frame.len());
        assert_eq!(
            (view.subscriptions().len(), view.publish().len()),
            (sizes.subscriptions, sizes.messages)
        );
    }
    rpc_is_rebuilt(&view);
}

/// An RPC that says nothing a builder cannot say is built again.
fn rpc_is_rebuilt(view: &RpcView<&[u8]>) {
    let subscriptions: Option<Vec<_>> = view
        .subscriptions()
        .map(|item| item.ok().filter(|item| !item.has(3) && !item.has(4) && item.has(2)))
        .collect();
    let published: Option<Vec<_>> =
        view.publish().map(|item| item.ok().filter(|item| item.is_anonymous())).collect();
    let (Some(subscriptions), Some(published)) = (&subscriptions, &published) else { return };
    if view.control().is_some() {
        return;
    }
    let subscriptions: Vec<_> = subscriptions
        .iter()
        .map(|item| Subscription {
            topic_id: item.topic_id().unwrap(),
            subscribe: item.subscribe(),
        })
        .collect();
    let published: Vec<_> = published
        .iter()
        .map(|item| Publish { topic: item.topic().unwrap(), data: item.data() })
        .collect();
    let built = RpcBuilder::new().subscriptions(&subscriptions).publish(&published);
    assert_eq!(built.to_vec().len(), built.encoded_len());
    assert_eq!(built.build().unwrap(), *view);
}

pub fn any_control(frame: &[u8]) {
    let Some(view) = read::<ControlView<&[u8]>>(frame) else { return };
    for ihave in view.ihave().flatten() {
        read::<IHaveView<&[u8]>>(ihave.raw());
        let ids: Vec<_> = ihave.message_ids().collect();
        if let Some(topic_id) = ihave.topic_id() {
            let ihave = [IHave { topic_id, message_ids: &ids }];
            let built = ControlBuilder::new().ihave(&ihave).build().unwrap();
            assert_eq!(
                built.ihave().next().unwrap().unwrap(),
                view.ihave()
                    .flatten()
                    .find(|other| other.topic_id() == Some(topic_id)
                        && other.message_ids().eq(ids.iter().copied()))
                    .unwrap()
            );
        }
    }
    for iwant in view.iwant().chain(view.idontwant()).flatten() {
        read::<MessageIdsView<&[u8]>>(iwant.raw());
        let ids: Vec<_> = iwant.message_ids().collect();
        let lists = [MessageIds(&ids)];
        let built = ControlBuilder::new().iwant(&lists).idontwant(&lists).build().unwrap();
        assert_eq!(built.iwant().next().unwrap().unwrap(), iwant);
        assert_eq!(built.idontwant().next().unwrap().unwrap(), iwant);
    }
    for graft in view.graft().flatten() {
        read::<GraftView<&[u8]>>(graft.raw());
    }
    for prune in view.prune().flatten() {
        read::<PruneView<&[u8]>>(prune.raw());
        let peers: Option<Vec<_>> =
            prune.peers().map(|peer| peer.ok().filter(|peer| peer.peer_id().is_some())).collect();
        for peer in prune.peers().flatten() {
            read::<PeerInfoView<&[u8]>>(peer.raw());
        }
        if let (Some(topic_id), Some(peers)) = (prune.topic_id(), &peers) {
            let peers: Vec<_> = peers
                .iter()
                .map(|peer| PeerInfo {
                    peer_id: peer.peer_id().unwrap(),
                    signed_peer_record: peer.signed_peer_record(),
                })
                .collect();
            let written = [Prune { topic_id, peers: &peers, backoff: prune.backoff() }];
            let built = ControlBuilder::new().prune(&written).build().unwrap();
            assert_eq!(built.prune().next().unwrap().unwrap(), prune);
        }
    }
}

/// Splices are what the builders write, and the lengths that are foretold are true.
pub fn splice_is_built(topic: &str, message: &MessageView) {
    let spliced = publish(topic, message);
    let items = [Publish { topic, data: message.raw() }];
    assert_eq!(spliced.to_vec(), RpcBuilder::new().publish(&items).to_vec());
    assert_eq!(spliced.len(), rpc_len(topic, message.raw().len()));
    assert_eq!(spliced.body().as_ptr(), message.raw().as_ptr());
    let builder = MessageBuilder::from_view(message).omit_empty();
    let limit = rpc_len(topic, builder.encoded_len());
    assert_eq!(max_payload(topic, &builder, limit), Some(message.payload().len()));
}

#[derive(Clone, PartialEq, Message)]
pub struct ProstSubscribeRequest {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(uint32, tag = "2")]
    pub filter_subscribe_type: u32,
    #[prost(string, optional, tag = "10")]
    pub pubsub_topic: Option<String>,
    #[prost(string, repeated, tag = "11")]
    pub content_topics: Vec<String>,
}

view!(SubscribeRequestView, ProstSubscribeRequest, known [1, 2, 10, 11], single [], |view, prost| {
    assert_eq!(view.request_id(), Some(&*prost.request_id));
    assert_eq!(view.filter_subscribe_type().0, prost.filter_subscribe_type);
    assert_eq!(view.pubsub_topic(), prost.pubsub_topic.as_deref());
    assert!(view.content_topics().eq(prost.content_topics.iter().map(|topic| Some(&**topic))));
    assert_eq!(view.content_topics().len(), prost.content_topics.len());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstSubscribeResponse {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(uint32, tag = "10")]
    pub status_code: u32,
    #[prost(string, optional, tag = "11")]
    pub status_desc: Option<String>,
}

view!(SubscribeResponseView, ProstSubscribeResponse, known [1, 10, 11], single [], |view, prost| {
    assert_eq!(view.request_id(), Some(&*prost.request_id));
    assert_eq!(view.status_code(), prost.status_code);
    assert_eq!(view.status_desc(), prost.status_desc.as_deref());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPush {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub waku_message: Option<Vec<u8>>,
    #[prost(string, tag = "2")]
    pub pubsub_topic: String,
}

view!(PushView, ProstPush, known [1, 2], single [1], |view, prost| {
    assert_eq!(view.waku_message_bytes(), prost.waku_message());
    assert_eq!(view.has(1), prost.waku_message.is_some());
    assert_eq!(view.pubsub_topic(), Some(&*prost.pubsub_topic));
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstLightpushRequest {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(string, optional, tag = "20")]
    pub pubsub_topic: Option<String>,
    #[prost(bytes = "vec", optional, tag = "21")]
    pub message: Option<Vec<u8>>,
}

view!(RequestView, ProstLightpushRequest, known [1, 20, 21], single [21], |view, prost| {
    assert_eq!(view.request_id(), Some(&*prost.request_id));
    assert_eq!(view.pubsub_topic(), prost.pubsub_topic.as_deref());
    assert_eq!(view.message_bytes(), prost.message());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstLightpushResponse {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(uint32, tag = "10")]
    pub status_code: u32,
    #[prost(string, optional, tag = "11")]
    pub status_desc: Option<String>,
    #[prost(uint32, optional, tag = "12")]
    pub relay_peer_count: Option<u32>,
}

view!(ResponseView, ProstLightpushResponse, known [1, 10, 11, 12], single [], |view, prost| {
    assert_eq!(view.request_id(), Some(&*prost.request_id));
    assert_eq!(view.status_code().0, prost.status_code);
    assert_eq!(view.status_desc(), prost.status_desc.as_deref());
    assert_eq!(view.relay_peer_count(), prost.relay_peer_count);
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPushRpc {
    #[prost(string, tag = "1")]
    pub request_id: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub request: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub response: Option<Vec<u8>>,
}

use lightpush::RpcView as PushRpcView;

view!(PushRpcView, ProstPushRpc, known [1, 2, 3], single [2, 3], |view, prost| {
    assert_eq!(view.request_id(), Some(&*prost.request_id));
    assert_eq!(view.has(2), prost.request.is_some());
    assert_eq!(view.has(3), prost.response.is_some());
    if let Some(Ok(request)) = view.request() {
        assert_eq!(request.raw(), prost.request());
    }
    if let Some(Ok(response)) = view.response() {
        assert_eq!(response.raw(), prost.response());
    }
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPushRequest {
    #[prost(string, tag = "1")]
    pub pubsub_topic: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub message: Option<Vec<u8>>,
}

view!(PushRequestView, ProstPushRequest, known [1, 2], single [2], |view, prost| {
    assert_eq!(view.pubsub_topic(), Some(&*prost.pubsub_topic));
    assert_eq!(view.message_bytes(), prost.message());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPushResponse {
    #[prost(bool, tag = "1")]
    pub is_success: bool,
    #[prost(string, optional, tag = "2")]
    pub info: Option<String>,
}

view!(PushResponseView, ProstPushResponse, known [1, 2], single [], |view, prost| {
    assert_eq!(view.is_success(), prost.is_success);
    assert_eq!(view.info(), prost.info.as_deref());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstRpc {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub subscriptions: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub publish: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub control: Option<Vec<u8>>,
}

view!(RpcView, ProstRpc, known [1, 2, 3], single [3], |view, prost| {
    assert_eq!(view.subscriptions().len(), prost.subscriptions.len());
    assert_eq!(view.publish().len(), prost.publish.len());
    for (item, prost) in view.subscriptions().zip(&prost.subscriptions) {
        assert!(item.is_err() || item.unwrap().raw() == prost);
    }
    for (item, prost) in view.publish().zip(&prost.publish) {
        assert!(item.is_err() || item.unwrap().raw() == prost);
    }
    assert_eq!(view.has(3), prost.control.is_some());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstSubscription {
    #[prost(bool, tag = "1")]
    pub subscribe: bool,
    #[prost(string, optional, tag = "2")]
    pub topic_id: Option<String>,
    #[prost(bool, optional, tag = "3")]
    pub requests_partial: Option<bool>,
    #[prost(bool, optional, tag = "4")]
    pub supports_sending_partial: Option<bool>,
}

view!(SubscriptionView, ProstSubscription, known [1, 2, 3, 4], single [], |view, prost| {
    assert_eq!(view.subscribe(), prost.subscribe);
    assert_eq!(view.topic_id(), prost.topic_id.as_deref());
    assert_eq!(view.requests_partial(), prost.requests_partial);
    assert_eq!(view.supports_sending_partial(), prost.supports_sending_partial);
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPublish {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub from: Option<Vec<u8>>,
    #[prost(bytes = "vec", tag = "2")]
    pub data: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub seqno: Option<Vec<u8>>,
    #[prost(string, tag = "4")]
    pub topic: String,
    #[prost(bytes = "vec", optional, tag = "5")]
    pub signature: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub key: Option<Vec<u8>>,
}

view!(PublishView, ProstPublish, known [1, 2, 3, 4, 5, 6], single [], |view, prost| {
    assert_eq!(view.from(), prost.from.as_deref());
    assert_eq!(view.data(), prost.data);
    assert_eq!(view.seqno(), prost.seqno.as_deref());
    assert_eq!(view.topic(), Some(&*prost.topic));
    assert_eq!(view.signature(), prost.signature.as_deref());
    assert_eq!(view.key(), prost.key.as_deref());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstControl {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub ihave: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub iwant: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub graft: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "4")]
    pub prune: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "5")]
    pub idontwant: Vec<Vec<u8>>,
}

view!(ControlView, ProstControl, known [1, 2, 3, 4, 5], single [], |view, prost| {
    for (item, prost) in view.ihave().zip(&prost.ihave) {
        assert!(item.is_err() || item.unwrap().raw() == prost);
    }
    for (item, prost) in view.idontwant().zip(&prost.idontwant) {
        assert!(item.is_err() || item.unwrap().raw() == prost);
    }
    assert_eq!(view.ihave().len(), prost.ihave.len());
    assert_eq!(view.iwant().len(), prost.iwant.len());
    assert_eq!(view.graft().len(), prost.graft.len());
    assert_eq!(view.prune().len(), prost.prune.len());
    assert_eq!(view.idontwant().len(), prost.idontwant.len());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstIHave {
    #[prost(string, optional, tag = "1")]
    pub topic_id: Option<String>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub message_ids: Vec<Vec<u8>>,
}

view!(IHaveView, ProstIHave, known [1, 2], single [], |view, prost| {
    assert_eq!(view.topic_id(), prost.topic_id.as_deref());
    assert!(view.message_ids().eq(prost.message_ids.iter().map(|id| &id[..])));
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstMessageIds {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub message_ids: Vec<Vec<u8>>,
}

view!(MessageIdsView, ProstMessageIds, known [1], single [], |view, prost| {
    assert!(view.message_ids().eq(prost.message_ids.iter().map(|id| &id[..])));
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstGraft {
    #[prost(string, optional, tag = "1")]
    pub topic_id: Option<String>,
}

view!(GraftView, ProstGraft, known [1], single [], |view, prost| {
    assert_eq!(view.topic_id(), prost.topic_id.as_deref());
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPrune {
    #[prost(string, optional, tag = "1")]
    pub topic_id: Option<String>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub peers: Vec<Vec<u8>>,
    #[prost(uint64, optional, tag = "3")]
    pub backoff: Option<u64>,
}

view!(PruneView, ProstPrune, known [1, 2, 3], single [], |view, prost| {
    assert_eq!(view.topic_id(), prost.topic_id.as_deref());
    assert_eq!(view.peers().len(), prost.peers.len());
    assert_eq!(view.backoff(), prost.backoff);
});

#[derive(Clone, PartialEq, Message)]
pub struct ProstPeerInfo {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub peer_id: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub signed_peer_record: Option<Vec<u8>>,
}

view!(PeerInfoView, ProstPeerInfo, known [1, 2], single [], |view, prost| {
    assert_eq!(view.peer_id(), prost.peer_id.as_deref());
    assert_eq!(view.signed_peer_record(), prost.signed_peer_record.as_deref());
});

/// A message built of these parts, spliced in every way.
pub fn message_is_spliced(topic: &str, content_topic: &str, payload: &[u8], meta: &[u8]) {
    let builder = MessageBuilder::new(content_topic, payload).meta(meta).timestamp(-1);
    let message = MessageView::parse_with(Bytes::from(builder.to_vec()), &Rules::PROTO3).unwrap();
    splice_is_built(topic, &message);
    any_push(&push(topic, &message).to_vec());
    any_lightpush_request(&lightpush::request("id", Some(topic), &message).to_vec());
    any_lightpush_v2(&lightpush::request_v2("id", topic, &message).to_vec());
}

#[cfg(test)]
mod driven {
    use std::fs;

    use borrowire::hex::{self, Case};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn by_the_fixtures() {
        fixture_frames().iter().for_each(|frame| any_frame(frame));
    }

    #[test]
    fn by_damaged_fixtures() {
        fixture_frames().iter().for_each(|frame| every_damage(frame, any_frame));
    }

    #[test]
    fn by_the_committed_corpus() {
        corpus("waku_frames").iter().for_each(|frame| any_frame(frame));
    }

    proptest! {
        #[test]
        fn by_noise(bytes in vec(any::<u8>(), 0..100)) {
            any_frame(&bytes);
        }

        /// Noise that looks like fields, with such noise in them, gets further than noise.
        #[test]
        fn by_fields(fields in vec(noisy_field(3), 0..8)) {
            any_frame(&fields.concat());
        }

        #[test]
        fn by_messages(
            topic in ".{0,150}",
            content_topic in ".{0,40}",
            payload in vec(any::<u8>(), 0..300),
            meta in vec(any::<u8>(), 0..65),
        ) {
            message_is_spliced(&topic, &content_topic, &payload, &meta);
        }

        #[test]
        fn by_control_messages(fields in vec(noisy_field(2), 0..8)) {
            let mut frame = Vec::new();
            proto::put_len(&mut frame, 3, &fields.concat());
            any_frame(&frame);
        }
    }

    /// A field of a number that matters, of a wire type that is right more often than not.
    fn noisy_field(depth: u32) -> impl Strategy<Value = Vec<u8>> {
        let number =
            prop::sample::select(vec![1_u64, 1, 1, 2, 2, 2, 3, 4, 5, 10, 11, 12, 20, 21, 99]);
        let leaf = prop_oneof![vec(any::<u8>(), 0..4), "[a-z/]{0,10}".prop_map(String::into_bytes)];
        let varint =
            (number.clone(), any::<u64>(), 0_u32..64).prop_map(|(number, value, shift)| {
                let mut out = Vec::new();
                proto::put_varint(&mut out, number << 3);
                proto::put_varint(&mut out, value >> shift);
                out
            });
        let len = move |value: BoxedStrategy<Vec<u8>>| {
            (number.clone(), value).prop_map(|(number, value)| {
                let mut out = Vec::new();
                proto::put_len(&mut out, number as u32, &value);
                out
            })
        };
        let field = prop_oneof![1 => varint.clone(), 3 => len(leaf.boxed())].boxed();
        field.prop_recursive(depth, 32, 5, move |inner| {
            let inside = vec(inner, 0..5).prop_map(|fields| fields.concat());
            prop_oneof![1 => varint.clone(), 4 => len(inside.boxed())]
        })
    }

    fn fixture_frames() -> Vec<Vec<u8>> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/waku/frames.json");
        let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let cases = cases["cases"].as_array().unwrap();
        let frames = cases.iter().map(|case| {
            let hex = case["hex"].as_str().unwrap();
            let mut bytes = vec![0; hex.len() / 2];
            hex::decode(hex.as_bytes(), &mut bytes, Case::Lower, "fixture").unwrap();
            bytes
        });
        frames.collect()
    }
}
