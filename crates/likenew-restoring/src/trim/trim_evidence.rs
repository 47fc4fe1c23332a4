//! What trim found, step by step: the results of its probes, the content of freed blocks, and random writes with TRIM over random
//! writes without.

use likenew_core::findings::Row;
use likenew_core::probe::{Content, Layer, ProbeResult, ReadBackResult, ReadsAs, TrimCapabilities, TrimPath};
use likenew_core::row;
use likenew_core::segment::Segment;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::interval::{CONFIDENCE_95, Interval, median_interval};
use likenew_stats::summary::{mean, median};
use serde::Serialize;

use super::wording::{self, Comparison};

/// A probe's result, or why there is none.
pub(super) type ProbeAnswer<'e, T> = Option<Result<&'e T, &'e str>>;

/// What the probes found.
#[derive(Default)]
pub(super) struct TrimEvidence<'e> {
    pub(super) path: ProbeAnswer<'e, TrimPath>,
    pub(super) claims: ProbeAnswer<'e, TrimCapabilities>,
    pub(super) read_back: ProbeAnswer<'e, ReadBackResult>,
    /// Why TRIM could not be sent, from the last attempt.
    pub(super) refusal: Option<&'e str>,
    /// Why nobody knows how to release a range here.
    pub(super) not_released: Option<&'e str>,
}

/// A row of the table of steps: what was asked, what was answered, and what that rests on.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TrimStep {
    pub(super) step: &'static str,
    pub(super) question: &'static str,
    pub(super) answer: String,
    pub(super) evidence: String,
    /// Whether it decides by itself.
    pub(super) decisive: bool,
}

impl TrimStep {
    fn new(
        step: &'static str,
        question: &'static str,
        answer: impl Into<String>,
        evidence: impl Into<String>,
        decisive: bool,
    ) -> Self {
        Self { step, question, answer: answer.into(), evidence: evidence.into(), decisive }
    }

    fn not_possible(step: &'static str, question: &'static str, reason: &str) -> Self {
        Self::new(step, question, wording::NOT_POSSIBLE, reason, false)
    }
}

/// Latency of kept blocks over that of freed ones, with its interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) ratio: f64,
    pub(super) interval: Option<Interval>,
}

/// Latency of kept blocks over that of freed ones, as a ratio, from which the drive answers from its mapping
/// table. Chosen: reads in both halves alternate, so nothing else makes such a difference.
const FASTER: f64 = 1.25;
/// Share of the freed bytes that the drive must count as free to have received TRIM. Chosen: allocation units
/// and other writes take some of them.
const FREED_SHARE_MIN: f64 = 0.8;

impl<'e> TrimEvidence<'e> {
    /// Of two paths that were found, the later one counts.
    pub(super) fn put_path(&mut self, result: &'e ProbeResult) {
        match result {
            ProbeResult::TrimPath(path) => self.path = Some(Ok(path)),
            ProbeResult::Unknown(reason) => _ = self.path.get_or_insert(Err(reason)),
            _ => {}
        }
    }

    pub(super) fn put_claims(&mut self, result: &'e ProbeResult) {
        self.claims = match result {
            ProbeResult::TrimClaims(claims) => Some(Ok(claims)),
            ProbeResult::Unknown(reason) => Some(Err(reason)),
            _ => None,
        };
    }

    pub(super) fn put_read_back(&mut self, result: &'e ProbeResult) {
        self.read_back = match result {
            ProbeResult::TrimReadBack(result) => Some(Ok(result)),
            ProbeResult::Unknown(reason) => Some(Err(reason)),
            _ => None,
        };
        self.refusal = self.read_back.and_then(|result| result.ok()?.sent.refusal.as_deref());
    }

    pub(super) fn put_release(&mut self, result: &'e ProbeResult) {
        match result {
            ProbeResult::Released(sent) => self.refusal = sent.refusal.as_deref(),
            ProbeResult::Unknown(reason) => _ = self.not_released.get_or_insert(reason),
            _ => {}
        }
    }

    pub(super) fn layers(&self) -> &'e [Layer] {
        match self.path {
            Some(Ok(path)) => &path.layers,
            _ => &[],
        }
    }

    /// The layer that blocks TRIM.
    pub(super) fn blocked_by(&self) -> Option<&'e Layer> {
        self.path?.ok()?.blocked_by()
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked_by().is_some()
    }

    /// Whether the medium rotates, and so overwrites in place.
    pub(super) fn rotates(&self) -> bool {
        matches!(self.path, Some(Ok(TrimPath { rotates: Some(true), .. })))
    }

    /// Whether the drive itself reports no TRIM support.
    pub(super) fn has_no_trim(&self) -> bool {
        matches!(self.claims, Some(Ok(TrimCapabilities { trims: Some(false), .. })))
    }

    /// The content of freed blocks at the last reading.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let result = self.read_back?.ok()?;
        result.released_half_later.as_ref().or(result.released_half.as_ref()).map(Outcome::from_content)
    }

    /// Whether the drive announced zeros and returns the old data.
    pub(super) fn violates_claim(&self) -> bool {
        let promised = matches!(
            self.claims,
            Some(Ok(TrimCapabilities { reads_as: Some(ReadsAs::Zeros | ReadsAs::Ones), .. }))
        );
        let was_sent =
            self.read_back.is_some_and(|result| result.is_ok_and(|result| result.sent.refusal.is_none()));
        promised && was_sent && self.outcome() == Some(Outcome::OldData)
    }

    /// Kept bytes that no longer hold what was written.
    pub(super) fn lost_bytes(&self) -> u64 {
        let kept = self.read_back.and_then(|result| result.ok()?.kept_half);
        kept.map_or(0, |kept| kept.known_bytes() - kept.pattern_bytes)
    }

    /// Latency of reads of kept blocks over that of freed ones.
    pub(super) fn timing(&self) -> Option<Timing> {
        let result = self.read_back?.ok()?;
        let numbers = |ns: &[u64]| ns.iter().map(|ns| *ns as f64).collect::<Vec<f64>>();
        let (kept, released) = (numbers(&result.probes_kept_ns), numbers(&result.probes_released_ns));
        let ratio = median(&kept)? / median(&released)?;
        // Each interval takes half of the risk, so both together hold with the full confidence (Bonferroni).
        let each = 1.0 - (1.0 - CONFIDENCE_95) / 2.0;
        let interval = median_interval(&kept, each).zip(median_interval(&released, each));
        let interval = interval.filter(|(_, released)| released.low > 0.0).map(|(kept, released)| Interval {
            low: kept.low / released.high,
            high: kept.high / released.low,
        });
        ratio.is_finite().then_some(Timing { ratio, interval })
    }

    /// Whether freed blocks read faster than anything but the mapping table explains.
    pub(super) fn answers_from_map(&self) -> bool {
        self.timing().and_then(|timing| timing.interval).is_some_and(|interval| interval.low > FASTER)
    }

    /// Whether the drive counts the freed bytes as free.
    pub(super) fn frees_allocation(&self) -> bool {
        let Some(Ok(result)) = self.read_back else { return false };
        let Some(allocated) = &result.allocated else { return false };
        let less = allocated.before_bytes.saturating_sub(allocated.after_bytes);
        less as f64 >= FREED_SHARE_MIN * result.sent.bytes as f64 && less > 0
    }

    /// Whether TRIM was sent and nothing in the drive's answers shows it.
    pub(super) fn is_silent(&self) -> bool {
        let Some(Ok(result)) = self.read_back else { return false };
        let shows_old = self.outcome() == Some(Outcome::OldData);
        let knows_no_content = self.outcome().is_none() && !result.probes_kept_ns.is_empty();
        result.sent.refusal.is_none()
            && (shows_old || knows_no_content)
            && !self.answers_from_map()
            && !self.frees_allocation()
    }
}

/// The content of freed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Unknown: another file has taken the place, or the drive refused to read it.
    Nothing,
    /// Zeros.
    Zeros,
    /// 0xFF.
    Ones,
    /// Partly zeros or 0xFF, partly the old data.
    Partly,
    /// The old data.
    OldData,
    /// Something else.
    Other,
}

/// Share of the freed bytes from which all of them count as trimmed. Chosen: the edges of TRIM units may keep
/// their data.
const NEARLY_ALL: f64 = 0.9;
/// A smaller share than this is only the edges. Chosen: the complement of `NEARLY_ALL`.
const A_PART: f64 = 0.1;

impl Outcome {
    pub(super) fn from_content(content: &Content) -> Self {
        let known = content.known_bytes() as f64;
        let share = |bytes: u64| bytes as f64 / known;
        if known == 0.0 {
            Self::Nothing
        } else if share(content.zero_bytes) >= NEARLY_ALL {
            Self::Zeros
        } else if share(content.ones_bytes) >= NEARLY_ALL {
            Self::Ones
        } else if share(content.zero_bytes + content.ones_bytes) >= A_PART {
            Self::Partly
        } else if share(content.pattern_bytes) >= NEARLY_ALL {
            Self::OldData
        } else {
            Self::Other
        }
    }

    /// Whether a layer below the file system has obeyed.
    pub(super) fn is_trimmed(self) -> bool {
        matches!(self, Self::Zeros | Self::Ones | Self::Partly)
    }
}

impl TrimEvidence<'_> {
    /// Every step taken.
    pub(super) fn steps(&self, worth: &Worth<'_>) -> Vec<TrimStep> {
        let read_back = self.read_back.and_then(Result::ok);
        let sending = read_back.map(|result| {
            let (answer, evidence) = (wording::sent(&result.sent), wording::sent_evidence(&result.sent));
            TrimStep::new("sending", wording::SENDING, answer, evidence, false)
        });
        let timing = self.timing().zip(read_back).map(|(Timing { ratio, interval }, result)| {
            let decisive = self.answers_from_map();
            let evidence = wording::timing_evidence(ratio, interval, result.probes_kept_ns.len());
            TrimStep::new("timing", wording::TIMING, wording::timing(decisive), evidence, decisive)
        });
        let accounting = read_back.and_then(|result| result.allocated.as_ref()).map(|allocated| {
            let decisive = self.frees_allocation();
            let evidence = wording::accounting_evidence(allocated);
            TrimStep::new(
                "accounting",
                wording::ACCOUNTING,
                wording::accounting(decisive),
                evidence,
                decisive,
            )
        });
        let steps = [
            self.capability(),
            self.claimed_step(),
            sending,
            self.reading_back(),
            timing,
            accounting,
            worth.step(),
        ];
        steps.into_iter().flatten().collect()
    }

    fn capability(&self) -> Option<TrimStep> {
        let (step, question) = ("capability", wording::CAPABILITY);
        Some(match self.path? {
            Err(reason) => TrimStep::not_possible(step, question, reason),
            Ok(path) => {
                let nobody_says = path.layers.iter().all(|layer| layer.passes.is_none());
                let answer = wording::layers_pass(path.blocked_by(), nobody_says);
                let evidence = wording::layers_evidence(&path.layers);
                TrimStep::new(step, question, answer, evidence, self.is_blocked())
            }
        })
    }

    fn claimed_step(&self) -> Option<TrimStep> {
        let (step, question) = ("claims", wording::CLAIMS);
        Some(match self.claims? {
            Err(reason) => TrimStep::not_possible(step, question, reason),
            Ok(claims) => {
                let answer = wording::claims(claims.trims, claims.reads_as);
                TrimStep::new(step, question, answer, &claims.evidence, self.has_no_trim())
            }
        })
    }

    fn reading_back(&self) -> Option<TrimStep> {
        let (step, question) = ("read_back", wording::READ_BACK);
        let result = match self.read_back? {
            Err(reason) => return Some(TrimStep::not_possible(step, question, reason)),
            Ok(result) => result,
        };
        let Some(outcome) = self.outcome() else {
            let reason = result.read_error.as_deref().unwrap_or(wording::NOT_READ);
            return Some(TrimStep::not_possible(step, question, reason));
        };
        let contents = wording::contents([
            ("before", result.before_release),
            ("after", result.released_half),
            ("after the wait", result.released_half_later),
            ("kept beside it", result.kept_half),
        ]);
        let decisive = outcome.is_trimmed() || self.violates_claim();
        Some(TrimStep::new(step, question, wording::outcome(outcome), contents, decisive))
    }
}

/// Ratio of the two speeds below which there is no difference. Chosen: less is not worth setting TRIM up for.
const RATIO_INSIGNIFICANT: f64 = 1.05;
/// Share of the medium that must be freed for a drive that obeys TRIM to gain. Chosen: a quarter multiplies
/// the spare of any drive; only one that never had to collect garbage gains nothing.
const MUCH: f64 = 0.25;

/// Random writes that count.
pub(super) struct Pass<'e> {
    /// Whether TRIM was sent before.
    pub(super) trimmed: bool,
    pub(super) segment: &'e Segment,
}

/// The effect of TRIM: random writes with it over random writes without.
pub(super) struct Worth<'e> {
    passes: Vec<Pass<'e>>,
    pub(super) is_measured: bool,
    /// Why TRIM could not be sent.
    pub(super) refusal: Option<&'e str>,
    released_bytes: u64,
    pub(super) released_share: Option<f64>,
    /// Mean speed with TRIM over mean speed without. TRIM that could not be sent makes no difference, so that has no interval.
    pub(super) ratio: Option<Estimate>,
}

impl<'e> Worth<'e> {
    /// From the passes without errors.
    pub(super) fn new(
        mut passes: Vec<Pass<'e>>,
        trim_evidence: &TrimEvidence<'e>,
        released_bytes: u64,
        is_measured: bool,
    ) -> Self {
        passes.retain(|pass| pass.segment.measurement_error().is_none());
        let medium = trim_evidence.path.and_then(|path| path.ok()?.medium_bytes);
        let released_share = medium.map(|medium| released_bytes as f64 / medium.max(1) as f64);
        let refusal = trim_evidence.refusal.or(trim_evidence.not_released);
        let mut worth = Self { passes, is_measured, refusal, released_bytes, released_share, ratio: None };
        let ratio = Estimate::of_ratio(&worth.speeds(true), &worth.speeds(false));
        worth.ratio = ratio.filter(|ratio| ratio.value.is_finite()).map(|ratio| match refusal {
            Some(_) => Estimate { interval: None, ..ratio },
            None => ratio.not_negative(),
        });
        worth
    }

    /// Speeds of the passes with or without TRIM, in bytes a second.
    pub(super) fn speeds(&self, trimmed: bool) -> Vec<f64> {
        let passes = self.passes.iter().filter(|pass| pass.trimmed == trimmed);
        passes.filter_map(|pass| pass.segment.bytes_per_s()).collect()
    }

    /// Whether random writes are faster with TRIM, or certainly not.
    pub(super) fn gain(&self) -> Verdict {
        self.ratio.map_or(Verdict::Unclear, |ratio| ratio.against(RATIO_INSIGNIFICANT))
    }

    /// Whether enough was freed for a drive that obeys TRIM to show it.
    pub(super) fn frees_enough(&self) -> bool {
        self.released_share.is_some_and(|share| share >= MUCH)
    }

    fn step(&self) -> Option<TrimStep> {
        let comparison = self.comparison()?;
        let is_faster = match self.gain() {
            Verdict::Above => Some(true),
            Verdict::Below => Some(false),
            _ => None,
        };
        let (answer, evidence) =
            (wording::gain_step(&comparison, is_faster), wording::gain_evidence(&comparison));
        Some(TrimStep::new("effect", wording::GAIN, answer, evidence, is_faster == Some(true)))
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        let Estimate { value: ratio, interval } = self.ratio?;
        Some(Comparison {
            ratio,
            interval,
            passes_with: self.speeds(true).len(),
            passes_without: self.speeds(false).len(),
            freed_bytes: self.released_bytes,
            freed_share: self.released_share,
        })
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |ratio| {
            row! {
                test: wording::RANDOM_WRITE,
                without_bytes_per_s: mean(&self.speeds(false)),
                with_bytes_per_s: mean(&self.speeds(true)),
            }
            .with_estimate("ratio", Some(ratio))
            .with("freed_bytes", self.released_bytes)
            .with("freed_percent", self.released_share.map(|share| share * 100.0))
        };
        self.ratio.into_iter().map(row).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_contents() {
        let of = |zeros, ones, pattern, other, taken| {
            Outcome::from_content(&Content {
                zero_bytes: zeros,
                ones_bytes: ones,
                pattern_bytes: pattern,
                other_bytes: other,
                taken_bytes: taken,
                refused_bytes: 0,
            })
        };
        assert_eq!(of(100, 0, 0, 0, 0), Outcome::Zeros);
        assert_eq!(of(95, 0, 5, 0, 1000), Outcome::Zeros, "what somebody has taken says nothing");
        assert_eq!(of(0, 100, 0, 0, 0), Outcome::Ones);
        assert_eq!(of(50, 0, 50, 0, 0), Outcome::Partly);
        assert_eq!(of(0, 0, 100, 0, 0), Outcome::OldData);
        assert_eq!(of(5, 0, 95, 0, 0), Outcome::OldData);
        assert_eq!(of(0, 0, 0, 100, 0), Outcome::Other);
        assert_eq!(of(0, 0, 50, 50, 0), Outcome::Other);
        assert_eq!(of(0, 0, 0, 0, 100), Outcome::Nothing);
        for outcome in [Outcome::Zeros, Outcome::Ones, Outcome::Partly] {
            assert!(outcome.is_trimmed());
        }
        for outcome in [Outcome::Nothing, Outcome::OldData, Outcome::Other] {
            assert!(!outcome.is_trimmed());
        }
    }
}
