//! The step behind each name.

use super::discard::Discard;
use super::discard_unused::DiscardUnused;
use super::format::Format;
use super::overwrite::{Overwrite, OverwriteAll};
use super::recondition_step::ReconditionStep;
use super::refresh::Refresh;
use super::rewrite::Rewrite;
use super::step_name::StepName;
use super::trim_free::TrimFree;

/// What runs under this name.
pub(super) fn implementation(name: StepName) -> &'static dyn ReconditionStep {
    match name {
        StepName::Trim => &TrimFree,
        StepName::DiscardUnused => &DiscardUnused,
        StepName::Refresh => &Refresh,
        StepName::Overwrite => &Overwrite,
        StepName::Rewrite => &Rewrite,
        StepName::Discard => &Discard,
        StepName::OverwriteAll => &OverwriteAll,
        StepName::Format => &Format,
    }
}
