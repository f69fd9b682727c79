//! The system's allocator, counting. The benches run on one thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Passes every call on and counts it.
pub struct Counting;

/// How many allocations there were so far.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// A load and a store, since one thread counts: a locked addition would be charged to the rivals.
fn count() {
    ALLOCATIONS.store(ALLOCATIONS.load(Relaxed) + 1, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: `ptr` came from `System` with this layout, and the caller keeps the contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
