//! The `likenew` program as a child: for answers that take a moment, such as documents of kept runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::error::ApiError;
use super::wording;

/// So many run at once; others wait. Chosen: more would slow down a measurement beside them.
const AT_ONCE: usize = 2;
/// An answer takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program and its archive.
#[derive(Debug)]
pub(crate) struct Program {
    /// The words that start it.
    words: Vec<OsString>,
    archive: PathBuf,
    turns: Semaphore,
}

impl Program {
    pub(crate) fn new(words: Vec<OsString>, archive: PathBuf) -> Self {
        Self { words, archive, turns: Semaphore::new(AT_ONCE) }
    }

    pub(crate) fn archive(&self) -> &std::path::Path {
        &self.archive
    }

    /// A command with these words, without input and in a process group of its own, so that Ctrl-C reaches the server alone.
    pub(crate) fn command(&self, words: &[OsString]) -> Command {
        let (program, first) = self.words.split_first().expect("a program has a name");
        let mut command = Command::new(program);
        command
            .args(first)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    /// What it prints on standard output; what it says otherwise is the error.
    pub(crate) async fn output(&self, words: &[OsString]) -> Result<Vec<u8>, ApiError> {
        let _turn = self.turns.acquire().await.expect("nobody closes it");
        let mut command = self.command(words);
        command.kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        let output = output.map_err(|_| ApiError::new(StatusCode::GATEWAY_TIMEOUT, wording::TOO_SLOW))?;
        let output = output
            .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, wording::not_started(error)))?;
        // A problem that was found is an answer, too.
        if matches!(output.status.code(), Some(0 | 10)) {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, wording::failed(&said)))
    }
}

/// Longest name of a folder on Linux file systems, in bytes.
const NAME_MAX: usize = 255;
/// Runs of one comparison, at most. Chosen: more than one page can show.
const COMPARED_MAX: usize = 20;

/// Whether this names a folder of the archive and nothing above or below it.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !name.is_empty() && name.len() <= NAME_MAX && !name.starts_with('.') && name.bytes().all(is_plain)
}

impl Program {
    /// The folder of a run of this name.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let folder = self.archive().join(name);
        // A link may lead anywhere; the program follows none either, if it comes in place of the folder now.
        let is_folder = || folder.symlink_metadata().is_ok_and(|there| there.is_dir());
        let is_run = is_name(name) && is_folder() && folder.join("plan.toml").is_file();
        if is_run {
            Ok(folder)
        } else {
            Err(ApiError::new(StatusCode::NOT_FOUND, wording::no_such_run(name)))
        }
    }

    /// The JSON of its document.
    pub(crate) async fn document(&self, name: &str) -> Result<Vec<u8>, ApiError> {
        let folder = self.folder(name)?;
        self.output(&["report".into(), "--json=-".into(), "--".into(), folder.into()]).await
    }

    /// The JSON of the document that compares these runs.
    pub(crate) async fn comparison(&self, names: &[String]) -> Result<Vec<u8>, ApiError> {
        if names.len() > COMPARED_MAX {
            return Err(ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                wording::too_many_compared(COMPARED_MAX),
            ));
        }
        let mut words: Vec<OsString> = ["compare", "--json=-", "--"].map(Into::into).to_vec();
        for name in names {
            words.push(self.folder(name)?.into());
        }
        self.output(&words).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        assert!(is_name("2026-03-14T15-09-26.123Z-fill-mnt-photos-2"));
        for name in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", ".hidden", "ä", "a b", &"x".repeat(256)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
