//! Row 9: the path of a message through a node. Needs the feature `path`: it counts decodes and
//! hashes, which would be charged to the other rows.

use borrowire::message_path::{Arm, Options, run as run_path};
use borrowire_benches::interleaved::quartiles;

use super::Verdict;

pub(crate) fn run() -> Vec<Verdict> {
    let mut options = Options::default();
    options.attempts = 1;
    let speeds: Vec<Vec<f64>> = (0..REPEATS)
        .map(|_| {
            let reports = run_path(&options, &Arm::ALL, |_, _| {});
            reports.iter().map(|report| report.messages_per_second()).collect()
        })
        .collect();
    let speed = |run: &[f64], arm| run[Arm::ALL.iter().position(|a| *a == arm).unwrap()];
    let claims = [
        ("one lane against the owned arm", Arm::Borrowire, Arm::Owned, 5.0),
        ("one lane against one SHA-256 a message", Arm::Borrowire, Arm::Sha256Only, 0.95),
        ("queue of 16 against the owned arm", Arm::Queue(16), Arm::Owned, 8.5),
        ("queue of 16 against prost Bytes, everything once", Arm::Queue(16), Arm::ProstBytes, 1.5),
        ("queue of 4 against prost Bytes, everything once", Arm::Queue(4), Arm::ProstBytes, 1.0),
    ];
    claims
        .into_iter()
        .map(|(claim, ours, rival, target)| {
            let ratios: Vec<f64> =
                speeds.iter().map(|run| speed(run, ours) / speed(run, rival)).collect();
            let measured = quartiles(&ratios);
            Verdict { row: "9", claim: claim.to_owned(), target, measured }
        })
        .collect()
}

/// Runs of all arms, each of 1,000 messages twice.
const REPEATS: usize = 9;
