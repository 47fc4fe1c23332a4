//! Speed by compressibility: the curve of an operation, whether it shows that the data matters, and how fast the user's
//! files would be.

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Row};
use likenew_core::io::Op;
use likenew_core::quantity::{Factor, Rate, Share};
use likenew_core::units::Nanos;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::rerun::{PASSES_FEW, PASSES_MANY, Rerun};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::wording::MEASURED_ONCE;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;

use super::files::{FileScan, Weight};
use super::wording::{self, Compressor, Ends, Subject};
use super::{DataOptions, Pass};

/// Speed over compressibility.
pub(super) struct Curve {
    pub(super) subject: Subject,
    /// From zeros to random data.
    pub(super) steps: Vec<Speeds>,
    /// In the order they ran.
    pub(super) passes: Vec<Pass>,
}

/// The speeds of one step.
#[derive(Default)]
pub(super) struct Speeds {
    /// Pass number, and bytes a second.
    passes: Vec<(u32, f64)>,
}

impl Speeds {
    pub(super) fn values(&self) -> Vec<f64> {
        self.passes.iter().map(|(_, speed)| *speed).collect()
    }

    /// The mean of the passes, if there is one, in bytes a second.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        Estimate::of_passes(&self.values()).map(Estimate::not_negative)
    }

    fn of_pass(&self, pass: u32) -> Option<f64> {
        self.passes.iter().find(|(known, _)| *known == pass).map(|(_, speed)| *speed)
    }
}

impl Curve {
    pub(super) fn new(subject: Subject, steps: u32, passes: Vec<Pass>) -> Self {
        let mut speeds: Vec<Speeds> = (0..steps).map(|_| Speeds::default()).collect();
        for pass in &passes {
            speeds[pass.step as usize].passes.push((pass.pass, pass.bytes_per_s));
        }
        Self { subject, steps: speeds, passes }
    }

    /// What the data of a step compresses to, in percent.
    pub(super) fn percent(&self, step: usize) -> f64 {
        100.0 * step as f64 / (self.steps.len() - 1) as f64
    }

    /// Its first and its last step.
    pub(super) fn ends(&self) -> Ends {
        Ends { zeros: self.steps[0].estimate(), random: self.steps[self.steps.len() - 1].estimate() }
    }

    /// Nanoseconds a byte of every step, for each pass that has all steps.
    pub(super) fn times(&self) -> Vec<Vec<f64>> {
        let last = self.passes.iter().map(|pass| pass.pass).max().unwrap_or(0);
        let of_pass = |pass| {
            let times = self.steps.iter().map(|step| step.of_pass(pass).map(|speed| 1e9 / speed));
            times.collect::<Option<Vec<f64>>>()
        };
        (1..=last).filter_map(of_pass).collect()
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let speeds: Vec<Option<Estimate>> = self.steps.iter().map(Speeds::estimate).collect();
        let fastest = speeds.iter().flatten().map(|speed| speed.value).fold(0.0, f64::max);
        let row = |(step, speed): (usize, &Option<Estimate>)| {
            self.subject
                .columns()
                .with("compresses_to_percent", self.percent(step))
                .with_estimate("bytes_per_s", *speed)
                .with("share_of_fastest_percent", speed.map(|speed| 100.0 * speed.value / fastest))
        };
        speeds.iter().enumerate().map(row).collect()
    }

    pub(super) fn pass_rows(&self) -> Vec<Row> {
        let row = |pass: &Pass| {
            self.subject
                .columns()
                .with("pass", pass.pass)
                .with("turn", pass.turn)
                .with("compresses_to_percent", self.percent(pass.step as usize))
                .with("bytes_per_s", pass.bytes_per_s)
        };
        self.passes.iter().map(row).collect()
    }
}

impl Subject {
    fn columns(self) -> Row {
        Row::new().with("pattern", self.test.pattern).with("op", self.op)
    }
}

/// Differences below this share do not matter: two one-sided tests of equivalence (Schuirmann, Journal of
/// Pharmacokinetics and Biopharmaceutics 15 (1987) 657–680), made with the stricter 95% interval.
const MARGIN: f64 = 0.05;

/// The mean of some speeds over that of others; `None` of a single pass.
fn ratio(speeds: &[f64], others: &[f64]) -> Option<Estimate> {
    Estimate::of_ratio(speeds, others).filter(|ratio| ratio.interval.is_some())
}

fn verdict(ratio: Estimate) -> Verdict {
    ratio.differs(1.0 / (1.0 + MARGIN), 1.0 + MARGIN)
}

/// How far from 1 a ratio may be, as a share.
fn distance(ratio: &Estimate) -> f64 {
    let Interval { low, high } = ratio.interval.expect("a conclusion has an interval");
    (high - 1.0).max(1.0 / low - 1.0)
}

/// The same run with changed options.
pub(super) type RerunWith<'a> = dyn Fn(&dyn Fn(&mut DataOptions)) -> Rerun + 'a;

/// What a curve shows about compressibility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Conclusion {
    /// Speed rises the better the data compresses; the ratio of zeros to random data.
    Compresses(Estimate),
    /// Zeros are faster, and all other data is alike.
    OnlyZeros(Estimate),
    /// Zeros are faster, and whether that is compression is open.
    Zeros(Estimate),
    /// Zeros are slower.
    Slower(Estimate),
    /// Compressibility does not matter; the ratio furthest from 1.
    Indifferent(Estimate),
    /// Not decided; with the ratio, if there is one.
    Open(Option<Estimate>),
}

impl Conclusion {
    pub(super) fn from_curve(curve: &Curve) -> Self {
        let (first, last) = (curve.steps[0].values(), curve.steps[curve.steps.len() - 1].values());
        let Some(zeros) = ratio(&first, &last) else { return Self::Open(None) };
        let little = (curve.steps.len() > 2).then(|| ratio(&curve.steps[1].values(), &last)).flatten();
        match (verdict(zeros), little.map(|little| (little, verdict(little)))) {
            (Verdict::Above, Some((_, Verdict::Above))) => Self::Compresses(zeros),
            (Verdict::Above, Some((_, Verdict::Alike))) => Self::OnlyZeros(zeros),
            (Verdict::Above, _) => Self::Zeros(zeros),
            (Verdict::Below, _) => Self::Slower(zeros),
            (Verdict::Alike, None) => Self::Indifferent(zeros),
            (Verdict::Alike, Some((little, Verdict::Alike))) => {
                Self::Indifferent(if distance(&little) > distance(&zeros) { little } else { zeros })
            }
            _ => Self::Open(Some(zeros)),
        }
    }

    /// Whether compressibility matters.
    pub(super) fn is_significant(&self) -> bool {
        matches!(self, Self::Compresses(_) | Self::OnlyZeros(_) | Self::Zeros(_) | Self::Slower(_))
    }

    /// Largest distance from 1 of the ratio of zeros to random data on an indifferent curve.
    pub(super) fn indifference(&self) -> Option<f64> {
        // Smallest distance that is reported, as a share. Chosen: less is not worth telling apart.
        const DISTANCE_MIN: f64 = 0.001;
        match self {
            Self::Indifferent(ratio) => Some(distance(ratio).max(DISTANCE_MIN)),
            _ => None,
        }
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// The answer for one operation of one test.
    pub(super) fn answer(&self, curve: &Curve, compressor: Compressor<'_>, rerun: &RerunWith<'_>) -> Answer {
        let more_passes = |passes| rerun(&move |options| options.passes = passes).more_passes();
        let subject = curve.subject;
        let factor = |ratio: &Estimate| Factor(ratio.value);
        let ends = wording::ends(subject, curve.ends());
        let known = |answer: Answer, ratio: &Estimate| ratio.put(answer, "×").with_evidence(ends.clone());
        let differs = |answer: Answer, ratio: &Estimate| match compressor {
            Compressor::Drive => known(answer, ratio),
            Compressor::FileSystemOrDrive(name) => {
                known(answer, ratio).caveat(wording::file_system_compresses(name))
            }
        };
        match self {
            Self::Compresses(ratio) => {
                let answer = differs(wording::compresses(subject, factor(ratio), compressor), ratio);
                if is_too_fast_for_generator(curve) {
                    answer.caveat(wording::RANDOM_DATA_COSTS_TIME)
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
                let again = rerun(&|options| (options.steps, options.passes) = (STEPS_MANY, PASSES_MANY));
                differs(wording::zeros_faster(subject, factor(ratio)), ratio)
                    .action(again.action("more_steps", wording::MORE_STEPS))
            }
            Self::Slower(ratio) => differs(wording::zeros_slower(subject, factor(ratio)), ratio),
            Self::Indifferent(ratio) => {
                let within = Share(self.indifference().unwrap_or_default());
                known(wording::indifferent(subject, within), ratio)
            }
            Self::Open(Some(ratio)) => {
                let [low, high] = ratio.ends().map(Factor);
                wording::ratio_unclear(subject, curve.ends())
                    .with_evidence(wording::ratio_range(low, high))
                    .with_evidence(ends)
                    .action(more_passes(PASSES_MANY))
            }
            Self::Open(None) if curve.steps[0].values().len() > 1 => {
                let again = rerun(&|options| {
                    (options.passes, options.time) = (PASSES_MANY, options.time.max(TIME_LONG));
                });
                let action = again.action("longer_passes", wording::LONGER_PASSES);
                wording::passes_scatter(subject).with_evidence(ends).action(action)
            }
            Self::Open(None) => {
                wording::one_pass(subject, curve.ends()).caveat(MEASURED_ONCE).action(more_passes(PASSES_FEW))
            }
        }
    }
}

/// Number of steps that tells compression from zeros alone: as in AS SSD's graph.
const STEPS_MANY: u32 = 11;
/// Time of a pass that evens out what shorter ones show. Chosen.
const TIME_LONG: Nanos = Nanos::from_secs(5);

/// What may compress: the drive, and also a folder's file system of a kind that can.
pub(super) fn compressor(identity: &Identity) -> Compressor<'_> {
    const COMPRESSING: [&str; 5] = ["btrfs", "zfs", "bcachefs", "f2fs", "ntfs3"];
    let name = identity.facts.iter().find(|(name, _)| name == "file system").map(|(_, kind)| kind.as_str());
    match name.filter(|name| identity.kind == TargetKind::Folder && COMPRESSING.contains(name)) {
        Some(name) => Compressor::FileSystemOrDrive(name),
        None => Compressor::Drive,
    }
}

/// Rate in bytes a second above which the time to generate random data shows; measured by the calibration.
const HIGH_BYTES_PER_S: f64 = 1e9;

/// Whether generating the data, which takes longer for random data than for zeros, may limit these writes.
fn is_too_fast_for_generator(curve: &Curve) -> bool {
    let is_fast = curve.steps[0].estimate().is_some_and(|speed| speed.value > HIGH_BYTES_PER_S);
    curve.subject.op == Op::Write && is_fast
}

/// The speed of a mix of files, for one operation of one test.
pub(super) struct ExpectedSpeed {
    subject: Subject,
    /// In bytes a second.
    speed: Estimate,
    zeros_bytes_per_s: f64,
    /// The rated speed, in bytes a second.
    rated: Option<f64>,
}

impl ExpectedSpeed {
    /// The harmonic mean over all bytes. The time of a byte is interpolated between the steps, because a drive's time
    /// grows in proportion to what it has to store.
    ///
    /// Its interval adds two independent half widths as squares: of the passes, each of which gives one value, and of
    /// the sample of the files.
    pub(super) fn from_curve(curve: &Curve, files: &FileScan, rated: Option<f64>) -> Option<Self> {
        let (weights, times) = (files.weights(), curve.times());
        if weights.is_empty() || times.is_empty() {
            return None;
        }
        let of_pass = |times: &Vec<f64>| {
            weights.iter().map(|Weight { weight, share }| weight * time_at(times, share.value)).sum::<f64>()
        };
        let by_pass: Vec<f64> = times.iter().map(of_pass).collect();
        let time = mean(&by_pass)?;
        let steps = 0..curve.steps.len();
        let mean_times: Vec<f64> =
            steps.map(|step| times.iter().map(|time| time[step]).sum::<f64>() / times.len() as f64).collect();
        let of_sample = weights.iter().map(|Weight { weight, share }| {
            weight * (time_at(&mean_times, share.high) - time_at(&mean_times, share.low)) / 2.0
        });
        let from_sample: f64 = of_sample.map(|half| half * half).sum();
        let interval = mean_interval(&by_pass, CONFIDENCE_95).map(|interval| {
            let from_passes = (interval.high - interval.low) / 2.0;
            let half = (from_passes * from_passes + from_sample).sqrt();
            // If a byte's time may be zero, the fastest step bounds the speed.
            let fastest = mean_times.iter().copied().fold(f64::INFINITY, f64::min);
            Interval { low: 1e9 / (time + half), high: 1e9 / (time - half).max(fastest.min(time)) }
        });
        Some(Self {
            subject: curve.subject,
            speed: Estimate { value: 1e9 / time, interval },
            zeros_bytes_per_s: 1e9 / mean_times[0],
            rated,
        })
    }

    fn share_of_zeros(&self) -> f64 {
        100.0 * self.speed.value / self.zeros_bytes_per_s
    }

    pub(super) fn rate(&self) -> Rate {
        Rate(self.speed.value)
    }

    pub(super) fn answer(&self) -> Answer {
        let of_zeros = Share(self.share_of_zeros() / 100.0);
        let mut answer = wording::expected(self.subject, self.rate(), of_zeros)
            .with_evidence(wording::zeros_speed(Rate(self.zeros_bytes_per_s)));
        if let Some(rated) = self.rated {
            answer = answer.with_evidence(wording::of_rated(Rate(rated), Share(self.speed.value / rated)));
        }
        match self.speed.interval {
            Some(_) => self.speed.put(answer, "bytes/s"),
            None => answer.caveat(MEASURED_ONCE),
        }
    }

    pub(super) fn row(&self) -> Row {
        self.subject
            .columns()
            .with_estimate("bytes_per_s", Some(self.speed))
            .with("share_of_zeros_percent", self.share_of_zeros())
            .with("advertised_bytes_per_s", self.rated)
            .with("share_of_advertised_percent", self.rated.map(|rated| 100.0 * self.speed.value / rated))
    }
}

/// The time of a byte that compresses to `share`, interpolated between the steps.
fn time_at(times: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (times.len() - 1) as f64;
    let (below, above) = (times[place.floor() as usize], times[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_decides_only_where_its_interval_does() {
        let verdict = |low, high| {
            verdict(Estimate { value: (low + high) / 2.0, interval: Some(Interval { low, high }) })
        };
        assert_eq!(verdict(2.9, 3.1), Verdict::Above);
        assert_eq!(verdict(1.01, 1.04), Verdict::Alike);
        assert_eq!(verdict(1.01, 1.2), Verdict::Above);
        assert_eq!(verdict(0.5, 0.9), Verdict::Below);
        assert_eq!(verdict(0.8, 1.2), Verdict::Unclear);
    }

    #[test]
    fn between_steps_time_is_in_proportion() {
        let times = [2.0, 4.0, 10.0];
        for (share, time) in [(0.0, 2.0), (0.25, 3.0), (0.5, 4.0), (0.75, 7.0), (1.0, 10.0), (1.5, 10.0)] {
            assert_eq!(time_at(&times, share), time);
        }
    }
}
