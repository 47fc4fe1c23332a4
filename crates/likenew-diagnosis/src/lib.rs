//! From measurements and facts to why a drive is slow: causes, each scored by the evidence for and against
//! it, and their fixes.
//!
//! This crate measures nothing and applies nothing. It gets a [`Case`] and answers with a [`Diagnosis`]; the
//! same case gives the same answer. A cause is one file pair in `causes/`: its symptoms, the evidence for and
//! against it, and its fixes. None is named without evidence of its own; if none is likely enough, the answer
//! is undecided, with what would decide it. All sentences are in `wording.rs`.

mod case;
mod cause;
mod causes;
mod diagnosis;
mod evidence_item;
mod hint;
mod indicator;
mod log_odds;
mod measured;
mod measurements;
mod metric;
mod reference;
mod site;
mod steps;
mod symptom;
mod weights;
mod wording;

pub use case::{ARM_NS, Case};
pub use cause::{Cause, CauseDescriptor, Kind};
pub use causes::{ALL, by_name};
pub use diagnosis::{Diagnosis, FoundCause, OpenSymptom, Overall, actions, diagnose, evidence, hints};
pub use evidence_item::{EvidenceItem, MissingEvidence};
pub use hint::Hint;
pub use indicator::Indicator;
pub use log_odds::LogOdds;
pub use measured::Measured;
pub use measurements::{Measurements, WriteCliff};
pub use metric::Metric;
pub use reference::{Origin, Reference};
pub use site::{Possibility, Site};
pub use steps::{BlockedStep, HelpingStep, causes_fixed_by, helping_steps, step_action_id, step_kind};
pub use symptom::Symptom;
pub use weights::{Origin as WeightOrigin, PRIORS, WEIGHTS, Weight, prior};
pub use wording::cost;
