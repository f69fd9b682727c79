//! Protobuf on the wire: tags, fields, and what writes them.
//!
//! ```text
//! message := field*
//! field   := tag value
//! tag     := varint(number << 3 | wire type)
//! value   := varint             wire type 0
//!          | 8 bytes            wire type 1
//!          | varint(n) n bytes  wire type 2
//!          | field* end tag     wire type 3 (group; the end tag has wire type 4)
//!          | 4 bytes            wire type 5
//! ```
//!
//! Source: protobuf.dev, "Encoding". What is accepted beyond it is up to [`Rules`].

use bytes::BufMut;

use crate::buffer::Span;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::rules::Rules;

/// The fields of a message, in the order of the wire, none interpreted.
///
/// ```
/// use borrowire::proto::{Value, fields};
/// use borrowire::rules::Rules;
///
/// let mut fields = fields(&[0x0a, 0x01, b'x', 0x18, 0x02], &Rules::STRICT);
/// let payload = fields.next().unwrap()?;
/// assert_eq!((payload.number, payload.value), (1, Value::Len(b"x")));
/// let version = fields.next().unwrap()?;
/// assert_eq!((version.number, version.value), (3, Value::Varint(2)));
/// assert!(fields.next().is_none());
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn fields<'a>(message: &'a [u8], rules: &Rules) -> Fields<'a> {
    Fields { cursor: Cursor::new(message), rules: *rules }
}

/// Iterator over the fields of a message; see [`fields`]. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    cursor: Cursor<'a>,
    rules: Rules,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.is_empty() {
            return None;
        }
        let field = Field::read(&mut self.cursor, &self.rules);
        if field.is_err() {
            self.cursor = Cursor::new(&[]);
        }
        Some(field)
    }
}

/// One field as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The field's number. Above 2^29 - 1 only under [`Rules::NWAKU`].
    pub number: u64,
    /// Its value, by wire type.
    pub value: Value<'a>,
    /// The whole field, tag included.
    pub raw: &'a [u8],
    /// Where in the message the field begins.
    pub offset: usize,
}

impl<'a> Field<'a> {
    fn read(cursor: &mut Cursor<'a>, rules: &Rules) -> Result<Self, Error> {
        let offset = cursor.position();
        let tag = Tag::read(cursor, rules)?;
        let value = match tag.wire_type {
            WireType::Varint => Value::Varint(cursor.varint(rules, CONTEXT)?),
            WireType::I64 => Value::I64(u64::from_le_bytes(cursor.take_array(CONTEXT)?)),
            WireType::Len => {
                let len = cursor.varint(rules, CONTEXT)?;
                Value::Len(cursor.take(len, CONTEXT)?)
            }
            WireType::StartGroup => {
                let start = cursor.position();
                let end = skip_group(cursor, offset, tag, rules, 1)?;
                Value::Group(&cursor.bytes()[start..end])
            }
            WireType::EndGroup => return Err(Error::new(ErrorKind::GroupEnd, offset, CONTEXT)),
            WireType::I32 => Value::I32(u32::from_le_bytes(cursor.take_array(CONTEXT)?)),
        };
        let raw = &cursor.bytes()[offset..cursor.position()];
        Ok(Self { number: tag.number, value, raw, offset })
    }
}

/// The value of a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Value<'a> {
    /// Wire type 0, as unsigned 64 bits; see [`zigzag_decode`] for `sint32` and `sint64`.
    Varint(u64),
    /// Wire type 1.
    I64(u64),
    /// Wire type 2: bytes, text, a message, packed numbers.
    Len(&'a [u8]),
    /// Wire types 3 and 4: the fields inside.
    Group(&'a [u8]),
    /// Wire type 5.
    I32(u32),
}

/// What precedes a field's value: its number and wire type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The field's number.
    pub number: u64,
    /// How the value is written.
    pub wire_type: WireType,
}

impl Tag {
    /// Takes a tag, checking its number and wire type as `rules` say.
    #[inline]
    pub fn read(cursor: &mut Cursor<'_>, rules: &Rules) -> Result<Self, Error> {
        let offset = cursor.position();
        Self::from_varint(cursor.varint(rules, "proto.tag")?, offset, rules)
    }

    /// The tag that is written as the varint `tag`, found at `offset`.
    #[inline]
    pub fn from_varint(tag: u64, offset: usize, rules: &Rules) -> Result<Self, Error> {
        let number = tag >> 3;
        if rules.checked_field_numbers && !(1..=MAX_FIELD_NUMBER).contains(&number) {
            return Err(Error::new(ErrorKind::FieldNumber, offset, "proto.tag"));
        }
        let wire_type = match (tag & 7) as u8 {
            0 => WireType::Varint,
            1 => WireType::I64,
            2 => WireType::Len,
            3 if rules.groups => WireType::StartGroup,
            4 if rules.groups => WireType::EndGroup,
            5 => WireType::I32,
            found => {
                return Err(Error::new(ErrorKind::WireType { found }, offset, "proto.tag"));
            }
        };
        Ok(Self { number, wire_type })
    }
}

/// How a field's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
#[repr(u8)]
pub enum WireType {
    /// A varint.
    Varint = 0,
    /// Eight bytes, little-endian.
    I64 = 1,
    /// A length and that many bytes.
    Len = 2,
    /// The start of a group.
    StartGroup = 3,
    /// The end of a group.
    EndGroup = 4,
    /// Four bytes, little-endian.
    I32 = 5,
}

/// Passes over the value after `tag`, which was found at `offset`.
pub fn skip(cursor: &mut Cursor<'_>, offset: usize, tag: Tag, rules: &Rules) -> Result<(), Error> {
    skip_nested(cursor, offset, tag, rules, 0)
}

/// Takes the length and the bytes of a [`WireType::Len`] value, as a span of the cursor's slice.
#[inline(always)]
pub(crate) fn take_len(
    cursor: &mut Cursor<'_>,
    rules: &Rules,
    context: &'static str,
) -> Result<Span, Error> {
    let len = cursor.varint(rules, context)?;
    let start = cursor.position();
    cursor.take(len, context)?;
    Ok(Span::new(start as u32, len as u32))
}

/// Reads `sint32` and `sint64`: 0, -1, 1, -2 are written as 0, 1, 2, 3.
///
/// ```
/// use borrowire::proto::{zigzag_decode, zigzag_encode};
///
/// assert_eq!(zigzag_decode(1), -1);
/// assert_eq!(zigzag_decode(zigzag_encode(i64::MIN)), i64::MIN);
/// ```
#[inline(always)]
pub const fn zigzag_decode(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Writes `sint32` and `sint64`; see [`zigzag_decode`].
#[inline(always)]
pub const fn zigzag_encode(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Appends a varint in its shortest form, 1 to 10 bytes.
pub fn put_varint(out: &mut impl BufMut, mut value: u64) {
    while value >= 0x80 {
        out.put_u8(value as u8 | 0x80);
        value >>= 7;
    }
    out.put_u8(value as u8);
}

/// A varint in its shortest form, and how many bytes of the array it is.
pub(crate) fn varint(value: u64) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    put_varint(&mut &mut bytes[..], value);
    (bytes, varint_len(value))
}

/// Appends a tag.
pub fn put_tag(out: &mut impl BufMut, number: u32, wire_type: WireType) {
    put_varint(out, tag(number, wire_type));
}

/// Appends a field of type `uint32`, `uint64`, `bool` or an enumeration.
pub fn put_uint(out: &mut impl BufMut, number: u32, value: u64) {
    put_tag(out, number, WireType::Varint);
    put_varint(out, value);
}

/// Appends a field of type `sint32` or `sint64`.
pub fn put_sint(out: &mut impl BufMut, number: u32, value: i64) {
    put_uint(out, number, zigzag_encode(value));
}

/// Appends a field of type `bytes`, `string` or a message that is written already.
///
/// ```
/// use borrowire::proto::{len_field_len, put_len};
///
/// let mut frame = Vec::new();
/// put_len(&mut frame, 11, b"meta");
/// assert_eq!(frame, b"\x5a\x04meta");
/// assert_eq!(frame.len(), len_field_len(11, 4));
/// ```
pub fn put_len(out: &mut impl BufMut, number: u32, value: &[u8]) {
    put_tag(out, number, WireType::Len);
    put_varint(out, value.len() as u64);
    out.put_slice(value);
}

/// How many bytes [`put_varint`] writes.
pub const fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// How many bytes [`put_uint`] writes.
pub const fn uint_field_len(number: u32, value: u64) -> usize {
    varint_len(tag(number, WireType::Varint)) + varint_len(value)
}

/// How many bytes [`put_len`] writes for a value of `len` bytes.
pub const fn len_field_len(number: u32, len: usize) -> usize {
    varint_len(tag(number, WireType::Len)) + varint_len(len as u64) + len
}

/// A tag as the number that its varint carries, for `match` arms.
pub const fn tag(number: u32, wire_type: WireType) -> u64 {
    (number as u64) << 3 | wire_type as u64
}

fn skip_nested(
    cursor: &mut Cursor<'_>,
    offset: usize,
    tag: Tag,
    rules: &Rules,
    depth: u32,
) -> Result<(), Error> {
    let limit = u32::from(rules.limits.group_depth);
    if depth >= limit {
        return Err(Error::new(ErrorKind::TooDeep { limit }, offset, CONTEXT));
    }
    match tag.wire_type {
        WireType::Varint => cursor.varint(rules, CONTEXT).map(drop),
        WireType::I64 => cursor.take(8, CONTEXT).map(drop),
        WireType::Len => {
            let len = cursor.varint(rules, CONTEXT)?;
            cursor.take(len, CONTEXT).map(drop)
        }
        WireType::StartGroup => skip_group(cursor, offset, tag, rules, depth + 1).map(drop),
        WireType::EndGroup => Err(Error::new(ErrorKind::GroupEnd, offset, CONTEXT)),
        WireType::I32 => cursor.take(4, CONTEXT).map(drop),
    }
}

/// Passes over the fields of the group that `start` began, and its end tag; says where that is.
fn skip_group(
    cursor: &mut Cursor<'_>,
    start_offset: usize,
    start: Tag,
    rules: &Rules,
    depth: u32,
) -> Result<usize, Error> {
    loop {
        let offset = cursor.position();
        if cursor.is_empty() {
            // The group needs its end tag at least.
            let kind = ErrorKind::truncated(1, 0);
            return Err(Error::new(kind, start_offset, "proto.group"));
        }
        let tag = Tag::read(cursor, rules)?;
        if tag == (Tag { number: start.number, wire_type: WireType::EndGroup }) {
            return Ok(offset);
        }
        skip_nested(cursor, offset, tag, rules, depth)?;
    }
}

const MAX_FIELD_NUMBER: u64 = (1 << 29) - 1;
const CONTEXT: &str = "proto.field";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_group_is_one_field_with_its_inside() {
        let message = [0x2b, 0x08, 0x01, 0x33, 0x34, 0x2c, 0x08, 0x02];
        let read: Vec<_> = fields(&message, &Rules::PROTO3).map(Result::unwrap).collect();
        assert_eq!(read[0].value, Value::Group(&[0x08, 0x01, 0x33, 0x34]));
        assert_eq!((read[0].number, read[0].raw), (5, &message[..6]));
        assert_eq!((read[1].number, read[1].offset), (1, 6));
    }

    #[test]
    fn groups_that_are_refused() {
        let error = |message: &[u8], rules| fields(message, rules).find_map(Result::err).unwrap();
        let refused = error(&[0x2b, 0x2c], &Rules::STRICT);
        assert_eq!(refused.kind(), ErrorKind::WireType { found: 3 });
        assert_eq!(error(&[0x2c], &Rules::PROTO3).kind(), ErrorKind::GroupEnd);
        assert_eq!(error(&[0x2b, 0x34], &Rules::PROTO3).kind(), ErrorKind::GroupEnd);
        let open = error(&[0x08, 0x01, 0x2b, 0x08, 0x01], &Rules::PROTO3);
        assert_eq!((open.kind(), open.offset()), (ErrorKind::truncated(1, 0), 2));
    }

    #[test]
    fn groups_nest_as_deep_as_the_limit() {
        let nested = |depth: usize| [vec![0x2b; depth], vec![0x2c; depth]].concat();
        assert!(fields(&nested(100), &Rules::PROTO3).all(|field| field.is_ok()));
        let error = fields(&nested(101), &Rules::PROTO3).next().unwrap().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::TooDeep { limit: 100 }, 100));
        let endless = vec![0x2b; 1 << 20];
        assert!(fields(&endless, &Rules::ANY).next().unwrap().is_err());
    }

    proptest! {
        #[test]
        fn a_varint_survives_the_round_trip(value: u64, shift in 0_u32..64) {
            let value = value >> shift;
            let mut out = Vec::new();
            put_varint(&mut out, value);
            prop_assert_eq!(out.len(), varint_len(value));
            prop_assert_eq!(Cursor::new(&out).varint(&Rules::STRICT, "x"), Ok(value));
        }

        #[test]
        fn a_signed_number_survives_the_round_trip(value: i64) {
            prop_assert_eq!(zigzag_decode(zigzag_encode(value)), value);
        }

        #[test]
        fn fields_cover_the_message(message: Vec<u8>) {
            let mut at = 0;
            for field in fields(&message, &Rules::PROTO3) {
                let Ok(field) = field else { return Ok(()) };
                prop_assert_eq!(field.offset, at);
                at += field.raw.len();
            }
            prop_assert_eq!(at, message.len());
        }
    }
}
