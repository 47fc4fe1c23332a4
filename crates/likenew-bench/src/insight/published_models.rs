//! Compares the results of `model` for two simulated drives with published measurements of the real ones.

use anyhow::Context as _;
use likenew_core::findings::{Findings, Row};
use likenew_sim::Spec;

use crate::case_run::{ask, no_files};
use crate::table::{mark, row, table};

/// Metrics: throughput of long requests, and time of a random request of 512 bytes.
const THROUGHPUT: &str = "throughput, MiB/s";
const ACCESS: &str = "512 B, ms";

const CORE: &str = "sim:ocz-core-64gb?fill=1";
const DISK: &str = "sim:wd6400aaks";
const DISK_UNCACHED: &str = "sim:wd6400aaks?cache=off";

/// Target, operation, metric and value, as published in "How I figured out my OCZ Core 64 GB SSD" (OCZ forum, 2008).
const PRINTED_FIGURES: [(&str, &str, &str, f64); 9] = [
    (CORE, "read", THROUGHPUT, 125.0),
    (CORE, "read", ACCESS, 0.447),
    (CORE, "write", THROUGHPUT, 72.768),
    (CORE, "write", ACCESS, 245.7),
    (DISK, "read", THROUGHPUT, 85.0),
    (DISK, "read", ACCESS, 12.85),
    (DISK, "write", THROUGHPUT, 85.0),
    (DISK, "write", ACCESS, 6.99),
    (DISK_UNCACHED, "write", ACCESS, 17.06),
];

/// A value is reproduced if it is within this share. Chosen: the study prints two digits.
const NEAR: f64 = 0.05;
/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;
/// Bytes of the smallest request of the study, one sector.
const TINY: f64 = 512.0;

/// One line for each value.
///
/// # Errors
/// A drive cannot be modeled, or the model lacks a value.
pub(super) fn report() -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for target in [CORE, DISK, DISK_UNCACHED] {
        let findings =
            ask(&mut Spec::parse(target)?.open(no_files)?, "model", 1, toml::Table::new())?.findings?;
        for (_, op, metric, printed) in PRINTED_FIGURES.iter().filter(|(drive, ..)| *drive == target) {
            let model = figure_in(&findings, op, metric).with_context(|| target)?;
            let off = model / printed - 1.0;
            let off = format!("{:+.1}%{}", off * 100.0, mark(off.abs() <= NEAR));
            rows.push(row(&[&target, &format!("{op} {metric}"), printed, &format!("{model:.3}"), &off]));
        }
    }
    let table = table(&["drive", "metric", "printed", "model", "off [within 5%]"], rows);
    Ok(format!("Twins of two drives of 2008: model beside what was printed\n\n{table}"))
}

fn figure_in(findings: &Findings, op: &str, metric: &str) -> anyhow::Result<f64> {
    let rows = findings.tables.get("fit").context("the model has no table \"fit\"")?;
    let has = |row: &&Row, key: &str, word: &str| row.get(key).is_some_and(|value| value == word);
    let mut of_op = rows.iter().filter(|row| has(row, "op", op) && has(row, "pattern", "random"));
    let row = of_op.next().with_context(|| format!("nothing fits random {op}s"))?;
    let number =
        |key: &str| row.get(key).and_then(serde_json::Value::as_f64).with_context(|| format!("no {key}"));
    let throughput = number("throughput_bytes_per_s")?;
    match metric {
        THROUGHPUT => Ok(throughput / MIB),
        _ => Ok(number("access_time_ns")? / 1e6 + TINY / throughput * 1e3),
    }
}
