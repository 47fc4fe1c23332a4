//! What must never happen, tried often.

mod cuts;
mod failures;
mod mutated;
mod ranges;
mod rewrite_cuts;
mod rig;
mod session;
mod strangers;
mod torn;
