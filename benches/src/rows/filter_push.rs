//! Row 13: a filter push to twenty peers written from a received message, and one read.

use std::hint::black_box;
use std::io::IoSlice;

use borrowire::waku::MessageView;
use borrowire::waku::filter::{PushView, push};
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::relay::{
    BuffaPush, PUBSUB_TOPIC, ProstBytesPush, ProstVecPush, QuickPush, quick_push,
};
use borrowire_benches::waku::{ProstBytes, ProstVec, frame};
use buffa::view::MessageView as _;
use bytes::{Buf, Bytes};
use prost::Message;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for len in [1_000, 50_000, 150_000] {
        let frame = &frame(7, len);
        drop(frame.clone());
        written(len, frame, &mut verdicts);
        read(len, frame, &mut verdicts);
    }
    verdicts
}

/// A message has been read; each of the peers is handed the slices of a push of it.
fn written(len: usize, frame: &Bytes, verdicts: &mut Vec<Verdict>) {
    let view = &MessageView::parse(frame.clone()).unwrap();
    let vec_message = &ProstVec::decode(&frame[..]).unwrap();
    let bytes_message = &ProstBytes::decode(frame.clone()).unwrap();
    let vec_push = || {
        let waku_message = Some(vec_message.clone());
        ProstVecPush { waku_message, pubsub_topic: PUBSUB_TOPIC.to_owned() }.encode_to_vec()
    };
    let bytes_push = || {
        let waku_message = Some(bytes_message.clone());
        let push = ProstBytesPush { waku_message, pubsub_topic: PUBSUB_TOPIC.to_owned() };
        Bytes::from(push.encode_to_vec())
    };
    assert_eq!(push(PUBSUB_TOPIC, view).to_vec(), vec_push());
    assert_eq!(quick_push(frame), vec_push());
    assert_eq!(bytes_push(), vec_push());
    let mut group = Group::new(format!("13: filter push of {len} bytes, to {PEERS} peers"));
    group
        .add("borrowire", || {
            let push = push(PUBSUB_TOPIC, view);
            for _ in 0..PEERS {
                send(push.clone());
            }
        })
        .add("quick-protobuf, shared", || {
            let push = Bytes::from(quick_push(frame));
            for _ in 0..PEERS {
                send(push.clone());
            }
        })
        .add("prost Bytes, shared", || {
            let push = bytes_push();
            for _ in 0..PEERS {
                send(push.clone());
            }
        })
        .add("prost Vec, copied", || {
            let push = vec_push();
            for _ in 0..PEERS {
                send(&push.clone()[..]);
            }
        });
    let figures = group.run(ROUNDS);
    assert_eq!(figures[0].allocations, 0.0);
    for (rival, target) in [(1, 1.0), (2, 1.0), (3, 5.0)] {
        let claim = format!("written, against {}, {len} B", figures[rival].name);
        let measured = ratio(&figures[0], &figures[rival]);
        verdicts.push(Verdict { row: "13", claim, target, measured });
    }
}

fn read(len: usize, frame: &Bytes, verdicts: &mut Vec<Verdict>) {
    let push = &Bytes::from(quick_push(frame));
    drop(push.clone());
    let mut group = Group::new(format!("13: filter push of {len} bytes, read"));
    let payload_len = |message: MessageView<&[u8]>| message.payload().len();
    let borrowed = PushView::parse(&push[..]).unwrap();
    assert_eq!(payload_len(borrowed.waku_message().unwrap()), len);
    group
        .add("borrowire, borrowed", || {
            let push = PushView::parse(&push[..]).unwrap();
            (push.pubsub_topic().unwrap().len(), push.waku_message().unwrap())
        })
        .add("borrowire, owned", || {
            let push = PushView::parse(push.clone()).unwrap();
            (push.pubsub_topic().unwrap().len(), push.waku_message().unwrap())
        })
        .add("quick-protobuf", || QuickPush::decode(push).unwrap())
        .add("buffa view", || BuffaPush::decode_view(push).unwrap())
        .add("prost Bytes", || ProstBytesPush::decode(push.clone()).unwrap())
        .add("prost Vec", || ProstVecPush::decode(&push[..]).unwrap());
    let figures = group.run(ROUNDS);
    for (ours, rival, target) in [(0, 2, 1.0), (0, 3, 1.0), (1, 4, 1.0), (1, 5, 5.0)] {
        let (ours, rival) = (&figures[ours], &figures[rival]);
        let claim = format!("read, {} against {}, {len} B", ours.name, rival.name);
        verdicts.push(Verdict { row: "13", claim, target, measured: ratio(ours, rival) });
    }
}

/// What a socket does with a frame, but for the call of the system.
fn send(mut frame: impl Buf) {
    while frame.has_remaining() {
        let mut slices = [IoSlice::new(&[]); 4];
        let count = frame.chunks_vectored(&mut slices);
        let sent = black_box(&slices[..count]).iter().map(|slice| slice.len()).sum();
        frame.advance(sent);
    }
}

const PEERS: usize = 20;
