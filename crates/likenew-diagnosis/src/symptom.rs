//! What is wrong, before any cause.

use super::{Case, Indicator, Measured, Metric};

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

/// Ratio from which users notice a difference. Chosen: 30%.
const NOTICEABLE: f64 = 1.3;
/// Ratio for symptoms that scatter on healthy drives, such as old data and regions. Chosen: a fault makes a
/// larger difference.
const STRIKING: f64 = 1.5;
/// Share of the time that other I/O may take. Chosen: less is not noticed.
const BACKGROUND_SHARE_MAX: f64 = 0.05;
/// Share of the time in stalls from which they are a symptom. Chosen: one second in twenty.
const STALLED_SHARE_MIN: f64 = 0.05;
/// Standard deviation over mean of the rate in windows of sequential reads from which it is uneven; on a
/// healthy drive it is a few percent.
const UNEVEN: f64 = 0.25;
/// Probability, in 0..1, with which a symptom must be present. Chosen: the same as for naming a cause.
const SURE: f64 = 0.9;

/// Everything that needs an explanation, the metrics first.
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
