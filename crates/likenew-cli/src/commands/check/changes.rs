//! `likenew check --changes`: what is new since the last check of each drive.

use likenew_history::{Change, Check, DriveHistory, History, MetricHistory, Page};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wording::history as wording;

/// Prints a line for each drive that was checked since this date and is not as it was before. The exit code says whether one
/// got worse; a problem that was there before is no news.
pub(super) fn report(history: &mut History, since: &str, exit: Exit) -> Result<Exit, Failure> {
    let mut end = if exit == Exit::Problem { Exit::Fine } else { exit };
    for row in history.drives(Page { offset: 0, rows: u32::MAX })? {
        // The history of a laboratory has drives of other machines.
        if row.last_at.as_str() < since || row.archive != history.archive_name() {
            continue;
        }
        let checks = history.checks(&row)?;
        if checks.last().is_none_or(|check| check.run.started_at.as_str() < since) {
            continue;
        }
        let drive = DriveHistory::new(row, checks);
        let news = news(&drive);
        if !news.sentences.is_empty() {
            output::print(&(wording::news(&drive.drive, &news.sentences, news.is_worse) + "\n"))?;
        }
        if news.is_worse {
            end = end.worse(Exit::Problem);
        }
    }
    Ok(end)
}

/// What is new about a drive.
#[derive(Debug, Default, PartialEq)]
struct News {
    sentences: Vec<String>,
    is_worse: bool,
}

/// Compares a drive after its latest check with the same before it.
fn news(drive: &DriveHistory) -> News {
    let mut news = News::default();
    let Some((latest, earlier)) = drive.checks.split_last() else { return news };
    let is_problem = |check: &Check| check.run.standing == "problem";
    match (earlier.last().filter(|check| is_problem(check)), is_problem(latest)) {
        (None, true) => {
            news.is_worse = true;
            news.sentences.push(wording::new_problem(&latest.run.summary));
        }
        (Some(before), false) => news.sentences.push(wording::solved(&before.run.summary)),
        (Some(before), true) => {
            let is_known = |name: &str| before.run.problems.iter().any(|problem| problem.name == name);
            let more = latest.run.problems.iter().filter(|problem| !is_known(&problem.name));
            news.sentences.extend(more.map(|problem| problem.sentence.clone()));
            news.is_worse |= !news.sentences.is_empty();
        }
        (None, false) => {}
    }
    let before = drive.before();
    for metric in &drive.metrics {
        if let Some(change) = new_change(metric, before.metric(&metric.name)) {
            news.is_worse |= change.ratio < 1.0;
            news.sentences.push(wording::change(metric, change));
        }
    }
    news
}

/// The last change of a metric, if it had fewer before.
fn new_change<'a>(now: &'a MetricHistory, before: Option<&MetricHistory>) -> Option<&'a Change> {
    let known = before.map_or(0, |before| before.changes.len());
    now.changes.last().filter(|_| now.changes.len() > known)
}
