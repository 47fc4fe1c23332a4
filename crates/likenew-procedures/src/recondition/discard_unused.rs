//! What no partition of the disk below a folder covers is given up: it becomes spare for everything that is written.

use likenew_core::cure::Cure;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::units::amount;

use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct DiscardUnused;

const CARD: RungCard = RungCard {
    does: "tell the drive what no partition covers",
    doing: "telling the drive what no partition covers",
    destroys: "what no partition covers",
};

impl Rung for DiscardUnused {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    /// Nobody but its owner knows that nothing lies there.
    fn doubt(&self, scene: &Scene<'_>) -> Option<String> {
        let bytes = scene.outlook.and_then(|outlook| outlook.unused_bytes.get());
        Some(format!(
            "somebody has to agree that nothing is kept in {} that no partition covers",
            bytes.map_or_else(|| "space".into(), amount)
        ))
    }

    fn bytes(&self, _scene: &Scene<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
        if looked(done) == 0 {
            return Some(Step::Look(Look::Cure(Cure::DiscardUnused)));
        }
        rest(scene, done, RungName::DiscardUnused).filter(|_| was_cured(done))
    }
}
