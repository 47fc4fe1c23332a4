//! Earlier runs: the list of the archive, and the document of one.

use axum::http::StatusCode;
use likenew_archive::Archive;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::program::Program;
use crate::wording;

/// A run in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RunEntry {
    /// The name of its folder.
    pub(crate) name: String,
    pub(crate) started_at: Option<String>,
    pub(crate) procedure: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) model: Option<String>,
    /// Whether its findings are kept; a run that was killed has none.
    pub(crate) has_findings: bool,
    /// Why it cannot be read.
    pub(crate) error: Option<String>,
}

/// Which part of the list.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Selection {
    #[serde(default)]
    pub(crate) offset: usize,
    #[serde(default = "page_length")]
    pub(crate) limit: usize,
    pub(crate) procedure: Option<String>,
    pub(crate) target: Option<String>,
}

/// Runs on a page, at most.
const PAGE_MAX: usize = 500;

fn page_length() -> usize {
    50
}

/// A part of the list.
#[derive(Debug, Serialize)]
pub(crate) struct RunPage {
    pub(crate) runs: Vec<RunEntry>,
    /// In all that fit the selection.
    pub(crate) count: usize,
}

/// The newest first.
pub(crate) fn list(archive: &Archive, selection: &Selection) -> Result<RunPage, ApiError> {
    let failed = |error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, wording::unreadable_archive(error));
    let mut runs: Vec<RunEntry> =
        archive.list().map_err(failed)?.into_iter().rev().filter_map(entry).collect();
    let fits = |asked: &Option<String>, of: &Option<String>| asked.is_none() || asked == of;
    runs.retain(|run| fits(&selection.procedure, &run.procedure) && fits(&selection.target, &run.target));
    let count = runs.len();
    let runs = runs.into_iter().skip(selection.offset).take(selection.limit.min(PAGE_MAX)).collect();
    Ok(RunPage { runs, count })
}

/// None for a folder whose name is no name of a run.
fn entry(entry: likenew_archive::Entry) -> Option<RunEntry> {
    let name = entry.path.file_name()?.to_str().filter(|name| is_name(name))?.to_owned();
    let has_findings = entry.path.join("findings.json").exists();
    Some(match entry.header {
        Ok(header) => RunEntry {
            name,
            started_at: Some(header.machine.started_at),
            procedure: Some(header.plan.procedure),
            target: Some(header.machine.identity.name),
            model: header.machine.identity.model,
            has_findings,
            error: None,
        },
        Err(error) => RunEntry {
            name,
            started_at: None,
            procedure: None,
            target: None,
            model: None,
            has_findings,
            error: Some(wording::damaged_run(error)),
        },
    })
}

/// Longest name of a folder on Linux file systems, in bytes.
const NAME_MAX: usize = 255;

/// Whether this names a folder of the archive and nothing above or below it.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !name.is_empty() && name.len() <= NAME_MAX && !name.starts_with('.') && name.bytes().all(is_plain)
}

/// The folder of a run of this name.
pub(crate) fn folder(program: &Program, name: &str) -> Result<std::path::PathBuf, ApiError> {
    let folder = program.archive().join(name);
    let is_run = is_name(name) && folder.join("plan.toml").is_file();
    if is_run { Ok(folder) } else { Err(ApiError::new(StatusCode::NOT_FOUND, wording::no_such_run(name))) }
}

/// The JSON of its document.
pub(crate) async fn document(program: &Program, name: &str) -> Result<Vec<u8>, ApiError> {
    let folder = folder(program, name)?;
    program.output(&["report".into(), "--json".into(), "-".into(), "--".into(), folder.into()]).await
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

    #[test]
    fn a_damaged_run_is_listed_with_its_error_and_others_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2026-01-01-a", "2026-01-02-b"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("plan.toml"), "nonsense").unwrap();
        }
        let selection = |offset, limit| Selection { offset, limit, procedure: None, target: None };
        let archive = Archive::new(folder.path());
        let page = list(&archive, &selection(0, 10)).unwrap();
        assert_eq!((page.count, &*page.runs[0].name), (2, "2026-01-02-b"));
        assert!(page.runs.iter().all(|run| run.error.is_some()));
        assert_eq!(list(&archive, &selection(1, 10)).unwrap().runs[0].name, "2026-01-01-a");
        assert_eq!(list(&archive, &selection(5, usize::MAX)).unwrap().runs, []);
        assert_eq!(list(&Archive::new("/nonexistent"), &selection(0, 1)).unwrap().count, 0);
    }
}
