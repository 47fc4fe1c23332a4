//! `likenew recondition`.

use std::path::Path;

use likenew_core::plan::Plan;
use likenew_core::region::Region;
use likenew_procedures::check::CheckOptions;
use likenew_procedures::recondition::{ReconditionOptions, RungName};

use crate::aim::Aim;
use crate::arguments::{Carry, Recondition};
use crate::audited::audited;
use crate::exit::{Exit, Failure};
use crate::held_against::hold_against;
use crate::interrupt;
use crate::measure::{measure, measure_locked, options, print_plan};

/// What the procedure is called in a plan.
pub(crate) const NAME: &str = "recondition";

/// What a check writes is a multiple of this.
const STEP: u64 = CheckOptions::AREA_STEP;

pub(crate) fn run(command: Recondition) -> Result<Exit, Failure> {
    let (rung, journal) = (command.rung, command.journal.as_deref());
    let mut aim = take(rung, journal, &command.on.target, &command.how)?;
    let only_says = command.dry_run || command.on.plan;
    if !only_says {
        ask(&mut aim, rung, journal, &command.how)?;
    }
    interrupt::listen()?;
    let mut lock = None;
    if !only_says {
        lock = aim.lock(&command.how)?;
        if lock.is_none() {
            return Ok(Exit::Interrupted);
        }
        aim.clear_leftover_locked(&command.how)?;
        aim.go_on()?;
    }
    let Some(plan) = plan(&command, &aim)? else { return Ok(Exit::Interrupted) };
    if command.on.plan {
        return print_plan(&plan);
    }
    if command.dry_run {
        return measure(plan, &aim, &command.how);
    }
    let asked = command.rung.map_or("the gentlest step that can help", RungName::text);
    let how = &command.how;
    let ended = audited(&aim, NAME, asked, &how.output, |show| measure_locked(plan, &aim, how, show));
    drop(lock);
    ended
}

/// What TARGET means for a step.
pub(crate) fn take(
    rung: Option<RungName>,
    journal: Option<&Path>,
    target: &str,
    how: &Carry,
) -> Result<Aim, Failure> {
    if keeps(rung, target) { Aim::take_to_keep(target, how, journal) } else { Aim::take(target, how) }
}

/// Whether a step is done to a drive as a whole and loses nothing, so that it needs consent, and not to a loss.
fn keeps(rung: Option<RungName>, target: &str) -> bool {
    match rung {
        Some(RungName::DiscardUnused) => true,
        Some(RungName::Refresh) => !Path::new(target).is_dir(),
        _ => false,
    }
}

/// Has everything agreed to that a step needs.
///
/// # Errors
/// A refusal that says what to type.
pub(crate) fn ask(
    aim: &mut Aim,
    rung: Option<RungName>,
    journal: Option<&Path>,
    how: &Carry,
) -> Result<(), Failure> {
    let Some(path) = aim.path().filter(|_| !aim.is_folder()).map(Path::display) else {
        return match rung {
            Some(RungName::DiscardUnused) => aim.ask_to_keep(how, journal),
            _ => Ok(()),
        };
    };
    match rung {
        Some(RungName::Refresh) => aim.ask_to_keep(how, journal),
        Some(rung) if rung.destroys() => {
            aim.ask_for_consent(how)?;
            aim.refuse_writing()
        }
        Some(RungName::DiscardUnused) => Err(Failure::Refused(format!(
            "{path} is no folder; nothing was changed. Whether it helps to give up what no partition covers is seen in writes: give a folder \
             on one of its partitions"
        ))),
        _ => Err(Failure::Refused(format!(
            "{path} is no folder; nothing was changed. Give the folder where its file system is mounted, for what is done by itself and keeps \
             every file. Of a whole drive, say which step: --rung refresh keeps everything; --rung discard, overwrite-all or format destroy \
             everything"
        ))),
    }
}

/// What is to be run; nothing when somebody asked to stop.
fn plan(command: &Recondition, aim: &Aim) -> Result<Option<Plan>, Failure> {
    let mut check = CheckOptions { bytes: command.bytes, ..CheckOptions::default() };
    let usable = match aim.space() {
        // A dry run writes nothing, so it needs no free space.
        Some(space) if command.dry_run && !space.is_read_only => space.usable_bytes,
        _ => aim.usable_bytes()?,
    };
    let mut asked = ReconditionOptions {
        rung: command.rung,
        passes: command.passes,
        rest: command.rest,
        dry_run: command.dry_run,
        journal: command.journal.clone(),
        erase: command.erase.into(),
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
    Ok(Some(Plan { schema: 1, procedure: NAME.into(), target, seed, options: options(&asked) }))
}

/// A check that writes within so much space: a whole part of it where that is enough to see anything, so that files of that length fill it.
fn within(check: &mut CheckOptions, space: u64) {
    let most = check.area(u64::MAX).max(STEP).min(space);
    let whole = |bytes: u64| bytes - bytes % STEP;
    let even = whole(space / space.div_ceil(most.max(1)).max(1));
    let area = if even >= CheckOptions::AREA_LEAST { even } else { whole(most) };
    check.bytes = Some(area * CheckOptions::PARTS);
}
