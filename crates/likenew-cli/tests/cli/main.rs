//! The binary as users and scripts meet it.

mod ageing;
mod applications;
mod consent;
mod data;
mod endured;
mod explained;
mod filesystem;
mod fio;
mod real;
mod resumed;
mod scenarios;
mod simulated;
mod support;
