//! One cell of the matrix: its parameters, and the workload that measures it once.

use std::fmt;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::region::Region;
use likenew_core::units::{Nanos, exact_size};
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};
use likenew_procedure_support::pattern::Pattern;

/// The parameters of a cell except its operation and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub(super) pattern: Pattern,
    pub(super) block: u32,
    pub(super) depth: u32,
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) form: Form,
    pub(super) op: Mix,
    pub(super) data: DataClass,
}

/// The bounds of a pass.
pub(super) struct Pass {
    pub(super) span: u64,
    pub(super) time: Nanos,
    pub(super) bytes: u64,
}

impl Form {
    /// Most bytes in flight.
    pub(super) fn queue_bytes(self) -> u64 {
        u64::from(self.block) * u64::from(self.depth)
    }
}

impl Cell {
    /// The cell that a workload of a sweep measures; the preparation measures none.
    pub(super) fn from_workload(workload: &Workload) -> Option<Self> {
        let [stream] = &workload.streams[..] else { return None };
        if workload.name == super::PREPARE {
            return None;
        }
        let random = matches!(stream.pattern, AccessPattern::Random(_));
        let pattern = if random { Pattern::Random } else { Pattern::Sequential };
        let form = Form { pattern, block: stream.size.max(), depth: stream.arrival.depth() };
        Some(Self { form, op: stream.op, data: stream.data })
    }

    /// Its `number`-th pass as the `index`-th workload of a run. Sequential passes move on through the span,
    /// so that no cache serves one what another has left there.
    pub(super) fn pass(self, number: usize, index: usize, pass: &Pass) -> Workload {
        let Form { pattern, block, depth } = self.form;
        let each = u64::from(block);
        let end = pass.span - pass.span % each;
        let bytes = pass.bytes.max(2 * self.form.queue_bytes());
        let place = match pattern {
            Pattern::Random => AccessPattern::Random(Region::bytes(0..end)),
            Pattern::Sequential => {
                let parts = (end / bytes).max(1);
                let start = index as u64 % parts * bytes;
                AccessPattern::Sequential(Region::bytes(start - start % each..end))
            }
        };
        let until = Until { elapsed: Some(pass.time), bytes: Some(bytes), ops: None };
        let stream = Stream::closed(self.op, block, place, depth, self.data);
        Workload::new(format!("{self} #{number}"), until, vec![stream])
    }
}

impl fmt::Display for Cell {
    /// `RND4K Q32 read`, and the data if it is not random.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Form { pattern, block, depth } = self.form;
        let short = if pattern == Pattern::Sequential { "SEQ" } else { "RND" };
        let size = exact_size(u64::from(block));
        write!(f, "{short}{} Q{depth} {}", size.trim_end_matches("iB"), self.op)?;
        if self.data == DataClass::Random { Ok(()) } else { write!(f, " {}", self.data) }
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::Op;

    use super::*;

    const PASS: Pass = Pass { span: 64 << 20, time: Nanos(1_000_000_000), bytes: 16 << 20 };

    fn cell(pattern: Pattern, block: u32, depth: u32) -> Cell {
        Cell { form: Form { pattern, block, depth }, op: Mix::Only(Op::Read), data: DataClass::Random }
    }

    #[test]
    fn a_workload_says_which_cell_it_measures() {
        for pattern in [Pattern::Sequential, Pattern::Random] {
            for cell in [cell(pattern, 512, 1), cell(pattern, 12 << 10, 7)] {
                let workload = cell.pass(2, 5, &PASS);
                assert_eq!(Cell::from_workload(&workload), Some(cell));
                assert!(workload.name.starts_with(&cell.to_string()), "{}", workload.name);
            }
        }
        assert_eq!(cell(Pattern::Random, 4096, 32).to_string(), "RND4K Q32 read");
    }

    #[test]
    fn sequential_passes_walk_through_the_span_in_whole_blocks() {
        let starts = |block: u32, depth| -> Vec<u64> {
            let start = |index| {
                let workload = cell(Pattern::Sequential, block, depth).pass(1, index, &PASS);
                let range = workload.streams[0].pattern.region().resolve(64 << 20, 512).unwrap();
                assert!(
                    range.start.is_multiple_of(u64::from(block))
                        && (range.end - range.start).is_multiple_of(u64::from(block))
                );
                assert!(range.end - range.start >= workload.until.bytes.unwrap().min(range.end));
                range.start
            };
            (0..5).map(start).collect()
        };
        assert_eq!(starts(1 << 20, 1), [0, 16 << 20, 32 << 20, 48 << 20, 0]);
        assert_eq!(starts(12 << 10, 1)[1], (16 << 20) / (12 << 10) * (12 << 10));
        // Twice what the queue holds is more than the span: each pass goes round it.
        assert_eq!(starts(16 << 20, 4), [0; 5]);
    }
}
