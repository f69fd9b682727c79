//! Printing: JSON lines for machines, and bad frames for both; people see the bytes around the
//! error with a caret.

use std::fmt;
use std::io::Write;

use borrowire::Error;
use serde::Serialize;

use super::Failure;
use super::input::Frame;

/// Writes one JSON object and the end of its line.
pub(crate) fn write_json(json: &impl Serialize, out: &mut impl Write) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, json).map_err(|error| Failure::Output(error.into()))?;
    write_text("\n", out)
}

/// Writes the JSON object of a bad frame.
pub(crate) fn write_bad_json(
    frame: &Frame,
    error: Error,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (format, len) = (frame.format.name(), frame.bytes.len());
    write_json(&BadFrameJson { ok: false, format, len, error: error.into() }, out)
}

/// A bad frame as people read it.
pub(crate) fn show_bad(frame: &Frame, error: Error) -> String {
    show_bad_bytes(&frame.name, frame.format.name(), &frame.bytes, error)
}

/// Bad bytes as people read them: where they came from, what they should be, the error, and a caret
/// under its byte.
pub(crate) fn show_bad_bytes(name: &str, what: &str, bytes: &[u8], error: Error) -> String {
    let caret = Caret { bytes, offset: error.offset() };
    format!("{name}: {what}, {} bytes, bad\n  {error}\n{caret}", bytes.len())
}

/// Writes text.
pub(crate) fn write_text(text: &str, out: &mut impl Write) -> Result<(), Failure> {
    out.write_all(text.as_bytes()).map_err(Failure::Output)
}

/// The object under `error` of a bad frame.
#[derive(Serialize)]
pub(crate) struct ErrorJson {
    kind: &'static str,
    offset: usize,
    context: &'static str,
    message: String,
}

impl From<Error> for ErrorJson {
    fn from(error: Error) -> Self {
        Self {
            kind: error.kind().name(),
            offset: error.offset(),
            context: error.context(),
            message: error.to_string(),
        }
    }
}

/// The line of a bad frame.
#[derive(Serialize)]
struct BadFrameJson {
    ok: bool,
    format: &'static str,
    len: usize,
    error: ErrorJson,
}

/// The rows of a hex dump around byte `offset`, with a caret under it.
struct Caret<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl fmt::Display for Caret<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // At the end of a full row, the caret stands in the empty row after it.
        let row = self.offset.min(self.bytes.len()) / ROW;
        for row in row.saturating_sub(1)..=row {
            let start = row * ROW;
            let bytes = &self.bytes[start..self.bytes.len().min(start + ROW)];
            write!(f, "  {start:08x} ")?;
            for i in 0..ROW {
                match bytes.get(i) {
                    Some(byte) => write!(f, " {byte:02x}")?,
                    None => f.write_str("   ")?,
                }
            }
            f.write_str("  ")?;
            for byte in bytes {
                let shown = if matches!(byte, 0x20..=0x7e) { *byte } else { b'.' };
                write!(f, "{}", shown as char)?;
            }
            writeln!(f)?;
        }
        let column = self.offset.min(self.bytes.len()) % ROW;
        writeln!(f, "{:width$}^^", "", width = 12 + 3 * column)
    }
}

/// Bytes in a row of the dump.
const ROW: usize = 16;
