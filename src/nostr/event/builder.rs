//! Makes events: the JSON of one, its id, and a signature around it.
//!
//! ```text
//! {"id":"…","pubkey":"…","created_at":1,"kind":1,"tags":[["t","x"]],"content":"…","sig":"…"}
//!
//! id  SHA-256 of [0,"pubkey",created_at,kind,tags,"content"], compact, escaped as serde_json and
//!     JSON.stringify do (NIP-01; what the network signs)
//! ```
//!
//! The event is written once. What its id is made of then lies in the output, already spelled as it
//! must be hashed: the digest is taken from there, and put into the place kept for it.

use std::io;

use sha2::{Digest, Sha256};

use crate::counters;
use crate::hex::{self, Hex};
use crate::json::{put_value, value_len};
#[cfg(feature = "verify")]
use crate::nostr::event::Keys;
use crate::output::{Full, Mask, Output, Room, append};
use crate::sha256::digest;

/// Writes an event; borrows what it writes. Who signs is said at the end, so that the public key
/// in the event is the signer's.
///
/// The bytes are those of serde_json, for a struct with the fields in the order of NIP-01.
///
/// ```
/// use borrowire::nostr::event::EventBuilder;
///
/// let event = EventBuilder::new(1, 1_700_000_000)
///     .tags(&[["t", "nostr"], ["e", "5c83da77"]])
///     .content("Hello,\n\"world\"");
/// let mut out = Vec::new();
/// let id = event.write(&mut out, &[0x11; 32], |_id| [0x22; 64]);
///
/// assert_eq!(out.len(), event.encoded_len());
/// assert_eq!(id, event.id(&[0x11; 32]));
/// let text = String::from_utf8(out)?;
/// assert!(text.ends_with(&format!(r#""content":"Hello,\n\"world\"","sig":"{}"}}"#, "22".repeat(64))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct EventBuilder<'a, T = &'a [&'a str]> {
    kind: u16,
    created_at: u64,
    tags: &'a [T],
    content: &'a str,
}

impl<'a> EventBuilder<'a> {
    /// An event of `kind`, with no tag and no content, made `created_at` seconds after the Unix
    /// epoch.
    pub const fn new(kind: u16, created_at: u64) -> Self {
        Self { kind, created_at, tags: &[], content: "" }
    }
}

impl<'a, T: TagElements> EventBuilder<'a, T> {
    /// Sets the tags: a slice of slices, arrays or vectors of strings. A tag may have any number
    /// of elements, also none.
    pub fn tags<U: TagElements>(self, tags: &'a [U]) -> EventBuilder<'a, U> {
        let Self { kind, created_at, content, tags: _ } = self;
        EventBuilder { kind, created_at, tags, content }
    }

    /// Sets the content.
    pub fn content(mut self, content: &'a str) -> Self {
        self.content = content;
        self
    }

    /// The exact length of the event in bytes.
    pub fn encoded_len(&self) -> usize {
        let tags: usize = self.tags.iter().map(tag_len).sum();
        FIXED_LEN
            + value_len(self.created_at)
            + value_len(u64::from(self.kind))
            + "[]".len()
            + with_commas(tags, self.tags.len())
            + value_len(self.content)
    }

    /// The id that the event has if the owner of `pubkey` signs it. For signers elsewhere: ask for
    /// the id, have it signed, and give the signature to [`write`](Self::write).
    pub fn id(&self, pubkey: &[u8; 32]) -> [u8; 32] {
        let mut hasher = Hasher { state: Sha256::new(), len: 0 };
        // A string fails to be written only where the writer fails, and a hasher does not.
        self.hash_into(pubkey, &mut hasher).expect("a hasher that takes everything");
        counters::hash(hasher.len);
        hasher.state.finalize().into()
    }

    /// Appends the event to `out`, and returns its id. `sign` is given the id, and returns the
    /// signature: 64 bytes of BIP-340.
    ///
    /// # Panics
    /// If `sign` does, or if a tag has other elements when it is asked for the second time. `out`
    /// then has the bytes that it had.
    pub fn write<O: Output>(
        &self,
        out: &mut O,
        pubkey: &[u8; 32],
        sign: impl FnOnce(&[u8; 32]) -> [u8; 64],
    ) -> [u8; 32] {
        out.reserve(self.encoded_len());
        append(out, Mask::NONE, |room| {
            let hashed = self.put_unsigned(pubkey, room)?;
            let id = hashed.digest(room.written());
            hex::encode(&id, &mut room.written_mut()[ID_AT..][..2 * id.len()]);
            room.put_slice(b",\"sig\":")?;
            put_value(Hex(&sign(&id)), room)?;
            room.put_byte(b'}')?;
            Ok(id)
        })
        .expect("the room that was reserved")
    }

    /// Appends the event to `out`, signed with `keys`, and returns its id.
    ///
    /// The signature is deterministic: the same event and keys give the same bytes.
    ///
    /// ```
    /// use borrowire::nostr::event::{EventBuilder, Keys, verify_signature};
    ///
    /// let keys = Keys::from_secret(&[7; 32])?;
    /// let mut out = Vec::new();
    /// let id = EventBuilder::new(1, 1_700_000_000).content("signed").write_signed(&mut out, &keys);
    ///
    /// verify_signature(&id, keys.public_key(), &keys.sign(&id))?;
    /// # Ok::<(), borrowire::Error>(())
    /// ```
    #[cfg(feature = "verify")]
    #[cfg_attr(docsrs, doc(cfg(feature = "verify")))]
    pub fn write_signed<O: Output>(&self, out: &mut O, keys: &Keys) -> [u8; 32] {
        self.write(out, keys.public_key(), |id| keys.sign(id))
    }

    /// Writes the event up to its signature, with zeros for an id.
    fn put_unsigned(&self, pubkey: &[u8; 32], room: &mut Room<'_>) -> Result<Hashed, Full> {
        room.put_slice(b"{\"id\":")?;
        put_value(Hex(&[0; 32]), room)?;
        let pubkey = put_field(b",\"pubkey\":", room, |room| put_value(Hex(pubkey), room))?;
        let created_at =
            put_field(b",\"created_at\":", room, |room| put_value(self.created_at, room))?;
        let kind = put_field(b",\"kind\":", room, |room| put_value(u64::from(self.kind), room))?;
        let tags = put_field(b",\"tags\":", room, |room| {
            put_array(self.tags, room, |tag, room| {
                put_array(tag.elements(), room, |element, room| put_value(element.as_ref(), room))
            })
        })?;
        let content = put_field(b",\"content\":", room, |room| put_value(self.content, room))?;
        Ok(Hashed { fields: [pubkey, created_at, kind, tags, content] })
    }

    /// The slow twin of [`Hashed::digest`]: spells the array piece by piece.
    fn hash_into(&self, pubkey: &[u8; 32], out: &mut Hasher) -> io::Result<()> {
        use io::Write;

        write!(out, "[0,\"{}\",{},{},[", Hex(pubkey), self.created_at, self.kind)?;
        for (i, tag) in self.tags.iter().enumerate() {
            out.write_all(if i == 0 { b"[" } else { b",[" })?;
            for (i, element) in tag.elements().iter().enumerate() {
                out.write_all(if i == 0 { b"" } else { b"," })?;
                serde_json::to_writer(&mut *out, element.as_ref())?;
            }
            out.write_all(b"]")?;
        }
        out.write_all(b"],")?;
        serde_json::to_writer(&mut *out, self.content)?;
        out.write_all(b"]")
    }
}

/// A tag to be written: its elements, in order.
///
/// ```
/// use borrowire::nostr::event::EventBuilder;
///
/// let mixed: [&[&str]; 2] = [&["t", "nostr"], &["-"]];
/// let owned = vec![vec!["t".to_owned(), "nostr".to_owned()], vec!["-".to_owned()]];
/// let event = EventBuilder::new(1, 0);
/// assert_eq!(event.tags(&mixed).id(&[0; 32]), event.tags(&owned).id(&[0; 32]));
/// ```
pub trait TagElements {
    /// A string.
    type Element: AsRef<str>;

    /// The elements.
    fn elements(&self) -> &[Self::Element];
}

impl<E: AsRef<str>> TagElements for [E] {
    type Element = E;

    fn elements(&self) -> &[E] {
        self
    }
}

impl<E: AsRef<str>, const N: usize> TagElements for [E; N] {
    type Element = E;

    fn elements(&self) -> &[E] {
        self
    }
}

impl<E: AsRef<str>> TagElements for Vec<E> {
    type Element = E;

    fn elements(&self) -> &[E] {
        self
    }
}

impl<T: TagElements + ?Sized> TagElements for &T {
    type Element = T::Element;

    fn elements(&self) -> &[T::Element] {
        (**self).elements()
    }
}

/// Where in the written event its id is made of: the values of the five fields.
struct Hashed {
    fields: [Field; 5],
}

impl Hashed {
    /// The id of the event that was `written`.
    fn digest(&self, written: &[u8]) -> [u8; 32] {
        let [pubkey, created_at, kind, tags, content] =
            self.fields.map(|field| &written[field.start..field.end]);
        // Behind each of the first four, the comma before the next key is a comma here as well.
        let fields = &self.fields[..4];
        debug_assert!(fields.iter().all(|field| written[field.end] == b','));
        let parts = [b"[0,", pubkey, b",", created_at, b",", kind, b",", tags, b",", content, b"]"];
        counters::hash(parts.iter().map(|part| part.len()).sum());
        digest(&parts)
    }
}

/// Where a value begins and ends.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
}

fn put_field(
    key: &[u8],
    room: &mut Room<'_>,
    put: impl FnOnce(&mut Room<'_>) -> Result<(), Full>,
) -> Result<Field, Full> {
    room.put_slice(key)?;
    let start = room.filled();
    put(room)?;
    Ok(Field { start, end: room.filled() })
}

fn put_array<T>(
    values: &[T],
    room: &mut Room<'_>,
    put: impl Fn(&T, &mut Room<'_>) -> Result<(), Full>,
) -> Result<(), Full> {
    room.put_byte(b'[')?;
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            room.put_byte(b',')?;
        }
        put(value, room)?;
    }
    room.put_byte(b']')
}

fn tag_len(tag: &impl TagElements) -> usize {
    let elements = tag.elements();
    let texts = elements.iter().map(|element| value_len(element.as_ref())).sum();
    "[]".len() + with_commas(texts, elements.len())
}

/// The length of `count` values of `len` bytes in all, with commas between them.
const fn with_commas(len: usize, count: usize) -> usize {
    len + count.saturating_sub(1)
}

/// SHA-256 as something to write to.
struct Hasher {
    state: Sha256,
    len: usize,
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.state.update(bytes);
        self.len += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where the digits of the id begin.
const ID_AT: usize = "{\"id\":\"".len();

/// What is left when numbers, tags and content are taken away.
const FIXED_LEN: usize =
    r#"{"id":"","pubkey":"","created_at":,"kind":,"tags":,"content":,"sig":""}"#.len()
        + 2 * (32 + 32 + 64);

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;
    use serde::ser::{Serialize, SerializeStruct, Serializer};

    use super::*;

    #[test]
    fn every_code_point_of_two_bytes_and_the_last_ones() {
        let edges = [0x2028, 0x2029, 0xd7ff, 0xe000, 0xfeff, 0xffff, 0x1_0000, 0x1_f600, 0x10_ffff];
        for point in (0..0x800).chain(edges).filter_map(char::from_u32) {
            let [alone, first, last] = [
                point.to_string(),
                format!("{point}{}", "a".repeat(40)),
                format!("{}{point}", "a".repeat(40)),
            ];
            assert_event(1, 1, &[vec![&*alone]], &first);
            assert_event(1, 1, &[vec!["t", &last], vec![&first]], &alone);
        }
    }

    #[test]
    fn tags_of_every_shape() {
        let none: [Vec<&str>; 0] = [];
        assert_event(0, 0, &none, "");
        assert_event(65_535, u64::MAX, &[vec![], vec![""], vec!["-"]], "\"\\\n");
        assert_event(1, 1_700_000_000, &[vec!["e", "x", "", "reply"], vec![], vec!["p", "\0"]], "");
        let long = vec![vec!["p", "f".repeat(64).leak()]; 1000];
        assert_event(3, 999_999_999, &long, "{\"wss://relay.example\":{\"read\":true}}");
    }

    #[test]
    fn ids_that_another_program_computed() {
        // A Python script, from the fields alone.
        let no_tags: &[&[&str]] = &[];
        for (created_at, tags, content, expected) in [
            (
                1_700_000_000,
                no_tags,
                "hi",
                "33c758466a465ce9df004b6d6e3abb039d593277784c276c49725a622794eca0",
            ),
            (
                1_700_000_000,
                no_tags,
                "a\nb\rc\td\"e\\f",
                "b1999710119c0da9820247f0f5ab22a590efc3d810e79936fc982749c9deaae5",
            ),
            (
                1_700_000_000,
                no_tags,
                "a\u{8}b\u{c}c",
                "30d34ba5fe05bdeaf90beabf54e9460f4e14923f3bfa32ae5c65bbf464a26888",
            ),
            (
                1_700_000_000,
                no_tags,
                "\u{1f600}",
                "4f41aba7a710e86a7eb80f7f6da9afae67f15da9cf7c5a0fc361876ced34b69d",
            ),
            (
                1_700_000_000,
                &[&[]],
                "hi",
                "2bea3794bd04778f9af78828947549e7e6a56112e2a5bb9081a627fbb9073865",
            ),
            (
                9_007_199_254_740_993,
                no_tags,
                "hi",
                "5791c6ab075cdab84b9bceaf6135ad195aee539d23d9346b7bd8d6b68e12ae47",
            ),
        ] {
            let event = EventBuilder::new(1, created_at).tags(tags).content(content);
            let mut pubkey = [0; 32];
            let hex = b"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
            hex::decode(hex, &mut pubkey, hex::Case::Lower, "pubkey").unwrap();
            assert_eq!(Hex(&event.id(&pubkey)).to_string(), expected);
        }
    }

    #[test]
    fn a_buffer_grows_once_and_exactly() {
        let event = EventBuilder::new(1, 1).tags(&[["a", "\0"], ["b", "\n"]]).content("\"\u{1f}é");
        let mut out = Vec::new();
        event.write(&mut out, &[0; 32], |_| [0; 64]);
        assert_eq!((out.len(), out.capacity()), (event.encoded_len(), event.encoded_len()));
    }

    #[test]
    fn what_was_there_stays_when_the_signer_panics() {
        let mut out = b"before".to_vec();
        let write = std::panic::AssertUnwindSafe(|| {
            EventBuilder::new(1, 1).write(&mut out, &[0; 32], |_| panic!("no signature today"));
        });
        assert!(std::panic::catch_unwind(write).is_err());
        assert_eq!(out, b"before");
    }

    proptest! {
        #[test]
        fn events_are_those_of_serde_json(
            kind: u16,
            created_at: u64,
            tags in proptest::collection::vec(proptest::collection::vec(any::<String>(), 0..5), 0..5),
            dense in "[a\"\\\\\u{0}-\u{20}\u{7f}\u{e9}]{0,200}",
            content: String,
        ) {
            let mut tags: Vec<Vec<&str>> =
                tags.iter().map(|tag| tag.iter().map(String::as_str).collect()).collect();
            assert_event(kind, created_at, &tags, &content);
            tags.push(vec!["description", &dense]);
            assert_event(kind, created_at, &tags, &dense);
        }
    }

    /// The event against its slow twins: serde_json, given the same fields, and sha2.
    #[track_caller]
    fn assert_event(kind: u16, created_at: u64, tags: &[Vec<&str>], content: &str) {
        let [pubkey, sig] = [[0x1f; 64], [0xe2; 64]];
        let pubkey: &[u8; 32] = pubkey.first_chunk().unwrap();
        let twin = Twin { pubkey, kind, created_at, tags, content, sig: &sig };
        let expected = serde_json::to_vec(&twin).unwrap();

        let event = EventBuilder::new(kind, created_at).tags(tags).content(content);
        let mut vec = b"before".to_vec();
        let mut signed = None;
        let id = event.write(&mut vec, pubkey, |id| {
            signed = Some(*id);
            sig
        });
        assert_eq!(&vec[6..], expected, "{}", String::from_utf8_lossy(&vec));
        let mut bytes = BytesMut::from(&b"before"[..]);
        event.write(&mut bytes, pubkey, |_| sig);
        assert_eq!(bytes[6..], expected);
        assert_eq!(event.encoded_len(), expected.len());
        assert_eq!((id, signed), (twin.id(), Some(id)));
        assert_eq!(event.id(pubkey), id);
    }

    struct Twin<'a> {
        pubkey: &'a [u8; 32],
        kind: u16,
        created_at: u64,
        tags: &'a [Vec<&'a str>],
        content: &'a str,
        sig: &'a [u8; 64],
    }

    impl Twin<'_> {
        fn id(&self) -> [u8; 32] {
            let pubkey = const_hex::encode(self.pubkey);
            let hashed = (0, pubkey, self.created_at, self.kind, self.tags, self.content);
            Sha256::digest(serde_json::to_vec(&hashed).unwrap()).into()
        }
    }

    impl Serialize for Twin<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut event = serializer.serialize_struct("Event", 7)?;
            event.serialize_field("id", &const_hex::encode(self.id()))?;
            event.serialize_field("pubkey", &const_hex::encode(self.pubkey))?;
            event.serialize_field("created_at", &self.created_at)?;
            event.serialize_field("kind", &self.kind)?;
            event.serialize_field("tags", self.tags)?;
            event.serialize_field("content", self.content)?;
            event.serialize_field("sig", &const_hex::encode(self.sig))?;
            event.end()
        }
    }
}
