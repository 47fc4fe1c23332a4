//! Writes: over the link into the buffer, and from there to the dies.
//!
//! A write is acknowledged once all of it is in the buffer. The buffer drains to whichever die has nothing to do, round
//! robin, or to the die that the translation layer wants. Work that a write makes necessary is done by its die
//! right after it.

use likenew_core::io::{Completion, Outcome};
use likenew_core::units::Nanos;

use super::{Event, FlashDrive, RESTING, Request, part_of_io};
use crate::flash::map_cache::MapAccess;
use crate::flash::read_job::Reader;
use crate::flash::translation_layer::{TranslationLayer, Work};
use crate::flash::write_buffer::sector_mask;

/// Pages of a write that cross the link as one; other traffic gets its turn in between.
const BURST_PAGES: u32 = 8;

impl<L: TranslationLayer> FlashDrive<L> {
    /// Starts the next burst of the oldest write, if the buffer has room for any of it.
    pub(super) fn send(&mut self, now: Nanos) {
        if self.sending {
            return;
        }
        if self.layer.is_read_only() {
            return self.refuse_waiting(now);
        }
        let Some(&slot) = self.writers.front() else { return };
        let Request { io, page_to_send: first, page_end, .. } = self.requests[slot as usize];
        let pages = self.buffer.reserve((page_end - first).min(BURST_PAGES));
        if pages == 0 {
            return;
        }
        let bytes = (first..first + pages).map(|page| u64::from(self.part(&io, page).1)).sum();
        let at = self.link.send_to_drive(now, bytes);
        self.events.push(at, Event::Arrived(slot, pages));
        self.sending = true;
        self.requests[slot as usize].page_to_send += pages;
        if first + pages == page_end {
            self.writers.pop_front();
        }
    }

    /// So many pages of a write have come in.
    pub(super) fn arrive(&mut self, slot: u32, pages: u32, now: Nanos, done: &mut Vec<Completion>) {
        let Request { io, page_to_arrive: first, page_end, .. } = self.requests[slot as usize];
        if !self.trims.is_empty() {
            self.trim_before_write(first..first + pages, now);
        }
        let size = self.layer.size(io.data);
        for page in first..first + pages {
            let (start, bytes) = self.part(&io, page);
            let sector = self.parameters.sector_bytes;
            let mask = sector_mask(start / sector, (start + bytes) / sector);
            let buffered = self.buffer.put(page, mask, size);
            self.layer.announce(page);
            if let Some(contents) = &mut self.contents {
                let part = part_of_io(&io, page, self.parameters.page_bytes);
                contents.arrive(slot, part, buffered, start as usize);
            }
        }
        self.requests[slot as usize].page_to_arrive += pages;
        self.sending = false;
        self.drain(now);
        self.send(now);
        if first + pages == page_end {
            self.end(slot, Outcome::Done, now, done);
        }
    }

    /// Gives what is due in the buffer to dies that have nothing to do.
    pub(super) fn drain(&mut self, now: Nanos) {
        while let Some((slot, page)) = self.buffer.take_partial(self.idle) {
            match self.layer.find(page) {
                None => self.fill(slot),
                Some(place) => {
                    let job = self.read_job(Reader::Fill(slot), &place, 0, now);
                    self.nand.read(place.die, job, now, &mut self.events);
                }
            }
        }
        while let Some(page) = self.buffer.first_ready()
            && let Some(die) = self.choose_die(page)
            && self.buffer.has_unit(self.layer.unit(die).size)
        {
            self.program(die, now);
        }
        while let Some(slot) = self.buffer.pop_flushed() {
            if slot != RESTING {
                self.events.push(now, Event::Complete(slot));
            }
        }
    }

    /// The missing part of a page in the buffer has been read, or there is none.
    pub(super) fn fill(&mut self, slot: u32) {
        if let Some(contents) = &mut self.contents {
            let (page, sectors) = self.buffer.slot_content(slot);
            contents.complete(slot, sectors, self.layer.find(page).map(|place| place.at));
        }
        self.buffer.complete(slot);
    }

    /// The die that can take the page now.
    fn choose_die(&self, page: u32) -> Option<u32> {
        match self.layer.die_for(page) {
            Some(die) => self.nand.may_program(die).then_some(die),
            None => self.nand.next_idle(|die| self.layer.accepts(die)),
        }
    }

    fn program(&mut self, die: u32, now: Nanos) {
        let mut unit = std::mem::take(&mut self.units[die as usize]);
        assert!(unit.is_empty(), "an idle die programs nothing");
        let program = self.layer.unit(die);
        self.buffer.take_unit(program.size, &mut unit);
        self.nand.program(die, program, now, &mut self.events);
        for slot in &unit {
            let (page, size) = self.buffer.page(*slot);
            self.layer.write(page, size, die, &mut self.pending);
            self.follow(Some(*slot), now);
            if let Some(cache) = &mut self.map_cache {
                let access = cache.access(page, true);
                self.move_map(access, Reader::Nobody, now);
            }
        }
        self.layer.end_unit(die, &mut self.pending);
        self.follow(None, now);
        self.units[die as usize] = unit;
        if let Some(thermal) = &mut self.thermal {
            let page = u64::from(self.parameters.page_bytes);
            thermal.program(u64::from(program.size) * page / u64::from(self.layer.size_max()));
        }
    }

    /// The drive takes no data any more: writes and flushes that wait for room in the flash will never get it.
    fn refuse_waiting(&mut self, now: Nanos) {
        let flushes = self.buffer.give_up_flushes().filter(|slot| *slot != RESTING);
        for slot in self.writers.drain(..).chain(flushes) {
            self.events.push(now, Event::Refuse(slot));
        }
    }

    /// Moves segments of the map as an access to it demands.
    pub(super) fn move_map(&mut self, access: MapAccess, reader: Reader, now: Nanos) {
        let Some(segment) = access.read else { return };
        self.read_segment(segment, reader, now);
        self.segments_to_program += u32::from(access.programs);
        // Segments are programmed when they fill a unit, as everything else.
        if self.segments_to_program >= self.parameters.unit_pages {
            let pages = std::mem::take(&mut self.segments_to_program);
            self.segments_programmed += u64::from(pages);
            let moved = pages * self.layer.size_max();
            let work = Work { moved, programs: 1, ..Work::NONE };
            self.nand.work(segment % self.parameters.nand.dies(), work, now, &mut self.events);
        }
    }
}
