//! The file system that holds a folder or a file.

use likenew_core::facts::{Fact, FileSystem};

use super::machine_query::{MachineQuery, SpaceUsage, fact};
use super::roots::Roots;
use super::trimming::trimming;
use crate::identify::compresses;
use crate::mounts::Mount;
use crate::standards::bytes::clean;
use crate::wording::facts as wording;

/// What the mount says of it, and how full it is.
pub(crate) fn file_system(roots: &Roots, queries: &dyn MachineQuery, mount: &Mount) -> FileSystem {
    const MOUNTS: &str = "/proc/self/mountinfo";
    let filled = fact(queries.space_usage(&mount.point), "statvfs");
    let bytes = |of: fn(SpaceUsage) -> u64| filled.clone().map(of);
    let mut options: Vec<String> =
        mount.options.split(',').filter(|word| !word.is_empty()).map(clean).collect();
    let mut visited = std::collections::HashSet::new();
    options.retain(|option| visited.insert(option.clone()));
    FileSystem {
        point: clean(&mount.point),
        kind: Fact::new(clean(&mount.kind), MOUNTS),
        source: Fact::new(clean(&mount.source.to_string_lossy()), MOUNTS),
        options: Fact::new(options, MOUNTS),
        total_bytes: bytes(|filled| filled.total_bytes),
        used_bytes: bytes(|filled| filled.total_bytes.saturating_sub(filled.free_bytes)),
        free_bytes: bytes(|filled| filled.free_bytes),
        reserved_bytes: bytes(|filled| filled.free_bytes.saturating_sub(filled.available_bytes)),
        used_percent: filled.clone().and_then(wording::NO_SIZE, used_percent),
        compresses: match &*mount.kind {
            "btrfs" | "bcachefs" | "f2fs" => Fact::new(compresses(&mount.options), MOUNTS),
            "zfs" => Fact::unknown(wording::ZFS_PER_DATASET, MOUNTS).help(wording::ZFS_COMPRESSION),
            _ => Fact::NotQueried,
        },
        trimming: trimming(roots, queries, mount),
    }
}

/// As df reckons: what is used, of that and what an ordinary user may still use.
fn used_percent(filled: SpaceUsage) -> Option<f64> {
    let used = filled.total_bytes.saturating_sub(filled.free_bytes);
    let all = used.saturating_add(filled.available_bytes);
    (all > 0).then(|| (1000.0 * used as f64 / all as f64).round() / 10.0)
}
