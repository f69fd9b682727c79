//! The contenders of rows 1 and 4 under criterion, for looking closer at one of them.

use borrowire::nostr::neg::{NegMsg, decode_msg};
use borrowire_benches::neg::{
    HEX_SIZES, SUB, binary, frame, hex_serde_json, read_serde_json, read_sonic,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn neg_msg(criterion: &mut Criterion) {
    for (name, hex_len) in HEX_SIZES {
        let binary = binary(hex_len / 2);
        let frame = frame(&binary);
        let mut out = Vec::with_capacity(frame.len());
        let id = |contender| BenchmarkId::new(contender, name);
        let mut group = criterion.benchmark_group("neg_msg_write");
        group.throughput(Throughput::Bytes(frame.len() as u64));
        group.bench_function(id("borrowire"), |bencher| {
            bencher.iter(|| {
                out.clear();
                NegMsg { sub: SUB, message: binary.as_slice().into() }.write(&mut out);
            });
        });
        group.bench_function(id("hex + serde_json"), |bencher| {
            bencher.iter(|| hex_serde_json(&binary, &mut out));
        });
        group.finish();
        let mut group = criterion.benchmark_group("neg_msg_read");
        group.throughput(Throughput::Bytes(frame.len() as u64));
        group.bench_function(id("borrowire"), |bencher| {
            bencher.iter(|| {
                out.clear();
                decode_msg(&frame, &mut out).is_ok()
            });
        });
        group.bench_function(id("serde_json"), |bencher| {
            bencher.iter(|| read_serde_json(&frame, &mut out));
        });
        group.bench_function(id("sonic-rs"), |bencher| {
            bencher.iter(|| read_sonic(&frame, &mut out));
        });
        group.finish();
    }
}

criterion_group!(benches, neg_msg);
criterion_main!(benches);
