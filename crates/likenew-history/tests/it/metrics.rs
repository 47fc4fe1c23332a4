//! The metrics of drives that are known.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::collections::BTreeSet;

use likenew_history::metrics::{Family, Fleet, families, text};
use likenew_history::{Check, DriveHistory, DriveRow, MetricValue, RunRow};

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn row(key: &str, target: &str, checks: i64) -> DriveRow {
    DriveRow {
        archive: "db1-1a2b3c4d:/var/lib/likenew/runs".into(),
        key: key.into(),
        access: "device".into(),
        model: Some("Example \"870\"\n\\".into()),
        serial: Some("5e71a1".into()),
        capacity_bytes: Some(1 << 40),
        is_virtual: false,
        first_at: "2026-03-01T10:00:00.000Z".into(),
        last_at: "2026-03-09T10:00:00.000Z".into(),
        runs: checks,
        checks,
        target: target.into(),
    }
}

fn check(day: usize, read: f64, standing: &str) -> Check {
    let metric = |name: &str, unit: &str, value: f64, reference: Option<f64>| MetricValue {
        source: "metrics".into(),
        name: name.into(),
        unit: unit.into(),
        value,
        low: value * 0.98,
        high: value * 1.02,
        reference,
        origin: reference.map(|_| "baseline".into()),
        bytes: None,
    };
    let run = RunRow {
        archive: ".".into(),
        name: format!("run-{day}"),
        started_at: format!("2026-03-{day:02}T10:00:00.500Z"),
        procedure: "check".into(),
        target: "/dev/sda".into(),
        standing: standing.into(),
        summary: String::new(),
        seed: 0,
        drive: Some(KEY.into()),
        failed_ios: 3,
        problems: Vec::new(),
    };
    let metrics = vec![
        metric("sequential_read", "bytes/s", read, Some(200e6)),
        metric("random_read", "1/s", 5_000.0, None),
    ];
    let health = [("temperature", 41.0), ("failing", 0.0), ("endurance_used", 12.0), ("power_on", 100.0)];
    let health =
        health.map(|(name, value)| MetricValue { source: "health".into(), ..metric(name, "", value, None) });
    Check { run, metrics, health: health.into() }
}

/// Checks of which the last three are slower.
fn slower(key: &str, target: &str) -> DriveHistory {
    let reads = [100e6, 101e6, 99e6, 100e6, 100e6, 100e6, 50e6, 51e6, 50e6];
    let checks = reads.iter().enumerate().map(|(day, read)| check(day + 1, *read, "problem")).collect();
    DriveHistory::new(row(key, target, 9), checks)
}

fn fleet() -> Fleet {
    let drives = [("db1-1a2b3c4d".to_owned(), slower(KEY, "/dev/sda"))];
    Fleet::new(drives, [("db1-1a2b3c4d".to_owned(), 2)])
}

/// The samples of a metric.
fn samples<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let of = |line: &&str| line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} "));
    text.lines().filter(of).collect()
}

#[test]
fn a_drive_has_its_state_its_metrics_and_its_last_change() {
    let text = text(&fleet());
    let labels = r#"drive="0123456789ab",device="/dev/sda",host="db1-1a2b3c4d""#;
    for (name, more, value) in [
        ("likenew_drive_capacity_bytes", "", "1099511627776.0"),
        ("likenew_drive_checks", "", "9.0"),
        ("likenew_drive_check_timestamp_seconds", "", "1773050400.5"),
        ("likenew_drive_problem", "", "1.0"),
        ("likenew_drive_check_errors", "", "3.0"),
        ("likenew_drive_temperature_celsius", "", "41.0"),
        ("likenew_drive_failing", "", "0.0"),
        ("likenew_drive_endurance_used_ratio", "", "0.12"),
        ("likenew_drive_power_on_seconds", "", "360000.0"),
        ("likenew_drive_sequential_read_bytes_per_second", "", "50000000.0"),
        ("likenew_drive_sequential_read_low_bytes_per_second", "", "49000000.0"),
        ("likenew_drive_sequential_read_high_bytes_per_second", "", "51000000.0"),
        (
            "likenew_drive_sequential_read_reference_bytes_per_second",
            r#",reference="baseline""#,
            "200000000.0",
        ),
        ("likenew_drive_sequential_read_ratio", r#",reference="baseline""#, "0.25"),
        ("likenew_drive_random_read_operations_per_second", "", "5000.0"),
        ("likenew_drive_change_timestamp_seconds", r#",metric="sequential_read""#, "1772877600.5"),
    ] {
        assert_eq!(samples(&text, name), [format!("{name}{{{labels}{more}}} {value}")], "{text}");
    }
    let info = format!(
        r#"likenew_drive_info{{{labels},model="Example \"870\"\n\\",capacity="1 TiB",access="device",virtual="false"}} 1.0"#
    );
    assert_eq!(samples(&text, "likenew_drive_info"), [info]);
    assert_eq!(
        samples(&text, "likenew_history_damaged_runs"),
        [r#"likenew_history_damaged_runs{host="db1-1a2b3c4d"} 2.0"#]
    );
    let [ratio, low, high] = ["", "_low", "_high"].map(|part| {
        let sample = samples(&text, &format!("likenew_drive_change{part}_ratio"));
        sample[0].rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    });
    assert!(
        (ratio - 0.503).abs() < 0.01 && low < ratio && ratio < high && high < 1.0,
        "{low} {ratio} {high}"
    );
    assert_eq!(samples(&text, "likenew_drive_random_read_ratio"), [""; 0], "it has no reference");
    assert!(!text.contains("5e71a1") && !text.contains(&KEY[..13]), "{text}");
}

#[test]
fn each_family_is_described_once_and_the_text_ends() {
    let text = text(&fleet());
    let described: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" gauge")).collect();
    assert_eq!(described.len(), described.iter().collect::<BTreeSet<_>>().len());
    for name in &described {
        let help = |line: &&str| line.starts_with(&format!("# HELP {name} "));
        let helps: Vec<&str> = text.lines().filter(help).collect();
        assert!(matches!(helps[..], [one] if one.ends_with('.')), "{helps:?}");
    }
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    // A family without samples is left out.
    assert!(described.contains(&"likenew_drive_problem") && !text.contains("sustained_write"), "{text}");
    let known: Vec<String> = families(&Fleet::default()).iter().map(Family::full_name).collect();
    assert!(described.iter().all(|name| known.iter().any(|known| known == name)), "{described:?}");
}

#[test]
fn a_name_that_holds_a_serial_number_is_not_told() {
    let drive = slower(KEY, "/dev/disk/by-id/ata-Example_870_S4X9");
    let text = text(&Fleet::new([("db1".to_owned(), drive)], []));
    assert!(text.contains(r#"device="/dev/disk/by-id""#) && !text.contains("S4X9"), "{text}");
}

#[test]
fn a_drive_that_two_users_checked_is_there_once_as_the_later_check_found_it() {
    let earlier = DriveHistory::new(row(KEY, "/dev/sda", 1), vec![check(1, 70e6, "good")]);
    let later = slower(KEY, "/dev/sda");
    for drives in [[earlier.clone(), later.clone()], [later, earlier]] {
        let text = text(&Fleet::new(drives.map(|drive| ("db1".to_owned(), drive)), []));
        assert_eq!(samples(&text, "likenew_drive_checks").len(), 1);
        assert!(samples(&text, "likenew_drive_checks")[0].ends_with(" 9.0"), "{text}");
    }
}

#[test]
fn a_drive_that_was_never_checked_has_no_speed_and_no_standing() {
    let drive = DriveHistory::new(row(KEY, "/dev/sda", 0), Vec::new());
    let text = text(&Fleet::new([("db1".to_owned(), drive)], []));
    assert_eq!(samples(&text, "likenew_drive_info").len(), 1);
    assert!(!text.contains("likenew_drive_problem") && !text.contains("per_second"), "{text}");
}

#[test]
fn the_page_lists_every_metric() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `likenew_")).collect();
    let row = |family: &Family| {
        let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `{}` | {} | {} |", family.full_name(), labels.join(", "), family.help)
    };
    let expected: Vec<String> = families(&Fleet::default()).iter().map(row).collect();
    assert_eq!(listed, expected, "the table is:\n{}", expected.join("\n"));
}
