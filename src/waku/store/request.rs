//! StoreQueryRequest.

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::hash::MessageHash;
use crate::waku::kind::{Field, Kind, Record, Shape, view};
use crate::waku::put::{Encode, Put, builder};
use crate::waku::store::{HASH_LEN, field};

view! {
    /// A StoreQueryRequest read where it lies.
    ///
    /// ```
    /// use borrowire::waku::store::QueryRequestView;
    ///
    /// let frame = &b"\x0a\x01r\x10\x01\x52\x01t\x5a\x01a\x60\x14\x68\x16\xa0\x03\x01\xa8\x03\x14"[..];
    /// let request = QueryRequestView::parse(frame)?;
    /// assert!(request.include_data() && request.content_topics().eq([Some("a")]));
    /// assert_eq!((request.time_start(), request.time_end()), (Some(10), Some(11)));
    /// assert_eq!(request.pagination_forward(), Some(true));
    ///
    /// // A cursor that is cut is another cursor, so it is refused.
    /// let error = QueryRequestView::parse(&b"\x0a\x01a\x9a\x03\x02\x01\x02"[..]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "store_query.pagination_cursor: 2 bytes, 32 expected, at byte 6",
    /// );
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    QueryRequestView, REQUEST, 10
}

impl<B: Buffer> QueryRequestView<B> {
    /// The id that the response will carry. `None` only where the rules let through what is not
    /// UTF-8, as [`Rules::NWAKU`] does.
    pub fn request_id(&self) -> Option<&str> {
        self.record.text(REQUEST_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn request_id_bytes(&self) -> &[u8] {
        self.record.bytes(REQUEST_ID)
    }

    /// Whether messages are asked for, not their hashes alone; false if absent.
    pub fn include_data(&self) -> bool {
        self.record.uint(INCLUDE_DATA) != 0
    }

    /// The pubsub topic to look on. `None` if absent, or not UTF-8.
    pub fn pubsub_topic(&self) -> Option<&str> {
        self.record.optional_text(PUBSUB_TOPIC)
    }

    /// The pubsub topic's bytes, UTF-8 or not; `None` if absent.
    pub fn pubsub_topic_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(PUBSUB_TOPIC)
    }

    /// The content topics to look for; `None` for one that is not UTF-8.
    pub fn content_topics(&self) -> impl ExactSizeIterator<Item = Option<&str>> + Clone {
        self.record.repeated_text(&REQUEST, CONTENT_TOPICS)
    }

    /// The content topics' bytes, UTF-8 or not.
    pub fn content_topics_bytes(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.record.repeated_bytes(&REQUEST, CONTENT_TOPICS)
    }

    /// The first time to look for, in nanoseconds since the Unix epoch; any value. `None` if absent,
    /// which is not the same as 0.
    pub fn time_start(&self) -> Option<i64> {
        self.record.optional_sint(TIME_START)
    }

    /// The last time to look for, in nanoseconds since the Unix epoch; any value. `None` if absent,
    /// which is not the same as 0.
    pub fn time_end(&self) -> Option<i64> {
        self.record.optional_sint(TIME_END)
    }

    /// The messages to look for, by their hashes.
    pub fn message_hashes(&self) -> impl ExactSizeIterator<Item = MessageHash> + Clone {
        self.record.repeated_fixed(&REQUEST, MESSAGE_HASHES).map(|hash| MessageHash(*hash))
    }

    /// The message behind which the page begins. `None` if absent: the first page.
    pub fn pagination_cursor(&self) -> Option<MessageHash> {
        self.record.fixed(PAGINATION_CURSOR).copied().map(MessageHash)
    }

    /// Whether pages go from old to new. `None` if absent, which nwaku takes for backward. Anything
    /// but zero is true; nwaku crashes at 2 and above.
    pub fn pagination_forward(&self) -> Option<bool> {
        self.record.optional_uint(PAGINATION_FORWARD).map(|forward| forward != 0)
    }

    /// The most messages that a page shall have; any number. `None` if absent.
    pub fn pagination_limit(&self) -> Option<u64> {
        self.record.optional_uint(PAGINATION_LIMIT)
    }
}

impl<B: Buffer> fmt::Display for QueryRequestView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.request_id_bytes().escape_ascii();
        let hashes = self.message_hashes().len();
        if hashes > 0 {
            return write!(f, "store query {id} for {hashes} hashes");
        }
        write!(f, "store query {id} for {} content topics", self.content_topics_bytes().len())
    }
}

/// Writes a StoreQueryRequest: by what messages hold, or by their hashes, which exclude each other.
///
/// `include_data` is always written, false too, as nwaku does; other fields if they were set.
///
/// ```
/// use borrowire::waku::MessageHash;
/// use borrowire::waku::store::{ContentFilter, QueryRequestBuilder};
///
/// let filter = ContentFilter::on("t", &["a"]).time_start(10).time_end(11);
/// let request = QueryRequestBuilder::by_content("r", filter)
///     .include_data(true)
///     .pagination_forward(true)
///     .pagination_limit(20);
/// assert_eq!(
///     request.to_vec(),
///     b"\x0a\x01r\x10\x01\x52\x01t\x5a\x01a\x60\x14\x68\x16\xa0\x03\x01\xa8\x03\x14",
/// );
///
/// let hashes = [MessageHash([7; 32])];
/// let presence = QueryRequestBuilder::by_hashes("r", &hashes).build()?;
/// assert!(presence.message_hashes().eq(hashes) && !presence.include_data());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct QueryRequestBuilder<'a> {
    request_id: &'a str,
    query: Query<'a>,
    include_data: bool,
    pagination_cursor: Option<MessageHash>,
    pagination_forward: Option<bool>,
    pagination_limit: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Query<'a> {
    Content(ContentFilter<'a>),
    Hashes(&'a [MessageHash]),
}

impl<'a> QueryRequestBuilder<'a> {
    /// A request for the hashes of the messages that pass a filter.
    pub const fn by_content(request_id: &'a str, filter: ContentFilter<'a>) -> Self {
        Self::with(request_id, Query::Content(filter))
    }

    /// A request for those of the messages with these hashes that the node has.
    pub const fn by_hashes(request_id: &'a str, message_hashes: &'a [MessageHash]) -> Self {
        Self::with(request_id, Query::Hashes(message_hashes))
    }

    const fn with(request_id: &'a str, query: Query<'a>) -> Self {
        Self {
            request_id,
            query,
            include_data: false,
            pagination_cursor: None,
            pagination_forward: None,
            pagination_limit: None,
        }
    }

    /// Sets whether to send the messages too, not their hashes alone.
    pub const fn include_data(mut self, include_data: bool) -> Self {
        self.include_data = include_data;
        self
    }

    /// Begins the page behind this message: the cursor of the response before.
    pub const fn pagination_cursor(mut self, cursor: MessageHash) -> Self {
        self.pagination_cursor = Some(cursor);
        self
    }

    /// Sets whether pages go from old to new.
    pub const fn pagination_forward(mut self, forward: bool) -> Self {
        self.pagination_forward = Some(forward);
        self
    }

    /// Sets how many messages a page has at most.
    pub const fn pagination_limit(mut self, limit: u64) -> Self {
        self.pagination_limit = Some(limit);
        self
    }
}

impl Encode for QueryRequestBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::REQUEST_ID, self.request_id.as_bytes());
        out.uint(field::INCLUDE_DATA, self.include_data.into());
        match self.query {
            Query::Content(filter) => filter.put(out),
            Query::Hashes(hashes) => {
                hashes.iter().for_each(|hash| out.bytes(field::MESSAGE_HASHES, &hash.0));
            }
        }
        if let Some(cursor) = self.pagination_cursor {
            out.bytes(field::PAGINATION_CURSOR, &cursor.0);
        }
        if let Some(forward) = self.pagination_forward {
            out.uint(field::PAGINATION_FORWARD, forward.into());
        }
        if let Some(limit) = self.pagination_limit {
            out.uint(field::PAGINATION_LIMIT, limit);
        }
    }
}

builder!(QueryRequestBuilder, QueryRequestView);

/// Which messages a query by content is for. Pubsub topic and content topics go together, as
/// 13/WAKU2-STORE wants it.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct ContentFilter<'a> {
    topics: Option<(&'a str, &'a [&'a str])>,
    time_start: Option<i64>,
    time_end: Option<i64>,
}

impl<'a> ContentFilter<'a> {
    /// All messages.
    pub fn all() -> Self {
        Self::default()
    }

    /// The messages with one of these content topics on a pubsub topic.
    pub const fn on(pubsub_topic: &'a str, content_topics: &'a [&'a str]) -> Self {
        Self { topics: Some((pubsub_topic, content_topics)), time_start: None, time_end: None }
    }

    /// Leaves out messages before this time, in nanoseconds since the Unix epoch.
    pub const fn time_start(mut self, time_start: i64) -> Self {
        self.time_start = Some(time_start);
        self
    }

    /// Leaves out messages behind this time, in nanoseconds since the Unix epoch.
    pub const fn time_end(mut self, time_end: i64) -> Self {
        self.time_end = Some(time_end);
        self
    }
}

impl Encode for ContentFilter<'_> {
    fn put(&self, out: &mut impl Put) {
        if let Some((pubsub_topic, content_topics)) = self.topics {
            out.bytes(field::PUBSUB_TOPIC, pubsub_topic.as_bytes());
            for topic in content_topics {
                out.bytes(field::CONTENT_TOPICS, topic.as_bytes());
            }
        }
        if let Some(time) = self.time_start {
            out.sint(field::TIME_START, time);
        }
        if let Some(time) = self.time_end {
            out.sint(field::TIME_END, time);
        }
    }
}

static REQUEST: Kind<10> = Kind {
    name: "StoreQueryRequest",
    context: "store_query",
    fields: [
        Field::new(field::REQUEST_ID, "store_query.request_id", Shape::Text).required(),
        Field::new(field::INCLUDE_DATA, "store_query.include_data", Shape::Bool),
        Field::new(field::PUBSUB_TOPIC, "store_query.pubsub_topic", Shape::Text).optional(),
        Field::new(field::CONTENT_TOPICS, "store_query.content_topics", Shape::Text).repeated(),
        Field::new(field::TIME_START, "store_query.time_start", Shape::Sint64).optional(),
        Field::new(field::TIME_END, "store_query.time_end", Shape::Sint64).optional(),
        Field::new(field::MESSAGE_HASHES, "store_query.message_hashes", Shape::Fixed(HASH_LEN))
            .repeated(),
        Field::new(
            field::PAGINATION_CURSOR,
            "store_query.pagination_cursor",
            Shape::Fixed(HASH_LEN),
        )
        .optional(),
        Field::new(field::PAGINATION_FORWARD, "store_query.pagination_forward", Shape::Bool)
            .optional(),
        Field::new(field::PAGINATION_LIMIT, "store_query.pagination_limit", Shape::Uint64)
            .optional(),
    ],
};

// The places of the fields in their table.
const REQUEST_ID: usize = 0;
const INCLUDE_DATA: usize = 1;
const PUBSUB_TOPIC: usize = 2;
const CONTENT_TOPICS: usize = 3;
const TIME_START: usize = 4;
const TIME_END: usize = 5;
const MESSAGE_HASHES: usize = 6;
const PAGINATION_CURSOR: usize = 7;
const PAGINATION_FORWARD: usize = 8;
const PAGINATION_LIMIT: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn requests_are_the_golden_frames() {
        let filter = ContentFilter::on("t", &["a"]).time_start(10).time_end(11);
        let request = QueryRequestBuilder::by_content("r", filter).include_data(true);
        let view = request.pagination_forward(true).pagination_limit(20).build().unwrap();
        assert_eq!(
            view.raw(),
            b"\x0a\x01r\x10\x01\x52\x01t\x5a\x01a\x60\x14\x68\x16\xa0\x03\x01\xa8\x03\x14"
        );
        assert_eq!((view.request_id(), view.pubsub_topic()), (Some("r"), Some("t")));
        assert_eq!((view.time_start(), view.time_end()), (Some(10), Some(11)));
        assert_eq!((view.pagination_cursor(), view.pagination_limit()), (None, Some(20)));
        assert_eq!((view.message_hashes().len(), view.content_topics().len()), (0, 1));

        let empty = QueryRequestBuilder::by_content("", ContentFilter::all());
        let view = empty.pagination_forward(false).build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x00\x10\x00\xa0\x03\x00");
        assert_eq!((view.time_start(), view.pagination_forward()), (None, Some(false)));
    }

    #[test]
    fn hashes_and_cursors_come_back() {
        let hashes = [MessageHash([1; 32]), MessageHash([2; 32])];
        let request = QueryRequestBuilder::by_hashes("r", &hashes).pagination_cursor(hashes[1]);
        let view = request.build().unwrap();
        assert!(view.message_hashes().eq(hashes));
        assert_eq!(view.pagination_cursor(), Some(hashes[1]));
        assert_eq!(view.to_string(), "store query r for 2 hashes");
    }

    #[test]
    fn a_hash_of_another_length_is_refused_under_all_rules() {
        let hash = |len: usize| [&b"\x0a\x01r\xa2\x01"[..], &[len as u8], &vec![7; len]].concat();
        let cursor = |len: usize| [&b"\x0a\x01r\x9a\x03"[..], &[len as u8], &vec![7; len]].concat();
        for rules in [Rules::STRICT, Rules::PROTO3, Rules::NWAKU] {
            for found in [0, 1, 31, 33] {
                for (frame, name) in [
                    (hash(found), "store_query.message_hashes"),
                    (cursor(found), "store_query.pagination_cursor"),
                ] {
                    let error = QueryRequestView::parse_with(&frame[..], &rules).unwrap_err();
                    let found = found as u32;
                    assert_eq!(error.kind(), ErrorKind::WrongLength { expected: 32, found });
                    assert_eq!((error.context(), error.offset()), (name, 6));
                }
            }
            assert!(QueryRequestView::parse_with(&hash(32)[..], &rules).is_ok());
            assert!(QueryRequestView::parse_with(&cursor(32)[..], &rules).is_ok());
        }
    }

    #[test]
    fn absent_is_not_zero_and_any_time_passes() {
        for time in [0, 1, -1, i64::MIN, i64::MAX] {
            let filter = ContentFilter::all().time_start(time).time_end(time);
            let view = QueryRequestBuilder::by_content("r", filter).build().unwrap();
            assert_eq!((view.time_start(), view.time_end()), (Some(time), Some(time)));
        }
        let absent = QueryRequestView::parse(&b"\x0a\x01r"[..]).unwrap();
        let zero = QueryRequestView::parse(&b"\x0a\x01r\x60\x00"[..]).unwrap();
        assert_eq!((absent.time_start(), zero.time_start()), (None, Some(0)));
        assert_ne!(absent, zero);
    }

    #[test]
    fn a_direction_above_1_is_forward() {
        let view = QueryRequestView::parse(&b"\x0a\x01a\xa0\x03\x02"[..]).unwrap();
        assert_eq!(view.pagination_forward(), Some(true));
    }
}
