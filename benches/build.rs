//! Generates buffa's code for a WakuMessage. protox reads the schema, so no `protoc` is needed.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = Path::new(&env::var("OUT_DIR")?).join("waku.binpb");
    let compiled = protox::compile(["proto/message.proto"], ["proto"])?;
    fs::write(&descriptors, compiled.encode_to_vec())?;
    buffa_build::Config::new()
        .descriptor_set(descriptors)
        .files(&["message.proto"])
        .generate_views(true)
        .include_file("buffa_waku.rs")
        .compile()
}
