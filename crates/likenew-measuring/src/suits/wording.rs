//! The sentences of suits.

use clap::ValueEnum as _;
use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Factor, Latency, Size, count};
use likenew_core::units::{Nanos, Number, digits};
use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::wording::{capitalize, estimated, list};

use super::{Judged, Need, Use};
use crate::commits::{CommitBy, Commits, P99};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "suits",
    question: "Is it fast enough for databases, logs and virtual machines, which wait until each write is durable?",
    writes: "the tested span once, then at most 5,000 small writes in each pass; in a folder only to temporary files",
    manual: include_str!("../suits.md"),
};

pub(super) const TITLE: &str = "Durable writes";
pub(super) const COMMITS: &str = "commits";

likenew_core::sentences! {
    pub(super) fn pass_name(writers: u32, pass: u32, passes: u32) =
        "{} {pass}/{passes}", self::writers(writers);
    pub(super) fn no_power_of_two(block: u64) = "block = {block} must be a power of two, such as 8KiB";
    pub(super) fn writers(writers: u32) = "{}", count(writers.into(), "writer");
}

impl Use {
    /// The id of its answer.
    pub(super) fn answer_id(self) -> String {
        let typed = self.to_possible_value().expect("every use can be typed");
        format!("suits_{}", typed.get_name().replace('-', "_"))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::EtcdHeavy => "busy etcd",
            Self::Proxmox => "Proxmox VE",
            Self::SqlServer => "SQL Server log",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::ZfsSlog => "ZFS SLOG",
            Self::Kafka => "Kafka",
        }
    }
}

impl Need {
    fn words(self) -> String {
        match self {
            Self::CommitsPerS(least) => format!("the {} commits/s that it needs", Number(least)),
            Self::FlushP99(most) => format!("as fast as flushes have to be: p99 {most}"),
            Self::CommitMean(most) => format!("as fast as a commit has to be: mean {most}"),
        }
    }
}

/// `118 durable writes/s (flush p99 8.16 ms): enough for etcd, too slow for busy etcd.`
pub(super) fn summary(commits: &Commits, judged: &[Judged<'_>]) -> String {
    let names = |wanted: bool| -> Vec<&str> {
        judged.iter().filter(|judged| judged.suits == Some(wanted)).map(|judged| judged.of.name()).collect()
    };
    let (yes, no) = (names(true), names(false));
    let (rate, p99) = (Number(commits.rate.value.round()), commits.wait.latency.quantile(P99));
    let speed = format!("{rate} durable writes/s ({} p99 {p99})", commits.test.by.wait());
    match (yes.is_empty(), no.is_empty()) {
        (true, true) => format!("{speed}."),
        (false, true) => format!("{speed}: enough for {}.", list(&yes)),
        (true, false) => format!("{speed}: too slow for {}.", list(&no)),
        (false, false) => format!("{speed}: enough for {}, too slow for {}.", list(&yes), list(&no)),
    }
}

/// Yes or no, by the figure that is met least; a margin above 1 meets it.
pub(super) fn verdict(judged: &Judged<'_>, is_asked: bool, commits: &Commits) -> Answer {
    let Judged { of: purpose, suits, margins, source } = judged;
    let (id, name) = (purpose.answer_id(), purpose.name());
    let tightest = margins.iter().min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let Some(tightest) = tightest else {
        let (rate, p99) = (Number(commits.rate.value.round()), commits.wait.latency.quantile(P99));
        let (text, waits) = match purpose {
            Use::Kafka => (
                format!("{rate} writes/s if each is flushed; no figure is published"),
                "Its documentation advises the default, which leaves flushes to the system: replicas make records \
                 durable. Then sequential writes count: likenew bench."
                    .to_owned(),
            ),
            _ => (
                format!("{rate} commits/s of one session; no figure is published"),
                format!("A commit waits for a {}, {p99} or less in 99 of 100 times.", commits.test.by.wait()),
            ),
        };
        return Answer::info(id, name, text)
            .with_evidence(waits)
            .with_evidence(format!("What it asks of a drive: {source}."));
    };
    let reached = |(need, margin): &(Need, Estimate)| format!("{} {}", margin_words(margin), need.words());
    let text = reached(tightest);
    let answer = match suits {
        Some(true) => Answer::good(id, name, format!("yes, {text}")),
        Some(false) if is_asked => Answer::problem(id, name, format!("no, {text}")),
        Some(false) => Answer::info(id, name, format!("no, {text}")),
        None => Answer::unknown(id, name, format!("open, {text}")),
    };
    let sentences = margins.iter().map(|margin| capitalize(&format!("{}.", reached(margin))));
    let block = Size(commits.test.block.into());
    sentences
        .fold(answer, Answer::with_evidence)
        .with_evidence(format!(
            "Writes of {block} one after the other, each with {}.",
            commits.test.by.call()
        ))
        .with_evidence(format!("Source: {source}."))
}

/// `1.85× (1.80–1.90)`.
fn margin_words(margin: &Estimate) -> String {
    match margin.interval {
        // The interval of a time may reach 0, so that the margin has no upper end.
        Some(interval) if !interval.high.is_finite() => {
            format!("{} ({} or more)", Factor(margin.value), Factor(interval.low))
        }
        _ => estimated(*margin, Factor),
    }
}

/// What a durable write waits for, from the mean times of writes and flushes.
pub(super) fn limit(write_ns: f64, flush_ns: f64) -> Answer {
    let text = format!("a write takes {}, its flush {}", Latency(write_ns), Latency(flush_ns));
    let mut answer = Answer::info("limit", "Time of a durable write", text);
    if flush_ns > 10.0 * write_ns {
        answer.evidence.push(
            "The drive keeps writes in a volatile cache and writes it out for each flush; one with power-loss protection need not.".into(),
        );
    }
    answer
}

pub(super) const COSTS_NOTHING: &str = "flush_costs_nothing";

answers! {
    (COSTS_NOTHING, "Durability") => {
        /// A flush of a drive with a volatile cache whose median is too short to be real.
        pub(super) fn costs_nothing(by: CommitBy, median: Nanos) =
            unknown("a {} takes {median}, so nothing was written to the medium", by.wait())
            .with_evidence(
                "The system takes the drive's write cache for volatile. With power-loss protection or a battery that is right; without \
                 either, the drive, its controller or the hypervisor ignores flushes, and what was acknowledged can be lost when \
                 power fails.");
        pub(super) fn faster_than_platters(rate: f64, rpm: u32) =
            unknown("{} durable writes/s on a disk of {rpm} rpm, so not each reached the platters",
                    Number(rate.round()))
            .with_evidence(
                "Without a battery behind the cache that answers, what was acknowledged can be lost when power fails.");
    }
}

/// A line for each number of writers.
pub(super) fn table(lines: &[Commits]) -> OverviewTable {
    let median = lines.first().map_or_else(String::new, |line| format!("{} p50", line.test.by.wait()));
    let mut table = OverviewTable::new(["writers", "commits/s", &*median, "p99", "p99.9", "max"]);
    for line in lines {
        let speed = [line.test.writers.to_string(), digits(line.rate.value)];
        table.push(speed.into_iter().chain(line.latency_cells()));
    }
    table
}
