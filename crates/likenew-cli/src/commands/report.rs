//! `likenew report RUN..`: shows findings as they were stored.

use std::path::Path;

use likenew_archive::Archive;

use crate::arguments::Report;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::run_report::RunReport;
use crate::side_by_side::{Member, SideBySide};
use crate::{kept_run, output, watch_session, wording};

pub(crate) fn run(command: &Report) -> Result<Exit, Failure> {
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    if command.list {
        return list(&archive);
    }
    let folders = match command.last {
        Some(count) => kept_run::newest(&archive, count)?,
        None if command.runs.is_empty() => kept_run::newest(&archive, 1)?,
        None => command.runs.iter().map(|named| kept_run::folder(&archive, named)).collect(),
    };
    if folders.is_empty() {
        return Err(Failure::Usage(wording::no_runs(archive.root())));
    }
    if let [path] = &folders[..] {
        let record = kept_run::open(path)?;
        if !watch_session::is_log(&record) {
            let report = kept_run::report(record)?;
            RunReport::show(vec![report], None, &command.output, &output::same_command(), false)?;
            return Ok(Exit::Fine);
        }
    }
    let members = folders.iter().map(|path| member(path)).collect::<Result<Vec<_>, _>>()?;
    output::put_with(&SideBySide::new(members), None, &command.output, &output::same_command())?;
    Ok(Exit::Fine)
}

fn member(path: &Path) -> Result<Member, Failure> {
    let record = kept_run::open(path)?;
    if watch_session::is_log(&record) {
        return Ok(Member::alone(watch_session::judge(&record)?));
    }
    Ok(kept_run::report(record)?.into_member())
}

/// Lists the runs.
fn list(archive: &Archive) -> Result<Exit, Failure> {
    let entries = archive.list().map_err(anyhow::Error::new)?;
    if entries.is_empty() {
        crate::standard_error::note(wording::error(wording::no_runs(archive.root())));
    }
    for entry in entries {
        let unread = entry.header.err().map_or(String::new(), |error| format!("  ({error})"));
        output::print(&format!("{}{unread}\n", entry.path.display()))?;
    }
    Ok(Exit::Fine)
}
