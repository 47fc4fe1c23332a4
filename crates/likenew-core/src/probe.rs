//! A probe finds something out about a drive other than by timing I/O; its result is an observation.
//!
//! A procedure asks for a probe as it asks for a workload. The drive answers, and the answer is kept as an
//! [`Observation`], so that it can be judged again without the drive. "Unknown" is an answer, with its
//! reason; only a failure of the lab is a `LabError`.

use serde::{Deserialize, Serialize};

use crate::extents::ExtentMap;
use crate::facts::Facts;
use crate::feasibility::Feasibility;
use crate::fix::{Fix, FixReport};
use crate::flash_counters::FlashCounters;
use crate::old_files::{OLD_SEARCH, OldFiles};
use crate::trim::{ReadBack, ReadBackResult, TrimCapabilities, TrimPath, TrimReport};
use crate::units::Nanos;
use crate::wording;

/// How long [`Probe::Facts`] watches the I/O of other programs. Chosen: long enough to notice steady I/O, too
/// short to delay a command.
pub const FACTS_WAIT: Nanos = Nanos::from_millis(200);

/// What to find out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// What the system and the drive report of the whole path from the folder to the medium.
    Facts,
    /// Which of the owner's files have been there for long; workloads may read
    /// [them](crate::workload::Workload::old_files) afterward.
    OldFiles,
    /// Where the file system has placed the data of the target.
    Extents,
    /// Which layers are between the addresses and the medium, and which of them pass TRIM on.
    TrimPath,
    /// What the drive itself reports of its TRIM support.
    TrimClaims,
    /// What is read at addresses that were written and then freed.
    TrimReadBack(ReadBack),
    /// Frees a range of addresses, and makes sure that the drive receives TRIM for it before this ends, as
    /// far as anything sends it.
    Release {
        /// First byte.
        offset: u64,
        /// Bytes; of a folder, whole files.
        bytes: u64,
        /// How long a file system that sends TRIM by itself is waited for.
        wait: Nanos,
    },
    /// What could be done to restore it, and what prevents that.
    Feasibility,
    /// Applies a fix.
    Fix(Fix),
}

impl Probe {
    /// What a progress bar calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Facts => wording::COLLECT_FACTS,
            Self::OldFiles => wording::FIND_OLD_FILES,
            Self::Extents => wording::MAP_FILES,
            Self::TrimPath => wording::CHECK_TRIM_PATH,
            Self::TrimClaims => wording::READ_TRIM_SUPPORT,
            Self::TrimReadBack(_) => wording::READ_BACK_TRIMMED,
            Self::Release { .. } => wording::RELEASE_TEST_DATA,
            Self::Feasibility => wording::CHECK_FIXES,
            Self::Fix(fix) => fix.name(),
        }
    }

    /// Whether it changes what the drive holds.
    pub fn writes(&self) -> bool {
        matches!(self, Self::TrimReadBack(_) | Self::Release { .. } | Self::Fix(_))
    }

    /// Bytes that it writes.
    pub fn bytes_written(&self) -> u64 {
        match self {
            Self::TrimReadBack(read_back) => read_back.bytes_written(),
            Self::Fix(fix) => fix.bytes_written(),
            Self::Facts
            | Self::OldFiles
            | Self::Extents
            | Self::TrimPath
            | Self::TrimClaims
            | Self::Release { .. }
            | Self::Feasibility => 0,
        }
    }

    /// How long it may have to wait.
    pub fn waits(&self) -> Nanos {
        match self {
            Self::TrimReadBack(read_back) => read_back.wait,
            Self::Release { wait, .. } => *wait,
            Self::Facts | Self::Feasibility => FACTS_WAIT,
            Self::OldFiles => OLD_SEARCH,
            Self::Extents | Self::TrimPath | Self::TrimClaims | Self::Fix(_) => Nanos::ZERO,
        }
    }
}

/// Its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeResult {
    /// Nothing, and why: a sentence without a full stop that says what would help, where something would.
    Unknown(String),
    /// Of [`Probe::Facts`].
    Facts(Box<Facts>),
    /// Of [`Probe::OldFiles`].
    OldFiles(OldFiles),
    /// Of [`Probe::Extents`].
    Extents(ExtentMap),
    /// Of [`Probe::TrimPath`].
    TrimPath(TrimPath),
    /// Of [`Probe::TrimClaims`].
    TrimClaims(TrimCapabilities),
    /// Of [`Probe::TrimReadBack`].
    TrimReadBack(Box<ReadBackResult>),
    /// Of [`Probe::Release`].
    Released(TrimReport),
    /// Of [`Probe::Feasibility`].
    Feasibility(Feasibility),
    /// Of [`Probe::Fix`].
    FixReport(FixReport),
}

/// One probe and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The probe.
    pub probe: Probe,
    /// Its result.
    pub result: ProbeResult,
    /// The number of workloads that had been run before it.
    pub after: usize,
    /// When it began on the drive's clock.
    pub started_at: Nanos,
    /// When it ended on the drive's clock.
    pub ended_at: Nanos,
    /// Whether the run was interrupted before this and then resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_interruption: bool,
    /// Flash counters of a simulated drive after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<FlashCounters>,
}

impl Observation {
    /// Bytes that were written for it.
    pub fn bytes_written(&self) -> u64 {
        match &self.result {
            ProbeResult::TrimReadBack(result) => result.bytes_written,
            ProbeResult::FixReport(fix_report) => fix_report.bytes_written,
            _ => 0,
        }
    }
}
