//! SHA-256 over slices where they lie: one message, or many at once.
//!
//! One stream of SHA-256 leaves half of a modern core idle: each step waits for the one before.
//! [`digest_many`] runs two messages side by side in the SHA extensions of x86-64, and gives a lane
//! its next message as soon as one ends, so that neither waits for the other. It pays from two
//! messages on; for one, [`digest`] is as fast as any.

#![allow(unsafe_code)]

use sha2::{Digest, Sha256};

/// The SHA-256 of the concatenation of `parts`, which is never built.
///
/// ```
/// use borrowire::sha256::digest;
///
/// assert_eq!(digest(&[b"Hello, ", b"world!"]), digest(&[b"Hello, world!"]));
/// ```
pub fn digest(parts: &[&[u8]]) -> [u8; 32] {
    digest_one(&parts)
}

/// The digests of two messages, each the concatenation of its parts, in little more than the time
/// of the longer one.
///
/// ```
/// use borrowire::sha256::{digest, digest_pair};
///
/// let [a, b] = digest_pair(&[b"Hello, ", b"world!"], &[b"abc"]);
/// assert_eq!((a, b), (digest(&[b"Hello, world!"]), digest(&[b"abc"])));
/// ```
pub fn digest_pair(a: &[&[u8]], b: &[&[u8]]) -> [[u8; 32]; 2] {
    let mut digests = [[0; 32]; 2];
    digest_all([a, b], |i, digest| digests[i] = digest);
    digests
}

/// The digests of any number of messages, each the concatenation of its parts; a message with fewer
/// parts than its neighbours ends in empty ones.
///
/// Gives each digest to `deliver` with the number of its message, counted from 0. A message that is
/// short may overtake one that is long, so the numbers come out of order. Nothing is allocated.
/// Parts of more than 256 bytes are read where they lie, but for the ends that share a block of 64
/// bytes with their neighbours; shorter ones pass through a buffer on the stack.
///
/// ```
/// use borrowire::sha256::{Part, digest, digest_many};
///
/// let messages = [("/waku/2/rs/0/0", 1_u64), ("/waku/2/rs/0/1", 2)];
/// let mut digests = [[0; 32]; 2];
/// digest_many(
///     messages.iter().map(|&(topic, time)| [topic.as_bytes().into(), Part::from(time.to_be_bytes())]),
///     |i, digest| digests[i] = digest,
/// );
/// assert_eq!(digests[1], digest(&[b"/waku/2/rs/0/1", &[0, 0, 0, 0, 0, 0, 0, 2]]));
/// ```
pub fn digest_many<P: AsRef<[u8]>, const N: usize>(
    messages: impl IntoIterator<Item = [P; N]>,
    deliver: impl FnMut(usize, [u8; 32]),
) {
    digest_all(messages, deliver);
}

/// A part of a message: bytes that lie elsewhere, or a number that is made on the fly.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Bytes where they lie.
    Slice(&'a [u8]),
    /// Eight bytes of its own, such as the timestamp in a Waku message hash.
    Word([u8; 8]),
}

impl AsRef<[u8]> for Part<'_> {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Slice(slice) => slice,
            Self::Word(word) => word,
        }
    }
}

impl<'a> From<&'a [u8]> for Part<'a> {
    #[inline]
    fn from(slice: &'a [u8]) -> Self {
        Self::Slice(slice)
    }
}

impl From<[u8; 8]> for Part<'_> {
    #[inline]
    fn from(word: [u8; 8]) -> Self {
        Self::Word(word)
    }
}

/// The parts of a message in their order; after the last there is none.
trait Message {
    fn part(&self, i: usize) -> Option<&[u8]>;
}

impl<P: AsRef<[u8]>, const N: usize> Message for [P; N] {
    #[inline(always)]
    fn part(&self, i: usize) -> Option<&[u8]> {
        self.get(i).map(P::as_ref)
    }
}

impl Message for &[&[u8]] {
    #[inline(always)]
    fn part(&self, i: usize) -> Option<&[u8]> {
        self.get(i).copied()
    }
}

#[inline(always)]
fn digest_all<M: Message>(
    messages: impl IntoIterator<Item = M>,
    deliver: impl FnMut(usize, [u8; 32]),
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = lanes::Cpu::detect() {
        return lanes::digest_all(cpu, messages, deliver);
    }
    digest_one_by_one(messages, deliver);
}

/// The slow twin of the lanes, and what other processors run.
fn digest_one_by_one<M: Message>(
    messages: impl IntoIterator<Item = M>,
    mut deliver: impl FnMut(usize, [u8; 32]),
) {
    for (i, message) in messages.into_iter().enumerate() {
        deliver(i, digest_one(&message));
    }
}

fn digest_one(message: &impl Message) -> [u8; 32] {
    let mut hasher = Sha256::new();
    (0..).map_while(|i| message.part(i)).for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// Two messages side by side.
#[cfg(target_arch = "x86_64")]
mod lanes {
    use std::arch::x86_64::*;
    use std::array;
    use std::hint::black_box;

    use super::Message;

    /// Proof that this processor has what [`compress`] needs. Not AVX: its three-operand encoding
    /// saves moves, which cost nothing here, and was 10 % slower.
    #[derive(Clone, Copy)]
    pub(super) struct Cpu(());

    impl Cpu {
        pub(super) fn detect() -> Option<Self> {
            let found = is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1");
            found.then_some(Self(()))
        }

        #[inline(always)]
        fn compress<const N: usize>(self, states: &mut [State; N], blocks: [&[[u8; 64]]; N]) {
            // SAFETY: `self` was made by `detect`, which found the features.
            unsafe { compress(states, blocks) }
        }
    }

    #[inline(always)]
    pub(super) fn digest_all<M: Message>(
        cpu: Cpu,
        messages: impl IntoIterator<Item = M>,
        mut deliver: impl FnMut(usize, [u8; 32]),
    ) {
        let mut messages = messages.into_iter().enumerate();
        let mut lanes = [(); 2].map(|()| Lane::IDLE);
        let mut states = [State::START; 2];
        loop {
            for (lane, state) in lanes.iter_mut().zip(&mut states) {
                while lane.ready().is_empty() && !lane.refill() {
                    if let Some((i, _)) = lane.message.take() {
                        deliver(i, state.digest());
                    }
                    let Some(message) = messages.next() else {
                        break;
                    };
                    lane.start(message);
                    *state = State::START;
                }
            }
            let ready = [lanes[0].ready(), lanes[1].ready()];
            let blocks = match ready.map(<[_]>::len) {
                [0, 0] => return,
                [a, 0] => {
                    cpu.compress(array::from_mut(&mut states[0]), [ready[0]]);
                    [a, 0]
                }
                [0, b] => {
                    cpu.compress(array::from_mut(&mut states[1]), [ready[1]]);
                    [0, b]
                }
                [a, b] => {
                    cpu.compress(&mut states, ready);
                    [a.min(b); 2]
                }
            };
            lanes[0].advance(blocks[0]);
            lanes[1].advance(blocks[1]);
        }
    }

    /// A message on its way through a lane.
    struct Lane<M> {
        /// The message and its number; none if the lane is idle.
        message: Option<(usize, M)>,
        /// The part that is read, and the place in it.
        part: usize,
        at: usize,
        /// Blocks ready in that part, from that place on.
        in_place: usize,
        /// Blocks that hold more than one part, a short part, or the padding.
        gathered: [[u8; 64]; GATHERED + 1],
        /// The first of them that is ready, and how many there are.
        next: usize,
        filled: usize,
        /// Bytes read so far.
        len: u64,
        /// Whether the padding has been gathered.
        padded: bool,
    }

    impl<M> Lane<M> {
        const IDLE: Self = Self {
            message: None,
            part: 0,
            at: 0,
            in_place: 0,
            gathered: [[0; 64]; GATHERED + 1],
            next: 0,
            filled: 0,
            len: 0,
            padded: true,
        };

        #[inline(always)]
        fn start(&mut self, message: (usize, M)) {
            self.message = Some(message);
            (self.part, self.at, self.len, self.padded) = (0, 0, 0, false);
        }

        #[inline(always)]
        fn advance(&mut self, blocks: usize) {
            if self.in_place == 0 {
                self.next += blocks;
            } else {
                self.in_place -= blocks;
                self.at += 64 * blocks;
            }
        }
    }

    impl<M: Message> Lane<M> {
        /// The blocks to be compressed next.
        #[inline(always)]
        fn ready(&self) -> &[[u8; 64]] {
            match &self.message {
                Some((_, message)) if self.in_place > 0 => {
                    let part = message.part(self.part).unwrap_or_default();
                    &part[self.at..].as_chunks().0[..self.in_place]
                }
                _ => &self.gathered[self.next..self.filled],
            }
        }

        /// Readies the next blocks, when none are. False if the message has no more, or there is
        /// none.
        #[inline(always)]
        fn refill(&mut self) -> bool {
            let Some((_, message)) = &self.message else {
                return false;
            };
            if self.padded {
                return false;
            }
            let gathered = self.gathered.as_flattened_mut();
            let mut filled = 0;
            while let Some(part) = message.part(self.part) {
                let rest = &part[self.at..];
                if filled + rest.len() <= 64 * GATHERED {
                    gathered[filled..][..rest.len()].copy_from_slice(rest);
                    filled += rest.len();
                    self.len += rest.len() as u64;
                    self.part += 1;
                    self.at = 0;
                    continue;
                }
                // A long part: its first bytes fill the block at hand, the rest stays in place.
                if filled == 0 {
                    self.in_place = rest.len() / 64;
                    self.len += 64 * self.in_place as u64;
                    return true;
                }
                let head = filled.next_multiple_of(64) - filled;
                gathered[filled..][..head].copy_from_slice(&rest[..head]);
                self.len += head as u64;
                self.at += head;
                (self.next, self.filled) = (0, (filled + head) / 64);
                return true;
            }
            (self.next, self.filled) = (0, pad(gathered, filled, self.len) / 64);
            self.padded = true;
            true
        }
    }

    /// Ends a message of `len` bytes, the last of them at `filled` in its buffer, with a one bit,
    /// zeros, and its length in bits (FIPS 180-4, 5.1.1). Returns where the last block ends.
    #[inline(always)]
    pub(super) fn pad(buffer: &mut [u8], filled: usize, len: u64) -> usize {
        let end = (filled + 9).next_multiple_of(64);
        buffer[filled..end].fill(0);
        buffer[filled] = 0x80;
        buffer[end - 8..end].copy_from_slice(&(len << 3).to_be_bytes());
        end
    }

    /// A hash value in the order that the instructions want: words F and E, B and A, H and G, D and
    /// C, the first of each pair in the lower half.
    #[derive(Clone, Copy)]
    struct State([u64; 4]);

    impl State {
        /// The initial value (FIPS 180-4, 5.3.3).
        const START: Self = Self([
            0x510e527f_9b05688c,
            0x6a09e667_bb67ae85,
            0x1f83d9ab_5be0cd19,
            0x3c6ef372_a54ff53a,
        ]);

        #[inline(always)]
        fn digest(self) -> [u8; 32] {
            let Self([ef, ab, gh, cd]) = self;
            let mut digest = [0; 32];
            for (bytes, pair) in digest.chunks_exact_mut(8).zip([ab, cd, ef, gh]) {
                bytes.copy_from_slice(&pair.to_be_bytes());
            }
            digest
        }
    }

    /// Compresses the blocks of `N` messages into their states, up to the end of the shortest, one
    /// block of each in turn: the processor works on one while it waits for another.
    ///
    /// Loops, not closures: what `std` would call back does not carry the target features, and would
    /// stay a call.
    #[target_feature(enable = "sha,sse4.1")]
    fn compress<const N: usize>(states: &mut [State; N], mut blocks: [&[[u8; 64]]; N]) {
        let mut abef = [vector(0, 0); N];
        let mut cdgh = [vector(0, 0); N];
        let mut count = usize::MAX;
        for lane in 0..N {
            let State([ef, ab, gh, cd]) = states[lane];
            (abef[lane], cdgh[lane]) = (vector(ef, ab), vector(gh, cd));
            count = count.min(blocks[lane].len());
        }
        for blocks in &mut blocks {
            *blocks = &blocks[..count];
        }
        for i in 0..count {
            // Opaque, or the compiler would keep constants in registers all the way and the states,
            // which everything waits for, in memory.
            let k = black_box(&K);
            let before = (abef, cdgh);
            let mut words = [[vector(0, 0); 4]; N];
            for quad in 0..4 {
                for lane in 0..N {
                    words[lane][quad] = load(blocks[lane], i, quad);
                }
                rounds(&mut abef, &mut cdgh, &words, quad, k[quad]);
            }
            for sixteen in 1..4 {
                for quad in 0..4 {
                    for words in &mut words {
                        words[quad] = schedule(words, quad);
                    }
                    rounds(&mut abef, &mut cdgh, &words, quad, k[4 * sixteen + quad]);
                }
            }
            for lane in 0..N {
                abef[lane] = _mm_add_epi32(abef[lane], before.0[lane]);
                cdgh[lane] = _mm_add_epi32(cdgh[lane], before.1[lane]);
            }
        }
        for lane in 0..N {
            let ([ef, ab], [gh, cd]) = (halves(abef[lane]), halves(cdgh[lane]));
            states[lane] = State([ef, ab, gh, cd]);
        }
    }

    /// Four rounds of each message, with `words[..][quad]`.
    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    fn rounds<const N: usize>(
        abef: &mut [__m128i; N],
        cdgh: &mut [__m128i; N],
        words: &[[__m128i; 4]; N],
        quad: usize,
        k: [u32; 4],
    ) {
        let k = _mm_set_epi32(k[3] as i32, k[2] as i32, k[1] as i32, k[0] as i32);
        let mut sums = [k; N];
        for lane in 0..N {
            sums[lane] = _mm_add_epi32(words[lane][quad], k);
            cdgh[lane] = _mm_sha256rnds2_epu32(cdgh[lane], abef[lane], sums[lane]);
        }
        for lane in 0..N {
            let upper = _mm_shuffle_epi32::<0x0e>(sums[lane]);
            abef[lane] = _mm_sha256rnds2_epu32(abef[lane], cdgh[lane], upper);
        }
    }

    /// Four words of block `i`, from big endian.
    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    fn load(blocks: &[[u8; 64]], i: usize, quad: usize) -> __m128i {
        let swap = _mm_set_epi64x(0x0c0d0e0f_08090a0b, 0x04050607_00010203);
        let (quads, _) = blocks[i].as_chunks::<16>();
        let quad = u128::from_le_bytes(quads[quad]);
        _mm_shuffle_epi8(vector(quad as u64, (quad >> 64) as u64), swap)
    }

    /// The four words of the message schedule that take the place of `words[quad]` (FIPS 180-4,
    /// 6.2.2).
    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    fn schedule(words: &[__m128i; 4], quad: usize) -> __m128i {
        let [w0, w1] = [words[quad], words[(quad + 1) % 4]];
        let [w2, w3] = [words[(quad + 2) % 4], words[(quad + 3) % 4]];
        let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8::<4>(w3, w2));
        _mm_sha256msg2_epu32(sum, w3)
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    fn vector(low: u64, high: u64) -> __m128i {
        _mm_set_epi64x(high as i64, low as i64)
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    fn halves(vector: __m128i) -> [u64; 2] {
        let low = _mm_extract_epi64::<0>(vector);
        let high = _mm_extract_epi64::<1>(vector);
        [low as u64, high as u64]
    }

    /// How many blocks a lane gathers before it compresses them.
    const GATHERED: usize = 4;

    /// The round constants (FIPS 180-4, 4.2.2).
    #[rustfmt::skip]
    const K: [[u32; 4]; 16] = [
        [0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5],
        [0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5],
        [0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3],
        [0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174],
        [0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc],
        [0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da],
        [0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7],
        [0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967],
        [0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13],
        [0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85],
        [0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3],
        [0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070],
        [0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5],
        [0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3],
        [0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208],
        [0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2],
    ];
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The digests of `messages` by both paths, in the order of the messages, each given once.
    fn both<M: Message + Clone>(messages: &[M]) -> [Vec<[u8; 32]>; 2] {
        let mut fast = vec![None; messages.len()];
        digest_all(messages.iter().cloned(), |i, digest| {
            assert_eq!(fast[i].replace(digest), None, "message {i} came twice");
        });
        let mut slow = Vec::new();
        digest_one_by_one(messages.iter().cloned(), |i, digest| {
            assert_eq!(i, slow.len());
            slow.push(digest);
        });
        let fast = fast.into_iter().map(|digest| digest.expect("a digest"));
        [fast.collect(), slow]
    }

    fn noise(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        let hex = |digest: [u8; 32]| crate::hex::Hex(&digest).to_string();
        let [abc, empty] = digest_pair(&[b"a", b"bc"], &[]);
        assert_eq!(hex(abc), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(empty), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let [long, million] = digest_pair(
            &[b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"],
            &[&[b'a'; 1_000][..]; 1_000],
        );
        assert_eq!(hex(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        assert_eq!(
            hex(million),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn both_paths_agree_at_every_length() {
        let bytes = noise(1_000);
        let messages: Vec<_> = (0..=1_000).map(|len| [&bytes[..len]]).collect();
        let [fast, slow] = both(&messages);
        for (len, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            let sha2: [u8; 32] = Sha256::digest(&bytes[..len]).into();
            assert_eq!((fast, slow), (&sha2, &sha2), "{len} bytes");
        }
    }

    #[test]
    fn both_paths_agree_at_every_split_and_alignment() {
        let bytes = noise(700);
        for len in [63, 64, 65, 255, 256, 257, 319, 320, 321, 640] {
            let messages: Vec<_> = (0..=len)
                .map(|at| {
                    let bytes = &bytes[at % 33..][..len];
                    [&bytes[..at], &[], &bytes[at..], &[]]
                })
                .collect();
            let [fast, slow] = both(&messages);
            assert_eq!(fast, slow, "{len} bytes");
        }
    }

    #[test]
    fn any_number_of_messages() {
        let bytes = noise(3_000);
        for count in 0..20 {
            // Long ones first, last, and in between.
            for long in 0..=count {
                let messages: Vec<_> = (0..count)
                    .map(|i| [&bytes[i..if i == long { 3_000 } else { 70 * i }]])
                    .collect();
                let [fast, slow] = both(&messages);
                assert_eq!(fast, slow, "{count} messages, number {long} long");
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_padding_holds_any_length() {
        for len in [0, 1, 55, 56, 63, 64, 119, 120, 255, 256] {
            // 2^32 bits are 2^29 bytes; slices of one buffer can add up to more.
            for upper in [0, 1 << 29, 1 << 32, (1 << 61) - (1 << 9)] {
                let mut buffer = [b'x'; 320];
                let end = lanes::pad(&mut buffer, len, upper + len as u64);
                assert!(
                    end.is_multiple_of(64) && (len + 9..len + 9 + 64).contains(&end),
                    "{len}: {end}"
                );
                assert!(buffer[..len].iter().chain(&buffer[end..]).all(|&byte| byte == b'x'));
                assert_eq!(buffer[len], 0x80);
                assert!(buffer[len + 1..end - 8].iter().all(|&byte| byte == 0));
                let bits = (upper as u128 + len as u128) * 8;
                assert_eq!(buffer[end - 8..end], bits.to_be_bytes()[8..], "{len} + {upper}");
            }
        }
    }

    #[test]
    fn parts_of_every_kind() {
        let bytes = noise(300);
        let words = [Part::Word(7_u64.to_be_bytes()), Part::Word([0; 8])];
        let slices = [Part::from(&bytes[..]), Part::from(&[][..])];
        let messages = [words, slices, [words[0], slices[0]], [slices[1], words[1]]];
        let [fast, slow] = both(&messages);
        assert_eq!(fast, slow);
        let slices = messages[2].each_ref().map(Part::as_ref);
        assert_eq!(fast[2], digest(&slices));
        assert_eq!(fast[1], digest_pair(&slices, &[&bytes])[1]);
    }

    proptest! {
        #[test]
        fn both_paths_agree_on_any_messages(
            messages in vec(vec(0..600_usize, 0..9), 0..9),
            alignment in 0..64_usize,
        ) {
            let bytes = noise(700);
            let messages: Vec<Vec<&[u8]>> = messages
                .iter()
                .map(|parts| parts.iter().map(|&len| &bytes[(alignment + len) % 64..][..len]).collect())
                .collect();
            let messages: Vec<_> = messages.iter().map(|parts| &parts[..]).collect();
            let [fast, slow] = both(&messages);
            prop_assert_eq!(&fast, &slow);
            for (message, digest) in messages.iter().zip(&fast) {
                let whole: [u8; 32] = Sha256::digest(message.concat()).into();
                prop_assert_eq!(&whole, digest);
            }
        }
    }
}
