//! Contenders that do the same work, timed in turns.
//!
//! The machine is shared and its clock changes, so single times say little. In each round every
//! contender runs one batch, in an order that changes, and a ratio compares two batches of one
//! round. Reported are medians over the rounds, with quartiles. Time is the thread's CPU time, which
//! leaves out what other processes took.

use std::hint::black_box;

use crate::allocator::allocations;

/// A set of contenders.
pub struct Group<'a> {
    title: String,
    /// Bytes that one call handles, where the table shall show a speed.
    bytes: Option<usize>,
    contenders: Vec<Contender<'a>>,
}

/// The figures of one contender in a group.
pub struct Figures {
    pub name: String,
    /// Nanoseconds of one call, median.
    pub ns: f64,
    /// Allocations of one call.
    pub allocations: f64,
    /// Pages that one call touched for the first time.
    pub page_faults: f64,
    times: Vec<f64>,
}

/// Median and quartiles of how much faster one contender is than another.
#[derive(Clone, Copy)]
pub struct Ratio {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl<'a> Group<'a> {
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), bytes: None, contenders: Vec::new() }
    }

    /// Shows speeds, of calls that handle so many bytes each.
    pub fn of_bytes(mut self, bytes: usize) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Adds a contender. `work` is one call; what it returns is kept from being optimised away.
    pub fn add<R>(&mut self, name: &str, mut work: impl FnMut() -> R + 'a) -> &mut Self {
        let run = move |times: u64| {
            for _ in 0..times {
                black_box(work());
            }
        };
        self.contenders.push(Contender { name: name.to_owned(), run: Box::new(run), batch: 1 });
        self
    }

    /// Runs all contenders for some rounds, prints a table against the first, and returns the
    /// figures in the order of adding.
    pub fn run(mut self, rounds: usize) -> Vec<Figures> {
        let mut figures = Vec::new();
        for contender in &mut self.contenders {
            contender.calibrate();
            let before = (allocations(), page_faults());
            (contender.run)(contender.batch);
            let counts = (allocations() - before.0, page_faults() - before.1);
            let per_call = |count: u64| count as f64 / contender.batch as f64;
            figures.push(Figures {
                name: contender.name.clone(),
                ns: 0.0,
                allocations: per_call(counts.0),
                page_faults: per_call(counts.1),
                times: Vec::new(),
            });
        }
        let mut seed = 42;
        let mut order: Vec<usize> = (0..self.contenders.len()).collect();
        for _ in 0..rounds {
            shuffle(&mut order, &mut seed);
            for &i in &order {
                figures[i].times.push(self.contenders[i].time_batch());
            }
        }
        for figure in &mut figures {
            figure.ns = quartiles(&figure.times).median;
        }
        self.print(&figures);
        figures
    }

    fn print(&self, figures: &[Figures]) {
        let (speed, line) = self.bytes.map_or(("", ""), |_| (" GB/s |", "---:|"));
        println!("\n### {}\n", self.title);
        println!("| | ns |{speed} first is faster by | allocations | page faults |");
        println!("|---|---:|{line}---:|---:|---:|");
        for figure in figures {
            let Figures { name, ns, allocations, page_faults, .. } = figure;
            let speed = self.bytes.map(|bytes| format!(" {:.1} |", bytes as f64 / ns));
            let speed = speed.unwrap_or_default();
            let ratio = ratio(&figures[0], figure);
            println!("| {name} | {ns:.1} |{speed} {ratio} | {allocations:.1} | {page_faults:.1} |");
        }
    }
}

/// How many times faster `a` is than `b`, round by round.
pub fn ratio(a: &Figures, b: &Figures) -> Ratio {
    ratio_of(&a.times, &b.times)
}

/// How many times shorter the times of `a` are than those of `b`, round by round.
pub fn ratio_of(a: &[f64], b: &[f64]) -> Ratio {
    let ratios: Vec<f64> = b.iter().zip(a).map(|(b, a)| b / a).collect();
    quartiles(&ratios)
}

/// The median and the quartiles of some values.
pub fn quartiles(values: &[f64]) -> Ratio {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize];
    Ratio { low: at(0.25), median: at(0.5), high: at(0.75) }
}

/// The CPU time of this thread in nanoseconds.
pub fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "no CPU clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2}x ({:.2}–{:.2})", self.median, self.low, self.high)
    }
}

struct Contender<'a> {
    name: String,
    run: Box<dyn FnMut(u64) + 'a>,
    /// Calls in one timed batch.
    batch: u64,
}

impl Contender<'_> {
    /// Finds how many calls take about [`BATCH_NS`].
    fn calibrate(&mut self) {
        (self.run)(1);
        let mut calls = 1;
        loop {
            let start = cpu_ns();
            (self.run)(calls);
            let took = cpu_ns() - start;
            if took > BATCH_NS / 2 {
                self.batch = (calls * BATCH_NS / took).max(1);
                return;
            }
            calls *= 2;
        }
    }

    /// Nanoseconds of one call, over a batch, after a few calls that warm the caches again.
    fn time_batch(&mut self) -> f64 {
        (self.run)((self.batch / 8).max(1));
        let start = cpu_ns();
        (self.run)(self.batch);
        (cpu_ns() - start) as f64 / self.batch as f64
    }
}

fn shuffle(order: &mut [usize], seed: &mut u64) {
    for i in (1..order.len()).rev() {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, (*seed >> 33) as usize % (i + 1));
    }
}

/// How many pages this process has touched for the first time.
fn page_faults() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is a valid place for the answer.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    assert_eq!(status, 0, "no usage");
    // SAFETY: the call above succeeded, and so has filled it.
    unsafe { usage.assume_init() }.ru_minflt as u64
}

/// Nanoseconds of a timed batch: long beside the clock's resolution, short beside the machine's
/// moods.
const BATCH_NS: u64 = 2_000_000;
