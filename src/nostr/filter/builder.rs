//! Makes filters.

use crate::hex::Hex;
use crate::json::{put_value, value_len};
use crate::nostr::filter::letter::Letter;
use crate::output::{Full, Mask, Output, Room, append};

/// Writes a filter; borrows what it writes.
///
/// The bytes are those of serde_json for a map with the keys in the order of NIP-01 (`ids`,
/// `authors`, `kinds`, tags, `since`, `until`, `limit`, and `search` at the end), tags in the order
/// of their letters in ASCII, and values as they were given. A list that was set is written also if
/// it is empty; it then matches nothing.
///
/// ```
/// use borrowire::json::{RawJson, write_array};
/// use borrowire::nostr::filter::Filter;
///
/// let filter = Filter::new().kinds(&[1, 7]).tag('t', &["nostr"]).tag_ids('e', &[[0x5c; 32]]).limit(20);
/// let json = filter.to_json();
/// assert_eq!(json, format!(r##"{{"kinds":[1,7],"#e":["{}"],"#t":["nostr"],"limit":20}}"##, "5c".repeat(32)));
///
/// let mut frame = Vec::new();
/// write_array(&mut frame, ("REQ", "sub", RawJson::new(&json, "req.filter")?));
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Filter<'a> {
    ids: Option<&'a [[u8; 32]]>,
    authors: Option<&'a [[u8; 32]]>,
    kinds: Option<&'a [u16]>,
    /// In the order of the letters.
    tags: Vec<(Letter, Values<'a>)>,
    since: Option<u64>,
    until: Option<u64>,
    limit: Option<u64>,
    search: Option<&'a str>,
}

impl<'a> Filter<'a> {
    /// The filter `{}`, which matches every event.
    pub const fn new() -> Self {
        Self {
            ids: None,
            authors: None,
            kinds: None,
            tags: Vec::new(),
            since: None,
            until: None,
            limit: None,
            search: None,
        }
    }

    /// Asks for events with one of these ids.
    pub const fn ids(mut self, ids: &'a [[u8; 32]]) -> Self {
        self.ids = Some(ids);
        self
    }

    /// Asks for events by one of these public keys.
    pub const fn authors(mut self, authors: &'a [[u8; 32]]) -> Self {
        self.authors = Some(authors);
        self
    }

    /// Asks for events of one of these kinds.
    pub const fn kinds(mut self, kinds: &'a [u16]) -> Self {
        self.kinds = Some(kinds);
        self
    }

    /// Asks for events with a tag named `letter` whose value is one of `values`. Takes the place of
    /// what was asked of this letter before.
    ///
    /// # Panics
    /// If `letter` is not one of `a` to `z` and `A` to `Z`.
    pub fn tag(self, letter: char, values: &'a [&'a str]) -> Self {
        self.set_tag(letter, Values::Texts(values))
    }

    /// [`tag`](Self::tag) with ids or public keys for values, as `#e` and `#p` have them.
    ///
    /// # Panics
    /// If `letter` is not one of `a` to `z` and `A` to `Z`.
    pub fn tag_ids(self, letter: char, values: &'a [[u8; 32]]) -> Self {
        self.set_tag(letter, Values::Ids(values))
    }

    /// Asks for events that were made at `since`, in seconds since the Unix epoch, or later.
    pub const fn since(mut self, since: u64) -> Self {
        self.since = Some(since);
        self
    }

    /// Asks for events that were made at `until`, in seconds since the Unix epoch, or earlier.
    pub const fn until(mut self, until: u64) -> Self {
        self.until = Some(until);
        self
    }

    /// Asks for at most `limit` stored events.
    pub const fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Asks a relay that can (NIP-50) to search for words.
    pub const fn search(mut self, search: &'a str) -> Self {
        self.search = Some(search);
        self
    }

    /// The exact length of the filter in bytes.
    pub fn encoded_len(&self) -> usize {
        let list = |key: &str, values: Option<Values<'_>>| {
            values.map_or(0, |values| entry_len(key.len(), values.encoded_len()))
        };
        let number = |key: &str, number: Option<u64>| {
            number.map_or(0, |number| entry_len(key.len(), value_len(number)))
        };
        let tags = self.tags.iter().map(|(_, values)| entry_len(2, values.encoded_len()));
        let entries = list("ids", self.ids.map(Values::Ids))
            + list("authors", self.authors.map(Values::Ids))
            + list("kinds", self.kinds.map(Values::Kinds))
            + tags.sum::<usize>()
            + number("since", self.since)
            + number("until", self.until)
            + number("limit", self.limit)
            + self.search.map_or(0, |search| entry_len("search".len(), value_len(search)));
        // Every entry was counted with a comma; the first has none.
        "{}".len() + entries.saturating_sub(1)
    }

    /// Appends the filter to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        out.reserve(self.encoded_len());
        let written = append(out, Mask::NONE, |room| self.put(room));
        written.expect("the room that was reserved");
    }

    /// The filter in a string of its own.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).expect("text made of text")
    }

    fn set_tag(mut self, letter: char, values: Values<'a>) -> Self {
        let letter = Letter::new(letter).expect("a letter, a to z or A to Z");
        match self.tags.binary_search_by_key(&letter, |(letter, _)| *letter) {
            Ok(at) => self.tags[at].1 = values,
            Err(at) => self.tags.insert(at, (letter, values)),
        }
        self
    }

    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        let mut comma: &[u8] = b"{";
        let mut key = |key: &[u8], room: &mut Room<'_>| {
            room.put_slice(comma)?;
            comma = b",";
            room.put_byte(b'"')?;
            room.put_slice(key)?;
            room.put_slice(b"\":")
        };
        let lists = [
            (&b"ids"[..], self.ids.map(Values::Ids)),
            (b"authors", self.authors.map(Values::Ids)),
            (b"kinds", self.kinds.map(Values::Kinds)),
        ];
        for (name, values) in lists {
            if let Some(values) = values {
                key(name, room)?;
                values.put(room)?;
            }
        }
        for (letter, values) in &self.tags {
            key(&[b'#', letter.as_byte()], room)?;
            values.put(room)?;
        }
        let numbers = [(&b"since"[..], self.since), (b"until", self.until), (b"limit", self.limit)];
        for (name, number) in numbers {
            if let Some(number) = number {
                key(name, room)?;
                put_value(number, room)?;
            }
        }
        if let Some(search) = self.search {
            key(b"search", room)?;
            put_value(search, room)?;
        }
        if comma == b"{" {
            room.put_byte(b'{')?;
        }
        room.put_byte(b'}')
    }
}

/// The values of a list.
#[derive(Clone, Copy, Debug)]
enum Values<'a> {
    Ids(&'a [[u8; 32]]),
    Kinds(&'a [u16]),
    Texts(&'a [&'a str]),
}

impl Values<'_> {
    fn encoded_len(self) -> usize {
        let (len, count) = match self {
            Self::Ids(ids) => (ids.len() * ("\"\"".len() + 64), ids.len()),
            Self::Kinds(kinds) => {
                (kinds.iter().map(|kind| value_len(u64::from(*kind))).sum(), kinds.len())
            }
            Self::Texts(texts) => (texts.iter().map(|text| value_len(*text)).sum(), texts.len()),
        };
        "[]".len() + len + count.saturating_sub(1)
    }

    fn put(self, room: &mut Room<'_>) -> Result<(), Full> {
        match self {
            Self::Ids(ids) => put_array(ids, room, |id, room| put_value(Hex(id), room)),
            Self::Kinds(kinds) => {
                put_array(kinds, room, |kind, room| put_value(u64::from(*kind), room))
            }
            Self::Texts(texts) => put_array(texts, room, |text, room| put_value(*text, room)),
        }
    }
}

fn put_array<T>(
    values: &[T],
    room: &mut Room<'_>,
    put: impl Fn(&T, &mut Room<'_>) -> Result<(), Full>,
) -> Result<(), Full> {
    room.put_byte(b'[')?;
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            room.put_byte(b',')?;
        }
        put(value, room)?;
    }
    room.put_byte(b']')
}

/// The length of a key, its value and a comma.
const fn entry_len(key: usize, value: usize) -> usize {
    "\"\":,".len() + key + value
}
