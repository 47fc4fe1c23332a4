//! Is a new drive worth it, and which one? Compares the waiting for the same work on this drive and on
//! others.
//!
//! The plan holds the results of the other drives; nothing is measured here.

mod mix;
mod saving;
mod tables;
mod upgrade_answers;
mod waits;

use likenew_core::findings::Findings;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

use super::wording::{self, error};
use upgrade_answers::UpgradeInput;

pub use mix::MixOption;
pub use waits::Waits;

/// Options of an upgrade comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpgradeOptions {
    /// The recorded day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingOption>,
    /// The mix of applications, which is also replayed on this drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixOption>,
    /// The result of each drive.
    #[serde(default, rename = "drive", skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<DriveOption>,
}

/// A recorded day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingOption {
    /// Its file.
    pub trace: String,
    /// Digest of its I/Os.
    pub digest: String,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Whether the recording has completion times; otherwise each program is taken to run one I/O after the
    /// other.
    pub knows_ends: bool,
}

/// A drive, and the waiting for the work on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveOption {
    /// Its name in tables.
    pub name: String,
    /// Its role in the comparison.
    pub role: Role,
    /// Whether it has fewer addresses than were recorded, so that they were scaled down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_scaled: bool,
    /// How full it was, in percent, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill_percent: Option<f64>,
    /// The waiting for the work; `None` if a recording does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}

/// The role of a drive in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The drive under test, as it is.
    Now,
    /// The same drive when new: what a fix could restore.
    AsNew,
    /// A possible replacement.
    Candidate,
}

impl UpgradeOptions {
    /// Whether these settings make sense.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.drives.iter().any(|drive| drive.role == Role::Candidate) {
            return Err(error::no_candidate());
        }
        match (&self.recording, &self.mix) {
            (Some(RecordingOption { elapsed_ns: 0, .. }), _) => {
                Err(error::above_zero("upgrade.recording.elapsed_ns", 0.0))
            }
            (Some(_), None) => Ok(()),
            (None, Some(mix)) => mix.check(),
            _ => Err(error::recording_or_mix()),
        }
    }

    /// The first drive in this role whose waiting is known.
    fn waits_of(&self, role: Role) -> Option<&Waits> {
        self.drives.iter().find(|drive| drive.role == role).and_then(|drive| drive.waits.as_ref())
    }

    /// The candidates, shortest waiting first.
    fn candidates(&self) -> Vec<(&DriveOption, &Waits)> {
        let known = self.drives.iter().filter(|drive| drive.role == Role::Candidate);
        let mut known: Vec<(&DriveOption, &Waits)> =
            known.filter_map(|drive| Some((drive, drive.waits.as_ref()?))).collect();
        known.sort_by(|one, other| one.1.blocking_ns.total_cmp(&other.1.blocking_ns));
        known
    }

    /// Time of the work including pauses, if known.
    fn elapsed(&self) -> Option<Nanos> {
        self.recording.as_ref().map(|recording| Nanos(recording.elapsed_ns))
    }

    /// The answer; with a mix, from its replay on this drive. `fix` is what would fix this drive, if that was
    /// found.
    pub(super) fn judge(&self, segments: &[Segment], fix: Option<&str>, findings: &mut Findings) {
        let mut options = self.clone();
        if let Some(mix) = &self.mix {
            let (name, waits) = (DriveOption::THIS_DRIVE.to_owned(), mix.waits(segments));
            let now = DriveOption { name, role: Role::Now, is_scaled: false, fill_percent: None, waits };
            options.drives.insert(0, now);
        }
        let mix_names = options.mix.as_ref().map(MixOption::names);
        let input = UpgradeInput { options: &options, fix, mix_names: mix_names.as_deref() };
        let answers = input.answers();
        if let Some(first) = answers.first() {
            findings.summary = wording::upgrade_summary(&findings.summary, first);
        }
        // For a single candidate the summary says everything.
        if answers.len() > 1 {
            let mut listed: Vec<String> = answers.iter().map(|answer| answer.id.clone()).collect();
            listed.dedup();
            findings.overview.answers.splice(0..0, listed);
        }
        findings.answers.extend(answers);
        tables::put(&options, findings);
    }
}

impl DriveOption {
    /// The drive under test in tables.
    pub const THIS_DRIVE: &str = "this drive";
}
