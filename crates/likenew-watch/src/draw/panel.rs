//! A small plot of one value in the last intervals.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_widgets::sparkline::Sparkline;

use super::Canvas;
use crate::activity::Activity;
use crate::drive_history::DriveHistory;

/// Heights of bars are in so many parts of the highest.
const PARTS: f64 = 10_000.0;

/// One value of each interval.
pub(super) fn values(history: &DriveHistory, value: impl Fn(&Activity) -> Option<f64>) -> Vec<Option<f64>> {
    history.past().map(|activity| activity.and_then(&value)).collect()
}

/// Bars of the newest values that fit, the newest at the right; what was not measured stays empty. They reach
/// to the top at `most`, or at the highest where that is higher or `most` is nothing.
pub(super) fn bars(
    values: impl DoubleEndedIterator<Item = Option<f64>>,
    most: f64,
    style: Style,
    place: Rect,
    canvas: &mut Canvas,
) {
    let mut newest: Vec<Option<f64>> = values.rev().take(usize::from(place.width)).collect();
    newest.reverse();
    let highest = newest.iter().flatten().fold(most, |highest, value| highest.max(*value));
    let part = |value: f64| {
        let share = if highest > 0.0 { value / highest } else { 0.0 };
        // Any value above zero has at least the lowest bar.
        let least = if value > 0.0 { PARTS / (8.0 * f64::from(place.height.max(1))) } else { 0.0 };
        (share * PARTS).max(least).min(PARTS) as u64
    };
    let missing = usize::from(place.width).saturating_sub(newest.len());
    let data: Vec<Option<u64>> =
        std::iter::repeat_n(None, missing).chain(newest.iter().map(|value| value.map(part))).collect();
    let widget = Sparkline::default()
        .data(data)
        .max(PARTS as u64)
        .bar_set(canvas.theme.bars())
        .absent_value_symbol(" ")
        .style(style);
    canvas.render(widget, place);
}

/// Bars under a title: what they show, the newest value, and the highest that is shown.
pub(super) struct Panel<'a> {
    pub(super) title: &'a str,
    pub(super) values: Vec<Option<f64>>,
    pub(super) spell: &'a dyn Fn(f64) -> String,
    /// The value at the top, where that is fixed.
    pub(super) most: f64,
    pub(super) style: Style,
}

impl Panel<'_> {
    pub(super) fn draw(&self, place: Rect, canvas: &mut Canvas) {
        let shown = self.values.iter().rev().take(usize::from(place.width)).flatten();
        let highest = shown
            .copied()
            .fold(None, |highest: Option<f64>, value| Some(highest.map_or(value, |h| h.max(value))));
        let newest = self.values.last().copied().flatten().map_or("-".to_owned(), self.spell);
        let most = highest.map_or(String::new(), |highest| format!("most {}", (self.spell)(highest)));
        let strong = canvas.theme.strong();
        let faint = canvas.theme.faint();
        canvas.put(place.x, place.y, place.width, &format!("{}  {newest}", self.title), strong);
        let used = (self.title.chars().count() + newest.chars().count() + 4) as u16;
        if place.width > used + most.chars().count() as u16 {
            canvas.put_right(place.x, place.y, place.width, &most, faint);
        }
        let below = Rect { y: place.y + 1, height: place.height.saturating_sub(1), ..place };
        bars(self.values.iter().copied(), self.most, self.style, below, canvas);
    }
}
