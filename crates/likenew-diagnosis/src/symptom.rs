//! What is not as it should be, before anybody asks why.

use super::{Case, Indicator, Measured, Metric};

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

/// From this ratio on, a difference is one that somebody would notice.
const NOTICEABLE: f64 = 1.3;
/// Old data and patches scatter by themselves; a fault does more than that.
const STRIKING: f64 = 1.5;
/// Share of the time that others may have.
const BACKGROUND_SHARE_MAX: f64 = 0.05;
const STALLED_SHARE_MIN: f64 = 0.05;
/// Standard deviation over mean of the speed in windows of sequential reads; a healthy drive's is a few percent.
const UNEVEN: f64 = 0.25;
/// A symptom has to be there with this probability.
const SURE: f64 = 0.9;

/// Everything that wants an explanation, the metrics first.
pub fn symptoms(case: &Case<'_>) -> Vec<Symptom> {
    let measurements = case.measurements;
    let is = |measurement: Option<Measured>, threshold: f64| {
        measurement.is_some_and(|of| of.chance_above(threshold) >= SURE)
    };
    let shows = |indicator: Indicator, threshold: f64| is(case.beyond_normal(indicator), threshold);
    let mut found: Vec<Symptom> = Metric::ALL
        .into_iter()
        .filter(|metric| {
            case.shortfall(*metric).is_some_and(|(share, reference)| {
                share.chance_above(reference.origin.share_least()) <= 1.0 - SURE
            })
        })
        .map(Symptom::Below)
        .collect();
    found.extend(
        [
            (shows(Indicator::NewOverOldData, STRIKING), Symptom::NewDataFaster),
            (shows(Indicator::NewOverOldDataRandom, STRIKING), Symptom::NewDataFaster),
            (shows(Indicator::MedianOverSlowest, STRIKING), Symptom::SlowRegions),
            (shows(Indicator::RepeatOverFirst, STRIKING), Symptom::RepeatReadFaster),
            (shows(Indicator::WriteCliff, NOTICEABLE), Symptom::WriteCliff),
            (shows(Indicator::RestedOverLoaded, NOTICEABLE), Symptom::SlowsUnderLoad),
            (shows(Indicator::WideOverNarrow, STRIKING) && !case.is_disk(), Symptom::SlowOverWideSpan),
            (shows(Indicator::IdleOverBusy, STRIKING), Symptom::SlowAfterIdle),
            (shows(Indicator::AlignedOverShifted, NOTICEABLE), Symptom::SlowWhenAligned),
            (shows(Indicator::BurstOverFlat, NOTICEABLE), Symptom::FlatAfterBurst),
            (is(measurements.background_share, BACKGROUND_SHARE_MAX), Symptom::BackgroundIo),
            (shows(Indicator::StalledShare, STALLED_SHARE_MIN), Symptom::Stalls),
            (shows(Indicator::ReadScatter, UNEVEN), Symptom::Uneven),
            (measurements.errors > 0, Symptom::Errors),
            (measurements.wrong_sectors > 0, Symptom::WrongData),
            (is(case.fastest_over_link(), 1.05), Symptom::FasterThanLink),
        ]
        .into_iter()
        .filter_map(|(is_there, symptom)| is_there.then_some(symptom)),
    );
    found.dedup();
    found
}
