//! Finds out why a drive is slow: scores causes by the evidence for and against them, and lists their fixes.
//!
//! This crate measures nothing and applies nothing. It turns a [`Case`] into a [`Diagnosis`]; equal cases
//! give equal answers. A cause is one file pair in `causes/`: its symptoms, weighted evidence, fixes, and the
//! sentences about them. No cause is named without evidence of its own. If none is likely enough, the answer
//! is undecided, with what would decide it.

mod case;
mod causes;
mod diagnosis;
mod evidence;
mod measurements;
mod settings;
mod site;
mod steps;
mod symptom;

pub use case::{ARM_NS, Case};
pub use causes::{ALL, Cause, CauseKind, by_name, causes_fixed_by, cost, enable_timer, pass_trim};
pub use diagnosis::{Diagnosis, FoundCause, OpenSymptom, Overall, actions, diagnose, evidence, hints};
pub use evidence::{Evidence, EvidenceItem, MissingEvidence};
pub use measurements::Measured;
pub use measurements::{Indicator, Measurements, WriteCliff};
pub use settings::{Change, SETTINGS, Setting};
use site::Hint;
pub use site::{Possibility, Site};
pub use steps::{BlockedStep, step_action, step_kind, wear_percent};
pub use symptom::Symptom;
pub use symptom::{Metric, Origin, Reference};
