//! The frames that carry negentropy between two peers. Source: NIP-77.
//!
//! ```text
//! ["NEG-OPEN", sub, filter, message]            client to relay
//! ["NEG-OPEN", sub, filter, id-size, message]   client to relay, the old form
//! ["NEG-MSG", sub, message]                     both ways
//! ["NEG-CLOSE", sub]                            client to relay
//! ["NEG-ERR", sub, reason]                      relay to client
//! ["NEG-ERR", sub, reason, max-records]         relay to client
//!
//! sub      string, 1 to 64 characters (NIP-01); strfry: bytes 0x20 to 0x7e without `"` and `\`
//! filter   object, one filter of NIP-01
//! message  string, lowercase hex of a negentropy message
//! ```
//!
//! Writers take what they are given: a subscription id of any length, escaped if it must be.
//!
//! Relays differ in how much they take at once (strfry 131,072 bytes of frame, though it sends
//! 500,000 bytes of message, a frame of a megabyte), so a message should be made to measure:
//! `max_payload` says how much binary fits. What a client sends goes under a WebSocket mask (RFC
//! 6455): `write_masked` lays it on while it writes.

use crate::json::{CleanStr, Elements, FrameWriter, HexText, RawJson, Rest};
use crate::output::Output;

/// `["NEG-OPEN", sub, filter, message]`: a client begins to reconcile what `filter` matches.
///
/// ```
/// use borrowire::json::RawJson;
/// use borrowire::nostr::neg::NegOpen;
///
/// let open = NegOpen {
///     sub: "sync",
///     filter: RawJson::new(r#"{"kinds":[1]}"#, "neg-open.filter")?,
///     id_size: None,
///     message: [0x61, 0x00, 0x00, 0x02, 0x00].as_slice().into(),
/// };
/// let mut out = Vec::new();
/// open.write(&mut out);
/// assert_eq!(out, br#"["NEG-OPEN","sync",{"kinds":[1]},"6100000200"]"#);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NegOpen<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The filter.
    pub filter: RawJson<'a>,
    /// The size of ids in bytes, in the old form; `None` in today's, which has four elements.
    pub id_size: Option<u64>,
    /// The first negentropy message.
    pub message: HexText<'a>,
}

impl<'a> NegOpen<'a> {
    /// How many bytes of message fit a frame of `frame_budget` bytes, in the form of four
    /// elements. `None` if not even an empty message does.
    pub fn max_payload(frame_budget: usize, sub: &'a str, filter: RawJson<'a>) -> Option<usize> {
        let empty = NegOpen { sub, filter, id_size: None, message: HexText::EMPTY };
        bytes_in(frame_budget, empty.encoded_len())
    }

    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        let id_size = Rest(self.id_size.as_slice());
        FrameWriter::new((OPEN, self.sub, self.filter, id_size, self.message))
    }
}

/// `["NEG-MSG", sub, message]`: one peer answers the other.
///
/// ```
/// use borrowire::json::HexStr;
/// use borrowire::nostr::neg::NegMsg;
///
/// let binary = NegMsg { sub: "sync", message: [0x61, 0x00].as_slice().into() };
/// let mut out = Vec::new();
/// binary.write(&mut out);
/// assert_eq!(out, br#"["NEG-MSG","sync","6100"]"#);
///
/// // Hex that another library made is checked, and then copied.
/// let hex = HexStr::new("6100", "neg-msg.message")?;
/// assert_eq!(NegMsg { sub: "sync", message: hex.into() }.encoded_len(), out.len());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NegMsg<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// The negentropy message.
    pub message: HexText<'a>,
}

impl<'a> NegMsg<'a> {
    /// How many bytes of message fit a frame of `frame_budget` bytes. `None` if not even an empty
    /// message does. The header that WebSocket puts before a frame is not counted.
    ///
    /// ```
    /// use borrowire::nostr::neg::NegMsg;
    ///
    /// // strfry takes frames of 131,072 bytes.
    /// assert_eq!(NegMsg::max_payload(131_072, "sync"), Some(65_525));
    /// assert_eq!(NegMsg::max_payload(10, "sync"), None);
    /// ```
    pub fn max_payload(frame_budget: usize, sub: &'a str) -> Option<usize> {
        let empty = NegMsg { sub, message: HexText::EMPTY };
        bytes_in(frame_budget, empty.encoded_len())
    }

    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        FrameWriter::new((MSG, self.sub, self.message))
    }
}

/// `["NEG-CLOSE", sub]`: the client is done.
#[derive(Clone, Copy, Debug)]
pub struct NegClose<'a> {
    /// The subscription id.
    pub sub: &'a str,
}

impl NegClose<'_> {
    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        FrameWriter::new((CLOSE, self.sub))
    }
}

/// `["NEG-ERR", sub, reason]`: the relay gives up.
///
/// ```
/// use borrowire::nostr::neg::NegErr;
///
/// let too_big = NegErr {
///     sub: "sync",
///     reason: "blocked: this query is too big",
///     max_records: Some(1_000_000),
/// };
/// let mut out = Vec::new();
/// too_big.write(&mut out);
/// assert_eq!(out, br#"["NEG-ERR","sync","blocked: this query is too big",1000000]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NegErr<'a> {
    /// The subscription id.
    pub sub: &'a str,
    /// Why: a word for machines (`blocked`, `closed`), a colon, and words for people.
    pub reason: &'a str,
    /// The most records that the relay reconciles at once, where that is the reason.
    pub max_records: Option<u64>,
}

impl NegErr<'_> {
    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.frame().encoded_len()
    }

    /// Appends the frame to `out`.
    pub fn write<O: Output>(&self, out: &mut O) {
        self.frame().write(out);
    }

    /// Appends the frame to `out` under a masking key. Only clients mask, and only relays send
    /// this frame; it is here for tests of relays and for proxies.
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.frame().write_masked(out, key);
    }

    #[inline(always)]
    fn frame(&self) -> FrameWriter<impl Elements> {
        let max_records = Rest(self.max_records.as_slice());
        FrameWriter::new((ERR, self.sub, self.reason, max_records))
    }
}

fn bytes_in(frame_budget: usize, empty_len: usize) -> Option<usize> {
    Some(frame_budget.checked_sub(empty_len)? / 2)
}

const OPEN: CleanStr<'static> = CleanStr::from_static("NEG-OPEN");
const MSG: CleanStr<'static> = CleanStr::from_static("NEG-MSG");
const CLOSE: CleanStr<'static> = CleanStr::from_static("NEG-CLOSE");
const ERR: CleanStr<'static> = CleanStr::from_static("NEG-ERR");

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::HexStr;

    #[test]
    fn frames_are_those_of_serde_json() {
        for sub in ["sync", "", "a\"b\\c\u{1}", "\u{e9}\u{1f98a}\u{2028}"] {
            let filter = RawJson::new(r#"{"kinds":[1]}"#, "x").unwrap();
            for len in [0, 1, 31, 32, 33, 1000] {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
                let hex = const_hex::encode(&bytes);
                for message in [(&*bytes).into(), HexStr::new(&hex, "x").unwrap().into()] {
                    let filter_twin = json!({ "kinds": [1] });
                    let mut open = NegOpen { sub, filter, id_size: None, message };
                    let twin = json!(["NEG-OPEN", sub, filter_twin, hex]);
                    assert_frame!(open, twin);
                    open.id_size = Some(16);
                    assert_frame!(open, json!(["NEG-OPEN", sub, filter_twin, 16, hex]));
                    assert_frame!(NegMsg { sub, message }, json!(["NEG-MSG", sub, hex]));
                }
            }
            assert_frame!(NegClose { sub }, json!(["NEG-CLOSE", sub]));
            let reason = "blocked: \"too\" big";
            let mut err = NegErr { sub, reason, max_records: None };
            assert_frame!(err, json!(["NEG-ERR", sub, reason]));
            err.max_records = Some(1_000_000);
            assert_frame!(err, json!(["NEG-ERR", sub, reason, 1_000_000]));
        }
    }

    #[test]
    fn the_frame_of_quartz_and_its_bytes() {
        // Source: Amethyst, NegMsgSerializationBenchmark.kt: the digits of its payload.
        let mut x = 0x9E37_79B9_u32;
        let mut digit = || {
            x = x.wrapping_mul(1_103_515_245).wrapping_add(12345);
            char::from_digit(x >> 16 & 0xf, 16).unwrap()
        };
        let hex: String = (0..2048).map(|_| digit()).collect();
        let bytes = const_hex::decode(&hex).unwrap();
        let sub = "bench-sync";
        assert_frame!(NegMsg { sub, message: (&*bytes).into() }, json!(["NEG-MSG", sub, hex]));
    }

    #[test]
    fn the_largest_payload_fits_and_one_byte_more_does_not() {
        let filter = RawJson::new("{}", "x").unwrap();
        for sub in ["", "sync", "\"\u{1}"] {
            for budget in 0..300 {
                let msg = |len| NegMsg { sub, message: [7; 300][..len].into() }.encoded_len();
                assert_fits(budget, NegMsg::max_payload(budget, sub), msg);
                let open = |len| {
                    let message = [7; 300][..len].into();
                    NegOpen { sub, filter, id_size: None, message }.encoded_len()
                };
                assert_fits(budget, NegOpen::max_payload(budget, sub, filter), open);
            }
        }
        assert!(NegMsg::max_payload(usize::MAX, "sync").is_some());
    }

    #[track_caller]
    fn assert_fits(budget: usize, max: Option<usize>, len: impl Fn(usize) -> usize) {
        match max {
            Some(max) => assert!(len(max) <= budget && len(max + 1) > budget),
            None => assert!(len(0) > budget),
        }
    }

    macro_rules! assert_frame {
        ($frame:expr, $twin:expr) => {{
            let (frame, twin) = ($frame, serde_json::to_vec(&$twin).unwrap());
            let mut out = Vec::new();
            frame.write(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&twin));
            assert_eq!(frame.encoded_len(), twin.len());
            out.clear();
            frame.write_masked(&mut out, KEY);
            out.iter_mut().zip(KEY.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
            assert_eq!(out, twin);
        }};
    }
    use assert_frame;

    const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
}
