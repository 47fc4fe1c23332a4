//! When a file was last read and changed, to be restored.

use std::fmt;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Statx, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens};

/// Seconds and nanoseconds since 1970.
type Time = (i64, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) accessed: Time,
    pub(super) modified: Time,
}

impl Times {
    pub(super) fn from_stat(stat: &Statx) -> Self {
        let (accessed, modified) = (stat.stx_atime, stat.stx_mtime);
        Self { accessed: (accessed.tv_sec, accessed.tv_nsec), modified: (modified.tv_sec, modified.tv_nsec) }
    }

    /// Of the text that [`Times`] shows as.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (accessed, modified) = text.strip_prefix("accessed ")?.split_once(", modified ")?;
        let time = |text: &str| {
            let (secs, nanos) = text.split_once(' ')?;
            Some((secs.parse().ok()?, nanos.parse().ok().filter(|nanos| *nanos < 1_000_000_000)?))
        };
        Some(Self { accessed: time(accessed)?, modified: time(modified)? })
    }

    pub(super) fn modified(&self) -> SystemTime {
        let (seconds, nanos) = self.modified;
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let at = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
        at + Duration::from_nanos(nanos.into())
    }

    pub(super) fn put_back(&self, file: impl AsFd) -> rustix::io::Result<()> {
        let spec = |(secs, nanos): Time| Timespec { tv_sec: secs, tv_nsec: nanos.into() };
        let times = Timestamps { last_access: spec(self.accessed), last_modification: spec(self.modified) };
        futimens(file, &times)
    }
}

/// Sets the time of modification to the present, and leaves that of access.
pub(super) fn touch(file: impl AsFd) -> rustix::io::Result<()> {
    let leave = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    futimens(file, &Timestamps { last_access: leave, last_modification: now })
}

/// Reads times that were noted, and shows them again, for fuzzers.
pub(crate) fn fuzzed_times(text: &str) -> bool {
    let Some(times) = Times::parse(text) else { return false };
    assert_eq!(Times::parse(&times.to_string()), Some(times), "{times} reads back");
    let _ = times.modified();
    true
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accessed, modified } = self;
        write!(f, "accessed {} {}, modified {} {}", accessed.0, accessed.1, modified.0, modified.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_back_and_nonsense_is_not() {
        for (secs, nanos) in [(0, 0), (-1, 999_999_999), (1_700_000_000, 5)] {
            let times = Times { accessed: (secs, nanos), modified: (7, 8) };
            assert_eq!(Times::parse(&times.to_string()), Some(times));
        }
        for text in ["", "accessed 1 2", "accessed 1 2, modified 3", "accessed 1 1000000000, modified 1 1"] {
            assert_eq!(Times::parse(text), None, "{text}");
        }
    }
}
