//! The filters of many subscriptions.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use crate::buffer::Buffer;
use crate::json::JsonStr;
use crate::nostr::event::EventView;
use crate::nostr::filter::compiled::{CompiledFilter, Condition, Values};
use crate::nostr::filter::index::{Entry, Index, Key, Place};
use crate::nostr::filter::letter::Letter;

/// The filters of live subscriptions, by a key of the caller's (a connection and a subscription id,
/// say): tells of an event which subscriptions it is for.
///
/// Each filter is entered under the values of one of its conditions, so that an event is held only
/// against filters that ask for its id, its author, one of its tags or its kind. Which condition: the
/// ids, or else the shortest list of public keys or of tag values that look like ids, or else the
/// shortest list of other tag values, or else the kinds. Filters without any of these are held
/// against every event.
///
/// So the cost of an event grows with what the event has (a look-up for its id, its author, its kind
/// and each of its tags that anyone asks for) and with the filters found, not with the number of
/// subscriptions. What it is for must be told, however: 10,000 subscriptions that ask for kind 1 and
/// nothing else are 10,000 answers to every note.
///
/// Peers choose filters and events. Look-ups go by a hash with a secret of this set; no posting is
/// read twice for an event, however often the event repeats a tag; and a subscription is taken out
/// at a cost that does not depend on the others.
///
/// ```
/// use borrowire::nostr::event::EventView;
/// use borrowire::nostr::filter::{CompiledFilter, FilterSet, FilterView, Visited};
///
/// # let event = format!(
/// #     r#"{{"id":"{0}","pubkey":"{0}","created_at":1,"kind":1,"content":"","sig":"{0}{0}","tags":[["t","nostr"]]}}"#,
/// #     "0".repeat(64)
/// # );
/// let compiled = |filter: &str| FilterView::parse(filter.as_bytes()).map(|view| CompiledFilter::from(&view));
/// let mut set = FilterSet::new();
/// set.insert("notes", [compiled(r##"{"kinds":[1]}"##)?]);
/// set.insert("tagged", [compiled(r##"{"kinds":[7]}"##)?, compiled(r##"{"#t":["nostr"]}"##)?]);
/// set.insert("later", [compiled(r##"{"since":2}"##)?]);
///
/// let event = EventView::parse(event.as_bytes())?; // "created_at":1,"kind":1,"tags":[["t","nostr"]]
/// let (mut visited, mut found) = (Visited::new(), Vec::new()); // reuse them for the next event
/// set.matches(&event, &mut visited, &mut found);
/// found.sort();
/// assert_eq!(found, ["notes", "tagged"]);
/// # Ok::<(), borrowire::Error>(())
/// ```
#[derive(Clone)]
pub struct FilterSet<K> {
    keys: HashMap<K, u32>,
    subscriptions: Slots<Subscription<K>>,
    filters: Slots<Entered>,
    index: Index,
    /// The filters that no value finds.
    all: Vec<Place>,
}

impl<K: Clone + Eq + Hash> FilterSet<K> {
    /// A set of no subscription.
    pub fn new() -> Self {
        Self {
            keys: HashMap::new(),
            subscriptions: Slots::new(),
            filters: Slots::new(),
            index: Index::new(),
            all: Vec::new(),
        }
    }

    /// Adds a subscription, in the place of the one with the same key; says whether there was one.
    ///
    /// # Panics
    /// If the set would have 2^32 filters or values of them.
    pub fn insert(&mut self, key: K, filters: impl IntoIterator<Item = CompiledFilter>) -> bool {
        let was_there = self.remove(&key);
        let new = Subscription { key: key.clone(), filters: Box::default() };
        let subscription = self.subscriptions.add(new);
        let filters = filters.into_iter().map(|filter| self.enter(subscription, filter)).collect();
        self.subscriptions[subscription].filters = filters;
        self.keys.insert(key, subscription);
        was_there
    }

    /// Takes a subscription out; says whether it was there.
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(subscription) = self.keys.remove(key) else {
            return false;
        };
        let subscription = self.subscriptions.remove(subscription);
        subscription.into_iter().flat_map(|subscription| subscription.filters).for_each(|filter| {
            self.take_out(filter);
        });
        true
    }

    /// Whether there is a subscription with this key.
    pub fn contains(&self, key: &K) -> bool {
        self.keys.contains_key(key)
    }

    /// How many subscriptions there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no subscription.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Appends to `found` the key of each subscription that `event` is for, once, in no order.
    ///
    /// Allocates nothing once `visited` and `found` have grown.
    pub fn matches<B: Buffer>(
        &self,
        event: &EventView<B>,
        visited: &mut Visited,
        found: &mut Vec<K>,
    ) {
        self.for_each_match(event, visited, |key| found.push(key.clone()));
    }

    /// Calls `each` with the key of each subscription that `event` is for, once, in no order.
    pub fn for_each_match<B: Buffer>(
        &self,
        event: &EventView<B>,
        visited: &mut Visited,
        mut each: impl FnMut(&K),
    ) {
        let mut unescaped = visited.begin(self.subscriptions.len(), self.index.len());
        let mut hold = |visited: &mut Visited, known: Option<Condition>, places: &[Place]| {
            for place in places {
                let Some(entered) = self.filters.get(place.filter) else {
                    continue;
                };
                let subscription = entered.subscription;
                if !visited.subscriptions.has(subscription)
                    && entered.filter.matches_beside(known, event)
                    && let Some(subscribed) = self.subscriptions.get(subscription)
                {
                    visited.subscriptions.insert(subscription);
                    each(&subscribed.key);
                }
            }
        };
        let own = [
            (Condition::Ids, Key::Id(event.id())),
            (Condition::Authors, Key::Author(event.pubkey())),
            (Condition::Kinds, Key::Kind(event.kind())),
        ];
        for (condition, key) in own {
            if let Some(posting) = self.index.find(key) {
                hold(visited, Some(condition), self.index.places(posting));
            }
        }
        let letters = self.index.letters();
        if letters != 0 {
            for (letter, value) in event.letter_tags() {
                let Some(letter) = Letter::of_byte(letter).filter(|l| letters & l.bit() != 0)
                else {
                    continue;
                };
                let Some(posting) = self.find_tag(letter, &value, &mut unescaped) else {
                    continue;
                };
                if visited.postings.insert(posting) {
                    hold(visited, Some(Condition::Tag(letter)), self.index.places(posting));
                }
            }
        }
        hold(visited, None, &self.all);
        visited.unescaped = unescaped;
    }

    #[inline(always)]
    fn find_tag(&self, letter: Letter, value: &JsonStr<'_>, unescaped: &mut String) -> Option<u32> {
        match value.as_plain() {
            Some(plain) => self.index.find(Key::Tag(letter, plain)),
            None => {
                unescaped.clear();
                value.unescape_into(unescaped);
                self.index.find(Key::Tag(letter, unescaped))
            }
        }
    }

    fn enter(&mut self, subscription: u32, filter: CompiledFilter) -> u32 {
        let condition = most_selective(&filter);
        let i = self.filters.next();
        let entries = match condition {
            Some(condition) => self.index.enter(i, condition, filter.values(condition)),
            None => {
                self.all.push(Place { filter: i, value: 0 });
                Box::default()
            }
        };
        let at_all = self.all.len().wrapping_sub(1);
        self.filters.add(Entered { subscription, filter, condition, entries, at_all })
    }

    fn take_out(&mut self, filter: u32) {
        let Some(entered) = self.filters.remove(filter) else {
            return;
        };
        for entry in &entered.entries {
            // Whoever takes this place must know. No filter has two values in one posting, so it is
            // another one.
            if let Some(moved) = self.index.take_out(*entry) {
                self.filters[moved.filter].entries[moved.value as usize].at = entry.at;
            }
        }
        if entered.condition.is_none() {
            self.all.swap_remove(entered.at_all);
            if let Some(moved) = self.all.get(entered.at_all) {
                self.filters[moved.filter].at_all = entered.at_all;
            }
        }
    }
}

impl<K: Clone + Eq + Hash> Default for FilterSet<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// Without the secret of the set.
impl<K> fmt::Debug for FilterSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterSet").field("len", &self.keys.len()).finish_non_exhaustive()
    }
}

/// What [`FilterSet::matches`] notes while it looks at an event, kept between events so that it need
/// not be allocated again. One for each thread; any set may use it.
#[derive(Clone, Debug, Default)]
pub struct Visited {
    subscriptions: Marks,
    postings: Marks,
    unescaped: String,
}

impl Visited {
    /// Nothing noted, nothing allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the last event; lends the room for a text.
    fn begin(&mut self, subscriptions: usize, postings: usize) -> String {
        self.subscriptions.begin(subscriptions);
        self.postings.begin(postings);
        std::mem::take(&mut self.unescaped)
    }
}

/// A set of small numbers that is emptied at once: a number is in it if its mark is of this round.
#[derive(Clone, Debug, Default)]
struct Marks {
    marks: Vec<u32>,
    round: u32,
}

impl Marks {
    /// Empties the set, and makes room for numbers below `len`.
    fn begin(&mut self, len: usize) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.marks.fill(0);
            self.round = 1;
        }
        if self.marks.len() < len {
            self.marks.resize(len, 0);
        }
    }

    #[inline(always)]
    fn has(&self, i: u32) -> bool {
        self.marks[i as usize] == self.round
    }

    /// True if it is new.
    #[inline(always)]
    fn insert(&mut self, i: u32) -> bool {
        std::mem::replace(&mut self.marks[i as usize], self.round) != self.round
    }
}

#[derive(Clone)]
struct Subscription<K> {
    key: K,
    filters: Box<[u32]>,
}

/// A filter, and where the index has it.
#[derive(Clone)]
struct Entered {
    subscription: u32,
    filter: CompiledFilter,
    /// The condition it is entered under; `None` in `all`.
    condition: Option<Condition>,
    /// Of each value of the condition.
    entries: Box<[Entry]>,
    /// Its place in `all`, if it is there.
    at_all: usize,
}

/// Values under numbers that are used again.
#[derive(Clone)]
struct Slots<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    const fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    /// How many numbers were ever given at once.
    const fn len(&self) -> usize {
        self.values.len()
    }

    /// The number of the value that is added next.
    fn next(&self) -> u32 {
        match self.free.last() {
            Some(i) => *i,
            None => u32::try_from(self.values.len()).expect("fewer than 2^32 filters"),
        }
    }

    fn add(&mut self, value: T) -> u32 {
        let i = self.next();
        match self.free.pop() {
            Some(i) => self.values[i as usize] = Some(value),
            None => self.values.push(Some(value)),
        }
        i
    }

    fn remove(&mut self, i: u32) -> Option<T> {
        let value = self.values[i as usize].take();
        self.free.extend(value.is_some().then_some(i));
        value
    }

    #[inline(always)]
    fn get(&self, i: u32) -> Option<&T> {
        self.values[i as usize].as_ref()
    }
}

impl<T> std::ops::Index<u32> for Slots<T> {
    type Output = T;

    fn index(&self, i: u32) -> &T {
        self.get(i).expect("a number in use")
    }
}

impl<T> std::ops::IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, i: u32) -> &mut T {
        self.values[i as usize].as_mut().expect("a number in use")
    }
}

/// The condition that the fewest events meet, as far as one can tell.
fn most_selective(filter: &CompiledFilter) -> Option<Condition> {
    filter.conditions().min_by_key(|condition| {
        let values = filter.values(*condition);
        let rank = match (condition, values) {
            (Condition::Ids, _) => 0,
            (Condition::Authors, _) => 1,
            (Condition::Tag(_), Values::Texts(texts)) if texts.iter().all(|t| t.len() == 64) => 1,
            (Condition::Tag(_), _) => 2,
            (Condition::Kinds, _) => 3,
        };
        (rank, values.len())
    })
}
