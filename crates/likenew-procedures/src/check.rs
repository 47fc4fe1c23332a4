//! Is it slow, against what, why, and what cures it?

mod answers;
mod check_options;
mod course;
mod earlier;
mod measured;
mod pictures;
mod promise;
mod reading;
mod shares;
mod told;
mod upgrade;
mod writing;

use std::borrow::Cow;

use likenew_core::facts::Facts;
use likenew_core::look::{Look, Seen};
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::verdict::Findings;
use likenew_diagnosis::{Case, Clue, Diagnosis, Figure, Origin, Reference, Shape, Sign, Site, diagnose};

use crate::refusals::refusals;
use crate::site::site;
use course::Course;
use measured::Measured;

pub use answers::Answers;
pub use check_options::{CheckOptions, FigureName, KnownAs, OriginName, ReferenceOption, ShapeOption};
pub use earlier::Earlier;
pub use promise::Promise;
pub use upgrade::{DayOption, DriveOption, MixOption, Role, UpgradeOptions, Waits};

/// What it asks and costs.
pub static CARD: Card = Card {
    name: "check",
    question: "Is it slow, against what, why, and what cures it?",
    writes: "writes 2 GiB at most, less where --bytes says so, and nothing with --bytes 0; only own files in a folder",
    manual: include_str!("check.md"),
};

/// The procedure.
pub struct Check {
    options: CheckOptions,
}

impl Check {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        CheckOptions::from_table(table).map(|options| Self { options })
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: CheckOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    fn references(&self, facts: Option<&Facts>) -> Vec<Reference> {
        let mut references = self.options.references();
        let ceiling = facts.and_then(|facts| match facts.drives.as_slice() {
            [drive] => drive.link.ceiling_bytes_per_s.get(),
            _ => None,
        });
        if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling > 0) {
            let of = |figure| Reference {
                figure,
                origin: Origin::Link,
                value: ceiling as f64,
                repeatability: 0.0,
            };
            references.extend([Figure::ReadInOrder, Figure::WriteInOrder].map(of));
        }
        references
    }
}

impl Check {
    /// What belongs to the diagnosis.
    fn without_mix<'a>(&self, evidence: &'a Evidence) -> Cow<'a, Evidence> {
        if self.options.upgrade.as_ref().is_none_or(|upgrade| upgrade.mix.is_none()) {
            return Cow::Borrowed(evidence);
        }
        let mut own = evidence.clone();
        own.segments.retain(|segment| !MixOption::is_part(segment));
        Cow::Owned(own)
    }
}

impl Procedure for Check {
    fn card(&self) -> &'static Card {
        &CARD
    }

    /// One file that is written in order and then in part again.
    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.area(u64::MAX).max(CheckOptions::AREA_STEP) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let step = Course::new(&self.options, evidence).next();
        Ok(match step {
            Step::Run(mut workload) => {
                workload.seed = evidence.plan.seed_of(evidence.segments.len());
                Step::Run(workload)
            }
            other => other,
        })
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let own = self.without_mix(evidence);
        self.diagnosed(&own, |case, diagnosis| self.findings(evidence, &own, case, diagnosis))
    }
}

impl Check {
    /// What a cure would be applied to.
    fn site<'a>(&self, evidence: &'a Evidence, facts: Option<&'a Facts>) -> Site<'a> {
        let outlook = evidence.sights.iter().find_map(|sight| match &sight.seen {
            Seen::Outlook(outlook) => Some(outlook),
            _ => None,
        });
        site(evidence, self.options.free, facts, outlook)
    }

    /// What the evidence of a check comes to, for who asks more of it than its findings.
    pub(crate) fn diagnosed<R>(
        &self,
        evidence: &Evidence,
        say: impl FnOnce(&Case<'_>, &Diagnosis) -> R,
    ) -> R {
        let facts: Vec<&Facts> = evidence
            .sights
            .iter()
            .filter_map(|sight| match &sight.seen {
                Seen::Facts(facts) => Some(&**facts),
                _ => None,
            })
            .collect();
        let (first, last) = (facts.first().copied(), facts.last().copied());
        let since = first.zip(last).filter(|_| facts.len() > 1).map(|(first, last)| last.since(first));
        let since = since.as_ref().and_then(|since| match since.drives.as_slice() {
            [drive] => Some(drive),
            _ => None,
        });
        let signs = Measured::new(evidence).signs();
        let references = self.references(last);
        let usual: Vec<(Shape, f64)> = self.options.usual.iter().map(|of| (of.shape, of.value)).collect();
        let site = Some(self.site(evidence, last));
        let case = Case { signs: &signs, facts: last, since, references: &references, usual: &usual, site };
        say(&case, &diagnose(&case))
    }

    /// What every clue of every cause came to: what the weights of clues are fitted to.
    pub fn clues(&self, evidence: &Evidence) -> Vec<(&'static str, Clue)> {
        self.diagnosed(evidence, |case, _| likenew_diagnosis::clues(case))
    }

    /// How fast what lay there before was read in order, in bytes a second: of a folder its owner's old files, of other targets all places.
    pub(crate) fn old_data(&self, evidence: &Evidence) -> Option<Sign> {
        Measured::new(evidence).old_data()
    }

    /// How fast what was just written was read in order, in bytes a second.
    pub(crate) fn fresh_data(&self, evidence: &Evidence) -> Option<f64> {
        Measured::new(evidence).fresh_data()
    }

    /// How long a small read of what was just written took, one at a time, in nanoseconds.
    pub(crate) fn fresh_small_ns(&self, evidence: &Evidence) -> Option<f64> {
        Measured::new(evidence).fresh_small_ns()
    }

    fn findings(
        &self,
        evidence: &Evidence,
        own: &Evidence,
        case: &Case<'_>,
        diagnosis: &Diagnosis,
    ) -> Findings {
        let old = evidence.sights.iter().find_map(|sight| match (&sight.look, &sight.seen) {
            (Look::OldFiles, Seen::OldFiles(found)) => Some(Ok(found)),
            (Look::OldFiles, Seen::Unknown(why)) => Some(Err(why.as_str())),
            _ => None,
        });
        let not_written = self.options.obstacle(evidence);
        let verdicts = told::verdicts(
            case,
            diagnosis,
            self.options.first_checked.as_deref(),
            self.options.known_as.as_ref(),
            old,
            not_written.as_deref(),
        );
        let mut findings = Findings { verdicts, ..Findings::default() };
        findings.verdicts.extend(refusals(&evidence.segments));
        told::tables(case, diagnosis, &mut findings);
        shares::put(case, self.options.files.as_ref(), &mut findings);
        pictures::draw(&Measured::new(own), own, &mut findings);
        if let Some(upgrade) = &self.options.upgrade {
            upgrade.judge(&evidence.segments, told::cure(diagnosis), &mut findings);
        }
        findings
    }
}
