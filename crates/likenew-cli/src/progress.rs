//! The progress bar: how far the run is, how long it will take, and how much it has written.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use likenew_core::drive::Drive;
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::recorder::{Recorder, Stop};
use likenew_core::rehearsal::Rehearsal;
use likenew_core::sample::Sample;
use likenew_core::units::{Nanos, amount};
use likenew_core::workload::Workload;
use likenew_run::forecast::Forecast;

use crate::interrupt;

/// Parts that the whole of a run is divided into on the bar.
const PARTS: u64 = 10_000;
/// The bar is looked after this often, in the drive's time or in I/Os, whichever comes first: a few million I/Os a second
/// leave no time for more.
const REFRESH: Nanos = Nanos::from_millis(50);
const REFRESH_IOS: usize = 8192;

/// The bar of one run. Draws on standard error, and only where that is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    shared: Arc<Shared>,
    /// How long planning the rest again took so far, and the last time.
    planning: Planning,
}

/// Time spent on planning the rest of a run again. A procedure that fits models does so at each step, and can take seconds for that.
#[derive(Clone, Copy, Debug, Default)]
struct Planning {
    spent: Nanos,
    last: Nanos,
}

impl Planning {
    /// Whether it may be done once more after so much time, if it takes as long as the last time.
    fn is_affordable(self, gone: Nanos) -> bool {
        (self.spent + self.last).0 as f64 <= gone.0 as f64 * PLANNING_SHARE_MAX
    }
}

/// What the recorders of all lanes add up, and what follows for the rest.
struct Shared {
    bytes_written: AtomicU64,
    /// In the current workload.
    bytes_moved: AtomicU64,
    ios: AtomicU64,
    /// The share of the current workload that is done, as the bits of a float …
    share: AtomicU64,
    /// … and the share of its bytes or I/Os alone.
    work: AtomicU64,
    /// When these were true, in nanoseconds of `gone`.
    at: AtomicU64,
    /// Nothing where nobody knows what comes.
    forecast: Option<Mutex<Forecast>>,
    /// How long it has been going on.
    gone: Box<Gone>,
}

type Gone = dyn Fn() -> Nanos + Send + Sync;

/// Planning the rest again takes no more than this share of the time of a run …
const PLANNING_SHARE_MAX: f64 = 0.02;
/// … and is not done for runs of more steps than this.
const REPLANNED_STEPS_MAX: usize = 2_000;

impl Shared {
    fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }

    /// About how long the rest takes, and whether that is no more than a guess.
    fn left(&self) -> Option<(Nanos, bool)> {
        let mut forecast = self.forecast.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        // A share that is older than the time would make the drive look slower.
        let at = Nanos(self.at.load(Ordering::Relaxed));
        let left = forecast.left(self.share(), at);
        Some((Nanos(left.0.saturating_sub((self.gone)().since(at).0)), forecast.is_guess(left)))
    }
}

impl Progress {
    /// Of something whose course is not known.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(PARTS);
        let timer = bar.clone();
        Self::with(bar, None, Box::new(move || nanos(timer.elapsed())))
    }

    /// Of these steps, on this drive.
    pub(crate) fn of(course: &[Step], drive: &dyn Drive) -> Self {
        let bar = ProgressBar::new(PARTS);
        let timer = bar.clone();
        let forecast = || Forecast::new(course, drive.geometry().clock, drive.identity().rotates());
        let forecast = (!bar.is_hidden()).then(forecast);
        Self::with(bar, forecast, Box::new(move || nanos(timer.elapsed())))
    }

    fn with(bar: ProgressBar, forecast: Option<Forecast>, gone: Box<Gone>) -> Self {
        let shared = Arc::new(Shared {
            bytes_written: 0.into(),
            bytes_moved: 0.into(),
            ios: 0.into(),
            share: 0.into(),
            work: 0.into(),
            at: 0.into(),
            forecast: forecast.map(Mutex::new),
            gone,
        });
        let told = Arc::clone(&shared);
        let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {elapsed} gone{left}  {msg}")
            .expect("the template is valid")
            .with_key("left", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                if let Some((left, false)) = told.left() {
                    let left = HumanDuration(Duration::from_nanos(left.0));
                    let _ = write!(out, ", about {left:#} left");
                }
            });
        bar.set_style(style);
        Self { bar, shared, planning: Planning::default() }
    }

    /// What comes next is known; the rest is thought over again where that is not what was planned.
    pub(crate) fn decides(&mut self, procedure: &dyn Procedure, evidence: &Evidence, step: &Step) {
        let Some(forecast) = &self.shared.forecast else { return };
        let mut forecast = forecast.lock().unwrap_or_else(PoisonError::into_inner);
        if *step == Step::Enough {
            return;
        }
        let began = (self.shared.gone)();
        let is_affordable = self.planning.is_affordable(began) && evidence.steps() < REPLANNED_STEPS_MAX;
        if !forecast.is_as_planned(step) && is_affordable {
            let pace = |workload: &Workload| forecast.times_as_long(workload);
            if let Ok(rest) = Rehearsal::at_pace(procedure, evidence, &pace) {
                forecast.replan(&rest.course);
            }
            self.planning.last = (self.shared.gone)().since(began);
            self.planning.spent += self.planning.last;
        }
        forecast.begins(step, (self.shared.gone)());
    }

    /// The next workload or look begins.
    pub(crate) fn begins(&mut self, name: &str) {
        self.shared.bytes_moved.store(0, Ordering::Relaxed);
        self.shared.ios.store(0, Ordering::Relaxed);
        self.shared.share.store(0, Ordering::Relaxed);
        self.shared.work.store(0, Ordering::Relaxed);
        self.shared.at.store((self.shared.gone)().0, Ordering::Relaxed);
        let written = amount(self.shared.bytes_written.load(Ordering::Relaxed));
        self.bar.set_message(format!("{written} written  {name}"));
        self.bar.tick();
    }

    /// It has ended.
    pub(crate) fn ended(&mut self) {
        let Some(forecast) = &self.shared.forecast else { return };
        let work = f64::from_bits(self.shared.work.load(Ordering::Relaxed));
        forecast.lock().unwrap_or_else(PoisonError::into_inner).ended(work, (self.shared.gone)());
    }

    /// So much of the whole is done, where its course is not known.
    pub(crate) fn reached(&self, done: usize, all: usize) {
        self.bar.set_position(PARTS * done as u64 / all.max(1) as u64);
    }

    /// So much was written that no recorder saw.
    pub(crate) fn wrote(&self, bytes: u64) {
        self.shared.bytes_written.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A recorder that moves the bar, for one lane.
    pub(crate) fn recorder(&self) -> ProgressRecorder {
        ProgressRecorder {
            bar: self.bar.clone(),
            shared: Arc::clone(&self.shared),
            name: String::new(),
            began: Nanos::ZERO,
            shown: Nanos::ZERO,
            until: Default::default(),
            ios: 0,
            bytes: 0,
            written: 0,
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// Moves the bar, and hears when somebody asks to stop.
pub(crate) struct ProgressRecorder {
    bar: ProgressBar,
    shared: Arc<Shared>,
    name: String,
    began: Nanos,
    shown: Nanos,
    until: likenew_core::until::Until,
    ios: usize,
    bytes: u64,
    written: u64,
}

impl Recorder for ProgressRecorder {
    fn begin(&mut self, workload: &Workload, at: Nanos) {
        self.name.clone_from(&workload.name);
        self.until = workload.until;
        if let Some(recorded) = &workload.recorded {
            self.until.ops.get_or_insert(recorded.expected.ios);
        }
        (self.began, self.shown) = (at, at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        self.ios += samples.len();
        for sample in samples {
            let bytes = sample.bytes();
            self.bytes += bytes;
            self.written += if sample.op == Op::Write { bytes } else { 0 };
        }
        match samples.last() {
            Some(last) if self.ios >= REFRESH_IOS || last.done.since(self.shown) >= REFRESH => {
                self.show(last.done)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
        self.show(now)
    }

    fn end(&mut self, at: Nanos) {
        let _ = self.show(at);
    }
}

impl ProgressRecorder {
    fn show(&mut self, now: Nanos) -> ControlFlow<Stop> {
        let shared = &self.shared;
        let written = shared.bytes_written.fetch_add(self.written, Ordering::Relaxed) + self.written;
        let moved = shared.bytes_moved.fetch_add(self.bytes, Ordering::Relaxed) + self.bytes;
        let ios = shared.ios.fetch_add(self.ios as u64, Ordering::Relaxed) + self.ios as u64;
        (self.written, self.bytes, self.ios, self.shown) = (0, 0, 0, now);
        let of = |done: u64, bound: Option<u64>| bound.map_or(0.0, |bound| done as f64 / bound.max(1) as f64);
        let time = of(now.since(self.began).0, self.until.elapsed.map(|span| span.0));
        let work = of(moved, self.until.bytes).max(of(ios, self.until.ops)).min(1.0);
        shared.work.store(work.to_bits(), Ordering::Relaxed);
        shared.share.store(time.max(work).min(1.0).to_bits(), Ordering::Relaxed);
        shared.at.store((shared.gone)().0, Ordering::Relaxed);
        if let Some((left, _)) = shared.left() {
            let gone = (shared.gone)();
            let all = gone.0.saturating_add(left.0).max(1);
            // A bar that goes back would be no bar.
            let position = (PARTS as f64 * (gone.0 as f64 / all as f64)) as u64;
            self.bar.set_position(position.max(self.bar.position()));
        }
        self.bar.set_message(format!("{} written  {}", amount(written), self.name));
        if interrupt::asked() { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use likenew_core::drive::Identity;
    use likenew_core::look::{Look, Sight};
    use likenew_core::plan::Plan;
    use likenew_core::segment::Segment;
    use likenew_core::target::Clock;
    use likenew_procedures::all::from_plan;
    use likenew_run::conduct::{End, Observer, conduct};
    use likenew_sim::Spec;

    use super::*;
    use crate::aim::read_file;
    use crate::follow::Follow;
    use crate::recordings::Recordings;

    /// What was told at which time of the drive's own clock.
    #[derive(Default)]
    struct Told {
        now: AtomicU64,
        left: Mutex<Vec<(Nanos, Nanos)>>,
    }

    impl Told {
        fn at(&self, now: Nanos) {
            self.now.fetch_max(now.0, Ordering::Relaxed);
        }

        fn note(&self, shared: &Shared) {
            let now = Nanos(self.now.load(Ordering::Relaxed));
            let told = shared.left().filter(|(_, is_guess)| !is_guess);
            self.left.lock().unwrap().extend(told.map(|(left, _)| (now, left)));
        }
    }

    struct Timed<'a> {
        follow: Follow<'a>,
        told: Arc<Told>,
    }

    struct TimedRecorder {
        inner: Box<dyn Recorder + Send>,
        shared: Arc<Shared>,
        told: Arc<Told>,
    }

    impl Recorder for TimedRecorder {
        fn begin(&mut self, workload: &Workload, at: Nanos) {
            self.told.at(at);
            self.inner.begin(workload, at);
        }

        fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
            samples.last().into_iter().for_each(|last| self.told.at(last.done));
            let flow = self.inner.record(samples);
            self.told.note(&self.shared);
            flow
        }

        fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
            self.told.at(now);
            self.inner.idle(now)
        }

        fn end(&mut self, at: Nanos) {
            self.told.at(at);
            self.inner.end(at);
        }
    }

    impl Observer for Timed<'_> {
        fn decides(&mut self, procedure: &dyn Procedure, evidence: &Evidence, step: &Step) {
            self.follow.decides(procedure, evidence, step);
        }

        fn begins(&mut self, workload: &Workload) {
            self.follow.begins(workload);
            self.told.note(&self.follow.progress.shared);
        }

        fn recorder(&mut self) -> Box<dyn Recorder + Send> {
            let (inner, shared) = (self.follow.recorder(), self.follow.progress.shared.clone());
            Box::new(TimedRecorder { inner, shared, told: self.told.clone() })
        }

        fn ended(&mut self, segment: &Segment) -> Result<(), String> {
            self.told.at(segment.ended);
            self.follow.ended(segment)
        }

        fn looks(&mut self, look: &Look) {
            self.follow.looks(look);
        }

        fn looked(&mut self, sight: &Sight) -> Result<(), String> {
            self.told.at(sight.ended);
            self.follow.looked(sight)
        }
    }

    /// By how much what was told missed the whole time at most, as a share of it, from a fifth of the way on; and from which share of the way on
    /// anything was told.
    fn worst(target: &str, procedure: &str, options: &str) -> (f64, f64) {
        let options = toml::from_str(options).unwrap();
        let plan =
            Plan { schema: 1, procedure: procedure.into(), target: Some(target.into()), seed: 1, options };
        let procedure = from_plan(&plan).unwrap();
        let mut drive = Spec::parse(target).unwrap().open(read_file).unwrap();
        let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
        if target.contains("disk") {
            // As the system says of a real one.
            let (name, value) = Identity::ROTATES;
            evidence.identity.facts.push((name.to_owned(), value.to_owned()));
        }
        let course = Rehearsal::of(&*procedure, &evidence).unwrap().course;
        let told = Arc::new(Told::default());
        let time = told.clone();
        // As on a real drive: a second of the drive is a second of whoever waits.
        let forecast = Some(Forecast::new(&course, Clock::Wall, evidence.identity.rotates()));
        let gone = Box::new(move || Nanos(time.now.load(Ordering::Relaxed)));
        let progress = Progress::with(ProgressBar::hidden(), forecast, gone);
        let recordings = Recordings::default();
        let follow = Follow { progress, archive: None, samples: None, recordings, segments: 0 };
        let mut timed = Timed { follow, told: told.clone() };
        let end = conduct(&mut drive, &*procedure, &mut evidence, &mut timed).unwrap();
        assert!(matches!(end, End::Complete), "{end:?}");
        let whole = told.now.load(Ordering::Relaxed) as f64;
        let left = told.left.lock().unwrap();
        let late = left.iter().filter(|(now, _)| now.0 as f64 >= 0.2 * whole);
        let missed = late.map(|(now, left)| ((now.0 + left.0) as f64 / whole - 1.0).abs());
        assert!(left.len() > 20, "{} times", left.len());
        (missed.fold(0.0, f64::max), left[0].0.0 as f64 / whole)
    }

    /// Target, procedure, options.
    const RUNS: [(&str, &str, &str); 19] = [
        ("sim:tiny-flash", "bench", "span = \"64MiB\"\npasses = 3\ntime = \"1s\""),
        ("sim:tiny-flash?state=used", "bench", "span = \"64MiB\"\npasses = 3\ntime = \"1s\""),
        ("sim:disk-2tb", "bench", "span = \"64MiB\"\npasses = 3\ntime = \"1s\""),
        ("sim:tiny-flash", "sweep", "span = \"64MiB\"\npasses = 2\ntime = \"100ms\""),
        ("sim:tiny-flash", "fill", "files = 20\nfile_size = \"16MiB\""),
        ("sim:disk-2tb", "surface", "points = 40"),
        ("sim:tiny-flash", "verify", "span = \"128MiB\"\nparts = 20\nprobes = 20"),
        ("sim:tiny-flash", "trim", "space = \"64MiB\"\npasses = 2\ntime = \"1s\""),
        ("sim:tlc-sata-500gb", "trim", "space = \"256MiB\"\npasses = 2\ntime = \"1s\""),
        ("sim:tiny-flash", "data", ""),
        ("sim:tiny-flash", "check", ""),
        ("sim:tiny-flash?state=used", "check", ""),
        ("sim:disk-2tb", "check", ""),
        ("sim:tiny-flash", "age", "span = \"64MiB\"\nbytes = \"2GiB\""),
        ("sim:tiny-flash", "endure", "bytes = \"8GiB\""),
        ("sim:tiny-flash", "cache", ""),
        ("sim:tiny-flash?state=used&fill=0.95&deleted=0.4", "recondition", ""),
        ("sim:tiny-flash", "apps", "span = \"256MiB\""),
        ("sim:tiny-flash", "model", ""),
    ];

    /// Each fourth of them from one on.
    fn what_is_left_is_told_within_a_quarter(first: usize) {
        let mut missed = BTreeMap::new();
        for (target, procedure, options) in RUNS.iter().skip(first).step_by(4) {
            missed.insert(format!("{procedure} {target}"), worst(target, procedure, options));
        }
        let is_met = |(missed, first): &(f64, f64)| *missed <= 0.25 && *first <= 0.85;
        assert!(missed.values().all(is_met), "{missed:#.3?}");
    }

    #[test]
    fn from_a_fifth_of_the_way_on_the_time_left_is_right_within_a_quarter_in_the_first_share() {
        what_is_left_is_told_within_a_quarter(0);
    }

    #[test]
    fn from_a_fifth_of_the_way_on_the_time_left_is_right_within_a_quarter_in_the_second_share() {
        what_is_left_is_told_within_a_quarter(1);
    }

    #[test]
    fn from_a_fifth_of_the_way_on_the_time_left_is_right_within_a_quarter_in_the_third_share() {
        what_is_left_is_told_within_a_quarter(2);
    }

    #[test]
    fn from_a_fifth_of_the_way_on_the_time_left_is_right_within_a_quarter_in_the_fourth_share() {
        what_is_left_is_told_within_a_quarter(3);
    }
}
