#![no_main]
#[path = "../../tests/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|text: &[u8]| laws::json::any_text(text));
