//! Sessions with real files: interrupted repeatedly, and in folders that another user prepared.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use likenew_core::drive::{BlockStore, LeaseState};
use likenew_core::powercut::{End as Cut, Power, VolatileDevice};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::plan::Plan;
use crate::record::BLOCK;
use crate::{
    End, Folder, InspectedRefresh, InterruptedRefresh, JournalFile, JournalPaths, RefreshError,
    RefreshSession, Settings, State, StoreFacts, Task, scan_saved_pieces,
};

const CHUNK: usize = 16 << 10;
const IDENTITY: &str = "a drive";
const JOURNAL: &str = "journal";

fn place(folder: &Path) -> JournalPaths {
    JournalPaths::new(Folder::open(folder).unwrap(), JOURNAL, "salvage")
}

fn drive(chunks: usize) -> (Vec<u8>, VolatileDevice, Power) {
    let mut truth = vec![0; chunks * CHUNK];
    Xoshiro256PlusPlus::seed_from_u64(4).fill_bytes(&mut truth);
    let power = Power::default();
    let device = VolatileDevice::new(truth.clone(), 512, 1, &power);
    (truth, device, power)
}

fn task(bytes: usize) -> Task {
    Task {
        identity: IDENTITY.to_owned(),
        ranges: std::iter::once(0..bytes as u64).collect(),
        settings: Settings { chunk_bytes: CHUNK as u32, ..Settings::default() },
        ..Task::default()
    }
}

/// Begins a refresh, takes this many steps, and drops it, as a kill would.
fn cut_off(device: &mut VolatileDevice, place: &JournalPaths, steps: usize) {
    let file = JournalFile::create(place).unwrap();
    let task = task(device.content().len());
    let mut refresh = crate::Refresh::begin(device, file, &task).unwrap();
    for _ in 0..steps {
        refresh.step().unwrap().unwrap();
    }
}

fn inspected<'a>(
    device: &'a mut VolatileDevice,
    place: &JournalPaths,
) -> InspectedRefresh<&'a mut VolatileDevice, JournalFile> {
    let interrupted = InterruptedRefresh::find(place).unwrap().expect("there is a journal");
    match interrupted.inspect(device, StoreFacts::from(IDENTITY)).unwrap() {
        State::Resumable(inspected) => *inspected,
        state => panic!("{state:?}"),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_session_leaves_nothing_behind_and_one_that_stops_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let (truth, mut device, _) = drive(8);
    let session = RefreshSession::begin(&mut device, &place, &task(truth.len())).unwrap();
    let stopped = session.run(true, |progress| progress.written_bytes >= 3 * CHUNK as u64).unwrap();
    assert!(matches!(stopped.end, End::Stopped), "{stopped:?}");
    assert_eq!(stopped.journal, Some(folder.path().join(JOURNAL)));
    let resumed =
        RefreshSession::resume(inspected(&mut device, &place)).unwrap().run(true, |_| false).unwrap();
    assert!(matches!(resumed.end, End::Complete) && resumed.salvage.is_none(), "{resumed:?}");
    assert_eq!(resumed.progress.written_bytes, 5 * CHUNK as u64);
    assert!(names(folder.path()).is_empty() && device.content() == truth);
    // Without anything to resume, a stop leaves no files either.
    let session = RefreshSession::begin(&mut device, &place, &task(truth.len())).unwrap();
    assert!(matches!(session.run(false, |_| true).unwrap().end, End::Stopped));
    assert!(names(folder.path()).is_empty());
    // A session that cannot begin leaves no journal.
    let wrong = Task { ranges: std::iter::once(1..2).collect(), ..task(truth.len()) };
    assert!(RefreshSession::begin(&mut device, &place, &wrong).unwrap_err().is_refusal());
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_second_cut_while_going_on_keeps_everything_and_a_third_run_ends_it() {
    for cut_after in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let (truth, mut device, power) = drive(8);
        cut_off(&mut device, &place, 4);
        device.flush().unwrap();
        // The cut tore a block of each chunk in flight, and one block cannot be read.
        device.scribble(2 * CHUNK + 512, &[9; 512]);
        device.scribble(3 * CHUNK + 1024, &[8; 512]);
        device.spoil((3 * CHUNK + 4096) / 512);
        power.cut_after(cut_after);
        let mut cuts = 1;
        while let Some(interrupted) = InterruptedRefresh::find(&place).unwrap() {
            let looked = interrupted.inspect(&mut device, StoreFacts::from(IDENTITY));
            let ended = match looked {
                Ok(State::Resumable(inspected)) => {
                    RefreshSession::resume(*inspected).and_then(|session| session.run(true, |_| false))
                }
                Ok(State::Finished(file) | State::Changed(file)) => {
                    file.remove().unwrap();
                    break;
                }
                Err(error) => Err(error),
            };
            match ended {
                Ok(outcome) if matches!(outcome.end, End::Complete) => break,
                Ok(_) | Err(_) if power.is_off() => {
                    device.restore_power(if cut_after % 2 == 0 { Cut::Killed } else { Cut::PowerLost });
                    power.switch_on();
                    cuts += 1;
                }
                ended => panic!("cut after {cut_after} calls: {ended:?}"),
            }
        }
        assert!(cuts <= 2 && device.content() == truth, "cut after {cut_after} calls");
        assert!(!folder.path().join(JOURNAL).exists());
        // What the first cut tore is kept, whenever the second cut came.
        let mut kept = Vec::new();
        for name in names(folder.path()) {
            let mut file = File::open(folder.path().join(&name)).unwrap();
            for piece in scan_saved_pieces(&mut file).unwrap() {
                let mut bytes = Vec::new();
                piece.extract(&mut file, &mut bytes).unwrap();
                kept.push((piece.range.start, bytes));
            }
        }
        for (start, byte) in [(2 * CHUNK as u64 + 512, 9), (3 * CHUNK as u64 + 1024, 8)] {
            assert!(kept.contains(&(start, vec![byte; 512])), "cut after {cut_after} calls: {start}");
        }
        for name in names(folder.path()) {
            assert!(name == "salvage" || name == "salvage-2", "{name}");
        }
    }
}

#[test]
fn what_was_kept_before_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let victim = folder.path().join("victim");
    fs::write(&victim, "somebody's").unwrap();
    // A file from an earlier cut, a link and a hard link that another user put there, a folder, and an empty
    // file of ours.
    fs::write(folder.path().join("salvage"), "kept").unwrap();
    symlink(&victim, folder.path().join("salvage-2")).unwrap();
    fs::hard_link(&victim, folder.path().join("salvage-3")).unwrap();
    fs::create_dir(folder.path().join("salvage-4")).unwrap();
    fs::write(folder.path().join("salvage-5"), "").unwrap();
    fs::set_permissions(folder.path().join("salvage-5"), Permissions::from_mode(0o600)).unwrap();
    let (truth, mut device, _) = drive(8);
    cut_off(&mut device, &place, 4);
    device.scribble(3 * CHUNK + 512, &[9; 512]);
    let outcome =
        RefreshSession::resume(inspected(&mut device, &place)).unwrap().run(false, |_| false).unwrap();
    assert_eq!(outcome.salvage, Some(folder.path().join("salvage-5")));
    assert!(device.content() == truth);
    assert_eq!(fs::read(folder.path().join("salvage")).unwrap(), b"kept");
    assert_eq!(fs::read(&victim).unwrap(), b"somebody's");
    assert!(fs::read(folder.path().join("salvage-5")).unwrap().ends_with(&[9; 512]));
}

/// The error for a file in the journal's place; nothing may have been touched.
#[track_caller]
fn refusal(place: &JournalPaths) -> String {
    let error = InterruptedRefresh::find(place).unwrap_err();
    assert!(matches!(error, RefreshError::NotOurs { .. }) && error.is_refusal(), "{error}");
    let (_, mut device, _) = drive(2);
    let begun = RefreshSession::begin(&mut device, place, &task(2 * CHUNK));
    assert!(matches!(begun, Err(RefreshError::NotOurs { .. })), "{begun:?}");
    error.to_string()
}

/// The journal of an interrupted refresh, in its place in `folder`.
fn journal(folder: &Path) -> PathBuf {
    let (_, mut device, _) = drive(4);
    cut_off(&mut device, &place(folder), 3);
    folder.join(JOURNAL)
}

#[test]
fn a_journal_that_somebody_else_can_have_written_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (place, path) = (place(folder.path()), folder.path().join(JOURNAL));
    let apart = tempfile::tempdir().unwrap();
    let real = journal(apart.path());
    let content = fs::read(&real).unwrap();

    symlink(&real, &path).unwrap();
    assert!(refusal(&place).contains("symbolic link"));
    fs::remove_file(&path).unwrap();

    fs::hard_link(&real, folder.path().join("other")).unwrap();
    fs::rename(folder.path().join("other"), &path).unwrap();
    assert!(refusal(&place).contains("other names"));
    fs::remove_file(&path).unwrap();

    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(refusal(&place).contains("not a regular file"), "and nobody waits for a writer");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert!(refusal(&place).contains("not a regular file"));
    fs::remove_dir(&path).unwrap();

    fs::write(&path, &content).unwrap();
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert!(refusal(&place).contains("users other than its owner"));
    }
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert!(InterruptedRefresh::find(&place).unwrap().is_some(), "it is our own now");

    File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(refusal(&place).contains("longer than any journal"));
    fs::remove_file(&path).unwrap();
    assert!(fs::read(&real).unwrap() == content);
}

#[test]
fn a_journal_of_another_user_is_left_to_its_owner() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not root: nothing can be given away, so this test shows nothing");
    }
    // Root runs in the folder of another user, who has put a journal there.
    let folder = tempfile::tempdir().unwrap();
    let path = journal(folder.path());
    let before = fs::read(&path).unwrap();
    chown(folder.path(), Some(65534), Some(65534)).unwrap();
    chown(&path, Some(65534), Some(65534)).unwrap();
    let reason = refusal(&place(folder.path()));
    assert!(reason.contains("belongs to user 65534") && reason.contains("runs as user 0"), "{reason}");
    assert!(fs::read(&path).unwrap() == before);
    // That user runs where root has left a journal, and cannot even open it.
    chown(&path, Some(0), Some(0)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let ran = std::thread::spawn({
        let place = place(folder.path());
        move || {
            // This changes only the user of this thread, which ends with it.
            use rustix::thread::{Gid, Uid, set_thread_gid, set_thread_uid};
            set_thread_gid(Gid::from_raw(65534)).unwrap();
            set_thread_uid(Uid::from_raw(65534)).unwrap();
            refusal(&place)
        }
    });
    let reason = ran.join().unwrap();
    assert!(reason.contains("belongs to user 0") && reason.contains("runs as user 65534"), "{reason}");
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_journal_that_was_damaged_while_it_was_needed_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (place, path) = (place(folder.path()), journal(folder.path()));
    let mut content = fs::read(&path).unwrap();
    content[..BLOCK].fill(0);
    fs::write(&path, &content).unwrap();
    let error = InterruptedRefresh::find(&place).unwrap_err();
    assert!(matches!(error, RefreshError::Damaged(_)) && path.exists(), "{error}");
    // A journal that was cut off while beginning is not needed.
    fs::write(&path, vec![0; 3 * BLOCK]).unwrap();
    assert!(InterruptedRefresh::find(&place).unwrap().is_none() && !path.exists());
}

#[test]
fn a_journal_that_was_exchanged_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = journal(folder.path());
    let file = JournalFile::open(&place(folder.path())).unwrap().unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "another one").unwrap();
    assert!(matches!(file.remove(), Err(RefreshError::NotOurs { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"another one");
}

#[test]
fn a_journal_that_names_no_witnesses_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let chunks = (2 << 20) / CHUNK;
    let (truth, mut device, _) = drive(chunks);
    // A smaller drive has no witnesses, and its journal is forged for the larger one.
    let (_, mut small, _) = drive(4);
    cut_off(&mut small, &place, 3);
    let mut content = fs::read(place.path()).unwrap();
    let (plan, ..) = Plan::decode(content.len() as u64, |bytes| Ok(content[..bytes].to_vec())).unwrap();
    let mut forged = plan;
    forged.bytes = truth.len() as u64;
    let head = forged.encode();
    content[..head.len()].copy_from_slice(&head);
    fs::write(place.path(), &content).unwrap();
    let interrupted = InterruptedRefresh::find(&place).unwrap().unwrap();
    let error = interrupted.inspect(&mut device, StoreFacts::from(IDENTITY)).unwrap_err();
    assert!(matches!(error, RefreshError::OtherWitnesses), "{error}");
    assert!(device.content() == truth && place.path().exists());
}

/// A store that another program wants after this many checks.
struct Asked {
    device: VolatileDevice,
    questions: u32,
    reads: u32,
}

impl BlockStore for Asked {
    fn bytes(&self) -> u64 {
        self.device.bytes()
    }

    fn block(&self) -> u32 {
        self.device.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.reads += 1;
        self.device.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.device.write_at(offset, bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.device.flush()
    }

    fn lease_state(&mut self) -> LeaseState {
        match self.questions.checked_sub(1) {
            Some(left) => {
                self.questions = left;
                LeaseState::Active
            }
            None => LeaseState::BreakRequested,
        }
    }
}

#[test]
fn whoever_waits_is_let_in_in_the_middle_of_a_long_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    // Witnesses are two MiB apart, so a chunk is read in two parts.
    let mut truth = vec![0; 64 << 20];
    Xoshiro256PlusPlus::seed_from_u64(4).fill_bytes(&mut truth);
    for questions in 0..4 {
        let device = VolatileDevice::new(truth.clone(), 512, 1, &Power::default());
        let mut store = Asked { device, questions, reads: 0 };
        let task = Task {
            identity: IDENTITY.to_owned(),
            ranges: std::iter::once(0..truth.len() as u64).collect(),
            settings: Settings { chunk_bytes: 8 << 20, ..Settings::default() },
            ..Task::default()
        };
        let session = RefreshSession::begin(&mut store, &place, &task).unwrap();
        let outcome = session.run(false, |_| false).unwrap();
        assert!(matches!(outcome.end, End::Wanted), "{outcome:?}");
        let written = outcome.progress.written_bytes;
        assert!(names(folder.path()).is_empty());
        assert_eq!(written > 0, questions >= 2, "{written} bytes after {questions} questions");
        assert!(store.device.content() == truth);
    }
}
