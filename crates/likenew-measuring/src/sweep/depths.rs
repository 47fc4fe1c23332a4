//! The gain by queue depth, and whether the queue was as deep as it should have been.

use likenew_core::answer::{Action, Answer};
use likenew_core::quantity::Share;
use likenew_procedure_support::pattern::Pattern;
use likenew_stats::interval::CONFIDENCE_95;
use serde::Serialize;

use super::results::{CellColumns, Matrix, MeasuredCell, Ratio};
use super::wording::{self, DepthSpeed};
use super::{DIFFERENCE, LISTED_MAX};

/// The cells of one block, operation, pattern and class of data, shallowest first, and the gain by depth.
struct Family<'b, 'a> {
    cells: Vec<&'b MeasuredCell<'a>>,
    /// Index of the depth from which on more gains less than 5%.
    sufficient_depth: usize,
    /// The first that may be it, and the first that certainly is.
    range: (usize, usize),
    /// Whether any depth is faster than the shallowest; `None` if the passes do not decide it.
    gains: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct DepthRow {
    pattern: String,
    op: String,
    block_bytes: u32,
    data: Option<String>,
    enough_depth: u32,
    enough_depth_low: u32,
    enough_depth_high: u32,
    deepest_over_shallowest: Option<f64>,
}

impl<'b, 'a> Family<'b, 'a> {
    fn from_cells(mut cells: Vec<&'b MeasuredCell<'a>>) -> Option<Self> {
        cells.sort_by_key(|one| one.cell.form.depth);
        if cells.len() < 2 {
            return None;
        }
        let bound = 1.0 + DIFFERENCE;
        // To claim that one of several is faster takes all comparisons together at 95% (Bonferroni); that
        // none is takes each alone.
        let together = 1.0 - (1.0 - CONFIDENCE_95) / (cells.len() - 1) as f64;
        let (count, last) = (cells.len(), cells.len() - 1);
        let deeper = |at: usize, confidence| {
            let ratios = cells[at + 1..].iter().map(|deep| deep.ratio_to(cells[at], confidence));
            ratios.collect::<Vec<Option<Ratio>>>()
        };
        let is_below = |ratio: &Option<Ratio>| ratio.and_then(|ratio| ratio.is_below(bound));
        let any_faster = |at: usize| deeper(at, together).iter().any(|ratio| is_below(ratio) == Some(false));
        let none_faster =
            |at: usize| deeper(at, CONFIDENCE_95).iter().all(|ratio| is_below(ratio) == Some(true));
        let looks_enough = |at: usize| {
            deeper(at, CONFIDENCE_95).iter().all(|ratio| ratio.is_none_or(|ratio| ratio.value < bound))
        };
        let sufficient_depth = (0..count).find(|at| looks_enough(*at)).unwrap_or(last);
        let possibly = (0..count).find(|at| !any_faster(*at)).unwrap_or(last);
        let surely = (0..count).find(|at| none_faster(*at)).unwrap_or(last);
        let gains = if any_faster(0) { Some(true) } else { none_faster(0).then_some(false) };
        Some(Self {
            sufficient_depth,
            range: (possibly.min(sufficient_depth), surely.max(sufficient_depth)),
            gains,
            cells,
        })
    }

    fn depth(&self, at: usize) -> u32 {
        self.cells[at].cell.form.depth
    }

    fn row(&self) -> DepthRow {
        let (shallow, deep) = (self.cells[0], self.cells[self.cells.len() - 1]);
        let CellColumns { pattern, op, block_bytes, data, .. } = deep.columns();
        DepthRow {
            pattern,
            op,
            block_bytes,
            data,
            enough_depth: self.depth(self.sufficient_depth),
            enough_depth_low: self.depth(self.range.0),
            enough_depth_high: self.depth(self.range.1),
            deepest_over_shallowest: deep.ratio_to(shallow, CONFIDENCE_95).map(|ratio| ratio.value),
        }
    }

    fn speed(&self, at: usize) -> DepthSpeed {
        let ratio = self.cells[at].ratio_to(self.cells[0], CONFIDENCE_95).filter(|_| at > 0);
        DepthSpeed {
            depth: self.depth(at),
            iops: self.cells[at].iops(),
            ratio: ratio.map(|ratio| ratio.value),
        }
    }

    fn answer(&self, more_passes: &Action) -> Answer {
        let cell = self.cells[0].cell;
        let (enough, deepest) = (self.sufficient_depth, self.cells.len() - 1);
        let mut places = vec![0, enough, deepest];
        places.dedup();
        let speeds: Vec<DepthSpeed> = places.into_iter().map(|at| self.speed(at)).collect();
        let estimate = |answer: Answer| {
            let at = |place: usize| f64::from(self.depth(place));
            answer.estimate(at(enough), at(self.range.0), at(self.range.1), "1")
        };
        let (shallow, deep) = (self.speed(0), self.speed(deepest));
        match self.gains {
            Some(true) => {
                let answer = wording::depth_helps(cell.form, cell.op, shallow, self.speed(enough));
                let answer = estimate(answer);
                if enough == deepest {
                    answer.caveat(wording::DEEPEST_DEPTH)
                } else {
                    answer
                        .with_evidence(wording::iops_by_depth(&speeds))
                        .with_evidence(wording::deeper_brings_little())
                }
            }
            Some(false) => wording::depth_does_not_help(cell.form, cell.op, shallow, deep)
                .with_evidence(wording::SERVES_ONE_AT_A_TIME),
            None => {
                let is_one_pass = self.cells.iter().all(|one| one.segments.len() == 1);
                let text = if is_one_pass { wording::depth_in_one_pass } else { wording::depth_is_open };
                let answer = estimate(text(cell.form, cell.op, shallow, deep));
                let answer = answer.action(more_passes.clone());
                // The answer itself has two depths.
                if speeds.len() > 2 { answer.with_evidence(wording::iops_by_depth(&speeds)) } else { answer }
            }
        }
    }
}

fn families<'b, 'a>(matrix: &'b Matrix<'a>) -> Vec<Family<'b, 'a>> {
    let mut families = Vec::new();
    for mut group in matrix.groups() {
        group.sort_by_key(|one| one.cell.form.block);
        let of_block = group.chunk_by(|a, b| a.cell.form.block == b.cell.form.block);
        families.extend(of_block.filter_map(|cells| Family::from_cells(cells.to_vec())));
    }
    families
}

/// The gain by depth for the smallest random block of each operation, or the smallest sequential one if none
/// is random.
pub(super) fn gains(matrix: &Matrix<'_>, more_passes: &Action) -> Vec<Answer> {
    let (hardest, families) = (matrix.hardest(), families(matrix));
    let of_op = |op| {
        let candidates = families.iter().filter(|family| {
            let cell = family.cells[0].cell;
            cell.op == op && cell.data == hardest
        });
        candidates.min_by_key(|family| {
            let form = family.cells[0].cell.form;
            (form.pattern != Pattern::Random, form.block)
        })
    };
    matrix.ops().into_iter().filter_map(|op| Some(of_op(op)?.answer(more_passes))).collect()
}

/// The gain by depth for every block.
pub(super) fn table(matrix: &Matrix<'_>) -> Vec<DepthRow> {
    families(matrix).iter().map(Family::row).collect()
}

/// Whether as many I/Os were in flight as the depth says, by Little's law.
pub(super) fn fullness_answer(matrix: &Matrix<'_>) -> Answer {
    let mut empty: Vec<&MeasuredCell<'_>> = matrix.cells.iter().filter(|one| !is_full(one)).collect();
    empty.sort_by(|a, b| fullness(a).total_cmp(&fullness(b)));
    if empty.is_empty() {
        let answer = wording::queue_was_full(matrix.cells.len());
        return match matrix.cells.iter().filter(|one| fullness(one) < MOSTLY_FULL).count() {
            0 => answer,
            few => answer.caveat(wording::queue_was_mostly_full(few, Share(MOSTLY_FULL))),
        };
    }
    let answer = wording::queue_ran_empty(empty.len(), matrix.cells.len());
    let answer = empty
        .iter()
        .take(LISTED_MAX)
        .fold(answer, |answer, one| answer.with_evidence(wording::in_flight(one.cell, one.in_flight())));
    match empty.len().saturating_sub(LISTED_MAX) {
        0 => answer,
        more => answer.with_evidence(wording::and_more(more)),
    }
}

/// Mean queue over the queue depth, as a ratio, from which the queue is mostly full. Chosen: a tenth may be
/// its start and end.
const MOSTLY_FULL: f64 = 0.9;

fn fullness(one: &MeasuredCell<'_>) -> f64 {
    one.in_flight() / f64::from(one.cell.form.depth)
}

/// After the last I/O of a pass has left, the queue drains within the longest latency, and holds at least one
/// until the pass ends. What is missing beyond that and 5% was never sent.
fn is_full(one: &MeasuredCell<'_>) -> bool {
    let all_but_one = 1.0 - 1.0 / f64::from(one.cell.form.depth);
    fullness(one) >= 1.0 - DIFFERENCE - all_but_one * one.longest_share()
}
