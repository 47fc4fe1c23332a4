//! The results of `model` for two simulated drives, beside published measurements of the real ones.

use std::io;
use std::path::Path;

use anyhow::Context as _;
use likenew_core::findings::{Findings, Row};
use likenew_sim::Spec;

use super::case::ask;

/// A value published in "How I figured out my OCZ Core 64 GB SSD" (OCZ forum, 2008).
struct PrintedFigure {
    target: &'static str,
    op: &'static str,
    metric: PrintedMetric,
    value: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PrintedMetric {
    /// MiB/s of long requests.
    Throughput,
    /// Milliseconds of a random request of 512 bytes.
    Access,
}

const CORE: &str = "sim:ocz-core-64gb?fill=1";
const DISK: &str = "sim:wd6400aaks";
const DISK_UNCACHED: &str = "sim:wd6400aaks?cache=off";

const fn printed_figure(
    target: &'static str,
    op: &'static str,
    metric: PrintedMetric,
    value: f64,
) -> PrintedFigure {
    PrintedFigure { target, op, metric, value }
}

const PRINTED_FIGURES: [PrintedFigure; 9] = [
    printed_figure(CORE, "read", PrintedMetric::Throughput, 125.0),
    printed_figure(CORE, "read", PrintedMetric::Access, 0.447),
    printed_figure(CORE, "write", PrintedMetric::Throughput, 72.768),
    printed_figure(CORE, "write", PrintedMetric::Access, 245.7),
    printed_figure(DISK, "read", PrintedMetric::Throughput, 85.0),
    printed_figure(DISK, "read", PrintedMetric::Access, 12.85),
    printed_figure(DISK, "write", PrintedMetric::Throughput, 85.0),
    printed_figure(DISK, "write", PrintedMetric::Access, 6.99),
    printed_figure(DISK_UNCACHED, "write", PrintedMetric::Access, 17.06),
];

/// A value is reproduced if it is within this share. Chosen: the study prints two digits.
const NEAR: f64 = 0.05;
/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;
/// Bytes of the smallest request of the study, one sector.
const TINY: f64 = 512.0;

/// One line for each value.
pub(super) fn report() -> String {
    let mut text = String::from("Twins of two drives of 2008: model beside what was printed [within 5%]\n");
    for target in [CORE, DISK, DISK_UNCACHED] {
        let of = PRINTED_FIGURES.iter().filter(|printed| printed.target == target);
        match model(target) {
            Err(error) => text += &format!("  {target} could not be modeled: {error:#}\n"),
            Ok(findings) => of.for_each(|printed| text += &format!("  {}\n", line(printed, &findings))),
        }
    }
    text
}

fn model(target: &str) -> anyhow::Result<Findings> {
    let mut drive = Spec::parse(target)?.open(|_: &Path| Err(io::ErrorKind::NotFound.into()))?;
    ask(&mut drive, "model", 1, toml::Table::new())?.findings
}

fn line(printed: &PrintedFigure, findings: &Findings) -> String {
    let PrintedFigure { target, op, metric, value } = printed;
    let name = match metric {
        PrintedMetric::Throughput => format!("{op} throughput, MiB/s"),
        PrintedMetric::Access => format!("{op} of 512 B, ms"),
    };
    match figure_in(findings, op, *metric) {
        Err(error) => format!("{target:26} {name:24} printed {value:>8}, and {error:#}"),
        Ok(found) => {
            let off = found / value - 1.0;
            let mark = if off.abs() <= NEAR { "" } else { "  MISSED" };
            format!(
                "{target:26} {name:24} printed {value:>8}  model {found:>8.3}  {:>+6.1}%{mark}",
                off * 100.0
            )
        }
    }
}

fn figure_in(findings: &Findings, op: &str, metric: PrintedMetric) -> anyhow::Result<f64> {
    let rows = findings.tables.get("fit").context("the model has no table \"fit\"")?;
    let is = |row: &&Row, key: &str, word: &str| row.get(key).is_some_and(|value| value == word);
    let mut of_op = rows.iter().filter(|row| is(row, "op", op) && is(row, "pattern", "random"));
    let row = of_op.next().with_context(|| format!("nothing fits random {op}s"))?;
    let number =
        |key: &str| row.get(key).and_then(serde_json::Value::as_f64).with_context(|| format!("no {key}"));
    let throughput = number("throughput_bytes_per_s")?;
    Ok(match metric {
        PrintedMetric::Throughput => throughput / MIB,
        PrintedMetric::Access => number("access_time_ns")? / 1e6 + TINY / throughput * 1e3,
    })
}
