//! What must never happen, tried often.

mod cuts;
mod failures;
mod mutated;
mod ranges;
mod rig;
mod session;
mod strangers;
mod torn;
