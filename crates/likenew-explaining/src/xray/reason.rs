//! Why a property has its value, and what would decide it if it is unknown.

/// Why a property has its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reason {
    /// In a few words, for the table.
    pub(super) how: String,
    /// With its numbers, in sentences.
    pub(super) evidence: Vec<String>,
    /// What would decide an unknown property, if anything would.
    pub(super) remedy: Option<Remedy>,
}

/// What would decide an unknown property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Run again while nothing else uses the drive.
    Quiet,
    /// Allow more writes.
    MoreWrites,
    /// Allow the target to be overwritten.
    Consent,
    /// Test all addresses of the drive.
    WholeDrive,
    /// Run the tests that this one depends on.
    OtherTests,
    /// Read for up to 45 minutes.
    LongReads,
    /// Let the burst credits fill up first.
    Rest,
}

impl Reason {
    /// From a few words and a sentence.
    pub(super) fn new(how: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self { how: how.into(), evidence: vec![sentence.into()], remedy: None }
    }

    /// Adds a sentence.
    #[must_use]
    pub(super) fn and(mut self, sentence: impl Into<String>) -> Self {
        self.evidence.push(sentence.into());
        self
    }

    /// The same sentences with other short words.
    #[must_use]
    pub(super) fn how(mut self, how: impl Into<String>) -> Self {
        self.how = how.into();
        self
    }

    /// Adds what would decide it.
    #[must_use]
    pub(super) fn decided_by(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}
