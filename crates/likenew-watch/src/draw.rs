//! Draws a view onto a screen of any size: a table of all drives, or one drive with plots of its last intervals.

use likenew_core::findings::Role;
use likenew_core::io::Op;
use likenew_core::units::{Nanos, amount, exact_duration};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_widgets::sparkline::Sparkline;
use unicode_width::UnicodeWidthStr as _;

use super::column::{Column, GAP, SizedColumn, fit, iops, latency};
use super::drives::{Activity, DriveHistory, Drives};
use super::theme::Theme;
use super::view::{Page, View};
use crate::wording;

/// Draws the whole screen into `area`, as far as it fits.
pub fn draw(view: &View, drives: &Drives, area: Rect, buffer: &mut Buffer) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let mut canvas = Canvas { theme: view.theme, area, buffer };
    let last = area.height - 1;
    canvas.put(0, 0, area.width, &head(view, drives), view.theme.strong());
    let body = Rect::new(0, 1, area.width, last.saturating_sub(1));
    match view.page {
        Page::Table => draw_table(view, drives, body, &mut canvas),
        Page::Detail => draw_detail(view, drives, body, &mut canvas),
        Page::Help => draw_help(body, &mut canvas),
    }
    if last > 0 {
        let (text, style) = foot(view);
        canvas.put(0, last, area.width, &text, style);
    }
}

/// The top line: rates of all drives together, sort order, interval and duration.
fn head(view: &View, drives: &Drives) -> String {
    let shown = view.visible_drives(drives);
    let mut text = String::from("likenew watch");
    if view.is_frozen() {
        text += "  FROZEN";
    }
    // Only drives, since layers and partitions would count the same bytes again.
    let roots = || shown.in_scope(view.scope()).filter(|history| history.facts().role == Role::Drive);
    let rate = |op| {
        let sum: f64 =
            roots().filter_map(|history| history.activity()).map(|activity| activity.bytes_per_s(op)).sum();
        format!("{} {}", view.units.rate(sum), view.units.word())
    };
    if roots().next().is_some() {
        text += &format!("  read {}  write {}", rate(Op::Read), rate(Op::Write));
    }
    if view.sort != Column::Drive || view.reversed {
        text +=
            &format!("  by {}{}", view.sort.words(view.units), if view.reversed { " reversed" } else { "" });
    }
    text += &format!("  every {}  for {}", exact_duration(view.interval()), watch_title(shown));
    text
}

fn watch_title(drives: &Drives) -> String {
    let secs = drives.watch_time().0 / 1_000_000_000;
    if secs < 120 { format!("{secs} s") } else { Nanos::from_secs(secs).to_string() }
}

/// The bottom line: the keys, or a note, which takes precedence.
fn foot(view: &View) -> (String, Style) {
    if let Some(message) = view.message() {
        return (message.to_owned(), view.theme.alarm());
    }
    if view.typing {
        return (wording::filter_prompt(&view.filter), view.theme.strong());
    }
    let keys = match view.page {
        Page::Table => wording::TABLE_KEYS,
        Page::Detail => wording::DETAIL_KEYS,
        Page::Help => wording::HELP_KEYS,
    };
    (keys.to_owned(), view.theme.faint())
}

/// As many lines of the help as fit.
fn draw_help(area: Rect, canvas: &mut Canvas) {
    for (y, text) in (area.y..area.bottom()).zip(wording::HELP) {
        canvas.put(0, y, area.width, text, Style::new());
    }
}

/// A part of the screen, addressed from its corner. Anything outside is clipped.
pub(crate) struct Canvas<'a> {
    pub(crate) theme: Theme,
    area: Rect,
    buffer: &'a mut Buffer,
}

impl Canvas<'_> {
    /// Writes text from column `x`, cut to `width`.
    pub(crate) fn put(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) {
        if x >= self.area.width || y >= self.area.height {
            return;
        }
        let text = self.theme.text(text);
        let width = width.min(self.area.width - x);
        self.buffer.set_stringn(self.area.x + x, self.area.y + y, text, usize::from(width), style);
    }

    /// Writes text aligned to the end of `width`.
    pub(crate) fn put_right(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) {
        let text = self.theme.text(text);
        let blanks = width.saturating_sub(u16::try_from(text.width()).unwrap_or(u16::MAX));
        self.put(x + blanks, y, width - blanks, &text, style);
    }

    /// Writes text of one line into a cell, aligned to its beginning or its end.
    pub(crate) fn put_cell(&mut self, cell: Rect, is_left: bool, text: &str, style: Style) {
        let put = if is_left { Self::put } else { Self::put_right };
        put(self, cell.x, cell.y, cell.width, text, style);
    }

    /// Applies a style to a row.
    pub(crate) fn mark(&mut self, row: Rect, style: Style) {
        let on_screen = Rect { x: self.area.x + row.x, y: self.area.y + row.y, ..row };
        self.buffer.set_style(on_screen.intersection(self.area), style);
    }

    /// Draws a widget.
    pub(crate) fn render(&mut self, widget: impl ratatui_core::widgets::Widget, place: Rect) {
        let on_screen = Rect { x: self.area.x + place.x, y: self.area.y + place.y, ..place };
        let on_screen = on_screen.intersection(self.area);
        if !on_screen.is_empty() {
            widget.render(on_screen, self.buffer);
        }
    }
}

/// Resolution of bars: parts of the highest one.
const PARTS: f64 = 10_000.0;

/// Draws the newest values as bars, the newest at the right. Unmeasured intervals stay empty. The top is `most`, or the
/// highest value if that is larger.
fn bars(
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
        // A value above zero always shows the smallest bar.
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

/// A plot of a column with a title, the newest value and the highest visible value.
struct Panel<'a> {
    view: &'a View,
    column: Column,
    title: String,
    values: Vec<Option<f64>>,
}

impl<'a> Panel<'a> {
    fn new(view: &'a View, history: &DriveHistory, column: Column) -> Self {
        let title = match column {
            Column::Temperature => "temperature".to_owned(),
            _ => column.words(view.units),
        };
        let values = history.past().map(|activity| activity.and_then(|activity| column.value(activity)));
        Self { view, column, title, values: values.collect() }
    }

    fn spell(&self, value: f64) -> String {
        let text = self.column.spell(value, self.view.units);
        if self.column == Column::Temperature { text + " °C" } else { text }
    }

    fn draw(&self, place: Rect, canvas: &mut Canvas) {
        let theme = self.view.theme;
        let shown = self.values.iter().rev().take(usize::from(place.width)).flatten();
        let highest = shown.copied().reduce(f64::max);
        let newest =
            self.values.last().copied().flatten().map_or("-".to_owned(), |newest| self.spell(newest));
        let most = highest.map_or(String::new(), |highest| format!("most {}", self.spell(highest)));
        canvas.put(place.x, place.y, place.width, &format!("{}  {newest}", self.title), theme.strong());
        let used = (self.title.chars().count() + newest.chars().count() + 4) as u16;
        if place.width > used + most.chars().count() as u16 {
            canvas.put_right(place.x, place.y, place.width, &most, theme.faint());
        }
        let below = Rect { y: place.y + 1, height: place.height.saturating_sub(1), ..place };
        // Shares are drawn against the whole, everything else against the highest value.
        let most = if self.column == Column::Busy { 1.0 } else { 0.0 };
        let style = match self.column.op() {
            Some(Op::Read) => theme.read(),
            Some(Op::Write) => theme.write(),
            _ => theme.neutral(),
        };
        bars(self.values.iter().copied(), most, style, below, canvas);
    }
}

/// A drive whose I/O in flight got no answer for this long is shown as waiting. Chosen: a second is what a person
/// notices.
const WAITS: Nanos = Nanos::from_secs(1);
/// Least rows of the plots below the table, including a blank one.
const PICTURES: u16 = 7;
/// Most rows of the plots below the table.
const PICTURE_MAX: u16 = 12;

fn draw_table(view: &View, drives: &Drives, area: Rect, canvas: &mut Canvas) {
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
        let layout = column.layout(view.units);
        for line in 0..lines {
            let text = layout.titles[usize::from(line + 2 - lines)];
            canvas.put_cell(Rect::new(x, area.y + line, *width, 1), layout.is_text, text, style);
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
            canvas.put_cell(place, column.layout(view.units).is_text, &cell, style);
        }
        x += width + GAP;
    }
}

/// Bytes per second in each interval, all operations together.
fn bytes_per_interval(history: &DriveHistory) -> impl DoubleEndedIterator<Item = Option<f64>> {
    let total = |activity: &Activity| Op::ALL.iter().map(|op| activity.bytes_per_s(*op)).sum();
    history.past().map(move |activity| activity.map(total))
}

/// Plots of a drive's reads and writes side by side: rates, and latencies below them if they fit.
fn draw_pictures(view: &View, history: &DriveHistory, place: Rect, canvas: &mut Canvas) {
    let lines = if place.height >= 2 * PICTURES { 2 } else { 1 };
    let half = place.width.saturating_sub(2) / 2;
    let height = (place.height / lines as u16).min(PICTURE_MAX);
    for (op, x) in [(Op::Read, 0), (Op::Write, half + 2)] {
        for (line, column) in [Column::Rate(op), Column::Latency(op)].into_iter().take(lines).enumerate() {
            let mut panel = Panel::new(view, history, column);
            panel.title = format!("{} {}", history.name(), panel.title);
            let y = place.y + line as u16 * height;
            panel.draw(Rect { x, y, width: half, height: height - 1 }, canvas);
        }
    }
}

/// Least rows of a plot with its title, and least columns.
const PANEL_HEIGHT: u16 = 4;
const PANEL_WIDTH: u16 = 36;
/// Rows kept for facts before plots grow.
const FACTS: u16 = 8;

fn draw_detail(view: &View, drives: &Drives, area: Rect, canvas: &mut Canvas) {
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
    for (y, text) in (below.y + taken..area.bottom()).zip(facts(history)) {
        canvas.put(0, y, area.width, &text, Style::new());
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

/// One line about the last interval.
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

/// Draws as many plots as fit, and returns the rows they took.
fn draw_panels(view: &View, history: &DriveHistory, area: Rect, canvas: &mut Canvas) -> u16 {
    use Column::{Busy, Iops, Latency, Queue, Rate, Temperature};
    let mut columns = vec![
        Rate(Op::Read),
        Rate(Op::Write),
        Latency(Op::Read),
        Latency(Op::Write),
        Iops(Op::Read),
        Iops(Op::Write),
        Busy,
        Queue,
    ];
    if history.past().flatten().any(|activity| activity.op_stat(Op::Trim).ios > 0) {
        columns.push(Rate(Op::Trim));
    }
    if history.past().flatten().any(|activity| activity.temperature_c.is_some()) {
        columns.push(Temperature);
    }
    let panels: Vec<Panel> = columns.into_iter().map(|column| Panel::new(view, history, column)).collect();
    lay_out(&panels, area, canvas)
}

/// Arranges plots in two columns if they fit, and taller if there is room.
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

/// Caveats, layers and other facts of a drive, as lines.
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

#[cfg(test)]
mod tests;
