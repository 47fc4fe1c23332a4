//! Checks for every procedure whether the measured I/O reached the device.
//!
//! Direct I/O moves as many bytes as the device counts. If the device counts fewer, something above it
//! answered; if it counts more, it did other I/O as well. `docs/explanation/method.md` gives the reasons for
//! the limits.

use likenew_core::findings::Answer;
use likenew_core::io::Op;
use likenew_core::quantity::{Share, Size};
use likenew_core::segment::Segment;

use crate::wording;

/// Bytes that a file system may move for its own metadata; smaller differences do not matter.
const BYTES_MIN: u64 = 16 << 20;
/// Share of a test's bytes from which missing ones matter; `docs/explanation/method.md` gives the reason.
const MISSING_MIN: f64 = 0.05;
/// Share of a test's bytes from which extra ones matter; `docs/explanation/method.md` gives the reason.
const EXTRA_MIN: f64 = 0.10;
/// Most tests that an answer names.
const NAMED_MAX: usize = 3;

/// An answer about missing bytes and one about extra bytes, each only if they matter.
pub fn answers(segments: &[Segment]) -> Vec<Answer> {
    let comparisons: Vec<CounterComparison<'_>> =
        segments.iter().filter_map(CounterComparison::from_segment).collect();
    let missing =
        answer(&comparisons, MISSING_MIN, |comparison| comparison.missing, wording::bytes_missed_device);
    let extra = answer(&comparisons, EXTRA_MIN, |comparison| comparison.extra, wording::device_was_busy);
    missing.into_iter().chain(extra).collect()
}

/// The bytes that a test moved, and those that the device counted.
struct CounterComparison<'a> {
    name: &'a str,
    bytes_moved: u64,
    device_bytes: u64,
    /// Bytes moved but not counted, reads and writes together.
    missing: u64,
    /// Bytes counted but not moved; 0 if several devices or failed I/Os explain them.
    extra: u64,
}

impl<'a> CounterComparison<'a> {
    /// `None` for a rest, for I/O through the page cache or to nowhere, and without device counters.
    fn from_segment(segment: &'a Segment) -> Option<Self> {
        let counted = segment.device_counters.filter(|_| segment.workload.access.is_direct())?;
        let moved = [Op::Read, Op::Write].map(|op| segment.bytes(op));
        let device = [counted.bytes_read, counted.bytes_written];
        let bytes_moved: u64 = moved.iter().sum();
        let difference = |from: [u64; 2], to: [u64; 2]| {
            from.iter().zip(to).map(|(from, to)| from.saturating_sub(to)).sum::<u64>()
        };
        // Several devices may each get a copy of everything, and the device may have done a part of an I/O that failed.
        let explained = counted.devices > 1 || segment.errors() > 0;
        (bytes_moved > 0).then(|| Self {
            name: &segment.workload.name,
            bytes_moved,
            device_bytes: device.iter().sum(),
            missing: difference(moved, device),
            extra: if explained { 0 } else { difference(device, moved) },
        })
    }
}

fn is_significant(difference: u64, bytes_moved: u64, share_min: f64) -> bool {
    difference >= BYTES_MIN && difference as f64 >= share_min * bytes_moved as f64
}

/// The answer about tests with a significant difference; if there are none, about all tests together.
fn answer(
    comparisons: &[CounterComparison<'_>],
    share_min: f64,
    difference: impl Fn(&CounterComparison<'_>) -> u64,
    answer: impl FnOnce(Share) -> Answer,
) -> Option<Answer> {
    let matters = |comparison: &&CounterComparison<'_>| {
        is_significant(difference(comparison), comparison.bytes_moved, share_min)
    };
    let mut differ: Vec<&CounterComparison<'_>> = comparisons.iter().filter(matters).collect();
    let bytes_moved: u64 = comparisons.iter().map(|comparison| comparison.bytes_moved).sum();
    let total: u64 = comparisons.iter().map(&difference).sum();
    if differ.is_empty() && !is_significant(total, bytes_moved, share_min) {
        return None;
    }
    if differ.is_empty() {
        // Many small differences add up, although none matters by itself.
        differ = comparisons.iter().filter(|comparison| difference(comparison) > 0).collect();
    }
    differ.sort_by_key(|comparison| std::cmp::Reverse(difference(comparison)));
    let share = differ.iter().map(|comparison| difference(comparison)).sum::<u64>() as f64
        / differ.iter().map(|comparison| comparison.bytes_moved).sum::<u64>() as f64;
    let answer = answer(Share(share)).with_evidence(wording::tests_differ(differ.len(), comparisons.len()));
    let sentence = |comparison: &CounterComparison<'_>| {
        wording::counts_of_test(comparison.name, Size(comparison.bytes_moved), Size(comparison.device_bytes))
    };
    Some(
        differ
            .iter()
            .take(NAMED_MAX)
            .fold(answer, |answer, comparison| answer.with_evidence(sentence(comparison))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::counters::Counters;
    use likenew_core::findings::Standing;
    use likenew_core::segment::{SegmentRecorder, Stop};
    use likenew_core::tally::Tally;
    use likenew_core::workload::{Access, Until, Workload};

    const MIB: u64 = 1 << 20;

    /// A segment that moved these MiB of reads and writes, and the MiB that the device counted.
    fn segment(bytes_moved: [u64; 2], device_bytes: [u64; 2]) -> Segment {
        let workload = Workload::new("w", Until::ops(1), Vec::new());
        let mut segment = SegmentRecorder::join(vec![SegmentRecorder::default()], &workload, Stop::Reached);
        for (op, mib) in [Op::Read, Op::Write].into_iter().zip(bytes_moved) {
            let mut tally = Tally::new(0, op);
            tally.bytes = mib * MIB;
            segment.tallies.push(tally);
        }
        let [bytes_read, bytes_written] = device_bytes.map(|mib| mib * MIB);
        segment.device_counters =
            Some(Counters { bytes_read, bytes_written, devices: 1, ..Counters::default() });
        segment
    }

    /// The ids of the answers, after checking that none is a problem of the drive.
    fn ids(segments: &[Segment]) -> Vec<String> {
        let answers = answers(segments);
        assert!(answers.iter().all(|answer| answer.standing == Standing::Unknown));
        answers.into_iter().map(|answer| answer.id).collect()
    }

    #[test]
    fn counts_that_agree_give_no_answer() {
        for (bytes_moved, counted) in [
            ([1000, 0], [1000, 0]),
            // Metadata of the file system.
            ([0, 1000], [3, 1015]),
            ([0, 1000], [90, 1009]),
            // Fewer than 5%, or fewer than 16 MiB, are missing.
            ([1000, 0], [951, 0]),
            ([15, 0], [0, 0]),
            ([0, 0], [500, 500]),
        ] {
            assert!(ids(&[segment(bytes_moved, counted)]).is_empty(), "{bytes_moved:?} {counted:?}");
        }
        assert!(ids(&[]).is_empty());
    }

    #[test]
    fn what_is_short_is_memory_and_what_is_more_is_somebody_else() {
        assert_eq!(ids(&[segment([1000, 0], [940, 0])]), ["device_bytes_missing"]);
        assert_eq!(ids(&[segment([0, 1000], [0, 0])]), ["device_bytes_missing"]);
        assert_eq!(ids(&[segment([100, 0], [100, 20])]), ["device_bytes_extra"]);
        assert_eq!(ids(&[segment([1000, 0], [1200, 0])]), ["device_bytes_extra"]);
        // Reads from memory while another program writes.
        assert_eq!(ids(&[segment([1000, 0], [0, 1000])]).len(), 2);
        // Each test misses too little to matter; all together do not.
        let many: Vec<Segment> = (0..10).map(|_| segment([8, 0], [0, 0])).collect();
        assert_eq!(ids(&many), ["device_bytes_missing"]);
        let evidence = &answers(&many)[0].evidence;
        assert!(evidence[0].contains("10 of 10") && evidence.len() == 1 + NAMED_MAX, "{evidence:?}");
    }

    #[test]
    fn what_has_a_reason_of_its_own_is_left_alone() {
        let mut buffered = segment([1000, 0], [0, 0]);
        buffered.workload.access = Access::Buffered;
        let mut unknown = segment([1000, 0], [0, 0]);
        unknown.device_counters = None;
        let mut mirrored = segment([0, 1000], [0, 2000]);
        mirrored.device_counters.as_mut().unwrap().devices = 2;
        let mut failed = segment([1000, 0], [2000, 0]);
        failed.tallies[0].errors = 1;
        assert!(ids(&[buffered, unknown, mirrored, failed]).is_empty());
    }
}
