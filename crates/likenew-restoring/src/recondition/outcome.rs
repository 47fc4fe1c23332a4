//! What each step did, and whether it helped: how much each metric changed between the checks before and
//! after, and whether that is more than repeating a check gives. Also the overall result, and the tables.

use likenew_core::findings::{Answer, Loss, Row};
use likenew_core::fix::FixReport;
use likenew_core::row;
use likenew_core::units::Nanos;
use likenew_stats::interval::{CONFIDENCE_95, window_interval};

use super::comparison::{Change, Effect, Measure, largest};
use super::implementation;
use super::passes::is_steady;
use super::step::{Attempt, StepContext, WritePass};
use super::step_name::StepName;
use super::wording::{self, Restoration};
use crate::site::likenew;

/// A step that was run, and the checks around it.
pub(super) struct StepOutcome<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    /// All measures before and after.
    pub(super) changes: Vec<Change>,
    /// The changes that should show an effect.
    pub(super) metrics_showing: Vec<Change>,
    pub(super) effect: Effect,
    /// Facts about the drive that speak against the step without forbidding it.
    pub(super) warnings: Vec<String>,
    /// Why the result is uncertain, beyond its intervals.
    pub(super) caveat: Option<String>,
    /// The measure of the headline of the check before.
    pub(super) headline: Option<Measure>,
    /// Why the step cannot help: it does not fix the known cause.
    pub(super) wrong_step: Option<String>,
}

impl StepOutcome<'_> {
    /// Whether it helped, and by how much.
    pub(super) fn answer(&self) -> Answer {
        let Some(most) = self.reported() else { return wording::step_not_measured(self.attempt.name) };
        let slower = most_slowed(&self.metrics_showing);
        let answer = wording::step_measured(self.attempt.name, self.effect, most, slower);
        let goals = self.metrics_showing.iter().filter_map(wording::goal_reached);
        let answer = goals.chain(self.actions_done()).fold(answer, Answer::with_evidence);
        let skips = wording::skips(self.attempt.fix_reports());
        let warnings = self.warnings.iter().map(|reason| wording::warning(reason));
        skips.into_iter().chain(warnings).chain(self.caveat.clone()).fold(answer, Answer::caveat)
    }

    /// The change to report; if nothing became faster, the change of the measure that was slow.
    fn reported(&self) -> Option<&Change> {
        let is_headline = |change: &&Change| Some(change.measure) == self.headline;
        let slow = self.metrics_showing.iter().find(is_headline).filter(|_| self.effect != Effect::Yes);
        slow.or_else(|| largest(&self.metrics_showing))
    }

    fn restoration(&self, reported: &Change) -> Restoration {
        match (self.effect, all_restored(&self.metrics_showing)) {
            (Effect::Yes, is_restored) => restoration_by_gain(is_restored, reported),
            (Effect::No, is_restored) => without_gain(is_restored),
            (Effect::Undecided, _) => Restoration::Undecided,
            (Effect::Unattributed, _) => Restoration::Unattributed,
        }
    }

    fn actions_done(&self) -> Vec<String> {
        let attempt = self.attempt;
        let mut sentences = results(attempt.name, &attempt.fix_reports().collect::<Vec<_>>());
        let speeds = self.pass_speeds();
        match attempt.rewrite_end {
            Some(end) if !attempt.passes.is_empty() => {
                sentences.extend(wording::passes_rewritten(&speeds, end));
                sentences
                    .extend(attempt.first_gain().map(|(first, last)| wording::speed_along_pass(first, last)));
            }
            // What was written is trimmed afterwards.
            _ if !speeds.is_empty() => {
                sentences.insert(0, wording::passes_written(&speeds, is_steady(&speeds)));
            }
            _ => {}
        }
        sentences
    }

    fn pass_speeds(&self) -> Vec<f64> {
        self.attempt.passes.iter().filter_map(WritePass::bytes_per_s).collect()
    }

    /// Its row on the first screen.
    pub(super) fn row(&self) -> [String; 5] {
        let Attempt { name, passes, rewrite_end, .. } = self.attempt;
        let result = match rewrite_end {
            Some(_) => {
                let bytes_and_speed = |pass: &WritePass| Some((pass.bytes, pass.bytes_per_s()?));
                wording::rewritten_in_passes(&passes.iter().filter_map(bytes_and_speed).collect::<Vec<_>>())
            }
            None if matches!(name, StepName::Overwrite | StepName::OverwriteAll) => {
                Some(wording::overwritten(passes.len(), self.pass_speeds().last().copied()))
            }
            None => None,
        };
        let result = result.unwrap_or_else(|| self.answer().answer);
        wording::step_row(*name, result, Some((self.attempt.elapsed(), self.attempt.bytes_written())))
    }
}

/// Whether all measures reached their goals; `None` if no goal is known.
fn all_restored(changes: &[Change]) -> Option<bool> {
    changes.iter().filter_map(Change::is_restored).reduce(|one, other| one && other)
}

/// The result of steps that did not help.
fn without_gain(is_restored: Option<bool>) -> Restoration {
    if is_restored == Some(false) { Restoration::NotRestored } else { Restoration::NoChange }
}

/// The result of steps that made a drive faster.
fn restoration_by_gain(is_restored: Option<bool>, reported: &Change) -> Restoration {
    match is_restored {
        None => Restoration::Faster,
        Some(true) if reported.surpasses_goal() && !reported.was_slow() => Restoration::Faster,
        Some(true) if wording::is_as_new(reported) => Restoration::Restored,
        Some(true) => Restoration::MostlyRestored,
        Some(false) => Restoration::PartlyRestored,
    }
}

/// The result of all steps.
pub(super) fn result(taken: &[StepOutcome<'_>]) -> Option<(String, Answer)> {
    let loses = taken.iter().map(|step| step.attempt.name.loses()).max().unwrap_or(Loss::Nothing);
    match taken {
        [] => None,
        [only] => Some(match only.reported() {
            Some(most) => {
                let why = only.wrong_step.as_deref().filter(|_| only.effect != Effect::Yes);
                wording::result(only.restoration(most), most, why, loses)
            }
            None => wording::not_measured_again(),
        }),
        _ => Some(joined_result(taken, loses).unwrap_or_else(wording::not_measured_again)),
    }
}

/// From before the first step to after the last one.
fn joined_result(taken: &[StepOutcome<'_>], loses: Loss) -> Option<(String, Answer)> {
    let (first, last) = (taken.first()?, taken.last()?);
    let has = |effect: Effect| taken.iter().any(|step| step.effect == effect);
    let joined = first.metrics_showing.iter().filter_map(|change| {
        let last = last.changes.iter().find(|later| later.measure == change.measure)?;
        Some(Change { after: last.after, reference: last.reference, ..*change })
    });
    let joined: Vec<Change> = joined.collect();
    let most = largest(&joined)?;
    let is_without_effect = taken.iter().all(|step| step.effect == Effect::No);
    // Without a goal, the measures of a cause may miss what its repair gained.
    let restoration = if is_without_effect && joined.iter().any(|change| change.reference.is_some()) {
        without_gain(all_restored(&joined))
    } else if !most.is_certain() {
        // A change within the error is no success, however many steps there were.
        Restoration::Undecided
    } else if has(Effect::Unattributed) && !has(Effect::Yes) {
        Restoration::Unattributed
    } else {
        restoration_by_gain(all_restored(&joined), most)
    };
    Some(wording::result(restoration, most, None, loses))
}

/// A step that did nothing to the drive: it was refused, or found nothing to do.
pub(super) fn idle_answer(attempt: &Attempt<'_>) -> Answer {
    let name = attempt.name;
    if let Some(reason) = attempt.refusal() {
        return wording::step_refused(name, reason);
    }
    let fix_reports: Vec<&FixReport> = attempt.fix_reports().collect();
    let mut answer = wording::step_idle(name);
    if fix_reports.is_empty() && name == StepName::Refresh {
        answer = answer.with_evidence(wording::NO_SLOW_PLACE);
    }
    answer = results(name, &fix_reports).into_iter().fold(answer, Answer::with_evidence);
    wording::skips(fix_reports.into_iter()).into_iter().fold(answer, Answer::caveat)
}

/// The measure that slowed down most, if any did beyond doubt.
fn most_slowed(changes: &[Change]) -> Option<&Change> {
    let most = changes.iter().min_by(|one, other| one.ratio().value.total_cmp(&other.ratio().value))?;
    (most.ratio().high < 1.0).then_some(most)
}

/// Sentences about what the fixes of a step did.
fn results(step: StepName, fix_reports: &[&FixReport]) -> Vec<String> {
    if fix_reports.is_empty() {
        return Vec::new();
    }
    let sum = |field: fn(&FixReport) -> u64| fix_reports.iter().map(|report| field(report)).sum::<u64>();
    let (written, elapsed) = (sum(|report| report.bytes_written), Nanos(sum(|report| report.elapsed.0)));
    let mut sentences = vec![match step {
        _ if written > 0 => wording::rewritten(written, elapsed, Nanos(sum(|report| report.paused.0))),
        StepName::Refresh | StepName::Rewrite => wording::nothing_rewritten(elapsed),
        StepName::Format => wording::formatted(elapsed),
        _ => wording::trimmed(sum(|report| report.bytes), elapsed),
    }];
    let mut counters = fix_reports.iter().filter_map(|report| report.discard_counters.first()).peekable();
    if let Some(top) = counters.peek().copied() {
        sentences.push(wording::counted(counters.map(|counters| counters.bytes).sum(), &top.device));
    }
    sentences.extend(fix_reports.iter().filter_map(|report| report.read_back).map(wording::read_back));
    sentences
}

/// The work of each step: bytes that it covers, and bytes that it wrote.
pub(super) fn step_rows(taken: &[StepOutcome<'_>]) -> impl Iterator<Item = Row> {
    let to_row = |taken: &StepOutcome<'_>| {
        let attempt = taken.attempt;
        let fix_reports = || attempt.fix_reports();
        let longest_pass = attempt.overwritten().iter().map(|pass| pass.bytes).max().unwrap_or(0);
        row! {
            step: attempt.name.text(),
            effect: taken.effect.text(),
            bytes: fix_reports().map(|report| report.bytes).sum::<u64>().max(longest_pass),
            skipped_bytes: fix_reports().flat_map(|report| &report.skips).map(|left| left.bytes).sum::<u64>(),
            bytes_written: attempt.bytes_written(),
            elapsed_ns: attempt.elapsed().0,
        }
    };
    taken.iter().map(to_row)
}

/// Before and after, step by step.
pub(super) fn change_rows(taken: &[StepOutcome<'_>]) -> impl Iterator<Item = Row> {
    taken.iter().flat_map(|step| step.changes.iter().map(|change| change_row(step.attempt.name, change)))
}

fn change_row(name: StepName, change: &Change) -> Row {
    let goal = change.reference.map(|goal| goal.value);
    let percent = |value: f64| goal.map(|goal| 100.0 * value / goal);
    let ratio = change.ratio();
    row! {
        step: name.text(),
        metric: wording::measure(change.measure),
        unit: change.measure.unit(),
        before_per_s: change.before.value,
        after_per_s: change.after.value,
        ratio: ratio.value,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        reference_per_s: goal,
        share_of: change.reference.map(|goal| goal.words),
        before_of_reference_percent: percent(change.before.value),
        after_of_reference_percent: percent(change.after.value),
    }
}

/// The passes of a step as rows. The speed is that of the whole pass; the interval bounds the mean of its
/// windows, where a slow one counts for less than its time.
pub(super) fn pass_rows(attempt: &Attempt<'_>) -> impl Iterator<Item = Row> {
    let with_interval = |(index, pass): (usize, &WritePass)| {
        let speeds: Vec<f64> = pass.points().into_iter().map(|[_, speed]| speed).collect();
        let interval = window_interval(&speeds, CONFIDENCE_95);
        row! {
            step: attempt.name.text(),
            pass: index + 1,
            bytes_per_s: pass.bytes_per_s(),
            bytes_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: interval.map(|interval| interval.high),
            bytes: pass.bytes,
            elapsed_ns: pass.elapsed_ns,
            latency_ns_max: pass.latency_max.map(|latency| latency.0),
        }
    };
    attempt.passes.iter().enumerate().map(with_interval)
}

/// All steps, and why some were not run.
pub(super) fn step_plan_rows(
    context: &StepContext<'_>,
    attempts: &[Attempt<'_>],
    is_helpful: impl Fn(StepName) -> bool,
) -> Vec<Row> {
    let to_row = |name: StepName| {
        let reason = match attempts.iter().find(|attempt| attempt.name == name) {
            Some(attempt) => attempt.idle_reason(),
            None => Some(not_run_reason(context, name, is_helpful(name))),
        };
        row! {
            step: name.text(),
            what_it_does: wording::instruction(name),
            data_lost: name.data_lost(),
            bytes_written_max: implementation(name).bytes(context),
            not_run_reason: reason,
        }
    };
    StepName::ALL.into_iter().map(to_row).collect()
}

/// Why a step was not run.
pub(super) fn not_run_reason(context: &StepContext<'_>, name: StepName, is_helpful: bool) -> String {
    let doubt = || implementation(name).caveat(context);
    let command = || likenew("recondition", context.evidence, &format!("--step {}", name.text()));
    if let Some(obstacle) = context.obstacle(name) {
        return obstacle;
    }
    if context.options.dry_run {
        return doubt().map_or_else(|| wording::POSSIBLE.into(), |doubt| wording::possible_if(&doubt));
    }
    if !is_helpful {
        return wording::NOT_CALLED_FOR.into();
    }
    if name == StepName::OverwriteAll && context.worn_out().is_some() {
        return wording::WORN_OUT.into();
    }
    if name.destroys() {
        return wording::only_by_name(name);
    }
    match (doubt(), context.options.step) {
        (Some(doubt), _) => wording::only_if_asked(&doubt, &command()),
        (None, Some(named)) if named != name => wording::other_step_named(named),
        (None, _) => wording::GENTLER_FIRST.into(),
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::fix::{Fix, RewriteSettings};
    use likenew_core::probe::{Observation, Probe, ProbeResult};
    use likenew_core::procedure::{Evidence, Place};
    use likenew_diagnosis::{Measured, Metric};

    use super::super::ReconditionOptions;
    use super::super::comparison::Goal;
    use super::super::step::{SlowWrites, StepContext, Trial};
    use super::*;

    /// A step of which nothing is known.
    fn attempt<'a>(name: StepName, options: &'a ReconditionOptions, evidence: &'a Evidence) -> Attempt<'a> {
        let context = StepContext {
            options,
            evidence,
            facts: None,
            feasibility: None,
            fresh_bytes_per_s: None,
            fresh_small_ns: None,
            sustained_goal_bytes_per_s: None,
            slow_writes: SlowWrites::None,
            trial: Trial::Unknown,
            trim_gains: None,
        };
        Attempt::new(name, context, 1, Place::default())
    }

    /// A change from 10 per second by this ratio, whatever the metric.
    fn change(metric: Metric, ratio: f64, low: f64, high: f64) -> Change {
        Change {
            measure: Measure::Metric(metric),
            before: Measured::with_interval(10.0, 0.0),
            after: Measured::new(10.0 * ratio, 10.0 * low, 10.0 * high),
            reference: None,
        }
    }

    #[test]
    fn a_credit_is_quoted_by_a_change_that_is_one() {
        let changes = vec![
            change(Metric::RandomWrite, 1.64, 0.60, 4.50),
            change(Metric::SustainedWrite, 1.30, 1.25, 1.35),
        ];
        let (options, evidence) = (ReconditionOptions::default(), crate::fixtures::evidence());
        let attempts = [StepName::Trim, StepName::Overwrite].map(|name| attempt(name, &options, &evidence));
        let both = attempts.each_ref().map(|attempt| StepOutcome {
            attempt,
            changes: changes.clone(),
            metrics_showing: changes.clone(),
            effect: Effect::classify(&changes.iter().collect::<Vec<_>>(), 1.1, true),
            warnings: Vec::new(),
            caveat: None,
            headline: None,
            wrong_step: None,
        });
        assert_eq!(both[0].effect, Effect::Yes);
        for answer in [both[0].answer(), result(&both).unwrap().1] {
            assert!(answer.answer.contains("1.30× (1.25–1.35)"), "{}", answer.answer);
            assert!(answer.estimate.unwrap().low > 1.0);
        }
    }

    #[test]
    fn steps_of_which_none_helped_have_restored_nothing_together() {
        let goal = |value| Goal { value, least: 0.7, words: "new" };
        let (options, evidence) = (ReconditionOptions::default(), crate::fixtures::evidence());
        let attempts = [StepName::Trim, StepName::Overwrite].map(|name| attempt(name, &options, &evidence));
        let joined = |effect, changes: Vec<Change>| {
            let taken = attempts.each_ref().map(|attempt| StepOutcome {
                attempt,
                changes: changes.clone(),
                metrics_showing: changes.clone(),
                effect,
                warnings: Vec::new(),
                caveat: None,
                headline: None,
                wrong_step: None,
            });
            result(&taken).unwrap().0
        };
        let to_goal = |value, ratio: f64| {
            let changed = change(Metric::SequentialWrite, ratio, 0.98 * ratio, 1.02 * ratio);
            vec![Change { reference: Some(goal(value)), ..changed }]
        };
        let begins = |summary: String, words: &str| assert!(summary.starts_with(words), "{summary}");
        begins(joined(Effect::No, to_goal(10.0, 1.05)), "No change: ");
        begins(joined(Effect::No, to_goal(100.0, 1.05)), "Not restored: ");
        let restored = joined(Effect::Yes, to_goal(70.0, 7.0));
        assert!(restored.starts_with("Restored: ") && restored.contains("100% of new"), "{restored}");
        // What a new drive as full as this one does is no bound for one whose deleted data is trimmed.
        let faster = joined(Effect::Yes, to_goal(10.0, 7.0));
        assert!(faster.starts_with("Faster: ") && !faster.contains("of new"), "{faster}");
    }

    #[test]
    fn a_step_that_left_everything_says_how_much_and_why() {
        let (options, evidence) = (ReconditionOptions::default(), crate::fixtures::evidence());
        let mut report = FixReport::default();
        let mut reason = |left: &[(u64, &str)]| {
            left.iter().for_each(|(bytes, why)| report.skip(*bytes, *why));
            let observation = Observation {
                probe: Probe::Fix(Fix::RewriteFiles { settings: RewriteSettings::default(), from: 0 }),
                result: ProbeResult::FixReport(report.clone()),
                after: 0,
                started_at: Nanos::ZERO,
                ended_at: Nanos::ZERO,
                after_interruption: false,
                accounting: None,
            };
            let mut attempt = attempt(StepName::Rewrite, &options, &evidence);
            attempt.past.observations.push(&observation);
            attempt.idle_reason().unwrap()
        };
        assert_eq!(reason(&[]), "nothing to do");
        assert_eq!(reason(&[(0, "some are smaller")]), "nothing to do");
        assert_eq!(reason(&[(1 << 20, "a"), (64 << 20, "b")]), "nothing done; 64 MiB left as it is: b");
    }

    #[test]
    fn what_did_not_help_is_reported_by_what_was_slow() {
        let goal = |change: Change, value| Change {
            reference: Some(Goal { value, least: 0.7, words: "new" }),
            ..change
        };
        let old = Change { measure: Measure::OldData, ..change(Metric::SequentialRead, 1.0, 0.96, 1.04) };
        let slow = goal(change(Metric::RandomReadQd32, 1.0, 0.99, 1.01), 100.0);
        let changes = vec![goal(old, 10.0), slow];
        let (options, evidence) = (ReconditionOptions::default(), crate::fixtures::evidence());
        let attempt = attempt(StepName::Overwrite, &options, &evidence);
        let mut outcome = StepOutcome {
            attempt: &attempt,
            changes: changes.clone(),
            metrics_showing: changes,
            effect: Effect::No,
            warnings: Vec::new(),
            caveat: None,
            headline: Some(Measure::Metric(Metric::RandomReadQd32)),
            wrong_step: Some("Overwriting free space does not fix the cause: the port is slow.".into()),
        };
        let (summary, _) = result(std::slice::from_ref(&outcome)).unwrap();
        assert_eq!(
            summary,
            "Not restored: 4K random reads at QD32 10.0 → 10.0 IOPS (1.00×), 10% of new. Overwriting free space \
             does not fix the cause: the port is slow. No file was lost; deleted files can no longer be recovered."
        );
        assert!(outcome.answer().answer.contains("4K random reads at QD32"));
        // A drive that is as fast as new has nothing to restore.
        outcome.metrics_showing.iter_mut().for_each(|change| *change = goal(*change, 10.0));
        outcome.wrong_step = None;
        let (summary, answer) = result(std::slice::from_ref(&outcome)).unwrap();
        assert!(summary.starts_with("No change: "), "{summary}");
        assert_eq!(answer.standing, likenew_core::findings::Standing::Info);
    }

    #[test]
    fn nothing_rewritten_is_not_called_trimmed() {
        let report = |bytes, bytes_written| FixReport {
            bytes,
            bytes_written,
            elapsed: Nanos(3),
            ..FixReport::default()
        };
        let sentence = |step, fix_report: &FixReport| results(step, &[fix_report, fix_report]).join(" ");
        assert_eq!(
            sentence(StepName::Refresh, &report(4096, 0)),
            "Nothing was rewritten; the search took 6 ns."
        );
        assert_eq!(sentence(StepName::Refresh, &report(4096, 1024)), "2 KiB was rewritten in 6 ns.");
        assert_eq!(
            sentence(StepName::Rewrite, &FixReport { paused: Nanos(1), ..report(4096, 1024) }),
            "2 KiB was rewritten in 6 ns, 2 ns of which it paused for other programs."
        );
        assert_eq!(sentence(StepName::Trim, &report(4096, 0)), "TRIM was sent for 8 KiB in 6 ns.");
        assert!(results(StepName::Refresh, &[]).is_empty());
    }
}
