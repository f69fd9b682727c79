//! What a frame's error looks like: for people, with the bytes around it and a caret; for machines,
//! as an object.

use std::fmt;

use borrowire::Error;
use serde::Serialize;

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
pub(crate) struct BadFrameJson {
    pub(crate) ok: bool,
    pub(crate) format: &'static str,
    pub(crate) len: usize,
    pub(crate) error: ErrorJson,
}

/// The rows of a hex dump around byte `offset`, with a caret under it.
pub(crate) struct Caret<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: usize,
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
