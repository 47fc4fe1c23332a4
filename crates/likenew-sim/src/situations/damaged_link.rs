//! A cable or contact that damages what it carries: one command in so many ends with a wrong checksum, the
//! link is reset, and the command is sent again.
//!
//! On SATA and USB that takes the host's error handling: Linux resets the link, waits until it is up and
//! settled, and starts all commands anew (libata's `ata_eh_recover`; settling alone is debounced for 100 ms).
//! PCI Express repeats a packet by itself within microseconds, which is too short to notice.

use likenew_core::io::Io;
use likenew_core::units::Nanos;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::io_hook::IoHook;
use crate::device::SelfCounts;

/// From the wrong checksum until commands are sent again (assumed: what kernel logs show between "hard
/// resetting link" and "EH complete" at best).
const RESET: Nanos = Nanos::from_millis(300);
/// All such links are damaged at the same commands.
const SEED: u64 = 3;

/// The link in time.
pub(crate) struct DamagedLink {
    every_ios: u64,
    random: Xoshiro256PlusPlus,
    /// Nothing passes before.
    up_at: Nanos,
    errors: u64,
}

impl DamagedLink {
    /// One command in `every_ios` is damaged.
    pub(crate) fn new(every_ios: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        Self { every_ios, random, up_at: Nanos::ZERO, errors: 0 }
    }
}

impl IoHook for DamagedLink {
    fn delay_before(&mut self, _io: &Io, now: Nanos) -> Nanos {
        let begins = now.max(self.up_at);
        if self.random.random_range(0..self.every_ios) == 0 {
            self.errors += 1;
            self.up_at = begins + RESET;
        }
        now.max(self.up_at)
    }

    fn delay_after(&mut self, _io: &Io, now: Nanos) -> Nanos {
        now.max(self.up_at)
    }

    fn counts(&self, below: SelfCounts) -> SelfCounts {
        SelfCounts { link_errors: below.link_errors + self.errors, ..below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::NO_IO;

    #[test]
    fn everybody_waits_for_the_reset_and_it_is_counted() {
        let mut always = DamagedLink::new(1);
        assert_eq!(always.delay_before(&NO_IO, Nanos(5)), RESET + Nanos(5));
        assert_eq!(always.delay_after(&NO_IO, Nanos(7)), RESET + Nanos(5), "what was in flight is lost, too");
        assert_eq!(always.delay_before(&NO_IO, Nanos(9)), RESET + RESET + Nanos(5));
        assert_eq!(always.counts(SelfCounts::default()).link_errors, 2);
        let mut seldom = DamagedLink::new(100);
        let waits = (0..10_000_u64).filter(|second| {
            let now = Nanos::from_secs(*second);
            seldom.delay_before(&NO_IO, now) > now
        });
        let count = waits.count() as u64;
        assert!((70..130).contains(&count), "{count} of 10 000");
        assert_eq!(seldom.counts(SelfCounts::default()).link_errors, count);
    }
}
