//! The contenders of row 8 under criterion, for looking closer at one of them.

use borrowire::waku::MessageView;
use borrowire_benches::waku::{BuffaView, ProstBytes, ProstVec, QuickProtobuf, frame};
use buffa::view::MessageView as _;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use prost::Message;

fn waku_message(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("waku_message");
    for len in [1_000, 10_000, 50_000, 150_000] {
        let frame = frame(7, len);
        let frame = &frame.clone();
        group.throughput(Throughput::Elements(1));
        let id = |name| BenchmarkId::new(name, len);
        group.bench_function(id("borrowire, borrowed"), |bencher| {
            bencher.iter(|| MessageView::parse(&frame[..]).unwrap());
        });
        group.bench_function(id("borrowire, owned"), |bencher| {
            bencher.iter(|| MessageView::parse(frame.clone()).unwrap());
        });
        group.bench_function(id("quick-protobuf"), |bencher| {
            bencher.iter(|| QuickProtobuf::decode(frame).unwrap());
        });
        group.bench_function(id("buffa view"), |bencher| {
            bencher.iter(|| BuffaView::decode_view(frame).unwrap());
        });
        group.bench_function(id("prost Bytes"), |bencher| {
            bencher.iter(|| ProstBytes::decode(frame.clone()).unwrap());
        });
        group.bench_function(id("prost Vec"), |bencher| {
            bencher.iter(|| ProstVec::decode(&frame[..]).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, waku_message);
criterion_main!(benches);
