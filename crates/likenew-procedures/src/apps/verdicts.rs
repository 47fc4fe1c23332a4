//! What the score says, in sentences.

use likenew_core::units::{Nanos, rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::{Interval, mean_interval};
use likenew_stats::summary::mean;

use super::results::{AppResults, OverallScore};
use super::score::geometric_mean;
use crate::CONFIDENCE;

/// A score is known when its interval is within so much of it, and speed is kept when no more than so much is lost.
pub(super) const NOTICED_PERCENT: f64 = 10.0;

pub(super) const NOT_PCMARK: &str = "it is made as UL makes the score of PCMark 10 and is not that score: counts and bytes of these mixes were \
     published, where and in which order I/Os went was not (the table sources says what is assumed)";

/// Most important first.
pub(super) fn verdicts(measured: &AppResults<'_>, scale: f64) -> Vec<Verdict> {
    let overalls = measured.overalls();
    score_verdict(&overalls, scale).into_iter().chain(steadiness(measured, overalls.len())).collect()
}

fn score_verdict(overalls: &[OverallScore], scale: f64) -> Option<Verdict> {
    let scores: Vec<f64> = overalls.iter().map(|of| of.score).collect();
    let score = mean(&scores)?;
    let interval = mean_interval(&scores, CONFIDENCE);
    let known = interval.filter(|of| of.high - of.low <= 2.0 * NOTICED_PERCENT / 100.0 * score);
    let standing = if known.is_some() { Standing::Holds } else { Standing::Undecided };
    let metric = |of: fn(&OverallScore) -> f64| {
        geometric_mean(&overalls.iter().map(|overall| Some(of(overall))).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let passes = overalls.len();
    let mut verdict = Verdict::new(format!("Its application score is {}.", three_digits(score)), standing)
        .with_evidence(format!(
            "{} over busy time and a mean access time of {}: geometric means over all applications, {passes} {}",
            rate(metric(|of| of.bytes_per_s)),
            Nanos(metric(|of| of.access_time_ns) as u64),
            if passes == 1 { "pass" } else { "passes" }
        ))
        .caveat(NOT_PCMARK);
    if let Some(Interval { low, high }) = interval {
        verdict = verdict.estimate(score, low.max(0.0), high, "points");
    }
    if scale < 1.0 {
        let percent = three_digits(scale * 100.0);
        verdict = verdict.caveat(format!(
            "{percent} % of the published I/Os were played: the target is small, or --scale said so"
        ));
    }
    Some(match (known, interval) {
        (Some(_), _) => verdict,
        (None, None) => verdict.caveat("one pass: nothing says how another would differ; give --passes 3 or more"),
        (None, Some(_)) => verdict.caveat(format!(
            "passes differ so much that it is not known to {NOTICED_PERCENT:.0} %: give more --passes, or a greater --scale"
        )),
    })
}

/// Whether the last pass is as fast as the first, application by application.
fn steadiness(measured: &AppResults<'_>, passes: usize) -> Option<Verdict> {
    const CLAIM: &str = "It keeps its speed from pass to pass.";
    let last = passes.checked_sub(1)?;
    if last == 0 {
        let reason = "one pass: whether the next one would be slower is not known; give --passes 2 or more";
        return Some(Verdict::new(CLAIM, Standing::Undecided).caveat(reason));
    }
    let ratio = |application: usize| {
        let [first, then] = [0, last].map(|test| measured.pass_totals(test, application));
        Some((then?.score() / first?.score()).ln())
    };
    let ratios: Vec<f64> = (0..measured.applications()).filter_map(ratio).collect();
    let left = mean(&ratios)?.exp() * 100.0;
    let interval = mean_interval(&ratios, CONFIDENCE);
    let interval = interval.map(|of| Interval { low: of.low.exp() * 100.0, high: of.high.exp() * 100.0 });
    let limit = 100.0 - NOTICED_PERCENT;
    let lost = three_digits(100.0 - left);
    let verdict = match interval {
        Some(of) if of.low >= limit => Verdict::new(CLAIM, Standing::Holds),
        Some(of) if of.high <= limit => {
            Verdict::new(format!("It got slower as it was used: the last pass scored {lost} % less."), Standing::Holds).problem()
        }
        Some(of) => Verdict::new(CLAIM, Standing::Undecided).caveat(format!(
            "between {} and {} % of the score are left, so it may be less or more than the {limit:.0} % that would be noticed",
            three_digits(of.low),
            three_digits(of.high)
        )),
        None => Verdict::new(CLAIM, Standing::Undecided).caveat("one application: nothing says how another would differ"),
    };
    let verdict = match interval {
        Some(of) => verdict.estimate(left, of.low, of.high, "%"),
        None => verdict,
    };
    Some(verdict.with_evidence(format!(
        "of the score of the first pass {} % are left in the last, application by application",
        three_digits(left)
    )))
}
