//! Answers of apps: the score, whether later passes keep it, and how it holds up under sustained writes.

use likenew_core::findings::{Answer, Findings, OverviewTable, Standing};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Latency, Rate, Share};
use likenew_core::units::exact_duration;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::options::Arguments;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::answer_as_summary;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::steady_state::Window;
use likenew_stats::summary::{maximum, mean};

use super::phases::Kind;
use super::results::{AppResults, OverallScore, PassTotals, geometric_mean};
use super::wording::{self, ApplicationRow, Overall, StageRow};
use super::{Apps, AppsOptions};

/// Half width of an interval, as a share, up to which a score is known, and loss up to which speed is kept. Chosen:
/// half of what SNIA allows between rounds.
const NOTICED: f64 = 0.10;
/// Passes to advise after a single one.
const PASSES_FEW: u32 = 3;
/// Passes to advise after several that were not enough.
const PASSES_MANY: u32 = 10;

/// A run's options and evidence, from which the answers are made.
pub(super) struct Run<'a> {
    pub(super) options: &'a AppsOptions,
    pub(super) evidence: &'a Evidence,
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
        let overall = overall(&overalls, measured.applications.len());
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
        let score = overall.score;
        let answer = match score
            .interval
            .map(|interval| interval.high - interval.low <= 2.0 * NOTICED * score.value)
        {
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
        let answer = score.not_negative().put(answer, "points");
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
            let [first, then] = [0, last].map(|test| measured.tests[test][application]);
            Some((then?.score() / first?.score()).ln())
        };
        let ratios: Vec<f64> = (0..measured.applications.len()).filter_map(ratio).collect();
        let left = Estimate::of_passes(&ratios)?.map(f64::exp);
        let answer = match left.against(1.0 - NOTICED) {
            Verdict::Above => wording::passes_keep_speed(left),
            Verdict::Below => wording::passes_lose_speed(left.map(|left| 1.0 - left)),
            Verdict::OnePass => wording::speed_of_one_application(Share(left.value)),
            _ => {
                let answer = wording::speed_over_passes_unclear(left);
                wording::with_rerun(answer, self.rerun(PASSES_MANY).as_ref())
            }
        };
        Some((left.map(percent).put(answer, "%"), left.value))
    }

    /// The same run with this many passes; `None` with custom applications, whose file is unknown.
    fn rerun(&self, passes: u32) -> Option<Rerun> {
        let again = AppsOptions { passes, ..self.options.clone() };
        Some(Rerun::new(self.evidence, &self.rerun_options(passes)?, Apps::new(again)))
    }

    /// The options of the same run with this many passes; `None` with custom applications, whose file is
    /// unknown.
    fn rerun_options(&self, passes: u32) -> Option<String> {
        let AppsOptions { applications, custom, consistency, minutes, time, think, data, .. } = self.options;
        let defaults = AppsOptions::default();
        if !custom.is_empty() {
            return None;
        }
        let of_library = applications.iter().filter(|_| *applications != defaults.applications);
        let arguments =
            of_library.fold(Arguments::default(), |arguments, name| arguments.add(true, "app", name));
        let arguments = arguments
            .add(*consistency, "consistency", "")
            .add(*consistency && *minutes != 1.0, "minutes", minutes)
            .add(*time != defaults.time, "time", exact_duration(*time))
            .add(*think, "think", "")
            .add(*data != defaults.data, "data", data)
            .add(true, "passes", passes);
        Some(arguments.text())
    }

    fn applications_table(&self, measured: &AppResults<'_>) -> Option<OverviewTable> {
        let row = |index: usize| {
            let passes = measured.all(index);
            let mean_of =
                |metric: fn(&PassTotals) -> f64| mean(&passes.iter().map(metric).collect::<Vec<_>>());
            let scores: Vec<f64> = passes.iter().map(PassTotals::score).collect();
            Some(ApplicationRow {
                name: &measured.applications[index].name,
                score: Estimate::of_passes(&scores)?,
                rate: Rate(mean_of(PassTotals::bytes_per_s)?),
                access_time: Latency(mean_of(PassTotals::access_time_ns)?),
            })
        };
        let rows: Vec<ApplicationRow<'_>> = (0..measured.applications.len()).filter_map(row).collect();
        (!rows.is_empty()).then(|| wording::applications_table(&rows))
    }

    fn put_consistency(&self, findings: &mut Findings, measured: &AppResults<'_>) {
        let scores: Vec<f64> = measured.phases().into_iter().map(|(_, overall)| overall.score).collect();
        let Some(best) = maximum(&scores) else { return };
        let [steady, recovered] = [Kind::Steady, Kind::Recover].map(|kind| measured.scores(kind));
        // How much of the best score is missing in the steady phases, as a share of 1.
        let fall = Estimate::of_passes(&steady).map(|steady| steady.map(|score| 1.0 - score / best));
        let recovery = self.recovery(fall, &steady, &recovered, best);
        findings.summary = match fall.map(|fall| (fall.value, fall.against(NOTICED))) {
            Some((lost, Verdict::Above)) => {
                let decided = recovery.as_ref().filter(|answer| answer.standing != Standing::Unknown);
                let last = recovered.last().map(|score| Share(score / best));
                let recovered =
                    decided.zip(last).map(|(answer, share)| (share, answer.standing == Standing::Good));
                wording::summary_of_writing(Share(lost), best, best * (1.0 - lost), recovered)
            }
            Some((lost, Verdict::Below)) => wording::summary_of_kept_score(best, Share(lost)),
            _ => String::new(),
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

    fn score_under_writes(&self, fall: Option<Estimate>, best: f64) -> Answer {
        let Some(lost) = fall else { return wording::no_steady_phase() };
        let answer = match lost.against(NOTICED) {
            Verdict::Above => wording::writing_costs_score(lost, best),
            Verdict::Below => wording::writing_costs_no_score(lost, best),
            _ => {
                let answer = wording::score_under_writes_unclear(lost, best);
                wording::with_rerun(answer, self.rerun(PASSES_FEW).as_ref())
            }
        };
        lost.map(percent).put(answer, "%")
    }

    /// Whether the last idle time restored the score to within a tenth of its best. That single score is taken to be
    /// as uncertain as a steady one.
    fn recovery(
        &self,
        fall: Option<Estimate>,
        steady: &[f64],
        recovered: &[f64],
        best: f64,
    ) -> Option<Answer> {
        let fall = fall?.against(NOTICED);
        if fall == Verdict::Below {
            return None;
        }
        let Some(last) = recovered.last() else { return Some(wording::no_recovery_phase()) };
        let value = last / best;
        // One more value of the same scatter lies within mean ± t·s·√(1 + 1/n); t·s alone is taken.
        let interval = mean_interval(steady, CONFIDENCE_95).map(|mean_interval| {
            let half = (mean_interval.high - mean_interval.low) / 2.0 * (steady.len() as f64).sqrt() / best;
            Interval { low: (value - half).max(0.0), high: value + half }
        });
        let left = Estimate { value, interval };
        let answer = match (fall, left.against(1.0 - NOTICED)) {
            (Verdict::Above, Verdict::Above) => wording::recovers(left),
            (Verdict::Above, Verdict::Below) => wording::does_not_recover(left),
            _ => {
                let answer = wording::recovery_unclear(left);
                wording::with_rerun(answer, self.rerun(PASSES_FEW).as_ref())
            }
        };
        let shares: Vec<Share> = recovered.iter().map(|score| Share(score / best)).collect();
        Some(left.map(percent).put(answer.with_evidence(wording::recovery_phases(&shares)), "%"))
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

/// Adds a summary if nothing was decided, and lists below it what the summary leaves out.
pub(super) fn finish(findings: &mut Findings) {
    if findings.summary.is_empty() {
        findings.summary = findings.answers.first().map(answer_as_summary).unwrap_or_default();
    }
    // The summary says already that one pass was played, and what idle time restores if that is known.
    let is_said = |answer: &&Answer| {
        let is_recovery = wording::is_about_recovery(answer) && answer.standing != Standing::Unknown;
        is_recovery || wording::is_about_one_pass(answer)
    };
    let unsaid = findings.answers.iter().skip(1).filter(|answer| !is_said(answer));
    findings.overview.answers = unsaid.map(|answer| answer.id.clone()).collect();
}

/// The score of all passes; `None` before every application was replayed once.
fn overall(overalls: &[OverallScore], applications: usize) -> Option<Overall> {
    let scores: Vec<f64> = overalls.iter().map(|overall| overall.score).collect();
    let mean_of = |metric: fn(&OverallScore) -> f64| {
        geometric_mean(&overalls.iter().map(|overall| Some(metric(overall))).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    Some(Overall {
        score: Estimate::of_passes(&scores)?,
        rate: Rate(mean_of(|overall| overall.bytes_per_s)),
        access_time: Latency(mean_of(|overall| overall.access_time_ns)),
        applications: applications as u64,
        passes: overalls.len() as u64,
    })
}

/// SNIA's rule, over the five steady phases.
fn steady_state(steady: &[f64]) -> Answer {
    match Window::last(steady) {
        None => wording::too_few_steady_phases(steady.len()),
        Some(window) if window.is_steady() => wording::steady(steady),
        Some(_) => wording::not_steady(steady),
    }
}
