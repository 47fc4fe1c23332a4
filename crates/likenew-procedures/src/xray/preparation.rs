//! Ground to stand on: own files have to hold data before they can be read.

use likenew_core::drive::Kind;
use likenew_core::io::DataClass;
use likenew_core::workload::Workload;

use super::finding::Finding;
use super::probe::Probe;
use super::scene::Scene;
use crate::workloads::prepare;

pub(super) const NAME: &str = "preparation";

/// Writes a folder's own files once, and nothing anywhere else: what is on a device or a simulated drive is read as it was found.
pub(super) struct Preparation;

impl Probe for Preparation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        let needed = scene.evidence.identity.kind == Kind::Folder && scene.own.is_empty();
        needed.then(|| prepare(scene.span, scene.span, DataClass::Random))
    }

    fn find(&self, _scene: &Scene<'_>) -> Finding {
        Finding::default()
    }
}
