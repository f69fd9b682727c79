//! Row 3: large copies at every distance of target and source within a page.
//!
//! All 4,096 distances are timed in turns, round after round. The fastest and the slowest of them,
//! which luck picks, too, are then timed again.

use std::hint::black_box;

use borrowire::json::HexStr;
use borrowire::nostr::neg::NegMsg;
use borrowire::output::{put_hex, put_scanned, put_slice};
use borrowire_benches::interleaved::{cpu_ns, quartiles, ratio_of};
use borrowire_benches::memory::{PAGE, Placed, SOURCE};
use borrowire_benches::neg::{SUB, binary, const_hex_format};

use super::Verdict;

pub(crate) fn run() -> Vec<Verdict> {
    let binary = Placed::copy(&binary(LEN / 2), SOURCE);
    let binary = binary.bytes();
    let digits = Placed::copy(const_hex::encode(binary).as_bytes(), SOURCE);
    let digits = std::str::from_utf8(digits.bytes()).unwrap();
    let text = digits.as_bytes();
    let message = NegMsg { sub: SUB, message: HexStr::new(digits, "message").unwrap().into() };

    println!("\n### 3: 500 KiB written at every (target − source) mod 4096\n");
    println!("| | median, ns | worst at | worst in % of best | distances below 75 % of best |");
    println!("|---|---:|---:|---:|---:|");
    let put_slice = survey("put_slice", text, |out| put_slice(out, text));
    let put_hex = survey("put_hex", text, |out| put_hex(out, binary));
    let put_scanned = survey("put_scanned", text, |out| {
        put_scanned(out, text);
    });
    let frame = const_hex_format(binary);
    let write = survey("NegMsg::write, text", frame.as_bytes(), |out| message.write(out));
    survey("memcpy", text, |out| out.extend_from_slice(text));
    vec![put_slice, put_hex, put_scanned, write]
}

/// Times `write`, which writes `written`, at every distance, and prints a line of the table.
fn survey(name: &str, written: &[u8], mut write: impl FnMut(&mut Vec<u8>)) -> Verdict {
    let mut out = Placed::room(2 * LEN, 0);
    let start = out.refill().len();
    for distance in 0..PAGE {
        let out = out.refill();
        out.resize(start + distance, 0);
        write(out);
        assert!(out[start + distance..] == *written, "{name} at {distance}");
    }
    let mut time = |distance: usize| {
        let out = out.refill();
        out.resize(start + distance, 0);
        let before = cpu_ns();
        for _ in 0..CALLS {
            out.truncate(start + distance);
            write(out);
            black_box(&out[start..]);
        }
        (cpu_ns() - before) as f64 / CALLS as f64
    };
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let mut times = vec![0.0; PAGE];
        for i in 0..PAGE {
            // Neighbours in distance are not neighbours in time.
            let distance = i * STRIDE % PAGE;
            times[distance] = time(distance);
        }
        rounds.push(times);
    }
    // The clock of the machine changes from round to round.
    let middles: Vec<f64> = rounds.iter().map(|times| quartiles(times).median).collect();
    let relative = |distance: usize| {
        let times = rounds.iter().zip(&middles).map(|(times, middle)| times[distance] / middle);
        quartiles(&times.collect::<Vec<_>>()).median
    };
    let relative: Vec<f64> = (0..PAGE).map(relative).collect();
    let mut by_time: Vec<usize> = (0..PAGE).collect();
    by_time.sort_by(|a, b| relative[*a].total_cmp(&relative[*b]));
    let (best, worst) = (&by_time[..EDGE], &by_time[PAGE - EDGE..]);
    let mut again = vec![Vec::new(); PAGE];
    for _ in 0..super::ROUNDS {
        for &distance in best.iter().chain(worst) {
            again[distance].push(time(distance));
        }
    }
    let median = |distance: &usize| quartiles(&again[*distance]).median;
    let by_median = |a: &&usize, b: &&usize| median(a).total_cmp(&median(b));
    let best = best.iter().min_by(by_median).unwrap();
    let worst = worst.iter().max_by(by_median).unwrap();
    let measured = ratio_of(&again[*worst], &again[*best]);
    let slow = relative.iter().filter(|time| 0.75 * **time > relative[*best]).count();
    println!(
        "| {name} | {:.0} | {worst} | {:.0} % ({:.0}–{:.0}) | {slow} |",
        quartiles(&middles).median,
        100.0 * measured.median,
        100.0 * measured.low,
        100.0 * measured.high,
    );
    Verdict {
        row: "3",
        claim: format!("{name}: the worst distance against the best"),
        target: 0.75,
        measured,
    }
}

/// Bytes that are written.
const LEN: usize = 500 << 10;

/// Calls of one timing.
const CALLS: usize = 2;

/// Rounds over all distances.
const ROUNDS: usize = 9;

/// How many of the best and of the worst are timed again.
const EDGE: usize = 16;

/// Odd, so that its multiples visit all distances.
const STRIDE: usize = 1637;
