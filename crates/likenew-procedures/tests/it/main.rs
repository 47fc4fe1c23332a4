//! What procedures run and say, on drives whose behaviour is known beforehand.

mod age;
mod apps;
mod bench;
mod cache;
mod check_outlook;
mod check_upgrade;
mod data;
mod endure;
mod endure_snia;
mod fill;
mod model;
mod played_disk;
mod recondition;
mod recondition_credit;
mod refused_io;
mod replay;
mod support;
mod surface;
mod sweep;
mod trim;
mod verify;
