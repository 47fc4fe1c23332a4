//! Why a workload measured nothing: its I/Os were refused, or none of them ended.

use std::fmt;

use crate::io::{Op, Outcome, Sample};
use crate::quantity::{Offset, Size};
use crate::segment::{Segment, Stop};
use crate::tally::Tally;
use crate::target_error::system_reason_of;
use crate::units::Nanos;
use crate::wording;

/// Why a workload says nothing about a drive's speed. [`Segment::measurement_error`] alone decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasurementError {
    /// Most I/Os of an operation failed, or the workload stopped after an error.
    #[error("{failures} of {ios} {op}s failed{}", first_failure(first.as_ref()))]
    Refused {
        /// The operation.
        op: Op,
        /// I/Os of this operation that failed.
        failures: u64,
        /// All I/Os of this operation.
        ios: u64,
        /// The first failed I/O; absent if none was kept.
        first: Option<RefusedIo>,
    },
    /// A job of another program failed with this system error; which I/O failed is unknown.
    #[error("the job failed: {}", job_reason(*errno))]
    JobFailed {
        /// The operating system's error number.
        errno: i32,
    },
    /// No I/O ended.
    #[error("no I/O ended")]
    NothingEnded,
}

/// An I/O that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedIo {
    /// The operation.
    pub op: Op,
    /// Its address, in bytes.
    pub offset: u64,
    /// Its length in bytes; absent if only [`Stop::Failed`] tells of it.
    pub length: Option<u32>,
    /// How it ended: short, or the system's error.
    pub outcome: Outcome,
}

impl From<&Sample> for RefusedIo {
    fn from(sample: &Sample) -> Self {
        let Sample { op, offset, length, outcome, .. } = *sample;
        Self { op, offset, length: Some(length), outcome }
    }
}

impl fmt::Display for RefusedIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}", self.op)?;
        if let Some(length) = self.length {
            write!(f, " of {}", Size(length.into()))?;
        }
        write!(f, " at offset {}: {}", Offset(self.offset), self.reason())
    }
}

impl RefusedIo {
    /// How it ended, without its address: `Input/output error`, `512 bytes were moved`.
    pub fn reason(&self) -> String {
        match self.outcome {
            Outcome::Error(errno) => system_reason_of(errno),
            Outcome::Short(bytes) => wording::short_io(bytes),
            Outcome::Done => "it succeeded".into(),
        }
    }
}

impl MeasurementError {
    /// The error without its address: `No space left on device`.
    pub fn reason(&self) -> String {
        match self {
            Self::Refused { first: Some(RefusedIo { outcome: Outcome::Error(errno), .. }), .. } => {
                system_reason_of(*errno)
            }
            Self::JobFailed { errno } => job_reason(*errno),
            Self::Refused { first: Some(RefusedIo { outcome: Outcome::Short(bytes), .. }), .. } => {
                wording::only_short_io(*bytes)
            }
            Self::Refused { .. } => wording::IO_NOT_RECORDED.into(),
            Self::NothingEnded => "no I/O ended".into(),
        }
    }
}

/// `EILSEQ`: fio ends a job with it when verify finds other data than was written.
pub const DATA_DIFFERS: i32 = 84;

/// The meaning of the error number in [`Stop::JobFailed`].
pub fn job_reason(errno: i32) -> String {
    match errno {
        DATA_DIFFERS => wording::DATA_DIFFERS.into(),
        0.. => system_reason_of(errno),
        _ => wording::error_of_other_system(errno.unsigned_abs()),
    }
}

/// The clause about the first failed I/O, where it is known.
fn first_failure(first: Option<&RefusedIo>) -> String {
    first.map(|first| format!(", the first {first}")).unwrap_or_default()
}

impl Segment {
    /// Why it measured nothing, if so: it stopped after an error, most I/Os of an operation failed, or none
    /// ended. A rest has nothing to measure, and nothing can fail in a dry run.
    pub fn measurement_error(&self) -> Option<MeasurementError> {
        // Counts alone decide, so that a request for a rate does not sum up latencies.
        let counts = |op: Op| {
            let own = self.tallies.iter().filter(|tally| tally.op == op);
            own.fold((0, 0), |(failures, ios), tally| {
                (failures + tally.errors + tally.short, ios + tally.ios)
            })
        };
        let refused = |op: Op, stopped: Option<RefusedIo>| {
            let (failures, ios) = counts(op);
            let failures = failures.max(u64::from(stopped.is_some()));
            let kept = self.refused_ios.iter().find(|sample| sample.op == op).map(RefusedIo::from);
            MeasurementError::Refused { op, failures, ios: ios.max(failures), first: kept.or(stopped) }
        };
        if let Stop::Failed { op, offset, errno } = self.stop {
            let stopped = RefusedIo { op, offset, length: None, outcome: Outcome::Error(errno) };
            return Some(refused(op, Some(stopped)));
        }
        if let Stop::JobFailed { errno } = self.stop {
            return Some(MeasurementError::JobFailed { errno });
        }
        let mostly_failed = |op: &Op| {
            let (failures, ios) = counts(*op);
            2 * failures > ios
        };
        if let Some(op) = Op::ALL.into_iter().find(mostly_failed) {
            return Some(refused(op, None));
        }
        let replay_record = self.replay_record.as_ref().is_some_and(|replay_record| replay_record.ios > 0);
        let ended = replay_record || self.tallies.iter().any(|tally| tally.ios > 0);
        (!ended && !self.workload.is_rest()).then_some(MeasurementError::NothingEnded)
    }

    /// Bytes a second over the whole workload; `None` if it measured nothing.
    pub fn bytes_per_s(&self) -> Option<f64> {
        let bytes: u64 = self.tallies.iter().map(|tally| tally.bytes).sum();
        self.rate(bytes, self.elapsed())
    }

    /// IOPS over the whole workload, without failed I/Os; `None` if it measured nothing. Flushes count if
    /// there is nothing else.
    pub fn iops(&self) -> Option<f64> {
        let flushes = self.total_of(Op::Flush).done_ios();
        let done = self.tallies.iter().map(Tally::done_ios).sum::<u64>();
        self.rate(if done > flushes { done - flushes } else { flushes }, self.elapsed())
    }

    /// Bytes a second over the time with at least one I/O in flight, or over the whole time if busy time was
    /// not recorded. `None` if the workload measured nothing.
    pub fn busy_bytes_per_s(&self) -> Option<f64> {
        let bytes: u64 = self.tallies.iter().map(|tally| tally.bytes).sum();
        self.rate(bytes, if self.busy == Nanos::ZERO { self.elapsed() } else { self.busy })
    }

    fn rate(&self, count: u64, span: Nanos) -> Option<f64> {
        let is_known = count > 0 && span > Nanos::ZERO && self.measurement_error().is_none();
        is_known.then(|| count as f64 / span.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Recorder as _;
    use crate::segment::SegmentRecorder;
    use crate::workload::Until;
    use crate::workload::Workload;

    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;

    /// A segment of 4 KiB reads with these outcomes, one a microsecond.
    fn segment(outcomes: &[Outcome]) -> Segment {
        let stream = "op = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.closed.depth = 1";
        let workload = Workload::new("reads", Until::ops(1), vec![toml::from_str(stream).unwrap()]);
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&workload, Nanos::ZERO);
        let mut stop = Stop::Reached;
        for (index, outcome) in outcomes.iter().enumerate() {
            let (due, done) = (Nanos(1000 * index as u64), Nanos(1000 * (index as u64 + 1)));
            let offset = 4096 * index as u64;
            let sample = Sample {
                stream: 0,
                op: Op::Read,
                outcome: *outcome,
                length: 4096,
                offset,
                due,
                sent: due,
                done,
            };
            if let std::ops::ControlFlow::Break(end) = recorder.record(&[sample]) {
                stop = end;
            }
            recorder.end(done);
        }
        SegmentRecorder::join(vec![recorder], &workload, stop)
    }

    #[test]
    fn what_mostly_failed_has_no_rate() {
        let (done, error) = (Outcome::Done, Outcome::Error(EIO));
        let fine = segment(&[done, error, done, done]);
        assert_eq!((fine.measurement_error(), fine.iops()), (None, Some(3.0 / 4e-6)));
        let short = segment(&[done, Outcome::Short(512), error, done, done]);
        assert_eq!((short.measurement_error(), short.iops()), (None, Some(3.0 / 5e-6)));
        assert_eq!(fine.bytes_per_s(), Some(3.0 * 4096.0 / 4e-6));
        let bad = segment(&[done, error, error, error]);
        assert_eq!((bad.bytes_per_s(), bad.iops(), bad.busy_bytes_per_s()), (None, None, None));
        let text = bad.measurement_error().unwrap().to_string();
        assert!(
            text.starts_with("3 of 4 reads failed, the first a read of 4 KiB at offset 4 KiB: "),
            "{text}"
        );
        assert!(text.ends_with("Input/output error"), "{text}");
    }

    #[test]
    fn flushes_are_no_ios_beside_others() {
        let mut both = segment(&[Outcome::Done; 4]);
        let flushes = Tally { ios: 3, ..Tally::new(0, Op::Flush) };
        both.tallies.push(flushes.clone());
        assert_eq!(both.iops(), Some(1e6));
        both.tallies = vec![flushes];
        assert_eq!(both.iops(), Some(3.0 / 4e-6));
    }

    #[test]
    fn what_was_given_up_has_no_rate_however_much_it_moved() {
        let mut outcomes = vec![Outcome::Done; 50];
        outcomes.push(Outcome::Error(ENOSPC));
        let full = segment(&outcomes);
        assert_eq!(full.bytes_per_s(), None);
        let text = full.measurement_error().unwrap().to_string();
        assert!(
            text.starts_with("1 of 51 reads failed, the first a read of 4 KiB at offset 200 KiB"),
            "{text}"
        );
    }

    #[test]
    fn where_no_io_ended_there_is_no_rate_and_a_rest_lacks_none() {
        let none = segment(&[]);
        assert_eq!((none.measurement_error(), none.iops()), (Some(MeasurementError::NothingEnded), None));
        let rest = Workload::rest(Nanos::from_secs(1));
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&rest, Nanos::ZERO);
        recorder.end(Nanos::from_secs(1));
        let rest = SegmentRecorder::join(vec![recorder], &rest, Stop::Reached);
        assert_eq!((rest.measurement_error(), rest.bytes_per_s()), (None, None));
    }
}
