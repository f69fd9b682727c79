//! Generates buffa's code for the Waku messages. protox reads the schema, so no `protoc` is needed.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = Path::new(&env::var("OUT_DIR")?).join("waku.binpb");
    let compiled = protox::compile(FILES.map(|file| format!("proto/{file}")), ["proto"])?;
    fs::write(&descriptors, compiled.encode_to_vec())?;
    buffa_build::Config::new()
        .descriptor_set(descriptors)
        .files(&FILES)
        .generate_views(true)
        .lazy_views(true)
        .include_file("buffa_waku.rs")
        .compile()
}

const FILES: [&str; 3] = ["message.proto", "relay.proto", "store.proto"];
