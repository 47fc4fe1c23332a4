//! The workloads of a sweep and their order.
//!
//! For each class of data the span is written once with it; then come the reads, the mixes and the writes, in
//! this order, so that no write disturbs a read. Each operation is measured in rounds: all cells once, then
//! all again. So a change of the drive shows in the differences between the passes of every cell, and thereby
//! in its interval, rather than in the differences between cells.

use std::collections::HashMap;

use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Size;
use likenew_core::segment::{Segment, Stop};
use likenew_core::target::Geometry;
use likenew_core::workload::{Mix, Workload};
use likenew_procedure_support::workloads::prepare;
use likenew_stats::interval::{Goal, Precision, precision};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::sweep_options::{Order, SweepOptions};
use super::{Cell, Form, PREPARE, wording};

/// Most bytes of a queue, which must fit into memory.
const QUEUE_BYTES_MAX: u64 = 1 << 30;

/// What a sweep runs on a drive.
pub(super) struct Schedule<'a> {
    options: &'a SweepOptions,
    /// One after the other.
    stages: Vec<Stage>,
    /// What is measured in each stage.
    pub(super) forms: Vec<Form>,
    /// What was asked for and cannot be measured here, and why.
    pub(super) skips: Vec<String>,
}

/// Part of a sweep.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The span is written with this data.
    Prepare(DataClass),
    /// All forms are measured with this data and operation.
    Measure(DataClass, Mix),
}

impl Stage {
    fn from_segment(segment: &Segment) -> Option<Self> {
        let stream = segment.workload.streams.first()?;
        Some(if segment.workload.name == PREPARE {
            Self::Prepare(stream.data)
        } else {
            Self::Measure(stream.data, stream.op)
        })
    }
}

impl<'a> Schedule<'a> {
    pub(super) fn new(options: &'a SweepOptions, geometry: &Geometry) -> Self {
        let mut ops = options.ops.clone();
        ops.sort_by_key(|op| match op {
            Mix::Only(Op::Read) => 0,
            Mix::Reads(_) => 1,
            Mix::Only(_) => 2,
        });
        let mut stages = Vec::new();
        for data in &options.data {
            if geometry.writable {
                stages.push(Stage::Prepare(*data));
            }
            stages.extend(ops.iter().map(|op| Stage::Measure(*data, *op)));
        }
        let (forms, skips) = forms(options, geometry);
        Self { options, stages, forms, skips }
    }

    /// Every cell, in the order of the matrix.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> {
        self.stages.iter().flat_map(|stage| {
            let (data, op, forms) = match stage {
                Stage::Prepare(data) => (*data, Mix::Only(Op::Write), &[][..]),
                Stage::Measure(data, op) => (*data, *op, &self.forms[..]),
            };
            forms.iter().map(move |form| Cell { form: *form, op, data })
        })
    }

    /// The next workload; `None` at the end.
    pub(super) fn next(&self, evidence: &Evidence) -> Option<Workload> {
        let last = evidence.segments.last();
        let place = last
            .and_then(Stage::from_segment)
            .and_then(|stage| self.stages.iter().position(|one| *one == stage));
        let prepared = last.is_some_and(is_whole) && place.is_some_and(|at| self.is_preparation(at));
        let first = place.unwrap_or(0) + usize::from(prepared);
        let index = evidence.segments.len();
        (first..self.stages.len()).find_map(|at| match self.stages[at] {
            Stage::Prepare(data) => Some(prepare(self.options.span, self.options.span, data)),
            Stage::Measure(data, op) => {
                let (form, passes) = self.next_cell(at, evidence)?;
                Some(Cell { form, op, data }.pass(passes + 1, index, self.options))
            }
        })
    }

    fn is_preparation(&self, stage: usize) -> bool {
        matches!(self.stages[stage], Stage::Prepare(_))
    }

    /// The next form of a stage to measure, and how often it was measured; `None` if all are done.
    fn next_cell(&self, stage: usize, evidence: &Evidence) -> Option<(Form, usize)> {
        let mut passes: HashMap<Form, Vec<Option<f64>>> = HashMap::new();
        let of_stage = |segment: &&Segment| Stage::from_segment(segment) == Some(self.stages[stage]);
        for segment in evidence.segments.iter().rev().take_while(of_stage).filter(|one| is_whole(one)) {
            if let Some(cell) = Cell::from_workload(&segment.workload) {
                passes.entry(cell.form).or_default().push(speed(segment));
            }
        }
        let goal = self.options.goal();
        let of_form = |form: &Form| passes.get(form).map_or(&[][..], Vec::as_slice);
        let is_wanted = |form: &Form| match &goal {
            None => of_form(form).len() < self.options.passes as usize,
            Some(goal) => wants_more(of_form(form), goal),
        };
        let wanted: Vec<bool> = self.forms.iter().map(is_wanted).collect();
        let made = |at: &usize| of_form(&self.forms[*at]).len();
        let round = (0..self.forms.len()).filter(|at| wanted[*at]).map(|at| made(&at)).min()?;
        let order = self.order(evidence, stage, round);
        let next = order.into_iter().find(|at| wanted[*at] && made(at) == round);
        next.map(|at| (self.forms[at], round))
    }

    /// The order of the forms in a round of a stage.
    fn order(&self, evidence: &Evidence, stage: usize, round: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.forms.len()).collect();
        if self.options.order == Order::Shuffled {
            // Far from the numbers of the workloads, so that seeds differ.
            let draw = 1 << 40 | stage << 16 | round;
            order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(evidence.plan.seed_of(draw)));
        }
        order
    }
}

/// Whether a workload ended by itself or because of the drive, and not because a user stopped it.
pub(super) fn is_whole(segment: &Segment) -> bool {
    segment.stop != Stop::Interrupted
}

/// Bytes a second; `None` for a failed segment, and in a dry run, where nothing is measured and no precision
/// is ever reached.
fn speed(segment: &Segment) -> Option<f64> {
    let measured = segment.tallies.iter().any(|tally| tally.latency.count() > 0);
    measured.then(|| segment.bytes_per_s())?
}

fn wants_more(passes: &[Option<f64>], goal: &Goal) -> bool {
    if passes.len() < goal.passes_min || passes.len() >= goal.passes_max {
        return passes.len() < goal.passes_min;
    }
    let speeds: Option<Vec<f64>> = passes.iter().copied().collect();
    speeds.is_none_or(|speeds| precision(&speeds, goal) == Precision::More)
}

/// The combinations of pattern, block and depth that can be measured on this drive, and what was left out.
fn forms(options: &SweepOptions, geometry: &Geometry) -> (Vec<Form>, Vec<String>) {
    let mut skips = Vec::new();
    let mut pairs = Vec::new();
    let most = QUEUE_BYTES_MAX.min(options.span);
    for block in options.blocks.iter().map(|block| block.0) {
        if let Some(reason) = misfit(block, options.span, geometry) {
            skips.push(reason);
            continue;
        }
        let fits = |depth: &u32| u64::from(block) * u64::from(*depth) <= most;
        let (deep, too_deep): (Vec<u32>, Vec<u32>) = options.depths.iter().partition(|depth| fits(depth));
        pairs.extend(deep.into_iter().map(|depth| (block, depth)));
        if !too_deep.is_empty() {
            skips.push(if most == options.span {
                wording::queue_exceeds_span(Size(u64::from(block)), &too_deep, Size(most))
            } else {
                wording::queue_exceeds_memory(Size(u64::from(block)), &too_deep, Size(most))
            });
        }
    }
    let each =
        |pattern| pairs.iter().map(move |(block, depth)| Form { pattern, block: *block, depth: *depth });
    (options.patterns.iter().flat_map(|pattern| each(*pattern)).collect(), skips)
}

/// Why a block cannot be measured on this drive.
fn misfit(block: u32, span: u64, geometry: &Geometry) -> Option<String> {
    let size = Size(u64::from(block));
    if !block.is_multiple_of(geometry.block) {
        return Some(wording::misaligned_block(size, geometry.block));
    }
    if size.0 > span {
        return Some(wording::block_exceeds_span(size, Size(span)));
    }
    let boundary = geometry.boundary?;
    (!boundary.is_multiple_of(size.0)).then(|| wording::block_crosses_files(size, Size(boundary)))
}
