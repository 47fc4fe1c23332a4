//! `likenew sweep`.

use likenew_core::plan::Plan;
use likenew_procedures::sweep::{SPAN_STEP, SweepOptions};

use crate::aim::Aim;
use crate::arguments::Sweep;
use crate::doublings::values;
use crate::exit::{Exit, Failure};
use crate::measure::{measure, options, print_plan};
use crate::usual;

pub(crate) fn run(command: Sweep) -> Result<Exit, Failure> {
    let mut aim = Aim::take(&command.on.target, &command.how)?;
    aim.clear_leftover(&command.how)?;
    let plan = plan(&command, &aim)?;
    if command.on.plan {
        return print_plan(&plan);
    }
    measure(plan, &aim, &command.how)
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
    let target = Some(command.on.target.clone());
    Ok(Plan { schema: 1, procedure: "sweep".into(), target, seed: command.on.seed, options })
}

fn given<T: Clone>(asked: &[T], otherwise: Vec<T>) -> Vec<T> {
    if asked.is_empty() { otherwise } else { asked.to_vec() }
}
