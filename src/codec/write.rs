//! Frames into sockets, without copying what they share.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use tokio::io::AsyncWrite;

use crate::codec::{CodecError, Framing};

/// Writes one frame to a tokio socket. A large body goes from where it lies: the parts of a
/// [`Splice`](crate::splice::Splice) are handed over as several slices (`write_vectored`) until all
/// are written. Does not flush, which TCP sockets need not.
///
/// Dropped before it is done, it leaves a part of a frame in the stream, which is then of no more
/// use.
///
/// ```
/// use borrowire::codec::{LengthPrefixed, write_frame};
/// use borrowire::splice::Splice;
/// use bytes::Bytes;
///
/// async fn send(socket: &mut (impl tokio::io::AsyncWrite + Unpin), body: Bytes) {
///     let framing = LengthPrefixed::new(65_536);
///     write_frame(socket, &framing, Splice::new(b"head", body, b"tail")).await.unwrap();
/// }
/// ```
pub async fn write_frame<W: AsyncWrite + Unpin, F: Framing>(
    socket: &mut W,
    framing: &F,
    body: impl Buf + Clone,
) -> Result<(), CodecError> {
    let poll = |cx: &mut Context<'_>, slices: &[IoSlice<'_>]| {
        let socket = Pin::new(&mut *socket);
        match slices {
            [slice] => socket.poll_write(cx, slice),
            _ => socket.poll_write_vectored(cx, slices),
        }
    };
    write_parts(framing, body, poll).await
}

/// Writes the frame around `body` by calls of `poll`, which tells how much it took.
pub(super) async fn write_parts<F: Framing>(
    framing: &F,
    mut body: impl Buf + Clone,
    mut poll: impl FnMut(&mut Context<'_>, &[IoSlice<'_>]) -> Poll<io::Result<usize>>,
) -> Result<(), CodecError> {
    let ends = framing.ends(&body)?;
    // A slice of a few bytes costs a socket as much as a large one does.
    let mut small = [0; SMALL];
    let mut len = ends.head().len();
    small[..len].copy_from_slice(ends.head());
    while body.has_remaining() && body.chunk().len() <= SMALL - len {
        let part = body.chunk().len();
        small[len..len + part].copy_from_slice(body.chunk());
        body.advance(part);
        len += part;
    }
    let mut frame = (&small[..len]).chain(body).chain(ends.tail());
    poll_fn(|cx| {
        while frame.has_remaining() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = frame.chunks_vectored(&mut slices);
            match ready!(poll(cx, &slices[..count])) {
                Ok(0) => return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero))),
                Ok(written) => frame.advance(written),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    })
    .await?;
    Ok(())
}

/// Parts at the front of a frame that together are no longer than this are written as one.
const SMALL: usize = 512;
/// The gathered front, the body and tail of a splice, and the framing's tail; some room beyond.
const SLICES: usize = 8;
