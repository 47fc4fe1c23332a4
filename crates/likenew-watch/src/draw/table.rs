//! All drives, a row each, and below them the last intervals of the chosen one where they fit.

use likenew_core::io::Op;
use likenew_core::units::Nanos;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::panel::{Panel, bars, values};
use super::{Canvas, wording};
use crate::activity::Activity;
use crate::column::{Column, GAP, SizedColumn, fit};
use crate::drive_history::DriveHistory;
use crate::drives::Drives;
use crate::view::View;

/// A drive with I/O in flight that has answered nothing for this long is shown as waiting. Chosen: a second
/// is what a person notices.
pub(super) const WAITS: Nanos = Nanos::from_secs(1);
/// Rows that the plots below the table take, with a blank one above.
const PICTURES: u16 = 7;
/// … and may grow to.
const PICTURE_MAX: u16 = 12;

pub(super) fn draw(view: &View, drives: &Drives, area: Rect, canvas: &mut Canvas) {
    let rows = view.rows(drives);
    let columns = fit(area.width, &rows);
    let titles = if area.height > 3 { 2 } else { 1 };
    draw_titles(view, &columns, area, titles, canvas);
    let room = area.height.saturating_sub(titles);
    if rows.is_empty() {
        let reason = match &*view.filter {
            "" => wording::NO_MEDIUM.to_owned(),
            filter => wording::no_match(filter),
        };
        canvas.put(0, area.y + titles, area.width, &reason, Style::new());
        return;
    }
    let selection = view.selection(&rows);
    let pictures = if room >= rows.len() as u16 + PICTURES { PICTURES } else { 0 };
    let visible = usize::from(room - pictures);
    let first = (selection + 1).saturating_sub(visible.max(1));
    for (line, (index, history)) in rows.iter().enumerate().skip(first).take(visible).enumerate() {
        let y = area.y + titles + line as u16;
        draw_row(view, &columns, history, y, canvas);
        if index == selection {
            canvas.mark(Rect::new(0, y, area.width, 1), view.theme.selection());
        }
    }
    if pictures > 0 {
        let y = area.y + titles + rows.len().min(visible) as u16 + 1;
        let place = Rect { y, height: area.y + area.height - y, ..area };
        draw_pictures(view, rows[selection], place, canvas);
    }
}

fn draw_titles(view: &View, columns: &[SizedColumn], area: Rect, lines: u16, canvas: &mut Canvas) {
    let mut x = 0;
    for (column, width) in columns {
        let sorted = *column == view.sort;
        let style =
            if sorted { view.theme.strong().add_modifier(Modifier::UNDERLINED) } else { view.theme.strong() };
        let title = column.title(view.units);
        for line in 0..lines {
            let text = title[usize::from(line + 2 - lines)];
            match column.is_text() {
                true => canvas.put(x, area.y + line, *width, text, style),
                false => canvas.put_right(x, area.y + line, *width, text, style),
            }
        }
        x += width + GAP;
    }
}

fn draw_row(view: &View, columns: &[SizedColumn], history: &DriveHistory, y: u16, canvas: &mut Canvas) {
    let activity = history.activity();
    let waits = activity.is_some_and(|activity| activity.waiting >= WAITS);
    let row = match activity {
        Some(activity) if activity.is_active() => Style::new(),
        _ => view.theme.faint(),
    };
    let mut x = 0;
    for (column, width) in columns {
        let place = Rect::new(x, y, *width, 1);
        if *column == Column::History {
            bars(bytes_per_interval(history), 0.0, view.theme.read(), place, canvas);
        } else {
            let cell = match column {
                Column::Latency(Op::Read) if waits => "waiting".to_owned(),
                Column::Latency(Op::Write) if waits => {
                    activity.map_or(String::new(), |activity| wording::whole_secs(activity.waiting))
                }
                column => column.cell(history, view.units),
            };
            let style = match column {
                Column::Drive | Column::Latency(_) if waits => view.theme.alarm(),
                Column::Drive => row.add_modifier(Modifier::BOLD),
                _ => row,
            };
            match column.is_text() {
                true => canvas.put(x, y, *width, &cell, style),
                false => canvas.put_right(x, y, *width, &cell, style),
            }
        }
        x += width + GAP;
    }
}

/// Bytes a second of all operations in each interval.
fn bytes_per_interval(history: &DriveHistory) -> impl DoubleEndedIterator<Item = Option<f64>> {
    let all = |activity: &Activity| Op::ALL.iter().map(|op| activity.bytes_per_s(*op)).sum();
    history.past().map(move |activity| activity.map(all))
}

/// Reads and writes of one drive side by side: how much, and below that how fast, where it fits.
fn draw_pictures(view: &View, history: &DriveHistory, place: Rect, canvas: &mut Canvas) {
    let lines = if place.height >= 2 * PICTURES { 2 } else { 1 };
    let half = place.width.saturating_sub(2) / 2;
    let height = (place.height / lines).min(PICTURE_MAX);
    for (op, x, style) in [(Op::Read, 0, view.theme.read()), (Op::Write, half + 2, view.theme.write())] {
        let place = Rect { x, width: half, height: height - 1, ..place };
        let rates = Panel {
            title: &format!("{} {op} {}", history.name(), view.units.word()),
            values: values(history, |activity| Some(activity.bytes_per_s(op))),
            spell: &|value| view.units.rate(value),
            most: 0.0,
            style,
        };
        rates.draw(place, canvas);
        let latencies = Panel {
            title: &format!("{} {op} latency", history.name()),
            values: values(history, |activity| activity.op_stat(op).latency_mean().map(|mean| mean.0 as f64)),
            spell: &|value| Nanos(value as u64).to_string(),
            ..rates
        };
        if lines == 2 {
            latencies.draw(Rect { y: place.y + height, ..place }, canvas);
        }
    }
}
