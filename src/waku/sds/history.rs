//! The entries of a message's causal history and of its repair request.

use std::fmt;

use bytes::Bytes;

use super::field;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::rules::Rules;
use crate::waku::kind::{Field, Kind, Record, Shape, view};
use crate::waku::put::{Encode, Put};

view! {
    /// A HistoryEntry read where it lies: a message that another one follows, or that is missed.
    HistoryEntryView, ENTRY, 3
}

impl<B: Buffer> HistoryEntryView<B> {
    /// The id of the message. `None` only where the rules let through what is not UTF-8.
    pub fn message_id(&self) -> Option<&str> {
        self.record.text(ENTRY_MESSAGE_ID)
    }

    /// The id's bytes, UTF-8 or not.
    pub fn message_id_bytes(&self) -> &[u8] {
        self.record.bytes(ENTRY_MESSAGE_ID)
    }

    /// How to get the message, in Waku its message hash; `None` if absent.
    pub fn retrieval_hint(&self) -> Option<&[u8]> {
        self.record.optional_bytes(ENTRY_RETRIEVAL_HINT)
    }

    /// Who sent the message. `None` if absent, or not UTF-8.
    pub fn sender_id(&self) -> Option<&str> {
        self.record.optional_text(ENTRY_SENDER_ID)
    }

    /// The sender's bytes, UTF-8 or not; `None` if absent.
    pub fn sender_id_bytes(&self) -> Option<&[u8]> {
        self.record.optional_bytes(ENTRY_SENDER_ID)
    }
}

impl<B: Buffer> fmt::Display for HistoryEntryView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "history entry {}", self.message_id_bytes().escape_ascii())
    }
}

/// A message that another one follows, or that is missed. See [`MessageBuilder::causal_history`](super::MessageBuilder::causal_history).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct HistoryEntry<'a> {
    message_id: &'a str,
    retrieval_hint: Option<&'a [u8]>,
    sender_id: Option<&'a str>,
}

impl<'a> HistoryEntry<'a> {
    /// The message with this id.
    pub const fn new(message_id: &'a str) -> Self {
        Self { message_id, retrieval_hint: None, sender_id: None }
    }

    /// Sets how to get the message.
    pub const fn retrieval_hint(mut self, retrieval_hint: &'a [u8]) -> Self {
        self.retrieval_hint = Some(retrieval_hint);
        self
    }

    /// Sets who sent the message.
    pub const fn sender_id(mut self, sender_id: &'a str) -> Self {
        self.sender_id = Some(sender_id);
        self
    }
}

impl Encode for HistoryEntry<'_> {
    fn put(&self, out: &mut impl Put) {
        out.bytes(field::ENTRY_MESSAGE_ID, self.message_id.as_bytes());
        if let Some(retrieval_hint) = self.retrieval_hint {
            out.bytes(field::ENTRY_RETRIEVAL_HINT, retrieval_hint);
        }
        if let Some(sender_id) = self.sender_id {
            out.bytes(field::ENTRY_SENDER_ID, sender_id.as_bytes());
        }
    }
}

static ENTRY: Kind<3> = Kind {
    name: "HistoryEntry",
    context: "history_entry",
    fields: [
        Field::new(field::ENTRY_MESSAGE_ID, "history_entry.message_id", Shape::Text),
        Field::new(field::ENTRY_RETRIEVAL_HINT, "history_entry.retrieval_hint", Shape::Bytes)
            .optional(),
        Field::new(field::ENTRY_SENDER_ID, "history_entry.sender_id", Shape::Text).optional(),
    ],
};

// The places of the fields in the table.
const ENTRY_MESSAGE_ID: usize = 0;
const ENTRY_RETRIEVAL_HINT: usize = 1;
const ENTRY_SENDER_ID: usize = 2;
