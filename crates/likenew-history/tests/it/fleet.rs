//! Many machines that report to one server at once.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use likenew_archive::{Archive, DriveSignature};
use likenew_history::{DriveHistory, History, HistoryError, Location, Page, peers};

use crate::engines::Server;
use crate::support::{Run, Runs, everything};

/// Machines of a fleet.
const HOSTS: usize = 200;
/// Drives of each, with one check of each of so many days.
const DRIVES: usize = 2;
const DAYS: usize = 3;

/// The folder of runs of one machine.
fn host_runs(host: usize) -> Runs {
    let runs = Runs::new();
    for day in 0..DAYS {
        for drive in 0..DRIVES {
            let serial = format!("{host:04x}{drive:04x}");
            let read = 1e8 + (host * 100 + day * 10 + drive) as f64;
            runs.put(&Run { target: format!("/dev/sd{drive}"), ..Run::new(day, &serial, read) });
        }
    }
    runs
}

/// Opens the history of a machine, and brings it up to date.
fn report(location: &Location, host: usize, runs: &Runs) -> Result<usize, HistoryError> {
    let machine = format!("host-{host:03}");
    History::open(location, Archive::new(runs.root()), &machine)?.update().map(|update| update.read)
}

/// Lets all machines report at once, and asserts that the server has every run of each of them.
fn report_at_once(location: &Location, hosts: &[Runs]) -> Duration {
    let (start, begun) = (Barrier::new(hosts.len()), Instant::now());
    std::thread::scope(|scope| {
        let reports: Vec<_> = hosts
            .iter()
            .enumerate()
            .map(|(host, runs)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    report(location, host, runs)
                })
            })
            .collect();
        for (host, report) in reports.into_iter().enumerate() {
            let read = report.join().unwrap();
            assert_eq!(read.map_err(|error| error.to_string()), Ok(DAYS * DRIVES), "host {host}");
        }
    });
    let took = begun.elapsed();
    let mut history = History::open(location, Archive::new(hosts[0].root()), "host-000").unwrap();
    assert_eq!(history.count().unwrap(), (hosts.len() * DAYS * DRIVES) as i64);
    let drives = history.drives(Page { offset: 0, rows: u32::MAX }).unwrap();
    assert_eq!(drives.len(), hosts.len() * DRIVES);
    for drive in &drives {
        let checks = history.checks(drive).unwrap();
        assert_eq!(checks.len(), DAYS, "{drive:?}");
        assert!(checks.iter().all(|check| check.metrics.len() == 6), "a run without its metrics");
    }
    took
}

/// Each machine has its own archive, but the server lets in only a hundred clients.
#[test]
fn two_hundred_machines_report_at_once_and_no_run_is_lost() {
    let Some(server) = Server::start() else { return };
    let hosts: Vec<Runs> = (0..HOSTS).map(host_runs).collect();
    let took = report_at_once(&server.location(), &hosts);
    println!("{HOSTS} machines with {} runs each: {:.1} s", DAYS * DRIVES, took.as_secs_f64());
}

/// The owner of a server may have chosen the strictest isolation, under which any statement can fail and has to be repeated.
#[test]
fn a_server_that_serializes_and_has_few_places_loses_no_run() {
    const SETTINGS: [&str; 4] =
        ["-c", "default_transaction_isolation=serializable", "-c", "max_connections=12"];
    let Some(server) = Server::start_with(&SETTINGS) else { return };
    let hosts: Vec<Runs> = (0..HOSTS / 4).map(host_runs).collect();
    report_at_once(&server.location(), &hosts);
}

/// Two of sixty drives of one model are slow.
#[test]
fn two_slow_drives_among_sixty_are_found_and_no_other() {
    const SLOW: [usize; 2] = [17, 41];
    let Some(server) = Server::start() else { return };
    let location = server.location();
    for host in 0..60 {
        let runs = Runs::new();
        // A few percent of scatter that repeats.
        let scatter = 1.0 + ((host * 37 % 60) as f64 - 29.5) / 500.0;
        let read = 5e8 * scatter * if SLOW.contains(&host) { 0.6 } else { 1.0 };
        runs.put(&Run::new(0, &format!("{host:08x}"), read));
        report(&location, host, &runs).unwrap();
    }
    let mut history = History::open(&location, Archive::new(Runs::new().root()), "reader").unwrap();
    let rows = history.drives(Page { offset: 0, rows: u32::MAX }).unwrap();
    let drives: Vec<DriveHistory> = rows
        .into_iter()
        .map(|row| {
            let checks = history.checks(&row).unwrap();
            DriveHistory::new(row, checks)
        })
        .collect();
    let all = peers(&drives);
    assert_eq!(all.len(), 60);
    let slow: Vec<_> = all.iter().filter_map(|of| Some((of.drive, of.slowest()?))).collect();
    assert_eq!(slow.len(), SLOW.len(), "{slow:#?}");
    for (drive, place) in slow {
        let among = place.among;
        assert!((among.ratio - 0.6).abs() < 0.05 && among.peers == 59 && among.higher >= 58, "{place:?}");
        assert!(among.interval.is_some_and(|(low, high)| low <= among.ratio && among.ratio <= high));
        let host = history.machine_of(&drive.drive.archive).to_owned();
        assert!(SLOW.iter().any(|of| host == format!("host-{of:03}")), "{host}");
    }
}

/// What a check compares its drive with.
#[test]
fn the_others_of_a_model_are_all_but_itself() {
    let Some(server) = Server::start() else { return };
    let hosts: Vec<Runs> = (0..4).map(|_| Runs::new()).collect();
    for (host, runs) in hosts.iter().enumerate() {
        runs.put(&Run::new(0, &format!("{host:08x}"), 1e8 * (host + 1) as f64));
        report(&server.location(), host, runs).unwrap();
    }
    let own = Archive::new(hosts[2].root());
    let record = Archive::open(&own.folders().unwrap()[0]).unwrap();
    let signature = DriveSignature::of(&record).unwrap();
    let mut history = History::open(&server.location(), own, "host-002").unwrap();
    // Another partition of the same drive is no other drive.
    hosts[2].put(&Run { target: "/dev/sda2".into(), ..Run::new(1, "00000002", 9e8) });
    report(&server.location(), 2, &hosts[2]).unwrap();
    let mut reads = |signature: &DriveSignature, most| -> Vec<f64> {
        let metrics = history.peers_of(signature, most).unwrap();
        let mut reads: Vec<f64> = metrics
            .iter()
            .filter(|metric| metric.name == "sequential_read")
            .map(|metric| metric.value)
            .collect();
        reads.sort_by(f64::total_cmp);
        reads
    };
    assert_eq!(reads(&signature, 100), [1e8, 2e8, 4e8]);
    assert_eq!(reads(&signature, 2).len(), 2);
    let other = DriveSignature { model: Some("another".into()), ..signature.clone() };
    let unknown = DriveSignature { model: None, ..signature };
    assert!(reads(&other, 100).is_empty() && reads(&unknown, 100).is_empty());
}

/// One archive that several programs index, while the server ends their sessions.
#[test]
fn a_session_that_the_server_ends_is_opened_again() {
    let Some(server) = Server::start() else { return };
    let runs = host_runs(0);
    let mut history = History::open(&server.location(), Archive::new(runs.root()), "host-000").unwrap();
    history.update().unwrap();
    let before = everything(&mut history);
    server.end_sessions();
    assert_eq!(everything(&mut history), before);
    runs.put(&Run { target: "/dev/sd0".into(), ..Run::new(DAYS, "00000000", 1e8) });
    server.end_sessions();
    assert_eq!(history.update().unwrap().read, 1);
    assert_eq!(history.count().unwrap(), (DAYS * DRIVES + 1) as i64);
}
