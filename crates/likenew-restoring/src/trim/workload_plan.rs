//! The probes and workloads, and their order.

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

/// Bytes of a random write: the unit of file systems and of most mapping tables.
const BLOCK: u32 = 4096;
/// Bytes of one sequential write that fills a half, and the queue depth.
const FILL_BLOCK: u32 = 1 << 20;
const FILL_DEPTH: u32 = 8;
/// Random writes before a pass that follows a change continue until they have moved as much as their half
/// holds, or for this many passes.
const SETTLE_PASSES: u64 = 4;

/// The first probes; the effect is measured after them.
const PROBES: usize = 4;

/// One step of measuring the effect of TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Fills one half of the span.
    Fill(Half),
    /// Deletes the other half and sends TRIM for it.
    Release,
    /// Random writes that do not count.
    Settle,
    /// Random writes that count.
    Measure { trimmed: bool },
}

/// A half of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The half for random writes.
    Used,
    /// The half that is deleted.
    Deleted,
}

/// The plan of one run on one drive.
pub(super) struct WorkloadPlan<'a> {
    options: &'a TrimOptions,
    /// Bytes of a half.
    half: u64,
}

impl<'a> WorkloadPlan<'a> {
    /// Refuses a span larger than the drive.
    pub(super) fn new(options: &'a TrimOptions, evidence: &Evidence) -> Result<Self, String> {
        let capacity = evidence.geometry.capacity;
        let half = options.half(capacity);
        if options.worth && evidence.geometry.writable && (half == 0 || 2 * half > capacity) {
            return Err(wording::span_does_not_fit(options.span.unwrap_or(capacity), capacity));
        }
        Ok(Self { options, half })
    }

    /// Bytes freed when the effect of TRIM is measured.
    pub(super) fn half(&self) -> u64 {
        self.half
    }

    /// Whether the effect is measured.
    pub(super) fn measures(&self) -> bool {
        self.options.worth
    }

    /// The next step: probes until one ends the search, then the effect of TRIM.
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
            // A layer may learn only from the first TRIM that the one below it takes none.
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

    /// Every step of measuring the effect. Without, with, with, without, and so on: a steady drift affects
    /// both alike, and the deleted half is refilled only half as often.
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

    /// The measured passes, and whether TRIM had been sent.
    pub(super) fn passes<'e>(&self, evidence: &'e Evidence) -> Vec<(bool, &'e Segment)> {
        let runs = self.acts().filter(|act| *act != Act::Release);
        let measured = runs.zip(&evidence.segments).filter_map(|(act, segment)| match act {
            Act::Measure { trimmed } => Some((trimmed, segment)),
            _ => None,
        });
        measured.collect()
    }

    /// A pass ends by its time, and writes at most what its half holds.
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
        // Each change is followed by writes that do not count.
        for pair in acts.windows(2) {
            let changes = matches!(pair[0], Act::Release | Act::Fill(Half::Deleted));
            assert_eq!(changes, pair[1] == Act::Settle, "{pair:?}");
        }
    }
}
