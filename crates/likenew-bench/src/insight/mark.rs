//! Marks an answer whose truth is known.

use likenew_sim::truth::TrueValue;

use super::answer::{PropertyResult, StatedValue};

/// A number is right within this share of the truth. Chosen: what a reader takes for the same size.
const RIGHT: f64 = 0.10;
/// Beyond this share of the truth a confident number is a false claim. Chosen: it changes what a reader
/// concludes.
const FALSE: f64 = 0.25;
/// Confidence, in 0..1, from which an answer counts as a claim. Chosen: the 90% of the intervals.
pub(super) const CLAIM_CONFIDENCE: f64 = 0.9;

/// The mark of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The word, or the number within 10%.
    Right,
    /// A number that is further off, or a wrong word without confidence.
    Off,
    /// The drive has it, and the answer is unknown.
    Undecided,
    /// The drive has it, and the answer says that it does not.
    WronglyAbsent,
    /// A confident answer that is wrong: not there, another word, or off by more than 25%.
    False,
    /// The drive does not have it, or it does not show, and nothing else was claimed.
    TrulyAbsent,
}

impl Mark {
    /// Its name in lists.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Off => "off",
            Self::Undecided => "undecided",
            Self::WronglyAbsent => "absent!",
            Self::False => "FALSE",
            Self::TrulyAbsent => "-",
        }
    }
}

/// Marks an answer.
pub(super) fn mark(true_value: TrueValue, answer: &PropertyResult) -> Mark {
    let claimed = answer.confidence >= CLAIM_CONFIDENCE;
    let wrong = if claimed { Mark::False } else { Mark::Off };
    match (true_value, &answer.statement) {
        (TrueValue::Word("no"), StatedValue::Absent) => Mark::Right,
        (TrueValue::Word(word), StatedValue::Word(statement)) if word == statement => Mark::Right,
        (TrueValue::Word(_) | TrueValue::Number(_), StatedValue::Undecided) => Mark::Undecided,
        (TrueValue::Word(_) | TrueValue::Number(_), StatedValue::Absent) => Mark::WronglyAbsent,
        (TrueValue::Number(number), StatedValue::Number { value, .. }) => {
            match (value / number - 1.0).abs() {
                ..=RIGHT => Mark::Right,
                ..=FALSE => Mark::Off,
                _ => wrong,
            }
        }
        (TrueValue::Hidden { low, high }, StatedValue::Number { value, .. })
            if (low * (1.0 - FALSE)..=high * (1.0 + FALSE)).contains(value) =>
        {
            Mark::TrulyAbsent
        }
        (TrueValue::HiddenWord(word), StatedValue::Word(statement)) if word == statement => Mark::TrulyAbsent,
        (_, StatedValue::Undecided | StatedValue::Absent) => Mark::TrulyAbsent,
        (TrueValue::Word(_) | TrueValue::Number(_), _) => wrong,
        (TrueValue::Hidden { .. } | TrueValue::HiddenWord(_) | TrueValue::Absent, _) if claimed => {
            Mark::False
        }
        (TrueValue::Hidden { .. } | TrueValue::HiddenWord(_) | TrueValue::Absent, _) => Mark::TrulyAbsent,
    }
}

/// Whether a 90% interval contains the truth, if both exist.
pub(super) fn holds(true_value: TrueValue, answer: &PropertyResult) -> Option<bool> {
    match (true_value, &answer.statement) {
        (TrueValue::Number(number), StatedValue::Number { low, high, .. }) => {
            Some((*low..=*high).contains(&number))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(statement: StatedValue, confidence: f64) -> PropertyResult {
        PropertyResult { property: "p".into(), statement, confidence, bytes_written: 0 }
    }

    fn number(value: f64) -> StatedValue {
        StatedValue::Number { value, low: 0.9 * value, high: 1.1 * value }
    }

    #[test]
    fn numbers_are_right_off_or_false() {
        let mark_of = |value, confidence| mark(TrueValue::Number(100.0), &result(number(value), confidence));
        assert_eq!(mark_of(91.0, 0.5), Mark::Right);
        assert_eq!(mark_of(112.0, 0.99), Mark::Off);
        assert_eq!(mark_of(130.0, 0.99), Mark::False);
        assert_eq!(mark_of(130.0, 0.8), Mark::Off);
        assert_eq!(mark(TrueValue::Number(1.0), &result(StatedValue::Absent, 0.99)), Mark::WronglyAbsent);
        assert_eq!(mark(TrueValue::Number(1.0), &result(StatedValue::Undecided, 0.0)), Mark::Undecided);
        assert_eq!(holds(TrueValue::Number(100.0), &result(number(95.0), 0.9)), Some(true));
        assert_eq!(holds(TrueValue::Number(100.0), &result(number(80.0), 0.9)), Some(false));
    }

    #[test]
    fn what_is_not_there_may_not_be_claimed() {
        assert_eq!(mark(TrueValue::Absent, &result(number(1.0), 0.95)), Mark::False);
        assert_eq!(mark(TrueValue::Absent, &result(number(1.0), 0.6)), Mark::TrulyAbsent);
        assert_eq!(mark(TrueValue::Absent, &result(StatedValue::Absent, 0.95)), Mark::TrulyAbsent);
        let hidden = TrueValue::Hidden { low: 4.0, high: 8.0 };
        assert_eq!(mark(hidden, &result(number(6.0), 0.99)), Mark::TrulyAbsent);
        assert_eq!(mark(hidden, &result(number(16.0), 0.99)), Mark::False);
        assert_eq!(mark(hidden, &result(StatedValue::Undecided, 0.0)), Mark::TrulyAbsent);
    }

    #[test]
    fn words_are_compared() {
        let word = |word: &str| StatedValue::Word(word.into());
        assert_eq!(mark(TrueValue::Word("page"), &result(word("page"), 0.1)), Mark::Right);
        assert_eq!(mark(TrueValue::Word("page"), &result(word("block"), 0.95)), Mark::False);
        assert_eq!(mark(TrueValue::Word("page"), &result(word("block"), 0.5)), Mark::Off);
        assert_eq!(mark(TrueValue::Word("no"), &result(StatedValue::Absent, 0.95)), Mark::Right);
        assert_eq!(mark(TrueValue::HiddenWord("no"), &result(word("yes"), 0.95)), Mark::False);
    }
}
