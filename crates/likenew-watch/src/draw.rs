//! Puts a view onto a screen of any size.

mod detail;
mod panel;
mod table;
mod wording;

use likenew_core::findings::Role;
use likenew_core::io::Op;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::column::Column;
use crate::drives::Drives;
use crate::theme::Theme;
use crate::view::{Page, View};

/// Draws everything into `area`. Whatever does not fit is left out.
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
        Page::Table => table::draw(view, drives, body, &mut canvas),
        Page::Detail => detail::draw(view, drives, body, &mut canvas),
        Page::Help => draw_help(body, &mut canvas),
    }
    if last > 0 {
        let (text, style) = foot(view);
        canvas.put(0, last, area.width, &text, style);
    }
}

/// The headline: what is shown, and how much all drives together move.
fn head(view: &View, drives: &Drives) -> String {
    let shown = view.visible_drives(drives);
    let mut text = String::from("likenew watch");
    if view.is_frozen() {
        text += "  FROZEN";
    }
    // Layers and partitions would count the same bytes again.
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
    text += &format!(
        "  every {}  for {}",
        likenew_core::units::exact_duration(view.interval()),
        watch_title(shown)
    );
    text
}

fn watch_title(drives: &Drives) -> String {
    let secs = drives.watch_time().0 / 1_000_000_000;
    if secs < 120 { format!("{secs} s") } else { likenew_core::units::Nanos::from_secs(secs).to_string() }
}

/// What keys do, or a note that comes first.
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

/// A small terminal shows only the first lines.
fn draw_help(area: Rect, canvas: &mut Canvas) {
    for (line, text) in wording::HELP.iter().take(usize::from(area.height)).enumerate() {
        canvas.put(0, area.y + line as u16, area.width, text, Style::new());
    }
}

/// A part of the screen that is written by rows and columns from its corner; anything outside is clipped.
pub(crate) struct Canvas<'a> {
    pub(crate) theme: Theme,
    area: Rect,
    buffer: &'a mut Buffer,
}

impl Canvas<'_> {
    /// The text from column `x` on, cut to `width`.
    pub(crate) fn put(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) {
        if x >= self.area.width || y >= self.area.height {
            return;
        }
        let text = self.theme.text(text);
        let width = width.min(self.area.width - x);
        self.buffer.set_stringn(self.area.x + x, self.area.y + y, text, usize::from(width), style);
    }

    /// The text so that it ends at the end of the `width`.
    pub(crate) fn put_right(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) {
        let text = self.theme.text(text);
        let blanks = width.saturating_sub(u16::try_from(text.width()).unwrap_or(u16::MAX));
        self.put(x + blanks, y, width - blanks, &text, style);
    }

    /// Lays a style over a row.
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

#[cfg(test)]
mod tests;
