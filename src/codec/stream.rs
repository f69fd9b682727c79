//! Frames over the traits of futures, as libp2p's streams have them.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use futures_io::{AsyncRead, AsyncWrite};

use crate::codec::write::write_parts;
use crate::codec::{CodecError, Framing, LengthPrefixed};

/// Reads frames from an `AsyncRead` of futures; for tokio's, see tokio-util's `FramedRead`.
///
/// ```
/// use borrowire::codec::{FrameReader, LengthPrefixed, Protocol};
/// use borrowire::waku::lightpush::ResponseView;
///
/// # run(async {
/// let stream = &b"\x08\x0a\x01r\x50\xc8\x01\x60\x03"[..]; // or a libp2p stream
/// let framing = LengthPrefixed::new(Protocol::LIGHTPUSH.max_response);
/// let mut reader = FrameReader::new(stream, framing);
/// let response = ResponseView::parse(reader.next().await?.unwrap())?;
/// assert_eq!(response.relay_peer_count(), Some(3));
/// assert!(reader.next().await?.is_none());
/// # Ok::<(), borrowire::codec::CodecError>(())
/// # });
/// # fn run(work: impl Future<Output = Result<(), borrowire::codec::CodecError>>) {
/// #     let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// #     let done = std::pin::pin!(work).poll(&mut cx);
/// #     assert!(matches!(done, std::task::Poll::Ready(Ok(()))));
/// # }
/// ```
#[derive(Debug)]
pub struct FrameReader<R, F = LengthPrefixed> {
    stream: R,
    framing: F,
    buffer: BytesMut,
    has_ended: bool,
}

impl<R: AsyncRead + Unpin, F: Framing> FrameReader<R, F> {
    /// Frames of `stream`, as `framing` tells them apart.
    pub fn new(stream: R, framing: F) -> Self {
        Self { stream, framing, buffer: BytesMut::new(), has_ended: false }
    }

    /// The next frame, or `None` at the end of the stream. After an error there is no next frame:
    /// the same error comes again.
    ///
    /// May be dropped before it is done; no byte is lost.
    pub async fn next(&mut self) -> Result<Option<Bytes>, CodecError> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The stream, and what was read from it beyond the last frame.
    pub fn into_parts(self) -> (R, BytesMut) {
        (self.stream, self.buffer)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, CodecError>> {
        loop {
            if self.has_ended {
                return Poll::Ready(Ok(self.framing.take_last(&mut self.buffer)?));
            }
            if let Some(frame) = self.framing.take(&mut self.buffer)? {
                return Poll::Ready(Ok(Some(frame)));
            }
            self.has_ended = ready!(self.poll_fill(cx))? == 0;
        }
    }

    /// Reads once, into the room that the framing has made.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Self { stream, buffer, .. } = self;
        let len = buffer.len();
        // The trait reads into bytes that have a value; no more are given one than a read fills.
        let room = (buffer.capacity() - len).min(READ_STEP);
        buffer.resize(len + room, 0);
        let read = Pin::new(stream).poll_read(cx, &mut buffer[len..]);
        let filled = match &read {
            Poll::Ready(Ok(count)) => *count,
            _ => 0,
        };
        buffer.truncate(len + filled);
        read
    }
}

/// Writes frames to an `AsyncWrite` of futures; for tokio's, see
/// [`write_frame`](crate::codec::write_frame) and tokio-util's `FramedWrite`.
#[derive(Debug)]
pub struct FrameWriter<W, F = LengthPrefixed> {
    stream: W,
    framing: F,
}

impl<W: AsyncWrite + Unpin, F: Framing> FrameWriter<W, F> {
    /// Frames into `stream`, as `framing` tells them apart.
    pub const fn new(stream: W, framing: F) -> Self {
        Self { stream, framing }
    }

    /// Writes one frame; a large body goes from where it lies. See
    /// [`write_frame`](crate::codec::write_frame), also for what dropping it leaves.
    pub async fn write(&mut self, body: impl Buf + Clone) -> Result<(), CodecError> {
        let stream = &mut self.stream;
        let poll = |cx: &mut Context<'_>, slices: &[IoSlice<'_>]| {
            let stream = Pin::new(&mut *stream);
            match slices {
                [slice] => stream.poll_write(cx, slice),
                _ => stream.poll_write_vectored(cx, slices),
            }
        };
        write_parts(&self.framing, body, poll).await
    }

    /// Hands on what the stream holds back.
    pub async fn flush(&mut self) -> Result<(), CodecError> {
        Ok(poll_fn(|cx| Pin::new(&mut self.stream).poll_flush(cx)).await?)
    }

    /// Flushes and closes the stream for writing: the peer reads its end.
    pub async fn close(&mut self) -> Result<(), CodecError> {
        Ok(poll_fn(|cx| Pin::new(&mut self.stream).poll_close(cx)).await?)
    }

    /// The stream.
    pub fn into_inner(self) -> W {
        self.stream
    }
}

/// Bytes given to one read at most. yamux hands over no more than 16 KiB at a time by default.
const READ_STEP: usize = 16 * 1024;
