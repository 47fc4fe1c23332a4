//! Every single I/O is kept, or the run gets the error.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::support::{machine, plan, sample};
use likenew_archive::{Archive, ArchiveError, Run, SampleReader};
use likenew_core::io::Sample;
use likenew_core::segment::{Recorder as _, Stop};
use likenew_core::units::Nanos;

fn run(root: &Path) -> Run {
    Archive::new(root).create(&plan(), &machine()).unwrap()
}

fn read(path: &Path) -> Vec<(u32, Sample)> {
    SampleReader::open(path).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn samples_of_several_lanes_and_segments_read_back() {
    const COUNT: u64 = 300_000;
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let writer = run.samples().unwrap();
    for segment in 0..2u32 {
        std::thread::scope(|scope| {
            for lane in 0..2u64 {
                let mut recorder = writer.recorder(segment);
                scope.spawn(move || {
                    let samples: Vec<Sample> =
                        (0..COUNT / 4).map(|number| sample(number * 2 + lane)).collect();
                    for batch in samples.chunks(37) {
                        assert!(recorder.record(batch).is_continue());
                    }
                    recorder.end(Nanos::ZERO);
                });
            }
        });
    }
    let path = writer.path().to_owned();
    assert_eq!(writer.close().unwrap(), COUNT);
    assert_eq!(SampleReader::open(&path).unwrap().total(), COUNT);
    let rows = read(&path);
    let lane = |segment: u32, lane: u64| {
        rows.iter()
            .filter(move |(of, sample)| *of == segment && sample.due.0 / 1_000 % 2 == lane)
            .map(|(_, sample)| *sample)
    };
    for (segment, parity) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let expected = (0..COUNT / 4).map(|number| sample(number * 2 + parity));
        assert!(
            lane(segment, parity).eq(expected),
            "segment {segment}, lane {parity}: in order of completion"
        );
    }
    assert_eq!(Archive::open(run.path()).unwrap().sample_files(), [path]);
}

#[test]
fn a_file_is_ended_even_if_nobody_closes_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let writer = run.samples().unwrap();
    let mut recorder = writer.recorder(5);
    assert!(recorder.record(&[sample(1), sample(2)]).is_continue());
    drop(recorder);
    drop(writer);
    assert_eq!(read(&run.path().join("samples.parquet")), [(5, sample(1)), (5, sample(2))]);
    assert_eq!(run.samples().unwrap().close().unwrap(), 0);
    assert_eq!(read(&run.path().join("samples-2.parquet")), []);
    assert_eq!(Archive::open(run.path()).unwrap().sample_files().len(), 2);
}

#[test]
#[should_panic(expected = "recorders end before")]
fn closing_under_an_open_recorder_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let writer = run(folder.path()).samples().unwrap();
    let _recorder = writer.recorder(0);
    let _ = writer.close();
}

#[test]
fn a_damaged_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let writer = run.samples().unwrap();
    let mut recorder = writer.recorder(0);
    assert!(recorder.record(&(0..500).map(sample).collect::<Vec<_>>()).is_continue());
    drop(recorder);
    let path = writer.path().to_owned();
    writer.close().unwrap();
    let whole = fs::read(&path).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for length in (0..whole.len()).rev().step_by(7) {
        file.set_len(length as u64).unwrap();
        let error = SampleReader::open(&path).err().expect("a cut file has no end").to_string();
        assert!(error.contains("samples.parquet") && error.contains("was not closed"), "{error}");
    }
    file.write_all_at(&whole, 0).unwrap();
    for (at, flip) in (0..whole.len()).zip([0x01, 0x55, 0x80, 0xff].into_iter().cycle()) {
        if at > 0 {
            file.write_all_at(&whole[at - 1..at], at as u64 - 1).unwrap();
        }
        file.write_all_at(&[whole[at] ^ flip], at as u64).unwrap();
        // A changed value may go unnoticed; what must not happen is a panic or an endless file.
        if let Ok(reader) = SampleReader::open(&path) {
            assert!(reader.take(2_000_000).count() < 2_000_000, "byte {at}");
        }
    }
    fs::write(&path, "a photo").unwrap();
    assert!(matches!(SampleReader::open(&path), Err(ArchiveError::Broken { .. })));
}

/// A file system of one mebibyte, gone when dropped.
struct TinyDrive(tempfile::TempDir);

impl TinyDrive {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = std::process::Command::new("mount");
        let status = mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.path()).status();
        if status.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        println!("skipped: mounting a tiny tmpfs needs root");
        None
    }
}

impl Drop for TinyDrive {
    fn drop(&mut self) {
        let status = std::process::Command::new("umount").arg(self.0.path()).status();
        assert!(
            status.is_ok_and(|status| status.success()) || std::thread::panicking(),
            "the tmpfs stays mounted"
        );
    }
}

#[test]
fn a_full_drive_stops_the_samples_with_a_clear_error() {
    let Some(drive) = TinyDrive::mount() else { return };
    let run = run(drive.0.path());
    let writer = run.samples().unwrap();
    let mut recorder = writer.recorder(0);
    let stopped = (0..1_000).find_map(|batch: u64| {
        let samples: Vec<Sample> = (batch * 8_192..(batch + 1) * 8_192).map(sample).collect();
        match recorder.record(&samples) {
            ControlFlow::Break(stop) => Some(stop),
            ControlFlow::Continue(()) => None,
        }
    });
    assert_eq!(stopped, Some(Stop::Interrupted));
    drop(recorder);
    let error = writer.close().unwrap_err().to_string();
    assert!(error.contains("samples.parquet") && error.contains("free some space"), "{error}");
}

#[test]
fn a_full_drive_keeps_the_segments_that_fitted() {
    let Some(drive) = TinyDrive::mount() else { return };
    let mut run = run(drive.0.path());
    let mut kept = 0;
    let error = loop {
        match run.push(&crate::support::segment(kept)) {
            Ok(()) => kept += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("segments.jsonl") && error.contains("free some space"), "{error}");
    let record = Archive::open(run.path()).unwrap();
    assert_eq!((record.segments.len() as u64, record.notes.len()), (kept, 0));
    let error = Archive::new(drive.0.path()).create(&plan(), &machine()).map(|run| run.path().to_owned());
    let left = Archive::new(drive.0.path()).list().unwrap().len();
    assert_eq!(left, if error.is_ok() { 2 } else { 1 }, "a run that could not be started leaves nothing");
}
