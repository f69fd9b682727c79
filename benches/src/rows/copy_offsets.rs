//! Row 3: large copies at every distance between source and target, modulo a page. glibc's memcpy
//! falls off a cliff at distances of 1 to 31 on AMD Zen 3.

use borrowire::output::{put_hex, put_slice};
use borrowire_benches::interleaved::{Ratio, cpu_ns};
use borrowire_benches::neg::{Offsets, PAGE, binary};

use super::Verdict;

pub(crate) fn run() -> Vec<Verdict> {
    let bytes = binary(LEN);
    println!("\n### 3: {LEN} bytes at all {PAGE} distances (target - source) mod {PAGE}\n");
    println!("| | best distance | worst distance | worst of best |\n|---|---:|---:|---:|");
    let memcpy = sweep("memcpy", &bytes, |from, to| to.extend_from_slice(from));
    let slice = sweep("put_slice", &bytes, |from, to| put_slice(to, from));
    // Half of the bytes, so that as many are written.
    let hex = sweep("put_hex", &bytes, |from, to| put_hex(to, &from[..LEN / 2]));
    let verdict = |claim: &str, target, worst: f64| Verdict {
        row: "3",
        claim: claim.to_owned(),
        target,
        measured: Ratio { low: worst, median: worst, high: worst },
    };
    vec![
        verdict("put_slice, worst distance of best", 0.75, slice),
        verdict("put_hex, worst distance of best", 0.75, hex),
        verdict("(memcpy, worst distance of best)", 0.0, memcpy),
    ]
}

/// The speed at the worst distance as a part of that at the best. Of each distance counts the
/// fastest of its repeats, spread over the run: with 4,096 of them, some always meet noise.
fn sweep(name: &str, bytes: &[u8], copy: impl Fn(&[u8], &mut Vec<u8>)) -> f64 {
    let mut offsets = Offsets::new(bytes);
    let mut times = vec![[0.0; REPEATS]; PAGE];
    for repeat in 0..REPEATS {
        for (distance, times) in times.iter_mut().enumerate() {
            offsets.copy(distance, &copy);
            let start = cpu_ns();
            for _ in 0..4 {
                offsets.copy(distance, &copy);
            }
            times[repeat] = (cpu_ns() - start) as f64;
        }
    }
    let fastest: Vec<f64> =
        times.iter().map(|times| times.iter().copied().fold(f64::INFINITY, f64::min)).collect();
    let by_time = |a: &usize, b: &usize| fastest[*a].total_cmp(&fastest[*b]);
    let best = (0..PAGE).min_by(by_time).unwrap_or_default();
    let worst = (0..PAGE).max_by(by_time).unwrap_or_default();
    let part = fastest[best] / fastest[worst];
    println!("| {name} | {best} | {worst} | {:.0} % |", 100.0 * part);
    part
}

/// At 512 KiB and more glibc copies in another way, which has no cliff.
const LEN: usize = 500 << 10;
const REPEATS: usize = 12;
