//! `likenew check --upgrade`, and the share of the rated speed.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Sandbox, is_valid, names};

/// A day of a disk in `bursts` of a hundred I/Os: small reads, each after the one before, with a write among
/// them.
fn day(bursts: u64, latency_us: Option<u64>) -> String {
    let mut text = String::from("# likenew trace 1\n# capacity_bytes: 4294967296\n");
    text.push_str("at_ns,op,offset,length,latency_ns,application\n");
    let mut at = 0;
    for io in 0..bursts * 100 {
        let latency = latency_us.map(|us| (us + io % 11 * 100) * 1000);
        let op = if io % 10 == 9 { "write" } else { "read" };
        let known = latency.map_or_else(String::new, |ns| ns.to_string());
        let offset = io * 7919 % 131_072 * 4096;
        writeln!(text, "{at},{op},{offset},4096,{known},editor").unwrap();
        at += latency.unwrap_or(0) + if io % 100 == 99 { 20_000_000_000 } else { 100_000 };
    }
    writeln!(text, "# end: {}", bursts * 100).unwrap();
    text
}

fn with_day(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("day.csv"), text).unwrap();
    sandbox
}

fn worth<'a>(document: &'a Value, drive: &str) -> &'a Value {
    let answers = document["answers"].as_array().unwrap();
    let is_about =
        |answer: &&Value| answer["id"] == "upgrade" && answer["question"] == format!("Upgrade to {drive}");
    answers.iter().find(is_about).unwrap_or_else(|| panic!("no {drive} in {answers:#?}"))
}

fn says<'a>(document: &'a Value, drive: &str) -> &'a str {
    worth(document, drive)["answer"].as_str().unwrap()
}

fn row<'a>(document: &'a Value, table: &str, key: &str, value: &str) -> &'a Value {
    let rows = document["tables"][table].as_array().unwrap_or_else(|| panic!("no {table}"));
    rows.iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("no {value} in {rows:#?}"))
}

#[test]
fn a_day_on_a_disk_is_worth_flash_and_another_disk_is_not() {
    let sandbox = with_day(&day(20, Some(9000)));
    let check = [
        "check",
        "sim:wd-scorpio-black-500gb?fill=0.05",
        "--trace",
        "day.csv",
        "--upgrade",
        "crucial-m4-128gb,sim:wd-caviar-se16",
        "--json",
        "-",
    ];
    let first = sandbox.run(&check);
    first.code(0);
    let document = first.json();
    is_valid(&document);
    assert!(says(&document, "crucial-m4-128gb").contains("less waiting in the recorded"));
    assert!(!says(&document, "crucial-m4-128gb").contains("not worth it"));
    assert!(says(&document, "wd-caviar-se16").contains("not worth it"));
    let row = |key: &str, value: &str| row(&document, "upgrade", key, value).clone();
    let (now, flash) = (row("role", "now"), row("drive", "crucial-m4-128gb"));
    let [now_ns, flash_ns] = [&now, &flash].map(|of| of["waited_ns"].as_f64().unwrap());
    assert!(now_ns > 10.0 * flash_ns, "{now_ns} {flash_ns}");
    assert_eq!(flash["saved_ns"].as_f64().unwrap(), now_ns - flash_ns);
    assert_eq!(row("role", "as new")["waited_ns"], now["waited_ns"], "it is new");
    // The plan holds everything: equal plans give equal bytes, and neither drives nor trace are needed again.
    assert_eq!(sandbox.run(&check).code(0).stdout(), first.stdout());
    std::fs::remove_file(sandbox.work().join("day.csv")).unwrap();
    let run = sandbox.runs().pop().unwrap();
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]).code(0).json();
    assert_eq!(judged["tables"]["upgrade"], document["tables"]["upgrade"]);
}

#[test]
fn what_a_real_drive_took_is_in_its_recording() {
    let sandbox = with_day(&day(5, Some(9000)));
    std::fs::write(sandbox.work().join("data"), vec![7; 64 << 20]).unwrap();
    // Nothing has to run on it for that, so the plan has it all.
    let planned = || -> toml::Table {
        let check = ["check", "data", "--trace", "day.csv", "--upgrade", "tlc-sata-500gb", "--plan"];
        toml::from_str(&sandbox.run(&check).code(0).stdout()).unwrap()
    };
    let plan = planned();
    let drives = plan["options"]["upgrade"]["drive"].as_array().unwrap();
    let roles: Vec<&str> = drives.iter().map(|drive| drive["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["now", "candidate"]);
    let latencies = |which: fn(u64) -> bool| -> u64 {
        (0..500u64).filter(|io| which(*io)).map(|io| (9000 + io % 11 * 100) * 1000).sum()
    };
    let of = |drive: usize, key: &str| drives[drive]["waits"][key].as_float().unwrap();
    assert_eq!(of(0, "blocking_ns"), latencies(|io| io % 10 != 9) as f64, "reads");
    assert_eq!(of(0, "busy_ns"), latencies(|_| true) as f64);
    assert!(of(1, "busy_ns") < 0.1 * of(0, "busy_ns"));
    // A trace without latencies gives no answer.
    std::fs::write(sandbox.work().join("day.csv"), day(5, None)).unwrap();
    assert!(planned()["options"]["upgrade"]["drive"][0].get("waits").is_none());
}

#[test]
fn a_fix_is_cheaper_than_a_drive() {
    let sandbox = Sandbox::new();
    let target = "sim:tiny-flash?state=used&wake=20ms";
    // Each read comes after a pause in which the drive goes to sleep.
    let mut text = String::from("# likenew trace 1\nat_ns,op,offset,length,latency_ns,application\n");
    for io in 0..2000u64 {
        writeln!(text, "{},read,{},4096,21000000,editor", io * 300_000_000, io * 7919 % 131_072 * 4096)
            .unwrap();
    }
    text.push_str("# end: 2000\n");
    std::fs::write(sandbox.work().join("day.csv"), text).unwrap();
    let check = ["check", target, "--trace", "day.csv", "--upgrade", "intel-x25-m-80gb", "--json", "-"];
    let document = sandbox.run(&check).code(10).json();
    let answer = worth(&document, "intel-x25-m-80gb");
    assert!(says(&document, "intel-x25-m-80gb").contains("not worth it"), "{answer:#?}");
    assert!(answer["evidence"].to_string().contains("Fix it first"), "{answer:#?}");
    let saved = |key: &str, value: &str| row(&document, "upgrade", key, value)["saved_ns"].as_f64().unwrap();
    let (as_new, candidate) = (saved("role", "as new"), saved("role", "candidate"));
    assert!(as_new > 0.9 * candidate, "{as_new} {candidate}");
}

#[test]
fn applications_are_played_where_there_is_no_day() {
    let sandbox = Sandbox::new();
    let check = ["check", "sim:wd-scorpio-black-500gb?fill=0.05", "--upgrade", "crucial-m4-128gb"];
    // The applications get a fifth of the bytes allowed.
    let others = ((2_u64 << 30) / 5 * 4).to_string();
    let plain = ["check", check[1], "--bytes", &others, "--no-archive", "--json", "-"];
    let plain = sandbox.run(&plain).code(0).json();
    let mix =
        sandbox.run(&[&check[..], &["--app", "word", "--app", "photoshop-light", "--json", "-"]].concat());
    let document = mix.code(0).json();
    is_valid(&document);
    assert!(
        says(&document, "crucial-m4-128gb").contains("less waiting in Microsoft Word and Adobe Photoshop")
    );
    assert!(!says(&document, "crucial-m4-128gb").contains("not worth it"));
    assert!(document["bytes_written"].as_u64().unwrap() <= 2 << 30);
    for table in ["metrics", "indicators"] {
        assert_eq!(document["tables"][table], plain["tables"][table], "a mix is no part of the diagnosis");
    }
    let run = sandbox.runs().pop().unwrap();
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]).code(0).json();
    assert_eq!(judged["tables"]["upgrade"], document["tables"]["upgrade"]);
}

#[test]
fn applications_leave_a_folder_as_it_was_and_only_read_a_file() {
    let sandbox = Sandbox::new();
    // The largest of the catalog, so that any machine's data fits.
    let how = ["--upgrade", "seagate-archive-8tb", "--app", "word", "--bytes", "256MiB", "--no-archive"];
    std::fs::create_dir(sandbox.work().join("folder")).unwrap();
    let document = sandbox.run(&[&["check", "folder", "--json", "-"][..], &how].concat()).json();
    // A check writes the bytes it may, and the applications a quarter of that.
    assert!(document["bytes_written"].as_u64().unwrap() <= (256 + 64) << 20);
    assert!(row(&document, "upgrade", "role", "now")["waited_ns"].as_f64().unwrap() > 0.0);
    assert_eq!(names(&sandbox.work().join("folder")), Vec::<String>::new());
    std::fs::write(sandbox.work().join("data"), vec![7; 64 << 20]).unwrap();
    let plan = sandbox.run(&[&["check", "data", "--plan"][..], &how].concat()).code(0).stdout();
    let plan: toml::Table = toml::from_str(&plan).unwrap();
    let mix = &plan["options"]["upgrade"]["mix"];
    assert_eq!((mix["reads_only"].as_bool(), mix["span"].as_str()), (Some(true), Some("64MiB")));
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_can() {
    let sandbox = with_day(&day(1, Some(9000)));
    let check = |target: &str, rest: &[&str]| sandbox.run(&[&["check", target][..], rest].concat());
    let day = ["--trace", "day.csv"];
    let upgrade = |target: &str, drive: &str| check(target, &[&["--upgrade", drive][..], &day].concat());
    upgrade("sim:tiny-flash", "crucial-m4").code(2).says("did you mean \"crucial-m4-128gb\"");
    upgrade("sim:tiny-flash", "tiny-flash,sim:tiny-flash").code(2).says("named twice");
    upgrade("sim:tiny-flash", "tiny-flash?state=used").code(2).says("leave out the ? and what follows it");
    upgrade("sim:wd-scorpio-black-500gb?fill=0.5", "crucial-m4-128gb").code(2).says("take a larger one");
    check("sim:tiny-flash", &["sim:disk-2tb", "--upgrade", "tiny-flash"]).code(2).says("takes one target");
    check("sim:tiny-flash", &day).code(2).says("--upgrade");
    check("sim:tiny-flash", &["--upgrade", "tiny-flash", "--app", "wrod"])
        .code(2)
        .says("did you mean \"word\"?");
    check("sim:tiny-flash", &["--upgrade", "tiny-flash", "--trace", "no.csv"]).code(2).says("no.csv");
    sandbox.run(&["check", "--all", "--upgrade", "tiny-flash"]).code(2).says("--all");
    assert!(sandbox.runs().is_empty());
}

#[test]
fn the_gap_to_the_advertised_speed_is_reported_step_by_step() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("text"), "the same again and again\n".repeat(200_000)).unwrap();
    let check = ["check", "sim:intel-520-120gb", "--files", ".", "--no-archive", "--json", "-"];
    let document = sandbox.run(&check).code(0).json();
    is_valid(&document);
    let write = row(&document, "shares", "metric", "sequential_write");
    let of = |key: &str| write[key].as_f64().unwrap_or_else(|| panic!("no {key} in {write:#?}"));
    assert_eq!(of("advertised_per_s"), 500e6);
    // Puget Systems measured at most 193 MB/s of incompressible data, new.
    assert!((30.0..45.0).contains(&of("share_percent")), "{write:#?}");
    assert!((55.0..75.0).contains(&of("lost_to_data_percent")), "{write:#?}");
    assert!(of("lost_to_age_percent") < 1.0 && of("lost_otherwise_percent") < 5.0, "{write:#?}");
    assert!(of("your_files_per_s") > 2.0 * of("now_per_s"), "{write:#?}");
    let answers = document["answers"].as_array().unwrap();
    let output = answers.iter().find(|answer| answer["id"] == "rated_share");
    let because = output.expect("the gap is told")["evidence"].to_string();
    assert!(because.contains("Incompressible data") && because.contains("your files"), "{because}");
    // There is no answer without a rated speed, or if all of it is reached.
    let silent = sandbox.run(&["check", "sim:wd6400aaks?fill=0.1", "--no-archive", "--json", "-"]).json();
    assert!(silent["tables"]["shares"].is_null());
    let kept = sandbox.run(&["check", "sim:tiny-flash?fill=0.5", "--no-archive", "--json", "-"]).json();
    assert!(!kept["answers"].to_string().contains("rated_share"));
}
