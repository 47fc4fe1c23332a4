//! The order of tasks, which follows from the settings and the findings up to now.

use std::ops::Range;

use likenew_core::damage::Damage;
use likenew_core::drive::Kind;
use likenew_core::io::{Op, Sample};
use likenew_core::probe::{ExtentMap, Probe, ProbeResult};
use likenew_core::procedure::{Ended, Evidence, Steps};
use likenew_core::segment::Segment;
use likenew_core::workload::Workload;

use super::VerifyOptions;
use super::narrowing::{Task, VerifyLayout, boundary_offsets, next_round};

/// The tasks done.
pub(super) struct WorkloadPlan<'a> {
    pub(super) layout: VerifyLayout,
    pub(super) history: Vec<(Task, &'a Segment)>,
    /// Whether no task is left.
    pub(super) is_complete: bool,
}

/// Whether any data read back wrong.
pub(super) fn is_damaged(segment: &Segment) -> bool {
    segment.damage.as_ref().is_some_and(|damage| damage.bytes() > 0)
}

impl<'a> WorkloadPlan<'a> {
    /// All tasks, as far as they go.
    pub(super) fn follow(options: &VerifyOptions, span: u64, steps: &mut Steps<'a>) -> Self {
        let Evidence { geometry, identity, plan, .. } = steps.evidence();
        let step = if geometry.boundary.is_some() { options.block } else { geometry.block.max(512).into() };
        let places = boundary_offsets(span, options.block, step);
        let is_folder = identity.kind == Kind::Folder;
        let layout = VerifyLayout { options: options.clone(), span, key: plan.seed, step, is_folder, places };
        let mut followed = Self { layout, history: Vec::new(), is_complete: false };
        followed.is_complete = followed.verify_all(steps).is_ok();
        if followed.is_complete && followed.needs_extents(steps.evidence()) {
            let _is_recorded = steps.probe(|| Probe::Extents);
        }
        followed
    }

    /// Whether it helps to know where the file system put the files. Not after an interruption, because new
    /// files are in other places.
    fn needs_extents(&self, evidence: &Evidence) -> bool {
        let has_file_system = matches!(evidence.identity.kind, Kind::Folder | Kind::File);
        let wrapped = self.last_read().iter().any(|(_, damage)| damage.wrapped_bytes > 0);
        let same_files = !evidence.segments.iter().any(|segment| segment.after_interruption);
        has_file_system && wrapped && same_files
    }

    /// Where the file system put the files, if it says so.
    pub(super) fn extents(evidence: &Evidence) -> Option<&ExtentMap> {
        evidence.observations.iter().find_map(|observation| match &observation.result {
            ProbeResult::Extents(map) => Some(map),
            _ => None,
        })
    }

    /// The ranges of the last pass that was read, and the damage there; of the probes if no pass was read.
    pub(super) fn last_read(&self) -> Vec<(Vec<Range<u64>>, &'a Damage)> {
        let last = self.reads().map(|(pass, ..)| pass).max();
        let passes = self
            .reads()
            .filter(|(pass, ..)| Some(*pass) == last)
            .map(|(_, part, segment)| (vec![self.layout.part(part)], segment));
        let probes = self.history.iter().filter(|(task, _)| task.is_probe() && last.is_none());
        let probes = probes.map(|(_, segment)| {
            let range = |sample: &Sample| sample.offset..sample.offset + sample.bytes();
            (segment.samples.iter().map(range).collect(), *segment)
        });
        passes
            .chain(probes)
            .filter_map(|(ranges, segment)| Some((ranges, segment.damage.as_ref()?)))
            .collect()
    }

    /// The last part that was read back.
    pub(super) fn last_part_read(&self) -> Option<u32> {
        self.reads().map(|(_, part, _)| part).last()
    }

    /// Reads of the passes.
    pub(super) fn reads(&self) -> impl Iterator<Item = (u32, u32, &'a Segment)> {
        self.parts_of(Op::Read)
    }

    /// Pass, part and record of everything that the passes wrote or read.
    pub(super) fn parts_of(&self, which: Op) -> impl Iterator<Item = (u32, u32, &'a Segment)> {
        self.history.iter().filter_map(move |(task, segment)| match task {
            Task::Part { op, pass, part } if *op == which => Some((*pass, *part, *segment)),
            _ => None,
        })
    }

    /// The record of this task.
    fn take(&mut self, steps: &mut Steps<'a>, task: Task) -> Result<&'a Segment, Ended> {
        let seed = task.seed(&steps.evidence().plan).unwrap_or_else(|| steps.seed(0));
        let segment = steps.run(|| Workload { seed, ..self.layout.workload(&task) })?;
        self.history.push((task, segment));
        Ok(segment)
    }

    fn verify_all(&mut self, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let options = self.layout.options.clone();
        if options.probes > 0 && !options.read_only && self.probes(steps)? && !options.full {
            return Ok(());
        }
        if options.quick {
            return Ok(());
        }
        let first = if options.read_only { options.passes } else { 1 };
        for pass in first..=options.passes {
            let parts = if options.read_only { self.layout.parts() } else { self.write(steps, pass)? };
            for part in 0..parts {
                self.take(steps, Task::Part { op: Op::Read, pass, part })?;
            }
            if parts < self.layout.parts() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether the probes found damage.
    fn probes(&mut self, steps: &mut Steps<'a>) -> Result<bool, Ended> {
        for op in [Op::Write, Op::Read] {
            for task in [Task::Boundaries(op), Task::Scattered(op)] {
                self.take(steps, task)?;
            }
            if op == Op::Write {
                self.take(steps, Task::Flush)?;
            }
        }
        if !self.history.iter().any(|(_, segment)| is_damaged(segment)) {
            return Ok(false);
        }
        // Rounds need addresses of the drive, which a folder's are not.
        while let Some(round) = next_round(&self.layout, &self.history).filter(|_| !self.layout.is_folder) {
            for step in round.steps() {
                self.take(steps, Task::NarrowStep(round.clone(), *step))?;
            }
        }
        Ok(true)
    }

    /// The number of parts to read back: all of them, unless a spot check found damage. Then a folder's
    /// written parts are read, and a drive has shown enough.
    fn write(&mut self, steps: &mut Steps<'a>, pass: u32) -> Result<u32, Ended> {
        for part in 0..self.layout.parts() {
            self.take(steps, Task::Part { op: Op::Write, pass, part })?;
            let written = part + 1;
            if pass == 1 && written.is_power_of_two() && written < self.layout.parts() {
                let found = is_damaged(self.take(steps, Task::ReadBack { parts: written })?);
                if found && !self.layout.options.full {
                    if !self.layout.is_folder {
                        return Ok(0);
                    }
                    self.take(steps, Task::Flush)?;
                    return Ok(written);
                }
            }
        }
        self.take(steps, Task::Flush)?;
        if self.layout.options.idle.0 > 0 {
            self.take(steps, Task::Idle)?;
        }
        Ok(self.layout.parts())
    }
}
