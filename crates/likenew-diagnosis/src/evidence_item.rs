//! One piece of evidence for a cause or against it.

use likenew_core::answer::Action;

/// An observation and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceItem {
    /// Its name in the table of weights.
    pub name: &'static str,
    /// The observation, as a sentence.
    pub sentence: String,
    /// Probability that it is present.
    pub chance: f64,
    /// log₂ of the likelihood ratio: how many times as probable it is with the cause at work as without it;
    /// negative if it is evidence against. 0 if another piece of evidence of its group counts for both.
    pub bits: f64,
    /// Whether it was measured; reports of the system or the drive are facts.
    pub is_measured: bool,
}

/// Evidence that is missing and would be telling.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingEvidence {
    /// The action that would show it.
    pub action: Action,
    /// Most bits it could give, for or against.
    pub bits: f64,
}
