//! What part of a number is RAM, with the interval that says so.

use likenew_core::io::Op;
use likenew_core::units::{rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::Interval;

use super::CacheOptions;
use super::level::Level;
use super::results::{CacheResults, MeasuredLevel};
use crate::pattern::Pattern;

/// A share of RAM that surely stays below this does not matter, as a share of 1.
const MARGIN: f64 = 0.05;
/// Above this share of what the instrument itself can do, it is a part of the number.
const NEAR_INSTRUMENT: f64 = 0.5;

/// The answers: reads and writes of each pattern, then whether direct I/O is what it says.
pub(super) fn verdicts(measured: &CacheResults<'_>, options: &CacheOptions) -> Vec<Verdict> {
    let patterns = || options.tests.iter().map(|test| test.pattern);
    let reads = patterns().filter_map(|pattern| read(measured, pattern));
    let writes = patterns().filter_map(|pattern| write(measured, pattern));
    reads.chain(writes).chain(direct(measured)).collect()
}

fn read(measured: &CacheResults<'_>, pattern: Pattern) -> Option<Verdict> {
    let second = measured.level(pattern, Level::Second, Op::Read)?;
    let claim = format!("A second buffered read comes from RAM ({pattern}).");
    let mut verdict = ram(&claim, second);
    if let Some(direct) = measured.level(pattern, Level::Direct, Op::Read) {
        verdict = verdict.with_evidence(difference_text(
            "a second buffered read",
            second,
            "of a direct read",
            direct,
        ));
    }
    if let Some(first) = measured.level(pattern, Level::First, Op::Read) {
        verdict = verdict.with_evidence(format!("a first buffered read has {}", rate(first.speed())));
        if let Some(share) = first.ram().filter(|share| *share > 2.0 * MARGIN) {
            verdict = verdict.caveat(format!(
                "{} of the first read came from RAM, too: something else had read it before",
                percent(share)
            ));
        }
    }
    Some(instrument_limit(verdict, measured, second))
}

fn write(measured: &CacheResults<'_>, pattern: Pattern) -> Option<Verdict> {
    let buffered = measured.level(pattern, Level::Buffered, Op::Write)?;
    let claim = format!("A buffered write ends in RAM ({pattern}).");
    let mut verdict = ram(&claim, buffered);
    if let Some(flushed) = measured.level(pattern, Level::Flushed, Op::Write) {
        verdict = verdict.with_evidence(difference_text(
            "a buffered write",
            buffered,
            "with the flush at its end",
            flushed,
        ));
    }
    if let Some(direct) = measured.level(pattern, Level::Direct, Op::Write) {
        verdict = verdict.with_evidence(format!("a direct write has {}", rate(direct.speed())));
    }
    Some(instrument_limit(verdict, measured, buffered))
}

/// Whether what went past the page cache reached the device; the worst of all decides.
fn direct(measured: &CacheResults<'_>) -> Option<Verdict> {
    let claim = "Direct I/O reaches the drive.";
    let direct: Vec<_> = measured.levels.iter().filter(|of| of.cell.level == Level::Direct).collect();
    let high = |of: &&&MeasuredLevel<'_>| of.ram_interval().map_or(f64::INFINITY, |interval| interval.high);
    let worst = direct.iter().max_by(|one, two| high(one).total_cmp(&high(two)))?;
    let verdict = ram(claim, worst);
    let standing = match verdict.standing {
        Standing::Holds => Standing::Fails,
        Standing::Fails => Standing::Holds,
        Standing::Undecided => Standing::Undecided,
    };
    let verdict = Verdict { standing, ..verdict };
    Some(if standing == Standing::Fails {
        verdict.caveat("what is called direct here is partly RAM, so that no number of this run is surely the drive's own")
    } else {
        verdict
    })
}

/// Whether a level has any RAM in it: it has when more than the margin is certain, and has none when less is.
fn ram(claim: &str, of: &MeasuredLevel<'_>) -> Verdict {
    let open = || Verdict::new(claim, Standing::Undecided);
    let Some(share) = of.ram() else {
        return open()
            .with_evidence("nothing below this target counts what reaches a device, so that nobody knows");
    };
    let (op, pattern) = (of.cell.op, of.test.pattern);
    let text =
        format!("{} of {pattern} {} {op}s did not reach the device", percent(share), of.cell.level.name());
    let Some(Interval { low, high }) = of.ram_interval() else {
        return open()
            .with_evidence(text)
            .caveat("measured once: nothing says how the next pass would differ");
    };
    let standing = if low > MARGIN {
        Standing::Holds
    } else if high <= MARGIN {
        Standing::Fails
    } else {
        Standing::Undecided
    };
    Verdict::new(claim, standing).estimate(100.0 * share, 100.0 * low, 100.0 * high, "%").with_evidence(text)
}

fn difference_text(one: &str, fast: &MeasuredLevel<'_>, two: &str, slow: &MeasuredLevel<'_>) -> String {
    let times = three_digits(fast.speed() / slow.speed());
    format!("{one} has {}, {times} times the {} {two}", rate(fast.speed()), rate(slow.speed()))
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    // What is not quite all should not look as if it were.
    if (0.05..99.95).contains(&percent) { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn instrument_limit(verdict: Verdict, measured: &CacheResults<'_>, of: &MeasuredLevel<'_>) -> Verdict {
    let null = measured.level(of.test.pattern, Level::Null, of.cell.op);
    match null.filter(|null| of.speed() > NEAR_INSTRUMENT * null.speed()) {
        Some(null) => verdict.caveat(format!(
            "the instrument itself does no more than {} here, so that this is partly its own number",
            rate(null.speed())
        )),
        None => verdict,
    }
}
