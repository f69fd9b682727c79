//! Laws of the frames between clients and relays. The oracle is serde_json; for what carries
//! negentropy, `NegView`, and for an event inside, `EventView` of it alone.

use borrowire::buffer::{Buffer, Text};
use borrowire::json::{AnyText, HexText, JsonStr, RawJson};
use borrowire::nostr::event::EventView;
use borrowire::nostr::filter::FilterView;
use borrowire::nostr::frame::{RawElements, RawFilter, peek_label, peek_sub_id};
use borrowire::nostr::neg::{NegKind, NegView};
use borrowire::nostr::{ClientFrame, ClientMessage, RelayFrame, RelayMessage, client, relay};
use borrowire::output::Output;
use borrowire::rules::Rules;
use borrowire::{Error, ErrorKind};
use bytes::{Bytes, BytesMut};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::error_is_where_it_says;

/// All laws of a frame of either direction, for bytes that may be anything.
pub fn any_frame(frame: &[u8]) {
    any_frame_of::<ClientFrame<&[u8]>>(frame);
    any_frame_of::<RelayFrame<&[u8]>>(frame);
}

fn any_frame_of<'a, V: View<'a>>(frame: &'a [u8]) {
    let read = V::parse(frame);
    read_as_serde_json_reads_it(frame, &read);
    neg_frames_are_those_of_neg_view(frame, &read);
    text_needs_no_check(frame, &read);
    match read {
        Ok(view) => {
            view.whole(frame);
            events_are_those_of_event_view(frame, &view);
            peeks_agree(frame, &view);
            prefixes_are_incomplete::<V>(frame);
        }
        Err(error) => error_is_where_it_says(frame, error),
    }
}

/// Every frame of these parts is what serde_json writes, and is read back.
pub fn written_is_read_back(parts: &Parts) {
    let Parts { sub, text, filters, event, id, count, approximate, hll, flag } = parts;
    let (sub, text, flag) = (&**sub, &**text, *flag);
    let spelled: Vec<_> = filters.iter().map(Value::to_string).collect();
    let raw: Vec<_> = spelled.iter().map(|text| RawJson::new(text, "x").unwrap()).collect();
    let event_text = event.to_string();
    let event_json = RawJson::new(&event_text, "x").unwrap();
    let hex_id = hex::encode(id);
    let hll_hex = hll.as_ref().map(hex::encode);
    let array = |front: &[Value]| Value::Array([front, filters].concat());

    written(&client::Event { event: event_json }, &("EVENT", event));
    written(&client::Auth { event: event_json }, &("AUTH", event));
    written(&client::Req { sub, filters: &raw }, &array(&[json!("REQ"), json!(sub)]));
    written(&client::Count { sub, filters: &raw }, &array(&[json!("COUNT"), json!(sub)]));
    written(&client::Close { sub }, &("CLOSE", sub));

    written(&relay::Event { sub, event: event_json }, &("EVENT", sub, event));
    for (id, twin) in [
        (AnyText::from(id), &*hex_id),
        (sub.into(), sub),
        (HexText::from(&id[..7]).into(), &hex_id[..14]),
    ] {
        let reply = relay::OkReply { id, accepted: flag, message: text };
        written(&reply, &("OK", twin, flag, text));
    }
    written(&relay::Eose { sub }, &("EOSE", sub));
    written(&relay::Closed { sub, message: text }, &("CLOSED", sub, text));
    written(&relay::Notice { message: text }, &("NOTICE", text));
    written(&relay::Auth { challenge: text }, &("AUTH", text));
    let hll = hll.as_ref().map(|hll| HexText::from(&hll[..]));
    let counted = relay::Count { sub, count: *count, approximate: *approximate, hll };
    let twin = CountTwin { count: *count, approximate: *approximate, hll: hll_hex.as_deref() };
    written(&counted, &("COUNT", sub, twin));
    written(&relay::Limits { limits: event_json }, &("LIMITS", event));
    read_back(parts);
}

/// What the frames are made of.
#[derive(Clone, Debug)]
pub struct Parts {
    pub sub: String,
    pub text: String,
    /// Values nested at most 126 deep.
    pub filters: Vec<Value>,
    /// The same.
    pub event: Value,
    pub id: [u8; 32],
    pub count: u64,
    pub approximate: Option<bool>,
    pub hll: Option<Vec<u8>>,
    pub flag: bool,
}

/// The object of COUNT, in the order of NIP-45.
struct CountTwin<'a> {
    count: u64,
    approximate: Option<bool>,
    hll: Option<&'a str>,
}

impl Serialize for CountTwin<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("count", &self.count)?;
        if let Some(approximate) = self.approximate {
            map.serialize_entry("approximate", &approximate)?;
        }
        if let Some(hll) = self.hll {
            map.serialize_entry("hll", hll)?;
        }
        map.end()
    }
}

/// What was written holds what it was made of.
fn read_back(parts: &Parts) {
    let Parts { sub, text, filters, id, count, approximate, hll, flag, .. } = parts;
    let frame = bytes_of(&relay::OkReply { id: id.into(), accepted: *flag, message: text });
    let view = RelayFrame::parse(&frame[..]).unwrap();
    let RelayMessage::Ok { id: read, accepted, message } = view.message() else {
        panic!("{view}");
    };
    assert_eq!((read.bytes().as_ref(), accepted), (Ok(id), *flag));
    assert!(message.text().eq_str(text));
    let (prefix, rest) = split_reason(text);
    assert_eq!(message.prefix().map(|prefix| prefix.name()), prefix);
    assert!(message.rest().eq_str(rest));

    let hll_text = hll.as_ref().map(|hll| HexText::from(&hll[..]));
    let counted = relay::Count { sub, count: *count, approximate: *approximate, hll: hll_text };
    let frame = bytes_of(&counted);
    let view = RelayFrame::parse(&frame[..]).unwrap();
    let RelayMessage::Count { sub: read, count: counted } = view.message() else {
        panic!("{view}");
    };
    assert!(read.eq_str(sub));
    match counted {
        Ok(counted) => {
            assert_eq!((counted.count(), counted.approximate()), (*count, *approximate));
            let digits = hll.as_ref().map(hex::encode);
            assert_eq!(counted.hll().map(|hll| hll.as_str().to_owned()), digits);
        }
        Err(error) => {
            assert_ne!(hll.as_ref().map_or(256, Vec::len), 256, "{error}");
            assert_eq!(error.context(), "count.hll");
        }
    }

    let spelled: Vec<_> = filters.iter().map(Value::to_string).collect();
    let raw: Vec<_> = spelled.iter().map(|text| RawJson::new(text, "x").unwrap()).collect();
    let frame = bytes_of(&client::Req { sub, filters: &raw });
    if filters.is_empty() {
        let error = ClientFrame::parse(&frame[..]).unwrap_err();
        assert_eq!((error.kind(), error.context()), (ErrorKind::Missing, "frame.filter"));
        return;
    }
    let view = ClientFrame::parse(Bytes::from(frame)).unwrap();
    let ClientMessage::Req { filters: read, .. } = view.message() else { panic!("{view}") };
    assert_eq!(read.len(), filters.len());
    for (filter, text) in read.zip(&spelled) {
        assert_eq!(filter.raw().as_str(), text);
        assert_eq!(filter.share(), text.as_bytes());
        assert_eq!(filter.share().as_ptr(), view.raw()[filter.offset()..].as_ptr());
    }
}

/// A text with or without a word for machines, as NIP-01 has it.
fn split_reason(text: &str) -> (Option<&'static str>, &str) {
    const WORDS: &str = "duplicate pow blocked rate-limited invalid restricted mute error \
        auth-required unsupported closed";
    let Some((word, rest)) = text.split_once(':') else { return (None, text) };
    match WORDS.split(' ').find(|known| *known == word) {
        Some(word) => (Some(word), rest.strip_prefix(' ').unwrap_or(rest)),
        None => (None, text),
    }
}

/// A frame is accepted if serde_json reads an array that holds what its label asks for, and it then
/// holds the same. serde_json alone refuses numbers beyond f64, so such frames are left out.
fn read_as_serde_json_reads_it<'a, V: View<'a>>(frame: &[u8], read: &Result<V, Error>) {
    let value = serde_json::from_slice::<Value>(frame);
    if let Err(error) = &value
        && error.to_string().starts_with("number out of range")
    {
        return;
    }
    let label = value.as_ref().ok().and_then(|value| value.as_array()?.first()?.as_str());
    if label.is_some_and(|label| V::NEGS.iter().any(|neg| neg.label() == label)) {
        return;
    }
    let expected = value.as_ref().ok().and_then(|value| describe(V::IS_CLIENT, value.as_array()?));
    match (read, expected) {
        (Ok(view), expected) => assert_eq!(Some(view.describe()), expected),
        (Err(error), Some(expected)) => panic!("{error}, but serde_json reads {expected}"),
        (Err(error), None) => {
            let is_text = std::str::from_utf8(frame).is_ok();
            let is_cut = value.is_err_and(|error| error.is_eof());
            assert!(!error.is_incomplete() || is_cut || !is_text, "{error}");
        }
    }
}

/// What a frame holds, as serde_json says; `None` if it lacks what its label asks for.
pub fn describe(is_client: bool, frame: &[Value]) -> Option<Value> {
    let label = frame.first()?.as_str()?;
    let text = |i: usize| frame.get(i)?.as_str().map(Value::from);
    let value = |i: usize| frame.get(i).cloned();
    let rest = |known: usize| Value::from(frame.get(known..).unwrap_or_default());
    let with = |known: usize, parts: &[(&str, Option<Value>)]| {
        let mut described = Map::new();
        described.insert("label".into(), label.into());
        described.insert("extra".into(), rest(known));
        for (key, value) in parts {
            described.insert((*key).to_owned(), value.clone()?);
        }
        Some(Value::Object(described))
    };
    let filters = || frame.get(2..).filter(|filters| !filters.is_empty()).map(Value::from);
    match (is_client, label) {
        (true, "EVENT" | "AUTH") => with(2, &[("event", value(1))]),
        (true, "REQ" | "COUNT") => with(frame.len(), &[("sub", text(1)), ("filters", filters())]),
        (true, "CLOSE") | (false, "EOSE") => with(2, &[("sub", text(1))]),
        (false, "EVENT") => with(3, &[("sub", text(1)), ("event", value(2))]),
        (false, "OK") => {
            let accepted = value(2).filter(Value::is_boolean);
            with(4, &[("id", text(1)), ("accepted", accepted), ("message", text(3))])
        }
        (false, "CLOSED") => with(3, &[("sub", text(1)), ("message", text(2))]),
        (false, "NOTICE") => with(2, &[("message", text(1))]),
        (false, "AUTH") => with(2, &[("challenge", text(1))]),
        (false, "COUNT") => with(3, &[("sub", text(1)), ("count", value(2))]),
        (false, "LIMITS") => with(2, &[("limits", value(1))]),
        _ => with(1, &[]),
    }
}

/// A frame of negentropy is what `NegView` makes of it.
fn neg_frames_are_those_of_neg_view<'a, V: View<'a>>(frame: &'a [u8], read: &Result<V, Error>) {
    let is_neg =
        peek_label(frame).is_some_and(|label| V::NEGS.iter().any(|neg| label.eq_str(neg.label())));
    let neg = read.as_ref().map(|view| view.neg());
    match (is_neg, neg) {
        (true, Ok(neg)) => {
            assert_eq!(neg, Some(&NegView::parse(frame).unwrap()));
        }
        (true, Err(error)) => assert_eq!(NegView::parse(frame).as_ref().unwrap_err(), error),
        (false, neg) => assert!(!matches!(neg, Ok(Some(_)))),
    }
}

/// Text that is known to be UTF-8 is read as bytes are.
fn text_needs_no_check<'a, V: View<'a>>(frame: &'a [u8], read: &Result<V, Error>) {
    let Ok(text) = std::str::from_utf8(frame) else { return };
    let borrowed = V::parse_str(text);
    let owned = V::parse_text(Text::from(text));
    match read {
        Ok(view) => {
            assert!(borrowed.unwrap().same(view));
            assert!(view.same_owned(&owned.unwrap()));
        }
        Err(error) => {
            assert_eq!(borrowed.err(), Some(*error));
            assert_eq!(owned.err(), Some(*error));
        }
    }
}

/// The event inside is read as it is alone, and an error's place is that in the frame.
fn events_are_those_of_event_view<'a, V: View<'a>>(frame: &[u8], view: &V) {
    let Some(read) = view.event() else { return };
    let at = 1 + usize::from(!V::IS_CLIENT);
    let alone = view.elements().nth(at).unwrap().as_str();
    let start = alone.as_ptr() as usize - frame.as_ptr() as usize;
    match (read, EventView::parse(alone.as_bytes())) {
        (Ok(read), Ok(alone)) => {
            assert_eq!(read, &alone);
            assert_eq!(read.raw(), alone.raw());
            assert_eq!(read.raw().as_ptr(), frame[start..].as_ptr());
            assert_eq!(read.check_id(), alone.check_id());
            let detached = read.detach();
            assert_eq!(detached, alone);
            assert_eq!(detached.raw(), alone.raw());
        }
        (Err(error), Err(alone)) => {
            assert_eq!(error, alone.offset_by(start));
            error_is_where_it_says(frame, error);
        }
        (read, alone) => panic!("{read:?} in the frame, {alone:?} alone"),
    }
    // It takes the frames of either direction, and errs on more.
    if let Ok(read) = read {
        assert_eq!(EventView::parse_frame(frame, &Rules::STRICT).as_ref(), Ok(read));
    }
}

/// The peeks see what the views see.
fn peeks_agree<'a, V: View<'a>>(frame: &[u8], view: &V) {
    assert_eq!(peek_label(frame), Some(view.label()));
    let is_known = describe_has_place(V::IS_CLIENT, &view.label().to_cow());
    match view.sub() {
        Some(sub) => assert_eq!(peek_sub_id(frame), Some(sub)),
        // The same label may have one in the other direction.
        None if is_known && view.label() != "EVENT" => assert_eq!(peek_sub_id(frame), None),
        None => {}
    }
}

fn describe_has_place(is_client: bool, label: &str) -> bool {
    let parts = match is_client {
        true => "EVENT REQ CLOSE AUTH COUNT",
        false => "EVENT OK EOSE CLOSED NOTICE AUTH COUNT LIMITS",
    };
    parts.split(' ').any(|known| known == label)
}

/// A frame that ends before its closing bracket is incomplete: all prefixes of a short frame, some of
/// a long one.
fn prefixes_are_incomplete<'a, V: View<'a>>(frame: &'a [u8]) {
    let end = frame.iter().rposition(|byte| *byte == b']').unwrap();
    let step = 1 + end / 48;
    for len in (0..end).step_by(step).chain([end]) {
        let error = V::parse(&frame[..len]).err().unwrap();
        assert!(error.is_incomplete(), "{len} bytes of {}: {error}", frame.escape_ascii());
        assert!(error.offset() <= len);
        // The peeks may answer before, and then answer the same.
        assert!(peek_label(&frame[..len]).is_none_or(|label| Some(label) == peek_label(frame)));
        assert!(peek_sub_id(&frame[..len]).is_none_or(|sub| Some(sub) == peek_sub_id(frame)));
    }
    assert!(V::parse(&frame[..=end]).is_ok());
}

/// A frame is serde_json's tuple, byte for byte, however much room there is, and is as long as it
/// says.
fn written(frame: &impl WriteFrame, twin: &impl Serialize) {
    let twin = serde_json::to_vec(twin).unwrap();
    let bytes = bytes_of(frame);
    assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&twin));
    assert_eq!(frame.encoded_len(), twin.len());
    assert_eq!(bytes.capacity(), twin.len().max(8), "one reservation, and an exact one");
    let mut out = BytesMut::from(&b"before"[..]);
    frame.write(&mut out);
    assert_eq!(out[6..], twin);

    let key = [0x37, 0xfa, 0x21, 0x3d];
    let mut masked = b"before".to_vec();
    frame.write_masked(&mut masked, key);
    let keys = key.iter().cycle();
    assert!(masked[6..].iter().zip(keys).map(|(byte, key)| byte ^ key).eq(twin.iter().copied()));
    any_frame(&twin);
}

fn bytes_of(frame: &impl WriteFrame) -> Vec<u8> {
    let mut out = Vec::new();
    frame.write(&mut out);
    out
}

/// The methods that the writers share.
trait WriteFrame {
    fn encoded_len(&self) -> usize;
    fn write<O: Output>(&self, out: &mut O);
    fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]);
}

macro_rules! write_frame {
    ($($room:ident::$frame:ident)*) => {$(
        impl WriteFrame for $room::$frame<'_> {
            fn encoded_len(&self) -> usize {
                self.encoded_len()
            }

            fn write<O: Output>(&self, out: &mut O) {
                self.write(out);
            }

            fn write_masked<O: Output>(&self, out: &mut O, key: [u8; 4]) {
                self.write_masked(out, key);
            }
        }
    )*};
}

write_frame! {
    client::Event client::Req client::Close client::Auth client::Count
    relay::Event relay::OkReply relay::Eose relay::Closed relay::Notice relay::Auth relay::Count
    relay::Limits
}

/// What the two views share.
trait View<'a>: Sized {
    const IS_CLIENT: bool;
    const NEGS: &'static [NegKind];
    type Owned;

    fn parse(frame: &'a [u8]) -> Result<Self, Error>;
    fn parse_str(frame: &'a str) -> Result<Self, Error>;
    fn parse_text(frame: Text) -> Result<Self::Owned, Error>;
    fn label(&self) -> JsonStr<'_>;
    fn sub(&self) -> Option<JsonStr<'_>>;
    fn event(&self) -> Option<Result<&EventView<&'a [u8]>, Error>>;
    fn neg(&self) -> Option<&NegView<&'a [u8]>>;
    fn elements(&self) -> RawElements<'_>;
    fn extra(&self) -> RawElements<'_>;
    fn same(&self, other: &Self) -> bool;
    fn same_owned(&self, other: &Self::Owned) -> bool;
    fn parts(&self) -> Map<String, Value>;

    /// A view gives the frame back, and a copy of it is equal and lies elsewhere.
    fn whole(&self, frame: &'a [u8]);

    /// What the frame holds, as its view says.
    fn describe(&self) -> Value {
        let mut described = self.parts();
        described.insert("label".into(), self.label().to_cow().into());
        described.insert("extra".into(), values(self.extra()));
        let expected: Vec<_> = self.elements().map(value_of).collect();
        assert_eq!(expected.first(), described.get("label"));
        Value::Object(described)
    }
}

macro_rules! view {
    ($View:ident, $is_client:expr, $NEGS:expr, $Message:ident, $parts:expr) => {
        impl<'a> View<'a> for $View<&'a [u8]> {
            const IS_CLIENT: bool = $is_client;
            const NEGS: &'static [NegKind] = &$NEGS;
            type Owned = $View;

            fn parse(frame: &'a [u8]) -> Result<Self, Error> {
                Self::parse(frame)
            }

            fn parse_str(frame: &'a str) -> Result<Self, Error> {
                Self::parse_str(frame, &Rules::STRICT)
            }

            fn parse_text(frame: Text) -> Result<$View, Error> {
                $View::parse_text(frame, &Rules::STRICT)
            }

            fn label(&self) -> JsonStr<'_> {
                self.label()
            }

            fn sub(&self) -> Option<JsonStr<'_>> {
                self.sub()
            }

            fn event(&self) -> Option<Result<&EventView<&'a [u8]>, Error>> {
                self.event()
            }

            fn neg(&self) -> Option<&NegView<&'a [u8]>> {
                match self.message() {
                    $Message::Neg(neg) => Some(neg),
                    _ => None,
                }
            }

            fn elements(&self) -> RawElements<'_> {
                self.elements()
            }

            fn extra(&self) -> RawElements<'_> {
                self.extra()
            }

            fn same(&self, other: &Self) -> bool {
                self == other
            }

            fn same_owned(&self, other: &$View) -> bool {
                self == other && other == self && format!("{self:?}") == format!("{other:?}")
            }

            fn parts(&self) -> Map<String, Value> {
                let parts: fn(&Self) -> Vec<(&'static str, Value)> = $parts;
                parts(self).into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }

            fn whole(&self, frame: &'a [u8]) {
                assert_eq!(self.raw(), frame);
                assert_eq!(self.buffer().as_ptr(), frame.as_ptr());
                assert_eq!(self.as_borrowed(), *self);
                let detached = self.detach();
                assert_eq!(detached, *self);
                assert_eq!(detached.raw(), frame);
                assert_ne!(detached.raw().as_ptr(), frame.as_ptr());
                assert_eq!($View::try_from(Bytes::copy_from_slice(frame)), Ok(detached.clone()));
                assert_eq!($View::try_from(frame).as_ref(), Ok(self));
                assert!(!self.to_string().is_empty());
                assert_eq!(self.to_string(), detached.to_string());
                assert_eq!(format!("{self:?}"), format!("{detached:?}"));
                let into = self.clone().into_event();
                assert_eq!(into.as_ref().map(|event| event.as_ref().map_err(|e| *e)), self.event());
            }
        }
    };
}

view! {
    ClientFrame, true, [NegKind::Open, NegKind::Msg, NegKind::Close], ClientMessage,
    |view| match view.message() {
        ClientMessage::Event(event) | ClientMessage::Auth(event) => {
            vec![("event", event_value(event, view.elements().nth(1)))]
        }
        ClientMessage::Req { sub, filters } | ClientMessage::Count { sub, filters } => {
            assert_eq!(filters.len(), filters.clone().count());
            let filters = filters.map(|filter| {
                filter_is_that_of_filter_view(&filter);
                value_of(filter.raw())
            });
            vec![("sub", sub.to_cow().into()), ("filters", filters.collect())]
        }
        ClientMessage::Close { sub } => vec![("sub", sub.to_cow().into())],
        ClientMessage::Other { label, elements } => {
            assert_eq!(label, view.label());
            assert_eq!(values(elements), values(view.extra()));
            vec![]
        }
        other => panic!("{other:?}"),
    }
}

view! {
    RelayFrame, false, [NegKind::Msg, NegKind::Err], RelayMessage,
    |view| match view.message() {
        RelayMessage::Event { sub, event } => vec![
            ("sub", sub.to_cow().into()),
            ("event", event_value(event, view.elements().nth(2))),
        ],
        RelayMessage::Ok { id, accepted, message } => {
            id_is_hex_or_says_why(view.raw(), &id);
            vec![
                ("id", id.text().to_cow().into()),
                ("accepted", accepted.into()),
                ("message", message.text().to_cow().into()),
            ]
        }
        RelayMessage::Eose { sub } => vec![("sub", sub.to_cow().into())],
        RelayMessage::Closed { sub, message } => {
            vec![("sub", sub.to_cow().into()), ("message", message.text().to_cow().into())]
        }
        RelayMessage::Notice { message } => vec![("message", message.text().to_cow().into())],
        RelayMessage::Auth { challenge } => vec![("challenge", challenge.to_cow().into())],
        RelayMessage::Count { sub, count } => {
            let value = value_of(view.elements().nth(2).unwrap());
            count_is_as_serde_json_says(view.raw(), count, &value);
            vec![("sub", sub.to_cow().into()), ("count", value)]
        }
        RelayMessage::Limits { limits } => vec![("limits", value_of(limits))],
        RelayMessage::Other { label, elements } => {
            assert_eq!(label, view.label());
            assert_eq!(values(elements), values(view.extra()));
            vec![]
        }
        other => panic!("{other:?}"),
    }
}

fn event_value<B: Buffer>(
    event: Result<&EventView<B>, Error>,
    element: Option<RawJson<'_>>,
) -> Value {
    let element = element.unwrap();
    assert!(event.is_err() || event.unwrap().raw() == element.as_str());
    value_of(element)
}

/// A filter is read as it is alone, and an error's place is that in the frame.
fn filter_is_that_of_filter_view(filter: &RawFilter<'_, &[u8]>) {
    let alone = FilterView::parse(filter.raw().as_str().as_bytes());
    let alone = alone.map_err(|error| error.offset_by(filter.offset()));
    assert_eq!(filter.parse(), alone);
    assert!(!alone.is_err_and(|error| error.is_incomplete()));
}

/// The id of an OK is 32 bytes if the `hex` crate says so and it is lowercase.
fn id_is_hex_or_says_why(frame: &[u8], id: &relay::OkId<'_>) {
    let text = id.text().to_cow();
    let has_uppercase = text.contains(|char: char| char.is_ascii_uppercase());
    let expected: Option<[u8; 32]> =
        hex::decode(&*text).ok().filter(|_| !has_uppercase).and_then(|id| id.try_into().ok());
    match id.bytes() {
        Ok(bytes) => assert_eq!(Some(bytes), expected),
        Err(error) => {
            assert_eq!(error.context(), "ok.id");
            error_is_where_it_says(frame, error);
            assert!(expected.is_none() || error.kind() == ErrorKind::HexEscape, "{error}");
        }
    }
}

/// Keys of which serde_json takes the last are refused, and so is hex that is escaped; else the two
/// read alike.
fn count_is_as_serde_json_says(
    frame: &[u8],
    count: Result<relay::Counted<'_>, Error>,
    value: &Value,
) {
    let number = value.get("count").and_then(Value::as_u64);
    let approximate = value.get("approximate");
    let hll = value.get("hll");
    let is_hll = |hll: &Value| {
        hll.as_str().is_some_and(|digits| {
            let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            digits.len() == 512 && digits.bytes().all(is_digit)
        })
    };
    let is_right =
        number.is_some() && approximate.is_none_or(Value::is_boolean) && hll.is_none_or(is_hll);
    match count {
        Ok(counted) => {
            assert!(is_right, "{counted:?}");
            assert_eq!(Some(counted.count()), number);
            assert_eq!(counted.approximate(), approximate.and_then(Value::as_bool));
            assert_eq!(counted.hll().map(|hll| hll.as_str()), hll.and_then(Value::as_str));
            assert_eq!(&value_of(counted.raw()), value);
        }
        Err(error) => {
            error_is_where_it_says(frame, error);
            assert!(!error.is_incomplete(), "{error}");
            let is_stricter = matches!(error.kind(), ErrorKind::Repeated | ErrorKind::HexEscape);
            // serde_json reads the last of two, of which the first is refused.
            let is_twice = || {
                let text = String::from_utf8_lossy(frame);
                ["count", "approximate", "hll", "\\u"]
                    .iter()
                    .any(|key| text.matches(key).count() > usize::from(*key != "\\u"))
            };
            assert!(!is_right || is_stricter || is_twice(), "{error}");
        }
    }
}

fn values(elements: RawElements<'_>) -> Value {
    elements.map(value_of).collect()
}

fn value_of(element: RawJson<'_>) -> Value {
    serde_json::from_str(element.as_str()).unwrap()
}

#[cfg(test)]
#[path = "frames_driven.rs"]
mod driven;
