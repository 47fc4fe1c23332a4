//! A database that is busy is asked again.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use sqlx::migrate::MigrateError;

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

    #[test]
    fn the_pauses_grow_and_end() {
        let all: Vec<Duration> = pauses().collect();
        assert!((PAUSE_MIN..PAUSE_MIN * 3).contains(&all[0]), "{all:?}");
        assert!(all.iter().any(|pause| *pause >= PAUSE_MAX), "{all:?}");
        let sum: Duration = all.iter().sum();
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
