//! `likenew history`: drives over time, from the index of all runs.

pub(super) mod openmetrics;
mod screen;

use likenew_archive::Archive;
use likenew_history::{DriveHistory, DriveRow, Page, drive_json, drives_json};

use crate::arguments::History;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::wording::history as wording;
use crate::{output, run_history};

/// Drives that `--details` and JSON list: all.
const ALL: Page = Page { offset: 0, rows: u32::MAX };
/// Drives on the first screen: with headings, changes and the lines below them they fit 24 lines.
const DRIVES_ON_SCREEN: u32 = 9;

pub(crate) fn run(command: &History) -> Result<Exit, Failure> {
    command.openmetrics.as_deref().map_or(Ok(()), openmetrics::check_file)?;
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    let mut history = run_history::open(&command.place, &archive)?;
    if command.rebuild {
        let update = history.rebuild()?;
        crate::standard_error::note(wording::rebuilt(update.read));
    } else {
        run_history::update(&mut history)?;
    }
    if let Some(path) = &command.openmetrics {
        openmetrics::write(&mut history, &[], path)?;
        return Ok(Exit::Fine);
    }
    match &command.drive {
        Some(typed) => one(command, &mut history, typed),
        None => all(command, &mut history),
    }
}

fn all(command: &History, history: &mut likenew_history::History) -> Result<Exit, Failure> {
    let page =
        if command.details || command.json.is_some() { ALL } else { Page { rows: DRIVES_ON_SCREEN, ..ALL } };
    let rows = history.drives(page)?;
    let total = history.count_drives()?;
    let drives = rows.into_iter().map(|row| read(history, row)).collect::<Result<Vec<_>, _>>()?;
    let damaged = history.damaged()?;
    if let Some(path) = &command.json {
        output::write_to(path, &drives_json(&drives, total, &damaged))?;
        return Ok(Exit::Fine);
    }
    if drives.is_empty() {
        crate::standard_error::note(crate::wording::error(wording::NO_DRIVES));
    }
    output::print(&screen::drives(&drives, total, &damaged, command.details))?;
    Ok(Exit::Fine)
}

fn one(command: &History, history: &mut likenew_history::History, typed: &str) -> Result<Exit, Failure> {
    let mut found = run_history::find(history, typed)?;
    let drive = match found.len() {
        0 => return Err(Failure::Usage(wording::unknown_drive(typed))),
        1 => found.remove(0),
        _ => return Err(Failure::Usage(wording::several_drives(typed, &found))),
    };
    let drive = read(history, drive)?;
    if let Some(path) = &command.json {
        output::write_to(path, &drive_json(&drive))?;
        return Ok(Exit::Fine);
    }
    output::print(&screen::drive(&drive, typed, command.details))?;
    Ok(Exit::Fine)
}

fn read(history: &mut likenew_history::History, drive: DriveRow) -> Result<DriveHistory, Failure> {
    let checks = history.checks(&drive)?;
    Ok(DriveHistory::new(drive, checks))
}
