//! A page-mapped flash translation layer: which flash page holds which page of the host, and which block to collect.
//!
//! It knows no time. Every call that makes garbage collection necessary answers with the [`Work`] that its die has
//! to do; whoever keeps the time decides how long that takes. "Page" here is the unit of the map, which may be
//! smaller than the page that the flash programs.
//!
//! Placement: the caller chooses the die of every host write; collection stays within the die. Victims are greedy:
//! the closed block of the die with the fewest valid pages. Host writes and collected pages fill separate blocks.

use std::collections::VecDeque;

use super::victims::Victims;

/// Shape of a [`Ftl`]. Pages are units of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlGeometry {
    /// Dies.
    pub dies: u32,
    /// Erase blocks on each die; planes that are erased together count as one.
    pub blocks_per_die: u32,
    /// Pages of each erase block.
    pub pages_per_block: u32,
    /// Pages that one array read of a die delivers.
    pub row_pages: u32,
    /// Pages that one program operation of a die writes.
    pub unit_pages: u32,
    /// Pages that the host can address.
    pub user_pages: u32,
    /// A die collects as soon as fewer erased blocks are left, 2 at least.
    pub free_blocks_min: u32,
}

impl FtlGeometry {
    /// Flash pages on each die.
    pub fn pages_per_die(&self) -> u64 {
        u64::from(self.blocks_per_die) * u64::from(self.pages_per_block)
    }

    /// Flash pages of the drive.
    pub fn pages(&self) -> u64 {
        u64::from(self.dies).saturating_mul(self.pages_per_die())
    }

    /// Host pages that one die may hold, so that collection always gains something: everything except the erased
    /// reserve and the two open blocks.
    pub fn mapped_per_die_max(&self) -> u64 {
        let reserve = u64::from(self.free_blocks_min) + 2;
        u64::from(self.blocks_per_die).saturating_sub(reserve) * u64::from(self.pages_per_block)
    }

    /// Whether a translation layer of this shape can work.
    ///
    /// # Errors
    /// A sentence that says what does not fit.
    pub fn check(&self) -> Result<(), String> {
        let all = [self.dies, self.blocks_per_die, self.pages_per_block, self.row_pages, self.unit_pages];
        if all.contains(&0) || self.user_pages == 0 || self.free_blocks_min < 2 {
            return Err("every count is at least 1, and at least 2 blocks are kept free".into());
        }
        if self.dies > u32::from(u16::MAX) || self.pages_per_block > u32::from(u16::MAX) {
            return Err(format!(
                "{} dies and {} pages in a block are more than the 65535 that are supported",
                self.dies, self.pages_per_block
            ));
        }
        if self.pages() >= u64::from(u32::MAX) {
            return Err(format!("{} flash pages are more than the 2³² − 2 that are supported", self.pages()));
        }
        if !self.pages_per_block.is_multiple_of(self.row_pages)
            || !self.pages_per_block.is_multiple_of(self.unit_pages)
        {
            return Err(format!(
                "a block of {} pages is no multiple of the {} pages of a read and the {} pages of a program",
                self.pages_per_block, self.row_pages, self.unit_pages
            ));
        }
        // One unit a die more, so that a die with room is always found for the next unit.
        let usable =
            u64::from(self.dies) * self.mapped_per_die_max().saturating_sub(u64::from(self.unit_pages));
        if u64::from(self.user_pages) > usable {
            return Err(format!(
                "{} user pages leave too little spare: {} flash pages hold at most {usable} of them beside the reserve",
                self.user_pages,
                self.pages()
            ));
        }
        Ok(())
    }
}

/// What a die has to do to collect: read, move, program and erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Array reads.
    pub rows: u32,
    /// Pages that are moved.
    pub pages: u32,
    /// Program operations that the moved pages complete.
    pub programs: u32,
    /// Block erasures.
    pub erases: u32,
}

impl Work {
    /// Nothing to do.
    pub const NONE: Self = Self { rows: 0, pages: 0, programs: 0, erases: 0 };

    /// Adds more of it.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.pages += other.pages;
        self.programs += other.programs;
        self.erases += other.erases;
    }
}

/// Exact counts since the layer was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounts {
    /// Pages the host had written.
    pub host_pages: u64,
    /// Pages programmed: the host's, the collected ones and the padding of incomplete units.
    pub programmed_pages: u64,
    /// Block erasures.
    pub erases: u64,
}

/// Where the next page of an open block goes.
#[derive(Clone, Copy)]
struct Frontier {
    block: u32,
    next: u32,
    end: u32,
}

struct Die {
    host: Frontier,
    collected: Frontier,
    /// Erased blocks, the longest erased first.
    free: VecDeque<u32>,
    mapped: u32,
    /// Collected pages that do not fill a program unit yet.
    unit_fill: u32,
}

/// In the maps, 0 stands for "nothing", so that a new drive's maps are untouched zero memory; page `n` is `n + 1`.
const NOTHING: u32 = 0;

/// The translation layer.
pub struct Ftl {
    geometry: FtlGeometry,
    mapped_per_die_max: u32,
    /// Host page to flash page.
    flash_pages: Vec<u32>,
    /// Flash page to host page; nothing where the flash page holds no valid data.
    host_pages: Vec<u32>,
    victims: Victims,
    dies: Vec<Die>,
    counts: FtlCounts,
}

impl Ftl {
    /// An erased drive.
    ///
    /// # Panics
    /// If `geometry` does not pass its check.
    pub fn new(geometry: FtlGeometry) -> Self {
        geometry.check().expect("the geometry was checked");
        let die = |index| {
            let first = index * geometry.blocks_per_die;
            let mut free: VecDeque<u32> = (first..first + geometry.blocks_per_die).collect();
            let mut open = || frontier(&geometry, free.pop_front().expect("a die has more than two blocks"));
            Die { host: open(), collected: open(), free, mapped: 0, unit_fill: 0 }
        };
        Self {
            mapped_per_die_max: geometry.mapped_per_die_max() as u32,
            flash_pages: vec![NOTHING; geometry.user_pages as usize],
            host_pages: vec![NOTHING; geometry.pages() as usize],
            victims: Victims::new(geometry.dies, geometry.blocks_per_die, geometry.pages_per_block),
            dies: (0..geometry.dies).map(die).collect(),
            counts: FtlCounts::default(),
            geometry,
        }
    }

    /// Its shape.
    pub fn geometry(&self) -> &FtlGeometry {
        &self.geometry
    }

    /// What it has done since it was made.
    pub fn counts(&self) -> FtlCounts {
        self.counts
    }

    /// Erased blocks that are ready to be written.
    pub fn free_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.free.len() as u64).sum()
    }

    /// Host pages that hold data.
    pub fn mapped_pages(&self) -> u64 {
        self.dies.iter().map(|die| u64::from(die.mapped)).sum()
    }

    /// The flash page that holds a host page, if it was written and not trimmed since.
    #[inline]
    pub fn find(&self, host_page: u32) -> Option<u32> {
        self.flash_pages[host_page as usize].checked_sub(1)
    }

    /// The die of a flash page.
    #[inline]
    pub fn die_of(&self, flash_page: u32) -> u32 {
        self.victims.die(flash_page / self.geometry.pages_per_block)
    }

    /// Whether a die has room for a whole unit of host pages.
    #[inline]
    pub fn accepts(&self, die: u32) -> bool {
        self.dies[die as usize].mapped + self.geometry.unit_pages <= self.mapped_per_die_max
    }

    /// Writes a host page to the open block of a die that [accepts](Self::accepts) it, and says what collection
    /// that makes the die do afterwards.
    #[inline]
    pub fn write(&mut self, host_page: u32, die: u32) -> Work {
        self.trim(host_page);
        let place = &mut self.dies[die as usize];
        let Frontier { block, next, end } = place.host;
        place.host.next = next + 1;
        place.mapped += 1;
        self.flash_pages[host_page as usize] = next + 1;
        self.host_pages[next as usize] = host_page + 1;
        self.victims.gain(block);
        self.counts.host_pages += 1;
        self.counts.programmed_pages += 1;
        if next + 1 == end { self.renew_host_block(die) } else { Work::NONE }
    }

    /// Completes the open program unit of a die with pages that hold nothing.
    pub fn pad(&mut self, die: u32) -> Work {
        let host = &mut self.dies[die as usize].host;
        let padded = host.next.next_multiple_of(self.geometry.unit_pages);
        self.counts.programmed_pages += u64::from(padded - host.next);
        host.next = padded;
        if host.next == host.end { self.renew_host_block(die) } else { Work::NONE }
    }

    /// Forgets what a host page holds.
    #[inline]
    pub fn trim(&mut self, host_page: u32) {
        if let Some(flash_page) = self.find(host_page) {
            self.flash_pages[host_page as usize] = NOTHING;
            self.host_pages[flash_page as usize] = NOTHING;
            let die = self.victims.lose(flash_page / self.geometry.pages_per_block);
            self.dies[die as usize].mapped -= 1;
        }
    }

    /// Collects one block of a die ahead of need, if fewer than `free_blocks` are erased and it gains something.
    pub fn collect_ahead(&mut self, die: u32, free_blocks: u32) -> Option<Work> {
        let wanted = self.dies[die as usize].free.len() < free_blocks as usize;
        let gains = |valid| u32::from(valid) < self.geometry.pages_per_block;
        (wanted && self.victims.lowest(die).is_some_and(gains)).then(|| self.collect(die))
    }

    fn renew_host_block(&mut self, die: u32) -> Work {
        let place = &mut self.dies[die as usize];
        self.victims.close(place.host.block);
        let block = place.free.pop_front().expect("collection keeps at least two blocks free");
        place.host = frontier(&self.geometry, block);
        let mut work = Work::NONE;
        while self.dies[die as usize].free.len() < self.geometry.free_blocks_min as usize {
            work.add(self.collect(die));
        }
        work
    }

    /// Moves what is valid out of the emptiest closed block of a die and erases it.
    fn collect(&mut self, die: u32) -> Work {
        let victim = self.victims.take_lowest(die).expect("a die that needs collection has a closed block");
        let valid = u32::from(self.victims.valid(victim));
        assert!(
            valid < self.geometry.pages_per_block,
            "a die never holds so much that collection gains nothing"
        );
        let rows = if valid > 0 { self.move_out(victim, valid) } else { 0 };
        self.victims.erase(victim);
        let place = &mut self.dies[die as usize];
        place.free.push_back(victim);
        place.unit_fill += valid;
        let programs = place.unit_fill / self.geometry.unit_pages;
        place.unit_fill %= self.geometry.unit_pages;
        self.counts.programmed_pages += u64::from(valid);
        self.counts.erases += 1;
        Work { rows, pages: valid, programs, erases: 1 }
    }

    /// Moves all valid pages of a block; returns how many rows hold at least one of them.
    fn move_out(&mut self, victim: u32, valid: u32) -> u32 {
        let start = victim * self.geometry.pages_per_block;
        let die = self.victims.die(victim);
        let (mut rows, mut left, mut page) = (0, valid, start);
        while left > 0 {
            let left_before = left;
            for _ in 0..self.geometry.row_pages {
                let held = self.host_pages[page as usize];
                if held != NOTHING {
                    self.host_pages[page as usize] = NOTHING;
                    self.append(held, die);
                    left -= 1;
                }
                page += 1;
            }
            rows += u32::from(left < left_before);
        }
        rows
    }

    /// Puts a collected page, as the map spells it, into the die's block of collected pages.
    #[inline]
    fn append(&mut self, held: u32, die: u32) {
        let place = &mut self.dies[die as usize];
        let Frontier { block, next, end } = place.collected;
        place.collected.next = next + 1;
        self.flash_pages[held as usize - 1] = next + 1;
        self.host_pages[next as usize] = held;
        self.victims.gain(block);
        if next + 1 == end {
            self.victims.close(block);
            let block = place.free.pop_front().expect("collection starts with a free block left");
            place.collected = frontier(&self.geometry, block);
        }
    }
}

fn frontier(geometry: &FtlGeometry, block: u32) -> Frontier {
    let next = block * geometry.pages_per_block;
    Frontier { block, next, end: next + geometry.pages_per_block }
}

#[cfg(test)]
#[path = "ftl_tests.rs"]
mod tests;
