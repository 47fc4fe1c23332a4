//! Does TRIM reach the flash, and what is it worth?

mod conclusion;
mod course;
mod ladder;
mod outcome;
mod pictures;
mod rungs;
mod trim_options;
mod worth;

use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::verdict::Findings;

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use conclusion::conclude;
use course::Course;
use ladder::Ladder;
use worth::Worth;

pub use trim_options::{HALF_STEP, SIZE_STEP, TrimOptions};

/// What it asks and costs.
pub static CARD: Card = Card {
    name: "trim",
    question: "Does TRIM reach the flash, and what is it worth?",
    writes: "writes one file of twice --size, then its space again and again while it measures what TRIM is worth; only own files in a folder",
    manual: include_str!("trim.md"),
};

/// The procedure.
pub struct Trim {
    options: TrimOptions,
}

impl Trim {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("trim", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: TrimOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }
}

impl Procedure for Trim {
    fn card(&self) -> &'static Card {
        &CARD
    }

    /// One file that random writes go over, and one that is given up.
    fn layout(&self) -> Layout {
        let half = if self.options.worth { self.options.half(u64::MAX) } else { HALF_STEP };
        Layout { files: 2, file_bytes: half }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let course = Course::of(&self.options, evidence)?;
        let ladder = Ladder::of(evidence);
        Ok(course.next(&ladder, evidence))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let ladder = Ladder::of(evidence);
        let course = Course::of(&self.options, evidence).ok();
        let worth = course.map(|course| Worth::of(&course, &ladder, evidence));
        let mut findings = Findings::default();
        let rungs = ladder.rungs(worth.as_ref());
        findings.verdicts = conclude(&ladder, &rungs, worth.as_ref());
        findings.verdicts.extend(refusals(&evidence.segments));
        let mut table = |name: &str, rows: Vec<_>| {
            if !rows.is_empty() {
                findings.tables.insert(name.to_owned(), rows);
            }
        };
        table("rungs", rungs.iter().map(row).collect());
        table("worth", worth.iter().flat_map(Worth::rows).collect());
        table("layers", ladder.layers().iter().map(pictures::layer_row).collect());
        table("worth_passes", worth.iter().flat_map(Worth::pass_rows).collect());
        pictures::draw(&mut findings, &ladder, worth.as_ref());
        findings
    }
}
