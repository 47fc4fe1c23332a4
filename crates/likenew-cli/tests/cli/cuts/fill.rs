//! No space left: on the drive that is restored, and in the archive.

use std::fs::{self, File};
use std::io::Write as _;

use super::overwrite::{EXT4, OVERWRITE};
use super::owner_files::FolderState;
use super::run::{APART, SCRATCH, begin, data};
use crate::serve::mounted::Mount;
use crate::serve::server::until;
use crate::serve::{noise, system};
use crate::support::Program;

#[test]
fn another_program_that_fills_the_disk_ends_a_run_and_loses_nothing() {
    let Some((sandbox, recorder, mounted)) = begin(&EXT4) else { return };
    let point = mounted.point();
    let before = FolderState::of(point, &APART);
    recorder.recording.begin();
    let out = sandbox.work().join("output");
    let output = File::create(&out).unwrap();
    let mut command = sandbox.command(&[&["recondition", point.to_str().unwrap()][..], &OVERWRITE].concat());
    let mut child = Program::of(command.stdout(output.try_clone().unwrap()).stderr(output));
    until("it writes", || fs::read_dir(point.join(SCRATCH)).is_ok_and(|entries| entries.count() > 1));
    let (part, mut filled) = (noise(1 << 20), File::create(point.join("meanwhile/filled")).unwrap());
    let mut bytes = 0;
    while filled.write_all(&part).and_then(|()| filled.sync_data()).is_ok() {
        bytes += part.len();
    }
    let status = child.wait().unwrap();
    let message = fs::read_to_string(out).unwrap();
    assert_eq!(status.code(), Some(1), "{message}");
    for words in ["the file system is full", "Free some space", "likenew resume"] {
        assert!(message.contains(words), "no \"{words}\" in: {message}");
    }
    assert!(!point.join(SCRATCH).exists(), "our files are removed");
    assert!(before.difference(&FolderState::of(point, &APART)).is_none());
    assert!(fs::read(point.join("meanwhile/filled")).unwrap()[..bytes] == part.repeat(bytes >> 20)[..]);
    // With space again, it continues.
    drop(filled);
    fs::remove_file(point.join("meanwhile/filled")).unwrap();
    system("sync", &["-f", point.to_str().unwrap()]);
    let run = sandbox.runs().pop().unwrap();
    let resumed =
        sandbox.run(&["resume", run.to_str().unwrap(), "--yes", "--reserve", "8MiB", "--json", "-"]);
    assert!(matches!(resumed.status(), Some(0 | 10)), "{}", resumed.stderr());
    assert!(before.difference(&FolderState::of(point, &APART)).is_none() && !point.join(SCRATCH).exists());
}

#[test]
fn a_run_that_cannot_be_kept_any_more_ends_and_leaves_nothing() {
    let Some((sandbox, _recorder, mounted)) = begin(&EXT4) else { return };
    let point = mounted.point();
    let before = FolderState::of(point, &APART);
    let archive = data(&sandbox);
    fs::create_dir(&archive).unwrap();
    system("mount", &["-t", "tmpfs", "-o", "size=256k", "likenew-test", archive.to_str().unwrap()]);
    let archive = Mount(archive);
    for room in [0usize, 8 << 10, 24 << 10] {
        let _ = fs::remove_dir_all(archive.0.join("likenew"));
        fs::write(archive.0.join("full"), vec![1; (256 << 10) - room]).unwrap();
        let ran = sandbox.run(&[&["recondition", point.to_str().unwrap()][..], &OVERWRITE].concat());
        assert!(!matches!(ran.status(), Some(0 | 10)), "with {room} bytes: {}", ran.stderr());
        ran.says("No space left on device");
        assert!(!point.join(SCRATCH).exists(), "with {room} bytes: our files are removed");
        assert!(before.difference(&FolderState::of(point, &APART)).is_none());
        eprintln!("with {room} bytes: {:?} {}", ran.status(), ran.stderr());
        fs::remove_file(archive.0.join("full")).unwrap();
    }
}
