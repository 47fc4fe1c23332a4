//! New against used: measures a drive, ages it by a recipe, and measures the same again.

mod answers;
mod results;
mod wording;
mod workloads;

use std::fmt;
use std::str::FromStr;

use likenew_core::findings::Findings;
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Steps};
use likenew_core::serde_as_text;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_core::workload::{DEPTH_LIMIT, Workload};
use likenew_procedure_support::options::{DAY, check_multiple, check_range, options};
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::wording::{answer_as_summary, ended_early, out_of_range};
use serde::{Deserialize, Serialize};

use answers::{NOTICED_PERCENT, answers};
use results::{AgeResults, Comparison};
pub use wording::DESCRIPTOR;
pub use workloads::FILE_BYTES;
use workloads::{Part, Phase, ZoneLayout, aging_workloads, check_bytes, phase_workloads};

/// The settings of an aging run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgeOptions {
    /// How the drive is aged.
    pub recipe: Recipe,
    /// Bytes of the fill, of the overwrites after it, or of the small files; by default as many as the span
    /// has.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of address space to age, from the start of the drive; all of it by default.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// Bytes of each file in a folder. Small files have sizes of their own.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Bytes of address space for the random writes that are timed.
    #[serde(with = "size_text")]
    pub random_span: u64,
    /// Time of the random writes of all passes together; they end earlier once they have written as many
    /// bytes as the random span has.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Queue depth of random I/Os.
    pub depth: u32,
    /// Equal parts in which everything is measured.
    pub passes: u32,
    /// Idle time after which everything is measured once more; 0 for none.
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// Whether deleting a small file also trims its space, on a target without a file system that does.
    pub trim: bool,
    /// Content of writes.
    pub data: DataClass,
}

impl Default for AgeOptions {
    /// AnandTech's of 2009: 4 KiB at random over 8 GB at QD3 for 3 minutes, after every address was written
    /// once.
    fn default() -> Self {
        Self {
            recipe: Recipe::Fill,
            bytes: None,
            span: None,
            file_size: 1 << 30,
            random_span: 8 << 30,
            time: Nanos::from_secs(180),
            depth: 3,
            passes: 5,
            idle: Nanos::ZERO,
            trim: false,
            data: DataClass::Random,
        }
    }
}

/// Random spans are multiples of this.
pub const RANDOM_SPAN_STEP: u64 = 16 << 20;
/// The zone of applications is one part in this many of the random span.
const FILES_PART: u64 = 4;

impl AgeOptions {
    /// Bytes of the zone of applications.
    fn files_bytes(&self) -> u64 {
        self.random_span / FILES_PART
    }
}

/// The procedure.
pub struct Age {
    options: AgeOptions,
}

impl Age {
    /// From the settings of a plan.
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
        let AgeOptions { passes, time, idle, random_span, depth, file_size, .. } = options;
        if random_span < RANDOM_SPAN_STEP
            || !random_span.is_multiple_of(RANDOM_SPAN_STEP)
            || random_span > 1 << 50
        {
            return Err(wording::random_span_has_wrong_size(random_span));
        }
        check_range("passes", passes, 1..=100)?;
        if options.files_bytes() / u64::from(passes) < 1 << 20 {
            return Err(wording::too_many_passes(passes, random_span));
        }
        if !(Nanos::from_millis(u64::from(passes))..=DAY).contains(&time) {
            return Err(out_of_range("time", time, format!("{passes}ms"), "24h"));
        }
        if idle > Nanos(DAY.0 * 30) {
            return Err(out_of_range("idle", idle, 0, "30d"));
        }
        check_range("depth", u64::from(depth), 1..=DEPTH_LIMIT)?;
        check_multiple("file_size", file_size, 1 << 20)?;
        if options.trim && options.recipe != Recipe::Churn {
            return Err(wording::recipe_deletes_nothing(options.recipe));
        }
        Ok(Self { options })
    }

    /// Every workload on this drive, in the order they run, and what it is for.
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
        findings.answers.extend(refusals(&evidence.segments));
        let done = evidence.segments.len();
        findings.summary = match findings.answers.first() {
            Some(first) => summary.unwrap_or_else(|| answer_as_summary(first)),
            None => wording::nothing_to_compare(done, planned),
        };
        findings.answers.extend((done < planned).then(|| ended_early(done, planned)));
        spare_failing_drive(&mut findings.answers, evidence);
        self.add_overview(&mut findings, &comparisons);
        for (name, rows) in [("new_vs_used", &comparisons), ("applications", &applications)] {
            let known = rows.iter().filter(|of| of.value(Phase::New).is_some());
            findings.tables.insert(name.into(), known.map(|of| of.row(self.has_idle())).collect());
        }
        let intervals = comparisons.iter().chain(&applications).flat_map(Comparison::intervals);
        findings.tables.insert("intervals".into(), intervals.collect());
        let pictures = [
            ("used_vs_new", results::speed_against_new(&comparisons)),
            ("random_writes", results::random_writes(measured)),
            ("aging", results::aging(measured.aging())),
        ];
        findings
            .series
            .extend(pictures.into_iter().filter_map(|(name, series)| Some((name.to_owned(), series?))));
        findings
    }

    /// The table of new and used; below it the idle time, and what else is a problem or open.
    fn add_overview(&self, findings: &mut Findings, comparisons: &[Comparison]) {
        let known = comparisons.iter().filter(|of| of.value(Phase::New).is_some());
        let rows: Vec<wording::TableRow> = known.map(Comparison::cells).collect();
        let table = wording::table(&rows, self.has_idle(), NOTICED_PERCENT);
        findings.overview.table = (!table.rows.is_empty()).then_some(table);
        // The summary is the first answer, and the table shows the others.
        let in_table = ["sequential_write", "application_score", "random_read", "sequential_read"];
        let remarks =
            findings.answers.iter().skip(1).filter(|answer| !in_table.contains(&answer.id.as_str()));
        findings.overview.answers = remarks.map(|answer| answer.id.clone()).collect();
    }
}

/// What happens to a drive between the two measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recipe {
    /// Every address is written once, in sequence, as in AnandTech's tables of new and used drives (2009).
    #[default]
    Fill,
    /// A fill, then random overwrites of 4 KiB.
    Overwrite,
    /// Small files come and go, and the file system's own pages are rewritten beside them.
    Churn,
}

impl Recipe {
    /// All recipes.
    pub const ALL: [Self; 3] = [Self::Fill, Self::Overwrite, Self::Churn];
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fill => "fill",
            Self::Overwrite => "overwrite",
            Self::Churn => "churn",
        })
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|recipe| recipe.to_string() == text)
            .ok_or_else(|| wording::unknown_recipe(text))
    }
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
