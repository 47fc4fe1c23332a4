//! A matrix of cells, each with its number and a shade that needs no color.

use likenew_core::findings::{Line, Series};
use unicode_width::UnicodeWidthStr;

use super::Page;
use super::bars::{pad, widest};
use super::paint::Shades;
use crate::column::MISSING;
use crate::unit::{Unit, clean};
use crate::wording;

/// Most rows; larger matrices are cut, and say so.
const ROWS_MAX: usize = 40;
const COLUMNS_MAX: usize = 40;
/// Longer column names are shortened.
const NAME_MAX: usize = 12;
/// Between two columns.
const GAP: usize = 2;

/// A series as rows and columns of numbers.
struct Matrix {
    /// Names of the columns.
    columns: Vec<String>,
    /// Names of the rows, each with an optional value for every column.
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Page {
    /// The cells below their column names, in parts if they are wider than the terminal.
    pub(super) fn heat_map(&self, series: &Series, range: Option<[f64; 2]>) -> String {
        let matrix = Matrix::from_series(series);
        let unit = Unit::parse(&series.y.unit);
        let values = matrix.rows.iter().flat_map(|(_, cells)| cells.iter().flatten().copied());
        let shades = Shades::for_values(values, range, &series.y);

        let number = |value: Option<f64>| {
            value.map_or_else(|| MISSING.to_owned(), |value| unit.spell_below_heading(value))
        };
        let numbers: Vec<String> =
            matrix.rows.iter().flat_map(|(_, cells)| cells.iter().map(|value| number(*value))).collect();
        let cell_width =
            (3 + widest(&numbers)).max(widest(&matrix.columns).min(NAME_MAX)).min(self.width / 2);
        let names: Vec<String> = matrix.rows.iter().map(|(name, _)| name.clone()).collect();
        let name_width = widest(&names).min(self.width - cell_width - GAP);
        let fitting = ((self.width - name_width) / (cell_width + GAP)).max(1);

        let mut text = self.faint_lines(&self.dimensions(series));
        let places: Vec<usize> = (0..matrix.columns.len().min(COLUMNS_MAX)).collect();
        for (part, columns) in places.chunks(fitting).enumerate() {
            if part > 0 {
                text.push('\n');
            }
            text += &" ".repeat(name_width);
            for column in columns {
                text += &format!("{:GAP$}{}", "", flush_right(&matrix.columns[*column], cell_width));
            }
            text.push('\n');
            for (name, cells) in matrix.rows.iter().take(ROWS_MAX) {
                text += &self.paint.faint(&pad(name, name_width));
                for column in columns {
                    text += &" ".repeat(GAP);
                    text += &self.cell(cells[*column], &number(cells[*column]), &shades, cell_width);
                }
                text.push('\n');
            }
        }
        text + &self.legend_of(&shades) + &self.cut(&matrix)
    }

    fn cell(&self, value: Option<f64>, number: &str, shades: &Shades, width: usize) -> String {
        let Some(value) = value else { return flush_right(number, width) };
        let shade = shades.shade(value);
        let blocks = self.paint.shade(shade.color, shade.blocks);
        format!("{blocks}{}", flush_right(number, width - shade.blocks.width()))
    }

    fn dimensions(&self, series: &Series) -> String {
        let parts = [("rows", &series.rows), ("columns", &series.x.label), ("cells", &series.y.label)];
        let message = parts.iter().filter(|(_, label)| !label.is_empty());
        let message: Vec<String> = message.map(|(what, label)| format!("{what}: {}", clean(label))).collect();
        message.join(" · ")
    }

    /// The values of each shade, in as many lines as needed.
    fn legend_of(&self, shades: &Shades) -> String {
        let (mut text, mut width) = (String::new(), 0);
        for (shade, meaning) in shades.legend() {
            let entry = shade.blocks.width() + 1 + meaning.width();
            let gap = if width == 0 { "" } else { "   " };
            if width + gap.len() + entry > self.text_width() {
                text.push('\n');
                width = entry;
            } else {
                text += gap;
                width += gap.len() + entry;
            }
            text += &format!("{} {meaning}", self.paint.shade(shade.color, shade.blocks));
        }
        text + "\n"
    }

    fn cut(&self, matrix: &Matrix) -> String {
        let rows = matrix.rows.len().saturating_sub(ROWS_MAX);
        let columns = matrix.columns.len().saturating_sub(COLUMNS_MAX);
        match (rows, columns) {
            (0, 0) => String::new(),
            _ => self.faint_lines(&wording::cells_left_out(rows, columns)),
        }
    }
}

impl Matrix {
    fn from_series(series: &Series) -> Self {
        let unit = Unit::parse(&series.x.unit);
        let mut places: Vec<f64> = (0..series.categories.len()).map(|place| place as f64).collect();
        places.extend(series.lines.iter().flat_map(|line| line.points.iter().map(|[x, _]| *x)));
        places.sort_by(f64::total_cmp);
        places.dedup();
        let name = |x: &f64| match series.categories.get(*x as usize) {
            Some(category) if x.fract() == 0.0 && *x >= 0.0 => clean(category),
            _ => unit.spell(*x),
        };
        let row = |line: &Line| {
            let mut cells = vec![None; places.len()];
            for [x, value] in &line.points {
                let place = places.iter().position(|place| place == x).expect("every place is known");
                cells[place] = Some(*value);
            }
            (clean(&line.name), cells)
        };
        Self { columns: places.iter().map(name).collect(), rows: series.lines.iter().map(row).collect() }
    }
}

/// `text` at the right end of `width` columns, shortened if it is longer.
fn flush_right(text: &str, width: usize) -> String {
    if text.width() > width {
        pad(text, width)
    } else {
        format!("{}{text}", " ".repeat(width - text.width()))
    }
}
