//! Opens the database of a history, retries while it is busy, and migrates its tables.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use likenew_archive::Archive;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection as _, Executor as _, SqlStr};
use tokio::runtime::{Builder, Runtime};

use super::error::{HistoryError, is_full};
use super::location::Location;
use super::wording;

/// Migrations of the tables: version, name, SQL. A released one is never edited.
const MIGRATIONS: [(i64, &str, &str); 4] = [
    (1, "runs", include_str!("../migrations/1_runs.sql")),
    (2, "failed ios", include_str!("../migrations/2_failed_ios.sql")),
    (3, "problems", include_str!("../migrations/3_problems.sql")),
    (TYPES, "types", include_str!("../migrations/4_types.sql")),
];

/// The version that only PostgreSQL has.
const TYPES: i64 = 4;

/// SQLite waits 5 s for other programs before our own retry. With WAL, writers need not wait for readers. With NORMAL,
/// a power cut may lose the last runs, which are then indexed again.
const SQLITE_SETUP: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";

/// Counts all tables, and those of two that together only a history has.
const TABLES: &str = include_str!("tables.sql");

/// An archive and where its index is.
#[derive(Clone, Debug)]
pub struct KeptRuns {
    /// The archive's folder.
    pub archive: PathBuf,
    /// The index's database.
    pub location: Location,
    /// The name of this machine, among others that share the index.
    pub machine: String,
}

impl KeptRuns {
    /// Opens the index, or creates it.
    ///
    /// # Errors
    /// Those of [`History::open`].
    pub fn open(&self) -> Result<History, HistoryError> {
        History::open(&self.location, Archive::new(&self.archive), &self.machine)
    }
}

/// An open index of one archive's runs. The database may hold other archives, too.
#[derive(Debug)]
pub struct History {
    pub(crate) runtime: Runtime,
    pub(crate) connection: AnyConnection,
    pub(crate) archive: Archive,
    /// The archive's name in the database.
    pub(crate) name: String,
    /// The name of this machine.
    machine: String,
    pub(crate) location: Location,
    /// The location in the form that sqlx takes.
    address: String,
}

impl History {
    /// Opens or creates a history. `machine` distinguishes archives of several machines in one database.
    ///
    /// # Errors
    /// The database cannot be opened, or a newer version of Likenew changed it.
    pub fn open(location: &Location, archive: Archive, machine: &str) -> Result<Self, HistoryError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        // A history beside its archive is moved together with it, so it must not contain the path.
        let is_beside = *location == Location::beside(archive.root());
        let name = if is_beside { ".".to_owned() } else { archive_name(archive.root(), machine) };
        if let Location::File(path) = location {
            // SQLite takes a device for an empty file, and follows links.
            if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
                return Err(HistoryError::NotAFile(path.clone()));
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let made = folder.map_or(Ok(()), std::fs::create_dir_all);
            made.map_err(|error| unopened(location, &sqlx::Error::Io(error)))?;
            // SQLite may only open the file: a link placed here since must not make it create one elsewhere.
            let _ = std::fs::File::create_new(path);
        }
        let runtime = Builder::new_current_thread().enable_all().build().map_err(HistoryError::Runtime)?;
        let address = location.address()?;
        let connection = runtime.block_on(connect_at_last(location, &address));
        let connection = connection.map_err(|error| unopened(location, &error))?;
        let (machine, location) = (machine.to_owned(), location.clone());
        Ok(Self { runtime, connection, archive, name, machine, location, address })
    }

    /// The name of this history's own archive, as in [`crate::DriveRow::archive`].
    pub fn archive_name(&self) -> &str {
        &self.name
    }

    /// The machine of an archive with this name, as in [`crate::DriveRow::archive`].
    pub fn machine_of<'a>(&'a self, archive: &'a str) -> &'a str {
        match archive.split_once(':') {
            Some((machine, _)) => machine,
            None => &self.machine,
        }
    }
}

impl History {
    /// Runs `work` on the database, and again while it is busy. Failed work must leave nothing behind, and repeated
    /// work must not count twice: a session can break after its commit.
    pub(crate) fn attempt<T>(
        &mut self,
        mut work: impl AsyncFnMut(&mut AnyConnection) -> sqlx::Result<T>,
    ) -> sqlx::Result<T> {
        let Self { runtime, connection, location, address, .. } = self;
        runtime.block_on(async {
            let mut pauses = pauses();
            loop {
                let error = match work(connection).await {
                    Ok(done) => return Ok(done),
                    Err(error) => error,
                };
                let Some(pause) = pauses.next().filter(|_| is_busy(&error)) else { return Err(error) };
                tokio::time::sleep(pause).await;
                if has_ended(&error)
                    && let Ok(again) = connect(location, address).await
                {
                    *connection = again;
                }
            }
        })
    }
}

/// The archive's name: machine and folder.
fn archive_name(root: &Path, machine: &str) -> String {
    let root = std::fs::canonicalize(root)
        .or_else(|_| std::path::absolute(root))
        .unwrap_or_else(|_| root.to_owned());
    format!("{machine}:{}", root.display())
}

/// Connects, and retries while the server is full or restarts.
async fn connect_at_last(location: &Location, address: &str) -> sqlx::Result<AnyConnection> {
    let (mut pauses, mut away) = (pauses(), Duration::ZERO);
    loop {
        let error = match connect(location, address).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let is_away = matches!(location, Location::Server(_)) && is_away(&error) && away < RESTART;
        let Some(pause) = pauses.next().filter(|_| is_away || is_busy(&error)) else { return Err(error) };
        tokio::time::sleep(pause).await;
        if is_away {
            away += pause;
        }
    }
}

/// Connects without retrying.
async fn connect(location: &Location, address: &str) -> sqlx::Result<AnyConnection> {
    let mut connection = AnyConnection::connect(address).await?;
    if matches!(location, Location::File(_)) {
        let (tables, ours): (i64, i64) = sqlx::query_as(TABLES).fetch_one(&mut connection).await?;
        if tables > 0 && ours < 2 {
            return Err(sqlx::Error::Configuration(wording::OF_ANOTHER_PROGRAM.into()));
        }
        connection.execute(SQLITE_SETUP).await?;
    }
    migrate(location, &mut connection).await?;
    Ok(connection)
}

/// Migrates the tables. If several programs open a new history at once, one migrates and the others wait: for sqlx's
/// lock on a server, for the transaction in SQLite.
async fn migrate(location: &Location, connection: &mut AnyConnection) -> sqlx::Result<()> {
    let is_server = matches!(location, Location::Server(_));
    let ours = MIGRATIONS.into_iter().filter(|(version, ..)| is_server || *version != TYPES);
    let migrations: Vec<Migration> = ours
        .map(|(version, name, sql)| {
            Migration::new(version, name.into(), MigrationType::Simple, SqlStr::from_static(sql), false)
        })
        .collect();
    // A user who may only read must not run the migrator: it creates its own table even if nothing is to do.
    let applied =
        sqlx::query_scalar::<_, i64>("SELECT version FROM _sqlx_migrations WHERE success ORDER BY version");
    if let Ok(applied) = applied.fetch_all(&mut *connection).await {
        let known = |version: &i64| migrations.iter().any(|migration| migration.version == *version);
        if let Some(newer) = applied.iter().find(|version| !known(version)) {
            return Err(MigrateError::VersionMissing(*newer).into());
        }
        if applied.len() == migrations.len() {
            return Ok(());
        }
    }
    let migrator = Migrator::with_migrations(migrations);
    match location {
        Location::Server(_) => migrator.run_direct(None, connection, false).await?,
        Location::File(_) => {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            migrator.run_direct(None, &mut *transaction, false).await?;
            transaction.commit().await?;
        }
    }
    Ok(())
}

fn unopened(location: &Location, error: &sqlx::Error) -> HistoryError {
    let is_newer = |error: &MigrateError| {
        matches!(error, MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_))
    };
    if matches!(error, sqlx::Error::Migrate(error) if is_newer(error)) {
        return HistoryError::Newer(location.to_string());
    }
    let error = cause(error);
    if is_full(error) {
        return HistoryError::Full;
    }
    let advice = match location {
        Location::File(_) if is_locked(error) => wording::WAIT_FOR_FILE,
        Location::File(_) if matches!(error, sqlx::Error::Configuration(_)) => wording::NAME_ANOTHER,
        Location::File(_) => wording::CHECK_FILE,
        Location::Server(_) if is_forbidden(error) => wording::NEEDS_OWNER,
        Location::Server(_) => wording::CHECK_SERVER,
    };
    let reason = match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Configuration(error) => error.to_string(),
        other => other.to_string(),
    };
    HistoryError::Unopened { location: location.to_string(), reason, advice }
}

/// Pauses between attempts: the first, the longest, and the sum. Chosen: 200 machines that report at once to a server
/// with a hundred connections are done within seconds, and a server restarts within a minute.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(4);
const PAUSES: Duration = Duration::from_secs(60);
/// Time for a server to restart; if it refuses connections longer, its address is wrong. Chosen: PostgreSQL takes a few
/// seconds.
pub(crate) const RESTART: Duration = Duration::from_secs(15);

/// Pauses with random lengths within a factor of two, so that machines that collided do not collide again.
pub(crate) fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_min_delay(PAUSE_MIN)
        .with_max_delay(PAUSE_MAX)
        .without_max_times()
        .with_total_delay(Some(PAUSES))
        .with_jitter()
        .build()
}

/// PostgreSQL's codes for errors that pass: too many clients, a server that starts or stops, a transaction that cannot
/// be serialized, a deadlock.
const BUSY_CODES: [&str; 6] = ["53300", "57P01", "57P02", "57P03", "40001", "40P01"];
/// Codes that end the session, in addition to the class of broken connections.
const ENDED_CODES: [&str; 3] = ["57P01", "57P02", "57P03"];
const CONNECTION_CLASS: &str = "08";

/// Whether a retry can help.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    has_code(error, |code| BUSY_CODES.contains(&code)) || has_ended(error) || is_locked(error)
}

/// Whether another program locks the file. SQLite waits by itself, except where a reader becomes a writer, such as when
/// a new file changes to write-ahead logging.
pub(crate) fn is_locked(error: &sqlx::Error) -> bool {
    /// `SQLITE_BUSY`, the lowest byte of its result codes.
    const BUSY: u32 = 5;
    let code = code(error).filter(|code| code.len() < CODE_LENGTH);
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xFF == BUSY)
}

/// Whether the session has ended.
pub(crate) fn has_ended(error: &sqlx::Error) -> bool {
    let is_broken = |kind| {
        matches!(
            kind,
            ErrorKind::WouldBlock
                | ErrorKind::TimedOut
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof
        )
    };
    matches!(cause(error), sqlx::Error::Io(error) if is_broken(error.kind()))
        || has_code(error, |code| ENDED_CODES.contains(&code) || code.starts_with(CONNECTION_CLASS))
}

/// Whether nothing listens at the address, as while a server restarts.
pub(crate) fn is_away(error: &sqlx::Error) -> bool {
    let is_away = |kind| matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::NotFound);
    matches!(cause(error), sqlx::Error::Io(error) if is_away(error.kind()))
}

/// Whether the user lacks the permission.
pub(crate) fn is_forbidden(error: &sqlx::Error) -> bool {
    has_code(error, |code| code == "42501")
}

/// Length of PostgreSQL's codes; those of SQLite are shorter.
const CODE_LENGTH: usize = 5;

/// Whether the error has a code of PostgreSQL for which `is_it` holds.
fn has_code(error: &sqlx::Error, is_it: impl Fn(&str) -> bool) -> bool {
    code(error).is_some_and(|code| code.len() == CODE_LENGTH && is_it(&code))
}

fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    cause(error).as_database_error().and_then(sqlx::error::DatabaseError::code)
}

/// The database's own error inside an error of a migration.
pub(crate) fn cause(error: &sqlx::Error) -> &sqlx::Error {
    match error {
        sqlx::Error::Migrate(migration) => match &**migration {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error,
            _ => error,
        },
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite does not wait while it changes to write-ahead logging, so our retry must.
    #[test]
    fn a_new_history_that_another_program_writes_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let location = Location::beside(&runs);
        let other = History::open(&location, Archive::new(&runs), "here").unwrap();
        let History { runtime, mut connection, .. } = other;
        let hold = "PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE";
        runtime.block_on(connection.execute(hold)).unwrap();
        let opened =
            std::thread::spawn(move || History::open(&location, Archive::new(&runs), "here").map(drop));
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(300)).await });
        assert!(!opened.is_finished(), "{:?}", opened.join());
        runtime.block_on(connection.execute("COMMIT")).unwrap();
        opened.join().unwrap().unwrap();
    }

    #[test]
    fn a_full_drive_is_called_full() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        for number in 0..500 {
            let run = runs.join(format!("2026-01-01T00-00-{number:03}-check"));
            std::fs::create_dir_all(&run).unwrap();
            std::fs::write(run.join("plan.toml"), "nonsense").unwrap();
        }
        let mut history = History::open(&Location::beside(&runs), Archive::new(&runs), "here").unwrap();
        // No more pages than the tables already have.
        let limit = history.connection.execute("PRAGMA max_page_count = 1");
        history.runtime.block_on(limit).unwrap();
        let error = history.update().unwrap_err();
        assert!(matches!(error, HistoryError::Full), "{error}");
    }

    #[test]
    fn the_pauses_grow_and_end() {
        let pauses: Vec<Duration> = pauses().collect();
        assert!((PAUSE_MIN..PAUSE_MIN * 3).contains(&pauses[0]), "{pauses:?}");
        assert!(pauses.iter().any(|pause| *pause >= PAUSE_MAX), "{pauses:?}");
        let sum: Duration = pauses.iter().sum();
        assert!((PAUSES / 2..PAUSES * 3).contains(&sum), "{sum:?}");
    }

    #[test]
    fn a_busy_server_is_told_from_one_that_is_away() {
        let error = |kind: ErrorKind| sqlx::Error::Io(kind.into());
        assert!(
            !is_busy(&error(ErrorKind::ConnectionRefused)) && is_away(&error(ErrorKind::ConnectionRefused))
        );
        assert!(!is_away(&error(ErrorKind::ConnectionReset)) && !is_away(&sqlx::Error::RowNotFound));
        assert!(is_busy(&error(ErrorKind::ConnectionReset)) && !is_busy(&sqlx::Error::RowNotFound));
        assert!(is_busy(&MigrateError::Execute(error(ErrorKind::ConnectionReset)).into()));
    }
}
