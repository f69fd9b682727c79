//! The known differences that need frames of their own.

use std::fmt;
use std::io::{self, Write};

use borrowire::rules::Rules;
use borrowire::waku::{HashRule, MessageView, message_hash};
use bytes::Bytes;

use crate::record::Recorded;

/// What borrowire makes of the recorded frames, to hold against [`KNOWN`].
#[derive(Default)]
pub struct Differences(Vec<(String, [Outcome; 3])>);

impl Differences {
    pub fn add(&mut self, recorded: Recorded) {
        let outcomes = [Rules::STRICT, Rules::PROTO3, Rules::NWAKU]
            .map(|rules| Outcome::of(&recorded, &rules));
        self.0.push((recorded.difference, outcomes));
    }

    /// Whether every frame came out as [`KNOWN`] says, and every known difference was shown.
    pub fn are_known(&self) -> bool {
        let is_known = |(name, outcomes): &(String, [Outcome; 3])| {
            KNOWN.iter().any(|known| known.name == name && known.outcomes == *outcomes)
        };
        let is_shown = |known: &Known| self.0.iter().any(|(name, _)| name == known.name);
        self.0.iter().all(is_known) && KNOWN.iter().all(is_shown)
    }

    /// A line for each difference, with a line below it for each outcome that is not as known.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\nKnown differences on frames of their own, by the rules that borrowire reads by"
        )?;
        writeln!(out, "  {:20} {:8} {:8} {:8}", "", "STRICT", "PROTO3", "NWAKU")?;
        for known in KNOWN {
            let [strict, proto3, nwaku] = known.outcomes;
            let Known { name, reason, .. } = known;
            writeln!(out, "  {name:20} {strict:8} {proto3:8} {nwaku:8} {reason}")?;
            let mut shown = self.0.iter().filter(|(shown, _)| shown == name).peekable();
            if shown.peek().is_none() {
                eprintln!("{name}: no frame shows it");
            }
            for (_, [strict, proto3, nwaku]) in shown.filter(|(_, found)| *found != known.outcomes)
            {
                eprintln!("{name}: found {strict}, {proto3}, {nwaku}");
            }
        }
        for (name, _) in &self.0 {
            if KNOWN.iter().all(|known| known.name != name) {
                eprintln!("{name}: not a known difference");
            }
        }
        Ok(())
    }
}

/// How a reading of a frame compares with js-waku's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The same fields and hash, or refused by both.
    Alike,
    /// Other fields or another hash, or read where js-waku refuses.
    Other,
    /// Refused where js-waku reads.
    Refused,
}

impl Outcome {
    fn of(recorded: &Recorded, rules: &Rules) -> Self {
        let frame = Bytes::copy_from_slice(&recorded.frame_hex);
        match (MessageView::parse_with(frame, rules), &recorded.js) {
            (Err(_), None) => Self::Alike,
            (Err(_), Some(_)) => Self::Refused,
            (Ok(_), None) => Self::Other,
            (Ok(view), Some(js)) => {
                let hash = message_hash(&js.pubsub_topic, &view, HashRule::OmitZero);
                if js.differing(&view).is_empty() && hash.0[..] == js.hash_hex[..] {
                    Self::Alike
                } else {
                    Self::Other
                }
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Alike => "alike",
            Self::Other => "other",
            Self::Refused => "refused",
        })
    }
}

struct Known {
    name: &'static str,
    /// By STRICT, PROTO3 and NWAKU.
    outcomes: [Outcome; 3],
    reason: &'static str,
}

const KNOWN: &[Known] = {
    use Outcome::{Alike, Other, Refused};

    const fn known(name: &'static str, outcomes: [Outcome; 3], reason: &'static str) -> Known {
        Known { name, outcomes, reason }
    }

    &[
        known(
            "timestamp-carry",
            [Other, Other, Other],
            "js writes timestamps of -2^53 and less 2^32 too low if their low 32 bits are zero",
        ),
        known(
            "lone-surrogate",
            [Refused, Refused, Other],
            "js writes half a character as three bytes that are not UTF-8, and hashes U+FFFD",
        ),
        known("long-meta", [Refused, Alike, Refused], "js does not limit meta to 64 bytes"),
        known("empty-payload", [Refused, Alike, Refused], "js leaves an empty payload out"),
        known(
            "empty-content-topic",
            [Refused, Alike, Refused],
            "js leaves an empty content topic out",
        ),
        known(
            "topic-not-utf8",
            [Refused, Refused, Other],
            "js reads bytes that are not UTF-8 as some text, and hashes that",
        ),
        known(
            "topic-overlong-utf8",
            [Refused, Refused, Other],
            "js reads c1 a1 as `a`: two frames, one hash",
        ),
        known(
            "proof-not-a-message",
            [Other, Other, Other],
            "js reads the proof as a message and refuses the frame if it is none",
        ),
        known(
            "proof-rewritten",
            [Other, Other, Other],
            "js drops the proof's unknown and empty fields",
        ),
        known(
            "wire-type-ignored",
            [Refused, Other, Other],
            "js reads a known field as its own type, whatever the wire type says",
        ),
        known(
            "wire-type-overrun",
            [Alike, Other, Other],
            "the same, running past the end: js refuses the frame",
        ),
        known("version-cut", [Refused, Alike, Refused], "js cuts the version to 32 bits"),
        known(
            "ephemeral-cut",
            [Refused, Other, Refused],
            "js cuts ephemeral to 32 bits before it asks whether it is zero",
        ),
        known(
            "timestamp-cut",
            [Refused, Refused, Refused],
            "js drops the bits of a varint beyond 64",
        ),
        known("long-varint", [Refused, Alike, Refused], "js reads varints longer than need be"),
        known("group", [Refused, Alike, Refused], "js skips groups"),
        known(
            "field-number",
            [Refused, Refused, Alike],
            "js skips field number 0 and those above 2^29 - 1",
        ),
    ]
};
