//! `likenew apps`: the I/O issued, the question before it wears a real drive, and the content of a run
//! folder.

use std::fs;

use crate::support::{Sandbox, names};

const SMALL: [&str; 10] =
    ["--app", "word", "--app", "excel", "--span", "32MiB", "--scale", "0.05", "--passes", "2"];

fn apps<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["apps", target], &SMALL[..], more].concat()
}

/// Published: sequential and random I/Os, and bytes.
struct Side {
    ios: f64,
    bytes: f64,
}

/// The I/O of an application is the published one: counts exactly, bytes within the chance of random lengths.
#[test]
fn what_is_issued_is_what_was_published() {
    let sandbox = Sandbox::new();
    let document = sandbox
        .run(&[
            "apps",
            "nop:",
            "--passes",
            "1",
            "--span",
            "4GiB",
            "--data",
            "zero",
            "--no-archive",
            "--json",
            "-",
        ])
        .json();
    let rows = document["tables"]["applications"].as_array().unwrap();
    let sources = document["tables"]["sources"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let metric = |name: &str| -> f64 {
            let source = sources
                .iter()
                .find(|source| source["application"] == row["application"] && source["metric"] == name)
                .unwrap_or_else(|| panic!("no {name} of {row}"));
            assert!(source["source"].as_str().unwrap().starts_with("published"), "{source}");
            source["value"].as_str().unwrap().parse().unwrap()
        };
        for (side, ios, bytes) in [("reads", "reads", "read_bytes"), ("writes", "writes", "written_bytes")] {
            let of = |figure_of: &str| metric(&format!("{side}.{figure_of}"));
            let published = Side { ios: of("sequential") + of("random"), bytes: of("bytes") };
            assert_eq!(row[ios].as_f64(), Some(published.ios), "{row}");
            // A length between a and b with mean m varies by (m − a)(b − m) at most (Bhatia and Davis 2000);
            // five standard deviations are beyond chance. At the end of a sequential zone one I/O of each
            // round is cut.
            let mean = published.bytes / published.ios;
            let deviation = (published.ios * (mean - 4096.0) * (131_072.0 - mean)).sqrt();
            let cut = (published.bytes / f64::from(2u32 << 30)).ceil() * 131_072.0;
            let off = row[bytes].as_f64().unwrap() - published.bytes;
            assert!(off.abs() < 5.0 * deviation + cut, "{row}: {bytes} is {off} off, σ = {deviation}");
        }
    }
}

#[test]
fn equal_plans_give_equal_documents_that_keep_to_the_schema() {
    let sandbox = Sandbox::new();
    let text = |more: &[&str]| {
        sandbox
            .run(&apps("sim:tiny-flash?state=new", &[&["--no-archive", "--json", "-"], more].concat()))
            .stdout()
    };
    let schema =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for more in [&[][..], &["--think"], &["--consistency", "--minutes", "0.0001"]] {
        let first = text(more);
        assert_eq!(first, text(more), "equal seeds and plans give byte-identical JSON");
        let document: serde_json::Value = serde_json::from_str(&first).unwrap();
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(document["tables"]["applications"].as_array().unwrap().len(), 2);
        let phases = document["tables"]["phases"].as_array().map(Vec::len);
        assert_eq!(phases, more.contains(&"--consistency").then_some(18));
    }
}

#[test]
fn a_run_goes_on_to_the_byte_and_is_judged_again_without_the_drive() {
    let sandbox = Sandbox::new();
    let flags = ["--consistency", "--minutes", "0.0001", "--json", "-"];
    let whole = sandbox.run(&apps("sim:tiny-flash?state=new", &flags)).stdout();
    let [run] = &sandbox.runs()[..] else { panic!("one run") };
    let run = run.to_str().unwrap();
    assert_eq!(sandbox.run(&["judge", run, "--json", "-"]).stdout(), whole);
    let file = sandbox.runs()[0].join("segments.jsonl");
    let recorded = fs::read_to_string(&file).unwrap();
    for lines in [1, 9, 40] {
        let kept: usize = recorded.lines().take(lines).map(|line| line.len() + 1).sum();
        fs::write(&file, &recorded[..kept + 50]).unwrap();
        fs::remove_file(sandbox.runs()[0].join("findings.json")).unwrap();
        let resumed = sandbox.run(&["resume", run, "--json", "-"]);
        assert_eq!(resumed.stdout(), whole, "after {lines} workloads");
        assert_eq!(fs::read_to_string(&file).unwrap(), recorded);
    }
}

#[test]
fn a_run_folder_from_before_busy_time_is_judged_over_all_of_the_time() {
    let sandbox = Sandbox::new();
    let whole = sandbox.run(&apps("sim:tiny-flash?state=new", &["--json", "-"])).json();
    let file = sandbox.runs()[0].join("segments.jsonl");
    let old: Vec<String> = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| {
            let mut segment: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(segment.as_object_mut().unwrap().remove("busy").is_some());
            segment.to_string()
        })
        .collect();
    fs::write(&file, old.join("\n") + "\n").unwrap();
    let judged = sandbox.run(&["judge", sandbox.runs()[0].to_str().unwrap(), "--json", "-"]).json();
    // A closed arrival gives a simulated drive no idle time, so both are the same except for the last I/O's
    // end.
    for (new, old) in [&whole, &judged]
        .map(|of| of["tables"]["applications"].as_array().unwrap())
        .map(|rows| rows[0]["score"].as_f64().unwrap())
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
    {
        assert!((new / old - 1.0).abs() < 1e-3, "{new} {old}");
    }
}

#[test]
fn a_folder_is_played_in_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.work().join("photo.raw"), "the only copy").unwrap();
    let ran = sandbox.run(&apps(".", &["--reserve", "64MiB", "--json", "-"]));
    let document = ran.json();
    assert!(document["tables"]["applications"][0]["score"].as_f64().unwrap() > 0.0);
    assert_eq!(names(&sandbox.work()), ["photo.raw"]);
    // Hours of writes need a question, even when shortened.
    let consistency =
        ["--consistency", "--minutes", "0.00001", "--writing-span", "64MiB", "--reserve", "64MiB"];
    let refused = sandbox.run(&apps(".", &consistency));
    refused.code(3).says("wears flash and cannot be undone").says("Nothing was written");
    let agreed = sandbox.run(&apps(".", &[&consistency[..], &["--yes", "--json", "-"]].concat()));
    let document = agreed.says("wears flash").json();
    assert_eq!(document["tables"]["phases"].as_array().unwrap().len(), 18);
    let answers = document["answers"].as_array().unwrap();
    assert!(!answers.iter().any(|answer| answer["id"] == "io_errors"), "{answers:?}");
    assert_eq!(names(&sandbox.work()), ["photo.raw"]);
}

#[test]
fn an_application_of_ones_own_is_played_and_a_wrong_one_says_where() {
    let sandbox = Sandbox::new();
    let word = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/word.toml")).unwrap();
    let mine = word.replace("Microsoft Word", "my word").replace("pcmark8", "own");
    fs::write(sandbox.work().join("mine.toml"), &mine).unwrap();
    let flags = ["--app", "mine.toml", "--span", "32MiB", "--scale", "0.05", "--passes", "1"];
    let ran = sandbox.run(&[&["apps", "sim:tiny-flash"], &flags[..], &["--json", "-"]].concat());
    assert_eq!(ran.json()["tables"]["applications"][0]["application"], "my word");
    let plan = sandbox.run(&[&["apps", "sim:tiny-flash"], &flags[..], &["--plan"]].concat()).code(0).stdout();
    fs::remove_file(sandbox.work().join("mine.toml")).unwrap();
    fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    sandbox.run(&["run", "plan.toml"]).code(0).says("my word");
    fs::write(sandbox.work().join("mine.toml"), mine.replace("value = 152", "value = \"many\"")).unwrap();
    sandbox.run(&[&["apps", "sim:tiny-flash"], &flags[..]].concat()).code(2).says("mine.toml").says("many");
}

#[test]
fn what_cannot_be_played_is_refused() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.work().join("photo.raw"), vec![1; 1 << 20]).unwrap();
    sandbox.run(&["apps", "photo.raw", "--yes"]).code(3).says("nothing was changed");
    for (arguments, words) in [
        (&["apps", "sim:tiny-flash", "--app", "wrod"][..], "did you mean"),
        (&["apps", "sim:tiny-flash", "--app", "none.toml"], "none.toml"),
        (&["apps", "sim:tiny-flash", "--span", "2GiB"], "--span"),
        (&["apps", "sim:tiny-flash", "--scale=-1"], "scale"),
        (&["apps", "sim:tiny-flash", "--minutes", "2"], "--consistency"),
        (&["apps", "sim:tiny-flash", "--app", "word", "--app", "word"], "twice"),
        (&["apps", "sim:tiny-flash", "--export", "fio"], "take turns"),
    ] {
        sandbox.run(arguments).code(2).says(words);
    }
    assert_eq!(fs::read(sandbox.work().join("photo.raw")).unwrap(), vec![1; 1 << 20]);
}
