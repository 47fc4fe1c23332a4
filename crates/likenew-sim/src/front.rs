//! What every mechanism has in front: the link to the host, and a plain store for written bytes.

use std::collections::VecDeque;

use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use rustc_hash::FxHashMap;

use crate::drive_file::{RATE, parameters};
use crate::timeline::{EventQueue, Timeline, transfer_time};
use crate::value::Value;

parameters! {
    /// The parameters of a link.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LinkParameters {
        /// Payload bytes per second in one direction.
        pub bytes_per_s: u64 = whole("bytes_per_s", RATE) => ("rate", Value::rate),
        /// Whether both directions move data at the same time, as PCIe does and SATA does not.
        pub duplex: bool = truth("duplex"),
        /// Commands that the drive accepts at once; further ones wait in the host.
        pub command_slots: u32 = whole("command_slots", 1..=65_535) => ("queue depth", Value::Count),
    }
}

/// The link in virtual time. It moves data in the order in which it becomes ready.
pub(crate) struct HostLink {
    parameters: LinkParameters,
    /// Its present rate.
    bytes_per_s: u64,
    to_drive: Timeline,
    to_host: Timeline,
}

impl HostLink {
    pub(crate) fn new(parameters: LinkParameters) -> Self {
        Self {
            parameters,
            bytes_per_s: parameters.bytes_per_s,
            to_drive: Timeline::default(),
            to_host: Timeline::default(),
        }
    }

    /// Limits the link's rate from now on; `None` lifts the limit.
    pub(crate) fn limit(&mut self, bytes_per_s: Option<u64>) {
        let full_rate = self.parameters.bytes_per_s;
        self.bytes_per_s = bytes_per_s.map_or(full_rate, |limit| limit.min(full_rate));
    }

    /// When `bytes` that the host sends from `now` on have arrived in the drive.
    pub(crate) fn send_to_drive(&mut self, now: Nanos, bytes: u64) -> Nanos {
        self.to_drive.reserve(now, transfer_time(bytes, self.bytes_per_s))
    }

    /// When `bytes` that the drive sends from `now` on have arrived in the host.
    pub(crate) fn send_to_host(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let line = if self.parameters.duplex { &mut self.to_host } else { &mut self.to_drive };
        line.reserve(now, transfer_time(bytes, self.bytes_per_s))
    }
}

/// The link of a drive, its events, and the commands that wait for one of the link's slots.
pub(crate) struct Front<E> {
    pub(crate) link: HostLink,
    pub(crate) events: EventQueue<E>,
    /// I/Os that wait in the host for a command slot.
    waiting: VecDeque<u32>,
    slots_used: u32,
    /// When the last I/O left the drive.
    pub(crate) quiet_since: Nanos,
    pub(crate) host_bytes_written: u64,
}

impl<E> Front<E> {
    pub(crate) fn new(link: LinkParameters) -> Self {
        Self {
            link: HostLink::new(link),
            events: EventQueue::new(),
            waiting: VecDeque::new(),
            slots_used: 0,
            quiet_since: Nanos::ZERO,
            host_bytes_written: 0,
        }
    }

    /// Takes an I/O of the host; returns whether it begins at once.
    pub(crate) fn accept(&mut self, io: &Io) -> bool {
        if io.op == Op::Write {
            self.host_bytes_written += u64::from(io.length);
        }
        let begins = self.slots_used < self.link.parameters.command_slots;
        if begins {
            self.slots_used += 1;
        } else {
            self.waiting.push_back(io.slot.0);
        }
        begins
    }

    /// Ends an I/O; returns the one that begins in its place.
    pub(crate) fn end(
        &mut self,
        slot: u32,
        outcome: Outcome,
        now: Nanos,
        done: &mut Vec<Completion>,
    ) -> Option<u32> {
        done.push(Completion { slot: Slot(slot), at: now, outcome });
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.slots_used -= 1;
        }
        if self.is_quiet() {
            self.quiet_since = now;
        }
        next
    }

    /// Whether no I/O is in the drive.
    pub(crate) fn is_quiet(&self) -> bool {
        self.slots_used == 0
    }
}

/// Sectors' bytes, by sector number.
pub(crate) type Sectors = FxHashMap<u64, Box<[u8]>>;

/// A store for sectors that were written. All others read as zeros.
pub(crate) struct PlainContents {
    sector_bytes: u32,
    /// By slot of the host.
    requests: Vec<Vec<u8>>,
    /// What was written.
    pub(crate) sectors: Sectors,
}

impl PlainContents {
    pub(crate) fn new(sector_bytes: u32) -> Self {
        Self { sector_bytes, requests: Vec::new(), sectors: FxHashMap::default() }
    }

    /// The buffer of an I/O.
    pub(crate) fn request(&mut self, slot: Slot) -> &mut Vec<u8> {
        if self.requests.len() <= slot.index() {
            self.requests.resize(slot.index() + 1, Vec::new());
        }
        &mut self.requests[slot.index()]
    }

    /// Copies an I/O's bytes in or out. Two I/Os in flight to the same sector give an undefined result.
    pub(crate) fn serve(&mut self, io: &Io) {
        let length = self.sector_bytes as usize;
        let first = io.offset / u64::from(self.sector_bytes);
        let mut bytes = std::mem::take(self.request(io.slot));
        for (sector, part) in (first..).zip(bytes.chunks_mut(length)) {
            match (io.op, self.sectors.get(&sector)) {
                (Op::Write, _) => drop(self.sectors.insert(sector, (&*part).into())),
                (Op::Read, Some(held)) => part.copy_from_slice(held),
                (Op::Read, None) => part.fill(0),
                (Op::Trim | Op::Flush, _) => {}
            }
        }
        *self.request(io.slot) = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_duplex_link_shares_its_time_and_a_duplex_one_does_not() {
        let link = |duplex| {
            let parameters = LinkParameters { bytes_per_s: 1_000_000_000, duplex, command_slots: 32 };
            let mut link = HostLink::new(parameters);
            (link.send_to_drive(Nanos(0), 1000), link.send_to_host(Nanos(0), 1000))
        };
        assert_eq!(link(false), (Nanos(1000), Nanos(2000)));
        assert_eq!(link(true), (Nanos(1000), Nanos(1000)));
    }
}
