//! Histories over real run folders.

mod cuts;
mod engines;
mod pages;
mod rebuild;
mod support;
