//! What the builders of all kinds share: where they put their fields, and the macro that gives each
//! its methods.

use bytes::{BufMut, Bytes};

use crate::proto::{self, WireType};
use crate::splice::{Splice, SpliceBuilder, Splices, SplicesBuilder};

/// Where a builder puts its fields: into a buffer, or into a sum of lengths.
pub(crate) trait Put {
    fn raw(&mut self, bytes: &[u8]);
    fn varint(&mut self, value: u64);

    /// A number, a truth value or an enumeration.
    fn uint(&mut self, number: u32, value: u64) {
        self.varint(proto::tag(number, WireType::Varint));
        self.varint(value);
    }

    /// A signed number.
    fn sint(&mut self, number: u32, value: i64) {
        self.uint(number, proto::zigzag_encode(value));
    }

    /// Bytes, text, or a message that is encoded already.
    fn bytes(&mut self, number: u32, value: &[u8]) {
        self.head(number, value.len());
        self.raw(value);
    }

    /// The bytes that a splice shares, the body, where there is one in a frame.
    fn body(&mut self, number: u32, value: &[u8]) {
        self.bytes(number, value);
    }

    /// What precedes `len` bytes of a field.
    fn head(&mut self, number: u32, len: usize) {
        self.varint(proto::tag(number, WireType::Len));
        self.varint(len as u64);
    }

    /// A message.
    fn message(&mut self, number: u32, message: &impl Encode)
    where
        Self: Sized,
    {
        self.head(number, measure(message));
        message.put(self);
    }
}

/// What can be put.
pub(crate) trait Encode {
    fn put(&self, out: &mut impl Put);
}

impl<B: BufMut> Put for B {
    fn raw(&mut self, bytes: &[u8]) {
        self.put_slice(bytes);
    }

    fn varint(&mut self, value: u64) {
        proto::put_varint(self, value);
    }
}

/// How many bytes `message` takes.
pub(crate) fn measure(message: &impl Encode) -> usize {
    let mut len = Len(0);
    message.put(&mut len);
    len.0
}

/// `message` in parts, around `body`: the bytes that it puts with [`Put::body`].
pub(crate) fn splice(message: &impl Encode, body: Bytes) -> Splice {
    let mut ends = SpliceBuilder::new();
    message.put(&mut ends);
    ends.build(body)
}

/// `message` in parts, around `bodies`: the bytes that it puts with [`Put::body`], in that order.
pub(crate) fn splices<'a>(
    message: &impl Encode,
    bodies: impl Iterator<Item = &'a Bytes> + Clone,
) -> Splices {
    let shared: usize = bodies.clone().map(Bytes::len).sum();
    let own = measure(message).saturating_sub(shared);
    let mut builder = SplicesBuilder::with_capacity(own, bodies.clone().count());
    message.put(&mut builder);
    builder.build(bodies.cloned())
}

impl Put for SplicesBuilder {
    fn raw(&mut self, bytes: &[u8]) {
        self.own().extend_from_slice(bytes);
    }

    fn varint(&mut self, value: u64) {
        proto::put_varint(self.own(), value);
    }

    fn body(&mut self, number: u32, value: &[u8]) {
        self.head(number, value.len());
        self.cut();
    }
}

impl Put for SpliceBuilder {
    fn raw(&mut self, bytes: &[u8]) {
        self.extend(bytes);
    }

    fn varint(&mut self, value: u64) {
        let (bytes, len) = proto::varint(value);
        self.extend(&bytes[..len]);
    }

    fn body(&mut self, number: u32, value: &[u8]) {
        self.head(number, value.len());
        self.end_head();
    }
}

struct Len(usize);

impl Put for Len {
    fn raw(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn varint(&mut self, value: u64) {
        self.0 += proto::varint_len(value);
    }
}

/// What every builder has, over its `Encode`. A view that is told more than the frame is built by a
/// method of its own.
macro_rules! builder {
    ($builder:ident, $view:ident) => {
        impl $builder<'_> {
            /// Writes the message and reads it back under [`Rules::STRICT`], so that what is built
            /// is what every node takes. Sub-messages are taken as they are.
            pub fn build(&self) -> Result<$view, Error> {
                $view::parse(self.to_vec().into())
            }
        }

        builder!($builder);
    };
    ($builder:ident) => {
        impl $builder<'_> {
            /// The message's bytes, unchecked by any rules.
            pub fn to_vec(&self) -> Vec<u8> {
                let mut out = Vec::with_capacity(self.encoded_len());
                self.encode(&mut out);
                out
            }

            /// Appends the message's bytes, [`encoded_len`](Self::encoded_len) of them.
            ///
            /// # Panics
            /// If `out` cannot grow and has no room; `Vec<u8>` and `BytesMut` grow.
            pub fn encode(&self, out: &mut impl bytes::BufMut) {
                crate::waku::put::Encode::put(self, out);
            }

            /// How many bytes [`encode`](Self::encode) appends.
            pub fn encoded_len(&self) -> usize {
                crate::waku::put::measure(self)
            }
        }
    };
}
pub(crate) use builder;
