//! One run as one file: out and in again, without serial numbers, and what must not be unpacked.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use likenew_archive::{Archive, ArchiveError, DriveSignature, ExportKey, Record, export, import};
use likenew_core::facts::{Drive, Fact, Facts, Identity, Serial};
use likenew_core::findings::Findings;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::units::Nanos;
use tempfile::TempDir;

use crate::support::{machine, plan, segment};

const HASH: &str = "0123456789abcdef0123456789abcdef";
const BY_ID: &str = "/dev/disk/by-id/ata-Example_870_S64DNX0R123456";

fn key(folder: &TempDir, name: &str) -> ExportKey {
    let path = folder.path().join(name);
    let byte = name.as_bytes()[0];
    ExportKey::open(&path, || Ok([byte; 32])).unwrap()
}

/// A run of a drive whose serial number is in its facts and in the name that was typed.
fn run(folder: &TempDir, date: &str) -> PathBuf {
    let (mut plan, mut machine) = (plan(), machine());
    plan.target = Some(BY_ID.into());
    machine.identity.name = BY_ID.into();
    machine.started_at = date.into();
    let mut run = Archive::new(folder.path().join("runs")).create(&plan, &machine).unwrap();
    run.push(&segment(1)).unwrap();
    let identity = Identity {
        serial: Fact::new(Serial { hash: HASH.into(), plain: None }, "VPD"),
        ..Identity::default()
    };
    let facts = Facts { drives: vec![Drive { identity, ..Drive::default() }], ..Facts::default() };
    let observation = Observation {
        probe: Probe::Facts,
        result: ProbeResult::Facts(Box::new(facts)),
        after: 1,
        started_at: Nanos::ZERO,
        ended_at: Nanos::ZERO,
        after_interruption: false,
        accounting: None,
    };
    run.push_observation(&observation).unwrap();
    let findings =
        Findings { summary: format!("Run likenew trim {BY_ID}, then wait."), ..Findings::default() };
    run.conclude(&findings).unwrap();
    run.path().to_owned()
}

fn texts(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    files.collect()
}

#[test]
fn a_run_comes_back_whole_and_without_serial_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let there = Archive::new(folder.path().join("there"));
    let dates = ["2026-03-14T15:09:26Z", "2026-04-14T15:09:26Z"];
    let mine = dates.map(|date| {
        let (from, file) = (run(&folder, date), folder.path().join(format!("{}.likenew", &date[..7])));
        export(&from, &file, &key(&folder, "mine")).unwrap();
        let back = import(&file, &there).unwrap();
        let (sent, got) = (Record::open(&from).unwrap(), Record::open(&back).unwrap());
        assert_eq!(sent.segments, got.segments);
        assert!(got.findings.unwrap().summary.ends_with(", then wait."));
        let text = texts(&back) + &back.display().to_string();
        assert!(!text.contains(HASH) && !text.contains("S64DNX0R123456"), "{text}");
        assert!(!texts(&from).is_empty() && texts(&from).contains(HASH), "the run itself is as it was");
        back
    });
    let signature = |run: &Path| DriveSignature::of(&Record::open(run).unwrap()).unwrap();
    assert_eq!(
        signature(&mine[0]).serial,
        signature(&mine[1]).serial,
        "one owner's exports are of one drive"
    );
    assert_eq!(signature(&mine[0]).name, signature(&mine[1]).name);
    let file = folder.path().join("other.likenew");
    export(&folder.path().join("runs").join(name_of(&folder, 0)), &file, &key(&folder, "other")).unwrap();
    let other = import(&file, &Archive::new(folder.path().join("elsewhere"))).unwrap();
    assert_ne!(signature(&mine[0]).serial, signature(&other).serial, "another owner's hash is another");
}

fn name_of(folder: &TempDir, index: usize) -> PathBuf {
    Archive::new(folder.path().join("runs")).folders().unwrap()[index].file_name().unwrap().into()
}

#[test]
fn nothing_is_overwritten_and_nothing_is_kept_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (from, file, key) =
        (run(&folder, "2026-03-14T15:09:26Z"), folder.path().join("x.likenew"), key(&folder, "k"));
    export(&from, &file, &key).unwrap();
    let before = fs::read(&file).unwrap();
    assert!(matches!(export(&from, &file, &key), Err(ArchiveError::System { .. })));
    assert_eq!(fs::read(&file).unwrap(), before);
    let there = Archive::new(folder.path().join("there"));
    let first = import(&file, &there).unwrap();
    assert!(matches!(import(&file, &there), Err(ArchiveError::KeptAlready(kept)) if kept == first));
    assert_eq!(fs::read_dir(there.root()).unwrap().count(), 1, "no half-imported folder is left");
    // Another run of that name is kept beside it.
    fs::write(first.join("findings.json"), r#"{"answers": [], "tables": {}, "series": {}}"#).unwrap();
    let second = import(&file, &there).unwrap();
    assert!(second != first && second.file_name().unwrap().to_string_lossy().ends_with("-2"), "{second:?}");
}

/// A file in a bundle: its name, type, claimed length and content.
type Entry<'a> = (&'a str, tar::EntryType, Option<u64>, &'a [u8]);

/// A bundle of these files.
fn bundle(path: &Path, entries: &[Entry<'_>]) {
    let mut packed = zstd::Encoder::new(fs::File::create(path).unwrap(), 1).unwrap();
    for (name, kind, length, content) in entries {
        let mut header = tar::Header::new_gnu();
        // Written as it is: the library's own functions refuse such names.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(length.unwrap_or(content.len() as u64));
        header.set_mode(0o644);
        header.set_entry_type(*kind);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        packed.write_all(header.as_bytes()).unwrap();
        packed.write_all(content).unwrap();
        packed.write_all(&vec![0; content.len().next_multiple_of(512) - content.len()]).unwrap();
    }
    packed.write_all(&[0; 1024]).unwrap();
    packed.finish().unwrap();
}

#[test]
fn hostile_files_are_refused_and_leave_nothing() {
    use tar::EntryType::{Directory, Regular, Symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, there) = (folder.path().join("x.likenew"), Archive::new(folder.path().join("there")));
    let label = ("likenew-run.json", Regular, None, &b"{\"schema\":1}"[..]);
    let plan = ("plan.toml", Regular, None, &b"procedure = \"bench\""[..]);
    let large: &[u8] = &vec![b' '; 5 << 20];
    let cases: [(&str, &[Entry<'_>]); 12] = [
        ("not a file that likenew export wrote", &[]),
        ("not a file that likenew export wrote", &[plan]),
        ("schema 2", &[("likenew-run.json", Regular, None, b"{\"schema\":2}")]),
        ("which no run has", &[label, ("../../escaped", Regular, None, b"x")]),
        ("which no run has", &[label, ("/etc/cron.d/x", Regular, None, b"x")]),
        ("which no run has", &[label, ("samples-01.parquet", Regular, None, b"x")]),
        ("which no run has", &[label, ("sub/plan.toml", Regular, None, b"x")]),
        ("not an ordinary file", &[label, ("plan.toml", Symlink, None, b"")]),
        ("not an ordinary file", &[label, ("plan.toml", Directory, None, b"")]),
        ("holds plan.toml twice", &[label, plan, plan]),
        ("larger than 4 MiB", &[label, ("plan.toml", Regular, None, large)]),
        ("incomplete or damaged", &[label, ("findings.json", Regular, Some(40 << 20), b"short")]),
    ];
    for (reason, entries) in cases {
        bundle(&file, entries);
        let error = import(&file, &there).unwrap_err();
        assert!(matches!(error, ArchiveError::BadBundle { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}, and not: {reason}");
        assert_eq!(fs::read_dir(there.root()).unwrap().count(), 0, "{reason}");
    }
    assert!(
        !folder.path().join("escaped").exists() && !folder.path().parent().unwrap().join("escaped").exists()
    );
    bundle(&file, &[label, plan]);
    assert!(import(&file, &there).unwrap_err().to_string().contains("machine.json"));
    fs::write(&file, "text").unwrap();
    assert!(matches!(import(&file, &there), Err(ArchiveError::BadBundle { .. })));
}

#[test]
fn a_damaged_or_shortened_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (from, file, key) =
        (run(&folder, "2026-03-14T15:09:26Z"), folder.path().join("x.likenew"), key(&folder, "k"));
    export(&from, &file, &key).unwrap();
    let whole = fs::read(&file).unwrap();
    let there = Archive::new(folder.path().join("there"));
    for at in (0..whole.len()).step_by(whole.len() / 97 + 1) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        for bytes in [&flipped[..], &whole[..at]] {
            fs::write(&file, bytes).unwrap();
            // A flipped bit may be one that no reader looks at; then the run is the same.
            if let Ok(back) = import(&file, &there) {
                assert!(
                    Record::open(&back).unwrap().segments == Record::open(&from).unwrap().segments,
                    "byte {at} of {} is another and nobody noticed",
                    whole.len()
                );
                fs::remove_dir_all(back).unwrap();
            }
            assert_eq!(fs::read_dir(there.root()).unwrap().count(), 0);
        }
    }
}

#[test]
fn the_owners_secret_is_made_once_and_only_the_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/export.key");
    ExportKey::open(&path, || Ok([7; 32])).unwrap();
    ExportKey::open(&path, || panic!("it is there")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    fs::write(&path, "short").unwrap();
    assert!(matches!(ExportKey::open(&path, || Ok([7; 32])), Err(ArchiveError::Broken { .. })));
}
