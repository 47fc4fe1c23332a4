//! The sentences of run.

use likenew_core::answer::Answer;
use likenew_core::overview::OverviewTable;
use likenew_core::quantity::{Iops, Latency, Rate, digits};
use likenew_core::units::Nanos;

use likenew_procedure_support::wording::{count, use_nearest_multiple};

// What it is for, and what it writes

pub(super) const QUESTION: &str = "How fast does this drive run the workload of a plan?";
pub(super) const WRITES: &str =
    "what the plan says; in a folder to temporary files, which it writes once before";

pub(super) const SECONDS_TITLE: &str = "Speed over time";
/// The table's sign for an unknown value.
const MISSING: &str = "–";
/// Most workloads named in the summary.
const NAMED_MAX: usize = 3;

pub(super) fn no_workload() -> String {
    "run: the plan has no [[options.workload]]; give at least one".into()
}

pub(super) fn wrong_files(file_size: u64) -> String {
    let nearest = use_nearest_multiple(file_size, 4096, 4096..=u64::MAX);
    format!("run: files must be at least 1, and file_size a multiple of 4KiB; for file_size {nearest}")
}

/// How fast one workload ran; a flush moves no bytes.
pub(super) struct WorkloadSpeed<'a> {
    pub(super) name: &'a str,
    pub(super) rate: Option<Rate>,
    pub(super) iops: Iops,
}

impl WorkloadSpeed<'_> {
    fn text(&self) -> String {
        match self.rate {
            Some(rate) => format!("{rate}, {}", self.iops),
            None => self.iops.to_string(),
        }
    }

    pub(super) fn answer(&self) -> Answer {
        Answer::info("workload", self.name, self.text())
    }
}

pub(super) fn measured_once() -> &'static str {
    "Each workload ran once, so how much results vary is unknown."
}

pub(super) fn summary(speeds: &[WorkloadSpeed<'_>]) -> String {
    let named = speeds.iter().take(NAMED_MAX).map(|of| format!("{}: {}", of.name, of.text()));
    let named: Vec<String> = named.collect();
    match speeds.len().saturating_sub(NAMED_MAX) {
        0 => format!("{}.", named.join("; ")),
        more => format!("{}; and {}.", named.join("; "), count(more as u64, "more workload")),
    }
}

/// One operation of one stream.
pub(super) struct TableRow<'a> {
    pub(super) workload: &'a str,
    pub(super) op: &'a str,
    pub(super) bytes_per_s: Option<f64>,
    pub(super) iops: Option<f64>,
    pub(super) latency_ns_mean: Option<f64>,
    pub(super) latency_p99: Option<Nanos>,
    pub(super) latency_max: Option<Nanos>,
}

pub(super) fn table<'a>(rows: impl Iterator<Item = TableRow<'a>>) -> OverviewTable {
    let mut table = OverviewTable::new(["workload", "op", "MB/s", "IOPS", "mean", "p99", "max"]);
    for row in rows {
        let number = |value: Option<f64>| value.map_or_else(|| MISSING.to_owned(), digits);
        let time = |time: Option<Nanos>| time.map_or_else(|| MISSING.to_owned(), |time| time.to_string());
        let mean = row.latency_ns_mean.map_or_else(|| MISSING.to_owned(), |mean| Latency(mean).to_string());
        table.push([
            row.workload.to_owned(),
            row.op.to_owned(),
            number(row.bytes_per_s.map(|speed| speed / 1e6)),
            number(row.iops),
            mean,
            time(row.latency_p99),
            time(row.latency_max),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_each_workload_with_its_speed() {
        let of = |name, rate: f64| WorkloadSpeed { name, rate: Some(Rate(rate)), iops: Iops(rate / 4096.0) };
        let speeds = [of("mail server", 34.2e6), of("backup", 210e6)];
        assert_eq!(summary(&speeds), "mail server: 34.2 MB/s, 8,350 IOPS; backup: 210 MB/s, 51,300 IOPS.");
        let flush = WorkloadSpeed { name: "flush", rate: None, iops: Iops(120.0) };
        assert_eq!(summary(&[flush]), "flush: 120 IOPS.");
        let many = ["a", "b", "c", "d"].map(|name| of(name, 4096e3));
        assert!(summary(&many).ends_with("; and 1 more workload."), "{}", summary(&many));
    }
}
