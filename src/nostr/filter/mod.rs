//! Filters: which events a subscription asks for. Source: NIP-01; `search` from NIP-50.
//!
//! ```text
//! {"ids":["…"],"authors":["…"],"kinds":[1],"#e":["…"],"since":1,"until":2,"limit":3,"search":"…"}
//!
//! ids, authors  arrays of strings, each of 64 lowercase hex digits
//! kinds         array of whole numbers, 0 to 65535
//! #e            array of strings; e may be any single letter, a to z and A to Z
//! since, until  whole numbers, seconds since the Unix epoch, 64 bits
//! limit         whole number, 64 bits
//! search        string
//! ```
//!
//! Keys come in any order, each at most once; other keys (`&t`, `#tt`, …) are passed over. An event
//! matches a filter if it meets every condition, and a list if it meets one of its values.
//!
//! [`FilterView`] reads a filter in place and [`Filter`] writes one. [`CompiledFilter`] matches
//! events, and [`FilterSet`] holds the filters of many subscriptions and finds those that an event
//! is for.
//!
//! # What matches
//!
//! - **An empty list matches nothing.** NIP-01 asks for "one or more values" and does not say what
//!   none means. strfry and nostr-tools match nothing, which is what "one of the values" says;
//!   rust-nostr passes over empty `ids`, `authors` and `kinds`, but not over an empty `#e`. Sending
//!   too little shows at once; sending everything to whoever follows nobody yet does not.
//! - `since` and `until` are inclusive: `since <= created_at <= until`.
//! - `#e` looks at tags whose first element is `e`, and compares their second element, unescaped;
//!   the others do not count. A tag of one element matches no value. Digits are not folded: an
//!   uppercase value in an event is another value, for most relays compare text.
//! - `limit` and `search` and keys that are not known say nothing about a single event, or nothing
//!   that relays agree on: they can be read, but do not take part. `{}` matches every event.

mod builder;
mod compiled;
mod index;
mod letter;
mod read;
mod set;
mod view;

pub use builder::Filter;
pub use compiled::CompiledFilter;
pub use set::{FilterSet, Visited};
pub use view::{FilterTags, FilterView, Ids, Kinds, TagValues, UnknownKeys};
