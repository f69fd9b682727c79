//! A line break behind each frame.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use memchr::memchr;
use tokio_util::codec::{Decoder, Encoder};

use crate::codec::room::{READ_BUFFER, make_room};
use crate::codec::{CodecError, Ends, Framing};
use crate::error::{Error, ErrorKind, Expected};
use crate::json::read::is_blank;

/// Newline-separated JSON: one frame a line.
///
/// ```text
/// stream := line*
/// line   := frame? "\r"? "\n"
/// ```
///
/// A carriage return before the line break is not part of the frame, blank lines are passed over,
/// and the last line may end with the stream, all as [`ndjson::lines`](crate::ndjson::lines) has it. A line over the maximum is refused as soon as that
/// much of it is there. Whether a line is JSON is for its view to say; JSON that ends too early is
/// [`ErrorKind::Incomplete`] there, yet final, since the line has ended.
///
/// Source: ndjson.org, "NDJSON specification"; jsonlines.org.
///
/// ```
/// use borrowire::codec::JsonLines;
/// use bytes::BytesMut;
/// use tokio_util::codec::Decoder;
///
/// let mut codec = JsonLines::new(1024);
/// let mut stream = BytesMut::from(&b"[1]\r\n\n{}\n[2"[..]);
/// assert_eq!(codec.decode(&mut stream)?.unwrap(), b"[1]"[..]);
/// assert_eq!(codec.decode(&mut stream)?.unwrap(), b"{}"[..]);
/// assert!(codec.decode(&mut stream)?.is_none());
/// assert_eq!(codec.decode_eof(&mut stream)?.unwrap(), b"[2"[..]);
/// # Ok::<(), borrowire::codec::CodecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonLines {
    max: u32,
    /// How many bytes of the buffer are known to hold no line break.
    searched: usize,
}

impl JsonLines {
    /// Lines of at most `max` bytes, the line break not counted.
    pub const fn new(max: u32) -> Self {
        Self { max, searched: 0 }
    }

    /// The longest line allowed, in bytes.
    pub const fn max(&self) -> u32 {
        self.max
    }

    fn check(&self, len: usize) -> Result<(), Error> {
        if len as u64 <= self.max.into() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::too_long(len, self.max), 0, LINE))
    }
}

impl Framing for JsonLines {
    fn take(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Error> {
        // Another buffer than last time may be shorter.
        self.searched = self.searched.min(buffer.len());
        while let Some(found) = memchr(b'\n', &buffer[self.searched..]) {
            let end = self.searched + found;
            let len = without_return(&buffer[..end]);
            self.check(len)?;
            let mut line = buffer.split_to(end + 1);
            self.searched = 0;
            line.truncate(len);
            if !is_blank(&line) {
                return Ok(Some(line.freeze()));
            }
        }
        self.searched = buffer.len();
        self.check(without_return(buffer))?;
        let double = buffer.len().saturating_mul(2).max(READ_BUFFER);
        make_room(buffer, double.min(self.max as usize + LINE_BREAK));
        Ok(None)
    }

    fn take_last(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Error> {
        if let Some(line) = self.take(buffer)? {
            return Ok(Some(line));
        }
        let len = without_return(buffer);
        self.searched = 0;
        let mut line = buffer.split();
        line.truncate(len);
        Ok((!is_blank(&line)).then(|| line.freeze()))
    }

    fn ends(&self, body: &(impl Buf + Clone)) -> Result<Ends, Error> {
        self.check(body.remaining())?;
        one_line(body)?;
        Ok(Ends { head: [0; 10], head_len: 0, tail: b"\n" })
    }
}

impl Decoder for JsonLines {
    type Item = Bytes;
    type Error = CodecError;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, CodecError> {
        Ok(self.take(buffer)?)
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, CodecError> {
        Ok(self.take_last(buffer)?)
    }
}

/// Refuses a blank body, and one that would be read back as other lines than it is.
impl<B: Buf + Clone> Encoder<B> for JsonLines {
    type Error = CodecError;

    fn encode(&mut self, body: B, out: &mut BytesMut) -> Result<(), CodecError> {
        let ends = self.ends(&body)?;
        out.reserve(body.remaining() + ends.tail().len());
        out.put(body);
        out.put_slice(ends.tail());
        Ok(())
    }
}

/// The length of a line without the carriage return at its end.
fn without_return(line: &[u8]) -> usize {
    line.len() - usize::from(line.last() == Some(&b'\r'))
}

/// Checks that `body` comes back as one line and as it is.
fn one_line(body: &(impl Buf + Clone)) -> Result<(), Error> {
    let mut rest = body.clone();
    let mut last = None;
    let mut blank = true;
    while rest.has_remaining() {
        let chunk = rest.chunk();
        let at = body.remaining() - rest.remaining();
        if let Some(found) = memchr(b'\n', chunk) {
            return Err(unexpected(b'\n', at + found));
        }
        last = chunk.last().copied();
        blank = blank && is_blank(chunk);
        let len = chunk.len();
        rest.advance(len);
    }
    match last {
        _ if blank => Err(Error::new(ErrorKind::Missing, 0, LINE)),
        Some(b'\r') => Err(unexpected(b'\r', body.remaining() - 1)),
        _ => Ok(()),
    }
}

fn unexpected(found: u8, at: usize) -> Error {
    let kind = ErrorKind::Unexpected { expected: Expected::OneLine, found: Some(found) };
    Error::new(kind, at, LINE)
}

/// Bytes of the longest line break.
const LINE_BREAK: usize = 2;
const LINE: &str = "codec.line";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splice::Splice;

    #[test]
    fn the_text_of_every_error() {
        let long = "codec.line: 4 bytes, at most 3 allowed, at byte 0";
        for stream in [&b"abcd"[..], b"abcd\n", b"abcd\r\n", b"abc\rd"] {
            let mut buffer = BytesMut::from(stream);
            let mut codec = JsonLines::new(3);
            let error = codec.take(&mut buffer).unwrap_err();
            assert_eq!(codec.take(&mut buffer), Err(error));
            assert_eq!(codec.take_last(&mut buffer), Err(error));
            assert_eq!(buffer, stream);
            assert_eq!(error.to_string(), if stream == b"abc\rd" { long5() } else { long.into() });
        }
        let encode = |body: Splice| {
            let mut out = BytesMut::new();
            let error = JsonLines::new(9).encode(body, &mut out).unwrap_err();
            assert!(out.is_empty());
            error.to_string()
        };
        let splice = |tail: &[u8]| Splice::new(b"ab", Bytes::from_static(b"cd"), tail);
        let break_inside = "codec.line: text without line breaks expected, found 0x0a, at byte 5";
        assert_eq!(encode(splice(b"e\nf")), break_inside);
        let return_behind = "codec.line: text without line breaks expected, found 0x0d, at byte 4";
        assert_eq!(encode(splice(b"\r")), return_behind);
        let empty = encode(Splice::new(b"", Bytes::new(), b""));
        assert_eq!(empty, "codec.line: missing, at byte 0");
        let blank = encode(Splice::new(b" \t", Bytes::from_static(b"  "), b"\r"));
        assert_eq!(blank, "codec.line: missing, at byte 0");
        assert_eq!(encode(splice(b"efghij")), "codec.line: 10 bytes, at most 9 allowed, at byte 0");
    }

    fn long5() -> String {
        "codec.line: 5 bytes, at most 3 allowed, at byte 0".to_owned()
    }

    #[test]
    fn a_line_as_long_as_allowed_passes_with_any_line_break() {
        for (line_break, room) in [("\n", 8194), ("\r\n", 8194), ("", 8194)] {
            let mut codec = JsonLines::new(8192);
            let mut buffer = BytesMut::new();
            for byte in "x".repeat(8192).bytes().chain(line_break.bytes()) {
                assert_eq!(codec.take(&mut buffer), Ok(None));
                assert!(buffer.capacity() <= room);
                buffer.put_u8(byte);
            }
            let line = codec.take_last(&mut buffer).unwrap().unwrap();
            assert_eq!(line.len(), 8192);
            assert_eq!(codec.take_last(&mut buffer), Ok(None));
        }
    }

    #[test]
    fn every_byte_is_searched_once() {
        let mut codec = JsonLines::new(100);
        let mut buffer = BytesMut::from(&b"abc"[..]);
        assert_eq!((codec.take(&mut buffer), codec.searched), (Ok(None), 3));
        buffer.extend_from_slice(b"de\nfg");
        assert_eq!(codec.take(&mut buffer), Ok(Some(Bytes::from_static(b"abcde"))));
        assert_eq!((codec.take(&mut buffer), codec.searched), (Ok(None), 2));
    }
}
