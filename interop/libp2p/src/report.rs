//! The figures, as CSV with the columns of the original, and as a table.

use std::time::Duration;

use borrowire::message_path::workload::PAYLOAD_PROFILE;

use crate::relay::Run;

/// The columns of the original, then ours. A MB is 1,000,000 bytes.
pub const CSV_HEADER: &str = "scenario,msgs,payload_profile,wall_ms,msg_per_s,ns_per_msg_p50,\
    ns_per_msg_p99,decodes_per_msg,hashes_per_msg,hashed_MB,decoded_MB,occupied_mem_delta_MB,\
    gc_collections,gossip_ids_per_msg,payload_copies_per_msg,foreign_payloads_per_msg,hash_ms,\
    allocated_MB,peak_live_MB,receiver_cpu_ms";

/// A run as one row.
pub fn csv_row(run: &Run) -> String {
    let Run { messages, counts, .. } = run;
    let per_message = |count: u64| count as f64 / *messages as f64;
    format!(
        "macro-{},{messages},{PAYLOAD_PROFILE},{:.3},{:.1},{},{},{:.3},{:.3},{:.2},{:.2},{:.2},0,\
         {:.3},{:.3},{:.3},{:.3},{:.2},{:.2},{:.3}",
        run.arm.name(),
        1e3 * run.wall.as_secs_f64(),
        *messages as f64 / run.wall.as_secs_f64(),
        percentile(&run.gaps, 50).as_nanos(),
        percentile(&run.gaps, 99).as_nanos(),
        per_message(counts.decodes),
        per_message(counts.hashes),
        mb(counts.hashed_bytes as f64),
        mb(counts.decoded_bytes as f64),
        mb(run.heap.live_bytes() as f64),
        per_message(counts.gossip_ids),
        per_message(counts.payload_copies),
        per_message(counts.foreign_payloads),
        1e3 * run.hash_time.as_secs_f64(),
        mb(run.heap.allocated_bytes as f64),
        mb(run.peak_bytes as f64),
        1e3 * run.cpu_time.as_secs_f64(),
    )
}

/// What the table takes from a row.
#[derive(Clone, Copy)]
pub struct Figures {
    pub messages_per_second: f64,
    pub p50_ns: f64,
    pub p99_ns: f64,
    pub decodes: f64,
    pub hashes: f64,
    pub gossip_ids: f64,
    pub peak_mb: f64,
    /// Of the receiver's thread, a message.
    pub cpu_us: f64,
}

impl Figures {
    /// Reads a row of [`csv_row`].
    pub fn read(row: &str) -> Option<Self> {
        let columns: Vec<_> = row.split(',').collect();
        let names = CSV_HEADER.split(',').map(str::trim);
        let number = |name: &str| {
            let at = names.clone().position(|column| column == name)?;
            columns.get(at)?.parse().ok()
        };
        Some(Self {
            messages_per_second: number("msg_per_s")?,
            p50_ns: number("ns_per_msg_p50")?,
            p99_ns: number("ns_per_msg_p99")?,
            decodes: number("decodes_per_msg")?,
            hashes: number("hashes_per_msg")?,
            gossip_ids: number("gossip_ids_per_msg")?,
            peak_mb: number("peak_live_MB")?,
            cpu_us: 1e3 * number("receiver_cpu_ms")? / number("msgs")?,
        })
    }
}

/// Prints the medians of each arm's rounds, and each arm against the first one of the same round.
pub fn print_table(arms: &[String], rounds: &[Vec<Figures>]) {
    println!(
        "{:<12} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>11} {:>9}",
        "arm", "msg/s", "p50 µs", "p99 µs", "cpu µs", "decodes", "hashes", "gossip ids", "peak MB",
    );
    for (i, arm) in arms.iter().enumerate() {
        let of = |figure: fn(&Figures) -> f64| {
            Spread::of(rounds.iter().map(|round| figure(&round[i]))).median
        };
        println!(
            "{arm:<12} {:>7.0} {:>8.0} {:>8.0} {:>8.0} {:>8.3} {:>8.3} {:>11.3} {:>9.1}",
            of(|f| f.messages_per_second),
            of(|f| f.p50_ns / 1e3),
            of(|f| f.p99_ns / 1e3),
            of(|f| f.cpu_us),
            of(|f| f.decodes),
            of(|f| f.hashes),
            of(|f| f.gossip_ids),
            of(|f| f.peak_mb),
        );
    }
    println!("\nagainst {}, round by round: median (quartiles)", arms[0]);
    println!("{:<12} {:<22} {:<22} peak MB", "arm", "msg/s", "cpu µs");
    for (i, arm) in arms.iter().enumerate().skip(1) {
        let against = |figure: fn(&Figures) -> f64| {
            Spread::of(rounds.iter().map(|round| figure(&round[i]) / figure(&round[0]))).show()
        };
        println!(
            "{arm:<12} {:<22} {:<22} {}",
            against(|f| f.messages_per_second),
            against(|f| f.cpu_us),
            against(|f| f.peak_mb),
        );
    }
}

/// A median between its quartiles.
struct Spread {
    lower: f64,
    median: f64,
    upper: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<_> = values.collect();
        values.sort_by(f64::total_cmp);
        let quarter = values.len() / 4;
        let [lower, upper] = [values[quarter], values[values.len() - 1 - quarter]];
        let half = values.len() / 2;
        let median = match values.len() % 2 {
            0 => (values[half - 1] + values[half]) / 2.0,
            _ => values[half],
        };
        Self { lower, median, upper }
    }

    fn show(&self) -> String {
        format!("{:.2}x ({:.2}–{:.2})", self.median, self.lower, self.upper)
    }
}

/// As the original takes it, of sorted times.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

fn mb(bytes: f64) -> f64 {
    bytes / 1e6
}
