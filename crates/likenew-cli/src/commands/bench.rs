//! `likenew bench`.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::plan::Plan;
use likenew_procedures::bench::{BenchOptions, SPAN_MIN};

use crate::aim::Aim;
use crate::arguments::Bench;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};
use crate::usual;

const SPAN_USUAL: u64 = 1 << 30;

pub(crate) fn run(command: Bench) -> Result<Exit, Failure> {
    ask(&command.on, &command.how, false, |aim| plan(&command, aim))
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
    Ok(command.on.plan_of("bench", options))
}
