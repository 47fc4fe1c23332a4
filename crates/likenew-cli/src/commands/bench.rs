//! `likenew bench`.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::plan::Plan;
use likenew_procedures::bench::{BenchOptions, SPAN_MIN};

use crate::access::Access;
use crate::arguments::Bench;
use crate::defaults;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;

const SPAN_USUAL: u64 = 1 << 30;

pub(crate) fn run(command: Bench) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Read, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Bench, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let options = options(&BenchOptions {
        profile: command.profile,
        ops: defaults::ops(&command.ops(), vec![Mix::Only(Op::Read), Mix::Only(Op::Write)], resolved_target)?,
        span: defaults::span(command.span, SPAN_USUAL, SPAN_MIN, resolved_target)?,
        passes: command.passes,
        precise: command.precise,
        passes_max: command.passes_max,
        time: command.time,
        idle: command.idle,
        data: command.data,
    });
    Ok(command.target_arguments.plan_of("bench", options))
}
