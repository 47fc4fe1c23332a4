//! Measures the instrument itself.

pub(crate) mod engine;
mod fio;
mod nop;
mod ours;
mod target;
