//! Two runs on one drive never measure side by side, whatever path each uses; runs that only read facts are
//! not blocked.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use crate::filesystem::system;
use crate::support::{CommandOutput, Program, Sandbox};

/// Ten minutes, which no test waits for.
const REST: &str = r#"
procedure = "run"
target = "folder"

[options]
file_size = "16MiB"

[[options.workload]]
name = "rest"
until = { elapsed = "600s" }
"#;

/// A drive in memory, which no other test uses: its file system, and a loop device over a file on that.
struct Memory {
    sandbox: Sandbox,
    drive: String,
    device: String,
}

impl Memory {
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: not root, so no file system can be mounted");
            return None;
        }
        let sandbox = Sandbox::new();
        let at = |name: &str| sandbox.work().join(name);
        for name in ["memory", "folder"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        system("mount", &["-t", "tmpfs", "-o", "size=300m", "likenew-test", &text(at("memory"))]);
        let attach = |path: PathBuf, bytes| {
            File::create_new(&path).unwrap().set_len(bytes).unwrap();
            system("losetup", &["--find", "--show", path.to_str().unwrap()])
        };
        let drive = attach(at("memory/drive"), 256 << 20);
        system("mkfs.ext4", &["-q", "-F", &drive]);
        system("mount", &[&drive, &text(at("folder"))]);
        let device = attach(at("folder/disk.img"), 64 << 20);
        Some(Self { sandbox, drive, device })
    }

    /// A command that shares the locks of this machine.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env_remove("LIKENEW_LOCK_DIR");
        command
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::of(&mut self.command(arguments))
    }

    /// A run that waits for the lock, its message, and the rest of its output.
    fn waits(&self, arguments: &[&str]) -> (Program, String, BufReader<ChildStderr>) {
        let mut command = self.command(arguments);
        let mut child = Program::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let (mut line, mut stderr) = (String::new(), BufReader::new(child.stderr.take().unwrap()));
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("Waiting for another run"), "{line}");
        (child, line, stderr)
    }

    /// A run in the folder that lasts until it is stopped.
    fn long_run(&self) -> Long {
        let plan = self.sandbox.work().join("rest.toml");
        std::fs::write(plan, REST).unwrap();
        let mut command = self.command(&["run", "rest.toml", "--reserve", "1MiB"]);
        let child = Program::of(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let (long, started_at) = (Long(child), Instant::now());
        while !self.sandbox.work().join("folder/likenew-scratch").exists() {
            assert!(started_at.elapsed() < Duration::from_secs(60), "it does not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        long
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let at = |name: &str| self.sandbox.work().join(name).to_str().unwrap().to_owned();
        let detach = |device: &str| ("losetup", format!("--detach={device}"));
        for (program, argument) in
            [detach(&self.device), ("umount", at("folder")), detach(&self.drive), ("umount", at("memory"))]
        {
            let _ = Command::new(program).arg(argument).status();
        }
    }
}

struct Long(Program);

impl Long {
    fn stop(mut self) {
        system("kill", &["-INT", &self.0.id().to_string()]);
        assert_eq!(self.0.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn a_folder_and_a_loop_device_over_a_file_in_it_are_one_drive() {
    let Some(memory) = Memory::new() else { return };
    let long = memory.long_run();
    let quick = ["--op", "read", "--span", "16MiB", "--passes", "1", "--time", "50ms", "--yes"];
    let (process, drive) = (long.0.id().to_string(), memory.drive.trim_start_matches("/dev/"));
    for target in [&*memory.device, &*memory.drive, "folder/disk.img"] {
        let refused = memory.run(&[&["bench", target], &quick[..]].concat());
        refused
            .code(3)
            .says("another run of likenew")
            .says(&format!("the drive {drive} below it (process {process}:"));
        refused.says("likenew run rest.toml").says("--wait-for-drive");
    }
    memory.run(&["recondition", &memory.device, "--step", "refresh", "--consent", "x"]).code(3);
    // A run without I/O blocks no other.
    memory.run(&["facts", &memory.device]).code(0);
    memory.run(&["bench", &memory.device, "--op", "read", "--plan"]).code(0);
    let arguments = [&["bench", &*memory.device, "--wait-for-drive", "--json", "-"], &quick[..]].concat();
    let (waiting, line, _stderr) = memory.waits(&arguments);
    assert!(line.contains(&format!("on the drive {drive} (process {process}:")), "{line}");
    long.stop();
    let waited = CommandOutput::after(waiting);
    assert!(!waited.code(0).json()["tables"]["results"].as_array().unwrap().is_empty());
    // No lock is left.
    memory.run(&[&["bench", "folder/disk.img"], &quick[..]].concat()).code(0);
}

#[test]
fn a_run_that_waits_can_be_stopped() {
    let Some(memory) = Memory::new() else { return };
    let _long = memory.long_run();
    let (waiting, ..) = memory.waits(&["bench", &memory.device, "--op", "read", "--wait-for-drive"]);
    Long(waiting).stop();
}
