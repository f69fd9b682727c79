//! What all kinds of message share: the table of a kind's fields, the record that is read by it,
//! and the macro that makes a view of the two. What is written is in `put.rs`.
//!
//! A kind is a file of its own that holds its picture, a [`Kind`] for each of its messages, and
//! accessors; `filter.rs` is the one to copy. The rules of reading are here, once:
//!
//! - One pass checks the whole frame and allocates nothing. Of a singular field the last counts; a
//!   singular sub-message that is there twice is refused by name, but for [`Rules::NWAKU`].
//! - Of a repeated field the record keeps how many there are and the range of the frame that holds
//!   them all. Iterators walk that range again, without checking anything a second time but text.
//! - A sub-message is not entered: its accessor reads it, by the rules of the outer frame, and
//!   gives its errors with offsets in the frame of the view that was asked. So what is around it
//!   stays readable.
//! - A value of fixed length has that length under all rules: padding or cutting a hash, as
//!   some nodes do, makes another hash.

use std::fmt;

use bytes::Bytes;

use crate::buffer::{Buffer, Frame, Marks, Span, check_utf8};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::hex::Hex;
use crate::proto::{self, Tag, WireType};
use crate::rules::Rules;

/// A kind of message: its name, as in `Debug` and in errors, and its `N` fields. A field's place in
/// the table is how the record knows it.
pub(crate) struct Kind<const N: usize> {
    pub(crate) name: &'static str,
    pub(crate) context: &'static str,
    pub(crate) fields: [Field; N],
}

/// A field of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    tag: u64,
    number: u32,
    name: &'static str,
    shape: Shape,
    presence: Presence,
    is_repeated: bool,
}

/// What a field holds.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// A truth value. nwaku reads 32 bits, protobuf 64; anything but zero is true.
    Bool,
    /// Bytes of any length.
    Bytes,
    /// Bytes of one length.
    Fixed(u32),
    /// A sub-message; the function tells whether two of them mean the same, see [`same`].
    Message(fn(Nested<'_>, Nested<'_>) -> bool),
    /// A signed number, zigzag.
    Sint64,
    /// Text in UTF-8.
    Text,
    /// A number or an enumeration. Repeated, it may be packed, unpacked or both.
    Uint32,
    /// A number.
    Uint64,
}

/// A sub-message, and the rules that it is read by.
#[derive(Clone, Copy)]
pub(crate) struct Nested<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) rules: &'a Rules,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// Absent is the same as zero or empty.
    Implied,
    /// Absent is a value of its own.
    Optional,
    /// Absent is refused by the rules that say so, else the same as zero or empty.
    Required,
}

impl Field {
    /// A field that reads as zero or empty where it is absent. `name` is its context in errors.
    pub(crate) const fn new(number: u32, name: &'static str, shape: Shape) -> Self {
        let tag = proto::tag(number, shape.wire_type());
        Self { tag, number, name, shape, presence: Presence::Implied, is_repeated: false }
    }

    /// The same field where absent is a value of its own.
    pub(crate) const fn optional(mut self) -> Self {
        self.presence = Presence::Optional;
        self
    }

    /// The same field, which deployed decoders refuse to miss.
    pub(crate) const fn required(mut self) -> Self {
        self.presence = Presence::Required;
        self
    }

    /// The same field, any number of times.
    pub(crate) const fn repeated(mut self) -> Self {
        self.is_repeated = true;
        self
    }

    /// The tag of the other form of repeated numbers, which are written packed or one by one.
    const fn packed_tag(&self) -> Option<u64> {
        match self.shape {
            Shape::Uint32 if self.is_repeated => Some(proto::tag(self.number, WireType::Len)),
            _ => None,
        }
    }
}

impl Shape {
    const fn wire_type(self) -> WireType {
        match self {
            Self::Bool | Self::Sint64 | Self::Uint32 | Self::Uint64 => WireType::Varint,
            Self::Bytes | Self::Fixed(_) | Self::Message(_) | Self::Text => WireType::Len,
        }
    }
}

/// For [`Shape::Message`]: whether two sub-messages, each read by its own rules, are equal. Those
/// that cannot be read are if their bytes are.
macro_rules! same {
    ($view:ident) => {
        |a, b| match ($view::parse_with(a.bytes, a.rules), $view::parse_with(b.bytes, b.rules)) {
            (Ok(a), Ok(b)) => a == b,
            _ => a.bytes == b.bytes,
        }
    };
}

/// A frame and what was found in it, by the places of a [`Kind`]'s table.
#[derive(Clone)]
pub(crate) struct Record<B: Buffer, const N: usize> {
    /// The spans of values; of a repeated field the range from its first tag to its last byte.
    frame: Frame<B, N>,
    /// Numbers as the wire has them; of a repeated field how many there are.
    values: [u64; N],
    /// Bit `i` set: field `i` is there.
    present: u16,
    rules: Rules,
}

impl<B: Buffer, const N: usize> Record<B, N> {
    /// Reads a frame by the table of its kind.
    #[inline]
    pub(crate) fn parse(frame: B, kind: &Kind<N>, rules: &Rules) -> Result<Self, Error> {
        let mut values = [0; N];
        let mut present = 0;
        let frame = Frame::parse(frame, |marks| {
            present = kind.read(marks, &mut values, rules)?;
            Ok(())
        })?;
        Ok(Self { frame, values, present, rules: *rules })
    }

    #[inline]
    pub(crate) fn is_present(&self, i: usize) -> bool {
        self.present & 1 << i != 0
    }

    /// Whether the field with this number is there; false for a number that the kind has not.
    pub(crate) fn has(&self, kind: &Kind<N>, number: u32) -> bool {
        kind.fields.iter().position(|f| f.number == number).is_some_and(|i| self.is_present(i))
    }

    /// A number; 0 if absent.
    #[inline]
    pub(crate) fn uint(&self, i: usize) -> u64 {
        self.values[i]
    }

    /// A number that may be absent.
    #[inline]
    pub(crate) fn optional_uint(&self, i: usize) -> Option<u64> {
        self.is_present(i).then(|| self.values[i])
    }

    /// A signed number that may be absent.
    #[inline]
    pub(crate) fn optional_sint(&self, i: usize) -> Option<i64> {
        self.optional_uint(i).map(proto::zigzag_decode)
    }

    /// The bytes of a field; empty if absent.
    #[inline]
    pub(crate) fn bytes(&self, i: usize) -> &[u8] {
        self.frame.bytes(i)
    }

    /// The bytes of a field that may be absent.
    #[inline]
    pub(crate) fn optional_bytes(&self, i: usize) -> Option<&[u8]> {
        self.is_present(i).then(|| self.bytes(i))
    }

    /// The text of a field; `None` if it is not UTF-8, `Some("")` if absent.
    #[inline]
    pub(crate) fn text(&self, i: usize) -> Option<&str> {
        self.frame.text(i)
    }

    /// The text of a field; `None` if it is absent or not UTF-8.
    #[inline]
    pub(crate) fn optional_text(&self, i: usize) -> Option<&str> {
        self.text(i).filter(|_| self.is_present(i))
    }

    /// A value of `L` bytes that may be absent.
    #[inline]
    pub(crate) fn fixed<const L: usize>(&self, i: usize) -> Option<&[u8; L]> {
        self.bytes(i).first_chunk()
    }

    /// The bytes of a field as a share of the buffer.
    #[inline]
    pub(crate) fn part(&self, i: usize) -> B {
        self.frame.part(self.frame.span(i))
    }

    /// Where in the frame the value of a singular field begins.
    pub(crate) fn start(&self, i: usize) -> usize {
        self.frame.span(i).range().start
    }

    /// A sub-message that may be absent, read by `parse`.
    pub(crate) fn optional_message<V>(
        &self,
        i: usize,
        parse: impl Fn(B, &Rules) -> Result<V, Error>,
    ) -> Option<Result<V, Error>> {
        self.is_present(i).then(|| self.nested(self.frame.span(i), parse))
    }

    /// A sub-message that must be there, read by `parse`.
    pub(crate) fn message<V>(
        &self,
        kind: &Kind<N>,
        i: usize,
        parse: impl Fn(B, &Rules) -> Result<V, Error>,
    ) -> Result<V, Error> {
        self.optional_message(i, parse).unwrap_or_else(|| {
            Err(Error::new(ErrorKind::Missing, self.raw().len(), kind.fields[i].name))
        })
    }

    /// How many there are of a repeated field.
    pub(crate) fn count(&self, i: usize) -> usize {
        self.values[i] as usize
    }

    /// The values of a repeated field, as bytes.
    pub(crate) fn repeated_bytes<'a>(
        &'a self,
        kind: &Kind<N>,
        i: usize,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a, B, N> {
        self.spans(kind, i).map(|span| &self.raw()[span.range()])
    }

    /// The values of a repeated field, as text; `None` where one is not UTF-8.
    pub(crate) fn repeated_text<'a>(
        &'a self,
        kind: &Kind<N>,
        i: usize,
    ) -> impl ExactSizeIterator<Item = Option<&'a str>> + Clone + use<'a, B, N> {
        self.repeated_bytes(kind, i).map(|bytes| simdutf8::basic::from_utf8(bytes).ok())
    }

    /// The values of a repeated field of `L` bytes each.
    pub(crate) fn repeated_fixed<'a, const L: usize>(
        &'a self,
        kind: &Kind<N>,
        i: usize,
    ) -> impl ExactSizeIterator<Item = &'a [u8; L]> + Clone + use<'a, B, N, L> {
        // Parsing has checked every length.
        self.repeated_bytes(kind, i).map(|bytes| bytes.first_chunk().unwrap_or(&[0; L]))
    }

    /// The sub-messages of a repeated field, each read by `parse` when it is its turn.
    pub(crate) fn repeated_messages<V>(
        &self,
        kind: &Kind<N>,
        i: usize,
        parse: impl Fn(B, &Rules) -> Result<V, Error> + Clone,
    ) -> impl ExactSizeIterator<Item = Result<V, Error>> + Clone {
        self.spans(kind, i).map(move |span| self.nested(span, parse.clone()))
    }

    /// The numbers of a repeated field, packed or not.
    pub(crate) fn repeated_uint32<'a>(
        &'a self,
        kind: &Kind<N>,
        i: usize,
    ) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a, B, N> {
        let range = self.frame.span(i).range();
        let field = &kind.fields[i];
        Numbers {
            cursor: Cursor::new(&self.raw()[range]),
            packed: Cursor::new(&[]),
            tag: field.tag,
            packed_tag: proto::tag(field.number, WireType::Len),
            left: self.count(i),
        }
    }

    /// Fields that the kind has not, in the order of the wire. A known field with another wire type
    /// is one of them.
    pub(crate) fn unknown_fields<'a>(
        &'a self,
        kind: &'a Kind<N>,
    ) -> impl Iterator<Item = proto::Field<'a>> {
        // The frame was accepted, so no field of it errs.
        proto::fields(self.raw(), &Rules::ANY).map_while(Result::ok).filter(|field| {
            let wire_type = match field.value {
                proto::Value::Varint(_) => WireType::Varint,
                proto::Value::Len(_) => WireType::Len,
                _ => return true,
            };
            let tag = field.number << 3 | wire_type as u64;
            kind.fields.iter().all(|known| known.tag != tag && known.packed_tag() != Some(tag))
        })
    }

    #[inline]
    pub(crate) fn raw(&self) -> &[u8] {
        self.frame.buffer().as_ref()
    }

    #[inline]
    pub(crate) fn buffer(&self) -> &B {
        self.frame.buffer()
    }

    pub(crate) fn detach(&self) -> Record<Bytes, N> {
        let Self { values, present, rules, .. } = *self;
        Record { frame: self.frame.detach(), values, present, rules }
    }

    pub(crate) fn borrowed(&self) -> Record<&[u8], N> {
        let Self { values, present, rules, .. } = *self;
        Record { frame: self.frame.borrowed(), values, present, rules }
    }

    /// Whether two records mean the same: unknown fields and the order of fields do not count.
    pub(crate) fn same<C: Buffer>(&self, other: &Record<C, N>, kind: &Kind<N>) -> bool {
        let (rules, other_rules) = (&self.rules, &other.rules);
        kind.fields.iter().enumerate().all(|(i, field)| {
            if field.is_repeated {
                let mut pairs = self.repeated_bytes(kind, i).zip(other.repeated_bytes(kind, i));
                return self.values[i] == other.values[i]
                    && match field.shape {
                        Shape::Message(same) => pairs.all(|(a, b)| {
                            same(
                                Nested { bytes: a, rules },
                                Nested { bytes: b, rules: other_rules },
                            )
                        }),
                        Shape::Uint32 => {
                            self.repeated_uint32(kind, i).eq(other.repeated_uint32(kind, i))
                        }
                        _ => pairs.all(|(a, b)| a == b),
                    };
            }
            if field.presence == Presence::Optional && self.is_present(i) != other.is_present(i) {
                return false;
            }
            match field.shape {
                Shape::Bool => (self.values[i] != 0) == (other.values[i] != 0),
                Shape::Sint64 | Shape::Uint32 | Shape::Uint64 => self.values[i] == other.values[i],
                Shape::Bytes | Shape::Fixed(_) | Shape::Text => self.bytes(i) == other.bytes(i),
                Shape::Message(same) => {
                    self.is_present(i) == other.is_present(i)
                        && same(
                            Nested { bytes: self.bytes(i), rules },
                            Nested { bytes: other.bytes(i), rules: other_rules },
                        )
                }
            }
        })
    }

    /// The fields that are there, long ones cut.
    pub(crate) fn debug(&self, kind: &Kind<N>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(kind.name);
        for (i, field) in kind.fields.iter().enumerate().filter(|(i, _)| self.is_present(*i)) {
            let name = field.name.rsplit('.').next().unwrap_or(field.name);
            let bytes = self.bytes(i);
            match field.shape {
                _ if field.is_repeated => {
                    out.field(name, &format_args!("{} of them", self.count(i)));
                }
                Shape::Bool => _ = out.field(name, &(self.uint(i) != 0)),
                Shape::Sint64 => _ = out.field(name, &proto::zigzag_decode(self.uint(i))),
                Shape::Uint32 | Shape::Uint64 => _ = out.field(name, &self.uint(i)),
                Shape::Text => _ = out.field(name, &format_args!("{}", bytes.escape_ascii())),
                Shape::Bytes | Shape::Fixed(_) if bytes.len() <= SHOWN_BYTES => {
                    out.field(name, &Hex(bytes));
                }
                Shape::Bytes | Shape::Fixed(_) | Shape::Message(_) => {
                    out.field(name, &format_args!("{} bytes", bytes.len()));
                }
            }
        }
        out.finish()
    }

    fn nested<V>(
        &self,
        span: Span,
        parse: impl Fn(B, &Rules) -> Result<V, Error>,
    ) -> Result<V, Error> {
        let base = span.range().start;
        parse(self.frame.part(span), &self.rules).map_err(|error| error.offset_by(base))
    }

    /// Where the values of a repeated field lie.
    fn spans<'a>(&'a self, kind: &Kind<N>, i: usize) -> Spans<'a> {
        let range = self.frame.span(i).range();
        Spans {
            base: range.start,
            cursor: Cursor::new(&self.raw()[range]),
            tag: kind.fields[i].tag,
            left: self.count(i),
        }
    }
}

impl<const N: usize> Kind<N> {
    /// Reads all fields of a frame; says which are there.
    #[inline]
    fn read(
        &self,
        marks: &mut Marks<'_, N>,
        values: &mut [u64; N],
        rules: &Rules,
    ) -> Result<u16, Error> {
        let frame = marks.bytes();
        if frame.len() > rules.limits.frame as usize {
            let limit = rules.limits.frame;
            let kind = ErrorKind::too_long(frame.len(), limit);
            return Err(Error::new(kind, limit as usize, self.context));
        }
        let mut present = 0;
        let mut cursor = Cursor::new(frame);
        let mut last = 0;
        while !cursor.is_empty() {
            let start = cursor.position();
            let tag = cursor.varint(rules, "proto.tag")?;
            let Some(i) = self.find(tag, last) else {
                cursor = self.read_other(cursor, start, tag, marks, values, &mut present, rules)?;
                continue;
            };
            last = i;
            let field = &self.fields[i];
            let bit = 1 << i;
            if field.shape.wire_type() as u8 == WireType::Varint as u8 {
                let offset = cursor.position();
                let value = cursor.varint(rules, field.name)?;
                let value = field.number_of(value, offset, rules)?;
                if field.is_repeated {
                    extend(marks, values, i, start, cursor.position(), 1);
                } else {
                    values[i] = value;
                }
            } else {
                let span = proto::take_len(&mut cursor, rules, field.name)?;
                if field.is_repeated {
                    field.check(frame, span, rules)?;
                    extend(marks, values, i, start, span.range().end, 1);
                } else {
                    field.set(marks, i, span, rules)?;
                    let is_message = matches!(field.shape, Shape::Message(_));
                    if is_message && rules.single_messages && present & bit != 0 {
                        return Err(Error::new(ErrorKind::Repeated, start, field.name));
                    }
                }
            }
            present |= bit;
        }
        if rules.required_fields {
            self.check_required(present, frame.len())?;
        }
        Ok(present)
    }

    /// The place of the field with this tag. Fields come in the order of their numbers or repeat,
    /// so the last place and the next are tried first.
    #[inline(always)]
    fn find(&self, tag: u64, last: usize) -> Option<usize> {
        if self.fields[last].tag == tag {
            return Some(last);
        }
        if self.fields.get(last + 1).is_some_and(|next| next.tag == tag) {
            return Some(last + 1);
        }
        self.fields.iter().position(|field| field.tag == tag)
    }

    /// Reads packed numbers, and passes over what is unknown.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn read_other<'a>(
        &self,
        mut cursor: Cursor<'a>,
        start: usize,
        tag: u64,
        marks: &mut Marks<'_, N>,
        values: &mut [u64; N],
        present: &mut u16,
        rules: &Rules,
    ) -> Result<Cursor<'a>, Error> {
        if let Some(i) = self.fields.iter().position(|field| field.packed_tag() == Some(tag)) {
            let field = &self.fields[i];
            let span = proto::take_len(&mut cursor, rules, field.name)?;
            let mut numbers = Cursor::new(&marks.bytes()[span.range()]);
            let base = span.range().start;
            let mut count = 0;
            while !numbers.is_empty() {
                let offset = numbers.position();
                let number = numbers.varint(rules, field.name).map_err(|e| e.offset_by(base))?;
                field.number_of(number, base + offset, rules)?;
                count += 1;
            }
            extend(marks, values, i, start, span.range().end, count);
            *present |= 1 << i;
            return Ok(cursor);
        }
        let tag = Tag::from_varint(tag, start, rules)?;
        let known = self.fields.iter().find(|field| u64::from(field.number) == tag.number);
        if let (true, Some(field)) = (rules.matching_wire_types, known) {
            let (expected, found) = (field.shape.wire_type() as u8, tag.wire_type as u8);
            let kind = ErrorKind::WireTypeMismatch { expected, found };
            return Err(Error::new(kind, start, field.name));
        }
        proto::skip(&mut cursor, start, tag, rules)?;
        Ok(cursor)
    }

    fn check_required(&self, present: u16, len: usize) -> Result<(), Error> {
        for (i, field) in self.fields.iter().enumerate() {
            if field.presence == Presence::Required && present & 1 << i == 0 {
                return Err(Error::new(ErrorKind::Missing, len, field.name));
            }
        }
        Ok(())
    }
}

impl Field {
    /// The number that a varint at `offset` stands for: 32 bits are checked or cut off.
    #[inline(always)]
    fn number_of(&self, value: u64, offset: usize, rules: &Rules) -> Result<u64, Error> {
        let is_narrow = matches!(self.shape, Shape::Bool | Shape::Uint32);
        if rules.checked_u32 && is_narrow && value > u32::MAX.into() {
            return Err(Error::new(ErrorKind::OutOfRange { max: u32::MAX }, offset, self.name));
        }
        Ok(match self.shape {
            Shape::Uint32 => u64::from(value as u32),
            _ => value,
        })
    }

    /// Marks the bytes of a singular field.
    #[inline(always)]
    fn set<const N: usize>(
        &self,
        marks: &mut Marks<'_, N>,
        i: usize,
        span: Span,
        rules: &Rules,
    ) -> Result<(), Error> {
        if matches!(self.shape, Shape::Text) && rules.utf8 {
            return marks.set_text(i, span).map_err(|valid| self.not_utf8(span, valid));
        }
        self.check(marks.bytes(), span, rules)?;
        marks.set(i, span);
        Ok(())
    }

    /// Checks one value.
    #[inline(always)]
    fn check(&self, frame: &[u8], span: Span, rules: &Rules) -> Result<(), Error> {
        match self.shape {
            Shape::Fixed(len) if len as usize != span.len() => {
                let kind = ErrorKind::wrong_length(len as usize, span.len());
                Err(Error::new(kind, span.range().start, self.name))
            }
            Shape::Text if rules.utf8 => {
                check_utf8(&frame[span.range()]).map_err(|valid| self.not_utf8(span, valid))
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn not_utf8(&self, span: Span, valid: usize) -> Error {
        Error::new(ErrorKind::Utf8, span.range().start + valid, self.name)
    }
}

/// Adds `count` values to the repeated field `i`, the last of which ends at `end`.
#[inline(always)]
fn extend<const N: usize>(
    marks: &mut Marks<'_, N>,
    values: &mut [u64; N],
    i: usize,
    start: usize,
    end: usize,
    count: u64,
) {
    let span = marks.span(i);
    let start = if span.is_empty() { start } else { span.range().start };
    marks.set(i, Span::new(start as u32, (end - start) as u32));
    values[i] += count;
}

/// Iterator over the places of a repeated field's values.
#[derive(Clone)]
struct Spans<'a> {
    /// The fields from the first of them to the last, others between them.
    cursor: Cursor<'a>,
    /// Where in the frame that range begins.
    base: usize,
    tag: u64,
    left: usize,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        self.left = self.left.checked_sub(1)?;
        // The frame was accepted, so no field of it errs.
        loop {
            let start = self.cursor.position();
            let tag = self.cursor.varint(&Rules::ANY, "").ok()?;
            if tag == self.tag {
                let span = proto::take_len(&mut self.cursor, &Rules::ANY, "").ok()?;
                return Some(Span::new(
                    self.base as u32 + span.range().start as u32,
                    span.len() as u32,
                ));
            }
            skip(&mut self.cursor, start, tag)?;
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Spans<'_> {}

/// Iterator over repeated numbers.
#[derive(Clone)]
struct Numbers<'a> {
    /// The fields from the first of them to the last, others between them.
    cursor: Cursor<'a>,
    /// What is left of the packed numbers that were met last.
    packed: Cursor<'a>,
    tag: u64,
    packed_tag: u64,
    left: usize,
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        loop {
            if !self.packed.is_empty() {
                return self.packed.varint(&Rules::ANY, "").ok().map(|number| number as u32);
            }
            let start = self.cursor.position();
            let tag = self.cursor.varint(&Rules::ANY, "").ok()?;
            if tag == self.tag {
                return self.cursor.varint(&Rules::ANY, "").ok().map(|number| number as u32);
            } else if tag == self.packed_tag {
                let len = self.cursor.varint(&Rules::ANY, "").ok()?;
                self.packed = Cursor::new(self.cursor.take(len, "").ok()?);
            } else {
                skip(&mut self.cursor, start, tag)?;
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Numbers<'_> {}

#[cold]
fn skip(cursor: &mut Cursor<'_>, start: usize, tag: u64) -> Option<()> {
    let tag = Tag::from_varint(tag, start, &Rules::ANY).ok()?;
    proto::skip(cursor, start, tag, &Rules::ANY).ok()
}

/// A view over the `$count` fields of `$kind`: the struct and all that every view has. The second form
/// is for messages whose fields are numbered in more than one way: its readers are told the
/// `$layout`, whose `kind()` is the table; equality is its own.
macro_rules! view {
    ($(#[$doc:meta])* $view:ident, $kind:ident, $count:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $view<B: Buffer = Bytes> {
            record: Record<B, $count>,
        }

        impl<B: Buffer> $view<B> {
            /// Reads a frame under [`Rules::STRICT`].
            #[inline]
            pub fn parse(frame: B) -> Result<Self, Error> {
                Self::parse_with(frame, &Rules::STRICT)
            }

            /// Reads a frame in one pass without allocating. Sub-messages are passed over: their
            /// accessors read them, by the same `rules`.
            ///
            /// Errs as [`Rules`] say. A field that runs past the end of `frame` is
            /// [`ErrorKind::Truncated`](crate::ErrorKind::Truncated): whoever framed it has said
            /// where it ends.
            #[inline]
            pub fn parse_with(frame: B, rules: &Rules) -> Result<Self, Error> {
                Record::parse(frame, &$kind, rules).map(|record| Self { record })
            }
        }

        impl TryFrom<Bytes> for $view {
            type Error = Error;

            fn try_from(frame: Bytes) -> Result<Self, Error> {
                Self::parse(frame)
            }
        }

        impl<'a> TryFrom<&'a [u8]> for $view<&'a [u8]> {
            type Error = Error;

            fn try_from(frame: &'a [u8]) -> Result<Self, Error> {
                Self::parse(frame)
            }
        }

        impl<B: Buffer> Eq for $view<B> {}

        /// Equal if the fields are, whatever their order. Unknown fields do not count.
        impl<B: Buffer, C: Buffer> PartialEq<$view<C>> for $view<B> {
            fn eq(&self, other: &$view<C>) -> bool {
                self.record.same(&other.record, &$kind)
            }
        }

        view!(@shared $view, self, &$kind, []);
    };
    ($(#[$doc:meta])* $view:ident, $count:literal, $layout:ident: $Layout:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $view<B: Buffer = Bytes> {
            record: Record<B, $count>,
            $layout: $Layout,
        }

        impl<B: Buffer> $view<B> {
            /// Reads a frame under [`Rules::STRICT`].
            pub fn parse(frame: B, $layout: $Layout) -> Result<Self, Error> {
                Self::parse_with(frame, $layout, &Rules::STRICT)
            }

            /// Reads a frame in one pass without allocating. Sub-messages are passed over: their
            /// accessors read them, by the same `rules`.
            ///
            /// Errs as [`Rules`] say. A field that runs past the end of `frame` is
            /// [`ErrorKind::Truncated`](crate::ErrorKind::Truncated): whoever framed it has said
            /// where it ends.
            pub fn parse_with(frame: B, $layout: $Layout, rules: &Rules) -> Result<Self, Error> {
                Record::parse(frame, $layout.kind(), rules).map(|record| Self { record, $layout })
            }

            /// The numbers of the fields that the frame was read by.
            pub fn $layout(&self) -> $Layout {
                self.$layout
            }
        }

        view!(@shared $view, self, self.$layout.kind(), [$layout]);
    };
    (@shared $view:ident, $self:ident, $kind:expr, [$($layout:ident)?]) => {
        impl<B: Buffer> $view<B> {
            /// Whether the frame has the field with this number, be it empty or zero.
            pub fn has(&$self, number: u32) -> bool {
                $self.record.has($kind, number)
            }

            /// Fields that this view has no accessor for, in the order of the wire. A known field
            /// with another wire type is one of them.
            pub fn unknown_fields(&$self) -> impl Iterator<Item = crate::proto::Field<'_>> {
                $self.record.unknown_fields($kind)
            }

            /// The frame, exactly as it was received.
            #[inline]
            pub fn raw(&$self) -> &[u8] {
                $self.record.raw()
            }

            /// The frame's buffer.
            #[inline]
            pub fn buffer(&$self) -> &B {
                $self.record.buffer()
            }

            /// The same message in a buffer of its own, copied: for a message that is kept while
            /// the larger buffer that it was received in should go.
            #[must_use]
            pub fn detach(&$self) -> $view {
                crate::counters::copy($self.raw().len());
                $view { record: $self.record.detach() $(, $layout: $self.$layout)? }
            }

            /// The same message, borrowed from this view.
            pub fn as_borrowed(&$self) -> $view<&[u8]> {
                $view { record: $self.record.borrowed() $(, $layout: $self.$layout)? }
            }
        }

        impl<B: Buffer> std::fmt::Debug for $view<B> {
            fn fmt(&$self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $self.record.debug($kind, f)
            }
        }
    };
}

pub(crate) use {same, view};

/// Bytes that `Debug` prints.
const SHOWN_BYTES: usize = 32;
