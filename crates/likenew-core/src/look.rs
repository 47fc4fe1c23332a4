//! A look: something that is found out about a drive otherwise than by timing I/O, and what was found.
//!
//! A procedure asks for a look as it asks for a workload, the drive answers, and the answer is kept as a [`Sight`], so that it can be
//! judged again without the drive. "Unknown" is an answer, with the reason in it; only a failure of the lab is a `Fault`.

use serde::{Deserialize, Serialize};

use crate::cure::{Cure, Cured};
use crate::drive::Accounting;
use crate::extents::ExtentMap;
use crate::facts::Facts;
use crate::old_files::{OLD_SEARCH, OldFiles};
use crate::outlook::Outlook;
use crate::trim::{Claims, ReadBack, ReadBackSeen, Sent, TrimPath};
use crate::units::Nanos;

/// How long [`Look::Facts`] watches what others do to the drive.
pub const FACTS_WAIT: Nanos = Nanos::from_millis(200);

/// What is to be found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// What the system and the drive say of the whole way from the folder to the medium.
    Facts,
    /// Which of the owner's files have lain there for long; workloads may read [them](crate::workload::Workload::old_files) afterwards.
    OldFiles,
    /// Where the file system has put what is addressed.
    Extents,
    /// Which layers lie between the addresses and the medium, and which of them let TRIM pass.
    TrimPath,
    /// What the drive itself says it does with TRIM.
    TrimClaims,
    /// What is read where something was written and given up again.
    TrimReadBack(ReadBack),
    /// Gives up a range of addresses, so that the drive learns of it before this ends, as far as anything tells it.
    Release {
        /// First byte.
        offset: u64,
        /// Bytes; of a folder, whole files.
        bytes: u64,
        /// How long a file system that sends TRIM by itself is waited for.
        wait: Nanos,
    },
    /// What could be done to bring it back, and what stands against that.
    Outlook,
    /// Brings it back, as far as this does.
    Cure(Cure),
}

impl Look {
    /// What a progress bar calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Facts => "collecting facts",
            Self::OldFiles => "looking for old files",
            Self::Extents => "looking where the files lie",
            Self::TrimPath => "looking at the layers",
            Self::TrimClaims => "asking the drive",
            Self::TrimReadBack(_) => "reading back what was given up",
            Self::Release { .. } => "giving up what was written",
            Self::Outlook => "looking at what could be done",
            Self::Cure(cure) => cure.name(),
        }
    }

    /// Whether it changes what the drive holds.
    pub fn writes(&self) -> bool {
        matches!(self, Self::TrimReadBack(_) | Self::Release { .. } | Self::Cure(_))
    }

    /// Bytes that it writes.
    pub fn bytes_written(&self) -> u64 {
        match self {
            Self::TrimReadBack(read_back) => read_back.bytes_written(),
            Self::Cure(cure) => cure.bytes_written(),
            Self::Facts
            | Self::OldFiles
            | Self::Extents
            | Self::TrimPath
            | Self::TrimClaims
            | Self::Release { .. }
            | Self::Outlook => 0,
        }
    }

    /// How long it may have to wait.
    pub fn waits(&self) -> Nanos {
        match self {
            Self::TrimReadBack(read_back) => read_back.wait,
            Self::Release { wait, .. } => *wait,
            Self::Facts | Self::Outlook => FACTS_WAIT,
            Self::OldFiles => OLD_SEARCH,
            Self::Extents | Self::TrimPath | Self::TrimClaims | Self::Cure(_) => Nanos::ZERO,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Nothing, and why: a sentence without a full stop that says what would help, where something would.
    Unknown(String),
    /// Of [`Look::Facts`].
    Facts(Box<Facts>),
    /// Of [`Look::OldFiles`].
    OldFiles(OldFiles),
    /// Of [`Look::Extents`].
    Extents(ExtentMap),
    /// Of [`Look::TrimPath`].
    TrimPath(TrimPath),
    /// Of [`Look::TrimClaims`].
    TrimClaims(Claims),
    /// Of [`Look::TrimReadBack`].
    TrimReadBack(Box<ReadBackSeen>),
    /// Of [`Look::Release`].
    Released(Sent),
    /// Of [`Look::Outlook`].
    Outlook(Outlook),
    /// Of [`Look::Cure`].
    Cured(Cured),
}

/// One look, and what it came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// What was asked.
    pub look: Look,
    /// What was found.
    pub seen: Seen,
    /// So many workloads had been run before it.
    pub after: usize,
    /// When it began on the drive's clock.
    pub began: Nanos,
    /// When it ended on the drive's clock.
    pub ended: Nanos,
    /// Whether the run was interrupted before this and went on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_break: bool,
    /// A simulated drive's own books after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
}

impl Sight {
    /// Bytes that were written for it.
    pub fn bytes_written(&self) -> u64 {
        match &self.seen {
            Seen::TrimReadBack(seen) => seen.bytes_written,
            Seen::Cured(cured) => cured.bytes_written,
            _ => 0,
        }
    }
}
