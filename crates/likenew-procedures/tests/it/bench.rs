//! What bench runs and finds, on drives whose speed is known.

use crate::support::{answer, evidence, play, standing, steady};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::Standing;
use likenew_core::io::{Durability, Op};
use likenew_core::procedure::{Procedure as _, Step};
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;

use likenew_procedures::bench::{Bench, BenchOptions};
use likenew_procedures::commits::CommitBy;
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::profile::Profile;

const SPAN: u64 = 64 << 20;

fn options() -> BenchOptions {
    BenchOptions { span: SPAN, passes: 3, ..BenchOptions::default() }
}

fn bench() -> Bench {
    Bench::new(options()).unwrap()
}

fn names(bench: &Bench, writable: bool) -> Vec<String> {
    let mut evidence = evidence(SPAN, writable);
    let mut names = Vec::new();
    while let Step::Run(workload) = bench.next(&evidence).unwrap() {
        names.push(workload.name.clone());
        evidence.segments.push(crate::support::segment(&workload, Nanos::ZERO, &steady(1e8)));
    }
    names
}

#[test]
fn it_prepares_then_reads_then_writes_pass_by_pass() {
    let names = names(&bench(), true);
    assert_eq!(names.len(), 1 + 2 * 4 * 3 + 2 * 3);
    assert_eq!(names[..3], ["prepare", "SEQ1M Q8T1 read 1/3", "SEQ1M Q8T1 read 2/3"]);
    assert_eq!(names[13], "SEQ1M Q8T1 write 1/3");
    assert_eq!(names[24..26], ["RND4K Q1T1 write 3/3", "fdatasync 8K T1 write 1/3"]);
    assert_eq!(names[30], "fdatasync 8K T8 write 3/3");
}

#[test]
fn durable_writes_wait_for_a_flush_each_or_are_durable_when_they_end() {
    let both = vec![CommitBy::Fdatasync, CommitBy::Dsync];
    let bench = Bench::new(BenchOptions { by: both, ops: vec![Mix::Only(Op::Write)], ..options() }).unwrap();
    let findings = play(&bench, evidence(SPAN, true), |_, _| steady(1e8));
    let rows: Vec<(&str, u64)> = findings.tables["commits"]
        .iter()
        .map(|row| (row["by"].as_str().unwrap(), row["writers"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [("dsync", 1), ("dsync", 8)], "the drive of this test flushes nothing: {findings:#?}");
    let table = findings.overview.table.unwrap();
    assert_eq!(table.rows.last().unwrap().cells[0], "O_DSYNC 8K T8 write");
    let plan = DryRun::plan(&bench, &evidence(SPAN, true)).unwrap();
    let commits: Vec<_> = plan.workloads.iter().filter(|workload| workload.name.contains(" 8K ")).collect();
    assert_eq!(commits.len(), 4 * 3);
    assert!(
        commits[..6]
            .iter()
            .all(|commit| commit.streams[0].flush_every == 1 && commit.streams[0].sync.is_none())
    );
    assert!(commits[6..].iter().all(|commit| commit.streams[0].sync == Some(Durability::Data)));
    assert!(commits.iter().all(|commit| commit.bytes_written_max() == Some(5000 * 8192)));
}

#[test]
fn a_target_that_may_only_be_read_is_only_read() {
    assert!(bench().next(&evidence(SPAN, false)).unwrap_err().contains("--op read"));
    let reads = Bench::new(BenchOptions { ops: vec![Mix::Only(Op::Read)], ..options() }).unwrap();
    let names = names(&reads, false);
    assert!(names.len() == 12 && names.iter().all(|name| name.contains("read")), "{names:?}");
}

#[test]
fn rests_and_threads_are_as_asked_for() {
    let bench = Bench::new(BenchOptions {
        profile: Profile::Nvme,
        idle: Nanos::from_secs(2),
        ops: vec!["mix:70".parse().unwrap()],
        ..options()
    })
    .unwrap();
    let mut evidence = evidence(SPAN, true);
    let mut threads = 0;
    while let Step::Run(workload) = bench.next(&evidence).unwrap() {
        threads = threads.max(workload.lanes);
        evidence.segments.push(crate::support::segment(&workload, Nanos::ZERO, &steady(1e8)));
    }
    assert_eq!(threads, 16);
    let idle = evidence.segments.iter().filter(|segment| segment.workload.streams.is_empty()).count();
    assert_eq!(idle, 12);
    assert!(
        evidence
            .segments
            .iter()
            .filter(|s| !s.workload.streams.is_empty())
            .all(|s| s.workload.name != "rest")
    );
}

#[test]
fn the_table_has_the_mean_and_every_pass() {
    // Passes of 100, 110 and 120 MB/s.
    let findings =
        play(&bench(), evidence(SPAN, true), |index, _| steady(100e6 + 10e6 * ((index + 2) % 3) as f64));
    let results = &findings.tables["results"];
    assert_eq!(results.len(), 8);
    assert_eq!((results[0]["test"].as_str(), results[0]["op"].as_str()), (Some("SEQ1M Q8T1"), Some("read")));
    let value = |key: &str| results[0][key].as_f64().unwrap();
    assert!((value("bytes_per_s") - 110e6).abs() < 1e3, "{}", value("bytes_per_s"));
    assert!((value("iops") - 110e6 / f64::from(1 << 20)).abs() < 0.1);
    // t(0.975, 2) = 4.3027, s = 10 MB/s, n = 3.
    let half = 4.3027 * 10e6 / 3f64.sqrt();
    assert!((value("bytes_per_s_high") - value("bytes_per_s") - half).abs() < 1e4);
    let passes = &findings.tables["passes"];
    assert_eq!(passes.len(), 24);
    assert_eq!(passes[2]["pass"], 3);
    assert_eq!(standing(&findings, "repeatability"), Some(Standing::Good));
    assert_eq!(findings.series["bandwidth"].categories.len(), 4);
    assert_eq!(
        findings.summary,
        "Sequential read 110 MB/s, write 110 MB/s; 4K random QD1 read 26,900 IOPS, write 26,900 IOPS."
    );
    let speed = answer(&findings, "speed").estimate.as_ref().unwrap();
    assert!((speed.value - 110e6).abs() < 1e3, "{speed:?}");
    let table = findings.overview.table.unwrap();
    assert_eq!((table.rows.len(), table.rows[0].cells[0].as_str()), (8, "SEQ1M Q8T1 read"));
}

#[test]
fn unsteady_passes_are_called_out_and_one_pass_decides_nothing() {
    let unsteady =
        play(&bench(), evidence(SPAN, true), |index, _| steady(if index == 5 { 40e6 } else { 100e6 }));
    let repeatability = answer(&unsteady, "repeatability");
    assert_eq!((repeatability.standing, repeatability.evidence.len()), (Standing::Unknown, 1));
    assert!(repeatability.answer.contains("1 of 8 tests"), "{}", repeatability.answer);
    assert!(!unsteady.found_problem());
    let once = Bench::new(BenchOptions { passes: 1, ..options() }).unwrap();
    let once = play(&once, evidence(SPAN, true), |_, _| steady(100e6));
    assert_eq!(standing(&once, "repeatability"), Some(Standing::Unknown));
    assert!(answer(&once, "speed").estimate.is_none());
}

#[test]
fn nonsense_settings_are_refused_by_name() {
    for (options, word) in [
        (BenchOptions { passes: 0, ..options() }, "passes"),
        (BenchOptions { span: 1000, ..options() }, "span"),
        (BenchOptions { time: Nanos::ZERO, ..options() }, "time"),
        (BenchOptions { ops: Vec::new(), ..options() }, "op"),
    ] {
        assert!(Bench::new(options).err().unwrap().contains(word));
    }
    assert!(bench().next(&evidence(SPAN / 2, true)).unwrap_err().contains("--span"));
    let unknown = toml::from_str("pases = 3").unwrap();
    assert!(Bench::from_options(&unknown).err().unwrap().contains("pases"));
}

fn precise(passes_max: u32) -> Bench {
    let options = BenchOptions {
        span: 1 << 30,
        precise: Some(PrecisionGoal(0.02)),
        passes_max,
        ..BenchOptions::default()
    };
    Bench::new(options).unwrap()
}

#[test]
fn a_steady_drive_is_known_precisely_after_a_third_of_the_bytes() {
    let (mut short, whole) = (evidence(1 << 30, true), evidence(1 << 30, true));
    let usual = Bench::new(BenchOptions::default()).unwrap();
    let usual = DryRun::plan(&usual, &whole).unwrap();
    let scatter = |pass: usize| 1.0 + 0.01 * ((pass * 7919 % 101) as f64 / 101.0 - 0.5);
    let bench = precise(50);
    while let Step::Run(workload) = bench.next(&short).unwrap() {
        assert_eq!(workload.check(&short.geometry), Ok(()));
        let at = steady(1e8 * scatter(short.segments.len()));
        short.segments.push(crate::support::segment(&workload, Nanos::ZERO, &at));
    }
    let moved: u64 = short.segments.iter().map(|segment| segment.total().bytes).sum();
    let all: u64 = usual.workloads.iter().filter_map(|workload| workload.until.bytes).sum();
    assert!(moved <= all / 3, "{moved} of {all} bytes");
    let findings = bench.judge(&short);
    assert_eq!(standing(&findings, "precision"), Some(Standing::Good));
    assert!(answer(&findings, "precision").answer.contains("±2%"));
    assert_eq!(standing(&findings, "coverage"), None, "its passes are pieces of it");
    for row in &findings.tables["results"] {
        let [low, mean, high] =
            ["bytes_per_s_low", "bytes_per_s", "bytes_per_s_high"].map(|key| row[key].as_f64().unwrap());
        assert!(low <= 1e8 && 1e8 <= high && (high - low) / 2.0 <= 0.02 * mean, "{row:?}");
    }
}

#[test]
fn a_drive_that_wavers_is_given_up_and_named() {
    let wavers = |index: usize| steady([4e7, 1e8, 2e8][index % 3]);
    let findings = play(&precise(12), evidence(1 << 30, true), |index, _| wavers(index));
    assert_eq!(standing(&findings, "precision"), Some(Standing::Unknown));
    assert_eq!(findings.tables["passes"].len(), 8 * 12);
    let precision = answer(&findings, "precision");
    assert!(
        precision.evidence.len() == 8 && precision.evidence[0].contains("after 12 passes"),
        "{precision:?}"
    );
    let refused =
        BenchOptions { precise: Some(PrecisionGoal(0.02)), passes_max: 2, ..BenchOptions::default() };
    assert!(Bench::new(refused).err().unwrap().contains("passes_max"));
}

#[test]
fn short_passes_go_through_the_span_piece_by_piece() {
    let (bench, mut evidence) = (precise(50), evidence(1 << 30, true));
    let mut starts = Vec::new();
    while let Step::Run(workload) = bench.next(&evidence).unwrap() {
        if workload.name.starts_with("SEQ1M Q1T1 write") {
            starts.push(workload.streams[0].pattern.region().resolve(1 << 30, 512).unwrap().start);
        }
        evidence.segments.push(crate::support::segment(&workload, Nanos::ZERO, &steady(1e8)));
    }
    assert_eq!(starts[..3], [0, 64 << 20, 128 << 20]);
}

#[test]
fn a_pass_that_the_time_limit_cut_short_is_named() {
    let slow = Bench::new(BenchOptions { time: Nanos::from_millis(160), ..options() }).unwrap();
    let mut evidence = evidence(SPAN, true);
    while let Step::Run(workload) = slow.next(&evidence).unwrap() {
        let speed = if workload.name.starts_with("SEQ1M Q1T1 write") { 1e8 } else { 1e9 };
        evidence.segments.push(crate::support::segment(&workload, Nanos::ZERO, &steady(speed)));
    }
    let findings = slow.judge(&evidence);
    let coverage = answer(&findings, "coverage");
    assert_eq!(coverage.standing, Standing::Unknown);
    assert!(
        coverage.answer.contains("1 of 4 sequential tests") && coverage.answer.contains("25%"),
        "{coverage:?}"
    );
}

#[test]
fn one_pass_can_be_repeated_with_a_command() {
    let once = Bench::new(BenchOptions { passes: 1, ops: vec![Mix::Only(Op::Read)], ..options() }).unwrap();
    let mut evidence = evidence(SPAN, true);
    evidence.plan.procedure = "bench".into();
    evidence.plan.target = Some("/media/My Disk".into());
    let findings = play(&once, evidence, |_, _| steady(100e6));
    let command = answer(&findings, "repeatability").actions[0].command.clone().unwrap();
    assert_eq!(command, "likenew bench '/media/My Disk' --op read --span 64MiB --passes 5");
}
