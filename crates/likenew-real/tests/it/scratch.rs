//! The scratch folder: removed on every exit, never another run's, and never a foreign file in it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Loop, Mounted, disk_folder, lane, one, open_folder, refusal, run, says, soon};
use likenew_core::drive::Identity;
use likenew_core::io::{Op, Outcome};
use likenew_real::engine::Engine;
use likenew_real::open::{PathKind, examine};
use likenew_real::scratch::{
    DIRECTORY, Leftover, MARKER, RemovalReport, Scratch, remove_all, unremoved_directories,
};

const HOLD: &str = "LIKENEW_TEST_HOLD";

/// Not a test by itself: the process that others run and kill.
#[test]
#[ignore = "run by other tests as a process of its own"]
fn child_that_holds_a_folder() {
    let folder = std::env::var(HOLD).expect("run by other tests");
    let mut drive = open_folder(Path::new(&folder), Engine::Auto, 3, 64 << 10).unwrap();
    let mut lane = lane(&mut *drive);
    for file in 0..2 {
        assert_eq!(one(&mut lane, Op::Write, file << 16, 64 << 10).unwrap(), Outcome::Done);
    }
    println!("\nholding");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Starts a process that holds `folder`, runs `act`, and kills it.
fn with_child(folder: &Path, act: impl FnOnce(u32)) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scratch::child_that_holds_a_folder", "--ignored", "--nocapture"])
        .env(HOLD, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "holding"), "the child came so far");
    act(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_a_killed_run_leaves_is_found_and_removed() {
    let place = disk_folder();
    with_child(place.path(), |id| {
        let process = format!("(process {id})");
        let words = [process.as_str(), "another likenew run", "wait"];
        says(&refusal(Scratch::create(place.path())), &words);
        says(&refusal(Leftover::find(place.path())), &words);
        says(&refusal(examine(place.path(), None)), &words);
    });
    let Ok(PathKind::Folder { leftover: Some(leftover), .. }) = examine(place.path(), None) else {
        panic!("a leftover")
    };
    assert_eq!((leftover.files, leftover.bytes), (2, 128 << 10));
    assert!(leftover.started.as_ref().is_some_and(|date| date.ends_with('Z')), "{leftover:?}");
    let words = ["left by an earlier run", "2 files", "128 KiB"];
    says(&refusal(open_folder(place.path(), Engine::Auto, 1, 4096)), &words);
    says(&refusal(Scratch::create(place.path())), &words);
    let removed = leftover.clone().remove().unwrap();
    assert_eq!(removed, RemovalReport { files: 2, bytes: 128 << 10, foreign: vec![] });
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    assert_eq!(leftover.remove().unwrap(), RemovalReport::default(), "a second removal finds nothing");
    drop(open_folder(place.path(), Engine::Auto, 1, 4096).unwrap());
}

#[test]
fn a_run_that_was_killed_before_it_wrote_its_marker_is_a_leftover_too() {
    // After a loss of power it may have its length, and no text yet.
    for marker in [&[][..], &[0; 300]] {
        let place = disk_folder();
        let scratch = place.path().join(DIRECTORY);
        fs::create_dir(&scratch).unwrap();
        fs::write(scratch.join(MARKER), marker).unwrap();
        let leftover = Leftover::find(place.path()).unwrap().unwrap();
        assert_eq!((leftover.files, leftover.started.as_ref()), (0, None));
        leftover.remove().unwrap();
        assert!(!scratch.exists());
    }
}

#[test]
fn an_empty_directory_is_what_a_cut_leaves_before_there_is_a_marker() {
    let place = disk_folder();
    let scratch = place.path().join(DIRECTORY);
    fs::create_dir(&scratch).unwrap();
    let leftover = Leftover::find(place.path()).unwrap().unwrap();
    assert_eq!((leftover.files, leftover.bytes, leftover.started.as_ref()), (0, 0, None));
    says(&refusal(Scratch::create(place.path())), &["was left by an earlier run", "let Likenew remove it"]);
    // Another program puts something there before it is removed.
    fs::write(scratch.join("notes.txt"), "mine").unwrap();
    says(&refusal(leftover.clone().remove()), &["no Likenew marker", "leaves it alone"]);
    fs::remove_file(scratch.join("notes.txt")).unwrap();
    leftover.remove().unwrap();
    assert!(!scratch.exists());
}

#[test]
fn a_live_run_is_never_removed() {
    let place = disk_folder();
    with_child(place.path(), |_| {});
    let leftover = Leftover::find(place.path()).unwrap().unwrap();
    leftover.clone().remove().unwrap();
    with_child(place.path(), |_| {
        says(&refusal(leftover.remove()), &["another likenew run"]);
        assert!(place.path().join(DIRECTORY).join("00000.likenew").exists());
    });
}

#[test]
fn what_is_foreign_stays() {
    let place = disk_folder();
    with_child(place.path(), |_| {});
    let scratch = place.path().join(DIRECTORY);
    let photo = place.path().join("photo.jpg");
    fs::write(&photo, "the only copy").unwrap();
    fs::write(scratch.join("photo.jpg"), "another").unwrap();
    fs::write(scratch.join("1.likenew"), "nearly our name").unwrap();
    symlink(&photo, scratch.join("00007.likenew")).unwrap();
    fs::create_dir(scratch.join("00008.likenew")).unwrap();
    fs::write(scratch.join("00008.likenew/00000.likenew"), "deeper").unwrap();
    let removed = Leftover::find(place.path()).unwrap().unwrap().remove().unwrap();
    assert_eq!(removed.files, 2);
    assert_eq!(removed.foreign, ["00007.likenew", "00008.likenew", "1.likenew", "photo.jpg"]);
    assert_eq!(fs::read_to_string(&photo).unwrap(), "the only copy");
    assert_eq!(fs::read_to_string(scratch.join("photo.jpg")).unwrap(), "another");
    assert_eq!(fs::read_to_string(scratch.join("00008.likenew/00000.likenew")).unwrap(), "deeper");
    assert!(scratch.join(MARKER).exists() && !scratch.join("00000.likenew").exists());
}

#[test]
fn what_is_put_into_a_live_scratch_folder_stays_too() {
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    scratch.create_file(3).unwrap();
    fs::write(scratch.path().join("notes.txt"), "mine").unwrap();
    let removed = scratch.remove().unwrap();
    assert_eq!((removed.files, removed.foreign), (1, vec!["notes.txt".to_owned()]));
    assert_eq!(fs::read_to_string(place.path().join(DIRECTORY).join("notes.txt")).unwrap(), "mine");
}

#[test]
fn something_else_of_that_name_is_never_touched() {
    let elsewhere = disk_folder();
    fs::write(elsewhere.path().join("00000.likenew"), "theirs").unwrap();
    fs::write(elsewhere.path().join(MARKER), "This is a temporary folder of Likenew.\n").unwrap();
    type Make<'a> = &'a dyn Fn(&Path);
    let cases: [(Make<'_>, &str); 6] = [
        (
            &|path| {
                fs::create_dir(path).unwrap();
                fs::write(path.join("00000.likenew"), "theirs").unwrap();
            },
            "no Likenew marker",
        ),
        (&|path| fs::write(path, "a file").unwrap(), "not a folder"),
        (&|path| symlink(elsewhere.path(), path).unwrap(), "not a folder"),
        (&|path| symlink("/does/not/exist", path).unwrap(), "not a folder"),
        (
            &|path| {
                fs::create_dir(path).unwrap();
                fs::write(path.join(MARKER), "something else\n").unwrap();
            },
            "no Likenew marker",
        ),
        (
            &|path| {
                fs::create_dir(path).unwrap();
                symlink(elsewhere.path().join(MARKER), path.join(MARKER)).unwrap();
            },
            "no Likenew marker",
        ),
    ];
    for (make, word) in cases {
        let place = disk_folder();
        let path = place.path().join(DIRECTORY);
        make(&path);
        let before = fs::symlink_metadata(&path).unwrap().modified().unwrap();
        for text in [
            refusal(Scratch::create(place.path())),
            refusal(Leftover::find(place.path())),
            refusal(open_folder(place.path(), Engine::Auto, 1, 4096)),
        ] {
            says(&text, &[word, "leaves it alone", "move it away"]);
        }
        assert_eq!(fs::symlink_metadata(&path).unwrap().modified().unwrap(), before);
        assert_eq!(fs::read_to_string(elsewhere.path().join("00000.likenew")).unwrap(), "theirs");
    }
}

#[test]
fn a_scratch_folder_is_not_itself_measured() {
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    says(
        &refusal(open_folder(scratch.path(), Engine::Auto, 1, 4096)),
        &["temporary folder", "parent folder"],
    );
}

#[test]
fn the_marker_explains_itself() {
    let place = disk_folder();
    let scratch = Scratch::create(place.path()).unwrap();
    let text = fs::read_to_string(scratch.path().join(MARKER)).unwrap();
    says(&text, &["likenew", "delete", "process: ", &std::process::id().to_string()]);
}

#[test]
fn a_panic_cleans_up() {
    let place = disk_folder();
    let path = place.path().to_owned();
    let panicked = std::panic::catch_unwind(move || {
        let _drive = open_folder(&path, Engine::Auto, 1, 4096).unwrap();
        panic!("on purpose");
    });
    assert!(panicked.is_err());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_in_words() {
    let Some(memory) = Mounted::tmpfs("size=8m") else { return };
    let point = memory.path().to_str().unwrap();
    if crate::support::run("mount", &["-o", "remount,ro", point]).is_none() {
        return;
    }
    says(&refusal(open_folder(memory.path(), Engine::Auto, 1, 4096)), &["read-only", "choose a folder"]);
    says(&refusal(open_folder(Path::new("/does/not/exist"), Engine::Auto, 1, 4096)), &["does not exist"]);
}

#[test]
fn what_a_file_system_keeps_that_turns_read_only_is_reported_and_not_called_killed() {
    let place = disk_folder();
    let image = place.path().join("image");
    fs::File::create_new(&image).unwrap().set_len(32 << 20).unwrap();
    if run("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]).is_none() {
        return;
    }
    let Some(device) = Loop::attach(&image) else { return };
    let name = device.0.to_str().unwrap();
    let Some(mounted) = Mounted::mount(&["-o", "errors=remount-ro", name]) else { return };
    let scratch = Scratch::create(mounted.path()).unwrap();
    let path = scratch.path().to_owned();
    drop(scratch.create_file(0).unwrap());
    // Like a drive that fails in the middle of one of the file system's writes.
    let fails = Path::new("/sys/fs/ext4").join(device.0.file_name().unwrap()).join("trigger_fs_error");
    if let Err(error) = fs::write(&fails, "a test") {
        return eprintln!("SKIPPED: {}: {error}", fails.display());
    }
    drop(scratch);
    let output: Vec<_> = unremoved_directories().into_iter().filter(|left| left.path == path).collect();
    assert_eq!(output.len(), 1, "{output:?}");
    says(&output[0].reason, &["read-only"]);
    assert!(unremoved_directories().iter().all(|left| left.path != path), "it is told once");
    let left = Leftover::find(mounted.path()).unwrap().unwrap();
    assert_eq!(left.files, 1);
    let refused = refusal(left.clone().remove());
    says(&refused, &["read-only"]);
    assert!(!refusal(Scratch::create(mounted.path())).contains("killed"));
    run("mount", &["-o", "remount,rw", name, mounted.path().to_str().unwrap()]);
}

#[test]
fn a_program_that_is_being_started_holds_no_leftover() {
    let place = disk_folder();
    let folder = place.path().join("likenew-scratch");
    std::fs::create_dir(&folder).unwrap();
    let marker = folder.join("LIKENEW-SCRATCH.txt");
    std::fs::write(&marker, "").unwrap();
    let marker = std::fs::File::open(marker).unwrap();
    rustix::fs::flock(&marker, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    // Like copies of its descriptors in a child process before it runs its own program.
    let held = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(60));
        drop(marker);
    });
    assert!(Leftover::find(place.path()).unwrap().is_some());
    held.join().unwrap();
}

/// Otherwise no place is compared with itself, and what btrfs takes a checksum of is written through the page cache.
#[test]
fn every_file_system_writes_a_place_again_where_it_is() {
    for (kind, system) in crate::support::file_system::all() {
        let mut drive = open_folder(system.path(), Engine::Auto, 1, 64 << 10).unwrap();
        let identity = drive.identity();
        assert_eq!(identity.has(Identity::IN_PLACE), kind == "mkfs.btrfs", "{kind}: {identity:?}");
        let mut lane = lane(&mut *drive);
        let path = system.path().join(DIRECTORY).join("00000.likenew");
        let mut extents = || {
            assert_eq!(one(&mut lane, Op::Write, 0, 64 << 10).unwrap(), Outcome::Done);
            run("sync", &["-f", path.to_str().unwrap()]);
            run("filefrag", &["-v", path.to_str().unwrap()])
        };
        let first = extents();
        assert!(first.is_some() && first == extents(), "{kind}");
    }
}

#[test]
fn nothing_stays_where_an_open_file_is_kept_until_it_is_closed() {
    // As NFS does, bindfs gives a file that was removed while it was open another name.
    let (plain, point) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    if run("bindfs", &[plain.path(), point.path()]).is_none() {
        return;
    }
    let measured = open_folder(point.path(), Engine::Auto, 1, 64 << 10).map(|mut drive| {
        let outcome = one(&mut lane(&mut *drive), Op::Write, 0, 64 << 10);
        drop(drive);
        outcome
    });
    let left = fs::read_dir(plain.path()).unwrap().count();
    assert!(soon(|| Command::new("umount").arg(point.path()).status().is_ok_and(|ended| ended.success())));
    assert_eq!(measured.unwrap().unwrap(), Outcome::Done);
    assert_eq!(left, 0);
}

#[test]
fn what_is_made_while_everything_is_removed_does_not_stay() {
    for _ in 0..20 {
        let place = disk_folder();
        let scratch = Scratch::create(place.path()).unwrap();
        let made = std::thread::scope(|scope| {
            let maker = scope
                .spawn(|| (0..100_000).take_while(|number| scratch.create_file(*number).is_ok()).count());
            assert!(soon(|| fs::read_dir(scratch.path()).is_ok_and(|entries| entries.count() > 50)));
            remove_all().into_iter().for_each(|removed| drop(removed.unwrap()));
            maker.join().unwrap()
        });
        assert!(made < 100_000);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
