//! The order of tasks, which follows from the settings and the findings up to now.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::damage::Damage;
use likenew_core::drive::Kind;
use likenew_core::extents::ExtentMap;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::plan::Plan;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::sample::Sample;
use likenew_core::segment::Segment;
use likenew_core::stamp::Stamp;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::VerifyOptions;
use super::boundaries::boundary_offsets;
use super::narrowing::{Round, next_round};
use super::wording;

/// One task, which is one workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// The first address, the last, and one at each usual size of drives.
    Boundaries(Op),
    /// Random addresses.
    Scattered(Op),
    /// A round that narrows down the result of the probes.
    NarrowStep(Round, NarrowStep),
    /// Makes all writes durable.
    Flush,
    /// One part of a pass.
    Part { op: Op, pass: u32, part: u32 },
    /// Reads some of what was written, at random, up to this part.
    ReadBack { parts: u32 },
    /// Leaves the drive idle.
    Rest,
}

/// The steps of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NarrowStep {
    Write,
    /// Writes enough elsewhere to push the last writes out of a small cache.
    FillCache,
    Flush,
    Read,
}

/// The addresses that a verification uses.
#[derive(Clone, Debug)]
pub(super) struct VerifyLayout {
    pub(super) options: VerifyOptions,
    /// Bytes to verify.
    pub(super) span: u64,
    /// The run's key.
    key: u64,
    /// Addresses are multiples of this; in a folder, of the block, because no I/O may cross the end of a
    /// file.
    pub(super) step: u64,
    /// Whether addresses are those of files in the free space of a folder.
    pub(super) is_folder: bool,
    places: Vec<u64>,
}

/// The tasks done, and the next one.
pub(super) struct WorkloadPlan<'a> {
    pub(super) layout: VerifyLayout,
    pub(super) history: Vec<(Task, &'a Segment)>,
    pub(super) next: Option<Task>,
}

/// Random reads of a spot check.
const SPOT_CHECK_READS: u64 = 32;
/// Writes that push out a small cache's content.
const CACHE_FILL_WRITES: u64 = 64;
/// Random addresses are the same for writing and reading.
const SCATTERED_SEED: usize = 1;
/// Stamps of probes have pass 0, those of rounds a pass above this.
const ROUNDS: u32 = 1 << 16;

impl Task {
    /// The seed, if it is not the workload's own number.
    pub(super) fn seed(&self, plan: &Plan) -> Option<u64> {
        matches!(self, Self::Scattered(_)).then(|| plan.seed_of(SCATTERED_SEED))
    }

    /// Whether it is part of the search before everything is written.
    pub(super) fn is_probe(&self) -> bool {
        matches!(self, Self::Boundaries(_) | Self::Scattered(_))
    }
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
        if layout.options.rest.0 > 0 {
            self.take(Task::Rest)?;
        }
        Some(layout.parts())
    }
}

impl VerifyLayout {
    /// Parts of a pass: the number asked for, each of one block at least.
    pub(super) fn parts(&self) -> u32 {
        (self.span / self.options.block).min(u64::from(self.options.parts)) as u32
    }

    /// The addresses of a part: whole blocks, except at the end of the last one.
    pub(super) fn part(&self, part: u32) -> Range<u64> {
        let (blocks, parts) = (self.span / self.options.block, u64::from(self.parts()));
        let start = |part: u64| blocks * part / parts * self.options.block;
        let next = u64::from(part) + 1;
        start(part.into())..if next == parts { self.span } else { start(next) }
    }

    /// The stamp of a pass.
    fn stamp_class(&self, pass: u32) -> DataClass {
        DataClass::Stamped(Stamp { key: self.key, pass })
    }

    fn stream(&self, op: Op, place: AccessPattern, depth: u32, pass: u32) -> Stream {
        Stream::closed(Mix::Only(op), self.options.block as u32, place, depth, self.stamp_class(pass))
    }

    /// All blocks at these addresses at once, with a sample of each.
    fn at(&self, name: String, op: Op, places: &[u64], pass: u32) -> Workload {
        let block =
            |place: &u64| AccessPattern::Sequential(Region::bytes(*place..place + self.options.block));
        let streams: Vec<Stream> =
            places.iter().map(|place| self.stream(op, block(place), 1, pass)).collect();
        let samples = streams.len() as u32;
        Workload { samples, ..Workload::new(name, Until::ops(samples.into()), streams) }
    }

    fn flush(&self) -> Workload {
        let stream = self.stream(Op::Flush, AccessPattern::Sequential(Region::WHOLE), 1, 0);
        let stream = Stream { data: DataClass::Random, ..stream };
        Workload::new("flush", Until::ops(1), vec![stream])
    }

    /// The workload of a task.
    pub(super) fn workload(&self, task: &Task) -> Workload {
        let VerifyOptions { depth, probes, rest, .. } = self.options;
        let within = |end| AccessPattern::Random(Region::bytes(0..end));
        match task {
            Task::Boundaries(op) => self.at(wording::boundary_probes(*op), *op, &self.places, 0),
            Task::Scattered(op) => {
                let stream = self.stream(*op, within(self.span), depth, 0);
                let workload =
                    Workload::new(wording::random_probes(*op), Until::ops(probes.into()), vec![stream]);
                Workload { samples: probes, ..workload }
            }
            Task::NarrowStep(round, step) => {
                let pass = ROUNDS + round.number;
                let name = |step| wording::narrowing(round.number, step);
                match step {
                    NarrowStep::Write => self.at(name("write"), Op::Write, &round.writes, pass),
                    NarrowStep::Read => self.at(name("read"), Op::Read, &round.read, pass),
                    NarrowStep::Flush => self.flush(),
                    NarrowStep::FillCache => {
                        let end = round.flushed_below;
                        let stream = self.stream(Op::Write, within(end), depth, 0);
                        Workload::new(name("fill cache"), Until::ops(CACHE_FILL_WRITES), vec![stream])
                    }
                }
            }
            Task::Flush => self.flush(),
            Task::Part { op, pass, part } => {
                let range = self.part(*part);
                let bytes = range.end - range.start;
                let name = wording::part(*pass, self.options.passes, part + 1, *op);
                let place = AccessPattern::Sequential(Region::bytes(range));
                Workload::new(name, Until::bytes(bytes), vec![self.stream(*op, place, depth, *pass)])
            }
            Task::ReadBack { parts } => {
                let end = self.part(parts - 1).end;
                let name = wording::spot_check(end);
                Workload::new(
                    name,
                    Until::ops(SPOT_CHECK_READS),
                    vec![self.stream(Op::Read, within(end), depth, 1)],
                )
            }
            Task::Rest => Workload::rest(rest),
        }
    }
}
