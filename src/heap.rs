//! The system's allocator, counting: how much the arms of the message path allocate and hold.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::Sub;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Passes every call on to the system's allocator and counts it. A program that wants the figures
/// installs it:
///
/// ```
/// use borrowire::heap::{CountingAllocator, heap};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let before = heap();
/// let buffer = vec![0_u8; 100];
/// assert!((heap() - before).allocated_bytes >= 100);
/// # drop(buffer);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// What was allocated, by all threads since the start; all zero where [`CountingAllocator`] is not
/// installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heap {
    /// Allocations, a reallocation counted as one.
    pub allocations: u64,
    /// Bytes asked for.
    pub allocated_bytes: u64,
    /// Bytes given back.
    pub freed_bytes: u64,
}

impl Heap {
    /// Bytes that are held now; of a difference, how many more than before.
    pub const fn live_bytes(&self) -> i64 {
        self.allocated_bytes.wrapping_sub(self.freed_bytes) as i64
    }
}

impl Sub for Heap {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            allocations: self.allocations - earlier.allocations,
            allocated_bytes: self.allocated_bytes - earlier.allocated_bytes,
            freed_bytes: self.freed_bytes - earlier.freed_bytes,
        }
    }
}

/// The heap now.
pub fn heap() -> Heap {
    Heap {
        allocations: ALLOCATIONS.load(Relaxed),
        allocated_bytes: ALLOCATED.load(Relaxed),
        freed_bytes: FREED.load(Relaxed),
    }
}

/// The most bytes that were live at once since the last call.
pub fn take_peak() -> i64 {
    PEAK.swap(0, Relaxed).max(heap().live_bytes() as u64) as i64
}

fn allocated(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    let allocated = ALLOCATED.fetch_add(bytes as u64, Relaxed) + bytes as u64;
    let live = allocated.saturating_sub(FREED.load(Relaxed));
    // A load first: the peak rarely moves.
    if live > PEAK.load(Relaxed) {
        PEAK.fetch_max(live, Relaxed);
    }
}

fn freed(bytes: usize) {
    FREED.fetch_add(bytes as u64, Relaxed);
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static FREED: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged, and counting allocates
// nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        freed(layout.size());
        allocated(new_size);
        // SAFETY: `ptr` came from `System` with this layout, and the caller keeps the contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
