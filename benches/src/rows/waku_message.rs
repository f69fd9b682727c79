//! Row 8: a WakuMessage read, at every payload size.

use borrowire::waku::MessageView;
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::waku::{
    BuffaOwnedView, BuffaView, CONTENT_TOPIC, ProstBytes, ProstVec, QuickProtobuf, frame,
};
use buffa::view::MessageView as _;
use prost::Message;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for len in [1_000, 10_000, 50_000, 150_000] {
        let frame = frame(7, len);
        // A share of a `Bytes` made from a `Vec` allocates its count once; a received buffer is
        // shared already.
        let frame = &frame.clone();
        assert_alike(frame);
        let mut group = Group::new(format!("8: WakuMessage of {len} bytes of payload"));
        group
            .add("borrowire, borrowed", || MessageView::parse(&frame[..]).unwrap())
            .add("borrowire, owned", || MessageView::parse(frame.clone()).unwrap())
            .add("quick-protobuf", || QuickProtobuf::decode(frame).unwrap())
            .add("buffa view", || BuffaView::decode_view(frame).unwrap())
            .add("buffa owned view", || BuffaOwnedView::decode(frame.clone()).unwrap())
            .add("prost Bytes", || ProstBytes::decode(frame.clone()).unwrap())
            .add("prost Vec", || ProstVec::decode(&frame[..]).unwrap());
        let figures = group.run(ROUNDS);
        for (ours, rivals) in [(0, &[2, 3][..]), (1, &[4, 5, 6])] {
            assert_eq!(figures[ours].allocations, 0.0);
            for &rival in rivals {
                verdicts.push(Verdict {
                    row: "8",
                    claim: format!(
                        "{} is first against {}, {len} B",
                        figures[ours].name, figures[rival].name
                    ),
                    target: 1.0,
                    measured: ratio(&figures[ours], &figures[rival]),
                });
            }
        }
    }
    verdicts
}

/// All contenders read the same, or the times mean nothing.
fn assert_alike(frame: &bytes::Bytes) {
    let view = MessageView::parse(frame.clone()).unwrap();
    assert_eq!(view.content_topic(), Some(CONTENT_TOPIC));
    let quick = QuickProtobuf::decode(frame).unwrap();
    assert_eq!((&*quick.payload, &*quick.content_topic), (view.payload(), CONTENT_TOPIC));
    assert_eq!((quick.version, quick.timestamp), (Some(view.version()), Some(view.timestamp())));
    let buffa = BuffaView::decode_view(frame).unwrap();
    assert_eq!((buffa.payload, buffa.content_topic), (view.payload(), CONTENT_TOPIC));
    assert_eq!((buffa.version, buffa.timestamp), (Some(view.version()), Some(view.timestamp())));
    let prost = ProstVec::decode(&frame[..]).unwrap();
    assert_eq!((&prost.payload[..], &*prost.content_topic), (view.payload(), CONTENT_TOPIC));
    let prost = ProstBytes::decode(frame.clone()).unwrap();
    assert_eq!((prost.version(), prost.timestamp()), (view.version(), view.timestamp()));
}
