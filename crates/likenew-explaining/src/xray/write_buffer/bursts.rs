//! The write buffer of flash.
//!
//! Bursts that have to wait after as much each time show its size, see [`super::first_wait`]. Of others, a long burst
//! into an empty buffer shows when its rate falls to that of the flash. How much had been programmed by then is
//! unknown, but a shorter burst followed by a flush shows when n bytes are in the flash. At that time the long burst
//! had programmed n bytes as well, and everything else it had sent was in the buffer: buffer = taken(when n bytes were
//! programmed) − n. Neither rate needs to be steady for that.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::quantity::Rate;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Mix, SAMPLES_MAX, Stream, Until, Workload};
use likenew_stats::interval::{CONFIDENCE_90, median_interval};
use likenew_stats::summary::{median, quantile, sorted};

use super::super::experiment::{ExperimentContext, Finding, bytes_written, own_name};
use super::super::property::{Key, Property};
use super::super::wording;
use super::first_wait::{self, FirstWait, FlushedBurst, agreed_wait};
use likenew_procedure_support::series::axis;

/// Bytes of the first burst.
pub(super) const FIRST: u64 = 4 << 20;
const LONGEST: u64 = 256 << 20;
/// Longest burst, in bytes, that is as fast at its end as at its beginning.
const LONGEST_EVEN: u64 = 64 << 20;
/// I/O lengths to try, the usual one first.
const BLOCK: u32 = 16 << 10;
const LONG_BLOCK: u32 = 128 << 10;
const SHORT_BLOCK: u32 = 4 << 10;
const DEPTH: u32 = 4;
/// Short bursts in shares of the long one. Chosen: below the half, where the long burst has all of them
/// programmed.
const SHARES: [f64; 5] = [0.25, 0.31, 0.37, 0.43, 0.49];
/// A buffer shows if the flash is slower than this share of the link. Chosen: a smaller difference shows no
/// knee.
const SLOWER: f64 = 0.93;
/// Most bursts.
const BURSTS_MAX: usize = 48;
/// Length of a long burst over what is taken before its knee, if it need not be longer.
const KNEES: u64 = 4;
/// I/Os in the buffer below which shorter I/Os are worth trying. Chosen: one I/O of twelve is 8%, more than
/// the other errors.
const IOS_MIN: f64 = 12.0;
/// I/Os without a wait between them that show the speed of the link.
const FEW: usize = 3;
/// Difference in time, as a share, up to which two bursts are alike. Chosen: above the scatter of single
/// programs.
const ALIKE: f64 = 0.15;
/// I/Os that may be taken at one moment, at most. Chosen: more than one program of all dies frees.
const RUN: f64 = 64.0;
/// Position of the answer between the bounds of all bursts, in 0..1. Chosen: nearer to the upper one, because
/// dies that are not in step finish one after the other.
const NEARER_MOST: f64 = 0.7;
/// Spread of the answers of short bursts, as a share, at most. Chosen: wider answers come from a changed
/// drive.
const SPREAD_MAX: f64 = 0.25;
/// Short bursts that say together what five of them do not. Chosen: those behind three long ones.
const POOLED_MIN: usize = 3 * SHARES.len();
/// Confidence in what they say, in 0..1. Chosen: no claim.
const POOLED_CONFIDENCE: f64 = 0.8;
/// Error in shares of an I/O, or 2% of the buffer if that is more; nine of ten drives lie within it. Fitted.
const MARGIN: f64 = 0.9;

/// The progress of a burst into an empty buffer.
struct Burst {
    /// Nanoseconds since the first I/O was sent, and bytes taken by then.
    intake: Vec<[f64; 2]>,
    block: f64,
    bytes: u64,
    /// When all of it was in the flash, on the same clock.
    flushed: f64,
}

/// The shape of a burst.
enum BurstShape {
    /// As fast at its end as at its beginning.
    Even,
    /// Slower at its end, but too late to know the level.
    Slowing,
    /// Faster first, then level.
    Knee(Knee),
}

#[derive(Clone, Copy)]
struct Knee {
    /// Bytes per second before and after the knee.
    before: f64,
    after: f64,
    /// Bytes taken before the knee.
    intake: f64,
}

pub(super) fn next(context: &ExperimentContext<'_>) -> Option<Workload> {
    let bursts: Vec<&Segment> = context.segments.clone();
    if bursts.len() >= BURSTS_MAX {
        return None;
    }
    let Some(at) = bursts.iter().rposition(|segment| own_name(segment).starts_with("long")) else {
        // What a block map does at the start of a stream of writes belongs to no burst.
        let name = if bursts.is_empty() { "lead" } else { "long 1" };
        return burst(context, name.into(), FIRST, BLOCK);
    };
    let long = Burst::from_segment(bursts[at]);
    let shorts = shorts_after(&bursts, at);
    let longs = named(&bursts, "long").count();
    let again = |bytes, block| burst(context, format!("long {}", longs + 1), bytes, block);
    let block = long.block as u32;
    let waits = first_waits(&bursts, long.block);
    if shorts.is_empty()
        && let Some(wait) = long.first_wait()
    {
        let worth =
            (first_wait::LENGTH * wait.bytes as u64).next_multiple_of(1 << 16).clamp(1 << 18, LONGEST);
        let finer = if block > BLOCK { BLOCK } else { SHORT_BLOCK };
        let is_new = named(&bursts, "long").all(|burst| burst.workload.length_max() != finer);
        if wait.bytes < IOS_MIN * long.block && is_new {
            return again(worth, finer);
        }
        if let Some(wait) = agreed_wait(&waits, long.block) {
            let flushed = flushed_bursts(&bursts, long.block);
            let bytes = first_wait::next_bytes(wait, long.block, &flushed)? as u64;
            return burst(context, format!("flushed {}", flushed.len() + 1), bytes, block);
        }
        if waits.len() < first_wait::BURSTS_MAX {
            return again(worth, block);
        }
    }
    match long.shape() {
        BurstShape::Even if block < LONG_BLOCK => again(long.bytes, LONG_BLOCK),
        BurstShape::Even if long.bytes < LONGEST_EVEN => again(4 * long.bytes, block),
        BurstShape::Slowing if long.bytes < LONGEST => again(4 * long.bytes, block),
        BurstShape::Even | BurstShape::Slowing => None,
        BurstShape::Knee(knee) if shorts.is_empty() => {
            let (rough, worth) =
                (knee.cached_bytes(), KNEES * (knee.intake as u64).next_multiple_of(1 << 16));
            let finer = rough < IOS_MIN * long.block && block > SHORT_BLOCK;
            match finer {
                true => {
                    again(worth.clamp(1 << 18, long.bytes), if block > BLOCK { BLOCK } else { SHORT_BLOCK })
                }
                false if 2 * worth < long.bytes && longs < 6 => again(worth.max(1 << 18), block),
                false => short(context, &long, 0),
            }
        }
        BurstShape::Knee(_) if shorts.len() < SHARES.len() => short(context, &long, shorts.len()),
        // The drive has changed since: a faster part of the flash is used up, or collection has begun.
        BurstShape::Knee(_) if !agree(&estimates(&long, shorts)) && longs < 6 => again(long.bytes, block),
        BurstShape::Knee(_) => None,
    }
}

fn short(context: &ExperimentContext<'_>, long: &Burst, index: usize) -> Option<Workload> {
    let block = long.block as u64;
    let bytes = (SHARES[index] * long.bytes as f64) as u64 / block * block;
    burst(context, format!("short {}", index + 1), bytes.max(block), block as u32)
}

/// Continues where the last burst ended, so that all of them are one stream of writes.
fn burst(context: &ExperimentContext<'_>, name: String, bytes: u64, block: u32) -> Option<Workload> {
    let before: u64 = context.segments.iter().map(|segment| bytes_written(segment)).sum();
    let longest = context.span / 8 / u64::from(LONG_BLOCK) * u64::from(LONG_BLOCK);
    if bytes > longest || !context.may_write(bytes) {
        return None;
    }
    // Recent writes may be in faster cells, which are free again as soon as they are overwritten.
    let begin = context.span / 2;
    let start = (begin + before % (begin - longest)) / u64::from(LONG_BLOCK) * u64::from(LONG_BLOCK);
    let place = AccessPattern::Sequential(Region::bytes(start..start + bytes));
    let stream = Stream::closed(Mix::Only(Op::Write), block, place, DEPTH, DataClass::Random);
    Some(Workload {
        samples: SAMPLES_MAX,
        flush: true,
        ..Workload::new(name, Until::bytes(bytes), vec![stream])
    })
}

pub(super) fn find(context: &ExperimentContext<'_>) -> Finding {
    let Some(at) = context.segments.iter().rposition(|segment| own_name(segment).starts_with("long")) else {
        return Finding::default();
    };
    let long = Burst::from_segment(context.segments[at]);
    if long.intake.len() < 8 {
        return Finding::default();
    }
    if let Some(wait) = agreed_wait(&first_waits(&context.segments, long.block), long.block) {
        let programmed = first_wait::programmed(wait, &flushed_bursts(&context.segments, long.block));
        let property = first_wait::property(wait, long.block, programmed);
        let mark = property.value().map(|value| first_wait::mark(wait, value));
        let picture = picture(&long).marks(mark);
        return Finding::single(property, Some(("write_buffer", picture)));
    }
    let estimates = estimates(&long, shorts_after(&context.segments, at));
    let property = infer_property(&long, &estimates, &all_estimates(&context.segments));
    let picture = with_knee(picture(&long), &long, &property);
    Finding::single(property, Some(("write_buffer", picture)))
}

/// The bursts whose names begin so.
fn named<'a, 'b>(bursts: &'a [&'b Segment], name: &'a str) -> impl Iterator<Item = &'b Segment> + 'a {
    bursts.iter().copied().filter(move |segment| own_name(segment).starts_with(name))
}

/// The short bursts behind a long one.
fn shorts_after<'a, 'b>(bursts: &'a [&'b Segment], at: usize) -> &'a [&'b Segment] {
    let others =
        bursts[at + 1..].iter().take_while(|segment| !own_name(segment).starts_with("short")).count();
    &bursts[at + 1 + others..]
}

/// The first waits of all long bursts of I/Os of this length.
fn first_waits(bursts: &[&Segment], block: f64) -> Vec<FirstWait> {
    let longs = named(bursts, "long").map(Burst::from_segment).filter(|burst| burst.block == block);
    longs.filter_map(|burst| burst.first_wait()).collect()
}

/// The bursts of I/Os of this length that show what had left the buffer.
fn flushed_bursts(bursts: &[&Segment], block: f64) -> Vec<FlushedBurst> {
    let flushed = named(bursts, "flushed").map(Burst::from_segment).filter(|burst| burst.block == block);
    flushed.map(|burst| FlushedBurst { bytes: burst.bytes as f64, flushed_ns: burst.flushed }).collect()
}

impl Burst {
    fn from_segment(segment: &Segment) -> Self {
        let start = segment.samples.iter().map(|sample| sample.sent.0).min().unwrap_or(0);
        let (mut intake, mut bytes) = (Vec::with_capacity(segment.samples.len()), 0.0);
        for sample in segment.samples.iter().filter(|sample| sample.op == Op::Write) {
            bytes += f64::from(sample.length);
            intake.push([(sample.done.0 - start) as f64, bytes]);
        }
        Self {
            intake,
            block: f64::from(segment.workload.length_max()),
            bytes: bytes_written(segment),
            flushed: segment.ended_at.0.saturating_sub(start) as f64,
        }
    }

    fn first_wait(&self) -> Option<FirstWait> {
        first_wait::first_wait(&self.intake)
    }

    fn rate(&self, ios: Range<usize>) -> f64 {
        let ([from, before], [to, after]) = (self.intake[ios.start], self.intake[ios.end - 1]);
        if to > from { (after - before) / (to - from) * 1e9 } else { f64::INFINITY }
    }

    fn shape(&self) -> BurstShape {
        let ios = self.intake.len();
        if ios < 16 {
            return BurstShape::Even;
        }
        let first = self.block / self.crossing() * 1e9;
        let (third, fourth) = (self.rate(ios / 2..3 * ios / 4), self.rate(3 * ios / 4..ios));
        let after = self.rate(ios / 2..ios);
        if after >= SLOWER * first {
            return BurstShape::Even;
        }
        // Where the line of the first speed meets that of the last.
        let [end, bytes] = self.intake[ios - 1];
        let intake = first * (bytes - after * end / 1e9) / (first - after);
        let is_level = (third / fourth - 1.0).abs() < 0.2;
        if !is_level || intake > 0.45 * bytes {
            return BurstShape::Slowing;
        }
        BurstShape::Knee(Knee { before: first, after, intake: intake.max(self.block) })
    }

    /// Nanoseconds between I/Os that do not wait: the smallest mean over a few.
    fn crossing(&self) -> f64 {
        let few = self.intake.windows(FEW + 1).map(|few| (few[FEW][0] - few[0][0]) / FEW as f64);
        few.fold(f64::INFINITY, f64::min).max(1.0)
    }

    /// When this many bytes had been taken, in nanoseconds.
    fn time_of(&self, bytes: f64) -> Option<f64> {
        self.intake.get(self.intake.partition_point(|[_, intake]| *intake < bytes)).map(|[time, _]| *time)
    }

    /// Bytes taken before a time in nanoseconds, and right after it.
    fn intake_at(&self, time: f64) -> Option<(f64, f64)> {
        let index = self.intake.partition_point(|[at, _]| *at < time);
        let after = self.intake.get(index..)?;
        // I/Os that got room at that time cross the link without a wait.
        let crossing = 1.3 * self.crossing();
        let before = index.checked_sub(1).map_or(0.0, |last| self.intake[last][1]);
        let (mut last, mut with) = (time, before);
        for [at, intake] in after.iter().take_while(|[_, intake]| intake - before <= RUN * self.block) {
            if at - last > crossing {
                break;
            }
            (last, with) = (*at, *intake);
        }
        (index < self.intake.len()).then_some((before, with))
    }
}

impl Knee {
    /// Approximate size of the buffer: bytes taken less those that left in that time.
    fn cached_bytes(&self) -> f64 {
        self.intake * (1.0 - self.after / self.before)
    }
}

/// The bounds of the buffer from each short burst, in bytes: the lower if the last program had not been
/// counted yet, and the upper if all that it freed had been taken again.
fn estimates(long: &Burst, shorts: &[&Segment]) -> Vec<[f64; 2]> {
    let of = |segment: &&Segment| {
        let short = Burst::from_segment(segment);
        let [time, bytes] = *short.intake.last()?;
        let other = long.time_of(bytes)?;
        // If a faster part of the flash ended in between, the two bursts do not compare.
        if (time / other - 1.0).abs() >= ALIKE {
            return None;
        }
        // Both had programmed the same when they had taken the same.
        let (before, after) = long.intake_at(short.flushed - time + other)?;
        // A part of the next I/O has come in.
        let buffered_bytes = |intake: f64| intake + long.block / 2.0 - short.bytes as f64;
        Some([buffered_bytes(before), buffered_bytes(after)])
    };
    shorts.iter().filter_map(of).collect()
}

/// What all of them but one allow: value, lower and upper bound.
fn common(estimates: &[[f64; 2]]) -> Option<(f64, f64, f64)> {
    let least = sorted(&estimates.iter().map(|[least, _]| *least).collect::<Vec<_>>());
    let most = sorted(&estimates.iter().map(|[_, most]| *most).collect::<Vec<_>>());
    let (low, high) = (*least.get(least.len().checked_sub(2)?)?, *most.get(1)?);
    // Dies out of step finish one after the other, and then the upper bound is the size.
    let value = if low < high { low + NEARER_MOST * (high - low) } else { low.midpoint(high) };
    (value > 0.0).then_some((value, low.min(high), low.max(high)))
}

/// Whether most of them agree.
fn agree(estimates: &[[f64; 2]]) -> bool {
    let Some((value, ..)) = common(estimates) else { return false };
    let near = |[low, high]: &&[f64; 2]| {
        *low < (1.0 + SPREAD_MAX / 2.0) * value && *high > (1.0 - SPREAD_MAX / 2.0) * value
    };
    estimates.len() == SHARES.len() && estimates.iter().filter(near).count() + 1 >= SHARES.len()
}

/// The middles of the bounds from all long bursts with short ones behind them.
fn all_estimates(segments: &[&Segment]) -> Vec<f64> {
    let is_long = |at: &usize| own_name(segments[*at]).starts_with("long");
    let longs: Vec<usize> = (0..segments.len()).filter(is_long).collect();
    let of = |(index, at): (usize, &usize)| {
        let end = longs.get(index + 1).copied().unwrap_or(segments.len());
        estimates(&Burst::from_segment(segments[*at]), &segments[at + 1..end])
    };
    let all = longs.iter().enumerate().flat_map(of);
    all.map(|[low, high]| low + NEARER_MOST * (high - low)).collect()
}

/// What many bursts say together, of which five do not agree: their median, and its 90% interval. `None` if
/// they are too few, or half of them differ too much.
fn pooled(all: &[f64]) -> Option<(f64, f64, f64)> {
    let (low, middle, high) = (quantile(all, 0.25)?, median(all)?, quantile(all, 0.75)?);
    let interval = median_interval(all, CONFIDENCE_90)?;
    let is_narrow = |width: f64| width < SPREAD_MAX * middle;
    let is_close = is_narrow(high - low) && is_narrow(interval.high - interval.low);
    (all.len() >= POOLED_MIN && is_close).then_some((middle, interval.low, interval.high))
}

fn infer_property(long: &Burst, estimates: &[[f64; 2]], all: &[f64]) -> Property {
    let key = Key::WriteBufferBytes;
    let knee = match long.shape() {
        BurstShape::Knee(knee) => knee,
        BurstShape::Slowing => {
            return Property::undecided(key, wording::unsteady_bursts());
        }
        BurstShape::Even => return Property::undecided(key, wording::even_bursts(long.bytes)),
    };
    let (before, after) = (Rate(knee.before), Rate(knee.after));
    let disagree = || Property::undecided(key, wording::disagreeing_flushes(before, after, knee.intake));
    let common = common(estimates).filter(|_| agree(estimates));
    let common = common.filter(|(value, low, high)| high - low <= SPREAD_MAX * value);
    let (found, confidence) = match common {
        Some(common) => (Some(common), 0.93),
        None => (pooled(all), POOLED_CONFIDENCE),
    };
    let Some((value, low, high)) = found else { return disagree() };
    let margin = (MARGIN * long.block).max(0.02 * value);
    let interval = (low - margin, high + margin);
    Property::number(key, value, interval, confidence, wording::burst_knee(before, after, knee.intake))
}

fn picture(long: &Burst) -> Series {
    let every = long.intake.len().div_ceil(512);
    let accepted = Line::new("accepted", long.intake.iter().step_by(every).copied().collect());
    let (time, bytes) = (axis(wording::SINCE_BURST, "ns"), axis("accepted", "bytes"));
    Series::new(wording::BUFFER_BURST, Shape::Line, time, bytes).lines([accepted])
}

/// The two speeds of a burst, and where the buffer was full.
fn with_knee(picture: Series, long: &Burst, property: &Property) -> Series {
    let BurstShape::Knee(knee) = long.shape() else { return picture };
    let [end, bytes] = long.intake[long.intake.len() - 1];
    let held = property.value().unwrap_or_else(|| knee.cached_bytes());
    let at = knee.intake / knee.before * 1e9;
    let predicted = vec![[0.0, 0.0], [at, knee.intake], [end, bytes]];
    let mark = Mark { x: at, label: wording::buffer_full(held) };
    picture.lines([Line::new("two speeds", predicted)]).marks([mark])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of this many pages in front of dies that take a page each for a time; one page arrives per
    /// time unit.
    fn absorbed_bytes(
        pages: usize,
        buffer: usize,
        dies: usize,
        program: f64,
        jitter: impl Fn(usize) -> f64,
    ) -> (Vec<[f64; 2]>, f64) {
        let mut free = vec![0.0_f64; dies];
        let (mut released, mut intake): (Vec<f64>, Vec<[f64; 2]>) = (Vec::new(), Vec::new());
        let mut now = 0.0_f64;
        for page in 0..pages {
            let mut ascending = released.clone();
            ascending.sort_by(f64::total_cmp);
            let room = page.checked_sub(buffer).map_or(0.0, |index| ascending[index]);
            now = now.max(room) + 1.0;
            intake.push([now, (page + 1) as f64]);
            let die = (0..dies).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            free[die] = free[die].max(now) + program + jitter(page);
            released.push(free[die]);
        }
        let flushed = released.iter().fold(0.0_f64, |last, at| last.max(*at));
        (intake, flushed)
    }

    fn cached_bytes(
        buffer: usize,
        dies: usize,
        program: f64,
        jitter: impl Fn(usize) -> f64 + Copy,
    ) -> Vec<[f64; 2]> {
        let pages = 8 * buffer;
        let (curve, flushed) = absorbed_bytes(pages, buffer, dies, program, jitter);
        let long = Burst { intake: curve, block: 1.0, bytes: pages as u64, flushed };
        let of = |share: f64| {
            let pages = (share * pages as f64) as usize;
            let (_, flushed) = absorbed_bytes(pages, buffer, dies, program, jitter);
            let (before, after) = long.intake_at(flushed).unwrap();
            [before - pages as f64, after - pages as f64]
        };
        SHARES.into_iter().map(of).collect()
    }

    #[test]
    fn what_waits_when_the_same_has_been_programmed_is_the_buffer() {
        // Dies in step and out of step, buffers larger and smaller than what the dies program at once.
        for (buffer, dies, program) in [(64, 16, 40.0), (100, 7, 33.0), (40, 32, 100.0), (300, 4, 6.0)] {
            let estimates = cached_bytes(buffer, dies, program, |page| (page % 7) as f64 * 0.3);
            let (value, ..) = common(&estimates).unwrap();
            assert!((value / buffer as f64 - 1.0).abs() < 0.1, "{buffer}: {estimates:?}");
        }
    }

    #[test]
    fn flushes_that_disagree_decide_nothing() {
        let says = |values: [f64; 5]| values.map(|value| [value - 1.0, value + 1.0]);
        assert!(agree(&says([100.0, 101.0, 99.0, 100.0, 300.0])), "one may be off");
        assert!(!agree(&says([100.0, 101.0, 50.0, 100.0, 300.0])));
        assert!(!agree(&says([-5.0, -4.0, -3.0, -5.0, -4.0])));
        assert!(!agree(&[[99.0, 101.0]; 2]), "too few");
    }
}
