//! Everything is given up at once: the gentlest rung of those that leave nothing.

use likenew_core::cure::Cure;
use likenew_core::drive::Kind;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};

use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct Discard;

const CARD: RungCard = RungCard {
    does: "give up everything",
    doing: "giving up everything on it",
    destroys: "everything",
    helps: &["no_trim", "nearly_full", "old_data"],
};

impl Rung for Discard {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn obstacle(&self, scene: &Scene<'_>) -> Option<String> {
        whole(scene).or_else(|| {
            (!scene.evidence.geometry.trims).then(|| "it takes no TRIM: overwrite-all is the way".into())
        })
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

/// Why not all of it can be given up, if it can not.
pub(super) fn whole(scene: &Scene<'_>) -> Option<String> {
    match scene.evidence.identity.kind {
        Kind::Folder => Some("it takes the whole block device".into()),
        Kind::File => Some("a file is no drive: give the block device".into()),
        Kind::Nop => Some("there is nothing".into()),
        Kind::Device if !scene.evidence.geometry.writable => {
            Some("everything on it would be lost, and nobody has agreed to that: add --consent".into())
        }
        Kind::Device | Kind::Simulated => None,
    }
}
