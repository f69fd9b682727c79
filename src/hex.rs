//! Hex over slices, in the two characters a byte that both networks use.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// Writes `bytes` as lowercase hex into `out`, two characters a byte.
///
/// # Panics
/// If `out` is not twice as long as `bytes`.
///
/// ```
/// let mut out = [0; 4];
/// borrowire::hex::encode(&[0x0a, 0xff], &mut out);
/// assert_eq!(&out, b"0aff");
/// ```
pub fn encode(bytes: &[u8], out: &mut [u8]) {
    const_hex::encode_to_slice(bytes, out).expect("an output of twice the input's length");
}

/// Reads `hex` into `out`. Errs with the offset of the first byte that is not a digit of `case`,
/// with [`ErrorKind::HexOddLength`], or with [`ErrorKind::WrongLength`] if the digits do not fill
/// `out` exactly; `out` then holds anything.
pub fn decode(hex: &[u8], out: &mut [u8], case: Case, context: &'static str) -> Result<(), Error> {
    if !hex.len().is_multiple_of(2) {
        check_digits(hex, case, context)?;
        return Err(Error::new(ErrorKind::hex_odd_length(hex.len()), hex.len(), context));
    }
    if hex.len() / 2 != out.len() {
        let kind = ErrorKind::wrong_length(out.len(), hex.len() / 2);
        return Err(Error::new(kind, 0, context));
    }
    let decoded = const_hex::decode_to_slice(hex, out);
    if decoded.is_err() || case == Case::Lower && has_uppercase(hex) {
        check_digits(hex, case, context)?;
    }
    Ok(())
}

/// Which hex digits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Case {
    /// `0-9a-fA-F`.
    Any,
    /// `0-9a-f`: what Nostr (NIP-01, NIP-77) asks for.
    Lower,
}

/// Bytes that print as lowercase hex.
///
/// ```
/// use borrowire::hex::Hex;
///
/// assert_eq!(Hex(&[0x0a, 0xff]).to_string(), "0aff");
/// ```
#[derive(Clone, Copy)]
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = [0; 128];
        for bytes in self.0.chunks(out.len() / 2) {
            let hex = &mut out[..2 * bytes.len()];
            encode(bytes, hex);
            f.write_str(std::str::from_utf8(hex).map_err(|_| fmt::Error)?)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Errs with the offset of the first byte that is not a digit of `case`.
pub(crate) fn check_digits(hex: &[u8], case: Case, context: &'static str) -> Result<(), Error> {
    let is_digit = |byte: &u8| match case {
        Case::Any => byte.is_ascii_hexdigit(),
        Case::Lower => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    match hex.iter().position(|byte| !is_digit(byte)) {
        Some(at) => Err(Error::new(ErrorKind::HexDigit { found: hex[at] }, at, context)),
        None => Ok(()),
    }
}

/// Whether hex digits hold an uppercase letter. Of digits, only those have bit 6 without bit 5.
fn has_uppercase(digits: &[u8]) -> bool {
    digits.iter().fold(false, |any, byte| any | (byte & 0x60 == 0x40))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_round_trip_at_every_length() {
        let bytes: Vec<u8> = (0..300_u16).map(|i| (i * 7) as u8).collect();
        for len in 0..bytes.len() {
            let hex = Hex(&bytes[..len]).to_string();
            let mut out = vec![0; len];
            decode(hex.as_bytes(), &mut out, Case::Lower, "x").unwrap();
            assert_eq!(out, bytes[..len]);
        }
    }

    #[test]
    fn errors_name_the_byte() {
        let error = |hex: &str, case| {
            decode(hex.as_bytes(), &mut vec![0; hex.len() / 2], case, "x").unwrap_err()
        };
        assert_eq!(
            error("0g", Case::Any).to_string(),
            "x: hex digit expected, found `g`, at byte 1"
        );
        let upper = error("00fFa", Case::Lower);
        assert_eq!(upper.to_string(), "x: lowercase hex digit expected, found `F`, at byte 3");
        let odd = error("00f", Case::Lower);
        assert_eq!(odd.to_string(), "x: 3 hex digits, an even number expected, at byte 3");
        assert!(decode(b"0F", &mut [0], Case::Any, "x").is_ok());
        let long = decode(b"0000", &mut [0], Case::Any, "x").unwrap_err();
        assert_eq!(long.to_string(), "x: 2 bytes, 1 expected, at byte 0");
    }
}
