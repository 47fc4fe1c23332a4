//! A folder as a drive: its files, and I/Os that fail.

use std::fs;
use std::path::Path;

use crate::support::{Loop, Mounted, disk_folder, lane, one, open_folder, refusal, says, soon};
use likenew_core::drive::{LaneRequirements, TargetKind};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::procedure::Layout;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_real::engine::Engine;
use likenew_real::open::{Options, open};
use likenew_real::scratch::{DIRECTORY, MARKER};

const FILE: u64 = 128 << 10;
const ENGINES: [Engine; 2] = [Engine::Uring, Engine::Posix];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join(DIRECTORY)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != MARKER);
    names.sort();
    names
}

#[test]
fn files_come_with_their_first_write_and_go_with_a_trim_of_all_of_them() {
    let place = disk_folder();
    for engine in ENGINES {
        let mut drive = open_folder(place.path(), engine, 3, FILE).unwrap();
        let geometry = drive.geometry();
        assert_eq!((geometry.capacity, geometry.boundary), (3 * FILE, Some(FILE)));
        let mut lane = lane(&mut *drive);
        assert!(names(place.path()).is_empty());
        assert_eq!(one(&mut lane, Op::Read, 0, 4096).unwrap(), Outcome::Error(2), "nothing was ever written");
        assert_eq!(one(&mut lane, Op::Trim, 0, 4096).unwrap(), Outcome::Done, "nothing to give up");
        assert_eq!(one(&mut lane, Op::Write, 2 * FILE, 4096).unwrap(), Outcome::Done);
        assert_eq!(one(&mut lane, Op::Write, 65536, 65536).unwrap(), Outcome::Done);
        assert_eq!(names(place.path()), ["00000.likenew", "00002.likenew"]);
        assert_eq!(
            one(&mut lane, Op::Read, 2 * FILE + 4096, 4096).unwrap(),
            Outcome::Short(0),
            "past its end"
        );
        assert_eq!(one(&mut lane, Op::Flush, 0, 0).unwrap(), Outcome::Done);
        let blocks = |name: &str| {
            use std::os::unix::fs::MetadataExt as _;
            fs::metadata(place.path().join(DIRECTORY).join(name)).unwrap().blocks()
        };
        assert_eq!(blocks("00000.likenew"), 128);
        assert_eq!(one(&mut lane, Op::Trim, 65536, 65536).unwrap(), Outcome::Done);
        assert_eq!(blocks("00000.likenew"), 0, "a trim of a part makes a hole");
        for (round, left) in [(0, vec!["00002.likenew"]), (1, vec![])] {
            assert_eq!(one(&mut lane, Op::Trim, 2 * FILE * round, FILE as u32).unwrap(), Outcome::Done);
            assert_eq!(names(place.path()), left);
            assert_eq!(one(&mut lane, Op::Read, 2 * FILE * round, 4096).unwrap(), Outcome::Error(2));
            assert_eq!(one(&mut lane, Op::Trim, 2 * FILE * round, FILE as u32).unwrap(), Outcome::Done);
        }
        lane.buffer(Slot(0))[..4096].fill(7);
        assert_eq!(one(&mut lane, Op::Write, 2 * FILE, 4096).unwrap(), Outcome::Done, "made once more");
        lane.buffer(Slot(0))[..4096].fill(0);
        assert_eq!(one(&mut lane, Op::Read, 2 * FILE, 4096).unwrap(), Outcome::Done);
        assert!(lane.buffer(Slot(0))[..4096].iter().all(|byte| *byte == 7));
        assert_eq!(names(place.path()), ["00002.likenew"]);
        drop(lane);
        drop(drive);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "all of it is gone");
    }
}

#[test]
fn a_deleted_small_file_keeps_nothing_when_it_is_made_again() {
    use std::os::unix::fs::MetadataExt as _;
    const SMALL: u64 = 64 << 10;
    let place = disk_folder();
    for engine in ENGINES {
        let mut drive = open_folder(place.path(), engine, 4, SMALL).unwrap();
        let mut lane = lane(&mut *drive);
        let file = |name: &str| fs::metadata(place.path().join(DIRECTORY).join(name)).unwrap();
        for number in 0..4 {
            assert_eq!(one(&mut lane, Op::Write, number * SMALL, SMALL as u32).unwrap(), Outcome::Done);
        }
        assert_eq!(file("00001.likenew").blocks() * 512, SMALL);
        assert_eq!(one(&mut lane, Op::Trim, SMALL, SMALL as u32).unwrap(), Outcome::Done);
        assert_eq!(names(place.path()), ["00000.likenew", "00002.likenew", "00003.likenew"]);
        assert_eq!(one(&mut lane, Op::Write, SMALL, 4096).unwrap(), Outcome::Done);
        let again = file("00001.likenew");
        assert_eq!(
            (again.len(), again.blocks() * 512),
            (4096, 4096),
            "another file, not the old one with a hole"
        );
        drop(lane);
    }
}

#[test]
fn space_of_a_deleted_file_is_free_although_a_lane_is_open() {
    let Some(memory) = Mounted::tmpfs("size=8m") else { return };
    let free = || {
        let of = rustix::fs::statvfs(memory.path()).unwrap();
        of.f_bfree * of.f_frsize
    };
    for engine in ENGINES {
        let before = free();
        let mut drive = open_folder(memory.path(), engine, 4, 1 << 20).unwrap();
        let mut lane = lane(&mut *drive);
        for _ in 0..20 {
            for offset in (0..4u64 << 20).step_by(64 << 10) {
                assert_eq!(one(&mut lane, Op::Write, offset, 64 << 10).unwrap(), Outcome::Done);
            }
            assert!(free() <= before - (4 << 20));
            for file in 0..4 {
                assert_eq!(one(&mut lane, Op::Trim, file << 20, 1 << 20).unwrap(), Outcome::Done);
            }
            assert!(soon(|| free() + (64 << 10) >= before), "{} of {before}", free());
        }
        drop(lane);
    }
}

#[test]
fn deep_batches_meet_on_first_writes_and_deletions() {
    let place = disk_folder();
    for engine in ENGINES {
        let mut drive = open_folder(place.path(), engine, 64, 4096).unwrap();
        let mut lanes = drive.lanes(&LaneRequirements { lanes: 1, depth: 64, length_max: 4096 }).unwrap();
        for op in [Op::Write, Op::Read, Op::Trim, Op::Write, Op::Trim] {
            let batch: Vec<Io> = (0..64)
                .map(|slot| Io {
                    slot: Slot(slot),
                    op,
                    offset: u64::from(slot) << 12,
                    length: 4096,
                    data: DataClass::Zero,
                    sync: None,
                })
                .collect();
            lanes[0].submit(&batch).unwrap();
            let (mut done, mut calls) = (Vec::new(), 0);
            while done.len() < 64 {
                lanes[0].wait(Nanos::NEVER, &mut done).unwrap();
                calls += 1;
            }
            assert!(done.iter().all(|completion| completion.outcome == Outcome::Done), "{op} {done:?}");
            assert!(done.is_sorted_by_key(|completion| completion.at), "{calls} calls");
        }
        assert!(names(place.path()).is_empty());
    }
}

#[test]
fn a_full_file_system_is_an_outcome() {
    for engine in ENGINES {
        let Some(memory) = Mounted::tmpfs("size=1m") else { return };
        fs::write(memory.path().join("others"), vec![1; 512 << 10]).unwrap();
        let mut drive = open_folder(memory.path(), engine, 1, 256 << 10).unwrap();
        fs::write(memory.path().join("more"), vec![1; 450 << 10]).unwrap();
        let mut lane = lane(&mut *drive);
        let outcomes: Vec<_> =
            (0..4).map(|part| one(&mut lane, Op::Write, part << 16, 64 << 10).unwrap()).collect();
        assert!(outcomes.contains(&Outcome::Error(28)), "{outcomes:?}");
        drop(lane);
        drop(drive);
        assert!(!memory.path().join(DIRECTORY).exists());
        assert_eq!(fs::metadata(memory.path().join("more")).unwrap().len(), 450 << 10, "others' files stay");
    }
}

#[test]
fn memory_is_called_that_by_every_name() {
    let Some(memory) = Mounted::tmpfs("size=8m") else { return };
    let file = memory.path().join("image");
    fs::write(&file, vec![1; 1 << 20]).unwrap();
    let layout = Some(Layout { files: 1, file_bytes: 64 << 10 });
    let options = Options { layout, reserve: Some(0), ..Options::default() };
    assert!(open(memory.path(), options).unwrap().identity().is_memory());
    assert!(open(&file, Options::default()).unwrap().identity().is_memory());
    if let Some(device) = Loop::attach(&file) {
        assert!(open(&device.0, Options::default()).unwrap().identity().is_memory());
    }
    let folder = disk_folder();
    assert!(!open_folder(folder.path(), Engine::Posix, 1, 64 << 10).unwrap().identity().is_memory());
}

#[test]
fn no_file_is_begun_when_others_have_used_up_the_reserve() {
    let Some(memory) = Mounted::tmpfs("size=4m") else { return };
    let layout = Some(Layout { files: 2, file_bytes: 64 << 10 });
    let mut drive =
        open(memory.path(), Options { layout, reserve: Some(2 << 20), ..Options::default() }).unwrap();
    let mut lane = lane(&mut *drive);
    assert_eq!(one(&mut lane, Op::Write, 0, 4096).unwrap(), Outcome::Done);
    fs::write(memory.path().join("others"), vec![1; 3200 << 10]).unwrap();
    assert_eq!(one(&mut lane, Op::Write, 64 << 10, 4096).unwrap(), Outcome::Error(28));
}

#[test]
fn a_layout_that_does_not_fit_is_refused_with_numbers() {
    let Some(memory) = Mounted::tmpfs("size=100m") else { return };
    let with = |files, file_bytes, reserve| {
        let layout = Some(Layout { files, file_bytes });
        open(memory.path(), Options { layout, reserve, ..Options::default() })
    };
    says(&refusal(with(40, 1 << 20, None)), &["40 MiB", "100 MiB", "64 MiB", "36 MiB", "reserve"]);
    says(&refusal(with(0, 1 << 20, None)), &["hold nothing"]);
    says(&refusal(with(u32::MAX, u64::MAX, None)), &["hold nothing"]);
    says(&refusal(with(1, 1000, None)), &["not a multiple", "4KiB"]);
    says(&refusal(with(30_000_000, 1, Some(0))), &["files are more than can be open at once", "ulimit"]);
    says(&refusal(open(memory.path(), Options::default())), &["how many files"]);
    assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 0, "a refusal leaves nothing behind");
    // tmpfs counts free space per processor, so it is off by what each of them has not reported yet.
    drop(with(35, 1 << 20, None).unwrap());
    drop(with(39, 1 << 20, Some(60 << 20)).unwrap());
}

#[test]
fn a_folder_that_vanishes_ends_the_measurement() {
    for engine in ENGINES {
        let place = disk_folder();
        let folder = place.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let mut drive = open_folder(&folder, engine, 2, FILE).unwrap();
        let mut first = lane(&mut *drive);
        assert_eq!(one(&mut first, Op::Write, 0, 4096).unwrap(), Outcome::Done);
        fs::remove_dir_all(&folder).unwrap();
        let target_error = one(&mut first, Op::Write, FILE, 4096).unwrap_err();
        assert!(matches!(&target_error, TargetError::Gone(path) if *path == folder), "{target_error}");
        drop(first);
        let target_error =
            drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).err().unwrap();
        assert!(matches!(target_error, TargetError::Gone(_)), "{target_error}");
    }
}

#[test]
fn a_folder_says_what_it_is() {
    let place = disk_folder();
    for (engine, name) in [(Engine::Auto, "io_uring"), (Engine::Posix, "posix")] {
        let mut drive = open_folder(place.path(), engine, 2, FILE).unwrap();
        drop(lane(&mut *drive));
        let identity = drive.identity();
        assert_eq!((identity.kind, &*identity.engine), (TargetKind::Folder, name));
        assert_eq!(identity.name, place.path().display().to_string());
        let fact =
            |name: &str| identity.facts.iter().find(|(fact, _)| fact == name).map(|(_, value)| &**value);
        assert_eq!(fact("files"), Some("2 × 128KiB"));
        assert!(fact("file system").is_some() && fact("mounted from").is_some(), "{:?}", identity.facts);
        assert_eq!(fact("registered buffers").is_some(), name == "io_uring");
    }
    let Some(memory) = Mounted::tmpfs("size=8m") else { return };
    let caveats = open_folder(memory.path(), Engine::Auto, 1, FILE).unwrap().identity().caveats;
    says(&caveats.join("\n"), &["memory, not a drive"]);
}

#[test]
fn too_many_threads_are_refused() {
    let place = disk_folder();
    let mut drive = open_folder(place.path(), Engine::Posix, 2, FILE).unwrap();
    says(
        &refusal(drive.lanes(&LaneRequirements { lanes: 4, depth: 512, length_max: 4096 })),
        &["4 × 512", "less depth"],
    );
}

#[test]
fn lanes_that_write_and_delete_the_same_files_meet_errors_at_worst() {
    let place = disk_folder();
    for engine in ENGINES {
        let mut drive = open_folder(place.path(), engine, 3, 4096).unwrap();
        let lanes = drive.lanes(&LaneRequirements { lanes: 3, depth: 2, length_max: 4096 }).unwrap();
        std::thread::scope(|scope| {
            for (index, mut lane) in (0u64..).zip(lanes) {
                scope.spawn(move || {
                    for round in 0..2_000u64 {
                        let op = [Op::Write, Op::Read, Op::Flush, Op::Trim][((round + index) % 4) as usize];
                        let (offset, length) =
                            if op == Op::Flush { (0, 0) } else { (round % 3 * 4096, 4096) };
                        let outcome = one(&mut lane, op, offset, length).unwrap();
                        // Missing; existing and empty; just deleted.
                        let expected =
                            [Outcome::Done, Outcome::Error(2), Outcome::Short(0), Outcome::Error(9)];
                        assert!(expected.contains(&outcome), "{op} {outcome:?}");
                    }
                });
            }
        });
        drop(drive);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
