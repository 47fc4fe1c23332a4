//! The steps as a table: question, answer and evidence.

use super::trim_evidence::{TrimEvidence, TrimStep};
use super::wording;
use super::worth::Worth;

impl TrimEvidence<'_> {
    /// Every step taken.
    pub(super) fn steps(&self, worth: Option<&Worth<'_>>) -> Vec<TrimStep> {
        let steps = [
            self.capability(),
            self.claimed_step(),
            self.sending(),
            self.reading_back(),
            self.timing_step(),
            self.allocation_check(),
            worth.and_then(Worth::step),
        ];
        steps.into_iter().flatten().collect()
    }

    fn capability(&self) -> Option<TrimStep> {
        let path = match self.path? {
            Err(reason) => return Some(not_possible("capability", wording::CAPABILITY, reason)),
            Ok(path) => path,
        };
        let nobody_says = path.layers.iter().all(|layer| layer.passes.is_none());
        Some(TrimStep {
            step: "capability",
            question: wording::CAPABILITY,
            answer: wording::layers_pass(path.blocked_by(), nobody_says),
            evidence: wording::layers_evidence(&path.layers),
            decisive: self.is_blocked(),
        })
    }

    fn claimed_step(&self) -> Option<TrimStep> {
        let claims = match self.claims? {
            Err(reason) => return Some(not_possible("claims", wording::CLAIMS, reason)),
            Ok(claims) => claims,
        };
        Some(TrimStep {
            step: "claims",
            question: wording::CLAIMS,
            answer: wording::claims(claims.trims, claims.reads_as).to_owned(),
            evidence: claims.evidence.clone(),
            decisive: self.has_no_trim(),
        })
    }

    fn sending(&self) -> Option<TrimStep> {
        let sent = &self.read_back?.ok()?.sent;
        Some(TrimStep {
            step: "sending",
            question: wording::SENDING,
            answer: wording::sent(sent),
            evidence: wording::sent_evidence(sent),
            decisive: false,
        })
    }

    fn reading_back(&self) -> Option<TrimStep> {
        let step = "read_back";
        let result = match self.read_back? {
            Err(reason) => return Some(not_possible(step, wording::READ_BACK, reason)),
            Ok(result) => result,
        };
        let Some(outcome) = self.outcome() else {
            let reason = result.read_error.as_deref().unwrap_or(wording::NOT_READ);
            return Some(not_possible(step, wording::READ_BACK, reason));
        };
        let contents = [
            ("before", result.before_release),
            ("after", result.released_half),
            ("after the wait", result.released_half_later),
            ("kept beside it", result.kept_half),
        ];
        Some(TrimStep {
            step,
            question: wording::READ_BACK,
            answer: wording::outcome(outcome).to_owned(),
            evidence: wording::contents(contents),
            decisive: outcome.is_trimmed() || self.violates_claim(),
        })
    }

    fn timing_step(&self) -> Option<TrimStep> {
        let timing = self.timing()?;
        let reads = self.read_back?.ok()?.probes_kept_ns.len();
        let decisive = self.answers_from_map();
        Some(TrimStep {
            step: "timing",
            question: wording::TIMING,
            answer: wording::timing(decisive).to_owned(),
            evidence: wording::timing_evidence(timing.ratio, timing.interval, reads),
            decisive,
        })
    }

    fn allocation_check(&self) -> Option<TrimStep> {
        let allocated = self.read_back?.ok()?.allocated.as_ref()?;
        let decisive = self.frees_allocation();
        Some(TrimStep {
            step: "accounting",
            question: wording::ACCOUNTING,
            answer: wording::accounting(decisive).to_owned(),
            evidence: wording::accounting_evidence(allocated),
            decisive,
        })
    }
}

fn not_possible(step: &'static str, question: &'static str, reason: &str) -> TrimStep {
    TrimStep {
        step,
        question,
        answer: wording::NOT_POSSIBLE.to_owned(),
        evidence: reason.to_owned(),
        decisive: false,
    }
}
