//! Documents for tests, as the procedures write them.

use likenew_core::drive::{FlashCounters, Identity, Kind};
use likenew_core::instrument::Instrument;
use likenew_core::plan::Plan;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::verdict::{Axis, Findings, Line, Mark, Row, Series, Shape, Standing, Verdict};
use serde_json::json;

use crate::document::Document;

/// One of each kind.
pub(crate) fn all() -> Vec<Document> {
    let published = ["sweep-new", "endure-steady", "age-used"].map(example);
    [bench("sim:x25m", 1.0), fill("sim:x25m"), empty("nop")].into_iter().chain(published).collect()
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
        findings.verdicts.push(
            Verdict::new(
                format!("The drive writes at {percent:.0} percent of its new speed."),
                Standing::Holds,
            )
            .problem()
            .estimate(percent, percent - 0.4, percent + 0.5, "%")
            .with_evidence("Every one of the four tests writes slower than when new, by the same share.")
            .with_evidence("Reading is as fast as when new, so the link and the host are not the cause."),
        );
    }
    findings.verdicts.push(
        Verdict::new("Sequential writing is steady from pass to pass.", Standing::Holds)
            .estimate(77.2e6 * share, 76.4e6 * share, 77.9e6 * share, "bytes/s")
            .with_evidence("Five passes of SEQ1M Q8T1 write lie within 1.6 percent of their median, and none of them had a pause of more than 50 ms.")
            .caveat("Data was incompressible; a drive that compresses may show more on other data."),
    );
    document("bench", name, if share == 1.0 { "new" } else { "used" }, findings)
}

fn result(test: &str, op: &str, speed: f64) -> Row {
    let latency_ns = 4096e9 / speed;
    row(json!({
        "test": test, "op": op, "bytes_per_s": speed, "iops": speed / 4096.0,
        "latency_ns_mean": latency_ns, "latency_ns_p50": (latency_ns * 0.9) as u64,
        "latency_ns_p99": (latency_ns * 4.0) as u64, "latency_ns_max": (latency_ns * 60.0) as u64,
        "bytes_per_s_low": speed * 0.99, "bytes_per_s_high": speed * 1.01,
    }))
}

/// Two hundred files, half of them in slow runs with stalls.
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
    findings.verdicts.push(
        Verdict::new("The speed falls into two groups: the drive has aged.", Standing::Holds)
            .problem()
            .with_evidence("100 of 200 files were written at about 5.7 MB/s, the others at 76.6 MB/s."),
    );
    findings.verdicts.push(Verdict::new("The slow files lie in runs.", Standing::Undecided));
    document("fill", name, "used", findings)
}

/// Speed over time, from one file's end to the next.
fn seconds(files: &[Row]) -> Series {
    let point = |row: &Row| [row["elapsed_ns"].as_f64().unwrap(), row["bytes_per_s"].as_f64().unwrap()];
    Series::new("Speed over time", Shape::Line, Axis::new("time", "ns"), Axis::new("speed", "bytes/s"))
        .lines([Line::new("write", files.iter().map(point).collect())])
}

/// A run that found nothing.
pub(crate) fn empty(name: &str) -> Document {
    let mut document = document("nop", name, "", Findings::default());
    document.target.accounting = None;
    document.target.facts.clear();
    document
}

fn document(procedure: &str, name: &str, state: &str, findings: Findings) -> Document {
    let plan = Plan {
        schema: 1,
        procedure: procedure.into(),
        target: Some(name.into()),
        seed: 7,
        options: toml::from_str("profile = 'default'\npasses = 5").unwrap(),
    };
    let target = Identity {
        name: name.into(),
        kind: Kind::Simulated,
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
            wear: Some(likenew_core::drive::Wear {
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
        calibration: None,
    };
    Document::new(plan, target, findings, instrument, 9_200_000_000, Nanos::from_secs(63))
}

fn row(value: serde_json::Value) -> Row {
    serde_json::from_value(value).unwrap()
}
