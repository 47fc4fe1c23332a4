//! Lists and series from the index.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use crate::database::History;
use crate::dialect::Dialect;
use crate::error::HistoryError;
use crate::indexed_run::{HEALTH, MetricValue, Problem};

/// Checks of one drive in its series: the first, and the latest ones. Chosen: more than two years of weekly checks.
const CHECKS_MAX: i64 = 120;

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Rows before it.
    pub offset: u32,
    /// Rows in it, at most.
    pub rows: u32,
}

/// A drive, and how it was at its latest check.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRow {
    /// The archive that its runs are in.
    pub archive: String,
    /// Its key.
    pub key: String,
    /// How it was reached: `folder`, `device` or `simulated`.
    pub access: String,
    /// Maker and model.
    pub model: Option<String>,
    /// The hash of its serial number.
    pub serial: Option<String>,
    /// Bytes that it reports to hold.
    pub capacity_bytes: Option<i64>,
    /// Whether a hypervisor provides it.
    pub is_virtual: bool,
    /// When it was first measured.
    pub first_at: String,
    /// When it was last measured.
    pub last_at: String,
    /// All runs.
    pub runs: i64,
    /// Completed checks.
    pub checks: i64,
    /// The target of the latest run, as it was named.
    pub target: String,
}

/// A run that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The archive.
    pub archive: String,
    /// The name of its folder.
    pub name: String,
    /// When it began.
    pub started_at: String,
    /// What it did.
    pub procedure: String,
    /// What it measured, as it was named.
    pub target: String,
    /// `good`, `problem`, `unknown`, `info`, or `unfinished`.
    pub standing: String,
    /// What was found, in a sentence.
    pub summary: String,
    /// The plan's seed.
    pub seed: u64,
    /// The key of its drive.
    pub drive: Option<String>,
    /// I/Os that failed in it.
    pub failed_ios: i64,
    /// The problems that it found, if it is a check.
    pub problems: Vec<Problem>,
}

/// A run folder that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRun {
    /// The archive.
    pub archive: String,
    /// The name of its folder.
    pub name: String,
    /// Why it cannot be read.
    pub error: String,
}

/// A target whose checks are of no drive that is known again, as an array's are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDrive {
    /// The archive of its last check.
    pub archive: String,
    /// As it was named.
    pub target: String,
    /// The name of its last completed check.
    pub last_check: String,
    /// When that began.
    pub last_check_at: String,
}

/// A completed check with its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The run.
    pub run: RunRow,
    /// Its metrics, in the order of its table.
    pub metrics: Vec<MetricValue>,
    /// What the drive reported of its health at the end.
    pub health: Vec<MetricValue>,
}

fn drive_columns(dialect: Dialect) -> String {
    let [first, last] = ["d.first_at", "d.last_at"].map(|column| dialect.date(column));
    format!(
        "SELECT d.archive, d.key, d.access, d.model, d.serial, d.capacity_bytes, CASE WHEN d.is_virtual THEN 1 ELSE 0 END, \
         {first}, {last}, d.runs, d.checks, (SELECT r.target FROM run r WHERE r.archive = d.archive AND r.drive = d.key \
         ORDER BY r.started_at DESC, r.name DESC LIMIT 1) AS target FROM drive d"
    )
}

fn run_columns(dialect: Dialect) -> String {
    let started = dialect.date("started_at");
    format!(
        "SELECT archive, name, {started}, procedure, target, standing, summary, seed, drive, failed_ios, CAST(problems AS TEXT), \
         error FROM run"
    )
}

impl History {
    /// The drives: real ones before simulated ones, those measured last first.
    ///
    /// # Errors
    /// The database fails.
    pub fn drives(&mut self, page: Page) -> Result<Vec<DriveRow>, HistoryError> {
        let columns = drive_columns(self.dialect());
        let query = format!(
            "{columns} ORDER BY CASE WHEN d.access = 'simulated' THEN 1 ELSE 0 END, d.last_at DESC, d.archive, d.key \
             LIMIT $1 OFFSET $2"
        );
        self.read(async |connection| {
            let query =
                sqlx::query(AssertSqlSafe(&*query)).bind(i64::from(page.rows)).bind(i64::from(page.offset));
            query.fetch_all(connection).await?.iter().map(drive_row).collect()
        })
    }

    /// The drives whose key begins so, or of which a run named this target.
    ///
    /// # Errors
    /// The database fails.
    pub fn find(&mut self, what: &str) -> Result<Vec<DriveRow>, HistoryError> {
        /// A shorter beginning may be that of a name.
        const KEY_START_MIN: usize = 4;
        let is_key = what.len() >= KEY_START_MIN && what.bytes().all(|byte| byte.is_ascii_hexdigit());
        let start = if is_key { format!("{}%", what.to_ascii_lowercase()) } else { String::new() };
        let columns = drive_columns(self.dialect());
        let query = format!(
            "{columns} WHERE d.key LIKE $1 OR EXISTS (SELECT 1 FROM run r WHERE r.archive = d.archive \
             AND r.drive = d.key AND r.target = $2) ORDER BY d.last_at DESC, d.archive, d.key"
        );
        self.read(async |connection| {
            let query = sqlx::query(AssertSqlSafe(&*query)).bind(&start).bind(what);
            query.fetch_all(connection).await?.iter().map(drive_row).collect()
        })
    }

    /// All runs that could be read, of one drive or of all, the latest first.
    ///
    /// # Errors
    /// The database fails.
    pub fn runs(&mut self, drive: Option<&DriveRow>, page: Page) -> Result<Vec<RunRow>, HistoryError> {
        let condition = match drive {
            Some(_) => "archive = $3 AND drive = $4",
            None => "error IS NULL",
        };
        let columns = run_columns(self.dialect());
        let query =
            format!("{columns} WHERE {condition} ORDER BY run.started_at DESC, name DESC LIMIT $1 OFFSET $2");
        self.read(async |connection| {
            let mut query =
                sqlx::query(AssertSqlSafe(&*query)).bind(i64::from(page.rows)).bind(i64::from(page.offset));
            if let Some(drive) = drive {
                query = query.bind(&drive.archive).bind(&drive.key);
            }
            query.fetch_all(connection).await?.iter().map(run_row).collect()
        })
    }

    /// The runs of the archive that this was opened with, also those that cannot be read, the latest first: names begin with the
    /// time.
    ///
    /// # Errors
    /// The database fails.
    pub fn list(&mut self, page: Page) -> Result<Vec<Result<RunRow, DamagedRun>>, HistoryError> {
        let columns = run_columns(self.dialect());
        let query = format!("{columns} WHERE archive = $1 ORDER BY name DESC LIMIT $2 OFFSET $3");
        let archive = self.archive_name().to_owned();
        self.read(async |connection| {
            let query = sqlx::query(AssertSqlSafe(&*query))
                .bind(&archive)
                .bind(i64::from(page.rows))
                .bind(i64::from(page.offset));
            let run = |row: &AnyRow| match row.try_get::<Option<String>, _>(11)? {
                Some(error) => Ok(Err(DamagedRun { archive: row.try_get(0)?, name: row.try_get(1)?, error })),
                None => run_row(row).map(Ok),
            };
            query.fetch_all(connection).await?.iter().map(run).collect()
        })
    }

    /// The number of runs that [`History::list`] lists in all.
    ///
    /// # Errors
    /// The database fails.
    pub fn count_listed(&mut self) -> Result<i64, HistoryError> {
        let archive = self.archive_name().to_owned();
        self.read(async |connection| {
            let query = sqlx::query_scalar("SELECT COUNT(*) FROM run WHERE archive = $1");
            query.bind(&archive).fetch_one(connection).await
        })
    }

    /// The run folders that cannot be read, by name.
    ///
    /// # Errors
    /// The database fails.
    pub fn damaged(&mut self) -> Result<Vec<DamagedRun>, HistoryError> {
        let query = "SELECT archive, name, error FROM run WHERE error IS NOT NULL ORDER BY archive, name";
        self.read(async |connection| {
            let rows = sqlx::query(query).fetch_all(connection).await?;
            rows.iter()
                .map(|row| {
                    Ok(DamagedRun { archive: row.try_get(0)?, name: row.try_get(1)?, error: row.try_get(2)? })
                })
                .collect()
        })
    }

    /// The last completed check of each target of which no drive is known, by target.
    ///
    /// # Errors
    /// The database fails.
    pub fn unknown_drives(&mut self) -> Result<Vec<UnknownDrive>, HistoryError> {
        let started = self.dialect().date("started_at");
        let query = format!(
            "SELECT archive, target, name, {started} FROM run WHERE drive IS NULL AND procedure = 'check' \
             AND standing <> 'unfinished' AND error IS NULL AND NOT EXISTS (SELECT 1 FROM run r WHERE r.archive = run.archive \
             AND r.target = run.target AND r.drive IS NULL AND r.procedure = 'check' AND r.standing <> 'unfinished' \
             AND r.error IS NULL AND r.name > run.name) ORDER BY target, archive"
        );
        self.read(async |connection| {
            let rows = sqlx::query(AssertSqlSafe(&*query)).fetch_all(connection).await?;
            rows.iter()
                .map(|row| {
                    Ok(UnknownDrive {
                        archive: row.try_get(0)?,
                        target: row.try_get(1)?,
                        last_check: row.try_get(2)?,
                        last_check_at: row.try_get(3)?,
                    })
                })
                .collect()
        })
    }

    /// The number of drives.
    ///
    /// # Errors
    /// The database fails.
    pub fn count_drives(&mut self) -> Result<usize, HistoryError> {
        let query = "SELECT COUNT(*) FROM drive";
        let count: i64 =
            self.read(async |connection| sqlx::query_scalar(query).fetch_one(connection).await)?;
        Ok(count.try_into().unwrap_or_default())
    }

    /// The number of runs, damaged ones included.
    ///
    /// # Errors
    /// The database fails.
    pub fn count(&mut self) -> Result<i64, HistoryError> {
        self.read(async |connection| {
            sqlx::query_scalar("SELECT COUNT(*) FROM run").fetch_one(connection).await
        })
    }

    /// The completed checks of a drive, the earliest first; of many, the first and the latest ones.
    ///
    /// # Errors
    /// The database fails.
    pub fn checks(&mut self, drive: &DriveRow) -> Result<Vec<Check>, HistoryError> {
        let dialect = self.dialect();
        self.read(async |connection| {
            let mut runs = check_runs(connection, dialect, drive, "DESC", CHECKS_MAX).await?;
            runs.reverse();
            let first = check_runs(connection, dialect, drive, "ASC", 1).await?;
            runs.splice(
                ..0,
                first
                    .into_iter()
                    .filter(|first| runs.first().is_some_and(|run| run.name != first.name))
                    .collect::<Vec<_>>(),
            );
            let mut checks: Vec<Check> =
                runs.into_iter().map(|run| Check { run, metrics: Vec::new(), health: Vec::new() }).collect();
            let Some(since) = checks.get(1).or(checks.first()).map(|check| check.run.started_at.clone())
            else {
                return Ok(checks);
            };
            let first = checks[0].run.name.clone();
            for (run, metric) in check_metrics(connection, dialect, drive, &first, &since).await? {
                if let Some(check) = checks.iter_mut().find(|check| check.run.name == run) {
                    let table = if metric.source == HEALTH { &mut check.health } else { &mut check.metrics };
                    table.push(metric);
                }
            }
            Ok(checks)
        })
    }

    fn read<T>(
        &mut self,
        query: impl AsyncFnMut(&mut AnyConnection) -> sqlx::Result<T>,
    ) -> Result<T, HistoryError> {
        self.attempt(query).map_err(HistoryError::query("read"))
    }
}

async fn check_runs(
    connection: &mut AnyConnection,
    dialect: Dialect,
    drive: &DriveRow,
    order: &str,
    most: i64,
) -> sqlx::Result<Vec<RunRow>> {
    let columns = run_columns(dialect);
    let query = format!(
        "{columns} WHERE archive = $1 AND drive = $2 AND procedure = 'check' AND standing <> 'unfinished' \
         ORDER BY run.started_at {order}, name {order} LIMIT $3"
    );
    let query = sqlx::query(AssertSqlSafe(&*query)).bind(&drive.archive).bind(&drive.key).bind(most);
    query.fetch_all(connection).await?.iter().map(run_row).collect()
}

/// The metrics of the first check and of those since then.
async fn check_metrics(
    connection: &mut AnyConnection,
    dialect: Dialect,
    drive: &DriveRow,
    first: &str,
    since: &str,
) -> sqlx::Result<Vec<(String, MetricValue)>> {
    let since_date = dialect.value("started_at", 4);
    let query = format!(
        "SELECT r.name, m.source, m.name, m.unit, m.value, m.low, m.high, m.reference, m.origin, m.bytes FROM run r \
         JOIN metric m ON m.archive = r.archive AND m.run = r.name WHERE r.archive = $1 AND r.drive = $2 \
         AND r.procedure = 'check' AND m.source IN ('metrics', 'health') AND (r.name = $3 OR r.started_at >= {since_date}) \
         ORDER BY r.started_at, r.name, m.position"
    );
    let rows =
        sqlx::query(AssertSqlSafe(query)).bind(&drive.archive).bind(&drive.key).bind(first).bind(since);
    let metric = |row: &AnyRow| {
        Ok((
            row.try_get(0)?,
            MetricValue {
                source: row.try_get(1)?,
                name: row.try_get(2)?,
                unit: row.try_get(3)?,
                value: row.try_get(4)?,
                low: row.try_get(5)?,
                high: row.try_get(6)?,
                reference: row.try_get(7)?,
                origin: row.try_get(8)?,
                bytes: row.try_get::<Option<i64>, _>(9)?.map(i64::cast_unsigned),
            },
        ))
    };
    rows.fetch_all(connection).await?.iter().map(metric).collect()
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
            // Only this program writes it.
            serde_json::from_str(&problems).unwrap_or_default()
        }),
    })
}
