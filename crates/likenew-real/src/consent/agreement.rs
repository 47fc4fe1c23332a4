//! What a person has typed to agree to a loss.

/// A drive or file, named by what it is known by, and everything that is on it, named too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The serial number, or what stands for it (see [`crate::stable_id::StableId`]).
    pub id: String,
    /// What may be destroyed: names of file systems, partition tables and the like.
    pub destroy: Vec<String>,
}
