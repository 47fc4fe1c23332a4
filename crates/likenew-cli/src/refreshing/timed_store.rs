//! A store whose writes and flushes are timed, and the pace at which it is written.

use std::cell::RefCell;
use std::io;

use likenew_core::block_store::{BlockStore, LeaseState};
use likenew_core::fix::WriteSpeeds;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;

use crate::interrupt;

/// How often it is asked whether a pause is to end early.
const PAUSE_PART: Nanos = Nanos::from_millis(100);

/// Times writes, and holds them to a rate.
#[derive(Debug)]
pub(super) struct WriteTimer {
    clock: Monotonic,
    pub(super) speeds: WriteSpeeds,
    /// Bytes a second at most.
    bytes_per_s_max: Option<u64>,
}

impl WriteTimer {
    pub(super) fn start(bytes_per_s_max: Option<u64>) -> Self {
        let bytes_per_s_max = bytes_per_s_max.filter(|most| *most > 0);
        Self { clock: Monotonic::start(), speeds: WriteSpeeds::default(), bytes_per_s_max }
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
        let due = Nanos::from_secs_f64(written as f64 / most as f64);
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

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.store.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.timer.borrow_mut().time(bytes.len() as u64, || self.store.write_at(offset, bytes))
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
