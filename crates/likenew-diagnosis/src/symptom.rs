//! What is not as it should be, before anybody asks why.

use super::Metric;

/// Something that was measured and wants an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// A metric is below its reference.
    Below(Metric),
    /// What was just written is read faster than what was there.
    NewDataFaster,
    /// Some regions are read much slower than others.
    SlowRegions,
    /// What is read again is read faster.
    RepeatReadFaster,
    /// Writes become slower for good after some bytes.
    WriteCliff,
    /// Everything becomes slower with time under load.
    SlowsUnderLoad,
    /// Small reads take longer the farther they are spread.
    SlowOverWideSpan,
    /// Reads take longer after a pause.
    SlowAfterIdle,
    /// Small writes are slower where they should be fastest.
    SlowWhenAligned,
    /// After a burst the rate is flat, as no medium is.
    FlatAfterBurst,
    /// It is busy while nothing is asked of it.
    BackgroundIo,
    /// It stops now and then.
    Stalls,
    /// Its speed goes up and down.
    Uneven,
    /// It refuses I/Os.
    Errors,
    /// It brings back something else than what was written.
    WrongData,
    /// It is faster than its link.
    FasterThanLink,
}
