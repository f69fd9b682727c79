//! A reader that walks JSON text and hands out where its parts lie.

use simdutf8::compat::from_utf8;

use crate::buffer::Span;
use crate::error::{Error, ErrorKind, Expected};
use crate::json::string::{self, Escapes, JsonStr};
use crate::rules::Rules;
use crate::scan::Stops;

/// Walks one JSON text (RFC 8259, exactly) from front to back. Nothing is allocated, and nothing
/// calls itself: nesting costs one bit a level.
///
/// Every call first passes over whitespace. Text that ends before its value does is
/// [`ErrorKind::Incomplete`]: more bytes may make it right. Every other error is final.
///
/// ```
/// use borrowire::json::read::Reader;
/// use borrowire::rules::Rules;
///
/// let mut reader = Reader::new(br#"["EOSE", "sub", {"more": [1]}]"#, &Rules::STRICT, "frame")?;
/// let mut frame = reader.array("frame")?;
/// assert!(frame.next(&mut reader, "label")?);
/// assert_eq!(reader.string("label")?, "EOSE");
/// assert!(frame.next(&mut reader, "sub")?);
/// assert_eq!(reader.string("sub")?, "sub");
/// while frame.next(&mut reader, "frame")? {
///     reader.skip("frame")?;
/// }
/// reader.finish("frame")?;
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    position: usize,
    depth: u32,
    depth_limit: u32,
    /// The first byte of a character that the end of the input cut in two, after `text`.
    cut: Option<u8>,
    stops: Stops<'a>,
}

impl<'a> Reader<'a> {
    /// A reader of `bytes`, which are checked to be UTF-8 here and never again. Keeps the limits
    /// `frame` and `json_depth` of `rules`.
    ///
    /// A character that is cut in two by the end is no error yet: it is if the value ends before
    /// it, and otherwise the text is incomplete.
    pub fn new(bytes: &'a [u8], rules: &Rules, context: &'static str) -> Result<Self, Error> {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Self::from_text(text, rules, context),
            Err(_) => Self::new_cut(bytes, rules, context),
        }
    }

    /// A reader of `text`.
    pub fn from_text(text: &'a str, rules: &Rules, context: &'static str) -> Result<Self, Error> {
        let limits = rules.limits();
        if text.len() as u64 > limits.frame.into() {
            return Err(Error::new(ErrorKind::too_long(text.len(), limits.frame), 0, context));
        }
        let depth_limit = limits.json_depth.min(MAX_DEPTH);
        let stops = Stops::new(text.as_bytes());
        Ok(Self { text, position: 0, depth: 0, depth_limit, cut: None, stops })
    }

    /// The text that is read, without a character that the end of the input cut in two.
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// The first byte of the next token, not taken: `"`, `{`, `[`, a digit, ….
    #[inline(always)]
    pub fn peek(&mut self, context: &'static str) -> Result<u8, Error> {
        match self.bytes().get(self.position) {
            Some(&byte) if byte > b' ' => Ok(byte),
            _ => self.peek_past_whitespace(context),
        }
    }

    /// Takes a string.
    #[inline(always)]
    pub fn string(&mut self, context: &'static str) -> Result<JsonStr<'a>, Error> {
        let (span, escapes) = self.string_span(context)?;
        Ok(JsonStr::scanned(self.slice(span), escapes))
    }

    /// Takes a string; says where it lies without its quotes, and which escapes it holds.
    #[inline(always)]
    pub fn string_span(&mut self, context: &'static str) -> Result<(Span, Escapes), Error> {
        self.expect(b'"', Expected::String, context)?;
        let start = self.position;
        let (end, escapes) = string::scan(self.bytes(), &mut self.stops, start, context)?;
        self.position = end + 1;
        Ok((span(start, end), escapes))
    }

    /// Takes a whole number in plain digits: no sign, no fraction, no exponent, at most 64 bits.
    pub fn u64(&mut self, context: &'static str) -> Result<u64, Error> {
        let first = self.peek(context)?;
        if !first.is_ascii_digit() {
            return Err(self.unexpected(Expected::Decimal, context));
        }
        let start = self.position;
        self.position += 1;
        if first != b'0' {
            self.pass_digits();
        }
        if let Some(b'.' | b'e' | b'E') = self.bytes().get(self.position) {
            return Err(self.unexpected(Expected::Decimal, context));
        }
        let digits = &self.bytes()[start..self.position];
        let value = digits
            .iter()
            .fold(0_u64, |value, digit| value.wrapping_mul(10).wrapping_add((digit & 15).into()));
        if digits.len() < MAX_U64_DIGITS {
            return Ok(value);
        }
        self.text[start..self.position]
            .parse()
            .map_err(|_| Error::new(ErrorKind::NumberOverflow, start, context))
    }

    /// Takes a whole number in plain digits, at most 65535.
    pub fn u16(&mut self, context: &'static str) -> Result<u16, Error> {
        self.peek(context)?;
        let start = self.position;
        let out_of_range =
            || Error::new(ErrorKind::OutOfRange { max: u16::MAX.into() }, start, context);
        match self.u64(context) {
            Ok(value) => u16::try_from(value).map_err(|_| out_of_range()),
            Err(error) if error.kind() == ErrorKind::NumberOverflow => Err(out_of_range()),
            Err(error) => Err(error),
        }
    }

    /// Takes any number that JSON can spell; says where it lies.
    pub fn number(&mut self, context: &'static str) -> Result<Span, Error> {
        let first = self.peek(context)?;
        let start = self.position;
        if first == b'-' {
            self.position += 1;
        }
        match self.bytes().get(self.position) {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.pass_digits(),
            Some(_) if first == b'-' => return Err(self.unexpected(Expected::Digit, context)),
            Some(_) => return Err(self.unexpected(Expected::Number, context)),
            None => return Err(self.incomplete(context)),
        }
        if let Some(b'.') = self.bytes().get(self.position) {
            self.position += 1;
            self.expect_digits(context)?;
        }
        if let Some(b'e' | b'E') = self.bytes().get(self.position) {
            self.position += 1;
            if let Some(b'+' | b'-') = self.bytes().get(self.position) {
                self.position += 1;
            }
            self.expect_digits(context)?;
        }
        Ok(span(start, self.position))
    }

    /// Takes `true` or `false`.
    pub fn bool(&mut self, context: &'static str) -> Result<bool, Error> {
        match self.peek(context)? {
            b't' => self.literal(b"true", context).map(|()| true),
            b'f' => self.literal(b"false", context).map(|()| false),
            _ => Err(self.unexpected(Expected::Boolean, context)),
        }
    }

    /// Enters an array.
    #[inline(always)]
    pub fn array(&mut self, context: &'static str) -> Result<Array, Error> {
        self.expect(b'[', Expected::Array, context)?;
        self.deepen(context)?;
        Ok(Array { place: Place::First })
    }

    /// Enters an object.
    #[inline(always)]
    pub fn object(&mut self, context: &'static str) -> Result<Object, Error> {
        self.expect(b'{', Expected::Object, context)?;
        self.deepen(context)?;
        Ok(Object { place: Place::First })
    }

    /// Passes over a value of any kind, all of it checked; says where it lies.
    pub fn skip(&mut self, context: &'static str) -> Result<Span, Error> {
        self.peek(context)?;
        let start = self.position;
        // One bit a container that is open, the innermost lowest: 1 for an object.
        let mut kinds = 0_u128;
        let mut open = 0_u32;
        loop {
            if let Some(kind) = self.skip_scalar_or_enter(context)? {
                kinds = kinds << 1 | u128::from(kind == Container::Object);
                open += 1;
                match (kind, self.peek(context)?) {
                    (Container::Array, b']') | (Container::Object, b'}') => {}
                    (Container::Array, _) => continue,
                    (Container::Object, _) => {
                        self.key(context)?;
                        continue;
                    }
                }
            }
            // A value has ended, or the container just entered is empty.
            while open > 0 {
                let is_object = kinds & 1 == 1;
                match (self.peek(context)?, is_object) {
                    (b',', _) => break,
                    (b']', false) | (b'}', true) => {}
                    (_, false) => return Err(self.unexpected(Expected::ArrayNext, context)),
                    (_, true) => return Err(self.unexpected(Expected::ObjectNext, context)),
                }
                self.position += 1;
                self.depth -= 1;
                kinds >>= 1;
                open -= 1;
            }
            if open == 0 {
                return Ok(span(start, self.position));
            }
            self.position += 1;
            if kinds & 1 == 1 {
                self.key(context)?;
            }
        }
    }

    /// Ends the text: only whitespace may follow.
    pub fn finish(mut self, context: &'static str) -> Result<(), Error> {
        self.pass_whitespace();
        if self.position < self.text.len() {
            return Err(self.unexpected(Expected::End, context));
        }
        match self.cut {
            Some(byte) => {
                let kind = ErrorKind::Unexpected { expected: Expected::End, found: Some(byte) };
                Err(Error::new(kind, self.position, context))
            }
            None => Ok(()),
        }
    }

    /// How many bytes were taken.
    #[inline(always)]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// The text of a span that this reader gave.
    ///
    /// # Panics
    /// If `span` is not within the text or cuts a character in two.
    #[inline(always)]
    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    /// Whether `levels` more containers may be opened.
    #[inline(always)]
    pub(crate) const fn is_deep_enough(&self, levels: u32) -> bool {
        self.depth + levels <= self.depth_limit
    }

    /// Goes to `position`, behind a value that a parser of its own has checked.
    #[inline(always)]
    pub(crate) const fn advance_to(&mut self, position: usize) {
        self.position = position;
    }

    /// Where the reader is, to go back to.
    #[inline(always)]
    pub(crate) const fn place(&self) -> (usize, u32) {
        (self.position, self.depth)
    }

    /// Goes back to where it was.
    pub(crate) const fn go_back_to(&mut self, place: (usize, u32)) {
        (self.position, self.depth) = place;
    }

    /// A reader of bytes that are not UTF-8 to their end.
    #[cold]
    fn new_cut(bytes: &'a [u8], rules: &Rules, context: &'static str) -> Result<Self, Error> {
        // The check of whole texts is faster than the one that says where it failed.
        let error = match from_utf8(bytes) {
            Ok(text) => return Self::from_text(text, rules, context),
            Err(error) => error,
        };
        let valid = error.valid_up_to();
        let (Some(&cut), None, Ok(text)) =
            (bytes.get(valid), error.error_len(), from_utf8(&bytes[..valid]))
        else {
            return Err(Error::new(ErrorKind::Utf8, valid, context));
        };
        let reader = Self::from_text(text, rules, context)?;
        Ok(Self { cut: Some(cut), ..reader })
    }

    #[inline(always)]
    const fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Takes `byte`, the first of the next token.
    #[inline(always)]
    fn expect(&mut self, byte: u8, expected: Expected, context: &'static str) -> Result<(), Error> {
        if self.peek(context)? != byte {
            return Err(self.unexpected(expected, context));
        }
        self.position += 1;
        Ok(())
    }

    /// Takes a key and its colon.
    #[inline(always)]
    fn key(&mut self, context: &'static str) -> Result<JsonStr<'a>, Error> {
        let key = self.string(context)?;
        self.expect(b':', Expected::Colon, context)?;
        Ok(key)
    }

    /// Takes the comma before the next element and says `true`, or the closing bracket.
    #[inline(always)]
    fn advance(
        &mut self,
        place: &mut Place,
        close: u8,
        expected: Expected,
        context: &'static str,
    ) -> Result<bool, Error> {
        if let Place::After = *place {
            return Ok(false);
        }
        let found = self.peek(context)?;
        if found == close {
            self.position += 1;
            self.depth -= 1;
            *place = Place::After;
            return Ok(false);
        }
        if let Place::Within = *place {
            if found != b',' {
                return Err(self.unexpected(expected, context));
            }
            self.position += 1;
        }
        *place = Place::Within;
        Ok(true)
    }

    /// Takes a value that holds no other, or the opening bracket of one that may.
    #[inline(always)]
    fn skip_scalar_or_enter(&mut self, context: &'static str) -> Result<Option<Container>, Error> {
        let kind = match self.peek(context)? {
            b'"' => return self.string_span(context).map(|_| None),
            b'-' | b'0'..=b'9' => return self.number(context).map(|_| None),
            b'[' => Container::Array,
            b'{' => Container::Object,
            b't' => return self.literal(b"true", context).map(|()| None),
            b'f' => return self.literal(b"false", context).map(|()| None),
            b'n' => return self.literal(b"null", context).map(|()| None),
            _ => return Err(self.unexpected(Expected::Value, context)),
        };
        self.position += 1;
        self.deepen(context)?;
        Ok(Some(kind))
    }

    fn literal(&mut self, literal: &'static [u8], context: &'static str) -> Result<(), Error> {
        for &wanted in literal {
            match self.bytes().get(self.position) {
                Some(&found) if found == wanted => self.position += 1,
                Some(_) => return Err(self.unexpected(Expected::Literal, context)),
                None => return Err(self.incomplete(context)),
            }
        }
        Ok(())
    }

    /// Counts a container whose bracket was taken.
    #[inline(always)]
    fn deepen(&mut self, context: &'static str) -> Result<(), Error> {
        if self.depth >= self.depth_limit {
            let kind = ErrorKind::TooDeep { limit: self.depth_limit };
            return Err(Error::new(kind, self.position - 1, context));
        }
        self.depth += 1;
        Ok(())
    }

    #[inline(always)]
    fn pass_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.bytes().get(self.position) {
            self.position += 1;
        }
    }

    fn expect_digits(&mut self, context: &'static str) -> Result<(), Error> {
        match self.bytes().get(self.position) {
            Some(b'0'..=b'9') => self.pass_digits(),
            Some(_) => return Err(self.unexpected(Expected::Digit, context)),
            None => return Err(self.incomplete(context)),
        }
        Ok(())
    }

    #[inline(always)]
    fn pass_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes().get(self.position) {
            self.position += 1;
        }
    }

    #[inline(never)]
    fn peek_past_whitespace(&mut self, context: &'static str) -> Result<u8, Error> {
        self.pass_whitespace();
        match self.bytes().get(self.position) {
            Some(&byte) => Ok(byte),
            None => Err(self.incomplete(context)),
        }
    }

    #[cold]
    fn unexpected(&self, expected: Expected, context: &'static str) -> Error {
        let found = self.bytes().get(self.position).copied();
        Error::new(ErrorKind::Unexpected { expected, found }, self.position, context)
    }

    #[cold]
    fn incomplete(&self, context: &'static str) -> Error {
        Error::new(ErrorKind::Incomplete { needed: None }, self.text.len(), context)
    }
}

/// Whether `text` is whitespace of JSON alone; ASCII knows more.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// An array that a [`Reader`] is in.
#[derive(Clone, Debug)]
pub struct Array {
    place: Place,
}

impl Array {
    /// Goes to the next element, which `reader` must then take, and says `true`; or leaves the
    /// array and says `false`.
    #[inline(always)]
    pub fn next(&mut self, reader: &mut Reader<'_>, context: &'static str) -> Result<bool, Error> {
        reader.advance(&mut self.place, b']', Expected::ArrayNext, context)
    }
}

/// An object that a [`Reader`] is in.
#[derive(Clone, Debug)]
pub struct Object {
    place: Place,
}

impl Object {
    /// Takes the next key and goes to its value, which `reader` must then take; or leaves the
    /// object and says `None`. Keys may repeat: which of them count is the caller's to say.
    #[inline(always)]
    pub fn next<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        context: &'static str,
    ) -> Result<Option<JsonStr<'a>>, Error> {
        match reader.advance(&mut self.place, b'}', Expected::ObjectNext, context)? {
            true => reader.key(context).map(Some),
            false => Ok(None),
        }
    }
}

#[derive(Clone, Debug)]
enum Place {
    First,
    Within,
    After,
}

#[derive(Clone, Copy, PartialEq)]
enum Container {
    Array,
    Object,
}

/// The reader takes no text that is longer than 32 bits can count, so none is lost here.
#[inline(always)]
const fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, (end - start) as u32)
}

/// The deepest nesting whose kinds fit the bits that [`Reader::skip`] keeps.
const MAX_DEPTH: u32 = 127;
/// Digits of `u64::MAX`. Any shorter number fits.
const MAX_U64_DIGITS: usize = 20;
