//! One file per command.

pub(crate) mod age;
pub(crate) mod apps;
pub(crate) mod bench;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod data;
pub(crate) mod drives;
pub(crate) mod endure;
pub(crate) mod facts;
pub(crate) mod fill;
pub(crate) mod help;
pub(crate) mod import;
pub(crate) mod judge;
pub(crate) mod model;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sim;
pub(crate) mod surface;
pub(crate) mod sweep;
pub(crate) mod trim;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod xray;
