//! Documents for tests, in the form in which procedures write them.

use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{
    Action, Answer, Axis, Findings, Lead, Line, Loss, Mark, Overview, OverviewTable, Row, Series, Shape,
};
use likenew_core::instrument::Instrument;
use likenew_core::procedure::Plan;
use likenew_core::quantity::{Rate, Share};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use serde_json::json;

use crate::document::Document;

/// One document of each kind.
pub(crate) fn all() -> Vec<Document> {
    let published = ["sweep-new", "endure-knees", "age-used"].map(example);
    [bench("sim:x25m", 1.0), fill("sim:x25m"), empty("nop"), healthy(), sick(), unknown(), failed()]
        .into_iter()
        .chain(published)
        .collect()
}

/// A published example.
pub(crate) fn example(name: &str) -> Document {
    let path = format!("{}/../../schema/examples/{name}.json", env!("CARGO_MANIFEST_DIR"));
    Document::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A benchmark of a drive that writes at `share` of its new speed.
pub(crate) fn bench(name: &str, share: f64) -> Document {
    const TESTS: [(&str, f64, f64); 4] = [
        ("SEQ1M Q8T1", 251.3e6, 77.2e6),
        ("SEQ1M Q1T1", 239.0e6, 76.1e6),
        ("RND4K Q32T1", 148.2e6, 39.3e6),
        ("RND4K Q1T1", 21.4e6, 30.8e6),
    ];
    let mut findings = Findings::default();
    let (mut results, mut passes) = (Vec::new(), Vec::new());
    let mut lines = [("read", Vec::new()), ("write", Vec::new())];
    for (index, (test, read, write)) in TESTS.into_iter().enumerate() {
        for (line, speed) in [(0, read), (1, write * share)] {
            lines[line].1.push([index as f64, speed]);
            results.push(result(test, lines[line].0, speed));
            for pass in 1..=5 {
                let speed = speed * (0.99 + 0.004 * f64::from(pass));
                passes.push(row(json!({
                    "test": test, "op": lines[line].0, "pass": pass,
                    "bytes_per_s": speed, "iops": speed / 4096.0, "latency_ns_mean": 4096e9 / speed,
                })));
            }
        }
    }
    findings.tables.insert("results".into(), results);
    findings.tables.insert("passes".into(), passes);
    let lines = lines.map(|(name, points)| Line::new(name, points));
    findings.series.insert(
        "bandwidth".into(),
        Series::new("Speed of each test", Shape::Bars, Axis::new("test", ""), Axis::new("speed", "bytes/s"))
            .categories(TESTS.map(|(test, ..)| test))
            .lines(lines),
    );
    if share < 1.0 {
        let percent = share * 100.0;
        findings.answers.push(
            Answer::problem("write_speed", "Writes", format!("{} of new", Share(share)))
                .estimate(percent, percent - 0.4, percent + 0.5, "%")
                .with_evidence("All four tests write slower than when new, by the same share.")
                .with_evidence("Reads are as fast as when new, so neither link nor host is the cause.")
                .action(rewrite(name)),
        );
        findings.summary = format!("Writes run at {} of new.", Share(share));
    } else {
        findings.summary = "Sequential read 251 MB/s, write 77.2 MB/s; 4K random read QD1 21.4 MB/s.".into();
    }
    findings.answers.push(
        Answer::info("steadiness", "Sequential write", "steady: all passes within 1.60%")
            .estimate(77.2e6 * share, 76.4e6 * share, 77.9e6 * share, "bytes/s")
            .with_evidence("Five passes of SEQ1M Q8T1 write lie within 1.60% of their median, and none of them stalled for 50 ms or more.")
            .caveat("Only incompressible data was written; a drive that compresses may be faster with other data."),
    );
    let mut table = OverviewTable::new(["test", "read", "write"]);
    for (test, read, write) in TESTS {
        table.push([test.into(), Rate(read).to_string(), Rate(write * share).to_string()]);
    }
    let lead = if share < 1.0 { Lead::Summary } else { Lead::Table };
    findings.overview =
        Overview { lead, answers: Vec::new(), table: Some(table), series: Some("bandwidth".into()) };
    document("bench", name, if share == 1.0 { "new" } else { "used" }, findings)
}

fn result(test: &str, op: &str, speed: f64) -> Row {
    let latency_ns = 4096e9 / speed;
    row(json!({
        "test": test, "op": op, "bytes_per_s": speed, "iops": speed / 4096.0,
        "latency_ns_mean": latency_ns, "latency_ns_p50": (latency_ns * 0.9) as u64,
        "latency_ns_p99": (latency_ns * 4.0) as u64, "latency_ns_p999": (latency_ns * 9.0) as u64,
        "latency_ns_p9999": (latency_ns * 25.0) as u64, "latency_ns_max": (latency_ns * 60.0) as u64,
        "bytes_per_s_low": speed * 0.99, "bytes_per_s_high": speed * 1.01,
    }))
}

/// Two hundred files, half of them in slow stretches with stalls.
pub(crate) fn fill(name: &str) -> Document {
    let mut findings = Findings::default();
    let (mut files, mut stalls, mut points, mut marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut elapsed_ns = 0u64;
    for file in 1..=200u64 {
        let slow = (file / 20) % 2 == 1;
        let speed = if slow { 5.1e6 + (file % 7) as f64 * 2e5 } else { 76.0e6 + (file % 5) as f64 * 3e5 };
        let stalled = u64::from(slow && file % 10 == 3);
        elapsed_ns += (8e6 / speed * 1e9) as u64;
        if stalled == 1 {
            stalls.push(row(json!({
                "at_ns": elapsed_ns, "duration_ns": 400_000_000 + file * 1_000_000,
                "offset_bytes": file * 8_000_000, "file": file,
            })));
            marks.push(Mark { x: file as f64, label: "stall".into() });
        }
        points.push([file as f64, speed]);
        files.push(row(json!({
            "file": file, "bytes_per_s": speed, "stalls": stalled,
            "latency_ns_max": if stalled == 1 { 400_000_000 + file * 1_000_000 } else { 13_000_000 },
            "elapsed_ns": elapsed_ns,
        })));
    }
    findings.tables.insert("files".into(), files);
    findings.tables.insert("stalls".into(), stalls);
    findings.series.insert(
        "files".into(),
        Series::new("Speed of each file", Shape::Line, Axis::new("file", ""), Axis::new("speed", "bytes/s"))
            .lines([Line::new("write", points)])
            .marks(marks),
    );
    findings.series.insert("seconds".into(), seconds(&findings.tables["files"]));
    findings.summary = "Half of the files were written at 5.70 MB/s, the others at 76.6 MB/s.".into();
    findings.answers.push(
        Answer::problem("levels", "Write levels", "two: 5.70 and 76.6 MB/s")
            .with_evidence("100 of 200 files were written at about 5.70 MB/s, the others at 76.6 MB/s."),
    );
    findings.answers.push(Answer::unknown("slow_regions", "Slow regions", "in runs of 20 files, once seen"));
    document("fill", name, "used", findings)
}

/// Speed over time, with a point at the end of each file.
fn seconds(files: &[Row]) -> Series {
    let point = |row: &Row| [row["elapsed_ns"].as_f64().unwrap(), row["bytes_per_s"].as_f64().unwrap()];
    Series::new("Speed over time", Shape::Line, Axis::new("time", "ns"), Axis::new("speed", "bytes/s"))
        .lines([Line::new("write", files.iter().map(point).collect())])
}

/// The findings of a check of a used drive.
pub(crate) fn sick() -> Document {
    let target = "sim:x25m?state=used";
    let mut findings = Findings {
        summary: "Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s).".into(),
        ..Findings::default()
    };
    let overwrite = Action::new("recondition_overwrite_all", "Overwrite the whole drive")
        .command(format!("likenew recondition '{target}' --step overwrite-all"))
        .loses(Loss::Everything)
        .time(Nanos::from_secs(3000));
    findings.answers = vec![
        Answer::problem("sustained_write", "Sustained write", "19.8 MB/s, 26% of new")
            .estimate(19.8e6, 15.9e6, 24.7e6, "bytes/s")
            .action(rewrite(target))
            .action(overwrite.clone()),
        Answer::info("cause", "Cause", "no TRIM (this drive ignores it), 99.8% likely")
            .with_evidence("Garbage collection copies deleted data before every write."),
        Answer::problem("sequential_write", "Sequential write", "23.3 MB/s, 30% of new")
            .action(rewrite(target)),
        Answer::unknown(
            "power_saving",
            "Power saving",
            "4K random reads QD1 are 8 to 31% slower after a pause",
        )
        .action(
            Action::new("check_again", "Measure random reads again")
                .command(format!("likenew check '{target}' --passes 5"))
                .time(Nanos::from_secs(240)),
        ),
        Answer::good("random_read", "4K random read", "4,940 IOPS, 100% of new"),
    ];
    let mut table = OverviewTable::new(["", "now", "when new"]);
    table.push_with_share(["sequential read", "254 MB/s", "254 MB/s"], Some(1.0));
    table.push_with_share(["sequential write", "23.3 MB/s", "77.3 MB/s"], Some(0.301));
    table.push_with_share(["sustained write", "19.8 MB/s", "77.2 MB/s"], Some(0.256));
    table.push_with_share(["4K random read", "4,940 IOPS", "4,940 IOPS"], Some(1.0));
    table.push_with_share(["4K random write", "3,060 IOPS", "9,590 IOPS"], Some(0.319));
    table.push_with_share(["4K random read QD32", "36,200 IOPS", "36,200 IOPS"], Some(1.0));
    findings.overview = Overview {
        lead: Lead::Summary,
        answers: vec!["cause".into(), "power_saving".into()],
        table: Some(table),
        series: Some("sustained".into()),
    };
    let points =
        (0..60).map(|second| [f64::from(second) * 1e9, if second < 8 { 74e6 } else { 19.8e6 }]).collect();
    findings.series.insert(
        "sustained".into(),
        Series::new("Sustained write", Shape::Line, Axis::new("time", "ns"), Axis::new("rate", "bytes/s"))
            .lines([Line::new("now", points)]),
    );
    document("check", target, "used", findings)
}

/// The findings of a check of the same drive without a problem.
pub(crate) fn healthy() -> Document {
    let mut findings = Findings {
        summary: "As fast as new: sustained writes run at 76.9 MB/s, 99.6% of new.".into(),
        ..Findings::default()
    };
    findings.answers = vec![Answer::good("sustained_write", "Sustained write", "76.9 MB/s, 99.6% of new")];
    let mut table = OverviewTable::new(["", "now", "when new"]);
    table.push_with_share(["sequential read", "254 MB/s", "254 MB/s"], Some(1.0));
    table.push_with_share(["sustained write", "76.9 MB/s", "77.2 MB/s"], Some(0.996));
    findings.overview =
        Overview { table: Some(table), series: Some("sustained".into()), ..Overview::default() };
    let points = (0..60).map(|second| [f64::from(second) * 1e9, 76.9e6]).collect();
    findings.series.insert(
        "sustained".into(),
        Series::new("Sustained write", Shape::Line, Axis::new("time", "ns"), Axis::new("rate", "bytes/s"))
            .lines([Line::new("now", points)]),
    );
    document("check", "sim:x25m", "new", findings)
}

/// The findings of a check of an unknown drive.
pub(crate) fn unknown() -> Document {
    let mut findings = Findings {
        summary: "987 MB/s read, 387 MB/s write. No reference for this virtual disk, so it cannot be called slow or \
                  fast."
            .into(),
        ..Findings::default()
    };
    let rated = Action::new("rated", "Compare with what the maker says").command(
        "likenew check '/mnt/a folder with photos of the last summer' --advertised read=1000MB/s,write=500MB/s,random_read=90000,random_write=80000",
    );
    let later = Action::new("later", "Compare with today: this run is kept as the baseline")
        .command("likenew check '/mnt/a folder with photos of the last summer'")
        .time(Nanos::from_secs(60));
    findings.answers = vec![
        Answer::unknown("reference", "Reference", "none for this drive").action(later).action(rated),
        Answer::info("sequential_read", "Sequential read", "987 MB/s"),
        Answer::info("sequential_write", "Sequential write", "387 MB/s"),
    ];
    findings.overview.answers = vec!["sequential_read".into(), "sequential_write".into()];
    document("check", "/mnt/a folder with photos of the last summer", "", findings)
}

/// A benchmark that ended with a drive error.
pub(crate) fn failed() -> Document {
    let mut document = bench("sim:x25m", 1.0);
    document.answers.insert(
        0,
        Answer::problem("errors", "I/O errors", "12 of 4,096 writes failed in SEQ1M Q1T1")
            .with_evidence("The drive answered them with an error; the first was at 1.50 GiB.")
            .caveat("The test ended there, so its numbers are those of 1.50 GiB."),
    );
    if let Some(table) = &mut document.overview.table {
        table.rows[1].cells[2] = "failed".into();
    }
    document
}

fn rewrite(target: &str) -> Action {
    Action::new("recondition", "Restore it step by step")
        .command(format!("likenew recondition '{target}'"))
        .time(Nanos::from_secs(5400))
        .bytes_written(150_000_000_000)
}

/// A run without findings.
pub(crate) fn empty(name: &str) -> Document {
    let mut document = document("nop", name, "", Findings::default());
    document.target.accounting = None;
    document.target.facts.clear();
    document
}

fn document(procedure: &str, name: &str, state: &str, findings: Findings) -> Document {
    let plan = Plan::new(
        procedure,
        Some(name.into()),
        7,
        toml::from_str("profile = 'default'\npasses = 5").unwrap(),
    );
    let target = Identity {
        name: name.into(),
        kind: TargetKind::Simulated,
        model: Some("Intel X25-M 80 GB".into()),
        engine: "simulation".into(),
        capacity_bytes: 80_026_361_856,
        block_bytes: 512,
        facts: vec![("state".into(), state.into())],
        caveats: vec!["A simulated drive: its numbers are only as good as its model.".into()],
        accounting: Some(FlashCounters {
            host_bytes_written: 160_000_000_000,
            flash_bytes_programmed: 176_000_000_000,
            erases: 335_000,
            write_amplification: 1.1,
            free_blocks: 9_120,
            wear: Some(likenew_core::counters::Wear {
                erases_min: 1,
                erases_max: 9,
                erases_mean: 4.25,
                bad_blocks: 0,
            }),
        }),
    };
    let instrument = Instrument {
        version: "0.1.0".into(),
        clock: Clock::Virtual,
        engine: "simulation".into(),
        system: None,
        calibration: None,
    };
    Document::new(plan, target, findings, instrument, 9_200_000_000, Nanos::from_secs(63))
}

fn row(value: serde_json::Value) -> Row {
    serde_json::from_value(value).unwrap()
}
