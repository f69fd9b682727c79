//! Elements of a frame that was read, as they stand in it.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Frame, Span};
use crate::error::Error;
use crate::json::RawJson;
use crate::json::read::{Array, Reader};
use crate::nostr::event::SPANS;
use crate::nostr::filter::FilterView;
use crate::rules::Rules;

/// Elements of a frame, each the text of one JSON value.
#[derive(Clone, Debug)]
pub struct RawElements<'a> {
    rest: Option<(Reader<'a>, Array)>,
}

impl<'a> RawElements<'a> {
    /// The elements of a frame that was read once without an error.
    pub(super) fn enter(reader: Result<Reader<'a>, Error>) -> Self {
        let enter = |mut reader: Reader<'a>| {
            let array = reader.array("frame")?;
            Ok((reader, array))
        };
        Self { rest: reader.and_then(enter).ok() }
    }

    /// The next element, and where it lies.
    fn next_span(&mut self) -> Option<(Span, RawJson<'a>)> {
        let (reader, array) = self.rest.as_mut()?;
        if !array.next(reader, "frame").ok()? {
            return None;
        }
        let span = reader.skip("frame").ok()?;
        Some((span, RawJson::checked(reader.slice(span))))
    }
}

impl<'a> Iterator for RawElements<'a> {
    type Item = RawJson<'a>;

    fn next(&mut self) -> Option<RawJson<'a>> {
        self.next_span().map(|(_, element)| element)
    }
}

/// The filters of a REQ or COUNT, as they stand in the frame.
#[derive(Clone)]
pub struct RawFilters<'a, B: Buffer = Bytes> {
    pub(super) elements: RawElements<'a>,
    pub(super) frame: &'a Frame<B, SPANS>,
    pub(super) left: u32,
}

impl<'a, B: Buffer> Iterator for RawFilters<'a, B> {
    type Item = RawFilter<'a, B>;

    fn next(&mut self) -> Option<Self::Item> {
        let (span, text) = self.elements.next_span()?;
        self.left -= 1;
        Some(RawFilter { text, span, frame: self.frame })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<B: Buffer> ExactSizeIterator for RawFilters<'_, B> {}

impl<B: Buffer> fmt::Debug for RawFilters<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone().map(|filter| filter.raw())).finish()
    }
}

/// One filter of a frame, not yet read: any JSON value.
#[derive(Clone, Copy)]
pub struct RawFilter<'a, B: Buffer = Bytes> {
    text: RawJson<'a>,
    span: Span,
    frame: &'a Frame<B, SPANS>,
}

impl<'a, B: Buffer> RawFilter<'a, B> {
    /// The filter's text.
    pub const fn raw(&self) -> RawJson<'a> {
        self.text
    }

    /// Reads the filter under [`Rules::STRICT`]; the view shares the frame's buffer. Errs if it is
    /// none; offsets are those in the frame.
    pub fn parse(&self) -> Result<FilterView<B>, Error> {
        self.parse_with(&Rules::STRICT)
    }

    /// Reads the filter under `rules`.
    pub fn parse_with(&self, rules: &Rules) -> Result<FilterView<B>, Error> {
        FilterView::parse_with(self.share(), rules).map_err(|error| error.offset_by(self.offset()))
    }

    /// The filter's bytes as a buffer of their own: a share of the frame's, or the same borrow.
    pub fn share(&self) -> B {
        self.frame.part(self.span)
    }

    /// Where in the frame the filter begins, for [`Error::offset_by`].
    pub const fn offset(&self) -> usize {
        self.span.range().start
    }
}

impl<B: Buffer> fmt::Debug for RawFilter<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_str())
    }
}
