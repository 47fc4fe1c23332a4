//! The effect of TRIM: random writes with it over random writes without.

use likenew_core::findings::{Answer, Row};
use likenew_core::procedure::Evidence;
use likenew_core::row;
use likenew_core::segment::Segment;
use likenew_stats::interval::{CONFIDENCE_95, Interval, ratio_interval};

use super::TrimOptions;
use super::trim_evidence::{TrimEvidence, TrimStep};
use super::wording::{self, Comparison};
use likenew_procedure_support::rows::Columns as _;

use crate::site::likenew;

/// Ratio of the two speeds below which there is no difference. Chosen: less is not worth setting TRIM up for.
const RATIO_INSIGNIFICANT: f64 = 1.05;
/// Share of the medium that must be freed for a drive that obeys TRIM to gain. Chosen: a quarter multiplies
/// the spare of any drive; only one that never had to collect garbage gains nothing.
const MUCH: f64 = 0.25;

/// Whether random writes gain from TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gain {
    /// They are faster with it.
    Faster,
    /// They are not.
    None,
    /// The measurements do not decide it.
    Undecided,
}

/// Random writes that count.
pub(super) struct Pass<'e> {
    /// Whether TRIM was sent before.
    pub(super) trimmed: bool,
    pub(super) segment: &'e Segment,
}

/// The measurements.
pub(super) struct Worth<'e> {
    passes: Vec<Pass<'e>>,
    measured: bool,
    /// Why TRIM could not be sent.
    refusal: Option<&'e str>,
    released_bytes: u64,
    released_share: Option<f64>,
}

impl<'e> Worth<'e> {
    /// From the passes without errors.
    pub(super) fn new(
        mut passes: Vec<Pass<'e>>,
        trim_evidence: &TrimEvidence<'e>,
        released_bytes: u64,
        measured: bool,
    ) -> Self {
        passes.retain(|pass| pass.segment.measurement_error().is_none());
        let medium = trim_evidence.path.and_then(|path| path.ok()?.medium_bytes);
        Self {
            passes,
            measured,
            refusal: trim_evidence.refusal.or(trim_evidence.not_released),
            released_bytes,
            released_share: medium.map(|medium| released_bytes as f64 / medium.max(1) as f64),
        }
    }

    /// Speeds of the passes with or without TRIM, in bytes a second.
    pub(super) fn speeds(&self, trimmed: bool) -> Vec<f64> {
        let passes = self.passes.iter().filter(|pass| pass.trimmed == trimmed);
        passes.filter_map(|pass| pass.segment.bytes_per_s()).collect()
    }

    /// Mean speed with TRIM over mean speed without.
    pub(super) fn ratio(&self) -> Option<f64> {
        let mean = |speeds: Vec<f64>| speeds.iter().sum::<f64>() / speeds.len() as f64;
        let ratio = mean(self.speeds(true)) / mean(self.speeds(false));
        ratio.is_finite().then_some(ratio)
    }

    fn interval(&self) -> Option<Interval> {
        // TRIM that could not be sent makes no difference.
        let sent = self.refusal.is_none();
        let interval =
            sent.then(|| ratio_interval(&self.speeds(true), &self.speeds(false), CONFIDENCE_95)).flatten();
        // Speeds are never negative, even if the interval of a few passes is.
        interval.map(|interval| Interval { low: interval.low.max(0.0), ..interval })
    }

    /// Whether random writes gain from TRIM.
    pub(super) fn gain(&self) -> Gain {
        match self.interval() {
            Some(interval) if interval.low > RATIO_INSIGNIFICANT => Gain::Faster,
            Some(interval) if interval.high < RATIO_INSIGNIFICANT => Gain::None,
            _ => Gain::Undecided,
        }
    }

    /// Whether enough was freed for a drive that obeys TRIM to show it.
    pub(super) fn frees_enough(&self) -> bool {
        self.released_share.is_some_and(|share| share >= MUCH)
    }

    pub(super) fn step(&self) -> Option<TrimStep> {
        let comparison = self.comparison()?;
        let gain = self.gain();
        let is_faster = (gain != Gain::Undecided).then_some(gain == Gain::Faster);
        Some(TrimStep {
            step: "effect",
            question: wording::GAIN,
            answer: wording::gain_step(&comparison, is_faster),
            evidence: wording::gain_evidence(&comparison),
            decisive: gain == Gain::Faster,
        })
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        Some(Comparison {
            ratio: self.ratio()?,
            interval: self.interval(),
            passes_with: self.speeds(true).len(),
            passes_without: self.speeds(false).len(),
            freed_bytes: self.released_bytes,
            freed_share: self.released_share,
        })
    }

    /// Whether TRIM has an effect, if that was to be measured and could be.
    pub(super) fn answer(&self, options: &TrimOptions, evidence: &Evidence) -> Option<Answer> {
        let comparison = self.comparison();
        if !self.measured || (comparison.is_none() && self.refusal.is_none()) {
            return None;
        }
        if let Some(reason) = self.refusal {
            return Some(wording::gain_not_measured(reason));
        }
        let comparison = comparison?;
        let mut answer = match self.gain() {
            Gain::Faster => wording::faster(&comparison),
            Gain::None => wording::no_faster(&comparison),
            Gain::Undecided => {
                let passes = format!("--passes {}", (2 * options.passes).max(4));
                wording::gain_unknown(&comparison)
                    .action(wording::more_passes(likenew("trim", evidence, &passes)))
            }
        };
        if let Some(interval) = comparison.interval {
            answer = answer.estimate(comparison.ratio, interval.low, interval.high, "×");
        }
        if !self.frees_enough() && self.gain() != Gain::Faster {
            answer = answer.caveat(wording::freed_too_little(self.released_share));
        }
        Some(answer)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let Some(ratio) = self.ratio() else { return Vec::new() };
        let mean = |speeds: Vec<f64>| speeds.iter().sum::<f64>() / speeds.len() as f64;
        let interval = self.interval();
        vec![row! {
            test: wording::RANDOM_WRITE,
            without_bytes_per_s: mean(self.speeds(false)),
            with_bytes_per_s: mean(self.speeds(true)),
            ratio,
            ratio_low: interval.map(|interval| interval.low),
            ratio_high: interval.map(|interval| interval.high),
            freed_bytes: self.released_bytes,
            freed_percent: self.released_share.map(|share| share * 100.0),
        }]
    }

    pub(super) fn pass_rows(&self) -> Vec<Row> {
        let mut counts = [0; 2];
        let rows = self.passes.iter().map(|Pass { trimmed, segment }| {
            let count = &mut counts[usize::from(*trimmed)];
            *count += 1;
            row! {
                trim: if *trimmed { "with" } else { "without" },
                pass: *count,
                bytes_per_s: segment.bytes_per_s(),
                iops: segment.iops(),
            }
            .with_latency(&segment.total())
        });
        rows.collect()
    }
}
