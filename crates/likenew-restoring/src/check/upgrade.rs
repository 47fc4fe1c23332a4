//! Is a new drive worth it, and which? The same work, as it was waited for on this drive and as it would be on
//! others.
//!
//! What others do stands in the plan, as whoever made it found out; nothing is measured here.

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

/// What is compared, and what it is compared on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpgradeOptions {
    /// The recorded day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingOption>,
    /// The mix of applications, which is played on this drive, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixOption>,
    /// What each drive made of it.
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
    /// Whether the recording knows the ends of its I/Os; otherwise each program is taken to do one after the other.
    pub knows_ends: bool,
}

/// A drive, and how long the work was waited for on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveOption {
    /// As tables call it.
    pub name: String,
    /// What it is to the question.
    pub role: Role,
    /// Whether it has fewer addresses than were recorded, so that all of them were brought closer together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_scaled: bool,
    /// How full it was, in percent, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill_percent: Option<f64>,
    /// How long the work was waited for; unknown where a recording does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}

/// What a drive is to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The drive that is checked, as it is.
    Now,
    /// The same on its first day: what a fix could bring back.
    AsNew,
    /// One to replace it by.
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

    /// The drive in this role that came first, as far as it is known how long was waited for it.
    fn waits_of(&self, role: Role) -> Option<&Waits> {
        self.drives.iter().find(|drive| drive.role == role).and_then(|drive| drive.waits.as_ref())
    }

    /// The candidates, least waited for first.
    fn candidates(&self) -> Vec<(&DriveOption, &Waits)> {
        let known = self.drives.iter().filter(|drive| drive.role == Role::Candidate);
        let mut known: Vec<(&DriveOption, &Waits)> =
            known.filter_map(|drive| Some((drive, drive.waits.as_ref()?))).collect();
        known.sort_by(|one, other| one.1.blocking_ns.total_cmp(&other.1.blocking_ns));
        known
    }

    /// How long the work took with its pauses, where that is known.
    fn elapsed(&self) -> Option<Nanos> {
        self.recording.as_ref().map(|recording| Nanos(recording.elapsed_ns))
    }

    /// The answer, from what was played on this drive where a mix was. `fix` is what would fix it, if that was found.
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
            findings.summary = wording::upgrade_summary(&findings.summary, &first.answer);
        }
        // The summary says all that there is to say of a single candidate.
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
    /// What tables call the drive that is checked.
    pub const THIS_DRIVE: &str = "this drive";
}
