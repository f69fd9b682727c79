//! How strict a parser is, and the limits it keeps.
//!
//! Deployed implementations disagree about what they accept; of 68 Waku frames tried on four
//! decoders, 30 were read differently. Which reading is right depends on the work: a relay wants
//! what all accept, an indexer what anyone accepts. So strictness is a value that the caller
//! chooses, as one of four named presets. Three of them differ in what they make of Waku:
//!
//! | | [`STRICT`](Rules::STRICT) | [`PROTO3`](Rules::PROTO3) | [`NWAKU`](Rules::NWAKU) |
//! |---|---|---|---|
//! | varints longer than need be | refused | read | refused |
//! | field numbers 0 and above 2^29 - 1 | refused | refused | skipped |
//! | well-formed groups | refused | skipped | refused |
//! | known field, other wire type | refused | skipped | skipped |
//! | number beyond its field's 32 bits | refused | cut off | refused |
//! | text that is not UTF-8 | refused | refused | read |
//! | `payload` or `content_topic` absent | refused | empty | refused |
//! | `meta` over 64 bytes | refused | read | refused |
//! | a sub-message twice where one belongs | refused | refused | the last counts |
//!
//! All three read Nostr alike: RFC 8259 to the letter, known keys once, lowercase hex.
//! [`LENIENT`](Rules::LENIENT) takes uppercase hex in events and filters, too, and reads Waku as `STRICT` does.
//!
//! ```
//! use borrowire::rules::Rules;
//! use borrowire::waku::MessageView;
//!
//! // js-waku leaves an empty payload out; nwaku refuses the frame.
//! let frame = &[0x12, 0x01, b'a'][..];
//! assert!(MessageView::parse_with(frame, &Rules::PROTO3).is_ok());
//! assert!(MessageView::parse_with(frame, &Rules::NWAKU).is_err());
//! ```

/// What a parser accepts. `Default` is [`Rules::STRICT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub(crate) limits: Limits,
    pub(crate) minimal_varints: bool,
    pub(crate) checked_field_numbers: bool,
    pub(crate) groups: bool,
    pub(crate) matching_wire_types: bool,
    pub(crate) checked_u32: bool,
    pub(crate) utf8: bool,
    pub(crate) required_fields: bool,
    pub(crate) uppercase_hex: bool,
    pub(crate) omitted_message: bool,
    pub(crate) single_messages: bool,
}

impl Rules {
    /// What every deployed decoder accepts and reads alike, with field 21 (`rate_limit_proof`) as
    /// opaque bytes: the rules for a relay.
    pub const STRICT: Self = Self {
        limits: Limits::DEFAULT,
        minimal_varints: true,
        checked_field_numbers: true,
        groups: false,
        matching_wire_types: true,
        checked_u32: true,
        utf8: true,
        required_fields: true,
        uppercase_hex: false,
        omitted_message: false,
        single_messages: true,
    };

    /// What a conforming protobuf parser accepts, reading a known field with another wire type as
    /// an unknown one. A sub-message that is there twice is refused, where others merge the two: a
    /// view cannot without copying. Source: protobuf.dev, "Encoding"; prost 0.14 but for the wire
    /// types and the merging.
    pub const PROTO3: Self = Self {
        limits: Limits { meta: u32::MAX, ..Limits::DEFAULT },
        minimal_varints: false,
        checked_field_numbers: true,
        groups: true,
        matching_wire_types: false,
        checked_u32: false,
        utf8: true,
        required_fields: false,
        uppercase_hex: false,
        omitted_message: false,
        single_messages: true,
    };

    /// What logos-delivery (formerly nwaku) accepts. Source: nim-libp2p `minprotobuf.nim` and
    /// logos-delivery `waku_core/message/codec.nim`.
    pub const NWAKU: Self = Self {
        limits: Limits::DEFAULT,
        minimal_varints: true,
        checked_field_numbers: false,
        groups: false,
        matching_wire_types: false,
        checked_u32: true,
        utf8: false,
        required_fields: true,
        uppercase_hex: false,
        omitted_message: false,
        single_messages: false,
    };

    /// [`STRICT`](Self::STRICT), and what large Nostr relays tolerate beyond it: uppercase digits in
    /// the `id`, `pubkey` and `sig` of an event, which are hashed in lowercase, and in the `ids` and
    /// `authors` of a filter. Source: strfry `events.cpp`, rust-nostr `key.rs`.
    ///
    /// Also OK and CLOSED without a message, which then reads as empty. Source: Quartz
    /// `OkMessage.kt`.
    pub const LENIENT: Self = Self { uppercase_hex: true, omitted_message: true, ..Self::STRICT };

    /// The same rules with other limits.
    ///
    /// ```
    /// use borrowire::rules::{Limits, Rules};
    ///
    /// let mut limits = Limits::DEFAULT;
    /// limits.frame = 153_600;
    /// assert_eq!(Rules::STRICT.with_limits(limits).limits().frame, 153_600);
    /// ```
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits that these rules keep.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Rules {
    /// Reads whatever any preset reads: for a second look at a frame that one of them accepted.
    pub(crate) const ANY: Self = Self {
        limits: Limits {
            frame: u32::MAX,
            meta: u32::MAX,
            group_depth: u8::MAX,
            json_depth: u32::MAX,
            negentropy_ranges: u32::MAX,
            negentropy_ids: u32::MAX,
            filter_values: u32::MAX,
        },
        minimal_varints: false,
        checked_field_numbers: false,
        groups: true,
        matching_wire_types: false,
        checked_u32: false,
        utf8: false,
        required_fields: false,
        uppercase_hex: true,
        omitted_message: true,
        single_messages: false,
    };
}

impl Default for Rules {
    fn default() -> Self {
        Self::STRICT
    }
}

/// How large and how deep a frame may be. Checked before anything is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a frame. Default `u32::MAX`: views keep 32-bit offsets. Parsing allocates nothing,
    /// so the network's own limit (153,600 bytes for a Waku relay) belongs to the transport.
    pub frame: u32,
    /// Bytes of a WakuMessage's `meta`. Default 64, except [`Rules::PROTO3`] (no limit). Source:
    /// 14/WAKU2-MESSAGE.
    pub meta: u32,
    /// Protobuf groups inside each other, a field counted as one. Default 100, the recursion limit
    /// of the C++ and prost implementations. One byte, so that no choice can exhaust the stack.
    pub group_depth: u8,
    /// JSON arrays and objects inside each other, the outermost counted. Default 127, as deep as
    /// serde_json goes. More counts as 127: the reader keeps one bit a level, in 128 bits.
    pub json_depth: u32,
    /// Ranges of a negentropy message. Default 1,000,000: no peer has use for more ranges than
    /// records, and strfry and geode hold a sync to that many records.
    pub negentropy_ranges: u32,
    /// Ids of a negentropy message, all its lists together. Default 1,000,000, the records of a
    /// sync in strfry and geode.
    pub negentropy_ids: u32,
    /// Values of a Nostr filter, all its lists together. Default 20,000: a frame of a megabyte, the
    /// most that a relay is known to take (chorus), holds 15,650 ids.
    pub filter_values: u32,
}

impl Limits {
    /// The limits of [`Rules::STRICT`].
    pub const DEFAULT: Self = Self {
        frame: u32::MAX,
        meta: 64,
        group_depth: 100,
        json_depth: 127,
        negentropy_ranges: 1_000_000,
        negentropy_ids: 1_000_000,
        filter_values: 20_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
