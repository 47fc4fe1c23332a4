//! Workloads of apps, and its answers on drives of known speed.

use crate::support::{evidence, segment, standing, steady};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Findings, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrival, Mix, Workload};
use likenew_procedures::apps::application::{Application, Side};
use likenew_procedures::apps::library::library;
use likenew_procedures::apps::{Apps, AppsOptions};

const MIB: u64 = 1 << 20;

fn options(applications: &[&str]) -> AppsOptions {
    AppsOptions {
        applications: applications.iter().map(|name| (*name).to_owned()).collect(),
        span: 64 * MIB,
        ..AppsOptions::default()
    }
}

fn course(options: AppsOptions, on: &Evidence) -> Vec<Workload> {
    let dry_run = DryRun::plan(&Apps::new(options).unwrap(), on).unwrap();
    assert!(dry_run.is_finite);
    dry_run.workloads
}

/// Expected I/Os and bytes of one operation in one pattern.
fn dealt(workloads: &[Workload], op: Op, pattern: &str) -> (u64, f64) {
    let streams = workloads.iter().flat_map(|workload| &workload.streams);
    let streams = streams.filter(|stream| stream.op == Mix::Only(op) && stream.pattern.name() == pattern);
    streams.fold((0, 0.0), |(ios, bytes), stream| {
        let Arrival::Interleaved { weight, .. } = stream.arrival else { panic!("applications take turns") };
        (ios + u64::from(weight), bytes + f64::from(weight) * stream.size.mean())
    })
}

#[test]
fn every_application_issues_its_published_counts_and_bytes() {
    let on = evidence(64 << 30, true);
    for entry in library() {
        let options = AppsOptions { passes: 1, ..options(&[entry.name]) };
        let course = course(options, &on);
        let workloads = &course[1..];
        let of = |side: &Option<Side>, op: Op| {
            let Some(side) = side else { return };
            let (sequential, random) = (dealt(workloads, op, "sequential"), dealt(workloads, op, "random"));
            assert_eq!(
                (sequential.0, random.0),
                (side.sequential.value, side.random.value),
                "{} {op}",
                entry.name
            );
            let bytes = sequential.1 + random.1;
            assert!((bytes / side.bytes.value as f64 - 1.0).abs() < 1e-4, "{} {op}: {bytes}", entry.name);
        };
        of(&entry.application.reads, Op::Read);
        of(&entry.application.writes, Op::Write);
        for workload in workloads {
            assert_eq!(workload.check(&on.geometry), Ok(()));
            let weights: u64 = workload
                .streams
                .iter()
                .map(|stream| match stream.arrival {
                    Arrival::Interleaved { weight, .. } => u64::from(weight),
                    _ => unreachable!("applications take turns"),
                })
                .sum();
            assert_eq!(workload.until.ops, Some(weights), "a whole deck is played");
        }
    }
}

#[test]
fn depths_share_the_ios_and_pauses_fill_the_published_time() {
    let on = evidence(64 << 30, true);
    let launch = course(AppsOptions { passes: 1, ..options(&["battlefield-3-launch"]) }, &on);
    let ops: Vec<(u32, u64)> =
        launch[1..].iter().map(|workload| (workload.depth(), workload.until.ops.unwrap())).collect();
    // 93% of 14,488, to the half I/O for each of four kinds.
    assert_eq!((ops.len(), ops[0].0, ops[1].0, ops[0].1 + ops[1].1), (2, 1, 2, 14_488));
    assert!((ops[0].1 as f64 - 0.93 * 14_488.0).abs() <= 2.0, "{ops:?}");
    let thinking = course(AppsOptions { passes: 1, think: true, ..options(&["battlefield-3-launch"]) }, &on);
    for workload in &thinking[1..] {
        let Arrival::Interleaved { per_second: Some(rate), .. } = workload.streams[0].arrival else {
            panic!("{workload:?}")
        };
        assert!((rate - 14_488.0 / 84.0).abs() < 1e-6 && workload.until.elapsed.is_none());
    }
}

#[test]
fn a_tenth_is_a_tenth_and_small_files_split_long_ios() {
    let mut on = evidence(64 << 30, true);
    let tenth = course(AppsOptions { passes: 1, scale: 0.1, ..options(&["photoshop-heavy"]) }, &on);
    assert_eq!(dealt(&tenth[1..], Op::Write, "sequential").0, 4474);
    (on.geometry.boundary, on.geometry.block) = (Some(64 << 10), 4096);
    let split = course(AppsOptions { passes: 1, ..options(&["photoshop-heavy"]) }, &on);
    for workload in &split[1..] {
        assert_eq!(workload.check(&on.geometry), Ok(()));
    }
    let (ios, bytes) = dealt(&split[1..], Op::Write, "sequential");
    let whole = 5_640e6 * 44_742.0 / 46_807.0;
    assert!(ios > 44_742 && (bytes / whole - 1.0).abs() < 1e-4, "{ios} {bytes}");
}

/// Runs it on a drive whose workloads go at `speed(name)` bytes a second.
fn played(apps: &Apps, speed: impl Fn(&str) -> f64) -> Evidence {
    let mut on = evidence(1 << 30, true);
    while let Step::Run(mut workload) = apps.next(&on).unwrap() {
        let started_at = on.segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at);
        let whole = workload.clone();
        if let (Some(ops), Some(stream)) = (workload.until.ops, workload.streams.first()) {
            workload.until.bytes = Some(ops * u64::from(stream.size.max()));
        }
        let mut segment = segment(&workload, started_at, &steady(speed(&whole.name)));
        (segment.workload, segment.busy) = (whole, segment.elapsed());
        on.segments.push(segment);
    }
    on
}

fn small() -> AppsOptions {
    AppsOptions { scale: 0.02, ..options(&["word", "excel", "powerpoint", "illustrator"]) }
}

#[test]
fn what_is_refused_is_what_lies_outside_the_named_range() {
    let refusal = |options| Apps::new(options).err().map(|error| error.to_string());
    assert_eq!(refusal(AppsOptions { scale: 1e-6, minutes: 1e-6, ..small() }), None);
    for (options, name) in [
        (AppsOptions { scale: 9e-7, ..small() }, "scale"),
        (AppsOptions { scale: f64::NAN, ..small() }, "scale"),
        (AppsOptions { minutes: 9e-7, ..small() }, "minutes"),
    ] {
        let refusal = refusal(options).unwrap_or_default();
        assert!(refusal.contains(name) && refusal.contains("0.000001"), "{refusal}");
    }
}

#[test]
fn the_score_is_made_of_bandwidth_and_access_time_as_the_manual_says() {
    let apps = Apps::new(small()).unwrap();
    let evidence = played(&apps, |_| 100e6);
    let findings = apps.judge(&evidence);
    // At QD1 the I/Os of 128 KiB take 1.31 ms each at 100 MB/s.
    let access: f64 = 131_072.0 / 100e6;
    let expected = (100.0 / access).sqrt();
    for row in &findings.tables["applications"] {
        let metric = |key: &str| row[key].as_f64().unwrap();
        assert!((metric("bytes_per_s") / 100e6 - 1.0).abs() < 1e-6, "{row:?}");
        assert!((metric("access_time_ns") / (access * 1e9) - 1.0).abs() < 1e-6, "{row:?}");
        assert!((metric("score") / expected - 1.0).abs() < 1e-6 && metric("busy_ns") > 0.0);
    }
    assert_eq!(findings.tables["passes"].len(), 3);
    assert_eq!(standing(&findings, "score"), Some(Standing::Info));
    assert_eq!(standing(&findings, "speed_over_passes"), Some(Standing::Good));
    assert!(findings.summary.starts_with("Application score 276 points"), "{}", findings.summary);
    assert_eq!(findings.overview.table.as_ref().unwrap().rows.len(), 4);
    assert!(!findings.found_problem());
    assert_eq!(findings.series["scores"].categories.len(), 4);
    assert!(findings.tables["sources"].iter().all(|row| !row["source"].as_str().unwrap().is_empty()));
}

#[test]
fn a_drive_that_gets_slower_is_a_problem_and_one_pass_decides_nothing() {
    let apps = Apps::new(small()).unwrap();
    let slower = apps.judge(&played(&apps, |name| if name.starts_with("pass 3") { 50e6 } else { 100e6 }));
    assert_eq!(standing(&slower, "speed_over_passes"), Some(Standing::Problem));
    assert_eq!(slower.answers[0].id, "speed_over_passes", "the problem first");
    assert!(slower.summary.contains("scored 50% less"), "{}", slower.summary);
    assert!(slower.found_problem());
    let once = Apps::new(AppsOptions { passes: 1, ..small() }).unwrap();
    let once_judged = once.judge(&played(&once, |_| 100e6));
    assert_eq!(standing(&once_judged, "score"), Some(Standing::Unknown));
    assert_eq!(standing(&once_judged, "speed_over_passes"), Some(Standing::Unknown));
    assert!(!once_judged.found_problem());
}

fn consistency() -> AppsOptions {
    AppsOptions { consistency: true, minutes: 0.001, passes: 1, ..small() }
}

fn phases(speed: impl Fn(&str) -> f64) -> Findings {
    let apps = Apps::new(consistency()).unwrap();
    apps.judge(&played(&apps, speed))
}

#[test]
fn eighteen_phases_are_tested_in_their_order() {
    let on = evidence(1 << 30, true);
    let course = course(consistency(), &on);
    let names: Vec<&str> = course.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(&names[..3], ["precondition 1 of 2", "precondition 2 of 2", "degrade 1 writes"]);
    assert_eq!(*names.last().unwrap(), "clean-up");
    assert_eq!(names.len(), 2 + 18 * (1 + 4) + 1);
    assert_eq!(course[0].until.bytes, Some(1 << 30), "every address");
    let spans: Vec<f64> = course
        .iter()
        .filter(|workload| workload.name.ends_with("writes") || workload.name.ends_with("rest"))
        .map(|workload| workload.until.elapsed.unwrap().as_secs_f64() / 0.06)
        .collect();
    let minutes: Vec<f64> = spans.iter().map(|span| span.round()).collect();
    let expected =
        [[10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0].as_slice(), &[45.0; 5], &[5.0; 5]].concat();
    assert_eq!(minutes, expected);
}

#[test]
fn fall_steadiness_and_recovery_are_told_apart() {
    let holds_out = phases(|_| 100e6);
    assert_eq!(standing(&holds_out, "score_under_writes"), Some(Standing::Good));
    assert_eq!(standing(&holds_out, "steady_state"), Some(Standing::Good));
    assert_eq!(standing(&holds_out, "idle_recovery"), None, "there is nothing to come back from");
    assert_eq!(holds_out.tables["phases"].len(), 18);
    assert_eq!(holds_out.series["score_by_phase"].lines[0].points.len(), 18);
    assert_eq!(holds_out.series["access_time_by_phase"].lines[0].points.len(), 18);

    // Bandwidth and access time both halve: the score does, too.
    let slow = |name: &str| name.starts_with("degrade 8") || name.starts_with("steady");
    let comes_back = phases(|name| if slow(name) { 50e6 } else { 100e6 });
    let lost = &comes_back.answers[0];
    assert_eq!((&*lost.id, lost.standing), ("score_under_writes", Standing::Problem));
    assert!((lost.estimate.as_ref().unwrap().value - 50.0).abs() < 1e-6);
    assert_eq!(standing(&comes_back, "idle_recovery"), Some(Standing::Good));
    assert!(comes_back.summary.contains("restores it to 100%"), "{}", comes_back.summary);

    let stays = phases(|name| if slow(name) || name.starts_with("recover") { 50e6 } else { 100e6 });
    assert_eq!(standing(&stays, "idle_recovery"), Some(Standing::Info));
    assert!(stays.summary.contains("Idle time does not restore it"), "{}", stays.summary);

    let falling = phases(|name| match name.split(' ').nth(1).filter(|_| name.starts_with("steady")) {
        Some(number) => 100e6 / (1.0 + number.trim_end_matches(':').parse::<f64>().unwrap()),
        None => 100e6,
    });
    assert_eq!(standing(&falling, "steady_state"), Some(Standing::Info));
}

#[test]
fn whatever_was_measured_until_a_stop_is_judged() {
    for options in [small(), consistency()] {
        let apps = Apps::new(options).unwrap();
        let whole = played(&apps, |_| 100e6);
        for end in [0, 1, 3, 7, whole.segments.len() / 2, whole.segments.len() - 1] {
            let mut part = whole.clone();
            part.segments.truncate(end);
            let findings = apps.judge(&part);
            assert_eq!(standing(&findings, "completed"), Some(Standing::Unknown), "after {end}");
            assert!(!findings.summary.is_empty());
            assert!(!findings.found_problem());
        }
        assert_eq!(standing(&apps.judge(&whole), "completed"), None);
    }
}

#[test]
fn an_own_application_is_played_and_becomes_part_of_the_plan() {
    let mut custom = library()[5].application.clone();
    custom.name = "my own".into();
    let options = AppsOptions { applications: Vec::new(), custom: vec![custom.clone()], ..small() };
    let table = toml::Table::try_from(&options).unwrap();
    let apps = Apps::from_options(&table).unwrap();
    let findings = apps.judge(&played(&apps, |_| 100e6));
    assert_eq!(findings.tables["applications"][0]["application"], "my own");
    let broken = Application { name: String::new(), ..custom };
    let error = Apps::new(AppsOptions { custom: vec![broken], ..options }).err().unwrap();
    assert!(error.contains("name"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let next = |options: AppsOptions, on: Evidence| Apps::new(options).unwrap().next(&on).unwrap_err();
    assert!(next(small(), evidence(1 << 30, false)).contains("read-only"));
    assert!(next(small(), evidence(32 * MIB, true)).contains("--span"));
    let span = AppsOptions { writing_span: Some(2 << 30), ..consistency() };
    assert!(next(span, evidence(1 << 30, true)).contains("--writing-span"));
    for (options, word) in [
        (AppsOptions { passes: 0, ..small() }, "passes"),
        (AppsOptions { scale: 0.0, ..small() }, "scale"),
        (AppsOptions { span: 1, ..small() }, "span"),
        (AppsOptions { time: Nanos(1), ..small() }, "time"),
        (AppsOptions { minutes: f64::NAN, ..small() }, "minutes"),
        (AppsOptions { file_size: 4096, ..small() }, "file_size"),
        (options(&["word", "word"]), "twice"),
        (options(&["wrod"]), "did you mean \"word\"?"),
        (options(&[]), "at least one"),
    ] {
        assert!(Apps::new(options).err().unwrap().contains(word), "{word}");
    }
}
