//! Filters.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use borrowire::buffer::Buffer;
use borrowire::nostr::filter::{Filter as FilterBuilder, FilterView};
use bytes::Bytes;
use nostr::event::{EventId, Kind};
use nostr::filter::{Filter, SingleLetterTag};
use nostr::key::PublicKey;
use nostr::types::Timestamp;

/// A filter of the nostr crate that asks for what `view` asks for. Its lists are sets, so order and
/// repetitions go; so do keys that no NIP names, which [`FilterView::unknown_keys`] tells.
///
/// Errs if the limit does not fit a `usize`.
///
/// ```
/// use borrowire::nostr::filter::FilterView;
///
/// let view = FilterView::parse(&br##"{"kinds":[7,1],"#t":["b","a"],"limit":5}"##[..])?;
/// let filter = borrowire_nostr::filter_to_nostr(&view)?;
/// assert_eq!(filter.limit, Some(5));
/// let back = borrowire_nostr::filter_from_nostr(&filter)?;
/// assert_eq!(back.raw(), r##"{"kinds":[1,7],"#t":["a","b"],"limit":5}"##);
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn filter_to_nostr<B: Buffer>(view: &FilterView<B>) -> Result<Filter> {
    let tag = |(letter, values): (char, borrowire::nostr::filter::TagValues<'_>)| {
        let values: BTreeSet<String> = values.map(|value| value.to_string()).collect();
        Ok((SingleLetterTag::from_char(letter)?, values))
    };
    Ok(Filter {
        ids: view.ids().map(|ids| ids.map(EventId::from_byte_array).collect()),
        authors: view.authors().map(|authors| authors.map(PublicKey::from_byte_array).collect()),
        kinds: view.kinds().map(|kinds| kinds.map(Kind::from_u16).collect()),
        search: view.search().map(|search| search.to_string()),
        since: view.since().map(Timestamp::from_secs),
        until: view.until().map(Timestamp::from_secs),
        limit: view.limit().map(usize::try_from).transpose().context("limit")?,
        generic_tags: view.tags().map(tag).collect::<Result<_>>()?,
    })
}

/// `filter` as JSON, and a view of it: for a REQ, or to be compiled.
///
/// Errs if the filter is longer than a filter may be by the rules; see
/// [`Limits`](borrowire::rules::Limits).
pub fn filter_from_nostr(filter: &Filter) -> Result<FilterView> {
    let ids = bytes(filter.ids.as_ref(), |id| id.to_bytes());
    let authors = bytes(filter.authors.as_ref(), |author| author.to_bytes());
    let kinds = bytes(filter.kinds.as_ref(), |kind| kind.as_u16());
    let tags: Vec<(char, Vec<&str>)> = filter
        .generic_tags
        .iter()
        .map(|(letter, values)| (letter.as_char(), values.iter().map(String::as_str).collect()))
        .collect();
    let mut builder = FilterBuilder::new();
    if let Some(ids) = &ids {
        builder = builder.ids(ids);
    }
    if let Some(authors) = &authors {
        builder = builder.authors(authors);
    }
    if let Some(kinds) = &kinds {
        builder = builder.kinds(kinds);
    }
    for (letter, values) in &tags {
        builder = builder.tag(*letter, values);
    }
    if let Some(since) = filter.since {
        builder = builder.since(since.as_secs());
    }
    if let Some(until) = filter.until {
        builder = builder.until(until.as_secs());
    }
    if let Some(limit) = filter.limit {
        builder = builder.limit(limit as u64);
    }
    if let Some(search) = &filter.search {
        builder = builder.search(search);
    }
    Ok(FilterView::parse(Bytes::from(builder.to_json()))?)
}

fn bytes<T, U>(set: Option<&BTreeSet<T>>, of: impl Fn(&T) -> U) -> Option<Vec<U>> {
    set.map(|set| set.iter().map(of).collect())
}
