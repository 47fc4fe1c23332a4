//! How a drive holds out under writing and comes back in rest, in sentences.

use likenew_core::units::three_digits;
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::{Interval, mean_interval};
use likenew_stats::steady_state::{ROUNDS, Window};
use likenew_stats::summary::{maximum, mean};

use super::consistency::Kind;
use super::results::AppResults;
use super::verdicts::{NOT_PCMARK, NOTICED_PERCENT};
use crate::CONFIDENCE;

/// Most important first: how far it falls, whether that is steady, whether rest brings it back.
pub(super) fn verdicts(measured: &AppResults<'_>) -> Vec<Verdict> {
    let scores: Vec<f64> = measured.phases().into_iter().map(|(_, of)| of.score).collect();
    let Some(best) = maximum(&scores) else { return Vec::new() };
    let [steady, recovered] = [Kind::Steady, Kind::Recover].map(|kind| measured.scores(kind));
    let fall = Fall::from_scores(&steady, best);
    [Some(degradation(fall, best)), Some(is_steady(&steady)), recovery(fall, &steady, &recovered, best)]
        .into_iter()
        .flatten()
        .collect()
}

/// How much of the best score is missing in the steady phases, in percent.
#[derive(Clone, Copy)]
struct Fall {
    percent: f64,
    interval: Option<Interval>,
}

impl Fall {
    fn from_scores(steady: &[f64], best: f64) -> Option<Self> {
        let missing = |score: f64| (1.0 - score / best) * 100.0;
        let interval = mean_interval(steady, CONFIDENCE);
        let interval = interval.map(|of| Interval { low: missing(of.high), high: missing(of.low) });
        Some(Self { percent: missing(mean(steady)?), interval })
    }

    fn has_fallen(&self) -> Option<bool> {
        match self.interval? {
            of if of.low >= NOTICED_PERCENT => Some(true),
            of if of.high <= NOTICED_PERCENT => Some(false),
            _ => None,
        }
    }
}

fn degradation(fall: Option<Fall>, best: f64) -> Verdict {
    const CLAIM: &str = "It keeps its speed under constant writing.";
    let Some(fall) = fall else {
        return Verdict::new(CLAIM, Standing::Undecided)
            .caveat("no steady phase was measured: let the run come to its end");
    };
    let percent = three_digits(fall.percent);
    let verdict = match fall.has_fallen() {
        Some(true) => {
            Verdict::new(format!("Under constant writing {percent} % of its application score are lost."), Standing::Holds).problem()
        }
        Some(false) => Verdict::new(CLAIM, Standing::Holds),
        None => Verdict::new(CLAIM, Standing::Undecided).caveat(format!(
            "what is lost lies too near to the {NOTICED_PERCENT:.0} % that would be noticed, or the steady phases differ too much, to say: \
             more --passes or a greater --scale would narrow that"
        )),
    };
    let verdict = match fall.interval {
        Some(of) => verdict.estimate(fall.percent, of.low, of.high, "%"),
        None => verdict,
    };
    verdict
        .with_evidence(format!(
            "the steady phases against the best of all phases, which scored {}",
            three_digits(best)
        ))
        .caveat(NOT_PCMARK)
}

/// SNIA's rule, over the five steady phases.
fn is_steady(steady: &[f64]) -> Verdict {
    const CLAIM: &str = "What is left under constant writing is steady.";
    let Some(window) = Window::last(steady) else {
        return Verdict::new(CLAIM, Standing::Undecided)
            .caveat(format!("{} of {ROUNDS} steady phases were measured", steady.len()));
    };
    let standing = if window.is_steady() { Standing::Holds } else { Standing::Fails };
    let list: Vec<String> = steady.iter().map(|score| three_digits(*score)).collect();
    Verdict::new(CLAIM, standing).with_evidence(format!(
        "the steady phases scored {}; steady by SNIA's rule are five values that differ by at most 20 % of their mean, along a line that \
         changes by at most 10 % of it",
        list.join(", ")
    ))
}

/// Whether the last rest brought it back to within what is noticed of its best. Its one score is as uncertain as a steady one.
fn recovery(fall: Option<Fall>, steady: &[f64], recovered: &[f64], best: f64) -> Option<Verdict> {
    let fall = fall.filter(|fall| fall.has_fallen() != Some(false))?;
    const CLAIM: &str = "Idle minutes bring it back.";
    let Some(last) = recovered.last() else {
        return Some(
            Verdict::new(CLAIM, Standing::Undecided)
                .caveat("no phase of recovery was measured: let the run come to its end"),
        );
    };
    let left = last / best * 100.0;
    // One more value of the same scatter lies within mean ± t·s·√(1 + 1/n); its own half of that is t·s.
    let spread = mean_interval(steady, CONFIDENCE)
        .map(|of| (of.high - of.low) / 2.0 * (steady.len() as f64).sqrt() / best * 100.0);
    let limit = 100.0 - NOTICED_PERCENT;
    let standing = match spread {
        Some(half) if fall.has_fallen().is_some() && left - half >= limit => Standing::Holds,
        Some(half) if fall.has_fallen().is_some() && left + half <= limit => Standing::Fails,
        _ => Standing::Undecided,
    };
    let list: Vec<String> = recovered.iter().map(|score| three_digits(score / best * 100.0)).collect();
    let mut verdict = Verdict::new(CLAIM, standing)
        .with_evidence(format!("of its best score, the phases of recovery had {} %", list.join(", ")));
    if let Some(half) = spread {
        verdict = verdict.estimate(left, (left - half).max(0.0), left + half, "%");
    }
    Some(match standing {
        Standing::Undecided => verdict.caveat(format!(
            "the last one is too near to the {limit:.0} % that would be as new, or the phases scatter too much, to say"
        )),
        _ => verdict,
    })
}
