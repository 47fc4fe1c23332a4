//! Workloads and answers of SNIA's tests on drives with a known progress.

use crate::support::{evidence, play, steady};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::units::Nanos;
use likenew_core::workload::{Mix, Workload};
use likenew_procedures::endure::snia::SniaOptions;
use likenew_procedures::endure::{Endure, EndureOptions};

/// The answer with this id.
fn answer<'a>(findings: &'a Findings, id: &str) -> &'a Answer {
    let found = findings.answers.iter().find(|answer| answer.id == id);
    found.unwrap_or_else(|| panic!("no answer \"{id}\" in {:#?}", findings.answers))
}

/// The standing of the answer with this id, if its text contains `words`.
fn standing(findings: &Findings, id: &str, words: &str) -> Option<Standing> {
    let mut answers = findings.answers.iter().filter(|answer| answer.id == id);
    answers.find(|answer| answer.answer.contains(words)).map(|answer| answer.standing)
}

const SPAN: u64 = 64 << 20;

fn options() -> SniaOptions {
    SniaOptions { round: Nanos::from_millis(20), ..SniaOptions::default() }
}

/// The number of the round, from 1; 0 for a preparation.
fn round(workload: &Workload) -> u64 {
    workload.name.strip_prefix("round ").map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap())
}

/// The final evidence and its findings.
fn run(endure: &Endure, speed: impl Fn(&Workload) -> f64) -> (Evidence, Findings) {
    let evidence =
        crate::support::run_procedure(endure, evidence(SPAN, true), |_, workload| steady(speed(workload)));
    let findings = endure.judge(&evidence);
    (evidence, findings)
}

fn names(evidence: &Evidence) -> Vec<&str> {
    evidence.segments.iter().map(|segment| segment.workload.name.as_str()).collect()
}

#[test]
fn the_iops_test_prepares_and_ends_with_the_first_steady_window() {
    let endure = Endure::new(EndureOptions::SniaIops(options())).unwrap();
    // The first three rounds fall, so the window of rounds 4 to 8 is the first one without them.
    let speed = |workload: &Workload| if (1..4).contains(&round(workload)) { 160e6 } else { 100e6 };
    let (evidence, findings) = run(&endure, speed);
    let names = names(&evidence);
    assert_eq!(names[..3], ["prepare 1/2", "prepare 2/2", "round 1 RND1M Q32T4 read"]);
    assert_eq!(names[names.len() - 1], "round 8 RND512 Q32T4 write");
    assert_eq!(names.len(), 2 + 8 * 56);
    let prepared: u64 = evidence.segments[..2].iter().map(|segment| segment.bytes(Op::Write)).sum();
    assert_eq!(prepared, 2 * SPAN);
    assert!(evidence.segments[..2].iter().all(|s| s.workload.streams[0].size.max() == 128 << 10));
    assert_eq!(standing(&findings, "steady_state", "reached after 8 rounds"), Some(Standing::Good));
    let windows = &findings.tables["windows"];
    assert_eq!(windows.len(), 3);
    assert!(windows.iter().all(|window| window["is_steady"] == true && window["rounds"] == 8));
    let results = &findings.tables["results"];
    let of = |reads: u64, block: u64| {
        results.iter().find(|row| row["read_percent"] == reads && row["block_bytes"] == block).unwrap()
    };
    assert_eq!(results.len(), 56);
    assert!((of(0, 4096)["iops"].as_f64().unwrap() / (100e6 / 4096.0) - 1.0).abs() < 0.01);
    assert_eq!(of(65, 65_536)["is_steady"], true);
    assert_eq!(findings.series["iops"].lines.len(), 7);
    assert_eq!(findings.tables["rounds"].len(), 8 * 56);
}

#[test]
fn a_variable_that_does_not_settle_ends_after_25_rounds_and_is_flagged() {
    let endure = Endure::new(EndureOptions::SniaIops(options())).unwrap();
    // Only the mixed one of the three variables varies.
    let speed = |workload: &Workload| {
        if workload.name.contains("RND64K Q32T4 mix:65") && round(workload).is_multiple_of(2) {
            130e6
        } else {
            100e6
        }
    };
    let (evidence, findings) = run(&endure, speed);
    assert_eq!(evidence.segments.len(), 2 + 25 * 56);
    assert_eq!(standing(&findings, "steady_state", "not reached"), Some(Standing::Info));
    let result = answer(&findings, "result");
    assert_eq!(result.standing, Standing::Unknown, "rounds of 20 ms decide nothing");
    assert_eq!(result.actions[0].id, "full_rounds");
    assert!(findings.summary.starts_with("No steady state after 25 rounds"), "{}", findings.summary);
    let windows = &findings.tables["windows"];
    let steady: Vec<bool> = windows.iter().map(|window| window["is_steady"].as_bool().unwrap()).collect();
    assert_eq!(steady, [true, false, true]);
    assert!(findings.tables["results"].iter().all(|row| row["is_steady"] == false));
}

#[test]
fn throughput_prepares_before_each_block() {
    let endure = Endure::new(EndureOptions::SniaThroughput(options())).unwrap();
    let (evidence, findings) = run(&endure, |_| 200e6);
    let names = names(&evidence);
    assert_eq!(names.len(), 2 * (2 + 5 * 2));
    assert_eq!(names[2..4], ["round 1 SEQ128K Q32T4 read", "round 1 SEQ128K Q32T4 write"]);
    assert_eq!(names[12..15], ["prepare 1/2", "prepare 2/2", "round 1 SEQ1M Q32T4 read"]);
    assert_eq!(evidence.segments[12].workload.streams[0].size.max(), 1 << 20);
    let phases = findings.answers.iter().filter(|answer| answer.id == "steady_state");
    assert!(
        phases
            .clone()
            .all(|phase| phase.standing == Standing::Good && phase.answer == "reached after 5 rounds")
    );
    assert_eq!(phases.map(|phase| phase.question.as_str()).collect::<Vec<_>>().len(), 2);
    assert_eq!(findings.tables["results"].len(), 4);
}

#[test]
fn latency_is_measured_one_at_a_time() {
    let endure = Endure::new(EndureOptions::SniaLatency(options())).unwrap();
    // 4 KiB in 100 µs.
    let (evidence, findings) = run(&endure, |_| 40.96e6);
    assert_eq!(evidence.segments.len(), 2 + 5 * 9);
    assert_eq!(evidence.segments[2].workload.name, "round 1 RND8K Q1T1 read");
    let results = &findings.tables["results"];
    let write = results.iter().find(|row| row["read_percent"] == 0 && row["block_bytes"] == 4096).unwrap();
    assert!((write["latency_ns_mean"].as_f64().unwrap() - 1e5).abs() < 1e3);
    assert!(write["latency_ns_p99999"].is_null(), "a thousand I/Os do not show one in a hundred thousand");
    assert_eq!(findings.tables["windows"][0]["metric"], "latency_ns_mean");
}

#[test]
fn write_saturation_ends_when_the_span_was_written_four_times() {
    let endure = Endure::new(EndureOptions::SniaWsat(options())).unwrap();
    // 4 × 64 MiB at 400 and then 200 MB/s, 20 ms a round: about 50 rounds.
    let speed = |workload: &Workload| if round(workload) < 20 { 400e6 } else { 200e6 };
    let (evidence, findings) = run(&endure, speed);
    assert!(evidence.segments.iter().all(|s| s.workload.streams[0].op == Mix::Only(Op::Write)));
    let written: u64 = evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
    assert!((4 * SPAN..4 * SPAN + (8 << 20)).contains(&written), "{written}");
    assert_eq!(findings.tables["knees"].len(), 1);
    let level = &findings.tables["levels"][0];
    assert!((level["steady_bytes_per_s"].as_f64().unwrap() / 200e6 - 1.0).abs() < 0.01, "{level:?}");
    assert_eq!(standing(&findings, "write_steady_share", "50% of peak"), Some(Standing::Info));
    assert_eq!(standing(&findings, "write_steady_state", ""), Some(Standing::Good));
}

#[test]
fn a_level_that_is_held_from_the_first_minute_ends_the_saturation_after_five_samples() {
    let short = SniaOptions { round: Nanos::from_millis(1), ..options() };
    let endure = Endure::new(EndureOptions::SniaWsat(short)).unwrap();
    let (evidence, findings) = run(&endure, |_| 20.48e6);
    assert_eq!(evidence.segments.len(), 5 * 31);
    assert_eq!(standing(&findings, "write_steady_state", ""), Some(Standing::Good));
}

#[test]
fn deviations_from_the_specification_are_reported() {
    let endure = Endure::new(EndureOptions::SniaLatency(options())).unwrap();
    let findings = play(&endure, evidence(SPAN, true), |_, _| steady(1e8));
    let caveats = &findings.answers[0].caveats;
    assert!(caveats.iter().any(|caveat| caveat.contains("20ms") && caveat.contains("60s")), "{caveats:?}");
    let half = SniaOptions { span: Some(SPAN / 2), round: Nanos::from_secs(60), ..options() };
    let endure = Endure::new(EndureOptions::SniaLatency(half)).unwrap();
    let mut evidence = evidence(SPAN, true);
    for _ in 0..2 {
        let Step::Run(workload) = endure.next(&evidence).unwrap() else { panic!() };
        evidence.segments.push(crate::support::segment(&workload, Nanos::ZERO, &steady(1e8)));
    }
    let findings = endure.judge(&evidence);
    assert!(
        findings.answers[0].caveats.iter().any(|caveat| caveat.contains("50% of the drive")),
        "{findings:?}"
    );
    assert_eq!(standing(&findings, "steady_state", ""), Some(Standing::Unknown));
}

#[test]
fn what_is_reported_beforehand_is_the_most_it_can_come_to() {
    let rehearsed = |options| {
        let endure = Endure::new(options).unwrap();
        DryRun::plan(&endure, &evidence(SPAN, true)).unwrap()
    };
    let iops = rehearsed(EndureOptions::SniaIops(options()));
    assert_eq!((iops.workloads.len(), iops.is_finite), (2 + 25 * 56, true));
    let saturation = rehearsed(EndureOptions::SniaWsat(options()));
    assert!(saturation.is_finite && saturation.bytes_written >= 4 * SPAN, "{}", saturation.bytes_written);
}

#[test]
fn nonsense_settings_are_refused_by_name() {
    for (options, word) in [
        (SniaOptions { round: Nanos::ZERO, ..options() }, "round"),
        (SniaOptions { rounds: Some(0), ..options() }, "rounds"),
        (SniaOptions { depth: 0, ..options() }, "depth"),
        (SniaOptions { threads: 10_000, ..options() }, "threads"),
        (SniaOptions { span: Some(4096), ..options() }, "span"),
    ] {
        assert!(Endure::new(EndureOptions::SniaIops(options)).err().unwrap().contains(word), "{word}");
    }
    let large = SniaOptions { span: Some(2 * SPAN), ..options() };
    let endure = Endure::new(EndureOptions::SniaWsat(large)).unwrap();
    assert!(endure.next(&evidence(SPAN, true)).unwrap_err().contains("--span"));
}
