//! Frames assembled around a body that many of them share.
//!
//! ```text
//! head (own)  body (shared)       tail (own)
//! 0a 12       0a 01 01 12 01 61…  12 01 74     a filter push around a WakuMessage
//! ["EVENT","  …                               ]
//! ```
//!
//! A message that goes to many peers is received once and sent many times, each time with a few
//! other bytes around it. Two forms, for two kinds of socket, and one for many bodies:
//!
//! - [`Splice`] is the three parts as a [`Buf`], for writers that take several slices at once
//!   (`write_vectored`: raw sockets, libp2p streams, HTTP/2). The body is never copied.
//! - [`Headroom`] is one slice, for libraries that want one (WebSocket). The body is copied once;
//!   after that every frame costs its head alone.
//! - [`Splices`] is a [`Splice`] with many bodies.

mod many;

use std::fmt;
use std::io::IoSlice;

use bytes::{Buf, BufMut, Bytes};

use crate::buffer::Span;
use crate::counters;
use crate::hex::Hex;

pub use many::Splices;
pub(crate) use many::SplicesBuilder;

/// A frame in three parts: a head, a body that is shared with other frames, and a tail.
///
/// Cloning counts a reference. A head and a tail of up to [`INLINE`](Self::INLINE) bytes together
/// lie in the value itself; longer ones take an allocation that clones share.
///
/// Below about 2 kB a copy in one buffer costs less to hand on than three slices do; what a splice
/// saves grows with the body.
///
/// ```
/// use borrowire::splice::Splice;
/// use bytes::{Buf, Bytes};
///
/// let event = Bytes::from_static(br#"{"kind":1}"#);
/// let mut frame = Splice::new(br#"["EVENT","sub","#, event.clone(), b"]");
/// assert_eq!(frame.to_vec(), br#"["EVENT","sub",{"kind":1}]"#);
/// assert_eq!(frame.body().as_ptr(), event.as_ptr());
///
/// frame.advance(15);
/// assert_eq!(frame.chunk(), &event[..]);
/// ```
#[derive(Clone)]
pub struct Splice {
    body: Bytes,
    ends: Ends,
    /// What is left of the head, in `ends`.
    head: Span,
    /// What is left of the tail, in `ends`.
    tail: Span,
}

impl Splice {
    /// How long head and tail together may be without taking an allocation.
    pub const INLINE: usize = 79;

    /// A frame of these three parts.
    ///
    /// # Panics
    /// If head and tail together are longer than `u32::MAX` bytes.
    pub fn new(head: &[u8], body: Bytes, tail: &[u8]) -> Self {
        let mut builder = SpliceBuilder::new();
        builder.extend(head);
        builder.end_head();
        builder.extend(tail);
        builder.build(body)
    }

    /// What is left of the head.
    pub fn head(&self) -> &[u8] {
        &self.ends.bytes()[self.head.range()]
    }

    /// What is left of the body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// What is left of the tail.
    pub fn tail(&self) -> &[u8] {
        &self.ends.bytes()[self.tail.range()]
    }

    /// How many bytes are left, all parts together.
    pub fn len(&self) -> usize {
        self.head.len() + self.body.len() + self.tail.len()
    }

    /// Whether no byte is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is left, copied into one buffer.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len());
        self.copy_to(&mut out);
        out
    }

    /// Appends what is left to `out`. Copies the body, and counts that.
    ///
    /// # Panics
    /// If `out` cannot grow and has no room; `Vec<u8>` and `BytesMut` grow.
    pub fn copy_to(&self, out: &mut impl BufMut) {
        counters::copy(self.body.len());
        out.put_slice(self.head());
        out.put_slice(&self.body);
        out.put_slice(self.tail());
    }
}

impl Buf for Splice {
    fn remaining(&self) -> usize {
        self.len()
    }

    fn chunk(&self) -> &[u8] {
        match (self.head(), &self.body[..]) {
            ([], []) => self.tail(),
            ([], body) => body,
            (head, _) => head,
        }
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let parts = [self.head(), &self.body[..], self.tail()];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        slices.iter_mut().zip(parts).map(|(slice, part)| *slice = IoSlice::new(part)).count()
    }

    fn advance(&mut self, count: usize) {
        let remaining = self.len();
        assert!(count <= remaining, "cannot advance {count} bytes, {remaining} are left");
        let of_head = count.min(self.head.len());
        let of_body = (count - of_head).min(self.body.len());
        self.head = behind(self.head, of_head);
        self.tail = behind(self.tail, count - of_head - of_body);
        if of_body > 0 {
            self.body.advance(of_body);
        }
    }

    /// Shares the body where the bytes lie in it, copies them where they do not.
    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        if self.head().is_empty() && (1..=self.body.len()).contains(&len) {
            return self.body.split_to(len);
        }
        let remaining = self.len();
        assert!(len <= remaining, "cannot take {len} bytes, {remaining} are left");
        let mut out = Vec::with_capacity(len);
        out.put(self.take(len));
        out.into()
    }
}

impl fmt::Debug for Splice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splice")
            .field("head", &Hex(self.head()))
            .field("body_len", &self.body.len())
            .field("tail", &Hex(self.tail()))
            .finish()
    }
}

/// One buffer that holds a body and a tail behind a gap, into which one head after another is
/// written, flush with the body.
///
/// ```text
/// |   gap   | head 1 | body | tail |
/// | gap | longer head 2 | body | tail |
/// ```
///
/// ```
/// use borrowire::splice::Headroom;
///
/// let mut frames = Headroom::new(32, br#"{"kind":1}"#, b"]");
/// assert_eq!(frames.with_head(br#"["EVENT","a","#), br#"["EVENT","a",{"kind":1}]"#);
/// assert_eq!(frames.with_head(br#"["EVENT","bc","#), br#"["EVENT","bc",{"kind":1}]"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Headroom {
    buffer: Vec<u8>,
    /// Where the body begins.
    body: usize,
}

impl Headroom {
    /// Copies `body` and `tail` behind a gap that takes heads of up to `room` bytes.
    pub fn new(room: usize, body: &[u8], tail: &[u8]) -> Self {
        let mut new =
            Self { buffer: Vec::with_capacity(room + body.len() + tail.len()), body: room };
        new.set_body(body, tail);
        new
    }

    /// Puts another body and tail in the place of those that are there. The buffer is used again,
    /// and the gap stays as it is.
    pub fn set_body(&mut self, body: &[u8], tail: &[u8]) {
        counters::copy(body.len());
        self.buffer.resize(self.body, 0);
        self.buffer.extend_from_slice(body);
        self.buffer.extend_from_slice(tail);
    }

    /// The frame with this head. The borrow ends with the next head.
    ///
    /// A head that is longer than the gap widens it, which moves the body once.
    pub fn with_head(&mut self, head: &[u8]) -> &[u8] {
        if head.len() > self.body {
            self.widen(head.len());
        }
        let start = self.body - head.len();
        self.buffer[start..self.body].copy_from_slice(head);
        &self.buffer[start..]
    }

    /// The longest head that moves nothing.
    pub fn room(&self) -> usize {
        self.body
    }

    #[cold]
    fn widen(&mut self, room: usize) {
        let behind = self.buffer.len() - self.body;
        counters::copy(behind);
        self.buffer.resize(room + behind, 0);
        self.buffer.copy_within(self.body..self.body + behind, room);
        self.body = room;
    }
}

/// Collects the head and then the tail of a splice.
pub(crate) struct SpliceBuilder {
    ends: Ends,
    head_len: Option<usize>,
    len: usize,
}

impl SpliceBuilder {
    pub(crate) const fn new() -> Self {
        Self { ends: Ends::Inline([0; Splice::INLINE]), head_len: None, len: 0 }
    }

    /// Appends to the head, or to the tail once the head has ended. Meant for a few calls: beyond
    /// the inline room, each copies all.
    pub(crate) fn extend(&mut self, more: &[u8]) {
        let start = self.len;
        self.len += more.len();
        if let Ends::Inline(bytes) = &mut self.ends
            && let Some(room) = bytes.get_mut(start..self.len)
        {
            room.copy_from_slice(more);
            return;
        }
        self.ends = Ends::Shared([&self.ends.bytes()[..start], more].concat().into());
    }

    /// What follows belongs behind the body.
    pub(crate) fn end_head(&mut self) {
        self.head_len = Some(self.len);
    }

    pub(crate) fn build(self, body: Bytes) -> Splice {
        let len = u32::try_from(self.len).expect("a head and a tail below 4 GiB");
        let head_len = self.head_len.map_or(len, |head_len| head_len as u32);
        Splice {
            body,
            ends: self.ends,
            head: Span::new(0, head_len),
            tail: Span::new(head_len, len - head_len),
        }
    }
}

/// Head and tail in a row: in place, or shared if they are long.
#[derive(Clone)]
enum Ends {
    Inline([u8; Splice::INLINE]),
    Shared(Bytes),
}

impl Ends {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Inline(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// The span without its first `count` bytes.
const fn behind(span: Span, count: usize) -> Span {
    Span::new(span.range().start as u32 + count as u32, (span.len() - count) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_head_is_shared_by_clones() {
        let long = vec![7; Splice::INLINE + 1];
        let splice = Splice::new(&long, Bytes::from_static(b"body"), &long);
        let clone = splice.clone();
        assert_eq!(size_of::<Splice>(), 128);
        assert_eq!(clone.head().as_ptr(), splice.head().as_ptr());
        assert_eq!(clone.len(), 2 * long.len() + 4);
    }

    #[test]
    fn the_body_is_taken_without_copying() {
        let body = Bytes::from(vec![1; 100]);
        let mut splice = Splice::new(b"head", body.clone(), b"tail");
        splice.advance(4);
        let taken = splice.copy_to_bytes(60);
        assert_eq!((taken.as_ptr(), taken.len()), (body.as_ptr(), 60));
        assert_eq!(splice.copy_to_bytes(44), [&[1; 40][..], b"tail"].concat());
        assert!(splice.is_empty() && splice.copy_to_bytes(0).is_empty());
    }

    #[test]
    #[should_panic(expected = "cannot advance 6 bytes, 5 are left")]
    fn no_more_than_is_there_is_taken() {
        Splice::new(b"12", Bytes::from_static(b"34"), b"5").advance(6);
    }

    proptest! {
        #[test]
        fn a_splice_is_its_parts_from_wherever_it_is_read(
            head in vec(any::<u8>(), 0..200),
            body in vec(any::<u8>(), 0..50),
            tail in vec(any::<u8>(), 0..200),
            steps in vec(0_usize..100, 0..8),
            slices in 0_usize..5,
        ) {
            let whole = [&head[..], &body, &tail].concat();
            let mut splice = Splice::new(&head, body.into(), &tail);
            let mut at = 0;
            for step in steps {
                prop_assert_eq!(splice.to_vec(), &whole[at..]);
                prop_assert_eq!(splice.remaining(), whole.len() - at);
                let chunk = splice.chunk();
                prop_assert_eq!(chunk, &whole[at..at + chunk.len()]);
                prop_assert_eq!(chunk.is_empty(), at == whole.len());
                let mut out = [IoSlice::new(&[]); 5];
                let filled = splice.chunks_vectored(&mut out[..slices]);
                let seen: Vec<u8> = out[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
                prop_assert!(whole[at..].starts_with(&seen));
                prop_assert!(out[..filled].iter().all(|slice| !slice.is_empty()));
                prop_assert_eq!(seen.len() == whole.len() - at || filled == slices, true);
                let step = step.min(whole.len() - at);
                if step % 2 == 0 {
                    splice.advance(step);
                } else {
                    prop_assert_eq!(splice.copy_to_bytes(step), &whole[at..at + step]);
                }
                at += step;
            }
        }

        #[test]
        fn a_frame_with_headroom_is_its_parts(
            room in 0_usize..40,
            bodies in vec((vec(any::<u8>(), 0..50), vec(any::<u8>(), 0..5)), 1..4),
            heads in vec(vec(any::<u8>(), 0..60), 0..4),
        ) {
            let mut frames = Headroom::new(room, b"first", b"");
            for (body, tail) in &bodies {
                frames.set_body(body, tail);
                for head in &heads {
                    let whole = [&head[..], body, tail].concat();
                    prop_assert_eq!(frames.with_head(head), whole);
                }
            }
            prop_assert_eq!(frames.room(), heads.iter().map(Vec::len).fold(room, usize::max));
        }
    }
}
