//! The answer in sentences: one for each candidate, and which of several it should be.

use likenew_core::units::Nanos;
use likenew_core::verdict::{Standing, Verdict};

use super::saving::{Saving, WORTH};
use super::waits::Waits;
use super::{DriveOption, Role, UpgradeOptions, spelled};

/// What there is to answer from.
pub(super) struct Answer<'a> {
    pub(super) options: &'a UpgradeOptions,
    /// What would mend this drive.
    pub(super) cure: Option<&'a str>,
}

impl Answer<'_> {
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        let Some(elapsed) = self.options.elapsed() else { return Vec::new() };
        let candidates = self.options.candidates();
        let mut verdicts: Vec<Verdict> =
            candidates.iter().map(|(drive, waits)| self.worth(drive, waits, elapsed)).collect();
        verdicts.extend(which(&candidates, elapsed));
        verdicts
    }

    /// Whether one of them is worth it.
    fn worth(&self, drive: &DriveOption, waits: &Waits, elapsed: Nanos) -> Verdict {
        let name = &drive.name;
        let Some(now) = self.options.waits_of(Role::Now) else {
            let claim = format!("It is worth replacing this drive by {name}.");
            let verdict = Verdict::new(claim, Standing::Undecided)
                .because("the recording does not say how long its I/Os took, so that there is nothing to save from")
                .because(format!("with {name} {}", waited(waits)));
            return self.with_caveats(verdict, drive);
        };
        let saving = Saving::of(now, waits);
        // What is not there can not be bought off: a cure comes first, where there is one.
        let cured = self.options.waits_of(Role::AsNew).filter(|_| self.cure.is_some());
        let cured = cured.map(|cured| (Saving::of(now, cured), Saving::of(cured, waits)));
        let cured = cured.filter(|(by_cure, _)| by_cure.value > 0.0);
        let decisive = cured.map_or(saving, |(_, beyond)| beyond);
        let verdict = Verdict::new(claim(name, &saving, elapsed), decisive.standing(elapsed))
            .estimate(saving.value, saving.low, saving.high, "ns")
            .because(format!("in the recorded {elapsed} {}", waited(now)))
            .because(format!("with {name} {}", waited(waits)))
            .because(format!(
                "what it saves is {} % of the time; worth it begins at {:.0} %",
                between(saving.low, saving.high, |ns| format!("{:.1}", ns / elapsed.0 as f64 * 100.0)),
                WORTH * 100.0
            ))
            .because(slowest(now, waits));
        let verdict = match (cured, self.cure) {
            (Some((by_cure, beyond)), Some(cure)) => verdict.because(cheaper(name, cure, &by_cure, &beyond)),
            _ => verdict,
        };
        self.with_caveats(verdict, drive)
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
        if self.options.day.as_ref().is_some_and(|day| !day.knows_ends) {
            verdict = verdict.caveat(
                "The recording knows no ends of I/Os: each program is taken to do one after the other.",
            );
        }
        if drive.scaled {
            verdict = verdict.caveat(format!(
                "{} has fewer addresses than the recorded drive, so all were brought closer together; whether the data fits is not known.",
                drive.name
            ));
        }
        verdict
    }
}

fn claim(name: &str, saving: &Saving, elapsed: Nanos) -> String {
    if saving.value >= 0.0 {
        format!(
            "It is worth replacing this drive by {name}, which would save {} of waiting in {elapsed}.",
            spelled(saving.value)
        )
    } else {
        format!(
            "It is worth replacing this drive by {name}, for which {} more would be waited in {elapsed}.",
            spelled(saving.value)
        )
    }
}

/// What was waited, and what it could have been.
fn waited(waits: &Waits) -> String {
    format!(
        "reads and flushes were waited for {}, and with the writes, for which programs need not wait, it was busy for {}",
        spelled(waits.low_ns()),
        spelled(waits.high_ns())
    )
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

fn cheaper(name: &str, cure: &str, by_cure: &Saving, beyond: &Saving) -> String {
    let more = if beyond.value >= 0.0 { "more" } else { "less" };
    format!(
        "a cure is cheaper, and would save up to {}, as if this drive were new ({cure}): {name} saves {} {more} than that, which decides here",
        spelled(by_cure.value),
        spelled(beyond.value)
    )
}

/// One number, or two.
fn between(low: f64, high: f64, words: impl Fn(f64) -> String) -> String {
    let (low, high) = (words(low), words(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Which of several leaves least to wait for, and whether that is worth a difference in price.
fn which(candidates: &[(&DriveOption, &Waits)], elapsed: Nanos) -> Option<Verdict> {
    let [(best, least), (next, more), ..] = candidates else { return None };
    let saving = Saving::of(more, least);
    let claim =
        format!("Of these {} drives {} is worth a higher price than any other.", candidates.len(), best.name);
    let verdict = Verdict::new(claim, saving.standing(elapsed));
    Some(verdict.because(format!(
        "it saves {} more than {}; what is less than {:.0} % of the time nobody notices who does not measure it",
        between(saving.low.max(0.0), saving.high.max(0.0), spelled),
        next.name,
        WORTH * 100.0
    )))
}
