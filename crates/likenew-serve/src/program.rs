//! The `likenew` program as a child: for answers that take a moment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::wording;

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
