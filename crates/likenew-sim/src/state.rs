//! Gives a simulated flash drive its past: fills and overwrites it through its own FTL, in no simulated time.

use std::collections::VecDeque;

use likenew_core::units::Nanos;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use strum::{EnumString, IntoStaticStr};

use crate::flash::translation_layer::{PendingWork, TranslationLayer};

/// What `state=` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// Erased, as after production or a secure erase, then filled once sequentially if a fill is requested.
    #[default]
    New,
    /// Filled once sequentially, then overwritten at random without TRIM.
    Used,
}

impl State {
    /// `new` or `used`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The writes that bring a flash drive to its [`State`], in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DriveTreatment {
    /// Share of its addresses that hold data.
    pub(crate) fill: f64,
    /// Random overwrites as a share of this data.
    pub(crate) overwritten_share: f64,
    /// How long ago all of this happened.
    pub(crate) age: Nanos,
    /// The most non-contiguous writes that shared a program unit, see
    /// [`FirmwareParameters::writes_per_unit`](crate::flash::FirmwareParameters::writes_per_unit).
    pub(crate) writes_per_unit: Option<u8>,
}

/// Filled share from which the tables of the FTL get large memory pages, which are faster, and do not save what is unused.
/// Chosen: half of the tables.
const LARGE_PAGES_FILL_MIN: f64 = 0.5;

/// All used drives have the same history.
const SEED: u64 = 1;

/// Writes the first `fill` share of an FTL's pages sequentially, then `overwritten_share` times as many at
/// random. None of the data compresses. Then does the background work of a long rest. If `is_stopped`, the rest of the history is
/// left out.
pub(crate) fn make<L: TranslationLayer>(
    mut layer: L,
    dies: u32,
    past: DriveTreatment,
    is_stopped: &dyn Fn() -> bool,
) -> L {
    let DriveTreatment { fill, overwritten_share, age, writes_per_unit } = past;
    // Seconds; the drive is opened at 0, and all of this happens at one time before.
    layer.set_clock(-(age.as_secs_f64() as i64));
    let filled = (f64::from(layer.user_pages()) * fill) as u32;
    if fill >= LARGE_PAGES_FILL_MIN {
        layer.expect_use();
    }
    let mut writer = Writer::new(layer, dies, writes_per_unit);
    until(0..filled, is_stopped).for_each(|page| writer.write(page));
    if filled > 0 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let overwrites = (f64::from(filled) * overwritten_share) as u64;
        let pages = (0..overwrites).map(|_| random.random_range(0..filled));
        writer.write_all(until(pages, is_stopped));
    }
    writer.finish()
}

/// Pages between checks of `is_stopped`. Chosen: they take less than a tenth of a second, and a check costs nothing.
const STOP_CHECK_PAGES: usize = 1 << 14;

/// The pages up to a stop.
fn until(pages: impl Iterator<Item = u32>, is_stopped: &dyn Fn() -> bool) -> impl Iterator<Item = u32> {
    let stops = move |index: usize| index.is_multiple_of(STOP_CHECK_PAGES) && is_stopped();
    pages.enumerate().take_while(move |(index, _)| !stops(*index)).map(|(_, page)| page)
}

/// Pages between an announcement and its write. Chosen: enough time for prefetching, and few enough for caches to hold.
const ANNOUNCED_PAGES: usize = 32;

/// Writes pages as a drive without time would: in whole units, as far as writes may share them, die by die.
struct Writer<L> {
    layer: L,
    pending: PendingWork,
    dies: u32,
    die: u32,
    /// Size left in the current unit, as [`TranslationLayer::size_max`] counts it.
    remaining: u32,
    writes_per_unit: Option<u8>,
    /// Runs of consecutive pages in the current unit.
    runs: u32,
    /// The last page of the current unit.
    last_page: Option<u32>,
}

impl<L: TranslationLayer> Writer<L> {
    fn new(layer: L, dies: u32, writes_per_unit: Option<u8>) -> Self {
        let remaining = layer.unit(0).size;
        let pending = PendingWork::default();
        Self { layer, pending, dies, die: 0, remaining, writes_per_unit, runs: 0, last_page: None }
    }

    /// Writes a page: to the die that the FTL dictates, as a unit of its own; otherwise into the current unit, which ends when it is
    /// full, or when another run of pages may not share it.
    fn write(&mut self, page: u32) {
        if self.layer.is_read_only() {
            return;
        }
        let size = self.layer.size_max();
        if let Some(die) = self.layer.die_for(page) {
            self.layer.write(page, size, die, &mut self.pending);
            self.layer.end_unit(die, &mut self.pending);
        } else {
            let begins_run = self.last_page.is_none_or(|last| last + 1 != page);
            self.runs += u32::from(begins_run);
            let is_over_limit = self.writes_per_unit.is_some_and(|most| self.runs > u32::from(most));
            if self.remaining > 0 && is_over_limit {
                self.layer.end_unit(self.die, &mut self.pending);
                self.remaining = 0;
            }
            if self.remaining == 0 {
                self.next_die();
                self.runs = 1;
            }
            self.last_page = Some(page);
            self.remaining = self.remaining.saturating_sub(size);
            self.layer.write(page, size, self.die, &mut self.pending);
            if self.remaining == 0 {
                self.layer.end_unit(self.die, &mut self.pending);
            }
        }
        // A history takes no time.
        self.pending.forget_works();
    }

    /// Writes pages, announcing each one in advance.
    fn write_all(&mut self, pages: impl Iterator<Item = u32>) {
        let mut announced = VecDeque::with_capacity(ANNOUNCED_PAGES + 1);
        for page in pages {
            self.layer.announce(page);
            announced.push_back(page);
            if announced.len() > ANNOUNCED_PAGES
                && let Some(page) = announced.pop_front()
            {
                self.write(page);
            }
        }
        announced.into_iter().for_each(|page| self.write(page));
    }

    fn next_die(&mut self) {
        let round = (1..=self.dies).map(|step| (self.die + step) % self.dies);
        self.die = round
            .into_iter()
            .find(|die| self.layer.accepts(*die))
            .expect("a checked geometry always has a die with room");
        self.remaining = self.layer.unit(self.die).size;
    }

    fn finish(mut self) -> L {
        self.layer.end_unit(self.die, &mut self.pending);
        self.layer.settle(&mut self.pending);
        self.layer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::FlashGeometry;
    use crate::flash::compressing_map::CompressingMap;
    use crate::flash::compressing_map::CompressingParameters;
    use crate::flash::page_map::PageMap;
    use crate::flash::policies::PageMapParameters;
    use crate::flash::policies::Policies;

    fn make(geometry: PageMapParameters, fill: f64, overwritten_share: f64) -> PageMap {
        let past = DriveTreatment { fill, overwritten_share, age: Nanos::ZERO, writes_per_unit: None };
        super::make(PageMap::new(geometry), geometry.flash.dies, past, &|| false)
    }

    fn geometry() -> PageMapParameters {
        PageMapParameters {
            flash: FlashGeometry {
                dies: 3,
                blocks_per_die: 40,
                pages_per_block: 32,
                row_pages: 2,
                unit_pages: 4,
                user_pages: 3000,
            },
            free_blocks_min: 2,
            idle_free_blocks: 0,
            slc_cache: None,
            policies: Policies::default(),
        }
    }

    #[test]
    fn a_new_drive_holds_nothing_and_a_filled_one_its_share() {
        let new = make(geometry(), 0.0, 0.3);
        assert_eq!((new.mapped_pages(), new.counts().programmed), (0, 0));
        let filled = make(geometry(), 0.5, 0.0);
        assert_eq!((filled.mapped_pages(), filled.counts().host_pages), (1500, 1500));
        assert!(filled.find(1499).is_some() && filled.find(1500).is_none());
    }

    #[test]
    fn a_used_drive_has_collected_and_is_always_the_same() {
        let used = make(geometry(), 1.0, 1.0);
        assert_eq!((used.mapped_pages(), used.counts().host_pages), (3000, 6000));
        assert!(used.counts().erases > 0 && used.free_blocks() < make(geometry(), 1.0, 0.0).free_blocks());
        let again = make(geometry(), 1.0, 1.0);
        assert!((0..3000).all(|page| used.find(page) == again.find(page)));
    }

    #[test]
    fn it_can_be_stopped_at_any_time() {
        let past =
            DriveTreatment { fill: 1.0, overwritten_share: 100.0, age: Nanos::ZERO, writes_per_unit: None };
        let calls = std::cell::Cell::new(0);
        let is_stopped = || calls.replace(calls.get() + 1) == 2;
        let stopped = super::make(PageMap::new(geometry()), geometry().flash.dies, past, &is_stopped);
        // Once before the fill, and twice during the overwrites.
        assert_eq!(stopped.counts().host_pages, 3000 + STOP_CHECK_PAGES as u64);
    }

    #[test]
    fn writes_that_may_not_share_a_unit_leave_it_half_used() {
        let made = |writes_per_unit| {
            let past =
                DriveTreatment { fill: 0.2, overwritten_share: 0.1, age: Nanos::ZERO, writes_per_unit };
            super::make(PageMap::new(geometry()), geometry().flash.dies, past, &|| false).counts()
        };
        // 600 sequential pages and 60 random ones, in units of 4 pages.
        let (together, apart) = (made(None), made(Some(1)));
        assert_eq!((together.host_pages, together.programmed), (660, 660));
        assert_eq!((apart.host_pages, apart.programmed), (660, 600 + 60 * 4));
    }

    #[test]
    fn the_past_of_a_drive_that_compresses_is_made_of_data_that_does_not() {
        let PageMapParameters { flash, free_blocks_min, idle_free_blocks, .. } = geometry();
        let parameters = CompressingParameters {
            flash,
            free_blocks_min,
            idle_free_blocks,
            granules_per_page: 16,
            granules_min: 2,
            parity_stripe_units: 0,
        };
        let used = super::make(
            CompressingMap::new(parameters),
            flash.dies,
            DriveTreatment { fill: 1.0, overwritten_share: 1.0, age: Nanos::ZERO, writes_per_unit: None },
            &|| false,
        );
        let as_pages = make(geometry(), 1.0, 1.0);
        for page in 0..3000 {
            let (place, as_page) = (used.find(page).unwrap(), as_pages.find(page).unwrap());
            assert_eq!(
                (place.at, place.size),
                (16 * as_page.at, 16),
                "page {page} is where a page map has it"
            );
        }
        assert_eq!(used.counts().programmed, 16 * as_pages.counts().programmed);
        assert_eq!(used.wear(), as_pages.wear());
    }
}
