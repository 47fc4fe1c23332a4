//! What queue depth brings, and whether the queue was as deep as it should have been.

use crate::pattern::Pattern;
use likenew_core::units::{amount, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use serde::Serialize;

use super::cell::{capitalize, count, noun};
use super::results::{CellColumns, Matrix, MeasuredCell, Ratio};
use super::{DIFFERENCE, MORE_PASSES};
use crate::CONFIDENCE;

/// So many cells are named; all stand in the matrix.
const LISTED_MAX: usize = 6;

/// The cells of one block, operation, pattern and class of data, shallowest first, and what depth brings them.
struct Family<'b, 'a> {
    cells: Vec<&'b MeasuredCell<'a>>,
    /// Place of the depth from which on more brings less than 5 %.
    sufficient_depth: usize,
    /// The first that may be it, and the first that surely is.
    range: (usize, usize),
    /// Whether any depth is faster than the shallowest; `None` where the passes do not decide it.
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
        // That one of several is faster takes all comparisons together at 95 % (Bonferroni); that none is takes each alone.
        let together = 1.0 - (1.0 - CONFIDENCE) / (cells.len() - 1) as f64;
        let (count, last) = (cells.len(), cells.len() - 1);
        let deeper = |at: usize, confidence| {
            let ratios = cells[at + 1..].iter().map(|deep| deep.ratio_to(cells[at], confidence));
            ratios.collect::<Vec<Option<Ratio>>>()
        };
        let is_below = |ratio: &Option<Ratio>| ratio.and_then(|ratio| ratio.is_below(bound));
        let any_faster = |at: usize| deeper(at, together).iter().any(|ratio| is_below(ratio) == Some(false));
        let none_faster =
            |at: usize| deeper(at, CONFIDENCE).iter().all(|ratio| is_below(ratio) == Some(true));
        let looks_enough = |at: usize| {
            deeper(at, CONFIDENCE).iter().all(|ratio| ratio.is_none_or(|ratio| ratio.value < bound))
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
            deepest_over_shallowest: deep.ratio_to(shallow, CONFIDENCE).map(|ratio| ratio.value),
        }
    }

    fn verdict(&self) -> Verdict {
        let shallow = self.cells[0];
        let form = shallow.cell.form;
        let what = capitalize(&format!(
            "{} {} of {}",
            form.pattern,
            noun(shallow.cell.op),
            amount(u64::from(form.block))
        ));
        let (sufficient_depth, deepest) = (self.sufficient_depth, self.cells.len() - 1);
        let say = |at: usize| {
            let ratio = self.cells[at].ratio_to(shallow, CONFIDENCE).filter(|_| at > 0);
            let times = ratio
                .map_or_else(String::new, |ratio| format!(" ({} times as many)", three_digits(ratio.value)));
            format!("{} IOPS at depth {}{times}", count(self.cells[at].iops()), self.depth(at))
        };
        let mut places = vec![0, sufficient_depth, deepest];
        places.dedup();
        let evidence = places.into_iter().map(say).collect::<Vec<_>>().join(", ");
        let estimate = |verdict: Verdict| {
            let at = |place: usize| f64::from(self.depth(place));
            verdict.estimate(at(sufficient_depth), at(self.range.0), at(self.range.1), "1")
        };
        let general = format!("{what} gain from a deeper queue.");
        match self.gains {
            Some(true) => {
                let claim = format!("{what} gain from a deeper queue, up to depth {}.", self.depth(sufficient_depth));
                let verdict = estimate(Verdict::new(claim, Standing::Holds)).with_evidence(evidence);
                if sufficient_depth == deepest {
                    verdict.caveat("that is the deepest that was measured: more may bring more")
                } else {
                    verdict.with_evidence("more brings less than 5 %")
                }
            }
            Some(false) => Verdict::new(general, Standing::Fails)
                .with_evidence(evidence)
                .with_evidence("no depth is 5 % faster than the shallowest: the drive serves one after the other, or is busy with one already"),
            None => estimate(Verdict::new(general, Standing::Undecided))
                .with_evidence(evidence)
                .caveat(MORE_PASSES),
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

/// What depth brings the smallest random block of each operation, or the smallest sequential one where none is random.
pub(super) fn gains(matrix: &Matrix<'_>) -> Vec<Verdict> {
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
    matrix.ops().into_iter().filter_map(|op| of_op(op).map(Family::verdict)).collect()
}

/// What depth brings, for every block.
pub(super) fn table(matrix: &Matrix<'_>) -> Vec<DepthRow> {
    families(matrix).iter().map(Family::row).collect()
}

/// Whether as many I/Os were in flight as the depth says, by Little's law.
pub(super) fn fullness_verdict(matrix: &Matrix<'_>) -> Verdict {
    let mut empty: Vec<&MeasuredCell<'_>> = matrix.cells.iter().filter(|one| !is_full(one)).collect();
    empty.sort_by(|a, b| fullness(a).total_cmp(&fullness(b)));
    let claim = "The queue was as deep as it should be in every cell.";
    if empty.is_empty() {
        let verdict = Verdict::new(claim, Standing::Holds).with_evidence(format!(
            "IOPS × mean latency (Little's law) is within 5 % of the depth in all {} cells, but for the end of each pass, where the queue runs empty",
            matrix.cells.len()
        ));
        return match matrix.cells.iter().filter(|one| fullness(one) < MOSTLY_FULL).count() {
            0 => verdict,
            few => verdict.caveat(format!(
                "in {few} cells that end takes a tenth or more of the queue away: a longer --time and more --bytes make it shorter"
            )),
        };
    }
    let mut verdict =
        empty.iter().take(LISTED_MAX).fold(Verdict::new(claim, Standing::Fails), |verdict, one| {
            verdict.with_evidence(format!(
                "{}: {} in flight",
                one.cell.describe(),
                three_digits(one.in_flight())
            ))
        });
    if empty.len() > LISTED_MAX {
        verdict = verdict.with_evidence(format!("and {} more", empty.len() - LISTED_MAX));
    }
    verdict.caveat("these cells measure how fast the machine hands over I/Os, not the drive at this depth")
}

/// A queue that holds less than this on average is not mostly full.
const MOSTLY_FULL: f64 = 0.9;

fn fullness(one: &MeasuredCell<'_>) -> f64 {
    one.in_flight() / f64::from(one.cell.form.depth)
}

/// When the last I/O of a pass has left, the queue runs empty within the longest latency, and holds one at least until the
/// pass ends. What is missing beyond that and 5 % was never sent.
fn is_full(one: &MeasuredCell<'_>) -> bool {
    let all_but_one = 1.0 - 1.0 / f64::from(one.cell.form.depth);
    fullness(one) >= 1.0 - DIFFERENCE - all_but_one * one.longest_share()
}
