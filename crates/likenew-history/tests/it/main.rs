//! Histories over real run folders.

mod cuts;
mod engines;
mod fleet;
mod pages;
mod rebuild;
mod support;
