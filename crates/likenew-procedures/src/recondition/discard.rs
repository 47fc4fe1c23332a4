//! Everything is given up at once: the gentlest rung of those that leave nothing.

use likenew_core::cure::Cure;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};

use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct Discard;

const CARD: RungCard =
    RungCard { does: "give up everything", doing: "giving up everything on it", destroys: "everything" };

impl Rung for Discard {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn bytes(&self, _scene: &Scene<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
        if looked(done) == 0 {
            return Some(Step::Look(Look::Cure(Cure::Discard)));
        }
        rest(scene, done, RungName::Discard).filter(|_| was_cured(done))
    }
}
