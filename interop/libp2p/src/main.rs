//! Waku nodes over rust-libp2p on loopback; see docs/interop.md.

mod lightpush;
mod node;
mod relay;
mod report;
mod store;
mod streams;

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use borrowire::heap::CountingAllocator;
use borrowire::message_path::Arm;

use crate::report::Figures;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> Result<()> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let number = |at: usize, default: usize| match args.get(at) {
        Some(text) => text.parse().with_context(|| format!("`{text}` is not a number")),
        None => Ok(default),
    };
    match args.first().copied() {
        None | Some("relay") => compare(number(1, 1000)?, number(2, 5)?),
        Some("arm") => one_arm(args.get(1).copied().unwrap_or_default(), number(2, 1000)?),
        Some("lightpush") => lightpush::run(number(1, 100)?),
        Some("store") => store::run(number(1, 1000)?),
        Some("check") => {
            compare(number(1, 200)?, 1)?;
            lightpush::run(20)?;
            store::run(250)?;
            println!("\nall checks passed");
            Ok(())
        }
        Some(_) => bail!(
            "usage: [relay [MESSAGES [ROUNDS]] | lightpush [MESSAGES] | store [MESSAGES] | check]"
        ),
    }
}

/// All arms in turns, each run in a process of its own, so that none inherits the heap of another.
fn compare(messages: usize, rounds: usize) -> Result<()> {
    ensure!(messages >= 4 && rounds >= 1, "at least 4 messages and 1 round");
    println!("CSV,{}", report::CSV_HEADER);
    let mut figures = Vec::new();
    for round in 0..rounds {
        let mut of_round = vec![None; ARMS.len()];
        for turn in 0..ARMS.len() {
            let i = (round + turn) % ARMS.len();
            of_round[i] = Some(run_apart(ARMS[i], messages)?);
        }
        figures.push(of_round.into_iter().flatten().collect());
    }
    println!("\n{messages} messages, medians of {rounds} rounds");
    report::print_table(&ARMS.map(Arm::name), &figures);
    println!("{:<12} {:<45} 0.79x", "in Nim", "1.57x");
    Ok(())
}

fn run_apart(arm: Arm, messages: usize) -> Result<Figures> {
    let output = Command::new(std::env::current_exe()?)
        .args(["arm", &arm.name(), &messages.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the arm {} failed", arm.name());
    let printed = String::from_utf8(output.stdout)?;
    print!("{printed}");
    let row = printed.lines().find_map(|line| line.strip_prefix("CSV,"));
    row.and_then(Figures::read).context("a row without figures")
}

fn one_arm(name: &str, messages: usize) -> Result<()> {
    let arm = ARMS.into_iter().find(|arm| arm.name() == name);
    let run = relay::run(arm.with_context(|| format!("no arm `{name}`"))?, messages)?;
    println!("CSV,{}", report::csv_row(&run));
    Ok(())
}

/// The first is what the others are held against.
const ARMS: [Arm; 3] = [Arm::Owned, Arm::ProstBytes, Arm::Borrowire];
