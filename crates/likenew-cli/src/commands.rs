//! One file per command.

pub(crate) mod bench;
pub(crate) mod drives;
pub(crate) mod endure;
pub(crate) mod fill;
pub(crate) mod judge;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sim;
