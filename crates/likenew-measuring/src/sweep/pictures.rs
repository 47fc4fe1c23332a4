//! Curves of speed and IOPS over block size, and heat maps of block and depth.

use likenew_core::findings::{Axis, Line, Series, Shape};
use likenew_core::units::amount;
use likenew_procedure_support::pattern::Pattern;

use super::results::{Matrix, MeasuredCell, distinct};
use super::wording;
use likenew_procedure_support::series::speed;

/// More groups than this are drawn once each, and more than twice as many only the first: the matrix has
/// every number.
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

fn blocks(group: &Group<'_, '_>) -> Vec<u32> {
    let mut blocks = distinct(group.iter().map(|one| one.cell.form.block));
    blocks.sort_unstable();
    blocks
}

fn depths(group: &Group<'_, '_>) -> Vec<u32> {
    let mut depths = distinct(group.iter().map(|one| one.cell.form.depth));
    depths.sort_unstable();
    depths
}

/// The cells of one depth, smallest block first.
fn of_depth<'b, 'a>(group: &Group<'b, 'a>, depth: u32) -> Group<'b, 'a> {
    let mut line: Group<'b, 'a> = group.iter().filter(|one| one.cell.form.depth == depth).copied().collect();
    line.sort_by_key(|one| one.cell.form.block);
    line
}

fn speed_over_block(group: &Group<'_, '_>, what: &str) -> Option<Series> {
    let block = |one: &MeasuredCell<'_>| f64::from(one.cell.form.block);
    let line = |depth: u32| {
        let cells = of_depth(group, depth);
        let points = cells.iter().map(|one| [block(one), one.speed()]).collect();
        let ends = |one: &&MeasuredCell<'_>| {
            one.interval.map(|interval| [block(one), interval.low.max(0.0), interval.high])
        };
        Line::new(wording::depth_legend(depth), points).band(cells.iter().filter_map(ends).collect())
    };
    over_block(group, wording::speed_title(what), speed(), line)
}

fn iops_over_block(group: &Group<'_, '_>, what: &str) -> Option<Series> {
    let line = |depth: u32| {
        let cells = of_depth(group, depth);
        let points = cells.iter().map(|one| [f64::from(one.cell.form.block), one.iops()]).collect();
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

/// The first, the last, and some evenly between.
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
    let place = |block: u32| blocks.iter().position(|one| *one == block).expect("it is one of them") as f64;
    let row = |depth: u32| {
        let cells = of_depth(group, depth);
        let points = cells.iter().map(|one| [place(one.cell.form.block), one.speed()]).collect();
        Line::new(depth.to_string(), points)
    };
    let names: Vec<String> = blocks.iter().map(|block| amount(u64::from(*block))).collect();
    let series = Series::new(wording::heat_title(what), Shape::Heat, Axis::new("block size", ""), speed());
    Some(series.rows(wording::HEAT_ROWS).categories(names).lines(depths.into_iter().map(row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_lines_are_spread_over_many_depths() {
        assert_eq!(spread(&[7]), [7]);
        assert_eq!(spread(&[1, 4, 32]), [1, 4, 32]);
        assert_eq!(spread(&[1, 2, 4, 8, 16, 32, 64, 128, 256]), [1, 4, 16, 64, 256]);
    }
}
