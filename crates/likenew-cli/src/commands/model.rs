//! `likenew model`.

use likenew_core::io::Op;
use likenew_core::plan::Plan;
use likenew_procedures::model::{ModelOptions, SPAN_OF_FOLDER, SPAN_STEP};

use crate::access::Access;
use crate::arguments::{Model, ModelOps};
use crate::defaults;
use crate::doublings::values;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

pub(crate) fn run(command: Model) -> Result<Exit, Failure> {
    let writes = matches!(command.op, Some(ModelOps::Write | ModelOps::Both));
    let request =
        Request::for_target(&command.target_arguments, Access::writing(writes), &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Model, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let preset = ModelOptions::default();
    let (read, write) = defaults::sequential_rates(&command.rated, resolved_target)?;
    let options = options(&ModelOptions {
        ops: ops(command, resolved_target),
        depths: values(&command.depth, preset.depths),
        longest: command.longest,
        span: span(command, resolved_target)?,
        bytes: command.bytes,
        time: command.time,
        visit: command.visit,
        data: command.data,
        advertised_read_bytes_per_s: read,
        advertised_write_bytes_per_s: write,
    });
    Ok(command.target_arguments.plan_of("model", options))
}

/// From the command line; otherwise both, or only reads on a read-only target.
fn ops(command: &Model, resolved_target: &ResolvedTarget) -> Vec<Op> {
    match command.op {
        Some(ModelOps::Read) => vec![Op::Read],
        Some(ModelOps::Write) => vec![Op::Write],
        None if !resolved_target.is_writable() => {
            crate::standard_error::note(wording::READS_ONLY);
            vec![Op::Read]
        }
        Some(ModelOps::Both) | None => vec![Op::Read, Op::Write],
    }
}

/// From the command line; otherwise in a folder the default or what there is, and elsewhere everything.
fn span(command: &Model, resolved_target: &ResolvedTarget) -> Result<Option<u64>, Failure> {
    if command.span.is_some() || !resolved_target.is_folder() {
        return Ok(command.span);
    }
    let usable = resolved_target.usable_bytes()?;
    let span = SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP);
    if span == 0 {
        return Err(Failure::Usage(wording::too_small_for("a model", usable, SPAN_STEP)));
    }
    Ok(Some(span))
}
