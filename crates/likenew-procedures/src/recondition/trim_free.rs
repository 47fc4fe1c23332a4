//! The gentlest rung: the drive is told what is free, as fstrim does it.

use likenew_core::cure::Cure;
use likenew_core::drive::Kind;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};

use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct TrimFree;

const CARD: RungCard = RungCard {
    does: "tell the drive what is free",
    doing: "telling the drive what is free",
    destroys: "what was deleted",
    helps: &["no_trim", "nearly_full"],
};

impl Rung for TrimFree {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn obstacle(&self, scene: &Scene<'_>) -> Option<String> {
        match scene.evidence.identity.kind {
            Kind::Folder => scene.facts.and_then(|facts| facts.trim_blocked_by()).map(|layer| {
                format!(
                    "{} ({}) lets no TRIM pass: likenew trim says what would",
                    layer.name,
                    layer.kind.words()
                )
            }),
            Kind::Simulated if !scene.evidence.geometry.trims => Some("no TRIM can be sent to it".into()),
            Kind::Simulated if scene.free().is_none() => Some("none of it is free".into()),
            Kind::Simulated => None,
            Kind::File | Kind::Device | Kind::Nop => Some(
                "which parts of it are free its file system knows: give the folder where that is mounted"
                    .into(),
            ),
        }
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
