//! Workloads and answers of endure on drives with a known progress.

use crate::support::{SpeedPattern, evidence, play, steady};
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::segment::Stop;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Workload};
use likenew_procedures::endure::loop_test::LoopOptions;
use likenew_procedures::endure::{Endure, EndureOptions};
use likenew_procedures::profile::Profile;

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

const FILE_SIZE: u64 = 8 << 20;
const PLACES: u64 = 32;
const SPAN: u64 = PLACES * FILE_SIZE;
/// A file, two reads, two writes, and the deletion.
const PARTS: usize = 6;

fn options() -> LoopOptions {
    LoopOptions { profile: Profile::Real, file_size: FILE_SIZE, trim: true, ..LoopOptions::default() }
}

fn loop_test(options: LoopOptions) -> Endure {
    Endure::new(EndureOptions::Loop(options)).unwrap()
}

/// The number of the loop that a workload belongs to, from 1.
fn turn(workload: &Workload) -> u64 {
    workload.name.split(' ').nth(1).unwrap().parse().unwrap()
}

fn writes(workload: &Workload) -> bool {
    workload.streams[0].op == Mix::Only(Op::Write)
}

/// Reads at 250 MB/s, writes at `speed` of the number of the loop.
fn course(speed: impl Fn(u64) -> f64) -> impl Fn(usize, &Workload) -> SpeedPattern {
    move |_, workload| steady(if writes(workload) { speed(turn(workload)) } else { 250e6 })
}

fn played(options: LoopOptions, speed: impl Fn(u64) -> f64) -> Findings {
    play(&loop_test(options), evidence(SPAN, true), course(speed))
}

fn level<'a>(findings: &'a Findings, test: &str, op: &str) -> &'a likenew_core::findings::Row {
    let mut rows = findings.tables["levels"].iter();
    rows.find(|row| row["test"] == test && row["op"] == op).unwrap()
}

/// The first `count` workloads, on a drive without latency.
fn first(endure: &Endure, mut evidence: Evidence, count: usize) -> Vec<Workload> {
    while evidence.segments.len() < count {
        let Step::Run(workload) = endure.next(&evidence).unwrap() else { break };
        evidence.segments.push(crate::support::segment(&workload, Nanos::ZERO, &steady(1e9)));
    }
    evidence.segments.into_iter().map(|segment| segment.workload).collect()
}

#[test]
fn a_loop_makes_a_file_tests_it_deletes_it_and_goes_on_behind_it() {
    let workloads = first(&loop_test(options()), evidence(SPAN + 4096, true), PARTS * (PLACES as usize + 1));
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(
        names[..PARTS],
        [
            "loop 1 file",
            "loop 1 SEQ1M Q1T1 read",
            "loop 1 RND4K Q1T1 read",
            "loop 1 SEQ1M Q1T1 write",
            "loop 1 RND4K Q1T1 write",
            "loop 1 delete"
        ]
    );
    let range = |index: usize| {
        let stream = &workloads[index].streams[0];
        let (AccessPattern::Sequential(region) | AccessPattern::Random(region)) = stream.pattern else {
            panic!()
        };
        region.resolve(SPAN, 512).unwrap()
    };
    assert!((0..PARTS).all(|part| range(part) == (0..FILE_SIZE)));
    assert_eq!(range(PARTS), FILE_SIZE..2 * FILE_SIZE);
    assert_eq!(range(PARTS * PLACES as usize), 0..FILE_SIZE, "after the last place comes the first one");
    assert_eq!(workloads[5].streams[0].op, Mix::Only(Op::Trim));
    let mut seeds: Vec<u64> = workloads.iter().map(|workload| workload.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), workloads.len(), "a repeated seed would write the same places");
}

#[test]
fn it_ends_with_the_loop_that_has_written_enough() {
    let written = |options: LoopOptions| {
        let endure = loop_test(options);
        let all = first(&endure, evidence(SPAN, true), 100_000);
        assert!(all.len().is_multiple_of(PARTS));
        let writes = all.iter().filter(|workload| writes(workload));
        writes.map(|workload| workload.until.bytes.unwrap()).sum::<u64>() as f64 / SPAN as f64
    };
    // A loop of this profile writes 6.4 files, so that 7 + 6 fills show a steady state.
    assert!((13.0..13.3).contains(&written(options())));
    assert!((2.5..2.8).contains(&written(LoopOptions { fills: Some(2.5), ..options() })));
    assert!((1.0..1.3).contains(&written(LoopOptions { bytes: Some(SPAN), ..options() })));
    for (profile, fills) in [
        (Profile::Of2009, 15.0),
        (Profile::Peak, 13.0),
        (Profile::Real, 13.0),
        (Profile::Default, 18.0),
        (Profile::Nvme, 18.0),
    ] {
        assert_eq!(LoopOptions { profile, ..LoopOptions::default() }.default_fills(), fills, "{profile:?}");
        let reads = LoopOptions { profile, ops: vec![Mix::Only(Op::Read)], ..LoopOptions::default() };
        assert_eq!(reads.default_fills(), 7.0, "{profile:?}");
    }
}

#[test]
fn without_trim_nothing_is_deleted_and_a_target_without_it_is_no_mistake() {
    let off = loop_test(LoopOptions { trim: false, ..options() });
    let workloads = first(&off, evidence(SPAN, true), 12);
    assert!(workloads.iter().all(|workload| !workload.name.contains("delete")));
    let mut untrimmed = evidence(SPAN, true);
    untrimmed.geometry.trims = false;
    let short = LoopOptions { fills: Some(0.5), ..options() };
    let findings = play(&loop_test(short), untrimmed, course(|_| 1e8));
    assert!(findings.answers[0].caveats.iter().any(|caveat| caveat.contains("ignores TRIM")), "{findings:?}");
}

#[test]
fn a_long_file_is_deleted_in_pieces_that_divide_it() {
    for (file_size, piece) in [(1000 << 20, 1000 << 20), (3000 << 20, 1000 << 20), (131 * FILE_SIZE, 8 << 20)]
    {
        let workloads = first(
            &loop_test(LoopOptions { file_size, ops: vec![Mix::Only(Op::Write)], ..options() }),
            evidence(file_size, true),
            4,
        );
        assert_eq!(workloads[3].streams[0].size.max(), piece);
        assert_eq!(workloads[3].until.bytes, Some(file_size));
    }
}

#[test]
fn a_knee_is_found_where_it_is_and_the_level_after_it_is_steady() {
    let findings = played(options(), |turn| if turn < 30 { 200e6 } else { 80e6 });
    let knees: Vec<_> = findings.tables["knees"].iter().filter(|knee| knee["test"] == "RND4K Q1T1").collect();
    assert_eq!(knees.len(), 1, "{knees:?}");
    let loops = &findings.tables["loops"];
    let before =
        loops.iter().find(|row| row["loop"] == 30 && row["test"] == "SEQ1M Q1T1" && row["op"] == "write");
    assert_eq!(
        knees[0]["at_bytes"],
        before.unwrap()["written_bytes"],
        "the test before it was the last of the old level"
    );
    assert_eq!((knees[0]["op"].as_str(), knees[0]["data"].as_str()), (Some("write"), Some("random")));
    let near =
        |value: &serde_json::Value, expected: f64| (value.as_f64().unwrap() / expected - 1.0).abs() < 0.01;
    assert!(near(&knees[0]["before_bytes_per_s"], 200e6) && near(&knees[0]["after_bytes_per_s"], 80e6));
    let level = level(&findings, "SEQ1M Q1T1", "write");
    assert!(near(&level["peak_bytes_per_s"], 200e6) && near(&level["steady_bytes_per_s"], 80e6));
    assert!(near(&level["share_of_peak_percent"], 40.0) && level["is_steady"] == true);
    assert!(level["steady_from_bytes"].as_u64().unwrap() >= 6 * SPAN, "{level:?}");
    assert_eq!(standing(&findings, "write_steady_share", "40% of peak"), Some(Standing::Info));
    assert_eq!(
        standing(&findings, "write_knees", "fall from 200 to 80.0 MB/s (40% of peak)"),
        Some(Standing::Info)
    );
    assert_eq!(standing(&findings, "write_steady_state", "reached after"), Some(Standing::Good));
    assert_eq!(standing(&findings, "read_knees", ""), Some(Standing::Good));
    assert!(!findings.found_problem(), "writes that settle below their best are how flash works");
    assert_eq!(findings.series["RND4K Q1T1"].marks.len(), 1);
}

#[test]
fn a_drive_that_does_not_change_has_no_knee() {
    let findings = played(options(), |_| 200e6);
    assert!(findings.tables["knees"].is_empty());
    assert_eq!(standing(&findings, "write_knees", ""), Some(Standing::Good));
    assert_eq!(standing(&findings, "write_steady_share", "100% of peak"), Some(Standing::Info));
}

#[test]
fn too_few_loops_decide_nothing() {
    let findings = played(LoopOptions { fills: Some(0.5), ..options() }, |_| 200e6);
    assert_eq!(standing(&findings, "write_knees", ""), Some(Standing::Unknown));
    assert_eq!(standing(&findings, "write_steady_state", ""), Some(Standing::Unknown));
    assert_eq!(level(&findings, "file", "write")["steady_bytes_per_s"], serde_json::Value::Null);
    // Four fills are steady, but a part of the span was never written: that looks the same on a fresh drive.
    let findings = played(LoopOptions { fills: Some(6.0), ..options() }, |_| 200e6);
    assert_eq!(standing(&findings, "write_knees", "no write cliff"), Some(Standing::Info));
    assert_eq!(standing(&findings, "write_steady_state", ""), Some(Standing::Unknown));
}

#[test]
fn what_falls_to_the_end_is_not_steady_and_flagged() {
    let findings = played(options(), |turn| 200e6 * 0.98f64.powi(turn as i32));
    assert_eq!(standing(&findings, "write_steady_state", "not reached"), Some(Standing::Info));
    let level = level(&findings, "SEQ1M Q1T1", "write");
    assert!(level["steady_bytes_per_s"].is_null() && level["is_steady"] == false);
    assert!(level["last_bytes_per_s"].as_f64().unwrap() < 70e6, "{level:?}");
    assert!(level["slope_percent"].as_f64().unwrap() > 10.0);
}

#[test]
fn the_zones_of_a_disk_are_no_knees() {
    // The rim is twice as fast as the hub, again and again.
    let zone = |turn: u64| 120e6 - 60e6 * ((turn - 1) % PLACES) as f64 / PLACES as f64;
    let endure = loop_test(LoopOptions { fills: Some(26.0), ..options() });
    let findings = play(&endure, evidence(SPAN, true), |_, workload| steady(zone(turn(workload))));
    assert_eq!(
        standing(&findings, "write_knees", ""),
        Some(Standing::Info),
        "{:?}",
        findings.tables["knees"]
    );
    let reads = answer(&findings, "read_knees");
    assert!(reads.answer.contains("no read cliff"), "{reads:?}");
}

#[test]
fn reads_that_fall_to_less_than_a_quarter_are_a_problem() {
    let falls = |_: usize, workload: &Workload| steady(if turn(workload) < 20 { 250e6 } else { 50e6 });
    let findings = play(&loop_test(options()), evidence(SPAN, true), falls);
    assert!(findings.found_problem());
    let problem = answer(&findings, "read_steady_share");
    assert_eq!(problem.standing, Standing::Problem);
    assert!(problem.answer.contains("20% of peak"), "{problem:?}");
    assert!(findings.summary.contains("20% of peak"), "{}", findings.summary);
}

#[test]
fn an_interrupted_run_is_judged_by_its_whole_tests() {
    let endure = loop_test(options());
    let mut evidence = evidence(SPAN, true);
    let nothing = endure.judge(&evidence);
    assert!(nothing.answers.is_empty() && !nothing.summary.is_empty());
    for index in 0..PARTS * 8 + 3 {
        let Step::Run(workload) = endure.next(&evidence).unwrap() else { panic!() };
        let mut segment = crate::support::segment(&workload, Nanos::ZERO, &steady(1e8));
        if index == PARTS * 8 + 2 {
            segment.stop = Stop::Interrupted;
        }
        evidence.segments.push(segment);
        let _ = endure.judge(&evidence);
    }
    let findings = endure.judge(&evidence);
    assert_eq!(findings.tables["loops"].len(), 8 * 5 + 2, "the read that was stopped is not a whole one");
    assert_eq!(findings.tables["fills"].len(), 5, "one fill is whole");
}

#[test]
fn nonsense_settings_are_refused_by_name() {
    for (options, word) in [
        (LoopOptions { file_size: 1000, ..options() }, "file_size"),
        (LoopOptions { span: Some(4096), ..options() }, "span"),
        (LoopOptions { fills: Some(f64::NAN), ..options() }, "fills"),
        (LoopOptions { fills: Some(-1.0), ..options() }, "fills"),
        (LoopOptions { bytes: Some(1), fills: Some(1.0), ..options() }, "bytes and fills"),
        (LoopOptions { time: Nanos::ZERO, ..options() }, "time"),
        (LoopOptions { ops: vec![Mix::Only(Op::Trim)], ..options() }, "op"),
    ] {
        assert!(Endure::new(EndureOptions::Loop(options)).err().unwrap().contains(word), "{word}");
    }
    for (text, word) in
        [("test = 'dance'", "dance"), ("fils = 3", "fils"), ("test = 'snia-iops'\nfills = 3", "fills")]
    {
        assert!(Endure::from_options(&toml::from_str(text).unwrap()).err().unwrap().contains(word), "{text}");
    }
    assert!(loop_test(options()).next(&evidence(FILE_SIZE / 2, true)).unwrap_err().contains("larger target"));
    let wide = LoopOptions { span: Some(2 * SPAN), ..options() };
    let refusal = loop_test(wide).next(&evidence(SPAN, true)).unwrap_err();
    assert!(refusal.contains("a --span and a --file-size of at most"), "{refusal}");
    assert!(loop_test(options()).next(&evidence(SPAN, false)).unwrap_err().contains("read-only"));
}

#[test]
fn a_plan_reads_back() {
    let table =
        toml::Table::try_from(EndureOptions::Loop(LoopOptions { fills: Some(2.0), ..options() })).unwrap();
    assert_eq!(table["test"].as_str(), Some("loop"));
    assert!(Endure::from_options(&table).is_ok());
    assert!(Endure::from_options(&toml::Table::new()).is_ok(), "a plan without a word is the usual loop");
}
