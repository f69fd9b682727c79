//! The contenders of rows 1, 2, 4 and 11 under criterion, for looking closer at one of them.

use borrowire::json::HexStr;
use borrowire::nostr::neg::{NegMsg, decode_msg};
use borrowire::output::put_scanned;
use borrowire_benches::memory::{Placed, SOURCE, TARGET};
use borrowire_benches::neg::{
    SUB, binary, const_hex_format, read_serde, read_sonic, write_const_hex_sonic, write_hex_serde,
    write_serde, write_sonic,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn neg_msg(criterion: &mut Criterion) {
    for len in [32 << 10, 125 << 10, 250 << 10] {
        let binary = Placed::copy(&binary(len), SOURCE);
        let binary = binary.bytes();
        let frame = Placed::copy(const_hex_format(binary).as_bytes(), SOURCE);
        let frame = frame.bytes();
        let text = Placed::copy(const_hex::encode(binary).as_bytes(), SOURCE);
        let text = std::str::from_utf8(text.bytes()).unwrap();
        let proven = HexStr::new(text, "message").unwrap();
        let mut kept = vec![0; text.len()];
        let mut add = |group: &str, name: &str, work: &mut dyn FnMut(&mut Vec<u8>)| {
            let mut group = criterion.benchmark_group(group);
            group.throughput(Throughput::Bytes(frame.len() as u64));
            // sonic-rs asks for the room of a text that is all escapes.
            let mut out = Placed::room(8 * frame.len(), TARGET);
            group.bench_function(BenchmarkId::new(name, len), |bencher| {
                bencher.iter(|| work(out.refill()));
            });
            group.finish();
        };

        add("neg_msg_from_binary", "borrowire", &mut |out| {
            NegMsg { sub: SUB, message: binary.into() }.write(out);
        });
        add("neg_msg_from_binary", "const-hex + sonic-rs", &mut |out| {
            write_const_hex_sonic(binary, &mut kept, out);
        });
        add("neg_msg_from_binary", "hex + serde_json", &mut |out| write_hex_serde(binary, out));

        add("neg_msg_from_text", "borrowire", &mut |out| {
            NegMsg { sub: SUB, message: proven.into() }.write(out);
        });
        add("neg_msg_from_text", "sonic-rs", &mut |out| write_sonic(text, out));
        add("neg_msg_from_text", "serde_json", &mut |out| write_serde(text, out));
        add("neg_msg_from_text", "memcpy", &mut |out| out.extend_from_slice(frame));

        add("neg_msg_to_binary", "borrowire", &mut |out| {
            decode_msg(frame, out).unwrap();
        });
        // const-hex asks for a buffer that has its length.
        add("neg_msg_to_binary", "sonic-rs + const-hex", &mut |_| read_sonic(frame, &mut kept));
        add("neg_msg_to_binary", "serde_json + const-hex", &mut |_| read_serde(frame, &mut kept));

        add("escape_scan", "borrowire", &mut |out| {
            put_scanned(out, text.as_bytes());
        });
        add("escape_scan", "memcpy", &mut |out| out.extend_from_slice(text.as_bytes()));
        add("escape_scan", "serde_json", &mut |out| serde_json::to_writer(out, text).unwrap());
    }
}

criterion_group!(benches, neg_msg);
criterion_main!(benches);
