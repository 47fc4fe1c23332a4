//! A run in a comparison, the ratio of two speeds, and the verdict of its interval.

use indexmap::IndexMap;
use likenew_core::drive::TargetKind;
use likenew_core::findings::Row;
use likenew_core::procedure::Plan;
use likenew_restoring::check::CheckHistory;
use serde::Serialize;

/// Largest ratio at which speeds count as the same. Chosen: nobody notices 5% at work.
pub(crate) const SAME_WITHIN: f64 = 1.05;

/// The verdict of a ratio's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Certainly below 1, and not certainly within 5%.
    Slower,
    /// Certainly above 1, and not certainly within 5%.
    Faster,
    /// Certainly within 5%.
    Same,
    /// Too uncertain to call.
    Unclear,
}

/// A later run's speed over the first run's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpeedRatio {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// Speed of the first run and of the later one.
    pub(crate) values: [f64; 2],
    pub(crate) ratio: f64,
    /// Ends of the ratio's 95% interval.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl SpeedRatio {
    pub(crate) fn difference(&self) -> Difference {
        match (self.low, self.high) {
            (low, high) if low >= 1.0 / SAME_WITHIN && high <= SAME_WITHIN => Difference::Same,
            (_, high) if high < 1.0 => Difference::Slower,
            (low, _) if low > 1.0 => Difference::Faster,
            _ => Difference::Unclear,
        }
    }

    /// Size of the change: half as fast is as large as twice as fast.
    pub(crate) fn size(&self) -> f64 {
        self.ratio.ln().abs()
    }
}

/// A run in a comparison.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// The run's name: a letter or a short label.
    pub name: &'a str,
    /// The run's plan.
    pub plan: &'a Plan,
    /// The kind of the run's target.
    pub kind: TargetKind,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
    /// The tables of the run's findings.
    pub tables: &'a IndexMap<String, Vec<Row>>,
}

impl ComparedRun<'_> {
    /// Scatter between repetitions of this run beyond its own interval, as a standard deviation of logarithms. A
    /// simulated drive repeats exactly.
    pub(crate) fn scatter(&self) -> f64 {
        match self.kind {
            TargetKind::Simulated | TargetKind::Nop => 0.0,
            TargetKind::Folder | TargetKind::File | TargetKind::Device => {
                CheckHistory::assumed(self.is_virtual)
            }
        }
    }
}
