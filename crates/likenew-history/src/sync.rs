//! Updates the index from the run folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use likenew_archive::{DriveSignature, place_key};
use serde_json::json;
use sqlx::any::AnyArguments;
use sqlx::{Any, AnyConnection, Arguments as _, AssertSqlSafe, Connection as _, Encode, FromRow as _, Type};

use crate::database::{History, is_forbidden};
use crate::error::HistoryError;
use crate::indexed_run::{IndexedRun, MetricValue, Problem, RunContent, fingerprint, name_of};
use crate::location::Location;

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
        let archive = self.name.clone();
        let query = "SELECT name, fingerprint, error FROM run WHERE archive = $1";
        let runs = self.rows(query, &[&archive], |row| {
            let (name, fingerprint, error) = <(String, String, Option<String>)>::from_row(row)?;
            Ok((name, error.is_none().then_some(fingerprint)))
        });
        Ok(runs?.into_iter().collect())
    }

    /// Writes and removes runs in one transaction.
    fn write(&mut self, runs: &[IndexedRun], gone: &[String]) -> Result<(), HistoryError> {
        let (name, root) = (self.name.clone(), self.archive.root().display().to_string());
        let archive = name.as_str();
        let root = if archive == "." { "." } else { root.as_str() };
        let location = self.location.clone();
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
                put_run(&mut transaction, &location, archive, run).await?;
                delete_metrics(&mut transaction, archive, &run.name).await?;
                let metrics = run.content.as_ref().map_or(&[][..], |content| &content.metrics);
                put_metrics(&mut transaction, &location, archive, &run.name, metrics).await?;
            }
            for place in places {
                resolve(&mut transaction, archive, &place).await?;
            }
            transaction.commit().await
        });
        written.map_err(HistoryError::query("written"))
    }
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

/// Rows for a table, each value beside the name of its column.
#[derive(Default)]
struct NewRows {
    /// The columns of every row.
    columns: Vec<&'static str>,
    /// The values, row by row.
    values: AnyArguments,
}

impl NewRows {
    /// Adds the value of the next column. All rows have the same columns in the same order.
    fn with<'t>(mut self, column: &'static str, value: impl Encode<'t, Any> + Type<Any>) -> Self {
        if !self.columns.contains(&column) {
            self.columns.push(column);
        }
        self.values.add(value).expect("every database has a form of plain values");
        self
    }

    /// Inserts them. `conflict` is the end of the statement.
    async fn insert(
        self,
        connection: &mut AnyConnection,
        location: &Location,
        table: &str,
        conflict: &str,
    ) -> sqlx::Result<()> {
        let columns = &self.columns;
        let row = |row: usize| {
            let numbered = columns.iter().zip(row * columns.len() + 1..);
            let values: Vec<String> =
                numbered.map(|(column, number)| location.value(column, number)).collect();
            format!("({})", values.join(", "))
        };
        let rows: Vec<String> = (0..self.values.len() / columns.len()).map(row).collect();
        let (columns, rows) = (columns.join(", "), rows.join(", "));
        let insert = format!("INSERT INTO {table} ({columns}) VALUES {rows} {conflict}");
        sqlx::query_with(AssertSqlSafe(insert), self.values).execute(connection).await.map(drop)
    }
}

async fn put_run(
    connection: &mut AnyConnection,
    location: &Location,
    archive: &str,
    run: &IndexedRun,
) -> sqlx::Result<()> {
    let content = run.content.as_ref().ok();
    let text = |field: fn(&RunContent) -> &str| content.map(|content| storable(field(content)));
    let drive = content.and_then(|content| content.drive.as_ref());
    let problems = content.and_then(|content| content.problems.as_deref()).map(|problems| {
        let storable =
            |problem: &Problem| json!({"name": storable(&problem.name), "sentence": storable(&problem.sentence)});
        json!(problems.iter().map(storable).collect::<Vec<_>>()).to_string()
    });
    let row = NewRows::default()
        .with("archive", archive)
        .with("name", &run.name)
        .with("fingerprint", &run.fingerprint)
        .with("error", run.content.as_ref().err().map(|error| storable(error)))
        .with("started_at", text(|content| &content.started_at))
        .with("procedure", text(|content| &content.procedure))
        .with("target", text(|content| &content.target))
        .with("seed", content.map(|content| content.seed.to_string()))
        .with("standing", text(|content| content.standing))
        .with("summary", text(|content| &content.summary))
        .with("access", drive.map(|drive| drive.access.name()))
        .with("place", drive.map(DriveSignature::place))
        .with("serial", drive.and_then(|drive| drive.serial.as_ref()))
        // Runs without a serial number get their key in `resolve`, when all runs of the place are known.
        .with("drive", drive.and_then(DriveSignature::serial_key))
        .with("model", drive.and_then(|drive| drive.model.as_deref().map(storable)))
        .with("capacity_bytes", drive.and_then(|drive| drive.capacity_bytes.map(whole)))
        .with("is_virtual", drive.map(|drive| drive.is_virtual))
        .with("failed_ios", content.map(|content| whole(content.failed_ios)))
        .with("problems", problems);
    let set: Vec<String> = row.columns.iter().map(|column| format!("{column} = excluded.{column}")).collect();
    let conflict = format!("ON CONFLICT (archive, name) DO UPDATE SET {}", set[2..].join(", "));
    row.insert(connection, location, "run", &conflict).await
}

async fn put_metrics(
    connection: &mut AnyConnection,
    location: &Location,
    archive: &str,
    run: &str,
    metrics: &[MetricValue],
) -> sqlx::Result<()> {
    for (batch, metrics) in metrics.chunks(ROWS).enumerate() {
        let positions = (batch * ROWS) as i64..;
        let rows = positions.zip(metrics).fold(NewRows::default(), |rows, (position, metric)| {
            rows.with("archive", archive)
                .with("run", run)
                .with("position", position)
                .with("source", &metric.source)
                .with("name", storable(&metric.name))
                .with("unit", &metric.unit)
                .with("value", metric.value)
                .with("low", metric.low)
                .with("high", metric.high)
                .with("reference", metric.reference)
                .with("origin", metric.origin.as_deref())
                .with("bytes", metric.bytes.map(whole))
        });
        rows.insert(connection, location, "metric", "").await?;
    }
    Ok(())
}

/// The text without zero bytes, which PostgreSQL does not store.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// The count as a database's integer, which no real drive exceeds.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
