//! Plans exported to fio and its results imported, as a user does it.

use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Sandbox;

const PLAN: &str = r#"
procedure = "run"
seed = 1
[options]
file_size = "8MiB"
[[options.workload]]
name = "reads #1"
until = { ops = 500 }
[[options.workload.stream]]
op = "read"
size = "4KiB"
pattern.random = "whole"
arrival.closed.depth = 4
[[options.workload]]
name = "writes"
lanes = 2
until = { bytes = "8MiB" }
[[options.workload.stream]]
op = "write"
size = "64KiB"
pattern.sequential = "whole"
arrival.closed.depth = 2
"#;

/// A folder on a real disk: tmpfs refuses direct I/O on some kernels.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn fio(folder: &Path, jobs: &str) -> String {
    std::fs::write(folder.join("jobs.fio"), jobs).unwrap();
    let mut fio = Command::new("fio");
    fio.current_dir(folder).args(["--output-format=json+", "jobs.fio"]);
    let out = fio.output().expect("fio is installed: make test does that");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    std::fs::write(folder.join("result.json"), &text).unwrap();
    text
}

#[test]
fn a_plan_measured_by_both_stands_side_by_side() {
    let (sandbox, folder) = (Sandbox::new(), folder());
    std::fs::write(sandbox.work().join("plan.toml"), PLAN).unwrap();
    let target = folder.path().to_str().unwrap();
    let jobs = sandbox.run(&["run", "plan.toml", target, "--export", "fio"]).code(0).stdout();
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "an export leaves nothing behind");
    fio(folder.path(), &jobs);
    let result = folder.path().join("result.json");
    let result = result.to_str().unwrap();
    let imported = sandbox.run(&["import", "fio", result, "--json", "-"]).code(0).json();
    let ours = sandbox.run(&["run", "plan.toml", target, "--json", "-"]).code(0).json();
    let rows = |document: &serde_json::Value| -> Vec<serde_json::Value> {
        let rows = document["tables"]["workloads"].as_array().unwrap().iter();
        let counts = rows.filter(|row| row["workload"] != "prepare").map(|row| {
            ["workload", "stream", "op", "ios", "bytes", "errors"].map(|key| row[key].clone()).to_vec().into()
        });
        counts.collect()
    };
    assert_eq!(rows(&imported), rows(&ours));
    assert_eq!(rows(&ours).len(), 2);
    let caveats = imported["target"]["caveats"].to_string();
    assert!(caveats.contains("measured by fio"), "{caveats}");
    assert!(imported["series"].as_object().unwrap().is_empty(), "no course of time is known");
    let runs = sandbox.runs();
    let runs: Vec<&str> = runs.iter().map(|run| run.to_str().unwrap()).collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let report = sandbox.run(&["report", runs[0], runs[1]]);
    report.code(0).says("reads #1").says("difference");
    // As the job file says it: a run, and what fio wrote.
    for pair in [[runs[1], result], [runs[0], runs[1]], [runs[1], runs[1]], [result, result]] {
        assert_eq!(speeds(&sandbox, pair), ["reads #1 read", "writes write"], "{pair:?}");
    }
    for run in runs {
        sandbox.run(&["judge", run]).code(0).says("writes    write");
    }
}

/// The speeds that both have, beside that of preparing. In a table on a screen, long ratios wrap their names.
fn speeds(sandbox: &Sandbox, pair: [&str; 2]) -> Vec<String> {
    let compared = sandbox.run(&["compare", pair[0], pair[1], "--json", "-"]).code(0).json();
    let rows = compared["tables"]["speeds"].as_array().unwrap();
    let speed = |row: &serde_json::Value| {
        assert!(row["ratio_low"].as_f64() < row["ratio_high"].as_f64(), "{row}");
        row["speed"].as_str().unwrap().to_owned()
    };
    rows.iter().map(speed).filter(|speed| speed != "prepare write").collect()
}

#[test]
fn a_job_file_of_fio_is_run_as_a_plan() {
    let (sandbox, folder) = (Sandbox::new(), folder());
    let target = folder.path().to_str().unwrap();
    let jobs = format!(
        "[global]\ndirectory={target}\nsize=4m\ndirect=1\nioengine=libaio\n\n[log]\nrw=write\nbs=64k\n\
         [one]\nstonewall\nrw=read\ntime_based\nruntime=200ms\n[two]\nrw=read\ntime_based\nruntime=200ms\n\
         [pages]\nstonewall\nrw=randread\nblocksize=4k\niodepth=8\nio_size=1m\n"
    );
    fio(folder.path(), &jobs);
    std::fs::write(sandbox.work().join("jobs.fio"), jobs.replace("rw=write", "rw=write\nthinktime=5"))
        .unwrap();
    let ran = sandbox.run(&["run", "jobs.fio", "--json", "-"]);
    ran.code(0).says("\"log\": these settings of fio are not part of the workload: thinktime=5");
    let counts: Vec<(&str, u64)> = ran.json()["tables"]["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (if row["op"] == "read" { "read" } else { "write" }, row["bytes"].as_u64().unwrap()))
        .collect();
    assert_eq!((counts[0], counts.last()), (("write", 4 << 20), Some(&("read", 1 << 20))));
    let (result, run) = (folder.path().join("result.json"), sandbox.runs().remove(0));
    let (result, run) = (result.to_str().unwrap(), run.to_str().unwrap());
    assert_eq!(
        speeds(&sandbox, [run, result]),
        ["log write", "one + two read", "one + two stream 2 read", "pages read"]
    );
    // Packed, and with the byte-order mark of another system.
    let text = std::fs::read_to_string(result).unwrap();
    assert!(Command::new("gzip").arg(result).status().unwrap().success());
    sandbox.run(&["import", "fio", &format!("{result}.gz")]).code(0).says("pages");
    let wide: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(result, wide).unwrap();
    sandbox.run(&["import", "fio", result]).code(0).says("pages");
    std::fs::write(sandbox.work().join("jobs.fio"), "[a]\nsize=1m\nrw=trimwrite\n").unwrap();
    sandbox.run(&["run", "jobs.fio"]).code(2).says("jobs.fio, line 3, rw: ");
    std::fs::write(sandbox.work().join("jobs.fio"), "[a]\nsize=1m\n").unwrap();
    sandbox.run(&["run", "jobs.fio"]).code(2).says("names no target");
    // A job without a size covers what has one.
    std::fs::write(sandbox.work().join("jobs.fio"), "[fill]\nrw=write\nbs=1m\n").unwrap();
    let whole = sandbox.run(&["run", "jobs.fio", "sim:tiny-flash", "--json", "-"]).code(0).json();
    assert_eq!(whole["tables"]["workloads"][0]["bytes"], 1 << 30);
    sandbox.run(&["run", "jobs.fio", target]).code(2).says("jobs.fio, line 1, size: ");
}

#[test]
fn a_bench_that_fio_ran_is_judged_as_a_bench() {
    let (sandbox, folder) = (Sandbox::new(), folder());
    let target = folder.path().to_str().unwrap();
    let bench = ["bench", target, "--span", "8MiB", "--passes", "2", "--time", "200ms", "--profile", "real"];
    let plan = sandbox.run(&[&bench[..], &["--plan"]].concat()).code(0).stdout();
    std::fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    let jobs = sandbox.run(&[&bench[..], &["--export", "fio"]].concat()).code(0).stdout();
    fio(folder.path(), &jobs);
    let result = folder.path().join("result.json");
    let import = ["import", "fio", result.to_str().unwrap(), "my disk", "--plan", "plan.toml", "--json", "-"];
    let document = sandbox.run(&import).code(0).json();
    assert_eq!(document["target"]["name"], "my disk");
    let results = document["tables"]["results"].as_array().unwrap();
    assert_eq!(results.len(), 4, "{results:?}");
    assert!(
        results
            .iter()
            .all(|row| row["bytes_per_s"].as_f64().unwrap() > 0.0 && row["latency_ns_p99"].is_u64())
    );
    let schema =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json"))
            .unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    sandbox.run(&bench).code(0);
    let runs = sandbox.runs();
    let own = runs.iter().max().unwrap().to_str().unwrap();
    sandbox.run(&["compare", own, result.to_str().unwrap()]).code(0).says("RND4K Q1T1 read");
    let other = sandbox.run(&["import", "fio", result.to_str().unwrap(), "--plan", "other.toml"]);
    other.code(2).says("could not read the plan other.toml");
    std::fs::write(sandbox.work().join("other.toml"), PLAN).unwrap();
    let other = sandbox.run(&["import", "fio", result.to_str().unwrap(), "--plan", "other.toml"]);
    other.code(2).says("fio did not run job \"reads #1\"");
}

#[test]
fn a_verify_job_of_fio_is_two_workloads_and_a_failed_one_is_no_success() {
    let (sandbox, folder) = (Sandbox::new(), folder());
    let job = "[job]\nfilename=data\nsize=2M\nbs=64k\nioengine=psync\nverify=crc32c\nrw=write\n";
    let text = fio(folder.path(), &format!("{job}rate=,8m\n"));
    let fio_says: serde_json::Value = serde_json::from_str(&text).unwrap();
    let result = folder.path().join("result.json");
    let result = result.to_str().unwrap();
    let document = sandbox.run(&["import", "fio", result, "--json", "-"]).code(0).json();
    let rows = document["tables"]["workloads"].as_array().unwrap();
    for (row, (name, op)) in rows.iter().zip([("job", "write"), ("job, verify", "read")]) {
        let side = &fio_says["jobs"][0][op];
        assert_eq!((&row["workload"], &row["op"]), (&name.into(), &op.into()));
        assert_eq!(row["elapsed_ns"].as_u64().unwrap(), side["runtime"].as_u64().unwrap() * 1_000_000);
        let longest = side["lat_ns"]["max"].as_f64().unwrap();
        let ratio = row["latency_ns_max"].as_f64().unwrap() / longest;
        assert!((1.0..1.0011).contains(&ratio), "{ratio} of fio's longest {longest}");
    }
    assert_eq!(rows.len(), 2);
    let damaged = fio_damaged(folder.path(), &format!("{job}rate=,8m\n"));
    std::fs::write(result, damaged).unwrap();
    let ran = sandbox.run(&["import", "fio", result]);
    ran.code(10).says("\"job, verify\" read data that differs").says("job, verify  read");
    let text = fio(folder.path(), &job.replace("verify=crc32c\n", ""));
    for (errno, code, words) in
        [(5, 10, "\"job\" failed: Input/output error"), (28, 1, "failed: No space left")]
    {
        let text = text.replacen("\"error\" : 0", &format!("\"error\" : {errno}"), 1);
        std::fs::write(result, text).unwrap();
        let ran = sandbox.run(&["import", "fio", result]);
        ran.code(code).says(words);
    }
}

/// fio's report on a job that writes `data`, the first block of which changes after fio wrote it and before
/// it is read back.
fn fio_damaged(folder: &Path, job: &str) -> Vec<u8> {
    let data = folder.join("data");
    std::fs::remove_file(&data).unwrap();
    std::fs::write(folder.join("jobs.fio"), job).unwrap();
    let mut fio = Command::new("fio");
    fio.current_dir(folder).args(["--output-format=json", "jobs.fio"]).stdout(Stdio::piped());
    let fio = fio.stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // The second block exists, so the first one is complete.
    while std::fs::read(&data).map_or(true, |data| data.get(65536).is_none_or(|byte| *byte == 0)) {
        assert!(Instant::now() < deadline, "fio wrote nothing");
        std::thread::sleep(Duration::from_millis(2));
    }
    let file = std::fs::OpenOptions::new().write(true).open(&data).unwrap();
    file.write_all_at(b"not what fio wrote", 5000).unwrap();
    let out = fio.wait_with_output().unwrap();
    assert!(!out.status.success(), "fio noticed");
    out.stdout
}

#[test]
fn what_cannot_be_imported_or_exported_is_reported() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("page.html"), "<html>").unwrap();
    std::fs::write(sandbox.work().join("bytes"), [0xff, 0, 0xfe]).unwrap();
    sandbox
        .run(&["import", "fio", "page.html"])
        .code(2)
        .says("page.html was not imported: it is not fio's JSON output");
    sandbox.run(&["import", "fio", "bytes"]).code(2).says("it is not text");
    sandbox.run(&["import", "fio", "-"]).code(2).says("standard input was not imported");
    sandbox.run(&["compare", "page.html", "page.html"]).code(2).says("page.html was not imported");
    let report = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/examples/bench-new.json");
    sandbox
        .run(&["compare", report, report])
        .code(2)
        .says("it is the report of a run")
        .says("give the folder of the run");
    sandbox.run(&["import", "fio", "missing"]).code(2).says("could not read missing");
    sandbox.run(&["bench", "sim:tiny-flash", "--export", "iometer"]).code(2).says("fio");
    let jobs = sandbox.run(&["fill", "sim:tiny-flash", "--files", "3", "--export", "fio"]).code(0).stdout();
    assert!(
        jobs.contains("\nfilename=${LIKENEW_FILE}\n") && jobs.matches("stonewall=1").count() >= 3,
        "{jobs}"
    );
    assert!(sandbox.runs().is_empty(), "nothing was measured");
}

/// What two people would paste into a forum, before and after.
#[test]
fn what_other_programs_print_is_compared() {
    let sandbox = Sandbox::new();
    let mark = |write: &str| {
        format!(
            "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n[Read]\n  SEQ    1MiB (Q=  8, T= 1):   520.113 MB/s [    496.0 IOPS] < 16094.31 us>\n[Write]\n  SEQ    1MiB (Q=  8, T= 1):   {write} MB/s\n"
        )
    };
    let put = |name: &str, text: &str| std::fs::write(sandbox.work().join(name), text).unwrap();
    put("before.txt", &mark("81.520"));
    put("after.txt", &mark("480.001"));
    let compared = sandbox.run(&["compare", "before.txt", "after.txt"]).code(0).stdout();
    let words = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("SEQ1M Q8T1 write 81.5 MB/s 480 MB/s"), "{compared}");
    assert!(
        compared.starts_with("after.txt against before.txt: "),
        "runs are named by their files: {compared}"
    );
    assert!(compared.contains("faster") && !compared.contains("write write"), "{compared}");
    put("dd.txt", "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.07 s, 518 MB/s\n");
    sandbox.run(&["compare", "before.txt", "dd.txt"]).code(2).says("no speed in common");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../likenew-fio/tests/samples/read.json");
    let mut result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(sample).unwrap()).unwrap();
    for (name, job, bs) in [("a.fio", "before", "4k"), ("b.fio", "after", "4k"), ("c.fio", "other", "8k")] {
        result["jobs"][0]["jobname"] = job.into();
        result["jobs"][0]["job options"]["bs"] = bs.into();
        put(name, &result.to_string());
    }
    let renamed = sandbox.run(&["compare", "a.fio", "b.fio", "--details"]).code(0).stdout();
    assert!(renamed.contains("before read") && !renamed.contains("other settings"), "{renamed}");
    sandbox.run(&["compare", "a.fio", "c.fio"]).code(2).says("no speed in common");
    put("notes.txt", "it was slow\n");
    sandbox
        .run(&["compare", "notes.txt", "dd.txt"])
        .code(2)
        .says("notes.txt was not imported: it is no result");
    let details = sandbox.run(&["compare", "dd.txt", "dd.txt", "--details"]).code(0).stdout();
    assert!(details.contains("does not say whether it read or wrote"), "{details}");

    for (folder, write) in [("old", "81.520"), ("new", "480.001")] {
        std::fs::create_dir(sandbox.work().join(folder)).unwrap();
        put(&format!("{folder}/mark.txt"), &mark(write));
        put(
            &format!("{folder}/read.txt"),
            " Timing buffered disk reads: 1530 MB in  3.00 seconds = 509.57 MB/sec\n",
        );
        put(&format!("{folder}/notes.txt"), "it was slow\n");
    }
    let folders = sandbox.run(&["compare", "old", "new", "--details"]).code(0).stdout();
    assert!(folders.contains("buffered disk reads") && folders.contains("SEQ1M Q8T1 write"), "{folders}");
    assert!(folders.contains("No result that is read is in old/notes.txt"), "{folders}");
    std::fs::create_dir(sandbox.work().join("empty")).unwrap();
    sandbox.run(&["compare", "old", "empty"]).code(2).says("no file in it is a result");
}
