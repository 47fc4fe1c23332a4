//! What a verification found wrong, and where; how much the drive holds.

use std::ops::Range;

use likenew_core::damage::{Damage, DamagedRange, Kind};
use likenew_core::findings::Row;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::row;
use serde::Serialize;

use super::device_wrap::{DeviceWrap, device_wrap};
use super::narrowing::{NarrowStep, ProbeSummary, Task};
use super::workload_plan::WorkloadPlan;

/// Bytes that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) bytes: u64,
    /// Where they are, in order; of very many ranges the first.
    pub(super) ranges: Vec<Range<u64>>,
}

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

/// Damage found by the probes and by each pass.
pub(super) struct DamageSummary {
    /// Damage in probes and spot checks.
    pub(super) probe_damage: Damage,
    /// Damage in each pass.
    pub(super) passes: Vec<(u32, Damage)>,
}

impl DamageSummary {
    pub(super) fn collect(workload_plan: &WorkloadPlan<'_>) -> Self {
        let mut found = Self { probe_damage: Damage::default(), passes: Vec::new() };
        for (task, segment) in &workload_plan.history {
            let Some(damage) = segment.damage.clone() else { continue };
            match task {
                // Rounds read blocks that they expect to be missing.
                Task::NarrowStep(_, NarrowStep::Read) => {}
                Task::Part { pass, .. } => match found.passes.last_mut() {
                    Some((last, all)) if last == pass => all.merge(damage),
                    _ => found.passes.push((*pass, damage)),
                },
                _ => found.probe_damage.merge(damage),
            }
        }
        found
    }

    /// The total damage.
    pub(super) fn total(&self) -> Damage {
        let mut total = self.probe_damage.clone();
        // Ranges of several passes are separate.
        total.ranges.clear();
        total.unlisted_bytes = 0;
        for (_, damage) in &self.passes {
            total.merge(Damage { ranges: Vec::new(), unlisted_bytes: 0, ..damage.clone() });
        }
        total
    }

    /// Every range: of the passes if there were any, otherwise of what was found early.
    fn listed_ranges(&self) -> impl Iterator<Item = (Option<u32>, &DamagedRange)> {
        let probe_damage =
            self.probe_damage.ranges.iter().filter(|_| self.passes.is_empty()).map(|range| (None, range));
        let passes = self
            .passes
            .iter()
            .flat_map(|(pass, damage)| damage.ranges.iter().map(|range| (Some(*pass), range)));
        probe_damage.chain(passes)
    }

    /// The first range in the list of what was read.
    pub(super) fn first(&self) -> Option<&DamagedRange> {
        let all = self.listed_ranges().map(|(_, range)| range).chain(&self.probe_damage.ranges);
        all.into_iter().find(|range| range.kind != Kind::Unreadable)
    }

    /// What could not be read, in any pass or probe.
    pub(super) fn unreadable(&self) -> Unreadable {
        let found = || self.passes.iter().map(|(_, damage)| damage).chain([&self.probe_damage]);
        let ranges = found().flat_map(|damage| &damage.ranges).filter(|range| range.kind == Kind::Unreadable);
        let listed = disjoint(ranges.map(|range| range.from..range.to).collect());
        let listed_bytes: u64 = listed.iter().map(|range| range.end - range.start).sum();
        let most = found().map(|damage| damage.unreadable_bytes).max().unwrap_or(0);
        Unreadable { bytes: listed_bytes.max(most), ranges: listed }
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
                    Kind::Unreadable => String::new(),
                    _ => range.content.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                },
            }
        })
    }
}

/// The row of the table `capacity`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Capacity {
    /// The capacity that the target reports.
    pub(super) announced_bytes: u64,
    /// Bytes from the first address that were written completely and read back.
    pub(super) read_back_bytes: u64,
    /// Of those, bytes that read back as written.
    pub(super) intact_bytes: u64,
    /// Of those, bytes that read back wrong.
    pub(super) damaged_bytes: u64,
    /// Lower bound of the capacity.
    pub(super) holds_at_least_bytes: u64,
    /// Upper bound of the capacity, if one was found.
    pub(super) holds_at_most_bytes: Option<u64>,
    /// Size at which addresses wrap around, if they do: the target's own, or those of the device below its
    /// file system.
    pub(super) wraps_at_bytes: Option<u64>,
    /// The evidence for that from the device below the file system.
    #[serde(skip)]
    pub(super) device_wrap: Option<DeviceWrap>,
}

impl Capacity {
    /// From everything that was found.
    pub(super) fn from_evidence(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence) -> Self {
        let searched =
            workload_plan.history.iter().any(|(task, _)| task.is_probe()) && !workload_plan.layout.is_folder;
        let known = if searched {
            ProbeSummary::from_probes(&workload_plan.layout, &workload_plan.history)
        } else {
            ProbeSummary::default()
        };
        let last_read = workload_plan.last_read();
        let passed = workload_plan.reads().next().is_some();
        let (mut checked, mut damaged, mut lost) = (0, 0, 0);
        for (_, damage) in last_read.iter().filter(|_| passed) {
            checked += damage.checked_bytes;
            damaged += damage.bytes();
            lost += damage.bytes() - damage.bytes_of(Kind::Wrong);
        }
        let intact = checked - damaged;
        let whole = checked == workload_plan.layout.span && !workload_plan.layout.is_folder;
        let by_extents = WorkloadPlan::extents(evidence).map(|map| device_wrap(map, &last_read));
        let own_addresses = known.wraps_at.or_else(|| wrapped_in_passes(workload_plan));
        let wraps = match by_extents {
            Some(by_extents) => by_extents.map(|wrap| wrap.at),
            None if workload_plan.layout.is_folder => None,
            // A drive that holds more does not wrap around there.
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
fn wrapped_in_passes(workload_plan: &WorkloadPlan<'_>) -> Option<u64> {
    let reads = workload_plan
        .history
        .iter()
        .filter(|(task, _)| matches!(task, Task::Part { op: Op::Read, .. } | Task::ReadBack { .. }));
    super::narrowing::wraps_at(reads.map(|(_, segment)| *segment))
}
