//! Floods `examples/relay.rs` with what a relay must survive, and fails if it does not:
//! `borrowire-nostr RELAY`, where RELAY is the example's program.
//!
//! All at once: malformed frames, frames over the limit, subscribers that stop reading. Meanwhile a
//! client publishes and another, the witness, must get every event.

mod flood;
mod relay;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use borrowire::hex::Hex;
use borrowire::nostr::event::EventBuilder;
use futures_util::future::try_join_all;

use crate::flood::{Client, bad_frames};
use crate::relay::Relay;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let program = std::env::args().nth(1).context("the relay's program as the argument")?;
    let relay = Relay::start(&program)?;
    let (url, started) = (relay.url(), Instant::now());
    let baseline = relay.peak_memory()?;

    let mut stopped = Vec::new();
    for _ in 0..STOPPED {
        let mut client = Client::connect(url).await?;
        client.send(SUBSCRIBE).await?;
        stopped.push(client);
    }
    let mut witness = Client::connect(url).await?;
    witness.send(SUBSCRIBE).await?;
    ensure!(witness.receive().await?.starts_with(r#"["EOSE","live""#));

    let frames = bad_frames();
    let malformed = try_join_all((0..FLOODERS).map(|_| flood::malformed(url, &frames, MALFORMED)));
    let too_long = try_join_all((0..FLOODERS).map(|_| flood::too_long(url, TOO_LONG)));
    let half_open = flood::half_open(url, HALF_OPEN);
    let published = async {
        let mut publisher = Client::connect(url).await?;
        for i in 0..EVENTS {
            let (id, frame) = event(i);
            publisher.send(frame).await?;
            let answer = publisher.receive().await?;
            ensure!(answer == format!(r#"["OK","{id}",true,""]"#), "{answer}");
        }
        Ok(())
    };
    let witnessed = async {
        for i in 0..EVENTS {
            let frame =
                witness.receive().await.with_context(|| format!("event {i} of {EVENTS}"))?;
            ensure!(frame.contains(&event(i).0), "another event than {i}: {frame:.200}");
        }
        Ok(())
    };
    let (malformed, _, (), (), ()) =
        tokio::try_join!(malformed, too_long, half_open, published, witnessed)?;
    let took = started.elapsed();

    for mut client in stopped {
        let got = client.drain().await;
        ensure!(got < EVENTS, "a client that did not read was kept");
    }
    let mut late = Client::connect(url).await?;
    late.send(r#"["COUNT","late",{}]"#).await?;
    let count = late.receive().await?;
    ensure!(count == format!(r#"["COUNT","late",{{"count":{EVENTS}}}]"#), "{count}");

    let peak = relay.peak_memory()? - baseline;
    let event_bytes = event(0).1.len();
    // Twice, since an allocator keeps some of what was freed, and freed memory is not told from
    // memory in use by the peak of a process.
    let allowed = 2 * (EVENTS * event_bytes + STOPPED * relay::waiting_bytes(event_bytes))
        + relay::CONNECTION_BYTES * (2 * FLOODERS + STOPPED + 3);
    println!(
        "{} malformed frames answered, {} frames over the limit and {HALF_OPEN} broken handshakes cut \
         off, {STOPPED} readers that stopped dropped, in {took:.1?}",
        malformed.iter().sum::<usize>(),
        FLOODERS * TOO_LONG,
    );
    println!("meanwhile {EVENTS} events of {event_bytes} bytes went from a client to another");
    println!(
        "the relay's memory grew by {:.1} MB at most, {:.1} MB of it events that it keeps; its limits \
         allow {:.1} MB",
        mb(peak),
        mb(EVENTS * event_bytes),
        mb(allowed),
    );
    ensure!(peak <= allowed, "more memory than the limits allow");
    Ok(())
}

/// The `i`th event that is published, and the frame that does it.
fn event(i: usize) -> (String, String) {
    let content = format!("{i} {}", "x".repeat(CONTENT));
    let mut json = Vec::new();
    // The example checks ids, not signatures.
    let id =
        EventBuilder::new(1, i as u64).content(&content).write(&mut json, &[7; 32], |_| [7; 64]);
    let json = String::from_utf8_lossy(&json);
    (Hex(&id).to_string(), format!(r#"["EVENT",{json}]"#))
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

const SUBSCRIBE: &str = r#"["REQ","live",{"kinds":[1],"limit":0}]"#;

/// Clients of each kind, and what each does.
const FLOODERS: usize = 4;
const MALFORMED: usize = 4_000;
const TOO_LONG: usize = 50;
const HALF_OPEN: usize = 200;
const STOPPED: usize = 4;

/// Enough that a client which does not read has more waiting for it than sockets and queue hold.
const EVENTS: usize = 600;
const CONTENT: usize = 60_000;
