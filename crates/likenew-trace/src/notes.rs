//! Collects what a reader skipped or could not determine, so that nothing is skipped in silence.

/// Something that concerns the whole trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The compressed data is cut off.
    CompressedEnd,
    /// The last line is cut off.
    LastLineCut,
    /// The last record of a file is cut off.
    LastRecordCut,
    /// The recorder did not write the end mark.
    NoEndMark,
    /// No record has a time.
    NoTimes,
    /// The recorder prints discards as reads.
    DiscardsAsReads,
    /// Times are in whole seconds.
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
    counts: Vec<(Counted, u64)>,
    /// The first names of events that are no I/O.
    events: Vec<String>,
    notes: Vec<Note>,
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

    /// The first names of events that are no I/O.
    pub(crate) fn events(&self) -> &[String] {
        &self.events
    }

    pub(crate) fn add(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Notes that concern the whole trace.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// How often each kind occurred.
    pub(crate) fn counts(&self) -> &[(Counted, u64)] {
        &self.counts
    }
}
