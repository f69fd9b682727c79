//! The rows of the table of targets, one a file.

use std::fmt;

use borrowire_benches::interleaved::Ratio;

mod copy_offsets;
mod escape_scan;
mod event_id;
mod event_peek;
mod event_view;
mod filter_match;
mod filter_push;
mod gossip_rpc;
#[cfg(feature = "path")]
mod message_path;
mod neg_msg_read;
mod neg_msg_write;
mod nostr_frames;
mod sha256;
mod store_response;
mod waku_message;

/// Every row by its number.
pub(crate) const ALL: &[Row] = &[
    Row { number: "1", run: neg_msg_write::run_binary },
    Row { number: "2", run: neg_msg_write::run_digits },
    Row { number: "3", run: copy_offsets::run },
    Row { number: "4", run: neg_msg_read::run },
    Row { number: "5", run: event_view::run },
    Row { number: "6", run: event_peek::run },
    Row { number: "7", run: event_id::run },
    Row { number: "8", run: waku_message::run },
    #[cfg(feature = "path")]
    Row { number: "9", run: message_path::run },
    Row { number: "10", run: sha256::run },
    Row { number: "11", run: escape_scan::run },
    Row { number: "12", run: gossip_rpc::run },
    Row { number: "13", run: filter_push::run },
    Row { number: "14", run: store_response::run },
    Row { number: "15", run: nostr_frames::run },
    Row { number: "16", run: filter_match::run },
];

/// A row of the table: measures its claims.
pub(crate) struct Row {
    pub(crate) number: &'static str,
    pub(crate) run: fn() -> Vec<Verdict>,
}

/// Rounds of each group.
pub(crate) const ROUNDS: usize = 31;

/// Sizes of a negentropy message in bytes, with words for them. The last is the most that strfry
/// sends.
pub(crate) const MESSAGES: [(usize, &str); 5] = [
    (32 << 10, "64 KiB of hex"),
    (125 << 10, "250 KiB of hex"),
    (250 << 10, "500 KiB of hex"),
    (256 << 10, "512 KiB of hex"),
    (500_000, "500,000 bytes of binary, 1 MB of hex"),
];

/// One claim, held against its target.
pub(crate) struct Verdict {
    pub(crate) row: &'static str,
    pub(crate) claim: String,
    pub(crate) target: f64,
    pub(crate) measured: Ratio,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, claim, target, measured } = self;
        let word = if measured.median >= *target { "reached" } else { "missed" };
        write!(f, "| {row} | {claim} | {target:.2}x | {measured} | {word} |")
    }
}
