//! Everything that the program prints, kept as `docs/messages/*.txt`: a change of wording shows in the diff,
//! and all of it can be read in one sitting. `cargo xtask messages` writes the files again.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{CommandOutput, Sandbox};

/// If this variable is set, the files are written instead of compared.
const UPDATE: &str = "LIKENEW_UPDATE_MESSAGES";

/// Most lines of a screen, by its columns.
const SCREENS: [(usize, usize); 2] = [(100, 24), (80, 30)];

/// Compares a text with its file, or writes the file.
#[track_caller]
pub(crate) fn matches_file(name: &str, text: &str) {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/messages")).join(name);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).position(|(kept, now)| kept != now);
    let line = differs.unwrap_or_else(|| kept.lines().count().min(text.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
    assert!(
        kept == text,
        "docs/messages/{name} says otherwise from line {} on; if the change is meant, run cargo xtask messages\n  kept: {}\n  now:  {}",
        line + 1,
        at(&kept),
        at(text)
    );
}

/// Asserts that a screen fits.
#[track_caller]
fn fits(what: &str, screen: &str, columns: usize, lines_most: usize) {
    let lines = screen.lines().count();
    assert!(lines <= lines_most, "{what}: {lines} lines at {columns} columns:\n{screen}");
    let wide = screen.lines().find(|line| line.chars().count() > columns);
    assert!(wide.is_none(), "{what}: wider than {columns} columns: {wide:?}\n{screen}");
    assert!(!screen.trim().is_empty(), "{what} shows nothing");
}

/// Both screens of the run that was just printed 100 columns wide.
pub(crate) fn screens(sandbox: &Sandbox, what: &str, wide: &str) -> String {
    format!("--- 100 columns\n{wide}\n{}", narrow_screen(sandbox, what, wide))
}

/// Its narrow screen, after checking that both fit.
fn narrow_screen(sandbox: &Sandbox, what: &str, wide: &str) -> String {
    let narrow = CommandOutput::of(sandbox.command(&["report"]).env("COLUMNS", "80")).stdout();
    for ((columns, lines_most), screen) in SCREENS.into_iter().zip([wide, &narrow]) {
        fits(what, screen, columns, lines_most);
    }
    format!("--- 80 columns\n{narrow}\n")
}

fn wide(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env("COLUMNS", "100");
    command
}

/// The output of a command, without anything specific to this machine.
fn transcript(sandbox: &Sandbox, arguments: &[&str]) -> (String, CommandOutput) {
    let ran = CommandOutput::of(&mut wide(sandbox, arguments));
    let quoted: Vec<String> = arguments.iter().map(|word| quote(word)).collect();
    let work = sandbox.work().display().to_string();
    let root = sandbox.work().parent().unwrap().display().to_string();
    let plain = |text: String| text.replace(&work, "/home/user").replace(&root, "/home");
    let (stdout, stderr) = (plain(ran.stdout()), plain(ran.stderr()));
    let code = ran.status().unwrap_or(-1);
    let exit = if code == 0 { String::new() } else { format!("[exit code {code}]\n") };
    (format!("$ likenew {}\n{stderr}{stdout}{exit}\n", quoted.join(" ")), ran)
}

fn quote(word: &str) -> String {
    if word.contains(['?', '&', ' ']) { format!("'{word}'") } else { word.to_owned() }
}

#[test]
fn messages_of_help() {
    let sandbox = Sandbox::new();
    let mut text = String::new();
    for arguments in [&[][..], &["--help"]] {
        text += &transcript(&sandbox, arguments).0;
    }
    let all = sandbox.run(&["--help"]).stdout();
    let names: Vec<&str> = all
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once("  "))
        .map(|(name, _)| name)
        .collect();
    let names =
        names.into_iter().filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase()));
    for name in names {
        text += &transcript(&sandbox, &[name, "--help"]).0;
    }
    for inner in [["sim", "show"], ["sim", "save"], ["sim", "serve"], ["import", "fio"], ["import", "trace"]]
    {
        text += &transcript(&sandbox, &[&inner[..], &["--help"]].concat()).0;
    }
    text += &transcript(&sandbox, &["help", "sim"]).0;
    let wide = text.lines().find(|line| line.chars().count() > 100);
    assert_eq!(wide, None);
    matches_file("help.txt", &text);
}

/// Input files for failing commands.
fn bad_files(sandbox: &Sandbox) {
    let files = [
        (
            "wrong-type.toml",
            "procedure = \"bench\"\ntarget = \"sim:tiny-flash\"\n\n[options]\npasses = 1\nops = { read = true }\n",
        ),
        ("wrong-key.toml", "procedure = \"bench\"\ntarget = \"sim:tiny-flash\"\n\n[options]\npases = 1\n"),
        ("wrong-procedure.toml", "procedure = \"benhc\"\ntarget = \"sim:tiny-flash\"\n"),
        ("no-target.toml", "procedure = \"bench\"\n"),
        ("no-toml.toml", "procedure = \"bench\"\nthis is no TOML\n"),
        (
            "endless.toml",
            "procedure = \"run\"\ntarget = \"sim:tiny-flash\"\n\n[[options.workload]]\nname = \"years\"\nuntil.elapsed = \"200d\"\n[[options.workload.stream]]\nop = \"write\"\nsize = \"4k\"\npattern.random = \"whole\"\narrival.closed.depth = 1\n",
        ),
        ("drive.toml", "model = \"broken\"\n"),
        ("image.bin", "precious data"),
        ("day.csv", "not a trace\n"),
    ];
    for (name, text) in files {
        std::fs::write(sandbox.work().join(name), text).unwrap();
    }
    std::fs::create_dir(sandbox.work().join("empty")).unwrap();
}

/// Failing commands, by kind of mistake.
const FAILING: &[&[&str]] = &[
    // The command line.
    &["chekc", "sim:tiny-flash"],
    &["check"],
    &["bench", "sim:tiny-flash", "--pases", "3"],
    &["bench", "sim:tiny-flash", "--passes", "many"],
    &["bench", "sim:tiny-flash", "--profile", "defalt"],
    &["bench", "sim:tiny-flash", "--op", "reed"],
    &["bench", "sim:tiny-flash", "--rwmixread", "170"],
    &["bench", "sim:tiny-flash", "--span", "1XB"],
    &["bench", "sim:tiny-flash", "--span", "1TiB"],
    &["bench", "sim:tiny-flash", "--time", "soon"],
    &["bench", "sim:tiny-flash", "--details", "--quiet"],
    &["bench", "sim:tiny-flash", "--json", "-", "--html", "-"],
    &["bench", "sim:tiny-flash", "--consent", "x"],
    &["bench", "sim:tiny-flash", "--json", "no/such/folder.json", "--passes", "1", "--no-archive"],
    &["sweep", "sim:tiny-flash", "--depth", "8..1"],
    &["sweep", "sim:tiny-flash", "--depth", "x"],
    &["data", "sim:tiny-flash", "--op", "trim"],
    &["data", "sim:tiny-flash", "--block", "4k,4k,4k"],
    &["data", "sim:tiny-flash", "--files", "empty"],
    &["endure", "sim:tiny-flash", "--rounds", "3"],
    &["endure", "sim:tiny-flash", "--test", "snia-iops", "--fills", "3"],
    &["recondition", "sim:tiny-flash", "--step", "refesh"],
    &["verify", "sim:tiny-flash", "--read-only", "--seed", "1"],
    &["check", "sim:tiny-flash", "--upgrade", "sim:tiny-flash?state=used"],
    &["check", "sim:tiny-flash", "--advertised", "reads=1"],
    &["check", "sim:tiny-flash", "--baseline", "empty"],
    // Simulated drives.
    &["check", "sim:tiny-flsh"],
    &["check", "sim:nonsense-xyz"],
    &["check", "sim:tiny-flash?state=use"],
    &["check", "sim:tiny-flash?stat=used"],
    &["check", "sim:tiny-flash?trim=no"],
    &["check", "sim:tiny-flash?fill=80"],
    &["check", "sim:tiny-flash?fill=0.5&fill=0.6"],
    &["check", "sim:generated-x"],
    &["check", "sim:missing.toml"],
    &["check", "sim:drive.toml"],
    &["sim", "show", "tiny-flsh"],
    &["sim", "save", "tiny-flash", "used.img"],
    &["sim", "serve", "tiny-flash", "--listen", "somewhere"],
    // Real targets.
    &["check", "missing"],
    &["bench", "image.bin", "--op", "write"],
    &["fill", "image.bin"],
    &["recondition", "image.bin"],
    &["recondition", "image.bin", "--step", "discard-unused"],
    &["bench", "image.bin", "--consent", "other.bin"],
    // Plans.
    &["run", "missing.toml"],
    &["run", "wrong-type.toml"],
    &["run", "wrong-key.toml"],
    &["run", "wrong-procedure.toml"],
    &["run", "no-target.toml"],
    &["run", "no-toml.toml"],
    &["run", "endless.toml"],
    // Runs, traces, fio, watching.
    &["report"],
    &["report", "empty"],
    &["report", "missing"],
    &["judge", "missing"],
    &["resume", "empty"],
    &["replay", "sim:tiny-flash", "--trace", "missing.csv"],
    &["replay", "sim:tiny-flash", "--trace", "day.csv"],
    &["replay", "sim:tiny-flash", "--trace", "-"],
    &["apps", "sim:tiny-flash", "--app", "pcmark9"],
    &["import", "fio", "image.bin"],
    &["import", "trace", "day.csv"],
    &["import", "trace", "missing"],
    &["record", "sim:tiny-flash", "--out", "day.csv"],
    &["watch", "sim:tiny-flash"],
    &["watch", "--interval", "1ms"],
    &["help", "slc_cach"],
];

#[test]
fn messages_of_errors() {
    let sandbox = Sandbox::new();
    bad_files(&sandbox);
    let mut text = String::new();
    for arguments in FAILING {
        let (shown, ran) = transcript(&sandbox, arguments);
        assert!(matches!(ran.status(), Some(1..=3)), "{arguments:?} ends with {:?}", ran.status());
        let lines = ran.stderr().lines().filter(|line| !line.trim().is_empty()).count();
        // clap's own messages end with a tip and two more lines.
        let most = if ran.stderr().starts_with("error: ") { 7 } else { 3 };
        assert!((1..=most).contains(&lines), "{arguments:?} says:\n{}", ran.stderr());
        text += &shown;
    }
    matches_file("errors.txt", &text);
}

/// Each command on healthy, slow and failing drives, and with too little measured to tell.
const RUNS: &[(&str, &[&str])] = &[
    ("check-healthy", &["check", "sim:intel-x25-m-80gb"]),
    ("check-sick", &["check", "sim:intel-x25-m-80gb?state=used&trim=off"]),
    ("check-unknown", &["check", "sim:tlc-nvme-1tb", "--bytes", "0", "--baseline", "none"]),
    ("check-failed", &["check", "sim:failing.toml"]),
    ("recondition-healthy", &["recondition", "sim:tiny-flash"]),
    ("recondition-sick", &["recondition", "sim:tiny-flash?state=used&fill=0.5"]),
    ("recondition-dry-run", &["recondition", "sim:tiny-flash?state=used", "--dry-run"]),
    ("bench-healthy", &["bench", "sim:tiny-flash"]),
    ("bench-sick", &["bench", "sim:tiny-flash?state=used"]),
    ("bench-unknown", &["bench", "sim:tiny-flash?state=used", "--passes", "1"]),
    ("bench-failed", &["bench", "sim:failing.toml", "--op", "read", "--span", "64MiB"]),
    ("sweep", &["sweep", "sim:tiny-flash"]),
    ("surface", &["surface", "sim:wd6400aaks"]),
    ("surface-failed", &["surface", "sim:failing.toml", "--span", "64MiB"]),
    ("fill", &["fill", "sim:tiny-flash"]),
    ("endure", &["endure", "sim:tiny-flash", "--op", "write", "--fills", "3"]),
    ("age", &["age", "sim:tiny-flash"]),
    ("data", &["data", "sim:tiny-flash"]),
    ("cache", &["cache", "sim:tiny-flash"]),
    ("trim", &["trim", "sim:tiny-flash"]),
    ("trim-off", &["trim", "sim:tiny-flash?trim=off"]),
    ("xray", &["xray", "sim:tiny-flash"]),
    ("verify", &["verify", "sim:tiny-flash"]),
    ("model", &["model", "sim:wd6400aaks", "--op", "read"]),
    ("apps", &["apps", "sim:tiny-flash", "--passes", "1"]),
    ("facts", &["facts", "sim:tiny-flash"]),
];

#[test]
fn messages_of_commands() {
    let sandbox = Sandbox::new();
    let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/wd6400aaks.toml");
    let faults = "\n[faults]\n\
        unreadable = { value = \"8MiB..9MiB\", source = \"made up\" }\n\
        retry_ns = { value = 8333333, source = \"a turn\" }\n\
        retries_max = { value = 20, source = \"made up\" }\n";
    let failing = std::fs::read_to_string(catalog).unwrap() + faults;
    std::fs::write(sandbox.work().join("failing.toml"), failing).unwrap();
    let mut text = String::new();
    for (what, arguments) in RUNS {
        let (shown, ran) = transcript(&sandbox, arguments);
        assert!(matches!(ran.status(), Some(0 | 1 | 10)), "{shown}");
        let _ = write!(text, "=== {what}\n{shown}");
        if *what != "facts" {
            text += &narrow_screen(&sandbox, what, &ran.stdout());
            let quiet = CommandOutput::of(sandbox.command(&["report", "--quiet"]).env("COLUMNS", "100"));
            assert_eq!(quiet.stdout().lines().count(), 1, "{what}: {}", quiet.stdout());
            let _ = write!(text, "--- quiet\n{}\n", quiet.stdout());
        }
    }
    let _ = write!(text, "=== drives\n{}", simulated(&sandbox.run(&["drives"]).stdout()));
    for arguments in [&["sim", "show", "tiny-flash"][..], &["help"]] {
        text += &transcript(&sandbox, arguments).0;
    }
    matches_file("commands.txt", &text);
}

/// The list of drives without those of this machine.
fn simulated(drives: &str) -> String {
    drives.split("Block devices").next().unwrap_or_default().to_owned()
}
