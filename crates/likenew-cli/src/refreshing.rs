//! What is there is written again where it is, in old files of a folder and on whole devices: what opens either joined with the session that loses nothing.

mod device;
mod files;

use likenew_core::cure::{CureEnd, Cured};
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_refresh::{End, Interrupted, JournalPlace, Outcome, RefreshError};

pub(crate) use self::device::DeviceRefresh;
pub(crate) use self::files::{refresh_files, resume_and_report};

/// A program that is about to be started holds a copy of the lock of a run that has just ended.
const LOCK_TRIES: u32 = 20;
const LOCK_REST: Nanos = Nanos::from_millis(10);

/// Looks for a refresh that was cut off.
fn find_interrupted(place: &JournalPlace) -> Result<Option<Interrupted>, RefreshError> {
    let clock = Monotonic::start();
    for _ in 1..LOCK_TRIES {
        match Interrupted::find(place) {
            Err(RefreshError::InUse(_)) => clock.rest(clock.now() + LOCK_REST),
            found => return found,
        }
    }
    Interrupted::find(place)
}

/// Says where what a cut had torn is kept.
fn report_salvage(outcome: &Outcome) {
    if let Some(salvage) = &outcome.salvage {
        anstream::eprintln!(
            "What the cut had torn is kept in {}; if nothing is amiss, remove that.",
            salvage.display()
        );
    }
}

/// What a session has come to, as evidence.
fn cured(outcome: &Outcome) -> Cured {
    let Outcome { end, progress, journal, .. } = outcome;
    let left = progress.all_bytes - progress.done_bytes;
    let mut cured =
        Cured { bytes: progress.done_bytes, bytes_written: progress.written_bytes, ..Cured::default() };
    if progress.zero_bytes > 0 {
        cured.leave(progress.zero_bytes, "they are zeros");
    }
    match end {
        End::Complete => {}
        End::Stopped => {
            cured.end = CureEnd::Stopped;
            cured.leave(left, "it was stopped before");
        }
        End::Wanted => cured.leave(left, "another program wanted to use it"),
        End::Failed(error) => {
            cured.end = CureEnd::Failed;
            let journal = journal
                .as_ref()
                .map_or(String::new(), |path| format!(" (the journal is {})", path.display()));
            cured.leave(left, format!("{error}{journal}"));
        }
    }
    cured
}
