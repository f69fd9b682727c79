//! From files and standard input to frames.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use borrowire::error::Expected;
use borrowire::hex::{self, Case};
use borrowire::nostr::frame::{peek_label, peek_sub_id};
use borrowire::nostr::{RelayFrame, RelayMessage};
use borrowire::{Error, ErrorKind};
use bytes::Bytes;

use super::{Encoding, Failure, FormatChoice, InputArgs};

/// One frame of the input, or why it could not be decoded from its line.
pub(crate) struct Frame {
    /// The file's name, and the line's number where a frame is a line.
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) bytes: Bytes,
    /// An error of the line's encoding; `bytes` is then the line.
    pub(crate) error: Option<Error>,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Event,
    Client,
    Relay,
    Neg,
    Negentropy,
    Waku,
}

impl Format {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Client => "client",
            Self::Relay => "relay",
            Self::Neg => "neg",
            Self::Negentropy => "negentropy",
            Self::Waku => "waku",
        }
    }
}

/// Calls `each` with every frame of the input, in order.
pub(crate) fn for_each_frame(
    args: &InputArgs,
    mut each: impl FnMut(Frame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let stdin = [Path::new("-").to_path_buf()];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    for path in files {
        let name = path.display().to_string();
        let failure = |error| Failure::Input { name: name.clone(), error };
        let mut reader = BufReader::with_capacity(1 << 16, open(path).map_err(failure)?);
        let encoding = match args.from {
            Some(encoding) => encoding,
            None => default_encoding(format(args.format, reader.fill_buf().map_err(failure)?)),
        };
        match encoding {
            Encoding::Bytes => {
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes).map_err(failure)?;
                let (format, bytes) = (format(args.format, &bytes), Bytes::from(bytes));
                each(Frame { name, format, bytes, error: None })?;
            }
            encoding => {
                for number in 1_u64.. {
                    let Some(line) = read_line(&mut reader).map_err(failure)? else {
                        break;
                    };
                    each(decode_line(args, encoding, format!("{name}:{number}"), line))?;
                }
            }
        }
    }
    Ok(())
}

/// A file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

fn decode_line(args: &InputArgs, encoding: Encoding, name: String, line: Vec<u8>) -> Frame {
    let decoded = match encoding {
        Encoding::Hex => decode_hex(&line),
        Encoding::Base64 => decode_base64(&line),
        Encoding::Bytes | Encoding::Lines => Ok(None),
    };
    let (bytes, error) = match decoded {
        Ok(Some(bytes)) => (bytes, None),
        Ok(None) => (line, None),
        Err(error) => (line, Some(error)),
    };
    Frame { name, format: format(args.format, &bytes), bytes: bytes.into(), error }
}

fn decode_hex(line: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = vec![0; line.len() / 2];
    hex::decode(line, &mut bytes, Case::Any, "hex")?;
    Ok(Some(bytes))
}

fn decode_base64(line: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    const BASE64: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    BASE64.decode(line).map(Some).map_err(|error| {
        let at = match error {
            base64::DecodeError::InvalidByte(at, _)
            | base64::DecodeError::InvalidLastSymbol { offset: at, .. } => at,
            _ => line.len(),
        };
        let found = line.get(at).copied();
        Error::new(ErrorKind::Unexpected { expected: Expected::Base64, found }, at, "base64")
    })
}

/// The next line without its end (`\n` or `\r\n`), or `None` at the end of the input.
fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.pop_if(|byte| *byte == b'\n').is_some() {
        line.pop_if(|byte| *byte == b'\r');
    }
    Ok(Some(line))
}

/// What a frame is taken for. A WakuMessage cannot begin with `[`, which would be a group of the
/// known field 11, and hardly with `{`, a group of field 15.
fn format(choice: FormatChoice, frame: &[u8]) -> Format {
    match choice {
        FormatChoice::Auto if frame.first() == Some(&b'{') => Format::Event,
        FormatChoice::Auto if frame.first() == Some(&b'[') => nostr_format(frame),
        FormatChoice::Client => Format::Client,
        FormatChoice::Relay => Format::Relay,
        FormatChoice::Auto | FormatChoice::Waku => Format::Waku,
        FormatChoice::Event => Format::Event,
        FormatChoice::Neg => Format::Neg,
        FormatChoice::Negentropy => Format::Negentropy,
    }
}

/// What a Nostr frame is taken for, by its label; where both sides say it, by what follows.
fn nostr_format(frame: &[u8]) -> Format {
    let Some(label) = peek_label(frame) else { return Format::Client };
    let is_one_of = |labels: &[&str]| labels.iter().any(|known| label.eq_str(known));
    if is_one_of(&["NEG-OPEN", "NEG-MSG", "NEG-CLOSE", "NEG-ERR"]) {
        return Format::Neg;
    }
    if is_one_of(&["OK", "EOSE", "CLOSED", "NOTICE", "LIMITS"]) {
        return Format::Relay;
    }
    // EVENT and AUTH of a relay go on with a string. COUNT of a relay holds an object with a count,
    // which no filter has.
    let is_relay = RelayFrame::parse(frame).is_ok_and(|view| match view.message() {
        RelayMessage::Event { .. } | RelayMessage::Auth { .. } => true,
        RelayMessage::Count { count, .. } => count.is_ok(),
        _ => false,
    });
    // An event that is cut off or broken still shows its subscription id.
    let has_sub = label.eq_str("EVENT") && peek_sub_id(frame).is_some();
    if is_relay || has_sub { Format::Relay } else { Format::Client }
}

fn default_encoding(format: Format) -> Encoding {
    match format {
        Format::Event | Format::Client | Format::Relay | Format::Neg => Encoding::Lines,
        Format::Negentropy | Format::Waku => Encoding::Bytes,
    }
}
