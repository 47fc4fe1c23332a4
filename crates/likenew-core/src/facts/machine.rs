//! The machine on which facts were collected.

use serde::{Deserialize, Serialize};

use super::Fact;

/// What decides how much can be known, and what a drive can be judged by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Release of the kernel.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub kernel: Fact<String>,
    /// Whether the facts were collected as root.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub root: Fact<bool>,
    /// Whether this is a container, which sees what its host lets it see; the word is the kind of it.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub container: Fact<Option<String>>,
    /// What virtual machine this is, in the words of its firmware; none where it is none.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub virtual_machine: Fact<Option<String>>,
    /// Maker and model of the computer or board.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub board: Fact<String>,
    /// Memory: what a system may keep of files that were read.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub memory_bytes: Fact<u64>,
}
