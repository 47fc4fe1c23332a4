//! Pages of the kernel's trace buffers: the time of a page's first record, its bytes in use, what was lost
//! before it, and its records. Merges the records of all processors.
//!
//! The form is that of the kernel's ring buffer (include/linux/ring_buffer.h and
//! Documentation/trace/ring-buffer-design). Each record has a header of 32 bits: five for its length or kind,
//! and 27 for the time since the record before.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

use super::event::{Applications, BlockEvent, Decoder, Field, Fields, Step};
use super::instance::Pipes;

/// Where the parts of a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    timestamp: Field,
    commit: Field,
    data: Field,
}

/// Bits of `commit` that count the bytes in use; the highest say what was lost.
const COMMIT_LENGTH: u64 = (1 << 27) - 1;
const COMMIT_MISSED: u64 = 1 << 31;

impl PageLayout {
    /// Reads `events/header_page`.
    ///
    /// # Errors
    /// A sentence that names what is missing.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let fields = Fields::parse(text);
        let field = |name| fields.get(name);
        Ok(Self { timestamp: field("timestamp")?, commit: field("commit")?, data: field("data")? })
    }

    /// Bytes of a page.
    pub(crate) fn page_bytes(&self) -> usize {
        self.data.offset.saturating_add(self.data.size)
    }

    /// The records of a page; `None` if it is too short to be one.
    pub(crate) fn records<'a>(&self, page: &'a [u8]) -> Option<Records<'a>> {
        let at = self.timestamp.number(page)?;
        let commit = self.commit.number(page)?;
        let data = page.get(self.data.offset..)?;
        let length = (commit & COMMIT_LENGTH) as usize;
        let is_whole = length <= data.len();
        let rest = &data[..length.min(data.len())];
        Some(Records { rest, at, lost_before: commit & COMMIT_MISSED != 0, is_whole })
    }
}

/// The records of a page, one after the other. Stops at the first record that makes no sense.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    rest: &'a [u8],
    at: u64,
    /// Whether records of this processor were lost before this page.
    pub(crate) lost_before: bool,
    is_whole: bool,
}

/// A record of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// When it was made, on the clock of the buffer, in nanoseconds.
    pub(crate) at: u64,
    /// The bytes, in the form that the event's format describes.
    pub(crate) bytes: &'a [u8],
}

/// Kinds of records without data, by the five bits of the header.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Bits in a time stamp; the higher bits of the time are as before.
const STAMP_BITS: u32 = 59;
const DELTA_BITS: u32 = 27;
const WORD: usize = 4;

impl<'a> Records<'a> {
    /// Whether everything so far made sense.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The time of the page's start, or of the last record that was read.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    fn word(&self, index: usize) -> Option<u32> {
        let bytes = self.rest.get(index * WORD..)?.get(..WORD)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// Takes `head` and then `length` bytes off the front, and returns the latter.
    fn take(&mut self, head: usize, length: usize) -> Option<&'a [u8]> {
        let body = self.rest.get(head..)?;
        let taken = body.get(..length)?;
        self.rest = &body[length..];
        Some(taken)
    }

    /// Reads one header and what belongs to it: a record, or none if it only moves the clock or fills up the page.
    fn step(&mut self) -> Option<Option<Record<'a>>> {
        let (kind, delta) = split(self.word(0)?);
        match kind {
            PADDING if delta == 0 => self.rest = &[],
            PADDING => {
                // A record that was taken back keeps its place and its time.
                let length = self.word(1)? as usize;
                self.take(WORD, length.max(WORD))?;
                self.at = self.at.wrapping_add(delta);
            }
            TIME_EXTEND | TIME_STAMP => {
                let time = (u64::from(self.word(1)?) << DELTA_BITS) + delta;
                self.take(2 * WORD, 0)?;
                self.at = if kind == TIME_EXTEND {
                    self.at.wrapping_add(time)
                } else {
                    self.at >> STAMP_BITS << STAMP_BITS | time & ((1 << STAMP_BITS) - 1)
                };
            }
            kind => {
                let bytes = match kind {
                    // A long record has its length in an extra word, which the length includes.
                    0 => {
                        let length = (self.word(1)? as usize).checked_sub(WORD)?;
                        self.take(2 * WORD, length.next_multiple_of(WORD))?
                    }
                    words => self.take(WORD, words as usize * WORD)?,
                };
                self.at = self.at.wrapping_add(delta);
                return Some(Some(Record { at: self.at, bytes }));
            }
        }
        Some(None)
    }
}

/// Five bits of kind and 27 of time, in the order in which the machine lays out bits.
fn split(header: u32) -> (u32, u64) {
    if cfg!(target_endian = "little") {
        (header & 0x1f, u64::from(header >> 5))
    } else {
        (header >> DELTA_BITS, u64::from(header & ((1 << DELTA_BITS) - 1)))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        while !self.rest.is_empty() {
            match self.step() {
                Some(Some(record)) => return Some(record),
                Some(None) => {}
                None => {
                    self.is_whole = false;
                    self.rest = &[];
                }
            }
        }
        None
    }
}

// The records of all processors in one order of time.

/// Most decoded records of one processor that wait: beyond, reading waits until other processors have caught up.
const WAITING_MOST: usize = 1 << 16;

/// What one processor has recorded, as far as it was read.
#[derive(Debug, Default)]
struct Processor {
    waiting: VecDeque<BlockEvent>,
    /// No older record comes from this processor any more.
    read_until: u64,
}

/// Reads the buffers of all processors and merges them by time. Memory stays within a bound for each processor.
#[derive(Debug)]
pub(crate) struct Processors {
    layout: PageLayout,
    decoder: Decoder,
    page: Vec<u8>,
    all: Vec<Processor>,
    /// Pages that made no sense, wholly or from some point on.
    broken_pages: u64,
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

/// The longest time in ns that a processor may take between looking at the clock and putting a record into
/// its buffer. A virtual processor stalls while others run.
const LAG_NS: u64 = 20_000_000;

impl Processors {
    pub(crate) fn new(count: usize, layout: PageLayout, decoder: Decoder) -> Self {
        let all = (0..count).map(|_| Processor::default()).collect();
        let page = vec![0; layout.page_bytes()];
        Self { layout, decoder, page, all, broken_pages: 0, order: BinaryHeap::new() }
    }

    pub(crate) fn broken_pages(&self) -> u64 {
        self.broken_pages
    }

    /// Reads what is there. `now` is the time before this call. Returns whether there may be more.
    ///
    /// # Errors
    /// A buffer cannot be read.
    pub(crate) fn read(
        &mut self,
        pipes: &mut Pipes<'_>,
        now: u64,
        applications: &mut Applications,
    ) -> io::Result<bool> {
        let mut more = false;
        for index in 0..self.all.len() {
            more |= self.read_one(index, pipes, now, applications)?;
        }
        Ok(more)
    }

    fn read_one(
        &mut self,
        index: usize,
        pipes: &mut Pipes<'_>,
        now: u64,
        applications: &mut Applications,
    ) -> io::Result<bool> {
        while self.all[index].waiting.len() < WAITING_MOST {
            let length = pipes.read(index, &mut self.page)?;
            if length == 0 {
                self.all[index].read_until = self.all[index].read_until.max(now.saturating_sub(LAG_NS));
                return Ok(false);
            }
            self.decode(index, length, applications);
        }
        Ok(true)
    }

    fn decode(&mut self, index: usize, length: usize, applications: &mut Applications) {
        let processor = &mut self.all[index];
        let Some(mut records) = self.layout.records(&self.page[..length]) else {
            self.broken_pages += 1;
            return;
        };
        if records.lost_before {
            processor.waiting.push_back(lost_event(records.at()));
        }
        for record in records.by_ref() {
            processor.read_until = processor.read_until.max(record.at);
            processor.waiting.extend(self.decoder.decode(record.at, record.bytes, applications));
        }
        if !records.is_whole() {
            self.broken_pages += 1;
            processor.waiting.push_back(lost_event(records.at()));
        }
    }

    /// Passes on, in order of time, what is known to be complete; with `is_end`, everything that was read.
    /// Returns the time up to which it was complete.
    pub(crate) fn merge(&mut self, is_end: bool, mut take: impl FnMut(&BlockEvent)) -> u64 {
        let until = if is_end {
            u64::MAX
        } else {
            self.all.iter().map(|processor| processor.read_until).min().unwrap_or(u64::MAX)
        };
        let order = &mut self.order;
        order.clear();
        let front = |processor: &Processor| processor.waiting.front().map(|event| event.at);
        order.extend(
            self.all
                .iter()
                .enumerate()
                .filter_map(|(index, processor)| Some(Reverse((front(processor)?, index)))),
        );
        while let Some(Reverse((at, index))) = order.pop() {
            if at > until {
                break;
            }
            // From one processor, take as many as come before the next of any other.
            let next = order.peek().map_or(until, |Reverse((at, _))| (*at).min(until));
            let processor = &mut self.all[index];
            while let Some(event) = processor.waiting.pop_front_if(|event| event.at <= next) {
                take(&event);
            }
            order.extend(front(processor).map(|at| Reverse((at, index))));
        }
        until
    }
}

fn lost_event(at: u64) -> BlockEvent {
    BlockEvent {
        at,
        sector: 0,
        sectors: 0,
        device: 0,
        thread: 0,
        application: 0,
        op: likenew_core::io::Op::Flush,
        step: Step::Lost,
        failed: false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

    fn layout() -> PageLayout {
        PageLayout::parse(HEADER).unwrap()
    }

    fn header(kind: u32, delta: u32) -> [u8; 4] {
        if cfg!(target_endian = "little") {
            (kind | delta << 5).to_ne_bytes()
        } else {
            (kind << 27 | delta).to_ne_bytes()
        }
    }

    /// A page as the kernel makes it.
    fn page(at: u64, flags: u64, data: &[u8]) -> Vec<u8> {
        let mut page = Vec::new();
        page.extend(at.to_ne_bytes());
        page.extend((data.len() as u64 | flags).to_ne_bytes());
        page.extend(data);
        page.resize(4096, 0xaa);
        page
    }

    #[test]
    fn every_kind_of_record_is_understood() {
        let mut data = Vec::new();
        data.extend(header(2, 10));
        data.extend([1; 8]);
        data.extend(header(TIME_EXTEND, 5));
        data.extend(1u32.to_ne_bytes());
        data.extend(header(0, 1));
        data.extend(126u32.to_ne_bytes());
        data.extend([2; 124]);
        // A record that was taken back: a header, the length of what follows, and that.
        data.extend(header(PADDING, 7));
        data.extend(8u32.to_ne_bytes());
        data.extend([9; 4]);
        data.extend(header(TIME_STAMP, 3));
        data.extend(2u32.to_ne_bytes());
        data.extend(header(1, 0));
        data.extend([3; 4]);
        data.extend(header(PADDING, 0));
        data.extend([4; 4]);
        let page = page(1000, 0, &data);
        let mut records = layout().records(&page).unwrap();
        let summary: Vec<(u64, usize, u8)> =
            records.by_ref().map(|record| (record.at, record.bytes.len(), record.bytes[0])).collect();
        assert_eq!(summary, [(1010, 8, 1), (1016 + (1 << 27), 124, 2), ((2 << 27) + 3, 4, 3)]);
        assert!(records.is_whole() && !records.lost_before);
    }

    #[test]
    fn what_was_lost_is_reported() {
        let page = page(5, COMMIT_MISSED, &[]);
        let mut records = layout().records(&page).unwrap();
        assert!(records.lost_before);
        assert_eq!((records.next(), records.is_whole(), records.at()), (None, true, 5));
    }

    #[test]
    fn a_record_that_leaves_its_page_ends_it() {
        let mut data = Vec::new();
        data.extend(header(1, 0));
        data.extend([1; 4]);
        data.extend(header(28, 0));
        let page = page(0, 0, &data);
        let mut records = layout().records(&page).unwrap();
        assert_eq!(records.by_ref().count(), 1);
        assert!(!records.is_whole());
    }

    proptest! {
        #[test]
        fn nonsense_never_panics(page in prop::collection::vec(any::<u8>(), 0..5000), length in any::<u16>()) {
            let mut page = page;
            // Most lengths would be refused at once, so one is set that leads on into the records.
            if let Some(commit) = page.get_mut(8..16) {
                commit.copy_from_slice(&u64::from(length % 5000).to_ne_bytes());
            }
            if let Some(records) = layout().records(&page) {
                prop_assert!(records.map(|record| record.bytes.len()).sum::<usize>() <= page.len());
            }
        }
    }

    fn processors(times: &[&[u64]], read_until: &[u64]) -> Processors {
        let layout = PageLayout::parse(
            "field: u64 timestamp;offset:0;size:8;\nfield: local_t commit;offset:8;size:8;\nfield: char data;offset:16;size:48;",
        );
        let format = "ID: 1\nfield:unsigned short common_type;offset:0;size:2;\nfield:int common_pid;offset:4;size:4;
field:dev_t dev;offset:8;size:4;\nfield:sector_t sector;offset:16;size:8;\nfield:unsigned int nr_sector;offset:24;size:4;
field:char rwbs[8];offset:30;size:8;";
        let decoder = Decoder::new(&[(Step::Complete, "block_rq_complete", format.to_owned())]);
        let mut processors = Processors::new(times.len(), layout.unwrap(), decoder.unwrap());
        for ((processor, times), until) in processors.all.iter_mut().zip(times).zip(read_until) {
            processor.waiting.extend(times.iter().map(|at| lost_event(*at)));
            processor.read_until = *until;
        }
        processors
    }

    fn merge_all(processors: &mut Processors, is_end: bool) -> Vec<u64> {
        let mut times = Vec::new();
        processors.merge(is_end, |event| times.push(event.at));
        times
    }

    #[test]
    fn records_come_out_in_order_of_time_as_far_as_all_were_read() {
        let mut processors = processors(&[&[1, 4, 9], &[2, 3, 5, 20], &[]], &[9, 20, 6]);
        assert_eq!(merge_all(&mut processors, false), [1, 2, 3, 4, 5]);
        assert!(merge_all(&mut processors, false).is_empty());
        processors.all[2].read_until = 9;
        assert_eq!(merge_all(&mut processors, false), [9]);
        assert_eq!(merge_all(&mut processors, true), [20]);
    }

    #[test]
    fn what_comes_late_is_taken_all_the_same() {
        let mut processors = processors(&[&[5, 4, 6]], &[6]);
        assert_eq!(merge_all(&mut processors, false), [5, 4, 6]);
    }

    #[test]
    fn a_broken_page_is_a_gap() {
        let mut processors = processors(&[&[]], &[0]);
        processors.page[8..16].copy_from_slice(&40u64.to_ne_bytes());
        processors.page[16..20].copy_from_slice(&u32::MAX.to_ne_bytes());
        processors.decode(0, 20, &mut Applications::new());
        processors.decode(0, 3, &mut Applications::new());
        assert_eq!((processors.broken_pages(), processors.all[0].waiting.len()), (2, 1));
    }
}
