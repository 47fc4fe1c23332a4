//! Commands on real targets: folders on the computer's own disk, files, refusals, and leftovers.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{CommandOutput, Program, Sandbox, names, program};

const QUICK: [&str; 8] = ["--span", "16MiB", "--passes", "1", "--time", "100ms", "--reserve", "64MiB"];

fn bench<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["bench", target], &QUICK[..], more].concat()
}

#[test]
fn a_folder_is_measured_and_nothing_is_left_behind() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("photo.raw"), "the only copy").unwrap();
    let document = sandbox.run(&bench(".", &["--json", "-"])).code(0).json();
    assert_eq!(document["tables"]["results"].as_array().unwrap().len(), 8);
    assert!(document["instrument"]["calibration"]["nop_iops"].as_f64().unwrap() > 1e5);
    let fill = ["fill", ".", "--files", "20", "--file-size", "1MiB", "--reserve", "64MiB", "--json", "-"];
    let ran = sandbox.run(&fill);
    assert_eq!(ran.json()["tables"]["files"].as_array().unwrap().len(), 20);
    assert_eq!(names(&sandbox.work()), ["photo.raw"]);
    assert_eq!(std::fs::read_to_string(sandbox.work().join("photo.raw")).unwrap(), "the only copy");
}

#[test]
fn both_engines_measure_and_say_which_they_are() {
    let sandbox = Sandbox::new();
    for (flag, engine) in [("uring", "io_uring"), ("posix", "posix")] {
        let document = sandbox.run(&bench(".", &["--engine", flag, "--json", "-"])).code(0).json();
        assert_eq!(document["instrument"]["engine"], engine);
    }
}

#[test]
fn sixteen_threads_measure_one_folder() {
    let sandbox = Sandbox::new();
    let document = sandbox.run(&bench(".", &["--profile", "nvme", "--json", "-"])).code(0).json();
    let row = document["tables"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["test"] == "RND4K Q32T16")
        .unwrap();
    assert!(row["iops"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_run_that_gets_no_more_threads_says_so_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    // So many stacks of 1 GiB fit into the memory that it may have.
    for stacks in [1, 2, 5] {
        let mut command = Command::new("bash");
        let kib = (stacks << 20) + 700_000;
        command.args(["-c", &format!("ulimit -v {kib}; exec timeout -k 1 60 \"$0\" \"$@\"")]);
        command.arg(program()).args(bench(".", &[])).env("RUST_MIN_STACK", (1 << 30).to_string());
        sandbox.hold(&mut command);
        CommandOutput::of(&mut command).code(1).says("could not start 8 threads (raise the limits");
        assert!(names(&sandbox.work()).is_empty(), "{stacks}");
    }
}

/// Starts a long fill and waits until it has written something.
fn start_filling(sandbox: &Sandbox) -> Program {
    start_filling_in(sandbox, &sandbox.work())
}

fn start_filling_in(sandbox: &Sandbox, folder: &Path) -> Program {
    let child = sandbox.start(&fill(folder.to_str().unwrap()));
    await_scratch(folder);
    child
}

/// The same started by another program, such as nohup.
fn start_filling_by(sandbox: &Sandbox, starter: &[&str]) -> Program {
    let mut command = Command::new(starter[0]);
    command.args(&starter[1..]).arg(program()).args(fill(".")).stdin(Stdio::null());
    sandbox.hold(&mut command);
    let child = Program::of(command.stdout(Stdio::null()).stderr(Stdio::null()));
    await_scratch(&sandbox.work());
    child
}

/// Whatever started the tests may have had SIGHUP ignored.
const HEARS_HANGUP: [&str; 2] = ["env", "--default-signal=HUP"];

fn fill(folder: &str) -> [&str; 10] {
    ["fill", folder, "--files", "2000", "--file-size", "1MiB", "--depth", "1", "--reserve", "64MiB"]
}

/// Waits until something was written in a folder.
fn await_scratch(folder: &Path) {
    let (started_at, scratch) = (Instant::now(), folder.join("likenew-scratch"));
    // It comes and goes for the trial of the drive's speed.
    while !std::fs::read_dir(&scratch).is_ok_and(|entries| entries.count() >= 3) {
        assert!(started_at.elapsed() < Duration::from_secs(30), "nothing was written in half a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &std::process::Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next_start() {
    let sandbox = Sandbox::new();
    let mut child = start_filling(&sandbox);
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_eq!(names(&sandbox.work()), ["likenew-scratch"]);
    sandbox.run(&bench(".", &[])).code(0).says("An earlier run has left");
    assert!(names(&sandbox.work()).is_empty());
    // The killed run has kept its measurements.
    let runs = sandbox.runs();
    let killed = runs.iter().filter_map(|run| run.to_str()).find(|run| run.contains("-fill")).unwrap();
    sandbox.run(&["report", killed]).code(2).says("likenew judge");
    assert!(
        !sandbox.run(&["judge", killed, "--json", "-"]).json()["tables"]["files"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_plan_that_is_only_printed_removes_nothing() {
    let sandbox = Sandbox::new();
    let mut child = start_filling(&sandbox);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let left = names(&sandbox.work().join("likenew-scratch"));
    let data = ["data", ".", "--reserve", "64MiB", "--plan"];
    for command in [&bench(".", &["--plan"])[..], &["check", ".", "--plan"], &data] {
        sandbox.run(command).code(0);
        assert_eq!(names(&sandbox.work().join("likenew-scratch")), left, "{command:?}");
    }
}

/// What is advised is a command with the target in it.
#[test]
fn a_folder_called_like_an_option_stays_a_folder() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work().join("--yes")).unwrap();
    for command in ["bench", "check", "recondition"] {
        sandbox.run(&[command, "--plan", "--", "--yes"]).code(0).says("target = \"./--yes\"");
    }
    let advice = sandbox.run(&["recondition", "--explain", "--", "--yes"]).code(0).stdout();
    assert!(!advice.contains(" --yes"), "{advice}");
}

#[test]
fn asking_for_the_cost_changes_nothing() {
    let sandbox = Sandbox::new();
    let mut child = start_filling(&sandbox);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let left = || names(&sandbox.work().join("likenew-scratch"));
    let before = left();
    assert!(!before.is_empty());
    let recondition = ["recondition", ".", "--overwrite-max", "64MiB", "--estimate"];
    for command in [&bench(".", &["--estimate"])[..], &["check", ".", "--estimate"], &recondition] {
        // A run asks whether it may remove them, and then measures.
        sandbox.run(command).code(3).says("was left by an earlier run");
        assert_eq!(left(), before, "{command:?}");
    }
    sandbox.run(&bench(".", &[])).code(0).says("An earlier run has left");
    sandbox.run(&bench(".", &["--estimate"])).code(0).says("takes");
}

#[test]
fn leftovers_stay_while_another_run_has_the_drive() {
    let sandbox = Sandbox::new();
    let [left, busy] = ["left", "busy"].map(|name| sandbox.work().join(name));
    std::fs::create_dir(&left).unwrap();
    std::fs::create_dir(&busy).unwrap();
    let mut child = start_filling_in(&sandbox, &left);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let before = names(&left.join("likenew-scratch"));
    let mut child = start_filling_in(&sandbox, &busy);
    for command in [&bench("left", &[])[..], &["check", "left"]] {
        sandbox.run(command).code(3).says("another run of likenew uses the drive");
        assert_eq!(names(&left.join("likenew-scratch")), before, "{command:?}");
    }
    signal(&child, "-INT");
    child.wait().unwrap();
    sandbox.run(&bench("left", &[])).code(0).says("An earlier run has left");
    assert!(names(&left).is_empty());
}

#[test]
fn foreign_files_among_the_leftovers_are_kept() {
    let sandbox = Sandbox::new();
    let mut child = start_filling(&sandbox);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let foreign = sandbox.work().join("likenew-scratch/wedding.jpg");
    std::fs::write(&foreign, "the only copy").unwrap();
    sandbox.run(&bench(".", &[])).code(3).says("wedding.jpg");
    assert_eq!(std::fs::read_to_string(foreign).unwrap(), "the only copy");
}

#[test]
fn whoever_asks_to_stop_is_heard_and_what_was_measured_is_kept() {
    // Ctrl-C, a shutdown, and a terminal that is closed.
    for name in ["-INT", "-TERM", "-HUP"] {
        let sandbox = Sandbox::new();
        let mut child = start_filling_by(&sandbox, &HEARS_HANGUP);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        assert!(names(&sandbox.work()).is_empty(), "{name}");
        let run = sandbox.runs()[0].to_str().unwrap().to_owned();
        sandbox.run(&["report", &run]).code(0).says("of 2000 files were written");
    }
}

#[test]
fn under_nohup_it_goes_on_when_the_terminal_is_closed() {
    let sandbox = Sandbox::new();
    let mut child = start_filling_by(&sandbox, &["nohup"]);
    for _ in 0..2 {
        signal(&child, "-HUP");
        std::thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none());
    }
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn whoever_quits_is_heard_at_once_and_nothing_is_left_behind() {
    let sandbox = Sandbox::new();
    let mut child = start_filling(&sandbox);
    signal(&child, "-QUIT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(names(&sandbox.work()).is_empty());
}

#[test]
fn a_question_and_a_run_end_with_the_terminal_that_is_closed() {
    let sandbox = Sandbox::new();
    let long = "bench . --passes 1000 --span 16MiB --reserve 64MiB --yes";
    for (command, shows) in [("endure .", "[y/N]"), (long, "%")] {
        let code = sandbox.work().with_extension("code");
        // The shell stays to say how it ended, and tells it of a closed terminal, as shells do.
        let line = format!(
            "exec 3<&0; '{}' {command} <&3 & p=$!; trap \"kill -HUP $p\" HUP; \
             while kill -0 $p 2>&-; do wait $p; c=$?; done; echo $c > '{}'",
            program().display(),
            code.display()
        );
        let mut script = Command::new(HEARS_HANGUP[0]);
        script.args([HEARS_HANGUP[1], "script", "-qc", &line, "/dev/null"]).env("SHELL", "/bin/sh");
        sandbox.hold(&mut script);
        let mut script = Program::of(script.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (mut said, mut output) = (Vec::new(), script.stdout.take().unwrap());
        while !String::from_utf8_lossy(&said).contains(shows) {
            let mut piece = [0; 4096];
            let length = output.read(&mut piece).unwrap();
            assert_ne!(length, 0, "{}", String::from_utf8_lossy(&said));
            said.extend(&piece[..length]);
        }
        signal(&script, "-KILL");
        let ended = || std::fs::read_to_string(&code).unwrap_or_default();
        let started_at = Instant::now();
        while !ended().ends_with('\n') {
            assert!(started_at.elapsed() < Duration::from_secs(30), "{command} does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(ended(), "130\n", "{command}");
        assert!(names(&sandbox.work()).is_empty(), "{command}");
        std::fs::remove_file(code).unwrap();
    }
}

#[test]
fn where_nothing_can_be_said_it_goes_on_and_still_hears() {
    let sandbox = Sandbox::new();
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let run = |arguments: &[&str]| sandbox.command(arguments).stderr(full()).output().unwrap();
    assert_eq!(run(&bench(".", &[])).status.code(), Some(0));
    assert_eq!(run(&["check", "missing"]).status.code(), Some(2));
    for ends in ["-INT", "-QUIT"] {
        let mut child = Program::of(sandbox.command(&fill(".")).stdout(full()).stderr(full()));
        await_scratch(&sandbox.work());
        signal(&child, ends);
        assert_ne!(child.wait().unwrap().code(), Some(101), "{ends}");
        assert!(names(&sandbox.work()).is_empty(), "{ends}");
    }
}

#[test]
fn two_runs_never_meet_in_one_folder() {
    let sandbox = Sandbox::new();
    let mut child = start_filling(&sandbox);
    sandbox.run(&bench(".", &[])).code(3).says("another likenew run");
    signal(&child, "-INT");
    child.wait().unwrap();
}

#[test]
fn an_existing_file_is_read_and_never_written() {
    let sandbox = Sandbox::new();
    let photo = sandbox.work().join("photo.raw");
    let content: Vec<u8> = (0..16u32 << 20).map(|byte| (byte % 251) as u8).collect();
    std::fs::write(&photo, &content).unwrap();
    let document = sandbox.run(&bench("photo.raw", &["--json", "-"])).code(0).json();
    assert!(document["tables"]["results"].as_array().unwrap().iter().all(|row| row["op"] == "read"));
    assert_eq!(document["bytes_written"], 0);
    for refused in [&bench("photo.raw", &["--op", "write"])[..], &["fill", "photo.raw"]] {
        sandbox.run(refused).code(3).says("nothing was changed");
    }
    let plan = "procedure = 'run'\n[[options.workload]]\nname = 'w'\nuntil.ops = 1\n[[options.workload.stream]]\nop = 'write'\nsize = '4k'\npattern.sequential = 'whole'\narrival.closed.depth = 1";
    std::fs::write(sandbox.work().join("write.toml"), plan).unwrap();
    sandbox.run(&["run", "write.toml", "photo.raw"]).code(3);
    assert!(std::fs::read(&photo).unwrap() == content, "the file is as it was");
}

#[test]
fn what_is_no_drive_is_refused_with_a_reason() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("empty"), "").unwrap();
    assert!(Command::new("mkfifo").arg(sandbox.work().join("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink("nowhere", sandbox.work().join("dangling")).unwrap();
    for (target, words) in [
        ("missing", "missing"),
        ("empty", "empty"),
        ("pipe", "pipe"),
        ("/dev/null", "character device"),
        ("dangling", "nowhere"),
    ] {
        let ran = sandbox.run(&["bench", target]);
        ran.says(words);
        assert!(matches!(ran.stderr().lines().next(), Some(line) if line.starts_with("likenew: ")));
        assert!(
            [Some(1), Some(2)].contains(&sandbox.command(&["bench", target]).output().unwrap().status.code())
        );
    }
}

#[test]
fn more_than_there_is_or_than_is_good_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(&["bench", ".", "--span", "1TiB", "--op", "read", "--yes"]).code(3).says("reserve");
    // Six hundred passes over little: the question is about bytes written, not about space taken.
    let much = ["fill", ".", "--files", "8", "--file-size", "8MiB", "--passes", "600"];
    sandbox.run(&much).code(3).says("up to 37.6 GiB").says("--yes");
    assert!(names(&sandbox.work()).is_empty());
}
