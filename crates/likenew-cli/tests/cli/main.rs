//! The binary as users and scripts meet it.

mod ageing;
mod consent;
mod data;
mod endured;
mod explained;
mod filesystem;
mod fio;
mod real;
mod replayed;
mod resumed;
mod scenarios;
mod simulated;
mod support;
