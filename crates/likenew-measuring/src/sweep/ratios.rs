//! Cells that differ in one thing only, one over the other: random over sequential, writes over reads,
//! compressible over incompressible data.

use likenew_core::answer::{Action, Answer};
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::quantity::Rate;
use likenew_procedure_support::pattern::Pattern;
use likenew_stats::interval::CONFIDENCE_95;
use serde::Serialize;

use super::DIFFERENCE;
use super::cell::{Cell, Form};
use super::results::{CellColumns, Matrix, MeasuredCell, Ratio};
use super::wording::{self, ComparedSpeeds, Comparison};

/// Two cells that differ in one thing.
struct Pair<'b, 'a> {
    numerator: &'b MeasuredCell<'a>,
    denominator: &'b MeasuredCell<'a>,
    /// Which cell is compared with which.
    comparison: String,
    ratio: Ratio,
}

#[derive(Serialize)]
pub(super) struct RatioRow {
    comparison: String,
    #[serde(flatten)]
    cell: CellColumns,
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
}

const WRITES: Mix = Mix::Only(Op::Write);
const READS: Mix = Mix::Only(Op::Read);

/// Every cell for which `change` names another measured one, over that one.
fn pairs<'b, 'a>(
    matrix: &'b Matrix<'a>,
    change: impl Fn(Cell) -> Option<(Cell, String)>,
) -> Vec<Pair<'b, 'a>> {
    let pair = |numerator: &'b MeasuredCell<'a>| {
        let (other, comparison) = change(numerator.cell)?;
        let denominator = matrix.find(other)?;
        Some(Pair {
            numerator,
            denominator,
            comparison,
            ratio: numerator.ratio_to(denominator, CONFIDENCE_95)?,
        })
    };
    matrix.cells.iter().filter_map(pair).collect()
}

fn random_over_sequential<'b, 'a>(matrix: &'b Matrix<'a>) -> Vec<Pair<'b, 'a>> {
    pairs(matrix, |cell| {
        let sequential = Form { pattern: Pattern::Sequential, ..cell.form };
        (cell.form.pattern == Pattern::Random)
            .then(|| (Cell { form: sequential, ..cell }, "random / sequential".to_owned()))
    })
}

fn writes_over_reads<'b, 'a>(matrix: &'b Matrix<'a>) -> Vec<Pair<'b, 'a>> {
    pairs(matrix, |cell| (cell.op == WRITES).then(|| (Cell { op: READS, ..cell }, "write / read".to_owned())))
}

fn data_over_hardest<'b, 'a>(matrix: &'b Matrix<'a>) -> Vec<Pair<'b, 'a>> {
    let hardest = matrix.hardest();
    pairs(matrix, move |cell| {
        (cell.data != hardest)
            .then(|| (Cell { data: hardest, ..cell }, format!("{} / {}", name(cell.data), name(hardest))))
    })
}

/// A class of data as the table has it.
fn name(data: DataClass) -> String {
    match data {
        DataClass::Zero => "zeros".into(),
        DataClass::Random | DataClass::Stamped(_) => "incompressible".into(),
        DataClass::Ratio(share) => format!("compressible to {:.0}%", share * 100.0),
    }
}

/// Every comparison that the cells allow.
pub(super) fn table(matrix: &Matrix<'_>) -> Vec<RatioRow> {
    if matrix.cells.is_empty() {
        return Vec::new();
    }
    let all = [random_over_sequential(matrix), writes_over_reads(matrix), data_over_hardest(matrix)];
    let row = |pair: Pair<'_, '_>| RatioRow {
        comparison: pair.comparison,
        cell: pair.numerator.columns(),
        ratio: pair.ratio.value,
        ratio_low: pair.ratio.interval.map(|interval| interval.low.max(0.0)),
        ratio_high: pair.ratio.interval.map(|interval| interval.high),
    };
    all.into_iter().flatten().map(row).collect()
}

/// The first comparisons to look at: small random I/O at QD1 against sequential; writes against reads, for
/// the largest sequential and the smallest random I/O; compressible against incompressible data.
pub(super) fn comparisons(matrix: &Matrix<'_>, more_passes: &Action) -> Vec<Answer> {
    let hardest = matrix.hardest();
    let mut answers = Vec::new();
    let mut add = |pairs: &[&Pair<'_, '_>], small: bool, comparison: Comparison| {
        let key = |pair: &&&Pair<'_, '_>| (pair.numerator.cell.form.block, pair.numerator.cell.form.depth);
        let chosen = if small { pairs.iter().min_by_key(key) } else { pairs.iter().max_by_key(key) };
        answers.extend(chosen.map(|pair| compare(pair, pairs, comparison, more_passes)));
    };
    let random = random_over_sequential(matrix);
    for op in matrix.ops() {
        let is_of =
            |pair: &&Pair<'_, '_>| pair.numerator.cell.op == op && pair.numerator.cell.data == hardest;
        let of_op: Vec<_> = random.iter().filter(is_of).collect();
        add(&of_op, true, Comparison::RandomOverSequential(op));
    }
    let writes = writes_over_reads(matrix);
    for pattern in matrix.patterns() {
        let is_of = |pair: &&Pair<'_, '_>| {
            pair.numerator.cell.form.pattern == pattern && pair.numerator.cell.data == hardest
        };
        let of_pattern: Vec<_> = writes.iter().filter(is_of).collect();
        add(&of_pattern, pattern == Pattern::Random, Comparison::WriteOverRead(pattern));
    }
    let data = data_over_hardest(matrix);
    for (op, class) in
        matrix.ops().into_iter().flat_map(|op| matrix.data().into_iter().map(move |data| (op, data)))
    {
        let is_of = |pair: &&Pair<'_, '_>| pair.numerator.cell.op == op && pair.numerator.cell.data == class;
        let of_class: Vec<_> = data.iter().filter(is_of).collect();
        add(&of_class, false, Comparison::DataClasses(op, class, hardest));
    }
    answers
}

/// Whether the first of a pair is slower than the second (for data classes: faster) by at least 5%.
fn compare(
    pair: &Pair<'_, '_>,
    all: &[&Pair<'_, '_>],
    comparison: Comparison,
    more_passes: &Action,
) -> Answer {
    let decided = if matches!(comparison, Comparison::DataClasses(..)) {
        pair.ratio.is_below(1.0 + DIFFERENCE).map(|below| !below)
    } else {
        pair.ratio.is_below(1.0 - DIFFERENCE)
    };
    let speeds = ComparedSpeeds {
        form: pair.numerator.cell.form,
        rate: Rate(pair.numerator.speed()),
        other: Rate(pair.denominator.speed()),
        ratio: pair.ratio.value,
        interval: pair.ratio.interval,
    };
    let mut answer = wording::compared(comparison, &speeds, decided);
    if let Some(interval) = pair.ratio.interval {
        answer = answer.estimate(pair.ratio.value, interval.low.max(0.0), interval.high, "×");
    }
    let by_ratio = |a: &&&Pair<'_, '_>, b: &&&Pair<'_, '_>| a.ratio.value.total_cmp(&b.ratio.value);
    if let (true, Some(least), Some(most)) =
        (all.len() > 1, all.iter().min_by(by_ratio), all.iter().max_by(by_ratio))
    {
        let end = |pair: &Pair<'_, '_>| (pair.ratio.value, pair.numerator.cell.form);
        answer = answer.with_evidence(wording::ratio_range(end(least), end(most)));
    }
    if decided.is_none() { answer.action(more_passes.clone()) } else { answer }
}
