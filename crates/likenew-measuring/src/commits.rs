//! Durable writes, as databases commit: a writer waits for each one before the next. For bench and suits.

use std::ops::Range;

use clap::ValueEnum;
use likenew_core::drive::TargetKind;
use likenew_core::findings::Row;
use likenew_core::io::{DataClass, Durability, Op};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::{Nanos, exact_size};
use likenew_core::workload::{Access, Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rows::{Columns as _, LatencyColumns};
use likenew_procedure_support::wording::cell;
use serde::{Deserialize, Serialize};

/// Bytes of a write by default: a page of PostgreSQL.
pub const BLOCK: u32 = 8 << 10;
/// Most commits of a pass: enough for its p99.9, and 40 MiB at 8 KiB.
pub const COMMITS_MAX: u64 = 5000;
/// Writers of a group commit by default.
pub const WRITERS: u32 = 8;

/// How a write becomes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum CommitBy {
    /// A write, then a flush
    #[default]
    Fdatasync,
    /// A write that is durable when it ends: O_DSYNC, which is FUA on a device
    Dsync,
}

impl CommitBy {
    /// Whether it is what most programs do.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// What a program waits for until its commit is durable.
    fn op(self) -> Op {
        match self {
            Self::Fdatasync => Op::Flush,
            Self::Dsync => Op::Write,
        }
    }

    /// What a program waits for, in words.
    pub fn wait(self) -> &'static str {
        self.op().name()
    }

    /// The call or flag, as programmers know it.
    pub fn call(self) -> &'static str {
        match self {
            Self::Fdatasync => "fdatasync",
            Self::Dsync => "O_DSYNC",
        }
    }
}

/// Commits of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitTest {
    /// How each becomes durable.
    pub by: CommitBy,
    /// Programs that each write block after block, and wait for each to become durable.
    pub writers: u32,
    /// Bytes of each write.
    pub block: u32,
}

impl CommitTest {
    /// `fdatasync 8K T1 write`, beside the names of other tests.
    pub fn name(&self) -> String {
        let size = exact_size(self.block.into());
        format!("{} {} T{} write", self.by.call(), size.trim_end_matches("iB"), self.writers)
    }

    /// The workload. A file is written through the page cache, as databases do it.
    pub fn workload(&self, name: String, kind: TargetKind, region: Range<u64>, until: Until) -> Workload {
        let place = Pattern::Sequential.over(region);
        let stream = Stream::closed(Mix::Only(Op::Write), self.block, place, 1, DataClass::Random);
        let stream = match self.by {
            CommitBy::Fdatasync => Stream { flush_every: 1, ..stream },
            CommitBy::Dsync => Stream { sync: Some(Durability::Data), ..stream },
        };
        let is_file = matches!(kind, TargetKind::Folder | TargetKind::File);
        let access = if is_file { Access::Buffered } else { Access::Direct };
        Workload { lanes: self.writers, access, ..Workload::new(name, until, vec![stream]) }
    }
}

/// The results of one kind of commit.
pub struct Commits {
    /// The kind of commit.
    pub test: CommitTest,
    /// Commits a second, of all writers.
    pub rate: Estimate,
    /// In nanoseconds: p99 of writes plus p99 of flushes. At least 98 of 100 commits take no longer.
    pub p99: Estimate,
    /// Writes that are not durable before a flush; `None` if they are durable when they end.
    pub write: Option<Tally>,
    /// The flushes, or the writes that are durable when they end.
    pub wait: Tally,
}

/// The quantile for which most programs publish their needs, in 0..1.
pub const P99: f64 = 0.99;

impl Commits {
    /// `None` if no pass measured anything.
    pub fn new(test: CommitTest, passes: &[&Segment]) -> Option<Self> {
        let op = test.by.op();
        let measured: Vec<(&&Segment, Tally)> = passes
            .iter()
            .filter(|segment| segment.measurement_error().is_none() && segment.elapsed() > Nanos::ZERO)
            .map(|segment| (segment, segment.total_of(op)))
            .filter(|(_, wait)| wait.done_ios() > 0)
            .collect();
        let rate =
            |(segment, wait): &(&&Segment, Tally)| wait.done_ios() as f64 / segment.elapsed().as_secs_f64();
        let rates: Vec<f64> = measured.iter().map(rate).collect();
        let p99 = |segment: &Segment, op| segment.total_of(op).latency.quantile(P99).0 as f64;
        let p99 = |(segment, _): &(&&Segment, Tally)| p99(segment, Op::Write) + p99(segment, Op::Flush);
        let p99: Vec<f64> = measured.iter().map(p99).collect();
        let (mut write, mut total) = (Tally::new(0, Op::Write), Tally::new(0, op));
        for (segment, wait) in &measured {
            write.merge(&segment.total_of(Op::Write));
            total.merge(wait);
        }
        Some(Self {
            test,
            rate: Estimate::of_passes(&rates)?.not_negative(),
            p99: Estimate::of_passes(&p99)?.not_negative(),
            write: (op != Op::Write).then_some(write),
            wait: total,
        })
    }

    /// Its row in the table `commits`: latencies are those of flushes, or of writes that are durable when they end.
    pub fn row(&self) -> Row {
        let CommitTest { by, writers, block } = self.test;
        Row::new()
            .with("by", by)
            .with("block_bytes", block)
            .with("writers", writers)
            .with_estimate("commits_per_s", Some(self.rate))
            .with("write_ns_mean", self.write.as_ref().map(Tally::latency_ns_mean))
            .with_latency(&self.wait)
            .with("errors", self.write.as_ref().map_or(0, |write| write.errors) + self.wait.errors)
    }

    /// Median, p99, p99.9 and maximum of what is waited for.
    pub fn latency_cells(&self) -> [String; 4] {
        let LatencyColumns { latency_ns_p50, latency_ns_p99, latency_ns_p999, latency_ns_max, .. } =
            (&self.wait).into();
        [latency_ns_p50, latency_ns_p99, latency_ns_p999, latency_ns_max].map(|time| cell(time.map(Nanos)))
    }
}
