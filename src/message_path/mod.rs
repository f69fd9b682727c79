//! What a receiving Waku node gains by decoding once, hashing once and sharing by reference: its
//! path of a message, walked by several arms, measured side by side.
//!
//! The stations are those of a node: gossip id and seen-set, validator, observer, trace, filter
//! push, archive, store-sync, event, application, message cache. The arms ([`Arm`]) do the same at
//! each of them by different means. The workload and the columns follow the benchmark of
//! logos-delivery, which measured the same step in Nim.
//!
//! A frame's buffer is made just before the frame is received, off the clock but on the account of
//! the heap; the clock runs while the stations work. Arms take turns, so that what else the machine
//! does meets all of them. With [`CountingAllocator`](crate::heap::CountingAllocator) installed the
//! heap is measured too.

mod arms;
mod node;
pub mod report;
pub mod rivals;
pub mod workload;

use std::time::{Duration, Instant};

use bytes::Bytes;

use self::arms::Receiver;
pub use self::arms::{Arm, ArmNode};
use self::report::ArmReport;
use self::workload::Workload;
use crate::heap::{heap, take_peak};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Messages that are measured. Default 1,000.
    pub messages: usize,
    /// Messages before them that are not. Default 100.
    pub warm_up: usize,
    /// Decides the order of the sizes. Default 42.
    pub seed: u64,
    /// Whether frames are identified and deduplicated by their gossip id. Default false: the
    /// original did not count that hash.
    pub gossip_id: bool,
    /// Peers that a filter pushes every message to (F). Default 0.
    pub filter_peers: usize,
    /// Further copies of every frame that come in and end at the seen-set (D). They need
    /// `gossip_id`. Default 0.
    pub duplicates: usize,
    /// Whether the node keeps a message cache of its own. Default true; a gossip library has one.
    pub message_cache: bool,
    /// How often the two runs are tried, where they differ by over [`MAX_DIFFERENCE`]. Default 3.
    pub attempts: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            messages: 1000,
            warm_up: 100,
            seed: 42,
            gossip_id: false,
            filter_peers: 0,
            duplicates: 0,
            message_cache: true,
            attempts: 3,
        }
    }
}

/// Runs the arms, twice each, and reports the second run. Where the two differ by over
/// [`MAX_DIFFERENCE`], all is run again, so that arms are compared within one run.
///
/// `progress` is told how many messages are done of how many; reruns start it again.
pub fn run(options: &Options, arms: &[Arm], mut progress: impl FnMut(u64, u64)) -> Vec<ArmReport> {
    let mut options = *options;
    options.gossip_id |= options.duplicates > 0;
    let total = 2 * (arms.len() * (options.messages + options.warm_up)) as u64;
    for attempt in 1.. {
        let mut done = 0;
        let mut both_runs = [0, 1].map(|run| {
            // No two runs of a process have a message in common.
            let first = (2 * attempt + run) as u64 * (options.messages + options.warm_up) as u64;
            run_once(&options, arms, first, |messages| {
                done += messages as u64;
                progress(done, total);
            })
        });
        let [first, second] = &mut both_runs;
        for (first, second) in first.iter().zip(second.iter_mut()) {
            let (a, b) = (first.messages_per_second(), second.messages_per_second());
            second.difference = (a - b).abs() / a.max(b);
            second.attempts = attempt;
        }
        let is_steady = second.iter().all(|report| report.difference <= MAX_DIFFERENCE);
        if is_steady || attempt >= options.attempts {
            let [_, second] = both_runs;
            return second;
        }
    }
    unreachable!("the last attempt returns")
}

/// How far two runs may differ: 5 %, as in the original.
pub const MAX_DIFFERENCE: f64 = 0.05;

/// One run of all arms, in turns.
fn run_once(
    options: &Options,
    arms: &[Arm],
    first: u64,
    mut progress: impl FnMut(usize),
) -> Vec<ArmReport> {
    let messages = options.warm_up + options.messages;
    let workload = Workload::new(messages, options.seed, first);
    let mut walks: Vec<_> = arms.iter().map(|arm| Walk::new(*arm, options)).collect();
    let mut at = 0;
    while at < messages {
        // The warm-up is a slice of its own.
        let end = if at < options.warm_up { options.warm_up } else { (at + SLICE).min(messages) };
        for walk in &mut walks {
            walk.receive(options, &workload, at, end);
            progress(end - at);
        }
        walks.rotate_left(1);
        at = end;
    }
    walks.sort_by_key(|walk| arms.iter().position(|arm| *arm == walk.arm));
    walks.into_iter().map(|walk| walk.report).collect()
}

/// An arm on its way through the workload.
struct Walk {
    arm: Arm,
    receiver: Box<dyn Receiver>,
    waiting: Vec<Bytes>,
    report: ArmReport,
}

impl Walk {
    fn new(arm: Arm, options: &Options) -> Self {
        Self {
            arm,
            receiver: arm.start(options),
            waiting: Vec::with_capacity(arm.batch()),
            report: ArmReport::new(arm, options),
        }
    }

    /// Receives messages `start..end` of the workload, with their duplicates.
    fn receive(&mut self, options: &Options, workload: &Workload, start: usize, end: usize) {
        take_peak();
        let before = heap();
        let tally = *self.receiver.tally();
        let copies = 1 + options.duplicates;
        let mut took = Duration::ZERO;
        let mut handled = start;
        for frame in start * copies..end * copies {
            self.waiting.push(workload.frame(frame / copies));
            let is_last = frame + 1 == end * copies;
            if self.waiting.len() < self.arm.batch() && !is_last {
                continue;
            }
            let clock = Instant::now();
            self.receiver.receive(&mut self.waiting);
            took += clock.elapsed();
            // A message is done when its last copy is.
            let done = (frame + 1) / copies;
            if done == handled {
                continue;
            }
            let each = took / (done - handled) as u32;
            self.report.record(each, done - handled);
            took = Duration::ZERO;
            for message in handled + 1..=done {
                if message.is_multiple_of(HEAP_SAMPLE) {
                    self.report.sample_heap((heap() - before).live_bytes());
                }
            }
            handled = done;
        }
        let spent = heap() - before;
        let peak = take_peak() - before.live_bytes();
        if start < options.warm_up {
            self.report.warmed_up(spent.live_bytes());
        } else {
            self.report.add(*self.receiver.tally() - tally, spent, peak);
        }
    }
}

/// Messages that an arm handles before it is the next one's turn.
const SLICE: usize = 100;
/// The heap is looked at every so many messages.
const HEAP_SAMPLE: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_reported_in_their_order() {
        let options = Options { messages: 30, warm_up: 4, attempts: 1, ..Options::default() };
        let mut told = 0;
        let reports = run(&options, &Arm::ALL, |done, total| {
            assert_eq!(total, 2 * 6 * 34);
            told = done;
        });
        assert_eq!(told, 2 * 6 * 34);
        assert!(reports.iter().map(|report| report.arm).eq(Arm::ALL));
        assert!(reports.iter().all(|report| report.latencies.len() == 30));
    }
}
