//! The promises of the message path: a message is decoded once, hashed once, and never copied.

#![cfg(feature = "harness")]

use std::sync::{Mutex, PoisonError};

use borrowire::heap::CountingAllocator;
use borrowire::message_path::report::ArmReport;
use borrowire::message_path::{Arm, Options, run};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_message_is_decoded_once_hashed_once_and_never_copied() {
    for (gossip_id, filter_peers, duplicates) in every_load() {
        for report in measure(&OURS, gossip_id, filter_peers, duplicates) {
            let name = format!("{}, F = {filter_peers}, D = {duplicates}", report.arm.name());
            let received = if gossip_id { MESSAGES * (1 + duplicates as u64) } else { 0 };
            assert_eq!(report.counts.decodes, MESSAGES, "{name}: one decode a message");
            assert_eq!(report.counts.hashes, MESSAGES, "{name}: one hash a message");
            assert_eq!(report.counts.gossip_ids, received, "{name}: one gossip id a frame");
            assert_eq!(report.counts.payload_copies, 0, "{name}");
            assert_eq!(report.counts.foreign_payloads, 0, "{name}: a payload left its buffer");
        }
    }
}

/// Bytes that are allocated beyond the receive buffers would show a copy that nobody counted.
#[test]
fn nothing_of_a_payloads_size_is_allocated() {
    for (gossip_id, filter_peers, duplicates) in every_load() {
        let reports = measure(&WITH_LIMIT, gossip_id, filter_peers, duplicates);
        // The first arm allocates its receive buffers and nothing else.
        let received = reports[0].heap.allocated_bytes;
        for report in &reports[1..] {
            let beyond = report.heap.allocated_bytes - received;
            let each = beyond / MESSAGES;
            assert!(each < 2_000, "{}: {each} bytes a message", report.arm.name());
        }
    }
}

#[test]
fn the_checks_can_fail() {
    let reports = measure(&[Arm::Sha256Only, Arm::Owned], true, 5, 1);
    let counts = reports[1].counts;
    assert_eq!(counts.decodes, 5 * MESSAGES, "four, and one for the duplicate");
    assert_eq!(counts.hashes, 3 * MESSAGES);
    assert_eq!(counts.gossip_ids, 4 * MESSAGES);
    assert_eq!(counts.payload_copies, (2 * 5 + 7 + 1 + 5) * MESSAGES);
    assert!(counts.foreign_payloads > 0);
    let beyond = reports[1].heap.allocated_bytes - reports[0].heap.allocated_bytes;
    assert!(beyond / MESSAGES > 500_000);
}

fn every_load() -> impl Iterator<Item = (bool, usize, usize)> {
    let loads = [0, 1, 5, 20].into_iter().flat_map(|f| [0, 1, 6].map(|d| (true, f, d)));
    loads.chain([(false, 0, 0)])
}

/// The heap is counted for the whole process, so measurements take turns.
fn measure(arms: &[Arm], gossip_id: bool, peers: usize, duplicates: usize) -> Vec<ArmReport> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = Options::default();
    options.messages = MESSAGES as usize;
    options.warm_up = 4;
    options.gossip_id = gossip_id;
    options.filter_peers = peers;
    options.duplicates = duplicates;
    options.attempts = 1;
    run(&options, arms, |_, _| {})
}

const MESSAGES: u64 = 8;
const WITH_LIMIT: [Arm; 4] = [Arm::Sha256Only, Arm::Borrowire, Arm::Queue(4), Arm::Queue(16)];
const OURS: [Arm; 3] = [Arm::Borrowire, Arm::Queue(4), Arm::Queue(16)];
