//! What smartmontools' database of drives says of a model, where it is installed.

use serde::{Deserialize, Serialize};

use super::Fact;

/// The entry of a drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Database {
    /// The family of models that it belongs to; none where the database does not know it.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub family: Fact<Option<String>>,
    /// What it warns of in this model and firmware; none where it warns of nothing.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub warning: Fact<Option<String>>,
    /// Whether it calls the family shingled (SMR). If not, that proves nothing.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub shingled: Fact<bool>,
}
