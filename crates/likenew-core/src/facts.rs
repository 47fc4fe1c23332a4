//! What the system knows about a drive without timing I/O: the whole path from a folder to its medium, and
//! what the medium reports.
//!
//! Every leaf is a [`Fact`]: a value with its origin, or why it is unknown and what would help. Readers
//! ignore fields they do not know, so that versions can read each other's facts. Nothing here judges what a
//! fact means for speed.

pub mod drive;
pub mod fact;
pub mod file_system;
pub mod rows;

pub use drive::{
    Attribute, Card, Cloud, Counts, Database, Drive, DriveDelta, DriveKind, FactsDelta, Health, Hop,
    HostMemory, Identity, Link, Log, LogKind, LogLine, Power, Serial, Smartctl, Space, Zones,
};
pub use fact::Fact;
pub use file_system::{FileSystem, Layer, LayerKind, Trimming, UNMAP_RULES};
pub use rows::FactRow;
use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

/// Everything that is known of a target.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The machine they were collected on.
    pub machine: Machine,
    /// From the folder down to the medium. The members of an array follow it, one after the other.
    pub stack: Vec<Layer>,
    /// The file system of the folder or file; absent for a block device.
    pub file_system: Option<FileSystem>,
    /// The drives at the bottom of the stack: several below an array.
    pub drives: Vec<Drive>,
    /// A sample of the files in the folder, or the file itself; absent for a block device.
    pub files: Option<Files>,
    /// What the facts were read from, if they are of another machine.
    pub reported: Option<Reported>,
}

/// Outputs of programs on another machine, from which facts were read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reported {
    /// Outputs that were recognized.
    pub sources: Vec<ReportedSource>,
    /// Texts in which no output was recognized.
    pub unread: Vec<String>,
    /// Outputs that would show more.
    pub missing: Vec<MissingOutput>,
}

/// One recognized output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedSource {
    /// The text that contains it.
    pub file: String,
    /// The line where it begins, from 1.
    pub line: u64,
    /// The program that printed it: `smartctl`, `lsblk` …
    pub program: String,
}

/// An output that was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissingOutput {
    /// What it would show: a noun phrase.
    pub shows: String,
    /// The command that prints it.
    pub command: String,
}

/// Whether a file system of this kind holds its files in memory.
pub fn is_in_memory(kind: &str) -> bool {
    ["tmpfs", "ramfs", "devtmpfs", "rootfs"].contains(&kind)
}

impl Facts {
    /// The lowest layer known to block TRIM. Layers above it report the same.
    pub fn trim_blocked_by(&self) -> Option<&Layer> {
        self.stack.iter().rev().find(|layer| layer.takes_trim.value() == Some(&false))
    }

    /// Whether the target is in memory: its lowest layer is memory, or a file system that keeps its files there.
    pub fn is_memory(&self) -> bool {
        self.stack.last().is_some_and(|lowest| match lowest.kind {
            LayerKind::Memory => true,
            LayerKind::FileSystem => lowest.label.value().is_some_and(|kind| is_in_memory(kind)),
            _ => false,
        })
    }

    /// Share, in 0..1, of a file or of a loop device's file that lies in holes.
    pub fn hole_share(&self) -> Option<f64> {
        let of_file = self.files.as_ref().map(|files| (&files.hole_bytes, &files.bytes));
        let of_loops =
            self.layers_of(LayerKind::Loop).map(|layer| (&layer.hole_bytes, &layer.capacity_bytes));
        let shares = of_file.into_iter().chain(of_loops);
        shares.filter_map(|(holes, bytes)| Some(holes.get()? as f64 / bytes.get()?.max(1) as f64)).next()
    }

    /// The drive at the bottom, if its own speed shows through: one whole real drive, with no layer that
    /// answers for it. A virtual machine has none, because it may give its disks any name.
    pub fn plain_drive(&self) -> Option<&Drive> {
        let [drive] = self.drives.as_slice() else { return None };
        let is_in_virtual_machine = self.machine.virtual_machine.value().is_some_and(Option::is_some);
        let passes = self.stack.iter().all(|layer| layer.kind.passes_commands());
        (!is_in_virtual_machine && drive.is_real() && passes).then_some(drive)
    }

    /// The layers of this kind, from the top down.
    pub fn layers_of(&self, kind: LayerKind) -> impl Iterator<Item = &Layer> {
        self.stack.iter().filter(move |layer| layer.kind == kind)
    }
}

/// Properties of the machine that limit which facts can be known and how a drive can be judged.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Release of the kernel.
    pub kernel: Fact<String>,
    /// Whether the facts were collected as root.
    pub root: Fact<bool>,
    /// The kind of container, which sees only part of its host; none outside of a container.
    pub container: Fact<Option<String>>,
    /// The kind of virtual machine, as its firmware reports; none on a real machine.
    pub virtual_machine: Fact<Option<String>>,
    /// Maker and model of the computer or board.
    pub board: Fact<String>,
    /// Memory, part of which can cache files that were read.
    pub memory_bytes: Fact<u64>,
}

/// A sample of files.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Files {
    /// Files in the sample.
    pub files: Fact<u64>,
    /// Their bytes.
    pub bytes: Fact<u64>,
    /// Those of their bytes that lie in holes, which are read without the drive.
    pub hole_bytes: Fact<u64>,
    /// Whether there are more files than were examined.
    pub is_part: Fact<bool>,
    /// Files whose extents were queried.
    pub files_mapped: Fact<u64>,
    /// Extents beyond the first of each file, per MiB: what defragmentation can join.
    pub extents_per_mib: Fact<f64>,
    /// Extents of the most fragmented file.
    pub extents_max: Fact<u64>,
    /// Time since the content last changed (mtime): 10th percentile.
    pub content_age_s_p10: Fact<u64>,
    /// Time since the content last changed: median.
    pub content_age_s_p50: Fact<u64>,
    /// Time since the content last changed: 90th percentile.
    pub content_age_s_p90: Fact<u64>,
    /// Time since the file last changed in any way (ctime, which no program can set back): median.
    pub inode_age_s_p50: Fact<u64>,
    /// Time since the file last changed in any way: 90th percentile.
    pub inode_age_s_p90: Fact<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let layer = |name: &str, kind, takes: bool| Layer {
            name: name.into(),
            kind,
            takes_trim: Fact::new(takes, "queue/discard_max_bytes"),
            ..Layer::default()
        };
        Facts {
            stack: vec![
                layer("/", LayerKind::FileSystem, true),
                layer("dm-0", LayerKind::Crypt, false),
                layer("sda", LayerKind::Disk, true),
            ],
            drives: vec![Drive {
                name: "sda".into(),
                kind: DriveKind::Sata,
                identity: Identity {
                    model: Fact::new("X".to_owned(), "IDENTIFY"),
                    serial: Fact::new(Serial { hash: "ab".into(), plain: Some("S3RIAL".into()) }, "IDENTIFY"),
                    ..Identity::default()
                },
                ..Drive::default()
            }],
            ..Facts::default()
        }
    }

    #[test]
    fn what_is_stored_reads_back_without_the_serial_number() {
        let facts = facts();
        let text = serde_json::to_string(&facts).unwrap();
        assert!(!text.contains("S3RIAL"), "{text}");
        assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), facts);
    }

    #[test]
    fn other_versions_are_read_as_far_as_they_are_understood() {
        let text = r#"{
            "stack": [{"name": "sda", "kind": "quantum", "capacity_bytes": {"value": "many", "origin": "size"}, "color": 7}],
            "drives": [{"name": "sda", "kind": "warp", "link": {"new": {"value": 1, "origin": "x"}}}],
            "weather": "fine"
        }"#;
        let facts: Facts = serde_json::from_str(text).unwrap();
        assert_eq!((facts.stack[0].kind, facts.drives[0].kind), (LayerKind::Other, DriveKind::Other));
        assert!(facts.stack[0].capacity_bytes.reason().unwrap().contains("version"));
        assert!(facts.stack[0].scheduler.is_not_queried());
        assert_eq!(serde_json::from_str::<Facts>("{}").unwrap(), Facts::default());
    }

    #[test]
    fn the_lowest_layer_that_blocks_is_named() {
        assert_eq!(facts().trim_blocked_by().unwrap().name, "dm-0");
        assert_eq!(facts().layers_of(LayerKind::Disk).count(), 1);
        assert!(Facts::default().trim_blocked_by().is_none());
    }
}
