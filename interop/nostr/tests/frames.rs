//! Frames both ways: the nostr crate reads what borrowire writes, borrowire what the nostr crate writes.

use std::borrow::Cow;

use borrowire::json::{HexStr, HexText, RawJson};
use borrowire::nostr::event::EventView;
use borrowire::nostr::filter::{Filter as FilterBuilder, FilterView};
use borrowire::nostr::neg::{NegClose, NegErr, NegKind, NegMsg, NegOpen, NegView};
use borrowire::nostr::{ClientFrame, ClientMessage, RelayFrame, RelayMessage, client, relay};
use borrowire_nostr::{event_to_nostr, filter_to_nostr};
use nostr::event::Event;
use nostr::filter::Filter;
use nostr::message::{ClientMessage as NostrClient, RelayMessage as NostrRelay, SubscriptionId};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn frames_of_a_client(sub in ".{0,70}", at in 0_usize..256, binary in vec(any::<u8>(), 0..200)) {
        let line = FEED.lines().nth(at).unwrap();
        let event = RawJson::new(line, "event").unwrap();
        let (theirs, sub_id) = (Event::from_json(line).unwrap(), SubscriptionId::new(&sub));
        let filter = FilterBuilder::new().authors(&[[7; 32]]).kinds(&[1]).tag('t', &["x", "y"]).limit(3).to_json();
        let filters = [RawJson::new(&filter, "filter").unwrap(); 2];
        let their_filter = Filter::from_json(&filter).unwrap();
        let hex = hex(&binary);

        for (ours, theirs) in [
            (written(|out| client::Event { event }.write(out)), NostrClient::event(theirs.clone())),
            (written(|out| client::Auth { event }.write(out)), NostrClient::auth(theirs)),
            (
                written(|out| client::Req { sub: &sub, filters: &filters }.write(out)),
                NostrClient::req(sub_id.clone(), vec![their_filter.clone(); 2]),
            ),
            // The nostr crate knows one filter of a COUNT.
            (
                written(|out| client::Count { sub: &sub, filters: &filters[..1] }.write(out)),
                NostrClient::count(sub_id.clone(), their_filter.clone()),
            ),
            (
                written(|out| client::Close { sub: &sub }.write(out)),
                NostrClient::close(sub_id.clone()),
            ),
            (
                written(|out| {
                    let message = binary.as_slice().into();
                    NegOpen { sub: &sub, filter: filters[0], id_size: None, message }.write(out);
                }),
                NostrClient::neg_open(sub_id.clone(), their_filter, hex.clone()),
            ),
            (
                written(|out| {
                    let message = HexStr::new(&hex, "hex").unwrap().into();
                    NegMsg { sub: &sub, message }.write(out);
                }),
                NostrClient::NegMsg {
                    subscription_id: Cow::Borrowed(&sub_id),
                    message: Cow::Borrowed(&hex),
                },
            ),
            (
                written(|out| NegClose { sub: &sub }.write(out)),
                NostrClient::NegClose { subscription_id: Cow::Borrowed(&sub_id) },
            ),
        ] {
            prop_assert_eq!(&NostrClient::from_json(&ours).unwrap(), &theirs, "{}", ours);
            for frame in [&ours, &theirs.as_json()] {
                is_read_as_client(frame, &theirs);
            }
        }
    }

    #[test]
    fn frames_of_a_relay(
        sub in ".{0,70}",
        message in ".{0,100}",
        at in 0_usize..256,
        count in any::<u32>(),
        binary in vec(any::<u8>(), 0..200),
    ) {
        let line = FEED.lines().nth(at).unwrap();
        let event = RawJson::new(line, "event").unwrap();
        let theirs = Event::from_json(line).unwrap();
        let (id, sub_id) = (theirs.id.to_bytes(), SubscriptionId::new(&sub));
        let hex = hex(&binary);
        let neg_err = |max_records| {
            written(|out| NegErr { sub: &sub, reason: &message, max_records }.write(out))
        };
        let their_neg_err = NostrRelay::NegErr {
            subscription_id: Cow::Borrowed(&sub_id),
            message: Cow::Borrowed(&message),
        };
        for (ours, theirs) in [
            (
                written(|out| relay::Event { sub: &sub, event }.write(out)),
                NostrRelay::event(sub_id.clone(), theirs.clone()),
            ),
            (
                written(|out| {
                    relay::OkReply { id: (&id).into(), accepted: at % 2 == 0, message: &message }.write(out);
                }),
                NostrRelay::ok(theirs.id, at % 2 == 0, message.clone()),
            ),
            (
                written(|out| relay::Eose { sub: &sub }.write(out)),
                NostrRelay::eose(sub_id.clone()),
            ),
            (
                written(|out| relay::Closed { sub: &sub, message: &message }.write(out)),
                NostrRelay::closed(sub_id.clone(), message.clone()),
            ),
            (
                written(|out| relay::Notice { message: &message }.write(out)),
                NostrRelay::notice(message.clone()),
            ),
            (
                written(|out| relay::Auth { challenge: &message }.write(out)),
                NostrRelay::auth(message.clone()),
            ),
            (
                written(|out| {
                    let hll = Some([7; 256].as_slice().into());
                    let (sub, count) = (&sub, count.into());
                    relay::Count { sub, count, approximate: Some(true), hll }.write(out);
                }),
                NostrRelay::count(sub_id.clone(), count as usize),
            ),
            (
                written(|out| {
                    NegMsg { sub: &sub, message: binary.as_slice().into() }.write(out);
                }),
                NostrRelay::NegMsg {
                    subscription_id: Cow::Borrowed(&sub_id),
                    message: Cow::Borrowed(&hex),
                },
            ),
            (neg_err(None), their_neg_err.clone()),
            (neg_err(Some(1_000_000)), their_neg_err),
        ] {
            prop_assert_eq!(&NostrRelay::from_json(&ours).unwrap(), &theirs, "{}", ours);
            for frame in [&ours, &theirs.as_json()] {
                is_read_as_relay(frame, &theirs);
            }
        }
    }
}

/// What the nostr crate has no word for is read by borrowire alone: LIMITS, an OK for what had no id,
/// and the old form of NEG-OPEN.
#[test]
fn frames_that_the_nostr_crate_refuses() {
    let limits = written(|out| {
        relay::Limits { limits: RawJson::new("{}", "limits").unwrap() }.write(out);
    });
    let no_id = written(|out| {
        relay::OkReply { id: "?".into(), accepted: false, message: "invalid: no id" }.write(out);
    });
    for frame in [&limits, &no_id] {
        assert!(NostrRelay::from_json(frame).is_err());
        assert!(RelayFrame::parse(frame.as_bytes()).is_ok());
    }
    let old = written(|out| {
        let filter = RawJson::new("{}", "filter").unwrap();
        NegOpen { sub: "s", filter, id_size: Some(16), message: HexText::EMPTY }.write(out);
    });
    assert!(NostrClient::from_json(&old).is_err());
    assert!(ClientFrame::parse(old.as_bytes()).is_ok());
}

fn is_read_as_client(frame: &str, theirs: &NostrClient<'_>) {
    let view = ClientFrame::parse(frame.as_bytes()).unwrap();
    match (view.message(), theirs) {
        (ClientMessage::Event(event), NostrClient::Event(theirs))
        | (ClientMessage::Auth(event), NostrClient::Auth(theirs)) => {
            is_event(event.unwrap(), theirs)
        }
        (
            ClientMessage::Req { sub, filters },
            NostrClient::Req { subscription_id, filters: theirs },
        ) => {
            assert_eq!(sub, subscription_id.as_str());
            let filters = filters.map(|filter| filter_to_nostr(&filter.parse().unwrap()).unwrap());
            assert!(filters.eq(theirs.iter().map(|filter| filter.clone().into_owned())));
        }
        (ClientMessage::Count { sub, filters }, NostrClient::Count { subscription_id, filter }) => {
            assert_eq!(sub, subscription_id.as_str());
            let filters = filters.map(|filter| filter_to_nostr(&filter.parse().unwrap()).unwrap());
            assert!(filters.eq([filter.clone().into_owned()]));
        }
        (ClientMessage::Close { sub }, NostrClient::Close(theirs)) => {
            assert_eq!(sub, theirs.as_str())
        }
        (ClientMessage::Neg(neg), theirs) => {
            let (kind, sub, hex) = match theirs {
                NostrClient::NegOpen { subscription_id, filter, initial_message } => {
                    let ours = FilterView::parse(neg.filter().unwrap().as_str().as_bytes());
                    assert_eq!(filter_to_nostr(&ours.unwrap()).unwrap(), **filter);
                    (NegKind::Open, subscription_id, Some(initial_message))
                }
                NostrClient::NegMsg { subscription_id, message } => {
                    (NegKind::Msg, subscription_id, Some(message))
                }
                NostrClient::NegClose { subscription_id } => {
                    (NegKind::Close, subscription_id, None)
                }
                other => panic!("{frame}: {other:?}"),
            };
            is_neg(neg, kind, sub, hex.map(|hex| &**hex));
        }
        (ours, theirs) => panic!("{frame}: {ours:?} {theirs:?}"),
    }
}

fn is_read_as_relay(frame: &str, theirs: &NostrRelay<'_>) {
    let view = RelayFrame::parse(frame.as_bytes()).unwrap();
    match (view.message(), theirs) {
        (
            RelayMessage::Event { sub, event },
            NostrRelay::Event { subscription_id, event: theirs },
        ) => {
            assert_eq!(sub, subscription_id.as_str());
            is_event(event.unwrap(), theirs);
        }
        (
            RelayMessage::Ok { id, accepted, message },
            NostrRelay::Ok { event_id, status, message: theirs },
        ) => {
            assert_eq!((id.bytes().unwrap(), accepted), (event_id.to_bytes(), *status));
            assert_eq!(message.to_string(), **theirs);
        }
        (RelayMessage::Eose { sub }, NostrRelay::EndOfStoredEvents(theirs)) => {
            assert_eq!(sub, theirs.as_str());
        }
        (
            RelayMessage::Closed { sub, message },
            NostrRelay::Closed { subscription_id, message: theirs },
        ) => {
            assert_eq!(sub, subscription_id.as_str());
            assert_eq!(message.to_string(), **theirs);
        }
        (RelayMessage::Notice { message }, NostrRelay::Notice(theirs)) => {
            assert_eq!(message.to_string(), **theirs);
        }
        (RelayMessage::Auth { challenge }, NostrRelay::Auth { challenge: theirs }) => {
            assert_eq!(challenge, **theirs);
        }
        (
            RelayMessage::Count { sub, count },
            NostrRelay::Count { subscription_id, count: theirs },
        ) => {
            assert_eq!(sub, subscription_id.as_str());
            assert_eq!(count.unwrap().count(), *theirs as u64);
        }
        (RelayMessage::Neg(neg), NostrRelay::NegMsg { subscription_id, message }) => {
            is_neg(neg, NegKind::Msg, subscription_id, Some(message));
        }
        (RelayMessage::Neg(neg), NostrRelay::NegErr { subscription_id, message }) => {
            is_neg(neg, NegKind::Err, subscription_id, None);
            assert_eq!(neg.reason().unwrap(), **message);
        }
        (ours, theirs) => panic!("{frame}: {ours:?} {theirs:?}"),
    }
}

fn is_event(ours: &EventView<&[u8]>, theirs: &Event) {
    assert_eq!(event_to_nostr(ours).unwrap(), *theirs);
    assert!(ours.check_id().is_match());
}

fn is_neg(ours: &NegView<&[u8]>, kind: NegKind, sub: &SubscriptionId, hex: Option<&str>) {
    assert_eq!((ours.kind(), ours.message().map(|message| message.as_str())), (kind, hex));
    assert_eq!(ours.sub(), sub.as_str());
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

fn hex(binary: &[u8]) -> String {
    borrowire::hex::Hex(binary).to_string()
}

const FEED: &str = include_str!("../../../fixtures/nostr/feed.ndjson");
