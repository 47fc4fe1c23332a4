//! What is wrong, before any cause.

use super::Metric;

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
    /// The same places are written faster a second time.
    RewrittenFaster,
    /// Everything becomes slower with time under load.
    SlowsUnderLoad,
    /// Small reads take longer the wider they are spread.
    SlowOverWideSpan,
    /// Reads take longer after a pause.
    SlowAfterIdle,
    /// Small writes are slower at aligned addresses.
    SlowWhenAligned,
    /// After a burst the rate is flatter than any medium.
    FlatAfterBurst,
    /// The drive is busy with I/O of other programs.
    BackgroundIo,
    /// The drive stalls now and then.
    Stalls,
    /// Its speed goes up and down.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symptom_of_a_metric_names_it() {
        assert_eq!(Symptom::Below(Metric::SustainedWrite).title(), "slow sustained writes");
    }
}
