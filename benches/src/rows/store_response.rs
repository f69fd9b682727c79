//! Row 14: a store response of a hundred messages read, down to each message's hash, topic and
//! payload; and its hashes alone.

use borrowire::waku::store::{KeyValue, QueryResponseBuilder, QueryResponseView};
use borrowire::waku::{HashRule, MessageView, message_hash};
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::relay::PUBSUB_TOPIC;
use borrowire_benches::store::{
    BuffaLazyResponse, BuffaOwnedResponse, BuffaResponse, ProstBytesResponse, ProstVecResponse,
    QuickResponse,
};
use borrowire_benches::waku::frame;
use buffa::view::{LazyMessageView as _, MessageView as _};
use bytes::Bytes;
use prost::Message;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for len in [1_000, 50_000] {
        let response = &response(len);
        whole(len, response, &mut verdicts);
        hashes(len, response, &mut verdicts);
    }
    verdicts
}

fn whole(len: usize, response: &Bytes, verdicts: &mut Vec<Verdict>) {
    let expected = MESSAGES * (32 + PUBSUB_TOPIC.len() + len);
    for read in [borrowed, owned, quick, buffa, buffa_lazy, buffa_owned, prost_bytes, prost_vec] {
        assert_eq!(read(response), expected, "all contenders read the same");
    }
    let title = format!("14: store response of {MESSAGES} messages of {len} bytes");
    let mut group = Group::new(title);
    group
        .add("borrowire, borrowed", || borrowed(response))
        .add("borrowire, owned", || owned(response))
        .add("quick-protobuf", || quick(response))
        .add("buffa view", || buffa(response))
        .add("buffa lazy view", || buffa_lazy(response))
        .add("buffa owned view", || buffa_owned(response))
        .add("prost Bytes", || prost_bytes(response))
        .add("prost Vec", || prost_vec(response));
    let figures = group.run(ROUNDS);
    let mut claim = |ours: usize, rival: usize, target: f64| {
        assert_eq!(figures[ours].allocations, 0.0);
        let (ours, rival) = (&figures[ours], &figures[rival]);
        let claim = format!("{} against {}, {len} B", ours.name, rival.name);
        verdicts.push(Verdict { row: "14", claim, target, measured: ratio(ours, rival) });
    };
    claim(0, 2, 1.0);
    claim(0, 3, 1.0);
    claim(0, 4, 1.0);
    claim(1, 5, 1.0);
    claim(1, 6, 1.0);
    claim(1, 7, 5.0);
}

/// Which messages a peer has: what a node does before it asks for the rest.
fn hashes(len: usize, response: &Bytes, verdicts: &mut Vec<Verdict>) {
    let ours = || {
        let response = QueryResponseView::parse(&response[..]).unwrap();
        let bytes = response.messages().map(|item| item.unwrap().message_hash().unwrap().0[0]);
        bytes.map(usize::from).sum::<usize>()
    };
    let lazy = || {
        let response = BuffaLazyResponse::decode_lazy(response).unwrap();
        let bytes = response.messages.iter().map(|item| item.unwrap().message_hash.unwrap()[0]);
        bytes.map(usize::from).sum::<usize>()
    };
    let eager = || {
        let response = BuffaResponse::decode_view(response).unwrap();
        let bytes = response.messages.iter().map(|item| item.message_hash.unwrap()[0]);
        bytes.map(usize::from).sum::<usize>()
    };
    let quick = || {
        let response = QuickResponse::decode(response).unwrap();
        let bytes = response.messages.iter().map(|item| item.message_hash.as_ref().unwrap()[0]);
        bytes.map(usize::from).sum::<usize>()
    };
    assert_eq!([ours(), lazy(), eager()], [quick(); 3]);
    let title = format!("14: hashes of a store response of {MESSAGES} messages of {len} bytes");
    let mut group = Group::new(title);
    group
        .add("borrowire, borrowed", ours)
        .add("quick-protobuf", quick)
        .add("buffa view", eager)
        .add("buffa lazy view", lazy);
    let figures = group.run(ROUNDS);
    for rival in &figures[1..] {
        let claim = format!("hashes alone, against {}, {len} B", rival.name);
        let measured = ratio(&figures[0], rival);
        verdicts.push(Verdict { row: "14", claim, target: 1.0, measured });
    }
}

fn response(len: usize) -> Bytes {
    let messages: Vec<_> =
        (0..MESSAGES).map(|i| MessageView::parse(frame(i as u64, len)).unwrap()).collect();
    let page: Vec<_> = messages
        .iter()
        .map(|message| {
            let hash = message_hash(PUBSUB_TOPIC, message, HashRule::ZeroTimestamp);
            KeyValue::new(hash, PUBSUB_TOPIC, message.raw())
        })
        .collect();
    let response = QueryResponseBuilder::new("request", 200, "OK").messages(&page).to_vec();
    let response = Bytes::from(response);
    // A share of a `Bytes` made from a `Vec` allocates its count once; a received buffer is shared.
    drop(response.clone());
    response
}

fn borrowed(response: &Bytes) -> usize {
    let response = QueryResponseView::parse(&response[..]).unwrap();
    let sizes = response.messages().map(|item| {
        let item = item.unwrap();
        item.message_hash().unwrap().0.len()
            + item.pubsub_topic().unwrap().len()
            + item.message().unwrap().unwrap().payload().len()
    });
    sizes.sum()
}

fn owned(response: &Bytes) -> usize {
    let response = QueryResponseView::parse(response.clone()).unwrap();
    let sizes = response.messages().map(|item| {
        let item = item.unwrap();
        item.message_hash().unwrap().0.len()
            + item.pubsub_topic().unwrap().len()
            + item.message().unwrap().unwrap().payload().len()
    });
    sizes.sum()
}

fn quick(response: &Bytes) -> usize {
    let response = QuickResponse::decode(response).unwrap();
    let sizes = response.messages.iter().map(|item| {
        item.message_hash.as_ref().unwrap().len()
            + item.pubsub_topic.as_ref().unwrap().len()
            + item.message.as_ref().unwrap().payload.len()
    });
    sizes.sum()
}

fn buffa(response: &Bytes) -> usize {
    let response = BuffaResponse::decode_view(response).unwrap();
    let sizes = response.messages.iter().map(|item| {
        item.message_hash.unwrap().len()
            + item.pubsub_topic.unwrap().len()
            + item.message.as_option().unwrap().payload.len()
    });
    sizes.sum()
}

fn buffa_lazy(response: &Bytes) -> usize {
    let response = BuffaLazyResponse::decode_lazy(response).unwrap();
    let sizes = response.messages.iter().map(|item| {
        let item = item.unwrap();
        item.message_hash.unwrap().len()
            + item.pubsub_topic.unwrap().len()
            + item.message.get().unwrap().unwrap().payload.len()
    });
    sizes.sum()
}

fn buffa_owned(response: &Bytes) -> usize {
    let response = BuffaOwnedResponse::decode(response.clone()).unwrap();
    let sizes = response.view().messages.iter().map(|item| {
        item.message_hash.unwrap().len()
            + item.pubsub_topic.unwrap().len()
            + item.message.as_option().unwrap().payload.len()
    });
    sizes.sum()
}

fn prost_bytes(response: &Bytes) -> usize {
    let response = ProstBytesResponse::decode(response.clone()).unwrap();
    let sizes = response.messages.iter().map(|item| {
        item.message_hash.as_ref().unwrap().len()
            + item.pubsub_topic.as_ref().unwrap().len()
            + item.message.as_ref().unwrap().payload.len()
    });
    sizes.sum()
}

fn prost_vec(response: &Bytes) -> usize {
    let response = ProstVecResponse::decode(&response[..]).unwrap();
    let sizes = response.messages.iter().map(|item| {
        item.message_hash.as_ref().unwrap().len()
            + item.pubsub_topic.as_ref().unwrap().len()
            + item.message.as_ref().unwrap().payload.len()
    });
    sizes.sum()
}

const MESSAGES: usize = 100;
