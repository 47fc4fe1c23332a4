//! The settings of a check, and which of them make sense.

use likenew_core::drive::TargetKind;
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::units::size_text;
use likenew_diagnosis::{Indicator, Metric, Origin, Reference};
use serde::{Deserialize, Serialize};

use super::upgrade::UpgradeOptions;
use super::wording::{self, error};
use likenew_measuring::data::files::FileScan;
use likenew_procedure_support::options::options;

/// The settings of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckOptions {
    /// Most bytes to write; 0 for none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// Whether the check may take minutes and write tens of gigabytes, which some causes need.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thorough: bool,
    /// Region of a simulated drive without files of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<Region>,
    /// Date and time of the baseline, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_date: Option<String>,
    /// Date of the check of another drive of the model, if it is compared with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_drive_date: Option<String>,
    /// Whether the drive is on another machine, known only by outputs of programs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_outputs: bool,
    /// Metrics that programs on that machine measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<MeasuredOption>,
    /// What other drives of the model reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeersOption>,
    /// The references of metrics.
    #[serde(default, rename = "reference", skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceOption>,
    /// The catalog entry of a real drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_match: Option<CatalogMatch>,
    /// The normal value of each indicator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normal: Vec<IndicatorOption>,
    /// Contents of the user's files, from a scan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileScan>,
    /// Whether a new drive is worth it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<UpgradeOptions>,
}

/// The catalog entry that matches a real drive's model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogMatch {
    /// The model that the drive reports.
    pub model: String,
    /// The name of the entry.
    pub entry: String,
}

/// A metric that another program measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredOption {
    /// Which metric.
    pub metric: Metric,
    /// In bytes a second; for small I/Os in IOPS.
    pub per_s: f64,
}

/// A metric of other drives of the same model, each by its latest check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeersOption {
    /// Which metric.
    pub metric: Metric,
    /// In bytes a second; for small I/Os in IOPS.
    pub per_s: Vec<f64>,
}

/// The normal value of an indicator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndicatorOption {
    /// Which indicator.
    pub indicator: Indicator,
    /// Its normal value.
    pub value: f64,
}

/// The reference of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceOption {
    /// Which metric.
    pub metric: Metric,
    /// Its origin.
    pub origin: Origin,
    /// In bytes a second; for small I/Os in IOPS.
    pub per_s: f64,
    /// How much it varies between checks of an unchanged drive: standard deviation of its logarithm.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeatability: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl CheckOptions {
    /// Default limit of bytes written.
    pub const BYTES: u64 = 2 << 30;
    /// Default limit of bytes written by a thorough check.
    pub const BYTES_THOROUGH: u64 = 64 << 30;
    /// Sequential writes get one in so many of the allowed bytes; the rest is for writing parts of the area
    /// again.
    pub const PARTS: u64 = 4;
    /// Smallest area that shows anything, in bytes.
    pub const AREA_LEAST: u64 = 32 << 20;
    /// Fewest allowed bytes with which writes show anything.
    pub const BYTES_LEAST: u64 = Self::AREA_LEAST * Self::PARTS;
    /// Smallest read-only target that shows anything, in bytes, because regions of a smaller one would overlap.
    pub const READABLE_LEAST: u64 = 16 << 20;
    /// The area is a multiple of this.
    pub const AREA_STEP: u64 = 4 << 20;

    /// From the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_table(table: &toml::Table) -> Result<Self, String> {
        let parsed: Self = options("check", table)?;
        parsed.check().map(|()| parsed)
    }

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_wrong = |value: f64| !(value.is_finite() && value > 0.0);
        if let Some(reference) = self.references.iter().find(|reference| is_wrong(reference.per_s)) {
            return Err(error::above_zero("reference.per_s", reference.per_s));
        }
        if let Some(reference) = self
            .references
            .iter()
            .find(|reference| !(reference.repeatability.is_finite() && reference.repeatability >= 0.0))
        {
            return Err(error::not_negative("reference.repeatability", reference.repeatability));
        }
        if let Some(per_s) = self.peers.iter().flat_map(|peer| &peer.per_s).find(|per_s| is_wrong(**per_s)) {
            return Err(error::above_zero("peers.per_s", *per_s));
        }
        if let Some(measured) = self.measured.iter().find(|measured| is_wrong(measured.per_s)) {
            return Err(error::above_zero("measured.per_s", measured.per_s));
        }
        if let Some(normal) = self.normal.iter().find(|normal| is_wrong(normal.value)) {
            return Err(error::above_zero("normal.value", normal.value));
        }
        self.files.as_ref().map_or(Ok(()), FileScan::check)?;
        self.upgrade.as_ref().map_or(Ok(()), UpgradeOptions::check)
    }

    /// Most bytes to write.
    pub fn budget(&self) -> u64 {
        self.bytes.unwrap_or(if self.thorough { Self::BYTES_THOROUGH } else { Self::BYTES })
    }

    /// The limit of bytes that this metric depends on: sustained writes are a different test with fewer bytes.
    pub fn bytes_of(&self, metric: Metric) -> Option<u64> {
        (metric == Metric::SustainedWrite).then(|| self.budget())
    }

    /// Bytes to write sequentially on a drive with this many writable bytes.
    pub fn area(&self, writable_bytes: u64) -> u64 {
        let area = (self.budget() / Self::PARTS).min(writable_bytes / 2);
        area - area % Self::AREA_STEP
    }

    /// Bytes to write sequentially on the open drive; in a folder, the size of its temporary files.
    pub(super) fn area_of(&self, evidence: &Evidence) -> u64 {
        let capacity = evidence.geometry.capacity;
        match evidence.identity.kind {
            TargetKind::Folder => {
                let area = (self.budget() / Self::PARTS).min(capacity);
                area - area % Self::AREA_STEP
            }
            _ => self.area(capacity),
        }
    }

    /// Why writes are not tested, if they are not.
    pub(super) fn obstacle(&self, evidence: &Evidence) -> Option<String> {
        let area = self.area_of(evidence);
        if !evidence.geometry.writable {
            Some(wording::read_only())
        } else if area < Self::AREA_LEAST {
            Some(wording::too_small(area, Self::AREA_LEAST))
        } else {
            None
        }
    }

    /// The references of metrics in the plan.
    pub(super) fn references(&self) -> Vec<Reference> {
        let reference = |option: &ReferenceOption| {
            let ReferenceOption { metric, origin, per_s, repeatability } = *option;
            Reference { repeatability, ..Reference::new(metric, origin, per_s) }
        };
        self.references.iter().map(reference).collect()
    }
}
