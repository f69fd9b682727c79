//! Laws of frames in streams. The oracle reads the whole stream at once, a byte at a time.

use std::io::{self, IoSlice};
use std::ops::Range;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use borrowire::codec::{
    CodecError, FrameReader, FrameWriter, Framing, JsonLines, LengthPrefixed, Views, write_frame,
};
use borrowire::ndjson::lines;
use borrowire::rules::Rules;
use borrowire::splice::Splice;
use borrowire::waku::MessageView;
use borrowire::{Error, ErrorKind};
use bytes::{BufMut, Bytes, BytesMut};
use futures_io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{Decoder, Encoder};

/// All laws, for bytes that may be anything: the first three say how the rest is cut, how long a
/// frame may be, and what is written.
pub fn any_stream(input: &[u8]) {
    let Some((&[chunk, max, cut], stream)) = input.split_first_chunk() else {
        return;
    };
    let steps = [usize::from(chunk) + 1, 1, stream.len().max(1), usize::from(max) + 2];
    any_lengths(stream, max.into(), &steps);
    any_lines(stream, max.into(), &steps);
    let bodies: Vec<_> = stream.chunks(usize::from(cut) + 1).map(<[u8]>::to_vec).collect();
    written_is_read_back(&bodies, cut.into(), steps[0]);
}

/// However a stream of length-prefixed frames is cut, its frames are the same, and so is the error
/// that ends it.
pub fn any_lengths(stream: &[u8], max: u32, steps: &[usize]) {
    for rules in [Rules::STRICT, Rules::PROTO3] {
        let (frames, end) = lengths_by_byte(stream, max, rules == Rules::STRICT);
        for step in steps {
            let codec = LengthPrefixed::new(max).with_rules(&rules);
            let read = read_in_steps(codec, stream, *step);
            check(&read, &frames, end, stream);
        }
    }
}

/// The same of lines; without a maximum they are those of `ndjson::lines`.
pub fn any_lines(stream: &[u8], max: u32, steps: &[usize]) {
    let (all, _) = lines_by_byte(stream, u32::MAX);
    assert!(lines(stream).map(|line| line.text).eq(all));
    let (frames, end) = lines_by_byte(stream, max);
    for step in steps {
        check(&read_in_steps(JsonLines::new(max), stream, *step), &frames, end, stream);
    }
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Clean,
    TooLong,
    Overflow,
    NotMinimal,
    Truncated,
}

/// The slow twin of [`LengthPrefixed`].
fn lengths_by_byte(stream: &[u8], max: u32, minimal: bool) -> (Vec<&[u8]>, End) {
    let (mut frames, mut at) = (Vec::new(), 0);
    'frames: while at < stream.len() {
        let mut len = 0_u128;
        for i in 0.. {
            let Some(byte) = stream.get(at + i) else {
                return (frames, End::Truncated);
            };
            len |= u128::from(byte & 0x7f) << (7 * i);
            if i == 9 && *byte > 1 {
                return (frames, End::Overflow);
            }
            if *byte >= 0x80 {
                continue;
            }
            if minimal && i > 0 && *byte == 0 {
                return (frames, End::NotMinimal);
            }
            if len > max.into() {
                return (frames, End::TooLong);
            }
            let start = at + i + 1;
            let Some(frame) = stream.get(start..start + len as usize) else {
                return (frames, End::Truncated);
            };
            frames.push(frame);
            at = start + len as usize;
            continue 'frames;
        }
    }
    (frames, End::Clean)
}

/// The slow twin of [`JsonLines`].
fn lines_by_byte(stream: &[u8], max: u32) -> (Vec<&[u8]>, End) {
    let mut frames = Vec::new();
    for line in stream.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > max as usize {
            return (frames, End::TooLong);
        }
        if !is_blank(line) {
            frames.push(line);
        }
    }
    (frames, End::Clean)
}

fn check(read: &(Vec<Bytes>, Result<(), Error>), frames: &[&[u8]], end: End, stream: &[u8]) {
    assert_eq!(read.0, frames);
    let Err(error) = read.1 else {
        return assert_eq!(end, End::Clean);
    };
    assert!(error.offset() <= stream.len(), "{error}");
    assert!(!error.is_incomplete(), "{error}");
    let expected = match error.kind() {
        ErrorKind::TooLong { .. } => End::TooLong,
        ErrorKind::VarintOverflow => End::Overflow,
        ErrorKind::VarintNotMinimal => End::NotMinimal,
        ErrorKind::Truncated { .. } => End::Truncated,
        kind => panic!("{kind}"),
    };
    assert_eq!(end, expected, "{error}");
}

/// Reads `stream` by every means, `step` bytes at a time, and checks that all means agree.
fn read_in_steps<F: Framing + Clone>(
    framing: F,
    stream: &[u8],
    step: usize,
) -> (Vec<Bytes>, Result<(), Error>) {
    let by_hand = by_hand(framing.clone(), stream, step);
    let mut frames = Vec::new();
    let mut reader = FrameReader::new(Dribble { stream, step }, framing.clone());
    let end = ready(async {
        while let Some(frame) = reader.next().await? {
            frames.push(frame);
        }
        assert!(reader.next().await?.is_none());
        Ok(())
    });
    let end = end.map_err(|error: CodecError| *error.frame().unwrap());
    assert_eq!((&frames, end), (&by_hand.0, by_hand.1));
    let expected = by_hand.0.iter().cloned().map(MessageView::try_from);
    let mut views = Views::<MessageView, F>::new(framing);
    let mut buffer = BytesMut::from(stream);
    let decoded = std::iter::from_fn(|| views.decode_eof(&mut buffer).ok().flatten());
    assert!(decoded.take(by_hand.0.len()).eq(expected));
    by_hand
}

/// As tokio-util's `Framed` does: what fits into the room that the codec left is read.
fn by_hand<F: Framing>(
    mut framing: F,
    mut stream: &[u8],
    step: usize,
) -> (Vec<Bytes>, Result<(), Error>) {
    let (mut frames, mut buffer) = (Vec::new(), BytesMut::new());
    loop {
        let taken = if stream.is_empty() {
            framing.take_last(&mut buffer)
        } else {
            framing.take(&mut buffer)
        };
        match taken {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) if stream.is_empty() => {
                assert!(buffer.is_empty());
                return (frames, Ok(()));
            }
            Ok(None) => {
                let room = buffer.capacity() - buffer.len();
                assert!(room > 0, "no room to read into");
                let arrived = stream.split_off(..step.min(room).min(stream.len())).unwrap();
                buffer.extend_from_slice(arrived);
            }
            Err(error) => {
                let before = buffer.clone();
                assert_eq!(framing.take_last(&mut buffer), Err(error), "an error is final");
                assert_eq!(before, buffer);
                return (frames, Err(error));
            }
        }
    }
}

/// A length over the maximum and a varint beyond 64 bits err as soon as they are there, whatever
/// follows, and reserve nothing.
pub fn announced_in_vain(len: u64, max: u32) {
    let prefix = varint(len);
    let over_long = [&prefix[..prefix.len() - 1], &[0xff; 10]].concat();
    let kind = |bytes: &[u8]| {
        let mut buffer = BytesMut::from(bytes);
        let capacity = buffer.capacity();
        let taken = LengthPrefixed::new(max).take(&mut buffer);
        if taken.is_err() {
            assert_eq!((buffer.len(), buffer.capacity()), (bytes.len(), capacity));
        }
        taken.map_err(|error| error.kind())
    };
    for cut in 0..prefix.len() {
        assert_eq!(kind(&prefix[..cut]), Ok(None));
    }
    let limit = max;
    match u32::try_from(len) {
        Ok(0) => assert_eq!(kind(&prefix), Ok(Some(Bytes::new()))),
        Ok(len) if len <= max => assert_eq!(kind(&prefix), Ok(None)),
        _ => {
            let len = u32::try_from(len).unwrap_or(u32::MAX);
            assert_eq!(kind(&prefix), Err(ErrorKind::TooLong { len, limit }));
        }
    }
    for cut in 0..over_long.len() {
        let expected = if cut < 10 { Ok(None) } else { Err(ErrorKind::VarintOverflow) };
        assert_eq!(kind(&over_long[..cut]), expected);
    }
}

/// What is written by any means is what the wire should hold, and is read back. `cut` says where
/// bodies are cut into the parts of a splice, `step` how much a socket takes at a time.
pub fn written_is_read_back(bodies: &[Vec<u8>], cut: usize, step: usize) {
    let splices: Vec<_> = bodies.iter().map(|body| spliced(body, cut)).collect();
    let mut expected = Vec::new();
    for body in bodies {
        expected.extend(varint(body.len() as u64));
        expected.extend(body);
    }
    let codec = LengthPrefixed::new(u32::MAX);
    assert_eq!(written(codec, &splices, step).unwrap(), expected);
    let read = read_in_steps(codec, &expected, step);
    assert_eq!((read.0, read.1), (bodies.iter().cloned().map(Bytes::from).collect(), Ok(())));

    let codec = JsonLines::new(u32::MAX);
    let lines: Vec<_> =
        splices.iter().filter(|body| is_one_line(&body.to_vec())).cloned().collect();
    let expected: Vec<_> =
        lines.iter().flat_map(|line| [&line.to_vec()[..], b"\n"].concat()).collect();
    assert_eq!(written(codec.clone(), &lines, step).unwrap(), expected);
    let read = read_in_steps(codec.clone(), &expected, step);
    assert!(read.0.iter().map(|line| line.to_vec()).eq(lines.iter().map(Splice::to_vec)));
    for body in splices.iter().filter(|body| !is_one_line(&body.to_vec())) {
        written(codec.clone(), std::slice::from_ref(body), step).unwrap_err();
    }
}

/// Writes by every means and checks that all agree.
fn written<F>(codec: F, bodies: &[Splice], step: usize) -> Result<Vec<u8>, Error>
where
    F: Framing + Clone + Encoder<Splice, Error = CodecError> + Encoder<Bytes, Error = CodecError>,
{
    let (mut spliced, mut whole, mut encoder) = (BytesMut::new(), BytesMut::new(), codec.clone());
    for body in bodies {
        let one = encoder.encode(body.clone(), &mut spliced);
        let other = encoder.encode(Bytes::from(body.to_vec()), &mut whole);
        let frame = |error: CodecError| *error.frame().unwrap();
        assert_eq!(one.map_err(frame), other.map_err(frame));
    }
    assert_eq!(spliced, whole);
    let mut end = Ok(());
    for vectored in [true, false] {
        let mut socket = Socket { written: Vec::new(), step, vectored, shared: Vec::new() };
        let futures = ready(async {
            let mut writer = FrameWriter::new(&mut socket, codec.clone());
            for body in bodies {
                writer.write(body.clone()).await?;
            }
            writer.flush().await?;
            writer.close().await
        });
        assert_eq!(socket.written, spliced);
        let mut tokio = Socket { written: Vec::new(), ..socket };
        end = ready(async {
            for body in bodies {
                write_frame(&mut tokio, &codec, body.clone()).await?;
            }
            Ok(())
        })
        .map_err(|error: CodecError| *error.frame().unwrap());
        assert_eq!(tokio.written, spliced);
        assert_eq!(futures.map_err(|error| *error.frame().unwrap()), end);
    }
    end.map(|()| spliced.to_vec())
}

/// Nothing but the whitespace that JSON knows.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| b" \t\n\r".contains(byte))
}

fn is_one_line(body: &[u8]) -> bool {
    !is_blank(body) && !body.contains(&b'\n') && body.last() != Some(&b'\r')
}

fn spliced(body: &[u8], cut: usize) -> Splice {
    let head = cut.min(body.len());
    let tail = (cut / 3).min(body.len() - head);
    let Range { start, end } = head..body.len() - tail;
    Splice::new(&body[..start], Bytes::copy_from_slice(&body[start..end]), &body[end..])
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The result of work that only needs to be asked again.
fn ready<T>(work: impl Future<Output = T>) -> T {
    let mut cx = Context::from_waker(Waker::noop());
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut cx) {
            return result;
        }
    }
}

/// A stream that gives a few bytes at a time, and has the reader wait before the last of them.
struct Dribble<'a> {
    stream: &'a [u8],
    step: usize,
}

impl AsyncRead for Dribble<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.step == 0 {
            this.step = 1;
            return Poll::Pending;
        }
        assert!(!out.is_empty(), "no room to read into");
        let len = this.step.min(out.len()).min(this.stream.len());
        let (now, later) = this.stream.split_at(len);
        out[..len].copy_from_slice(now);
        this.stream = later;
        if later.len() == 1 {
            this.step = 0;
        }
        Poll::Ready(Ok(len))
    }
}

/// A socket that takes a few bytes at a time, and remembers where large slices lay.
struct Socket {
    written: Vec<u8>,
    step: usize,
    vectored: bool,
    shared: Vec<*const u8>,
}

impl Socket {
    fn take(&mut self, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let mut room = self.step;
        for slice in slices.iter().take(if self.vectored { usize::MAX } else { 1 }) {
            if slice.len() > 1000 {
                self.shared.push(slice.as_ptr());
            }
            let len = room.min(slice.len());
            self.written.put_slice(&slice[..len]);
            room -= len;
        }
        Poll::Ready(Ok(self.step - room))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().take(&[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().take(slices)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl tokio::io::AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().take(&[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().take(slices)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod driven {
    use borrowire::codec::READ_BUFFER;
    use futures_util::StreamExt;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use tokio_util::codec::FramedRead;

    use super::super::corpus;
    use super::*;

    #[test]
    fn the_committed_corpus() {
        corpus("codec").iter().for_each(|input| any_stream(input));
    }

    #[test]
    fn lengths_around_every_step_of_the_varint() {
        for bits in 0..64 {
            for len in [(1 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                for max in [0, 1, 127, 128, 1024, 153_600, u32::MAX] {
                    announced_in_vain(len, max);
                }
            }
        }
        announced_in_vain(u64::MAX, u32::MAX);
    }

    #[test]
    fn frames_around_the_size_of_the_read_buffer() {
        let lens = [0, 1, READ_BUFFER - 2, READ_BUFFER - 1, READ_BUFFER, READ_BUFFER + 1, 300_000];
        let bodies: Vec<_> = lens.iter().chain(&lens).map(|len| vec![b'x'; *len]).collect();
        for step in [1000, READ_BUFFER, usize::MAX] {
            written_is_read_back(&bodies, 20, step);
        }
    }

    /// tokio-util itself reads, rather than our twin of it.
    #[test]
    fn tokio_util_reads_the_same() {
        let bodies = [0, 1, 100, READ_BUFFER, 200_000, 5].map(|len| vec![b'x'; len]);
        let mut stream = BytesMut::new();
        let mut codec = LengthPrefixed::new(200_000);
        bodies.iter().for_each(|body| codec.encode(&body[..], &mut stream).unwrap());
        stream.put_slice(b"\x07cut");
        let frames: Vec<_> = ready(FramedRead::new(&stream[..], codec).collect());
        let (last, frames) = frames.split_last().unwrap();
        assert!(frames.iter().map(|frame| &frame.as_ref().unwrap()[..]).eq(bodies));
        let error = last.as_ref().unwrap_err().to_string();
        assert_eq!(error, "codec.frame: truncated, 7 bytes needed, 3 left, at byte 1");
    }

    /// A large body is handed to the socket from where it was received.
    #[test]
    fn a_shared_body_is_written_from_where_it_lies() {
        let body = Bytes::from(vec![b'x'; 50_000]);
        let splices =
            [&b"head"[..], &[b'h'; 600]].map(|head| Splice::new(head, body.clone(), b"t"));
        for splice in splices {
            let mut socket = Socket {
                written: Vec::new(),
                step: usize::MAX,
                vectored: true,
                shared: Vec::new(),
            };
            let framing = LengthPrefixed::new(60_000);
            ready(write_frame(&mut socket, &framing, splice.clone())).unwrap();
            assert_eq!(socket.shared, [body.as_ptr()]);
            ready(FrameWriter::new(&mut socket, framing).write(splice)).unwrap();
            assert_eq!(socket.shared, [body.as_ptr(); 2]);
        }
    }

    #[test]
    fn a_socket_that_takes_nothing_is_an_error() {
        let mut socket = Socket { written: vec![], step: 0, vectored: true, shared: vec![] };
        let sent = ready(write_frame(&mut socket, &LengthPrefixed::new(9), &b"abc"[..]));
        let Err(CodecError::Io(error)) = sent else { panic!() };
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }

    proptest! {
        #[test]
        fn any_bytes(input in vec(any::<u8>(), 0..400)) {
            any_stream(&input);
        }

        #[test]
        fn streams_that_are_mostly_right(
            bodies in vec(vec(any::<u8>(), 0..40), 0..12),
            max in 10_u32..200,
            damage in any::<Option<(u16, u8)>>(),
            steps in vec(1_usize..50, 3),
        ) {
            let mut stream: Vec<u8> = bodies
                .iter()
                .flat_map(|body| [&varint(body.len() as u64)[..], body].concat())
                .collect();
            if let (Some((at, with)), false) = (damage, stream.is_empty()) {
                let at = usize::from(at) % stream.len();
                stream[at] = with;
            }
            any_lengths(&stream, max, &steps);
        }

        #[test]
        fn lines_of_any_shape(
            stream in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(b'x')], 0..200),
            max in 0_u32..9,
            steps in vec(1_usize..50, 3),
        ) {
            any_lines(&stream, max, &steps);
        }

        #[test]
        fn any_announcement(len: u64, shift in 0_u32..64, max: u32) {
            announced_in_vain(len >> shift, max);
        }

        #[test]
        fn any_bodies(
            bodies in vec(vec(any::<u8>(), 0..600), 0..6),
            cut in 0_usize..100,
            step in 1_usize..700,
        ) {
            written_is_read_back(&bodies, cut, step);
        }
    }
}
