//! What to probe and to run, in which order.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::trim_evidence::TrimEvidence;
use super::trim_options::TrimOptions;
use super::wording;

/// Bytes of a random write: what a file system and most drives map.
const BLOCK: u32 = 4096;
/// Bytes of one of the writes that fill a half, and how many are in flight.
const FILL_BLOCK: u32 = 1 << 20;
const FILL_DEPTH: u32 = 8;
/// Random writes before a pass that follows a change go on until they have moved as much as their half holds, but not longer than so
/// many passes.
const SETTLE_PASSES: u64 = 4;

/// Probes that come first; then the effect is measured.
const PROBES: usize = 4;

/// One step of measuring what TRIM is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Writes one half of the space.
    Fill(Half),
    /// Deletes the other half and sends TRIM for it.
    Release,
    /// Random writes that are not counted.
    Settle,
    /// Random writes that are.
    Measure { trimmed: bool },
}

/// A half of the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Random writes go over it.
    Used,
    /// It is deleted.
    Deleted,
}

/// The course of one plan on one drive.
pub(super) struct WorkloadPlan<'a> {
    options: &'a TrimOptions,
    /// Bytes of a half.
    half: u64,
}

impl<'a> WorkloadPlan<'a> {
    /// Refuses a space that the drive does not have.
    pub(super) fn new(options: &'a TrimOptions, evidence: &Evidence) -> Result<Self, String> {
        let capacity = evidence.geometry.capacity;
        let half = options.half(capacity);
        if options.worth && evidence.geometry.writable && (half == 0 || 2 * half > capacity) {
            return Err(wording::space_does_not_fit(options.space.unwrap_or(capacity), capacity));
        }
        Ok(Self { options, half })
    }

    /// Bytes that are freed when the effect of TRIM is measured.
    pub(super) fn half(&self) -> u64 {
        self.half
    }

    /// Whether anything is measured.
    pub(super) fn measures(&self) -> bool {
        self.options.worth
    }

    /// What comes next: step by step until one ends it, then what TRIM is worth.
    pub(super) fn next(&self, trim_evidence: &TrimEvidence<'_>, evidence: &Evidence) -> Step {
        let taken = evidence.observations.len();
        if taken == 0 {
            return Step::Probe(Probe::TrimPath);
        }
        if trim_evidence.is_blocked() {
            return Step::Done;
        }
        if taken == 1 {
            return Step::Probe(Probe::TrimClaims);
        }
        if trim_evidence.has_no_trim() || !evidence.geometry.writable {
            return Step::Done;
        }
        if taken == 2 {
            return Step::Probe(Probe::TrimReadBack(self.options.read_back(evidence.plan.seed)));
        }
        if taken < PROBES {
            // A layer may learn only by the first TRIM that what is below it takes none.
            return Step::Probe(Probe::TrimPath);
        }
        if !self.options.worth || trim_evidence.refusal().is_some() {
            return Step::Done;
        }
        let done = evidence.segments.len() + taken - PROBES;
        let Some(act) = self.acts().nth(done) else { return Step::Done };
        match act {
            Act::Release => {
                Step::Probe(Probe::Release { offset: self.half, bytes: self.half, wait: self.options.wait })
            }
            act => Step::Run(Workload {
                seed: evidence.plan.seed_of(evidence.segments.len()),
                ..self.workload(act)
            }),
        }
    }

    /// Every step of measuring what TRIM is worth. Without, with, with, without, and so on: a drift that is steady falls on both
    /// alike, and what is given up is written again only half as often as it is measured.
    fn acts(&self) -> impl Iterator<Item = Act> {
        let cells = (0..2 * self.options.passes).map(|cell| matches!(cell % 4, 1 | 2));
        let mut before = None;
        let acts = cells.flat_map(move |trimmed| {
            let changed = before.replace(trimmed) != Some(trimmed);
            let change = if trimmed { Act::Release } else { Act::Fill(Half::Deleted) };
            let settled = changed.then_some([change, Act::Settle]).into_iter().flatten();
            settled.chain([Act::Measure { trimmed }])
        });
        std::iter::once(Act::Fill(Half::Used)).chain(acts)
    }

    /// The passes that were measured: whether TRIM had been sent, and what came of it.
    pub(super) fn passes<'e>(&self, evidence: &'e Evidence) -> Vec<(bool, &'e Segment)> {
        let runs = self.acts().filter(|act| *act != Act::Release);
        let measured = runs.zip(&evidence.segments).filter_map(|(act, segment)| match act {
            Act::Measure { trimmed } => Some((trimmed, segment)),
            _ => None,
        });
        measured.collect()
    }

    /// A pass ends by its time, and writes no more than its half holds.
    fn pass(&self) -> Until {
        Until { elapsed: Some(self.options.time), bytes: Some(self.half), ops: None }
    }

    fn workload(&self, act: Act) -> Workload {
        let random = |name: &str, until| {
            let place = AccessPattern::Random(Region::bytes(0..self.half));
            let stream =
                Stream::closed(Mix::Only(Op::Write), BLOCK, place, self.options.depth, DataClass::Random);
            Workload::new(name, until, vec![stream])
        };
        match act {
            Act::Fill(half) => {
                let (name, range) = match half {
                    Half::Used => (wording::FILL_KEPT, 0..self.half),
                    Half::Deleted => (wording::FILL_DELETED, self.half..2 * self.half),
                };
                let place = AccessPattern::Sequential(Region::bytes(range));
                let stream =
                    Stream::closed(Mix::Only(Op::Write), FILL_BLOCK, place, FILL_DEPTH, DataClass::Random);
                Workload::new(name, Until::bytes(self.half), vec![stream])
            }
            Act::Settle => {
                let most = Nanos(self.options.time.0.saturating_mul(SETTLE_PASSES));
                random(wording::SETTLE, Until { elapsed: Some(most), bytes: Some(self.half), ops: None })
            }
            Act::Measure { trimmed: false } => random(wording::WRITE_WITHOUT, self.pass()),
            Act::Measure { trimmed: true } => random(wording::WRITE_WITH, self.pass()),
            Act::Release => unreachable!("that is a probe"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_with_and_without_take_turns_so_that_drift_falls_on_both() {
        let options = TrimOptions { passes: 4, ..TrimOptions::default() };
        let workload_plan = WorkloadPlan { options: &options, half: 1 << 20 };
        let acts: Vec<Act> = workload_plan.acts().collect();
        let measured: Vec<bool> = acts
            .iter()
            .filter_map(|act| match act {
                Act::Measure { trimmed } => Some(*trimmed),
                _ => None,
            })
            .collect();
        assert_eq!(measured, [false, true, true, false, false, true, true, false]);
        let count = |wanted| acts.iter().filter(|act| **act == wanted).count();
        assert_eq!(
            (count(Act::Fill(Half::Used)), count(Act::Fill(Half::Deleted)), count(Act::Release)),
            (1, 3, 2)
        );
        assert_eq!(count(Act::Settle), 5);
        // Each change is followed by a settling.
        for pair in acts.windows(2) {
            let changes = matches!(pair[0], Act::Release | Act::Fill(Half::Deleted));
            assert_eq!(changes, pair[1] == Act::Settle, "{pair:?}");
        }
    }
}
