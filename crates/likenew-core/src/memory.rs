//! The smallest honest drive: bytes in memory, served in virtual time by a few equal servers.
//!
//! Tests of the loop, the procedures and the laws use it as a fake drive.

use std::ops::Range;

use crate::counters::Counters;
use crate::drive::{Drive, Identity, Lane, LaneRequirements, TargetKind};
use crate::io::{Completion, Io, Op, Outcome, Slot};
use crate::target::{Clock, Geometry, Target};
use crate::target_error::TargetError;
use crate::units::Nanos;

/// A drive in memory. Every I/O takes the same time on one of its servers, whatever it does.
#[derive(Clone, Debug)]
pub struct Memory {
    geometry: Geometry,
    bytes: Vec<u8>,
    service: Nanos,
    /// When each server is free again.
    free_at: Vec<Nanos>,
    now: Nanos,
    bad: Vec<(Range<u64>, i32)>,
    lost_after: Option<u64>,
    served: u64,
    counters: Counters,
}

impl Memory {
    /// `capacity` zero bytes in blocks of 512, and `servers` servers that each take `service` for an I/O.
    pub fn new(capacity: usize, service: Nanos, servers: usize) -> Self {
        let geometry = Geometry {
            capacity: capacity as u64,
            block: 512,
            boundary: None,
            writable: true,
            trims: true,
            carries_data: true,
            clock: Clock::Virtual,
        };
        Self {
            geometry,
            bytes: vec![0; capacity],
            service,
            free_at: vec![Nanos::ZERO; servers],
            now: Nanos::ZERO,
            bad: Vec::new(),
            lost_after: None,
            served: 0,
            counters: Counters { devices: 1, ..Counters::default() },
        }
    }

    /// Its content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Fails I/Os that touch `range` with this error number.
    #[must_use]
    pub fn with_bad(mut self, range: Range<u64>, errno: i32) -> Self {
        self.bad.push((range, errno));
        self
    }

    /// Makes the drive read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.geometry.writable = false;
        self
    }

    /// Makes the drive disappear with an error after `ios` I/Os.
    #[must_use]
    pub fn lost_after(mut self, ios: u64) -> Self {
        self.lost_after = Some(ios);
        self
    }

    fn serve(&mut self, io: &Io, buffer: &mut [u8]) -> Completion {
        self.served += 1;
        let range = io.offset..io.offset + u64::from(io.length);
        let bad = self.bad.iter().find(|(bad, _)| bad.start < range.end && range.start < bad.end);
        let outcome = bad.map_or(Outcome::Done, |(_, errno)| Outcome::Error(*errno));
        let stored = &mut self.bytes[range.start as usize..range.end as usize];
        match io.op {
            _ if outcome != Outcome::Done => {}
            Op::Read => buffer[..stored.len()].copy_from_slice(stored),
            Op::Write => stored.copy_from_slice(&buffer[..stored.len()]),
            Op::Trim => stored.fill(0),
            Op::Flush => {}
        }
        let moved = outcome.bytes(io.length);
        let server = self.free_at.iter_mut().min().expect("a drive has a server");
        *server = (*server).max(self.now) + self.service;
        self.counters.count(io.op, u64::from(moved), server.since(self.now));
        self.counters.busy += self.service;
        Completion { slot: io.slot, at: *server, outcome }
    }
}

impl Drive for Memory {
    fn identity(&self) -> Identity {
        Identity {
            name: "memory".into(),
            kind: TargetKind::Simulated,
            model: None,
            engine: "memory".into(),
            capacity_bytes: self.geometry.capacity,
            block_bytes: self.geometry.block,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        }
    }

    fn geometry(&self) -> Geometry {
        self.geometry.clone()
    }

    fn lanes_max(&self) -> u32 {
        1
    }

    /// Counters of its own I/O; busy time is that of all servers together.
    fn counters(&mut self) -> Option<Counters> {
        Some(self.counters)
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        let lane = MemoryLane {
            drive: self,
            buffers: vec![Vec::new(); need.depth as usize],
            length_max: need.length_max as usize,
            queue: Vec::new(),
        };
        Ok(vec![Box::new(lane)])
    }
}

struct MemoryLane<'a> {
    drive: &'a mut Memory,
    /// By slot; empty until used.
    buffers: Vec<Vec<u8>>,
    length_max: usize,
    /// I/Os in flight, the last to end first.
    queue: Vec<Completion>,
}

impl Target for MemoryLane<'_> {
    fn geometry(&self) -> &Geometry {
        &self.drive.geometry
    }

    fn now(&self) -> Nanos {
        self.drive.now
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        let buffer = &mut self.buffers[slot.index()];
        buffer.resize(self.length_max, 0);
        buffer
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        for io in batch {
            if self.drive.lost_after.is_some_and(|ios| self.drive.served >= ios) {
                return Err(TargetError::Gone("memory".into()));
            }
            let buffer = &mut self.buffers[io.slot.index()];
            buffer.resize(self.length_max, 0);
            let completion = self.drive.serve(io, buffer);
            let at = self.queue.partition_point(|other| other.at > completion.at);
            self.queue.insert(at, completion);
        }
        Ok(self.drive.now)
    }

    fn next_at(&self) -> Option<Nanos> {
        self.queue.last().map(|completion| completion.at)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        match self.queue.last() {
            Some(first) if first.at <= until => {
                let now = first.at;
                while let Some(completion) = self.queue.pop_if(|next| next.at == now) {
                    done.push(completion);
                }
                self.drive.now = self.drive.now.max(now);
            }
            _ => {
                assert!(until != Nanos::NEVER, "a drive at rest would wait for ever");
                self.drive.now = self.drive.now.max(until);
            }
        }
        Ok(())
    }
}
