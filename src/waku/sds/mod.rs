//! SDS (scalable data sync): the message of a reliable channel, which says what its sender has seen
//! before. It travels as the payload of a WakuMessage.
//!
//! ```text
//! message             specification  nim-sds  type                   absent reads as
//! sender_id                       1        7  string                 empty
//! message_id                      2        1  string                 refused by nim-sds, or empty
//! channel_id                      3        4  string                 refused by nim-sds, or empty
//! lamport_timestamp              10        2  uint64                 refused by nim-sds, or absent
//! causal_history                 11        3  repeated HistoryEntry  none
//! bloom_filter                   12        6  bytes                  absent
//! repair_request                 13       13  repeated HistoryEntry  none
//! content                        20        5  bytes                  refused by nim-sds, or absent
//!
//! HistoryEntry              number  type    absent reads as
//! message_id                     1  string  empty
//! retrieval_hint                 2  bytes   absent
//! sender_id                      3  string  absent
//!
//! bloom filter of nim-sds   number  type    absent reads as
//! bits                           1  bytes   empty
//! capacity                       2  uint64  0
//! error_rate, in millionths      3  uint64  0
//! k_hashes                       4  uint64  0
//! m_bits                         5  uint64  0
//! ```
//!
//! Two schemas are deployed, that of the specification and js-sds, and that of nim-sds, and nothing in
//! a frame says which: readers and writers are told the [`Schema`], and [`Schema::detect`] tells it
//! from a frame.
//!
//! Source: the SDS specification; js-waku `sds_message.proto`; nim-sds `sds/protobuf.nim`.

mod bloom;
mod history;

use std::fmt;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, same, view};
use crate::waku::put::{Encode, Put, builder};

pub use bloom::{BloomFilterBuilder, BloomFilterView};
pub use history::{HistoryEntry, HistoryEntryView};

/// The numbers of the fields of history entries and bloom filters. Those of a message are the
/// [`Schema`]'s.
pub mod field {
    /// `string message_id`, of a history entry.
    pub const ENTRY_MESSAGE_ID: u32 = 1;
    /// `bytes retrieval_hint`, of a history entry.
    pub const ENTRY_RETRIEVAL_HINT: u32 = 2;
    /// `string sender_id`, of a history entry.
    pub const ENTRY_SENDER_ID: u32 = 3;
    /// `bytes bits`, of a bloom filter.
    pub const BLOOM_BITS: u32 = 1;
    /// `uint64 capacity`, of a bloom filter.
    pub const BLOOM_CAPACITY: u32 = 2;
    /// `uint64 error_rate`, of a bloom filter.
    pub const BLOOM_ERROR_RATE: u32 = 3;
    /// `uint64 k_hashes`, of a bloom filter.
    pub const BLOOM_K_HASHES: u32 = 4;
    /// `uint64 m_bits`, of a bloom filter.
    pub const BLOOM_M_BITS: u32 = 5;
}

/// Which numbers the fields of a message have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Schema {
    /// Those of the specification, which js-sds uses.
    Specification,
    /// Those of nim-sds.
    NimSds,
}

impl Schema {
    /// The schema by which a frame can be read, by the `rules` that it will be read by, and has a
    /// message id and a channel id, and in nim-sds's a Lamport timestamp. `None` if that is so for
    /// neither, or for both: this never guesses.
    ///
    /// Both takes a field 2 that is there twice, as text and as a number, which no encoder writes.
    ///
    /// ```
    /// use borrowire::rules::Rules;
    /// use borrowire::waku::sds::{MessageBuilder, Schema};
    ///
    /// for schema in [Schema::Specification, Schema::NimSds] {
    ///     let frame = MessageBuilder::new(schema, "message", "channel").content(b"hello").to_vec();
    ///     assert_eq!(Schema::detect(&frame, &Rules::STRICT), Some(schema));
    /// }
    /// ```
    pub fn detect(frame: &[u8], rules: &Rules) -> Option<Self> {
        let fits = |schema: Self| {
            MessageView::parse_with(frame, schema, rules).is_ok_and(|view| {
                let has = |place| view.record.is_present(place);
                let has_time = has(LAMPORT_TIMESTAMP) || schema == Self::Specification;
                has(MESSAGE_ID) && has(CHANNEL_ID) && has_time
            })
        };
        match (fits(Self::Specification), fits(Self::NimSds)) {
            (true, false) => Some(Self::Specification),
            (false, true) => Some(Self::NimSds),
            _ => None,
        }
    }

    /// The number of `string sender_id`.
    pub const fn sender_id(self) -> u32 {
        self.either(1, 7)
    }

    /// The number of `string message_id`.
    pub const fn message_id(self) -> u32 {
        self.either(2, 1)
    }

    /// The number of `string channel_id`.
    pub const fn channel_id(self) -> u32 {
        self.either(3, 4)
    }

    /// The number of `uint64 lamport_timestamp`.
    pub const fn lamport_timestamp(self) -> u32 {
        self.either(10, 2)
    }

    /// The number of `repeated HistoryEntry causal_history`.
    pub const fn causal_history(self) -> u32 {
        self.either(11, 3)
    }

    /// The number of `bytes bloom_filter`.
    pub const fn bloom_filter(self) -> u32 {
        self.either(12, 6)
    }

    /// The number of `repeated HistoryEntry repair_request`.
    pub const fn repair_request(self) -> u32 {
        13
    }

    /// The number of `bytes content`.
    pub const fn content(self) -> u32 {
        self.either(20, 5)
    }

    const fn either(self, specification: u32, nim_sds: u32) -> u32 {
        match self {
            Self::Specification => specification,
            Self::NimSds => nim_sds,
        }
    }

    const fn kind(self) -> &'static Kind<8> {
        match self {
            Self::Specification => &SPECIFICATION,
            Self::NimSds => &NIM_SDS,
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Specification => "specification",
            Self::NimSds => "nim-sds",
        })
    }
}

view! {
    /// A message read where it lies.
    ///
    /// ```
    /// use borrowire::waku::sds::{MessageView, Schema};
    ///
    /// let frame = &b"\x0a\x01m\x10\x07\x1a\x03\x0a\x01h\x22\x01c\x2a\x02hi\x32\x00"[..];
    /// let message = MessageView::parse(frame, Schema::NimSds)?;
    /// assert_eq!((message.message_id(), message.channel_id()), (Some("m"), Some("c")));
    /// assert_eq!(message.lamport_timestamp(), Some(7));
    /// assert_eq!(message.causal_history().next().unwrap()?.message_id(), Some("h"));
    /// assert_eq!(message.content(), Some(&b"hi"[..]));
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    MessageView, 8, schema: Schema
}

impl<B: Buffer> MessageView<B> {
    /// Who sent the message. `None` only where the rules let through what is not UTF-8, as
    /// [`Rules::NWAKU`] does.
    pub fn sender_id(&self) -> Option<&str> {
        self.record.text(SENDER_ID)
    }

    /// The sender's bytes, UTF-8 or not.
    pub fn sender_id_bytes(&self) -> &[u8] {
        self.record.bytes(SENDER_ID)
    }

    /// The id of the message. `None` only where the rules let through what is not UTF-8.
    pub fn message_id(&self) -> Option<&str> {
        self.record.text(MESSAGE_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn message_id_bytes(&self) -> &[u8] {
        self.record.bytes(MESSAGE_ID)
    }

    /// The channel that the message belongs to. `None` only where the rules let through what is not
    /// UTF-8.
    pub fn channel_id(&self) -> Option<&str> {
        self.record.text(CHANNEL_ID)
    }

    /// The channel's bytes, UTF-8 or not.
    pub fn channel_id_bytes(&self) -> &[u8] {
        self.record.bytes(CHANNEL_ID)
    }

    /// The sender's logical time; `None` if absent, as it is in an ephemeral message.
    pub fn lamport_timestamp(&self) -> Option<u64> {
        self.record.optional_uint(LAMPORT_TIMESTAMP)
    }

    /// Messages that this one follows, each read when it is its turn.
    pub fn causal_history(
        &self,
    ) -> impl ExactSizeIterator<Item = Result<HistoryEntryView<B>, Error>> + Clone {
        let kind = self.schema.kind();
        self.record.repeated_messages(kind, CAUSAL_HISTORY, HistoryEntryView::parse_with)
    }

    /// What the sender has received, as a bloom filter; `None` if absent. Its form is the sender's:
    /// see [`BloomFilterView`] for nim-sds's.
    pub fn bloom_filter(&self) -> Option<&[u8]> {
        self.record.optional_bytes(BLOOM_FILTER)
    }

    /// Messages that the sender misses, each read when it is its turn.
    pub fn repair_request(
        &self,
    ) -> impl ExactSizeIterator<Item = Result<HistoryEntryView<B>, Error>> + Clone {
        let kind = self.schema.kind();
        self.record.repeated_messages(kind, REPAIR_REQUEST, HistoryEntryView::parse_with)
    }

    /// What the application sent; `None` if absent, as it is in a sync message.
    pub fn content(&self) -> Option<&[u8]> {
        self.record.optional_bytes(CONTENT)
    }
}

impl<B: Buffer> Eq for MessageView<B> {}

/// Equal if schema and fields are, whatever the fields' order. Unknown fields do not count.
impl<B: Buffer, C: Buffer> PartialEq<MessageView<C>> for MessageView<B> {
    fn eq(&self, other: &MessageView<C>) -> bool {
        self.schema == other.schema && self.record.same(&other.record, self.schema.kind())
    }
}

impl<B: Buffer> fmt::Display for MessageView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.message_id_bytes().escape_ascii();
        let channel = self.channel_id_bytes().escape_ascii();
        let len = self.content().map_or(0, <[u8]>::len);
        write!(f, "SDS message {id} on {channel} of {len} bytes")
    }
}

/// Writes a message.
///
/// In the schema of the specification what was not set, or is empty text, is left out, as js-sds
/// does. In that of nim-sds everything is written, as that does, but for a sender that is empty.
///
/// ```
/// use borrowire::waku::sds::{HistoryEntry, MessageBuilder, Schema};
///
/// let history = [HistoryEntry::new("h")];
/// let message = |schema| {
///     MessageBuilder::new(schema, "m", "c").lamport_timestamp(7).causal_history(&history).content(b"hi")
/// };
/// assert_eq!(
///     message(Schema::Specification).to_vec(),
///     b"\x12\x01m\x1a\x01c\x50\x07\x5a\x03\x0a\x01h\xa2\x01\x02hi",
/// );
/// assert_eq!(
///     message(Schema::NimSds).to_vec(),
///     b"\x0a\x01m\x10\x07\x1a\x03\x0a\x01h\x22\x01c\x2a\x02hi\x32\x00",
/// );
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct MessageBuilder<'a> {
    schema: Schema,
    sender_id: &'a str,
    message_id: &'a str,
    channel_id: &'a str,
    lamport_timestamp: Option<u64>,
    causal_history: &'a [HistoryEntry<'a>],
    bloom_filter: Option<&'a [u8]>,
    repair_request: &'a [HistoryEntry<'a>],
    content: Option<&'a [u8]>,
}

impl<'a> MessageBuilder<'a> {
    /// A message that says no more than its id and channel.
    pub const fn new(schema: Schema, message_id: &'a str, channel_id: &'a str) -> Self {
        Self {
            schema,
            sender_id: "",
            message_id,
            channel_id,
            lamport_timestamp: None,
            causal_history: &[],
            bloom_filter: None,
            repair_request: &[],
            content: None,
        }
    }

    /// Sets the sender.
    pub const fn sender_id(mut self, sender_id: &'a str) -> Self {
        self.sender_id = sender_id;
        self
    }

    /// Sets the sender's logical time.
    pub const fn lamport_timestamp(mut self, lamport_timestamp: u64) -> Self {
        self.lamport_timestamp = Some(lamport_timestamp);
        self
    }

    /// Sets the messages that this one follows.
    pub const fn causal_history(mut self, causal_history: &'a [HistoryEntry<'a>]) -> Self {
        self.causal_history = causal_history;
        self
    }

    /// Sets the bloom filter, encoded as the channel has it.
    pub const fn bloom_filter(mut self, bloom_filter: &'a [u8]) -> Self {
        self.bloom_filter = Some(bloom_filter);
        self
    }

    /// Sets the messages that the sender misses.
    pub const fn repair_request(mut self, repair_request: &'a [HistoryEntry<'a>]) -> Self {
        self.repair_request = repair_request;
        self
    }

    /// Sets what the application sends.
    pub const fn content(mut self, content: &'a [u8]) -> Self {
        self.content = Some(content);
        self
    }

    /// Writes the message and reads it back under [`Rules::STRICT`], so that what is built is what
    /// every peer of this schema takes.
    pub fn build(&self) -> Result<MessageView, Error> {
        MessageView::parse(self.to_vec().into(), self.schema)
    }

    fn put_specification(&self, out: &mut impl Put) {
        let schema = self.schema;
        for (number, text) in [
            (schema.sender_id(), self.sender_id),
            (schema.message_id(), self.message_id),
            (schema.channel_id(), self.channel_id),
        ] {
            if !text.is_empty() {
                out.bytes(number, text.as_bytes());
            }
        }
        if let Some(lamport_timestamp) = self.lamport_timestamp {
            out.uint(schema.lamport_timestamp(), lamport_timestamp);
        }
        for entry in self.causal_history {
            out.message(schema.causal_history(), entry);
        }
        if let Some(bloom_filter) = self.bloom_filter {
            out.bytes(schema.bloom_filter(), bloom_filter);
        }
        for entry in self.repair_request {
            out.message(schema.repair_request(), entry);
        }
        if let Some(content) = self.content {
            out.bytes(schema.content(), content);
        }
    }

    fn put_nim_sds(&self, out: &mut impl Put) {
        let schema = self.schema;
        out.bytes(schema.message_id(), self.message_id.as_bytes());
        out.uint(schema.lamport_timestamp(), self.lamport_timestamp.unwrap_or_default());
        for entry in self.causal_history {
            out.message(schema.causal_history(), entry);
        }
        out.bytes(schema.channel_id(), self.channel_id.as_bytes());
        out.bytes(schema.content(), self.content.unwrap_or_default());
        out.bytes(schema.bloom_filter(), self.bloom_filter.unwrap_or_default());
        if !self.sender_id.is_empty() {
            out.bytes(schema.sender_id(), self.sender_id.as_bytes());
        }
        for entry in self.repair_request {
            out.message(schema.repair_request(), entry);
        }
    }
}

impl Encode for MessageBuilder<'_> {
    fn put(&self, out: &mut impl Put) {
        match self.schema {
            Schema::Specification => self.put_specification(out),
            Schema::NimSds => self.put_nim_sds(out),
        }
    }
}

builder!(MessageBuilder);

static SPECIFICATION: Kind<8> = kind(Schema::Specification);

static NIM_SDS: Kind<8> = kind(Schema::NimSds);

const fn kind(schema: Schema) -> Kind<8> {
    let message_id = Field::new(schema.message_id(), "sds.message_id", Shape::Text);
    let channel_id = Field::new(schema.channel_id(), "sds.channel_id", Shape::Text);
    let time = Field::new(schema.lamport_timestamp(), "sds.lamport_timestamp", Shape::Uint64);
    let content = Field::new(schema.content(), "sds.content", Shape::Bytes);
    let (message_id, channel_id, time, content) = match schema {
        Schema::Specification => (message_id, channel_id, time.optional(), content.optional()),
        Schema::NimSds => {
            (message_id.required(), channel_id.required(), time.required(), content.required())
        }
    };
    Kind {
        name: "SdsMessage",
        context: "sds",
        fields: [
            Field::new(schema.sender_id(), "sds.sender_id", Shape::Text),
            message_id,
            channel_id,
            time,
            entries(schema.causal_history(), "sds.causal_history"),
            Field::new(schema.bloom_filter(), "sds.bloom_filter", Shape::Bytes).optional(),
            entries(schema.repair_request(), "sds.repair_request"),
            content,
        ],
    }
}

const fn entries(number: u32, name: &'static str) -> Field {
    Field::new(number, name, Shape::Message(same!(HistoryEntryView))).repeated()
}

// The places of the fields in the tables, the same in both.
const SENDER_ID: usize = 0;
const MESSAGE_ID: usize = 1;
const CHANNEL_ID: usize = 2;
const LAMPORT_TIMESTAMP: usize = 3;
const CAUSAL_HISTORY: usize = 4;
const BLOOM_FILTER: usize = 5;
const REPAIR_REQUEST: usize = 6;
const CONTENT: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_what_went_in() {
        let history = [HistoryEntry::new("h"), HistoryEntry::new("").sender_id("s")];
        let missed = [HistoryEntry::new("r").retrieval_hint(b"")];
        for schema in [Specification, NimSds] {
            let builder = MessageBuilder::new(schema, "m", "c")
                .sender_id("s")
                .lamport_timestamp(u64::MAX)
                .causal_history(&history)
                .bloom_filter(b"bloom")
                .repair_request(&missed)
                .content(b"content");
            let view = builder.build().unwrap();
            assert_eq!(builder.encoded_len(), view.raw().len());
            assert_eq!((view.sender_id(), view.message_id()), (Some("s"), Some("m")));
            assert_eq!((view.channel_id(), view.lamport_timestamp()), (Some("c"), Some(u64::MAX)));
            assert_eq!(view.bloom_filter(), Some(&b"bloom"[..]));
            assert_eq!(view.content(), Some(&b"content"[..]));
            let entries: Vec<_> = view.causal_history().map(Result::unwrap).collect();
            assert_eq!((entries[0].message_id(), entries[0].sender_id()), (Some("h"), None));
            assert_eq!((entries[1].message_id(), entries[1].sender_id()), (Some(""), Some("s")));
            let missed = view.repair_request().next().unwrap().unwrap();
            assert_eq!(missed.retrieval_hint(), Some(&[][..]));
            assert_eq!(Schema::detect(view.raw(), &Rules::STRICT), Some(schema));
        }
    }

    #[test]
    fn only_nim_sds_insists() {
        let frame = &b"\x0a\x01m\x10\x07\x22\x01c"[..];
        let error = MessageView::parse(frame, NimSds).unwrap_err();
        assert_eq!(error.to_string(), "sds.content: missing, at byte 8");
        let view = MessageView::parse_with(frame, NimSds, &Rules::PROTO3).unwrap();
        assert_eq!(view.content(), None);
        assert!(MessageView::parse(&[][..], Specification).is_ok());
    }

    #[test]
    fn the_schema_is_never_guessed() {
        // Field 2 both as text and as a number.
        let both = b"\x0a\x01m\x12\x01m\x10\x07\x1a\x00\x22\x01c\x2a\x00";
        for rules in [Rules::PROTO3, Rules::NWAKU] {
            assert_eq!(Schema::detect(both, &rules), None);
            assert_eq!(Schema::detect(b"", &rules), None);
            assert_eq!(Schema::detect(b"\x0a\x01m", &rules), None);
        }
    }

    #[test]
    fn a_bad_entry_leaves_the_message_readable() {
        let frame = &b"\x12\x01m\x1a\x01c\x5a\x02\x0a\x05"[..];
        let view = MessageView::parse(frame, Specification).unwrap();
        assert_eq!(view.message_id(), Some("m"));
        let error = view.causal_history().next().unwrap().unwrap_err();
        let text = "history_entry.message_id: truncated, 5 bytes needed, 0 left, at byte 10";
        assert_eq!(error.to_string(), text);
    }

    use Schema::{NimSds, Specification};
}
