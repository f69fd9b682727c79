//! Row 12: a gossip RPC of ten messages read, down to each message's payload.

use borrowire::waku::gossip::{Publish, RpcBuilder, RpcView};
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::relay::{BuffaRpc, PUBSUB_TOPIC, ProstBytesRpc, ProstVecRpc, QuickRpc};
use borrowire_benches::waku::{BuffaView, ProstBytes, ProstVec, QuickProtobuf, frame};
use buffa::view::MessageView as _;
use bytes::Bytes;
use prost::Message;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for len in [1_000, 10_000, 50_000] {
        let rpc = &rpc(len);
        let expected = MESSAGES * (len + PUBSUB_TOPIC.len());
        for read in [borrowed, owned, quick, buffa, prost_bytes, prost_vec] {
            assert_eq!(read(rpc), expected, "all contenders read the same");
        }
        let mut group = Group::new(format!("12: gossip RPC of {MESSAGES} messages of {len} bytes"));
        group
            .add("borrowire, borrowed", || borrowed(rpc))
            .add("borrowire, owned", || owned(rpc))
            .add("quick-protobuf", || quick(rpc))
            .add("buffa view", || buffa(rpc))
            .add("prost Bytes", || prost_bytes(rpc))
            .add("prost Vec", || prost_vec(rpc));
        let figures = group.run(ROUNDS);
        let mut claim = |ours: usize, rival: usize, target: f64| {
            assert_eq!(figures[ours].allocations, 0.0);
            let (ours, rival) = (&figures[ours], &figures[rival]);
            let claim = format!("{} against {}, {len} B", ours.name, rival.name);
            verdicts.push(Verdict { row: "12", claim, target, measured: ratio(ours, rival) });
        };
        claim(0, 2, 1.0);
        claim(0, 3, 1.0);
        claim(1, 4, 1.0);
        claim(1, 5, 5.0);
    }
    verdicts
}

fn rpc(len: usize) -> Bytes {
    let messages: Vec<_> = (0..MESSAGES).map(|i| frame(i as u64, len)).collect();
    let publish: Vec<_> =
        messages.iter().map(|data| Publish { topic: PUBSUB_TOPIC, data }).collect();
    let rpc = Bytes::from(RpcBuilder::new().publish(&publish).to_vec());
    // A share of a `Bytes` made from a `Vec` allocates its count once; a received buffer is shared.
    drop(rpc.clone());
    rpc
}

fn borrowed(rpc: &Bytes) -> usize {
    let rpc = RpcView::parse(&rpc[..]).unwrap();
    let sizes = rpc.publish().map(|published| {
        let published = published.unwrap();
        published.topic().unwrap().len() + published.waku_message().unwrap().payload().len()
    });
    sizes.sum()
}

fn owned(rpc: &Bytes) -> usize {
    let rpc = RpcView::parse(rpc.clone()).unwrap();
    let sizes = rpc.publish().map(|published| {
        let published = published.unwrap();
        published.topic().unwrap().len() + published.waku_message().unwrap().payload().len()
    });
    sizes.sum()
}

fn quick(rpc: &Bytes) -> usize {
    let rpc = QuickRpc::decode(rpc).unwrap();
    let sizes = rpc.publish.iter().map(|published| {
        let message = QuickProtobuf::decode(published.data.as_deref().unwrap()).unwrap();
        published.topic.len() + message.payload.len()
    });
    sizes.sum()
}

fn buffa(rpc: &Bytes) -> usize {
    let rpc = BuffaRpc::decode_view(rpc).unwrap();
    let sizes = rpc.publish.iter().map(|published| {
        let message = BuffaView::decode_view(published.data.unwrap()).unwrap();
        published.topic.len() + message.payload.len()
    });
    sizes.sum()
}

fn prost_bytes(rpc: &Bytes) -> usize {
    let rpc = ProstBytesRpc::decode(rpc.clone()).unwrap();
    let sizes = rpc.publish.into_iter().map(|published| {
        let message = ProstBytes::decode(published.data.unwrap()).unwrap();
        published.topic.len() + message.payload.len()
    });
    sizes.sum()
}

fn prost_vec(rpc: &Bytes) -> usize {
    let rpc = ProstVecRpc::decode(&rpc[..]).unwrap();
    let sizes = rpc.publish.iter().map(|published| {
        let message = ProstVec::decode(published.data.as_deref().unwrap()).unwrap();
        published.topic.len() + message.payload.len()
    });
    sizes.sum()
}

const MESSAGES: usize = 10;
