//! The table of a first screen: text, right-aligned numbers, and bars.

use likenew_core::findings::{OverviewRow, OverviewTable};
use likenew_core::quantity::Share;
use unicode_width::UnicodeWidthStr;

use super::bars::{blocks, pad};
use super::{Page, wrap};
use crate::overview_cell::is_number_column;
use crate::unit::clean;
use crate::wording;

/// Before the first column.
const INDENT: usize = 2;
/// Between two columns.
const GAP: usize = 2;
/// Lengths of bars, tried until the table fits; without a bar only the share is shown.
const BARS: [usize; 4] = [20, 12, 8, 0];
/// Fewest characters of a column of words.
const WORDS_MIN: usize = 12;
/// Most lines of a cell.
const CELL_LINES: usize = 2;

/// The layout of a table.
struct Layout {
    /// The columns shown: all, or as many from the left as fit.
    columns: Vec<Column>,
    /// The bar, if the table has one.
    bar: Option<Bar>,
}

/// A bar and its share.
#[derive(Clone, Copy)]
struct Bar {
    /// Cells of a full bar; 0 if there is only room for the share.
    length: usize,
    /// Columns of the widest share.
    share: usize,
}

#[derive(Clone, Copy)]
struct Column {
    width: usize,
    number: bool,
}

impl Page {
    /// The table in at most this many lines, without its last rows if there are too many.
    pub(super) fn overview_table(&self, table: &OverviewTable, lines_max: usize) -> Vec<String> {
        let layout = Layout::new(table, self.width);
        let mut lines = vec![self.paint.faint(&layout.headings(table))];
        let rows: Vec<Vec<String>> = table.rows.iter().map(|row| self.overview_row(row, &layout)).collect();
        let all: usize = rows.iter().map(Vec::len).sum();
        let room =
            if lines.len() + all <= lines_max { all } else { lines_max.saturating_sub(lines.len() + 1) };
        let (mut used, mut shown) = (0, 0);
        for row in &rows {
            if used + row.len() > room {
                break;
            }
            used += row.len();
            shown += 1;
            lines.extend(row.iter().cloned());
        }
        if shown < rows.len() {
            let more = wording::more(rows.len() - shown, "row", "rows");
            lines.push(self.paint.faint(&format!("{:INDENT$}{more}", "")));
        }
        lines
    }

    fn overview_row(&self, row: &OverviewRow, layout: &Layout) -> Vec<String> {
        let cells: Vec<Vec<String>> = layout
            .columns
            .iter()
            .zip(&row.cells)
            .map(|(column, cell)| cell_lines(&clean(cell), column.width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        (0..height)
            .map(|line| {
                let mut text = " ".repeat(INDENT);
                for (at, (column, cell)) in layout.columns.iter().zip(&cells).enumerate() {
                    let gap = if at > 0 { GAP } else { 0 };
                    let part = cell.get(line).map_or("", String::as_str);
                    text += &format!("{:gap$}{}", "", column.set(part));
                }
                if line == 0
                    && let (Some(bar), Some(share)) = (layout.bar, row.share)
                {
                    text += &self.share_bar(share, bar);
                }
                text
            })
            .collect()
    }

    fn share_bar(&self, share: f64, bar: Bar) -> String {
        let number = format!("{:>1$}", Share(share).to_string(), bar.share);
        if bar.length == 0 {
            return format!("{:GAP$}{number}", "");
        }
        let drawn = pad(&blocks(share, bar.length), bar.length);
        format!("{:GAP$}{} {number}", "", self.paint.line(0, &drawn))
    }
}

impl Layout {
    fn new(table: &OverviewTable, width: usize) -> Self {
        let mut columns: Vec<Column> =
            (0..table.headings.len()).map(|at| Column::new(&table.headings[at], &table.rows, at)).collect();
        let shares = table.rows.iter().filter_map(|row| row.share);
        let mut bar = shares.map(|share| Share(share).to_string().width()).max().map(|share| {
            let bars = BARS.map(|length| Bar { length, share });
            bars.into_iter().find(|bar| total(&columns, Some(*bar)) <= width).unwrap_or(bars[BARS.len() - 1])
        });
        while total(&columns, bar) > width {
            let widest = columns.iter_mut().filter(|column| !column.number).max_by_key(|column| column.width);
            match widest {
                Some(column) if column.width > WORDS_MIN => column.width -= 1,
                _ => break,
            }
        }
        // If even that is too wide, columns from the right are left to the details.
        while total(&columns, bar) > width && columns.len() > 1 {
            columns.pop();
        }
        if let [only] = &mut columns[..] {
            only.width = only.width.min(width - INDENT);
        }
        if total(&columns, bar) > width {
            bar = None;
        }
        Self { columns, bar }
    }

    fn headings(&self, table: &OverviewTable) -> String {
        let mut text = " ".repeat(INDENT);
        for (at, (column, heading)) in self.columns.iter().zip(&table.headings).enumerate() {
            let gap = if at > 0 { GAP } else { 0 };
            text += &format!(
                "{:gap$}{}",
                "",
                column.set(&pad(&clean(heading), column.width.min(clean(heading).width())))
            );
        }
        text
    }
}

/// Columns of characters that a table takes.
fn total(columns: &[Column], bar: Option<Bar>) -> usize {
    let gaps = columns.len().saturating_sub(1) * GAP;
    let bar = bar.map_or(0, |bar| GAP + bar.length + usize::from(bar.length > 0) + bar.share);
    INDENT + columns.iter().map(|column| column.width).sum::<usize>() + gaps + bar
}

impl Column {
    fn new(heading: &str, rows: &[OverviewRow], at: usize) -> Self {
        let cells = || rows.iter().filter_map(|row| row.cells.get(at)).map(|cell| clean(cell));
        let width = cells().map(|cell| cell.width()).chain([clean(heading).width()]).max().unwrap_or(0);
        let number = is_number_column(rows, at);
        Self { width, number }
    }

    fn set(self, text: &str) -> String {
        let blank = " ".repeat(self.width.saturating_sub(text.width()));
        if self.number { format!("{blank}{text}") } else { format!("{text}{blank}") }
    }
}

/// A cell in at most [`CELL_LINES`] lines.
fn cell_lines(cell: &str, width: usize) -> Vec<String> {
    if cell.width() <= width {
        return vec![cell.to_owned()];
    }
    let mut lines = wrap(cell, "", 0, width);
    if lines.len() > CELL_LINES {
        let rest = lines.split_off(CELL_LINES - 1).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| if line.width() > width { pad(line, width) } else { line.clone() }).collect()
}
