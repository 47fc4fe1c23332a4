//! Collects what a reader skipped or could not determine, so that nothing is skipped in silence.

/// Something that concerns the whole trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Note {
    #[error("the compressed file is truncated; the complete part was read")]
    CompressedEnd,
    #[error("the last line is incomplete and was skipped")]
    LastLineCut,
    #[error("the last record of a file is incomplete and was skipped")]
    LastRecordCut,
    #[error("the trace has no end mark; its recording was cut short, and what is there was read")]
    NoEndMark,
    #[error("the trace has no times, so all its I/Os start at once")]
    NoTimes,
    #[error("this version of biosnoop prints discards as reads")]
    DiscardsAsReads,
    #[error("times are whole seconds, so I/Os of one second start at once")]
    WholeSeconds,
}

/// Something that may occur on many lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Rows about commands from drivers.
    Commands,
    /// Ends of I/Os without a start.
    EndsAlone,
    /// I/Os that failed.
    Failures,
    /// Marks of the kernel for dropped events.
    LostEvents,
    /// Requests without a range.
    NoBlocks,
    /// I/Os without the name of their disk.
    NoDisk,
    /// Events that are no I/O.
    OtherEvents,
    /// Requeued I/Os without a start.
    RequeuedAlone,
    /// Records that do not say whether they read or wrote.
    Untyped,
    /// I/Os without an end in the trace.
    WithoutEnd,
}

/// Notes about a trace, in the order in which they arose.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// How often each kind occurred.
    pub(crate) counts: Vec<(Counted, u64)>,
    /// The first names of events that are no I/O.
    pub(crate) events: Vec<String>,
    /// What concerns the whole trace.
    pub(crate) notes: Vec<Note>,
}

impl Notes {
    /// Counts one occurrence.
    pub(crate) fn count(&mut self, counted: Counted) {
        match self.counts.iter_mut().find(|(known, _)| *known == counted) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((counted, 1)),
        }
    }

    /// Counts an event that is no I/O.
    pub(crate) fn other_event(&mut self, name: &[u8]) {
        /// More names would not say more about the recording.
        const NAMES_MAX: usize = 4;
        self.count(Counted::OtherEvents);
        let is_known = self.events.iter().any(|known| known.as_bytes() == name);
        if !is_known && self.events.len() < NAMES_MAX {
            self.events.push(String::from_utf8_lossy(name).into_owned());
        }
    }

    pub(crate) fn add(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
