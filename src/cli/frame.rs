//! `borrowire frame`: binary to a frame, and back.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use borrowire::json::RawJson;
use borrowire::nostr::neg::{NegKind, NegMsg, NegOpen, NegView};
use clap::{Args, ValueEnum};

use super::Failure;
use super::input::{Format, Frame, open};
use super::report::show_bad;

#[derive(Args)]
pub(crate) struct FrameArgs {
    /// The kind of frame
    #[arg(value_enum)]
    kind: Kind,
    /// The file to read; `-` or none: standard input
    file: Option<PathBuf>,
    /// The subscription id; with --decode, the only one that is accepted
    #[arg(long, value_name = "S", required_unless_present = "decode")]
    sub: Option<String>,
    /// The filter of neg-open, a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    filter: String,
    /// Read a frame and write its binary
    #[arg(long, conflicts_with = "filter")]
    decode: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// `["NEG-MSG", sub, message]`
    NegMsg,
    /// `["NEG-OPEN", sub, filter, message]`
    NegOpen,
}

/// Writes the frame or the binary; says whether the input was good.
pub(crate) fn run(args: &FrameArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    let name = path.display().to_string();
    let mut input = Vec::new();
    open(path)
        .and_then(|mut reader| reader.read_to_end(&mut input))
        .map_err(|error| Failure::Input { name: name.clone(), error })?;
    if args.decode {
        return decode(args, name, input, out);
    }
    let mut frame = Vec::new();
    let sub = args.sub.as_deref().unwrap_or_default();
    let message = input.as_slice().into();
    match args.kind {
        Kind::NegMsg => NegMsg { sub, message }.write(&mut frame),
        Kind::NegOpen => {
            let filter = RawJson::new(args.filter.trim(), "--filter").map_err(Failure::Argument)?;
            NegOpen { sub, filter, id_size: None, message }.write(&mut frame);
        }
    }
    if io::stdout().is_terminal() {
        frame.push(b'\n');
    }
    out.write_all(&frame).map(|()| true).map_err(Failure::Output)
}

fn decode(
    args: &FrameArgs,
    name: String,
    input: Vec<u8>,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let wanted = match args.kind {
        Kind::NegMsg => NegKind::Msg,
        Kind::NegOpen => NegKind::Open,
    };
    let view = match NegView::parse(&input[..]) {
        Ok(view) => view,
        Err(error) => {
            let frame = Frame { name, format: Format::Neg, bytes: input.into(), error: None };
            eprint!("{}", show_bad(&frame, error));
            return Ok(false);
        }
    };
    if view.kind() != wanted {
        eprintln!("{name}: {} expected, found {}", wanted.label(), view.kind().label());
        return Ok(false);
    }
    if let Some(sub) = args.sub.as_deref()
        && !view.sub().eq_str(sub)
    {
        eprintln!("{name}: subscription id {sub:?} expected, found {:?}", view.sub().to_cow());
        return Ok(false);
    }
    let mut binary = Vec::new();
    view.decode_message(&mut binary);
    out.write_all(&binary).map(|()| true).map_err(Failure::Output)
}
