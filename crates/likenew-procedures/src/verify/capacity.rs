//! How much the drive holds, from what single blocks and whole passes have shown.

use likenew_core::damage::Kind;
use likenew_core::io::Op;
use serde::Serialize;

use super::course::{Course, Task};
use super::narrowing::Knowledge;

/// The row of the table `capacity`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Capacity {
    /// What the target says it has.
    pub(super) announced_bytes: u64,
    /// From the first address on, what was written as a whole and read back.
    pub(super) read_back_bytes: u64,
    /// It holds this at least.
    pub(super) holds_at_least_bytes: u64,
    /// It holds no more than this, if a limit was found.
    pub(super) holds_at_most_bytes: Option<u64>,
    /// Addresses go round at this, if they do.
    pub(super) wraps_at_bytes: Option<u64>,
}

impl Capacity {
    /// Of everything that was found.
    pub(super) fn of(course: &Course<'_>, announced_bytes: u64) -> Self {
        let searched = course.done.iter().any(|(task, _)| task.is_probe());
        let known = if searched { Knowledge::of(&course.ground, &course.done) } else { Knowledge::default() };
        let last = course.ground.options.passes;
        let (mut checked, mut damaged, mut lost) = (0, 0, 0);
        for (pass, _, segment) in course.parts_of(Op::Read) {
            if let Some(damage) = segment.damage.as_ref().filter(|_| pass == last) {
                checked += damage.checked_bytes;
                damaged += damage.bytes();
                lost += damage.bytes() - damage.bytes_of(Kind::Wrong);
            }
        }
        let whole = checked == course.ground.span;
        let wraps = known.wraps_at.or_else(|| wrapped_in_passes(course));
        let limits = [wraps, known.nowhere_from, (whole && lost > 0).then(|| checked - lost)];
        let at_most = limits.into_iter().flatten().min();
        let at_least = (checked - damaged).max(known.there_to);
        Self {
            announced_bytes,
            read_back_bytes: checked,
            holds_at_least_bytes: at_most.map_or(at_least, |most| at_least.min(most)),
            holds_at_most_bytes: at_most,
            wraps_at_bytes: wraps,
        }
    }
}

/// The divisor of all distances that the passes have shown.
fn wrapped_in_passes(course: &Course<'_>) -> Option<u64> {
    let reads = course
        .done
        .iter()
        .filter(|(task, _)| matches!(task, Task::Part { op: Op::Read, .. } | Task::LookBack { .. }));
    super::narrowing::wraps_at(reads.map(|(_, segment)| *segment))
}
