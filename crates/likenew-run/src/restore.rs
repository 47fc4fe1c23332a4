//! Returns a drive to the state in which an interrupted run left it.
//!
//! A simulated drive starts anew, so all steps are run again in its own time, and must give the recorded
//! results. A folder's temporary files were deleted when the run ended, so their data is written again.
//! Existing files and devices still hold their data.

use std::ops::Range;

use likenew_core::drive::{Drive, TargetKind};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::{Observation, Probe};
use likenew_core::procedure::{PastStep, history};
use likenew_core::region::Region;
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::target::{Clock, Geometry};
use likenew_core::target_error::TargetError;
use likenew_core::trace::{ReplaySpec, ReplayTiming};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use crate::replay::TraceOpener;
use crate::run::{RunError, RunResult, run_with};
use crate::runner::observation;
use crate::wording;

/// Why a drive could not be restored to the state in which a run left it.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A simulated drive did not repeat its recorded results.
    #[error(
        "step {number} (\"{name}\") did not come out as recorded: the drive's file or the version of likenew has changed; start a new run"
    )]
    OtherResults {
        /// The number of the step, from 1.
        number: usize,
        /// Its name.
        name: String,
    },
    /// A workload could not be run again.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The target went away meanwhile.
    #[error(transparent)]
    TargetError(#[from] TargetError),
    /// The drive answered with an error, or the user asked to stop.
    #[error(
        "restoring the drive to where the run had stopped ended with {0:?}; earlier measurements are kept"
    )]
    Stopped(Stop),
}

/// One step of restoring that state.
#[derive(Clone, Debug, PartialEq)]
pub enum RestoreStep {
    /// A workload to run.
    Run(Workload),
    /// A probe to run.
    Probe(Probe),
}

/// The steps that restore that state.
pub fn restore_plan(
    kind: TargetKind,
    geometry: &Geometry,
    segments: &[Segment],
    observations: &[Observation],
) -> Vec<RestoreStep> {
    if geometry.clock == Clock::Virtual {
        let to_step = |past_step| match past_step {
            PastStep::Segment(segment) => RestoreStep::Run(segment.workload.clone()),
            PastStep::Observation(observation) => RestoreStep::Probe(observation.probe.clone()),
        };
        return history(segments, observations).map(to_step).collect();
    }
    let rewrites =
        if kind == TargetKind::Folder { rewrites(geometry, segments, observations) } else { Vec::new() };
    rewrites.into_iter().map(RestoreStep::Run).collect()
}

/// Restores a drive that was just opened to its state after `segments` and `observations`. Before each step,
/// `begins` is called with the number of steps done and of all steps.
///
/// # Errors
/// The drive could not be restored, or a simulated drive behaves differently than before.
pub fn restore(
    drive: &mut dyn Drive,
    segments: &[Segment],
    observations: &[Observation],
    mut begins: impl FnMut(&RestoreStep, usize, usize),
    traces: &mut TraceOpener<'_>,
    recorder: &mut dyn FnMut() -> Box<dyn Recorder + Send>,
) -> Result<(), RestoreError> {
    let geometry = drive.geometry();
    let way = restore_plan(drive.identity().kind, &geometry, segments, observations);
    // Only a simulated drive repeats its results exactly.
    let is_virtual = geometry.clock == Clock::Virtual;
    let mut past_steps = history(segments, observations);
    for (index, step) in way.iter().enumerate() {
        begins(step, index, way.len());
        let expected = past_steps.next().filter(|_| is_virtual);
        let (same, name) = match step {
            RestoreStep::Run(workload) => {
                (rerun(drive, workload, expected, traces, recorder)?, &*workload.name)
            }
            RestoreStep::Probe(probe) => (probe_again(drive, probe, expected)?, probe.name()),
        };
        if !same {
            return Err(RestoreError::OtherResults { number: index + 1, name: name.to_owned() });
        }
    }
    let ended = segments.last().map(|segment| segment.ended_at).into_iter();
    drive.resume_clock_at(
        ended.chain(observations.last().map(|observation| observation.ended_at)).max().unwrap_or_default(),
    );
    Ok(())
}

/// Whether a simulated drive repeated its recorded results. Older records without counters have nothing to
/// compare.
fn matches_record(segment: Segment, expected: &Segment) -> bool {
    let device_counters = expected.device_counters.and(segment.device_counters);
    Segment { device_counters, ..segment } == *expected
}

/// Runs a workload again, and returns whether the result is as `expected`, if that is given.
fn rerun(
    drive: &mut dyn Drive,
    workload: &Workload,
    expected: Option<PastStep<'_>>,
    traces: &mut TraceOpener<'_>,
    recorder: &mut dyn FnMut() -> Box<dyn Recorder + Send>,
) -> Result<bool, RestoreError> {
    let RunResult { segment, target_error } = run_with(drive, workload, traces, recorder)?;
    if let Some(target_error) = target_error {
        return Err(target_error.into());
    }
    if segment.stop != Stop::Reached {
        return Err(RestoreError::Stopped(segment.stop));
    }
    Ok(expected.is_none_or(
        |past_step| matches!(past_step, PastStep::Segment(before) if matches_record(segment, before)),
    ))
}

fn probe_again(
    drive: &mut dyn Drive,
    probe: &Probe,
    expected: Option<PastStep<'_>>,
) -> Result<bool, RestoreError> {
    let Some(PastStep::Observation(before)) = expected else { return Ok(expected.is_none()) };
    Ok(observation(drive, probe.clone(), before.after)? == *before)
}

/// Writes again, in order of addresses, what was written and not trimmed since.
fn rewrites(geometry: &Geometry, segments: &[Segment], observations: &[Observation]) -> Vec<Workload> {
    let mut ranges = WrittenRanges::default();
    for history in history(segments, observations) {
        let segment = match history {
            PastStep::Segment(segment) if segment.workload.reaches_drive() => segment,
            PastStep::Segment(_) => continue,
            PastStep::Observation(observation) => {
                if let Probe::Release { offset, bytes, .. } = observation.probe {
                    ranges.put(offset..offset + bytes, None);
                }
                continue;
            }
        };
        for (index, stream) in segment.workload.streams.iter().enumerate() {
            let bytes = |op| {
                let tallies = segment
                    .tallies
                    .iter()
                    .filter(|tally| usize::from(tally.stream) == index && tally.op == op);
                tallies.map(|tally| tally.bytes).sum::<u64>()
            };
            let region = stream.pattern.region().resolve(geometry.capacity, geometry.block);
            let region = region.expect("a workload that ran fits its drive");
            let part = |bytes: u64| match stream.pattern {
                // One copy goes through its region from the start; several copies each go through a part.
                AccessPattern::Sequential(_) if segment.workload.lanes == 1 => {
                    region.start..region.end.min(region.start.saturating_add(bytes))
                }
                _ => region.clone(),
            };
            let (written, trimmed) = (bytes(Op::Write), bytes(Op::Trim));
            if written > 0 {
                ranges.put(part(written), Some(stream.data));
            }
            if trimmed > 0 {
                ranges.put(part(trimmed), None);
            }
        }
    }
    let mut workloads: Vec<Workload> =
        ranges.ranges.into_iter().map(|(range, data)| rewrite(geometry, range, data)).collect();
    // A replay, and what was written to prepare it, stays within the range that the recording touches.
    let mut touched: Vec<&ReplaySpec> = Vec::new();
    for replay_spec in segments.iter().filter_map(|segment| segment.workload.replay_spec.as_deref()) {
        if !touched
            .iter()
            .any(|known| known.digest == replay_spec.digest && known.region == replay_spec.region)
        {
            touched.push(replay_spec);
            workloads.push(touch(replay_spec));
        }
    }
    workloads
}

fn touch(replay_spec: &ReplaySpec) -> Workload {
    let replay_spec = ReplaySpec { timing: ReplayTiming::Prepare, ..replay_spec.clone() };
    Workload {
        replay_spec: Some(Box::new(replay_spec)),
        ..Workload::new(wording::REWRITE_TOUCHED, Until::default(), Vec::new())
    }
}

fn rewrite(geometry: &Geometry, range: Range<u64>, data: DataClass) -> Workload {
    const BLOCK: u32 = 1 << 20;
    const DEPTH: u32 = 8;
    // No I/O may cross the end of a file.
    let bounds = [range.start, range.end, geometry.boundary.unwrap_or(0)];
    let block = bounds.iter().fold(BLOCK, |block, bound| block.min(1 << bound.trailing_zeros().min(31)));
    let bytes = range.end - range.start;
    let stream = Stream::closed(
        Mix::Only(Op::Write),
        block,
        AccessPattern::Sequential(Region::bytes(range)),
        DEPTH,
        data,
    );
    Workload::new(wording::REWRITE_WRITTEN, Until::bytes(bytes), vec![stream])
}

/// The contents of a drive: ranges that do not overlap, ordered by address.
#[derive(Default)]
struct WrittenRanges {
    ranges: Vec<(Range<u64>, DataClass)>,
}

impl WrittenRanges {
    /// From now on the range holds this data, or nothing.
    fn put(&mut self, range: Range<u64>, data: Option<DataClass>) {
        if range.is_empty() {
            return;
        }
        let mut kept: Vec<(Range<u64>, DataClass)> = Vec::with_capacity(self.ranges.len() + 2);
        for (old, old_data) in self.ranges.drain(..) {
            for part in [old.start..old.end.min(range.start), old.start.max(range.end)..old.end] {
                if !part.is_empty() {
                    kept.push((part, old_data));
                }
            }
        }
        kept.extend(data.map(|data| (range, data)));
        kept.sort_by_key(|(range, _)| range.start);
        for (range, data) in kept {
            match self.ranges.last_mut() {
                Some((last, last_data)) if last.end == range.start && *last_data == data => {
                    last.end = range.end
                }
                _ => self.ranges.push((range, data)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbors_join_and_what_is_trimmed_is_gone() {
        let mut ranges = WrittenRanges::default();
        ranges.put(0..10, Some(DataClass::Random));
        ranges.put(10..20, Some(DataClass::Random));
        ranges.put(30..40, Some(DataClass::Zero));
        assert_eq!(ranges.ranges, [(0..20, DataClass::Random), (30..40, DataClass::Zero)]);
        ranges.put(5..35, None);
        assert_eq!(ranges.ranges, [(0..5, DataClass::Random), (35..40, DataClass::Zero)]);
    }

    proptest! {
        #[test]
        fn ranges_hold_what_a_plain_array_holds(puts in prop::collection::vec((0u64..60, 0u64..20, 0..3u8), 0..40)) {
            let mut ranges = WrittenRanges::default();
            let mut cells = [None; 80];
            for (start, length, what) in puts {
                let data = [None, Some(DataClass::Random), Some(DataClass::Zero)][usize::from(what)];
                ranges.put(start..start + length, data);
                cells[start as usize..(start + length) as usize].fill(data);
            }
            let mut shown = [None; 80];
            for (range, data) in &ranges.ranges {
                prop_assert!(!range.is_empty());
                shown[range.start as usize..range.end as usize].fill(Some(*data));
            }
            prop_assert_eq!(shown, cells);
            prop_assert!(ranges.ranges.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
        }
    }
}
