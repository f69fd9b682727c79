//! The numbers of negentropy, written. [`Cursor`](crate::cursor::Cursor) reads them.

/// A varint at the end of an array, and where it begins there.
#[inline]
pub(super) fn encode(number: u64) -> ([u8; MAX_LEN], usize) {
    let mut groups = [0; MAX_LEN];
    let start = MAX_LEN - encoded_len(number);
    for (i, group) in groups[start..].iter_mut().rev().enumerate() {
        let more = if i == 0 { 0 } else { 0x80 };
        *group = (number >> (7 * i)) as u8 & 0x7f | more;
    }
    (groups, start)
}

#[inline]
pub(super) const fn encoded_len(number: u64) -> usize {
    // Zero has one group too.
    ((number | 1).ilog2() / 7 + 1) as usize
}

/// Bytes of the longest varint: 64 bits in groups of seven.
pub(super) const MAX_LEN: usize = 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cursor::Cursor;

    proptest! {
        #[test]
        fn varints_are_what_the_cursor_reads(bits in 0..=64_u32, number: u64) {
            let number = number.checked_shr(bits).unwrap_or(0);
            let (groups, start) = encode(number);
            let mut cursor = Cursor::new(&groups[start..]);
            let read = cursor.varint_msb("x").unwrap();
            prop_assert_eq!((read.value, read.is_minimal), (number, true));
            prop_assert!(cursor.is_empty());
        }
    }
}
