//! A frame around many bodies.

use std::fmt;
use std::io::IoSlice;
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};

use crate::counters;
use crate::hex::Hex;

/// A frame in many parts: bodies that are shared with other frames, and bytes of its own before,
/// between and behind them.
///
/// ```text
/// own  body (shared)  own  body (shared)  own
/// ```
///
/// Making one takes four allocations, however many bodies there are; cloning counts one reference.
/// No body is copied.
///
/// ```
/// use borrowire::waku::store::{KeyValue, QueryResponseBuilder};
/// use borrowire::waku::{MessageHash, MessageView};
/// use bytes::{Buf, Bytes};
///
/// let message = MessageView::parse(Bytes::from_static(b"\x0a\x01\x01\x12\x01a"))?;
/// let page = [KeyValue::around(MessageHash([7; 32]), "t", &message); 2];
/// let response = QueryResponseBuilder::new("r", 200, "OK").messages(&page);
/// let mut frame = response.splices();
/// assert_eq!(frame.to_vec(), response.to_vec());
/// assert!(frame.bodies().all(|body| body.as_ptr() == message.raw().as_ptr()));
///
/// frame.advance(frame.chunk().len());
/// assert_eq!(frame.chunk().as_ptr(), message.raw().as_ptr());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct Splices {
    parts: Arc<Parts>,
    /// The body that is next, or is being taken.
    next: usize,
    /// How many own bytes were taken.
    own: usize,
    /// How many bytes of the next body were taken.
    of_body: usize,
    /// How many bytes are left, all parts together.
    left: usize,
}

struct Parts {
    /// All own bytes in a row.
    own: Box<[u8]>,
    /// The bodies, each with the number of own bytes before it.
    bodies: Box<[(usize, Bytes)]>,
}

impl Splices {
    /// All bodies of the frame, also those that were taken.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.parts.bodies.iter().map(|(_, body)| body)
    }

    /// How many bytes are left, all parts together.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether no byte is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// What is left, copied into one buffer.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.left);
        self.copy_to(&mut out);
        out
    }

    /// Appends what is left to `out`. Copies the bodies, and counts that.
    ///
    /// # Panics
    /// If `out` cannot grow and has no room; `Vec<u8>` and `BytesMut` grow.
    pub fn copy_to(&self, out: &mut impl BufMut) {
        let own = self.parts.own.len() - self.own;
        counters::copy(self.left - own);
        self.chunks().for_each(|chunk| out.put_slice(chunk));
    }

    /// The parts of what is left, none of them empty.
    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let Parts { own, bodies } = &*self.parts;
        let rest = &bodies[self.next..];
        let mut start = self.own;
        let mut skipped = self.of_body;
        let behind = rest.last().map_or(self.own, |(at, _)| *at);
        rest.iter()
            .flat_map(move |(at, body)| {
                let parts = [&own[start..*at], &body[skipped..]];
                (start, skipped) = (*at, 0);
                parts
            })
            .chain([&own[behind..]])
            .filter(|part| !part.is_empty())
    }
}

impl Buf for Splices {
    fn remaining(&self) -> usize {
        self.left
    }

    fn chunk(&self) -> &[u8] {
        self.chunks().next().unwrap_or_default()
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        slices
            .iter_mut()
            .zip(self.chunks())
            .map(|(slice, chunk)| *slice = IoSlice::new(chunk))
            .count()
    }

    fn advance(&mut self, mut count: usize) {
        assert!(count <= self.left, "cannot advance {count} bytes, {} are left", self.left);
        self.left -= count;
        while let Some((at, body)) = self.parts.bodies.get(self.next) {
            let of_own = count.min(at - self.own);
            let of_body = (count - of_own).min(body.len() - self.of_body);
            self.own += of_own;
            self.of_body += of_body;
            count -= of_own + of_body;
            if self.own < *at || self.of_body < body.len() {
                return;
            }
            self.next += 1;
            self.of_body = 0;
        }
        self.own += count;
    }

    /// Shares a body where the bytes lie in it, copies them where they do not.
    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        assert!(len <= self.left, "cannot take {len} bytes, {} are left", self.left);
        if let Some((at, body)) = self.parts.bodies.get(self.next)
            && self.own == *at
            && (1..=body.len() - self.of_body).contains(&len)
        {
            let share = body.slice(self.of_body..self.of_body + len);
            self.advance(len);
            return share;
        }
        let mut out = Vec::with_capacity(len);
        out.put(self.take(len));
        out.into()
    }
}

impl fmt::Debug for Splices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splices")
            .field("own", &Hex(&self.parts.own[self.own..]))
            .field("bodies", &(self.parts.bodies.len() - self.next))
            .field("len", &self.left)
            .finish()
    }
}

/// Collects the own bytes of a frame, and where the bodies are between them.
pub(crate) struct SplicesBuilder {
    own: Vec<u8>,
    cuts: Vec<usize>,
}

impl SplicesBuilder {
    /// A builder with room for so many own bytes and bodies.
    pub(crate) fn with_capacity(own: usize, bodies: usize) -> Self {
        Self { own: Vec::with_capacity(own), cuts: Vec::with_capacity(bodies) }
    }

    pub(crate) fn own(&mut self) -> &mut Vec<u8> {
        &mut self.own
    }

    /// A body belongs here.
    pub(crate) fn cut(&mut self) {
        self.cuts.push(self.own.len());
    }

    /// The frame with these bodies, as many as there are cuts.
    pub(crate) fn build(self, bodies: impl Iterator<Item = Bytes>) -> Splices {
        let mut list = Vec::with_capacity(self.cuts.len());
        list.extend(self.cuts.into_iter().zip(bodies));
        let bodies = list.into_boxed_slice();
        let left = self.own.len() + bodies.iter().map(|(_, body)| body.len()).sum::<usize>();
        let parts = Parts { own: self.own.into(), bodies };
        Splices { parts: Arc::new(parts), next: 0, own: 0, of_body: 0, left }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bodies_are_taken_without_copying() {
        let body = Bytes::from(vec![1; 100]);
        let mut splices = splices(&[(b"ab".to_vec(), body.clone())], b"c");
        assert_eq!(splices.copy_to_bytes(2), &b"ab"[..]);
        let taken = splices.copy_to_bytes(60);
        assert_eq!((taken.as_ptr(), taken.len()), (body.as_ptr(), 60));
        assert_eq!(splices.copy_to_bytes(41), [&[1; 40][..], b"c"].concat());
        assert!(splices.is_empty() && splices.copy_to_bytes(0).is_empty());
    }

    #[test]
    #[should_panic(expected = "cannot advance 6 bytes, 5 are left")]
    fn no_more_than_is_there_is_taken() {
        splices(&[(b"12".to_vec(), Bytes::from_static(b"34"))], b"5").advance(6);
    }

    proptest! {
        #[test]
        fn splices_are_their_parts_from_wherever_they_are_read(
            parts in vec((vec(any::<u8>(), 0..20), vec(any::<u8>(), 0..20)), 0..6),
            tail in vec(any::<u8>(), 0..20),
            steps in vec(0_usize..60, 0..8),
            slices in 0_usize..14,
        ) {
            let parts: Vec<_> =
                parts.into_iter().map(|(own, body)| (own, Bytes::from(body))).collect();
            let mut whole = Vec::new();
            for (own, body) in &parts {
                whole.extend_from_slice(own);
                whole.extend_from_slice(body);
            }
            whole.extend_from_slice(&tail);
            let mut splices = splices(&parts, &tail);
            prop_assert_eq!(splices.bodies().len(), parts.len());
            let mut at = 0;
            for step in steps {
                prop_assert_eq!(splices.to_vec(), &whole[at..]);
                prop_assert_eq!(splices.remaining(), whole.len() - at);
                let chunk = splices.chunk();
                prop_assert_eq!(chunk, &whole[at..at + chunk.len()]);
                prop_assert_eq!(chunk.is_empty(), at == whole.len());
                let mut out = [IoSlice::new(&[]); 14];
                let filled = splices.chunks_vectored(&mut out[..slices]);
                let seen: Vec<u8> = out[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
                prop_assert!(whole[at..].starts_with(&seen));
                prop_assert!(out[..filled].iter().all(|slice| !slice.is_empty()));
                prop_assert!(seen.len() == whole.len() - at || filled == slices);
                let step = step.min(whole.len() - at);
                if step % 2 == 0 {
                    splices.advance(step);
                } else {
                    prop_assert_eq!(splices.copy_to_bytes(step), &whole[at..at + step]);
                }
                at += step;
            }
        }
    }

    fn splices(parts: &[(Vec<u8>, Bytes)], tail: &[u8]) -> Splices {
        let mut builder = SplicesBuilder::with_capacity(0, 0);
        for (own, _) in parts {
            builder.own().extend_from_slice(own);
            builder.cut();
        }
        builder.own().extend_from_slice(tail);
        builder.build(parts.iter().map(|(_, body)| body.clone()))
    }
}
