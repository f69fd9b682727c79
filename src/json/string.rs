//! Strings of the wire, as they were spelled and as they are meant.

use std::borrow::Cow;
use std::fmt::{self, Write};

use memchr::memchr;
use serde::{Serialize, Serializer};

use crate::error::{Error, ErrorKind, Expected};
use crate::scan::Stops;

/// A JSON string where it lies in a frame, without its quotes.
///
/// It was checked when it was made: every escape is right, every surrogate has its other half, and
/// no control character is raw. So no accessor can fail. Two strings are equal if they mean the
/// same text, however they spell it.
///
/// ```
/// use borrowire::json::string::JsonStr;
///
/// let text = JsonStr::from_raw(r"caf\u00e9\n")?;
/// assert_eq!(text.raw(), r"caf\u00e9\n");
/// assert_eq!(text.as_plain(), None);
/// assert_eq!(text.to_cow(), "café\n");
/// assert!(text.eq_str("café\n"));
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct JsonStr<'a> {
    raw: &'a str,
    escapes: Escapes,
}

impl<'a> JsonStr<'a> {
    /// Checks what stands between the quotes of a string. Errs at an escape that does not exist or
    /// is cut off, at a lone surrogate, at a raw control character, and at a quote.
    pub fn from_raw(raw: &'a str) -> Result<Self, Error> {
        let at_end = |expected| {
            let kind = ErrorKind::Unexpected { expected, found: None };
            Error::new(kind, raw.len(), CONTEXT)
        };
        let bytes = raw.as_bytes();
        let mut stops = Stops::new(bytes);
        let first = stops.next(0);
        match pass_escapes(bytes, &mut stops, first, CONTEXT) {
            Ok((end, escapes)) if end >= raw.len() => Ok(Self { raw, escapes }),
            Ok((end, _)) => {
                let kind = ErrorKind::Unexpected { expected: Expected::End, found: Some(b'"') };
                Err(Error::new(kind, end, CONTEXT))
            }
            Err(error) if error.is_incomplete() => Err(at_end(Expected::Escape)),
            Err(error) => Err(error),
        }
    }

    /// What stands between the quotes, still escaped.
    #[inline]
    pub const fn raw(&self) -> &'a str {
        self.raw
    }

    /// The text, if it holds no escape and so is spelled as it is meant.
    #[inline]
    pub fn as_plain(&self) -> Option<&'a str> {
        match self.escapes {
            Escapes::None => Some(self.raw),
            _ => None,
        }
    }

    /// Which escapes it holds.
    #[inline]
    pub const fn escapes(&self) -> Escapes {
        self.escapes
    }

    /// The text: borrowed if it holds no escape.
    pub fn to_cow(&self) -> Cow<'a, str> {
        match self.as_plain() {
            Some(plain) => Cow::Borrowed(plain),
            None => {
                let mut text = String::new();
                self.unescape_into(&mut text);
                Cow::Owned(text)
            }
        }
    }

    /// The characters of the text.
    pub const fn chars(&self) -> Chars<'a> {
        Chars { raw: self.raw }
    }

    /// Whether the text is `other`. Allocates nothing.
    #[inline]
    pub fn eq_str(&self, other: &str) -> bool {
        match self.as_plain() {
            Some(plain) => plain == other,
            None => self.eq_unescaped(other),
        }
    }

    /// What follows `prefix`, if the text begins with it. Allocates nothing.
    ///
    /// ```
    /// use borrowire::json::JsonStr;
    ///
    /// let text = JsonStr::from_raw(r"\u0070ow: 28 bits\n")?;
    /// assert_eq!(text.strip_prefix("pow: ").unwrap().raw(), r"28 bits\n");
    /// assert_eq!(text.strip_prefix("power"), None);
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    pub fn strip_prefix(&self, prefix: &str) -> Option<JsonStr<'a>> {
        if let Some(plain) = self.as_plain() {
            return plain.strip_prefix(prefix).map(|raw| JsonStr::scanned(raw, Escapes::None));
        }
        let mut chars = self.chars();
        match prefix.chars().all(|wanted| chars.next() == Some(wanted)) {
            true => JsonStr::from_raw(chars.raw).ok(),
            false => None,
        }
    }

    /// Appends the text to `out`.
    pub fn unescape_into(&self, out: &mut String) {
        // No escape is shorter than its character.
        out.reserve(self.raw.len());
        for (run, escaped) in self.pieces() {
            out.push_str(run);
            out.extend(escaped);
        }
    }

    /// A string that [`scan`] went over.
    #[inline(always)]
    pub(crate) const fn scanned(raw: &'a str, escapes: Escapes) -> Self {
        Self { raw, escapes }
    }

    /// Runs without escapes, each with the character whose escape ends it.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (&'a str, Option<char>)> {
        let mut rest = Some(self.raw);
        std::iter::from_fn(move || {
            let raw = rest.take()?;
            let escape = memchr(b'\\', raw.as_bytes())
                .and_then(|at| Some((at, read_escape(raw.as_bytes(), at, CONTEXT).ok()?)));
            let Some((at, escape)) = escape else {
                return Some((raw, None));
            };
            rest = Some(&raw[at + escape.len..]);
            Some((&raw[..at], Some(escape.char)))
        })
    }

    fn eq_unescaped(&self, mut other: &str) -> bool {
        for (run, escaped) in self.pieces() {
            let Some(rest) = other.strip_prefix(run) else {
                return false;
            };
            let rest = match escaped {
                Some(char) => rest.strip_prefix(char),
                None => Some(rest),
            };
            let Some(rest) = rest else {
                return false;
            };
            other = rest;
        }
        other.is_empty()
    }
}

impl Eq for JsonStr<'_> {}

impl PartialEq for JsonStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        match other.as_plain() {
            Some(plain) => self.eq_str(plain),
            None => self.chars().eq(other.chars()),
        }
    }
}

impl PartialEq<str> for JsonStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.eq_str(other)
    }
}

impl PartialEq<&str> for JsonStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.eq_str(other)
    }
}

/// The text, unescaped.
impl fmt::Display for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (run, escaped) in self.pieces() {
            f.write_str(run)?;
            escaped.map_or(Ok(()), |char| f.write_char(char))?;
        }
        Ok(())
    }
}

/// As the text, unescaped.
impl Serialize for JsonStr<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_plain() {
            Some(plain) => serializer.serialize_str(plain),
            None => serializer.collect_str(self),
        }
    }
}

/// The token of the wire, quotes and escapes included.
impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.raw)
    }
}

/// Which escapes a string holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Escapes {
    /// None: the text is spelled as it is meant.
    None,
    /// Only those that serde_json and `JSON.stringify` write, and as they write them: `\"`, `\\`,
    /// `\b`, `\f`, `\n`, `\r`, `\t`, and `\u00` with lowercase digits for the other control
    /// characters. Writing the text again gives the same bytes.
    Canonical,
    /// Others, such as `\/` or `\u0041`.
    Other,
}

/// The characters of a [`JsonStr`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    raw: &'a str,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let mut chars = self.raw.chars();
        let char = chars.next()?;
        if char != '\\' {
            self.raw = chars.as_str();
            return Some(char);
        }
        let escape = read_escape(self.raw.as_bytes(), 0, CONTEXT).ok()?;
        self.raw = &self.raw[escape.len..];
        Some(escape.char)
    }
}

/// Goes over the string whose first byte after the quote is `start`. Says where its closing quote
/// is and which escapes it holds. `stops` are those of `text`.
#[inline(always)]
pub(crate) fn scan(
    text: &[u8],
    stops: &mut Stops<'_>,
    start: usize,
    context: &'static str,
) -> Result<(usize, Escapes), Error> {
    let end = stops.next(start);
    match text.get(end) {
        Some(b'"') => Ok((end, Escapes::None)),
        Some(_) => scan_escaped(text, stops, end, context),
        None => Err(incomplete(text, context)),
    }
}

/// [`scan`] from the first byte that is not plain.
#[inline(never)]
fn scan_escaped(
    text: &[u8],
    stops: &mut Stops<'_>,
    at: usize,
    context: &'static str,
) -> Result<(usize, Escapes), Error> {
    let (end, escapes) = pass_escapes(text, stops, at, context)?;
    match end < text.len() {
        true => Ok((end, escapes)),
        false => Err(incomplete(text, context)),
    }
}

/// Goes from the stop at `at` to the next quote, or to the end of the text; says which escapes are
/// on the way.
#[inline(always)]
fn pass_escapes(
    text: &[u8],
    stops: &mut Stops<'_>,
    mut at: usize,
    context: &'static str,
) -> Result<(usize, Escapes), Error> {
    let mut escapes = Escapes::None;
    loop {
        match text.get(at) {
            Some(b'"') | None => return Ok((at, escapes)),
            Some(b'\\') => {
                let (len, spelled) = pass_escape(text, at, context)?;
                escapes = escapes.max(spelled);
                at = stops.next(at + len);
            }
            Some(&found) => {
                return Err(Error::new(ErrorKind::ControlCharacter { found }, at, context));
            }
        }
    }
}

/// How long the escape at `at` is, and how it is spelled.
#[inline(always)]
fn pass_escape(text: &[u8], at: usize, context: &'static str) -> Result<(usize, Escapes), Error> {
    if let Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') = text.get(at + 1) {
        return Ok((2, Escapes::Canonical));
    }
    read_escape(text, at, context).map(|escape| (escape.len, escape.escapes))
}

/// An escape sequence: what it means, its bytes on the wire, and how it is spelled.
struct Escape {
    char: char,
    len: usize,
    escapes: Escapes,
}

/// Reads the escape whose backslash is at `at`.
#[inline]
fn read_escape(text: &[u8], at: usize, context: &'static str) -> Result<Escape, Error> {
    let Some(&kind) = text.get(at + 1) else {
        return Err(incomplete(text, context));
    };
    let char = match kind {
        b'"' => '"',
        b'\\' => '\\',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'/' => {
            return Ok(Escape { char: '/', len: 2, escapes: Escapes::Other });
        }
        b'u' => return read_unicode_escape(text, at, context),
        found => {
            let kind = ErrorKind::Unexpected { expected: Expected::Escape, found: Some(found) };
            return Err(Error::new(kind, at + 1, context));
        }
    };
    Ok(Escape { char, len: 2, escapes: Escapes::Canonical })
}

/// Reads `\uXXXX` at `at`, or two of them that are the halves of one character.
fn read_unicode_escape(text: &[u8], at: usize, context: &'static str) -> Result<Escape, Error> {
    let first = read_code_unit(text, at + 2, context)?;
    if let Some(char) = char::from_u32(first.into()) {
        let is_lowercase = !text[at + 4..at + 6].iter().any(u8::is_ascii_uppercase);
        let has_short_form = matches!(char, '\x08' | '\t' | '\n' | '\x0c' | '\r');
        let escapes = match char {
            '\0'..='\x1f' if is_lowercase && !has_short_form => Escapes::Canonical,
            _ => Escapes::Other,
        };
        return Ok(Escape { char, len: 6, escapes });
    }
    let lone = || Error::new(ErrorKind::LoneSurrogate { found: first }, at, context);
    if first >= LOW_SURROGATE {
        return Err(lone());
    }
    for (i, &wanted) in br"\u".iter().enumerate() {
        match text.get(at + 6 + i) {
            Some(&found) if found == wanted => {}
            Some(_) => return Err(lone()),
            None => return Err(incomplete(text, context)),
        }
    }
    let second = read_code_unit(text, at + 8, context)?;
    match char::decode_utf16([first, second]).next() {
        Some(Ok(char)) => Ok(Escape { char, len: 12, escapes: Escapes::Other }),
        _ => Err(lone()),
    }
}

/// Reads the four hex digits at `at`.
fn read_code_unit(text: &[u8], at: usize, context: &'static str) -> Result<u16, Error> {
    let mut unit = 0;
    for at in at..at + 4 {
        let Some(&found) = text.get(at) else {
            return Err(incomplete(text, context));
        };
        let Some(digit) = char::from(found).to_digit(16) else {
            return Err(Error::new(ErrorKind::HexDigit { found }, at, context));
        };
        unit = unit << 4 | digit as u16;
    }
    Ok(unit)
}

#[cold]
fn incomplete(text: &[u8], context: &'static str) -> Error {
    Error::new(ErrorKind::Incomplete { needed: None }, text.len(), context)
}

/// The first code unit of a low surrogate; a high one before it makes a character.
const LOW_SURROGATE: u16 = 0xdc00;
/// The name in errors of strings that are in no frame.
const CONTEXT: &str = "json.string";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_know_how_they_are_spelled() {
        let escapes = |raw: &str| JsonStr::from_raw(raw).unwrap().escapes();
        assert_eq!(escapes("a/é\u{7f}\u{2028}"), Escapes::None);
        assert_eq!(escapes(r#"\"\\\b\f\n\r\t\u0000\u000b\u001f"#), Escapes::Canonical);
        for other in [r"\/", r"\u0041", r"\u000a", r"\u000B", r"\u00e9", r"\ud83d\ude00"] {
            assert_eq!(escapes(other), Escapes::Other, "{other}");
            assert_eq!(escapes(&format!(r"{other}\n")), Escapes::Other, "{other}");
        }
    }

    #[test]
    fn strings_mean_what_they_escape() {
        let text = JsonStr::from_raw(r#"a\"\/\u00e9\ud83d\ude00z"#).unwrap();
        let meant = "a\"/é😀z";
        assert_eq!(text.to_string(), meant);
        assert_eq!(text.to_cow(), meant);
        assert_eq!(text.chars().collect::<String>(), meant);
        assert_eq!(text, meant);
        assert_eq!(text, JsonStr::from_raw(r#"\u0061\u0022/é😀z"#).unwrap());
        assert_eq!(format!("{text:?}"), r#""a\"\/\u00e9\ud83d\ude00z""#);
        for other in ["", "a", "a\"/é😀", "a\"/é😀zz", "b\"/é😀z", "a\"/é😁z"] {
            assert_ne!(text, other);
        }
    }

    #[test]
    fn strings_that_are_refused() {
        let error = |raw: &str| JsonStr::from_raw(raw).unwrap_err().to_string();
        assert_eq!(error("ab\n"), "json.string: raw control character 0x0a in a string, at byte 2");
        assert_eq!(error("a\"b"), "json.string: the end expected, found `\"`, at byte 1");
        assert_eq!(
            error(r"\x"),
            "json.string: one of `\"\\/bfnrtu` expected, found `x`, at byte 1"
        );
        assert_eq!(error(r"\u00g0"), "json.string: hex digit expected, found `g`, at byte 4");
        for lone in [r"\ud83d", r"\ud83dx", r"\ud83d\n", r"\ud83d\u0041", r"\ud83d\ud83d"] {
            let padded = format!("{lone}      ");
            assert_eq!(error(&padded), "json.string: lone surrogate \\ud83d, at byte 0", "{lone}");
        }
        assert_eq!(error(r"\udc00\ud83d"), "json.string: lone surrogate \\udc00, at byte 0");
        for cut in [r"\", r"\u", r"\u123", r"\ud83d", r"\ud83d\", r"\ud83d\ude0"] {
            assert!(error(cut).contains("expected, found the end"), "{cut}");
        }
    }
}
