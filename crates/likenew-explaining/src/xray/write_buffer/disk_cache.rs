//! Measures the write cache of a disk. While reads wait for the arm, nothing goes to the platters unless it
//! must. So the first write that has to wait finds the cache full, and nothing has left it.

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Ended;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_stats::summary::median;

use super::super::experiment::{Context, Finding, Steps, random_reads};
use super::super::property::{Key, Property};
use super::super::wording;
use likenew_procedure_support::series::axis;

const BLOCK: u32 = 64 << 10;
const BYTES_MAX: u64 = 256 << 20;
/// Time limit of a burst. Chosen: before the disk starts to write by itself.
const TIME_MAX: Nanos = Nanos::from_millis(1500);
/// Reads that wait for the arm all the time.
const READS: u32 = 4;
const BURSTS: usize = 2;
/// Least ratio of the latency of a write that waits for the arm to that of the first ones. Chosen: memory is
/// far faster than a seek.
const WAITS: f64 = 4.0;
/// Latency of the first writes, in nanoseconds, from which they go to the arm at once. Chosen: no cache takes
/// this long.
const ARM_NS: f64 = 2e6;
const FIRST: usize = 8;

pub(super) fn run(context: &Context<'_>, steps: &mut Steps<'_>) -> Finding {
    let mut bursts = Vec::new();
    let ended = (1..=BURSTS).try_for_each(|number| {
        bursts.push(latencies(burst_behind_reads(context, steps, number)?));
        Ok::<(), Ended>(())
    });
    let intake: Vec<Option<u64>> = bursts.iter().filter_map(|burst| absorbed_bytes(burst)).collect();
    if ended.is_err() || intake.len() < BURSTS {
        return Finding::default();
    }
    let picture = picture(&bursts[BURSTS - 1], intake[BURSTS - 1]);
    Finding::single(infer_property(&intake), Some(("write_buffer", picture)))
}

fn burst_behind_reads<'a>(
    context: &Context<'_>,
    steps: &mut Steps<'a>,
    number: usize,
) -> Result<&'a Segment, Ended> {
    // Everything written before reaches the platters first.
    let place = AccessPattern::Sequential(Region::WHOLE);
    let flush = Stream::closed(Mix::Only(Op::Flush), BLOCK, place, 1, DataClass::Random);
    steps.run(Workload::new("flush", Until::ops(1), vec![flush]))?;
    let half = context.span / 2 / (1 << 20) * (1 << 20);
    let bytes = BYTES_MAX.min(half).min(steps.remaining() / 2);
    let place = AccessPattern::Sequential(Region::bytes(0..half));
    let streams = vec![
        Stream::closed(Mix::Only(Op::Write), BLOCK, place, 1, DataClass::Random),
        random_reads(half..context.span, 4096, READS),
    ];
    let until = Until { elapsed: Some(TIME_MAX), bytes: Some(bytes), ops: None };
    steps.run(Workload { samples: 16_384, ..Workload::new(format!("burst {number}"), until, streams) })
}

fn latencies(burst: &Segment) -> Vec<f64> {
    let writes = burst.samples.iter().filter(|sample| sample.op == Op::Write);
    writes.map(|sample| sample.latency().0 as f64).collect()
}

/// Bytes taken before a write had to wait, in whole blocks; `Some(None)` if none had to, `None` if there were
/// too few writes.
fn absorbed_bytes(latencies: &[f64]) -> Option<Option<u64>> {
    let first = median(latencies.get(..FIRST.min(latencies.len()))?).filter(|first| *first > 0.0)?;
    if first > ARM_NS {
        return Some(Some(0));
    }
    let waits = latencies.iter().position(|latency| *latency > (WAITS * first).max(ARM_NS));
    Some(waits.map(|writes| writes as u64 * u64::from(BLOCK)))
}

fn infer_property(intake: &[Option<u64>]) -> Property {
    let key = Key::WriteBufferBytes;
    let Some(intake) = intake.iter().copied().collect::<Option<Vec<u64>>>() else {
        return Property::undecided(key, wording::no_write_waited_for_head());
    };
    let (least, most) =
        intake.iter().fold((u64::MAX, 0), |(least, most), intake| (least.min(*intake), most.max(*intake)));
    if most == 0 {
        return Property::absent(key, 0.97, wording::every_write_waits());
    }
    let block = u64::from(BLOCK);
    if most - least > 2 * block {
        return Property::undecided(key, wording::unequal_intake(least, most));
    }
    // The next block did not fit, and one or two may have left before the first read waited for the arm.
    let value = (least + most) as f64 / 2.0 - 0.5 * block as f64;
    let margin = 2.5 * block as f64 + 0.003 * value;
    let interval = (value - margin, value + margin);
    Property::number(key, value, interval, 0.95, wording::intake_behind_reads(most))
}

fn picture(latencies: &[f64], intake: Option<u64>) -> Series {
    let block = f64::from(BLOCK);
    let shown = intake.map_or(latencies.len(), |intake| 2 * (intake / u64::from(BLOCK)) as usize + FIRST);
    let points =
        latencies.iter().take(shown).enumerate().map(|(index, ns)| [index as f64 * block, *ns]).collect();
    let mark = intake.map(|intake| Mark { x: intake as f64, label: wording::CACHE_FULL.into() });
    Series::new(
        wording::BUFFER_DISK,
        Shape::Scatter,
        axis(wording::WRITTEN_SINCE_EMPTY, "bytes"),
        axis("latency", "ns").logarithmic(),
    )
    .lines([Line::new("writes", points)])
    .marks(mark)
}

#[cfg(test)]
mod tests {
    use super::super::super::property::State;
    use super::*;

    fn burst(fast: usize) -> Vec<f64> {
        let slow = (0..64).map(|index| if index % 3 == 0 { 2e7 } else { 6e5 });
        std::iter::repeat_n(6e5, fast).chain(slow).collect()
    }

    #[test]
    fn the_first_write_that_waits_finds_the_cache_full() {
        let block = u64::from(BLOCK);
        assert_eq!(absorbed_bytes(&burst(100)), Some(Some(100 * block)));
        assert_eq!(absorbed_bytes(&[8e6; 20]), Some(Some(0)), "nothing is cached");
        assert_eq!(absorbed_bytes(&[6e5; 2000]), Some(None), "nothing has to wait");
        assert_eq!(absorbed_bytes(&[]), None);
        let both = infer_property(&[Some(100 * block), Some(101 * block)]);
        assert!(both.value().is_some_and(|bytes| (99.0..=102.0).contains(&(bytes / block as f64))));
        assert_eq!(
            infer_property(&[Some(100 * block), Some(140 * block)]).state,
            State::Undecided,
            "it does not repeat"
        );
        assert_eq!(infer_property(&[Some(0), Some(0)]).state, State::Absent);
        assert_eq!(infer_property(&[None, None]).state, State::Undecided);
    }
}
