//! Opening a database, asking one again that is busy, and bringing its tables to the present version.

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

use super::dialect::Dialect;
use super::error::{HistoryError, is_full};
use super::location::Location;
use super::wording;

/// The tables, in the order in which they changed. A version that was released is never edited.
const MIGRATIONS: [(i64, &str, &str); 4] = [
    (1, "runs", include_str!("../migrations/1_runs.sql")),
    (2, "failed ios", include_str!("../migrations/2_failed_ios.sql")),
    (3, "problems", include_str!("../migrations/3_problems.sql")),
    (TYPES, "types", include_str!("../migrations/4_types.sql")),
];

/// The one of PostgreSQL alone.
const TYPES: i64 = 4;

/// How long SQLite waits for other programs before the work is tried again, that they need not wait for readers, and how safely it
/// writes: after a power cut the last runs may be missing, and are indexed again.
const SQLITE_SETUP: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";

/// How many tables there are, and how many of two that only a history has together.
const TABLES: &str = include_str!("tables.sql");

/// A folder of runs, and where its index is.
#[derive(Clone, Debug)]
pub struct KeptRuns {
    /// The folder.
    pub archive: PathBuf,
    /// The index.
    pub location: Location,
    /// What tells this machine from others that share the index.
    pub machine: String,
}

impl KeptRuns {
    /// Opens the index, or makes it.
    ///
    /// # Errors
    /// As for [`History::open`].
    pub fn open(&self) -> Result<History, HistoryError> {
        History::open(&self.location, Archive::new(&self.archive), &self.machine)
    }
}

/// An open index over the runs of one archive. Others may be in the same database.
#[derive(Debug)]
pub struct History {
    pub(crate) runtime: Runtime,
    pub(crate) connection: AnyConnection,
    pub(crate) archive: Archive,
    /// What the database calls the archive.
    pub(crate) name: String,
    /// This machine.
    machine: String,
    location: Location,
    /// The location, as the database's client takes it.
    address: String,
}

impl History {
    /// Opens or makes a history. `machine` tells the archives of several machines apart that share a database.
    ///
    /// # Errors
    /// It cannot be opened, or a newer version of Likenew made it.
    pub fn open(location: &Location, archive: Archive, machine: &str) -> Result<Self, HistoryError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        // Beside its archive, a history moves with it, so that no path is in it.
        let is_beside = *location == Location::beside(archive.root());
        let name = if is_beside { ".".to_owned() } else { archive_name(archive.root(), machine) };
        if let Location::File(path) = location {
            // SQLite takes a device for an empty file, and follows a link to anywhere.
            if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
                return Err(HistoryError::NotAFile(path.clone()));
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let made = folder.map_or(Ok(()), std::fs::create_dir_all);
            made.map_err(|error| unopened(location, &sqlx::Error::Io(error)))?;
            // SQLite only opens it, so that it makes no file at the end of a link that has come since. It also says what is wrong.
            let _ = std::fs::File::create_new(path);
        }
        let runtime = Builder::new_current_thread().enable_all().build().map_err(HistoryError::Runtime)?;
        let address = location.address()?;
        let connection = runtime.block_on(connect_at_last(location, &address));
        let connection = connection.map_err(|error| unopened(location, &error))?;
        let (machine, location) = (machine.to_owned(), location.clone());
        Ok(Self { runtime, connection, archive, name, machine, location, address })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        Dialect::of(&self.location)
    }

    /// What [`crate::DriveRow::archive`] is of the drives whose runs are in the archive that this was opened with.
    pub fn archive_name(&self) -> &str {
        &self.name
    }

    /// The machine whose runs are in an archive of this name, as [`crate::DriveRow::archive`] has it.
    pub fn machine_of<'a>(&'a self, archive: &'a str) -> &'a str {
        match archive.split_once(':') {
            Some((machine, _)) => machine,
            None => &self.machine,
        }
    }
}

impl History {
    /// Does some work on the database, again if that is busy. So the work leaves nothing behind if it fails, and the same if it is
    /// done twice: what ended a session may have come after the commit.
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

/// Machine and folder.
fn archive_name(root: &Path, machine: &str) -> String {
    let root = std::fs::canonicalize(root)
        .or_else(|_| std::path::absolute(root))
        .unwrap_or_else(|_| root.to_owned());
    format!("{machine}:{}", root.display())
}

/// Connects, again while the server has no place or restarts.
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

/// Connects once.
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

/// Of several programs that open a new history at once one makes its tables, and the others wait: for the client's own lock on
/// a server, and in SQLite, where it has none, for the transaction.
async fn migrate(location: &Location, connection: &mut AnyConnection) -> sqlx::Result<()> {
    let dialect = Dialect::of(location);
    let ours =
        MIGRATIONS.into_iter().filter(|(version, ..)| dialect == Dialect::Postgres || *version != TYPES);
    let migrations: Vec<Migration> = ours
        .map(|(version, name, sql)| {
            Migration::new(version, name.into(), MigrationType::Simple, SqlStr::from_static(sql), false)
        })
        .collect();
    // Who only reads may make no tables, not even those that are there.
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

/// Pauses between attempts: the first, the longest, and all together. Chosen: 200 machines that report at once to a server with
/// a hundred places are through within seconds, and a server that restarts is back within a minute.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(4);
const PAUSES: Duration = Duration::from_secs(60);
/// A server that restarts listens again within this; a wrong address is known after it. Chosen: PostgreSQL takes a few seconds.
pub(crate) const RESTART: Duration = Duration::from_secs(15);

/// The pauses, of random length within a factor of two, so that machines that met do not meet again.
pub(crate) fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_min_delay(PAUSE_MIN)
        .with_max_delay(PAUSE_MAX)
        .without_max_times()
        .with_total_delay(Some(PAUSES))
        .with_jitter()
        .build()
}

/// What PostgreSQL says when the same would work a moment later: too many clients, a server that starts or stops, a transaction
/// that cannot be serialized, a deadlock.
const BUSY_CODES: [&str; 6] = ["53300", "57P01", "57P02", "57P03", "40001", "40P01"];
/// Those after which the session is over, with the class of broken connections.
const ENDED_CODES: [&str; 3] = ["57P01", "57P02", "57P03"];
const CONNECTION_CLASS: &str = "08";

/// Whether the same would work a moment later.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    has_code(error, |code| BUSY_CODES.contains(&code)) || has_ended(error) || is_locked(error)
}

/// Whether another program holds the file. SQLite waits by itself, but not where a read becomes a write, as in the change to
/// write-ahead logging of a new file.
pub(crate) fn is_locked(error: &sqlx::Error) -> bool {
    /// `SQLITE_BUSY`, the lowest byte of its result codes.
    const BUSY: u32 = 5;
    let code = code(error).filter(|code| code.len() < CODE_LENGTH);
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xFF == BUSY)
}

/// Whether the session is over.
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

/// Whether nobody listens there: as while a server restarts, whose socket is gone then.
pub(crate) fn is_away(error: &sqlx::Error) -> bool {
    let is_away = |kind| matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::NotFound);
    matches!(cause(error), sqlx::Error::Io(error) if is_away(error.kind()))
}

/// Whether this user may not do that.
pub(crate) fn is_forbidden(error: &sqlx::Error) -> bool {
    has_code(error, |code| code == "42501")
}

/// Characters of PostgreSQL's codes; those of SQLite have fewer.
const CODE_LENGTH: usize = 5;

/// Whether it is one of PostgreSQL's codes, and which.
fn has_code(error: &sqlx::Error, is_it: impl Fn(&str) -> bool) -> bool {
    code(error).is_some_and(|code| code.len() == CODE_LENGTH && is_it(&code))
}

fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    cause(error).as_database_error().and_then(sqlx::error::DatabaseError::code)
}

/// The database's error of a migration.
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

    /// SQLite asks no busy handler while it changes to write-ahead logging.
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
        // No page more than its tables have.
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
