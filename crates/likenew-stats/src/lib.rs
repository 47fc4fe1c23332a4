//! Numbers in, estimates out: summaries, intervals, fits, choices among explanations, trends, steps, two
//! levels, and stalls. Open it when a number in a report needs its formula.
//!
//! Every function is pure and total over finite numbers: too few values give `None` or "undecided", never a
//! made-up estimate. Not-a-number is a bug of the caller and panics. Resampling takes its randomness from a
//! seed, so the same numbers give the same estimate. `docs/explanation/method.md` has the formulas, their
//! sources, and how often each method is wrong on series of known truth.
//!
//! This crate never sees a drive, a clock or a file, and imports no other crate of the workspace.

pub mod bimodality;
pub mod broken_line;
pub mod change_points;
pub mod hold_out;
pub mod interval;
pub mod least_squares;
pub mod peers;
pub mod period;
pub mod recurrence;
pub mod stalls;
pub mod steady_state;
pub mod summary;
pub mod trend;
pub mod uniform_band;
