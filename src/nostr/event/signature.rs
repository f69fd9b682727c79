//! Signatures of events: Schnorr over secp256k1, by libsecp256k1. Source: NIP-01; BIP-340.
//!
//! What is signed is the id, so a signature says nothing about an event until the id has been
//! computed from the event and found right.
//!
//! A check takes about as long as hashing 100 kB, and nothing makes it cheaper but not doing it:
//! leave out events that were seen before, and those whose id is wrong.

use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use secp256k1::schnorr::{self, Signature};
use secp256k1::{Keypair, XOnlyPublicKey};

use crate::error::{Error, ErrorKind};
use crate::hex::Hex;

/// Checks that the owner of `pubkey` made `sig` for `id`.
///
/// Errs with [`ErrorKind::PublicKey`] or [`ErrorKind::Signature`], at byte 0. Allocates nothing,
/// but for a context of 200 bytes when a thread checks its first.
///
/// ```
/// use borrowire::ErrorKind;
/// use borrowire::nostr::event::{Keys, verify_signature};
///
/// let keys = Keys::from_secret(&[7; 32])?;
/// let sig = keys.sign(&[1; 32]);
/// assert!(verify_signature(&[1; 32], keys.public_key(), &sig).is_ok());
///
/// let error = verify_signature(&[2; 32], keys.public_key(), &sig).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Signature);
/// # Ok::<(), borrowire::Error>(())
/// ```
pub fn verify_signature(id: &[u8; 32], pubkey: &[u8; 32], sig: &[u8; 64]) -> Result<(), Error> {
    Author::parse(pubkey)?.verify(id, sig)
}

/// Checks many signatures, on `threads` threads, the calling one among them. Returns those that
/// are wrong with their places in `signed`, in order: none if all are right.
///
/// More threads than cores ([`available_parallelism`](thread::available_parallelism)) gain nothing.
/// From a few dozen signatures on it pays to start threads; no more are started than that.
///
/// ```
/// use std::thread::available_parallelism;
///
/// use borrowire::nostr::event::{Keys, Signed, verify_all};
///
/// let keys = Keys::from_secret(&[7; 32])?;
/// let mut signed = [[1; 32], [2; 32], [3; 32]]
///     .map(|id| Signed { id, pubkey: *keys.public_key(), sig: keys.sign(&id) });
/// signed[1].id = [9; 32];
///
/// let wrong = verify_all(&signed, available_parallelism()?);
/// assert_eq!(wrong.len(), 1);
/// assert_eq!(wrong[0].0, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_all(signed: &[Signed], threads: NonZero<usize>) -> Vec<(usize, Error)> {
    let next = AtomicUsize::new(0);
    // Threads take a few at a time, so that a core that is slow or busy takes fewer.
    let work = || {
        let mut wrong = Vec::new();
        let mut authors = Authors { recent: [None; RECENT] };
        loop {
            let start = next.fetch_add(TAKEN_AT_ONCE, Relaxed);
            let Some(rest) = signed.get(start..).filter(|rest| !rest.is_empty()) else {
                return wrong;
            };
            for (i, signed) in rest.iter().take(TAKEN_AT_ONCE).enumerate() {
                if let Err(error) = authors.verify(signed) {
                    wrong.push((start + i, error));
                }
            }
        }
    };
    let threads = threads.get().min(signed.len().div_ceil(TAKEN_AT_ONCE));
    let mut wrong = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut wrong = work();
        for other in others {
            wrong.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        wrong
    });
    wrong.sort_unstable_by_key(|&(i, _)| i);
    wrong
}

/// A signature and what it is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// The id that was signed.
    pub id: [u8; 32],
    /// Whose signature it is.
    pub pubkey: [u8; 32],
    /// The signature.
    pub sig: [u8; 64],
}

impl Signed {
    /// Checks it: see [`verify_signature`].
    pub fn verify(&self) -> Result<(), Error> {
        verify_signature(&self.id, &self.pubkey, &self.sig)
    }
}

impl fmt::Debug for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signed")
            .field("id", &Hex(&self.id))
            .field("pubkey", &Hex(&self.pubkey))
            .field("sig", &Hex(&self.sig))
            .finish()
    }
}

/// A public key that was checked, for those who verify much of one author: a tenth of each check
/// goes into finding the point that the key stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Author {
    key: XOnlyPublicKey,
}

impl Author {
    /// The owner of `pubkey`, or [`ErrorKind::PublicKey`].
    pub fn parse(pubkey: &[u8; 32]) -> Result<Self, Error> {
        match XOnlyPublicKey::from_byte_array(*pubkey) {
            Ok(key) => Ok(Self { key }),
            Err(_) => Err(Error::new(ErrorKind::PublicKey, 0, "nostr.pubkey")),
        }
    }

    /// Checks that the author made `sig` for `id`; errs with [`ErrorKind::Signature`].
    pub fn verify(&self, id: &[u8; 32], sig: &[u8; 64]) -> Result<(), Error> {
        match schnorr::verify(&Signature::from_byte_array(*sig), id, &self.key) {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::new(ErrorKind::Signature, 0, "nostr.sig")),
        }
    }

    /// The public key.
    pub fn public_key(&self) -> [u8; 32] {
        self.key.to_byte_array()
    }
}

impl fmt::Debug for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Author").field(&Hex(&self.public_key())).finish()
    }
}

/// A secret key and its public key. Its memory is overwritten when it is dropped; copies that the
/// compiler made on the way are not.
pub struct Keys {
    pair: Keypair,
    public: [u8; 32],
}

impl Keys {
    /// The keys of a secret of 32 bytes. Errs with [`ErrorKind::SecretKey`] if it is 0 or not
    /// below the order of the curve; of random secrets one in 2^128 is.
    pub fn from_secret(secret: &[u8; 32]) -> Result<Self, Error> {
        let Ok(pair) = Keypair::from_secret_bytes(*secret) else {
            return Err(Error::new(ErrorKind::SecretKey, 0, "nostr.secret"));
        };
        let (public, _) = XOnlyPublicKey::from_keypair(&pair);
        Ok(Self { pair, public: public.to_byte_array() })
    }

    /// The public key, as events hold it.
    pub const fn public_key(&self) -> &[u8; 32] {
        &self.public
    }

    /// Signs `id`. The same keys and id give the same signature.
    pub fn sign(&self, id: &[u8; 32]) -> [u8; 64] {
        schnorr::sign_no_aux_rand(id, &self.pair).to_byte_array()
    }

    /// Signs `id` with 32 fresh random bytes, which BIP-340 recommends where others can measure
    /// the machine while it signs.
    pub fn sign_with_randomness(&self, id: &[u8; 32], random: &[u8; 32]) -> [u8; 64] {
        schnorr::sign_with_aux_rand(id, &self.pair, random).to_byte_array()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.pair.non_secure_erase();
    }
}

/// Without the secret.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("public", &Hex(&self.public)).finish_non_exhaustive()
    }
}

/// Authors that were met lately, each in the one place that its public key has. Few write much.
struct Authors {
    recent: [Option<([u8; 32], Author)>; RECENT],
}

impl Authors {
    /// Checks a signature: see [`Signed::verify`], the slow twin.
    fn verify(&mut self, signed: &Signed) -> Result<(), Error> {
        let place = &mut self.recent[usize::from(signed.pubkey[0]) % RECENT];
        let author = match place {
            Some((pubkey, author)) if *pubkey == signed.pubkey => *author,
            _ => {
                let author = Author::parse(&signed.pubkey)?;
                *place = Some((signed.pubkey, author));
                author
            }
        };
        author.verify(&signed.id, &signed.sig)
    }
}

/// How many authors a thread keeps: 6 kB on its stack.
const RECENT: usize = 64;

/// Signatures that a thread takes at once: a millisecond of work.
const TAKEN_AT_ONCE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::{Case, decode};

    #[test]
    fn signatures_are_those_of_bip_340() {
        // Source: BIP-340, test-vectors.csv, 0 and 1. Without randomness is with 32 zeros.
        let keys = Keys::from_secret(&hex(
            "0000000000000000000000000000000000000000000000000000000000000003",
        ))
        .unwrap();
        assert_eq!(
            *keys.public_key(),
            hex("f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9")
        );
        let expected = hex("e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca8215\
             25f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0");
        assert_eq!(keys.sign(&[0; 32]), expected);
        assert_eq!(keys.sign_with_randomness(&[0; 32], &[0; 32]), expected);

        let keys = Keys::from_secret(&hex(
            "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef",
        ))
        .unwrap();
        let Signed { id, pubkey, sig } = second();
        assert_eq!(*keys.public_key(), pubkey);
        let mut random = [0; 32];
        random[31] = 1;
        assert_eq!(keys.sign_with_randomness(&id, &random), sig);
    }

    #[test]
    fn bip_340_says_which_are_right() {
        // Source: BIP-340, test-vectors.csv, 1, 4, 5, 12, 13 and 14.
        let right = second();
        assert_eq!(right.verify(), Ok(()));
        let small_r = Signed {
            id: hex("4df3c3f68fcc83b27e9d42c90431a72499f17875c81a599b566c9889b9696703"),
            pubkey: hex("d69c3509bb99e412e68b0fe8544e72837dfa30746d8be2aa65975f29d22dc7b9"),
            sig: hex("00000000000000000000003b78ce563f89a0ed9414f5aa28ad0d96d6795f9c63\
                      76afb1548af603b3eb45c9f8207dee1060cb71c04e80f593060b07d28308d7f4"),
        };
        assert_eq!(small_r.verify(), Ok(()));

        let kind = |signed: Signed| signed.verify().unwrap_err().kind();
        for pubkey in [
            "eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34",
            "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30",
        ] {
            assert_eq!(kind(Signed { pubkey: hex(pubkey), ..right }), ErrorKind::PublicKey);
        }
        let field = hex("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f");
        let order = hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
        for (at, bad) in [(0, field), (32, order)] {
            let mut wrong = right;
            wrong.sig[at..][..32].copy_from_slice(&bad);
            assert_eq!(kind(wrong), ErrorKind::Signature);
        }
        for secret in [[0; 32], order] {
            let error = Keys::from_secret(&secret).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SecretKey);
        }
    }

    #[test]
    fn every_bit_of_a_signed_event_counts() {
        let right = second();
        for bit in 0..256 {
            let mut wrong = right;
            wrong.id[bit / 8] ^= 1 << (bit % 8);
            assert!(wrong.verify().is_err());
            let mut wrong = right;
            wrong.pubkey[bit / 8] ^= 1 << (bit % 8);
            assert!(wrong.verify().is_err());
        }
        for bit in 0..512 {
            let mut wrong = right;
            wrong.sig[bit / 8] ^= 1 << (bit % 8);
            assert!(wrong.verify().is_err());
        }
    }

    #[test]
    fn all_threads_together_find_what_one_finds() {
        let keys: Vec<_> = (1..=5).map(|i| Keys::from_secret(&[i; 32]).unwrap()).collect();
        let mut signed: Vec<_> = (0..200)
            .map(|i| {
                let (id, keys) = ([i; 32], &keys[usize::from(i) % 7 % 5]);
                Signed { id, pubkey: *keys.public_key(), sig: keys.sign(&id) }
            })
            .collect();
        let threads = |count| NonZero::new(count).unwrap();
        for count in [1, 2, 7, 1000] {
            assert_eq!(verify_all(&signed, threads(count)), []);
            assert_eq!(verify_all(&[], threads(count)), []);
        }
        for i in [0, 31, 32, 150, 199] {
            signed[i].sig[40] ^= 1;
        }
        // No key, and the key of another author that is met in the same place.
        signed[64].pubkey = [0xff; 32];
        signed[70].pubkey[31] ^= 1;
        signed[71].pubkey = signed[72].pubkey;
        let one_by_one: Vec<_> = (0..)
            .zip(&signed)
            .filter_map(|(i, signed)| Some((i, signed.verify().err()?)))
            .collect();
        assert_eq!(one_by_one.len(), 8);
        for count in [1, 2, 3, 7, 1000] {
            assert_eq!(verify_all(&signed, threads(count)), one_by_one);
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        let keys = Keys::from_secret(&[7; 32]).unwrap();
        assert!(!format!("{keys:?}").contains("0707"));
    }

    #[test]
    fn errors_name_the_thing() {
        let wrong = Signed { sig: [1; 64], ..second() }.verify().unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "nostr.sig: not made by this public key for this id, at byte 0"
        );
        let error = Author::parse(&[0xff; 32]).unwrap_err();
        let expected = "nostr.pubkey: not the x coordinate of a point on secp256k1, at byte 0";
        assert_eq!(error.to_string(), expected);
    }

    /// The second vector of BIP-340.
    fn second() -> Signed {
        Signed {
            id: hex("243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89"),
            pubkey: hex("dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659"),
            sig: hex("6896bd60eeae296db48a229ff71dfe071bde413e6d43f917dc8dcf8c78de3341\
                      8906d11ac976abccb20b091292bff4ea897efcb639ea871cfa95f6de339e4b0a"),
        }
    }

    #[track_caller]
    fn hex<const N: usize>(digits: &str) -> [u8; N] {
        let mut bytes = [0; N];
        decode(digits.as_bytes(), &mut bytes, Case::Lower, "test").unwrap();
        bytes
    }
}
