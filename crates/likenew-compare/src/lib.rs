//! How much runs differ in speed, and whether that is more than repeating one of them would give.
//!
//! [`compare`] takes the findings of runs of one procedure and makes findings of its own: a sentence for each later run against
//! the first, and a table of speeds with their ratios and intervals.

mod findings;
mod speed;
mod speed_ratio;
mod wording;

pub use findings::compare;
pub use speed_ratio::{ComparedRun, Difference};
