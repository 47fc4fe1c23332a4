//! The references of metrics.

use super::Metric;

/// Where a reference comes from, most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The earliest kept check of the same drive.
    Baseline,
    /// The same simulated drive, new, in the same check.
    Simulated,
    /// Its data sheet.
    Advertised,
    /// A simulated drive of the model that a real drive reports, in the same check: a model of a model, so it
    /// is used only if the data sheet has no value.
    SimulatedModel,
    /// The rate of the link: nothing can be faster, and few drives are as fast.
    Link,
}

impl Origin {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Simulated => "simulated",
            Self::Advertised => "advertised",
            Self::SimulatedModel => "simulated_model",
            Self::Link => "link",
        }
    }

    /// The share of such a reference from which the metric is healthy: rated speeds hold under the best
    /// conditions, a link carries more than any drive moves, and a simulated drive differs from itself when new
    /// only by what it holds. A simulation of a real drive knows neither its firmware nor which part of a disk a
    /// folder is in, and the outer tracks hold twice as much as the inner ones.
    pub fn share_least(self) -> f64 {
        match self {
            Self::Baseline => 0.85,
            Self::Simulated => 0.8,
            Self::Advertised => 0.7,
            Self::SimulatedModel => 0.5,
            Self::Link => 0.3,
        }
    }
}

/// The reference of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Which metric.
    pub metric: Metric,
    /// Its origin.
    pub origin: Origin,
    /// In the unit of the metric.
    pub value: f64,
    /// How much the metric varies between checks of an unchanged drive: standard deviation of its logarithm.
    /// 0 if the reference was not measured, or repeats exactly.
    pub repeatability: f64,
}
