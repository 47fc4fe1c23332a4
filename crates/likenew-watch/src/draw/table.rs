//! All drives, a row each, and below them the chosen one's last intervals where there is room.

use likenew_core::io::Op;
use likenew_core::units::Nanos;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::panel::{Panel, bars};
use super::{Sheet, detail};
use crate::activity::Activity;
use crate::column::{Column, Fitted, GAP, fit};
use crate::course::Course;
use crate::drives::Drives;
use crate::view::View;

/// From here on a drive that answers nothing is said to wait.
pub(super) const WAITS: Nanos = Nanos::from_secs(1);
/// Rows that the pictures below the table take, with a blank one above.
const PICTURES: u16 = 7;
/// … and grow to.
const PICTURE_MAX: u16 = 12;

pub(super) fn draw(view: &View, drives: &Drives, area: Rect, sheet: &mut Sheet) {
    let rows = view.rows(drives);
    let columns = fit(area.width, &rows);
    let titles = if area.height > 3 { 2 } else { 1 };
    draw_titles(view, &columns, area, titles, sheet);
    let room = area.height.saturating_sub(titles);
    if rows.is_empty() {
        let why = if view.filter.is_empty() {
            "no drive has a medium; a shows idle loop devices and empty slots, too".to_owned()
        } else {
            format!("no drive matches \"{}\"; Esc takes the filter away", view.filter)
        };
        sheet.put(0, area.y + titles, area.width, &why, Style::new());
        return;
    }
    let chosen = view.chosen(&rows);
    let pictures = if room >= rows.len() as u16 + PICTURES { PICTURES } else { 0 };
    let visible = usize::from(room - pictures);
    let first = (chosen + 1).saturating_sub(visible.max(1));
    for (line, (index, course)) in rows.iter().enumerate().skip(first).take(visible).enumerate() {
        let y = area.y + titles + line as u16;
        draw_row(view, &columns, course, y, sheet);
        if index == chosen {
            sheet.mark(Rect::new(0, y, area.width, 1), view.look.chosen());
        }
    }
    if pictures > 0 {
        let y = area.y + titles + rows.len().min(visible) as u16 + 1;
        let place = Rect { y, height: area.y + area.height - y, ..area };
        draw_pictures(view, rows[chosen], place, sheet);
    }
}

fn draw_titles(view: &View, columns: &[Fitted], area: Rect, lines: u16, sheet: &mut Sheet) {
    let mut x = 0;
    for (column, width) in columns {
        let sorted = *column == view.sort;
        let style =
            if sorted { view.look.strong().add_modifier(Modifier::UNDERLINED) } else { view.look.strong() };
        let title = column.title(view.units);
        for line in 0..lines {
            let text = title[usize::from(line + 2 - lines)];
            match column.is_text() {
                true => sheet.put(x, area.y + line, *width, text, style),
                false => sheet.put_right(x, area.y + line, *width, text, style),
            }
        }
        x += width + GAP;
    }
}

fn draw_row(view: &View, columns: &[Fitted], course: &Course, y: u16, sheet: &mut Sheet) {
    let did = course.activity();
    let waits = did.is_some_and(|did| did.waiting >= WAITS);
    let row = match did {
        Some(did) if did.is_active() => Style::new(),
        _ => view.look.faint(),
    };
    let mut x = 0;
    for (column, width) in columns {
        let place = Rect::new(x, y, *width, 1);
        if *column == Column::History {
            bars(moved(course), 0.0, view.look.read(), place, sheet);
        } else {
            let cell = match column {
                Column::Latency(Op::Read) if waits => "waiting".to_owned(),
                Column::Latency(Op::Write) if waits => {
                    did.map_or(String::new(), |did| whole_secs(did.waiting))
                }
                column => column.cell(course, view.units),
            };
            let style = match column {
                Column::Drive | Column::Latency(_) if waits => view.look.alarm(),
                Column::Drive => row.add_modifier(Modifier::BOLD),
                _ => row,
            };
            match column.is_text() {
                true => sheet.put(x, y, *width, &cell, style),
                false => sheet.put_right(x, y, *width, &cell, style),
            }
        }
        x += width + GAP;
    }
}

pub(super) fn whole_secs(span: Nanos) -> String {
    format!("{} s", span.0 / 1_000_000_000)
}

/// Bytes a second of all operations in each interval.
fn moved(course: &Course) -> impl DoubleEndedIterator<Item = Option<f64>> {
    let all = |did: &Activity| Op::ALL.iter().map(|op| did.bytes_per_s(*op)).sum();
    course.past().map(move |did| did.map(all))
}

/// Reads and writes of one drive side by side: how much, and below that how fast, where there is room.
fn draw_pictures(view: &View, course: &Course, place: Rect, sheet: &mut Sheet) {
    let lines = if place.height >= 2 * PICTURES { 2 } else { 1 };
    let half = place.width.saturating_sub(2) / 2;
    let height = (place.height / lines).min(PICTURE_MAX);
    for (op, x, style) in [(Op::Read, 0, view.look.read()), (Op::Write, half + 2, view.look.write())] {
        let place = Rect { x, width: half, height: height - 1, ..place };
        let rates = Panel {
            title: &format!("{} {op} {}", course.name(), view.units.word()),
            values: detail::values(course, |did| Some(did.bytes_per_s(op))),
            spell: &|value| view.units.rate(value),
            most: 0.0,
            style,
        };
        rates.draw(place, sheet);
        let latencies = Panel {
            title: &format!("{} {op} latency", course.name()),
            values: detail::values(course, |did| did.of(op).latency_mean().map(|mean| mean.0 as f64)),
            spell: &|value| Nanos(value as u64).to_string(),
            ..rates
        };
        if lines == 2 {
            latencies.draw(Rect { y: place.y + height, ..place }, sheet);
        }
    }
}
