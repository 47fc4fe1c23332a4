//! Everything that the program prints, kept as `docs/messages/*.txt`, and its documents, kept as `schema/examples/*.json`: a
//! change of wording shows in the diff, and all of it can be read in one sitting. `cargo xtask messages` writes the files again.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{CommandOutput, Sandbox, is_valid, names};

/// If this variable is set, the files are written instead of compared.
const UPDATE: &str = "LIKENEW_UPDATE_MESSAGES";

/// Most lines of a screen, by its columns.
const SCREENS: [(usize, usize); 2] = [(100, 24), (80, 30)];

/// Compares a text with its file in `docs/messages`, or writes that.
#[track_caller]
pub(crate) fn matches_file(name: &str, text: &str) {
    matches(&format!("docs/messages/{name}"), text);
}

/// Compares a text with a file of the repository, or writes that.
#[track_caller]
pub(crate) fn matches(name: &str, text: &str) {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name);
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
        "{name} says otherwise from line {} on; if the change is meant, run cargo xtask messages\n  kept: {}\n  now:  {}",
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

/// What a run says: its screen, the narrow one if more than its breaks of lines differs, and what only the details say.
pub(crate) fn sayings(sandbox: &Sandbox, what: &str, wide: &str) -> String {
    let mut text = wide.to_owned() + &narrow_screen(sandbox, what, wide);
    let more = beyond(sandbox, wide);
    if !more.is_empty() {
        let _ = write!(text, "\n--- details\n{more}");
    }
    text
}

/// Paragraphs of details that say what was run: those of [`details`] stand for all.
const CONDITIONS: [&str; 4] = ["Target ", "Run: ", "Device counters", "Caveat: Simulated drive"];

/// Paragraphs and sentences of the newest report's details that are not on its screen.
fn beyond(sandbox: &Sandbox, screen: &str) -> String {
    let text = CommandOutput::of(sandbox.command(&["report", "--details"]).env("COLUMNS", "100")).stdout();
    let lines: Vec<&str> = text.lines().take_while(|line| !is_title(line)).collect();
    let mut known = words(screen).join(" ");
    let mut more = String::new();
    let mut add = |saying: &str, shown: &str| {
        let spoken = words(saying).join(" ");
        if !known.contains(&spoken) {
            known += &format!(" {spoken}");
            more += &format!("{}\n", shown.trim_end());
        }
    };
    // A paragraph or an item of a list begins where a line is not indented, or after an empty one.
    for item in lines.chunk_by(|line, next| !line.is_empty() && next.starts_with(' ')) {
        let is_condition = CONDITIONS.iter().any(|condition| item[0].starts_with(condition));
        if !is_condition && !item[0].starts_with("Run folder:") {
            add(&item.join("\n"), &item.join("\n"));
        }
    }
    let document = sandbox.run(&["report", "--json", "-"]).json();
    for name in SENTENCES {
        for row in document["tables"][name].as_array().into_iter().flatten() {
            let sentences = row.as_object().unwrap().values().filter_map(|value| value.as_str());
            for sentence in sentences.filter(|text| text.contains(' ')) {
                add(sentence, &textwrap::fill(&format!("{name}: {sentence}"), SCREENS[0].0));
            }
        }
    }
    more
}

/// The words of a text, without marks of continued lines, bars and plots, which depend on the columns.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).collect()
}

/// Everything that the newest report says, 100 columns wide, with the beginning of each table and the name of each plot: what
/// is left out holds no sentences.
fn details(sandbox: &Sandbox) -> String {
    let text = CommandOutput::of(sandbox.command(&["report", "--details"]).env("COLUMNS", "100")).stdout();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("Run folder:")).collect();
    let sections = lines.chunk_by(|_, next| !is_title(next));
    sections.flat_map(abridged).map(|line| line + "\n").collect()
}

/// Lines of a table that details keep below its heading.
const TABLE_LINES_MAX: usize = 1;

/// Tables whose rows are sentences: they are kept whole.
const SENTENCES: [&str; 6] = ["fixes", "evidence", "remarks", "facts", "steps", "step plan"];

/// Whether a line is the name of a table or of a plot, which a rule follows up to the last column.
fn is_title(line: &str) -> bool {
    line.ends_with("──") && !line.starts_with(['─', ' ']) && line.chars().count() == 100
}

/// The text before the first table as it is; of a table its beginning; of a plot its name. Rules are short.
fn abridged(section: &[&str]) -> Vec<String> {
    let title = section[0];
    let name = title.trim_end_matches('─').trim();
    let rule = section.iter().skip(1).position(|line| line.starts_with("──"));
    let lines = match rule {
        _ if !is_title(title) || SENTENCES.contains(&name) => section.len(),
        Some(rule) => rule + 2 + TABLE_LINES_MAX,
        None => 1,
    };
    section.iter().take(lines).map(|line| shortened(line)).collect()
}

/// A line with two columns of its rule.
fn shortened(line: &str) -> String {
    let text = line.trim_end_matches('─');
    if text.len() == line.len() { line.to_owned() } else { format!("{text}──") }
}

/// Its narrow screen if that says anything else, after checking that both fit. In a table, words of a cell move to other lines.
fn narrow_screen(sandbox: &Sandbox, what: &str, wide: &str) -> String {
    let narrow = CommandOutput::of(sandbox.command(&["report"]).env("COLUMNS", "80")).stdout();
    for ((columns, lines_most), screen) in SCREENS.into_iter().zip([wide, &narrow]) {
        fits(what, screen, columns, lines_most);
    }
    other_than(&narrow, wide)
}

/// The narrow screen, unless it differs from the wide one only in how its lines break.
fn other_than(narrow: &str, wide: &str) -> String {
    let [mut one, mut other] = [narrow, wide].map(words);
    one.sort_unstable();
    other.sort_unstable();
    if one == other { String::new() } else { format!("\n--- 80 columns\n{narrow}") }
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

/// The text without options that were explained in the same words before.
fn new_options(text: &str, known: &mut HashSet<String>) -> String {
    let (mut kept, mut is_new) = (String::new(), true);
    for part in text.split_inclusive("\n\n") {
        let indent = part.len() - part.trim_start().len();
        // What a deeper paragraph says belongs to the option before it.
        if indent < 10 {
            is_new = !part.trim_start().starts_with('-') || known.insert(part.to_owned());
        }
        if is_new {
            kept += part;
        }
    }
    kept
}

#[test]
fn messages_of_help() {
    let sandbox = Sandbox::new();
    let mut text = String::new();
    for arguments in [&[][..], &["--help"]] {
        text += &transcript(&sandbox, arguments).0;
    }
    let mut known = HashSet::new();
    let all = sandbox.run(&["--help"]).stdout();
    let names: Vec<&str> = all
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once("  "))
        .map(|(name, _)| name)
        .collect();
    let names =
        names.into_iter().filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase()));
    for name in names {
        text += &new_options(&transcript(&sandbox, &[name, "--help"]).0, &mut known);
    }
    let imports = ["run", "fio", "trace"].map(|what| ["import", what]);
    for inner in [["sim", "show"], ["sim", "save"], ["sim", "serve"]].into_iter().chain(imports) {
        text += &new_options(&transcript(&sandbox, &[&inner[..], &["--help"]].concat()).0, &mut known);
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
    &["bench", "sim:tiny-flash", "--json", "/dev/null", "--passes", "1", "--no-archive"],
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
    &["check", "sim:tiny-flash", "--advertised", "read=550"],
    &["check", "sim:tiny-flash", "--advertised", "read=7.450MB/s"],
    &["check", "sim:tiny-flash", "--advertised", "read=550mb/s"],
    &["check", "sim:tiny-flash", "--advertised", "read=7450000MB/s"],
    &["check", "sim:tiny-flash", "--advertised", "read=7,450MB/s,write=6GB/s,read=7GB/s"],
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
    &["compare"],
    &["compare", "missing", "empty"],
    &["compare", "--last", "1"],
    &["judge", "missing"],
    &["resume", "empty"],
    &["replay", "sim:tiny-flash", "--trace", "missing.csv"],
    &["replay", "sim:tiny-flash", "--trace", "day.csv"],
    &["replay", "sim:tiny-flash", "--trace", "-"],
    &["apps", "sim:tiny-flash", "--app", "pcmark9"],
    &["import", "fio", "image.bin"],
    &["import", "trace", "day.csv"],
    &["import", "trace", "missing"],
    &["import", "run", "image.bin"],
    &["import", "run", "missing"],
    &["export", "empty", "run.likenew"],
    &["history", "/dev/nowhere"],
    &["history", "--history", "mysql://host/db"],
    &["history", "--history", "drive.toml"],
    &["history", "--history", "/dev/null"],
    &["check", "sim:tiny-flash", "--changes", "--no-archive"],
    &["record", "sim:tiny-flash", "--out", "day.csv"],
    &["record", "missing", "--out", "new.csv"],
    &["record", "/dev/null", "--out", "new.csv"],
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

/// Each command on healthy, slow and failing drives, and with too little measured to tell; and the name of its document in
/// `schema/examples`, where there is one.
const RUNS: &[(&str, &[&str], &str)] = &[
    ("check-healthy", &["check", "sim:intel-x25-m-80gb"], ""),
    ("check-sick", &["check", "sim:tiny-flash?state=used"], "check-slow"),
    ("check-unknown", &["check", "sim:tlc-nvme-1tb", "--bytes", "0", "--baseline", "none"], ""),
    ("check-failed", &["check", "sim:failing.toml"], ""),
    ("recondition-healthy", &["recondition", "sim:tiny-flash"], ""),
    (
        "recondition-sick",
        &["recondition", "sim:tiny-flash?state=used&fill=0.9&trim=off"],
        "recondition-restored",
    ),
    ("recondition-dry-run", &["recondition", "sim:tiny-flash?state=used", "--dry-run"], ""),
    ("bench-healthy", &["bench", "sim:tiny-flash"], "bench-new"),
    ("bench-sick", &["bench", "sim:tiny-flash?state=used"], "bench-used"),
    ("bench-unknown", &["bench", "sim:tiny-flash?state=used", "--passes", "1"], ""),
    ("bench-failed", &["bench", "sim:failing.toml", "--op", "read", "--span", "64MiB"], ""),
    ("sweep", &["sweep", "sim:tiny-flash", "--pattern", "random", "--passes", "3"], "sweep-new"),
    (
        "sweep-sick",
        &["sweep", "sim:tiny-flash?state=used", "--pattern", "random", "--passes", "3"],
        "sweep-used",
    ),
    ("sweep-failed", &["sweep", "sim:failing.toml", "--op", "read", "--span", "64MiB"], ""),
    ("surface", &["surface", "sim:wd6400aaks"], ""),
    (
        "surface-failed",
        &["surface", "sim:failing.toml", "--span", "64MiB", "--probes", "200"],
        "surface-unreadable",
    ),
    ("fill", &["fill", "sim:tiny-flash"], ""),
    ("fill-sick", &["fill", "sim:tiny-flash?state=used"], "fill-used"),
    ("fill-failed", &["fill", "sim:failing.toml", "--files", "20", "--read-back"], ""),
    ("endure", KNEES, "endure-knees"),
    (
        "endure-snia",
        &["endure", "sim:tiny-flash", "--test", "snia-iops", "--round", "50ms", "--rounds", "6"],
        "",
    ),
    ("age", &["age", "sim:tiny-flash"], "age-used"),
    ("data", &["data", "sim:tiny-flash"], "data-new"),
    ("data-failed", &["data", "sim:failing.toml"], ""),
    ("cache", &["cache", "sim:tiny-flash"], "cache-new"),
    ("cache-failed", &["cache", "sim:failing.toml", "--span", "64MiB"], ""),
    ("trim", &["trim", "sim:tiny-flash"], "trim-works"),
    ("trim-off", &["trim", "sim:tiny-flash?trim=off"], ""),
    ("xray", &["xray", "sim:tiny-flash"], ""),
    ("xray-failed", &["xray", "sim:failing.toml"], ""),
    ("verify", &["verify", "sim:tiny-flash"], "verify-new"),
    ("suits", &["suits", "sim:tiny-flash", "--for", "etcd,postgres"], "suits-etcd"),
    ("verify-failed", &["verify", "sim:failing.toml", "--quick"], ""),
    ("model", &["model", "sim:wd6400aaks", "--op", "read"], "model-disk"),
    ("model-failed", &["model", "sim:failing.toml", "--op", "read"], ""),
    ("apps", &["apps", "sim:tiny-flash", "--passes", "1"], "apps-new"),
    ("run", &["run", "mail.toml"], ""),
    ("replay", &["replay", "sim:tiny-flash", "--trace", "day.csv"], "replay-day"),
    // A plan says what a check compares with; these two say nothing.
    ("check-without-reference", &["run", "check-nvme.toml"], ""),
    ("check-virtual-without-reference", &["run", "check-volume.toml"], ""),
    ("facts", &["facts", "sim:tiny-flash"], ""),
];

/// Endurance with write cliffs: TRIM never comes.
const KNEES: &[&str] = &[
    "endure",
    "sim:tiny-flash",
    "--profile",
    "peak",
    "--op",
    "write",
    "--file-size",
    "16MiB",
    "--trim",
    "off",
    "--fills",
    "7",
];

/// What other commands print, that measure nothing.
const SHOWN: &[&[&str]] = &[
    &["import", "trace", "day.csv"],
    &["import", "fio", "fio.json"],
    &["sim", "show", "tiny-flash"],
    &["sim", "show", "wd6400aaks"],
    &["sim", "show", "cloud-gp2-100gib"],
    &["sim", "show", "intel-520-120gb"],
    &["sim", "show", "ocz-vertex"],
    &["help"],
];

/// A workload as a plan.
const MAIL: &str = "procedure = \"run\"\ntarget = \"sim:tiny-flash?state=used\"\n\n[[options.workload]]\nname = \"mail\"\nuntil.elapsed = \"2s\"\n\
    [[options.workload.stream]]\nop = \"mix:70\"\nsize = \"4KiB\"\npattern.random = \"0..64MiB\"\narrival.closed.depth = 1\n";

/// Files that commands are given.
fn good_files(sandbox: &Sandbox) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).unwrap();
    let faults = "\n[faults]\n\
        unreadable = { value = \"8MiB..9MiB\", source = \"made up\" }\n\
        retry_ns = { value = 8333333, source = \"a turn\" }\n\
        retries_max = { value = 20, source = \"made up\" }\n";
    let scenario: toml::Table =
        toml::from_str(&read("scenarios/replay-flash-is-faster-than-a-disk.toml")).unwrap();
    let check = |drive: &str| {
        format!("procedure = \"check\"\ntarget = \"sim:{drive}\"\n\n[options]\nbytes = \"1840MiB\"\n")
    };
    for (name, text) in [
        ("failing.toml", read("catalog/wd6400aaks.toml") + faults),
        ("day.csv", scenario["trace"]["text"].as_str().unwrap().to_owned()),
        ("fio.json", read("crates/likenew-fio/tests/samples/mixed.json")),
        ("mail.toml", MAIL.to_owned()),
        ("check-nvme.toml", check("tlc-nvme-1tb")),
        ("check-volume.toml", check("cloud-gp2-100gib")),
    ] {
        std::fs::write(sandbox.work().join(name), text).unwrap();
    }
}

/// Judging a run again, resuming one that was interrupted, and the list of runs.
fn kept_runs(sandbox: &Sandbox) -> String {
    sandbox.run(&["fill", "sim:tiny-flash?state=used", "--files", "12", "--file-size", "10MiB"]);
    let run = sandbox.runs().into_iter().next_back().unwrap();
    let (path, segments) = (run.to_str().unwrap(), run.join("segments.jsonl"));
    let whole = std::fs::read_to_string(&segments).unwrap();
    let kept: usize = whole.lines().take(7).map(|line| line.len() + 1).sum();
    let mut text = String::new();
    for (what, arguments) in [("judge", ["judge", path]), ("resume", ["resume", path])] {
        if what == "resume" {
            std::fs::write(&segments, &whole[..kept + 100]).unwrap();
            std::fs::remove_file(run.join("findings.json")).unwrap();
        }
        text += &format!("=== {what}\n{}", transcript(sandbox, &arguments).0);
    }
    text += &format!("=== resume-complete\n{}", transcript(sandbox, &["resume", path]).0);
    text.replace(path, "RUN").replace(run.file_name().unwrap().to_str().unwrap(), "RUN")
}

#[test]
fn messages_of_commands() {
    let sandbox = Sandbox::new();
    good_files(&sandbox);
    let (mut text, mut examples) = (String::new(), Vec::new());
    let mut procedures = BTreeSet::new();
    for (what, arguments, example) in RUNS {
        let (shown, ran) = transcript(&sandbox, arguments);
        assert!(matches!(ran.status(), Some(0 | 1 | 10)), "{shown}");
        let _ = write!(text, "=== {what}\n{shown}");
        if *what != "facts" {
            text += &narrow_screen(&sandbox, what, &ran.stdout());
            let quiet =
                CommandOutput::of(sandbox.command(&["report", "--quiet"]).env("COLUMNS", "100")).stdout();
            assert_eq!(quiet.lines().count(), 1, "{what}: {quiet}");
            if !ran.stdout().contains(&quiet) {
                let _ = write!(text, "--- quiet\n{quiet}\n");
            }
            // What each table is called and begins with, once.
            if procedures.insert(arguments[0]) {
                let _ = write!(text, "--- details\n{}\n", details(&sandbox));
            }
        }
        if !example.is_empty() {
            matches_example(example, &sandbox.run(&["report", "--json", "-"]).json());
            examples.push((*example, sandbox.runs().pop().unwrap()));
        }
    }
    let run = |name: &str| {
        examples.iter().find(|(example, _)| *example == name).unwrap().1.to_str().unwrap().to_owned()
    };
    let compared = sandbox.run(&["compare", &run("bench-new"), &run("bench-used"), "--json", "-"]);
    matches_example("compare-benches", &compared.code(0).json());
    let mut all: Vec<String> = examples.iter().map(|(example, _)| format!("{example}.json")).collect();
    all.push("compare-benches.json".to_owned());
    all.sort_unstable();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/examples");
    assert_eq!(names(folder.as_ref()), all);
    let _ = write!(text, "=== drives\n{}", simulated(&sandbox.run(&["drives"]).stdout()));
    for arguments in SHOWN {
        text += &transcript(&sandbox, arguments).0;
    }
    text += &kept_runs(&Sandbox::new());
    text += &drives_over_time();
    text += &runs_compared();
    matches_file("commands.txt", &text);
}

/// Compares a document with its file in `schema/examples`, where each row of a table is a line, or writes that.
#[track_caller]
fn matches_example(name: &str, document: &Value) {
    is_valid(document);
    matches(&format!("schema/examples/{name}.json"), &(rows_as_lines(document, "") + "\n"));
}

/// JSON in which an object or a list has lines of its own only if it holds other ones; short lists of lists share lines.
fn rows_as_lines(value: &Value, indent: &str) -> String {
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    let inner = format!("{indent}  ");
    let joined = |items: Vec<String>| format!("\n{inner}{}\n{indent}", items.join(&format!(",\n{inner}")));
    match value {
        Value::Object(object) if object.values().any(is_nested) => {
            let items = object.iter().map(|(key, value)| {
                format!("{}: {}", Value::from(key.as_str()), rows_as_lines(value, &inner))
            });
            format!("{{{}}}", joined(items.collect()))
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            format!("[{}]", joined(list.iter().map(|value| rows_as_lines(value, &inner)).collect()))
        }
        Value::Array(list) if list.iter().any(is_nested) => {
            let mut lines: Vec<String> = Vec::new();
            for text in list.iter().map(Value::to_string) {
                match lines.last_mut() {
                    Some(line) if line.len() + text.len() < 160 => *line += &format!(", {text}"),
                    _ => lines.push(text),
                }
            }
            format!("[{}]", joined(lines))
        }
        _ => value.to_string(),
    }
}

/// Runs compared: a new drive and a used one, by three commands.
fn runs_compared() -> String {
    let sandbox = Sandbox::new();
    let mut text = String::new();
    for (command, length) in [("check", &[][..]), ("bench", &["--passes", "3"]), ("fill", &["--files", "16"])]
    {
        for target in ["sim:tiny-flash", "sim:tiny-flash?state=used"] {
            sandbox.run(&[&[command, target, "-q"], length].concat());
        }
        let (shown, ran) = transcript(&sandbox, &["compare", "--last", "2"]);
        fits(command, &ran.stdout(), 100, 24);
        let mut narrow = sandbox.command(&["compare", "--last", "2"]);
        let narrow = CommandOutput::of(narrow.env("COLUMNS", "80")).stdout();
        fits(command, &narrow, 80, 30);
        let _ = write!(text, "=== compare-{command}\n{shown}{}", other_than(&narrow, &ran.stdout()));
    }
    let details = transcript(&sandbox, &["compare", "--last", "2", "--details"]).0;
    let _ = write!(text, "=== compare-details\n{details}");
    text
}

/// Drives over time: none, one, and one that got slow, checked on other days each time.
fn drives_over_time() -> String {
    let sandbox = Sandbox::new();
    let mut text = format!("=== history-empty\n{}", transcript(&sandbox, &["history"]).0);
    for day in 1..=6 {
        sandbox.run(&["check", "sim:tiny-flash", "-q"]);
        let run = sandbox.runs().pop().unwrap();
        let kept = run.with_file_name(format!("2026-03-0{day}T12-00-00.000Z-check-sim-tiny-flash"));
        std::fs::rename(run, &kept).unwrap();
        let file = |name: &str| kept.join(name);
        let read = |name: &str| serde_json::from_str(&std::fs::read_to_string(file(name)).unwrap()).unwrap();
        let (mut machine, mut findings): (Value, Value) = (read("machine.json"), read("findings.json"));
        machine["started_at"] = format!("2026-03-0{day}T12:00:00.000Z").into();
        for (index, row) in findings["tables"]["metrics"].as_array_mut().unwrap().iter_mut().enumerate() {
            let factor = 1.0 + 0.01 * ((day * 5 + index * 3) % 4) as f64
                - if day > 3 && index == 0 { 0.2 } else { 0.0 };
            for key in ["measured_per_s", "low_per_s", "high_per_s"] {
                row[key] = (row[key].as_f64().unwrap() * factor).into();
            }
        }
        for (name, value) in [("machine.json", machine), ("findings.json", findings)] {
            std::fs::write(file(name), value.to_string()).unwrap();
        }
        if day == 1 {
            text += &format!("=== history-once\n{}", transcript(&sandbox, &["history", "sim:tiny-flash"]).0);
        }
    }
    std::fs::create_dir(sandbox.runs()[0].with_file_name("broken")).unwrap();
    std::fs::write(sandbox.runs()[6].join("plan.toml"), "procedure =").unwrap();
    for arguments in [&["history"][..], &["history", "sim:tiny-flash"]] {
        let (shown, ran) = transcript(&sandbox, arguments);
        fits("history", &ran.stdout(), 80, 24);
        let _ = write!(text, "=== history\n{shown}");
    }
    text
}

/// The list of drives without those of this machine.
fn simulated(drives: &str) -> String {
    drives.split("Block devices").next().unwrap_or_default().to_owned()
}
