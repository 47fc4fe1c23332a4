//! The write buffer: how much is taken at the link's speed before the medium has to keep up.

mod behind_merges;
mod bursts;
mod disk_cache;

use likenew_core::drive::Kind;
use likenew_core::workload::Workload;

use super::finding::Finding;
use super::probe::Probe;
use super::property::{Key, Property};
use super::scene::Scene;

/// Writes bursts into an empty buffer.
pub(super) struct WriteBufferProbe;

impl Probe for WriteBufferProbe {
    fn name(&self) -> &'static str {
        "write-buffer"
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        match refusal(scene) {
            Some(_) => None,
            None if is_disk(scene) => disk_cache::next(scene),
            None if merges(scene) => behind_merges::next(scene),
            None => bursts::next(scene),
        }
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        match refusal(scene) {
            Some(property) => Finding::of(property, None),
            None if is_disk(scene) => disk_cache::find(scene),
            None if merges(scene) => behind_merges::find(scene),
            None => bursts::find(scene),
        }
    }
}

/// Why it can not be asked here, if it can not.
fn refusal(scene: &Scene<'_>) -> Option<Property> {
    let undecided = |why| Some(Property::undecided(Key::WriteBufferBytes, why));
    match scene.known.word(Key::Medium) {
        Some("virtual") => return undecided("what a network volume takes at once its credits decide"),
        None => {
            return undecided(
                "what keeps a buffer from running empty depends on the medium, and that was not found",
            );
        }
        Some(_) => {}
    }
    if scene.evidence.identity.kind == Kind::Folder
        && scene.evidence.geometry.boundary.is_some_and(|file| file < 1 << 20)
    {
        return undecided("the files are too short");
    }
    match scene.own.is_empty() && !scene.may_write(bursts::FIRST) {
        true => undecided("nothing may be written here"),
        false => None,
    }
}

fn is_disk(scene: &Scene<'_>) -> bool {
    scene.known.is("disk") || scene.known.is("shingled disk")
}

/// Whether it is known how to have the flash busy with merges.
fn merges(scene: &Scene<'_>) -> bool {
    let family = scene.known.word(Key::Mapping);
    family.is_some_and(|family| family != "page") && scene.known.number(Key::EraseUnitBytes).is_some()
}
