//! Progress of a run: how far it is, bytes done, current speed, and time left; as a bar, or as lines of JSON for
//! programs.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use likenew_archive::LiveRun;
use likenew_core::drive::Drive;
use likenew_core::dry_run::DryRun;
use likenew_core::io::{Op, Sample};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_real::clock::Monotonic;
use likenew_run::forecast::{Certainty, Forecast};

use crate::arguments::ProgressFormat;
use crate::io_rates::{IoCounts, SpeedMeter};
use crate::progress_event::ProgressEvent;
use crate::{interrupt, wording};

/// How progress is shown: as a bar, unless set otherwise.
static FORMAT: OnceLock<ProgressFormat> = OnceLock::new();

/// Sets how progress is shown, once.
pub(crate) fn set_format(format: ProgressFormat) {
    let _ = FORMAT.set(format);
}

fn shows_lines() -> bool {
    FORMAT.get() == Some(&ProgressFormat::Json)
}

/// The run that others may watch, with its last event of each kind.
static LIVE: Mutex<Option<Live>> = Mutex::new(None);

struct Live {
    run: LiveRun,
    begin: String,
    step: String,
    progress: String,
}

/// Whether a program may follow progress.
fn is_watched() -> bool {
    shows_lines() || locked(&LIVE).is_some()
}

/// Reports an event to programs: as a line of JSON, if asked for, and to those that watch a kept run.
pub(crate) fn report(event: &ProgressEvent<'_>) {
    let text = || serde_json::to_string(event).expect("an event has only text keys") + "\n";
    let mut live = locked(&LIVE);
    if matches!(event, ProgressEvent::Run { folder: Some(_), .. }) {
        *live = LiveRun::begin().map(|run| Live {
            run,
            begin: text(),
            step: String::new(),
            progress: String::new(),
        });
    }
    if let Some(live) = &mut *live {
        match event {
            ProgressEvent::Run { .. } => {}
            ProgressEvent::Step { .. } => live.step = text(),
            ProgressEvent::Progress { .. } => live.progress = text(),
        }
        live.run.say(&[&*live.begin, &live.step, &live.progress].concat());
    }
    drop(live);
    if shows_lines() {
        crate::console::note(text().trim_end());
    }
}

/// Ends the watching of a run that is over and kept.
pub(crate) fn end_live() {
    locked(&LIVE).take();
}

/// Least wall time between two lines. A shorter time is enough after `LINE_DRIVE_TIME` on the drive's
/// clock, so that a fast simulated drive shows its course. Chosen: ten lines a second are read easily.
const LINE_INTERVAL: Nanos = Nanos::from_millis(100);
const LINE_INTERVAL_LEAST: Nanos = Nanos::from_millis(5);
const LINE_DRIVE_TIME: Nanos = Nanos::from_secs(1);

/// Without a bar: time until a line reports a step of unknown length, and between two such lines.
/// Chosen: a log of an hour is read easily.
const LOG_FIRST: Nanos = Nanos::from_secs(1);
const LOG_INTERVAL: Nanos = Nanos::from_secs(10);

/// Parts of a whole run on the bar.
const PARTS: u64 = 10_000;
/// Time between updates of the bar, on the drive's clock or in I/Os, whichever comes first. Chosen: a few
/// million IOPS leave no time for more.
const REFRESH: Nanos = Nanos::from_millis(50);
const REFRESH_IOS: usize = 8192;

/// The bar that is drawn now. A probe has no recorder and reaches the bar through this.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Locks a mutex, even after another thread panicked with it, which does no harm to a bar.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a sentence in place of the step's name, until it is dropped. Without a bar, it is a line of its own.
pub(crate) struct BarNote {
    bar: Option<ProgressBar>,
    message_before: String,
    end: &'static str,
}

impl BarNote {
    /// Shows `text`. Without a bar, `end` is printed as a line when the note is dropped.
    pub(crate) fn show(text: &'static str, end: &'static str) -> Self {
        let bar = locked(&SHOWN).clone();
        let bar = bar.filter(|bar| !bar.is_hidden());
        let message_before = bar.as_ref().map(ProgressBar::message).unwrap_or_default();
        let note = Self { bar, message_before, end };
        note.put(text);
        note
    }

    fn put(&self, text: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(text.to_owned());
                bar.tick();
            }
            None => crate::console::note(text),
        }
    }
}

impl Drop for BarNote {
    fn drop(&mut self) {
        self.put(if self.bar.is_some() { &self.message_before } else { self.end });
    }
}

/// A line for work whose end is unknown: the time so far, and a message.
pub(crate) fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed}  {msg}").expect("the template is valid");
    ProgressBar::new_spinner().with_style(style)
}

/// The bar of one run, drawn on standard error if that is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    state: Arc<SharedProgress>,
    /// Whether its steps are reported to programs.
    is_reported: bool,
    /// Time spent on planning the rest again.
    planning: Planning,
    step: Mutex<CurrentStep>,
}

/// The current step, and when a line last reported it.
#[derive(Debug, Default)]
struct CurrentStep {
    name: String,
    started_at: Nanos,
    said_at: Option<Nanos>,
}

/// Time spent on planning the rest of a run again. A procedure that fits models may need seconds for it, at each step.
#[derive(Clone, Copy, Debug, Default)]
struct Planning {
    elapsed: Nanos,
    last: Nanos,
}

/// Sums of the recorders of all lanes, and the forecast of the rest.
struct SharedProgress {
    sums: Mutex<Sums>,
    /// `None` if the rest is unknown.
    forecast: Option<Mutex<Forecast>>,
    /// Elapsed time.
    elapsed_fn: Box<ElapsedFn>,
}

/// What all recorders have seen.
struct Sums {
    /// Bytes moved in the whole run.
    bytes_done: u64,
    /// Bytes written in the whole run.
    bytes_written: u64,
    speed: SpeedMeter,
    /// When the last line was written, on the wall clock and on the drive's; none before the first.
    last_line: Option<(Nanos, Nanos)>,
    /// Largest share of the run that was reported.
    reported_share: f64,
    current: WorkloadProgress,
}

/// How far the current workload is.
#[derive(Default)]
struct WorkloadProgress {
    bytes_moved: u64,
    ios: u64,
    /// The share that is done.
    share: f64,
    /// That share by bytes or I/Os alone, without time.
    work: f64,
    /// When the shares were set, as elapsed time.
    at: Nanos,
}

type ElapsedFn = dyn Fn() -> Nanos + Send + Sync;

/// Largest share of a run's time that planning the rest again may take. Chosen: not noticed.
const PLANNING_SHARE_MAX: f64 = 0.02;
/// Most steps of a run whose rest is planned again.
const REPLANNED_STEPS_MAX: usize = 2_000;

impl SharedProgress {
    fn elapsed(&self) -> Nanos {
        (self.elapsed_fn)()
    }

    /// The time left, and how certain it is.
    fn remaining(&self) -> Option<(Nanos, Certainty)> {
        let forecast = self.forecast.as_ref()?;
        let WorkloadProgress { share, at, .. } = locked(&self.sums).current;
        let mut forecast = locked(forecast);
        // A share older than the time would make the drive look slower.
        let left = forecast.remaining(share, at);
        Some((Nanos(left.0.saturating_sub(self.elapsed().since(at).0)), forecast.certainty(left)))
    }

    /// Writes a line, unless the last one is too recent.
    fn report_line(&self, step: &str, drive_time: Nanos) {
        let now = self.elapsed();
        {
            let mut sums = locked(&self.sums);
            let is_due = sums.last_line.is_none_or(|(wall, drive)| {
                // The drive's clock may start again with another workload.
                let drive_moved = drive_time < drive || drive_time.since(drive) >= LINE_DRIVE_TIME;
                let least = if drive_moved { LINE_INTERVAL_LEAST } else { LINE_INTERVAL };
                now.since(wall) >= least
            });
            if !is_due {
                return;
            }
            sums.last_line = Some((now, drive_time));
        }
        let remaining = self.remaining();
        let left = remaining.filter(|(_, certainty)| *certainty == Certainty::About).map(|(left, _)| left);
        let mut sums = locked(&self.sums);
        let share = left.map(|left| {
            let share = now.0 as f64 / now.0.saturating_add(left.0).max(1) as f64;
            // The reported share never falls.
            sums.reported_share = sums.reported_share.max(share);
            sums.reported_share
        });
        report(&ProgressEvent::Progress {
            step,
            share,
            left_ns: left.map(|left| left.0),
            left: remaining.and_then(|(left, certainty)| wording::time_left(left, certainty)),
            bytes_done: sums.bytes_done,
            bytes_written: sums.bytes_written,
            bytes_per_s: sums.speed.rate,
            io: &sums.speed.io,
            drive_time_ns: drive_time.0,
        });
    }
}

impl Progress {
    /// For a run whose steps are unknown.
    pub(crate) fn new() -> Self {
        Self::with(new_bar(), None, wall_time())
    }

    /// For the steps of a simulated run that is a reference; programs see them as one step.
    pub(crate) fn for_reference(steps: &[Step], drive: &dyn Drive, activity: &str) -> Self {
        report(&ProgressEvent::Step { name: activity, activity });
        let mut progress = Self::for_steps(steps, drive, &[]);
        progress.is_reported = false;
        progress
    }

    /// For these steps on this drive; `earlier` is what was measured on it before.
    pub(crate) fn for_steps(steps: &[Step], drive: &dyn Drive, earlier: &[Segment]) -> Self {
        let bar = new_bar();
        let forecast = || {
            let mut forecast = Forecast::new(steps, drive.geometry().clock, drive.identity().rotates());
            forecast.learn(earlier);
            forecast
        };
        let forecast = (!bar.is_hidden() || is_watched()).then(forecast);
        *locked(&SHOWN) = Some(bar.clone());
        Self::with(bar, forecast, wall_time())
    }

    fn with(bar: ProgressBar, forecast: Option<Forecast>, elapsed_fn: Box<ElapsedFn>) -> Self {
        let state = Arc::new(SharedProgress {
            sums: Mutex::new(Sums {
                bytes_done: 0,
                bytes_written: 0,
                speed: SpeedMeter::new(shows_lines()),
                last_line: None,
                reported_share: 0.0,
                current: WorkloadProgress::default(),
            }),
            forecast: forecast.map(Mutex::new),
            elapsed_fn,
        });
        let bar_state = Arc::clone(&state);
        let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}{left}")
            .expect("the template is valid")
            .with_key("left", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                let left =
                    bar_state.remaining().and_then(|(left, certainty)| wording::time_left(left, certainty));
                let _ = left.map_or(Ok(()), |left| write!(out, ", {left}"));
            });
        bar.set_style(style);
        Self { bar, state, is_reported: true, planning: Planning::default(), step: Mutex::default() }
    }

    /// Takes note of the next step. The rest is planned again if the step differs from the plan.
    pub(crate) fn on_decide(&mut self, procedure: &dyn Procedure, evidence: &Evidence, step: &Step) {
        let Some(forecast) = &self.state.forecast else { return };
        let mut forecast = locked(forecast);
        if *step == Step::Done {
            return;
        }
        let started_at = self.state.elapsed();
        // If it takes as long as the last time.
        let planning_ns = (self.planning.elapsed + self.planning.last).0 as f64;
        let is_affordable =
            planning_ns <= started_at.0 as f64 * PLANNING_SHARE_MAX && evidence.steps() < REPLANNED_STEPS_MAX;
        if !forecast.follows_plan(step) && is_affordable {
            let pace = |workload: &Workload| forecast.slowdown(workload);
            if let Ok(dry_run) = DryRun::with_rates(procedure, evidence, &pace) {
                forecast.replan(&dry_run.planned_steps);
            }
            self.planning.last = self.state.elapsed().since(started_at);
            self.planning.elapsed += self.planning.last;
        }
        forecast.on_begin(step, self.state.elapsed());
    }

    /// The next workload or probe begins.
    pub(crate) fn on_begin(&mut self, name: &str, activity: &str) {
        let started_at = self.state.elapsed();
        let done = {
            let mut sums = locked(&self.state.sums);
            sums.current = WorkloadProgress { at: started_at, ..WorkloadProgress::default() };
            sums.bytes_done
        };
        *locked(&self.step) = CurrentStep { name: name.to_owned(), started_at, said_at: None };
        if self.is_reported {
            report(&ProgressEvent::Step { name, activity });
        }
        self.bar.set_message(wording::progress(done, None, name));
        self.bar.tick();
    }

    /// The workload or probe has ended.
    pub(crate) fn on_end(&mut self) {
        let Some(forecast) = &self.state.forecast else { return };
        let work = locked(&self.state.sums).current.work;
        locked(forecast).on_end(work, self.state.elapsed());
    }

    /// Sets the share done, if the steps are unknown. Without a bar, a line reports it now and then.
    pub(crate) fn set_share(&self, done: usize, total: usize) {
        self.bar.set_position(PARTS * done as u64 / total.max(1) as u64);
        let now = self.state.elapsed();
        let mut step = locked(&self.step);
        let left = (done > 0).then(|| {
            let each = now.since(step.started_at).0 as f64 / done as f64;
            Nanos((each * total.saturating_sub(done) as f64) as u64)
        });
        let share = done as f64 / total.max(1) as f64;
        let text = wording::share_done(&step.name, share, left);
        self.bar.set_message(text.clone());
        let is_due = match step.said_at {
            _ if is_watched() => step.said_at.is_none_or(|at| now.since(at) >= LINE_INTERVAL),
            None => now.since(step.started_at) >= LOG_FIRST,
            Some(at) => now.since(at) >= LOG_INTERVAL,
        };
        if !is_due || (!self.bar.is_hidden() && !is_watched()) {
            return;
        }
        step.said_at = Some(now);
        if is_watched() {
            report(&ProgressEvent::Progress {
                step: &step.name,
                share: Some(share),
                left_ns: left.map(|left| left.0),
                left: left.and_then(|left| wording::time_left(left, Certainty::About)),
                bytes_done: 0,
                bytes_written: 0,
                bytes_per_s: None,
                io: &[],
                drive_time_ns: 0,
            });
        } else {
            crate::console::note(text);
        }
    }

    /// Adds bytes written that no recorder saw.
    pub(crate) fn add_written(&self, bytes: u64) {
        let mut sums = locked(&self.state.sums);
        sums.bytes_done += bytes;
        sums.bytes_written += bytes;
    }

    /// A recorder that moves the bar, for one lane.
    pub(crate) fn recorder(&self) -> ProgressRecorder {
        ProgressRecorder {
            bar: self.bar.clone(),
            state: Arc::clone(&self.state),
            is_reported: self.is_reported,
            name: String::new(),
            started_at: Nanos::ZERO,
            last_draw: Nanos::ZERO,
            until: Default::default(),
            counts_flushes: true,
            ios: 0,
            counts: IoCounts::new(shows_lines()),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        locked(&SHOWN).take();
        self.bar.finish_and_clear();
    }
}

/// A bar, which is not drawn where lines of JSON are.
fn new_bar() -> ProgressBar {
    if shows_lines() { ProgressBar::hidden() } else { ProgressBar::new(PARTS) }
}

/// A clock that starts now. The bar's own clock cannot be used, because the bar is locked while it is drawn.
fn wall_time() -> Box<ElapsedFn> {
    let clock = Monotonic::start();
    Box::new(move || clock.now())
}

/// Moves the bar, and checks for Ctrl-C.
pub(crate) struct ProgressRecorder {
    bar: ProgressBar,
    state: Arc<SharedProgress>,
    is_reported: bool,
    name: String,
    started_at: Nanos,
    last_draw: Nanos,
    until: likenew_core::workload::Until,
    /// Whether flushes count as I/Os of the workload, instead of only following its writes.
    counts_flushes: bool,
    ios: usize,
    counts: IoCounts,
}

impl Recorder for ProgressRecorder {
    fn begin(&mut self, workload: &Workload, at: Nanos) {
        self.name.clone_from(&workload.name);
        self.until = workload.until;
        self.counts_flushes = !workload.has_flushes();
        if let Some(replay_spec) = &workload.replay_spec {
            self.until.ops.get_or_insert(replay_spec.expected.ios);
        }
        (self.started_at, self.last_draw) = (at, at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        let counted = |sample: &&Sample| self.counts_flushes || sample.op != Op::Flush;
        self.ios += samples.iter().filter(counted).count();
        samples.iter().for_each(|sample| self.counts.record(sample));
        match samples.last() {
            Some(last) if self.ios >= REFRESH_IOS || last.done.since(self.last_draw) >= REFRESH => {
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
        let state = &self.state;
        let share_of =
            |done: u64, bound: Option<u64>| bound.map_or(0.0, |bound| done as f64 / bound.max(1) as f64);
        let time = share_of(now.since(self.started_at).0, self.until.elapsed.map(|span| span.0));
        let (done, rate) = {
            let mut sums = locked(&state.sums);
            sums.bytes_done += self.counts.bytes();
            sums.bytes_written += self.counts.written();
            sums.speed.add(&self.counts, now);
            let current = &mut sums.current;
            current.bytes_moved += self.counts.bytes();
            current.ios += self.ios as u64;
            let work = share_of(current.bytes_moved, self.until.bytes);
            current.work = work.max(share_of(current.ios, self.until.ops)).min(1.0);
            current.share = time.max(current.work).min(1.0);
            current.at = state.elapsed();
            (sums.bytes_done, sums.speed.rate)
        };
        self.counts.clear();
        (self.ios, self.last_draw) = (0, now);
        // Nothing may be locked while the bar is drawn, because it asks for the time left.
        if let Some((left, _)) = state.remaining() {
            let elapsed = state.elapsed();
            let total = elapsed.0.saturating_add(left.0).max(1);
            // The bar never moves back.
            let position = (PARTS as f64 * (elapsed.0 as f64 / total as f64)) as u64;
            self.bar.set_position(position.max(self.bar.position()));
        }
        if self.is_reported && is_watched() {
            state.report_line(&self.name, now);
        }
        self.bar.set_message(wording::progress(done, rate, &self.name));
        if interrupt::is_requested() {
            ControlFlow::Break(Stop::Interrupted)
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use likenew_core::drive::Identity;
    use likenew_core::probe::{Observation, Probe};
    use likenew_core::procedure::Plan;
    use likenew_core::segment::Segment;
    use likenew_core::target::Clock;
    use likenew_procedures::all::from_plan;
    use likenew_run::runner::{End, Observer, run_procedure};
    use likenew_sim::Spec;

    use super::*;
    use crate::resolved_target::read_file;
    use crate::run_observer::RunObserver;

    /// A terminal that keeps what is written to it.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl indicatif::TermLike for Screen {
        fn width(&self) -> u16 {
            120
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Nothing is drawn without a terminal, so only a terminal shows whether drawing ends.
    #[test]
    fn a_bar_is_drawn_with_what_is_left() {
        let screen = Screen::default();
        let target = indicatif::ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let (done, is_done) = channel();
        std::thread::spawn(move || {
            let workload = Workload::new(
                "reads",
                likenew_core::workload::Until::elapsed(Nanos::from_secs(60)),
                Vec::new(),
            );
            let planned = [Step::Run(workload)];
            let bar = ProgressBar::with_draw_target(Some(PARTS), target);
            let forecast = Some(Forecast::new(&planned, Clock::Wall, false));
            let mut progress = Progress::with(bar, forecast, wall_time());
            progress.on_begin("reads", "1 MiB sequential reads");
            let mut recorder = progress.recorder();
            assert!(recorder.idle(Nanos::from_secs(1)).is_continue());
            progress.bar.force_draw();
            done.send(()).unwrap();
        });
        is_done.recv_timeout(Duration::from_secs(60)).expect("drawing comes to an end");
        let shown = screen.0.lock().unwrap().clone();
        assert!(shown.contains("reads"), "{shown:?}");
    }

    /// Estimates, with their times on the drive's own clock.
    #[derive(Default)]
    struct RecordedEstimates {
        now: AtomicU64,
        left: Mutex<Vec<(Nanos, Nanos)>>,
    }

    impl RecordedEstimates {
        fn at(&self, now: Nanos) {
            self.now.fetch_max(now.0, Ordering::Relaxed);
        }

        fn note(&self, state: &SharedProgress) {
            let now = Nanos(self.now.load(Ordering::Relaxed));
            let remaining = state.remaining().filter(|(_, certainty)| *certainty == Certainty::About);
            self.left.lock().unwrap().extend(remaining.map(|(left, _)| (now, left)));
        }
    }

    struct TimedProcedure<'a> {
        follow: RunObserver<'a>,
        estimates: Arc<RecordedEstimates>,
    }

    struct TimedRecorder {
        inner: Box<dyn Recorder + Send>,
        state: Arc<SharedProgress>,
        estimates: Arc<RecordedEstimates>,
    }

    impl Recorder for TimedRecorder {
        fn begin(&mut self, workload: &Workload, at: Nanos) {
            self.estimates.at(at);
            self.inner.begin(workload, at);
        }

        fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
            samples.last().into_iter().for_each(|last| self.estimates.at(last.done));
            let flow = self.inner.record(samples);
            self.estimates.note(&self.state);
            flow
        }

        fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
            self.estimates.at(now);
            self.inner.idle(now)
        }

        fn end(&mut self, at: Nanos) {
            self.estimates.at(at);
            self.inner.end(at);
        }
    }

    impl Observer for TimedProcedure<'_> {
        fn on_decide(&mut self, procedure: &dyn Procedure, evidence: &Evidence, step: &Step) {
            self.follow.on_decide(procedure, evidence, step);
        }

        fn on_begin(&mut self, workload: &Workload) {
            self.follow.on_begin(workload);
            self.estimates.note(&self.follow.progress.state);
        }

        fn recorder(&mut self) -> Box<dyn Recorder + Send> {
            let (inner, state) = (self.follow.recorder(), self.follow.progress.state.clone());
            Box::new(TimedRecorder { inner, state, estimates: self.estimates.clone() })
        }

        fn on_end(&mut self, segment: &Segment) -> Result<(), String> {
            self.estimates.at(segment.ended_at);
            self.follow.on_end(segment)
        }

        fn on_probe(&mut self, probe: &Probe) {
            self.follow.on_probe(probe);
        }

        fn on_probe_end(&mut self, observation: &Observation) -> Result<(), String> {
            self.estimates.at(observation.ended_at);
            self.follow.on_probe_end(observation)
        }
    }

    /// Largest error of the estimates as a share of the whole time, after a fifth of the run; and the share
    /// of the run after which there was an estimate.
    fn worst(target: &str, procedure: &str, options: &str) -> (f64, f64) {
        let options = toml::from_str(options).unwrap();
        let plan = Plan::new(procedure, Some(target.into()), 1, options);
        let procedure = from_plan(&plan).unwrap();
        let mut drive = Spec::parse(target).unwrap().open(read_file).unwrap();
        let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
        if target.contains("disk") {
            // As the system reports it of a real hard disk.
            let (name, value) = Identity::ROTATES;
            evidence.identity.facts.push((name.to_owned(), value.to_owned()));
        }
        let course = DryRun::plan(&*procedure, &evidence).unwrap().planned_steps;
        let estimates = Arc::new(RecordedEstimates::default());
        let time = estimates.clone();
        // As on a real drive: a second of the drive is a second of waiting.
        let forecast = Some(Forecast::new(&course, Clock::Wall, evidence.identity.rotates()));
        let elapsed_fn = Box::new(move || Nanos(time.now.load(Ordering::Relaxed)));
        let progress = Progress::with(ProgressBar::hidden(), forecast, elapsed_fn);
        let follow = RunObserver::new(progress);
        let mut timed = TimedProcedure { follow, estimates: estimates.clone() };
        let end = run_procedure(&mut drive, &*procedure, &mut evidence, &mut timed).unwrap();
        assert!(matches!(end, End::Complete), "{end:?}");
        let whole = estimates.now.load(Ordering::Relaxed) as f64;
        let left = estimates.left.lock().unwrap();
        let late = left.iter().filter(|(now, _)| now.0 as f64 >= 0.2 * whole);
        let missed = late.map(|(now, left)| ((now.0 + left.0) as f64 / whole - 1.0).abs());
        assert!(left.len() > 20, "{} times", left.len());
        (missed.fold(0.0, f64::max), left[0].0.0 as f64 / whole)
    }

    /// The reference that the command line adds for a simulated drive. Without it, a slow drive is
    /// written longer, by up to a third of the run.
    const WITH_REFERENCE: &str =
        "reference = [{ metric = \"sustained_write\", origin = \"simulated\", per_s = 66e6 }]";

    /// Target, procedure, options. A simulated drive waits as long as TRIM may take, a real one until the kernel counted it.
    const RUNS: [(&str, &str, &str); 19] = [
        ("sim:tiny-flash", "bench", "span = \"64MiB\"\npasses = 3\ntime = \"1s\""),
        ("sim:tiny-flash?state=used", "bench", "span = \"64MiB\"\npasses = 3\ntime = \"1s\""),
        ("sim:disk-2tb", "bench", "span = \"64MiB\"\npasses = 3\ntime = \"1s\""),
        ("sim:tiny-flash", "sweep", "span = \"64MiB\"\npasses = 2\ntime = \"100ms\""),
        ("sim:tiny-flash", "fill", "files = 20\nfile_size = \"16MiB\""),
        ("sim:disk-2tb", "surface", "points = 40"),
        ("sim:tiny-flash", "verify", "span = \"128MiB\"\nparts = 20\nprobes = 20"),
        ("sim:tiny-flash", "trim", "span = \"64MiB\"\npasses = 2\ntime = \"1s\"\nwait = \"2s\""),
        ("sim:tlc-sata-500gb", "trim", "span = \"256MiB\"\npasses = 2\ntime = \"1s\"\nwait = \"2s\""),
        ("sim:tiny-flash", "data", ""),
        ("sim:tiny-flash", "check", ""),
        ("sim:tiny-flash?state=used", "check", WITH_REFERENCE),
        ("sim:disk-2tb", "check", ""),
        ("sim:tiny-flash", "age", "random_span = \"64MiB\"\nbytes = \"2GiB\""),
        ("sim:tiny-flash", "endure", "bytes = \"8GiB\""),
        ("sim:tiny-flash", "cache", ""),
        ("sim:tiny-flash?state=used&fill=0.95&deleted=0.4", "recondition", ""),
        ("sim:tiny-flash", "apps", "span = \"256MiB\""),
        ("sim:tiny-flash", "model", "time = \"2min\""),
    ];

    #[test]
    fn the_time_of_a_run_follows_from_an_earlier_one_on_the_same_drive() {
        for (target, procedure, options) in [RUNS[1], RUNS[4], RUNS[5], RUNS[14]] {
            let plan = Plan::new(procedure, Some(target.into()), 1, toml::from_str(options).unwrap());
            let procedure = from_plan(&plan).unwrap();
            let mut drive = Spec::parse(target).unwrap().open(read_file).unwrap();
            let new = Evidence::new(plan, drive.identity(), drive.geometry());
            let mut evidence = new.clone();
            let progress = Progress::with(ProgressBar::hidden(), None, Box::new(|| Nanos::ZERO));
            let mut follow = RunObserver::new(progress);
            run_procedure(&mut drive, &*procedure, &mut evidence, &mut follow).unwrap();
            let whole = evidence.segments.last().unwrap().ended_at.since(evidence.segments[0].started_at);
            let mut forecast = Forecast::new(&[], Clock::Wall, false);
            forecast.learn(&evidence.segments);
            let rated =
                DryRun::with_rates(&*procedure, &new, &|workload| forecast.slowdown(workload)).unwrap();
            let ratio = rated.elapsed.0 as f64 / whole.0 as f64;
            assert!((0.75..1.33).contains(&ratio), "{target}: {ratio}");
        }
    }

    /// Checks every fourth of the runs.
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
