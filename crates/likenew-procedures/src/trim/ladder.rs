//! What the looks found, one rung after the other.

use likenew_core::look::{Look, Seen};
use likenew_core::procedure::Evidence;
use likenew_core::trim::{Claims, Layer, ReadBackSeen, ReadsAs, TrimPath};
use likenew_stats::interval::{Interval, median_interval};
use likenew_stats::summary::median;

use super::course::seen;
use super::outcome::Outcome;
use crate::CONFIDENCE;

/// A look's answer, or why there is none.
pub(super) type Answer<'e, T> = Option<Result<&'e T, &'e str>>;

/// What is known by looking.
pub(super) struct Ladder<'e> {
    pub(super) path: Answer<'e, TrimPath>,
    pub(super) claims: Answer<'e, Claims>,
    pub(super) read_back: Answer<'e, ReadBackSeen>,
    /// Why TRIM could not be sent, as the last who tried says.
    refusal: Option<&'e str>,
}

/// How much longer a read takes where something is kept than where it was given up, with the interval of that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) ratio: f64,
    pub(super) interval: Option<Interval>,
}

/// A drive that answers from its map, without its flash, is at least so much faster. Reads in either half take turns, so that nothing
/// else makes such a difference.
const FASTER: f64 = 1.25;
/// A drive that counts at least this share of what was given up as free again has heard of it.
const COUNTED: f64 = 0.8;

impl<'e> Ladder<'e> {
    pub(super) fn of(evidence: &'e Evidence) -> Self {
        let sights = &evidence.sights;
        let unknown = |wanted: fn(&Look) -> bool| {
            sights.iter().find(|sight| wanted(&sight.look)).and_then(|sight| match &sight.seen {
                Seen::Unknown(why) => Some(why.as_str()),
                _ => None,
            })
        };
        let path = seen(evidence, |seen| match seen {
            Seen::TrimPath(path) => Some(Ok(path)),
            _ => None,
        });
        let claims = seen(evidence, |seen| match seen {
            Seen::TrimClaims(claims) => Some(Ok(claims)),
            _ => None,
        });
        let read_back = seen(evidence, |seen| match seen {
            Seen::TrimReadBack(seen) => Some(Ok(&**seen)),
            _ => None,
        });
        let refusal = sights.iter().rev().find_map(|sight| match (&sight.look, &sight.seen) {
            (_, Seen::TrimReadBack(seen)) => seen.sent.refused.as_deref(),
            (_, Seen::Released(sent)) => sent.refused.as_deref(),
            // A rehearsal does not know what would be answered, and neither do we.
            _ => None,
        });
        Self {
            path: path.or_else(|| unknown(|look| matches!(look, Look::TrimPath)).map(Err)),
            claims: claims.or_else(|| unknown(|look| matches!(look, Look::TrimClaims)).map(Err)),
            read_back: read_back.or_else(|| unknown(|look| matches!(look, Look::TrimReadBack(_))).map(Err)),
            refusal,
        }
    }

    pub(super) fn layers(&self) -> &'e [Layer] {
        match self.path {
            Some(Ok(path)) => &path.layers,
            _ => &[],
        }
    }

    /// The layer that TRIM does not get past.
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

    /// Whether the drive itself says that it knows no TRIM.
    pub(super) fn has_no_trim(&self) -> bool {
        matches!(self.claims, Some(Ok(Claims { trims: Some(false), .. })))
    }

    /// Why TRIM could not be sent, if it could not.
    pub(super) fn refusal(&self) -> Option<&'e str> {
        self.refusal
    }

    /// What was found where something was given up: at the last reading.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let seen = self.read_back?.ok()?;
        seen.later.as_ref().or(seen.released.as_ref()).map(Outcome::of)
    }

    /// Whether the drive promised zeros and shows what had been there.
    pub(super) fn breaks_its_promise(&self) -> bool {
        let promised =
            matches!(self.claims, Some(Ok(Claims { reads_as: Some(ReadsAs::Zeros | ReadsAs::Ones), .. })));
        let was_sent = self.read_back.is_some_and(|seen| seen.is_ok_and(|seen| seen.sent.refused.is_none()));
        promised && was_sent && self.outcome() == Some(Outcome::Old)
    }

    /// Whether what was kept beside it is not what was written there any more.
    pub(super) fn lost_bytes(&self) -> u64 {
        let kept = self.read_back.and_then(|seen| seen.ok()?.kept);
        kept.map_or(0, |kept| kept.known_bytes() - kept.pattern_bytes)
    }

    /// Reads where something is kept, over reads where it was given up.
    pub(super) fn timing(&self) -> Option<Timing> {
        let seen = self.read_back?.ok()?;
        let numbers = |ns: &[u64]| ns.iter().map(|ns| *ns as f64).collect::<Vec<f64>>();
        let (kept, released) = (numbers(&seen.probes_kept_ns), numbers(&seen.probes_released_ns));
        let ratio = median(&kept)? / median(&released)?;
        // Each holds what it promises with half of the risk, so that both together do with all of it (Bonferroni).
        let each = 1.0 - (1.0 - CONFIDENCE) / 2.0;
        let interval = median_interval(&kept, each).zip(median_interval(&released, each));
        let interval = interval.filter(|(_, released)| released.low > 0.0).map(|(kept, released)| Interval {
            low: kept.low / released.high,
            high: kept.high / released.low,
        });
        ratio.is_finite().then_some(Timing { ratio, interval })
    }

    /// Whether what was given up is read faster than anything but the map explains.
    pub(super) fn answers_from_map(&self) -> bool {
        self.timing().and_then(|timing| timing.interval).is_some_and(|interval| interval.low > FASTER)
    }

    /// Whether the drive counts what was given up as free again.
    pub(super) fn counts_less(&self) -> bool {
        let Some(Ok(seen)) = self.read_back else { return false };
        let Some(allocated) = &seen.allocated else { return false };
        let less = allocated.before_bytes.saturating_sub(allocated.after_bytes);
        less as f64 >= COUNTED * seen.sent.bytes as f64 && less > 0
    }

    /// Whether TRIM was sent and nothing in the drive's answers shows it.
    pub(super) fn is_silent(&self) -> bool {
        let Some(Ok(seen)) = self.read_back else { return false };
        let shows_old = self.outcome() == Some(Outcome::Old);
        let knows_no_content = self.outcome().is_none() && !seen.probes_kept_ns.is_empty();
        seen.sent.refused.is_none()
            && (shows_old || knows_no_content)
            && !self.answers_from_map()
            && !self.counts_less()
    }
}
