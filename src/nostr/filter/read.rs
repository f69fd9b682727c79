//! Where the values of a filter lie: one pass over its text.

use crate::buffer::Span;
use crate::error::{Error, ErrorKind, Expected};
use crate::json::JsonStr;
use crate::json::read::Reader;
use crate::json::string::Escapes;
use crate::nostr::event::read_hex;
use crate::nostr::filter::letter::Letter;
use crate::rules::Rules;

/// The parts of a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// The filter, from `{` to `}`.
    pub(super) filter: Span,
    /// The array, with its brackets.
    pub(super) ids: Span,
    pub(super) authors: Span,
    pub(super) kinds: Span,
    /// The string, without its quotes.
    pub(super) search: Span,
    pub(super) values: Values,
}

/// What was learned of a filter on the way. A value is that of a key only if the key is in `keys`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values {
    pub(super) keys: Keys,
    pub(super) id_count: u32,
    pub(super) author_count: u32,
    pub(super) kind_count: u32,
    pub(super) since: u64,
    pub(super) until: u64,
    pub(super) limit: u64,
    pub(super) search_escapes: Escapes,
    /// Whether there are keys that are not known.
    pub(super) unknown_keys: bool,
}

impl Fields {
    /// Reads the filter that begins at the next token of `reader`.
    pub(super) fn read(reader: &mut Reader<'_>, rules: &Rules) -> Result<Self, Error> {
        let first = reader.peek("filter")?;
        let start = reader.position();
        if first != b'{' {
            let kind = ErrorKind::Unexpected { expected: Expected::Filter, found: Some(first) };
            return Err(Error::new(kind, start, "filter"));
        }
        let mut object = reader.object("filter")?;
        let mut fields = Self::empty_at(start);
        let values = &mut fields.values;
        let mut list = List { left: rules.limits().filter_values, rules };
        while let Some(key) = object.next(reader, "filter")? {
            let Some(key) = Key::of(&key) else {
                values.unknown_keys = true;
                reader.skip("filter")?;
                continue;
            };
            let context = key.context();
            reader.peek(context)?;
            if !values.keys.insert(key) {
                return Err(Error::new(ErrorKind::Repeated, reader.position(), context));
            }
            match key {
                Key::Ids => (fields.ids, values.id_count) = list.ids(reader, context)?,
                Key::Authors => {
                    (fields.authors, values.author_count) = list.ids(reader, context)?;
                }
                Key::Kinds => {
                    let kind = |reader: &mut Reader<'_>| reader.u16(context).map(drop);
                    (fields.kinds, values.kind_count) = list.read(reader, context, kind)?;
                }
                Key::Tag(_) => {
                    let value = |reader: &mut Reader<'_>| reader.string_span(context).map(drop);
                    list.read(reader, context, value)?;
                }
                Key::Since => values.since = reader.u64(context)?,
                Key::Until => values.until = reader.u64(context)?,
                Key::Limit => values.limit = reader.u64(context)?,
                Key::Search => {
                    (fields.search, values.search_escapes) = reader.string_span(context)?;
                }
            }
        }
        fields.filter = between(start, reader.position());
        Ok(fields)
    }

    fn empty_at(start: usize) -> Self {
        // Lists that are not there lie where the filter begins, so that no span lies before it.
        let nothing = between(start, start);
        let values = Values {
            keys: Keys(0),
            id_count: 0,
            author_count: 0,
            kind_count: 0,
            since: 0,
            until: 0,
            limit: 0,
            search_escapes: Escapes::None,
            unknown_keys: false,
        };
        let (ids, authors, kinds, search) = (nothing, nothing, nothing, nothing);
        Self { filter: nothing, ids, authors, kinds, search, values }
    }
}

/// The keys of a filter that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Ids,
    Authors,
    Kinds,
    Since,
    Until,
    Limit,
    Search,
    Tag(Letter),
}

impl Key {
    /// The key that `key` spells, with escapes or without.
    pub(super) fn of(key: &JsonStr<'_>) -> Option<Self> {
        let mut name = [0; MAX_KEY_LEN];
        let mut len = 0;
        for char in key.chars() {
            *name.get_mut(len)? = u8::try_from(char).ok()?;
            len += 1;
        }
        Some(match &name[..len] {
            b"ids" => Self::Ids,
            b"authors" => Self::Authors,
            b"kinds" => Self::Kinds,
            b"since" => Self::Since,
            b"until" => Self::Until,
            b"limit" => Self::Limit,
            b"search" => Self::Search,
            [b'#', letter] => Self::Tag(Letter::of_byte(*letter)?),
            _ => return None,
        })
    }

    /// The name of the key in errors.
    pub(super) fn context(self) -> &'static str {
        match self {
            Self::Ids => "filter.ids",
            Self::Authors => "filter.authors",
            Self::Kinds => "filter.kinds",
            Self::Since => "filter.since",
            Self::Until => "filter.until",
            Self::Limit => "filter.limit",
            Self::Search => "filter.search",
            Self::Tag(letter) => letter.context(),
        }
    }

    const fn bit(self) -> u64 {
        match self {
            Self::Ids => 1 << 63,
            Self::Authors => 1 << 62,
            Self::Kinds => 1 << 61,
            Self::Since => 1 << 60,
            Self::Until => 1 << 59,
            Self::Limit => 1 << 58,
            Self::Search => 1 << 57,
            Self::Tag(letter) => letter.bit(),
        }
    }
}

/// Which known keys were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys(u64);

impl Keys {
    pub(super) const fn contains(self, key: Key) -> bool {
        self.0 & key.bit() != 0
    }

    pub(super) const fn has_tags(self) -> bool {
        self.0 & LETTERS != 0
    }

    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Notes a key; says whether it is new.
    const fn insert(&mut self, key: Key) -> bool {
        let is_new = !self.contains(key);
        self.0 |= key.bit();
        is_new
    }
}

/// A reader of lists that counts their values, all lists together.
struct List<'a> {
    left: u32,
    rules: &'a Rules,
}

impl List<'_> {
    fn ids(
        &mut self,
        reader: &mut Reader<'_>,
        context: &'static str,
    ) -> Result<(Span, u32), Error> {
        let rules = self.rules;
        self.read(reader, context, |reader| read_hex(reader, 64, rules, context).map(drop))
    }

    /// Takes an array; says where it lies and how many values it has.
    #[inline(always)]
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        context: &'static str,
        read_value: impl Fn(&mut Reader<'_>) -> Result<(), Error>,
    ) -> Result<(Span, u32), Error> {
        let start = reader.position();
        let mut array = reader.array(context)?;
        let mut count = 0;
        while array.next(reader, context)? {
            let Some(left) = self.left.checked_sub(1) else {
                reader.peek(context)?;
                let limit = self.rules.limits().filter_values;
                let kind = ErrorKind::too_many(u64::from(limit) + 1, limit);
                return Err(Error::new(kind, reader.position(), context));
            };
            self.left = left;
            read_value(reader)?;
            count += 1;
        }
        Ok((between(start, reader.position()), count))
    }
}

/// The reader takes no text that is longer than 32 bits can count, so none is lost here.
#[inline(always)]
const fn between(start: usize, end: usize) -> Span {
    Span::new(start as u32, (end - start) as u32)
}

const MAX_KEY_LEN: usize = "authors".len();
/// The bits of all letters.
const LETTERS: u64 = (1 << 52) - 1;
