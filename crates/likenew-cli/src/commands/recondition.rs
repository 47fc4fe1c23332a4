//! `likenew recondition`.

use std::path::Path;

use likenew_core::plan::Plan;
use likenew_core::region::Region;
use likenew_procedures::check::CheckOptions;
use likenew_procedures::recondition::{ReconditionOptions, StepName};

use crate::arguments::{ExecutionArguments, Recondition};
use crate::audit_step::run_audited;
use crate::exit::{Exit, Failure};
use crate::measure::{measure, measure_locked, options, print_plan};
use crate::reference_sources::add_references;
use crate::resolved_target::ResolvedTarget;
use crate::{interrupt, output, wording};

/// Name of the procedure in a plan.
pub(crate) const NAME: &str = "recondition";

/// Bytes that a check writes are a multiple of this.
const STEP: u64 = CheckOptions::AREA_STEP;

pub(crate) fn run(command: Recondition) -> Result<Exit, Failure> {
    let (step, journal) = (command.step, command.journal.as_deref());
    let mut resolved_target =
        resolve_target(step, journal, &command.target_arguments.target, &command.run_arguments)?;
    let only_says = command.dry_run || command.target_arguments.plan;
    if !only_says {
        ask(&mut resolved_target, step, journal, &command.run_arguments)?;
    }
    interrupt::listen()?;
    let mut lock = None;
    if !only_says {
        lock = resolved_target.lock(&command.run_arguments)?;
        if lock.is_none() {
            return Ok(Exit::Interrupted);
        }
        resolved_target.clear_leftover_locked(&command.run_arguments)?;
        resolved_target.resume()?;
    }
    let Some(plan) = plan(&command, &resolved_target)? else { return Ok(Exit::Interrupted) };
    if command.target_arguments.plan {
        return print_plan(&plan);
    }
    if command.dry_run {
        return measure(plan, &resolved_target, &command.run_arguments);
    }
    let asked = command.step.map_or(wording::GENTLEST_STEP, StepName::text);
    let run_arguments = &command.run_arguments;
    let details = output::details_command(&run_arguments.archive_arguments, 1);
    let shown = (&run_arguments.output, &*details);
    let ended = run_audited(&resolved_target, NAME, asked, shown, |show| {
        measure_locked(plan, &resolved_target, run_arguments, show)
    });
    drop(lock);
    ended
}

/// Resolves TARGET for a step.
pub(crate) fn resolve_target(
    step: Option<StepName>,
    journal: Option<&Path>,
    target: &str,
    run_arguments: &ExecutionArguments,
) -> Result<ResolvedTarget, Failure> {
    if keeps(step, target) {
        ResolvedTarget::resolve_to_preserve(target, run_arguments, journal)
    } else {
        ResolvedTarget::resolve(target, run_arguments)
    }
}

/// Whether a step works on a whole drive and loses nothing, so that it needs consent to work there, but not
/// to a loss.
fn keeps(step: Option<StepName>, target: &str) -> bool {
    match step {
        Some(StepName::DiscardUnused) => true,
        Some(StepName::Refresh | StepName::Rewrite) => !Path::new(target).is_dir(),
        _ => false,
    }
}

/// Gets every consent that a step needs.
///
/// # Errors
/// A refusal with the command to type.
pub(crate) fn ask(
    resolved_target: &mut ResolvedTarget,
    step: Option<StepName>,
    journal: Option<&Path>,
    run_arguments: &ExecutionArguments,
) -> Result<(), Failure> {
    let Some(path) = resolved_target.path().filter(|_| !resolved_target.is_folder()).map(Path::display)
    else {
        return match step {
            Some(StepName::DiscardUnused) => resolved_target.confirm_preserve(run_arguments, journal),
            _ => Ok(()),
        };
    };
    match step {
        Some(StepName::Refresh | StepName::Rewrite) => {
            resolved_target.confirm_preserve(run_arguments, journal)
        }
        Some(step) if step.destroys() => {
            resolved_target.ask_for_consent(run_arguments)?;
            resolved_target.refuse_writing()
        }
        Some(StepName::DiscardUnused) => {
            Err(Failure::Refused(wording::not_a_folder_for_discard_unused(path)))
        }
        _ => Err(Failure::Refused(wording::not_a_folder_for_recondition(path))),
    }
}

/// The plan; `None` if the user stopped it.
fn plan(command: &Recondition, resolved_target: &ResolvedTarget) -> Result<Option<Plan>, Failure> {
    let mut check = CheckOptions { bytes: command.bytes, ..CheckOptions::default() };
    let usable = match resolved_target.space() {
        // A dry run writes nothing, so it needs no free space.
        Some(space) if command.dry_run && !space.is_read_only => space.usable_bytes,
        _ => resolved_target.usable_bytes()?,
    };
    let mut asked = ReconditionOptions {
        step: command.step,
        passes: command.passes,
        rest: command.rest,
        dry_run: command.dry_run,
        journal: command.journal.clone(),
        rate: command.rate,
        erase: command.erase.into(),
        ..ReconditionOptions::default()
    };
    if let ResolvedTarget::Simulated(spec) = resolved_target {
        let free = spec.free(usable);
        let free = free.start..free.end.min(free.start.saturating_add(command.space.unwrap_or(u64::MAX)));
        if !free.is_empty() {
            in_scope(&mut check, free.end - free.start);
            asked.free = Some(Region::bytes(free));
        }
    } else if resolved_target.is_folder() {
        let space = command.space.map_or(usable, |space| space.min(usable));
        in_scope(&mut check, space);
        asked.space = Some(space);
    }
    if !command.dry_run
        && !add_references(
            &mut check,
            &command.references,
            &command.run_arguments.archive_arguments,
            resolved_target,
        )?
    {
        return Ok(None);
    }
    asked.check = check;
    let seed = match command.target_arguments.seed {
        Some(seed) => seed,
        // Data of an earlier run is only told from this one's by its key, so each run has another.
        None if resolved_target.is_real() => likenew_real::seed::new_seed().map_err(anyhow::Error::new)?,
        None => 0,
    };
    let target = Some(command.target_arguments.target.clone());
    Ok(Some(Plan { schema: 1, procedure: NAME.into(), target, seed, options: options(&asked) }))
}

/// Limits a check to this space: to a whole part of it if that shows enough, so that files of that length
/// fill it.
fn in_scope(check: &mut CheckOptions, space: u64) {
    let most = check.area(u64::MAX).max(STEP).min(space);
    let whole = |bytes: u64| bytes - bytes % STEP;
    let even = whole(space / space.div_ceil(most.max(1)).max(1));
    let area = if even >= CheckOptions::AREA_LEAST { even } else { whole(most) };
    check.bytes = Some(area * CheckOptions::PARTS);
}
