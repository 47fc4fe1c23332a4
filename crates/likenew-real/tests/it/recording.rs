//! Recordings of known I/Os on loop devices made for the test: the trace is what was done, and nothing is
//! left behind.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{Loop, Mounted, run, run_when_free};
use likenew_core::io::Op;
use likenew_core::target_error::TargetError;
use likenew_core::trace::{TraceIo, TraceSink};
use likenew_core::units::Nanos;
use likenew_real::tracefs::{RecordedDrive, Recording, RecordingCounts};

/// Keeps the records.
#[derive(Default)]
struct Kept(Vec<(TraceIo, String)>);

impl TraceSink for Kept {
    fn put(&mut self, io: &TraceIo, application: &str) -> std::io::Result<()> {
        self.0.push((*io, application.to_owned()));
        Ok(())
    }
}

impl Kept {
    /// Operation, offset and length, for comparison.
    fn places(&self) -> Vec<(Op, u64, u64)> {
        self.0.iter().map(|(io, _)| (io.op, io.offset, io.length)).collect()
    }
}

/// A loop device over a file in memory, which neither a file system nor udev reads.
struct Disk {
    device: Loop,
    _memory: Mounted,
}

impl Disk {
    const BYTES: u64 = 64 << 20;

    fn attach() -> Option<Self> {
        let memory = Mounted::tmpfs("size=128m")?;
        let image = memory.folder.path().join("image");
        File::create(&image).unwrap().set_len(Self::BYTES).unwrap();
        Some(Self { device: Loop::attach(&image)?, _memory: memory })
    }

    fn path(&self) -> &Path {
        &self.device.0
    }
}

/// Starts to record; says why a test is skipped if the machine does not allow it.
fn start(targets: &[&Path], buffer: Option<u64>) -> Option<Recording> {
    let drives = targets.iter().flat_map(|target| RecordedDrive::drives_of(target).unwrap()).collect();
    match Recording::start(drives, buffer) {
        Ok(recording) => Some(recording),
        Err(target_error @ (TargetError::Refused(_) | TargetError::Unsuitable(_))) => {
            eprintln!("SKIPPED: {target_error}");
            None
        }
        Err(target_error) => panic!("{target_error}"),
    }
}

/// Records what a thread does.
fn record(disk: &Path, load: impl FnOnce(&Path) + Send) -> Option<(Kept, RecordingCounts)> {
    let mut recording = start(&[disk], None)?;
    let mut kept = [Kept::default()];
    std::thread::scope(|scope| {
        std::thread::Builder::new().name("load".into()).spawn_scoped(scope, || load(disk)).unwrap();
    });
    recording.turn(&mut kept).unwrap();
    let counts = recording.finish(&mut kept).unwrap();
    let [kept] = kept;
    Some((kept, counts))
}

/// A buffer with an address that direct I/O accepts, as long as the longest I/O here. Without optimization it lies on
/// the stack for a moment.
#[repr(align(4096))]
struct Aligned([u8; Self::BYTES]);

impl Aligned {
    const BYTES: usize = 256 << 10;
}

fn open_direct(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT | libc::O_EXCL).open(path).unwrap()
}

#[allow(unsafe_code, reason = "no library of ours offers the ioctl")]
fn discard(file: &File, offset: u64, length: u64) {
    const BLKDISCARD: libc::c_ulong = 0x1277;
    let range = [offset, length];
    // SAFETY: the kernel reads two numbers behind the address, and keeps neither.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    assert_eq!(answer, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn exactly_what_was_done_comes_out_in_its_order() {
    let Some(disk) = Disk::attach() else { return };
    let mut expected = Vec::new();
    let mut memory = Box::new(Aligned([7; Aligned::BYTES]));
    let mut place = 1u64;
    for number in 0..500 {
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = 4096 << (place >> 60).min(6);
        let offset = (place >> 20) % ((Disk::BYTES - (1 << 20)) / 4096) * 4096;
        let op = if number % 3 == 0 { Op::Write } else { Op::Read };
        expected.push((op, offset, length));
        if number % 100 == 50 {
            expected.push((Op::Flush, 0, 0));
            expected.push((Op::Trim, 1 << 20, 2 << 20));
        }
    }
    let load = |path: &Path| {
        let file = open_direct(path);
        for (op, offset, length) in &expected {
            let buffer = &mut memory.0[..(*length as usize).min(Aligned::BYTES)];
            match op {
                Op::Read => file.read_exact_at(buffer, *offset).unwrap(),
                Op::Write => file.write_all_at(buffer, *offset).unwrap(),
                Op::Trim => discard(&file, *offset, *length),
                Op::Flush => file.sync_all().unwrap(),
            }
        }
    };
    let Some((kept, counts)) = record(disk.path(), load) else { return };
    assert_eq!(kept.places(), expected);
    assert_eq!((counts.events_lost, counts.broken_pages, counts.ios.open, counts.ios.failed), (0, 0, 0, 0));
    assert_eq!(counts.ios.ios, expected.len() as u64);
    let (first, last) = (kept.0[0].0, kept.0.last().unwrap().0);
    assert!(first.at == Nanos::ZERO && last.at > first.at);
    for ((io, application), next) in kept.0.iter().zip(kept.0.iter().skip(1)) {
        // One after the other: each ended before the next left.
        let latency = io.latency.expect("every end was seen");
        assert!(latency > Nanos::ZERO && io.at + latency <= next.0.at, "{io:?} {next:?}");
        assert!(io.op == Op::Flush || application == "load", "{application}");
    }
}

#[test]
fn own_ios_are_left_out_and_others_are_not() {
    let Some(disk) = Disk::attach() else { return };
    let Some(mut recording) = start(&[disk.path()], None) else { return };
    let file = open_direct(disk.path());
    let memory = Box::new(Aligned([1; Aligned::BYTES]));
    file.write_all_at(&memory.0[..8192], 0).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| file.write_all_at(&memory.0[..4096], 1 << 20).unwrap());
    });
    let mut kept = [Kept::default()];
    recording.turn(&mut kept).unwrap();
    let counts = recording.finish(&mut kept).unwrap();
    assert_eq!(kept[0].places(), [(Op::Write, 1 << 20, 4096)]);
    assert_eq!((counts.ios.own_ios, counts.ios.own_bytes), (1, 8192));
}

/// Two partitions of a loop device.
fn partitioned(disk: &Disk) -> Option<[PathBuf; 2]> {
    let mut sfdisk = Command::new("sfdisk").arg("-q").arg(disk.path()).stdin(Stdio::piped()).spawn().ok()?;
    sfdisk.stdin.take()?.write_all(b"2048 20480 L\n22528 20480 L\n").ok()?;
    if !sfdisk.wait().ok()?.success() {
        return None;
    }
    run("partx", &["--update", disk.path().to_str()?])?;
    let partitions = [1, 2].map(|number| PathBuf::from(format!("{}p{number}", disk.path().display())));
    partitions.iter().all(|partition| partition.exists()).then_some(partitions)
}

#[test]
fn a_partition_has_its_own_addresses_and_nobody_elses_ios() {
    let Some(disk) = Disk::attach() else { return };
    let Some([first, second]) = partitioned(&disk) else {
        eprintln!("SKIPPED: no partitions can be made here");
        return;
    };
    let both = |path: &Path| {
        let memory = Box::new(Aligned([3; Aligned::BYTES]));
        open_direct(path).write_all_at(&memory.0[..4096], 8192).unwrap();
        open_direct(&second).write_all_at(&memory.0[..4096], 16384).unwrap();
    };
    let Some((kept, _)) = record(&first, both) else { return };
    assert_eq!(kept.places(), [(Op::Write, 8192, 4096)]);
    let memory = Box::new(Aligned([3; Aligned::BYTES]));
    // Both at once: each has its own trace.
    let mut recording = start(&[&first, &second], None).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            open_direct(&second).write_all_at(&memory.0[..4096], 0).unwrap();
            open_direct(&first).write_all_at(&memory.0[..8192], 4096).unwrap();
        });
    });
    let mut kept = [Kept::default(), Kept::default()];
    recording.turn(&mut kept).unwrap();
    recording.finish(&mut kept).unwrap();
    assert_eq!(kept[0].places(), [(Op::Write, 4096, 8192)]);
    assert_eq!(kept[1].places(), [(Op::Write, 0, 4096)]);
    run_when_free("partx", &["--delete", disk.path().to_str().unwrap()]);
}

fn fio(path: &Path, arguments: &[&str]) -> bool {
    let usual = ["--name=load", "--direct=1", "--minimal", "--randrepeat=1", "--norandommap"];
    let file = format!("--filename={}", path.display());
    run("fio", &[&usual[..], arguments, &[&file]].concat()).is_some()
}

/// Operation, offset and length of each I/O, sorted: concurrent I/Os leave from several processors at nearly
/// the same time.
fn sorted(mut places: Vec<(Op, u64, u64)>) -> Vec<(Op, u64, u64)> {
    places.sort_unstable_by_key(|(op, offset, length)| (op.index(), *offset, *length));
    places
}

const MIX: [&str; 6] =
    ["--rw=randrw", "--bsrange=4k-64k", "--ioengine=io_uring", "--iodepth=8", "--size=32m", "--io_size=16m"];

#[test]
fn fio_says_that_it_did_the_same() {
    let Some(disk) = Disk::attach() else { return };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let message = format!("--write_iolog={}", log.display());
    let load = |path: &Path| assert!(fio(path, &[&MIX[..], &[&message]].concat()));
    let Some((kept, counts)) = record(disk.path(), load) else { return };
    // `FILE read OFFSET LENGTH`, with a time before it from version 3 on.
    let parse = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| matches!(*word, "read" | "write"))?;
        let op = if words[at] == "read" { Op::Read } else { Op::Write };
        Some((op, words.get(at + 1)?.parse().ok()?, words.get(at + 2)?.parse().ok()?))
    };
    let text = std::fs::read_to_string(log).unwrap();
    let theirs: Vec<_> = text.lines().filter_map(parse).collect();
    assert_eq!((counts.events_lost, theirs.len() > 200), (0, true));
    let ours = kept.places().into_iter().filter(|(op, ..)| *op != Op::Flush).collect();
    assert_eq!(sorted(ours), sorted(theirs));
    assert!(kept.0.iter().any(|(_, application)| application == "fio"));
}

/// blktrace on a device, into a folder. It gives no sign when it is ready, so it gets a second.
fn blktrace(disk: &Disk, debugfs: &Path, folder: &Path) -> Option<Child> {
    let mut blktrace = Command::new("blktrace");
    blktrace.arg("-d").arg(disk.path()).arg("-r").arg(debugfs).arg("-D").arg(folder);
    blktrace.args(["-a", "issue", "-o", "out"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = blktrace.spawn().ok()?;
    std::thread::sleep(std::time::Duration::from_secs(1));
    if child.try_wait().unwrap().is_none() {
        return Some(child);
    }
    let output = child.wait_with_output().unwrap();
    eprintln!("SKIPPED: blktrace did not begin: {}", String::from_utf8_lossy(&output.stderr));
    None
}

#[test]
fn blktrace_sees_the_same() {
    let Some(disk) = Disk::attach() else { return };
    let Some(debugfs) = Mounted::mount(&["-t", "debugfs", "likenew-test"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(mut tracer) = blktrace(&disk, debugfs.folder.path(), folder.path()) else { return };
    let Some((kept, counts)) = record(disk.path(), |path| assert!(fio(path, &MIX))) else { return };
    run("kill", &["-INT", &tracer.id().to_string()]);
    tracer.wait().unwrap();
    let input = folder.path().join("out");
    let format = ["-q", "-a", "issue", "-f", "%a %d %S %n\n", "-i", input.to_str().unwrap()];
    let text = run("blkparse", &format).unwrap();
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let (action, letters) = (words.next()?, words.next()?);
        let (sector, sectors): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let op = if letters.contains('R') { Op::Read } else { Op::Write };
        (action == "D" && sectors > 0).then_some((op, sector * 512, sectors * 512))
    };
    let theirs = text.lines().filter_map(parse).collect();
    let ours: Vec<_> = kept.places().into_iter().filter(|(op, ..)| *op != Op::Flush).collect();
    assert_eq!((counts.events_lost, ours.len() > 200), (0, true));
    assert_eq!(sorted(ours), sorted(theirs));
}

#[test]
fn what_is_lost_is_counted_and_the_rest_makes_sense() {
    let Some(disk) = Disk::attach() else { return };
    // More is recorded than the buffer holds, without a reader.
    let Some(mut recording) = start(&[disk.path()], Some(0)) else { return };
    assert!(fio(
        disk.path(),
        &["--rw=randread", "--bs=4k", "--ioengine=psync", "--size=64m", "--io_size=64m"]
    ));
    let mut kept = [Kept::default()];
    recording.turn(&mut kept).unwrap();
    let counts = recording.finish(&mut kept).unwrap();
    assert!(counts.events_lost > 0 && counts.broken_pages == 0, "{counts:?}");
    let [kept] = kept;
    assert!(!kept.0.is_empty() && kept.0.len() < 16384 && kept.0.len() as u64 == counts.ios.ios);
    // Every I/O left two records, each of which was read or lost.
    let read = 2 * counts.ios.ios - counts.ios.open + counts.ios.headless;
    assert_eq!(read + counts.events_lost, 2 * 16384, "{counts:?}");
    assert!(kept.0.windows(2).all(|pair| pair[0].0.at <= pair[1].0.at));
    assert!(kept.0.iter().filter_map(|(io, _)| io.latency).all(|latency| latency < Nanos::from_secs(10)));
}

#[test]
fn nothing_stays_behind() {
    let Some(disk) = Disk::attach() else { return };
    let Some(tracefs) = Mounted::mount(&["-t", "tracefs", "likenew-test"]) else { return };
    let ours = || {
        let own = format!("likenew-{}-", std::process::id());
        let names = std::fs::read_dir(tracefs.folder.path().join("instances")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(&own)).count()
    };
    let Some(recording) = start(&[disk.path()], None) else { return };
    assert!(ours() > 0);
    drop(recording);
    let recording = start(&[disk.path()], None).unwrap();
    recording.finish(&mut [Kept::default()]).unwrap();
    // Other tests of this process may record now; they will end.
    for _ in 0..1000 {
        if ours() == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("instances of ours are left");
}
