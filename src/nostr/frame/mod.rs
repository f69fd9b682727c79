//! What the frames of both directions share: the label in front, the elements behind it, and the
//! peeks that look no further than they must.

mod elements;
mod peek;
mod read;
mod record;

pub use elements::{RawElements, RawFilter, RawFilters};
pub use peek::{peek_label, peek_sub_id};
pub(in crate::nostr) use read::Kind;
pub(in crate::nostr) use record::Record;

/// What the views of both directions share.
macro_rules! frame_view {
    ($View:ident, $kind_of:ident, $NEGS:ident) => {
        impl<B: Buffer> $View<B> {
            /// Reads a frame under [`Rules::STRICT`].
            pub fn parse(frame: B) -> Result<Self, Error> {
                Self::parse_with(frame, &Rules::STRICT)
            }

            /// Reads a frame: one JSON array, whole, with the elements that its label asks for.
            /// Elements behind them are passed over, and readable as [`extra`](Self::extra). Another
            /// label than those known is no error. Allocates nothing. Keeps the limits `frame` and
            /// `json_depth` of `rules`.
            ///
            /// Whitespace may stand anywhere between tokens; behind the frame any other byte is
            /// refused. Text that ends before the closing bracket, no byte at all included, is
            /// [`ErrorKind::Incomplete`](crate::ErrorKind::Incomplete); every other error is final.
            pub fn parse_with(frame: B, rules: &Rules) -> Result<Self, Error> {
                let record = Record::read(Source::from(frame), rules, $kind_of, &$NEGS)?;
                Ok(Self { record })
            }

            /// The label: the first element.
            pub fn label(&self) -> JsonStr<'_> {
                self.record.label()
            }

            /// The subscription id, where the kind has one: any string. Ask
            /// [`is_portable_sub_id`](crate::nostr::neg::is_portable_sub_id) before it goes to
            /// another relay.
            pub fn sub(&self) -> Option<JsonStr<'_>> {
                self.record.sub()
            }

            /// The event of EVENT and AUTH, read while the frame was; `None` where the kind has
            /// none. Errs if it is not an event; offsets are those in the frame.
            pub const fn event(&self) -> Option<Result<&EventView<B>, Error>> {
                self.record.event()
            }

            /// The event of EVENT and AUTH, and with it the frame's buffer.
            pub fn into_event(self) -> Option<Result<EventView<B>, Error>> {
                self.record.into_event()
            }

            /// All elements, the label first.
            pub fn elements(&self) -> RawElements<'_> {
                self.record.elements()
            }

            /// The elements behind those that the label asks for.
            pub fn extra(&self) -> RawElements<'_> {
                self.record.extra()
            }

            /// The frame, exactly as it was received.
            pub fn raw(&self) -> &[u8] {
                self.record.raw()
            }

            /// The frame's buffer.
            pub fn buffer(&self) -> &B {
                self.record.buffer()
            }

            /// The same frame in a buffer of its own, copied.
            #[must_use]
            pub fn detach(&self) -> $View {
                $View { record: self.record.detach() }
            }

            /// The same frame, borrowed.
            pub fn as_borrowed(&self) -> $View<&[u8]> {
                $View { record: self.record.borrowed() }
            }
        }

        impl $View {
            /// Reads a frame that was checked to be UTF-8 before, as WebSocket libraries do: the
            /// check is not made again.
            pub fn parse_text(frame: Text, rules: &Rules) -> Result<Self, Error> {
                let record = Record::read(Source::from(frame), rules, $kind_of, &$NEGS)?;
                Ok(Self { record })
            }
        }

        impl<'a> $View<&'a [u8]> {
            /// Reads a frame from a `str`, which is UTF-8: the check is not made again.
            pub fn parse_str(frame: &'a str, rules: &Rules) -> Result<Self, Error> {
                let record = Record::read(Source::from(frame), rules, $kind_of, &$NEGS)?;
                Ok(Self { record })
            }
        }

        impl TryFrom<Bytes> for $View {
            type Error = Error;

            fn try_from(frame: Bytes) -> Result<Self, Error> {
                Self::parse(frame)
            }
        }

        impl<'a> TryFrom<&'a [u8]> for $View<&'a [u8]> {
            type Error = Error;

            fn try_from(frame: &'a [u8]) -> Result<Self, Error> {
                Self::parse(frame)
            }
        }

        impl<B: Buffer> Eq for $View<B> {}

        /// Frames are equal if the elements that their label asks for are, however they are spelled;
        /// filters, bad events and the objects of COUNT and LIMITS are compared as text.
        impl<B: Buffer, C: Buffer> PartialEq<$View<C>> for $View<B> {
            fn eq(&self, other: &$View<C>) -> bool {
                self.record.same(&other.record)
            }
        }

        impl<B: Buffer> fmt::Debug for $View<B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.message(), f)
            }
        }
    };
}
pub(super) use frame_view;

/// What the writers of both directions share.
macro_rules! frame_writer {
    ($Frame:ident, |$this:ident| $elements:expr) => {
        impl $Frame<'_> {
            /// The exact length of the frame in bytes.
            pub fn encoded_len(&self) -> usize {
                self.frame().encoded_len()
            }

            /// Appends the frame to `out`.
            pub fn write<O: Output>(&self, out: &mut O) {
                self.frame().write(out);
            }

            /// Appends the frame to `out` under a masking key, as clients send it over WebSocket.
            pub fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
                self.frame().write_masked(out, key);
            }

            #[inline(always)]
            fn frame(&self) -> FrameWriter<impl Elements> {
                let $this = self;
                FrameWriter::new($elements)
            }
        }
    };
}
pub(super) use frame_writer;
