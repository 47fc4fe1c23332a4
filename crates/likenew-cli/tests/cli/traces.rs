//! Traces of other programs, imported as a user does it.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::{Program, Sandbox, names};

const MSR: &str = "128166372003061629,web,0,Read,8192,4096,1331\n\
                   128166372003071629,web,0,Write,0,512,20\n\
                   128166372003071629,web,0,Read,12288,4096,30\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("web_0.csv"), MSR).unwrap();
    sandbox
}

#[test]
fn a_trace_is_surveyed_and_stays_the_same_in_our_own_form() {
    let sandbox = sandbox();
    let shown = sandbox.run(&["import", "trace", "web_0.csv"]);
    shown.code(0).says("web_0.csv: 3 I/Os in 1.00 ms (format: msr, volume web_0)").says("33% sequential");
    let first =
        sandbox.run(&["import", "trace", "web_0.csv", "--to", "web.csv.zst", "--json", "-"]).code(0).json();
    assert_eq!((&first["format"], &first["volume"]), (&"msr".into(), &"web_0".into()));
    assert_eq!(first["survey"]["read"], serde_json::json!({"ios": 2, "bytes": 8192}));
    assert_eq!(first["survey"]["latency"]["waiting_ns"], 138_100);
    let import = sandbox.run(&["import", "trace", "web.csv.zst", "--json", "own.json"]);
    import.code(0).says("(format: likenew, Zstandard)");
    let converted = std::fs::read_to_string(sandbox.work().join("own.json")).unwrap();
    let converted: serde_json::Value = serde_json::from_str(&converted).unwrap();
    assert_eq!(converted["survey"], first["survey"], "the form changed and nothing else");
    assert_eq!(converted["head"], serde_json::json!({"name": "web_0", "imported_from": "msr"}));
    assert_eq!(converted["notes"], serde_json::json!([]));
    sandbox
        .run(&["import", "trace", "web.csv.zst", "--to", "web.iolog"])
        .code(0)
        .says("Written to web.iolog.");
    let iolog = std::fs::read_to_string(sandbox.work().join("web.iolog")).unwrap();
    assert!(
        iolog.starts_with("fio version 3 iolog\n1 drive add\n1 drive open\n1 drive read 8192 4096\n"),
        "{iolog}"
    );
    sandbox
        .run(&["import", "trace", "web.iolog", "--to", "web.v2.iolog"])
        .code(0)
        .says("(format: iolog, volume drive)");
    sandbox.run(&["import", "trace", "web.v2.iolog"]).code(0).says("Note: the trace has no times");
}

#[test]
fn nothing_is_overwritten_and_nothing_half_made_is_left() {
    let sandbox = sandbox();
    let file = |name: &str| sandbox.work().join(name);
    std::fs::write(file("mine.csv"), "mine").unwrap();
    for out in ["mine.csv", "web_0.csv"] {
        let ran = sandbox.run(&["import", "trace", "web_0.csv", "--to", out]);
        ran.code(3).says(&format!("{out} exists, and nothing is overwritten"));
    }
    assert_eq!(std::fs::read_to_string(file("mine.csv")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(file("web_0.csv")).unwrap(), MSR);
    let before = names(&sandbox.work());
    sandbox
        .run(&["import", "trace", "web_0.csv", "--to", "out.txt"])
        .code(2)
        .says("unknown ending; use .csv");
    std::fs::write(file("torn.csv"), format!("{MSR}128166372003071629,web,0,Re")).unwrap();
    let torn = sandbox.run(&["import", "trace", "torn.csv", "--to", "out.csv"]);
    torn.code(2).says("torn.csv, line 4, column 26: expected Read or Write, found \"Re\"");
    std::fs::remove_file(file("torn.csv")).unwrap();
    assert_eq!(names(&sandbox.work()), before);
}

#[test]
fn what_is_no_trace_is_named_as_what_it_is() {
    let sandbox = sandbox();
    for (name, text, code, message) in [
        ("empty", "", 2, "empty is empty"),
        ("page", "<html>", 2, "page has an unknown trace format"),
        (
            "header",
            "Timestamp,Offset,Size,IOType,VolumeID\n",
            1,
            "header holds no I/O of a drive; record it with: likenew record",
        ),
        (
            "other",
            "# tracer: nop\n dmcrypt-1 [003] ..... 100.000100: block_getrq: 253,3 WS 578805392 + 8 [dmcrypt]\n \
             kworker-77 [003] ..... 100.023500: block_unplug: [kworker] 1\n",
            1,
            "other holds no I/O of a drive, but events block_getrq and block_unplug; record it with",
        ),
        (
            "two",
            &format!("{MSR}{}", MSR.replace(",0,", ",1,")),
            2,
            "web_0 (3), web_1 (3); choose one with --volume",
        ),
    ] {
        std::fs::write(sandbox.work().join(name), text).unwrap();
        sandbox.run(&["import", "trace", name]).code(code).says(message);
    }
    let perf = "  dd 25337 [001] 543348.165046:   block:block_rq_issue: 259,0 R 131072 () 3190760 + 256 [dd]\n  \
                kworker/u17:0 23867 [005] 543348.165960:   block:block_rq_complete: 259,0 R () 3190760 + 256 [0]\n";
    std::fs::write(sandbox.work().join("perf"), perf).unwrap();
    sandbox.run(&["import", "trace", "perf"]).code(0).says("128 KiB");
    sandbox.run(&["import", "trace", "two", "--volume", "web_1"]).code(0).says("volume web_1");
    sandbox
        .run(&["import", "trace", "two", "--volume", "web_7"])
        .code(2)
        .says("has no volume web_7; there are");
    sandbox.run(&["import", "trace", "missing"]).code(2).says("could not read missing");
    sandbox.run(&["import", "trace", "web_0.csv", "--format", "tape"]).code(2).says("unknown format");
    sandbox.run(&["import", "trace", "web_0.csv", "--format", "fiu"]).code(2).says("line 1, column 19");
    sandbox.run(&["import", "trace", "."]).code(2).says("a folder");
    sandbox.run(&["import", "trace", "-"]).code(2).says("standard input is empty");
}

#[test]
fn a_trace_that_would_keep_it_waiting_is_refused_and_what_a_shell_opened_is_read() {
    let sandbox = sandbox();
    let pipe = sandbox.work().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for command in [
        &["import", "trace", "pipe"][..],
        &["replay", "sim:tiny-flash", "--trace", "pipe"],
        &["check", "sim:tiny-flash", "--upgrade", "intel-x25-m-80gb", "--trace", "pipe"],
        &["export", "--format", "csv", "pipe"],
    ] {
        let ran = sandbox.run(command);
        assert_ne!(ran.status(), Some(0), "{command:?}");
        if command[0] != "export" {
            ran.says("it is a pipe, and a trace is an ordinary file");
        }
    }
    sandbox.run(&["import", "trace", "/dev/null"]).code(2).says("it is a device");
    let mut command = Command::new("bash");
    let program = crate::support::program();
    command.args(["-c", "exec \"$0\" import trace <(cat web_0.csv)"]).arg(program);
    let ran = command.current_dir(sandbox.work()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Whether it is the program, no longer the shell that became it, and catches Ctrl-C.
fn listens(pid: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let value = |key| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim();
    let caught = u64::from_str_radix(value("SigCgt:"), 16).unwrap();
    value("Name:") == "likenew" && caught & (1 << (Signal::INT.as_raw() - 1)) != 0
}

#[test]
fn one_signal_ends_the_wait_for_a_trace_that_does_not_come() {
    let sandbox = sandbox();
    let slow = "while sleep 0.02; do head -n 1 web_0.csv || exit; done";
    for (feed, arguments) in [
        ("sleep 100", "import trace - < <(FEED)"),
        ("sleep 100", "import trace /dev/stdin < <(FEED)"),
        ("sleep 100", "import trace <(FEED) --to out.csv"),
        (slow, "import trace - --to out.csv < <(FEED)"),
        ("sleep 100", "replay sim:tiny-flash --trace <(FEED)"),
        (slow, "replay sim:tiny-flash --trace <(FEED)"),
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut command = Command::new("bash");
            let script = format!("exec \"$0\" {}", arguments.replace("FEED", feed));
            command.args(["-c", &script]).arg(crate::support::program()).process_group(0);
            sandbox.hold(&mut command);
            let mut child = Program::of(command.stdin(Stdio::null()).stderr(Stdio::null()));
            let (started_at, pid) = (Instant::now(), Pid::from_child(&child));
            while !listens(pid) {
                assert!(started_at.elapsed() < Duration::from_secs(30), "it does not listen: {arguments}");
                std::thread::sleep(Duration::from_millis(5));
            }
            let started_at = Instant::now();
            kill_process(pid, signal).unwrap();
            let ended = loop {
                match child.try_wait().unwrap() {
                    None if started_at.elapsed() < Duration::from_secs(10) => {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    ended => break ended,
                }
            };
            // What feeds it would go on.
            let _ = kill_process_group(pid, Signal::KILL);
            assert_eq!(ended.and_then(|status| status.code()), Some(130), "{signal:?}: {feed}, {arguments}");
            assert!(!sandbox.work().join("out.csv").exists());
        }
    }
}
