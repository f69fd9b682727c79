//! The bytes under a view, and what has been proved of them.

#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};

use bytes::Bytes;

use crate::error::{Error, ErrorKind};

/// What a view may borrow from: [`Bytes`] for views that own their buffer and cross tasks, `&[u8]`
/// for scans without reference counting.
///
/// Sealed: a view checks its bytes once and trusts them afterwards, so a buffer must give the same
/// bytes at every call, which a foreign `AsRef` need not.
pub trait Buffer: AsRef<[u8]> + Clone + fmt::Debug + sealed::Sealed {}

impl Buffer for Bytes {}
impl Buffer for &[u8] {}

mod sealed {
    use std::ops::Range;

    pub trait Sealed {
        /// The bytes of `range` as a buffer of the same kind: a share of it, or the same borrow.
        fn part(&self, range: Range<usize>) -> Self;
    }

    impl Sealed for bytes::Bytes {
        #[inline(always)]
        fn part(&self, range: Range<usize>) -> Self {
            self.slice(range)
        }
    }

    impl Sealed for &[u8] {
        #[inline(always)]
        fn part(&self, range: Range<usize>) -> Self {
            &self[range]
        }
    }
}

/// A range of a frame in 32-bit offsets. Frames are at most `u32::MAX` bytes long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// A span from byte `start`, `len` bytes long.
    #[inline(always)]
    pub const fn new(start: u32, len: u32) -> Self {
        Self { start, len }
    }

    /// The span as a range, for slicing.
    #[inline(always)]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// How many bytes it holds.
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it holds no byte.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// UTF-8 text that shares its buffer: a [`Bytes`] that was checked once.
///
/// ```
/// use borrowire::buffer::Text;
///
/// let topic = Text::from("/waku/2/rs/0/0");
/// assert_eq!(topic.clone().as_str(), "/waku/2/rs/0/0");
/// ```
#[derive(Clone, Default)]
pub struct Text(Bytes);

impl Text {
    /// Text that lives for the whole program; shares it, copies nothing.
    pub const fn from_static(text: &'static str) -> Self {
        Self(Bytes::from_static(text.as_bytes()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // SAFETY: every constructor takes a `str` or checks the bytes, and `Bytes` never change.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }

    /// The buffer, as bytes.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl TryFrom<Bytes> for Text {
    type Error = Error;

    fn try_from(bytes: Bytes) -> Result<Self, Error> {
        match check_utf8(&bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(valid) => Err(Error::new(ErrorKind::Utf8, valid, "text")),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Bytes::from(text))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl Eq for Text {}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A buffer that is to become a frame, and whether it is known to be UTF-8 as a whole.
pub(crate) struct Source<B> {
    buffer: B,
    utf8: bool,
}

impl<B: Buffer> From<B> for Source<B> {
    #[inline(always)]
    fn from(buffer: B) -> Self {
        Self { buffer, utf8: false }
    }
}

impl From<Text> for Source<Bytes> {
    #[inline(always)]
    fn from(text: Text) -> Self {
        Self { buffer: text.0, utf8: true }
    }
}

impl<'a> From<&'a str> for Source<&'a [u8]> {
    #[inline(always)]
    fn from(text: &'a str) -> Self {
        Self { buffer: text.as_bytes(), utf8: true }
    }
}

impl<B: Buffer> Source<B> {
    /// The bytes of the buffer.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.as_ref()
    }
}

/// A frame under a view: the buffer, `N` spans into it, and which of them are known to be UTF-8.
///
/// The buffer never changes, and the spans are set only while [`Frame::parse`] runs, so what was
/// proved of a span then stays true, and reading it needs no second check.
#[derive(Clone)]
pub(crate) struct Frame<B, const N: usize> {
    buffer: B,
    spans: [Span; N],
    /// Bit `i` set: the bytes of `spans[i]` are UTF-8.
    utf8: u16,
}

impl<B: Buffer, const N: usize> Frame<B, N> {
    /// Lets `read` mark the spans of the buffer of `source`.
    #[inline(always)]
    pub(crate) fn parse(
        source: impl Into<Source<B>>,
        read: impl FnOnce(&mut Marks<'_, N>) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        const { assert!(N <= u16::BITS as usize) };
        let Source { buffer, utf8 } = source.into();
        let bytes = buffer.as_ref();
        // SAFETY: only text makes a `Source` that says so, and a sealed `Buffer` gives the same
        // bytes at every call.
        let text = utf8.then(|| unsafe { std::str::from_utf8_unchecked(bytes) });
        let mut marks = Marks { bytes, text, spans: [Span::default(); N], utf8: 0 };
        read(&mut marks)?;
        let Marks { spans, utf8, .. } = marks;
        Ok(Self { buffer, spans, utf8 })
    }

    #[inline(always)]
    pub(crate) fn buffer(&self) -> &B {
        &self.buffer
    }

    #[inline(always)]
    pub(crate) fn span(&self, i: usize) -> Span {
        self.spans[i]
    }

    /// The bytes of span `i`.
    #[inline(always)]
    pub(crate) fn bytes(&self, i: usize) -> &[u8] {
        &self.buffer.as_ref()[self.spans[i].range()]
    }

    /// The bytes of `span` as a buffer of their own: a share, or the same borrow.
    #[inline(always)]
    pub(crate) fn part(&self, span: Span) -> B {
        self.buffer.part(span.range())
    }

    /// The text of span `i`, or `None` if it is not UTF-8. Free where the span was set as text.
    #[inline(always)]
    pub(crate) fn text(&self, i: usize) -> Option<&str> {
        let bytes = self.bytes(i);
        if self.utf8 & 1 << i != 0 {
            // SAFETY: `Marks::set_text` checked these very bytes before it set the bit, `set`
            // clears the bit when it moves the span, `Frame::parse` took both from the marks of
            // this buffer, and a sealed `Buffer` gives the same bytes at every call.
            return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
        }
        std::str::from_utf8(bytes).ok()
    }

    /// What lies in span `i`, in a buffer of its own. Spans that do not lie in it are empty there.
    pub(crate) fn detach_span(&self, i: usize) -> Frame<Bytes, N> {
        let whole = self.spans[i].range();
        let moved = |span: Span| match span.range() {
            range if range.start < whole.start || range.end > whole.end => Span::default(),
            _ => Span { start: span.start - self.spans[i].start, ..span },
        };
        let buffer = Bytes::copy_from_slice(self.bytes(i));
        Frame { buffer, spans: self.spans.map(moved), utf8: self.utf8 }
    }

    /// The same frame in a buffer of its own.
    pub(crate) fn detach(&self) -> Frame<Bytes, N> {
        let buffer = Bytes::copy_from_slice(self.buffer.as_ref());
        Frame { buffer, spans: self.spans, utf8: self.utf8 }
    }

    /// The same frame, borrowed.
    pub(crate) fn borrowed(&self) -> Frame<&[u8], N> {
        Frame { buffer: self.buffer.as_ref(), spans: self.spans, utf8: self.utf8 }
    }
}

/// Where the spans of a frame are marked while it is parsed. Lives only as long as the call of
/// [`Frame::parse`] that made it, under a lifetime of its own, so marks of one buffer cannot end
/// up in the frame of another.
pub(crate) struct Marks<'a, const N: usize> {
    bytes: &'a [u8],
    /// The bytes once more, if all of them are known to be UTF-8.
    text: Option<&'a str>,
    spans: [Span; N],
    utf8: u16,
}

impl<'a, const N: usize> Marks<'a, N> {
    /// Points span `i` at bytes that may be anything.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, span: Span) {
        debug_assert!(span.range().end <= self.bytes.len());
        self.utf8 &= !(1 << i);
        self.spans[i] = span;
    }

    /// Points all spans at text, of which each is checked; free if `text` is the whole frame.
    /// `Err` is the place of a byte that is not UTF-8.
    #[inline(always)]
    pub(crate) fn set_texts(&mut self, text: &'a str, spans: [Span; N]) -> Result<(), usize> {
        let is_whole = std::ptr::eq(text.as_bytes(), self.bytes);
        let cuts = |span: &Span| {
            let range = span.range();
            !(text.is_char_boundary(range.start) && text.is_char_boundary(range.end))
        };
        if !is_whole || spans.iter().any(cuts) {
            for span in &spans {
                let check = check_utf8(&self.bytes[span.range()]);
                check.map_err(|valid| span.range().start + valid)?;
            }
        }
        self.spans = spans;
        self.utf8 = u16::MAX >> (u16::BITS as usize - N);
        Ok(())
    }

    /// Points span `i` at bytes that must be UTF-8, or says how many of them are.
    #[inline(always)]
    pub(crate) fn set_text(&mut self, i: usize, span: Span) -> Result<(), usize> {
        check_utf8(&self.bytes[span.range()])?;
        self.spans[i] = span;
        self.utf8 |= 1 << i;
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes as text, if they are known to be UTF-8.
    #[inline(always)]
    pub(crate) fn text(&self) -> Option<&'a str> {
        self.text
    }

    #[inline(always)]
    pub(crate) fn span(&self, i: usize) -> Span {
        self.spans[i]
    }
}

/// Whether `bytes` are UTF-8; if not, how many of them are.
#[inline(always)]
pub(crate) fn check_utf8(bytes: &[u8]) -> Result<(), usize> {
    // Topics are short and ASCII: eight bytes at a time, the last eight read again to end flush.
    if let (8..=64, Some(last)) = (bytes.len(), bytes.last_chunk::<8>()) {
        let (words, _) = bytes.as_chunks::<8>();
        let all = words
            .iter()
            .fold(u64::from_ne_bytes(*last), |all, word| all | u64::from_ne_bytes(*word));
        if all & 0x8080_8080_8080_8080 == 0 {
            return Ok(());
        }
    }
    check_utf8_any(bytes)
}

fn check_utf8_any(bytes: &[u8]) -> Result<(), usize> {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.valid_up_to()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_check_agrees_with_std_at_every_length_and_place() {
        for len in 0..=130 {
            let mut bytes = vec![b'a'; len];
            assert_eq!(check_utf8(&bytes), Ok(()));
            for at in 0..len {
                for bad in [0x80, 0xc3, 0xff] {
                    bytes[at] = bad;
                    let std = std::str::from_utf8(&bytes).map(drop).map_err(|e| e.valid_up_to());
                    assert_eq!(check_utf8(&bytes), std, "{bad:#x} at {at} of {len}");
                }
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn whole_text_proves_spans_that_cut_no_character() {
        let frame = "aé".as_bytes();
        let whole = std::str::from_utf8(frame).unwrap();
        for text in [whole, "aé, another text"] {
            let parsed = Frame::parse(frame, |marks: &mut Marks<'_, 2>| {
                let cut = [Span::new(0, 1), Span::new(0, 2)];
                assert_eq!(marks.set_texts(text, cut), Err(1));
                assert_eq!(marks.set_texts(text, [Span::new(1, 2), Span::new(2, 1)]), Err(2));
                assert_eq!(marks.set_texts(text, [Span::new(0, 1), Span::new(1, 2)]), Ok(()));
                Ok(())
            });
            assert_eq!(parsed.unwrap().text(1), Some("é"));
        }
    }

    #[test]
    fn what_is_detached_holds_the_spans_within_it() {
        let frame = Frame::parse("a[é]bc", |marks: &mut Marks<'_, 4>| {
            marks.set_text(0, Span::new(1, 4)).unwrap();
            marks.set_text(1, Span::new(2, 2)).unwrap();
            marks.set_text(2, Span::new(0, 1)).unwrap();
            marks.set_text(3, Span::new(4, 2)).unwrap();
            Ok(())
        });
        let detached = frame.unwrap().detach_span(0);
        let texts = [0, 1, 2, 3].map(|i| detached.text(i));
        assert_eq!(texts, [Some("[é]"), Some("é"), Some(""), Some("")]);
    }

    #[test]
    fn a_span_that_moves_is_text_no_longer() {
        let text = |moved| {
            let read = |marks: &mut Marks<'_, 1>| {
                assert_eq!(marks.set_text(0, Span::new(0, 3)), Err(2));
                assert_eq!(marks.set_text(0, Span::new(0, 2)), Ok(()));
                if moved {
                    marks.set(0, Span::new(1, 2));
                }
                Ok(())
            };
            let frame = Frame::parse(&b"ab\xff"[..], read).unwrap();
            frame.text(0).map(str::to_owned)
        };
        assert_eq!(text(false).as_deref(), Some("ab"));
        assert_eq!(text(true), None);
    }
}
