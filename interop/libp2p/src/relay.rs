//! The macro scenario of logos-delivery's benchmark: one relay node publishes, another receives and
//! handles by one of the arms, over loopback TCP with noise and yamux.
//!
//! Each node has a thread of its own, so the counts of the receiver's thread are the receiver's.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use borrowire::counters;
use borrowire::heap::{Heap, heap, take_peak};
use borrowire::message_path::report::PathCounts;
use borrowire::message_path::workload::Workload;
use borrowire::message_path::{Arm, ArmNode, Options};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use libp2p::gossipsub::{Event, MessageAcceptance};
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, Swarm};
use tokio::sync::Notify;

use crate::node::{
    Behaviour, BehaviourEvent, has_mesh, known_id, listen, swarm, topic, work_for, work_until,
};

/// What one arm did.
pub struct Run {
    pub arm: Arm,
    pub messages: usize,
    /// From the first publish to the last arrival.
    pub wall: Duration,
    /// Times between arrivals at the application, sorted.
    pub gaps: Vec<Duration>,
    /// What the receiver did, gossip ids included.
    pub counts: PathCounts,
    pub hash_time: Duration,
    /// What the process allocated, both nodes.
    pub heap: Heap,
    /// The most bytes that the process held, both nodes.
    pub peak_bytes: i64,
    /// Time that the receiver's thread spent on a processor: libp2p's work and the arm's.
    pub cpu_time: Duration,
}

/// Runs the scenario once. Errs if a message is lost, or if the borrowing arm breaks a promise.
pub fn run(arm: Arm, messages: usize) -> Result<Run> {
    let progress = Arc::new(Progress::default());
    let (tell, told) = mpsc::channel();
    let receiver = thread::spawn({
        let progress = Arc::clone(&progress);
        move || block_on(receive(arm, messages, &tell, &progress))
    });
    // Without an address the receiver has failed, and says why.
    let started = match told.recv() {
        Ok(address) => Some(block_on(publish(messages, address, &progress))),
        Err(_) => None,
    };
    progress.is_over.store(true, SeqCst);
    let received = receiver.join().map_err(|_| anyhow::anyhow!("the receiver panicked"))?;
    let started = started.transpose()?;
    let mut run = received?;
    let Received { arrivals, .. } = &run;
    ensure!(arrivals.len() == messages, "{} of {messages} arrived", arrivals.len());
    let started = started.context("the publisher did not start")?;
    let mut gaps: Vec<_> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let wall = run.arrivals[messages - 1] - started;
    run.check(arm, messages as u64)?;
    let Received { counts, hash_time, heap, peak_bytes, cpu_time, .. } = run;
    Ok(Run { arm, messages, wall, gaps, counts, hash_time, heap, peak_bytes, cpu_time })
}

/// What both nodes know.
#[derive(Default)]
struct Progress {
    has_mesh: AtomicBool,
    received: AtomicUsize,
    /// Wakes the publisher.
    arrival: Notify,
    is_over: AtomicBool,
}

/// What the receiver noted of the measured messages.
struct Received {
    arrivals: Vec<Instant>,
    counts: PathCounts,
    /// What borrowire counted on the receiver's thread, whichever part of it.
    counted: counters::Counts,
    hash_time: Duration,
    heap: Heap,
    peak_bytes: i64,
    cpu_time: Duration,
}

impl Received {
    /// The promises: one decode, one hash and one gossip id a message, none computed again by anyone
    /// on the thread; no copy; and every station, the application too, reads the payload in the
    /// buffer that libp2p handed over.
    fn check(&mut self, arm: Arm, messages: u64) -> Result<()> {
        let counted = self.counted;
        ensure!(counted.gossip_ids == messages, "{} gossip ids", counted.gossip_ids);
        self.counts.gossip_ids = counted.gossip_ids;
        match arm {
            Arm::Borrowire => {
                let PathCounts { decodes, hashes, payload_copies, foreign_payloads, .. } =
                    self.counts;
                ensure!((decodes, hashes) == (messages, messages), "{:?}", self.counts);
                ensure!((payload_copies, foreign_payloads) == (0, 0), "{:?}", self.counts);
                ensure!((counted.decodes, counted.hashes) == (messages, messages), "{counted:?}");
                ensure!(counted.copies == 0, "{counted:?}");
            }
            Arm::Owned => {
                let PathCounts { decodes, hashes, foreign_payloads, .. } = self.counts;
                ensure!((decodes, hashes) == (4 * messages, 3 * messages), "{:?}", self.counts);
                ensure!(foreign_payloads > 0, "the check for foreign payloads cannot fail");
            }
            _ => {}
        }
        Ok(())
    }
}

/// The receiving node, until all have arrived or the publisher has given up.
async fn receive(
    arm: Arm,
    messages: usize,
    tell: &mpsc::Sender<Multiaddr>,
    progress: &Progress,
) -> Result<Received> {
    let mut swarm = swarm()?;
    swarm.behaviour_mut().gossipsub.subscribe(&topic())?;
    tell.send(listen(&mut swarm).await?)?;
    work_until(&mut swarm, "the receiver's mesh", has_mesh).await?;
    progress.has_mesh.store(true, SeqCst);

    let mut options = Options::default();
    (options.messages, options.warm_up) = (messages, WARM_UP);
    let mut node = ArmNode::new(arm, &options);
    receive_some(&mut swarm, &mut node, WARM_UP, progress).await?;

    let warm = (node.counts(), counters::thread(), node.hash_time(), heap(), thread_cpu_time());
    take_peak();
    let arrivals = receive_some(&mut swarm, &mut node, messages, progress).await?;
    Ok(Received {
        arrivals,
        counts: difference(node.counts(), warm.0),
        counted: counters::thread() - warm.1,
        hash_time: node.hash_time() - warm.2,
        heap: heap() - warm.3,
        peak_bytes: take_peak(),
        cpu_time: thread_cpu_time() - warm.4,
    })
}

/// Receives `count` messages and says when each had been handled.
async fn receive_some(
    swarm: &mut Swarm<Behaviour>,
    node: &mut ArmNode,
    count: usize,
    progress: &Progress,
) -> Result<Vec<Instant>> {
    let mut arrivals = Vec::with_capacity(count);
    while arrivals.len() < count {
        let event = tokio::time::timeout(Duration::from_secs(1), swarm.select_next_some()).await;
        ensure!(event.is_ok() || !progress.is_over.load(SeqCst), "{} came", arrivals.len());
        let Ok(SwarmEvent::Behaviour(BehaviourEvent::Gossipsub(Event::Message {
            propagation_source,
            message_id,
            message,
        }))) = event
        else {
            continue;
        };
        let handed_over = message.data.as_ptr();
        let frame = Bytes::from(message.data);
        ensure!(frame.as_ptr() == handed_over, "libp2p's buffer was copied");
        let verdict = match node.receive(frame, known_id(&message_id)?) {
            true => MessageAcceptance::Accept,
            false => MessageAcceptance::Reject,
        };
        swarm.behaviour_mut().gossipsub.report_message_validation_result(
            &message_id,
            &propagation_source,
            verdict,
        );
        arrivals.push(Instant::now());
        progress.received.fetch_add(1, SeqCst);
        progress.arrival.notify_one();
    }
    Ok(arrivals)
}

/// The publishing node. Returns when the first measured message was published, once all have
/// arrived.
async fn publish(messages: usize, receiver: Multiaddr, progress: &Progress) -> Result<Instant> {
    let mut swarm = swarm()?;
    swarm.behaviour_mut().gossipsub.subscribe(&topic())?;
    swarm.dial(receiver)?;
    work_until(&mut swarm, "the mesh", |swarm| has_mesh(swarm) && progress.has_mesh.load(SeqCst))
        .await?;

    let warm_up = Workload::new(WARM_UP, SEED, 0);
    publish_all(&mut swarm, &warm_up, 0, progress).await?;
    work_for(&mut swarm, Duration::from_millis(500)).await;

    let workload = Workload::new(messages, SEED, WARM_UP as u64);
    let started = Instant::now();
    publish_all(&mut swarm, &workload, WARM_UP, progress).await?;
    Ok(started)
}

/// Publishes a workload, at most [`WINDOW`] messages ahead of the receiver, and waits for the last.
async fn publish_all(
    swarm: &mut Swarm<Behaviour>,
    workload: &Workload,
    before: usize,
    progress: &Progress,
) -> Result<()> {
    for i in 0..workload.len() {
        let data = Vec::from(workload.frame(i));
        swarm.behaviour_mut().gossipsub.publish(topic(), data)?;
        // Lets the connection take it.
        while swarm.select_next_some().now_or_never().is_some() {}
        tokio::task::yield_now().await;
        let enough = before + (i + 1).saturating_sub(WINDOW);
        work_until_received(swarm, progress, enough).await?;
    }
    work_until_received(swarm, progress, before + workload.len()).await
}

/// Lets the node work until the receiver has this many messages, for 30 seconds at most. (The
/// original looks once a millisecond, which at this speed would measure the sleep.)
async fn work_until_received(
    swarm: &mut Swarm<Behaviour>,
    progress: &Progress,
    count: usize,
) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while progress.received.load(SeqCst) < count {
        let arrival = progress.arrival.notified();
        ensure!(Instant::now() < deadline, "{count} messages did not arrive");
        tokio::select! {
            () = arrival => {}
            _ = swarm.select_next_some() => {}
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
    Ok(())
}

/// Nanoseconds that this thread has spent on a processor; 0 where the system does not tell.
fn thread_cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn difference(after: PathCounts, before: PathCounts) -> PathCounts {
    let mut counts = after;
    counts.decodes -= before.decodes;
    counts.decoded_bytes -= before.decoded_bytes;
    counts.hashes -= before.hashes;
    counts.hashed_bytes -= before.hashed_bytes;
    counts.gossip_ids -= before.gossip_ids;
    counts.payload_copies -= before.payload_copies;
    counts.foreign_payloads -= before.foreign_payloads;
    counts
}

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// As in the original.
const WARM_UP: usize = 50;
/// How far the publisher may be ahead of the receiver, as in the original.
const WINDOW: usize = 32;
const SEED: u64 = 42;
