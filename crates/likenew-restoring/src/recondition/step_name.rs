//! The names of the steps, and what each of them loses.

use likenew_core::findings::Loss;
use likenew_core::fix::ActionKind;
use serde::{Deserialize, Serialize};
use strum::{EnumCount, IntoStaticStr, VariantArray};

/// The steps, the gentlest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumCount, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum StepName {
    /// TRIM for all free space.
    Trim,
    /// TRIM for what no partition covers.
    DiscardUnused,
    /// Rewrite slow data in place.
    Refresh,
    /// Overwrite free space until another pass changes nothing.
    Overwrite,
    /// Rewrite everything in place.
    Rewrite,
    /// Erase everything with TRIM.
    Discard,
    /// Overwrite everything until another pass changes nothing.
    OverwriteAll,
    /// Have the drive format itself.
    Format,
}

impl StepName {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("there are that many");

    /// The name on the command line.
    pub fn text(self) -> &'static str {
        self.into()
    }

    /// What it loses, as programs read it.
    pub fn data_lost(self) -> &'static str {
        match (self, self.loses()) {
            (Self::DiscardUnused, _) => "unpartitioned_space",
            (_, Loss::Nothing) => "nothing",
            (_, Loss::DeletedFiles) => "deleted_files",
            (_, Loss::Everything) => "everything",
        }
    }

    /// Whether it loses files of the owner, so that it runs only if named.
    pub fn destroys(self) -> bool {
        self.loses() == Loss::Everything
    }

    /// What it loses.
    pub fn loses(self) -> Loss {
        match self {
            Self::Refresh | Self::Rewrite => Loss::Nothing,
            Self::Trim | Self::DiscardUnused | Self::Overwrite => Loss::DeletedFiles,
            Self::Discard | Self::OverwriteAll | Self::Format => Loss::Everything,
        }
    }

    /// The action behind it.
    pub fn action(self) -> ActionKind {
        match self {
            Self::Trim => ActionKind::Fstrim,
            Self::DiscardUnused => ActionKind::DiscardFree,
            Self::Refresh => ActionKind::Refresh,
            Self::Overwrite => ActionKind::OverwriteFree,
            Self::Rewrite => ActionKind::Rewrite,
            Self::Discard => ActionKind::Discard,
            Self::OverwriteAll => ActionKind::Overwrite,
            Self::Format => ActionKind::NvmeFormat,
        }
    }

    /// The name of one of its workloads.
    pub(super) fn step(self, part: &str) -> String {
        format!("{}: {part}", self.text())
    }
}
