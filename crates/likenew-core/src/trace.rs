//! A trace: the I/Os of programs, in the order in which they left; how it is replayed, and what became of that.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::io::{DataClass, Op};
use crate::region::Region;
use crate::units::{Nanos, duration_text, size_text};
use crate::{serde_as_text, wording};

/// One I/O of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIo {
    /// When it left, since the first of its trace left.
    pub at: Nanos,
    /// What it did.
    pub op: Op,
    /// First byte of the range, on the drive that was recorded.
    pub offset: u64,
    /// Bytes; a discard can be longer than any read or write. Zero only for a flush.
    pub length: u64,
    /// How long it took there, where that is known.
    pub latency: Option<Nanos>,
    /// Its application: an index into [`TraceSource::applications`].
    pub application: u16,
}

/// I/Os of a trace, one after the other, in memory that does not grow with their number.
///
/// Times never go back.
pub trait TraceSource: Send {
    /// The next one, or none at the end.
    ///
    /// # Errors
    /// A sentence that names file, line and column, what is wrong there, and what was expected. Nothing
    /// follows an error.
    fn next_io(&mut self) -> Result<Option<TraceIo>, String>;

    /// Names of the applications met so far, by their index; the first is empty and stands for those that are
    /// not known.
    fn applications(&self) -> &[String];

    /// Bytes that the recorded drive can address, where the trace says so.
    fn capacity(&self) -> Option<u64> {
        None
    }
}

/// Takes the I/Os of a trace, in the order in which they left.
pub trait TraceSink {
    /// One more.
    ///
    /// # Errors
    /// It could not be kept.
    fn put(&mut self, io: &TraceIo, application: &str) -> std::io::Result<()>;
}

/// A recording, and how it is replayed. A workload has it in place of streams.
///
/// The recording is a separate file, which the caller opens; this identifies it, so that another file is
/// noticed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// Its file, as the user names it.
    pub trace: String,
    /// Its format, where the file does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Which of its volumes, where it holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Digest of its bytes.
    pub digest: String,
    /// When the I/Os leave.
    pub timing: ReplayTiming,
    /// I/Os in flight at most.
    pub depth: u32,
    /// Longer reads and writes are split, and count as one still.
    #[serde(with = "size_text")]
    pub length_max: u64,
    /// Addresses of the target that it may use.
    pub region: Region,
    /// Which of them stand for which of the recorded drive's.
    pub fit: Fit,
    /// Bytes of addresses of the recorded drive: what it held, or the end of what was touched.
    #[serde(with = "size_text")]
    pub extent: u64,
    /// Whether only reads are replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_only: bool,
    /// The data class of writes, which a recording does not contain.
    pub data: DataClass,
    /// Applications that are distinguished: the streams of its samples are 0 for all others, and 1, 2 … in
    /// this order.
    #[serde(default)]
    pub applications: Vec<String>,
    /// Totals of the recording, known before it is replayed.
    pub expected: TraceTotals,
}

impl ReplaySpec {
    /// Bytes of a part of the prepared addresses, which is written as a whole: one bit tracks each, 16 MiB in all.
    pub fn prepared_part(bytes: u64, block: u32) -> u64 {
        const PARTS_MAX: u64 = 1 << 27;
        bytes.div_ceil(PARTS_MAX).next_multiple_of(u64::from(block))
    }

    /// Most bytes that it writes, as each write is widened to whole blocks of the target, 4 KiB at each end; none where the recording
    /// has not been counted.
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
    /// I/Os among them that discard.
    pub trims: u64,
    /// How long the pace takes at least.
    #[serde(with = "duration_text")]
    pub elapsed: Nanos,
}

/// When the I/Os of a recording leave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ReplayTiming {
    /// Not the I/Os, but everything they touch: each block of it is written once, in order of addresses.
    Prepare,
    /// In their order, each as soon as fewer than `depth` are in flight. Latency counts from when it left.
    Fast,
    /// When they left in the recording, whatever the drive does; latency counts from then.
    Timed(ReplayClock),
    /// Once the I/Os that ended before them in the recording have ended in the replay, and as long after that
    /// as in the recording. Where no end is known (see [`ReplayClock::closed`]): as long after the one before
    /// them as in the recording, but not before it has ended.
    Dependent(ReplayClock),
}

/// How recorded time is mapped to the target's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayClock {
    /// Recorded time over the target's: 2 replays a day in half a day.
    pub speed: f64,
    /// Times in which nothing was in flight are cut to this.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub idle_max: Option<Nanos>,
    /// The recording has no end of any I/O, so each application is assumed to have done one after the other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl ReplayTiming {
    /// Whether I/Os leave at times that follow from the recording's.
    pub fn clock(&self) -> Option<&ReplayClock> {
        match self {
            Self::Timed(clock) | Self::Dependent(clock) => Some(clock),
            Self::Prepare | Self::Fast => None,
        }
    }
}

/// How addresses of the recorded drive become addresses of the target's region. Adjacent addresses always
/// stay adjacent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// Unchanged; addresses beyond the end of the region wrap around to its start.
    #[default]
    Modulo,
    /// In proportion: the middle stays in the middle. Each [`Fit::ZONE`] stays in one piece, so zones overlap
    /// where the region is smaller.
    Scale,
}

impl Fit {
    /// Bytes that a scaled replay keeps in one piece: longer than any sequential I/O, short beside a drive.
    pub const ZONE: u64 = 64 << 20;
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Modulo => "modulo",
            Self::Scale => "scale",
        })
    }
}

impl FromStr for Fit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "modulo" => Ok(Self::Modulo),
            "scale" => Ok(Self::Scale),
            other => Err(wording::not_a_fit(other)),
        }
    }
}

serde_as_text!(Fit);

impl ReplaySpec {
    /// At most this many applications are distinguished, as each takes memory for its latencies.
    pub const APPLICATIONS_MAX: usize = 32;
    /// I/Os are split into pieces that are no longer than this.
    pub const LENGTH_MAX: u64 = 16 << 20;

    /// Streams that its samples have.
    pub fn streams(&self) -> usize {
        1 + self.applications.len()
    }

    /// Whether it changes what the target holds.
    pub fn writes(&self) -> bool {
        self.timing == ReplayTiming::Prepare || !self.reads_only
    }
}

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
