//! fio runs exported jobs on a file, and does the same as likenew's own loop with the same workloads: as many
//! I/Os, of the same lengths and operations, at the same addresses. Counts are compared, never times.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use likenew_core::drive::Drive as _;
use likenew_core::io::{Op, Sample};
use likenew_core::memory::Memory;
use likenew_core::segment::{Recorder, Stop};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_fio::{Import, export, import};

const CAPACITY: usize = 16 << 20;

/// One I/O: operation, offset, length.
type Io = (Op, u64, u32);

/// Every I/O of a lane.
struct Keep(Arc<Mutex<Vec<Io>>>);

impl Recorder for Keep {
    fn record(&mut self, samples: &[Sample]) -> std::ops::ControlFlow<Stop> {
        let ios = samples.iter().map(|sample| (sample.op, sample.offset, sample.length));
        self.0.lock().unwrap().extend(ios);
        std::ops::ControlFlow::Continue(())
    }
}

fn geometry() -> Geometry {
    Memory::new(CAPACITY, Nanos(1), 1).geometry()
}

fn ours(workload: &Workload) -> Vec<Io> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut drive = Memory::new(CAPACITY, Nanos::from_micros(10), 4);
    likenew_run::run::run(&mut drive, workload, &mut || Box::new(Keep(kept.clone()))).unwrap();
    let kept = kept.lock().unwrap();
    kept.clone()
}

/// The I/Os of fio for each workload, from its latency logs, and its report.
fn fios(folder: &Path, workloads: &[Workload]) -> (Vec<Vec<Io>>, Import) {
    let file = folder.join("drive.bin");
    let jobs = export(workloads, &geometry(), file.to_str().unwrap(), &["a test".into()]).unwrap();
    let logs = format!("[global]\nlog_offset=1\nwrite_lat_log={}\n", folder.join("log").display());
    std::fs::write(folder.join("jobs.fio"), jobs.replacen("[global]\n", &logs, 1)).unwrap();
    let mut fio = Command::new("fio");
    fio.current_dir(folder).args(["--output-format=json+", "jobs.fio"]);
    let out = fio.output().expect("fio is installed: make test does that");
    let message = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && message.is_empty(), "{message}");
    let report = import(std::str::from_utf8(&out.stdout).unwrap()).unwrap();
    let mut number = 0;
    let done = workloads.iter().map(|workload| {
        let threads = workload.lanes as usize * workload.streams.len().max(1);
        number += threads;
        let logs = (number - threads + 1..=number).map(|number| folder.join(format!("log_lat.{number}.log")));
        logs.flat_map(|log| read_log(&log)).collect()
    });
    (done.collect(), report)
}

/// Lines of `time, latency, direction, length, offset, …`.
fn read_log(path: &PathBuf) -> Vec<Io> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let line = |line: &str| {
        let fields: Vec<u64> = line.split(", ").map(|field| field.trim().parse().unwrap_or(0)).collect();
        (Op::ALL[fields[2] as usize], fields[4], fields[3] as u32)
    };
    text.lines().map(line).collect()
}

fn workloads(text: &str) -> Vec<Workload> {
    let table: BTreeMap<String, Vec<Workload>> = toml::from_str(text).unwrap();
    table.into_values().next().unwrap()
}

fn count(ios: &[Io], what: impl Fn(&Io) -> bool) -> f64 {
    ios.iter().filter(|io| what(io)).count() as f64
}

fn bytes(ios: &[Io]) -> u64 {
    ios.iter().map(|io| u64::from(io.2)).sum()
}

/// Both shares are those of draws with the same probability: five standard errors of their difference are allowed.
#[track_caller]
fn shares_agree(mine: &[Io], theirs: &[Io], expected: f64, what: impl Fn(&Io) -> bool) {
    for ios in [mine, theirs] {
        let share = count(ios, &what) / ios.len() as f64;
        let error = (expected * (1.0 - expected) / ios.len() as f64).sqrt();
        assert!((share - expected).abs() < 5.0 * error, "{share} for {expected} ± {error}");
    }
}

/// The zone used, as first byte and end.
fn zone(ios: &[Io]) -> (u64, u64) {
    let start = ios.iter().map(|io| io.1).min().unwrap();
    (start, ios.iter().map(|io| io.1 + u64::from(io.2)).max().unwrap())
}

const EXACT: &str = r#"
[[w]]
name = "prepare"
until = { bytes = "16MiB" }
[[w.stream]]
op = "write"
size = "1MiB"
pattern.sequential = "whole"
arrival.closed.depth = 8

[[w]]
name = "lanes #1; odd [name]"
lanes = 4
until = { bytes = "32MiB" }
[[w.stream]]
op = "read"
size = "128KiB"
pattern.sequential = "whole"
arrival.closed.depth = 2

[[w]]
name = "zone twice"
seed = 7
until = { ops = 48 }
[[w.stream]]
op = "read"
size = "64KiB"
pattern.sequential = "4MiB..6MiB"
arrival.closed.depth = 3

[[w]]
name = "by amount"
until = { bytes = "100000" }
[[w.stream]]
op = "write"
size = "4KiB"
pattern.sequential = "1MiB..2MiB"
arrival.closed.depth = 1
data = "zero"
"#;

#[test]
fn sequential_jobs_do_exactly_the_same_ios() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workloads = workloads(EXACT);
    let (done, report) = fios(folder.path(), &workloads);
    for ((workload, theirs), segment) in workloads.iter().zip(&done).zip(&report.segments) {
        let mine = ours(workload);
        let sorted = |ios: &[Io]| {
            let mut ios = ios.to_vec();
            ios.sort_by_key(|io| (io.1, io.2, io.0));
            ios
        };
        assert_eq!(sorted(&mine), sorted(theirs), "{}", workload.name);
        assert_eq!(segment.workload.name, workload.name);
        let (total, name) = (segment.total(), &workload.name);
        assert_eq!((total.ios, total.bytes), (mine.len() as u64, bytes(&mine)), "{name}");
        assert_eq!(total.latency.count(), total.ios, "{name}");
        assert_eq!(segment.workload.streams[0].op, workload.streams[0].op);
        assert_eq!(segment.workload.lanes, workload.lanes);
        let resolve =
            |workload: &Workload| workload.streams[0].pattern.region().resolve(CAPACITY as u64, 512);
        assert_eq!(resolve(&segment.workload), resolve(workload), "{name}");
    }
}

const RANDOM: &str = r#"
[[w]]
name = "mix"
seed = 1
until = { ops = 4000 }
[[w.stream]]
op = "mix:70"
size = "4KiB"
pattern.random = "4MiB..8MiB"
arrival.closed.depth = 8

[[w]]
name = "lengths"
seed = 2
until = { ops = 4000 }
[[w.stream]]
op = "read"
size = "4KiB:3,64KiB:1"
pattern.random = "whole"
arrival.closed.depth = 4

[[w]]
name = "popular"
seed = 3
until = { ops = 5000 }
[[w.stream]]
op = "read"
size = "4KiB"
pattern.zipf = { region = "0..4000KiB", theta = 1.2 }
arrival.closed.depth = 4

[[w]]
name = "paced"
seed = 4
until = { ops = 200 }
[[w.stream]]
op = "write"
size = "4KiB"
pattern.random = "8MiB..16MiB"
arrival.open = { per_second = 2000.0, inter_arrival = "poisson", depth_max = 8 }
"#;

#[test]
fn random_jobs_draw_from_the_same_laws() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workloads = workloads(RANDOM);
    let (done, report) = fios(folder.path(), &workloads);
    let ours: Vec<Vec<Io>> = workloads.iter().map(ours).collect();
    for ((mine, theirs), segment) in ours.iter().zip(&done).zip(&report.segments) {
        assert_eq!(mine.len(), theirs.len(), "{}", segment.workload.name);
        assert_eq!(segment.total().ios, mine.len() as u64);
        assert_eq!(segment.total().bytes, bytes(theirs));
    }
    shares_agree(&ours[0], &done[0], 0.7, |io| io.0 == Op::Read);
    assert_eq!((zone(&ours[0]), zone(&done[0])), ((4 << 20, 8 << 20), (4 << 20, 8 << 20)));
    // Of 1024 places 4000 draws leave out 1024·e^(−4000/1024) = 21; a walk that repeats itself would leave out far more.
    let places = |ios: &[Io]| ios.iter().map(|io| io.1).collect::<BTreeSet<u64>>().len();
    assert!(places(&ours[0]) > 980 && places(&done[0]) > 980, "{} {}", places(&ours[0]), places(&done[0]));
    shares_agree(&ours[1], &done[1], 0.75, |io| io.2 == 4096);
    assert!([&ours[1], &done[1]].iter().all(|ios| ios.iter().all(|io| io.2 == 4096 || io.2 == 65536)));
    for ios in [&ours[2], &done[2]] {
        let mut popular = BTreeMap::<u64, f64>::new();
        ios.iter().for_each(|io| *popular.entry(io.1).or_default() += 1.0);
        let most = popular.values().copied().fold(0.0, f64::max) / ios.len() as f64;
        // 1 / Σ k^−1.2 over 1000 places is 0.2305.
        assert!((most - 0.2305).abs() < 0.03, "{most}");
        assert!(zone(ios).1 <= 4000 << 10);
    }
    assert!(zone(&done[3]).0 >= 8 << 20 && done[3].iter().all(|io| io.0 == Op::Write));
}

const TOGETHER: &str = r#"
[[w]]
name = "data"
seed = 5
until = { bytes = "16MiB" }
[[w.stream]]
op = "write"
size = "64KiB"
pattern.sequential = "whole"
arrival.closed.depth = 4
data = "0.5"

[[w]]
name = "rest"
until = { elapsed = "60ms" }

[[w]]
name = "together"
lanes = 2
until = { elapsed = "60ms" }
[[w.stream]]
op = "read"
size = "128KiB"
pattern.sequential = "8MiB..16MiB"
arrival.closed.depth = 2
[[w.stream]]
op = "read"
size = "4KiB"
pattern.random = "0..4MiB"
arrival.closed.depth = 1
"#;

#[test]
fn rests_streams_and_data_come_out_as_meant() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workloads = workloads(TOGETHER);
    let (done, report) = fios(folder.path(), &workloads);
    let [data, rest, together] = &report.segments[..] else { panic!("{:?}", report.segments.len()) };
    assert_eq!(data.bytes(Op::Write), CAPACITY as u64);
    let blank = std::fs::read(folder.path().join("drive.bin")).unwrap();
    let blank: Vec<f64> = blank
        .chunks(512)
        .map(|sector| sector.iter().filter(|byte| **byte == 0).count() as f64 / 512.0)
        .collect();
    let mean = blank.iter().sum::<f64>() / blank.len() as f64;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
    assert!(blank.iter().all(|share| (share - 0.5).abs() < 0.2), "every sector compresses");
    assert!(rest.workload.streams.is_empty() && rest.tallies.is_empty());
    assert!(rest.elapsed() >= Nanos::from_millis(60), "{}", rest.elapsed());
    assert_eq!(together.started_at, rest.ended_at);
    assert_eq!((together.workload.streams.len(), together.workload.lanes, together.tallies.len()), (2, 2, 2));
    let (large, small): (Vec<Io>, Vec<Io>) = done[2].iter().partition(|io| io.2 == 128 << 10);
    assert_eq!(together.tallies[0].ios + together.tallies[1].ios, done[2].len() as u64);
    assert!(zone(&large).0 == 8 << 20 && zone(&large).1 <= 16 << 20, "{:?}", zone(&large));
    assert!(zone(&small).1 <= 4 << 20 && small.iter().all(|io| io.2 == 4096));
    let starts: BTreeSet<bool> = large.iter().map(|io| io.1 >= 12 << 20).collect();
    assert_eq!(starts.len(), 2, "each copy has a half of the zone to itself");
}

const DURABLE: &str = r#"
[[w]]
name = "both"
until = { ops = 64 }
[[w.stream]]
op = "write"
size = "4KiB"
pattern.sequential = "1MiB..2MiB"
arrival.closed.depth = 1
flush_every = 4
fsync_every = 6
sync = "dsync"

[[w]]
name = "every write"
until = { ops = 32 }
[[w.stream]]
op = "write"
size = "8KiB"
pattern.random = "0..4MiB"
arrival.closed.depth = 1
fsync_every = 1
sync = "sync"
"#;

/// What fio reports of a job that was exported reads back as the same stream, with as many flushes.
#[test]
fn fio_makes_writes_durable_as_the_workload_does() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workloads = workloads(DURABLE);
    let (_, report) = fios(folder.path(), &workloads);
    for (workload, segment) in workloads.iter().zip(&report.segments) {
        let (mine, theirs) = (&workload.streams[0], &segment.workload.streams[0]);
        assert_eq!(
            (mine.flush_every, mine.fsync_every, mine.sync),
            (theirs.flush_every, theirs.fsync_every, theirs.sync)
        );
        let flushes = count(&ours(workload), |io| io.0 == Op::Flush) as u64;
        assert_eq!(segment.ios(Op::Flush), flushes, "{}", workload.name);
    }
}
