//! What a codec holds is at most one frame of the maximum and one read buffer, whatever arrives and
//! however it is cut. One test, since the heap is counted for the whole process.

#![cfg(all(feature = "codec", feature = "harness"))]

use borrowire::codec::{Framing, JsonLines, LengthPrefixed, READ_BUFFER};
use borrowire::heap::{CountingAllocator, heap, take_peak};
use bytes::{Bytes, BytesMut};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_codec_holds_one_frame_and_one_read_buffer() {
    for max in [100, READ_BUFFER, 153_600, 1_000_000] {
        let lens = [max, 10, max / 2, 0, max, max - 1, READ_BUFFER.min(max), max, 3, 3, max];
        let lengths: Vec<u8> = lens.iter().flat_map(|len| frame(*len)).collect();
        let lines: Vec<u8> =
            lens.iter().flat_map(|len| [&vec![b'x'; *len][..], b"\r\n"].concat()).collect();
        for step in [1, 700, READ_BUFFER, usize::MAX] {
            let codec = LengthPrefixed::new(max as u32);
            let most = max + PREFIX + READ_BUFFER + BOOKKEEPING;
            let (frames, peak) = peak(codec, &lengths, step);
            assert_eq!(frames, lens.len());
            assert!(peak <= most, "{peak} of {most} bytes, maximum {max}, {step} at a time");
            let (lines, peak) = self::peak(JsonLines::new(max as u32), &lines, step);
            assert_eq!(lines, lens.iter().filter(|len| **len > 0).count());
            assert!(peak <= most, "{peak} of {most} bytes, line of {max}, {step} at a time");
        }
    }

    // A length that is announced and does not come, up to a maximum of 4 GiB.
    for announced in [b"\x80\x80\x08".to_vec(), b"\xff\xff\xff\xff\x0f".to_vec()] {
        let (frames, peak) = peak(LengthPrefixed::new(u32::MAX), &announced, 1);
        assert_eq!(frames, 0);
        assert!(peak <= 256 * 1024 + READ_BUFFER + BOOKKEEPING, "{peak} bytes for {announced:?}");
    }
    let (_, peak) = peak(LengthPrefixed::new(1000), b"\xff\xff\xff\xff\x0f", 1);
    assert!(peak <= READ_BUFFER + BOOKKEEPING, "{peak} bytes for a length over the maximum");

    a_kept_frame_keeps_its_own_bytes_or_one_read_buffer();
}

fn a_kept_frame_keeps_its_own_bytes_or_one_read_buffer() {
    let stream = [frame(150_000), frame(10), frame(150_000), frame(9)].concat();
    for keep in 0..4 {
        let before = heap();
        let kept = {
            let mut codec = LengthPrefixed::new(153_600);
            let (mut kept, mut seen) = (Bytes::new(), 0);
            feed(&mut codec, &stream, 5000, |frame| {
                if seen == keep {
                    kept = frame;
                }
                seen += 1;
            });
            kept
        };
        let held = (heap() - before).live_bytes() as usize;
        let most = kept.len().max(READ_BUFFER) + PREFIX + BOOKKEEPING;
        assert!(held <= most, "frame {keep} of {} bytes keeps {held}", kept.len());
        assert!(held >= kept.len());
    }
}

/// How many frames `stream` holds, and the most bytes that were held while they were read and
/// dropped.
fn peak(mut framing: impl Framing, stream: &[u8], step: usize) -> (usize, usize) {
    let before = heap();
    take_peak();
    let mut frames = 0;
    feed(&mut framing, stream, step, |_| frames += 1);
    (frames, (take_peak() - before.live_bytes()) as usize)
}

/// Hands over `stream` as a socket would: `step` bytes at a time, and no more than there is room
/// for.
fn feed(
    framing: &mut impl Framing,
    mut stream: &[u8],
    step: usize,
    mut deliver: impl FnMut(Bytes),
) {
    let mut buffer = BytesMut::new();
    loop {
        while let Ok(Some(frame)) = framing.take(&mut buffer) {
            deliver(frame);
        }
        let room = buffer.capacity() - buffer.len();
        let len = step.min(room).min(stream.len());
        if len == 0 {
            return;
        }
        buffer.extend_from_slice(&stream[..len]);
        stream = &stream[len..];
    }
}

fn frame(len: usize) -> Vec<u8> {
    let mut out = BytesMut::new();
    LengthPrefixed::new(u32::MAX)
        .put(&mut out, len, |out| out.resize(out.len() + len, b'x'))
        .unwrap();
    out.to_vec()
}

const PREFIX: usize = 10;
/// What `Bytes` allocates to count references, for two buffers.
const BOOKKEEPING: usize = 200;
