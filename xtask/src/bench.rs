//! Measures the instrument itself.

pub(crate) mod engine;
mod fio;
mod nop;
mod ours;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod sim;
mod target;
pub(crate) mod trace;
pub(crate) mod verify;
