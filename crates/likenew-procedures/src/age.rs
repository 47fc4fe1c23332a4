//! New against used: measures a drive, ages it by a recipe, and measures the same again.

mod comparison;
mod phase;
mod pictures;
mod recipe;
mod results;
mod verdicts;
mod zone_layout;

use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_core::workload::{DEPTH_LIMIT, Workload};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::refusals::refusals;
use comparison::Comparison;
use phase::Phase;
pub use recipe::{FILE_BYTES, Recipe};
use results::AgeResults;
use zone_layout::ZoneLayout;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "age",
    question: "How much slower is it used than new?",
    writes: "writes all of its space at least once, which wears flash for good; only own files in a folder",
    manual: include_str!("age.md"),
};

/// The settings of an ageing run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgeOptions {
    /// How the drive is aged.
    pub recipe: Recipe,
    /// How much: bytes of the fill, of the overwrites after it, or of the small files; as much as the space has otherwise.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of address space that are aged, from the start of the drive; all of it otherwise.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub space: Option<u64>,
    /// Bytes of each file where the space is that of a folder. Small files have a size of their own.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Bytes that random writes go over.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Time of the random writes of all passes together, unless they come to as many bytes as the span has before.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Random I/Os in flight.
    pub depth: u32,
    /// Equal parts that everything is measured in.
    pub passes: u32,
    /// A rest after which everything is measured once more; none if 0.
    #[serde(with = "duration_text")]
    pub rest: Nanos,
    /// Whether deleting a small file trims what it held, where that is not the file system's own business.
    pub trim: bool,
    /// What is written.
    pub data: DataClass,
}

impl Default for AgeOptions {
    /// AnandTech's of 2009: 4 KiB at random over 8 GB with 3 in flight for 3 minutes, after every address was written once.
    fn default() -> Self {
        Self {
            recipe: Recipe::Fill,
            bytes: None,
            space: None,
            file_size: 1 << 30,
            span: 8 << 30,
            time: Nanos::from_secs(180),
            depth: 3,
            passes: 5,
            rest: Nanos::ZERO,
            trim: false,
            data: DataClass::Random,
        }
    }
}

/// Spans are multiples of this.
pub const SPAN_STEP: u64 = 16 << 20;
/// The zone of applications has this part of the span.
const FILES_PART: u64 = 4;

impl AgeOptions {
    /// Bytes that hold the data of applications.
    fn files_bytes(&self) -> u64 {
        self.span / FILES_PART
    }
}

/// The procedure.
pub struct Age {
    options: AgeOptions,
}

impl Age {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("age", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: AgeOptions) -> Result<Self, String> {
        let AgeOptions { passes, time, rest, span, depth, file_size, .. } = options;
        let day = Nanos::from_secs(86_400);
        if span < SPAN_STEP || !span.is_multiple_of(SPAN_STEP) || span > 1 << 50 {
            return Err(format!("span = {span} bytes is not a multiple of 16 MiB in 16MiB..1PiB"));
        }
        if passes == 0 || passes > 100 {
            return Err(format!("passes = {passes} is not in 1..100"));
        }
        if options.files_bytes() / u64::from(passes) < 1 << 20 {
            return Err(format!(
                "passes = {passes} are too many for a span of {span} bytes: each needs 4 MiB of it"
            ));
        }
        if time < Nanos::from_millis(u64::from(passes)) || time > day {
            return Err(format!("time = {time} is not in 1ms..24h for each of the passes"));
        }
        if rest > Nanos(day.0 * 30) {
            return Err(format!("rest = {rest} is not in 0..30d"));
        }
        if depth == 0 || u64::from(depth) > DEPTH_LIMIT {
            return Err(format!("depth = {depth} is not in 1..{DEPTH_LIMIT}"));
        }
        if file_size == 0 || !file_size.is_multiple_of(1 << 20) {
            return Err(format!("file_size = {file_size} bytes is not a multiple of 1 MiB"));
        }
        if options.trim && options.recipe != Recipe::Churn {
            return Err(format!("trim: the recipe {} deletes nothing; churn does", options.recipe));
        }
        Ok(Self { options })
    }

    /// Everything it would run on this drive, in order.
    fn workloads(&self, evidence: &Evidence) -> Result<Vec<Workload>, String> {
        let options = &self.options;
        let zones = ZoneLayout::lay_out(options, &evidence.geometry)?;
        if let Some(bytes) = options.bytes {
            recipe::check_bytes(bytes, zones.space.end)?;
        }
        if options.trim && !evidence.geometry.trims {
            return Err("trim: this drive takes no TRIM; leave it off".into());
        }
        let mut workloads = phase::workloads(Phase::New, options, &zones);
        workloads.extend(recipe::workloads(options, &zones));
        workloads.extend(phase::workloads(Phase::Used, options, &zones));
        if self.has_rest() {
            workloads.push(Workload::rest(options.rest));
            workloads.extend(phase::workloads(Phase::Rested, options, &zones));
        }
        for (index, workload) in workloads.iter_mut().enumerate() {
            workload.seed = evidence.plan.seed_of(index);
        }
        Ok(workloads)
    }

    fn has_rest(&self) -> bool {
        self.options.rest > Nanos::ZERO
    }

    /// Bytes of each file of a folder.
    fn file_bytes(&self) -> u64 {
        if self.options.recipe == Recipe::Churn { u64::from(FILE_BYTES) } else { self.options.file_size }
    }
}

impl Procedure for Age {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        let file_bytes = self.file_bytes();
        let files = self.options.space.map_or(1, |space| space / file_bytes);
        Layout { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes }
    }

    fn always_confirms(&self) -> bool {
        true
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let next = self.workloads(evidence)?.into_iter().nth(evidence.segments.len());
        Ok(next.map_or(Step::Done, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let measured = AgeResults::from_evidence(evidence, self.options.passes);
        let (comparisons, applications) = (measured.comparisons(), measured.applications());
        let mut findings =
            Findings { verdicts: self.verdicts(evidence, &comparisons), ..Findings::default() };
        findings.verdicts.extend(refusals(&evidence.segments));
        findings.verdicts.extend(self.remainder(evidence));
        for (name, rows) in [("new_vs_used", &comparisons), ("applications", &applications)] {
            let known = rows.iter().filter(|of| of.value(Phase::New).is_some());
            findings.tables.insert(name.into(), known.map(|of| of.row(self.has_rest())).collect());
        }
        let intervals = comparisons.iter().chain(&applications).flat_map(Comparison::intervals);
        findings.tables.insert("intervals".into(), intervals.collect());
        let pictures = [
            ("used_vs_new", pictures::speed_against_new(&comparisons)),
            ("random_writes", pictures::random_writes(&measured)),
            ("ageing", pictures::ageing(&evidence.segments)),
        ];
        findings
            .series
            .extend(pictures.into_iter().filter_map(|(name, series)| Some((name.to_owned(), series?))));
        findings
    }
}

impl Age {
    /// Most important first: random writes, which fall furthest, and what there is to say of the ageing.
    fn verdicts(&self, evidence: &Evidence, comparisons: &[Comparison]) -> Vec<Verdict> {
        let [writes, mean, _, longest, sequential, random_reads, sequential_reads, score] = comparisons
        else {
            unreachable!("the table has eight lines")
        };
        let stayed = verdicts::reads_unchanged(random_reads, sequential_reads);
        let is_alone = evidence.geometry.clock == Clock::Virtual || stayed;
        let first = verdicts::change(writes, "Random writes", is_alone).map(|verdict| {
            let ageing = verdicts::ageing(&evidence.segments, self.options.recipe);
            let latencies = [mean, longest].into_iter().filter_map(verdicts::change_range);
            let verdict = latencies.chain(ageing).fold(verdict, Verdict::with_evidence);
            verdicts::no_reference_reason(&evidence.identity).into_iter().fold(verdict, Verdict::caveat)
        });
        let score = verdicts::change(score, "The application score", is_alone).map(|verdict| {
            verdict.with_evidence("it is made of ten mixes of I/O with the published counts of PCMark 8, and is not the score of PCMark")
        });
        let others = [
            verdicts::change(sequential, "Sequential writes", is_alone),
            score,
            verdicts::reads(random_reads, sequential_reads),
            verdicts::rest(writes, self.options.rest),
        ];
        first.into_iter().chain(others.into_iter().flatten()).collect()
    }

    /// Says so when the run ended before its end.
    fn remainder(&self, evidence: &Evidence) -> Option<Verdict> {
        let wanted = self.workloads(evidence).ok()?.len();
        let done = evidence.segments.len();
        (done < wanted).then(|| {
            Verdict::new("New and used were both measured to the end.", Standing::Fails)
                .with_evidence(format!("{done} of {wanted} workloads were run, until the run ended"))
        })
    }
}
