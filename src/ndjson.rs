//! Newline-separated JSON: one event, or one EVENT frame, a line, as relays export them (`strfry
//! export`) and archives keep them.
//!
//! ```text
//! {"id":"5c83…","pubkey":"6e46…",…}⏎
//! ["EVENT","sub",{"id":"a1f0…",…}]⏎
//! ```
//!
//! [`lines`] reads text that is at hand: a file that was read, or mapped by [`map`](crate::map),
//! whose lines then lie where the system keeps the file. [`ReadChunks`] cuts a stream into such
//! texts, of whole lines each, and [`in_parallel`] hands texts to threads and their results back in
//! order.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use bytes::Bytes;
use memchr::{memchr, memchr_iter, memrchr};

use crate::buffer::Buffer;
use crate::error::Error;
use crate::json::read::is_blank;
use crate::nostr::event::EventView;
use crate::rules::Rules;

/// The lines of `text`, which end with `\n` or `\r\n`, the last one perhaps with nothing. Blank
/// lines are passed over, but counted.
///
/// ```
/// use borrowire::ndjson::lines;
/// use borrowire::rules::Rules;
///
/// let feed = include_bytes!("../fixtures/nostr/feed.ndjson");
/// let mut notes = 0;
/// for line in lines(&feed[..]) {
///     let event = line.event(&Rules::STRICT)?;
///     notes += usize::from(event.kind() == 1);
/// }
/// assert_eq!(notes, 132);
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn lines<B: Buffer>(text: B) -> Lines<B> {
    Lines { text, at: 0, number: 0 }
}

/// Iterator over the lines of a text; see [`lines`].
#[derive(Clone, Debug)]
pub struct Lines<B: Buffer = Bytes> {
    text: B,
    at: usize,
    number: u64,
}

/// A line of a text.
#[derive(Clone, Debug)]
pub struct Line<B: Buffer = Bytes> {
    /// Which line of the text it is, from 1.
    pub number: u64,
    /// At which byte of the text it begins.
    pub offset: usize,
    /// The line without its end: a share of the text.
    pub text: B,
}

impl<B: Buffer> Line<B> {
    /// The event that the line is, or that the EVENT frame on it holds; see
    /// [`EventView::parse_frame`]. Offsets of errors are within the line.
    pub fn event(&self, rules: &Rules) -> Result<EventView<B>, Error> {
        EventView::parse_frame(self.text.clone(), rules)
    }
}

impl<B: Buffer> Iterator for Lines<B> {
    type Item = Line<B>;

    fn next(&mut self) -> Option<Line<B>> {
        loop {
            let bytes = self.text.as_ref();
            let rest = bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let len = memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest[..len].strip_suffix(b"\r").unwrap_or(&rest[..len]);
            let range = self.at..self.at + line.len();
            let is_blank = is_blank(line);
            self.at += len + 1;
            self.number += 1;
            if !is_blank {
                let (number, offset) = (self.number, range.start);
                return Some(Line { number, offset, text: self.text.part(range) });
            }
        }
    }
}

/// Cuts `text` into texts of about `len` bytes, of whole lines each, for [`in_parallel`]. They share
/// its buffer.
pub fn chunks(text: Bytes, len: NonZero<usize>) -> impl Iterator<Item = io::Result<Bytes>> + Send {
    let mut at = 0;
    std::iter::from_fn(move || {
        let Range { start, end } = next_chunk(&text, at, len.get())?;
        at = end;
        Some(Ok(text.slice(start..end)))
    })
}

fn next_chunk(text: &[u8], start: usize, len: usize) -> Option<Range<usize>> {
    if start >= text.len() {
        return None;
    }
    // The last byte that a chunk of that length has: its line is the last.
    let last = start.saturating_add(len - 1).min(text.len() - 1);
    let line_end = memchr(b'\n', &text[last..]).map_or(text.len(), |at| last + at + 1);
    Some(start..line_end)
}

/// Cuts a stream into texts of whole lines, without waiting for more than one line's end: standard
/// input, a socket, or a file that others may write to, which must not be mapped.
#[derive(Debug)]
pub struct ReadChunks<R> {
    reader: R,
    len: usize,
    max_line: usize,
    /// The beginning of a line whose end is to come.
    rest: Vec<u8>,
    is_done: bool,
}

impl<R: Read> ReadChunks<R> {
    /// Texts of at most `len` bytes, or of one line that is longer, but not than `max_line` bytes:
    /// such a line is an error of the kind [`io::ErrorKind::InvalidData`]. As many bytes as both
    /// together are held at a time.
    pub const fn new(reader: R, len: NonZero<usize>, max_line: usize) -> Self {
        Self { reader, len: len.get(), max_line, rest: Vec::new(), is_done: false }
    }

    fn read_chunk(&mut self) -> io::Result<Bytes> {
        let mut text = std::mem::take(&mut self.rest);
        loop {
            let start = text.len();
            text.resize(start + self.len, 0);
            let read = match self.reader.read(&mut text[start..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Ok(0) => {
                    text.truncate(start);
                    self.is_done = true;
                    return Ok(text.into());
                }
                read => read?,
            };
            text.truncate(start + read);
            if let Some(end) = memrchr(b'\n', &text[start..]) {
                self.rest = text.split_off(start + end + 1);
                return Ok(text.into());
            }
            if text.len() > self.max_line {
                let message = format!("a line of more than {} bytes", self.max_line);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }
}

impl<R: Read> Iterator for ReadChunks<R> {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.is_done {
            return None;
        }
        let chunk = self.read_chunk();
        self.is_done |= chunk.is_err();
        match chunk {
            Ok(text) if text.is_empty() => None,
            chunk => Some(chunk),
        }
    }
}

/// Does `work` with each text on `threads` threads, and gives the results to `deliver`, on the
/// calling thread, in the order of the texts, with the number of lines that precede each.
///
/// The threads take the texts one after the other, so a source that reads does not run ahead. A
/// result that is early waits, so it should be small. With one thread all is done on the calling
/// one.
///
/// Errs where the source of the texts does, after the texts before are delivered.
///
/// ```
/// use std::num::NonZero;
///
/// use borrowire::ndjson::{chunks, in_parallel, lines};
///
/// let feed = include_bytes!("../fixtures/nostr/feed.ndjson");
/// let texts = chunks(feed.as_slice().into(), NonZero::new(1 << 14).unwrap());
/// let mut total = 0;
/// in_parallel(texts, NonZero::new(2).unwrap(), |text| lines(text).count(), |first_line, count| {
///     assert_eq!(first_line, total as u64);
///     total += count;
/// })?;
/// assert_eq!(total, 256);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn in_parallel<T: Send>(
    mut texts: impl Iterator<Item = io::Result<Bytes>> + Send,
    threads: NonZero<usize>,
    work: impl Fn(Bytes) -> T + Sync,
    mut deliver: impl FnMut(u64, T),
) -> io::Result<()> {
    let work = |text: Bytes| {
        let lines = memchr_iter(b'\n', &text).count() as u64;
        (lines, work(text))
    };
    let mut first_line = 0;
    let mut deliver = |(lines, result)| {
        deliver(first_line, result);
        first_line += lines;
    };
    if threads.get() == 1 {
        return texts.try_for_each(|text| {
            deliver(work(text?));
            Ok(())
        });
    }
    let texts = Mutex::new((0_u64, texts.fuse()));
    let take = || {
        let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.1.next()?;
        texts.0 += 1;
        Some((texts.0 - 1, text))
    };
    thread::scope(|scope| {
        let (sender, results) = mpsc::sync_channel(threads.get());
        for _ in 0..threads.get() {
            let (sender, take, work) = (sender.clone(), &take, &work);
            scope.spawn(move || {
                while let Some((i, text)) = take() {
                    // Nobody takes results after an error.
                    if sender.send((i, text.map(work))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut next = 0;
        for (i, result) in results {
            early.insert(i, result);
            while let Some(result) = early.remove(&next) {
                deliver(result?);
                next += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_lie_in_the_text() {
        let text = Bytes::from_static(b"one\n\n \t\r\ntwo\r\n\nthree");
        let found: Vec<_> = lines(text.clone()).collect();
        let expected = [(1, "one"), (4, "two"), (6, "three")];
        assert_eq!(found.len(), expected.len());
        for (line, (number, expected)) in found.iter().zip(expected) {
            assert_eq!((line.number, &line.text[..]), (number, expected.as_bytes()));
            assert_eq!(line.text.as_ptr(), text[line.offset..].as_ptr());
        }
        for empty in [&b""[..], b"\n", b"\r\n\n"] {
            assert!(lines(empty).next().is_none());
        }
    }

    #[test]
    fn chunks_are_whole_lines_and_all_of_the_text() {
        for text in ["", "\n", "a", "a\n", "a\nbb\nccc", "\n\n\na\n", "long line\nx\n"] {
            for len in 1..=text.len() + 2 {
                let len = NonZero::new(len).unwrap();
                let cut = chunks(Bytes::from(text), len).map(Result::unwrap);
                assert_cut(text, cut.collect());
                for slow in [1, 3, 100] {
                    let reader = Slow { rest: text.as_bytes(), at_once: slow };
                    let read = ReadChunks::new(reader, len, 100).map(Result::unwrap);
                    assert_cut(text, read.collect());
                }
            }
        }
    }

    #[track_caller]
    fn assert_cut(text: &str, chunks: Vec<Bytes>) {
        assert_eq!(chunks.concat(), text.as_bytes());
        let (last, others) = chunks.split_last().map_or((None, &[][..]), |(l, o)| (Some(l), o));
        assert!(others.iter().all(|chunk| chunk.ends_with(b"\n")), "{text:?}: {chunks:?}");
        assert!(last.is_none_or(|last| !last.is_empty()));
    }

    #[test]
    fn a_line_that_is_too_long_ends_the_stream_with_an_error() {
        let text = "short\n".to_owned() + &"x".repeat(100) + "\nshort\n";
        let len = NonZero::new(8).unwrap();
        let mut read = ReadChunks::new(text.as_bytes(), len, 50);
        assert_eq!(read.next().unwrap().unwrap(), "short\n");
        assert_eq!(read.next().unwrap().unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(read.next().is_none());
        assert_eq!(ReadChunks::new(text.as_bytes(), len, 110).count(), 3);
    }

    #[test]
    fn results_come_in_order_from_any_number_of_threads() {
        let text: String = (0..1000).map(|i| format!("{i}\n")).collect();
        for threads in [1, 2, 3, 16] {
            let threads = NonZero::new(threads).unwrap();
            let texts = chunks(Bytes::from(text.clone()), NonZero::new(7).unwrap());
            let mut all = Vec::new();
            let work = |text: Bytes| {
                if text.starts_with(b"1") {
                    thread::yield_now();
                }
                text
            };
            let mut line = 0;
            let deliver = |first_line, text: Bytes| {
                assert_eq!(first_line, line);
                line += text.iter().filter(|byte| **byte == b'\n').count() as u64;
                all.extend_from_slice(&text);
            };
            in_parallel(texts, threads, work, deliver).unwrap();
            assert_eq!(all, text.as_bytes());
        }
    }

    #[test]
    fn an_error_comes_after_what_was_read_before_it() {
        for threads in [1, 4] {
            let error = io::Error::other("gone");
            let texts = (0..50).map(|i| Ok(Bytes::from(format!("{i}\n"))));
            let texts = texts.chain([Err(error)]).chain([Ok(Bytes::from_static(b"more"))]);
            let mut delivered = 0;
            let threads = NonZero::new(threads).unwrap();
            let done = in_parallel(texts, threads, |_| (), |_, ()| delivered += 1);
            assert_eq!(done.unwrap_err().to_string(), "gone");
            assert_eq!(delivered, 50);
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_in_the_work_reaches_the_caller() {
        let texts = chunks(Bytes::from_static(b"1\n2\n3\n4\n"), NonZero::new(1).unwrap());
        let work = |text: Bytes| assert_ne!(text, "2\n");
        let _ = in_parallel(texts, NonZero::new(2).unwrap(), work, |_, ()| {});
    }

    /// Gives a few bytes at a time.
    struct Slow<'a> {
        rest: &'a [u8],
        at_once: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let len = out.len().min(self.at_once);
            self.rest.read(&mut out[..len])
        }
    }
}
