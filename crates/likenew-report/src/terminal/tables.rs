//! Tables within a width: long tables are shortened, and wide ones split into parts. The first screen's table
//! has bars.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use likenew_core::findings::{OverviewRow, OverviewTable};
use likenew_core::quantity::Share;
use unicode_width::UnicodeWidthStr;

use super::chart::{blocks, pad};
use super::{Page, wrap};
use crate::column::{Grid, Heading, is_number_column};
use crate::unit::clean;
use crate::wording;

/// First rows that are shown of a longer table.
const ROWS_FIRST: usize = 8;
/// The only line is below the headings.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));
/// Indent of the first column of an overview.
const INDENT: usize = 2;
/// Space between two columns.
const GAP: usize = 2;

impl Page {
    /// A table under its title.
    pub(super) fn table(&self, title: &str, grid: &Grid) -> String {
        let mut text = self.title(title);
        if grid.rows.is_empty() {
            return text + &self.paint.faint(wording::NO_ROWS) + "\n";
        }
        let whole = grid.rows.len() <= self.rows_max;
        let rows = if whole { &grid.rows[..] } else { &grid.rows[..ROWS_FIRST] };
        let mut parts = parts(&grid.headings, rows, self.width);
        if !whole {
            // If rows are left out, further columns would not help either.
            parts.truncate(1);
        }
        let set: Vec<String> = parts.iter().map(|part| self.set(&grid.headings, rows, part)).collect();
        text += &set.join("\n");
        if !whole {
            text += &self.faint_lines(&wording::cells_left_out(
                grid.rows.len() - ROWS_FIRST,
                grid.headings.len() - parts[0].len(),
            ));
        }
        text
    }

    /// A table under its title, in at most this many lines, with its first columns and rows.
    pub(super) fn cut_table(&self, title: &str, grid: &Grid, lines_max: usize) -> Vec<String> {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let title = lines(&self.title(title));
        if grid.rows.is_empty() || title.len() + 4 > lines_max {
            return Vec::new();
        }
        let rows = &grid.rows[..grid.rows.len().min(lines_max)];
        let part = &parts(&grid.headings, rows, self.width)[0];
        let columns = grid.headings.len() - part.len();
        // Each row of a table that fits takes one line; headings take as many lines as they need.
        let mut shown = rows.len();
        loop {
            let mut block = title.clone();
            block.extend(lines(&self.set(&grid.headings, &rows[..shown], part)));
            if shown < grid.rows.len() || columns > 0 {
                block.push(self.paint.faint(&omitted_on_screen(grid.rows.len() - shown, columns)));
            }
            if block.len() <= lines_max {
                return block;
            }
            let Some(fewer) = shown.checked_sub((block.len() - lines_max).max(1)).filter(|rows| *rows > 0)
            else {
                return Vec::new();
            };
            shown = fewer;
        }
    }

    fn set(&self, headings: &[Heading], rows: &[Vec<String>], part: &[usize]) -> String {
        let mut table = Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.width).unwrap_or(u16::MAX));
        table.set_header(part.iter().map(|column| heading_lines(&headings[*column]).join("\n")));
        for row in rows {
            table.add_row(part.iter().map(|column| &row[*column]));
        }
        for (place, column) in part.iter().enumerate() {
            let set = table.column_mut(place).expect("the table has a column for each heading");
            set.set_padding((0, if place + 1 == part.len() { 0 } else { GAP as u16 }));
            if headings[*column].number {
                set.set_cell_alignment(CellAlignment::Right);
            }
        }
        format!("{table}\n")
    }
}

fn omitted_on_screen(rows: usize, columns: usize) -> String {
    match (rows, columns) {
        (rows, 0) => wording::more(rows, "row", "rows"),
        (0, columns) => wording::more(columns, "column", "columns"),
        (rows, columns) => {
            format!("{}, {}", wording::more(rows, "row", "rows"), wording::more(columns, "column", "columns"))
        }
    }
}

/// The lines of a heading: its words are put below each other where that makes it no wider than its longest word.
fn heading_lines(heading: &Heading) -> Vec<String> {
    let longest = heading.text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    for word in heading.text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= longest.max(6) => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.extend(heading.document.clone());
    lines
}

/// The columns of each part, so that every part fits: all that identify rows, and as many others as there is
/// room for, at least one. The columns of a group stay together if they fit.
fn parts(headings: &[Heading], rows: &[Vec<String>], width: usize) -> Vec<Vec<usize>> {
    let wide =
        |columns: &[usize]| columns.iter().map(|column| column_width(headings, rows, *column)).sum::<usize>();
    let (identity, others): (Vec<usize>, Vec<usize>) =
        (0..headings.len()).partition(|column| headings[*column].identity);
    let room = (width + GAP).saturating_sub(wide(&identity));

    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for group in others.chunk_by(|one, other| headings[*one].group == headings[*other].group) {
        for together in group.chunks(if wide(group) <= room { group.len() } else { 1 }) {
            let needed = wide(together);
            if parts.is_empty() || needed > left {
                parts.push(identity.clone());
                left = room.max(needed);
            }
            left -= needed;
            parts.last_mut().expect("a part was just made if there was none").extend(together);
        }
    }
    if parts.is_empty() {
        parts.push(identity);
    }
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts
}

fn column_width(headings: &[Heading], rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().map(|row| row[column].width());
    let lines = heading_lines(&headings[column]);
    cells.chain(lines.iter().map(|line| line.width())).max().unwrap_or(0) + GAP
}
/// Lengths of bars, tried until the table fits; with length 0 only the share is shown.
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
    /// The width of the widest share, in columns.
    share: usize,
}

#[derive(Clone, Copy)]
struct Column {
    width: usize,
    number: bool,
}

impl Page {
    /// The table in at most this many lines; its last rows are left out if there are too many.
    pub(super) fn overview_table(&self, table: &OverviewTable, lines_max: usize) -> Vec<String> {
        let layout = Layout::new(table, self.width);
        let mut lines = vec![self.paint.faint(&layout.headings(table))];
        let rows: Vec<Vec<String>> = table.rows.iter().map(|row| self.overview_row(row, &layout)).collect();
        let row_lines: usize = rows.iter().map(Vec::len).sum();
        let room = if lines.len() + row_lines <= lines_max {
            row_lines
        } else {
            lines_max.saturating_sub(lines.len() + 1)
        };
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
        // If the table is still too wide, its last columns are left to the details.
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

/// The columns of characters that a table takes.
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
        let last = lines.split_off(CELL_LINES - 1).join(" ");
        lines.push(last);
    }
    lines.iter().map(|line| if line.width() > width { pad(line, width) } else { line.clone() }).collect()
}
