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
use borrowire::rules::Rules;

#[test]
fn deep_nesting_is_refused() {
    let (arrays, objects) = ("[".repeat(100_000), "{\"x\":".repeat(100_000));
    let closed = format!("{arrays}{}", "]".repeat(100_000));
    for hostile in [
        event("[]", "x", &format!(",\"x\":{closed}")),
        event("[]", "x", &format!(",\"x\":{arrays}")),
        event("[]", "x", &format!(",\"x\":{objects}")),
    ] {
        let (error, allocated) = allocations(|| EventView::parse(hostile.as_bytes()).unwrap_err());
        assert!(matches!(error.kind(), ErrorKind::TooDeep { limit: 127 }), "{error}");
        assert_eq!(allocated, 0);
    }
    // Where a tag or an event belongs, one bracket too many is enough.
    for hostile in [event(&closed, "x", ""), closed, objects] {
        for parse in [EventView::parse, |bytes| EventView::parse_frame(bytes, &Rules::STRICT)] {
            let (error, allocated) = allocations(|| parse(hostile.as_bytes()).unwrap_err());
            assert!(!error.is_incomplete() || hostile.starts_with("{\"x"), "{error}");
            assert_eq!(allocated, 0);
        }
        let (peeked, allocated) = allocations(|| peek_event_id(hostile.as_bytes()));
        assert_eq!((peeked.is_some(), allocated), (hostile.contains("pubkey"), 0));
    }
}

#[test]
fn large_tags_are_read() {
    let large = format!("[[\"x\",\"{}\"]]", "y".repeat(70_000));
    let escaped = format!("[[\"x\",\"{}\"]]", "\\u0079".repeat(70_000));
    let many = format!("[{}]", vec!["[\"t\",\"v\"]"; 4000].join(","));
    let spaced = format!("[ {} ]", vec!["[ \"t\" , \"v\" ]"; 4000].join(" , "));
    for (tags, count) in [(&large, 1), (&escaped, 1), (&many, 4000), (&spaced, 4000)] {
        let event = event(tags, "x", "");
        let (found, allocated) = allocations(|| {
            let view = EventView::parse(event.as_bytes()).unwrap();
            black_box(view.computed_id());
            (view.tags().len(), view.tags().flatten().count())
        });
        assert_eq!((found, allocated), ((count, 2 * count), 0));
    }
    let [canonical, other] = [(large, escaped), (many, spaced)].map(|(canonical, other)| {
        [canonical, other].map(|tags| {
            let event = event(&tags, "x", "");
            *EventView::parse(event.as_bytes()).unwrap().computed_id()
        })
    });
    assert_eq!((canonical[0], other[0]), (canonical[1], other[1]));
}

/// A content of ten times the length takes about ten times as long: 10 MB and 100 MB, of plain text,
/// of escapes, and of the escapes that are not hashed as they are.
#[test]
fn time_is_linear_in_the_content() {
    for unit in ["plain text, and no end to it; ", "\\n\\\"\\\\", "\\u0041\\/"] {
        let [short, long] = [10_000_000, 100_000_000].map(|len| {
            let event = event("[]", &unit.repeat(len / unit.len()), "");
            // The shorter one is read more often, for a clock that is not the finest.
            let repeats = if len < 100_000_000 { 3 } else { 1 };
            let clock = Clock::new();
            let mut times = [(); 3].map(|()| {
                let start = clock.now();
                for _ in 0..repeats {
                    let ((), allocated) = allocations(|| read(&event));
                    assert_eq!(allocated, 0);
                }
                clock.now() - start
            });
            times.sort_unstable();
            times[1].as_secs_f64() / f64::from(repeats)
        });
        let ratio = long / short;
        println!("{unit:?}: 100 MB take {ratio:.1} times as long as 10 MB ({long:.3} s)");
        assert!(ratio < 20.0, "{unit:?}: {ratio}");
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
    black_box((view.content().chars().count(), view.computed_id()));
}

/// Tells for how long this thread was on a processor, where the system counts it, to a few
/// milliseconds; else the time that passed.
struct Clock {
    start: Instant,
    counts_processor: bool,
}

impl Clock {
    fn new() -> Self {
        let counts_processor = processor_time().is_some_and(|time| !time.is_zero());
        Self { start: Instant::now(), counts_processor }
    }

    fn now(&self) -> Duration {
        match self.counts_processor {
            true => processor_time().unwrap(),
            false => self.start.elapsed(),
        }
    }
}

fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(stat.split(' ').next()?.parse().ok()?))
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
