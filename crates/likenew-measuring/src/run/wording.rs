//! The sentences of run.

use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Iops, Rate, count};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::digits;

use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::rows::LatencyColumns;
use likenew_procedure_support::wording::{cell, use_nearest_multiple};

use super::per_second;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "run",
    question: "How fast does this drive run the workload of a plan?",
    writes: "what the plan says; in a folder to temporary files, which it writes once before",
    manual: include_str!("../run.md"),
};

pub(super) const SECONDS_TITLE: &str = "Speed over time";
/// Most workloads named in the summary.
const NAMED_MAX: usize = 3;

likenew_core::sentences! {
    pub(super) fn no_workload() = "run: the plan has no [[options.workload]]; give at least one";
    pub(super) fn wrong_files(file_size: u64) =
        "run: files must be at least 1, and file_size a multiple of 4KiB; for file_size {}",
        use_nearest_multiple(file_size, 4096, 4096..=u64::MAX);
}

/// How fast one workload ran, by operation.
pub(super) struct WorkloadSpeed<'a> {
    pub(super) name: &'a str,
    pub(super) speeds: Vec<OpSpeed>,
}

/// How fast one operation of a workload was; a flush moves no bytes.
pub(super) struct OpSpeed {
    pub(super) op: &'static str,
    pub(super) rate: Option<Rate>,
    pub(super) iops: Iops,
}

impl OpSpeed {
    fn text(&self) -> String {
        match self.rate {
            Some(rate) => format!("{rate}, {}", self.iops),
            None => self.iops.to_string(),
        }
    }
}

impl WorkloadSpeed<'_> {
    fn text(&self) -> String {
        match &self.speeds[..] {
            [only] => only.text(),
            several => {
                let each = several.iter().map(|speed| format!("{} {}", speed.op, speed.text()));
                each.collect::<Vec<_>>().join(" and ")
            }
        }
    }

    pub(super) fn answer(&self) -> Answer {
        Answer::info("workload", self.name, self.text())
    }
}

pub(super) const MEASURED_ONCE: &str = "Each workload ran once, so how much results vary is unknown.";

pub(super) fn summary(speeds: &[WorkloadSpeed<'_>]) -> String {
    let named = speeds.iter().take(NAMED_MAX).map(|speed| format!("{}: {}", speed.name, speed.text()));
    let named: Vec<String> = named.collect();
    match speeds.len().saturating_sub(NAMED_MAX) {
        0 => format!("{}.", named.join("; ")),
        more => format!("{}; and {}.", named.join("; "), count(more as u64, "more workload")),
    }
}

/// A row for each operation of each stream, as the table of workloads has them.
pub(super) fn table(segments: &[Segment]) -> OverviewTable {
    let latency = |(segment, tally): &(&Segment, &Tally)| {
        let is_known = segment.measurement_error().is_none() && tally.ios > 0;
        if is_known { LatencyColumns::from(*tally) } else { LatencyColumns::default() }
    };
    table_of(segments.iter().flat_map(|segment| segment.tallies.iter().map(move |tally| (segment, tally))))
        .column("workload", |(segment, _)| &segment.workload.name)
        .column("op", |(_, tally)| tally.op.name())
        .column("MB/s", |(segment, tally)| {
            cell(per_second(segment, tally.bytes).map(|rate| digits(rate / 1e6)))
        })
        .column("IOPS", |(segment, tally)| cell(per_second(segment, tally.done_ios()).map(digits)))
        .latencies(latency)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_each_workload_with_its_speed() {
        let speed = |op, rate: f64| OpSpeed { op, rate: Some(Rate(rate)), iops: Iops(rate / 4096.0) };
        let workload = |name, rate| WorkloadSpeed { name, speeds: vec![speed("read", rate)] };
        let speeds = [workload("mail server", 34.2e6), workload("backup", 210e6)];
        assert_eq!(summary(&speeds), "mail server: 34.2 MB/s, 8,350 IOPS; backup: 210 MB/s, 51,300 IOPS.");
        let flush = OpSpeed { op: "flush", rate: None, iops: Iops(120.0) };
        assert_eq!(summary(&[WorkloadSpeed { name: "flush", speeds: vec![flush] }]), "flush: 120 IOPS.");
        let mix =
            WorkloadSpeed { name: "mix", speeds: vec![speed("read", 40.96e6), speed("write", 4.096e6)] };
        assert_eq!(summary(&[mix]), "mix: read 41.0 MB/s, 10,000 IOPS and write 4.10 MB/s, 1,000 IOPS.");
        let many = ["a", "b", "c", "d"].map(|name| workload(name, 4096e3));
        assert!(summary(&many).ends_with("; and 1 more workload."), "{}", summary(&many));
    }
}
