//! The past of a simulated drive, made by its own mechanism before its clock starts.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::flash::ftl::{Ftl, FtlGeometry};

/// How a drive was treated before it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Erased, as it leaves the factory or a secure erase; then filled once from the start, if a fill is asked for.
    #[default]
    New,
    /// Filled once from the start, then overwritten at random places, without TRIM.
    Used,
}

impl State {
    /// `new` or `used`.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Used => "used",
        }
    }
}

/// All aged drives have the same past.
const SEED: u64 = 1;

/// Makes a translation layer that holds the first `fill` share of its pages, written in order, and was then overwritten
/// at random within them for `overwritten_share` of their number.
pub(crate) fn make(geometry: FtlGeometry, fill: f64, overwritten_share: f64) -> Ftl {
    let mut writer = Writer { ftl: Ftl::new(geometry), die: 0, left: geometry.unit_pages };
    let filled = (f64::from(geometry.user_pages) * fill) as u32;
    (0..filled).for_each(|page| writer.write(page));
    if filled > 0 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let overwrites = (f64::from(filled) * overwritten_share) as u64;
        (0..overwrites).for_each(|_| writer.write(random.random_range(0..filled)));
    }
    writer.finish()
}

/// Writes pages as a drive without any time would: whole units, die by die.
struct Writer {
    ftl: Ftl,
    die: u32,
    /// Pages that the unit on this die still takes.
    left: u32,
}

impl Writer {
    fn write(&mut self, page: u32) {
        if self.left == 0 {
            self.next_die();
        }
        self.left -= 1;
        // How long collection takes does not matter in a past that has no time.
        let _work = self.ftl.write(page, self.die);
    }

    fn next_die(&mut self) {
        let dies = self.ftl.geometry().dies;
        let round = (1..=dies).map(|step| (self.die + step) % dies);
        self.die = round
            .into_iter()
            .find(|die| self.ftl.accepts(*die))
            .expect("a checked geometry always has a die with room");
        self.left = self.ftl.geometry().unit_pages;
    }

    fn finish(mut self) -> Ftl {
        let _work = self.ftl.pad(self.die);
        self.ftl
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> FtlGeometry {
        FtlGeometry {
            dies: 3,
            blocks_per_die: 40,
            pages_per_block: 32,
            row_pages: 2,
            unit_pages: 4,
            user_pages: 3000,
            free_blocks_min: 2,
        }
    }

    #[test]
    fn a_new_drive_holds_nothing_and_a_filled_one_its_share() {
        let new = make(geometry(), 0.0, 0.3);
        assert_eq!((new.mapped_pages(), new.counts().programmed_pages), (0, 0));
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
}
