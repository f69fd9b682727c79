//! Row 10: SHA-256 of many messages, two at a time, beside sha2 one by one.

use borrowire::sha256::{Part, digest_many};
use borrowire_benches::interleaved::{Group, ratio};
use sha2::{Digest, Sha256};

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let sizes = [
        ("200 B", vec![200; 64]),
        ("1 kB", vec![1_000; 64]),
        ("10 kB", vec![10_000; 32]),
        ("65 kB", vec![65_000; 16]),
        ("150 kB", vec![150_000; 16]),
    ];
    let mixed = [
        ("10, 50 and 150 kB", [50_000, 10_000, 150_000, 50_000].repeat(8)),
        ("100 B to 4 kB", (0..128).map(|i| 100 + (i * 1_237) % 3_900).collect()),
    ];
    let mut verdicts = Vec::new();
    for (lens, target) in [(&sizes[..], 1.75), (&mixed[..], 1.6)] {
        for (name, lens) in lens {
            let payloads: Vec<Vec<u8>> =
                lens.iter().map(|len| (0..*len).map(|i| (i * 7) as u8).collect()).collect();
            let messages = || payloads.iter().enumerate().map(|(i, payload)| parts(i, payload));
            let one_by_one = |digests: &mut Vec<[u8; 32]>| {
                digests.clear();
                digests.extend(messages().map(|parts| {
                    let mut hasher = Sha256::new();
                    parts.iter().for_each(|part| hasher.update(part));
                    <[u8; 32]>::from(hasher.finalize())
                }));
            };
            let two_lanes = |digests: &mut Vec<[u8; 32]>| {
                digests.resize(payloads.len(), [0; 32]);
                digest_many(messages(), |i, digest| digests[i] = digest);
            };
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            two_lanes(&mut ours);
            one_by_one(&mut theirs);
            assert_eq!(ours, theirs);
            let title =
                format!("10: SHA-256 of {} messages of {name}, five parts each", lens.len());
            let mut group = Group::new(title);
            group.add("borrowire, two lanes", || two_lanes(&mut ours));
            group.add("sha2, one by one", || one_by_one(&mut theirs));
            let figures = group.run(ROUNDS);
            verdicts.push(Verdict {
                row: "10",
                claim: format!("two lanes against sha2 one by one, {name}"),
                target,
                measured: ratio(&figures[0], &figures[1]),
            });
        }
    }
    verdicts
}

/// What a Waku message hash is made of.
fn parts(i: usize, payload: &[u8]) -> [Part<'_>; 5] {
    [
        Part::Slice(b"/waku/2/rs/0/0"),
        Part::Slice(payload),
        Part::Slice(b"/waku/2/default-content/proto"),
        Part::Slice(&[]),
        Part::Word((i as u64).to_be_bytes()),
    ]
}
