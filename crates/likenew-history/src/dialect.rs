//! Where the two databases differ: PostgreSQL has types for dates and JSON, which the client for both of them does not know.

use crate::location::Location;

/// What SQL a database takes.
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

    /// A column of dates, as this program writes them.
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

    /// The value for this column, bound as text where that has no type of the client's.
    pub(crate) fn value(self, column: &str, number: usize) -> String {
        match (self, column) {
            (Self::Postgres, "started_at") => format!("CAST(${number} AS TIMESTAMPTZ)"),
            (Self::Postgres, "problems") => format!("CAST(${number} AS JSONB)"),
            _ => format!("${number}"),
        }
    }
}
