//! Columns of the drive table: contents, widths, and which are dropped on a narrow screen. Also the plain table for
//! output without a screen.

use std::cmp::Ordering;

use Column::{
    Busy, Capacity, Drive, History, InFlight, Iops, Latency, Model, Queue, Rate, Temperature, UsedBy,
};
use likenew_core::io::Op;
use likenew_core::stat::OpStat;
use likenew_core::units::{Nanos, amount, three_digits};
use unicode_width::UnicodeWidthStr as _;

use super::drives::{Activity, DriveHistory, State};
use super::theme::Theme;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The kernel's name of the drive.
    Drive,
    /// Bytes per second.
    Rate(Op),
    /// I/Os per second.
    Iops(Op),
    /// Mean latency.
    Latency(Op),
    /// Mean number of I/Os in flight.
    Queue,
    /// Number of I/Os in flight now.
    InFlight,
    /// Share of time with I/O in flight.
    Busy,
    /// Degrees Celsius.
    Temperature,
    /// Bytes per second over the last intervals, as bars.
    History,
    /// Capacity.
    Capacity,
    /// Manufacturer and model.
    Model,
    /// Mount points and other uses.
    UsedBy,
}

/// All columns from left to right.
pub(crate) const ORDER: [Column; 17] = [
    Drive,
    Rate(Op::Read),
    Rate(Op::Write),
    Rate(Op::Trim),
    Iops(Op::Read),
    Iops(Op::Write),
    Iops(Op::Trim),
    Latency(Op::Read),
    Latency(Op::Write),
    InFlight,
    Queue,
    Busy,
    Temperature,
    History,
    Capacity,
    Model,
    UsedBy,
];

/// All columns except those of TRIM, most important first. Where there are discards, their rate follows `FIRST`.
const FIRST: [Column; 4] = [Drive, Rate(Op::Read), Rate(Op::Write), Busy];
const LATER: [Column; 11] = [
    Queue,
    Latency(Op::Read),
    Latency(Op::Write),
    Iops(Op::Read),
    Iops(Op::Write),
    Temperature,
    History,
    UsedBy,
    Model,
    InFlight,
    Capacity,
];

/// Spaces between two columns.
pub(crate) const GAP: u16 = 1;
const NAME_MIN: u16 = 8;
const NAME_MAX: u16 = 16;

/// A column and its width in characters.
pub(crate) type SizedColumn = (Column, u16);

/// The columns that fit, from left to right. Columns that can use more width share what is left.
pub(crate) fn fit(width: u16, histories: &[&DriveHistory]) -> Vec<SizedColumn> {
    let counted =
        |count: fn(&Activity) -> bool| histories.iter().any(|history| history.past().flatten().any(count));
    let trims = counted(|activity| activity.op_stat(Op::Trim).ios > 0);
    let temperatures = counted(|activity| activity.temperature_c.is_some());
    let name = histories.iter().map(|history| history.name().chars().count() as u16).max().unwrap_or(0);
    let trim: &[Column] = if trims { &[Rate(Op::Trim)] } else { &[] };
    let late: &[Column] = if trims { &[Iops(Op::Trim)] } else { &[Rate(Op::Trim), Iops(Op::Trim)] };
    let wanted = FIRST.iter().chain(trim).chain(&LATER).chain(late);
    let mut selection: Vec<SizedColumn> = Vec::new();
    let mut left = width;
    for column in wanted.filter(|column| temperatures || **column != Temperature) {
        let least = match column {
            Drive => name.clamp(NAME_MIN, NAME_MAX),
            _ => column.layout(Units::default()).least,
        };
        let need = least + if selection.is_empty() { 0 } else { GAP };
        if need <= left {
            selection.push((*column, least));
            left -= need;
        }
    }
    for grows in [UsedBy, Model, History] {
        if let Some((column, width)) = selection.iter_mut().find(|(column, _)| *column == grows) {
            let more = left.min(column.layout(Units::default()).most.saturating_sub(*width));
            *width += more;
            left -= more;
        }
    }
    selection.sort_by_key(|(column, _)| ORDER.iter().position(|other| other == column));
    selection
}

/// How a column looks.
pub(crate) struct Layout {
    /// Two title lines: what is shown, and for which operation or in which unit.
    pub(crate) titles: [&'static str; 2],
    /// Whether the column is aligned to the left.
    pub(crate) is_text: bool,
    /// Least and most characters.
    least: u16,
    most: u16,
}

impl Column {
    pub(crate) fn layout(self, units: Units) -> Layout {
        let number = |titles, width| Layout { titles, is_text: false, least: width, most: width };
        let text = |title, least, most| Layout { titles: ["", title], is_text: true, least, most };
        match self {
            Drive => text("DRIVE", NAME_MIN, NAME_MIN),
            Rate(op) => number([op.name(), units.word()], 6),
            Iops(op) => number([op.name(), "IOPS"], 6),
            Latency(op) => number([op.name(), "latency"], 8),
            Queue => number(["mean", "queue"], 5),
            InFlight => number(["in", "flight"], 6),
            Busy => number(["", "busy"], 5),
            Temperature => number(["", "°C"], 3),
            History => text("history", 8, 48),
            Capacity => number(["", "size"], 8),
            Model => text("model", 14, 28),
            UsedBy => text("used by", 12, 32),
        }
    }

    /// The title in words, for the current sort order.
    pub(crate) fn words(self, units: Units) -> String {
        self.layout(units).titles.join(" ").trim().replace("DRIVE", "name")
    }

    /// Whether rows can be sorted by the column.
    pub(crate) fn is_sortable(self) -> bool {
        !matches!(self, Iops(Op::Trim) | History | UsedBy)
    }

    /// The operation that the column is about, if it is about one.
    pub(crate) fn op(self) -> Option<Op> {
        match self {
            Rate(op) | Iops(op) | Latency(op) => Some(op),
            _ => None,
        }
    }

    /// The number of an interval, if it is known and the column shows one.
    pub(crate) fn value(self, activity: &Activity) -> Option<f64> {
        Some(match self {
            Rate(op) => activity.bytes_per_s(op),
            Iops(op) => activity.iops(op),
            Latency(op) => activity.op_stat(op).latency_mean()?.0 as f64,
            Queue => activity.queue(),
            InFlight => activity.stat.in_flight as f64,
            Busy => activity.busy(),
            Temperature => activity.temperature_c?,
            Drive | History | Capacity | Model | UsedBy => return None,
        })
    }

    /// A number as text.
    pub(crate) fn spell(self, value: f64, units: Units) -> String {
        match self {
            Rate(_) => units.rate(value),
            Iops(_) => iops(value),
            Latency(_) => Nanos(value as u64).to_string(),
            InFlight | Temperature => format!("{value:.0}"),
            Busy => percent(value),
            Queue | Drive | History | Capacity | Model | UsedBy => number(value),
        }
    }

    /// The text of a row's cell. A history has none, since it is drawn.
    pub(crate) fn cell(self, history: &DriveHistory, units: Units) -> String {
        let facts = history.facts();
        match self {
            Drive => return history.name().to_owned(),
            Capacity if facts.capacity_bytes > 0 => return amount(facts.capacity_bytes),
            Model => return facts.model.clone().unwrap_or_default(),
            UsedBy => return facts.used_by.join(" "),
            _ => {}
        }
        match (self, history.activity()) {
            (Latency(op), Some(activity)) => latency(&activity.op_stat(op)),
            (_, Some(activity)) => {
                self.value(activity).map_or_else(String::new, |value| self.spell(value, units))
            }
            (Rate(Op::Read), None) if history.state() == State::Gone => "gone".to_owned(),
            (Rate(Op::Read), None) => "…".to_owned(),
            (_, None) => String::new(),
        }
    }

    /// Compares two rows: numbers descending, unknown ones last, text alphabetically.
    pub(crate) fn order(self, one: &DriveHistory, two: &DriveHistory) -> Ordering {
        let text = |history| self.cell(history, Units::default()).to_lowercase();
        let number = |history: &DriveHistory| {
            history.activity().and_then(|activity| self.value(activity)).unwrap_or(-1.0)
        };
        match self {
            // Rows are already ordered by name.
            Drive | History => Ordering::Equal,
            Model | UsedBy => text(one).cmp(&text(two)),
            Capacity => two.facts().capacity_bytes.cmp(&one.facts().capacity_bytes),
            _ => number(two).total_cmp(&number(one)),
        }
    }
}

/// The unit of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// MB/s, 10⁶ bytes per second, as manufacturers use it.
    #[default]
    Decimal,
    /// MiB/s, 2²⁰ bytes per second.
    Binary,
}

impl Units {
    /// The unit for a title.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Decimal => "MB/s",
            Self::Binary => "MiB/s",
        }
    }

    /// The number of a rate, without the unit.
    pub(crate) fn rate(self, bytes_per_s: f64) -> String {
        let factor = match self {
            Self::Decimal => 1e6,
            Self::Binary => 1_048_576.0,
        };
        number(bytes_per_s / factor)
    }
}

/// Three digits. Only 0 is shown as 0.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value < 0.005 {
        "<0.01".to_owned()
    } else {
        three_digits(value)
    }
}

/// IOPS. Only 0 is shown as 0.
pub(crate) fn iops(per_s: f64) -> String {
    match per_s {
        0.0 => "0".to_owned(),
        ..0.5 => "<1".to_owned(),
        ..99_999.5 => format!("{per_s:.0}"),
        ..1e6 => format!("{:.0}k", per_s / 1e3),
        _ => format!("{}M", three_digits(per_s / 1e6)),
    }
}

/// Fewest milliseconds for a precise mean; with fewer it has less than one significant digit.
const MS_PRECISE: u64 = 10;

/// A mean latency. `<13 µs`: all I/Os together took less than the kernel's millisecond. `~50 µs`: they took so little
/// that the mean is rough. `-`: there were none.
pub(crate) fn latency(count: &OpStat) -> String {
    match (count.latency_mean(), count.latency_step()) {
        (Some(_), Some(step)) if count.ms == 0 => format!("<{}", rough(step, f64::ceil)),
        (Some(mean), _) if count.ms < MS_PRECISE => format!("~{}", rough(mean, f64::round)),
        (Some(mean), _) => mean.to_string(),
        _ => "-".to_owned(),
    }
}

/// At most two digits.
fn rough(span: Nanos, round: fn(f64) -> f64) -> String {
    let (value, unit) = match span.0 {
        0..1_000 => (span.0 as f64, "ns"),
        1_000..1_000_000 => (span.0 as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (span.0 as f64 / 1e6, "ms"),
        _ => (span.0 as f64 / 1e9, "s"),
    };
    let digit = if value >= 9.95 { 10_f64.powf((value.log10().floor() - 1.0).max(0.0)) } else { 0.1 };
    let rounded = round(value / digit) * digit;
    if rounded.fract().abs() < 0.05 { format!("{rounded:.0} {unit}") } else { format!("{rounded:.1} {unit}") }
}

/// Whole percents. Only 0 is shown as 0.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "<1%".to_owned() } else { format!("{:.0}%", share * 100.0) }
}

/// A table as text, with titles, at most `width` wide; ends with a newline.
pub fn table(histories: &[&DriveHistory], width: usize, theme: Theme) -> String {
    let mut columns = fit(u16::try_from(width).unwrap_or(u16::MAX), histories);
    columns.retain(|(column, _)| *column != Column::History);
    let line = |cells: &dyn Fn(Column) -> String| {
        let cells = columns.iter().map(|(column, width)| {
            let text = theme.text(&cells(*column));
            let blanks = " ".repeat(usize::from(*width).saturating_sub(text.width()));
            if column.layout(Units::Decimal).is_text { text + &blanks } else { blanks + &text }
        });
        let line = cells.collect::<Vec<_>>().join(" ");
        format!("{}\n", line.trim_end())
    };
    let units = Units::Decimal;
    let title = |index: usize| line(&|column| column.layout(units).titles[index].to_owned());
    let mut text = title(0) + &title(1);
    for history in histories {
        text += &line(&|column| column.cell(history, units));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::history_tests::{at, reading};
    use crate::drives::{Drives, Scope};

    #[test]
    fn columns_fit_any_width() {
        for width in 0..300 {
            let columns = fit(width, &[]);
            let taken: u16 = columns.iter().map(|(_, width)| width + GAP).sum();
            assert!(taken <= width + GAP, "{width}: {columns:?}");
            assert!(columns.is_empty() || columns[0].0 == Drive || width < NAME_MIN, "{width}: {columns:?}");
        }
    }

    #[test]
    fn the_usual_terminal_has_what_is_asked_for_most() {
        let columns: Vec<Column> = fit(80, &[]).into_iter().map(|(column, _)| column).collect();
        for column in
            [Rate(Op::Write), Iops(Op::Read), Latency(Op::Read), Latency(Op::Write), Busy, Queue, History]
        {
            assert!(columns.contains(&column), "{columns:?}");
        }
    }

    #[test]
    fn latencies_say_how_well_they_are_known() {
        let spelled = |ios, ms| latency(&OpStat { ios, merged: 0, sectors: 0, ms });
        assert_eq!(spelled(0, 0), "-");
        assert_eq!(spelled(1, 0), "<1 ms");
        assert_eq!(spelled(2, 0), "<500 µs");
        assert_eq!(spelled(80, 0), "<13 µs");
        assert_eq!(spelled(3, 1), "~330 µs");
        assert_eq!(spelled(40, 2), "~50 µs");
        assert_eq!(spelled(100, 850), "8.50 ms");
        assert_eq!(spelled(10_000, 850), "85.0 µs");
        assert_eq!(spelled(4, 6), "~1.5 ms");
    }

    #[test]
    fn numbers_fit_their_columns() {
        let spelled = [0.0, 0.3, 42.0, 99_999.0, 250_000.0, 1.5e6].map(iops);
        assert_eq!(spelled, ["0", "<1", "42", "99999", "250k", "1.50M"]);
        assert_eq!(
            [0.0, 0.001, 0.05, 7.0, 123.4, 14_000.0].map(number),
            ["0", "<0.01", "0.05", "7.00", "123", "14000"]
        );
        assert_eq!([0.0, 0.001, 0.5, 1.0].map(percent), ["0%", "<1%", "50%", "100%"]);
        assert_eq!(
            (Units::Decimal.rate(1.5e6), Units::Binary.rate(1_048_576.0)),
            ("1.50".into(), "1.00".into())
        );
    }

    #[test]
    fn a_table_is_plain_text() {
        let mut drives = Drives::default();
        drives.take(at(0, vec![reading("sda", 1, 0, "0 0 0 0 0 0 0 0 0 0 0")]));
        drives.take(at(1000, vec![reading("sda", 1, 1000, "50 0 8192 30 9 0 72 0 1 250 60")]));
        let histories: Vec<&DriveHistory> = drives.in_scope(&Scope::default()).collect();
        insta::assert_snapshot!(table(&histories, 80, Theme { ascii: true, color: false }));
    }
}
