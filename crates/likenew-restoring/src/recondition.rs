//! Restores a drive with the gentlest step that works, and proves it: the same check before and after.

mod comparison;
mod outcome;
mod overwrite;
mod recondition_options;
mod recondition_step;
mod refresh;
mod rewrite;
mod stages;
mod step_list;
mod step_name;
mod tables;
mod wording;

use likenew_core::drive::Identity;
use likenew_core::findings::{Action, Answer, Axis, Findings, Line, Loss, Overview, Row, Series, Shape};
use likenew_core::fix::ActionKind;
use likenew_core::io::Op;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_diagnosis::{
    Diagnosis, FoundCause, Kind, Metric, Overall, Possibility, causes_fixed_by, step_kind,
};

use crate::check::{Check, CheckOptions, harmful_causes};
use comparison::{Change, Effect, Measure, changes};
use likenew_procedure_support::series::speed;
use outcome::StepOutcome;
use recondition_step::{SlowWrites, StepContext, Trial};
use rewrite::{Rewriting, write_passes};
use stages::{Stage, empty_evidence, failure, has_run, refusal, stages};
use step_list::implementation;
use wording::{PlanLine, StepLine};

pub use recondition_options::{Erase, ReconditionOptions};
pub use step_name::StepName;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "recondition",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("recondition.md"),
};

/// Ratio of a metric after and before from which a change counts on a real drive. Chosen: checks of one drive
/// repeat to a few percent.
const NOTICEABLE: f64 = 1.1;
/// The same on a simulated drive, which only varies by chance inside. Chosen: half of that.
const NOTICEABLE_SIMULATED: f64 = 1.05;
/// The same on a virtual disk, whose speed varies from run to run by tens of percent. Chosen: above the
/// largest variation of reads seen between checks.
const NOTICEABLE_VIRTUAL: f64 = 1.6;

/// Share of what a drive reached before, below which its writes are worth a step that stops where it gains nothing.
/// Chosen: what is called restored.
const WORTH_TRYING: f64 = 0.95;

/// The procedure.
pub struct Recondition {
    options: ReconditionOptions,
    check: Check,
}

impl Recondition {
    /// From a plan's options.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        ReconditionOptions::from_table(table).and_then(Self::new)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: ReconditionOptions) -> Result<Self, String> {
        options.check()?;
        let mut check = Check::new(CheckOptions { free: options.free, ..options.check.clone() })?;
        check.continues_writes = false;
        Ok(Self { options, check })
    }

    /// What steps know after these checks.
    fn context<'a>(&'a self, evidence: &'a Evidence, checks: &[&Evidence]) -> StepContext<'a> {
        let last_check = checks.last().copied();
        let facts = evidence.observations.iter().rev().find_map(|observation| match &observation.result {
            ProbeResult::Facts(facts) => Some(&**facts),
            _ => None,
        });
        let feasibility =
            evidence.observations.iter().rev().find_map(|observation| match &observation.result {
                ProbeResult::Feasibility(feasibility) => Some(feasibility),
                _ => None,
            });
        let fresh_bytes_per_s = last_check.and_then(|check| self.check.fresh_data(check));
        let fresh_small_ns = last_check.and_then(|check| self.check.fresh_small_ns(check));
        StepContext {
            options: &self.options,
            evidence,
            facts,
            feasibility,
            fresh_bytes_per_s,
            fresh_small_ns,
            sustained_goal_bytes_per_s: last_check.and_then(|check| self.check.sustained_goal(check)),
            slow_writes: last_check.map_or(SlowWrites::None, |check| {
                SlowWrites::from_metrics(&self.check.slow_writes(check, WORTH_TRYING))
            }),
            trial: self.trial(checks),
        }
    }

    /// What writing places again has shown. It counts as long as first writes of places are still slower than that.
    fn trial(&self, checks: &[&Evidence]) -> Trial {
        let shown = checks.iter().filter_map(|check| self.check.rewritten(check));
        let Some(goal) = shown.max_by(|one, other| one.value.total_cmp(&other.value)) else {
            let shows_none =
                |check: &&Evidence| self.check.gains_nothing_rewritten(check) && !writes_elsewhere(check);
            let is_tried = checks.last().is_some_and(shows_none);
            return if is_tried { Trial::NoGain } else { Trial::Unknown };
        };
        // Places that were written again may be faster than a new drive is over a longer stretch.
        let as_new =
            checks.last().and_then(|check| self.check.sustained_goal(check)).unwrap_or(f64::INFINITY);
        let now = checks.last().and_then(|check| self.check.sustained_write(check));
        match now.is_some_and(|now| now.high < WORTH_TRYING * goal.value.min(as_new)) {
            true => Trial::Gain { bytes_per_s: goal.value },
            false => Trial::NoGain,
        }
    }

    /// The step after a check, if any: the one that was named, or the first that can help against what was
    /// found.
    ///
    /// The order is that of the expected gain for each byte written, within what loses nothing: TRIM writes nothing, old data
    /// and free space are a part of the drive, everything is all of it. Where everything is to be rewritten anyway, old data
    /// is not rewritten on its own before.
    fn choose(&self, context: &StepContext<'_>, stages: &[Stage], check: &Evidence) -> Option<StepName> {
        let is_tried = |name: StepName| {
            stages.iter().any(|stage| matches!(stage, Stage::ReconditionStep(of, _) if *of == name))
        };
        if let Some(asked) = self.options.step {
            let is_open = |name: &StepName| context.obstacle(*name).is_none() && !is_tried(*name);
            let first = first_of(asked, context, is_tried(asked));
            return first.into_iter().chain([asked]).find(is_open);
        }
        let is_dry_run = check.segments.iter().any(likenew_core::segment::Segment::is_dry_run);
        self.check.with_diagnosis(check, |_, diagnosis| {
            let can = |name: StepName| {
                let step = implementation(name);
                // Where everything was rewritten, no data is old.
                let is_done = name == StepName::Refresh && is_tried(StepName::Rewrite);
                !name.destroys()
                    && !is_tried(name)
                    && !is_done
                    && context.obstacle(name).is_none()
                    && step.caveat(context).is_none()
                    && !is_too_much(name, diagnosis)
            };
            let is_needed = |name: StepName| {
                !causes_needing(name, diagnosis).is_empty()
                    || is_worth_trying(name, context, diagnosis)
                    || is_worth_a_trial(name, context, diagnosis)
            };
            // Results are unknown in a dry run, so it takes every step that is allowed.
            if is_dry_run {
                return StepName::ALL.into_iter().find(|name| can(*name));
            }
            let gentlest = StepName::ALL.into_iter().find(|name| can(*name) && is_needed(*name))?;
            let writes_all = |name: StepName| can(name) && is_needed(name);
            let is_part_of_all = gentlest == StepName::Refresh
                && !writes_all(StepName::Overwrite)
                && writes_all(StepName::Rewrite);
            Some(if is_part_of_all { StepName::Rewrite } else { gentlest })
        })
    }
}

/// Whether the file system writes what is written again to other places, so that this compares no place with itself.
fn writes_elsewhere(check: &Evidence) -> bool {
    const KINDS: [&str; 5] = ["bcachefs", "btrfs", "f2fs", "nilfs2", "zfs"];
    KINDS.iter().any(|kind| check.identity.has(("file system", kind)))
        && !check.identity.has(Identity::IN_PLACE)
}

/// The step before one that was named: before all data is rewritten, free space is trimmed or overwritten, so that the whole
/// drive is written in address order.
fn first_of(asked: StepName, context: &StepContext<'_>, is_over: bool) -> Option<StepName> {
    let is_possible = |name: &StepName| context.obstacle(*name).is_none();
    let goes_before = asked == StepName::Rewrite && !is_over && is_possible(&asked);
    goes_before.then(|| [StepName::Trim, StepName::Overwrite].into_iter().find(is_possible)).flatten()
}

/// Whether a step costs more than it has to: not everything is rewritten if a gentler step only has to wait.
fn is_too_much(name: StepName, diagnosis: &Diagnosis) -> bool {
    let has_to_wait = |found: &FoundCause| found.blocked.iter().any(|step| step.kind != ActionKind::Rewrite);
    name == StepName::Rewrite && causes_needing(name, diagnosis).into_iter().any(has_to_wait)
}

/// Causes that were found, do harm, and are fixed by a step.
fn causes_needing(name: StepName, diagnosis: &Diagnosis) -> Vec<&FoundCause> {
    let fixable = causes_fixed_by(name.action());
    let found = diagnosis.causes.iter().filter(|found| found.cause.kind != Kind::ByDesign);
    found.filter(|found| fixable.contains(&found.cause.name)).collect()
}

/// TRIM costs nothing, so it is also sent if it only may help. Deleted files are lost by it, so it is not sent where writing places
/// again has shown that nothing can be gained, and nobody knows better.
fn is_worth_trying(name: StepName, context: &StepContext<'_>, diagnosis: &Diagnosis) -> bool {
    let is_hopeless = context.trial == Trial::NoGain && context.sustained_goal_bytes_per_s.is_none();
    let fixable = causes_fixed_by(name.action());
    let rivals = diagnosis.open.iter().flat_map(|open| &open.rivals);
    let latent = diagnosis.latent.iter().map(|found| found.cause.name);
    name == StepName::Trim
        && !is_hopeless
        && rivals.map(|(cause, _)| cause.name).chain(latent).any(|cause| fixable.contains(&cause))
}

/// Whether a step helps by what it leaves for garbage collection, which shows in writing places again.
fn frees_blocks(name: StepName) -> bool {
    matches!(name, StepName::Trim | StepName::Overwrite)
}

/// Where sequential writes are slow and no cause is known, what could make them faster is tried; also where a cause is, if places
/// that were written again are faster. In a folder files are not rewritten, as that does not stop where it gains nothing.
fn is_worth_a_trial(name: StepName, context: &StepContext<'_>, diagnosis: &Diagnosis) -> bool {
    let is_possible = match name {
        StepName::Trim | StepName::Overwrite => true,
        StepName::Rewrite => !context.is_folder(),
        _ => false,
    };
    let is_slow = context.slow_writes != SlowWrites::None && harmful_causes(diagnosis).next().is_none();
    is_possible && (is_slow || matches!(context.trial, Trial::Gain { .. }))
}

impl Procedure for Recondition {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// Files of the length that a check writes, as many as fit.
    fn layout(&self) -> Layout {
        let (files, file_bytes) = self.options.files();
        Layout { files, file_bytes }
    }

    fn only_probes(&self) -> bool {
        self.options.dry_run
    }

    fn bytes_written_max(&self, evidence: &Evidence, planned: &[Step]) -> Option<u64> {
        // What a fix finds to rewrite is not known before.
        let fixes = planned.iter().any(|step| matches!(step, Step::Probe(Probe::Fix(_))));
        if fixes { None } else { self.check.bytes_written_max(evidence, planned) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        // Runs of earlier versions have no such probe.
        if evidence.is_empty() {
            return Ok(Step::Probe(Probe::Feasibility));
        }
        if self.options.dry_run {
            let is_looked_at =
                evidence.observations.iter().any(|observation| observation.probe == Probe::Facts);
            return Ok(if is_looked_at { Step::Done } else { Step::Probe(Probe::Facts) });
        }
        let stages = stages(evidence);
        let checks: Vec<&Evidence> = checks(&stages).collect();
        let context = self.context(evidence, &checks);
        let after = match stages.last() {
            None => return self.check.next(&empty_evidence(evidence)),
            Some(Stage::Check(check)) => match self.check.next(check)? {
                Step::Done => check,
                step => return Ok(step),
            },
            Some(Stage::ReconditionStep(name, done)) => {
                if let Some(step) = implementation(*name).next(&context, done) {
                    return Ok(with_seed(step, evidence));
                }
                if has_run(done) {
                    return self.check.next(&empty_evidence(evidence));
                }
                *checks.last().expect("a step is chosen by a check")
            }
        };
        let step = self
            .choose(&context, &stages, after)
            .and_then(|name| implementation(name).next(&context, &empty_evidence(evidence)));
        Ok(step.map_or(Step::Done, |step| with_seed(step, evidence)))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let stages = stages(evidence);
        let finished_steps = self.finished_steps(evidence, &stages);
        let checks: Vec<&Evidence> = checks(&stages).collect();
        let attempts: Vec<(StepName, Option<&str>)> = steps(&stages)
            .map(|(name, done)| match has_run(done) {
                true => (name, None),
                false => (
                    name,
                    Some(
                        refusal(done)
                            .or(failure(done).map(|_| wording::FAILED))
                            .unwrap_or(wording::NOTHING_TO_DO),
                    ),
                ),
            })
            .collect();
        let context = self.context(evidence, &checks);
        let step_plan = self.step_plan(&context, &checks, &attempts);
        let attempted = self.attempted_steps(evidence, &stages);
        let passes =
            attempted.iter().flat_map(|(context, name, done)| tables::pass_rows(context, *name, done));
        let passes = passes.collect();

        let mut findings = Findings::default();
        if self.options.dry_run {
            put_plan(&context, &mut findings);
        } else {
            self.put_answers(&context, &stages, &finished_steps, &attempts, &mut findings);
        }
        tables::put(
            &mut findings,
            [
                ("before_and_after", tables::change_rows(&finished_steps)),
                ("steps", tables::step_rows(&finished_steps)),
                ("passes", passes),
                ("step_plan", step_plan),
            ],
        );
        findings.overview.series = has_passes(&attempted).then(|| "passes".into());
        draw(&attempted, &mut findings);
        findings
    }
}

/// A step that was tried, with what was known when it began.
type AttemptedStep<'a> = (StepContext<'a>, StepName, &'a Evidence);

impl Recondition {
    fn attempted_steps<'a>(&'a self, evidence: &'a Evidence, stages: &'a [Stage]) -> Vec<AttemptedStep<'a>> {
        let mut checks = Vec::new();
        let mut all = Vec::new();
        for stage in stages {
            match stage {
                Stage::Check(check) => checks.push(check),
                Stage::ReconditionStep(name, done) => {
                    all.push((self.context(evidence, &checks), *name, done));
                }
            }
        }
        all
    }

    /// The overall result, then each step, then the checks before and after.
    fn put_answers(
        &self,
        context: &StepContext<'_>,
        stages: &[Stage],
        finished_steps: &[StepOutcome<'_>],
        attempts: &[(StepName, Option<&str>)],
        findings: &mut Findings,
    ) {
        let checks: Vec<&Evidence> = checks(stages).collect();
        let failed = steps(stages).find_map(|(name, done)| Some((name, failure(done)?)));
        let (summary, result) = match (failed, outcome::result(finished_steps), checks.last()) {
            (Some((name, reason)), ..) => wording::step_failed(name, reason),
            (None, Some(result), _) => result,
            (None, None, Some(last)) => self.nothing_done(context, last, attempts),
            (None, None, None) => wording::not_begun(),
        };
        findings.summary = summary;
        findings.answers.push(result);
        findings.answers.extend(finished_steps.iter().map(StepOutcome::answer));
        let idle = steps(stages).filter(|(_, done)| !has_run(done));
        findings.answers.extend(idle.map(|(name, done)| outcome::idle_answer(name, done, refusal(done))));
        let headline = |check: &Evidence| self.check.judge(check).answers.into_iter().next();
        if let [first, ..] = checks.as_slice() {
            findings.answers.extend(headline(first).map(|answer| wording::before(&answer)));
        }
        if let [_, .., last] = checks.as_slice() {
            findings.answers.extend(headline(last).map(wording::now));
            findings.answers.extend(self.dangers(last));
        }
        let is_tried = |name: StepName| attempts.iter().any(|(tried, _)| *tried == name);
        let mut lines: Vec<StepLine> = finished_steps.iter().map(StepOutcome::line).collect();
        lines.extend(attempts.iter().filter_map(|(name, refused)| {
            refused.map(|reason| StepLine { step: *name, result: reason.to_owned(), cost: None })
        }));
        if let Some(last) = checks.last() {
            self.check.with_diagnosis(last, |_, diagnosis| {
                let is_helpful = |name: &StepName| !causes_needing(*name, diagnosis).is_empty();
                let others = StepName::ALL.into_iter().filter(|name| !is_tried(*name) && is_helpful(name));
                lines.extend(others.map(|step| {
                    let result = tables::not_run_reason(context, step, &|_| true);
                    StepLine { step, result, cost: None }
                }));
            });
        }
        findings.overview = Overview {
            answers: checks.get(1).map_or_else(Vec::new, |_| {
                let dangers = findings.answers.iter().map(|answer| &answer.id);
                let dangers = dangers.filter(|id| id.starts_with(Answer::CAUSE_PREFIX)).cloned();
                std::iter::once("now".to_owned()).chain(dangers).collect()
            }),
            table: (!lines.is_empty()).then(|| wording::step_table(lines)),
            ..Overview::default()
        };
    }

    /// What else endangers the drive.
    fn dangers(&self, check: &Evidence) -> Vec<Answer> {
        self.check.with_diagnosis(check, |_, diagnosis| {
            let dangers = diagnosis.latent.iter().filter(|found| found.is_problem());
            dangers.map(|found| wording::danger(found.cause.name, &found.statement)).collect()
        })
    }

    /// All steps, and why some were not run.
    fn step_plan(
        &self,
        context: &StepContext<'_>,
        checks: &[&Evidence],
        attempts: &[(StepName, Option<&str>)],
    ) -> Vec<Row> {
        match checks.last() {
            Some(last) if !self.options.dry_run => self.check.with_diagnosis(last, |_, diagnosis| {
                let is_helpful = |name| !causes_needing(name, diagnosis).is_empty();
                tables::step_plan_rows(context, attempts, &is_helpful)
            }),
            _ => tables::step_plan_rows(context, attempts, &|_| true),
        }
    }

    /// Every step that changed something, with the checks before and after it.
    fn finished_steps<'a>(&self, evidence: &Evidence, stages: &'a [Stage]) -> Vec<StepOutcome<'a>> {
        let mut before: Vec<&Evidence> = Vec::new();
        let mut all = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            match stage {
                Stage::Check(check) => before.push(check),
                Stage::ReconditionStep(name, done) if has_run(done) => {
                    let after = checks(&stages[index + 1..]).next();
                    let last = before.last().copied();
                    let changes = last.zip(after).map(|(last, after)| changes(&self.check, last, after));
                    all.push(self.judge_step(evidence, *name, done, &before, changes.unwrap_or_default()));
                }
                Stage::ReconditionStep(..) => {}
            }
        }
        all
    }

    fn judge_step<'a>(
        &self,
        evidence: &Evidence,
        name: StepName,
        done: &'a Evidence,
        checks: &[&Evidence],
        mut changes: Vec<Change>,
    ) -> StepOutcome<'a> {
        let context = self.context(evidence, checks);
        let before = checks.last().copied();
        let rewriting = Rewriting::of_step(&context, name, done);
        let mut wanted = before.map_or_else(Vec::new, |before| {
            self.check.with_diagnosis(before, |_, diagnosis| {
                Measure::metrics_showing(&causes_needing(name, diagnosis))
            })
        });
        // A device that loses nothing is measured by reads, which show nothing of this step; its own rewriting shows how fast it is written.
        let measures_writes =
            changes.iter().any(|change| change.measure == Measure::Metric(Metric::SustainedWrite));
        if let Some(rewriting) = rewriting.as_ref().filter(|_| !measures_writes) {
            let probes = rewriting.probes_before_and_after();
            changes.extend(probes.and_then(|(before, after)| Change::of_rewriting(&before, &after)));
            wanted = vec![Measure::Rewriting];
        }
        let is_known = !wanted.is_empty();
        if !is_known && measures_writes {
            // Reads of what a step released do not reach the flash, however slow it is. The check before has restored the places that it
            // wrote first, so the last ones tell.
            wanted.extend(match context.trial {
                Trial::Gain { .. } => vec![Measure::Metric(Metric::SustainedWrite)],
                _ => Measure::shown_by(name),
            });
        }
        let is_wanted = |change: &&Change| wanted.is_empty() || wanted.contains(&change.measure);
        let showing: Vec<&Change> = changes.iter().filter(is_wanted).collect();
        let caveat = context.virtual_by().map(|by| wording::virtual_disk(by, NOTICEABLE_VIRTUAL));
        let noticeable = match caveat {
            Some(_) => NOTICEABLE_VIRTUAL,
            None if context.is_simulated() => NOTICEABLE_SIMULATED,
            None => NOTICEABLE,
        };
        let is_on_trial = matches!(context.trial, Trial::Gain { .. });
        let faster_reads = changes.iter().filter(|change| change.measure.is_of_reads());
        let drift = faster_reads.map(|change| change.ratio().value).fold(1.0, f64::max);
        let gain = showing.iter().map(|change| change.ratio().value / drift).fold(0.0, f64::max);
        let has_goal = showing.iter().any(|change| change.reference.is_some());
        let wrong_step = before.filter(|_| !is_on_trial).and_then(|before| self.wrong_step(name, before));
        let effect = match Effect::classify(&showing, noticeable, is_known) {
            // What makes it slow comes and goes, so one check after the step proves nothing of it.
            Effect::Yes if wrong_step.is_some() => Effect::Undecided,
            // Nobody knows that it was slow, so other programs may have slowed down the check before: then places that were written
            // again need not show it, or reads are as much faster now.
            Effect::Yes if frees_blocks(name) && !has_goal && !(is_on_trial && gain >= noticeable) => {
                Effect::Undecided
            }
            effect => effect,
        };
        let metrics_showing = showing.into_iter().copied().collect();
        let warnings = context.feasibility.iter().flat_map(|feasibility| feasibility.warnings(name.action()));
        let warnings = warnings.map(|objection| objection.reason.clone()).collect();
        let headline = before.and_then(|before| self.check.worst_metric(before)).map(Measure::Metric);
        StepOutcome {
            name,
            evidence: done,
            changes,
            metrics_showing,
            effect,
            warnings,
            caveat,
            rewriting,
            headline,
            wrong_step,
        }
    }

    /// Why a step cannot help, if what makes the drive slow is known and is nothing that it fixes.
    fn wrong_step(&self, name: StepName, before: &Evidence) -> Option<String> {
        self.check.with_diagnosis(before, |_, diagnosis| {
            let cause = harmful_causes(diagnosis).next()?;
            causes_needing(name, diagnosis).is_empty().then(|| wording::wrong_step(name, &cause.statement))
        })
    }

    /// Why nothing was changed, if nothing was.
    fn nothing_done(
        &self,
        context: &StepContext<'_>,
        check: &Evidence,
        attempts: &[(StepName, Option<&str>)],
    ) -> (String, Answer) {
        if let Some(asked) = self.options.step.filter(|_| attempts.is_empty()) {
            return self.named_step_not_run(context, check, asked);
        }
        self.check.with_diagnosis(check, |case, diagnosis| {
            let harmful: Vec<&FoundCause> = harmful_causes(diagnosis).collect();
            let mut actions = actions_possible(context, &harmful);
            let writes_everything = |action: &Action| step_kind(action) == Some(ActionKind::Overwrite);
            if let Some(used) = context.worn_out().filter(|_| actions.iter().any(writes_everything)) {
                actions.retain(|action| step_kind(action).is_none());
                if actions.is_empty() {
                    actions.push(wording::replace_drive());
                }
                return wording::worn_out(used, actions);
            }
            if actions.iter().any(|action| step_kind(action).is_some_and(ActionKind::destroys)) {
                return wording::only_lossy(actions, context.obstacle(StepName::Rewrite));
            }
            let cause = harmful.first().map(|found| &*found.statement);
            if let Some(cause) = cause.filter(|_| !actions.is_empty()) {
                return wording::only_by_hand(cause, actions);
            }
            let blocked = harmful.iter().flat_map(|found| &found.blocked);
            let blocked: Vec<(&str, &str)> = blocked.map(|step| (step.why, &*step.reason)).collect();
            if !blocked.is_empty() {
                return wording::not_now(&blocked);
            }
            match (diagnosis.overall, self.check.sustained_write(check)) {
                (Overall::Slow | Overall::NotTheDrive, _) if !harmful.is_empty() => wording::no_remedy(cause),
                (Overall::Undecided, Some(speed)) if context.trial == Trial::NoGain => {
                    wording::cause_unknown_without_gain(speed.value)
                }
                (Overall::Undecided, _) => wording::cause_unknown(),
                _ if case.is_compared() => wording::as_new(),
                (_, Some(speed)) if context.trial == Trial::NoGain => wording::no_gain(speed.value),
                _ => wording::looks_sound(),
            }
        })
    }

    /// Why a step that was named did not run. On a drive that is slow, what else would help is advised.
    fn named_step_not_run(
        &self,
        context: &StepContext<'_>,
        check: &Evidence,
        asked: StepName,
    ) -> (String, Answer) {
        let Some(reason) = context.obstacle(asked) else { return wording::stopped_before(asked) };
        let written = check.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
        let is_slow = self.check.judge(check).found_problem();
        let fixes = is_slow.then(|| {
            self.check.with_diagnosis(check, |_, diagnosis| {
                let mut actions = actions_possible(context, &harmful_causes(diagnosis).collect::<Vec<_>>());
                actions.retain(|action| action.loses < Loss::Everything);
                actions
            })
        });
        wording::step_not_possible(asked, &reason, written, fixes)
    }
}

/// The fixes of causes that can be run here.
fn actions_possible(context: &StepContext<'_>, causes: &[&FoundCause]) -> Vec<Action> {
    let actions = causes.iter().flat_map(|found| &found.actions);
    actions.filter(|action| can_be_run(context, action)).cloned().collect()
}

/// A step that was tried and is not possible here is not advised.
fn can_be_run(context: &StepContext<'_>, action: &Action) -> bool {
    step_kind(action).is_none_or(|kind| !matches!(context.site().possibility(kind), Possibility::No(_)))
}

/// The steps that were tried.
fn steps(stages: &[Stage]) -> impl Iterator<Item = (StepName, &Evidence)> {
    stages.iter().filter_map(|stage| match stage {
        Stage::ReconditionStep(name, done) => Some((*name, done)),
        Stage::Check(_) => None,
    })
}

/// The checks between them.
fn checks(stages: &[Stage]) -> impl Iterator<Item = &Evidence> {
    stages.iter().filter_map(|stage| match stage {
        Stage::Check(check) => Some(check),
        Stage::ReconditionStep(..) => None,
    })
}

/// Workloads of a step get their seeds from all segments before them.
fn with_seed(step: Step, evidence: &Evidence) -> Step {
    match step {
        Step::Run(mut workload) => {
            workload.seed = evidence.plan.seed_of(evidence.segments.len());
            Step::Run(workload)
        }
        other => other,
    }
}

/// The steps possible here, and those the drive could do by itself.
fn put_plan(context: &StepContext<'_>, findings: &mut Findings) {
    let possible: Vec<StepName> =
        StepName::ALL.into_iter().filter(|name| context.obstacle(*name).is_none()).collect();
    let (summary, plan) = wording::plan(&possible);
    let manual_steps = context.feasibility.iter().flat_map(|feasibility| &feasibility.manual_steps);
    findings.summary = summary;
    findings.answers.push(plan);
    findings.answers.extend(manual_steps.map(wording::manual_step));
    let line = |name: StepName| {
        let reason = tables::not_run_reason(context, name, &|_| true);
        let of = |bytes: Option<u64>| bytes.filter(|_| possible.contains(&name));
        let step = implementation(name);
        let (least, bytes) = (of(step.bytes_least(context)), of(step.bytes(context)));
        PlanLine { step: name, reason, least, bytes }
    };
    let table = wording::plan_table(StepName::ALL.into_iter().map(line).collect());
    findings.overview = Overview { table: Some(table), ..Overview::default() };
}

/// Whether passes show how a step went.
fn has_passes(attempted: &[AttemptedStep<'_>]) -> bool {
    attempted.iter().any(|step| pass_lines(step).len() > 1)
}

/// Speed against bytes of each pass of a step.
fn pass_lines((context, name, done): &AttemptedStep<'_>) -> Vec<Vec<[f64; 2]>> {
    let points = write_passes(context, *name, done).into_iter().map(|pass| pass.points());
    points.filter(|points| !points.is_empty()).collect()
}

/// The passes as a series.
fn draw(attempted: &[AttemptedStep<'_>], findings: &mut Findings) {
    let lines: Vec<Line> = attempted
        .iter()
        .flat_map(pass_lines)
        .enumerate()
        .map(|(index, points)| Line::new(wording::pass_name(index + 1), points))
        .collect();
    if !lines.is_empty() {
        let x = Axis::new(wording::PASSES_AXIS, "bytes");
        let series = Series::new(wording::PASSES_TITLE, Shape::Line, x, speed()).lines(lines);
        findings.series.insert("passes".to_owned(), series);
    }
}
