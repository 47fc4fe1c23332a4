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
mod clue;
mod diagnosis;
mod figure;
mod hint;
mod reference;
mod scales;
mod shape;
mod sign;
mod signs;
mod site;
mod steps;
mod symptom;
mod weights;

pub use case::{ARM_NS, Case};
pub use cause::{Card, Cause, Cure, Kind, Risk};
pub use causes::{ALL, by_name};
pub use clue::{Clue, Missing};
pub use diagnosis::{Diagnosis, Found, Open, Overall, clues, cures, diagnose, hints};
pub use figure::Figure;
pub use hint::Hint;
pub use reference::{Origin, Reference};
pub use scales::Scales;
pub use shape::Shape;
pub use sign::Sign;
pub use signs::{Signs, WriteDrop};
pub use site::{Possibility, Site};
pub use steps::helps;
pub use symptom::{Symptom, symptoms};
pub use weights::{Origin as WeightOrigin, PRIORS, WEIGHTS, Weight, prior};
