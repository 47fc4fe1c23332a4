//! The form of a series as a chart, its title, its legend and its marks.

use likenew_core::findings::{Line, Mark, Series, Shape};
use unicode_width::UnicodeWidthStr;

use super::Page;
use super::paint::Paint;
use super::plot::{AROUND_PLOT, HEIGHT, HEIGHT_MIN, Plot, symbol};
use crate::compare::Picture;
use crate::scale::is_drawable;
use crate::unit::{Unit, clean};
use crate::wording;

/// More bars than this are drawn side by side without names.
const BARS_MAX: usize = 48;
/// Without color, at most this many lines are drawn one below the other.
const LINES_APART_MAX: usize = 4;
/// Most marks named below the chart.
const MARKS_NAMED: usize = 4;
/// Most columns of a chart; wider ones show no more.
const WIDTH_MAX: usize = 120;

/// The series without the marks that name another of its lines.
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
    /// A series under its title. Bands are left to the HTML page, because they would hide the line between
    /// dots.
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
        let all: Vec<usize> = (0..series.lines.len()).collect();
        if self.paint.color || all.len() == 1 {
            text += &self.legend(&series);
            text += &self.plot(&series, &all);
        } else {
            // Lines that only differ in color are drawn one below the other, on the same axes.
            for index in all.iter().copied().take(LINES_APART_MAX) {
                text += &format!("{}\n", clean(&series.lines[index].name));
                text += &self.plot(&with_own_marks(&series, index), &[index]);
            }
            if all.len() > LINES_APART_MAX {
                let more = all.len() - LINES_APART_MAX;
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

    /// A series under its title in at most this many lines; `None` if it takes more.
    pub(super) fn picture_within(&self, picture: &Picture, lines_max: usize) -> Vec<String> {
        let inner = Page { width: self.width - 2, paint: Paint { color: self.paint.color } };
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
            let all: Vec<usize> = (0..series.lines.len()).collect();
            let width = inner.width.min(WIDTH_MAX);
            text += &Plot { series: &series, lines: &all, width, height, paint: &inner.paint }.draw();
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

    /// The symbol of a line in a legend: without color, lines of one plot differ in their dots.
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
            _ => format!("{} {}", series.x.label, unit.spell(x)),
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

/// The series without points and marks that no axis can show, and the number of points left out.
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
