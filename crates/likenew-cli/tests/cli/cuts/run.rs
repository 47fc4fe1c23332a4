//! A run of the binary on a drive that writes down what reaches it, while the owner goes on working; and what a cut leaves of both.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::medium::{Medium, Mount, Sectors};
use super::owner_files::{self, FolderState, OLD};
use super::recorder::{Past, Recorder};
use crate::serve::mounted::Mounted;
use crate::serve::{noise, system};
use crate::support::{Program, Sandbox};

/// What the owner writes while it runs, and our own scratch.
pub(crate) const APART: [&str; 2] = [MEANWHILE, SCRATCH];
pub(crate) const SCRATCH: &str = "likenew-scratch";
const MEANWHILE: &str = "meanwhile";
const MEANWHILE_MAX: usize = 120;
/// Copies of the archive that are kept, evenly over the run: a run of minutes is copied thousands of times.
const ARCHIVES_MAX: usize = 96;

/// A file system, and who makes and checks it.
pub(crate) struct FileSystem {
    pub(crate) make: &'static [&'static str],
    pub(crate) check: &'static [&'static str],
    pub(crate) bytes: u64,
    pub(crate) sectors: Sectors,
}

impl FileSystem {
    pub(crate) fn name(&self) -> &'static str {
        self.make[0].trim_start_matches("mkfs.")
    }
}

/// A run that was recorded.
pub(crate) struct RecordedRun {
    pub(crate) sandbox: Sandbox,
    pub(crate) past: Past,
    pub(crate) owned: FolderState,
    pub(crate) point: PathBuf,
    /// Bytes that were free when recording began.
    pub(crate) free: u64,
    /// The archive as it was at some positions.
    pub(crate) archives: Vec<(usize, PathBuf)>,
    /// What the run has said.
    pub(crate) message: String,
    pub(crate) sectors: Sectors,
    meanwhile: Vec<Durable>,
    pub(crate) system: &'static str,
    check: &'static [&'static str],
}

/// A file that was durable at a position.
struct Durable {
    name: String,
    bytes: Vec<u8>,
    position: usize,
}

/// What was seen of one cut.
pub(crate) struct CutResult {
    /// Whether there is anything of the run.
    pub(crate) has_leftover: bool,
    pub(crate) meanwhile: usize,
}

/// Where archives are kept.
pub(crate) fn data(sandbox: &Sandbox) -> PathBuf {
    sandbox.work().parent().unwrap().join("data")
}

/// A folder in memory, where there is one.
pub(crate) fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(folder).unwrap()
}

/// Copies a folder, as it is at this moment.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            // What is written under another name first may have been renamed by now.
            let copied = fs::copy(&path, &to);
            assert!(copied.is_ok() || !path.exists(), "{}: {copied:?}", path.display());
        }
    }
}

/// Bytes that anybody may still write there.
pub(crate) fn free(point: &Path) -> u64 {
    let of = rustix::fs::statvfs(point).unwrap();
    of.f_bavail * of.f_frsize
}

/// A mounted file system over a recording, with the owner's files on it; none where that cannot be made.
pub(crate) fn begin(file_system: &FileSystem) -> Option<(Sandbox, Recorder, Mounted)> {
    let sandbox = Sandbox::new();
    let recorder = Recorder::begin(&sandbox, file_system.bytes);
    // When a file was made nobody can say but the file system: btrfs takes over files that it is made with, and says nothing of them.
    let old = sandbox.work().join("old");
    let takes_over = file_system.make[0] == "mkfs.btrfs";
    let mut make = file_system.make.to_vec();
    if takes_over {
        fs::create_dir(&old).unwrap();
        owner_files::make_old(&old);
        make.extend(["--rootdir", old.to_str().unwrap()]);
    }
    // Past the cache of the served file, so that what the kernel writes and reads is what reaches us.
    let mounted = Mounted::over(&sandbox, &recorder.uri, &make, &["--direct-io=on"])?;
    if !takes_over {
        owner_files::make_old(mounted.point());
    }
    owner_files::make(mounted.point());
    fs::create_dir(mounted.point().join(MEANWHILE)).unwrap();
    let (device, point) = (mounted.device(), mounted.point().to_str().unwrap());
    let inodes = OLD.map(|name| fs::metadata(mounted.point().join(name)).unwrap().ino().to_string());
    system("umount", &[point]);
    for (name, inode) in OLD.into_iter().zip(inodes) {
        match file_system.make[0] {
            "mkfs.ext4" => {
                system("debugfs", &["-w", "-R", &format!("set_inode_field {name} crtime 20240301"), device]);
            }
            // Nanoseconds since the end of 1901, as the field is kept (`XFS_BIGTIME_EPOCH_OFFSET`): a day in 2020.
            "mkfs.xfs" => {
                let (inode, write) = (format!("inode {inode}"), "write v3.crtime.sec 3747483648000000000");
                system("xfs_db", &["-x", "-c", &inode, "-c", write, device]);
            }
            _ => {}
        }
    }
    // Whoever reads a file shows.
    system("mount", &["-o", "strictatime", device, point]);
    Some((sandbox, recorder, mounted))
}

/// Runs `likenew recondition` with these arguments on a file system over a recording. None where that cannot be made.
pub(crate) fn record(file_system: &FileSystem, arguments: &[&str]) -> Option<RecordedRun> {
    let (sandbox, recorder, mounted) = begin(file_system)?;
    let point = mounted.point().to_owned();
    let owned = FolderState::of(&point, &APART);
    let free = free(&point);
    recorder.recording.begin();
    let out = sandbox.work().join("output");
    let all = [&["recondition", point.to_str().unwrap()][..], arguments].concat();
    let mut command = sandbox.command(&all);
    let output = File::create(&out).unwrap();
    let mut child = Program::of(command.stdout(output.try_clone().unwrap()).stderr(output));
    let (mut meanwhile, mut archives) = (Vec::<Durable>::new(), Vec::<(usize, PathBuf)>::new());
    let mut every = 1;
    let status = (0..).find_map(|look: usize| {
        let number = meanwhile.len();
        if number < MEANWHILE_MAX {
            let name = format!("{MEANWHILE}/{number}");
            let bytes = noise(500 + number * 577);
            let path = point.join(&name);
            fs::write(&path, &bytes).unwrap();
            File::open(&path).unwrap().sync_all().unwrap();
            File::open(path.parent().unwrap()).unwrap().sync_all().unwrap();
            meanwhile.push(Durable { name, bytes, position: recorder.recording.position() });
        }
        if look.is_multiple_of(every) {
            // First the position, so that nothing is kept that was not measured by then.
            let (position, archive) =
                (recorder.recording.position(), sandbox.work().join(format!("a{look}")));
            copy(&data(&sandbox), &archive);
            archives.push((position, archive));
        }
        if archives.len() > ARCHIVES_MAX {
            every *= 2;
            let mut number = 0;
            archives.retain(|(_, archive)| {
                number += 1;
                number % 2 == 1 || fs::remove_dir_all(archive).is_err()
            });
        }
        std::thread::sleep(Duration::from_millis(25));
        child.try_wait().unwrap()
    });
    let status = status.expect("it ends");
    let message = fs::read_to_string(out).unwrap();
    assert!(matches!(status.code(), Some(0 | 10)), "{status}: {message}");
    let past = recorder.recording.end();
    if let Some(reason) = owned.difference_or_folder(&FolderState::of(&point, &APART)) {
        panic!("after a whole run: {reason}");
    }
    drop(mounted);
    Some(RecordedRun {
        sandbox,
        past,
        owned,
        point,
        free,
        archives,
        message,
        sectors: file_system.sectors,
        meanwhile,
        system: file_system.name(),
        check: file_system.check,
    })
}

impl RecordedRun {
    /// Mounts what a cut at this position has left, and compares everything that has to be there.
    pub(crate) fn mount(&self, image: &Path, point: &Path, cut: usize) -> (Mount, CutResult) {
        let mount = Mount::of(image, point)
            .unwrap_or_else(|reason| panic!("cut after {cut} events: it cannot be mounted: {reason}"));
        let has_leftover = point.join(SCRATCH).exists();
        let meanwhile = self.durable(point, cut);
        (mount, CutResult { has_leftover, meanwhile })
    }

    /// Compares what the owner has made durable by then. How many files were written meanwhile.
    fn durable(&self, point: &Path, cut: usize) -> usize {
        let durable: Vec<&Durable> = self.meanwhile.iter().filter(|file| file.position <= cut).collect();
        for Durable { name, bytes, position } in &durable {
            let read = fs::read(point.join(name));
            assert!(
                read.is_ok_and(|read| read == *bytes),
                "cut after {cut} events: {name}, durable after {position}, is not as it was written: {}",
                fs::metadata(point.join(name))
                    .map_or_else(|reason| reason.to_string(), |of| format!("{} bytes", of.len()))
            );
        }
        durable.len()
    }

    /// Compares the owner's files.
    #[track_caller]
    pub(crate) fn compare(&self, point: &Path, apart: &[&str], cut: usize) {
        if let Some(reason) = self.owned.difference(&FolderState::of(point, &[&APART[..], apart].concat())) {
            panic!("cut after {cut} events: {reason}");
        }
    }

    /// The file system is whole once its journal was replayed.
    #[track_caller]
    pub(crate) fn is_sound(&self, image: &Path, cut: usize) {
        let output = Command::new(self.check[0]).args(&self.check[1..]).arg(image).output().unwrap();
        let message = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cut after {cut} events: {message}{error}");
    }
}

/// So many places in the events, in order; what chance leaves there is another one each time, in the same place, too.
pub(crate) fn places(events: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut next = chance(seed);
    let mut places: Vec<usize> = (0..count).map(|_| next(events as u64) as usize).collect();
    places.sort_unstable();
    places
}

/// Numbers below a bound, the same ones each time.
pub(crate) fn chance(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Cuts the power at these places, on both processors, and shows each image to `look`, with a folder to mount it in.
pub(crate) fn cut_each<T: Send>(
    recorded: &RecordedRun,
    cuts: &[usize],
    workers: usize,
    inspect: impl Fn(&Path, &Path, usize) -> T + Sync,
) -> Vec<T> {
    let memory = in_memory();
    let work = |worker: usize, cuts: &[usize]| -> Vec<T> {
        let (image, point) =
            (memory.path().join(format!("image{worker}")), memory.path().join(format!("mnt{worker}")));
        let file = File::create(&image).unwrap();
        let mut medium = Medium::new(&recorded.past, recorded.sectors);
        let mut seeds = chance(worker as u64);
        cuts.iter()
            .map(|cut| {
                medium.cut(*cut, seeds(u64::MAX), &file);
                inspect(&image, &point, *cut)
            })
            .collect()
    };
    std::thread::scope(|scope| {
        let parts = cuts.chunks(cuts.len().div_ceil(workers).max(1)).enumerate();
        let workers: Vec<_> = parts
            .map(|(worker, cuts)| {
                let work = &work;
                scope.spawn(move || work(worker, cuts))
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}
