//! Decides which I/O leaves when: the streams of a workload, or a recording.

use likenew_core::io::{Io, Sample, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;

use crate::issuer::{Departure, Issuer, StreamCopy};

/// Leads a lane through a workload. The loop asks it what may leave, and reports what has left and what has
/// ended.
///
/// The loop is compiled for each source separately, so that none pays for what another needs.
pub(crate) trait IoSource {
    /// I/Os in flight at most.
    fn depth(&self) -> u32;

    /// Whether anything is due at a set time, so that it needs to know the time.
    fn is_timed(&self) -> bool;

    /// Something that may leave at `now`, as a number for [`IoSource::issue`]; none when everything that may has left.
    ///
    /// # Errors
    /// The lab failed.
    fn ready(&mut self, now: Nanos) -> Result<Option<usize>, LabError>;

    /// Adds the I/O that [`IoSource::ready`] has just named to the batch that it leaves with. It is made there: a processor that
    /// has just stored its fields waits before it can copy them.
    fn issue(&mut self, of: usize, slot: Slot, batch: &mut Vec<Io>) -> Departure;

    /// The batch has left.
    fn on_submit(&mut self, _at: Nanos) {}

    /// What [`IoSource::issue`] was called with has ended.
    fn on_end(&mut self, of: usize, sample: &Sample);

    /// When it has to be asked again even if nothing ends first.
    fn next_due(&self, now: Nanos) -> Nanos;

    /// Whether nothing more will leave.
    fn is_done(&self) -> bool {
        false
    }
}

/// The streams of a workload, side by side.
pub(crate) struct Streams {
    issuers: Vec<Issuer>,
    open_pace: bool,
    /// The one that is asked next.
    at: usize,
}

impl Streams {
    /// A lane's share of a workload.
    pub(crate) fn new(
        workload: &Workload,
        copies: &[StreamCopy],
        geometry: &Geometry,
        started_at: Nanos,
    ) -> Self {
        let issuers = Issuer::all(workload, copies, geometry, started_at);
        Self { open_pace: issuers.iter().any(Issuer::is_open), issuers, at: 0 }
    }
}

impl IoSource for Streams {
    fn depth(&self) -> u32 {
        self.issuers.iter().map(Issuer::depth).sum()
    }

    #[inline]
    fn is_timed(&self) -> bool {
        self.open_pace
    }

    #[inline]
    fn ready(&mut self, now: Nanos) -> Result<Option<usize>, LabError> {
        while self.at < self.issuers.len() {
            if self.issuers[self.at].ready(now) {
                return Ok(Some(self.at));
            }
            self.at += 1;
        }
        self.at = 0;
        Ok(None)
    }

    #[inline]
    fn issue(&mut self, of: usize, slot: Slot, batch: &mut Vec<Io>) -> Departure {
        self.issuers[of].issue(slot, batch)
    }

    #[inline]
    fn on_end(&mut self, of: usize, _: &Sample) {
        self.issuers[of].on_end();
    }

    fn next_due(&self, _: Nanos) -> Nanos {
        self.issuers.iter().map(Issuer::next_due).min().unwrap_or(Nanos::NEVER)
    }
}
