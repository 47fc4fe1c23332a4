//! The result of the scores of a run.

use likenew_core::answer::{Answer, Standing};
use likenew_core::findings::Findings;
use likenew_core::overview::OverviewTable;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Latency, Rate, Share};
use likenew_core::units::exact_duration;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::steady_state::Window;
use likenew_stats::summary::{maximum, mean};

use super::application::Application;
use super::consistency::Kind;
use super::results::{AppResults, OverallScore};
use super::score::{PassTotals, geometric_mean};
use super::wording::{self, ApplicationRow, Overall, ShareRange, StageRow};
use super::{Apps, AppsOptions};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::answer_as_summary;

/// Width of an interval, as a share, up to which a score is known, and loss up to which speed is kept; our
/// choice, as half of what SNIA allows between rounds.
const NOTICED: f64 = 0.10;
/// Number of passes to advise after one pass, and after several that were not enough.
const PASSES_FEW: u32 = 3;
const PASSES_MANY: u32 = 10;

/// The run, with what its actions need.
pub(super) struct Run<'a> {
    pub(super) options: &'a AppsOptions,
    pub(super) evidence: &'a Evidence,
    pub(super) applications: &'a [Application],
}

impl Run<'_> {
    /// Adds summary, answers and overview, most important first.
    pub(super) fn put(&self, findings: &mut Findings, measured: &AppResults<'_>) {
        if self.options.consistency {
            self.put_consistency(findings, measured);
        } else {
            self.put_passes(findings, measured);
        }
    }

    fn put_passes(&self, findings: &mut Findings, measured: &AppResults<'_>) {
        let overalls = measured.overalls();
        let overall = overall(&overalls, measured.applications());
        let score = overall.map(|overall| self.score(overall));
        let over_passes = self.speed_over_passes(measured, overalls.len());
        let lost = over_passes.as_ref().filter(|(answer, _)| answer.standing == Standing::Problem);
        findings.summary = match (lost, overall) {
            (Some((_, left)), overall) => wording::summary_of_lost_speed(Share(1.0 - left), overall),
            (None, Some(overall)) => wording::summary_of_score(overall),
            (None, None) => String::new(),
        };
        let is_lost = lost.is_some();
        let over_passes = over_passes.map(|(answer, _)| answer);
        let order = if is_lost { [over_passes, score] } else { [score, over_passes] };
        findings.answers.extend(order.into_iter().flatten());
        findings.overview.table = self.applications_table(measured);
    }

    fn score(&self, overall: Overall) -> Answer {
        let Overall { score, interval, .. } = overall;
        let is_known = interval.map(|of| of.high - of.low <= 2.0 * NOTICED * score);
        let answer = match is_known {
            Some(true) => wording::score(overall),
            Some(false) => {
                let answer = wording::score_is_imprecise(overall, Share(NOTICED));
                wording::with_rerun(answer, self.rerun(PASSES_MANY).as_ref())
            }
            None => {
                let answer = wording::score_of_one_pass(overall);
                wording::with_rerun(answer, self.rerun(PASSES_FEW).as_ref())
            }
        };
        let answer = match interval {
            Some(Interval { low, high }) => answer.estimate(score, low.max(0.0), high, "points"),
            None => answer,
        };
        let scale = self.options.scale;
        if scale < 1.0 { answer.caveat(wording::played_in_part(Share(scale))) } else { answer }
    }

    /// Whether the last pass is as fast as the first, application by application, and the share that is left.
    fn speed_over_passes(&self, measured: &AppResults<'_>, passes: usize) -> Option<(Answer, f64)> {
        let last = passes.checked_sub(1)?;
        if last == 0 {
            let answer = wording::speed_over_one_pass();
            return Some((wording::with_rerun(answer, self.rerun(PASSES_FEW).as_ref()), 1.0));
        }
        let ratio = |application: usize| {
            let [first, then] = [0, last].map(|test| measured.pass_totals(test, application));
            Some((then?.score() / first?.score()).ln())
        };
        let ratios: Vec<f64> = (0..measured.applications()).filter_map(ratio).collect();
        let value = mean(&ratios)?.exp();
        let Some(Interval { low, high }) = mean_interval(&ratios, CONFIDENCE_95) else {
            return Some((wording::speed_of_one_application(Share(value)), value));
        };
        let left = ShareRange { value, low: low.exp(), high: high.exp() };
        let answer = if left.low >= 1.0 - NOTICED {
            wording::passes_keep_speed(left)
        } else if left.high <= 1.0 - NOTICED {
            wording::passes_lose_speed(rest_of(left))
        } else {
            wording::with_rerun(wording::speed_over_passes_unclear(left), self.rerun(PASSES_MANY).as_ref())
        };
        Some((answer.estimate(100.0 * left.value, 100.0 * left.low, 100.0 * left.high, "%"), value))
    }

    /// The same run with so many passes; none with applications of one's own, whose file is not known.
    fn rerun(&self, passes: u32) -> Option<Rerun> {
        let again = AppsOptions { passes, ..self.options.clone() };
        Some(Rerun::new(self.evidence, &self.rerun_options(passes)?, Apps::new(again)))
    }

    /// The options of the same run with this many passes; `None` with custom applications, whose file is
    /// unknown.
    fn rerun_options(&self, passes: u32) -> Option<String> {
        let AppsOptions { applications, custom, consistency, minutes, time, think, data, .. } = self.options;
        let usual = AppsOptions::default();
        if !custom.is_empty() {
            return None;
        }
        let mut options: Vec<String> = Vec::new();
        if *applications != usual.applications {
            options.extend(applications.iter().map(|name| format!("--app {name}")));
        }
        if *consistency {
            options.push("--consistency".into());
            options.extend((*minutes != 1.0).then(|| format!("--minutes {minutes}")));
        }
        options.extend((*time != usual.time).then(|| format!("--time {}", exact_duration(*time))));
        options.extend(think.then(|| "--think".to_owned()));
        options.extend((*data != usual.data).then(|| format!("--data {data}")));
        options.push(format!("--passes {passes}"));
        Some(options.join(" "))
    }

    fn applications_table(&self, measured: &AppResults<'_>) -> Option<OverviewTable> {
        let row = |index: usize| {
            let passes = measured.all(index);
            let metric = |of: fn(&PassTotals) -> f64| mean(&passes.iter().map(of).collect::<Vec<_>>());
            let scores: Vec<f64> = passes.iter().map(PassTotals::score).collect();
            Some(ApplicationRow {
                name: &self.applications[index].name,
                score: mean(&scores)?,
                interval: mean_interval(&scores, CONFIDENCE_95),
                rate: Rate(metric(PassTotals::bytes_per_s)?),
                access_time: Latency(metric(PassTotals::access_time_ns)?),
            })
        };
        let rows: Vec<ApplicationRow<'_>> = (0..self.applications.len()).filter_map(row).collect();
        (!rows.is_empty()).then(|| wording::applications_table(&rows))
    }

    fn put_consistency(&self, findings: &mut Findings, measured: &AppResults<'_>) {
        let scores: Vec<f64> = measured.phases().into_iter().map(|(_, of)| of.score).collect();
        let Some(best) = maximum(&scores) else { return };
        let [steady, recovered] = [Kind::Steady, Kind::Recover].map(|kind| measured.scores(kind));
        let fall = Fall::from_scores(&steady, best);
        let recovery = self.recovery(fall, &steady, &recovered, best);
        findings.summary = match fall.and_then(|fall| Some((fall.share, fall.has_fallen()?))) {
            Some((lost, true)) => {
                let decided = recovery.as_ref().filter(|answer| answer.standing != Standing::Unknown);
                let last = recovered.last().map(|score| Share(score / best));
                let recovered = decided.zip(last).map(|(of, share)| (share, of.standing == Standing::Good));
                wording::summary_of_writing(Share(lost), best, best * (1.0 - lost), recovered)
            }
            Some((lost, false)) => wording::summary_of_kept_score(best, Share(lost)),
            None => String::new(),
        };
        findings.answers.push(self.score_under_writes(fall, best));
        findings.answers.push(steady_state(&steady));
        findings.answers.extend(recovery);
        let rows = [
            StageRow { name: wording::BEST_STAGE, score: Some(best) },
            StageRow { name: wording::STEADY_STAGE, score: mean(&steady) },
            StageRow { name: wording::RECOVERED_STAGE, score: recovered.last().copied() },
        ];
        findings.overview.table = Some(wording::stages_table(&rows, best));
        findings.overview.series = Some("score_by_phase".into());
    }

    fn score_under_writes(&self, fall: Option<Fall>, best: f64) -> Answer {
        let Some(fall) = fall else { return wording::no_steady_phase() };
        let answer = match (fall.has_fallen(), fall.range) {
            (Some(true), Some(lost)) => wording::writing_costs_score(lost, best),
            (Some(false), Some(lost)) => wording::writing_costs_no_score(lost, best),
            (_, range) => {
                let answer = wording::score_under_writes_unclear(Share(fall.share), range, best);
                wording::with_rerun(answer, self.rerun(PASSES_FEW).as_ref())
            }
        };
        match fall.range {
            Some(ShareRange { value, low, high }) => {
                answer.estimate(100.0 * value, 100.0 * low, 100.0 * high, "%")
            }
            None => answer,
        }
    }

    /// Whether the last idle time restored the score to within a tenth of its best. That single score is as
    /// uncertain as a steady one.
    fn recovery(&self, fall: Option<Fall>, steady: &[f64], recovered: &[f64], best: f64) -> Option<Answer> {
        let fall = fall.filter(|fall| fall.has_fallen() != Some(false))?;
        let Some(last) = recovered.last() else { return Some(wording::no_recovery_phase()) };
        let left = last / best;
        // One more value of the same scatter lies within mean ± t·s·√(1 + 1/n); half of that range is t·s.
        let range = mean_interval(steady, CONFIDENCE_95).map(|of| {
            let half = (of.high - of.low) / 2.0 * (steady.len() as f64).sqrt() / best;
            ShareRange { value: left, low: (left - half).max(0.0), high: left + half }
        });
        let limit = 1.0 - NOTICED;
        let answer = match range.filter(|_| fall.has_fallen().is_some()) {
            Some(range) if range.low >= limit => wording::recovers(range),
            Some(range) if range.high <= limit => wording::does_not_recover(range),
            _ => {
                let answer = wording::recovery_unclear(Share(left), range);
                wording::with_rerun(answer, self.rerun(PASSES_FEW).as_ref())
            }
        };
        let shares: Vec<Share> = recovered.iter().map(|score| Share(score / best)).collect();
        let answer = answer.with_evidence(wording::recovery_phases(&shares));
        Some(match range {
            Some(ShareRange { value, low, high }) => {
                answer.estimate(100.0 * value, 100.0 * low, 100.0 * high, "%")
            }
            None => answer,
        })
    }
}

/// Adds a summary if nothing was decided, and lists below it what the summary leaves out.
pub(super) fn finish(findings: &mut Findings) {
    if findings.summary.is_empty() {
        findings.summary = findings.answers.first().map(answer_as_summary).unwrap_or_default();
    }
    // That one pass was played is in the summary, and so is what idle time restores, where that is known.
    let is_said = |answer: &&Answer| {
        let is_recovery = wording::is_about_recovery(answer) && answer.standing != Standing::Unknown;
        is_recovery || wording::is_about_one_pass(answer)
    };
    let rest = findings.answers.iter().skip(1).filter(|answer| !is_said(answer));
    findings.overview.answers = rest.map(|answer| answer.id.clone()).collect();
}

/// All passes together; `None` before every application was replayed once.
fn overall(overalls: &[OverallScore], applications: usize) -> Option<Overall> {
    let scores: Vec<f64> = overalls.iter().map(|of| of.score).collect();
    let metric = |of: fn(&OverallScore) -> f64| {
        geometric_mean(&overalls.iter().map(|overall| Some(of(overall))).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    Some(Overall {
        score: mean(&scores)?,
        interval: mean_interval(&scores, CONFIDENCE_95),
        rate: Rate(metric(|of| of.bytes_per_s)),
        access_time: Latency(metric(|of| of.access_time_ns)),
        applications: applications as u64,
        passes: overalls.len() as u64,
    })
}

/// The share lost if this share is left.
fn rest_of(left: ShareRange) -> ShareRange {
    ShareRange { value: 1.0 - left.value, low: 1.0 - left.high, high: 1.0 - left.low }
}

/// How much of the best score is missing in the steady phases, as a share of 1.
#[derive(Clone, Copy)]
struct Fall {
    share: f64,
    range: Option<ShareRange>,
}

impl Fall {
    fn from_scores(steady: &[f64], best: f64) -> Option<Self> {
        let share = 1.0 - mean(steady)? / best;
        let range = mean_interval(steady, CONFIDENCE_95).map(|of| ShareRange {
            value: share,
            low: 1.0 - of.high / best,
            high: 1.0 - of.low / best,
        });
        Some(Self { share, range })
    }

    fn has_fallen(&self) -> Option<bool> {
        match self.range? {
            of if of.low >= NOTICED => Some(true),
            of if of.high <= NOTICED => Some(false),
            _ => None,
        }
    }
}

/// SNIA's rule, over the five steady phases.
fn steady_state(steady: &[f64]) -> Answer {
    match Window::last(steady) {
        None => wording::too_few_steady_phases(steady.len()),
        Some(window) if window.is_steady() => wording::steady(steady),
        Some(_) => wording::not_steady(steady),
    }
}
