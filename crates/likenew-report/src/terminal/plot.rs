//! A chart in braille dots between labeled axes.

use likenew_core::findings::{Series, Shape};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_core::symbols::Marker;
use ratatui_core::widgets::Widget;
use ratatui_widgets::canvas::{Canvas, Context, Line as Segment, Points};
use unicode_width::UnicodeWidthStr;

use super::paint::Paint;
use crate::scale::Scale;
use crate::unit::clean;

/// Some lines of a series, as a plot.
pub(super) struct Plot<'a> {
    /// The series, which has points that can be drawn.
    pub(super) series: &'a Series,
    /// The indices of its lines.
    pub(super) lines: &'a [usize],
    /// Columns for the whole plot.
    pub(super) width: usize,
    /// Rows for the dots.
    pub(super) height: usize,
    pub(super) paint: &'a Paint,
}

/// Default number of rows for the dots.
pub(super) const HEIGHT: usize = 12;
/// Fewest rows for the dots that show a form.
pub(super) const HEIGHT_MIN: usize = 4;
/// Most lines around the dots: marks above; the axis, its labels and its name below.
pub(super) const AROUND_PLOT: usize = 4;
/// Most labels beside the dots.
const LABELS: usize = 5;
/// Symbols of lines after the first, without color.
const SYMBOLS: [char; 5] = ['•', '×', '+', 'o', '*'];

/// The symbol of a line without color; the first line is drawn in braille dots.
pub(super) fn symbol(index: usize) -> char {
    index.checked_sub(1).map_or('⠒', |index| SYMBOLS[index % SYMBOLS.len()])
}

/// Least columns from one label of the x axis to the next.
const LABEL_COLUMNS: usize = 14;

impl Plot<'_> {
    /// The plot as lines of text: marks, dots, axis, labels.
    pub(super) fn draw(&self) -> String {
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
