//! What can be wrong with a target: its name and its settings.

use likenew_core::units::BadUnit;

use crate::situation_error::SituationError;
use crate::wording::domain::Domain;

/// What is wrong, and what would be right.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    // Names
    #[error("write sim:NAME, sim:FILE.toml or sim:FILE.snapshot")]
    NotSimulated,
    #[error("\"{0}\" is not a seed: sim:generated-N takes a whole number from 0, such as sim:generated-17")]
    NotASeed(String),
    #[error("unknown drive \"{name}\"; `likenew drives` lists all {drives}, or give FILE.toml")]
    UnknownDrive { name: String, drives: usize },
    #[error("unknown drive \"{name}\"; did you mean \"{}\"? `likenew drives` lists all {drives}", .near.join("\" or \""))]
    SimilarDrive { name: String, near: Vec<&'static str>, drives: usize },
    #[error("a saved drive has its state already; leave out what follows the ?")]
    SettingOfSavedDrive,
    #[error("a saved drive is made already; replace values of the drive it was made of")]
    ValueOfSavedDrive,

    // Settings
    #[error("unknown setting \"{0}\"; see `likenew help sim`")]
    UnknownSetting(String),
    #[error("unknown {what} \"{typed}\"; did you mean \"{near}\"? See `likenew help sim`")]
    SimilarWord { what: &'static str, typed: String, near: String },
    #[error("unknown state \"{0}\": it takes state=new or state=used; see `likenew help sim`")]
    UnknownState(String),
    #[error("{key} is \"{value}\": it takes on or off; see `likenew help sim`")]
    NotASwitch { key: String, value: String },
    #[error("{key} is \"{value}\": it takes {domain}")]
    WrongValue { key: String, value: String, domain: Domain },
    #[error("{key}: {reason}")]
    Unreadable { key: String, reason: BadUnit },
    #[error("{0} is set twice")]
    Twice(String),
    #[error("deleted is {deleted} of the drive, and only {filled} of it ever held data; give less")]
    DeletedMoreThanFilled { deleted: f64, filled: f64 },

    // Settings that would have no effect
    #[error(
        "the {model} has no write cache that can be switched on and off; leave out cache=, or take one of {others}"
    )]
    NoWriteCache { model: String, others: String },
    #[error("the {model} is a disk without TRIM; leave out trim=")]
    NoTrim { model: String },
    #[error(
        "old data on the {model} reads as fast as new; leave out age=, or use one of {others}, or a file with [aging]"
    )]
    DoesNotAge { model: String, others: String },
    #[error("age says how long ago its data was written, and it holds none; add fill=0.8 or state=used")]
    AgeWithoutData,
    #[error(transparent)]
    Situation(#[from] SituationError),
}

impl SettingError {
    /// A value that is not what its key takes.
    pub(crate) fn wrong_value(key: &str, value: &str, domain: Domain) -> Self {
        Self::WrongValue { key: key.to_owned(), value: value.to_owned(), domain }
    }

    /// A size or a duration that cannot be read.
    pub(crate) fn unreadable(key: &str, reason: BadUnit) -> Self {
        Self::Unreadable { key: key.to_owned(), reason }
    }
}
