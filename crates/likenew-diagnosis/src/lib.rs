//! From what was measured and what the system knows to why a drive is slow: causes, each weighed by what speaks for it and against it,
//! and what cures them.
//!
//! This room measures nothing and applies nothing. It gets a [`Case`] and answers with a [`Diagnosis`]; the same case gives the same
//! answer. A cause is one file pair in `causes/`: what it looks like, what confirms it, what rules it out, and its cure with risk
//! and cost. None is named without evidence of its own, and where none is likely enough, the answer is that it is undecided, with what
//! would decide it.

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

pub use case::{ARM_NS, Case};
pub use cause::{Cause, CauseDescriptor, Fix, Kind, Risk};
pub use causes::{ALL, by_name};
pub use diagnosis::{Diagnosis, FoundCause, OpenSymptom, Overall, diagnose, evidence, fixes, hints};
pub use evidence_item::{EvidenceItem, MissingEvidence};
pub use hint::Hint;
pub use indicator::Indicator;
pub use log_odds::LogOdds;
pub use measured::Measured;
pub use measurements::{Measurements, WriteCliff};
pub use metric::Metric;
pub use reference::{Origin, Reference};
pub use site::{Possibility, Site};
pub use steps::causes_fixed_by;
pub use symptom::{Symptom, symptoms};
pub use weights::{Origin as WeightOrigin, PRIORS, WEIGHTS, Weight, prior};
