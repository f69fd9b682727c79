#![no_main]
#[path = "../../tests/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|filters: &[u8]| laws::filter::any_filters(filters));
