//! Measures durable writes: is the drive fast enough for databases, logs and virtual machines?

mod wording;

use std::ops::RangeInclusive;

use clap::{Args, ValueEnum};
use likenew_core::facts::{Drive, Facts};
use likenew_core::findings::{Answer, Findings, Line, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::Probe;
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{Mix, Until};
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{Fitting, Options, Unfit};
use likenew_procedure_support::options::{
    check_multiple, check_range, check_span, check_time, check_writable,
};
use likenew_procedure_support::series::axis;
use likenew_procedure_support::workloads::prepare;
use serde::{Deserialize, Serialize};

use crate::commits::{COMMITS_MAX, CommitBy, CommitTest, Commits, WRITERS};
pub use wording::DESCRIPTOR;

/// Is it fast enough for a database, a log or a virtual machine?
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct SuitsOptions {
    /// What for; a no is then a problem [default: all, and none is a problem]
    #[arg(long = "for", value_enum, value_delimiter = ',', value_name = "USE,..")]
    #[serde(rename = "for", skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Use>,
    /// How each write becomes durable
    #[arg(long, value_enum, default_value = "fdatasync", value_name = "CALL")]
    #[serde(skip_serializing_if = "CommitBy::is_usual")]
    pub by: CommitBy,
    /// Bytes of each write
    #[arg(long, default_value = "8KiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub block: u64,
    /// Writers of a group commit
    #[arg(long, default_value_t = WRITERS, value_name = "N")]
    pub writers: u32,
    /// Address space to write in
    #[arg(long, visible_alias = "size", default_value = "64MiB", hide_default_value = true, value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub span: u64,
    /// Passes of each test
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub passes: u32,
    /// Time limit of a pass; it also ends after 5,000 commits
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
}

impl Options for SuitsOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;
    const WRITES: bool = true;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        fitting.span(&mut self.span, SPAN_MIN)
    }
}

/// The span is a multiple of this. Chosen: as for bench.
const SPAN_MIN: u64 = 8 << 20;
/// Allowed bytes of a write.
const BLOCKS: RangeInclusive<u64> = 512..=1 << 20;
/// A flush of a volatile cache that is over sooner has not waited for the medium: programming flash takes some 200 µs
/// and more (catalog/*.toml). Chosen: a tenth of that; a few commands take as long.
const COSTS_NOTHING: Nanos = Nanos::from_micros(20);
/// Commits per revolution of a hard disk from which not every commit has waited for the platter. Chosen: a disk that
/// writes adjacent sectors can do a few per revolution.
const COMMITS_PER_TURN: f64 = 10.0;

/// The procedure.
pub struct Suits {
    options: SuitsOptions,
}

impl Suits {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: SuitsOptions) -> Result<Self, String> {
        let SuitsOptions { passes, writers, time, span, block, .. } = options;
        check_range("passes", passes, 1..=1000)?;
        check_range("writers", writers, 1..=64)?;
        check_time("time", time)?;
        check_multiple("span", span, SPAN_MIN)?;
        check_range("block", block, BLOCKS)?;
        if !block.is_power_of_two() {
            return Err(wording::no_power_of_two(block));
        }
        Ok(Self { options })
    }

    fn measure<'a>(
        &self,
        steps: &mut Steps<'a>,
        lines: &mut Vec<(CommitTest, Vec<&'a Segment>)>,
    ) -> Result<(), Ended> {
        let SuitsOptions { by, block, span, passes, writers, time, .. } = self.options;
        let block = u32::try_from(block).expect("a block is checked to be small");
        let until = Until { elapsed: Some(time), bytes: None, ops: Some(COMMITS_MAX) };
        let kind = steps.evidence().identity.kind;
        steps.probe_or_skip(Probe::Facts)?;
        steps.run_seeded(|| prepare(span, span, DataClass::Random))?;
        for writers in if writers > 1 { vec![1, writers] } else { vec![1] } {
            let test = CommitTest { by, writers, block };
            lines.push((test, Vec::new()));
            for pass in 1..=passes {
                let name = wording::pass_name(writers, pass, passes);
                let segment = steps.run_seeded(|| test.workload(name, kind, 0..span, until))?;
                lines.last_mut().expect("one was just added").1.push(segment);
            }
        }
        Ok(())
    }
}

impl Procedure for Suits {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let geometry = &steps.evidence().geometry;
        check_span(self.options.span, geometry, SPAN_MIN)?;
        check_writable(&[Mix::Only(Op::Write)], geometry)?;
        let mut measured = Vec::new();
        let _ended = self.measure(steps, &mut measured);
        Ok(steps.conclude(|evidence| {
            let line = |(test, passes): &(CommitTest, Vec<&Segment>)| Commits::new(*test, passes);
            self.findings(evidence, &measured.iter().filter_map(line).collect::<Vec<_>>())
        }))
    }
}

impl Suits {
    fn findings(&self, evidence: &Evidence, lines: &[Commits]) -> Findings {
        let mut findings = Findings::default();
        if let Some(commits) = lines.first() {
            let is_asked = !self.options.uses.is_empty();
            let uses: &[Use] = if is_asked { &self.options.uses } else { Use::value_variants() };
            let judged: Vec<Judged<'_>> = uses.iter().map(|purpose| commits.judge(*purpose)).collect();
            findings.summary = wording::summary(commits, &judged);
            let drive = evidence
                .observations
                .iter()
                .find_map(|observation| observation.result.facts())
                .and_then(Facts::plain_drive);
            findings.answers.extend(commits.finding(drive, evidence));
            let verdict = |judged: &Judged<'_>| wording::verdict(judged, is_asked, commits);
            findings.answers.extend(judged.iter().map(verdict));
            let limit =
                |write: &Tally| wording::limit(write.latency_ns_mean(), commits.wait.latency_ns_mean());
            findings.answers.extend(commits.write.as_ref().map(limit));
            // A use without a published figure is listed only if the user asked for it.
            let listed = judged.iter().filter(|judgement| is_asked || !judgement.margins.is_empty());
            findings.overview.answers = [wording::COSTS_NOTHING.to_owned()]
                .into_iter()
                .chain(listed.map(|judgement| judgement.of.answer_id()))
                .collect();
            findings.overview.table = Some(wording::table(lines));
            findings.series.insert("commits".into(), drawn(lines));
        }
        add_failures(&mut findings.answers, evidence, None);
        findings.tables.insert("commits".into(), lines.iter().map(Commits::row).collect());
        findings
    }
}

/// A use, and whether the drive is fast enough for it: `None` if no figure is published, or an interval allows both.
struct Judged<'a> {
    of: Use,
    suits: Option<bool>,
    /// Each published figure, with how many times it is reached.
    margins: Vec<(Need, Estimate)>,
    source: &'a str,
}

impl Commits {
    fn judge(&self, purpose: Use) -> Judged<'static> {
        let (needs, source) = purpose.needs();
        let margin = |need: &Need| match need {
            Need::CommitsPerS(least) => self.rate.map(|rate| rate / least),
            Need::FlushP99(most) => self.p99.map(|p99| most.0 as f64 / p99),
            Need::CommitMean(most) => self.rate.map(|rate| rate * most.as_secs_f64()),
        };
        let margins: Vec<(Need, Estimate)> = needs.iter().map(|need| (*need, margin(need))).collect();
        let is_met = |margin: &Estimate| match margin.against(1.0) {
            Verdict::Above => Some(true),
            Verdict::Below => Some(false),
            // A single pass has no interval.
            Verdict::OnePass => Some(margin.value >= 1.0),
            Verdict::Alike | Verdict::Unclear => None,
        };
        let verdicts: Vec<Option<bool>> = margins.iter().map(|(_, margin)| is_met(margin)).collect();
        let suits = if verdicts.contains(&Some(false)) {
            Some(false)
        } else {
            (!verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Some(true))).then_some(true)
        };
        Judged { of: purpose, suits, margins, source }
    }

    /// The answer about a flush that is over before anything can be durable.
    fn finding(&self, drive: Option<&Drive>, evidence: &Evidence) -> Option<Answer> {
        let median = self.wait.latency.quantile(0.5);
        let facts = evidence.observations.iter().filter_map(|observation| observation.result.facts());
        let mut lowest_layers = facts.filter_map(|facts| facts.stack.last());
        let is_volatile =
            lowest_layers.any(|layer| layer.write_cache.value().is_some_and(|mode| mode == "write back"));
        let rpm = drive.and_then(|drive| drive.identity.rotation_rpm.get()).filter(|rpm| *rpm > 0);
        if let Some(rpm) = rpm {
            let turns_per_s = f64::from(rpm) / 60.0;
            let per_turn = self.rate.value / turns_per_s;
            return (per_turn > COMMITS_PER_TURN)
                .then(|| wording::faster_than_platters(self.rate.value, rpm));
        }
        (is_volatile && median < COSTS_NOTHING).then(|| wording::costs_nothing(self.test.by, median))
    }
}

fn drawn(lines: &[Commits]) -> Series {
    let points = lines.iter().enumerate().map(|(at, line)| [at as f64, line.rate.value]);
    Series::new(wording::TITLE, Shape::Bars, axis("writers", ""), axis("commits", "1/s"))
        .lines(vec![Line::new(wording::COMMITS, points.collect())])
        .categories(lines.iter().map(|line| wording::writers(line.test.writers)).collect::<Vec<_>>())
}

// The figures that makers of databases and other programs publish for the durable writes that these need

/// What a drive is to be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// The log of etcd, and so a Kubernetes control plane
    Etcd,
    /// The same of a heavily loaded cluster
    EtcdHeavy,
    /// Virtual machines, by the figure of Proxmox VE (also: vm)
    #[serde(alias = "vm")]
    #[value(alias = "vm")]
    Proxmox,
    /// The log of Microsoft SQL Server
    SqlServer,
    /// The write-ahead log of PostgreSQL
    Postgres,
    /// The redo log of MySQL or MariaDB
    Mysql,
    /// A separate log device (SLOG) of ZFS
    ZfsSlog,
    /// The log of Apache Kafka
    Kafka,
}

/// A published figure that a drive must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Need {
    /// At least this many commits a second of one writer.
    CommitsPerS(f64),
    /// 99 of 100 flushes take at most this long.
    FlushP99(Nanos),
    /// A write and its flush take at most this long on average.
    CommitMean(Nanos),
}

impl Use {
    /// The published figures and their source; no figures if nothing is published.
    fn needs(self) -> (&'static [Need], &'static str) {
        const ETCD: &str = "https://docs.okd.io/latest/etcd/etcd-practices.html";
        match self {
            Self::Etcd => {
                (const { &[Need::CommitsPerS(50.0), Need::FlushP99(Nanos::from_millis(10))] }, ETCD)
            }
            Self::EtcdHeavy => {
                (const { &[Need::CommitsPerS(500.0), Need::CommitMean(Nanos::from_millis(2))] }, ETCD)
            }
            Self::Proxmox => (&[Need::CommitsPerS(200.0)], "https://pve.proxmox.com/pve-docs/pveperf.1.html"),
            Self::SqlServer => (
                const { &[Need::CommitMean(Nanos::from_millis(10))] },
                "https://learn.microsoft.com/en-us/troubleshoot/sql/performance/troubleshoot-sql-io-performance",
            ),
            Self::Postgres => (&[], "https://www.postgresql.org/docs/current/wal-reliability.html"),
            Self::Mysql => (&[], "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html"),
            Self::ZfsSlog => {
                (&[], "https://openzfs.github.io/openzfs-docs/Basic%20Concepts/Pool%20Structure/Caching.html")
            }
            Self::Kafka => (&[], "https://kafka.apache.org/documentation.html#appvsosflush"),
        }
    }
}
