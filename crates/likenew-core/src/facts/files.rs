//! How fragmented and how old files are: a sample of a folder without any name, or one file.

use serde::{Deserialize, Serialize};

use super::Fact;

/// A sample of files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Files {
    /// Files in the sample.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub files: Fact<u64>,
    /// Bytes of them.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub bytes: Fact<u64>,
    /// Bytes of them that lie in a hole, and are read without the drive.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub hole_bytes: Fact<u64>,
    /// Whether there are more files than were examined.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub is_part: Fact<bool>,
    /// Files whose extents were queried.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub files_mapped: Fact<u64>,
    /// Their extents beyond the first of each file, per MiB: what defragmentation can join.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub extents_per_mib: Fact<f64>,
    /// Extents of the most fragmented file.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub extents_max: Fact<u64>,
    /// Time since the content last changed (mtime): the 10th percentile.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub content_age_s_p10: Fact<u64>,
    /// The median.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub content_age_s_p50: Fact<u64>,
    /// The 90th percentile.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub content_age_s_p90: Fact<u64>,
    /// Time since the file last changed in any way (ctime), which no program can set back: the median.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub inode_age_s_p50: Fact<u64>,
    /// The 90th percentile.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub inode_age_s_p90: Fact<u64>,
}
