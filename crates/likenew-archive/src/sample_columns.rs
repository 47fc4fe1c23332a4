//! The columns of a file of samples, and how a sample is spread over them.
//!
//! `outcome` is [`Sample::signed_outcome`].

use likenew_core::io::{Op, Outcome, Sample};
use likenew_core::units::Nanos;

use crate::wording;

/// The schema in Parquet's own notation. Times and offsets are unsigned 64-bit integers.
pub(crate) const SCHEMA_TEXT: &str = "message sample {
    required int32 segment (INTEGER(32, false));
    required int32 stream (INTEGER(32, false));
    required byte_array op (STRING);
    required int64 outcome;
    required int64 offset (INTEGER(64, false));
    required int32 length (INTEGER(32, false));
    required int64 due_ns (INTEGER(64, false));
    required int64 sent_ns (INTEGER(64, false));
    required int64 done_ns (INTEGER(64, false));
}";

/// One I/O of one workload of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) segment: u32,
    pub(crate) sample: Sample,
}

/// The values of one row, in the order of the schema.
pub(crate) struct Values {
    pub(crate) segment: i32,
    pub(crate) stream: i32,
    pub(crate) op: Op,
    pub(crate) outcome: i64,
    pub(crate) offset: i64,
    pub(crate) length: i32,
    pub(crate) due_ns: i64,
    pub(crate) sent_ns: i64,
    pub(crate) done_ns: i64,
}

impl From<&Row> for Values {
    /// Unsigned values keep their bits; the schema says that they are unsigned.
    fn from(row: &Row) -> Self {
        let sample = &row.sample;
        Self {
            segment: row.segment as i32,
            stream: i32::from(sample.stream),
            op: sample.op,
            outcome: sample.signed_outcome(),
            offset: sample.offset as i64,
            length: sample.length as i32,
            due_ns: sample.due.0 as i64,
            sent_ns: sample.sent.0 as i64,
            done_ns: sample.done.0 as i64,
        }
    }
}

impl TryFrom<Values> for Row {
    type Error = String;

    fn try_from(values: Values) -> Result<Self, String> {
        let length = values.length as u32;
        let outcome = match values.outcome {
            bytes if bytes == i64::from(length) => Outcome::Done,
            0.. => Outcome::Short(u32::try_from(values.outcome).map_err(|_| wording::OUTCOME_TOO_LARGE)?),
            _ => Outcome::Error(
                i32::try_from(-i128::from(values.outcome)).map_err(|_| wording::ERRNO_IMPOSSIBLE)?,
            ),
        };
        Ok(Self {
            segment: values.segment as u32,
            sample: Sample {
                stream: u16::try_from(values.stream).map_err(|_| wording::STREAM_TOO_LARGE)?,
                op: values.op,
                outcome,
                length,
                offset: values.offset as u64,
                due: Nanos(values.due_ns as u64),
                sent: Nanos(values.sent_ns as u64),
                done: Nanos(values.done_ns as u64),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(row: Row) -> Row {
        Values::from(&row).try_into().unwrap()
    }

    fn sample(outcome: Outcome) -> Sample {
        let zero = Nanos::ZERO;
        Sample { stream: 0, op: Op::Flush, outcome, length: 0, offset: 0, due: zero, sent: zero, done: zero }
    }

    #[test]
    fn a_nonsensical_error_number_stays_an_error() {
        for errno in [0, -5, i32::MIN + 1] {
            let row = round_trip(Row { segment: 0, sample: sample(Outcome::Error(errno)) });
            assert!(matches!(row.sample.outcome, Outcome::Error(1..)));
        }
        assert_eq!(
            round_trip(Row { segment: 0, sample: sample(Outcome::Done) }).sample,
            sample(Outcome::Done)
        );
    }

    #[test]
    fn impossible_values_are_named() {
        let values = |outcome, stream| Values {
            outcome,
            stream,
            ..Values::from(&Row { segment: 0, sample: sample(Outcome::Done) })
        };
        assert!(Row::try_from(values(i64::MAX, 0)).is_err());
        assert!(Row::try_from(values(i64::MIN, 0)).is_err());
        assert!(Row::try_from(values(0, -1)).is_err());
    }

    proptest! {
        #[test]
        fn every_sample_reads_back(segment: u32, stream: u16, op in 0..4usize, kind in 0..3usize, part: u32, errno in 1..=i32::MAX, length in 1..=u32::MAX, times: [u64; 4]) {
            let outcome = [Outcome::Done, Outcome::Short(part % length), Outcome::Error(errno)][kind];
            let [offset, due, sent, done] = times;
            let sample = Sample { stream, op: Op::ALL[op], outcome, length, offset, due: Nanos(due), sent: Nanos(sent), done: Nanos(done) };
            prop_assert_eq!(round_trip(Row { segment, sample }), Row { segment, sample });
        }
    }
}
