//! The id of an event, from the bytes of the wire.
//!
//! ```text
//! SHA-256 of [0,"pubkey",created_at,kind,tags,"content"]
//! ```
//!
//! UTF-8, no whitespace. Source: NIP-01. Of 1,262 real events tried, all were spelled on the wire as
//! they are hashed, so their slices are hashed where they lie; the text of any other event goes
//! through the hash in pieces. The array is never built.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::buffer::Buffer;
use crate::counters;
use crate::json::JsonStr;
use crate::json::string::Escapes;
use crate::nostr::event::EventView;
use crate::sha256;

/// How the characters of a string are escaped when an event is hashed. Deployed implementations
/// disagree about control characters and DEL; the network signs [`Json`](Self::Json).
///
/// ```text
/// character            json     nip01-literal  tao      jackson
/// " \ \b \f \n \r \t   two-character escapes in all
/// U+0001               \u0001   raw            \u0001   \u0001
/// U+001F               \u001f   raw            \u001f   \u001F
/// U+007F               raw      raw            \u007f   raw
/// all others           raw in all
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// As `JSON.stringify`, serde_json, rust-nostr and nostr-rs-relay escape.
    Json,
    /// As NIP-01 says to the letter, and nostrdb does.
    Nip01Literal,
    /// As strfry's JSON library, tao, escapes.
    Tao,
    /// As Quartz (Amethyst) does through Jackson.
    Jackson,
}

impl Dialect {
    /// All of them, the network's first.
    pub const ALL: [Self; 4] = [Self::Json, Self::Nip01Literal, Self::Tao, Self::Jackson];

    /// The name, in kebab case: `json`, `nip01-literal`, `tao`, `jackson`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Nip01Literal => "nip01-literal",
            Self::Tao => "tao",
            Self::Jackson => "jackson",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The id that an event claims beside the one that its text has. See [`EventView::check_id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdCheck {
    /// The id in the event.
    pub claimed: [u8; 32],
    /// The id of the event's text, escaped as the network does.
    pub computed: [u8; 32],
    /// The dialect by which the text has the claimed id: [`Dialect::Json`] if the claim is right,
    /// another if the event was made by one who escapes otherwise, `None` if the claim is wrong.
    pub dialect: Option<Dialect>,
}

impl IdCheck {
    /// Whether the claim is right.
    pub fn is_match(&self) -> bool {
        self.claimed == self.computed
    }
}

/// The ids of many events, computed two at a time where they are not known yet, which takes little
/// more than half of the time of one after the other on processors with SHA extensions. Each event
/// keeps its id, as after [`EventView::computed_id`]; `deliver` gets it with the number of its
/// event, not always in order. Allocates nothing.
///
/// ```
/// use borrowire::nostr::event::{EventView, event_ids};
///
/// # let event = format!(
/// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"tags":[],"content":"","sig":"{0}{0}"}}"#,
/// #     "0".repeat(64)
/// # );
/// let events = [EventView::parse(event.as_bytes())?, EventView::parse(event.as_bytes())?];
/// event_ids(&events, |i, id| assert_eq!(id, events[i].computed_id()));
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn event_ids<B: Buffer>(events: &[EventView<B>], mut deliver: impl FnMut(usize, &[u8; 32])) {
    let messages = events.iter().map(|event| match (event.known_id(), event.is_canonical()) {
        (None, true) => {
            let head = Head::of(event);
            counters::hash(event.hashed_len());
            pieces(Piece::Head(head), event)
        }
        // Keeps the numbers in step, for the price of one block.
        _ => [Piece::Slice(&[]); 5],
    });
    sha256::digest_many(messages, |i, digest| {
        let event = &events[i];
        if event.is_canonical() {
            event.keep_id(digest);
        }
        deliver(i, event.computed_id());
    });
}

/// The id of an event whose text is spelled as it is hashed.
pub(super) fn of_canonical<B: Buffer>(event: &EventView<B>) -> [u8; 32] {
    let head = Head::of(event);
    counters::hash(event.hashed_len());
    sha256::digest(&pieces(Piece::Head(head), event).each_ref().map(AsRef::as_ref))
}

/// The id of any event by any dialect; the slow twin of [`of_canonical`].
pub(super) fn by_dialect<B: Buffer>(event: &EventView<B>, dialect: Dialect) -> [u8; 32] {
    counters::hash(event.hashed_len());
    let mut hasher = Sha256::new();
    hasher.update(Head::of(event).as_ref());
    hasher.update("[");
    for (i, tag) in event.tags().enumerate() {
        hasher.update(if i == 0 { "[" } else { ",[" });
        for (i, element) in tag.enumerate() {
            hasher.update(if i == 0 { "\"" } else { ",\"" });
            hash_string(&element, dialect, &mut hasher);
            hasher.update("\"");
        }
        hasher.update("]");
    }
    hasher.update("],\"");
    hash_string(&event.content(), dialect, &mut hasher);
    hasher.update("\"]");
    hasher.finalize().into()
}

fn hash_string(text: &JsonStr<'_>, dialect: Dialect, hasher: &mut Sha256) {
    if dialect == Dialect::Json && text.escapes() <= Escapes::Canonical {
        hasher.update(text.raw());
        return;
    }
    for (run, escaped) in text.pieces() {
        // DEL needs no escape in JSON, so it may stand in a run.
        for (i, run) in run.split('\u{7f}').enumerate() {
            if i > 0 {
                hash_char('\u{7f}', dialect, hasher);
            }
            hasher.update(run);
        }
        if let Some(char) = escaped {
            hash_char(char, dialect, hasher);
        }
    }
}

fn hash_char(char: char, dialect: Dialect, hasher: &mut Sha256) {
    let mut buffer = [0; 4];
    let escape = match (char, dialect) {
        ('"', _) => "\\\"",
        ('\\', _) => "\\\\",
        ('\x08', _) => "\\b",
        ('\x0c', _) => "\\f",
        ('\n', _) => "\\n",
        ('\r', _) => "\\r",
        ('\t', _) => "\\t",
        ('\0'..='\x1f', Dialect::Json | Dialect::Tao) | ('\x7f', Dialect::Tao) => {
            return hasher.update(format_escape(char, b"0123456789abcdef"));
        }
        ('\0'..='\x1f', Dialect::Jackson) => {
            return hasher.update(format_escape(char, b"0123456789ABCDEF"));
        }
        _ => char.encode_utf8(&mut buffer),
    };
    hasher.update(escape);
}

/// `\u00XX` for a character below U+0080.
fn format_escape(char: char, digits: &[u8; 16]) -> [u8; 6] {
    let digit = |value: u32| digits[value as usize & 15];
    let code = u32::from(char);
    [b'\\', b'u', b'0', b'0', digit(code >> 4), digit(code)]
}

/// What is hashed of a canonical event, in order.
fn pieces<'a, B: Buffer>(head: Piece<'a>, event: &'a EventView<B>) -> [Piece<'a>; 5] {
    let slice = |text: &'a str| Piece::Slice(text.as_bytes());
    let content = event.content().raw();
    [head, slice(event.raw_tags()), slice(",\""), slice(content), slice("\"]")]
}

/// A piece of what is hashed.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Head(Head),
    Slice(&'a [u8]),
}

impl AsRef<[u8]> for Piece<'_> {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Head(head) => head.as_ref(),
            Self::Slice(slice) => slice,
        }
    }
}

/// `[0,"pubkey",created_at,kind,`
#[derive(Clone, Copy)]
struct Head {
    bytes: [u8; MAX_HEAD_LEN],
    len: usize,
}

impl Head {
    fn of<B: Buffer>(event: &EventView<B>) -> Self {
        let mut bytes = [0; MAX_HEAD_LEN];
        bytes[..4].copy_from_slice(b"[0,\"");
        bytes[4..68].copy_from_slice(event.pubkey_hex().as_bytes());
        // On the wire it may be in uppercase.
        bytes[4..68].make_ascii_lowercase();
        let mut len = 68;
        let (created_at, kind) = event.raw_numbers();
        for part in ["\",", created_at, ",", kind, ","] {
            bytes[len..len + part.len()].copy_from_slice(part.as_bytes());
            len += part.len();
        }
        Self { bytes, len }
    }
}

impl AsRef<[u8]> for Head {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The head with the largest numbers.
const MAX_HEAD_LEN: usize = r#"[0,"","#.len() + 64 + "18446744073709551615,65535,".len();
