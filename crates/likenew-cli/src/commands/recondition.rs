//! `likenew recondition`.

use likenew_core::plan::Plan;
use likenew_core::region::Region;
use likenew_procedures::check::CheckOptions;
use likenew_procedures::recondition::{ReconditionOptions, RungName};

use crate::aim::Aim;
use crate::arguments::Recondition;
use crate::audited::Audited;
use crate::exit::{Exit, Failure};
use crate::held_against::hold_against;
use crate::measure::{measure, options, print_plan};
use crate::{interrupt, refreshing};

/// What a check writes is a multiple of this.
const STEP: u64 = CheckOptions::AREA_STEP;

pub(crate) fn run(command: Recondition) -> Result<Exit, Failure> {
    let mut aim = Aim::take(&command.on.target, &command.how)?;
    if !command.dry_run && !command.on.plan {
        refuse_without_a_name(&command, &aim)?;
        aim.ask_for_consent(&command.how)?;
        aim.refuse_writing()?;
    }
    aim.clear_leftover(&command.how)?;
    interrupt::listen()?;
    if let Some(folder) = aim.path().filter(|_| aim.is_folder() && !command.dry_run && !command.on.plan) {
        refreshing::go_on_aloud(folder)?;
    }
    let Some(plan) = plan(&command, &aim)? else { return Ok(Exit::Interrupted) };
    if command.on.plan {
        return print_plan(&plan);
    }
    if command.dry_run {
        return measure(plan, &aim, &command.how);
    }
    let asked = command.rung.map_or("the gentlest step that can help", RungName::text);
    let audited = Audited::begin(&aim, "recondition", asked)?;
    let ended = measure(plan, &aim, &command.how);
    audited.end(ended.as_ref().map_or_else(Failure::exit, |exit| *exit))?;
    ended
}

/// Nothing that is done to a whole device leaves what lies on it.
fn refuse_without_a_name(command: &Recondition, aim: &Aim) -> Result<(), Failure> {
    let is_whole = aim.is_real() && !aim.is_folder();
    if !is_whole || command.rung.is_some_and(|rung| rung.destroys()) {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "{} is no folder, and whatever brings a whole drive back destroys what lies on it; nothing was changed. Give the folder where \
         its file system is mounted, for what keeps every file; or say which step may destroy everything: --rung discard, overwrite-all or format",
        command.on.target
    )))
}

/// What is to be run; nothing when somebody asked to stop.
fn plan(command: &Recondition, aim: &Aim) -> Result<Option<Plan>, Failure> {
    let mut check = CheckOptions { bytes: command.bytes, ..CheckOptions::default() };
    let usable = aim.usable_bytes()?;
    let mut asked = ReconditionOptions {
        rung: command.rung,
        passes: command.passes,
        rest: command.rest,
        dry_run: command.dry_run,
        ..ReconditionOptions::default()
    };
    if let Aim::Simulated(spec) = aim {
        let free = spec.free(usable);
        let free = free.start..free.end.min(free.start.saturating_add(command.space.unwrap_or(u64::MAX)));
        if !free.is_empty() {
            within(&mut check, free.end - free.start);
            asked.free = Some(Region::bytes(free));
        }
    } else if aim.is_folder() {
        let space = command.space.map_or(usable, |space| space.min(usable));
        within(&mut check, space);
        asked.space = Some(space);
    }
    if !command.dry_run && !hold_against(&mut check, &command.references, &command.how.keep, aim)? {
        return Ok(None);
    }
    asked.check = check;
    let seed = match command.on.seed {
        Some(seed) => seed,
        // What an earlier run has left is another run's only if its key is another one.
        None if aim.is_real() => likenew_real::seed::fresh().map_err(anyhow::Error::new)?,
        None => 0,
    };
    let target = Some(command.on.target.clone());
    Ok(Some(Plan { schema: 1, procedure: "recondition".into(), target, seed, options: options(&asked) }))
}

/// A check that writes within so much space: a whole part of it where that is enough to see anything, so that files of that length fill it.
fn within(check: &mut CheckOptions, space: u64) {
    let most = check.area(u64::MAX).max(STEP).min(space);
    let whole = |bytes: u64| bytes - bytes % STEP;
    let even = whole(space / space.div_ceil(most.max(1)).max(1));
    let area = if even >= CheckOptions::AREA_LEAST { even } else { whole(most) };
    check.bytes = Some(area * CheckOptions::PARTS);
}
