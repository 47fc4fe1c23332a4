//! One piece of evidence for a cause or against it.

use likenew_core::answer::Action;

/// Something that was seen, and how much it says.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceItem {
    /// Its name in the table of weights.
    pub name: &'static str,
    /// What was seen, as a sentence.
    pub sentence: String,
    /// With which probability it is there.
    pub chance: f64,
    /// log₂ of how many times as probable this is with the cause at work as without it; below 0 it speaks against
    /// it. 0 where another
    /// piece of evidence of its group speaks for both.
    pub bits: f64,
    /// Whether it was measured; what the system or the drive says is a fact.
    pub is_measured: bool,
}

/// Something that nobody has seen yet and that would say much.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingEvidence {
    /// What would show it.
    pub action: Action,
    /// What it could say at most, for or against.
    pub bits: f64,
}
