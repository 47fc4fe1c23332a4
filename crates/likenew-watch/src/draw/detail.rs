//! One drive: its last intervals as plots, what it is, and the layers below and above it.

use likenew_core::io::Op;
use likenew_core::units::{Nanos, amount};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::panel::{Panel, values};
use super::table::WAITS;
use super::{Canvas, wording};
use crate::activity::Activity;
use crate::drive_history::DriveHistory;
use crate::drives::Drives;
use crate::format::{iops, latency, number, percent};
use crate::view::View;

/// Least rows of a plot with its title; and columns.
const PANEL_HEIGHT: u16 = 4;
const PANEL_WIDTH: u16 = 36;
/// Rows that facts get before plots grow.
const FACTS: u16 = 8;

pub(super) fn draw(view: &View, drives: &Drives, area: Rect, canvas: &mut Canvas) {
    let rows = view.rows(drives);
    let Some(history) = rows.get(view.selection(&rows)) else {
        canvas.put(0, area.y, area.width, wording::NO_DRIVE, Style::new());
        return;
    };
    canvas.put(0, area.y, area.width, &title(history), view.theme.strong());
    let (now, style) = now(view, history);
    canvas.put(0, area.y + 1, area.width, &now, style);
    let below = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    let taken = draw_panels(view, history, below, canvas);
    let y = below.y + taken;
    for (line, text) in facts(history).iter().enumerate() {
        let at = y + line as u16;
        if at >= area.y + area.height {
            break;
        }
        canvas.put(0, at, area.width, text, Style::new());
    }
}

fn title(history: &DriveHistory) -> String {
    let facts = history.facts();
    let model = facts.model.as_deref().unwrap_or("model unknown");
    let mut text = format!("{}  {model}", facts.path);
    if facts.capacity_bytes > 0 {
        text += &format!("  {}", amount(facts.capacity_bytes));
    }
    if !facts.used_by.is_empty() {
        text += &format!("  {}", facts.used_by.join(" "));
    }
    text
}

/// The last interval in a line.
fn now(view: &View, history: &DriveHistory) -> (String, Style) {
    let Some(activity) = history.activity() else {
        return (wording::uncounted(history.state()).to_owned(), view.theme.faint());
    };
    if activity.waiting >= WAITS {
        return (wording::waiting(activity.stat.in_flight, activity.waiting), view.theme.alarm());
    }
    let mut text = wording::in_flight(activity.stat.in_flight, activity.in_flight);
    for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
        let count = activity.op_stat(op);
        if count.ios > 0 && matches!(op, Op::Trim | Op::Flush) {
            text += &format!("  {op} {}/s {}", iops(activity.iops(op)), latency(&count));
        } else if count.ios > 0 {
            let merged = 100.0 * count.merged as f64 / (count.ios + count.merged) as f64;
            text += &format!("  {op} {} each, {merged:.0}% merged", amount(count.bytes() / count.ios));
        }
    }
    (text, Style::new())
}

/// Draws as many plots as fit; returns how many rows they took.
fn draw_panels(view: &View, history: &DriveHistory, area: Rect, canvas: &mut Canvas) -> u16 {
    let theme = view.theme;
    let rate = |value| view.units.rate(value);
    let span = |value: f64| Nanos(value as u64).to_string();
    let share = |value| percent(value);
    let degrees = |value: f64| format!("{value:.0} °C");
    let word = view.units.word();
    let latency_of =
        |op: Op| move |activity: &Activity| activity.op_stat(op).latency_mean().map(|mean| mean.0 as f64);
    let titles = [format!("read {word}"), format!("write {word}"), format!("trim {word}")];
    let panel = |title, values, spell, style| Panel { title, values, spell, most: 0.0, style };
    let mut panels = vec![
        panel(
            &*titles[0],
            values(history, |activity| Some(activity.bytes_per_s(Op::Read))),
            &rate as &dyn Fn(f64) -> String,
            theme.read(),
        ),
        panel(
            &*titles[1],
            values(history, |activity| Some(activity.bytes_per_s(Op::Write))),
            &rate,
            theme.write(),
        ),
        panel("read latency", values(history, latency_of(Op::Read)), &span, theme.read()),
        panel("write latency", values(history, latency_of(Op::Write)), &span, theme.write()),
        panel("read IOPS", values(history, |activity| Some(activity.iops(Op::Read))), &iops, theme.read()),
        panel("write IOPS", values(history, |activity| Some(activity.iops(Op::Write))), &iops, theme.write()),
        Panel {
            most: 1.0,
            ..panel("busy", values(history, |activity| Some(activity.busy())), &share, theme.neutral())
        },
        panel("mean queue", values(history, |activity| Some(activity.queue())), &number, theme.neutral()),
    ];
    if history.past().flatten().any(|activity| activity.op_stat(Op::Trim).ios > 0) {
        panels.push(panel(
            &*titles[2],
            values(history, |activity| Some(activity.bytes_per_s(Op::Trim))),
            &rate,
            theme.neutral(),
        ));
    }
    if history.past().flatten().any(|activity| activity.temperature_c.is_some()) {
        panels.push(panel(
            "temperature",
            values(history, |activity| activity.temperature_c),
            &degrees,
            theme.neutral(),
        ));
    }
    lay_out(&panels, area, canvas)
}

/// In rows of two where there is the width, higher where there is the height.
fn lay_out(panels: &[Panel], area: Rect, canvas: &mut Canvas) -> u16 {
    let abreast = (area.width / PANEL_WIDTH).clamp(1, 2);
    let wanted = (panels.len() as u16).div_ceil(abreast);
    let room = area.height.saturating_sub(FACTS.min(area.height / 3));
    let height = (room / wanted.max(1)).clamp(2, 2 * PANEL_HEIGHT);
    let lines = (room / height).min(wanted);
    let width = (area.width - 2 * (abreast - 1)) / abreast;
    for (index, panel) in panels.iter().take(usize::from(lines * abreast)).enumerate() {
        let (line, place) = (index as u16 / abreast, index as u16 % abreast);
        let place = Rect::new(place * (width + 2), area.y + line * height, width, height);
        panel.draw(place, canvas);
    }
    lines * height
}

/// What limits its numbers, its layers, and what else is known.
fn facts(history: &DriveHistory) -> Vec<String> {
    let facts = history.facts();
    let mut lines: Vec<String> = facts.caveats.iter().map(|caveat| format!("! {caveat}")).collect();
    if facts.stack.len() > 1 {
        for layer in &facts.stack {
            let indent = "  ".repeat(usize::from(layer.level.saturating_sub(1)));
            let branch = if layer.level > 0 { "└ " } else { "" };
            let mark = if layer.name == history.name() { " *" } else { "" };
            lines.push(format!("{indent}{branch}{}{mark}  {}", layer.name, layer.words));
        }
    }
    let known: Vec<String> = facts.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.extend(known.chunks(2).map(|pair| pair.join(" · ")));
    lines
}
