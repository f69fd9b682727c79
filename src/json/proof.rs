//! Text that carries the proof that a writer need not look at it again.

use crate::error::{Error, ErrorKind};
use crate::json::read::Reader;
use crate::rules::Rules;
use crate::scan::{first_escape, first_non_hex};

/// Text without a byte that JSON must escape: no control character, `"` or `\`.
///
/// ```
/// use borrowire::json::CleanStr;
///
/// const LABEL: CleanStr = CleanStr::from_static("NEG-MSG");
/// assert_eq!(CleanStr::new("NEG-MSG"), Some(LABEL));
/// assert_eq!(CleanStr::new("two\nlines"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CleanStr<'a>(&'a str);

impl<'a> CleanStr<'a> {
    /// `text`, if it needs no escape.
    pub fn new(text: &'a str) -> Option<Self> {
        (first_escape(text.as_bytes()) == text.len()).then_some(Self(text))
    }

    /// Text that is known when the program is compiled.
    ///
    /// # Panics
    /// If it needs an escape. In a `const` the compiler says so.
    pub const fn from_static(text: &'static str) -> CleanStr<'static> {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            assert!(bytes[i] >= 0x20 && bytes[i] != b'"' && bytes[i] != b'\\');
            i += 1;
        }
        CleanStr(text)
    }

    /// The text.
    #[inline(always)]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

/// Text of lowercase hex digits, two a byte.
///
/// ```
/// use borrowire::json::HexStr;
///
/// assert_eq!(HexStr::new("6100", "neg.message")?.as_str(), "6100");
/// let error = HexStr::new("61FF", "neg.message").unwrap_err();
/// assert_eq!(error.to_string(), "neg.message: lowercase hex digit expected, found `F`, at byte 2");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HexStr<'a>(&'a str);

impl<'a> HexStr<'a> {
    /// `text`, or [`ErrorKind::HexDigit`] or [`ErrorKind::HexOddLength`] in `context`.
    pub fn new(text: &'a str, context: &'static str) -> Result<Self, Error> {
        let digits = first_non_hex(text.as_bytes());
        if let Some(&found) = text.as_bytes().get(digits) {
            return Err(Error::new(ErrorKind::HexDigit { found }, digits, context));
        }
        if !digits.is_multiple_of(2) {
            return Err(Error::new(ErrorKind::hex_odd_length(digits), digits, context));
        }
        Ok(Self(text))
    }

    /// Digits that a reader has checked already.
    pub(crate) const fn checked(text: &'a str) -> Self {
        Self(text)
    }

    /// The digits.
    #[inline(always)]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

impl<'a> From<HexStr<'a>> for CleanStr<'a> {
    #[inline(always)]
    fn from(hex: HexStr<'a>) -> Self {
        Self(hex.0)
    }
}

/// Text of lowercase hex digits that is to be: bytes, or the digits already.
#[derive(Clone, Copy, Debug)]
pub enum HexText<'a> {
    /// Bytes, which become digits on their way into the frame.
    Binary(&'a [u8]),
    /// Digits, which are copied.
    Digits(HexStr<'a>),
}

impl HexText<'_> {
    /// No digit.
    pub const EMPTY: Self = Self::Binary(&[]);
}

impl<'a> From<&'a [u8]> for HexText<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Binary(bytes)
    }
}

impl<'a> From<HexStr<'a>> for HexText<'a> {
    fn from(digits: HexStr<'a>) -> Self {
        Self::Digits(digits)
    }
}

/// A string that is to be: text, or hex.
#[derive(Clone, Copy, Debug)]
pub enum AnyText<'a> {
    /// Text, escaped where it must be.
    Text(&'a str),
    /// Hex digits, or the bytes that become them.
    Hex(HexText<'a>),
}

impl<'a> From<&'a str> for AnyText<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8; 32]> for AnyText<'a> {
    fn from(id: &'a [u8; 32]) -> Self {
        Self::Hex(HexText::Binary(id))
    }
}

impl<'a> From<HexText<'a>> for AnyText<'a> {
    fn from(hex: HexText<'a>) -> Self {
        Self::Hex(hex)
    }
}

/// The text of one JSON value, spaces around and inside it included.
///
/// ```
/// use borrowire::json::RawJson;
///
/// assert_eq!(RawJson::new(r#"{"kinds":[1]}"#, "req.filter")?.as_str(), r#"{"kinds":[1]}"#);
/// let error = RawJson::new("{}],[", "req.filter").unwrap_err();
/// assert_eq!(error.to_string(), "req.filter: the end expected, found `]`, at byte 2");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RawJson<'a>(&'a str);

impl<'a> RawJson<'a> {
    /// `text`, if it is one JSON value (RFC 8259) with containers nested at most 127 deep; the
    /// error of [`Reader`] in `context` if not.
    pub fn new(text: &'a str, context: &'static str) -> Result<Self, Error> {
        let mut reader = Reader::from_text(text, &Rules::STRICT, context)?;
        reader.skip(context)?;
        reader.finish(context)?;
        Ok(Self(text))
    }

    /// Text that a reader has checked already.
    pub(crate) const fn checked(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    #[inline(always)]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_is_what_serde_json_leaves_alone() {
        for byte in 0..0x80 {
            let text = char::from(byte).to_string();
            let json = serde_json::to_string(&text).unwrap();
            let clean = CleanStr::new(&text).map(CleanStr::as_str);
            assert_eq!(clean, (json.len() == 3).then_some(&*text));
        }
    }

    #[test]
    fn constants_are_checked() {
        assert_eq!(CleanStr::from_static("caf\u{e9}").as_str(), "caf\u{e9}");
        for text in ["\"", "\\", "\u{1f}"] {
            assert!(std::panic::catch_unwind(|| CleanStr::from_static(text)).is_err());
        }
    }

    #[test]
    fn hex_is_even_and_lowercase() {
        let error = |text| HexStr::new(text, "x").unwrap_err().to_string();
        assert_eq!(error("616"), "x: 3 hex digits, an even number expected, at byte 3");
        assert_eq!(error("\u{e9}1"), "x: hex digit expected, found 0xc3, at byte 0");
        assert!(HexStr::new("", "x").is_ok());
    }

    #[test]
    fn raw_json_is_what_serde_json_reads_and_numbers_beyond_f64() {
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let [deepest, too_deep] = [127, 128].map(deep);
        for text in [
            "",
            " ",
            "{",
            "[1,",
            "\"a",
            "1 2",
            "{}",
            " [1, -2.5e3, null, true, false] ",
            "\"\\u00e9\"",
            "{\"a\":{\"b\":[]}}",
            "{\"a\":1,\"a\":2}",
            "{1:2}",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            "01",
            "-",
            "nul",
            "\"\u{1}\"",
            "\"\\x\"",
            "[1]\n]",
            "\n\n x",
            "\u{feff}1",
            "18446744073709551616",
            &deepest,
            &too_deep,
        ] {
            let value = serde_json::from_str::<serde_json::Value>(text);
            assert_eq!(RawJson::new(text, "x").is_ok(), value.is_ok(), "{text}");
        }
        assert!(RawJson::new("1e999", "x").is_ok());
    }

    #[test]
    fn refused_json_names_the_byte() {
        let error = |text| RawJson::new(text, "x").unwrap_err().to_string();
        assert_eq!(error("[1]\n]"), "x: the end expected, found `]`, at byte 4");
        assert_eq!(error("\n\n x"), "x: a value expected, found `x`, at byte 3");
        assert_eq!(error("{\"a\":"), "x: incomplete, more bytes are needed, at byte 5");
    }
}
