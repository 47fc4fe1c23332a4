//! Baseline files: what one drive did in a check, without its serial number, as a reference for other drives of its model.

use std::collections::BTreeMap;

use likenew_core::drive::TargetKind;
use likenew_core::facts::Facts;
use likenew_core::findings::Findings;
use likenew_core::input::one_line;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::units::size_text;
use likenew_diagnosis::{Metric, Origin};
use serde::{Deserialize, Serialize};

use super::references::{CheckHistory, CheckMetrics};
use super::wording::{self, error};
use super::{CheckOptions, ReferenceOption};

/// What two drives of one model have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveModel {
    /// As the drive reports it.
    pub model: String,
    /// Capacity of the whole drive.
    pub capacity_bytes: u64,
    /// The file system that small writes went through; `None` if they went to the drive itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
}

impl DriveModel {
    /// The model of the one real drive below the target; `None` if something hides that drive's own speed.
    pub fn of_facts(facts: &Facts) -> Option<Self> {
        let identity = &facts.plain_drive()?.identity;
        Some(Self {
            model: identity.model.value()?.trim().to_owned(),
            capacity_bytes: identity.capacity_bytes.get()?,
            file_system: facts.file_system.as_ref().and_then(|file_system| file_system.kind.value().cloned()),
        })
    }

    /// Returns the given drive if it is of this model.
    ///
    /// # Errors
    /// A sentence that says that its model is another one, or not known.
    pub fn check<'a>(&self, drive: Option<&'a Self>) -> Result<&'a Self, String> {
        let drive = drive.ok_or_else(error::no_model_to_compare)?;
        if drive.model == self.model && drive.capacity_bytes == self.capacity_bytes {
            return Ok(drive);
        }
        Err(error::other_model((&self.model, self.capacity_bytes), (&drive.model, drive.capacity_bytes)))
    }

    /// The model of the drive that a check measured.
    fn of_evidence(evidence: &Evidence) -> Option<Self> {
        let identity = &evidence.identity;
        match (identity.kind, &identity.model) {
            (TargetKind::Simulated, Some(model)) => Some(Self {
                model: model.clone(),
                capacity_bytes: identity.capacity_bytes,
                file_system: None,
            }),
            _ => Self::of_facts(
                evidence.observations.iter().find_map(|observation| observation.result.facts())?,
            ),
        }
    }
}

/// What one drive did in a check, as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineFile {
    /// The drive's model.
    pub drive: DriveModel,
    /// Date of the check, as `2026-11-29`.
    pub checked: String,
    /// Most bytes that the check was allowed to write.
    #[serde(with = "size_text")]
    bytes: u64,
    /// In bytes a second; of small I/Os in IOPS.
    metrics: BTreeMap<Metric, f64>,
}

/// Rounds to four digits, because no check repeats more exactly.
fn rounded(per_s: f64) -> f64 {
    format!("{per_s:.3e}").parse().expect("a number is read as it was written")
}

impl BaselineFile {
    /// From a finished check that began at `started_at`. Reads count only if they met data, because a drive
    /// answers for blank addresses without its medium.
    ///
    /// # Errors
    /// A sentence that says why this check is no baseline.
    pub fn new(
        evidence: &Evidence,
        findings: &Findings,
        started_at: &str,
        reads_met_data: bool,
    ) -> Result<Self, String> {
        if evidence.plan.procedure != super::DESCRIPTOR.name || findings.is_interrupted {
            return Err(error::baseline_of_no_check(&evidence.plan.procedure));
        }
        if findings.found_problem() {
            return Err(error::baseline_of_slow_drive(&findings.summary));
        }
        Ok(Self {
            drive: DriveModel::of_evidence(evidence).ok_or_else(error::baseline_of_unknown_model)?,
            checked: started_at.get(..10).unwrap_or(started_at).to_owned(),
            bytes: CheckOptions::from_table(&evidence.plan.options)?.budget(),
            metrics: CheckMetrics::from_findings(findings)
                .metrics
                .into_iter()
                .filter(|(metric, _)| reads_met_data || metric.op() != Op::Read)
                .map(|(metric, per_s)| (metric, rounded(per_s)))
                .collect(),
        })
    }

    /// Whether a text is a baseline file, and not the file of a simulated drive.
    pub fn is_one(text: &str) -> bool {
        text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("metrics"))
    }

    /// Reads a baseline file.
    ///
    /// # Errors
    /// A sentence with the line and the key that is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).unwrap_or(text).matches('\n').count() + 1;
            error::baseline_file(line, &one_line(error.message()))
        })?;
        match file.metrics.values().find(|per_s| !(per_s.is_finite() && **per_s > 0.0)) {
            Some(wrong) => Err(error::above_zero("a metric", *wrong)),
            None => Ok(file),
        }
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        let body = toml::to_string(self).expect("a baseline is plain values");
        format!("{}{body}", wording::BASELINE_FILE_HEAD)
    }

    /// References for another drive's check, without what it measures differently, such as small writes to another file system.
    ///
    /// # Errors
    /// A sentence that says that the other drive is not of this model.
    pub fn references_for(
        &self,
        drive: Option<&DriveModel>,
        check: &CheckOptions,
    ) -> Result<Vec<ReferenceOption>, String> {
        let drive = self.drive.check(drive)?;
        let then = CheckOptions { bytes: Some(self.bytes), ..CheckOptions::default() };
        let has_same_files = drive.file_system == self.drive.file_system;
        let is_alike = |metric: Metric| {
            then.bytes_of(metric) == check.bytes_of(metric)
                && (has_same_files || metric != Metric::RandomWrite)
        };
        let alike = self.metrics.iter().filter(|(metric, _)| is_alike(**metric));
        Ok(alike
            .map(|(metric, per_s)| ReferenceOption {
                metric: *metric,
                origin: Origin::OtherDrive,
                per_s: *per_s,
                repeatability: CheckHistory::assumed(false),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
checked = "2026-11-29"
bytes = "2GiB"

[drive]
model = "Samsung SSD 980 PRO 1TB"
capacity_bytes = 1000204886016
file_system = "ext4"

[metrics]
sequential_read = 6.7e9
sustained_write = 1.9e9
random_write = 46000.0
"#;

    fn drive(model: &str, capacity_bytes: u64, file_system: Option<&str>) -> DriveModel {
        DriveModel { model: model.into(), capacity_bytes, file_system: file_system.map(str::to_owned) }
    }

    fn compared(drive: &DriveModel, check: &CheckOptions) -> Vec<Metric> {
        let references = BaselineFile::read(FILE).unwrap().references_for(Some(drive), check).unwrap();
        assert!(references.iter().all(|reference| reference.origin == Origin::OtherDrive));
        references.iter().map(|reference| reference.metric).collect()
    }

    #[test]
    fn only_what_both_measure_alike_is_compared() {
        let default_check = CheckOptions::default();
        let same = drive("Samsung SSD 980 PRO 1TB", 1_000_204_886_016, Some("ext4"));
        let metrics = [Metric::SequentialRead, Metric::SustainedWrite, Metric::RandomWrite];
        assert_eq!(compared(&same, &default_check), metrics);
        let raw = DriveModel { file_system: None, ..same.clone() };
        assert_eq!(compared(&raw, &default_check), metrics[..2]);
        let short = CheckOptions { bytes: Some(256 << 20), ..default_check };
        assert_eq!(compared(&same, &short), [Metric::SequentialRead, Metric::RandomWrite]);
    }

    #[test]
    fn a_drive_of_another_model_or_size_is_refused() {
        let file = BaselineFile::read(FILE).unwrap();
        let refused =
            |drive: Option<&DriveModel>| file.references_for(drive, &CheckOptions::default()).unwrap_err();
        let larger = drive("Samsung SSD 980 PRO 1TB", 2_000_398_934_016, None);
        let other = drive("Samsung SSD 980 1TB", 1_000_204_886_016, None);
        assert!(refused(Some(&larger)).contains("1.82 TiB"), "{}", refused(Some(&larger)));
        assert!(refused(Some(&other)).contains("a Samsung SSD 980 1TB ("));
        assert!(refused(None).contains("does not tell"));
    }

    #[test]
    fn a_file_is_written_as_it_is_read_and_a_wrong_line_is_named() {
        let file = BaselineFile::read(FILE).unwrap();
        assert_eq!(BaselineFile::read(&file.text()), Ok(file));
        for (from, to, said) in [
            ("bytes = ", "byte = ", "line 3"),
            ("6.7e9", "0", "above 0"),
            ("6.7e9", "nan", "above 0"),
            ("sustained_write", "speed", "line 12: unknown variant `speed`"),
        ] {
            let error = BaselineFile::read(&FILE.replace(from, to)).unwrap_err();
            assert!(error.contains(said), "{to}: {error}");
        }
    }
}
