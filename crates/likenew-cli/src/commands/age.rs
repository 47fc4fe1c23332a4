//! `likenew age`.

use likenew_core::plan::Plan;
use likenew_procedures::age::{AgeOptions, FILE_BYTES, Recipe, SPAN_STEP};

use crate::access::Access;
use crate::arguments::{Age, Switch};
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

const SPAN_USUAL: u64 = 8 << 30;
/// One part in this many of the space, so that measuring a new drive does not age it.
const SPAN_PART: u64 = 4;
/// Approximate number of files that fill a folder, all of which are open …
const FILES_USUAL: u64 = 1000;
const FILE_STEP: u64 = 1 << 20;
/// … and the same for small files.
const SMALL_FILES_USUAL: u64 = 16_384;

pub(crate) fn run(command: Age) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Write, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Age, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let usable = resolved_target.usable_bytes()?;
    let (space, file_size) = space(command, resolved_target, usable)?;
    let options = options(&AgeOptions {
        recipe: command.recipe,
        bytes: command.bytes,
        space,
        file_size,
        span: span(command.span, space.unwrap_or(usable))?,
        time: command.time,
        depth: command.depth,
        passes: command.passes,
        rest: command.rest,
        trim: command.trim == Switch::On,
        data: command.data,
    });
    Ok(command.target_arguments.plan_of("age", options))
}

/// The space to age and the files that it consists of; only a folder needs them.
fn space(
    command: &Age,
    resolved_target: &ResolvedTarget,
    usable: u64,
) -> Result<(Option<u64>, u64), Failure> {
    let usual = AgeOptions::default().file_size;
    if !resolved_target.is_folder() {
        return Ok((command.space, usual));
    }
    let small = u64::from(FILE_BYTES);
    let (space, file_size) = match command.recipe {
        Recipe::Churn => (command.space.unwrap_or(usable.min(SMALL_FILES_USUAL * small)), small),
        Recipe::Fill | Recipe::Overwrite => {
            let space = command.space.unwrap_or(usable);
            let each = space / FILES_USUAL;
            (space, (each - each % FILE_STEP).max(FILE_STEP))
        }
    };
    if space < file_size {
        return Err(too_little(space));
    }
    // Small files have sizes of their own, which the plan does not need.
    let size_option = if command.recipe == Recipe::Churn { usual } else { file_size };
    Ok((Some(space - space % file_size), size_option))
}

/// The span on the command line; the default otherwise, or less if the space is small.
fn span(asked: Option<u64>, space: u64) -> Result<u64, Failure> {
    if let Some(span) = asked {
        return Ok(span);
    }
    let most = space / SPAN_PART;
    match SPAN_USUAL.min(most - most % SPAN_STEP) {
        0 => Err(too_little(space)),
        span => Ok(span),
    }
}

fn too_little(space: u64) -> Failure {
    Failure::Usage(wording::too_small_for("aging", space, SPAN_STEP * SPAN_PART))
}
