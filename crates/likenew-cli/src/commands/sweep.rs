//! `likenew sweep`.

use likenew_core::plan::Plan;
use likenew_procedures::sweep::{SPAN_STEP, SweepOptions};

use crate::aim::Aim;
use crate::arguments::Sweep;
use crate::doublings::values;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};
use crate::usual;

pub(crate) fn run(command: Sweep) -> Result<Exit, Failure> {
    ask(&command.on, &command.how, false, |aim| plan(&command, aim))
}

fn plan(command: &Sweep, aim: &Aim) -> Result<Plan, Failure> {
    let preset = command.profile.options();
    let options = options(&SweepOptions {
        ops: usual::ops(&command.op, preset.ops, aim)?,
        patterns: given(&command.pattern, preset.patterns),
        blocks: values(&command.block, preset.blocks),
        depths: values(&command.depth, preset.depths),
        data: given(&command.data, preset.data),
        span: usual::span(command.span, preset.span, SPAN_STEP, aim)?,
        time: command.time.unwrap_or(preset.time),
        bytes: command.bytes.unwrap_or(preset.bytes),
        passes: command.passes.unwrap_or(preset.passes),
        precise: command.precise,
        passes_max: command.passes_max.unwrap_or(preset.passes_max),
        order: command.order.unwrap_or(preset.order),
    });
    Ok(command.on.plan_of("sweep", options))
}

fn given<T: Clone>(asked: &[T], otherwise: Vec<T>) -> Vec<T> {
    if asked.is_empty() { otherwise } else { asked.to_vec() }
}
