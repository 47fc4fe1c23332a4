//! Answers of cache on targets whose memory and drive are known.

use crate::support::{answer, evidence, segment, standing, steady};
use likenew_core::counters::Counters;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Findings, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::workload::{Access, Workload};
use likenew_procedures::all;
use likenew_procedures::cache::{Cache, CacheOptions};
use likenew_procedures::data::Test;
use likenew_procedures::pattern::Pattern;

const MIB: u64 = 1 << 20;
const MEMORY: f64 = 8e9;
const DRIVE: f64 = 200e6;

fn options() -> CacheOptions {
    let tests = vec![Test { pattern: Pattern::Sequential, block: MIB, depth: 1 }];
    CacheOptions { tests, span: 64 * MIB, ..CacheOptions::default() }
}

/// A folder of temporary files on a wall clock.
fn folder(writable: bool) -> Evidence {
    let mut evidence = evidence(1 << 30, writable);
    evidence.identity.kind = if writable { TargetKind::Folder } else { TargetKind::File };
    evidence.geometry.clock = Clock::Wall;
    evidence
}

/// Runs a target that serves this share of a workload from memory; `None` if it is not counted.
fn play(
    options: CacheOptions,
    mut evidence: Evidence,
    ram: impl Fn(usize, &Workload) -> Option<f64>,
) -> (Evidence, Findings) {
    let cache = Cache::new(options).unwrap();
    let mut now = Nanos::ZERO;
    while let Step::Run(workload) = cache.next(&evidence).unwrap() {
        assert_eq!(workload.check(&evidence.geometry), Ok(()));
        let ram = ram(evidence.segments.len(), &workload);
        let speed = 1.0 / (ram.unwrap_or(0.0) / MEMORY + (1.0 - ram.unwrap_or(0.0)) / DRIVE);
        let mut segment = segment(&workload, now, &steady(speed));
        segment.device_counters = ram.map(|ram| {
            let reached = |op| (segment.bytes(op) as f64 * (1.0 - ram)) as u64;
            let (bytes_read, bytes_written) = (reached(Op::Read), reached(Op::Write));
            Counters { bytes_read, bytes_written, devices: 1, ..Counters::default() }
        });
        now = segment.ended_at;
        evidence.segments.push(segment);
    }
    let findings = all::judge(&cache, &evidence);
    (evidence, findings)
}

/// A usual folder: repeated reads and buffered writes are RAM.
fn usual(_: usize, workload: &Workload) -> Option<f64> {
    let second = workload.name.contains("second");
    let ends = workload.access == Access::Buffered && workload.writes() && !workload.flush;
    Some(if second || ends || workload.access == Access::Null { 1.0 } else { 0.0 })
}

const READ: &str = "sequential_repeated_read";
const WRITE: &str = "sequential_buffered_write";
const DIRECT: &str = "direct_io";

#[test]
fn a_usual_folder_has_ram_where_everybody_expects_it() {
    let (evidence, findings) = play(options(), folder(true), usual);
    assert_eq!(evidence.segments.len(), 1 + 3 * 8);
    for (id, expected) in [(READ, Standing::Info), (WRITE, Standing::Info), (DIRECT, Standing::Good)] {
        assert_eq!(standing(&findings, id), Some(expected), "{id}");
    }
    assert!(!findings.found_problem() && findings.answers.len() == 3, "{:?}", findings.answers);
    let read = answer(&findings, READ);
    let estimate = read.estimate.as_ref().unwrap();
    assert_eq!((estimate.value, estimate.low, &*estimate.unit), (100.0, 100.0, "%"));
    assert!(read.answer.contains("40.0× direct reads"), "{}", read.answer);
    assert_eq!(
        findings.summary,
        "Direct I/O: 200 MB/s sequential read, 200 MB/s write. Repeated reads are served from RAM (8,000 MB/s); \
         unflushed writes only reach RAM (8,000 MB/s)."
    );
    assert!(findings.overview.answers.is_empty(), "the table says the rest");
    assert_eq!(findings.overview.table.as_ref().unwrap().rows.len(), 6, "null levels are left out");
    let rows = &findings.tables["levels"];
    let levels: Vec<&str> = rows.iter().map(|row| row["level"].as_str().unwrap()).collect();
    let expected = [
        "null",
        "null",
        "buffered",
        "buffered_flushed",
        "first_buffered",
        "second_buffered",
        "direct",
        "direct",
    ];
    assert_eq!(levels, expected);
    assert!(rows[0]["ram_percent"].is_null(), "what went nowhere was no RAM either");
    assert_eq!((&rows[5]["moved_bytes"], &rows[5]["counted_bytes"]), (&(192 * MIB).into(), &0.into()));
    assert_eq!(rows[6]["ram_percent"], 0.0);
    assert_eq!(findings.tables["passes"].len(), 24);
    let picture = &findings.series["levels"];
    assert!(serde_json::to_value(&picture.y).unwrap()["scale"] == "log");
    assert_eq!((picture.categories.len(), picture.lines.len()), (5, 2));
}

#[test]
fn a_span_that_memory_cannot_hold_has_no_ram_and_a_part_of_it_is_reported() {
    let none = |_: usize, _: &Workload| Some(0.0);
    let (_, findings) = play(options(), folder(true), none);
    for id in [READ, WRITE] {
        assert_eq!(standing(&findings, id), Some(Standing::Info));
        assert!(answer(&findings, id).answer.starts_with("0%"), "{}", answer(&findings, id).answer);
        assert_eq!(answer(&findings, id).estimate.as_ref().unwrap().high, 0.0);
    }
    assert_eq!(standing(&findings, DIRECT), Some(Standing::Good));
    // Half of it, sometimes more and sometimes less, around the limit.
    let half = |index: usize, workload: &Workload| {
        let is_odd = (index / 8 % 2) as f64;
        Some(if workload.name.contains("second") {
            0.5 + 0.01 * is_odd
        } else if workload.writes() && workload.access == Access::Buffered {
            0.1 * is_odd
        } else {
            0.0
        })
    };
    let (_, findings) = play(options(), folder(true), half);
    assert_eq!(standing(&findings, READ), Some(Standing::Info));
    let estimate = answer(&findings, READ).estimate.clone().unwrap();
    assert!(estimate.low > 45.0 && estimate.low < estimate.value && estimate.high < 60.0, "{estimate:?}");
    assert_eq!(standing(&findings, WRITE), Some(Standing::Unknown));
    assert!(answer(&findings, WRITE).actions[0].id == "more_passes");
}

#[test]
fn direct_io_that_is_ram_is_found_here_and_by_every_command() {
    let (_, findings) = play(options(), folder(true), |_, _| Some(1.0));
    assert_eq!(standing(&findings, DIRECT), Some(Standing::Unknown));
    assert_eq!(findings.answers[0].id, DIRECT, "no other number is surely the drive's");
    assert!(findings.answers[0].answer.starts_with("100%"), "{}", findings.answers[0].answer);
    assert_eq!(standing(&findings, "device_bytes_missing"), Some(Standing::Unknown));
    assert!(!answer(&findings, DIRECT).caveats.is_empty());
}

#[test]
fn what_is_not_counted_and_what_was_measured_once_is_unknown() {
    let (_, findings) = play(options(), folder(true), |_, _| None);
    for id in [READ, WRITE, DIRECT] {
        assert_eq!(standing(&findings, id), Some(Standing::Unknown));
        assert!(answer(&findings, id).evidence[0].contains("Nothing below this target counts"));
        assert!(answer(&findings, id).actions.is_empty(), "more passes would not help");
    }
    assert!(findings.tables["levels"].iter().all(|row| row["ram_percent"].is_null()));
    let (_, findings) = play(CacheOptions { passes: 1, ..options() }, folder(true), usual);
    for id in [READ, WRITE, DIRECT] {
        assert_eq!(standing(&findings, id), Some(Standing::Unknown));
        assert!(answer(&findings, id).caveats[0].contains("measured once"));
        assert_eq!(answer(&findings, id).actions[0].id, "more_passes");
    }
}

#[test]
fn what_may_only_be_read_is_only_read_and_its_pages_are_nobodys_to_drop() {
    let (evidence, findings) = play(options(), folder(false), |index, workload| {
        // Another program had a third of it in memory before.
        Some(if index == 1 { 1.0 / 3.0 } else { usual(index, workload)? })
    });
    assert_eq!(evidence.segments.len(), 3 * 4);
    assert!(evidence.segments.iter().all(|segment| !segment.workload.writes() && !segment.workload.cold));
    assert_eq!(standing(&findings, READ), Some(Standing::Info));
    assert!(answer(&findings, READ).answer.starts_with("100%"));
    assert!(answer(&findings, READ).caveats[0].contains("11% of the first read"));
    assert_eq!(standing(&findings, WRITE), None);
    let picture = &findings.series["levels"];
    assert_eq!(picture.categories, ["buffered, 1st read", "buffered, 2nd read", "direct"]);
}

#[test]
fn the_second_read_is_the_first_one_again() {
    let cache = Cache::new(CacheOptions { span: 8 * MIB, ..CacheOptions::default() }).unwrap();
    let (evidence, _) = play(CacheOptions { span: 8 * MIB, ..CacheOptions::default() }, folder(true), usual);
    let named = |words: &str| {
        let mut found = evidence.segments.iter().filter(|segment| segment.workload.name.contains(words));
        found.next().map(|segment| segment.workload.clone()).unwrap()
    };
    let (first, second) = (named("random first"), named("random second"));
    assert!(first.cold && !second.cold && first.access == Access::Buffered && second.access == first.access);
    assert_eq!((first.seed, &first.streams), (second.seed, &second.streams));
    assert_eq!(named("random direct read").seed, first.seed);
    assert_ne!(named("random direct write").seed, named("random buffered write").seed);
    assert!(named("buffered, flushed").flush && named("sequential null").access == Access::Null);
    // A first read that its time limit has ended early.
    let at =
        evidence.segments.iter().position(|segment| segment.workload.name.contains("random second")).unwrap();
    let mut part = Evidence { segments: evidence.segments[..at].to_vec(), ..evidence.clone() };
    part.segments[at - 1].tallies[0].bytes = 3 * 4096;
    let Ok(Step::Run(again)) = cache.next(&part) else { panic!("there is more") };
    assert_eq!(again.until.bytes, Some(3 * 4096));
}

#[test]
fn a_second_read_after_a_break_is_none_and_an_early_end_is_reported() {
    let (mut evidence, _) = play(options(), folder(true), usual);
    let cache = Cache::new(options()).unwrap();
    let second =
        evidence.segments.iter().position(|segment| segment.workload.name.contains("second")).unwrap();
    evidence.segments[second].after_interruption = true;
    let findings = cache.judge(&evidence);
    assert_eq!(findings.tables["passes"].len(), 23);
    assert_eq!(standing(&findings, "completed"), None);
    for count in 0..evidence.segments.len() {
        let part = Evidence { segments: evidence.segments[..count].to_vec(), ..evidence.clone() };
        assert_eq!(standing(&cache.judge(&part), "completed"), Some(Standing::Unknown), "{count}");
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let bad = |change: &dyn Fn(&mut CacheOptions), word: &str| {
        let mut options = options();
        change(&mut options);
        let error = Cache::new(options).err().unwrap();
        assert!(error.contains(word), "{error}");
    };
    bad(&|o| o.tests.clear(), "pattern");
    bad(&|o| o.tests.push(o.tests[0]), "once each");
    bad(&|o| o.tests[0].block = 3 << 10, "power of two");
    bad(&|o| o.tests[0].block = 128 * MIB, "power of two");
    bad(&|o| o.tests[0].depth = 0, "depth");
    bad(&|o| o.span = 0, "span");
    bad(&|o| o.span = MIB / 2, "span");
    bad(&|o| o.passes = 0, "passes");
    bad(&|o| o.time = Nanos(1), "time");
    let table: toml::Table = toml::from_str("sapn = '1GiB'").unwrap();
    assert!(Cache::from_options(&table).err().unwrap().contains("sapn"));
    let cache = Cache::new(options()).unwrap();
    assert!(cache.next(&evidence(MIB, true)).unwrap_err().contains("--span"));
    let mut holding = evidence(1 << 30, true);
    holding.geometry.carries_data = true;
    assert!(cache.next(&holding).unwrap_err().contains("data=on"));
    let mut nop = folder(true);
    nop.identity.kind = TargetKind::Nop;
    assert!(cache.next(&nop).unwrap_err().contains("no page cache"));
}
