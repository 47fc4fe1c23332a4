//! Files that are not files, and absurd numbers: each is refused with the flag, the value and the allowed
//! range, in no time and little memory.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Sandbox, program};

/// Absurd numbers, sizes and times.
const VALUES: [&str; 12] = [
    "0",
    "-1",
    "1e300",
    "nan",
    "inf",
    "18446744073709551615",
    "9223372036854775807",
    "99999999999999999999GiB",
    "8EiB",
    "300y",
    "292y",
    "100000d",
];

/// Flags whose value is the name of something.
const NAMES: [&str; 7] = ["--html", "--json", "--archive", "--color", "--export", "--trace", "--target"];

/// Runs it with at most 6 GB of address space, most of which a debug build reserves and does not use.
fn run(sandbox: &Sandbox, arguments: &[String]) -> (Option<i32>, String, Duration) {
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -v 6000000; exec \"$0\" \"$@\""]).arg(program()).args(arguments);
    command.current_dir(sandbox.work()).env("NO_COLOR", "1");
    command
        .env("XDG_DATA_HOME", sandbox.work().join("data"))
        .env("XDG_STATE_HOME", sandbox.work().join("state"));
    let started_at = Instant::now();
    let out = command.stdin(std::process::Stdio::null()).output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned(), started_at.elapsed())
}

/// Every flag with a value of every command that plans a measurement, from the help.
fn flags(sandbox: &Sandbox) -> Vec<(String, String)> {
    let help = |arguments: &[&str]| {
        let out = sandbox.command(arguments).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let all = help(&["--help"]);
    let commands = all.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let commands = commands.map(|(name, _)| name).filter(|name| !name.starts_with([' ', '-']));
    let mut flags = Vec::new();
    for command in commands.filter(|name| !matches!(*name, "run" | "help")) {
        let help = help(&[command, "--help"]);
        if !help.contains("--plan") || command == "import" {
            continue;
        }
        for line in help.lines() {
            let line = line.trim_start();
            let line =
                line.get(4..).filter(|_| line.starts_with('-') && !line.starts_with("--")).unwrap_or(line);
            let Some((flag, _)) = line.split_once(" <").filter(|(flag, _)| flag.starts_with("--")) else {
                continue;
            };
            if !NAMES.contains(&flag) {
                flags.push((command.to_owned(), flag.to_owned()));
            }
        }
    }
    flags
}

/// Gives a value to a flag, and returns the fault of the answer.
fn objection(sandbox: &Sandbox, command: &str, flag: &str, value: &str) -> Option<String> {
    let mut arguments =
        vec![command.to_owned(), "sim:tiny-flash".into(), format!("{flag}={value}"), "--plan".into()];
    if command == "replay" {
        arguments.extend(["--trace".into(), "day.csv".into()]);
    }
    let (code, message, elapsed) = run(sandbox, &arguments);
    let name = flag.trim_start_matches('-');
    // A plan's name of a flag has underscores instead of dashes.
    let is_named =
        message.contains(name) || message.contains(&name.replace('-', "_")) || message.contains(value);
    let reason = match code {
        _ if message.contains("panicked") => "it panics",
        Some(0 | 3) => {
            return (elapsed > Duration::from_secs(20)).then(|| format!("{arguments:?} took {elapsed:?}"));
        }
        Some(2) if is_named => return None,
        Some(2) => "the message names neither the flag nor its value",
        _ => "it ends in another way than by refusing it",
    };
    Some(format!("{arguments:?}: {reason} ({code:?}): {message}"))
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let trace = "128166372003061629,hm,1,Read,0,4096,100\n128166372013061629,hm,1,Write,8192,4096,100\n";
    std::fs::write(sandbox.work().join("day.csv"), trace).unwrap();
    sandbox
}

#[test]
fn absurd_numbers_are_refused_by_name() {
    let sandbox = sandbox();
    let flags = flags(&sandbox);
    assert!(flags.len() > 150, "{flags:?}");
    assert!(
        flags.contains(&("replay".into(), "--speed".into()))
            && flags.contains(&("bench".into(), "--time".into()))
    );
    // One value for each flag, in turn.
    let given = flags.iter().zip(VALUES.iter().cycle());
    let wrong: Vec<_> =
        given.filter_map(|((command, flag), value)| objection(&sandbox, command, flag, value)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(objection(&sandbox, "replay", "--speed", "1e300"), None);
}

#[test]
#[ignore = "some 3,000 starts of the program take a minute; the sample above stands for them"]
fn every_absurd_number_is_refused_by_name() {
    let sandbox = sandbox();
    let (mut wrong, flags) = (Vec::new(), flags(&sandbox));
    for (command, flag) in &flags {
        wrong.extend(VALUES.iter().filter_map(|value| objection(&sandbox, command, flag, value)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!(
        "attack: absurd numbers for every flag | {} | accepted, or refused with the flag and its value named",
        flags.len() * VALUES.len()
    );
}

#[test]
fn what_is_no_file_or_too_large_a_one_is_refused() {
    let sandbox = sandbox();
    let large = std::fs::File::create(sandbox.work().join("large.toml")).unwrap();
    large.set_len(64 << 30).unwrap();
    let made = Command::new("mkfifo").arg(sandbox.work().join("pipe")).status().unwrap();
    assert!(made.success());
    std::fs::create_dir(sandbox.work().join("folder.toml")).unwrap();
    for (arguments, reason) in [
        ("run /dev/zero", "it is a device"),
        ("run pipe", "it is a pipe"),
        ("run folder.toml", "it is a folder"),
        ("run large.toml", "larger than 4 MiB"),
        ("import fio /dev/zero", "it is a device"),
        ("import fio large.toml", "larger than 64 MiB"),
        ("import trace /dev/zero", "it is a device"),
        ("bench sim:large.toml", "larger than 1 MiB"),
        ("bench sim:folder.toml", "it is a folder"),
        ("apps sim:tiny-flash --app large.toml", "larger than 1 MiB"),
        ("serve --listen 127.0.0.1:0 --archive pipe", "pipe"),
        ("serve --listen 127.0.0.1:0 --history /dev/zero", "it is a link, or no file"),
    ] {
        let split: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        let (code, message, elapsed) = run(&sandbox, &split);
        assert!(matches!(code, Some(1 | 2)) && message.contains(reason), "{arguments}: {code:?} {message}");
        assert!(elapsed < Duration::from_secs(20), "{arguments}: {elapsed:?}");
    }
    sandbox.run(&["bench", "sim:tiny-flash", "--time", "1ms"]);
    for file in ["plan.toml", "machine.json", "segments.jsonl"] {
        let run_folder = sandbox.work().join(file);
        std::fs::create_dir(&run_folder).unwrap();
        let kept = sandbox.runs().pop().expect("a run was kept");
        for entry in std::fs::read_dir(kept).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, run_folder.join(path.file_name().unwrap())).unwrap();
        }
        std::fs::remove_file(run_folder.join(file)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", run_folder.join(file)).unwrap();
        let (code, message, _) = run(&sandbox, &["judge".into(), file.into()]);
        assert!(
            code == Some(1) && message.contains(file) && message.contains("it is a link"),
            "{file}: {message}"
        );
    }
}

#[test]
fn a_run_whose_numbers_cannot_have_been_measured_is_refused_by_file_and_line() {
    let sandbox = sandbox();
    sandbox.run(&["bench", "sim:tiny-flash", "--time", "1ms"]);
    let kept = sandbox.runs().pop().expect("a run was kept");
    let (file, machine) = (kept.join("segments.jsonl"), kept.join("machine.json"));
    let (whole, described) =
        (std::fs::read_to_string(&file).unwrap(), std::fs::read_to_string(&machine).unwrap());
    let judge = || run(&sandbox, &["judge".into(), kept.display().to_string()]);
    assert_eq!(judge().0, Some(0));
    let second = whole.lines().nth(1).expect("a bench has several workloads");
    for (key, value, reason) in [
        ("started_at", "9223372036854775807", "no clock reads more than 70 years"),
        ("started_at", "18446744073709551615", "no clock reads more than 70 years"),
        ("ended_at", "0", "not in the order of time"),
        ("busy", "9223372036854775808", "no clock reads more than 70 years"),
        ("ios", "18446744073709551615", "ios is 18446744073709551615, and can be at most"),
        ("bytes", "1152921504606846977", "bytes is 1152921504606846977, and can be at most"),
        ("latency_ns_sum", "9223372036854775807", "latency_ns_sum is 9223372036854775807"),
        ("width", "0", "a window has no width"),
    ] {
        let key = format!("\"{key}\":");
        // The plan comes first in the document, and has amounts as text.
        let at = second.match_indices(&key).map(|(at, _)| at + key.len());
        let at = at.into_iter().find(|at| second[*at..].starts_with(|c: char| c.is_ascii_digit()));
        let at = at.unwrap_or_else(|| panic!("{key}: {second}"));
        let digits = second[at..].find(|c: char| !c.is_ascii_digit()).unwrap();
        let damaged = format!("{}{value}{}", &second[..at], &second[at + digits..]);
        std::fs::write(&file, whole.replacen(second, &damaged, 1)).unwrap();
        let (code, message, _) = judge();
        assert_eq!(code, Some(1), "{key}{value}: {message}");
        assert!(
            message.contains("segments.jsonl, line 2,") && message.contains(reason),
            "{key}{value}: {message}"
        );
    }
    std::fs::write(&file, &whole).unwrap();
    let at = described.find("\"capacity_bytes\": ").expect("a machine says how large its drive is") + 18;
    let digits = described[at..].find(|c: char| !c.is_ascii_digit()).unwrap();
    let damaged = format!("{}18446744073709551615{}", &described[..at], &described[at + digits..]);
    std::fs::write(&machine, damaged).unwrap();
    let (code, message, _) = judge();
    assert!(code == Some(1) && message.contains("capacity_bytes is 18446744073709551615"), "{message}");
}

/// What steers a terminal: C0 and C1 controls, marks that turn the direction of writing, and a line that seems to be ours.
const EVIL: &str = "evil\u{1b}[31m\u{7}\u{9b}31m\u{202e}\u{2066}\nlikenew: all is well";

#[test]
fn names_and_contents_cannot_steer_the_terminal() {
    let sandbox = Sandbox::new();
    let work = sandbox.work();
    let quoted = EVIL.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007").replace('\n', "\\n");
    std::fs::write(work.join(format!("{EVIL}.toml")), format!("procedure = \"{quoted}\"\nschema = 1\n"))
        .unwrap();
    std::fs::write(work.join("plan.toml"), format!("\"{quoted}\" = 1\nprocedure = \"bench\"\n")).unwrap();
    std::fs::create_dir(work.join(EVIL)).unwrap();
    let (toml, missing, drive) =
        (format!("{EVIL}.toml"), format!("{EVIL}.missing"), format!("sim:{EVIL}.toml"));
    let setting = format!("sim:tiny-flash?{EVIL}=1");
    let commands: [&[&str]; 24] = [
        &["check", &missing],
        &["check", &toml, "--bytes", "0"],
        &["check", &drive],
        &["check", &setting],
        &["check", "sim:tiny-flash", &missing],
        &["bench", EVIL, "--plan", "--span", "8EiB"],
        &["run", &missing],
        &["run", &toml],
        &["run", "plan.toml"],
        &["judge", &missing],
        &["judge", EVIL],
        &["report", &missing],
        &["report", EVIL, "--json", EVIL],
        &["resume", EVIL],
        &["compare", EVIL, &missing],
        &["import", "fio", &toml],
        &["import", "trace", &toml],
        &["import", "trace", &missing],
        &["sim", "show", &missing],
        &["sim", "show", EVIL],
        &["history", EVIL],
        &["drives", EVIL],
        &["bench", "sim:tiny-flash", "--span", EVIL],
        &["recondition", "sim:tiny-flash", "--step", EVIL],
    ];
    for command in commands {
        let ran = sandbox.run(command);
        let said = format!("{}{}", ran.stdout(), ran.stderr());
        assert_harmless(command, &said);
        assert_ne!(ran.status(), Some(0), "{command:?}: {said}");
    }
}

#[track_caller]
fn assert_harmless(command: &[&str], said: &str) {
    let steers = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!said.contains(steers), "{command:?}: {said:?}");
    assert!(!said.lines().any(|line| line.starts_with("likenew: all is well")), "{command:?}: {said}");
}

#[test]
fn plans_and_documents_cannot_steer_the_terminal_and_hold_what_was_typed() {
    let sandbox = Sandbox::new();
    // A quote, which plans as they were written keep in a string that has no escapes.
    let folder = sandbox.work().join(format!("{EVIL} \" \u{2028}"));
    std::fs::create_dir(&folder).unwrap();
    let name = folder.to_str().unwrap();
    let run = |command: &[&str]| {
        let ran = sandbox.run(command);
        let said = ran.code(0).stdout();
        assert_harmless(command, &said);
        said
    };
    let plan: toml::Table = toml::from_str(&run(&["check", name, "--plan"])).unwrap();
    assert_eq!(plan["target"].as_str(), Some(name));
    for command in [&["facts", name, "--json", "-"][..], &["bench", name, "--estimate", "--json", "-"]] {
        let document: serde_json::Value = serde_json::from_str(&run(command)).unwrap();
        assert!(command[0] != "facts" || document["target"]["name"] == name, "{document}");
    }
}
