//! A property of a drive's inside: its value, how well it is known, why, and what would decide it.

use likenew_core::findings::Row;
use likenew_core::row;
use serde::Serialize;
use strum::VariantArray;

/// The properties of a drive's inside, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub(super) enum Key {
    /// `disk`, `shingled_disk`, `flash` or `virtual`.
    Medium,
    /// The family of the translation layer: `page`, `hybrid` (log blocks beside a map of blocks) or `block`.
    Mapping,
    /// The mapping unit in bytes: writing less of it costs reading the rest.
    MapPageBytes,
    /// Bytes of sequential writes between two erasures of one die: one erase block on each die that is written together
    /// (a superblock); in a block map, its cluster.
    EraseUnitBytes,
    /// Bytes of writes that are taken before the medium has to keep up.
    WriteBufferBytes,
    /// Bytes that an empty drive accepts before its write cliff.
    SlcCacheBytes,
    /// Bytes a second right after the cliff.
    SlcSpeedAfterBytesPerS,
    /// Idle time after which half of the cache is free again, in nanoseconds.
    SlcRecoveryNs,
    /// Dies that serve reads at once.
    Parallelism,
    /// Bytes of consecutive addresses on one die.
    StripeBytes,
    /// Flash beyond the capacity, in percent of it.
    OverProvisioningPercent,
    /// Whether the controller compresses: `yes` or `no`.
    Compression,
    /// When trimmed data is gone: `immediate`, `idle` or `ignored`.
    Trim,
    /// Idle time after which garbage collection starts, in nanoseconds.
    IdleCollectionNs,
    /// Time of reading old data over that of fresh data.
    OldDataReadRatio,
    /// I/Os that a full bucket of burst credits allows above the baseline rate.
    TokenBucketIos,
    /// Addresses that the cached part of the mapping table covers, in bytes.
    MapCacheBytes,
}

impl Key {
    /// The unit of its number; empty for words.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Medium | Self::Mapping | Self::Compression | Self::Trim => "",
            Self::MapPageBytes
            | Self::EraseUnitBytes
            | Self::WriteBufferBytes
            | Self::SlcCacheBytes
            | Self::StripeBytes
            | Self::MapCacheBytes => "bytes",
            Self::SlcSpeedAfterBytesPerS => "bytes/s",
            Self::SlcRecoveryNs | Self::IdleCollectionNs => "ns",
            Self::OverProvisioningPercent => "%",
            Self::Parallelism | Self::OldDataReadRatio | Self::TokenBucketIos => "1",
        }
    }

    /// Whether drives of this medium can have the property.
    pub(super) fn applies_to(self, medium: Option<&str>) -> bool {
        let everywhere = matches!(self, Self::Medium | Self::Compression | Self::Trim);
        match medium {
            Some("flash") => self != Self::TokenBucketIos,
            Some("memory") => self == Self::Medium,
            Some("virtual") => everywhere || self == Self::TokenBucketIos,
            // No hard disk compresses.
            Some("disk") => matches!(self, Self::Medium | Self::Trim | Self::WriteBufferBytes),
            Some("shingled_disk") => {
                matches!(self, Self::Medium | Self::Trim | Self::WriteBufferBytes | Self::IdleCollectionNs)
            }
            _ => true,
        }
    }

    /// The property without whose number this one has no meaning.
    pub(super) fn parent(self) -> Option<Self> {
        match self {
            Self::SlcSpeedAfterBytesPerS | Self::SlcRecoveryNs => Some(Self::SlcCacheBytes),
            Self::StripeBytes => Some(Self::Parallelism),
            _ => None,
        }
    }
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// One of a few words.
    Word(&'static str),
    /// A number, and the ends of its 90% interval.
    Number { value: f64, low: f64, high: f64 },
    /// A test that would have shown it did not.
    Absent,
    /// The property left no signature, or was not tested.
    Undecided,
}

/// A property as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) key: Key,
    pub(super) state: State,
    /// Probability that it is right, in 0..1; 0 if it is unknown.
    pub(super) confidence: f64,
    pub(super) reason: Reason,
    /// Limits of the answer, in sentences.
    pub(super) caveats: Vec<String>,
    /// Bytes written to find it.
    pub(super) bytes_written: u64,
}

impl Property {
    fn new(key: Key, state: State, confidence: f64, reason: Reason) -> Self {
        Self { key, state, confidence, reason, caveats: Vec::new(), bytes_written: 0 }
    }

    /// The property has this word.
    pub(super) fn word(key: Key, word: &'static str, confidence: f64, reason: Reason) -> Self {
        Self::new(key, State::Word(word), confidence, reason)
    }

    /// The property has this number, within these ends of a 90% interval.
    pub(super) fn number(
        key: Key,
        value: f64,
        interval: (f64, f64),
        confidence: f64,
        reason: Reason,
    ) -> Self {
        // None of the numbers can be negative.
        let (low, high) = (interval.0.min(value).max(0.0), interval.1.max(value));
        Self::new(key, State::Number { value, low, high }, confidence, reason)
    }

    /// The drive does not have the property.
    pub(super) fn absent(key: Key, confidence: f64, reason: Reason) -> Self {
        Self::new(key, State::Absent, confidence, reason)
    }

    /// The property is unknown.
    pub(super) fn undecided(key: Key, reason: Reason) -> Self {
        Self::new(key, State::Undecided, 0.0, reason)
    }

    /// The word of the property, if it has one.
    pub(super) fn text(&self) -> Option<&'static str> {
        match self.state {
            State::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The number of the property, if it has one.
    pub(super) fn value(&self) -> Option<f64> {
        match self.state {
            State::Number { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Adds a caveat.
    #[must_use]
    pub(super) fn caveat(mut self, sentence: impl Into<String>) -> Self {
        self.caveats.push(sentence.into());
        self
    }

    /// The same property with at most this confidence.
    #[must_use]
    pub(super) fn at_most(mut self, confidence: f64) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }

    /// Whether the property was found, or found to be absent.
    pub(super) fn is_known(&self) -> bool {
        self.state != State::Undecided
    }

    /// The property's row of the table.
    pub(super) fn row(&self) -> Row {
        let (state, word, number) = match self.state {
            State::Word(word) => ("found", Some(word), None),
            State::Number { value, low, high } => ("found", None, Some((value, low, high))),
            State::Absent => ("absent", None, None),
            State::Undecided => ("undecided", None, None),
        };
        row! {
            property: self.key,
            state,
            word,
            value: number.map(|number| number.0),
            value_low: number.map(|number| number.1),
            value_high: number.map(|number| number.2),
            unit: self.key.unit(),
            confidence_percent: (self.state != State::Undecided).then_some(100.0 * self.confidence),
            bytes_written: self.bytes_written,
        }
    }
}

/// Why a property has its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reason {
    /// A few words for the table.
    pub(super) how: String,
    /// The evidence with its numbers, in sentences.
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
    /// A reason with a few words for the table and a sentence.
    pub(super) fn new(how: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self { how: how.into(), evidence: vec![sentence.into()], remedy: None }
    }

    /// Adds a sentence.
    #[must_use]
    pub(super) fn and(mut self, sentence: impl Into<String>) -> Self {
        self.evidence.push(sentence.into());
        self
    }

    /// The same sentences with other words for the table.
    #[must_use]
    pub(super) fn how(mut self, how: impl Into<String>) -> Self {
        self.how = how.into();
        self
    }

    /// The same evidence with why it decides nothing: other words for the table, and a sentence.
    #[must_use]
    pub(super) fn but(self, [how, sentence]: [&str; 2]) -> Self {
        self.how(how).and(sentence)
    }

    /// Adds what would decide the property.
    #[must_use]
    pub(super) fn decided_by(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hard_disk_has_no_flash_to_be_asked_for() {
        let count_of = |medium| Key::VARIANTS.iter().filter(|key| key.applies_to(medium)).count();
        assert_eq!(
            (count_of(None), count_of(Some("flash")), count_of(Some("disk")), count_of(Some("virtual"))),
            (17, 16, 3, 4)
        );
    }
}
