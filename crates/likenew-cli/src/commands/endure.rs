//! `likenew endure`.

use likenew_core::plan::Plan;
use likenew_procedures::endure::EndureOptions;
use likenew_procedures::endure::extent::Extent;
use likenew_procedures::endure::loop_test::{LoopOptions, SPAN_MIN};
use likenew_procedures::endure::snia_plan::{AREA_UNIT, SniaOptions};

use crate::access::Access;
use crate::arguments::{Endure, EndureTest, Switch};
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// A loop's file is as large as in the study that this test follows, but at most a hundredth of the area, so
/// that there are enough loops to see a knee, and at least one in this many parts, so that a large drive does
/// not loop forever.
const SPAN_USUAL: u64 = 1000 << 20;
const SPANS_MIN: u64 = 100;
const SPANS_MAX: u64 = 256;

pub(crate) fn run(command: Endure) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Write, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Endure, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let options = options(&match command.test {
        EndureTest::Loop => EndureOptions::Loop(loop_options(command, resolved_target)?),
        EndureTest::SniaIops => EndureOptions::SniaIops(snia(command, resolved_target)?),
        EndureTest::SniaThroughput => EndureOptions::SniaThroughput(snia(command, resolved_target)?),
        EndureTest::SniaLatency => EndureOptions::SniaLatency(snia(command, resolved_target)?),
        EndureTest::SniaWsat => EndureOptions::SniaWsat(snia(command, resolved_target)?),
    });
    Ok(command.target_arguments.plan_of("endure", options))
}

fn loop_options(command: &Endure, resolved_target: &ResolvedTarget) -> Result<LoopOptions, Failure> {
    let Endure { round, rounds, depth, threads, .. } = command;
    let snias = [
        ("--round", round.is_some()),
        ("--rounds", rounds.is_some()),
        ("--depth", depth.is_some()),
        ("--threads", threads.is_some()),
    ];
    refuse_foreign(&snias, wording::only_for_snia)?;
    let area = area(command, resolved_target)?;
    let span = command.span.unwrap_or_else(|| default_span(area));
    if area < span.max(SPAN_MIN) {
        return Err(Failure::Usage(wording::area_does_not_fit(area, span.max(SPAN_MIN))));
    }
    let usual = LoopOptions::default();
    let typed = command.ops();
    let ops = if typed.is_empty() { usual.ops } else { typed };
    Ok(LoopOptions {
        profile: command.profile.unwrap_or(usual.profile),
        ops,
        span,
        area: Some(area),
        bytes: command.bytes,
        fills: command.fills,
        data: command.data.unwrap_or(usual.data),
        trim: command.trim == Some(Switch::On),
        time: command.time.unwrap_or(usual.time),
    })
}

fn snia(command: &Endure, resolved_target: &ResolvedTarget) -> Result<SniaOptions, Failure> {
    let Endure { profile, span, bytes, fills, trim, time, .. } = command;
    let loops = [
        ("--profile", profile.is_some()),
        ("--op", !command.ops().is_empty()),
        ("--span", span.is_some()),
        ("--bytes", bytes.is_some()),
        ("--fills", fills.is_some()),
        ("--trim", trim.is_some()),
        ("--time", time.is_some()),
    ];
    refuse_foreign(&loops, wording::only_for_loop)?;
    let (area, usual) = (area(command, resolved_target)?, SniaOptions::default());
    Ok(SniaOptions {
        area: Some(area - area % AREA_UNIT),
        round: command.round.unwrap_or(usual.round),
        rounds: command.rounds,
        depth: command.depth.unwrap_or(usual.depth),
        threads: command.threads.unwrap_or(usual.threads),
        data: command.data.unwrap_or(usual.data),
    })
}

/// A flag that does not apply to the test is refused, because ignoring it would go unnoticed.
fn refuse_foreign(flags: &[(&str, bool)], reason: fn(&str) -> String) -> Result<(), Failure> {
    match flags.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::Usage(reason(name))),
        None => Ok(()),
    }
}

/// Bytes of the area: from the command line, or all that may be used.
fn area(command: &Endure, resolved_target: &ResolvedTarget) -> Result<u64, Failure> {
    let usable = resolved_target.usable_bytes()?;
    Ok(match command.area {
        Extent::Bytes(bytes) => bytes,
        Extent::Percent(percent) => (usable as f64 * percent / 100.0) as u64,
    })
}

/// The file of a loop for an area of this size.
fn default_span(area: u64) -> u64 {
    let span = (area / SPANS_MIN).min(SPAN_USUAL).max(area / SPANS_MAX);
    (span - span % SPAN_MIN).max(SPAN_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loops_file_suits_the_area() {
        assert_eq!(default_span(120_034_123_776), 1000 << 20);
        assert_eq!(default_span(1 << 30), 8 << 20);
        assert_eq!(default_span(4 << 20), 8 << 20);
        let large = default_span(2_000_398_934_016);
        assert!(2_000_398_934_016 / large <= 257 && large.is_multiple_of(SPAN_MIN), "{large}");
    }
}
