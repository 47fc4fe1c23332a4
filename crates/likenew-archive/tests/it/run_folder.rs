//! A run folder keeps the measurements, whatever happens to it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::OnceLock;

use crate::support::{machine, plan, segment};
use likenew_archive::{Archive, ArchiveError, Record, Run};
use likenew_core::findings::{Answer, Findings, Overview, OverviewTable};
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::Plan;
use likenew_core::units::Nanos;
use proptest::prelude::*;

fn archive() -> (tempfile::TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("some/where"));
    (folder, archive)
}

fn run_of(archive: &Archive, segments: u64) -> Run {
    let mut run = archive.create(&plan(), &machine()).unwrap();
    (0..segments).for_each(|number| run.push(&segment(number)).unwrap());
    run
}

fn findings(value: f64) -> Findings {
    let answer = Answer::problem("write", "Write", "slow").estimate(value, 0.1, 1e300, "bytes/s");
    let mut table = OverviewTable::new(["test"]);
    table.push_with_share(["write"], Some(0.25));
    Findings {
        summary: "Writes are slow.".into(),
        answers: vec![answer],
        overview: Overview { table: Some(table), ..Overview::default() },
        ..Findings::default()
    }
}

/// A probe after this many workloads.
fn observation(after: usize) -> Observation {
    let accounting = segment(after as u64).accounting;
    Observation {
        probe: Probe::TrimPath,
        result: ProbeResult::Unknown("nobody \"knows\"\n".into()),
        after,
        started_at: Nanos(after as u64),
        ended_at: Nanos(after as u64 + 1),
        after_interruption: false,
        accounting,
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn everything_reads_back() {
    let (_folder, archive) = archive();
    let run = run_of(&archive, 3);
    run.conclude(&findings(1.0 / 3.0)).unwrap();
    let record = Archive::open(run.path()).unwrap();
    assert_eq!((&record.header.plan, &record.header.machine), (&plan(), &machine()));
    assert_eq!(record.segments, (0..3).map(segment).collect::<Vec<_>>());
    assert_eq!((record.findings.as_ref(), record.notes.len()), (Some(&findings(1.0 / 3.0)), 0));
    let evidence = record.evidence();
    assert_eq!(evidence.segments, record.segments);
    assert_eq!(evidence.identity.accounting.unwrap().host_bytes_written, 2);
    assert!(record.sample_files().is_empty());
    record.conclude(&findings(2.0)).unwrap();
    assert_eq!(Archive::open(run.path()).unwrap().findings, Some(findings(2.0)));
}

#[test]
fn no_run_takes_the_folder_of_another() {
    let (_folder, archive) = archive();
    assert_eq!(archive.list().unwrap().len(), 0);
    let runs: Vec<Run> = (0..3).map(|segments| run_of(&archive, segments)).collect();
    let names: Vec<&str> = runs.iter().map(|run| name(run.path())).collect();
    let first = "2026-03-14T15-09-26Z-fill-mnt-my-photos";
    assert_eq!(names, [first.to_owned(), format!("{first}-2"), format!("{first}-3")]);
    fs::create_dir(archive.root().join("holiday pictures")).unwrap();
    fs::write(archive.root().join("a file"), "").unwrap();
    fs::write(runs[1].path().join("machine.json"), "{").unwrap();
    let list = archive.list().unwrap();
    assert_eq!(list.iter().map(|entry| name(&entry.path)).collect::<Vec<_>>(), names);
    assert_eq!(list.iter().map(|entry| entry.header.is_ok()).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn a_run_cut_off_at_any_byte_loses_at_most_its_last_line() {
    let (_folder, archive) = archive();
    let run = run_of(&archive, 2);
    let path = run.path().to_owned();
    drop(run);
    let file = path.join("segments.jsonl");
    let whole = fs::read(&file).unwrap();
    let segments: Vec<_> = (0..2).map(segment).collect();
    let shorten = fs::OpenOptions::new().write(true).open(&file).unwrap();
    for length in (0..=whole.len()).rev() {
        shorten.set_len(length as u64).unwrap();
        let lines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        let record = Archive::open(&path).unwrap();
        assert_eq!(record.segments, segments[..lines], "{length} bytes");
        let torn = length > 0 && whole[length - 1] != b'\n';
        assert_eq!(record.notes.len(), usize::from(torn), "{length} bytes: {:?}", record.notes);
    }
    println!(
        "attack: a run folder cut off at every byte | {} | at most its last line lost, and that is said",
        whole.len() + 1
    );
}

fn resume(path: &Path) -> (Run, Record) {
    let files = || ["segments.jsonl", "observations.jsonl"].map(|name| fs::read(path.join(name)).ok());
    let before = files();
    let (run, record) = Archive::resume(path).unwrap();
    assert_eq!(files(), before, "nothing is lost until the run goes on");
    run.cut_after(record.segments.len(), record.observations.len()).unwrap();
    (run, record)
}

#[test]
fn a_killed_run_goes_on() {
    let (_folder, archive) = archive();
    let path = run_of(&archive, 3).path().to_owned();
    let file = path.join("segments.jsonl");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 9]).unwrap();
    let (mut run, record) = resume(&path);
    assert_eq!((record.segments.len(), record.notes.len()), (2, 1));
    run.push(&segment(2)).unwrap();
    assert_eq!(fs::read(&file).unwrap(), whole);
    assert!(matches!(Archive::resume(&path), Err(ArchiveError::Busy(_))), "two writers");
    drop(run);
    assert_eq!(Archive::resume(&path).unwrap().1.segments.len(), 3);
}

#[test]
fn observations_keep_their_position_and_a_torn_one_is_skipped() {
    let (_folder, archive) = archive();
    let mut run = run_of(&archive, 1);
    let path = run.path().to_owned();
    let file = path.join("observations.jsonl");
    assert!(!file.exists(), "a run without looks has no such file");
    run.push_observation(&observation(1)).unwrap();
    run.push(&segment(1)).unwrap();
    run.push_observation(&observation(2)).unwrap();
    drop(run);
    let record = Archive::open(&path).unwrap();
    assert_eq!((record.segments.len(), &record.observations), (2, &vec![observation(1), observation(2)]));
    let evidence = record.evidence();
    assert_eq!(evidence.observations, record.observations);
    assert_eq!(evidence.identity.accounting.unwrap().host_bytes_written, 2, "the books after the last look");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 5]).unwrap();
    let (mut run, record) = resume(&path);
    assert_eq!((record.segments.len(), record.observations.len(), record.notes.len()), (2, 1, 1));
    run.push_observation(&observation(2)).unwrap();
    assert_eq!(fs::read(&file).unwrap(), whole);
    drop(run);
    // A probe after a workload that runs again must run again, too.
    fs::write(
        path.join("segments.jsonl"),
        fs::read_to_string(path.join("segments.jsonl")).unwrap().lines().next().unwrap().to_owned() + "\n",
    )
    .unwrap();
    assert_eq!(resume(&path).1.observations, [observation(1)]);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1);
}

#[test]
fn damage_in_the_middle_names_file_and_line() {
    let (_folder, archive) = archive();
    let run = run_of(&archive, 3);
    let file = run.path().join("segments.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("file 1", "file \u{0}", 1)).unwrap();
    let error = Archive::open(run.path()).unwrap_err().to_string();
    assert!(error.contains("segments.jsonl, line 2, cannot be read"), "{error}");
    fs::write(&file, [b"\xff\xfe\n", text.as_bytes()].concat()).unwrap();
    assert!(Archive::open(run.path()).unwrap_err().to_string().contains("line 1"));
}

#[test]
fn more_lines_than_any_run_has_are_refused_by_file_and_line() {
    let (_folder, archive) = archive();
    let run = run_of(&archive, 1);
    let probes = run.path().join("observations.jsonl");
    let line = serde_json::to_string(&observation(1)).unwrap() + "\n";
    fs::write(&probes, line.repeat(50_000)).unwrap();
    assert_eq!(Archive::open(run.path()).unwrap().observations.len(), 50_000);
    fs::write(&probes, line.repeat(50_001)).unwrap();
    let error = Archive::open(run.path()).unwrap_err().to_string();
    assert!(
        error.contains("observations.jsonl, line 50001, cannot be read: it has more than 50000 lines"),
        "{error}"
    );
    // Sparse: reading it completely would take all memory.
    fs::OpenOptions::new().write(true).open(&probes).unwrap().set_len((1 << 30) + 1).unwrap();
    let error = Archive::open(run.path()).unwrap_err().to_string();
    assert!(error.contains("observations.jsonl") && error.contains("larger than 1 GiB"), "{error}");
}

#[test]
fn evidence_that_is_taken_is_the_evidence() {
    let (_folder, archive) = archive();
    let mut run = run_of(&archive, 2);
    run.push_observation(&observation(2)).unwrap();
    let mut record = Archive::open(run.path()).unwrap();
    let copied = record.evidence();
    assert_eq!(record.take_evidence(), copied);
    assert!(record.segments.is_empty() && record.observations.is_empty());
}

#[test]
fn a_foreign_folder_is_not_a_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("photo.jpg"), "precious").unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing"), folder.path().join("photo.jpg")] {
        for error in [Archive::open(&path).unwrap_err(), Archive::resume(&path).unwrap_err()] {
            let is_refused = matches!(error, ArchiveError::NotARun { .. } | ArchiveError::NoSuchRun(_));
            assert!(is_refused, "{error}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(folder.path().join("photo.jpg")).unwrap(), "precious");
}

#[test]
fn each_file_that_is_missing_is_named() {
    for missing in ["plan.toml", "machine.json", "segments.jsonl"] {
        let (_folder, archive) = archive();
        let run = run_of(&archive, 1);
        fs::remove_file(run.path().join(missing)).unwrap();
        let error = Archive::open(run.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("(no {missing})")), "{error}");
    }
}

#[test]
fn a_newer_schema_is_named_as_such() {
    for (file, from, to) in [
        ("plan.toml", "schema = 1", "schema = 2\nwords = 'new'"),
        ("machine.json", "\"schema\": 2", "\"schema\": 3"),
    ] {
        let (_folder, archive) = archive();
        let run = run_of(&archive, 0);
        let path = run.path().join(file);
        fs::write(&path, fs::read_to_string(&path).unwrap().replacen(from, to, 1)).unwrap();
        let error = Archive::open(run.path()).unwrap_err();
        assert!(
            matches!(error, ArchiveError::OtherSchema { version, supported, .. } if version == u64::from(supported) + 1),
            "{error}"
        );
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn broken_findings_keep_nobody_from_the_evidence() {
    let (_folder, archive) = archive();
    let run = run_of(&archive, 1);
    fs::write(run.path().join("findings.json"), "{\"answers\": 7}").unwrap();
    let record = Archive::open(run.path()).unwrap();
    assert_eq!((record.segments.len(), record.findings), (1, None));
    assert!(record.notes[0].contains("findings.json"), "{:?}", record.notes);
}

#[test]
fn what_would_not_read_back_is_refused() {
    let (_folder, archive) = archive();
    let run = run_of(&archive, 0);
    run.conclude(&findings(1.0)).unwrap();
    for value in [f64::NAN, f64::INFINITY] {
        let mut wrong = findings(1.0);
        wrong.answers[0].estimate.as_mut().unwrap().value = value;
        let error = run.conclude(&wrong).unwrap_err();
        assert!(matches!(error, ArchiveError::Unreadable { .. }), "{error}");
    }
    assert_eq!(Archive::open(run.path()).unwrap().findings, Some(findings(1.0)));
    // An open interval is no such number.
    let mut open = findings(1.0);
    open.answers[0].estimate.as_mut().unwrap().high = f64::INFINITY;
    run.conclude(&open).unwrap();
    assert_eq!(Archive::open(run.path()).unwrap().findings, Some(open));
}

#[test]
fn a_plan_that_cannot_be_kept_is_an_error_and_leaves_nothing() {
    let (_folder, archive) = archive();
    let create = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan();
        change(&mut plan);
        archive.create(&plan, &machine()).unwrap_err()
    };
    assert!(matches!(create(&|plan| plan.schema = 2), ArchiveError::OtherSchema { .. }));
    let not_a_number = toml::Value::Float(f64::NAN);
    let error = create(&|plan| drop(plan.options.insert("share".into(), not_a_number.clone())));
    assert!(matches!(error, ArchiveError::Unreadable { .. }), "{error}");
    assert_eq!(fs::read_dir(archive.root()).unwrap().count(), 0);
}

#[test]
fn any_seed_reads_back() {
    for seed in [0, u64::MAX] {
        let (_folder, archive) = archive();
        let run = archive.create(&Plan { seed, ..plan() }, &machine()).unwrap();
        assert_eq!(Archive::open(run.path()).unwrap().header.plan.seed, seed);
    }
}

#[test]
fn a_root_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error =
        Archive::new(folder.path().join("file/runs")).create(&plan(), &machine()).unwrap_err().to_string();
    assert!(error.contains("could not create") && error.contains("file/runs"), "{error}");
}

const FILES: [&str; 4] = ["plan.toml", "machine.json", "segments.jsonl", "findings.json"];

fn whole_run() -> &'static [Vec<u8>; 4] {
    static WHOLE: OnceLock<[Vec<u8>; 4]> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let (_folder, archive) = archive();
        let run = run_of(&archive, 2);
        run.conclude(&findings(1.0)).unwrap();
        FILES.map(|file| fs::read(run.path().join(file)).unwrap())
    })
}

proptest! {
    #[test]
    fn no_damage_makes_reading_panic(file in 0..4usize, at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 1..8)) {
        let folder = tempfile::tempdir().unwrap();
        for (index, content) in whole_run().iter().enumerate() {
            let mut content = content.clone();
            if index == file {
                let at = at.index(content.len());
                content.splice(at..(at + bytes.len()).min(content.len()), bytes.iter().copied());
            }
            fs::write(folder.path().join(FILES[index]), content).unwrap();
        }
        match Archive::open(folder.path()) {
            Ok(record) => prop_assert!(record.segments.len() <= 10),
            Err(error) => prop_assert!(error.to_string().contains(FILES[file]), "{}", error),
        }
    }
}

#[test]
fn links_in_an_archive_lead_nowhere() {
    let (folder, archive) = archive();
    let mut run = run_of(&archive, 2);
    run.push_observation(&observation(1)).unwrap();
    let own = run.path().to_owned();
    drop(run);
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&own, &elsewhere).unwrap();
    symlink(&elsewhere, &own).unwrap();
    assert_eq!(archive.list().unwrap().len(), 0);
    for error in [Archive::open(&own).unwrap_err(), Archive::resume(&own).unwrap_err()] {
        assert!(error.to_string().contains("is a link"), "{error}");
    }
    fs::remove_file(&own).unwrap();
    fs::rename(&elsewhere, &own).unwrap();
    for name in ["plan.toml", "machine.json", "segments.jsonl", "observations.jsonl"] {
        let (file, secret) = (own.join(name), folder.path().join("secret"));
        fs::rename(&file, &secret).unwrap();
        symlink(&secret, &file).unwrap();
        let error = Archive::open(&own).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("link"), "{error}");
        fs::rename(&secret, &file).unwrap();
    }
    Archive::open(&own).unwrap();
}

#[test]
fn a_folder_that_is_swapped_for_a_link_while_its_run_is_written_takes_nothing_along() {
    let (folder, archive) = archive();
    let mut run = run_of(&archive, 1);
    let (path, victim) = (run.path().to_owned(), folder.path().join("victim"));
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("findings.json"), "precious").unwrap();
    symlink(&victim, &path).unwrap();
    assert!(run.conclude(&Findings::default()).unwrap_err().to_string().contains("is a link"));
    assert!(run.samples().is_err() && run.live().is_err());
    // What is open already goes on where it is.
    run.push(&segment(1)).unwrap();
    assert_eq!(fs::read_to_string(victim.join("findings.json")).unwrap(), "precious");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
}
