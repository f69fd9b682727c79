//! Frames out of streams of bytes and into them, for tokio and for futures.
//!
//! | | tells frames apart by |
//! |---|---|
//! | [`LengthPrefixed`] | a varint in front of each: every Waku protocol over libp2p but gossip |
//! | [`JsonLines`] | a line break behind each: newline-separated JSON |
//!
//! Both are a [`Framing`], which needs no runtime, and a tokio-util `Decoder` and `Encoder`.
//! [`FrameReader`] and [`FrameWriter`] do the same over the traits of futures, which libp2p's
//! streams implement; [`write_frame`] writes one frame to a tokio socket. [`Views`] reads each
//! frame as a view.
//!
//! - A frame is a share of the read buffer, not a copy. It keeps alive the buffer, of
//!   [`READ_BUFFER`] bytes, or, where it is larger, itself alone.
//! - The constructor takes the longest frame allowed; there is no default. A longer one is refused
//!   as soon as it shows and before anything is reserved, and what the codec holds at any moment is
//!   at most that maximum and one read buffer. [`Protocol`] knows the limits of Waku.
//! - A frame that has not arrived whole is no error, only `Ok(None)`. Every error is final: what
//!   follows it in the stream has no meaning.
//!
//! ```
//! use borrowire::codec::{LengthPrefixed, Protocol};
//! use borrowire::waku::lightpush::RequestView;
//! use bytes::BytesMut;
//! use tokio_util::codec::Decoder;
//!
//! let mut codec = LengthPrefixed::new(Protocol::LIGHTPUSH.max_request);
//! let mut received = BytesMut::from(&b"\x10\x0a\x01r\xa2\x01\x01t\xaa\x01\x06"[..]);
//! assert!(codec.decode(&mut received)?.is_none()); // ten bytes of sixteen
//! received.extend_from_slice(b"\x0a\x01\x01\x12\x01a");
//! let request = RequestView::parse(codec.decode(&mut received)?.unwrap())?;
//! assert_eq!(request.message()?.content_topic(), Some("a"));
//! # Ok::<(), borrowire::codec::CodecError>(())
//! ```

use std::fmt;
use std::io;
use std::marker::PhantomData;

use bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec::Decoder;

pub use self::length::LengthPrefixed;
pub use self::lines::JsonLines;
pub use self::protocol::Protocol;
pub use self::room::READ_BUFFER;
pub use self::stream::{FrameReader, FrameWriter};
pub use self::write::write_frame;
use crate::error::Error;

mod length;
mod lines;
mod protocol;
mod room;
mod stream;
mod write;

/// How frames are told apart in a stream of bytes, without any runtime.
///
/// Sealed: [`LengthPrefixed`] and [`JsonLines`].
pub trait Framing: sealed::Sealed {
    /// Takes the next frame off the front of `buffer`, `Ok(None)` if it is not there whole.
    ///
    /// `Ok(None)` leaves room behind the bytes of `buffer`, at least one byte, to read more into.
    /// After an error `buffer` is as it was, and the same call gives the same error.
    fn take(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Error>;

    /// The same where nothing more will come: what is left is a last frame, or nothing, or errs.
    fn take_last(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Error>;

    /// The bytes that stand in front of `body` and behind it when it is sent. Errs if it is too long
    /// or could not be told apart again.
    fn ends(&self, body: &(impl Buf + Clone)) -> Result<Ends, Error>
    where
        Self: Sized;
}

/// What stands around the body of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    head: [u8; 10],
    head_len: u8,
    tail: &'static [u8],
}

impl Ends {
    /// The bytes in front.
    pub fn head(&self) -> &[u8] {
        &self.head[..self.head_len.into()]
    }

    /// The bytes behind.
    pub fn tail(&self) -> &'static [u8] {
        self.tail
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::LengthPrefixed {}
    impl Sealed for super::JsonLines {}
}

/// Why a stream ended before its time: it failed, or what it brought was refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum CodecError {
    /// The socket failed.
    Io(io::Error),
    /// A frame was refused. Offsets count from the frame's first byte, its prefix included.
    Frame(Error),
}

impl CodecError {
    /// What was wrong with the frame; `None` if it was the socket.
    pub fn frame(&self) -> Option<&Error> {
        match self {
            Self::Frame(error) => Some(error),
            Self::Io(_) => None,
        }
    }
}

impl From<io::Error> for CodecError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for CodecError {
    fn from(error: Error) -> Self {
        Self::Frame(error)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Frame(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => error.source(),
            Self::Frame(_) => None,
        }
    }
}

/// Reads each frame as a view. A frame that the view refuses is an item too, so the stream goes on
/// behind it: what is inside of a frame does not hurt the framing.
///
/// ```
/// use borrowire::codec::{LengthPrefixed, Views};
/// use borrowire::waku::MessageView;
/// use bytes::BytesMut;
/// use tokio_util::codec::Decoder;
///
/// let mut codec = Views::<MessageView>::new(LengthPrefixed::new(153_600));
/// let mut received = BytesMut::from(&b"\x02ab\x06\x0a\x01\x01\x12\x01a"[..]);
/// assert!(codec.decode(&mut received)?.unwrap().is_err());
/// assert_eq!(codec.decode(&mut received)?.unwrap()?.payload(), [1]);
/// assert!(codec.decode(&mut received)?.is_none());
/// # Ok::<(), borrowire::codec::CodecError>(())
/// ```
pub struct Views<V, F = LengthPrefixed> {
    framing: F,
    view: PhantomData<fn() -> V>,
}

impl<V, F: Framing> Views<V, F> {
    /// Views of the frames that `framing` finds.
    pub const fn new(framing: F) -> Self {
        Self { framing, view: PhantomData }
    }

    /// How frames are told apart.
    pub const fn framing(&self) -> &F {
        &self.framing
    }
}

impl<V: TryFrom<Bytes, Error = Error>, F: Framing> Decoder for Views<V, F> {
    type Item = Result<V, Error>;
    type Error = CodecError;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Self::Item>, CodecError> {
        Ok(self.framing.take(buffer)?.map(V::try_from))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Self::Item>, CodecError> {
        Ok(self.framing.take_last(buffer)?.map(V::try_from))
    }
}

impl<V, F: Clone> Clone for Views<V, F> {
    fn clone(&self) -> Self {
        Self { framing: self.framing.clone(), view: PhantomData }
    }
}

impl<V, F: fmt::Debug> fmt::Debug for Views<V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Views").field(&self.framing).finish()
    }
}
