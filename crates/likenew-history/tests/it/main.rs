//! Histories over real run folders.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod cuts;
mod engines;
mod fleet;
mod metrics;
mod pages;
mod rebuild;
mod support;
