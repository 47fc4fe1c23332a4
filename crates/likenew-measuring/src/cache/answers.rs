//! Answers of cache: the share of RAM in each speed, decided by its interval.

use likenew_core::findings::Answer;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Rate, Share};
use likenew_stats::interval::Interval;

use super::levels::{Level, Levels, MeasuredLevel};
use super::wording::{self, RamShare, Speeds};
use super::{Cache, CacheOptions};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rerun::Rerun;

/// Share of RAM, in 0..1, below which it does not matter. Chosen.
const MARGIN: f64 = 0.05;
/// Share of likenew's speed without a drive above which its overhead is part of a speed. Chosen.
const NEAR_TOOL: f64 = 0.5;
/// Passes to advise after a single one.
const PASSES_FEW: u32 = 3;
/// Passes to advise after several that were not enough.
const PASSES_MANY: u32 = 10;

/// The first pattern's speeds of the drive and of RAM. `None` unless direct I/O reached the drive and buffered I/O
/// was all RAM.
pub(super) fn summary(levels: &Levels<'_>, options: &CacheOptions) -> Option<String> {
    let pattern = options.tests.first()?.pattern;
    let measured = |level, op| levels.get(pattern, level, op);
    let is_of_drive = |level: &MeasuredLevel<'_>| matches!(ram_share(level), RamShare::Clear(_, Interval { high, .. }) if high <= MARGIN);
    let is_of_ram = |level: &MeasuredLevel<'_>| matches!(ram_share(level), RamShare::Clear(_, Interval { low, .. }) if low >= 1.0 - MARGIN);
    let (read, write) = (measured(Level::Direct, Op::Read)?, measured(Level::Direct, Op::Write)?);
    let (repeated, buffered) = (measured(Level::Second, Op::Read)?, measured(Level::Buffered, Op::Write)?);
    // Reads from memory that are slower than the drive waited for something else, such as I/Os that failed.
    let is_faster = repeated.speed() > read.speed();
    let is_clear = is_faster
        && [read, write].into_iter().all(is_of_drive)
        && [repeated, buffered].into_iter().all(is_of_ram);
    let rate = |level: &MeasuredLevel<'_>| Rate(level.speed());
    is_clear.then(|| wording::summary(pattern, [rate(read), rate(write)], [rate(repeated), rate(buffered)]))
}

/// The first pattern's direct speeds: all that is known if I/Os failed, because buffered I/O waited for the failed
/// ones.
pub(super) fn direct_summary(levels: &Levels<'_>, options: &CacheOptions) -> Option<String> {
    let pattern = options.tests.first()?.pattern;
    let rate = |op| levels.get(pattern, Level::Direct, op).map(|level| Rate(level.speed()));
    let speeds = [Op::Read, Op::Write].into_iter().filter_map(|op| Some((op, rate(op)?)));
    wording::direct_summary(pattern, &speeds.collect::<Vec<_>>())
}

/// Reads and writes of each pattern, then whether direct I/O is direct; if it is not, that comes first,
/// because no other number means anything then.
pub(super) fn answers(levels: &Levels<'_>, options: &CacheOptions, evidence: &Evidence) -> Vec<Answer> {
    let patterns = || options.tests.iter().map(|test| test.pattern);
    let rerun = |passes: u32| {
        let again = CacheOptions { passes, ..options.clone() };
        Rerun::new(evidence, &again.arguments(evidence.geometry.capacity), Cache::new(again.clone()))
    };
    let reads = patterns().filter_map(|pattern| repeated_read(levels, pattern, &rerun));
    let writes = patterns().filter_map(|pattern| buffered_write(levels, pattern, &rerun));
    let mut answers: Vec<Answer> = reads.chain(writes).collect();
    if let Some((answer, misses_drive)) = direct(levels, &rerun) {
        let place = if misses_drive { 0 } else { answers.len() };
        answers.insert(place, answer);
    }
    answers
}

/// Makes the same run with this many passes.
type RerunWithPasses<'a> = &'a dyn Fn(u32) -> Rerun;

fn repeated_read(levels: &Levels<'_>, pattern: Pattern, rerun: RerunWithPasses<'_>) -> Option<Answer> {
    let second = levels.get(pattern, Level::Second, Op::Read)?;
    let direct = levels.get(pattern, Level::Direct, Op::Read);
    let ram = ram_share(second);
    let mut answer =
        with_reasons(wording::repeated_read(pattern, ram, speeds(second, direct)), second, ram, rerun);
    if let Some(first) = levels.get(pattern, Level::First, Op::Read) {
        answer = answer.with_evidence(wording::first_read(Rate(first.speed())));
        if let Some(share) = first.ram().filter(|share| *share > 2.0 * MARGIN) {
            answer = answer.caveat(wording::first_read_was_warm(Share(share)));
        }
    }
    Some(with_tool_limit(answer, levels, second))
}

fn buffered_write(levels: &Levels<'_>, pattern: Pattern, rerun: RerunWithPasses<'_>) -> Option<Answer> {
    let buffered = levels.get(pattern, Level::Buffered, Op::Write)?;
    let flushed = levels.get(pattern, Level::Flushed, Op::Write);
    let ram = ram_share(buffered);
    let mut answer =
        with_reasons(wording::buffered_write(pattern, ram, speeds(buffered, flushed)), buffered, ram, rerun);
    if let Some(direct) = levels.get(pattern, Level::Direct, Op::Write) {
        answer = answer.with_evidence(wording::direct_write(Rate(direct.speed())));
    }
    Some(with_tool_limit(answer, levels, buffered))
}

/// Whether direct I/O reached the device, and whether some certainly did not; the worst result decides.
fn direct(levels: &Levels<'_>, rerun: RerunWithPasses<'_>) -> Option<(Answer, bool)> {
    let direct = levels.0.iter().filter(|measured| measured.level == Level::Direct);
    let high =
        |level: &&MeasuredLevel<'_>| level.ram_interval().map_or(f64::INFINITY, |interval| interval.high);
    let worst = direct.max_by(|one, two| high(one).total_cmp(&high(two)))?;
    let name = format!("{} {}s", worst.test.pattern, worst.op);
    let ram = ram_share(worst);
    let (answer, misses_drive) = match ram {
        RamShare::Clear(_, Interval { low, .. }) if low > MARGIN => {
            (wording::direct_misses_drive(&name, ram), true)
        }
        RamShare::Clear(..) => (wording::direct_reaches_drive(&name, ram), false),
        _ => (wording::direct_is_unclear(&name, ram), false),
    };
    Some((with_reasons(answer, worst, ram, rerun), misses_drive))
}

/// A level contains RAM if its share is certainly above the margin, and none if it is certainly below.
fn ram_share(level: &MeasuredLevel<'_>) -> RamShare {
    let Some(share) = level.ram().map(Share) else { return RamShare::Uncounted };
    match level.ram_interval() {
        None => RamShare::OnePass(share),
        Some(interval) if interval.low > MARGIN || interval.high <= MARGIN => {
            RamShare::Clear(share, interval)
        }
        Some(interval) => RamShare::Unclear(share, interval),
    }
}

fn speeds(level: &MeasuredLevel<'_>, nearer: Option<&MeasuredLevel<'_>>) -> Speeds {
    Speeds { rate: Rate(level.speed()), nearer: nearer.map(|nearer| Rate(nearer.speed())) }
}

/// Adds the share of RAM and, if it decides nothing, why that is and which command decides.
fn with_reasons(
    answer: Answer,
    measured_level: &MeasuredLevel<'_>,
    ram: RamShare,
    rerun: RerunWithPasses<'_>,
) -> Answer {
    let answer = match (measured_level.ram(), measured_level.ram_interval()) {
        (Some(share), Some(Interval { low, high })) => {
            answer.estimate(100.0 * share, 100.0 * low, 100.0 * high, "%")
        }
        _ => answer,
    };
    match ram {
        RamShare::Uncounted => answer.with_evidence(wording::NOTHING_COUNTS),
        RamShare::OnePass(_) => {
            wording::with_more_passes(answer.caveat(wording::MEASURED_ONCE), &rerun(PASSES_FEW))
        }
        RamShare::Unclear(..) => wording::with_more_passes(answer, &rerun(PASSES_MANY)),
        RamShare::Clear(..) => answer,
    }
}

fn with_tool_limit(answer: Answer, levels: &Levels<'_>, measured_level: &MeasuredLevel<'_>) -> Answer {
    let null = levels.get(measured_level.test.pattern, Level::Null, measured_level.op);
    match null.filter(|null| measured_level.speed() > NEAR_TOOL * null.speed()) {
        Some(null) => answer.caveat(wording::tool_is_the_limit(Rate(null.speed()))),
        None => answer,
    }
}
