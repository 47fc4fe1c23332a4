//! The binary as users and scripts meet it.

mod real;
mod scenarios;
mod simulated;
mod support;
