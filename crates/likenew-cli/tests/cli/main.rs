//! The binary as users and scripts meet it.

mod ageing;
mod explained;
mod filesystem;
mod real;
mod scenarios;
mod simulated;
mod support;
