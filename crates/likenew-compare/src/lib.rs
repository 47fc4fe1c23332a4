//! Compares the speeds of runs, and says whether they differ by more than a repetition would.
//!
//! [`compare`] takes findings of runs of one procedure. It makes findings of its own: an answer for each later run
//! against the first, and a table of speeds with ratios and intervals.

mod findings;
mod speed;
mod speed_ratio;
mod wording;

pub use findings::compare;
pub use speed_ratio::{ComparedRun, Difference};
