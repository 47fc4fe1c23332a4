//! The sentences of bench.

use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Iops, Rate, Share, Size, count, range};
use likenew_core::units::{Nanos, digits, exact_duration, exact_size};
use likenew_core::workload::Mix;

use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::profile::Test;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::LatencyColumns;
use likenew_procedure_support::wording::{capitalize, estimated};
use likenew_rated::Usual;

use crate::commits::Commits;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "bench",
    question: "How fast is it, in the familiar table of sequential and random tests?",
    writes: "writes the tested span once first, so that reads meet data, then at most once in each pass of a write test; in a folder only to temporary files",
    manual: include_str!("../bench.md"),
};

pub(super) const BANDWIDTH_TITLE: &str = "Speed of each test";

/// One test of one operation as the summary needs it.
pub(super) struct OpSpeed {
    pub(super) op: Mix,
    pub(super) rate: Rate,
    pub(super) iops: Iops,
}

/// A test with its operations: `sequential read 254 MB/s, write 77.3 MB/s`; small random I/O in IOPS.
fn test_speeds(test: &Test, speeds: &[OpSpeed]) -> String {
    let name = if test.random {
        let size = exact_size(u64::from(test.block));
        format!("{} random QD{}", size.trim_end_matches("iB"), test.depth * test.threads)
    } else {
        "sequential".into()
    };
    let text = |OpSpeed { op, rate, iops }: &OpSpeed| {
        let op = operation(*op);
        if test.random { format!("{op} {iops}") } else { format!("{op} {rate}") }
    };
    format!("{name} {}", speeds.iter().map(text).collect::<Vec<_>>().join(", "))
}

fn operation(op: Mix) -> String {
    match op {
        Mix::Only(op) => op.name().into(),
        Mix::Reads(percent) => format!("{percent}% reads"),
    }
}

likenew_core::sentences! {
    fn all_speeds(tests: &[(&Test, Vec<OpSpeed>)]) =
        "{}",
        tests.iter().map(|(test, speeds)| test_speeds(test, speeds)).collect::<Vec<_>>().join("; ");
    pub(super) fn summary(tests: &[(&Test, Vec<OpSpeed>)]) = "{}.", capitalize(&all_speeds(tests));
    pub(super) fn unsteady_test(name: &str, slowest: Rate, fastest: Rate) =
        "{name}: {} per pass.", range(slowest, fastest);
    pub(super) fn covered(name: &str, share: Share) =
        "{name}: each pass covered at least {share} of the span.";
}

/// `passes`: the fewest and the most of any test.
pub(super) fn speed(tests: &[(&Test, Vec<OpSpeed>)], (fewest, most): (u64, u64)) -> Answer {
    let answer = Answer::info("speed", "Speed", all_speeds(tests));
    match most {
        1 => answer,
        _ if fewest == most => answer.with_evidence(format!("Each speed is the mean of {most} passes.")),
        _ => answer.with_evidence(format!("Each speed is the mean of {fewest} to {most} passes.")),
    }
}

pub(super) const VARY_LESS: &str = "Measure longer passes, which vary less";
pub(super) const REACH_PRECISION: &str = "Repeat passes until the means are that precise";
pub(super) const USUAL: &str = "usual";

answers! {
    ("repeatability", "Repeatability") => {
        /// `spread`: how much faster the fastest pass of a test is than its slowest, at most.
        pub(super) fn passes_agree(spread: Share) = good("passes of each test agree within {spread}");
        /// `worst`: the test whose passes differ most, with its slowest and fastest pass.
        pub(super) fn passes_disagree(unsteady: usize, tests: usize, limit: Share, worst: &str,
                                      slowest: Rate, fastest: Rate) =
            unknown("passes of {unsteady} of {} differ by more than {limit}; single passes of {worst} ran at {}",
                    count(tests as u64, "test"), range(slowest, fastest))
            .with_evidence("Ranges in the table are 95% intervals of the mean.");
        pub(super) fn measured_once(again: &Rerun) =
            unknown("each test ran once, so how much results vary is unknown").action(again.more_passes());
    }
    ("coverage", "Coverage") => {
        /// `least`: the test that covered the smallest share of its span, with that share.
        pub(super) fn passes_cut_short(cut: usize, tests: usize, time: Nanos, span: Size, least: &str, share: Share) =
            unknown("--time {} ended {cut} of {} before the end of the {span} span; {least} covered {share}",
                    exact_duration(time), count(tests as u64, "sequential test"));
    }
    (USUAL, "Usual") => {
        /// The answer about the class that the drive is compared with.
        pub(super) fn usual(usual: &Usual) =
            info("what four of five new drives of its class reach: {} ({} models)",
                 usual.class.words(), usual.values.len());
    }
}

/// A row of the familiar table.
pub(super) struct TableRow {
    pub(super) name: String,
    /// In bytes a second.
    pub(super) speed: Estimate,
    pub(super) iops: f64,
    pub(super) latency: LatencyColumns,
    /// What new drives of its class reach, if known.
    pub(super) usual: Option<String>,
}

impl From<&Commits> for TableRow {
    /// Durable writes, and how long they wait for a flush.
    fn from(commits: &Commits) -> Self {
        Self {
            name: commits.test.name(),
            speed: commits.rate.map(|rate| rate * f64::from(commits.test.block)),
            iops: commits.rate.value,
            latency: (&commits.wait).into(),
            usual: None,
        }
    }
}

/// The table; usual speeds have a column if any is known.
pub(super) fn table(rows: impl Iterator<Item = TableRow>) -> OverviewTable {
    let rows: Vec<TableRow> = rows.collect();
    let is_known = rows.iter().any(|row| row.usual.is_some());
    table_of(rows)
        .column("test", |row| row.name.clone())
        .column("MB/s", |row| estimated(row.speed, |bytes_per_s| digits(bytes_per_s / 1e6)))
        .column("IOPS", |row| digits(row.iops))
        .latencies(|row| row.latency)
        .column_if(is_known, "usual", |row| row.usual.clone().unwrap_or_default())
        .build()
}

#[cfg(test)]
mod tests {
    use likenew_core::io::Op;
    use likenew_procedure_support::profile::Profile;
    use likenew_stats::interval::Interval;

    use super::*;

    const READ: Mix = Mix::Only(Op::Read);
    const WRITE: Mix = Mix::Only(Op::Write);

    fn speed_of(op: Mix, mb_per_s: f64, iops: f64) -> OpSpeed {
        OpSpeed { op, rate: Rate(mb_per_s * 1e6), iops: Iops(iops) }
    }

    #[test]
    fn the_summary_names_sequential_and_small_random_speeds() {
        let tests = Profile::Default.tests();
        let speeds = [
            (&tests[0], vec![speed_of(READ, 254.0, 242.0), speed_of(WRITE, 77.3, 73.7)]),
            (&tests[3], vec![speed_of(READ, 20.2, 4938.0), speed_of(WRITE, 82.2, 20_070.0)]),
        ];
        assert_eq!(
            summary(&speeds),
            "Sequential read 254 MB/s, write 77.3 MB/s; 4K random QD1 read 4,940 IOPS, write 20,100 IOPS."
        );
        assert_eq!(speed(&speeds, (5, 5)).evidence, ["Each speed is the mean of 5 passes."]);
        assert_eq!(speed(&speeds, (5, 12)).evidence, ["Each speed is the mean of 5 to 12 passes."]);
        let mixed = [(&tests[0], vec![speed_of(Mix::Reads(70), 120.0, 114.0)])];
        assert_eq!(summary(&mixed), "Sequential 70% reads 120 MB/s.");
    }

    #[test]
    fn remarks_are_one_line() {
        assert_eq!(
            passes_disagree(1, 8, Share(0.25), "RND4K Q1T1 write", Rate(40e6), Rate(100e6)).answer,
            "passes of 1 of 8 tests differ by more than 25%; single passes of RND4K Q1T1 write ran at 40.0–100 MB/s"
        );
        assert_eq!(passes_agree(Share(0.0321)).answer, "passes of each test agree within 3.2%");
        assert_eq!(
            passes_cut_short(2, 4, Nanos::from_secs(5), Size(1 << 30), "SEQ1M Q1T1 write", Share(0.12))
                .answer,
            "--time 5s ended 2 of 4 sequential tests before the end of the 1 GiB span; \
             SEQ1M Q1T1 write covered 12%"
        );
        assert_eq!(
            unsteady_test("RND4K Q1T1 write", Rate(40e6), Rate(100e6)),
            "RND4K Q1T1 write: 40.0–100 MB/s per pass."
        );
    }

    #[test]
    fn a_row_has_its_unit_in_the_heading() {
        let row = TableRow {
            name: "SEQ1M Q8T1 read".into(),
            speed: Estimate { value: 254e6, interval: Some(Interval { low: 250.2e6, high: 257.9e6 }) },
            iops: 242.2,
            latency: LatencyColumns {
                latency_ns_mean: Some(33e6),
                latency_ns_p99: Some(35_000_000),
                ..LatencyColumns::default()
            },
            usual: None,
        };
        let table = table([row].into_iter());
        assert_eq!(
            table.rows[0].cells,
            ["SEQ1M Q8T1 read", "254 (250–258)", "242", "33.0 ms", "35.0 ms", "–"]
        );
    }
}
