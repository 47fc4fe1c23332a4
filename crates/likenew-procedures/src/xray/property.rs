//! One property of the inside of a drive: what it is, how well it is known, and how it is said.

use likenew_core::units::{Nanos, amount, rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use serde::Serialize;

/// Nothing is believed more than this where something else uses the drive.
const CONFIDENCE_IN_NOISE: f64 = 0.85;

/// A number within an interval that is wider than it is itself says nothing there.
const WIDTH_MAX: f64 = 1.0;

/// What can be asked of the inside of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Key {
    /// `disk`, `shingled disk`, `flash` or `virtual`.
    Medium,
    /// The family of the translation layer: `page`, `hybrid` (log blocks beside a map of blocks) or `block`.
    Mapping,
    /// The unit of the map, in bytes: to write less of it costs reading the rest.
    MapPageBytes,
    /// Bytes written in order between two erasures of one die: an erase block of each die that advances with it; the cluster of a
    /// map of blocks.
    EraseUnitBytes,
    /// Bytes of writes that are taken before the medium has to keep up.
    WriteBufferBytes,
    /// Bytes that an empty drive takes at its fast speed.
    SlcCacheBytes,
    /// Bytes a second right after that.
    SlcSpeedAfterBytesPerS,
    /// The rest after which half of the cache is back, in nanoseconds.
    SlcRecoveryNs,
    /// Dies that serve reads at once.
    Parallelism,
    /// Bytes of consecutive addresses on one die.
    StripeBytes,
    /// Flash beyond the capacity, in percent of it.
    OverProvisioningPercent,
    /// Whether the controller compresses: `yes` or `no`.
    Compression,
    /// What becomes of trimmed addresses: `immediate`, `idle` or `ignored`.
    Trim,
    /// The rest after which collection begins by itself, in nanoseconds.
    IdleCollectionNs,
    /// How many times as long old data takes to read as fresh data.
    OldDataReadRatio,
    /// I/Os that a full bucket of credits lets through above the baseline.
    TokenBucketIos,
    /// Addresses that the cached part of the map covers, in bytes.
    MapCacheBytes,
}

impl Key {
    /// In the order of the table.
    pub(super) const ALL: [Self; 17] = [
        Self::Medium,
        Self::Mapping,
        Self::MapPageBytes,
        Self::EraseUnitBytes,
        Self::WriteBufferBytes,
        Self::SlcCacheBytes,
        Self::SlcSpeedAfterBytesPerS,
        Self::SlcRecoveryNs,
        Self::Parallelism,
        Self::StripeBytes,
        Self::OverProvisioningPercent,
        Self::Compression,
        Self::Trim,
        Self::IdleCollectionNs,
        Self::OldDataReadRatio,
        Self::TokenBucketIos,
        Self::MapCacheBytes,
    ];

    /// What it is, as the start of a sentence.
    fn subject(self) -> &'static str {
        match self {
            Self::Medium => "The medium",
            Self::Mapping => "The map of the translation layer",
            Self::MapPageBytes => "The unit of the map",
            Self::EraseUnitBytes => "What is erased at once, over all dies that advance together,",
            Self::WriteBufferBytes => "The write buffer",
            Self::SlcCacheBytes => "The pseudo-SLC cache",
            Self::SlcSpeedAfterBytesPerS => "The speed of writing after the pseudo-SLC cache",
            Self::SlcRecoveryNs => "The rest that brings half of the pseudo-SLC cache back",
            Self::Parallelism => "The number of dies that read at once",
            Self::StripeBytes => "The stripe, which is what lies together on one die,",
            Self::OverProvisioningPercent => "The over-provisioning",
            Self::Compression => "Compression in the controller",
            Self::Trim => "What becomes of trimmed addresses",
            Self::IdleCollectionNs => "The rest after which collection begins by itself",
            Self::OldDataReadRatio => "The time of reading old data, in times of fresh data,",
            Self::TokenBucketIos => "The bucket of credits, in I/Os,",
            Self::MapCacheBytes => "What the cached part of the map covers",
        }
    }

    /// That it is this word, as a sentence.
    fn sentence(self, word: &str) -> String {
        match (self, word) {
            (Self::Medium, "flash") => "It is flash.".into(),
            (Self::Medium, "virtual") => "It is a virtual volume.".into(),
            (Self::Medium, disk) => format!("It is a {disk}."),
            (Self::Mapping, "page") => "Its translation layer maps pages.".into(),
            (Self::Mapping, "hybrid") => {
                "Its translation layer maps whole blocks, and pages within log blocks.".into()
            }
            (Self::Mapping, "block") => "Its translation layer maps whole blocks.".into(),
            (Self::Compression, "yes") => "Its controller compresses.".into(),
            (Self::Compression, "no") => "Its controller does not compress.".into(),
            (Self::Trim, "immediate") => "What is trimmed is forgotten at once.".into(),
            (Self::Trim, "idle") => "What is trimmed is forgotten while it rests.".into(),
            (Self::Trim, "ignored") => "TRIM is ignored.".into(),
            (key, word) => unreachable!("{key:?} is never called {word}"),
        }
    }

    /// That it is not there, as a sentence.
    fn absence(self) -> &'static str {
        match self {
            Self::Medium => "It has no medium.",
            Self::Mapping => "It has no translation layer.",
            Self::MapPageBytes => "No unit of a map shows: small writes cost what they are long.",
            Self::EraseUnitBytes => "No erasures show.",
            Self::WriteBufferBytes => "It has no write buffer.",
            Self::SlcCacheBytes => "It has no pseudo-SLC cache.",
            Self::SlcSpeedAfterBytesPerS => "It has no pseudo-SLC cache to be slower after.",
            Self::SlcRecoveryNs => "A rest does not bring the pseudo-SLC cache back.",
            Self::Parallelism => "It serves one I/O at a time.",
            Self::StripeBytes => "Its addresses are not striped.",
            Self::OverProvisioningPercent => "It has no over-provisioning.",
            Self::Compression => "Its controller does not compress.",
            Self::Trim => "It has no TRIM.",
            Self::IdleCollectionNs => "It does not collect while it rests.",
            Self::OldDataReadRatio => "Old data is read like fresh data.",
            Self::TokenBucketIos => "It has no bucket of credits.",
            Self::MapCacheBytes => "All of its map is at hand.",
        }
    }

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

    fn format_value(self, value: f64) -> String {
        match self.unit() {
            _ if self == Self::Parallelism => format!("{value:.0}"),
            "bytes" => amount(value.round() as u64),
            "bytes/s" => rate(value),
            "ns" => Nanos(value.round() as u64).to_string(),
            "%" => format!("{} %", three_digits(value)),
            _ => three_digits(value),
        }
    }
}

/// What is known of a property.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// One of a few words.
    Word(&'static str),
    /// A number, and the ends of its 90 % interval.
    Number { value: f64, low: f64, high: f64 },
    /// It was looked for in a way that would have shown it.
    Absent,
    /// It shows no signature, or was not looked for.
    Undecided,
}

/// A property as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) key: Key,
    pub(super) state: State,
    /// How likely the answer is right, in 0..1; says nothing where there is none.
    pub(super) confidence: f64,
    /// Why, in one sentence without a full stop.
    pub(super) evidence: String,
    /// What limits it, in sentences.
    pub(super) caveats: Vec<String>,
    /// What finding it out has written.
    pub(super) bytes_written: u64,
}

impl Property {
    fn new(key: Key, state: State, confidence: f64, evidence: impl Into<String>) -> Self {
        let evidence = evidence.into();
        Self { key, state, confidence, evidence, caveats: Vec::new(), bytes_written: 0 }
    }

    /// It is this word.
    pub(super) fn word(key: Key, word: &'static str, confidence: f64, evidence: impl Into<String>) -> Self {
        Self::new(key, State::Word(word), confidence, evidence)
    }

    /// It is this number within these ends of a 90 % interval.
    pub(super) fn number(
        key: Key,
        value: f64,
        interval: (f64, f64),
        confidence: f64,
        evidence: impl Into<String>,
    ) -> Self {
        // Nothing that is asked for can be below nothing.
        let (low, high) = (interval.0.min(value).max(0.0), interval.1.max(value));
        Self::new(key, State::Number { value, low, high }, confidence, evidence)
    }

    /// It is not there.
    pub(super) fn absent(key: Key, confidence: f64, evidence: impl Into<String>) -> Self {
        Self::new(key, State::Absent, confidence, evidence)
    }

    /// Nothing can be said.
    pub(super) fn undecided(key: Key, evidence: impl Into<String>) -> Self {
        Self::new(key, State::Undecided, 0.0, evidence)
    }

    /// The number that was found for it.
    pub(super) fn value(&self) -> Option<f64> {
        match self.state {
            State::Number { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The same where something else uses the drive: believed less, and a number within twice the interval, or undecided where that
    /// leaves nearly everything possible.
    #[must_use]
    pub(super) fn with_confidence(mut self) -> Self {
        if self.state == State::Undecided {
            return self;
        }
        self.confidence = self.confidence.min(CONFIDENCE_IN_NOISE);
        if let State::Number { value, low, high } = self.state {
            let (low, high) = ((2.0 * low - value).max(0.0), 2.0 * high - value);
            self.state = match high - low > WIDTH_MAX * value {
                true => State::Undecided,
                false => State::Number { value, low, high },
            };
        }
        self.caveat("something disturbed the drive while this was measured")
    }

    /// Adds a sentence of doubt.
    #[must_use]
    pub(super) fn caveat(mut self, sentence: impl Into<String>) -> Self {
        self.caveats.push(sentence.into());
        self
    }

    /// The sentence about it.
    pub(super) fn verdict(&self) -> Verdict {
        let subject = self.key.subject();
        let verdict = match self.state {
            State::Word(word) => Verdict::new(self.key.sentence(word), Standing::Holds),
            State::Number { value, low, high } => {
                let claim = format!("{subject} is {}.", self.key.format_value(value));
                Verdict::new(claim, Standing::Holds).estimate(value, low, high, self.key.unit())
            }
            State::Absent => Verdict::new(self.key.absence(), Standing::Holds),
            State::Undecided => Verdict::new(format!("{subject} shows from outside."), Standing::Undecided),
        };
        let verdict = self
            .caveats
            .iter()
            .fold(verdict.with_evidence(&self.evidence), |verdict, caveat| verdict.caveat(caveat));
        match self.state {
            State::Undecided => verdict,
            _ if self.confidence < 0.9 => {
                verdict.caveat(format!("the confidence in it is {:.0} %", self.confidence * 100.0))
            }
            _ => verdict,
        }
    }

    /// It as a row of the table.
    pub(super) fn row(&self) -> impl Serialize + use<> {
        let (state, word, number) = match self.state {
            State::Word(word) => ("found", Some(word), None),
            State::Number { value, low, high } => ("found", None, Some((value, low, high))),
            State::Absent => ("absent", None, None),
            State::Undecided => ("undecided", None, None),
        };
        PropertyRow {
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

#[derive(Serialize)]
struct PropertyRow {
    property: Key,
    state: &'static str,
    word: Option<&'static str>,
    value: Option<f64>,
    value_low: Option<f64>,
    value_high: Option<f64>,
    unit: &'static str,
    confidence_percent: Option<f64>,
    bytes_written: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_beside_others_is_believed_less() {
        let page = || Property::number(Key::MapPageBytes, 4096.0, (4000.0, 4200.0), 0.97, "it shows");
        let with_confidence = page().with_confidence();
        assert_eq!(with_confidence.state, State::Number { value: 4096.0, low: 3904.0, high: 4304.0 });
        assert_eq!((with_confidence.confidence, with_confidence.caveats.len()), (CONFIDENCE_IN_NOISE, 1));
        let vague = Property::number(Key::SlcSpeedAfterBytesPerS, 3e7, (2e7, 5e7), 0.95, "so it went on");
        assert_eq!(vague.with_confidence().state, State::Undecided);
        let undecided = Property::undecided(Key::Trim, "it does not show");
        assert_eq!(undecided.clone().with_confidence(), undecided);
    }
}
