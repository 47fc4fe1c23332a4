//! Joins tables of several documents row by row.
//!
//! The only number calculated here is the ratio of two speeds.

use std::collections::{HashMap, HashSet};

use likenew_core::findings::Row;

use crate::column::{Column, MISSING, identity, identity_of};
use crate::grid::{Grid, Heading};
use crate::wording;

/// Tables whose rows correspond.
struct Join<'a> {
    columns: Vec<Column>,
    /// The columns that identify rows.
    identity: Vec<usize>,
    /// The rows of each table by their identity, with the name of their document.
    tables: Vec<(&'a str, HashMap<String, &'a Row>)>,
    /// Every row of any table, once: those of the first table, then those that others add.
    order: Vec<(String, &'a Row)>,
}

/// Several tables as one grid, if at least half of the rows of the shortest are in all of them.
pub(super) fn join(tables: &[(String, &[Row])]) -> Option<Grid> {
    if tables.len() < 2 {
        return None;
    }
    let join = Join::new(tables)?;
    let in_all = |(key, _): &&(String, &Row)| join.tables.iter().all(|(_, rows)| rows.contains_key(key));
    let common = join.order.iter().filter(in_all).count();
    let shortest = tables.iter().map(|(_, rows)| rows.len()).min()?;
    (common * 2 >= shortest).then(|| join.grid())
}

impl<'a> Join<'a> {
    fn new(tables: &'a [(String, &'a [Row])]) -> Option<Self> {
        let rows: Vec<&[Row]> = tables.iter().map(|(_, rows)| *rows).collect();
        let columns = Column::all(rows.iter().copied().flatten());
        let identity = identity(&columns, &rows)?;
        let keyed = |row: &'a Row| (identity_of(&columns, &identity, row), row);
        let by_key =
            tables.iter().map(|(of, rows)| (of.as_str(), rows.iter().map(keyed).collect())).collect();
        let mut known = HashSet::new();
        let order = tables.iter().flat_map(|(_, rows)| rows.iter().map(keyed));
        let order = order.filter(|(key, _)| known.insert(key.clone())).collect();
        Some(Self { tables: by_key, order, columns, identity })
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid { headings: Vec::new(), rows: vec![Vec::new(); self.order.len()] };
        for (group, column) in self.columns.iter().enumerate() {
            let identity = self.identity.contains(&group);
            let heading = |text: &str, document: Option<String>| Heading {
                text: text.to_owned(),
                document,
                number: column.number,
                identity,
                group,
            };
            if identity {
                grid.push(heading(&column.heading, None), self.order.iter().map(|(_, row)| column.cell(row)));
                continue;
            }
            for (of, rows) in &self.tables {
                let cell = |row: Option<&&Row>| row.map_or(MISSING.into(), |row| column.cell(row));
                let cells = self.order.iter().map(|(key, _)| cell(rows.get(key)));
                grid.push(heading(&column.heading, Some((*of).to_owned())), cells);
            }
            if column.number && column.unit.is_rate() {
                self.ratios(column).for_each(|(of, cells)| grid.push(heading(&column.name, Some(of)), cells));
            }
        }
        grid
    }

    /// The ratios of each later table to the first, with their headings.
    fn ratios(&self, column: &Column) -> impl Iterator<Item = (String, impl Iterator<Item = String>)> {
        let (first, first_rows) = &self.tables[0];
        self.tables.iter().skip(1).map(move |(of, rows)| {
            let cell = move |(key, _): &(String, &Row)| ratio(column, first_rows.get(key), rows.get(key));
            (format!("{of} ÷ {first}"), self.order.iter().map(cell))
        })
    }
}

fn ratio(column: &Column, first: Option<&&Row>, other: Option<&&Row>) -> String {
    let value = |row: Option<&&Row>| row.and_then(|row| column.value(row));
    match (value(first), value(other)) {
        (Some(first), Some(other)) if first > 0.0 && (other / first).is_finite() => {
            wording::ratio(other / first)
        }
        _ => MISSING.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Joins {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        a: Vec<Row>,
        b: Vec<Row>,
        headings: Option<Vec<(String, Option<String>)>>,
        rows: Option<Vec<Vec<String>>>,
    }

    #[test]
    fn tables_are_joined_as_published() {
        let joins: Joins = serde_json::from_str(include_str!("../../../../schema/joins.json")).unwrap();
        for Case { name, a, b, headings, rows } in joins.cases {
            let grid = join(&[("A".into(), &a), ("B".into(), &b)]);
            let (found_headings, found_rows) = grid.map_or((None, None), |grid| {
                let headings =
                    grid.headings.into_iter().map(|heading| (heading.text, heading.document)).collect();
                (Some(headings), Some(grid.rows))
            });
            assert_eq!(found_headings, headings, "{name}");
            assert_eq!(found_rows, rows, "{name}");
        }
    }
}
