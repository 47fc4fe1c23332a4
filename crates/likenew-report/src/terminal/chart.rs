//! Draws a series: as a chart with title, legend and marks, as bars, or as a matrix of cells with shades that
//! need no color.

use likenew_core::findings::{Line, Mark, Series, Shape};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_core::symbols::Marker;
use ratatui_core::widgets::Widget;
use ratatui_widgets::canvas::{Canvas, Context, Line as Segment, Points};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Page;
use super::paint::{Paint, Shades};
use crate::column::MISSING;
use crate::compare::Picture;
use crate::scale::{Scale, is_drawable};
use crate::unit::{Unit, clean};
use crate::wording;

/// Most bars with names; more bars are drawn side by side without names.
const BARS_MAX: usize = 48;
/// Most lines drawn one below the other, without color.
const LINES_APART_MAX: usize = 4;
/// Most marks named below the chart.
const MARKS_NAMED: usize = 4;
/// Most columns of a chart; a wider chart shows no more.
const WIDTH_MAX: usize = 120;

/// The series without marks that name another of its lines.
fn with_own_marks(series: &Series, line: usize) -> Series {
    let names_another = |mark: &Mark| {
        let mut others = series.lines.iter().enumerate().filter(|(index, _)| *index != line);
        others.any(|(_, other)| mark.label.starts_with(&format!("{}: ", other.name)))
    };
    let mut own = series.clone();
    own.marks.retain(|mark| !names_another(mark));
    own
}

impl Page {
    /// A series under its title. Only the HTML page draws bands: here they would hide the line between dots.
    pub(super) fn picture(&self, picture: &Picture) -> String {
        let (series, skips) = drawable(&picture.series);
        let mut text = self.title(&series.title);
        if skips > 0 {
            text += &format!("{}\n", self.paint.faint(&wording::points_beyond(skips)));
        }
        if series.lines.iter().all(|line| line.points.is_empty()) {
            return text + &self.paint.faint(wording::NOTHING_TO_DRAW) + "\n";
        }
        if series.shape == Shape::Heat {
            return text + &self.heat_map(&series, picture.range) + &self.marks(&series);
        }
        let bars: usize = series.lines.iter().map(|line| line.points.len()).sum();
        if series.shape == Shape::Bars && bars <= BARS_MAX {
            return text + &self.bars(&series);
        }
        let lines: Vec<usize> = (0..series.lines.len()).collect();
        if self.paint.color || lines.len() == 1 {
            text += &self.legend(&series);
            text += &self.plot(&series, &lines);
        } else {
            // Lines that differ only in color are drawn one below the other, on the same axes.
            for index in lines.iter().copied().take(LINES_APART_MAX) {
                text += &format!("{}\n", clean(&series.lines[index].name));
                text += &self.plot(&with_own_marks(&series, index), &[index]);
            }
            if lines.len() > LINES_APART_MAX {
                let more = lines.len() - LINES_APART_MAX;
                text += &self.faint_lines(&wording::lines_left_out(more));
            }
        }
        if series.lines.iter().any(|line| !line.band.is_empty()) {
            text += &self.faint_lines(wording::INTERVALS_ELSEWHERE);
        }
        text + &self.marks(&series)
    }

    fn plot(&self, series: &Series, lines: &[usize]) -> String {
        let width = self.width.min(WIDTH_MAX);
        Plot { series, lines, width, height: HEIGHT, paint: &self.paint }.draw()
    }

    /// A series under its title, in at most this many lines; empty if it needs more.
    pub(super) fn picture_within(&self, picture: &Picture, lines_max: usize) -> Vec<String> {
        let inner = Page { width: self.width - 2, ..*self };
        let (series, _) = drawable(&picture.series);
        let bars: usize = series.lines.iter().map(|line| line.points.len()).sum();
        if bars == 0 {
            return Vec::new();
        }
        let mut text = format!("{}\n", inner.paint.strong(&clean(&series.title)));
        if series.shape == Shape::Heat {
            text += &inner.heat_map(&series, None);
        } else if series.shape == Shape::Bars && bars <= BARS_MAX {
            text += &inner.bars(&series);
        } else {
            text += &inner.legend(&series);
            let (legend, marks) = (text.lines().count(), inner.marks(&series));
            let around = legend + marks.lines().count() + AROUND_PLOT;
            let height = lines_max.saturating_sub(around).min(HEIGHT);
            if height < HEIGHT_MIN {
                return Vec::new();
            }
            let lines: Vec<usize> = (0..series.lines.len()).collect();
            let width = inner.width.min(WIDTH_MAX);
            text += &Plot { series: &series, lines: &lines, width, height, paint: &inner.paint }.draw();
            text += &marks;
        }
        let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
        if lines.len() <= lines_max { lines } else { Vec::new() }
    }

    fn legend(&self, series: &Series) -> String {
        if series.lines.len() < 2 {
            return String::new();
        }
        let name = |(index, line): (usize, &Line)| {
            self.paint.line(index, &format!("{} {}", self.symbol(index), clean(&line.name)))
        };
        let names: Vec<String> = series.lines.iter().enumerate().map(name).collect();
        let width: usize = series.lines.iter().map(|line| clean(&line.name).width() + 5).sum();
        format!("{}\n", names.join(if width <= self.width { "   " } else { "\n" }))
    }

    /// The symbol of a line in a legend. Without color, the dots of a plot's lines differ.
    fn symbol(&self, index: usize) -> char {
        if self.paint.color { '━' } else { symbol(index) }
    }

    fn marks(&self, series: &Series) -> String {
        if series.marks.is_empty() {
            return String::new();
        }
        let unit = Unit::parse(&series.x.unit);
        let place = |x: f64| match series.categories.get(x as usize) {
            Some(category) if x >= 0.0 => category.clone(),
            _ => wording::place(&series.x.label, &unit.spell(x)),
        };
        let named =
            series.marks.iter().take(MARKS_NAMED).map(|mark| format!("{} at {}", mark.label, place(mark.x)));
        let mut text = format!("▼ {}", named.collect::<Vec<_>>().join("; "));
        if series.marks.len() > MARKS_NAMED {
            text += &format!("; and {} more", series.marks.len() - MARKS_NAMED);
        }
        self.wrap(&clean(&text), "", 2).into_iter().map(|line| format!("{line}\n")).collect()
    }
}

/// The series without points and marks that no axis can show, and how many points were left out.
fn drawable(series: &Series) -> (Series, usize) {
    let count = |series: &Series| series.lines.iter().map(|line| line.points.len()).sum::<usize>();
    let before = count(series);
    let mut series = series.clone();
    for line in &mut series.lines {
        line.points.retain(|point| point.iter().all(|value| is_drawable(*value)));
    }
    series.marks.retain(|mark| is_drawable(mark.x));
    let skips = before - count(&series);
    (series, skips)
}

/// A cell filled by one to eight eighths.
const EIGHTHS: [&str; 8] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
/// Most cells of a bar; a longer bar shows no more.
const LENGTH_MAX: usize = 60;

struct Bar {
    category: String,
    line: usize,
    value: f64,
}

impl Page {
    /// One bar for each point, by category, then line.
    pub(super) fn bars(&self, series: &Series) -> String {
        let unit = Unit::parse(&series.y.unit);
        let bars = in_order(series);
        let names: Vec<String> = series.lines.iter().map(|line| clean(&line.name)).collect();
        let name_width = if names.len() > 1 { widest(&names) + 1 } else { 0 };
        let values: Vec<String> = bars.iter().map(|bar| unit.spell(bar.value)).collect();
        let categories: Vec<String> = bars.iter().map(|bar| bar.category.clone()).collect();
        let fixed = name_width + widest(&values) + 3;
        let category_width = widest(&categories).min(self.width.saturating_sub(fixed + 4).max(4));
        let length = self.width.saturating_sub(fixed + category_width).clamp(2, LENGTH_MAX);
        let highest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);

        let mut text = String::new();
        for (index, bar) in bars.iter().enumerate() {
            let repeated = index > 0 && bars[index - 1].category == bar.category;
            let category = if repeated { "" } else { &bar.category };
            let name = if name_width > 0 { &names[bar.line] } else { "" };
            text += &format!(
                "{} {}{} {}\n",
                pad(category, category_width),
                pad(name, name_width),
                self.paint.line(bar.line, &blocks(bar.value / highest, length)),
                values[index]
            );
        }
        text
    }
}

fn in_order(series: &Series) -> Vec<Bar> {
    let unit = Unit::parse(&series.x.unit);
    let category = |x: f64| match series.categories.get(x as usize) {
        Some(category) => clean(category),
        None => unit.spell(x),
    };
    let mut bars: Vec<(f64, Bar)> = Vec::new();
    for (line, drawn) in series.lines.iter().enumerate() {
        bars.extend(
            drawn.points.iter().map(|[x, value]| (*x, Bar { category: category(*x), line, value: *value })),
        );
    }
    bars.sort_by(|one, other| one.0.total_cmp(&other.0));
    bars.into_iter().map(|(_, bar)| bar).collect()
}

/// A bar over this share of `length` cells; empty for a negative share.
pub(super) fn blocks(share: f64, length: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (length * 8) as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar += EIGHTHS[eighths % 8 - 1];
    }
    bar
}

pub(super) fn widest(texts: &[String]) -> usize {
    texts.iter().map(|text| text.width()).max().unwrap_or(0)
}

/// `text` in exactly `width` columns, shortened with an ellipsis if needed.
pub(super) fn pad(text: &str, width: usize) -> String {
    let mut out = text.to_owned();
    if out.width() > width {
        out.clear();
        for c in text.chars() {
            if out.width() + c.width().unwrap_or(0) + 1 > width {
                break;
            }
            out.push(c);
        }
        out.push('…');
    }
    let blank = width.saturating_sub(out.width());
    out + &" ".repeat(blank)
}

/// Most rows; larger matrices are cut, with a note.
const ROWS_MAX: usize = 40;
/// Most columns; larger matrices are cut, with a note.
const COLUMNS_MAX: usize = 40;
/// Longest name of a column, in characters; longer names are shortened.
const NAME_MAX: usize = 12;
/// Space between two columns.
const GAP: usize = 2;

/// A series as rows and columns of numbers.
struct Matrix {
    /// Names of the columns.
    columns: Vec<String>,
    /// Names of the rows, each with an optional value for every column.
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Page {
    /// The cells below their column names, in several parts if wider than the terminal.
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

    /// The range of values of each shade, in as many lines as needed.
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

/// `text` at the right end of `width` columns, shortened if needed.
fn flush_right(text: &str, width: usize) -> String {
    if text.width() > width {
        pad(text, width)
    } else {
        format!("{}{text}", " ".repeat(width - text.width()))
    }
}

/// Some lines of a series, as a plot in braille dots between labeled axes.
struct Plot<'a> {
    /// The series, which has points that can be drawn.
    series: &'a Series,
    /// The indices of its lines.
    lines: &'a [usize],
    /// Columns for the whole plot.
    width: usize,
    /// Rows for the dots.
    height: usize,
    paint: &'a Paint,
}

/// Default number of rows for the dots.
const HEIGHT: usize = 12;
/// Fewest rows for the dots that show a form.
const HEIGHT_MIN: usize = 4;
/// Most lines around the dots: marks above; the axis, its labels and its name below.
const AROUND_PLOT: usize = 4;
/// Most labels beside the dots.
const LABELS: usize = 5;
/// Symbols of lines after the first, without color.
const SYMBOLS: [char; 5] = ['•', '×', '+', 'o', '*'];

/// The symbol of a line without color; the first line is drawn in braille dots.
fn symbol(index: usize) -> char {
    index.checked_sub(1).map_or('⠒', |index| SYMBOLS[index % SYMBOLS.len()])
}

/// Least columns from one label of the x axis to the next.
const LABEL_COLUMNS: usize = 14;

impl Plot<'_> {
    /// The plot as lines of text: marks, dots, axis, labels.
    fn draw(&self) -> String {
        let points = || self.series.lines.iter().flat_map(|line| &line.points);
        let x = Scale::of_positions(points().map(|point| point[0]), &self.series.x);
        let y = Scale::of_values(points().map(|point| point[1]), &self.series.y, LABELS);
        let (Some(x), Some(y)) = (x, y) else { return String::new() };
        let mut y_labels = vec![String::new(); self.height];
        for (value, label) in y.ticks(LABELS) {
            y_labels[cell(1.0 - y.share(value), self.height)] = label;
        }
        let gutter = y_labels.iter().map(|label| label.width()).max().unwrap_or(0);
        let columns = self.width.saturating_sub(gutter + 2).max(8);

        let mut text = self.mark_row(&x, gutter, columns);
        for (label, dots) in y_labels.iter().zip(self.dots(&x, &y, columns)) {
            let axis = if label.is_empty() { '│' } else { '┤' };
            text += &format!("{label:>gutter$} {axis}{dots}\n");
        }
        text + &self.x_axis(&x, gutter, columns)
    }

    fn dots(&self, x: &Scale, y: &Scale, columns: usize) -> Vec<String> {
        let area = Rect::new(0, 0, columns as u16, self.height as u16);
        let mut buffer = Buffer::empty(area);
        let draw = |lines: &[usize], marker: Marker, buffer: &mut Buffer| {
            Canvas::default()
                .x_bounds(x.bounds())
                .y_bounds(y.bounds())
                .marker(marker)
                .paint(|context| lines.iter().for_each(|line| self.line(*line, x, y, context)))
                .render(area, buffer);
        };
        let (first, others) = self.lines.split_at(if self.paint.color { self.lines.len() } else { 1 });
        draw(first, Marker::Braille, &mut buffer);
        for line in others {
            let mut layer = Buffer::empty(area);
            draw(&[*line], Marker::Dot, &mut layer);
            let mut text = [0; 4];
            let symbol = symbol(*line).encode_utf8(&mut text);
            for (below, above) in buffer.content.iter_mut().zip(&layer.content) {
                if above.symbol() != " " {
                    below.set_symbol(symbol).set_fg(above.fg);
                }
            }
        }
        (0..self.height as u16).map(|row| self.row(&buffer, row, columns as u16)).collect()
    }

    fn line(&self, index: usize, x: &Scale, y: &Scale, context: &mut Context<'_>) {
        let color = Color::Indexed(u8::try_from(index % 256).expect("a remainder of 256 is below it"));
        let points = &self.series.lines[index].points;
        let coords: Vec<(f64, f64)> =
            points.iter().map(|[at, value]| (x.place(*at), y.place(*value))).collect();
        match self.series.shape {
            Shape::Line if coords.len() > 1 => {
                for pair in coords.windows(2) {
                    let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
                    context.draw(&Segment { x1, y1, x2, y2, color });
                }
            }
            Shape::Bars => {
                let ground = y.place(0.0);
                for (x, y) in coords {
                    context.draw(&Segment { x1: x, y1: ground, x2: x, y2: y, color });
                }
            }
            Shape::Line | Shape::Scatter => context.draw(&Points { coords: &coords, color }),
            Shape::Heat => unreachable!("a heat map has cells, no dots"),
        }
    }

    /// One row of the canvas as text; each stretch of one color is styled as a whole.
    fn row(&self, buffer: &Buffer, row: u16, columns: u16) -> String {
        let mut text = String::new();
        let mut run = (None, String::new());
        for column in 0..columns {
            let cell = &buffer[(column, row)];
            let line = if let Color::Indexed(line) = cell.fg { Some(usize::from(line)) } else { None };
            if line != run.0 {
                text += &self.paint(&run);
                run = (line, String::new());
            }
            run.1.push_str(if cell.symbol() == "\u{2800}" { " " } else { cell.symbol() });
        }
        text + &self.paint(&run)
    }

    fn paint(&self, (line, text): &(Option<usize>, String)) -> String {
        line.map_or_else(|| text.clone(), |line| self.paint.line(line, text))
    }

    fn mark_row(&self, x: &Scale, gutter: usize, columns: usize) -> String {
        if self.series.marks.is_empty() {
            return String::new();
        }
        let mut row = vec![' '; columns];
        for mark in &self.series.marks {
            row[cell(x.share(mark.x), columns)] = '▼';
        }
        format!("{:gutter$}  {}\n", "", row.into_iter().collect::<String>())
    }

    fn x_axis(&self, x: &Scale, gutter: usize, columns: usize) -> String {
        let mut axis = vec!['─'; columns];
        let mut labels = String::new();
        for (value, label) in self.x_ticks(x, columns) {
            let at = cell(x.share(value), columns);
            let start = at.saturating_sub(label.width() / 2).min(columns.saturating_sub(label.width()));
            if !labels.is_empty() && start <= labels.width() || start + label.width() > columns {
                continue;
            }
            axis[at] = '┬';
            labels += &" ".repeat(start - labels.width());
            labels += &label;
        }
        let axis: String = axis.into_iter().collect();
        // The name of the axis precedes its labels if there is room; otherwise it is below them.
        let name = clean(&self.series.x.label);
        let (before, below) =
            if name.width() <= gutter { (name, String::new()) } else { (String::new(), name) };
        let blank = " ".repeat(gutter.saturating_sub(before.width()));
        let mut text = format!("{:gutter$} └{axis}\n", "");
        text += &format!("{blank}{}  {labels}\n", self.paint.faint(&before));
        if !below.is_empty() {
            let start = (gutter + 2 + columns).saturating_sub(below.width());
            text += &format!("{:start$}{}\n", "", self.paint.faint(&below));
        }
        text
    }

    fn x_ticks(&self, x: &Scale, columns: usize) -> Vec<(f64, String)> {
        if self.series.categories.is_empty() {
            return x.ticks((columns / LABEL_COLUMNS).max(2));
        }
        let [low, high] = x.bounds();
        let named =
            self.series.categories.iter().enumerate().map(|(index, name)| (index as f64, clean(name)));
        named.filter(|(place, _)| (low..=high).contains(place)).collect()
    }
}

/// The index of the cell at this share of `count` cells.
fn cell(share: f64, count: usize) -> usize {
    ((share * count as f64) as usize).min(count - 1)
}
