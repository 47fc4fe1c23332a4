//! `likenew endure`.

use likenew_core::plan::Plan;
use likenew_procedures::endure::EndureOptions;
use likenew_procedures::endure::Extent;
use likenew_procedures::endure::loop_test::{FILE_SIZE_MIN, LoopOptions};
use likenew_procedures::endure::snia::{SPAN_UNIT, SniaOptions};

use crate::access::Access;
use crate::arguments::{Endure, EndureTest, Switch};
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// A loop's file is as large as in the study that this test follows, but at most a hundredth of the span, so
/// that there are enough loops to see a knee, and at least one in this many parts, so that a large drive does
/// not loop forever.
const FILE_SIZE_USUAL: u64 = 1000 << 20;
const FILES_MIN: u64 = 100;
const FILES_MAX: u64 = 256;

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
    let span = span(command, resolved_target)?;
    let file_size = command.file_size.unwrap_or_else(|| default_file_size(span));
    if span < file_size.max(FILE_SIZE_MIN) {
        return Err(Failure::Usage(wording::file_does_not_fit(span, file_size.max(FILE_SIZE_MIN))));
    }
    let usual = LoopOptions::default();
    let typed = command.ops();
    let ops = if typed.is_empty() { usual.ops } else { typed };
    Ok(LoopOptions {
        profile: command.profile.unwrap_or(usual.profile),
        ops,
        file_size,
        span: Some(span),
        bytes: command.bytes,
        fills: command.fills,
        data: command.data.unwrap_or(usual.data),
        trim: command.trim == Some(Switch::On),
        time: command.time.unwrap_or(usual.time),
    })
}

fn snia(command: &Endure, resolved_target: &ResolvedTarget) -> Result<SniaOptions, Failure> {
    let Endure { profile, file_size, bytes, fills, trim, time, .. } = command;
    let loops = [
        ("--profile", profile.is_some()),
        ("--op", !command.ops().is_empty()),
        ("--file-size", file_size.is_some()),
        ("--bytes", bytes.is_some()),
        ("--fills", fills.is_some()),
        ("--trim", trim.is_some()),
        ("--time", time.is_some()),
    ];
    refuse_foreign(&loops, wording::only_for_loop)?;
    let (span, usual) = (span(command, resolved_target)?, SniaOptions::default());
    Ok(SniaOptions {
        span: Some(span - span % SPAN_UNIT),
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

/// The span: from the command line, or all that may be used.
fn span(command: &Endure, resolved_target: &ResolvedTarget) -> Result<u64, Failure> {
    let usable = resolved_target.usable_bytes()?;
    Ok(match command.span {
        Extent::Bytes(bytes) => bytes,
        Extent::Percent(percent) => (usable as f64 * percent / 100.0) as u64,
    })
}

/// The file of a loop for a span of this size.
fn default_file_size(span: u64) -> u64 {
    let file_size = (span / FILES_MIN).min(FILE_SIZE_USUAL).max(span / FILES_MAX);
    (file_size - file_size % FILE_SIZE_MIN).max(FILE_SIZE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loops_file_suits_the_span() {
        assert_eq!(default_file_size(120_034_123_776), 1000 << 20);
        assert_eq!(default_file_size(1 << 30), 8 << 20);
        assert_eq!(default_file_size(4 << 20), 8 << 20);
        let large = default_file_size(2_000_398_934_016);
        assert!(2_000_398_934_016 / large <= 257 && large.is_multiple_of(FILE_SIZE_MIN), "{large}");
    }
}
