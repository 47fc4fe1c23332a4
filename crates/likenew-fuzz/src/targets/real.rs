//! What drives and the kernel answer.

use likenew_real::fuzzing;

use super::file;
use crate::{Input, Target};

pub(super) fn targets() -> Vec<Target> {
    vec![
        target("ata answers", &[&["ata-identify", "ata-smart"]], fuzzing::ata),
        target("nvme answers", &[&["nvme-controller", "nvme-namespace"]], fuzzing::nvme),
        target("scsi pages", &[&["scsi-80"], &["scsi-89"], &["scsi-b1"], &["scsi-b2"]], fuzzing::scsi),
        target("smartctl", &[&["smartctl-ata.json"], &["smartctl-nvme.json"]], fuzzing::smartctl),
        target("drive database", &[&["drive-database.h"]], fuzzing::drive_database),
        target("kernel log", &[&["kernel-log"]], fuzzing::kernel_log),
        target("proc files", &[&["stat", "mountinfo", "processors"]], fuzzing::proc),
        target(
            "tracefs pages",
            &[&["tracefs-head", "tracefs-issue", "tracefs-complete", "tracefs-page"]],
            fuzzing::tracefs,
        ),
        target("fiemap", &[&["fiemap"]], fuzzing::fiemap),
        target("disks", &[&["disk-dos", "disk-dos"], &["disk-gpt-head", "disk-gpt-tail"]], fuzzing::disk),
    ]
}

fn target(name: &'static str, seeds: &[&[&str]], check: fn(&[Vec<u8>]) -> bool) -> Target {
    let input = |parts: &&[&str]| -> Input {
        parts.iter().map(|name| file(&format!("crates/likenew-fuzz/corpus/real/{name}"))).collect()
    };
    Target { name, seeds: seeds.iter().map(input).collect(), check }
}
