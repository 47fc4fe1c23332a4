//! Differences between the databases: PostgreSQL stores dates and JSON in types that sqlx's `Any` driver does not know.

use crate::location::Location;

/// The dialect of a database's SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    pub(crate) fn of(location: &Location) -> Self {
        match location {
            Location::File(_) => Self::Sqlite,
            Location::Server(_) => Self::Postgres,
        }
    }

    /// Selects a date as the text in which this program writes it.
    pub(crate) fn date(self, column: &str) -> String {
        match self {
            Self::Sqlite => column.to_owned(),
            Self::Postgres => {
                format!(
                    r#"COALESCE(TO_CHAR({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '')"#
                )
            }
        }
    }

    /// A placeholder for a column's value, with a cast if the value is bound as text.
    pub(crate) fn value(self, column: &str, number: usize) -> String {
        match (self, column) {
            (Self::Postgres, "started_at") => format!("CAST(${number} AS TIMESTAMPTZ)"),
            (Self::Postgres, "problems") => format!("CAST(${number} AS JSONB)"),
            _ => format!("${number}"),
        }
    }
}
