//! Requests to overwrite what must not be overwritten, by what is wrong with each.

#![allow(unreachable_pub, reason = "a module of a test has nobody to be public to")]

pub mod changes;
pub mod disk;
pub mod identifiers;
pub mod kinds;
pub mod ledger;
pub mod shared;
pub mod signatures;
pub mod uses;
