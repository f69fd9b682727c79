//! Row 16: events held against filters, one and thousands.

use std::hint::black_box;

use borrowire::nostr::event::EventView;
use borrowire::nostr::filter::{CompiledFilter, FilterSet, FilterView, Visited};
use borrowire::rules::Rules;
use borrowire_benches::filter::{
    feed, nostr_event, nostr_filter, nostr_options, subscriptions, value_matches,
};
use borrowire_benches::interleaved::{Figures, Group, Ratio, ratio};
use serde_json::Value;

use super::{ROUNDS, Verdict};

pub(crate) fn run() -> Vec<Verdict> {
    let mut verdicts = run_one();
    verdicts.extend(run_sets());
    verdicts
}

/// One filter and the whole feed.
fn run_one() -> Vec<Verdict> {
    let subscriptions = subscriptions(20);
    let events = Events::new();
    let mut verdicts = Vec::new();
    for (name, i, target) in [
        ("50 authors and kinds", 0, 1.0),
        ("one person's notifications (#p, kinds)", 5, 2.0),
        ("a thread (#e, kinds)", 11, 2.0),
    ] {
        let json = &subscriptions[i];
        let filter = compiled(json);
        let (nostr, value) = (nostr_filter(json), serde_json::from_str::<Value>(json).unwrap());
        let options = nostr_options();
        for ((event, other), plain) in events.views.iter().zip(&events.nostr).zip(&events.values) {
            let matches = filter.matches(event);
            assert_eq!(matches, nostr.match_event(other, options), "{json}");
            assert_eq!(matches, value_matches(&value, plain), "{json}");
        }
        let count = events.views.len();
        let mut group = Group::new(format!("16: {count} events, already read, and {name}"));
        group
            .add("borrowire", || {
                events.views.iter().filter(|event| filter.matches(black_box(*event))).count()
            })
            .add("nostr", || {
                let matches =
                    |event: &&nostr::event::Event| nostr.match_event(black_box(*event), options);
                events.nostr.iter().filter(matches).count()
            })
            .add("serde_json, values", || {
                events
                    .values
                    .iter()
                    .filter(|event| value_matches(&value, black_box(*event)))
                    .count()
            });
        let figures = group.run(ROUNDS);
        assert_eq!(figures[0].allocations, 0.0);
        verdicts.push(Verdict {
            row: "16",
            claim: format!("{name} against nostr, events already read"),
            target,
            measured: ratio(&figures[0], &figures[1]),
        });
        // Views find their tags when they are asked for them, so reading belongs to the whole.
        let mut group = Group::new(format!("16: {count} events, read and held against {name}"));
        group
            .add("borrowire", || {
                let matches = |event: &&str| {
                    filter.matches(&EventView::parse_str(event, &Rules::STRICT).unwrap())
                };
                events.texts.iter().filter(|event| matches(event)).count()
            })
            .add("nostr", || {
                let matches = |event: &&str| nostr.match_event(&nostr_event(event), options);
                events.texts.iter().filter(|event| matches(event)).count()
            })
            .add("serde_json, values", || {
                let matches =
                    |event: &&str| value_matches(&value, &serde_json::from_str(event).unwrap());
                events.texts.iter().filter(|event| matches(event)).count()
            });
        let figures = group.run(ROUNDS);
        assert_eq!(figures[0].allocations, 0.0);
        verdicts.push(Verdict {
            row: "16",
            claim: format!("{name} against nostr, reading included"),
            target: 8.0,
            measured: ratio(&figures[0], &figures[1]),
        });
    }
    verdicts
}

/// Sets of subscriptions and the whole feed.
fn run_sets() -> Vec<Verdict> {
    let events = Events::new();
    let mut verdicts = Vec::new();
    for count in [10, 1000, 10_000] {
        let subscriptions = subscriptions(count);
        let filters: Vec<_> = subscriptions.iter().map(|json| compiled(json)).collect();
        let nostr: Vec<_> = subscriptions.iter().map(|json| nostr_filter(json)).collect();
        let options = nostr_options();
        let mut set = FilterSet::new();
        for (key, filter) in filters.iter().enumerate() {
            set.insert(key as u32, [filter.clone()]);
        }
        let mut visited = Visited::new();
        let mut found = Vec::new();
        let mut answers = 0;
        // The rival takes a second for ten thousand.
        let rounds = if count > 1000 { 7 } else { ROUNDS };
        for (i, event) in events.views.iter().enumerate() {
            set.matches(event, &mut visited, &mut found);
            found.sort_unstable();
            answers += found.len();
            if i % (1 + count / 1000) == 0 {
                let told = nostr.iter().map(|filter| filter.match_event(&events.nostr[i], options));
                let told: Vec<_> =
                    (0..).zip(told).filter_map(|(i, told)| told.then_some(i)).collect();
                assert_eq!(found, told);
            }
            found.clear();
        }
        let mean = answers as f64 / events.views.len() as f64;
        let len = events.views.len();
        let few: Vec<_> = filters.iter().take(10).collect();
        let mut group = Group::new(format!(
            "16: {len} events, already read, and {count} subscriptions, {mean:.1} answers an event"
        ));
        group
            .add("borrowire, FilterSet", || {
                let mut answers = 0;
                for event in &events.views {
                    found.clear();
                    set.matches(black_box(event), &mut visited, &mut found);
                    answers += found.len();
                }
                answers
            })
            .add("borrowire, the first ten filters", || {
                let matching = |event: &EventView<&[u8]>| {
                    few.iter().filter(|filter| filter.matches(black_box(event))).count()
                };
                events.views.iter().map(matching).sum::<usize>()
            })
            .add("borrowire, each filter in turn", || {
                let matching = |event: &EventView<&[u8]>| {
                    filters.iter().filter(|filter| filter.matches(black_box(event))).count()
                };
                events.views.iter().map(matching).sum::<usize>()
            })
            .add("nostr, each filter in turn", || {
                let matching = |event: &nostr::event::Event| {
                    let matches = |filter: &&nostr::filter::Filter| {
                        filter.match_event(black_box(event), options)
                    };
                    nostr.iter().filter(matches).count()
                };
                events.nostr.iter().map(matching).sum::<usize>()
            });
        let figures = group.run(rounds);
        assert_eq!(figures[0].allocations, 0.0);
        // Ten filters stay in the cache, thousands do not: the first is the harder measure.
        let few = figures[0].ns / figures[1].ns * 10.0;
        let all = figures[0].ns / figures[2].ns * count as f64;
        println!(
            "\nThe set of {count} takes as long as {few:.1} matches of one filter, by the mean of \
             the first ten, and {all:.1} by that of all."
        );
        let target = if count == 10 { 2.0 } else { 100.0 };
        verdicts.push(Verdict {
            row: "16",
            claim: format!("a set of {count} against nostr, each in turn"),
            target,
            measured: ratio(&figures[0], &figures[3]),
        });
        if count == 10_000 {
            verdicts.push(Verdict {
                row: "16",
                claim: "a set of 10,000 against 20 matches of one filter".to_owned(),
                target: 1.0,
                measured: times(&figures, 20.0 / 10.0),
            });
        }
    }
    verdicts
}

/// How much longer than the set the first filters take, times `factor`.
fn times(figures: &[Figures], factor: f64) -> Ratio {
    let Ratio { low, median, high } = ratio(&figures[0], &figures[1]);
    Ratio { low: low * factor, median: median * factor, high: high * factor }
}

fn compiled(json: &str) -> CompiledFilter {
    CompiledFilter::from(&FilterView::parse(json.as_bytes()).unwrap())
}

/// The feed, read by everybody.
struct Events {
    texts: Vec<&'static str>,
    views: Vec<EventView<&'static [u8]>>,
    nostr: Vec<nostr::event::Event>,
    values: Vec<Value>,
}

impl Events {
    fn new() -> Self {
        let feed = feed();
        Self {
            views: feed.iter().map(|event| EventView::parse(event.as_bytes()).unwrap()).collect(),
            nostr: feed.iter().map(|event| nostr_event(event)).collect(),
            values: feed.iter().map(|event| serde_json::from_str(event).unwrap()).collect(),
            texts: feed,
        }
    }
}
