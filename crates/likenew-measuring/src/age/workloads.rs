//! The workloads of an aging run: zones of the drive, the tests of each phase, and the writes that age it.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::quantity::Size;
use likenew_core::region::Region;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Size as Lengths, Stream, Until, Workload};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::workloads::sequential_write;

use super::{AgeOptions, Phase, RANDOM_SPAN_STEP, Recipe, wording};
use crate::apps::library::default_set;
use crate::apps::stage::{Amount, Stage};

/// Sequential I/Os are this long unless a boundary limits them.
const BLOCK_MAX: u32 = 1 << 20;

/// The zones of one run on one drive: random writes first, then the data of applications. Aging covers the whole
/// span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZoneLayout {
    /// The drive's geometry.
    pub(super) geometry: Geometry,
    /// Everything that is aged.
    pub(super) span: Range<u64>,
    /// Zone of small files; all of the span unless the recipe keeps old files.
    pub(super) free: Range<u64>,
    /// Zone of random writes.
    pub(super) random_span: Range<u64>,
    /// Zone of applications, sequential I/Os and reads; holds data whenever it is read.
    pub(super) files: Range<u64>,
    /// Bytes of one sequential I/O.
    pub(super) block: u32,
    /// Whether addresses belong to files that can be deleted: a folder.
    pub(super) is_folder: bool,
}

impl ZoneLayout {
    /// The zones of this drive.
    ///
    /// # Errors
    /// A sentence, if the options do not fit the drive.
    pub(super) fn lay_out(options: &AgeOptions, geometry: &Geometry) -> Result<Self, String> {
        if !geometry.writable {
            return Err(wording::target_is_read_only());
        }
        let length = options.span.unwrap_or(geometry.capacity);
        if length > geometry.capacity {
            return Err(wording::span_too_large(Size(length), Size(geometry.capacity)));
        }
        let span = 0..length - length % u64::from(geometry.block).max(4096);
        let most = span.end / 5 * 2;
        if options.random_span > most {
            let most = most - most % RANDOM_SPAN_STEP;
            return Err(wording::random_span_ages_by_itself(
                Size(options.random_span),
                Size(span.end),
                Size(most),
            ));
        }
        let is_folder = geometry.boundary.is_some();
        // In a folder, the owner's own files are the old ones.
        let keeps_old_files = options.recipe == Recipe::Churn && !is_folder;
        let start = if keeps_old_files { round_down(span.end / 2, u64::from(BLOCK_MAX)) } else { 0 };
        let random_span = start..start + options.random_span;
        let files = random_span.end..random_span.end + options.application_zone_bytes();
        let block =
            geometry.boundary.map_or(BLOCK_MAX, |bytes| BLOCK_MAX.min(1 << bytes.trailing_zeros().min(20)));
        Ok(Self {
            geometry: geometry.clone(),
            free: start..span.end,
            span,
            random_span,
            files,
            block,
            is_folder,
        })
    }

    /// One of `parts` equal parts of the zone of applications, in whole blocks.
    pub(super) fn part_of_files(&self, part: u32, parts: u32) -> Range<u64> {
        let each = round_down((self.files.end - self.files.start) / u64::from(parts), u64::from(BLOCK_MAX));
        let start = self.files.start + u64::from(part) * each;
        start..start + each
    }
}

/// The multiple of `step` at or below `bytes`.
fn round_down(bytes: u64, step: u64) -> u64 {
    bytes - bytes % step
}

/// The purpose of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A pass of a test.
    Test(Phase, Test),
    /// An application of the default set in a pass, or its part at one queue depth.
    Application { phase: Phase, pass: u32, application: usize },
    /// Ages the drive.
    Aging,
    /// Not measured: a preparation or a rest.
    Other,
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
fn pass_name(phase: Phase, test: &str, pass: u32, passes: u32) -> String {
    format!("{} {test} {pass}/{passes}", phase.name())
}

const PREPARE_DEPTH: u32 = 8;
/// Longest idle time before reads, in which a drive may finish deferred work; shorter if a pass is. Chosen: reads
/// that wait behind writes say nothing about reading.
const SETTLE_MOST: Nanos = Nanos::from_secs(10);

/// Every workload of one measurement, in the order they run. Random writes come first, because nothing else may touch
/// the drive before them. Applications follow, then sequential writes, which put their zone in order, then reads.
pub(super) fn phase_workloads(
    phase: Phase,
    options: &AgeOptions,
    zones: &ZoneLayout,
) -> Vec<(Part, Workload)> {
    let AgeOptions { passes, data, random_span, time, .. } = *options;
    let other = |workload| (Part::Other, workload);
    let mut workloads: Vec<_> = writes_before_test(phase, options, zones).into_iter().map(other).collect();
    let each_time = Nanos(time.0 / u64::from(passes));
    let each = Until {
        elapsed: Some(each_time),
        bytes: Some(round_down(random_span / u64::from(passes), u64::from(PAGE))),
        ops: None,
    };
    let passes_of = |test: Test, make: &dyn Fn(u32) -> (Until, Stream)| {
        let to_pass = |pass| {
            let (until, stream) = make(pass);
            let name = pass_name(phase, test.name(), pass + 1, passes);
            (Part::Test(phase, test), Workload::new(name, until, vec![stream]))
        };
        (0..passes).map(to_pass).collect::<Vec<_>>()
    };
    let random = |op, range: &Range<u64>| {
        Stream::closed(Mix::Only(op), PAGE, Pattern::Random.over(range.clone()), options.depth, data)
    };
    let sequential = |op, pass| {
        let range = zones.part_of_files(pass, passes);
        let until = Until::bytes(range.end - range.start);
        (until, Stream::closed(Mix::Only(op), zones.block, Pattern::Sequential.over(range), 1, data))
    };
    workloads.extend(passes_of(Test::RandomWrites, &|_| (each, random(Op::Write, &zones.random_span))));
    if phase == Phase::New && !zones.is_folder {
        workloads.push(other(in_order("files of applications", zones, &zones.files, options)));
    }
    workloads.extend(applications(phase, options, zones, each_time));
    workloads.extend(passes_of(Test::SequentialWrites, &|pass| sequential(Op::Write, pass)));
    let settling = Workload::rest(SETTLE_MOST.min(each_time));
    workloads.push(other(Workload { name: format!("{} settling", phase.name()), ..settling }));
    workloads.extend(passes_of(Test::RandomReads, &|_| (each, random(Op::Read, &zones.files))));
    workloads.extend(passes_of(Test::SequentialReads, &|pass| sequential(Op::Read, pass)));
    workloads
}

/// All applications together move this share of the random span in a phase. Chosen: so that measuring does not age
/// the drive.
const APPLICATIONS_PART: f64 = 0.4;

/// Every application in every pass, with as many of its I/Os as fit into an equal share of the bytes.
fn applications(
    phase: Phase,
    options: &AgeOptions,
    zones: &ZoneLayout,
    each_time: Nanos,
) -> Vec<(Part, Workload)> {
    let AgeOptions { passes, data, random_span, .. } = *options;
    let stage = Stage::new(&zones.files, &zones.geometry, data);
    let count = default_set().count();
    let bytes = random_span as f64 * APPLICATIONS_PART / f64::from(passes) / count as f64;
    let time = Some(Nanos(each_time.0 / count as u64).max(Nanos(1)));
    // All passes run the same workloads.
    let played: Vec<_> = default_set()
        .map(|entry| &entry.application)
        .map(|application| {
            let scale = bytes / application.bytes() as f64;
            (&application.name, stage.workloads(application, "", Amount { scale, time, thinks: false }))
        })
        .collect();
    let mut workloads = Vec::new();
    for pass in 1..=passes {
        for (application, (name, parts)) in played.iter().enumerate() {
            let name = pass_name(phase, name, pass, passes);
            let named = |part: &Workload| Workload { name: format!("{name}{}", part.name), ..part.clone() };
            let part = Part::Application { phase, pass, application };
            workloads.extend(parts.iter().map(|workload| (part, named(workload))));
        }
    }
    workloads
}

/// Writes the files to measure in a folder, because creating a file differs from writing to it. After churn, they are
/// created again, in the space that deleted small files have left.
fn writes_before_test(phase: Phase, options: &AgeOptions, zones: &ZoneLayout) -> Vec<Workload> {
    let is_churned = options.recipe == Recipe::Churn && phase == Phase::Used;
    if !zones.is_folder || !(phase == Phase::New || is_churned) {
        return Vec::new();
    }
    let mut workloads = Vec::new();
    if is_churned {
        let place = Pattern::Sequential.over(zones.span.clone());
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
    let name = format!("preparing {what}");
    sequential_write(name, zone.clone(), zones.block, PREPARE_DEPTH, options.data)
}

const WRITE: Mix = Mix::Only(Op::Write);
/// Prefix of every workload of the aging.
const AGING: &str = "aging";

/// Lengths of the writes of small files. Half of all files are no larger than 4 KiB (Agrawal, Bolosky,
/// Douceur and Lorch, "A five-year study of file-system metadata", FAST 2007); the rest is assumed, up to
/// [`FILE_BYTES`].
const FILE_SIZES: &str = "4KiB:50,8KiB:20,16KiB:15,32KiB:10,64KiB:5";
/// Largest small file, and the length of a folder's files.
pub const FILE_BYTES: u32 = 64 << 10;
/// File-system metadata: a thousandth of the span, rewritten by Zipf's law (assumed).
const METADATA_PART: u64 = 1000;
const METADATA_THETA: f64 = 1.0;

const PAGE: u32 = 4096;
const FILL_DEPTH: u32 = 4;
const OVERWRITE_DEPTH: u32 = 32;
/// A pass over the span is split into this many workloads, so that progress shows and a stop takes effect.
const PARTS: u64 = 16;
/// Most workloads of a long aging.
const PARTS_MAX: u64 = 512;

/// Every workload that ages the drive, in the order they run.
pub(super) fn aging_workloads(options: &AgeOptions, zones: &ZoneLayout) -> Vec<Workload> {
    let span = zones.span.end;
    let bytes = options.bytes.unwrap_or(span);
    match options.recipe {
        Recipe::Fill => fill("fill", options, zones, &zones.span, bytes),
        Recipe::Overwrite => {
            let mut workloads = fill("fill", options, zones, &zones.span, span);
            let each = part_bytes(bytes, span, u64::from(PAGE));
            workloads.extend(parts(bytes, each).enumerate().map(|(index, bytes)| {
                let place = Pattern::Random.over(zones.span.clone());
                let stream = Stream::closed(WRITE, PAGE, place, OVERWRITE_DEPTH, options.data);
                Workload::new(format!("{AGING}: overwrite {}", index + 1), Until::bytes(bytes), vec![stream])
            }));
            workloads
        }
        Recipe::Churn => {
            let old = zones.span.start..zones.free.start;
            let mut workloads = fill("old files", options, zones, &old, old.end);
            workloads.extend(churn(options, zones, bytes));
            workloads
        }
    }
}

/// Writes this many bytes to a zone sequentially; after its end, again from its start.
fn fill(
    what: &str,
    options: &AgeOptions,
    zones: &ZoneLayout,
    zone: &Range<u64>,
    bytes: u64,
) -> Vec<Workload> {
    let length = zone.end - zone.start;
    let step = u64::from(zones.block);
    let each = part_bytes(bytes, length, step);
    let (mut workloads, mut left, mut at) = (Vec::new(), bytes, zone.start);
    while left > 0 {
        let end = if zone.end - at < 2 * each { zone.end } else { at + each };
        let amount = left.min(end - at);
        let place = Pattern::Sequential.over(at..end);
        let stream = Stream::closed(WRITE, zones.block, place, FILL_DEPTH, options.data);
        let name = format!("{AGING}: {what} {}", workloads.len() + 1);
        workloads.push(Workload::new(name, Until::bytes(amount), vec![stream]));
        left -= amount;
        at = if end == zone.end { zone.start } else { end };
    }
    workloads
}

/// Rounds of small files: each deletes some, if deleting has an effect, and creates new ones.
fn churn(options: &AgeOptions, zones: &ZoneLayout, bytes: u64) -> Vec<Workload> {
    let sizes: Lengths = FILE_SIZES.parse().expect("the sizes of small files are well spelled");
    let deletes = zones.is_folder || options.trim;
    let slots = (zones.free.end - zones.free.start) / u64::from(FILE_BYTES);
    // A round draws half of a full zone's files; some are drawn twice, so that about four in ten go.
    let round_bytes = if deletes { (slots / 2).max(1) * sizes.mean() as u64 } else { zones.span.end / PARTS };
    let each = round_bytes.max(bytes / PARTS_MAX).max(u64::from(FILE_BYTES));
    let mut workloads = Vec::new();
    for (round, bytes) in parts(bytes, each).enumerate() {
        if deletes && round > 0 {
            let place = Pattern::Random.over(zones.free.clone());
            let stream = Stream::closed(Mix::Only(Op::Trim), FILE_BYTES, place, 1, options.data);
            let name = format!("{AGING}: files deleted {}", round + 1);
            workloads.push(Workload::new(name, Until::ops((slots / 2).max(1)), vec![stream]));
        }
        let streams = small_files(&sizes, zones, options.data);
        let name = format!("{AGING}: files made {}", round + 1);
        workloads.push(Workload::new(name, Until::bytes(bytes), streams));
    }
    workloads
}

/// Small files in the free space. Without a file system, its metadata is imitated beside them.
fn small_files(sizes: &Lengths, zones: &ZoneLayout, data: DataClass) -> Vec<Stream> {
    let pattern = Pattern::Random.over(zones.free.clone());
    let arrival = Arrival::Closed { depth: 1 };
    let mut streams = vec![Stream::new(WRITE, sizes.clone(), pattern, arrival, data)];
    if !zones.is_folder {
        let pages = round_down(zones.span.end / METADATA_PART, u64::from(PAGE)).max(u64::from(PAGE));
        let place = AccessPattern::Zipf { region: Region::bytes(0..pages), theta: METADATA_THETA };
        streams.push(Stream::closed(WRITE, PAGE, place, 1, data));
    }
    streams
}

/// Whether an aging may write this many bytes: from one small file to a thousand times the span.
///
/// # Errors
/// A sentence with the allowed range.
pub(super) fn check_bytes(bytes: u64, span: u64) -> Result<(), String> {
    let most = span.saturating_mul(1000);
    if (u64::from(FILE_BYTES)..=most).contains(&bytes) && bytes.is_multiple_of(u64::from(PAGE)) {
        return Ok(());
    }
    Err(wording::bytes_out_of_range(bytes, u64::from(FILE_BYTES), most))
}

/// Bytes of one workload of an aging that writes `bytes`: a part of `length`, in whole steps.
fn part_bytes(bytes: u64, length: u64, step: u64) -> u64 {
    round_down((length / PARTS).max(bytes / PARTS_MAX), step).max(step)
}

/// `bytes` in parts of `each`, the last one with the rest.
fn parts(bytes: u64, each: u64) -> impl Iterator<Item = u64> {
    (0..bytes.div_ceil(each)).map(move |index| each.min(bytes - index * each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_to_the_whole() {
        assert_eq!(parts(10, 4).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(parts(8, 4).sum::<u64>(), 8);
        assert_eq!(part_bytes(1 << 30, 1 << 30, 1 << 20), 64 << 20);
        assert_eq!(part_bytes(1 << 40, 1 << 30, 1 << 20), 2 << 30);
    }
}
