//! The binary as users and scripts meet it.

mod endured;
mod explained;
mod filesystem;
mod real;
mod resumed;
mod scenarios;
mod simulated;
mod support;
