//! The drive formats itself, by a command of its own: only of NVMe.

use likenew_core::cure::Cure;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_options::Erase;
use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct Format;

const CARD: RungCard = RungCard {
    does: "have the drive format itself",
    doing: "the drive's own format",
    destroys: "everything",
};

impl Rung for Format {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn bytes(&self, _scene: &Scene<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
        if looked(done) == 0 {
            return Some(Step::Look(Look::Cure(Cure::Format { crypto: scene.options.erase == Erase::Key })));
        }
        rest(scene, done, RungName::Format).filter(|_| was_cured(done))
    }
}
