//! What a replay says: whether the day would be faster, and how far that can be trusted.

use likenew_core::replay_record::{ReplayPair, ReplayRecord};
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::mean_interval;
use likenew_stats::summary::mean;

use super::pass::Pass;
use super::span_text;
use super::{ReplayMode, ReplayOptions};
use crate::CONFIDENCE;

/// A single pass has no interval: less than this, in percent, is called no difference then.
const MARGIN_PERCENT: f64 = 5.0;
/// Where the recording knows the latency of fewer I/Os than this share, they may not stand for the others.
const PAIRED_MIN: f64 = 0.5;
/// Lateness of the replay itself is worth a word from this share of the waiting on.
const LATE_SHARE: f64 = 0.01;

/// What there is to answer from.
pub(super) struct ReplayInput<'a> {
    pub(super) options: &'a ReplayOptions,
    pub(super) passes: &'a [Pass<'a>],
    pub(super) geometry: &'a Geometry,
}

const CLAIM: &str = "This drive would make the recorded day faster.";

impl ReplayInput<'_> {
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts = vec![self.caveats(self.faster())];
        verdicts.extend(self.on_time());
        verdicts
    }

    /// What decides: all waiting, or where I/Os do not leave as they did, the time with anything in flight.
    fn measure(&self, pass: &Pass<'_>) -> ReplayPair {
        match self.options.mode {
            ReplayMode::Fast => pass.replay_record.busy,
            ReplayMode::Timed | ReplayMode::Dependent => pass.replay_record.waiting(),
        }
    }

    fn faster(&self) -> Verdict {
        let undecided = |reason: &str| Verdict::new(CLAIM, Standing::Undecided).with_evidence(reason);
        let Some(first) = self.passes.first() else {
            return undecided("nothing was measured");
        };
        let saved: Vec<f64> =
            self.passes.iter().filter_map(|pass| self.measure(pass).saved_percent()).collect();
        let Some(value) = mean(&saved) else {
            return undecided("the recording does not say how long its I/Os took").with_evidence(format!(
                "here they waited for {} in all",
                span_text(first.waiting_here() as f64)
            ));
        };
        let verdict = self.decide(value, &saved);
        let verdict = self.with_evidence(verdict, value);
        let share = first.replay_record.paired_ios() as f64 / first.replay_record.ios as f64;
        if share >= PAIRED_MIN {
            return verdict;
        }
        Verdict { standing: Standing::Undecided, ..verdict }.with_evidence(format!(
            "the recording knows the latency of {:.0} % of the I/Os alone",
            share * 100.0
        ))
    }

    fn decide(&self, value: f64, saved: &[f64]) -> Verdict {
        let (low, high, margin) = match mean_interval(saved, CONFIDENCE) {
            Some(interval) => (interval.low, interval.high, 0.0),
            None => (value, value, MARGIN_PERCENT),
        };
        let standing = if low > margin {
            Standing::Holds
        } else if high < -margin {
            Standing::Fails
        } else {
            Standing::Undecided
        };
        let verdict = Verdict::new(CLAIM, standing);
        let verdict = match (saved.len(), standing) {
            (1, Standing::Undecided) => verdict.with_evidence(format!(
                "the difference is less than {MARGIN_PERCENT} %, and one pass has no interval"
            )),
            (_, Standing::Undecided) => {
                verdict.with_evidence("the difference is within the noise of the passes")
            }
            _ => verdict,
        };
        let verdict = if saved.len() > 1 {
            verdict.estimate(value, low, high, "%")
        } else {
            verdict.caveat("measured once: nothing says how the next pass would differ")
        };
        self.doubt_lateness(verdict)
    }

    /// A replay that was late itself must not make the drive slow.
    fn doubt_lateness(&self, verdict: Verdict) -> Verdict {
        if verdict.standing != Standing::Fails || self.options.mode == ReplayMode::Fast {
            return verdict;
        }
        let on_time = |pass: &Pass<'_>| {
            let ReplayPair { replayed_ns, recorded_ns } = self.measure(pass);
            ReplayPair { replayed_ns: replayed_ns.saturating_sub(pass.instrument_lateness()), recorded_ns }
                .saved_percent()
        };
        let on_time: Vec<f64> = self.passes.iter().filter_map(on_time).collect();
        match mean(&on_time) {
            Some(saved) if saved > -MARGIN_PERCENT => Verdict { standing: Standing::Undecided, ..verdict }
                .with_evidence("the I/Os left late, which was not this drive's doing, and without that it would be no slower"),
            _ => verdict,
        }
    }

    fn with_evidence(&self, verdict: Verdict, saved: f64) -> Verdict {
        let of = |measure: &dyn Fn(&Pass<'_>) -> u64| {
            let values: Vec<f64> = self.passes.iter().map(|pass| measure(pass) as f64).collect();
            span_text(mean(&values).unwrap_or(0.0))
        };
        let compared = |saved: f64| {
            // From here on nobody reads a change in percent.
            const DOUBLE: f64 = -100.0;
            match saved {
                ..=DOUBLE => format!("{} times as long", three_digits(1.0 - saved / 100.0)),
                ..0.0 => format!("{:.1} % more", -saved),
                _ => format!("{saved:.1} % less"),
            }
        };
        let busy = |pass: &Pass<'_>| pass.replay_record.busy;
        let percent = ReplayPair {
            replayed_ns: of(&|pass| busy(pass).replayed_ns).0,
            recorded_ns: of(&|pass| busy(pass).recorded_ns).0,
        }
        .saved_percent()
        .map_or(String::new(), |saved| format!(": {}", compared(saved)));
        let busy_said = format!(
            "something was in flight for {} here and {} in the recording{percent}",
            of(&|pass| busy(pass).replayed_ns),
            of(&|pass| busy(pass).recorded_ns)
        );
        if self.options.mode == ReplayMode::Fast {
            return verdict.with_evidence(busy_said);
        }
        let verdict = verdict
            .with_evidence(format!(
                "its I/Os waited for {} here and {} in the recording: {}",
                of(&|pass| self.measure(pass).replayed_ns),
                of(&|pass| self.measure(pass).recorded_ns),
                compared(saved)
            ))
            .with_evidence(busy_said);
        if self.options.mode == ReplayMode::Timed
            || self.options.idle_max.is_some()
            || self.options.speed != 1.0
        {
            return verdict;
        }
        verdict.with_evidence(format!(
            "it was over after {} here and {} in the recording",
            of(&|pass| pass.segment.elapsed().0),
            of(&|pass| pass.replay_record.recorded_elapsed.0)
        ))
    }

    fn caveats(&self, mut verdict: Verdict) -> Verdict {
        let Some(first) = self.passes.first() else { return verdict };
        let ReplayRecord { ios, skips, remapped_ios, .. } = first.replay_record;
        let ReplayOptions { idle_max, speed, reads_only, .. } = self.options;
        let part = |of: u64, all: u64| of as f64 / all.max(1) as f64 * 100.0;
        let mut add = |is: bool, sentence: String| {
            if is {
                verdict.caveats.push(sentence);
            }
        };
        add(
            !first.is_whole(),
            format!("it was stopped before its end: this is about its first {ios} I/Os alone"),
        );
        add(self.options.time.is_some(), "a pass ended when its time was over, wherever it was".into());
        add(
            self.options.mode == ReplayMode::Fast,
            "as fast as it goes says nothing of think times: so many I/Os were in flight as the recorded programs never had".into(),
        );
        add(
            self.options.mode == ReplayMode::Timed,
            "I/Os left when they had left there: programs would have waited for a slower drive, and gone on earlier on a faster one".into(),
        );
        for note in self.options.summary.iter().flat_map(|summary| &summary.notes) {
            add(true, format!("of the recording: {note}"));
        }
        let ends = self.options.summary.as_ref().map_or(0, |summary| summary.ends);
        add(
            self.options.mode == ReplayMode::Dependent && ends == 0,
            "each application was taken to do one I/O after the other, as the recording says of none when it ended".into(),
        );
        add(*speed != 1.0, format!("recorded time was replayed {speed} times as fast"));
        let idle_cut = idle_max.map_or(String::new(), |most| {
            format!("pauses were cut to {most}, in which a drive recovers less")
        });
        add(idle_max.is_some(), idle_cut);
        let reason = if *reads_only { "only reads were replayed" } else { "this target has no TRIM" };
        add(*skips > 0, format!("{:.1} % of the I/Os were left out, as {reason}", part(*skips, ios + skips)));
        add(
            *remapped_ios > 0,
            format!(
                "{:.1} % of the I/Os were moved, or became longer, to fit this target's addresses and blocks",
                part(*remapped_ios, *ios)
            ),
        );
        let writes = self.options.summary.as_ref().is_some_and(|summary| summary.writes > 0);
        add(
            writes && !reads_only,
            format!("what was written is not in the recording: {} data stands for it", self.options.data),
        );
        add(
            self.options.prepare && self.geometry.writable,
            "what it touches was written once in order beforehand, and not as years of use leave it".into(),
        );
        verdict
    }

    /// Whether the replay itself kept the times.
    fn on_time(&self) -> Option<Verdict> {
        let first = self.passes.first()?;
        if first.replay_record.lateness.count() == 0 || self.geometry.clock == Clock::Virtual {
            return None;
        }
        let lateness: u64 = self.passes.iter().map(Pass::instrument_lateness).sum();
        let waiting: u64 = self.passes.iter().map(Pass::waiting_here).sum();
        let share = lateness as f64 / waiting.max(1) as f64;
        let worst = self
            .passes
            .iter()
            .map(|pass| pass.replay_record.lateness.quantile(0.99))
            .max()
            .unwrap_or(Nanos::ZERO);
        let standing = if share <= LATE_SHARE { Standing::Holds } else { Standing::Fails };
        Some(
            Verdict::new("The I/Os left when they were due.", standing)
                .with_evidence(format!("99 of 100 left at most {worst} late"))
                .with_evidence(format!(
                    "lateness that was not the drive's doing is {:.2} % of all waiting",
                    share * 100.0
                )),
        )
    }
}
