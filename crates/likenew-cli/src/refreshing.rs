//! What is there is written again where it is, in old files of a folder and on whole devices: what opens either joined with the session that loses nothing.

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

/// A program that is about to be started holds a copy of the lock of a run that has just ended.
const LOCK_TRIES: u32 = 20;
const LOCK_REST: Nanos = Nanos::from_millis(10);

/// Looks for a refresh that was cut off.
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

/// Says where what a cut had torn is kept.
fn report_salvage(outcome: &Outcome) {
    if let Some(salvage) = &outcome.salvage {
        anstream::eprintln!("{}", wording::salvage_kept(salvage));
    }
}

/// What a session has come to, as evidence.
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
