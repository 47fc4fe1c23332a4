//! Tables within a width: long ones shortened, wide ones in several parts.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use unicode_width::UnicodeWidthStr;

use super::Page;
use crate::grid::{Grid, Heading};
use crate::wording;

/// A table with more rows is evidence, not an answer: its first rows show what it contains.
const ROWS_MAX: usize = 24;
const ROWS_FIRST: usize = 8;
/// A line below the headings and no other.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));
/// Between two columns.
const GAP: usize = 2;

impl Page {
    /// A table under its title.
    pub(super) fn table(&self, title: &str, grid: &Grid) -> String {
        let mut text = self.title(title);
        if grid.rows.is_empty() {
            return text + &self.paint.faint(wording::NO_ROWS) + "\n";
        }
        let whole = grid.rows.len() <= ROWS_MAX;
        let rows = if whole { &grid.rows[..] } else { &grid.rows[..ROWS_FIRST] };
        let mut parts = parts(&grid.headings, rows, self.width);
        if !whole {
            // If rows are left out, more columns would answer nothing either.
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

    /// A table under its title in at most this many lines: its first columns and rows.
    pub(super) fn cut_table(&self, title: &str, grid: &Grid, lines_max: usize) -> Vec<String> {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let title = lines(&self.title(title));
        if grid.rows.is_empty() || title.len() + 4 > lines_max {
            return Vec::new();
        }
        let rows = &grid.rows[..grid.rows.len().min(lines_max)];
        let part = &parts(&grid.headings, rows, self.width)[0];
        let columns = grid.headings.len() - part.len();
        // Each row of a table that fits takes one line; headings take as many as they need.
        let mut shown = rows.len();
        loop {
            let mut all = title.clone();
            all.extend(lines(&self.set(&grid.headings, &rows[..shown], part)));
            if shown < grid.rows.len() || columns > 0 {
                all.push(self.paint.faint(&omitted_on_screen(grid.rows.len() - shown, columns)));
            }
            if all.len() <= lines_max {
                return all;
            }
            let Some(fewer) = shown.checked_sub((all.len() - lines_max).max(1)).filter(|rows| *rows > 0)
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

/// The lines of a heading: words are put below each other as long as that makes it no wider than its longest.
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

/// The columns of each part, so that every part fits: all that identify rows, then as many others as there is
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
