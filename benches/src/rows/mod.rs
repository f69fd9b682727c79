//! The rows of the table of targets, one a file.

use std::fmt;

use borrowire_benches::interleaved::Ratio;

mod waku_message;

/// Every row by its number.
pub(crate) const ALL: &[(&str, fn() -> Vec<Verdict>)] = &[("8", waku_message::run)];

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
