//! Traces: the I/Os of programs in the order in which they left, and how they are replayed.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::io::{DataClass, Op};
use crate::region::Region;
use crate::units::{Nanos, duration_text, size_text};
use crate::{serde_as_text, wording};

/// One I/O of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIo {
    /// When it left, since the trace's first I/O.
    pub at: Nanos,
    /// What it did.
    pub op: Op,
    /// First byte of the range on the recorded drive.
    pub offset: u64,
    /// Bytes; a discard can be longer than any read or write. Zero only for a flush.
    pub length: u64,
    /// How long it took in the recording, where known.
    pub latency: Option<Nanos>,
    /// Its application: an index into [`TraceSource::applications`].
    pub application: u16,
}

/// The I/Os of a trace one after the other, in memory that does not grow with their number.
///
/// Times never go back.
pub trait TraceSource: Send {
    /// The next I/O, or `None` at the end.
    ///
    /// # Errors
    /// A sentence that names file, line and column, what is wrong there, and what was expected. Nothing
    /// follows an error.
    fn next_io(&mut self) -> Result<Option<TraceIo>, String>;

    /// Names of the applications met so far, by index. The first name is empty and stands for unknown
    /// applications.
    fn applications(&self) -> &[String];

    /// Bytes that the recorded drive can address, where the trace says so.
    fn capacity(&self) -> Option<u64> {
        None
    }
}

/// Takes the I/Os of a trace, in the order in which they left.
pub trait TraceSink {
    /// Adds one I/O.
    ///
    /// # Errors
    /// The I/O could not be kept.
    fn put(&mut self, io: &TraceIo, application: &str) -> std::io::Result<()>;
}

/// A recording and how it is replayed, which a workload has in place of streams.
///
/// The recording is a separate file, which the caller opens. Its digest is kept here, so that another file is
/// noticed.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// Its file, as the user names it.
    pub trace: String,
    /// Its format, where the file does not show it.
    pub format: Option<String>,
    /// Which of its volumes, if it holds several.
    pub volume: Option<String>,
    /// Digest of the file's bytes.
    pub digest: String,
    /// When the I/Os leave.
    pub timing: ReplayTiming,
    /// Most I/Os in flight.
    pub depth: u32,
    /// Longer reads and writes are split, but still count as one.
    #[serde(with = "size_text")]
    pub length_max: u64,
    /// The target's addresses that the replay may use.
    pub region: Region,
    /// How the recorded drive's addresses map to these.
    pub fit: Fit,
    /// Bytes of addresses on the recorded drive: its capacity, or the end of what was touched.
    #[serde(with = "size_text")]
    pub extent: u64,
    /// Whether only reads are replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_only: bool,
    /// The data class of writes, which a recording does not contain.
    pub data: DataClass,
    /// Applications that are distinguished. Their samples have the streams 1, 2 … in this order; all others
    /// have stream 0.
    #[serde(default)]
    pub applications: Vec<String>,
    /// Totals of the recording, known before it is replayed.
    pub expected: TraceTotals,
}

impl ReplaySpec {
    /// Most applications that are distinguished, because each takes memory for its latencies.
    pub const APPLICATIONS_MAX: usize = 32;
    /// Longest piece into which I/Os are split, in bytes.
    pub const LENGTH_MAX: u64 = 16 << 20;

    /// How many streams its samples have.
    pub fn streams(&self) -> usize {
        1 + self.applications.len()
    }

    /// Whether it changes what the target holds.
    pub fn writes(&self) -> bool {
        self.timing == ReplayTiming::Prepare || !self.reads_only
    }

    /// Bytes of a part of the prepared addresses, which is written as a whole. One bit tracks each part, 16 MiB in all.
    pub fn prepared_part(bytes: u64, block: u32) -> u64 {
        const PARTS_MAX: u64 = 1 << 27;
        bytes.div_ceil(PARTS_MAX).next_multiple_of(u64::from(block))
    }

    /// Most bytes that the replay writes; `None` if the recording has not been counted. Each write is widened
    /// to whole blocks of the target, 4 KiB at each end.
    pub fn bytes_written_max(&self) -> Option<u64> {
        let TraceTotals { ios, written_bytes, .. } = self.expected;
        let widened = if self.timing == ReplayTiming::Prepare { 0 } else { ios.saturating_mul(2 * 4096) };
        match written_bytes {
            0 if ios > 0 => Some(0),
            written => (ios > 0).then_some(written.saturating_add(widened)),
        }
    }
}

/// Totals of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceTotals {
    /// I/Os that are replayed.
    pub ios: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Bytes that they write.
    pub written_bytes: u64,
    /// Discards among these I/Os.
    pub trims: u64,
    /// The least time that the pace takes.
    #[serde(with = "duration_text")]
    pub elapsed: Nanos,
}

/// When the I/Os of a recording leave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ReplayTiming {
    /// Instead of replaying I/Os, each block that they touch is written once, in order of addresses.
    Prepare,
    /// In order, each as soon as fewer than `depth` are in flight. Latency counts from departure.
    Fast,
    /// At their times in the recording, whatever the drive does. Latency counts from these times.
    Timed(ReplayClock),
    /// As long after the I/Os that ended before them as in the recording, once those have ended in the
    /// replay. Where no end is known (see [`ReplayClock::closed`]): as long after the previous I/O as in the
    /// recording, but not before that I/O has ended.
    Dependent(ReplayClock),
}

/// How recorded time is mapped to the target's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayClock {
    /// Recorded time over the target's: 2 replays a day in half a day.
    pub speed: f64,
    /// Times without I/O in flight are cut to this.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub idle_max: Option<Nanos>,
    /// Whether the recording has no ends, so that each application is assumed to do one I/O after the other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl ReplayTiming {
    /// The clock, if I/Os leave at times that follow from the recording.
    pub fn clock(&self) -> Option<&ReplayClock> {
        match self {
            Self::Timed(clock) | Self::Dependent(clock) => Some(clock),
            Self::Prepare | Self::Fast => None,
        }
    }
}

/// How addresses of the recorded drive become addresses of the target's region. Adjacent addresses always
/// stay adjacent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = wording::not_a_fit)]
pub enum Fit {
    /// Unchanged; addresses beyond the end of the region wrap around to its start.
    #[default]
    Modulo,
    /// In proportion: the middle stays in the middle. Each [`Fit::ZONE`] stays in one piece, so zones overlap
    /// if the region is smaller.
    Scale,
}

impl Fit {
    /// Bytes that a scaled replay keeps in one piece: longer than any sequential I/O, short beside a drive.
    pub const ZONE: u64 = 64 << 20;
}

serde_as_text!(Fit);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::ReplayPair;
    use crate::target::Clock;
    use crate::target::Geometry;
    use crate::workload::{Until, Workload};

    fn replay_spec() -> ReplaySpec {
        ReplaySpec {
            trace: "day.csv".into(),
            format: None,
            volume: None,
            digest: "d".into(),
            timing: ReplayTiming::Dependent(ReplayClock {
                speed: 1.0,
                idle_max: Some(Nanos::from_millis(100)),
                closed: false,
            }),
            depth: 64,
            length_max: 1 << 20,
            region: Region::WHOLE,
            fit: Fit::Modulo,
            extent: 1 << 40,
            reads_only: false,
            data: DataClass::Random,
            applications: vec!["make".into()],
            expected: TraceTotals { ios: 7, elapsed: Nanos::from_secs(3), ..TraceTotals::default() },
        }
    }

    fn workload(replay_spec: ReplaySpec) -> Workload {
        Workload {
            replay_spec: Some(Box::new(replay_spec)),
            ..Workload::new("day", Until::default(), Vec::new())
        }
    }

    const GEOMETRY: Geometry = Geometry {
        capacity: 1 << 30,
        block: 4096,
        boundary: None,
        writable: true,
        trims: true,
        carries_data: false,
        clock: Clock::Wall,
    };

    #[test]
    fn a_recorded_workload_ends_with_its_recording_and_reads_back() {
        for timing in [ReplayTiming::Prepare, ReplayTiming::Fast, replay_spec().timing] {
            let workload = workload(ReplaySpec { timing, ..replay_spec() });
            assert_eq!(workload.check(&GEOMETRY), Ok(()));
            assert_eq!((workload.stream_count(), workload.depth(), workload.length_max()), (2, 64, 1 << 20));
            let text = toml::to_string(&workload).unwrap();
            assert_eq!(toml::from_str::<Workload>(&text).unwrap(), workload, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let case = |change: &dyn Fn(&mut ReplaySpec), word: &str| {
            let mut replay_spec = replay_spec();
            change(&mut replay_spec);
            let error = workload(replay_spec).check(&GEOMETRY).unwrap_err();
            assert!(error.contains(word) && error.contains("\"day\""), "{error}");
        };
        let speed = |speed| ReplayTiming::Timed(ReplayClock { speed, idle_max: None, closed: false });
        case(&|r| r.timing = speed(0.0), "speed = 0");
        case(&|r| r.timing = speed(f64::NAN), "speed = NaN");
        case(&|r| r.depth = 0, "at least 1");
        case(&|r| r.depth = 5000, "in flight");
        case(&|r| r.length_max = 512, "not a multiple");
        case(&|r| r.length_max = 32 << 20, "not a multiple");
        case(&|r| r.region = "0..64KiB".parse().unwrap(), "holds no I/O");
        case(&|r| r.region = "0..2GiB".parse().unwrap(), "beyond");
        case(&|r| r.applications = vec![String::new(); 40], "told apart");
    }

    #[test]
    fn a_target_that_may_only_be_read_gets_reads_only() {
        let geometry = Geometry { writable: false, ..GEOMETRY };
        let reads = ReplaySpec { reads_only: true, ..replay_spec() };
        assert!(workload(replay_spec()).check(&geometry).unwrap_err().contains("reads only"));
        assert_eq!(workload(reads.clone()).check(&geometry), Ok(()));
        assert!(!workload(reads.clone()).writes());
        let prepares = ReplaySpec { timing: ReplayTiming::Prepare, ..reads };
        assert!(workload(prepares).check(&geometry).unwrap_err().contains("read-only"));
    }

    #[test]
    fn savings_are_shares_of_what_it_took() {
        let both = ReplayPair { replayed_ns: 25, recorded_ns: 100 };
        assert_eq!(both.saved_percent(), Some(75.0));
        assert_eq!(both.plus(both), ReplayPair { replayed_ns: 50, recorded_ns: 200 });
        assert_eq!(ReplayPair { replayed_ns: 200, recorded_ns: 100 }.saved_percent(), Some(-100.0));
        assert_eq!(ReplayPair { replayed_ns: 200, recorded_ns: 0 }.saved_percent(), None);
    }
}
