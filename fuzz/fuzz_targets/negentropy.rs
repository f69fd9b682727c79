#![no_main]
#[path = "../../tests/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|message: &[u8]| laws::negentropy::any_message(message));
