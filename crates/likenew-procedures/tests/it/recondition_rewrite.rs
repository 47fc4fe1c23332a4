//! Everything that a drive without TRIM holds is rewritten in place: it is as fast as new again, and holds what it held. What
//! that cannot help is told so, and not rewritten.

use std::io;
use std::path::Path;

use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::findings::{Findings, Standing};
use likenew_core::fix::Fix;
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::units::Nanos;
use likenew_procedures::all;
use likenew_run::runner::run_procedure;
use likenew_sim::{SimDrive, Spec};

use crate::questions::Bystander;
use crate::support::{answer, standing};

/// What the model does when it is new, by a check of a simulated one.
const NEW: &str = "
[[check.reference]]
metric = 'sustained_write'
origin = 'simulated'
per_s = 67760464.0
[[check.reference]]
metric = 'sequential_write'
origin = 'simulated'
per_s = 68838726.0
[[check.reference]]
metric = 'sequential_read'
origin = 'simulated'
per_s = 278838431.0
[[check.reference]]
metric = 'random_read'
origin = 'simulated'
per_s = 7508.0
";

const MIB: u64 = 1 << 20;

/// A file of the catalog with some lines changed and more added.
fn file(changes: &[(&str, &str)], more: &str) -> impl Fn(&Path) -> io::Result<Vec<u8>> {
    let like = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml");
    let text = std::fs::read_to_string(like).unwrap();
    let text = changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let text = format!("{text}\n{more}\n");
    move |_: &Path| Ok(text.clone().into_bytes())
}

fn open(target: &str) -> SimDrive {
    Spec::parse(target).unwrap().open(file(&[], "")).unwrap()
}

fn recondition(drive: &mut SimDrive, target: &str, options: &str) -> (Evidence, Findings) {
    recondition_by(drive, target, options, NEW)
}

fn recondition_by(drive: &mut SimDrive, target: &str, options: &str, new: &str) -> (Evidence, Findings) {
    recondition_with(drive, target, &format!("{options}\n[check]\nbytes = '256MiB'\n{new}"))
}

fn recondition_with(drive: &mut SimDrive, target: &str, options: &str) -> (Evidence, Findings) {
    let options = format!("idle = '5s'\n{options}");
    let plan = Plan::new("recondition", Some(target.into()), 0, toml::from_str(&options).unwrap());
    let procedure = all::from_plan(&plan).unwrap();
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    run_procedure(drive, &*procedure, &mut evidence, &mut Bystander).unwrap();
    let findings = all::judge(&*procedure, &evidence);
    (evidence, findings)
}

/// Bytes that were rewritten.
fn rewritten(evidence: &Evidence) -> u64 {
    let of = evidence
        .observations
        .iter()
        .filter(|observation| matches!(observation.probe, Probe::Fix(Fix::Rewrite { .. })));
    of.map(|observation| observation.bytes_written()).sum()
}

/// Sustained writes of the last check, in percent of new.
fn percent_of_new(findings: &Findings) -> f64 {
    let rows = &findings.tables["before_and_after"];
    let last = rows.iter().rfind(|row| row["metric"] == "sustained write").unwrap();
    last["after_of_reference_percent"].as_f64().unwrap()
}

#[test]
fn a_full_used_drive_comes_back_without_losing_anything() {
    for target in ["sim:d.toml?state=used&trim=off", "sim:d.toml?state=used"] {
        let mut drive = open(target);
        let capacity = drive.geometry().capacity;
        // The second pass over the same addresses has to reach the place where the first became slow.
        let (evidence, findings) =
            recondition_with(&mut drive, target, &format!("[check]\nbytes = '1GiB'\n{NEW}"));
        let summary = &findings.summary;
        assert!(summary.contains("estored: sustained writes "), "{target}: {summary}");
        assert!(summary.ends_with("Nothing was lost."), "{target}: {summary}");
        assert!(percent_of_new(&findings) >= 97.0, "{target}: {summary}");
        assert_eq!(standing(&findings, "step_rewrite"), Some(Standing::Good), "{target}");
        let written = rewritten(&evidence);
        assert!(written <= 2 * capacity && written >= capacity * 3 / 4, "{target}: {written}");
        let passes = &findings.tables["passes"];
        assert!(
            (1..=2).contains(&passes.len()) && passes.iter().all(|row| row["step"] == "rewrite"),
            "{passes:?}"
        );
        assert!(findings.series.contains_key("passes"), "the speed along the passes is evidence");
    }
}

/// A drive of 128 MiB, which holds every byte.
fn small(target: &str) -> SimDrive {
    let changes = [
        ("value = 1073741824", "value = 134217728"),
        ("blocks_per_plane = { value = 144", "blocks_per_plane = { value = 21"),
    ];
    Spec::parse(target).unwrap().open(file(&changes, "")).unwrap()
}

/// What belongs at an offset of a stamped drive.
fn stamp(offset: u64, into: &mut [u8]) {
    for (index, word) in into.chunks_mut(8).enumerate() {
        word.copy_from_slice(
            &(offset + index as u64 * 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes(),
        );
    }
}

/// Writes or reads so many MiB from the beginning, with what belongs there.
fn each_mib(drive: &mut SimDrive, op: Op, bytes: u64, mut act: impl FnMut(u64, &mut [u8])) {
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: MIB as u32 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    for offset in (0..bytes).step_by(MIB as usize) {
        if op == Op::Write {
            act(offset, &mut lane.buffer(Slot(0))[..MIB as usize]);
        }
        let io = Io { slot: Slot(0), op, offset, length: MIB as u32, data: DataClass::Random, sync: None };
        lane.submit(&[io]).unwrap();
        let mut done = Vec::new();
        while done.is_empty() {
            lane.wait(Nanos::NEVER, &mut done).unwrap();
        }
        if op == Op::Read {
            act(offset, &mut lane.buffer(Slot(0))[..MIB as usize]);
        }
    }
}

#[test]
fn every_byte_stays_as_it_was() {
    let target = "sim:d.toml?state=used&trim=off&data=on";
    let mut drive = small(target);
    // The check writes at the end.
    let kept = drive.geometry().capacity - 64 * MIB;
    each_mib(&mut drive, Op::Write, kept, stamp);
    let (evidence, _) = recondition(&mut drive, target, "step = 'rewrite'");
    assert!(rewritten(&evidence) >= kept / 2, "{}", rewritten(&evidence));
    let mut expected = vec![0; MIB as usize];
    let mut compared = 0;
    each_mib(&mut drive, Op::Read, kept, |offset, held| {
        stamp(offset, &mut expected);
        assert!(*held == expected[..], "the MiB at {offset}");
        compared += 1;
    });
    assert_eq!(compared, kept / MIB);
}

/// Flash that forgets within months, as planar TLC does.
const FORGETFUL: &str = "[aging]
onset_s = { value = 604800, source = 'this test' }
retries_per_decade = { value = 4, source = 'this test' }
retries_max = { value = 12, source = 'this test' }";

#[test]
fn old_data_and_no_trim_at_once_are_written_once() {
    let target = "sim:d.toml?state=used&trim=off&age=400d";
    let mut drive = Spec::parse(target).unwrap().open(file(&[], FORGETFUL)).unwrap();
    let capacity = drive.geometry().capacity;
    let (evidence, findings) = recondition(&mut drive, target, "");
    let steps: Vec<&str> = findings.tables["steps"].iter().filter_map(|row| row["step"].as_str()).collect();
    assert_eq!(steps, ["rewrite"], "old data is a part of all data: {}", findings.summary);
    assert!(findings.summary.contains("estored: "), "{}", findings.summary);
    assert!(percent_of_new(&findings) >= 97.0, "{}", findings.summary);
    let written = rewritten(&evidence);
    assert!(written <= capacity * 3 / 2, "{written}");
    let rows = &findings.tables["before_and_after"];
    let reads = rows.iter().find(|row| row["metric"] == "4K random read").unwrap();
    assert!(reads["ratio"].as_f64().unwrap() > 1.5, "{reads:?}");
}

#[test]
fn a_drive_that_is_fast_already_is_hardly_written() {
    let target = "sim:d.toml?fill=1&trim=off";
    let mut drive = open(target);
    let capacity = drive.geometry().capacity;
    let (evidence, findings) = recondition(&mut drive, target, "step = 'rewrite'");
    let written = rewritten(&evidence);
    assert!(
        written > 0 && written <= capacity * 3 / 5,
        "{written}: a probe of each span shows that it is fast"
    );
    assert_ne!(standing(&findings, "result"), Some(Standing::Good), "{}", findings.summary);
}

#[test]
fn a_drive_that_is_slow_whatever_it_holds_is_not_rewritten_to_its_end() {
    // Somebody promised twice of what it can do, so that every part of it looks slow.
    let target = "sim:d.toml?fill=1&trim=off";
    let mut drive = open(target);
    let capacity = drive.geometry().capacity;
    let promised = NEW.replace("per_s = 67760464.0", "per_s = 135520928.0");
    let (evidence, findings) = recondition_by(&mut drive, target, "step = 'rewrite'", &promised);
    let written = rewritten(&evidence);
    assert!(written <= capacity / 2, "{written} of {capacity}");
    let step = answer(&findings, "step_rewrite");
    assert_ne!(step.standing, Standing::Good, "{step:?}");
    let shown = step.evidence.join(" ");
    assert!(shown.contains("stopped, because writing became no faster"), "{shown}");
}

#[test]
fn a_drive_that_is_a_little_slow_for_no_known_reason_is_rewritten_on_trial() {
    // At 87% of what somebody measured when it was new: not slow enough for a diagnosis.
    let target = "sim:d.toml?fill=1&trim=off";
    let mut drive = open(target);
    let capacity = drive.geometry().capacity;
    let promised = NEW.replace("per_s = 67760464.0", "per_s = 77900000.0");
    let (evidence, findings) = recondition_by(&mut drive, target, "", &promised);
    let written = rewritten(&evidence);
    assert!(written > 0 && written <= capacity * 3 / 5, "{written} of {capacity}: it gains nothing");
    assert_ne!(standing(&findings, "step_rewrite"), Some(Standing::Good), "{}", findings.summary);
    // A data sheet holds under the best conditions.
    let mut drive = open(target);
    let rated = promised.replace("'simulated'", "'advertised'");
    let (evidence, findings) = recondition_by(&mut drive, target, "", &rated);
    assert_eq!(rewritten(&evidence), 0, "{}", findings.summary);
}

#[test]
fn where_only_small_writes_are_slow_everything_is_rewritten_once() {
    // Log blocks: sequential writes are as fast as when new, and show nothing of what rewriting gains.
    let target = "sim:generated-5059?state=used&trim=off";
    let mut drive = Spec::parse(target).unwrap().open(|_| unreachable!("it is generated")).unwrap();
    let in_whole_mib = drive.geometry().capacity / MIB * MIB;
    let new = "[[check.reference]]\nmetric = 'random_write'\norigin = 'simulated'\nper_s = 1260.0\n\
               [[check.reference]]\nmetric = 'sequential_write'\norigin = 'simulated'\nper_s = 14.4e6\n\
               [[check.reference]]\nmetric = 'sustained_write'\norigin = 'simulated'\nper_s = 14.2e6\n";
    let (evidence, findings) = recondition_by(&mut drive, target, "", new);
    assert_eq!(rewritten(&evidence), in_whole_mib, "{}", findings.summary);
    assert_eq!(standing(&findings, "step_rewrite"), Some(Standing::Good), "{}", findings.summary);
    let rows = &findings.tables["before_and_after"];
    let small = rows.iter().find(|row| row["metric"] == "4K random write").unwrap();
    let percent = |key: &str| small[key].as_f64().unwrap();
    assert!(percent("before_of_reference_percent") < 5.0, "{small:?}");
    assert!(percent("after_of_reference_percent") >= 95.0, "{small:?}");
}

#[test]
fn a_drive_that_throttles_itself_is_not_rewritten_unasked() {
    let target = "sim:d.toml?fill=1&trim=off&throttle=0.3";
    let mut drive = open(target);
    let (evidence, findings) = recondition(&mut drive, target, "");
    assert_eq!(rewritten(&evidence), 0, "{}", findings.summary);
}

#[test]
fn a_hard_disk_is_never_rewritten() {
    let target = "sim:wd-scorpio-black-500gb?fill=0.5";
    let Ok(mut drive) = Spec::parse(target).unwrap().open(|_| unreachable!("it is in the catalog")) else {
        panic!("{target}")
    };
    let (evidence, findings) = recondition(&mut drive, target, "step = 'rewrite'");
    assert_eq!(rewritten(&evidence), 0);
    assert!(findings.summary.contains("a hard disk writes in place"), "{}", findings.summary);
}
