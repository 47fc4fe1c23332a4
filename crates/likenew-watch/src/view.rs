//! The state of the screen, and how keys change it.

use likenew_core::io::Op;
use likenew_core::units::Nanos;

use crate::column::{Column, ORDER, Units};
use crate::drives::DriveHistory;
use crate::drives::{Drives, Scope};
use crate::theme::Theme;

/// A key with a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow to the left.
    Left,
    /// Arrow to the right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// The first row.
    Home,
    /// The last row.
    End,
}

/// Whether the program goes on after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Stay,
    /// Quit.
    Leave,
}

/// A page of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// All drives, one in each row.
    #[default]
    Table,
    /// One drive.
    Detail,
    /// Keys and explanations of the numbers.
    Help,
}

/// Rows by which a page key moves.
const PAGE: isize = 10;
/// Intervals that keys select. Any other can be given when the watch starts.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];
/// Selection, order and form of what is shown.
#[derive(Clone, Debug)]
pub struct View {
    pub(crate) theme: Theme,
    pub(crate) page: Page,
    pub(crate) units: Units,
    pub(crate) sort: Column,
    pub(crate) reversed: bool,
    pub(crate) filter: String,
    pub(crate) typing: bool,
    scope: Scope,
    interval: Nanos,
    selection: Option<String>,
    frozen: Option<Box<Drives>>,
    note: Option<String>,
}

impl View {
    /// Shows all drives of a scope, sorted by name.
    pub fn new(theme: Theme, scope: Scope, interval: Nanos) -> Self {
        Self {
            theme,
            page: Page::Table,
            units: Units::Decimal,
            sort: Column::Drive,
            reversed: false,
            filter: String::new(),
            typing: false,
            scope,
            interval,
            selection: None,
            frozen: None,
            note: None,
        }
    }

    /// Time between two readings.
    pub fn interval(&self) -> Nanos {
        self.interval
    }

    /// Which drives are shown.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Shows a note from now on, such as that a log cannot be written.
    pub fn note(&mut self, text: impl Into<String>) {
        self.note = Some(text.into());
    }

    pub(crate) fn message(&self) -> Option<&str> {
        self.note.as_deref()
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// The current drives, or the frozen ones.
    pub(crate) fn visible_drives<'a>(&'a self, drives: &'a Drives) -> &'a Drives {
        self.frozen.as_deref().unwrap_or(drives)
    }

    /// Rows of the table, from the top.
    pub(crate) fn rows<'a>(&'a self, drives: &'a Drives) -> Vec<&'a DriveHistory> {
        let shown = self.visible_drives(drives).in_scope(&self.scope);
        let mut rows: Vec<&DriveHistory> = shown.filter(|history| self.matches(history)).collect();
        rows.sort_by(|one, two| self.sort.order(one, two));
        if self.reversed {
            rows.reverse();
        }
        rows
    }

    /// Index of the selected row. If none is selected or visible, the busiest drive's.
    pub(crate) fn selection(&self, rows: &[&DriveHistory]) -> usize {
        let name = self.selection.as_deref();
        let chosen = rows.iter().position(|history| Some(history.name()) == name);
        chosen.or_else(|| busiest(rows)).unwrap_or(0)
    }

    /// Whether all words of the filter occur in the drive's name, model or use.
    fn matches(&self, history: &DriveHistory) -> bool {
        let facts = history.facts();
        let text = [history.name(), facts.model.as_deref().unwrap_or(""), &facts.used_by.join(" ")]
            .join(" ")
            .to_lowercase();
        self.filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// Handles a key.
    pub fn press(&mut self, key: Key, drives: &Drives) -> Flow {
        if self.typing {
            self.type_filter(key);
            return Flow::Stay;
        }
        if let Some(flow) = self.press_on_page(key, drives) {
            return flow;
        }
        match key {
            Key::Char('q') => return Flow::Leave,
            Key::Char('?' | 'h') => self.page = Page::Help,
            Key::Char(' ' | 'f') => {
                self.frozen = if self.is_frozen() { None } else { Some(Box::new(drives.clone())) }
            }
            Key::Char('u') => {
                self.units = if self.units == Units::Decimal { Units::Binary } else { Units::Decimal };
            }
            Key::Char('+') => self.interval = longer(self.interval),
            Key::Char('-') => self.interval = shorter(self.interval),
            Key::Char('a') => self.scope.all = !self.scope.all,
            Key::Char('p') => self.scope.partitions = !self.scope.partitions,
            Key::Char('r') => self.reversed = !self.reversed,
            Key::Char('<') | Key::Left => self.sort_by(-1),
            Key::Char('>') | Key::Right => self.sort_by(1),
            Key::Char('/') => (self.page, self.typing) = (Page::Table, true),
            Key::Up | Key::Char('k') => self.choose(drives, |at| at - 1),
            Key::Down | Key::Char('j') => self.choose(drives, |at| at + 1),
            Key::PageUp => self.choose(drives, |at| at - PAGE),
            Key::PageDown => self.choose(drives, |at| at + PAGE),
            Key::Home => self.choose(drives, |_| 0),
            Key::End => self.choose(drives, |_| isize::MAX),
            _ => {}
        }
        Flow::Stay
    }

    /// Handles keys whose function depends on the page.
    fn press_on_page(&mut self, key: Key, drives: &Drives) -> Option<Flow> {
        match (self.page, key) {
            (Page::Table, Key::Enter) => {
                // Keeps the selection, since another drive may become the busiest.
                self.choose(drives, |at| at);
                self.page = Page::Detail;
            }
            (Page::Table, Key::Escape) => self.filter.clear(),
            (Page::Detail, Key::Enter | Key::Escape | Key::Backspace) => self.page = Page::Table,
            (Page::Help, Key::Char('q' | '?' | 'h') | Key::Enter | Key::Escape | Key::Backspace) => {
                self.page = Page::Table;
            }
            _ => return None,
        }
        Some(Flow::Stay)
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Char(character) => self.filter.push(character),
            Key::Backspace => drop(self.filter.pop()),
            Key::Enter => self.typing = false,
            Key::Escape => {
                self.typing = false;
                self.filter.clear();
            }
            _ => {}
        }
    }

    fn sort_by(&mut self, step: isize) {
        let sorts: Vec<Column> = ORDER.into_iter().filter(|column| column.is_sortable()).collect();
        let at = sorts.iter().position(|column| *column == self.sort).unwrap_or(0);
        self.sort = sorts[at.wrapping_add_signed(step).wrapping_add(sorts.len()) % sorts.len()];
    }

    fn choose(&mut self, drives: &Drives, to: impl Fn(isize) -> isize) {
        let rows = self.rows(drives);
        let last = rows.len().saturating_sub(1);
        let at = to(self.selection(&rows).cast_signed()).clamp(0, last.cast_signed()).cast_unsigned();
        let name = rows.get(at).map(|history| history.name().to_owned());
        self.selection = name.or(self.selection.take());
    }
}

/// The drive with the highest busy time, and among equal ones the highest throughput.
fn busiest(rows: &[&DriveHistory]) -> Option<usize> {
    let load = |history: &DriveHistory| {
        let activity = history.activity()?;
        let bytes = [Op::Read, Op::Write].map(|op| activity.bytes_per_s(op)).iter().sum::<f64>();
        Some((activity.busy(), bytes)).filter(|load| *load != (0.0, 0.0))
    };
    let loads = rows.iter().enumerate().filter_map(|(at, history)| Some((load(history)?, at)));
    // The first one among equals.
    let most = loads.rev().max_by(|(one, _), (two, _)| one.0.total_cmp(&two.0).then(one.1.total_cmp(&two.1)));
    most.map(|(_, at)| at)
}

fn longer(interval: Nanos) -> Nanos {
    let mut intervals = INTERVALS_MS.into_iter().map(Nanos::from_millis);
    intervals.find(|known| *known > interval).unwrap_or(interval)
}

fn shorter(interval: Nanos) -> Nanos {
    let intervals = INTERVALS_MS.into_iter().rev().map(Nanos::from_millis);
    let mut intervals = intervals.filter(|known| *known < interval);
    intervals.next().unwrap_or(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::history_tests::{at, reading};

    fn drives() -> Drives {
        let mut drives = Drives::default();
        let idle = "0 0 0 0 0 0 0 0 0 0 0";
        drives.take(at(0, ["sda", "sdb", "sdc"].map(|name| reading(name, 1, 0, idle)).to_vec()));
        let busy = [
            reading("sda", 1, 1000, "10 0 80 5 0 0 0 0 0 5 5"),
            reading("sdb", 1, 1000, "99 0 800 5 0 0 0 0 0 5 5"),
            reading("sdc", 1, 1000, idle),
        ];
        drives.take(at(1000, busy.to_vec()));
        drives
    }

    fn view() -> View {
        View::new(Theme::default(), Scope::default(), Nanos::from_secs(1))
    }

    fn names(view: &View, drives: &Drives) -> Vec<String> {
        view.rows(drives).iter().map(|history| history.name().to_owned()).collect()
    }

    fn type_in(view: &mut View, drives: &Drives, text: &str) -> Flow {
        text.chars().map(|character| view.press(Key::Char(character), drives)).last().unwrap()
    }

    #[test]
    fn rows_are_sorted_and_turned_round() {
        let (drives, mut view) = (drives(), view());
        assert_eq!(names(&view, &drives), ["sda", "sdb", "sdc"]);
        view.press(Key::Right, &drives);
        assert_eq!(names(&view, &drives), ["sdb", "sda", "sdc"], "by what is read");
        type_in(&mut view, &drives, "r");
        assert_eq!(names(&view, &drives), ["sdc", "sda", "sdb"]);
        view.press(Key::Left, &drives);
        view.press(Key::Left, &drives);
        assert_eq!(view.sort, Column::Model, "round the end");
    }

    #[test]
    fn a_filter_is_typed_kept_and_taken_away() {
        let (drives, mut view) = (drives(), view());
        type_in(&mut view, &drives, "/SDq");
        assert!(names(&view, &drives).is_empty() && view.typing, "q is a letter here");
        view.press(Key::Backspace, &drives);
        type_in(&mut view, &drives, "b");
        view.press(Key::Enter, &drives);
        assert_eq!(names(&view, &drives), ["sdb"]);
        view.press(Key::Escape, &drives);
        assert_eq!(names(&view, &drives).len(), 3);
        assert_eq!(type_in(&mut view, &drives, "q"), Flow::Leave);
    }

    #[test]
    fn what_is_chosen_stays_chosen_when_rows_move() {
        let (drives, mut view) = (drives(), view());
        view.press(Key::Home, &drives);
        assert_eq!(view.selection(&view.rows(&drives)), 0);
        view.press(Key::Right, &drives);
        assert_eq!(view.selection(&view.rows(&drives)), 1, "sda is second now");
        for (key, row) in [(Key::End, 2), (Key::PageUp, 0), (Key::Up, 0), (Key::PageDown, 2), (Key::Home, 0)]
        {
            view.press(key, &drives);
            assert_eq!(view.selection(&view.rows(&drives)), row, "{key:?}");
        }
        type_in(&mut view, &drives, "/nothing");
        view.press(Key::Enter, &drives);
        view.press(Key::Down, &drives);
        assert_eq!(view.selection(&view.rows(&drives)), 0);
    }

    #[test]
    fn the_busiest_drive_is_chosen_until_the_user_chooses() {
        let (mut drives, mut view) = (drives(), view());
        let chosen = |view: &View, drives: &Drives| {
            let rows = view.rows(drives);
            rows[view.selection(&rows)].name().to_owned()
        };
        assert_eq!(chosen(&view, &drives), "sdb");
        view.press(Key::Enter, &drives);
        let busy = |name, counts| reading(name, 1, 2000, counts);
        let idle = "0 0 0 0 0 0 0 0 0 0 0";
        let now = [busy("sda", idle), busy("sdb", idle), busy("sdc", "9 0 80 5 0 0 0 0 0 900 900")];
        drives.take(at(2000, now.to_vec()));
        assert_eq!((view.page, chosen(&view, &drives).as_str()), (Page::Detail, "sdb"), "its page stays");
        view.press(Key::Escape, &drives);
        assert_eq!(chosen(&view, &drives), "sdb");
    }

    #[test]
    fn what_is_frozen_does_not_change_until_it_thaws() {
        let (mut drives, mut view) = (drives(), view());
        type_in(&mut view, &drives, " ");
        drives.take(at(2000, Vec::new()));
        assert!(view.rows(&drives).iter().all(|history| history.activity().is_some()));
        type_in(&mut view, &drives, " ");
        assert!(view.rows(&drives).iter().all(|history| history.activity().is_none()));
    }

    #[test]
    fn intervals_and_units_are_chosen_by_keys() {
        let (drives, mut view) = (drives(), view());
        type_in(&mut view, &drives, "+");
        assert_eq!(view.interval(), Nanos::from_secs(2));
        type_in(&mut view, &drives, "---------");
        assert_eq!(view.interval(), Nanos::from_millis(100));
        type_in(&mut view, &drives, &"+".repeat(20));
        assert_eq!(view.interval(), Nanos::from_secs(60));
        type_in(&mut view, &drives, "uap");
        assert_eq!(view.units, Units::Binary);
        assert!(view.scope().all && view.scope().partitions);
    }

    #[test]
    fn pages_are_left_the_way_they_were_entered() {
        let (drives, mut view) = (drives(), view());
        view.press(Key::Enter, &drives);
        assert_eq!(view.page, Page::Detail);
        type_in(&mut view, &drives, "?");
        assert_eq!(view.page, Page::Help);
        assert_eq!(type_in(&mut view, &drives, "q"), Flow::Stay);
        assert_eq!(view.page, Page::Table);
    }
}
