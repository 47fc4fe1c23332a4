//! Measures the instrument itself.

pub(crate) mod diagnosis;
pub(crate) mod engine;
mod fio;
pub(crate) mod insight;
mod nop;
mod ours;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod sim;
mod target;
pub(crate) mod trace;
pub(crate) mod verify;
