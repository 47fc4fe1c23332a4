//! What no partition of the disk below a folder covers is given up: it becomes spare for everything that is written.

use likenew_core::cure::Cure;
use likenew_core::drive::Kind;
use likenew_core::facts::Fact;
use likenew_core::look::Look;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::units::amount;

use super::rung::{Rung, RungCard, RungName, Scene, looked, rest, was_cured};

pub(super) struct DiscardUnused;

const CARD: RungCard = RungCard {
    does: "tell the drive what no partition covers",
    doing: "telling the drive what no partition covers",
    destroys: "what no partition covers",
    helps: &["no_trim", "nearly_full"],
};

impl Rung for DiscardUnused {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn obstacle(&self, scene: &Scene<'_>) -> Option<String> {
        match scene.evidence.identity.kind {
            Kind::Folder => match &scene.outlook?.unused_bytes {
                Fact::Known { value: 0, .. } => Some("partitions cover all of the disk".into()),
                Fact::Unknown { why, .. } => Some(why.clone()),
                Fact::Known { .. } | Fact::Unasked => None,
            },
            Kind::Simulated => Some("it has no partitions".into()),
            Kind::Device => {
                Some("it is seen in writes whether it helps: give a folder on one of its partitions".into())
            }
            Kind::File => Some("a file has no partitions: give a folder on the drive".into()),
            Kind::Nop => Some("there is nothing".into()),
        }
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
