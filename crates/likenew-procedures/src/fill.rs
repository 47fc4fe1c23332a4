//! Writes the free space file by file: the speed of each file, the stalls, and what the shape of the list says.

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::size::Size;
use likenew_core::units::{Nanos, amount, duration_text, rate, size_text};
use likenew_core::until::Until;
use likenew_core::verdict::{Findings, Line, Mark, Series, Shape, Standing, Verdict};
use likenew_core::workload::{Pace, Stream, Workload};
use likenew_stats::bimodal::{Levels, Modality, bimodal};
use likenew_stats::course::{Course, course};
use likenew_stats::stalls::{Rule, Wait, stalls};
use likenew_stats::summary::{median, minimum, quantile};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use crate::series::{axis, speed};

/// What it asks and costs.
pub static CARD: Card = Card {
    name: "fill",
    question: "Is every part of the free space written equally fast, and without pauses?",
    writes: "writes the free space once, down to a reserve; only own files in a folder",
    manual: include_str!("fill.md"),
};

/// The settings of a fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FillOptions {
    /// Files to write.
    pub files: u32,
    /// Bytes of each; a multiple of the block.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Bytes of one write.
    #[serde(with = "size_text")]
    pub block: u64,
    /// Writes in flight.
    pub depth: u32,
    /// What is written.
    pub data: DataClass,
    /// No wait shorter than this is called a stall.
    #[serde(with = "duration_text")]
    pub stall: Nanos,
}

impl Default for FillOptions {
    /// 100 files of 64 MiB, written 1 MiB at a time with 4 in flight: deep enough to keep a drive busy, shallow enough
    /// that a pause is not hidden in the queue.
    fn default() -> Self {
        Self {
            files: 100,
            file_size: 64 << 20,
            block: 1 << 20,
            depth: 4,
            data: DataClass::Random,
            stall: Nanos::from_millis(100),
        }
    }
}

/// A wait is a stall when it takes this many times what the same file's writes typically take each.
const STALL_FACTOR: f64 = 10.0;
/// More marks than this make a picture unreadable; all stalls stand in the table.
const MARKS_MAX: usize = 20;

/// The procedure.
pub struct Fill {
    options: FillOptions,
}

impl Fill {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("fill", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: FillOptions) -> Result<Self, String> {
        if options.files == 0 || options.files > 20_000 {
            return Err(format!("files = {} is not in 1..20000", options.files));
        }
        if !(512..=1 << 30).contains(&options.block) || !options.block.is_multiple_of(512) {
            return Err(format!("block = {} bytes is not a multiple of 512 in 512..1GiB", options.block));
        }
        if options.file_size == 0 || !options.file_size.is_multiple_of(options.block) {
            let (size, block) = (options.file_size, options.block);
            return Err(format!("file_size = {size} bytes is not a multiple of the block of {block} bytes"));
        }
        if options.depth == 0 {
            return Err("depth is at least 1".into());
        }
        Ok(Self { options })
    }

    fn bytes(&self) -> u64 {
        u64::from(self.options.files).saturating_mul(self.options.file_size)
    }

    fn file(&self, index: usize) -> Workload {
        let start = index as u64 * self.options.file_size;
        let stream = Stream {
            op: Mix::Only(Op::Write),
            size: Size::fixed(self.options.block as u32),
            place: Place::Forward(Region::bytes(start..start + self.options.file_size)),
            pace: Pace::Closed { depth: self.options.depth },
            data: self.options.data,
        };
        Workload::new(format!("file {}", index + 1), Until::bytes(self.options.file_size), vec![stream])
    }

    fn written<'a>(&self, evidence: &'a Evidence) -> Vec<WrittenFile<'a>> {
        let rule = Rule { latency_ns_min: self.options.stall.0, factor: STALL_FACTOR };
        let files = evidence.segments.iter().enumerate();
        files.map(|(index, segment)| WrittenFile::new(index + 1, segment, self.options.depth, rule)).collect()
    }
}

impl Procedure for Fill {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn layout(&self) -> Layout {
        Layout { files: self.options.files, file_bytes: self.options.file_size }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if !evidence.geometry.writable {
            return Err("it writes, and this target may only be read: give a folder".into());
        }
        if self.bytes() > evidence.geometry.capacity {
            let (files, each) = (self.options.files, amount(self.options.file_size));
            let capacity = amount(evidence.geometry.capacity);
            return Err(format!(
                "{files} files of {each} are more than the {capacity} there are; give fewer or smaller ones"
            ));
        }
        let index = evidence.segments.len();
        if index == self.options.files as usize {
            return Ok(Step::Enough);
        }
        Ok(Step::Run(Workload { seed: evidence.plan.seed_of(index), ..self.file(index) }))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let files = self.written(evidence);
        let mut findings = Findings::default();
        // The file that was being written when a run was stopped says nothing of a whole file.
        let whole: Vec<&WrittenFile<'_>> =
            files.iter().filter(|file| file.bytes == self.options.file_size).collect();
        let speeds: Vec<f64> = whole.iter().map(|file| file.bytes_per_s).collect();
        if !speeds.is_empty() {
            findings.verdicts.push(evenness(&speeds));
            findings.verdicts.push(pauses(&files, self.options.stall));
            findings.series.insert("files".into(), speed_by_file(&whole, &files));
            findings.series.insert("slowest".into(), slowest_by_file(&whole));
        }
        findings.verdicts.extend(refusals(&evidence.segments));
        findings.verdicts.extend(self.remainder(whole.len()));
        findings.tables.insert("files".into(), files.iter().map(|file| row(file.row())).collect());
        findings
            .tables
            .insert("stalls".into(), files.iter().flat_map(|file| &file.stalls).map(row).collect());
        findings
    }
}

impl Fill {
    fn remainder(&self, written: usize) -> Option<Verdict> {
        let wanted = self.options.files as usize;
        (written < wanted).then(|| {
            Verdict::new(format!("All {wanted} files were written."), Standing::Fails)
                .because(format!("{written} were, until the run ended"))
        })
    }
}

/// One file as it was written.
struct WrittenFile<'a> {
    file: usize,
    bytes: u64,
    bytes_per_s: f64,
    segment: &'a Segment,
    stalls: Vec<StallRow>,
}

#[derive(Serialize)]
struct FileRow {
    file: usize,
    bytes_per_s: f64,
    stalls: usize,
    latency_ns_p50: u64,
    latency_ns_max: u64,
    elapsed_ns: u64,
}

#[derive(Serialize)]
struct StallRow {
    file: usize,
    at_ns: u64,
    duration_ns: u64,
    offset_bytes: u64,
    ios: usize,
}

impl<'a> WrittenFile<'a> {
    fn new(file: usize, segment: &'a Segment, depth: u32, rule: Rule) -> Self {
        let waits: Vec<Wait> = segment
            .slowest
            .iter()
            .map(|sample| Wait { start_ns: sample.due.0, end_ns: sample.done.0, position: sample.offset })
            .collect();
        // Little's law: with `depth` in flight, one write's own share of the time is its latency over the depth.
        let typical_ns = segment.latencies().quantile(0.5).0 / u64::from(depth);
        let stalls = stalls(&waits, typical_ns, rule).into_iter().map(|stall| StallRow {
            file,
            at_ns: stall.start_ns,
            duration_ns: stall.duration_ns,
            offset_bytes: stall.position,
            ios: stall.ios,
        });
        let bytes = segment.bytes(Op::Write);
        Self { file, bytes, bytes_per_s: segment.bytes_per_s(), segment, stalls: stalls.collect() }
    }

    fn row(&self) -> FileRow {
        let latencies = self.segment.latencies();
        FileRow {
            file: self.file,
            bytes_per_s: self.bytes_per_s,
            stalls: self.stalls.len(),
            latency_ns_p50: latencies.quantile(0.5).0,
            latency_ns_max: latencies.max().0,
            elapsed_ns: self.segment.elapsed().0,
        }
    }
}

/// What the list of speeds looks like, in words.
fn evenness(speeds: &[f64]) -> Verdict {
    let typical = median(speeds).expect("a file was written");
    let slowest = minimum(speeds).expect("a file was written");
    let within = |verdict: Verdict| {
        let low = quantile(speeds, 0.05).expect("a file was written");
        let high = quantile(speeds, 0.95).expect("a file was written");
        verdict.estimate(typical, low, high, "bytes/s").because(format!(
            "the median of {} files is {}, nine in ten lie within {} and {}, the slowest is {}",
            speeds.len(),
            rate(typical),
            rate(low),
            rate(high),
            rate(slowest)
        ))
    };
    if let Some(Course::Sloping(trend)) = course(speeds) {
        return within(slope(trend.at(0), trend.at(speeds.len() - 1)));
    }
    match (bimodal(speeds), course(speeds)) {
        (Modality::Two(levels), _) => within(two_levels(&levels)),
        (Modality::One, Some(Course::Flat)) => within(Verdict::new(
            format!("Every file was written at about {}.", rate(typical)),
            Standing::Holds,
        )),
        (Modality::One, _) => within(Verdict::new(
            format!(
                "The files were written at uneven speeds around {}, with no two clear levels.",
                rate(typical)
            ),
            Standing::Holds,
        )),
        (Modality::Undecided, _) => within(
            Verdict::new("The files were written at one speed.", Standing::Undecided)
                .caveat("more files would tell whether there are two levels: give --files 100 or more"),
        ),
    }
}

/// A straight line from the first file to the last. Both ends come from a fit, so neither is below zero.
fn slope(first: f64, last: f64) -> Verdict {
    let (first, last) = (first.max(0.0), last.max(0.0));
    if last < first {
        return Verdict::new(
            format!("The speed falls steadily from {} to {} along the space.", rate(first), rate(last)),
            Standing::Holds,
        )
        .because("a disk does so by design, as its outer tracks hold more; flash does not");
    }
    Verdict::new(
        format!("The speed rises steadily from {} to {} as the space is filled.", rate(first), rate(last)),
        Standing::Holds,
    )
    .problem()
    .because("writing in order gives a flash drive whole erase blocks back, so the slow start was stale data in its way")
    .caveat("a second fill would tell how much of it has come back for good")
}

fn two_levels(levels: &Levels) -> Verdict {
    let claim = format!(
        "The files fall into two groups: {:.0} % at about {}, the rest at about {}, {} times as fast.",
        levels.share_low * 100.0,
        rate(levels.low),
        rate(levels.high),
        likenew_core::units::three_digits(levels.high / levels.low)
    );
    let order = if levels.runs.clustered() {
        "the slow files come in runs, so whole stretches of the drive are slow"
    } else {
        "slow and fast files alternate without order"
    };
    Verdict::new(claim, Standing::Holds).problem().because(order)
}

fn pauses(files: &[WrittenFile<'_>], least: Nanos) -> Verdict {
    let stalls: Vec<&StallRow> = files.iter().flat_map(|file| &file.stalls).collect();
    let Some(longest) = stalls.iter().max_by_key(|stall| stall.duration_ns) else {
        return Verdict::new(format!("No write stalled for {least} or more."), Standing::Holds);
    };
    let total: u64 = stalls.iter().map(|stall| stall.duration_ns).sum();
    let claim = format!("Writing stalled {} times, {} in all.", stalls.len(), Nanos(total));
    Verdict::new(claim, Standing::Holds).problem().because(format!(
        "the longest took {}, in file {} at offset {}",
        Nanos(longest.duration_ns),
        longest.file,
        amount(longest.offset_bytes)
    ))
}

fn speed_by_file(whole: &[&WrittenFile<'_>], files: &[WrittenFile<'_>]) -> Series {
    let mut stalls: Vec<&StallRow> = files.iter().flat_map(|file| &file.stalls).collect();
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.duration_ns));
    let marks = stalls
        .iter()
        .take(MARKS_MAX)
        .map(|stall| Mark { x: stall.file as f64, label: format!("stalled {}", Nanos(stall.duration_ns)) });
    let points = whole.iter().map(|file| [file.file as f64, file.bytes_per_s]).collect();
    Series::new("How fast was each file?", Shape::Line, axis("file", ""), speed())
        .lines([Line::new("write", points)])
        .marks(marks)
}

fn slowest_by_file(whole: &[&WrittenFile<'_>]) -> Series {
    let slowest = |file: &WrittenFile<'_>| file.segment.latencies().max().0 as f64;
    let points = whole.iter().map(|file| [file.file as f64, slowest(file)]).collect();
    let (x, y) = (axis("file", ""), axis("slowest write", "ns"));
    Series::new("How long was the slowest write of each file?", Shape::Scatter, x, y)
        .lines([Line::new("write", points)])
}
