//! `borrowire match`: the events that filters ask for.

use std::io::Write;
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::ndjson::{ReadChunks, in_parallel, lines};
use borrowire::nostr::filter::{CompiledFilter, FilterView};
use borrowire::rules::Rules;
use bytes::Bytes;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::input::open;
use super::report::{show_bad_bytes, write_json};
use super::{Failure, Preset};

#[derive(Args)]
pub(crate) struct MatchArgs {
    /// Files of events or EVENT frames, one a line; `-` or none: standard input
    files: Vec<PathBuf>,
    /// A filter of NIP-01, a JSON object; given more than once, an event needs to match one of them.
    /// `limit` and `search` do not count
    #[arg(long = "filter", value_name = "JSON", required = true)]
    filters: Vec<String>,
    /// How strict to be
    #[arg(long, value_enum, default_value_t)]
    rules: Preset,
    /// Print one JSON object a matching line: its number, the event's id, and which of the filters
    /// match, counted from 0
    #[arg(long)]
    json: bool,
}

/// Prints the lines that match; says whether all lines were good. Bad lines are told on stderr.
pub(crate) fn run(args: &MatchArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let rules = args.rules.rules();
    let filters = args.filters.iter().map(|filter| compile(filter, rules));
    let filters = filters.collect::<Result<Vec<_>, _>>()?;
    let stdin = [Path::new("-").to_path_buf()];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let mut all_good = true;
    for path in files {
        let name = path.display().to_string();
        let failure = |error| Failure::Input { name: name.clone(), error };
        let bar = progress(path);
        let reader = bar.wrap_read(open(path).map_err(failure)?);
        let is_done = AtomicBool::new(false);
        let texts = ReadChunks::new(reader, CHUNK_LEN, MAX_LINE_LEN)
            .take_while(|_| !is_done.load(Ordering::Relaxed));
        let mut written = Ok(());
        let read = in_parallel(
            texts,
            threads,
            |text| Matched::of(text, &filters, rules),
            |first_line, matched| {
                for (number, bytes, error) in &matched.bad {
                    all_good = false;
                    let name = format!("{name}:{}", first_line + number);
                    bar.suspend(|| eprint!("{}", show_bad_bytes(&name, "event", bytes, *error)));
                }
                if written.is_ok() {
                    let file = (files.len() > 1).then_some(&*name);
                    written = match args.json {
                        true => matched.write_json(file, first_line, out),
                        false => matched.write_lines(out),
                    };
                    // Nobody reads on: nor need we.
                    is_done.store(written.is_err(), Ordering::Relaxed);
                }
            },
        );
        written?;
        read.map_err(failure)?;
        bar.finish_and_clear();
    }
    Ok(all_good)
}

/// What was found in a text of whole lines.
struct Matched {
    text: Bytes,
    lines: Vec<MatchedLine>,
    /// Lines that are no event: their number in the text, and the error.
    bad: Vec<(u64, Bytes, Error)>,
}

struct MatchedLine {
    /// Its number in the text, from 1.
    number: u64,
    /// Where it lies in the text, with its end.
    range: Range<usize>,
    id: [u8; 32],
    filters: Vec<usize>,
}

impl Matched {
    fn of(text: Bytes, filters: &[CompiledFilter], rules: &Rules) -> Self {
        let mut matched = Self { text: text.clone(), lines: Vec::new(), bad: Vec::new() };
        for line in lines(&text[..]) {
            let event = match line.event(rules) {
                Ok(event) => event,
                Err(error) => {
                    matched.bad.push((line.number, text.slice_ref(line.text), error));
                    continue;
                }
            };
            let matching = (0..filters.len()).filter(|i| filters[*i].matches(&event));
            let filters: Vec<_> = matching.collect();
            if !filters.is_empty() {
                let end = line.offset + line.text.len();
                let line_end = text[end..].iter().position(|byte| *byte == b'\n');
                let range = line.offset..line_end.map_or(text.len(), |len| end + len + 1);
                let (number, id) = (line.number, *event.id());
                matched.lines.push(MatchedLine { number, range, id, filters });
            }
        }
        matched
    }

    /// Writes the lines as they came; only the last of a file may get an end that it did not have.
    fn write_lines(&self, out: &mut impl Write) -> Result<(), Failure> {
        for line in &self.lines {
            let line = &self.text[line.range.clone()];
            out.write_all(line).map_err(Failure::Output)?;
            if !line.ends_with(b"\n") {
                out.write_all(b"\n").map_err(Failure::Output)?;
            }
        }
        out.flush().map_err(Failure::Output)
    }

    fn write_json(
        &self,
        file: Option<&str>,
        first_line: u64,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        for line in &self.lines {
            let id = Hex(&line.id).to_string();
            let json =
                MatchJson { file, line: first_line + line.number, id, matches: &line.filters };
            write_json(&json, out)?;
        }
        out.flush().map_err(Failure::Output)
    }
}

fn compile(filter: &str, rules: &Rules) -> Result<CompiledFilter, Failure> {
    let shown = |error: Error| {
        Failure::Shown(show_bad_bytes("--filter", "filter", filter.as_bytes(), error))
    };
    FilterView::parse_str(filter, rules).map(|view| CompiledFilter::from(&view)).map_err(shown)
}

/// A bar over the bytes of a file; none where there is no terminal, or no telling how many.
fn progress(path: &Path) -> ProgressBar {
    let len = path.metadata().ok().filter(|file| file.is_file()).map(|file| file.len());
    let Some(len) = len else {
        return ProgressBar::hidden();
    };
    let style = "{wide_bar} {percent:>3} % {binary_bytes_per_sec}";
    ProgressBar::new(len).with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}

#[derive(Serialize)]
struct MatchJson<'a> {
    /// The file's name, if there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u64,
    id: String,
    matches: &'a [usize],
}

/// Bytes that a thread takes at a time.
const CHUNK_LEN: NonZero<usize> = NonZero::new(1 << 20).unwrap();
/// Far beyond the frames that any relay takes, which is a megabyte.
const MAX_LINE_LEN: usize = 64 << 20;
