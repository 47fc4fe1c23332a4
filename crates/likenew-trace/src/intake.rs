//! Checks and sorts the records of every format's parser.

use std::collections::VecDeque;

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;
use rustc_hash::FxHashMap;

use super::error::{LineError, LineProblem};
use super::lines::Value;
use super::notes::{Counted, Notes};
use super::pairing::Pairing;
use super::wording::expected;

/// Highest address: 1 EiB. Chosen: no drive is larger.
const ADDRESS_MAX: u64 = 1 << 60;

/// Longest read or write: 1 GiB. Chosen: no drive takes longer ones. Discards may be longer.
pub(crate) const LENGTH_MAX: u64 = 1 << 30;

/// Longest time between two consecutive records, and longest latency: 366 days. Chosen: more than any recording has, so
/// that a damaged time is noticed.
pub(crate) const SPAN_MAX: Nanos = Nanos::from_secs(366 * 86_400);

/// What a line says about an I/O. The columns of its values are for error messages.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// The start, in the file's own time.
    pub(crate) at: Value,
    pub(crate) op: Op,
    pub(crate) offset: Value,
    pub(crate) length: Value,
    pub(crate) latency: Option<Value>,
}

/// Longest time from a trace's first record to its last: ten years. Chosen: recordings last days, and a plan can
/// express at most 292 years.
pub(crate) const TRACE_MAX: Nanos = Nanos::from_secs(3660 * 86_400);

/// Takes records in the order of the file and returns them in the order of time.
pub(crate) struct Intake {
    pub(crate) applications: Applications,
    pub(crate) volumes: Volumes,
    pub(crate) notes: Notes,
    /// Bytes that the recorded drive can address, if known.
    pub(crate) capacity: Option<u64>,
    pairing: Pairing,
    pub(crate) window: Window,
    /// The time of the first record, in nanoseconds.
    first: Option<u64>,
    /// The time of the previous record.
    before: Option<u64>,
}

impl Intake {
    /// Takes records of these volumes. A record may be late by `lateness` records.
    pub(crate) fn new(volumes: Volumes, lateness: usize) -> Self {
        Self {
            applications: Applications::new(),
            volumes,
            notes: Notes::default(),
            capacity: None,
            pairing: Pairing::default(),
            window: Window::new(lateness),
            first: None,
            before: None,
        }
    }

    /// Takes a complete record. A flush has no range.
    #[inline]
    pub(crate) fn put(&mut self, row: Row, application: u16) -> Result<(), LineError> {
        let io = self.validate(row, application)?;
        self.keep(io)
    }

    /// Takes a record of an unknown application, if its volume is selected.
    #[inline]
    pub(crate) fn put_of(&mut self, volume: &[u8], row: Row) -> Result<(), LineError> {
        if self.volumes.selects(volume)? { self.put(row, 0) } else { Ok(()) }
    }

    /// Takes an I/O whose end is on a later line.
    pub(crate) fn issue(&mut self, row: Row, application: u16) -> Result<(), LineError> {
        let io = self.validate(row, application)?;
        self.pairing.issue(io);
        self.settle(false)
    }

    /// Takes the end of an I/O from an earlier line.
    pub(crate) fn complete(&mut self, op: Op, offset: u64, length: u64, at: Nanos) -> Result<(), LineError> {
        if !self.pairing.complete(op, offset, length, at) {
            self.notes.count(Counted::EndsAlone);
        }
        self.settle(false)
    }

    /// Takes back an I/O from an earlier line that will be issued again.
    pub(crate) fn requeue(&mut self, op: Op, offset: u64) -> Result<(), LineError> {
        if !self.pairing.requeue(op, offset) {
            self.notes.count(Counted::RequeuedAlone);
        }
        self.settle(false)
    }

    /// Ends the input: I/Os in flight get no latency.
    pub(crate) fn end(&mut self) -> Result<(), LineError> {
        self.settle(true)
    }

    /// Passes on I/Os that need not wait for their end any more.
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
        if self.window.push(io) { Ok(()) } else { Err(too_late(self.window.lateness)) }
    }

    #[inline]
    fn validate(&mut self, row: Row, application: u16) -> Result<TraceIo, LineError> {
        let (mut offset, mut length) = (row.offset.number, row.length.number);
        if row.op == Op::Flush {
            (offset, length) = (0, 0);
        } else {
            self.check_range(row)?;
        }
        self.check_times(row)?;
        let latency = row.latency.map(|latency| Nanos(latency.number));
        Ok(TraceIo { at: Nanos(row.at.number), op: row.op, offset, length, latency, application })
    }

    /// Drops all waiting records.
    pub(crate) fn clear(&mut self) {
        self.pairing = Pairing::default();
        self.window.pending.clear();
    }

    fn check_range(&self, Row { op, offset, length, .. }: Row) -> Result<(), LineError> {
        if length.number == 0 {
            return Err(LineError::at(length.column, expected::LENGTH_ABOVE_ZERO));
        }
        if length.number > LENGTH_MAX && op != Op::Trim {
            return Err(LineError::at(length.column, expected::LENGTH_WITHIN_LIMIT));
        }
        let capacity = self.capacity.unwrap_or(ADDRESS_MAX);
        match offset.number.checked_add(length.number) {
            Some(end) if end <= capacity => Ok(()),
            _ if self.capacity.is_none() => Err(LineError::at(offset.column, expected::RANGE)),
            _ => Err(LineError::at(offset.column, expected::range_on_drive(capacity))),
        }
    }

    fn check_times(&mut self, Row { at, latency, .. }: Row) -> Result<(), LineError> {
        let before = self.before.replace(at.number).unwrap_or(at.number);
        if at.number.abs_diff(before) > SPAN_MAX.0 {
            return Err(LineError::at(at.column, expected::TIME_NEAR_PREVIOUS));
        }
        if at.number.abs_diff(*self.first.get_or_insert(at.number)) > TRACE_MAX.0 {
            return Err(LineError::at(at.column, expected::TIME_NEAR_FIRST));
        }
        match latency.filter(|latency| latency.number > SPAN_MAX.0) {
            Some(latency) => Err(LineError::at(latency.column, expected::LATENCY_BELOW_YEAR)),
            None => Ok(()),
        }
    }
}

#[cold]
fn too_late(lines: usize) -> LineError {
    LineError::Line(LineProblem::TooLate { lines })
}

/// How late a record may be, in records, in files that are ordered by the start of I/Os.
pub(crate) const LATENESS: usize = 4096;

/// Sorts records by time: holds the latest ones until no earlier one can follow.
pub(crate) struct Window {
    /// Ordered by time; records with equal times keep their order of arrival.
    pending: VecDeque<TraceIo>,
    lateness: usize,
    emitted_until: Nanos,
}

impl Window {
    pub(crate) fn new(lateness: usize) -> Self {
        Self { pending: VecDeque::with_capacity(LATENESS + 1), lateness, emitted_until: Nanos::ZERO }
    }

    /// Takes a record; `false` if a later one was already passed on.
    #[must_use]
    pub(crate) fn push(&mut self, io: TraceIo) -> bool {
        match self.pending.back() {
            Some(last) if io.at < last.at => {
                if io.at < self.emitted_until {
                    return false;
                }
                let place = self.pending.partition_point(|pending| pending.at <= io.at);
                self.pending.insert(place, io);
            }
            None if io.at < self.emitted_until => return false,
            _ => self.pending.push_back(io),
        }
        true
    }

    /// The earliest record, once enough others wait behind it or the input has ended.
    #[inline]
    pub(crate) fn pop(&mut self, is_end: bool) -> Option<TraceIo> {
        if self.pending.len() <= self.lateness && !is_end {
            return None;
        }
        let io = self.pending.pop_front()?;
        self.emitted_until = io.at;
        Some(io)
    }

    /// Whether no record waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// Most names that are kept apart. Programs that put a number into each name must not fill the memory.
const NAMES_MAX: usize = 4096;

/// Bytes of a name; longer ones are cut.
const APPLICATION_NAME_MAX: usize = 255;

/// All names after the first [`NAMES_MAX`].
const FURTHER: &str = "(further)";

/// Names of applications by index; the first one is empty.
pub(crate) struct Applications {
    pub(crate) names: Vec<String>,
    indices: FxHashMap<Box<[u8]>, u16>,
    latest: u16,
}

impl Applications {
    pub(crate) fn new() -> Self {
        Self { names: vec![String::new()], indices: FxHashMap::default(), latest: 0 }
    }

    /// The index of a name, which becomes known if it is new.
    #[inline]
    pub(crate) fn index(&mut self, name: &[u8]) -> u16 {
        let name = &name[..name.len().min(APPLICATION_NAME_MAX)];
        // Most records come from the same program as the one before.
        if self.names[usize::from(self.latest)].as_bytes() == name {
            return self.latest;
        }
        let index = match self.indices.get(name) {
            Some(index) => *index,
            None if name.is_empty() => 0,
            None => self.new_index(name),
        };
        self.latest = index;
        index
    }

    fn new_index(&mut self, name: &[u8]) -> u16 {
        if self.names.len() > NAMES_MAX {
            return NAMES_MAX as u16 + 1;
        }
        self.names.push(String::from_utf8_lossy(name).into_owned());
        let index = (self.names.len() - 1) as u16;
        self.indices.insert(name.into(), index);
        if self.names.len() > NAMES_MAX {
            self.names.push(FURTHER.to_owned());
        }
        index
    }
}

/// Bytes of a volume's name that are compared.
const VOLUME_NAME_MAX: usize = 1024;

/// Most volumes that are counted.
const VOLUMES_MAX: usize = 10_000;

/// Most volumes that an error names.
const LISTED_VOLUMES_MAX: usize = 12;

/// The byte between the two parts of a volume's name, in the file and for users.
#[derive(Clone, Copy)]
pub(crate) struct Separators {
    pub(crate) file: u8,
    pub(crate) display_name: u8,
}

impl Separators {
    /// The file spells names as users do.
    pub(crate) const PLAIN: Self = Self { file: b',', display_name: b',' };
}

/// Selects the records of one volume.
pub(crate) struct Volumes {
    spelling: Separators,
    /// The requested volume, or else that of the first record, as the file spells it.
    selection: Option<Box<[u8]>>,
    is_selected: bool,
    /// Records of the volume so far.
    read: u64,
    /// Whether records are only counted, for a list of volumes.
    counting: bool,
    census: FxHashMap<Box<[u8]>, u64>,
}

impl Volumes {
    pub(crate) fn new(is_selected: Option<&str>, spelling: Separators) -> Self {
        let selection = is_selected
            .map(|name| swap_separators(name.as_bytes(), spelling.display_name, spelling.file).into());
        let is_selected = is_selected.is_some();
        Self { spelling, selection, is_selected, read: 0, counting: false, census: FxHashMap::default() }
    }

    /// Whether a record of this volume is selected. Also counts the record.
    #[inline]
    pub(crate) fn selects(&mut self, name: &[u8]) -> Result<bool, LineError> {
        if self.is_chosen(name) {
            self.read += 1;
            return Ok(true);
        }
        self.skip_other(name)
    }

    /// Whether this volume is the selected one.
    #[inline]
    pub(crate) fn is_chosen(&self, name: &[u8]) -> bool {
        !self.counting && self.selection.as_deref() == Some(name)
    }

    fn skip_other(&mut self, name: &[u8]) -> Result<bool, LineError> {
        let name = &name[..name.len().min(VOLUME_NAME_MAX)];
        if self.selection.is_none() {
            self.selection = Some(name.into());
            self.read = 1;
            return Ok(true);
        }
        if !self.is_selected && !self.counting {
            return Err(LineError::AnotherVolume);
        }
        // Other volumes only matter for an error, if the selected one is never found.
        if self.counting || self.read == 0 {
            if let Some(count) = self.census.get_mut(name) {
                *count += 1;
            } else if self.census.len() < VOLUMES_MAX {
                self.census.insert(name.into(), 1);
            }
        }
        Ok(false)
    }

    /// Counts records by volume from now on, and selects none.
    pub(crate) fn begin_census(&mut self) {
        self.counting = true;
        if let Some(first) = self.selection.clone() {
            *self.census.entry(first).or_default() += self.read;
        }
    }

    /// The selected volume, as users spell it.
    pub(crate) fn selection(&self) -> Option<String> {
        self.selection
            .as_ref()
            .filter(|name| self.read > 0 && !name.is_empty())
            .map(|name| self.display_name(name))
    }

    /// The requested volume, if no record has it.
    pub(crate) fn missing(&self) -> Option<String> {
        self.selection
            .as_ref()
            .filter(|_| self.is_selected && self.read == 0)
            .map(|name| self.display_name(name))
    }

    /// The counted volumes with the most records, and the number of others.
    pub(crate) fn volume_list(&self) -> String {
        let mut volumes: Vec<(&[u8], u64)> =
            self.census.iter().map(|(name, count)| (&**name, *count)).collect();
        volumes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let named = volumes.iter().take(LISTED_VOLUMES_MAX);
        let named: Vec<String> =
            named.map(|(name, count)| format!("{} ({count})", self.display_name(name))).collect();
        let more = volumes.len().saturating_sub(LISTED_VOLUMES_MAX);
        let at_least = if volumes.len() == VOLUMES_MAX { "at least " } else { "" };
        match more {
            0 => named.join(", "),
            _ => format!("{} and {at_least}{more} more", named.join(", ")),
        }
    }

    fn display_name(&self, name: &[u8]) -> String {
        String::from_utf8_lossy(&swap_separators(name, self.spelling.file, self.spelling.display_name))
            .into_owned()
    }
}

/// The name with its last `from` replaced.
fn swap_separators(name: &[u8], from: u8, to: u8) -> Vec<u8> {
    let mut name = name.to_vec();
    if let Some(last) = name.iter_mut().rev().find(|byte| **byte == from) {
        *last = to;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::io::Op;

    fn io(at: u64, offset: u64) -> TraceIo {
        TraceIo { at: Nanos(at), op: Op::Read, offset, length: 512, latency: None, application: 0 }
    }

    #[test]
    fn late_records_find_their_place_and_equals_keep_theirs() {
        let mut window = Window::new(LATENESS);
        for (at, offset) in [(5, 0), (3, 1), (5, 2), (4, 3), (3, 4)] {
            assert!(window.push(io(at, offset)));
        }
        assert!(window.pop(false).is_none(), "an earlier one may follow");
        let order: Vec<(u64, u64)> =
            std::iter::from_fn(|| window.pop(true)).map(|io| (io.at.0, io.offset)).collect();
        assert_eq!(order, [(3, 1), (3, 4), (4, 3), (5, 0), (5, 2)]);
    }

    #[test]
    fn what_comes_too_late_is_refused() {
        let mut window = Window::new(LATENESS);
        for at in 0..=LATENESS as u64 {
            assert!(window.push(io(at + 10, 0)));
        }
        assert_eq!(window.pop(false).map(|io| io.at.0), Some(10));
        assert!(window.push(io(10, 0)), "as early as the one before");
        assert!(!window.push(io(9, 0)));
    }

    #[test]
    fn names_are_distinguished_up_to_a_bound() {
        let mut applications = Applications::new();
        assert_eq!(
            [b"" as &[u8], b"a", b"b", b"a", b""].map(|name| applications.index(name)),
            [0, 1, 2, 1, 0]
        );
        for n in 0..70_000 {
            let index = usize::from(applications.index(format!("program {n}").as_bytes()));
            let name = &applications.names[index];
            assert!(*name == format!("program {n}") || name == FURTHER, "{name}");
        }
        assert_eq!(applications.names.len(), NAMES_MAX + 2);
        assert_eq!(applications.index(b"b"), 2);
        assert_eq!(applications.index(&[b'x'; 9000]), applications.index(&[b'x'; 8000]));
    }
}
