//! The highest rate and the most I/Os a second of each operation, and where they were reached.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::units::{amount, rate};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::mean_interval;

use super::cell::{Cell, count, noun};
use super::results::{Matrix, MeasuredCell};
use crate::CONFIDENCE;

/// One verdict for each operation.
pub(super) fn peaks(matrix: &Matrix<'_>) -> Vec<Verdict> {
    matrix.ops().into_iter().filter_map(|op| peak(op, &matrix.of_op(op))).collect()
}

fn peak(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Verdict> {
    let fastest = cells.iter().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
    let busiest = cells.iter().max_by(|a, b| a.iops().total_cmp(&b.iops()))?;
    let claim = format!(
        "It {} at up to {} ({}) and at up to {} IOPS ({}).",
        verb(op),
        rate(fastest.speed()),
        place(fastest.cell),
        count(busiest.iops()),
        place(busiest.cell)
    );
    let mut verdict = Verdict::new(claim, Standing::Holds);
    verdict = match fastest.interval {
        Some(interval) => verdict.estimate(fastest.speed(), interval.low.max(0.0), interval.high, "bytes/s"),
        None => verdict.caveat("measured once: nothing says how the next pass would differ"),
    };
    let passes: Vec<f64> = busiest.segments.iter().filter_map(|segment| segment.iops()).collect();
    if let Some(interval) = mean_interval(&passes, CONFIDENCE) {
        let (low, high) = (count(interval.low.max(0.0)), count(interval.high));
        if low != high {
            verdict = verdict.with_evidence(format!("the IOPS lie within {low} and {high}"));
        }
    }
    Some(match equals(fastest, cells) {
        Some(sentence) => verdict.with_evidence(sentence),
        None => verdict,
    })
}

/// The cells that can not be told from the fastest, and the least of them.
fn equals(fastest: &MeasuredCell<'_>, cells: &[&MeasuredCell<'_>]) -> Option<String> {
    let is_other = |one: &&&MeasuredCell<'_>| one.cell != fastest.cell;
    let as_fast = |one: &&&MeasuredCell<'_>| {
        one.ratio_to(fastest, CONFIDENCE)
            .and_then(|ratio| ratio.interval)
            .is_some_and(|range| range.high >= 1.0)
    };
    let equal: Vec<_> = cells.iter().filter(is_other).filter(as_fast).collect();
    let least = equal.iter().min_by_key(|one| (one.cell.form.queue_bytes(), one.cell.form.block))?;
    Some(format!(
        "{} of the {} other cells can not be told from the fastest; the one with the least in flight is {}",
        equal.len(),
        cells.len() - 1,
        least.text()
    ))
}

/// `sequential, 64 KiB, depth 4`.
fn place(cell: Cell) -> String {
    let form = cell.form;
    format!("{}, {}, depth {}", form.pattern, amount(u64::from(form.block)), form.depth)
}

fn verb(op: Mix) -> String {
    match op {
        Mix::Only(Op::Read) => "reads".into(),
        Mix::Only(Op::Write) => "writes".into(),
        other => format!("does {}", noun(other)),
    }
}
