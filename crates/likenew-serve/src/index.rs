//! Lists of runs and drives for the page, from the index of all runs.

use std::io;
use std::sync::mpsc;
use std::thread::Builder;

use axum::http::StatusCode;
use likenew_history::metrics::Fleet;
use likenew_history::{
    DamagedRun, DriveHistory, History, HistoryError, KeptRuns, Page, RunRow, drive_json, drives_json,
};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::error::ApiError;
use crate::wording;

/// Most rows in a list.
const ROWS_MAX: u32 = 500;

/// The requested part of a list.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Selection {
    #[serde(default)]
    offset: u32,
    #[serde(default = "usual_rows")]
    limit: u32,
}

fn usual_rows() -> u32 {
    50
}

impl Selection {
    fn page(self) -> Page {
        Page { offset: self.offset, rows: self.limit.min(ROWS_MAX) }
    }
}

/// A run in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct RunEntry {
    /// The name of the run's folder.
    name: String,
    started_at: Option<String>,
    procedure: Option<String>,
    target: Option<String>,
    /// `good`, `problem`, `unknown`, `info`, or `unfinished`.
    standing: Option<String>,
    pub(crate) summary: Option<String>,
    /// Why the folder cannot be read.
    error: Option<String>,
}

impl RunEntry {
    /// The exit code that the run's standing implies.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        match self.standing.as_deref()? {
            "unfinished" => Some(130),
            "problem" => Some(10),
            _ => Some(0),
        }
    }
}

/// A part of the list of runs.
#[derive(Debug, Serialize)]
pub(crate) struct RunList {
    runs: Vec<RunEntry>,
    /// Number of all runs.
    count: i64,
}

type Question = Box<dyn FnOnce(&KeptRuns, &mut Option<History>) + Send>;

/// The index, opened at the first question and kept open. It has its own thread, because answers wait for the disk.
#[derive(Clone)]
pub(crate) struct Index(mpsc::Sender<Question>);

impl Index {
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn new(runs: KeptRuns) -> io::Result<Self> {
        let (sender, questions) = mpsc::channel::<Question>();
        Builder::new().name("index".into()).spawn(move || {
            let mut history = None;
            for question in questions {
                question(&runs, &mut history);
            }
        })?;
        Ok(Self(sender))
    }

    /// Lists runs, newest first.
    pub(crate) async fn runs(&self, selection: Selection) -> Result<RunList, ApiError> {
        self.ask(move |history| {
            let runs = history.list(selection.page())?;
            let runs = runs.into_iter().map(entry).collect();
            Ok(RunList { runs, count: history.count_listed()? })
        })
        .await
    }

    /// The run with this name, if it is among the newest.
    pub(crate) async fn run(&self, name: String) -> Result<Option<RunEntry>, ApiError> {
        self.ask(move |history| {
            let newest = history.list(Page { offset: 0, rows: ROWS_MAX })?;
            Ok(newest.into_iter().map(entry).find(|run| run.name == name))
        })
        .await
    }

    /// Lists drives over time as JSON, most recently measured first.
    pub(crate) async fn drives(&self, selection: Selection) -> Result<String, ApiError> {
        self.ask(move |history| {
            let rows = history.drives(selection.page())?;
            let drives = rows.into_iter().map(|row| DriveHistory::read(history, row));
            let drives = drives.collect::<Result<Vec<_>, _>>()?;
            let (unknown, damaged) = (history.unknown_drives()?, history.damaged()?);
            Ok(drives_json(&drives, history.count_drives()?, &unknown, &damaged))
        })
        .await
    }

    /// The drive with this key over time, as JSON.
    pub(crate) async fn drive(&self, key: String) -> Result<String, ApiError> {
        let drive = self
            .ask(move |history| {
                let row = history.find(&key)?.into_iter().find(|drive| drive.key == key);
                row.map(|row| DriveHistory::read(history, row)).transpose()
            })
            .await?;
        let unknown = || ApiError::new(StatusCode::NOT_FOUND, wording::NO_SUCH_DRIVE);
        Ok(drive_json(&drive.ok_or_else(unknown)?))
    }

    /// All drives as metrics for Prometheus.
    pub(crate) async fn metrics(&self) -> Result<String, ApiError> {
        Ok(likenew_history::metrics::text(&self.ask(Fleet::read).await?))
    }

    /// Updates the index and asks it.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut History) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |runs, history| {
            // The request may have been dropped.
            let _ = answer.send(ask(runs, history, question));
        });
        let failed = |reason: String| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, reason);
        self.0.send(question).map_err(|_| failed(wording::INDEX_ENDED.into()))?;
        let answer = answered.await.map_err(|_| failed(wording::INDEX_ENDED.into()))?;
        answer.map_err(|error| failed(error.to_string()))
    }
}

fn ask<T>(
    runs: &KeptRuns,
    history: &mut Option<History>,
    question: impl FnOnce(&mut History) -> Result<T, HistoryError>,
) -> Result<T, HistoryError> {
    // After an error, the next question reconnects.
    let mut open = match history.take() {
        Some(open) => open,
        None => runs.open()?,
    };
    open.update()?;
    let answer = question(&mut open)?;
    *history = Some(open);
    Ok(answer)
}

fn entry(listed: Result<RunRow, DamagedRun>) -> RunEntry {
    match listed {
        Ok(run) => RunEntry {
            name: run.name,
            started_at: Some(run.started_at),
            procedure: Some(run.procedure),
            target: Some(run.target),
            standing: Some(run.standing),
            summary: Some(run.summary),
            error: None,
        },
        Err(damaged) => RunEntry {
            name: damaged.name,
            error: Some(wording::damaged_run(damaged.error)),
            ..RunEntry::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use likenew_history::Location;

    use super::*;

    fn index(folder: &std::path::Path) -> Index {
        let archive = folder.join("runs");
        Index::new(KeptRuns { location: Location::beside(&archive), archive, machine: "here".into() })
            .unwrap()
    }

    #[tokio::test]
    async fn a_damaged_run_is_listed_with_its_error_and_others_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2026-01-01-a", "2026-01-02-b"] {
            std::fs::create_dir_all(folder.path().join("runs").join(name)).unwrap();
            std::fs::write(folder.path().join("runs").join(name).join("plan.toml"), "nonsense").unwrap();
        }
        let index = index(folder.path());
        let selection = |offset, limit| Selection { offset, limit };
        let page = index.runs(selection(0, 10)).await.unwrap();
        assert_eq!((page.count, &*page.runs[0].name), (2, "2026-01-02-b"));
        assert!(page.runs.iter().all(|run| run.error.is_some()));
        assert_eq!(index.runs(selection(1, 10)).await.unwrap().runs[0].name, "2026-01-01-a");
        assert_eq!(index.runs(selection(5, u32::MAX)).await.unwrap().runs, []);
        let drives: serde_json::Value =
            serde_json::from_str(&index.drives(selection(0, 10)).await.unwrap()).unwrap();
        assert_eq!((drives["count"].as_i64(), drives["damaged"].as_array().unwrap().len()), (Some(0), 2));
        assert_eq!(index.drive("none".into()).await.unwrap_err().status, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn an_index_that_cannot_be_opened_is_an_error_and_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let index = index(folder.path());
        let path = folder.path().join("history.sqlite");
        std::fs::create_dir(&path).unwrap();
        let error = index.runs(Selection { offset: 0, limit: 1 }).await.unwrap_err();
        assert!(error.message.contains("history.sqlite"), "{}", error.message);
        std::fs::remove_dir(&path).unwrap();
        assert_eq!(index.runs(Selection { offset: 0, limit: 1 }).await.unwrap().count, 0);
    }
}
