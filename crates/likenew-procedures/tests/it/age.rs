//! Answers of age on drives whose fall is known.

use crate::support::{evidence, play, segment, steady};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_procedures::age::{Age, AgeOptions, Recipe};
use proptest::prelude::*;

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
const CAPACITY: u64 = 64 * MIB;

fn options(recipe: Recipe, passes: u32) -> AgeOptions {
    AgeOptions { recipe, passes, random_span: 16 * MIB, ..AgeOptions::default() }
}

fn age(passes: u32) -> Age {
    Age::new(options(Recipe::Fill, passes)).unwrap()
}

/// Normal deviates, the same on every run (Box and Muller over SplitMix64).
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A drive of 40 MB/s whose workloads keep the share `left(name)` of that, with `scatter` from one to the
/// next.
fn findings(age: &Age, seed: u64, scatter: f64, left: impl Fn(&str) -> f64) -> Findings {
    let noise = std::cell::RefCell::new(Noise(seed));
    play(age, evidence(CAPACITY, true), |_, workload| {
        let factor = 1.0 + scatter * noise.borrow_mut().normal();
        steady(40e6 * left(&workload.name) * factor)
    })
}

fn is(name: &str, phase: &str, test: &str) -> bool {
    name.starts_with(&format!("{phase} {test}"))
}

#[test]
fn a_known_fall_is_a_problem_and_its_interval_holds_the_truth() {
    let (age, plays) = (age(4), 60);
    let mut holds = 0;
    for seed in 0..plays {
        let findings =
            findings(&age, seed, 0.03, |name| if is(name, "used", "random writes") { 0.4 } else { 1.0 });
        assert!(findings.found_problem());
        let estimate = answer(&findings, "random_write").estimate.clone().unwrap();
        assert_eq!(estimate.unit, "%");
        assert!((estimate.value - 60.0).abs() < 5.0, "{estimate:?}");
        holds += usize::from((estimate.low..=estimate.high).contains(&60.0));
    }
    // 57 of 60 are expected of 95% intervals; 52 or fewer come once in 30,000 times.
    assert!(holds >= 53, "{holds} of {plays}");
}

#[test]
fn the_table_has_both_a_drop_in_speed_and_a_rise_in_latency() {
    let findings =
        findings(&age(4), 1, 0.0, |name| if is(name, "used", "random writes") { 0.25 } else { 1.0 });
    let rows = &findings.tables["new_vs_used"];
    assert_eq!(rows.len(), 8);
    let keys: Vec<&str> = rows[0].keys().map(String::as_str).take(5).collect();
    assert_eq!(keys, ["test", "unit", "new", "used", "drop_percent"]);
    let row = |test: &str| rows.iter().find(|row| row["test"] == test).unwrap();
    let drop = |test: &str| row(test)["drop_percent"].as_f64().unwrap();
    assert!((drop("random writes") - 75.0).abs() < 0.1);
    assert!((drop("random write latency, mean") - 300.0).abs() < 1.0, "a latency rises: worse is positive");
    assert!(drop("random reads").abs() < 0.1 && drop("application score").abs() < 0.1);
    assert!((row("random writes")["new"].as_f64().unwrap() - 40e6).abs() < 1e5);
    assert_eq!(findings.tables["applications"].len(), 10);
    assert_eq!(findings.tables["intervals"].len(), 2 * 18);
    assert_eq!(findings.series["used_vs_new"].lines.len(), 2);
    assert_eq!(findings.series["aging"].lines[0].points.last().unwrap()[0], CAPACITY as f64);
}

#[test]
fn a_drive_that_keeps_its_speed_has_no_problem() {
    let findings = findings(&age(4), 7, 0.01, |_| 1.0);
    for id in ["random_write", "sequential_write", "application_score", "random_read", "sequential_read"] {
        assert_eq!(answer(&findings, id).standing, Standing::Good, "{id}");
    }
    assert!(!findings.found_problem());
}

#[test]
fn a_faster_drive_has_not_fallen() {
    let findings =
        findings(&age(4), 7, 0.01, |name| if is(name, "used", "random writes") { 2.0 } else { 1.0 });
    let answer = answer(&findings, "random_write");
    assert_eq!(answer.standing, Standing::Info);
    assert!(answer.answer.contains("faster; use speeds up no drive"), "{answer:?}");
    assert!(answer.estimate.as_ref().unwrap().value < -90.0);
}

#[test]
fn one_pass_and_great_scatter_decide_nothing_and_say_what_would() {
    let once = findings(&age(1), 1, 0.0, |name| if is(name, "used", "random writes") { 0.5 } else { 1.0 });
    let of_one = answer(&once, "random_write");
    assert_eq!(of_one.standing, Standing::Unknown);
    assert!(of_one.actions[0].id == "more_passes" && of_one.estimate.is_none());
    let scattered =
        findings(&age(3), 5, 0.3, |name| if is(name, "used", "random writes") { 0.8 } else { 1.0 });
    let of_scattered = answer(&scattered, "random_write");
    assert_eq!(of_scattered.standing, Standing::Unknown);
    assert!(of_scattered.actions.iter().any(|action| action.id == "more_passes"));
    assert!(of_scattered.estimate.is_some());
    assert!(!once.found_problem());
}

#[test]
fn on_a_wall_clock_nothing_fell_for_sure_while_reads_changed_too() {
    for reads in [20e6, 80e6] {
        let mut on = evidence(CAPACITY, true);
        on.geometry.clock = Clock::Wall;
        let findings = play(&age(4), on, |_, workload| {
            let speed = if workload.name.contains("reads") { reads } else { 20e6 };
            steady(if workload.name.starts_with("used") { speed } else { 40e6 })
        });
        assert_eq!(standing(&findings, "random_write", "reads changed too"), Some(Standing::Unknown));
        let caveats = &answer(&findings, "random_write").caveats;
        assert!(caveats.iter().any(|caveat| caveat.contains("another program")), "{caveats:?}");
        assert!(!findings.found_problem());
    }
}

#[test]
fn slow_reads_are_called_out_and_so_is_each_application() {
    let findings = findings(&age(4), 2, 0.01, |name| {
        if is(name, "used", "random reads") {
            0.5
        } else if is(name, "used", "Microsoft Word") {
            0.25
        } else {
            1.0
        }
    });
    assert_eq!(standing(&findings, "random_read", "% slower"), Some(Standing::Problem));
    assert_eq!(standing(&findings, "sequential_read", ""), Some(Standing::Good));
    // One of ten at a quarter: 1 − (1/4)^(1/10) = 12.9%.
    let estimate = answer(&findings, "application_score").estimate.clone().unwrap();
    assert_eq!(answer(&findings, "application_score").standing, Standing::Problem);
    assert!((estimate.value - 12.9).abs() < 1.5, "{estimate:?}");
}

#[test]
fn a_rest_that_helps_is_proved_and_one_that_does_not_is_reported() {
    for (left, expected) in [(0.99, Standing::Good), (0.5, Standing::Info)] {
        let idle = Nanos::from_secs(600);
        let age = Age::new(AgeOptions { idle, ..options(Recipe::Fill, 4) }).unwrap();
        let findings = findings(&age, 3, 0.01, |name| match name {
            name if is(name, "used", "random writes") => 0.3,
            name if is(name, "after idle", "random writes") => left,
            _ => 1.0,
        });
        assert_eq!(standing(&findings, "after_idle", "10 min"), Some(expected));
        let row = &findings.tables["new_vs_used"][0];
        assert!((row["after_idle"].as_f64().unwrap() / 40e6 - left).abs() < 0.05);
        assert!(row["after_idle_drop_percent_low"].is_number());
        assert_eq!(findings.series["random_writes"].lines.len(), 3);
    }
}

#[test]
fn whatever_was_measured_until_a_stop_is_judged() {
    let (age, mut evidence) = (age(2), evidence(CAPACITY, true));
    let mut was_null = false;
    while let Step::Run(workload) = age.next(&evidence).unwrap() {
        let findings = age.judge(&evidence);
        assert_eq!(answer(&findings, "completed").standing, Standing::Unknown);
        assert!(!findings.summary.is_empty());
        let rows = &findings.tables["new_vs_used"];
        was_null |= rows.iter().any(|row| row["new"].is_number() && row["used"].is_null());
        let started_at = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at);
        evidence.segments.push(segment(&workload, started_at, &steady(40e6)));
    }
    assert!(was_null, "the new figures stand there before the used ones are known");
    assert_eq!(standing(&age.judge(&evidence), "completed", ""), None);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let next = |age: Age, evidence: Evidence| age.next(&evidence).unwrap_err();
    assert!(next(age(2), evidence(CAPACITY, false)).contains("read-only"));
    assert!(next(age(2), evidence(32 * MIB, true)).contains("--random-span"));
    let span = AgeOptions { span: Some(2 * CAPACITY), ..options(Recipe::Fill, 2) };
    assert!(next(Age::new(span).unwrap(), evidence(CAPACITY, true)).contains("--span"));
    let bytes = AgeOptions { bytes: Some(5), ..options(Recipe::Fill, 2) };
    assert!(next(Age::new(bytes).unwrap(), evidence(CAPACITY, true)).contains("bytes"));
    let trim = AgeOptions { trim: true, ..options(Recipe::Churn, 2) };
    let mut without = evidence(CAPACITY, true);
    without.geometry.trims = false;
    assert!(next(Age::new(trim).unwrap(), without).contains("TRIM"));
    for (options, word) in [
        (AgeOptions { random_span: MIB, ..AgeOptions::default() }, "random_span"),
        (AgeOptions { passes: 0, ..AgeOptions::default() }, "passes"),
        (AgeOptions { passes: 50, random_span: 16 * MIB, ..AgeOptions::default() }, "passes"),
        (AgeOptions { time: Nanos(1), ..AgeOptions::default() }, "time"),
        (AgeOptions { depth: 0, ..AgeOptions::default() }, "depth"),
        (AgeOptions { idle: Nanos::from_secs(31 * 86_400), ..AgeOptions::default() }, "idle"),
        (AgeOptions { file_size: 4096, ..AgeOptions::default() }, "file_size"),
        (AgeOptions { trim: true, ..AgeOptions::default() }, "trim"),
    ] {
        assert!(Age::new(options).err().unwrap().contains(word), "{word}");
    }
}

/// Every workload in the order they run, without idle time.
fn course(options: AgeOptions, evidence: &Evidence) -> Vec<Workload> {
    let dry_run = DryRun::plan(&Age::new(options).unwrap(), evidence).unwrap();
    assert!(dry_run.is_finite);
    dry_run.workloads.into_iter().filter(|workload| !workload.streams.is_empty()).collect()
}

/// Over all streams, each by its share of the I/Os.
fn mean_length(workload: &Workload) -> f64 {
    let shares = workload.stream_shares();
    workload.streams.iter().zip(&shares).map(|(stream, share)| share * stream.size.mean()).sum()
}

/// Of the bytes.
fn share_written(workload: &Workload) -> f64 {
    let shares = workload.stream_shares();
    let written = workload.streams.iter().zip(&shares).map(|(stream, share)| {
        let writes = stream.op.shares().iter().find(|(op, _)| *op == Op::Write).map_or(0.0, |of| of.1);
        writes * share * stream.size.mean()
    });
    written.sum::<f64>() / mean_length(workload)
}

fn written(workloads: &[Workload], of: impl Fn(&str) -> bool) -> u64 {
    let of = workloads
        .iter()
        .filter(|workload| of(&workload.name) && workload.streams[0].op != "trim".parse().unwrap());
    of.map(|workload| workload.until.bytes.unwrap()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_plan_that_is_taken_fits_and_writes_what_it_says(
        recipe in prop::sample::select(Recipe::ALL.to_vec()),
        blocks in 16_384u64..1 << 20,
        steps in 1u64..4,
        passes in 1u32..5,
        share in 1u64..40,
        folder in any::<bool>(),
        trim in any::<bool>(),
    ) {
        let random_span = steps * 16 * MIB;
        let mut on = evidence(blocks * 4096, true);
        let file = if recipe == Recipe::Churn { 64 << 10 } else { 4 * MIB };
        if folder {
            on.geometry.capacity -= on.geometry.capacity % file;
            (on.geometry.boundary, on.geometry.block) = (Some(file), 4096);
        }
        let capacity = on.geometry.capacity;
        prop_assume!(random_span <= capacity / 5 * 2);
        let bytes = capacity / 16 * share / 4096 * 4096;
        let options = AgeOptions { recipe, bytes: Some(bytes), random_span, passes, trim: trim && recipe == Recipe::Churn, ..AgeOptions::default() };
        let course = course(options, &on);
        for workload in &course {
            prop_assert_eq!(workload.check(&on.geometry), Ok(()));
        }
        let aging = written(&course, |name| name.starts_with("aging"));
        let before = match recipe {
            Recipe::Fill => 0,
            Recipe::Overwrite => capacity,
            Recipe::Churn if folder => 0,
            Recipe::Churn => capacity / 2 / MIB * MIB,
        };
        prop_assert_eq!(aging, before + bytes);
        // Measuring must not be what ages a drive.
        let first = course.iter().position(|workload| workload.name.starts_with("aging")).unwrap();
        let mut writes = 0.0;
        for workload in &course[..first] {
            // Applications are limited by their I/Os, everything else by bytes.
            let all = workload.until.bytes.map_or_else(
                || workload.until.ops.unwrap() as f64 * mean_length(workload),
                |bytes| bytes as f64,
            );
            writes += all * share_written(workload);
        }
        prop_assert!(writes < if folder { 2.75 } else { 1.75 } * random_span as f64, "{writes} of {random_span}");
        let trims = course.iter().any(|workload| workload.streams[0].op == "trim".parse().unwrap());
        prop_assert!(!trims || recipe == Recipe::Churn && (folder || trim), "nothing is trimmed unasked");
    }
}
