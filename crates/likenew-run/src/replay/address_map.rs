//! Maps addresses of a recorded drive to the target. It also prepares the target: everything that a recording
//! touches is written once, so that reads find data.

use std::ops::Range;

use likenew_core::io::{DataClass, Io, Op, Sample, Slot};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::trace::{Fit, ReplaySpec, TraceSource};
use likenew_core::units::Nanos;

use crate::io_source::{Departure, IoSource};

/// Longest discard. Longer ones are split, because 32 bits count the length of one.
const TRIM_MAX: u64 = 1 << 30;

/// Maps recorded ranges to whole blocks of the target's region.
pub(crate) struct AddressMap {
    region: Range<u64>,
    block: u64,
    boundary: u64,
    length_max: u64,
    fit: Fit,
    /// Bytes of addresses that are scaled to the region.
    extent: u64,
}

/// A range on the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl AddressMap {
    pub(crate) fn new(replay_spec: &ReplaySpec, geometry: &Geometry) -> Self {
        let region = replay_spec.region.resolve(geometry.capacity, geometry.block);
        Self {
            region: region.expect("a workload is checked before it runs"),
            block: geometry.block.into(),
            boundary: geometry.boundary.unwrap_or(u64::MAX),
            length_max: replay_spec.length_max,
            fit: replay_spec.fit,
            extent: replay_spec.extent,
        }
    }

    pub(crate) fn region(&self) -> Range<u64> {
        self.region.clone()
    }

    /// The whole blocks for a recorded range; empty for a flush.
    pub(crate) fn spot(&self, op: Op, offset: u64, length: u64) -> Spot {
        if op == Op::Flush {
            return Spot::default();
        }
        let size = self.region.end - self.region.start;
        let offset = match self.fit {
            Fit::Modulo => offset % size,
            Fit::Scale => self.scale(offset, size),
        };
        let start = offset - offset % self.block;
        let end = (offset.saturating_add(length)).max(start + 1).checked_next_multiple_of(self.block);
        let length = end.map_or(size, |end| (end - start).min(size));
        // A range that would reach beyond the end is moved to end there.
        Spot { offset: self.region.start + start.min(size - length), length }
    }

    fn scale(&self, offset: u64, size: u64) -> u64 {
        if size <= Fit::ZONE {
            return offset % size;
        }
        let within = offset % Fit::ZONE;
        let zone = u128::from(offset - within) * u128::from(size) / u128::from(self.extent.max(1));
        let zone = u64::try_from(zone).unwrap_or(u64::MAX).min(size - Fit::ZONE);
        zone - zone % self.block + within
    }

    /// Bytes of the first piece of a spot that one I/O can move: no longer than a buffer, and within one file of a folder.
    pub(crate) fn piece(&self, op: Op, spot: Spot) -> u32 {
        let longest = if op == Op::Trim { TRIM_MAX } else { self.length_max };
        let piece = spot.length.min(longest).min(self.boundary - spot.offset % self.boundary);
        u32::try_from(piece).expect("no I/O is longer than is counted by 32 bits")
    }
}

/// The parts of the region that a recording touches, in order of addresses.
pub(crate) struct Preparation {
    map: AddressMap,
    touched_blocks: Vec<u64>,
    /// Bytes of each part.
    part: u64,
    parts: u64,
    /// The next part to examine.
    at: u64,
    depth: u32,
    in_flight: u32,
    data: DataClass,
}

impl Preparation {
    /// Reads the recording to its end.
    ///
    /// # Errors
    /// The recording's error.
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

    /// The first touched part from `from` on, or the end if there is none.
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

    fn ready(&mut self, _: Nanos) -> Result<Option<usize>, TargetError> {
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
        batch.push(Io {
            slot,
            op: Op::Write,
            offset,
            length: spot.length as u32,
            data: self.data,
            sync: None,
        });
        Departure { stream: 0, due: None, is_counted: true }
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

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::region::Region;
    use proptest::prelude::*;

    fn map(fit: Fit, region: Range<u64>, extent: u64) -> AddressMap {
        let (block, boundary, length_max) = (4096, 1 << 30, 1 << 20);
        assert!(Region::bytes(region.clone()).resolve(region.end, 4096).is_ok());
        AddressMap { region, block, boundary, length_max, fit, extent }
    }

    #[test]
    fn what_fits_stays_and_what_does_not_begins_anew() {
        let map = map(Fit::Modulo, 0..1 << 30, 1 << 40);
        let spot = |offset, length| map.spot(Op::Read, offset, length);
        assert_eq!(spot(8192, 4096), Spot { offset: 8192, length: 4096 });
        assert_eq!(spot(8192 + (5 << 30), 4096), Spot { offset: 8192, length: 4096 });
        assert_eq!(spot(8192 + 512, 1024), Spot { offset: 8192, length: 4096 }, "whole blocks");
        assert_eq!(spot(8192 - 512, 1024), Spot { offset: 4096, length: 8192 }, "of both ends");
        let end = (1 << 30) - 4096;
        assert_eq!(spot(end, 65_536), Spot { offset: (1 << 30) - 65_536, length: 65_536 }, "within");
        assert_eq!(map.spot(Op::Flush, 0, 0), Spot::default());
        assert_eq!(map.spot(Op::Trim, 77, u64::MAX), Spot { offset: 0, length: 1 << 30 });
    }

    #[test]
    fn scaled_addresses_keep_their_proportion_and_zones_their_order() {
        let half = map(Fit::Scale, 0..1 << 33, 1 << 34);
        let at = |offset| half.spot(Op::Read, offset, 4096).offset;
        assert_eq!((at(0), at(1 << 33)), (0, 1 << 32));
        assert_eq!(at((1 << 33) + 4096), (1 << 32) + 4096, "neighbors stay neighbors");
        assert_eq!(at((1 << 34) - 4096), (1 << 33) - 4096, "the end is the end");
        let double = map(Fit::Scale, 0..1 << 34, 1 << 33);
        assert_eq!(double.spot(Op::Read, 1 << 32, 4096).offset, 1 << 33);
    }

    proptest! {
        #[test]
        fn every_piece_is_whole_blocks_within_region_and_file(
            scale: bool,
            start in 0u64..1000, blocks in 256u64..2_000_000,
            extent in 1u64..1 << 44, offset: u64, length in 1u64..1 << 33, op in 0usize..3,
        ) {
            let region = start * 4096..(start + blocks) * 4096;
            let map = map(if scale { Fit::Scale } else { Fit::Modulo }, region.clone(), extent);
            let op = Op::ALL[op];
            let mut spot = map.spot(op, offset, length);
            prop_assert!(spot.length > 0 && spot.length < length.saturating_add(8192));
            while spot.length > 0 {
                let piece = u64::from(map.piece(op, spot));
                prop_assert!(piece > 0 && (spot.offset | piece).is_multiple_of(4096));
                prop_assert!(spot.offset >= region.start && spot.offset + piece <= region.end);
                prop_assert!(spot.offset / map.boundary == (spot.offset + piece - 1) / map.boundary);
                prop_assert!(op == Op::Trim || piece <= 1 << 20);
                spot = Spot { offset: spot.offset + piece, length: spot.length - piece };
            }
        }
    }
}
