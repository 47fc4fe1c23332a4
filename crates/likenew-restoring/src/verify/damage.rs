//! What a verification found wrong and where, and how much the drive holds.
//!
//! Addresses in a file do not show where those of the device wrap around, because pieces of a file may lie
//! anywhere on it. Where the file system put the files does.

use std::ops::Range;

use likenew_core::damage::{Damage, DamageKind, DamagedRange};
use likenew_core::findings::Row;
use likenew_core::probe::ExtentMap;
use likenew_core::procedure::Evidence;
use likenew_core::row;

use super::experiment::{ProbeSummary, Verification, divisor, wraps_at};
use super::wording::{Capacity, DeviceWrap, Unreadable};

/// Ranges in order, those that touch or overlap joined.
fn disjoint(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    ranges.into_iter().fold(Vec::new(), |mut joined: Vec<Range<u64>>, range| {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
        joined
    })
}

/// Approximate number of points of an address map: more than a chart has pixels would say no more.
const ADDRESS_POINTS: u64 = 1000;

/// Damage found by the probes and by each pass.
pub(super) struct DamageSummary {
    /// Damage in probes and spot checks.
    pub(super) probe_damage: Damage,
    /// Damage in each pass.
    pub(super) passes: Vec<(u32, Damage)>,
}

impl DamageSummary {
    pub(super) fn collect(verification: &Verification<'_>) -> Self {
        let mut summary = Self { probe_damage: Damage::default(), passes: Vec::new() };
        for segment in verification.probes.iter().chain(&verification.spot_checks) {
            segment.damage.iter().for_each(|damage| summary.probe_damage.merge(damage.clone()));
        }
        for (pass, segment) in verification.parts() {
            let Some(damage) = segment.damage.clone() else { continue };
            match summary.passes.last_mut() {
                Some((last, merged)) if *last == pass => merged.merge(damage),
                _ => summary.passes.push((pass, damage)),
            }
        }
        summary
    }

    /// The total damage.
    pub(super) fn total(&self) -> Damage {
        let mut total = self.probe_damage.clone();
        // Ranges of several passes are not joined.
        total.ranges.clear();
        total.unlisted_bytes = 0;
        for (_, damage) in &self.passes {
            total.merge(Damage { ranges: Vec::new(), unlisted_bytes: 0, ..damage.clone() });
        }
        total
    }

    /// Every damaged range: of the passes if there were any, otherwise of probes and spot checks.
    fn listed_ranges(&self) -> impl Iterator<Item = (Option<u32>, &DamagedRange)> {
        let probe_damage =
            self.probe_damage.ranges.iter().filter(|_| self.passes.is_empty()).map(|range| (None, range));
        let passes = self
            .passes
            .iter()
            .flat_map(|(pass, damage)| damage.ranges.iter().map(|range| (Some(*pass), range)));
        probe_damage.chain(passes)
    }

    /// The first damaged range that could be read.
    pub(super) fn first(&self) -> Option<&DamagedRange> {
        let ranges = self.listed_ranges().map(|(_, range)| range).chain(&self.probe_damage.ranges);
        ranges.into_iter().find(|range| range.kind != DamageKind::Unreadable)
    }

    /// What could not be read, in any pass or probe.
    pub(super) fn unreadable(&self) -> Unreadable {
        let all_damage = || self.passes.iter().map(|(_, damage)| damage).chain([&self.probe_damage]);
        let ranges = all_damage()
            .flat_map(|damage| &damage.ranges)
            .filter(|range| range.kind == DamageKind::Unreadable);
        let listed = disjoint(ranges.map(|range| range.from..range.to).collect());
        let listed_bytes: u64 = listed.iter().map(|range| range.end - range.start).sum();
        let most = all_damage().map(|damage| damage.unreadable_bytes).max().unwrap_or(0);
        Unreadable { bytes: listed_bytes.max(most), ranges: listed }
    }

    /// For each kind of content, points `[address read, address it was written for]`, in bytes. What holds no
    /// other address stands at its own.
    pub(super) fn addresses(
        &self,
        verification: &Verification<'_>,
    ) -> Vec<(Option<DamageKind>, Vec<[f64; 2]>)> {
        let layout = &verification.layout;
        let step = (layout.span / ADDRESS_POINTS).max(layout.options.block);
        let line = |from: u64, to: u64, label: u64| {
            let offsets = (0..to - from).step_by(step as usize);
            offsets.map(move |offset| [(from + offset) as f64, (label + offset) as f64])
        };
        let read = verification.last_read();
        let intact = read.iter().flat_map(|(ranges, damage)| misplaced_ranges(ranges, damage));
        let intact = intact.filter(|range| range.at == range.label);
        let intact: Vec<[f64; 2]> =
            intact.flat_map(|range| line(range.at, range.at + range.bytes, range.label)).collect();
        let of_kind = |kind: DamageKind| {
            let ranges = self.listed_ranges().map(|(_, range)| range).filter(|range| range.kind == kind);
            let label = |range: &DamagedRange| match (kind, range.content.address) {
                (DamageKind::Wrapped, Some(address)) => address,
                _ => range.from,
            };
            let points = ranges.flat_map(|range| line(range.from, range.to, label(range))).collect();
            (Some(kind), points)
        };
        let kinds = DamageKind::ALL.into_iter().chain([DamageKind::Unreadable]).map(of_kind);
        [(None, intact)].into_iter().chain(kinds).filter(|(_, points)| !points.is_empty()).collect()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.listed_ranges().map(|(pass, range)| {
            row! {
                pass,
                from_byte: range.from,
                to_byte: range.to,
                kind: range.kind.name(),
                bits: (range.bits > 0).then_some(range.bits),
                written_for_byte: range.content.address,
                written_in_pass: range.content.pass,
                written_with_key: range.content.key,
                first_bytes: match range.kind {
                    DamageKind::Unreadable => String::new(),
                    _ => range.content.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                },
            }
        })
    }
}

impl Capacity {
    /// From everything that was found.
    pub(super) fn from_evidence(verification: &Verification<'_>, evidence: &Evidence) -> Self {
        let is_searched = !verification.probes.is_empty() && !verification.layout.is_folder;
        let known =
            if is_searched { ProbeSummary::from_probes(verification) } else { ProbeSummary::default() };
        let last_read = verification.last_read();
        let passed = verification.reads().next().is_some();
        let (mut checked, mut damaged, mut lost) = (0, 0, 0);
        for (_, damage) in last_read.iter().filter(|_| passed) {
            checked += damage.checked_bytes;
            damaged += damage.bytes();
            lost += damage.bytes() - damage.bytes_of(DamageKind::Wrong);
        }
        let intact = checked - damaged;
        let whole = checked == verification.layout.span && !verification.layout.is_folder;
        let by_extents = Verification::extents(evidence).map(|map| device_wrap(map, &last_read));
        let own_addresses = known.wraps_at.or_else(|| wrapped_in_passes(verification));
        let wraps = match by_extents {
            Some(by_extents) => by_extents.map(|wrap| wrap.at),
            None if verification.layout.is_folder => None,
            // A drive that holds more intact bytes does not wrap around there.
            None => own_addresses.filter(|wrap| intact <= *wrap),
        };
        let limits = [wraps, known.absent_from, (whole && lost > 0).then(|| checked - lost)];
        let at_most = limits.into_iter().flatten().min();
        let at_least = intact.max(known.present_until);
        Self {
            announced_bytes: evidence.geometry.capacity,
            read_back_bytes: checked,
            intact_bytes: intact,
            damaged_bytes: damaged,
            holds_at_least_bytes: at_most.map_or(at_least, |most| at_least.min(most)),
            holds_at_most_bytes: at_most,
            wraps_at_bytes: wraps,
            device_wrap: by_extents.flatten(),
        }
    }
}

/// The common divisor of all distances found in the passes.
fn wrapped_in_passes(verification: &Verification<'_>) -> Option<u64> {
    let parts = verification.reads().map(|(_, _, segment)| segment);
    let reads = parts.chain(verification.spot_checks.iter().copied());
    wraps_at(reads)
}

/// Fewer misplaced bytes than this are not believed: a single write may have gone astray.
const SHOWN_LEAST: u64 = 64 << 10;
/// One in this many bytes may contradict a wrap, because a cache may have answered for the device.
const CONTRADICTED_SHARE: u64 = 20;

/// Bytes that read back as written for `label`.
#[derive(Clone, Copy)]
struct MisplacedRange {
    at: u64,
    label: u64,
    bytes: u64,
}

/// Where the device wraps around, by ranges that were read with no writes in between, and their damage.
/// `None` if the damage does not agree with a single size.
pub(super) fn device_wrap(map: &ExtentMap, read: &[(Vec<Range<u64>>, &Damage)]) -> Option<DeviceWrap> {
    let misplaced: Vec<MisplacedRange> =
        read.iter().flat_map(|(ranges, damage)| misplaced_ranges(ranges, damage)).collect();
    let (mut at, mut evidence_bytes) = (0, 0);
    for elsewhere in misplaced.iter().filter(|misplaced| misplaced.at != misplaced.label) {
        for here in map.pieces(elsewhere.at, elsewhere.bytes) {
            let label = elsewhere.label + (here.offset - elsewhere.at);
            for there in map.pieces(label, here.bytes) {
                let place = here.device_offset + (there.offset - label);
                // Two addresses of the file are one on the device, so the map does not fit what was read.
                let distance = Some(place.abs_diff(there.device_offset)).filter(|distance| *distance > 0)?;
                at = divisor(at, distance);
                evidence_bytes += there.bytes;
            }
        }
    }
    let agrees = evidence_bytes >= SHOWN_LEAST && {
        let misplaced_bytes: u64 = misplaced.iter().map(|misplaced| misplaced.bytes).sum();
        contradictions(map, &misplaced, at) <= misplaced_bytes / CONTRADICTED_SHARE
    };
    agrees.then_some(DeviceWrap { at, evidence_bytes })
}

/// The content of ranges: as written, except for the damage.
fn misplaced_ranges(ranges: &[Range<u64>], damage: &Damage) -> Vec<MisplacedRange> {
    let elsewhere = damage.ranges.iter().filter(|damaged| damaged.kind == DamageKind::Wrapped);
    let mut misplaced: Vec<MisplacedRange> = elsewhere
        .filter_map(|damaged| {
            let label = damaged.content.address?;
            Some(MisplacedRange { at: damaged.from, label, bytes: damaged.to - damaged.from })
        })
        .collect();
    // Damage that is not listed, or bytes that could not be read, may be anywhere.
    let expected_bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    if damage.unlisted_bytes > 0 || damage.checked_bytes != expected_bytes {
        return misplaced;
    }
    for range in ranges {
        let first = damage.ranges.partition_point(|damaged| damaged.to <= range.start);
        let mut at = range.start;
        let damaged = damage.ranges[first..].iter().take_while(|damaged| damaged.from < range.end);
        for (from, to) in damaged.map(|damaged| (damaged.from, damaged.to)).chain([(range.end, range.end)]) {
            if from > at {
                misplaced.push(MisplacedRange { at, label: at, bytes: from - at });
            }
            at = at.max(to);
        }
    }
    misplaced
}

/// Bytes that would share a place of the device with other data, if its addresses wrapped around there.
fn contradictions(map: &ExtentMap, misplaced: &[MisplacedRange], wrap: u64) -> u64 {
    // Start and end on the device, and the distance of the label.
    let mut places: Vec<(u64, u64, u64)> = Vec::new();
    for misplaced in misplaced {
        for piece in map.pieces(misplaced.at, misplaced.bytes) {
            let (mut at, end) = (piece.device_offset, piece.device_offset + piece.bytes);
            while at < end {
                let to = end.min((at / wrap + 1) * wrap);
                let label = misplaced.label + (piece.offset - misplaced.at) + (at - piece.device_offset);
                places.push((at % wrap, at % wrap + (to - at), label.wrapping_sub(at % wrap)));
                at = to;
            }
        }
    }
    places.sort_unstable();
    let (mut contradicted, mut last) = (0, (0, 0));
    for (start, end, label) in places {
        let (last_end, last_label) = last;
        if start < last_end && label != last_label {
            contradicted += last_end.min(end) - start;
        }
        if end > last_end {
            last = (end, label);
        }
    }
    contradicted
}

#[cfg(test)]
mod tests {
    use likenew_core::probe::Extent;
    use likenew_core::stamp::{SECTOR, Stamp};
    use proptest::prelude::*;

    use super::*;

    const STAMP: Stamp = Stamp { key: 1, pass: 1 };
    const PIECE: u64 = 64 << 10;

    /// Files in pieces at these places of the device, by address in the file.
    fn map(places: &[u64]) -> ExtentMap {
        let extents = places.iter().zip((0..).step_by(PIECE as usize));
        ExtentMap::new(
            extents
                .map(|(place, offset)| Extent { offset, device_offset: place * PIECE, bytes: PIECE })
                .collect(),
        )
    }

    /// What reading all pieces finds; `holds` says which piece each of them contains.
    fn read(pieces: u64, holds: impl Fn(u64) -> u64) -> Damage {
        let mut damage = Damage::default();
        let mut sector = [0; SECTOR];
        for piece in 0..pieces {
            for at in (0..PIECE).step_by(SECTOR) {
                STAMP.fill(holds(piece) * PIECE + at, &mut sector);
                damage.inspect(STAMP, piece * PIECE + at, &sector);
            }
        }
        damage
    }

    fn wrap(places: &[u64], damage: &Damage) -> Option<DeviceWrap> {
        let whole = 0..places.len() as u64 * PIECE;
        device_wrap(&map(places), &[(vec![whole], damage)])
    }

    #[test]
    fn a_single_write_astray_or_a_map_of_other_files_name_nothing() {
        let places: Vec<u64> = (0..64).collect();
        let astray = read(64, |piece| if piece == 7 { 9 } else { piece });
        assert_eq!(wrap(&places, &astray), None, "what lies beside it contradicts");
        let misplaced = read(64, |piece| if piece == 40 { 8 } else { piece });
        let twice: Vec<u64> = (0..64).map(|place| place % 32).collect();
        assert_eq!(wrap(&twice, &misplaced), None, "two files at one place");
        assert_eq!(wrap(&[], &misplaced), None, "nothing is known of where it lies");
        assert_eq!(wrap(&places, &read(64, |piece| piece)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Pieces anywhere on a device that wraps around: the result is that size or a multiple of it.
        #[test]
        fn pieces_anywhere_tell_where_the_device_goes_round(
            order in Just((0..512u64).collect::<Vec<_>>()).prop_shuffle(),
            pieces in 128usize..400, real in 32u64..96,
        ) {
            let places = &order[..pieces];
            let last_at = |place: u64| {
                (0..pieces as u64).rev().find(|piece| places[*piece as usize] % real == place % real).unwrap()
            };
            let damage = read(pieces as u64, |piece| last_at(places[piece as usize]));
            let device_wrap = wrap(places, &damage).expect("most of it is written over");
            prop_assert!(device_wrap.at.is_multiple_of(real * PIECE), "{} for {}", device_wrap.at, real * PIECE);
            prop_assert_eq!(device_wrap.at, real * PIECE);
        }

        /// Pieces that hold any others: no size explains them, so none is named.
        #[test]
        fn disorder_names_nothing(
            order in Just((0..256u64).collect::<Vec<_>>()).prop_shuffle(), pieces in 64usize..200, seed in any::<u64>(),
        ) {
            let holds = |piece: u64| (piece.wrapping_mul(seed | 1) ^ (seed >> 7)) % pieces as u64;
            let damage = read(pieces as u64, holds);
            let good = (0..pieces as u64).filter(|piece| holds(*piece) == *piece).count() as u64 * PIECE;
            if let Some(device_wrap) = wrap(&order[..pieces], &damage) {
                prop_assert!(device_wrap.at >= good, "{} hold {good}", device_wrap.at);
            }
        }
    }
}
