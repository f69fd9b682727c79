//! The `borrowire` command: looks into frames, and works on them in bulk.

use borrowire::heap::CountingAllocator;

mod cli;

// `borrowire path` measures the heap.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> std::process::ExitCode {
    cli::run()
}
