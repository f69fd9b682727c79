//! WakuMessages in JSON, as the REST API of nodes takes and gives them.
//!
//! ```text
//! {"payload":"aGVsbG8=","contentTopic":"/a/1/b/text","version":0,"timestamp":1681964442000000001,
//!  "meta":"bWV0YQ==","ephemeral":false,"proof":"…"}
//!
//! payload       base64, must be there
//! contentTopic  text, must be there
//! version       number, absent reads as 0
//! timestamp     nanoseconds; a number, or text for clients whose numbers end at 2^53
//! meta, proof   base64, absent reads as empty
//! ephemeral     absent reads as false
//! ```
//!
//! Base64 is of the standard alphabet; padding may be left out where it is read, and is written.
//! `null` is absent. Keys that are not known are ignored; a known one that is there twice is an
//! error.
//!
//! Source: logos-delivery `rest_api/endpoint/relay/types.nim`. A node refuses an empty payload or
//! content topic, and stamps a message without timestamp with the time of the request.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::display::Base64Display;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::buffer::{Buffer, check_utf8};
use crate::error::{Error, ErrorKind};
use crate::waku::message::{MessageBuilder, MessageView};

/// A WakuMessage on its way to JSON or from there.
///
/// ```
/// use borrowire::waku::rest::RestMessage;
///
/// let json = r#"{"payload":"aGVsbG8=","contentTopic":"/a/1/b/text","timestamp":"1681964442000000001"}"#;
/// let message = serde_json::from_str::<RestMessage<'_>>(json).unwrap().builder().build()?;
/// assert_eq!((message.payload(), message.timestamp()), (&b"hello"[..], 1_681_964_442_000_000_001));
///
/// assert_eq!(
///     serde_json::to_string(&RestMessage::from_view(&message)?).unwrap(),
///     r#"{"payload":"aGVsbG8=","contentTopic":"/a/1/b/text","version":0,"timestamp":1681964442000000001,"ephemeral":false}"#,
/// );
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RestMessage<'a> {
    /// The payload.
    #[serde(deserialize_with = "payload", serialize_with = "as_base64")]
    pub payload: Cow<'a, [u8]>,
    /// The content topic.
    #[serde(borrow)]
    pub content_topic: Cow<'a, str>,
    /// The version of the payload's encryption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Nanoseconds since the Unix epoch. Written as a number, whatever its size.
    #[serde(default, deserialize_with = "timestamp", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// The application's own data beside the payload.
    #[serde(
        default,
        deserialize_with = "meta",
        serialize_with = "as_base64",
        skip_serializing_if = "is_empty"
    )]
    pub meta: Cow<'a, [u8]>,
    /// Whether the message asks not to be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
    /// The encoded proof of the rate limit: `rate_limit_proof` on the wire.
    #[serde(
        default,
        deserialize_with = "proof",
        serialize_with = "as_base64",
        skip_serializing_if = "is_empty"
    )]
    pub proof: Cow<'a, [u8]>,
}

impl<'a> RestMessage<'a> {
    /// A message that was received, borrowed. Errs at a content topic that is not UTF-8, which no
    /// JSON can hold.
    pub fn from_view<B: Buffer>(view: &'a MessageView<B>) -> Result<Self, Error> {
        let Some(content_topic) = view.content_topic() else {
            let topic = view.content_topic_bytes();
            let start = topic.as_ptr().addr() - view.raw().as_ptr().addr();
            let valid = check_utf8(topic).err().unwrap_or(0);
            return Err(Error::new(ErrorKind::Utf8, start + valid, "waku.content_topic"));
        };
        Ok(Self {
            payload: view.payload().into(),
            content_topic: content_topic.into(),
            version: Some(view.version()),
            timestamp: Some(view.timestamp()),
            meta: view.meta().into(),
            ephemeral: Some(view.ephemeral()),
            proof: view.rate_limit_proof().into(),
        })
    }

    /// What writes the message for the wire, with the fields that the JSON had.
    pub fn builder(&self) -> MessageBuilder<'_> {
        let mut builder = MessageBuilder::new(&self.content_topic, &self.payload);
        if let Some(version) = self.version {
            builder = builder.version(version);
        }
        if let Some(timestamp) = self.timestamp {
            builder = builder.timestamp(timestamp);
        }
        if !self.meta.is_empty() {
            builder = builder.meta(&self.meta);
        }
        if !self.proof.is_empty() {
            builder = builder.rate_limit_proof(&self.proof);
        }
        if let Some(ephemeral) = self.ephemeral {
            builder = builder.ephemeral(ephemeral);
        }
        builder
    }
}

fn as_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Base64Display::new(bytes, &BASE64))
}

fn is_empty(bytes: &[u8]) -> bool {
    bytes.is_empty()
}

fn payload<'a, 'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'a, [u8]>, D::Error> {
    from.deserialize_str(Base64 { name: "payload" })
}

fn meta<'a, 'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'a, [u8]>, D::Error> {
    from.deserialize_option(Base64 { name: "meta" })
}

fn proof<'a, 'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'a, [u8]>, D::Error> {
    from.deserialize_option(Base64 { name: "proof" })
}

fn timestamp<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_option(Timestamp)
}

/// Reads base64 into bytes of their own.
struct Base64 {
    name: &'static str,
}

impl<'de> Visitor<'de> for Base64 {
    type Value = Cow<'static, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in base64", self.name)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match BASE64.decode(text) {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(E::custom(format_args!("{} is not base64: {error}", self.name))),
        }
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(&[]))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

/// Reads a timestamp, a number or text.
struct Timestamp;

impl<'de> Visitor<'de> for Timestamp {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timestamp, whole nanoseconds as a number or text, below 2^63")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        match number.try_into() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// Reads base64 with its padding or without, and writes it with.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn a_message_with_all_fields_comes_back() {
        let view = MessageBuilder::new("/a/1/b/text", b"hello")
            .version(2)
            .timestamp(1_681_964_442_000_000_001)
            .meta(b"meta")
            .rate_limit_proof(b"proof")
            .ephemeral(true)
            .build()
            .unwrap();
        let json = serde_json::to_string(&RestMessage::from_view(&view).unwrap()).unwrap();
        assert_eq!(
            json,
            r#"{"payload":"aGVsbG8=","contentTopic":"/a/1/b/text","version":2,"timestamp":1681964442000000001,"meta":"bWV0YQ==","ephemeral":true,"proof":"cHJvb2Y="}"#
        );
        assert_eq!(read(&json).unwrap().builder().build().unwrap().raw(), view.raw());
    }

    #[test]
    fn timestamps_keep_all_digits_in_both_forms() {
        for time in [0, 1, -1, 1_681_964_442_000_000_001, i64::MIN, i64::MAX] {
            for form in [format!("{time}"), format!("\"{time}\"")] {
                let json = format!(r#"{{"payload":"","contentTopic":"a","timestamp":{form}}}"#);
                assert_eq!(read(&json).unwrap().timestamp, Some(time));
            }
        }
        for form in ["1.5", "1e18", "9223372036854775808", r#""""#, r#""1 ""#, "true", "[1]"] {
            let json = format!(r#"{{"payload":"","contentTopic":"a","timestamp":{form}}}"#);
            let error = read(&json).unwrap_err().to_string();
            assert!(error.contains("timestamp"), "{form}: {error}");
        }
    }

    #[test]
    fn what_is_absent_or_null_is_not_set() {
        let json = r#"{"payload":"AQ","contentTopic":"a\u0062","more":[{"x":null}],"meta":null,"proof":null,"timestamp":null,"version":null,"ephemeral":null}"#;
        let message = read(json).unwrap();
        let view = message.builder().build().unwrap();
        assert_eq!(view.raw(), b"\x0a\x01\x01\x12\x02ab");
        let again = serde_json::to_string(&message).unwrap();
        assert_eq!(again, r#"{"payload":"AQ==","contentTopic":"ab"}"#);
    }

    #[test]
    fn a_content_topic_without_escapes_is_borrowed() {
        let json = r#"{"payload":"","contentTopic":"a"}"#;
        assert!(matches!(read(json).unwrap().content_topic, Cow::Borrowed("a")));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (json, name) in [
            (r#"{"contentTopic":"a"}"#, "`payload`"),
            (r#"{"payload":null,"contentTopic":"a"}"#, "payload"),
            (r#"{"payload":""}"#, "`contentTopic`"),
            (r#"{"payload":"","payload":"","contentTopic":"a"}"#, "duplicate field `payload`"),
            (r#"{"payload":"a","contentTopic":"a"}"#, "payload is not base64"),
            (r#"{"payload":"-_==","contentTopic":"a"}"#, "payload is not base64"),
            (r#"{"payload":"","contentTopic":"a","meta":"?"}"#, "meta is not base64"),
            (r#"{"payload":"","contentTopic":"a","proof":1}"#, "proof in base64"),
            (r#"{"payload":"","contentTopic":"a","version":4294967296}"#, "u32"),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.contains(name), "{json}: {error}");
        }
        let frame = &b"\x0a\x00\x12\x02a\xff"[..];
        let view = MessageView::parse_with(frame, &Rules::NWAKU).unwrap();
        let error = RestMessage::from_view(&view).unwrap_err();
        assert_eq!(error.to_string(), "waku.content_topic: not UTF-8, at byte 5");
    }

    proptest! {
        #[test]
        fn any_message_comes_back(
            content_topic in ".{0,20}",
            payload in vec(any::<u8>(), 0..100),
            meta in vec(any::<u8>(), 0..65),
            version in any::<Option<u32>>(),
            timestamp in any::<Option<i64>>(),
            ephemeral in any::<Option<bool>>(),
        ) {
            let mut builder = MessageBuilder::new(&content_topic, &payload).meta(&meta);
            builder = builder.rate_limit_proof(&payload);
            builder = version.map_or(builder.clone(), |version| builder.version(version));
            builder = timestamp.map_or(builder.clone(), |timestamp| builder.timestamp(timestamp));
            builder = ephemeral.map_or(builder.clone(), |ephemeral| builder.ephemeral(ephemeral));
            let view = builder.build().unwrap();
            let json = serde_json::to_string(&RestMessage::from_view(&view).unwrap()).unwrap();
            prop_assert_eq!(read(&json).unwrap().builder().build().unwrap(), view);
        }
    }

    fn read(json: &str) -> serde_json::Result<RestMessage<'_>> {
        serde_json::from_str(json)
    }
}
