//! The id of an event before it is parsed, for those who have seen most events already.

use crate::hex::{self, Case};
use crate::json::JsonStr;
use crate::json::string::{Escapes, scan};
use crate::nostr::event::read::Compact;
use crate::scan::Stops;

/// The id that the event of a frame claims, found without parsing the rest: to pass over duplicates,
/// which are 14 to 57 % of real traffic, before they cost anything.
///
/// Looks into EVENT frames of either direction, `["EVENT",event]` and `["EVENT",sub,event]`, and
/// into bare events. Answers with the id of the event itself, at its own depth: never one of an
/// object within it, and `None` where a key before it is escaped. What follows the id is not looked
/// at. Where this answers and [`EventView::parse_frame`](super::EventView::parse_frame) accepts the
/// frame, the two agree; where it does not answer, parse. Allocates nothing.
///
/// ```
/// use borrowire::nostr::event::peek_event_id;
///
/// let id = "5c".repeat(32);
/// let frame = format!(r#"["EVENT","sub",{{"meta":{{"id":"{}"}},"id":"{id}","kind"#, "00".repeat(32));
/// assert_eq!(peek_event_id(frame.as_bytes()), Some([0x5c; 32]));
/// ```
pub fn peek_event_id(frame: &[u8]) -> Option<[u8; 32]> {
    let mut walk = Walk::new(frame);
    if walk.next()? == b'[' {
        walk.take(b'[')?;
        if walk.string()? != b"EVENT" {
            return None;
        }
        walk.take(b',')?;
        if walk.next()? == b'"' {
            walk.string()?;
            walk.take(b',')?;
        }
    }
    walk.next()?;
    if let Some(id) = Compact::new(frame, walk.at).peek_id() {
        return Some(id);
    }
    walk.take(b'{')?;
    loop {
        let key = walk.string()?;
        walk.take(b':')?;
        if key == b"id" {
            let mut id = [0; 32];
            hex::decode(walk.string()?, &mut id, Case::Lower, "event.id").ok()?;
            return Some(id);
        }
        if key.contains(&b'\\') {
            return None;
        }
        walk.skip()?;
        walk.take(b',')?;
    }
}

/// A walk over JSON that checks no more than it must to know where it is.
pub(in crate::nostr) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    stops: Stops<'a>,
}

impl<'a> Walk<'a> {
    pub(in crate::nostr) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, stops: Stops::new(bytes) }
    }

    /// The first byte of the next token.
    #[inline(always)]
    pub(in crate::nostr) fn next(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline(always)]
    pub(in crate::nostr) fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Takes a string, without its quotes.
    #[inline(always)]
    fn string(&mut self) -> Option<&'a [u8]> {
        self.spelled().map(|(string, _)| string)
    }

    /// Takes a string that is UTF-8.
    pub(in crate::nostr) fn text(&mut self) -> Option<JsonStr<'a>> {
        let (string, escapes) = self.spelled()?;
        Some(JsonStr::scanned(std::str::from_utf8(string).ok()?, escapes))
    }

    /// Takes a string, without its quotes, and says which escapes it holds.
    #[inline(always)]
    fn spelled(&mut self) -> Option<(&'a [u8], Escapes)> {
        self.take(b'"')?;
        let start = self.at;
        let (end, escapes) = scan(self.bytes, &mut self.stops, start, "event").ok()?;
        self.at = end + 1;
        Some((&self.bytes[start..end], escapes))
    }

    /// Goes over a value.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                b'"' => {
                    self.string()?;
                }
                b'[' | b'{' => {
                    self.at += 1;
                    depth += 1;
                    continue;
                }
                b']' | b'}' => {
                    self.at += 1;
                    depth = depth.checked_sub(1)?;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    let rest = &self.bytes[self.at..];
                    let is_end =
                        |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b'"' | ..=b' ');
                    match rest.iter().position(is_end)? {
                        0 => return None,
                        len => self.at += len,
                    }
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}
