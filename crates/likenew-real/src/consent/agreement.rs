//! What the user has typed to agree to a loss, or to a step that loses nothing.

use std::path::Path;

use likenew_core::lab_error::LabError;

use super::refusal;
use crate::stable_id::StableId;
use crate::wording::consent as wording;

/// A drive or file by its stable name, and the names of everything on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The serial number, or its substitute (see [`crate::stable_id::StableId`]).
    pub id: String,
    /// What may be destroyed: names of file systems, partition tables and the like.
    pub destroy: Vec<String>,
}

impl Agreement {
    /// Whether this names the device or file at `path`.
    ///
    /// # Errors
    /// A refusal that gives its stable name.
    pub fn names(&self, path: &Path, id: &StableId) -> Result<(), LabError> {
        if self.id == id.text {
            return Ok(());
        }
        Err(refusal(path, &wording::not_its_id(&self.id, id.kind, &id.text)))
    }
}
