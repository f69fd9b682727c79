// nostr-tools publishes to a relay, subscribes and counts: node publish.mjs ws://127.0.0.1:7777
//
// nostr-tools checks id and signature of every event that it receives, so what arrives is what was
// sent. Exits with 0 only if every answer is the right one.

import assert from 'node:assert/strict'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay'
import WebSocket from 'ws'

useWebSocketImplementation(WebSocket)

const url = process.argv[2]
const secret = generateSecretKey()
const author = getPublicKey(secret)

// Text of every sort that a frame must carry.
const contents = [
  '', 'plain', 'quote " backslash \\ slash /', 'line\nfeed, tab\t, return\r', '\b\f\u0001\u001f\u007f',
  '<b>&amp;</b>', 'こんにちは 世界', 'مرحبا بالعالم', '🎉👩‍👩‍👧‍👦', '\u2028\u2029\uffff', 'x'.repeat(60_000),
]
const now = Math.floor(Date.now() / 1000)
const note = (content, i) =>
  finalizeEvent({ kind: 1, created_at: now + i, tags: [['t', 'interop'], ['-'], ['x', content]], content }, secret)
const events = contents.map(note)

// An id vouches for all of an event, for nostr-tools has checked it.
const idOf = event => event.id

const publisher = await Relay.connect(url)
const subscriber = await Relay.connect(url)

for (const event of events) {
  assert.equal(await publisher.publish(event), '')
}
assert.match(await publisher.publish(events[0]), /^duplicate:/)

const forged = { ...note('forged', 50), content: 'other words' }
await assert.rejects(publisher.publish(forged), /^Error: invalid: the id is not that of the event/)
const unreadable = { ...note('unreadable', 51), kind: 70_000 }
await assert.rejects(publisher.publish(unreadable), /^Error: invalid: event\.kind/)

assert.equal(await subscriber.count([{ authors: [author] }], {}), events.length)
assert.equal(await subscriber.count([{ authors: [author], '#x': ['plain', 'no such'] }], {}), 1)

// Stored events, the newest first; the end of them; and from there on live ones.
const received = []
let wake
const arrived = async count => {
  while (received.length < count) await new Promise(resolve => (wake = resolve))
}
await new Promise((resolve, reject) => {
  subscriber.subscribe([{ kinds: [1], authors: [author], '#t': ['interop'] }], {
    // Not one with quotes: nostr-tools 2.25 puts ids into its frames as they are.
    id: 'any sub id, 日本',
    onevent: event => {
      received.push(event)
      wake?.()
    },
    oninvalidevent: event => reject(new Error(`not valid: ${JSON.stringify(event)}`)),
    oneose: resolve,
    onclose: reason => reject(new Error(reason)),
  })
})
assert.deepEqual(received.map(idOf), events.toReversed().map(idOf))

const live = contents.map((content, i) => note(content, 100 + i))
for (const event of live) {
  await publisher.publish(event)
}
await publisher.publish(finalizeEvent({ kind: 7, created_at: now, tags: [['t', 'interop']], content: '+' }, secret))
await arrived(events.length + live.length)
assert.deepEqual(received.slice(events.length).map(idOf), live.map(idOf))

// A limit, and a filter that the relay refuses.
const newest = []
await new Promise(resolve => {
  subscriber.subscribe([{ authors: [author], kinds: [1], limit: 3 }], {
    onevent: event => newest.push(event),
    oneose: resolve,
  })
})
assert.deepEqual(newest.map(idOf), live.slice(-3).toReversed().map(idOf))
const reason = await new Promise(resolve => {
  subscriber.subscribe([{ kinds: [-1] }], { onclose: resolve })
})
assert.match(reason, /^invalid: filter\.kinds/)

publisher.close()
subscriber.close()
console.log(
  `nostr-tools: ${events.length + live.length} events published, ${events.length} received stored and ` +
    `${live.length} live, 2 refused, 1 a duplicate; counted, limited, closed`,
)
