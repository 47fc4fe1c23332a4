//! Forecasts how long the rest of a run takes, from its plan and the rates seen so far.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use likenew_core::dry_run::{Expectation, assumed_elapsed_ns, expected, probe_elapsed};
use likenew_core::io::Op;
use likenew_core::probe::Probe;
use likenew_core::procedure::Step;
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Workload};

/// The plan of a run as far as it is known, and how long its parts took so far. It reads no clock: callers
/// pass all times in.
pub struct Forecast {
    /// Whether the user waits as long as the drive's clock says; for a simulated drive the two differ.
    clock: Clock,
    rotates: bool,
    remaining: VecDeque<Part>,
    /// Time of all that is left. `current_ratio` is the running part's time over its assumed time when this
    /// was summed up.
    later_ns: f64,
    /// The guessed part of `later_ns`: work without a time limit, of a kind that has not run yet.
    guessed_ns: f64,
    /// Whether a planned fix has not begun: only a check before it shows whether it is needed.
    is_open: bool,
    current_ratio: f64,
    /// Whether a part took much longer or shorter than expected since the rest was planned.
    is_stale: bool,
    current: Option<(Part, Nanos)>,
    /// By kind of I/O: time over assumed time.
    ratios: HashMap<Kind, Ratio>,
    /// By all properties of a workload but its name and seed: time over assumed time.
    exact: HashMap<u64, Ratio>,
}

/// How much is known of the time left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It takes about that long.
    About,
    /// It takes about that long at most: a planned fix may turn out not to be needed.
    AtMost,
    /// Too much of the time is a guess to state it.
    Guess,
}

/// A planned workload or probe.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    name: String,
    kind: Kind,
    exact: u64,
    is_fix: bool,
    /// Time of its work on the assumed drive, or its time limit if only that ends it.
    assumed_ns: f64,
    /// Its time limit, in the drive's time; infinite without one.
    time_ns: f64,
}

/// What parts have in common that run at one rate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// I/O that ends at its time limit.
    Timed(Box<Kind>),
    /// No I/O.
    Rest,
    /// I/O as fast as the drive does it. `way` is the access (direct, buffered or null), and whether writes are made durable.
    Io {
        ops: [bool; 4],
        way: (u8, bool),
        is_random: bool,
        size_log2: u32,
        depth_log2: u32,
    },
    Probe(&'static str),
}

/// Time that parts of a kind took over their assumed time; the latest parts count most.
#[derive(Clone, Copy, Debug, Default)]
struct Ratio {
    elapsed_ns: f64,
    assumed_ns: f64,
}

/// Share that the weight of earlier parts keeps when the next part of their kind has ended. Chosen: the last
/// two or three parts decide.
const DECAY: f64 = 0.5;
/// A smaller share of a part says nothing about the rest of it. Chosen: the start is too short to time.
const SHARE_MIN: f64 = 0.01;
/// Share of a part from which its rate counts in full, if no part of its kind has ended before. Chosen: early
/// enough to be of use.
const TRUSTED_SHARE: f64 = 0.05;
/// The same share if a part of its kind has ended before. Chosen: a part that starts in a cache slows down
/// later, so known rates count for longer.
const TRUSTED_SHARE_KNOWN: f64 = 0.5;
/// The remaining time is summed up again when the running part's rate changes by this ratio. Chosen: a
/// smaller change would not show.
const CHANGE_FACTOR: f64 = 1.05;
/// The remaining time is called a guess if more than this share of it rests on assumed rates. Chosen: below
/// this, an error of a factor of two hardly shows.
const GUESSED_MOST: f64 = 0.25;

impl Ratio {
    fn add(&mut self, elapsed_ns: f64, assumed_ns: f64) {
        self.elapsed_ns = self.elapsed_ns * DECAY + elapsed_ns;
        self.assumed_ns = self.assumed_ns * DECAY + assumed_ns;
    }

    fn value(&self) -> Option<f64> {
        (self.assumed_ns > 0.0 && self.elapsed_ns > 0.0).then(|| self.elapsed_ns / self.assumed_ns)
    }
}

impl Part {
    fn from_step(step: &Step, rotates: bool) -> Option<Self> {
        match step {
            Step::Run(workload) => Some(Self::run(workload, rotates)),
            Step::Probe(probe) => Some(Self::probe(probe)),
            Step::Done => None,
        }
    }

    fn run(workload: &Workload, rotates: bool) -> Self {
        let Expectation { work, time, is_paced } = expected(workload, rotates);
        let time_ns = time.map_or(f64::INFINITY, |span| span.0 as f64);
        let kind = Kind::from_workload(workload);
        let (kind, assumed_ns) = match work {
            Some(work) if is_paced => (Kind::Timed(Box::new(kind)), time_ns.min(work.0 as f64)),
            Some(work) => (kind, work.0 as f64),
            None => (Kind::Timed(Box::new(kind)), time.unwrap_or_default().0 as f64),
        };
        let bare = Workload { name: String::new(), seed: 0, ..workload.clone() };
        let mut hasher = DefaultHasher::new();
        format!("{bare:?}").hash(&mut hasher);
        Self { name: workload.name.clone(), kind, exact: hasher.finish(), is_fix: false, assumed_ns, time_ns }
    }

    fn probe(probe: &Probe) -> Self {
        let name = probe.name();
        // What the probe waits for may be there at once: with half of the limit, the error is at most half of it.
        let may_end_early = matches!(probe, Probe::Release { .. } | Probe::OldFiles);
        let early_ns = if may_end_early { probe.waits().0 as f64 / 2.0 } else { 0.0 };
        let assumed_ns = probe_elapsed(probe).0 as f64 - early_ns;
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self {
            name: name.to_owned(),
            kind: Kind::Probe(name),
            exact: hasher.finish(),
            is_fix: matches!(probe, Probe::Fix(_)),
            assumed_ns,
            time_ns: f64::INFINITY,
        }
    }
}

impl Kind {
    fn from_workload(workload: &Workload) -> Self {
        if workload.streams.is_empty() {
            return Self::Rest;
        }
        let does = |op: Op| {
            workload.streams.iter().any(|stream| stream.op.shares().into_iter().any(|(done, _)| done == op))
        };
        let is_random =
            workload.streams.iter().any(|stream| !matches!(stream.pattern, AccessPattern::Sequential(_)));
        let sizes: f64 = workload.streams.iter().map(|stream| stream.size.mean()).sum();
        let mean = (sizes / workload.streams.len() as f64) as u64;
        let depth = workload.lanes.saturating_mul(workload.depth());
        Self::Io {
            ops: Op::ALL.map(does),
            way: (workload.access as u8, workload.makes_durable()),
            is_random,
            size_log2: mean.max(1).ilog2(),
            depth_log2: depth.max(1).ilog2(),
        }
    }

    /// Whether both do the same operations with the same access and durability.
    fn matches(&self, other: &Self) -> bool {
        let key = |kind: &Self| match kind {
            Self::Io { ops, way, .. } => Some((*ops, *way)),
            _ => None,
        };
        key(self).is_some_and(|own| key(other) == Some(own))
    }

    /// Whether both match and are both random or both sequential; size and depth may differ.
    fn is_similar(&self, other: &Self) -> bool {
        self.matches(other) && self.is_random() == other.is_random()
    }

    fn is_random(&self) -> bool {
        matches!(self, Self::Io { is_random: true, .. })
    }
}

impl Forecast {
    /// A forecast for these steps in this order, on a drive with this clock that rotates or does not.
    pub fn new(steps: &[Step], clock: Clock, rotates: bool) -> Self {
        let mut forecast = Self {
            clock,
            rotates,
            remaining: VecDeque::new(),
            later_ns: 0.0,
            guessed_ns: 0.0,
            is_open: false,
            current_ratio: 1.0,
            is_stale: false,
            current: None,
            ratios: HashMap::new(),
            exact: HashMap::new(),
        };
        forecast.replan(steps);
        forecast
    }

    /// Whether this step was planned as the next, and earlier parts took about as long as expected.
    pub fn follows_plan(&self, step: &Step) -> bool {
        !self.is_stale && self.remaining.front() == Part::from_step(step, self.rotates).as_ref()
    }

    /// How many times as long as on the assumed drive a workload's I/Os take, judging by what has run so far.
    pub fn slowdown(&self, workload: &Workload) -> f64 {
        self.ratio(&Part::run(workload, self.rotates), None)
    }

    /// Uses the rates of an earlier run on the same drive until this run's own are known. A simulated drive's
    /// recorded times say nothing about how long it takes the user, so they are left out.
    pub fn learn(&mut self, segments: &[Segment]) {
        for segment in segments
            .iter()
            .filter(|segment| self.clock == Clock::Wall && segment.measurement_error().is_none())
        {
            if let Some(assumed_ns) = assumed_elapsed_ns(segment, self.rotates) {
                let kind = Kind::from_workload(&segment.workload);
                self.ratios.entry(kind).or_default().add(segment.elapsed().0 as f64, assumed_ns);
            }
        }
        self.add_up(None);
    }

    /// Replaces the plan of what is still to come.
    pub fn replan(&mut self, steps: &[Step]) {
        self.is_stale = false;
        self.remaining = steps.iter().filter_map(|step| Part::from_step(step, self.rotates)).collect();
        self.add_up(None);
    }

    /// A part begins. Planned parts before it are dropped.
    pub fn on_begin(&mut self, step: &Step, now: Nanos) {
        let Some(part) = Part::from_step(step, self.rotates) else { return };
        if let Some(at) = self.remaining.iter().position(|planned| *planned == part) {
            self.remaining.drain(..=at);
            self.add_up(None);
        }
        self.current = Some((part, now));
    }

    /// The running part has ended, with this share of its work done.
    pub fn on_end(&mut self, share: f64, now: Nanos) {
        let Some((part, started_at)) = self.current.take() else { return };
        let elapsed_ns = now.since(started_at).0 as f64;
        let does_work = matches!(part.kind, Kind::Io { .. });
        let share = if does_work && share > 0.0 { share.min(1.0) } else { 1.0 };
        let thought_ns = self.expected_ns(&part, None);
        self.is_stale |= (elapsed_ns.max(1.0) / thought_ns.max(1.0)).ln().abs() > CHANGE_FACTOR.ln();
        self.ratios.entry(part.kind).or_default().add(elapsed_ns, part.assumed_ns * share);
        self.exact.entry(part.exact).or_default().add(elapsed_ns, part.assumed_ns);
        self.add_up(None);
    }

    /// Adds up the time left. In very long plans it does so only now and then, as adding would take longer than the parts.
    fn add_up(&mut self, current: Option<(&Kind, f64)>) {
        const LONG: usize = 1000;
        const PARTS: usize = 100;
        if self.remaining.len() < LONG || self.remaining.len().is_multiple_of(PARTS) || self.later_ns == 0.0 {
            self.current_ratio = current.map_or(1.0, |(_, ratio)| ratio);
            (self.later_ns, self.guessed_ns) = (0.0, 0.0);
            self.is_open =
                self.remaining.iter().any(|part| part.is_fix && !self.ratios.contains_key(&part.kind));
            for part in &self.remaining {
                let expected_ns = self.expected_ns(part, current);
                let is_current = current.is_some_and(|(kind, _)| *kind == part.kind);
                // If similar work is a guide, its time limit ends it before its work is done.
                let is_timed = || {
                    expected_ns >= part.time_ns && self.ratios.keys().any(|kind| kind.is_similar(&part.kind))
                };
                let is_known =
                    !matches!(part.kind, Kind::Io { .. }) || self.is_known(part) || is_current || is_timed();
                self.later_ns += expected_ns;
                self.guessed_ns += if is_known { 0.0 } else { expected_ns };
            }
        }
    }

    fn is_known(&self, part: &Part) -> bool {
        self.exact.contains_key(&part.exact) || self.ratios.contains_key(&part.kind)
    }

    /// How much is known of `remaining`, the time left.
    pub fn certainty(&self, remaining: Nanos) -> Certainty {
        if self.guessed_ns > remaining.0 as f64 * GUESSED_MOST {
            Certainty::Guess
        } else if self.is_open {
            Certainty::AtMost
        } else {
            Certainty::About
        }
    }

    /// About how long the rest takes now, with this share of the running part done.
    pub fn remaining(&mut self, share: f64, now: Nanos) -> Nanos {
        let Some((part, started_at)) = self.current.clone() else { return Nanos(self.later_ns as u64) };
        let gone_ns = now.since(started_at).0 as f64;
        let by_others = (self.expected_ns(&part, None) * (1.0 - share)).max(0.0);
        if share < SHARE_MIN {
            return Nanos((self.later_ns + by_others) as u64);
        }
        let is_known = self.is_known(&part);
        let ratio = gone_ns / share / part.assumed_ns.max(1.0);
        let tells =
            matches!(part.kind, Kind::Io { .. }) && !is_known && share >= TRUSTED_SHARE && ratio > 0.0;
        if tells && (ratio / self.current_ratio).ln().abs() > CHANGE_FACTOR.ln() {
            self.add_up(Some((&part.kind, ratio)));
        }
        let belief = (share / if is_known { TRUSTED_SHARE_KNOWN } else { TRUSTED_SHARE }).min(1.0);
        let current = belief * (gone_ns / share - gone_ns).max(0.0) + (1.0 - belief) * by_others;
        Nanos((self.later_ns + current) as u64)
    }

    /// Expected time of a part: by an equal part, its kind, or else others of its operations. Failing these,
    /// its ratio to the assumed time is the square root of the mean of all others.
    fn expected_ns(&self, part: &Part, current: Option<(&Kind, f64)>) -> f64 {
        let is_wall = self.clock == Clock::Wall;
        if is_wall && matches!(part.kind, Kind::Timed(_) | Kind::Rest) {
            return part.assumed_ns;
        }
        // This ratio includes what follows the time limit, such as a flush.
        if let Some(ratio) = self.exact.get(&part.exact).and_then(Ratio::value) {
            return part.assumed_ns * ratio;
        }
        (part.assumed_ns * self.ratio(part, current)).min(if is_wall { part.time_ns } else { f64::INFINITY })
    }

    /// How many times its assumed time a part takes.
    fn ratio(&self, part: &Part, current: Option<(&Kind, f64)>) -> f64 {
        let is_wall = self.clock == Clock::Wall;
        if let Some(ratio) = self.exact.get(&part.exact).and_then(Ratio::value) {
            return ratio;
        }
        let own = current.filter(|(kind, _)| **kind == part.kind).map(|(_, ratio)| ratio);
        let own = own.or_else(|| self.ratios.get(&part.kind)?.value());
        match &part.kind {
            Kind::Probe(_) if is_wall => own.unwrap_or(1.0),
            // On a hard disk, sequential reads say nothing about random reads.
            kind => own
                .or_else(|| self.typical_ratio(current, |other| other.is_similar(kind)))
                .or_else(|| if self.rotates && kind.is_random() { Some(1.0) } else { None })
                .or_else(|| self.typical_ratio(current, |other| other.matches(kind)))
                .or_else(|| self.typical_ratio(current, |_| true).map(f64::sqrt))
                .unwrap_or(1.0),
        }
    }

    /// How many times their assumed time these kinds take: the geometric mean.
    fn typical_ratio(&self, current: Option<(&Kind, f64)>, which: impl Fn(&Kind) -> bool) -> Option<f64> {
        let counts = |kind: &Kind| self.clock == Clock::Virtual || matches!(kind, Kind::Io { .. });
        let known = self.ratios.iter().filter_map(|(kind, ratio)| Some((kind, ratio.value()?)));
        let known = known.chain(current).filter(|(kind, _)| counts(kind) && which(kind));
        let (sum, count) = known.fold((0.0, 0u32), |(sum, count), (_, ratio)| (sum + ratio.ln(), count + 1));
        (count > 0).then(|| (sum / f64::from(count)).exp())
    }
}
