//! Reads the lines of `record.mjs` on the standard input and compares what js-waku made of each
//! message with what borrowire makes of it. Fails on any difference that is not a known one, and
//! on any known one that is no longer there.

mod difference;
mod record;

use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use borrowire::hex::Hex;
use borrowire::rules::Rules;
use borrowire::waku::{HashRule, MessageBuilder, MessageView, message_hash};
use bytes::Bytes;

use crate::difference::Differences;
use crate::record::{Fields, Line, Message};

fn main() -> ExitCode {
    match compare(io::stdin().lock(), io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all lines of `input` agree but for the known differences, and those were all seen.
fn compare(input: impl BufRead, mut out: impl Write) -> io::Result<bool> {
    let mut agreement = Agreement::default();
    let mut differences = Differences::default();
    for (index, line) in input.lines().enumerate() {
        let line = serde_json::from_str(&line?).map_err(|error| {
            let text = format!("line {}: {error}", index + 1);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        match line {
            Line::Difference(recorded) => differences.add(recorded),
            Line::Message(message) => agreement.add(&message),
        }
    }
    agreement.print(&mut out)?;
    differences.print(&mut out)?;
    Ok(agreement.is_full() && differences.are_known())
}

/// How many messages came out alike, and on how many the known differences show that need no
/// frames of their own.
#[derive(Default)]
struct Agreement {
    messages: usize,
    frames: usize,
    reads: usize,
    hashes: usize,
    without_time: usize,
    hashes_with_zero_timestamp: usize,
    with_empty: usize,
    refused_by_strict: usize,
    refused_by_nwaku: usize,
    unexpected: usize,
}

impl Agreement {
    fn add(&mut self, message: &Message) {
        let fields = &message.fields;
        let frame = Bytes::copy_from_slice(&message.frame_hex);
        self.messages += 1;

        let written = builder(fields).omit_empty().to_vec();
        self.frames += usize::from(written == frame);
        self.expect(written == frame, "frame", &Hex(&written), &Hex(&frame));

        match MessageView::parse_with(frame.clone(), &Rules::PROTO3) {
            Err(error) => self.expect(false, "reading", &error, &Hex(&frame)),
            Ok(view) => {
                let differing = fields.differing(&view);
                self.reads += usize::from(differing.is_empty());
                let names = differing.join(", ");
                self.expect(differing.is_empty(), "reading", &names, &Hex(&frame));
                self.add_hashes(fields, &view);
            }
        }

        let has_empty = fields.payload_hex.is_empty() || fields.content_topic.is_empty();
        let strict = MessageView::parse_with(frame.clone(), &Rules::STRICT);
        let nwaku = MessageView::parse_with(frame.clone(), &Rules::NWAKU);
        self.with_empty += usize::from(has_empty);
        self.refused_by_strict += usize::from(strict.is_err());
        self.refused_by_nwaku += usize::from(nwaku.is_err());
        let as_known = strict.is_err() == has_empty && nwaku.is_err() == has_empty;
        let outcomes = format!("STRICT {strict:?}, NWAKU {nwaku:?}");
        self.expect(as_known, "strict reading", &outcomes, &Hex(&frame));
    }

    fn add_hashes(&mut self, fields: &Fields, view: &MessageView) {
        let js = &fields.hash_hex;
        let hash = message_hash(&fields.pubsub_topic, view, HashRule::OmitZero);
        self.hashes += usize::from(hash.0[..] == js[..]);
        self.expect(hash.0[..] == js[..], "hash", &hash, &Hex(js));

        let without_time = view.timestamp() == 0;
        let zeroed = message_hash(&fields.pubsub_topic, view, HashRule::ZeroTimestamp);
        let is_other = zeroed.0[..] != js[..];
        self.without_time += usize::from(without_time);
        self.hashes_with_zero_timestamp += usize::from(is_other);
        let what = "hash with the zero timestamp";
        self.expect(is_other == without_time, what, &zeroed, &Hex(js));
    }

    /// Counts and reports an outcome that is neither agreement nor a known difference.
    fn expect(&mut self, as_known: bool, what: &str, ours: &dyn Display, js: &dyn Display) {
        if as_known {
            return;
        }
        self.unexpected += 1;
        let number = self.messages;
        eprintln!("message {number}: {what}\n  borrowire {ours}\n  js-waku   {js}");
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{} messages: {} frames equal, {} read alike, {} hashes equal",
            self.messages, self.frames, self.reads, self.hashes
        )?;
        writeln!(out, "\nKnown differences on these messages")?;
        writeln!(
            out,
            "  timestamp absent or zero: {} messages; HashRule::ZeroTimestamp (nwaku, go) hashes \
             {} otherwise than js",
            self.without_time, self.hashes_with_zero_timestamp
        )?;
        writeln!(
            out,
            "  payload or content topic empty, so left out by js: {} messages; STRICT refuses {}, \
             NWAKU {}",
            self.with_empty, self.refused_by_strict, self.refused_by_nwaku
        )
    }

    fn is_full(&self) -> bool {
        let alike = [self.frames, self.reads, self.hashes];
        self.messages > 0 && self.unexpected == 0 && alike == [self.messages; 3]
    }
}

fn builder(fields: &Fields) -> MessageBuilder<'_> {
    let mut builder = MessageBuilder::new(&fields.content_topic, &fields.payload_hex);
    if let Some(version) = fields.version {
        builder = builder.version(version);
    }
    if let Some(timestamp) = fields.timestamp_ns {
        builder = builder.timestamp(timestamp.0);
    }
    if let Some(meta) = &fields.meta_hex {
        builder = builder.meta(meta);
    }
    if let Some(proof) = &fields.rate_limit_proof_hex {
        builder = builder.rate_limit_proof(proof);
    }
    if let Some(ephemeral) = fields.ephemeral {
        builder = builder.ephemeral(ephemeral);
    }
    builder
}
