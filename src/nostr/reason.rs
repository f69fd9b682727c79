//! Why a relay says no: text for people behind a word for machines.
//!
//! ```text
//! prefix: words
//!
//! prefix  one word that machines know
//! words   for people
//! ```
//!
//! In OK, CLOSED, NOTICE and NEG-ERR. Source: NIP-01, NIP-42 (`auth-required`), NIP-45
//! (`unsupported`), NIP-77 (`blocked`, `closed`).

use std::fmt;

use crate::json::JsonStr;

/// The text of an OK, CLOSED, NOTICE or NEG-ERR: any string, which may begin with a word for
/// machines.
///
/// ```
/// use borrowire::json::JsonStr;
/// use borrowire::nostr::{Prefix, Reason};
///
/// let reason = Reason::from(JsonStr::from_raw("pow: difficulty 25>=24")?);
/// assert_eq!(reason.prefix(), Some(Prefix::Pow));
/// assert_eq!(reason.rest(), "difficulty 25>=24");
///
/// // strfry writes such texts too.
/// let reason = Reason::from(JsonStr::from_raw("ERROR: bad req: unparseable")?);
/// assert_eq!(reason.prefix(), None);
/// assert_eq!(reason.rest(), "ERROR: bad req: unparseable");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reason<'a> {
    text: JsonStr<'a>,
}

impl<'a> Reason<'a> {
    /// The whole text.
    pub const fn text(&self) -> JsonStr<'a> {
        self.text
    }

    /// The word for machines, if the text begins with one of those known and a colon.
    pub fn prefix(&self) -> Option<Prefix> {
        self.split().map(|(prefix, _)| prefix)
    }

    /// The words for people: what follows the colon, without one space. All of the text if it has no
    /// word for machines.
    pub fn rest(&self) -> JsonStr<'a> {
        self.split().map_or(self.text, |(_, rest)| rest)
    }

    fn split(&self) -> Option<(Prefix, JsonStr<'a>)> {
        let after = |prefix: &Prefix| self.text.strip_prefix(prefix.name())?.strip_prefix(":");
        let (prefix, rest) =
            Prefix::ALL.into_iter().find_map(|prefix| Some((prefix, after(&prefix)?)))?;
        Some((prefix, rest.strip_prefix(" ").unwrap_or(rest)))
    }
}

impl<'a> From<JsonStr<'a>> for Reason<'a> {
    fn from(text: JsonStr<'a>) -> Self {
        Self { text }
    }
}

/// The whole text, unescaped.
impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text, f)
    }
}

/// The token of the wire.
impl fmt::Debug for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// The words for machines that a reason may begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Prefix {
    /// `duplicate`: the relay has the event already. (NIP-01)
    Duplicate,
    /// `pow`: proof of work is missing or too little. (NIP-01)
    Pow,
    /// `blocked`: who asks, or what is asked for, is not welcome. (NIP-01, NIP-77)
    Blocked,
    /// `rate-limited`: too much in too short a time. (NIP-01)
    RateLimited,
    /// `invalid`: the event or filter is not right. (NIP-01)
    Invalid,
    /// `restricted`: not for this user. (NIP-01)
    Restricted,
    /// `mute`: no one was listening. (NIP-01)
    Mute,
    /// `error`: none of the others fits. (NIP-01)
    Error,
    /// `auth-required`: send AUTH first. (NIP-42)
    AuthRequired,
    /// `unsupported`: the relay cannot do this. (NIP-45)
    Unsupported,
    /// `closed`: the relay has ended the reconciliation. (NIP-77)
    Closed,
}

impl Prefix {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Duplicate,
        Self::Pow,
        Self::Blocked,
        Self::RateLimited,
        Self::Invalid,
        Self::Restricted,
        Self::Mute,
        Self::Error,
        Self::AuthRequired,
        Self::Unsupported,
        Self::Closed,
    ];

    /// The word, as it stands before the colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Pow => "pow",
            Self::Blocked => "blocked",
            Self::RateLimited => "rate-limited",
            Self::Invalid => "invalid",
            Self::Restricted => "restricted",
            Self::Mute => "mute",
            Self::Error => "error",
            Self::AuthRequired => "auth-required",
            Self::Unsupported => "unsupported",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_however_it_is_spelled() {
        for prefix in Prefix::ALL {
            let name = prefix.name();
            let escaped: String = name.bytes().map(|byte| format!("\\u00{byte:02x}")).collect();
            for raw in [
                format!("{name}: a: b"),
                format!("{name}:a: b"),
                format!("{name}\\u003a a: b"),
                format!("{escaped}\\u003a\\u0020a: b"),
            ] {
                let reason = Reason::from(JsonStr::from_raw(&raw).unwrap());
                assert_eq!(
                    (reason.prefix(), reason.rest().as_plain()),
                    (Some(prefix), Some("a: b"))
                );
            }
            for raw in [
                name.to_owned(),
                format!(" {name}: a"),
                format!("{name} : a"),
                name.to_uppercase() + ": a",
            ] {
                let reason = Reason::from(JsonStr::from_raw(&raw).unwrap());
                assert_eq!((reason.prefix(), reason.rest()), (None, reason.text()));
            }
        }
    }
}
