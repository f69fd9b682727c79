#![no_main]
#[path = "../../tests/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::codec::any_stream(input));
