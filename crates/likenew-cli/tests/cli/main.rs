//! The binary as users and scripts meet it.

mod data;
mod explained;
mod filesystem;
mod fio;
mod real;
mod resumed;
mod scenarios;
mod simulated;
mod support;
