//! Where the fields of an event lie: one pass over its text.

use crate::buffer::Span;
use crate::error::{Error, ErrorKind};
use crate::hex::{self, Case};
use crate::json::JsonStr;
use crate::json::read::Reader;
use crate::json::string::Escapes;
use crate::rules::Rules;

/// The fields of an event, as spans of the text that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fields {
    /// The event, from `{` to `}`.
    pub(super) event: Span,
    pub(super) id: Span,
    pub(super) pubkey: Span,
    pub(super) sig: Span,
    /// The array, with its brackets.
    pub(super) tags: Span,
    /// The string, without its quotes.
    pub(super) content: Span,
    pub(super) created_at_digits: Span,
    pub(super) created_at: u64,
    pub(super) kind_digits: Span,
    pub(super) kind: u16,
    pub(super) tag_count: u32,
    pub(super) content_escapes: Escapes,
    /// Whether the tags are spelled as they are hashed: without whitespace, and escaped as
    /// serde_json escapes.
    pub(super) canonical_tags: bool,
    /// Whether there are keys that are not of NIP-01.
    pub(super) unknown_keys: bool,
}

impl Fields {
    /// Reads the event that begins at the next token of `reader`.
    pub(super) fn read(reader: &mut Reader<'_>, rules: &Rules) -> Result<Self, Error> {
        Self::read_any(reader, rules)
    }

    /// Reads an event spelled in any way.
    fn read_any(reader: &mut Reader<'_>, rules: &Rules) -> Result<Self, Error> {
        reader.peek("event")?;
        let start = reader.position();
        let mut object = reader.object("event")?;
        let mut fields = Self {
            event: Span::default(),
            id: Span::default(),
            pubkey: Span::default(),
            sig: Span::default(),
            tags: Span::default(),
            content: Span::default(),
            created_at_digits: Span::default(),
            created_at: 0,
            kind_digits: Span::default(),
            kind: 0,
            tag_count: 0,
            content_escapes: Escapes::None,
            canonical_tags: true,
            unknown_keys: false,
        };
        let mut seen = Seen(0);
        while let Some(key) = object.next(reader, "event")? {
            let Some(key) = Key::of(&key) else {
                fields.unknown_keys = true;
                reader.skip("event")?;
                continue;
            };
            let context = key.context();
            reader.peek(context)?;
            let start = reader.position();
            if !seen.insert(key) {
                return Err(Error::new(ErrorKind::Repeated, start, context));
            }
            match key {
                Key::Id => fields.id = read_hex(reader, 64, rules, context)?,
                Key::Pubkey => fields.pubkey = read_hex(reader, 64, rules, context)?,
                Key::Sig => fields.sig = read_hex(reader, 128, rules, context)?,
                Key::CreatedAt => {
                    fields.created_at = reader.u64(context)?;
                    fields.created_at_digits = between(start, reader.position());
                }
                Key::Kind => {
                    fields.kind = reader.u16(context)?;
                    fields.kind_digits = between(start, reader.position());
                }
                Key::Tags => fields.read_tags(reader)?,
                Key::Content => {
                    (fields.content, fields.content_escapes) = reader.string_span(context)?;
                }
            }
        }
        let end = reader.position();
        if let Some(key) = Key::ALL.into_iter().find(|key| !seen.contains(*key)) {
            return Err(Error::new(ErrorKind::Missing, end - 1, key.context()));
        }
        fields.event = between(start, end);
        Ok(fields)
    }

    fn read_tags(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let context = Key::Tags.context();
        let start = reader.position();
        let mut tags = reader.array(context)?;
        // As many bytes as the array has if nothing in it is whitespace.
        let mut compact = 2;
        while tags.next(reader, context)? {
            compact += 2 + usize::from(self.tag_count > 0);
            self.tag_count += 1;
            let mut tag = reader.array(context)?;
            let mut elements = 0;
            while tag.next(reader, context)? {
                let (element, escapes) = reader.string_span(context)?;
                compact += element.len() + 2 + usize::from(elements > 0);
                elements += 1;
                self.canonical_tags &= escapes <= Escapes::Canonical;
            }
        }
        self.tags = between(start, reader.position());
        self.canonical_tags &= self.tags.len() == compact;
        Ok(())
    }
}

/// The keys of an event, in the order of NIP-01.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Key {
    Id,
    Pubkey,
    CreatedAt,
    Kind,
    Tags,
    Content,
    Sig,
}

impl Key {
    const ALL: [Self; 7] =
        [Self::Id, Self::Pubkey, Self::CreatedAt, Self::Kind, Self::Tags, Self::Content, Self::Sig];

    /// The key that `key` spells, with escapes or without.
    pub(super) fn of(key: &JsonStr<'_>) -> Option<Self> {
        Self::ALL.into_iter().find(|known| key.eq_str(known.name()))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Pubkey => "pubkey",
            Self::CreatedAt => "created_at",
            Self::Kind => "kind",
            Self::Tags => "tags",
            Self::Content => "content",
            Self::Sig => "sig",
        }
    }

    /// The name of the field in errors.
    const fn context(self) -> &'static str {
        match self {
            Self::Id => "event.id",
            Self::Pubkey => "event.pubkey",
            Self::CreatedAt => "event.created_at",
            Self::Kind => "event.kind",
            Self::Tags => "event.tags",
            Self::Content => "event.content",
            Self::Sig => "event.sig",
        }
    }
}

/// Which keys were there.
struct Seen(u8);

impl Seen {
    /// Notes a key; says whether it is new.
    fn insert(&mut self, key: Key) -> bool {
        let is_new = !self.contains(key);
        self.0 |= 1 << key as u8;
        is_new
    }

    const fn contains(&self, key: Key) -> bool {
        self.0 & 1 << key as u8 != 0
    }
}

/// The reader takes no text that is longer than 32 bits can count, so none is lost here.
#[inline(always)]
const fn between(start: usize, end: usize) -> Span {
    Span::new(start as u32, (end - start) as u32)
}

/// Takes a string of exactly `len` hex digits, spelled as they are.
fn read_hex(
    reader: &mut Reader<'_>,
    len: usize,
    rules: &Rules,
    context: &'static str,
) -> Result<Span, Error> {
    let (span, escapes) = reader.string_span(context)?;
    let (start, digits) = (span.range().start, reader.slice(span));
    if escapes != Escapes::None {
        let at = start + digits.find('\\').unwrap_or_default();
        return Err(Error::new(ErrorKind::HexEscape, at, context));
    }
    if digits.len() != len {
        return Err(Error::new(ErrorKind::wrong_length(len, digits.len()), start, context));
    }
    let case = if rules.uppercase_hex { Case::Any } else { Case::Lower };
    hex::check_digits(digits.as_bytes(), case, context).map_err(|error| error.offset_by(start))?;
    Ok(span)
}
