//! Lines for the operator of the server; a limited number, whatever clients do.

use likenew_core::units::Nanos;

use crate::wording;

/// Lines at once.
const BURST: u32 = 20;
/// One more is allowed after each of these.
const NOTE_INTERVAL: Nanos = Nanos::from_secs(1);

/// Lines that were not fetched so far.
pub(crate) struct Notes {
    lines: Vec<String>,
    remaining: u32,
    since: Nanos,
    skips: u64,
}

impl Notes {
    pub(crate) fn new(now: Nanos) -> Self {
        Self { lines: Vec::new(), remaining: BURST, since: now, skips: 0 }
    }

    /// Notes a line, or counts it as left out.
    pub(crate) fn add(&mut self, now: Nanos, line: String) {
        let earned = now.since(self.since).0 / NOTE_INTERVAL.0;
        self.since += Nanos(earned * NOTE_INTERVAL.0);
        self.remaining = BURST.min(self.remaining.saturating_add(u32::try_from(earned).unwrap_or(BURST)));
        if self.remaining == 0 {
            self.skips += 1;
            return;
        }
        self.remaining -= 1;
        if self.skips > 0 {
            self.lines.push(wording::notes_left_out(self.skips));
            self.skips = 0;
        }
        self.lines.push(line);
    }

    /// Returns the lines.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mut notes = Notes::new(Nanos::ZERO);
        (0..1000).for_each(|number| notes.add(Nanos(number), format!("{number}")));
        assert_eq!(notes.take().len(), BURST as usize);
        notes.add(Nanos::from_secs(3), "later".into());
        assert_eq!(notes.take(), ["980 more lines like the last ones were left out", "later"]);
    }
}
