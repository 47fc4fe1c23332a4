//! Why a property is as it is said to be, and what would decide it where it is unknown.

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
