//! One measurement of a drive: before the aging, after it, and after idle time.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::AgeOptions;
use super::aging::FILE_BYTES;
use super::recipe::Recipe;
use super::wording;
use super::zone_layout::{ZoneLayout, region, round_down};
use crate::apps::library::default_set;
use crate::apps::stage::{Amount, Stage};

/// Which measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before.
    New,
    /// Straight after the aging.
    Used,
    /// After idle time that followed.
    AfterIdle,
}

impl Phase {
    pub(super) const ALL: [Self; 3] = [Self::New, Self::Used, Self::AfterIdle];

    /// What tables call it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Used => "used",
            Self::AfterIdle => "after_idle",
        }
    }

    /// What workloads call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Used => "used",
            Self::AfterIdle => "after idle",
        }
    }
}

/// One kind of I/O that is measured; applications have their own mixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    RandomWrites,
    SequentialWrites,
    RandomReads,
    SequentialReads,
}

impl Test {
    /// What tables and workloads call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RandomWrites => "random writes",
            Self::SequentialWrites => "sequential writes",
            Self::RandomReads => "random reads",
            Self::SequentialReads => "sequential reads",
        }
    }

    /// Whether each pass has its own part of the drive.
    pub(super) fn is_in_sequence(self) -> bool {
        matches!(self, Self::SequentialWrites | Self::SequentialReads)
    }
}

/// The name of one pass of a test in a phase; workloads of one pass add a suffix after a comma.
pub(super) fn pass_name(phase: Phase, test: &str, pass: u32, passes: u32) -> String {
    format!("{} {test} {pass}/{passes}", phase.name())
}

const PAGE: u32 = 4096;
const PREPARE_DEPTH: u32 = 8;
/// Longest idle time before reads, in which a drive may finish deferred work; shorter if a pass is. Chosen:
/// reads that wait behind writes say nothing of reading.
const SETTLE_MOST: Nanos = Nanos::from_secs(10);

/// Every workload of one measurement, in the order they run. Random writes come first, because nothing else
/// may touch the drive before them; sequential writes, which put their zone in order, follow the
/// applications, and reads come last.
pub(super) fn workloads(phase: Phase, options: &AgeOptions, zones: &ZoneLayout) -> Vec<Workload> {
    let AgeOptions { passes, data, random_span, time, .. } = *options;
    let mut workloads = writes_before_test(phase, options, zones);
    let each_time = Nanos(time.0 / u64::from(passes));
    let each = Until {
        elapsed: Some(each_time),
        bytes: Some(round_down(random_span / u64::from(passes), u64::from(PAGE))),
        ops: None,
    };
    let passes_of = |test: Test, make: &dyn Fn(u32) -> (Until, Stream)| {
        let one = |pass| {
            let (until, stream) = make(pass);
            Workload::new(pass_name(phase, test.name(), pass + 1, passes), until, vec![stream])
        };
        (0..passes).map(one).collect::<Vec<_>>()
    };
    let random = |op, range| {
        Stream::closed(Mix::Only(op), PAGE, AccessPattern::Random(region(range)), options.depth, data)
    };
    let sequential = |op, pass| {
        let range = zones.part_of_files(pass, passes);
        let stream =
            Stream::closed(Mix::Only(op), zones.block, AccessPattern::Sequential(region(&range)), 1, data);
        (Until::bytes(range.end - range.start), stream)
    };
    workloads.extend(passes_of(Test::RandomWrites, &|_| (each, random(Op::Write, &zones.random_span))));
    if phase == Phase::New && !zones.is_folder {
        workloads.push(in_order("files of applications", zones, &zones.files, options));
    }
    workloads.extend(applications(phase, options, zones, each_time));
    workloads.extend(passes_of(Test::SequentialWrites, &|pass| sequential(Op::Write, pass)));
    let settling = Workload::rest(SETTLE_MOST.min(each_time));
    workloads.push(Workload { name: format!("{} settling", phase.name()), ..settling });
    workloads.extend(passes_of(Test::RandomReads, &|_| (each, random(Op::Read, &zones.files))));
    workloads.extend(passes_of(Test::SequentialReads, &|pass| sequential(Op::Read, pass)));
    workloads
}

/// All applications together move this share of the random span in a phase. Chosen: so that measuring does not age
/// the drive.
const APPLICATIONS_PART: f64 = 0.4;

/// Every application in every pass, with as many of its I/Os as fit into an equal share of the bytes.
fn applications(phase: Phase, options: &AgeOptions, zones: &ZoneLayout, each_time: Nanos) -> Vec<Workload> {
    let AgeOptions { passes, data, random_span, .. } = *options;
    let stage = Stage::new(&zones.files, &zones.geometry, data);
    let count = default_set().count();
    let bytes = random_span as f64 * APPLICATIONS_PART / f64::from(passes) / count as f64;
    let time = Some(Nanos(each_time.0 / count as u64).max(Nanos(1)));
    // Every pass is the same.
    let played: Vec<_> = default_set()
        .map(|entry| &entry.application)
        .map(|of| {
            let scale = bytes / of.bytes() as f64;
            (&of.name, stage.workloads(of, "", Amount { scale, time, thinks: false }))
        })
        .collect();
    let mut workloads = Vec::new();
    for pass in 1..=passes {
        for (application, parts) in &played {
            let name = pass_name(phase, application, pass, passes);
            let named = |part: &Workload| Workload { name: format!("{name}{}", part.name), ..part.clone() };
            workloads.extend(parts.iter().map(named));
        }
    }
    workloads
}

/// In a folder, files must exist before anything is measured: creating one differs from writing to it. After
/// small files came and went, the measured ones are created again, in the space that those have left.
fn writes_before_test(phase: Phase, options: &AgeOptions, zones: &ZoneLayout) -> Vec<Workload> {
    let is_churned = options.recipe == Recipe::Churn && phase == Phase::Used;
    if !zones.is_folder || !(phase == Phase::New || is_churned) {
        return Vec::new();
    }
    let mut workloads = Vec::new();
    if is_churned {
        let place = AccessPattern::Sequential(region(&zones.span));
        let stream = Stream::closed(Mix::Only(Op::Trim), FILE_BYTES, place, 1, options.data);
        let files = zones.span.end.div_ceil(u64::from(FILE_BYTES));
        workloads.push(Workload::new(wording::SMALL_FILES_DELETED, Until::ops(files), vec![stream]));
    }
    let measured = zones.random_span.start..zones.files.end;
    workloads.push(in_order(wording::FILES_TO_MEASURE, zones, &measured, options));
    workloads
}

/// Writes a zone once sequentially.
fn in_order(what: &str, zones: &ZoneLayout, zone: &Range<u64>, options: &AgeOptions) -> Workload {
    let place = AccessPattern::Sequential(region(zone));
    let stream = Stream::closed(Mix::Only(Op::Write), zones.block, place, PREPARE_DEPTH, options.data);
    Workload::new(format!("preparing {what}"), Until::bytes(zone.end - zone.start), vec![stream])
}
