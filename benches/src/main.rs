//! `ratios`: every speed claim of borrowire, measured beside its rivals in one run.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml [-- ROW…]`; for row 9 with
//! `--features path -- 9`.

use borrowire_benches::allocator::Counting;
use borrowire_benches::memory::keep_pages;

mod rows;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    // Row 9 shows glibc as it comes.
    if cfg!(not(feature = "path")) {
        keep_pages();
    }
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let mut verdicts = Vec::new();
    for row in rows::ALL {
        if chosen.is_empty() || chosen.iter().any(|choice| choice == row.number) {
            verdicts.extend((row.run)());
        }
    }
    println!("\n### Targets\n\n| row | claim | target | measured | |\n|---|---|---:|---:|---|");
    for verdict in verdicts {
        println!("{verdict}");
    }
}
