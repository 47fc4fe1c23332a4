//! A run as a comparison needs it, the ratio of two speeds, and what its interval says.

use indexmap::IndexMap;
use likenew_core::drive::TargetKind;
use likenew_core::findings::Row;
use likenew_core::procedure::Plan;
use likenew_restoring::check::CheckHistory;
use serde::Serialize;

/// Speeds are the same if they differ by no more than this for certain, as a ratio. Chosen: nobody notices 5% at work.
pub(crate) const SAME_WITHIN: f64 = 1.05;

/// What the interval of a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Less than 1 for certain, and perhaps by more than 5%.
    Slower,
    /// More than 1 for certain, and perhaps by more than 5%.
    Faster,
    /// Within 5% for certain.
    Same,
    /// None of these.
    Unclear,
}

/// A speed of a later run over that of the first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpeedRatio {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// Of the first run, and of the later one.
    pub(crate) values: [f64; 2],
    pub(crate) ratio: f64,
    /// The ends of its interval at 95%.
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

    /// Half as fast is as large a change as twice as fast.
    pub(crate) fn size(&self) -> f64 {
        self.ratio.ln().abs()
    }
}

/// A run beside others.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// A letter, or a short label.
    pub name: &'a str,
    /// What was measured, and how.
    pub plan: &'a Plan,
    /// The kind of its target.
    pub kind: TargetKind,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
    /// The tables of its findings.
    pub tables: &'a IndexMap<String, Vec<Row>>,
}

impl ComparedRun<'_> {
    /// By how much the same run would differ if it were made again, as a standard deviation of logarithms, beyond what it shows
    /// within itself. A simulated drive repeats exactly.
    pub(crate) fn scatter(&self) -> f64 {
        match self.kind {
            TargetKind::Simulated | TargetKind::Nop => 0.0,
            TargetKind::Folder | TargetKind::File | TargetKind::Device => {
                CheckHistory::assumed(self.is_virtual)
            }
        }
    }
}
