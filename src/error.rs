//! What went wrong, where, and with which thing.

use std::fmt;
use std::num::NonZeroU32;

/// Why a frame was refused: a kind, the byte offset in the frame, and the name of the thing that
/// was being read.
///
/// Printed as `waku.meta: 65 bytes, at most 64 allowed, at byte 17`.
///
/// ```
/// use borrowire::waku::MessageView;
///
/// let error = MessageView::parse(&[0x12, 0x01, b'a'][..]).unwrap_err();
/// assert_eq!(error.to_string(), "waku.payload: missing, at byte 3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    context: &'static str,
    kind: ErrorKind,
    offset: u32,
}

impl Error {
    /// An error of `kind` at byte `offset` while reading `context` (`waku.meta`, `proto.tag`).
    ///
    /// Offsets beyond `u32::MAX` are stored as `u32::MAX`: no view takes a frame that long.
    pub const fn new(kind: ErrorKind, offset: usize, context: &'static str) -> Self {
        Self { context, kind, offset: saturate(offset as u64) }
    }

    /// What kind of error this is.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The byte of the frame, counted from 0, at which the frame stopped being right.
    pub const fn offset(&self) -> usize {
        self.offset as usize
    }

    /// The thing that was being read, such as `waku.meta`.
    pub const fn context(&self) -> &'static str {
        self.context
    }

    /// Whether more bytes may make the frame right. Only outermost framing says so; a field that
    /// runs past the end of a frame of known length is [`ErrorKind::Truncated`].
    pub const fn is_incomplete(&self) -> bool {
        matches!(self.kind, ErrorKind::Incomplete { .. })
    }

    /// The same error for a reader whose input begins `base` bytes into the frame.
    #[must_use]
    pub const fn offset_by(mut self, base: usize) -> Self {
        self.offset = saturate(self.offset as u64 + base as u64);
        self
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, at byte {}", self.context, self.kind, self.offset)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("offset", &self.offset)
            .field("context", &self.context)
            .finish()
    }
}

/// The kinds of [`Error`]. Lengths and limits are in bytes unless said otherwise; a number beyond
/// `u32::MAX` is stored as `u32::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The frame is right so far and has not ended: wait for more bytes.
    Incomplete {
        /// How many bytes are still to come, where the framing tells.
        needed: Option<NonZeroU32>,
    },
    /// A field runs past the end of a frame whose length is known. Final.
    Truncated {
        /// Bytes that the field needs.
        needed: u32,
        /// Bytes that are left.
        remaining: u32,
    },
    /// A value has the wrong fixed length.
    WrongLength {
        /// The length that is right.
        expected: u32,
        /// The length that was found.
        found: u32,
    },
    /// A value is longer than its limit.
    TooLong {
        /// The length found.
        len: u32,
        /// The limit, from [`Limits`](crate::rules::Limits).
        limit: u32,
    },
    /// There are more of a thing than its limit allows.
    TooMany {
        /// How many were found, or announced.
        count: u32,
        /// The limit, from [`Limits`](crate::rules::Limits).
        limit: u32,
    },
    /// Something that must be there is not.
    Missing,
    /// Something that may be there once is there again.
    Repeated,
    /// A varint does not fit 64 bits.
    VarintOverflow,
    /// A varint is longer than it need be, and the rules ask for the shortest form.
    VarintNotMinimal,
    /// A number is outside of the range of its field.
    OutOfRange {
        /// The largest value that fits.
        max: u32,
    },
    /// The protobuf field number 0, or one above 2^29 - 1.
    FieldNumber,
    /// A protobuf wire type that does not exist (6, 7) or that the rules refuse (3 and 4, groups).
    WireType {
        /// The wire type found.
        found: u8,
    },
    /// A known protobuf field with another wire type than its own.
    WireTypeMismatch {
        /// The wire type of the field.
        expected: u8,
        /// The wire type found.
        found: u8,
    },
    /// A protobuf group that ends without having begun, or under another field number.
    GroupEnd,
    /// Groups or containers nested deeper than the limit.
    TooDeep {
        /// The deepest nesting allowed.
        limit: u32,
    },
    /// Text that is not UTF-8.
    Utf8,
    /// A byte that is not a hex digit, or an uppercase one where only lowercase is right.
    HexDigit {
        /// The byte found.
        found: u8,
    },
    /// An escape where hex digits are expected, which are written as they are.
    HexEscape,
    /// An odd number of hex digits.
    HexOddLength {
        /// The number of digits found.
        found: u32,
    },
    /// Another byte than the grammar allows here.
    Unexpected {
        /// What would have been right.
        expected: Expected,
        /// The byte found, or `None` at the end.
        found: Option<u8>,
    },
    /// A control character (below 0x20) in a JSON string, where only its escape is right.
    ControlCharacter {
        /// The byte found.
        found: u8,
    },
    /// An escaped UTF-16 surrogate without its other half.
    LoneSurrogate {
        /// The code unit found, 0xd800 to 0xdfff.
        found: u16,
    },
    /// A decimal number that does not fit 64 bits.
    NumberOverflow,
    /// A timestamp beyond 2^64 - 2, the last that negentropy can write.
    TimestampOverflow,
    /// A range that ends before the one in front of it.
    Descending,
    /// A range behind one that ends at infinity.
    AfterInfinity,
    /// Another version of a protocol than the one that is spoken here.
    Version {
        /// The version byte that is right.
        expected: u8,
        /// The version byte found.
        found: u8,
    },
    /// A public key that is none: not the x coordinate of a point on secp256k1.
    PublicKey,
    /// A secret key that is none: 0, or not below the order of secp256k1.
    SecretKey,
    /// A signature that the owner of the public key did not make for this message.
    Signature,
    /// A value that is understood but not supported.
    Unsupported,
}

impl ErrorKind {
    /// The kind's name in kebab case, as `--json` prints it: `incomplete`, `wire-type`, ….
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Incomplete { .. } => "incomplete",
            Self::Truncated { .. } => "truncated",
            Self::WrongLength { .. } => "wrong-length",
            Self::TooLong { .. } => "too-long",
            Self::TooMany { .. } => "too-many",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::VarintOverflow => "varint-overflow",
            Self::VarintNotMinimal => "varint-not-minimal",
            Self::OutOfRange { .. } => "out-of-range",
            Self::FieldNumber => "field-number",
            Self::WireType { .. } => "wire-type",
            Self::WireTypeMismatch { .. } => "wire-type-mismatch",
            Self::GroupEnd => "group-end",
            Self::TooDeep { .. } => "too-deep",
            Self::Utf8 => "utf8",
            Self::HexDigit { .. } => "hex-digit",
            Self::HexEscape => "hex-escape",
            Self::HexOddLength { .. } => "hex-odd-length",
            Self::Unexpected { .. } => "unexpected",
            Self::ControlCharacter { .. } => "control-character",
            Self::LoneSurrogate { .. } => "lone-surrogate",
            Self::NumberOverflow => "number-overflow",
            Self::TimestampOverflow => "timestamp-overflow",
            Self::Descending => "descending",
            Self::AfterInfinity => "after-infinity",
            Self::Version { .. } => "version",
            Self::PublicKey => "public-key",
            Self::SecretKey => "secret-key",
            Self::Signature => "signature",
            Self::Unsupported => "unsupported",
        }
    }

    pub(crate) const fn truncated(needed: u64, remaining: usize) -> Self {
        Self::Truncated { needed: saturate(needed), remaining: saturate(remaining as u64) }
    }

    pub(crate) const fn wrong_length(expected: usize, found: usize) -> Self {
        Self::WrongLength { expected: saturate(expected as u64), found: saturate(found as u64) }
    }

    pub(crate) const fn too_long(len: usize, limit: u32) -> Self {
        Self::TooLong { len: saturate(len as u64), limit }
    }

    pub(crate) const fn too_many(count: u64, limit: u32) -> Self {
        Self::TooMany { count: saturate(count), limit }
    }

    pub(crate) const fn hex_odd_length(found: usize) -> Self {
        Self::HexOddLength { found: saturate(found as u64) }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Incomplete { needed: None } => f.write_str("incomplete, more bytes are needed"),
            Self::Incomplete { needed: Some(needed) } => {
                write!(f, "incomplete, {needed} more bytes are needed")
            }
            Self::Truncated { needed: u32::MAX, remaining } => {
                write!(f, "truncated, {} or more bytes needed, {remaining} left", u32::MAX)
            }
            Self::Truncated { needed, remaining } => {
                write!(f, "truncated, {needed} bytes needed, {remaining} left")
            }
            Self::WrongLength { expected, found } => {
                write!(f, "{found} bytes, {expected} expected")
            }
            Self::TooLong { len, limit } => write!(f, "{len} bytes, at most {limit} allowed"),
            Self::TooMany { count, limit } => write!(f, "{count}, at most {limit} allowed"),
            Self::Missing => f.write_str("missing"),
            Self::Repeated => f.write_str("given twice, once allowed"),
            Self::VarintOverflow => f.write_str("varint does not fit 64 bits"),
            Self::VarintNotMinimal => f.write_str("varint is not in its shortest form"),
            Self::OutOfRange { max } => write!(f, "out of range, at most {max} fits"),
            Self::FieldNumber => f.write_str("field number out of range, 1 to 536870911 expected"),
            Self::WireType { found: found @ (3 | 4) } => {
                write!(f, "wire type {found} (group) is refused by these rules")
            }
            Self::WireType { found } => write!(f, "wire type {found} does not exist"),
            Self::WireTypeMismatch { expected, found } => {
                write!(f, "wire type {found}, {expected} expected")
            }
            Self::GroupEnd => f.write_str("end of a group that was not begun"),
            Self::TooDeep { limit } => write!(f, "nested deeper than {limit}"),
            Self::Utf8 => f.write_str("not UTF-8"),
            Self::HexDigit { found: found @ b'A'..=b'F' } => {
                write!(f, "lowercase hex digit expected, found {}", ShownByte(found))
            }
            Self::HexDigit { found } => {
                write!(f, "hex digit expected, found {}", ShownByte(found))
            }
            Self::HexEscape => f.write_str("hex digit expected, found an escape"),
            Self::HexOddLength { found } => {
                write!(f, "{found} hex digits, an even number expected")
            }
            Self::Unexpected { expected, found: Some(found) } => {
                write!(f, "{expected} expected, found {}", ShownByte(found))
            }
            Self::Unexpected { expected, found: None } => {
                write!(f, "{expected} expected, found the end")
            }
            Self::ControlCharacter { found } => {
                write!(f, "raw control character {found:#04x} in a string")
            }
            Self::LoneSurrogate { found } => write!(f, "lone surrogate \\u{found:04x}"),
            Self::NumberOverflow => f.write_str("number does not fit 64 bits"),
            Self::TimestampOverflow => f.write_str("timestamp beyond 2^64 - 2"),
            Self::Descending => f.write_str("ends before the range in front of it"),
            Self::AfterInfinity => f.write_str("follows a range that ends at infinity"),
            Self::Version { expected, found } => {
                write!(f, "version {found:#04x}, {expected:#04x} expected")
            }
            Self::PublicKey => f.write_str("not the x coordinate of a point on secp256k1"),
            Self::SecretKey => f.write_str("not a number from 1 to the order of secp256k1 - 1"),
            Self::Signature => f.write_str("not made by this public key for this id"),
            Self::Unsupported => f.write_str("not supported"),
        }
    }
}

/// What a grammar wanted where it found another byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// A character of base64.
    Base64,
    /// `/`
    Slash,
    /// The prefix of a static shard's topic, `/waku/2/rs/`.
    ShardPrefix,
    /// A decimal number from 0 to 65535 without leading zeros.
    ShardNumber,
    /// A decimal number, the generation of a content topic.
    Generation,
    /// A part of a topic that is not empty.
    TopicPart,
    /// A JSON value.
    Value,
    /// A JSON string.
    String,
    /// A JSON number.
    Number,
    /// A whole number from 0 on, in digits alone.
    Decimal,
    /// A decimal digit.
    Digit,
    /// `true` or `false`.
    Boolean,
    /// The rest of `true`, `false` or `null`.
    Literal,
    /// `[`
    Array,
    /// `{`
    Object,
    /// `,` or `]`
    ArrayNext,
    /// `,` or `}`
    ObjectNext,
    /// `:`
    Colon,
    /// What may follow a backslash in a JSON string.
    Escape,
    /// The version byte of a negentropy message.
    NegentropyVersion,
    /// The label of a frame that carries negentropy.
    NegLabel,
    /// The label `NEG-MSG`.
    NegMsgLabel,
    /// The label of a frame that carries an event.
    EventLabel,
    /// A filter: a JSON object.
    Filter,
    /// Text without a line break inside or a carriage return at its end.
    OneLine,
    /// Nothing more.
    End,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base64 => "a base64 character",
            Self::Slash => "`/`",
            Self::ShardPrefix => "`/waku/2/rs/`",
            Self::ShardNumber => "a number from 0 to 65535 without leading zeros",
            Self::Generation => "a generation number",
            Self::TopicPart => "a part that is not empty",
            Self::Value => "a value",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Decimal => "a whole number in digits alone",
            Self::Digit => "a digit",
            Self::Boolean => "`true` or `false`",
            Self::Literal => "`true`, `false` or `null`",
            Self::Array => "`[`",
            Self::Object => "`{`",
            Self::ArrayNext => "`,` or `]`",
            Self::ObjectNext => "`,` or `}`",
            Self::Colon => "`:`",
            Self::Escape => "one of `\"\\/bfnrtu`",
            Self::NegLabel => "`NEG-OPEN`, `NEG-MSG`, `NEG-CLOSE` or `NEG-ERR`",
            Self::NegMsgLabel => "`NEG-MSG`",
            Self::EventLabel => "`EVENT` or `AUTH`",
            Self::Filter => "a filter object",
            Self::NegentropyVersion => "a version byte from 0x60 to 0x6f",
            Self::OneLine => "text without line breaks",
            Self::End => "the end",
        })
    }
}

/// A byte as people read it: `'x'` if it prints, `0x0a` if not.
struct ShownByte(u8);

impl fmt::Display for ShownByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte @ 0x20..=0x7e => write!(f, "`{}`", byte as char),
            byte => write!(f, "{byte:#04x}"),
        }
    }
}

const fn saturate(number: u64) -> u32 {
    if number > u32::MAX as u64 { u32::MAX } else { number as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stays_small() {
        assert!(size_of::<Error>() <= 32);
    }

    #[test]
    fn offsets_and_counts_saturate() {
        let error = Error::new(ErrorKind::truncated(u64::MAX, 0), usize::MAX, "x");
        assert_eq!(error.offset_by(5).offset(), u32::MAX as usize);
        assert_eq!(error.kind().to_string(), "truncated, 4294967295 or more bytes needed, 0 left");
    }

    #[test]
    fn bytes_are_shown_as_people_read_them() {
        let digit = |found| ErrorKind::HexDigit { found }.to_string();
        assert_eq!(digit(b'F'), "lowercase hex digit expected, found `F`");
        assert_eq!(digit(b'G'), "hex digit expected, found `G`");
        assert_eq!(digit(b'\n'), "hex digit expected, found 0x0a");
    }
}
