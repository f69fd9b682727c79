//! SHA-256 over slices where they lie.

use sha2::{Digest, Sha256};

/// The SHA-256 of the concatenation of `parts`, which is never built.
///
/// ```
/// use borrowire::sha256::digest;
///
/// assert_eq!(digest(&[b"Hello, ", b"world!"]), digest(&[b"Hello, world!"]));
/// ```
pub fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}
