#![no_main]
#[path = "../../tests/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|frame: &[u8]| laws::waku_store::any_frame(frame));
