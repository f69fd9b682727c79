//! A varint in front of each frame.

use std::num::NonZeroU32;
use std::ops::Range;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use crate::codec::room::{justified, make_room};
use crate::codec::{CodecError, Ends, Framing};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::proto;
use crate::rules::Rules;

/// Frames behind their length, as every Waku protocol over libp2p but gossip sends them.
///
/// ```text
/// stream := frame*
/// frame  := varint(n) n bytes
/// ```
///
/// A length over the maximum is refused once its varint is there, an over-long varint at its
/// eleventh byte, and one that is longer than need be (`82 00`) as the rules say, refused by
/// default. A length of zero is a frame of no bytes. A stream that ends within a frame errs with
/// [`ErrorKind::Truncated`].
///
/// Source: libp2p specs, `README.md`, "Unsigned varints"; nim-libp2p `lpstream.nim` for what is
/// refused.
///
/// ```
/// use borrowire::codec::LengthPrefixed;
/// use bytes::{Bytes, BytesMut};
/// use tokio_util::codec::{Decoder, Encoder};
///
/// let mut codec = LengthPrefixed::new(1024);
/// let mut stream = BytesMut::new();
/// codec.encode(&b"hello"[..], &mut stream)?;
/// assert_eq!(stream, b"\x05hello"[..]);
/// let frame = codec.decode(&mut stream)?.unwrap();
/// assert_eq!(frame, b"hello"[..]);
///
/// let error = codec.decode(&mut BytesMut::from(&b"\x81\x08"[..])).unwrap_err();
/// assert_eq!(error.to_string(), "codec.length: 1025 bytes, at most 1024 allowed, at byte 0");
/// # Ok::<(), borrowire::codec::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LengthPrefixed {
    max: u32,
    rules: Rules,
}

impl LengthPrefixed {
    /// Frames of at most `max` bytes, the prefix not counted, both read and written; see
    /// [`Protocol`](crate::codec::Protocol).
    pub const fn new(max: u32) -> Self {
        Self { max, rules: Rules::STRICT }
    }

    /// The same with prefixes read under other rules: [`Rules::PROTO3`] takes those that are longer
    /// than need be.
    #[must_use]
    pub const fn with_rules(mut self, rules: &Rules) -> Self {
        self.rules = *rules;
        self
    }

    /// The longest frame allowed, in bytes.
    pub const fn max(&self) -> u32 {
        self.max
    }

    /// Where in `bytes` the first frame lies, its prefix left out.
    ///
    /// Errs with [`ErrorKind::Incomplete`] where it has not arrived whole. Needs no buffer of any
    /// kind: for those who read files, or by other means than here.
    pub fn find(&self, bytes: &[u8]) -> Result<Range<usize>, Error> {
        let frame = self.announced(bytes)?;
        match frame.end.checked_sub(bytes.len()).and_then(|needed| u32::try_from(needed).ok()) {
            None | Some(0) => Ok(frame),
            needed => Err(incomplete(bytes, needed.and_then(NonZeroU32::new))),
        }
    }

    /// Where the first frame lies or will lie, once its prefix is there.
    fn announced(&self, bytes: &[u8]) -> Result<Range<usize>, Error> {
        let mut cursor = Cursor::new(bytes);
        let len = match cursor.varint(&self.rules, LENGTH) {
            Ok(len) => len,
            Err(error) if matches!(error.kind(), ErrorKind::Truncated { .. }) => {
                return Err(incomplete(bytes, None));
            }
            Err(error) => return Err(error),
        };
        self.check(len)?;
        Ok(cursor.position()..cursor.position() + len as usize)
    }

    fn check(&self, len: u64) -> Result<(), Error> {
        if len <= self.max.into() {
            return Ok(());
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Err(Error::new(ErrorKind::too_long(len, self.max), 0, LENGTH))
    }

    /// Appends to `out` a frame whose body, `len` bytes long, `write` appends: for builders, which
    /// then write where the frame is to be sent from.
    ///
    /// Errs, and appends nothing, if `len` is over the maximum.
    ///
    /// # Panics
    /// If `write` appends another number of bytes.
    ///
    /// ```
    /// use borrowire::codec::LengthPrefixed;
    /// use borrowire::waku::lightpush::ResponseBuilder;
    /// use bytes::BytesMut;
    ///
    /// let response = ResponseBuilder::success("r", 3);
    /// let mut out = BytesMut::new();
    /// let codec = LengthPrefixed::new(65_536);
    /// codec.put(&mut out, response.encoded_len(), |out| response.encode(out))?;
    /// assert_eq!(out, b"\x08\x0a\x01r\x50\xc8\x01\x60\x03"[..]);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    pub fn put(
        &self,
        out: &mut BytesMut,
        len: usize,
        write: impl FnOnce(&mut BytesMut),
    ) -> Result<(), Error> {
        self.check(len as u64)?;
        let (prefix, prefix_len) = proto::varint(len as u64);
        out.reserve(prefix_len + len);
        out.put_slice(&prefix[..prefix_len]);
        let start = out.len();
        write(out);
        assert_eq!(out.len() - start, len, "another length was written than was announced");
        Ok(())
    }
}

impl Framing for LengthPrefixed {
    fn take(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Error> {
        let frame = match self.announced(buffer) {
            Ok(frame) => frame,
            Err(error) if error.is_incomplete() => {
                make_room(buffer, 0);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if frame.end > buffer.len() {
            make_room(buffer, justified(frame.end, buffer.len()));
            return Ok(None);
        }
        buffer.advance(frame.start);
        let body = buffer.split_to(frame.len()).freeze();
        if buffer.capacity() == 0 {
            // Lets go of the frame's buffer, so that it is not read into again.
            *buffer = BytesMut::new();
        }
        Ok(Some(body))
    }

    fn take_last(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Error> {
        if buffer.is_empty() {
            return Ok(None);
        }
        match self.announced(buffer) {
            Ok(frame) if frame.end > buffer.len() => {
                let remaining = buffer.len() - frame.start;
                let kind = ErrorKind::truncated(frame.len() as u64, remaining);
                Err(Error::new(kind, frame.start, FRAME))
            }
            Ok(_) => self.take(buffer),
            Err(error) if error.is_incomplete() => {
                let kind = ErrorKind::truncated(buffer.len() as u64 + 1, buffer.len());
                Err(Error::new(kind, 0, LENGTH))
            }
            Err(error) => Err(error),
        }
    }

    fn ends(&self, body: &(impl Buf + Clone)) -> Result<Ends, Error> {
        let len = body.remaining() as u64;
        self.check(len)?;
        let (head, head_len) = proto::varint(len);
        Ok(Ends { head, head_len: head_len as u8, tail: &[] })
    }
}

impl Decoder for LengthPrefixed {
    type Item = Bytes;
    type Error = CodecError;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, CodecError> {
        Ok(self.take(buffer)?)
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, CodecError> {
        Ok(self.take_last(buffer)?)
    }
}

/// Writes `&[u8]`, `Bytes` and splices alike into the buffer of tokio-util's sink, which copies
/// them; [`write_frame`](crate::codec::write_frame) does not.
impl<B: Buf> Encoder<B> for LengthPrefixed {
    type Error = CodecError;

    fn encode(&mut self, body: B, out: &mut BytesMut) -> Result<(), CodecError> {
        Ok(self.put(out, body.remaining(), |out| out.put(body))?)
    }
}

fn incomplete(bytes: &[u8], needed: Option<NonZeroU32>) -> Error {
    Error::new(ErrorKind::Incomplete { needed }, bytes.len(), FRAME)
}

const LENGTH: &str = "codec.length";
const FRAME: &str = "codec.frame";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::READ_BUFFER;

    #[test]
    fn the_text_of_every_error() {
        for (stream, text) in [
            (&b"\x05"[..], "codec.length: 5 bytes, at most 4 allowed, at byte 0"),
            (
                b"\xff\xff\xff\xff\x7f",
                "codec.length: 4294967295 bytes, at most 4 allowed, at byte 0",
            ),
            (&[0xff; 10], "codec.length: varint does not fit 64 bits, at byte 0"),
            (&[0x80; 11], "codec.length: varint does not fit 64 bits, at byte 0"),
            (b"\x82\x00ab", "codec.length: varint is not in its shortest form, at byte 0"),
        ] {
            let mut buffer = BytesMut::from(stream);
            let capacity = buffer.capacity();
            for _ in 0..2 {
                let error = LengthPrefixed::new(4).take(&mut buffer).unwrap_err();
                assert_eq!((error.to_string(), buffer.capacity()), (text.to_owned(), capacity));
                assert_eq!(buffer, stream);
                assert_eq!(LengthPrefixed::new(4).take_last(&mut buffer), Err(error));
                assert_eq!(LengthPrefixed::new(4).find(stream), Err(error));
            }
        }
        let last = |stream: &[u8]| LengthPrefixed::new(300).take_last(&mut BytesMut::from(stream));
        let error = last(b"\x03ab").unwrap_err().to_string();
        assert_eq!(error, "codec.frame: truncated, 3 bytes needed, 2 left, at byte 1");
        let error = last(b"\x83").unwrap_err().to_string();
        assert_eq!(error, "codec.length: truncated, 2 bytes needed, 1 left, at byte 0");
        assert_eq!(last(b""), Ok(None));
        assert_eq!(last(b"\0"), Ok(Some(Bytes::new())));
        let mut out = BytesMut::new();
        let error = LengthPrefixed::new(2).encode(&b"abc"[..], &mut out).unwrap_err();
        assert_eq!(error.to_string(), "codec.length: 3 bytes, at most 2 allowed, at byte 0");
        assert!(out.is_empty() && error.frame().is_some());
    }

    #[test]
    fn what_is_missing_is_told_where_it_is_known() {
        let codec = LengthPrefixed::new(300);
        let needed = |bytes| match codec.find(bytes).unwrap_err().kind() {
            ErrorKind::Incomplete { needed } => needed.map(NonZeroU32::get),
            kind => panic!("{kind}"),
        };
        assert_eq!((needed(b""), needed(b"\x80"), needed(b"\x03a")), (None, None, Some(2)));
        assert_eq!(codec.find(b"\x01ab"), Ok(1..2));
        let padded = LengthPrefixed::new(300).with_rules(&Rules::PROTO3);
        assert_eq!((padded.find(b"\x82\x00ab"), padded.max()), (Ok(2..4), 300));
    }

    #[test]
    fn a_frame_lies_in_the_read_buffer_or_in_one_of_its_own() {
        let mut codec = LengthPrefixed::new(100_000);
        let mut buffer = BytesMut::with_capacity(READ_BUFFER);
        buffer.extend_from_slice(b"\x01a\x02bc\xa0\x8d\x06");
        let start = buffer.as_ptr() as usize;
        let small = [codec.take(&mut buffer), codec.take(&mut buffer)].map(|f| f.unwrap().unwrap());
        assert_eq!(small.each_ref().map(|frame| frame.as_ptr() as usize), [start + 1, start + 3]);
        assert_eq!(codec.take(&mut buffer), Ok(None));
        assert_eq!(buffer.capacity(), 3 + 100_000, "no room for what is behind the frame");
        buffer.resize(3 + 100_000, 7);
        let start = buffer.as_ptr() as usize;
        let large = codec.take(&mut buffer).unwrap().unwrap();
        assert_eq!((large.as_ptr() as usize, large.len()), (start + 3, 100_000));
        drop(large);
        assert_eq!(codec.take(&mut buffer), Ok(None));
        assert_eq!(buffer.capacity(), READ_BUFFER);
    }
}
