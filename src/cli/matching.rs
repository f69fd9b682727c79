//! `borrowire match`: the events that filters ask for.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use borrowire::Error;
use borrowire::hex::Hex;
use borrowire::nostr::event::EventView;
use borrowire::nostr::filter::{CompiledFilter, FilterView};
use borrowire::rules::Rules;
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
    let mut all_good = true;
    for path in files {
        let name = path.display().to_string();
        let failure = |error| Failure::Input { name: name.clone(), error };
        let mut reader = BufReader::with_capacity(1 << 16, open(path).map_err(failure)?);
        let bar = progress(path);
        let mut line = Vec::new();
        let mut matching = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let len = reader.read_until(b'\n', &mut line).map_err(failure)?;
            if len == 0 {
                break;
            }
            bar.inc(len as u64);
            let frame = line.strip_suffix(b"\n").unwrap_or(&line);
            let frame = frame.strip_suffix(b"\r").unwrap_or(frame);
            if frame.trim_ascii().is_empty() {
                continue;
            }
            let event = match EventView::parse_frame(frame, rules) {
                Ok(event) => event,
                Err(error) => {
                    all_good = false;
                    let name = format!("{name}:{number}");
                    bar.suspend(|| eprint!("{}", show_bad_bytes(&name, "event", frame, error)));
                    continue;
                }
            };
            matching.clear();
            matching.extend((0..filters.len()).filter(|i| filters[*i].matches(&event)));
            if matching.is_empty() {
                continue;
            }
            if args.json {
                let file = (files.len() > 1).then_some(&*name);
                let id = Hex(event.id()).to_string();
                write_json(&MatchJson { file, line: number, id, matches: &matching }, out)?;
            } else {
                if line.last() != Some(&b'\n') {
                    line.push(b'\n');
                }
                out.write_all(&line).map_err(Failure::Output)?;
            }
        }
        bar.finish_and_clear();
    }
    Ok(all_good)
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
