//! Answers of fill on lists of speeds with a known pattern.

use crate::support::{SpeedPattern, evidence, play, segment, steady};
use likenew_core::drive::Identity;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::{Outcome, Sample};
use likenew_core::procedure::{Procedure as _, Step};
use likenew_core::units::Nanos;
use likenew_procedures::fill::{Fill, FillOptions, Repeat};

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

const MIB: u64 = 1 << 20;

fn fill(files: u32) -> Fill {
    Fill::new(FillOptions { files, file_size: 64 * MIB, ..FillOptions::default() }).unwrap()
}

/// A few percent of scatter, the same on every run.
fn scatter(file: usize) -> f64 {
    1.0 + 0.03 * ((file * 7919 % 101) as f64 / 101.0 - 0.5)
}

fn findings(files: u32, course: impl Fn(usize) -> SpeedPattern) -> Findings {
    play(&fill(files), evidence(u64::from(files) * 64 * MIB, true), |file, _| course(file))
}

#[test]
fn a_drive_as_new_is_flat() {
    let findings = findings(100, |file| steady(76e6 * scatter(file)));
    assert_eq!(standing(&findings, "write_speed", "76."), Some(Standing::Good));
    assert_eq!(standing(&findings, "stalls", ""), Some(Standing::Good));
    assert!(!findings.found_problem());
    assert_eq!(findings.tables["files"].len(), 100);
    assert_eq!(findings.tables["files"][0]["stalls"], 0);
}

#[test]
fn two_levels_in_runs_are_a_problem() {
    let slow = |file: usize| file % 40 >= 25;
    let findings = findings(200, |file| steady(scatter(file) * if slow(file) { 6e6 } else { 75e6 }));
    assert_eq!(standing(&findings, "write_speed", " the rest at "), Some(Standing::Problem));
    assert!(findings.found_problem());
    let first = &findings.answers[0];
    assert!(first.evidence[0].contains("follow one another"), "{first:?}");
    assert!(findings.summary.contains("38% of files"), "{}", findings.summary);
}

#[test]
fn a_disks_zones_are_no_problem() {
    let findings = findings(100, |file| steady(scatter(file) * (110e6 - 0.55e6 * file as f64)));
    assert_eq!(standing(&findings, "write_speed", "falls"), Some(Standing::Info));
    assert!(!findings.found_problem());
}

#[test]
fn a_cache_at_the_start_is_named_with_its_size_and_no_problem() {
    // A reserve is never filled, so the drive has more than the files.
    let speed = |file: usize| scatter(file) * if file < 12 { 550e6 } else { 420e6 };
    let findings = findings(400, |file| steady(speed(file)));
    assert_eq!(
        standing(&findings, "write_speed", " MB/s into a cache of 768 MiB, then 42"),
        Some(Standing::Info)
    );
    assert!(!findings.found_problem());
    assert!(findings.summary.starts_with("Sequential write: 5"), "{}", findings.summary);
    let estimate = answer(&findings, "write_speed").estimate.clone().unwrap();
    assert!(415e6 < estimate.low && estimate.high < 425e6, "that of the files after it: {estimate:?}");
    // It is emptied while more is written, so stalls behind it are by design as well, and those before it are not.
    let stalls_in = |stalled: usize| {
        self::findings(400, |file| SpeedPattern {
            pause: if file == stalled { Nanos::from_millis(600) } else { Nanos::ZERO },
            ..steady(speed(file))
        })
    };
    assert_eq!(standing(&stalls_in(40), "stalls", ", all behind the full cache"), Some(Standing::Info));
    assert_eq!(standing(&stalls_in(4), "stalls", "1 ("), Some(Standing::Problem));
    // Of most of a drive it is no cache.
    let long = self::findings(400, |file| steady(scatter(file) * if file < 300 { 550e6 } else { 420e6 }));
    assert_eq!(standing(&long, "write_speed", " MB/s for the first 18.8 GiB, then 4"), Some(Standing::Info));
    // Nor is the fast start of a disk, which has none.
    let mut disk = evidence(400 * 64 * MIB, true);
    let (name, value) = Identity::ROTATES;
    disk.identity.facts.push((name.to_owned(), value.to_owned()));
    let disk = play(&fill(400), disk, |file, _| steady(speed(file)));
    assert_eq!(standing(&disk, "write_speed", " MB/s for the first 768 MiB, then 42"), Some(Standing::Info));
    // The chart is over bytes, and a part stands at its end.
    let points = &findings.series["files"].lines[0].points;
    assert_eq!(points[0][0], (64 * MIB) as f64);
    assert_eq!(findings.series["files"].x.unit, "bytes");
}

#[test]
fn a_drive_that_recovers_while_it_is_filled_had_fallen() {
    let findings = findings(100, |file| steady(scatter(file) * (20e6 + 0.5e6 * file as f64)));
    assert_eq!(standing(&findings, "write_speed", "rises"), Some(Standing::Problem));
    assert!(findings.found_problem());
}

#[test]
fn few_files_decide_nothing() {
    let findings = findings(5, |file| steady(if file < 2 { 6e6 } else { 75e6 }));
    assert_eq!(standing(&findings, "write_speed", "too few"), Some(Standing::Unknown));
}

#[test]
fn a_pause_is_found_with_its_file_and_place() {
    let pause = Nanos::from_millis(700);
    let findings = findings(20, |file| SpeedPattern {
        pause: if file == 7 { pause } else { Nanos::ZERO },
        ..steady(75e6)
    });
    assert_eq!(standing(&findings, "stalls", "1 ("), Some(Standing::Problem));
    let stall = &findings.tables["stalls"][0];
    assert_eq!(stall["file"], 8);
    // The four writes in flight when the pause began have all waited; the first of them gives the address.
    assert_eq!(stall["ios"], 4);
    assert_eq!(stall["offset_bytes"], (7 * 64 + 32) * MIB);
    let duration = stall["duration_ns"].as_u64().unwrap();
    assert!((700_000_000..900_000_000).contains(&duration), "{duration}");
    assert_eq!(findings.tables["files"][7]["stalls"], 1);
    let [mark] = &findings.series["files"].marks[..] else { panic!("one stall is one mark") };
    assert_eq!(mark.x, ((7 * 64 + 32) * MIB) as f64, "where it was");
}

fn passes(files: u32, passes: Repeat, read_back: bool) -> Fill {
    Fill::new(FillOptions { files, file_size: 64 * MIB, passes, read_back, ..FillOptions::default() })
        .unwrap()
}

#[test]
fn passes_are_made_until_another_one_changes_little() {
    let speed_of_pass = |pass| [20e6, 60e6, 75e6, 75.5e6][pass];
    let fill = passes(20, Repeat::UntilSteady, true);
    let findings = play(&fill, evidence(20 * 64 * MIB, true), |index, _| {
        steady(if index < 80 { scatter(index) * speed_of_pass(index / 20) } else { 250e6 * scatter(index) })
    });
    assert_eq!(standing(&findings, "settled", "75."), Some(Standing::Good));
    assert_eq!(standing(&findings, "first_pass", "20."), Some(Standing::Good));
    assert_eq!(standing(&findings, "read_speed", "in every file"), Some(Standing::Good));
    assert!(!findings.found_problem(), "it has come back");
    let of = |table: &str| findings.tables[table].len();
    assert_eq!((of("passes"), of("files"), of("read_back")), (4, 80, 20));
    assert_eq!(findings.tables["files"][20]["pass"], 2);
    assert_eq!(findings.tables["files"][20]["file"], 1);
    let low = findings.tables["passes"][3]["bytes_per_s_low"].as_f64().unwrap();
    let high = findings.tables["passes"][3]["bytes_per_s_high"].as_f64().unwrap();
    assert!(low < 75.5e6 && 75.5e6 < high && high - low < 3e6, "{low} … {high}");
}

#[test]
fn what_does_not_settle_ends_after_ten_passes() {
    let fill = passes(10, Repeat::UntilSteady, false);
    let findings = play(&fill, evidence(10 * 64 * MIB, true), |index, _| {
        steady(scatter(index) * [40e6, 70e6][index / 10 % 2])
    });
    assert_eq!(standing(&findings, "settled", "not settled after 10 passes"), Some(Standing::Info));
    let one = play(&passes(10, Repeat::Times(1), false), evidence(10 * 64 * MIB, true), |_, _| steady(40e6));
    assert_eq!(standing(&one, "settled", ""), None, "one pass says nothing of another");
}

#[test]
fn a_drive_that_reads_its_old_data_slowly_is_a_problem() {
    let fill = passes(40, Repeat::Times(1), true);
    let findings = play(&fill, evidence(40 * 64 * MIB, true), |index, _| {
        let slow = (40..55).contains(&index);
        steady(scatter(index) * if slow { 30e6 } else { 250e6 })
    });
    assert!(findings.found_problem());
    assert_eq!(standing(&findings, "read_speed", "38% of files at "), Some(Standing::Problem));
}

#[test]
fn one_file_is_judged_by_its_parts() {
    let options = FillOptions { files: 1, file_size: 64 * 64 * MIB, parts: 64, ..FillOptions::default() };
    let fill = Fill::new(options).unwrap();
    assert_eq!(fill.layout().files, 1);
    let findings = play(&fill, evidence(64 * 64 * MIB, true), |index, _| steady(75e6 * scatter(index)));
    assert_eq!(standing(&findings, "write_speed", "in every part"), Some(Standing::Good));
    assert_eq!(
        (findings.tables["parts"].len(), findings.tables["parts"][9]["part"].as_u64()),
        (64, Some(10))
    );
    assert!(!findings.tables.contains_key("files"));
}

#[test]
fn a_run_stopped_in_a_later_pass_says_so_and_goes_on_there() {
    let (fill, mut evidence) = (passes(10, Repeat::Times(2), true), evidence(10 * 64 * MIB, true));
    for _ in 0..14 {
        let Step::Run(workload) = fill.next(&evidence).unwrap() else { panic!("14 of 30 are not enough") };
        let started_at = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at);
        evidence.segments.push(segment(&workload, started_at, &steady(75e6)));
    }
    let findings = fill.judge(&evidence);
    assert_eq!(
        standing(&findings, "completed", "4 of 10 files were written in pass 2"),
        Some(Standing::Unknown)
    );
    assert_eq!(standing(&findings, "settled", ""), Some(Standing::Unknown));
    let Step::Run(workload) = fill.next(&evidence).unwrap() else { panic!("6 files are left") };
    assert_eq!(workload.name, "pass 2, file 5");
}

#[test]
fn an_interrupted_run_says_how_far_it_came() {
    let (fill, mut evidence) = (fill(50), evidence(50 * 64 * MIB, true));
    for _ in 0..12 {
        let Step::Run(workload) = fill.next(&evidence).unwrap() else {
            panic!("12 of 50 files are not enough")
        };
        let started_at = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at);
        evidence.segments.push(segment(&workload, started_at, &steady(75e6)));
    }
    let findings = fill.judge(&evidence);
    assert_eq!(standing(&findings, "completed", "12 of 50 files"), Some(Standing::Unknown));
    assert_eq!(answer(&findings, "write_speed").standing, Standing::Good);
    assert_eq!(findings.tables["files"].len(), 12);
}

#[test]
fn a_bad_medium_is_a_problem_and_a_full_file_system_is_none() {
    for (errno, expected, words) in
        [(5, Standing::Problem, "the drive failed"), (28, Standing::Info, "the system refused")]
    {
        let (fill, mut evidence) = (fill(50), evidence(50 * 64 * MIB, true));
        let Step::Run(workload) = fill.next(&evidence).unwrap() else { panic!("nothing was written yet") };
        let mut segment = segment(&workload, Nanos::ZERO, &steady(75e6));
        let mut refused = Sample { outcome: Outcome::Error(errno), ..segment.slowest[0] };
        refused.offset = 4096;
        segment.tallies[0].add(&refused);
        segment.refused_ios.push(refused);
        evidence.segments.push(segment);
        let findings = fill.judge(&evidence);
        assert_eq!(standing(&findings, "io_errors", words), Some(expected));
        assert_eq!(findings.found_problem(), expected == Standing::Problem);
    }
}

#[test]
fn nothing_measured_judges_to_nothing_wrong() {
    let findings = fill(50).judge(&evidence(50 * 64 * MIB, true));
    assert!(!findings.found_problem());
    assert!(findings.tables["files"].is_empty() && findings.series.is_empty());
    assert!(!findings.summary.is_empty());
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    assert!(fill(10).next(&evidence(MIB, true)).unwrap_err().contains("exceed"));
    assert!(fill(1).next(&evidence(64 * MIB, false)).unwrap_err().contains("read-only"));
    for (options, word) in [
        (FillOptions { files: 0, ..FillOptions::default() }, "files"),
        (FillOptions { block: 1000, ..FillOptions::default() }, "block"),
        (FillOptions { file_size: MIB + 512, ..FillOptions::default() }, "file_size"),
        (FillOptions { depth: 0, ..FillOptions::default() }, "depth"),
        (FillOptions { from: 512, ..FillOptions::default() }, "from"),
        (FillOptions { parts: 2, ..FillOptions::default() }, "parts"),
        (FillOptions { parts: 3, files: 1, ..FillOptions::default() }, "parts"),
        (FillOptions { parts: 0, ..FillOptions::default() }, "parts"),
    ] {
        assert!(Fill::new(options).err().unwrap().contains(word));
    }
}
