//! Finds what happens to trimmed addresses, from the latency of reads: forgotten data needs no flash.

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Latency;
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};

use super::experiment::{Context, Finding, Steps, sequential};
use super::property::{Key, Property, Reason};
use super::wording;
use super::writing::{MedianComparison, reads_of_both, write_in_order};
use likenew_procedure_support::series::axis;

pub(super) const NAME: &str = "trim";
/// Bytes to trim, and as many beside them to compare with.
pub(super) const AREA: u64 = 1 << 20;
const READS: u32 = 64;
const READ: u32 = 4096;
/// Rests in seconds after which the areas are read, until trimmed data is gone.
const RESTS_S: [u64; 4] = [0, 1, 6, 30];
/// Most rests until two areas that were written alike read alike.
const SETTLES: usize = 3;
/// Length of such a rest. Chosen: longer than a write buffer takes to empty.
const SETTLE: Nanos = Nanos::from_secs(5);
/// Least share by which reads that need no flash are faster. Chosen: twice `SAME`.
const FASTER: f64 = 0.03;
/// Difference of latencies, as a share, up to which they are the same. Chosen: what medians of the reads
/// resolve.
const SAME: f64 = 0.015;

/// Writes two areas, trims one, and reads both: at once and after rests.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let evidence = context.evidence;
    if !evidence.geometry.trims {
        return Ok(Finding::of([Property::absent(Key::Trim, 0.99, wording::trim_unsupported())]));
    }
    match context.word(Key::Medium) {
        Some("virtual") => return Err(wording::trim_of_volume()),
        Some("disk") => return Err(wording::trim_of_disk()),
        _ if evidence.identity.kind == TargetKind::Folder => return Err(wording::trim_of_folder()),
        _ => context.expect_room(2 * AREA)?,
    }
    let (mut before, mut stages) = (None, Vec::new());
    let _ended = measure(steps, &mut before, &mut stages);
    let Some(before) = before else { return Ok(Finding::default()) };
    Ok(Finding::single(infer_property(&before, &stages), ("trimmed_reads", picture(&before, &stages))))
}

/// Puts the last reads before the TRIM into `before`. Adds those after it to `stages`: seconds of rest before
/// them, and trimmed compared with kept addresses.
fn measure(
    steps: &mut Steps<'_>,
    before: &mut Option<MedianComparison>,
    stages: &mut Vec<(u64, MedianComparison)>,
) -> Result<(), Ended> {
    let reads = |name: &str| reads_of_both(name, [0..AREA, AREA..2 * AREA], READ, READS);
    steps.run(write_in_order("write", 0..2 * AREA, DataClass::Random))?;
    *before = MedianComparison::in_segment(steps.run(reads("reads before"))?);
    for settle in 1..=SETTLES {
        if before.as_ref().is_some_and(|reads| reads.is_same(SAME)) {
            break;
        }
        // The drive is still busy with earlier work.
        steps.rest(format!("settle {settle}"), SETTLE)?;
        *before = MedianComparison::in_segment(steps.run(reads("reads before"))?);
    }
    let trim = sequential(Op::Trim, 0..AREA, AREA as u32, 1);
    steps.run(Workload::new("trim", Until::ops(1), vec![trim]))?;
    let mut rested = 0;
    for seconds in RESTS_S {
        let name = match seconds {
            0 => wording::READS_AFTER_NO_REST.to_owned(),
            _ => format!("reads after {seconds} s"),
        };
        if seconds > 0 {
            steps.rest(format!("rest {seconds} s"), Nanos::from_secs(seconds))?;
        }
        rested += seconds;
        let compared = MedianComparison::in_segment(steps.run(reads(&name))?);
        let is_forgotten = compared.as_ref().is_some_and(|compared| compared.is_less(FASTER));
        stages.extend(compared.map(|compared| (rested, compared)));
        if is_forgotten {
            break;
        }
    }
    Ok(())
}

fn infer_property(before: &MedianComparison, stages: &[(u64, MedianComparison)]) -> Property {
    if !before.is_same(SAME) {
        let reason = wording::unequal_before_trim(Latency(before.first), Latency(before.second));
        return Property::undecided(Key::Trim, reason);
    }
    let forgotten = stages.iter().find(|(_, compared)| compared.is_less(FASTER));
    if let Some((rested, MedianComparison { first, second, .. })) = forgotten {
        let (trimmed, kept) = (Latency(*first), Latency(*second));
        return match *rested {
            0 => Property::word(Key::Trim, "immediate", 0.99, wording::trimmed_at_once(trimmed, kept)),
            rested => {
                Property::word(Key::Trim, "idle", 0.99, wording::trimmed_when_idle(trimmed, kept, rested))
            }
        };
    }
    match stages.last() {
        Some((rested, compared)) if compared.is_same(SAME) && *rested >= RESTS_S.iter().sum() => {
            let reason = wording::trim_ignored(Latency(compared.first), Latency(compared.second), *rested);
            Property::word(Key::Trim, "ignored", 0.98, reason).caveat(wording::TRIM_IGNORED_CAVEAT)
        }
        _ => Property::undecided(Key::Trim, wording::trim_unclear()),
    }
}

fn picture(before: &MedianComparison, stages: &[(u64, MedianComparison)]) -> Series {
    let comparisons = || std::iter::once(before).chain(stages.iter().map(|(_, compared)| compared));
    let line = |name, median: fn(&MedianComparison) -> f64| {
        Line::new(
            name,
            comparisons().enumerate().map(|(index, compared)| [index as f64, median(compared)]).collect(),
        )
    };
    let rests = stages.iter().map(|(rested, _)| format!("after {rested} s"));
    Series::new(wording::TRIMMED_READS, Shape::Bars, axis(wording::AROUND_TRIM, ""), axis("latency", "ns"))
        .categories(std::iter::once("before".to_owned()).chain(rests))
        .lines([line("trimmed", |compared| compared.first), line("kept", |compared| compared.second)])
}
