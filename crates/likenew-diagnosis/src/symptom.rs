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
