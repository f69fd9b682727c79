//! The rows of the table of targets, one a file.

use std::fmt;

use borrowire_benches::interleaved::Ratio;

#[cfg(feature = "path")]
mod message_path;
mod sha256;
mod waku_message;

/// Every row by its number.
pub(crate) const ALL: &[Row] = &[
    Row { number: "8", run: waku_message::run },
    #[cfg(feature = "path")]
    Row { number: "9", run: message_path::run },
    Row { number: "10", run: sha256::run },
];

/// A row of the table: measures its claims.
pub(crate) struct Row {
    pub(crate) number: &'static str,
    pub(crate) run: fn() -> Vec<Verdict>,
}

/// Rounds of each group.
pub(crate) const ROUNDS: usize = 31;

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
