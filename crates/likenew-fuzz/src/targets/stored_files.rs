//! Fuzzes files kept between runs: saved drives, samples, logs of a watch, the audit log.

use std::fs;
use std::path::Path;

use likenew_archive::{
    AUDIT_SCHEMA, Archive, AuditConsent, AuditEntry, AuditOutcome, AuditedDrive, Machine, SampleReader,
    read_audit, read_live, unfinished_steps,
};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::instrument::Instrument;
use likenew_core::io::{DataClass, Io, Op, Outcome, Sample, Slot};
use likenew_core::procedure::Plan;
use likenew_core::segment::Recorder as _;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_sim::Spec;
use likenew_watch::findings::Log;
use likenew_watch::line::Line;

use super::{memory_folder, text};
use crate::{Input, Target};

pub(super) fn targets() -> Vec<Target> {
    vec![
        Target::new("saved drives", saved_drives(), saved_drive),
        Target::new("samples", samples(), sample_file),
        Target::new("notes of a watch", vec![vec![NOTES.to_vec()]], notes),
        Target::new("audit log", vec![vec![audit_lines()]], audit),
    ]
}

const SAVED_SPECS: [&str; 4] = [
    "sim:tiny-flash?state=used",
    "sim:tiny-flash?state=new&fill=0.1&data=on",
    "sim:wd-caviar-se16",
    "sim:cloud-gp2-100gib?lazy=on",
];

/// A file system without files, since these drives need none.
fn nothing(_: &Path) -> std::io::Result<Vec<u8>> {
    Err(std::io::ErrorKind::NotFound.into())
}

fn save(spec: &str) -> Vec<u8> {
    let mut drive = Spec::parse(spec).and_then(|spec| spec.open(nothing)).expect("a drive of the catalog");
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("memory takes everything");
    bytes
}

/// Saved drives. A checksum finds nearly all damage to the state, but the header has none.
fn saved_drives() -> Vec<Input> {
    SAVED_SPECS.iter().map(|spec| vec![save(spec)]).collect()
}

/// Opens a saved drive, and does a few I/Os.
fn saved_drive(parts: &[Vec<u8>]) -> bool {
    let Ok(spec) = Spec::parse("sim:saved.snapshot") else { return false };
    let read = |_: &Path| Ok(parts[0].clone());
    let _ = spec.explain(read);
    let Ok(mut drive) = spec.open(read) else { return false };
    let capacity = drive.geometry().capacity;
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let Ok(mut lanes) = drive.lanes(&need) else { return true };
    let lane = &mut lanes[0];
    let mut done = Vec::new();
    for (index, op) in [Op::Read, Op::Write, Op::Write, Op::Flush, Op::Read].into_iter().enumerate() {
        let length = if op == Op::Flush { 0 } else { 4096 };
        let offset = [0, capacity / 8192 * 4096, capacity - 4096][index % 3];
        let io = Io { slot: Slot(0), op, offset, length, data: DataClass::Zero, sync: None };
        if lane.submit(&[io]).is_err() || lane.wait(Nanos::NEVER, &mut done).is_err() {
            return true;
        }
    }
    true
}

/// A file of samples with two groups.
fn samples() -> Vec<Input> {
    let folder = memory_folder();
    let drive = Spec::parse("sim:tiny-flash").and_then(|spec| spec.open(nothing)).expect("a drive");
    let instrument = Instrument {
        version: "0".into(),
        clock: Clock::Virtual,
        engine: "sim".into(),
        system: None,
        calibration: None,
    };
    let machine = Machine::new("2026-03-14T15:09:26Z", drive.identity(), drive.geometry(), instrument);
    let plan = Plan::new("bench", None, 1, toml::Table::default());
    let run = Archive::new(folder.path()).create(&plan, &machine).expect("a run folder");
    let inputs = [1, 500].map(|count| {
        let writer = run.samples().expect("a file of samples");
        let path = writer.path().to_owned();
        let mut recorder = writer.recorder(3);
        for index in 0..count {
            let (due, done) = (Nanos(1000 * index), Nanos(1000 * index + 700));
            let (op, outcome) = (Op::ALL[index as usize % Op::ALL.len()], Outcome::Done);
            let (length, offset) = (4096, 4096 * index);
            let sample = Sample { stream: 0, op, outcome, length, offset, due, sent: due, done };
            assert!(recorder.record(&[sample]).is_continue());
        }
        recorder.end(Nanos::ZERO);
        drop(recorder);
        writer.close().expect("samples are written");
        vec![fs::read(path).expect("what was just written")]
    });
    inputs.into()
}

/// Writes an input to a file, and reads the file.
fn in_file(bytes: &[u8], name: &str, read: impl FnOnce(&Path) -> bool) -> bool {
    thread_local! {
        static FOLDER: tempfile::TempDir = memory_folder();
    }
    FOLDER.with(|folder| {
        fs::write(folder.path().join(name), bytes).expect("an input is written");
        read(&folder.path().join(name))
    })
}

fn sample_file(parts: &[Vec<u8>]) -> bool {
    in_file(&parts[0], "samples.parquet", |path| {
        let Ok(reader) = SampleReader::open(path) else { return false };
        let _ = reader.total();
        let mut rows = reader.take(100_000);
        rows.all(|row| row.is_ok_and(|(_, sample)| sample.check().is_ok() || sample.due.0 > 0))
    })
}

const NOTES: &[u8] = include_bytes!("../../corpus/watch.jsonl");

fn notes(parts: &[Vec<u8>]) -> bool {
    in_file(&parts[0], "live.jsonl", |path| {
        let mut log = Log::default();
        let read = read_live(path.parent().expect("a folder"), |line: Line| log.add(&line));
        let _ = (log.elapsed(), log.findings());
        read.is_ok()
    })
}

/// Entries of the audit log: a step that ended, one that did not, and one that was announced.
fn audit_lines() -> Vec<u8> {
    let entry = |process, outcome| AuditEntry {
        schema: AUDIT_SCHEMA,
        at: "2026-03-14T15:09:26Z".into(),
        likenew: "0.1.0".into(),
        kernel: Some("6.1.0".into()),
        process,
        step: 1,
        action: "discard-device".into(),
        request: "discard all of it".into(),
        drive: AuditedDrive {
            id: "S6Z1NJ0T".into(),
            id_kind: "serial number".into(),
            model: Some("A drive".into()),
            firmware: None,
            path: "/dev/sda".into(),
            bytes: 1 << 40,
        },
        consent: AuditConsent { id: "S6Z1NJ0T".into(), destroy: vec!["ext4".into()] },
        outcome,
    };
    let outcome = |complete| AuditOutcome {
        complete,
        message: "done".into(),
        bytes_asked: 1 << 40,
        bytes_done: if complete { 1 << 40 } else { 7 },
    };
    let lines = [
        entry(7, None),
        entry(7, Some(outcome(true))),
        entry(8, None),
        entry(8, Some(outcome(false))),
        entry(9, None),
    ];
    let line = |entry: &AuditEntry| serde_json::to_string(entry).expect("an entry is plain values") + "\n";
    lines.iter().map(line).collect::<String>().into_bytes()
}

fn audit(parts: &[Vec<u8>]) -> bool {
    in_file(&parts[0], "audit.jsonl", |path| {
        let Ok((entries, notes)) = read_audit(path) else { return false };
        let open = unfinished_steps(&entries);
        assert!(open.len() <= entries.len(), "no step ends twice");
        let _ = text(parts).map(|text| notes.len() <= text.lines().count());
        !entries.is_empty()
    })
}
