//! Watching drives: counts match the I/O, and the terminal is restored.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Program, Sandbox, names, program};

/// A loop device over a file of 64 MiB in the sandbox, for as long as this lives.
struct Loop(String);

const LOOP_BYTES: u64 = 64 << 20;

impl Loop {
    /// `None` if devices cannot be made, with a message.
    fn attach(sandbox: &Sandbox) -> Option<Self> {
        let image = sandbox.work().join("image");
        std::fs::File::create(&image).unwrap().set_len(LOOP_BYTES).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(image).output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else {
            eprintln!("no loop device can be made here, so this test shows nothing");
            return None;
        };
        Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
    }

    fn name(&self) -> &str {
        self.0.strip_prefix("/dev/").unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[track_caller]
fn system(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(output.unwrap().success(), "{program} {arguments:?}");
}

/// Sums over lines of JSON.
#[derive(Debug, Default)]
struct Sums {
    ios: [u64; 3],
    bytes: [u64; 3],
    busy_percent_max: f64,
}

impl Sums {
    fn add(&mut self, line: &Value) {
        for (index, op) in ["read", "write", "trim"].into_iter().enumerate() {
            self.ios[index] += line[op]["ios"].as_u64().unwrap_or(0);
            self.bytes[index] += line[op]["bytes"].as_u64().unwrap_or(0);
        }
        self.busy_percent_max = self.busy_percent_max.max(line["busy_percent"].as_f64().unwrap_or(0.0));
    }
}

/// Within two percent: udev and others may read a device after it was written.
#[track_caller]
fn assert_about(count: u64, done: u64) {
    assert!((done..=done + done / 50).contains(&count), "{count} counted, {done} done");
}

#[test]
fn what_is_counted_is_what_was_done() {
    let sandbox = Sandbox::new();
    let Some(device) = Loop::attach(&sandbox) else { return };
    let arguments = ["watch", &device.0, "--json", "-", "--interval", "50ms", "--time", "60s"];
    let mut watching = Program::of(sandbox.command(&arguments).stdout(Stdio::piped()));
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    // It counts from its first line on.
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&first["drive"], &first["state"]), (&device.name().into(), &"counted".into()), "{first}");

    let of = format!("of={}", device.0);
    system("dd", &["if=/dev/zero", &of, "bs=64k", "count=512", "oflag=direct"]);
    system("dd", &[&format!("if={}", device.0), "of=/dev/null", "bs=16k", "count=1024", "iflag=direct"]);
    system("blkdiscard", &["--force", &device.0]);
    let (mut sums, mut keys) = (Sums::default(), BTreeSet::new());
    while sums.bytes[2] < LOOP_BYTES {
        let line = lines.next().expect("it is watched for as long as this takes").unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        sums.add(&line);
        collect_keys(&line, &mut keys);
    }
    system("kill", &["-TERM", &watching.id().to_string()]);
    assert_eq!(watching.wait().unwrap().code(), Some(130));

    assert_about(sums.bytes[1], 512 * 65_536);
    assert_about(sums.ios[1], 512);
    assert_about(sums.bytes[0], 1024 * 16_384);
    assert_about(sums.ios[0], 1024);
    assert_about(sums.bytes[2], LOOP_BYTES);
    assert!(sums.busy_percent_max > 0.0 && sums.busy_percent_max <= 100.0, "{sums:?}");

    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/watch.md"))
        .unwrap();
    let unexplained: Vec<&String> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(keys.contains("latency_ns_step") && unexplained.is_empty(), "{unexplained:?} of {keys:?}");
}

fn collect_keys(value: &Value, keys: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        keys.insert(key.clone());
        collect_keys(value, keys);
    }
}

#[test]
fn one_interval_is_a_table_or_a_line_for_each_drive() {
    let sandbox = Sandbox::new();
    let Some(device) = Loop::attach(&sandbox) else { return };
    let ran = sandbox.run(&["watch", "--once", "--interval", "20ms", &device.0]);
    ran.code(0).says("DRIVE").says(device.name());
    assert_eq!(ran.stdout().lines().count(), 3, "{}", ran.stdout());
    let ran = sandbox.run(&["watch", "--once", "--interval", "20ms", "--json", "-", &device.0]);
    let line = ran.code(0).json();
    assert_eq!((&line["state"], &line["read"]["ios"]), (&"counted".into(), &0.into()));
    assert!(line["elapsed_ns"].as_u64().unwrap() >= 20_000_000, "{line}");
    assert!(line["model"].as_str().unwrap().ends_with("image"), "{line}");
}

#[test]
fn what_cannot_be_watched_is_refused_in_words() {
    let sandbox = Sandbox::new();
    sandbox.run(&["watch", "sim:tiny-flash"]).code(2).says("cannot be watched");
    sandbox.run(&["watch", "no-such-drive"]).code(2).says("there is no drive \"no-such-drive\"");
    sandbox.run(&["watch", "/proc/self"]).code(2).says("on no visible block device");
    sandbox.run(&["watch", "--interval", "1ms"]).code(2).says("--interval must be at least 10ms");
    sandbox.run(&["watch", "--archive", "x"]).code(2).says("--log");
    let pipe = sandbox.work().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    // The drive that it lies on, where there is one; not what would be read from it.
    let ran = sandbox.run(&["watch", "--once", "--interval", "20ms", "pipe"]);
    assert!(matches!(ran.status(), Some(0 | 2)), "{}", ran.stderr());
}

#[test]
fn without_a_terminal_intervals_are_tables() {
    let sandbox = Sandbox::new();
    // Run until the second table: on a busy machine a short time holds only one interval.
    let mut command = sandbox.command(&["watch", "--interval", "20ms", "--time", "60s"]);
    let mut watching = Program::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut table_count = 0;
    while table_count < 2 {
        let line = lines.next().expect("it is watched for as long as this takes").unwrap();
        assert!(!line.contains('\x1b'), "{line}");
        table_count += usize::from(line.starts_with("DRIVE"));
    }
    system("kill", &["-TERM", &watching.id().to_string()]);
    // Reads the rest, so that a full pipe does not block it.
    lines.for_each(drop);
    let ended = watching.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("no terminal"));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_watch() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["watch", "--all", "--interval", "10ms", "--json", "-"]);
    let mut watching = Program::of(command.stdout(Stdio::piped()));
    drop(watching.stdout.take());
    assert_eq!(watching.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_is_a_run_that_is_reported_and_judged() {
    let sandbox = Sandbox::new();
    let Some(device) = Loop::attach(&sandbox) else { return };
    let arguments = ["watch", "--log", &device.0, "--interval", "20ms", "--time", "100ms", "--json", "lines"];
    sandbox.run(&arguments).code(0).says("The log is kept in");
    let [run] = &sandbox.runs()[..] else { panic!("one run") };
    assert_eq!(names(run), ["findings.json", "live.jsonl", "machine.json", "plan.toml", "segments.jsonl"]);
    let noted = std::fs::read_to_string(run.join("live.jsonl")).unwrap();
    assert_eq!(noted, std::fs::read_to_string(sandbox.work().join("lines")).unwrap());

    let path = run.to_str().unwrap();
    let report = sandbox.run(&["report", path, "--json", "-"]).code(0).json();
    assert_eq!(
        (&report["procedure"], &report["target"]["name"]),
        (&"watch".into(), &device.0.as_str().into())
    );
    assert_eq!(report["tables"]["drives"][0]["drive"], device.name());
    assert!(report["elapsed_ns"].as_u64().unwrap() > 0);
    let schema: Value = serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&report), "{report}");
    sandbox.run(&["report", path, "--details"]).code(0).says(device.name());

    // What a kill leaves: no findings, and half a line.
    std::fs::remove_file(run.join("findings.json")).unwrap();
    std::fs::write(run.join("live.jsonl"), noted + "{\"time\"").unwrap();
    let judged = sandbox.run(&["judge", path, "--json", "-"]);
    assert_eq!(judged.code(0).says("left out").json()["tables"], report["tables"]);
    sandbox.run(&["resume", path]).code(2).says("cannot be resumed");
}

#[test]
fn a_note_on_a_log_is_printed_once() {
    let sandbox = Sandbox::new();
    sandbox.run(&["watch", "--log", "--interval", "20ms", "--time", "60ms", "--json", "lines"]).code(0);
    let [run] = &sandbox.runs()[..] else { panic!("one run") };
    std::fs::write(run.join("findings.json"), "damaged").unwrap();
    for command in ["report", "judge"] {
        let ran = sandbox.run(&[command, run.to_str().unwrap()]);
        assert_eq!(ran.code(0).stderr().matches("findings.json").count(), 1, "{}", ran.stderr());
    }
}

/// A separate terminal of 80 by 24, removed afterwards.
pub(crate) struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// Runs a shell that prints how the command ended and the state of the terminal. `None` if tmux is
    /// missing, with a message.
    pub(crate) fn start(sandbox: &Sandbox, command: &str) -> Option<Self> {
        let tmux = Self { socket: sandbox.work().join("tmux") };
        let script = format!("echo before; {command}; echo ended $?; stty -a; cat");
        let mut start = tmux.command();
        sandbox.hold(start.env("LC_ALL", "C.UTF-8"));
        start.args(["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &script]);
        match start.status() {
            Ok(status) if status.success() => Some(tmux),
            _ => {
                eprintln!("tmux is not there, so this test shows nothing");
                None
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket);
        command
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        assert!(self.command().arg("send-keys").args(keys).status().unwrap().success());
    }

    fn screen(&self) -> String {
        let output = self.command().args(["capture-pane", "-p"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The screen, as soon as it shows these words; a minute allows for busy machines.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str) -> String {
        for _ in 0..600 {
            let screen = self.screen();
            if screen.contains(words) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no \"{words}\" on:\n{}", self.screen());
    }

    /// The terminal is restored: no other screen, keys are echoed, lines are edited.
    #[track_caller]
    pub(crate) fn is_given_back(&self, end_text: &str) {
        let screen = self.shows("-echoprt");
        assert!(screen.contains("before") && screen.contains(end_text), "{screen}");
        for setting in [" icanon", " echo ", " isig", " opost"] {
            assert!(screen.replace('\n', " ").contains(setting), "{setting} in {screen}");
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").stderr(Stdio::null()).status();
    }
}

pub(crate) fn likenew() -> String {
    program().into_string().unwrap()
}

#[test]
fn keys_lead_through_all_pages_and_back() {
    let sandbox = Sandbox::new();
    let Some(device) = Loop::attach(&sandbox) else { return };
    let command = format!("{} watch --all --interval 100ms", likenew());
    let Some(tmux) = Tmux::start(&sandbox, &command) else { return };
    tmux.shows(device.name());
    tmux.press(&["/"]);
    tmux.press(&["-l", device.name()]);
    tmux.shows(&format!("filter: {}_", device.name()));
    tmux.press(&["Enter", "Enter"]);
    let page = tmux.shows("mean queue");
    assert!(page.contains(&device.0) && page.contains("64 MiB"), "{page}");
    tmux.press(&["?"]);
    tmux.shows("longer, shorter interval");
    tmux.press(&["Escape"]);
    tmux.shows("DRIVE");
    tmux.press(&["Space"]);
    tmux.shows("FROZEN");
    tmux.press(&["Space", "+", "u", ">"]);
    let table = tmux.shows("by read MiB/s");
    assert!(table.contains("every 200ms"), "{table}");
    tmux.press(&["q"]);
    tmux.is_given_back("ended 0");
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let sandbox = Sandbox::new();
    let pid = sandbox.work().join("pid");
    let command = format!("sh -c 'echo $$ > {}; exec {} watch'", pid.display(), likenew());
    let Some(tmux) = Tmux::start(&sandbox, &command) else { return };
    tmux.shows("q quit");
    system("kill", &["-TERM", std::fs::read_to_string(&pid).unwrap().trim()]);
    tmux.is_given_back("ended 130");
}

#[test]
fn ctrl_c_gives_the_terminal_back() {
    let sandbox = Sandbox::new();
    let Some(tmux) = Tmux::start(&sandbox, &format!("{} watch --ascii", likenew())) else { return };
    tmux.shows("q quit");
    tmux.press(&["C-c"]);
    tmux.is_given_back("ended 130");
}
