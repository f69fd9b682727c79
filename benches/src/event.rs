//! Events in frames, and the rivals that read them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The frames of one kind of event, `["EVENT","feed",event]`.
pub struct Feed {
    pub name: &'static str,
    pub frames: Vec<String>,
}

impl Feed {
    /// The committed feed, by what is in it. See fixtures/nostr/README.md.
    pub fn all() -> Vec<Self> {
        let events = include_str!("../../fixtures/nostr/feed.ndjson");
        let of = |name, belongs: fn(&str, u64, usize) -> bool| {
            let frames = events
                .lines()
                .filter(|event| {
                    let value: serde_json::Value = serde_json::from_str(event).unwrap();
                    let tags = value["tags"].as_array().unwrap().len();
                    belongs(event, value["kind"].as_u64().unwrap(), tags)
                })
                .map(|event| format!(r#"["EVENT","feed",{event}]"#))
                .collect();
            Self { name, frames }
        };
        vec![
            of("small notes", |_, kind, _| kind == 1),
            of("contact lists of 1,000 tags", |_, kind, tags| kind == 3 && tags >= 1000),
            of("profiles full of escapes", |_, kind, _| kind == 0),
            of("reposts, an event escaped within", |_, kind, _| kind == 6),
            of("long articles", |_, kind, _| kind == 30_023),
        ]
    }

    /// Bytes of all frames.
    pub fn bytes(&self) -> usize {
        self.frames.iter().map(String::len).sum()
    }
}

/// An event as a careful user of serde_json reads it: nothing is copied that need not be, and
/// tags and content are left for later.
#[derive(Deserialize)]
pub struct SerdeEvent<'a> {
    pub id: &'a str,
    pub pubkey: &'a str,
    pub created_at: u64,
    pub kind: u16,
    #[serde(borrow)]
    pub tags: &'a RawValue,
    #[serde(borrow)]
    pub content: &'a RawValue,
    pub sig: &'a str,
}

/// A frame around it.
#[derive(Deserialize)]
pub struct SerdeFrame<'a>(
    pub &'a str,
    #[serde(borrow)] pub Cow<'a, str>,
    #[serde(borrow)] pub SerdeEvent<'a>,
);

/// The same in the lazy values of sonic-rs.
#[derive(Deserialize)]
pub struct SonicEvent<'a> {
    pub id: &'a str,
    pub pubkey: &'a str,
    pub created_at: u64,
    pub kind: u16,
    #[serde(borrow)]
    pub tags: sonic_rs::LazyValue<'a>,
    #[serde(borrow)]
    pub content: sonic_rs::LazyValue<'a>,
    pub sig: &'a str,
}

/// A frame around it.
#[derive(Deserialize)]
pub struct SonicFrame<'a>(
    pub &'a str,
    #[serde(borrow)] pub Cow<'a, str>,
    #[serde(borrow)] pub SonicEvent<'a>,
);
