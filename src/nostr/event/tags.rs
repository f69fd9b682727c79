//! The tags of an event, read as they are asked for.

use std::fmt;
use std::iter::FusedIterator;

use serde::{Serialize, Serializer};

use crate::json::JsonStr;
use crate::json::string::scan;
use crate::scan::Stops;

/// The tags of an event, in the order of the wire. Each is an iterator of its elements.
///
/// Nothing was set aside for them while the event was parsed: this walks the array. Allocates
/// nothing.
///
/// ```
/// use borrowire::nostr::event::EventView;
///
/// # let event = format!(
/// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"content":"","sig":"{0}{0}","tags":[["t","nostr"],["-"],[]]}}"#,
/// #     "0".repeat(64)
/// # );
/// let event = EventView::parse(event.as_bytes())?; // "tags":[["t","nostr"],["-"],[]]
/// let mut tags = event.tags();
/// assert_eq!(tags.len(), 3);
/// assert!(tags.next().unwrap().eq(["t", "nostr"]));
/// assert!(event.tags().any(|mut tag| tag.next().is_some_and(|name| name == "-")));
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct Tags<'a> {
    array: &'a str,
    /// Behind the bracket of the array, or behind a tag.
    position: usize,
    left: u32,
    stops: Stops<'a>,
}

impl<'a> Tags<'a> {
    /// The tags of an array that a parser has gone over, which found `count` of them.
    #[inline]
    pub(super) const fn checked(array: &'a str, count: u32) -> Self {
        Self { array, position: 1, left: count, stops: Stops::new(array.as_bytes()) }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    #[inline]
    fn next(&mut self) -> Option<Tag<'a>> {
        self.left = self.left.checked_sub(1)?;
        let start = pass_separators(self.array, self.position) + 1;
        let stops = self.stops.clone();
        self.position = start;
        loop {
            let position = pass_separators(self.array, self.position);
            match read_element(self.array, &mut self.stops, position) {
                Some((_, end)) => self.position = end,
                None => {
                    self.position = position + 1;
                    return Some(Tag { array: self.array, position: Some(start), stops });
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Tags<'_> {}

impl FusedIterator for Tags<'_> {}

impl fmt::Debug for Tags<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl Serialize for Tags<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.clone())
    }
}

/// One tag: its elements, any number of them, also none.
#[derive(Clone)]
pub struct Tag<'a> {
    array: &'a str,
    /// Behind the bracket of the tag, or behind an element; `None` behind the tag.
    position: Option<usize>,
    stops: Stops<'a>,
}

impl<'a> Tag<'a> {
    /// The elements of an array of strings that a parser has gone over.
    pub(in crate::nostr) const fn of_array(array: &'a str) -> Self {
        Self { array, position: Some(1), stops: Stops::new(array.as_bytes()) }
    }
}

impl<'a> Iterator for Tag<'a> {
    type Item = JsonStr<'a>;

    #[inline]
    fn next(&mut self) -> Option<JsonStr<'a>> {
        let position = pass_separators(self.array, self.position?);
        let element = read_element(self.array, &mut self.stops, position);
        self.position = element.map(|(_, end)| end);
        element.map(|(element, _)| element)
    }
}

impl FusedIterator for Tag<'_> {}

impl fmt::Debug for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl Serialize for Tag<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.clone())
    }
}

/// The element whose quote is at `position`, and where it ends; `None` if there is no quote.
#[inline]
fn read_element<'a>(
    array: &'a str,
    stops: &mut Stops<'a>,
    position: usize,
) -> Option<(JsonStr<'a>, usize)> {
    let quote = array.as_bytes().get(position)?;
    if *quote != b'"' {
        return None;
    }
    // It was scanned once without an error.
    let (end, escapes) = scan(array.as_bytes(), stops, position + 1, "event.tags").ok()?;
    Some((JsonStr::scanned(array.get(position + 1..end)?, escapes), end + 1))
}

/// Goes over what may stand between two elements, of which the parser found no comma too many.
#[inline]
fn pass_separators(array: &str, mut position: usize) -> usize {
    while let Some(b',' | b' ' | b'\n' | b'\r' | b'\t') = array.as_bytes().get(position) {
        position += 1;
    }
    position
}
