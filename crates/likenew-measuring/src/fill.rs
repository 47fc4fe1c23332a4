//! Writes the free space file by file: the speed of each file, stalls, the pattern of the speeds, and whether writing
//! everything again restores speed.

mod wording;

use std::fmt;
use std::str::FromStr;

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Line, Mark, Row, Series, Shape, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::{Rate, Share, Size};
use likenew_core::segment::Segment;
use likenew_core::serde_as_text;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments};
use likenew_procedure_support::options::{check_block, check_range};
use likenew_procedure_support::overview::list_below_summary;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, estimated_line, speed};
use likenew_procedure_support::wording::{
    answer_as_summary, not_of_blocks, procedure_action, too_many_files, writes_to_read_only,
};
use likenew_stats::bimodality::{Modality, bimodality};
use likenew_stats::interval::{CONFIDENCE_95, Interval, window_interval};
use likenew_stats::stalls::{Rule, Stall, Total, Wait, stalls};
use likenew_stats::summary::{maximum, mean, median, minimum, quantile};
use likenew_stats::trend::{SpeedPattern, Step, fall, speed_pattern};
use serde::{Deserialize, Serialize};

pub use wording::DESCRIPTOR;
use wording::{Scatter, Stalled, Subject};

/// Fill the free space: is every part as fast, and are there stalls?
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct FillOptions {
    /// Number of files [default: as many as fill the free space, at most 1000]
    #[arg(long, default_value_t = 100, hide_default_value = true, value_name = "N")]
    pub files: u32,
    /// Size of each file [default: the free space divided by --files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "64MiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Write one file as large as the free space, or as --file-size, measured in parts
    #[arg(long, conflicts_with = "files")]
    #[serde(skip)]
    pub one_file: bool,
    /// Parts of the one file [default: one per 16MiB, at most 1000]
    #[arg(long, requires = "one_file", default_value_t = 1, hide_default_value = true, value_name = "N")]
    pub parts: u32,
    /// Offset of the first file on a simulated drive
    #[arg(long, default_value = "0", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub from: u64,
    /// Passes: a number, or until-steady (until a pass is within 2% of the one before, at most 10)
    #[arg(long, default_value = "1", value_name = "N|until-steady")]
    pub passes: Repeat,
    /// Read everything back at the end
    #[arg(long)]
    pub read_back: bool,
    /// Block size of a write
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub block: u64,
    /// Queue depth
    // Deep enough to keep a drive busy, shallow enough that a pause is not hidden in the queue.
    #[arg(long, visible_alias = "iodepth", default_value_t = 4, value_name = "N")]
    pub depth: u32,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
    /// Shortest wait that counts as a stall
    #[arg(long, default_value = "100ms", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub stall: Nanos,
}

impl Options for FillOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;
    const WRITES: bool = true;

    /// Sizes the files so that they fill the space; a single file has whole parts of whole blocks.
    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        check_block(self.block)?;
        if self.from > 0 && fitting.is_folder {
            return Err(wording::FROM_ON_REAL.to_owned().into());
        }
        let [has_files, has_size, has_parts] = ["files", "file_size", "parts"].map(fitting.is_chosen);
        if has_size && (has_files || has_parts && !self.one_file) {
            return Ok(());
        }
        let space = if self.one_file && has_size {
            self.file_size
        } else {
            fitting.usable()?.saturating_sub(self.from)
        };
        let usual_parts = (space / FILE_BYTES_LEAST).clamp(1, FILES_USUAL);
        let whole = |bytes: u64, unit: u64| bytes - bytes % unit;
        let mut files = u64::from(self.files.max(1));
        if self.one_file {
            files = 1;
            self.parts = if has_parts { self.parts.max(1) } else { usual_parts as u32 };
            self.file_size = whole(space, self.block.saturating_mul(u64::from(self.parts)));
        } else if has_size {
            files = space / self.file_size.max(1);
        } else {
            files = if has_files { files } else { usual_parts };
            self.file_size = whole(space / files, self.block);
        }
        if files == 0 || self.file_size == 0 {
            return Err(wording::files_do_not_fit(space).into());
        }
        self.files = u32::try_from(files).map_err(|_| too_many_files(files))?;
        Ok(())
    }
}

/// Most files by default.
const FILES_USUAL: u64 = 1000;
/// Fewest bytes of a file by default.
const FILE_BYTES_LEAST: u64 = 16 << 20;
/// Files or parts that tell one speed from two.
const PARTS_TO_DECIDE: u32 = 100;
/// Fewest files or parts that can tell one speed from two.
const PARTS_LEAST: u32 = 10;

impl FillOptions {
    /// The options that differ from their defaults on a target of `capacity` bytes, as a command line.
    fn arguments(&self, capacity: u64) -> String {
        let space = capacity.saturating_sub(self.from);
        let usual_parts = (space / FILE_BYTES_LEAST).clamp(1, FILES_USUAL) as u32;
        // Rounding to whole blocks leaves less than a block over for each file or part.
        let parts = u64::from(self.files.max(self.parts));
        let left_over = space.saturating_sub(u64::from(self.files) * self.file_size);
        let file_size = if left_over < parts * self.block { self.file_size } else { 0 };
        if self.parts > 1 {
            let defaults = Self { files: self.files, parts: usual_parts, file_size, ..Self::default() };
            return format!("--one-file {}", arguments(self, &defaults)).trim_end().to_owned();
        }
        arguments(self, &Self { files: usual_parts, file_size, ..Self::default() })
    }
}

/// Most files or parts of a plan; one with more is taken for endless.
const PARTS_MAX: u32 = 20_000;
/// Ratio of a latency to the typical one of the same file's writes from which an I/O stalled. Chosen.
const STALL_FACTOR: f64 = 10.0;

/// The procedure.
pub struct Fill {
    options: FillOptions,
}

impl Fill {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: FillOptions) -> Result<Self, String> {
        let FillOptions { files, block, file_size, from, .. } = options;
        check_range("files", files, 1..=PARTS_MAX)?;
        if !(512..=1 << 30).contains(&block) || !block.is_multiple_of(512) {
            return Err(wording::wrong_block(block));
        }
        if file_size == 0 || !file_size.is_multiple_of(block) {
            return Err(not_of_blocks("file_size", file_size, block, block));
        }
        check_range("depth", options.depth, 1..=u32::MAX)?;
        if !from.is_multiple_of(block) {
            return Err(not_of_blocks("from", from, block, 0));
        }
        Self::check_parts(&options)?;
        Ok(Self { options })
    }

    fn check_parts(options: &FillOptions) -> Result<(), String> {
        let (parts, files) = (options.parts, options.files);
        if parts == 0 || parts > PARTS_MAX || (parts > 1 && files > 1) {
            return Err(wording::parts_of_several_files(parts, files, PARTS_MAX));
        }
        let each = options.file_size / u64::from(parts);
        if each == 0
            || !options.file_size.is_multiple_of(u64::from(parts))
            || !each.is_multiple_of(options.block)
        {
            return Err(wording::parts_do_not_divide(parts, options.file_size, options.block));
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        u64::from(self.options.files).saturating_mul(self.options.file_size)
    }

    /// Files or parts of a pass.
    fn count(&self) -> usize {
        self.options.files.max(self.options.parts) as usize
    }

    fn unit(&self) -> Unit {
        if self.options.parts > 1 { Unit::Part } else { Unit::File }
    }

    /// Bytes of each file or part.
    fn part_bytes(&self) -> u64 {
        self.options.file_size / u64::from(self.options.parts)
    }

    fn workload(&self, op: Op, pass: usize, index: usize) -> Workload {
        let start = self.options.from + index as u64 * self.part_bytes();
        let place = Pattern::Sequential.over(start..start + self.part_bytes());
        let FillOptions { block, depth, data, .. } = self.options;
        let stream = Stream::closed(Mix::Only(op), block as u32, place, depth, data);
        let (unit, number) = (self.unit(), index + 1);
        let name = match (op, self.options.passes) {
            (Op::Read, _) => wording::read_back_name(unit, number),
            (_, Repeat::Times(1)) => wording::part_name(unit, number),
            _ => wording::pass_part_name(pass + 1, unit, number),
        };
        Workload::new(name, Until::bytes(self.part_bytes()), vec![stream])
    }
}

impl Procedure for Fill {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: self.options.files, file_bytes: self.options.file_size }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        self.fits(&steps.evidence().geometry)?;
        let (mut written, mut read) = (Vec::new(), Vec::new());
        let _ended = self.measure(steps, &mut written, &mut read);
        Ok(steps.conclude(|evidence| {
            let rule = Rule { latency_ns_min: self.options.stall.0, factor: STALL_FACTOR };
            let pass = |(number, parts)| Pass::new(number, parts, self.count(), self.part_bytes(), rule);
            let passes: Vec<Pass<'_>> = (1..).zip(written.chunks(self.count())).map(pass).collect();
            let read = (!read.is_empty()).then(|| pass((1, &read[..])));
            self.findings(evidence, &passes, read.as_ref())
        }))
    }
}

impl Fill {
    /// Writes all files or parts, pass by pass, and reads them at the end if that was asked for.
    fn measure<'a>(
        &self,
        steps: &mut Steps<'a>,
        written: &mut Vec<&'a Segment>,
        read: &mut Vec<&'a Segment>,
    ) -> Result<(), Ended> {
        let (mut passes, mut speeds) = (0, Vec::new());
        while !self.options.passes.is_enough(passes, &speeds) {
            let before = written.len();
            for index in 0..self.count() {
                written.push(steps.run_seeded(|| self.workload(Op::Write, passes, index))?);
            }
            speeds.extend(bytes_per_s(written[before..].iter().copied()));
            passes += 1;
        }
        for index in (0..self.count()).filter(|_| self.options.read_back) {
            read.push(steps.run_seeded(|| self.workload(Op::Read, 0, index))?);
        }
        Ok(())
    }

    fn findings(&self, evidence: &Evidence, passes: &[Pass<'_>], read: Option<&Pass<'_>>) -> Findings {
        let unit = self.unit();
        let mut findings = Findings { answers: self.answers(passes, read, evidence), ..Findings::default() };
        add_failures(&mut findings.answers, evidence, self.remainder(passes, read));
        findings.summary = findings.answers.first().map(answer_as_summary).unwrap_or_default();
        let several = |pass: &Pass<'_>| (passes.len() > 1).then_some(pass.number);
        if passes.len() > 1 {
            findings.series.insert("passes".into(), by_pass(passes));
            findings.tables.insert("passes".into(), passes.iter().map(Pass::row).collect());
        }
        let parts = |pass: &Pass<'_>, number| -> Vec<Row> {
            pass.parts.iter().map(|part| part.row(unit, number)).collect()
        };
        let rows: Vec<Vec<Row>> = passes.iter().map(|pass| parts(pass, several(pass))).collect();
        findings.tables.insert(format!("{}s", unit.noun()), rows.concat());
        findings.tables.extend(read.map(|read| ("read_back".to_owned(), parts(read, None))));
        let all_passes = passes.iter().chain(read);
        let stalls = all_passes
            .flat_map(|pass| pass.parts.iter().flat_map(move |part| part.stall_rows(unit, several(pass))));
        findings.tables.insert("stalls".into(), stalls.collect());
        if passes.iter().any(|pass| !pass.speeds().is_empty()) {
            let speeds = speeds_series(passes, read, unit, self.options.from);
            findings.series.insert(format!("{}s", unit.noun()), speeds);
            findings.series.insert("slowest".into(), slowest_series(passes, read, unit));
            self.add_overview(&mut findings, passes, read);
        }
        findings
    }

    fn fits(&self, geometry: &Geometry) -> Result<(), String> {
        if !geometry.writable {
            return Err(writes_to_read_only(DESCRIPTOR.name));
        }
        if self.bytes().saturating_add(self.options.from) <= geometry.capacity {
            return Ok(());
        }
        let FillOptions { files, file_size, from, .. } = self.options;
        Err(wording::does_not_fit(files, Size(file_size), Size(from), Size(geometry.capacity)))
    }

    /// The answers for the last pass, with the first one beside it. Most important first: problems, then the
    /// speed.
    fn answers(&self, passes: &[Pass<'_>], read: Option<&Pass<'_>>, evidence: &Evidence) -> Vec<Answer> {
        let even = |pass: &Pass<'_>, subject| {
            let speeds = pass.speeds();
            (!speeds.is_empty()).then(|| evenness(&speeds, subject, self, evidence))
        };
        let mut answers = Vec::new();
        let Some((last, earlier)) = passes.split_last() else { return answers };
        if let Some(first) = earlier.first() {
            let whole = passes.iter().filter(|pass| pass.is_whole);
            let speeds: Vec<f64> = whole.filter_map(Pass::bytes_per_s).collect();
            answers.push(convergence(&speeds, self, evidence));
            answers.extend(even(first, Subject::FirstPass));
        }
        answers.extend(even(last, Subject::Writes));
        let speeds = last.speeds();
        if !speeds.is_empty() {
            answers.push(stalls_answer(last, self, evidence));
        }
        answers.extend(read.and_then(|read| even(read, Subject::Reads)));
        if earlier.is_empty() && !speeds.is_empty() && rises(&speeds) {
            answers.push(wording::effect_is_open(&self.with_passes(evidence, Repeat::Times(2))));
        }
        answers.sort_by_key(|answer| answer.standing != Standing::Problem);
        answers
    }

    /// The same run with this many passes.
    fn with_passes(&self, evidence: &Evidence, passes: Repeat) -> Rerun {
        Self::rerun(evidence, FillOptions { passes, ..self.options.clone() })
    }

    /// The same space in enough files or parts to tell one speed from two, with their number; fewer if each could not
    /// hold a block.
    fn more_parts(&self, evidence: &Evidence) -> Option<(u32, Rerun)> {
        let options = &self.options;
        let number = (self.bytes() / options.block).min(PARTS_TO_DECIDE.into()) as u32;
        if number < PARTS_LEAST {
            return None;
        }
        let each = self.bytes() / u64::from(number);
        let each = each - each % options.block;
        let again = match self.unit() {
            Unit::Part => {
                FillOptions { parts: number, file_size: each * u64::from(number), ..options.clone() }
            }
            Unit::File => FillOptions { files: number, file_size: each, ..options.clone() },
        };
        Some((number, Self::rerun(evidence, again)))
    }

    /// The same run until its speed settles, which takes at least one more pass.
    fn until_steady(&self, passes: usize, evidence: &Evidence) -> Rerun {
        let passes = Repeat::Times((passes as u32).saturating_add(1).min(Repeat::TIMES_MAX));
        let (again, least) = (Repeat::UntilSteady, FillOptions { passes, ..self.options.clone() });
        let again = FillOptions { passes: again, ..self.options.clone() };
        // The cost is that of one more pass: in a dry run all passes are alike, so that it settles at once.
        Rerun::new(evidence, &again.arguments(evidence.geometry.capacity), Self::new(least))
    }

    fn rerun(evidence: &Evidence, options: FillOptions) -> Rerun {
        Rerun::new(evidence, &options.arguments(evidence.geometry.capacity), Self::new(options.clone()))
    }

    /// The answer about what was not written or read back when the run ended.
    fn remainder(&self, passes: &[Pass<'_>], read: Option<&Pass<'_>>) -> Option<Answer> {
        let (count, unit) = (self.count(), self.unit());
        let moved = |pass: &Pass<'_>| pass.speeds().len();
        let Some(last) = passes.last() else { return Some(wording::nothing_written(unit, count)) };
        if moved(last) < count {
            return Some(wording::not_all_written(unit, count, moved(last), last.number));
        }
        let read = read.filter(|read| moved(read) < count)?;
        Some(wording::not_all_read(unit, count, moved(read)))
    }

    /// The answers, a table of the passes if there are several, and the speed along the space.
    fn add_overview(&self, findings: &mut Findings, passes: &[Pass<'_>], read: Option<&Pass<'_>>) {
        list_below_summary(findings, |_| true);
        findings.overview.series = Some(format!("{}s", self.unit().noun()));
        let has_several = passes.len() > 1 || read.is_some();
        findings.overview.table = has_several.then(|| wording::table(self.unit(), passes, read));
    }
}

/// A number of passes, or until another pass changes little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// This many times.
    Times(u32),
    /// Until a pass is within [`Repeat::SETTLED_SHARE`] of the speed of the one before, but at most
    /// [`Repeat::TIMES_MAX`] times.
    UntilSteady,
}

impl Repeat {
    /// Change of speed between passes, as a share, up to which it has settled. SNIA's rule needs five rounds
    /// in a window, and each of these passes writes the whole space: too much wear for what a second pass
    /// usually shows.
    pub const SETTLED_SHARE: f64 = 0.02;
    /// A drive that has not settled by then never does.
    pub const TIMES_MAX: u32 = 10;

    /// Whether this many passes were enough; `speeds`: of those that measured one, in bytes a second.
    pub(crate) fn is_enough(self, passes: usize, speeds: &[f64]) -> bool {
        match self {
            Self::Times(times) => passes >= times as usize,
            Self::UntilSteady => is_steady(speeds) || passes >= Self::TIMES_MAX as usize,
        }
    }
}

/// Whether the last pass was as fast as the one before.
pub(crate) fn is_steady(speeds: &[f64]) -> bool {
    matches!(speeds, [.., before, last] if change(*before, *last) <= Repeat::SETTLED_SHARE)
}

/// Change of the speed as a share; 1 if there was no speed before.
pub(crate) fn change(before: f64, after: f64) -> f64 {
    if before > 0.0 { (after / before - 1.0).abs() } else { 1.0 }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(times) => times.fmt(f),
            Self::UntilSteady => f.pad("until-steady"),
        }
    }
}

impl FromStr for Repeat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "until-steady" => Ok(Self::UntilSteady),
            Ok(times) if (1..=1000).contains(&times) => Ok(Self::Times(times)),
            _ => Err(wording::wrong_passes(text)),
        }
    }
}

serde_as_text!(Repeat);

/// The unit of measurement: whole files, or the parts of a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum Unit {
    File,
    Part,
}

impl Unit {
    /// `file` or `part`.
    fn noun(self) -> &'static str {
        self.into()
    }
}

/// One pass over all files or parts; the last one of a stopped run may be incomplete.
struct Pass<'a> {
    /// From 1.
    number: usize,
    /// The parts that did not fail.
    parts: Vec<Part<'a>>,
    /// Whether every part is complete.
    is_whole: bool,
}

impl<'a> Pass<'a> {
    fn new(number: usize, segments: &[&'a Segment], count: usize, each: u64, rule: Rule) -> Self {
        let numbered = (1..).zip(segments);
        let parts = numbered.filter_map(|(number, segment)| Part::new(number, segment, each, rule));
        let parts: Vec<Part<'a>> = parts.collect();
        let is_whole = parts.len() == count && parts.iter().all(|part| part.is_whole);
        Self { number, parts, is_whole }
    }

    /// The speeds of the complete parts, in bytes a second.
    fn speeds(&self) -> Vec<f64> {
        self.parts.iter().filter(|part| part.is_whole).map(|part| part.bytes_per_s).collect()
    }

    fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.segment.total().bytes).sum()
    }

    fn elapsed(&self) -> Nanos {
        Nanos(self.parts.iter().map(|part| part.segment.elapsed().0).sum())
    }

    /// The speed of the whole pass, in bytes a second; `None` if nothing of it was measured.
    fn bytes_per_s(&self) -> Option<f64> {
        bytes_per_s(self.parts.iter().map(|part| part.segment))
    }

    fn stalls(&self) -> Vec<Stall> {
        self.parts.iter().flat_map(|part| &part.stalls).copied().collect()
    }

    /// The speed of the whole pass; its interval comes from the parts, if they are on one level.
    fn speed(&self) -> Option<Estimate> {
        let interval = level_interval(&self.speeds());
        Some(Estimate { value: self.bytes_per_s()?, interval }.not_negative())
    }

    fn slowest(&self) -> Option<f64> {
        self.speeds().into_iter().chain(self.bytes_per_s()).reduce(f64::min)
    }

    fn latency_max(&self) -> Nanos {
        self.parts.iter().map(|part| part.segment.latencies().max()).max().unwrap_or(Nanos::ZERO)
    }

    fn row(&self) -> Row {
        Row::new()
            .with("pass", self.number)
            .with_estimate("bytes_per_s", self.speed())
            .with("slowest_bytes_per_s", self.slowest())
            .with("stalls", self.stalls().len())
            .with("latency_ns_max", self.latency_max().0)
            .with("elapsed_ns", self.elapsed().0)
    }
}

/// The speed of the files or parts that did not fail, all together, in bytes a second; `None` if nothing was moved.
fn bytes_per_s<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<f64> {
    let (mut bytes, mut elapsed) = (0, Nanos::ZERO);
    for segment in segments.filter(|segment| segment.bytes_per_s().is_some()) {
        bytes += segment.tallies.iter().map(|tally| tally.bytes).sum::<u64>();
        elapsed += segment.elapsed();
    }
    let seconds = elapsed.as_secs_f64();
    (bytes > 0 && seconds > 0.0).then(|| bytes as f64 / seconds)
}

/// The answer whether another pass still changes the speed.
fn convergence(speeds: &[f64], fill: &Fill, evidence: &Evidence) -> Answer {
    /// Difference of two passes, as a share, up to which they are equally fast. Chosen.
    const NEAR_SHARE: f64 = 0.01;
    let ([first, .., last], [.., before, _]) = (speeds, speeds) else { return wording::too_few_passes() };
    let (passes, changed) = (speeds.len(), Share(change(*before, *last)));
    let answer = if is_steady(speeds) {
        let is_near = |speed: &f64| change(*last, *speed) <= NEAR_SHARE;
        let near_pass = 1 + speeds.iter().position(is_near).expect("the last one is");
        wording::settled(Rate(*first), Rate(*last), changed, near_pass, passes)
    } else if passes >= Repeat::TIMES_MAX as usize {
        wording::never_settled(Rate(*last), changed, Share(Repeat::SETTLED_SHARE), passes)
    } else {
        wording::not_settled(Rate(*first), Rate(*last), changed, Share(Repeat::SETTLED_SHARE), passes)
            .action(fill.until_steady(passes, evidence).action("until_steady", wording::WRITE_UNTIL_STEADY))
    };
    answer.with_evidence(wording::pass_speeds(speeds))
}

/// Gigabytes from which a pass without a stall bounds how many there can be. Chosen: with less, the bound is so high
/// that it says nothing.
const BOUND_FROM_GIGABYTES: f64 = 10.0;

/// The answer about stalls, which are no problem if all of them come after the cache was full.
fn stalls_answer(pass: &Pass<'_>, fill: &Fill, evidence: &Evidence) -> Answer {
    let (unit, least) = (fill.unit(), fill.options.stall);
    let total = Total::sum(&pass.stalls(), CONFIDENCE_95);
    let gigabytes = pass.bytes() as f64 / 1e9;
    let count = Estimate { value: total.count as f64, interval: Some(total.count_interval) };
    let per_gigabyte = count.map(|count| count / gigabytes);
    if total.count == 0 {
        let bound = per_gigabyte.high().filter(|_| gigabytes >= BOUND_FROM_GIGABYTES);
        return wording::no_stall(least, bound);
    }
    let (longest, at) = pass
        .parts
        .iter()
        .flat_map(|part| part.stalls.iter().map(move |stall| (stall, part.number)))
        .max_by_key(|(stall, _)| stall.duration_ns)
        .expect("there is a stall");
    let stalled = Stalled {
        number: total.count as u64,
        may_be_more: pass.parts.iter().any(Part::may_hide_stalls),
        total: Nanos(total.duration_ns),
        per_gigabyte,
        longest: Nanos(longest.duration_ns),
        longest_in: at,
        longest_at: Size(longest.position),
    };
    let is_behind = |from: u64| pass.stalls().iter().all(|stall| stall.position >= from);
    if behind_cache(pass, fill, evidence).is_some_and(is_behind) {
        return wording::stalled_behind_cache(unit, &stalled);
    }
    let check = procedure_action(&evidence.plan, "check", "", wording::FIND_CAUSE);
    check.into_iter().fold(wording::stalled(unit, &stalled), Answer::action)
}

/// One file or part of a pass.
struct Part<'a> {
    /// From 1.
    number: usize,
    /// Bytes from the start of the pass to its end.
    end_bytes: u64,
    /// Whether all of its bytes were moved.
    is_whole: bool,
    bytes_per_s: f64,
    segment: &'a Segment,
    stalls: Vec<Stall>,
    /// Latency from which an I/O is part of a stall.
    threshold_ns: u64,
}

/// The first columns of a row, with the number of the pass if there are several.
fn columns(unit: Unit, number: usize, pass: Option<usize>) -> Row {
    Row::new().with_known("pass", pass).with(unit.noun(), number)
}

impl<'a> Part<'a> {
    /// `None` for a part that failed. `each`: bytes of a part.
    fn new(number: usize, segment: &'a Segment, each: u64, rule: Rule) -> Option<Self> {
        let bytes_per_s = segment.bytes_per_s()?;
        let waits: Vec<Wait> = segment
            .slowest
            .iter()
            .map(|sample| Wait { start_ns: sample.due.0, end_ns: sample.done.0, position: sample.offset })
            .collect();
        // Little's law: at a queue depth, one I/O's share of the time is its latency over the depth.
        let typical_ns = segment.latencies().quantile(0.5).0 / u64::from(segment.workload.depth());
        let stalls = stalls(&waits, typical_ns, rule);
        let (end_bytes, is_whole) = (number as u64 * each, segment.total().bytes == each);
        let threshold_ns = rule.threshold_ns(typical_ns);
        Some(Self { number, end_bytes, is_whole, bytes_per_s, segment, stalls, threshold_ns })
    }

    /// Whether more I/Os were slow than there are samples.
    fn may_hide_stalls(&self) -> bool {
        let slowest = &self.segment.slowest;
        slowest.len() >= Segment::SLOWEST_MAX
            && slowest.iter().all(|sample| sample.latency().0 >= self.threshold_ns)
    }

    fn row(&self, unit: Unit, pass: Option<usize>) -> Row {
        let latencies = self.segment.latencies();
        columns(unit, self.number, pass)
            .with("bytes_per_s", self.bytes_per_s)
            .with("stalls", self.stalls.len())
            .with("latency_ns_p50", latencies.quantile(0.5).0)
            .with("latency_ns_max", latencies.max().0)
            .with("elapsed_ns", self.segment.elapsed().0)
    }

    fn stall_rows(&self, unit: Unit, pass: Option<usize>) -> impl Iterator<Item = Row> {
        self.stalls.iter().map(move |stall| {
            columns(unit, self.number, pass)
                .with("at_ns", stall.start_ns)
                .with("duration_ns", stall.duration_ns)
                .with("offset_bytes", stall.position)
                .with("ios", stall.ios)
        })
    }
}

/// Start and end of a list are each its length divided by this, at least one.
const END_SHARE: usize = 10;
/// Largest share of the drive that a pseudo-SLC cache can take. Chosen: with one bit a cell, QLC flash holds a quarter
/// of the drive and TLC flash a third; the rest is margin.
const CACHE_SHARE_MAX: f64 = 0.45;
/// Whether the bytes that were written faster can have gone into a flash cache; a disk is faster on its outer tracks.
fn may_be_cache(fast_bytes: u64, evidence: &Evidence) -> bool {
    let is_part = fast_bytes as f64 <= CACHE_SHARE_MAX * evidence.geometry.capacity as f64;
    is_part && !evidence.identity.rotates()
}

/// The offset from which the cache may have been full: it fills somewhere in the last of the fast parts.
fn behind_cache(pass: &Pass<'_>, fill: &Fill, evidence: &Evidence) -> Option<u64> {
    let fast = fall(&pass.speeds())?.at as u64;
    let is_cache = may_be_cache(fast * fill.part_bytes(), evidence);
    is_cache.then_some(fill.options.from + (fast - 1) * fill.part_bytes())
}

/// A fitted line goes through both ends when it misses neither median by more than this share. Chosen.
const LINE_MISS_MAX: f64 = 0.1;

/// The interval of the mean; `None` if the speeds slope or step, as they have no single level.
fn level_interval(speeds: &[f64]) -> Option<Interval> {
    match speed_pattern(speeds) {
        Some(SpeedPattern::Sloping(_) | SpeedPattern::Stepped(_)) => None,
        _ => window_interval(speeds, CONFIDENCE_95),
    }
}

/// The answer about the pattern of the speeds, of which there is at least one.
fn evenness(speeds: &[f64], subject: Subject, fill: &Fill, evidence: &Evidence) -> Answer {
    let unit = fill.unit();
    let fall = fall(speeds).filter(|_| subject != Subject::Reads);
    let (before, speeds) = speeds.split_at(fall.map_or(0, |fall| fall.at));
    let known = |metric: Option<f64>| metric.expect("there is a speed");
    let rate = |metric: Option<f64>| Rate(known(metric));
    let scatter = Scatter {
        number: speeds.len(),
        median: rate(median(speeds)),
        low: rate(quantile(speeds, 0.05)),
        high: rate(quantile(speeds, 0.95)),
        slowest: rate(minimum(speeds)),
        fastest: rate(maximum(speeds)),
    };
    let answer = match fall {
        Some(Step { before: fast, after, .. }) => {
            let fast_bytes = before.len() as u64 * fill.part_bytes();
            let is_cache = may_be_cache(fast_bytes, evidence);
            let drops = if is_cache { wording::drops_behind_cache } else { wording::drops };
            drops(subject, Rate(fast), Size(fast_bytes), Rate(after))
        }
        None => form(speeds, subject, fill, evidence, &scatter),
    };
    let answer = answer.with_evidence(wording::scatter(unit, &scatter, fall.is_some()));
    // Neighboring files depend on each other, so the interval is that of a series rather than of independent values.
    let level = Estimate { value: known(mean(speeds)), interval: level_interval(speeds) }.not_negative();
    match level.interval.or_else(|| window_interval(speeds, CONFIDENCE_95)) {
        Some(_) => level.put(answer, "bytes/s"),
        None => answer.caveat(wording::no_interval(unit, speeds.len())),
    }
}

fn form(speeds: &[f64], subject: Subject, fill: &Fill, evidence: &Evidence, scatter: &Scatter) -> Answer {
    let (unit, typical) = (fill.unit(), scatter.median);
    if let Some(SpeedPattern::Sloping(trend)) = speed_pattern(speeds) {
        return slope(speeds, [trend.at(0), trend.at(speeds.len() - 1)], subject, evidence);
    }
    match (bimodality(speeds), speed_pattern(speeds)) {
        (Modality::Two(levels), _) => wording::two_levels(subject, unit, &levels),
        (Modality::One, Some(SpeedPattern::Flat)) => wording::even(subject, unit, typical),
        (Modality::One, _) => wording::uneven(subject, unit, typical, scatter.low, scatter.high),
        (Modality::Undecided, _) => {
            let answer = wording::too_few(subject, unit, typical, speeds.len());
            let more =
                fill.more_parts(evidence).map(|(number, again)| wording::more_parts(unit, number, &again));
            more.into_iter().fold(answer, Answer::action)
        }
    }
}

/// Medians of the first tenth and of the last.
fn ends(speeds: &[f64]) -> [f64; 2] {
    let count = (speeds.len() / END_SHARE).max(1);
    let end = |speeds: &[f64]| median(speeds).expect("an end has a speed");
    [end(&speeds[..count]), end(&speeds[speeds.len() - count..])]
}

/// Whether the speeds rise along the list.
fn rises(speeds: &[f64]) -> bool {
    let [first, last] = ends(speeds);
    matches!(speed_pattern(speeds), Some(SpeedPattern::Sloping(_))) && first <= last
}

/// The answer about a slope, from the medians of both ends: no file may have run at the ends of `line`.
fn slope(speeds: &[f64], line: [f64; 2], subject: Subject, evidence: &Evidence) -> Answer {
    let ends = ends(speeds);
    let is_even = ends.into_iter().zip(line).all(|(end, line)| (line - end).abs() <= LINE_MISS_MAX * end);
    let [first, last] = ends.map(Rate);
    if last < first {
        return wording::falls(subject, first, last, is_even);
    }
    let answer = wording::rises(subject, first, last, is_even);
    let helps = answer.standing == Standing::Problem && subject == Subject::Writes;
    let is_restorable = helps && evidence.identity.kind != TargetKind::File;
    let restore = procedure_action(&evidence.plan, "recondition", "", wording::RESTORE);
    restore.filter(|_| is_restorable).into_iter().fold(answer, Answer::action)
}

/// A metric at the end of each part, in bytes from the start of the pass: of the first pass, the last one, and the
/// read-back.
fn shown_lines(passes: &[Pass<'_>], read: Option<&Pass<'_>>, metric: fn(&Part<'_>) -> f64) -> Vec<Line> {
    let line = |name: String, pass: &Pass<'_>| {
        let whole = pass.parts.iter().filter(|part| part.is_whole);
        Line::new(name, whole.map(|part| [part.end_bytes as f64, metric(part)]).collect())
    };
    let written = match passes {
        [only] => vec![line("write".into(), only)],
        [first, .., last] => {
            [first, last].map(|pass| line(format!("write, pass {}", pass.number), pass)).into()
        }
        [] => Vec::new(),
    };
    written.into_iter().chain(read.map(|read| line("read back".into(), read))).collect()
}

/// Speed by bytes written, with the stalls of the last pass as marks. `from`: the offset of the first byte.
fn speeds_series(passes: &[Pass<'_>], read: Option<&Pass<'_>>, unit: Unit, from: u64) -> Series {
    let mut stalls = passes.last().map(Pass::stalls).unwrap_or_default();
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.duration_ns));
    let marks = stalls.into_iter().map(|stall| Mark {
        x: stall.position.saturating_sub(from) as f64,
        label: wording::stall_mark(Nanos(stall.duration_ns)),
    });
    let lines = shown_lines(passes, read, |part| part.bytes_per_s);
    Series::new(wording::speeds_title(unit), Shape::Line, axis("written", "bytes"), speed())
        .lines(lines)
        .marks(marks)
        .mark_name(wording::STALL)
}

/// The slowest I/O of each file or part.
fn slowest_series(passes: &[Pass<'_>], read: Option<&Pass<'_>>, unit: Unit) -> Series {
    let longest = |part: &Part<'_>| part.segment.latencies().max().0 as f64;
    let (x, y) = (axis("written", "bytes"), axis(wording::SLOWEST_AXIS, "ns").logarithmic());
    Series::new(wording::slowest_title(unit), Shape::Scatter, x, y).lines(shown_lines(passes, read, longest))
}

/// Speed by pass.
fn by_pass(passes: &[Pass<'_>]) -> Series {
    let speeds = passes.iter().filter_map(|pass| Some((pass.number as f64, pass.speed()?)));
    let line = estimated_line("write", speeds);
    Series::new(wording::PASSES_TITLE, Shape::Line, axis("pass", ""), speed()).lines([line])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_read_back_and_nonsense_does_not() {
        for text in ["1", "4", "until-steady"] {
            assert_eq!(text.parse::<Repeat>().unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "1001", "steady", "2.5"] {
            assert!(text.parse::<Repeat>().unwrap_err().contains("until-steady"), "{text}");
        }
    }

    #[test]
    fn another_pass_that_changes_little_is_enough() {
        let enough = |repeat: Repeat, speeds: &[f64]| repeat.is_enough(speeds.len(), speeds);
        assert!(!enough(Repeat::UntilSteady, &[]) && !enough(Repeat::UntilSteady, &[75.0]));
        assert!(
            !enough(Repeat::UntilSteady, &[40.0, 70.0]) && enough(Repeat::UntilSteady, &[40.0, 70.0, 71.0])
        );
        assert!(enough(Repeat::UntilSteady, &[70.0, 69.0]), "slower counts as well");
        let unsettled: Vec<f64> = (0..10).map(|pass| [40.0, 80.0][pass % 2]).collect();
        assert!(!enough(Repeat::UntilSteady, &unsettled[..9]) && enough(Repeat::UntilSteady, &unsettled));
        assert!(!is_steady(&[0.0, 0.0]));
        assert!(enough(Repeat::Times(2), &[1.0, 9.0]) && !enough(Repeat::Times(2), &[1.0]));
    }
}
