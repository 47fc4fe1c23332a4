//! What the first screen shows: its table, and the answers below the summary.

use std::fmt::Display;

use likenew_core::findings::{Answer, Findings, OverviewRow, OverviewTable};
use likenew_core::quantity::Latency;
use likenew_core::units::Nanos;

use crate::rows::LatencyColumns;
use crate::wording::cell;

/// A table of these rows. Columns are added from left to right, each with its heading and what it shows of a row.
pub fn table_of<R>(rows: impl IntoIterator<Item = R>) -> TableBuilder<R> {
    let rows: Vec<R> = rows.into_iter().collect();
    let cells = rows.iter().map(|_| OverviewRow::default()).collect();
    TableBuilder { rows, table: OverviewTable { headings: Vec::new(), rows: cells } }
}

/// See [`table_of`].
pub struct TableBuilder<R> {
    rows: Vec<R>,
    table: OverviewTable,
}

impl<R> TableBuilder<R> {
    /// Adds a column.
    #[must_use]
    pub fn column<C: Display>(mut self, heading: impl Into<String>, cell: impl Fn(&R) -> C) -> Self {
        self.table.headings.push(heading.into());
        for (row, shown) in self.rows.iter().zip(&mut self.table.rows) {
            shown.cells.push(cell(row).to_string());
        }
        self
    }

    /// Adds a column, if the table has it.
    #[must_use]
    pub fn column_if<C: Display>(
        self,
        is_shown: bool,
        heading: impl Into<String>,
        cell: impl Fn(&R) -> C,
    ) -> Self {
        if is_shown { self.column(heading, cell) } else { self }
    }

    /// Adds mean, p99 and maximum of latencies.
    #[must_use]
    pub fn latencies(self, latency: impl Fn(&R) -> LatencyColumns) -> Self {
        let time = |time: Option<u64>| cell(time.map(Nanos));
        self.column("mean", |row| cell(latency(row).latency_ns_mean.map(Latency)))
            .column("p99", |row| time(latency(row).latency_ns_p99))
            .column("max", |row| time(latency(row).latency_ns_max))
    }

    /// Ends each row with a bar, which a share of 1 fills; a row without a share has none.
    #[must_use]
    pub fn bars(mut self, share: impl Fn(&R) -> Option<f64>) -> Self {
        for (row, shown) in self.rows.iter().zip(&mut self.table.rows) {
            shown.share = share(row);
        }
        self
    }

    /// The table with all of its columns.
    pub fn build(self) -> OverviewTable {
        self.table
    }
}

/// Lists the answers of this kind below the summary, which says the first of all.
pub fn list_below_summary(findings: &mut Findings, is_listed: impl Fn(&Answer) -> bool) {
    let listed = findings.answers.iter().skip(1).filter(|answer| is_listed(answer));
    findings.overview.answers = listed.map(|answer| answer.id.clone()).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_a_heading_and_a_cell_of_each_row() {
        let table = table_of([("read", 2), ("write", 1)])
            .column("test", |(name, _)| *name)
            .column_if(false, "left out", |_| "")
            .column("passes", |(_, passes)| *passes)
            .bars(|(_, passes)| (*passes > 1).then_some(0.5))
            .build();
        assert_eq!(table.headings, ["test", "passes"]);
        assert_eq!(
            (&table.rows[0].cells[..], table.rows[0].share),
            (&["read".into(), "2".into()][..], Some(0.5))
        );
        assert_eq!(
            (&table.rows[1].cells[..], table.rows[1].share),
            (&["write".into(), "1".into()][..], None)
        );
    }
}
