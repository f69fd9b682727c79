//! Laws of a WakuMessage. The oracles are prost and SHA-256 over the concatenated fields.

use borrowire::buffer::Buffer;
use borrowire::proto;
use borrowire::rules::Rules;
use borrowire::waku::message::field;
use borrowire::waku::{HashRule, MessageBuilder, MessageView, message_hash};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::error_is_where_it_says;

/// A WakuMessage as prost reads it: the oracle for [`Rules::PROTO3`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProstMessage {
    #[prost(bytes = "vec", tag = "1")]
    pub payload: Vec<u8>,
    #[prost(string, tag = "2")]
    pub content_topic: String,
    #[prost(uint32, optional, tag = "3")]
    pub version: Option<u32>,
    #[prost(sint64, optional, tag = "10")]
    pub timestamp: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "11")]
    pub meta: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "21")]
    pub rate_limit_proof: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "31")]
    pub ephemeral: Option<bool>,
}

/// All laws of a WakuMessage, for bytes that may be anything.
pub fn any_message(frame: &[u8]) {
    let [strict, proto3, nwaku] = [Rules::STRICT, Rules::PROTO3, Rules::NWAKU]
        .map(|rules| MessageView::parse_with(frame, &rules));
    for view in [&strict, &proto3, &nwaku].into_iter().flatten() {
        view_is_whole(frame, view);
    }
    for error in [&strict, &proto3, &nwaku].into_iter().filter_map(|read| read.as_ref().err()) {
        error_is_where_it_says(frame, *error);
        assert!(!error.is_incomplete(), "{error}: a WakuMessage has no framing of its own");
    }
    strict_is_what_all_accept(&strict, &proto3, &nwaku);
    proto3_is_prost(frame, proto3.as_ref().ok());
}

/// A view gives the frame back, its parts lie in the frame, and a message built from it is equal.
fn view_is_whole(frame: &[u8], view: &MessageView<&[u8]>) {
    assert_eq!(view.raw(), frame);
    let within = |part: &[u8]| {
        part.is_empty()
            || frame.as_ptr_range().contains(&part.as_ptr()) && part.len() <= frame.len()
    };
    assert!(within(view.payload()) && within(view.content_topic_bytes()));
    assert!(within(view.meta()) && within(view.rate_limit_proof()));
    let topic = std::str::from_utf8(view.content_topic_bytes()).ok();
    assert_eq!(view.content_topic(), topic);
    assert_eq!(view.detach(), *view);
    let rebuilt = MessageBuilder::from_view(view);
    let bytes = rebuilt.to_vec();
    assert_eq!(bytes.len(), rebuilt.encoded_len());
    let again = MessageView::parse_with(&bytes[..], &Rules::PROTO3)
        .or_else(|_| MessageView::parse_with(&bytes[..], &Rules::NWAKU))
        .unwrap();
    assert_eq!(again, *view);
    assert!(again.unknown_fields().map(|f| f.raw).eq(view.unknown_fields().map(|f| f.raw)));
    hash_is_sha256_of_the_concatenation("/waku/2/rs/0/0", view);
}

/// What STRICT accepts, the others accept, and read alike.
fn strict_is_what_all_accept(
    strict: &Result<MessageView<&[u8]>, borrowire::Error>,
    proto3: &Result<MessageView<&[u8]>, borrowire::Error>,
    nwaku: &Result<MessageView<&[u8]>, borrowire::Error>,
) {
    if let Ok(strict) = strict {
        assert_eq!(proto3.as_ref(), Ok(strict));
        assert_eq!(nwaku.as_ref(), Ok(strict));
    }
}

/// PROTO3 reads what prost reads. Excepted are known fields of another wire type, which a
/// conforming parser skips and prost refuses.
fn proto3_is_prost(frame: &[u8], view: Option<&MessageView<&[u8]>>) {
    let prost: Option<ProstMessage> = prost::Message::decode(frame).ok();
    match (view, prost) {
        (Some(view), Some(prost)) => {
            assert_eq!(view.payload(), prost.payload);
            assert_eq!(view.content_topic(), Some(&*prost.content_topic));
            assert_eq!(view.version(), prost.version());
            assert_eq!(view.timestamp(), prost.timestamp());
            assert_eq!(view.meta(), prost.meta());
            assert_eq!(view.rate_limit_proof(), prost.rate_limit_proof());
            assert_eq!(view.ephemeral(), prost.ephemeral());
            assert_eq!(view.has(field::VERSION), prost.version.is_some());
            assert_eq!(view.has(field::TIMESTAMP), prost.timestamp.is_some());
            assert_eq!(view.has(field::META), prost.meta.is_some());
            assert_eq!(view.has(field::RATE_LIMIT_PROOF), prost.rate_limit_proof.is_some());
            assert_eq!(view.has(field::EPHEMERAL), prost.ephemeral.is_some());
        }
        (Some(view), None) => {
            let mut known_numbers =
                view.unknown_fields().filter(|f| KNOWN_NUMBERS.contains(&f.number));
            assert!(known_numbers.next().is_some(), "prost refuses what we accept");
        }
        (None, Some(_)) => panic!("prost accepts what we refuse"),
        (None, None) => {}
    }
}

/// The message hash is that of the concatenation, by either rule, for views of either kind.
pub fn hash_is_sha256_of_the_concatenation<B: Buffer>(topic: &str, view: &MessageView<B>) {
    let mut bytes = topic.as_bytes().to_vec();
    bytes.extend_from_slice(view.payload());
    bytes.extend_from_slice(view.content_topic_bytes());
    bytes.extend_from_slice(view.meta());
    let without_timestamp: [u8; 32] = Sha256::digest(&bytes).into();
    bytes.extend_from_slice(&view.timestamp().to_be_bytes());
    let with_timestamp: [u8; 32] = Sha256::digest(&bytes).into();
    assert_eq!(message_hash(topic, view, HashRule::ZeroTimestamp).0, with_timestamp);
    let omitted = if view.timestamp() == 0 { without_timestamp } else { with_timestamp };
    assert_eq!(message_hash(topic, view, HashRule::OmitZero).0, omitted);
}

/// What is built is read back, by prost too, in every style.
pub fn built_is_read_back(message: &ProstMessage) {
    let builder = builder(message);
    let styles = [builder.clone(), builder.clone().always_present(), builder.clone().omit_empty()];
    for builder in &styles {
        let bytes = builder.to_vec();
        assert_eq!(bytes.len(), builder.encoded_len());
        let view = MessageView::parse_with(Bytes::from(bytes), &Rules::PROTO3).unwrap();
        assert_eq!(view.payload(), message.payload);
        assert_eq!(view.payload_bytes(), message.payload);
        assert_eq!(view.content_topic(), Some(&*message.content_topic));
        assert_eq!(view.version(), message.version());
        assert_eq!(view.timestamp(), message.timestamp());
        assert_eq!(view.meta(), message.meta());
        assert_eq!(view.rate_limit_proof(), message.rate_limit_proof());
        assert_eq!(view.ephemeral(), message.ephemeral());
        any_message(view.raw());
    }
    assert_eq!(styles[2].to_vec(), prost::Message::encode_to_vec(message));
}

fn builder(message: &ProstMessage) -> MessageBuilder<'_> {
    let mut builder = MessageBuilder::new(&message.content_topic, &message.payload);
    if let Some(version) = message.version {
        builder = builder.version(version);
    }
    if let Some(timestamp) = message.timestamp {
        builder = builder.timestamp(timestamp);
    }
    if let Some(meta) = &message.meta {
        builder = builder.meta(meta);
    }
    if let Some(proof) = &message.rate_limit_proof {
        builder = builder.rate_limit_proof(proof);
    }
    if let Some(ephemeral) = message.ephemeral {
        builder = builder.ephemeral(ephemeral);
    }
    builder
}

/// The fields of any message, put back together, are the message.
pub fn proto_fields(message: &[u8]) {
    for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
        let fields: Result<Vec<_>, _> = proto::fields(message, &rules).collect();
        if let Ok(fields) = fields {
            let raw: Vec<_> = fields.iter().map(|field| field.raw).collect();
            assert_eq!(raw.concat(), message);
        }
    }
}

const KNOWN_NUMBERS: [u64; 7] = [1, 2, 3, 10, 11, 21, 31];

#[cfg(test)]
mod driven {
    use std::fs;

    use borrowire::hex::{self, Case, Hex};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::{corpus, every_damage};
    use super::*;

    #[test]
    fn by_the_fixtures() {
        for frame in fixture_frames() {
            any_message(&frame);
            proto_fields(&frame);
        }
    }

    #[test]
    fn by_damaged_fixtures() {
        for frame in fixture_frames().iter().filter(|frame| frame.len() < 100) {
            every_damage(frame, any_message);
        }
    }

    #[test]
    fn by_a_damaged_large_frame() {
        let payload: Vec<u8> = (0..6_000_u32).map(|i| (i * 177) as u8).collect();
        let message = MessageBuilder::new("/a/1/b/proto", &payload).timestamp(-1).always_present();
        every_damage(&message.to_vec(), any_message);
    }

    #[test]
    fn by_the_committed_corpus() {
        corpus("waku_message").iter().for_each(|frame| any_message(frame));
    }

    #[test]
    fn by_the_frames_of_prost() {
        let recorded = fs::read_to_string(PROST_FRAMES).unwrap();
        let recorded: Vec<_> = recorded.lines().map(unhex).collect();
        let messages = prost_messages();
        assert_eq!(recorded.len(), messages.len());
        for (frame, message) in recorded.iter().zip(&messages) {
            let encoded = prost::Message::encode_to_vec(message);
            assert_eq!(*frame, encoded, "prost changed, or the record is stale");
            built_is_read_back(message);
        }
    }

    #[test]
    #[ignore = "writes fixtures/waku/prost.hex"]
    fn record_the_frames_of_prost() {
        let frames =
            prost_messages().into_iter().map(|message| prost::Message::encode_to_vec(&message));
        let lines: String = frames.map(|frame| Hex(&frame).to_string() + "\n").collect();
        fs::write(PROST_FRAMES, lines).unwrap();
    }

    #[test]
    fn by_groups_as_deep_as_prost_takes_them() {
        for depth in 98..103 {
            for inside in [&b""[..], b"\x08\x01"] {
                any_message(&[&vec![0x2b; depth], inside, &vec![0x2c; depth]].concat());
            }
        }
    }

    proptest! {
        #[test]
        fn by_messages(message in message()) {
            built_is_read_back(&message);
        }

        #[test]
        fn by_noise(bytes in vec(any::<u8>(), 0..200)) {
            any_message(&bytes);
            proto_fields(&bytes);
        }

        /// Noise that looks like fields gets further than noise.
        #[test]
        fn by_fields(fields in vec(noisy_field(), 0..12)) {
            any_message(&fields.concat());
            proto_fields(&fields.concat());
        }

        #[test]
        fn by_messages_with_noise(message in message(), fields in vec(noisy_field(), 0..4), at: prop::sample::Index) {
            let mut bytes = prost::Message::encode_to_vec(&message);
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, fields.concat());
            any_message(&bytes);
        }
    }

    /// Messages whose lengths and numbers sit where varints and vectors change size.
    fn prost_messages() -> Vec<ProstMessage> {
        let lengths = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300];
        let timestamps =
            [None, Some(0), Some(1), Some(-1), Some(i64::MIN), Some(i64::MAX), Some(1 << 56)];
        let versions = [None, Some(0), Some(2), Some(127), Some(128), Some(u32::MAX)];
        let message = |i: usize| ProstMessage {
            payload: (0..lengths[i % lengths.len()]).map(|j| (177 * j + i) as u8).collect(),
            content_topic: format!("/waku-{}/1/é{i}/proto", "x".repeat(i)),
            version: versions[i % versions.len()],
            timestamp: timestamps[i % timestamps.len()],
            meta: (!i.is_multiple_of(4)).then(|| vec![i as u8; i % 65]),
            rate_limit_proof: i.is_multiple_of(5).then(|| vec![0xaa; 3 * i]),
            ephemeral: [None, Some(false), Some(true)][i % 3],
        };
        (0..60).map(message).collect()
    }

    fn message() -> impl Strategy<Value = ProstMessage> {
        let edge =
            prop::sample::select(vec![0_usize, 1, 15, 16, 17, 63, 64, 65, 127, 128, 16383, 16384]);
        let payload = prop_oneof![
            vec(any::<u8>(), 0..300),
            (edge, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
        ];
        let content_topic = prop_oneof![".{0,80}", "/[a-z]{1,20}/[0-9]/[a-z]{1,70}/proto"];
        (
            payload,
            content_topic,
            option::of(any::<u32>()),
            option::of(prop_oneof![any::<i64>(), Just(0)]),
            option::of(vec(any::<u8>(), 0..70)),
            option::of(vec(any::<u8>(), 0..340)),
            option::of(any::<bool>()),
        )
            .prop_map(
                |(
                    payload,
                    content_topic,
                    version,
                    timestamp,
                    meta,
                    rate_limit_proof,
                    ephemeral,
                )| {
                    ProstMessage {
                        payload,
                        content_topic,
                        version,
                        timestamp,
                        meta,
                        rate_limit_proof,
                        ephemeral,
                    }
                },
            )
    }

    /// A field of a number that matters, of any wire type, with a value that is right more often
    /// than not; groups are opened and closed at random.
    fn noisy_field() -> impl Strategy<Value = Vec<u8>> {
        let number = prop::sample::select(vec![0_u64, 1, 2, 3, 4, 10, 11, 21, 31, 100, 1 << 29]);
        (number, 0_u64..8, vec(any::<u8>(), 0..20), any::<u64>(), 0_u32..64, any::<bool>())
            .prop_map(|(number, wire_type, bytes, value, shift, padded)| {
                let mut out = Vec::new();
                proto::put_varint(&mut out, number << 3 | wire_type);
                if padded && bytes.len() == 1 {
                    let last = out.len() - 1;
                    out[last] |= 0x80;
                    out.push(0);
                }
                match wire_type {
                    0 => proto::put_varint(&mut out, value >> shift),
                    1 => out.extend_from_slice(&value.to_le_bytes()),
                    2 => {
                        proto::put_varint(&mut out, bytes.len() as u64);
                        out.extend_from_slice(&bytes);
                    }
                    5 => out.extend_from_slice(&value.to_le_bytes()[..4]),
                    _ => {}
                }
                out
            })
    }

    fn fixture_frames() -> Vec<Vec<u8>> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/waku/decode.json");
        let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let cases = cases["cases"].as_array().unwrap();
        cases.iter().map(|case| unhex(case["hex"].as_str().unwrap())).collect()
    }

    fn unhex(hex: &str) -> Vec<u8> {
        let mut bytes = vec![0; hex.len() / 2];
        hex::decode(hex.as_bytes(), &mut bytes, Case::Lower, "fixture").unwrap();
        bytes
    }

    const PROST_FRAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/waku/prost.hex");
}
