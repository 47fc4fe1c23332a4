//! Commands on simulated drives: results, reports, run folders, and reproducibility.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Program, Sandbox};

const BENCH: [&str; 7] = ["bench", "sim:tiny-flash", "--span", "64MiB", "--passes", "2", "--json"];

#[test]
fn equal_seeds_and_plans_give_byte_identical_json() {
    let sandbox = Sandbox::new();
    for state in ["new", "used"] {
        let bench = |seed: &str| {
            let drive = format!("sim:tiny-flash?state={state}");
            let arguments =
                ["bench", &drive, "--span", "64MiB", "--passes", "1", "--seed", seed, "--json", "-"];
            sandbox.run(&arguments).code(0).stdout()
        };
        assert_eq!(bench("1"), bench("1"));
        assert_ne!(bench("1"), bench("2"));
    }
    let fill =
        || sandbox.run(&["fill", "sim:tiny-flash?state=used", "--files", "40", "--json", "-"]).stdout();
    assert_eq!(fill(), fill());
}

#[test]
fn every_report_keeps_to_the_schema() {
    let sandbox = Sandbox::new();
    let schema =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json"))
            .unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    std::fs::write(sandbox.work().join("plan.toml"), PLAN).unwrap();
    for arguments in [
        &[&BENCH[..], &["-"]].concat()[..],
        &["bench", "sim:wd6400aaks", "--span", "64MiB", "--passes", "1", "--time", "1s", "--json", "-"],
        &[
            "sweep",
            "sim:tiny-flash",
            "--profile",
            "quick",
            "--span",
            "64MiB",
            "--bytes",
            "1MiB",
            "--json",
            "-",
        ],
        &["fill", "sim:tiny-flash", "--files", "20", "--json", "-"],
        &["run", "plan.toml", "--json", "-"],
    ] {
        let ran = sandbox.run(arguments);
        let document = ran.json();
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{arguments:?}: {errors:?}");
        let accounting = &document["target"]["accounting"];
        assert!(accounting["host_bytes_written"].as_u64().unwrap() > 0, "{accounting}");
    }
}

#[test]
fn every_drive_of_the_catalog_can_be_benched() {
    let sandbox = Sandbox::new();
    let drives = sandbox.run(&["drives", "--json", "-"]).code(0).json();
    let drives = drives["simulated"].as_array().unwrap();
    assert!(drives.len() > 25, "{drives:?}");
    for drive in drives {
        let target = drive["target"].as_str().unwrap();
        let span = ["--profile", "real", "--span", "16MiB", "--passes", "1", "--time", "1s"];
        let document =
            sandbox.run(&[&["bench", target][..], &span, &["--no-archive", "--json", "-"]].concat());
        let document = document.code(0).json();
        let results =
            document["tables"]["bench.results"].as_array().or(document["tables"]["results"].as_array());
        let results = results.unwrap_or_else(|| panic!("{target}: {}", document["tables"]));
        assert!(
            !results.is_empty() && results.iter().all(|row| row["iops"].as_f64().unwrap() > 0.0),
            "{target}"
        );
    }
}

const PLAN: &str = r#"
procedure = "run"
target = "sim:tiny-flash"
seed = 3

[[options.workload]]
name = "mail server"
until = { elapsed = "500ms" }

[[options.workload.stream]]
op = "mix:70"
size = "4KiB:3,64KiB:1"
pattern.zipf = { region = "0..512MiB", theta = 0.9 }
arrival.open = { per_second = 500.0, inter_arrival = "poisson", depth_max = 32 }
data = "0.5"

[[options.workload]]
name = "idle"
until = { elapsed = "10min" }
"#;

#[test]
fn a_plan_says_a_workload_completely() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("plan.toml"), PLAN).unwrap();
    let document = sandbox.run(&["run", "plan.toml", "--json", "-"]).code(0).json();
    let rows = document["tables"]["workloads"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "a read row and a write row");
    let ios: u64 = rows.iter().map(|row| row["ios"].as_u64().unwrap()).sum();
    assert!((180..320).contains(&ios), "500 a second for half a second came to {ios}");
    // Ten idle minutes on a simulated drive cost nothing, but count in the drive's time.
    assert!(document["elapsed_ns"].as_u64().unwrap() >= 600_000_000_000);
}

#[test]
fn a_printed_plan_is_the_same_run() {
    let sandbox = Sandbox::new();
    let flags = ["bench", "sim:tiny-flash?state=used", "--span", "64MiB", "--passes", "1", "--seed", "9"];
    let plan = sandbox.run(&[&flags[..], &["--plan"]].concat()).code(0).stdout();
    std::fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    let by_flags = sandbox.run(&[&flags[..], &["--json", "-"]].concat()).code(0).stdout();
    let by_plan = sandbox.run(&["run", "plan.toml", "--json", "-"]).code(0).stdout();
    assert_eq!(by_flags, by_plan);
}

#[test]
fn a_run_is_kept_shown_again_and_judged_again() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&[&BENCH[..], &["-"]].concat()).code(0).stdout();
    sandbox.run(&["bench", "sim:tiny-flash?state=used", "--span", "64MiB", "--passes", "2"]).code(0);
    let runs = sandbox.runs();
    assert_eq!(runs.len(), 2);
    let run = runs[0].to_str().unwrap();
    assert_eq!(sandbox.run(&["report", run, "--json", "-"]).code(0).stdout(), first);
    assert_eq!(sandbox.run(&["judge", run, "--json", "-"]).code(0).stdout(), first);
    let listed = sandbox.run(&["report", "--list"]).code(0).stdout();
    assert!(runs.iter().all(|run| listed.contains(run.to_str().unwrap())), "{listed}");

    let both = ["report", run, runs[1].to_str().unwrap(), "--html", "both.html"];
    let text = sandbox.run(&both).code(0).stdout();
    assert!(text.contains("sim:tiny-flash?state=used"), "{text}");
    let page = std::fs::read_to_string(sandbox.work().join("both.html")).unwrap();
    assert!(page.contains("sim:tiny-flash?state=used") && page.contains("RND4K Q32T1"));
}

#[test]
fn a_picture_of_the_first_screen_is_drawn_without_a_browser() {
    let sandbox = Sandbox::new();
    let bench = ["bench", "sim:tiny-flash", "--span", "16MiB", "--passes", "1", "--card", "card.svg"];
    sandbox.run(&bench).code(0);
    let svg = std::fs::read_to_string(sandbox.work().join("card.svg")).unwrap();
    for words in ["<svg", "Tiny Flash 1 GiB", "RND4K Q1T1 write", "sim:tiny-flash"] {
        assert!(svg.contains(words), "{words} in {svg}");
    }
    sandbox.run(&["report", "--card", "card.png"]).code(0);
    assert!(std::fs::read(sandbox.work().join("card.png")).unwrap().starts_with(b"\x89PNG"));
    std::fs::create_dir(sandbox.work().join("folder.svg")).unwrap();
    sandbox.run(&["report", "--card", "folder.svg"]).code(2).says("folder.svg");
    sandbox.run(&["report", "--card", "card.gif"]).code(2).says("--card").says(".svg or a .png");
}

#[test]
fn every_single_io_can_be_kept_and_is_in_the_page() {
    let sandbox = Sandbox::new();
    let bench = ["bench", "sim:tiny-flash", "--span", "16MiB", "--passes", "1"];
    sandbox.run(&[&bench[..], &["--samples", "--html", "page.html"]].concat()).code(0);
    let samples = sandbox.runs()[0].join("samples.parquet");
    let bytes = std::fs::read(&samples).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "a whole Parquet file");
    let page = || {
        let text = std::fs::read_to_string(sandbox.work().join("page.html")).unwrap();
        let (_, block) = text.split_once("id=\"likenew-documents\">").unwrap();
        serde_json::from_str::<serde_json::Value>(block.split_once("</script>").unwrap().0).unwrap()
    };
    let first = page();
    let lines = first[0]["samples"]["lines"].as_array().unwrap();
    let count: u64 = lines.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    let rows = likenew_archive::SampleReader::open(&samples).unwrap().total();
    assert_eq!((count, lines.len(), &first[0]["samples"]["kept_of"]), (rows, 3, &1.into()));
    assert!(first[0]["document"].get("samples").is_none(), "they are no part of the document");

    // A run that was killed leaves a file without an end.
    std::fs::write(&samples, &bytes[..bytes.len() / 2]).unwrap();
    sandbox.run(&["report", "--html", "page.html"]).code(0).says("shows no single I/Os");
    assert_eq!(page()[0].get("samples"), None);
}

#[test]
fn a_used_drive_has_fallen_and_fill_says_so() {
    let sandbox = Sandbox::new();
    let fill = |state: &str| {
        let drive = format!("sim:tiny-flash?state={state}");
        sandbox.run(&["fill", &drive, "--files", "100", "--json", "-"])
    };
    let (new, used) = (fill("new"), fill("used"));
    let typical = |ran: &crate::support::CommandOutput| {
        let document = ran.json();
        let files = document["tables"]["files"].as_array().unwrap();
        files.iter().map(|file| file["bytes_per_s"].as_f64().unwrap()).sum::<f64>() / files.len() as f64
    };
    new.code(0);
    assert!(typical(&new) > typical(&used), "{} against {}", typical(&new), typical(&used));
}

#[test]
fn wrong_usage_is_named_and_ends_with_2() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("broken.toml"), "procedure = ").unwrap();
    std::fs::write(sandbox.work().join("unknown.toml"), "procedure = 'dance'\ntarget = 'sim:tiny-flash'")
        .unwrap();
    std::fs::write(
        sandbox.work().join("key.toml"),
        "procedure = 'bench'\ntarget = 'sim:tiny-flash'\noptions.pases = 1",
    )
    .unwrap();
    for (arguments, words) in [
        (&["bench", "sim:tiny-flsh"][..], "tiny-flash"),
        (&["bench", "sim:tiny-flash?state=old"], "used"),
        (&["bench", "sim:tiny-flash?stat=used"], "state"),
        (&["bench", "sim:nowhere.toml"], "nowhere.toml"),
        (&["bench", "sim:tiny-flash", "--span", "1 parsec"], "a size"),
        (&["bench", "sim:tiny-flash", "--span", "8TiB"], "use a --span of at most 1GiB"),
        (&["bench", "sim:tiny-flash", "--span", "4MiB"], "use 8MiB, 16MiB …"),
        (&["bench", "sim:tiny-flash", "--span", ""], "nothing was typed for --span"),
        (&["bench", ""], "nothing was typed for <TARGET>"),
        (&["bench", "sim:tiny-flash", "--passes", "0"], "passes"),
        (&["bench", "sim:tiny-flash", "--time", "3"], "duration"),
        (&["bench", "sim:tiny-flash", "--data", "half"], "kind of data"),
        (&["bench", "sim:tiny-flash", "--profile", "best"], "peak"),
        (&["bench", "sim:tiny-flash", "--op", "erase"], "operation"),
        (&["fill", "sim:tiny-flash", "--files", "5", "--file-size", "1TiB"], "exceed"),
        (&["fill", "sim:tiny-flash", "--depth", "0"], "depth"),
        (&["fill", "sim:tiny-flash", "--block", "0"], "--block"),
        (&["run", "broken.toml"], "broken.toml"),
        (&["run", "unknown.toml"], "dance"),
        (&["run", "key.toml"], "pases"),
        (&["dance"], "dance"),
    ] {
        sandbox.run(arguments).code(2).says(words);
    }
    sandbox.run(&["run", "missing.toml"]).code(2).says("missing.toml");
    sandbox.run(&["judge", "."]).code(2);
    assert!(sandbox.runs().is_empty(), "nothing was measured, nothing is kept");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_run() {
    let sandbox = Sandbox::new();
    let arguments =
        ["bench", "sim:tiny-flash", "--span", "16MiB", "--passes", "1", "--json", "no/such/folder.json"];
    sandbox.run(&arguments).code(2).says("the folder no/such does not exist");
    assert!(sandbox.runs().is_empty(), "nothing was measured");
}

#[test]
fn drives_lists_what_can_be_named() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&["drives"]).code(0).stdout();
    assert!(text.contains("sim:intel-x25-m-80gb") && text.contains("sim:tiny-flash"), "{text}");
    let json = sandbox.run(&["drives", "--json", "-"]).code(0).json();
    assert!(json["simulated"].as_array().unwrap().len() >= 5);
    assert!(json["real"].is_array());
}

#[test]
fn what_nobody_waits_for_is_refused_with_its_cost() {
    let sandbox = Sandbox::new();
    let many = ["--files", "20000", "--file-size", "4k", "--block", "4k", "--passes", "1000", "--no-archive"];
    let endless = sandbox.run(&[&["fill", "sim:tiny-flash"][..], &many].concat());
    endless.code(2).says("never ends");
    let plan = "procedure = 'run'\n[options]\n[[options.workload]]\nname = 'years'\nuntil.elapsed = '200d'\n\
                [[options.workload.stream]]\nop = 'write'\nsize = '4k'\npattern.random = 'whole'\narrival.closed.depth = 1\n";
    std::fs::write(sandbox.work().join("years.toml"), plan).unwrap();
    let years = sandbox.run(&["run", "years.toml", "sim:tiny-flash", "--no-archive"]);
    years.code(2).says("for 200 days").says("644 TiB").says("give less time");
    let much = plan.replace("until.elapsed = '200d'", "until.bytes = '100TiB'");
    std::fs::write(sandbox.work().join("much.toml"), much).unwrap();
    sandbox.run(&["run", "much.toml", "sim:tiny-flash", "--no-archive"]).code(2).says("100 TiB");
}

/// A missing file is wrong usage, whatever kind of file it should be.
#[test]
fn whatever_is_missing_ends_with_the_same_exit_code() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["run", "missing.toml"][..],
        &["bench", "missing"],
        &["bench", "sim:missing.toml"],
        &["bench", "sim:missing.snapshot"],
        &["bench", "sim:missing"],
        &["judge", "missing"],
        &["report", "missing"],
        &["resume", "missing"],
        &["import", "fio", "missing"],
        &["import", "fio", "missing", "--plan", "missing.toml"],
        &["import", "trace", "missing"],
        &["replay", "--trace", "missing", "sim:tiny-flash"],
        &["check", "missing"],
        &["facts", "missing"],
        &["check", "sim:tiny-flash", "--baseline", "missing"],
    ] {
        let ran = sandbox.run(arguments);
        ran.code(2).says("missing");
        assert!(ran.stdout().is_empty(), "{arguments:?}: {}", ran.stdout());
    }
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_page_goes_to_standard_output_alone() {
    let sandbox = Sandbox::new();
    let bench =
        ["bench", "sim:tiny-flash", "--span", "8MiB", "--passes", "1", "--time", "10ms", "--op", "read"];
    let ran = sandbox.run(&[&bench[..], &["--html", "-"]].concat());
    let page = ran.code(0).stdout();
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"), "{page:.60}");
    assert!(page.trim_end().ends_with("</html>"), "nothing else stands there");
    assert!(!sandbox.work().join("-").exists());
    let both = sandbox.run(&[&bench[..], &["--html", "-", "--json", "-"]].concat());
    both.code(2).says("--json - and --html -");
    assert!(both.stdout().is_empty());
}

#[test]
fn only_flash_is_described_as_flash_and_a_limit_of_the_plan_is_no_problem() {
    let sandbox = Sandbox::new();
    for (target, has_flash) in [
        ("sim:tiny-flash", true),
        ("sim:disk-2tb", false),
        ("sim:seagate-archive-8tb", false),
        ("sim:cloud-gp2-100gib", false),
    ] {
        let bench =
            ["bench", target, "--span", "64MiB", "--passes", "1", "--time", "20ms", "--profile", "real"];
        let ran = sandbox.run(&[&bench[..], &["--no-archive", "--details"]].concat());
        let message = ran.code(0).stdout();
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(message.contains("programmed to flash"), has_flash, "{target}: {message}");
        assert_eq!(message.contains("free blocks"), has_flash, "{target}: {message}");
        assert_eq!(message.contains("to the medium"), !has_flash, "{target}: {message}");
        assert!(message.contains("--time 20ms ended"), "{target}: {message}");
        assert!(!message.contains("does not hold"), "{target}: {message}");
    }
}

#[test]
fn one_signal_ends_the_making_of_a_drive() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["bench", "sim:tlc-nvme-1tb?state=used"]);
    let child = Program::of(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    // It takes a minute to make.
    std::thread::sleep(Duration::from_secs(3));
    let started_at = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(started_at.elapsed() < Duration::from_secs(5), "{:?}", started_at.elapsed());
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "likenew: stopped before the run began\n");
}
