//! A message as it is written.

use bytes::BufMut;

use crate::error::{Error, ErrorKind};
use crate::negentropy::message::{Bound, Payload};
use crate::negentropy::varint;
use crate::negentropy::{
    FINGERPRINT, FINGERPRINT_LEN, ID_LEN, ID_LIST, PREFIX, RANGE, SKIP, TIMESTAMP, VERSION,
};

/// Appends a message to a buffer, range by range. What it has written is a whole message at any
/// time.
///
/// ```
/// use borrowire::negentropy::{Bound, MessageBuilder, Payload};
///
/// let mut message = Vec::new();
/// let mut builder = MessageBuilder::new(&mut message);
/// builder.push(Bound::At { timestamp: 5, prefix: &[0xaa] }, Payload::Skip)?;
/// builder.push(Bound::Infinity, Payload::IdList(&[]))?;
/// assert_eq!(message, b"\x61\x06\x01\xaa\x00\x00\x00\x02\x00");
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageBuilder<'o, O: BufMut> {
    out: &'o mut O,
    written: usize,
    /// The last bound, its prefix filled up with zeros; `None` at infinity.
    lower: Option<(u64, [u8; ID_LEN])>,
}

impl<'o, O: BufMut> MessageBuilder<'o, O> {
    /// Begins a message at the end of `out`.
    pub fn new(out: &'o mut O) -> Self {
        out.put_u8(VERSION);
        Self { out, written: 1, lower: Some((0, [0; ID_LEN])) }
    }

    /// Appends a range that ends at `upper`. Errs, and appends nothing, at a prefix of more than
    /// 32 bytes, at timestamp 2^64 - 1, at a bound below the last one, and after infinity.
    pub fn push(&mut self, upper: Bound<'_>, payload: Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::Skip => self.put_head(upper, SKIP),
            Payload::Fingerprint(fingerprint) => {
                self.put_head(upper, FINGERPRINT)?;
                self.put(fingerprint);
                Ok(())
            }
            Payload::IdList(ids) => {
                self.put_head(upper, ID_LIST)?;
                self.put_varint(ids.len() as u64);
                self.put(ids.as_flattened());
                Ok(())
            }
        }
    }

    /// Appends an id list, as [`push`](Self::push) does, from ids that do not lie side by side.
    ///
    /// # Panics
    /// If `ids` gives another number of ids than it says.
    pub fn push_ids<'i>(
        &mut self,
        upper: Bound<'_>,
        ids: impl ExactSizeIterator<Item = &'i [u8; ID_LEN]>,
    ) -> Result<(), Error> {
        self.put_head(upper, ID_LIST)?;
        let count = ids.len();
        self.put_varint(count as u64);
        let mut given = 0;
        for id in ids {
            self.put(id);
            given += 1;
        }
        assert_eq!(given, count, "ids that know how many they are");
        Ok(())
    }

    /// How many bytes [`push`](Self::push) would append: for peers that keep a frame limit.
    pub fn encoded_len(&self, upper: Bound<'_>, payload: Payload<'_>) -> usize {
        let lower = self.lower.map_or(0, |(timestamp, _)| timestamp);
        let bound = match upper {
            Bound::At { timestamp, prefix } => {
                let delta = timestamp.saturating_sub(lower).saturating_add(1);
                varint::encoded_len(delta) + varint::encoded_len(prefix.len() as u64) + prefix.len()
            }
            Bound::Infinity => 2,
        };
        let payload = match payload {
            Payload::Skip => 0,
            Payload::Fingerprint(_) => FINGERPRINT_LEN,
            Payload::IdList(ids) => varint::encoded_len(ids.len() as u64) + ID_LEN * ids.len(),
        };
        bound + 1 + payload
    }

    /// How many bytes the message has so far, the version byte included.
    #[expect(clippy::len_without_is_empty, reason = "a message is never empty")]
    pub const fn len(&self) -> usize {
        self.written
    }

    /// Appends a bound and a mode.
    fn put_head(&mut self, upper: Bound<'_>, mode: u8) -> Result<(), Error> {
        let refused = |kind, context| Err(Error::new(kind, self.written, context));
        let Some(lower) = self.lower else {
            return refused(ErrorKind::AfterInfinity, RANGE);
        };
        let Bound::At { timestamp, prefix } = upper else {
            self.lower = None;
            self.put(&[0, 0, mode]);
            return Ok(());
        };
        if timestamp == u64::MAX {
            return refused(ErrorKind::TimestampOverflow, TIMESTAMP);
        }
        let mut id = [0; ID_LEN];
        let Some(start) = id.get_mut(..prefix.len()) else {
            return refused(ErrorKind::too_long(prefix.len(), ID_LEN as u32), PREFIX);
        };
        start.copy_from_slice(prefix);
        if (timestamp, id) < lower {
            return refused(ErrorKind::Descending, RANGE);
        }
        self.lower = Some((timestamp, id));
        // Put together first: every append asks the buffer for room.
        let mut head = [0; MAX_HEAD_LEN];
        let (groups, start) = varint::encode(timestamp - lower.0 + 1);
        let delta_len = groups.len() - start;
        let len = delta_len + 1 + prefix.len() + 1;
        head[..delta_len].copy_from_slice(&groups[start..]);
        head[delta_len] = prefix.len() as u8;
        head[delta_len + 1..len - 1].copy_from_slice(prefix);
        head[len - 1] = mode;
        self.put(&head[..len]);
        Ok(())
    }

    fn put_varint(&mut self, number: u64) {
        let (groups, start) = varint::encode(number);
        self.put(&groups[start..]);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out.put_slice(bytes);
        self.written += bytes.len();
    }
}

/// Bytes of the longest bound and its mode: a varint, a length, an id, a mode.
const MAX_HEAD_LEN: usize = varint::MAX_LEN + 1 + ID_LEN + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builder_refuses_what_the_view_refuses_and_writes_nothing() {
        let mut message = b"before".to_vec();
        let mut builder = MessageBuilder::new(&mut message);
        let at = |timestamp, prefix| Bound::At { timestamp, prefix };
        let mut push = |upper| builder.push(upper, Payload::Skip).map_err(|error| error.kind());
        assert_eq!(push(at(5, &[1])), Ok(()));
        assert_eq!(push(at(5, &[])), Err(ErrorKind::Descending));
        assert_eq!(push(at(4, &[1])), Err(ErrorKind::Descending));
        assert_eq!(push(at(u64::MAX, &[])), Err(ErrorKind::TimestampOverflow));
        assert_eq!(push(at(6, &[0; 33])), Err(ErrorKind::TooLong { len: 33, limit: 32 }));
        assert_eq!(push(at(5, &[1])), Ok(()));
        assert_eq!(push(Bound::Infinity), Ok(()));
        assert_eq!(push(Bound::Infinity), Err(ErrorKind::AfterInfinity));
        assert_eq!(push(at(7, &[])), Err(ErrorKind::AfterInfinity));
        assert_eq!(builder.len(), 12);
        assert_eq!(message, b"before\x61\x06\x01\x01\x00\x01\x01\x01\x00\x00\x00\x00");
    }
}
