//! The binary as users and scripts meet it.

mod data;
mod explained;
mod filesystem;
mod real;
mod scenarios;
mod simulated;
mod support;
