//! The path of every command that measures: resolve the targets, make plans, run them, and report.

mod pace;
mod run;
mod writes;

use std::path::Path;

use likenew_core::procedure::Plan;
use likenew_history::metrics::Attempt;
use likenew_real::drive_lock::DriveLock;
use run::Outcome;
use serde::Serialize;
use writes::begin_audited;

use crate::arguments::{ExecutionArguments, Output, RunArguments, TargetArguments};
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::output::{self, FailedTarget, RunReport};
use crate::plan_file::plan_text;
use crate::resolved_target::{Access, ResolvedTarget, lock};
use crate::{interrupt, progress, wording};

pub(crate) use run::InterruptedRun;

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
    /// Name one of several targets for which no plan can be made, and measure the others.
    pub(crate) leaves_out_failed: bool,
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
            leaves_out_failed: false,
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

    fn execution(&self) -> &'a ExecutionArguments {
        &self.run_arguments.execution
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
/// 2. A plan is made for it by `plan`.
/// 3. The drive is locked and opened, a plan that does not fit is refused, and the plan runs. Its evidence is
///    judged and kept.
/// 4. All reports are shown together, then how each run ended.
///
/// # Errors
/// Wrong usage, refusals and failures of the only target; those of one of several are printed.
pub(crate) fn measure(request: Request<'_>, plan: impl FnMut(&Target) -> Result<Plan>) -> Result<Exit> {
    measure_each(request, plan).map(|(exit, _)| exit)
}

/// Like [`measure`], and also returns what became of each target.
///
/// # Errors
/// As for [`measure`].
pub(crate) fn measure_each(
    mut request: Request<'_>,
    mut plan: impl FnMut(&Target) -> Result<Plan>,
) -> Result<(Exit, Vec<Attempt>)> {
    let run_arguments = request.run_arguments;
    output::check_files(&run_arguments.execution.output)?;
    run_arguments.execution.log.as_deref().map_or(Ok(()), output::check_file)?;
    progress::set_format(run_arguments.execution.progress);
    let is_several = request.targets.len() > 1;
    request.is_list |= is_several;
    let prints = request.prints_plan || run_arguments.export.is_some() || run_arguments.estimate;
    Failure::reject_if(is_several && prints, wording::PLAN_TAKES_ONE_TARGET)?;
    Failure::reject_if(is_several && run_arguments.execution.log.is_some(), wording::LOG_TAKES_ONE_TARGET)?;
    let mut batch = Batch { is_list: request.is_list, exit: Exit::Fine, failed: Vec::new() };
    let leaves_out = request.is_list && request.leaves_out_failed;
    let typed = std::mem::take(&mut request.targets);
    let targets = batch.prepare_each(typed, leaves_out, |typed| typed, |typed| resolve(&request, &typed))?;
    interrupt::listen()?;
    let to_plan = |target: Target| -> Result<(Target, Plan)> {
        // A resumed run finishes the refresh of a device itself.
        if request.locks_first() && (request.interrupted.is_none() || target.resolved.is_folder()) {
            target.resolved.finish_refresh()?;
        }
        let plan = plan(&target)?;
        Ok((target, plan))
    };
    let planned = batch.prepare_each(targets, leaves_out, |target| &target.typed, to_plan)?;
    if request.prints_plan {
        planned.iter().try_for_each(|(_, plan)| output::print(&plan_text(plan)))?;
        return Ok((batch.exit, Vec::new()));
    }
    let outcomes = batch.run_each(&mut request, planned)?;
    let attempts =
        batch.failed.iter().map(Attempt::from).chain(outcomes.iter().map(Outcome::attempt)).collect();
    report(&request, outcomes, batch.failed)?;
    Ok((batch.exit, attempts))
}

fn resolve(request: &Request<'_>, typed: &str) -> Result<Target> {
    let execution = request.execution();
    let mut resolved = request.access.resolve(typed, execution)?;
    request.access.ask(&mut resolved, execution)?;
    let mut target = Target { typed: typed.to_owned(), resolved, lock: None };
    if request.locks_first() {
        target.lock(execution)?;
    }
    if request.clears_leftovers() {
        target.clear_leftover(execution)?;
    }
    Ok(target)
}

/// Runs a plan; `None` if it is only exported or estimated. An audited request is logged before and after, unless it is
/// an estimate, which changes nothing.
fn run(request: &mut Request<'_>, mut target: Target, plan: Plan) -> Result<Option<Outcome>> {
    let logged = match request.audited.filter(|_| !request.run_arguments.estimate) {
        Some(audited) => begin_audited(&target.resolved, &plan.procedure, audited)?,
        None => None,
    };
    let opened = run::open(request, &mut target, plan);
    let ended = opened.map(|open| open.map(|open| run::carry_out(open, target, request)));
    if let Some(logged) = logged {
        match &ended {
            Ok(None) => logged.end(Exit::Fine, None)?,
            Ok(Some(outcome)) => logged.end(outcome.exit, outcome.report.as_ref())?,
            Err(failure) => logged.end(failure.exit(), None)?,
        }
    }
    ended
}

fn report(request: &Request<'_>, mut outcomes: Vec<Outcome>, mut failed: Vec<FailedTarget>) -> Result<()> {
    if !request.is_silent {
        failed.extend(outcomes.iter().filter_map(Outcome::failed_target));
        let list = request.is_list.then_some(&failed[..]);
        let reports: Vec<RunReport> =
            outcomes.iter_mut().filter_map(|outcome| outcome.report.take()).collect();
        let details_command = match &request.details_command {
            Some(command) => command.clone(),
            None => output::details_command(&request.run_arguments.archive_arguments, reports.len()),
        };
        let execution = request.execution();
        let log_has_standard_output = execution.log.as_deref() == Some(Path::new("-"));
        let output = Output { log_has_standard_output, ..execution.output.clone() };
        RunReport::show(reports, list, &output, details_command, request.origins)?;
    }
    let is_alone = outcomes.len() == 1;
    outcomes.iter().for_each(|outcome| outcome.print_end(is_alone));
    if outcomes.iter().any(|outcome| outcome.hung.is_some()) {
        note(wording::HUNG);
    }
    Ok(())
}

/// Settings as the options of a plan.
pub(crate) fn options(settings: &impl Serialize) -> toml::Table {
    toml::Table::try_from(settings).expect("settings are plain values")
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
    /// Locks the drives below the target against other runs, unless they are locked. Simulated
    /// drives need no lock.
    ///
    /// # Errors
    /// A refusal that names the other run, or the user stopped the wait.
    fn lock(&mut self, execution: &ExecutionArguments) -> Result<()> {
        if let (Some(path), None) = (self.resolved.path(), &self.lock) {
            interrupt::listen()?;
            self.lock = Some(lock(&[path], execution.wait_for_drive)?);
        }
        Ok(())
    }

    /// Removes leftovers of an earlier run from a folder, after asking the user, if there is one.
    /// The drive is locked only for that, because making a plan may lock it to read folders there.
    fn clear_leftover(&mut self, execution: &ExecutionArguments) -> Result<()> {
        let Some(what) = self.resolved.agree_to_clear(execution)? else { return Ok(()) };
        let was_locked = self.lock.is_some();
        self.lock(execution)?;
        let cleared = self.resolved.remove_leftover(&what, execution);
        if !was_locked {
            self.lock = None;
        }
        cleared
    }
}

/// The exit code of all targets together, and those that failed.
struct Batch {
    is_list: bool,
    exit: Exit,
    failed: Vec<FailedTarget>,
}

impl Batch {
    /// Does a step for each target, before anything is measured, until the user stops it.
    ///
    /// # Errors
    /// Those of the step, unless it `leaves_out` failed targets.
    fn prepare_each<T, U>(
        &mut self,
        items: Vec<T>,
        leaves_out: bool,
        typed: fn(&T) -> &String,
        mut step: impl FnMut(T) -> Result<U>,
    ) -> Result<Vec<U>> {
        let mut done = Vec::new();
        for item in items {
            if self.exit == Exit::Interrupted {
                break;
            }
            let name = typed(&item).clone();
            match step(item) {
                Ok(next) => done.push(next),
                Err(failure) => {
                    if leaves_out && !matches!(failure, Failure::Interrupted) {
                        note(format_args!("{name}:"));
                    }
                    self.on_failure(name, failure, leaves_out)?;
                }
            }
        }
        Ok(done)
    }

    /// Measures each target, until the user stops it. If there are several, each is named first, and one that
    /// fails is left out.
    ///
    /// # Errors
    /// Those of the only target.
    fn run_each(&mut self, request: &mut Request<'_>, planned: Vec<(Target, Plan)>) -> Result<Vec<Outcome>> {
        let are_named = planned.len() > 1;
        let mut outcomes = Vec::new();
        for (target, plan) in planned {
            if self.exit == Exit::Interrupted {
                break;
            }
            if are_named {
                note(format_args!("{}:", target.typed));
            }
            let name = target.typed.clone();
            match run(request, target, plan) {
                Ok(outcome) => {
                    self.exit = outcome.iter().fold(self.exit, |exit, ended| exit.of_targets(ended.exit));
                    outcomes.extend(outcome);
                }
                Err(failure) => self.on_failure(name, failure, self.is_list)?,
            }
        }
        Ok(outcomes)
    }

    /// Takes note of a target that failed, or that the user stopped.
    ///
    /// # Errors
    /// The failure, unless failed targets are left out.
    fn on_failure(&mut self, name: String, failure: Failure, leaves_out: bool) -> Result<()> {
        match failure {
            Failure::Interrupted => self.exit = Exit::Interrupted,
            failure if leaves_out => {
                note(failure.message());
                self.exit = self.exit.of_targets(failure.exit());
                self.failed.push(FailedTarget::new(name, failure.reason(), failure.exit()));
            }
            failure => return Err(failure),
        }
        Ok(())
    }
}
