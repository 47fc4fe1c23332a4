//! The results of the probes of trim, and the content of freed blocks.

use likenew_core::probe::{Content, Layer, ProbeResult, ReadBackResult, ReadsAs, TrimCapabilities, TrimPath};
use likenew_procedure_support::estimate::Estimate;
use likenew_stats::interval::{CONFIDENCE_95, Interval, median_interval};
use likenew_stats::summary::median;
use serde::Serialize;

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
    /// Why no way to release a range is known here.
    pub(super) not_released: Option<&'e str>,
}

/// A row of the table of steps: what was asked, what was answered, and what that rests on.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TrimStep {
    pub(super) step: &'static str,
    pub(super) question: &'static str,
    pub(super) answer: String,
    pub(super) evidence: String,
    /// Whether the step decides by itself.
    pub(super) decisive: bool,
}

impl TrimStep {
    pub(super) fn new(
        step: &'static str,
        question: &'static str,
        answer: impl Into<String>,
        evidence: impl Into<String>,
        decisive: bool,
    ) -> Self {
        Self { step, question, answer: answer.into(), evidence: evidence.into(), decisive }
    }
}

/// Latency of kept blocks over that of freed ones, as a ratio, from which the drive answers from its mapping
/// table. Chosen: reads in both halves alternate, so nothing else makes such a difference.
const FASTER: f64 = 1.25;
/// Share of the freed bytes that the drive must count as free to have received TRIM. Chosen: allocation units
/// and other writes take some of them.
const FREED_SHARE_MIN: f64 = 0.8;

impl<'e> TrimEvidence<'e> {
    /// Keeps the path of TRIM; the later of two counts.
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
    pub(super) fn timing(&self) -> Option<Estimate> {
        let result = self.read_back?.ok()?;
        let numbers = |ns: &[u64]| ns.iter().map(|ns| *ns as f64).collect::<Vec<f64>>();
        let (kept, released) = (numbers(&result.probes_kept_ns), numbers(&result.probes_released_ns));
        let ratio = median(&kept)? / median(&released)?;
        // Each interval takes half of the risk, so both together hold with the full confidence (Bonferroni).
        let confidence = 1.0 - (1.0 - CONFIDENCE_95) / 2.0;
        let interval = median_interval(&kept, confidence).zip(median_interval(&released, confidence));
        let interval = interval.filter(|(_, released)| released.low > 0.0).map(|(kept, released)| Interval {
            low: kept.low / released.high,
            high: kept.high / released.low,
        });
        ratio.is_finite().then_some(Estimate { value: ratio, interval })
    }

    /// Whether freed blocks are read faster than anything but the mapping table explains.
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
    /// Another file has taken their place, or the drive refused to read them.
    Unknown,
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
/// Share of the freed bytes from which part of them counts as trimmed; less is edges. Chosen: the complement of `NEARLY_ALL`.
const A_PART: f64 = 0.1;

impl Outcome {
    pub(super) fn from_content(content: &Content) -> Self {
        let known = content.known_bytes() as f64;
        let share = |bytes: u64| bytes as f64 / known;
        if known == 0.0 {
            Self::Unknown
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_contents() {
        let outcome_of = |zeros, ones, pattern, other, taken| {
            Outcome::from_content(&Content {
                zero_bytes: zeros,
                ones_bytes: ones,
                pattern_bytes: pattern,
                other_bytes: other,
                taken_bytes: taken,
                refused_bytes: 0,
            })
        };
        assert_eq!(outcome_of(100, 0, 0, 0, 0), Outcome::Zeros);
        assert_eq!(outcome_of(95, 0, 5, 0, 1000), Outcome::Zeros, "what somebody has taken says nothing");
        assert_eq!(outcome_of(0, 100, 0, 0, 0), Outcome::Ones);
        assert_eq!(outcome_of(50, 0, 50, 0, 0), Outcome::Partly);
        assert_eq!(outcome_of(0, 0, 100, 0, 0), Outcome::OldData);
        assert_eq!(outcome_of(5, 0, 95, 0, 0), Outcome::OldData);
        assert_eq!(outcome_of(0, 0, 0, 100, 0), Outcome::Other);
        assert_eq!(outcome_of(0, 0, 50, 50, 0), Outcome::Other);
        assert_eq!(outcome_of(0, 0, 0, 0, 100), Outcome::Unknown);
        for outcome in [Outcome::Zeros, Outcome::Ones, Outcome::Partly] {
            assert!(outcome.is_trimmed());
        }
        for outcome in [Outcome::Unknown, Outcome::OldData, Outcome::Other] {
            assert!(!outcome.is_trimmed());
        }
    }
}
