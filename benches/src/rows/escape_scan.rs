//! Row 11: text that may need an escape, copied and scanned in one pass.

use borrowire::output::put_scanned;
use borrowire_benches::interleaved::{Group, ratio};
use borrowire_benches::neg::{Offsets, binary};

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let sizes = [
        ("1 KB", 1_000, 0.6),
        ("4 KB", 4_000, 0.6),
        ("16 KB", 16_000, 0.6),
        ("64 KB", 64_000, 0.6),
        ("512 KB", 512_000, 0.85),
    ];
    sizes.iter().flat_map(|(name, len, target)| run_of(name, *len, *target)).collect()
}

fn run_of(name: &str, len: usize, target: f64) -> Vec<Verdict> {
    let text = &const_hex::encode(binary(len / 2));
    let [mut a, mut b] = [(); 2].map(|()| Vec::with_capacity(len + 2));
    let ours = |out: &mut Vec<u8>| {
        out.clear();
        put_scanned(out, text.as_bytes())
    };
    assert_eq!(ours(&mut a), len);
    assert_eq!(a, text.as_bytes());
    let mut copies = Offsets::new(text.as_bytes());
    let mut group = Group::new(format!("11: {name} of text scanned and copied"));
    group
        .add("borrowire, put_scanned", || ours(&mut a))
        .add("memcpy", || copies.copy(2048, |from, to| to.extend_from_slice(from)))
        .add("serde_json", || {
            b.clear();
            serde_json::to_writer(&mut b, text).expect("a vector takes all");
        });
    let figures = group.run(ROUNDS);
    let claim = |what: &str, target, rival: usize| Verdict {
        row: "11",
        claim: format!("{what}, {name}"),
        target,
        measured: ratio(&figures[0], &figures[rival]),
    };
    vec![claim("against memcpy", target, 1), claim("against serde_json", 1.0, 2)]
}
