//! The path of every command that measures: what was typed, targets, plans, runs, reports.

mod batch;
mod interrupted_run;
mod open_run;
mod outcome;
mod pace;
mod target;
mod writes;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use likenew_archive::Archive;
use likenew_core::plan::Plan;
use likenew_metrics::Attempt;
use serde::Serialize;

use crate::access::Access;
use crate::arguments::{RunArguments, TargetArguments};
use crate::audit_step;
use crate::exit::{Exit, Failure};
use crate::output::FailedTarget;
use crate::run_report::RunReport;
use crate::{interrupt, output, progress, wording};

use batch::{Batch, StepEnd};
use outcome::Outcome;

pub(crate) use batch::OnFailure;
pub(crate) use interrupted_run::InterruptedRun;
pub(crate) use target::Target;

/// What a command asks for, from its arguments.
pub(crate) struct Request<'a> {
    /// As typed; each is measured by itself.
    pub(crate) targets: Vec<String>,
    pub(crate) access: Access<'a>,
    pub(crate) run_arguments: &'a RunArguments,
    /// Print the plan and stop.
    pub(crate) prints_plan: bool,
    /// Temporary files of an earlier run stay, because this one writes none.
    pub(crate) keeps_leftovers: bool,
    /// One target is treated as one of several, which it only happens not to be.
    pub(crate) is_list: bool,
    /// For a target of several for which no plan can be made.
    pub(crate) on_failure: OnFailure,
    /// What was asked for, in words, if the audit log keeps it.
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
    /// For targets, without anything that only some commands ask for.
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

    /// For one target.
    pub(crate) fn for_target(
        target_arguments: &TargetArguments,
        access: Access<'a>,
        run_arguments: &'a RunArguments,
    ) -> Self {
        let prints_plan = target_arguments.plan;
        Self { prints_plan, ..Self::new(vec![target_arguments.target.clone()], access, run_arguments) }
    }

    /// Whether the drive is locked before a plan is made, because it may be changed until then.
    fn locks_first(&self) -> bool {
        self.access.finishes_refresh() || self.interrupted.is_some()
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
    plan: impl FnMut(&Target) -> Result<Option<Plan>, Failure>,
) -> Result<Exit, Failure> {
    measure_each(request, plan).map(|(exit, _)| exit)
}

/// The same, and what became of each target.
///
/// # Errors
/// As for [`measure`].
pub(crate) fn measure_each(
    mut request: Request<'_>,
    mut plan: impl FnMut(&Target) -> Result<Option<Plan>, Failure>,
) -> Result<(Exit, Vec<Attempt>), Failure> {
    output::check_files(&request.run_arguments.output)?;
    progress::set_format(request.run_arguments.progress);
    let is_several = request.targets.len() > 1;
    request.is_list |= is_several;
    let run_arguments = request.run_arguments;
    let prints = request.prints_plan || run_arguments.export.is_some() || run_arguments.estimate;
    if is_several && prints {
        return Err(Failure::Usage(wording::PLAN_TAKES_ONE_TARGET.into()));
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

fn resolve(request: &Request<'_>, typed: &str) -> Result<StepEnd<Target>, Failure> {
    let mut resolved = request.access.resolve(typed, request.run_arguments)?;
    request.access.ask(&mut resolved, request.run_arguments)?;
    let mut target = Target::new(typed, resolved);
    if request.locks_first() && !target.lock(request.run_arguments)? {
        return Ok((None, Exit::Interrupted));
    }
    if !request.prints_plan && !request.keeps_leftovers {
        target.clear_leftover(request.run_arguments)?;
    }
    Ok((Some(target), Exit::Fine))
}

fn plan_for(
    request: &Request<'_>,
    target: Target,
    plan: &mut impl FnMut(&Target) -> Result<Option<Plan>, Failure>,
) -> Result<StepEnd<PlannedRun>, Failure> {
    // The rest of a run finishes the refresh of a device itself.
    if request.locks_first() && (request.interrupted.is_none() || target.resolved.is_folder()) {
        target.resolved.finish_refresh()?;
    }
    Ok(match plan(&target)? {
        Some(plan) => (Some(PlannedRun { target, plan }), Exit::Fine),
        None => (None, Exit::Interrupted),
    })
}

/// Logs what is done to the drive, if that is asked for, before and after it. Nothing is done by an estimate.
fn run(request: &mut Request<'_>, planned: PlannedRun) -> Result<StepEnd<Outcome>, Failure> {
    let PlannedRun { target, plan } = planned;
    let audited = request.audited.filter(|_| !request.run_arguments.estimate);
    let Some(audited) = audited else { return open_and_run(request, target, plan) };
    let logged = audit_step::begin(&target.resolved, &plan.procedure, audited)?;
    let ended = open_and_run(request, target, plan);
    let (exit, report) = match &ended {
        Ok((outcome, exit)) => (*exit, outcome.as_ref().and_then(|outcome| outcome.report.as_ref())),
        Err(failure) => (failure.exit(), None),
    };
    logged.map_or(Ok(()), |logged| logged.end(exit, report.map(|report| &report.findings)))?;
    ended
}

fn open_and_run(
    request: &mut Request<'_>,
    mut target: Target,
    plan: Plan,
) -> Result<StepEnd<Outcome>, Failure> {
    Ok(match open_run::open(request, &mut target, plan)? {
        ControlFlow::Break(exit) => (None, exit),
        ControlFlow::Continue(open) => {
            let outcome = outcome::carry_out(open, target, request);
            let exit = outcome.exit;
            (Some(outcome), exit)
        }
    })
}

fn report(
    request: &Request<'_>,
    mut outcomes: Vec<Outcome>,
    mut failed: Vec<FailedTarget>,
) -> Result<(), Failure> {
    failed.extend(outcomes.iter().filter_map(Outcome::failed_target));
    let list = request.is_list.then_some(&failed[..]).filter(|_| !request.is_silent);
    let reports: Vec<RunReport> = outcomes.iter_mut().filter_map(|outcome| outcome.report.take()).collect();
    let run_arguments = request.run_arguments;
    let reports = if request.is_silent { Vec::new() } else { reports };
    let details_command = match &request.details_command {
        Some(command) => command.clone(),
        None => output::details_command(&run_arguments.archive_arguments, reports.len()),
    };
    RunReport::show(reports, list, &run_arguments.output, &details_command, request.origins)?;
    let is_alone = outcomes.len() == 1;
    outcomes.iter().for_each(|outcome| outcome.print_end(is_alone));
    if outcomes.iter().any(|outcome| outcome.hung.is_some()) {
        crate::standard_error::note(wording::HUNG);
    }
    Ok(())
}

/// Settings as the table of a plan.
pub(crate) fn options(settings: &impl Serialize) -> toml::Table {
    toml::Table::try_from(settings).expect("settings are plain values")
}

fn print_plan(plan: &Plan) -> Result<(), Failure> {
    let text = toml::to_string(plan).expect("a plan is plain values");
    output::print(&text)
}

/// The archive: from the command line, or the default.
pub(crate) fn archive_root(path: Option<&Path>) -> Result<PathBuf, Failure> {
    match path {
        Some(root) => Ok(root.to_owned()),
        None => Ok(Archive::default_root(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?),
    }
}
