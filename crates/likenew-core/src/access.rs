//! The way between a program and a drive: past the page cache, through it, or not at all.

use serde::{Deserialize, Serialize};

/// How the I/Os of a workload reach the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Past the system's page cache, as far as the file system lets them.
    #[default]
    Direct,
    /// Through the page cache, as most programs do it: reads may come from memory and writes may end there.
    Buffered,
    /// Not at all: each I/O ends at once, and no byte is moved. What is measured is the instrument.
    Null,
}

impl Access {
    /// Whether it is the usual one, which plans leave out.
    pub fn is_direct(&self) -> bool {
        *self == Self::Direct
    }

    /// `direct`, `buffered` or `null`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Buffered => "buffered",
            Self::Null => "null",
        }
    }
}
