//! `borrowire path`: the message path benchmark.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use borrowire::message_path::report::ArmReport;
use borrowire::message_path::{self, Arm, MAX_DIFFERENCE, Options};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use indicatif::{ProgressBar, ProgressStyle};

use super::Failure;
use super::report::{write_json, write_text};

#[derive(Args)]
pub(crate) struct PathArgs {
    /// How many messages each arm receives
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    messages: usize,
    /// Decides the order of the sizes
    #[arg(long, value_name = "S", default_value_t = 42)]
    seed: u64,
    /// Write the figures to a CSV file as well
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print one JSON object an arm
    #[arg(long)]
    json: bool,
}

/// Measures every table and prints it.
pub(crate) fn run(args: &PathArgs, out: &mut impl Write) -> Result<(), Failure> {
    // A file that cannot be written is told before the work, not after it.
    if let Some(path) = &args.csv {
        write_csv(path, "")?;
    }
    let tables = tables(args);
    let bar = ProgressBar::new(100 * tables.len() as u64);
    bar.set_style(
        ProgressStyle::with_template("{wide_bar} {percent:>3} % {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut csv = format!("{}\n", ArmReport::CSV_HEADER);
    for (i, (title, options)) in tables.into_iter().enumerate() {
        bar.set_message(title.clone());
        let reports = message_path::run(&options, &Arm::ALL, |done, total| {
            bar.set_position(100 * i as u64 + 100 * done / total);
        });
        for report in &reports {
            csv += &format!("{}\n", report.csv_row());
        }
        if args.json {
            reports.iter().try_for_each(|report| write_json(&report.to_json(), out))?;
        } else {
            bar.suspend(|| write_text(&table(&title, &reports), out))?;
        }
        out.flush().map_err(Failure::Output)?;
    }
    bar.finish_and_clear();
    args.csv.as_ref().map_or(Ok(()), |path| write_csv(path, &csv))
}

fn write_csv(path: &PathBuf, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::OutputFile { name: path.display().to_string(), error })
}

/// The headline first, as the original measured; then what it left out.
fn tables(args: &PathArgs) -> Vec<(String, Options)> {
    let mut headline = Options::default();
    headline.messages = args.messages;
    headline.seed = args.seed;
    headline.warm_up = headline.warm_up.min(args.messages);
    let mut tables = vec![("message hash only".to_owned(), headline)];
    let mut with_gossip_id = headline;
    with_gossip_id.gossip_id = true;
    tables.push(("with the gossip id".to_owned(), with_gossip_id));
    for peers in [1, 5, 20] {
        let mut options = with_gossip_id;
        options.filter_peers = peers;
        tables.push((format!("with the gossip id, pushed to {peers} filter peers"), options));
    }
    for duplicates in [1, 6] {
        let mut options = with_gossip_id;
        options.duplicates = duplicates;
        tables.push((format!("with the gossip id, each frame {} times", 1 + duplicates), options));
    }
    tables
}

fn table(title: &str, reports: &[ArmReport]) -> String {
    let speed = |arm| {
        let report = reports.iter().find(|report| report.arm == arm);
        report.map_or(f64::NAN, ArmReport::messages_per_second)
    };
    let (owned, fair) = (speed(Arm::Owned), speed(Arm::ProstBytes));
    let mut text = format!(
        "\n{title}\n\n{:<19} {:>8} {:>7} {:>7} {:>8} {:>8} {:>7} {:>6} {:>7} {:>7} {:>5} {:>7} \
         {:>9} {:>8} {:>8}\n",
        "arm",
        "msg/s",
        "x owned",
        "x prost",
        "p50 µs",
        "p99 µs",
        "decodes",
        "hashes",
        "gossips",
        "copies",
        "hash",
        "allocs",
        "alloc MB",
        "peak MB",
        "kept MB",
    );
    for report in reports {
        let per_message = |count| report.per_message(count);
        let us = |percent| report.percentile(percent).as_secs_f64() * 1e6;
        let mb = |bytes| bytes as f64 / 1e6;
        let per_second = report.messages_per_second();
        let unsteady = match report.difference {
            difference if difference > MAX_DIFFERENCE => {
                format!("  the two runs differ by {:.0} %", 100.0 * difference)
            }
            _ => String::new(),
        };
        text += &format!(
            "{:<19} {per_second:>8.0} {:>7.2} {:>7.2} {:>8.1} {:>8.1} {:>7.2} {:>6.2} {:>7.2} \
             {:>7.2} {:>3.0} % {:>7.1} {:>9.1} {:>8.1} {:>8.1}{unsteady}\n",
            report.arm.name(),
            per_second / owned,
            per_second / fair,
            us(50),
            us(99),
            per_message(report.counts.decodes),
            per_message(report.counts.hashes),
            per_message(report.counts.gossip_ids),
            per_message(report.counts.payload_copies),
            100.0 * report.hash_time.as_secs_f64() / report.wall().as_secs_f64(),
            per_message(report.heap.allocations),
            mb(report.heap.allocated_bytes as i64),
            mb(report.peak_bytes),
            mb(report.retained_bytes),
        );
    }
    text
}
