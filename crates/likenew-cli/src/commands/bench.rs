//! `likenew bench`.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::plan::Plan;
use likenew_procedures::bench::{BenchOptions, SPAN_MIN};

use crate::aim::Aim;
use crate::arguments::Bench;
use crate::exit::{Exit, Failure};
use crate::measure::{measure, options, print_plan};
use crate::usual;

const SPAN_USUAL: u64 = 1 << 30;

pub(crate) fn run(command: Bench) -> Result<Exit, Failure> {
    let mut aim = Aim::take(&command.on.target, &command.how)?;
    aim.clear_leftover(&command.how)?;
    let plan = plan(&command, &aim)?;
    if command.on.plan {
        return print_plan(&plan);
    }
    measure(plan, &aim, &command.how)
}

fn plan(command: &Bench, aim: &Aim) -> Result<Plan, Failure> {
    let options = options(&BenchOptions {
        profile: command.profile,
        ops: usual::ops(&command.op, vec![Mix::Only(Op::Read), Mix::Only(Op::Write)], aim)?,
        span: usual::span(command.span, SPAN_USUAL, SPAN_MIN, aim)?,
        passes: command.passes,
        precise: command.precise,
        passes_max: command.passes_max,
        time: command.time,
        interval: command.interval,
        data: command.data,
    });
    let target = Some(command.on.target.clone());
    Ok(Plan { schema: 1, procedure: "bench".into(), target, seed: command.on.seed, options })
}
