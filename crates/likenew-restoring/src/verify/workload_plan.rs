//! The order of tasks, which follows from the settings and the findings up to now.

use std::ops::Range;

use likenew_core::damage::Damage;
use likenew_core::drive::Kind;
use likenew_core::extents::ExtentMap;
use likenew_core::io::Op;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::Evidence;
use likenew_core::sample::Sample;
use likenew_core::segment::Segment;

use super::VerifyOptions;
use super::narrowing::{Task, VerifyLayout, boundary_offsets, next_round};

/// The tasks done, and the next one.
pub(super) struct WorkloadPlan<'a> {
    pub(super) layout: VerifyLayout,
    pub(super) history: Vec<(Task, &'a Segment)>,
    pub(super) next: Option<Task>,
}

/// Whether any data read back wrong.
pub(super) fn is_damaged(segment: &Segment) -> bool {
    segment.damage.as_ref().is_some_and(|damage| damage.bytes() > 0)
}

impl<'a> WorkloadPlan<'a> {
    /// From the start through everything done.
    pub(super) fn walk(options: &VerifyOptions, span: u64, evidence: &'a Evidence) -> Self {
        let geometry = &evidence.geometry;
        let step = if geometry.boundary.is_some() { options.block } else { geometry.block.max(512).into() };
        let places = boundary_offsets(span, options.block, step);
        let is_folder = evidence.identity.kind == Kind::Folder;
        let layout =
            VerifyLayout { options: options.clone(), span, key: evidence.plan.seed, step, is_folder, places };
        let mut walk = Walk { segments: evidence.segments.iter(), history: Vec::new(), next: None };
        let _ = walk.verify_all(&layout);
        Self { history: walk.history, next: walk.next, layout }
    }

    /// Whether it helps to know where the file system put the files. Not after an interruption, because new
    /// files are in other places.
    pub(super) fn asks_for_extents(&self, evidence: &Evidence) -> bool {
        let has_file_system = matches!(evidence.identity.kind, Kind::Folder | Kind::File);
        let wrapped = self.last_read().iter().any(|(_, damage)| damage.wrapped_bytes > 0);
        let same_files = !evidence.segments.iter().any(|segment| segment.after_interruption);
        let asked = evidence.observations.iter().any(|observation| observation.probe == Probe::Extents);
        has_file_system && wrapped && same_files && !asked
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
}

struct Walk<'a> {
    segments: std::slice::Iter<'a, Segment>,
    history: Vec<(Task, &'a Segment)>,
    next: Option<Task>,
}

impl<'a> Walk<'a> {
    /// The record of this task, or `None` if it is the next one.
    fn take(&mut self, task: Task) -> Option<&'a Segment> {
        match self.segments.next() {
            Some(segment) => {
                self.history.push((task, segment));
                Some(segment)
            }
            None => {
                self.next = Some(task);
                None
            }
        }
    }

    /// Ends early if a task is left to do.
    fn verify_all(&mut self, layout: &VerifyLayout) -> Option<()> {
        let options = &layout.options;
        if options.probes > 0 && !options.read_only && self.probes(layout)? && !options.full {
            return Some(());
        }
        if options.quick {
            return Some(());
        }
        let first = if options.read_only { options.passes } else { 1 };
        for pass in first..=options.passes {
            let parts = if options.read_only { layout.parts() } else { self.write(layout, pass)? };
            for part in 0..parts {
                self.take(Task::Part { op: Op::Read, pass, part })?;
            }
            if parts < layout.parts() {
                return Some(());
            }
        }
        Some(())
    }

    /// Whether the probes found damage.
    fn probes(&mut self, layout: &VerifyLayout) -> Option<bool> {
        for op in [Op::Write, Op::Read] {
            for task in [Task::Boundaries(op), Task::Scattered(op)] {
                self.take(task)?;
            }
            if op == Op::Write {
                self.take(Task::Flush)?;
            }
        }
        if !self.history.iter().any(|(_, segment)| is_damaged(segment)) {
            return Some(false);
        }
        // Rounds need addresses of the drive, which a folder's are not.
        while let Some(round) = next_round(layout, &self.history).filter(|_| !layout.is_folder) {
            for step in round.steps() {
                self.take(Task::NarrowStep(round.clone(), *step))?;
            }
        }
        Some(true)
    }

    /// The number of parts to read back: all of them, unless a spot check found damage. Then a folder's
    /// written parts are read, and a drive has shown enough.
    fn write(&mut self, layout: &VerifyLayout, pass: u32) -> Option<u32> {
        for part in 0..layout.parts() {
            self.take(Task::Part { op: Op::Write, pass, part })?;
            let written = part + 1;
            if pass == 1 && written.is_power_of_two() && written < layout.parts() {
                let found = is_damaged(self.take(Task::ReadBack { parts: written })?);
                if found && !layout.options.full {
                    if !layout.is_folder {
                        return Some(0);
                    }
                    self.take(Task::Flush)?;
                    return Some(written);
                }
            }
        }
        self.take(Task::Flush)?;
        if layout.options.idle.0 > 0 {
            self.take(Task::Idle)?;
        }
        Some(layout.parts())
    }
}
