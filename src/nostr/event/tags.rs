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

/// The tags whose name is one ASCII letter and that have a value, which are those that relays index
/// (NIP-01): the letter and the value. The others are passed over.
///
/// Walks the array once, where [`Tags`] and [`Tag`] together go over each tag twice.
#[derive(Clone)]
pub(in crate::nostr) struct LetterTags<'a> {
    array: &'a str,
    /// Behind the bracket of the array, or behind a tag; within one, behind an element.
    position: usize,
    left: u32,
    stops: Stops<'a>,
}

impl<'a> LetterTags<'a> {
    /// The tags of an array that a parser has gone over, which found `count` of them.
    #[inline]
    pub(super) const fn checked(array: &'a str, count: u32) -> Self {
        Self { array, position: 1, left: count, stops: Stops::new(array.as_bytes()) }
    }

    #[inline(always)]
    fn element(&mut self) -> Option<JsonStr<'a>> {
        let position = pass_separators(self.array, self.position);
        let (element, end) = read_element(self.array, &mut self.stops, position)?;
        self.position = end;
        Some(element)
    }

    /// Goes behind the bracket of the tag.
    #[inline(always)]
    fn leave_tag(&mut self) {
        if self.array.as_bytes().get(self.position) != Some(&b']') {
            while self.element().is_some() {}
            self.position = pass_separators(self.array, self.position);
        }
        self.position += 1;
    }
}

impl<'a> Iterator for LetterTags<'a> {
    type Item = (u8, JsonStr<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.array.as_bytes();
        loop {
            self.left = self.left.checked_sub(1)?;
            let start = pass_separators(self.array, self.position);
            // As nearly all are spelled.
            if let Some(&[b'[', b'"', letter, b'"', b',', b'"']) = bytes.get(start..start + 6)
                && letter.is_ascii_alphabetic()
            {
                let (value, end) = read_element(self.array, &mut self.stops, start + 5)?;
                self.position = end;
                self.leave_tag();
                return Some((letter, value));
            }
            self.position = start + 1;
            let name = self.element();
            let value = name.and_then(|_| self.element());
            self.leave_tag();
            if let (Some(name), Some(value)) = (name, value)
                && let Some(letter) = only_letter(&name)
            {
                return Some((letter, value));
            }
        }
    }
}

/// The ASCII letter that is the whole of `name`, however it is spelled.
fn only_letter(name: &JsonStr<'_>) -> Option<u8> {
    let mut chars = name.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.next().is_none().then_some(letter as u8)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn letter_tags_are_those_that_the_long_way_finds(
            tags in proptest::collection::vec(proptest::collection::vec((0_usize..10, any::<bool>()), 0..4), 0..8),
            space in "[ \n\t]{0,2}",
        ) {
            let texts = ["e", "p", "Z", "", "-", "1", "é", "ee", "a\"b\\", "description"];
            let spelled = |&(text, escaped): &(usize, bool)| match (texts[text], escaped) {
                ("e", true) => r#""\u0065""#.to_owned(),
                ("é", true) => r#""\u00e9""#.to_owned(),
                (text, _) => serde_json::to_string(text).unwrap(),
            };
            let comma = format!("{space},{space}");
            let list = |elements: Vec<String>| format!("[{space}{}{space}]", elements.join(&comma));
            let array = list(tags.iter().map(|tag| list(tag.iter().map(spelled).collect())).collect());
            let count = tags.len() as u32;

            let long_way = Tags::checked(&array, count).filter_map(|mut tag| {
                let name = tag.next()?.to_cow();
                let letter = name.chars().next().filter(|l| l.is_ascii_alphabetic() && name.len() == 1)?;
                Some((letter as u8, tag.next()?))
            });
            prop_assert!(LetterTags::checked(&array, count).eq(long_way), "{}", array);
        }
    }
}
