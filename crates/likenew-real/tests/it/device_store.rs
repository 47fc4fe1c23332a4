//! A whole block device with a file system on it, rewritten in place; and places for its journal.

use std::fs::{self, File};
use std::path::Path;

use crate::support::file_system::{create_file, open_file};
use crate::support::{Loop, Mounted, disk_folder, refusal, run, run_when_free, says};
use likenew_core::drive::BlockStore as _;
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::device_store::DeviceStore;
use likenew_real::drive_lock::check_disjoint;
use likenew_refresh::{InspectedRefresh, Refresh, Settings, Task};

const MIB: u64 = 1 << 20;
const CHUNK: usize = 512 << 10;

fn consent(device: &Path) -> Consent {
    let loss = Loss::at(device).unwrap();
    let destroy = loss.carries.iter().map(|name| (*name).to_owned()).collect();
    Consent::to_overwrite(device, &Agreement { id: loss.id.text.clone(), destroy }).unwrap()
}

/// An image with an ext4 of 32 MiB on a loop device.
fn device(folder: &Path) -> Option<Loop> {
    let image = folder.join("image");
    File::create_new(&image).unwrap().set_len(32 * MIB).unwrap();
    run("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()])?;
    Loop::attach(&image)
}

#[test]
fn a_file_system_is_what_it_was_after_its_device_was_rewritten() {
    let place = disk_folder();
    let Some(device) = device(place.path()) else { return };
    let name = device.0.to_str().unwrap();
    let Some(mounted) = Mounted::mount(&[name]) else { return };
    let content: Vec<u8> = (0..6 * MIB).map(|at| (at / 64 * 31) as u8 | 1).collect();
    fs::write(mounted.path().join("file"), &content).unwrap();
    drop(mounted);
    let before = fs::read(place.path().join("image")).unwrap();
    let journal = place.path().join("journal");
    let task = {
        let store = DeviceStore::open(consent(&device.0)).unwrap();
        Task {
            identity: "the image".to_owned(),
            ranges: std::iter::once(0..store.bytes()).collect(),
            settings: Settings { chunk_bytes: CHUNK as u32, ..Settings::default() },
            ..Task::default()
        }
    };
    let (mut written, mut cuts) = (0, 0);
    // It is dropped again and again, as after a kill, and each time resumes from its journal.
    for steps in 1.. {
        let store = DeviceStore::open(consent(&device.0)).unwrap();
        let mut refresh = if steps == 1 {
            Refresh::begin(store, create_file(&journal), &task).unwrap()
        } else {
            let found = InspectedRefresh::inspect(store, open_file(&journal), &*task.identity).unwrap();
            assert_eq!(found.differences().count(), 0);
            found.resume(&mut Vec::new()).unwrap()
        };
        let is_done = (0..steps).any(|_| refresh.step().unwrap().is_none());
        written += refresh.progress().written_bytes;
        if is_done {
            break;
        }
        cuts += 1;
    }
    let chunks = before.chunks(CHUNK).filter(|chunk| chunk.iter().any(|byte| *byte != 0)).count();
    let most = (chunks + 2 * cuts) * CHUNK;
    assert!(
        chunks < 40 && written > 6 * MIB && written <= most as u64,
        "{written} of {chunks} chunks, {cuts} cuts"
    );
    assert!(fs::read(place.path().join("image")).unwrap() == before);
    run_when_free("fsck.ext4", &["-f", "-n", name]).expect("the file system is in order");
    let mounted = Mounted::mount(&[name]).unwrap();
    assert!(fs::read(mounted.path().join("file")).unwrap() == content);
}

#[test]
fn whoever_mounts_it_in_between_is_noticed() {
    let place = disk_folder();
    let Some(device) = device(place.path()) else { return };
    let name = device.0.to_str().unwrap();
    let journal = place.path().join("journal");
    let store = DeviceStore::open(consent(&device.0)).unwrap();
    let task = Task { ranges: std::iter::once(0..store.bytes()).collect(), ..Task::default() };
    let mut refresh = Refresh::begin(store, create_file(&journal), &task).unwrap();
    refresh.step().unwrap();
    drop(refresh);
    let Some(mounted) = Mounted::mount(&[name]) else { return };
    fs::write(mounted.path().join("new"), "something newer").unwrap();
    drop(mounted);
    let before = fs::read(place.path().join("image")).unwrap();
    let store = DeviceStore::open(consent(&device.0)).unwrap();
    let error = InspectedRefresh::inspect(store, open_file(&journal), "").unwrap_err().to_string();
    says(&error, &["another program has written there"]);
    assert!(fs::read(place.path().join("image")).unwrap() == before);
}

#[test]
fn a_journal_lies_durably_and_apart() {
    let place = disk_folder();
    let Some(outer) = device(place.path()) else { return };
    let Some(mounted) = Mounted::mount(&[outer.0.to_str().unwrap()]) else { return };
    check_disjoint(place.path(), &outer.0).unwrap();
    says(&refusal(check_disjoint(mounted.path(), &outer.0)), &["itself", "another drive"]);
    // A file system in a file on the device is on it, too.
    let image = mounted.path().join("inner");
    File::create_new(&image).unwrap().set_len(8 * MIB).unwrap();
    run("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]).unwrap();
    let inner = Loop::attach(&image).unwrap();
    {
        let inside = Mounted::mount(&[inner.0.to_str().unwrap()]).unwrap();
        says(&refusal(check_disjoint(inside.path(), &outer.0)), &["itself"]);
        says(&refusal(check_disjoint(inside.path(), &inner.0)), &["itself"]);
        check_disjoint(mounted.path(), &inner.0).unwrap();
    }
    let memory = Mounted::tmpfs("size=1m").unwrap();
    says(&refusal(check_disjoint(memory.path(), &outer.0)), &["memory", "power cut"]);
    says(&refusal(check_disjoint(place.path(), Path::new("/dev/null"))), &["not a block device"]);
}
