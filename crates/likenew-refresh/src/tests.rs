//! What must never happen, tried often.

mod cuts;
mod failures;
mod mutated;
mod ranges;
mod rig;
mod strangers;
mod torn;
