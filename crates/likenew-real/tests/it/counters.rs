//! The kernel's counters below a drive, with direct, buffered and null access.

use std::path::Path;

use crate::support::{
    Loop, Mounted, agreed, disk_folder, filled_file, lane, one, open_folder, refusal, run, says,
};
use likenew_core::counters::Counters;
use likenew_core::drive::Drive;
use likenew_core::io::{DataClass, Durability, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use likenew_core::workload::Access;
use likenew_real::engine::Engine;
use likenew_real::open::{Options, open};
use likenew_real::scratch::Scratch;

const ENGINES: [Engine; 2] = [Engine::Uring, Engine::Posix];
const BLOCK: u32 = 64 << 10;
const BLOCKS: u64 = 128;
const MOVED: u64 = BLOCKS * BLOCK as u64;
/// Metadata: the journal and the inodes of a few files.
const BOOKS: u64 = 1 << 20;

/// An ext4 on a loop device over a file; `None` if that is not possible.
fn ext4(image: &Path) -> Option<(Mounted, Loop)> {
    std::fs::File::create(image).unwrap().set_len(128 << 20).unwrap();
    // Lazy initialization would be counted in the middle of a test.
    let eager = "lazy_itable_init=0,lazy_journal_init=0";
    run("mkfs.ext4", &["-q", "-F", "-E", eager, image.to_str()?])?;
    let device = Loop::attach(image)?;
    let mounted = Mounted::mount(&["-o", "noatime", device.0.to_str()?])?;
    Some((mounted, device))
}

/// Runs the same I/O on every block with this access, and returns what was counted.
fn device_counters(drive: &mut dyn Drive, access: Access, cold: bool, op: Op) -> Counters {
    drive.prepare_access(access, cold).unwrap();
    let before = drive.counters().unwrap();
    assert!(before.kernel.is_some(), "Linux counts what its processors do");
    let mut of = lane(drive);
    for block in 0..BLOCKS {
        assert_eq!(one(&mut of, op, block * u64::from(BLOCK), BLOCK).unwrap(), Outcome::Done);
    }
    drop(of);
    drive.counters().unwrap().since(&before)
}

fn flush(drive: &mut dyn Drive) {
    assert_eq!(one(&mut lane(drive), Op::Flush, 0, 0).unwrap(), Outcome::Done);
}

#[test]
fn a_folders_device_counts_what_went_past_the_page_cache_and_not_what_ended_in_it() {
    let place = disk_folder();
    let Some((mounted, _device)) = ext4(&place.path().join("image")) else { return };
    for engine in ENGINES {
        let mut drive = open_folder(mounted.path(), engine, 2, MOVED / 2).unwrap();
        let near = |bytes: u64, what: &str| {
            assert!((MOVED..MOVED + BOOKS).contains(&bytes), "{engine:?} {what}: {bytes} of {MOVED}");
        };
        let direct = device_counters(&mut *drive, Access::Direct, false, Op::Write);
        near(direct.bytes_written, "direct writes");
        assert!(direct.writes > 0 && direct.devices == 1, "{direct:?}");
        near(device_counters(&mut *drive, Access::Direct, false, Op::Read).bytes_read, "direct reads");
        // Nothing was read through the page cache before, so this fills it.
        near(
            device_counters(&mut *drive, Access::Buffered, true, Op::Read).bytes_read,
            "first buffered reads",
        );
        let warm = device_counters(&mut *drive, Access::Buffered, false, Op::Read).bytes_read;
        assert!(warm < BOOKS, "{engine:?}: {warm} of buffered reads were counted again");
        near(
            device_counters(&mut *drive, Access::Buffered, true, Op::Read).bytes_read,
            "cold buffered reads",
        );
        let before = drive.counters().unwrap();
        assert!(before.kernel.is_some(), "Linux counts what its processors do");
        let buffered = device_counters(&mut *drive, Access::Buffered, true, Op::Write).bytes_written;
        assert!(buffered < MOVED / 10 * 9, "{engine:?}: {buffered} were written at once");
        flush(&mut *drive);
        near(drive.counters().unwrap().since(&before).bytes_written, "flushed writes");
        assert_eq!(device_counters(&mut *drive, Access::Null, false, Op::Write).bytes_written, 0);
        // And back again: direct writes create the files anew.
        near(
            device_counters(&mut *drive, Access::Direct, true, Op::Write).bytes_written,
            "direct writes at last",
        );
    }
}

#[test]
fn a_device_is_counted_itself_and_read_through_the_page_cache() {
    let place = disk_folder();
    let image = filled_file(place.path(), MOVED as usize);
    let Some(device) = Loop::attach(&image) else { return };
    for engine in ENGINES {
        let mut drive = open(&device.0, Options { engine, ..Options::default() }).unwrap();
        assert_eq!(device_counters(&mut *drive, Access::Direct, false, Op::Read).bytes_read, MOVED);
        let first = device_counters(&mut *drive, Access::Buffered, false, Op::Read).bytes_read;
        assert!(first <= MOVED, "{engine:?}: {first}");
        // A machine that is short of memory drops some of the pages between the two reads.
        let again = device_counters(&mut *drive, Access::Buffered, false, Op::Read).bytes_read;
        assert!(again < MOVED / 2, "{engine:?}: {again} bytes were read again");
        assert_eq!(device_counters(&mut *drive, Access::Direct, false, Op::Read).bytes_read, MOVED);
        // Dropping pages that others have cached is not allowed.
        says(&refusal(drive.prepare_access(Access::Buffered, true)), &["did not make", "give a folder"]);
    }
}

/// What is counted while every block is written with `sync`, and a flush of this kind follows each.
fn durable_writes(drive: &mut dyn Drive, sync: Option<Durability>, flush: Option<Durability>) -> Counters {
    let before = drive.counters().unwrap();
    let mut of = lane(drive);
    let mut perform = |io: Io| {
        let mut done = Vec::new();
        of.submit(&[io]).unwrap();
        of.wait(Nanos::NEVER, &mut done).unwrap();
        assert_eq!(done[0].outcome, Outcome::Done, "{io:?}");
    };
    for block in 0..BLOCKS {
        let (slot, data, offset) = (Slot(0), DataClass::Random, block * u64::from(BLOCK));
        perform(Io { slot, op: Op::Write, offset, length: BLOCK, data, sync });
        if flush.is_some() {
            perform(Io { slot, op: Op::Flush, offset: 0, length: 0, data, sync: flush });
        }
    }
    drop(of);
    drive.counters().unwrap().since(&before)
}

/// A loop device has a write cache and no FUA, so that Linux has a flush follow each durable write.
#[test]
fn each_durable_write_reaches_the_medium_of_a_device_or_file() {
    const DATA: Option<Durability> = Some(Durability::Data);
    const FILE: Option<Durability> = Some(Durability::File);
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    let (file, path) = scratch.create_file(0).unwrap();
    file.set_len(MOVED).unwrap();
    let Some(device) = Loop::attach(&path) else { return };
    let Some((mounted, _below)) = ext4(&place.path().join("image")) else { return };
    for engine in ENGINES {
        let consent = Some(agreed(&device.0).unwrap());
        let on_device = open(&device.0, Options { engine, consent, ..Options::default() }).unwrap();
        let in_files = open_folder(mounted.path(), engine, 2, MOVED / 2).unwrap();
        for (mut drive, is_file) in [(on_device, false), (in_files, true)] {
            // Afterwards all blocks of the files have their places, and only times change.
            durable_writes(&mut *drive, None, None);
            flush(&mut *drive);
            let plain = durable_writes(&mut *drive, None, None);
            assert!(plain.flushes.unwrap() < BLOCKS / 10, "{engine:?}: {plain:?}");
            let written = [(DATA, None), (FILE, None), (None, DATA), (None, FILE)].map(|(sync, flush)| {
                let counted = durable_writes(&mut *drive, sync, flush);
                assert!(counted.flushes.unwrap() >= BLOCKS, "{engine:?} {sync:?} {flush:?}: {counted:?}");
                counted.bytes_written
            });
            // Only a file has metadata to commit.
            let [dsync, sync, fdatasync, fsync] = written;
            assert_eq!((sync > dsync, fsync > fdatasync), (is_file, is_file), "{engine:?} {written:?}");
        }
    }
}

#[test]
fn a_device_that_may_be_written_is_ours_to_drop() {
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    let (file, path) = scratch.create_file(0).unwrap();
    file.set_len(MOVED).unwrap();
    let Some(device) = Loop::attach(&path) else { return };
    for engine in ENGINES {
        let consent = Some(agreed(&device.0).unwrap());
        let mut drive = open(&device.0, Options { engine, consent, ..Options::default() }).unwrap();
        device_counters(&mut *drive, Access::Buffered, false, Op::Write);
        let before = drive.counters().unwrap();
        assert!(before.kernel.is_some(), "Linux counts what its processors do");
        assert_eq!(device_counters(&mut *drive, Access::Buffered, true, Op::Read).bytes_read, MOVED);
        assert!(drive.counters().unwrap().since(&before).bytes_written <= MOVED);
        assert_eq!(device_counters(&mut *drive, Access::Direct, true, Op::Write).bytes_written, MOVED);
    }
}

#[test]
fn an_existing_file_is_read_in_both_ways_and_nobody_drops_its_pages() {
    let place = disk_folder();
    let path = filled_file(place.path(), MOVED as usize);
    for engine in ENGINES {
        let mut drive = open(&path, Options { engine, ..Options::default() }).unwrap();
        drive.prepare_access(Access::Buffered, false).unwrap();
        let mut of = lane(&mut *drive);
        assert_eq!(one(&mut of, Op::Read, 0, BLOCK).unwrap(), Outcome::Done);
        assert_eq!(of.buffer(likenew_core::io::Slot(0))[512], 1, "what is read is what the file holds");
        drop(of);
        says(&refusal(drive.prepare_access(Access::Buffered, true)), &["did not make"]);
    }
}

#[test]
fn memory_has_no_device_that_counts() {
    let Some(mounted) = Mounted::tmpfs("size=32m") else { return };
    let mut drive = open_folder(mounted.path(), Engine::Posix, 1, 1 << 20).unwrap();
    assert_eq!(drive.counters(), None);
    drive.prepare_access(Access::Buffered, true).unwrap();
    assert_eq!(one(&mut lane(&mut *drive), Op::Write, 0, BLOCK).unwrap(), Outcome::Done);
}

#[test]
fn a_btrfs_is_counted_over_all_of_its_devices() {
    let place = disk_folder();
    let images = ["one", "two"].map(|name| place.path().join(name));
    for image in &images {
        std::fs::File::create(image).unwrap().set_len(256 << 20).unwrap();
    }
    let attach = |image: &std::path::PathBuf| Loop::attach(image);
    let (Some(one_device), Some(two)) = (attach(&images[0]), attach(&images[1])) else { return };
    let paths = [&one_device, &two].map(|device| device.0.to_str().unwrap().to_owned());
    if run("mkfs.btrfs", &["-q", "-f", "-d", "raid1", "-m", "raid1", &paths[0], &paths[1]]).is_none() {
        return;
    }
    let option = format!("device={},device={}", paths[0], paths[1]);
    let Some(mounted) = Mounted::mount(&["-t", "btrfs", "-o", &option, &paths[0]]) else { return };
    let mut drive = open_folder(mounted.path(), Engine::Posix, 1, MOVED).unwrap();
    let device_counters = device_counters(&mut *drive, Access::Direct, false, Op::Write);
    assert_eq!(device_counters.devices, 2);
    assert!(
        device_counters.bytes_written >= 2 * MOVED,
        "every byte was written to both: {device_counters:?}"
    );
    let facts = drive.identity().facts;
    assert!(facts.iter().any(|(name, value)| name == "devices" && value.contains(", ")), "{facts:?}");
}
