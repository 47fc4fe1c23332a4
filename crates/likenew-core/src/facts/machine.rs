//! The machine on which facts were collected.

use serde::{Deserialize, Serialize};

use super::Fact;

/// Properties that limit which facts can be known, and how a drive can be judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Release of the kernel.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub kernel: Fact<String>,
    /// Whether the facts were collected as root.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub root: Fact<bool>,
    /// Whether this is a container, which sees only part of its host; the word is its kind.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub container: Fact<Option<String>>,
    /// The kind of virtual machine, as its firmware reports; none on a real one.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub virtual_machine: Fact<Option<String>>,
    /// Maker and model of the computer or board.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub board: Fact<String>,
    /// Memory, part of which can cache files that were read.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub memory_bytes: Fact<u64>,
}
