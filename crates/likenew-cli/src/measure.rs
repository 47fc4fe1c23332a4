//! The path of every command that measures: resolve the targets, make plans, run them, and report.

mod open_run;
mod outcome;
mod pace;
mod writes;

use std::ops::ControlFlow;
use std::path::Path;

use likenew_core::procedure::Plan;
use likenew_history::metrics::Attempt;
use likenew_real::drive_lock::DriveLock;
use outcome::Outcome;
use serde::Serialize;
use writes::begin_audited;

use crate::access::{Access, lock};
use crate::arguments::{ExecutionArguments, Output, RunArguments, TargetArguments};
use crate::exit::{Exit, Failure, Result};
use crate::output::{self, FailedTarget};
use crate::plan_file::plan_text;
use crate::resolved_target::ResolvedTarget;
use crate::run_report::RunReport;
use crate::{interrupt, progress, wording};

pub(crate) use open_run::InterruptedRun;

/// What a command asks for, from its arguments.
pub(crate) struct Request<'a> {
    /// Targets as typed; each is measured by itself.
    pub(crate) targets: Vec<String>,
    pub(crate) access: Access<'a>,
    pub(crate) run_arguments: &'a RunArguments,
    /// Print the plan and stop.
    pub(crate) prints_plan: bool,
    /// Keep temporary files of an earlier run, because this one writes none.
    pub(crate) keeps_leftovers: bool,
    /// Treat a single target as a list of one.
    pub(crate) is_list: bool,
    /// What happens to one of several targets if no plan can be made for it.
    pub(crate) on_failure: OnFailure,
    /// The request in words for the audit log, if it is logged.
    pub(crate) audited: Option<&'a str>,
    /// The run to continue, in place of a new one.
    pub(crate) interrupted: Option<InterruptedRun>,
    /// The command that shows all details, if that is not a report of the newest runs.
    pub(crate) details_command: Option<String>,
    /// Show where each fact comes from.
    pub(crate) origins: bool,
    /// Show no report, because the command says something else about the runs.
    pub(crate) is_silent: bool,
}

impl<'a> Request<'a> {
    /// A request for these targets, without anything that only some commands ask for.
    pub(crate) fn new(targets: Vec<String>, access: Access<'a>, run_arguments: &'a RunArguments) -> Self {
        Self {
            targets,
            access,
            run_arguments,
            prints_plan: false,
            keeps_leftovers: false,
            is_list: false,
            on_failure: OnFailure::End,
            audited: None,
            interrupted: None,
            details_command: None,
            origins: false,
            is_silent: false,
        }
    }

    /// A request for one target.
    pub(crate) fn for_target(arguments: &'a TargetArguments, access: Access<'a>) -> Self {
        let targets = vec![arguments.target.clone()];
        Self { prints_plan: arguments.plan, ..Self::new(targets, access, &arguments.run) }
    }

    /// Whether the drive is locked before a plan is made, because it may be changed before that. An
    /// estimate changes nothing.
    fn locks_first(&self) -> bool {
        !self.run_arguments.estimate && (self.access.finishes_refresh() || self.interrupted.is_some())
    }

    /// Whether to remove what an earlier run left.
    fn clears_leftovers(&self) -> bool {
        !self.prints_plan && !self.keeps_leftovers && !self.run_arguments.estimate
    }
}

/// Runs a command that measures, from what was typed to its exit code. Every such command takes this path:
///
/// 1. Each target is resolved: examined, consent asked for, leftovers of an earlier run cleared.
/// 2. A plan is made for it by `plan`, which returns `None` if the user stopped that.
/// 3. The drive is locked and opened, a plan that does not fit is refused, and the plan runs. Its evidence is
///    judged and kept.
/// 4. All reports are shown together, then how each run ended.
///
/// # Errors
/// Wrong usage, refusals and failures of the only target; those of one of several are printed.
pub(crate) fn measure(
    request: Request<'_>,
    plan: impl FnMut(&Target) -> Result<Option<Plan>>,
) -> Result<Exit> {
    measure_each(request, plan).map(|(exit, _)| exit)
}

/// [`measure`] for one target, with a plan of only the options that `fit` makes for that target.
///
/// # Errors
/// As for [`measure`].
pub(crate) fn measure_with<O: Serialize>(
    arguments: &TargetArguments,
    procedure: &str,
    access: Access<'_>,
    fit: impl Fn(&ResolvedTarget) -> Result<O>,
) -> Result<Exit> {
    measure(Request::for_target(arguments, access), |target| {
        Ok(Some(arguments.plan_of(procedure, options(&fit(&target.resolved)?))))
    })
}

/// Like [`measure`], and also returns what became of each target.
///
/// # Errors
/// As for [`measure`].
pub(crate) fn measure_each(
    mut request: Request<'_>,
    mut plan: impl FnMut(&Target) -> Result<Option<Plan>>,
) -> Result<(Exit, Vec<Attempt>)> {
    output::check_files(&request.run_arguments.execution.output)?;
    request.run_arguments.execution.log.as_deref().map_or(Ok(()), output::check_file)?;
    progress::set_format(request.run_arguments.execution.progress);
    let is_several = request.targets.len() > 1;
    request.is_list |= is_several;
    let run_arguments = request.run_arguments;
    let prints = request.prints_plan || run_arguments.export.is_some() || run_arguments.estimate;
    if is_several && prints {
        return Err(Failure::Usage(wording::PLAN_TAKES_ONE_TARGET.into()));
    }
    if is_several && run_arguments.execution.log.is_some() {
        return Err(Failure::Usage(wording::LOG_TAKES_ONE_TARGET.into()));
    }
    let (mut batch, on_failure) = (Batch::new(request.is_list), request.on_failure);
    let typed = std::mem::take(&mut request.targets);
    let targets = batch.prepare_each(on_failure, typed, String::as_str, |typed| resolve(&request, &typed))?;
    interrupt::listen()?;
    let plans = batch
        .prepare_each(on_failure, targets, Target::typed, |target| plan_for(&request, target, &mut plan))?;
    if request.prints_plan {
        plans.iter().try_for_each(|planned| print_plan(&planned.plan))?;
        return Ok((batch.exit, Vec::new()));
    }
    let outcomes = batch.run_each(plans, PlannedRun::typed, |planned| run(&mut request, planned))?;
    let attempts =
        batch.failed.iter().map(Attempt::from).chain(outcomes.iter().map(Outcome::attempt)).collect();
    report(&request, outcomes, batch.failed)?;
    Ok((batch.exit, attempts))
}

/// A target and what to do with it.
struct PlannedRun {
    target: Target,
    plan: Plan,
}

impl PlannedRun {
    fn typed(&self) -> &str {
        self.target.typed()
    }
}

fn resolve(request: &Request<'_>, typed: &str) -> Result<StepEnd<Target>> {
    let mut resolved = request.access.resolve(typed, &request.run_arguments.execution)?;
    request.access.ask(&mut resolved, &request.run_arguments.execution)?;
    let mut target = Target::new(typed, resolved);
    if request.locks_first() && !target.lock(&request.run_arguments.execution)? {
        return Ok((None, Exit::Interrupted));
    }
    if request.clears_leftovers() {
        target.clear_leftover(&request.run_arguments.execution)?;
    }
    Ok((Some(target), Exit::Fine))
}

fn plan_for(
    request: &Request<'_>,
    target: Target,
    plan: &mut impl FnMut(&Target) -> Result<Option<Plan>>,
) -> Result<StepEnd<PlannedRun>> {
    // A resumed run finishes the refresh of a device itself.
    if request.locks_first() && (request.interrupted.is_none() || target.resolved.is_folder()) {
        target.resolved.finish_refresh()?;
    }
    Ok(match plan(&target)? {
        Some(plan) => (Some(PlannedRun { target, plan }), Exit::Fine),
        None => (None, Exit::Interrupted),
    })
}

/// Runs a plan. An audited request is logged before and after, unless it is an estimate, which changes nothing.
fn run(request: &mut Request<'_>, planned: PlannedRun) -> Result<StepEnd<Outcome>> {
    let PlannedRun { target, plan } = planned;
    let audited = request.audited.filter(|_| !request.run_arguments.estimate);
    let Some(audited) = audited else { return open_and_run(request, target, plan) };
    let logged = begin_audited(&target.resolved, &plan.procedure, audited)?;
    let ended = open_and_run(request, target, plan);
    let (exit, report) = match &ended {
        Ok((outcome, exit)) => (*exit, outcome.as_ref().and_then(|outcome| outcome.report.as_ref())),
        Err(failure) => (failure.exit(), None),
    };
    logged.map_or(Ok(()), |logged| logged.end(exit, report.map(|report| &report.findings)))?;
    ended
}

fn open_and_run(request: &mut Request<'_>, mut target: Target, plan: Plan) -> Result<StepEnd<Outcome>> {
    Ok(match open_run::open(request, &mut target, plan)? {
        ControlFlow::Break(exit) => (None, exit),
        ControlFlow::Continue(open) => {
            let outcome = outcome::carry_out(open, target, request);
            let exit = outcome.exit;
            (Some(outcome), exit)
        }
    })
}

fn report(request: &Request<'_>, mut outcomes: Vec<Outcome>, mut failed: Vec<FailedTarget>) -> Result<()> {
    failed.extend(outcomes.iter().filter_map(Outcome::failed_target));
    let list = request.is_list.then_some(&failed[..]).filter(|_| !request.is_silent);
    let reports: Vec<RunReport> = outcomes.iter_mut().filter_map(|outcome| outcome.report.take()).collect();
    let run_arguments = request.run_arguments;
    let reports = if request.is_silent { Vec::new() } else { reports };
    let details_command = match &request.details_command {
        Some(command) => command.clone(),
        None => output::details_command(&run_arguments.archive_arguments, reports.len()),
    };
    let log_has_standard_output = run_arguments.execution.log.as_deref() == Some(Path::new("-"));
    let output = Output { log_has_standard_output, ..run_arguments.execution.output.clone() };
    RunReport::show(reports, list, &output, &details_command, request.origins)?;
    let is_alone = outcomes.len() == 1;
    outcomes.iter().for_each(|outcome| outcome.print_end(is_alone));
    if outcomes.iter().any(|outcome| outcome.hung.is_some()) {
        crate::console::note(wording::HUNG);
    }
    Ok(())
}

/// Settings as the options of a plan.
pub(crate) fn options(settings: &impl Serialize) -> toml::Table {
    toml::Table::try_from(settings).expect("settings are plain values")
}

fn print_plan(plan: &Plan) -> Result<()> {
    output::print(&plan_text(plan))
}

/// A resolved target, and the lock on its drives.
pub(crate) struct Target {
    /// As on the command line.
    pub(crate) typed: String,
    pub(crate) resolved: ResolvedTarget,
    /// Held from the first change to the drive, or from when it is opened.
    lock: Option<DriveLock>,
}

impl Target {
    fn new(typed: &str, resolved: ResolvedTarget) -> Self {
        Self { typed: typed.to_owned(), resolved, lock: None }
    }

    fn typed(&self) -> &str {
        &self.typed
    }

    /// Locks the drives below the target against other runs, unless they are locked. Simulated
    /// drives need no lock. False if the user stopped the wait.
    ///
    /// # Errors
    /// A refusal that names the other run.
    fn lock(&mut self, execution: &ExecutionArguments) -> Result<bool> {
        if let (Some(path), None) = (self.resolved.path(), &self.lock) {
            interrupt::listen()?;
            let Some(lock) = lock(&[path], execution.wait_for_drive)? else { return Ok(false) };
            self.lock = Some(lock);
        }
        Ok(true)
    }

    /// Removes leftovers of an earlier run from a folder, after asking the user, if there is one.
    /// The drive is locked only for that, because making a plan may lock it to read folders there.
    fn clear_leftover(&mut self, execution: &ExecutionArguments) -> Result<()> {
        let Some(what) = self.resolved.agree_to_clear(execution)? else { return Ok(()) };
        let was_locked = self.lock.is_some();
        // If the user stopped the wait, the run notices when it locks the drive.
        if !self.lock(execution)? {
            return Ok(());
        }
        let cleared = self.resolved.remove_leftover(&what, execution);
        if !was_locked {
            self.lock = None;
        }
        cleared
    }
}

/// The result of a step for the next one, or `None` if the target ends here, and the exit code up to there.
type StepEnd<T> = (Option<T>, Exit);

/// What happens if a step fails for one of several targets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// The command ends.
    End,
    /// The target is named and left out.
    LeaveOut,
}

/// The exit code of all targets together, and those that failed.
struct Batch {
    is_several: bool,
    exit: Exit,
    failed: Vec<FailedTarget>,
}

impl Batch {
    fn new(is_several: bool) -> Self {
        Self { is_several, exit: Exit::Fine, failed: Vec::new() }
    }

    /// Does a step for each target, before anything is measured.
    ///
    /// # Errors
    /// Those of the step, unless failed targets are left out.
    fn prepare_each<T, U>(
        &mut self,
        on_failure: OnFailure,
        items: Vec<T>,
        typed: fn(&T) -> &str,
        mut step: impl FnMut(T) -> Result<StepEnd<U>>,
    ) -> Result<Vec<U>> {
        let is_tolerant = self.is_several && on_failure == OnFailure::LeaveOut;
        self.each(items, is_tolerant, typed, |item| {
            let name = is_tolerant.then(|| typed(&item).to_owned());
            let ended = step(item);
            if let (Some(name), Err(_)) = (name, &ended) {
                crate::console::note(format_args!("{name}:"));
            }
            ended
        })
    }

    /// Measures each target. If there are several, each is named first, and one that fails is left out.
    ///
    /// # Errors
    /// Those of the only target.
    fn run_each<T, U>(
        &mut self,
        items: Vec<T>,
        typed: fn(&T) -> &str,
        mut run: impl FnMut(T) -> Result<StepEnd<U>>,
    ) -> Result<Vec<U>> {
        let are_named = items.len() > 1;
        self.each(items, self.is_several, typed, |item| {
            if are_named {
                crate::console::note(format_args!("{}:", typed(&item)));
            }
            run(item)
        })
    }

    /// Does a step for each item, until the user stops it.
    fn each<T, U>(
        &mut self,
        items: Vec<T>,
        is_tolerant: bool,
        typed: fn(&T) -> &str,
        mut step: impl FnMut(T) -> Result<StepEnd<U>>,
    ) -> Result<Vec<U>> {
        let mut done = Vec::new();
        for item in items {
            if self.exit == Exit::Interrupted {
                break;
            }
            let name = typed(&item).to_owned();
            match step(item) {
                Ok((next, exit)) => {
                    done.extend(next);
                    self.exit = self.exit.of_targets(exit);
                }
                Err(failure) if is_tolerant => {
                    crate::console::note(failure.message());
                    self.exit = self.exit.of_targets(failure.exit());
                    self.failed.push(FailedTarget::new(name, failure.reason(), failure.exit()));
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(done)
    }
}
