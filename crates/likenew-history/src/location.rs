//! Where a history is stored: a file or a database server.

use std::path::{Path, PathBuf};

use url::Url;

use crate::error::HistoryError;

/// The database of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// An SQLite file.
    File(PathBuf),
    /// A PostgreSQL server.
    Server(Url),
}

impl Location {
    /// The default file beside an archive.
    pub fn beside(runs: &Path) -> Self {
        Self::File(runs.parent().unwrap_or(runs).join("history.sqlite"))
    }

    /// Parses a file or a server's address as a user typed it.
    ///
    /// # Errors
    /// [`HistoryError::NotALocation`] for another kind of address.
    pub fn parse(text: &str) -> Result<Self, HistoryError> {
        let bad = || HistoryError::NotALocation(text.to_owned());
        match text.split_once("://") {
            None if text.is_empty() => Err(bad()),
            None => Ok(Self::File(text.into())),
            Some(("postgres" | "postgresql", _)) => Url::parse(text).map(Self::Server).map_err(|_| bad()),
            Some(_) => Err(bad()),
        }
    }

    /// The address in the form that sqlx takes.
    pub(crate) fn address(&self) -> Result<String, HistoryError> {
        match self {
            Self::Server(url) => Ok(url.as_str().to_owned()),
            Self::File(path) => {
                let bad = || HistoryError::NotText(path.clone());
                let path = std::path::absolute(path).map_err(|_| bad())?;
                path.to_str().ok_or_else(bad)?;
                let url = Url::from_file_path(&path).map_err(|()| bad())?;
                Ok(format!("sqlite://{}?mode=rw", url.path()))
            }
        }
    }
}

impl std::fmt::Display for Location {
    /// Hides the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Server(url) => {
                let mut url = url.clone();
                let _ = url.set_password(None);
                url.set_query(None);
                f.write_str(url.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_servers_are_told_apart_and_passwords_are_not_shown() {
        assert_eq!(Location::parse("a b.sqlite").unwrap(), Location::File("a b.sqlite".into()));
        let server = Location::parse("postgres://lab:secret@db/likenew?password=secret").unwrap();
        assert_eq!(server.to_string(), "postgres://lab@db/likenew");
        for bad in ["", "mysql://db/x", "postgres://[", "http://x"] {
            assert!(matches!(Location::parse(bad), Err(HistoryError::NotALocation(_))), "{bad}");
        }
    }

    #[test]
    fn a_file_of_any_name_has_an_address() {
        let address = Location::File("/tmp/100% ? #1.sqlite".into()).address().unwrap();
        assert_eq!(address, "sqlite:///tmp/100%25%20%3F%20%231.sqlite?mode=rw");
    }
}
