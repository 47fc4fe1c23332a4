//! Reads: through the map, from the buffer or the dies, over the link. A read ends when its last byte has crossed the link;
//! pages that are unmapped or still in the buffer need no die.

use likenew_core::units::Nanos;

use super::{Event, FlashDrive, SECOND_NS, part_of_io, part_of_page};
use crate::flash::read_job::{ReadJob, Reader};
use crate::flash::translation_layer::{Cell, PhysicalPage, TranslationLayer};

impl<L: TranslationLayer> FlashDrive<L> {
    /// Brings the parts of the map that a read needs, then reads.
    pub(super) fn lookup(&mut self, slot: u32, now: Nanos) {
        let request = &self.requests[slot as usize];
        let pages = request.page_to_send..request.page_end;
        let mut segments = 0;
        for page in pages {
            let Some(cache) = &mut self.map_cache else { break };
            let access = cache.access(page, false);
            segments += u32::from(access.read.is_some());
            self.move_map(access, Reader::Map(slot), now);
        }
        self.requests[slot as usize].segments_left = segments;
        if segments == 0 {
            self.read(slot, now);
        }
    }

    /// Hands each row that holds a part of the read to its die; what needs no die goes over the link at once.
    pub(super) fn read(&mut self, slot: u32, now: Nanos) {
        let request = &self.requests[slot as usize];
        let (io, pages) = (request.io, request.page_to_send..request.page_end);
        let mut ready_bytes = 0;
        let mut open: Option<(PhysicalPage, ReadJob)> = None;
        for page in pages {
            let bytes = self.part(&io, page).1;
            self.copy_out(slot, page);
            let place = if self.buffer.holds(page) { None } else { self.layer.find(page) };
            let Some(place) = place else {
                ready_bytes += u64::from(bytes);
                continue;
            };
            match &mut open {
                Some((first, job)) if first.row == place.row => {
                    (job.size, job.bytes) = (job.size + place.size, job.bytes + bytes);
                }
                _ => {
                    let job = self.read_job(Reader::Host(slot), &place, bytes, now);
                    if let Some((place, job)) = open.replace((place, job)) {
                        self.nand.read(place.die, job, now, &mut self.events);
                    }
                }
            }
        }
        if let Some((place, job)) = open {
            self.nand.read(place.die, job, now, &mut self.events);
        }
        if ready_bytes > 0 {
            self.reply(slot, ready_bytes, now);
        }
    }

    /// Reads what a place holds, of which the host wants `bytes`.
    pub(super) fn read_job(&self, reader: Reader, place: &PhysicalPage, bytes: u32, now: Nanos) -> ReadJob {
        let age_s = self.opened_s + (now.0 / SECOND_NS) as i64 - place.programmed_s;
        let senses = self.parameters.aging.map_or(1, |aging| aging.senses(age_s))
            + self.parameters.wear_retries.map_or(0, |wear_retries| wear_retries.retries(place));
        ReadJob { reader, cell: place.cell, senses, size: place.size, bytes }
    }

    /// Reads a segment of the map on behalf of somebody.
    pub(super) fn read_segment(&mut self, segment: u32, reader: Reader, now: Nanos) {
        let die = segment % self.parameters.nand.dies();
        let job = ReadJob { reader, cell: Cell::Native, senses: 1, size: self.layer.size_max(), bytes: 0 };
        self.nand.read(die, job, now, &mut self.events);
    }

    /// Sends bytes of a read to the host.
    pub(super) fn reply(&mut self, slot: u32, bytes: u64, now: Nanos) {
        let at = self.link.send_to_host(now, bytes);
        if let Some(thermal) = &mut self.thermal {
            thermal.read(bytes);
        }
        let request = &mut self.requests[slot as usize];
        request.bytes_left -= bytes;
        if request.bytes_left == 0 {
            self.events.push(at, Event::Complete(slot));
        }
    }

    /// Gives a read the bytes of a page, if the drive keeps any.
    fn copy_out(&mut self, slot: u32, page: u32) {
        let Some(contents) = &mut self.contents else { return };
        let (io, page_bytes) = (self.requests[slot as usize].io, self.parameters.page_bytes);
        let (start, bytes) = part_of_page(&io, page, page_bytes);
        let from = part_of_io(&io, page, page_bytes).start;
        let at = self.layer.find(page).map(|place| place.at);
        contents.read(slot, from, start as usize..(start + bytes) as usize, self.buffer.find(page), at);
    }
}
