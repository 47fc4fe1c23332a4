//! What each candidate is worth, and which of them to choose.

use likenew_core::answer::Answer;

use super::saving::{REMAINING_SHARE, Saving, WORTH};
use super::waits::Waits;
use super::{DriveOption, Role, UpgradeOptions};
use crate::check::wording::{self, Bar, Work, Worth};

/// What the answers are made from.
pub(super) struct UpgradeInput<'a> {
    pub(super) options: &'a UpgradeOptions,
    /// The fix for this drive, if there is one.
    pub(super) fix: Option<&'a str>,
    /// The mix of applications, by name.
    pub(super) mix_names: Option<&'a [String]>,
}

impl UpgradeInput<'_> {
    pub(super) fn answers(&self) -> Vec<Answer> {
        let candidates = self.options.candidates();
        let mut answers: Vec<Answer> =
            candidates.iter().map(|(drive, waits)| self.worth_answer(drive, waits)).collect();
        answers.extend(self.best_candidate(&candidates));
        answers
    }

    /// Whether a candidate is worth it.
    fn worth_answer(&self, drive: &DriveOption, waits: &Waits) -> Answer {
        let name = &drive.name;
        let with_drive = wording::waited_with(name, waits.blocking_ns, waits.busy_beyond());
        let Some(now) = self.options.waits_of(Role::Now) else {
            let reason = if self.options.mix.is_some() {
                wording::applications_unfinished()
            } else {
                wording::recording_without_latencies()
            };
            let answer = wording::upgrade_unknown(name, reason).with_evidence(with_drive);
            return self.with_caveats(answer, drive);
        };
        if now.blocking_ns <= 0.0 && waits.blocking_ns <= 0.0 {
            let answer = wording::upgrade_unknown(name, wording::nothing_waited_for())
                .with_evidence(wording::writes_took(name, now.busy_ns, waits.busy_ns));
            return self.with_caveats(answer, drive);
        }
        let saving = Saving::from_waits(now, waits);
        let by_fix = self.by_fix(now, waits);
        let worth = self.worth(now, waits);
        let bar = match (by_fix, self.options.elapsed()) {
            (Some(_), _) => Bar::Fix,
            (None, Some(_)) => Bar::OfTime(WORTH),
            (None, None) => Bar::OfWaiting(1.0 - REMAINING_SHARE),
        };
        let answer = wording::upgrade(name, worth, bar, (now.blocking_ns, waits.blocking_ns), self.work())
            .estimate(saving.value, saving.low, saving.high, "ns")
            .with_evidence(wording::waited_now(self.work(), now.blocking_ns, now.busy_beyond()))
            .with_evidence(with_drive)
            .with_evidence(self.share(&saving))
            .with_evidence(wording::slowest_ios(
                (now.latency_ns_p99, waits.latency_ns_p99),
                (now.latency_ns_max, waits.latency_ns_max),
            ));
        let answer = match (by_fix, self.fix) {
            (Some((fixed, beyond)), Some(fix)) => {
                answer.with_evidence(wording::cheaper_fix(name, fix, worth, fixed.value, beyond.value))
            }
            _ => answer,
        };
        self.with_caveats(answer, drive)
    }

    /// What a fix of this drive saves, and what another drive saves beyond that.
    fn by_fix(&self, now: &Waits, waits: &Waits) -> Option<(Saving, Saving)> {
        let fixed = self.options.waits_of(Role::AsNew).filter(|_| self.fix.is_some())?;
        let savings = (Saving::from_waits(now, fixed), Saving::from_waits(fixed, waits));
        (savings.0.low > 0.0).then_some(savings)
    }

    /// A fix comes before a purchase, so a new drive has to save time beyond it.
    fn worth(&self, now: &Waits, waits: &Waits) -> Worth {
        let beyond_fix = self.by_fix(now, waits).map(|(_, beyond)| beyond);
        beyond_fix.unwrap_or_else(|| Saving::from_waits(now, waits)).worth(self.options.elapsed())
    }

    /// The work that is compared.
    fn work(&self) -> Work<'_> {
        match (self.options.elapsed(), self.mix_names) {
            (Some(elapsed), _) => Work::Recording(elapsed),
            (None, Some(names)) => Work::Applications(names),
            (None, None) => Work::Same,
        }
    }

    /// The saving, in the unit that decides.
    fn share(&self, saving: &Saving) -> String {
        match self.options.elapsed() {
            Some(elapsed) => {
                let of = |ns: f64| ns / elapsed.0 as f64;
                wording::saved_share(of(saving.low), of(saving.high), WORTH)
            }
            None => {
                let [low, high] = saving.remaining_share;
                wording::remaining_share(low, high, REMAINING_SHARE)
            }
        }
    }

    fn with_caveats(&self, answer: Answer, drive: &DriveOption) -> Answer {
        let mut answer = answer.caveat(wording::candidate_is_simulated(&drive.name, drive.fill_percent));
        if self.options.recording.as_ref().is_some_and(|recording| !recording.knows_ends) {
            answer = answer.caveat(wording::recording_without_ends());
        }
        if let Some(mix) = &self.options.mix {
            answer = answer.caveat(wording::part_of_mix(mix.time, mix.span, mix.reads_only));
        }
        if drive.is_scaled {
            answer = answer.caveat(wording::addresses_scaled(&drive.name, drive.fill_percent.is_some()));
        }
        answer
    }

    /// The candidate with the shortest waiting, and whether it is worth a difference in price.
    fn best_candidate(&self, candidates: &[(&DriveOption, &Waits)]) -> Option<Answer> {
        let [(best, least), (next, more), ..] = candidates else { return None };
        // Waiting that the work has none of ranks nothing.
        if more.blocking_ns <= 0.0 {
            return None;
        }
        let now = self.options.waits_of(Role::Now);
        let is_worth_it = now.map_or(Worth::Undecided, |now| self.worth(now, least));
        let saving = Saving::from_waits(more, least);
        let difference = saving.worth(self.options.elapsed());
        let answer = wording::best_upgrade(&best.name, &next.name, is_worth_it, difference);
        Some(answer.with_evidence(wording::less_than_next(&next.name, saving.low, saving.high)))
    }
}
