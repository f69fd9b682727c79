//! Room in a read buffer, for no more than what has arrived justifies.

use std::mem;

use bytes::{Bytes, BytesMut};

/// Bytes of a buffer that small frames are read into, many at a time. As tokio-util's.
pub const READ_BUFFER: usize = 8 * 1024;

/// Makes `buffer` hold `len` bytes, those that are in it counted; with room for one more at least.
///
/// Small frames share a buffer, which is used again once no frame borrows from it. A frame that is
/// larger than that gets a buffer of its own and of its length: what keeps the frame keeps nothing
/// else, and what is behind it in the stream begins another.
pub(super) fn make_room(buffer: &mut BytesMut, len: usize) {
    let more = len.saturating_sub(buffer.len()).max(1);
    if buffer.capacity() - buffer.len() >= more {
        return;
    }
    // `BytesMut::reserve` would double what is there, beyond any maximum.
    if buffer.try_reclaim(more) {
        return;
    }
    let len = buffer.len() + more;
    if buffer.len() <= READ_BUFFER {
        let mut fresh = BytesMut::with_capacity(len.max(READ_BUFFER));
        fresh.extend_from_slice(buffer);
        *buffer = fresh;
        return;
    }
    // As a `Vec` the buffer grows in place where the allocator can, and by no more than is said.
    let mut own = Vec::from(mem::take(buffer));
    own.reserve_exact(len - own.len());
    *buffer = BytesMut::from(Bytes::from(own));
}

/// How much room a frame of `len` bytes is given when `arrived` bytes of it are there. Up to
/// [`EAGER`] all at once, so that it is never moved; beyond that four times what has arrived, so
/// that a peer cannot have megabytes reserved by announcing them.
pub(super) fn justified(len: usize, arrived: usize) -> usize {
    len.min(arrived.saturating_mul(4).max(EAGER))
}

/// Every relay message fits, with room to spare.
const EAGER: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_exact_and_keeps_the_bytes() {
        let mut buffer = BytesMut::new();
        make_room(&mut buffer, 0);
        assert_eq!(buffer.capacity(), READ_BUFFER);
        buffer.extend_from_slice(&[7; 100]);
        for len in [0, 100, 5000, READ_BUFFER, 100_000, 100_001, 1_000_000] {
            make_room(&mut buffer, len);
            assert_eq!(buffer.capacity(), len.max(READ_BUFFER));
            buffer.resize(len.max(100), 7);
            assert!(buffer.iter().all(|byte| *byte == 7));
        }
        make_room(&mut buffer, 0);
        assert_eq!(buffer.capacity(), 1_000_001);
    }

    #[test]
    fn a_buffer_is_used_again_unless_a_frame_borrows_from_it() {
        let mut buffer = BytesMut::with_capacity(READ_BUFFER);
        let start = buffer.as_ptr();
        buffer.resize(READ_BUFFER, 1);
        let frame = buffer.split_to(READ_BUFFER - 10).freeze();
        drop(frame);
        make_room(&mut buffer, 100);
        assert_eq!((buffer.as_ptr(), &buffer[..]), (start, &[1; 10][..]));
        let frame = buffer.split_to(5).freeze();
        buffer.resize(READ_BUFFER - 5, 2);
        make_room(&mut buffer, READ_BUFFER);
        assert_ne!(buffer.as_ptr(), start);
        assert_eq!((&frame[..], &buffer[..6]), (&[1; 5][..], &[1, 1, 1, 1, 1, 2][..]));
    }

    #[test]
    fn megabytes_are_reserved_as_they_come() {
        assert_eq!(justified(153_600, 3), 153_600);
        assert_eq!(justified(16_000_000, 4), EAGER);
        assert_eq!(justified(16_000_000, 1_000_000), 4_000_000);
        assert_eq!(justified(16_000_000, usize::MAX), 16_000_000);
    }
}
