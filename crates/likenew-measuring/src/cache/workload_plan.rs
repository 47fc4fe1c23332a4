//! The workloads and their order.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::CacheOptions;
use super::level::{Cell, Level, cells};
use crate::data::Test;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::workloads::prepare;

/// Time of I/O that goes nowhere. Chosen: it is steady, so this is long enough.
const NULL_TIME: Nanos = Nanos::from_millis(100);

/// Random I/O moves one part in this many of the span, so that only one in 32 repeats an address and a first
/// read is really the first.
const RANDOM_PART: u64 = 16;

/// All workloads of a plan. Where it may write, it writes the span once; then each pass goes through both
/// patterns, and each pattern through all levels.
pub(super) struct WorkloadPlan<'a> {
    options: &'a CacheOptions,
    cells: Vec<Cell>,
    preparation_runs: usize,
    /// Whether likenew may drop the pages of what it measures.
    is_writable: bool,
}

/// The position of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Counted from 1.
    pub(super) pass: u32,
    pub(super) test: Test,
    pub(super) cell: Cell,
}

impl<'a> WorkloadPlan<'a> {
    pub(super) fn new(options: &'a CacheOptions, evidence: &Evidence) -> Self {
        let writable = evidence.geometry.writable;
        Self {
            options,
            cells: cells(writable, evidence.geometry.clock == Clock::Wall),
            preparation_runs: usize::from(writable),
            is_writable: writable,
        }
    }

    /// How many there are.
    pub(super) fn workloads(&self) -> usize {
        self.preparation_runs + self.options.passes as usize * self.workloads_per_pass()
    }

    /// What the workload of this index measures; `None` if it only prepares.
    pub(super) fn turn(&self, index: usize) -> Option<Turn> {
        let after = index.checked_sub(self.preparation_runs)?;
        let (pass, in_pass) = (after / self.workloads_per_pass(), after % self.workloads_per_pass());
        (pass < self.options.passes as usize).then(|| Turn {
            pass: pass as u32 + 1,
            test: self.options.tests[in_pass / self.cells.len()],
            cell: self.cells[in_pass % self.cells.len()],
        })
    }

    /// The next one.
    pub(super) fn workload(&self, evidence: &Evidence) -> Option<Workload> {
        let done = evidence.segments.len();
        let CacheOptions { span, data, .. } = *self.options;
        if done < self.preparation_runs {
            return Some(Workload { seed: evidence.plan.seed_of(done), ..prepare(span, span, data) });
        }
        let Turn { pass, test, cell } = self.turn(done)?;
        let Cell { level, op } = cell;
        let pattern = match test.pattern {
            Pattern::Sequential => AccessPattern::Sequential(Region::bytes(0..span)),
            Pattern::Random => AccessPattern::Random(Region::bytes(0..span)),
        };
        let block = u32::try_from(test.block).expect("a block is at most 64 MiB");
        let stream = Stream::closed(Mix::Only(op), block, pattern, test.depth, data);
        let name = format!("{} {} {op} {pass}/{}", test.pattern, level.name(), self.options.passes);
        Some(Workload {
            seed: evidence.plan.seed_of(self.seed_index(done, op)),
            access: level.access(),
            cold: level.is_cold() && self.is_writable,
            flush: level == Level::Flushed,
            ..Workload::new(name, self.until(level, test, evidence), vec![stream])
        })
    }

    fn workloads_per_pass(&self) -> usize {
        self.options.tests.len() * self.cells.len()
    }

    /// All reads of a pattern in a pass go to the same addresses in the same order; each write has its own.
    fn seed_index(&self, index: usize, op: Op) -> usize {
        if op == Op::Write {
            return index;
        }
        let in_pattern = (index - self.preparation_runs) % self.cells.len();
        let first = self.cells.iter().position(|cell| cell.level == Level::First);
        index - in_pattern + first.expect("every pass has a first read")
    }

    fn until(&self, level: Level, test: Test, evidence: &Evidence) -> Until {
        let CacheOptions { span, time, .. } = *self.options;
        let most = match test.pattern {
            Pattern::Sequential => span,
            Pattern::Random => (span / RANDOM_PART).max(test.block),
        };
        let usual = Until { elapsed: Some(time), bytes: Some(most), ops: None };
        match level {
            Level::Null => Until::elapsed(time.min(NULL_TIME)),
            // Addresses that the first read did not reach are in no cache yet.
            Level::Second => {
                let first = evidence.segments.last().map_or(0, |segment| segment.bytes(Op::Read));
                Until { bytes: Some(first.clamp(test.block, most)), ..usual }
            }
            _ => usual,
        }
    }
}
