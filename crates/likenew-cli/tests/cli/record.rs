//! Recording as a user does it: a separate file system, programs that write to it, and a trace that others
//! can read.

use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::filesystem::Ext4;
use crate::support::{Program, Sandbox};

/// A running recorder, and its output before it began.
struct Recorder(Program, String);

impl Recorder {
    /// `None` if recording is not possible, with a message.
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Option<Self> {
        let mut child = Program::of(sandbox.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut message = Vec::new();
        let mut stderr = child.stderr.take().unwrap();
        while !String::from_utf8_lossy(&message).contains("buffers take") {
            let mut byte = [0];
            if stderr.read(&mut byte).unwrap() == 0 {
                let message = String::from_utf8_lossy(&message).into_owned();
                assert!(message.contains("tracing"), "{message}");
                eprintln!("nothing can be recorded here, so this test shows nothing: {message}");
                child.wait().unwrap();
                return None;
            }
            message.extend(byte);
        }
        child.stderr = Some(stderr);
        Some(Self(child, String::from_utf8(message).unwrap()))
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap().success());
    }

    /// Its end: exit code, standard output, standard error.
    fn end(self) -> (Option<i32>, String, String) {
        let output = self.0.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), self.1 + &text(output.stderr))
    }
}

/// Writes a file in pieces that reach the drive one by one, past the page cache, as the program `day-writer`.
fn write_direct(path: &Path, pieces: usize) {
    std::thread::scope(|scope| {
        let writer = std::thread::Builder::new().name("day-writer".into());
        writer.spawn_scoped(scope, || write_pieces(path, pieces)).unwrap();
    });
}

fn write_pieces(path: &Path, pieces: usize) {
    let mut file = std::fs::OpenOptions::new();
    let file = file
        .write(true)
        .create(true)
        .custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed())
        .open(path)
        .unwrap();
    #[repr(align(4096))]
    struct Aligned([u8; 65536]);
    let data = Box::new(Aligned([5; 65536]));
    for piece in 0..pieces {
        std::os::unix::fs::FileExt::write_all_at(&file, &data.0, piece as u64 * 65536).unwrap();
    }
    file.sync_all().unwrap();
}

/// The lines of a trace, header included, unpacked by the usual program.
fn lines(trace: &Path) -> Vec<String> {
    let text = Command::new("zstd").args(["-dcq"]).arg(trace).output().unwrap();
    String::from_utf8(text.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let started_at = Instant::now();
    while !is_there() {
        assert!(started_at.elapsed() < Duration::from_secs(30), "{what} did not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Names of this process's tracing instances.
fn instances(process: u32) -> usize {
    let prefix = format!("likenew-{process}-");
    let names = std::fs::read_dir("/sys/kernel/tracing/instances").into_iter().flatten().flatten();
    names.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
}

#[test]
fn a_day_is_recorded_until_ctrl_c() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let arguments = ["record", ext4.path(), "--out", "day.csv.zst", "--json", "-"];
    let Some(recorder) = Recorder::start(&sandbox, &arguments) else { return };
    write_direct(&PathBuf::from(ext4.path()).join("file"), 100);
    std::thread::sleep(Duration::from_millis(300));
    let process = recorder.0.id();
    recorder.signal("-INT");
    let (code, stdout, stderr) = recorder.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("Trace: day.csv.zst"), "{stderr}");
    assert_eq!(instances(process), 0);

    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    crate::support::is_valid(&document);
    assert_eq!(
        (&document["procedure"], &document["target"]["engine"]),
        (&"record".into(), &"tracefs".into())
    );
    let rows = document["tables"]["applications"].as_array().unwrap();
    let ours = rows.iter().find(|row| row["application"] == "day-writer");
    let ours = ours.unwrap_or_else(|| panic!("no day-writer in {rows:?}"));
    // The file's data, and the file system's metadata in the name of the writer.
    assert!(ours["written_bytes"].as_u64().unwrap() >= 100 << 16, "{ours}");
    assert!(document["answers"][1]["standing"] == "good", "{}", document["answers"]);
    assert!(document["tables"]["waiting"][0]["busy_ns"].as_u64().unwrap() > 0);

    let lines = lines(&sandbox.work().join("day.csv.zst"));
    assert_eq!(lines[0], "# likenew trace 1");
    assert!(lines.contains(&"# lost_events: 0".to_owned()), "{lines:?}");
    let writes = lines.iter().filter(|line| line.contains(",write,") && line.contains(",65536,")).count();
    assert_eq!(writes, 100);
    let total: u64 =
        ["reads", "writes", "trims", "flushes"].iter().map(|key| rows[0][key].as_u64().unwrap()).sum();
    assert_eq!(lines.last().unwrap(), &format!("# end: {total}"));
}

#[test]
fn bounds_end_a_recording_and_ctrl_c_before_them_is_reported() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let arguments = ["record", ext4.device(), "--out", "a.csv", "--bytes", "1MiB"];
    let Some(recorder) = Recorder::start(&sandbox, &arguments) else { return };
    write_direct(&PathBuf::from(ext4.path()).join("file"), 32);
    assert_eq!(recorder.end().0, Some(0));
    // A writable file system writes by itself: a file's time, and whatever another program's sync causes.
    let quiet = Command::new("mount").args(["-o", "remount,ro", ext4.path()]).status().unwrap();
    assert!(quiet.success());
    // Programs of another test may read every drive.
    let mut attempts = 0..;
    wait_for("a moment in which nobody uses it", || {
        let out = format!("b{}.csv", attempts.next().unwrap());
        let ran = sandbox.run(&["record", ext4.device(), "--out", &out, "--time", "200ms"]);
        ran.code(0).says("trace buffers take");
        (ran.stdout() + &ran.stderr()).contains(": 0 I/Os,")
    });
    let arguments = ["record", ext4.device(), "--out", "c.csv", "--time", "1h"];
    let recorder = Recorder::start(&sandbox, &arguments).unwrap();
    recorder.signal("-TERM");
    assert_eq!(recorder.end().0, Some(130));
    let text = std::fs::read_to_string(sandbox.work().join("c.csv")).unwrap();
    assert!(text.lines().last().unwrap().starts_with("# end: "), "{text}");
}

#[test]
fn the_trace_is_not_in_the_trace() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let out = PathBuf::from(ext4.path()).join("day.csv");
    let arguments = ["record", ext4.path(), "--out", out.to_str().unwrap(), "--json", "-"];
    let Some(recorder) = Recorder::start(&sandbox, &arguments) else { return };
    let data = PathBuf::from(ext4.path()).join("file");
    // The trace itself reaches the drive later with the next I/O, and its end only after recording.
    for _ in 0..6 {
        (0..8).for_each(|_| write_direct(&data, 100));
        std::thread::sleep(Duration::from_millis(1100));
    }
    recorder.signal("-INT");
    let (code, stdout, stderr) = recorder.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("is on a drive that is recorded"), "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let own_bytes = document["bytes_written"].as_u64().unwrap();
    assert!(own_bytes >= std::fs::metadata(&out).unwrap().len() / 2, "{own_bytes} bytes of our own");
    let rows = document["tables"]["applications"].as_array().unwrap();
    assert!(
        rows.iter().all(|row| row["application"] != "trace" && row["application"] != "likenew"),
        "{rows:?}"
    );
}

#[test]
fn a_killed_recorder_leaves_a_trace_that_can_be_read_and_nothing_for_long() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let arguments = ["record", ext4.path(), "--out", "killed.csv.zst"];
    let Some(recorder) = Recorder::start(&sandbox, &arguments) else { return };
    let process = recorder.0.id();
    let trace = sandbox.work().join("killed.csv.zst");
    write_direct(&PathBuf::from(ext4.path()).join("file"), 50);
    wait_for("the trace", || lines(&trace).iter().filter(|line| line.contains(",65536,")).count() >= 50);
    recorder.signal("-KILL");
    assert_eq!(recorder.end().0, None);
    let next = sandbox.run(&["record", ext4.path(), "--out", "next.csv", "--time", "100ms"]);
    // Another test's recorder may have removed the leftovers before this one did.
    assert_eq!(instances(process), 0, "{}", next.code(0).stderr());
    assert!(lines(&trace).iter().filter(|line| line.contains(",65536,")).count() >= 50);
}

#[test]
fn a_build_is_recorded_with_its_programs() {
    let sandbox = Sandbox::new();
    let Some(mut ext4) = Ext4::mount(&sandbox) else { return };
    let source = PathBuf::from(ext4.path()).join("source");
    std::fs::create_dir(&source).unwrap();
    for number in 0..10 {
        let filler = "/* what compilers read and leave out */\n".repeat(2000);
        let text = format!("{filler}int part{number}(int x) {{ return x + {number}; }}\n");
        std::fs::write(source.join(format!("part{number}.c")), text).unwrap();
    }
    std::fs::write(source.join("main.c"), "int main(void) { return 0; }\n").unwrap();
    // Nothing of it is left in memory.
    ext4.mount_again();
    let arguments = ["record", ext4.path(), "--out", "build.csv.zst", "--json", "-"];
    let Some(recorder) = Recorder::start(&sandbox, &arguments) else { return };
    let build = "for c in *.c; do cc -c $c -o ${c%.c}.o || exit 1; done; cc *.o -o program && sync -f .";
    let built = Command::new("sh").args(["-c", build]).current_dir(&source).status().unwrap();
    recorder.signal("-INT");
    let (code, stdout, stderr) = recorder.end();
    assert!(built.success() && code == Some(0), "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = document["tables"]["applications"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["application"] == name);
    let compiler = row("cc1").unwrap_or_else(|| panic!("no compiler in {rows:?}"));
    assert!(compiler["read_bytes"].as_u64().unwrap() >= 10 * 2000 * 40, "{compiler}");
    assert!(rows[0]["written_bytes"].as_u64().unwrap() > 0 && rows[0]["flushes"].as_u64().unwrap() > 0);
}

#[test]
fn what_cannot_be_recorded_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.run(&["record", "sim:tiny-flash", "--out", "x.csv"]).code(2).says("is simulated").says("replay");
    sandbox.run(&["record", "/proc", "--out", "x.csv"]).code(2).says("cannot be recorded");
    sandbox.run(&["record", "/nowhere", "--out", "x.csv"]).code(2).says("/nowhere does not exist");
    sandbox.run(&["record", "/tmp"]).code(2).says("--out");
    assert!(!sandbox.work().join("x.csv").exists());
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    std::fs::write(sandbox.work().join("there.csv"), "mine").unwrap();
    sandbox.run(&["record", ext4.path(), "--out", "there.csv"]).code(3).says("there.csv exists");
    assert_eq!(std::fs::read_to_string(sandbox.work().join("there.csv")).unwrap(), "mine");
    let mut command = sandbox.command(&["record", ext4.device(), "--out", "/tmp/x.csv"]);
    let nobody = command.current_dir("/").uid(65534).gid(65534).output();
    // If the binary is in a folder that only root can read, no other user can run it.
    let Ok(nobody) = nobody else { return };
    let message = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert_eq!(nobody.status.code(), Some(3), "{message}");
    assert!(message.contains("sudo") && !Path::new("/tmp/x.csv").exists(), "{message}");
}
