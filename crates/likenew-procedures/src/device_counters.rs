//! Whether what was measured is what reached the device, said the same way of every procedure's evidence.
//!
//! A workload past the page cache moves as many bytes as the device counts. Fewer counts: something above the device has
//! answered. More: the device did something else meanwhile. `docs/method.md` gives the reasons for the limits.

use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::units::amount;
use likenew_core::verdict::{Standing, Verdict};

/// Less than this is within what a file system moves for its own books, and too little to matter.
const BYTES_LEAST: u64 = 16 << 20;
/// So is less than this share of what a workload has moved, where the device counted fewer …
const SHORT_LEAST: f64 = 0.05;
/// … and where it counted more.
const MORE_LEAST: f64 = 0.10;
/// More workloads than this are not named one by one.
const NAMED_MAX: usize = 3;

/// What the counts say, if they say that something is wrong.
pub(crate) fn verdicts(segments: &[Segment]) -> Vec<Verdict> {
    let accounts: Vec<CounterComparison<'_>> =
        segments.iter().filter_map(CounterComparison::from_segment).collect();
    [missing_io(&accounts), extra_io(&accounts)].into_iter().flatten().collect()
}

/// One workload: what it moved, and what was counted.
struct CounterComparison<'a> {
    name: &'a str,
    bytes_moved: u64,
    device_bytes: u64,
    /// Of what was moved, what was not counted, of reads and of writes.
    short: u64,
    /// Of what was counted, what was not moved.
    more: u64,
}

impl<'a> CounterComparison<'a> {
    /// None of a rest, of what was asked to come from memory, and where nobody counted.
    fn from_segment(segment: &'a Segment) -> Option<Self> {
        let counted = segment.device_counters.filter(|_| segment.workload.access.is_direct())?;
        let (moved_of, counted_of) =
            ([Op::Read, Op::Write].map(|op| segment.bytes(op)), [counted.bytes_read, counted.bytes_written]);
        let bytes_moved: u64 = moved_of.iter().sum();
        let difference = |from: [u64; 2], to: [u64; 2]| {
            from.iter().zip(to).map(|(from, to)| from.saturating_sub(to)).sum::<u64>()
        };
        // Several devices may each get a copy of everything; and of an I/O that failed, the device may have done a part.
        let explained = counted.devices > 1 || segment.errors() > 0;
        (bytes_moved > 0).then(|| Self {
            name: &segment.workload.name,
            bytes_moved,
            device_bytes: counted.bytes_read + counted.bytes_written,
            short: difference(moved_of, counted_of),
            more: if explained { 0 } else { difference(counted_of, moved_of) },
        })
    }

    fn sentence(&self) -> String {
        let (bytes_moved, counted) = (amount(self.bytes_moved), amount(self.device_bytes));
        format!("\"{}\" moved {bytes_moved}, and the device counted {counted}", self.name)
    }
}

fn is_significant(difference: u64, bytes_moved: u64, share: f64) -> bool {
    difference >= BYTES_LEAST && difference as f64 >= share * bytes_moved as f64
}

/// A verdict on the accounts whose difference matters, if that of any or of all together does.
fn verdict(
    accounts: &[CounterComparison<'_>],
    claim: &str,
    share: f64,
    difference: impl Fn(&CounterComparison<'_>) -> u64,
) -> Option<Verdict> {
    let mut odd: Vec<&CounterComparison<'_>> = accounts
        .iter()
        .filter(|account| is_significant(difference(account), account.bytes_moved, share))
        .collect();
    let bytes_moved: u64 = accounts.iter().map(|account| account.bytes_moved).sum();
    let all: u64 = accounts.iter().map(&difference).sum();
    if odd.is_empty() && !is_significant(all, bytes_moved, share) {
        return None;
    }
    if odd.is_empty() {
        // Many short ones, of which none says much by itself.
        odd = accounts.iter().filter(|account| difference(account) > 0).collect();
    }
    odd.sort_by_key(|account| std::cmp::Reverse(difference(account)));
    let verdict = Verdict::new(claim, Standing::Holds).with_evidence(format!(
        "this is so of {} of {} workloads",
        odd.len(),
        accounts.len()
    ));
    Some(
        odd.iter()
            .take(NAMED_MAX)
            .fold(verdict, |verdict, account| verdict.with_evidence(account.sentence())),
    )
}

fn missing_io(accounts: &[CounterComparison<'_>]) -> Option<Verdict> {
    let claim =
        "Part of what was measured did not come from the drive: less reached the device than was moved.";
    Some(verdict(accounts, claim, SHORT_LEAST, |account| account.short)?.caveat(
        "the rest was answered by memory above the device, was in holes of a file, or was made shorter by a file system that \
         compresses; likenew cache says how much of a number is memory",
    ))
}

fn extra_io(accounts: &[CounterComparison<'_>]) -> Option<Verdict> {
    let claim = "The device did more meanwhile than was measured, so that it had less time for that.";
    Some(verdict(accounts, claim, MORE_LEAST, |account| account.more)?.caveat(
        "other programs used it, or what was written before was still on its way, or the file system wrote more than it was \
         given",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::access::Access;
    use likenew_core::counters::Counters;
    use likenew_core::recorder::Stop;
    use likenew_core::segment::SegmentRecorder;
    use likenew_core::tally::Tally;
    use likenew_core::until::Until;
    use likenew_core::workload::Workload;

    const MIB: u64 = 1 << 20;

    /// A workload that has moved so many MiB by reads and by writes, of which so many were counted.
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

    fn claims(segments: &[Segment]) -> Vec<&'static str> {
        let words = ["did not come from the drive", "did more meanwhile"];
        let found = verdicts(segments);
        assert!(found.iter().all(|verdict| !verdict.problem && verdict.standing == Standing::Holds));
        words.into_iter().filter(|words| found.iter().any(|verdict| verdict.claim.contains(words))).collect()
    }

    #[test]
    fn what_agrees_is_not_spoken_of() {
        for (bytes_moved, counted) in [
            ([1000, 0], [1000, 0]),
            // Books of the file system.
            ([0, 1000], [3, 1015]),
            ([0, 1000], [90, 1009]),
            // Short by less than 5 %, or by little.
            ([1000, 0], [951, 0]),
            ([15, 0], [0, 0]),
            ([0, 0], [500, 500]),
        ] {
            assert!(claims(&[segment(bytes_moved, counted)]).is_empty(), "{bytes_moved:?} {counted:?}");
        }
        assert!(claims(&[]).is_empty());
    }

    #[test]
    fn what_is_short_is_memory_and_what_is_more_is_somebody_else() {
        assert_eq!(claims(&[segment([1000, 0], [940, 0])]), ["did not come from the drive"]);
        assert_eq!(claims(&[segment([0, 1000], [0, 0])]), ["did not come from the drive"]);
        assert_eq!(claims(&[segment([100, 0], [100, 20])]), ["did more meanwhile"]);
        assert_eq!(claims(&[segment([1000, 0], [1200, 0])]), ["did more meanwhile"]);
        // Reads from memory while another program writes.
        assert_eq!(claims(&[segment([1000, 0], [0, 1000])]).len(), 2);
        // Each is too short to say anything, and all together are not.
        let many: Vec<Segment> = (0..10).map(|_| segment([8, 0], [0, 0])).collect();
        assert_eq!(claims(&many), ["did not come from the drive"]);
        let sentence = &verdicts(&many)[0].evidence;
        assert!(sentence[0].contains("10 of 10") && sentence.len() == 1 + NAMED_MAX, "{sentence:?}");
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
        assert!(claims(&[buffered, unknown, mirrored, failed]).is_empty());
    }
}
