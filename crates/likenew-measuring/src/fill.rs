//! Writes the free space file by file: the speed of each file, stalls, the pattern of the speeds, and whether writing
//! everything again restores speed.

mod pass;
mod wording;

use std::fmt;
use std::str::FromStr;

use clap::Args;
use likenew_core::findings::{Answer, Findings, Row, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::Size;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::serde_as_text;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments, defaults};
use likenew_procedure_support::options::{check_block, check_range, options};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{answer_as_summary, too_many_files};
use likenew_stats::stalls::Rule;
use serde::{Deserialize, Serialize};

use pass::{Pass, bytes_per_s, convergence, evenness, rises, stalls_answer};
pub use wording::DESCRIPTOR;
use wording::Subject;

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

impl Default for FillOptions {
    fn default() -> Self {
        defaults()
    }
}

impl Options for FillOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn writes(&self, _: &dyn Fn(&str) -> bool) -> bool {
        true
    }

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
    /// From the options of a plan.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("fill", table)?)
    }

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
            return Err(wording::file_size_is_not_of_blocks(file_size, block));
        }
        check_range("depth", options.depth, 1..=u32::MAX)?;
        if !from.is_multiple_of(block) {
            return Err(wording::from_is_not_of_blocks(from, block));
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
        let place = AccessPattern::Sequential(Region::bytes(start..start + self.part_bytes()));
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
        let (unit, each) = (self.unit(), self.part_bytes());
        let mut findings = Findings { answers: self.answers(passes, read, evidence), ..Findings::default() };
        findings.answers.extend(failure_answers(&evidence.segments));
        findings.answers.extend(self.remainder(passes, read));
        spare_failing_drive(&mut findings.answers, evidence);
        findings.summary = findings.answers.first().map(answer_as_summary).unwrap_or_default();
        let several = |pass: &Pass<'_>| (passes.len() > 1).then_some(pass.number);
        if passes.len() > 1 {
            findings.series.insert("passes".into(), pass::by_pass(passes, each));
            findings.tables.insert("passes".into(), passes.iter().map(|pass| pass.row(each)).collect());
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
        if passes.iter().any(|pass| !pass.speeds(each).is_empty()) {
            let noun = unit.noun();
            findings
                .series
                .insert(format!("{noun}s"), pass::speeds_series(passes, read, unit, each, self.options.from));
            findings.series.insert("slowest".into(), pass::slowest_series(passes, read, unit, each));
            self.add_overview(&mut findings, passes, read);
        }
        findings
    }

    fn fits(&self, geometry: &Geometry) -> Result<(), String> {
        if !geometry.writable {
            return Err(wording::target_is_read_only());
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
        let each = self.part_bytes();
        let even = |pass: &Pass<'_>, subject| {
            let speeds = pass.speeds(each);
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
        if !last.speeds(each).is_empty() {
            answers.push(stalls_answer(last, self, evidence));
        }
        answers.extend(read.and_then(|read| even(read, Subject::Reads)));
        let speeds = last.speeds(each);
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
        let moved = |pass: &Pass<'_>| pass.speeds(self.part_bytes()).len();
        let Some(last) = passes.last() else { return Some(wording::nothing_written(unit, count)) };
        if moved(last) < count {
            return Some(wording::not_all_written(unit, count, moved(last), last.number));
        }
        let read = read.filter(|read| moved(read) < count)?;
        Some(wording::not_all_read(unit, count, moved(read)))
    }

    /// The answers, a table of the passes if there are several, and the speed along the space.
    fn add_overview(&self, findings: &mut Findings, passes: &[Pass<'_>], read: Option<&Pass<'_>>) {
        let each = self.part_bytes();
        findings.overview.answers = findings.answers.iter().skip(1).map(|answer| answer.id.clone()).collect();
        findings.overview.series = Some(format!("{}s", self.unit().noun()));
        let written = passes.iter().map(|pass| pass.cells(each, false));
        let rows: Vec<_> = written.chain(read.map(|read| read.cells(each, true))).collect();
        findings.overview.table = (rows.len() > 1).then(|| wording::table(self.unit(), &rows));
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    File,
    Part,
}

impl Unit {
    /// `file` or `part`.
    fn noun(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Part => "part",
        }
    }
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
