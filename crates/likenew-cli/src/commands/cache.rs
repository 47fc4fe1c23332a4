//! `likenew cache`.

use likenew_core::plan::Plan;
use likenew_procedures::cache::{CacheOptions, SPAN_STEP};
use likenew_procedures::data::Test;

use crate::aim::Aim;
use crate::arguments::Cache;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};
use crate::usual;

pub(crate) fn run(command: Cache) -> Result<Exit, Failure> {
    ask(&command.on, &command.how, false, |aim| plan(&command, aim))
}

fn plan(command: &Cache, aim: &Aim) -> Result<Plan, Failure> {
    let usual = CacheOptions::default();
    let test = |pattern| {
        let known = usual.tests.iter().find(|test| test.pattern == pattern);
        *known.expect("there is a usual test of every pattern")
    };
    let tests = usual::tests(&command.pattern, &command.block, &command.depth, test)?;
    let step = tests.iter().map(|test: &Test| test.block).fold(SPAN_STEP, u64::max);
    let options = options(&CacheOptions {
        span: usual::span(command.span, usual.span.max(step), step, aim)?,
        tests,
        passes: command.passes,
        time: command.time,
        data: command.data,
    });
    Ok(command.on.plan_of("cache", options))
}
