//! Targets that are not drives, and targets that must not be written: each refused with what it is and what
//! to do instead.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use crate::support::{
    Loop, Mounted, agreed, disk_folder, filled_file, lane, one, refusal, run, run_when_free, says,
};
use likenew_core::drive::{LaneRequirements, TargetKind};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::procedure::Layout;
use likenew_core::target_error::TargetError;
use likenew_real::engine::Engine;
use likenew_real::open::{Options, PathKind, examine, open};
use likenew_real::scratch::Scratch;

#[test]
fn what_is_no_drive_is_named() {
    let place = disk_folder();
    let at = |name: &str| place.path().join(name);
    fs::write(at("empty"), "").unwrap();
    fs::write(at("short"), "a few bytes").unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("circle", at("circle")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    assert!(run("mkfifo", &[at("pipe").to_str().unwrap()]).is_some());
    for (path, words) in [
        (at("empty"), ["an empty file", "give a folder"]),
        (at("short"), ["11 bytes", "longer file"]),
        (at("dangling"), ["nowhere, which does not exist", "symbolic link"]),
        (at("circle"), ["circle", "symbolic link"]),
        (at("socket"), ["a socket", "give a folder"]),
        (at("pipe"), ["a pipe (FIFO)", "give a folder"]),
        ("/dev/null".into(), ["a character device", "give a folder"]),
        (at("missing"), ["does not exist", "spelling"]),
        (at("short/below"), ["short/below", "examine"]),
    ] {
        match open(&path, Options::default()) {
            Err(target_error) => says(&target_error.to_string(), &words),
            Ok(_) => panic!("{} was opened", path.display()),
        }
    }
}

#[test]
fn a_users_file_is_read_and_never_written() {
    let place = disk_folder();
    let path = filled_file(place.path(), 64 << 10);
    let link = place.path().join("link");
    symlink(&path, &link).unwrap();
    let before = fs::read(&path).unwrap();
    for engine in [Engine::Uring, Engine::Posix] {
        let mut drive = open(&link, Options { engine, ..Options::default() }).unwrap();
        let identity = drive.identity();
        assert_eq!(identity.kind, TargetKind::File);
        let leads_to = ("leads to".to_owned(), fs::canonicalize(&path).unwrap().display().to_string());
        assert!(identity.facts.contains(&leads_to), "{:?}", identity.facts);
        let mut lane = lane(&mut *drive);
        for op in [Op::Write, Op::Trim] {
            let target_error = one(&mut lane, op, 0, 4096).unwrap_err();
            assert!(matches!(target_error, TargetError::Refused(_)));
            says(&target_error.to_string(), &[op.name(), "reading only", "give a folder"]);
        }
        assert_eq!(one(&mut lane, Op::Read, 8192, 4096).unwrap(), Outcome::Done);
        assert_eq!(lane.buffer(Slot(0))[..4096], before[8192..12288]);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    let layout = Some(Layout { files: 1, file_bytes: 4096 });
    says(&refusal(open(&path, Options { layout, ..Options::default() })), &["not a folder"]);
    assert_eq!(examine(&path, None).unwrap(), PathKind::File { bytes: 64 << 10 });
}

#[test]
fn a_device_is_read_and_not_written_without_consent() {
    let place = disk_folder();
    let file = filled_file(place.path(), 1 << 20);
    let Some(device) = Loop::attach(&file) else { return };
    assert_eq!(examine(&device.0, None).unwrap(), PathKind::Device { bytes: 1 << 20, model: None });
    let mut drive = open(&device.0, Options::default()).unwrap();
    let identity = drive.identity();
    assert_eq!(
        (identity.kind, identity.capacity_bytes, drive.geometry().writable),
        (TargetKind::Device, 1 << 20, false)
    );
    says(&identity.caveats.join("\n"), &["a file on another drive"]);
    let mut lane = lane(&mut *drive);
    says(&one(&mut lane, Op::Write, 0, 4096).unwrap_err().to_string(), &["reading only"]);
    assert_eq!(one(&mut lane, Op::Read, 0, 4096).unwrap(), Outcome::Done);
}

#[test]
fn a_busy_device_of_our_own_is_refused_too() {
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    let (file, path) = scratch.create_file(0).unwrap();
    file.set_len(16 << 20).unwrap();
    let Some(device) = Loop::attach(&path) else { return };
    let name = device.0.to_str().unwrap();
    let consent = || agreed(&device.0);

    let first = consent().unwrap();
    says(&refusal(consent()), &["holds it exclusively"]);
    let other = OpenOptions::new().write(true).custom_flags(libc::O_EXCL).open(&device.0);
    assert_eq!(other.unwrap_err().raw_os_error(), Some(libc::EBUSY), "nobody else can claim what we hold");
    drop(first);

    if run_when_free("mkfs.ext4", &["-q", "-F", name]).is_some()
        && let Some(mounted) = Mounted::mount(&[name])
    {
        says(&refusal(consent()), &["mounted at", mounted.path().to_str().unwrap(), "unmount it"]);
    }
    if run_when_free("mkswap", &[name]).is_some() && run("swapon", &[name]).is_some() {
        let text = refusal(consent());
        run("swapoff", &[name]);
        says(&text, &["swap", "swapoff"]);
    }
    if run("dmsetup", &["create", "likenew-test", "--table", &format!("0 2048 linear {name} 0")]).is_some() {
        let text = refusal(consent());
        run("dmsetup", &["remove", "likenew-test"]);
        says(&text, &["carries dm-"]);
    }
    drop(consent().unwrap());
}

#[test]
fn consent_holds_for_its_device_alone() {
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    let (file, path) = scratch.create_file(0).unwrap();
    file.set_len(1 << 20).unwrap();
    let Some(device) = Loop::attach(&path) else { return };
    let consent = || Some(agreed(&device.0).unwrap());
    let other = filled_file(place.path(), 4096);
    let text = refusal(open(&other, Options { consent: consent(), ..Options::default() }));
    says(&text, &["consent", "another target"]);
    let mut drive = open(&device.0, Options { consent: consent(), ..Options::default() }).unwrap();
    assert_eq!(one(&mut lane(&mut *drive), Op::Write, 0, 4096).unwrap(), Outcome::Done);
}

#[test]
fn mistakes_in_slots_are_caught() {
    let place = disk_folder();
    let path = filled_file(place.path(), 64 << 10);
    for engine in [Engine::Uring, Engine::Posix] {
        let mut drive = open(&path, Options { engine, ..Options::default() }).unwrap();
        let io = |offset, length| Io {
            slot: Slot(0),
            op: Op::Read,
            offset,
            length,
            data: DataClass::Zero,
            sync: None,
        };
        for bad in [io(0, 8192), io(64 << 10, 4096), io(u64::MAX, 4096)] {
            let mut lanes = drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap();
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lanes[0].submit(&[bad])));
            assert!(caught.is_err(), "{bad:?}");
        }
        let mut lanes = drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap();
        lanes[0].submit(&[io(0, 4096)]).unwrap();
        let in_flight = std::panic::AssertUnwindSafe(|| {
            lanes[0].buffer(Slot(0));
        });
        assert!(std::panic::catch_unwind(in_flight).is_err());
    }
}
