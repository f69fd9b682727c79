#![no_main]
#[path = "../../tests/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|event: &[u8]| laws::event::any_event(event));
