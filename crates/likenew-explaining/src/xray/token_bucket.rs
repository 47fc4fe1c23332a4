//! Measures burst credits: I/Os are fast while credits last; each takes one, and a few flow in every second.
//!
//! Reads randomly at full speed until the rate falls to a lower one that lasts. A full bucket held what was
//! served beyond that rate: the maximum, over all stretches of the test, of I/Os − rate × time. So rests in
//! which the bucket filled again hide nothing.

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Iops;
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};

use super::experiment::{Context, Finding, Steps, random_reads};
use super::property::{Key, Property, Reason};
use super::wording;
use likenew_procedure_support::series::axis;

const DEPTH: u32 = 64;
/// Length of the first burst. Chosen: long enough for a level rate.
const FIRST: Nanos = Nanos::from_secs(10);
/// Ratio of the length of a burst to the one before. Chosen: few bursts, each of them not much longer than
/// needed.
const LONGER: f64 = 1.5;
/// Longest time of all bursts together, and most reads: enough to find a bucket that lasts half an hour.
/// Chosen: the longest wait that a user may ask for.
const TIME_MAX: Nanos = Nanos::from_secs(45 * 60);
const READS_MAX: u64 = 6_500_000;
/// Rests before the first burst, for the bucket to regain what was used before, and before the second one,
/// for a bucket that was empty to gain something. Chosen: a minute is enough to show a faster beginning.
const RESTS: [Nanos; 2] = [Nanos::from_secs(60), Nanos::from_secs(60)];
/// Rate over the highest one, as a ratio, below which it is another rate. Chosen: above the steadiness of
/// rate limits.
const LOWER: f64 = 0.9;
/// Difference of the rates of both halves of a burst, as a share, up to which it is level. Chosen: rate
/// limits are steadier than that.
const LEVEL: f64 = 0.03;
/// Credits over what flowed into the bucket in rests, as a ratio: within this range, they may be the same.
const EARNED_CREDIT_RANGE: (f64, f64) = (0.85, 1.05);
/// Uncertainty of a level rate, as a share. Chosen: the steadiness of rate limits.
const RATE_UNSURE: f64 = 0.003;
/// I/Os that may be in flight at either end of a burst: two full queues.
const ON_THEIR_WAY: f64 = 2.0 * DEPTH as f64;

/// Reads until the credits are used up.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let mut bursts = Bursts::default();
    // Only virtual disks have rate limits; other media do not.
    if context.may_be("virtual") && !takes_too_long(context) {
        let _ended = bursts.measure(context, steps);
    }
    if context.is("virtual") && takes_too_long(context) {
        return Err(wording::long_reads_needed());
    }
    if bursts.all.iter().all(|burst| burst.total().ios == 0) {
        return Ok(Finding::default());
    }
    Ok(Finding::single(bursts.property(context), ("reads_over_time", bursts.picture(context))))
}

/// In wall time a test of an hour runs only if it was asked for.
fn takes_too_long(context: &Context<'_>) -> bool {
    context.evidence.geometry.clock == Clock::Wall && !context.is_named
}

#[derive(Default)]
struct Bursts<'a> {
    all: Vec<&'a Segment>,
    /// How long the drive has rested for the test.
    rested: Nanos,
}

/// A rate in IOPS.
fn rate(ios: u64, span: Nanos) -> f64 {
    if span == Nanos::ZERO { 0.0 } else { ios as f64 / span.as_secs_f64() }
}

/// Rates of the first and the second half of a burst.
fn halves(burst: &Segment) -> (f64, f64) {
    let (middle, elapsed) = (burst.elapsed().0 / 2, burst.elapsed());
    let width = burst.seconds.width;
    let cells = (middle / width) as usize;
    if cells == 0 {
        let whole = rate(burst.total().ios, elapsed);
        return (whole, whole);
    }
    let split = Nanos(cells as u64 * width);
    let first: u64 = burst.seconds.cells.iter().take(cells).map(|cell| cell.ios).sum();
    (rate(first, split), rate(burst.total().ios - first, elapsed - split))
}

impl<'a> Bursts<'a> {
    /// Reads until the rate has fallen for good; before the first two bursts the drive rests.
    fn measure(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        while self.knee().is_none() {
            let count = self.all.len();
            if let Some(span) = RESTS.get(count) {
                self.rested += steps.rest(format!("rest {}", count + 1), *span)?.elapsed();
            }
            let (reads, spent) = (self.reads(), self.spent_time());
            if spent >= TIME_MAX || reads >= READS_MAX || self.was_empty().is_some() {
                break;
            }
            let span = FIRST.0 as f64 * LONGER.powi(count as i32);
            let elapsed = Nanos(span as u64).min(TIME_MAX - spent);
            let until = Until { elapsed: Some(elapsed), ..Until::ops(READS_MAX - reads) };
            // As short as possible, so that a limit of bytes per second is not met first.
            let reads = random_reads(0..context.span, context.block(), DEPTH);
            self.all.push(steps.run(Workload::new(format!("burst {}", count + 1), until, vec![reads]))?);
        }
        Ok(())
    }

    fn reads(&self) -> u64 {
        self.all.iter().map(|burst| burst.total().ios).sum()
    }

    fn spent_time(&self) -> Nanos {
        Nanos(self.all.iter().map(|burst| burst.elapsed().0).sum())
    }

    fn highest(&self) -> f64 {
        self.all.iter().flat_map(|burst| [halves(burst).0, halves(burst).1]).fold(0.0, f64::max)
    }

    /// The rate to which it fell for good: that of a last burst that is level and lower than the highest.
    fn knee(&self) -> Option<f64> {
        let (first, second) = halves(self.all.last()?);
        let is_level = (first - second).abs() < LEVEL * second;
        (is_level && second > 0.0 && second < LOWER * self.highest()).then_some(second)
    }

    /// The rate of a first burst that was level, while the one after a rest began faster: the bucket was
    /// empty.
    fn was_empty(&self) -> Option<f64> {
        let [first, second, ..] = self.all.as_slice() else { return None };
        let (start, level) = halves(first);
        let is_level = (start - level).abs() < LEVEL * level;
        let after_rest = halves(second).0;
        (is_level && level < LOWER * after_rest).then_some(level)
    }

    fn property(&self, context: &Context<'_>) -> Property {
        let key = Key::TokenBucketIos;
        let highest = self.highest();
        if let Some(level) = self.was_empty() {
            return Property::undecided(key, wording::empty_bucket(Iops(level)));
        }
        let busy = context.is_busy();
        match self.knee() {
            Some(level) if busy && level > 0.5 * highest => {
                Property::undecided(key, wording::unsteady_bucket(Iops(highest), Iops(level)))
            }
            Some(level) => {
                let (credits, span) = excess(&context.segments, level);
                let earned = level * self.rested.as_secs_f64();
                if (EARNED_CREDIT_RANGE.0 * earned..EARNED_CREDIT_RANGE.1 * earned).contains(&credits) {
                    return Property::undecided(key, wording::earned_credits(credits, Iops(level)));
                }
                let unsure = ON_THEIR_WAY + RATE_UNSURE * level * span.as_secs_f64();
                let interval = (credits - unsure, credits + unsure);
                let reason = wording::spent_credits(Iops(highest), credits, Iops(level));
                Property::number(key, credits, interval, 0.95, reason)
            }
            None if !self.is_level() => {
                Property::undecided(key, wording::unsettled_rate(Iops(highest), self.spent_time()))
            }
            None => {
                let reason = wording::steady_rate(self.reads(), self.spent_time(), Iops(highest));
                Property::absent(key, 0.9, reason)
            }
        }
    }

    fn is_level(&self) -> bool {
        let least = self.all.iter().map(|burst| halves(burst).1).fold(f64::INFINITY, f64::min);
        least >= LOWER * self.highest()
    }

    fn picture(&self, context: &Context<'_>) -> Series {
        let origin = self.all.first().map_or(Nanos::ZERO, |burst| burst.started_at);
        let points = self.all.iter().flat_map(|burst| {
            let (start, width) = (burst.started_at.since(origin).0, burst.seconds.width);
            let whole = (burst.elapsed().0 / width) as usize;
            let cells = burst.seconds.cells.iter().take(whole).enumerate();
            cells.map(move |(index, cell)| {
                let end = start + (index as u64 + 1) * width;
                [end as f64, cell.ios as f64 * 1e9 / width as f64]
            })
        });
        let mut lines = vec![Line::new("measured", points.collect())];
        if let Some(level) = self.knee() {
            let (credits, _) = excess(&context.segments, level);
            // Two points at the end of the burst draw a step.
            let end = origin.0 as f64 + credits / (self.highest() - level) * 1e9 - origin.0 as f64;
            let last = self.all.last().map_or(0, |burst| burst.ended_at.since(origin).0) as f64;
            let high = self.highest();
            lines.push(Line::new(
                "predicted for credits",
                vec![[0.0, high], [end, high], [end, level], [last, level]],
            ));
        }
        Series::new(wording::READS_OVER_TIME, Shape::Line, axis("time", "ns"), axis("reads", "1/s"))
            .lines(lines)
    }
}

/// The most that was served beyond a rate within any stretch, and the length of that stretch.
fn excess(segments: &[&Segment], level: f64) -> (f64, Nanos) {
    let mut best = (0.0, Nanos::ZERO);
    // What was served beyond the rate since the bucket was last full, and the time of that.
    let (mut sum, mut span) = (0.0, 0u64);
    let mut last: Option<Nanos> = None;
    for segment in segments {
        let pause = last.map_or(0, |last| segment.started_at.since(last).0);
        let width = segment.seconds.width;
        let elapsed = segment.elapsed().0;
        let cells = elapsed.div_ceil(width).max(1);
        for index in 0..cells {
            let ios = segment.seconds.cells.get(index as usize).map_or(0, |cell| cell.ios);
            let cell = width.min(elapsed - (index * width).min(elapsed));
            let time = cell + if index == 0 { pause } else { 0 };
            (sum, span) = (sum + ios as f64 - level * time as f64 / 1e9, span + time);
            if sum <= 0.0 {
                (sum, span) = (0.0, 0);
            }
            if sum > best.0 {
                best = (sum, Nanos(span));
            }
        }
        last = Some(segment.ended_at);
    }
    best
}
