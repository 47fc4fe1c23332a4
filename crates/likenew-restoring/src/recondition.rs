//! Restores a drive with the gentlest step that works, and proves it: the same check before and after.

mod comparison;
mod outcome;
mod passes;
mod refresh;
mod step;
mod step_name;
mod wording;

use std::path::PathBuf;

use likenew_core::drive::Identity;
use likenew_core::findings::{Action, Answer, Axis, Findings, Line, Loss, Overview, Series, Shape};
use likenew_core::fix::{ActionKind, Fix};
use likenew_core::io::Op;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Place, Procedure, Step, Steps};
use likenew_core::quantity::{Rate, Share};
use likenew_core::region::Region;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_diagnosis::{
    CauseKind, Diagnosis, FoundCause, Measurements, Metric, Overall, Possibility, causes_fixed_by, cost,
    step_action, step_kind, wear_percent,
};
use likenew_procedure_support::options::{check_range, options};
use likenew_procedure_support::series::speed;
use likenew_rated::{Figure, usual_for};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::check::{Check, CheckOptions, DiagnosedCheck, harmful_causes};
use crate::facts::lasting;
use crate::site::{add_failed_ios, add_series, add_table, is_default};
use comparison::{Change, Effect, Measure, changes};
use outcome::StepOutcome;
use passes::{Overwrite, OverwriteAll, Rewrite};
use refresh::Refresh;
use step::{Attempt, ReconditionStep, SlowWrites, StepContext, Trial, WritePass, apply};

pub use step_name::StepName;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "recondition",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("recondition.md"),
};

/// What a drive erases when it formats itself. A format that erases nothing guarantees nothing, so it is not
/// one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Erase {
    /// All user data (secure erase settings 1).
    #[default]
    UserData,
    /// The key that all of it is encrypted with (2).
    Key,
}

/// The options of recondition.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReconditionOptions {
    /// The step to run whatever the diagnosis says; otherwise the first that can help, and the next one if it
    /// did not.
    pub step: Option<StepName>,
    /// Most overwriting passes, if the speed keeps changing.
    pub passes: u32,
    /// Idle time after a step, for the drive to finish its work.
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// A region without files of the owner, on a target other than a folder.
    pub free: Option<Region>,
    /// Most bytes of temporary files in a folder.
    #[serde(with = "size_text::optional")]
    pub overwrite_max: Option<u64>,
    /// The journal for refreshing a whole device, if the owner named one.
    pub journal: Option<PathBuf>,
    /// Most bytes per second that `rewrite` writes.
    #[serde(with = "size_text::optional")]
    pub rate: Option<u64>,
    /// What a drive erases when it formats itself.
    #[serde(skip_serializing_if = "is_default")]
    pub erase: Erase,
    /// Whether to find out which steps are possible, and do nothing else.
    #[serde(skip_serializing_if = "is_default")]
    pub dry_run: bool,
    /// The check before and after.
    pub check: CheckOptions,
}

impl Default for ReconditionOptions {
    /// As many passes as DiskTester's users were told to make at most, and half a minute of idle time.
    fn default() -> Self {
        Self {
            step: None,
            passes: 8,
            idle: Nanos::from_secs(30),
            free: None,
            overwrite_max: None,
            journal: None,
            rate: None,
            erase: Erase::default(),
            dry_run: false,
            check: CheckOptions::default(),
        }
    }
}

impl ReconditionOptions {
    /// Least rate, in bytes per second: below it, a chunk would be in flight for longer than a stop may take.
    const RATE_MIN: u64 = 1 << 20;
    /// More passes than this wear out a drive for nothing.
    const PASSES_MAX: u32 = 100;

    /// From a plan's options.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_table(table: &toml::Table) -> Result<Self, String> {
        let parsed: Self = options("recondition", table)?;
        parsed.check().map(|()| parsed)
    }

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    fn check(&self) -> Result<(), String> {
        check_range("passes", self.passes, 1..=Self::PASSES_MAX)?;
        if self.rate.is_some_and(|rate| rate < Self::RATE_MIN) {
            return Err(wording::rate_too_low(Self::RATE_MIN));
        }
        if self.check.upgrade.is_some() {
            return Err(wording::no_upgrade());
        }
        self.check.check()
    }

    /// Files of a folder, and bytes of each: the first is what a check writes.
    fn files(&self) -> (u32, u64) {
        let file_bytes = self.check.area(u64::MAX).max(CheckOptions::AREA_STEP);
        let files = self.overwrite_max.unwrap_or(file_bytes) / file_bytes;
        (u32::try_from(files).unwrap_or(u32::MAX).max(1), file_bytes)
    }
}

/// Ratio of a metric after and before from which a change counts on a real drive. Chosen: checks of one drive
/// repeat to a few percent.
const NOTICEABLE: f64 = 1.1;
/// The same on a simulated drive, which varies only by chance inside. Chosen: half as much change.
const NOTICEABLE_SIMULATED: f64 = 1.05;
/// The same on a virtual disk, whose speed varies from run to run by tens of percent. Chosen: above the
/// largest variation of reads seen between checks.
const NOTICEABLE_VIRTUAL: f64 = 1.6;

/// Share of a drive's former write speed below which a step is tried, if it stops once it gains nothing.
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
        check.is_of_repair = true;
        Ok(Self { options, check })
    }

    /// Checks and steps in turn, until no step can help.
    fn follow<'a, 'b: 'a>(&'a self, steps: &mut Steps<'b>, history: &mut History<'a>) -> Result<(), Ended> {
        let mut before = steps.place();
        steps.probe_or_skip(Probe::Feasibility)?;
        if self.options.dry_run {
            steps.probe(|| Probe::Facts)?;
            return Ok(());
        }
        loop {
            let (results, end) = self.check.follow(steps, before);
            if results.is_begun() {
                history.checks.push(self.check.diagnose(results));
            }
            end?;
            loop {
                let context = self.context(steps, &history.checks);
                let Some(name) = self.choose(&context, history) else { return Ok(()) };
                let mut attempt = Attempt::new(name, context, history.checks.len(), steps.place());
                let end = attempt.run(implementation(name), steps);
                let (is_begun, has_run) = (attempt.is_begun(), attempt.has_run());
                history.attempts.extend(is_begun.then_some(attempt));
                end?;
                if !is_begun {
                    return Ok(());
                }
                if has_run {
                    break;
                }
            }
            before = steps.place();
        }
    }

    /// What a step may know after these checks.
    fn context<'a>(&'a self, steps: &Steps<'a>, checks: &[DiagnosedCheck<'_>]) -> StepContext<'a> {
        let past = steps.since(Place::default());
        let latest = || past.observations.iter().rev().map(|observation| &observation.result);
        let check = checks.last();
        StepContext {
            options: &self.options,
            evidence: steps.evidence(),
            facts: latest().find_map(|result| result.facts()),
            feasibility: latest().find_map(|result| result.feasibility()),
            fresh_bytes_per_s: check.and_then(|check| check.results.fresh_data()),
            fresh_small_ns: check.and_then(|check| check.results.fresh_small_ns()),
            sustained_goal_bytes_per_s: check.and_then(DiagnosedCheck::sustained_goal),
            slow_writes: check
                .map_or(SlowWrites::None, |check| SlowWrites::from_metrics(&check.slow_writes(WORTH_TRYING))),
            trial: trial(checks),
            trim_gains: check
                .filter(|check| check.sustained_goal().is_none())
                .and_then(DiagnosedCheck::gains_by_trim),
        }
    }

    /// The step after a check, if any: the named one, or the first that can help against what was found.
    ///
    /// Among steps that lose nothing, the one with the most expected gain for each byte written comes first.
    /// TRIM writes nothing; old data and free space are a part of the drive; `rewrite` writes all of it. If
    /// all data is to be rewritten anyway, old data is not rewritten on its own before.
    fn choose(&self, context: &StepContext<'_>, history: &History<'_>) -> Option<StepName> {
        let is_tried = |name: StepName| history.attempts.iter().any(|attempt| attempt.name == name);
        if let Some(named) = self.options.step {
            let is_open = |name: &StepName| context.obstacle(*name).is_none() && !is_tried(*name);
            let first = first_of(named, context, is_tried(named));
            return first.into_iter().chain([named]).find(is_open);
        }
        let check = history.checks.last().expect("a step is chosen by a check");
        if check.has_failed() {
            // A failing drive is spared every step, because its data has yet to be saved.
            return None;
        }
        let diagnosis = check.diagnosis();
        let can = |name: StepName| {
            let step = implementation(name);
            // After all data was rewritten, none is old.
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
        if check.results.is_dry_run() {
            return StepName::ALL.into_iter().find(|name| can(*name));
        }
        let gentlest = StepName::ALL.into_iter().find(|name| can(*name) && is_needed(*name))?;
        let writes_all = |name: StepName| can(name) && is_needed(name);
        let is_part_of_all = gentlest == StepName::Refresh
            && !writes_all(StepName::Overwrite)
            && writes_all(StepName::Rewrite);
        Some(if is_part_of_all { StepName::Rewrite } else { gentlest })
    }
}

/// What was done until now.
#[derive(Default)]
struct History<'a> {
    checks: Vec<DiagnosedCheck<'a>>,
    attempts: Vec<Attempt<'a>>,
}

/// What writing the same addresses again has shown. A gain counts as long as sustained writes are slower than that.
fn trial(checks: &[DiagnosedCheck<'_>]) -> Trial {
    let last = checks.last();
    let shown = checks.iter().filter_map(DiagnosedCheck::rewritten);
    let Some(goal) = shown.max_by(|one, other| one.value.total_cmp(&other.value)) else {
        let shows_none = |check: &DiagnosedCheck<'_>| {
            check.gains_nothing_rewritten() && !writes_elsewhere(check.results.evidence)
        };
        return if last.is_some_and(shows_none) { Trial::NoGain } else { Trial::Unknown };
    };
    // Rewritten addresses may be faster than a new drive is over a longer stretch.
    let as_new = last.and_then(DiagnosedCheck::sustained_goal).unwrap_or(f64::INFINITY);
    let now = last.and_then(DiagnosedCheck::sustained_write);
    if now.is_some_and(|now| now.high < WORTH_TRYING * goal.value.min(as_new)) {
        Trial::Gain { bytes_per_s: goal.value }
    } else {
        Trial::NoGain
    }
}

/// Whether the file system puts rewritten data elsewhere, so that rewriting compares no address with itself.
fn writes_elsewhere(evidence: &Evidence) -> bool {
    const KINDS: [&str; 5] = ["bcachefs", "btrfs", "f2fs", "nilfs2", "zfs"];
    KINDS.iter().any(|kind| evidence.identity.has(("file system", kind)))
        && !evidence.identity.has(Identity::IN_PLACE)
}

/// The step before a named one. Before `rewrite`, free space is trimmed or overwritten, so that the whole
/// drive is written in address order.
fn first_of(named: StepName, context: &StepContext<'_>, is_over: bool) -> Option<StepName> {
    let is_possible = |name: &StepName| context.obstacle(*name).is_none();
    let goes_before = named == StepName::Rewrite && !is_over && is_possible(&named);
    goes_before.then(|| [StepName::Trim, StepName::Overwrite].into_iter().find(is_possible)).flatten()
}

/// Whether a step costs too much: not all data is rewritten if a gentler step only has to wait.
fn is_too_much(name: StepName, diagnosis: &Diagnosis) -> bool {
    let has_to_wait =
        |found_cause: &FoundCause| found_cause.blocked.iter().any(|step| step.kind != ActionKind::Rewrite);
    name == StepName::Rewrite && causes_needing(name, diagnosis).into_iter().any(has_to_wait)
}

/// Causes that were found, do harm, and are fixed by a step.
fn causes_needing(name: StepName, diagnosis: &Diagnosis) -> Vec<&FoundCause> {
    let causes = diagnosis.causes.iter().filter(|cause| cause.cause.kind != CauseKind::ByDesign);
    causes.filter(|cause| cause.fixed_by.contains(&name.action())).collect()
}

/// Whether a step is taken on suspicion, as TRIM is because it costs nothing. It loses deleted files, so it is not sent if writing
/// again gained nothing, or TRIM of what the check wrote, and no goal is known.
fn is_worth_trying(name: StepName, context: &StepContext<'_>, diagnosis: &Diagnosis) -> bool {
    let is_hopeless = context.sustained_goal_bytes_per_s.is_none()
        && (context.trial == Trial::NoGain || context.trim_gains == Some(false));
    let fixable = causes_fixed_by(name.action());
    let rivals = diagnosis.open.iter().flat_map(|open| &open.rivals);
    let latent = diagnosis.latent.iter().map(|latent| latent.cause.name);
    let may_help = || rivals.map(|(cause, _)| cause.name).chain(latent).any(|cause| fixable.contains(&cause));
    name == StepName::Trim && (context.trim_gains == Some(true) || !is_hopeless && may_help())
}

/// Whether a step helps by freeing blocks for garbage collection, which shows when addresses are written again.
fn frees_blocks(name: StepName) -> bool {
    matches!(name, StepName::Trim | StepName::Overwrite)
}

/// Whether a step is tried without a known cause, because sequential writes are slow, or because rewritten addresses
/// are faster. Files of a folder are not rewritten on trial, because that does not stop if it gains nothing.
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
        // How much a fix finds to rewrite is not known before, nor what a check writes to a drive that was erased.
        let is_open = |step: &Step| matches!(step, Step::Probe(Probe::Fix(fix)) if *fix != Fix::TrimFree);
        if planned.iter().any(is_open) { None } else { self.check.bytes_written_max(evidence, planned) }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let mut history = History::default();
        let _ended = self.follow(steps, &mut history);
        Ok(steps.conclude(|_| self.findings(steps, history)))
    }
}

impl Recondition {
    fn findings<'a>(&'a self, steps: &Steps<'a>, mut history: History<'a>) -> Findings {
        let context = self.context(steps, &history.checks);
        for attempt in &mut history.attempts {
            // What the drive says of itself at the end holds for all steps.
            (attempt.context.facts, attempt.context.feasibility) = (context.facts, context.feasibility);
        }
        let History { checks, attempts } = &history;
        let finished_steps: Vec<StepOutcome<'_>> = attempts
            .iter()
            .filter(|attempt| attempt.has_run())
            .map(|attempt| judge_step(attempt, &checks[..attempt.checks], checks.get(attempt.checks)))
            .collect();
        let mut findings = Findings::default();
        if self.options.dry_run {
            put_plan(&context, &mut findings);
        } else {
            self.put_answers(&context, &history, &finished_steps, &mut findings);
        }
        add_failed_ios(context.evidence, &context.evidence.segments, &mut findings);
        add_table(&mut findings, "before_and_after", outcome::change_rows(&finished_steps));
        add_table(&mut findings, "steps", outcome::step_rows(&finished_steps));
        add_table(&mut findings, "passes", attempts.iter().flat_map(outcome::pass_rows));
        let is_helpful =
            |name| checks.last().is_none_or(|check| !causes_needing(name, check.diagnosis()).is_empty());
        add_table(&mut findings, "step_plan", outcome::step_plan_rows(&context, attempts, is_helpful));
        findings.overview.series = has_passes(attempts).then(|| "passes".into());
        draw(attempts, &mut findings);
        findings
    }

    /// The overall result, then each step, then the checks before and after.
    fn put_answers(
        &self,
        context: &StepContext<'_>,
        history: &History<'_>,
        finished_steps: &[StepOutcome<'_>],
        findings: &mut Findings,
    ) {
        let History { checks, attempts } = history;
        let failed = attempts.iter().find_map(|attempt| Some((attempt.name, attempt.failure()?)));
        let (summary, result) = match (failed, outcome::result(finished_steps), checks.last()) {
            (Some((name, reason)), ..) => wording::step_failed(name, reason),
            (None, Some(result), _) => result,
            (None, None, Some(last)) => self.nothing_done(context, last, attempts),
            (None, None, None) => wording::not_begun(),
        };
        findings.summary = summary;
        findings.answers.push(result);
        findings.answers.extend(finished_steps.iter().map(StepOutcome::answer));
        let idle = attempts.iter().filter(|attempt| !attempt.has_run());
        findings.answers.extend(idle.map(outcome::idle_answer));
        let headline = |check: &DiagnosedCheck<'_>| check.findings().answers.into_iter().next();
        if let [first, ..] = checks.as_slice() {
            findings.answers.extend(headline(first).map(|answer| wording::before(&answer)));
        }
        let mut listed = Vec::new();
        if let [_, .., last] = checks.as_slice() {
            findings.answers.extend(headline(last).map(wording::now));
            let dangers = last.diagnosis().latent.iter().filter(|latent| latent.is_problem());
            let dangers: Vec<Answer> = dangers.map(wording::danger).collect();
            listed.push("now".to_owned());
            listed.extend(dangers.iter().map(|danger| danger.id.clone()));
            findings.answers.extend(dangers);
        }
        let mut rows: Vec<[String; 5]> = finished_steps.iter().map(StepOutcome::row).collect();
        let idle_row =
            |attempt: &Attempt<'_>| Some(wording::step_row(attempt.name, attempt.idle_reason()?, None));
        rows.extend(attempts.iter().filter_map(idle_row));
        if let Some(last) = checks.last() {
            let is_tried = |name: &StepName| attempts.iter().any(|attempt| attempt.name == *name);
            let is_helpful = |name: &StepName| !causes_needing(*name, last.diagnosis()).is_empty();
            let others = StepName::ALL.into_iter().filter(|name| !is_tried(name) && is_helpful(name));
            let not_run = |step| outcome::not_run_reason(context, step, true);
            rows.extend(others.map(|step| wording::step_row(step, not_run(step), None)));
        }
        let mut table = (!rows.is_empty()).then(|| wording::step_table(rows));
        if let (true, [only]) = (finished_steps.is_empty(), checks.as_slice()) {
            // If nothing was done, the speeds of the check say why.
            let mut check_findings = only.findings();
            if table.is_none() {
                listed.extend(findings.answers.iter().map(|answer| answer.id.clone()));
                table = check_findings.overview.table;
            }
            let metrics = check_findings.tables.swap_remove("metrics");
            add_table(findings, "metrics", metrics.into_iter().flatten());
        }
        findings.overview = Overview { answers: listed, table, ..Overview::default() };
    }

    /// Why nothing was changed, if nothing was.
    fn nothing_done(
        &self,
        context: &StepContext<'_>,
        check: &DiagnosedCheck<'_>,
        attempts: &[Attempt<'_>],
    ) -> (String, Answer) {
        if let Some(named) = self.options.step.filter(|_| attempts.is_empty()) {
            return named_step_not_run(context, check, named);
        }
        if check.has_failed() {
            return wording::drive_fails();
        }
        let diagnosis = check.diagnosis();
        let harmful: Vec<&FoundCause> = harmful_causes(diagnosis).collect();
        let mut actions = actions_possible(context, &harmful);
        let advise = |(summary, answer), actions| (summary, Answer { actions, ..answer });
        let writes_everything = |action: &Action| step_kind(action) == Some(ActionKind::Overwrite);
        if let Some(used) = context.worn_out().filter(|_| actions.iter().any(writes_everything)) {
            actions.retain(|action| step_kind(action).is_none());
            if actions.is_empty() {
                actions.push(wording::replace_drive());
            }
            return advise(wording::worn_out(Share(used)), actions);
        }
        if actions.iter().any(|action| step_kind(action).is_some_and(ActionKind::destroys)) {
            let headline = match context.obstacle(StepName::Rewrite) {
                Some(reason) => wording::only_lossy_because(&reason),
                None => wording::only_lossy(),
            };
            return advise(headline, actions);
        }
        let cause = harmful.first().map(|harmful| &*harmful.statement);
        if let Some(cause) = cause.filter(|_| !actions.is_empty()) {
            let named =
                self.options.step.filter(|_| actions.iter().any(|action| step_kind(action).is_some()));
            let headline = match named {
                Some(named) => wording::other_step(named.text(), cause),
                None => wording::only_by_hand(cause),
            };
            return advise(headline, actions);
        }
        let blocked = harmful.iter().flat_map(|harmful| &harmful.blocked);
        let blocked: Vec<(&str, &str)> = blocked.map(|step| (step.why, &*step.reason)).collect();
        if !blocked.is_empty() {
            return wording::not_now(&blocked);
        }
        if let (Some(cause), Overall::Slow | Overall::NotTheDrive) = (cause, diagnosis.overall) {
            return wording::no_remedy(cause);
        }
        let rate = check.sustained_write().filter(|_| context.trial == Trial::NoGain);
        match (diagnosis.overall, rate.map(|rate| Rate(rate.value))) {
            (Overall::Undecided, Some(rate)) => wording::cause_unknown_without_gain(rate),
            (Overall::Undecided, None) => wording::cause_unknown(),
            _ if check.case().is_compared() => wording::as_new(),
            (_, Some(rate)) => wording::no_gain(rate),
            (_, None) => {
                let trials = [StepName::Trim, StepName::Overwrite]
                    .map(|name| step_action(check.case().measurements, &context.site(), name.action()));
                let possible = trials.into_iter().filter(|action| can_be_run(context, action));
                advise(wording::no_comparison(), possible.collect())
            }
        }
    }
}

/// A step that changed something, by the checks before and after it.
fn judge_step<'a>(
    attempt: &'a Attempt<'a>,
    checks: &[DiagnosedCheck<'_>],
    after: Option<&DiagnosedCheck<'_>>,
) -> StepOutcome<'a> {
    let Attempt { name, context, .. } = *attempt;
    let before = checks.last();
    let mut changes = before.zip(after).map(|(before, after)| changes(before, after)).unwrap_or_default();
    let mut wanted = before
        .map_or_else(Vec::new, |before| Measure::metrics_showing(&causes_needing(name, before.diagnosis())));
    // Checks of a device whose data is kept only read; the step's own rewriting shows how fast it is written.
    let measures_writes =
        changes.iter().any(|change| change.measure == Measure::Metric(Metric::SustainedWrite));
    if attempt.rewrite_end.is_some() && !measures_writes {
        let probes = attempt.probes_before_and_after();
        changes.extend(probes.and_then(|(before, after)| Change::of_rewriting(&before, &after)));
        wanted = vec![Measure::Rewriting];
    }
    let is_known = !wanted.is_empty();
    if !is_known && measures_writes {
        // Reads of trimmed data do not reach the flash, however slow it is. The check before has restored the
        // first addresses, so sustained writes tell.
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
    let is_on_trial = matches!(context.trial, Trial::Gain { .. })
        || name == StepName::Trim && context.trim_gains == Some(true);
    let faster_reads = changes.iter().filter(|change| change.measure.is_of_reads());
    let drift = faster_reads.map(|change| change.ratio().value).fold(1.0, f64::max);
    let gain = showing.iter().map(|change| change.ratio().value / drift).fold(0.0, f64::max);
    let has_goal = showing.iter().any(|change| change.reference.is_some());
    let wrong_step = before.filter(|_| !is_on_trial).and_then(|before| wrong_step(name, before));
    let effect = match Effect::classify(&showing, noticeable, is_known) {
        // The step does not fix the known cause, which may come and go, so one faster check proves nothing.
        Effect::Yes if wrong_step.is_some() => Effect::Unattributed,
        // Without a goal, other programs may have slowed down the check before. The step counts only if
        // writing again showed a gain, and if it gained more than reads did.
        Effect::Yes if frees_blocks(name) && !has_goal && !(is_on_trial && gain >= noticeable) => {
            Effect::Unattributed
        }
        effect => effect,
    };
    let metrics_showing = showing.into_iter().copied().collect();
    let warnings = context.feasibility.iter().flat_map(|feasibility| feasibility.warnings(name.action()));
    let warnings = warnings.map(|objection| objection.reason.clone()).collect();
    let headline = before.and_then(DiagnosedCheck::worst_metric).map(Measure::Metric);
    StepOutcome { attempt, changes, metrics_showing, effect, warnings, caveat, headline, wrong_step }
}

/// Why a step cannot help: it does not fix the known cause.
fn wrong_step(name: StepName, before: &DiagnosedCheck<'_>) -> Option<String> {
    let diagnosis = before.diagnosis();
    let cause = harmful_causes(diagnosis).next()?;
    causes_needing(name, diagnosis).is_empty().then(|| wording::wrong_step(name, &cause.statement))
}

/// Why a named step did not run. On a slow drive, other steps that would help are advised.
fn named_step_not_run(
    context: &StepContext<'_>,
    check: &DiagnosedCheck<'_>,
    named: StepName,
) -> (String, Answer) {
    let Some(reason) = context.obstacle(named) else { return wording::stopped_before(named) };
    let written = check.results.past.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
    let fixes = check.findings().found_problem().then(|| {
        let causes: Vec<&FoundCause> = harmful_causes(check.diagnosis()).collect();
        let mut actions = actions_possible(context, &causes);
        actions.retain(|action| action.loses < Loss::Everything);
        actions
    });
    wording::step_not_possible(named, &reason, written, fixes)
}

/// The fixes of causes that can be run here.
fn actions_possible(context: &StepContext<'_>, causes: &[&FoundCause]) -> Vec<Action> {
    let actions = causes.iter().flat_map(|cause| &cause.actions);
    actions.filter(|action| can_be_run(context, action)).cloned().collect()
}

/// A step that was tried and is not possible here is not advised.
fn can_be_run(context: &StepContext<'_>, action: &Action) -> bool {
    step_kind(action).is_none_or(|kind| !matches!(context.site().possibility(kind), Possibility::No(_)))
}

/// The steps possible here, and those the drive could do by itself.
fn put_plan(context: &StepContext<'_>, findings: &mut Findings) {
    let possible: Vec<StepName> =
        StepName::ALL.into_iter().filter(|name| context.obstacle(*name).is_none()).collect();
    let (summary, plan) = wording::plan(&possible);
    let manual_steps = context.feasibility.iter().flat_map(|feasibility| &feasibility.manual_steps);
    findings.summary = summary;
    findings.answers.push(plan);
    findings.answers.extend(StepName::ALL.into_iter().map(|name| explain(context, name)));
    findings.answers.extend(manual_steps.map(wording::manual_step));
    findings.answers.extend(context.facts.into_iter().flat_map(lasting));
    let row = |name: StepName| {
        let reason = outcome::not_run_reason(context, name, true);
        let if_possible = |bytes: Option<u64>| bytes.filter(|_| possible.contains(&name));
        let step = implementation(name);
        let (least, bytes) = (if_possible(step.bytes_least(context)), if_possible(step.bytes(context)));
        wording::plan_row(name, reason, least, bytes)
    };
    let table = wording::plan_table(StepName::ALL.into_iter().map(row));
    findings.overview = Overview { table: Some(table), ..Overview::default() };
}

/// What a step does, costs and loses here, how its success is proven, and whether it is possible.
fn explain(context: &StepContext<'_>, name: StepName) -> Answer {
    let site = context.site();
    let mut action = step_action(&Measurements::default(), &site, name.action());
    let cost = cost(&action);
    action.bytes_written = implementation(name).bytes(context).filter(|bytes| *bytes > 0);
    let wear = action.bytes_written.and_then(|bytes| wear_percent(&site, bytes));
    let speed = context.facts.and_then(|facts| usual_for(facts, Figure::Write)).map(|usual| usual.median());
    let time =
        action.bytes_written.zip(speed).map(|(bytes, speed)| Nanos::from_secs_f64(bytes as f64 / speed));
    let answer = wording::explained(name, &outcome::not_run_reason(context, name, true), cost, wear, time);
    if matches!(site.possibility(name.action()), Possibility::No(_)) { answer } else { answer.action(action) }
}

/// Whether passes show how a step went.
fn has_passes(attempts: &[Attempt<'_>]) -> bool {
    attempts.iter().any(|attempt| pass_lines(attempt).count() > 1)
}

/// Speed against bytes of each pass of a step.
fn pass_lines(attempt: &Attempt<'_>) -> impl Iterator<Item = Vec<[f64; 2]>> {
    attempt.passes.iter().map(WritePass::points).filter(|points| !points.is_empty())
}

/// The passes as a series.
fn draw(attempts: &[Attempt<'_>], findings: &mut Findings) {
    let lines: Vec<Line> = attempts
        .iter()
        .flat_map(pass_lines)
        .enumerate()
        .map(|(index, points)| Line::new(wording::pass_name(index + 1), points))
        .collect();
    let x = Axis::new(wording::PASSES_AXIS, "bytes");
    let series = Series::new(wording::PASSES_TITLE, Shape::Line, x, speed()).lines(lines);
    add_series(findings, "passes", series);
}

/// The implementation of a step.
fn implementation(name: StepName) -> &'static dyn ReconditionStep {
    match name {
        StepName::Trim => &OneFix { name: StepName::Trim, fix: |_| Fix::TrimFree },
        StepName::DiscardUnused => &OneFix { name: StepName::DiscardUnused, fix: |_| Fix::DiscardUnused },
        StepName::Refresh => &Refresh,
        StepName::Overwrite => &Overwrite,
        StepName::Rewrite => &Rewrite,
        StepName::Discard => &OneFix { name: StepName::Discard, fix: |_| Fix::Discard },
        StepName::OverwriteAll => &OverwriteAll,
        StepName::Format => &OneFix {
            name: StepName::Format,
            fix: |options| Fix::Format { crypto: options.erase == Erase::Key },
        },
    }
}

/// A step that is one command to the drive or the file system, and idle time after it.
struct OneFix {
    name: StepName,
    fix: fn(&ReconditionOptions) -> Fix,
}

impl ReconditionStep for OneFix {
    /// Space outside of partitions may hold something that only the owner knows of.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let unused = context.feasibility.and_then(|feasibility| feasibility.unused_bytes.get());
        (self.name == StepName::DiscardUnused).then(|| wording::owner_must_agree(unused))
    }

    fn bytes(&self, _context: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        apply(steps, || (self.fix)(attempt.context.options))?;
        attempt.idle_if_fixed(steps)
    }
}
