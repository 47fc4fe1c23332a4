//! Symptoms: what is wrong, before any cause is known. Metrics: the rates that drives are sold by, and the
//! references that they are compared with.

use likenew_core::io::Op;
use likenew_core::quantity::{Iops, Rate};
use serde::{Deserialize, Serialize};

/// A measurement that needs an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// A metric is below its reference.
    Below(Metric),
    /// Data just written is read faster than old data.
    NewDataFaster,
    /// Some regions are read much slower than others.
    SlowRegions,
    /// Data is read faster the second time.
    RepeatReadFaster,
    /// Writes become slower for good after some bytes.
    WriteCliff,
    /// The same addresses are written faster a second time.
    RewrittenFaster,
    /// Everything becomes slower with time under load.
    SlowsUnderLoad,
    /// Small reads take longer the wider they are spread.
    SlowOverWideSpan,
    /// Reads take longer after a pause.
    SlowAfterIdle,
    /// Small writes are slower at aligned addresses.
    SlowWhenAligned,
    /// After a burst, the rate is steadier than any medium.
    FlatAfterBurst,
    /// The drive is busy with I/O of other programs.
    BackgroundIo,
    /// The drive stalls now and then.
    Stalls,
    /// The drive's speed goes up and down.
    Uneven,
    /// The drive refuses I/Os.
    Errors,
    /// Data does not read back as written.
    WrongData,
    /// Reads are faster than the link.
    FasterThanLink,
}

impl Symptom {
    /// A stable name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Below(Metric::SequentialRead) => "slow_sequential_read",
            Self::Below(Metric::SequentialWrite) => "slow_sequential_write",
            Self::Below(Metric::SustainedWrite) => "slow_sustained_write",
            Self::Below(Metric::RandomRead) => "slow_random_read",
            Self::Below(Metric::RandomWrite) => "slow_random_write",
            Self::Below(Metric::RandomReadQd32) => "slow_random_read_qd32",
            Self::NewDataFaster => "old_data_slower",
            Self::SlowRegions => "slow_regions",
            Self::RepeatReadFaster => "repeat_read_faster",
            Self::WriteCliff => "write_cliff",
            Self::RewrittenFaster => "rewritten_faster",
            Self::SlowsUnderLoad => "slows_under_load",
            Self::SlowOverWideSpan => "slow_over_wide_span",
            Self::SlowAfterIdle => "slow_after_idle",
            Self::SlowWhenAligned => "slow_when_aligned",
            Self::FlatAfterBurst => "flat_after_burst",
            Self::BackgroundIo => "other_io",
            Self::Stalls => "stalls",
            Self::Uneven => "uneven_reads",
            Self::Errors => "failed_ios",
            Self::WrongData => "wrong_data",
            Self::FasterThanLink => "faster_than_link",
        }
    }

    /// As a noun phrase: `slow sustained writes`, `write cliff`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Below(Metric::SequentialRead) => "slow sequential reads",
            Self::Below(Metric::SequentialWrite) => "slow sequential writes",
            Self::Below(Metric::SustainedWrite) => "slow sustained writes",
            Self::Below(Metric::RandomRead) => "slow 4K random reads",
            Self::Below(Metric::RandomWrite) => "slow 4K random writes",
            Self::Below(Metric::RandomReadQd32) => "slow 4K random reads at QD32",
            Self::NewDataFaster => "old data slower than new data",
            Self::SlowRegions => "slow regions",
            Self::RepeatReadFaster => "second reads faster than first ones",
            Self::WriteCliff => "write cliff",
            Self::RewrittenFaster => "slow first writes",
            Self::SlowsUnderLoad => "slower under load",
            Self::SlowOverWideSpan => "slow random reads over wide spans",
            Self::SlowAfterIdle => "slow reads after idle",
            Self::SlowWhenAligned => "slow aligned writes",
            Self::FlatAfterBurst => "flat rate after a burst",
            Self::BackgroundIo => "other I/O on the drive",
            Self::Stalls => "stalls",
            Self::Uneven => "uneven sequential reads",
            Self::Errors => "failed I/Os",
            Self::WrongData => "wrong data",
            Self::FasterThanLink => "reads faster than the link",
        }
    }

    /// As a clause, without a full stop.
    pub fn words(self) -> String {
        match self {
            Self::Below(metric) => format!("{} are slow", metric.plural()),
            Self::NewDataFaster => "old data is read more slowly than new data".into(),
            Self::SlowRegions => "some regions are read much more slowly than others".into(),
            Self::RepeatReadFaster => "second reads are faster than first ones".into(),
            Self::WriteCliff => "writes slow down after some bytes".into(),
            Self::RewrittenFaster => "writes are slow, and faster where they are repeated".into(),
            Self::SlowsUnderLoad => "it slows down under load".into(),
            Self::SlowOverWideSpan => "4K random reads are slow over wide spans".into(),
            Self::SlowAfterIdle => "reads are slow after idle time".into(),
            Self::SlowWhenAligned => "aligned 4K writes are slower than shifted ones".into(),
            Self::FlatAfterBurst => "its rate is capped after a burst, as by a credit limit".into(),
            Self::BackgroundIo => "other I/O keeps the drive busy".into(),
            Self::Stalls => "the drive stalls".into(),
            Self::Uneven => "the speed of sequential reads is uneven".into(),
            Self::Errors => "I/Os fail".into(),
            Self::WrongData => "data does not read back as it was written".into(),
            Self::FasterThanLink => "reads are faster than the link allows".into(),
        }
    }
}

/// A rate with a reference; more is better. Sequential I/O is in bytes a second, random I/O in IOPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Bytes a second of sequential reads.
    SequentialRead,
    /// Bytes a second of sequential writes, before any cache is full.
    SequentialWrite,
    /// Bytes a second at the end of all sequential writes.
    SustainedWrite,
    /// 4 KiB random reads a second at queue depth 1.
    RandomRead,
    /// 4 KiB random writes a second at queue depth 1.
    RandomWrite,
    /// 4 KiB random reads a second at queue depth 32.
    RandomReadQd32,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::SequentialRead,
        Self::SequentialWrite,
        Self::SustainedWrite,
        Self::RandomRead,
        Self::RandomWrite,
        Self::RandomReadQd32,
    ];

    /// The operation.
    pub fn op(self) -> Op {
        match self {
            Self::SequentialRead | Self::RandomRead | Self::RandomReadQd32 => Op::Read,
            Self::SequentialWrite | Self::SustainedWrite | Self::RandomWrite => Op::Write,
        }
    }

    /// Its unit: `bytes/s`, or `1/s` for I/Os.
    pub fn unit(self) -> &'static str {
        match self {
            Self::SequentialRead | Self::SequentialWrite | Self::SustainedWrite => "bytes/s",
            Self::RandomRead | Self::RandomWrite | Self::RandomReadQd32 => "1/s",
        }
    }

    /// As a noun: `sustained write`.
    pub fn words(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::SustainedWrite => "sustained write",
            Self::RandomRead => "4K random read",
            Self::RandomWrite => "4K random write",
            Self::RandomReadQd32 => "4K random read QD32",
        }
    }

    /// As the subject of a sentence: `sustained writes`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential reads",
            Self::SequentialWrite => "sequential writes",
            Self::SustainedWrite => "sustained writes",
            Self::RandomRead => "4K random reads",
            Self::RandomWrite => "4K random writes",
            Self::RandomReadQd32 => "4K random reads at QD32",
        }
    }

    /// A value in its usual form: `77.2 MB/s`, `4,940 IOPS`.
    pub fn format_value(self, value: f64) -> String {
        match self {
            Self::SequentialRead | Self::SequentialWrite | Self::SustainedWrite => Rate(value).to_string(),
            Self::RandomRead | Self::RandomWrite | Self::RandomReadQd32 => Iops(value).to_string(),
        }
    }
}

/// Where a reference comes from, most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The earliest kept check of the same drive.
    Baseline,
    /// A check of another drive of its model, which the user names.
    OtherDrive,
    /// The same simulated drive, new, in the same check.
    Simulated,
    /// The median of drives of its model that others checked.
    Peers,
    /// Its data sheet.
    Advertised,
    /// A simulated drive of the model that a real drive reports, in the same check: a model of a model, so it
    /// is used only if the data sheet has no value.
    SimulatedModel,
    /// What new drives of its class reach. It says something only of a drive that is slower than all of them, and follows from
    /// facts, so no plan gives it.
    #[serde(skip_deserializing)]
    Class,
    /// The rate of the link: nothing can be faster, and few drives are as fast. It follows from facts, so no plan
    /// gives it.
    #[serde(skip_deserializing)]
    Link,
}

impl Origin {
    /// The share of such a reference from which a metric is healthy. Rated speeds hold under the best conditions,
    /// another drive is in another computer, and a link carries more than any drive moves. A simulated drive differs
    /// from itself when new only by what it holds. A simulated model knows neither the firmware nor the place of a
    /// folder on a disk, whose outer tracks hold twice as much as its inner ones.
    pub fn share_least(self) -> f64 {
        match self {
            Self::Baseline | Self::Peers => 0.85,
            Self::Simulated => 0.8,
            Self::OtherDrive | Self::Advertised => 0.7,
            Self::SimulatedModel => 0.5,
            Self::Class | Self::Link => 0.3,
        }
    }

    /// Whether it says how fast this drive should be: a link is a limit, and a class is many drives.
    pub fn is_of_this_drive(self) -> bool {
        !matches!(self, Self::Class | Self::Link)
    }

    /// The words after "26% of".
    pub fn words(self) -> &'static str {
        match self {
            Self::Baseline => "its baseline",
            Self::Simulated => "new",
            Self::OtherDrive => "what another drive of its model did",
            Self::Peers => "the median of its model",
            Self::Advertised => "its rated speed",
            Self::SimulatedModel => "a simulated new drive of its model",
            Self::Class => "the median of its class",
            Self::Link => "the link limit",
        }
    }

    /// The heading of a column of such values.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Simulated => "when new",
            Self::OtherDrive => "another drive",
            Self::Peers => "its model",
            Self::Advertised => "rated",
            Self::SimulatedModel => "new (simulated)",
            Self::Class => "usual",
            Self::Link => "link limit",
        }
    }
}

/// The reference of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Which metric.
    pub metric: Metric,
    /// Its origin.
    pub origin: Origin,
    /// In the unit of the metric.
    pub value: f64,
    /// How much the metric varies between checks of an unchanged drive: standard deviation of its logarithm.
    /// 0 if the reference was not measured, or repeats exactly.
    pub repeatability: f64,
    /// The share of it from which the metric is healthy, if not that of its origin.
    pub least: Option<f64>,
}

impl Reference {
    /// A reference that was not measured; the metric is healthy from the share of its origin.
    pub fn new(metric: Metric, origin: Origin, value: f64) -> Self {
        Self { metric, origin, value, repeatability: 0.0, least: None }
    }

    /// The share of it from which the metric is healthy.
    pub fn share_least(&self) -> f64 {
        self.least.unwrap_or_else(|| self.origin.share_least())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symptom_of_a_metric_names_it() {
        assert_eq!(Symptom::Below(Metric::SustainedWrite).title(), "slow sustained writes");
    }

    #[test]
    fn a_value_has_its_usual_form() {
        assert_eq!(Metric::RandomRead.format_value(4938.0), "4,940 IOPS");
    }
}
