//! Results by block size: from which on it is enough, and whether a larger one is ever slower.

use likenew_core::answer::{Action, Answer};
use likenew_core::quantity::{Rate, Share, Size};
use likenew_stats::interval::CONFIDENCE_95;

use super::results::{Matrix, MeasuredCell, Ratio};
use super::wording::{self, DipText};
use super::{DIFFERENCE, LISTED_MAX};

/// Share of the peak that counts as enough. Chosen: the last tenth rarely matters.
const ENOUGH: f64 = 0.9;

/// The smallest block that reaches 90% of the peak rate: one answer for each operation and pattern.
pub(super) fn sufficient(matrix: &Matrix<'_>, more_passes: &Action) -> Vec<Answer> {
    let hardest = matrix.hardest();
    let of_hardest = |group: &Vec<&MeasuredCell<'_>>| group[0].cell.data == hardest;
    let groups = matrix.groups().into_iter().filter(of_hardest);
    groups.filter_map(|group| sufficient_block(&group, more_passes)).collect()
}

/// The smallest and the largest block, in bytes, that may be the smallest at 90% of the peak rate; `None` for a single
/// block.
pub(super) fn enough_range(group: &[&MeasuredCell<'_>]) -> Option<(u64, u64)> {
    let best = best_by_block(group);
    let peak = fastest(&best)?;
    // Whether each block is below: the peak itself is not, whatever the scatter of its passes.
    let is_below = |one: &MeasuredCell<'_>| {
        if one.cell == peak.cell { Some(false) } else { one.ratio_to(peak, CONFIDENCE_95)?.is_below(ENOUGH) }
    };
    let size = |one: &MeasuredCell<'_>| u64::from(one.cell.form.block);
    let lowest = best.iter().find(|one| is_below(one) != Some(true)).map_or(size(peak), |one| size(one));
    let highest = best.iter().find(|one| is_below(one) == Some(false)).map_or(size(peak), |one| size(one));
    (best.len() > 1).then_some((lowest, highest))
}

/// The fastest cell of the smallest block that reaches 90% of the peak rate; `None` for a single block.
fn first_enough<'b, 'a>(group: &[&'b MeasuredCell<'a>]) -> Option<&'b MeasuredCell<'a>> {
    let best = best_by_block(group);
    let peak = fastest(&best)?;
    let first = best.iter().find(|one| one.speed() >= ENOUGH * peak.speed())?;
    (best.len() > 1).then_some(*first)
}

fn fastest<'b, 'a>(cells: &[&'b MeasuredCell<'a>]) -> Option<&'b MeasuredCell<'a>> {
    cells.iter().max_by(|a, b| a.speed().total_cmp(&b.speed())).copied()
}

fn sufficient_block(group: &[&MeasuredCell<'_>], more_passes: &Action) -> Option<Answer> {
    let best = best_by_block(group);
    let (first, peak) = (first_enough(group)?, fastest(&best)?);
    let (lowest, highest) = enough_range(group)?;
    let size = |one: &MeasuredCell<'_>| u64::from(one.cell.form.block);
    let (form, op, peak_rate) = (first.cell.form, first.cell.op, Rate(peak.speed()));
    let answer = if lowest == highest {
        wording::enough_block(form, op, Share(ENOUGH), Rate(first.speed()), peak_rate)
    } else {
        let range = (Size(lowest), Size(highest));
        let is_one_pass = best.iter().all(|one| one.segments.len() < 2);
        wording::enough_block_is_open(form, op, Share(ENOUGH), range, peak_rate, is_one_pass)
            .action(more_passes.clone())
    };
    let mut answer = answer
        .estimate(size(first) as f64, lowest as f64, highest as f64, "bytes")
        .with_evidence(wording::depths_of_blocks(form, peak.cell.form));
    if size(first) == size(best[0]) {
        answer = answer.caveat(wording::SMALLEST_BLOCK);
    }
    let last_step = best[best.len() - 1].speed() / best[best.len() - 2].speed().max(f64::MIN_POSITIVE);
    if size(peak) == size(best[best.len() - 1]) && last_step > 1.0 + DIFFERENCE {
        answer = answer.caveat(wording::STILL_GROWS);
    }
    Some(answer)
}

/// The fastest cell of each block, smallest block first.
fn best_by_block<'b, 'a>(group: &[&'b MeasuredCell<'a>]) -> Vec<&'b MeasuredCell<'a>> {
    let mut sorted = group.to_vec();
    sorted.sort_by_key(|one| one.cell.form.block);
    let of_block = sorted.chunk_by(|a, b| a.cell.form.block == b.cell.form.block);
    let fastest = |cells: &[&'b MeasuredCell<'a>]| {
        *cells.iter().max_by(|a, b| a.speed().total_cmp(&b.speed())).expect("a chunk is not empty")
    };
    of_block.map(fastest).collect()
}

/// A block that is, or may be, slower than the fastest smaller one at the same depth.
struct Dip<'b, 'a> {
    at: &'b MeasuredCell<'a>,
    smaller: &'b MeasuredCell<'a>,
    ratio: Ratio,
    is_sure: bool,
}

/// Whether a larger block is ever slower: one answer for all operations and patterns.
pub(super) fn growth(matrix: &Matrix<'_>, more_passes: &Action) -> Option<Answer> {
    let groups = matrix.groups();
    let lines: Vec<Vec<&MeasuredCell<'_>>> = groups.iter().flat_map(|group| by_depth(group)).collect();
    let comparisons = lines.iter().map(|line| line.len() - 1).sum::<usize>();
    if comparisons == 0 {
        return None;
    }
    let mut dips: Vec<Dip<'_, '_>> = lines.iter().flat_map(|line| dips(line, comparisons)).collect();
    dips.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let (sure, unsure): (Vec<_>, Vec<_>) = dips.into_iter().partition(|dip| dip.is_sure);
    if let Some(worst) = sure.first() {
        let answer = wording::larger_blocks_are_slower(sure.len(), &worst.text());
        return Some(with_dips(answer, &sure));
    }
    if unsure.is_empty() {
        return Some(wording::larger_blocks_never_slower(comparisons));
    }
    let answer = wording::larger_blocks_are_open(unsure.len(), comparisons);
    // Of those that look no slower, one is enough to name.
    let slower = unsure.iter().filter(|dip| dip.ratio.value < 1.0 - DIFFERENCE).count();
    Some(with_dips(answer, &unsure[..slower.max(1)]).action(more_passes.clone()))
}

/// The dips in sentences, the deepest first.
fn with_dips(answer: Answer, dips: &[Dip<'_, '_>]) -> Answer {
    let named = dips.iter().take(LISTED_MAX);
    let answer = named.fold(answer, |answer, dip| answer.with_evidence(wording::dip(&dip.text())));
    match dips.len().saturating_sub(LISTED_MAX) {
        0 => answer,
        more => answer.with_evidence(wording::and_more(more)),
    }
}

/// The cells of a group at each depth, smallest block first.
fn by_depth<'b, 'a>(group: &[&'b MeasuredCell<'a>]) -> Vec<Vec<&'b MeasuredCell<'a>>> {
    let mut sorted = group.to_vec();
    sorted.sort_by_key(|one| (one.cell.form.depth, one.cell.form.block));
    let lines = sorted.chunk_by(|a, b| a.cell.form.depth == b.cell.form.depth);
    lines.map(<[_]>::to_vec).collect()
}

/// The blocks of a line that are, or may be, slower than a smaller one. To claim that one is slower takes all
/// `comparisons` together at 95% (Bonferroni); that none is takes each of them alone.
fn dips<'b, 'a>(line: &[&'b MeasuredCell<'a>], comparisons: usize) -> Vec<Dip<'b, 'a>> {
    let together = 1.0 - (1.0 - CONFIDENCE_95) / comparisons as f64;
    let bound = 1.0 - DIFFERENCE;
    let mut smaller = line[0];
    let mut dips = Vec::new();
    for &at in &line[1..] {
        if let Some(ratio) = at.ratio_to(smaller, CONFIDENCE_95)
            && ratio.is_below(bound) != Some(false)
        {
            let is_sure =
                at.ratio_to(smaller, together).and_then(|ratio| ratio.is_below(bound)) == Some(true);
            dips.push(Dip { at, smaller, ratio, is_sure });
        }
        if at.speed() > smaller.speed() {
            smaller = at;
        }
    }
    dips
}

impl Dip<'_, '_> {
    fn text(&self) -> DipText {
        DipText {
            at: self.at.cell,
            rate: Rate(self.at.speed()),
            smaller: self.smaller.cell.form,
            smaller_rate: Rate(self.smaller.speed()),
            ratio: self.ratio.value,
            interval: self.ratio.interval,
        }
    }
}
