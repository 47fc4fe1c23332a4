//! `likenew age`.

use likenew_core::plan::Plan;
use likenew_procedures::age::{AgeOptions, FILE_BYTES, RANDOM_SPAN_STEP, Recipe};

use crate::access::Access;
use crate::arguments::{Age, Switch};
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

const RANDOM_SPAN_USUAL: u64 = 8 << 30;
/// One part in this many of the span, so that measuring a new drive does not age it.
const RANDOM_SPAN_PART: u64 = 4;
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
    let (span, file_size) = span(command, resolved_target, usable)?;
    let options = options(&AgeOptions {
        recipe: command.recipe,
        bytes: command.bytes,
        span,
        file_size,
        random_span: random_span(command.random_span, span.unwrap_or(usable))?,
        time: command.time,
        depth: command.depth,
        passes: command.passes,
        idle: command.idle,
        trim: command.trim == Switch::On,
        data: command.data,
    });
    Ok(command.target_arguments.plan_of("age", options))
}

/// The span to age and the files that it consists of; only a folder needs them.
fn span(command: &Age, resolved_target: &ResolvedTarget, usable: u64) -> Result<(Option<u64>, u64), Failure> {
    let usual = AgeOptions::default().file_size;
    if !resolved_target.is_folder() {
        return Ok((command.span, usual));
    }
    let small = u64::from(FILE_BYTES);
    let (span, file_size) = match command.recipe {
        Recipe::Churn => (command.span.unwrap_or(usable.min(SMALL_FILES_USUAL * small)), small),
        Recipe::Fill | Recipe::Overwrite => {
            let span = command.span.unwrap_or(usable);
            let each = span / FILES_USUAL;
            (span, (each - each % FILE_STEP).max(FILE_STEP))
        }
    };
    if span < file_size {
        return Err(too_little(span));
    }
    // Small files have sizes of their own, which the plan does not need.
    let size_option = if command.recipe == Recipe::Churn { usual } else { file_size };
    Ok((Some(span - span % file_size), size_option))
}

/// The random span on the command line; the default otherwise, or less if the span is small.
fn random_span(asked: Option<u64>, span: u64) -> Result<u64, Failure> {
    if let Some(random_span) = asked {
        return Ok(random_span);
    }
    let most = span / RANDOM_SPAN_PART;
    match RANDOM_SPAN_USUAL.min(most - most % RANDOM_SPAN_STEP) {
        0 => Err(too_little(span)),
        random_span => Ok(random_span),
    }
}

fn too_little(span: u64) -> Failure {
    Failure::Usage(wording::too_small_for("aging", span, RANDOM_SPAN_STEP * RANDOM_SPAN_PART))
}
