//! Defaults of options, limited to what a target has or allows.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_procedures::check::Metric;
use likenew_procedures::data::Test;
use likenew_procedures::pattern::Pattern;

use crate::arguments::SequentialRates;
use crate::exit::Failure;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// The operations on the command line; otherwise the default, or only reads on a read-only target.
pub(crate) fn ops(
    asked: &[Mix],
    usual: Vec<Mix>,
    resolved_target: &ResolvedTarget,
) -> Result<Vec<Mix>, Failure> {
    if asked.iter().any(|op| op.writes()) {
        resolved_target.refuse_writing().map_err(with_op_read_hint)?;
    }
    Ok(match asked {
        [] if resolved_target.is_writable() => usual,
        [] => {
            crate::standard_error::note(wording::READS_ONLY);
            vec![Mix::Only(Op::Read)]
        }
        asked => asked.to_vec(),
    })
}

fn with_op_read_hint(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(text) => Failure::Refused(wording::with_op_read_hint(&text)),
        other => other,
    }
}

/// The span on the command line; otherwise the default, or less if the target is smaller, in whole steps.
pub(crate) fn span(
    asked: Option<u64>,
    usual: u64,
    step: u64,
    resolved_target: &ResolvedTarget,
) -> Result<u64, Failure> {
    if let Some(span) = asked {
        return Ok(span);
    }
    let usable = resolved_target.usable_bytes()?;
    let span = usual.min(usable - usable % step);
    if span == 0 {
        return Err(Failure::Usage(wording::span_does_not_fit(usable, step)));
    }
    Ok(span)
}

/// Each pattern with its blocks and depths from the command line: one value is for all, several are for the
/// patterns in their order, and none is the default.
pub(crate) fn tests(
    patterns: &[Pattern],
    blocks: &[u64],
    depths: &[u32],
    usual: impl Fn(Pattern) -> Test,
) -> Result<Vec<Test>, Failure> {
    let fits = |count: usize, flag: &str| match count {
        0 | 1 => Ok(()),
        count if count == patterns.len() => Ok(()),
        count => Err(Failure::Usage(wording::values_for_patterns(flag, count, patterns.len()))),
    };
    fits(blocks.len(), "block")?;
    fits(depths.len(), "depth")?;
    let test = |(index, pattern): (usize, &Pattern)| {
        let usual = usual(*pattern);
        Test {
            pattern: *pattern,
            block: blocks.get(index).or(blocks.first()).copied().unwrap_or(usual.block),
            depth: depths.get(index).or(depths.first()).copied().unwrap_or(usual.depth),
        }
    };
    Ok(patterns.iter().enumerate().map(test).collect())
}

/// The rated sequential speeds in bytes a second: from the command line, otherwise a simulated drive's own.
pub(crate) fn sequential_rates(
    typed: &SequentialRates,
    resolved_target: &ResolvedTarget,
) -> Result<(Option<u64>, Option<u64>), Failure> {
    let (read, write) = advertised_rates(resolved_target)?;
    let typed = |metric| typed.bytes_per_s(metric);
    Ok((typed(Metric::SequentialRead).or(read), typed(Metric::SequentialWrite).or(write)))
}

/// A simulated drive's rated sequential speeds, in bytes a second.
pub(crate) fn advertised_rates(
    resolved_target: &ResolvedTarget,
) -> Result<(Option<u64>, Option<u64>), Failure> {
    Ok(resolved_target.model()?.map_or((None, None), |model| {
        (model.advertised.read_bytes_per_s, model.advertised.write_bytes_per_s)
    }))
}
