//! Writes JSON arrays at the speed of memory, byte for byte as serde_json does.
//!
//! What the type proves to be clean is copied; binary becomes hex on its way into the buffer; other
//! text is scanned while it is copied, and goes through serde_json if it needs an escape.
//!
//! ```
//! use borrowire::hex::Hex;
//! use borrowire::json::{CleanStr, FrameWriter};
//!
//! const LABEL: CleanStr = CleanStr::from_static("NEG-MSG");
//!
//! let frame = FrameWriter::new((LABEL, "tab\there", Hex(&[0x61, 0x00])));
//! let mut out = Vec::new();
//! frame.write(&mut out);
//! assert_eq!(out, br#"["NEG-MSG","tab\there","6100"]"#);
//! assert_eq!(frame.encoded_len(), out.len());
//! ```

use crate::hex::Hex;
use crate::json::{AnyText, CleanStr, HexStr, HexText, RawJson};
use crate::output::{Full, Mask, Output, Room, append};
use crate::scan::{escaped_extra, first_escape};

/// A frame to be written: one JSON array of the elements in the tuple `E`.
#[derive(Clone, Copy, Debug)]
pub struct FrameWriter<E> {
    elements: E,
}

impl<E: Elements> FrameWriter<E> {
    /// The frame `[elements…]`.
    #[inline(always)]
    pub const fn new(elements: E) -> Self {
        Self { elements }
    }

    /// The exact length of the frame in bytes.
    pub fn encoded_len(&self) -> usize {
        self.elements.len(true)
    }

    /// Appends the frame to `out`. If its room is too small, it grows once, to the exact length.
    #[inline]
    pub fn write<O: Output>(&self, out: &mut O) {
        self.write_under(Mask::NONE, out);
    }

    /// Appends the frame to `out` under the masking key of a WebSocket client, from its first byte.
    #[inline]
    pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
        self.write_under(Mask::new(key), out);
    }

    #[inline]
    fn write_under<O: Output>(&self, mask: Mask, out: &mut O) {
        // A frame without escapes has its least length. One with escapes may not fit: then nothing
        // was written, and the lengths of the escapes are worth counting.
        if out.spare().len() < self.elements.len(false)
            || append(out, mask, |room| self.elements.put(room)).is_err()
        {
            self.grow_and_write_under(mask, out);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow_and_write_under<O: Output>(&self, mask: Mask, out: &mut O) {
        out.reserve(self.encoded_len());
        let written = append(out, mask, |room| self.elements.put(room));
        written.expect("room for the exact length");
    }
}

/// Appends the JSON array of `elements` to `out`. See [`FrameWriter`].
#[inline]
pub fn write_array<O: Output>(out: &mut O, elements: impl Elements) {
    FrameWriter::new(elements).write(out);
}

/// The exact length in bytes of the JSON array of `elements`.
pub fn encoded_len(elements: impl Elements) -> usize {
    FrameWriter::new(elements).encoded_len()
}

/// Whether `text` needs no escape, and so is copied and does not go through serde_json.
///
/// ```
/// use borrowire::json::is_clean;
///
/// assert!(is_clean("caf\u{e9} \u{7f} \u{2028}"));
/// assert!(!is_clean("\"") && !is_clean("\\") && !is_clean("\0"));
/// ```
pub fn is_clean(text: &str) -> bool {
    first_escape(text.as_bytes()) == text.len()
}

/// The exact length in bytes of one value.
#[inline]
pub(crate) fn value_len(value: impl Element) -> usize {
    value.len(true)
}

/// Writes one value.
#[inline]
pub(crate) fn put_value(value: impl Element, room: &mut Room<'_>) -> Result<(), Full> {
    value.put(room)
}

/// What a frame holds, in order: a tuple of one to six [`Element`]s, of which all but the first may
/// be a [`Rest`]. Sealed.
pub trait Elements: sealed::Elements {}

/// One element of a frame. Sealed.
///
/// | type | is written as |
/// |---|---|
/// | `&str` | a string, escaped where it must be |
/// | [`CleanStr`], [`HexStr`] | a string, copied |
/// | [`Hex`], [`HexText`] | a string of lowercase hex digits |
/// | [`AnyText`] | either |
/// | [`RawJson`] | itself |
/// | [`Object`] | an object of a few known keys |
/// | `u64`, `i64`, `bool` | `18`, `-18`, `true` |
pub trait Element: sealed::Element {}

/// The elements of a slice, none or more, each an element of the frame.
///
/// ```
/// use borrowire::json::{RawJson, Rest, write_array};
///
/// let filters = [r#"{"kinds":[1]}"#, "{}"].map(|filter| RawJson::new(filter, "filter").unwrap());
/// let mut out = Vec::new();
/// write_array(&mut out, ("REQ", "sub", Rest(&filters)));
/// assert_eq!(out, br#"["REQ","sub",{"kinds":[1]},{}]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<'a, E>(pub &'a [E]);

/// An object: a tuple of one to three [`Member`]s.
///
/// ```
/// use borrowire::json::{Member, Object, write_array};
///
/// let mut out = Vec::new();
/// let approximate = Member::new("approximate", None::<bool>);
/// write_array(&mut out, ("COUNT", "sub", Object((Member::new("count", Some(3_u64)), approximate))));
/// assert_eq!(out, br#"["COUNT","sub",{"count":3}]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Object<M>(pub M);

/// A key of an [`Object`], and its value if it is there.
#[derive(Clone, Copy, Debug)]
pub struct Member<E> {
    key: CleanStr<'static>,
    value: Option<E>,
}

impl<E: Element> Member<E> {
    /// A member, or none.
    ///
    /// # Panics
    /// If the key needs an escape.
    #[inline(always)]
    pub const fn new(key: &'static str, value: Option<E>) -> Self {
        Self { key: CleanStr::from_static(key), value }
    }
}

mod sealed {
    use crate::output::{Full, Room};

    pub trait Elements {
        /// The length of the array: if `exact` is false, as if no text needed an escape.
        fn len(&self, exact: bool) -> usize;
        fn put(&self, room: &mut Room<'_>) -> Result<(), Full>;
    }

    pub trait Element {
        /// The length of the value: if `exact` is false, as if no text needed an escape.
        fn len(&self, exact: bool) -> usize;
        fn put(&self, room: &mut Room<'_>) -> Result<(), Full>;
    }

    /// What may follow the first element, with a comma before each value.
    pub trait Next {
        fn len(&self, exact: bool) -> usize;
        fn put(&self, room: &mut Room<'_>) -> Result<(), Full>;
    }

    impl<E: Element> Next for E {
        #[inline(always)]
        fn len(&self, exact: bool) -> usize {
            1 + Element::len(self, exact)
        }

        #[inline(always)]
        fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
            room.put_byte(b',')?;
            Element::put(self, room)
        }
    }
}

macro_rules! tuples {
    ($($first:ident $(, $next:ident)*;)*) => {$(
        impl<$first: Element $(, $next: sealed::Next)*> Elements for ($first, $($next,)*) {}

        #[allow(non_snake_case)]
        impl<$first: Element $(, $next: sealed::Next)*> sealed::Elements for ($first, $($next,)*) {
            #[inline(always)]
            fn len(&self, exact: bool) -> usize {
                let ($first, $($next,)*) = self;
                "[]".len() + $first.len(exact) $(+ sealed::Next::len($next, exact))*
            }

            #[inline(always)]
            fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
                let ($first, $($next,)*) = self;
                room.put_byte(b'[')?;
                $first.put(room)?;
                $(sealed::Next::put($next, room)?;)*
                room.put_byte(b']')
            }
        }
    )*};
}

tuples! {
    A;
    A, B;
    A, B, C;
    A, B, C, D;
    A, B, C, D, E;
    A, B, C, D, E, F;
}

macro_rules! members {
    ($($first:ident $(, $next:ident)*;)*) => {$(
        impl<$first: Element $(, $next: Element)*> Element
            for Object<(Member<$first>, $(Member<$next>,)*)>
        {
        }

        #[allow(non_snake_case)]
        impl<$first: Element $(, $next: Element)*> sealed::Element
            for Object<(Member<$first>, $(Member<$next>,)*)>
        {
            fn len(&self, exact: bool) -> usize {
                let ($first, $($next,)*) = &self.0;
                let members = [$first.len(exact) $(, $next.len(exact))*];
                let commas = members.iter().filter(|len| **len > 0).count().saturating_sub(1);
                "{}".len() + members.iter().sum::<usize>() + commas
            }

            fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
                let ($first, $($next,)*) = &self.0;
                room.put_byte(b'{')?;
                let mut comma = false;
                $first.put(&mut comma, room)?;
                $($next.put(&mut comma, room)?;)*
                room.put_byte(b'}')
            }
        }
    )*};
}

members! {
    A;
    A, B;
    A, B, C;
}

impl<E: Element> Member<E> {
    /// Without a comma.
    fn len(&self, exact: bool) -> usize {
        match &self.value {
            Some(value) => sealed::Element::len(&self.key, exact) + ":".len() + value.len(exact),
            None => 0,
        }
    }

    /// With a comma before it, if one must be there; the next one then must have one.
    fn put(&self, comma: &mut bool, room: &mut Room<'_>) -> Result<(), Full> {
        let Some(value) = &self.value else {
            return Ok(());
        };
        if std::mem::replace(comma, true) {
            room.put_byte(b',')?;
        }
        sealed::Element::put(&self.key, room)?;
        room.put_byte(b':')?;
        value.put(room)
    }
}

impl Element for &str {}

impl sealed::Element for &str {
    #[inline(always)]
    fn len(&self, exact: bool) -> usize {
        let extra = if exact { escaped_extra(self.as_bytes()) } else { 0 };
        QUOTES + str::len(self) + extra
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        put_text(self, room).map(drop)
    }
}

impl Element for CleanStr<'_> {}

impl sealed::Element for CleanStr<'_> {
    #[inline(always)]
    fn len(&self, _exact: bool) -> usize {
        QUOTES + self.as_str().len()
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        room.put_byte(b'"')?;
        room.put_slice(self.as_str().as_bytes())?;
        room.put_byte(b'"')
    }
}

impl Element for HexStr<'_> {}

impl sealed::Element for HexStr<'_> {
    #[inline(always)]
    fn len(&self, exact: bool) -> usize {
        CleanStr::from(*self).len(exact)
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        CleanStr::from(*self).put(room)
    }
}

impl Element for Hex<'_> {}

impl sealed::Element for Hex<'_> {
    #[inline(always)]
    fn len(&self, _exact: bool) -> usize {
        QUOTES + 2 * self.0.len()
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        room.put_byte(b'"')?;
        room.put_hex(self.0)?;
        room.put_byte(b'"')
    }
}

impl Element for HexText<'_> {}

impl sealed::Element for HexText<'_> {
    #[inline(always)]
    fn len(&self, exact: bool) -> usize {
        match *self {
            Self::Binary(bytes) => Hex(bytes).len(exact),
            Self::Digits(digits) => digits.len(exact),
        }
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        match *self {
            Self::Binary(bytes) => Hex(bytes).put(room),
            Self::Digits(digits) => digits.put(room),
        }
    }
}

impl Element for AnyText<'_> {}

impl sealed::Element for AnyText<'_> {
    #[inline(always)]
    fn len(&self, exact: bool) -> usize {
        match self {
            Self::Text(text) => text.len(exact),
            Self::Hex(hex) => hex.len(exact),
        }
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        match self {
            Self::Text(text) => text.put(room),
            Self::Hex(hex) => hex.put(room),
        }
    }
}

impl Element for RawJson<'_> {}

impl sealed::Element for RawJson<'_> {
    #[inline(always)]
    fn len(&self, _exact: bool) -> usize {
        self.as_str().len()
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        room.put_slice(self.as_str().as_bytes())
    }
}

impl Element for u64 {}

impl sealed::Element for u64 {
    fn len(&self, _exact: bool) -> usize {
        self.checked_ilog10().map_or(1, |log| log as usize + 1)
    }

    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        let mut digits = [0; MAX_DIGITS];
        let mut start = digits.len();
        let mut number = *self;
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return room.put_slice(&digits[start..]);
            }
        }
    }
}

impl Element for i64 {}

impl sealed::Element for i64 {
    fn len(&self, exact: bool) -> usize {
        usize::from(*self < 0) + self.unsigned_abs().len(exact)
    }

    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        if *self < 0 {
            room.put_byte(b'-')?;
        }
        self.unsigned_abs().put(room)
    }
}

impl Element for bool {}

impl sealed::Element for bool {
    #[inline(always)]
    fn len(&self, _exact: bool) -> usize {
        if *self { "true".len() } else { "false".len() }
    }

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        room.put_slice(if *self { b"true" } else { b"false" })
    }
}

impl<E: Element> sealed::Next for Rest<'_, E> {
    fn len(&self, exact: bool) -> usize {
        self.0.iter().map(|element| sealed::Next::len(element, exact)).sum()
    }

    fn put(&self, room: &mut Room<'_>) -> Result<(), Full> {
        self.0.iter().try_for_each(|element| sealed::Next::put(element, room))
    }
}

/// Writes `text` as a JSON string, and says how.
#[inline(always)]
fn put_text(text: &str, room: &mut Room<'_>) -> Result<Path, Full> {
    let start = room.filled();
    room.put_byte(b'"')?;
    if room.put_scanned(text.as_bytes())? == text.len() {
        room.put_byte(b'"')?;
        return Ok(Path::Copied);
    }
    room.rewind(start);
    put_escaped(text, room)
}

#[cold]
#[inline(never)]
fn put_escaped(text: &str, room: &mut Room<'_>) -> Result<Path, Full> {
    // A string fails to be written only where the room is full.
    serde_json::to_writer(room, text).map_err(|_| Full)?;
    Ok(Path::Escaped)
}

/// The way a text took into the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Copied,
    Escaped,
}

const QUOTES: usize = 2;

/// Digits of the largest `u64`.
const MAX_DIGITS: usize = 20;

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;
    use serde::Serialize;

    use super::*;

    #[test]
    fn sub_ids_of_quartz_take_the_path_they_should() {
        // Source: Amethyst, NegMsgSerializationBenchmark.kt; the rest are the edges it leaves out.
        let long = "a".repeat(64);
        let longer = "a".repeat(65);
        for text in ["bench-sync", "sub_123", &long, "", "unicode-\u{e9}\u{4e2d}"] {
            assert_text(text, Path::Copied);
        }
        for text in ["with\"quote", "with\\backslash", "tab\there", "new\nline", "ctrl\u{1}char"] {
            assert_text(text, Path::Escaped);
        }
        for text in [
            " ",
            "~",
            "\u{7f}",
            "/",
            "\u{2028}",
            "\u{2029}",
            "\u{ffff}",
            "\u{feff}",
            "\u{10ffff}",
            "\u{1f98a}",
            "!#[]",
            &longer,
        ] {
            assert_text(text, Path::Copied);
        }
        for text in ["\0", "\u{b}", "\u{1f}", "\",\"x", "\r\u{8}\u{c}", "\u{10ffff}\u{1f}"] {
            assert_text(text, Path::Escaped);
        }
    }

    #[test]
    fn every_code_point_of_two_bytes_and_the_last_ones() {
        let edges = [0x2028, 0x2029, 0xd7ff, 0xe000, 0xfeff, 0xffff, 0x1_0000, 0x10_ffff];
        for point in (0..0x800).chain(edges).filter_map(char::from_u32) {
            let escaped = point < ' ' || point == '"' || point == '\\';
            let path = if escaped { Path::Escaped } else { Path::Copied };
            assert_text(&point.to_string(), path);
            assert_text(&format!("{point}{}", "a".repeat(40)), path);
            assert_text(&format!("{}{point}", "a".repeat(40)), path);
        }
    }

    #[test]
    fn an_escape_at_every_place_of_every_length() {
        for len in (0..=70).chain([127, 128, 129, 255, 256, 257, 300]) {
            assert_text(&"a".repeat(len), Path::Copied);
            for at in 0..len {
                let mut text = "a".repeat(len);
                text.replace_range(at..=at, "\n");
                assert_text(&text, Path::Escaped);
            }
        }
    }

    #[test]
    fn numbers_and_bools() {
        let powers = (0..20).map(|log| 10_u64.pow(log));
        let edges = powers.flat_map(|power| [power - 1, power, power + 1]);
        for number in edges.chain([u64::MAX, u64::MAX - 1]) {
            assert_frame((number, true), (number, true));
            let signed = number as i64;
            assert_frame((signed, signed.wrapping_neg()), (signed, signed.wrapping_neg()));
        }
        assert_frame((i64::MIN, i64::MAX, false), (i64::MIN, i64::MAX, false));
    }

    #[test]
    fn a_rest_may_be_empty() {
        let none: &[u64] = &[];
        assert_frame(("a", Rest(&[1_u64, 2]), "b"), ("a", 1, 2, "b"));
        assert_frame(("a", Rest(none), "b"), ("a", "b"));
        assert_frame(("a", Rest(&["a", "\n"])), ("a", "a", "\n"));
    }

    #[test]
    fn a_frame_grows_its_buffer_once_and_exactly() {
        for text in ["plain", "es\\ca\"pe\0"] {
            let frame = FrameWriter::new((text, Hex(&[7; 100]), text));
            let mut out = Vec::new();
            frame.write(&mut out);
            assert_eq!(out.capacity(), frame.encoded_len());
        }
    }

    #[test]
    fn room_may_be_short_of_the_escapes_only() {
        let text = "\u{1}".repeat(20);
        let expected = serde_json::to_vec(&(&text, "07".repeat(100))).unwrap();
        for room in 0..=expected.len() {
            let mut out = Vec::with_capacity(room);
            write_array(&mut out, (&*text, Hex(&[7; 100])));
            assert_eq!(out, expected);
        }
    }

    proptest! {
        #[test]
        fn frames_are_those_of_serde_json(
            texts in proptest::array::uniform3(any::<String>()),
            dense in "[a\"\\\\\u{0}-\u{20}\u{7f}\u{e9}]{0,200}",
            binary in proptest::collection::vec(any::<u8>(), 0..200),
            number: u64,
            signed: i64,
            truth: bool,
        ) {
            let [a, b, c] = &texts;
            let hex = const_hex::encode(&binary);
            assert_frame((&**a, &*dense, &**b, Hex(&binary)), (a, &dense, b, &hex));
            let proved = HexStr::new(&hex, "x").unwrap();
            assert_frame((number, proved, signed, truth, &**c), (number, &hex, signed, truth, c));
            let json = serde_json::to_string(&texts).unwrap();
            assert_frame((&*dense, RawJson::new(&json, "x").unwrap()), (&dense, &texts));
        }
    }

    #[track_caller]
    fn assert_text(text: &str, path: Path) {
        assert_frame((text,), (text,));
        assert_frame(("a", text, Hex(b"bc")), ("a", text, "6263"));
        assert_eq!(is_clean(text), path == Path::Copied, "{text:?}");
        let mut out = Vec::with_capacity(encoded_len((text,)));
        let took = append(&mut out, Mask::NONE, |room| put_text(text, room));
        assert_eq!(took, Ok(path), "{text:?}");
    }

    /// The frame against its slow twin: serde_json, given the same tuple.
    #[track_caller]
    fn assert_frame(elements: impl Elements, twin: impl Serialize) {
        let expected = serde_json::to_vec(&twin).unwrap();
        let frame = FrameWriter::new(elements);
        let mut vec = b"before".to_vec();
        frame.write(&mut vec);
        assert_eq!(&vec[6..], expected, "{}", String::from_utf8_lossy(&vec));
        let mut bytes = BytesMut::from(&b"before"[..]);
        frame.write(&mut bytes);
        assert_eq!(bytes[6..], expected);
        assert_eq!(frame.encoded_len(), expected.len());

        let key = [0x37, 0xfa, 0x21, 0x3d];
        let mut masked = vec![0; 3];
        frame.write_masked(&mut masked, key);
        let unmasked = masked[3..].iter().zip(key.iter().cycle());
        assert!(unmasked.map(|(byte, key)| byte ^ key).eq(expected));
    }
}
