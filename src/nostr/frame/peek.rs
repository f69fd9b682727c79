//! The label and the subscription id of a frame before it is parsed.

use crate::json::JsonStr;
use crate::nostr::event::Walk;

/// The label of a frame, found without reading the rest: to send a frame on to where its kind is
/// handled, or to drop it, before it costs anything.
///
/// `None` if the frame does not begin as one. What follows the label is not looked at. Where
/// [`ClientFrame`](crate::nostr::ClientFrame) or [`RelayFrame`](crate::nostr::RelayFrame) accepts the frame, they
/// see the same label. Allocates nothing.
///
/// ```
/// use borrowire::nostr::frame::peek_label;
///
/// assert_eq!(peek_label(br#"["EVENT","sub",{"kind"#).unwrap(), "EVENT");
/// assert_eq!(peek_label(b"{}"), None);
/// ```
pub fn peek_label(frame: &[u8]) -> Option<JsonStr<'_>> {
    let mut walk = Walk::new(frame);
    walk.take(b'[')?;
    walk.text()
}

/// The subscription id of a frame of either direction, found without reading the rest: to answer a
/// frame that is refused, or to find out whose it is.
///
/// Looks into those that have one: REQ, COUNT, CLOSE, EOSE, CLOSED, the four of negentropy, and
/// EVENT from a relay. `None` for all others and for what does not begin as a frame. What follows
/// the id is not looked at. Where this answers and [`ClientFrame`](crate::nostr::ClientFrame) or
/// [`RelayFrame`](crate::nostr::RelayFrame), whichever knows the label, accepts the frame, they agree.
/// Allocates nothing.
///
/// ```
/// use borrowire::nostr::frame::peek_sub_id;
///
/// assert_eq!(peek_sub_id(br#"["REQ","sub",{"ids":["bad"#).unwrap(), "sub");
/// assert_eq!(peek_sub_id(br#"["NOTICE","text"]"#), None);
/// ```
pub fn peek_sub_id(frame: &[u8]) -> Option<JsonStr<'_>> {
    let mut walk = Walk::new(frame);
    walk.take(b'[')?;
    let label = walk.text()?;
    if !WITH_SUB.iter().any(|known| label.eq_str(known)) {
        return None;
    }
    walk.take(b',')?;
    walk.text()
}

/// The labels of frames in which a subscription id may follow.
const WITH_SUB: [&str; 10] = [
    "EVENT",
    "REQ",
    "EOSE",
    "CLOSE",
    "CLOSED",
    "COUNT",
    "NEG-MSG",
    "NEG-OPEN",
    "NEG-CLOSE",
    "NEG-ERR",
];
