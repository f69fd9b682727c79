//! Topics: where a message travels, and what it is about.
//!
//! ```text
//! pubsub topic of a static shard   /waku/2/rs/<cluster>/<shard>
//! content topic                    /[<generation>/]<application>/<version>/<name>/<encoding>
//! ```
//!
//! Source: 23/WAKU2-TOPICS, 51/WAKU2-RELAY-SHARDING.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Expected};
use crate::sha256;

/// A shard of a cluster, named by the pubsub topic `/waku/2/rs/<cluster>/<shard>`.
///
/// Numbers have no leading zeros, so that each shard has one name: gossipsub compares names.
///
/// ```
/// use borrowire::waku::Shard;
///
/// let shard: Shard = "/waku/2/rs/1/5".parse()?;
/// assert_eq!(shard, Shard { cluster: 1, index: 5 });
/// assert_eq!(shard.to_string(), "/waku/2/rs/1/5");
///
/// let error = "/waku/2/rs/1/x".parse::<Shard>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "waku.pubsub_topic: a number from 0 to 65535 without leading zeros expected, \
///      found `x`, at byte 13",
/// );
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_structs)]
pub struct Shard {
    /// The network, such as 1 for The Waku Network.
    pub cluster: u16,
    /// The shard's number in the cluster.
    pub index: u16,
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(topic: &str) -> Result<Self, Error> {
        let Some(numbers) = topic.strip_prefix(SHARD_PREFIX) else {
            let at = common_prefix_len(topic, SHARD_PREFIX);
            return Err(unexpected(Expected::ShardPrefix, topic, at, PUBSUB_TOPIC));
        };
        let Some((cluster, index)) = numbers.split_once('/') else {
            shard_number(topic, SHARD_PREFIX.len(), topic.len())?;
            return Err(unexpected(Expected::Slash, topic, topic.len(), PUBSUB_TOPIC));
        };
        let slash = SHARD_PREFIX.len() + cluster.len();
        Ok(Self {
            cluster: shard_number(topic, SHARD_PREFIX.len(), slash)?,
            index: shard_number(topic, topic.len() - index.len(), topic.len())?,
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SHARD_PREFIX}{}/{}", self.cluster, self.index)
    }
}

/// A content topic, `/[<generation>/]<application>/<version>/<name>/<encoding>`, in its parts.
///
/// ```
/// use std::num::NonZeroU16;
/// use borrowire::waku::ContentTopic;
///
/// let topic = ContentTopic::parse("/toychat/2/huilong/proto")?;
/// assert_eq!((topic.application(), topic.version()), ("toychat", "2"));
/// let shard = topic.shard(1, NonZeroU16::new(8).unwrap())?;
/// assert_eq!(shard.to_string(), "/waku/2/rs/1/3");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentTopic<'a> {
    generation: Option<u32>,
    application: &'a str,
    version: &'a str,
    name: &'a str,
    encoding: &'a str,
}

impl<'a> ContentTopic<'a> {
    /// Reads a content topic of four parts, or five if the first is a generation. No part may be
    /// empty.
    pub fn parse(topic: &'a str) -> Result<Self, Error> {
        if !topic.starts_with('/') {
            return Err(unexpected(Expected::Slash, topic, 0, CONTENT_TOPIC));
        }
        let mut parts = [""; 5];
        let mut count = 0;
        let mut at = 0;
        for part in topic[1..].split('/') {
            // Where the slash before this part is.
            if count == parts.len() {
                return Err(unexpected(Expected::End, topic, at, CONTENT_TOPIC));
            }
            if part.is_empty() {
                return Err(unexpected(Expected::TopicPart, topic, at + 1, CONTENT_TOPIC));
            }
            parts[count] = part;
            count += 1;
            at += 1 + part.len();
        }
        let (generation, [application, version, name, encoding]) = match parts {
            [first, rest @ ..] if count == 5 => (Some(generation(topic, first)?), rest),
            [a, b, c, d, _] if count == 4 => (None, [a, b, c, d]),
            _ => {
                return Err(unexpected(Expected::Slash, topic, topic.len(), CONTENT_TOPIC));
            }
        };
        Ok(Self { generation, application, version, name, encoding })
    }

    /// The shard of `cluster` that the topic belongs to where the cluster has `shards` of them
    /// (autosharding): the last eight bytes of `SHA-256(application ‖ version)`, big-endian,
    /// modulo `shards`.
    ///
    /// Errs with [`ErrorKind::Unsupported`] for a generation above 0, which is not defined yet.
    pub fn shard(&self, cluster: u16, shards: NonZeroU16) -> Result<Shard, Error> {
        if self.generation.unwrap_or(0) != 0 {
            return Err(Error::new(ErrorKind::Unsupported, 1, "waku.content_topic.generation"));
        }
        let digest = sha256::digest(&[self.application.as_bytes(), self.version.as_bytes()]);
        let [.., a, b, c, d, e, f, g, h] = digest;
        let number = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        // A remainder of a u16 fits one.
        Ok(Shard { cluster, index: (number % u64::from(shards.get())) as u16 })
    }

    /// The generation of the sharding rule; `None` means 0.
    pub const fn generation(&self) -> Option<u32> {
        self.generation
    }

    /// The name of the application.
    pub const fn application(&self) -> &'a str {
        self.application
    }

    /// The version of the application's format.
    pub const fn version(&self) -> &'a str {
        self.version
    }

    /// What the application calls the topic.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// How payloads are encoded, such as `proto`.
    pub const fn encoding(&self) -> &'a str {
        self.encoding
    }
}

impl fmt::Display for ContentTopic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(generation) = self.generation {
            write!(f, "/{generation}")?;
        }
        write!(f, "/{}/{}/{}/{}", self.application, self.version, self.name, self.encoding)
    }
}

/// The number in `topic[start..end]`, written in the one way that [`Shard`] prints it.
fn shard_number(topic: &str, start: usize, end: usize) -> Result<u16, Error> {
    let digits = &topic[start..end];
    let wrong = |at| unexpected(Expected::ShardNumber, topic, at, PUBSUB_TOPIC);
    if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
        return Err(wrong(start + at));
    }
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return Err(wrong(start));
    }
    digits.parse().map_err(|_| {
        let kind = ErrorKind::OutOfRange { max: u16::MAX.into() };
        Error::new(kind, start, PUBSUB_TOPIC)
    })
}

/// The generation `digits`, the first part of `topic`.
fn generation(topic: &str, digits: &str) -> Result<u32, Error> {
    if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
        return Err(unexpected(Expected::Generation, topic, 1 + at, CONTENT_TOPIC));
    }
    digits.parse().map_err(|_| {
        let kind = ErrorKind::OutOfRange { max: u32::MAX };
        Error::new(kind, 1, CONTENT_TOPIC)
    })
}

fn common_prefix_len(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn unexpected(expected: Expected, topic: &str, at: usize, context: &'static str) -> Error {
    let found = topic.as_bytes().get(at).copied();
    Error::new(ErrorKind::Unexpected { expected, found }, at, context)
}

const SHARD_PREFIX: &str = "/waku/2/rs/";
const PUBSUB_TOPIC: &str = "waku.pubsub_topic";
const CONTENT_TOPIC: &str = "waku.content_topic";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_one_name() {
        for (topic, error) in [
            ("", "`/waku/2/rs/` expected, found the end, at byte 0"),
            ("/waku/2/default-waku/proto", "`/waku/2/rs/` expected, found `d`, at byte 8"),
            ("/waku/2/rs/", &number("the end", 11)),
            ("/waku/2/rs/1", "`/` expected, found the end, at byte 12"),
            ("/waku/2/rs/1/", &number("the end", 13)),
            ("/waku/2/rs/01/1", &number("`0`", 11)),
            ("/waku/2/rs/+1/1", &number("`+`", 11)),
            ("/waku/2/rs/1/2/3", &number("`/`", 14)),
            ("/waku/2/rs/1/65536", "out of range, at most 65535 fits, at byte 13"),
            ("/waku/2/rs/99999999999999999999/1", "out of range, at most 65535 fits, at byte 11"),
        ] {
            let found = topic.parse::<Shard>().unwrap_err().to_string();
            assert_eq!(found, format!("waku.pubsub_topic: {error}"), "{topic}");
        }
        for topic in ["/waku/2/rs/0/0", "/waku/2/rs/65535/65535"] {
            assert_eq!(topic.parse::<Shard>().unwrap().to_string(), topic);
        }
    }

    #[test]
    fn content_topics_say_what_is_wrong() {
        for (topic, error) in [
            ("", "`/` expected, found the end, at byte 0"),
            ("toychat/2/huilong/proto", "`/` expected, found `t`, at byte 0"),
            ("/toychat/2/huilong", "`/` expected, found the end, at byte 18"),
            ("/toychat//huilong/proto", "a part that is not empty expected, found `/`, at byte 9"),
            ("/toychat/2/huilong/", "a part that is not empty expected, found the end, at byte 19"),
            ("/x/toychat/2/huilong/proto", "a generation number expected, found `x`, at byte 1"),
            ("/0/toychat/2/huilong/proto/x", "the end expected, found `/`, at byte 26"),
            ("/4294967296/a/1/b/proto", "out of range, at most 4294967295 fits, at byte 1"),
        ] {
            let found = ContentTopic::parse(topic).unwrap_err().to_string();
            assert_eq!(found, format!("waku.content_topic: {error}"), "{topic}");
        }
    }

    #[test]
    fn a_generation_above_zero_has_no_shard_yet() {
        let shard = |topic| ContentTopic::parse(topic).unwrap().shard(1, NonZeroU16::MIN);
        assert!(shard("/0/toychat/2/huilong/proto").is_ok());
        let error = shard("/1/toychat/2/huilong/proto").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    fn number(found: &str, at: usize) -> String {
        format!(
            "a number from 0 to 65535 without leading zeros expected, found {found}, at byte {at}"
        )
    }
}
