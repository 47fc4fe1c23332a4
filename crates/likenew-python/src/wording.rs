//! Sentences of this crate.

use std::fmt::Display;

likenew_core::sentences! {
    pub(crate) fn unreadable_drive(name: &str, error: impl Display) =
        "could not read the drive's file {name}: {error}";
    pub(crate) fn saved_drive(name: &str) =
        "{name} is a saved drive, whose parameters are fixed; a drive of likenew.catalog(), generated-17 or \
         a TOML file has parameters";
    pub(crate) fn other_axis(along: &str) = "windows lie along \"time\" or \"bytes\", not {along:?}";
}

pub(crate) const EMPTY_STREAM: &str =
    "the stream of Arrow's IPC format holds no columns; pickle the table again";
