//! Horizontal bars, each with its name and its number.

use likenew_core::findings::Series;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Page;
use crate::unit::{Unit, clean};

/// A cell filled by eighths, from the narrowest.
const EIGHTHS: [&str; 8] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
/// Most cells of a bar; longer ones show no more.
const LENGTH_MAX: usize = 60;

struct Bar {
    category: String,
    line: usize,
    value: f64,
}

impl Page {
    /// One bar per point, by category, then line.
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

/// `text` in exactly `width` columns, shortened with an ellipsis if it is longer.
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
