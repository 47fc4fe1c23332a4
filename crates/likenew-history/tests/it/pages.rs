//! Lists and pages over many runs.

use std::fmt::Write as _;

use likenew_history::{DriveHistory, Page};

use crate::support::{Run, Runs};

const DRIVES: usize = 12;
const CHECKS: usize = 200;
const RUNS: usize = DRIVES * CHECKS;

#[test]
fn thousands_of_runs_are_listed_by_pages() {
    let runs = Runs::new();
    for drive in 0..DRIVES {
        for day in 0..CHECKS {
            // Every fifth drive gets slow for good on day 150, by 20%.
            let slow = if drive % 5 == 0 && day >= 150 { 0.8 } else { 1.0 };
            let scatter = 1.0 + 0.01 * ((day * 37 + drive * 11) % 7) as f64;
            let run = Run::new(day, &format!("{drive:04x}"), 5e8 * slow * scatter);
            runs.put(&Run { target: format!("/dev/sd{drive}"), ..run });
        }
    }
    let mut history = runs.open();
    let update = history.update().unwrap();
    assert_eq!((update.read, update.damaged), (RUNS, 0));
    assert_eq!(history.update().unwrap().read, 0);
    assert_eq!(history.count().unwrap() as usize, RUNS);

    let mut keys = std::collections::BTreeSet::new();
    for offset in (0..DRIVES).step_by(5) {
        let page = history.drives(Page { offset: offset as u32, rows: 5 }).unwrap();
        assert_eq!(page.len(), (DRIVES - offset).min(5));
        for drive in page {
            assert_eq!((drive.runs as usize, drive.checks as usize), (CHECKS, CHECKS));
            keys.insert(drive.key.clone());
        }
    }
    assert_eq!(keys.len(), DRIVES);
    let [drive] = &history.find("/dev/sd5").unwrap()[..] else { panic!() };
    assert_eq!(&history.find(&drive.key[..8].to_uppercase()).unwrap()[..], std::slice::from_ref(drive));
    assert_eq!(history.runs(Some(drive), Page { offset: 190, rows: 50 }).unwrap().len(), 10);
    let last = Page { offset: (RUNS - DRIVES) as u32, rows: 50 };
    assert_eq!(history.runs(None, last).unwrap().len(), DRIVES);

    let listed = history.list(last).unwrap();
    assert_eq!((listed.len(), history.count_listed().unwrap() as usize), (DRIVES, RUNS));
    assert!(listed.iter().all(|run| run.as_ref().is_ok_and(|run| run.started_at.starts_with("2026-01-01"))));

    let checks = history.checks(drive).unwrap();
    assert_eq!(checks.len(), 121, "the first and the latest");
    assert!(checks.iter().all(|check| check.metrics.len() == 6));
    let series = DriveHistory::new(drive.clone(), checks);
    let (metric, change) = series.main_change().unwrap();
    assert!(metric.unit == "bytes/s" && change.since.starts_with("2026-06-11"), "{change:?}");
    assert!(change.low < 0.8 && change.high > 0.8 && change.high < 0.85, "{change:?}");
    let steady = history.find("/dev/sd6").unwrap().remove(0);
    let checks = history.checks(&steady).unwrap();
    assert_eq!(DriveHistory::new(steady, checks).main_change(), None);
}

/// Prints how long each page takes: `cargo test --release -p likenew-history -- --ignored --nocapture`.
#[test]
#[ignore = "it measures time, which other programs change"]
fn pages_of_ten_thousand_runs_are_timed() {
    use std::time::Instant;
    let runs = Runs::new();
    for drive in 0..10_000 / CHECKS {
        for day in 0..CHECKS {
            runs.put(&Run {
                target: format!("/dev/sd{drive}"),
                ..Run::new(day, &format!("{drive:04x}"), 5e8)
            });
        }
    }
    let mut report = String::new();
    let mut timed = |what: &str, action: &mut dyn FnMut()| {
        let start = Instant::now();
        action();
        writeln!(report, "{what}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3).unwrap();
    };
    let mut history = None;
    timed("open a new history", &mut || history = Some(runs.open()));
    let mut history = history.unwrap();
    timed("index 10,000 runs", &mut || assert_eq!(history.update().unwrap().read, 10_000));
    timed("bring up to date", &mut || assert_eq!(history.update().unwrap().read, 0));
    let page = Page { offset: 20, rows: 20 };
    let mut drives = Vec::new();
    timed("page of 20 drives", &mut || drives = history.drives(page).unwrap());
    timed("page of 50 runs, the last", &mut || {
        assert_eq!(history.runs(None, Page { offset: 9_950, rows: 50 }).unwrap().len(), 50);
    });
    timed("page of 50 listed runs, the last", &mut || {
        assert_eq!(history.list(Page { offset: 9_950, rows: 50 }).unwrap().len(), 50);
    });
    timed("find a target", &mut || assert_eq!(history.find("/dev/sd7").unwrap().len(), 1));
    timed("121 checks of a drive", &mut || assert_eq!(history.checks(&drives[0]).unwrap().len(), 121));
    println!("{report}");
}
