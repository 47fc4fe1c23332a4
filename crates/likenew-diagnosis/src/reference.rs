//! What a metric is compared with.

use super::Metric;

/// Where a reference comes from, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The same drive, when it was measured first.
    Baseline,
    /// The same simulated drive, new, asked the same.
    Simulated,
    /// What its data sheet says.
    Advertised,
    /// A simulated drive of the model that a real drive says it is, asked the same: a model of a model, so it
    /// speaks only where its data sheet is silent.
    SimulatedModel,
    /// What the link carries: nothing can be faster, and few things are as fast.
    Link,
}

impl Origin {
    /// In one word, in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Simulated => "simulated",
            Self::Advertised => "advertised",
            Self::SimulatedModel => "simulated_model",
            Self::Link => "link",
        }
    }

    /// The share of such a reference that is still as it should be: makers print what the best conditions give, a
    /// link carries more than
    /// any drive moves, and a simulated drive is a model. That of a real drive knows neither its firmware nor which
    /// part of a disk a folder lies in, where the
    /// outer tracks hold twice as much as the inner ones.
    pub fn share_least(self) -> f64 {
        match self {
            Self::Baseline => 0.85,
            Self::Simulated => 0.7,
            Self::Advertised => 0.7,
            Self::SimulatedModel => 0.5,
            Self::Link => 0.3,
        }
    }
}

/// A metric as it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Which metric.
    pub metric: Metric,
    /// Whose it is.
    pub origin: Origin,
    /// In the unit of the metric.
    pub value: f64,
    /// By how much the metric differs from one check to the next though nothing has changed: standard deviation of
    /// its logarithm. 0 where
    /// what it is compared with was not measured, or comes out the same each time.
    pub repeatability: f64,
}
