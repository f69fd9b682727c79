//! Where bytes lie: the speed of a copy depends on it, and so does that of fresh memory.

/// Bytes that begin at a chosen place of a page.
pub struct Placed {
    bytes: Vec<u8>,
    start: usize,
}

impl Placed {
    /// Room for `len` bytes, of which the first will be byte `offset` of a page.
    pub fn room(len: usize, offset: usize) -> Self {
        let mut bytes = Vec::<u8>::with_capacity(len + offset + PAGE);
        let start = bytes.as_ptr().align_offset(PAGE) + offset;
        bytes.resize(start, 0);
        Self { bytes, start }
    }

    /// A copy of `bytes`, of which the first is byte `offset` of a page.
    pub fn copy(bytes: &[u8], offset: usize) -> Self {
        let mut placed = Self::room(bytes.len(), offset);
        placed.bytes.extend_from_slice(bytes);
        placed
    }

    /// Takes the bytes away, and gives the buffer to which others may be appended.
    #[inline]
    pub fn refill(&mut self) -> &mut Vec<u8> {
        self.bytes.truncate(self.start);
        &mut self.bytes
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

/// Makes the allocator keep what it once got from the kernel, as it does in a process that has run
/// for a while: else its trimming decides which contender pays for new pages.
pub fn keep_pages() {
    tune(MAX_MMAP_THRESHOLD, libc::c_int::MAX);
}

/// Runs `work` while the allocator takes every block of 128 KiB and more from the kernel and gives
/// it back, as glibc begins.
pub fn with_fresh_pages<T>(work: impl FnOnce() -> T) -> T {
    tune(128 << 10, 128 << 10);
    let value = work();
    keep_pages();
    value
}

/// From how many bytes on glibc takes a block from the kernel, and from how many free ones on it
/// gives them back. Does nothing elsewhere.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(unused_variables))]
fn tune(mmap_threshold: libc::c_int, trim_threshold: libc::c_int) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let set = |parameter, value| {
            // SAFETY: sets a number of the allocator, which blocks of any age survive.
            let taken = unsafe { libc::mallopt(parameter, value) };
            assert_eq!(taken, 1, "glibc takes no such threshold");
        };
        set(libc::M_MMAP_THRESHOLD, mmap_threshold);
        set(libc::M_TRIM_THRESHOLD, trim_threshold);
        // SAFETY: gives back pages that belong to no block.
        unsafe { libc::malloc_trim(0) };
    }
}

pub const PAGE: usize = 4096;

/// Where sources and targets of a table begin, so that (target - source) mod 4096 is 2,048: `memcpy`
/// is at its best there.
pub const SOURCE: usize = 0;
pub const TARGET: usize = 2048;

/// The largest that glibc takes.
const MAX_MMAP_THRESHOLD: libc::c_int = 32 << 20;
