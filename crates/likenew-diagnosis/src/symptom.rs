//! What is not as it should be, before anybody asks why.

use super::{Case, Figure, Shape, Sign};

/// Something that was measured and wants an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// A figure is below its reference.
    Below(Figure),
    /// What was just written is read faster than what was there.
    FreshIsFaster,
    /// Some places are read much slower than others.
    Patchy,
    /// What is read again is read faster.
    SecondIsFaster,
    /// Writes become slower for good after some bytes.
    WritesDrop,
    /// Everything becomes slower with time under load.
    Tires,
    /// Small reads take longer the farther they are spread.
    SpreadCosts,
    /// Reads take longer after a pause.
    PausesCost,
    /// Small writes are slower where they should be fastest.
    AlignmentCosts,
    /// After a burst the rate is flat, as no medium is.
    FlatAfterBurst,
    /// It is busy while nothing is asked of it.
    OthersToo,
    /// It stops now and then.
    Stalls,
    /// Its speed goes up and down.
    Uneven,
    /// It refuses I/Os.
    Errors,
    /// It brings back something else than what was written.
    WrongData,
    /// It is faster than its link.
    TooFast,
}

/// From this ratio on, a difference is one that somebody would notice.
const NOTICEABLE: f64 = 1.3;
/// Old data and patches scatter by themselves; a fault does more than that.
const STRIKING: f64 = 1.5;
/// Share of the time that others may have.
const OTHERS: f64 = 0.05;
const STALLED: f64 = 0.05;
/// Standard deviation over mean of the speed in windows of reads in order; a healthy drive's is a few percent.
const UNEVEN: f64 = 0.25;
/// A symptom has to be there with this probability.
const SURE: f64 = 0.9;

impl Symptom {
    /// As the end of a sentence that begins with "it shows that".
    pub fn words(self) -> String {
        match self {
            Self::Below(figure) => format!("{} are slow", figure.words()),
            Self::FreshIsFaster => "what was just written is read faster than what was there".into(),
            Self::Patchy => "some places are read much slower than others".into(),
            Self::SecondIsFaster => "what is read a second time is read faster".into(),
            Self::WritesDrop => "writes become slower after some bytes".into(),
            Self::Tires => "it becomes slower with time under load".into(),
            Self::SpreadCosts => "small reads take longer the farther they are spread".into(),
            Self::PausesCost => "reads take longer after a pause".into(),
            Self::AlignmentCosts => "small writes are slowest where they should be fastest".into(),
            Self::FlatAfterBurst => "after a burst its rate is flat, as no medium is".into(),
            Self::OthersToo => "it is busy while nothing is asked of it".into(),
            Self::Stalls => "it stops now and then".into(),
            Self::Uneven => "reads in order go faster and slower from moment to moment".into(),
            Self::Errors => "it refuses I/Os".into(),
            Self::WrongData => "it brings back something else than what was written".into(),
            Self::TooFast => "it is faster than its link".into(),
        }
    }
}

/// Everything that wants an explanation, the figures first.
pub fn symptoms(case: &Case<'_>) -> Vec<Symptom> {
    let signs = case.signs;
    let is = |sign: Option<Sign>, threshold: f64| sign.is_some_and(|of| of.chance_above(threshold) >= SURE);
    let shows = |shape: Shape, threshold: f64| is(case.beyond_usual(shape), threshold);
    let mut found: Vec<Symptom> = Figure::ALL
        .into_iter()
        .filter(|figure| {
            case.shortfall(*figure).is_some_and(|(share, reference)| {
                share.chance_above(reference.origin.share_least()) <= 1.0 - SURE
            })
        })
        .map(Symptom::Below)
        .collect();
    found.extend(
        [
            (shows(Shape::FreshOverOld, STRIKING), Symptom::FreshIsFaster),
            (shows(Shape::FreshSmallOverOld, STRIKING), Symptom::FreshIsFaster),
            (shows(Shape::MedianOverSlowest, STRIKING), Symptom::Patchy),
            (shows(Shape::AgainOverFirst, STRIKING), Symptom::SecondIsFaster),
            (shows(Shape::WriteDrop, NOTICEABLE), Symptom::WritesDrop),
            (shows(Shape::CoolOverWarm, NOTICEABLE), Symptom::Tires),
            (shows(Shape::WideOverNarrow, STRIKING) && !case.is_disk(), Symptom::SpreadCosts),
            (shows(Shape::PausedOverBusy, STRIKING), Symptom::PausesCost),
            (shows(Shape::AlignedOverShifted, NOTICEABLE), Symptom::AlignmentCosts),
            (shows(Shape::BurstOverFlat, NOTICEABLE), Symptom::FlatAfterBurst),
            (is(signs.others_share, OTHERS), Symptom::OthersToo),
            (shows(Shape::StalledShare, STALLED), Symptom::Stalls),
            (shows(Shape::ReadScatter, UNEVEN), Symptom::Uneven),
            (signs.errors > 0, Symptom::Errors),
            (signs.wrong_sectors > 0, Symptom::WrongData),
            (is(case.fastest_over_link(), 1.05), Symptom::TooFast),
        ]
        .into_iter()
        .filter_map(|(is_there, symptom)| is_there.then_some(symptom)),
    );
    found.dedup();
    found
}
