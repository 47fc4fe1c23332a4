//! The options of recondition, and which of them make sense.

use std::path::PathBuf;

use likenew_core::region::Region;
use likenew_core::units::{Nanos, duration_text, size_text};
use serde::{Deserialize, Serialize};

use super::step_name::StepName;
use super::wording;
use crate::check::CheckOptions;
use likenew_procedure_support::options::options;
use likenew_procedure_support::wording::out_of_range;

/// What a drive erases when it formats itself. A format that erases nothing guarantees nothing, so it is not
/// one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Erase {
    /// All user data (secure erase settings 1).
    #[default]
    UserData,
    /// The key that all of it is encrypted with (2).
    Key,
}

impl Erase {
    fn is_user_data(&self) -> bool {
        *self == Self::UserData
    }
}

/// The options of recondition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReconditionOptions {
    /// The step to run whatever the diagnosis says; otherwise the first that can help, and the next one if it
    /// did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepName>,
    /// Most overwriting passes, if the speed keeps changing.
    pub passes: u32,
    /// Idle time after a step, for the drive to finish its work.
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// A region without files of the owner, on a target other than a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Region>,
    /// Most bytes of temporary files in a folder.
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub overwrite_max: Option<u64>,
    /// The journal for refreshing a whole device, if the owner named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<PathBuf>,
    /// Most bytes per second that `rewrite` writes.
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub rate: Option<u64>,
    /// What a drive erases when it formats itself.
    #[serde(skip_serializing_if = "Erase::is_user_data")]
    pub erase: Erase,
    /// Whether to find out which steps are possible, and do nothing else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The check before and after.
    pub check: CheckOptions,
}

impl Default for ReconditionOptions {
    /// As many passes as DiskTester's users were told to make at most, and half a minute of idle time.
    fn default() -> Self {
        Self {
            step: None,
            passes: 8,
            idle: Nanos::from_secs(30),
            free: None,
            overwrite_max: None,
            journal: None,
            rate: None,
            erase: Erase::default(),
            dry_run: false,
            check: CheckOptions::default(),
        }
    }
}

impl ReconditionOptions {
    /// Least rate, in bytes per second: below it, a chunk would be in flight for longer than a stop may take.
    const RATE_MIN: u64 = 1 << 20;
    /// More passes than this wear out a drive for nothing.
    const PASSES_MAX: u32 = 100;

    /// From a plan's options.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_table(table: &toml::Table) -> Result<Self, String> {
        let parsed: Self = options("recondition", table)?;
        parsed.check().map(|()| parsed)
    }

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=Self::PASSES_MAX).contains(&self.passes) {
            return Err(out_of_range("passes", self.passes, 1, Self::PASSES_MAX));
        }
        if self.rate.is_some_and(|rate| rate < Self::RATE_MIN) {
            return Err(wording::rate_too_low(Self::RATE_MIN));
        }
        if self.check.upgrade.is_some() {
            return Err(wording::no_upgrade());
        }
        self.check.check()
    }

    /// Files of a folder, and bytes of each: the first is what a check writes.
    pub(super) fn files(&self) -> (u32, u64) {
        let file_bytes = self.check.area(u64::MAX).max(CheckOptions::AREA_STEP);
        let files = self.overwrite_max.unwrap_or(file_bytes) / file_bytes;
        (u32::try_from(files).unwrap_or(u32::MAX).max(1), file_bytes)
    }
}
