//! Kept runs by name: their folders, and their documents.

use std::ffi::OsString;
use std::path::PathBuf;

use axum::http::StatusCode;

use crate::error::ApiError;
use crate::program::Program;
use crate::wording;

/// Longest name of a folder on Linux file systems, in bytes.
const NAME_MAX: usize = 255;
/// Runs of one comparison, at most. Chosen: more than one page can show.
const COMPARED_MAX: usize = 20;

/// Whether this names a folder of the archive and nothing above or below it.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !name.is_empty() && name.len() <= NAME_MAX && !name.starts_with('.') && name.bytes().all(is_plain)
}

/// The folder of a run of this name.
pub(crate) fn folder(program: &Program, name: &str) -> Result<PathBuf, ApiError> {
    let folder = program.archive().join(name);
    // A link may lead anywhere; the program follows none either, if it comes in place of the folder now.
    let is_folder = || folder.symlink_metadata().is_ok_and(|there| there.is_dir());
    let is_run = is_name(name) && is_folder() && folder.join("plan.toml").is_file();
    if is_run { Ok(folder) } else { Err(ApiError::new(StatusCode::NOT_FOUND, wording::no_such_run(name))) }
}

/// The JSON of its document.
pub(crate) async fn document(program: &Program, name: &str) -> Result<Vec<u8>, ApiError> {
    let folder = folder(program, name)?;
    program.output(&["report".into(), "--json=-".into(), "--".into(), folder.into()]).await
}

/// The JSON of the document that compares these runs.
pub(crate) async fn comparison(program: &Program, names: &[String]) -> Result<Vec<u8>, ApiError> {
    if names.len() > COMPARED_MAX {
        return Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            wording::too_many_compared(COMPARED_MAX),
        ));
    }
    let mut words: Vec<OsString> = ["compare", "--json=-", "--"].map(Into::into).to_vec();
    for name in names {
        words.push(folder(program, name)?.into());
    }
    program.output(&words).await
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
