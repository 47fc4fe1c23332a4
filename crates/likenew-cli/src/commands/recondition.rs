//! `likenew recondition`.

use likenew_core::plan::Plan;
use likenew_core::region::Region;
use likenew_procedures::check::CheckOptions;
use likenew_procedures::recondition::{ReconditionOptions, StepName};

use crate::access::Access;
use crate::arguments::Recondition;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::reference_sources::add_references;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Name of the procedure in a plan.
pub(crate) const NAME: &str = "recondition";

/// Bytes that a check writes are a multiple of this.
const STEP: u64 = CheckOptions::AREA_STEP;

pub(crate) fn run(command: Recondition) -> Result<Exit, Failure> {
    let is_dry_run = command.dry_run || command.target_arguments.plan;
    let access = Access::Step { step: command.step, journal: command.journal.as_deref(), is_dry_run };
    let asked = command.step.map_or(wording::GENTLEST_STEP, StepName::text);
    let request = Request {
        keeps_leftovers: is_dry_run,
        audited: (!is_dry_run).then_some(asked),
        ..Request::for_target(&command.target_arguments, access, &command.run_arguments)
    };
    measure(request, |target| plan(&command, &target.resolved))
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
        idle: command.idle,
        dry_run: command.dry_run,
        journal: command.journal.clone(),
        rate: command.rate,
        erase: command.erase.into(),
        ..ReconditionOptions::default()
    };
    if let ResolvedTarget::Simulated(spec) = resolved_target {
        let free = spec.free(usable);
        let free =
            free.start..free.end.min(free.start.saturating_add(command.overwrite_max.unwrap_or(u64::MAX)));
        if !free.is_empty() {
            in_scope(&mut check, free.end - free.start);
            asked.free = Some(Region::bytes(free));
        }
    } else if resolved_target.is_folder() {
        let most = command.overwrite_max.map_or(usable, |most| most.min(usable));
        in_scope(&mut check, most);
        asked.overwrite_max = Some(most);
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
        None if resolved_target.is_real() => likenew_real::clock::new_seed().map_err(anyhow::Error::new)?,
        None => 0,
    };
    let target = Some(command.target_arguments.target.clone());
    Ok(Some(Plan::new(NAME, target, seed, options(&asked))))
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
