//! Why a property is as it is said to be, and what would decide it where it is unknown.

use likenew_core::drive::Kind;

use super::context::ExperimentContext;
use super::fill::SIMULATED_MAX;
use super::wording;

/// Why a property is as it is said to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reason {
    /// In a few words, as a table has room for.
    pub(super) how: String,
    /// With its numbers, in sentences.
    pub(super) evidence: Vec<String>,
    /// What would decide an unknown property, where something would.
    pub(super) remedy: Option<Remedy>,
}

/// What would decide an unknown property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// To ask again while nothing else uses the drive.
    Quiet,
    /// To allow more writes.
    MoreWrites,
    /// To allow that the target is overwritten.
    Consent,
    /// To look at all addresses of the drive.
    WholeDrive,
    /// To run the tests that this one builds on.
    OtherTests,
    /// To read for up to 45 minutes.
    LongReads,
    /// To let an empty bucket of credits fill first.
    Rest,
}

impl Reason {
    /// In a few words, and as a sentence.
    pub(super) fn new(how: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self { how: how.into(), evidence: vec![sentence.into()], remedy: None }
    }

    /// Adds a sentence.
    #[must_use]
    pub(super) fn and(mut self, sentence: impl Into<String>) -> Self {
        self.evidence.push(sentence.into());
        self
    }

    /// The same sentences for something else.
    #[must_use]
    pub(super) fn how(mut self, how: impl Into<String>) -> Self {
        self.how = how.into();
        self
    }

    /// Says what would decide it.
    #[must_use]
    pub(super) fn decided_by(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

impl ExperimentContext<'_> {
    /// Why so much cannot be written here.
    pub(super) fn write_refusal(&self, bytes: u64) -> Reason {
        match self.evidence.geometry.writable {
            true => wording::too_few_writes(bytes, self.remaining),
            false => wording::read_only(),
        }
    }

    /// Why a drive that was filled is not to be had here, or would not be the whole drive.
    pub(super) fn part_refusal(&self) -> Reason {
        match self.evidence.identity.kind {
            Kind::Device | Kind::Simulated => wording::part_of_drive(),
            Kind::Folder | Kind::File | Kind::Nop => wording::no_drive(),
        }
    }

    /// Why what needs a full drive was not measured.
    pub(super) fn fill_refusal(&self) -> Reason {
        let is_simulated = self.evidence.identity.kind == Kind::Simulated;
        match self.is_whole() {
            true if is_simulated && self.span > SIMULATED_MAX => wording::fill_too_long(),
            true if self.may_write(self.span) => wording::fill_missing(),
            true => self.write_refusal(self.span).how(wording::NEEDS_FILL),
            false => self.part_refusal(),
        }
    }
}
