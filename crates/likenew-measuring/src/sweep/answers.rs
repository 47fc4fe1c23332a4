//! Answers of sweep: peaks, what queue depth and block size bring, ratios of cells, drift, and what was left out.

use likenew_core::findings::{Action, Answer, OverviewTable, Row};
use likenew_core::io::{DataClass, Op};
use likenew_core::quantity::{Iops, Rate, Share, Size};
use likenew_core::units::digits;
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::{Estimate, Verdict, grouped};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::precision_goal::{self, MeanPrecision};
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::interval::{CONFIDENCE_95, Precision};
use strum::VariantArray as _;

use super::results::{Matrix, MeasuredCell, depths, of_depth};
use super::wording::{self, ComparedSpeeds, Comparison, DepthSpeed, Dip, Drift, Peak};
use super::{Cell, DIFFERENCE, Form, LISTED_MAX};

fn fastest<'b, 'a>(cells: &[&'b MeasuredCell<'a>]) -> Option<&'b MeasuredCell<'a>> {
    cells.iter().max_by(|a, b| a.speed().total_cmp(&b.speed())).copied()
}

fn busiest<'b, 'a>(cells: &[&'b MeasuredCell<'a>]) -> Option<&'b MeasuredCell<'a>> {
    cells.iter().max_by(|a, b| a.iops().total_cmp(&b.iops())).copied()
}

fn peak_of(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Peak> {
    let (fastest, busiest) = (fastest(cells)?, busiest(cells)?);
    Some(Peak {
        op,
        rate: fastest.passes.rate,
        fastest: fastest.cell.form,
        iops: Iops(busiest.iops()),
        busiest: busiest.cell.form,
    })
}

/// The most important sentence: the peak of each operation.
pub(super) fn summary(matrix: &Matrix<'_>) -> String {
    let peaks = matrix.ops().into_iter().filter_map(|op| peak_of(op, &matrix.of_op(op)));
    wording::summary(&peaks.collect::<Vec<Peak>>())
}

/// One answer for each operation.
pub(super) fn peaks(matrix: &Matrix<'_>) -> Vec<Answer> {
    matrix.ops().into_iter().filter_map(|op| peak(op, &matrix.of_op(op))).collect()
}

fn peak(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Answer> {
    let (fastest, busiest) = (fastest(cells)?, busiest(cells)?);
    let rate = fastest.passes.rate;
    let mut answer = rate.not_negative().put(wording::peak(&peak_of(op, cells)?), "bytes/s");
    if rate.interval.is_none() {
        answer = answer.caveat(wording::MEASURED_ONCE);
    }
    let [low, high] = busiest.passes.iops().not_negative().ends().map(digits);
    if low != high {
        answer = answer.with_evidence(wording::iops_interval(&low, &high));
    }
    answer.evidence.extend(as_fast(fastest, cells));
    Some(answer)
}

/// The number of cells that cannot be told from the fastest one, and the cheapest of them.
fn as_fast(fastest: &MeasuredCell<'_>, cells: &[&MeasuredCell<'_>]) -> Option<String> {
    let is_other = |measured: &&&MeasuredCell<'_>| measured.cell != fastest.cell;
    let as_fast = |measured: &&&MeasuredCell<'_>| {
        let ratio = measured.ratio_to(fastest, CONFIDENCE_95);
        ratio.and_then(|ratio| ratio.high()).is_some_and(|high| high >= 1.0)
    };
    let equal: Vec<_> = cells.iter().filter(is_other).filter(as_fast).collect();
    let least =
        equal.iter().min_by_key(|measured| (measured.cell.form.queue_bytes(), measured.cell.form.block))?;
    Some(wording::as_fast_as_peak(equal.len(), cells.len() - 1, least.cell, Rate(least.speed())))
}

/// The peaks of each operation and pattern, with the least compressible data.
pub(super) fn overview_table(matrix: &Matrix<'_>) -> OverviewTable {
    let hardest = matrix.hardest();
    let groups = matrix.groups().into_iter().filter(|group| group[0].cell.data == hardest);
    let row = |group: Vec<&MeasuredCell<'_>>| {
        let enough = enough_range(&group).map(|(low, high)| (Size(low), Size(high)));
        Some((peak_of(group[0].cell.op, &group)?, enough))
    };
    wording::table(groups.filter_map(row))
}

/// The cells of one block, operation, pattern and class of data, shallowest first, and the gain by depth.
struct Family<'b, 'a> {
    cells: Vec<&'b MeasuredCell<'a>>,
    /// Index of the depth above which more depth gains less than 5%.
    sufficient_depth: usize,
    /// The first index that may be it, and the first that certainly is.
    range: (usize, usize),
    /// Whether any depth is faster than the shallowest.
    gains: Verdict,
}

impl<'b, 'a> Family<'b, 'a> {
    fn from_cells(mut cells: Vec<&'b MeasuredCell<'a>>) -> Option<Self> {
        cells.sort_by_key(|measured| measured.cell.form.depth);
        if cells.len() < 2 {
            return None;
        }
        let bound = 1.0 + DIFFERENCE;
        // The claim that one of several is faster takes all comparisons together at 95% (Bonferroni); the claim that
        // none is takes each alone.
        let together = 1.0 - (1.0 - CONFIDENCE_95) / (cells.len() - 1) as f64;
        let (count, last) = (cells.len(), cells.len() - 1);
        let deeper = |at: usize, confidence| {
            let ratios = cells[at + 1..].iter().map(|deep| deep.ratio_to(cells[at], confidence));
            ratios.collect::<Vec<Option<Estimate>>>()
        };
        let shows =
            |ratio: &Option<Estimate>, verdict| ratio.is_some_and(|ratio| ratio.against(bound) == verdict);
        let any_faster = |at: usize| deeper(at, together).iter().any(|ratio| shows(ratio, Verdict::Above));
        let none_faster =
            |at: usize| deeper(at, CONFIDENCE_95).iter().all(|ratio| shows(ratio, Verdict::Below));
        let looks_enough = |at: usize| {
            deeper(at, CONFIDENCE_95).iter().all(|ratio| ratio.is_none_or(|ratio| ratio.value < bound))
        };
        let sufficient_depth = (0..count).find(|at| looks_enough(*at)).unwrap_or(last);
        let possibly = (0..count).find(|at| !any_faster(*at)).unwrap_or(last);
        let surely = (0..count).find(|at| none_faster(*at)).unwrap_or(last);
        let gains = if any_faster(0) {
            Verdict::Above
        } else if none_faster(0) {
            Verdict::Alike
        } else if cells.iter().all(|cell| cell.passes.is_one()) {
            Verdict::OnePass
        } else {
            Verdict::Unclear
        };
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

    fn row(&self) -> Row {
        let (shallow, deep) = (self.cells[0], self.cells[self.cells.len() - 1]);
        deep.columns(None)
            .with("enough_depth", self.depth(self.sufficient_depth))
            .with("enough_depth_low", self.depth(self.range.0))
            .with("enough_depth_high", self.depth(self.range.1))
            .with("deepest_over_shallowest", deep.ratio_to(shallow, CONFIDENCE_95).map(|ratio| ratio.value))
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
            Verdict::Above => {
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
            Verdict::Alike => wording::depth_does_not_help(cell.form, cell.op, shallow, deep)
                .with_evidence(wording::SERVES_ONE_AT_A_TIME),
            unclear => {
                let is_one_pass = unclear == Verdict::OnePass;
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
        group.sort_by_key(|measured| measured.cell.form.block);
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
pub(super) fn depth_rows(matrix: &Matrix<'_>) -> Vec<Row> {
    families(matrix).iter().map(Family::row).collect()
}

/// Whether as many I/Os were in flight as the depth says, by Little's law.
pub(super) fn fullness_answer(matrix: &Matrix<'_>) -> Answer {
    let mut empty: Vec<&MeasuredCell<'_>> =
        matrix.cells.iter().filter(|measured| !is_full(measured)).collect();
    empty.sort_by(|a, b| fullness(a).total_cmp(&fullness(b)));
    if empty.is_empty() {
        let answer = wording::queue_was_full(matrix.cells.len());
        return match matrix.cells.iter().filter(|measured| fullness(measured) < MOSTLY_FULL).count() {
            0 => answer,
            few => answer.caveat(wording::queue_was_mostly_full(few, Share(MOSTLY_FULL))),
        };
    }
    let answer = wording::queue_ran_empty(empty.len(), matrix.cells.len());
    let named = empty.iter().map(|measured| wording::in_flight(measured.cell, measured.in_flight()));
    with_listed(answer, named.collect())
}

/// Adds the first of some sentences, and how many more there are.
fn with_listed(answer: Answer, sentences: Vec<String>) -> Answer {
    let more = sentences.len().saturating_sub(LISTED_MAX);
    let answer = sentences.into_iter().take(LISTED_MAX).fold(answer, Answer::with_evidence);
    if more > 0 { answer.with_evidence(wording::and_more(more)) } else { answer }
}

/// Mean queue over the queue depth, as a ratio, from which the queue is mostly full. Chosen: a tenth may be
/// its start and end.
const MOSTLY_FULL: f64 = 0.9;

fn fullness(measured_cell: &MeasuredCell<'_>) -> f64 {
    measured_cell.in_flight() / f64::from(measured_cell.cell.form.depth)
}

/// After the last I/O of a pass has left, the queue drains within the longest latency, and holds at least one
/// until the pass ends. What is missing beyond that and 5% was never sent.
fn is_full(measured_cell: &MeasuredCell<'_>) -> bool {
    let all_but_one = 1.0 - 1.0 / f64::from(measured_cell.cell.form.depth);
    fullness(measured_cell) >= 1.0 - DIFFERENCE - all_but_one * measured_cell.longest_share()
}

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
    // The peak itself is not below, whatever the scatter of its passes.
    let shows = |measured: &MeasuredCell<'_>, verdict| match measured.ratio_to(peak, CONFIDENCE_95) {
        _ if measured.cell == peak.cell => verdict == Verdict::Above,
        ratio => ratio.is_some_and(|ratio| ratio.against(ENOUGH) == verdict),
    };
    let size = |measured: &&MeasuredCell<'_>| u64::from(measured.cell.form.block);
    let lowest = best.iter().find(|measured| !shows(measured, Verdict::Below)).unwrap_or(&peak);
    let highest = best.iter().find(|measured| shows(measured, Verdict::Above)).unwrap_or(&peak);
    (best.len() > 1).then(|| (size(lowest), size(highest)))
}

fn sufficient_block(group: &[&MeasuredCell<'_>], more_passes: &Action) -> Option<Answer> {
    let best = best_by_block(group);
    let (peak, (lowest, highest)) = (fastest(&best)?, enough_range(group)?);
    let first = *best.iter().find(|measured| measured.speed() >= ENOUGH * peak.speed())?;
    let size = |measured: &MeasuredCell<'_>| u64::from(measured.cell.form.block);
    let (form, op, peak_rate) = (first.cell.form, first.cell.op, Rate(peak.speed()));
    let answer = if lowest == highest {
        wording::enough_block(form, op, Share(ENOUGH), Rate(first.speed()), peak_rate)
    } else {
        let range = (Size(lowest), Size(highest));
        let is_one_pass = best.iter().all(|measured| measured.passes.is_one());
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
    sorted.sort_by_key(|measured| measured.cell.form.block);
    let of_block = sorted.chunk_by(|a, b| a.cell.form.block == b.cell.form.block);
    of_block.filter_map(fastest).collect()
}

/// Whether a larger block is ever slower: one answer for all operations and patterns.
pub(super) fn growth(matrix: &Matrix<'_>, more_passes: &Action) -> Option<Answer> {
    let groups = matrix.groups();
    let lines: Vec<Vec<&MeasuredCell<'_>>> = groups.iter().flat_map(|group| by_depth(group)).collect();
    let comparisons = lines.iter().map(|line| line.len() - 1).sum::<usize>();
    if comparisons == 0 {
        return None;
    }
    let mut dips: Vec<Dip> = lines.iter().flat_map(|line| dips(line, comparisons)).collect();
    dips.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let (sure, unsure): (Vec<_>, Vec<_>) = dips.into_iter().partition(|dip| dip.is_sure);
    if let Some(worst) = sure.first() {
        let answer = wording::larger_blocks_are_slower(sure.len(), worst);
        return Some(with_listed(answer, sure.iter().map(wording::dip).collect()));
    }
    if unsure.is_empty() {
        return Some(wording::larger_blocks_never_slower(comparisons));
    }
    let answer = wording::larger_blocks_are_open(unsure.len(), comparisons);
    // One example is enough of those that look no slower.
    let slower = unsure.iter().filter(|dip| dip.ratio.value < 1.0 - DIFFERENCE).count();
    let named = unsure[..slower.max(1)].iter().map(wording::dip).collect();
    Some(with_listed(answer, named).action(more_passes.clone()))
}

/// The cells of a group at each depth, smallest block first.
fn by_depth<'b, 'a>(group: &[&'b MeasuredCell<'a>]) -> Vec<Vec<&'b MeasuredCell<'a>>> {
    depths(group).into_iter().map(|depth| of_depth(group, depth)).collect()
}

/// The blocks of a line that are, or may be, slower than a smaller one. The claim that one is takes all `comparisons`
/// together at 95% (Bonferroni); the claim that none is takes each alone.
fn dips(line: &[&MeasuredCell<'_>], comparisons: usize) -> Vec<Dip> {
    let together = 1.0 - (1.0 - CONFIDENCE_95) / comparisons as f64;
    let bound = 1.0 - DIFFERENCE;
    let mut smaller = line[0];
    let mut dips = Vec::new();
    for &at in &line[1..] {
        if let Some(ratio) = at.ratio_to(smaller, CONFIDENCE_95)
            && ratio.against(bound) != Verdict::Above
        {
            let surely = at.ratio_to(smaller, together).map(|ratio| ratio.against(bound));
            dips.push(Dip {
                at: at.cell,
                rate: Rate(at.speed()),
                smaller: smaller.cell.form,
                smaller_rate: Rate(smaller.speed()),
                ratio,
                is_sure: surely == Some(Verdict::Below),
            });
        }
        if at.speed() > smaller.speed() {
            smaller = at;
        }
    }
    dips
}

/// A cell that was compared with one that differs from it in one parameter.
struct Pair<'b, 'a> {
    measured: &'b MeasuredCell<'a>,
    comparison: Comparison,
    speeds: ComparedSpeeds,
}

/// The parameter that two cells differ in.
#[derive(Clone, Copy, strum::VariantArray)]
enum Parameter {
    Pattern,
    Op,
    Data,
}

impl Parameter {
    /// What a cell is compared with, if it is.
    fn compare(self, cell: Cell, hardest: DataClass) -> Option<(Comparison, Cell)> {
        const WRITES: Mix = Mix::Only(Op::Write);
        let Cell { form, op, data } = cell;
        match self {
            Self::Pattern if form.pattern == Pattern::Random => {
                let sequential = Form { pattern: Pattern::Sequential, ..form };
                Some((Comparison::RandomOverSequential(op), Cell { form: sequential, ..cell }))
            }
            Self::Op if op == WRITES => {
                Some((Comparison::WriteOverRead(form.pattern), Cell { op: Mix::Only(Op::Read), ..cell }))
            }
            Self::Data if data != hardest => {
                Some((Comparison::DataClasses(op, data, hardest), Cell { data: hardest, ..cell }))
            }
            _ => None,
        }
    }
}

/// Every comparison that the cells allow, by parameter.
fn pairs<'b, 'a>(matrix: &'b Matrix<'a>) -> Vec<Pair<'b, 'a>> {
    let hardest = matrix.hardest();
    let pair = |parameter: Parameter, measured: &'b MeasuredCell<'a>| {
        let (comparison, other) = parameter.compare(measured.cell, hardest)?;
        let other = matrix.find(other)?;
        let ratio = measured.ratio_to(other, CONFIDENCE_95)?;
        let (rate, other) = (Rate(measured.speed()), Rate(other.speed()));
        let speeds = ComparedSpeeds { form: measured.cell.form, rate, other, ratio };
        Some(Pair { measured, comparison, speeds })
    };
    let of_parameter = |parameter: &Parameter| {
        let parameter = *parameter;
        matrix.cells.iter().filter_map(move |measured| pair(parameter, measured))
    };
    Parameter::VARIANTS.iter().flat_map(of_parameter).collect()
}

/// A comparison as the table has it.
fn label(comparison: Comparison) -> String {
    match comparison {
        Comparison::RandomOverSequential(_) => "random / sequential".into(),
        Comparison::WriteOverRead(_) => "write / read".into(),
        Comparison::DataClasses(_, data, hardest) => format!("{} / {}", name(data), name(hardest)),
    }
}

/// A class of data as the table has it.
fn name(data: DataClass) -> String {
    match data {
        DataClass::Zero => "zeros".into(),
        DataClass::Random | DataClass::Stamped(_) => "incompressible".into(),
        DataClass::Ratio(share) => format!("compressible to {:.0}%", share * 100.0),
    }
}

/// A row for each comparison.
pub(super) fn ratio_rows(matrix: &Matrix<'_>) -> Vec<Row> {
    if matrix.cells.is_empty() {
        return Vec::new();
    }
    let row = |pair: Pair<'_, '_>| {
        let columns = Row::new().with("comparison", label(pair.comparison));
        let columns = columns.with_all(pair.measured.own_columns());
        columns.with_estimate("ratio", Some(pair.speeds.ratio.not_negative()))
    };
    pairs(matrix).into_iter().map(row).collect()
}

/// The most important comparisons: small random I/O at QD1 against sequential; writes against reads, for the largest
/// sequential and the smallest random I/O; compressible against incompressible data.
pub(super) fn comparisons(matrix: &Matrix<'_>, more_passes: &Action) -> Vec<Answer> {
    let (hardest, ops, pairs) = (matrix.hardest(), matrix.ops(), pairs(matrix));
    let is_wanted = |pair: &&Pair<'_, '_>| {
        pair.measured.cell.data == hardest || matches!(pair.comparison, Comparison::DataClasses(..))
    };
    let wanted = pairs.iter().filter(is_wanted).map(|pair| (pair.comparison, pair.speeds));
    let mut groups: Vec<(Comparison, Vec<ComparedSpeeds>)> = grouped(wanted);
    // Data is compared operation by operation.
    groups.sort_by_key(|(comparison, _)| match comparison {
        Comparison::DataClasses(op, ..) => ops.iter().position(|known| known == op),
        _ => None,
    });
    groups.iter().map(|(comparison, speeds)| compare(*comparison, speeds, more_passes)).collect()
}

/// Whether the first of two cells is slower than the second (for data classes: faster) by at least 5%, for one of these
/// pairs: the smallest of random I/O, the largest of others.
fn compare(comparison: Comparison, pairs: &[ComparedSpeeds], more_passes: &Action) -> Answer {
    let size = |pair: &&ComparedSpeeds| (pair.form.block, pair.form.depth);
    let is_random = matches!(
        comparison,
        Comparison::RandomOverSequential(_) | Comparison::WriteOverRead(Pattern::Random)
    );
    let pair = if is_random { pairs.iter().min_by_key(size) } else { pairs.iter().max_by_key(size) };
    let pair = pair.expect("a comparison has a pair");
    let is_about_data = matches!(comparison, Comparison::DataClasses(..));
    let bound = if is_about_data { 1.0 + DIFFERENCE } else { 1.0 - DIFFERENCE };
    let is_decided = pair.ratio.against(bound).is_clear();
    let mut answer = pair.ratio.not_negative().put(wording::compared(comparison, pair, is_decided), "×");
    let by_ratio = |a: &&ComparedSpeeds, b: &&ComparedSpeeds| a.ratio.value.total_cmp(&b.ratio.value);
    if let (true, Some(least), Some(most)) =
        (pairs.len() > 1, pairs.iter().min_by(by_ratio), pairs.iter().max_by(by_ratio))
    {
        let end = |pair: &ComparedSpeeds| (pair.ratio.value, pair.form);
        answer = answer.with_evidence(wording::ratio_range(end(least), end(most)));
    }
    if is_decided { answer } else { answer.action(more_passes.clone()) }
}

/// Fewest cells that say something about the whole drive.
const DRIFT_CELLS_MIN: usize = 4;

impl Drift {
    /// The drift over the cells of an operation: each cell is one sample, so few passes of many cells show it
    /// well.
    fn from_cells(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Self> {
        let witness = |measured: &&MeasuredCell<'_>| match measured.passes.speeds[..] {
            [first, .., last] if first > 0.0 && last > 0.0 => Some((last / first).ln()),
            _ => None,
        };
        let logarithms: Vec<f64> = cells.iter().filter_map(witness).collect();
        let ratio = Estimate::of_passes(&logarithms).filter(|_| logarithms.len() >= DRIFT_CELLS_MIN)?;
        Some(Self { op, cells: logarithms.len(), ratio: ratio.map(f64::exp) })
    }

    /// Whether it changed by less than 5%.
    fn verdict(&self) -> Verdict {
        self.ratio.within(1.0 - DIFFERENCE, 1.0 / (1.0 - DIFFERENCE))
    }
}

/// One answer for all operations; `None` if each cell was measured once, which shows nothing.
pub(super) fn drift(matrix: &Matrix<'_>, more_passes: &Action) -> Option<Answer> {
    let drifts: Vec<Drift> =
        matrix.ops().into_iter().filter_map(|op| Drift::from_cells(op, &matrix.of_op(op))).collect();
    let worst = |verdicts: &[Verdict]| {
        let candidates = drifts.iter().filter(|drift| verdicts.contains(&drift.verdict()));
        candidates.max_by(|a, b| a.ratio.value.ln().abs().total_cmp(&b.ratio.value.ln().abs()))
    };
    let answer = if let Some(worst) = worst(&[Verdict::Above, Verdict::Below]) {
        wording::drive_changed(worst)
    } else if let Some(worst) = worst(&[Verdict::Unclear]) {
        wording::drift_is_open(worst).action(more_passes.clone())
    } else if drifts.is_empty() {
        return None;
    } else {
        wording::drive_stayed_the_same()
    };
    Some(drifts.iter().fold(answer, |answer, drift| answer.with_evidence(wording::drift_of(drift))))
}

/// Whether every cell is as precise as asked; `None` if no precision was asked for.
pub(super) fn precision(matrix: &Matrix<'_>) -> Option<Answer> {
    let goal = matrix.goal?;
    if matrix.cells.is_empty() {
        return None;
    }
    let is_open = |measured: &&MeasuredCell<'_>| measured.passes.precision == Some(Precision::More);
    let open = matrix.cells.iter().filter(is_open).count();
    let mut means: Vec<MeanPrecision> = matrix.cells.iter().map(mean_precision).collect();
    means.sort_by(|a, b| b.share.total_cmp(&a.share));
    let has_wide = means.iter().any(|mean| !mean.enough);
    let mut answer = if open > 0 && !has_wide {
        wording::run_ended_early(open, matrix.cells.len())
    } else {
        precision_goal::answer(&goal, &means)
    };
    let evidence = std::mem::take(&mut answer.evidence);
    answer = with_listed(answer, evidence);
    if open > 0 && has_wide {
        answer = answer.caveat(wording::open_cells(open));
    }
    Some(answer)
}

/// A cell without enough passes at the end of the run has no known precision yet; one that moved nothing has no share.
fn mean_precision(measured_cell: &MeasuredCell<'_>) -> MeanPrecision {
    let rate = measured_cell.passes.rate;
    MeanPrecision {
        name: wording::name_of_mean(measured_cell.cell),
        passes: measured_cell.passes.segments.len(),
        share: rate.half_width().filter(|_| rate.value > 0.0).map_or(0.0, |half| half / rate.value),
        enough: !matches!(measured_cell.passes.precision, Some(Precision::Unreachable(_))),
    }
}

/// The answer about cells that this drive cannot do, and about `wanted` cells that the run did not reach.
pub(super) fn complete(matrix: &Matrix<'_>, wanted: usize, skips: &[String]) -> Option<Answer> {
    let done = matrix.cells.iter().filter(|measured| measured.passes.segments.len() >= matrix.passes).count();
    if skips.is_empty() && done == wanted {
        return None;
    }
    let answer = if done < wanted {
        wording::some_cells_unfinished(done, wanted)
    } else {
        wording::some_cells_left_out(wanted)
    };
    Some(skips.iter().fold(answer, |answer, reason| answer.with_evidence(wording::left_out(reason))))
}
