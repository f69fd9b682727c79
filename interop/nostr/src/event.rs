//! Events.

use anyhow::{Context, Result, ensure};
use borrowire::buffer::Buffer;
use borrowire::nostr::event::{EventBuilder, EventView};
use bytes::Bytes;
use nostr::event::{Event, EventId, Kind, Signature, Tag};
use nostr::key::PublicKey;
use nostr::types::Timestamp;

/// An event of the nostr crate with the fields of `view`, copied. Checks neither id nor signature;
/// [`EventView::check_id`] and the nostr crate's `Event::verify` do.
///
/// Errs if a tag has no element, which NIP-01 does not forbid and the nostr crate cannot hold.
///
/// ```
/// use borrowire::nostr::event::EventView;
///
/// let line = include_str!("../../../fixtures/nostr/feed.ndjson").lines().next().unwrap();
/// let view = EventView::parse_str(line, &borrowire::rules::Rules::STRICT)?;
/// let event = borrowire_nostr::event_to_nostr(&view)?;
/// event.verify()?;
/// assert_eq!(borrowire_nostr::event_from_nostr(&event)?.raw(), line);
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn event_to_nostr<B: Buffer>(view: &EventView<B>) -> Result<Event> {
    let tag = |(i, tag): (usize, borrowire::nostr::event::Tag<'_>)| {
        Tag::parse(tag.map(|element| element.to_string())).with_context(|| format!("tag {i}"))
    };
    let tags: Vec<Tag> = view.tags().enumerate().map(tag).collect::<Result<_>>()?;
    Ok(Event::new(
        EventId::from_byte_array(*view.id()),
        PublicKey::from_byte_array(*view.pubkey()),
        Timestamp::from_secs(view.created_at()),
        Kind::from_u16(view.kind()),
        tags,
        view.content().to_cow(),
        Signature::from_byte_array(view.sig()),
    ))
}

/// `event` as canonical JSON, and a view of it.
///
/// Errs if the event's id is not the one that its fields have: the JSON would have another.
pub fn event_from_nostr(event: &Event) -> Result<EventView> {
    let tags: Vec<&[String]> = event.tags.iter().map(Tag::as_slice).collect();
    let builder = EventBuilder::new(event.kind.as_u16(), event.created_at.as_secs())
        .tags(&tags)
        .content(&event.content);
    let mut json = Vec::with_capacity(builder.encoded_len());
    let id = builder.write(&mut json, event.pubkey.as_bytes(), |_| event.sig.to_bytes());
    ensure!(id == event.id.to_bytes(), "the event claims an id that is not its own: {}", event.id);
    Ok(EventView::parse(Bytes::from(json))?)
}
