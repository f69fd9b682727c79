//! WakuMessage, the message that every other Waku message carries.
//!
//! ```text
//! field             number  type    absent reads as
//! payload                1  bytes   refused, or empty
//! content_topic          2  string  refused, or empty
//! version                3  uint32  0
//! timestamp             10  sint64  0 (nanoseconds since the Unix epoch)
//! meta                  11  bytes   empty (at most 64 bytes)
//! rate_limit_proof      21  bytes   empty
//! ephemeral             31  bool    false
//! ```
//!
//! Of a field that is there more than once, the last counts. Source: 14/WAKU2-MESSAGE; what
//! implementations accept beyond it is in [`Rules`].

use std::fmt;

use bytes::{BufMut, Bytes};

use crate::buffer::{Buffer, Frame, Marks, Span};
use crate::counters;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::hex::Hex;
use crate::proto::{self, Fields, Tag, WireType, tag};
use crate::rules::Rules;

/// The numbers of a WakuMessage's fields.
pub mod field {
    /// `bytes payload`.
    pub const PAYLOAD: u32 = 1;
    /// `string content_topic`.
    pub const CONTENT_TOPIC: u32 = 2;
    /// `uint32 version`.
    pub const VERSION: u32 = 3;
    /// `sint64 timestamp`.
    pub const TIMESTAMP: u32 = 10;
    /// `bytes meta`.
    pub const META: u32 = 11;
    /// `bytes rate_limit_proof`.
    pub const RATE_LIMIT_PROOF: u32 = 21;
    /// `bool ephemeral`.
    pub const EPHEMERAL: u32 = 31;
}

/// A WakuMessage read where it lies.
///
/// Over [`Bytes`], the default, the view owns a share of the received buffer: cloning it counts a
/// reference, and it crosses tasks and threads. It keeps the whole buffer alive; see
/// [`detach`](Self::detach). Over `&[u8]` it borrows.
///
/// ```
/// use borrowire::waku::MessageView;
/// use bytes::Bytes;
///
/// let frame = Bytes::from_static(b"\x0a\x05hello\x12\x0b/a/1/b/text\x50\x02");
/// let message = MessageView::parse(frame.clone())?;
/// assert_eq!(message.payload(), b"hello");
/// assert_eq!(message.content_topic(), Some("/a/1/b/text"));
/// assert_eq!(message.timestamp(), 1);
/// assert_eq!(message.payload().as_ptr(), frame[2..].as_ptr()); // nothing was copied
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct MessageView<B: Buffer = Bytes> {
    frame: Frame<B, 4>,
    scalars: Scalars,
}

impl<B: Buffer> MessageView<B> {
    /// Reads a message under [`Rules::STRICT`].
    #[inline]
    pub fn parse(frame: B) -> Result<Self, Error> {
        Self::parse_with(frame, &Rules::STRICT)
    }

    /// Reads a message in one pass, in time that does not depend on the payload's length, without
    /// allocating.
    ///
    /// Errs as [`Rules`] say. A field that runs past the end of `frame` is
    /// [`ErrorKind::Truncated`]: a WakuMessage has no length of its own, so whoever framed it has
    /// said where it ends.
    #[inline]
    pub fn parse_with(frame: B, rules: &Rules) -> Result<Self, Error> {
        let mut scalars = Scalars::default();
        let frame = Frame::parse(frame, |marks| read(marks, &mut scalars, rules))?;
        Ok(Self { frame, scalars })
    }

    /// The payload, as sent by the application.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        self.frame.bytes(PAYLOAD)
    }

    /// The content topic. `None` only where the rules let through what is not UTF-8, as
    /// [`Rules::NWAKU`] does.
    #[inline]
    pub fn content_topic(&self) -> Option<&str> {
        self.frame.text(CONTENT_TOPIC)
    }

    /// The content topic's bytes, UTF-8 or not.
    #[inline]
    pub fn content_topic_bytes(&self) -> &[u8] {
        self.frame.bytes(CONTENT_TOPIC)
    }

    /// The version of the payload's encryption; 0 if absent.
    #[inline]
    pub fn version(&self) -> u32 {
        self.scalars.version
    }

    /// Nanoseconds since the Unix epoch, negative before it; 0 if absent. Any value passes: what
    /// is too old or too new is for a validator to say.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        self.scalars.timestamp
    }

    /// The application's own data beside the payload, part of the hash; empty if absent.
    #[inline]
    pub fn meta(&self) -> &[u8] {
        self.frame.bytes(META)
    }

    /// The encoded proof of the rate limit (RLN), not interpreted; empty if absent.
    #[inline]
    pub fn rate_limit_proof(&self) -> &[u8] {
        self.frame.bytes(RATE_LIMIT_PROOF)
    }

    /// Whether the message asks not to be stored; false if absent.
    #[inline]
    pub fn ephemeral(&self) -> bool {
        self.scalars.bits & EPHEMERAL_VALUE != 0
    }

    /// Whether the frame has the field with this number (see [`field`]), be it empty or zero.
    pub fn has(&self, number: u32) -> bool {
        self.scalars.bits & present_bit(number) != 0
    }

    /// Fields that this view has no accessor for, in the order of the wire. A known field with
    /// another wire type is one of them.
    pub fn unknown_fields(&self) -> impl Iterator<Item = proto::Field<'_>> {
        UnknownFields::of(self.raw())
    }

    /// The frame, exactly as it was received.
    #[inline]
    pub fn raw(&self) -> &[u8] {
        self.frame.buffer().as_ref()
    }

    /// The frame's buffer.
    #[inline]
    pub fn buffer(&self) -> &B {
        self.frame.buffer()
    }

    /// The same message in a buffer of its own, copied: for a message that is kept while the
    /// larger buffer that it was received in should go.
    #[must_use]
    pub fn detach(&self) -> MessageView {
        counters::copy(self.raw().len());
        MessageView { frame: self.frame.detach(), scalars: self.scalars }
    }

    /// The same message, borrowed from this view.
    pub fn as_borrowed(&self) -> MessageView<&[u8]> {
        MessageView { frame: self.frame.borrowed(), scalars: self.scalars }
    }
}

impl MessageView<Bytes> {
    /// The payload as a share of the received buffer. Counts a reference, copies nothing.
    #[inline]
    pub fn payload_bytes(&self) -> Bytes {
        self.frame.buffer().slice(self.frame.span(PAYLOAD).range())
    }
}

impl TryFrom<Bytes> for MessageView {
    type Error = Error;

    fn try_from(frame: Bytes) -> Result<Self, Error> {
        Self::parse(frame)
    }
}

impl<'a> TryFrom<&'a [u8]> for MessageView<&'a [u8]> {
    type Error = Error;

    fn try_from(frame: &'a [u8]) -> Result<Self, Error> {
        Self::parse(frame)
    }
}

impl<B: Buffer> Eq for MessageView<B> {}

/// Messages are equal if their fields are, whatever the order, and absent equals its default.
/// Unknown fields do not count.
impl<B: Buffer, C: Buffer> PartialEq<MessageView<C>> for MessageView<B> {
    fn eq(&self, other: &MessageView<C>) -> bool {
        self.payload() == other.payload()
            && self.content_topic_bytes() == other.content_topic_bytes()
            && self.version() == other.version()
            && self.timestamp() == other.timestamp()
            && self.meta() == other.meta()
            && self.rate_limit_proof() == other.rate_limit_proof()
            && self.ephemeral() == other.ephemeral()
    }
}

impl<B: Buffer> fmt::Display for MessageView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WakuMessage on {} of {} bytes at {} ns",
            self.content_topic_bytes().escape_ascii(),
            self.payload().len(),
            self.timestamp(),
        )
    }
}

impl<B: Buffer> fmt::Debug for MessageView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = self.payload();
        f.debug_struct("MessageView")
            .field("payload_len", &payload.len())
            .field("payload_start", &Hex(&payload[..payload.len().min(32)]))
            .field("content_topic", &format_args!("{}", self.content_topic_bytes().escape_ascii()))
            .field("version", &self.version())
            .field("timestamp", &self.timestamp())
            .field("meta", &Hex(self.meta()))
            .field("rate_limit_proof_len", &self.rate_limit_proof().len())
            .field("ephemeral", &self.ephemeral())
            .finish()
    }
}

/// Writes a WakuMessage; borrows what it writes.
///
/// Deployed encoders differ in what they leave out, and the gossip id (not the message hash)
/// differs with it. Three styles:
///
/// - by default, payload and content topic are always written, other fields if they were set:
///   the shortest frame that every decoder takes;
/// - [`omit_empty`](Self::omit_empty) leaves out an empty payload and content topic, as js-waku and
///   go-waku do; nwaku and [`Rules::STRICT`] refuse such a frame;
/// - [`always_present`](Self::always_present) writes all seven fields, as nwaku does.
///
/// There is no setter on a view: to stamp a received message or to attach a proof, start from
/// [`from_view`](Self::from_view) and build another message, with a hash of its own.
///
/// ```
/// use borrowire::waku::MessageBuilder;
///
/// let message = MessageBuilder::new("a", &[1]).timestamp(1).always_present().build()?;
/// assert_eq!(message.raw(), b"\x0a\x01\x01\x12\x01a\x18\x00\x50\x02\x5a\x00\xaa\x01\x00\xf8\x01\x00");
///
/// let stamped = MessageBuilder::from_view(&message).timestamp(2).build()?;
/// assert_eq!((message.timestamp(), stamped.timestamp()), (1, 2));
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct MessageBuilder<'a> {
    payload: &'a [u8],
    content_topic: &'a [u8],
    version: Option<u32>,
    timestamp: Option<i64>,
    meta: Option<&'a [u8]>,
    rate_limit_proof: Option<&'a [u8]>,
    ephemeral: Option<bool>,
    unknown: UnknownFields<'a>,
    style: Style,
}

impl<'a> MessageBuilder<'a> {
    /// A message with a content topic and a payload, and no other field.
    pub fn new(content_topic: &'a str, payload: &'a [u8]) -> Self {
        Self {
            payload,
            content_topic: content_topic.as_bytes(),
            version: None,
            timestamp: None,
            meta: None,
            rate_limit_proof: None,
            ephemeral: None,
            unknown: UnknownFields::of(&[]),
            style: Style::Default,
        }
    }

    /// A message with the fields of `view`, those that it does not know included.
    pub fn from_view<B: Buffer>(view: &'a MessageView<B>) -> Self {
        Self {
            payload: view.payload(),
            content_topic: view.content_topic_bytes(),
            version: view.has(field::VERSION).then(|| view.version()),
            timestamp: view.has(field::TIMESTAMP).then(|| view.timestamp()),
            meta: view.has(field::META).then(|| view.meta()),
            rate_limit_proof: view.has(field::RATE_LIMIT_PROOF).then(|| view.rate_limit_proof()),
            ephemeral: view.has(field::EPHEMERAL).then(|| view.ephemeral()),
            unknown: UnknownFields::of(view.raw()),
            style: Style::Default,
        }
    }

    /// Sets the payload.
    pub fn payload(mut self, payload: &'a [u8]) -> Self {
        self.payload = payload;
        self
    }

    /// Sets the content topic.
    pub fn content_topic(mut self, content_topic: &'a str) -> Self {
        self.content_topic = content_topic.as_bytes();
        self
    }

    /// Sets the version of the payload's encryption.
    pub fn version(mut self, version: u32) -> Self {
        self.version = Some(version);
        self
    }

    /// Sets the timestamp, in nanoseconds since the Unix epoch.
    pub fn timestamp(mut self, timestamp: i64) -> Self {
        self.timestamp = Some(timestamp);
        self
    }

    /// Sets the application's own data, at most 64 bytes by 14/WAKU2-MESSAGE.
    pub fn meta(mut self, meta: &'a [u8]) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Attaches an encoded proof of the rate limit.
    pub fn rate_limit_proof(mut self, proof: &'a [u8]) -> Self {
        self.rate_limit_proof = Some(proof);
        self
    }

    /// Sets whether the message asks not to be stored.
    pub fn ephemeral(mut self, ephemeral: bool) -> Self {
        self.ephemeral = Some(ephemeral);
        self
    }

    /// Writes every field, as nwaku does.
    pub fn always_present(mut self) -> Self {
        self.style = Style::AlwaysPresent;
        self
    }

    /// Leaves out an empty payload and an empty content topic, as js-waku and go-waku do.
    pub fn omit_empty(mut self) -> Self {
        self.style = Style::OmitEmpty;
        self
    }

    /// Writes the message and reads it back under [`Rules::STRICT`], so that what is built is what
    /// every node takes; errs if it is not (a `meta` over 64 bytes, say).
    pub fn build(&self) -> Result<MessageView, Error> {
        MessageView::parse(self.to_vec().into())
    }

    /// The message's bytes, unchecked by any rules.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_len());
        self.encode(&mut out);
        out
    }

    /// Appends the message's bytes, [`encoded_len`](Self::encoded_len) of them.
    ///
    /// # Panics
    /// If `out` cannot grow and has no room; `Vec<u8>` and `BytesMut` grow.
    pub fn encode(&self, out: &mut impl BufMut) {
        counters::copy(self.payload.len());
        let parts = self.parts();
        if let Some(payload) = parts.payload {
            proto::put_len(out, field::PAYLOAD, payload);
        }
        if let Some(content_topic) = parts.content_topic {
            proto::put_len(out, field::CONTENT_TOPIC, content_topic);
        }
        if let Some(version) = parts.version {
            proto::put_uint(out, field::VERSION, version.into());
        }
        if let Some(timestamp) = parts.timestamp {
            proto::put_sint(out, field::TIMESTAMP, timestamp);
        }
        if let Some(meta) = parts.meta {
            proto::put_len(out, field::META, meta);
        }
        if let Some(proof) = parts.rate_limit_proof {
            proto::put_len(out, field::RATE_LIMIT_PROOF, proof);
        }
        if let Some(ephemeral) = parts.ephemeral {
            proto::put_uint(out, field::EPHEMERAL, ephemeral.into());
        }
        self.unknown.clone().for_each(|field| out.put_slice(field.raw));
    }

    /// How many bytes [`encode`](Self::encode) appends.
    pub fn encoded_len(&self) -> usize {
        let parts = self.parts();
        let len = |number, value: Option<&[u8]>| {
            value.map_or(0, |value| proto::len_field_len(number, value.len()))
        };
        let uint = |number, value: Option<u64>| {
            value.map_or(0, |value| proto::uint_field_len(number, value))
        };
        len(field::PAYLOAD, parts.payload)
            + len(field::CONTENT_TOPIC, parts.content_topic)
            + uint(field::VERSION, parts.version.map(u64::from))
            + uint(field::TIMESTAMP, parts.timestamp.map(proto::zigzag_encode))
            + len(field::META, parts.meta)
            + len(field::RATE_LIMIT_PROOF, parts.rate_limit_proof)
            + uint(field::EPHEMERAL, parts.ephemeral.map(u64::from))
            + self.unknown.clone().map(|field| field.raw.len()).sum::<usize>()
    }

    /// The fields that the style writes.
    fn parts(&self) -> Parts<'a> {
        let Self { payload, content_topic, .. } = *self;
        let parts = Parts {
            payload: Some(payload),
            content_topic: Some(content_topic),
            version: self.version,
            timestamp: self.timestamp,
            meta: self.meta,
            rate_limit_proof: self.rate_limit_proof,
            ephemeral: self.ephemeral,
        };
        match self.style {
            Style::Default => parts,
            Style::OmitEmpty => Parts {
                payload: parts.payload.filter(|payload| !payload.is_empty()),
                content_topic: parts.content_topic.filter(|topic| !topic.is_empty()),
                ..parts
            },
            Style::AlwaysPresent => Parts {
                version: parts.version.or(Some(0)),
                timestamp: parts.timestamp.or(Some(0)),
                meta: parts.meta.or(Some(&[])),
                rate_limit_proof: parts.rate_limit_proof.or(Some(&[])),
                ephemeral: parts.ephemeral.or(Some(false)),
                ..parts
            },
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Style {
    AlwaysPresent,
    Default,
    OmitEmpty,
}

struct Parts<'a> {
    payload: Option<&'a [u8]>,
    content_topic: Option<&'a [u8]>,
    version: Option<u32>,
    timestamp: Option<i64>,
    meta: Option<&'a [u8]>,
    rate_limit_proof: Option<&'a [u8]>,
    ephemeral: Option<bool>,
}

/// The fields of a frame, already accepted by some rules, that have no accessor.
#[derive(Clone, Debug)]
struct UnknownFields<'a>(Fields<'a>);

impl<'a> UnknownFields<'a> {
    fn of(frame: &'a [u8]) -> Self {
        Self(proto::fields(frame, &Rules::ANY))
    }
}

impl<'a> Iterator for UnknownFields<'a> {
    type Item = proto::Field<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        // The frame was accepted, so no field of it errs.
        self.0.by_ref().map_while(Result::ok).find(|field| {
            let wire_type = match field.value {
                proto::Value::Varint(_) => WireType::Varint,
                proto::Value::Len(_) => WireType::Len,
                _ => return true,
            };
            known(field.number).is_none_or(|(_, expected)| expected != wire_type)
        })
    }
}

#[derive(Clone, Copy, Default)]
struct Scalars {
    timestamp: i64,
    version: u32,
    /// One bit for each known field (see [`present_bit`]), and [`EPHEMERAL_VALUE`]. No `bool`: its
    /// spare values would hold the tag of a `Result`, and moving that splits words.
    bits: u8,
}

/// Reads all fields of a frame.
#[inline(always)]
fn read(marks: &mut Marks<'_, 4>, scalars: &mut Scalars, rules: &Rules) -> Result<(), Error> {
    let frame = marks.bytes();
    counters::decode(frame.len());
    if frame.len() > rules.limits.frame as usize {
        let limit = rules.limits.frame;
        return Err(Error::new(ErrorKind::too_long(frame.len(), limit), limit as usize, "waku"));
    }
    let (mut timestamp, mut version, mut bits) = (0, 0, 0);
    let mut cursor = Cursor::new(frame);
    while !cursor.is_empty() {
        let start = cursor.position();
        match cursor.varint(rules, "waku.tag")? {
            PAYLOAD_TAG => {
                marks.set(PAYLOAD, proto::take_len(&mut cursor, rules, "waku.payload")?);
                bits |= present_bit(field::PAYLOAD);
            }
            CONTENT_TOPIC_TAG => {
                let span = proto::take_len(&mut cursor, rules, "waku.content_topic")?;
                set_content_topic(marks, span, rules)?;
                bits |= present_bit(field::CONTENT_TOPIC);
            }
            VERSION_TAG => {
                version = read_u32(&mut cursor, rules, "waku.version")? as u32;
                bits |= present_bit(field::VERSION);
            }
            TIMESTAMP_TAG => {
                let value = cursor.varint(rules, "waku.timestamp")?;
                timestamp = proto::zigzag_decode(value);
                bits |= present_bit(field::TIMESTAMP);
            }
            META_TAG => {
                marks.set(META, proto::take_len(&mut cursor, rules, "waku.meta")?);
                bits |= present_bit(field::META);
            }
            RATE_LIMIT_PROOF_TAG => {
                let span = proto::take_len(&mut cursor, rules, "waku.rate_limit_proof")?;
                marks.set(RATE_LIMIT_PROOF, span);
                bits |= present_bit(field::RATE_LIMIT_PROOF);
            }
            EPHEMERAL_TAG => {
                let value = read_u32(&mut cursor, rules, "waku.ephemeral")?;
                bits &= !EPHEMERAL_VALUE;
                bits |= present_bit(field::EPHEMERAL) | (u8::from(value != 0) * EPHEMERAL_VALUE);
            }
            other => cursor = skip_unknown(cursor, start, other, rules)?,
        }
    }
    if rules.required_fields && bits & REQUIRED != REQUIRED {
        return Err(missing(bits, frame.len()));
    }
    let meta = marks.span(META);
    if meta.len() > rules.limits.meta as usize {
        let kind = ErrorKind::too_long(meta.len(), rules.limits.meta);
        return Err(Error::new(kind, meta.range().start, "waku.meta"));
    }
    *scalars = Scalars { timestamp, version, bits };
    Ok(())
}

#[inline(always)]
fn set_content_topic(marks: &mut Marks<'_, 4>, span: Span, rules: &Rules) -> Result<(), Error> {
    if !rules.utf8 {
        marks.set(CONTENT_TOPIC, span);
        return Ok(());
    }
    marks.set_text(CONTENT_TOPIC, span).map_err(|valid| {
        Error::new(ErrorKind::Utf8, span.range().start + valid, "waku.content_topic")
    })
}

/// A `uint32` or `bool`: nwaku reads both as 32 bits and refuses more; protobuf cuts a `uint32` off
/// and takes any bit of a `bool`.
#[inline(always)]
fn read_u32(cursor: &mut Cursor<'_>, rules: &Rules, context: &'static str) -> Result<u64, Error> {
    let offset = cursor.position();
    let value = cursor.varint(rules, context)?;
    if rules.checked_u32 && value > u32::MAX.into() {
        return Err(Error::new(ErrorKind::OutOfRange { max: u32::MAX }, offset, context));
    }
    Ok(value)
}

#[cold]
#[inline(never)]
fn skip_unknown<'a>(
    mut cursor: Cursor<'a>,
    offset: usize,
    tag: u64,
    rules: &Rules,
) -> Result<Cursor<'a>, Error> {
    let tag = Tag::from_varint(tag, offset, rules)?;
    if let (true, Some((name, expected))) = (rules.matching_wire_types, known(tag.number)) {
        let (expected, found) = (expected as u8, tag.wire_type as u8);
        return Err(Error::new(ErrorKind::WireTypeMismatch { expected, found }, offset, name));
    }
    proto::skip(&mut cursor, offset, tag, rules)?;
    Ok(cursor)
}

#[cold]
fn missing(bits: u8, len: usize) -> Error {
    let has_payload = bits & present_bit(field::PAYLOAD) != 0;
    let name = if has_payload { "waku.content_topic" } else { "waku.payload" };
    Error::new(ErrorKind::Missing, len, name)
}

/// The name and wire type of a known field.
fn known(number: u64) -> Option<(&'static str, WireType)> {
    Some(match u32::try_from(number).ok()? {
        field::PAYLOAD => ("waku.payload", WireType::Len),
        field::CONTENT_TOPIC => ("waku.content_topic", WireType::Len),
        field::VERSION => ("waku.version", WireType::Varint),
        field::TIMESTAMP => ("waku.timestamp", WireType::Varint),
        field::META => ("waku.meta", WireType::Len),
        field::RATE_LIMIT_PROOF => ("waku.rate_limit_proof", WireType::Len),
        field::EPHEMERAL => ("waku.ephemeral", WireType::Varint),
        _ => return None,
    })
}

/// The bit of [`Scalars::bits`] that says that a field is there; none for an unknown field.
const fn present_bit(number: u32) -> u8 {
    match number {
        field::PAYLOAD => 1,
        field::CONTENT_TOPIC => 1 << 1,
        field::VERSION => 1 << 2,
        field::TIMESTAMP => 1 << 3,
        field::META => 1 << 4,
        field::RATE_LIMIT_PROOF => 1 << 5,
        field::EPHEMERAL => 1 << 6,
        _ => 0,
    }
}

/// The bit of [`Scalars::bits`] that is the value of `ephemeral`.
const EPHEMERAL_VALUE: u8 = 1 << 7;
const REQUIRED: u8 = present_bit(field::PAYLOAD) | present_bit(field::CONTENT_TOPIC);

const PAYLOAD_TAG: u64 = tag(field::PAYLOAD, WireType::Len);
const CONTENT_TOPIC_TAG: u64 = tag(field::CONTENT_TOPIC, WireType::Len);
const VERSION_TAG: u64 = tag(field::VERSION, WireType::Varint);
const TIMESTAMP_TAG: u64 = tag(field::TIMESTAMP, WireType::Varint);
const META_TAG: u64 = tag(field::META, WireType::Len);
const RATE_LIMIT_PROOF_TAG: u64 = tag(field::RATE_LIMIT_PROOF, WireType::Len);
const EPHEMERAL_TAG: u64 = tag(field::EPHEMERAL, WireType::Varint);

// The spans of the frame.
const PAYLOAD: usize = 0;
const CONTENT_TOPIC: usize = 1;
const META: usize = 2;
const RATE_LIMIT_PROOF: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_write_the_golden_frames() {
        let builder = || MessageBuilder::new("a", &[1]);
        let zeros = builder().version(0).timestamp(0).meta(&[]).ephemeral(false);
        for (builder, frame) in [
            (builder().timestamp(1).always_present(), "0a0101120161180050025a00aa0100f80100"),
            (builder().payload(&[]).always_present(), "0a00120161180050005a00aa0100f80100"),
            (builder().timestamp(-1).always_present(), "0a0101120161180050015a00aa0100f80100"),
            (
                builder()
                    .version(2)
                    .timestamp(1_681_964_442_000_000_000)
                    .ephemeral(true)
                    .always_present(),
                "0a01011201611802508090fca3f4efc4d72e5a00aa0100f80101",
            ),
            (
                MessageBuilder::new(
                    "/waku/2/default-content/proto",
                    b"\x01\x02\x03\x04TEST\x05\x06\x07\x08",
                )
                .timestamp(1_681_964_442_000_000_000)
                .meta(b"super-secret")
                .always_present(),
                "0a0c010203045445535405060708121d2f77616b752f322f64656661756c742d636f6e74656e742f\
                 70726f746f1800508090fca3f4efc4d72e5a0c73757065722d736563726574aa0100f80100",
            ),
            (builder().payload(&[]).omit_empty(), "120161"),
            (builder().content_topic("").omit_empty(), "0a0101"),
            (builder().payload(&[]), "0a00120161"),
            (zeros.omit_empty(), "0a0101120161180050005a00f80100"),
        ] {
            assert_eq!(Hex(&builder.to_vec()).to_string(), frame);
            assert_eq!(builder.encoded_len(), frame.len() / 2);
        }
    }

    #[test]
    fn a_message_from_a_view_keeps_what_it_does_not_know() {
        let frame = &b"\xa2\x06\x02zz\x0a\x01\x01\x12\x01a\x5a\x00"[..];
        let view = MessageView::parse(frame).unwrap();
        let built = MessageBuilder::from_view(&view).timestamp(7).build().unwrap();
        assert_eq!(built.raw(), b"\x0a\x01\x01\x12\x01a\x50\x0e\x5a\x00\xa2\x06\x02zz");
        assert!(built.has(field::META) && !built.has(field::VERSION) && !built.has(100));
        assert_eq!(built.unknown_fields().next().unwrap().value, proto::Value::Len(b"zz"));
    }

    #[test]
    fn a_known_field_of_another_wire_type_is_unknown() {
        let frame = &b"\x0a\x01\x01\x12\x01a\x08\x05"[..];
        let view = MessageView::parse_with(frame, &Rules::PROTO3).unwrap();
        assert_eq!(view.payload(), [1]);
        let unknown: Vec<_> = view.unknown_fields().map(|field| field.raw).collect();
        assert_eq!(unknown, [b"\x08\x05"]);
    }

    #[test]
    fn messages_are_equal_by_meaning() {
        let parse = |frame| MessageView::parse(frame).unwrap();
        let short = parse(&b"\x0a\x01\x01\x12\x01a"[..]);
        let long = MessageBuilder::from_view(&short).always_present().build().unwrap();
        assert_eq!(short, long);
        assert_ne!(short, parse(b"\x0a\x01\x02\x12\x01a"));
        let detached = long.detach();
        assert_eq!((detached.raw(), detached.payload()), (long.raw(), long.payload()));
        assert_ne!(detached.raw().as_ptr(), long.raw().as_ptr());
    }

    #[test]
    fn views_print_themselves() {
        let view = MessageView::parse(&b"\x0a\x01\x01\x12\x01a\x50\x02"[..]).unwrap();
        assert_eq!(view.to_string(), "WakuMessage on a of 1 bytes at 1 ns");
        let debug = format!("{view:?}");
        assert!(
            debug.contains("payload_start: 01") && debug.contains("content_topic: a"),
            "{debug}"
        );
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_before_it_is_read() {
        let mut limits = *Rules::STRICT.limits();
        limits.frame = 5;
        let rules = Rules::STRICT.with_limits(limits);
        let error = MessageView::parse_with(&b"\x0a\x01\x01\x12\x01a"[..], &rules).unwrap_err();
        assert_eq!(error.to_string(), "waku: 6 bytes, at most 5 allowed, at byte 5");
    }
}
