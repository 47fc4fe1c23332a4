//! The results of a sweep: each cell with its passes, the matrix of all cells, and its charts.

use std::collections::BTreeSet;

use likenew_core::findings::{Axis, Line, Row, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::tally::Tally;
use likenew_core::units::amount;
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::{Estimate, Passes, distinct};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{estimated_line, speed};
use likenew_stats::interval::{Goal, ratio_interval};
use likenew_stats::summary::mean;

use super::{Cell, CellPasses, Form, SweepOptions, wording};

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
    pub(super) passes: Passes<'a>,
    /// The passes without the effect that a round has on all cells of the operation.
    without_round_effect: Vec<f64>,
    data_is_known: bool,
}

impl<'a> Matrix<'a> {
    /// `data_is_known`: whether the sweep has written what it read.
    pub(super) fn new(options: &SweepOptions, cells: Vec<CellPasses<'a>>, data_is_known: bool) -> Self {
        let goal = options.goal();
        let cells = cells.into_iter().filter_map(|(cell, passes)| {
            let passes = Passes::new(passes, goal.as_ref())?;
            Some(MeasuredCell { cell, passes, without_round_effect: Vec::new(), data_is_known })
        });
        let mut cells: Vec<MeasuredCell<'a>> = cells.collect();
        for of_stage in cells.chunk_by_mut(MeasuredCell::shares_stage) {
            let speeds: Vec<&[f64]> = of_stage.iter().map(|measured| &measured.passes.speeds[..]).collect();
            let without_round_effect = without_rounds(&speeds);
            for (measured, speeds) in of_stage.iter_mut().zip(without_round_effect) {
                measured.without_round_effect = speeds;
            }
        }
        Self { cells, goal, passes: options.passes as usize }
    }

    /// The operations, in the order of the matrix.
    pub(super) fn ops(&self) -> Vec<Mix> {
        distinct(self.cells.iter().map(|measured| measured.cell.op))
    }

    /// The patterns, in the order of the matrix.
    pub(super) fn patterns(&self) -> Vec<Pattern> {
        distinct(self.cells.iter().map(|measured| measured.cell.form.pattern))
    }

    /// The classes of data, in the order of the matrix.
    pub(super) fn data(&self) -> Vec<DataClass> {
        distinct(self.cells.iter().map(|measured| measured.cell.data))
    }

    /// The least compressible class of data. Answers are about it unless they compare classes.
    pub(super) fn hardest(&self) -> DataClass {
        let classes = self.data().into_iter();
        classes
            .max_by(|a, b| a.compressed_share().total_cmp(&b.compressed_share()))
            .expect("a matrix that is judged has a cell")
    }

    /// The cells of one operation with the least compressible data.
    pub(super) fn of_op(&self, op: Mix) -> Vec<&MeasuredCell<'a>> {
        let data = self.hardest();
        self.cells.iter().filter(|measured| measured.cell.op == op && measured.cell.data == data).collect()
    }

    /// The cells that differ only in block and depth, in the order of the matrix.
    pub(super) fn groups(&self) -> Vec<Vec<&MeasuredCell<'a>>> {
        let key =
            |measured: &MeasuredCell<'_>| (measured.cell.data, measured.cell.op, measured.cell.form.pattern);
        let groups = self.cells.chunk_by(|a, b| key(a) == key(b));
        groups.map(|group| group.iter().collect()).collect()
    }

    /// The cell with this form, operation and data.
    pub(super) fn find(&self, cell: Cell) -> Option<&MeasuredCell<'a>> {
        self.cells.iter().find(|measured| measured.cell == cell)
    }

    pub(super) fn passes(&self) -> Vec<Row> {
        self.cells.iter().flat_map(MeasuredCell::pass_rows).collect()
    }

    /// Reads and writes of mixed cells, separately.
    pub(super) fn mixes(&self) -> Vec<Row> {
        let mixed = self.cells.iter().filter(|measured| matches!(measured.cell.op, Mix::Reads(_)));
        mixed.flat_map(|measured| [Op::Read, Op::Write].map(|part| measured.mix_row(part))).collect()
    }
}

impl<'a> MeasuredCell<'a> {
    /// Mean of the passes, in bytes a second.
    pub(super) fn speed(&self) -> f64 {
        self.passes.rate.value
    }

    /// Mean of the passes, in IOPS.
    pub(super) fn iops(&self) -> f64 {
        self.passes.iops().value
    }

    /// Whether both were measured in the same rounds.
    fn shares_stage(&self, other: &Self) -> bool {
        self.cell.op == other.cell.op && self.cell.data == other.cell.data
    }

    /// This speed over that of another cell; `None` if either moved nothing.
    pub(super) fn ratio_to(&self, other: &Self, confidence: f64) -> Option<Estimate> {
        let (speed, other_speed) = (self.speed(), other.speed());
        let (passes, to_passes) = if self.shares_stage(other) {
            (&self.without_round_effect, &other.without_round_effect)
        } else {
            (&self.passes.speeds, &other.passes.speeds)
        };
        (speed > 0.0 && other_speed > 0.0).then(|| Estimate {
            value: speed / other_speed,
            interval: ratio_interval(passes, to_passes, confidence),
        })
    }

    /// Mean queue: the sum of all latencies over the elapsed time (Little, "A proof for the queuing formula:
    /// L = λW", Operations Research 9 (1961) 383–387).
    pub(super) fn in_flight(&self) -> f64 {
        self.passes.total.latency_ns_sum as f64 / self.passes.elapsed().0.max(1) as f64
    }

    /// The longest latency of each pass, over the time of all passes.
    pub(super) fn longest_share(&self) -> f64 {
        let longest = self.passes.segments.iter().map(|segment| segment.latencies().max().0);
        longest.sum::<u64>() as f64 / self.passes.elapsed().0.max(1) as f64
    }

    /// The first columns of every row; `None` as the depth for a row about several.
    pub(super) fn columns(&self, depth: Option<u32>) -> Row {
        let Cell { form: Form { pattern, block, .. }, op, data } = self.cell;
        Row::new()
            .with("pattern", pattern)
            .with("op", op.to_string())
            .with("block_bytes", block)
            .with_known("depth", depth)
            // The data on a read-only target is unknown.
            .with("data", self.data_is_known.then(|| data.to_string()))
    }

    /// The columns of this cell alone.
    pub(super) fn own_columns(&self) -> Row {
        self.columns(Some(self.cell.form.depth))
    }

    pub(super) fn row(&self) -> Row {
        self.own_columns()
            .with_estimate("bytes_per_s", Some(self.passes.rate.not_negative()))
            .with("iops", self.iops())
            .with_latency(&self.passes.total)
            .with("in_flight", self.in_flight())
            .with("passes", self.passes.segments.len())
            .with("errors", self.passes.segments.iter().map(|segment| segment.errors()).sum::<u64>())
    }

    fn pass_rows(&self) -> impl Iterator<Item = Row> {
        (1..).zip(&self.passes.segments).map(|(pass, segment): (u32, _)| {
            self.own_columns()
                .with("pass", pass)
                .with("started_ns", segment.started_at.0)
                .with("elapsed_ns", segment.elapsed().0)
                .with_pass(segment)
        })
    }

    fn mix_row(&self, part: Op) -> Row {
        let mut total = Tally::new(0, part);
        self.passes.segments.iter().for_each(|segment| total.merge(&segment.total_of(part)));
        let seconds = self.passes.elapsed().as_secs_f64();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        self.own_columns()
            .with("part", part.name())
            .with("bytes_per_s", per_second(total.bytes))
            .with("iops", per_second(total.ios))
            .with_latency(&total)
    }
}

/// Fewest cells that tell the effect of a round from the scatter of the cells.
const CELLS_MIN: usize = 4;

/// The passes of each cell without the effect of the rounds; the mean of each cell stays. Passes are unchanged if
/// rounds are incomplete, if there are too few cells, or if one moved nothing.
pub(super) fn without_rounds(cells: &[&[f64]]) -> Vec<Vec<f64>> {
    let as_they_are = || cells.iter().map(|passes| passes.to_vec()).collect();
    let rounds = cells.first().map_or(0, |passes| passes.len());
    let complete = cells.iter().all(|passes| passes.len() == rounds);
    let moved = cells.iter().all(|passes| passes.iter().all(|speed| *speed > 0.0));
    if rounds < 2 || cells.len() < CELLS_MIN || !complete || !moved {
        return as_they_are();
    }
    let deviations: Vec<Vec<f64>> = cells.iter().map(|passes| deviations(passes)).collect();
    let count = cells.len() as f64;
    let of_round = |round: usize| deviations.iter().map(|cell| cell[round]).sum::<f64>() / count;
    let common: Vec<f64> = (0..rounds).map(of_round).collect();
    // A cell is part of its round, so removing the round removes a share of the cell's own scatter, too.
    let restore = (count / (count - 1.0)).sqrt();
    let without_round_effect = |deviations: &Vec<f64>, passes: &&[f64]| {
        let speeds =
            deviations.iter().zip(&common).map(|(deviation, common)| ((deviation - common) * restore).exp());
        let speeds: Vec<f64> = speeds.collect();
        let scale = average(passes) / average(&speeds);
        speeds.into_iter().map(|speed| speed * scale).collect()
    };
    deviations
        .iter()
        .zip(cells)
        .map(|(deviations, passes)| without_round_effect(deviations, passes))
        .collect()
}

/// Logarithm of each pass over the cell's typical one.
fn deviations(passes: &[f64]) -> Vec<f64> {
    let logarithms: Vec<f64> = passes.iter().map(|speed| speed.ln()).collect();
    let typical = average(&logarithms);
    logarithms.into_iter().map(|logarithm| logarithm - typical).collect()
}

fn average(values: &[f64]) -> f64 {
    mean(values).expect("a cell has passes")
}

/// With more groups than this, each has one chart; with more than twice as many, only the first have one. The table
/// has every number.
const GROUPS_MAX: usize = 4;
/// More lines than this cannot be told apart.
const LINES_MAX: usize = 5;

type Group<'b, 'a> = Vec<&'b MeasuredCell<'a>>;

/// The charts of every operation, pattern and class of data, those of one kind together.
pub(super) fn pictures(matrix: &Matrix<'_>) -> Vec<(String, Series)> {
    let groups = matrix.groups();
    let several_data = matrix.data().len() > 1;
    let mut pictures = Vec::new();
    let mut add = |kind: &str, draw: &dyn Fn(&Group<'_, '_>, &str) -> Option<Series>| {
        for group in groups.iter().take(2 * GROUPS_MAX) {
            let cell = group[0].cell;
            let mut key = format!("{kind}_{}_{}", cell.form.pattern, cell.op);
            if several_data {
                key = format!("{key}_{}", cell.data);
            }
            let what = wording::pictured(cell.form.pattern, cell.op, several_data.then_some(cell.data));
            pictures.extend(draw(group, &what).map(|series| (key, series)));
        }
    };
    add("heat", &heat);
    let many = groups.len() > GROUPS_MAX;
    add("speed", &|group, what| {
        let is_drawn = many && heat(group, what).is_some();
        if is_drawn { None } else { speed_over_block(group, what) }
    });
    if !many {
        // IOPS are shown for random addresses, if there are any.
        let any_random = matrix.patterns().contains(&Pattern::Random);
        add("iops", &|group, what| {
            let is_asked = !any_random || group[0].cell.form.pattern == Pattern::Random;
            is_asked.then(|| iops_over_block(group, what))?
        });
    }
    pictures
}

fn blocks(group: &[&MeasuredCell<'_>]) -> Vec<u32> {
    sorted(group, |form| form.block)
}

pub(super) fn depths(group: &[&MeasuredCell<'_>]) -> Vec<u32> {
    sorted(group, |form| form.depth)
}

/// The values without repeats, smallest first.
fn sorted(group: &[&MeasuredCell<'_>], value: fn(Form) -> u32) -> Vec<u32> {
    group.iter().map(|measured| value(measured.cell.form)).collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The cells of one depth, smallest block first.
pub(super) fn of_depth<'b, 'a>(group: &[&'b MeasuredCell<'a>], depth: u32) -> Group<'b, 'a> {
    let mut line: Group<'b, 'a> =
        group.iter().filter(|measured| measured.cell.form.depth == depth).copied().collect();
    line.sort_by_key(|measured| measured.cell.form.block);
    line
}

fn speed_over_block(group: &Group<'_, '_>, what: &str) -> Option<Series> {
    let block = |measured: &MeasuredCell<'_>| f64::from(measured.cell.form.block);
    let line = |depth: u32| {
        let cells = of_depth(group, depth).into_iter();
        let speeds = cells.map(|measured| (block(measured), measured.passes.rate.not_negative()));
        estimated_line(wording::depth_legend(depth), speeds)
    };
    over_block(group, wording::speed_title(what), speed(), line)
}

fn iops_over_block(group: &Group<'_, '_>, what: &str) -> Option<Series> {
    let line = |depth: u32| {
        let cells = of_depth(group, depth);
        let points =
            cells.iter().map(|measured| [f64::from(measured.cell.form.block), measured.iops()]).collect();
        Line::new(wording::depth_legend(depth), points)
    };
    let y = Axis::new("IOPS", "1/s").logarithmic();
    over_block(group, wording::iops_title(what), y, line)
}

/// A chart over block size with a line for each depth; `None` for a single block.
fn over_block(group: &Group<'_, '_>, title: String, y: Axis, line: impl Fn(u32) -> Line) -> Option<Series> {
    let x = Axis::new("block size", "bytes").logarithmic();
    (blocks(group).len() > 1)
        .then(|| Series::new(title, Shape::Line, x, y).lines(spread(&depths(group)).into_iter().map(line)))
}

/// The first depth, the last, and some evenly between.
fn spread(depths: &[u32]) -> Vec<u32> {
    let (count, last) = (depths.len().min(LINES_MAX), depths.len() - 1);
    (0..count).map(|at| depths[at * last / (count - 1).max(1)]).collect()
}

/// A matrix of block and depth; `None` if either has only one value.
fn heat(group: &Group<'_, '_>, what: &str) -> Option<Series> {
    let (blocks, depths) = (blocks(group), depths(group));
    if blocks.len() < 2 || depths.len() < 2 {
        return None;
    }
    let place = |block: u32| blocks.iter().position(|size| *size == block).expect("it is one of them") as f64;
    let row = |depth: u32| {
        let cells = of_depth(group, depth);
        let points =
            cells.iter().map(|measured| [place(measured.cell.form.block), measured.speed()]).collect();
        Line::new(depth.to_string(), points)
    };
    let names: Vec<String> = blocks.iter().map(|block| amount(u64::from(*block))).collect();
    let series = Series::new(wording::heat_title(what), Shape::Heat, Axis::new("block size", ""), speed());
    Some(series.rows(wording::HEAT_ROWS).categories(names).lines(depths.into_iter().map(row)))
}

#[cfg(test)]
mod tests {
    use likenew_stats::interval::ratio_interval;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Approximately normal: the sum of twelve uniform numbers has variance 1.
    fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
        (0..12).map(|_| random.random_range(-0.5..0.5)).sum()
    }

    /// `count` equal cells of five rounds, each round 4 % slower than the one before, with 1 % of scatter.
    fn falling(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>> {
        let mut pass = |round: i32| 100.0 * 0.96f64.powi(round) * (1.0 + 0.01 * normal(random));
        (0..count).map(|_| (0..5).map(&mut pass).collect()).collect()
    }

    #[test]
    fn intervals_of_ratios_hold_what_they_claim_and_are_narrow() {
        for count in [4, 30] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            let (mut hits, mut width, mut width_before) = (0, 0.0, 0.0);
            const TRIES: u32 = 2000;
            for _ in 0..TRIES {
                let cells = falling(count, &mut random);
                let slices: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
                let without_round_effect = without_rounds(&slices);
                let interval =
                    ratio_interval(&without_round_effect[0], &without_round_effect[1], 0.95).unwrap();
                let before = ratio_interval(&cells[0], &cells[1], 0.95).unwrap();
                hits += u32::from(interval.contains(1.0));
                width += interval.high - interval.low;
                width_before += before.high - before.low;
            }
            let share = f64::from(hits) / f64::from(TRIES);
            assert!((0.935..=0.975).contains(&share), "{share} of {count} cells");
            assert!(width < width_before / 3.0, "{width} against {width_before}");
        }
    }

    #[test]
    fn means_stay_and_what_is_not_complete_is_left_alone() {
        let cells = falling(6, &mut Xoshiro256PlusPlus::seed_from_u64(2));
        let slices: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
        for (before, after) in cells.iter().zip(without_rounds(&slices)) {
            assert!((average(before) / average(&after) - 1.0).abs() < 1e-12);
        }
        for odd in [&[][..], &[1.0, 2.0, 3.0], &[0.0; 5]] {
            let mut slices = slices.clone();
            slices.push(odd);
            assert_eq!(without_rounds(&slices)[0], cells[0]);
        }
        assert_eq!(without_rounds(&slices[..3])[0], cells[0]);
        assert!(without_rounds(&[]).is_empty());
    }

    #[test]
    fn few_lines_are_spread_over_many_depths() {
        assert_eq!(spread(&[7]), [7]);
        assert_eq!(spread(&[1, 4, 32]), [1, 4, 32]);
        assert_eq!(spread(&[1, 2, 4, 8, 16, 32, 64, 128, 256]), [1, 4, 16, 64, 256]);
    }
}
