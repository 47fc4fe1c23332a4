//! What a reader skipped or could not determine: nothing is skipped in silence.

/// Something about a trace as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The compressed data breaks off.
    CompressedEnd,
    /// The last line breaks off.
    LastLineCut,
    /// The last record of a file breaks off.
    LastRecordCut,
    /// The recorder did not write its last line.
    NoEndMark,
    /// No record has a time.
    NoTimes,
    /// The recorder calls a discard a read.
    DiscardsAsReads,
    /// The format's unit of time is a second.
    WholeSeconds,
}

/// Something that can occur on many lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Rows about commands that drivers send to a drive.
    Commands,
    /// Ends without a beginning.
    EndsAlone,
    /// I/Os that failed.
    Failures,
    /// The kernel's own marks of events that it dropped.
    LostEvents,
    /// Requests that have no range.
    NoBlocks,
    /// I/Os without the name of their disk.
    NoDisk,
    /// Events of other kinds.
    OtherEvents,
    /// Requeued I/Os without a beginning.
    RequeuedAlone,
    /// Records that do not say whether they read or wrote.
    Untyped,
    /// I/Os that do not end in the trace.
    WithoutEnd,
}

/// Notes about a trace that was read, in the order in which they arose.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    counts: Vec<(Counted, u64)>,
    /// The first names of events of other kinds.
    events: Vec<String>,
    notes: Vec<Note>,
}

impl Notes {
    /// Counts one more.
    pub(crate) fn count(&mut self, counted: Counted) {
        match self.counts.iter_mut().find(|(known, _)| *known == counted) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((counted, 1)),
        }
    }

    /// Counts an event of another kind.
    pub(crate) fn other_event(&mut self, name: &[u8]) {
        /// More names than this say no more of what was recorded.
        const NAMES_MAX: usize = 4;
        self.count(Counted::OtherEvents);
        let is_known = self.events.iter().any(|known| known.as_bytes() == name);
        if !is_known && self.events.len() < NAMES_MAX {
            self.events.push(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// The first names of events of other kinds.
    pub(crate) fn events(&self) -> &[String] {
        &self.events
    }

    pub(crate) fn add(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The notes about the trace as a whole.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What was counted, and how often it occurred.
    pub(crate) fn counts(&self) -> &[(Counted, u64)] {
        &self.counts
    }
}
