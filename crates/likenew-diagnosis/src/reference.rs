//! What a figure is held against.

use super::Metric;

/// Where a reference comes from, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The same drive, when it was measured first.
    Baseline,
    /// The simulated twin of this model, asked the same.
    Simulated,
    /// What its maker promises.
    Advertised,
    /// A simulated drive of the model that a real drive says it is, asked the same: a model of a model, so it speaks only where its maker is silent.
    SimulatedModel,
    /// What the link carries: nothing can be faster, and few things are as fast.
    Link,
}

impl Origin {
    /// Whose figure it is, in words that follow "of".
    pub fn words(self) -> &'static str {
        match self {
            Self::Baseline => "what this drive did at first",
            Self::Simulated => "what its simulated twin does when new",
            Self::Advertised => "what its maker promises",
            Self::SimulatedModel => "what a simulated drive of its model does when new",
            Self::Link => "what its link carries",
        }
    }

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

    /// The share of such a reference that is still as it should be: makers print what the best conditions give, a link carries more than
    /// any drive moves, and a twin is a model. That of a real drive knows neither its firmware nor which part of a disk a folder lies in, where the
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

/// A figure as it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Which figure.
    pub metric: Metric,
    /// Whose it is.
    pub origin: Origin,
    /// In the unit of the figure.
    pub value: f64,
    /// By how much the figure differs from one check to the next though nothing has changed: standard deviation of its logarithm. 0 where
    /// what it is held against was not measured, or comes out the same each time.
    pub repeatability: f64,
}
