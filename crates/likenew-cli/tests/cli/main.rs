//! The binary as users and scripts meet it.

mod ageing;
mod applications;
mod cache;
mod checked;
mod consent;
mod data;
mod endured;
mod explained;
mod facts;
mod filesystem;
mod fio;
mod guest;
mod guest_facts;
mod modelled;
mod real;
mod recorded;
mod replayed;
mod resumed;
mod scenarios;
mod simulated;
mod support;
mod traces;
mod trimmed;
mod verified;
mod watching;
mod xrayed;
