//! Measures a drive, ages it by writing, and measures it again: how much slower does use make it?

mod results;
mod wording;
mod workloads;

use clap::ArgAction::Set;
use clap::Args;
use likenew_core::findings::Findings;
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Steps};
use likenew_core::serde_as_text;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{DEPTH_LIMIT, Workload};
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};
use likenew_procedure_support::fit::{Fitting, Options, Unfit, file_size_to_fill, on_or_off};
use likenew_procedure_support::options::{DAY, check_multiple, check_range};
use likenew_procedure_support::overview::list_below_summary;
use likenew_procedure_support::wording::{answer_as_summary, ended_early, out_of_range, too_small_for};
use serde::{Deserialize, Serialize};

use results::{AgeResults, NOTICED_PERCENT, answers};
pub use wording::DESCRIPTOR;
pub use workloads::FILE_BYTES;
use workloads::{Part, ZoneLayout, aging_workloads, check_bytes, phase_workloads};

/// Measure, age the drive, and measure again: new against used
///
/// The defaults are AnandTech's of 2009: 4 KiB at random over 8 GB at QD3 for 3 minutes, after every address was written once.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct AgeOptions {
    /// How to age it: fill (write every address once), overwrite (fill, then random 4K writes), churn (create and
    /// delete small files)
    #[arg(long, default_value = "fill", value_name = "NAME")]
    pub recipe: Recipe,
    /// How much to write while aging, after the fill of overwrite [default: as much as the span holds]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Address space to age [default: all of a simulated drive or of the free space; 1GiB for churn]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// Bytes of each file in a folder. Small files have sizes of their own.
    #[arg(skip = 1u64 << 30)]
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Address space for the random writes that are timed [default: 8GiB, at most a quarter of the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "8GiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub random_span: u64,
    /// Time for the random writes of all passes together
    #[arg(long, visible_alias = "runtime", default_value = "180s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 3, value_name = "N")]
    pub depth: u32,
    /// Passes of each measurement; more passes narrow the interval of a change
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub passes: u32,
    /// Then leave the drive idle this long and measure once more: some drives recover
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// Send TRIM for deleted files of the churn recipe (simulated drives)
    #[arg(long, action = Set, default_value = "off", value_parser = on_or_off(), value_name = "on|off")]
    pub trim: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
}

impl Options for AgeOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;
    const WRITES: bool = true;

    /// In a folder, sets the span and the size of files. Limits the random span to a quarter of the span, so that measuring
    /// does not age the drive.
    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        /// The random span is at most the span divided by this.
        const RANDOM_SPAN_DIVISOR: u64 = 4;
        /// Most small files that fill a folder, because all of them stay open.
        const SMALL_FILES_MAX: u64 = 16_384;
        let too_little = |bytes| too_small_for("aging", bytes, RANDOM_SPAN_STEP * RANDOM_SPAN_DIVISOR);
        let (usable, small) = (fitting.usable()?, u64::from(FILE_BYTES));
        if fitting.is_folder {
            let is_churn = self.recipe == Recipe::Churn;
            let span_max = if is_churn { usable.min(SMALL_FILES_MAX * small) } else { usable };
            let span = self.span.unwrap_or(span_max);
            let file_size = if is_churn { small } else { file_size_to_fill(span) };
            if span < file_size {
                return Err(too_little(span).into());
            }
            self.span = Some(span - span % file_size);
            if !is_churn && !(fitting.is_chosen)("file_size") {
                self.file_size = file_size;
            }
        }
        if !(fitting.is_chosen)("random_span") {
            let span_max = self.span.unwrap_or(usable) / RANDOM_SPAN_DIVISOR;
            self.random_span = self.random_span.min(span_max - span_max % RANDOM_SPAN_STEP);
            if self.random_span == 0 {
                return Err(too_little(self.span.unwrap_or(usable)).into());
            }
        }
        Ok(())
    }
}

/// Random spans are multiples of this, in bytes.
pub const RANDOM_SPAN_STEP: u64 = 16 << 20;
/// Largest random span, in bytes. Chosen: beyond any drive.
const RANDOM_SPAN_MAX: u64 = 1 << 50;
/// The zone of applications is the random span divided by this.
const APPLICATION_ZONE_DIVISOR: u64 = 4;
/// Fewest bytes of a pass over that zone, and the unit of the size of files: the longest sequential I/O.
const MIB: u64 = 1 << 20;

impl AgeOptions {
    /// Bytes of the zone of applications.
    fn application_zone_bytes(&self) -> u64 {
        self.random_span / APPLICATION_ZONE_DIVISOR
    }
}

/// The procedure.
pub struct Age {
    options: AgeOptions,
}

impl Age {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: AgeOptions) -> Result<Self, String> {
        let AgeOptions { passes, time, idle, random_span, depth, file_size, .. } = options;
        if random_span < RANDOM_SPAN_STEP
            || !random_span.is_multiple_of(RANDOM_SPAN_STEP)
            || random_span > RANDOM_SPAN_MAX
        {
            return Err(wording::random_span_has_wrong_size(random_span));
        }
        check_range("passes", passes, 1..=100)?;
        if options.application_zone_bytes() / u64::from(passes) < MIB {
            return Err(wording::too_many_passes(passes, random_span));
        }
        if !(Nanos::from_millis(u64::from(passes))..=DAY).contains(&time) {
            return Err(out_of_range("time", time, format!("{passes}ms"), "24h"));
        }
        if idle > Nanos(DAY.0 * 30) {
            return Err(out_of_range("idle", idle, 0, "30d"));
        }
        check_range("depth", u64::from(depth), 1..=DEPTH_LIMIT)?;
        check_multiple("file_size", file_size, MIB)?;
        if options.trim && options.recipe != Recipe::Churn {
            return Err(wording::recipe_deletes_nothing(options.recipe));
        }
        Ok(Self { options })
    }

    /// Every workload on this drive with its purpose, in the order they run.
    fn workloads(&self, evidence: &Evidence) -> Result<Vec<(Part, Workload)>, String> {
        let options = &self.options;
        let zones = ZoneLayout::lay_out(options, &evidence.geometry)?;
        if let Some(bytes) = options.bytes {
            check_bytes(bytes, zones.span.end)?;
        }
        if options.trim && !evidence.geometry.trims {
            return Err(wording::drive_ignores_trim());
        }
        let mut workloads = phase_workloads(Phase::New, options, &zones);
        workloads
            .extend(aging_workloads(options, &zones).into_iter().map(|workload| (Part::Aging, workload)));
        workloads.extend(phase_workloads(Phase::Used, options, &zones));
        if self.has_idle() {
            workloads.push((Part::Other, Workload::rest(options.idle)));
            workloads.extend(phase_workloads(Phase::AfterIdle, options, &zones));
        }
        Ok(workloads)
    }

    fn has_idle(&self) -> bool {
        self.options.idle > Nanos::ZERO
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
        let files = self.options.span.map_or(1, |span| span / file_bytes);
        Layout { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes }
    }

    fn always_confirms(&self) -> bool {
        true
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let workloads = self.workloads(steps.evidence())?;
        let planned = workloads.len();
        let mut measured = AgeResults { parts: Vec::new(), passes: self.options.passes };
        for (part, workload) in workloads {
            // No further step is measured then; what was measured is judged.
            let Ok(segment) = steps.run_seeded(|| workload) else { break };
            measured.parts.push((part, segment));
        }
        Ok(steps.conclude(|evidence| self.findings(evidence, &measured, planned)))
    }
}

impl Age {
    fn findings(&self, evidence: &Evidence, measured: &AgeResults<'_>, planned: usize) -> Findings {
        let (comparisons, applications) = (measured.comparisons(), measured.applications());
        let (summary, answers) = answers(&self.options, evidence, measured, &comparisons);
        let mut findings = Findings { answers, ..Findings::default() };
        findings.answers.extend(failure_answers(&evidence.segments));
        let done = evidence.segments.len();
        findings.summary = match findings.answers.first() {
            Some(first) => summary.unwrap_or_else(|| answer_as_summary(first)),
            None => wording::nothing_to_compare(done, planned),
        };
        findings.answers.extend((done < planned).then(|| ended_early(done, planned)));
        spare_failing_drive(&mut findings.answers, evidence);
        self.add_overview(&mut findings, &comparisons);
        for (name, rows) in [("new_vs_used", &comparisons), ("applications", &applications)] {
            let known = rows.iter().filter(|row| row.value(Phase::New).is_some());
            findings.tables.insert(name.into(), known.map(|row| row.row(self.has_idle())).collect());
        }
        let intervals = comparisons.iter().chain(&applications).flat_map(Comparison::intervals);
        findings.tables.insert("intervals".into(), intervals.collect());
        let pictures = [
            ("used_vs_new", results::speed_against_new(&comparisons)),
            ("random_writes", results::random_writes(measured)),
            ("aging", results::aging_series(measured.aging())),
        ];
        for (name, series) in pictures {
            findings.series.extend(series.map(|series| (name.to_owned(), series)));
        }
        findings
    }

    /// Adds the table of new and used, and below it every answer that neither the summary nor the table shows.
    fn add_overview(&self, findings: &mut Findings, comparisons: &[Comparison]) {
        let known = comparisons.iter().filter(|comparison| comparison.value(Phase::New).is_some());
        let known: Vec<&Comparison> = known.collect();
        findings.overview.table =
            (!known.is_empty()).then(|| wording::table(&known, self.has_idle(), NOTICED_PERCENT));
        // The summary repeats the first answer, and the table shows these.
        let in_table = ["sequential_write", "application_score", "random_read", "sequential_read"];
        list_below_summary(findings, |answer| !in_table.contains(&answer.id.as_str()));
    }
}

/// A measurement of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum Phase {
    /// Before the aging.
    New,
    /// Straight after the aging.
    Used,
    /// After the idle time.
    AfterIdle,
}

impl Phase {
    const ALL: [Self; 3] = [Self::New, Self::Used, Self::AfterIdle];

    /// What tables call it.
    fn key(self) -> &'static str {
        self.into()
    }

    /// What workloads call it.
    fn name(self) -> String {
        self.key().replace('_', " ")
    }
}

/// How the passes of a metric become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aggregate {
    Mean,
    /// The mean, for tests whose n-th pass covers the same part of the drive in each phase. Parts may differ by
    /// design, as on a disk, so each pass is compared with its counterpart.
    MeanOfPairs,
    /// The longest latency of any pass. It has no interval.
    Maximum,
}

/// One metric in all phases.
#[derive(Clone, Debug)]
struct Comparison {
    test: &'static str,
    /// The unit of its values: `bytes/s`, `ns` or `points`. Of times less is better, of the others more.
    unit: &'static str,
    aggregate: Aggregate,
    /// The value of each pass, by phase in the order of [`Phase::ALL`].
    passes: [Vec<f64>; 3],
}

/// How the drive is aged between the two measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = wording::unknown_recipe)]
pub enum Recipe {
    /// Every address is written once, in sequence, as in AnandTech's tables of new and used drives (2009).
    #[default]
    Fill,
    /// A fill, then random overwrites of 4 KiB.
    Overwrite,
    /// Small files are created and deleted, and file-system metadata is rewritten beside them.
    Churn,
}

impl Recipe {
    /// All recipes.
    pub const ALL: [Self; 3] = [Self::Fill, Self::Overwrite, Self::Churn];
}

serde_as_text!(Recipe);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_read_back_and_nonsense_does_not() {
        for recipe in Recipe::ALL {
            assert_eq!(recipe.to_string().parse(), Ok(recipe));
        }
        assert!("wear".parse::<Recipe>().unwrap_err().contains("churn"));
    }
}
