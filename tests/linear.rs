//! Hostile and huge events: time grows with the length and no faster, and next to nothing is
//! allocated.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use borrowire::ErrorKind;
use borrowire::nostr::event::{EventView, peek_event_id};
use borrowire::nostr::filter::{CompiledFilter, FilterSet, FilterView, Visited};

#[test]
fn deep_nesting_is_refused() {
    let nested = "[".repeat(100_000) + &"]".repeat(100_000);
    let event = event("[]", "x", &format!(",\"x\":{nested}"));
    let (error, allocated) = allocations(|| EventView::parse(event.as_bytes()).unwrap_err());
    assert!(matches!(error.kind(), ErrorKind::TooDeep { limit: 127 }), "{error}");
    assert_eq!(allocated, 0);
}

#[test]
fn large_tags_are_read() {
    let large = format!("[[\"x\",\"{}\"]]", "y".repeat(70_000));
    let many = format!("[{}]", vec!["[\"t\",\"v\"]"; 4000].join(","));
    for (tags, count) in [(large, 1), (many, 4000)] {
        let event = event(&tags, "x", "");
        let (found, allocated) = allocations(|| {
            let view = EventView::parse(event.as_bytes()).unwrap();
            black_box(view.computed_id());
            view.tags().flatten().count()
        });
        assert_eq!((found, allocated), (2 * count, 0));
    }
}

/// A content of ten times the length takes about ten times as long: 10 MB and 100 MB, of plain text,
/// of escapes, and of the escapes that are not hashed as they are.
#[test]
fn time_is_linear_in_the_content() {
    for unit in ["plain text, and no end to it; ", "\\n\\\"\\\\", "\\u0041\\/"] {
        let [short, long] = [10_000_000, 100_000_000].map(|len| {
            let event = event("[]", &unit.repeat(len / unit.len()), "");
            let times = (0..3).map(|_| {
                let start = Instant::now();
                let ((), allocated) = allocations(|| read(&event));
                assert!(allocated < 1024, "{allocated} bytes");
                start.elapsed()
            });
            times.min().unwrap_or(Duration::ZERO)
        });
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        println!("{unit:?}: 100 MB take {ratio:.1} times as long as 10 MB ({long:?})");
        assert!(ratio < 30.0, "{unit:?}: {ratio}");
    }
}

/// Peers who know each other: n subscriptions ask for one tag, which an event then repeats n times;
/// none matches, so none is passed over as found. Then all leave, the first to come first.
#[test]
fn time_is_linear_in_a_set_that_asks_for_one_tag() {
    let filter = |kind| {
        let filter = format!(r##"{{"#t":["x"],"kinds":[{kind}]}}"##);
        CompiledFilter::from(&FilterView::parse(filter.as_bytes()).unwrap())
    };
    let (matching, other) = (filter(1), filter(2));
    let [short, long] = [10_000, 100_000].map(|len| {
        let event = event(&format!("[{}]", vec![r#"["t","x"]"#; len].join(",")), "", "");
        let view = EventView::parse(event.as_bytes()).unwrap();
        let times = (0..3).map(|_| {
            let (mut visited, mut found) = (Visited::new(), Vec::new());
            let start = Instant::now();
            let mut set = FilterSet::new();
            (0..len).for_each(|key| assert!(!set.insert(key, [other.clone()])));
            set.insert(len, [matching.clone()]);
            set.matches(&view, &mut visited, &mut found);
            assert_eq!(found, [len]);
            (0..=len).for_each(|key| assert!(set.remove(&key)));
            assert!(set.is_empty());
            start.elapsed()
        });
        times.min().unwrap_or(Duration::ZERO)
    });
    let ratio = long.as_secs_f64() / short.as_secs_f64();
    println!("100,000 take {ratio:.1} times as long as 10,000 ({long:?})");
    assert!(ratio < 40.0, "{ratio}");
}

fn read(event: &str) {
    let view = EventView::parse(event.as_bytes()).unwrap();
    assert_eq!(peek_event_id(event.as_bytes()).as_ref(), Some(view.id()));
    black_box(view.content().chars().count());
}

fn event(tags: &str, content: &str, more: &str) -> String {
    let (id, sig) = ("5c".repeat(32), "ab".repeat(64));
    format!(
        r#"{{"pubkey":"{id}","created_at":1,"kind":1,"tags":{tags},"content":"{content}","sig":"{sig}","id":"{id}"{more}}}"#
    )
}

/// What `work` returns, and how many bytes it allocated.
fn allocations<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATED.get();
    let result = work();
    (result, ALLOCATED.get() - before)
}

struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + layout.size());
        // SAFETY: the caller keeps the contract of this very method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of this very method.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
