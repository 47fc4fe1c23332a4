//! Matches a real drive with the catalog.

use likenew_core::facts::{Drive, DriveKind, Facts, LayerKind};
use likenew_procedures::check::{CatalogMatch, Metric};
use likenew_sim::model::Model;
use likenew_sim::{Entry, Spec, by_reported_model};

/// The catalog entry of a real drive.
pub(crate) struct CatalogDrive {
    /// The entry, as reported.
    pub(crate) catalog_match: CatalogMatch,
    /// Rated speeds of the entry, in bytes a second; only those with a source.
    pub(crate) advertised: Vec<(Metric, u64)>,
    /// The simulated drive: new, and as full as the real one.
    pub(crate) simulation: Spec,
    /// Whether small writes go through a file system, which the simulation does not model.
    pub(crate) is_in_a_file_system: bool,
}

/// The entry of the drive at the bottom, if that is one whole drive of a model that was sold, without a layer
/// that answers for it.
pub(crate) fn find(facts: &Facts) -> Option<CatalogDrive> {
    let [drive] = facts.drives.as_slice() else { return None };
    // A virtual machine may give its disks any name, and a passed-through disk cannot be distinguished from
    // those.
    let is_in_virtual_machine = facts.machine.virtual_machine.value().is_some_and(Option::is_some);
    if is_in_virtual_machine
        || !is_real_drive(drive)
        || !facts.stack.iter().all(|layer| passes_commands(layer.kind))
    {
        return None;
    }
    let model = drive.identity.model.value()?;
    let capacity_bytes = drive.identity.capacity_bytes.get()?;
    let entry = by_reported_model(model, capacity_bytes)?;
    let (advertised, by) = rated_metrics(&entry.model);
    Some(CatalogDrive {
        catalog_match: CatalogMatch { model: model.clone(), entry: entry.name.to_owned(), advertised_by: by },
        advertised,
        simulation: as_new(entry, facts),
        is_in_a_file_system: facts.file_system.is_some(),
    })
}

/// The name of a hypervisor's disk says nothing about its medium. A bridge passes on the drive's name, and
/// limits its speed, which the link shows.
fn is_real_drive(drive: &Drive) -> bool {
    let is_virtual = drive.identity.virtual_by.value().is_some_and(Option::is_some);
    let kind = matches!(drive.kind, DriveKind::Nvme | DriveKind::Sata | DriveKind::Scsi | DriveKind::Usb);
    kind && !is_virtual && drive.cloud.is_none()
}

/// Layers that pass every I/O on to one place. Arrays, caches and files that serve as devices change the I/O.
fn passes_commands(kind: LayerKind) -> bool {
    matches!(
        kind,
        LayerKind::FileSystem
            | LayerKind::Partition
            | LayerKind::Crypt
            | LayerKind::LogicalVolume
            | LayerKind::Disk
            | LayerKind::UsbDisk
    )
}

/// The rated speeds of an entry, and their source. Assumed values are no rated speeds.
fn rated_metrics(model: &Model) -> (Vec<(Metric, u64)>, Option<String>) {
    let metrics = [
        (Metric::SequentialRead, model.advertised.read_bytes_per_s, "advertised.read_bytes_per_s"),
        (Metric::SequentialWrite, model.advertised.write_bytes_per_s, "advertised.write_bytes_per_s"),
    ];
    let (mut rated_metrics, mut by) = (Vec::new(), Vec::new());
    for (metric, per_s, key) in metrics {
        let source = model.source(key).filter(|sourced| !sourced.is_assumed());
        let (Some(per_s), Some(sourced)) = (per_s, source) else { continue };
        rated_metrics.push((metric, per_s));
        if !by.contains(&sourced.source) {
            by.push(sourced.source.clone());
        }
    }
    let by = (!by.is_empty()).then(|| format!("\"{}\"", by.join("; ")));
    (rated_metrics, by)
}

/// A device whose fill is unknown counts as full, so that no read goes to a blank address.
fn as_new(entry: &Entry, facts: &Facts) -> Spec {
    let used = facts.file_system.as_ref().and_then(|of| of.used_bytes.get());
    let share = used.map_or(1.0, |used| used as f64 / entry.model.capacity_bytes as f64);
    // Percent, because the simulated baseline is part of the plan and must stay the same.
    let percent = (share.clamp(0.0, 1.0) * 100.0).round() / 100.0;
    Spec::parse(&format!("sim:{}?state=new&fill={percent}", entry.name)).expect("a name of the catalog")
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Cloud, Fact, FileSystem, Identity, Layer};

    use super::*;

    fn facts(model: &str, capacity_bytes: u64) -> Facts {
        let layer = |name: &str, kind| Layer { name: name.into(), kind, ..Layer::default() };
        Facts {
            stack: vec![
                layer("/home", LayerKind::FileSystem),
                layer("dm-0", LayerKind::Crypt),
                layer("sda2", LayerKind::Partition),
                layer("sda", LayerKind::Disk),
            ],
            file_system: Some(FileSystem {
                used_bytes: Fact::new(40_000_000_000, "statvfs"),
                ..FileSystem::default()
            }),
            drives: vec![Drive {
                name: "sda".into(),
                kind: DriveKind::Sata,
                identity: Identity {
                    model: Fact::new(model.to_owned(), "IDENTIFY"),
                    capacity_bytes: Fact::new(capacity_bytes, "size"),
                    virtual_by: Fact::new(None, "the names of the drive and of the machine"),
                    ..Identity::default()
                },
                ..Drive::default()
            }],
            ..Facts::default()
        }
    }

    const M4: (&str, u64) = ("M4-CT128M4SSD2", 128_035_676_160);

    #[test]
    fn a_reported_model_has_metrics_source_and_simulated_drive() {
        let known = find(&facts(M4.0, M4.1)).unwrap();
        assert_eq!(known.catalog_match.entry, "crucial-m4-128gb");
        assert_eq!(
            known.advertised,
            [(Metric::SequentialRead, 415_000_000), (Metric::SequentialWrite, 175_000_000)]
        );
        assert_eq!(known.catalog_match.advertised_by.as_deref(), Some("\"Tom's Hardware 2908\""));
        assert_eq!(known.simulation.text, "sim:crucial-m4-128gb?state=new&fill=0.31");
        assert!(known.is_in_a_file_system);
        let device = Facts { file_system: None, ..facts(M4.0, M4.1) };
        assert_eq!(find(&device).unwrap().simulation.text, "sim:crucial-m4-128gb?state=new&fill=1");
    }

    #[test]
    fn what_was_assumed_is_no_claim() {
        let known = find(&facts("SSDSA2SH032G1GN INTEL", 32_000_000_000)).unwrap();
        assert_eq!((known.advertised.len(), known.catalog_match.advertised_by), (0, None));
    }

    #[test]
    fn what_is_shown_by_somebody_else_is_not_known() {
        let changed = |change: &dyn Fn(&mut Facts)| {
            let mut facts = facts(M4.0, M4.1);
            change(&mut facts);
            find(&facts).map(|known| known.catalog_match.entry)
        };
        assert!(changed(&|_| {}).is_some());
        let shown = |facts: &mut Facts| {
            facts.drives[0].identity.virtual_by = Fact::new(Some("QEMU".into()), "the machine's name");
        };
        assert_eq!(changed(&shown), None, "a name is typed into a hypervisor as into anything");
        assert_eq!(changed(&|facts| facts.drives[0].kind = DriveKind::Virtual), None);
        let inside = |facts: &mut Facts| {
            facts.machine.virtual_machine = Fact::new(Some("KVM".into()), "/sys/class/dmi/id");
        };
        assert_eq!(changed(&inside), None);
        assert_eq!(changed(&|facts| facts.drives[0].cloud = Some(Cloud::default())), None);
        assert_eq!(changed(&|facts| facts.drives.push(facts.drives[0].clone())), None);
        assert_eq!(changed(&|facts| facts.drives.clear()), None);
        for kind in
            [LayerKind::Array, LayerKind::Loop, LayerKind::Cache, LayerKind::Network, LayerKind::Other]
        {
            assert_eq!(changed(&|facts| facts.stack[1].kind = kind), None, "{kind:?}");
        }
        let unnamed = |facts: &mut Facts| facts.drives[0].identity.model = Fact::unknown("why", "IDENTIFY");
        assert_eq!(changed(&unnamed), None);
        assert!(
            find(&facts("M4-CT256M4SSD2", 256_060_514_304)).is_none() && find(&Facts::default()).is_none()
        );
    }
}
