//! A folder whose drive can be brought back by more than what measures it knows: old files written again, and space outside of partitions given up.

use std::path::{Path, PathBuf};

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::cure::{Cure, CureEnd, Cured, LeftOut};
use likenew_core::drive::{Accounting, Drive, Identity, Lane, Need};
use likenew_core::fault::Fault;
use likenew_core::look::{Look, Seen};
use likenew_core::outlook::Deed;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::consent::{Agreement, UnusedConsent, UnusedSpace};
use likenew_real::erase::discard::discard_unused;
use likenew_real::erase::precondition::{preconditions, require};

use crate::interrupt;
use crate::refreshing::refresh_files;

/// A folder as a drive, which knows these cures besides.
pub(crate) struct Cures {
    pub(crate) drive: Box<dyn Drive>,
    pub(crate) folder: PathBuf,
    /// By what the disk below was named, if somebody has agreed.
    pub(crate) agreement: Option<Agreement>,
}

impl Drive for Cures {
    fn identity(&self) -> Identity {
        self.drive.identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive.geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive.lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &Need) -> Result<Vec<Lane<'a>>, Fault> {
        self.drive.lanes(need)
    }

    fn reach(&mut self, access: Access, cold: bool) -> Result<(), Fault> {
        self.drive.reach(access, cold)
    }

    fn turn_to_old_files(&mut self, turn: bool) -> Result<(), Fault> {
        self.drive.turn_to_old_files(turn)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.drive.counters()
    }

    fn go_on_at(&mut self, now: Nanos) {
        self.drive.go_on_at(now);
    }

    fn look(&mut self, look: &Look) -> Result<Seen, Fault> {
        match (look, &self.agreement) {
            (Look::Cure(Cure::RefreshFiles { slower_than_bytes_per_s }), _) => {
                // Whoever has a file open, ourselves included, keeps it from being rewritten.
                self.drive.turn_to_old_files(false)?;
                Ok(refresh_files(&self.folder, *slower_than_bytes_per_s))
            }
            (Look::Cure(Cure::DiscardUnused), Some(agreement)) => match give_up(&self.folder, agreement) {
                Ok(cured) => Ok(Seen::Cured(cured)),
                Err(Fault::Refused(why) | Fault::Unsuitable(why)) => Ok(Seen::Unknown(why)),
                Err(fault) => Err(fault),
            },
            (look, _) => self.drive.look(look),
        }
    }

    fn accounting(&self) -> Option<Accounting> {
        self.drive.accounting()
    }
}

/// Gives up what no partition of the disk below a folder covers.
fn give_up(folder: &Path, agreement: &Agreement) -> Result<Cured, Fault> {
    let clock = Monotonic::start();
    let space = UnusedSpace::under(folder)?;
    for (_, found) in preconditions(&space.path, Deed::DiscardFree)? {
        require(&space.path, &found, Deed::DiscardFree)?;
    }
    let consent = UnusedConsent::take(&space, agreement)?;
    let came = discard_unused(&consent, |_, _| !interrupt::asked())?;
    let refused =
        came.refused.iter().map(|(range, why)| LeftOut { bytes: range.end - range.start, why: why.clone() });
    let end = if came.stopped && interrupt::asked() { CureEnd::Stopped } else { CureEnd::Complete };
    Ok(Cured {
        bytes: came.bytes_done,
        left_out: refused.collect(),
        took: clock.now(),
        end,
        ..Cured::default()
    })
}
