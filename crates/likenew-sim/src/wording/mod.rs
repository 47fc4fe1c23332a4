//! Sentences that several rooms share, and those of the rooms that have no wording of their own.

pub(crate) mod domain;
pub(crate) mod drive;
pub(crate) mod host;
pub(crate) mod settings;
