//! What a run was made with.

use std::path::Path;

use likenew_core::drive::Identity;
use likenew_core::instrument::Instrument;
use likenew_core::target::Geometry;
use serde::{Deserialize, Serialize};

use crate::error::ArchiveError;

/// The schema of run folders that this version writes and reads.
pub const SCHEMA: u32 = 2;
/// The newest schema of plans.
pub(crate) const PLAN_SCHEMA: u32 = 1;

/// The drive, the instrument, and when the run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Version of the run folder's schema.
    pub schema: u32,
    /// When it began: date and time of day as text, such as `2026-03-14T15:09:26Z`. Names the folder, so that runs sort
    /// by time; nothing is computed from it.
    pub started_at: String,
    /// The target.
    pub identity: Identity,
    /// How it is addressed.
    pub geometry: Geometry,
    /// The program that measured it, with its version.
    pub instrument: Instrument,
    /// Settings of the run that differ from the defaults.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
}

/// What was asked for beside the plan, so that a resumed run uses the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The requested engine, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The requested free space of a folder's file system, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_bytes: Option<u64>,
    /// Whether every single I/O is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples: bool,
}

impl Settings {
    /// Whether nothing was requested.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Machine {
    /// A machine of the present schema.
    pub fn new(
        started_at: impl Into<String>,
        identity: Identity,
        geometry: Geometry,
        instrument: Instrument,
    ) -> Self {
        Self {
            schema: SCHEMA,
            started_at: started_at.into(),
            identity,
            geometry,
            instrument,
            settings: Settings::default(),
        }
    }

    /// The same with these settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }
}

/// Checked before a file is parsed, so that a newer version is reported as such and not as damage.
pub(crate) fn check_schema(path: &Path, version: Option<u64>, supported: u32) -> Result<(), ArchiveError> {
    match version {
        Some(version) if version != u64::from(supported) => {
            Err(ArchiveError::OtherSchema { path: path.to_owned(), version, supported })
        }
        _ => Ok(()),
    }
}
