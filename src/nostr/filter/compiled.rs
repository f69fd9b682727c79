//! A filter made ready for matching.

use std::cmp::Ordering;

use crate::buffer::Buffer;
use crate::json::JsonStr;
use crate::nostr::event::EventView;
use crate::nostr::filter::letter::Letter;
use crate::nostr::filter::view::FilterView;

/// A filter whose lists are sorted and freed of doubles, so that it matches events quickly however
/// many values it has. It owns what it needs.
///
/// Two are equal if the same events match, and `limit` and `search` agree; save that filters that
/// match nothing may differ.
///
/// ```
/// use borrowire::nostr::event::EventView;
/// use borrowire::nostr::filter::{CompiledFilter, FilterView};
///
/// # let event = format!(
/// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"content":"","sig":"{0}{0}","tags":[["t","nostr"]]}}"#,
/// #     "0".repeat(64)
/// # );
/// let event = EventView::parse(event.as_bytes())?; // "created_at":1,"kind":1,"tags":[["t","nostr"]]
/// for (filter, matches) in [
///     (r##"{}"##, true),
///     (r##"{"kinds":[1,7],"#t":["x","nostr"],"since":1,"until":1}"##, true),
///     (r##"{"kinds":[1],"#t":["x"]}"##, false),
///     (r##"{"kinds":[]}"##, false),
/// ] {
///     let filter = CompiledFilter::from(&FilterView::parse(filter.as_bytes())?);
///     assert_eq!(filter.matches(&event), matches);
/// }
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledFilter {
    since: u64,
    until: u64,
    /// The letters of `tags`.
    letters: u64,
    kinds: Option<Box<[u16]>>,
    authors: Option<Box<[[u8; 32]]>>,
    ids: Option<Box<[[u8; 32]]>>,
    /// In the order of the letters.
    tags: Box<[TagCondition]>,
    limit: Option<u64>,
    search: Option<Box<str>>,
}

impl CompiledFilter {
    /// Whether `event` is one that the filter asks for. Allocates nothing.
    ///
    /// A list of n values costs about log2(n) comparisons; tag conditions cost a walk over the tags
    /// of an event that meets all others.
    #[inline]
    pub fn matches<B: Buffer>(&self, event: &EventView<B>) -> bool {
        self.matches_beside(None, event)
    }

    /// How many stored events to send at most. Does not take part in matching.
    pub const fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// The words to search for (NIP-50). Do not take part in matching.
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Whether `event` meets all conditions but `known`, which it is known to meet.
    #[inline]
    pub(super) fn matches_beside<B: Buffer>(
        &self,
        known: Option<Condition>,
        event: &EventView<B>,
    ) -> bool {
        let (created_at, kind) = (event.created_at(), event.kind());
        let letters = match known {
            Some(Condition::Tag(letter)) => self.letters & !letter.bit(),
            _ => self.letters,
        };
        self.since <= created_at
            && created_at <= self.until
            && (known == Some(Condition::Kinds) || has(&self.kinds, &kind))
            && (known == Some(Condition::Authors) || has(&self.authors, event.pubkey()))
            && (known == Some(Condition::Ids) || has(&self.ids, event.id()))
            && (letters == 0 || self.meets_tags(letters, event))
    }

    /// The conditions by which an index may find the filter.
    pub(super) fn conditions(&self) -> impl Iterator<Item = Condition> {
        let lists = [
            (self.ids.is_some(), Condition::Ids),
            (self.authors.is_some(), Condition::Authors),
            (self.kinds.is_some(), Condition::Kinds),
        ];
        let lists = lists.into_iter().filter_map(|(is_there, list)| is_there.then_some(list));
        lists.chain(self.tags.iter().map(|tag| Condition::Tag(tag.letter)))
    }

    /// The values of a condition, each once.
    pub(super) fn values(&self, condition: Condition) -> Values<'_> {
        match condition {
            Condition::Ids => Values::Ids(self.ids.as_deref().unwrap_or_default()),
            Condition::Authors => Values::Ids(self.authors.as_deref().unwrap_or_default()),
            Condition::Kinds => Values::Kinds(self.kinds.as_deref().unwrap_or_default()),
            Condition::Tag(letter) => {
                let tag = self.tags.iter().find(|tag| tag.letter == letter);
                Values::Texts(tag.map_or(&[], |tag| &tag.values))
            }
        }
    }

    /// Whether each of `missing`, letters of this filter, has a tag among the event's.
    fn meets_tags<B: Buffer>(&self, mut missing: u64, event: &EventView<B>) -> bool {
        for (letter, value) in event.letter_tags() {
            let Some(letter) = Letter::of_byte(letter).filter(|l| missing & l.bit() != 0) else {
                continue;
            };
            // As many conditions stand before this one as lower letters.
            let place = (self.letters & (letter.bit() - 1)).count_ones();
            if self.tags[place as usize].is_met_by(&value) {
                missing &= !letter.bit();
                if missing == 0 {
                    return true;
                }
            }
        }
        false
    }
}

impl<B: Buffer> From<&FilterView<B>> for CompiledFilter {
    fn from(view: &FilterView<B>) -> Self {
        let mut tags: Vec<_> = view
            .tags()
            .filter_map(|(letter, values)| {
                let values = values.map(|value| value.to_cow().into());
                Some(TagCondition { letter: Letter::new(letter)?, values: sorted(values) })
            })
            .collect();
        tags.sort_by_key(|tag| tag.letter);
        Self {
            since: view.since().unwrap_or(0),
            until: view.until().unwrap_or(u64::MAX),
            letters: tags.iter().fold(0, |letters, tag| letters | tag.letter.bit()),
            kinds: view.kinds().map(sorted),
            authors: view.authors().map(sorted),
            ids: view.ids().map(sorted),
            tags: tags.into(),
            limit: view.limit(),
            search: view.search().map(|search| search.to_cow().into()),
        }
    }
}

/// What an event can be asked for by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Ids,
    Authors,
    Kinds,
    Tag(Letter),
}

/// The values of a condition.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    Ids(&'a [[u8; 32]]),
    Kinds(&'a [u16]),
    Texts(&'a [Box<str>]),
}

impl Values<'_> {
    pub(super) const fn len(self) -> usize {
        match self {
            Self::Ids(values) => values.len(),
            Self::Kinds(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }
}

/// One of `values` for a tag with this letter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TagCondition {
    letter: Letter,
    /// Sorted, each once.
    values: Box<[Box<str>]>,
}

impl TagCondition {
    #[inline(always)]
    fn is_met_by(&self, value: &JsonStr<'_>) -> bool {
        match &*self.values {
            [only] => value.eq_str(only),
            values => values.binary_search_by(|known| compare(known, value)).is_ok(),
        }
    }
}

/// The order of two texts, of which one may be escaped. Code points sort as their UTF-8 does.
#[inline(always)]
fn compare(text: &str, value: &JsonStr<'_>) -> Ordering {
    match value.as_plain() {
        Some(plain) => text.cmp(plain),
        None => text.chars().cmp(value.chars()),
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Box<[T]> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.into()
}

/// Whether `value` is in a sorted list, or there is no list.
#[inline(always)]
fn has<T: Ord>(list: &Option<Box<[T]>>, value: &T) -> bool {
    match list.as_deref() {
        None => true,
        Some([only]) => only == value,
        Some(values) => values.binary_search(value).is_ok(),
    }
}
