//! Compared with the programs of these formats: fio, Linux's tracefs, and blktrace. A test that the machine
//! does not allow is skipped with a message: tracefs and loop devices need root, blktrace a kernel with
//! support.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink as _};
use likenew_core::units::Nanos;
use likenew_trace::{IologVersion, IologWriter, OpenOptions, Survey, Trace, survey};

/// A folder on a real disk: tmpfs refuses direct I/O on some kernels.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Runs fio and returns its first job.
fn fio(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let mut fio = Command::new("fio");
    let out = fio.current_dir(folder).args(["--name=job", "--output-format=json"]).args(arguments).output();
    let out = out.expect("fio is installed: make test does that");
    assert!(
        out.status.success(),
        "{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8(out.stdout).unwrap();
    let text = &text[text.find('{').expect("fio prints JSON")..];
    serde_json::from_str::<serde_json::Value>(text).unwrap()["jobs"][0].take()
}

fn counts(job: &serde_json::Value) -> [(u64, u64); 3] {
    ["read", "write", "trim"].map(|op| {
        let number = |key: &str| job[op][key].as_u64().unwrap();
        (number("total_ios"), number("io_bytes"))
    })
}

fn surveyed(path: &Path, options: &OpenOptions) -> (Trace, Survey) {
    let mut trace = Trace::open(path, options).unwrap_or_else(|error| panic!("{error}"));
    let survey = survey(&mut trace).unwrap_or_else(|error| panic!("{error}"));
    (trace, survey)
}

fn surveyed_counts(survey: &Survey) -> [(u64, u64); 3] {
    [survey.read, survey.write, survey.trim].map(|amount| (amount.ios, amount.bytes))
}

#[test]
fn an_iolog_that_fio_wrote_holds_what_fio_did() {
    let folder = folder();
    let job = ["--filename=f", "--size=4M", "--rw=randrw", "--bsrange=4k-64k", "--write_iolog=log"];
    let job = fio(folder.path(), &[&job[..], &["--thinktime=500"]].concat());
    let (trace, survey) = surveyed(&folder.path().join("log"), &OpenOptions::default());
    assert_eq!((trace.format().name, trace.volume().as_deref()), ("iolog", Some("f")));
    assert_eq!(surveyed_counts(&survey), counts(&job));
    assert!(survey.records >= 64 && survey.end_max_bytes <= 4 << 20, "{survey:?}");
    // fio's manual gives no unit. A think time of 500 µs after each I/O, and fio's own time in milliseconds.
    let runtime = job["job_runtime"].as_f64().unwrap() * 1e6;
    let span = survey.span_ns.0 as f64;
    assert!(
        span >= (survey.records - 1) as f64 * 500e3 && span <= runtime + 1e9,
        "{span} ns in the log, {runtime} ns in fio's report"
    );
}

#[test]
fn fio_replays_what_is_written_for_it() {
    let folder = folder();
    let io = |n: u64, op, length| TraceIo {
        at: Nanos(n * 3_000_000),
        op,
        offset: n * 65_536,
        length,
        latency: None,
        application: 0,
    };
    let ios: Vec<TraceIo> = (0..60)
        .map(|n| match n % 6 {
            0..3 => io(n, Op::Read, 4096 * (1 + n % 3)),
            3 | 4 => io(n, Op::Write, 16_384),
            _ => TraceIo { offset: 0, ..io(n, Op::Flush, 0) },
        })
        .collect();
    for version in [IologVersion::Two, IologVersion::Three] {
        let log = folder.path().join(format!("{version:?}.iolog"));
        let mut writer = IologWriter::create(&log, version).unwrap();
        ios.iter().for_each(|io| writer.put(io, "dd").unwrap());
        assert_eq!(writer.finish().unwrap(), 60);
        assert!(IologWriter::create(&log, version).is_err(), "it is there already");
        let (_, survey) = surveyed(&log, &OpenOptions::default());
        std::fs::write(folder.path().join("drive"), vec![1; 4 << 20]).unwrap();
        let read = format!("--read_iolog={}", log.display());
        let job = fio(folder.path(), &[&read, "--replay_redirect=drive", "--ioengine=psync"]);
        assert_eq!(counts(&job), surveyed_counts(&survey));
        assert_eq!(counts(&job), [(30, 30 * 8192), (20, 20 * 16_384), (0, 0)]);
        assert_eq!(survey.flush.ios, 10);
        let runtime_ms = job["job_runtime"].as_u64().unwrap();
        if version == IologVersion::Three {
            assert_eq!(survey.span_ns, Nanos(59 * 3_000_000));
            assert!(runtime_ms >= 59 * 3 * 8 / 10, "fio has waited as the log says: {runtime_ms} ms");
        }
    }
}

#[test]
fn discards_are_written_in_pieces_that_fio_can_hold() {
    let folder = folder();
    let log = folder.path().join("log");
    let mut writer = IologWriter::create(&log, IologVersion::Three).unwrap();
    let trim =
        TraceIo { at: Nanos(0), op: Op::Trim, offset: 512, length: 1 << 30, latency: None, application: 0 };
    writer.put(&trim, "").unwrap();
    writer.finish().unwrap();
    let (_, survey) = surveyed(&log, &OpenOptions::default());
    assert_eq!((survey.trim.ios, survey.trim.bytes, survey.end_max_bytes), (16, 1 << 30, (1 << 30) + 512));
}

/// A loop device over a temporary file, removed afterwards.
struct Loop(String);

impl Loop {
    fn over(folder: &Path) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root has loop devices and tracing");
            return None;
        }
        let image = folder.join("image");
        std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        let out =
            Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(&image).output().ok();
        let Some(out) = out.filter(|out| out.status.success()) else {
            println!("skipped: this machine has no loop devices");
            return None;
        };
        Some(Self(String::from_utf8(out.stdout).unwrap().trim().to_owned()))
    }

    /// I/Os of every kind; returns fio's counts.
    fn work(&self, folder: &Path) -> [(u64, u64); 3] {
        let file = format!("--filename={}", self.0);
        let job =
            ["--rw=randrw", "--bs=4k", "--size=64M", "--number_ios=300", "--direct=1", "--randrepeat=0"];
        let [read, write, _] =
            counts(&fio(folder, &[&job[..], &["--ioengine=libaio", "--iodepth=8", &file]].concat()));
        let trimmed =
            Command::new("blkdiscard").args(["--offset", "0", "--length", "4194304", &self.0]).status();
        let trims = if trimmed.is_ok_and(|status| status.success()) { (1, 4 << 20) } else { (0, 0) };
        [read, write, trims]
    }

    /// The same while a program records it, which is interrupted afterwards; `None` with a message where that cannot be.
    fn recorded_work(
        &self,
        folder: &Path,
        recorder: &mut Command,
        has_started: impl Fn() -> bool,
    ) -> Option<[(u64, u64); 3]> {
        let program = recorder.get_program().display().to_string();
        recorder.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut recording) = recorder.spawn() else {
            println!("skipped: there is no {program}");
            return None;
        };
        let has_started = |_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            has_started()
        };
        let records = (0..100).any(has_started) && recording.try_wait().unwrap().is_none();
        let counts = records.then(|| self.work(folder));
        let id = rustix::process::Pid::from_child(&recording);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
        recording.wait().unwrap();
        if counts.is_none() {
            println!("skipped: this kernel lets {program} record nothing");
        }
        counts
    }

    /// `major`, `minor`.
    fn numbers(&self) -> (u64, u64) {
        let name = Path::new(&self.0).file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(format!("/sys/block/{name}/dev")).unwrap();
        let (major, minor) = text.trim().split_once(':').unwrap();
        (major.parse().unwrap(), minor.parse().unwrap())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// A tracing instance of this test, removed afterwards.
struct Instance {
    mount: PathBuf,
    path: PathBuf,
}

impl Instance {
    fn new(folder: &Path) -> Option<Self> {
        let mount = folder.join("tracefs");
        std::fs::create_dir(&mount).unwrap();
        let mounted = Command::new("mount").args(["-t", "tracefs", "none"]).arg(&mount).status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("skipped: this machine mounts no tracefs");
            return None;
        }
        let path = mount.join("instances").join(format!("likenew-trace-test-{}", std::process::id()));
        let instance = Self { mount, path };
        match std::fs::create_dir(&instance.path) {
            Ok(()) if instance.path.join("events/block/block_rq_issue").exists() => Some(instance),
            _ => {
                println!("skipped: the kernel gives no buffer for events of the block layer");
                None
            }
        }
    }

    fn set(&self, file: &str, value: &str) {
        std::fs::write(self.path.join(file), value).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.path);
        let _ = Command::new("umount").arg(&self.mount).status();
    }
}

#[test]
fn what_tracefs_tells_is_what_fio_did() {
    let folder = folder();
    let (Some(drive), Some(instance)) = (Loop::over(folder.path()), Instance::new(folder.path())) else {
        return;
    };
    let (major, minor) = drive.numbers();
    instance.set("trace_clock", "mono");
    // Each I/O is there as a bio as well, and counts once.
    for event in ["block_rq_issue", "block_rq_complete", "block_bio_queue", "block_bio_complete"] {
        let event = format!("events/block/{event}");
        instance.set(&format!("{event}/filter"), &format!("dev == {}", major << 20 | minor));
        instance.set(&format!("{event}/enable"), "1");
    }
    let expected = drive.work(folder.path());
    instance.set("tracing_on", "0");
    let text = std::fs::read(instance.path.join("trace")).unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, text).unwrap();
    let (trace, survey) = surveyed(&path, &OpenOptions::default());
    assert_eq!((trace.format().name, trace.volume()), ("tracefs", Some(format!("{major},{minor}"))));
    agrees(&survey, expected);
}

#[test]
fn what_perf_script_prints_is_what_fio_did() {
    let folder = folder();
    let Some(drive) = Loop::over(folder.path()) else { return };
    let (major, minor) = drive.numbers();
    let mut perf = Command::new("perf");
    // Buffers so large that a busy machine loses no event.
    perf.args(["record", "-q", "-a", "-m", "16M", "-o", "data", "-e", "block:*", "sleep", "60"]);
    // perf has opened its events by the time that it writes the head of its file.
    let data = folder.path().join("data");
    let has_started = || std::fs::metadata(&data).is_ok_and(|data| data.len() > 0);
    let Some(expected) = drive.recorded_work(folder.path(), &mut perf, has_started) else { return };
    let out =
        Command::new("perf").current_dir(folder.path()).args(["script", "-i", "data"]).output().unwrap();
    let path = folder.path().join("t.txt");
    std::fs::write(&path, out.stdout).unwrap();
    let options = OpenOptions { format: None, volume: Some(format!("{major},{minor}")) };
    let (trace, survey) = surveyed(&path, &options);
    assert_eq!(trace.format().name, "tracefs");
    agrees(&survey, expected);
}

#[test]
fn what_blkparse_prints_is_what_fio_did() {
    let folder = folder();
    let Some(drive) = Loop::over(folder.path()) else { return };
    let mut blktrace = Command::new("blktrace");
    blktrace.args(["-d", &drive.0, "-o", "t"]);
    // Its files exist once it records.
    let has_started = || folder.path().join("t.blktrace.0").exists();
    let Some(expected) = drive.recorded_work(folder.path(), &mut blktrace, has_started) else { return };
    let out = Command::new("blkparse").current_dir(folder.path()).args(["-i", "t"]).output().unwrap();
    let path = folder.path().join("t.txt");
    std::fs::write(&path, out.stdout).unwrap();
    let (trace, survey) = surveyed(&path, &OpenOptions::default());
    assert_eq!(trace.format().name, "blkparse");
    agrees(&survey, expected);
}

/// As many bytes as the program counted; the kernel may have joined or split I/Os, and reads a little when a
/// device opens.
fn agrees(survey: &Survey, expected: [(u64, u64); 3]) {
    let [read, write, trim] = surveyed_counts(survey);
    let [fio_read, fio_write, discarded] = expected;
    assert_eq!((write.1, trim.1), (fio_write.1, discarded.1), "{survey:?}");
    assert!(read.1 >= fio_read.1 && read.1 <= fio_read.1 + (4 << 20), "{read:?} {fio_read:?}");
    let latency = survey.latency.as_ref().expect("latencies are known");
    // What the system reads of a device that was closed may be under way when the recording ends.
    assert!((survey.records - 2..=survey.records).contains(&latency.ios), "of every I/O: {survey:?}");
    assert!(latency.depth_max > 1 && latency.depth_max <= 64, "{latency:?}");
    assert!(
        survey.applications.iter().any(|share| share.application.contains("fio")),
        "{:?}",
        survey.applications
    );
}
