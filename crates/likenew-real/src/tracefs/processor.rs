//! The records of all processors, as one course of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

use super::applications::Applications;
use super::event::{BlockEvent, Decoder, Step};
use super::instance::Pipes;
use super::page::PageLayout;

/// Decoded records of one processor that wait at most: beyond, reading waits until others have caught up.
const WAITING_MOST: usize = 1 << 16;

/// What one processor has recorded, as far as it was read.
#[derive(Debug, Default)]
struct Processor {
    waiting: VecDeque<BlockEvent>,
    /// Nothing comes from it any more that is older.
    read_until: u64,
}

/// Reads the buffers of all processors and merges them by time. Memory stays within a bound for each processor.
#[derive(Debug)]
pub(crate) struct Processors {
    layout: PageLayout,
    decoder: Decoder,
    page: Vec<u8>,
    all: Vec<Processor>,
    /// Pages that made no sense from some point on.
    broken_pages: u64,
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

/// A processor may take its time between looking at the clock and putting a record into its buffer: a virtual
/// one stalls while others run.
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

    /// Reads what is there. `now` is the clock's reading before that. Returns whether there may be more.
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

    /// Hands on what is known to be complete, in order of time. With `all`, everything that was read. Returns
    /// until when.
    pub(crate) fn merge(&mut self, all: bool, mut take: impl FnMut(&BlockEvent)) -> u64 {
        let until = match all {
            true => u64::MAX,
            false => self.all.iter().map(|processor| processor.read_until).min().unwrap_or(u64::MAX),
        };
        let order = &mut self.order;
        order.clear();
        let front = |processor: &Processor| processor.waiting.front().map(|event| event.at);
        order
            .extend(self.all.iter().enumerate().filter_map(|(index, of)| Some(Reverse((front(of)?, index)))));
        while let Some(Reverse((at, index))) = order.pop() {
            if at > until {
                break;
            }
            // Of one processor as many as come before the next of any other.
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
    use super::*;

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

    fn merge_all(processors: &mut Processors, all: bool) -> Vec<u64> {
        let mut times = Vec::new();
        processors.merge(all, |event| times.push(event.at));
        times
    }

    #[test]
    fn records_come_out_in_order_of_time_as_far_as_all_were_read() {
        let mut of = processors(&[&[1, 4, 9], &[2, 3, 5, 20], &[]], &[9, 20, 6]);
        assert_eq!(merge_all(&mut of, false), [1, 2, 3, 4, 5]);
        assert!(merge_all(&mut of, false).is_empty());
        of.all[2].read_until = 9;
        assert_eq!(merge_all(&mut of, false), [9]);
        assert_eq!(merge_all(&mut of, true), [20]);
    }

    #[test]
    fn what_comes_late_is_taken_all_the_same() {
        let mut of = processors(&[&[5, 4, 6]], &[6]);
        assert_eq!(merge_all(&mut of, false), [5, 4, 6]);
    }

    #[test]
    fn a_broken_page_is_a_gap() {
        let mut of = processors(&[&[]], &[0]);
        of.page[8..16].copy_from_slice(&40u64.to_ne_bytes());
        of.page[16..20].copy_from_slice(&u32::MAX.to_ne_bytes());
        of.decode(0, 20, &mut Applications::new());
        of.decode(0, 3, &mut Applications::new());
        assert_eq!((of.broken_pages(), of.all[0].waiting.len()), (2, 1));
    }
}
