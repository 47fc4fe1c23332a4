//! What a drive does when it has nothing to do, and TRIM, which some drives obey only then.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::{Event, FlashDrive};
use crate::flash::flash_parameters::Trim;
use crate::flash::translation_layer::TranslationLayer;

impl<L: TranslationLayer> FlashDrive<L> {
    /// Takes a TRIM: the pages that lie wholly within its range are to be forgotten.
    pub(super) fn take_trim(&mut self, slot: u32, now: Nanos) {
        let io = self.requests[slot as usize].io;
        let page_bytes = u64::from(self.parameters.page_bytes);
        let (start, end) = (io.offset, io.offset + u64::from(io.length));
        let pages = start.div_ceil(page_bytes) as u32..(end / page_bytes) as u32;
        match self.parameters.trim {
            Trim::Ignored => {}
            Trim::Immediate => self.forget(pages, now),
            Trim::Lazy if pages.is_empty() => {}
            Trim::Lazy => self.trims.push_back(pages),
        }
    }

    /// Forgets, before some pages are written, what was to be forgotten of them, so that it does not come after.
    pub(super) fn trim_before_write(&mut self, pages: Range<u32>, now: Nanos) {
        let touches = |trim: &Range<u32>| trim.start < pages.end && pages.start < trim.end;
        while let Some(index) = self.trims.iter().position(touches) {
            let trim = self.trims.remove(index).expect("it was found");
            self.forget(trim, now);
        }
    }

    pub(super) fn forget(&mut self, pages: Range<u32>, now: Nanos) {
        for page in pages {
            self.buffer.discard(page);
            self.layer.trim(page, &mut self.pending);
        }
        self.follow(None, now);
    }

    /// Lets every die that has nothing to do look after itself, as far as there is something to gain.
    pub(super) fn tend(&mut self, now: Nanos) {
        while let Some(trim) = self.trims.pop_front() {
            self.forget(trim, now);
        }
        for die in 0..self.parameters.nand.dies() {
            if self.nand.is_idle(die) && self.layer.tend(die, &mut self.pending) {
                self.follow(None, now);
            }
        }
    }

    /// Has the drive looked at again when it may have been quiet for long enough.
    pub(super) fn expect_idle(&mut self) {
        if !self.idle_check_due {
            self.idle_check_due = true;
            self.events.push(self.quiet_since + self.parameters.idle_after, Event::IdleCheck);
        }
    }

    pub(super) fn check_idle(&mut self, now: Nanos) {
        self.idle_check_due = false;
        if self.slots_used > 0 {
            return;
        }
        if now < self.quiet_since + self.parameters.idle_after {
            return self.expect_idle();
        }
        self.idle = true;
        self.drain(now);
        self.tend(now);
    }
}
