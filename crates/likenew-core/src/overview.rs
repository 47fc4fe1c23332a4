//! What of the findings fits one screen, chosen by the procedure and drawn alike by every view.
//!
//! Cells are text, as one column can have numbers of several units; programs read the tables.

use serde::{Deserialize, Serialize};

/// Whether the first screen begins with the summary or with the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lead {
    /// The summary first.
    #[default]
    Summary,
    /// The table first, and of the answers only those that are a problem or unknown: for procedures whose answer is the
    /// table itself.
    Table,
}

/// The first screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overview {
    /// What comes first.
    pub lead: Lead,
    /// Ids of the answers that are listed below the summary, from top to bottom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The table that answers the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<OverviewTable>,
    /// The series that is drawn if it fits the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
}

/// A small table of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverviewTable {
    /// What stands above each column.
    pub headings: Vec<String>,
    /// The rows, most important first: where not all fit, the last are left out.
    pub rows: Vec<OverviewRow>,
}

impl OverviewTable {
    /// A table without rows yet.
    pub fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { headings: headings.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each heading.
    pub fn push(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.push_with_share(cells, None);
    }

    /// Adds a row that ends with a bar: a share of 1 fills it.
    pub fn push_with_share(
        &mut self,
        cells: impl IntoIterator<Item = impl Into<String>>,
        share: Option<f64>,
    ) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.headings.len(), "a row has a cell for each heading");
        self.rows.push(OverviewRow { cells, share });
    }
}

/// A row of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverviewRow {
    /// One for each heading.
    pub cells: Vec<String>,
    /// The length of the bar at its end, 1 for a full one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}
