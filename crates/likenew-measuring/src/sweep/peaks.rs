//! The highest rate and the most IOPS of each operation, and where they were reached.

use likenew_core::answer::Answer;
use likenew_core::mix::Mix;
use likenew_core::overview::OverviewTable;
use likenew_core::quantity::{Iops, Rate, Size, digits};
use likenew_stats::interval::{CONFIDENCE_95, mean_interval};

use super::blocks::enough_range;
use super::results::{Matrix, MeasuredCell};
use super::wording::{self, Peak, TableRow};

/// The cells of one operation that are fastest and busiest.
struct PeakCells<'b, 'a> {
    fastest: &'b MeasuredCell<'a>,
    busiest: &'b MeasuredCell<'a>,
}

impl<'b, 'a> PeakCells<'b, 'a> {
    fn from_cells(cells: &[&'b MeasuredCell<'a>]) -> Option<Self> {
        let fastest = cells.iter().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
        let busiest = cells.iter().max_by(|a, b| a.iops().total_cmp(&b.iops()))?;
        Some(Self { fastest, busiest })
    }

    fn values(&self, op: Mix) -> Peak {
        Peak {
            op,
            rate: Rate(self.fastest.speed()),
            interval: self.fastest.interval,
            fastest: self.fastest.cell.form,
            iops: Iops(self.busiest.iops()),
            busiest: self.busiest.cell.form,
        }
    }
}

/// The most important sentence: the peak of each operation.
pub(super) fn summary(matrix: &Matrix<'_>) -> String {
    let of_op = |op| PeakCells::from_cells(&matrix.of_op(op)).map(|cells| cells.values(op));
    let peaks: Vec<Peak> = matrix.ops().into_iter().filter_map(of_op).collect();
    wording::summary(&peaks)
}

/// One answer for each operation.
pub(super) fn peaks(matrix: &Matrix<'_>) -> Vec<Answer> {
    matrix.ops().into_iter().filter_map(|op| peak(op, &matrix.of_op(op))).collect()
}

fn peak(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Answer> {
    let peak = PeakCells::from_cells(cells)?;
    let PeakCells { fastest, busiest } = peak;
    let mut answer = wording::peak(&peak.values(op));
    answer = match fastest.interval {
        Some(interval) => answer.estimate(fastest.speed(), interval.low.max(0.0), interval.high, "bytes/s"),
        None => answer.caveat(wording::MEASURED_ONCE),
    };
    let passes: Vec<f64> = busiest.segments.iter().filter_map(|segment| segment.iops()).collect();
    if let Some(interval) = mean_interval(&passes, CONFIDENCE_95) {
        let (low, high) = (digits(interval.low.max(0.0)), digits(interval.high));
        if low != high {
            answer = answer.with_evidence(wording::iops_interval(&low, &high));
        }
    }
    Some(match as_fast(fastest, cells) {
        Some(sentence) => answer.with_evidence(sentence),
        None => answer,
    })
}

/// The number of cells that cannot be told from the fastest, and the cheapest of them.
fn as_fast(fastest: &MeasuredCell<'_>, cells: &[&MeasuredCell<'_>]) -> Option<String> {
    let is_other = |one: &&&MeasuredCell<'_>| one.cell != fastest.cell;
    let as_fast = |one: &&&MeasuredCell<'_>| {
        one.ratio_to(fastest, CONFIDENCE_95)
            .and_then(|ratio| ratio.interval)
            .is_some_and(|range| range.high >= 1.0)
    };
    let equal: Vec<_> = cells.iter().filter(is_other).filter(as_fast).collect();
    let least = equal.iter().min_by_key(|one| (one.cell.form.queue_bytes(), one.cell.form.block))?;
    Some(wording::as_fast_as_peak(equal.len(), cells.len() - 1, least.cell, Rate(least.speed())))
}

/// The peaks of each operation and pattern, with the least compressible data.
pub(super) fn table(matrix: &Matrix<'_>) -> OverviewTable {
    let hardest = matrix.hardest();
    let groups = matrix.groups().into_iter().filter(|group| group[0].cell.data == hardest);
    let row = |group: Vec<&MeasuredCell<'_>>| {
        let cell = group[0].cell;
        let enough = enough_range(&group).map(|(low, high)| (Size(low), Size(high)));
        let peak = PeakCells::from_cells(&group)?.values(cell.op);
        Some(TableRow { peak, pattern: cell.form.pattern, enough_block: enough })
    };
    wording::table(groups.filter_map(row))
}
