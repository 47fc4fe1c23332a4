//! What surface finds on drives whose tracks, seek times and slow regions are known.

use crate::replay_disk::{
    CAPACITY, COMMAND_NS, FULL_NS, GIB, ReplayDisk, TRACK_NS, TURN_NS, disk_speed, zoned_speed,
};
use crate::support::{SpeedPattern, answer, evidence, play, standing, steady};
use likenew_core::drive::TargetKind;
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Findings, Standing};
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::units::Nanos;
use likenew_procedures::surface::{Surface, SurfaceOptions};
use proptest::prelude::*;

fn options() -> SurfaceOptions {
    SurfaceOptions { probes: 0, burst: 0, ..SurfaceOptions::default() }
}

fn run(options: &SurfaceOptions, played: &mut ReplayDisk) -> Evidence {
    let surface = Surface::new(options.clone()).unwrap();
    let mut evidence = evidence(CAPACITY, true);
    let mut now = Nanos::ZERO;
    while let Step::Run(workload) = surface.next(&evidence).unwrap() {
        assert_eq!(workload.check(&evidence.geometry), Ok(()));
        let segment = played.run(&workload, now);
        now = segment.ended_at;
        evidence.segments.push(segment);
    }
    evidence
}

fn findings(options: SurfaceOptions, mut played: ReplayDisk) -> Findings {
    let evidence = run(&options, &mut played);
    Surface::new(options).unwrap().judge(&evidence)
}

fn metric(findings: &Findings, name: &str) -> [f64; 3] {
    let row = findings.tables["access"].iter().find(|row| row["metric"] == name);
    let row = row.unwrap_or_else(|| panic!("no {name} in {:?}", findings.tables["access"]));
    ["value", "value_low", "value_high"].map(|key| row[key].as_f64().unwrap_or(f64::NAN))
}

#[test]
fn a_disk_falls_and_its_seeks_and_rotation_are_reported() {
    let findings = findings(SurfaceOptions::default(), ReplayDisk::new(disk_speed, true, 1));
    let ends = answer(&findings, "start_vs_end");
    assert!(ends.standing == Standing::Info && ends.answer.starts_with("114 → "), "{ends:?}");
    let access = answer(&findings, "access_time");
    assert!(access.standing == Standing::Info && access.answer.contains("longer over longer"), "{access:?}");
    assert_eq!(standing(&findings, "slow_regions"), Some(Standing::Good));
    assert!(findings.summary.starts_with("Sequential read "), "{}", findings.summary);
    assert!(!findings.found_problem() && findings.tables["zones"].is_empty(), "it falls smoothly");
    assert_eq!(findings.tables["curve"].len(), 100);
    let rotation = answer(&findings, "rotation");
    assert!(rotation.answer.contains("; seek time "), "{rotation:?}");
    assert!(rotation.evidence.iter().any(|message| message.contains("only 7,200 rpm")), "{rotation:?}");
    let command = metric(&findings, "command overhead")[0];
    assert!((command / 3.1e5 - 1.0).abs() < 0.01, "{command}");
    assert_eq!(findings.series["access_by_distance"].lines[0].points.len(), 999);
}

#[test]
fn the_intervals_of_seeks_and_rotation_contain_the_truth() {
    let truth = [
        ("rotational speed", 7200.0),
        ("average rotational latency", TURN_NS / 2.0),
        ("shortest seek", TRACK_NS),
        ("full-stroke seek", FULL_NS),
        // The mean root of the distance between two random tracks is 8/15.
        ("average seek", TRACK_NS + (FULL_NS - TRACK_NS) * 8.0 / 15.0),
    ];
    let mut held = [0; 5];
    for seed in 0..40 {
        let options = SurfaceOptions { points: 20, ..SurfaceOptions::default() };
        let findings = findings(options, ReplayDisk::new(disk_speed, true, seed * 77));
        for (held, (name, truth)) in held.iter_mut().zip(truth) {
            let [_, low, high] = metric(&findings, name);
            *held += u32::from((low..=high).contains(&truth));
        }
    }
    assert!(held.iter().all(|count| *count >= 34), "{held:?} of 40");
}

#[test]
fn plateaus_are_zones_with_their_addresses() {
    let options = SurfaceOptions { points: 1000, ..options() };
    let findings = findings(options, ReplayDisk::new(zoned_speed, true, 1));
    let zones = &findings.tables["zones"];
    assert_eq!(zones.len(), 16, "{zones:?}");
    for (index, zone) in zones.iter().enumerate() {
        let (from, to) = (zone["from_bytes"].as_u64().unwrap(), zone["to_bytes"].as_u64().unwrap());
        let width = CAPACITY / 16;
        assert!(from.abs_diff(index as u64 * width) <= CAPACITY / 900, "{index}: {from}");
        assert!(to.abs_diff((index as u64 + 1) * width) <= CAPACITY / 900, "{index}: {to}");
        let speed = zone["bytes_per_s"].as_f64().unwrap();
        // The command is a part of each megabyte's time.
        let expected = 1.0 / (1.0 / zoned_speed(from + width / 4) + COMMAND_NS / 1e9 / 1_048_576.0);
        assert!((speed / expected - 1.0).abs() < 0.005, "{index}: {speed} {expected}");
    }
}

#[test]
fn flash_is_flat_and_distance_does_not_matter() {
    let findings = findings(SurfaceOptions::default(), ReplayDisk::new(|_| 250e6, false, 5));
    for (id, words) in [("start_vs_end", "equally fast"), ("access_time", "independent of distance")] {
        let answer = answer(&findings, id);
        assert!(answer.standing == Standing::Info && answer.answer.contains(words), "{answer:?}");
    }
    assert!(findings.tables["zones"].is_empty());
    assert!(!findings.tables["access"].iter().any(|row| row["metric"] == "rotational speed"));
}

#[test]
fn equal_points_are_even_and_a_pause_is_a_hiccup() {
    let surface = Surface::new(options()).unwrap();
    let even = play(&surface, evidence(CAPACITY, true), |_, _| steady(250e6));
    assert_eq!(standing(&even, "slow_regions"), Some(Standing::Good));
    let mean = answer(&even, "sequential_read").estimate.clone().unwrap();
    assert!((mean.value / 250e6 - 1.0).abs() < 1e-6 && mean.low <= mean.value && mean.value <= mean.high);
    let pause = Nanos::from_millis(700);
    let paused = play(&surface, evidence(CAPACITY, true), |index, _| SpeedPattern {
        pause: if index == 17 { pause } else { Nanos::ZERO },
        ..steady(250e6)
    });
    let once = answer(&paused, "slow_once");
    assert!(once.standing == Standing::Info && once.answer.starts_with("1 region was slow once"), "{once:?}");
    assert_eq!(paused.tables["curve"][17]["latency_ns_max"].as_u64().map(|ns| ns / 100_000_000), Some(7));
}

#[test]
fn accesses_that_all_take_one_time_do_not_depend_on_distance() {
    let mut played = ReplayDisk::new(|_| 250e6, false, 5);
    played.noise_ns = 0.0;
    let findings = findings(SurfaceOptions::default(), played);
    let access = answer(&findings, "access_time");
    assert!(access.standing == Standing::Info && access.answer.contains("independent"), "{access:?}");
    assert!(access.evidence[0].contains("took the same time"), "{access:?}");
}

#[test]
fn a_slow_start_is_reported() {
    let speed = |offset: u64| if offset < CAPACITY / 2 { 150e6 } else { 250e6 };
    let findings = findings(options(), ReplayDisk::new(speed, false, 5));
    let ends = answer(&findings, "start_vs_end");
    assert!(
        ends.standing == Standing::Unknown
            && ends.answer.starts_with("the first 51% reads at 144 MB/s, the rest at 233 MB/s"),
        "{ends:?}"
    );
    assert_eq!(findings.tables["zones"].len(), 2);
    assert_eq!(findings.tables["slow_regions"].len(), 0, "a step is no slow region");
}

/// The gibibyte from 50 on takes 200 ms more for each block, in these workloads.
fn slow_gibibyte(in_workloads: fn(&str) -> bool) -> ReplayDisk {
    let place = 50 * GIB..51 * GIB;
    ReplayDisk::new(disk_speed, true, 3)
        .slow(move |name, offset| if place.contains(&offset) && in_workloads(name) { 2e8 } else { 0.0 })
}

#[test]
fn a_place_that_is_slow_every_time_is_a_problem() {
    let findings = findings(options(), slow_gibibyte(|_| true));
    let slow = answer(&findings, "slow_regions");
    assert!(slow.standing == Standing::Problem && slow.answer.starts_with("1 region is slow"), "{slow:?}");
    assert!(findings.found_problem() && findings.answers[0].id == "slow_regions");
    assert!(
        findings.summary.starts_with("Slow regions: 1 region is slow every time"),
        "{}",
        findings.summary
    );
    let place = &findings.tables["slow_regions"][0];
    let (from, to) = (place["from_bytes"].as_u64().unwrap(), place["to_bytes"].as_u64().unwrap());
    assert!((50 * GIB..51 * GIB).contains(&from) && to - from <= 8 << 20, "{from}..{to}");
    assert_eq!(place["finding"], "slow");
    assert_eq!(findings.series["curve"].marks[0].x, from as f64);
}

#[test]
fn a_place_that_was_slow_once_is_no_problem() {
    let findings = findings(options(), slow_gibibyte(|name| !name.contains("again")));
    assert_eq!(standing(&findings, "slow_once"), Some(Standing::Info));
    assert!(!findings.found_problem());
    assert_eq!(findings.tables["slow_regions"][0]["finding"], "slow_once");
}

#[test]
fn a_place_that_wavers_or_is_not_read_again_is_undecided() {
    for (retests, mut played) in
        [(2, slow_gibibyte(|name| !name.ends_with("again 2"))), (0, slow_gibibyte(|_| true))]
    {
        let options = SurfaceOptions { retests, ..options() };
        let evidence = run(&options, &mut played);
        let findings = Surface::new(options).unwrap().judge(&evidence);
        let slow = answer(&findings, "slow_regions");
        assert_eq!((slow.standing, slow.actions[0].id.as_str()), (Standing::Unknown, "measure_again"));
        assert!(!findings.found_problem());
    }
}

#[test]
fn the_whole_finds_one_slow_megabyte() {
    const PLACE: u64 = 3 * (1 << 30) + (17 << 20);
    let options = SurfaceOptions { whole: true, span: Some(8 * GIB), points: 10, ..options() };
    let played = ReplayDisk::new(|_| 250e6, false, 3)
        .slow(|_, offset| if (PLACE..PLACE + (1 << 20)).contains(&offset) { 3e8 } else { 0.0 });
    let findings = findings(options, played);
    assert!(findings.found_problem());
    let place = &findings.tables["slow_regions"][0];
    assert_eq!(
        (place["from_bytes"].as_u64(), place["to_bytes"].as_u64()),
        (Some(PLACE), Some(PLACE + (1 << 20)))
    );
}

#[test]
fn an_unreadable_place_has_an_address() {
    let mut played = ReplayDisk::new(disk_speed, true, 3);
    played.bad = 50 * GIB..51 * GIB;
    let findings = findings(options(), played);
    let errors = answer(&findings, "io_errors");
    assert!(errors.standing == Standing::Problem && errors.answer.contains("failed 8 I/Os"), "{errors:?}");
    let place = &findings.tables["slow_regions"][0];
    assert_eq!(place["finding"], "unreadable");
    assert!((50 * GIB..51 * GIB).contains(&place["from_bytes"].as_u64().unwrap()));
    let ends = answer(&findings, "start_vs_end");
    assert!(
        ends.standing == Standing::Info && ends.answer.contains("slower"),
        "the rest is judged: {ends:?}"
    );
}

#[test]
fn little_decides_nothing() {
    let options = SurfaceOptions { points: 4, probes: 15, ..SurfaceOptions::default() };
    let findings = findings(options, ReplayDisk::new(|_| 250e6, false, 3));
    for id in ["access_time", "slow_regions"] {
        assert_eq!(standing(&findings, id), Some(Standing::Unknown), "{id}");
    }
}

#[test]
fn a_run_that_stops_anywhere_is_judged_and_goes_on_where_it_stopped() {
    let options = SurfaceOptions { points: 13, probes: 100, ..SurfaceOptions::default() };
    let surface = Surface::new(options.clone()).unwrap();
    let whole = run(&options, &mut slow_gibibyte(|_| true));
    assert!(whole.segments.len() > 15, "slow regions were read again");
    for count in 0..whole.segments.len() {
        let mut part = whole.clone();
        part.segments.truncate(count);
        let Step::Run(next) = surface.next(&part).unwrap() else { panic!("{count} is not enough") };
        assert_eq!(next, whole.segments[count].workload);
        let findings = surface.judge(&part);
        assert_eq!(findings.tables["curve"].len(), count.min(13));
    }
    assert_eq!(surface.next(&whole).unwrap(), Step::Done);
}

#[test]
fn a_folder_is_written_first_and_nothing_else_is() {
    let surface = Surface::new(SurfaceOptions { span: Some(GIB), ..SurfaceOptions::default() }).unwrap();
    let mut evidence = evidence(GIB, true);
    assert_eq!(DryRun::plan(&surface, &evidence).unwrap().bytes_written, 0);
    evidence.identity.kind = TargetKind::Folder;
    let dry_run = DryRun::plan(&surface, &evidence).unwrap();
    assert_eq!((dry_run.workloads[0].name.as_str(), dry_run.bytes_written), ("prepare", GIB));
    assert!(dry_run.is_finite);
    assert_eq!(surface.layout().file_bytes, GIB);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let usual = SurfaceOptions::default;
    for (options, word) in [
        (SurfaceOptions { op: "mix:50".parse().unwrap(), ..usual() }, "op"),
        (SurfaceOptions { op: "trim".parse().unwrap(), ..usual() }, "op"),
        (SurfaceOptions { points: 1, ..usual() }, "points"),
        (SurfaceOptions { points: 5001, ..usual() }, "points"),
        (SurfaceOptions { block: 0, ..usual() }, "block"),
        (SurfaceOptions { probe_block: 1000, ..usual() }, "probe_block"),
        (SurfaceOptions { bytes: 0, ..usual() }, "bytes"),
        (SurfaceOptions { bytes: (1 << 20) + 512, ..usual() }, "bytes"),
        (SurfaceOptions { depth: 0, ..usual() }, "depth"),
        (SurfaceOptions { probes: 70_000, ..usual() }, "probes"),
        (SurfaceOptions { burst: 1 << 40, ..usual() }, "burst"),
        (SurfaceOptions { retests: 3, ..usual() }, "retests"),
        (SurfaceOptions { time: Nanos::ZERO, ..usual() }, "time"),
    ] {
        let message = Surface::new(options).err().unwrap();
        assert!(message.starts_with(word), "{message}");
    }
    let surface = |options: SurfaceOptions| Surface::new(options).unwrap();
    let on = |options: SurfaceOptions, capacity: u64, writable: bool| {
        surface(options).next(&evidence(capacity, writable)).unwrap_err()
    };
    assert!(on(usual(), 64 << 20, true).contains("fewer points"));
    assert!(on(SurfaceOptions { span: Some(GIB), ..usual() }, 64 << 20, true).contains("span"));
    assert!(on(SurfaceOptions { op: "write".parse().unwrap(), ..usual() }, GIB, false).contains("read-only"));
    assert!(surface(usual()).judge(&evidence(1 << 20, true)).answers.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever a drive does, its addresses stay its own, the run ends, and it can be judged.
    #[test]
    fn no_drive_breaks_it(
        points in 2u32..40,
        extras in prop::collection::vec(0.0..3e8f64, 1..8),
        seed in any::<u64>(),
        whole in any::<bool>(),
    ) {
        let options = SurfaceOptions { points, whole, span: Some(GIB), probes: 50, ..SurfaceOptions::default() };
        let played = ReplayDisk::new(disk_speed, true, seed)
            .slow(move |_, offset| extras[(offset >> 24) as usize % extras.len()]);
        let findings = findings(options, played);
        prop_assert_eq!(findings.tables["curve"].len(), points as usize);
        for place in &findings.tables["slow_regions"] {
            let (from, to) = (place["from_bytes"].as_u64().unwrap(), place["to_bytes"].as_u64().unwrap());
            prop_assert!(from < to && to <= GIB);
        }
    }
}
