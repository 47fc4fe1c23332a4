//! Updates the index from the run folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use likenew_archive::{DriveSignature, place_key};
use serde_json::json;
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Connection as _};

use crate::database::{History, is_forbidden};
use crate::dialect::Dialect;
use crate::error::HistoryError;
use crate::indexed_run::{IndexedRun, MetricValue, Problem, RunContent, fingerprint};

/// Runs in one transaction. A kill loses at most a second of work, and other writers wait no longer.
const BATCH: usize = 100;
/// Rows in one statement. A row has 12 values, and databases accept some ten thousand.
const ROWS: usize = 100;

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Runs read.
    pub read: usize,
    /// Damaged runs among them.
    pub damaged: usize,
    /// Runs removed, because their folders are gone.
    pub removed: usize,
    /// Whether nothing was done because this user may not write to the database.
    pub is_refused: bool,
}

impl History {
    /// Indexes new and changed folders, and removes runs whose folders are gone.
    ///
    /// # Errors
    /// The archive cannot be listed, or the database failed; not for a damaged run or a user who may not write.
    pub fn update(&mut self) -> Result<Update, HistoryError> {
        match self.write_changes() {
            Err(HistoryError::Query { source, .. }) if is_forbidden(&source) => {
                Ok(Update { is_refused: true, ..Update::default() })
            }
            update => update,
        }
    }

    fn write_changes(&mut self) -> Result<Update, HistoryError> {
        let folders = self.archive.folders()?;
        let known = self.known()?;
        let stale: Vec<&PathBuf> = folders.iter().filter(|folder| is_stale(folder, &known)).collect();
        let mut update = Update::default();
        for batch in stale.chunks(BATCH) {
            let runs: Vec<IndexedRun> = batch.iter().map(|folder| IndexedRun::read(folder)).collect();
            update.read += runs.len();
            update.damaged += runs.iter().filter(|run| run.content.is_err()).count();
            self.write(&runs, &[])?;
        }
        let names: BTreeSet<String> = folders.iter().map(|folder| name_of(folder)).collect();
        // Another program may have indexed a run that started after the folders were listed.
        let is_gone = |name: &&String| !names.contains(*name) && !self.archive.root().join(name).exists();
        let gone: Vec<String> = known.keys().filter(is_gone).cloned().collect();
        update.removed = gone.len();
        for batch in gone.chunks(BATCH) {
            self.write(&[], batch)?;
        }
        Ok(update)
    }

    /// Removes everything about this archive and indexes it again.
    ///
    /// # Errors
    /// Those of [`History::update`].
    pub fn rebuild(&mut self) -> Result<Update, HistoryError> {
        let names: Vec<String> = self.known()?.into_keys().collect();
        for batch in names.chunks(BATCH) {
            self.write(&[], batch)?;
        }
        self.update()
    }

    /// Fingerprints of indexed runs by name; `None` for damaged ones.
    fn known(&mut self) -> Result<BTreeMap<String, Option<String>>, HistoryError> {
        let name = self.name.clone();
        self.read(async |connection| {
            let query = "SELECT name, fingerprint, error FROM run WHERE archive = $1";
            let rows: Vec<(String, String, Option<String>)> =
                sqlx::query_as(query).bind(&name).fetch_all(connection).await?;
            let run = |(name, fingerprint, error): (_, _, Option<_>)| {
                (name, error.is_none().then_some(fingerprint))
            };
            Ok(rows.into_iter().map(run).collect())
        })
    }

    /// Writes and removes runs in one transaction.
    fn write(&mut self, runs: &[IndexedRun], gone: &[String]) -> Result<(), HistoryError> {
        let (name, root) = (self.name.clone(), self.archive.root().display().to_string());
        let archive = name.as_str();
        let root = if archive == "." { "." } else { root.as_str() };
        let dialect = self.dialect();
        let written = self.attempt(async |connection| {
            let mut transaction = connection.begin().await?;
            // The first statement takes the write lock, so that this transaction waits for others only here.
            let begun = "INSERT INTO archive (name, root) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET root = excluded.root";
            sqlx::query(begun).bind(archive).bind(root).execute(&mut *transaction).await?;
            let mut places = BTreeSet::new();
            for name in gone {
                places.extend(place_of(&mut transaction, archive, name).await?);
                delete_metrics(&mut transaction, archive, name).await?;
                let deletion = "DELETE FROM run WHERE archive = $1 AND name = $2";
                sqlx::query(deletion).bind(archive).bind(name).execute(&mut *transaction).await?;
            }
            for run in runs {
                places.extend(place_of(&mut transaction, archive, &run.name).await?);
                let drive = run.content.as_ref().ok().and_then(|content| content.drive.as_ref());
                places.extend(drive.map(DriveSignature::place));
                put_run(&mut transaction, dialect, archive, run).await?;
                delete_metrics(&mut transaction, archive, &run.name).await?;
                let metrics = run.content.as_ref().map_or(&[][..], |content| &content.metrics);
                put_metrics(&mut transaction, archive, &run.name, metrics).await?;
            }
            for place in places {
                resolve(&mut transaction, archive, &place).await?;
            }
            transaction.commit().await
        });
        written.map_err(HistoryError::query("written"))
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a run must be indexed again. Damaged runs always are, since a restored copy may have the same fingerprint.
fn is_stale(folder: &Path, known: &BTreeMap<String, Option<String>>) -> bool {
    known.get(&name_of(folder)).is_none_or(|known| known.as_ref() != Some(&fingerprint(folder)))
}

/// The place at which an indexed run's drive was seen.
async fn place_of(connection: &mut AnyConnection, archive: &str, name: &str) -> sqlx::Result<Option<String>> {
    let query = "SELECT place FROM run WHERE archive = $1 AND name = $2 AND place IS NOT NULL";
    sqlx::query_scalar(query).bind(archive).bind(name).fetch_optional(connection).await
}

/// Assigns runs without a serial number to the drive seen at the same place.
async fn resolve(connection: &mut AnyConnection, archive: &str, place: &str) -> sqlx::Result<()> {
    let query = "SELECT DISTINCT drive FROM run WHERE archive = $1 AND place = $2 AND serial IS NOT NULL";
    let keys: Vec<String> =
        sqlx::query_scalar(query).bind(archive).bind(place).fetch_all(&mut *connection).await?;
    let update = "UPDATE run SET drive = $1 WHERE archive = $2 AND place = $3 AND serial IS NULL";
    let key = place_key(place, &BTreeSet::from_iter(keys));
    sqlx::query(update).bind(key).bind(archive).bind(place).execute(connection).await.map(drop)
}

async fn delete_metrics(connection: &mut AnyConnection, archive: &str, run: &str) -> sqlx::Result<()> {
    let deletion = "DELETE FROM metric WHERE archive = $1 AND run = $2";
    sqlx::query(deletion).bind(archive).bind(run).execute(connection).await.map(drop)
}

async fn put_run(
    connection: &mut AnyConnection,
    dialect: Dialect,
    archive: &str,
    run: &IndexedRun,
) -> sqlx::Result<()> {
    const COLUMNS: [&str; 17] = [
        "fingerprint",
        "error",
        "started_at",
        "procedure",
        "target",
        "seed",
        "standing",
        "summary",
        "access",
        "place",
        "serial",
        "drive",
        "model",
        "capacity_bytes",
        "is_virtual",
        "failed_ios",
        "problems",
    ];
    let set: Vec<String> = COLUMNS.iter().map(|column| format!("{column} = excluded.{column}")).collect();
    let values: Vec<String> =
        COLUMNS.iter().enumerate().map(|(index, column)| dialect.value(column, index + 3)).collect();
    let upsert = format!(
        "INSERT INTO run (archive, name, {}) VALUES ($1, $2, {}) ON CONFLICT (archive, name) DO UPDATE SET {}",
        COLUMNS.join(", "),
        values.join(", "),
        set.join(", ")
    );
    let content = run.content.as_ref().ok();
    let text = |field: fn(&RunContent) -> &str| content.map(|content| storable(field(content)));
    let drive = content.and_then(|content| content.drive.as_ref());
    // Runs without a serial number get their key in `resolve`, when all runs of the place are known.
    let serial = |drive: &DriveSignature| drive.serial.clone();
    let key = drive.and_then(DriveSignature::serial_key);
    sqlx::query(AssertSqlSafe(upsert))
        .bind(archive)
        .bind(&run.name)
        .bind(&run.fingerprint)
        .bind(run.content.as_ref().err().map(|error| storable(error)))
        .bind(text(|content| &content.started_at))
        .bind(text(|content| &content.procedure))
        .bind(text(|content| &content.target))
        .bind(content.map(|content| content.seed.to_string()))
        .bind(text(|content| content.standing))
        .bind(text(|content| &content.summary))
        .bind(drive.map(|drive| drive.access.name()))
        .bind(drive.map(DriveSignature::place))
        .bind(drive.and_then(serial))
        .bind(key)
        .bind(drive.and_then(|drive| drive.model.as_deref().map(storable)))
        .bind(drive.and_then(|drive| drive.capacity_bytes.map(whole)))
        .bind(drive.map(|drive| drive.is_virtual))
        .bind(content.map(|content| whole(content.failed_ios)))
        .bind(content.and_then(|content| content.problems.as_deref()).map(|problems| {
            let storable =
                |problem: &Problem| json!({"name": storable(&problem.name), "sentence": storable(&problem.sentence)});
            json!(problems.iter().map(storable).collect::<Vec<_>>()).to_string()
        }))
        .execute(connection)
        .await
        .map(drop)
}

async fn put_metrics(
    connection: &mut AnyConnection,
    archive: &str,
    run: &str,
    metrics: &[MetricValue],
) -> sqlx::Result<()> {
    const COLUMNS: usize = 12;
    for (batch, metrics) in metrics.chunks(ROWS).enumerate() {
        let insert = format!(
            "INSERT INTO metric (archive, run, position, source, name, unit, value, low, high, reference, origin, bytes) VALUES {}",
            placeholders(metrics.len(), COLUMNS)
        );
        let mut query = sqlx::query(AssertSqlSafe(insert));
        for (index, metric) in metrics.iter().enumerate() {
            query = bind_metric(query.bind(archive).bind(run), (batch * ROWS + index) as i64, metric);
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

fn bind_metric<'q>(
    query: Query<'q, Any, AnyArguments>,
    position: i64,
    metric: &'q MetricValue,
) -> Query<'q, Any, AnyArguments> {
    query
        .bind(position)
        .bind(&metric.source)
        .bind(storable(&metric.name))
        .bind(&metric.unit)
        .bind(metric.value)
        .bind(metric.low)
        .bind(metric.high)
        .bind(metric.reference)
        .bind(metric.origin.as_deref())
        .bind(metric.bytes.map(whole))
}

/// Placeholders such as `($1, $2), ($3, $4)`.
fn placeholders(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let marks: Vec<String> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", marks.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// The text without zero bytes, which PostgreSQL does not store.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// The count as a database's integer, which no real drive exceeds.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
