//! Arguments, input and printing of the `borrowire` command. All else is in the library.

mod frame;
mod hash;
mod input;
mod inspect;
mod matching;
mod path;
mod report;
mod verify;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use borrowire::Error;
use borrowire::rules::Rules;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Reads the arguments and does what they say. Exit status: 0 all frames good, 1 some frame was
/// bad, 2 wrong usage or an unreadable file.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match &cli.command {
        Command::Frame(args) => frame::run(args, &mut out),
        Command::Hash(args) => hash::run(args, &mut out),
        Command::Inspect(args) => inspect::run(args, &mut out),
        Command::Match(args) => matching::run(args, &mut out),
        Command::Path(args) => path::run(args, &mut out).map(|()| true),
        Command::Verify(args) => verify::run(args, &mut out),
    };
    let done = done.and_then(|all_good| out.flush().map(|()| all_good).map_err(Failure::Output));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        // Whoever read our output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // What was written before is good; it must not get lost.
            let _ = out.flush();
            eprintln!("borrowire: {failure}");
            ExitCode::from(2)
        }
    }
}

#[derive(Parser)]
#[command(name = "borrowire", version, about = "Looks into Waku and Nostr frames")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Put binary into a Nostr frame, or take it out
    Frame(frame::FrameArgs),
    /// Print the message hash or gossip id of WakuMessages, one a line
    Hash(hash::HashArgs),
    /// Print the fields of frames
    Inspect(inspect::InspectArgs),
    /// Print the events that Nostr filters ask for
    Match(matching::MatchArgs),
    /// Measure the path of a message through a node, beside what others do
    Path(path::PathArgs),
    /// Check the ids, and the signatures, of Nostr events, one a line
    Verify(verify::VerifyArgs),
}

/// What every subcommand that reads frames takes.
#[derive(Args)]
struct InputArgs {
    /// Files to read; `-` or none: standard input
    files: Vec<PathBuf>,
    /// How frames are written: one a file (bytes), one a line (hex, base64, lines) [default: lines
    /// for Nostr frames, bytes for others]
    #[arg(long, value_enum, value_name = "ENCODING")]
    from: Option<Encoding>,
    /// What the frames are
    #[arg(long = "as", value_enum, value_name = "FORMAT", default_value_t)]
    format: FormatChoice,
    /// How strict to be
    #[arg(long, value_enum, default_value_t)]
    rules: Preset,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Encoding {
    /// One frame a file
    Bytes,
    /// One frame of hex digits a line
    Hex,
    /// One frame in base64 a line
    Base64,
    /// One frame a line, as it stands
    Lines,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FormatChoice {
    /// Tell from the first byte, and from the label of a Nostr frame
    #[default]
    Auto,
    /// A Nostr event, bare or in an EVENT frame
    Event,
    /// A Nostr frame from a client (EVENT, REQ, CLOSE, AUTH, COUNT, NEG-…)
    Client,
    /// A Nostr frame from a relay (EVENT, OK, EOSE, CLOSED, NOTICE, AUTH, COUNT, NEG-…)
    Relay,
    /// A Nostr frame that carries negentropy (NEG-OPEN, NEG-MSG, NEG-CLOSE, NEG-ERR)
    Neg,
    /// A negentropy message in binary
    Negentropy,
    /// A WakuMessage
    Waku,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Preset {
    /// What every implementation accepts and reads alike
    #[default]
    Strict,
    /// What a conforming protobuf parser accepts
    Proto3,
    /// What nwaku (logos-delivery) accepts
    Nwaku,
    /// What large Nostr relays tolerate: uppercase hex
    Lenient,
}

impl Preset {
    const fn rules(self) -> &'static Rules {
        match self {
            Self::Strict => &Rules::STRICT,
            Self::Proto3 => &Rules::PROTO3,
            Self::Nwaku => &Rules::NWAKU,
            Self::Lenient => &Rules::LENIENT,
        }
    }
}

/// Why the command stopped before it was done.
enum Failure {
    Argument(Error),
    Input {
        name: String,
        error: io::Error,
    },
    /// An argument that is shown with a caret at what is wrong.
    Shown(String),
    Output(io::Error),
    OutputFile {
        name: String,
        error: io::Error,
    },
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Argument(error) => write!(f, "{error}"),
            Self::Shown(shown) => f.write_str(shown.trim_end()),
            Self::Input { name, error } => write!(f, "cannot read {name}: {error}"),
            Self::OutputFile { name, error } => write!(f, "cannot write {name}: {error}"),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}
