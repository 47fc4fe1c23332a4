//! Rewrites data in place, in old files of a folder and on whole devices: connects the opened target with the
//! refresh session.

mod busy_pause;
mod device;
mod files;
mod timed_store;

use likenew_core::fix::{FixEnd, FixReport};
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_refresh::{End, InterruptedRefresh, JournalPaths, Outcome, RefreshError};

use crate::wording::refresh as wording;

pub(crate) use self::device::DeviceRefresh;
pub(crate) use self::files::{refresh_files, resume_and_report, rewrite_files};

/// Tries to get a lock: a process that is just being started may hold a copy of the lock of a run that has
/// ended.
const LOCK_TRIES: u32 = 20;
/// Time between those tries. Chosen: twenty of them take 0.2 s.
const LOCK_REST: Nanos = Nanos::from_millis(10);

/// Looks for an interrupted refresh.
fn find_interrupted_refresh(place: &JournalPaths) -> Result<Option<InterruptedRefresh>, RefreshError> {
    let clock = Monotonic::start();
    for _ in 1..LOCK_TRIES {
        match InterruptedRefresh::find(place) {
            Err(RefreshError::InUse(_)) => clock.rest(clock.now() + LOCK_REST),
            found => return found,
        }
    }
    InterruptedRefresh::find(place)
}

/// Prints where torn data is kept.
fn report_salvage(outcome: &Outcome) {
    if let Some(salvage) = &outcome.salvage {
        crate::standard_error::note(wording::salvage_kept(salvage));
    }
}

/// The outcome of a session, as evidence.
fn to_fix_report(outcome: &Outcome) -> FixReport {
    let Outcome { end, progress, journal, .. } = outcome;
    let left = progress.all_bytes - progress.done_bytes;
    let mut fix_report = FixReport {
        bytes: progress.done_bytes,
        bytes_written: progress.written_bytes,
        ..FixReport::default()
    };
    if progress.zero_bytes > 0 {
        fix_report.skip(progress.zero_bytes, wording::ZEROS);
    }
    match end {
        End::Complete => {}
        End::Stopped => {
            fix_report.end = FixEnd::Stopped;
            fix_report.skip(left, wording::STOPPED);
        }
        End::Wanted => fix_report.skip(left, wording::IN_USE),
        End::Failed(error) => {
            fix_report.end = FixEnd::Failed;
            fix_report.skip(left, wording::with_journal(error, journal.as_deref()));
        }
    }
    fix_report
}
