//! Programs that write at once, and one that is killed.

use std::process::{Child, Command, Stdio};

use likenew_history::{Location, Page};

use crate::support::{Run, Runs, everything, open};

/// Set for a process that only brings a history up to date: the folder of runs, a space, and the history.
const WORKER: &str = "LIKENEW_TEST_HISTORY_WORKER";

/// What worker processes do; in an ordinary test run nothing.
#[test]
fn worker() {
    let Ok(task) = std::env::var(WORKER) else { return };
    let (root, location) = task.split_once(' ').unwrap();
    let mut history = open(&Location::parse(location).unwrap(), root.as_ref());
    history.update().unwrap();
}

pub(crate) fn start_worker(runs: &Runs, location: &Location) -> Child {
    let location = match location {
        Location::File(path) => path.display().to_string(),
        Location::Server(url) => url.to_string(),
    };
    Command::new(std::env::current_exe().unwrap())
        .args(["cuts::worker", "--exact", "--nocapture"])
        .env(WORKER, format!("{} {location}", runs.root().display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn eight_processes_index_the_same_runs_at_once() {
    let runs = Runs::new();
    for day in 0..300 {
        runs.put(&Run::new(day, if day % 3 == 0 { "" } else { "aaaa" }, 5e8));
    }
    let location = Location::beside(&runs.root());
    let workers: Vec<Child> = (0..8).map(|_| start_worker(&runs, &location)).collect();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let mut history = runs.open();
    assert_eq!(history.update().unwrap().read, 0, "the workers have read everything");
    assert_eq!(history.count().unwrap(), 300);
    let kept = everything(&mut history);
    history.rebuild().unwrap();
    assert_eq!(kept, everything(&mut history));
}

#[test]
fn a_killed_indexer_leaves_whole_runs_and_the_next_one_goes_on() {
    const RUNS: i64 = 1_000;
    let runs = Runs::new();
    for day in 0..RUNS {
        runs.put(&Run::new(day as usize, "aaaa", 5e8));
    }
    let mut cuts = 0;
    for round in 0..6 {
        let location = Location::File(runs.root().join(format!("../history-{round}.sqlite")));
        let mut worker = start_worker(&runs, &location);
        let mut watched = open(&location, &runs.root());
        while watched.count().unwrap() <= 100 * round && worker.try_wait().unwrap().is_none() {}
        worker.kill().unwrap();
        worker.wait().unwrap();
        let left = watched.count().unwrap();
        cuts += i32::from((1..RUNS).contains(&left));
        let page = Page { offset: 0, rows: u32::MAX };
        for run in watched.runs(None, page).unwrap() {
            assert!(run.drive.is_some() && run.standing != "unfinished", "{run:?}");
        }
        for drive in watched.drives(page).unwrap() {
            let checks = watched.checks(&drive).unwrap();
            assert!(checks.iter().all(|check| check.metrics.len() == 6), "a run without its metrics");
        }
        watched.update().unwrap();
        assert_eq!(watched.count().unwrap(), RUNS);
        if round == 5 {
            let kept = everything(&mut watched);
            watched.rebuild().unwrap();
            assert_eq!(kept, everything(&mut watched));
        }
    }
    assert!(cuts >= 2, "only {cuts} of 6 kills came within the work");
}
