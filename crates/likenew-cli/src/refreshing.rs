//! Rewrites data in place, in files of a folder and on whole devices: connects the opened target with
//! a refresh session. Writes are timed, held to a rate, and pause while other programs use the drive.
//!
//! The kernel counts the bytes that all programs move on a drive. What exceeds our own belongs to
//! others; if it is much, nothing is read or written until they are done.

mod device;
mod files;

use std::cell::RefCell;
use std::path::Path;
use std::{fmt, io};

use likenew_core::drive::{BlockStore, LeaseState};
use likenew_core::fix::{FixEnd, FixReport, WriteSpeeds};
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::drive_traffic::DriveTraffic;
use likenew_refresh::{End, InterruptedRefresh, JournalPaths, Outcome, RefreshError};

use crate::interrupt;
use crate::progress::BarNote;
use crate::wording::refresh as wording;

pub(crate) use self::device::DeviceRefresh;
pub(crate) use self::files::{refresh_files, resume_and_report, rewrite_files};

/// Attempts to get a lock. A process that is just starting may hold a copy of the lock of a run that has ended.
const LOCK_TRIES: u32 = 20;
/// Time between these attempts. Chosen: twenty of them take 0.2 s.
const LOCK_REST: Nanos = Nanos::from_millis(10);

/// Looks for an interrupted refresh, and tries again while its journal is locked.
fn find_interrupted_refresh(place: &JournalPaths) -> Result<Option<InterruptedRefresh>, RefreshError> {
    let clock = Monotonic::start();
    for _ in 1..LOCK_TRIES {
        match InterruptedRefresh::find(place) {
            Err(RefreshError::InUse(_)) => clock.rest(clock.now() + LOCK_REST),
            result => return result,
        }
    }
    InterruptedRefresh::find(place)
}

/// Prints where torn data is kept.
fn report_salvage(outcome: &Outcome) {
    if let Some(salvage) = &outcome.salvage {
        crate::console::note(wording::salvage_kept(salvage));
    }
}

/// The outcome of a session, as evidence.
fn to_fix_report(outcome: &Outcome) -> FixReport {
    let Outcome { end, progress, journal, .. } = outcome;
    let left = progress.all_bytes - progress.done_bytes;
    let mut fix_report = FixReport {
        bytes: progress.done_bytes,
        bytes_written: progress.written_bytes,
        ..FixReport::default()
    };
    if progress.zero_bytes > 0 {
        fix_report.skip(progress.zero_bytes, wording::ZEROS);
    }
    match end {
        End::Complete => {}
        End::Stopped => {
            fix_report.end = FixEnd::Stopped;
            fix_report.skip(left, wording::STOPPED);
        }
        End::Wanted => fix_report.skip(left, wording::IN_USE),
        End::Failed(error) => {
            fix_report.end = FixEnd::Failed;
            fix_report.skip(left, wording::with_journal(error, journal.as_deref()));
        }
    }
    fix_report
}

/// Times writes, holds them to a rate, and pauses them while the drive is busy.
#[derive(Debug)]
struct WriteTimer {
    clock: Monotonic,
    speeds: WriteSpeeds,
    /// Highest rate, in bytes a second.
    bytes_per_s_max: Option<u64>,
    /// `None` if the I/O of other programs is unknown or does not matter.
    busy_pause: Option<BusyPause>,
    /// How often each written byte reaches the drive: twice if the journal is on it, too.
    copies: u64,
    /// Time spent waiting for other programs.
    paused: Nanos,
}

impl WriteTimer {
    fn start(bytes_per_s_max: Option<u64>) -> Self {
        let bytes_per_s_max = bytes_per_s_max.filter(|most| *most > 0);
        let (speeds, paused) = (WriteSpeeds::default(), Nanos::ZERO);
        Self { clock: Monotonic::start(), speeds, bytes_per_s_max, busy_pause: None, copies: 1, paused }
    }

    /// Pauses while other programs use this drive, if their I/O is counted. The journal is in `journal_folder`.
    fn yield_drive(mut self, traffic: Option<DriveTraffic>, journal_folder: &Path) -> Self {
        if let Some(traffic) = traffic {
            self.copies = if traffic.holds(journal_folder) { 2 } else { 1 };
            self.busy_pause = Some(BusyPause::new(Box::new(CountedDrive { clock: self.clock, traffic })));
        }
        self
    }

    fn wait_until_idle(&mut self, mut is_wanted: impl FnMut() -> bool) {
        if let Some(busy_pause) = &mut self.busy_pause {
            let ends_early = || interrupt::is_requested() || is_wanted();
            let announce = || BarNote::show(wording::PAUSED, wording::RESUMED);
            self.paused += busy_pause.wait_until_idle(ends_early, announce);
        }
    }

    fn add_own(&mut self, bytes: u64) {
        self.busy_pause.iter_mut().for_each(|busy_pause| busy_pause.add_own(bytes));
    }

    fn time<T>(&mut self, bytes: u64, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let started_at = self.clock.now();
        let came = act();
        if came.is_ok() {
            self.speeds.add(bytes, self.clock.now() - started_at);
        }
        came
    }

    /// Waits until the rate allows more than these written bytes, or the user asks to stop.
    fn keep_pace(&self, written: u64) {
        let Some(most) = self.bytes_per_s_max else { return };
        let due = self.paused + Nanos::from_secs_f64(written as f64 / most as f64);
        while self.clock.now() < due && !interrupt::is_requested() {
            self.clock.rest(due.min(self.clock.now() + PAUSE_PART));
        }
    }
}

/// A store that reports its I/O to a timer.
#[derive(Debug)]
struct TimedStore<'a, S> {
    store: S,
    timer: &'a RefCell<WriteTimer>,
}

impl<S: BlockStore> BlockStore for TimedStore<'_, S> {
    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn block(&self) -> u32 {
        self.store.block()
    }

    /// Each chunk begins with a read, so the store waits for other programs here.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut timer = self.timer.borrow_mut();
        timer.wait_until_idle(|| self.store.lease_state() != LeaseState::Active);
        let read = self.store.read_at(offset, into);
        timer.add_own(into.len() as u64);
        read
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut timer = self.timer.borrow_mut();
        let own = timer.copies * bytes.len() as u64;
        timer.add_own(own);
        timer.time(bytes.len() as u64, || self.store.write_at(offset, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.timer.borrow_mut().time(0, || self.store.flush())
    }

    fn lease_state(&mut self) -> LeaseState {
        self.store.lease_state()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.store.finish()
    }
}

/// Time over which I/O of others is counted. Chosen: long enough for a rate, and others wait no longer than this before rewriting
/// pauses.
const WINDOW: Nanos = Nanos::from_secs(1);
/// Windows without I/O of others, after which rewriting continues. Chosen: programs that read small files pause for a second now and then.
const IDLE_WINDOWS: u32 = 2;
/// I/O of other programs that makes the drive busy, in bytes a second: 64 reads of 4 KiB, half of what a hard disk can do.
const BUSY_BYTES_PER_S: f64 = 64.0 * 4096.0;
/// Longest pause. A drive that is never idle is rewritten, too: for one window of each minute.
const PAUSE_MAX: Nanos = Nanos::from_secs(60);
/// Time after a false alarm until other programs are suspected again. Chosen: false alarms then cost a twentieth.
const SUSPICION_REST: Nanos = Nanos::from_secs(20);
/// Time between checks whether a pause has to end early.
const PAUSE_PART: Nanos = Nanos::from_millis(100);

/// The counters of a drive, and their clock.
trait DriveActivity: fmt::Debug {
    /// The time.
    fn now(&self) -> Nanos;

    /// Sleeps until this time.
    fn rest(&self, until: Nanos);

    /// Bytes that all programs have moved; `None` if unknown.
    fn moved_bytes(&self) -> Option<u64>;
}

/// The kernel's counters of a drive.
#[derive(Debug)]
struct CountedDrive {
    clock: Monotonic,
    traffic: DriveTraffic,
}

impl DriveActivity for CountedDrive {
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn rest(&self, until: Nanos) {
        self.clock.rest(until);
    }

    fn moved_bytes(&self) -> Option<u64> {
        self.traffic.bytes()
    }
}

/// Counts our own I/O, and pauses while other programs do much.
#[derive(Debug)]
struct BusyPause {
    drive: Box<dyn DriveActivity>,
    own_bytes: u64,
    last: Option<Reading>,
    /// Other programs are not suspected before this time.
    next_at: Nanos,
}

/// What was counted at a moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Nanos,
    moved_bytes: u64,
    own_bytes: u64,
}

impl BusyPause {
    fn new(drive: Box<dyn DriveActivity>) -> Self {
        Self { drive, own_bytes: 0, last: None, next_at: Nanos::ZERO }
    }

    /// Counts bytes that we read or wrote.
    fn add_own(&mut self, bytes: u64) {
        self.own_bytes += bytes;
    }

    /// Waits until no other program uses the drive, or the pause has to end early, and returns how
    /// long it waited. The result of `announce` lives until the pause ends.
    fn wait_until_idle<G>(
        &mut self,
        mut ends_early: impl FnMut() -> bool,
        announce: impl FnOnce() -> G,
    ) -> Nanos {
        let started_at = self.drive.now();
        let is_due = self.last.is_none_or(|last| started_at.since(last.at) >= WINDOW);
        if !is_due || started_at < self.next_at || !self.is_busy_since_last() {
            return Nanos::ZERO;
        }
        // These bytes may be our own after all, such as metadata. A window without our I/O decides.
        if !self.rest_for_a_window(&mut ends_early) || !self.is_busy_since_last() {
            self.next_at = self.drive.now() + SUSPICION_REST;
            return Nanos::ZERO;
        }
        let _announcement = announce();
        let mut idle_windows = 0;
        while idle_windows < IDLE_WINDOWS && self.drive.now().since(started_at) < PAUSE_MAX {
            if !self.rest_for_a_window(&mut ends_early) {
                break;
            }
            idle_windows = if self.is_busy_since_last() { 0 } else { idle_windows + 1 };
        }
        self.drive.now().since(started_at)
    }

    /// Rests for a window; false if that ended early.
    fn rest_for_a_window(&self, ends_early: &mut impl FnMut() -> bool) -> bool {
        let until = self.drive.now() + WINDOW;
        while self.drive.now() < until {
            if ends_early() {
                return false;
            }
            self.drive.rest(until.min(self.drive.now() + PAUSE_PART));
        }
        true
    }

    /// Whether others have moved much since the last reading; false if that is unknown.
    fn is_busy_since_last(&mut self) -> bool {
        let Some(moved_bytes) = self.drive.moved_bytes() else { return false };
        let now = Reading { at: self.drive.now(), moved_bytes, own_bytes: self.own_bytes };
        let Some(last) = self.last.replace(now) else { return false };
        let moved = now.moved_bytes.saturating_sub(last.moved_bytes);
        let others = moved.saturating_sub(now.own_bytes - last.own_bytes);
        others as f64 >= BUSY_BYTES_PER_S * now.at.since(last.at).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ops::Range;
    use std::rc::Rc;

    use super::*;

    const CHUNK: u64 = 4 << 20;

    /// A drive on which others move a MiB a second at times, and we a chunk in a tenth of a second.
    #[derive(Clone, Debug)]
    struct ScriptedDrive {
        now: Rc<Cell<u64>>,
        own_bytes: Rc<Cell<u64>>,
        others_s: Option<Range<u64>>,
        is_counted: bool,
    }

    impl ScriptedDrive {
        fn with(others_s: Option<Range<u64>>) -> Self {
            Self { now: Rc::default(), own_bytes: Rc::default(), others_s, is_counted: true }
        }

        fn chunk(&self, pause: &mut BusyPause) {
            self.now.set(self.now.get() + 100_000_000);
            self.own_bytes.set(self.own_bytes.get() + CHUNK);
            pause.add_own(CHUNK);
        }

        fn seconds(&self) -> f64 {
            Nanos(self.now.get()).as_secs_f64()
        }

        /// From and to of each pause until this time, in whole seconds.
        fn pauses_until(&self, end_s: f64) -> Vec<(u64, u64)> {
            let mut pause = BusyPause::new(Box::new(self.clone()));
            let mut pauses = Vec::new();
            while self.seconds() < end_s {
                let from = self.seconds();
                if pause.wait_until_idle(|| false, || ()) > Nanos::ZERO {
                    pauses.push((from as u64, self.seconds() as u64));
                }
                self.chunk(&mut pause);
            }
            pauses
        }
    }

    impl DriveActivity for ScriptedDrive {
        fn now(&self) -> Nanos {
            Nanos(self.now.get())
        }

        fn rest(&self, until: Nanos) {
            self.now.set(until.0);
        }

        fn moved_bytes(&self) -> Option<u64> {
            let elapsed_in = |span: &Range<u64>| {
                self.seconds().clamp(span.start as f64, span.end as f64) - span.start as f64
            };
            let others: f64 = self.others_s.iter().map(elapsed_in).sum();
            self.is_counted.then(|| self.own_bytes.get() + (others * f64::from(1 << 20)) as u64)
        }
    }

    #[test]
    fn own_writes_are_no_reason_to_pause() {
        assert_eq!(ScriptedDrive::with(None).pauses_until(60.0), []);
        let uncounted = ScriptedDrive { is_counted: false, ..ScriptedDrive::with(Some(0..60)) };
        assert_eq!(uncounted.pauses_until(60.0), []);
    }

    #[test]
    fn it_pauses_while_others_use_the_drive_and_then_goes_on() {
        let drive = ScriptedDrive::with(Some(10..25));
        let pauses = drive.pauses_until(60.0);
        assert_eq!(pauses.len(), 1, "{pauses:?}");
        let (from, to) = pauses[0];
        assert!((10..=12).contains(&from) && (26..=28).contains(&to), "{pauses:?}");
    }

    #[test]
    fn a_drive_that_is_never_idle_is_done_at_last() {
        let drive = ScriptedDrive::with(Some(0..1000));
        let pauses = drive.pauses_until(600.0);
        assert!(pauses.iter().all(|(from, to)| (59..=62).contains(&(to - from))), "{pauses:?}");
        assert!((8..=10).contains(&pauses.len()), "{pauses:?}");
    }

    #[test]
    fn what_turns_out_to_be_our_own_costs_little() {
        // Twice as many bytes are counted as we know of.
        let drive = ScriptedDrive::with(None);
        let mut pause = BusyPause::new(Box::new(drive.clone()));
        let (mut chunks, mut announced) = (0, 0);
        while drive.seconds() < 300.0 {
            assert_eq!(pause.wait_until_idle(|| false, || announced += 1), Nanos::ZERO);
            drive.chunk(&mut pause);
            drive.own_bytes.set(drive.own_bytes.get() + CHUNK);
            chunks += 1;
        }
        let waited = drive.seconds() - f64::from(chunks) * 0.1;
        assert!((10.0..17.0).contains(&waited) && announced == 0, "{waited} s");
    }

    #[test]
    fn a_pause_ends_when_asked_to() {
        let drive = ScriptedDrive::with(Some(0..1000));
        let mut pause = BusyPause::new(Box::new(drive.clone()));
        assert_eq!(pause.wait_until_idle(|| false, || ()), Nanos::ZERO, "nothing was counted yet");
        drive.rest(Nanos::from_secs(2));
        let (mut calls, mut announced) = (0, 0);
        let ends_early = || {
            calls += 1;
            calls > 15
        };
        let paused = pause.wait_until_idle(ends_early, || announced += 1);
        assert_eq!((paused, announced), (Nanos::from_millis(1500), 1));
    }
}
