//! A run as a comparison needs it.

use indexmap::IndexMap;
use likenew_core::drive::Kind;
use likenew_core::findings::Row;
use likenew_core::procedure::Plan;
use likenew_restoring::check::CheckHistory;

/// A run beside others.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// A letter, or a short label.
    pub name: &'a str,
    /// What was measured, and how.
    pub plan: &'a Plan,
    /// The kind of its target.
    pub kind: Kind,
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
            Kind::Simulated | Kind::Nop => 0.0,
            Kind::Folder | Kind::File | Kind::Device => CheckHistory::assumed(self.is_virtual),
        }
    }
}
