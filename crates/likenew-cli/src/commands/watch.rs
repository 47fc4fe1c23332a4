//! `likenew watch`: the activity of every drive, on a screen, as plain tables, or as lines of JSON.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::Path;

use likenew_core::units::Nanos;
use likenew_real::sampler::Sampler;
use likenew_watch::drive_history::DriveHistory;
use likenew_watch::drives::Scope;
use likenew_watch::plain;
use likenew_watch::theme::Theme;
use likenew_watch::view::{Flow, View};

use crate::arguments::Watch;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::{InputEvent, Screen};
use crate::watch_session::{WatchSession, print_to_reader};
use crate::{output, wording};

/// Shortest interval. Chosen: counters in milliseconds say nothing about less.
const INTERVAL_MIN: Nanos = Nanos::from_millis(10);
/// Time between checks for signals. Chosen: Ctrl-C feels immediate.
const SLICE: Nanos = Nanos::from_millis(200);
/// Columns of a table without a terminal.
const WIDTH_OF_FILES: usize = 160;

pub(crate) fn run(command: &Watch) -> Result<Exit, Failure> {
    if command.interval < INTERVAL_MIN {
        return Err(Failure::Usage(wording::WATCH_INTERVAL.into()));
    }
    if command.time == Some(Nanos::ZERO) {
        return Err(Failure::Usage(wording::WATCH_TIME.into()));
    }
    let sampler = Sampler::new(!command.no_temperature);
    let scope = scope(command, &sampler)?;
    interrupt::listen_saying(None)?;
    let env = Theme::from_env(|name| std::env::var(name).ok());
    let theme = Theme { ascii: env.ascii || command.ascii, ..env };
    let mut watched = WatchSession::begin(sampler, scope.clone(), command)?;
    let shown = match kind(command) {
        Kind::Screen => show(command, &mut watched, View::new(theme, scope, command.interval)),
        Kind::Tables => print(command, &mut watched, theme),
        Kind::Nothing => print_nothing(command, &mut watched),
    };
    // The log is concluded even if showing it failed.
    let ended = watched.end();
    let exit = shown?;
    ended?;
    Ok(exit)
}

/// The drives on the command line, by the kernel's names.
fn scope(command: &Watch, sampler: &Sampler) -> Result<Scope, Failure> {
    let mut scope = Scope { all: command.all, partitions: command.partitions, ..Scope::default() };
    for drive in &command.drives {
        if drive.starts_with("sim:") || drive.starts_with("nop:") {
            return Err(Failure::Usage(wording::cannot_be_watched(drive)));
        }
        let name = sampler.find(drive)?;
        if !scope.names.contains(&name) {
            scope.names.push(name);
        }
    }
    Ok(scope)
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Screen,
    Tables,
    Nothing,
}

fn kind(command: &Watch) -> Kind {
    if command.json.as_deref() == Some(Path::new("-")) {
        return Kind::Nothing;
    }
    if command.once {
        return Kind::Tables;
    }
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    let reason = match (stdout().is_terminal(), stdin().is_terminal()) {
        (true, true) if dumb => wording::WATCH_DUMB,
        (true, true) => return Kind::Screen,
        (false, _) => wording::WATCH_STDOUT,
        (true, false) => wording::WATCH_STDIN,
    };
    crate::standard_error::note(wording::error(wording::watch_as_tables(reason)));
    Kind::Tables
}

/// On a screen, until the user ends it.
fn show(command: &Watch, watched: &mut WatchSession, mut view: View) -> Result<Exit, Failure> {
    let mut screen = Screen::open()?;
    let (mut last, mut changed) = (watched.now(), true);
    loop {
        if changed {
            screen.draw(&view, watched.drives())?;
        }
        let end = command.time.map_or(Nanos::NEVER, |time| watched.started_at() + time);
        let due = (last + view.interval()).min(end);
        let happened = screen.wait(due.since(watched.now()).min(SLICE))?;
        if happened == InputEvent::Interrupted || interrupt::is_requested() {
            return Ok(Exit::Interrupted);
        }
        if let InputEvent::Pressed(key) = happened
            && view.press(key, watched.drives()) == Flow::Leave
        {
            return Ok(Exit::Fine);
        }
        let now = watched.now();
        changed = happened != InputEvent::Nothing || now >= due;
        if now >= due {
            // A late reading does not move those after it, unless it is late by more than an interval.
            last = if now.since(due) < view.interval() { due } else { now };
            if !watched.read()? {
                return Ok(Exit::Fine);
            }
            watched.complaint().into_iter().for_each(|complaint| view.note(complaint));
            if now >= end {
                return Ok(Exit::Fine);
            }
        }
    }
}

/// As a table for each interval.
fn print(command: &Watch, watched: &mut WatchSession, theme: Theme) -> Result<Exit, Failure> {
    let width = if stdout().is_terminal() { output::width() } else { WIDTH_OF_FILES };
    each_interval(command, watched, |watched| {
        let drives: Vec<&DriveHistory> = watched.drives().in_scope(watched.scope()).collect();
        let table = plain::table(&drives, width, theme);
        let head =
            if command.once { String::new() } else { format!("{}\n", likenew_real::clock::wall_date()) };
        let tail = if command.once { "" } else { "\n" };
        print_to_reader(&format!("{head}{table}{tail}"))
    })
}

/// Only lines of JSON.
fn print_nothing(command: &Watch, watched: &mut WatchSession) -> Result<Exit, Failure> {
    each_interval(command, watched, |_| Ok(true))
}

/// Reads after every interval and has it shown, until the user ends it.
fn each_interval(
    command: &Watch,
    watched: &mut WatchSession,
    mut show: impl FnMut(&WatchSession) -> Result<bool, Failure>,
) -> Result<Exit, Failure> {
    let end = command.time.map_or(Nanos::NEVER, |time| watched.started_at() + time);
    let mut due = watched.started_at();
    loop {
        due = (due + command.interval).max(watched.now()).min(end);
        watched.wait(due, || !interrupt::is_requested());
        if interrupt::is_requested() {
            return Ok(Exit::Interrupted);
        }
        let goes_on = watched.read()? && show(watched)?;
        if let Some(complaint) = watched.complaint() {
            crate::standard_error::note(wording::error(complaint));
        }
        if !goes_on || command.once || watched.now() >= end {
            return Ok(Exit::Fine);
        }
    }
}
