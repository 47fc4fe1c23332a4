//! A mechanism with counters of what has reached it, as a kernel keeps them for a device.

use likenew_core::counters::Counters;
use likenew_core::io::{Completion, Io};
use likenew_core::units::Nanos;

use crate::device::{Device, NO_IO};

/// A mechanism whose I/Os are counted when they end.
pub(crate) struct CountingDevice {
    device: Box<dyn Device>,
    /// What is in flight, by slot, and since when.
    ios: Vec<(Io, Nanos)>,
    in_flight: u32,
    /// Since when anything was in flight.
    busy_since: Nanos,
    counters: Counters,
}

impl CountingDevice {
    pub(crate) fn new(device: Box<dyn Device>) -> Self {
        let counters = Counters {
            discards: Some(0),
            bytes_discarded: Some(0),
            flushes: Some(0),
            io_time: Some(Nanos::ZERO),
            devices: 1,
            ..Counters::default()
        };
        Self { device, ios: Vec::new(), in_flight: 0, busy_since: Nanos::ZERO, counters }
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The mechanism, for everything but I/O.
    pub(crate) fn device_mut(&mut self) -> &mut dyn Device {
        &mut *self.device
    }

    /// What has reached it until now.
    pub(crate) fn counters(&self, now: Nanos) -> Counters {
        let so_far = if self.in_flight > 0 { now.since(self.busy_since) } else { Nanos::ZERO };
        Counters { busy: self.counters.busy + so_far, ..self.counters }
    }

    pub(crate) fn announce_slots(&mut self, count: u32) {
        self.device.announce_slots(count);
        self.ios.resize(self.ios.len().max(count as usize), (NO_IO, Nanos::ZERO));
    }

    pub(crate) fn accept(&mut self, io: &Io, now: Nanos) {
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
        self.ios[io.slot.index()] = (*io, now);
        self.device.accept(io, now);
    }

    pub(crate) fn next_at(&self) -> Option<Nanos> {
        self.device.next_at()
    }

    pub(crate) fn step(&mut self, done: &mut Vec<Completion>) {
        let before = done.len();
        self.device.step(done);
        for completion in &done[before..] {
            let (io, sent) = &self.ios[completion.slot.index()];
            let bytes = u64::from(completion.outcome.bytes(io.length));
            self.counters.count(io.op, bytes, completion.at.since(*sent));
            self.in_flight -= 1;
            if self.in_flight == 0 {
                self.counters.busy += completion.at.since(self.busy_since);
            }
        }
    }
}
