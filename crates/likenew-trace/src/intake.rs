//! Receives the records of all formats' parsers, checks them and sorts them.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::applications::Applications;
use crate::error::{LineError, LineProblem};
use crate::notes::{Counted, Notes};
use crate::pairing::Pairing;
use crate::volumes::Volumes;
use crate::window::{WINDOW, Window};
use crate::wording::expected;

/// Limit of an address: 1 EiB. Chosen: no drive is larger.
const ADDRESS_MAX: u64 = 1 << 60;

/// Limit of a read's or write's length: 1 GiB. Chosen: no drive takes longer ones. A discard can be longer.
pub(crate) const LENGTH_MAX: u64 = 1 << 30;

/// Limit for the time between two consecutive records, and between the two ends of an I/O: 366 days. Chosen:
/// more than any recording has, so that a broken time is noticed.
pub(crate) const SPAN_MAX: Nanos = Nanos::from_secs(366 * 86_400);

/// Columns of a record's values in its line, for errors.
#[derive(Clone, Copy, Default)]
pub(crate) struct Columns {
    pub(crate) at: usize,
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) latency: usize,
}

/// Limit for the time from a trace's first record to its last: ten years. Chosen: recordings last days, and a
/// plan can express at most 292 years.
pub(crate) const TRACE_MAX: Nanos = Nanos::from_secs(3660 * 86_400);

/// Takes records in the order of the file.
pub(crate) struct Intake {
    pub(crate) applications: Applications,
    pub(crate) volumes: Volumes,
    pub(crate) notes: Notes,
    /// Bytes that the recorded drive can address, where the trace says so.
    pub(crate) capacity: Option<u64>,
    pairing: Pairing,
    window: Window,
    /// The time of the first record.
    first: Option<Nanos>,
    /// The time of the previous record.
    before: Option<Nanos>,
}

impl Intake {
    pub(crate) fn new(volumes: Volumes) -> Self {
        Self {
            applications: Applications::new(),
            volumes,
            notes: Notes::default(),
            capacity: None,
            pairing: Pairing::default(),
            window: Window::new(),
            first: None,
            before: None,
        }
    }

    /// One more record, `at` in the file's own time. Of a flush only the times count.
    #[inline]
    pub(crate) fn put(&mut self, io: TraceIo, columns: Columns) -> Result<(), LineError> {
        let io = self.validate(io, columns)?;
        self.keep(io)
    }

    /// One that leaves, and ends on a later line.
    pub(crate) fn issue(&mut self, io: TraceIo, columns: Columns) -> Result<(), LineError> {
        let io = self.validate(io, columns)?;
        self.pairing.issue(io);
        self.settle(false)
    }

    /// One that left on an earlier line ends.
    pub(crate) fn complete(&mut self, op: Op, offset: u64, length: u64, at: Nanos) -> Result<(), LineError> {
        if !self.pairing.complete(op, offset, length, at) {
            self.notes.count(Counted::EndsAlone);
        }
        self.settle(false)
    }

    /// One that left on an earlier line was not taken, and leaves again on a later one.
    pub(crate) fn requeue(&mut self, op: Op, offset: u64) -> Result<(), LineError> {
        if !self.pairing.requeue(op, offset) {
            self.notes.count(Counted::RequeuedAlone);
        }
        self.settle(false)
    }

    /// Nothing more leaves or ends.
    pub(crate) fn end(&mut self) -> Result<(), LineError> {
        self.settle(true)
    }

    /// Passes on what needs to wait for its end no longer.
    fn settle(&mut self, is_end: bool) -> Result<(), LineError> {
        while let Some(io) = self.pairing.pop(is_end) {
            if io.latency.is_none() {
                self.notes.count(Counted::WithoutEnd);
            }
            self.keep(io)?;
        }
        Ok(())
    }

    #[inline]
    fn keep(&mut self, io: TraceIo) -> Result<(), LineError> {
        if self.window.push(io) { Ok(()) } else { Err(too_late()) }
    }

    #[inline]
    fn validate(&mut self, mut io: TraceIo, columns: Columns) -> Result<TraceIo, LineError> {
        if io.op == Op::Flush {
            (io.offset, io.length) = (0, 0);
        } else {
            self.check_range(&io, columns)?;
        }
        self.check_times(&io, columns)?;
        Ok(io)
    }

    /// The next record in the order of time, once nothing earlier can follow.
    #[inline]
    pub(crate) fn pop(&mut self, is_end: bool) -> Option<TraceIo> {
        self.window.pop(is_end)
    }

    /// Passes on all that waits.
    pub(crate) fn clear(&mut self) {
        self.pairing = Pairing::default();
        self.window.clear();
    }

    /// Whether no record waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    fn check_range(&self, io: &TraceIo, columns: Columns) -> Result<(), LineError> {
        if io.length == 0 {
            return Err(LineError::at(columns.length, expected::LENGTH_ABOVE_ZERO));
        }
        if io.length > LENGTH_MAX && io.op != Op::Trim {
            return Err(LineError::at(columns.length, expected::LENGTH_WITHIN_LIMIT));
        }
        let capacity = self.capacity.unwrap_or(ADDRESS_MAX);
        match io.offset.checked_add(io.length) {
            Some(end) if end <= capacity => Ok(()),
            _ if self.capacity.is_none() => Err(LineError::at(columns.offset, expected::RANGE)),
            _ => Err(LineError::at(columns.offset, expected::range_on_drive(capacity))),
        }
    }

    fn check_times(&mut self, io: &TraceIo, columns: Columns) -> Result<(), LineError> {
        let before = self.before.replace(io.at).unwrap_or(io.at);
        if io.at.0.abs_diff(before.0) > SPAN_MAX.0 {
            return Err(LineError::at(columns.at, expected::TIME_NEAR_PREVIOUS));
        }
        if io.at.0.abs_diff(self.first.get_or_insert(io.at).0) > TRACE_MAX.0 {
            return Err(LineError::at(columns.at, expected::TIME_NEAR_FIRST));
        }
        if io.latency.is_some_and(|latency| latency > SPAN_MAX) {
            return Err(LineError::at(columns.latency, expected::LATENCY_BELOW_YEAR));
        }
        Ok(())
    }
}

#[cold]
fn too_late() -> LineError {
    LineError::Line(LineProblem::TooLate { lines: WINDOW })
}
