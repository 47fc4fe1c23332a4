//! A store whose writes and flushes are timed, and the pace at which it is written: no faster than a rate, and not while
//! other programs use the drive.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use likenew_core::block_store::{BlockStore, LeaseState};
use likenew_core::fix::WriteSpeeds;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::drive_traffic::DriveTraffic;

use super::busy_pause::{BusyPause, CountedDrive};
use crate::interrupt;
use crate::progress::BarNote;
use crate::wording::refresh as wording;

/// How often it is asked whether a pause is to end early.
const PAUSE_PART: Nanos = Nanos::from_millis(100);

/// Times writes, holds them to a rate, and pauses them while the drive is busy.
#[derive(Debug)]
pub(super) struct WriteTimer {
    clock: Monotonic,
    pub(super) speeds: WriteSpeeds,
    /// Bytes a second at most.
    bytes_per_s_max: Option<u64>,
    /// None where the I/O of other programs is unknown, or does not matter.
    busy_pause: Option<BusyPause>,
    /// How often what is written reaches the drive: twice if the journal is on it, too.
    copies: u64,
    /// Time that it has waited for other programs.
    pub(super) paused: Nanos,
}

impl WriteTimer {
    pub(super) fn start(bytes_per_s_max: Option<u64>) -> Self {
        let bytes_per_s_max = bytes_per_s_max.filter(|most| *most > 0);
        let (speeds, paused) = (WriteSpeeds::default(), Nanos::ZERO);
        Self { clock: Monotonic::start(), speeds, bytes_per_s_max, busy_pause: None, copies: 1, paused }
    }

    /// Pauses while other programs use this drive, where that is counted. The journal is in `journal_folder`.
    pub(super) fn yield_drive(mut self, traffic: Option<DriveTraffic>, journal_folder: &Path) -> Self {
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

    /// Waits until more may be written after so many bytes; less long where somebody asks for the end.
    pub(super) fn keep_pace(&self, written: u64) {
        let Some(most) = self.bytes_per_s_max else { return };
        let due = self.paused + Nanos::from_secs_f64(written as f64 / most as f64);
        while self.clock.now() < due && !interrupt::is_requested() {
            self.clock.rest(due.min(self.clock.now() + PAUSE_PART));
        }
    }
}

/// A store that tells a timer of its writes.
#[derive(Debug)]
pub(super) struct TimedStore<'a, S> {
    pub(super) store: S,
    pub(super) timer: &'a RefCell<WriteTimer>,
}

impl<S: BlockStore> BlockStore for TimedStore<'_, S> {
    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn block(&self) -> u32 {
        self.store.block()
    }

    /// Each chunk begins with a read, so that is where others are given way.
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
