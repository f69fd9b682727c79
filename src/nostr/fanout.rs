//! One event to many subscriptions: the frames `["EVENT", sub, event]` around the received bytes.
//!
//! ```text
//! head (own)        body (shared)    tail
//! ["EVENT","sub",   {"id":"…",…}     ]
//! ```
//!
//! | what the socket takes | | copies of the event |
//! |---|---|---|
//! | several slices at once | [`EventFanout::splice`] | none |
//! | one slice, borrowed | [`EventFrames::frame`] | one, however many subscriptions |
//! | one buffer, owned | [`EventFanout::to_bytes`] | one a frame |
//! | one slice, masked | [`EventFanout::write_masked`] | one a frame |
//!
//! A client that publishes one event to many relays writes [`client::Event`](super::client::Event)
//! under the key of each.

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::counters;
use crate::json::{is_clean, value_len};
use crate::nostr::event::EventView;
use crate::output::{Mask, Output, append};
use crate::splice::{Headroom, Splice};

/// One event that goes to many subscriptions. Holds a share of the buffer that the event was
/// received in; cloning counts a reference.
///
/// ```
/// use borrowire::nostr::event::EventView;
/// use borrowire::nostr::fanout::EventFanout;
/// use bytes::Bytes;
///
/// # let event = format!(
/// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"content":"","sig":"{0}{0}","tags":[]}}"#,
/// #     "0".repeat(64)
/// # );
/// let received = Bytes::from(event);
/// let fanout = EventFanout::new(&EventView::parse(received.clone())?);
/// for sub in ["a", "b\"c"] {
///     let frame = fanout.splice(sub); // a `Buf` for vectored writes
///     assert_eq!(frame.body().as_ptr(), received.as_ptr());
///     assert_eq!(frame.head(), format!(r#"["EVENT",{sub:?},"#).as_bytes());
/// }
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventFanout {
    event: Bytes,
}

impl EventFanout {
    /// Frames around the bytes of `event`, exactly as it was received.
    pub fn new(event: &EventView) -> Self {
        Self { event: event.raw_bytes() }
    }

    /// The event's bytes: a share of the buffer that it was received in.
    pub const fn event(&self) -> &Bytes {
        &self.event
    }

    /// The frame for one subscription, as a [`Buf`](bytes::Buf) of three slices. Copies the head
    /// alone, and allocates nothing for subscription ids of up to 66 bytes.
    #[inline]
    pub fn splice(&self, sub: &str) -> Splice {
        Splice::new(Head::of(sub).bytes(), self.event.clone(), TAIL)
    }

    /// The exact length in bytes of the frame for one subscription.
    pub fn encoded_len(&self, sub: &str) -> usize {
        head_len(sub) + self.event.len() + TAIL.len()
    }

    /// The frame for one subscription in a buffer of its own, the event copied into it.
    pub fn to_bytes(&self, sub: &str) -> Bytes {
        let mut out = Vec::new();
        self.write(sub, &mut out);
        out.into()
    }

    /// Appends the frame for one subscription to `out`.
    pub fn write<O: Output>(&self, sub: &str, out: &mut O) {
        self.write_under(Mask::NONE, sub, out);
    }

    /// Appends the frame for one subscription to `out` under a masking key. Only clients mask; it
    /// is here for proxies that speak to a relay as one does.
    pub fn write_masked<O: Output>(&self, sub: &str, out: &mut O, key: [u8; 4]) {
        self.write_under(Mask::new(key), sub, out);
    }

    fn write_under<O: Output>(&self, mask: Mask, sub: &str, out: &mut O) {
        counters::copy(self.event.len());
        let head = Head::of(sub);
        let len = head.bytes().len() + self.event.len() + TAIL.len();
        if out.spare().len() < len {
            out.reserve(len);
        }
        let written = append(out, mask, |room| {
            room.put_slice(head.bytes())?;
            room.put_slice(&self.event)?;
            room.put_slice(TAIL)
        });
        written.expect("room for the exact length");
    }
}

/// One buffer that holds an event behind a gap, into which the head for one subscription after
/// another is written, for WebSocket libraries that take one slice. The event is copied once; after
/// that a subscription costs its head alone. Source of the trick: strfry, `RelayWebsocket.cpp`.
///
/// ```text
/// |      gap      |["EVENT","a",|{"id":"…",…}|]|
/// | gap |["EVENT","another sub",|{"id":"…",…}|]|
/// ```
///
/// ```
/// use borrowire::nostr::event::EventView;
/// use borrowire::nostr::fanout::EventFrames;
///
/// # let event = format!(
/// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"content":"","sig":"{0}{0}","tags":[]}}"#,
/// #     "0".repeat(64)
/// # );
/// let view = EventView::parse(event.as_bytes())?;
/// let mut frames = EventFrames::new(&view); // reuse it for the next event: `set_event`
/// assert_eq!(frames.frame("a"), format!(r#"["EVENT","a",{event}]"#).as_bytes());
/// assert_eq!(frames.frame("bc"), format!(r#"["EVENT","bc",{event}]"#).as_bytes());
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventFrames {
    frames: Headroom,
}

impl EventFrames {
    /// Copies the bytes of `event`, exactly as it was received.
    pub fn new<B: Buffer>(event: &EventView<B>) -> Self {
        Self { frames: Headroom::new(HEAD_ROOM, event.raw().as_bytes(), TAIL) }
    }

    /// Puts another event in the place of the one that is there; the buffer is used again.
    pub fn set_event<B: Buffer>(&mut self, event: &EventView<B>) {
        self.frames.set_body(event.raw().as_bytes(), TAIL);
    }

    /// The frame for one subscription. The borrow ends with the next one.
    ///
    /// An id for which the gap is too narrow, of more than 66 bytes, widens it, which moves the
    /// event once.
    #[inline]
    pub fn frame(&mut self, sub: &str) -> &[u8] {
        self.frames.with_head(Head::of(sub).bytes())
    }
}

/// `["EVENT",sub,` on the stack, or on the heap if it is long.
enum Head {
    Short([u8; HEAD_ROOM], usize),
    Long(Vec<u8>),
}

impl Head {
    #[inline]
    fn of(sub: &str) -> Self {
        let len = head_len(sub);
        if len > HEAD_ROOM {
            let mut bytes = vec![0; len];
            put_head(sub, &mut bytes);
            return Self::Long(bytes);
        }
        let mut bytes = [0; HEAD_ROOM];
        put_head(sub, &mut bytes[..len]);
        Self::Short(bytes, len)
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(bytes, len) => &bytes[..*len],
            Self::Long(bytes) => bytes,
        }
    }
}

fn head_len(sub: &str) -> usize {
    LABEL.len() + value_len(sub) + ",".len()
}

/// Fills `room`, which is as long as the head, with it.
#[inline]
fn put_head(sub: &str, room: &mut [u8]) {
    let (label, rest) = room.split_at_mut(LABEL.len());
    label.copy_from_slice(LABEL);
    let [text @ .., comma] = rest else { return };
    *comma = b',';
    let mut text = text;
    if is_clean(sub)
        && let [open, inner @ .., close] = &mut *text
    {
        (*open, *close) = (b'"', b'"');
        inner.copy_from_slice(sub.as_bytes());
        return;
    }
    // A slice that is as long as the text takes it.
    serde_json::to_writer(&mut text, sub).expect("room for the exact length");
}

const LABEL: &[u8] = b"[\"EVENT\",";
const TAIL: &[u8] = b"]";
/// The longest head that a splice takes without an allocation: one with an id of 66 plain bytes.
const HEAD_ROOM: usize = Splice::INLINE - TAIL.len();

#[cfg(test)]
mod tests {
    use bytes::Buf;

    use super::*;

    #[test]
    fn every_form_is_serde_jsons_frame() {
        let event = event(1);
        let received = frame_around(&event);
        let view = EventView::parse_frame(received.clone(), &crate::rules::Rules::STRICT).unwrap();
        let fanout = EventFanout::new(&view);
        let mut frames = EventFrames::new(&view);
        let body = received.len() - 1 - event.len();
        for sub in subs() {
            let value: serde_json::Value = serde_json::from_str(&event).unwrap();
            let twin = serde_json::to_vec(&("EVENT", &sub, "@")).unwrap();
            let twin = String::from_utf8(twin).unwrap().replace("\"@\"]", &format!("{event}]"));
            let read: serde_json::Value = serde_json::from_str(&twin).unwrap();
            assert_eq!((&read[1], &read[2]), (&(&*sub).into(), &value));

            let splice = fanout.splice(&sub);
            assert_eq!(splice.to_vec(), twin.as_bytes());
            assert_eq!(splice.body().as_ptr(), received[body..].as_ptr());
            assert_eq!(splice.remaining(), fanout.encoded_len(&sub));
            assert_eq!(fanout.to_bytes(&sub), twin.as_bytes());
            assert_eq!(frames.frame(&sub), twin.as_bytes());
            let mut masked = Vec::new();
            fanout.write_masked(&sub, &mut masked, [1, 2, 3, 4]);
            let keys = [1, 2, 3, 4].iter().cycle();
            assert!(masked.iter().zip(keys).map(|(byte, key)| byte ^ key).eq(twin.bytes()));
        }
    }

    #[test]
    fn the_event_stays_where_it_is_while_heads_change() {
        let first = EventView::parse(Bytes::from(event(1))).unwrap();
        let second = EventView::parse(Bytes::from(event(2))).unwrap();
        let mut frames = EventFrames::new(&first);
        let end = |frame: &[u8]| frame.as_ptr_range().end;
        let place = end(frames.frame("a"));
        let fits = |sub: &String| serde_json::to_string(sub).unwrap().len() <= 66 + 2;
        let (fitting, wider): (Vec<_>, Vec<_>) = subs().into_iter().partition(fits);
        assert!(fitting.contains(&"a".repeat(66)) && wider.contains(&"a".repeat(67)));
        for sub in fitting {
            assert_eq!(end(frames.frame(&sub)), place, "{sub}");
        }
        frames.set_event(&second);
        assert_eq!(end(frames.frame("a")), place);
        assert!(frames.frame("a").ends_with(&[second.raw().as_bytes(), b"]"].concat()));
    }

    #[cfg(feature = "counters")]
    #[test]
    fn the_event_is_copied_as_often_as_the_table_says() {
        let event = EventView::parse(Bytes::from(event(1))).unwrap();
        let copies = |work: &mut dyn FnMut()| {
            let before = counters::thread();
            work();
            (counters::thread() - before).copies
        };
        let fanout = EventFanout::new(&event);
        assert_eq!(copies(&mut || (0..10).for_each(|_| drop(fanout.splice("sub")))), 0);
        assert_eq!(copies(&mut || (0..10).for_each(|_| drop(fanout.to_bytes("sub")))), 10);
        let many = &mut || {
            let mut frames = EventFrames::new(&event);
            (0..10).for_each(|i| assert!(frames.frame(&i.to_string()).len() > 100));
        };
        assert_eq!(copies(many), 1);
    }

    fn subs() -> Vec<String> {
        let mut subs: Vec<_> = ["", "a", "one\"two", "日本", "tab\there", "\u{1}\u{1f}", "\",\"x"]
            .map(str::to_owned)
            .into();
        // Around the inline room, escaped and not.
        subs.extend((60..70).map(|len| "a".repeat(len)));
        subs.extend((30..36).map(|len| "\"".repeat(len)));
        subs.extend((8..14).map(|len| "\0".repeat(len)));
        subs.push("\n".repeat(10_000));
        subs
    }

    fn frame_around(event: &str) -> Bytes {
        Bytes::from(format!("[\"EVENT\",\"x\",{event}]"))
    }

    fn event(created_at: u64) -> String {
        let id = "0".repeat(64);
        format!(
            r#"{{"id":"{id}","pubkey":"{id}","created_at":{created_at},"kind":1,"tags":[],"content":"é","sig":"{id}{id}"}}"#
        )
    }
}
