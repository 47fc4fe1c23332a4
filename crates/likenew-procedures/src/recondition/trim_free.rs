//! The gentlest rung: the drive is told what is free, as fstrim does it.

use likenew_core::cure::Cure;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};

use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct TrimFree;

const CARD: RungCard = RungCard {
    does: "tell the drive what is free",
    doing: "telling the drive what is free",
    destroys: "what was deleted",
};

impl Rung for TrimFree {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn bytes(&self, _scene: &Scene<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
        if looked(done) == 0 {
            return Some(Step::Look(Look::Cure(Cure::TrimFree)));
        }
        rest(scene, done, RungName::Trim).filter(|_| was_cured(done))
    }
}
