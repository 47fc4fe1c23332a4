//! The columns of a table: which there are, their headings, the text of their cells, and the table as it is
//! shown.

use std::collections::HashSet;

use likenew_core::findings::{OverviewRow, Row};
use likenew_core::quantity::with_range;
use serde_json::Value;

use super::unit::{KEYS, Unit, clean, heading};

/// One column as shown: the values of a key, and their intervals if the table has them.
pub(crate) struct Column {
    /// The key of its values.
    pub(crate) key: String,
    /// The name that its heading begins with.
    pub(crate) name: String,
    /// Its heading: the name, and what else the cells hold.
    pub(crate) heading: String,
    /// The unit of its numbers.
    pub(crate) unit: Unit,
    /// Whether all its values are numbers.
    pub(crate) number: bool,
    /// Whether any of its values is a text.
    words: bool,
    /// Keys of the interval around each value.
    interval: Option<(String, String)>,
    /// The key with each row's unit, if it differs between rows.
    unit_key: Option<String>,
}

/// The end of a key for rates per second of the row's own unit.
const PER_S: &str = "_per_s";

/// Text of a cell without a value.
pub(crate) const MISSING: &str = "–";

impl Column {
    /// The columns of all rows together, in order of first appearance. `X_low` and `X_high` join `X`. A text
    /// column `unit` (see `age.new_vs_used`) joins the measured numbers whose keys name no unit, or only
    /// `per_s`.
    pub(crate) fn all<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Vec<Self> {
        let keys = keys(rows.clone());
        let number = |key: &str| is_number(rows.clone(), key);
        let with_unit = keys.iter().any(|key| key == "unit") && !number("unit");
        let interval = |key: &str| {
            let (low, high) = (format!("{key}_low"), format!("{key}_high"));
            (number(key) && number(&low) && number(&high)).then_some((low, high))
        };
        let hidden = |key: &str| {
            let end_of = key.strip_suffix("_low").or_else(|| key.strip_suffix("_high"));
            (key == "unit" && with_unit) || end_of.is_some_and(|whole| interval(whole).is_some())
        };
        let column = |key: &String| {
            let (name, unit) = heading(key);
            let per_s = key.strip_suffix(PER_S).filter(|_| with_unit && unit == Unit::Frequency);
            let name = per_s.map_or(name, |bare| heading(bare).0);
            let interval = interval(key);
            let heading = if interval.is_some() { format!("{name} (low–high)") } else { name.clone() };
            let measured = per_s.is_some()
                || unit == Unit::Plain && !KEYS.keys.iter().chain(&KEYS.counts).any(|known| known == key);
            let unit_key = (with_unit && measured).then(|| "unit".to_owned());
            let words = rows.clone().any(|row| row.get(key).is_some_and(Value::is_string));
            Self { key: key.clone(), name, heading, unit, number: number(key), words, interval, unit_key }
        };
        keys.iter().filter(|key| !hidden(key)).map(column).collect()
    }

    fn is_key(&self) -> bool {
        self.words || KEYS.keys.contains(&self.key)
    }

    /// The value of this column in a row, if it is a number.
    pub(crate) fn value(&self, row: &Row) -> Option<f64> {
        row.get(&self.key)?.as_f64()
    }

    /// A row's cell as text.
    pub(crate) fn cell(&self, row: &Row) -> String {
        let spelled = match row.get(&self.key) {
            None | Some(Value::Null) => return MISSING.into(),
            Some(Value::Bool(yes)) => return if *yes { "yes".into() } else { "no".into() },
            Some(Value::String(text)) => return KEYS.words(&self.key, text),
            Some(Value::Number(number)) => self.spell(number.as_f64().unwrap_or(f64::NAN), row),
            Some(other) => return clean(&other.to_string()),
        };
        let end = |key: &String| row.get(key).and_then(Value::as_f64).map(|value| self.spell(value, row));
        match self.interval.as_ref().map(|(low, high)| (end(low), end(high))) {
            Some((Some(low), Some(high))) => with_range(&spelled, &low, &high),
            _ => spelled,
        }
    }

    fn spell(&self, value: f64, row: &Row) -> String {
        match self.unit_key.as_ref().and_then(|key| row.get(key)).and_then(Value::as_str) {
            Some(unit) => Unit::parse(unit).spell(value),
            None => self.unit.spell_below_heading(value),
        }
    }
}

/// All keys, in order of first appearance.
pub(crate) fn keys<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    let mut known = HashSet::new();
    rows.flat_map(Row::keys).filter(|key| known.insert(*key)).cloned().collect()
}

fn is_number<'a>(rows: impl Iterator<Item = &'a Row>, key: &str) -> bool {
    let mut values = rows.filter_map(|row| row.get(key)).filter(|value| !value.is_null()).peekable();
    values.peek().is_some() && values.all(Value::is_number)
}

/// The columns that identify the rows of all these tables: columns of words, [`KEYS`], and as many others as
/// needed, from the left. `None` if even all columns do not identify them.
pub(crate) fn identity(columns: &[Column], tables: &[&[Row]]) -> Option<Vec<usize>> {
    let (mut chosen, others): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).partition(|index| columns[*index].is_key());
    let mut others = others.into_iter();
    while !(tables.iter().all(|rows| are_distinct(columns, &chosen, rows))) {
        chosen.push(others.next()?);
    }
    chosen.sort_unstable();
    Some(chosen)
}

fn are_distinct(columns: &[Column], chosen: &[usize], rows: &[Row]) -> bool {
    let mut visited = HashSet::new();
    rows.iter().all(|row| visited.insert(identity_of(columns, chosen, row)))
}

/// The values that identify this row, as one text.
pub(crate) fn identity_of(columns: &[Column], chosen: &[usize], row: &Row) -> String {
    let value = |index: &usize| row.get(&columns[*index].key).unwrap_or(&Value::Null).to_string();
    chosen.iter().map(value).collect::<Vec<_>>().join("\u{1f}")
}

/// A table as text: headings and cells.
#[derive(Debug, PartialEq)]
pub(crate) struct Grid {
    /// The headings from left to right.
    pub(crate) headings: Vec<Heading>,
    /// One cell for each heading.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The heading of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heading {
    pub(crate) text: String,
    /// The name of its document, if several are compared.
    pub(crate) document: Option<String>,
    /// Whether the cells are numbers, aligned to the right.
    pub(crate) number: bool,
    /// Whether the cells identify the rows.
    pub(crate) identity: bool,
    /// The group of this column; columns of one group stay side by side.
    pub(crate) group: usize,
}

impl Grid {
    /// The table of one document.
    pub(crate) fn from_rows(rows: &[Row]) -> Self {
        let columns = Column::all(rows.iter());
        let identity = identity(&columns, &[rows]).unwrap_or_default();
        let heading = |(group, column): (usize, &Column)| Heading {
            text: column.heading.clone(),
            document: None,
            number: column.number,
            identity: identity.contains(&group),
            group,
        };
        Self {
            headings: columns.iter().enumerate().map(heading).collect(),
            rows: rows.iter().map(|row| columns.iter().map(|column| column.cell(row)).collect()).collect(),
        }
    }

    /// Adds a column on the right.
    pub(crate) fn push(&mut self, heading: Heading, cells: impl Iterator<Item = String>) {
        self.headings.push(heading);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
}

/// Whether all cells of this column are numbers or missing, and at least one is a number.
pub(crate) fn is_number_column(rows: &[OverviewRow], at: usize) -> bool {
    let is_missing = |cell: &&String| cell.is_empty() || *cell == MISSING;
    let cells = rows.iter().filter_map(|row| row.cells.get(at));
    let mut present = cells.filter(|cell| !is_missing(cell)).peekable();
    present.peek().is_some() && present.all(|cell| is_quantity(cell))
}

/// Whether a cell is a number with its unit, or several, such as `3 h 20 min` and `19.8 MB/s (15.9–24.7)`,
/// but not `4K random read`.
fn is_quantity(cell: &str) -> bool {
    let is_value = |word: &str| {
        let word = word.trim_matches(['(', ')', '±', '+', '~', '<', '>', '≤', '≥', '≈', ',', ';']);
        word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '–' | '%' | '×' | '-' | '−' | 'e'))
    };
    let mut after_value = false;
    let mut has_digit = false;
    for word in cell.split_ascii_whitespace() {
        let value = is_value(word);
        // Only a unit follows a number.
        if !value && !after_value {
            return false;
        }
        has_digit |= value && word.contains(|c: char| c.is_ascii_digit());
        after_value = value;
    }
    has_digit
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(value: Value) -> Vec<Row> {
        serde_json::from_value(value).unwrap()
    }

    fn cells_shown(rows: &[Row]) -> Vec<Vec<String>> {
        let columns = Column::all(rows.iter());
        let mut shown = vec![columns.iter().map(|column| column.heading.clone()).collect()];
        shown.extend(rows.iter().map(|row| columns.iter().map(|column| column.cell(row)).collect()));
        shown
    }

    #[test]
    fn identifiers_are_shown_as_words_and_names_as_they_are() {
        let rows = rows(json!([{"finding": "slow_once", "cause": "slc_cache", "test": "my_workload"}]));
        let shown = [["finding", "cause", "test"], ["slow once", "SLC cache", "my_workload"]];
        assert_eq!(cells_shown(&rows), shown);
    }

    #[test]
    fn cells_carry_what_the_heading_does_not() {
        let rows = rows(json!([
            {"test": "SEQ1M", "bytes_per_s": 251.3e6, "bytes_per_s_low": 250e6, "bytes_per_s_high": 252e6, "cached": true},
            {"test": "RND\u{1b}4K", "bytes_per_s": 39.3e6, "latency_ns_max": 12_340, "cached": null, "more": [1]},
        ]));
        assert_eq!(
            cells_shown(&rows),
            [
                vec!["test", "MB/s (low–high)", "cached", "latency max", "more"],
                vec!["SEQ1M", "251 (250–252)", "yes", "–", "–"],
                vec!["RND\u{fffd}4K", "39.3", "–", "12.3 µs", "[1]"],
            ]
        );
    }

    #[test]
    fn an_interval_needs_three_numbers() {
        let rows = rows(json!([{"v": 1, "v_low": 0, "v_high": "?"}, {"w_low": 3}]));
        assert_eq!(
            cells_shown(&rows)[..2],
            [vec!["v", "v low", "v high", "w low"], vec!["1", "0", "?", "–"]]
        );
    }

    #[test]
    fn a_unit_column_goes_into_the_cells() {
        let rows = rows(json!([
            {"test": "random write", "unit": "bytes/s", "new": 39.3e6, "used": 23e6, "drop_percent": 41.5},
            {"test": "score", "unit": "points", "new": 11902, "used": 11536, "drop_percent": 3.1},
        ]));
        assert_eq!(
            cells_shown(&rows),
            [
                vec!["test", "new", "used", "drop"],
                vec!["random write", "39.3 MB/s", "23.0 MB/s", "42%"],
                vec!["score", "11,902 points", "11,536 points", "3.1%"],
            ]
        );
    }

    #[test]
    fn so_many_a_second_are_of_what_the_row_says() {
        let rows = rows(json!([
            {"metric": "read", "unit": "bytes/s", "now_per_s": 515e6, "arrivals_per_s": null, "ratio": 2.0},
            {"metric": "random_read", "unit": "1/s", "now_per_s": 9100, "arrivals_per_s": 3, "ratio": 1.5},
        ]));
        assert_eq!(
            cells_shown(&rows),
            [
                vec!["metric", "now", "arrivals", "ratio"],
                vec!["read", "515 MB/s", "–", "2"],
                vec!["4K random read", "9,100 IOPS", "3.00 IOPS", "1.50"],
            ]
        );
    }

    #[test]
    fn rows_are_distinguished_by_words_then_by_numbers_from_the_left() {
        let case = |value: Value, expected: Option<Vec<usize>>| {
            let rows = rows(value);
            let columns = Column::all(rows.iter());
            assert_eq!(identity(&columns, &[&rows]), expected);
        };
        case(json!([{"a": 1, "test": "x"}, {"a": 1, "test": "y"}]), Some(vec![1]));
        case(json!([{"pass": 1, "test": "x", "v": 5}, {"pass": 2, "test": "x", "v": 5}]), Some(vec![0, 1]));
        case(json!([{"file": 1, "v": 5}, {"file": 2, "v": 5}]), Some(vec![0]));
        case(json!([{"on": true, "v": 5}, {"on": true, "v": 6}]), Some(vec![0, 1]));
        case(json!([{"v": 5}, {"v": 5}]), None);
        case(json!([]), Some(vec![]));
    }

    #[test]
    fn numbers_are_told_from_words_that_begin_with_one() {
        let numbers = [
            "254 MB/s",
            "4,940 IOPS",
            "19.8 MB/s (15.9–24.7)",
            "31–33",
            "26%",
            "−34%",
            "3 h 20 min",
            "± 2%",
            "2.5×",
            "≥ 8 MiB",
        ];
        for number in numbers {
            assert!(is_quantity(number), "{number}");
        }
        let words =
            ["4K random read", "flash", "4 KiB random reads", "", "–", "not possible: ignores TRIM", "512B"];
        for words in words {
            assert!(!is_quantity(words), "{words}");
        }
    }

    #[test]
    fn missing_cells_do_not_make_a_column_words() {
        let row = |cell: &str| OverviewRow { cells: vec![cell.into()], share: None };
        assert!(is_number_column(&[row("1 MB/s"), row("–"), row("")], 0));
        assert!(!is_number_column(&[row("–"), row("")], 0));
        assert!(!is_number_column(&[row("1 MB/s"), row("unknown")], 0));
    }
}
