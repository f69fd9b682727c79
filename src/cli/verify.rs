//! `borrowire verify`: the ids of events, and their signatures, on all cores.

use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::ndjson::{ReadChunks, in_parallel, lines};
use borrowire::nostr::event::{Dialect, EventView, Signed, event_ids, verify_all};
use borrowire::rules::Rules;
use bytes::Bytes;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::input::open;
use super::report::{ErrorJson, write_json, write_text};
use super::{Failure, Preset};

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// Files of events or EVENT frames, one a line; `-` or none: standard input
    files: Vec<PathBuf>,
    /// Check the signatures too, of the events whose ids are right
    #[arg(long)]
    signatures: bool,
    /// How many threads to use [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// How strict to be
    #[arg(long, value_enum, default_value_t)]
    rules: Preset,
    /// Print one JSON object a line: the bad lines, and the totals last
    #[arg(long)]
    json: bool,
}

/// Checks all events; says whether all are good.
pub(crate) fn run(args: &VerifyArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let threads = args.threads.or(available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    let bar = progress(files);
    let start = Instant::now();
    let mut totals = Totals::default();
    for path in files {
        let name = path.display().to_string();
        let failure = |error| Failure::Input { name: name.clone(), error };
        let chunks = ReadChunks::new(open(path).map_err(failure)?, CHUNK, MAX_LINE);
        let work = |text: Bytes| Checked::of(&text, args.signatures, args.rules.rules());
        let mut written = Ok(());
        let deliver = |first_line, checked: Checked| {
            bar.inc(checked.bytes);
            totals.add(&checked);
            for bad in &checked.bad {
                if written.is_ok() {
                    written = bar.suspend(|| bad.write(args, &name, first_line, out));
                }
            }
        };
        in_parallel(chunks, threads, work, deliver).map_err(failure)?;
        written?;
    }
    bar.finish_and_clear();
    totals.write(args, threads, start.elapsed(), out)?;
    Ok(totals.all_good())
}

/// A bar of bytes, on a terminal.
fn progress(files: &[PathBuf]) -> ProgressBar {
    let sizes =
        files.iter().map(|path| path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len()));
    let Some(bytes) = sizes.sum::<Option<u64>>() else {
        return ProgressBar::new_spinner();
    };
    let style =
        ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// What one chunk of lines holds.
#[derive(Default)]
struct Checked {
    bytes: u64,
    events: u64,
    signatures: u64,
    /// In the order of the lines.
    bad: Vec<Bad>,
}

/// A line that is not a good event.
struct Bad {
    /// From 1, within its chunk.
    line: u64,
    fault: Fault,
}

enum Fault {
    /// It is no event.
    Unreadable(Error),
    /// It claims another id than it has, which may be right in a dialect.
    Id { claimed: [u8; 32], computed: [u8; 32], dialect: Option<Dialect> },
    /// Its id is right, its signature is not.
    Signature { id: [u8; 32], error: Error },
}

impl Checked {
    fn of(text: &[u8], signatures: bool, rules: &Rules) -> Self {
        let mut checked = Self { bytes: text.len() as u64, ..Self::default() };
        let (mut numbers, mut events) = (Vec::new(), Vec::<EventView<&[u8]>>::new());
        for line in lines(text) {
            match line.event(rules) {
                Ok(event) => {
                    numbers.push(line.number);
                    events.push(event);
                }
                Err(error) => {
                    checked.bad.push(Bad { line: line.number, fault: Fault::Unreadable(error) });
                }
            }
        }
        checked.events = events.len() as u64;
        // Two at a time; each event keeps its own.
        event_ids(&events, |_, _| {});
        let (mut signed, mut signed_lines) = (Vec::new(), Vec::new());
        for (event, line) in events.iter().zip(numbers) {
            if event.computed_id() != event.id() {
                let check = event.check_id();
                let (claimed, computed) = (check.claimed, check.computed);
                let fault = Fault::Id { claimed, computed, dialect: check.dialect };
                checked.bad.push(Bad { line, fault });
            } else if signatures {
                signed.push(Signed { id: *event.id(), pubkey: *event.pubkey(), sig: event.sig() });
                signed_lines.push(line);
            }
        }
        checked.signatures = signed.len() as u64;
        // All cores are at work already.
        for (i, error) in verify_all(&signed, NonZero::<usize>::MIN) {
            let fault = Fault::Signature { id: signed[i].id, error };
            checked.bad.push(Bad { line: signed_lines[i], fault });
        }
        checked.bad.sort_by_key(|bad| bad.line);
        checked
    }
}

impl Bad {
    fn write(
        &self,
        args: &VerifyArgs,
        file: &str,
        first_line: u64,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let line = first_line + self.line;
        if args.json {
            return write_json(&BadJson::of(&self.fault, file, line), out);
        }
        let text = match &self.fault {
            Fault::Unreadable(error) => format!("no event: {error}"),
            Fault::Id { claimed, computed, dialect } => {
                let dialect = dialect.map(|dialect| format!(", which is {dialect}'s"));
                let dialect = dialect.unwrap_or_default();
                format!("bad id: {} claimed{dialect}, {} computed", Hex(claimed), Hex(computed))
            }
            Fault::Signature { id, error } => format!("bad signature of {}: {error}", Hex(id)),
        };
        write_text(&format!("{file}:{line}: {text}\n"), out)
    }
}

/// A bad line for machines.
#[derive(Serialize)]
struct BadJson<'a> {
    ok: bool,
    file: &'a str,
    line: u64,
    fault: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    computed_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorJson>,
}

impl<'a> BadJson<'a> {
    fn of(fault: &Fault, file: &'a str, line: u64) -> Self {
        let hex = |id: &[u8; 32]| Some(Hex(id).to_string());
        let empty = Self {
            ok: false,
            file,
            line,
            fault: "",
            claimed_id: None,
            computed_id: None,
            dialect: None,
            error: None,
        };
        match fault {
            Fault::Unreadable(error) => {
                Self { fault: "unreadable", error: Some((*error).into()), ..empty }
            }
            Fault::Id { claimed, computed, dialect } => Self {
                fault: "id",
                claimed_id: hex(claimed),
                computed_id: hex(computed),
                dialect: dialect.map(Dialect::name),
                ..empty
            },
            Fault::Signature { id, error } => Self {
                fault: "signature",
                claimed_id: hex(id),
                computed_id: hex(id),
                error: Some((*error).into()),
                ..empty
            },
        }
    }
}

/// What all lines held.
#[derive(Default, Serialize)]
struct Totals {
    events: u64,
    bad_ids: u64,
    signatures: u64,
    bad_signatures: u64,
    unreadable: u64,
    bytes: u64,
}

/// The totals for machines.
#[derive(Serialize)]
struct TotalsJson<'a> {
    ok: bool,
    #[serde(flatten)]
    totals: &'a Totals,
    threads: usize,
    seconds: f64,
    events_per_second: f64,
    bytes_per_second: f64,
}

impl Totals {
    fn add(&mut self, checked: &Checked) {
        self.bytes += checked.bytes;
        self.events += checked.events;
        self.signatures += checked.signatures;
        for bad in &checked.bad {
            *match bad.fault {
                Fault::Unreadable(_) => &mut self.unreadable,
                Fault::Id { .. } => &mut self.bad_ids,
                Fault::Signature { .. } => &mut self.bad_signatures,
            } += 1;
        }
    }

    const fn all_good(&self) -> bool {
        self.bad_ids + self.bad_signatures + self.unreadable == 0
    }

    fn write(
        &self,
        args: &VerifyArgs,
        threads: NonZero<usize>,
        took: Duration,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let (seconds, threads) = (took.as_secs_f64().max(1e-9), threads.get());
        let events_per_second = self.events as f64 / seconds;
        let bytes_per_second = self.bytes as f64 / seconds;
        if args.json {
            let (ok, totals) = (self.all_good(), self);
            let json =
                TotalsJson { ok, totals, threads, seconds, events_per_second, bytes_per_second };
            return write_json(&json, out);
        }
        let signatures = match args.signatures {
            true => format!("{} of {} signatures bad, ", self.bad_signatures, self.signatures),
            false => String::new(),
        };
        let text = format!(
            "{} events: {} bad ids, {signatures}{} lines that are no event\n\
             {:.1} MB in {seconds:.2} s on {threads} threads: {events_per_second:.0} events and \
             {:.1} MB a second\n",
            self.events,
            self.bad_ids,
            self.unreadable,
            self.bytes as f64 / 1e6,
            bytes_per_second / 1e6,
        );
        write_text(&text, out)
    }
}

/// Bytes that a thread takes at a time: enough to forget the hand-over, few beside a cache.
const CHUNK: NonZero<usize> = NonZero::new(1 << 20).unwrap();

/// The longest line. No relay takes a frame of a tenth of it.
const MAX_LINE: usize = 256 << 20;
