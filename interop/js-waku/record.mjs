// Prints what js-waku makes of Waku messages, one JSON object a line.
//
//   node record.mjs [--seed N] [--count N]   random messages, encoded and hashed by js-waku
//   node record.mjs --differences            the inputs on which js-waku and borrowire differ
//
// README.md describes the lines. Equal seeds and counts print equal bytes.

import { parseArgs } from "node:util";

import { messageHash } from "@waku/message-hash";
import { proto_message } from "@waku/proto";

const { RateLimitProof, WakuMessage } = proto_message;

/** SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
class Random {
  constructor(seed) {
    this.state = BigInt.asUintN(64, seed);
  }

  u64() {
    this.state = BigInt.asUintN(64, this.state + 0x9e3779b97f4a7c15n);
    let mixed = this.state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }

  /** A whole number from 0 to `end - 1`. `end` is small, so the remainder's bias does not matter. */
  below(end) {
    return Number(this.u64() % BigInt(end));
  }

  pick(values) {
    return values[this.below(values.length)];
  }

  bytes(length) {
    const out = Buffer.alloc(8 * Math.ceil(length / 8));
    for (let at = 0; at < length; at += 8) out.writeBigUInt64LE(this.u64(), at);
    return new Uint8Array(out.subarray(0, length));
  }

  /** Up to `length` scalar values from all planes, mostly the low ones. */
  text(length) {
    let out = "";
    for (let i = 0; i < length; i++) {
      const code = this.below(this.pick([0x80, 0x80, 0x800, 0x10000, 0x110000]));
      const isSurrogate = code >= 0xd800 && code <= 0xdfff;
      if (!isSurrogate) out += String.fromCodePoint(code);
    }
    return out;
  }
}

// The edges of every field, in the order in which the first messages go through them. `undefined`
// is a field that is absent.

// Around the steps of the length varint (1, 2 and 3 bytes) and of SHA-256's block (64 bytes).
const PAYLOAD_LENGTHS = [0, 1, 55, 56, 63, 64, 65, 127, 128, 129, 255, 256, 16383, 16384, 16385];
const META_LENGTHS = [undefined, 0, 1, 63, 64];
const VERSIONS = [undefined, 0, 1, 2, 127, 128, 2 ** 31, 2 ** 32 - 1];
const NOW = 1_700_000_000_000_000_000n;
// The smallest 64-bit number is among the differences: js-waku writes another one.
const TIMESTAMPS = [
  undefined, 0n, 1n, -1n, 63n, 64n, -64n, -65n, NOW, -NOW, 2n ** 31n, 2n ** 32n, -(2n ** 32n),
  2n ** 53n, 1n - 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n, 1n - 2n ** 63n,
];
const PUBSUB_TOPICS = ["/waku/2/rs/0/0", "/waku/2/rs/1/7", "/waku/2/default-waku/proto", "", "/é/雨"];
// js-waku writes text of 40 UTF-16 units and more by another path than shorter text.
const CONTENT_TOPICS = [
  "/waku/2/default-content/proto", "", "a", "/toychat/2/huilong/proto", "/app/1/straße/proto",
  "/聊天/1/你好世界/proto", "/chat/1/🌧️👩‍👩‍👧/json", "\u0000", "\ufeff/app/1/bom/proto", "\uffff\u{10ffff}",
  "x".repeat(39), "x".repeat(40), "é".repeat(64), "雨".repeat(43), "🌧".repeat(20), "/a".repeat(150),
];
const PROOF_LENGTHS = {
  proof: 128, merkleRoot: 32, epoch: 32, shareX: 32, shareY: 32, nullifier: 32, rlnIdentifier: 32,
};

/** Message number `index`: the first ones go through the edges of every field. */
function randomMessage(random, index) {
  const edgeOr = (edges, other) => (index < edges.length ? edges[index] : other());
  const optional = (value) => (random.below(4) > 0 ? value() : undefined);
  const metaLength = edgeOr(META_LENGTHS, () => optional(() => random.below(65)));
  return {
    payload: random.bytes(edgeOr(PAYLOAD_LENGTHS, () => payloadLength(random))),
    contentTopic: edgeOr(CONTENT_TOPICS, () =>
      random.below(2) > 0 ? random.pick(CONTENT_TOPICS) : random.text(random.below(60)),
    ),
    version: edgeOr(VERSIONS, () => random.pick(VERSIONS)),
    timestamp: edgeOr(TIMESTAMPS, () => optional(() => timestamp(random))),
    meta: metaLength === undefined ? undefined : random.bytes(metaLength),
    rateLimitProof: random.below(4) > 0 ? undefined : proof(random),
    ephemeral: random.pick([undefined, false, true]),
  };
}

/** Mostly short, so that records stay small. */
function payloadLength(random) {
  const drawn = random.below(64);
  if (drawn === 0) return random.pick(PAYLOAD_LENGTHS);
  if (drawn < 8) return random.below(5000);
  return drawn < 16 ? random.below(3) : random.below(300);
}

function timestamp(random) {
  const drawn = random.below(8);
  if (drawn < 3) return random.pick(TIMESTAMPS);
  if (drawn < 6) return NOW + (random.u64() >> 6n);
  const any = BigInt.asIntN(64, random.u64());
  return isMiswritten(any) ? any + 1n : any;
}

/** The timestamps that js-waku writes wrongly; `--differences` shows them. */
function isMiswritten(timestamp) {
  return timestamp <= -(2n ** 53n) && BigInt.asUintN(32, timestamp) === 0n;
}

/** Seven fields, each of the length that nwaku expects, empty, or of any length. */
function proof(random) {
  const fields = Object.entries(PROOF_LENGTHS).map(([name, length]) => {
    return [name, random.bytes(random.pick([length, length, 0, random.below(200)]))];
  });
  return Object.fromEntries(fields);
}

/** Messages that js-waku encodes in a way that nobody else reads back as they were. */
function writtenDifferently() {
  const message = { payload: Uint8Array.of(1), contentTopic: "a" };
  return [
    ["timestamp-carry", { ...message, timestamp: -(2n ** 53n) }],
    ["timestamp-carry", { ...message, timestamp: -(2n ** 62n) }],
    ["timestamp-carry", { ...message, timestamp: -(2n ** 63n) }],
    ["lone-surrogate", { ...message, contentTopic: "\ud800" }],
    ["lone-surrogate", { ...message, contentTopic: "/app/1/\udc00/proto" }],
    ["long-meta", { ...message, meta: new Uint8Array(65) }],
    ["empty-payload", { ...message, payload: new Uint8Array() }],
    ["empty-content-topic", { ...message, contentTopic: "" }],
  ];
}

/** Frames that js-waku decodes otherwise than one of the presets of borrowire's rules. */
const READ_DIFFERENTLY = [
  ["topic-not-utf8", "0a01011201ff"],
  ["topic-not-utf8", "0a01011201c3"],
  ["topic-not-utf8", "0a01011203eda080"],
  ["topic-overlong-utf8", "0a01011202c1a1"],
  ["proof-not-a-message", "0a0101120161aa0105ffffffffff"],
  ["proof-rewritten", "0a0101120161aa01040a004005"],
  ["wire-type-ignored", "0a010112016158021807"],
  ["wire-type-overrun", "0a01011201610801"],
  ["version-cut", "0a0101120161188080808010"],
  ["version-cut", "0a010112016118ffffffffffffffffff01"],
  ["ephemeral-cut", "0a0101120161f8018080808010"],
  ["timestamp-cut", "0a010112016150ffffffffffffffffff7f"],
  ["long-varint", "0a82006162120161"],
  ["group", "0a01011201612324"],
  ["field-number", "0a01011201610000"],
  ["field-number", "0a0101120161808080801001"],
];

/** `message` as a JSON object without its frame. */
function fields(pubsubTopic, message) {
  return {
    pubsub_topic: pubsubTopic,
    payload_hex: hex(message.payload),
    // JSON has no lone surrogates; js-waku hashes them as U+FFFD, and so they are shown.
    content_topic: message.contentTopic.toWellFormed(),
    version: message.version ?? null,
    timestamp_ns: message.timestamp?.toString() ?? null,
    meta_hex: hex(message.meta),
    ephemeral: message.ephemeral ?? null,
    rate_limit_proof_hex: hex(message.rateLimitProof && RateLimitProof.encode(message.rateLimitProof)),
    hash_hex: hex(messageHash(pubsubTopic, message)),
  };
}

function decoded(frame) {
  try {
    return fields(PUBSUB_TOPICS[0], WakuMessage.decode(frame));
  } catch {
    return null;
  }
}

function hex(bytes) {
  return bytes === undefined ? null : Buffer.from(bytes).toString("hex");
}

function print(record) {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "1000" },
    differences: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
  },
});

if (options.differences) {
  for (const [difference, message] of writtenDifferently()) {
    const frame_hex = hex(WakuMessage.encode(message));
    print({ difference, written: true, frame_hex, js: fields(PUBSUB_TOPICS[0], message) });
  }
  for (const [difference, frame_hex] of READ_DIFFERENTLY) {
    print({ difference, written: false, frame_hex, js: decoded(Buffer.from(frame_hex, "hex")) });
  }
} else {
  const random = new Random(BigInt(options.seed));
  for (let index = 0; index < Number(options.count); index++) {
    const message = randomMessage(random, index);
    const frame_hex = hex(WakuMessage.encode(message));
    print({ ...fields(random.pick(PUBSUB_TOPICS), message), frame_hex });
  }
}
