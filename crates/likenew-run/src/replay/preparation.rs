//! Writes everything that a recording touches once, so that its reads find data.

use std::ops::Range;

use likenew_core::io::{DataClass, Io, Op, Sample, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::Geometry;
use likenew_core::trace::{ReplaySpec, TraceSource};
use likenew_core::units::Nanos;

use super::address_map::{AddressMap, Spot};
use crate::io_source::IoSource;
use crate::issuer::Departure;

/// The touched parts of the region, in order of addresses.
pub(crate) struct Preparation {
    map: AddressMap,
    touched_blocks: Vec<u64>,
    /// Bytes of a part.
    part: u64,
    parts: u64,
    /// The next part that may be touched.
    at: u64,
    depth: u32,
    in_flight: u32,
    data: DataClass,
}

impl Preparation {
    /// Reads the recording to its end.
    ///
    /// # Errors
    /// The recording's.
    pub(crate) fn new(
        replay_spec: &ReplaySpec,
        mut source: Box<dyn TraceSource>,
        geometry: &Geometry,
    ) -> Result<Self, String> {
        let map = AddressMap::new(replay_spec, geometry);
        let Range { start, end } = map.region();
        let size = end - start;
        let block = u64::from(geometry.block);
        let part = ReplaySpec::prepared_part(size, geometry.block).min(replay_spec.length_max);
        // No part spans two files.
        let whole = |boundary: u64| (start | boundary).is_multiple_of(part) || boundary >= end;
        let part = if geometry.boundary.is_none_or(whole) { part } else { block };
        let parts = size.div_ceil(part);
        let touched_blocks = vec![0; parts.div_ceil(64) as usize];
        let (depth, data) = (replay_spec.depth, replay_spec.data);
        let mut made = Self { map, touched_blocks, part, parts, at: 0, depth, in_flight: 0, data };
        while let Some(io) = source.next_io()? {
            if io.op == Op::Read || (io.op == Op::Write && !replay_spec.reads_only) {
                let spot = made.map.spot(io.op, io.offset, io.length);
                made.touch(spot.offset - start, spot.length);
            }
        }
        made.at = made.next_touched(0);
        Ok(made)
    }

    fn touch(&mut self, offset: u64, length: u64) {
        for part in offset / self.part..=(offset + length - 1) / self.part {
            self.touched_blocks[(part / 64) as usize] |= 1 << (part % 64);
        }
    }

    fn is_touched(&self, part: u64) -> bool {
        part < self.parts && self.touched_blocks[(part / 64) as usize] >> (part % 64) & 1 == 1
    }

    /// The first touched part from here on; the end where there is none.
    fn next_touched(&self, from: u64) -> u64 {
        let mut part = from;
        while part < self.parts && !self.is_touched(part) {
            let word = self.touched_blocks[(part / 64) as usize] >> (part % 64);
            part = if word == 0 { (part / 64 + 1) * 64 } else { part + u64::from(word.trailing_zeros()) };
        }
        part.min(self.parts)
    }
}

impl IoSource for Preparation {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn ready(&mut self, _: Nanos) -> Result<Option<usize>, LabError> {
        Ok((self.at < self.parts && self.in_flight < self.depth).then_some(0))
    }

    fn issue(&mut self, _: usize, slot: Slot, batch: &mut Vec<Io>) -> Departure {
        let Range { start, end } = self.map.region();
        let offset = start + self.at * self.part;
        let mut spot = Spot { offset, length: self.part.min(end - offset) };
        // A part is never longer than an I/O.
        let most = u64::from(self.map.piece(Op::Write, Spot { length: end - offset, ..spot }));
        self.at += 1;
        while self.is_touched(self.at) {
            let length = spot.length + self.part.min(end - spot.offset - spot.length);
            if length > most {
                break;
            }
            spot.length = length;
            self.at += 1;
        }
        self.at = self.next_touched(self.at);
        self.in_flight += 1;
        batch.push(Io { slot, op: Op::Write, offset, length: spot.length as u32, data: self.data });
        Departure { stream: 0, due: None }
    }

    fn on_end(&mut self, _: usize, _: &Sample) {
        self.in_flight -= 1;
    }

    fn next_due(&self, _: Nanos) -> Nanos {
        Nanos::NEVER
    }

    fn is_done(&self) -> bool {
        self.at == self.parts
    }
}
