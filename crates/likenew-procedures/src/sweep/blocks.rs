//! What the block size decides: from which on it suffices, and whether a larger one is ever slower.

use crate::pattern::Pattern;
use likenew_core::mix::Mix;
use likenew_core::units::{amount, rate};
use likenew_core::verdict::{Standing, Verdict};

use super::cell::{capitalize, noun};
use super::results::{Matrix, MeasuredCell, Ratio};
use super::{DIFFERENCE, MORE_PASSES};
use crate::CONFIDENCE;

/// What is called enough of the peak.
const ENOUGH: f64 = 0.9;
/// So many places are named; all stand in the matrix.
const LISTED_MAX: usize = 6;

/// The smallest block that reaches 90 % of the peak rate: one verdict for each operation and pattern.
pub(super) fn sufficient(matrix: &Matrix<'_>) -> Vec<Verdict> {
    let hardest = matrix.hardest();
    let of_hardest = |group: &Vec<&MeasuredCell<'_>>| group[0].cell.data == hardest;
    let groups = matrix.groups().into_iter().filter(of_hardest);
    groups.filter_map(|group| sufficient_block(&group)).collect()
}

fn sufficient_block(group: &[&MeasuredCell<'_>]) -> Option<Verdict> {
    let best = best_by_block(group);
    if best.len() < 2 {
        return None;
    }
    let peak = best.iter().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
    let reaches = |one: &&&MeasuredCell<'_>| one.speed() >= ENOUGH * peak.speed();
    let first = best.iter().find(reaches)?;
    // Whether each block is below: the peak itself is not, whatever the scatter of its passes.
    let is_below = |one: &MeasuredCell<'_>| {
        if one.cell == peak.cell { Some(false) } else { one.ratio_to(peak, CONFIDENCE)?.is_below(ENOUGH) }
    };
    let size = |one: &MeasuredCell<'_>| u64::from(one.cell.form.block);
    let lowest = best.iter().find(|one| is_below(one) != Some(true)).map_or(size(peak), |one| size(one));
    let highest = best.iter().find(|one| is_below(one) == Some(false)).map_or(size(peak), |one| size(one));
    let (what, block) = (subject(first), amount(size(first)));
    let claim = format!("{} reach 90 % of their peak rate from blocks of {block} on.", capitalize(&what));
    let standing = if lowest == highest { Standing::Holds } else { Standing::Undecided };
    let mut verdict = Verdict::new(claim, standing)
        .estimate(size(first) as f64, lowest as f64, highest as f64, "bytes")
        .with_evidence(format!(
            "{block} reach {} at depth {}, the peak is {} ({}, depth {})",
            rate(first.speed()),
            first.cell.form.depth,
            rate(peak.speed()),
            amount(size(peak)),
            peak.cell.form.depth
        ));
    if standing == Standing::Undecided {
        let range = format!("anything from {} to {} may be the smallest", amount(lowest), amount(highest));
        verdict = verdict.with_evidence(range).caveat(MORE_PASSES);
    }
    if size(first) == size(best[0]) {
        verdict = verdict.caveat("it is the smallest that was measured");
    }
    let last_step = best[best.len() - 1].speed() / best[best.len() - 2].speed().max(f64::MIN_POSITIVE);
    if size(peak) == size(best[best.len() - 1]) && last_step > 1.0 + DIFFERENCE {
        verdict = verdict.caveat("the rate still grows at the largest block: larger ones may reach more");
    }
    Some(verdict)
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

/// A block that is, or may be, slower than the fastest smaller one of the same depth.
struct Dip<'b, 'a> {
    at: &'b MeasuredCell<'a>,
    smaller: &'b MeasuredCell<'a>,
    ratio: Ratio,
    is_sure: bool,
}

/// Whether speed never falls as blocks grow: one verdict for all operations and patterns.
pub(super) fn growth(matrix: &Matrix<'_>) -> Option<Verdict> {
    let groups = matrix.groups();
    let lines: Vec<Vec<&MeasuredCell<'_>>> = groups.iter().flat_map(|group| by_depth(group)).collect();
    let comparisons = lines.iter().map(|line| line.len() - 1).sum::<usize>();
    if comparisons == 0 {
        return None;
    }
    let mut dips: Vec<Dip<'_, '_>> = lines.iter().flat_map(|line| dips(line, comparisons)).collect();
    dips.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let (sure, unsure): (Vec<_>, Vec<_>) = dips.into_iter().partition(|dip| dip.is_sure);
    let claim = "Speed never falls as blocks grow.";
    if sure.is_empty() && unsure.is_empty() {
        let percent = DIFFERENCE * 100.0;
        return Some(Verdict::new(claim, Standing::Holds).with_evidence(format!(
            "no block is {percent:.0} % or more slower than a smaller one, in {comparisons} comparisons at equal depth"
        )));
    }
    if sure.is_empty() {
        let open = format!("{} of {comparisons} comparisons at equal depth do not decide it", unsure.len());
        let verdict = Verdict::new(claim, Standing::Undecided).with_evidence(open);
        // Of those that look no slower, one is enough to name.
        let slower = unsure.iter().filter(|dip| dip.ratio.value < 1.0 - DIFFERENCE).count();
        return Some(name(verdict, &unsure[..slower.max(1)]).caveat(MORE_PASSES));
    }
    Some(name(Verdict::new(claim, Standing::Fails), &sure))
}

/// The dips in sentences, the deepest first.
fn name(verdict: Verdict, dips: &[Dip<'_, '_>]) -> Verdict {
    let named = dips.iter().take(LISTED_MAX).fold(verdict, |verdict, dip| verdict.with_evidence(text(dip)));
    if dips.len() > LISTED_MAX {
        named.with_evidence(format!("and {} more", dips.len() - LISTED_MAX))
    } else {
        named
    }
}

/// The cells of a group at each depth, smallest block first.
fn by_depth<'b, 'a>(group: &[&'b MeasuredCell<'a>]) -> Vec<Vec<&'b MeasuredCell<'a>>> {
    let mut sorted = group.to_vec();
    sorted.sort_by_key(|one| (one.cell.form.depth, one.cell.form.block));
    let lines = sorted.chunk_by(|a, b| a.cell.form.depth == b.cell.form.depth);
    lines.map(<[_]>::to_vec).collect()
}

/// The blocks of a line that are, or may be, slower than a smaller one. That one of many is slower takes all `comparisons`
/// together at 95 % (Bonferroni); that none is takes each of them alone.
fn dips<'b, 'a>(line: &[&'b MeasuredCell<'a>], comparisons: usize) -> Vec<Dip<'b, 'a>> {
    let together = 1.0 - (1.0 - CONFIDENCE) / comparisons as f64;
    let bound = 1.0 - DIFFERENCE;
    let mut smaller = line[0];
    let mut dips = Vec::new();
    for &at in &line[1..] {
        if let Some(ratio) = at.ratio_to(smaller, CONFIDENCE)
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

fn text(dip: &Dip<'_, '_>) -> String {
    let Dip { at, smaller, ratio, .. } = dip;
    let range = ratio.interval.map_or_else(String::new, |interval| {
        format!(" ({:.2} to {:.2})", interval.low.max(0.0), interval.high)
    });
    format!(
        "{} run at {}, {:.2} times{range} the {} of {}",
        at.cell.describe(),
        rate(at.speed()),
        ratio.value,
        rate(smaller.speed()),
        amount(u64::from(smaller.cell.form.block))
    )
}

/// `sequential reads`.
fn subject(one: &MeasuredCell<'_>) -> String {
    let (pattern, op): (Pattern, Mix) = (one.cell.form.pattern, one.cell.op);
    format!("{pattern} {}", noun(op))
}
