//! The status line of a recording.

use indicatif::{ProgressBar, ProgressStyle};
use likenew_core::lab_error::LabError;
use likenew_core::units::Nanos;
use likenew_real::tracefs::Recording;

use super::trace_file::TraceFile;
use super::wording;

/// Drawn on standard error, if that is a terminal.
pub(crate) struct Meter {
    line: ProgressBar,
    last_draw: Nanos,
    moved: u64,
}

/// Time between updates: asking the kernel for its losses costs a little. Chosen: a second is often enough.
const REFRESH: Nanos = Nanos::from_secs(1);

impl Meter {
    pub(crate) fn new() -> Self {
        let line = ProgressBar::new_spinner();
        line.set_style(
            ProgressStyle::with_template("{spinner} {elapsed}  {msg}").expect("the template is valid"),
        );
        Self { line, last_draw: Nanos::ZERO, moved: 0 }
    }

    /// Shows I/Os, speed since the last update, losses, and the size of the trace.
    pub(crate) fn show(
        &mut self,
        now: Nanos,
        recording: &Recording,
        files: &[TraceFile],
    ) -> Result<(), LabError> {
        let span = now.since(self.last_draw);
        if span < REFRESH || self.line.is_hidden() {
            return Ok(());
        }
        let counts = recording.counts()?;
        let moved: u64 = files.iter().map(TraceFile::bytes_moved).sum();
        let speed = (moved - self.moved) as f64 / span.as_secs_f64();
        let size: u64 = files.iter().map(TraceFile::bytes).sum();
        let (ios, lost) = (counts.ios.ios, counts.events_lost);
        let text = wording::meter(ios, speed, lost, size);
        self.line.set_message(text);
        self.line.tick();
        (self.last_draw, self.moved) = (now, moved);
        Ok(())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}
