//! Measures the write buffer of flash.
//!
//! Bursts that have to wait after the same number of bytes show its size, see [`first_wait`]. Otherwise, a
//! long burst into an empty buffer shows when its rate falls to that of the flash. How much had been
//! programmed by then is unknown, but a shorter burst followed by a flush shows when n bytes are in the
//! flash. At that time the long burst had programmed n bytes as well, and everything else it had sent was in
//! the buffer: buffer = taken(when n bytes were programmed) − n. Neither rate needs to be steady for that.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::Op;
use likenew_core::procedure::Ended;
use likenew_core::quantity::Rate;
use likenew_core::segment::Segment;
use likenew_core::workload::{SAMPLES_MAX, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::interval::{CONFIDENCE_90, median_interval};
use likenew_stats::summary::{median, quantile, sorted};

use super::super::experiment::{Context, Finding, Steps, bytes_written, sequential_writes};
use super::super::property::{Key, Property, Remedy};
use super::super::wording;

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
/// Most bursts, and most long ones if they do not agree.
const BURSTS_MAX: usize = 48;
const LONGS_MAX: usize = 6;
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
/// Most I/Os that may be taken at one moment. Chosen: more than one program of all dies frees.
const RUN: f64 = 64.0;
/// Position of the answer between the bounds of all bursts, in 0..1. Chosen: nearer to the upper one, because
/// dies that are not in step finish one after the other.
const NEARER_MOST: f64 = 0.7;
/// Most that answers of short bursts may spread, as a share. Chosen: wider answers come from a changed drive.
const SPREAD_MAX: f64 = 0.25;
/// Fewest short bursts that are pooled if fives of them do not agree. Chosen: those behind three long ones.
const POOLED_MIN: usize = 3 * SHARES.len();
/// Confidence in a pooled answer, in 0..1. Chosen: no claim.
const POOLED_CONFIDENCE: f64 = 0.8;
/// Error in shares of an I/O, or 2% of the buffer if that is more; nine of ten drives lie within it. Fitted.
const MARGIN: f64 = 0.9;

/// The progress of a burst into an empty buffer.
#[derive(Clone)]
struct Burst {
    /// Nanoseconds since the first I/O was sent, and bytes taken by then.
    intake: Vec<[f64; 2]>,
    block: f64,
    bytes: u64,
    /// When the whole burst was in the flash, on the same clock.
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

/// Bursts up to now, which are one stream of writes.
#[derive(Default)]
struct Bursts {
    count: usize,
    bytes: u64,
    /// Long bursts, and the bounds of the buffer from the short ones behind each.
    longs: Vec<(Burst, Vec<[f64; 2]>)>,
    /// Short bursts that show what had left the buffer.
    flushed: Vec<Burst>,
}

impl Bursts {
    /// Makes long bursts, each with the shorter ones it asks for, until one has shown the buffer.
    fn measure(&mut self, context: &Context<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        // What a block map does at the start of a stream of writes belongs to no burst.
        self.write(context, steps, "lead", FIRST, BLOCK)?;
        let mut next = Some((FIRST, BLOCK));
        while let Some((bytes, block)) = next {
            let name = format!("long {}", self.longs.len() + 1);
            let long = self.write(context, steps, &name, bytes, block)?;
            self.longs.push((long.clone(), Vec::new()));
            next = self.follow_up(context, steps, &long)?;
        }
        Ok(())
    }

    /// Continues where the last burst ended, so that all of them are one stream of writes.
    fn write(
        &mut self,
        context: &Context<'_>,
        steps: &mut Steps<'_>,
        name: &str,
        bytes: u64,
        block: u32,
    ) -> Result<Burst, Ended> {
        let longest = context.span / 8 / u64::from(LONG_BLOCK) * u64::from(LONG_BLOCK);
        if self.count >= BURSTS_MAX || bytes > longest || !steps.may_write(bytes) {
            return Err(Ended);
        }
        // Recent writes may be in faster cells, which are free again as soon as they are overwritten.
        let begin = context.span / 2;
        let start = (begin + self.bytes % (begin - longest)) / u64::from(LONG_BLOCK) * u64::from(LONG_BLOCK);
        let workload = sequential_writes(name, start..start + bytes, block, DEPTH);
        let burst = steps.run(Workload { samples: SAMPLES_MAX, flush: true, ..workload })?;
        (self.count, self.bytes) = (self.count + 1, self.bytes + bytes_written(burst));
        Ok(Burst::from_segment(burst))
    }

    /// What a long burst asks for: shorter ones, or another long one of these bytes in I/Os of this length.
    fn follow_up(
        &mut self,
        context: &Context<'_>,
        steps: &mut Steps<'_>,
        long: &Burst,
    ) -> Result<Option<(u64, u32)>, Ended> {
        let (longs, block) = (self.longs.len(), long.block as u32);
        let finer = if block > BLOCK { BLOCK } else { SHORT_BLOCK };
        if let Some(wait) = first_wait(&long.intake) {
            let worth = (LENGTH * wait.bytes as u64).next_multiple_of(1 << 16).clamp(1 << 18, LONGEST);
            let is_new = self.longs.iter().all(|(long, _)| long.block != f64::from(finer));
            if wait.bytes < IOS_MIN * long.block && is_new {
                return Ok(Some((worth, finer)));
            }
            if let Some(wait) = self.agreed_wait() {
                while let Some(bytes) = next_bytes(wait, long.block, &self.flushed) {
                    let name = format!("flushed {}", self.flushed.len() + 1);
                    let burst = self.write(context, steps, &name, bytes as u64, block)?;
                    self.flushed.push(burst);
                }
                return Ok(None);
            }
            if self.first_waits().len() < WAITS_MAX {
                return Ok(Some((worth, block)));
            }
        }
        let knee = match long.shape() {
            BurstShape::Even if block < LONG_BLOCK => return Ok(Some((long.bytes, LONG_BLOCK))),
            BurstShape::Even if long.bytes < LONGEST_EVEN => return Ok(Some((4 * long.bytes, block))),
            BurstShape::Slowing if long.bytes < LONGEST => return Ok(Some((4 * long.bytes, block))),
            BurstShape::Even | BurstShape::Slowing => return Ok(None),
            BurstShape::Knee(knee) => knee,
        };
        let worth = KNEES * (knee.intake as u64).next_multiple_of(1 << 16);
        if knee.cached_bytes() < IOS_MIN * long.block && block > SHORT_BLOCK {
            return Ok(Some((worth.clamp(1 << 18, long.bytes), finer)));
        }
        if 2 * worth < long.bytes && longs < LONGS_MAX {
            return Ok(Some((worth.max(1 << 18), block)));
        }
        for (index, share) in SHARES.into_iter().enumerate() {
            let io = u64::from(block);
            let bytes = ((share * long.bytes as f64) as u64 / io * io).max(io);
            let short = self.write(context, steps, &format!("short {}", index + 1), bytes, block)?;
            self.longs[longs - 1].1.extend(bounds(long, &short));
        }
        // The drive has changed since: a faster part of the flash is used up, or collection has begun.
        let again = !agree(&self.longs[longs - 1].1) && longs < LONGS_MAX;
        Ok(again.then_some((long.bytes, block)))
    }

    /// The first waits of all long bursts of I/Os as long as those of the last one.
    fn first_waits(&self) -> Vec<FirstWait> {
        let block = self.longs.last().map(|(long, _)| long.block);
        let alike = self.longs.iter().filter(|(long, _)| Some(long.block) == block);
        alike.filter_map(|(long, _)| first_wait(&long.intake)).collect()
    }

    fn agreed_wait(&self) -> Option<FirstWait> {
        agreed_wait(&self.first_waits(), self.longs.last()?.0.block)
    }
}

pub(super) fn run(context: &Context<'_>, steps: &mut Steps<'_>) -> Finding {
    let mut bursts = Bursts::default();
    let _ended = bursts.measure(context, steps);
    let Some((long, estimates)) = bursts.longs.last().filter(|(long, _)| long.intake.len() >= 8) else {
        return Finding::default();
    };
    if let Some(wait) = bursts.agreed_wait() {
        let property = wait_property(wait, long.block, programmed(wait, &bursts.flushed));
        // Where the burst began to wait.
        let mark = |value| Mark { x: wait.at_ns, label: wording::buffer_full(value) };
        let picture = picture(long).marks(property.value().map(mark));
        return Finding::single(property, ("write_buffer", picture));
    }
    let all_estimates = bursts.longs.iter().flat_map(|(_, estimates)| estimates);
    let sizes: Vec<f64> = all_estimates.map(|[low, high]| low + NEARER_MOST * (high - low)).collect();
    let property = infer_property(long, estimates, &sizes);
    let picture = with_knee(picture(long), long, &property);
    Finding::single(property, ("write_buffer", picture))
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

/// The bounds of the buffer from a short burst, in bytes: the lower if the last program had not been
/// counted yet, and the upper if all that it freed had been taken again.
fn bounds(long: &Burst, short: &Burst) -> Option<[f64; 2]> {
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
}

/// What all estimates but one allow: value, lower and upper bound.
fn common(estimates: &[[f64; 2]]) -> Option<(f64, f64, f64)> {
    let least = sorted(&estimates.iter().map(|[least, _]| *least).collect::<Vec<_>>());
    let most = sorted(&estimates.iter().map(|[_, most]| *most).collect::<Vec<_>>());
    let (low, high) = (*least.get(least.len().checked_sub(2)?)?, *most.get(1)?);
    // Dies out of step finish one after the other, and then the upper bound is the size.
    let value = if low < high { low + NEARER_MOST * (high - low) } else { low.midpoint(high) };
    (value > 0.0).then_some((value, low.min(high), low.max(high)))
}

/// Whether most estimates agree.
fn agree(estimates: &[[f64; 2]]) -> bool {
    let Some((value, ..)) = common(estimates) else { return false };
    let near = |[low, high]: &&[f64; 2]| {
        *low < (1.0 + SPREAD_MAX / 2.0) * value && *high > (1.0 - SPREAD_MAX / 2.0) * value
    };
    estimates.len() == SHARES.len() && estimates.iter().filter(near).count() + 1 >= SHARES.len()
}

/// Pools the estimates of many bursts that do not agree by fives: their median, and its 90% interval. `None`
/// if they are too few, or half of them differ too much.
fn pooled(sizes: &[f64]) -> Option<(f64, f64, f64)> {
    let (low, middle, high) = (quantile(sizes, 0.25)?, median(sizes)?, quantile(sizes, 0.75)?);
    let interval = median_interval(sizes, CONFIDENCE_90)?;
    let is_narrow = |width: f64| width < SPREAD_MAX * middle;
    let is_close = is_narrow(high - low) && is_narrow(interval.high - interval.low);
    (sizes.len() >= POOLED_MIN && is_close).then_some((middle, interval.low, interval.high))
}

fn infer_property(long: &Burst, estimates: &[[f64; 2]], sizes: &[f64]) -> Property {
    let key = Key::WriteBufferBytes;
    let knee = match long.shape() {
        BurstShape::Knee(knee) => knee,
        BurstShape::Slowing => {
            return Property::undecided(key, wording::unsteady_bursts());
        }
        BurstShape::Even => return Property::undecided(key, wording::even_bursts(long.bytes)),
    };
    let reason = wording::burst_knee(Rate(knee.before), Rate(knee.after), knee.intake);
    let common = common(estimates).filter(|_| agree(estimates));
    let common = common.filter(|(value, low, high)| high - low <= SPREAD_MAX * value);
    let (size, confidence) = match common {
        Some(common) => (Some(common), 0.93),
        None => (pooled(sizes), POOLED_CONFIDENCE),
    };
    let Some((value, low, high)) = size else {
        return Property::undecided(key, reason.but(wording::FLUSHES_DISAGREE).decided_by(Remedy::Quiet));
    };
    let margin = (MARGIN * long.block).max(0.02 * value);
    let interval = (low - margin, high + margin);
    Property::number(key, value, interval, confidence, reason.and(wording::FLUSHES_AGREE))
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

// The buffer by the first wait: what a burst has sent when it first has to wait, less what had left the
// buffer by then. Bytes are programmed in the order they come, so that is the longest burst that is flushed
// by then, and shorter bursts find it by halving. A small buffer is full before anything has left it.

/// Fewest bursts that wait after the same number of bytes. Chosen: two may agree by chance.
const WAITS_MIN: usize = 3;
/// Most bursts, if they do not agree. Chosen: two of five may have been disturbed.
const WAITS_MAX: usize = 5;
/// Length of a burst over what it has sent when it waits. Chosen: the chart shows what comes after it.
const LENGTH: u64 = 4;
/// Least length of a wait, over an I/O without one. Chosen: above the jitter of a link.
const WAIT: f64 = 4.0;
/// I/Os whose waits say nothing: all of them are sent at the same moment. Chosen: as many as are in flight.
const FIRST_IOS: usize = 4;
/// I/Os behind those whose median is the time of one without a wait. Chosen: fewer than fit into a buffer.
const LINK_IOS: usize = 7;
/// Difference between bursts that agree, as a share, if that is more than an I/O. Chosen: below the error of the answer.
const AGREE: f64 = 0.02;
/// Precision of what had left, as a share of the buffer. Chosen: well below the tenth that counts as right.
const NARROW: f64 = 0.04;

/// What a burst had sent when it began to wait.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FirstWait {
    bytes: f64,
    /// Since the burst began, in nanoseconds.
    at_ns: f64,
}

/// Bounds of what had left the buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Programmed {
    least: f64,
    most: f64,
}

/// The first wait of a burst; `None` if there is none.
///
/// `intake` are nanoseconds since the burst began, and bytes taken by then.
fn first_wait(intake: &[[f64; 2]]) -> Option<FirstWait> {
    let gap_ns = |pair: &[[f64; 2]]| pair[1][0] - pair[0][0];
    // I/Os that have waited come in together, so only the first ones show how long one takes that does not.
    let first: Vec<f64> = intake.get(FIRST_IOS..)?.windows(2).take(LINK_IOS).map(gap_ns).collect();
    let crossing_ns = median(&first)?;
    let is_wait = |pair: &&[[f64; 2]]| gap_ns(pair) >= WAIT * crossing_ns;
    let [at_ns, bytes] = intake[FIRST_IOS..].windows(2).find(is_wait)?[0];
    Some(FirstWait { bytes, at_ns })
}

/// The middle of the first waits of bursts of I/Os of `block` bytes, if enough are near it.
fn agreed_wait(waits: &[FirstWait], block: f64) -> Option<FirstWait> {
    let mut sorted = waits.to_vec();
    sorted.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
    let middle = *sorted.get(sorted.len() / 2)?;
    let near = block.max(AGREE * middle.bytes);
    let count = sorted.iter().filter(|wait| (wait.bytes - middle.bytes).abs() <= near).count();
    (count >= WAITS_MIN).then_some(middle)
}

/// What had been programmed when a burst began to wait, as far as short ones show it.
fn programmed(wait: FirstWait, bursts: &[Burst]) -> Programmed {
    let (early, late): (Vec<&Burst>, Vec<&Burst>) =
        bursts.iter().partition(|burst| burst.flushed <= wait.at_ns);
    let most = late.iter().map(|burst| burst.bytes as f64).fold(wait.bytes, f64::min);
    let least =
        early.iter().map(|burst| burst.bytes as f64).filter(|bytes| *bytes < most).fold(0.0, f64::max);
    Programmed { least, most }
}

/// Length of the next short burst, in bytes; `None` when enough is known.
fn next_bytes(wait: FirstWait, block: f64, bursts: &[Burst]) -> Option<f64> {
    let Programmed { least, most } = programmed(wait, bursts);
    // The first one decides whether anything had left.
    let middle = if bursts.is_empty() { block } else { ((least + most) / 2.0 / block).round() * block };
    let near = block.max(NARROW * (wait.bytes - least));
    (most - least > near && middle > least && middle < most).then_some(middle)
}

/// The buffer by the agreed first wait of bursts of I/Os of `block` bytes.
fn wait_property(wait: FirstWait, block: f64, Programmed { least, most }: Programmed) -> Property {
    // If not even one I/O was flushed by then, nothing had left.
    let most = if least > 0.0 { most } else { 0.0 };
    // A part of the next I/O has come in.
    let value = wait.bytes + block / 2.0 - least.midpoint(most);
    let interval = (wait.bytes - most - block / 4.0, wait.bytes - least + 1.25 * block);
    let reason = wording::first_wait(wait.bytes, wait.at_ns, least);
    Property::number(Key::WriteBufferBytes, value, interval, 0.95, reason)
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
        let bounds_at = |share: f64| {
            let pages = (share * pages as f64) as usize;
            let (_, flushed) = absorbed_bytes(pages, buffer, dies, program, jitter);
            let (before, after) = long.intake_at(flushed).unwrap();
            [before - pages as f64, after - pages as f64]
        };
        SHARES.into_iter().map(bounds_at).collect()
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

    /// I/Os of a byte, one a nanosecond, with these waits before some of them.
    fn intake(ios: usize, waits: &[(usize, f64)]) -> Vec<[f64; 2]> {
        let mut now = 0.0;
        let taken = |index: usize| {
            let wait: f64 = waits.iter().filter(|(at, _)| *at == index).map(|(_, wait)| wait).sum();
            now += 1.0 + wait;
            [now, (index + 1) as f64]
        };
        (0..ios).map(taken).collect()
    }

    #[test]
    fn a_wait_is_longer_than_the_jitter_of_a_link() {
        let wait = |waits: &[(usize, f64)]| first_wait(&intake(200, waits));
        let wait_at = |bytes: f64| Some(FirstWait { bytes, at_ns: bytes });
        assert_eq!(wait(&[(50, 60.0), (70, 60.0)]), wait_at(50.0));
        assert_eq!(wait(&[(20, 1.0), (50, 60.0)]).map(|wait| wait.bytes), Some(50.0));
        assert_eq!(wait(&[(2, 9.0), (50, 60.0)]).map(|wait| wait.bytes), Some(50.0));
        assert_eq!(wait(&[]), None);
        let mut together = intake(200, &[(50, 60.0)]);
        together[51..55].iter_mut().for_each(|taken| taken[0] = 111.0);
        assert_eq!(
            first_wait(&together).map(|wait| wait.bytes),
            Some(50.0),
            "those that waited come in together"
        );
        assert_eq!(first_wait(&[]), None);
    }

    #[test]
    fn bursts_that_disagree_say_nothing() {
        let waits = |sizes: &[f64]| -> Vec<FirstWait> {
            sizes.iter().map(|bytes| FirstWait { bytes: *bytes, at_ns: 0.0 }).collect()
        };
        let agreed = |sizes: &[f64]| agreed_wait(&waits(sizes), 4.0).map(|wait| wait.bytes);
        assert_eq!(agreed(&[48.0, 52.0, 48.0]), Some(48.0));
        assert_eq!(agreed(&[48.0, 20.0, 48.0, 52.0]), Some(48.0));
        assert_eq!(agreed(&[48.0, 20.0, 60.0]), None);
        assert_eq!(agreed(&[48.0, 48.0]), None);
        assert_eq!(agreed(&[]), None);
    }

    /// The buffer found if the flash programs units of `unit` bytes one after the other, each in
    /// `program_ns`, behind a link that takes a byte in a nanosecond.
    fn find_buffer(buffer: f64, unit: f64, program_ns: f64) -> (f64, usize) {
        // In phase: unit k is programmed at (k + 1) × its time, and what has come is the time.
        let programmed_at = |at_ns: f64| (at_ns / program_ns).floor() * unit;
        let at_ns =
            (1..100_000).map(f64::from).find(|at_ns| at_ns - programmed_at(*at_ns) >= buffer).unwrap();
        let wait = FirstWait { bytes: at_ns, at_ns };
        let mut bursts = Vec::new();
        while let Some(bytes) = next_bytes(wait, 1.0, &bursts) {
            let flushed = (bytes / unit).ceil() * program_ns;
            bursts.push(Burst { intake: Vec::new(), block: 1.0, bytes: bytes as u64, flushed });
        }
        let property = wait_property(wait, 1.0, programmed(wait, &bursts));
        (property.value().unwrap(), bursts.len())
    }

    #[test]
    fn what_had_left_is_what_a_burst_had_flushed_by_then() {
        for (buffer, unit, program_ns) in
            [(50.0, 10.0, 100.0), (300.0, 10.0, 100.0), (1000.0, 64.0, 100.0), (200.0, 50.0, 60.0)]
        {
            let (value, bursts) = find_buffer(buffer, unit, program_ns);
            assert!((value / buffer - 1.0).abs() < 0.05, "{value} of {buffer}");
            assert!(bursts <= 8, "{bursts}");
        }
        assert_eq!(find_buffer(50.0, 10.0, 100.0).1, 1, "one burst shows that nothing had left");
    }
}
