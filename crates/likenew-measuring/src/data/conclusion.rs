//! Whether compressibility matters, by the interval of the ratio of two speeds.

use likenew_core::answer::Answer;
use likenew_core::drive::{Identity, Kind};
use likenew_core::io::Op;
use likenew_core::quantity::{Factor, Share};
use likenew_core::units::Nanos;
use likenew_procedure_support::rerun::Rerun;
use likenew_stats::interval::{CONFIDENCE_95, Interval, ratio_interval};
use likenew_stats::summary::mean;

use super::DataOptions;
use super::curve::Curve;
use super::wording::{self, Compressor};

/// Differences below this share do not matter: two one-sided tests of equivalence (Schuirmann, Journal of
/// Pharmacokinetics and Biopharmaceutics 15 (1987) 657–680), made with the 95% interval, which is the stricter one.
const MARGIN: f64 = 0.05;

/// A ratio of speeds and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    value: f64,
    interval: Interval,
}

/// What a ratio of two speeds shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpeedRelation {
    Faster,
    Slower,
    Alike,
    Unclear,
}

impl Ratio {
    fn from_speeds(of: &[f64], to: &[f64]) -> Option<Self> {
        // The interval is a formula, so equal plans give equal results.
        let interval = ratio_interval(of, to, CONFIDENCE_95)?;
        Some(Self { value: mean(of)? / mean(to)?, interval })
    }

    fn relation(&self) -> SpeedRelation {
        let Interval { low, high } = self.interval;
        if low >= 1.0 / (1.0 + MARGIN) && high <= 1.0 + MARGIN {
            SpeedRelation::Alike
        } else if low > 1.0 {
            SpeedRelation::Faster
        } else if high < 1.0 {
            SpeedRelation::Slower
        } else {
            SpeedRelation::Unclear
        }
    }

    /// How far from 1 it may be, as a share.
    fn distance(&self) -> f64 {
        (self.interval.high - 1.0).max(1.0 / self.interval.low - 1.0)
    }
}

/// The same run with changed options.
pub(super) type RerunWith<'a> = dyn Fn(&dyn Fn(&mut DataOptions)) -> Rerun + 'a;

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Conclusion {
    /// The less the data compresses to, the faster: zeros to random data.
    Compresses(Ratio),
    /// Zeros are faster, and all other data is alike.
    OnlyZeros(Ratio),
    /// Zeros are faster, and whether that is compression is open.
    Zeros(Ratio),
    /// Zeros are slower.
    Slower(Ratio),
    /// Compressibility does not matter; the ratio furthest from 1.
    Indifferent(Ratio),
    /// Not decided; with the ratio, if there is one.
    Open(Option<Ratio>),
}

impl Conclusion {
    pub(super) fn from_curve(curve: &Curve) -> Self {
        let (first, last) = (curve.steps[0].values(), curve.steps[curve.steps.len() - 1].values());
        let Some(zeros) = Ratio::from_speeds(&first, &last) else { return Self::Open(None) };
        let little =
            (curve.steps.len() > 2).then(|| Ratio::from_speeds(&curve.steps[1].values(), &last)).flatten();
        match (zeros.relation(), little.map(|little| (little, little.relation()))) {
            (SpeedRelation::Faster, Some((_, SpeedRelation::Faster))) => Self::Compresses(zeros),
            (SpeedRelation::Faster, Some((_, SpeedRelation::Alike))) => Self::OnlyZeros(zeros),
            (SpeedRelation::Faster, _) => Self::Zeros(zeros),
            (SpeedRelation::Slower, _) => Self::Slower(zeros),
            (SpeedRelation::Alike, None) => Self::Indifferent(zeros),
            (SpeedRelation::Alike, Some((little, SpeedRelation::Alike))) => {
                Self::Indifferent(if little.distance() > zeros.distance() { little } else { zeros })
            }
            _ => Self::Open(Some(zeros)),
        }
    }

    /// Whether it matters.
    pub(super) fn is_significant(&self) -> bool {
        matches!(self, Self::Compresses(_) | Self::OnlyZeros(_) | Self::Zeros(_) | Self::Slower(_))
    }

    /// Largest distance from 1 of the ratio of zeros to random data on an indifferent curve.
    pub(super) fn indifference(&self) -> Option<f64> {
        // Smallest distance that is reported, as a share. Chosen: less is not worth telling apart.
        const DISTANCE_MIN: f64 = 0.001;
        match self {
            Self::Indifferent(ratio) => Some(ratio.distance().max(DISTANCE_MIN)),
            _ => None,
        }
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// The answer for one operation of one test.
    pub(super) fn answer(&self, curve: &Curve, compressor: Compressor<'_>, rerun: &RerunWith<'_>) -> Answer {
        let more_passes = |passes| rerun(&move |options| options.passes = passes);
        let subject = curve.subject();
        let factor = |ratio: &Ratio| Factor(ratio.value);
        let ends = wording::ends(subject, curve.ends());
        let known = |answer: Answer, ratio: &Ratio| {
            let Interval { low, high } = ratio.interval;
            answer.estimate(ratio.value, low, high, "×").with_evidence(ends.clone())
        };
        let differs = |answer: Answer, ratio: &Ratio| match compressor {
            Compressor::Drive => known(answer, ratio),
            Compressor::FileSystemOrDrive(name) => {
                known(answer, ratio).caveat(wording::file_system_compresses(name))
            }
        };
        match self {
            Self::Compresses(ratio) => {
                let answer = differs(wording::compresses(subject, factor(ratio), compressor), ratio);
                if is_too_fast_for_generator(curve) {
                    answer.caveat(wording::random_data_costs_time())
                } else {
                    answer
                }
            }
            Self::OnlyZeros(ratio) => {
                let step = Share(curve.percent(1) / 100.0);
                differs(wording::only_zeros(subject, factor(ratio)), ratio)
                    .with_evidence(wording::slightly_compressible_gains_nothing(step))
            }
            Self::Zeros(ratio) => {
                let answer = differs(wording::zeros_faster(subject, factor(ratio)), ratio);
                let again = rerun(&|options| (options.steps, options.passes) = (STEPS_MANY, PASSES_MANY));
                wording::with_more_steps(answer, &again)
            }
            Self::Slower(ratio) => differs(wording::zeros_slower(subject, factor(ratio)), ratio),
            Self::Indifferent(ratio) => {
                let within = Share(self.indifference().unwrap_or_default());
                known(wording::indifferent(subject, within), ratio)
            }
            Self::Open(Some(Ratio { interval: Interval { low, high }, .. })) => {
                let answer = wording::ratio_unclear(subject, curve.ends())
                    .with_evidence(wording::ratio_range(Factor(*low), Factor(*high)))
                    .with_evidence(ends);
                wording::with_more_passes(answer, &more_passes(PASSES_MANY))
            }
            Self::Open(None) if curve.steps[0].values().len() > 1 => {
                let answer = wording::passes_scatter(subject).with_evidence(ends);
                let again = rerun(&|options| {
                    (options.passes, options.time) = (PASSES_MANY, options.time.max(TIME_LONG));
                });
                wording::with_longer_passes(answer, &again)
            }
            Self::Open(None) => {
                let answer = wording::one_pass(subject, curve.ends()).caveat(wording::measured_once());
                wording::with_more_passes(answer, &more_passes(PASSES_FEW))
            }
        }
    }
}

/// Number of passes to advise after one pass, and after several that were not enough.
const PASSES_FEW: u32 = 3;
const PASSES_MANY: u32 = 10;
/// Steps between zeros and random data that tell compression from zeros alone: those of AS SSD's graph.
const STEPS_MANY: u32 = 11;
/// A pass this long evens out what shorter ones show; our choice.
const TIME_LONG: Nanos = Nanos::from_secs(5);

/// A folder has a file system between it and the drive, and some of those compress.
pub(super) fn compressor(identity: &Identity) -> Compressor<'_> {
    const COMPRESSING: [&str; 5] = ["btrfs", "zfs", "bcachefs", "f2fs", "ntfs3"];
    let name = identity.facts.iter().find(|(name, _)| name == "file system").map(|(_, kind)| kind.as_str());
    match name.filter(|name| identity.kind == Kind::Folder && COMPRESSING.contains(name)) {
        Some(name) => Compressor::FileSystemOrDrive(name),
        None => Compressor::Drive,
    }
}

/// Rate in bytes a second above which the time to generate random data shows; measured by the calibration.
const HIGH_BYTES_PER_S: f64 = 1e9;

/// Data to write must be generated, and random data takes more work than zeros.
fn is_too_fast_for_generator(curve: &Curve) -> bool {
    let is_fast = curve.steps[0].bytes_per_s().is_some_and(|speed| speed > HIGH_BYTES_PER_S);
    curve.op == Op::Write && is_fast
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_decides_only_where_its_interval_does() {
        let relation =
            |low, high| Ratio { value: (low + high) / 2.0, interval: Interval { low, high } }.relation();
        assert_eq!(relation(2.9, 3.1), SpeedRelation::Faster);
        assert_eq!(relation(1.01, 1.04), SpeedRelation::Alike);
        assert_eq!(relation(1.01, 1.2), SpeedRelation::Faster);
        assert_eq!(relation(0.5, 0.9), SpeedRelation::Slower);
        assert_eq!(relation(0.8, 1.2), SpeedRelation::Unclear);
    }
}
