//! `likenew cache`.

use likenew_core::plan::Plan;
use likenew_procedures::cache::{CacheOptions, SPAN_STEP};
use likenew_procedures::data::Test;

use crate::access::Access;
use crate::arguments::Cache;
use crate::defaults;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;

pub(crate) fn run(command: Cache) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Read, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Cache, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let usual = CacheOptions::default();
    let test = |pattern| {
        let known = usual.tests.iter().find(|test| test.pattern == pattern);
        *known.expect("there is a usual test of every pattern")
    };
    let tests = defaults::tests(&command.pattern, &command.block, &command.depth, test)?;
    let step = tests.iter().map(|test: &Test| test.block).fold(SPAN_STEP, u64::max);
    let options = options(&CacheOptions {
        span: defaults::span(command.span, usual.span.max(step), step, resolved_target)?,
        tests,
        passes: command.passes,
        time: command.time,
        data: command.data,
    });
    Ok(command.target_arguments.plan_of("cache", options))
}
