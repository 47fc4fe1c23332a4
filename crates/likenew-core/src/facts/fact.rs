//! A fact: a value and where it comes from, or why it is unknown.

use serde::{Deserialize, Serialize};

use crate::wording;

/// A leaf of [`super::Facts`]. In JSON it is `{"value", "origin"}`, `{"unknown", "help", "origin"}`, or `null` if it was
/// not queried; its field skips that, and is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged, from = "FactInput<T>")]
pub enum Fact<T> {
    /// The fact was not queried, as one that does not apply to this kind of drive.
    #[default]
    NotQueried,
    /// The fact was queried, but could not be found out.
    Unknown {
        /// The reason: a sentence without a full stop.
        #[serde(rename = "unknown")]
        reason: String,
        /// What the owner could do to make it known, as an instruction without a full stop.
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        /// Where the value would have come from.
        origin: String,
    },
    /// The value is known.
    Value {
        /// The value.
        value: T,
        /// Where it comes from: a path, a command to the drive, a system call.
        origin: String,
    },
}

impl<T> Fact<T> {
    /// A value that comes from `origin`.
    pub fn new(value: T, origin: impl Into<String>) -> Self {
        Self::Value { value, origin: origin.into() }
    }

    /// An unknown value, for this reason.
    pub fn unknown(reason: impl Into<String>, origin: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into(), help: None, origin: origin.into() }
    }

    /// The value if there is one, otherwise the reason why there is none.
    pub fn from_option(value: Option<T>, reason: &str, origin: impl Into<String>) -> Self {
        match value {
            Some(value) => Self::new(value, origin),
            None => Self::unknown(reason, origin),
        }
    }

    /// Adds to an unknown fact what would help; leaves other facts as they are.
    #[must_use]
    pub fn help(mut self, instruction: impl Into<String>) -> Self {
        if let Self::Unknown { help, .. } = &mut self {
            *help = Some(instruction.into());
        }
        self
    }

    /// The value, if it is known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value { value, .. } => Some(value),
            Self::NotQueried | Self::Unknown { .. } => None,
        }
    }

    /// A copy of the value, if it is known.
    pub fn get(&self) -> Option<T>
    where
        T: Copy,
    {
        self.value().copied()
    }

    /// Where it comes from, or would have.
    pub fn origin(&self) -> Option<&str> {
        match self {
            Self::NotQueried => None,
            Self::Unknown { origin, .. } | Self::Value { origin, .. } => Some(origin),
        }
    }

    /// Why it is not known, if it was queried.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Unknown { reason, .. } => Some(reason),
            Self::NotQueried | Self::Value { .. } => None,
        }
    }

    /// Whether it was not queried.
    pub fn is_not_queried(&self) -> bool {
        matches!(self, Self::NotQueried)
    }

    /// The same fact with its value converted.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Self::NotQueried => Fact::NotQueried,
            Self::Unknown { reason, help, origin } => Fact::Unknown { reason, help, origin },
            Self::Value { value, origin } => Fact::Value { value: change(value), origin },
        }
    }

    /// The same fact with what follows from its value; unknown for this reason where nothing follows.
    #[must_use]
    pub fn and_then<U>(self, reason: &str, follow: impl FnOnce(T) -> Option<U>) -> Fact<U> {
        match self.map(follow) {
            Fact::Value { value, origin } => Fact::from_option(value, reason, origin),
            Fact::Unknown { reason, help, origin } => Fact::Unknown { reason, help, origin },
            Fact::NotQueried => Fact::NotQueried,
        }
    }

    /// The first known fact of the two. If neither is known: this one if it was queried, else `other`.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.value().is_some() {
            return self;
        }
        match other() {
            Self::NotQueried => self,
            // This source is the usual one, so its reason says more.
            Self::Unknown { .. } if !self.is_not_queried() => self,
            other => other,
        }
    }
}

/// A fact as it may stand in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum FactInput<T> {
    NotQueried(()),
    Unknown {
        unknown: String,
        help: Option<String>,
        #[serde(default)]
        origin: String,
    },
    Value {
        // Required even if `T` is an option: an object without a value is unknown, and not known to be none.
        #[serde(deserialize_with = "T::deserialize", bound(deserialize = "T: Deserialize<'de>"))]
        value: T,
        #[serde(default)]
        origin: String,
    },
    Other(serde::de::IgnoredAny),
}

impl<T> From<FactInput<T>> for Fact<T> {
    fn from(input: FactInput<T>) -> Self {
        match input {
            FactInput::NotQueried(()) => Self::NotQueried,
            FactInput::Unknown { unknown, help, origin } => Self::Unknown { reason: unknown, help, origin },
            FactInput::Value { value, origin } => Self::Value { value, origin },
            FactInput::Other(_) => Self::unknown(wording::OTHER_FORM, ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_reads_back() {
        let facts: [Fact<u64>; 4] = [
            Fact::NotQueried,
            Fact::new(7, "/sys/x"),
            Fact::unknown("it is missing", "/sys/x"),
            Fact::unknown("it may not be read", "/sys/x").help("run it as root"),
        ];
        for fact in facts {
            let text = serde_json::to_string(&fact).unwrap();
            assert_eq!(serde_json::from_str::<Fact<u64>>(&text).unwrap(), fact, "{text}");
        }
        for fact in [Fact::new(None, "a"), Fact::new(Some("b".to_owned()), "a"), Fact::unknown("c", "a")] {
            let text = serde_json::to_string(&fact).unwrap();
            assert_eq!(serde_json::from_str::<Fact<Option<String>>>(&text).unwrap(), fact, "{text}");
        }
    }

    #[test]
    fn what_another_version_wrote_is_unknown_and_no_error() {
        for text in [r#"{"value": "words", "origin": "x"}"#, "[]", "3", r#"{"guess": 1}"#] {
            let fact: Fact<u64> = serde_json::from_str(text).unwrap();
            assert!(fact.reason().is_some(), "{text}");
        }
        let fact: Fact<Option<String>> = serde_json::from_str(r#"{"guess": 1}"#).unwrap();
        assert!(fact.reason().is_some(), "nothing is not known: {fact:?}");
    }

    #[test]
    fn the_second_way_counts_only_where_the_first_leads_nowhere() {
        let known = || Fact::new(1, "a");
        assert_eq!(known().or_else(|| Fact::new(2, "b")), known());
        assert_eq!(Fact::unknown("no", "b").or_else(known), known());
        assert_eq!(
            Fact::<u8>::unknown("no", "b").or_else(|| Fact::unknown("never", "c")).reason(),
            Some("no")
        );
        assert_eq!(Fact::NotQueried.or_else(|| Fact::<u8>::unknown("never", "c")).reason(), Some("never"));
        assert_eq!(known().and_then("too small", |value: i32| value.checked_sub(0)).get(), Some(1));
        assert_eq!(known().and_then("too small", |_| None::<i32>).reason(), Some("too small"));
    }
}
