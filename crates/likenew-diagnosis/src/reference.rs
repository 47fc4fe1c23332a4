//! What a figure is held against.

use super::Figure;

/// Where a reference comes from, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The same drive, when it was measured first.
    FirstRun,
    /// The simulated twin of this model, asked the same.
    Twin,
    /// What its maker promises.
    Advertised,
    /// A simulated drive of the model that a real drive says it is, asked the same: a model of a model, so it speaks only where its maker is silent.
    ModelTwin,
    /// What the link carries: nothing can be faster, and few things are as fast.
    Link,
}

impl Origin {
    /// Whose figure it is, in words that follow "of".
    pub fn words(self) -> &'static str {
        match self {
            Self::FirstRun => "what this drive did at first",
            Self::Twin => "what its simulated twin does when new",
            Self::Advertised => "what its maker promises",
            Self::ModelTwin => "what a simulated drive of its model does when new",
            Self::Link => "what its link carries",
        }
    }

    /// In one word, in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstRun => "first_run",
            Self::Twin => "twin",
            Self::Advertised => "advertised",
            Self::ModelTwin => "model_twin",
            Self::Link => "link",
        }
    }

    /// The share of such a reference that is still as it should be: makers print what the best conditions give, a link carries more than
    /// any drive moves, and a twin is a model. That of a real drive knows neither its firmware nor which part of a disk a folder lies in, where the
    /// outer tracks hold twice as much as the inner ones.
    pub fn share_least(self) -> f64 {
        match self {
            Self::FirstRun => 0.85,
            Self::Twin => 0.7,
            Self::Advertised => 0.7,
            Self::ModelTwin => 0.5,
            Self::Link => 0.3,
        }
    }
}

/// A figure as it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Which figure.
    pub figure: Figure,
    /// Whose it is.
    pub origin: Origin,
    /// In the unit of the figure.
    pub value: f64,
    /// By how much the figure differs from one check to the next though nothing has changed: standard deviation of its logarithm. 0 where
    /// what it is held against was not measured, or comes out the same each time.
    pub repeatability: f64,
}
