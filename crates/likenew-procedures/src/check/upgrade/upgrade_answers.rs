//! The answer in sentences: one for each candidate, and which of several it should be.

use likenew_core::units::{Nanos, amount};
use likenew_core::verdict::{Standing, Verdict};

use super::saving::{REMAINING_SHARE, Saving, WORTH};
use super::waits::Waits;
use super::{DriveOption, Role, UpgradeOptions, format_span};

/// What there is to answer from.
pub(super) struct UpgradeInput<'a> {
    pub(super) options: &'a UpgradeOptions,
    /// What would mend this drive.
    pub(super) fix: Option<&'a str>,
}

impl UpgradeInput<'_> {
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        let candidates = self.options.candidates();
        let mut verdicts: Vec<Verdict> =
            candidates.iter().map(|(drive, waits)| self.worth_answer(drive, waits)).collect();
        verdicts.extend(self.best_candidate(&candidates));
        verdicts
    }

    /// Whether one of them is worth it.
    fn worth_answer(&self, drive: &DriveOption, waits: &Waits) -> Verdict {
        let name = &drive.name;
        let Some(now) = self.options.waits_of(Role::Now) else {
            let claim = format!("It is worth replacing this drive by {name}.");
            let verdict = Verdict::new(claim, Standing::Undecided)
                .with_evidence(if self.options.mix.is_some() {
                    "the applications were not played to their end on this drive"
                } else {
                    "the recording does not say how long its I/Os took, so that there is nothing to save from"
                })
                .with_evidence(format!("with {name} {}", wait_text(waits)));
            return self.with_caveats(verdict, drive);
        };
        let saving = Saving::from_waits(now, waits);
        // What is not there can not be bought off: a cure comes first, where there is one.
        let by_fix = self.options.waits_of(Role::AsNew).filter(|_| self.fix.is_some());
        let by_fix =
            by_fix.map(|by_fix| (Saving::from_waits(now, by_fix), Saving::from_waits(by_fix, waits)));
        let by_fix = by_fix.filter(|(by_cure, _)| by_cure.low > 0.0);
        let decisive = by_fix.map_or(saving, |(_, beyond)| beyond);
        let verdict = Verdict::new(self.claim(name, &saving), decisive.standing(self.options.elapsed()))
            .estimate(saving.value, saving.low, saving.high, "ns")
            .with_evidence(format!("{}, {}", self.work(), wait_text(now)))
            .with_evidence(format!("with {name} {}", wait_text(waits)))
            .with_evidence(self.share(&saving))
            .with_evidence(slowest(now, waits));
        let verdict = match (by_fix, self.fix) {
            (Some((by_cure, beyond)), Some(fix)) => {
                verdict.with_evidence(cheaper_option(name, fix, &by_cure, &beyond))
            }
            _ => verdict,
        };
        self.with_caveats(verdict, drive)
    }

    fn claim(&self, name: &str, saving: &Saving) -> String {
        let work = self.work();
        let span = format_span(saving.value);
        if saving.value >= 0.0 {
            format!("It is worth replacing this drive by {name}, which would save {span} of waiting {work}.")
        } else {
            format!(
                "It is worth replacing this drive by {name}, with which {span} more would be waited {work}."
            )
        }
    }

    /// What is compared on.
    fn work(&self) -> String {
        match (self.options.elapsed(), &self.options.mix) {
            (Some(elapsed), _) => format!("in the recorded {elapsed}"),
            (None, Some(mix)) => format!("in the published I/O of {}", mix.words()),
            (None, None) => "in the same work".to_owned(),
        }
    }

    /// The saving as that share which decides.
    fn share(&self, saving: &Saving) -> String {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        match self.options.elapsed() {
            Some(elapsed) => format!(
                "what it saves is {} % of the time; worth it begins at {:.0} %",
                range_text(saving.low / elapsed.0 as f64, saving.high / elapsed.0 as f64, percent),
                WORTH * 100.0
            ),
            None => format!(
                "{} % of the waiting are left; worth it is what leaves {:.0} % at most, as nothing says which share of a day this is",
                range_text(saving.remaining_share[0], saving.remaining_share[1], percent),
                REMAINING_SHARE * 100.0
            ),
        }
    }

    fn with_caveats(&self, verdict: Verdict, drive: &DriveOption) -> Verdict {
        let full = drive.fill_percent.map_or_else(
            || "holding nothing but what is read and written here".to_owned(),
            |percent| format!("{percent:.0} % full"),
        );
        let mut verdict = verdict.caveat(format!(
            "{} is a simulated drive, new and {full}; what processors do between the I/Os takes as long as it did.",
            drive.name
        ));
        if self.options.recording.as_ref().is_some_and(|recording| !recording.knows_ends) {
            verdict = verdict.caveat(
                "The recording knows no ends of I/Os: each program is taken to do one after the other.",
            );
        }
        if let Some(mix) = &self.options.mix {
            let writes = if mix.reads_only { ", and nothing that it writes" } else { "" };
            verdict = verdict.caveat(format!(
                "It was played as far as bytes and {} allow, within {}, where the arm of a disk has a short way{writes}; all of it is concluded from that.",
                mix.time,
                amount(mix.span)
            ));
        }
        if drive.is_scaled {
            let fits = if drive.fill_percent.is_none() { "; whether its data fits is not known" } else { "" };
            verdict = verdict.caveat(format!(
                "{} has fewer addresses than the recorded drive, so all were brought closer together{fits}.",
                drive.name
            ));
        }
        verdict
    }

    /// Which of several leaves least to wait for, and whether that is worth a difference in price.
    fn best_candidate(&self, candidates: &[(&DriveOption, &Waits)]) -> Option<Verdict> {
        let [(best, least), (next, more), ..] = candidates else { return None };
        let saving = Saving::from_waits(more, least);
        let claim = format!(
            "Of these {} drives {} is worth a higher price than any other.",
            candidates.len(),
            best.name
        );
        let verdict = Verdict::new(claim, saving.standing(self.options.elapsed()));
        Some(
            verdict
                .with_evidence(format!(
                    "it saves {} more than {}",
                    range_text(saving.low.max(0.0), saving.high.max(0.0), format_span),
                    next.name
                ))
                .with_evidence(self.share(&saving)),
        )
    }
}

/// What was waited, and what it could have been.
fn wait_text(waits: &Waits) -> String {
    let surely = format!("reads and flushes were waited for {}", format_span(waits.blocking_ns));
    if waits.busy_ns > waits.blocking_ns {
        let busy = format_span(waits.busy_ns);
        format!("{surely}, and with the writes, for which programs need not wait, it was busy for {busy}")
    } else {
        surely
    }
}

fn slowest(now: &Waits, then: &Waits) -> String {
    let span = |ns: u64| Nanos(ns).to_string();
    format!(
        "99 % of the I/Os would take {} at most and not {}, and the longest {} and not {}",
        span(then.latency_ns_p99),
        span(now.latency_ns_p99),
        span(then.latency_ns_max),
        span(now.latency_ns_max)
    )
}

fn cheaper_option(name: &str, fix: &str, by_cure: &Saving, beyond: &Saving) -> String {
    let more = if beyond.value >= 0.0 { "more" } else { "less" };
    format!(
        "a cure is cheaper, and would save up to {}, as if this drive were new ({fix}): {name} saves {} {more} than that, which decides here",
        format_span(by_cure.value),
        format_span(beyond.value)
    )
}

/// One number, or two.
fn range_text(low: f64, high: f64, words: impl Fn(f64) -> String) -> String {
    let (low, high) = (words(low), words(high));
    if low == high { low } else { format!("{low} to {high}") }
}
