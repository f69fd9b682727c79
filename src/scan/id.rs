//! Ids in hex: 64 digits.

/// The 32 bytes of 64 lowercase digits, or `None` if one of them is another byte.
#[inline(always)]
pub(crate) fn decode_id(digits: &[u8; 64]) -> Option<[u8; 32]> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, it was asked in the line above.
        return unsafe { avx2::decode_id(digits) };
    }
    decode_id_by_byte(digits)
}

/// The slow twin of [`decode_id`]: a loop that the compiler turns into vectors of the target.
fn decode_id_by_byte(digits: &[u8; 64]) -> Option<[u8; 32]> {
    let mut values = [0; 64];
    let mut all_digits = true;
    for (value, digit) in values.iter_mut().zip(digits) {
        let (decimal, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        all_digits &= (decimal < 10) | (letter < 6);
        *value = if decimal < 10 { decimal } else { letter.wrapping_add(10) };
    }
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(values.as_chunks().0) {
        *byte = high << 4 | low & 15;
    }
    all_digits.then_some(bytes)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use crate::scan::avx2::{any, hex_values, load, non_hex, or};

    #[target_feature(enable = "avx2")]
    pub(super) fn decode_id(digits: &[u8; 64]) -> Option<[u8; 32]> {
        let (rows, _) = digits.as_chunks();
        let rows = [load(&rows[0]), load(&rows[1])];
        let [high, low] = rows.map(|row| hex_values(row));
        if any(or(non_hex(rows[0], high), non_hex(rows[1], low))) {
            return None;
        }
        // Each pair of values makes a byte, `16 * first + second`, in a word of 16 bits.
        let words =
            [high, low].map(|values| _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0110)));
        // Packing works within each half of a vector.
        let bytes = _mm256_packus_epi16(words[0], words[1]);
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
        let mut id = [0; 32];
        // SAFETY: the reference is to 32 bytes, and the store may be unaligned.
        unsafe { _mm256_storeu_si256(id.as_mut_ptr().cast(), bytes) };
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::{Case, decode};

    #[test]
    fn ids_are_decoded_as_any_hex_is() {
        let mut digits = *b"0123456789abcdef0f1e2d3c4b5a69788796a5b4c3d2e1f0fedcba9876543210";
        for at in 0..digits.len() {
            for byte in 0..=255 {
                let digit = std::mem::replace(&mut digits[at], byte);
                let mut bytes = [0; 32];
                let decoded = decode(&digits, &mut bytes, Case::Lower, "x");
                assert_eq!(decode_id(&digits), decoded.is_ok().then_some(bytes));
                assert_eq!(decode_id_by_byte(&digits), decoded.is_ok().then_some(bytes));
                digits[at] = digit;
            }
        }
    }
}
