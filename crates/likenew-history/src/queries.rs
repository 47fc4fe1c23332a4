//! Queries for lists of runs and drives, and for the checks of a drive.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, FromRow as _, Row as _};

use crate::database::History;
use crate::error::HistoryError;
use crate::indexed_run::{HEALTH, MetricValue, Problem};
use crate::location::Location;

/// Most checks of a drive that are read: the first and the latest ones. Chosen: more than two years of weekly checks.
const CHECKS_MAX: u32 = 120;

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Rows to skip.
    pub offset: u32,
    /// Most rows to return.
    pub rows: u32,
}

/// A drive as at its latest run.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRow {
    /// The archive of the drive's runs.
    pub archive: String,
    /// The drive's key in the index.
    pub key: String,
    /// How the drive was accessed: `folder`, `device` or `simulated`.
    pub access: String,
    /// Manufacturer and model.
    pub model: Option<String>,
    /// Hash of the serial number.
    pub serial: Option<String>,
    /// Reported capacity in bytes.
    pub capacity_bytes: Option<i64>,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
    /// Start of the first run.
    pub first_at: String,
    /// Start of the latest run.
    pub last_at: String,
    /// Number of runs.
    pub runs: i64,
    /// Number of completed checks.
    pub checks: i64,
    /// The latest run's target, as it was named.
    pub target: String,
}

/// A run whose folder could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The run's archive.
    pub archive: String,
    /// The name of the run's folder.
    pub name: String,
    /// Start of the run.
    pub started_at: String,
    /// The run's procedure.
    pub procedure: String,
    /// The run's target, as it was named.
    pub target: String,
    /// `good`, `problem`, `unknown`, `info`, or `unfinished`.
    pub standing: String,
    /// The findings' summary.
    pub summary: String,
    /// Seed of the run's plan.
    pub seed: u64,
    /// Key of the drive, if known.
    pub drive: Option<String>,
    /// Number of failed I/Os.
    pub failed_ios: i64,
    /// Problems found, if the run is a check.
    pub problems: Vec<Problem>,
}

/// A run folder that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRun {
    /// The run's archive.
    pub archive: String,
    /// The name of the run's folder.
    pub name: String,
    /// Why the folder cannot be read.
    pub error: String,
}

/// A target whose checks cannot be assigned to a drive, such as an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDrive {
    /// The archive of the last check.
    pub archive: String,
    /// The target as it was named.
    pub target: String,
    /// Name of the last completed check.
    pub last_check: String,
    /// Start of the last completed check.
    pub last_check_at: String,
}

/// A completed check and its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The check's run.
    pub run: RunRow,
    /// The check's metrics, in the order of its table.
    pub metrics: Vec<MetricValue>,
    /// Health values that the drive reported at the end.
    pub health: Vec<MetricValue>,
}

/// Differences between the databases: PostgreSQL stores dates and JSON in types that sqlx's `Any` driver does not know.
impl Location {
    /// Selects a date as the text in which this program writes it.
    pub(crate) fn date(&self, column: &str) -> String {
        match self {
            Self::File(_) => column.to_owned(),
            Self::Server(_) => {
                format!(
                    r#"COALESCE(TO_CHAR({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '')"#
                )
            }
        }
    }

    /// A placeholder for a column's value, with a cast if the value is bound as text.
    pub(crate) fn value(&self, column: &str, number: usize) -> String {
        match (self, column) {
            (Self::Server(_), "started_at") => format!("CAST(${number} AS TIMESTAMPTZ)"),
            (Self::Server(_), "problems") => format!("CAST(${number} AS JSONB)"),
            _ => format!("${number}"),
        }
    }
}

fn drive_columns(location: &Location) -> String {
    let [first, last] = ["d.first_at", "d.last_at"].map(|column| location.date(column));
    format!(
        "SELECT d.archive, d.key, d.access, d.model, d.serial, d.capacity_bytes, CASE WHEN d.is_virtual THEN 1 ELSE 0 END, \
         {first}, {last}, d.runs, d.checks, (SELECT r.target FROM run r WHERE r.archive = d.archive AND r.drive = d.key \
         ORDER BY r.started_at DESC, r.name DESC LIMIT 1) AS target FROM drive d"
    )
}

fn run_columns(location: &Location) -> String {
    let started = location.date("started_at");
    format!(
        "SELECT archive, name, {started}, procedure, target, standing, summary, seed, drive, failed_ios, CAST(problems AS TEXT), \
         error FROM run"
    )
}

impl Page {
    /// The end of a query for this part of a list.
    fn limit(self) -> String {
        format!("LIMIT {} OFFSET {}", self.rows, self.offset)
    }
}

impl History {
    /// Lists drives: real ones before simulated ones, most recently measured first.
    ///
    /// # Errors
    /// The database failed.
    pub fn drives(&mut self, page: Page) -> Result<Vec<DriveRow>, HistoryError> {
        let query = format!(
            "{} ORDER BY CASE WHEN d.access = 'simulated' THEN 1 ELSE 0 END, d.last_at DESC, d.archive, d.key {}",
            drive_columns(&self.location),
            page.limit()
        );
        self.rows(&query, &[], drive_row)
    }

    /// Finds drives by the beginning of their key, or by a target that one of their runs named.
    ///
    /// # Errors
    /// The database failed.
    pub fn find(&mut self, what: &str) -> Result<Vec<DriveRow>, HistoryError> {
        /// Shorter text is not taken for a key, since a target's name may look the same.
        const KEY_START_MIN: usize = 4;
        let is_key = what.len() >= KEY_START_MIN && what.bytes().all(|byte| byte.is_ascii_hexdigit());
        let start = if is_key { format!("{}%", what.to_ascii_lowercase()) } else { String::new() };
        let columns = drive_columns(&self.location);
        let query = format!(
            "{columns} WHERE d.key LIKE $1 OR EXISTS (SELECT 1 FROM run r WHERE r.archive = d.archive \
             AND r.drive = d.key AND r.target = $2) ORDER BY d.last_at DESC, d.archive, d.key"
        );
        self.rows(&query, &[&start, what], drive_row)
    }

    /// Lists readable runs, of one drive or of all, latest first.
    ///
    /// # Errors
    /// The database failed.
    pub fn runs(&mut self, drive: Option<&DriveRow>, page: Page) -> Result<Vec<RunRow>, HistoryError> {
        let (condition, texts) = match drive {
            Some(drive) => ("archive = $1 AND drive = $2", vec![&*drive.archive, &*drive.key]),
            None => ("error IS NULL", Vec::new()),
        };
        let (columns, limit) = (run_columns(&self.location), page.limit());
        let query = format!("{columns} WHERE {condition} ORDER BY run.started_at DESC, name DESC {limit}");
        self.rows(&query, &texts, run_row)
    }

    /// Lists all runs of this history's own archive, damaged ones included, latest first. Names begin with the time.
    ///
    /// # Errors
    /// The database failed.
    pub fn list(&mut self, page: Page) -> Result<Vec<Result<RunRow, DamagedRun>>, HistoryError> {
        let (columns, limit) = (run_columns(&self.location), page.limit());
        let query = format!("{columns} WHERE archive = $1 ORDER BY name DESC {limit}");
        let archive = self.archive_name().to_owned();
        self.rows(&query, &[&archive], |row| match row.try_get::<Option<String>, _>(11)? {
            Some(error) => Ok(Err(DamagedRun { archive: row.try_get(0)?, name: row.try_get(1)?, error })),
            None => run_row(row).map(Ok),
        })
    }

    /// The number of all runs for [`History::list`].
    ///
    /// # Errors
    /// The database failed.
    pub fn count_listed(&mut self) -> Result<i64, HistoryError> {
        let archive = self.archive_name().to_owned();
        self.number("SELECT COUNT(*) FROM run WHERE archive = $1", &[&archive])
    }

    /// Lists damaged run folders by archive and name.
    ///
    /// # Errors
    /// The database failed.
    pub fn damaged(&mut self) -> Result<Vec<DamagedRun>, HistoryError> {
        let query = "SELECT archive, name, error FROM run WHERE error IS NOT NULL ORDER BY archive, name";
        self.rows(query, &[], |row| {
            let (archive, name, error) = <(String, String, String)>::from_row(row)?;
            Ok(DamagedRun { archive, name, error })
        })
    }

    /// Lists targets without a known drive, with their last completed check.
    ///
    /// # Errors
    /// The database failed.
    pub fn unknown_drives(&mut self) -> Result<Vec<UnknownDrive>, HistoryError> {
        let started = self.location.date("started_at");
        let query = format!(
            "SELECT archive, target, name, {started} FROM run WHERE drive IS NULL AND procedure = 'check' \
             AND standing <> 'unfinished' AND error IS NULL AND NOT EXISTS (SELECT 1 FROM run r WHERE r.archive = run.archive \
             AND r.target = run.target AND r.drive IS NULL AND r.procedure = 'check' AND r.standing <> 'unfinished' \
             AND r.error IS NULL AND r.name > run.name) ORDER BY target, archive"
        );
        self.rows(&query, &[], |row| {
            let (archive, target, last_check, last_check_at) =
                <(String, String, String, String)>::from_row(row)?;
            Ok(UnknownDrive { archive, target, last_check, last_check_at })
        })
    }

    /// The number of drives.
    ///
    /// # Errors
    /// The database failed.
    pub fn count_drives(&mut self) -> Result<usize, HistoryError> {
        let count = self.number("SELECT COUNT(*) FROM drive", &[])?;
        Ok(count.try_into().unwrap_or_default())
    }

    /// The number of runs, damaged ones included.
    ///
    /// # Errors
    /// The database failed.
    pub fn count(&mut self) -> Result<i64, HistoryError> {
        self.number("SELECT COUNT(*) FROM run", &[])
    }

    /// The completed checks of a drive, earliest first. If there are many, the first and the latest ones.
    ///
    /// # Errors
    /// The database failed.
    pub fn checks(&mut self, drive: &DriveRow) -> Result<Vec<Check>, HistoryError> {
        let mut runs = self.check_runs(drive, "DESC", CHECKS_MAX)?;
        runs.reverse();
        let Some(since) = runs.first().map(|run| run.started_at.clone()) else { return Ok(Vec::new()) };
        let earliest = self.check_runs(drive, "ASC", 1)?.pop();
        runs.splice(..0, earliest.filter(|run| run.name != runs[0].name));
        let first = runs[0].name.clone();
        let mut checks: Vec<Check> =
            runs.into_iter().map(|run| Check { run, metrics: Vec::new(), health: Vec::new() }).collect();
        for (run, metric) in self.check_metrics(drive, &first, &since)? {
            if let Some(check) = checks.iter_mut().find(|check| check.run.name == run) {
                let table = if metric.source == HEALTH { &mut check.health } else { &mut check.metrics };
                table.push(metric);
            }
        }
        Ok(checks)
    }

    fn check_runs(&mut self, drive: &DriveRow, order: &str, most: u32) -> Result<Vec<RunRow>, HistoryError> {
        let columns = run_columns(&self.location);
        let query = format!(
            "{columns} WHERE archive = $1 AND drive = $2 AND procedure = 'check' AND standing <> 'unfinished' \
             ORDER BY run.started_at {order}, name {order} LIMIT {most}"
        );
        self.rows(&query, &[&drive.archive, &drive.key], run_row)
    }

    /// The metrics of the first check and of all checks since `since`, each with the name of its run.
    fn check_metrics(
        &mut self,
        drive: &DriveRow,
        first: &str,
        since: &str,
    ) -> Result<Vec<(String, MetricValue)>, HistoryError> {
        let since_date = self.location.value("started_at", 4);
        let query = format!(
            "SELECT r.name, m.source, m.name, m.unit, m.value, m.low, m.high, m.reference, m.origin, m.bytes FROM run r \
             JOIN metric m ON m.archive = r.archive AND m.run = r.name WHERE r.archive = $1 AND r.drive = $2 \
             AND r.procedure = 'check' AND m.source IN ('metrics', 'health') AND (r.name = $3 OR r.started_at >= {since_date}) \
             ORDER BY r.started_at, r.name, m.position"
        );
        self.rows(&query, &[&drive.archive, &drive.key, first, since], |row| {
            let metric = MetricValue {
                source: row.try_get(1)?,
                name: row.try_get(2)?,
                unit: row.try_get(3)?,
                value: row.try_get(4)?,
                low: row.try_get(5)?,
                high: row.try_get(6)?,
                reference: row.try_get(7)?,
                origin: row.try_get(8)?,
                bytes: row.try_get::<Option<i64>, _>(9)?.map(i64::cast_unsigned),
            };
            Ok((row.try_get(0)?, metric))
        })
    }

    /// The rows of a query. `texts` take the places of `$1`, `$2` and so on.
    pub(crate) fn rows<T>(
        &mut self,
        query: &str,
        texts: &[&str],
        row: impl Fn(&AnyRow) -> sqlx::Result<T>,
    ) -> Result<Vec<T>, HistoryError> {
        let rows = self.attempt(async |connection| {
            let query = texts.iter().fold(sqlx::query(AssertSqlSafe(query)), |query, text| query.bind(*text));
            query.fetch_all(connection).await?.iter().map(&row).collect()
        });
        rows.map_err(HistoryError::query("read"))
    }

    /// The only number that a query returns.
    fn number(&mut self, query: &str, texts: &[&str]) -> Result<i64, HistoryError> {
        Ok(self.rows(query, texts, |row| row.try_get(0))?[0])
    }
}

fn drive_row(row: &AnyRow) -> sqlx::Result<DriveRow> {
    Ok(DriveRow {
        archive: row.try_get(0)?,
        key: row.try_get(1)?,
        access: row.try_get(2)?,
        model: row.try_get(3)?,
        serial: row.try_get(4)?,
        capacity_bytes: row.try_get(5)?,
        is_virtual: row.try_get::<i64, _>(6)? == 1,
        first_at: row.try_get(7)?,
        last_at: row.try_get(8)?,
        runs: row.try_get(9)?,
        checks: row.try_get(10)?,
        target: row.try_get(11)?,
    })
}

fn run_row(row: &AnyRow) -> sqlx::Result<RunRow> {
    let seed: String = row.try_get(7)?;
    Ok(RunRow {
        archive: row.try_get(0)?,
        name: row.try_get(1)?,
        started_at: row.try_get(2)?,
        procedure: row.try_get(3)?,
        target: row.try_get(4)?,
        standing: row.try_get(5)?,
        summary: row.try_get(6)?,
        seed: seed.parse().unwrap_or_default(),
        drive: row.try_get(8)?,
        failed_ios: row.try_get::<Option<i64>, _>(9)?.unwrap_or_default(),
        problems: row.try_get::<Option<String>, _>(10)?.map_or_else(Vec::new, |problems| {
            // Only this program writes the column.
            serde_json::from_str(&problems).unwrap_or_default()
        }),
    })
}
