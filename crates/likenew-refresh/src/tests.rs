//! Tests of what must never happen, with many random cases.

mod cuts;
mod failures;
mod mutated;
mod ranges;
mod rewrite_cuts;
mod rig;
mod session;
mod strangers;
mod torn;
