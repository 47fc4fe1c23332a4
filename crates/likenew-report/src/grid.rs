//! A table as shown: headings and cells as text.

use likenew_core::findings::Row;

use crate::column::{Column, identity};

/// Headings and cells.
#[derive(Debug, PartialEq)]
pub(crate) struct Grid {
    /// From left to right.
    pub(crate) headings: Vec<Heading>,
    /// One cell for each heading.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The heading of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heading {
    /// The text.
    pub(crate) text: String,
    /// The document, if several are compared.
    pub(crate) document: Option<String>,
    /// Whether the cells are numbers, aligned to the right.
    pub(crate) number: bool,
    /// Whether the cells identify the rows.
    pub(crate) identity: bool,
    /// Columns of one group stay side by side.
    pub(crate) group: usize,
}

impl Grid {
    /// One table of one document.
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
