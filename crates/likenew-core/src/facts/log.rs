//! What the kernel's log says about a drive.

use serde::{Deserialize, Serialize};

use super::Fact;

/// Lines of the kernel's log about one drive or its link. The newest are kept, up to [`Log::LINES_MAX`]; how
/// many there were of each kind is in [`super::Counts`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Log {
    /// In the order of the log.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub lines: Fact<Vec<LogLine>>,
}

impl Log {
    /// More lines than this are counted and not kept.
    pub const LINES_MAX: usize = 40;
}

/// What a line is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogKind {
    /// The drive or its link was reset.
    Reset,
    /// A command took too long.
    Timeout,
    /// A read or a write failed.
    IoError,
    /// The link had errors.
    LinkError,
    /// The link runs below its best rate.
    LinkSpeed,
    /// Heat.
    Heat,
    /// Host memory granted to the drive, or refused.
    HostMemory,
    /// The kernel applies a quirk to this model.
    Quirk,
    /// Unknown to this version.
    #[default]
    #[serde(other)]
    Other,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogLine {
    /// When it was written, since the system started.
    pub at_s: f64,
    /// What the line is about.
    pub kind: LogKind,
    /// The line.
    pub text: String,
}
