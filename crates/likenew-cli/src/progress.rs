//! The progress bar: how far the run is, how long it will take, and how much it has written.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use likenew_core::io::Op;
use likenew_core::recorder::{Recorder, Stop};
use likenew_core::sample::Sample;
use likenew_core::units::{Nanos, amount};
use likenew_core::workload::Workload;

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
    workloads_done: u64,
    workloads: u64,
}

/// What the recorders of all lanes add up.
struct Shared {
    bytes_written: AtomicU64,
    /// In the current workload.
    bytes_moved: AtomicU64,
    ios: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(PARTS);
        let style = "{bar:24} {percent:>3}%  {elapsed} gone, about {eta} left  {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
        let shared = Shared { bytes_written: 0.into(), bytes_moved: 0.into(), ios: 0.into() };
        Self { bar, shared: Arc::new(shared), workloads_done: 0, workloads: 1 }
    }

    /// The next workload or look begins; there will be so many in all.
    pub(crate) fn begins(&mut self, name: &str, done: usize, expected: usize) {
        self.workloads_done = done as u64;
        self.workloads = expected.max(done + 1) as u64;
        self.shared.bytes_moved.store(0, Ordering::Relaxed);
        self.shared.ios.store(0, Ordering::Relaxed);
        let written = amount(self.shared.bytes_written.load(Ordering::Relaxed));
        self.bar.set_message(format!("{written} written  {name}"));
        self.bar.set_position(PARTS * self.workloads_done / self.workloads);
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
            base: self.workloads_done as f64 / self.workloads as f64,
            share: 1.0 / self.workloads as f64,
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

/// Moves the bar, and hears when somebody asks to stop.
pub(crate) struct ProgressRecorder {
    bar: ProgressBar,
    shared: Arc<Shared>,
    base: f64,
    share: f64,
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
        let done = time.max(of(moved, self.until.bytes)).max(of(ios, self.until.ops)).min(1.0);
        self.bar.set_position((PARTS as f64 * (self.base + self.share * done)) as u64);
        self.bar.set_message(format!("{} written  {}", amount(written), self.name));
        if interrupt::asked() { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}
