//! The measurements of each cell, and the matrix of them.

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_procedure_support::pattern::Pattern;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval, ratio_interval};
use likenew_stats::precision::{Goal, Precision, precision};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::cell::{Cell, Form};
use super::rounds::without_rounds;
use super::schedule::{Schedule, is_whole};
use super::sweep_options::SweepOptions;
use likenew_procedure_support::rows::LatencyColumns;

/// The cells that have at least one pass that measured something.
pub(super) struct Matrix<'a> {
    pub(super) cells: Vec<MeasuredCell<'a>>,
    pub(super) goal: Option<Goal>,
    /// Fewest passes asked for of each cell.
    pub(super) passes: usize,
}

/// One cell with its passes.
pub(super) struct MeasuredCell<'a> {
    pub(super) cell: Cell,
    pub(super) segments: Vec<&'a Segment>,
    /// Bytes a second of each pass.
    pub(super) speeds: Vec<f64>,
    /// The same without what all cells of its operation share in each round.
    without_round_effect: Vec<f64>,
    pub(super) interval: Option<Interval>,
    /// The precision reached, if one was asked for.
    pub(super) precision: Option<Precision>,
    total: Tally,
    data_is_known: bool,
}

/// One speed over another.
#[derive(Clone, Copy)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// `None` if a side was measured once.
    pub(super) interval: Option<Interval>,
}

impl<'a> Matrix<'a> {
    pub(super) fn from_evidence(
        options: &SweepOptions,
        schedule: &Schedule<'_>,
        evidence: &'a Evidence,
    ) -> Self {
        let goal = options.goal();
        let writable = evidence.geometry.writable;
        // Folders store the passes by round; here they are grouped by cell.
        let measured: Vec<(Cell, &Segment)> = evidence
            .segments
            .iter()
            .filter(|segment| is_whole(segment) && segment.bytes_per_s().is_some())
            .filter_map(|segment| Some((Cell::from_workload(&segment.workload)?, segment)))
            .collect();
        let cells = schedule.cells().filter_map(|cell| {
            let of_cell = measured.iter().filter(|(one, _)| *one == cell).map(|(_, segment)| *segment);
            let segments: Vec<&Segment> = of_cell.collect();
            (!segments.is_empty()).then(|| MeasuredCell::new(cell, segments, goal.as_ref(), writable))
        });
        let mut cells: Vec<MeasuredCell<'_>> = cells.collect();
        for of_stage in cells.chunk_by_mut(|a, b| a.shares_stage(b)) {
            let speeds: Vec<&[f64]> = of_stage.iter().map(|one| &one.speeds[..]).collect();
            let without_round_effect = without_rounds(&speeds);
            of_stage
                .iter_mut()
                .zip(without_round_effect)
                .for_each(|(one, without_round_effect)| one.without_round_effect = without_round_effect);
        }
        Self { cells, goal, passes: options.passes as usize }
    }

    /// The operations, in the order of the matrix.
    pub(super) fn ops(&self) -> Vec<Mix> {
        distinct(self.cells.iter().map(|one| one.cell.op))
    }

    /// The patterns, in the order of the matrix.
    pub(super) fn patterns(&self) -> Vec<Pattern> {
        distinct(self.cells.iter().map(|one| one.cell.form.pattern))
    }

    /// The classes of data, in the order of the matrix.
    pub(super) fn data(&self) -> Vec<DataClass> {
        distinct(self.cells.iter().map(|one| one.cell.data))
    }

    /// The least compressible class of data, which all answers are about that do not compare classes.
    pub(super) fn hardest(&self) -> DataClass {
        let classes = self.data().into_iter();
        classes
            .max_by(|a, b| a.compressed_share().total_cmp(&b.compressed_share()))
            .expect("a matrix that is judged has a cell")
    }

    /// The cells of one operation with the least compressible data.
    pub(super) fn of_op(&self, op: Mix) -> Vec<&MeasuredCell<'a>> {
        let data = self.hardest();
        self.cells.iter().filter(|one| one.cell.op == op && one.cell.data == data).collect()
    }

    /// The cells that differ only in block and depth, in the order of the matrix.
    pub(super) fn groups(&self) -> Vec<Vec<&MeasuredCell<'a>>> {
        let key = |one: &MeasuredCell<'_>| (one.cell.data, one.cell.op, one.cell.form.pattern);
        let groups = self.cells.chunk_by(|a, b| key(a) == key(b));
        groups.map(|group| group.iter().collect()).collect()
    }

    /// The cell with this form, operation and data.
    pub(super) fn find(&self, cell: Cell) -> Option<&MeasuredCell<'a>> {
        self.cells.iter().find(|one| one.cell == cell)
    }

    pub(super) fn passes(&self) -> impl Iterator<Item = PassRow> {
        self.cells.iter().flat_map(MeasuredCell::pass_rows)
    }

    /// Reads and writes of mixed cells, separately.
    pub(super) fn mixes(&self) -> Vec<MixRow> {
        let mixed = self.cells.iter().filter(|one| matches!(one.cell.op, Mix::Reads(_)));
        mixed.flat_map(|one| [Op::Read, Op::Write].map(|part| one.mix_row(part))).collect()
    }
}

/// The first columns of every row.
#[derive(Clone, Serialize)]
pub(super) struct CellColumns {
    pub(super) pattern: String,
    pub(super) op: String,
    pub(super) block_bytes: u32,
    pub(super) depth: u32,
    pub(super) data: Option<String>,
}

#[derive(Serialize)]
pub(super) struct MatrixRow {
    #[serde(flatten)]
    cell: CellColumns,
    bytes_per_s: f64,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    iops: f64,
    #[serde(flatten)]
    latency: LatencyColumns,
    in_flight: f64,
    passes: usize,
    errors: u64,
}

#[derive(Serialize)]
pub(super) struct PassRow {
    #[serde(flatten)]
    cell: CellColumns,
    pass: usize,
    started_ns: u64,
    elapsed_ns: u64,
    bytes_per_s: Option<f64>,
    iops: Option<f64>,
    latency_ns_mean: f64,
    latency_ns_max: u64,
}

#[derive(Serialize)]
pub(super) struct MixRow {
    #[serde(flatten)]
    cell: CellColumns,
    part: &'static str,
    bytes_per_s: f64,
    iops: f64,
    #[serde(flatten)]
    latency: LatencyColumns,
}

impl<'a> MeasuredCell<'a> {
    fn new(cell: Cell, segments: Vec<&'a Segment>, goal: Option<&Goal>, data_is_known: bool) -> Self {
        let mut total = Tally::new(0, Op::Read);
        segments.iter().for_each(|segment| total.merge(&segment.total()));
        let speeds: Vec<f64> = segments.iter().filter_map(|segment| segment.bytes_per_s()).collect();
        let precision = goal.map(|goal| precision(&speeds, goal));
        let interval = match precision {
            Some(Precision::Reached(interval) | Precision::Unreachable(interval)) => Some(interval),
            Some(Precision::More) | None => mean_interval(&speeds, CONFIDENCE_95),
        };
        Self {
            cell,
            segments,
            without_round_effect: speeds.clone(),
            speeds,
            interval,
            precision,
            total,
            data_is_known,
        }
    }

    /// Mean of the passes, in bytes a second.
    pub(super) fn speed(&self) -> f64 {
        mean(&self.speeds).expect("a measured cell has a pass")
    }

    /// Mean of the passes, in IOPS.
    pub(super) fn iops(&self) -> f64 {
        let passes: Vec<f64> = self.segments.iter().filter_map(|segment| segment.iops()).collect();
        mean(&passes).expect("a measured cell has a pass")
    }

    /// Whether both were measured in the same rounds.
    fn shares_stage(&self, other: &Self) -> bool {
        self.cell.op == other.cell.op && self.cell.data == other.cell.data
    }

    /// This speed over that of another cell; `None` if either moved nothing.
    pub(super) fn ratio_to(&self, other: &Self, confidence: f64) -> Option<Ratio> {
        let (of, to) = (self.speed(), other.speed());
        let (passes, to_passes) = if self.shares_stage(other) {
            (&self.without_round_effect, &other.without_round_effect)
        } else {
            (&self.speeds, &other.speeds)
        };
        (of > 0.0 && to > 0.0)
            .then(|| Ratio { value: of / to, interval: ratio_interval(passes, to_passes, confidence) })
    }

    fn elapsed(&self) -> Nanos {
        Nanos(self.segments.iter().map(|segment| segment.elapsed().0).sum())
    }

    /// Mean queue: the sum of all latencies over the elapsed time (Little, "A proof for the queuing formula:
    /// L = λW", Operations Research 9 (1961) 383–387).
    pub(super) fn in_flight(&self) -> f64 {
        self.total.latency_ns_sum as f64 / self.elapsed().0.max(1) as f64
    }

    /// The longest latency of each pass, over the time of all passes.
    pub(super) fn longest_share(&self) -> f64 {
        let longest = self.segments.iter().map(|segment| segment.latencies().max().0);
        longest.sum::<u64>() as f64 / self.elapsed().0.max(1) as f64
    }

    pub(super) fn columns(&self) -> CellColumns {
        let Cell { form: Form { pattern, block, depth }, op, data } = self.cell;
        // The data on a read-only target is unknown.
        let data = self.data_is_known.then(|| data.to_string());
        CellColumns { pattern: pattern.to_string(), op: op.to_string(), block_bytes: block, depth, data }
    }

    pub(super) fn row(&self) -> MatrixRow {
        MatrixRow {
            cell: self.columns(),
            bytes_per_s: self.speed(),
            bytes_per_s_low: self.interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: self.interval.map(|interval| interval.high),
            iops: self.iops(),
            latency: (&self.total).into(),
            in_flight: self.in_flight(),
            passes: self.segments.len(),
            errors: self.segments.iter().map(|segment| segment.errors()).sum(),
        }
    }

    fn pass_rows(&self) -> impl Iterator<Item = PassRow> {
        self.segments.iter().enumerate().map(|(index, segment)| PassRow {
            cell: self.columns(),
            pass: index + 1,
            started_ns: segment.started_at.0,
            elapsed_ns: segment.elapsed().0,
            bytes_per_s: segment.bytes_per_s(),
            iops: segment.iops(),
            latency_ns_mean: segment.total().latency_ns_mean(),
            latency_ns_max: segment.latencies().max().0,
        })
    }

    fn mix_row(&self, part: Op) -> MixRow {
        let mut total = Tally::new(0, part);
        self.segments.iter().for_each(|segment| total.merge(&segment.total_of(part)));
        let seconds = self.elapsed().as_secs_f64();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        MixRow {
            cell: self.columns(),
            part: part.name(),
            bytes_per_s: per_second(total.bytes),
            iops: per_second(total.ios),
            latency: (&total).into(),
        }
    }
}

impl Ratio {
    /// Whether it is below `bound`; `None` if that is not decided.
    pub(super) fn is_below(&self, bound: f64) -> Option<bool> {
        let Interval { low, high } = self.interval?;
        if high < bound { Some(true) } else { (low >= bound).then_some(false) }
    }
}

/// The values in order of first appearance, each once.
pub(super) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}
