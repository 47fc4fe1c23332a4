//! Whether compressibility matters, said with the interval that says so.

use likenew_core::drive::{Identity, Kind};
use likenew_core::io::Op;
use likenew_core::units::{amount, rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::{Interval, ratio_interval};
use likenew_stats::summary::mean;

use super::curve::{CONFIDENCE, Curve};

/// Differences that surely stay below this do not matter: two one-sided tests of equivalence (Schuirmann, Journal of
/// Pharmacokinetics and Biopharmaceutics 15 (1987) 657–680), made with the 95 % interval, which is on the safe side.
const MARGIN: f64 = 0.05;

/// A ratio of speeds and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    value: f64,
    interval: Interval,
}

/// What the ratio of two speeds says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpeedRelation {
    Faster,
    Slower,
    Alike,
    Nothing,
}

impl Ratio {
    fn from_speeds(of: &[f64], to: &[f64]) -> Option<Self> {
        // The interval is a formula, and takes nothing from a seed.
        let interval = ratio_interval(of, to, CONFIDENCE)?;
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
            SpeedRelation::Nothing
        }
    }

    /// How far from 1 it may be, as a share.
    fn distance(&self) -> f64 {
        (self.interval.high - 1.0).max(1.0 / self.interval.low - 1.0)
    }
}

/// What a curve says.
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
    /// It does not matter; the ratio that is furthest from 1.
    Indifferent(Ratio),
    /// Not decided; the ratio where there is one.
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

    /// In words; nothing where it does not matter, which [`indifference`] says of all curves at once.
    pub(super) fn verdict(&self, curve: &Curve, who: &Attribution) -> Option<Verdict> {
        let done = if curve.op == Op::Read { "read" } else { "written" };
        let how = method_text(curve);
        let times = |ratio: &Ratio| three_digits(ratio.value);
        let holds = |claim: String, ratio: &Ratio| {
            let Interval { low, high } = ratio.interval;
            let verdict = Verdict::new(claim, Standing::Holds)
                .estimate(ratio.value, low, high, "times")
                .with_evidence(ends(curve));
            who.caveat.iter().fold(verdict, Verdict::caveat)
        };
        Some(match self {
            Self::Compresses(ratio) => {
                let (who, times) = (who.name, times(ratio));
                let claim = format!(
                    "{who} compresses: zeros are {done} {times} times as fast as random data ({how})."
                );
                at_high_speed(holds(claim, ratio), curve)
            }
            Self::OnlyZeros(ratio) => {
                let times = times(ratio);
                let claim = format!("Zeros are {done} {times} times as fast as any other data ({how}).");
                let because = format!(
                    "data that compresses to {:.0} % is as slow as random data: zeros are recognised, and nothing is compressed",
                    curve.percent(1)
                );
                holds(claim, ratio).with_evidence(because)
            }
            Self::Zeros(ratio) => {
                let times = times(ratio);
                let claim = format!("Zeros are {done} {times} times as fast as random data ({how}).");
                holds(claim, ratio)
                    .caveat("whether data is compressed or only zeros are recognised is open: more steps or passes tell")
            }
            Self::Slower(ratio) => {
                let times = times(ratio);
                holds(format!("Zeros are {done} only {times} times as fast as random data ({how})."), ratio)
            }
            Self::Open(ratio) => open(curve, ratio.as_ref()),
            Self::Indifferent(_) => return None,
        })
    }
}

/// Whose doing a difference is.
pub(super) struct Attribution {
    name: &'static str,
    caveat: Option<String>,
}

/// Between a folder and the drive lies a file system, and some of those compress.
pub(super) fn attribution(identity: &Identity) -> Attribution {
    const COMPRESSING: [&str; 5] = ["btrfs", "zfs", "bcachefs", "f2fs", "ntfs3"];
    let kind = identity.facts.iter().find(|(name, _)| name == "file system").map(|(_, kind)| kind.as_str());
    let kind = kind.filter(|kind| identity.kind == Kind::Folder && COMPRESSING.contains(kind));
    Attribution {
        name: if kind.is_some() { "The file system or the drive" } else { "The drive" },
        caveat: kind.map(|kind| {
            format!("{kind} can compress by itself: in a folder where it does not, only the drive's part would be left")
        }),
    }
}

fn method_text(curve: &Curve) -> String {
    let test = curve.test;
    format!("{}, {}, {} in flight", test.pattern, amount(test.block), test.depth)
}

/// Both ends of a curve in words.
fn ends(curve: &Curve) -> String {
    let message = |step: usize| {
        let speeds = &curve.steps[step];
        let value = speeds.bytes_per_s().map_or("nothing".into(), rate);
        speeds
            .interval()
            .map_or(value.clone(), |of| format!("{value} ({} to {})", rate(of.low), rate(of.high)))
    };
    format!("zeros: {}; random data: {}", message(0), message(curve.steps.len() - 1))
}

/// Above this the time that it takes to make random data shows.
const HIGH_BYTES_PER_S: f64 = 1e9;

/// Bytes that are written have to be made, random ones with more work than zeros.
fn at_high_speed(verdict: Verdict, curve: &Curve) -> Verdict {
    let fast = curve.steps[0].bytes_per_s().is_some_and(|speed| speed > HIGH_BYTES_PER_S);
    if curve.op == Op::Read || !fast {
        return verdict;
    }
    verdict.caveat(
        "at such speeds making random data takes a part of the time (how fast that goes stands in the calibration of the \
         instrument); reads do not have that difference",
    )
}

/// What would decide it.
const MORE: &str =
    "more passes, or longer ones, narrow that down: give --passes 10, or --span 8GiB --time 5s";

fn open(curve: &Curve, ratio: Option<&Ratio>) -> Verdict {
    let claim = format!("Compressibility matters to {}.", curve.name());
    let verdict = Verdict::new(claim, Standing::Undecided);
    match ratio {
        Some(ratio) => verdict
            .with_evidence(format!(
                "zeros are between {} and {} times as fast as random data",
                three_digits(ratio.interval.low),
                three_digits(ratio.interval.high)
            ))
            .with_evidence(ends(curve))
            .caveat(
                "more passes, or a longer time for each, narrow that down: give --passes 10 or --time 5s",
            ),
        None if curve.steps[0].values().len() > 1 => verdict
            .with_evidence(ends(curve))
            .with_evidence("the passes scatter so widely that no ratio can be given")
            .caveat(MORE),
        None => verdict
            .with_evidence(ends(curve))
            .with_evidence("it was measured once: nothing says how the next pass would differ")
            .caveat("give --passes 3 or more"),
    }
}

/// All curves to which it does not matter, in one sentence.
pub(super) fn indifference(conclusions: &[(&Curve, Conclusion)], files_known: bool) -> Option<Verdict> {
    let indifferent: Vec<(&Curve, Ratio)> = conclusions
        .iter()
        .filter_map(|(curve, found)| match found {
            Conclusion::Indifferent(ratio) => Some((*curve, *ratio)),
            _ => None,
        })
        .collect();
    let furthest = indifferent.iter().max_by(|a, b| a.1.distance().total_cmp(&b.1.distance()))?.1;
    let within = (furthest.distance() * 100.0).max(0.1);
    let names: Vec<String> = indifferent.iter().map(|(curve, _)| curve.name()).collect();
    let claim = format!("Compressibility does not matter (within {within:.1} %) to {}.", list(&names));
    let Interval { low, high } = furthest.interval;
    let mut verdict = Verdict::new(claim, Standing::Holds).estimate(furthest.value, low, high, "times");
    for (curve, _) in &indifferent {
        verdict = verdict.with_evidence(format!("{}: {}", curve.name(), ends(curve)));
    }
    let all = indifferent.len() == conclusions.len();
    Some(if all && files_known {
        verdict.with_evidence("so what your files compress to does not matter here either")
    } else {
        verdict
    })
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_people_do() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!([list(&names[..1]), list(&names[..2]), list(&names)], ["a", "a and b", "a, b and c"]);
    }

    #[test]
    fn a_ratio_says_something_only_where_its_interval_does() {
        let says =
            |low, high| Ratio { value: (low + high) / 2.0, interval: Interval { low, high } }.relation();
        assert_eq!(says(2.9, 3.1), SpeedRelation::Faster);
        assert_eq!(says(1.01, 1.04), SpeedRelation::Alike);
        assert_eq!(says(1.01, 1.2), SpeedRelation::Faster);
        assert_eq!(says(0.5, 0.9), SpeedRelation::Slower);
        assert_eq!(says(0.8, 1.2), SpeedRelation::Nothing);
    }
}
