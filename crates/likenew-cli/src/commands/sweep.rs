//! `likenew sweep`.

use likenew_core::plan::Plan;
use likenew_procedures::sweep::{SPAN_STEP, SweepOptions};

use crate::access::Access;
use crate::arguments::Sweep;
use crate::defaults;
use crate::doublings::values;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;

pub(crate) fn run(command: Sweep) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Read, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Sweep, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let preset = command.profile.options();
    let options = options(&SweepOptions {
        ops: defaults::ops(&command.ops(), preset.ops, resolved_target)?,
        patterns: given_or(&command.pattern, preset.patterns),
        blocks: values(&command.block, preset.blocks),
        depths: values(&command.depth, preset.depths),
        data: given_or(&command.data, preset.data),
        span: defaults::span(command.span, preset.span, SPAN_STEP, resolved_target)?,
        time: command.time.unwrap_or(preset.time),
        bytes: command.bytes.unwrap_or(preset.bytes),
        passes: command.passes.unwrap_or(preset.passes),
        precise: command.precise,
        passes_max: command.passes_max.unwrap_or(preset.passes_max),
        order: command.order.unwrap_or(preset.order),
    });
    Ok(command.target_arguments.plan_of("sweep", options))
}

fn given_or<T: Clone>(asked: &[T], otherwise: Vec<T>) -> Vec<T> {
    if asked.is_empty() { otherwise } else { asked.to_vec() }
}
